"""samples.py write FOLDER: every good sample and one real-looking file of each format as FBX in FOLDER.
samples.py shapes FOLDER: how many shape keys these have.
samples.py compare FBX JSON: whether a program read every node, take and key of it. The JSON is as scene.py has it."""
import json
import os
import subprocess
import sys

KEYFERRY, ROOT = os.environ["KEYFERRY"], os.environ["KEYFERRY_SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))
# What a program cannot do: assimp passes over curves with several keys at one time, and over single keys a ten-millionth of
# a second after 0; Blender cuts names of 63 bytes.
CANNOT = {
    "assimp": {"nytro-anim-backwards", "x4-ani-not_finite", "x4-ani-single_keys", "x4-ani-turret"},
    "blender": {"x4-ani-names_twice"},
}
CHANNELS = {"translation": "T", "rotation": "R", "scale": "S"}


def keyferry(*args):
    return subprocess.run([KEYFERRY, *args], capture_output=True)


def write(folder):
    subprocess.run([sys.executable, os.path.join(HERE, "trip_samples.py"), os.path.join(folder, "in")], check=True)
    count = 0
    for kind, top in (("sample", os.path.join(ROOT, "tests", "data")), ("real", os.path.join(folder, "in"))):
        for place, _, files in sorted(os.walk(top)):
            for name in sorted(files):
                if name.startswith("bad") or os.path.basename(place) == "bad":
                    continue
                out = os.path.join(folder, "%s-%s-%s.fbx" % (kind, os.path.basename(place), name.rsplit(".", 1)[0]))
                done = keyferry("convert", os.path.join(place, name), out, "-y", "--no-sidecar")
                count += done.returncode == 0
    print("%d files" % count)


def shapes(folder):
    """How many shape keys the FBX files have altogether."""
    count = 0
    for name in os.listdir(folder):
        if name.endswith(".fbx"):
            anim = json.loads(keyferry("dump", os.path.join(folder, name)).stdout)
            count += len({(t["node"], t["name"]) for take in anim["takes"] for t in take["tracks"] if t["channel"] == "morph"})
    print("%d shape keys" % count)


def expected(fbx):
    """{take: {node: {channel: times}}}, how many keys that is, and when each take starts."""
    anim = json.loads(keyferry("dump", fbx).stdout)
    takes, keys = {}, 0
    for take in anim["takes"]:
        for track in take["tracks"]:
            channel = CHANNELS.get(track["channel"])
            if channel and track["keys"]:
                node = anim["nodes"][track["node"]]["name"]
                times = takes.setdefault(take["name"], {}).setdefault(node, {}).setdefault(channel, set())
                times.update(k["t"] for k in track["keys"])
                keys += len(track["keys"])
    return takes, keys, {take["name"]: take["start"] for take in anim["takes"]}


def compare(fbx, found_path):
    with open(found_path, encoding="utf-8") as file:
        found = json.load(file)
    takes, keys, starts = expected(fbx)
    program = "assimp" if os.path.basename(found_path) == "assimp.json" else "blender"
    name = os.path.basename(fbx)[:-4]
    wrong = []
    for take, nodes in takes.items():
        for node, channels in nodes.items():
            for channel, times in channels.items():
                have = [k[0] for k in found.get(take, {}).get(node, {}).get(channel, [])]
                # A program may count time from the take's start.
                lost = min(([t for t in times if not any(abs(t - start - h) < 1e-3 for h in have)]
                            for start in (0, starts[take])), key=len)
                if lost:
                    wrong.append("%s, %s, %s: %d of %d key times are missing, first %g" %
                                 (take, node, channel, len(lost), len(times), min(lost)))
    if wrong and name.split("-", 1)[1] in CANNOT[program]:
        print("%-50s %5d keys  more than %s can do" % (name, keys, program))
        return 0
    print("%-50s %5d keys  %s" % (name, keys, "; ".join(wrong[:2]) or "all there"))
    return 1 if wrong else 0


if sys.argv[1] == "write":
    write(sys.argv[2])
elif sys.argv[1] == "shapes":
    shapes(sys.argv[2])
else:
    sys.exit(compare(*sys.argv[2:4]))
