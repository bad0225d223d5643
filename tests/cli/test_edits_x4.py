#!/usr/bin/env python3
"""What an artist does to X4 curves in an FBX besides moving one key: other kinds of tangents, keys added and deleted, whole
curves retimed. The file that comes back plays what the FBX plays, and what was not touched keeps its bytes."""
import importlib.util
import math
import os
import random
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program  # noqa: E402

spec = importlib.util.spec_from_file_location(
    "generate_x4", os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "generate", "x4_ani.py"))
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME, TCB = 1, 2, 5, 6, 7
PROPS = ("Lcl Translation", "Lcl Rotation", "Lcl Scaling")
THIRDS = 0x0D050D05


def smooth(key, slope, next_slope):
    """User tangents, broken, a third of the segment long."""
    key.flags, key.data[2], key.data[3] = 0xC08, THIRDS, 0
    key.set_number(0, slope)
    key.set_number(1, next_slope)


def curves(scene):
    return {where: curve for where, curve in scene.curves().items() if where[2] in PROPS}


class X4(EditCase):
    ending = "ani"

    def use(self, interps, **how):
        self.original = generate.of_interps(random.Random(str(interps)), interps, keys=7, tame=True, **how)

    def play_the_same(self):
        """The FBX and the file that came back."""
        self.keyferry("diff", "x.fbx", "y.ani")

    def keys_at(self, node, kind):
        """Where a list of keys of the original begins, and how many it has."""
        count, = struct.unpack_from("<i", self.original)
        at = 16 + 160 * count
        for d in range(count):
            name = self.original[16 + 160 * d:16 + 160 * d + 64].split(b"\0")[0].decode()
            for k, number in enumerate(struct.unpack_from("<5i", self.original, 16 + 160 * d + 128)):
                if (name, k) == (node, kind):
                    return at, number
                at += 128 * number
        raise KeyError(node)

    # ---------------------------------------------------------------- tangents

    def test_automatic_tangents(self):
        """Maya's auto, MotionBuilder's auto, clamped: slopes that FBX derives become handles."""
        for interps in ([LINEAR], [STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME]):
            for flags in (0x108, 0x1108, 0x2108, 0x6108):
                with self.subTest(interps=interps, flags=hex(flags)):
                    self.use(interps)

                    def change(scene):
                        for curve in curves(scene).values():
                            for key in curve.keys:
                                key.flags, key.data = flags, [0, 0, THIRDS, 0]
                            curve.store()
                    self.edit(change)
                    self.play_the_same()

    def test_one_automatic_key(self):
        self.use([BEZIER])

        def change(scene):
            curve = scene.curve("move", "part_1", "Lcl Translation", "y")
            curve.keys[3].flags, curve.keys[3].data = 0x108, [0, 0, THIRDS, 0]
            curve.store()
        now = self.edit(change)
        self.play_the_same()
        at, _ = self.keys_at("part_1", 0)
        # y: the key's two control points, and the incoming one of the key after it
        self.only(now, (at + 3 * 128 + 16, 4), (at + 3 * 128 + 44, 16), (at + 4 * 128 + 52, 8))

    def test_handle_beside_a_tcb_segment(self):
        """x arrives at its key 2 by TCB and leaves by Bezier: the handle that leaves is no matter of the numbers."""
        times = [0.0, 1.0, 2.0, 3.0]
        keys = []
        for i, (t, v) in enumerate(zip(times, (0.0, 2.0, 1.0, 3.0))):
            kind = (TCB, TCB, BEZIER, STEP)[i]
            keys.append(generate.key(t, (v, -v, v), kind, ((t + 0.3, v + 0.25, t - 0.3, v - 0.25),) * 3,
                                     (0.25, 0.0, -0.5, 0.0, 0.0)))
        self.original = generate.ani([generate.description("door", "open", 3.0, pos=keys)])

        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "x")
            curve.keys[2].set_number(0, curve.keys[2].number(0) + 2)
            curve.store()
        for options in ((), ("--tcb", "slopes")):
            with self.subTest(options):
                now = self.edit(change, *options)
                self.only(now, (16 + 160 + 2 * 128 + 28, 8)) # its first control point

    def test_slopes_of_one_component_leave_the_others(self):
        """x, y and z share tension, continuity and bias: a slope drawn on x must not bend y and z."""
        self.use([TCB], tcb=True)

        def change(scene):
            curve = scene.curve("move", "part_0", "Lcl Translation", "x")
            for key in curve.keys[2:4]: # both sides of key 3, no steeper than some tension would have it
                key.set_number(0, key.number(0) * 0.75)
                key.set_number(1, key.number(1) * 0.75)
            curve.store()
        now = self.edit(change, "--tcb", "slopes")
        self.assertNotIn("share", self.said)
        at, count = self.keys_at("part_0", 0)
        self.assertEqual(len(now), len(self.original))
        for k in range(count):
            was, new = (data[at + 128 * k:at + 128 * (k + 1)] for data in (self.original, now))
            self.assertEqual(new[76:96], was[76:96]) # the numbers
            self.assertEqual(new[4:12] + new[16:28] + new[44:76], was[4:12] + was[16:28] + was[44:76]) # y and z
        self.assertEqual(now[:at] + now[at + 128 * count:], self.original[:at] + self.original[at + 128 * count:])

    def test_keys_made_tcb(self):
        self.use([LINEAR])

        def change(scene):
            curve = scene.curve("move", "part_0", "Lcl Translation", "z")
            for key in curve.keys:
                key.flags, key.data = 0x208, [0] * 4
                key.set_number(0, 0.5)
            curve.store()
        now = self.edit(change)
        self.assertRegex(self.said, 'warning: .*"move".*"part_0".*the new TCB keys keep their numbers')
        at, count = self.keys_at("part_0", 0)
        for k in range(count):
            self.assertEqual(struct.unpack_from("<f", now, at + 128 * k + 76)[0], 0.5)
            if k + 1 < count:
                self.assertEqual(struct.unpack_from("<i", now, at + 128 * k + 20)[0], TCB)

    def test_tcb_beside_edits_is_told(self):
        self.use([TCB], tcb=True)

        def change(scene):
            curve = scene.curve("move", "part_0", "Lcl Translation", "x")
            curve.keys[3].value += 3
            curve.store()
        self.edit(change, "--tcb", "slopes")
        self.assertRegex(self.said, 'note: .*"part_0".*TCB keys keep their numbers')

    def fast(self, count, step, gap, kind):
        """Keys of a motion so fast that within a tenth of a millisecond it goes further than is tolerated."""
        points = generate.bezier_points([i * gap for i in range(count)], [(step * i, 0, 0) for i in range(count)])
        keys = [generate.key(i * gap, (step * i, 0, 0), kind if i + 1 < count else STEP, points[i] if kind == BEZIER else None)
                for i in range(count)]
        self.original = generate.ani([generate.description("door", "open", (count - 1) * gap, pos=keys)])
        self.where = "open", "door", "Lcl Translation", "x"

    def test_fast_motion_is_judged_on_time(self):
        """What it is off, which no hair sooner or later makes less: the figure is the one that diff tells."""
        for count, step, gap, edit in ((9, 10, 1 / 15, 0.2), (9, 10, 1 / 30, 0.4), (31, 1, 1 / 30, 0.05)):
            with self.subTest(gap=gap, edit=edit):
                self.fast(count, step, gap, TCB)
                self.edit(lambda scene: add(scene, self.where, count // 2, edit), "--tcb", "slopes")
                self.assertRegex(self.said, "warning: .* play this otherwise")
                off, = re.findall(r"otherwise than the FBX shows it, by (\S+),", self.said)
                found = self.keyferry("diff", "x.fbx", "y.ani", code=1).out.decode()
                worst = float(re.search(r"translation.x: worst (\S+)", found)[1])
                self.assertAlmostEqual(float(off), worst, delta=0.01 * worst)

    def test_times_rounded_by_a_program(self):
        """Keys that nobody moved stay where they were, and that is no other motion, however fast it is."""
        self.fast(9, 10, 1 / 30, BEZIER)

        def change(scene):
            by_a_program(scene)
            curve = scene.curve(*self.where)
            for key in curve.keys:
                key.time = round(key.time / fbxtext.TICKS, 4) * fbxtext.TICKS // 1
            curve.keys[4].value += 1
            curve.store()
        self.edit(change)
        self.assertIn("1 of 1 tracks changed", self.said)
        self.assertNotIn("otherwise", self.said)

    # ---------------------------------------------------------------- keys

    def test_keys_come_and_go(self):
        """With linear time a handle's slope hangs on its segment's length, which is another one then."""
        for interps in ([BEZIER_LINEAR_TIME], [STEP, LINEAR, BEZIER_LINEAR_TIME]):
            self.use(interps)

            def remove(scene):
                for where, curve in curves(scene).items():
                    if where[1] != "part_2":
                        curve.remove(2)
                        curve.store()

            def add(scene):
                for where, curve in curves(scene).items():
                    if where[1:] != ("part_1", "Lcl Rotation", "y"):
                        continue
                    a, b = curve.keys[3:5]
                    new = fbxtext.Key((a.time + b.time) // 2, a.value + 4, 0, [0] * 4)
                    smooth(new, 3.0, -2.0)
                    curve.keys.insert(4, new)
                    curve.store()
            for change in (remove, add):
                with self.subTest(interps=interps, change=change.__name__):
                    self.edit(change)
                    self.play_the_same()

    def test_key_added_behind_a_tcb_segment(self):
        """z's handles pass each other, so that y, too, is parted where it got no key, and its TCB segment before that is told by
        handles: these are the FBX's, and not what the numbers would make of the new key."""
        keys = []
        for t, v, kind in ((0, 0, TCB), (0.6, 2, TCB), (1, 1, BEZIER), (2, 4, LINEAR), (2.5, 3, STEP)):
            points = ((t + 0.2, v, t - 0.2, v), (t + 0.3, v - 0.4, t - 0.3, v), (t + 0.5, v, t - 0.9, v))
            keys.append(generate.key(t, (v, v, -v), (LINEAR, kind, BEZIER if t == 1 else LINEAR), points, (0.25, 0.0, -0.5, 0.0, 0.0)))
        self.original = generate.ani([generate.description("door", "open", 2.5, pos=keys)])

        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "y")
            new = fbxtext.Key(3 * fbxtext.TICKS // 2, 3.5, 0, [0] * 4)
            smooth(new, 1.0, 0.0)
            curve.keys.insert(3, new)
            curve.store()
        now = self.edit(change, "--tcb", "slopes")
        at, count = self.keys_at("door", 0)
        self.assertEqual([struct.unpack_from("<i", now, at + 128 * k + 16)[0] for k in range(2)], [TCB, BEZIER_LINEAR_TIME])
        self.assertEqual(len(now), len(self.original) + 2 * 128)
        self.assertNotIn("slopes follow", self.said)
        self.assertNotIn("otherwise", self.said)
        self.play_the_same()

    def test_key_added_within_a_tcb_segment(self):
        """The new key leaves by a handle, and the next one, which had none, arrives by the slope that it has in the FBX."""
        keys = [generate.key(t, (v, -v, 2 * v), TCB if t < 2 else STEP, tcb=(0.2, 0, -0.4, 0, 0))
                for t, v in ((0, 0), (0.5, 3), (1, 1), (1.5, 4), (2, 2))]
        self.original = generate.ani([generate.description("door", "open", 2.0, pos=keys)])
        slopes = []

        def change(scene):
            for axis in "xyz":
                curve = scene.curve("open", "door", "Lcl Translation", axis)
                slopes.append(curve.keys[1].number(1))
                new = fbxtext.Key(3 * fbxtext.TICKS // 4, 2.5, 0, [0] * 4)
                smooth(new, 1.0, curve.keys[1].number(1))
                curve.keys.insert(2, new)
                curve.store()
        now = self.edit(change, "--tcb", "slopes")
        at, _ = self.keys_at("door", 0)
        for c, slope in enumerate(slopes):
            self.assertEqual(struct.unpack_from("<i", now, at + 2 * 128 + 12 + 4 * c)[0], BEZIER_LINEAR_TIME)
            time, value = struct.unpack_from("<2f", now, at + 3 * 128 + 36 + 16 * c)
            own, = struct.unpack_from("<f", now, at + 3 * 128 + 4 * c)
            self.assertAlmostEqual((own - value) / (1 - time), slope, delta=1e-4 * abs(slope))

    def beside(self, now, at, count, gone):
        """The control points on either side of a key that is gone: those that left the one before it, and reached the one after
        it, as they were and as they are."""
        before, after = at + 128 * (gone - 1), at + 128 * (gone + 1)
        for c in range(3):
            for was, new in ((before + 28 + 16 * c, before + 28 + 16 * c), (after + 36 + 16 * c, after + 36 + 16 * c - 128)):
                yield c, struct.unpack_from("<2f", self.original, was), struct.unpack_from("<2f", now, new)

    def remove(self, gone, in_place):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("move", "part_0", "Lcl Translation", axis)
                curve.remove(gone, in_place)
                curve.store()
        now = self.edit(change)
        self.play_the_same()
        self.assertNotIn("handle", self.said)
        return now

    def test_handles_left_in_place_keep_their_bytes(self):
        """A key deleted by a program that keeps the handles beside it where they are, so that they are smaller shares of the
        longer segment: nothing but the key's record goes."""
        self.use([BEZIER])
        at, count = self.keys_at("part_0", 0)
        for gone in range(1, count - 1):
            now = self.remove(gone, True)
            self.assertEqual(now[at:], self.original[at:at + 128 * gone] + self.original[at + 128 * (gone + 1):])

    def test_handles_stretched_beside_a_key_that_is_gone(self):
        """And by one that keeps them the same share of the longer segment: these were drawn, so they are what the game gets."""
        self.use([BEZIER])
        at, count = self.keys_at("part_0", 0)
        times = [struct.unpack_from("<f", self.original, at + 128 * k + 24)[0] for k in range(count)]
        for gone in range(1, count - 1):
            now = self.remove(gone, False)
            for n, (c, was, new) in enumerate(self.beside(now, at, count, gone)):
                key = gone - 1 if n % 2 == 0 else gone + 1
                value, = struct.unpack_from("<f", self.original, at + 128 * key + 4 * c)
                longer = (times[gone + 1] - times[gone - 1]) / abs(times[gone] - times[key])
                for a, b, own in zip(was, new, (times[key], value)):
                    self.assertAlmostEqual(b - own, (a - own) * longer, delta=2e-4 * abs(a - own) * longer + 1e-6)
            rest = bytearray(self.original[at:at + 128 * gone] + self.original[at + 128 * (gone + 1):])
            for c in range(3): # but for those six, to the byte
                for place in (128 * (gone - 1) + 28 + 16 * c, 128 * gone + 36 + 16 * c):
                    rest[place:place + 8] = now[at + place:at + place + 8]
            self.assertEqual(now[at:], bytes(rest))

    def linear_time(self):
        """Control points of which the times are anything: they say nothing as long as time runs evenly."""
        times, values = (0.0, 1.0, 2.0), (0.0, 5.0, 1.0)
        self.original = generate.ani([generate.description("part_0", "move", 2.0, pos=[
            generate.key(t, (v, 0, -v), BEZIER_LINEAR_TIME, tuple((t + 0.2, c + 1.0, t - 0.2, c - 1.0) for c in (v, 0, -v)))
            for t, v in zip(times, values)], rot=[
            generate.key(t, (v / 7, 0, -v), BEZIER_LINEAR_TIME, tuple((t + 0.1, c + 0.3, t - 0.3, c - 0.3) for c in (v / 7, 0, -v)))
            for t, v in zip(times, values)])])
        return (self.keys_at("part_0", kind)[0] for kind in (0, 1))

    def test_slope_with_linear_time(self):
        """The value of its control point, which is all that counts."""
        for prop, at in zip(PROPS, self.linear_time()):
            for number, (key, point) in enumerate(((0, 28), (1, 36))):
                def change(scene):
                    curve = scene.curve("move", "part_0", prop, "x")
                    curve.keys[0].set_number(number, curve.keys[0].number(number) + 2)
                    curve.store()
                self.only(self.edit(change), (at + 128 * key + point + 4, 4))
                self.play_the_same()
                self.assertNotIn("warning", self.said)

    def test_weight_with_linear_time(self):
        """It is no linear time any more: the control point at the other end of the segment counts as a whole, and is where it was
        shown, at a third."""
        for prop, at in zip(PROPS, self.linear_time()):
            for flag, shift, (edited, other) in ((0x1000000, 0, (28, 128 + 36)), (0x2000000, 16, (128 + 36, 28))):
                for weight in 600, 6000, 9000:
                    def change(scene):
                        curve = scene.curve("move", "part_0", prop, "x")
                        key = curve.keys[0]
                        key.flags |= flag
                        key.data[2] = key.data[2] & ~(0xffff << shift) | weight << shift
                        curve.store()
                    now = self.edit(change)
                    self.only(now, (at + 12, 4), (at + edited, 8), (at + other, 4))
                    self.assertEqual(struct.unpack_from("<i", now, at + 12), (BEZIER,))
                    self.assertAlmostEqual(struct.unpack_from("<f", now, at + other)[0], 1 / 3 if other == 28 else 2 / 3, 6)
                    self.play_the_same()
                    self.assertNotIn("warning", self.said)

    def test_no_room_for_a_handle(self):
        """A new key so close that the handle of the one before it would reach beyond it."""
        self.use([BEZIER])

        def change(scene):
            for axis in "xyz":
                curve = scene.curve("move", "part_0", "Lcl Translation", axis)
                a, b = curve.keys[2:4]
                new = fbxtext.Key(a.time + (b.time - a.time) // 20, a.value + 0.5, 0, [0] * 4)
                smooth(new, 1.0, 0.0)
                curve.keys.insert(3, new)
                curve.store()
        now = self.edit(change)
        at, _ = self.keys_at("part_0", 0)
        after = struct.unpack_from("<f", now, at + 3 * 128 + 24)[0]
        for component in range(3):
            self.assertLessEqual(struct.unpack_from("<f", now, at + 2 * 128 + 28 + 16 * component)[0], after)

    def test_key_moved_past_its_neighbours_handle(self):
        """Where that has no room any more, it is what the FBX shows."""
        self.use([BEZIER])
        at, _ = self.keys_at("part_0", 0)
        for side, other in ((1, 4), (-1, 2)):
            def change(scene):
                for axis in "xyz":
                    curve = scene.curve("move", "part_0", "Lcl Translation", axis)
                    moved, beside = curve.keys[3], curve.keys[other]
                    moved.time = beside.time + (moved.time - beside.time) // 10
                    curve.store()
            now = self.edit(change)
            scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
            time, limit = (struct.unpack_from("<f", now, at + k * 128 + 24)[0] for k in (other, 3))
            for c, axis in enumerate("xyz"):
                word = scene.curve("move", "part_0", "Lcl Translation", axis).keys[min(3, other)].data[2] & 0xffffffff
                share = (word >> 16 if side > 0 else word & 0xffff) / 9999
                point, = struct.unpack_from("<f", now, at + other * 128 + (36 if side > 0 else 28) + 16 * c)
                self.assertAlmostEqual(point, time + share * (limit - time), 4)

    def test_retimed(self):
        """Every time half as long again, slopes as they were."""
        self.use([STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME])

        def change(scene):
            for curve in curves(scene).values():
                for key in curve.keys:
                    key.time = key.time * 3 // 2
                curve.store()
        self.edit(change)
        self.play_the_same()

    def test_moved_key_between_thirds(self):
        """Handles of a third of their segments have no length in an FBX: they are a third of what the segment is now."""
        self.original = (SOURCE / "tests/data/x4-ani/door.ani").read_bytes()

        def change(scene):
            for axis in "xyz":
                curve = scene.curve("door_open", "anim_door_left", "Lcl Translation", axis)
                curve.keys[1].time = fbxtext.TICKS * 4 // 5
                curve.store()
        now = self.edit(change)
        self.assertNotIn("warning", self.said)
        at, _ = self.keys_at("anim_door_left", 0)
        points = [struct.unpack_from("<f", now, at + offset)[0] for offset in (28, 128 + 36, 128 + 28, 2 * 128 + 36)]
        for found, wanted in zip(points, (0.8 / 3, 1.6 / 3, 0.8 + 0.2 / 3, 1 - 0.2 / 3)):
            self.assertAlmostEqual(found, wanted, 5)

    def test_moved_key(self):
        """Handles that a program keeps in their place, as points, stay as they are in the file and go with their key; those of which
        it keeps the shares have other lengths now, and both ends of both segments are as the FBX shows them."""
        self.use([BEZIER])
        at, _ = self.keys_at("part_0", 0)

        def change(scene):
            for axis in "xyz":
                curve = scene.curve("move", "part_0", "Lcl Translation", axis)
                by = (curve.keys[4].time - curve.keys[3].time) // 8
                if self.in_place:
                    curve.move(3, by)
                else:
                    curve.keys[3].time += by
                curve.store()
        for self.in_place in (True, False):
            now = self.edit(change)
            self.assertNotIn("warning", self.said)
            self.keyferry("diff", "x.fbx", "y.ani")
            parts = [(at + 3 * 128 + 24, 52)]
            if not self.in_place:
                parts += [(at + 2 * 128 + 28 + 16 * c, 8) for c in range(3)] + [(at + 4 * 128 + 36 + 16 * c, 8) for c in range(3)]
            self.only(now, *parts)

    # ---------------------------------------------------------------- ease

    def test_edited_stretch_with_ease(self):
        """Tangents of keys that stand for ease: that component follows, the others keep their ease."""
        self.use([TCB], tcb=True, ease=True)

        def change(scene):
            curve = scene.curve("move", "part_0", "Lcl Scaling", "y")
            for key in curve.keys[8:12]:
                key.flags = 0x404
            curve.store()
        now = self.edit(change, "--tcb", "slopes")
        self.assertNotEqual(now, self.original)
        self.assertIn("fitted anew", self.said)
        self.play_the_same()

    def test_helper_keys(self):
        """Keys that only tell ease, moved, turned or deleted: what was drawn comes home, however few they are."""
        rng = random.Random(11)
        edits = (lambda c, i: setattr(c.keys[i], "value", c.keys[i].value + 0.2),
                 lambda c, i: setattr(c.keys[i], "time", c.keys[i].time + (c.keys[i + 1].time - c.keys[i].time) // 3),
                 lambda c, i: c.keys[i].set_number(0, 1.5 * c.keys[i].number(0) + 0.5),
                 lambda c, i: c.remove(i))
        for prop in PROPS[:2]:
            times = (0.0, 0.7, 1.5, 2.1)
            keys = [generate.key(t, [rng.uniform(-2, 2) for _ in "xyz"], TCB if t < times[-1] else STEP,
                                 tcb=(*(rng.uniform(-0.5, 0.5) for _ in "tcb"), 0.3, 0.5)) for t in times]
            lists = {"pos": keys} if prop == PROPS[0] else {"rot": keys}
            self.original = generate.ani([generate.description("door", "open", times[-1], **lists)])
            for n in range(24):
                def change(scene):
                    curve = scene.curve("open", "door", prop, "xyz"[n % 3])
                    helpers = [i for i, k in enumerate(curve.keys) if min(abs(k.time / fbxtext.TICKS - t) for t in times) > 1e-5]
                    edits[n % 4](curve, helpers[n * len(helpers) // 24])
                    curve.store()
                now = self.edit(change, "--tcb", "slopes")
                self.assertNotEqual(now, self.original)
                self.play_the_same()

    def eased(self, **lists):
        """Four TCB keys with ease."""
        rng = random.Random(12)
        times = (0.0, 0.7, 1.5, 2.1)
        keys = [generate.key(t, [rng.uniform(-2, 2) for _ in "xyz"], TCB if t < times[-1] else STEP,
                             tcb=(*(rng.uniform(-0.5, 0.5) for _ in "tcb"), 0.3, 0.5)) for t in times]
        self.original = generate.ani([generate.description("door", "open", times[-1], pos=keys)])
        return times

    def test_slope_beside_helper_keys(self):
        """Of a key that is the game's own, where it leaves for one that only tells ease, or comes from one."""
        times = self.eased()
        for n in range(6):
            def change(scene):
                curve = scene.curve("open", "door", "Lcl Translation", "xyz"[n % 3])
                own = [i for i, k in enumerate(curve.keys) if min(abs(k.time / fbxtext.TICKS - t) for t in times) < 1e-5]
                self.assertEqual(len(own), len(times))
                if n % 2:
                    curve.keys[own[1 + n // 2] - 1].set_number(1, 4.0)
                else:
                    curve.keys[own[n // 2]].set_number(0, 6.0)
                curve.store()
            with self.subTest(n=n):
                self.edit(change, "--for", "maya")
                self.play_the_same()
                self.assertIn('note: take "open", node "door", translation at %.4f s: a slope was edited' % times[(n + 1) // 2], self.said)

    def test_value_beside_helper_keys(self):
        """It is all that changes; what the FBX shows between it and the helper keys is told, and how far off that is."""
        times = self.eased()
        for n, time in enumerate(times):
            def change(scene):
                curve = scene.curve("open", "door", "Lcl Translation", "y")
                key, = (k for k in curve.keys if abs(k.time / fbxtext.TICKS - time) < 1e-5)
                key.value += 0.5
                curve.store()
            with self.subTest(n=n):
                self.only(self.edit(change, "--for", "maya"), (16 + 160 + 128 * n + 4, 4))
                off, = re.findall(r"a key was edited or removed and the helper keys beside .* off the one in the FBX by (\S+)", self.said)
                found = self.keyferry("diff", "x.fbx", "y.ani", code=1).out.decode()
                self.assertAlmostEqual(float(re.search(r"translation.y: worst (\S+)", found)[1]), float(off), delta=0.05 * float(off))

    # ---------------------------------------------------------------- what stands beside the edit

    def with_tcb(self, times, odd):
        """Keys of every component TCB; `odd` {(key, number): bits} are written over the five numbers."""
        rng = random.Random("tcb")
        keys = []
        for i, time in enumerate(times):
            numbers = [rng.uniform(-1, 1) for _ in range(3)] + [rng.uniform(0, 0.4) for _ in range(2)]
            for n in range(5):
                numbers[n] = odd.get((i, n), numbers[n])
            keys.append(generate.key(generate.f32(time), [rng.uniform(-5, 5) for _ in range(3)], TCB, tcb=numbers))
        self.original = generate.ani([generate.description("a", "x", generate.f32(times[-1]), pos=keys)])
        return 16 + 160

    def test_numbers_that_are_none_stay_beside_edited_ones(self):
        bits = (generate.NAN_PAYLOAD, generate.NAN_NEGATIVE, generate.INFINITE, generate.NEGATIVE_ZERO, generate.NAN_SIGNALLING)
        for edited in range(3):
            for odd in set(range(5)) - {edited}:
                first = self.with_tcb([0.0, 0.5, 1.0, 1.5], {(1, odd): bits[odd]})

                def change(scene):
                    curve = scene.curve("x", "a", "Lcl Translation", "y")
                    curve.keys[1].set_number(edited, 0.625)
                    curve.store()
                self.only(self.edit(change), (first + 128 + 76 + 4 * edited, 4))

                def change_value(scene):
                    curve = scene.curve("x", "a", "Lcl Translation", "y")
                    curve.keys[1].value += 2
                    curve.store()
                self.only(self.edit(change_value), (first + 128 + 4, 4))

    def test_one_of_several_keys_at_one_time(self):
        for edited in range(1, 5):
            first = self.with_tcb([0.0, 0.5, 0.5, 0.5, 1.0, 1.5], {(2, 0): generate.NAN_PAYLOAD})

            def change(scene):
                curve = scene.curve("x", "a", "Lcl Translation", "z")
                curve.keys[edited].value += 2
                curve.keys[edited].set_number(2, 0.375)
                curve.store()
            self.only(self.edit(change), (first + 128 * edited + 8, 4), (first + 128 * edited + 84, 4))


    def test_bend_in_a_bake(self):
        """x alone, and all three, of keys that share T, C and B: on every frame what was drawn, few keys more, and nothing else."""
        rng = random.Random(3)
        frames = list(range(0, 240, 15))
        keys = [generate.key(generate.frame(f), [rng.uniform(-2, 2) for _ in "xyz"], TCB if f < frames[-1] else STEP,
                             tcb=(*(rng.uniform(-0.5, 0.5) for _ in "tcb"), 0.0, 0.0)) for f in frames]
        self.original = generate.ani([generate.description("door", "open", generate.frame(frames[-1]), pos=keys)])
        for axes in ("x", "xyz"):
            wanted = {}

            def change(scene):
                for axis in "xyz":
                    curve = scene.curve("open", "door", "Lcl Translation", axis)
                    for i, k in enumerate(curve.keys):
                        if axis in axes and 110 < i < 125:
                            k.value += 0.5 * math.sin(math.pi * (i - 110) / 15) ** 2
                    curve.store()
                    wanted[axis] = [k.value for k in curve.keys]
            now = self.edit(change, "--bake=30")
            self.keyferry("convert", "y.ani", "z.fbx", "--ascii", "-y", "--bake=30")
            scene = fbxtext.Scene((self.dir / "z.fbx").read_text())
            for axis in "xyz":
                found = [k.value for k in scene.curve("open", "door", "Lcl Translation", axis).keys]
                for i, (a, b) in enumerate(zip(wanted[axis], found)):
                    self.assertAlmostEqual(a, b, None, (axis, i), 4.1e-4)
            first, more = 16 + 160, (len(now) - len(self.original)) // 128
            self.assertLessEqual(more, 7)
            self.assertEqual(now[first:first + 128 * 6], self.original[first:first + 128 * 6])
            self.assertEqual(now[first + 128 * (11 + more):], self.original[first + 128 * 11:])

    def test_counts_are_those_of_the_file(self):
        """x, y and z are one key in the file, and counted so: edited in one or in all, moved whole, moved in x alone (then y and z
        stay behind), or taken away."""
        self.original = generate.ani([generate.description("door", "open", 0.8, pos=[
            generate.key(0.2 * i, (i % 2, 1 - i % 2, i % 3), LINEAR) for i in range(5)])])

        def change(axes, work):
            def changed(scene):
                for axis in axes:
                    curve = scene.curve("open", "door", "Lcl Translation", axis)
                    work(curve)
                    curve.store()
            return changed

        def value(curve):
            curve.keys[2].value += 1

        def time(curve):
            curve.keys[2].time += fbxtext.TICKS // 20

        def remove(curve):
            del curve.keys[2]
        for axes, work, said, more in (("x", value, "1 keys changed, 0 added, 0 removed", 0),
                                       ("xyz", value, "1 keys changed, 0 added, 0 removed", 0),
                                       ("xyz", time, "1 keys changed, 0 added, 0 removed", 0),
                                       ("x", time, "1 keys changed, 1 added, 0 removed", 1),
                                       ("xyz", remove, "0 keys changed, 0 added, 1 removed", -1)):
            now = self.edit(change(axes, work))
            self.assertIn(said, self.said)
            self.assertEqual(len(now), len(self.original) + 128 * more, said)

    def test_end_of_a_bake_taken_away(self):
        """What is left stands still from there on, edited or not, and so does the file; at the beginning it is the same."""
        self.original = (SOURCE / "tests" / "data" / "x4-ani" / "door.ani").read_bytes()
        where = ("door_close", "anim_door_left", "Lcl Translation", "x")
        for first, last, amount in ((0, -6, 0), (0, -6, 0.5), (0, -3, 0), (0, -3, 0.3), (9, None, 0)):
            wanted = []

            def change(scene):
                curve = scene.curve(*where)
                times = [k.time for k in curve.keys]
                curve.keys = curve.keys[first:last]
                for key in curve.keys[-4:] if amount else ():
                    key.value += amount
                left = {k.time: k.value for k in curve.keys}
                wanted.extend(left.get(t, curve.keys[0 if t < curve.keys[0].time else -1].value) for t in times)
                curve.store()
            self.edit(change, "--for", "blender")
            self.assertIn("1 of 8 tracks changed", self.said)
            self.assertNotIn("warning", self.said)
            self.keyferry("convert", "y.ani", "z.fbx", "--ascii", "-y", "--for", "blender")
            found = [k.value for k in fbxtext.Scene((self.dir / "z.fbx").read_text()).curve(*where).keys]
            self.assertEqual(len(found), len(wanted))
            tolerance = 1e-4 * (max(wanted) - min(wanted))
            for i, (a, b) in enumerate(zip(wanted, found)):
                self.assertAlmostEqual(a, b, None, (first, last, i), tolerance)


    def test_end_of_a_take_taken_away(self):
        """All curves and the span end sooner, baked or not, and so does the take: nothing is said against it."""
        self.original = (SOURCE / "tests" / "data" / "x4-ani" / "door.ani").read_bytes()
        end = 14 * fbxtext.TICKS // 15

        def change(scene):
            for curve in scene.curves().values():
                curve.keys = [k for k in curve.keys if k.time <= end]
                curve.store()
            for stack in scene.takes().values():
                for line in stack.first("Properties70").children:
                    if "Stop" in line.values[0]:
                        line.values[-1] = str(end)
        for program in False, True:
            def by(scene, program=program):
                change(scene)
                if program:
                    by_a_program(scene)
            self.edit(by, "--for", "blender", back=("--drop-missing",))
            self.assertNotIn("warning", self.said)
            for take in self.json("info", "y.ani", "--json")["takes"]:
                self.assertAlmostEqual(take["end"], 14 / 15, 6)

    def test_a_key_of_negative_zeros(self):
        """Taken from one component, it is still one of the others: the number that stands there is the same."""
        minus = generate.NEGATIVE_ZERO
        self.original = generate.ani([generate.description("a", "x", 2.0, rot=[
            generate.key(t, (minus, minus, minus), 2) for t in (0.0, 1.0, 2.0)])])

        def change(scene):
            curve = scene.curve("x", "a", "Lcl Rotation", "y")
            curve.remove(1)
            curve.store()
        self.assertEqual(self.edit(change), self.original)
        self.assertIn("0 of 1 tracks changed", self.said)


class Proved(EditCase):
    """What comes home is read again and held against the FBX. Behind an edited key stands one whose value is no number: it holds
    what is before it, in the game what was edited, in the FBX what was there when that was written."""
    ending = "ani"
    original = generate.ani([generate.description("part", "go", 4 / 15, pos=[
        generate.key(t / 15, (v, 0.0, 0.0), 2) for t, v in enumerate((0.0, 1.0, generate.NAN_PAYLOAD, 2.0, 0.5))])])
    WHERE = ("go", "part", "Lcl Translation", "x")

    def test_told(self):
        for there, key in (((), 1), (("--tcb", "slopes"), 1)):
            self.edit(lambda scene, key=key: add(scene, self.WHERE, key, 0.75), *there)
            self.assertRegex(self.said, r'warning: take "go", node "part", translation at 0\.1\d\d\d s: the file will play this '
                                        r"otherwise than the FBX shows it, by 0\.\d+, where 0\.0002\d* is tolerated", there)
            self.edit(lambda scene, key=key: add(scene, self.WHERE, key, 0.75), *there, back=("--strict",), code=1)

    def test_quiet(self):
        for there, key in (((), 4), (("--tcb", "slopes"), 4), (("--for", "blender"), 8)):
            self.edit(lambda scene, key=key: add(scene, self.WHERE, key, 0.75), *there)
            self.assertNotIn("warning", self.said)
            self.assertIn("1 of 1 tracks changed", self.said)


class ProvedOfNewNodes(EditCase):
    """No less what nobody wrote: radians of 32 bits are too coarse for so many turns."""
    ending = "ani"
    original = generate.ani([generate.description("part", "go", 0.5, rot=[
        generate.key(t, (0.1 * t, 0.0, 0.0), 2) for t in (0.0, 0.5)])])

    def turned(self, degrees):
        def change(scene):
            scene.clone("part", "more")
            curve = scene.curve("go", "more", "Lcl Rotation", "x")
            curve.keys[1].value = degrees
            curve.store()
        self.edit(change)
        return self.said

    def test_told(self):
        self.assertRegex(self.turned(1000003.3125), r'warning: take "go", node "more", rotation at 0\.5000 s: the format cannot hold this '
                                                    r"motion: what was written is 0\.04\d* off, where 0\.01 is tolerated")

    def test_quiet(self):
        self.assertNotIn("warning", self.turned(3.3125))


class ProvedBesideNumbers(EditCase):
    """A number edited on one key says another motion than the FBX's curves only around that key: elsewhere these count."""
    ending = "ani"
    original = generate.ani([generate.description("part", "go", 9 / 4, pos=[
        generate.key(t / 4, (4 * math.sin(1.3 * t), 0.3 * t, math.cos(t)), 7, tcb=(0.0, 0.0, 0.0, 0.3, 0.2)) for t in range(10)])])
    WHERE = ("go", "part", "Lcl Translation", "x")
    TOLD = r"translation at 1\.\d+ s: the file will play this otherwise than the FBX shows it, by 0\.\d+"

    @staticmethod
    def ease(scene):
        curve = scene.curve("go", "part", "kf_translation_ease_in", "kf_translation_ease_in")
        curve.keys[1].value = 0.55
        curve.store()

    def slope(self, scene):
        curve = scene.curve(*self.WHERE)
        smooth(curve.keys[7], 40.0, -30.0)
        curve.store()

    def test_told(self):
        self.edit(self.slope)
        self.assertRegex(self.said, self.TOLD)

        def both(scene):
            self.slope(scene)
            self.ease(scene)
        self.edit(both)
        self.assertRegex(self.said, self.TOLD)
        self.edit(both, back=("--strict",), code=1)

    def test_quiet(self):
        """Where the number bends the motion, nothing is asked of the curves."""
        for key in (0, 1, 2, 7, 9):
            def both(scene, key=key):
                add(scene, self.WHERE, key, 0.5)
                self.ease(scene)
            self.edit(both)
            self.assertNotIn("warning", self.said, key)
            self.assertIn("kf_translation_ease_in", self.said)


class LastKeys(EditCase):
    """In FBX a TCB key that is followed by one of another kind arrives there with no slope: so the kind of a last key shows."""
    ending = "ani"
    original = generate.ani([generate.description("part", "go", 1.0, pos=[
        generate.key(t / 4, (4 * math.sin(1.3 * t), 0.3 * t, math.cos(t)), 7, tcb=(0.0, 0.2, 0.3, 0.0, 0.0)) for t in range(5)])])
    RECORDS = len(original) - 5 * 128

    def test_kind(self):
        for flags in (2, 4, 0x408, 0xc08, 0x208):
            def change(scene, flags=flags):
                for axis in "xyz":
                    curve = scene.curve("go", "part", "Lcl Translation", axis)
                    curve.keys[4].flags = flags
                    curve.keys[4].data = curve.keys[4].data if flags == 0x208 else [0, 0, THIRDS, 0]
                    curve.store()
            now = self.edit(change)
            if flags == 0x208:
                self.assertEqual(now, self.original)
                continue
            self.only(now, (self.RECORDS + 3 * 128, 128), (self.RECORDS + 4 * 128, 128))
            cp2 = struct.unpack_from("<12f", now, self.RECORDS + 4 * 128 + 28)  # of x, y and z: cp1 and cp2, time and value each
            value = struct.unpack_from("<3f", now, self.RECORDS + 4 * 128)
            self.assertEqual(cp2[3::4], value, hex(flags))

    def test_what_is_told(self):
        """FBX bends the TCB keys at the other end, now as before: nobody edited these, so nothing is said of them."""
        for flags in (2, 4, 0xc08):
            for axes in ("x", "xyz"):
                def change(scene):
                    for axis in axes:
                        curve = scene.curve("go", "part", "Lcl Translation", axis)
                        curve.keys[4].flags, curve.keys[4].data = flags, [0, 0, THIRDS, 0]
                        curve.store()
                self.edit(change)
                self.assertNotIn("otherwise", self.said)

    def test_where_it_is_told(self):
        """Moved on one axis, it gives its own segment other slopes than FBX does."""
        def change(scene):
            curve = scene.curve("go", "part", "Lcl Translation", "x")
            curve.keys[4].time += fbxtext.TICKS // 8
            curve.store()
        self.edit(change)
        self.assertRegex(self.said, r"translation at (0\.[89]|1\.0)\d+ s: the file will play this otherwise than the FBX shows it, by 0\.\d+")
        self.edit(change, back=("--strict",), code=1)


if __name__ == "__main__":
    unittest.main()
