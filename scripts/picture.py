"""Run by scripts/picture inside Blender: imports an FBX and takes a picture of the scene above its curves."""
import sys

import bpy

bpy.context.preferences.view.show_splash = False
fbx, out = sys.argv[sys.argv.index("--") + 1:][:2]


def window():
    return bpy.context.window_manager.windows[0]


def arrange():
    """The scene above, its curves below; the timeline at the bottom stays as it is."""
    screen = window().screen
    view = next(a for a in screen.areas if a.type == "VIEW_3D")
    with bpy.context.temp_override(window=window(), area=view):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.55)
    lower, upper = sorted((a for a in screen.areas if a.type == "VIEW_3D"), key=lambda a: a.y)
    lower.type = "GRAPH_EDITOR"
    lower.spaces.active.show_region_ui = False
    return upper, lower


def frame_all(view, graph):
    for thing in bpy.data.objects:
        thing.select_set(thing.animation_data is not None)
        thing.empty_display_size = 0.5
        thing.show_name = True
        if thing.animation_data:
            bpy.context.view_layer.objects.active = thing
    for area, operator in ((view, bpy.ops.view3d.view_all), (graph, bpy.ops.graph.view_all)):
        region = next(r for r in area.regions if r.type == "WINDOW")
        with bpy.context.temp_override(window=window(), area=area, region=region):
            operator()


def shoot():
    with bpy.context.temp_override(window=window()):
        bpy.ops.screen.screenshot(filepath=out)
    bpy.ops.wm.quit_blender()


def work():
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    with bpy.context.temp_override(window=window()):
        bpy.ops.import_scene.fbx(filepath=fbx)
    bpy.context.scene.frame_set(20)
    view, graph = arrange()
    bpy.app.timers.register(lambda: frame_all(view, graph), first_interval=1.0)
    bpy.app.timers.register(shoot, first_interval=3.0)


bpy.app.timers.register(work, first_interval=0.5)
