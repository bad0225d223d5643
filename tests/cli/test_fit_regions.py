"""An edited region of a bake: x, y and z share their keys, TCB numbers and ease, and what lies beyond the region stays as it was,
with the ease of its segments."""
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fitcases  # noqa: E402
import nytrocases  # noqa: E402
import regioncases  # noqa: E402

PROP = regioncases.PROP
BEST = os.path.join(os.environ["KEYFERRY_BUILD"], "tests", "fewest_bezier")


class Regions(unittest.TestCase):
    """Measured once: the table of the format's README is of these."""

    @classmethod
    def setUpClass(cls):
        cls.results = regioncases.measure(os.environ["KEYFERRY"], BEST)

    def results_of(self, kind):
        if kind in regioncases.KINDS:
            return [r for axes in ("xyz", "x") for r in self.results[kind, axes]]
        return [regioncases.edit(os.environ["KEYFERRY"], kind, axes, seed) for axes in ("xyz", "x") for seed in range(regioncases.SEEDS)]

    def check(self, kind, beyond=0, drift=1.1):
        """`beyond`: how many keys beyond the region's border may change in all of it; `drift`: how far the motion outside the
        region, between the frames, too, may be off."""
        results = self.results_of(kind)
        for r in results:
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["overshoot"], 1.05, r)
            self.assertLessEqual(r["drift"], drift, r)
            self.check_told(r)
            self.assertFalse(r["far"], r)
            if r["best"]:
                self.assertLessEqual(r["after"], 1.2 * r["best"], r)
            elif not r["cubics"]:
                self.assertLessEqual(r["after"], r["before"] + 4 + r["frames"] / 3, r)
            for bound in ("fewest", "cubics"):  # what no cubics do with less; a Bezier may
                if r[bound]:
                    self.assertLessEqual(r["after"], 1.15 * r[bound], r)
        if results[0]["best"]:
            self.assertLessEqual(sum(r["after"] for r in results), 1.03 * sum(r["best"] for r in results), results)
        self.assertLessEqual(sum(len(r["beyond"]) for r in results), beyond, results)

    def check_told(self, r):
        """Where nobody edited it, the game plays what it played, or a warning says that it does not."""
        if r["drift"] > 1.03:
            self.assertIn("between frames that were not edited the file will play this otherwise than before", r["said"])

    def test_drift_is_told(self):
        for seed, shape in ((30024, "parabola"), (30040, "wave")):
            r = regioncases.edit(os.environ["KEYFERRY"], "ease", "xyz", seed, shape=shape)
            self.assertLessEqual(r["drift"], 1.8)
            self.check_told(r)

    def test_tcb(self):
        """A key at the border whose neighbour is another one now gets the numbers that keep its slope on the other side. A tangent
        is X near + Y far, with X and Y from numbers within -1 to 1, so never below 0: where the slope goes neither toward its
        old neighbour nor toward any place that the new one may have, or where only one of the components has the new one
        elsewhere, no numbers say it. Then the key before it leaves by a handle, and its record changes."""
        self.check("TCB", 4)

    def test_ease(self):
        """In a chain of eased segments nothing but those in the region is told by handles. The eased one beside it, where no
        numbers hold, takes pieces, and between their looks they may be off a little more."""
        self.check("ease", 1, 1.6)

    def test_bezier(self):
        self.check("Bezier")

    def test_bezier_with_linear_time(self):
        self.check("linear time")

    def test_lines(self):
        self.check("lines")

    def test_steps(self):
        self.check("steps")

    def test_mixed(self):
        self.check("mixed", 2)

    def test_overshoot(self):
        """Short and high bumps: where they begin and end, at their tops, on half a wave that happens to lie on a cubic, and over
        a step. Between two frames the curve stays within what was drawn between these."""
        for kind, axes, seed in (("TCB", "xyz", 66), ("TCB", "x", 22), ("ease", "x", 41), ("ease", "x", 81), ("Bezier", "xyz", 51),
                                 ("Bezier", "x", 58), ("mixed", "xyz", 8), ("mixed", "x", 39), ("lines", "x", 28),
                                 ("steps", "xyz", 78), ("steps", "x", 74), ("linear time", "x", 60), ("steep", "xyz", 302), ("steep", "x", 329),
                                 ("steep", "xyz", 335), ("steep", "x", 304), ("steep", "xyz", 50019), ("steep", "xyz", 50018),
                                 ("steep", "x", 50017)):
            r = regioncases.edit(os.environ["KEYFERRY"], kind, axes, seed)
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["overshoot"], 1.05, r)

    def test_few_frames(self):
        """Of a wave of five frames the six values are the same from both ends, and so happen to lie on a curve of fewer bends."""
        for kind, axes, seed in (("ease", "xyz", 91098), ("ease", "xyz", 91106), ("mixed", "xyz", 91241), ("mixed", "x", 91281)):
            r = regioncases.edit(os.environ["KEYFERRY"], kind, axes, seed, frames=(2, 5))
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["overshoot"], 1.05, r)

    def test_corners(self):
        """Bumps that begin and end with a corner: as far as the samples tell, the same holds."""
        for shape, kind, axes, seed in (("parabola", "ease", "xyz", 205), ("parabola", "mixed", "xyz", 203), ("roof", "mixed", "xyz", 203),
                                        ("box", "mixed", "xyz", 204), ("box", "Bezier", "x", 202), ("roof", "mixed", "xyz", 50008),
                                        ("roof", "TCB", "xyz", 50002)):
            r = regioncases.edit(os.environ["KEYFERRY"], kind, axes, seed, shape=shape)
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["overshoot"], 1.05, r)

    def test_room_at_the_border(self):
        """A segment whose handles pass each other in time is not split where a part of it would have no room for its own."""
        r = regioncases.edit(os.environ["KEYFERRY"], "ease", "xyz", "hunt x4 ease xyz wave False 12374 narrow", frames=(2, 5))
        self.assertLessEqual(r["off"], 1.001, r)

    def test_halves_beside_frames(self):
        """A key that halves a segment is not put where another bake would take it for the frame beside it."""
        r = regioncases.edit(os.environ["KEYFERRY"], "steep", "x", 50014, shape="roof")
        self.assertLessEqual(r["off"], 1.001, r)

    def test_short_handles(self):
        """They make a curve turn sharply beside a key; not where nothing was edited."""
        for kind, axes, seed in (("ease", "x", 102), ("mixed", "xyz", 114)):
            self.assertLessEqual(regioncases.edit(os.environ["KEYFERRY"], kind, axes, seed)["drift"], 1.1)

    def test_steep_is_no_jump(self):
        """What gets from one frame to the next nearly all of its way, smoothly, beside an edit, does not come back as a step."""
        at, values = (0, 20, 26, 46, 66), (0, 0, 30, 28, 0)
        gaps = [(b - a) / 30 for a, b in zip(at, at[1:])]
        keys = [(frame / 30, value, 5, (0.95 * after, 0, -0.95 * before, 0), (0, 0, 0, 0, 0))
                for frame, value, before, after in zip(at, values, [0.3] + gaps, gaps + [0.3])]
        with tempfile.TemporaryDirectory() as folder:
            bench = fitcases.Bench(os.environ["KEYFERRY"], folder)
            original = fitcases.file_of(keys)
            scene = bench.bake(original, 30)
            curve = scene.curve("go", "part", PROP, "x")
            for i in range(1, 12):
                curve.keys[25 + i].value += 3 * regioncases.SHAPES["parabola"](i / 12)
            curve.store()
            now = bench.back(scene)
            was, then = (bench.values(data, 30 * regioncases.FINE, PROP)[0] for data in (original, now))
        beside = range(regioncases.FINE * 25 + 1)
        self.assertLessEqual(max(abs(was[i] - then[i]) for i in beside), 6 * 0.003)  # steep: a hair in time is much
        self.assertNotIn(1, [struct.unpack_from("<i", record, 12)[0] for record in fitcases.records(now)])

    def test_parts_of_steep_segments(self):
        """Of a segment of which a part was edited, the rest runs as it did, between the frames, too."""
        for axes in ("xyz", "x"):
            for seed in range(10):
                r = regioncases.edit(os.environ["KEYFERRY"], "steep", axes, seed)
                self.assertLessEqual(r["off"], 1.001, r)
                self.assertLessEqual(r["drift"], 1.1, r)

    def test_best_is_no_bound(self):
        """The search that ours is compared with is a good one: it never needs many more than ours."""
        for results in self.results.values():
            self.assertLessEqual(sum(r["best"] for r in results), 1.05 * sum(r["after"] for r in results), results)

    def test_readme(self):
        """What the format's README says are these numbers; another machine's rounding may find a key more or less."""
        def rows(text):
            return {line.split("|")[1]: [[int(n) for n in cell.split()] for cell in line.split("|")[2:6]]
                    for line in text.splitlines() if " bent |" in line}
        with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "plugins", "x4-ani", "README.md")) as f:
            told = rows(f.read())
        found = rows(regioncases.table(self.results))
        self.assertEqual(told.keys(), found.keys())
        for motion, cells in found.items():
            self.assertEqual(told[motion][:2], cells[:2], motion)
            for a, b in zip(told[motion][2] + told[motion][3], cells[2] + cells[3]):
                self.assertAlmostEqual(a, b, delta=1, msg=motion)

    def test_moved_helper_key(self):
        """The same where a helper key of an eased segment was moved, which others before and after it are like."""
        lost = 0
        for seed in range(4):
            keys = regioncases.keys_of(random.Random(f"helper {seed}"), "ease")
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


class Turns(unittest.TestCase):
    """Several angles edited at once, and up to gimbal lock: what they are off adds up, and the orientation is within the tolerance."""

    def check(self, name, seed, kind, bumps):
        """`bumps`: the angles to be edited, and how far; None: at random."""
        prop = "Lcl Rotation"
        rng = random.Random(f"{name} {seed}")
        keys = [(time, 0.7 * value, number, (a, 0.7 * b, c, 0.7 * d), numbers)
                for time, value, number, (a, b, c, d), numbers in regioncases.keys_of(rng, kind)]
        with tempfile.TemporaryDirectory() as folder:
            bench = fitcases.Bench(os.environ["KEYFERRY"], folder)
            scene = bench.bake(fitcases.file_of(keys, True), 30)
            width, start = 20, rng.randint(2, 60)
            for axis, height in bumps.items():
                curve, height = scene.curve("go", "part", prop, axis), height or rng.uniform(2, 20)
                for i in range(1, width):
                    curve.keys[start + i].value += height * regioncases.SHAPES["wave"](i / width)
                curve.store()
            wanted, now = fitcases.values_of(scene, prop), bench.back(scene)
            shown = bench.values(now, 30, prop)
        for frame, (a, b) in enumerate(zip(zip(*wanted), zip(*shown))):
            self.assertLessEqual(nytrocases.apart(True, a, b, [0.01]), 1.001, (name, seed, frame))
        self.assertLess(len(fitcases.records(now)), 16 + width, seed)

    def test_orientations(self):
        for seed in range(8):
            axes = ("xyz", "xz", "xy", "xyz")[seed % 4]
            self.check("turns", seed, regioncases.KINDS[seed % 4], {axis: 80 if axis == "y" else None for axis in axes})

    def test_one_angle_of_eased_keys(self):
        """The other two are told in pieces beside it, which are off, too."""
        for seed in (0, 1, 3, 4, 10, 11, 13, 20, 21, 22):
            self.check("one angle", seed, "ease", {"xyz"[seed % 3]: None})


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

    def test_jumps(self):
        """Beside a jump keys a frame apart, or between the frames, do not swing out."""
        for kind, seed in (("line", 11), ("plane", 8), ("space", 1), ("space, rests", 2), ("space, rests", 3),
                           ("plane, corners", 523), ("space, corners", 525), ("space, corners", 512), ("space, x edited", 508)):
            self.assertLessEqual(nytrocases.overshoot(os.environ["KEYFERRY"], kind, seed), 1.05, (kind, seed))

    def test_overshoot(self):
        """Between two frames that have a key each the curve stays within what was drawn between these, too."""
        for kind, seed, shape, width in (("line", 97001, "wave", 15), ("line", 97001, "parabola", 9), ("plane", 97004, "roof", 4),
                                         ("plane, corners", 97003, "wave", 4), ("plane, corners", 97001, "parabola", 15),
                                         ("space", 97002, "wave", 9), ("space, corners", 97001, "roof", 4),
                                         ("space, rests", 97003, "roof", 9)):
            r = nytrocases.edit(os.environ["KEYFERRY"], kind, False, seed, shape=shape, width=width)
            self.assertLessEqual(r["off"], 1.001, r)
            self.assertLessEqual(r["overshoot"], 1.05, r)

    def test_fewest(self):
        """A bump that is no TCB curve needs keys: no cubics of any kind do with 1.2 times those there were. Along a line and in
        a plane there are not many more."""
        for kind in ("line", "plane"):
            results = self.results[kind, False]
            self.assertGreater(sum(r["fewest"] for r in results), 1.2 * sum(r["before"] for r in results))
            self.assertLessEqual(sum(r["after"] for r in results), 1.5 * sum(r["fewest"] for r in results), results)

    def test_readme(self):
        """What the format's README says are these numbers; another machine's rounding may find a key more or less."""
        def rows(text):
            return {line.split("|")[1]: [[int(n) for n in cell.split()] for cell in line.split("|")[2:6]]
                    for line in text.splitlines() if line.startswith(("| moves,", "| turns,"))}
        with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "plugins", "nytro-anim", "README.md")) as f:
            told = rows(f.read())
        found = rows(nytrocases.table(self.results))
        self.assertEqual(told.keys(), found.keys())
        for motion, (before, baked, after, least) in found.items():
            self.assertEqual((told[motion][0], told[motion][1], told[motion][3]), (before, baked, least), motion)
            for a, b in zip(told[motion][2], after):
                self.assertAlmostEqual(a, b, delta=3, msg=motion)


if __name__ == "__main__":
    unittest.main()
