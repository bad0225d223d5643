"""Curves for the fit: sparse X4 files whose keys lie on frames, and motions that are nothing but samples. measure() bakes each at
30 frames a second, plays the artist, brings it back and counts.

Sparse files are edited by moving one key, its value and by two frames, before the bake, so the artist's curve is known between the samples, too."""
import math
import os
import random
import struct
import subprocess
import tempfile

import fbxtext

STEP, LINEAR, BEZIER, TCB = 1, 2, 5, 7
HEAD = 16 + 160


def key(time, value, interp, handles=None, tcb=(0, 0, 0, 0, 0)):
    """A 128-byte key: y and z are the same curve, smaller. handles: (out dt, out dv, in dt, in dv)."""
    points = []
    for scale in (1.0, 0.5, 0.25):
        a, b, c, d = handles or (0, 0, 0, 0)
        points += (time + a, (value + b) * scale, time + c, (value + d) * scale)
    return struct.pack("<3f3if12f5fi6fI", value, value * 0.5, value * 0.25, interp, interp, interp, time, *points, *tcb, 0,
                       *[0.0] * 6, 0)


def file_of(keys, rotation=False):
    counts = (0, len(keys)) if rotation else (len(keys), 0)
    return struct.pack("<4i", 1, HEAD, 1, 0) + \
        struct.pack("<64s64s5if2i", b"part", b"go", *counts, 0, 0, 0, keys[-1][0], 0, 0) + b"".join(key(*k) for k in keys)


def smooth(points, reach=1 / 3):
    """Bezier keys through (frame, value, slope): handles a part of their segment long."""
    keys = []
    for i, (frame, value, slope) in enumerate(points):
        before = (frame - points[i - 1][0]) / 30 * reach if i else 0.1
        after = (points[i + 1][0] - frame) / 30 * reach if i + 1 < len(points) else 0.1
        keys.append((frame / 30, value, BEZIER, (after, after * slope, -before, -before * slope)))
    return keys


def frames(rng, count, least=6, most=18):
    at = [0]
    while len(at) < count:
        at.append(at[-1] + rng.randint(least, most))
    return at


def sparse():
    """(name, keys, rotation)"""
    rng = random.Random(6)
    yield "TCB, uneven", [(f / 30, rng.uniform(-2, 2), TCB, None, (*(rng.uniform(-0.5, 0.5) for _ in range(3)), 0, 0))
                          for f in frames(rng, 12)], False
    yield "TCB with ease", [(f / 30, rng.uniform(-2, 2), TCB, None, (0, 0, 0, rng.choice((0, 0.4)), rng.choice((0, 0.3))))
                            for f in frames(rng, 10, 12, 24)], False
    yield "Bezier, long handles", smooth([(f, rng.uniform(-2, 2), rng.uniform(-4, 4)) for f in frames(rng, 12)], 0.45), False
    yield "walk cycle (hip, TCB)", [(f * 4 / 30, math.sin(f * math.pi / 2) * 0.04 + 0.9 + f * 0.001, TCB, None, (0.1, 0, 0, 0, 0))
                                    for f in range(17)], False
    yield "door (Bezier)", smooth([(0, 0, 0), (6, 0.05, 0.6), (36, 1.8, 0.4), (42, 1.85, 0), (72, 1.85, 0), (99, 0.1, -0.5), (105, 0, 0)]), False
    turret = [0, 0, 0.8, 0.8, -0.5, -0.5, 0, 0.3, 0.3]
    yield "turret (TCB, radians)", [(15 * i / 30, v, TCB, None, (0, -1 if turret[i] == turret[i - 1] else 0, 0, 0, 0))
                                    for i, v in enumerate(turret)], True
    yield "lines", [(f / 30, rng.uniform(-2, 2), LINEAR) for f in frames(rng, 10)], False
    yield "steps", [(f / 30, rng.uniform(-2, 2), STEP) for f in frames(rng, 10)], False


def walk(t):
    return 0.9 + 0.05 * math.sin(4 * math.pi * t) + 0.02 * math.sin(8 * math.pi * t + 1) + 0.3 * math.sin(2 * math.pi * t)


def sampled():
    """(name, the value on each of 91 frames, the true curve or None, options)"""
    rng = random.Random(7)
    times = [i / 30 for i in range(91)]
    noisy = [walk(t) + rng.uniform(-0.01, 0.01) for t in times]
    yield "walk cycle, samples alone", [walk(t) for t in times], walk, ()
    yield "the same with noise of 0.01", noisy, None, ()
    yield "the noisy one, `--tolerance 0.02`", noisy, None, ("--tolerance", "0.02")

    def stairs(t):
        return math.floor(t * 4 + 1e-9) * 0.25

    def jumps(t):
        return math.sin(3 * t) + (2 if 1 <= t + 1e-9 < 2 else 0)
    yield "stairs, samples alone", [stairs(t) for t in times], None, ()
    yield "a curve with two jumps, samples alone", [jumps(t) for t in times], jumps, ()


class Bench:
    """A folder in which files of one format are baked and come back."""

    def __init__(self, keyferry, folder, suffix="ani"):
        self.keyferry, self.folder, self.said = keyferry, folder, ""
        self.game, self.home = "b." + suffix, "c." + suffix

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        done = subprocess.run([self.keyferry, *words], cwd=self.folder, check=True, capture_output=True, text=True)
        self.said = done.stderr

    def bake(self, data, rate):
        """The scene of a file, baked."""
        with open(self.path(self.game), "wb") as f:
            f.write(data)
        self.run("convert", self.game, "b.fbx", "--ascii", "-y", "--no-sidecar", "--bake=%d" % rate)
        with open(self.path("b.fbx")) as f:
            return fbxtext.Scene(f.read())

    def back(self, scene, *options):
        with open(self.path("b.fbx"), "w") as f:
            f.write(scene.text())
        self.run("convert", "b.fbx", self.home, "-y", *options)
        with open(self.path(self.home), "rb") as f:
            return f.read()

    def values(self, data, rate, prop):
        return values_of(self.bake(data, rate), prop)


def values_of(scene, prop):
    return [[k.value for k in scene.curve("go", "part", prop, axis).keys] for axis in "xyz"]


def apart(a, b):
    return max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))


def records(data):
    return [data[at:at + 128] for at in range(HEAD, len(data), 128)]


def measure(keyferry):
    """A dict for each motion: name, before, baked, untouched, edited, error (at the samples), between, tolerance, strangers
    (records that changed although nothing near them did)."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(keyferry, folder)
        for name, keys, rotation in sparse():
            prop = "Lcl Rotation" if rotation else "Lcl Translation"
            original = file_of(keys, rotation)
            scene = bench.bake(original, 30)
            baked = len(scene.curve("go", "part", prop, "x").keys)
            untouched = bench.back(scene)
            moved = len(keys) // 2
            edited = [(k[0] + 2 / 30, k[1] + 0.25, *k[2:]) if i == moved else k for i, k in enumerate(keys)]
            wanted = file_of(edited, rotation)
            shown = bench.values(wanted, 30, prop)
            scene = bench.bake(original, 30)
            for axis, numbers in zip("xyz", shown):
                curve = scene.curve("go", "part", prop, axis)
                for k, value in zip(curve.keys, numbers):
                    k.value = value
                curve.store()
            now = bench.back(scene)
            size = max(max(c) - min(c) for c in shown)
            # A key's value reaches two segments to either side, by the tangents of its neighbours.
            near = set(range(moved - 2, moved + 3))
            kept = set(records(now))
            results.append(dict(
                name=name, before=len(keys), baked=baked, untouched=(len(untouched) - HEAD) // 128, same=untouched == original,
                edited=(len(now) - HEAD) // 128, error=apart(bench.values(now, 30, prop), shown),
                between=apart(bench.values(now, 300, prop), bench.values(wanted, 300, prop)),
                tolerance=0.01 if rotation else 1e-4 * max(size, 1.0),
                strangers=[i for i, r in enumerate(records(original)) if i not in near and r not in kept]))
        for name, numbers, truth, options in sampled():
            original = file_of([(0.0, 0.0, BEZIER), (3.0, 0.0, STEP)])
            scene = bench.bake(original, 30)
            curve = scene.curve("go", "part", "Lcl Translation", "x")
            for k, value in zip(curve.keys, numbers):
                k.value = value
            curve.store()
            now = bench.back(scene, *options)
            fine = bench.values(now, 300, "Lcl Translation")[0]
            # Nobody knows what happens in the frame of a jump.
            known = [i for i in range(len(fine)) if abs(numbers[i // 10] - numbers[min(i // 10 + 1, 90)]) < 0.5]
            results.append(dict(
                name=name, before=None, baked=len(numbers), untouched=None, same=True, edited=(len(now) - HEAD) // 128,
                error=apart(bench.values(now, 30, "Lcl Translation")[:1], [numbers]),
                between=max(abs(fine[i] - truth(i / 300)) for i in known) if truth else None,
                tolerance=float(options[1]) if options else 1e-4 * max(max(numbers) - min(numbers), 1.0), strangers=[]))
    return results


def number(value):
    return "" if value is None else "0" if value < 1e-6 else "%.5f" % value


def table(results):
    """As Markdown."""
    lines = ["| motion | keys | baked at 30 fps | fitted, untouched | fitted, edited | off at the frames | off between them | tolerance |",
             "|---|---|---|---|---|---|---|---|"]
    for r in results:
        lines.append("| %s | %s | %d | %s | %d | %s | %s | %s |" % (
            r["name"], r["before"] or "", r["baked"], r["untouched"] or "", r["edited"], number(r["error"]), number(r["between"]),
            number(r["tolerance"])))
    return "\n".join(lines)
