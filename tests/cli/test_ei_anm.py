"""Evil Islands parts through the command: there, back, edited, broken. The files come from tests/generate/ei_anm.py and are
judged by tests/decode/ei_anm.py, neither of which shares a line with the command."""
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import numbers_of  # noqa: E402
from formatcase import FormatCase, angle, dump_difference, module  # noqa: E402

generate, reader = module("generate", "ei_anm"), module("decode", "ei_anm")
CASES = {name: (data, tags.split()) for name, data, tags in generate.cases()}


class Parts(FormatCase):
    id, ending, cases = "ei-anm", "anm", CASES

    def decode(self, name, data):
        return reader.decode([(name + ".anm", data)])


class Reading(Parts):
    def test_enough_of_every_dialect(self):
        self.check_enough(generate.DIALECTS)

    def test_samples_are_the_generators(self):
        self.check_samples()

    def test_dump_is_what_the_second_reader_reads(self):
        self.check_dumps()

    def test_recognised(self):
        self.check_recognised()

    def test_check(self):
        self.check_rules()

    def test_bad_files(self):
        self.check_refused()

    def test_rate(self):
        self.put("wing.anm", CASES["wing"][0])
        dumped = numbers_of.load(self.keyferry("dump", "wing.anm", "--fps", "30").out)
        self.assertIsNone(dump_difference(dumped, reader.decode([("wing.anm", CASES["wing"][0])], 30.0)))

    def test_huge_counts_take_no_memory(self):
        for counts in ((0, 0, 0xFFFFFFFF, 0xFFFFFFFF), (0, 0, 0xFFFFFFFF, 1), (0xFFFFFFFF,), (0, 0xFFFFFFFF), (0, 0, 1, 0xFFFFFFFF)):
            self.put("x.anm", struct.pack(f"<{len(counts)}I", *counts))
            self.keyferry("info", "x.anm", "--from", "ei-anm", "--max-memory", "1M", code=1)
        self.put("x.anm", struct.pack("<4I", 0, 0, 0xFFFFFFFF, 0))  # frames of nothing
        self.keyferry("info", "x.anm", "--max-memory", "1M")


class ThereAndBack(Parts):
    def test_capsule_7400(self):
        self.check_restored("--fbx-version", "7400")

    def test_capsule_7500(self):
        self.check_restored("--fbx-version", "7500")

    def test_capsule_ascii(self):
        self.check_restored("--ascii")

    def test_sidecar(self):
        self.check_restored(keep="--no-capsule")

    def test_baked_for_blender(self):
        self.check_restored("--for", "blender")

    def test_verify(self):
        self.check_verified()

    def test_several_parts(self):
        """A list or a folder is one animation with a node for each part, and goes back to the same names."""
        names = ["body", "hand", "r_pereponka", "wing"]
        for name in names:
            self.put(f"cidle/{name}.anm", CASES[name][0])
        files = [f"cidle/{name}.anm" for name in names]
        self.keyferry("convert", *files, "list.fbx", "--ascii")
        self.keyferry("convert", "cidle", "folder.fbx", "--ascii")
        for fbx in ("list", "folder"):
            scene = fbxtext.Scene((self.dir / f"{fbx}.fbx").read_text())
            self.assertLessEqual(set(names), set(scene.models()))
            self.keyferry("convert", f"{fbx}.fbx", f"{fbx}/")
            self.assertEqual(self.back(fbx), {n: CASES[n][0] for n in names})
        # Without the original: the same parts, the same motion.
        self.keyferry("convert", "cidle", "bare.fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "bare.fbx", "bare/", "--to", "ei-anm")
        self.assertEqual(sorted(self.back("bare")), names)
        for name in names:
            self.assertIsNone(motion_difference(CASES[name][0], self.back("bare")[name]))

    def test_one_part_of_several_edited(self):
        for name in ("body", "hand"):
            self.put(f"in/{name}.anm", CASES[name][0])
        self.keyferry("convert", "in", "x.fbx", "--ascii")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        curve = scene.curve("animation", "hand", "Lcl Translation", "z")
        curve.keys[2].value = 7.25
        curve.store()
        (self.dir / "x.fbx").write_text(scene.text())
        self.keyferry("convert", "x.fbx", "out/")
        hand = CASES["hand"][0]
        at = 4 + 16 * 5 + 4 + 12 * 2 + 8
        self.assertEqual(self.back("out"), {"body": CASES["body"][0],
                                            "hand": hand[:at] + struct.pack("<f", 7.25) + hand[at + 4:]})


def at_frame(keys, frame, value):
    """A list of one thing per frame holds its last one."""
    return keys[min(frame, len(keys) - 1)][value]


def motion_difference(was, now):
    """Frame by frame, held at the ends: what differs, or None. Shapes too."""
    a, b = ({(t["channel"], t.get("component"), t.get("name")): t["keys"] for t in reader.part(d, 0)} for d in (was, now))
    if set(a) != set(b):
        return "tracks", sorted(map(str, set(a) ^ set(b)))
    for where, keys in a.items():
        for frame in range(0 if where[0] == "morph" else max(len(keys), len(b[where]))):
            if where[0] == "rotation":
                if angle(at_frame(keys, frame, "q"), at_frame(b[where], frame, "q")) > 1e-3:
                    return where, frame
            elif not math.isclose(at_frame(keys, frame, "v"), at_frame(b[where], frame, "v"), rel_tol=1e-6, abs_tol=1e-30):
                return where, frame
    for one, other in zip(reader.shapes(was), reader.shapes(now)):
        if any(not math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-30) for p, q in zip(one, other) for x, y in zip(p, q)):
            return "shapes", one, other
    return None


class Rebuilt(Parts):
    """Without the original: the second reader finds the same motion and the same shapes in the new file."""

    def test_rebuilt(self):
        names = self.put_all("in", "exact")
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "fbx", "out/", "--to", "ei-anm")
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(names))
        self.none([(name, found) for name in names if (found := motion_difference(CASES[name][0], out[name]))])

    def test_shapes_that_differ(self):
        """Weights that are the same do not make two morphs the same."""
        was = CASES["wing"][0]
        now = was[:-12] + struct.pack("<f", 9.0) + was[-8:]
        self.put("a/wing.anm", was)
        self.put("b/wing.anm", now)
        self.keyferry("convert", "b/wing.anm", "b.fbx")
        off = abs(9.0 - struct.unpack_from("<f", was, len(was) - 12)[0])
        for other in "b/wing.anm", "b.fbx":
            found = self.json("diff", "a/wing.anm", other, "--json", code=1)
            (item,) = (d for d in found["differences"] if d["worst"] > d["limit"])
            self.assertEqual((item["node"], item["channel"]), ("wing", "shape:morph_002"))
            self.assertAlmostEqual(item["worst"], off, 6)
            self.assertAlmostEqual(item["time"], 2 / 15, 6)
            self.keyferry("diff", "a/wing.anm", other, "--tolerance", "10")
        self.keyferry("diff", "b/wing.anm", "b.fbx")

    def test_what_cannot_be_said(self):
        """Another engine's scales, which these files have no room for."""
        other = module("generate", "nytro_anim")
        moves, grows = ([other.key(0, [a] * 3), other.key(1, [b] * 3)] for a, b in ((0, 5), (1, 2)))
        self.put("x.nanim", other.animation("long", [other.node(b"hip", other.LINEAR, moves, [], grows)]))
        self.keyferry("convert", "x.nanim", "x.fbx")
        said = self.keyferry("convert", "x.fbx", "x.anm", "--to", "ei-anm").err
        self.assertRegex(said, r'warning: .*"hip".*scale')
        self.keyferry("check", "x.anm")
        self.assertEqual(struct.unpack_from("<2I", (self.dir / "x.anm").read_bytes()), (0, 16))
        self.keyferry("convert", "x.fbx", "y.anm", "--to", "ei-anm", "--strict", code=1)

    def test_oddities_are_told_of(self):
        for name in ("zero_quaternion", "not_finite"):
            self.put("x.anm", CASES[name][0])
            self.assertIn("warning", self.keyferry("convert", "x.anm", "x.fbx", "-y").err)
            self.keyferry("convert", "x.anm", "y.fbx", "--strict", code=1)


class Edited(Parts):
    def shape(self, scene, name):
        return next(g for g in scene.objects.all("Geometry") if fbxtext.name_of(g) == name)

    def test_one_float(self):
        def change(scene):
            curve = scene.curve("animation", "x", "Lcl Translation", "y")
            curve.keys[1].value = -3.5
            curve.store()
        was, now, _ = self.edit("wing", change)
        at = 4 + 48 + 4 + 12 + 4
        self.assertEqual(now, was[:at] + struct.pack("<f", -3.5) + was[at + 4:])

    def test_one_rotation(self):
        def change(scene):
            for axis, value in zip("xyz", (0.0, 0.0, 90.0)):
                curve = scene.curve("animation", "x", "Lcl Rotation", axis)
                key = next(k for k in curve.keys if k.time == 2 * fbxtext.TICKS // 15)
                key.value = value
                curve.store()
        was, now, _ = self.edit("hand", change)
        at = 4 + 16 * 2
        self.assertEqual(now[:at] + was[at:at + 16] + now[at + 16:], was)
        self.assertLess(angle(struct.unpack_from("<4f", now, at), (math.sqrt(0.5), 0, 0, math.sqrt(0.5))), 1e-3)

    def test_one_vertex_of_a_shape(self):
        for options in ((), ("--for", "blender")):
            def change(scene):
                shape = self.shape(scene, "morph_001")
                numbers = shape.array("Vertices")
                numbers[3 * 2 + 1] = "0.625"
                shape.set_array("Vertices", numbers)
            was, now, _ = self.edit("wing", change, *options)
            at = len(was) - 3 * 4 * 12 + (4 + 2) * 12 + 4
            self.assertEqual(now, was[:at] + struct.pack("<f", 0.625) + was[at + 4:])

    def test_a_shape_on_another_frame(self):
        """Two shapes at once become one frame's offsets: what the game shows is what was asked for, so there is nothing to tell."""
        for options in (), ("--for", "blender"):
            def change(scene):
                curve = next(c for where, c in scene.curves().items() if where[1] == "morph_000")
                last = curve.keys[-1]
                if last.time < 2 * fbxtext.TICKS // 15:
                    curve.keys.append(fbxtext.Key(2 * fbxtext.TICKS // 15, 0.0, last.flags, last.data))
                curve.keys[-1].value = 50.0
                curve.store()
            was, now, said = self.edit("wing", change, *options)
            self.assertNotIn("warning", said)
            before, after = reader.shapes(was), reader.shapes(now)
            self.assertEqual(before[:2], after[:2])
            for a, b, got in zip(before[2], before[0], after[2]):
                self.assertLess(math.dist([x + 0.5 * y for x, y in zip(a, b)], got), 1e-6)
            self.keyferry("convert", "x.fbx", "strict.anm", "--strict", "-y")

    def test_a_shape_that_comes_sooner(self):
        """The first key of its weight is raised: the frames before that have none of it."""
        for options in (), ("--for", "blender"):
            def change(scene):
                curve = next(c for where, c in scene.curves().items() if where[1] == "morph_002")
                next(k for k in curve.keys if abs(k.time * 15 / fbxtext.TICKS - 1) < 1e-3).value = 50.0
                if curve.keys[0].time > 0:
                    curve.keys.insert(0, fbxtext.Key(0, 0.0, curve.keys[0].flags, curve.keys[0].data))
                curve.store()
            was, now, said = self.edit("wing", change, *options)
            self.assertNotIn("warning", said)
            before, after = reader.shapes(was), reader.shapes(now)
            self.assertEqual((before[0], before[2]), (after[0], after[2]))
            for a, b, got in zip(before[1], before[2], after[1]):
                self.assertLess(math.dist([x + 0.5 * y for x, y in zip(a, b)], got), 1e-6)

    def test_a_weight_between_frames(self):
        """Told with the shape's name."""
        def change(scene):
            curve = next(c for where, c in scene.curves().items() if where[1] == "morph_001")
            key = curve.keys[0]
            curve.keys.insert(1, fbxtext.Key(fbxtext.TICKS // 30, 0.0, key.flags, key.data))
            curve.store()
        was, now, said = self.edit("wing", change)
        self.assertEqual(was, now)
        self.assertRegex(said, 'warning: take "animation", node "x", morph morph_001 at 0.0333 s: 1 edited keys lie between .* off by 0.5 ')

    def test_weights(self):
        """Half of a shape: that frame's offsets are halved, the others keep their bytes."""
        def change(scene):
            curve = next(c for where, c in scene.curves().items() if where[1] == "morph_001")
            self.assertEqual([k.value for k in curve.keys], [0, 100, 0])
            curve.keys[1].value = 50
            curve.store()
        was, now, said = self.edit("wing", change)
        self.assertIn("1 of 5 tracks changed", said)
        self.assertIn('changed: take "animation", node "x", morph morph_001: 1 keys changed, 0 added, 0 removed', said)
        before, after = reader.shapes(was), reader.shapes(now)
        self.assertEqual(len(was), len(now))
        start = len(was) - 3 * 4 * 12
        self.assertEqual(was[:start + 48], now[:start + 48])
        self.assertEqual(was[start + 96:], now[start + 96:])
        for p, q in zip(before[1], after[1]):
            for x, y in zip(p, q):
                self.assertAlmostEqual(y, x / 2, 6)

    def test_weights_of_negative_zeros(self):
        """An offset that is the same number after the edit keeps its bytes, its sign too."""
        data = bytearray(CASES["wing"][0])
        at = len(data) - 3 * 4 * 12
        for number in at + 48, at + 48 + 16, at + 96 + 20:
            struct.pack_into("<I", data, number, 0x80000000)
        for options in (), ("--for", "blender"):
            self.put("x.anm", bytes(data))
            self.keyferry("convert", "x.anm", "x.fbx", "--ascii", "-y", *options)
            scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
            curve = next(c for where, c in scene.curves().items() if where[1] == "morph_001")
            next(k for k in curve.keys if abs(k.time * 15 / fbxtext.TICKS - 1) < 1e-3).value = 50.0
            curve.store()
            self.put("x.fbx", scene.text().encode())
            self.keyferry("convert", "x.fbx", "y.anm", "-y")
            now = (self.dir / "y.anm").read_bytes()
            self.assertEqual((now[:at + 48], now[at + 96:]), (data[:at + 48], data[at + 96:]))
            for number in range(at + 48, at + 96, 4):
                (before,), (after,) = (struct.unpack_from("<f", d, number) for d in (data, now))
                self.assertEqual(struct.pack("<f", before / 2), struct.pack("<f", after))

    def test_a_shape_too_many(self):
        """One that moves no points, with a weight: it is told of, and nothing of the others changes, a zero's sign no more
        than their number."""
        data = bytearray(CASES["wing"][0])
        struct.pack_into("<I", data, len(data) - 3 * 4 * 12 + 16, 0x80000000)
        for options in (), ("--for", "blender"):
            for later in 0, 5:
                def change(scene):
                    first = next(d for d in scene.objects.all("Deformer") if fbxtext.name_of(d) == "morph_001")
                    scene.copy_all(first, '"SubDeformer::smile"', ("AnimationCurveNode", "AnimationCurve"))
                    curve = next(c for where, c in scene.curves().items() if where[1] == "smile")
                    for key in curve.keys:
                        key.time += later * fbxtext.TICKS // 15
                        key.value = 70.0
                    curve.store()
                self.put("x.anm", bytes(data))
                self.keyferry("convert", "x.anm", "x.fbx", "--ascii", "-y", *options)
                scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
                change(scene)
                self.put("x.fbx", scene.text().encode())
                said = self.keyferry("convert", "x.fbx", "y.anm", "-y").err
                self.assertEqual(said.count('warning: node "x", take "animation": there is no shape "smile"'), 1, said)
                self.assertEqual((self.dir / "y.anm").read_bytes(), data)

    def test_longer(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("animation", "x", "Lcl Translation", axis)
                last = curve.keys[-1]
                curve.keys.append(fbxtext.Key(last.time + fbxtext.TICKS // 15, last.value + 1, last.flags, last.data))
                curve.store()
        was, now, _ = self.edit("hand", change)
        count = 4 + 16 * 5
        self.assertEqual(struct.unpack_from("<I", now, count), (6,))
        self.assertEqual(now[:count] + now[count + 4:len(was) - 4], was[:count] + was[count + 4:-4])
        self.assertEqual(len(now), len(was) + 12)
        self.assertAlmostEqual(struct.unpack_from("<f", now, len(was) - 4)[0],
                               struct.unpack_from("<f", was, len(was) - 16)[0] + 1, 5)

    def shorter(self, edits, *options):
        """A part of 5 rotations and 12 translations, with the rotation on those frames 30 degrees further about z: as it was, and as
        it is."""
        was = generate.part([(math.cos(a), 0.0, 0.0, math.sin(a)) for a in (0.0, 0.1, 0.2, 0.3, 0.4)], [(i, 0.0, 0.0) for i in range(12)])
        self.put("x.anm", was)
        self.keyferry("convert", "x.anm", "x.fbx", "--ascii", "-y", *options)
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        curve = scene.curve("animation", "x", "Lcl Rotation", "z")
        found = {round(k.time * 15 / fbxtext.TICKS, 2): k for k in curve.keys}
        for frame in edits:
            found[frame].value += 30
        curve.store()
        self.put("x.fbx", scene.text().encode())
        self.said = self.keyferry("convert", "x.fbx", "y.anm", "-y").err
        self.assertNotIn("warning", self.said)
        return was, (self.dir / "y.anm").read_bytes()

    def test_last_of_a_shorter_list(self):
        """Which the game holds: no frames are added for what comes to the same."""
        turned = struct.pack("<4f", math.cos(0.4 + math.radians(15)), 0, 0, math.sin(0.4 + math.radians(15)))
        for options, frames in ((), (4,)), (("--for", "blender"), range(4, 12)):
            was, now = self.shorter(frames, *options)
            self.assertEqual(now[:68] + was[68:84] + now[84:], was)
            self.assertLess(angle(struct.unpack_from("<4f", now, 68), struct.unpack("<4f", turned)), 1e-3)

    def test_frames_behind_a_shorter_list(self):
        """What shows there is written, and what the list ends with where an edit ends."""
        for frames, count in ((4,), 6), ((7, 8), 10), ((9, 10, 11), 12), (range(2, 4), 5):
            was, now = self.shorter(frames, "--for", "blender")
            self.assertEqual(struct.unpack_from("<I", now), (count,))
            self.assertEqual(now[4 + 16 * count:], was[4 + 16 * 5:])
            last = struct.unpack_from("<4f", was, 4 + 16 * 4)
            for frame in range(count):
                before = struct.unpack_from("<4f", was, 4 + 16 * frame) if frame < 5 else last
                self.assertAlmostEqual(angle(before, struct.unpack_from("<4f", now, 4 + 16 * frame)), 30 if frame in frames else 0, 2)


class OtherNames(Parts):
    """--base with files of other names than the FBX came from: a node is called like its file, but the one that is left is that one."""
    LEFT = ("animation", "wing", "Lcl Translation", "y")

    def scene(self, name, change=None, into=None):
        scene = fbxtext.Scene((self.dir / name).read_text())
        if change:
            change(scene)
        self.put(into or name, scene.text().encode())

    def raised(self, scene, frame=1, value=-3.5, node="wing"):
        curve = scene.curve("animation", node, "Lcl Translation", "y")
        curve.keys[frame].value = value
        curve.store()

    @staticmethod
    def wing(*raised):
        data = bytearray(CASES["wing"][0])
        for frame, value in raised:
            struct.pack_into("<f", data, 4 + 48 + 4 + 12 * frame + 4, value)
        return bytes(data)

    def test_one(self):
        self.put("wing.anm", self.wing())
        self.put("other.anm", self.wing())
        self.put("newer.anm", self.wing((2, 9.0)))
        for options in ((), ("--no-capsule", "--no-sidecar"), ("--for", "blender")):
            self.keyferry("convert", "wing.anm", "x.fbx", "--ascii", "-y", *options)
            (self.dir / "x.fbx.kf").unlink(missing_ok=True)
            self.scene("x.fbx", lambda scene: self.raised(scene, 1 if "--for" not in options else next(
                i for i, k in enumerate(scene.curve(*self.LEFT).keys) if abs(k.time * 15 - fbxtext.TICKS) < 9)))
            for base, more in ("other.anm", ()), ("newer.anm", ((2, 9.0),)):
                if more and "--no-capsule" in options: # then nothing tells that it was not edited in the FBX
                    continue
                said = self.keyferry("convert", "x.fbx", "y.anm", "-y", "--base", base).err
                self.assertIn("1 of 5 tracks changed", said)
                self.assertNotIn("warning", said)
                self.assertIn("is taken for", said)
                self.assertEqual((self.dir / "y.anm").read_bytes(), self.wing((1, -3.5), *more))
                self.keyferry("convert", "x.fbx", "out/", "-y", "--to", "ei-anm", "--base", base)
                self.assertEqual((self.dir / "out" / base).read_bytes(), self.wing((1, -3.5), *more))

    def test_node_of_another_name(self):
        self.put("wing.anm", self.wing())
        self.keyferry("convert", "wing.anm", "x.fbx", "--ascii")

        def change(scene):
            self.raised(scene)
            scene.models()["wing"].values[1] = '"Model::flap"'
        self.scene("x.fbx", change)
        said = self.keyferry("convert", "x.fbx", "y.anm").err
        self.assertIn('note: node "flap" is taken for the part "wing": no other is left', said)
        self.assertEqual((self.dir / "y.anm").read_bytes(), self.wing((1, -3.5)))

    def several(self, base):
        for name in ("body", "hand", "wing"):
            self.put(f"in/{name}.anm", CASES[name][0])
        self.keyferry("convert", "in", "x.fbx", "--ascii")
        self.scene("x.fbx", self.raised)
        for name, part in base.items():
            self.put(f"base/{name}.anm", CASES[part][0])
        return self.keyferry("convert", "x.fbx", "out/", "--base", "base").err

    def test_several(self):
        wanted = {"body": CASES["body"][0], "hand": CASES["hand"][0], "flap": self.wing((1, -3.5))}
        said = self.several({"body": "body", "hand": "hand", "flap": "wing"})
        self.assertNotIn("warning", said)
        self.assertIn("note: --base flap.anm is taken for wing.anm, which x.fbx came from", said)
        self.assertEqual(self.back("out"), wanted)

    def test_edited_in_one_and_deleted_in_another(self):
        self.put("wing.anm", self.wing())
        self.put("other.anm", self.wing())
        self.keyferry("convert", "wing.anm", "x.fbx", "--ascii")
        gone = ("wing", "Lcl Rotation")
        self.scene("x.fbx", lambda scene: scene.remove(*(n for where, n in scene._curves() if where[1:3] == gone)), "z.fbx")
        self.scene("x.fbx", self.raised)
        said = self.keyferry("convert", "x.fbx", "z.fbx", "y.anm", "--base", "other.anm", "--drop-missing").err
        self.assertNotIn("warning", said)
        self.assertEqual((self.dir / "y.anm").read_bytes(), bytes(4) + self.wing((1, -3.5))[4 + 48:])

    def test_two_are_left(self):
        """Nothing tells which is which: that is said, and nothing is lost but the edit."""
        said = self.several({"body": "body", "glove": "hand", "flap": "wing"})
        self.assertNotIn("taken for", said)
        self.assertIn('warning: take "animation", node "wing": the translation was deleted in --base and edited in x.fbx', said)
        self.assertIn('note: node "wing" is new and becomes the file "wing.anm"', said)
        out = self.back("out")
        self.assertEqual({n: out[n] for n in ("body", "glove", "flap")},
                         {"body": CASES["body"][0], "glove": CASES["hand"][0], "flap": CASES["wing"][0]})


if __name__ == "__main__":
    unittest.main()
