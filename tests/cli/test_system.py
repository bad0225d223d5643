"""The command where the system is awkward: calls that are interrupted or do half of what they were asked for, files that
cannot be closed, no threads, terminals of no width."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, PLUGINS, SOURCE, Case, sample  # noqa: E402

OLD = b"what was there before"


@unittest.skipIf("sanitize" in os.environ.get("KEYFERRY_INSTRUMENT", ""), "a sanitizer's library must come first")
class Awkward(Case):
    def run_with(self, fault, *words):
        environment = {**self.environment, "LD_PRELOAD": "fault.so", "LD_LIBRARY_PATH": str(PLUGINS),
                       "KEYFERRY_FAULT": fault}
        return subprocess.run([KEYFERRY, *map(str, words)], cwd=self.dir, capture_output=True, text=True, env=environment)

    def large(self):
        """A file whose FBX does not fit any buffer, and that FBX."""
        self.plugins("good")
        self.put("large.smpl", sample([(n, n % 5) for n in range(50000)]))
        self.keyferry("convert", "large.smpl", "new.fbx")
        return {f"out{name[3:]}": (self.dir / name).read_bytes() for name in ("new.fbx", "new.fbx.kf")}

    def test_interrupted(self):
        new = self.large()
        done = self.run_with("interrupt", "convert", "large.smpl", "out.fbx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({name: (self.dir / name).read_bytes() for name in new}, new)
        done = self.run_with("interrupt", "convert", "out.fbx", "again.smpl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "again.smpl").read_bytes(), (self.dir / "large.smpl").read_bytes())

    def test_large_outputs_fail(self):
        new, codes = self.large(), []
        for number in range(1, 60):
            for name in new:
                self.put(name, OLD)
            done = self.run_with(f"fail {number}", "convert", "-y", "large.smpl", "out.fbx")
            codes.append(done.returncode)
            if done.returncode == 3:
                self.assertEqual((self.dir / "out.fbx").read_bytes(), OLD, f"call {number}")
                self.assertIn("cannot be written: Input/output error", done.stderr)
            else:
                self.assertEqual((self.dir / "out.fbx").read_bytes(), new["out.fbx"], f"call {number}: {done.stderr}")
            self.assertEqual([n for n in self.names() if n.startswith(".")], [])
        self.assertGreaterEqual(codes.count(3), 10)
        self.assertEqual(codes[-1], 0)

    def test_files_that_cannot_be_closed(self):
        self.keyferry("convert", DOOR, "new.fbx")
        codes = []
        for number in range(1, 12):
            self.put("out.fbx", OLD)
            done = self.run_with(f"close {number}", "convert", "-y", DOOR, "out.fbx")
            codes.append(done.returncode)
            now = (self.dir / "out.fbx").read_bytes()
            self.assertEqual(now, OLD if done.returncode else (self.dir / "new.fbx").read_bytes(), f"close {number}")
            self.assertEqual("cannot be written: Input/output error" in done.stderr, done.returncode == 3)
        self.assertGreaterEqual(codes.count(3), 2)
        self.assertIn(3, [self.run_with(f"close {n}", "convert", DOOR, "/dev/null", "--to", "fbx", "--no-sidecar").returncode
                          for n in range(1, 8)])

    @unittest.skipIf("coverage" in os.environ.get("KEYFERRY_INSTRUMENT", ""), "what counts takes memory and does not look if it gets any")
    def test_memory_runs_out_while_files_are_made(self):
        self.keyferry("convert", DOOR, "new.fbx")
        new = {f"out{name[3:]}": (self.dir / name).read_bytes() for name in ("new.fbx", "new.fbx.kf")}
        codes = []
        for number in range(1, 60):
            for name in new:
                self.put(name, OLD)
            done = self.run_with(f"memory {number}", "convert", "-y", DOOR, "out.fbx")
            codes.append(done.returncode)
            self.assertEqual([n for n in self.names() if n.startswith(".")], [], f"allocation {number}: left over")
            is_new = {name: (self.dir / name).read_bytes() == data for name, data in new.items()}
            for name in new:
                self.assertTrue(is_new[name] or (self.dir / name).read_bytes() == OLD, f"allocation {number}: half of {name}")
            self.assertTrue(is_new["out.fbx.kf"] or not is_new["out.fbx"], f"allocation {number}")
            self.assertIn(done.returncode, (0, 3), done.stderr)
            if done.returncode:
                self.assertIn("memory", done.stderr)
            else:
                self.assertTrue(is_new["out.fbx"])
        self.assertGreaterEqual(codes.count(3), 3)
        self.assertEqual(codes[-1], 0)

    def test_without_threads(self):
        for i in range(5):
            self.put(f"in/{i}.ani", DOOR.read_bytes())
        done = self.run_with("threads", "convert", "in", "out/", "--jobs", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("5 converted, 0 failed", done.stderr)
        self.keyferry("convert", "in", "other/", "--jobs", "4")
        files = self.files()
        for i in range(5):
            self.assertEqual(files[f"out/{i}.fbx"], files[f"other/{i}.fbx"])


class Terminals(Case):
    def test_narrow_or_of_no_width(self):
        for i in range(4):
            self.put("in/\u00e4\u00f6\u00fc\u4e16\u754c%d.ani" % i, DOOR.read_bytes())
        for columns in (0, 24, 25, 26, 27, 40):
            text, code = self.on_terminal("convert", "in", "out/", "-y", columns=columns)
            self.assertEqual(code, 0)
            for line in text.replace("\x1b[K", "\r").split("\r"):
                if " a second" in line:
                    self.assertLess(len(line), columns or 80)
            self.assertNotIn("\ufffd", text)


class Words(Case):
    """What else can be wrong with the words on the command line."""

    def test_a_file_in_the_place_of_a_folder(self):
        self.put("taken", OLD)
        self.assertIn("taken: is no folder", self.keyferry("convert", DOOR, "taken/", code=3).err.replace("taken/", "taken"))
        self.assertEqual((self.dir / "taken").read_bytes(), OLD)

    def test_diff_without_a_file(self):
        for words in (("none.ani", DOOR), (DOOR, "none.ani")):
            self.assertIn("none.ani: cannot be read", self.keyferry("diff", *words, code=3).err)

    def test_names_that_are_no_utf8_in_json(self):
        name = b"\xc3(\xe2\x28\xa1.ani"
        with open(os.path.join(os.fsencode(self.dir), name), "wb") as file:
            file.write(b"nothing")
        done = subprocess.run([os.fsencode(KEYFERRY), b"check", b"--json", name], cwd=self.dir, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("\\ufffd(", done.stdout.decode())

    def test_plans_name_the_rig(self):
        self.put("in/a.anim", (SOURCE / "tests/data/mm2-anim/two-bones.anim").read_bytes())
        self.put("ped.skel", b"numbones 2\nbone root {\noffset 0 0 0\nbone arm {\noffset 0 0 0\n}\n}\n")
        plan = self.keyferry("plan", "in", "out/", "--rig", "ped.skel").out.decode()
        self.assertIn("ped.skel", [word for line in plan.splitlines() if line.startswith("build ") for word in line.split()])
        (self.dir / "a\nb").write_bytes((self.dir / "ped.skel").read_bytes())
        self.assertIn("line break", self.keyferry("plan", "in", "out/", "--rig", "a\nb", code=2).err)

    def test_a_word_of_no_likeness(self):
        self.assertIn("unknown verb", self.keyferry("x" * 40, code=2).err)


if __name__ == "__main__":
    unittest.main()
