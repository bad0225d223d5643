"""Edits of rotations that a game keeps as orientations: keys taken out, added, moved; frames more and fewer."""
import json
import math
import os
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxtext  # noqa: E402
import motion  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
import test_edits_sampled as sampled  # noqa: E402
from command import SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program, each  # noqa: E402

TURN = "Lcl Rotation"
TURNS = [(0.0, None, (0, 0, 0, 1)), (1.0, None, (30, 0, 0, 1)), (2.0, None, (10, 0, 0, 1)), (3.0, None, (50, 0, 0, 1))]


def file(turns, kind=nytro.LINEAR):
    body = b"arm\0" + struct.pack("<4I", kind, 0, len(turns), 0) + b"".join(nytro.key(*k) for k in turns)
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


def beyond(case):
    """Rotations that the file plays otherwise than the FBX shows: by how much."""
    found = json.loads(case.keyferry("diff", "x.fbx", "y.nanim", "--json", code=None).out)["differences"]
    return [d["worst"] for d in found if d["channel"] == "rotation" and d["worst"] > d["limit"]]


class WholeTurns(EditCase):
    """Angles of more than half a turn are for the record: their keys are orientations as any others."""
    ending = "nanim"

    def frames(self, data):
        self.keyferry("convert", self.put("frames.nanim", data), "frames.fbx", "--bake=30", "-y")
        return [[k["v"] for k in t["keys"]] for t in self.json("dump", "frames.fbx")["takes"][0]["tracks"] if t["channel"] == "rotation"]

    def test_each_frame_of_a_bake(self):
        """One frame is turned: it is an edit, whichever it is; all others are where they were."""
        for kind, numbers in ((nytro.LINEAR, None), (nytro.TCB, (0, 0, 0, 0, 0))):
            keys = [(float(i), numbers, (angle, 0.6, 0, 0.8)) for i, angle in enumerate((10, 100, 200, 60))]
            self.original = file(keys, kind)
            was = self.frames(self.original)
            for frame in (*range(2, 8), 43, 44, 86):
                with self.subTest(kind=kind, frame=frame):
                    now = self.edit(lambda scene: add(scene, ("walk", "arm", TURN, "x"), frame, 10), "--for", "blender")
                    found = self.frames(now)
                    for axis, values in enumerate(was):
                        for i, value in enumerate(values):
                            self.assertAlmostEqual(found[axis][i], value + 10 * (axis == 0 and i == frame), None, (axis, i), 0.05)
                    self.assertNotIn("warning", self.said)
                    if kind == nytro.LINEAR:
                        self.assertIn("0 keys changed, 3 added, 0 removed", self.said)

    def test_nothing(self):
        self.original = file([(float(i), None, (angle, 0.6, 0, 0.8)) for i, angle in enumerate((10, -350, 400, 60))])
        for options in ((), ("--for", "blender"), ("--bake=300",)):
            self.assertEqual(self.edit(lambda scene: None, *options), self.original)


class Helpers(EditCase):
    """Keys between those of the game, as many as it takes to tell its way in angles: an edit of any of them is one."""
    ending = "nanim"
    original = file([(0.0, None, (20, 0, 0, 1)), (0.1, None, (200, 0.1, 0.99, 0.1)), (0.5, None, (80, 0.3, 0.9, -0.3)), (0.6, None, (-70, 0, 0.99, 0.1))])

    def test_each_of_them(self):
        counts = []
        self.edit(lambda scene: counts.append(len(scene.curve("walk", "arm", TURN, "x").keys)))
        self.assertGreater(counts[0], 12)
        for i in range(counts[0]):
            for axes in ("xyz", "y"):
                with self.subTest(key=i, axes=axes):
                    now = self.edit(lambda scene: [add(scene, ("walk", "arm", TURN, axis), i, 30) for axis in axes])
                    self.assertNotEqual(now, self.original, self.said)
                    if "note: " not in self.said and "warning: " not in self.said:
                        self.assertEqual(beyond(self), [])


class Long(EditCase):
    """Helper keys of a track with many TCB keys about changing axes."""
    ending = "nanim"

    def key(self, i):
        v = 0.8 * i
        axis = math.sin(0.7 * v + 1), math.cos(0.9 * v), math.sin(1.1 * v + 2) + 0.3
        length = math.hypot(*axis)
        return 0.2 * i, (0, 0, 0, 0, 0), (35 + 25 * math.sin(1.3 * v), *(a / length for a in axis))

    def move(self, count, *by):
        """Of a track with so many keys the helpers from the middle on are turned."""
        self.original = file([self.key(i) for i in range(count)], nytro.TCB)

        def change(scene):
            curve = scene.curve("walk", "arm", TURN, "y")
            helpers = [k for k in curve.keys if abs(5 * k.time / fbxtext.TICKS - round(5 * k.time / fbxtext.TICKS)) > 1e-3]
            for k, amount in zip(helpers[len(helpers) // 2:], by):
                k.value += amount
            curve.store()
        return self.edit(change)

    def test_many_helpers(self):
        """However wild it was drawn there, the keys stay what they are, and what was not edited plays as it did."""
        for by in ((18, -19, 17), (15, -12, 18, -9, 19, -17, 11, -20)):
            with self.subTest(by=by):
                self.move(20, *by)
                self.assertNotIn("LINEAR", self.said)
                self.assertNotIn("warning", self.said)
                self.assertLess(int(re.search(r"(\d+) added", self.said)[1]), 200)
                self.assertEqual(beyond(self), [])

    def test_one_helper(self):
        """What lies far from it stays, however long the track is."""
        now = self.move(1100, 30)
        self.assertNotIn("warning", self.said)
        self.assertNotIn("LINEAR", self.said)
        changed, added, removed = map(int, re.search(r"(\d+) keys changed, (\d+) added, (\d+) removed", self.said).groups())
        self.assertLess(changed + removed, 50)
        self.assertLess(added, 150)
        self.assertEqual(beyond(self), [])
        self.assertEqual(now[200:20000], self.original[200:20000])  # the first third, behind the counts of keys
        self.assertEqual(now[-20000:], self.original[-20000:])


class Fast(EditCase):
    """Turns of more than a hundred degrees in a fraction of a second, with ease."""
    ending = "nanim"
    original = file([(0, (0.303, -0.085, -0.134, 0, 0.395), (78.042, -0.253, -0.964, 0.085)),
                     (11 / 30, (-0.377, -0.277, -0.346, 0.502, 0.15), (17.481, 0.115, -0.628, 0.77)),
                     (23 / 30, (0,) * 5, (-99.411, 0.35, -0.306, 0.886)),
                     (0.9, (0.535, 0.083, 0.077, 0.488, 0), (32.292, -0.413, -0.542, 0.732)),
                     (35 / 30, (0,) * 5, (109.999, -0.389, -0.782, 0.487))], nytro.TCB)

    def test_one_helper(self):
        """Keys beside it have no numbers for it: those before them are told anew, too, and all in TCB keys."""
        def change(scene):
            for axis in "yz":
                curve = scene.curve("walk", "arm", TURN, axis)
                curve.keys[18].value += 0.5
                curve.store()
        self.edit(change)
        self.assertNotIn("LINEAR", self.said)
        self.assertNotIn("warning", self.said)
        self.assertLess(int(re.search(r"(\d+) added", self.said)[1]), 80)
        self.assertEqual(beyond(self), [])


    def test_little_ease(self):
        """It brakes within two milliseconds: that stays, whether it is beside the edit or in it."""
        self.original = file([(0, (0,) * 5, (78, -0.253, -0.964, 0.085)), (0.8, (0,) * 5, (17, 0.115, -0.628, 0.77)),
                              (1.5, (0, 0, 0, 0.003, 0), (-99, 0.35, -0.306, 0.886)), (1.7, (0,) * 5, (32, -0.413, -0.542, 0.732)),
                              (2.3, (0,) * 5, (110, -0.389, -0.782, 0.487))], nytro.TCB)
        for key in (3, -3, -8):
            with self.subTest(key=key):
                self.edit(lambda scene: add(scene, ("walk", "arm", TURN, "y"), key, 5))
                self.assertNotIn("LINEAR", self.said)
                self.assertNotIn("warning", self.said)
                self.assertEqual(beyond(self), [])


class Jumps(EditCase):
    """Several keys at one time."""
    ending = "nanim"

    def test_drawn_before_and_behind(self):
        """They stay what they are, and what was drawn beside them is told in TCB keys as anywhere."""
        x, y, z = (1, 0, 0), (0.6, 0.8, 0), (0, 0, 1)
        turns = ((0, 10, x), (0.7, 30, y), (1.3, -20, z), (1.43, 40, y), (1.43, 80, z), (1.43, -15, x), (2, 30, y), (3, 10, z))
        for kind, count, index in ((nytro.TCB, 6, 1), (nytro.TCB, 8, 1), (nytro.TCB, 8, -2), (nytro.LINEAR, 6, 1)):
            keys = [(t, (0,) * 5, (angle, *axis)) if kind == nytro.TCB else (t, None, (3 * angle, *axis)) for t, angle, axis in turns[:count]]
            self.original = file(keys, kind)

            def change(scene, index=index):
                curve = scene.curve("walk", "arm", TURN, "x")
                curve.keys[index].value -= 5
                curve.store()
            with self.subTest(kind=kind, count=count, index=index):
                now = self.edit(change)
                for k in keys[3:5] if index < 0 else keys[3:]:
                    self.assertIn(nytro.key(*k)[-16:], now)
                self.assertNotIn("LINEAR", self.said)
                self.assertEqual(beyond(self), [])


class Steps(EditCase):
    """A hold drawn where the format has none: the jump takes a moment, and all around it is as it was drawn."""
    ending = "nanim"

    def hold(self, index):
        def change(scene):
            def work(curve):
                curve.keys[index].flags = 0x2
            each(scene, "walk", "hip", TURN, work)
        return self.edit(change)

    def keys(self, data):
        self.put("now/x.nanim", data)
        anim = self.json("dump", "now/x.nanim")
        return next(t["keys"] for t in anim["takes"][0]["tracks"] if t["channel"] == "rotation" and anim["nodes"][t["node"]]["name"] == "hip")

    def test_jump(self):
        for name, index in (("linear", 1), ("tcb", 2)):
            with self.subTest(name=name):
                self.original = (SOURCE / "tests/data/nytro-anim" / (name + ".nanim")).read_bytes()
                was = self.keys(self.original)
                now = self.keys(self.hold(index))
                self.assertRegex(self.said, r'node "hip", rotation: the format has no such steps: jumps take up to a millisecond \(1, the first at')
                self.assertNotIn("otherwise", self.said)
                self.assertEqual(now[-1]["q"], was[-1]["q"])  # the pose that it jumps to
                self.assertLess(min(b["t"] - a["t"] for a, b in zip(now, now[1:])), 1e-3)


    def test_a_move(self):
        """A step on a TCB key, whose numbers would be others for x, y and z: keys are put in, and what is before it stays."""
        self.original = (SOURCE / "tests/data/nytro-anim/tcb.nanim").read_bytes()

        def work(curve):
            curve.keys[1].flags = 0x2
        self.edit(lambda scene: each(scene, "walk", "hip", "Lcl Translation", work), "--tcb", "slopes")
        self.assertIn("the format has no such steps: jumps take up to a millisecond (1, the first at 0.3167 s)", self.said)
        self.assertRegex(self.said, r"translation from 0\.0000 s: \d keys were added")
        self.assertNotIn("numbers", self.said)
        self.assertNotIn("otherwise", self.said)


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

class Inserted(EditCase):
    """A key put between TCB keys gives them other neighbours, by which their numbers bend what nobody edited: the FBX says how it
    turns there."""
    ending = "nanim"
    original = file([(t / 4, (0.2, 0.0, 0.1, 0.0, 0.0), (40 * math.sin(1.7 * t), math.cos(t), math.sin(2 * t), 1)) for t in range(10)], nytro.TCB)

    def insert(self, time, off):
        def change(scene):
            def work(curve):
                at = int(time * fbxtext.TICKS)
                keys = [(k.time / fbxtext.TICKS, k.value, k.flags, k.data) for k in curve.keys]
                before, value, behind = (motion.fbx_value(keys, time + by) for by in (-1e-6, 0, 1e-6))
                index = next(i for i, key in enumerate(curve.keys) if key.time > at)
                slope = (behind - before) / 2e-6
                left = curve.keys[index - 1]
                new = fbxtext.Key(at, value + off, 0xc08, [0, left.data[1], 0x0d050d05, 0])
                new.set_number(0, slope)
                left.set_number(1, slope)
                left.flags |= 0xc00
                curve.keys.insert(index, new)
            each(scene, "walk", "arm", TURN, work)
        return change

    def test_turned(self):
        for time, off in ((1.87, 5), (1.1, 5), (0.6, -2)):
            self.edit(self.insert(time, off))
            self.assertNotIn("warning", self.said)
            self.keyferry("diff", "x.fbx", "y.nanim", "--tolerance", "0.02")

    def test_end_removed(self):
        """The key beside it is an end now, and has other slopes by its numbers."""
        for first, last in ((0.25, 2.25), (0, 2)):
            def change(scene, first=first, last=last):
                def work(curve):
                    curve.keys = [key for key in curve.keys if first - 1e-6 < key.time / fbxtext.TICKS < last + 1e-6]
                each(scene, "walk", "arm", TURN, work)
            self.edit(change)
            self.assertNotIn("otherwise than the FBX shows", self.said)

    def test_in_place(self):
        """Nothing turns otherwise: there is nothing to tell in keys."""
        self.assertEqual(self.edit(self.insert(1.87, 0)), self.original)
        self.assertIn("rotation at 1.8700 s: a new key there changes nothing", self.said)


class Lock(EditCase):
    """Near the lock programs tell the first and the third angle badly, but not where the axis of the first points."""
    ending = "nanim"
    original = file([(0.0, None, (0, 0, 0, 1)), (0.5, None, (80, 0, 1, 0)), (1.0, None, (88, 0, 1, 0)), (2.0, None, (0, 0, 0, 1))])

    def middle(self, data):
        self.put("now/x.nanim", data)
        track, = self.json("dump", "now/x.nanim")["takes"][0]["tracks"]
        q, = (k["q"] for k in track["keys"] if abs(k["t"] - 1) < 1e-4)
        return 2 * math.degrees(math.atan2(q[2], q[0]))

    def test_turned_to_the_lock(self):
        def change(scene):
            by_a_program(scene)
            add(scene, ("walk", "arm", TURN, "y"), 30, to - 88)
        for to in (88.5, 89.999, 90.001, 90.5):
            with self.subTest(to=to):
                self.assertAlmostEqual(self.middle(self.edit(change, "--for", "blender")), to, delta=0.02)

    def test_what_the_lock_loses(self):
        """Both angles further by as much as 32 bits leave open: the same orientation."""
        self.original = file([(0.0, None, (0, 0, 0, 1)), (0.5, None, (80, 0, 1, 0)), (1.0, None, (89.999, 0, 1, 0)), (2.0, None, (0, 0, 0, 1))])

        def change(scene):
            by_a_program(scene)
            add(scene, ("walk", "arm", TURN, "x"), 30, 0.5)
            add(scene, ("walk", "arm", TURN, "z"), 30, -0.5)
        self.assertEqual(self.edit(change, "--for", "blender"), self.original)


if __name__ == "__main__":
    unittest.main()
