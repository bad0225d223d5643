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


if __name__ == "__main__":
    unittest.main()
