#!/usr/bin/env python3
"""Long animations made elsewhere, without an original: whatever their curves are, a valid file comes of them within the
memory that is allowed by default, and within much less."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
import motion  # noqa: E402
from command import Case  # noqa: E402

KINDS = {"linear": motion.LINEAR, "held": motion.STEP, "cubic": motion.BROKEN, "weighted": motion.WEIGHTED, "tcb": motion.TCB}


def curve(rng, kind, count):
    """Noise: no key follows from those before it."""
    keys = []
    for i in range(count):
        words = [motion.bits(rng.uniform(-100, 100)), motion.bits(rng.uniform(-100, 100)), motion.THIRDS, 0]
        if kind == "weighted":
            words[2] = motion.weights(rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9))
        if kind == "tcb":
            words = [motion.bits(rng.uniform(-1, 1)) for _ in range(3)] + [0]
        keys.append((i / 30, rng.uniform(-10, 10), KINDS[kind], words))
    return keys


class Long(Case):
    def made(self, kind, count):
        rng = random.Random(count)
        node = {"T": [curve(rng, kind, count) for _ in range(3)]}
        self.put("made.fbx", fbxmade.scene({"part": node}, 30, (count - 1) / 30).encode())

    def convert(self, kind, count, *memory):
        self.made(kind, count)
        self.keyferry("convert", "made.fbx", "out.nanim", "-y", *memory)
        self.keyferry("check", "out.nanim")
        return self.json("info", "out.nanim", "--json")

    def test_noise(self):
        """Each key of the three curves costs a Nytro file about twenty of its own."""
        self.assertEqual(self.convert("weighted", 1000)["format"], "nytro-anim")
        self.convert("weighted", 300, "--max-memory", "8M")

    def test_jumps(self):
        """Each of many jumps is two keys; time and memory grow with them, and no faster."""
        self.convert("held", 4000, "--max-memory", "16M")

    def test_too_little_memory(self):
        """Wherever it ends, the limit that is told is the one that was given."""
        self.made("weighted", 300)
        for limit in (500, 1000, 1500, 2000):
            said = self.keyferry("convert", "made.fbx", "out.nanim", "--max-memory", f"{limit}K", code=1).err
            self.assertIn(f"needs more memory than the limit of {limit << 10} bytes (raise it with --max-memory)", said)

    def test_rotations(self):
        rng = random.Random(1)
        self.put("made.fbx", fbxmade.scene({"part": {"R": [curve(rng, "weighted", 200) for _ in range(3)]}}, 30, 199 / 30).encode())
        self.keyferry("convert", "made.fbx", "out.nanim", "--max-memory", "4M")
        self.keyferry("check", "out.nanim")

    def test_keys_far_apart(self):
        """Formats with a value a frame have as many as the time between two keys has; if those are too many, that is told."""
        for end in (600.0, 86400.0, 3e7):
            node = {c: [[(0.0, 0.0), (end, 9.0)]] * 3 for c in "TR"}
            self.put("far.fbx", fbxmade.scene({"part": node}, 30, end).encode())
            for id, rate in (("mm2-anim", 30), ("vib-anm", 30), ("ei-anm", 15)):
                said = self.keyferry("convert", "far.fbx", f"{id}/", "--to", id, "-y", code=0 if end == 600 else 1).err
                frames = f"{end * rate + 1:.0f} frames at {rate} a second need more memory than the limit of"
                if end > 600:
                    self.assertIn(f'take "Take 001" lasts {end:g} s: {frames}', said)
                else:
                    self.keyferry("check", f"{id}/")
            for id in ("nytro-anim", "x4-ani"):
                self.keyferry("convert", "far.fbx", f"{id}/", "--to", id, "-y")
                self.keyferry("check", f"{id}/")


if __name__ == "__main__":
    unittest.main()
