"""The command for Windows, which KEYFERRY runs, beside the one for this system, which HERE names."""
import filecmp
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, SOURCE, Case  # noqa: E402



class Windows(Case):
    def game_files(self):
        """Every good sample, in the folder data."""
        bad = shutil.ignore_patterns("bad*", "fbx")
        shutil.copytree(SOURCE / "tests" / "data", self.dir / "data", ignore=bad)

    def here(self, *words):
        return subprocess.run([os.environ["HERE"], *map(str, words)], cwd=self.dir, capture_output=True)

    def names_below(self, folder):
        return sorted(str(p.relative_to(self.dir / folder)) for p in (self.dir / folder).rglob("*") if p.is_file())

    def unequal(self, folder, other):
        """The files of a folder that another does not have, or not with the same bytes."""
        _, differ, missing = filecmp.cmpfiles(self.dir / folder, self.dir / other, self.names_below(folder), shallow=False)
        return differ + missing

    def test_the_same_trees(self):
        """Every sample: the same words and the same FBX, and each brings home what the other wrote."""
        self.game_files()
        for kind, options in {"curves": [], "baked": ["--for", "blender"], "text": ["--ascii", "--for", "maya"]}.items():
            done = self.keyferry("convert", "data", f"{kind}/", "--to", "fbx", *options)
            other = self.here("convert", "data", f"{kind}-here/", "--to", "fbx", *options)
            self.assertEqual(done.stderr.replace(b"\r\n", b"\n"), other.stderr)
            self.assertGreater(len(self.names_below(kind)), 100)
            self.assertEqual(self.names_below(kind), self.names_below(f"{kind}-here"))
            for name in self.unequal(kind, f"{kind}-here"):  # the last digit of a sine is the C library's
                difference = self.here("diff", f"{kind}/{name}", f"{kind}-here/{name}", "--tolerance", "1e-6")
                self.assertEqual(difference.returncode, 0, f"{name}: {difference.stdout.decode()}")
            self.keyferry("convert", f"{kind}-here/", f"{kind}-back/")
            self.assertEqual(self.here("convert", f"{kind}/", f"{kind}-back-here/").returncode, 0)
            for back in f"{kind}-back", f"{kind}-back-here":
                self.assertEqual(len(self.names_below(back)), sum(n.endswith(".fbx") for n in self.names_below(kind)))
                self.assertEqual(self.unequal(back, "data"), [])

    def test_the_same_verdicts(self):
        self.game_files()
        done, other = self.keyferry("verify", "data"), self.here("verify", "data")
        self.assertEqual((done.stdout, done.stderr.replace(b"\r\n", b"\n")), (other.stdout, other.stderr))
        for verb in "info", "dump":
            self.assertEqual(self.keyferry(verb, DOOR).out, self.here(verb, DOOR).stdout)

    def test_names_and_patterns(self):
        for name in "дверь", "ドア", "door 1":
            self.put(f"in/{name}.ani", DOOR.read_bytes())
        self.keyferry("convert", "in\\*.ani", "out\\", "--to", "fbx", "--no-sidecar")
        self.assertEqual(self.names_below("out"), ["door 1.fbx", "дверь.fbx", "ドア.fbx"])
        self.keyferry("convert", "out\\дверь.fbx", "back.ani")
        self.assertEqual((self.dir / "back.ani").read_bytes(), DOOR.read_bytes())
        done = self.keyferry("info", "no*.ani", code=3)
        self.assertIn("no*.ani: cannot be read", done.err)

    def test_pipes_carry_bytes(self):
        fbx = self.keyferry("convert", "-", "-", "--to", "fbx", stdin=DOOR.read_bytes()).out
        self.assertEqual(self.keyferry("convert", "-", "-", "--to", "x4-ani", stdin=fbx).out, DOOR.read_bytes())

    def test_files_that_are_there(self):
        self.put("door.ani", DOOR.read_bytes())
        self.put("door.fbx", b"old")
        self.assertIn("exists", self.keyferry("convert", "door.ani", "door.fbx", code=3).err)
        self.put("bad.ani", DOOR.read_bytes()[:-1])
        self.keyferry("convert", "bad.ani", "door.fbx", "-y", code=1)
        self.assertEqual(self.files()["door.fbx"], b"old")
        self.keyferry("convert", "door.ani", "nowhere/door.fbx", code=3)
        self.keyferry("convert", "door.ani", code=2)
        self.keyferry("convert", "door.ani", "door.fbx", "-y")
        self.assertEqual(self.names(), ["bad.ani", "door.ani", "door.fbx", "door.fbx.kf"])
        self.assertIn("is the input itself", self.keyferry("convert", "door.fbx", ".\\door.fbx", "-y", code=3).err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
