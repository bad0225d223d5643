"""An artist's edits come home: one thing changed in the FBX, and in the game's file exactly the bytes that must.

The FBX is edited as text, by code that shares nothing with the library (tests/lib/fbxtext.py)."""
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402

KEYFERRY = os.environ["KEYFERRY"]
STEP, LINEAR, BEZIER, HERMITE, TCB = 1, 2, 5, 6, 7


def key(value, interp, time, cp=None, tcb=(0, 0, 0, 0, 0)):
    """One 128-byte X4 key. cp: for each component (out x, out y, in x, in y), absolute."""
    points = []
    for c in range(3):
        points += cp[c] if cp else (time, value[c], time, value[c])
    return struct.pack("<3f3if12f5fi6fI", *value, *interp, time, *points, *tcb, 0, *[0.0] * 6, 0)


def ani(descriptions):
    """(name, take, duration, (pos keys, rot keys, scale keys)) each."""
    head = struct.pack("<4i", len(descriptions), 16 + 160 * len(descriptions), 1, 0)
    table = keys = b""
    for name, take, duration, lists in descriptions:
        table += struct.pack("<64s64s5if2i", name, take, len(lists[0]), len(lists[1]), len(lists[2]), 0, 0, duration, 0, 0)
        keys += b"".join(b"".join(part) for part in lists)
    return head + table + keys


def bezier(time, value, before, after):
    """Handles a fifth of a second long, flat."""
    return [(time + after, v + 0.1, time - before, v - 0.2) for v in value]


def bezier_keys():
    values = [(0.0, 1.0, 2.0), (4.0, -3.0, 2.5), (1.5, 0.25, -7.0), (3.0, 2.0, 1.0)]
    times = [0.0, 1.0, 2.5, 3.0]
    return [key(v, (BEZIER,) * 3 if t < 3 else (STEP,) * 3, t, bezier(t, v, 0.2, 0.2)) for v, t in zip(values, times)]


def tcb_keys():
    values = [(0.0, 0.5, 1.0), (1.0, -0.5, 0.25), (0.3, 0.2, -1.0), (0.0, 0.0, 0.0)]
    return [key(v, (TCB,) * 3 if i < 3 else (STEP,) * 3, float(i), tcb=(0.25, -0.5, 0.125, 0, 0))
            for i, v in enumerate(values)]


class Edits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.original = ani([(b"door", b"open", 3.0, (bezier_keys(), tcb_keys(), [])),
                             (b"lamp", b"open", 3.0, (bezier_keys(), [], bezier_keys())),
                             (b"door", b"close", 3.0, (bezier_keys(), [], []))])
        with open(self.path("in.ani"), "wb") as f:
            f.write(self.original)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_keyferry(self, *args):
        done = subprocess.run([KEYFERRY, *args], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, "%s\n%s" % (args, done.stderr))
        return done

    def edit(self, change, *options, back=()):
        """The file that comes back after `change(scene)`."""
        self.run_keyferry("convert", self.path("in.ani"), self.path("a.fbx"), "--ascii", "-y", *options)
        with open(self.path("a.fbx")) as f:
            scene = fbxtext.Scene(f.read())
        change(scene)
        with open(self.path("b.fbx"), "w") as f:
            f.write(scene.text())
        self.report = self.run_keyferry("convert", self.path("b.fbx"), self.path("out.ani"), "-y", *back)
        with open(self.path("out.ani"), "rb") as f:
            return f.read()

    # Where things are: three descriptions, then their keys.
    TABLE = 16
    KEYS = 16 + 3 * 160

    def record(self, description, channel, index):
        counts = [(4, 4, 0), (4, 0, 4), (4, 0, 0)]
        before = sum(sum(c) for c in counts[:description]) + sum(counts[description][:channel]) + index
        return self.KEYS + 128 * before

    def changed_bytes(self, out):
        self.assertEqual(len(out), len(self.original))
        return [i for i in range(len(out)) if out[i] != self.original[i]]

    def assert_only(self, out, *ranges):
        places = self.changed_bytes(out)
        self.assertTrue(places, "nothing changed")
        for i in places:
            self.assertTrue(any(a <= i < b for a, b in ranges), "byte %d changed" % i)

    def floats(self, out, at, count):
        return struct.unpack_from("<%df" % count, out, at)

    def test_nothing(self):
        for options in ((), ("--tcb", "slopes"), ("--bake",), ("--for", "blender")):
            with self.subTest(options=options):
                self.assertEqual(self.edit(lambda scene: None, *options), self.original)

    def test_value_of_a_bezier_key(self):
        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "y")
            curve.keys[1].value += 2.0
            curve.store()
        out = self.edit(change)
        at = self.record(0, 0, 1)
        # ValueY, and the control points of y that move along.
        self.assert_only(out, (at + 4, at + 8), (at + 28 + 20, at + 28 + 24), (at + 28 + 28, at + 28 + 32))
        self.assertAlmostEqual(self.floats(out, at + 4, 1)[0], -1.0, 6)
        self.assertAlmostEqual(self.floats(out, at + 28 + 20, 1)[0], -0.9, 5)

    def test_time(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("open", "door", "Lcl Translation", axis)
                curve.move(1, fbxtext.TICKS // 4)
                curve.store()
        out = self.edit(change)
        at = self.record(0, 0, 1)
        self.assert_only(out, (at, at + 128))
        self.assertAlmostEqual(self.floats(out, at + 24, 1)[0], 1.25, 6)
        self.assertNotIn("warning", self.report.stderr)

    def test_tangent(self):
        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "x")
            curve.keys[1].set_number(0, 3.0)  # right slope
            curve.keys[1].flags |= 0x800
            curve.store()
        out = self.edit(change)
        at = self.record(0, 0, 1)
        self.assert_only(out, (at + 28, at + 36))  # CPX1
        x, y = self.floats(out, at + 28, 2)
        self.assertAlmostEqual((y - 4.0) / (x - 1.0), 3.0, 3)

    def test_tcb_numbers(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("open", "door", "Lcl Rotation", axis)
                curve.keys[1].set_number(0, 0.75)
                curve.keys[1].set_number(2, -0.5)
                curve.store()
        out = self.edit(change)
        at = self.record(0, 1, 1)
        self.assert_only(out, (at + 76, at + 96))
        self.assertEqual(self.floats(out, at + 76, 5), (0.75, -0.5, -0.5, 0.0, 0.0))

    def test_value_of_a_tcb_key_leaves_its_numbers(self):
        for options in ((), ("--tcb", "slopes")):
            def change(scene):
                curve = scene.curve("open", "door", "Lcl Rotation", "z")
                curve.keys[2].value += 10.0
                curve.store()
            with self.subTest(options=options):
                out = self.edit(change, *options)
                at = self.record(0, 1, 2)
                # ValueZ; the control points of z, which lie on it, go with it.
                self.assert_only(out, (at + 8, at + 12), (at + 60, at + 76))

    def test_key_added(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("close", "door", "Lcl Translation", axis)
                curve.insert(2, fbxtext.Key(fbxtext.TICKS * 2, 9.0, 4, [0, 0, 0, 0]), in_place=True)
                curve.store()
        out = self.edit(change)
        self.assertEqual(len(out), len(self.original) + 128)
        at = self.record(2, 0, 2)
        self.assertEqual(out[at + 128:], self.original[at:])
        self.assertEqual(self.floats(out, at, 3), (9.0, 9.0, 9.0))
        self.assertEqual(struct.unpack_from("<3i", out, at + 12), (LINEAR,) * 3)
        count = self.TABLE + 2 * 160 + 128
        for i in [i for i in range(at) if out[i] != self.original[i]]:
            self.assertTrue(count <= i < count + 4, "byte %d changed" % i)
        self.assertEqual(struct.unpack_from("<i", out, count)[0], 5)

    def test_key_of_one_component(self):
        """x, y and z share their keys. A key on x alone splits y and z, whose shape stays, TCB or not."""
        def shown(name):
            self.run_keyferry("convert", self.path(name), self.path("c.fbx"), "--ascii", "-y", "--bake=300")
            with open(self.path("c.fbx")) as f:
                scene = fbxtext.Scene(f.read())
            return [[k.value for k in scene.curve("open", "door", prop, axis).keys]
                    for prop in ("Lcl Translation", "Lcl Rotation") for axis in "yz"]

        def change(scene):
            for prop in ("Lcl Translation", "Lcl Rotation"):
                curve = scene.curve("open", "door", prop, "x")
                curve.keys.insert(2, fbxtext.Key(fbxtext.TICKS * 3 // 2, 9.0, 4, [0, 0, 0, 0]))
                curve.store()
        out = self.edit(change)
        self.assertEqual(len(out), len(self.original) + 2 * 128)
        for was, now in zip(shown("in.ani"), shown("out.ani")):
            self.assertEqual(len(was), len(now))
            self.assertLess(max(abs(a - b) for a, b in zip(was, now)), 1e-4)

    def test_key_removed(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("close", "door", "Lcl Translation", axis)
                curve.remove(2, in_place=True)
                curve.store()
        out = self.edit(change)
        self.assertNotIn("handle", self.report.stderr)
        self.assertEqual(len(out), len(self.original) - 128)
        at = self.record(2, 0, 2)
        self.assertEqual(out[at:], self.original[at + 128:])
        count = self.TABLE + 2 * 160 + 128
        for i in [i for i in range(at) if out[i] != self.original[i]]:
            self.assertTrue(count <= i < count + 4, "byte %d changed" % i)

    def test_node_dropped_is_kept_unless_told(self):
        def change(scene):
            scene.remove(scene.models()["lamp"])
        self.assertEqual(self.edit(change), self.original)
        self.assertIn("did not come back", self.report.stderr)
        out = self.edit(change, back=("--drop-missing",))
        self.assertLess(len(out), len(self.original))
        self.assertNotIn(b"lamp", out)

    def test_node_added(self):
        """A new description for each take, behind the others; those keep their bytes."""
        out = self.edit(lambda scene: scene.clone("lamp", "bell"))
        self.assertEqual(len(out), len(self.original) + 160 + 8 * 128)
        self.assertEqual(struct.unpack_from("<2i", out), (4, 16 + 4 * 160))
        self.assertEqual(out[8:self.KEYS], self.original[8:self.KEYS])
        self.assertEqual(out[self.KEYS + 160:len(self.original) + 160], self.original[self.KEYS:])
        name, take, *counts = struct.unpack_from("<64s64s5i", out, self.KEYS)
        self.assertEqual((name.rstrip(b"\0"), take.rstrip(b"\0"), counts), (b"bell", b"open", [4, 0, 4, 0, 0]))
        for i in range(4):  # values, interpolations but for the last, time
            was, now = self.record(1, 0, i), len(self.original) + 160 + 128 * i
            self.assertEqual(out[now:now + 28], self.original[was:was + 28])

    def test_ease(self):
        """Ease has no place in an FBX key: it is a property of its own."""
        eased = [key(v, (TCB,) * 3 if i < 3 else (STEP,) * 3, float(i), tcb=(0, 0, 0, 0.25, 0.5 * (i == 1)))
                 for i, v in enumerate([(0, 0, 0), (1, 2, 3), (2, 0, 1), (0, 1, 0)])]
        self.original = ani([(b"door", b"open", 3.0, (eased, [], []))])
        with open(self.path("in.ani"), "wb") as f:
            f.write(self.original)
        for name, field in (("kf_translation_ease_in", 88), ("kf_translation_ease_out", 92)):
            def change(scene):
                curve = scene.curve("open", "door", name, name)
                curve.keys[1].value = 0.75
                curve.store()
            out = self.edit(change)
            at = 16 + 160 + 128 + field
            self.assertEqual(out, self.original[:at] + struct.pack("<f", 0.75) + self.original[at + 4:])

    def test_moved_helper_key_refits_its_segment(self):
        eased = [key(v, (TCB,) * 3 if i < 3 else (STEP,) * 3, float(i), tcb=(0, 0, 0, 0, 0.5 * (i == 1)))
                 for i, v in enumerate([(0, 0, 0), (1, 2, 3), (2, 0, 1), (0, 1, 0)])]
        self.original = ani([(b"door", b"open", 3.0, (eased, [], []))])
        with open(self.path("in.ani"), "wb") as f:
            f.write(self.original)

        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "y")
            self.assertGreater(len(curve.keys), 4)
            helper = next(k for k in curve.keys if fbxtext.TICKS < k.time < 2 * fbxtext.TICKS)
            helper.value += 0.25
            curve.store()
        out = self.edit(change, "--tcb", "slopes")
        self.assertIn("fitted anew", self.report.stderr)
        self.run_keyferry("diff", self.path("b.fbx"), self.path("out.ani"))  # y as drawn, x and z as before
        first = 16 + 160
        grown = (len(out) - len(self.original)) // 128
        self.assertGreaterEqual(grown, 1)
        # y was drawn with handles. x and z get the new keys, too, and keep their slopes beside them by handles.
        self.assertEqual(struct.unpack_from("<3i", out, first + 12), (HERMITE,) * 3)
        self.assertEqual(out[first:first + 12] + out[first + 76:first + 128],
                         self.original[first:first + 12] + self.original[first + 76:first + 128])
        last = len(out) - 128
        self.assertEqual(out[last:last + 28] + out[last + 76:], self.original[-128:-100] + self.original[-52:])
        self.assertEqual(self.edit(lambda scene: None, "--tcb", "slopes"), self.original)

    def test_ease_beside_an_edit(self):
        """x is bent in a bake and needs keys more; y and z, which share them, play as before although ease is no cubic."""
        eased = [key(v, (TCB,) * 3 if i < 4 else (STEP,) * 3, float(i), tcb=(0, 0, 0, 0.25, 0.5 * (i == 1)))
                 for i, v in enumerate([(0, 0, 0), (1, 2, 3), (2, 0, 1), (0, 1, 0), (1, 1, 1)])]
        self.original = ani([(b"door", b"open", 4.0, (eased, [], []))])
        with open(self.path("in.ani"), "wb") as f:
            f.write(self.original)

        def shown(name, axis):
            self.run_keyferry("convert", self.path(name), self.path("c.fbx"), "--ascii", "-y", "--bake=300")
            with open(self.path("c.fbx")) as f:
                return [k.value for k in fbxtext.Scene(f.read()).curve("open", "door", "Lcl Translation", axis).keys]

        def bend(t):
            return math.sin((t - 1) * math.pi) ** 2 if 1 < t < 2 else 0.0

        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "x")
            for k in curve.keys:
                k.value += bend(k.time / fbxtext.TICKS)
            curve.store()
        self.assertEqual(self.edit(lambda scene: None, "--bake=30"), self.original)
        out = self.edit(change, "--bake=30")
        self.assertIn("so that segments with ease play as before", self.report.stderr)
        self.assertLess((len(out) - len(self.original)) // 128, 40)
        for axis, more in (("x", bend), ("y", None), ("z", None)):
            for i, (was, now) in enumerate(zip(shown("in.ani", axis), shown("out.ani", axis))):
                if not more or i % 10 == 0:  # between its samples nobody knows the bent one
                    self.assertLess(abs(now - was - (more(i / 300) if more else 0)), 5e-4, (axis, i / 300))

    def test_stretched(self):
        """Every time doubled and every slope halved: times, and what goes with them; values and numbers stay."""
        def change(scene):
            for curve in scene.curves().values():
                for k in curve.keys:
                    k.time *= 2
                    if k.flags & 0x8 and not k.flags & 0x200:
                        k.set_number(0, k.number(0) / 2)
                        k.set_number(1, k.number(1) / 2)
                curve.store()
        for options in ((), ("--tcb", "slopes")):
            out = self.edit(change, *options)
            self.assertEqual(len(out), len(self.original))
            for at in range(self.KEYS, len(out), 128):
                self.assertEqual(out[at:at + 24], self.original[at:at + 24])
                self.assertEqual(self.floats(out, at + 24, 1)[0], 2 * self.floats(self.original, at + 24, 1)[0])
                self.assertEqual(self.floats(out, at + 28, 12)[1::2], self.floats(self.original, at + 28, 12)[1::2])
                self.assertEqual(out[at + 76:at + 128], self.original[at + 76:at + 128])
            for at in range(self.TABLE, self.KEYS, 160):
                self.assertEqual(struct.unpack_from("<f", out, at + 148), (6.0,))

    def test_saved_twice(self):
        """An FBX that Keyferry wrote anew: edits are edits, and another program's rounding is none."""
        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "y")
            curve.keys[1].value += 2.0
            curve.store()
        edited = self.edit(change)
        self.run_keyferry("convert", self.path("b.fbx"), self.path("c.fbx"), "-y")
        self.run_keyferry("convert", self.path("c.fbx"), self.path("out.ani"), "-y")
        with open(self.path("out.ani"), "rb") as f:
            self.assertEqual(f.read(), edited)

        def round_off(scene):
            for curve in scene.curves().values():
                for k in curve.keys:
                    k.value = k.value * (1 + 3e-7) + 2e-6
                curve.store()
            head = scene.root.first("FBXHeaderExtension").first("SceneInfo").first("Properties70")
            for p in head.children:
                if p.values[0].endswith('|ApplicationName"'):
                    p.values[4] = '"Blender (stable FBX IO)"'
        self.assertEqual(self.edit(round_off), self.original)
        for again in range(2):
            self.run_keyferry("convert", self.path("b.fbx"), self.path("c.fbx"), "-y")
            self.run_keyferry("convert", self.path("c.fbx"), self.path("b.fbx"), "-y", "--ascii")
            self.run_keyferry("convert", self.path("b.fbx"), self.path("out.ani"), "-y")
            with open(self.path("out.ani"), "rb") as f:
                self.assertEqual(f.read(), self.original)

    def test_split_takes(self):
        """Each take an FBX of its own, edited, and all back into one file; in any order, or one alone."""
        self.run_keyferry("convert", self.path("in.ani"), self.path("s.fbx"), "--split-takes", "--ascii", "-y")
        for n, take, index in ((1, "open", 1), (2, "close", 2)):
            with open(self.path("s.take%02d.fbx" % n)) as f:
                scene = fbxtext.Scene(f.read())
            curve = scene.curve(take, "door", "Lcl Translation", "y")
            curve.keys[index].value += 2.0
            curve.store()
            with open(self.path("s.take%02d.fbx" % n), "w") as f:
                f.write(scene.text())
        first, second = self.record(0, 0, 1), self.record(2, 0, 2)
        for order, ranges in (((1, 2), (first, second)), ((2, 1), (first, second)), ((2,), (second,))):
            done = self.run_keyferry("convert", *(self.path("s.take%02d.fbx" % n) for n in order), self.path("out.ani"), "-y")
            with open(self.path("out.ani"), "rb") as f:
                out = f.read()
            self.assert_only(out, *((at, at + 76) for at in ranges))
            for n, take in ((1, "open"), (2, "close")):
                self.assertEqual('changed: take "%s"' % take in done.stderr, n in order, done.stderr)

    def test_wrapper_moved(self):
        """What cannot be carried is told of."""
        def change(scene):
            wrapper = next(n for n in scene.models() if n.startswith("keyferry_"))
            scene.clone("lamp", "ghost")
            ghost, number = scene.models()["ghost"].values[0], scene.models()[wrapper].values[0]
            for link in scene.root.first("Connections").all("C"):
                if link.values[2] == ghost:
                    link.values[2] = number
            scene.remove(scene.models()["ghost"])
        self.assertEqual(self.edit(change), self.original)
        self.assertRegex(self.report.stderr, 'warning: take "open", node "keyferry_.*not carried')

    def test_node_with_a_programs_name(self):
        """Programs add nodes such as "hand_end", which stand still. One that moves is an artist's."""
        out = self.edit(lambda scene: scene.clone("lamp", "lamp_end"))
        self.assertIn(b"lamp_end\0", out)

    def test_both_takes_renamed(self):
        def change(scene):
            for name, new in (("open", "aufgehen"), ("close", "zugehen")):
                scene.takes()[name].values[1] = '"AnimStack::%s"' % new
        out = self.edit(change)
        self.assert_only(out, *((self.TABLE + i * 160 + 64, self.TABLE + i * 160 + 128) for i in range(3)))
        self.assertIn(b"aufgehen\0", out)
        self.assertIn(b"zugehen\0", out)

    def test_curve_dropped_is_kept_unless_told(self):
        """One component of three, and a whole channel."""
        for axes in ("y", "xyz"):
            def change(scene):
                for axis in axes:
                    scene.remove(scene.curve("open", "door", "Lcl Translation", axis).node)
            for options in ((), ("--bake=30",)):
                self.assertEqual(self.edit(change, *options), self.original)
                self.assertIn("--drop-missing", self.report.stderr)
            out = self.edit(change, back=("--drop-missing",))
            if axes == "xyz":
                self.assertEqual(len(out), len(self.original) - 4 * 128)
                self.assertEqual(out[self.KEYS:], self.original[self.KEYS + 4 * 128:])
            else:
                self.assert_only(out, *((self.record(0, 0, i), self.record(0, 0, i) + 76) for i in range(4)))
                for i in range(4):
                    at = self.record(0, 0, i)
                    self.assertEqual(out[at:at + 4] + out[at + 8:at + 12], self.original[at:at + 4] + self.original[at + 8:at + 12])

    def test_take_renamed(self):
        def change(scene):
            stack = scene.takes()["close"]
            stack.values[1] = '"AnimStack::shut"'
        out = self.edit(change)
        at = self.TABLE + 2 * 160 + 64
        self.assert_only(out, (at, at + 64))
        self.assertEqual(out[at:at + 5], b"shut\0")
        self.assertIn('renamed: take "close" is "shut" now', self.report.stderr)

    def test_edit_in_a_bake(self):
        """A stretch bent in the bake: few new keys, and those elsewhere and on other tracks keep their bytes."""
        def change(scene):
            curve = scene.curve("open", "door", "Lcl Translation", "x")
            for k in curve.keys:
                t = k.time / fbxtext.TICKS
                if 0 < t < 1:
                    k.value += math.sin(t * math.pi) ** 2
            curve.store()
        out = self.edit(change, "--bake")
        first = self.record(0, 0, 0)
        grown = (len(out) - len(self.original)) // 128
        # A cubic needs h^4 / 384 * 8 pi^4 < 4e-4 for sin^2, so about eight pieces a second.
        self.assertLessEqual(grown, 7)
        # From the third key on nothing moved.
        self.assertEqual(out[first + 128 * (2 + grown):], self.original[first + 128 * 2:])
        # The curve now is what was asked for.
        self.run_keyferry("convert", self.path("out.ani"), self.path("c.fbx"), "--ascii", "-y", "--bake")
        with open(self.path("b.fbx")) as b, open(self.path("c.fbx")) as c:
            want = fbxtext.Scene(b.read()).curve("open", "door", "Lcl Translation", "x")
            have = fbxtext.Scene(c.read()).curve("open", "door", "Lcl Translation", "x")
        worst = max(abs(x.value - y.value) for x, y in zip(want.keys, have.keys))
        self.assertLess(worst, 1e-4 * 4.5)


if __name__ == "__main__":
    unittest.main()
