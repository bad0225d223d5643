"""blender --background --python trip_edits_blender.py -- JOBS.json: for each job {"in", "out", "edit", "options"} imports an FBX,
edits it as an artist does, writes down where every object then is on every frame (OUT.truth: {object: [its local matrix]}), and
exports it."""
import json
import math
import sys

import bpy


def curves(thing, path=None):
    return [c for c in thing.animation_data.action.fcurves if path in (None, c.data_path)]


def key(thing, path, index, amount, frame):
    bpy.context.scene.frame_set(frame)
    getattr(thing, path)[index] += amount
    thing.keyframe_insert(path, frame=frame)


def pose(a, b, _):
    """Two objects moved and turned, and keys set."""
    key(a, "location", 0, 1.0, 8)
    key(b, "rotation_euler", 2, 0.3, 9)


def delete_keys(a, _, __):
    for curve in curves(a):
        for point in reversed([p for p in curve.keyframe_points if 5 <= p.co.x <= 12]):
            curve.keyframe_points.remove(point)


def few_keys(a, _, __):
    """Every eighth key of them, smooth ones."""
    for curve in curves(a):
        points = curve.keyframe_points
        for i in reversed(range(len(points) - 1)):
            if i % 8:
                points.remove(points[i])
        for point in points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def noise(a, _, __):
    curves(a, "location")[0].modifiers.new("NOISE").strength = 2


def turn_round(a, _, __):
    for point in curves(a, "rotation_euler")[2].keyframe_points:
        point.co.y += 2 * math.pi * (point.co.x - 1) / 20


def raise_all(a, _, __):
    for point in curves(a, "location")[0].keyframe_points:
        point.co.y += 1


def mirror(a, _, __):
    for point in curves(a, "scale")[0].keyframe_points:
        point.co.y *= -1


def slow_down(_, __, things):
    """All of it takes twice as long."""
    for thing in things:
        for curve in curves(thing):
            for point in curve.keyframe_points:
                point.co.x = 2 * point.co.x - 1
            curve.update()


def go_on(a, _, __):
    """A key ten frames after the end."""
    key(a, "location", 0, 1.5, round(a.animation_data.action.frame_range[1]) + 10)


def reverse_strip(a, _, things):
    """All actions pushed down, and one of them played backwards."""
    for thing in things:
        action = thing.animation_data.action
        strip = thing.animation_data.nla_tracks.new().strips.new(action.name, int(action.frame_range[0]), action)
        thing.animation_data.action = None
        strip.use_reverse = thing == a


def duplicate(a, _, __):
    bpy.ops.object.select_all(action="DESELECT")
    a.select_set(True)
    bpy.context.view_layer.objects.active = a
    bpy.ops.object.duplicate()
    for point in curves(bpy.context.object, "location")[0].keyframe_points:
        point.co.y += 5


def delete(a, _, __):
    bpy.data.objects.remove(a)


def armature(a, _, __):
    """An armature between the wrapper and an object."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    rig.parent, a.parent = a.parent, rig


with open(sys.argv[sys.argv.index("--") + 1], encoding="utf-8") as file:
    jobs = json.load(file)
for job in jobs:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=job["in"])
    parts = sorted((o for o in bpy.data.objects if o.parent and o.animation_data), key=lambda o: o.name)
    globals()[job["edit"]](parts[0], parts[min(1, len(parts) - 1)], parts)
    ends = [a.frame_range[1] for a in bpy.data.actions]
    scene, truth = bpy.context.scene, {}
    for frame in range(1, round(max(ends)) + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.data.objects:
            truth.setdefault(thing.name, []).append([list(row) for row in thing.evaluated_get(graph).matrix_local[:3]])
    with open(job["out"] + ".truth", "w", encoding="utf-8") as file:
        json.dump(truth, file)
    scene.frame_set(1)
    if job["options"]:
        scene.frame_start, scene.frame_end = 1, round(max(ends))
    bpy.ops.export_scene.fbx(filepath=job["out"], **job["options"])
