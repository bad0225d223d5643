"""FBX made elsewhere, without an original, into the four formats that are not X4's: a sound file with the motion of the FBX
on every frame, as the second readers see it, and a warning with node and time for what a format cannot say."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
from command import SOURCE, Case  # noqa: E402
from formatcase import angle, module  # noqa: E402

mm2, vib, nytro, ei = (module("decode", name) for name in ("mm2_anim", "vib_anm", "nytro_anim", "ei_anm"))
FORMATS = {"mm2-anim": "anim", "vib-anm": "anm", "nytro-anim": "nanim", "ei-anm": "anm"}
MADE = SOURCE.parent / "shared" / "fbx-samples"


def zigzag(*values):
    """A key every quarter of a second."""
    return [(i / 4, value) for i, value in enumerate(values)]


def baked(value):
    """What Blender writes of a channel that stands still."""
    return [(i / 24, value) for i in range(25)]


HIP = {"T": (zigzag(0, 40, 10, 30, 5), zigzag(-3, 5, 9, 2, 2), baked(7)),
       "R": (zigzag(0, 60, -30, 0, 10), baked(0), zigzag(5, 5, 20, 30, 0)), "S": (baked(1),) * 3, "V": baked(1)}
ARM = {"rest": {"T": (1, 2, 3)}, "R": (zigzag(90, 0, 45, 20, 0), zigzag(0, 10, 0, -10, 0), baked(0))}


def at(keys, time):
    """The value of linear keys."""
    for (t0, v0), (t1, v1) in zip(keys, keys[1:]):
        if time <= t1:
            return v0 + (v1 - v0) * (max(time, t0) - t0) / (t1 - t0)
    return keys[-1][1]


def values(node, channel, time):
    return [at(keys, time) for keys in node[channel]]


def quaternion(x, y, z):
    """Of angles in degrees about X, then Y, then Z."""
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(a) / 2), math.sin(math.radians(a) / 2)) for a in (x, y, z))
    return (cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz)


def hamilton(p, q):
    (a, b, c, d), (e, f, g, h) = p, q
    return (a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e)


class Elsewhere(Case):
    def convert(self, id, nodes, *options, rate=24, name="made"):
        """The files it becomes, by name, and what was said."""
        self.put(f"{name}.fbx", fbxmade.scene(nodes, rate).encode())
        said = self.keyferry("convert", f"{name}.fbx", "out/", "--to", id, "-y", *options).err
        self.keyferry("check", "out")
        return {p.name: p.read_bytes() for p in (self.dir / "out").iterdir()}, said

    def curves(self, keys, wanted, digits):
        for key, component in ((k, c) for c in range(3) for k in keys[c]):
            self.assertAlmostEqual(key["v"], wanted(key["t"])[component], digits, (key, component))

    def test_mm2(self):
        for rate, options in ((30, []), (24, ["--fps", "24"])):
            files, said = self.convert("mm2-anim", {"hip": HIP, "arm": ARM}, *options, "--strict")
            tracks = mm2.decode(files["made.anim"], "made.anim", rate)["takes"][0]["tracks"]
            self.assertEqual({len(t["keys"]) for t in tracks}, {rate + 1})
            self.assertEqual([(t["node"], t["channel"]) for t in tracks[::3]], [(0, "translation"), (0, "rotation"), (1, "rotation")])
            for i, (node, channel) in enumerate(((HIP, "T"), (HIP, "R"), (ARM, "R"))):
                self.curves([t["keys"] for t in tracks[3 * i:3 * i + 3]], lambda time: values(node, channel, time), 4)
            self.assertIn("note: the scene has 24 frames a second, the file gets 30" if rate == 30 else "24 a second", said)

    def test_vib(self):
        for scene_rate, rate in ((24, 30), (60, 60)):
            files, _ = self.convert("vib-anm", {"hip": HIP, "object_007": ARM}, "--strict", rate=scene_rate)
            stored, frames = vib.frames_of(files["made.anm"])
            self.assertEqual((stored, len(frames)), (rate, rate + 1))
            for number, node, channel, flag, unit in ((0, HIP, "T", 4, 1), (0, HIP, "R", 1, 360 / 4096), (7, ARM, "R", 1, 360 / 4096)):
                held = None
                for i, frame in enumerate(frames):
                    held = frame[number].get(flag, held)
                    for got, wanted in zip(held, values(node, channel, i / rate)):
                        self.assertLessEqual(abs(got * unit - wanted), 0.5001 * unit, (number, channel, i))
            self.assertEqual([f[7].get(4) for f in frames][:2], [(1, 2, 3), None])

    def test_nytro(self):
        files, _ = self.convert("nytro-anim", {"hip": HIP, "arm": {**ARM, "parent": "hip"}}, "--strict")
        (hip, arm) = nytro.load(files["made.nanim"])[1]
        self.assertEqual((hip[0], arm[0], hip[1]), (b"hip", b"arm", 4))  # straight lines
        for node, source in ((hip, HIP), (arm, ARM)):
            for time, channel, keys in ((k[1], c, k[3]) for c, part in (("T", node[2]), ("R", node[3])) for k in part):
                if channel == "R":
                    q = quaternion(*values(source, "R", time))
                    half = math.radians(keys[0] / 2)
                    self.assertLess(angle(q, (math.cos(half), *(math.sin(half) * a for a in keys[1:]))), 0.01)
                else:
                    wanted = values(source, "T", time) if source is HIP else source["rest"]["T"]
                    self.assertLess(math.dist(keys, wanted), 1e-4)
        # and between the keys, as the command reckons
        found = [d for d in self.json("diff", "made.fbx", "out/made.nanim", "--json", code=1)["differences"] if not d["only"]]
        self.assertTrue(all(d["worst"] <= d["limit"] for d in found), found)

    def test_ei(self):
        """One file for each node. A part turns by its own rotation and then by what it hangs on, about the model's axes."""
        files, said = self.convert("ei-anm", {"hip": HIP, "arm": {**ARM, "parent": "hip"}}, "--strict")
        self.assertIn("the file gets 15", said)
        self.assertEqual(sorted(files), ["arm.anm", "hip.anm"])
        tracks = {n: {t["channel"] + t.get("component", ""): t["keys"] for t in ei.part(d, 0)} for n, d in files.items()}
        hip, arm = tracks["hip.anm"], tracks["arm.anm"]
        self.assertEqual({len(keys) for keys in hip.values()} | {len(arm["rotation"])}, {16})
        self.curves([hip["translation" + c] for c in "xyz"], lambda time: values(HIP, "T", time), 4)
        for a, b in zip(hip["rotation"], arm["rotation"]):
            above, own = (quaternion(*values(node, "R", a["t"])) for node in (HIP, ARM))
            self.assertLess(angle(a["q"], above), 1e-3)
            self.assertLess(angle(hamilton(b["q"], a["q"]), hamilton(above, own)), 1e-3)

    def test_what_cannot_be_said(self):
        """With node and time; an error with --strict, and no file."""
        hip = {**HIP, "S": ([(0.25, 1), (1, 2)],) * 3, "V": [(0.5, 1, fbxmade.STEP), (0.75, 0, fbxmade.STEP)]}
        large = {"T": ([(0, 0), (0.5, 40000), (1, 0)], baked(0), baked(0))}
        scale = r'warning: .*node "hip", scale from 0\.2500 s'
        hidden = r'warning: .*node "hip", visibility from 0\.5000 s'
        lost = {"mm2-anim": ({"hip": hip}, [scale, hidden]), "nytro-anim": ({"hip": hip}, [hidden]),
                "ei-anm": ({"hip": hip}, [scale, hidden]),
                "vib-anm": ({"rock": large}, [r'warning: translation of node "rock" .*0\.\d+ s\): beyond 16 bits'])}
        for id, (nodes, warnings) in lost.items():
            _, said = self.convert(id, nodes)
            for warning in warnings:
                self.assertRegex(said, warning)
            self.assertEqual(said.count("warning:") > 0, True)
            self.keyferry("convert", "made.fbx", f"strict/{id}", "--to", id, "--strict", code=1)
        self.assertFalse((self.dir / "strict").exists() and any((self.dir / "strict").iterdir()))

    def test_tcb_beyond_its_range(self):
        """Numbers that other programs allow are cut, for the engine's go from -1 to 1."""
        text = fbxmade.scene({"hip": {"T": ([(0, 0, 0x208), (0.5, 5, 0x208), (1, 1, 0x208)], baked(0), baked(0))}})
        self.assertEqual(text.count("a: 0,0,0,0,0,0,0,0,0,0,0,0\n"), 1)
        self.put("made.fbx", text.replace("a: 0,0,0,0,0,0,0,0,0,0,0,0\n", "a: 0,0,0,0,0,1069547520,0,0,0,0,0,0\n").encode())  # 1.5
        said = self.keyferry("convert", "made.fbx", "made.nanim").err
        self.assertRegex(said, r'warning: node "hip", .* 0\.5000 s: a continuity of 1\.5 lies beyond')
        self.assertEqual([k[2][1] for k in nytro.load((self.dir / "made.nanim").read_bytes())[1][0][2] if k[2]], [0, 1, 0])
        self.keyferry("check", "made.nanim")

    @unittest.skipUnless(MADE.is_dir(), "skipped: there are no files of other programs here")
    def test_files_of_other_programs(self):
        samples = sorted(MADE.glob("*.fbx"))
        self.assertTrue(samples)
        for fbx in samples:
            for id in FORMATS:
                out = f"{fbx.stem}-{id}"
                said = self.keyferry("convert", fbx, f"{out}/", "--to", id).err
                self.keyferry("check", out)
                for line in said.splitlines():
                    if "warning:" in line and "layer" not in line:  # a shape's full weight is the same at any time
                        self.assertRegex(line, r'node "[^"]+"' + (r', shape "[^"]+"' if "full weight" in line else r".* \d+\.\d+ s"), line)
                self.keyferry("convert", fbx, f"strict-{out}/", "--to", id, "--strict", code=1 if "warning:" in said else 0)


if __name__ == "__main__":
    unittest.main()
