"""trip_more.py FOLDER: generated files of every format to Blender and back, untouched, and some of them with just the wrapper node
deleted or changed, a pose left behind, or export options that change every number: they must come back byte for byte. New and
renamed objects must come back or be told of.

They are what a trip through matrices and 32-bit floats is hardest on: mirrored and vanishing scales, angles near the lock
and beyond a turn, several takes of one node, lists of unequal length, long and odd names, keys between the frames."""
import filecmp
import importlib
import json
import os
import shutil
import subprocess
import sys

KEYFERRY, ROOT = os.environ["KEYFERRY"], os.environ["KEYFERRY_SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "tests", "generate"))
SAMPLES = {
    "x4-ani": (".ani", ["pre_post_scale", "offset_header", "random_03", "random_11", "mix_fbx", "names_twice", "door", "turret", "names_63",
                       "not_finite"]),
    "mm2-anim": (".anim", ["retail-000", "old-002", "four-channels", "one-frame", "minus-zero"]),
    "vib-anm": (".anm", ["full-001", "sparse-000", "turning-000", "scale-comes-and-goes", "late-rotation", "extremes", "nothing-stored"]),
    "nytro-anim": (".nanim", ["long_0002", "short_0003", "turns", "ease", "same_names", "odd_names", "not_finite"]),
    "ei-anm": (".anm", ["more_morphs", "wing", "not_unit", "zero_quaternion", "short_0004", "long_0001", "no_rotation"]),
}
# What is done to all samples of a format, and to one or two of them each: edits and export options.
ALWAYS = [({}, {}), ({"wrapper deleted": ""}, {})]
IN_TURN = [({"wrapper cleared": ""}, {}), ({"wrapper renamed": ""}, {}), ({"wrapper moved": ""}, {}), ({"wrapper reparented": ""}, {}),
           ({}, {"bake_space_transform": True}), ({}, {"bake_anim_step": 2.0}), ({"posed": ""}, {}),
           ({}, {"bake_space_transform": True, "global_scale": 2.0}), ({"wrapper deleted": ""}, {"global_scale": 100.0}),
           ({"wrapper deleted": ""}, {"use_space_transform": False}), ({}, {"import": {"bake_space_transform": True}}),
           ({}, {"bake_space_transform": True, "global_scale": 0.0254, "axis_forward": "Y", "axis_up": "Z"})]
# All others are sent there and back untouched: of each kind of random ones this many. Left out are those with hundreds of nodes, of
# which Blender writes every one under every action; times beyond any frame; and those that take it long, but for the hardest.
MANY = {"mm2-anim": 3, "vib-anm": 3, "nytro-anim": 3, "ei-anm": 3}
TOO_LARGE = {"descriptions_200", "huge", "random_bits", "hundred-bones", "all-objects", "longest"}
LONG, HARDEST = 8000, {"random_00", "random_06"}  # bytes; three takes of a node, and angles near the lock
STILL = ("without keys", "stands still", "points of its mesh", "has no keys", "hangs below", "full weight", "constraints")
NEW = {"x4-ani": ("machine.ani", "slider"), "nytro-anim": ("walk.nanim", "hip")}


def write_new(folder):
    """Jobs that add an object, or rename one."""
    jobs = []
    samples = os.path.join(folder, "new")
    subprocess.run([sys.executable, os.path.join(HERE, "trip_samples.py"), samples], check=True)
    for name, (sample, node) in NEW.items():
        place = os.path.join(samples, name)
        source = os.path.join(place, sample)
        fbx = os.path.join(place, "source.fbx")
        subprocess.run([KEYFERRY, "convert", source, fbx, "--for", "blender", "--from", name], check=True, capture_output=True)
        for settings in ("default", "recommended"):
            for what in ("add", "namesake", "rename"):
                jobs.append({"name": name, "source": source, "in": fbx, "settings": settings, "edit": {what: node},
                             "out": os.path.join(place, "%s-%s.fbx" % (settings, what))})
    return jobs


def new_problem(job):
    """What is wrong with what came of a new or renamed object, or ""."""
    back = job["out"][:-4] + os.path.splitext(job["source"])[1]
    done = subprocess.run([KEYFERRY, "convert", job["out"], back], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    if "rename" in job["edit"]:
        old = job["edit"]["rename"]
        return "" if old in done.stderr and '"renamed"' in done.stderr else "the renaming was not told: " + done.stderr
    anim = json.loads(subprocess.run([KEYFERRY, "dump", back], check=True, capture_output=True, text=True).stdout)
    values = [key["v"] for take in anim["takes"] for track in take["tracks"] for key in track["keys"]
              if anim["nodes"][track["node"]]["name"] == "extra" and track["component"] == "x"]
    if " changed:" in done.stderr:
        return "another one changed: " + done.stderr
    if not values:
        return "the new node has no keys: " + done.stderr
    return "" if abs(max(values) - 2.0) < 0.01 else "the new node moves by %g instead of 2" % max(values)


def write_one(folder, name, sample, data, kinds):
    """Jobs for a file: as many as there are edits and options, each with both settings."""
    place = os.path.join(folder, name, sample)
    os.makedirs(place)
    source = os.path.join(place, sample + SAMPLES[name][0])
    with open(source, "wb") as file:
        file.write(data)
    subprocess.run([KEYFERRY, "convert", source, place + ".fbx", "--for", "blender", "--from", name], check=True, capture_output=True)
    for kind, (edit, options) in enumerate(kinds):
        # What an import turned into metres, a default export rounds by more than was written.
        for settings in ("recommended",) if "import" in options else ("default", "recommended"):
            out = os.path.join(place, "%s-%d" % (settings, kind))
            os.makedirs(out)
            what = " ".join([*edit, *options]) or "untouched"
            yield {"name": "%s %s, %s" % (name, sample, what), "source": source, "in": place + ".fbx", "settings": settings,
                   "out": os.path.join(out, sample + ".fbx"), "edit": edit, "import": options.get("import", {}),
                   "options": {key: value for key, value in options.items() if key != "import"}}


def write(folder):
    jobs = []
    for name, (_, wanted) in SAMPLES.items():
        generate = importlib.import_module(name.replace("-", "_"))
        made = {case[0]: case for case in generate.cases(7)}
        for number, sample in enumerate(wanted):
            jobs += write_one(folder, name, sample, made[sample][1], [*ALWAYS, *IN_TURN[number::len(wanted)]])
        for sample, data, tags in generate.cases(7, MANY[name]) if name in MANY else generate.cases(7):
            fits = sample not in TOO_LARGE and (len(data) < LONG or sample in HARDEST)
            if fits and "bad" not in (tags.split() if isinstance(tags, str) else tags):
                jobs += write_one(os.path.join(folder, "all"), name, sample, data, [({}, {})])
    return jobs


def main(folder):
    jobs = write(folder)
    added = write_new(folder)
    path = os.path.join(folder, "jobs.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(jobs + added, file)
    done = subprocess.run(["blender", "--background", "--python-exit-code", "1", "--python",
                           os.path.join(HERE, "trip_blender.py"), "--", path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    wrong = posed = 0
    for job in jobs:
        if job["settings"] == "default" or {"wrapper deleted", "wrapper cleared"} & set(job["edit"]):  # the capsule is gone
            shutil.copy(job["in"] + ".kf", job["out"] + ".kf")
        back = os.path.join(os.path.dirname(job["out"]), os.path.basename(job["source"]))
        done = subprocess.run([KEYFERRY, "convert", job["out"], back], capture_output=True, text=True)
        told = any(words in done.stderr for words in STILL)  # of a pose that somebody has left behind, of nothing else
        posed += told and "posed" in job["edit"]
        if done.returncode or not filecmp.cmp(job["source"], back, False) or (told and "posed" not in job["edit"]):
            wrong += 1
            print("WRONG: %s, %s settings\n%s" % (job["name"], job["settings"], done.stderr[-1500:]))
    print("%d of %d trips of generated files came back byte for byte" % (len(jobs) - wrong, len(jobs)))
    if not posed:
        wrong += 1
        print("WRONG: no pose without keys was told of")
    for job in added:
        if job["settings"] == "default":
            shutil.copy(job["in"] + ".kf", job["out"] + ".kf")
        found = new_problem(job)
        wrong += bool(found)
        print("%s, %s settings, %s: %s" % (job["name"], job["settings"], *job["edit"], found or "came back or was told"))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
