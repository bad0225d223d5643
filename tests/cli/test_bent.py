"""Keys of a bake that came back stepped, or with slopes that were drawn: the format's keys play that. Slopes that a program gave them
by itself change nothing."""
import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from editcase import EditCase, by_a_program, each, hold  # noqa: E402

MOVE, TURN = "Lcl Translation", "Lcl Rotation"
DATA = Path(os.environ["KEYFERRY_SOURCE"]) / "tests" / "data"
AUTO = 0x108  # cubic, the slope is derived from the neighbours


def hold_next(curve):
    for key in curve.keys:
        key.flags = 0x102


def smooth(curve):
    for key in curve.keys:
        key.flags, key.data = AUTO, [0, 0, 0x0D050D05, 0]


def slope(key, out):
    key.flags, key.data = 0x408, [0, 0, 0x0D050D05, 0]
    key.set_number(0, out)


class Bent:
    where = ()  # take, node, and the channel that is edited
    tracks = ""

    def setUp(self):
        super().setUp()
        self.ending = self.file.rpartition(".")[2]
        self.original = (DATA / self.file).read_bytes()

    def off(self):
        """How far the file that was made is off the edited track."""
        take, node, channel = self.where
        name = {MOVE: "translation", TURN: "rotation"}[channel]
        found = json.loads(self.keyferry("diff", "x.fbx", "y." + self.ending, "--json", code=None).out)["differences"]
        return max(d["worst"] for d in found if d["take"] == take and d["node"] == node and d["channel"].startswith(name))

    def change(self, work, program=False):
        def change(scene):
            each(scene, *self.where, work)
            if program:
                by_a_program(scene)
        return change

    def test_smooth(self):
        """What a program's slopes bend is a note at the most."""
        for program in False, True:
            for there in ("--bake",), ("--for", "blender"):
                self.assertEqual(self.edit(self.change(smooth, program), *there, back=("--strict",)), self.original)
                self.assertIn("0 of %s tracks changed" % self.tracks, self.said)

    def test_slope(self):
        def work(curve):
            values = [key.value for key in curve.keys]
            steepest = max(range(1, len(values) - 1), key=lambda i: abs(values[i] - values[i - 1]))
            slope(curve.keys[steepest], 40 * (max(values) - min(values) + 1))
        for program in False, True:
            self.assertNotEqual(self.edit(self.change(work, program), "--bake"), self.original)
            self.assertIn("1 of %s tracks changed" % self.tracks, self.said)


class Steps(Bent, EditCase):
    """X4 has steps of its own."""
    file, tracks = "x4-ani/door.ani", "8"
    where = "door_close", "anim_door_lock", TURN

    def test_held(self):
        for program in False, True:
            self.assertNotEqual(self.edit(self.change(hold, program), "--bake"), self.original)
            self.assertIn("1 of 8 tracks changed", self.said)
            self.assertNotIn("warning", self.said)
            self.assertLess(self.off(), 0.03 if program else 0.02)

    def test_held_the_other_way(self):
        self.edit(self.change(hold_next), "--bake")
        self.assertIn('warning: take "door_close", node "anim_door_lock", rotation: the format has no such steps: jumps take up to a '
                      "millisecond", self.said)
        self.assertIn("1 of 8 tracks changed", self.said)

    def test_slope_fits(self):
        self.edit(lambda scene: None, "--bake")
        before = self.off()  # lines from frame to frame are not just what the game plays
        self.test_slope()
        self.assertLess(self.off(), before + 0.01)


class Lines(Bent, EditCase):
    """Nytro has none."""
    file, tracks = "nytro-anim/ease.nanim", "2"
    where = "walk", "hip", MOVE

    def test_held(self):
        self.assertNotEqual(self.edit(self.change(hold), "--bake"), self.original)
        self.assertIn('warning: take "walk", node "hip", translation: the format has no such steps: jumps take up to a millisecond', self.said)
        self.assertIn("1 of 2 tracks changed", self.said)


class Turns(Bent, EditCase):
    file, tracks = "nytro-anim/ease.nanim", "2"
    where = "walk", "hip", TURN

    def test_held(self):
        self.assertNotEqual(self.edit(self.change(hold), "--bake"), self.original)
        self.assertIn('warning: take "walk", node "hip", rotation: the format has no such steps: jumps take up to a millisecond', self.said)


if __name__ == "__main__":
    unittest.main()
