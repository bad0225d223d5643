"""X4 files of 16 keys on frames, a bump added to some frames of their bake, and what becomes of the keys.

best: the fewest keys that a search of its own (fewest_bezier.c) finds, which is no proof that fewer will not do; fewest: a
bound that is proved, for cubics of any kind (fewest.py), which curves by handles of any length may pass below."""
import math
import os
import random
import struct
import subprocess
import tempfile

import fewest
import fitcases

PROP = "Lcl Translation"
KINDS = ("TCB", "ease", "Bezier", "mixed")
NAMES = {"TCB": "TCB", "ease": "TCB with ease", "Bezier": "Bezier", "mixed": "all kinds"}
SEEDS = 6
FINE = 16  # looks a frame


def keys_of(rng, kind):
    """16 keys on frames. Mixed: all kinds, with handles and numbers, whether they count or not. Steep: Beziers of a few frames and long
    handles, which get most of their way done between two frames."""
    steep = kind == "steep"
    at = fitcases.frames(rng, 16, *((5, 9) if steep else (8, 20)))
    keys = []
    for i, frame in enumerate(at):
        own = rng.choice(("TCB", "ease", "Bezier", "lines", "steps")) if kind == "mixed" else kind
        before = (frame - at[i - 1]) / 30 if i else 0.3
        after = (at[i + 1] - frame) / 30 if i + 1 < len(at) else 0.3
        reach, slope = rng.uniform(*((0.6, 0.95) if steep else (0.2, 0.45))), rng.uniform(-4, 4)
        handles = (after * reach, after * reach * slope, -before * reach, -before * reach * slope)
        numbers = tuple(rng.uniform(-0.5, 0.5) for _ in range(3))
        ease = (rng.choice((0, 0.3, 0.4)), rng.choice((0, 0.3, 0.5))) if own == "ease" or kind == "mixed" else (0, 0)
        number = {"TCB": 7, "ease": 7, "Bezier": 5, "steep": 5, "linear time": 6, "lines": 2, "steps": 1}[own]
        keys.append((frame / 30, rng.uniform(-2, 2), number, handles, (*numbers, *ease)))
    return keys


def time_of(record):
    return struct.unpack_from("<f", record, 24)[0]


# How far a bump is up, from 0 to 1: one that begins and ends gently, and others that do with a corner.
SHAPES = {"wave": lambda u: (1 - math.cos(2 * math.pi * u)) / 2, "parabola": lambda u: 1 - (2 * u - 1) ** 2,
          "roof": lambda u: 1 - abs(2 * u - 1), "box": lambda u: 1}


class Case:
    """A file, its bake, and a bump of so many frames; some seeds have the first or the last key in it."""

    def __init__(self, bench, kind, axes, seed, shape="wave", frames=(6, 40)):
        self.shape = SHAPES[shape]
        rng = random.Random(seed if isinstance(seed, str) else f"{kind} {axes} {seed}")
        self.axes = axes
        self.original = fitcases.file_of(keys_of(rng, kind))
        self.scene = bench.bake(self.original, 30)
        self.was = self.values()
        self.count = len(self.was[0])
        self.width = rng.randint(*frames)
        self.start, self.height = rng.randint(2, self.count - self.width - 3), rng.choice((0.01, 0.1, 0.5, 2))
        self.start = {4: -self.width // 2, 5: self.count - 1 - self.width // 2}.get(seed, self.start)
        for n, axis in enumerate("xyz"):
            curve = self.scene.curve("go", "part", PROP, axis)
            for i in range(self.count):
                if self.bump(n, i):
                    curve.keys[i].value += self.bump(n, i)
            curve.store()
        self.wanted = self.values()
        self.tolerances = [1e-4 * max(1, max(numbers) - min(numbers)) for numbers in self.wanted]

    def values(self):
        return fitcases.values_of(self.scene, PROP)

    def bump(self, n, frame):
        i = frame - self.start
        if "xyz"[n] not in self.axes or not 0 < i < self.width:
            return 0
        return self.height * self.shape(i / self.width) / (1 << n)


def jumps(steps, tolerance):
    """Nobody knows what happens in the frame of a jump."""
    return max(steps) > max(0.5 * sum(steps), 4 * tolerance)


def worst_between(drawn, then, tolerance):
    worst = 0
    for f in range(0, len(drawn) - FINE, FINE):
        if not jumps([abs(a - b) for a, b in zip(drawn[f:f + FINE], drawn[f + 1:f + FINE + 1])], tolerance):
            worst = max(worst, max(abs(a - b) for a, b in zip(drawn[f:f + FINE], then[f:f + FINE])))
    return worst / tolerance


def overshoot(drawn, then, tolerance):
    """How far the fit leaves, between two frames, all that the drawn curve passes through between these two."""
    worst = 0
    for f in range(0, len(drawn) - FINE, FINE):
        here, now = drawn[f:f + FINE + 1], then[f:f + FINE + 1]
        worst = max(worst, min(here) - min(now), max(now) - max(here))
    return worst / tolerance


def edited_part(case, fine):
    """The drawn curves, on the frames and at three places between each two of them, between the keys before and after what was
    edited; and how many keys lie elsewhere. `fine`: what was drawn, FINE looks a frame."""
    edited = [i for i in range(case.count) if any(a[i] != b[i] for a, b in zip(case.wanted, case.was))]
    at = [round(time_of(r) * 30) for r in fitcases.records(case.original)]
    low = max((f for f in at if f < edited[0]), default=0)
    high = min((f for f in at if f > edited[-1]), default=case.count - 1)
    return [numbers[FINE * low:FINE * high + 1:FINE // 4] for numbers in fine], sum(not low <= f <= high for f in at)


def best(program, case, fine):
    """Keys, if segments that were not edited stay as they are, and those between them are told anew by handles of any length."""
    parts, others = edited_part(case, fine)
    lines = ["%d %d" % (len(parts), len(parts[0]) // 4)]
    lines += [" ".join(map(repr, [tolerance] + part)) for part, tolerance in zip(parts, case.tolerances)]
    done = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    return others + int(done.stdout) + 1


def fewest_drawn(case, fine):
    """The same for cubics, which have no lengths: no fewer will do. On the frames alone they may, and be off between them."""
    parts, others = edited_part(case, fine)
    return others + fewest.keys(parts, case.tolerances)


def edit(keyferry, kind, axes, seed, program=None, **bump):
    """off: how far the frames are from what was drawn; between: the same between them; overshoot: how far beyond it, between two
    frames; drift: how far what was not edited is from what it was, all in tolerances; beyond: keys that changed though they are
    not beside the edit, far: though not beside those."""
    with tempfile.TemporaryDirectory() as folder:
        bench = fitcases.Bench(keyferry, folder)
        case = Case(bench, kind, axes, seed, **bump)
        now = bench.back(case.scene)
        said = bench.said
        shown = bench.values(now, 30, PROP)
        was, then = bench.values(case.original, 30 * FINE, PROP), bench.values(now, 30 * FINE, PROP)
    low, high = case.start / 30, (case.start + case.width) / 30
    drawn = [[v + case.bump(n, i / FINE) for i, v in enumerate(numbers)] for n, numbers in enumerate(was)]
    off = drift = between = over = 0
    for n, tolerance in enumerate(case.tolerances):
        off = max(off, max(abs(a - b) for a, b in zip(shown[n], case.wanted[n])) / tolerance)
        between = max(between, worst_between(drawn[n], then[n], tolerance))
        over = max(over, overshoot(drawn[n], then[n], tolerance))
        drift = max([drift] + [abs(a - b) / tolerance for i, (a, b) in enumerate(zip(was[n], then[n]))
                               if not low - 1e-6 <= i / FINE / 30 <= high + 1e-6])
    records, kept = fitcases.records(case.original), set(fitcases.records(now))
    first = sum(time_of(r) < low for r in records) - 1  # the last key before the region
    last = sum(time_of(r) <= high for r in records)     # and the first after it
    beyond = [i for i, r in enumerate(records) if r not in kept and not first <= i <= last]
    return dict(case=(kind, axes, seed), before=len(records), baked=case.count, after=len(fitcases.records(now)), frames=case.width,
                off=off, between=between, overshoot=over, drift=drift, said=said, beyond=beyond,
                far=[i for i in beyond if not first - 1 <= i <= last + 1],
                fewest=fewest.keys(case.wanted, case.tolerances) if kind == "TCB" else None,
                cubics=fewest_drawn(case, drawn) if kind == "linear time" else 0,
                best=best(program, case, drawn) if program else None)


def measure(keyferry, program):
    return {(kind, axes): [edit(keyferry, kind, axes, seed, program) for seed in range(SEEDS)]
            for kind in KINDS for axes in ("xyz", "x")}


def table(results):
    """As Markdown: six files a line."""
    lines = ["| motion | keys | baked at 30 fps | fitted, edited | best known | off at the frames | off between them | overshoot |",
             "|---|---|---|---|---|---|---|---|"]
    for (kind, axes), all_of in results.items():
        cells = [" ".join(str(r[what]) for r in all_of) for what in ("before", "baked", "after", "best")]
        middle_and_worst = ["%.1f, %.1f" % (sorted(r[what] for r in all_of)[len(all_of) // 2], max(r[what] for r in all_of))
                            for what in ("between", "overshoot")]
        lines.append("| %s, %s bent | %s | %.2f | %s |" % (NAMES[kind], " ".join(axes), " | ".join(cells), max(r["off"] for r in all_of),
                                                         " | ".join(middle_and_worst)))
    return "\n".join(lines)


def build(folder, source):
    """The searching program, made where there is no build of the tests."""
    program = os.path.join(folder, "fewest_bezier")
    subprocess.run(["cc", "-O2", "-o", program, os.path.join(source, "tests", "lib", "fewest_bezier.c"), "-lm"], check=True)
    return program
