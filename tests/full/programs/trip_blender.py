"""blender --background --python trip_blender.py -- JOBS.json: for each job imports an FBX as a user would, edits it if the
job says so, and exports it. A job: {"in", "out", "settings": "default" | "recommended", "edit": {what: node}, "options": {an
option of the export: its value}, "import": {one of the import}}, the last two if there are any."""
import json
import sys

import bpy

RECOMMENDED = {"use_custom_props": True, "add_leaf_bones": False, "bake_anim_simplify_factor": 0.0,
               "bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False}


def curves(node, path):
    return [c for c in bpy.data.objects[node].animation_data.action.fcurves if c.data_path == path]


def middle(curve):
    points = curve.keyframe_points
    return points[len(points) // 2]


def move(node):
    """One key of one curve, a unit up."""
    middle(curves(node, "location")[0]).co.y += 1.0


def turn(node):
    """One key of one curve, a tenth of a radian on."""
    middle(curves(node, "rotation_euler")[0]).co.y += 0.1


def retime(node):
    """The middle third of every curve a frame later."""
    for path in ("location", "rotation_euler"):
        for curve in curves(node, path):
            points = curve.keyframe_points
            values = [p.co.y for p in points]
            for i in range(len(points) // 3, 2 * len(points) // 3):
                points[i].co.y = values[i - 1]


def scale(node):
    for curve in curves(node, "scale"):
        middle(curve).co.y *= 1.25


def shape(node):
    bpy.data.objects[node].data.shape_keys.key_blocks[3].data[1].co.x += 0.125


def add(node):
    """A new object beside one of ours, with keys."""
    new = bpy.data.objects.new("extra", None)
    bpy.context.collection.objects.link(new)
    new.parent = bpy.data.objects[node].parent
    for frame, x in ((1, 0.0), (16, 2.0), (31, 0.5)):
        new.location = (x, 0, 0)
        new.keyframe_insert("location", frame=frame)


def posed(_):
    """Moved and turned without a key."""
    for thing in bpy.data.objects:
        if thing.parent:
            thing.location.x += 1
            thing.location.y += 2
            thing.rotation_euler = (1, 2, 3)


def namesake(node):
    """The same, its action called just like the take."""
    add(node)
    bpy.data.objects["extra"].animation_data.action.name = bpy.data.objects[node].animation_data.action.name.split("|")[1]


def rename(node):
    bpy.data.objects[node].name = "renamed"


def wrapper():
    return next(o for o in bpy.data.objects if o.name.startswith("keyferry_"))


def wrapper_deleted(_):
    bpy.data.objects.remove(wrapper())


def wrapper_cleared(_):
    """Object > Parent > Clear and Keep Transformation, then deleted."""
    top = wrapper()
    for thing in bpy.data.objects:
        thing.select_set(thing.parent == top)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    bpy.data.objects.remove(top)


def wrapper_renamed(_):
    wrapper().name = "Stage"


def wrapper_moved(_):
    top = wrapper()
    top.rotation_mode = "XYZ"
    top.location, top.rotation_euler, top.scale = (3, 4, 5), (0.3, 1.1, -0.4), (2, 2, 2)


def wrapper_reparented(_):
    stage = bpy.data.objects.new("Stage", None)
    bpy.context.collection.objects.link(stage)
    stage.location, stage.rotation_euler, stage.scale = (1, 2, 3), (0.5, 0.2, 0.1), (3, 3, 3)
    wrapper().parent = stage


EDITS = {"wrapper deleted": wrapper_deleted, "wrapper cleared": wrapper_cleared, "wrapper renamed": wrapper_renamed,
         "wrapper moved": wrapper_moved, "wrapper reparented": wrapper_reparented, "posed": posed, "add": add, "namesake": namesake, "rename": rename, "move": move, "turn": turn, "retime": retime, "scale": scale, "shape": shape}

with open(sys.argv[sys.argv.index("--") + 1], encoding="utf-8") as file:
    jobs = json.load(file)
for job in jobs:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=job["in"], **job.get("import", {}))
    for what, node in job["edit"].items():
        EDITS[what](node)
    options = {}
    if job["settings"] == "recommended":
        options = RECOMMENDED
        ranges = [(1, 1)] + [o.animation_data.action.frame_range for o in bpy.data.objects if o.animation_data and o.animation_data.action]
        bpy.context.scene.frame_start = int(min(r[0] for r in ranges))
        bpy.context.scene.frame_end = round(max(r[1] for r in ranges))
    bpy.ops.export_scene.fbx(filepath=job["out"], **{**options, **job.get("options", {})})
