"""Midtown Madness 2 clips through the command: there, back, edited, broken. The files come from
tests/generate/mm2_anim.py and are judged by tests/decode/mm2_anim.py, neither of which shares a line with the command."""
import concurrent.futures
import importlib.util
import math
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import numbers_of  # noqa: E402
from command import KEYFERRY, SOURCE, TIMEOUT, Case  # noqa: E402


def module(folder):
    spec = importlib.util.spec_from_file_location(folder + "_mm2", SOURCE / "tests" / folder / "mm2_anim.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


generate, decoder = module("generate"), module("decode")
CASES = {name: (data, tags) for name, data, tags in generate.cases()}
KNOWN = {name: data for name, (data, tags) in CASES.items() if "from" not in tags}
WAYS = {"7400": ["--fbx-version", "7400"], "7500": ["--fbx-version", "7500"], "ascii": ["--ascii"]}


class Clips(Case):
    def put_all(self, folder, cases):
        for name, data in cases.items():
            self.put(f"{folder}/{name}.anim", data)

    def none(self, complaints):
        complaints = [c for c in complaints if c]
        self.assertFalse(complaints, "%d of them:\n%s" % (len(complaints), "\n".join(map(str, complaints[:10]))))

    def in_parallel(self, work, items):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.none(list(pool.map(work, items)))

    def back(self, folder):
        return {path.name.removesuffix(".anim"): path.read_bytes() for path in (self.dir / folder).glob("*.anim")}


class Reading(Clips):
    def test_enough_of_every_dialect(self):
        for dialect in generate.DIALECTS:
            self.assertGreaterEqual(sum(name.startswith(dialect + "-") for name in CASES), 50)

    def test_samples_are_the_generators(self):
        kept = SOURCE / "tests" / "data" / "mm2-anim"
        self.assertEqual(sorted(p.name for p in kept.glob("*.anim")), sorted(n + ".anim" for n in generate.SAMPLES))
        for name in generate.SAMPLES:
            self.assertEqual((kept / (name + ".anim")).read_bytes(), CASES[name][0], name)

    def test_dump_is_what_the_second_reader_reads(self):
        self.put_all("in", {name: data for name, (data, _) in CASES.items()})

        def work(name):
            words = ["dump", f"in/{name}.anim"] + (["--from", "mm2-anim"] if "from" in CASES[name][1] else [])
            done = subprocess.run([KEYFERRY, *words], cwd=self.dir, capture_output=True, timeout=TIMEOUT)
            if done.returncode:
                return name, done.stderr
            found = numbers_of.difference(numbers_of.load(done.stdout), decoder.decode(CASES[name][0], name + ".anim"), 9)
            return found and (name, found)
        self.in_parallel(work, CASES)

    def test_rate_and_skeleton(self):
        rig = self.put("ped.skel", generate.skeleton())
        self.put("ped.anim", CASES["ped"][0])
        dumped = self.keyferry("dump", "ped.anim", "--fps", "25", "--rig", rig).out
        expected = decoder.decode(CASES["ped"][0], "ped.anim", 25.0, generate.skeleton())
        self.assertIsNone(numbers_of.difference(numbers_of.load(dumped), expected, 9))
        self.assertEqual(expected["nodes"][18], {"name": "r_toe", "parent": 17})
        # As other editors and other hands leave it.
        text = generate.skeleton()
        for other in (b"\xef\xbb\xbf" + text, text.replace(b"\r\n", b"\n"), text.replace(b"\t", b"    "),
                      text.replace(b" {", b"\r\n{"), text.replace(b"bone ", b"Bone "), text.rstrip()):
            self.put("ped.skel", other)
            self.assertEqual(self.keyferry("dump", "ped.anim", "--fps", "25", "--rig", rig).out, dumped)

    def test_broken_skeletons(self):
        text = generate.skeleton()
        self.put("ped.anim", CASES["ped"][0])
        for broken, word in ((b"", "NumBones"), (text[10:], "NumBones"), (text.replace(b"NumBones 19", b"NumBones 18"), "there are 19"),
                             (text.rstrip()[:-1], "expected }"), (text + b"}", "expected a bone"), (text.replace(b"0.9", b"0,9"), "a number"),
                             (text.replace(b"offset", b"offset nan", 1), "a number"), (b"NumBones 9999\n" + b"bone a {" * 9999, "within one another")):
            self.put("ped.skel", broken)
            error = self.keyferry("convert", "ped.anim", "ped.fbx", "--rig", "ped.skel", code=1).err
            self.assertRegex(error, r"ped\.skel: offset 0x[0-9a-f]+: skeleton: .*" + word)
            self.assertFalse((self.dir / "ped.fbx").exists())

    def test_check(self):
        self.put_all("good", {n: d for n, (d, tags) in CASES.items() if "clean" in tags and "from" not in tags})
        self.keyferry("check", "good")
        for name in ("non-finite", "no-frames", "no-floats"):
            self.put("x.anim", CASES[name][0])
            self.assertIn(b"offset 0x", self.keyferry("check", "x.anim", code=1).out)

    def test_bad_files(self):
        for name, data, word in generate.bad_cases():
            self.put("bad.anim", data)
            # By name it would be one, but its bytes say no; told so, it says what is wrong and where.
            self.keyferry("info", "bad.anim", code=1)
            error = self.keyferry("convert", "bad.anim", "bad.fbx", "--from", "mm2-anim", code=1).err
            self.assertIn(word, error, name)
            self.assertIn("offset 0x", error, name)
            self.assertFalse((self.dir / "bad.fbx").exists())


class ThereAndBack(Clips):
    """Nothing edited: every byte comes back, whatever kept the original."""

    def restore(self, kept_by, *options):
        self.put_all("in", KNOWN)
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-" + kept_by, *options)
        self.keyferry("convert", "fbx", "out/", "--to", "mm2-anim")
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(KNOWN))
        self.none([name for name in KNOWN if out[name] != KNOWN[name]])

    def test_capsule_7400(self):
        self.restore("sidecar", *WAYS["7400"])

    def test_capsule_7500(self):
        self.restore("sidecar", *WAYS["7500"])

    def test_capsule_ascii(self):
        self.restore("sidecar", *WAYS["ascii"])

    def test_sidecar(self):
        self.restore("capsule", *WAYS["7500"])

    def test_baked_for_blender(self):
        self.restore("sidecar", "--for", "blender")

    def test_baked_beside_the_frames(self):
        self.restore("sidecar", "--bake=24")

    def test_by_hand(self):
        for name, (data, tags) in CASES.items():
            if "from" in tags:
                self.put("x.anim", data)
                self.keyferry("convert", "x.anim", "x.fbx", "--from", "mm2-anim", "-y")
                self.keyferry("convert", "x.fbx", "y.anim", "-y")
                self.assertEqual((self.dir / "y.anim").read_bytes(), data, name)

    def test_skeleton_travels_along(self):
        self.put("ped.skel", generate.skeleton())
        self.put("ped.anim", CASES["ped"][0])
        self.keyferry("convert", "ped.anim", "ped.fbx", "--rig", "ped.skel", "--ascii")
        (self.dir / "ped.skel").unlink()
        self.keyferry("convert", "ped.fbx", "back.anim")
        self.assertEqual((self.dir / "back.anim").read_bytes(), CASES["ped"][0])
        self.assertIn("l_elbow", fbxtext.Scene((self.dir / "ped.fbx").read_text()).models())

    def test_wrong_skeleton(self):
        self.put("ped.skel", generate.skeleton())
        self.put("x.anim", CASES["two-bones"][0])
        error = self.keyferry("convert", "x.anim", "x.fbx", "--rig", "ped.skel", code=1).err
        self.assertIn("the clip has 2", error)
        self.assertIn("has 19", error)

    def test_several_clips_are_takes(self):
        for name in ("retail-001", "beta-001"):
            self.put(name + ".anim", CASES[name][0])
        self.keyferry("convert", "retail-001.anim", "beta-001.anim", "both.fbx")
        info = self.json("info", "both.fbx", "--json")
        self.assertEqual([t["name"] for t in info["takes"]], ["retail-001", "beta-001"])
        self.keyferry("convert", "both.fbx", "out/")
        self.assertEqual(self.back("out"), {n: CASES[n][0] for n in ("retail-001", "beta-001")})


class Rebuilt(Clips):
    """Without the original: the second reader finds the same motion in the new file."""

    def same_motion(self, name, new):
        was, now = decoder.decode(CASES[name][0], name + ".anim"), decoder.decode(new, name + ".anim")
        if was["nodes"] != now["nodes"] or was["takes"][0]["end"] != now["takes"][0]["end"]:
            return name, "nodes or length"
        for a, b in zip(was["takes"][0]["tracks"], now["takes"][0]["tracks"]):
            if {**a, "keys": 0} != {**b, "keys": 0} or len(a["keys"]) != len(b["keys"]):
                return name, "tracks"
            for x, y in zip(a["keys"], b["keys"]):
                # degrees as 32-bit floats, turned into radians and rounded again
                if not math.isclose(x["v"], y["v"], rel_tol=2e-7, abs_tol=1e-30):
                    return name, a["channel"], x, y

    def test_rebuilt(self):
        self.put_all("in", KNOWN)
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "fbx", "out/", "--to", "mm2-anim")
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(KNOWN))
        self.none([self.same_motion(name, out[name]) for name in KNOWN if "exact" in CASES[name][1] and
                   name not in ("no-frames", "no-floats")])
        for name in ("retail-000", "beta-000", "old-000"):  # the layout of the game's own files
            self.assertEqual(struct.unpack_from("<I", out[name]), (0,))

    def test_verify(self):
        self.put_all("in", KNOWN)
        self.keyferry("verify", "in")
        self.put("ped.skel", generate.skeleton())
        self.keyferry("verify", "in/ped.anim", "--rig", "ped.skel", "--fps", "24")

    def test_non_finite_is_told_of(self):
        self.put("x.anim", CASES["non-finite"][0])
        self.assertIn("warning", self.keyferry("convert", "x.anim", "x.fbx").err)
        self.keyferry("convert", "x.anim", "y.fbx", "--strict", code=1)


class Edited(Clips):
    """One key changed in the FBX: one float changes in the file."""

    def edit(self, name, change, *back):
        self.put("x.anim", CASES[name][0])
        self.keyferry("convert", "x.anim", "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        report = self.keyferry("convert", "x.fbx", "y.anim", "-y", *back)
        return CASES[name][0], (self.dir / "y.anim").read_bytes(), report.err

    def test_one_float(self):
        def change(scene):
            curve = scene.curve("x", "bone_07", "Lcl Rotation", "y")
            curve.keys[5].value = 12.5
            curve.store()
        was, now, _ = self.edit("ped", change)
        at = 17 + 4 * (5 * 60 + 3 + 3 * 7 + 1)
        self.assertEqual(was[:at] + now[at:at + 4] + was[at + 4:], now)
        self.assertAlmostEqual(struct.unpack_from("<f", now, at)[0], math.radians(12.5), 7)

    def test_one_float_of_another_channel(self):
        def change(scene):
            curve = scene.curve("x", "channels", "channel2_0000", "channel2_0000")
            curve.keys[1].value = 77.0
            curve.store()
        was, now, _ = self.edit("four-channels", change)
        at = 8 + (9 + 2 * 24) + (9 + 8) + 9 + 4
        self.assertEqual(was[:at] + struct.pack("<f", 77) + was[at + 4:], now)

    def test_longer(self):
        def change(scene):
            for component in "xyz":
                curve = scene.curve("x", "bone_00", "Lcl Translation", component)
                last = curve.keys[-1]
                for more in (1, 2):
                    curve.keys.append(fbxtext.Key(last.time + more * fbxtext.TICKS // 30, last.value + more, last.flags,
                                                  last.data))
                curve.store()
        was, now, _ = self.edit("two-bones", change)
        self.assertEqual(struct.unpack_from("<2I", now), (0, 7))
        self.assertEqual(now[8:len(was)], was[8:])
        frames = [struct.unpack_from("<9f", now, 17 + 36 * f) for f in range(7)]
        self.assertEqual(frames[6][3:], frames[4][3:])
        self.assertAlmostEqual(frames[6][0], frames[4][0] + 2, 5)

    def test_what_cannot_be_said(self):
        """Another game's scales and visibility in a clip that has neither."""
        self.put("x.anm", (SOURCE / "tests" / "data" / "vib-anm" / "extremes.anm").read_bytes())
        self.keyferry("convert", "x.anm", "x.fbx")
        self.assertIn("object_000", self.keyferry("convert", "x.fbx", "x.anim", "--to", "mm2-anim").err)
        self.keyferry("check", "x.anim")
        self.keyferry("convert", "x.fbx", "y.anim", "--to", "mm2-anim", "--strict", code=1)


if __name__ == "__main__":
    unittest.main()
