"""blender --background --python blender.py -- FBX JSON: what Blender reads of the scene of scene.py."""
import json
import sys

import bpy
from mathutils import Euler

fbx, out = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.fbx(filepath=fbx, anim_offset=0)
rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base

CHANNELS = {"location": "T", "rotation_euler": "R", "scale": "S"}
found = {}
for action in bpy.data.actions:
    node, take = action.name.split("|")[:2]
    channels = found.setdefault(take, {}).setdefault(node, {})
    for path, channel in CHANNELS.items():
        curves = [action.fcurves.find(path, index=axis) for axis in range(3)]
        if None in curves:
            continue
        keys = channels.setdefault(channel, [])
        for frame in sorted({point.co.x for curve in curves for point in curve.keyframe_points}):
            value = [curve.evaluate(frame) for curve in curves]
            if channel == "R":
                value = list(Euler(value, "XYZ").to_quaternion())
            keys.append([frame / rate, *value])
nodes = sorted(thing.name for thing in bpy.data.objects)
assert {"rig", "hinge", "door", "handle"} <= set(nodes), nodes
with open(out, "w", encoding="utf-8") as file:
    json.dump(found, file)
