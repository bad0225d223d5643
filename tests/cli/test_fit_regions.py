"""An edited region of a bake: x, y and z share their keys, TCB numbers and ease, and what lies beyond the region stays as it was,
with the ease of its segments."""
import math
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fewest  # noqa: E402
import fitcases  # noqa: E402
import nytrocases  # noqa: E402

PROP = "Lcl Translation"


def keys_of(rng, kind):
    """16 keys on frames. Mixed: all kinds, with handles and numbers, whether they count or not."""
    at = fitcases.frames(rng, 16, 8, 20)
    keys = []
    for i, frame in enumerate(at):
        own = rng.choice(("TCB", "ease", "Bezier", "lines", "steps")) if kind == "mixed" else kind
        before = (frame - at[i - 1]) / 30 if i else 0.3
        after = (at[i + 1] - frame) / 30 if i + 1 < len(at) else 0.3
        reach, slope = rng.uniform(0.2, 0.45), rng.uniform(-4, 4)
        handles = (after * reach, after * reach * slope, -before * reach, -before * reach * slope)
        numbers = tuple(rng.uniform(-0.5, 0.5) for _ in range(3))
        ease = (rng.choice((0, 0.3, 0.4)), rng.choice((0, 0.3, 0.5))) if own == "ease" or kind == "mixed" else (0, 0)
        number = {"TCB": 7, "ease": 7, "Bezier": 5, "linear time": 6, "lines": 2, "steps": 1}[own]
        keys.append((frame / 30, rng.uniform(-2, 2), number, handles, (*numbers, *ease)))
    return keys


def time_of(record):
    return struct.unpack_from("<f", record, 24)[0]


class Regions(unittest.TestCase):
    def edit(self, kind, axes, seed):
        """Adds a bump to some frames; what became of the keys."""
        rng = random.Random(f"{kind} {axes} {seed}")
        original = fitcases.file_of(keys_of(rng, kind))
        with tempfile.TemporaryDirectory() as folder:
            bench = fitcases.Bench(os.environ["KEYFERRY"], folder)
            scene = bench.bake(original, 30)
            count = len(scene.curve("go", "part", PROP, "x").keys)
            width = rng.randint(6, 40)
            start, height = rng.randint(2, count - width - 3), rng.choice((0.01, 0.1, 0.5, 2))
            start = {4: -width // 2, 5: count - 1 - width // 2}.get(seed, start)  # the first, the last key in it
            for axis in axes:
                curve = scene.curve("go", "part", PROP, axis)
                for i in range(max(1, -start), min(width, count - start)):
                    curve.keys[start + i].value += height * (1 - math.cos(2 * math.pi * i / width)) / (2 << "xyz".index(axis))
                curve.store()
            wanted = [[k.value for k in scene.curve("go", "part", PROP, axis).keys] for axis in "xyz"]
            now = bench.back(scene)
            shown = bench.values(now, 30, PROP)
            was, then = bench.values(original, 300, PROP), bench.values(now, 300, PROP)
        low, high = start / 30, (start + width) / 30
        off = drift = 0
        for axis in range(3):
            tolerance = 1e-4 * max(1, max(wanted[axis]) - min(wanted[axis]))
            off = max(off, max(abs(a - b) for a, b in zip(shown[axis], wanted[axis])) / tolerance)
            drift = max([drift] + [abs(a - b) / tolerance for i, (a, b) in enumerate(zip(was[axis], then[axis]))
                                   if not low - 1e-6 <= i / 300 <= high + 1e-6])
        records = fitcases.records(original)
        kept = set(fitcases.records(now))
        first = sum(time_of(r) < low for r in records) - 1  # the last key before the region
        last = sum(time_of(r) <= high for r in records)     # and the first after it
        beyond = [i for i, r in enumerate(records) if r not in kept and not first <= i <= last]
        tolerances = [1e-4 * max(1, max(numbers) - min(numbers)) for numbers in wanted]
        return dict(case=(kind, axes, seed), before=len(records), after=(len(now) - fitcases.HEAD) // 128, frames=width, off=off,
                    fewest=fewest.keys(wanted, tolerances) if kind == "TCB" else None, drift=drift, beyond=beyond,
                    far=[i for i in beyond if not first - 1 <= i <= last + 1])

    def check(self, kind, beyond=0, drift=2, more=4):
        """`beyond`: how many keys beyond the region's border may change in all of it; `drift`: how far the motion outside the
        region, between the frames of the segments at its border, may be off; `more`: keys besides one for three frames."""
        results = [self.edit(kind, axes, seed) for axes in ("xyz", "x") for seed in range(6)]
        for r in results:
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["drift"], drift, r)
            self.assertLessEqual(r["after"], r["before"] + more + r["frames"] / 3, r)
            self.assertFalse(r["far"], r)
            if r["fewest"]:  # what no cubics do with less; a Bezier may
                self.assertLessEqual(r["after"], 1.25 * r["fewest"], r)
        self.assertLessEqual(sum(len(r["beyond"]) for r in results), beyond, results)

    def test_tcb(self):
        """Where no numbers keep a slope at the border, the key before it leaves by a handle instead."""
        self.check("TCB", 5)

    def test_ease(self):
        """In a chain of eased segments nothing but those in the region is told by handles."""
        self.check("ease", 2, 5, 6)

    def test_bezier(self):
        self.check("Bezier")

    def test_bezier_with_linear_time(self):
        self.check("linear time")

    def test_lines(self):
        self.check("lines")

    def test_steps(self):
        self.check("steps")

    def test_mixed(self):
        self.check("mixed", 2, 5, 6)

    def test_moved_helper_key(self):
        """The same where a helper key of an eased segment was moved, which others before and after it are like."""
        lost = 0
        for seed in range(4):
            keys = keys_of(random.Random(f"helper {seed}"), "ease")
            original = fitcases.file_of(keys)
            with tempfile.TemporaryDirectory() as folder:
                bench = fitcases.Bench(os.environ["KEYFERRY"], folder)
                with open(bench.path("b.ani"), "wb") as f:
                    f.write(original)
                bench.run("convert", "b.ani", "b.fbx", "--ascii", "-y", "--no-sidecar", "--tcb", "slopes")
                with open(bench.path("b.fbx")) as f:
                    scene = fitcases.fbxtext.Scene(f.read())
                for axis, amount in zip("xyz", (0.2, 0.1, 0.05)):
                    curve = scene.curve("go", "part", PROP, axis)
                    helpers = [k for k in curve.keys if min(abs(k.time / 46186158000 - own[0]) for own in keys) > 1e-4]
                    helpers[len(helpers) // 2].value += amount
                    curve.store()
                now = fitcases.records(bench.back(scene))
            self.assertLessEqual(len(now), 16 + 14)
            kept = set(now)
            lost += sum(r not in kept for r in fitcases.records(original))
        self.assertLessEqual(lost, 4 * 4)


class Nytro(unittest.TestCase):
    """Half a second of eight keys edited. The tangents of a TCB key lie in the plane of the ways to its neighbours: along a line
    and in a plane few keys say a bump, and what lies beyond its border stays. In three directions a key that is put in bends
    the segments beside it, and those beside these, up to a key at which the motion rests."""

    MOST = {"line": 14, "plane": 20, "plane, corners": 45, "space": 55, "space, corners": 64, "space, rests": 26,
            "space, x edited": 55}

    @classmethod
    def setUpClass(cls):
        cls.results = nytrocases.measure(os.environ["KEYFERRY"])

    def test_within_tolerance(self):
        for results in self.results.values():
            for r in results:
                self.assertLessEqual(r["off"], 1.001, r)
                self.assertLessEqual(r["drift"], 1.1, r)

    def test_keys(self):
        for (kind, _), results in self.results.items():
            for r in results:
                self.assertLessEqual(r["after"], self.MOST[kind], r)
                if kind == "space, rests":
                    self.assertFalse(r["beyond"], r)

    def test_fewest(self):
        """A bump that is no TCB curve needs keys: no cubics of any kind do with 1.2 times those there were. Along a line and in
        a plane there are not many more."""
        for kind in ("line", "plane"):
            results = self.results[kind, False]
            self.assertGreater(sum(r["fewest"] for r in results), 1.2 * sum(r["before"] for r in results))
            self.assertLessEqual(sum(r["after"] for r in results), 1.5 * sum(r["fewest"] for r in results), results)

    def test_readme(self):
        """What the README says are these numbers; another machine's rounding may find a key more or less."""
        def rows(text):
            return {line.split("|")[1]: [[int(n) for n in cell.split()] for cell in line.split("|")[2:6]]
                    for line in text.splitlines() if line.startswith(("| moves,", "| turns,"))}
        with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "README.md")) as f:
            told = rows(f.read())
        found = rows(nytrocases.table(self.results))
        self.assertEqual(told.keys(), found.keys())
        for motion, (before, baked, after, least) in found.items():
            self.assertEqual((told[motion][0], told[motion][1], told[motion][3]), (before, baked, least), motion)
            for a, b in zip(told[motion][2], after):
                self.assertAlmostEqual(a, b, delta=3, msg=motion)


if __name__ == "__main__":
    unittest.main()
