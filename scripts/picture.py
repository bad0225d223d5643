"""Run by scripts/picture inside Blender: imports an FBX and takes a picture of the moving parts above their curves."""
import sys

import bpy
import mathutils

fbx, out = sys.argv[sys.argv.index("--") + 1:][:2]
preferences = bpy.context.preferences
preferences.view.show_splash = False
preferences.view.show_developer_ui = False


def window():
    return bpy.context.window_manager.windows[0]


def inside(area):
    region = next(r for r in area.regions if r.type == "WINDOW")
    return bpy.context.temp_override(window=window(), area=area, region=region)


def arrange():
    """The parts above, their curves below; what else Blender shows is cut off in the end."""
    view = next(a for a in window().screen.areas if a.type == "VIEW_3D")
    with bpy.context.temp_override(window=window(), area=view):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.5)
    lower, upper = sorted((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.y)
    lower.type = "GRAPH_EDITOR"
    lower.ui_type = "FCURVES"
    for area in (lower, upper):
        area.spaces.active.show_region_ui = False
    upper.spaces.active.show_region_toolbar = False
    upper.spaces.active.show_region_tool_header = False
    upper.spaces.active.overlay.show_cursor = False
    lower.spaces.active.use_normalization = True
    return upper, lower


def moves(curve):
    values = [point.co.y for point in curve.keyframe_points]
    return max(values) - min(values) > 1e-4


def show_parts():
    """The parts as named boxes with their paths; of their curves those that move."""
    scene = bpy.context.scene
    parts = [o for o in bpy.data.objects if o.animation_data and o.animation_data.action]
    first, last = 1, 1
    for thing in bpy.data.objects:
        thing.select_set(thing in parts)
        if not thing.parent:
            thing.scale = [number * 100 for number in thing.scale] # an FBX unit is a centimetre to Blender
    for part in parts:
        bpy.context.view_layer.objects.active = part
        part.empty_display_type = "CUBE"
        part.empty_display_size = 0.7
        part.show_name = True
        for curve in part.animation_data.action.fcurves:
            curve.hide = not moves(curve)
            curve.select = moves(curve)
            if moves(curve):
                last = max(last, int(curve.range()[1]))
        for group in part.animation_data.action.groups:
            group.show_expanded_graph = True
        paths = part.animation_visualization.motion_path
        paths.show_frame_numbers = paths.show_keyframe_highlight = paths.show_keyframe_numbers = False
    scene.frame_start, scene.frame_end = first, last
    scene.frame_set((first + last) // 2)
    return parts


def frame_all(view, graph):
    with inside(view):
        view.spaces.active.region_3d.view_rotation = mathutils.Euler((1.25, 0, 0.3)).to_quaternion()
        bpy.ops.object.paths_calculate(display_type="RANGE", range="SCENE")
        bpy.ops.view3d.view_selected()
    with inside(graph):
        bpy.ops.graph.view_all()


def cut(path, areas):
    """Leaves these areas of the picture."""
    left, bottom = min(a.x for a in areas), min(a.y for a in areas)
    width, height = max(a.x + a.width for a in areas) - left, max(a.y + a.height for a in areas) - bottom
    whole = bpy.data.images.load(path)
    pixels, row = whole.pixels[:], 4 * whole.size[0]
    part = bpy.data.images.new("part", width, height, alpha=False)
    part.pixels = [number for y in range(bottom, bottom + height)
                   for number in pixels[y * row + 4 * left:y * row + 4 * (left + width)]]
    part.filepath_raw, part.file_format = path, "PNG"
    part.save()


def shoot(areas):
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.screenshot(filepath=out)
    cut(out, areas)
    bpy.ops.wm.quit_blender()


def work():
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    with bpy.context.temp_override(window=window()):
        bpy.ops.import_scene.fbx(filepath=fbx)
    view, graph = arrange()
    show_parts()
    bpy.app.timers.register(lambda: frame_all(view, graph), first_interval=1.0)
    bpy.app.timers.register(lambda: shoot((view, graph)), first_interval=4.0)


bpy.app.timers.register(work, first_interval=0.5)
