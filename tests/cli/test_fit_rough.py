#!/usr/bin/env python3
"""Bakes in which every frame was given another value, and no smooth curve runs through them: sawtooths, noise. On the frames they
come back as they are, between two frames nothing swings out, and there are no more keys than frames."""
import importlib.util
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from editcase import EditCase  # noqa: E402

spec = importlib.util.spec_from_file_location(
    "generate_x4", os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "generate", "x4_ani.py"))
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

STEP, LINEAR, BEZIER, TCB = 1, 2, 5, 7
FINE = 8  # looks a frame


class X4(EditCase):
    ending = "ani"

    def build(self, kind, keys=6, gap=0.4):
        """x, y and z of one part in keys of one kind."""
        times = [i * gap for i in range(keys)]
        values = [(math.sin(i), i * 0.5, math.cos(i)) for i in range(keys)]
        made = generate.bezier_keys(times, values) if kind == BEZIER else [generate.key(t, v, kind) for t, v in zip(times, values)]
        self.original = generate.ani([generate.description("part", "go", times[-1], pos=made)])

    def curve(self, scene, axis):
        return scene.curve("go", "part", "Lcl Translation", axis)

    def rewrite(self, value, axes="xyz"):
        """`value(axis, frame)` is what every frame of those axes becomes. How many keys there are then, and how many frames."""
        def change(scene):
            for axis in axes:
                curve = self.curve(scene, axis)
                for i, key in enumerate(curve.keys):
                    key.value = value(axis, i)
                curve.store()
        now = self.edit(change, "--bake=30")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        self.frames = {axis: [k.value for k in self.curve(scene, axis).keys] for axis in "xyz"}
        self.keyferry("convert", "y.ani", "fine.fbx", "--ascii", "-y", "--bake=%d" % (30 * FINE), "--no-sidecar")
        scene = fbxtext.Scene((self.dir / "fine.fbx").read_text())
        self.looks = {axis: [k.value for k in self.curve(scene, axis).keys] for axis in "xyz"}
        return (len(now) - 16 - 160) // 128, len(self.frames["x"])

    def on_the_frames(self):
        for axis, frames in self.frames.items():
            limit = 1e-4 * max(1, max(frames) - min(frames)) + 1e-6
            for i, value in enumerate(frames):
                self.assertAlmostEqual(value, self.looks[axis][FINE * i], None, (axis, i), limit)

    def test_sawtooth(self):
        """Each axis with a period of its own, on keys of each kind: on a ramp all is between the frames before and after it. That the
        original jumped in the middle of a ramp is no reason to jump there."""
        for kind in (STEP, LINEAR, BEZIER, TCB):
            with self.subTest(kind=kind):
                self.build(kind)
                keys, _ = self.rewrite(lambda axis, i: i % {"x": 6, "y": 8, "z": 11}[axis] * 0.3)
                self.on_the_frames()
                self.assertLessEqual(keys, 37)
                for axis, frames in self.frames.items():
                    for i, (a, b) in enumerate(zip(frames, frames[1:])):
                        for v in self.looks[axis][FINE * i:FINE * (i + 1) + 1] if b > a else ():
                            self.assertTrue(a - 4e-4 <= v <= b + 4e-4, (axis, i, a, v, b))

    def test_walk(self):
        """No more keys than frames, though where x has a key y and z need one."""
        for kind in (STEP, LINEAR, BEZIER, TCB):
            for seed in (1, 4):
                with self.subTest(kind=kind, seed=seed):
                    rng = random.Random(seed)
                    self.build(kind)
                    at = dict.fromkeys("xyz", 0.0)

                    def walk(axis, _, rng=rng, at=at):
                        at[axis] += rng.gauss(0, 0.2)
                        return at[axis]
                    keys, frames = self.rewrite(walk)
                    self.on_the_frames()
                    self.assertLessEqual(keys, frames, self.said)
                    self.assertNotIn("ease", self.said)

    def test_noise(self):
        for kind in (STEP, LINEAR, BEZIER, TCB):
            for axes in ("x", "xyz"):
                with self.subTest(kind=kind, axes=axes):
                    rng = random.Random(5)
                    self.build(kind)
                    keys, frames = self.rewrite(lambda axis, i, rng=rng: rng.uniform(-1, 1), axes)
                    self.on_the_frames()
                    self.assertLessEqual(keys, frames, self.said)
                    self.assertNotIn("ease", self.said)

    def test_noise_swings_no_further_than_it_bends(self):
        """The first and the last frames, too, which have samples on one side only."""
        for kind in (STEP, LINEAR, BEZIER, TCB):
            for seed in range(6):
                with self.subTest(kind=kind, seed=seed):
                    rng = random.Random(seed)
                    self.build(kind)
                    self.rewrite(lambda axis, i, rng=rng: rng.uniform(-1, 1))
                    for axis, v in self.frames.items():
                        bends = [0.0] + [abs(a - 2 * b + c) for a, b, c in zip(v, v[1:], v[2:])] + [0.0]
                        for i in range(len(v) - 1):
                            slack = 0.3 * max(bends[max(0, i - 1):i + 3]) + 1e-3
                            for look in self.looks[axis][FINE * i:FINE * (i + 1) + 1]:
                                self.assertTrue(min(v[i:i + 2]) - slack <= look <= max(v[i:i + 2]) + slack, (axis, i, look, v[i:i + 2]))

    def test_parted(self):
        """Keys that are put in for the shape of a segment which others' keys part: it is said of which."""
        times, values = [0.0, 1.0, 2.0], [(0.0, 1.0, 2.0), (1.0, 3.0, 0.0), (4.0, 0.0, 1.0)]
        self.original = generate.ani([generate.description("part", "go", 2.0, pos=generate.bezier_keys(times, values, 0.7))])

        def change(scene):
            curve = self.curve(scene, "x")
            curve.keys.insert(1, fbxtext.Key(fbxtext.TICKS * 3 // 10, 0.5, 4, [0, 0, 0, 0]))
            curve.store()
        self.edit(change)
        self.assertIn("so that segments whose handles pass each other play as before", self.said)
        self.assertNotIn("ease", self.said)


if __name__ == "__main__":
    unittest.main()
