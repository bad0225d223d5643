"""trip.py FOLDER: every format through Blender and back, untouched and edited, and a table of what came of it: FOLDER/table,
which has to be the one of README.md.

Untouched, the files must come back byte for byte. Edited, just the edited nodes may differ, and by the edit: on every frame
each of them stands where the original does with the edit made to it here once more."""
import filecmp
import json
import math
import os
import shutil
import subprocess
import sys

KEYFERRY, ROOT = os.environ["KEYFERRY"], os.environ["KEYFERRY_SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "tests", "decode"))
import ei_anm  # noqa: E402
# Each format's own: there is no scale in mm2-anim and ei-anm, and shapes are in the latter alone. One node stays untouched.
FORMATS = {
    "x4-ani": {"move": "slider", "turn": "swing", "retime": "swing", "scale": "lamp"},
    "mm2-anim": {"move": "bone_00", "turn": "bone_01", "retime": "bone_02"},
    "vib-anm": {"move": "object_000", "retime": "object_001", "scale": "object_002"},
    "nytro-anim": {"move": "hip", "retime": "knee", "scale": "foot"},
    "ei-anm": {"move": "body", "retime": "head", "shape": "wing"},
}
RATE = {"ei-anm": 15}  # frames a second that Blender gets; 30 else
LIMITS = {"translation": 1e-3, "rotation": 0.02, "scale": 1e-3}  # units (or parts of larger values), degrees, factors


def keyferry(*args):
    done = subprocess.run([KEYFERRY, *args], capture_output=True, text=True)
    if done.returncode not in (0, 1) or (done.returncode and args[0] != "diff"):
        sys.exit("keyferry %s: exit %d\n%s" % (" ".join(args), done.returncode, done.stderr))
    return done


def tracks(path):
    """{node: its tracks as dump prints them} of a file or of a folder's files."""
    found = {}
    files = [os.path.join(path, f) for f in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
    for file in files:
        anim = json.loads(keyferry("dump", file).stdout)
        for take in anim["takes"]:
            for track in take["tracks"]:
                found.setdefault(anim["nodes"][track["node"]]["name"], []).append({**track, "node": None})
    return found


def frames(folder, rate):
    """{(node, channel, component): its values on every frame} of a folder's files."""
    fbx = folder + "-frames.fbx"
    keyferry("convert", *[os.path.join(folder, f) for f in sorted(os.listdir(folder))], fbx, "--bake=%d" % rate, "--no-sidecar", "-y")
    anim = json.loads(keyferry("dump", fbx).stdout)
    return {(anim["nodes"][track["node"]]["name"], track["channel"], track["component"]): [key["v"] for key in track["keys"]]
            for take in anim["takes"] for track in take["tracks"] if track["channel"] in LIMITS}


def edit(curves, edits):
    """What trip_blender.py does, done to the frames."""
    for what, node in edits.items():
        for (name, channel, component), values in curves.items():
            middle = len(values) // 2
            if name != node:
                continue
            if what == "move" and (channel, component) == ("translation", "x"):
                values[middle] += 1.0
            elif what == "turn" and (channel, component) == ("rotation", "x"):
                values[middle] += math.degrees(0.1)
            elif what == "retime" and channel != "scale":
                first, end = len(values) // 3, 2 * len(values) // 3
                values[first:end] = values[first - 1:end - 1]
            elif what == "scale" and channel == "scale":
                values[middle] *= 1.25
    return curves


def angle(a, b):
    """Degrees between two rotations, each three angles about x, then y, then z."""
    def matrix(angles):
        (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(v)), math.sin(math.radians(v))) for v in angles)
        return ((cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
                (sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx), (-sy, cy * sx, cy * cx))
    far = math.dist([v for row in matrix(a) for v in row], [v for row in matrix(b) for v in row])
    return math.degrees(2 * math.asin(min(1.0, far / math.sqrt(8))))


def off(found, wanted):
    """Where a folder's files are not what they should be, or ""."""
    for node, channel in sorted({place[:2] for place in wanted}):
        have, want = (list(zip(*(curves.get((node, channel, c), []) for c in "xyz"))) for curves in (found, wanted))
        if len(have) != len(want) or not want:
            return "%s, %s: %d frames instead of %d" % (node, channel, len(have), len(want))
        for i, (a, b) in enumerate(zip(have, want)):
            far = angle(a, b) if channel == "rotation" else max(abs(x - y) / max(1, abs(y)) for x, y in zip(a, b))
            if far > LIMITS[channel]:
                return "%s, %s, frame %d: %s instead of %s" % (node, channel, i, a, b)
    return ""


def shapes(path):
    with open(path, "rb") as file:
        return ei_anm.shapes(file.read())


def problem(job, original):
    """What is wrong with what came back, or ""."""
    back = job["back"]
    same = {f for f in os.listdir(original)
            if os.path.exists(os.path.join(back, f)) and filecmp.cmp(os.path.join(original, f), os.path.join(back, f), False)}
    if not job["edit"]:
        return "" if same == set(os.listdir(original)) else "not the same bytes"
    before, after = tracks(original), tracks(back)
    for node in before:
        edits = [what for what, where in job["edit"].items() if where == node]
        if "shape" in edits:
            wanted, found = (shapes(os.path.join(place, node + ".anm")) for place in (original, back))
            wanted[2][1] = [wanted[2][1][0] + 0.125, *wanted[2][1][1:]]
            if [len(s) for s in wanted] != [len(s) for s in found] or \
                    any(math.dist(a, b) > 1e-5 for s, t in zip(wanted, found) for a, b in zip(s, t)):
                return "%s: the shapes are not those edited" % node
            edits.remove("shape")
        if bool(edits) == (before[node] == after.get(node)):
            return "%s: %s" % (node, "the edit did not come back" if edits else "changed, though nobody touched it")
    rate = RATE.get(job["format"], 30)
    return off(frames(back, rate), edit(frames(original, rate), job["edit"]))


def main(folder):
    jobs = []
    subprocess.run([sys.executable, os.path.join(HERE, "trip_samples.py"), os.path.join(folder, "in")], check=True)
    for name, edits in FORMATS.items():
        source = os.path.join(folder, "in", name)
        files = sorted(os.path.join(source, f) for f in os.listdir(source))
        fbx = os.path.join(folder, name + ".fbx")
        keyferry("convert", *files, fbx, "--for", "blender", "-y")
        for settings in ("default", "recommended"):
            for kind, edit in (("unedited", {}), ("edited", edits)):
                stem = os.path.join(folder, "%s-%s-%s" % (name, settings, kind))
                jobs.append({"format": name, "in": fbx, "out": stem + ".fbx", "settings": settings, "edit": edit,
                             "back": stem, "kind": kind})
    with open(os.path.join(folder, "jobs.json"), "w", encoding="utf-8") as file:
        json.dump(jobs, file)
    done = subprocess.run(["blender", "--background", "--python-exit-code", "1", "--python",
                           os.path.join(HERE, "trip_blender.py"), "--", file.name], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    wrong, cells = 0, {}
    for job in jobs:
        # A default export deletes the capsule: the sidecar of the FBX that was imported stands in.
        if job["settings"] == "default":
            shutil.copy(job["in"] + ".kf", job["out"] + ".kf")
        os.makedirs(job["back"], exist_ok=True)
        said = keyferry("convert", job["out"], job["back"] + "/", "-y").stderr
        found = problem(job, os.path.join(folder, "in", job["format"])) or ("told what nobody did: " + said if "without keys" in said else "")
        wrong += bool(found)
        cells.setdefault(job["format"], []).append("WRONG" if found else "only the edits" if job["edit"] else "byte for byte")
        if found:
            print("%s, %s, %s: %s" % (job["format"], job["settings"], job["kind"], found))
    table = ["| format | default export, untouched | default, edited | recommended, untouched | recommended, edited |",
             "|---|---|---|---|---|", *("| %s | %s |" % (name, " | ".join(row)) for name, row in cells.items())]
    with open(os.path.join(folder, "table"), "w", encoding="utf-8") as file:
        file.write("\n".join(table) + "\n")
    print("\n".join(table))
    print("%d of %d trips went wrong" % (wrong, len(jobs)))
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        told = "\n".join(["", *table, "", ""]) in file.read()
    if not told:
        print("README.md has another table")
    return 0 if told and not wrong else 1


sys.exit(main(sys.argv[1]))
