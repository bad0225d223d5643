"""trip_edits.py FOLDER: what artists do in Blender comes back: on every frame every node is where Blender had it, nodes that
nobody touched keep their bytes, and what a format cannot hold is told."""
import json
import math
import os
import shutil
import subprocess
import sys

KEYFERRY = os.environ["KEYFERRY"]
HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = {"x4-ani": "machine.ani", "mm2-anim": "walk.anim", "vib-anm": "rabbit.anm", "nytro-anim": "walk.nanim", "ei-anm": "body.anm"}
SETTINGS = {"default": {}, "recommended": {"use_custom_props": True, "add_leaf_bones": False, "bake_anim_simplify_factor": 0.0,
                                           "bake_anim_use_nla_strips": False, "bake_anim_use_all_actions": False}}
# Which of the first two nodes each edit changes; None: it makes the take longer, which all nodes have to follow.
EDITS = {"pose": 2, "delete_keys": 1, "few_keys": 1, "noise": 1, "turn_round": 1, "raise_all": 1, "mirror": 1, "slow_down": None,
         "go_on": None, "reverse_strip": 1, "duplicate": 0, "delete": 0, "armature": 0}
# How far a node may be off: Blender's own simplification, or what is no edit (0.001); and what the format rounds (positions are
# whole numbers there).
SIMPLIFIED, ROUNDED = {"default": 4e-3, "recommended": 1.1e-3}, {"vib-anm": 0.51}
# What is not carried, and has to be told.
TOLD = {("mirror", "mm2-anim"): "its scale is another one", ("mirror", "ei-anm"): "its scale is another one",
        ("raise_all", "x4-ani"): "its translation is another one", ("delete", None): "did not come back and stay as they were",
        ("duplicate", "mm2-anim"): '.001"', ("duplicate", "vib-anm"): '.001"', ("duplicate", "ei-anm"): '.001"'}


def keyferry(*args):
    done = subprocess.run([KEYFERRY, *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit("keyferry %s: exit %d\n%s" % (" ".join(args), done.returncode, done.stderr))
    return done


def tracks(path):
    """{node: its tracks as dump prints them}"""
    anim, found = json.loads(keyferry("dump", path).stdout), {}
    for take in anim["takes"]:
        for track in take["tracks"]:
            found.setdefault(anim["nodes"][track["node"]]["name"], []).append({**track, "node": None})
    return found


def matrix(turn, scale, place):
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(v)), math.sin(math.radians(v))) for v in turn)
    rows = ((cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx), (sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
            (-sy, cy * sx, cy * cx))
    return [[v * s for v, s in zip(row, scale)] + [p] for row, p in zip(rows, place)]


def frames(path, name, count):
    """{node: its matrix on every frame}"""
    fbx = path + ".frames.fbx"
    keyferry("convert", path, fbx, "--bake=%d" % (15 if name == "ei-anm" else 30), "--from", name, "--no-sidecar", "-y")
    found = {}
    for node, its in tracks(fbx).items():
        values = {(t["channel"], t["component"]): [k["v"] for k in t["keys"]] for t in its if "component" in t}
        pick = lambda i, channel, rest: [v[min(i, len(v) - 1)] for v in (values.get((channel, c), [rest]) for c in "xyz")]
        found[node] = [matrix(pick(i, "rotation", 0.0), pick(i, "scale", 1.0), pick(i, "translation", 0.0)) for i in range(count)]
    return found


def problem(job, back, said):
    """What is wrong with what came back, or ""."""
    name, edit = job["format"], job["edit"]
    before, after = tracks(job["source"]), tracks(back)
    touched = [node for node in sorted(before) if before[node] != after.get(node)]
    if EDITS[edit] is not None and not set(touched) <= set(sorted(before)[:EDITS[edit]]):
        return "touched: %s" % touched
    wanted = TOLD.get((edit, name), TOLD.get((edit, None)))
    if edit == "duplicate" and job["settings"] == "default":
        wanted = '.001" is new, and its keys are not carried'
    if wanted:
        return "" if wanted in said else "not told: " + said
    with open(job["out"] + ".truth", encoding="utf-8") as file:
        truth = {node: all_of for node, all_of in json.load(file).items() if not node.startswith(("keyferry_", "Rig"))}
    found = frames(back, name, max(map(len, truth.values())))
    if "a key where the object is not drawn is not stored" in said:
        del truth["object_002"]
    for node, wanted in truth.items():
        if node not in found:
            return "%s is missing" % node
        for i, (a, b) in enumerate(zip(found[node], wanted)):
            for row, (x, y) in enumerate(zip(a, b)):
                far = [abs(p - q) / max(1, abs(q)) for p, q in zip(x, y)]
                limit = SIMPLIFIED[job["settings"]]
                if max(far[:3]) > limit + (1e-3 if name in ROUNDED else 0) or \
                        abs(x[3] - y[3]) > limit * max(1, abs(y[3])) + ROUNDED.get(name, 0):
                    return "%s, frame %d, row %d: %s instead of %s" % (node, i, row, x, y)
    return ""


def main(folder):
    subprocess.run([sys.executable, os.path.join(HERE, "trip_samples.py"), os.path.join(folder, "in")], check=True)
    jobs = []
    for name, sample in SAMPLES.items():
        source, fbx = os.path.join(folder, "in", name, sample), os.path.join(folder, name + ".fbx")
        keyferry("convert", source, fbx, "--for", "blender", "--from", name)
        for settings, options in SETTINGS.items():
            for edit in EDITS:
                place = os.path.join(folder, "-".join((name, settings, edit)))
                os.makedirs(place)
                jobs.append({"format": name, "source": source, "in": fbx, "out": os.path.join(place, "x.fbx"), "edit": edit,
                             "settings": settings, "options": options})
    with open(os.path.join(folder, "jobs.json"), "w", encoding="utf-8") as file:
        json.dump(jobs, file)
    done = subprocess.run(["blender", "--background", "--python-exit-code", "1", "--python",
                           os.path.join(HERE, "trip_edits_blender.py"), "--", file.name], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    wrong = 0
    for job in jobs:
        if job["settings"] == "default":  # the capsule is gone
            shutil.copy(job["in"] + ".kf", job["out"] + ".kf")
        back = os.path.join(os.path.dirname(job["out"]), os.path.basename(job["source"]))
        found = problem(job, back, keyferry("convert", job["out"], back).stderr)
        wrong += bool(found)
        if found:
            print("WRONG: %s, %s settings, %s: %s" % (job["format"], job["settings"], job["edit"], found))
    print("%d of %d edits came back or were told of" % (len(jobs) - wrong, len(jobs)))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
