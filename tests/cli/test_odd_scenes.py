"""Scenes such as other programs write now and then: what of them cannot be carried is told, the rest comes through."""
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
import fbxtext  # noqa: E402
from command import SOURCE, Case  # noqa: E402
from editcase import EditCase, rename_take  # noqa: E402

LINE = ([(0, 0), (1, 1)], [(0, 0), (1, 0)], [(0, 0), (1, 0)])
STILL = ([(0, 5), (1, 5)],) * 3


class Fresh(Case):
    """Without an original, into each format."""

    def convert(self, id, nodes, *options, change=None, code=0, start=None):
        text = fbxmade.scene(nodes, start=start)
        if change:
            scene = fbxtext.Scene(text)
            change(scene)
            text = scene.text()
        self.put("made.fbx", text.encode())
        said = self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y", *options, code=code).err
        return {p.name: p.read_bytes() for p in (self.dir / id).iterdir()} if code == 0 else None, said

    def two_takes(self, scene):
        scene.clone_take("Take 001", "second")
        rename_take(scene, "second", "a/b\\\\c")
        rename_take(scene, "Take 001", "one")

    def test_takes_with_names_of_paths(self):
        for id in ("vib-anm", "mm2-anim"):
            made, _ = self.convert(id, {"hip": {"T": LINE, "R": LINE}}, change=self.two_takes)
            self.assertEqual(len(made), 2)
            self.assertTrue(any("a_b" in name for name in made), sorted(made))
            self.assertFalse(any(set(name) & set("/\\:") for name in made))

    def test_more_nodes_than_objects(self):
        _, said = self.convert("vib-anm", {f"rock {i}": {"T": LINE} for i in range(300)})
        self.assertRegex(said, r'warning: dropped: node "rock \d+" \(take "Take 001"\): all \d+ objects are taken')

    def test_names_that_are_almost_objects(self):
        _, said = self.convert("vib-anm", {"object_003": {"T": LINE}, "object_1x": {"T": LINE}, "object_99999999999": {"T": LINE}})
        self.assertIn('node "object_1x" is written as object 0', said)
        self.assertIn('node "object_99999999999" is written as object 1', said)
        self.assertNotIn('"object_003"', said)

    def test_a_rate_that_cannot_be_said(self):
        made, said = self.convert("vib-anm", {"hip": {"T": LINE}}, "--fps", "7")
        self.assertIn('take "Take 001": a file cannot say 7.000 frames a second, only 15 to 60', said)
        self.assertEqual(len(made), 1)

    def test_still_but_turned_below_what_turns(self):
        """As many frames as what it hangs on has: it turns with that."""
        made, _ = self.convert("ei-anm", {"hip": {"R": ([(0, 0), (1, 90)], LINE[1], LINE[2])},
                                          "arm": {"parent": "hip", "rest": {"R": (0, 0, 30)}, "T": STILL}})
        counts = {name: struct.unpack_from("<I", data)[0] for name, data in made.items()}
        self.assertEqual(counts, {"arm.anm": 16, "hip.anm": 16})

    def test_nodes_that_do_not_move(self):
        for id in ("x4-ani", "nytro-anim", "ei-anm"):
            _, said = self.convert(id, {"hip": {"T": LINE}, "hinge": {"rest": {"T": (1, 2, 3)}}})
            self.assertIn("note: 1 nodes that do not move were not written", said)

    def test_files_for_nodes_of_one_name(self):
        made, _ = self.convert("ei-anm", {"a?b": {"T": LINE}, "a*b": {"T": LINE}})
        self.assertEqual(sorted(made), ["a_b.anm", "a_b_2.anm"])

    def test_keys_before_the_take(self):
        """The first of them is the first frame."""
        early = ([(-1, 3), (1, 1)], [(-1, 0), (1, 0)], [(-1, 0), (1, 0)])
        made, _ = self.convert("ei-anm", {"hip": {"T": early}})
        count, = struct.unpack_from("<I", made["made.anm"], 4)
        self.assertEqual(count, 31)
        self.assertEqual(struct.unpack_from("<f", made["made.anm"], 8), (3.0,))

    def test_keys_outside_of_the_take(self):
        """Frames are those of the take's span. X4 wants no key beyond its end, Nytro knows no end but the keys."""
        wide = ([(-1, 0), (0, 0), (1, 1), (2, 5)], STILL[1], STILL[2])
        held = ([(-1, 0), (0, 0), (1, 1), (2, 1)], STILL[1], STILL[2])
        for id in ("vib-anm", "mm2-anim", "ei-anm", "x4-ani", "nytro-anim"):
            _, said = self.convert(id, {"hip": {"T": wide}}, start=0)
            sampled = id in ("vib-anm", "mm2-anim", "ei-anm")
            self.assertEqual('warning: take "Take 001" lasts from 0.0000 to 1.0000 s, and what moves outside of that is not written: '
                             '1 curves (first: node "hip", translation, its key at 2.0000 s)' in said, sampled, said)
            self.assertEqual('warning: take "Take 001" ends at 1.0000 s, but has keys up to 2.0000 s: in the file it lasts until then'
                             in said, id == "x4-ani", said)
            self.convert(id, {"hip": {"T": wide}}, "--strict", start=0, code=0 if id == "nytro-anim" else 1)
            _, said = self.convert(id, {"hip": {"T": held}}, start=0)
            self.assertNotIn("not written", said)

    def test_values_beyond_a_float(self):
        for id, size in (("ei-anm", 1e39), ("nytro-anim", -1e39)):
            made, said = self.convert(id, {"hip": {"rest": {"T": (size, 0, 0)}, "R": LINE}})
            self.assertIn("a value is larger than a 32-bit float and was cut", said)
            limit = struct.pack("<f", 3.4028234663852886e38 if size > 0 else -3.4028234663852886e38)
            self.assertTrue(any(limit in data for data in made.values()))
            self.convert(id, {"hip": {"rest": {"T": (size, 0, 0)}, "R": LINE}}, "--strict", code=1)

    def test_too_many_frames(self):
        far = ([(0, 0), (150_000_000, 1)], LINE[1], LINE[2])
        for id in ("ei-anm", "mm2-anim", "vib-anm"):
            _, said = self.convert(id, {"hip": {"T": far}}, code=1)
            self.assertRegex(said, "frames are more than|memory")

    def test_bones_with_the_same_number(self):
        """The order in the file decides then."""
        made, _ = self.convert("mm2-anim", {"bone_01": {"R": ([(0, 10), (1, 10)],) + LINE[1:]}, "bone_1": {"R": ([(0, 20), (1, 20)],) + LINE[1:]},
                                            "bone_00": {"R": ([(0, 30), (1, 30)],) + LINE[1:]}})
        data = made["made.anim"]
        angles = struct.unpack_from("<12f", data, 17)[3::3]
        self.assertEqual([round(a * 57.29578) for a in angles], [30, 10, 20])


class Properties(Case):
    def scene(self, *lines, child=""):
        text = fbxmade.scene({"hip": {"T": LINE}})
        return text.replace('"Null" {\nVersion: 232\nProperties70: {', '"Null" {\nVersion: 232\nProperties70: {\n' + "\n".join(lines), 1)

    def test_every_type_comes_through(self):
        lines = ['P: "short", "Short", "", "U",-7', 'P: "long", "ULongLong", "", "U",5000000000', 'P: "single", "float", "", "U",0.5',
                 'P: "whole", "int", "Integer", "U",3', 'P: "word", "KString", "", "U", "abc"', 'P: "wide", "Short", "", "U",70000']
        self.put("a.fbx", self.scene(*lines).encode())
        self.keyferry("convert", "a.fbx", "b.fbx")
        self.keyferry("convert", "b.fbx", "c.fbx", "--ascii")
        found = fbxtext.Scene((self.dir / "c.fbx").read_text()).models()["hip"].first("Properties70").children
        values = {fbxtext.unquote(p.values[0]): p.values[4:] for p in found}
        self.assertEqual([values[n] for n in ("short", "long", "single", "whole", "word", "wide")],
                         [["-7"], ["5000000000"], ["0.5"], ["3"], ['"abc"'], ["70000"]])

    def test_two_texts(self):
        self.put("a.fbx", self.scene('P: "words", "KString", "", "U", "abc", "def"', 'P: "many", "Vector", "", "U",1,2,3,4,5,6,7,8,9').encode())
        said = self.keyferry("convert", "a.fbx", "b.fbx").err
        self.assertIn('"hip", property words: only its first text is carried', said)

    def test_binary_data(self):
        self.put("a.fbx", self.scene('P: "bytes", "Blob", "", "U",3 {\nBinaryData: "AAAA"\n}').encode())
        self.assertIn('"hip", property bytes: its binary data is not carried', self.keyferry("convert", "a.fbx", "b.fbx").err)

    def test_animated_weight_of_a_layer(self):
        def weigh(scene):
            layer = scene.objects.first("AnimationLayer").values[0]
            for link in scene.root.first("Connections").all("C"):
                if len(link.values) > 3 and "Lcl Translation" in link.values[3]:
                    link.values[2:] = [layer, '"Weight"']
        scene = fbxtext.Scene(fbxmade.scene({"hip": {"T": LINE}}))
        weigh(scene)
        self.put("a.fbx", scene.text().encode())
        self.assertIn("animation layer", self.keyferry("convert", "a.fbx", "b.fbx").err)

    def test_two_sets_of_curves_for_one_property(self):
        """The first in the file counts, in whatever order they are connected."""
        for backwards in (False, True):
            scene = fbxtext.Scene(fbxmade.scene({"hip": {"T": LINE, "S": STILL}}))
            links = scene.root.first("Connections").children
            for link in links:
                if len(link.values) > 3 and "Lcl Scaling" in link.values[3]:
                    link.values[3] = '"Lcl Translation"'
            if backwards:
                links.reverse()
            self.put("a.fbx", scene.text().encode())
            self.assertIn("it has another curve node", self.keyferry("convert", "a.fbx", "b.fbx", "-y").err)
            tracks = self.json("dump", "b.fbx")["takes"][0]["tracks"]
            self.assertEqual([k["v"] for k in tracks[0]["keys"]], [0, 1])

    def test_told_of_an_fbx(self):
        """Who wrote it."""
        self.keyferry("convert", SOURCE / "tests/data/x4-ani/door.ani", "a.fbx")
        self.assertIn(b', written by "Keyferry', self.keyferry("info", "a.fbx").out)


class Shapes(EditCase):
    """Meshes whose shapes move."""
    ending = "anm"
    original = (SOURCE / "tests/data/ei-anm/wing.anm").read_bytes()

    def channels(self, scene):
        return [d for d in scene.objects.all("Deformer") if fbxtext.unquote(d.values[2]) == "BlendShapeChannel"]

    def by_the_mesh(self, scene, copy=False):
        """The weights as properties of the mesh, called like the shapes, as files before 7200 have them."""
        mesh = next(g for g in scene.objects.all("Geometry") if fbxtext.unquote(g.values[2]) == "Mesh")
        links = scene.root.first("Connections")
        names = {c.values[0]: fbxtext.name_of(c) for c in self.channels(scene)}
        self.assertTrue(names)
        for link in list(links.all("C")):
            if link.values[2] in names and len(link.values) > 3:
                if copy:
                    more = fbxtext.Node("C")
                    links.children.append(more)
                    more.values = list(link.values)
                    more.children = None
                else:
                    more = link
                more.values[2:] = [mesh.values[0], '"%s"' % names[link.values[2]]]

    def test_weights_of_the_mesh(self):
        def change(scene):
            self.by_the_mesh(scene)
            scene.root.first("FBXHeaderExtension").first("FBXVersion").values = ["7100"]
            scene.head = scene.head.replace("7.4.0", "7.1.0").replace("7.5.0", "7.1.0")
        self.assertEqual(self.edit(change), self.original, self.said)
        self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_both_ways(self):
        """As Blender writes it: the older way is a copy."""
        self.assertEqual(self.edit(lambda scene: self.by_the_mesh(scene, copy=True)), self.original, self.said)
        self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_in_between(self):
        def change(scene):
            channel = self.channels(scene)[0]
            shape = next(c.values[1] for c in scene.root.first("Connections").all("C") if c.values[2] == channel.values[0] and
                         scene.by_id[c.values[1]].name == "Geometry")
            scene.copy_all(scene.by_id[shape], '"Geometry::half"', ())
            channel = self.channels(scene)[0]
            channel.first("FullWeights").values = ["*2"]
            channel.first("FullWeights").first("a").values = ["50", "100"]
        self.edit(change)
        self.assertRegex(self.said, "its 1 in-between shapes are not carried")


class Skeletons(Case):
    def check(self, skel, code, reason=""):
        self.put("ped.skel", skel)
        clip = SOURCE / "tests/data/mm2-anim/two-bones.anim"
        said = self.keyferry("convert", clip, "a.fbx", "--rig", "ped.skel", "-y", code=code).err
        self.assertIn(reason, said)

    def test_numbers(self):
        bones = b"numbones 2\nbone root {\noffset %s 0 0\nbone arm {\noffset 0 0 0\n}\n}\n"
        self.check(bones % b"1", 0)
        self.check(bones % (b"0." + b"0" * 310 + b"1"), 0)
        self.check(bones % (b"1" + b"0" * 500), 1, "a number of reasonable size")
        self.check(bones % b"1e999", 1, "a finite number")

    def test_a_name_with_nul(self):
        self.check(b"numbones 1\nbone ro\0ot {\noffset 0 0 0\n}\n", 1, "a name without NUL")


class Alone(Case):
    def test_several_files_for_one(self):
        """Formats whose files hold everything say so."""
        for name in ("a", "b"):
            self.put(f"{name}.ani", (SOURCE / "tests/data/x4-ani/door.ani").read_bytes())
        self.assertIn("is read alone, not with 1 others", self.keyferry("convert", "a.ani", "b.ani", "out.fbx", code=2).err)


if __name__ == "__main__":
    unittest.main()
