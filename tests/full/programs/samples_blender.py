"""blender --background --python samples_blender.py -- FOLDER: what Blender reads of every FBX in FOLDER, as FBX.json beside
it: {"nodes": [NAME], "takes": {take: {node: {"T"|"R"|"S": [[seconds, x, y, z], ...]}}} with a quaternion for R, "shapes": {node:
{shape: [[x, y, z], ...]}}, "weights": {node: {shape: [[seconds, weight], ...]}}}."""
import glob
import json
import os
import re
import sys

import bpy
from mathutils import Euler

PATHS = {"location": "T", "rotation_euler": "R", "rotation_quaternion": "R", "scale": "S"}


def read_action(action, rate, takes):
    """T, R and S of a node, or of the bones of one, on every frame that has a key of any axis."""
    owner, take = action.name.split("|")[:2] if "|" in action.name else (action.name, "")
    groups = {}
    for curve in action.fcurves:
        bone = re.match(r'pose\.bones\["(.*)"\]\.(\w+)', curve.data_path)
        node, path = bone.groups() if bone else (owner, curve.data_path)
        if path in PATHS:
            groups.setdefault((node, path), []).append(curve)
    for (node, path), curves in groups.items():
        keys = takes.setdefault(take, {}).setdefault(node, {}).setdefault(PATHS[path], [])
        for frame in sorted({point.co.x for curve in curves for point in curve.keyframe_points}):
            value = [curve.evaluate(frame) for curve in sorted(curves, key=lambda c: c.array_index)]
            keys.append([frame / rate, *(Euler(value, "XYZ").to_quaternion() if path == "rotation_euler" else value)])


def read_shapes(thing, rate, found):
    blocks = thing.data.shape_keys.key_blocks
    found["shapes"][thing.name] = {block.name: [list(p.co - q.co) for p, q in zip(block.data, blocks[0].data)] for block in blocks[1:]}
    weights = found["weights"][thing.name] = {}
    animation = thing.data.shape_keys.animation_data
    for curve in animation.action.fcurves if animation and animation.action else ():
        name = re.match(r'key_blocks\["(.*)"\]\.value', curve.data_path)
        weights[name[1]] = [[point.co.x / rate, point.co.y] for point in curve.keyframe_points]


for fbx in sorted(glob.glob(os.path.join(sys.argv[sys.argv.index("--") + 1], "*.fbx"))):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=fbx, anim_offset=0)
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    found = {"nodes": [thing.name for thing in bpy.data.objects], "takes": {}, "shapes": {}, "weights": {}}
    found["nodes"] += [bone.name for rig in bpy.data.armatures for bone in rig.bones]
    for action in bpy.data.actions:
        read_action(action, rate, found["takes"])
    for thing in bpy.data.objects:
        if thing.type == "MESH" and thing.data.shape_keys:
            read_shapes(thing, rate, found)
    with open(fbx + ".json", "w", encoding="utf-8") as file:
        json.dump(found, file)
