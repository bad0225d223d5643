"""What is told, and in what words: of channels, layers, rates, ranges and meshes that are not as they were."""
import json
import os
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxmade  # noqa: E402
import fbxtext  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
from command import SOURCE, Case  # noqa: E402
from editcase import EditCase, add, by_a_program  # noqa: E402
from test_layers import Adding  # noqa: E402

DATA = SOURCE / "tests" / "data"
LINE = ([(0, 0), (1, 1)], [(0, 0), (1, 0)], [(0, 0), (1, 0)])


class Told(Case):
    def test_custom_channels(self):
        said = self.keyferry("explain", DATA / "mm2-anim/four-channels.anim", "--for", "maya").out.decode()
        self.assertRegex(said, r"keeps    animated custom channels \(\d+ tracks?\)")

    def test_layers(self):
        scene = fbxtext.Scene(fbxmade.scene({"hip": {"T": LINE}}))
        adding = Adding(scene)
        stack, = scene.takes().values()
        adding.curves(adding.layer(stack.values[0], "Extra"), scene.models()["hip"].values[0])
        self.put("a.fbx", scene.text().encode())
        tracks = self.json("dump", "a.fbx")["takes"][0]["tracks"]
        self.assertEqual([t.get("layer", 0) for t in tracks], [0, 0, 0, 1, 1, 1])
        found = self.json("diff", "a.fbx", "a.fbx", "--json")
        self.assertTrue(found["same"])

    def test_duration(self):
        """A file may last longer than its keys."""
        data = bytearray((DATA / "x4-ani/door.ani").read_bytes())
        self.put("a.ani", bytes(data))
        for i in range(struct.unpack_from("<I", data)[0]):
            duration, = struct.unpack_from("<f", data, 16 + 160 * i + 148)
            struct.pack_into("<f", data, 16 + 160 * i + 148, duration + 0.5)
        self.put("b.ani", bytes(data))
        said = self.keyferry("diff", "a.ani", "b.ani", code=1).out.decode()
        self.assertIn('take "door_open": its duration differs by 0.5 s\n', said)
        self.assertRegex(said, r"different: \d+ compared, 2 beyond tolerance")
        found = self.json("diff", "a.ani", "b.ani", "--json", code=1)["differences"]
        self.assertEqual([(d["node"], d["channel"], round(d["worst"], 5)) for d in found], 2 * [("", "duration", 0.5)])

    def test_duration_at_two_rates(self):
        """Half a frame of the finer one, whichever comes first."""
        for name, rate, frames in (("a.anm", 15, 3), ("b.anm", 60, 10)):  # 0.1333 and 0.15 s
            pose = struct.pack("<BB3h", 7, 1, 90, 0, 0)
            first = 6 + 2 * (frames + 1)
            offsets = [first // 2] + [(first + len(pose)) // 2] * frames
            self.put(name, struct.pack(f"<{3 + len(offsets)}H", 0x8000, rate, frames, *offsets) + pose)
        for pair in ("a.anm", "b.anm"), ("b.anm", "a.anm"):
            self.assertIn("its duration differs by 0.0166667 s", self.keyferry("diff", *pair, code=1).out.decode())

    def test_span(self):
        """A take's keys tell its length. Where programs write what they like as its span, nothing is said."""
        self.put("a.ani", (DATA / "x4-ani/door.ani").read_bytes())
        for program in (False, True):
            self.keyferry("convert", "a.ani", "a.fbx", "--ascii", "-y")
            scene = fbxtext.Scene((self.dir / "a.fbx").read_text())
            for p in scene.takes()["door_open"].first("Properties70").children:
                if "Stop" in p.values[0]:
                    p.values[4] = str(2 * int(p.values[4]))
            if program:
                by_a_program(scene)
            self.put("a.fbx", scene.text().encode())
            said = self.keyferry("convert", "a.fbx", "b.ani", "-y").err
            self.assertEqual('warning: take "door_open": its span in the FBX ends at 3.2000 s instead of 1.6000 s' in said, not program)
            self.assertEqual((self.dir / "a.ani").read_bytes(), (self.dir / "b.ani").read_bytes())

    def test_too_long_to_bake(self):
        data = b"SMPL" + struct.pack("<I", 2) + struct.pack("<4f", 0, 0, 3e8, 1)
        self.plugins("good")
        self.put("a.smpl", data)
        said = self.keyferry("convert", "a.smpl", "a.fbx", "--bake=1000000", code=1).err
        self.assertRegex(said, r"lasts 3e\+08 seconds: too long to bake at 1e\+06 frames a second")

    def test_no_memory_to_speak_of(self):
        door = DATA / "x4-ani/door.ani"
        for words in (("check", door), ("info", door), ("dump", door), ("diff", door, door), ("verify", door)):
            self.assertIn("the memory limit is too small", self.keyferry(*words, "--max-memory", "1", code=1).err, words)

    def test_rates(self):
        """Two files of one animation: the first one's counts."""
        data = bytearray((DATA / "vib-anm/first.anm").read_bytes())
        names = []
        for rate in (30, 20):
            names.append(f"{rate}.anm")
            data[2:4] = struct.pack("<H", rate)
            self.put(names[-1], bytes(data))
        said = self.keyferry("convert", *names, "a.fbx", "--from", "vib-anm").err
        self.assertIn('has the rate', said)

    def test_a_rate_of_ones_own(self):
        self.put("x.nanim", nytro.build()[0])
        self.assertEqual(self.json("dump", "x.nanim", "--fps", "25")["frame_rate"], 25)

    def test_channels_of_two_clips(self):
        """Both have the same channels; their types are told once."""
        for name in ("a", "b"):
            self.put(f"{name}.anim", (DATA / "mm2-anim/four-channels.anim").read_bytes())
        self.keyferry("convert", "a.anim", "b.anim", "both.fbx")
        self.keyferry("convert", "both.fbx", "back/")
        for name in ("a", "b"):
            self.assertEqual((self.dir / "back" / f"{name}.anim").read_bytes(), (DATA / "mm2-anim/four-channels.anim").read_bytes())


class Points(EditCase):
    """A mesh with more points than it had."""
    ending = "anm"
    original = (DATA / "ei-anm/wing.anm").read_bytes()

    def test_told(self):
        def change(scene):
            mesh = next(g for g in scene.objects.all("Geometry") if fbxtext.unquote(g.values[2]) == "Mesh")
            mesh.set_array("Vertices", mesh.array("Vertices") + ["1", "2", "3"])
        self.edit(change)
        self.assertRegex(self.said, r"the mesh came back with \d+ points instead of \d+")


class Off(EditCase):
    """Where a rotation will be played otherwise than the FBX shows it, that is said, and by how much: what `diff` finds."""
    ending = "nanim"

    def check(self, change, *there):
        self.edit(change, *there)
        found = json.loads(self.keyferry("diff", "x.fbx", "y.nanim", "--json", code=None).out)["differences"]
        worst = max((d["worst"] for d in found if d["channel"] == "rotation"), default=0)
        told = [float(x) for x in re.findall(r"rotation at .*shows it, by ([0-9.e+-]+),", self.said)]
        if worst > 1.02 * 0.01:
            self.assertEqual(len(told), 1, self.said)
            self.assertAlmostEqual(told[0], worst, None, self.said, 0.02 * worst)
        else:
            self.assertEqual(told, [], self.said)
        return worst

    def test_keys_alone(self):
        """Keys that were turned or moved in time: the game turns between them as it does."""
        worst = 0
        for name, node in (("linear", "hip"), ("tcb", "hip"), ("turns", "b")):
            self.original = (DATA / "nytro-anim" / (name + ".nanim")).read_bytes()
            for index in (0, 1, 2, 3):
                for by in (30, 0.05):
                    with self.subTest(name=name, index=index, by=by):
                        worst = max(worst, self.check(lambda scene: add(scene, ("walk", node, "Lcl Rotation", "z"), index, by)))
        self.assertGreater(worst, 0.05)

    def test_whole_turns_drawn(self):
        def change(scene):
            curve = scene.curve("walk", "hip", "Lcl Rotation", "x")
            half = curve.keys[len(curve.keys) // 2].time
            for key in curve.keys:
                key.value += 360 if key.time >= half else 0
            curve.store()
        for name in ("linear", "tcb"):
            self.original = (DATA / "nytro-anim" / (name + ".nanim")).read_bytes()
            for there in ((), ("--tcb", "slopes")):
                with self.subTest(name=name, there=there):
                    self.check(change, *there)


class Steps(EditCase):
    """A format without steps gets steep turns, which is told: of nodes that are new, and without an original."""
    ending = "nanim"
    TOLD = r'warning: take "[\w ]+", node "{}", rotation: the format has no such steps: jumps take up to a millisecond \(2, the first at {}'

    def turns(self, *values):
        keys = [(i / 2, value, fbxmade.STEP) for i, value in enumerate(values)]
        still = [(0, 0), (1, 0)]
        return keys, still, still

    def test_without_an_original(self):
        for values, told in (((0, 40, 0), True), ((10, 10, 10), False), ((0, 360, 0), False)):
            self.put("a.fbx", fbxmade.scene({"hip": {"R": self.turns(*values)}}).encode())
            said = self.keyferry("convert", "a.fbx", "a.nanim", "-y").err
            (self.assertRegex if told else self.assertNotRegex)(said, self.TOLD.format("hip", r"0\.5000 s"))

    def test_new_node(self):
        self.original = (DATA / "nytro-anim/linear.nanim").read_bytes()

        def change(scene):
            scene.clone("hip", "tail")
            for axis in "xyz":
                curve = scene.curve("walk", "tail", "Lcl Rotation", axis)
                del curve.keys[3:]
                for i, key in enumerate(curve.keys):
                    key.time, key.value, key.flags = i * fbxmade.TICKS // 2, 40.0 * (i == 1 and axis == "x"), fbxmade.STEP
                curve.store()
        self.edit(change)
        self.assertIn('added: take "walk", node "tail", rotation', self.said)
        self.assertRegex(self.said, self.TOLD.format("tail", r"0\.5000 s"))


class Frames(EditCase):
    """Behind an edited frame one that is no number, and holds what is before it: as edited in the game, as it was in the FBX."""
    ending = "anm"
    original = struct.pack("<I4fI9fII", 1, 1, 0, 0, 0, 3, 1, 0, 0, float("nan"), 0, 0, 2, 0, 0, 0, 0)

    def change(self, scene, key):
        curve = next(c for w, c in scene.curves().items() if w[2:] == ("Lcl Translation", "x"))
        curve.keys[key].value += 0.5
        curve.store()

    def test_told(self):
        self.edit(lambda scene: self.change(scene, 0), "--from", "ei-anm")
        self.assertRegex(self.said, r"translation at 0\.0667 s: the file will play this otherwise than the FBX shows it, by 0\.5, where")

    def test_quiet(self):
        self.edit(lambda scene: self.change(scene, 2), "--from", "ei-anm")
        self.assertNotIn("otherwise", self.said)


del nytro.Nytro, nytro.EditCase


class Counted(EditCase):
    """What is counted as added or changed is in the file."""

    def count(self, file, change, *there, back=()):
        self.ending = file.rsplit(".", 1)[1]
        self.original = (DATA / file).read_bytes()
        now = self.edit(change, *there, back=back)
        found = self.json("convert", "--json", "-y", "x.fbx", "y." + self.ending, *back)
        self.assertEqual((self.dir / ("y." + self.ending)).read_bytes(), now)
        return now, {k: found[k] for k in ("tracks", "changed", "added")}

    def test_a_take_too_many(self):
        """Formats with one take, or one file for each of them."""
        for file, take, tracks in (("nytro-anim/tcb.nanim", "walk", 4), ("mm2-anim/two-bones.anim", "x", 3), ("vib-anm/first.anm", "x", 4),
                                   ("ei-anm/wing.anm", "animation", None)):
            with self.subTest(file):
                now, found = self.count(file, lambda scene: scene.clone_take(take, "run"))
                self.assertEqual(now, self.original)
                self.assertEqual((found["changed"], found["added"]), (0, 0))
                self.assertEqual(found["tracks"], tracks or found["tracks"])
                self.assertRegex(self.said, "warning: .*run.* not written: ")
                self.assertNotIn("added", self.said)

    def test_a_take_of_its_own_in_a_folder(self):
        for file in ("mm2-anim/two-bones.anim", "vib-anm/first.anm"):
            self.count(file, lambda scene: scene.clone_take("x", "run"))
            found = self.json("convert", "--json", "-y", "x.fbx", "out/")
            self.assertGreater(found["added"], 0)
            self.assertEqual(len(found["outputs"]), 2)

    def test_a_node_too_many(self):
        def rename(scene):
            scene.models()["bone_01"].values[1] = '"Model::spine"'
        now, found = self.count("mm2-anim/two-bones.anim", rename)
        self.assertEqual((now, found), (self.original, {"tracks": 3, "changed": 0, "added": 0}))
        self.assertIn('dropped: rotation of node "spine"', self.said)

    def test_added_with_a_skeleton(self):
        """Read again with the same names."""
        self.put("x.anim", (DATA / "mm2-anim/two-bones.anim").read_bytes())
        self.put("x.skel", b"NumBones 2\nbone hips {\n offset 0 0.9 0\n bone spine {\n offset 0 0.25 0\n }\n}\n")
        self.keyferry("convert", "x.anim", "x.fbx", "--ascii", "--rig", "x.skel")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        scene.clone_take("x", "run")
        self.put("x.fbx", scene.text().encode())
        found = self.json("convert", "--json", "x.fbx", "out/")
        self.assertEqual((found["added"], found["tracks"]), (3, 6))

    def test_an_edit_within_the_tolerance(self):
        def change(scene):
            add(scene, ("door_open", "anim_door_left", "Lcl Translation", "x"), 7, 2e-5)
        now, found = self.count("x4-ani/door.ani", change, "--for", "blender")
        self.assertEqual((now, found["changed"]), (self.original, 0))
        self.assertIn('note: take "door_open", node "anim_door_left": the translation differs, but by no more than the tolerance: it stays',
                      self.said)

    def test_two_takes_of_one_name(self):
        def change(scene, by=5):
            where = ("door_close", "anim_door_left", "Lcl Translation", "x")
            scene.clone_take("door_close", "door_close")
            found = [node for name, node in scene._curves() if name == where]
            curve = fbxtext.Curve(found[1])
            curve.keys[1].value += by
            curve.store()
        now, _ = self.count("x4-ani/door.ani", change)
        self.assertEqual(now, self.original)
        self.assertIn('warning: take "door_close" is there twice: the first counts, and the second is not carried, though the translation of '
                      'its node "anim_door_left" is another one', self.said)
        self.count("x4-ani/door.ani", lambda scene: change(scene, 0))
        self.assertNotIn("twice", self.said)
        self.edit(change, back=("--strict",), code=1)


if __name__ == "__main__":
    unittest.main()
