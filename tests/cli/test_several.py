"""Copies of one FBX that came back from programs, each in its own way: all that was edited in either goes home, in any order."""
import importlib.util
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxtext  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
import test_wrapper as wrapper  # noqa: E402
from command import DOOR, SOURCE, Case  # noqa: E402
from editcase import by_a_program, each, rename_take  # noqa: E402

spec = importlib.util.spec_from_file_location("generate_x4", SOURCE / "tests" / "generate" / "x4_ani.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

WING = SOURCE / "tests" / "data" / "ei-anm" / "wing.anm"
LEFT = ("door_open", "anim_door_left", "Lcl Translation", "x")
RIGHT = ("door_close", "anim_door_right", "Lcl Translation", "x")


class Copies(Case):
    ending = "ani"

    def begin(self, original, *options):
        self.put("d." + self.ending, original)
        self.keyferry("convert", "d." + self.ending, "d.fbx", "--ascii", "-y", *options)

    def changed(self, name, *changes):
        """A copy of d.fbx; the file that it becomes alone is NAME.ENDING."""
        scene = fbxtext.Scene((self.dir / "d.fbx").read_text())
        for change in changes:
            change(scene)
        self.put(name + ".fbx", scene.text().encode())
        self.said = self.keyferry("convert", name + ".fbx", name + "." + self.ending, "-y").err

    def together(self, *names, options=(), code=0):
        """What these become together."""
        self.said = self.keyferry("convert", *(name + ".fbx" for name in names), "out." + self.ending, "-y", *options, code=code).err
        return (self.dir / ("out." + self.ending)).read_bytes() if code == 0 else None

    def alone(self, name):
        return (self.dir / (name + "." + self.ending)).read_bytes()

    def in_any_order(self, names, wanted):
        for order in (names, names[::-1]):
            self.assertEqual(self.together(*order), wanted, self.said)
            self.assertNotIn("warning", self.said)


def value(where, key, number):
    def change(scene):
        curve = scene.curve(*where)
        curve.keys[key].value = number
        curve.store()
    return change


def without_description(data, name, take):
    """A file of X4's without one of its descriptions, and its keys."""
    count, _, version, padding = struct.unpack_from("<4I", data)
    heads, keys, at = b"", b"", 16 + 160 * count
    for i in range(count):
        head = data[16 + 160 * i:][:160]
        size = 128 * sum(struct.unpack_from("<5I", head, 128))
        if (head[:64].split(b"\0")[0].decode(), head[64:128].split(b"\0")[0].decode()) != (name, take):
            heads, keys = heads + head, keys + data[at:at + size]
        at += size
    return struct.pack("<4I", len(heads) // 160, 16 + len(heads), version, padding) + heads + keys


class Takes(Copies):
    """The first file names its takes otherwise."""

    def test_as_a_program_does(self):
        self.begin(DOOR.read_bytes())

        def named(scene):
            for name in ("door_open", "door_close"):
                rename_take(scene, name, "x|" + name)
        self.changed("named", value(LEFT, 1, -2), named)
        self.changed("edited", value(RIGHT, 1, 3))
        self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3))
        for names in (("named", "edited"), ("edited", "named")):
            self.assertEqual(self.together(*names), self.alone("all"), self.said)

    def test_renamed(self):
        """The name stays, and so does what was edited in that take."""
        for options in ((), ("--bake",)):
            self.begin(DOOR.read_bytes(), *options)
            self.changed("same")
            self.changed("named", value(LEFT, 1, -2), lambda scene: rename_take(scene, "door_open", "gate_open"))
            self.in_any_order(("named", "same"), self.alone("named"))
            self.changed("edited", value(RIGHT, 1, 3))
            self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3), lambda scene: rename_take(scene, "door_open", "gate_open"))
            self.in_any_order(("named", "edited"), self.alone("all"))
            self.assertEqual(self.said.count("changed: take"), 2, self.said)
            self.keyferry("convert", "d.fbx", "base.ani", "-y", "--base", "named.ani")
            self.assertEqual((self.dir / "base.ani").read_bytes(), self.alone("named"))

    def test_renamed_twice(self):
        self.begin(DOOR.read_bytes())
        for name in ("gate", "hatch"):
            self.changed(name, lambda scene: rename_take(scene, "door_open", name))
        self.assertEqual(self.together("gate", "hatch"), self.alone("hatch"))
        self.assertIn('take "door_open" is called "gate" in gate.fbx and "hatch" in hatch.fbx: the latter stays', self.said)
        self.together("gate", "hatch", options=("--strict",), code=1)

    def test_added_twice(self):
        self.begin(DOOR.read_bytes())
        self.changed("one", lambda scene: scene.clone_take("door_open", "jam"))
        self.changed("two", lambda scene: scene.clone_take("door_close", "jam"))
        self.together("one", "two")
        self.assertIn('added: take "jam", node "anim_door_left", translation (one.fbx), but otherwise in two.fbx: the latter stays', self.said)


class Parts(Copies):
    """Each file has only some of the nodes, as where a program exported what was selected."""

    @staticmethod
    def without(*names):
        return lambda scene: scene.remove(*(scene.models()[name] for name in names))

    def test_all_there_together(self):
        self.begin(DOOR.read_bytes())
        self.changed("left", value(LEFT, 1, -2), self.without("anim_door_right"))
        self.assertIn('warning: take "door_open": 1 of 4 tracks did not come back', self.said)
        self.changed("right", value(RIGHT, 1, 3), self.without("anim_door_left"))
        self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3))
        self.in_any_order(("left", "right"), self.alone("all"))
        self.assertIn("2 of 8 tracks changed\n", self.said)
        self.assertNotIn("did not come back", self.said)

    def test_in_none_of_them(self):
        self.begin(DOOR.read_bytes())
        self.changed("left", value(LEFT, 1, -2), self.without("anim_door_right", "anim_door_lock"))
        self.changed("right", value(RIGHT, 1, 3), self.without("anim_door_left", "anim_door_lock"))
        self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3))
        for names in (("left", "right"), ("right", "left")):
            self.assertEqual(self.together(*names), self.alone("all"))
            for take in ("door_open", "door_close"):
                self.assertEqual(self.said.count(f'warning: take "{take}": 2 of 4 tracks did not come back'), 1, self.said)
            self.assertIn("2 of 8 tracks changed, 4 kept that did not come back\n", self.said)
        self.together("left", "right", options=("--strict",), code=1)


    def test_renamed_take(self):
        """What the first file made has the take by its new name, the second file by the old one."""
        self.begin(DOOR.read_bytes())
        self.changed("named", value(LEFT, 1, -2), self.without("anim_door_right"), lambda scene: rename_take(scene, "door_open", "gate"))
        self.changed("whole", value(LEFT, 2, -3))
        self.changed("right", self.without("anim_door_left"))
        for names in (("named", "whole"), ("whole", "named"), ("named", "right"), ("right", "named"), ("named", "whole", "right")):
            self.together(*names)
            self.assertNotIn("did not come back", self.said, names)
            self.assertIn("1 of 8 tracks changed\n", self.said, names)
            self.assertEqual(self.said.count("changed: take"), 1, self.said)
            self.assertIn('renamed: take "door_open" is "gate" now', self.said)


class Forms(Copies):
    """What bends nothing is an edit all the same: a kind of key, or a number, on a component that stands still."""

    def test_on_what_stands_still(self):
        self.begin(DOOR.read_bytes())

        def step(scene):
            curve = scene.curve(*LEFT[:3], "y")
            curve.keys[1].flags = curve.keys[1].flags & ~0xe | 2
            curve.store()

        def tension(scene):
            curve = scene.curve("door_open", "anim_door_lock", "Lcl Rotation", "x")
            curve.keys[1].set_number(0, 0.66)
            curve.store()
        self.changed("same")
        for change in (step, tension):
            self.changed("edited", change)
            self.assertNotEqual(self.alone("edited"), DOOR.read_bytes())
            for names in (("edited", "same"), ("same", "edited")):
                self.assertEqual(self.together(*names), self.alone("edited"), self.said)

    def test_deleted_where_it_was_edited(self):
        self.begin(DOOR.read_bytes())
        self.changed("edited", value(LEFT, 1, -2))
        self.changed("gone", lambda scene: scene.remove(*(c.node for at, c in scene.curves().items() if at[:3] == LEFT[:3])))
        self.together("edited", "gone", options=("--drop-missing",))
        self.assertIn('changed: take "door_open", node "anim_door_left", translation: 1 keys changed, 0 added, 0 removed (edited.fbx), but deleted '
                      "in gone.fbx: the latter stays", self.said)
        self.together("edited", "gone", options=("--drop-missing", "--strict"), code=1)

    def test_edited_where_it_was_deleted(self):
        """Into the original's bytes, as if nobody had deleted it."""
        gone = Parts.without("anim_door_left")
        for there in ((), ("--bake",)):
            self.begin(DOOR.read_bytes(), *there)
            self.changed("gone", value(RIGHT, 1, 3), gone)
            self.changed("edited", value(LEFT, 1, -2))
            self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3))
            self.changed("same")
            left = self.keyferry("convert", "all.fbx", "left.ani", "-y").err
            self.assertIn("2 of 8 tracks changed\n", left)
            # Of the two takes that the node is in, one was not edited: there it stays deleted.
            now = self.together("gone", "edited", options=("--drop-missing",))
            self.assertIn('take "door_open", node "anim_door_left": the translation was deleted in gone.fbx and edited in edited.fbx: the latter '
                          "stays", self.said)
            self.assertIn("2 of 8 tracks changed, 1 dropped\n", self.said)
            self.assertEqual(now, without_description(self.alone("all"), "anim_door_left", "door_close"))
            self.together("gone", "edited", options=("--drop-missing", "--strict"), code=1)
            # The last word counts.
            both = without_description(without_description(self.alone("gone"), "anim_door_left", "door_close"), "anim_door_left", "door_open")
            for names in (("edited", "gone"), ("gone", "same"), ("same", "gone"), ("gone", "edited", "gone2")):
                self.put("gone2.fbx", (self.dir / "gone.fbx").read_bytes())
                self.assertEqual(self.together(*names, options=("--drop-missing",)), both, (names, self.said))

    def test_deleted_in_one_take_of_several_files(self):
        self.put("d.ani", DOOR.read_bytes())
        self.keyferry("convert", "d.ani", "d.fbx", "--ascii", "--split-takes")
        scene = fbxtext.Scene((self.dir / "d.take01.fbx").read_text())
        take, = scene.takes()
        Parts.without("anim_door_left")(scene)
        self.put("d.take01.fbx", scene.text().encode())
        for names in (("d.take01", "d.take02"), ("d.take02", "d.take01")):
            self.assertEqual(self.together(*names, options=("--drop-missing",)), without_description(DOOR.read_bytes(), "anim_door_left", take))
            self.assertIn("0 of 8 tracks changed, 1 dropped\n", self.said)


class Plain(Copies):
    """One of the files has lost its original: it came from that of the others."""
    TAKEN = "plain.fbx does not carry its original: it is taken to have come from that of edited.fbx"

    def plain(self, *changes, there=(), named=False):
        """plain.fbx, edited on the right; whether it is by the name of its wrapper the same FBX."""
        def bare(scene):
            wrapper_node = next(node for name, node in scene.models().items() if name.startswith("keyferry_"))
            scene.remove_property(wrapper_node, "keyferry_capsule")
            if not named:
                wrapper_node.values[1] = '"Model::keyferry_00000000"'
        self.begin(DOOR.read_bytes(), "--no-sidecar", *there)
        self.changed("whole", *changes)
        self.changed("plain", *changes, bare)

    def test_any_order(self):
        for there in ((), ("--tcb", "slopes"), ("--for", "blender")):
            for named in (False, True):
                with self.subTest(there=there, named=named):
                    self.plain(value(RIGHT, 1, 3), there=there, named=named)
                    self.changed("edited", value(LEFT, 1, -2))
                    wanted = self.together("whole", "edited")
                    for names in (("plain", "edited"), ("edited", "plain")):
                        self.assertEqual(self.together(*names), wanted, (names, self.said))
                        self.assertIn("note: " + self.TAKEN, self.said)
                        self.assertNotIn("warning", self.said)
                        self.assertIn("2 of 8 tracks changed\n", self.said)

    def test_written_otherwise(self):
        """Other curves than its lender's."""
        self.begin(DOOR.read_bytes(), "--for", "blender", "--no-sidecar")
        self.changed("edited", value(LEFT, 12, -2))
        for there in ((), ("--tcb", "slopes")):
            self.plain(value(RIGHT, 1, 3), there=there)
            wanted = self.together("whole", "edited")
            for names in (("plain", "edited"), ("edited", "plain")):
                self.assertEqual(self.together(*names), wanted, (names, self.said))

    def test_from_another(self):
        """What its wrapper is called says so."""
        self.plain(value(RIGHT, 1, 3), lambda scene: scene.models()[next(n for n in scene.models() if n.startswith("keyferry_"))].values.__setitem__(
            1, '"Model::keyferry_1234abcd"'), named=True)
        self.changed("edited", value(LEFT, 1, -2))
        for names in (("plain", "edited"), ("edited", "plain")):
            self.together(*names)
            self.assertIn("warning: plain.fbx came from an original that is not here (1234abcd): it is taken to have come from that of edited.fbx; "
                          "if it has not, convert it by itself, with --base FILE", self.said)
            self.together(*names, options=("--strict",), code=1)

    def test_base(self):
        """None has, but it is given."""
        self.plain(value(LEFT, 1, -2))
        self.put("one.fbx", (self.dir / "plain.fbx").read_bytes())
        self.plain(value(RIGHT, 1, 3))
        self.changed("all", value(LEFT, 1, -2), value(RIGHT, 1, 3))
        for names in (("one", "plain"), ("plain", "one")):
            self.assertEqual(self.together(*names, options=("--base", "d.ani")), self.alone("all"), self.said)

    def test_none(self):
        self.plain(value(RIGHT, 1, 3))
        self.put("one.fbx", (self.dir / "plain.fbx").read_bytes())
        self.together("one", "plain")
        self.assertIn("there is no original (no capsule, no sidecar, no --base): the whole file is made anew", self.said)


class Numbers(Copies):
    """A track that did not come back, but its numbers did, and were edited."""

    def test_counted_once(self):
        keys = [generate.key(t / 4, (math.sin(t), 0.3 * t, math.cos(t)), generate.TCB, tcb=(0, 0, 0, 0.2, 0.3)) for t in range(5)]
        self.begin(generate.ani([generate.description("part", "go", 1.0, pos=keys), generate.description("other", "go", 1.0, pos=keys)]))

        def ease(scene):
            scene.remove(*(c.node for at, c in scene.curves().items() if at[1:3] == ("part", "Lcl Translation")))
            for number in ("kf_translation_ease_in", "kf_translation_ease_out"):
                value(("go", "part", number, number), 1, 0.55)(scene)
        self.changed("again", ease)
        self.changed("numbers", ease)
        self.assertIn("1 of 2 tracks changed, 1 kept that did not come back\n", self.said)
        self.changed("moved", value(("go", "part", "Lcl Translation", "x"), 3, 5))
        self.changed("same")
        for names in (("numbers", "moved"), ("moved", "numbers"), ("numbers", "moved", "same"), ("numbers", "same", "moved"),
                      ("same", "numbers", "again", "moved"), ("numbers", "same")):
            self.together(*names)
            self.assertIn("1 of 2 tracks changed\n", self.said, names)
            self.assertNotIn("did not come back", self.said, names)
        self.together("numbers", "again")
        self.assertIn("1 of 2 tracks changed, 1 kept that did not come back\n", self.said)


class Programs(Copies):
    """What programs do to nodes is no number to be taken over."""

    def test_axes(self):
        self.begin(DOOR.read_bytes(), "--for", "blender")
        self.changed("turned", by_a_program, lambda scene: wrapper.unwrap(scene, wrapper.METRES, keep=True))
        self.changed("same", by_a_program)
        for names in (("turned", "same"), ("same", "turned")):
            self.assertEqual(self.together(*names), DOOR.read_bytes(), self.said)

    def test_rotation_order(self):
        self.begin(DOOR.read_bytes())

        def order(scene):
            properties = scene.models()["anim_door_lock"].first("Properties70")
            node = fbxtext.Node("P")
            node.values = ['"RotationOrder"', '"enum"', '""', '""', "1"]
            properties.children.append(node)
        self.changed("other", order, value(("door_open", "anim_door_lock", "Lcl Rotation", "x"), 1, 17))
        self.changed("same")
        self.assertNotEqual(self.alone("other"), DOOR.read_bytes())
        for names in (("other", "same"), ("same", "other")):
            self.assertEqual(self.together(*names), self.alone("other"), self.said)


class Shapes(Copies):
    ending = "anm"

    def test_a_node_with_another_name(self):
        self.begin(WING.read_bytes())

        def moved(scene):
            shape = next(g for g in scene.objects.all("Geometry") if "Shape" in g.values[2])
            numbers = shape.array("Vertices")
            numbers[0] = str(float(numbers[0]) + 0.5)
            shape.set_array("Vertices", numbers)
            scene.models()["d"].values[1] = '"Model::d.001"'
        self.changed("moved", moved)
        self.changed("same")
        self.assertNotEqual(self.alone("moved"), WING.read_bytes())
        for names in (("moved", "same"), ("same", "moved")):
            self.assertEqual(self.together(*names), self.alone("moved"), self.said)


class Twins(Copies):
    ending = "nanim"

    def file(self, *names):
        moves = [(t, None, (v, 0.2, 0.3)) for t, v in ((0.0, 0.1), (1.0, 0.4), (2.0, 0.2), (2.0, 0.9), (3.0, 0.3))]
        more = b"".join(name + b"\0" + nytro.struct.pack("<4I", nytro.LINEAR, len(moves), 0, 0) + b"".join(nytro.key(*k) for k in moves)
                        for name in names)
        return nytro.build(hip=False, arm=False, more=more, nodes=len(names))[0]

    def test_two_nodes_of_one_name(self):
        self.begin(self.file(b"hip", b"hip"))
        self.changed("one", value(("walk", "hip", "Lcl Translation", "x"), 0, 5))
        self.begin(self.file(b"hip", b"hip"), "--for", "maya")
        self.changed("two", value(("walk", "hip__2", "Lcl Translation", "x"), 0, 6))
        self.together("one", "two")
        self.assertIn("2 of 2 tracks changed", self.said)
        self.assertNotIn("(one.fbx)", self.said)

    def test_a_jump(self):
        """A key put behind another at its time stays behind it; the jump that was there stays one."""
        self.begin(self.file(b"hip"))

        def jump(scene):
            def work(curve):
                key = curve.keys[1]
                curve.keys.insert(2, fbxtext.Key(key.time, key.value + 4.6, key.flags, key.data))
            each(scene, "walk", "hip", "Lcl Translation", work)
        low = value(("walk", "hip", "Lcl Translation", "x"), 0, -1)
        self.changed("edited", low)
        self.changed("jump", jump)
        self.changed("all", jump, low)
        for names in (("edited", "jump"), ("jump", "edited")):
            self.assertEqual(self.together(*names), self.alone("all"), self.said)

    def test_whose_edit_it_is(self):
        self.begin(self.file(b"hip"))
        self.changed("one", value(("walk", "hip", "Lcl Translation", "x"), 0, 5))
        self.changed("two")
        self.begin(self.file(b"hip"), "--for", "maya")
        self.changed("three", value(("walk", "hip", "Lcl Translation", "x"), 0, 6))
        self.together("one", "two", "three")
        self.assertIn("was edited in one.fbx or two.fbx and in three.fbx: the latter stays", self.said)


class Many(Copies):
    """A file for each of many takes: the next one needs no more memory than the last."""

    def test_memory(self):
        takes, parts, frames = 40, 10, [generate.frame(10 * n) for n in range(6)]
        lists = [generate.description(f"part{part}", f"take{take}", frames[-1], generate.bezier_keys(
            frames, [(math.sin(part + f), math.cos(take + f), f) for f in frames])) for take in range(takes) for part in range(parts)]
        data = generate.ani(lists)
        self.put("d.ani", data)
        self.keyferry("convert", "d.ani", "d.fbx", "--split-takes")
        files = sorted(path.name for path in self.dir.glob("d.take*.fbx"))
        self.assertEqual(len(files), takes)
        self.keyferry("convert", *files, "out.ani", "--max-memory", "60M")
        self.assertEqual((self.dir / "out.ani").read_bytes(), data)


if __name__ == "__main__":
    unittest.main()
