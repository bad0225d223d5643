"""What a program that bakes leaves out or changes of its own accord. Curves that stand still: their value is in the node's own
transform. Frames, when it samples just every second one, or beside them. The frame rate, when somebody changes it."""
import importlib.util
import json
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program, rename_take  # noqa: E402

spec = importlib.util.spec_from_file_location("generate_x4", SOURCE / "tests" / "generate" / "x4_ani.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

HEAD = struct.pack("<3IfB", 0, 10, 6, 1.0, 1)


def frames(y=1.0, turn=0.0):
    return b"".join(struct.pack("<6f", math.sin(i / 3), y, 0, 0, 0.2 * math.cos(i / 2), turn) for i in range(10))


class Standing(EditCase):
    ending = "anim"
    original = HEAD + frames()

    def drop(self, channel, axis, track=None, **node):
        """Without that curve. `track`: what the other two say of where it stands; `node`: where the node stands, if not as in
        frame 3, by channel and axis."""
        def change(scene):
            by_a_program(scene)
            curve = scene.curve("x", "bone_00", channel, axis)
            three = scene.by_id[scene.up[curve.node.values[0]][0][0]]
            scene.remove(curve.node)
            if track is not None:
                three.first("Properties70").children["xyz".index(axis)].values[4] = str(track)
            pose = {"Tx": math.sin(1), "Ty": 1.0, "Ry": math.degrees(0.2 * math.cos(1.5)), **node}
            own = {fbxtext.unquote(p.values[0]): p.values for p in scene.models()["bone_00"].first("Properties70").children}
            for (which, letter), value in pose.items():
                own["Lcl Translation" if which == "T" else "Lcl Rotation"][4 + "xyz".index(letter)] = "%.9g" % value
        return self.edit(change, "--for", "blender")

    def test_as_it_was(self):
        self.assertEqual(self.drop("Lcl Translation", "y"), self.original)

    def test_the_node_counts_and_not_the_track(self):
        self.assertEqual(self.drop("Lcl Translation", "y", track=7), self.original)
        self.assertEqual(self.drop("Lcl Rotation", "z", track=70), self.original)

    def test_raised(self):
        """The node stands in one of its poses: so that is where the curve stands now."""
        for y in (3.0, 1.002):
            with self.subTest(y=y):
                back = self.drop("Lcl Translation", "y", Ty=y)
                self.assertEqual(back, HEAD + frames(y=y), self.said)

    def test_turned(self):
        self.put("wanted/x.anim", HEAD + frames(turn=math.radians(30)))
        self.put("turned/x.anim", self.drop("Lcl Rotation", "z", Rz=30))
        self.keyferry("diff", "wanted/x.anim", "turned/x.anim")

    def test_left_behind(self):
        """A pose that nobody made keys of tells nothing."""
        self.assertEqual(self.drop("Lcl Translation", "y", Tx=5, Ty=3), self.original)
        self.assertIn("translation y did not come back and stays as it was", self.said)
        self.assertEqual(self.drop("Lcl Rotation", "z", Ry=77, Rz=30), self.original)


class Coarse(EditCase):
    FILES = ("x4-ani/door.ani", "ei-anm/wing.anm", "ei-anm/body.anm", "mm2-anim/two-bones.anim", "nytro-anim/tcb.nanim",
             "vib-anm/first.anm", "vib-anm/full-000.anm")

    def every(self, step):
        def change(scene):
            by_a_program(scene)
            for curve in scene.curves().values():
                curve.keys = curve.keys[::step]
                curve.store()
        return change

    def test_nothing_edited(self):
        for file in self.FILES:
            for step in (2, 3) if "wing" not in file else (2,):  # that has three frames, of which one would be left
                with self.subTest(file=file, step=step):
                    self.ending = file.rsplit(".", 1)[1]
                    self.original = (SOURCE / "tests" / "data" / file).read_bytes()
                    self.assertEqual(self.edit(self.every(step), "--for", "blender"), self.original, self.said)

    def test_an_edit(self):
        """It comes back, with what lies between it and its neighbours; the rest stays."""
        self.ending, self.original = "anim", HEAD + frames()

        def change(scene):
            add(scene, ("x", "bone_00", "Lcl Translation", "x"), 4, 0.5)
            self.every(2)(scene)
        back = self.edit(change, "--for", "blender")
        x = [struct.unpack_from("<f", back, len(HEAD) + 24 * i)[0] - math.sin(i / 3) for i in range(10)]
        self.assertTrue(all(abs(v) < 1e-6 for i, v in enumerate(x) if not 3 <= i <= 5), x)
        self.assertAlmostEqual(x[4], 0.5, 5)
        self.assertTrue(0.15 < x[3] < 0.25 and 0.15 < x[5] < 0.25, x)


class Fine(EditCase):
    """Samples a part of a frame apart: the last of them falls short of the last frame."""
    FILES = Coarse.FILES[:1] + Coarse.FILES[2:]

    def every(self, step):
        def change(scene):
            by_a_program(scene)
            for where, curve in scene.curves().items():
                if "Lcl" not in where[2]:
                    scene.remove(curve.node)
                    continue
                was, curve.keys = curve.keys, []
                frame = 0.0
                while frame < len(was) - 1 - 0.05:
                    a, b, part = was[int(frame)], was[int(frame) + 1], frame % 1
                    curve.keys.append(fbxtext.Key(a.time + round(part * (b.time - a.time)), a.value + part * (b.value - a.value),
                                                  a.flags, a.data))
                    frame = round(frame + step, 6)
                curve.store()
        return change

    def test_nothing_edited(self):
        for file in self.FILES:
            for step in (0.1, 0.7):
                with self.subTest(file=file, step=step):
                    self.ending = file.rsplit(".", 1)[1]
                    self.original = (SOURCE / "tests" / "data" / file).read_bytes()
                    self.assertEqual(self.edit(self.every(step), "--for", "blender"), self.original, self.said)
                    self.assertNotIn("will play this otherwise", self.said)

    def test_an_edit(self):
        """Of a frame that is not sampled, what the samples beside it show."""
        self.ending, self.original = "anim", HEAD + frames()

        def change(scene):
            add(scene, ("x", "bone_00", "Lcl Translation", "x"), 4, 0.5)
            self.every(0.7)(scene)
        back = self.edit(change, "--for", "blender")
        x = [struct.unpack_from("<f", back, len(HEAD) + 24 * i)[0] - math.sin(i / 3) for i in range(10)]
        self.assertTrue(all(abs(v) < 1e-6 for i, v in enumerate(x) if not 3 <= i <= 5), x)
        self.assertTrue(0.25 < x[4] < 0.5, x)


class Range(EditCase):
    """A program that exports a range of frames, the first of which it calls 1."""
    FILES = ("x4-ani/door.ani", "ei-anm/body.anm", "mm2-anim/two-bones.anim", "nytro-anim/tcb.nanim", "vib-anm/first.anm")

    def begin(self, frame):
        def change(scene):
            by_a_program(scene)
            curves = list(scene.curves().values())
            step = min(b.time - a.time for curve in curves for a, b in zip(curve.keys, curve.keys[1:]))
            for curve in curves:
                first = curve.keys[0]
                early = [fbxtext.Key(i * step, first.value, first.flags, first.data) for i in range(frame, 0)]
                curve.keys = early + curve.keys[max(frame, 0):]
                for key in curve.keys:
                    key.time += step
                curve.store()
        return change

    def test_elsewhere(self):
        for self.file in self.FILES:
            for frame in (0, -3, 1):
                with self.subTest(file=self.file, frame=frame):
                    self.ending = self.file.rsplit(".", 1)[1]
                    self.original = (SOURCE / "tests" / "data" / self.file).read_bytes()
                    self.assertEqual(self.edit(self.begin(frame), "--for", "blender"), self.original, self.said)
                    self.assertEqual(frame == 1, "did not come back and stay as they were: let the program export" in self.said)


    def test_one_frame(self):
        """It is the one that it was, and not the first."""
        def change(scene):
            self.begin(2)(scene)
            at = max(curve.keys[0].time for curve in scene.curves().values() if curve.keys)
            for curve in scene.curves().values():
                curve.keys = curve.keys[:1]
                curve.store()
            for stack in scene.takes().values():
                for p in stack.first("Properties70").children:
                    if "Start" in p.values[0] or "Stop" in p.values[0]:
                        p.values[4] = str(at)
        for self.file in self.FILES[:-1]:  # the last has too few
            with self.subTest(file=self.file):
                self.ending = self.file.rsplit(".", 1)[1]
                self.original = (SOURCE / "tests" / "data" / self.file).read_bytes()
                self.assertEqual(self.edit(change, "--for", "blender"), self.original, self.said)
                self.assertRegex(self.said, "its first [0-9.]+ s did not come back and stay as they were")
                self.assertRegex(self.said, "its last [0-9.]+ s did not come back and stay as they were")


class Shorter(EditCase):
    """A range of frames that ends before the take does."""
    FILES = ("ei-anm/body.anm", "mm2-anim/two-bones.anim", "nytro-anim/tcb.nanim", "nytro-anim/linear.nanim", "vib-anm/full-000.anm")

    def each_file(self):
        yield "ani", x4([("a", "t"), ("b", "t")])
        for file in self.FILES:
            yield file.rsplit(".", 1)[1], (SOURCE / "tests" / "data" / file).read_bytes()

    def frames(self, file):
        """{(node, property, axis): its values} on every frame."""
        self.keyferry("convert", file, "frames.fbx", "--ascii", "--for", "blender", "-y")
        scene = fbxtext.Scene((self.dir / "frames.fbx").read_text())
        return {where[1:]: [key.value for key in curve.keys] for where, curve in scene.curves().items() if "Lcl" in where[2]}

    def shorten(self, name, *back):
        """What comes back of the take's first half, under another name."""
        def change(scene):
            by_a_program(scene)
            curves = scene.curves()
            self.left = max(2, max(len(curve.keys) for curve in curves.values()) // 2)
            stop = max(curve.keys[:self.left][-1].time for curve in curves.values())
            for curve in curves.values():
                curve.keys = curve.keys[:self.left]
                curve.store()
            (take, stack), = scene.takes().items()
            for p in stack.first("Properties70").children:
                if "Stop" in p.values[0]:
                    p.values[4] = str(stop)
            rename_take(scene, take, name)
        return self.edit(change, "--for", "blender", back=back)

    def test_what_was_not_exported_stays(self):
        for self.ending, self.original in self.each_file():
            with self.subTest(ending=self.ending):
                self.assertEqual(self.shorten("Scene"), self.original, self.said)
                self.assertRegex(self.said, "its last [0-9.]+ s did not come back and stay as they were")

    def test_it_ends_there_if_that_is_meant(self):
        for self.ending, self.original in self.each_file():
            with self.subTest(ending=self.ending):
                self.put("z/back." + self.ending, self.shorten("Scene", "--drop-missing"))
                was, now = self.frames("x." + self.ending), self.frames("z/back." + self.ending)
                self.assertTrue(now)
                for (node, prop, axis), values in now.items():
                    node = "x" if node == "back" else node  # one that is called as its file
                    self.assertEqual(len(values), self.left, (node, prop, axis))
                    if prop != "Lcl Rotation":
                        for a, b in zip(values, was[node, prop, axis]):
                            self.assertAlmostEqual(a, b, delta=2e-3 * max(1, abs(b)))


class Rate(EditCase):
    ending = "anim"
    original = HEAD + frames()

    def test_told(self):
        def change(scene):
            by_a_program(scene)
            for p in scene.root.first("GlobalSettings").first("Properties70").children:
                if fbxtext.unquote(p.values[0]) == "TimeMode":
                    p.values[4] = "3"  # 60 frames a second
            for curve in scene.curves().values():
                for key in curve.keys:
                    key.time //= 2
                curve.store()
        self.edit(change, "--for", "blender")
        self.assertIn("came back with 60 frames a second instead of 30: that makes it last 0.15 s instead of 0.3 s", self.said)

    def test_nearly_the_same(self):
        """29.97 instead of 30: no take is half a frame longer by that, but all of its keys are elsewhere."""
        def change(scene, longer=1001):
            by_a_program(scene)
            for p in scene.root.first("GlobalSettings").first("Properties70").children:
                if fbxtext.unquote(p.values[0]) == "TimeMode":
                    p.values[4] = "9"  # NTSC, full frames
            for curve in scene.curves().values():
                for key in curve.keys:
                    key.time = key.time * longer // 1000
                curve.store()
        self.edit(change, "--for", "blender")
        self.assertIn("came back with 29.97 frames a second instead of 30: that makes it last 0.3003 s instead of 0.3 s", self.said)
        self.assertEqual(self.edit(lambda scene: change(scene, 1000), "--for", "blender"), self.original)
        self.assertNotIn("frames a second", self.said)

    def test_from_the_beginning(self):
        """Of frames that were edited, what lies between them was, too."""
        def change(scene):
            by_a_program(scene)
            for curve in scene.curves().values():
                for key in curve.keys:
                    key.time = key.time * 6 // 5  # 25 instead of 30
                curve.store()
        back = self.edit(change, "--for", "blender")
        for i in range(11):
            at = min(i / 1.2, 9)
            a, b = (0.2 * math.cos(n / 2) for n in (int(at), min(int(at) + 1, 9)))
            turned = struct.unpack_from("<f", back, len(HEAD) + 24 * i + 16)[0]
            self.assertAlmostEqual(math.degrees(turned), math.degrees(a + at % 1 * (b - a)), delta=0.02, msg=f"frame {i}")


class Small(EditCase):
    """A pedestrian's hips go some millimetres up and down, and half of one is an edit. What programs round is less, but grows with
    how far away all of it is."""
    ending = "anim"

    def raised(self, by, height, axis="y"):
        def change(scene):
            by_a_program(scene)
            add(scene, ("x", "bone_00", "Lcl Translation", axis), 4, by)
        self.original = HEAD + frames(y=height)
        return self.edit(change, "--for", "blender")

    def test_an_edit(self):
        for by in (2e-4, 5e-4, -9e-4):
            with self.subTest(by=by):
                back = self.raised(by, 1.0)
                y, = struct.unpack_from("<f", back, len(HEAD) + 24 * 4 + 4)
                self.assertAlmostEqual(y, 1 + by, delta=1e-6)
                self.assertEqual(back, self.patched((len(HEAD) + 24 * 4 + 4, struct.pack("<f", y))))

    def test_no_edit(self):
        for by, height, axis in (5e-5, 1.0, "y"), (3e-4, 400.0, "y"), (9e-4, 1000.0, "y"), (9e-4, 1000.0, "z"):
            with self.subTest(by=by, axis=axis):
                self.assertEqual(self.raised(by, height, axis), self.original, self.said)


class Blender(EditCase):
    """It bakes what it exports, even if what it got was not, and counts frames from 1."""
    ending = "anim"
    original = HEAD + frames()

    def later(self, by, change=lambda scene: None):
        def work(scene):
            by_a_program(scene, "Blender")
            for curve in scene.curves().values():
                for key in curve.keys:
                    key.time += by * fbxtext.TICKS // 30
                curve.store()
            change(scene)
        return self.edit(work)

    def test_as_it_was(self):
        for frame in (0, 1):
            with self.subTest(frame=frame):
                self.assertEqual(self.later(frame), self.original, self.said)

    def test_edited(self):
        back = self.later(1, lambda scene: add(scene, ("x", "bone_00", "Lcl Translation", "y"), 4, 0.5))
        at = len(HEAD) + 24 * 4 + 4
        self.assertEqual(back, self.patched((at, struct.pack("<f", 1.5))))

    def test_all_of_it_edited(self):
        """No frame is like the written one, then or a frame later."""
        def change(scene):
            for axis in "xyz":
                for prop in "Lcl Translation", "Lcl Rotation":
                    curve = scene.curve("x", "bone_00", prop, axis)
                    for i, key in enumerate(curve.keys):
                        key.value += 20 + i * i
                    curve.store()
        back = self.later(1, change)
        heights = [struct.unpack_from("<f", back, len(HEAD) + 24 * i + 4)[0] for i in range(10)]
        self.assertEqual(heights, [21.0 + i * i for i in range(10)])
        self.assertEqual(len(back), len(self.original))


def x4(parts):
    """Of (node, take, times): linear positions, and rotations that begin later."""
    def key(value, time):
        handles = [n for v in value for n in (time + 0.1, v, time - 0.1, v)]
        return struct.pack("<3f3if12f5fi6fI", *value, 2, 2, 2, time, *handles, *[0.0] * 5, 0, *[0.0] * 6, 0)
    table = data = b""
    for number, (node, take) in enumerate(parts):
        table += struct.pack("<64s64s5if2i", node.encode(), take.encode(), 5, 3, 0, 0, 0, 2.0, 0, 0)
        data += b"".join(key((number + i, i * i, 0), i * 0.5) for i in range(5))
        data += b"".join(key((0.1 * i, 0, 0.2), 1 + i * 0.5) for i in range(3))
    return struct.pack("<4i", len(parts), 16 + 160 * len(parts), 1, 0) + table + data


class LongNames(EditCase):
    ending = "ani"
    original = x4([("a_node_with_quite_a_long_name_of_more_than_forty_bytes_" + node, "a_take_with_a_long_name_" + take)
                   for node in "ab" for take in ("opening_the_door_slowly", "opening_the_door_fast", "shut")])

    def test_what_blender_calls_them_is_not_cut(self):
        """It calls the curves of a node in a take "node|take", and cuts that at 63 bytes."""
        self.put("x.ani", self.original)
        self.keyferry("convert", "x.ani", "x.fbx", "--ascii", "--for", "blender")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        names = {"%s|%s" % (where[1], where[0]) for where in scene.curves()}
        self.assertEqual(len(names), 6)
        self.assertEqual(len({name[:63] for name in names}), 6, names)
        self.assertIn("3 take names longer than 22 bytes", self.keyferry("explain", "x.ani", "--for", "blender").out.decode())

    def test_they_come_back(self):
        self.assertEqual(self.edit(by_a_program, "--for", "blender"), self.original)


class Shown(EditCase):
    """One take of a whole scene, in which every node plays the one of its takes that it played last."""
    ending = "ani"
    original = x4([(node, take) for take in ("one", "two") for node in "abc"])

    def show(self, playing, amount=0.0):
        """What comes back of a scene with each of the nodes in that take; `amount` is added to one sample of b."""
        def change(scene):
            by_a_program(scene)
            for (take, node, prop, axis), curve in scene.curves().items():
                if take != "one":
                    continue
                shown = [key.value for key in scene.curve(playing[node], node, prop, axis).keys]
                for key, value in zip(curve.keys, shown):
                    key.value = value
                curve.store()
            add(scene, ("one", "b", "Lcl Translation", "x"), 15, amount)
            scene.remove(scene.takes()["two"])
            rename_take(scene, "one", "Scene")
        return self.edit(change, "--for", "blender")

    def test_each_in_its_own(self):
        for two in ("", "a", "b", "bc", "abc"):
            with self.subTest(two=two):
                playing = {node: "two" if node in two else "one" for node in "abc"}
                self.assertEqual(self.show(playing), self.original, self.said)
                self.assertIn("0 of 12 tracks changed", self.said)

    def test_an_edit_goes_to_the_take_that_was_shown(self):
        for take in ("one", "two"):
            with self.subTest(take=take):
                self.show({"a": "one", "b": take, "c": "one"}, 0.25)
                self.assertIn('1 of ', self.said)
                self.assertIn('changed: take "%s", node "b", translation' % take, self.said)


class BeforeTheFirstKey(EditCase):
    """A bake shows a rotation before its first key too, and there it can be edited."""
    ending = "ani"
    original = x4([("a", "t")])

    def test_an_edit(self):
        def change(scene):
            by_a_program(scene)
            add(scene, ("t", "a", "Lcl Rotation", "x"), 6, 20)
        self.put("edited/x.ani", self.edit(change, "--for", "blender"))
        self.keyferry("convert", "edited/x.ani", "again.fbx", "--ascii", "--for", "blender")
        values = [k.value for k in fbxtext.Scene((self.dir / "again.fbx").read_text()).curve("t", "a", "Lcl Rotation", "x").keys]
        self.assertAlmostEqual(values[6], 20, 3)
        self.assertTrue(all(abs(values[i]) < 0.02 for i in range(30) if i != 6), values)


class Begins(EditCase):
    """A bake begins at 0, whenever its take does. Against the game's file it is looked at as late as that begins."""
    ending = "ani"
    original = generate.ani([
        generate.description("a", "late", 3.0, pos=[generate.key(t, (t, -t, 1), 2) for t in (1.0, 2.0, 3.0)], rot=[
            generate.key(t, (0.1 * t, 0, 0), 2) for t in (2.0, 3.0)]),
        generate.description("a", "early", 2.0, pos=[generate.key(t, (t, -t, 1), 2) for t in (-0.5, 1.0)])])

    def compare(self, *there):
        result = []
        for files in (("x.ani", "x.fbx"), ("x.fbx", "x.ani")):
            found = json.loads(self.keyferry("diff", *files, "--json", code=None).out)
            result.append((found["same"], {(d["take"], d["node"], d["channel"]): (round(d["worst"], 4), round(d["time"], 4))
                                           for d in found["differences"] if d["worst"] > d["limit"]}))
        self.assertEqual(result[0], result[1])
        return result[0]

    def test_unedited(self):
        for there in (("--bake",), ("--bake=60",), ("--for", "blender")):
            self.assertEqual(self.edit(lambda scene: None, *there), self.original)
            self.assertEqual(self.compare(), (True, {}))

    def test_edited(self):
        """When that was is told on the game's axis."""
        self.edit(lambda scene: add(scene, ("early", "a", "Lcl Translation", "x"), 30, 0.75), "--bake=30")
        self.assertEqual(self.compare(), (False, {("early", "a", "translation.x"): (0.75, 0.5)}))

    def test_without_a_capsule(self):
        """Nothing tells that it is one."""
        self.edit(lambda scene: None, "--bake", "--no-capsule")
        self.assertFalse(self.compare()[0])

    def test_sparse(self):
        self.edit(lambda scene: None)
        self.assertEqual(self.compare(), (True, {}))


if __name__ == "__main__":
    unittest.main()
