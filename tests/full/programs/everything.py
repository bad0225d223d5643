"""blender --background --python everything.py -- FBX KEYS: checks what Blender reads of the scene that has everything.
python3 everything.py JSON KEYS: checks what assimp.c printed of it.

KEYS has a line for each key: take, layer, node, channel, name, component, seconds, value, with tabs between them.
"""
import json
import sys

RATE = 30
RANGES = {"walk ä": (-0.5, 30), "second": (0, 2)}


def read_keys(path):
    """{(take, layer, node, channel, name): [{seconds: value} for each component]}"""
    tracks = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            take, layer, node, channel, name, component, time, value = line.rstrip("\n").split("\t")
            curves = tracks.setdefault((take, int(layer), node, channel, name), [{}, {}, {}])
            curves[int(component)][float(time)] = float(value)
    return tracks


def times(curves):
    return sorted({time for curve in curves for time in curve})


def require(wanted, found, what):
    missing = [time for time in wanted if not any(abs(time - other) < 1e-4 for other in found)]
    assert not missing, f"{what}: {len(missing)} of {len(wanted)} keys are missing, the first at {missing[0]} s"
    print(f"{what}: {len(wanted)} keys, all there")


def check_assimp(found_path, keys_path):
    with open(found_path, encoding="utf-8") as file:
        found = json.load(file)
    letters = {"translation": "T", "rotation": "R", "scale": "S"}
    checked = 0
    for (take, layer, node, channel, _), curves in read_keys(keys_path).items():
        if channel not in letters or layer > 0:
            continue
        name = node if node in found[take] else node.replace('"', "&quot;")  # it leaves ASCII's escapes as they are
        keys = found[take][name][letters[channel]]
        start, end = RANGES[take]  # assimp counts from the take's start and leaves out what lies outside
        wanted = [time - start for time in times(curves) if start <= time <= end]
        require(wanted, [key[0] for key in keys], f"{take}, {node}, {channel}")
        checked += 1
    assert checked == 5, checked


def check_blender(fbx, keys_path):
    import bpy
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=fbx, anim_offset=0)
    objects = bpy.data.objects
    assert {thing.name: thing.type for thing in objects} == {
        "wrapper": "EMPTY", "root": "ARMATURE", "face": "MESH", "a::b & c": "EMPTY"}, list(objects)
    assert {bone.name for bone in objects["root"].data.bones} == {'bone "one"', "böne"}
    assert objects["root"].parent == objects["face"].parent == objects["wrapper"]

    # Properties. Blender takes none from bones.
    assert objects["wrapper"]["text"] == 'a "b"\nc\r' and objects["wrapper"]["long"] == "k" * 100000
    assert objects["root"]["whole"] == -7 and objects["root"]["choice"] == "b"
    assert {"heat", "uv", "wind"} <= set(objects["a::b & c"].keys())

    # Points and shapes, with their offsets.
    mesh = objects["face"].data
    shapes = mesh.shape_keys.key_blocks
    assert len(mesh.vertices) == 200 and [shape.name for shape in shapes] == ["Basis", "smile", "blink ä", "none"]
    for i in range(200):
        for c in range(3):
            k = 3 * i + c
            base = k * k % 97 / 7
            assert abs(mesh.vertices[i].co[c] - base) < 1e-4, (i, c)
            assert abs(shapes["smile"].data[i].co[c] - (base + k / 3 - 1)) < 1e-3, (i, c)
    moved = [i for i in range(200) if (shapes["blink ä"].data[i].co - mesh.vertices[i].co).length > 1e-6]
    assert moved == [5, 7, 199], moved

    # Keys: shapes exactly as many as were written, the root's own at the times of all its curves.
    tracks = read_keys(keys_path)
    action = bpy.data.actions["Key|walk ä|base"]
    for name in ("smile", "blink ä"):
        points = action.fcurves.find(f'key_blocks["{name}"].value').keyframe_points
        wanted = times(tracks["walk ä", 0, "face", "morph", name])
        assert len(points) == len(wanted), (name, len(points))
        require(wanted, [point.co.x / RATE for point in points], name)
    for take, layer, path, channel in (("walk ä", "|base", "location", "translation"),
                                       ("walk ä", "|base", "rotation_euler", "rotation"),
                                       ("walk ä", "|over", "location", "translation"),
                                       ("second", "", "location", "translation")):
        curve = bpy.data.actions[f"root|{take}{layer}"].fcurves.find(path, index=0)
        wanted = times(tracks[take, int(layer == "|over"), "root", channel, ""])
        require(wanted, [point.co.x / RATE for point in curve.keyframe_points], f"{take}{layer}, root, {channel}")
    for bone in ('bone "one"', "böne"):
        paths = {curve.data_path for curve in bpy.data.actions["root|walk ä|base"].fcurves}
        escaped = bone.replace('"', '\\"')
        assert any(f'pose.bones["{escaped}"]' in path for path in paths), bone


if "--" in sys.argv:
    check_blender(*sys.argv[sys.argv.index("--") + 1:])
else:
    check_assimp(*sys.argv[1:])
