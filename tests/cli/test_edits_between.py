"""What is drawn between the frames of files that store a value a frame, or before the first of them, has no place there: that is
said, and only that. What was written between frames (lines, helper keys, samples of a bake) is nobody's edit."""
import copy
import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from editcase import EditCase, by_a_program, hold  # noqa: E402

MOVE, TURN = "Lcl Translation", "Lcl Rotation"
DATA = Path(os.environ["KEYFERRY_SOURCE"]) / "tests" / "data"
WAYS = (), ("--bake",), ("--for", "blender")


def insert(amount, share=0.5):
    """A key half a frame after the second, that much off the line, or at another share of the way."""
    def work(curve):
        a, b = curve.keys[1], curve.keys[2]
        key = copy.deepcopy(a)
        key.time = (a.time + b.time) // 2
        key.value = a.value + share * (b.value - a.value) + amount
        curve.keys.insert(2, key)
    return work


def half_a_frame(curve):
    curve.keys[1].time += (curve.keys[2].time - curve.keys[1].time) // 2


def bend(curve):
    for key in curve.keys:
        key.flags = 0xC08  # cubic, slopes of its own on either side
        key.data = [0, 0, 0x0D050D05, 0]
        key.set_number(0, 50.0)
        key.set_number(1, -50.0)


def bend_a_little(part):
    """Slopes off the line by that part of a curve's range, as smooth ones are: half of it a frame from either end."""
    def work(curve):
        values = [k.value for k in curve.keys]
        aside = part * max(max(values) - min(values), 1)
        bend(curve)
        for i, key in enumerate(curve.keys[:-1]):
            seconds = (curve.keys[i + 1].time - key.time) / fbxtext.TICKS
            line = (curve.keys[i + 1].value - key.value) / seconds
            key.set_number(0, line + 4 * aside / seconds)
            key.set_number(1, line - 4 * aside / seconds)
    return work


def go_straight(curve):
    for key in curve.keys:
        key.flags = 0x4


def twice(amount):
    """A second key at the time of the third."""
    def work(curve):
        key = copy.deepcopy(curve.keys[2])
        key.value += amount
        curve.keys.insert(3, key)
    return work


def raise_frame(curve):
    curve.keys[-1].value += 10


def spans(scene):
    for take in scene.takes().values():
        for line in take.first("Properties70").children:
            if "Start" in line.values[0] or "Stop" in line.values[0]:
                yield line


def shift(seconds, span=True):
    def change(scene):
        ticks = round(seconds * fbxtext.TICKS)
        for curve in scene.curves().values():
            for key in curve.keys:
                key.time += ticks
            curve.store()
        for line in spans(scene) if span else ():
            line.values[4] = str(int(line.values[4]) + ticks)
    return change


class Between:
    """With `places`: the curves that are edited, and what the channel is called; and what the game does between two frames."""
    places = ()
    little = ()  # the curves that are bent by less than a hundredth of their range; where the game holds that is no bend
    plays, bent = "goes straight", [(program, there) for program in (False, True) for there in WAYS]

    def setUp(self):
        super().setUp()
        self.ending = self.file.rpartition(".")[2]
        self.original = (DATA / self.file).read_bytes()

    def edited(self, where, work, *there, program=False, **more):
        def change(scene):
            curve = scene.curve(*where)
            work(curve)
            curve.store()
            if program:
                by_a_program(scene)
        return self.edit(change, *there, **more)

    def told(self, channel, what):
        """Once for a track, with its time and by how much."""
        lines = re.findall(r'warning: take "\S+", node "\w+", %s at \d\.\d+ s: .*%s.* off by [\d.e+-]+' % (channel, what), self.said)
        self.assertEqual(len(lines), 1, self.said)

    def test_half_a_frame(self):
        for where, channel in self.places:
            self.edited(where, half_a_frame)
            self.told(channel, "between the format's frames")

    def test_bent(self):
        for where, channel in self.places:
            for program, there in self.bent:
                self.assertEqual(self.edited(where, bend, *there, program=program), self.original)
                self.told(channel, "bends between the format's frames, where the game " + self.plays)

    def test_held(self):
        """Stepped keys, where the game goes straight; where it holds, these are its own."""
        for where, channel in self.places:
            for program, there in [(program, there) for program in (False, True) for there in WAYS]:
                self.assertEqual(self.edited(where, hold, *there, program=program), self.original)
                if self.plays == "holds":
                    self.assertNotIn("warning", self.said)
                else:
                    self.told(channel, "holds between the format's frames, where the game goes straight")

    def test_two_keys_on_a_frame(self):
        for where, channel in self.places:
            self.edited(where, twice(20))
            if self.plays == "holds":  # the first of the two is never seen
                self.assertNotIn("warning", self.said)
            else:
                self.told(channel, "two keys there have other values, and the format has one a frame")
            self.edited(where, twice(0))
            self.assertNotIn("warning", self.said)

    def test_bent_a_little(self):
        """By more than is tolerated and less than a hundredth of the range: one note, however many tracks there are."""
        def change(scene):
            for where in self.little:
                curve = scene.curve(*where)
                bend_a_little(0.005)(curve)
                curve.store()
        for there in WAYS if self.little else ():
            self.assertEqual(self.edit(change, *there, back=("--strict",)), self.original)
            notes = re.findall(r"note: (\d) tracks? bends? a little between the format's frames, where the game %s; the most in take "
                               r'"\S+", node "\w+", \w+ at \d\.\d+ s, by [\d.e+-]+' % self.plays, self.said)
            self.assertEqual(notes, [str(len(self.little))], self.said)
            self.assertEqual(self.said.count("bend"), 1)
        self.edit(lambda scene: None)
        self.assertNotIn("bend", self.said)

    def test_key_between(self):
        for where, channel in self.places:
            for there in WAYS:
                for program in False, True:
                    self.edited(where, insert(20), *there, program=program)
                    self.told(channel, "between the format's frames")
            self.edited(where, insert(20), back=("--strict",), code=1)

    def test_nothing_between(self):
        """Nothing was edited, or frames alone."""
        for there in *WAYS, ("--bake=60",):
            self.assertEqual(self.edit(lambda scene: None, *there), self.original)
            self.assertNotIn("warning", self.said)
            self.assertEqual(self.edit(by_a_program, *there), self.original)
            self.assertNotIn("warning", self.said)
        for where, _ in self.places:
            self.edited(where, raise_frame)
            self.assertNotIn("warning", self.said)

    def test_taken_before_the_first_frame(self):
        for by in -0.2, -1 / 15:
            for there in WAYS:
                self.assertEqual(self.edit(shift(by), *there), self.original, self.said)
                self.assertNotIn("warning", self.said)
                self.assertRegex(self.said, 'note: take "\\S+" begins at -0.* s now')

    def test_keys_before_the_first_frame(self):
        self.edit(shift(-0.1, span=False))
        self.assertRegex(self.said, r'warning: take "\S+", node "\w+", \w+: \d+ keys from -0.1000 to -0\.\d+ s lie before')


class Islands(Between, EditCase):
    file = "ei-anm/hand.anm"
    places = (("animation", "x", MOVE, "y"), "translation"), (("animation", "x", TURN, "y"), "rotation")
    little = (("animation", "x", MOVE, "y"),)


class Midtown(Between, EditCase):
    file = "mm2-anim/two-bones.anim"
    places = (("x", "bone_00", MOVE, "y"), "translation"), (("x", "bone_01", TURN, "x"), "rotation")
    little = [where for where, _ in places]

    def test_between_its_neighbours(self):
        for axis, share in ("y", 0.9), ("y", 0.05), ("x", 0.95):
            self.assertEqual(self.edited(("x", "bone_01", TURN, axis), insert(0, share)), self.original)
            self.told("rotation", "between the format's frames")
        self.edited(("x", "bone_01", TURN, "y"), insert(0))  # on the line
        self.assertNotIn("warning", self.said)


class Ribbon(Between, EditCase):
    """Its numbers are whole ones, too: less than half of one does not show."""
    file = "vib-anm/first.anm"
    plays, bent = "holds", [(False, ())]
    places = (("x", "object_002", MOVE, "y"), "translation"), (("x", "object_000", TURN, "x"), "rotation")

    def test_straight(self):
        """Lines, where it holds: no frame shows more of them."""
        for where, channel in self.places:
            for program in False, True:
                self.edited(where, go_straight, program=program)
                self.assertRegex(self.said, r'note: 1 track bends between the format\'s frames, where the game holds; the most in take '
                                 r'"x", node "%s", %s at \d\.\d+ s, by \d' % (where[1], channel))
            self.assertEqual(self.edited(where, go_straight, "--bake"), self.original)  # as it was written
            self.assertNotIn("bend", self.said)

    def test_rounded(self):
        where = self.places[0][0]
        for amount, shows in (0.2, False), (-0.49, False), (0.6, True), (1, True):
            def work(curve):
                curve.keys[2].value += amount
            now = self.edited(where, work)
            self.assertEqual(now != self.original, shows)
            self.assertIn("1 of 4 tracks changed" if shows else "0 of 4 tracks changed", self.said)
            note = 'note: take "x", node "object_002", translation at 0.1000 s: edited, but by less than shows in the format\'s steps of 1'
            (self.assertNotIn if shows else self.assertIn)(note, self.said)


if __name__ == "__main__":
    unittest.main()
