"""Edits of rotations that a game keeps as orientations: keys taken out, added, moved; frames more and fewer."""
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxtext  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
import test_edits_sampled as sampled  # noqa: E402
from editcase import EditCase, each  # noqa: E402

TURN = "Lcl Rotation"
TURNS = [(0.0, None, (0, 0, 0, 1)), (1.0, None, (30, 0, 0, 1)), (2.0, None, (10, 0, 0, 1)), (3.0, None, (50, 0, 0, 1))]


def file(turns):
    body = b"arm\0" + struct.pack("<4I", nytro.LINEAR, 0, len(turns), 0) + b"".join(nytro.key(*k) for k in turns)
    return nytro.build(hip=False, arm=False, more=body, nodes=1)[0]


class Keyed(EditCase):
    ending = "nanim"
    original = file(TURNS)

    def turns(self, data):
        """(time, angle about z) of the rotation's keys."""
        self.put("now/x.nanim", data)
        track, = self.json("dump", "now/x.nanim")["takes"][0]["tracks"]
        return [(round(k["t"], 4), round(math.degrees(2 * math.atan2(k["q"][3], k["q"][0])), 2)) for k in track["keys"]]

    def helpers(self, scene, gone=(), later=()):
        """The keys on whole seconds that go or come later, with the helper keys around them."""
        def work(curve):
            curve.keys = [k for k in curve.keys if not any(abs(k.time / fbxtext.TICKS - t) < 0.99 for t in gone)]
            for k in curve.keys:
                k.flags = 0x4  # straight lines: tangents are those of keys that are gone
                for t, by in later:
                    if abs(k.time / fbxtext.TICKS - t) < 1e-6:
                        k.time += int(by * fbxtext.TICKS)
        each(scene, "walk", "arm", TURN, work)

    def test_key_removed(self):
        now = self.edit(lambda scene: self.helpers(scene, gone=(1,)))
        self.assertEqual(self.turns(now), [(0, 0), (2, 10), (3, 50)])
        self.assertEqual(now, file([TURNS[0], *TURNS[2:]]))

    def test_last_key_removed(self):
        now = self.edit(lambda scene: self.helpers(scene, gone=(3,)))
        self.assertEqual(self.turns(now)[:3], [(0, 0), (1, 30), (2, 10)])
        self.assertNotEqual(self.turns(now)[-1], (3, 50))

    def test_key_moved(self):
        now = self.edit(lambda scene: self.helpers(scene, later=((1, 0.25),)))
        self.assertIn((1.25, 30), self.turns(now))

    def test_key_in_the_place_of_another(self):
        def change(scene):
            self.helpers(scene, gone=(2,))

            def more(curve):
                k = curve.keys[-1]
                curve.keys.insert(-1, fbxtext.Key(fbxtext.TICKS * 9 // 4, 77.0 if curve.node is last else 0.0, k.flags, k.data))
            last = scene.curve("walk", "arm", TURN, "z").node
            each(scene, "walk", "arm", TURN, more)
        turns = self.turns(self.edit(change))
        self.assertIn((2.25, 77), turns)
        self.assertNotIn((2, 10), turns)


class Frames(EditCase):
    ending = "anm"
    original = sampled.ei()

    def test_more_of_them(self):
        """Frames after the last one, of the rotation alone."""
        def change(scene):
            curve = scene.curve("animation", "x", TURN, "y")
            last = curve.keys[-1]
            for i in (1, 2):
                curve.keys.append(fbxtext.Key(last.time + i * fbxtext.TICKS // sampled.EI_RATE, last.value + 10 * i, last.flags, last.data))
            curve.store()
        now = self.edit(change)
        self.assertEqual(struct.unpack_from("<I", now), (8,))
        self.assertEqual(now[4:4 + 16 * 6], self.original[4:4 + 16 * 6])
        for i in (1, 2):
            w, _, y, _ = struct.unpack_from("<4f", now, 4 + 16 * (5 + i))
            self.assertAlmostEqual(2 * math.degrees(math.atan2(y, w)), 2 * math.degrees(0.1) + 10 * i, 3)

    def test_a_short_list_gets_longer(self):
        """Of two lists the rotations end earlier: an edit after their end gives them frames, to the take's end."""
        self.original = sampled.ei(turns=sampled.TURNS[:3])

        def change(scene):
            curve = scene.curve("animation", "x", TURN, "y")
            last = curve.keys[-1]
            curve.keys.append(fbxtext.Key(4 * fbxtext.TICKS // sampled.EI_RATE, last.value + 30, last.flags, last.data))
            curve.store()
        now = self.edit(change)
        self.assertEqual(struct.unpack_from("<I", now), (6,))
        self.assertEqual(now[4:4 + 16 * 3], self.original[4:4 + 16 * 3])
        for frame in (4, 5):
            w, _, y, _ = struct.unpack_from("<4f", now, 4 + 16 * frame)
            self.assertAlmostEqual(2 * math.degrees(math.atan2(y, w)), 2 * math.degrees(0.2) + 30, 3)


del nytro.Nytro, sampled.EvilIslands, sampled.Midtown, sampled.VibRibbon  # their tests are run there

if __name__ == "__main__":
    unittest.main()
