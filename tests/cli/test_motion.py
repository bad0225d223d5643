#!/usr/bin/env python3
"""Any mix of FBX's kinds of keys into every format, without an original: the file plays what the FBX plays, within tolerance
and as a second reckoning sees it, or a warning names the node, the channel and a time, and --strict makes it an error."""
import math
import os
import random
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
import motion  # noqa: E402
from command import Case  # noqa: E402
from formatcase import module  # noqa: E402

mm2, vib, nytro, ei, x4 = (module("decode", name) for name in ("mm2_anim", "vib_anm", "nytro_anim", "ei_anm", "x4_ani"))
KINDS = (motion.STEP, motion.STEP_NEXT, motion.LINEAR, motion.AUTO, motion.USER, motion.BROKEN, motion.WEIGHTED, motion.TCB)
PARTS = {"T": ("translation", "position"), "S": ("scale",)}


def curve(rng, kinds, times, size):
    keys = []
    for time in times:
        flags, data = rng.choice(kinds), [0, 0, motion.THIRDS, 0]
        if flags == motion.TCB:
            data = [motion.bits(rng.uniform(-1, 1)) for _ in range(3)] + [0]
        elif flags in (motion.USER, motion.BROKEN, motion.WEIGHTED):
            data[:2] = [motion.bits(size * rng.uniform(-1, 1) * rng.choice((1, 4, 30))) for _ in range(2)]
        if flags == motion.WEIGHTED:
            data[2] = motion.weights(*(rng.choice((0.02, 0.99, rng.uniform(0.1, 0.9))) for _ in range(2)))
        keys.append((time, motion.number(motion.bits(rng.uniform(-size, size))), flags, data))
    return keys


def scene(seed, kinds=None, channels="TS"):
    rng = random.Random(seed)
    kinds = kinds or rng.sample(KINDS, rng.randrange(1, 5))

    def times():
        at = [0.0]
        while len(at) < rng.randrange(3, 7):
            at.append(at[-1] + rng.choice((0.1, 1 / 30, 0.5, rng.uniform(0.03, 1.2))))
        return at
    shared = times() if rng.random() < 0.5 else None
    return {c: [curve(rng, kinds, shared or times(), rng.choice((1, 10, 300))) for _ in range(3)] for c in channels}


class Motion(Case):
    def convert(self, node, id, *options, code=0):
        end = max(keys[-1][0] for curves in node.values() for keys in curves)
        self.put("made.fbx", fbxmade.scene({"part": node}, 30, end).encode())
        said = self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y", *options, code=code).err
        out = [p.read_bytes() for p in (self.dir / id).iterdir()] if code == 0 else [b""]
        self.assertEqual(len(out), 1)
        return out[0], said

    def told(self, said, channel):
        return [line for line in said.splitlines() if "warning:" in line and '"part"' in line and "keys were added" not in line and
                re.search(r"\b(%s)\b.* \d+\.\d+ s" % "|".join(PARTS[channel]), line)]

    def keyed(self, id, decode, seed, jump):
        """`jump` is how long one takes. What is worst, of what was not told, as a multiple of the tolerance."""
        node = scene(seed)
        data, said = self.convert(node, id)
        tracks = {(t["channel"], t.get("component")): t["keys"] for t in decode(data)["takes"][0]["tracks"]}
        worst = (0, "")
        for channel, curves in node.items():
            if self.told(said, channel):
                self.assertIn("keyferry", self.convert(node, id, "--strict", code=1)[1])
                continue
            for component, keys in zip("xyz", curves):
                found = tracks[PARTS[channel][0], component]
                times, gone = [float(k["t"]) for k in found], motion.jumps(keys)
                instants = sorted({k[0] for k in keys} | set(times))
                at = [a + (b - a) * n / 9 for a, b in zip(instants, instants[1:]) for n in range(1, 9) if b - a > 2e-5]
                at = [time for time in at if all(abs(time - j) > jump for j in gone)]
                wanted = [motion.fbx_value(keys, time) for time in at]
                limit = 1e-4 * motion.range_of([k[1] for k in keys] + wanted)
                off = max((abs(motion.game_value(found, times, t) - v) / limit, t) for t, v in zip(at, wanted))
                worst = max(worst, (off[0], f"{id} seed {seed}, {channel}.{component} at {off[1]} s: {off[0]} times, {said}"))
        return worst

    def test_x4(self):
        for seed in range(40):
            off, where = self.keyed("x4-ani", x4.decode, seed, 2e-5)
            self.assertLess(off, 1.05, where)

    def test_nytro(self):
        for seed in (*range(36), 136, 138, 169):
            off, where = self.keyed("nytro-anim", nytro.decode, seed, 3e-3)
            self.assertLess(off, 1.05, where)

    def test_almost_vertical(self):
        """Long handles on both sides: much happens in a thousandth of a second."""
        words = [0, 0, motion.weights(0.99, 0.99), 0]
        steep = [(t, v, motion.WEIGHTED, words) for t, v in ((1.5, -10.0), (1.75, 10.0), (2.0, 0.0), (2.25, 10.0))]
        for others in ((1.5, 2.25), (1.5, 1.8, 1.82, 2.1, 2.25)):  # those in between part a segment whose handles pass each other
            node = {"T": [steep, [(t, 1.0 + t) for t in others], [(1.5, 0.0), (2.25, 0.0)]]}
            for id, decode in (("nytro-anim", nytro.decode), ("x4-ani", x4.decode)):
                data, said = self.convert(node, id)
                keys = next(t["keys"] for t in decode(data)["takes"][0]["tracks"] if t.get("component") == "x")
                times = [float(k["t"]) for k in keys]
                start = min(times)  # X4 counts from there
                off = max(abs(motion.game_value(keys, times, start + n / 20000) - motion.fbx_value(steep, 1.5 + n / 20000))
                          for n in range(15001))
                self.assertLessEqual(off, 2.1e-3, (id, said))
                self.assertNotIn("cannot hold", said)

    def test_samples(self):
        """A bake says nothing of what is between its frames: a smooth curve through them is what was asked for."""
        def baked(size, turn):
            return [(n / 30, size * (math.sin(n / 15 + turn) + 0.3 * math.sin(n / 6))) for n in range(120)]
        node = {"T": [baked(10, c) for c in range(3)], "R": [baked(30, c) for c in range(3)]}
        data, said = self.convert(node, "x4-ani", "--strict")
        self.assertNotIn("warning", said)
        tracks = {(t["channel"], t["component"]): t["keys"] for t in x4.decode(data)["takes"][0]["tracks"] if t["keys"]}
        for c, samples in zip("xyz", node["T"]):
            keys = tracks["translation", c]
            self.assertLess(len(keys), 100)
            off = max(abs(motion.game_value(keys, [float(k["t"]) for k in keys], t) - v) for t, v in samples)
            self.assertLessEqual(off, 1e-4 * motion.range_of([v for _, v in samples]), c)

    def test_noise(self):
        """Samples that no fewer keys can tell stay the lines that they are, in a format that has lines."""
        rng = random.Random(4)
        node = {"T": [[(n / 30, rng.uniform(-10, 10)) for n in range(200)] for _ in range(3)]}
        for format, keys in (("x4-ani", b"600 keys: 3 step, 597 linear"), ("nytro-anim", b"600 keys: 600 linear")):
            said = self.convert(node, format, "--strict")[1]
            self.assertNotIn("warning", said)
            self.assertIn(keys, self.keyferry("info", next((self.dir / format).iterdir())).out)

    def test_made_files_come_back(self):
        """A jump is told as a turn within a ten-thousandth of a second: what was made of it goes through FBX once more."""
        for seed in (5, 18, 34, 61):
            self.convert(scene(seed, channels="R"), "nytro-anim")
            self.assertTrue(self.keyferry("verify", "nytro-anim").out.endswith(b": ok\n"))

    def test_keys_beside_a_frame(self):
        """Half turns from frame to frame, one of them where two angles turn about the same axis: FBX gets keys just beside it."""
        turns = ((0.8933517932891846, 0.002094391966238618, -0.12809434533119202, -0.43070873618125916),
                 (0.36566200852394104, 0.604951024055481, -0.3649064898490906, 0.6059445142745972),
                 (-0.21171249449253082, 0.7302011251449585, -0.2370026856660843, -0.6048254370689392))
        data = struct.pack("<I", len(turns)) + b"".join(struct.pack("<4f", *q) for q in turns) + struct.pack("<2I", 0, 0)
        self.put("turns.anm", data)
        self.assertTrue(self.keyferry("verify", "turns.anm").out.endswith(b": ok\n"))

    def test_rotations_that_jump(self):
        turn = [(0.0, 10.0, motion.STEP, [0] * 4), (0.5, 50.0, motion.STEP, [0] * 4), (1.0, -20.0, motion.STEP, [0] * 4)]
        node = {"R": [turn, [(0.0, 0.0), (1.0, 0.0)], [(0.0, 0.0), (1.0, 0.0)]]}
        self.assertRegex(self.convert(node, "nytro-anim")[1], r'warning: .*node "part", rotation at \d+\.\d+ s')
        self.assertNotIn("warning", self.convert(node, "x4-ani")[1])

    def test_frames(self):
        """On each of its frames a sampled format has the FBX's value."""
        for seed in range(12):
            node = scene(seed, channels="T")
            gone = [motion.jumps(keys) for keys in node["T"]]

            def check(id, rate, frames, quantum):
                for c, keys in enumerate(node["T"]):
                    for i, values in enumerate(frames):
                        if all(abs(i / rate - j) > 1e-4 for j in gone[c]) and i / rate <= keys[-1][0]:
                            wanted = motion.fbx_value(keys, i / rate)
                            self.assertLessEqual(abs(values[c] - wanted), quantum + 1e-6 * abs(wanted), (id, seed, c, i))
            tracks = mm2.decode(self.convert(node, "mm2-anim")[0], "made.anim", 30)["takes"][0]["tracks"][:3]
            check("mm2-anim", 30, list(zip(*([k["v"] for k in t["keys"]] for t in tracks))), 1e-4)
            part = {t["channel"] + t.get("component", ""): t["keys"] for t in ei.part(self.convert(node, "ei-anm")[0], 0)}
            check("ei-anm", 15, list(zip(*([k["v"] for k in part["translation" + c]] for c in "xyz"))), 1e-4)
            held, frames = None, []
            for frame in vib.frames_of(self.convert(node, "vib-anm")[0])[1]:
                held = frame[0].get(4, held)
                frames.append(held)
            check("vib-anm", 30, frames, 0.501)


if __name__ == "__main__":
    unittest.main()
