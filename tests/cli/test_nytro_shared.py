"""Edits of Nytro nodes whose x, y and z share their keys: what was drawn on one of them comes home, and the others stay."""
import json
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import nytrocases  # noqa: E402
from editcase import EditCase, by_a_program  # noqa: E402

TCB, BEZIER, LINEAR = 1, 2, 4
MOVE, TURN = "Lcl Translation", "Lcl Rotation"
NONE = (0, 0, 0, 0, 0)


def build(kind, moves=(), turns=(), end=0.0):
    """A node "n" of keys (time, T C B ease in ease out, values); with `end` a second one, so that the take is longer."""
    nodes = [(b"n", kind, moves, turns)]
    if end:
        nodes.append((b"long", LINEAR, [(0.0, NONE, (0, 0, 0)), (end, NONE, (1, 1, 1))], ()))
    header = struct.pack("<I", 0) + b"go\0me\0" + struct.pack("<H", len(nodes))
    out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
    body = b""
    for name, flags, first, second in nodes:
        body += name + b"\0" + struct.pack("<4I", flags, len(first), len(second), 0)
        for time, tcb, values in (*first, *second):
            numbers = tcb if flags == TCB else ()
            body += struct.pack("<I%df" % (1 + len(numbers) + len(values)), 1, time, *numbers, *values)
    return out + struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body


def counts(data):
    """The first node's flags, and how many keys it has of each channel."""
    return struct.unpack_from("<4I", data, data.index(b"\0n\0" if b"\0n\0" in data else b"n\0") + len(b"\0n\0"))


class Shared(EditCase):
    ending = "nanim"

    def differences(self, a, b, code=0):
        return json.loads(self.keyferry("diff", a, b, "--json", code=code).out)["differences"]

    def follows(self):
        """What came back plays what the FBX shows, between its keys, too."""
        self.assertEqual([d for d in self.differences("x.fbx", "y.nanim") if d["worst"] > d["limit"]], [], self.said)


LINE = [(0, 0, 0), (3, 2.1, -0.9), (1, 0.7, -0.3), (4, 2.8, -1.2)]
SPACE = [(0, 1, 2), (3, 1, 1), (1, 4, 2), (2, 2, 5)]


class Twice(Shared):
    def test_two_nodes_of_one_name(self):
        """The one that was edited is the one that is looked at again."""
        one, other = (struct.pack("<4I", LINEAR, 2, 0, 0) + b"".join(struct.pack("<I4f", 1, t, v * t, v * t, v * t) for t in (0, 1))
                      for v in (10, 50))
        header = struct.pack("<I", 0) + b"go\0me\0" + struct.pack("<H", 2)
        out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
        body = b"arm\0" + one + b"arm\0" + other
        self.original = out + struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body

        def work(scene):
            where, curve = next((w, c) for w, c in scene.curves().items() if c.keys[-1].value == 10)
            curve.keys[-1].value = 12
            curve.store()
        self.edit(work, back=("--strict",))
        self.assertIn("1 of 2 tracks changed", self.said)


class Drawn(Shared):
    """Tangents drawn in a file of slopes."""

    def draw(self, axes, slope):
        def change(scene):
            for axis in axes:
                curve = scene.curve("go", "n", MOVE, axis)
                curve.keys[1].set_number(0, slope)
                curve.keys[0].set_number(1, slope)
                curve.store()
        return self.edit(change, "--tcb", "slopes")

    def test_on_some_components(self):
        for values in (LINE, SPACE):
            self.original = build(TCB, [(0.5 * i, NONE, v) for i, v in enumerate(values)])
            for axes in ("x", "y", "z", "xz", "xyz"):
                for slope in (-2.0, 0.3):
                    with self.subTest(values=values, axes=axes, slope=slope):
                        self.assertNotEqual(self.draw(axes, slope), self.original)
                        self.follows()
                        self.assertIn("1 of 1 tracks changed", self.said)

    def test_end_beside_it(self):
        """The first key's slope hangs on its neighbour's, and stays what it was: a line of three tells it by its tension."""
        self.original = build(TCB, [(0.5 * i, NONE, v) for i, v in enumerate(LINE)])
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("go", "n", MOVE, axis)
                for key, number in ((1, 0), (0, 1)):
                    curve.keys[key].set_number(number, 0.5 * curve.keys[key].number(number))
                curve.store()
        now = self.edit(change, "--tcb", "slopes")
        self.assertEqual(len(now), len(self.original))
        self.follows()

    def test_end_that_cannot(self):
        """No tension of the first key makes up for what its neighbour does now: it needs more keys."""
        self.original = build(TCB, [(0.5 * i, (-0.9, 0, 0, 0, 0), v) for i, v in enumerate(LINE[:3])])
        self.draw("xyz", 2.0)
        self.follows()

    def test_numbers_typed_on_one(self):
        """Numbers are one set: those typed on x go for y and z, and how far these are off is said."""
        self.original = build(TCB, [(0.5 * i, NONE, v) for i, v in enumerate(SPACE)])
        def change(scene):
            curve = scene.curve("go", "n", MOVE, "x")
            curve.keys[1].set_number(0, 0.5)
            curve.store()
        self.edit(change)
        self.assertRegex(self.said, r'node "n", take "go", translation at 0\.5000 s: .*those of x.*off by up to 0\.\d+ at 0\.\d+ s')


class Samples(Shared):
    """A bake in which some frames were edited."""

    def bake(self, change, prop=MOVE, axes="xyz", there=()):
        """`change(frame, axis)` is added to the samples, or is what they become if it is text."""
        def work(scene):
            for axis in axes:
                curve = scene.curve("go", "n", prop, axis)
                for key in curve.keys:
                    more = change(round(key.time * 30 / fbxtext.TICKS), axis)
                    key.value = float(more) if isinstance(more, str) else key.value + more
                curve.store()
        return self.edit(work, "--bake=30", *there)

    def off(self):
        """How far what comes back is from the samples at their times, in what is tolerated."""
        self.keyferry("convert", "y.nanim", "again.fbx", "--ascii", "-y", "--bake=30", "--no-sidecar")
        scenes = [fbxtext.Scene((self.dir / name).read_text()) for name in ("x.fbx", "again.fbx")]
        worst = 0.0
        for axis in "xyz":
            was, now = ([k.value for k in s.curve("go", "n", MOVE, axis).keys] for s in scenes)
            now += now[-1:] * (len(was) - len(now))
            limit = 1e-4 * max(1, max(was) - min(was))
            worst = max([worst] + [abs(a - b) / limit for a, b in zip(was, now)])
        return worst


class Baked(Samples):
    """Of keys with numbers."""

    def test_component_at_rest(self):
        """x no longer moves, nor does it behind the last key: the keys get its value, and that is all."""
        self.original = build(TCB, [(0.0, NONE, (0, 1, 2)), (0.5, NONE, (2, 2, 0)), (1.0, NONE, (1, 4, 1))], end=2.0)
        now = self.bake(lambda frame, axis: "0", axes="x")
        self.assertEqual(now, build(TCB, [(0.0, NONE, (0, 1, 2)), (0.5, NONE, (0, 2, 0)), (1.0, NONE, (0, 4, 1))], end=2.0))

    def test_behind_the_last_key(self):
        """A second later: the two keys play as they did, though the first is no longer one of two, nor the second the last."""
        self.original = build(TCB, [(0.0, (0.7, 0, 0.7, 0, 0), (-4.4, -1.9, 3.2)), (0.2, (-0.3, 0.4, 0, 0, 0), (-5.4, -0.9, 4.8))],
                              end=2.0)
        now = self.bake(lambda frame, axis: math.sin(math.pi * (frame - 30) / 10) ** 2 if 30 <= frame <= 40 else 0)
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertLessEqual(counts(now)[1], 2 + 12)
        self.assertNotIn("warning", self.said)

    def test_before_the_first_key(self):
        self.original = build(TCB, [(1.0, NONE, (1, 2, 3)), (1.5, NONE, (2, 0, 1)), (2.0, NONE, (0, 1, 4))], end=2.0)
        for bump in (lambda frame: max(0, 1 - abs(frame - 10) / 5), lambda frame: 1 if frame < 10 else 0):
            self.bake(lambda frame, axis: bump(frame))
            self.assertLessEqual(self.off(), 1.0, self.said)
            self.assertNotIn("warning", self.said)

    def test_no_way_found(self):
        """Where no shared numbers are found, keys are put in between: all of it is within what is tolerated still."""
        self.original = build(TCB, [(0.0, (0, 0, -0.182, 0, 0.417), (-3.194, 4.965, 2.295)),
                                    (4 / 30, (-0.232, 0.045, -0.764, 0, 0), (-1.565, 5.677, 0.361)),
                                    (12 / 30, (0.231, -0.593, 0.309, 0, 0.285), (-2.472, 6.818, -1.575))])
        self.bake(lambda frame, axis: 0.5 * math.sin(math.pi * (frame - 6) / 5) ** 2 if 6 <= frame <= 11 else 0, axes="z")
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertIn("keys were added", self.said)

    def test_segment_beside_an_end(self):
        """The second of three segments: the first and the last, whose end keys lean on what is edited, stay as they are."""
        numbers = (0.2, 0.3, -0.2, 0, 0)
        self.original = build(TCB, [(i / 2, numbers, v) for i, v in enumerate(SPACE)])
        self.bake(lambda frame, axis: 0.3 * math.sin(math.pi * (frame - 17) / 10) ** 2 if 17 <= frame <= 27 else 0)
        self.assertLessEqual(self.off(), 1.0, self.said)


class Lines(Samples):
    """Samples of nodes whose keys have no numbers."""

    @staticmethod
    def shake(frame, axis):
        return math.sin(1e3 * math.sin(7 * frame + ord(axis))) if 5 <= frame <= 25 else 0

    def test_noise(self):
        """As many lines as there are samples in what was edited, and no other kind of keys."""
        self.original = build(LINEAR, [(0.0, None, (0, 1, 2)), (0.5, None, (3, 1, 1)), (1.0, None, (1, 2, 5))])
        now = self.bake(self.shake)
        self.assertLessEqual(self.off(), 1.0, self.said)
        flags, keys, _, _ = counts(now)
        self.assertEqual(flags, LINEAR, self.said)
        self.assertLessEqual(keys, 25)
        self.assertNotIn("warning", self.said)

    def test_noise_on_derived_tangents(self):
        self.original = build(BEZIER, [(0.0, None, (0, 1, 2)), (0.5, None, (3, 1, 1)), (1.0, None, (1, 2, 5))])
        now = self.bake(self.shake)
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertLessEqual(counts(now)[1], 31, self.said)

    def test_noise_on_numbers(self):
        self.original = build(TCB, [(0.0, NONE, (0, 1, 2)), (0.5, NONE, (3, 1, 1)), (1.0, NONE, (1, 2, 5))])
        now = self.bake(self.shake)
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertLessEqual(counts(now)[1], 31, self.said)

    def test_noise_on_one_component(self):
        """A key a frame at the most, and between the frames, too, y and z play as they did."""
        for y in (lambda i: i / 2, math.sin):
            self.original = build(TCB, [(0.4 * i, NONE, (math.cos(5 * i), y(i), -y(i) / 3)) for i in range(6)])
            now = self.bake(lambda frame, axis: math.sin(1e3 * math.sin(7 * frame)), axes="x")
            self.assertLessEqual(self.off(), 1.0, self.said)
            self.assertLessEqual(counts(now)[1], 61, self.said)
            self.assertNotIn("warning", self.said)
            fine = []
            for name in ("x.nanim", "y.nanim"):
                self.keyferry("convert", name, "fine.fbx", "--ascii", "-y", "--bake=240", "--no-sidecar")
                fine.append(fbxtext.Scene((self.dir / "fine.fbx").read_text()))
            for axis in "yz":
                for was, is_now in zip(*(scene.curve("go", "n", MOVE, axis).keys for scene in fine)):
                    self.assertAlmostEqual(was.value, is_now.value, None, axis, 3e-4)

    def test_without_original(self):
        """Noise is lines, a smooth motion TCB keys, and both go through the samples."""
        self.original = build(LINEAR, [(0.0, None, (0, 1, 2)), (2.0, None, (1, 2, 5))])
        there = ("--no-capsule", "--no-sidecar")
        now = self.bake(lambda frame, axis: math.sin(1e3 * math.sin(7 * frame + ord(axis))), there=there)
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertEqual(counts(now)[:2], (LINEAR, 61))
        now = self.bake(lambda frame, axis: math.sin(frame / 10 + ord(axis)), there=there)
        self.assertLessEqual(self.off(), 1.0, self.said)
        self.assertEqual(counts(now)[0], TCB)
        self.assertLessEqual(counts(now)[1], 30)
        self.assertNotIn("warning", self.said)
        now = self.bake(lambda frame, axis: 0, there=there)
        self.assertEqual(counts(now)[:2], (LINEAR, 2))

    def test_smooth(self):
        """Where numbers tell it in less than half as many keys, they do, and the lines beside it are lines as before."""
        self.original = build(LINEAR, [(0.0, None, (0, 1, 2)), (1.0, None, (3, 1, 1)), (3.0, None, (1, 2, 5))])
        now = self.bake(lambda frame, axis: math.sin(math.pi * (frame - 40) / 40) ** 2 if 40 <= frame <= 80 else 0)
        self.assertLessEqual(self.off(), 1.0, self.said)
        flags, keys, _, _ = counts(now)
        self.assertEqual(flags, TCB, self.said)
        self.assertLess(keys, 20)

    def test_smooth_on_derived_tangents(self):
        """What was not edited stays within tolerance between the frames, too, the ends included, whose rule is another."""
        self.original = build(BEZIER, [(0.0, None, (0, 1, 2)), (1.0, None, (3, 1, 1)), (2.0, None, (1, 2, 5)), (3.0, None, (4, 3, 2))])
        self.bake(lambda frame, axis: math.sin(math.pi * (frame - 40) / 15) ** 2 if 40 <= frame <= 55 else 0)
        self.assertLessEqual(self.off(), 1.0, self.said)


class Turns(Samples):
    """Rotations that go on behind the last key."""
    KEYS = [(0.0, (0, 0.2, 0, 0.1, 0), (92.4, 0.91, -0.23, -0.35)), (0.3, (0.3, -0.2, 0, 0, 0), (64.5, 0.32, 0.8, -0.5)),
            (16 / 30, (-0.1, 0.1, 0.1, 0, 0.4), (96.6, 0.92, 0.06, 0.39))]

    def off(self):
        """In degrees, at the samples."""
        self.keyferry("convert", "y.nanim", "again.fbx", "--ascii", "-y", "--bake=30", "--no-sidecar")
        turns = []
        for name in ("x.fbx", "again.fbx"):
            scene = fbxtext.Scene((self.dir / name).read_text())
            turns.append(list(zip(*([k.value for k in scene.curve("go", "n", TURN, axis).keys] for axis in "xyz"))))
        turns[1] += turns[1][-1:] * (len(turns[0]) - len(turns[1]))
        return max(nytrocases.apart(True, a, b, [1.0]) for a, b in zip(*turns))

    def test_bend(self):
        """A few frames are turned: no more keys than those frames, and each on one."""
        for kind in (LINEAR, BEZIER, TCB):
            with self.subTest(kind=kind):
                self.original = build(kind, turns=self.KEYS, end=2.0)
                now = self.bake(lambda frame, axis: 5 * math.sin(frame * ord(axis)) if 30 <= frame <= 35 else 0, TURN)
                self.assertLessEqual(self.off(), 0.0101, self.said)
                self.assertLessEqual(counts(now)[2], 3 + 10, self.said)
                self.assertNotIn("warning", self.said)

    def test_slow(self):
        """So slow that no frame is off the next one, in a program's file: it goes on to the end all the same."""
        self.original = build(LINEAR, turns=[(0.0, NONE, (0, 0, 0, 1)), (1.0, NONE, (0.5, 0, 0, 1))], end=20.0)

        def work(scene):
            curve = scene.curve("go", "n", TURN, "z")
            for i, key in enumerate(curve.keys):
                key.value += 0.005 * max(0, i - 60)
            curve.store()
            by_a_program(scene)
        self.edit(work, "--bake=30")
        self.assertNotIn("warning", self.said)
        self.assertLessEqual(self.off(), 0.021, self.said)

    def test_step(self):
        """A step in what is held: one frame's way, and what was not edited stays."""
        for kind in (LINEAR, TCB):
            with self.subTest(kind=kind):
                self.original = build(kind, turns=self.KEYS, end=38 / 30)
                now = self.bake(lambda frame, axis: 30 if frame > 32 else 0, TURN, "z")
                self.assertLessEqual(self.off(), 0.0101, self.said)
                self.assertLessEqual(counts(now)[2], 3 + 3, self.said)
                self.assertNotIn("warning", self.said)

    def test_before_the_first_key(self):
        for kind in (LINEAR, TCB):
            with self.subTest(kind=kind):
                self.original = build(kind, turns=[(t + 1.0, *rest) for t, *rest in self.KEYS], end=2.0)
                now = self.bake(lambda frame, axis: 5 if 10 <= frame <= 15 else 0, TURN)
                self.assertLessEqual(self.off(), 0.0101, self.said)
                self.assertLessEqual(counts(now)[2], 3 + 10, self.said)


if __name__ == "__main__":
    unittest.main()
