"""trip.py FOLDER: every format through Blender and back, untouched and edited, and a table of what came of it.

Untouched, the files must come back byte for byte. Edited, just the edited nodes may differ, and by the edit."""
import filecmp
import json
import os
import shutil
import subprocess
import sys

KEYFERRY = os.environ["KEYFERRY"]
HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {
    "x4-ani": {"move": "slider", "turn": "swing", "scale": "lamp"},
    "mm2-anim": {"move": "bone_00", "turn": "bone_01", "retime": "bone_02"},
    "vib-anm": {"move": "object_000", "retime": "object_001", "scale": "object_002"},
    "nytro-anim": {"move": "hip", "retime": "knee", "scale": "foot"},
    "ei-anm": {"move": "body", "shape": "wing"},
}
SIZE = {"move": 1.0, "turn": 5.73}  # by how much: units, degrees; the others are looked at only as "differs"


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
            if node + ".anm" in same:
                return "%s: the edit did not come back" % node
        elif bool(edits) == (before[node] == after.get(node)):
            return "%s: %s" % (node, "the edit did not come back" if edits else "changed, though nobody touched it")
    found = {}
    for file in sorted(os.listdir(original)):
        diff = json.loads(keyferry("diff", os.path.join(original, file), os.path.join(back, file), "--json").stdout)
        for item in diff["differences"]:
            name = file.rsplit(".", 1)[0] if item["node"] is None else item["node"]
            found[name] = max(found.get(name, 0), item.get("worst") or 0)
    for what, node in job["edit"].items():
        if what in SIZE and abs(found.get(node, 0) - SIZE[what]) > 0.02 * SIZE[what]:
            return "%s: moved by %g instead of %g" % (node, found.get(node, 0), SIZE[what])
    return ""


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
    wrong = 0
    print("%-12s %-12s %-10s %s" % ("format", "settings", "", "came back"))
    for job in jobs:
        # A default export deletes the capsule: the sidecar of the FBX that was imported stands in.
        if job["settings"] == "default":
            shutil.copy(job["in"] + ".kf", job["out"] + ".kf")
        os.makedirs(job["back"], exist_ok=True)
        keyferry("convert", job["out"], job["back"] + "/", "-y")
        found = problem(job, os.path.join(folder, "in", job["format"]))
        wrong += bool(found)
        print("%-12s %-12s %-10s %s" % (job["format"], job["settings"], job["kind"], "WRONG: " + found if found else
                                        "only the edits" if job["edit"] else "byte for byte"))
    print("%d of %d trips went wrong" % (wrong, len(jobs)))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
