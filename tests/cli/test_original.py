"""Which original an FBX goes back into, and what is said where that is not the one it came from."""
import os
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import DOOR, SOURCE, Case  # noqa: E402

TURRET = SOURCE / "tests" / "data" / "x4-ani" / "turret.ani"
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
        self.assertIn('warning: take "door_open", node "anim_door_left": the translation was edited in one.fbx and in two.fbx: the latter '
                      'stays', said)
        self.assertEqual(said.count("changed: take"), 1, said)
        self.assertIn("1 of 4 tracks changed", said)
        self.assertEqual(self.values("out.ani", *LEFT)[1], -2)
        self.keyferry("convert", "one.fbx", "two.fbx", "out.ani", "-y", "--strict", code=1)
        said = self.keyferry("convert", "one.fbx", "d.take02.fbx", "two.fbx", "out.ani", "-y").err
        self.assertIn("was edited in an FBX before it and in two.fbx", said)

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
            self.assertIn("the translation was edited in --base and in mine.fbx: the latter stays", said)
            self.assertEqual(self.values("out.ani", *LEFT)[0], -2)


if __name__ == "__main__":
    unittest.main()
