"""What the samples cost in instructions, which a busy machine does not change: cost.py compare|renew KEYFERRY COUNTS FOLDER [PATTERN]

Each sample goes to FBX and back in memory (keyferry verify) under callgrind, a larger file of each format also baked; and two
large edits come home, in which something is looked for among many: were that no more linear, it would show.
Counted are the instructions of our own functions alone, so the versions of libc, zlib and ufbx do not matter; the compiler
does. With the compiler that the stored counts are of, each must be within 2 % of its count. With another one the counts
tell little: they are first scaled by what ufbx, in the same program, takes for a file that is always the same, and only
what is off by more than OTHERS, an algorithm gone wrong, fails. `renew` stores what was counted;
with a PATTERN only what it is found in is compared."""
import concurrent.futures
import importlib
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAME, OTHERS = 0.02, 0.35
sys.path[:0] = [os.path.join(ROOT, "tests", "generate"), os.path.join(ROOT, "tests", "lib")]
import fbxtext  # noqa: E402


# ---------------------------------------------------------------- samples

def large_x4(x4):
    times = [i / 30 for i in range(150)]
    values = [[tuple(math.sin(t * (p + c + 1)) for c in range(3)) for t in times] for p in range(6)]
    parts = []
    for p, v in enumerate(values):
        keys = [x4.key(t, w, x4.TCB, tcb=(0.2, -0.1, 0.1 * (i % 3), 0.0, 0.0)) for i, (t, w) in enumerate(zip(times, v))]
        parts.append(x4.description(f"part{p}", "open", times[-1], pos=x4.bezier_keys(times, v), rot=keys))
    return x4.ani(parts)


def large_ei(ei):
    rng = random.Random(1)
    return ei.part(ei.turning(rng, 600), ei.moving(rng, 600), ei.bending(rng, 60, 40))


def large_nytro(nytro):
    def keys(size, middle):
        return [nytro.key(i / 10, [middle + size * math.sin(i * 0.3 + c) for c in range(3)], (0.1, -0.2, 0.0, 0.0, 0.0))
                for i in range(120)]
    turns = [nytro.key(i / 10, [40 * math.sin(i * 0.2), 0.6, 0.0, 0.8], (0.1, 0.0, 0.2, 0.0, 0.0)) for i in range(120)]
    return nytro.animation("long", [nytro.node(b"node%d" % n, nytro.TCB, keys(9.0, 0.0), turns, keys(0.2, 1.0))
                                    for n in range(6)])


def large_mm2(mm2):
    return mm2.clip(0, 200, [mm2.channel(3 + 3 * 15, mm2.walk(random.Random(1), 15, 200))])


def large_vib(vib):
    return vib.animation([[vib.keyframe(n, (f * (n + 3), 50 * n, -f), (4096,) * 3, (f, n, 100)) for n in range(8)]
                          for f in range(300)])


LARGE = {"x4_ani": ("large.ani", large_x4), "ei_anm": ("large.anm", large_ei), "nytro_anim": ("large.nanim", large_nytro),
         "mm2_anim": ("large.anim", large_mm2), "vib_anm": ("large.anm", large_vib)}


def every_number(x4, keyferry, folder):
    """8,000 keys whose ease all is another one."""
    keys = [x4.key(x4.f32(i / 30), (i % 7, i % 5, i % 3), x4.TCB, tcb=(0, 0, 0, 0.25 + 0.25 * (i % 2), 0.125)) for i in range(8000)]
    text = to_text(keyferry, folder, "numbers", x4.ani([x4.description("part", "go", 7999 / 30, pos=keys)]))
    return re.sub(r"(?<=a: )0\.25,[0-9.,\s]+", lambda numbers: re.sub(r"0\.25|0\.5", "0.375", numbers[0]), text)


def every_node(x4, keyferry, folder):
    """2,000 nodes that move otherwise, each one place further on than it was, for the first is gone."""
    parts = [x4.description(f"part_{i:05}", "go", 1.0, pos=x4.bezier_keys([0.0, 1.0], [(0.0, 0.0, 0.0), (1.0, 2.0, 3.0)])) for i in range(2000)]
    scene = fbxtext.Scene(to_text(keyferry, folder, "nodes", x4.ani(parts)))
    scene.remove(scene.models()["part_00000"])
    for curve in scene.curves().values():
        curve.keys[1].value += 1
        curve.store()
    return scene.text()


def to_text(keyferry, folder, name, data):
    with open(os.path.join(folder, name + ".ani"), "wb") as f:
        f.write(data)
    subprocess.run([keyferry, "convert", name + ".ani", name + ".fbx", "--ascii"], cwd=folder, check=True, capture_output=True)
    with open(os.path.join(folder, name + ".fbx"), encoding="utf-8") as f:
        return f.read()


def edits(keyferry, folder):
    for name, edited in ("numbers", every_number), ("nodes", every_node):
        text = edited(importlib.import_module("x4_ani"), keyferry, folder)
        with open(os.path.join(folder, name + ".fbx"), "w", encoding="utf-8") as f:
            f.write(text)
        yield f"x4-ani/all {name} edited", ["convert", name + ".fbx", name + ".back.ani", "--drop-missing"]


def commands(folder):
    """What is counted, as (name, words of the command), with the samples in FOLDER: long paths would count too."""
    data = os.path.join(ROOT, "tests", "data")
    with open(os.path.join(ROOT, "plugins", "formats.def")) as f:
        formats = re.findall(r"^KF_FORMAT\((\w+)\)", f.read(), re.M)
    for module in formats:
        kind = module.replace("_", "-")
        os.mkdir(os.path.join(folder, kind))
        for name in sorted(os.listdir(os.path.join(data, kind))):
            if os.path.isfile(os.path.join(data, kind, name)) and not name.startswith("bad"):
                shutil.copy(os.path.join(data, kind, name), os.path.join(folder, kind))
                yield f"{kind}/{name}", ["verify", "--from", kind, f"{kind}/{name}"]
        if module not in LARGE:
            continue
        name, make = LARGE[module]
        with open(os.path.join(folder, kind, name), "wb") as f:
            f.write(make(importlib.import_module(module)))
        yield f"{kind}/{name}", ["verify", f"{kind}/{name}"]
        yield f"{kind}/{name} baked", ["verify", "--bake", f"{kind}/{name}"]


# ---------------------------------------------------------------- counting

def count(keyferry, words, log):
    """Instructions of our functions, and of ufbx's, in the program itself."""
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"} # no plugins, and nothing else that could make a difference
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={log}", "--compress-strings=no",
                           "--compress-pos=no", keyferry, *words], cwd=os.path.dirname(log), env=environment,
                          capture_output=True, text=True)
    if done.returncode > 1: # 1: the sample is one that FBX cannot hold
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    ours = ufbx = 0
    inside = is_ufbx = called = False
    with open(log, errors="replace") as f:
        for line in f:
            if line.startswith("ob="):
                inside = os.path.basename(line.strip()) == os.path.basename(keyferry)
            elif line.startswith("fn="):
                is_ufbx = line.startswith("fn=ufbx")
            elif line.startswith("calls="):
                called = True # the line behind it is what the call cost all in all
            elif line[:1].isdigit() or line.startswith("0x"):
                if inside and not called:
                    cost = int(line.split()[-1])
                    ufbx += cost if is_ufbx else 0
                    ours += 0 if is_ufbx else cost
                called = False
    os.remove(log)
    if ours == 0:
        sys.exit("callgrind's file has no function of keyferry")
    return ours, ufbx


def compiler(keyferry):
    """As the program itself says."""
    said = subprocess.run(["readelf", "-p", ".comment", keyferry], capture_output=True, text=True, check=True).stdout
    return " + ".join(sorted(re.findall(r"\]\s+(.*\S)", said))) + ", " + os.uname().machine


def measure(keyferry, folder, pattern):
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "full", "programs", "scene.py"), "write",
                    os.path.join(folder, "scene.fbx")], check=True)
    todo = [("reference", ["info", "scene.fbx"]), *(c for c in (*commands(folder), *edits(keyferry, folder)) if re.search(pattern, c[0]))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda i: count(keyferry, todo[i][1], os.path.join(folder, f"log{i}")), range(len(todo))))
    counts = {name: ours for (name, _), (ours, _) in zip(todo, found)}
    del counts["reference"]
    return {"compiler": compiler(keyferry), "ufbx": found[0][1], "counts": counts}


# ---------------------------------------------------------------- comparing

def compare(stored, now):
    same = stored["compiler"] == now["compiler"]
    limit = SAME if same else OTHERS
    scale = 1 if same else now["ufbx"] / stored["ufbx"]
    bad = 0
    for name in sorted({*stored["counts"], *now["counts"]}):
        before, after = stored["counts"].get(name), now["counts"].get(name)
        if before is None or after is None:
            print(f"{name}: {'no longer there' if after is None else 'without a stored count'}")
            bad += 1
            continue
        change = after / (before * scale) - 1
        if abs(change) > limit:
            bad += 1
            print(f"{name}: {after} instructions, not {before * scale:.0f} ({change * 100:+.1f} %)")
    if same:
        print(f"{len(now['counts'])} counts, each to be within {limit * 100:g} %: {bad} are not")
    else:
        print(f"other compiler ({now['compiler']}, not {stored['compiler']}): counts not compared closely; "
              f"scaled by {scale:.3f}, {bad} of {len(now['counts'])} are off by more than {limit * 100:g} %")
    if bad:
        print("If that is as it should be, scripts/bench --cost stores the new counts")
    return bad == 0


def main():
    what, keyferry, file, folder = sys.argv[1:5]
    pattern = sys.argv[5] if len(sys.argv) > 5 and what == "compare" else ""
    now = measure(keyferry, folder, pattern)
    if what == "renew":
        with open(file, "w") as f:
            json.dump(now, f, indent=1)
            f.write("\n")
        print(f"{len(now['counts'])} counts stored in {os.path.relpath(file, ROOT)}")
        return
    with open(file) as f:
        stored = json.load(f)
    stored["counts"] = {name: n for name, n in stored["counts"].items() if re.search(pattern, name)}
    sys.exit(0 if compare(stored, now) else 1)


main()
