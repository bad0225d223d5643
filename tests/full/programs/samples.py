"""samples.py write FOLDER: FBX files of every format in FOLDER, and expected.json: all samples, some generated files of
every dialect, one real-looking file, and what is made of several files or with a skeleton.
samples.py compare FOLDER [ASSIMP]: whether Blender (FBX.json, by samples_blender.py) and assimp (the program of assimp.c) read
every node, take, key and shape of them; without ASSIMP: whether three.js does (FBX.three, by three.mjs)."""
import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

KEYFERRY, ROOT = os.environ["KEYFERRY"], Path(os.environ["KEYFERRY_SOURCE"])
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("generate", "decode")]
FORMATS = ("x4-ani", "mm2-anim", "vib-anm", "nytro-anim", "ei-anm")
# What a program cannot do: with several keys at one time assimp passes over the curve and Blender over what follows them;
# assimp also over single keys a ten-millionth of a second after 0. Blender cuts names of 63 bytes. three.js fails where an
# animated property other than T, R and S has x, y and z, reads the lower half of times before 0 with a wrong sign, and loses
# keys after half a turn (after_half_turns, which does not know where one is with several keys at one time).
SEVERAL = {"nytro-anim-backwards", "nytro-anim-jump", "nytro-anim-not_finite", "x4-ani-not_finite"}
CANNOT = {"assimp": SEVERAL | {"x4-ani-single_keys", "x4-ani-turret"}, "blender": SEVERAL | {"x4-ani-names_twice"},
          "three.js": {"x4-ani-pre_scale_alone", "nytro-anim-before_zero", "x4-ani-not_finite"}}
CHANNELS = {"translation": "T", "rotation": "R", "scale": "S"}
LIMITS = {"T": 1e-4, "S": 1e-5}  # of the value, and of 1


def keyferry(*args):
    done = subprocess.run([KEYFERRY, *map(str, args)], capture_output=True)
    if done.returncode:
        sys.exit("keyferry %s: %s" % (" ".join(map(str, args)), done.stderr.decode()))
    return done.stdout


def inputs(folder):
    """(name, files, options) of every FBX. Game files that have to be made are put into FOLDER/in."""
    made = folder / "in"
    subprocess.run([sys.executable, HERE / "trip_samples.py", made], check=True)
    for id in FORMATS:
        data = ROOT / "tests" / "data" / id
        for path in sorted([*data.iterdir(), *(made / id).iterdir()]):
            if path.is_file() and not path.name.startswith("bad"):
                yield f"{id}-{path.stem}", [path], []
        generate = importlib.import_module(id.replace("-", "_"))
        for name, content, tags in [] if id == "x4-ani" else generate.cases(count=4):
            path = made / "generated" / id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            known = {"bad", "from", "sample"} & set(tags.split() if isinstance(tags, str) else tags)
            if not (known or len(content) > 100000 or list(data.glob(name + ".*"))):
                yield f"{id}-{name}", [path], []
    data = ROOT / "tests" / "data"
    yield "ei-anm+parts", [data / "ei-anm" / f"{name}.anm" for name in ("body", "hand", "wing")], []
    yield "vib-anm+parts", [data / "vib-anm" / f"{name}.anm" for name in ("first", "second", "third")], []
    skeleton = made / "ped.skel"
    skeleton.write_bytes(importlib.import_module("mm2_anim").skeleton())
    yield "mm2-anim+skeleton", [made / "generated" / "mm2-anim" / "ped"], ["--rig", skeleton]


def shapes_of(files):
    """{node: {shape: offsets}} of Evil Islands parts, as the second reader has them."""
    reader = importlib.import_module("ei_anm")
    return {path.stem: {"morph_%03d" % i: shape for i, shape in enumerate(reader.shapes(path.read_bytes()))} for path in files}


def write(folder):
    sys.modules.pop("ei_anm", None)
    expected = {}
    for name, files, options in list(inputs(folder)):
        fbx = folder / f"{name}.fbx"
        keyferry("convert", *files, fbx, "--no-sidecar", "-y", *options)
        expected[name] = {"rig": bool(options), "files": [str(path) for path in files]}
    # One module name, two readers: from here on it is that of tests/decode.
    sys.path.remove(str(ROOT / "tests" / "generate"))
    sys.modules.pop("ei_anm", None)
    for name, entry in expected.items():
        entry["shapes"] = shapes_of(map(Path, entry["files"])) if name.startswith("ei-anm") else {}
    (folder / "expected.json").write_text(json.dumps(expected))
    print("%d files" % len(expected))
    assert len(expected) > 150


def quaternion(x, y, z):
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(a) / 2), math.sin(math.radians(a) / 2)) for a in (x, y, z))
    return (cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz)


def near(channel, found, wanted):
    """`wanted` has None for a component without a key at that time, or with several. Of millions of degrees a 32-bit float does
    not hold the last turn."""
    if channel == "R":
        return None in wanted or max(map(abs, wanted)) > 1e5 or abs(sum(a * b for a, b in zip(found, quaternion(*wanted)))) > 1 - 1e-6
    return all(b is None or abs(a - b) <= LIMITS[channel] * max(1, abs(b)) for a, b in zip(found, wanted))


def tracks_of(anim):
    """{(take, node, channel): {time: [x, y, z]}}, how many keys that is, and {(node, shape): {time: weight}}."""
    tracks, weights, keys = {}, {}, 0
    for take in anim["takes"]:
        for track in take["tracks"]:
            channel, node = CHANNELS.get(track["channel"]), anim["nodes"][track["node"]]["name"]
            if channel:
                values = tracks.setdefault((take["name"], node, channel), {})
                times = [key["t"] for key in track["keys"]]
                for key in track["keys"]:
                    value = key["v"] if times.count(key["t"]) == 1 else None
                    values.setdefault(key["t"], [None] * 3)["xyz".index(track["component"])] = value
            elif track["channel"] == "morph":
                weights[node, track["name"]] = {key["t"]: key["v"] for key in track["keys"]}
            else:
                continue
            keys += len(track["keys"])
    return {place: values for place, values in tracks.items() if values}, weights, keys


def lost(times, have, start):
    """The times that are not there; a program may count from the take's start."""
    return min(([t for t in times if not any(abs(t - shift - h) < 1e-3 for h in have)] for shift in (0, start)), key=len)


def after_half_turns(values):
    """The times of rotation keys that three.js loses: it cuts a step of half a turn or more into pieces and leaves out its end."""
    times = sorted(values)
    return {b for a, b in zip(times, times[1:])
            if any(None not in (x, y) and abs(x - y) >= 180 - 1e-3 for x, y in zip(values[a], values[b]))}


def missing(anim, found, rig, three=False):
    """What a program did not read of the nodes and their keys. Below a skeleton the values are against the rest pose."""
    wrong = ["node %s" % n["name"] for n in anim["nodes"] if n["name"] not in found["nodes"]]
    starts = {take["name"]: take["start"] for take in anim["takes"]}
    tracks = tracks_of(anim)[0]
    # A mirrored node may come back as another rotation and scale that do the same.
    mirrored = {node for (_, node, channel), values in tracks.items() if channel == "S" and
                any(c is not None and c <= 0 for v in values.values() for c in v)}
    for (take, node, channel), values in tracks.items():
        if three and channel == "R":
            gone = after_half_turns(values)
            values = {time: value for time, value in values.items() if time not in gone}
        keys = found["takes"].get(take, {}).get(node, {}).get(channel, [])
        gone = lost(values, [k[0] for k in keys], starts[take])
        if gone:
            wrong.append("%s, %s, %s: %d of %d key times, first %g" % (take, node, channel, len(gone), len(values), min(gone)))
            continue
        for time, wanted in values.items():
            at = [k[1:] for k in keys if min(abs(k[0] - time), abs(k[0] - time + starts[take])) < 1e-3]
            if not rig and (channel == "T" or node not in mirrored) and not any(near(channel, k, wanted) for k in at):
                wrong.append("%s, %s, %s at %g s: %s, not %s" % (take, node, channel, time, at, wanted))
                break
    return wrong


def missing_shapes(anim, found, shapes):
    """What Blender did not read of the shape keys: their points, as the game's file has them, and the keys of their weights."""
    wrong = []
    for node, wanted in shapes.items():
        have = found["shapes"].get(node, {})
        for name, offsets in wanted.items():
            offsets = [[c if math.isfinite(c) else 0.0 for c in point] for point in offsets]
            if name not in have or len(have[name]) != len(offsets) or \
                    any(math.dist(a, b) > 1e-5 * max(1, math.hypot(*b)) for a, b in zip(have[name], offsets)):
                wrong.append("shape %s of %s" % (name, node))
    for (node, name), values in tracks_of(anim)[1].items():
        keys = dict(found["weights"].get(node, {}).get(name, []))
        for time, weight in values.items():
            at = [v for t, v in keys.items() if abs(t - time) < 1e-3]
            if not any(abs(v - weight) < 1e-5 for v in at):
                wrong.append("weight of %s of %s at %g s: %s, not %g" % (name, node, time, at, weight))
    return wrong


def compare(folder, assimp):
    """`assimp` is its program, or None: then three.js is looked at, instead of assimp and Blender."""
    expected = json.loads((folder / "expected.json").read_text())
    failed = counted = 0
    for name, entry in expected.items():
        fbx = folder / f"{name}.fbx"
        anim = json.loads(keyferry("dump", fbx))
        keys, shapes = tracks_of(anim)[2], sum(map(len, entry["shapes"].values()))
        counted += shapes
        wrong = {}
        if assimp:
            blender = json.loads((folder / f"{name}.fbx.json").read_text())
            wrong["blender"] = missing(anim, blender, entry["rig"]) + missing_shapes(anim, blender, entry["shapes"])
            done = subprocess.run([assimp, fbx], capture_output=True)
            read = json.loads(done.stdout) if done.returncode == 0 else {"|error": done.stderr.decode()}
        else:
            read = json.loads((folder / f"{name}.fbx.three").read_text())
        # Meshes without polygons keep their node.
        wrong["assimp" if assimp else "three.js"] = [read["|error"]] if "|error" in read else \
            missing(anim, {"nodes": read.pop("|nodes"), "takes": read}, entry["rig"], not assimp)
        line = []
        for program, list_of in wrong.items():
            excused = name in CANNOT[program]
            failed += bool(list_of) and not excused
            if list_of:
                line.append("more than %s can do" % program if excused else "%s lacks %s" % (program, "; ".join(list_of[:2])))
        print("%-40s %5d keys %3d shapes  %s" % (name, keys, shapes, ", ".join(line) or "all there"))
    print("%d files, %d shapes, %d wrong" % (len(expected), counted, failed))
    assert counted > 50
    return failed


if sys.argv[1] == "write":
    write(Path(sys.argv[2]))
else:
    sys.exit(compare(Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None) != 0)
