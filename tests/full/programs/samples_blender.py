"""blender --background --python samples_blender.py -- FOLDER: what Blender reads of every FBX in FOLDER, as FBX.json
beside it; shape keys are counted in the last line."""
import glob
import json
import os
import sys

import bpy

CHANNELS = {"location": "T", "rotation_euler": "R", "scale": "S"}
shapes = 0
for fbx in sorted(glob.glob(os.path.join(sys.argv[sys.argv.index("--") + 1], "*.fbx"))):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=fbx, anim_offset=0)
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    found = {}
    for action in bpy.data.actions:
        node, take = action.name.split("|")[:2] if "|" in action.name else (action.name, "")
        for curve in action.fcurves:
            channel = CHANNELS.get(curve.data_path)
            if channel:
                keys = found.setdefault(take, {}).setdefault(node, {}).setdefault(channel, [])
                keys += [[point.co.x / rate, point.co.y] for point in curve.keyframe_points]
    shapes += sum(len(key.key_blocks) - 1 for key in bpy.data.shape_keys)
    with open(fbx + ".json", "w", encoding="utf-8") as file:
        json.dump(found, file)
print("%d shape keys" % shapes)
