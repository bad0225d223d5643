"""Takes with "|" in their names. A program calls them "OBJECT|TAKE" of its own accord; where nothing before the "|" is an object,
somebody called them so. And names that a file has no room for."""
import os
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from editcase import EditCase, rename_take  # noqa: E402
from formatcase import module  # noqa: E402

generate = module("generate", "x4_ani")

DATA = Path(os.environ["KEYFERRY_SOURCE"]) / "tests" / "data"
OPEN, CLOSE, LEFT = "door_open", "door_close", "anim_door_left"
WAYS = (), ("--for", "blender")


class Takes(EditCase):
    ending = "ani"
    original = (DATA / "x4-ani" / "door.ani").read_bytes()

    def takes(self):
        return {line.split('"')[1] for line in self.keyferry("info", "y.ani").out.decode().splitlines() if line.startswith("  take ")}

    def add(self, name, by, *there):
        def change(scene):
            scene.clone_take(OPEN, name)
            curve = scene.curve(name, LEFT, "Lcl Translation", "x")
            for key in curve.keys:
                key.value += by
            curve.store()
        return self.edit(change, *there)

    def test_added(self):
        for there in WAYS:
            for name in "fast|" + OPEN, OPEN + "|fast", "a|b":
                self.add(name, 1, *there)
                self.assertEqual(self.takes(), {OPEN, CLOSE, name}, self.said)
                self.assertIn('added: take "%s", node "%s", translation' % (name, LEFT), self.said)

    def test_copies(self):
        """What a program makes of takes: an object's, or another name of the same motion."""
        for there in WAYS:
            self.assertEqual(self.add("fast|" + OPEN, 0, *there), self.original)
            self.assertEqual(self.add("%s|%s" % (LEFT, OPEN), 0, *there), self.original)
            self.assertNotIn("note: take", self.said)

    def test_renamed(self):
        for there in WAYS:
            for name in "a|b", "|b", OPEN + "|x":
                self.edit(lambda scene: rename_take(scene, OPEN, name), *there)
                self.assertIn('renamed: take "%s" is "%s" now' % (OPEN, name), self.said)
                self.assertEqual(self.takes(), {CLOSE, name})

    def test_like_a_programs(self):
        """It keeps its name, and that is said."""
        for name in "walk|" + OPEN, LEFT + "|fast":
            self.assertEqual(self.edit(lambda scene: rename_take(scene, OPEN, name)), self.original)
            self.assertIn('note: take "%s" came back as "%s"' % (OPEN, name), self.said)
        self.edit(lambda scene: rename_take(scene, OPEN, "%s|%s" % (LEFT, OPEN)))
        self.assertNotIn("came back as", self.said)

    def test_behind_a_name(self):
        """What lay there stays, but for where the new name and its NUL reach."""
        rng = random.Random(7)
        names = 16 + 64, 16 + 160 + 64
        self.original = generate.ani([generate.description(part, "state_0", 1.0, pos=[generate.key(0.0, (1, 2, 3))], garbage=rng)
                                      for part in ("base", "arm")])
        for new in "state_9", "st", "state_0_longer", "n" * 63:
            now = self.edit(lambda scene: rename_take(scene, "state_0", new))
            self.assertEqual(now, self.patched(*((at, new.encode() + b"\0") for at in names)), new)
            self.assertEqual(self.takes(), {new})

    def test_too_long(self):
        """The report has the name that the file has."""
        for long, cut in ("n" * 80, "n" * 63), ("n" * 62 + "\u00fc" * 9, "n" * 62):
            self.edit(lambda scene: rename_take(scene, OPEN, long))
            self.assertIn("is longer than 63 bytes and was cut after %d" % len(cut.encode()), self.said)
            self.assertIn('renamed: take "%s" is "%s" now\n' % (OPEN, cut), self.said)
            self.assertEqual(self.takes(), {CLOSE, cut})


if __name__ == "__main__":
    unittest.main()
