"""Which original an FBX goes back into, and what is said where that is not the one it came from."""
import copy
import os
import random
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import fitcases  # noqa: E402
import regioncases  # noqa: E402
from command import DOOR, SOURCE, Case  # noqa: E402

HAND = SOURCE / "tests" / "data" / "ei-anm" / "hand.anm"
WING = HAND.with_name("wing.anm")
TURRET = SOURCE / "tests" / "data" / "x4-ani" / "turret.ani"
BONES = SOURCE / "tests" / "data" / "mm2-anim" / "two-bones.anim"
LEFT = ("door_open", "anim_door_left", "Lcl Translation", "x")


class Missing(Case):
    """The FBX names an original that is not here."""

    def setUp(self):
        super().setUp()
        self.keyferry("convert", DOOR, "s.fbx", "--no-capsule")
        os.remove(self.dir / "s.fbx.kf")

    def test_told(self):
        said = self.keyferry("convert", "s.fbx", "s.ani").err
        self.assertRegex(said, r"warning: the FBX came from an original that is not here \([0-9a-f]{8}\): the whole file is made anew; "
                         r"give the original with --base FILE, or the \.kf file that was made with the FBX")
        self.keyferry("convert", "s.fbx", "t.ani", "--strict", code=1)

    def test_a_sidecar_of_another_one(self):
        self.keyferry("convert", TURRET, "t.fbx")
        os.rename(self.dir / "t.fbx.kf", self.dir / "s.fbx.kf")
        said = self.keyferry("convert", "s.fbx", "s.ani").err
        self.assertIn("), and s.fbx.kf belongs to another one: the whole file is made anew", said)
        self.keyferry("convert", "s.fbx", "t.ani", "--strict", code=1)
        self.keyferry("convert", "s.fbx", "s.ani", "-y", "--strict", "--base", DOOR)
        self.assertEqual((self.dir / "s.ani").read_bytes(), DOOR.read_bytes())

    def test_never_there(self):
        """Written without capsule and sidecar, an FBX names none: nothing is missed."""
        self.keyferry("convert", DOOR, "s.fbx", "--no-capsule", "--no-sidecar", "-y")
        said = self.keyferry("convert", "s.fbx", "s.ani").err
        self.assertIn("note: there is no original", said)


class Damaged(Case):
    def test_sidecar_without_files(self):
        """Nothing of it counts, neither its format nor what it is like, for this FBX and those after it."""
        self.keyferry("convert", TURRET, "a.fbx", "--no-capsule")
        self.keyferry("convert", DOOR, "b.fbx")
        body = b"ei-anm\0" + struct.pack("<I", 1) + b"\0" + struct.pack("<I", 0)
        self.put("a.fbx.kf", b"KFERRY1\n" + struct.pack("<II", len(body), zlib.crc32(body)) + zlib.compress(body))
        said = self.keyferry("convert", "a.fbx", "a.ani").err
        self.assertIn("the sidecar is damaged and was not used", said)
        self.assertNotIn("another format", said)
        self.keyferry("convert", "a.fbx", "b.fbx", "c.ani", "-y")


class Base(Case):
    def setUp(self):
        super().setUp()
        self.keyferry("convert", DOOR, "door.fbx", "--for", "blender")
        self.keyferry("convert", DOOR, "plain.fbx", "--for", "blender", "--no-capsule", "--no-sidecar")

    def test_what_holds_the_original(self):
        """A sidecar and an FBX with a capsule are as good as the file, also for an FBX that tells nothing."""
        for fbx in ("door.fbx", "plain.fbx"):
            for base in ("door.fbx", "door.fbx.kf"):
                found = self.json("convert", "--json", "-y", fbx, "a.ani", "--base", base)
                self.assertEqual((found["original"], found["changed"]), ("base", 0))
                self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())

    def test_how_it_was_written(self):
        """The wrapper's name is gone, and the capsule with it: the sidecar tells how the FBX was written."""
        self.keyferry("convert", DOOR, "a.fbx", "--ascii", "--bake=50", "-y")
        text = (self.dir / "a.fbx").read_text()
        scene = fbxtext.Scene(text)
        wrapper = next(n for name, n in scene.models().items() if name.startswith("keyferry_"))
        wrapper.values[1] = '"Model::group"'
        scene.remove_property(wrapper, "keyferry_capsule")
        self.put("b.fbx", scene.text().encode())
        found = self.json("convert", "--json", "-y", "b.fbx", "a.ani", "--base", "a.fbx.kf")
        self.assertNotIn("options", [m["id"] for m in found["messages"]])
        self.assertEqual(found["changed"], 0)
        self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())

    def test_nothing_inside(self):
        said = self.keyferry("convert", "door.fbx", "a.ani", "--base", "plain.fbx", code=2).err
        self.assertIn("--base plain.fbx is an FBX that does not carry its original: give the game's own file", said)
        self.put("bad.kf", (self.dir / "door.fbx.kf").read_bytes()[:-9])
        said = self.keyferry("convert", "door.fbx", "a.ani", "--base", "bad.kf", code=1).err
        self.assertIn("bad.kf", said)
        text = (self.dir / "door.fbx").read_bytes().replace(b"S0ZFUlJZM", b"!!!!UlJZM")
        self.put("bad.fbx", text)
        self.keyferry("convert", "door.fbx", "a.ani", "--base", "bad.fbx", code=1)

    def test_another_one(self):
        said = self.keyferry("convert", "door.fbx", "a.ani", "--base", TURRET).err
        self.assertIn("note: door.fbx came from another file than --base turret.ani: ", said)
        said = self.keyferry("convert", "door.fbx", "a.ani", "-y", "--base", DOOR).err
        self.assertNotIn("note:", said)

    def test_another_rate(self):
        """Nothing tells how it was baked but the keys."""
        self.keyferry("convert", DOOR, "plain.fbx", "--bake=24", "--no-capsule", "--no-sidecar", "-y")
        said = self.keyferry("convert", "plain.fbx", "a.ani", "--base", DOOR).err
        self.assertIn("it looks as by --for blender --bake=24", said)
        self.assertIn("0 of 8 tracks changed", said)
        self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())


class Several(Case):
    def test_of_different_originals(self):
        self.keyferry("convert", TURRET, "turret.fbx")
        self.keyferry("convert", DOOR, "door.fbx", "--split-takes")
        for files in (("turret.fbx", "door.take01.fbx"), ("door.take02.fbx", "door.take01.fbx", "turret.fbx")):
            said = self.keyferry("convert", *files, "out.ani", code=2).err
            self.assertRegex(said, r"\S+\.fbx and \S+\.fbx came from different originals, \w+\.ani and \w+\.ani: several FBX files make one "
                             "game file only if they came from the same; convert them one by one")
            for name in {"turret.fbx", files[-1]}:
                self.assertIn(name, said)
        self.assertFalse((self.dir / "out.ani").exists())

    def edited(self, name, *edits, of="d.fbx"):
        """A copy of the FBX with values of keys changed: (curve, key, value)."""
        scene = fbxtext.Scene((self.dir / of).read_text())
        for where, key, value in edits:
            curve = scene.curve(*where)
            curve.keys[key].value = value
            curve.store()
        self.put(name, scene.text().encode())

    def values(self, file, *where):
        """The keys' values of a curve of a game's file."""
        self.keyferry("convert", file, "look.fbx", "--ascii", "-y", "--no-sidecar")
        return [k.value for k in fbxtext.Scene((self.dir / "look.fbx").read_text()).curve(*where).keys]

    def test_the_same_edited_twice(self):
        self.keyferry("convert", DOOR, "d.fbx", "--split-takes", "--ascii")
        for name, value in (("one.fbx", -1), ("two.fbx", -2)):
            self.edited(name, (LEFT, 1, value), of="d.take01.fbx")
        said = self.keyferry("convert", "one.fbx", "two.fbx", "out.ani").err
        self.assertIn('warning: take "door_open", node "anim_door_left": the translation x at 0.2000 s was edited in one.fbx and in '
                      'two.fbx: the latter stays', said)
        self.assertEqual(said.count("changed: take"), 1, said)
        self.assertIn("1 of 4 tracks changed", said)
        self.assertEqual(self.values("out.ani", *LEFT)[1], -2)
        self.keyferry("convert", "one.fbx", "two.fbx", "out.ani", "-y", "--strict", code=1)
        said = self.keyferry("convert", "one.fbx", "d.take02.fbx", "two.fbx", "out.ani", "-y").err
        self.assertIn("was edited in one.fbx and in two.fbx", said)

    def test_edited_in_different_places(self):
        """Each FBX has all of it: what one did not edit is no edit of the other's."""
        right = ("door_open", "anim_door_right", "Lcl Translation", "x")
        turned = ("door_close", "anim_door_lock", "Lcl Rotation", "z")
        for options in ((), ("--for", "maya"), ("--for", "blender")):
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            self.edited("one.fbx", (LEFT, 0, -1), (turned, 0, 12))
            self.edited("two.fbx", (LEFT[:3] + ("y",), 0, 3), (right, 0, 2))
            said = self.keyferry("convert", "one.fbx", "two.fbx", "out.ani", "-y").err
            self.assertNotIn("was edited in", said)
            found = [self.values("out.ani", *where)[0] for where in (LEFT, turned, LEFT[:3] + ("y",), right)]
            for value, wanted in zip(found, (-1, 12, 3, 2)):
                self.assertAlmostEqual(value, wanted, 4)

    def test_different_keys_of_one_curve(self):
        """All of them come home, whatever the other file has there, and as if one file had them all."""
        for options in ((), ("--for", "maya"), ("--bake",)):
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            last = len(fbxtext.Scene((self.dir / "d.fbx").read_text()).curve(*LEFT).keys) - 1
            edits = [(LEFT, 0, -1), (LEFT, last, -5)], [(LEFT, last // 2, -2.5)]
            for name, of_it in (("one.fbx", edits[0]), ("two.fbx", edits[1]), ("all.fbx", edits[0] + edits[1])):
                self.edited(name, *of_it)
            self.keyferry("convert", "all.fbx", "all.ani", "-y")
            for files in (("one.fbx", "two.fbx"), ("two.fbx", "one.fbx"), ("one.fbx", "d.fbx", "two.fbx")):
                said = self.keyferry("convert", *files, "out.ani", "-y").err
                self.assertNotIn("was edited in", said)
                self.assertIn("1 of 8 tracks changed", said)
                self.keyferry("diff", "out.ani", "all.ani")
                if not options:
                    self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "all.ani").read_bytes())

    def test_one_key_of_several(self):
        """A conflict is about that key alone: the others of both files come home."""
        for options in ((), ("--for", "maya"), ("--bake",)):
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            last = len(fbxtext.Scene((self.dir / "d.fbx").read_text()).curve(*LEFT).keys) - 1
            self.edited("one.fbx", (LEFT, 0, -1), (LEFT, last, -5))
            self.edited("two.fbx", (LEFT, 0, -2), (LEFT, last // 2, -2.5))
            said = self.keyferry("convert", "one.fbx", "two.fbx", "out.ani", "-y").err
            self.assertEqual(said.count("was edited in"), 1, said)
            self.assertIn("the translation x at 0.0000 s was edited in one.fbx and in two.fbx: the latter stays", said)
            self.keyferry("convert", "out.ani", "look.fbx", "--ascii", "-y", *options)
            keys = fbxtext.Scene((self.dir / "look.fbx").read_text()).curve(*LEFT).keys
            for key, wanted in ((0, -2), (last // 2, -2.5), (last, -5)):
                self.assertAlmostEqual(keys[key].value, wanted, 4)

    def test_parts_of_a_key(self):
        """Its time, its value and its neighbours' are each their own; keys that are new in one file and gone from the other."""
        def moved(curve):
            curve.move(1, fbxtext.TICKS // 20)

        def new(curve):
            key = copy.deepcopy(curve.keys[2])
            key.time -= fbxtext.TICKS // 4
            key.value = -1.5
            curve.insert(2, key)

        def higher(curve):
            curve.keys[1].value = -0.5
            curve.keys[3].value = -2

        self.keyferry("convert", DOOR, "d.fbx", "--ascii")

        def changed(name, *changes):
            scene = fbxtext.Scene((self.dir / "d.fbx").read_text())
            for change in changes: # x, y and z have their keys' times together
                for axis in "x" if change == higher else "xyz":
                    curve = scene.curve(*LEFT[:3], axis)
                    change(curve)
                    curve.store()
            self.put(name, scene.text().encode())

        changed("high.fbx", higher)
        for change in (moved, new, lambda curve: curve.remove(2)):
            changed("one.fbx", change)
            changed("all.fbx", higher, change)
            self.keyferry("convert", "all.fbx", "all.ani", "-y")
            for files in (("one.fbx", "high.fbx"), ("high.fbx", "one.fbx")):
                said = self.keyferry("convert", *files, "out.ani", "-y").err
                self.assertNotIn("was edited in", said)
                self.keyferry("diff", "out.ani", "all.ani")
        changed("gone.fbx", lambda curve: curve.remove(1))
        said = self.keyferry("convert", "gone.fbx", "high.fbx", "out.ani", "-y").err
        self.assertIn("the translation x at 0.2000 s was deleted in gone.fbx and edited in high.fbx: the latter stays", said)
        self.assertIn(-0.5, self.values("out.ani", *LEFT))
        said = self.keyferry("convert", "high.fbx", "gone.fbx", "out.ani", "-y").err
        self.assertIn("the translation x at 0.2000 s was edited in high.fbx and deleted in gone.fbx: the latter stays", said)
        self.assertNotIn(-0.5, self.values("out.ani", *LEFT))

    def test_turns(self):
        """Angles that are a quaternion in the file are edited together: an angle each in two files is a conflict on one key alone."""
        self.keyferry("convert", HAND, "d.fbx", "--ascii")
        angle = ("animation", "hand", "Lcl Rotation")
        self.edited("one.fbx", (angle + ("x",), 1, 10), (angle + ("x",), 3, 20))
        self.edited("two.fbx", (angle + ("x",), 2, 15))
        self.edited("all.fbx", (angle + ("x",), 1, 10), (angle + ("x",), 3, 20), (angle + ("x",), 2, 15))
        self.keyferry("convert", "all.fbx", "all.anm")
        said = self.keyferry("convert", "one.fbx", "two.fbx", "out.anm").err
        self.assertNotIn("was edited in", said)
        self.assertEqual((self.dir / "out.anm").read_bytes(), (self.dir / "all.anm").read_bytes())
        self.edited("two.fbx", (angle + ("y",), 3, 15))
        said = self.keyferry("convert", "one.fbx", "two.fbx", "out.anm", "-y").err
        self.assertIn("the rotation at 0.2000 s was edited in one.fbx and in two.fbx: the latter stays", said)
        self.assertEqual(said.count("was edited in"), 1, said)

    def test_shapes(self):
        """Points of shapes, too: those of either file, and the second's where both moved one."""
        self.keyferry("convert", WING, "d.fbx", "--ascii")

        def moved(name, *points):
            scene = fbxtext.Scene((self.dir / "d.fbx").read_text())
            shape = next(g for g in scene.objects.all("Geometry") if "Shape" in g.values[2])
            numbers = shape.array("Vertices")
            for point, by in points:
                numbers[3 * point] = str(float(numbers[3 * point]) + by)
            shape.set_array("Vertices", numbers)
            self.put(name, scene.text().encode())
            self.keyferry("convert", name, name + ".anm", "-y")

        moved("one.fbx", (0, 0.5))
        moved("two.fbx", (1, 0.25))
        moved("all.fbx", (0, 0.5), (1, 0.25))
        for files, same in ((("one.fbx", "d.fbx"), "one"), (("d.fbx", "one.fbx"), "one"), (("one.fbx", "two.fbx"), "all")):
            said = self.keyferry("convert", *files, "out.anm", "-y").err
            self.assertEqual((self.dir / "out.anm").read_bytes(), (self.dir / (same + ".fbx.anm")).read_bytes(), said)
            self.assertNotIn("moved in", said)
        moved("two.fbx", (0, 0.25))
        said = self.keyferry("convert", "one.fbx", "two.fbx", "out.anm", "-y").err
        self.assertIn('node "wing": 1 points of its shapes were moved in one.fbx and in two.fbx: the latter stays', said)
        self.assertEqual((self.dir / "out.anm").read_bytes(), (self.dir / "two.fbx.anm").read_bytes())

    def test_told_once(self):
        """One track that two files change is one track in the report; if the files were written alike it is told as if it were one
        file's, else what each of them did is one sentence."""
        line = 'changed: take "door_open", node "anim_door_left", translation: '
        each = r".* keys changed, .* \(one.fbx\); .* keys changed, .* \(two.fbx\)$"
        maya, baked = ("--for", "maya"), ("--bake",)
        for first, second, where, how in (((), (), "capsule", "2 keys changed, 0 added, 0 removed$"),
                                          (("--no-capsule",), ("--no-capsule",), "sidecar", "2 keys changed, 0 added, 0 removed$"),
                                          (maya, maya, "capsule", r"\d keys changed, \d added, 0 removed[^()]*$"),
                                          (baked, baked, "capsule", r"\d keys changed, \d added, 0 removed[^()]*$"),
                                          ((), maya, "capsule", each), (baked, (), "capsule", each)):
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *first)
            self.edited("one.fbx", (LEFT, 0, -1))
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *second)
            self.edited("two.fbx", (LEFT[:3] + ("y",), 2, 3))
            found = self.json("convert", "--json", "one.fbx", "two.fbx", "out.ani", "-y")
            self.assertEqual((found["tracks"], found["changed"], found["original"]), (8, 1, where))
            self.assertEqual(len(found["changes"]), 1)
            self.assertRegex(found["changes"][0], f"^{line}{how}")
            said = self.keyferry("convert", "one.fbx", "two.fbx", "out.ani", "-y").err
            self.assertIn("1 of 8 tracks changed", said)
            self.assertEqual(said.count(line), 1, said)
            found = self.json("convert", "--json", "one.fbx", "two.fbx", "out.ani", "-y", "--base", DOOR)
            self.assertEqual((found["changed"], found["original"]), (1, "base"))

    def test_edits_beside_helper_keys(self):
        """Eased segments have helper keys in an FBX, and are told by more keys in the file once one is edited: two files are what one
        with both edits is, whichever comes first."""
        keys = regioncases.keys_of(random.Random("several"), "ease")
        (self.dir / "e.ani").write_bytes(fitcases.file_of(keys))
        place = ("go", "part", "Lcl Translation")
        for options in ((), ("--tcb", "slopes"), ("--bake",)):
            self.keyferry("convert", "e.ani", "d.fbx", "--ascii", "-y", *options)
            count = len(fbxtext.Scene((self.dir / "d.fbx").read_text()).curve(*place, "y").keys)
            edits = (place + ("y",), count // 6, 0.5), (place + ("y",), count * 3 // 4, -0.5)
            self.edited("one.fbx", edits[0])
            self.edited("two.fbx", edits[1])
            self.edited("both.fbx", *edits)
            self.keyferry("convert", "both.fbx", "both.ani", "-y")
            for order in (("one.fbx", "two.fbx"), ("two.fbx", "one.fbx")):
                said = self.keyferry("convert", *order, "out.ani", "-y").err
                self.assertNotIn("was edited in", said)
                self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "both.ani").read_bytes(), (options, order))

    def test_all_kinds_of_edits(self):
        """One edit of each kind in either file, far from each other on one curve: the same as both in one."""
        def slope(curve, i):
            curve.keys[i].set_number(0, curve.keys[i].number(0) + 1.5)

        def stepped(curve, i):
            curve.keys[i].flags = curve.keys[i].flags & ~0x0e | 0x02

        def straight(curve, i):
            curve.keys[i].flags = curve.keys[i].flags & ~0x0e | 0x04

        def tension(curve, i):
            if curve.keys[i].flags & 0x200:
                curve.keys[i].set_number(0, 0.75)

        def later(curve, i):
            curve.move(i, (curve.keys[i + 1].time - curve.keys[i].time) // 3)

        def gone(curve, i):
            curve.remove(i)

        def more(curve, i):
            a, b = curve.keys[i:i + 2]
            curve.insert(i + 1, fbxtext.Key((a.time + b.time) // 2, a.value + 0.3, a.flags, a.data))

        def higher(curve, i):
            curve.keys[i].value += 0.5

        kinds = (slope, stepped, straight, tension, later, gone, more, higher)
        place = ("go", "part", "Lcl Translation", "y")
        for kind in ("TCB", "Bezier", "lines"):
            (self.dir / "e.ani").write_bytes(fitcases.file_of(regioncases.keys_of(random.Random(f"kinds {kind}"), kind)))
            self.keyferry("convert", "e.ani", "d.fbx", "--ascii", "-y")
            for n, one in enumerate(kinds):
                two = kinds[(3 * n + 1) % len(kinds)]
                for name, edits in (("one.fbx", ((one, 3),)), ("two.fbx", ((two, 12),)), ("both.fbx", ((two, 12), (one, 3)))):
                    scene = fbxtext.Scene((self.dir / "d.fbx").read_text())
                    curve = scene.curve(*place)
                    for edit, key in edits:
                        edit(curve, key)
                    curve.store()
                    self.put(name, scene.text().encode())
                self.keyferry("convert", "both.fbx", "both.ani", "-y")
                for order in (("one.fbx", "two.fbx"), ("two.fbx", "one.fbx")):
                    said = self.keyferry("convert", *order, "out.ani", "-y").err
                    self.assertNotIn("was edited in", said)
                    self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "both.ani").read_bytes(),
                                     (kind, one.__name__, two.__name__, order))

    def test_tracks_are_counted_once(self):
        """One take, and then a file that has it and another one; a track that is missing in both, and one in the first alone."""
        self.keyferry("convert", DOOR, "d.fbx", "--ascii")
        self.keyferry("convert", DOOR, "t.fbx", "--ascii", "--split-takes")
        self.edited("one.fbx", (LEFT, 0, -1), of="t.take01.fbx")
        self.edited("two.fbx", (LEFT, 2, -2))
        found = self.json("convert", "--json", "one.fbx", "two.fbx", "out.ani")
        self.assertEqual((found["tracks"], found["changed"]), (8, 1))
        for name, gone, edits in (("one.fbx", ("left", "right"), ()), ("two.fbx", ("right",), ((LEFT, 2, -2),))):
            self.edited(name, *edits)
            scene = fbxtext.Scene((self.dir / name).read_text())
            scene.remove(*(curve.node for where, curve in scene.curves().items() if
                           where[:3:2] == ("door_open", "Lcl Translation") and where[1] in ["anim_door_" + g for g in gone]))
            self.put(name, scene.text().encode())
        found = self.json("convert", "--json", "one.fbx", "two.fbx", "out.ani", "-y")
        self.assertEqual((found["tracks"], found["changed"], found["kept"]), (8, 1, 1), found["changes"])
        self.assertEqual(len(found["changes"]), 2)

    WAYS = ((), ("--for", "maya"), ("--bake",), ("--for", "blender"))

    def changed(self, name, change, of="d.fbx"):
        scene = fbxtext.Scene((self.dir / of).read_text())
        change(scene)
        self.put(name, scene.text().encode())

    @staticmethod
    def turned(scene):
        """The left door turns as the lock does, too."""
        angle = scene.curve("door_open", "anim_door_lock", "Lcl Rotation", "x").node.values[0]
        track, known = scene.up[angle][0][0], set(scene.by_id)
        scene.copy_all(scene.by_id[track], '"AnimCurveNode::R"', ("AnimationCurve",))
        lock, left = (scene.models()["anim_door_" + n].values[0] for n in ("lock", "left"))
        for link in scene.root.first("Connections").all("C"):
            if link.values[1] not in known and link.values[2] == lock:
                link.values[2] = left

    @staticmethod
    def without(scene, where=LEFT[:3]):
        scene.remove(*(curve.node for at, curve in scene.curves().items() if at[:len(where)] == where))

    def test_what_another_file_adds(self):
        """It cannot be missing in a file that was made before it was there."""
        additions = (self.turned, lambda scene: scene.clone("anim_door_lock", "bell"), lambda scene: scene.clone_take("door_open", "door_jam"))
        for options in self.WAYS:
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            self.edited("two.fbx", (LEFT, 0, -1))
            for add in additions:
                self.changed("one.fbx", add)
                self.edited("all.fbx", (LEFT, 0, -1), of="one.fbx")
                self.keyferry("convert", "all.fbx", "all.ani", "-y")
                for files in (("one.fbx", "two.fbx"), ("two.fbx", "one.fbx"), ("one.fbx", "d.fbx", "two.fbx")):
                    for drop in ((), ("--drop-missing",)):
                        found = self.json("convert", "--json", *files, "out.ani", "-y", *drop)
                        self.assertEqual((found["changed"], found["kept"], found["dropped"]), (1, 0, 0), found["changes"])
                        self.assertGreater(found["added"], 0)
                        self.assertNotIn("kept", [m["id"] for m in found["messages"]])
                        self.keyferry("diff", "out.ani", "all.ani")

    def test_what_stands_still_in_the_other(self):
        """Programs write all of a node's numbers, also those that were no track of the original: that is no edit of what is one now."""
        def still(scene):
            for axis in "xyz":
                curve = scene.curve("door_open", "anim_door_left", "Lcl Rotation", axis)
                for key in curve.keys:
                    key.value = 0
                curve.store()

        for options in self.WAYS:
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            self.changed("one.fbx", self.turned)
            self.changed("two.fbx", still, of="one.fbx")
            self.keyferry("convert", "one.fbx", "one.ani", "-y")
            for files in (("one.fbx", "two.fbx"), ("two.fbx", "one.fbx")):
                found = self.json("convert", "--json", *files, "out.ani", "-y")
                self.assertEqual((found["changed"], found["added"], found["kept"]), (0, 1, 0), found["changes"])
                self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "one.ani").read_bytes())

    def test_what_another_file_deletes(self):
        """It stays deleted, unless it was edited."""
        for options in self.WAYS:
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            self.edited("e.fbx")
            for where in (LEFT[:3], LEFT[:1]): # a track, and a whole take
                self.changed("one.fbx", lambda scene: self.without(scene, where))
                self.keyferry("convert", "one.fbx", "one.ani", "-y", "--drop-missing")
                for files in (("one.fbx", "d.fbx"), ("d.fbx", "one.fbx"), ("d.fbx", "one.fbx", "e.fbx")):
                    found = self.json("convert", "--json", *files, "out.ani", "-y", "--drop-missing")
                    self.assertEqual((found["tracks"], found["changed"], found["added"]), (8, 0, 0), found["changes"])
                    self.assertEqual(found["dropped"], 1 if where == LEFT[:3] else 4)
                    self.assertNotIn("conflict", [m["id"] for m in found["messages"]])
                    self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "one.ani").read_bytes())
                self.edited("two.fbx", (LEFT, 0, -1))
                found = self.json("convert", "--json", "one.fbx", "two.fbx", "out.ani", "-y", "--drop-missing")
                self.assertIn('take "door_open", node "anim_door_left": the translation was deleted in one.fbx and edited in two.fbx: the '
                              'latter stays', [m["text"] for m in found["messages"] if m["id"] == "conflict"])
                self.assertEqual((found["tracks"], found["changed"], found["added"]), (8, 1, 0))
                self.assertEqual(found["dropped"], 0 if where == LEFT[:3] else 3)
                self.assertEqual(self.values("out.ani", *LEFT)[0], -1)
                self.keyferry("convert", "two.fbx", "two.ani", "-y")
                if where == LEFT[:3]:
                    self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "two.ani").read_bytes())

    def test_a_newer_file_of_another_name(self):
        """Its take is called as the file is."""
        self.keyferry("convert", BONES, "d.fbx", "--ascii")
        self.edited("newer.fbx", (("two-bones", "bone_00", "Lcl Translation", "x"), 1, 0.5))
        self.keyferry("convert", "newer.fbx", "newer.anim")
        self.keyferry("convert", "d.fbx", "out.anim", "--base", "newer.anim")
        self.assertEqual((self.dir / "out.anim").read_bytes(), (self.dir / "newer.anim").read_bytes())
        self.changed("gone.fbx", lambda scene: self.without(scene, ("two-bones", "bone_00", "Lcl Translation")))
        said = self.keyferry("convert", "gone.fbx", "out.anim", "-y", "--base", "newer.anim").err
        self.assertIn("1 of 3 tracks did not come back", said)

    def test_deleted_in_a_newer_file(self):
        self.keyferry("convert", DOOR, "d.fbx", "--ascii")
        self.changed("one.fbx", self.without)
        self.keyferry("convert", "one.fbx", "one.ani", "--drop-missing")
        self.keyferry("convert", "d.fbx", "out.ani", "--base", "one.ani")
        self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "one.ani").read_bytes())
        self.edited("two.fbx", (LEFT, 0, -1))
        said = self.keyferry("convert", "two.fbx", "out.ani", "-y", "--base", "one.ani").err
        self.assertIn("the translation was deleted in --base and edited in two.fbx: the latter stays", said)
        self.assertEqual(self.values("out.ani", *LEFT)[0], -1)

    def test_into_a_newer_file(self):
        """What was edited in the file since the FBX was made stays."""
        for options in ((), ("--for", "blender")):
            self.keyferry("convert", DOOR, "d.fbx", "--ascii", "-y", *options)
            self.edited("newer.fbx", (LEFT, 0, -1))
            self.keyferry("convert", "newer.fbx", "newer.ani", "-y")
            said = self.keyferry("convert", "d.fbx", "out.ani", "-y", "--base", "newer.ani").err
            self.assertIn("d.fbx came from another file than --base newer.ani: what was not edited in the FBX stays as --base has it", said)
            self.assertIn("0 of 8 tracks changed", said)
            self.assertEqual((self.dir / "out.ani").read_bytes(), (self.dir / "newer.ani").read_bytes())
            self.edited("mine.fbx", (LEFT, 0, -2))
            said = self.keyferry("convert", "mine.fbx", "out.ani", "-y", "--base", "newer.ani").err
            self.assertIn("the translation x at 0.0000 s was edited in --base and in mine.fbx: the latter stays", said)
            self.assertEqual(self.values("out.ani", *LEFT)[0], -2)

    def test_copies_of_one_name(self):
        """Each animator's copy in a folder of their own: messages call them by as much of the path as tells them apart."""
        self.keyferry("convert", DOOR, "d.fbx", "--ascii")
        long = 50 * "long" + "/"  # beyond that a name is cut in messages
        for above in ("", long):
            self.edited(above + "alice/door.fbx", (LEFT, 0, -1))
            self.edited(above + "bob/door.fbx", (LEFT, 0, -2), (LEFT, 1, -3))
        for above in ("", long, str(self.dir) + "/"):
            said = self.keyferry("convert", above + "alice/door.fbx", above + "bob/door.fbx", "out.ani", "-y").err
            self.assertIn("the translation x at 0.0000 s was edited in alice/door.fbx and in bob/door.fbx: the latter stays", said)
            self.assertIn(f"keyferry: {above}alice/door.fbx: 1 of 8 tracks changed", said)
            self.assertEqual(self.values("out.ani", *LEFT)[:2], [-2, -3])
        said = self.keyferry("convert", "d.fbx", "alice/door.fbx", "bob/door.fbx", "out.ani", "-y").err
        self.assertIn("was edited in d.fbx or alice/door.fbx and in bob/door.fbx", said)
        os.rename(self.dir / "bob/door.fbx", self.dir / "door.fbx")
        said = self.keyferry("convert", "alice/door.fbx", "door.fbx", "out.ani", "-y").err
        self.assertIn("was edited in alice/door.fbx and in door.fbx", said)
        self.put("bob/door.fbx", (self.dir / "door.fbx").read_bytes()[:99])
        for files in (("alice/door.fbx", "bob/door.fbx"), ("bob/door.fbx", "alice/door.fbx")):
            self.assertIn("keyferry: bob/door.fbx: ", self.keyferry("convert", *files, "out.ani", "-y", code=1).err)
        for name in ("alice/door.ani", "bob/door.ani"):
            self.put(name, DOOR.read_bytes())
        # A game's parts travel under their names; and nothing tells a file from itself.
        for files in (("alice/door.ani", "bob/door.ani", "new.fbx"), ("alice/door.fbx", "alice/door.fbx", "new.ani")):
            self.assertIn("have the same name", self.keyferry("convert", *files, code=2).err)

    def test_copies_of_one_name_with_sidecars(self):
        """Each has its own beside it, which tells how it was written."""
        right = ("door_open", "anim_door_right", "Lcl Translation", "x")
        for folder, where, options in (("alice/", LEFT, ()), ("bob/", right, ("--for", "blender"))):
            (self.dir / folder).mkdir()
            self.keyferry("convert", DOOR, folder + "door.fbx", "--ascii", "--no-capsule", *options)
            self.edited(folder + "door.fbx", (where, 0, -4), of=folder + "door.fbx")
        for files in (("alice/door.fbx", "bob/door.fbx"), ("bob/door.fbx", "alice/door.fbx")):
            found = self.json("convert", "--json", *files, "out.ani", "-y")
            self.assertEqual((found["original"], found["tracks"], found["changed"]), ("sidecar", 8, 2))
            self.assertEqual([self.values("out.ani", *where)[0] for where in (LEFT, right)], [-4, -4])


if __name__ == "__main__":
    unittest.main()
