"""What is the same for every format that edits come home to: several edits at once are each of them, a dry run and JSON tell
of them, a scene for Blender keeps what nobody touched, takes that were added are written or told of, and diff knows nodes
by their names. Single edits, byte by byte, stand in the other test_edits files; those that a format cannot hold:

    value, time, a key more or less, a region of a bake, nodes, the take's name: all five, but
        Midtown Madness 2, Vib-Ribbon and Evil Islands have a value a frame, so that a key is a frame and its time a place,
        and no name of a take (and Evil Islands none of a node): a new name changes no byte, and is told of
    tangent: X4 and Nytro (as T, C and B); the others have straight lines or steps
    T, C, B: X4 and Nytro"""
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import test_edits as x4  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
import test_edits_sampled as sampled  # noqa: E402
from editcase import EditCase, add, rename_take  # noqa: E402

MOVE, TURN = "Lcl Translation", "Lcl Rotation"
DOOR = x4.ani([(b"door", b"open", 3.0, (x4.bezier_keys(), x4.tcb_keys(), [])), (b"lamp", b"open", 3.0, (x4.bezier_keys(), [], [])),
               (b"door", b"close", 3.0, (x4.bezier_keys(), [], []))])

# ending, bytes, take, curves of which a key each is moved
FORMATS = {
    "x4-ani": ("ani", DOOR, "open", (("open", "door", MOVE, "y"), ("open", "lamp", MOVE, "x"), ("close", "door", MOVE, "z"))),
    "nytro-anim": ("nanim", nytro.Nytro.original, "walk", (("walk", "hip", MOVE, "x"), ("walk", "arm", MOVE, "y"))),
    "ei-anm": ("anm", sampled.ei(), "animation", (("animation", "x", MOVE, "y"), ("animation", "x", TURN, "y"))),
    "mm2-anim": ("anim", sampled.mm2(), "x", (("x", "bone_00", MOVE, "x"), ("x", "bone_01", TURN, "z"))),
    "vib-anm": ("anm", sampled.VibRibbon.original, "x", (("x", "object_000", MOVE, "y"), ("x", "object_007", TURN, "x"))),
}


class All(EditCase):
    def each(self):
        for name, (self.ending, self.original, take, places) in FORMATS.items():
            yield name, take, places

    def test_several_at_once(self):
        """What comes back after several edits differs where one of them does, and as with it alone. In a scene for Blender,
        too, where the format has a value a frame."""
        for name, take, places in self.each():
            frames = name not in ("x4-ani", "nytro-anim")
            for options in ((), ("--for", "blender"))[:1 + frames]:
                edits = [lambda scene, where=where: add(scene, where, 2 if not options else 4, 5.0) for where in places]
                if name in ("x4-ani", "nytro-anim"):
                    edits.append(lambda scene: rename_take(scene, take, "a" * len(take)))
                alone = [self.edit(edit, *options) for edit in edits]
                now = self.edit(lambda scene: [edit(scene) for edit in edits], *options)
                wanted = bytearray(self.original)
                for one in alone:
                    self.assertEqual(len(one), len(wanted))
                    places_of = [i for i in range(len(one)) if one[i] != self.original[i]]
                    self.assertTrue(places_of)
                    for i in places_of:
                        self.assertEqual(wanted[i], self.original[i], "two edits in one place show nothing")
                        wanted[i] = one[i]
                self.assertEqual(now, bytes(wanted))

    def test_told(self):
        """--json, --dry-run and both: the same is told, and nothing written but without a dry run."""
        for name, _, places in self.each():
            self.edit(lambda scene: add(scene, places[0], 2, 5.0))
            text = self.said
            there = self.json("convert", "x." + self.ending, "there.fbx", "-y", "--json")
            self.assertIn("1 of %d tracks changed" % there["tracks"], text)  # the game's, however many FBX needs for them
            self.assertRegex(text, r"1 of \d+ tracks changed\n.*changed: take \"%s\", node \"%s\", translation" % places[0][:2])
            out = "z." + self.ending
            for dry in (True, False):
                words = ("convert", "x.fbx", out, "-y", *(["--dry-run"] if dry else []))
                told = self.json(*words, "--json")
                self.assertEqual((self.dir / out).exists(), not dry)
                self.assertEqual((told["dry_run"], told["ok"], told["to"], told["merged"]), (dry, True, name, True))
                self.assertEqual((told["changed"], told["added"], told["kept"], told["dropped"]), (1, 0, 0, 0))
                self.assertEqual(told["outputs"], [] if dry else [out])
                self.assertEqual(len(told["changes"]), 1)
                self.assertIn(told["changes"][0], text)
                said = self.keyferry(*words).err
                self.assertEqual(re.sub(r" \(dry run: nothing written\)", "", said), text)
            self.assertEqual((self.dir / out).read_bytes(), (self.dir / ("y." + self.ending)).read_bytes())
            (self.dir / out).unlink()

    def test_region_in_blender(self):
        """A stretch of one curve is pulled in a scene for Blender: all other curves come back as they were."""
        for _, _, places in self.each():
            where = places[0]

            def change(scene):
                curve = scene.curve(*where)
                middle = len(curve.keys) // 2
                for i, k in enumerate(curve.keys):
                    if abs(i - middle) < 4:
                        k.value += 3.0
                curve.store()

            def tracks(file):
                anim = self.json("dump", file)
                return {(take["name"], anim["nodes"][t["node"]]["name"], t["channel"], t.get("name"), t.get("component")):
                        t["keys"] for take in anim["takes"] for t in take["tracks"]}
            now = self.edit(change, "--for", "blender")
            self.assertNotEqual(now, self.original)
            again = self.put("again/x." + self.ending, now)  # some name take or node after the file
            was, is_now = tracks("x." + self.ending), tracks(again)
            self.assertEqual(set(was), set(is_now))
            for track in was:
                if track[:2] != where[:2] or track[2] != "translation":
                    self.assertEqual(was[track], is_now[track], track)
            found = self.json("diff", "x." + self.ending, again, "--json", code=1)["differences"]
            beyond = [d["channel"] for d in found if d["worst"] > d["limit"]]
            self.assertEqual(beyond, ["translation.%s" % where[3]])

    def test_take_added(self):
        """X4 holds many; a file for each take, where the format has one to a file; else it is told of."""
        for name, take, places in self.each():
            if name in ("mm2-anim", "vib-anm"):
                self.assertEqual(self.edit(lambda scene: scene.clone_take(take, "second")), self.original)
                told = r'warning: "\w*second\.\w+", a take that the original has not got, was not written: .* give a folder'
                self.assertRegex(self.said, told)
                self.assertRegex(self.keyferry("convert", "x.fbx", "y." + self.ending, "-y", "--dry-run").err, told)
                self.keyferry("convert", "x.fbx", "y." + self.ending, "-y", "--strict", code=1)
                self.keyferry("convert", "x.fbx", name + "/", "-y", "--dry-run")
                self.keyferry("convert", "x.fbx", name + "/", "-y")
                self.assertEqual((self.dir / name / ("x." + self.ending)).read_bytes(), self.original)
                other, = {n for n in self.names() if n.startswith(name + "/")} - {name + "/x." + self.ending}
                self.assertIn("second", other)
                self.keyferry("diff", "x." + self.ending, other)
                continue
            now = self.edit(lambda scene: scene.clone_take(take, "second"))
            if name != "x4-ani":
                self.assertEqual(now, self.original)
                self.assertIn('warning: take "second" was not written: the format holds one', self.said)
                continue
            self.assertIn("0 of 7 tracks changed, 3 added", self.said)
            self.assertEqual(int.from_bytes(now[:4], "little"), 5)
            self.assertEqual(now[16:16 + 3 * 160], self.original[16:16 + 3 * 160])
            keys = len(self.original) - 16 - 3 * 160
            self.assertEqual(now[16 + 5 * 160:16 + 5 * 160 + keys], self.original[-keys:])

    def test_diff_by_name(self):
        """Nodes in another order are the same; under another name they are others, and so it is told."""
        def shuffle(scene):
            objects = scene.objects.children
            random.Random(5).shuffle(objects)
            random.Random(6).shuffle(scene.root.first("Connections").children)
        for _, _, places in self.each():
            node = places[0][1]
            self.edit(shuffle, "--tcb", "slopes")
            self.assertTrue(self.json("diff", "x." + self.ending, "x.fbx", "--json")["same"])
            self.assertEqual((self.dir / ("y." + self.ending)).read_bytes(), self.original)
            # what a format names after its file is not another thing in another file
            self.assertTrue(self.json("diff", "x." + self.ending, "y." + self.ending, "--json")["same"])

            def rename(scene):
                scene.models()[node].values[1] = '"Model::stranger"'
            self.edit(rename, "--tcb", "slopes")
            found = self.json("diff", "x." + self.ending, "x.fbx", "--json", code=1)["differences"]
            self.assertEqual({d["only"] for d in found if d["node"] == node}, {"a"})
            self.assertEqual({d["only"] for d in found if d["node"] == "stranger"}, {"b"})


del x4.Edits, nytro.Nytro, sampled.EvilIslands, sampled.Midtown, sampled.VibRibbon  # their tests are run there

if __name__ == "__main__":
    unittest.main()
