#!/usr/bin/env python3
"""Bakes that were edited at the ends of what the game has keys for: before its first key and after its last one a curve stands
still, and those frames were written and came back like the others. Every frame of the FBX is what the game plays."""
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from editcase import EditCase  # noqa: E402

MOVE, TURN = "Lcl Translation", "Lcl Rotation"
NONE = (0, 0, 0, 0, 0)
FRAMES = [75], [30], [73, 74, 75], [30, 31], [75, 76], [29, 30], range(75, 200), range(0, 31)  # keys are on 30 to 75 of 0 to 120


class Holds(EditCase):
    def bake(self, change, *back):
        """Every frame is looked at."""
        now = self.edit(change, "--for", "blender", back=back)
        self.keyferry("convert", "y." + self.ending, "z.fbx", "--bake=30", "-y")
        self.keyferry("diff", "x.fbx", "z.fbx", "--tolerance", "0.011")
        return now

    def edit_frames(self, axes, frames):
        """3 units and 30 degrees more there."""
        def change(scene):
            for prop, amount in ((MOVE, 3.0), (TURN, 30.0)):
                for axis in axes:
                    curve = scene.curve("move", "a", prop, axis)
                    for key in curve.keys:
                        if round(key.time * 30 / fbxtext.TICKS) in frames:
                            key.value += amount
                    curve.store()
        return self.bake(change)


def record(time, value, kind, tcb=NONE):
    """Handles of no length."""
    points = [n for v in value for n in (time, v, time, v)]
    return struct.pack("<3f3if12f5fi6fI", *value, *(kind,) * 3, time, *points, *tcb, 0, *(0,) * 6, 0)


def x4(*parts):
    """(node, duration, positions, rotations, scales), each key (time, value, kind) and perhaps numbers."""
    head = keys = b""
    for node, duration, *lists in parts:
        head += struct.pack("<64s64s5if2i", node, b"move", *map(len, lists), 0, 0, duration, 0, 0)
        keys += b"".join(record(*key) for some in lists for key in some)
    return struct.pack("<4i", len(parts), 16 + 160 * len(parts), 1, 0) + head + keys


STEP, LINEAR, BEZIER, TCB = 1, 2, 5, 7


def keys_of(kind, first):
    return [(first + 0.5 * i, value, kind if i < 3 else STEP, (0, 0.2 * i, 0, 0, 0.3 if i == 1 else 0))
            for i, value in enumerate([(0, 1, 2), (1, 0.5, 3), (0.5, 2, -1), (2, 1, 1)])]


class X4(Holds):
    ending = "ani"

    def test_one_frame_at_an_end(self):
        """Keys from 1 s to 2.5 s of a take of 4."""
        for kind in (STEP, LINEAR, BEZIER, TCB):
            self.original = x4((b"a", 4.0, keys_of(kind, 1.0), keys_of(kind, 1.0), []), (b"b", 4.0, [(0, (0, 0, 0), 2), (4, (1, 1, 1), 1)], [], []))
            for frames in (*FRAMES, [10], [80]):
                for axes in ("y", "xyz"):
                    with self.subTest(kind=kind, frames=frames, axes=axes):
                        self.edit_frames(axes, frames)

    def points_within(self, data):
        """Every Bezier handle lies in the segment that it shapes."""
        count, = struct.unpack_from("<i", data, 16 + 128 + 4)
        keys = [struct.unpack_from("<3f3if12f", data, 16 + 160 + 128 * k) for k in range(count)]
        for a, b in zip(keys, keys[1:]):
            for c in range(3):
                if a[3 + c] == BEZIER:
                    for time in (a[7 + 4 * c], b[9 + 4 * c]):
                        self.assertTrue(a[6] - 1e-5 <= time <= b[6] + 1e-5, (a[6], time, b[6]))

    def turning(self, rng):
        """Lines and Bezier curves between six keys."""
        times = [0, *sorted(rng.sample(range(5, 60), 4)), 65]
        keys = b""
        for i, frame in enumerate(times):
            value = [rng.uniform(-1, 1) for _ in "xyz"]
            gap = [frame - times[max(i - 1, 0)], times[min(i + 1, 5)] - frame]
            points = [(frame + (gap[1], -gap[0])[p % 2] * rng.uniform(0.1, 0.9), v + rng.uniform(-0.5, 0.5))
                      for v in value for p in range(2)]
            keys += struct.pack("<3f3if12f5fi6fI", *value, *rng.choices((LINEAR, BEZIER), k=3), frame / 30,
                                *(x for t, v in points for x in (t / 30, v)), *NONE, 0, *(0,) * 6, 0)
        return struct.pack("<4i64s64s5if2i", 1, 176, 1, 0, b"a", b"move", 0, 6, 0, 0, 0, 65 / 30, 0, 0) + keys

    def test_still_from_a_frame_on(self):
        """Between frames that stand still the game does, too, whatever was there before. The first of them was not edited, and is
        the file's own number; the others are FBX's."""
        for rng in (random.Random(3), random.Random(5)):
            for n in range(10):
                self.original = self.turning(rng)
                first = rng.randrange(20, 60)
                with self.subTest(n=n, first=first):
                    self.freeze(first)

    def freeze(self, first):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("move", "a", TURN, axis)
                still = [key for key in curve.keys if key.time * 30 / fbxtext.TICKS > first - 0.5]
                for key in still:
                    key.value = still[0].value
                curve.store()
        self.points_within(self.edit(change, "--for", "blender"))
        self.keyferry("convert", "y.ani", "z.fbx", "--bake=240", "-y")
        for track in self.json("dump", "z.fbx")["takes"][0]["tracks"]:
            still = [key["v"] for key in track["keys"] if key["t"] * 30 > first - 0.01]
            self.assertLess(max(still) - min(still), 0.03, track["component"])

    def test_a_few_frames_between_two_jumps(self):
        """Raised as a whole: between any two of them the line goes on, and so it does before and after."""
        rng = random.Random(7)
        for width in (2, 3, 4, 6):
            slopes = [rng.uniform(-2, 2) for _ in "xyz"]
            self.original = x4((b"a", 1.0, [(t, [t * s for s in slopes], BEZIER if t < 1 else STEP) for t in (0, 0.5, 1)], [], []))
            first, last = 9, 8 + width

            def change(scene):
                for axis in "xyz":
                    curve = scene.curve("move", "a", MOVE, axis)
                    for key in curve.keys[first:last + 1]:
                        key.value += 3
                    curve.store()
            self.edit(change, "--for", "blender")
            self.assertNotIn("warning", self.said)
            wanted = {axis: [k.value for k in fbxtext.Scene((self.dir / "x.fbx").read_text()).curve("move", "a", MOVE, axis).keys]
                      for axis in "xyz"}
            self.keyferry("convert", "y.ani", "z.fbx", "--bake=240", "-y")
            for track in self.json("dump", "z.fbx")["takes"][0]["tracks"]:
                frames = wanted[track["component"]]
                for key in track["keys"]:
                    i = min(int(key["t"] * 30 + 1e-4), len(frames) - 2)
                    if i not in (first - 1, last):
                        line = frames[i] + (frames[i + 1] - frames[i]) * (key["t"] * 30 - i)
                        self.assertAlmostEqual(key["v"], line, delta=0.002, msg=(width, track["component"], key))

    def test_all_of_it_slower(self):
        """By any factor, so that keys lie between frames."""
        self.original = x4((b"a", 0.1, [(0, (0, 0, 0), LINEAR), (0.1, (10, 5, 2), STEP)], [], []))
        for factor in (1.5, 2, 1.2, 1.01, 0.5):
            def change(scene):
                for curve in scene.curves().values():
                    for key in curve.keys:
                        key.time = round(factor * key.time)
                    curve.store()
            with self.subTest(factor=factor):
                self.edit(change, "--for", "blender")
                self.keyferry("diff", "x.fbx", "y.ani")


def nytro(*nodes):
    body = b""
    for name, kind, *lists in nodes:
        body += name + b"\0" + struct.pack("<4I", kind, *map(len, lists))
        for some in lists:
            for time, value, *tcb in some:
                body += struct.pack("<If", 1, time) + (struct.pack("<5f", *(tcb or [NONE])[0]) if kind == 1 else b"")
                body += struct.pack("<%df" % len(value), *value)
    header = struct.pack("<I", 0) + b"move\0me\0" + struct.pack("<H", len(nodes))
    out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
    return out + struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body


class Nytro(Holds):
    ending = "nanim"

    def test_one_frame_at_an_end(self):
        moves = [(1.0, (0, 1, 2)), (1.5, (1, 0.5, 3)), (2.0, (0.5, 2, -1)), (2.5, (2, 1, 1))]
        turns = [(1.0, (10, 0, 0, 1)), (1.5, (60, 0, 1, 0)), (2.0, (20, 1, 0, 0)), (2.5, (90, 0, 0, 1))]
        for kind in (1, 2, 4):
            self.original = nytro((b"a", kind, moves, turns, []), (b"b", 4, [(0, (0, 0, 0)), (4, (1, 1, 1))], [], []))
            for frames in FRAMES:
                for axes in ("y", "xyz"):
                    with self.subTest(kind=kind, frames=frames, axes=axes):
                        self.edit_frames(axes, frames)


if __name__ == "__main__":
    unittest.main()
