"""Vib-Ribbon animations through the command: there, back, edited, broken. The files come from tests/generate/vib_anm.py
and are judged by tests/decode/vib_anm.py, neither of which shares a line with the command."""
import concurrent.futures
import importlib.util
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import numbers_of  # noqa: E402
from command import KEYFERRY, SOURCE, TIMEOUT, Case  # noqa: E402


def module(folder, name="vib_anm"):
    spec = importlib.util.spec_from_file_location(folder + name, SOURCE / "tests" / folder / (name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


generate, decoder = module("generate"), module("decode")
CASES = {name: (data, tags) for name, data, tags in generate.cases()}
TURN = fbxtext.TICKS


def shown(data):
    """What the game shows: for each frame the drawn objects with rotation, scale, position; what is missing holds, a
    scale is 1."""
    _, frames = decoder.frames_of(data)
    held, out = {}, []
    for frame in frames:
        now = {}
        for number, stored in frame.items():
            for flag in (1, 4):
                if flag in stored:
                    held[number, flag] = stored[flag]
            now[number] = (held.get((number, 1)), stored.get(2, (4096,) * 3), held.get((number, 4)))
        out.append(now)
    return out


class Files(Case):
    def put_all(self, folder, names):
        for name in names:
            self.put(f"{folder}/{name}.anm", CASES[name][0])

    def none(self, complaints):
        complaints = [c for c in complaints if c]
        self.assertFalse(complaints, "%d of them:\n%s" % (len(complaints), "\n".join(map(str, complaints[:10]))))

    def back(self, folder):
        return {path.name.removesuffix(".anm"): path.read_bytes() for path in (self.dir / folder).glob("*.anm")}


class Reading(Files):
    def test_enough_of_every_dialect(self):
        for dialect in generate.DIALECTS:
            self.assertGreaterEqual(sum(name.startswith(dialect + "-") for name in CASES), 50)

    def test_samples_are_the_generators(self):
        kept = SOURCE / "tests" / "data" / "vib-anm"
        self.assertEqual(sorted(p.name for p in kept.glob("*.anm")), sorted(n + ".anm" for n in generate.SAMPLES))
        for name in generate.SAMPLES:
            self.assertEqual((kept / (name + ".anm")).read_bytes(), CASES[name][0], name)

    def test_dump_is_what_the_second_reader_reads(self):
        self.put_all("in", CASES)

        def work(name):
            done = subprocess.run([KEYFERRY, "dump", f"in/{name}.anm"], cwd=self.dir, capture_output=True, timeout=TIMEOUT)
            if done.returncode:
                return name, done.stderr
            expected = decoder.decode([(name + ".anm", CASES[name][0])])
            found = numbers_of.difference(numbers_of.load(done.stdout), expected, 17)
            return found and (name, found)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.none(list(pool.map(work, CASES)))

    def test_rate(self):
        self.put("x.anm", CASES["first"][0])
        dumped = numbers_of.load(self.keyferry("dump", "x.anm", "--fps", "50").out)
        self.assertIsNone(numbers_of.difference(dumped, decoder.decode([("x.anm", CASES["first"][0])], 50.0), 17))

    def test_check(self):
        self.put_all("good", [name for name, (_, tags) in CASES.items() if "clean" in tags])
        self.keyferry("check", "good")
        for name, word in (("gap", b"offset 0x6:"), ("unknown-flags", b"offset 0xd:"), ("twice", b"offset 0x1a:")):
            self.put("x.anm", CASES[name][0])
            self.assertIn(word, self.keyferry("check", "x.anm", code=1).out)

    def test_bad_files(self):
        for name, data, word in generate.bad_cases():
            self.put("bad.anm", data)
            self.keyferry("info", "bad.anm", code=1)
            error = self.keyferry("convert", "bad.anm", "bad.fbx", "--from", "vib-anm", code=1).err
            self.assertIn(word, error, name)
            self.assertIn("offset 0x", error, name)
            self.assertFalse((self.dir / "bad.fbx").exists())


class ThereAndBack(Files):
    """Nothing edited: every byte comes back, whatever kept the original."""

    def restore(self, kept_by, *options):
        self.put_all("in", CASES)
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-" + kept_by, *options)
        self.keyferry("convert", "fbx", "out/", "--to", "vib-anm")
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(CASES))
        self.none([name for name in CASES if out[name] != CASES[name][0]])

    def test_capsule_7400(self):
        self.restore("sidecar", "--fbx-version", "7400")

    def test_capsule_7500(self):
        self.restore("sidecar", "--fbx-version", "7500")

    def test_capsule_ascii(self):
        self.restore("sidecar", "--ascii")

    def test_sidecar(self):
        self.restore("capsule")

    def test_baked_for_blender(self):
        self.restore("sidecar", "--for", "blender")

    def test_rotation_order(self):
        self.restore("sidecar", "--rotation-order", "ZYX")

    def test_odd_rate(self):
        self.restore("sidecar", "--fps", "29.97")

    def test_several_files_are_one(self):
        parts = ("first", "second", "third")
        self.put_all(".", parts)
        names = [p + ".anm" for p in parts]
        self.keyferry("convert", *names, "all.fbx", "--ascii")
        info = self.json("info", "all.fbx", "--json")
        self.assertEqual([t["name"] for t in info["takes"]], ["first"])
        self.keyferry("convert", "all.fbx", "out/")
        self.assertEqual(self.back("out"), {p: CASES[p][0] for p in parts})
        # One after the other: what is edited in the third is in the third alone.
        scene = fbxtext.Scene((self.dir / "all.fbx").read_text())
        curve = scene.curve("first", "object_000", "Lcl Rotation", "x")
        self.assertEqual(curve.keys[-1].time, 14 * TURN // 20)
        curve.keys[-1].value = 45.0
        curve.store()
        (self.dir / "all.fbx").write_text(scene.text())
        self.keyferry("convert", "all.fbx", "out/", "-y")
        out = self.back("out")
        self.assertEqual((out["first"], out["second"]), (CASES["first"][0], CASES["second"][0]))
        self.assertEqual(shown(out["third"])[4][0][0], (512, 0, 0))
        self.assertEqual(shown(out["third"])[:4], shown(CASES["third"][0])[:4])


class Rebuilt(Files):
    """Without the original: the game shows the same, to the last bit."""

    def test_rebuilt(self):
        names = [n for n in CASES if n not in ("no-frames", "one-empty-frame")]
        self.put_all("in", names)
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "fbx", "out/", "--to", "vib-anm")
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(names))

        def work(name):
            was, now = shown(CASES[name][0]), shown(out[name])
            if len(was) != len(now):
                return name, "frames", len(was), len(now)
            for f, (a, b) in enumerate(zip(was, now)):
                if a.keys() != b.keys():
                    return name, f, "drawn", sorted(a), sorted(b)
                for number in a:
                    for part in range(3):
                        # Before anything is stored a file says nothing; made anew it says what the curve shows.
                        if a[number][part] is not None and a[number][part] != b[number][part]:
                            return name, f, number, part, a[number][part], b[number][part]
        self.none(map(work, names))
        for name in ("rate-60", "first"):  # the rate goes with it
            self.assertEqual(struct.unpack_from("<H", out[name], 2), struct.unpack_from("<H", CASES[name][0], 2))

    def test_verify(self):
        self.put_all("in", CASES)
        self.keyferry("verify", "in")
        self.keyferry("verify", "in/sparse-001.anm", "--rotation-order", "YZX", "--fps", "37")

    def test_too_long(self):
        """A walk of many frames from another game: each takes 2 bytes of offset and 20 or 14 of keyframe."""
        other = module("generate", "mm2_anim")
        frames = 9000
        data = other.clip(0, frames, [other.channel(6, [[0.0, float(f % 2), 0.0, f * 0.01, 0.0, 0.0]
                                                        for f in range(frames)])])
        self.put("long.anim", data)
        self.keyferry("convert", "long.anim", "long.fbx")
        error = self.keyferry("convert", "long.fbx", "long.anm", "--to", "vib-anm", code=1).err
        self.assertIn("131070", error)
        fit = int(error.split("first ")[1].split()[0])
        self.assertTrue(fit == (131070 - 8) // (2 + 14), error)
        self.assertFalse((self.dir / "long.anm").exists())


class Edited(Files):
    def edit(self, name, change, *back, code=0):
        self.put("x.anm", CASES[name][0])
        self.keyferry("convert", "x.anm", "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        report = self.keyferry("convert", "x.fbx", "y.anm", "-y", *back, code=code)
        return (self.dir / "y.anm").read_bytes() if code == 0 else None, report.err

    def set_value(self, node, prop, component, key, value):
        def change(scene):
            curve = scene.curve("x", node, prop, component)
            curve.keys[key].value = value
            curve.store()
        return change

    def test_one_number(self):
        was = CASES["extremes"][0]
        now, _ = self.edit("extremes", self.set_value("object_000", "Lcl Rotation", "y", 2, 45.04))
        at = 6 + 2 * 5 + 2 * 20 + 2 + 2
        self.assertEqual(now, was[:at] + struct.pack("<h", 512) + was[at + 2:])

    def test_every_channel(self):
        for prop, value, stored, at in (("Lcl Rotation", -90.0, -1024, 2), ("Lcl Scaling", 0.5, 2048, 8),
                                        ("Lcl Translation", -3.4, -3, 14)):
            was = CASES["extremes"][0]
            now, _ = self.edit("extremes", self.set_value("object_000", prop, "x", 1, value))
            at += 16 + 20
            self.assertEqual(now, was[:at] + struct.pack("<h", stored) + was[at + 2:], prop)

    def test_visibility(self):
        """An object is hidden in one frame; it stands where it stood in the others."""
        def change(scene):
            curve = scene.curve("x", "object_000", "Visibility", "visibility")
            first = curve.keys[0]
            curve.keys = [first] + [fbxtext.Key(f * TURN // 30, v, first.flags, first.data) for f, v in ((2, 0), (3, 1))]
            curve.store()
        was = shown(CASES["repeats"][0])
        now = shown(self.edit("repeats", change)[0])
        self.assertEqual(now[2], {})
        self.assertEqual([now[i] for i in (0, 1, 3, 4)], [was[i] for i in (0, 1, 3, 4)])

    def test_beyond_sixteen_bits(self):
        change = self.set_value("object_000", "Lcl Translation", "x", 1, 40000.0)
        now, error = self.edit("extremes", change)
        self.assertEqual(shown(now)[1][0][2][0], 32767)
        self.assertIn("object_000", error)
        self.edit("extremes", change, "--strict", code=1)


if __name__ == "__main__":
    unittest.main()
