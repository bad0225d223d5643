"""Usage, exit codes, help, formats, and the verbs that only look."""
import json
import os
import re
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, PLUGINS, SOURCE, Case, sample

SAMPLES = [DOOR] + [SOURCE / "tests/data" / name for name in ("mm2-anim/one-frame.anim", "vib-anm/second.anm", "nytro-anim/ease.nanim",
                                                              "ei-anm/wing.anm")]
VERBS = ["convert", "verify", "info", "dump", "diff", "check", "explain", "plan", "formats"]


class Usage(Case):
    def test_help_and_version(self):
        text = self.keyferry("--help").out.decode()
        for verb in VERBS:
            self.assertRegex(text, rf"(?m)^  {verb} ")
            page = self.keyferry(verb, "--help").out.decode()
            self.assertTrue(page.startswith(f"usage: keyferry {verb}"))
            self.assertIn("example", page)
        self.assertEqual(self.keyferry("-h").out.decode(), text)
        header = (SOURCE / "common" / "keyferry.h").read_text()
        version = re.search(r'#define KF_VERSION "(.*)"', header)
        if version:
            self.assertEqual(self.keyferry("--version").out.decode(), f"keyferry {version[1]}\n")

    def test_help_tells_every_option(self):
        """Each option that a verb takes stands in its help, and each that stands there is taken."""
        for verb in VERBS:
            page = self.keyferry(verb, "--help").out.decode()
            for option in re.findall(r"(?m)^  (--?[a-z-]+)", page):
                done = subprocess.run([KEYFERRY, verb, option, "--help"], capture_output=True, text=True)
                self.assertNotIn("no use for", done.stderr, f"{verb} {option}")
                self.assertNotIn("unknown option", done.stderr, f"{verb} {option}")

    def test_nothing(self):
        done = self.keyferry(code=2)
        self.assertEqual(done.out, b"")
        self.assertIn("usage:", done.err)

    def test_slips(self):
        self.assertIn('unknown verb "conver"; did you mean convert?', self.keyferry("conver", code=2).err)
        self.assertNotIn("did you mean", self.keyferry("xyzzy", code=2).err)
        self.assertIn('unknown option "--verbose"', self.keyferry("--verbose", code=2).err)
        done = self.keyferry("convert", "--tolerence", "1", "a", "b", code=2)
        self.assertIn("unknown option --tolerence; did you mean --tolerance?", done.err)
        self.assertIn("did you mean --no-sidecar?", self.keyferry("convert", "--nosidecar", "a", "b", code=2).err)
        self.assertIn("did you mean --max-memory?", self.keyferry("info", "--max-memori=5", "a", code=2).err)
        self.assertIn("unknown option -x", self.keyferry("convert", "-x", "a", "b", code=2).err)
        self.assertIn("info: has no use for --ascii", self.keyferry("info", "--ascii", "a", code=2).err)
        self.assertIn("has no use for --json", self.keyferry("dump", "--json", "a", code=2).err)

    def test_values(self):
        good = {"--for": "maya", "--fps": "29.97", "--tcb": "slopes", "--rotation-order": "zyx", "--tolerance": "1e-3",
                "--fbx-version": "7400", "--max-memory": "2G", "--jobs": "2", "--bake": None}
        bad = {"--for": ["houdini", ""], "--fps": ["0", "-1", "x", "30x", "nan", "inf", ""], "--tcb": ["slope"],
               "--rotation-order": ["XXZ"], "--tolerance": ["0", "-1", "abc"], "--fbx-version": ["7300"],
               "--max-memory": ["0", "-5", "x", "1T", "99999999999999999999", "99999999999999G"],
               "--jobs": ["0", "x", "-1", "5000"], "--bake": ["0", "x", ""], "--from": [""], "--rig": [""]}
        for option, value in good.items():
            self.keyferry("convert", option, *([value] if value else []), "missing", "out.fbx", code=3)
            if value:
                self.keyferry("convert", f"{option}={value}", "missing", "out.fbx", code=3)
        for option, values in bad.items():
            for value in values:
                done = self.keyferry("convert", f"{option}={value}", "missing", "out.fbx", code=2)
                self.assertIn(f"{option}: expected", done.err)
        self.assertIn("needs a value", self.keyferry("convert", "a", "b", "--fps", code=2).err)
        self.assertIn("takes no value", self.keyferry("convert", "a", "b", "--json=1", code=2).err)
        self.assertIn("write --bake=30, or ./30 if that is a file", self.keyferry("convert", DOOR, "--bake", "30", code=2).err)
        self.assertEqual(self.names(), [])
        self.keyferry("convert", DOOR, "--bake", "./30")
        self.assertEqual(self.names(), ["30", "30.kf"])
        self.assertEqual(self.keyferry("info", DOOR, "--rotation-order", "zyx").out,
                         self.keyferry("info", DOOR, "--rotation-order=ZYX").out)
        self.keyferry("convert", "--rotation-order", "zYx", "missing", "out.fbx", code=2)
        self.assertIn("contradict", self.keyferry("convert", "-y", "-n", "a", "b", code=2).err)

    def test_options_that_do_nothing(self):
        """They are told of, and with --strict refused."""
        self.put("door.ani", DOOR.read_bytes())
        self.put("any.skel", b"NumBones 1\nbone root {\n}\n")
        for words, option in ((["--base", "door.ani"], "--base"), (["--drop-missing"], "--drop-missing")):
            for source, to in (("door.ani", "a.fbx"), ("a.fbx", "b.fbx")):
                done = self.keyferry("convert", "-y", source, to, *(["--to", "fbx"] if source == "a.fbx" else []), *words)
                self.assertIn(f"{option} does nothing here", done.err)
            self.keyferry("convert", "-y", "a.fbx", "b.ani", *words)
            self.assertNotIn("does nothing", self.keyferry("convert", "-y", "a.fbx", "b.ani", *words).err)
            self.assertIn(option, self.keyferry("convert", "-y", "--strict", "door.ani", "c.fbx", *words, code=1).err)
        self.assertNotIn("c.fbx", self.names())
        for words in (["convert", "-y", "door.ani", "a.fbx"], ["info", "door.ani"], ["verify", "door.ani"]):
            done = self.keyferry(*words, "--rig", "any.skel")
            self.assertIn("--rig does nothing here: x4-ani keeps no skeleton in another file", done.err)
        self.keyferry("convert", "-y", "a.fbx", "b.ani")
        self.assertEqual((self.dir / "b.ani").read_bytes(), DOOR.read_bytes())

    def test_operands(self):
        for words in (["convert"], ["convert", "a"], ["info"], ["info", "a", "b"], ["dump"], ["diff", "a"],
                      ["diff", "a", "b", "c"], ["check"], ["verify"], ["formats", "a"], ["explain"], ["info", ""],
                      ["convert", "x.fbx", "-", "--json"]):
            self.keyferry(*words, code=2)
        for words in (["convert", "-", "-", "x.fbx"], ["diff", "-", "-"], ["check", "-", DOOR, "-"], ["verify", "-", "-"],
                      ["info", "-", "--rig", "-"], ["convert", "-", "--base", "-", "-"]):
            done = self.keyferry(*words, stdin=DOOR.read_bytes(), code=2)
            self.assertIn(f"{words[0]}: standard input can be read only once", done.err)
        self.put("-file", DOOR.read_bytes())
        self.keyferry("info", "--", "-file")

    def test_missing_files(self):
        for verb in (["info"], ["dump"], ["check"], ["verify"], ["explain", "--for", "max"]):
            done = self.keyferry(*verb, "nowhere.ani", code=3)
            self.assertIn("nowhere.ani: cannot be read: No such file", done.err)
        self.keyferry("diff", DOOR, "nowhere.ani", code=3)
        self.assertIn("Is a directory", self.keyferry("info", ".", code=3).err)
        self.assertIn("cannot be read", self.keyferry("convert", DOOR, "x.fbx", "--rig", "nowhere.skel", code=3).err)
        self.assertEqual(self.names(), [])

    def test_unknown_format_id(self):
        done = self.keyferry("info", "--from", "x4ani", DOOR, code=2)
        self.assertIn("--from x4ani: there is no such format; did you mean x4-ani?", done.err)
        self.keyferry("convert", "--to", "fbx2", DOOR, "out.fbx", code=2)


class Dump(Case):
    def test_values_that_are_no_numbers(self):
        """They are told as the file has them, in words, and the rest of the file to the last bit."""
        data = (SOURCE / "tests/data/ei-anm/not_finite.anm").read_bytes()
        at = 4 + 16 * struct.unpack_from("<I", data)[0]
        moves = [struct.unpack_from("<3f", data, at + 4 + 12 * i) for i in range(*struct.unpack_from("<I", data, at))]
        tracks = self.json("dump", SOURCE / "tests/data/ei-anm/not_finite.anm")["takes"][0]["tracks"]
        told = {t["component"]: [k["v"] for k in t["keys"]] for t in tracks if t["channel"] == "translation"}
        words = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        bits = lambda value: value if isinstance(value, str) else struct.pack("<f", value)
        for c, letter in enumerate("xyz"):
            self.assertEqual([bits(v) for v in told[letter]], [bits(words.get(str(move[c]), move[c])) for move in moves])
        self.assertTrue(any(str(value) in words for move in moves for value in move))

    def test_shapes_that_are_no_numbers(self):
        """A key whose handle or TCB number could not be taken as it stands says so; the others do not."""
        data = bytearray(DOOR.read_bytes())
        plain = self.keyferry("dump", DOOR).out
        self.assertNotIn(b"nonfinite", plain)
        found = 0
        for at in range(0, len(data) - 3, 4):
            self.put("odd.ani", bytes(data[:at]) + struct.pack("<I", 0x7FC00000) + bytes(data[at + 4:]))
            done = subprocess.run([KEYFERRY, "dump", "odd.ani"], cwd=self.dir, capture_output=True)
            if done.returncode == 0 and b"nonfinite_shape" in done.stdout:
                found += 1
                told = [key for track in json.loads(done.stdout)["takes"] for t in track["tracks"] for key in t.get("keys", [])
                        if key.get("nonfinite_shape")]
                self.assertTrue(told and all("v" in key or "q" in key for key in told))
                self.assertNotIn(b"NaN", done.stdout)
                if found == 3:
                    break
        self.assertEqual(found, 3)


class Formats(Case):
    def test_built_in(self):
        listed = [f["id"] for f in self.json("formats", "--json")["formats"]]
        definitions = re.findall(r"(?m)^KF_FORMAT\((\w+)\)", (SOURCE / "plugins" / "formats.def").read_text())
        self.assertEqual(listed, ["fbx"] + [name.replace("_", "-") for name in definitions])
        self.assertIn("x4-ani", listed)
        lines = self.keyferry("formats").out.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines], listed)

    def test_plugin(self):
        self.plugins("good")
        found = [f for f in self.json("formats", "--json")["formats"] if f["id"] == "sample"]
        self.assertEqual(found, [{"id": "sample", "title": "A sample for the tests", "extensions": ["smpl", "sam"],
                                  "plugin": str(PLUGINS / "good" / "sample.so"), "channels": ["translation"],
                                  "interpolations": ["linear"], "frame_rate": 0}])
        self.put("a.smpl", sample([(0, 1), (1, 2.5)]))
        self.keyferry("convert", "a.smpl", "a.fbx")
        self.keyferry("convert", "a.fbx", "b.smpl")
        self.assertEqual((self.dir / "b.smpl").read_bytes(), sample([(0, 1), (1, 2.5)]))

    def test_bad_plugins_are_told_and_left_out(self):
        self.plugins("bad", "good")
        done = self.keyferry("formats")
        for name in ("abi", "id", "name", "text", "title", "version"):
            self.assertIn(f"{name}.so: left out: ", done.err)
        self.assertIn("sample", done.out.decode())

    def test_a_plugin_cannot_name_files_outside(self):
        self.plugins("climber")
        self.put("in/a.smpl", sample([(0, 1)]))
        self.keyferry("convert", "in/a.smpl", "in/a.fbx")
        before = self.files()
        for to in ("out/", "in/b.smpl"):
            done = self.keyferry("convert", "in/a.fbx", to, code=2)
            self.assertIn('output name "../outside.smpl": not the name of a file', done.err)
        self.assertEqual(self.files(), before)

    def test_not_from_the_current_folder(self):
        self.environment["KEYFERRY_PLUGIN_PATH"] = ".:" + os.path.relpath(PLUGINS / "good", self.dir)
        done = self.keyferry("formats")
        self.assertNotIn("sample", done.out.decode())
        self.assertIn("must be an absolute path", done.err)


class Looking(Case):
    def test_info(self):
        text = self.keyferry("info", DOOR).out.decode()
        self.assertTrue(text.startswith("x4-ani: "))
        info = self.json("info", "--json", DOOR)
        self.assertEqual(info["format"], "x4-ani")
        dump = self.json("dump", DOOR)
        self.assertEqual([n["name"] for n in info["nodes"]], [n["name"] for n in dump["nodes"]])
        self.assertEqual([t["name"] for t in info["takes"]], [t["name"] for t in dump["takes"]])
        for about, take in zip(info["takes"], dump["takes"]):
            self.assertEqual(about["curves"], len(take["tracks"]))  # a dump tells them one by one
            self.assertEqual(about["tracks"], len({(track["node"], track["channel"]) for track in take["tracks"]}))
            self.assertEqual(about["keys"], sum(len(track["keys"]) for track in take["tracks"]))
            values = [key["v"] for track in take["tracks"] if track["channel"] == "translation" for key in track["keys"]]
            self.assertEqual(about["channels"]["translation"]["min"], min(values))
            self.assertEqual(about["channels"]["translation"]["max"], max(values))
        self.assertIn("4 tracks, 12 curves, 51 keys", text)

    def test_one_word_for_one_thing(self):
        """What info, explain and convert call tracks are the same."""
        for sample in SAMPLES:
            tracks = self.json("info", "--json", sample)["tracks"]
            self.assertEqual(self.json("convert", "--json", "-y", sample, "a.fbx")["tracks"], tracks, sample)
            self.assertRegex(self.keyferry("explain", sample, "--for", "max").out.decode(), rf"\b{tracks} tracks?,")

    def test_dump_from_standard_input(self):
        self.assertEqual(self.keyferry("dump", "-", stdin=DOOR.read_bytes()).out, self.keyferry("dump", DOOR).out)

    def test_looking_leaves_stderr_alone(self):
        for words in (["info", DOOR], ["dump", DOOR], ["check", DOOR], ["formats"], ["diff", DOOR, DOOR]):
            self.assertEqual(self.keyferry(*words).err, "")

    def test_diff(self):
        self.plugins("good")
        self.put("a.smpl", sample([(0, 0), (1, 10), (2, 0)]))
        self.put("b.smpl", sample([(0, 0), (1, 10.5), (2, 0)]))
        self.assertEqual(self.keyferry("diff", "a.smpl", "a.smpl").out, b"same: 1 compared, 0 beyond tolerance\n")
        done = self.keyferry("diff", "a.smpl", "b.smpl", code=1)
        self.assertIn('"sample" translation.x: worst 0.5 at 1 s', done.out.decode())
        found = self.json("diff", "--json", "a.smpl", "b.smpl", code=1)
        self.assertFalse(found["same"])
        self.assertEqual(found["differences"][0]["node"], "sample")
        self.assertAlmostEqual(found["differences"][0]["worst"], 0.5)
        self.assertAlmostEqual(found["differences"][0]["time"], 1)
        self.assertEqual(found["differences"][0]["changed"], 1)
        self.keyferry("diff", "--tolerance", "1", "a.smpl", "b.smpl")
        self.keyferry("convert", "a.smpl", "a.fbx")
        self.keyferry("diff", "a.smpl", "a.fbx")
        self.keyferry("diff", "--from", "sample", "a.fbx", "a.smpl")  # the FBX is known all the same
        self.keyferry("diff", "a.fbx", "b.smpl", code=1)

    def test_diff_of_what_is_in_one_only(self):
        self.put("few.ani", (SOURCE / "tests/data/x4-ani/single_keys.ani").read_bytes())
        self.assertIn(b": only in A", self.keyferry("diff", DOOR, "few.ani", code=1).out)
        self.assertIn(b": only in B", self.keyferry("diff", "few.ani", DOOR, code=1).out)
        self.keyferry("diff", DOOR, "missing.ani", code=3)
        self.put("bad.ani", DOOR.read_bytes()[:-1])
        self.keyferry("diff", DOOR, "bad.ani", code=1)

    def test_json_of_what_cannot_be_read(self):
        for verb in ("check", "verify"):
            found = self.json(verb, "--json", "missing.ani", code=3)
            self.assertEqual((found["file"], found["ok"]), ("missing.ani", False))
        self.put("a\udcff\x01.ani".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"), DOOR.read_bytes()[:-3])
        done = subprocess.run([KEYFERRY, "check", "--json", "."], cwd=self.dir, capture_output=True)
        self.assertEqual(done.returncode, 1)
        found = json.loads(done.stdout)
        self.assertIn("\ufffd\x01.ani", found["file"])

    def test_check(self):
        data = bytearray(DOOR.read_bytes())
        self.put("good.ani", data)
        self.assertEqual(self.keyferry("check", "good.ani").out, b"good.ani: ok, x4-ani\n")
        self.put("cut.ani", data[:-5])
        done = self.keyferry("check", "cut.ani", code=1)
        self.assertRegex(done.out.decode(), r"^cut\.ani: offset 0x[0-9a-f]+: .*expected.*found")
        found = self.json("check", "--json", "cut.ani", code=1)
        self.assertEqual((found["file"], found["ok"]), ("cut.ani", False))
        self.assertEqual(found["messages"][0]["level"], "problem")
        self.plugins("good")
        self.put("odd.smpl", sample([(-1, 0), (0, 1)]))
        done = self.keyferry("check", "odd.smpl", code=1)
        self.assertEqual(done.out, b"odd.smpl: offset 0x8: time: expected 0 or more, found less\n")

    def test_check_folder(self):
        self.put("tree/a.ani", DOOR.read_bytes())
        self.put("tree/below/b.ani", DOOR.read_bytes()[:100])
        self.put("tree/below/readme.txt", b"not an animation")
        self.put("tree/.hidden.ani", b"x")
        done = self.keyferry("check", "tree", code=1)
        lines = done.out.decode().splitlines()
        self.assertEqual(lines[0], "tree/a.ani: ok, x4-ani")
        self.assertTrue(lines[1].startswith("tree/below/b.ani: offset"))
        self.assertEqual(len(lines), 2)
        self.assertIn("1 well formed, 1 not, 1 of no known format left out", done.err)
        self.keyferry("check", "tree/below/readme.txt", code=1)  # but what is named is looked at
        lines = self.keyferry("check", "--json", "tree", code=1).out.decode().splitlines()
        self.assertEqual([json.loads(line)["ok"] for line in lines], [True, False])

    def test_verify(self):
        done = self.keyferry("verify", DOOR)
        self.assertEqual(done.out.decode(), f"{DOOR}: ok\n")
        found = self.json("verify", "--json", "--for", "maya", DOOR)
        self.assertEqual((found["ok"], found["restored"], found["rebuilt"]), (True, True, True))
        self.keyferry("verify", SOURCE / "README.md", code=1 if (SOURCE / "README.md").exists() else 3)

    def test_verify_tells_what_differs(self):
        self.plugins("liar")
        self.put("a.smpl", sample([(0, 1), (1, 2.5), (2, 0)]))
        done = self.keyferry("verify", "a.smpl", code=1)
        self.assertIn("a.smpl: FAILED: restored, it differs at offset 0x", done.out.decode())
        self.assertIn("; rebuilt without the original, it differs in take \"take\", \"sample\" translation.x by ", done.out.decode())
        found = self.json("verify", "--json", "a.smpl", code=1)
        self.assertEqual((found["ok"], found["restored"], found["rebuilt"]), (False, False, False))
        self.assertEqual(found["first_difference"], 13)
        found = self.json("verify", "--json", "missing.smpl", code=3)
        self.assertFalse(found["ok"])

    def test_explain(self):
        self.assertIn("a program is needed", self.keyferry("explain", DOOR, code=2).err)
        self.assertIn("Blender", self.keyferry("explain", DOOR, "--for", "blender").out.decode())

    def test_explain_everything(self):
        """Every format for every program; and what the README shows is what it says."""
        for sample in SAMPLES:
            for program in ("blender", "maya", "max", "motionbuilder"):
                text = self.keyferry("explain", sample, "--for", program).out.decode()
                self.assertTrue(text.startswith(sample.parent.name + ": "))
                self.assertNotRegex(text, r"\b(1 (nodes|takes|tracks|keys|linear keys)|0 (TCB|cubic|stepped|quaternion))\b")
                self.assertRegex(text, "\n  (keeps|changes) .*(.*\n)*  restored ")
        self.assertIn("shapes and their weights", self.keyferry("explain", SAMPLES[-1], "--for", "blender").out.decode())
        extremes = self.keyferry("explain", SOURCE / "tests/data/vib-anm/extremes.anm", "--for", "blender").out.decode()
        self.assertIn("drops    the rotation on frames where a scale is 0 (1 track is or passes it)", extremes)
        self.assertIn("changes  scales below 0 and the rotation with them to other numbers that do the same (1 track)", extremes)
        self.assertNotIn("scale is 0", self.keyferry("explain", DOOR, "--for", "blender").out.decode())
        many = self.put("many.anim", struct.pack("<3IfB", 0, 1, 90, 1.0, 1) + bytes(4 * 90))
        self.assertIn("29 nodes: a default export", self.keyferry("explain", many, "--for", "blender").out.decode())
        shown = self.keyferry("explain", DOOR, "--for", "blender").out.decode()
        self.assertIn(shown, (SOURCE / "README.md").read_text(encoding="utf-8"))

    def test_explain_what_convert_warns_of(self):
        warned = 0
        for sample in SAMPLES:
            for program in ("blender", "maya", "max", "motionbuilder"):
                told = re.findall("^  warns    (.*)", self.keyferry("explain", sample, "--for", program).out.decode(), re.M)
                said = re.findall("warning: (.*)", self.keyferry("convert", "-y", sample, "a.fbx", "--for", program).err)
                self.assertEqual(told, said, (sample, program))
                warned += len(said)
        self.assertGreater(warned, 5)
        self.keyferry("convert", "-y", DOOR, "a.fbx")
        self.assertIn("  restored ", self.keyferry("explain", "a.fbx", "--for", "max").out.decode())

    def test_memory_limit(self):
        self.assertIn("memory", self.keyferry("info", "--max-memory", "3K", DOOR, code=1).err)
        self.keyferry("info", "--max-memory", "1M", DOOR)

    def test_unknown_and_ambiguous_bytes(self):
        self.put("text.txt", b"nothing known")
        self.assertIn("text.txt: no known format fits its bytes (keyferry formats", self.keyferry("info", "text.txt", code=1).err)
        self.put("text.anm", b"nothing known")
        told = self.keyferry("info", "text.anm", code=1).err
        self.assertIn("by its name it should be ei-anm or vib-anm (--from ID tells what is wrong with it)", told)
        self.put("empty.ani", b"")
        self.assertIn("empty.ani: the file is empty", self.keyferry("info", "empty.ani", code=1).err)

    def test_a_name_that_promises_another_format(self):
        for source, target, what, name in ((DOOR, "a.ani", "fbx", "x4-ani"), (DOOR, "a.nanim", "fbx", "nytro-anim"),
                                           ("d.fbx", "b.nanim", "x4-ani", "nytro-anim")):
            said = self.keyferry("convert", source, target).err
            self.assertIn(f'"{target}" becomes {what}, not {name} as its name says: --to {name}, if that is meant', said)
            self.keyferry("convert", source, "c" + target, "--strict", "--tcb", "slopes", code=1)
            self.assertNotIn("as its name says", self.keyferry("convert", source, target, "-y", "--to", name).err)
            self.assertNotIn("as its name says", self.keyferry("convert", DOOR, "d.fbx", "-y").err)
        self.assertNotIn("as its name says", self.keyferry("convert", "d.fbx", "e.old").err)

    def test_names_cannot_steer_the_terminal(self):
        name = "a\x1b[2Jb.ani"
        self.put(name, b"nothing")
        done = self.keyferry("info", name, code=1)
        self.assertNotIn("\x1b", done.err)
        self.assertIn("a\\x1b[2Jb.ani", done.err)
        for name, shown in (("\x85ä\u202e.ani", "\\xc2\\x85ä\\xe2\\x80\\xae.ani"), ("\udc9b\udcc3.ani", "\\x9b\\xc3.ani")):
            self.put(name, b"nothing")
            self.assertIn(f"keyferry: {shown}: ", self.keyferry("info", name, code=1).err)
        self.put("\u202e.fbx", b"old")
        said, _ = self.on_terminal("convert", DOOR, "\u202e.fbx", when=b"[y/N]", answer=b"n\n")
        self.assertIn("keyferry: \\xe2\\x80\\xae.fbx exists. Overwrite it?", said)
        # What has no room is cut, if need be within a character.
        said = subprocess.run([KEYFERRY, "info", "a" + "ä" * 2000], cwd=self.dir, capture_output=True).stderr
        self.assertIn("keyferry: aää", said.decode())


if __name__ == "__main__":
    unittest.main()
