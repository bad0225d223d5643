"""plan: what Ninja and GNU parallel make of it is what convert makes, byte for byte."""
import os
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, SOURCE, Case, sample

DATA = SOURCE / "tests" / "data"


class Plan(Case):
    def setUp(self):
        super().setUp()
        self.plugins("good")
        door = DOOR.read_bytes()
        for name, data in {
                "a/door.ani": door, "a/turret.ani": (DATA / "x4-ani" / "turret.ani").read_bytes(),
                "b/wing.anm": (DATA / "ei-anm" / "wing.anm").read_bytes(), "b/c/x.smpl": sample([(0, 1), (1, 2)]),
                "same/one.ani": door, "same/one.smpl": sample([(0, 5)]), "a/readme.txt": b"no animation",
                # Names that sh or Ninja would take for something else.
                "odd/two words.ani": door, "odd/$HOME.ani": door, "odd/a:b|c.ani": door, "odd/it's.ani": door,
                'odd/"q" `id` $(id).ani': door, "odd/#*?[a] ~{b};&.ani": door, "odd/a tab\there.ani": door,
                "odd/\u00fc\u30a2.ani": door, "-y/-n.ani": door}.items():
            self.put(f"game/{name}", data)

    def tool(self, name):
        found = shutil.which(name)
        if not found:
            self.assertNotEqual(os.environ.get("CI"), "true", f"{name} is missing")
            self.skipTest(f"{name} is missing")
        return found

    def tree(self, top):
        return {n[len(top) + 1:]: data for n, data in self.files().items() if n.startswith(top + "/")}

    def ninja(self, plan, *words, code=0):
        self.put("plan.ninja", plan)
        done = subprocess.run([self.tool("ninja"), "-k", "0", "-f", "plan.ninja", *words], cwd=self.dir, env=self.environment,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, code, done.stdout[-4000:] + done.stderr)
        return done.stdout

    def parallel(self, plan):
        command = [self.tool("parallel"), "-j", "2"]
        if "GNU parallel" not in subprocess.run([*command, "--version"], capture_output=True, text=True).stdout:
            self.assertNotEqual(os.environ.get("CI"), "true", "parallel is not GNU parallel")
            self.skipTest("parallel is not GNU parallel")
        home = dict(self.environment, HOME=str(self.put("home/.keep", b"").parent))
        done = subprocess.run(command, cwd=self.dir, env=home, input=plan, capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])

    def both_ways(self, run, *flags):
        """There and back by `run`, which gets a plan; each tree as convert has it."""
        self.keyferry("convert", "game", "fbx/")
        self.keyferry("convert", "fbx", "back/")
        for source, direct, planned in (("game", "fbx", "planned fbx"), ("fbx", "back", "$back")):
            before = self.files()
            plan = self.keyferry("plan", source, planned, *flags)
            self.assertEqual(self.files(), before) # it only prints
            run(plan.out)
            self.assertGreaterEqual(len(self.tree(direct)), 15)
            self.assertEqual(self.tree(planned), self.tree(direct))

    def test_ninja(self):
        self.both_ways(self.ninja)

    def test_refused_as_by_convert(self):
        """A name that elsewhere would be a path is no output's, planned or not."""
        self.put("game/odd/a\\b.ani", DOOR.read_bytes())
        self.assertIn("1 failed", self.keyferry("convert", "game", "fbx/", code=1).err)
        for flags in [], ["--commands"]:
            done = self.keyferry("plan", "game", "planned/", *flags, code=1)
            self.assertIn("not the name of a file", done.err)
            self.assertIn("1 failed", done.err)
            self.assertNotIn(b"a\\b", done.out)

    def test_parallel(self):
        self.both_ways(self.parallel, "--commands")

    def test_what_has_changed(self):
        """Ninja does again what depends on what has changed, and what was lost; the sidecar is an output and an input."""
        def plan(*words):
            return self.ninja(self.keyferry("plan", *words).out)

        os.remove(self.dir / "game/odd/a tab\there.ani") # Ninja forgets that it has made what has a tab in its name
        plan("game", "fbx/")
        self.assertIn("no work to do", plan("game", "fbx/"))
        later = time.time() + 100
        os.utime(self.dir / "game/a/door.ani", (later, later))
        self.assertIn("[1/1] game/a/door.ani", plan("game", "fbx/"))
        os.remove(self.dir / "fbx/a/turret.fbx.kf")
        self.assertIn("game/a/turret.ani", plan("game", "fbx/"))
        self.assertIn("[14/14]", plan("game", "fbx/", "--ascii")) # other options
        plan("fbx", "back/")
        os.utime(self.dir / "fbx/b/wing.fbx.kf", (later, later))
        self.assertIn("[1/1] fbx/b/wing.fbx", plan("fbx", "back/"))

    def test_options_go_on(self):
        options = ["--for", "maya", "--ascii", "--tolerance=0.001", "--split-takes", "--fps", "25"]
        self.keyferry("convert", "game", "fbx/", *options)
        plan = self.keyferry("plan", "game", "planned/", "--jobs", "2", *options)
        self.assertIn("15 planned, 0 failed, 1 left alone", plan.err)
        self.ninja(plan.out)
        self.assertEqual(self.tree("planned"), self.tree("fbx"))
        plan = self.keyferry("plan", "game", "planned/", "--commands", "--newer", *options).out.decode()
        self.assertEqual(len(plan.splitlines()), 15)
        for line in plan.splitlines():
            self.assertIn(" convert --newer --for maya --ascii --tolerance=0.001 --split-takes --fps 25 -- ", line)
        for word in ("-y", "-n", "--newer"):
            self.keyferry("plan", "game", "planned/", word, code=2)

    def test_same_for_any_number_of_threads(self):
        plans = {self.keyferry("plan", "game", "out/", "--jobs", n, "--commands").out for n in (1, 2, 7)}
        self.assertEqual(len(plans), 1)

    def test_what_cannot_be_planned(self):
        self.put("game/two\nlines.ani", DOOR.read_bytes())
        done = self.keyferry("plan", "game", "out/", code=1)
        self.assertIn("two\\x0alines.ani: a plan cannot name a file with a line break", done.err)
        self.assertIn("15 planned, 1 failed, 1 left alone", done.err)
        self.assertNotIn(b"lines.ani", done.out)
        self.ninja(done.out) # the rest is a good plan
        self.put("both/x/door.ani", DOOR.read_bytes())
        self.keyferry("convert", "both/x", "both/x/fbx/")
        (self.dir / "both/x/fbx/door.fbx").rename(self.dir / "both/x/back.fbx")
        done = self.keyferry("plan", "both", "both/", code=1)
        self.assertIn("is another's input or output too", done.err)
        # Whatever has no known outputs is left out, and told of.
        self.put("bad/broken.fbx", b"Kaydara FBX Binary  \0" + bytes(20))
        self.assertIn("bad/broken.fbx: ", self.keyferry("plan", "bad", "out/", code=1).err)

    def test_takes_of_one_original(self):
        """They go back together, in one line of the plan."""
        self.keyferry("convert", "game/a", "split/", "--split-takes")
        plan = self.keyferry("plan", "split", "ninja/")
        self.assertIn(b": convert split/door.take01.fbx split/door.take02.fbx |", plan.out)
        self.ninja(plan.out)
        self.parallel(self.keyferry("plan", "split", "parallel/", "--commands").out)
        self.keyferry("convert", "split", "direct/")
        self.assertEqual(self.tree("direct")["door.ani"], DOOR.read_bytes())
        self.assertEqual(self.tree("ninja"), self.tree("direct"))
        self.assertEqual(self.tree("parallel"), self.tree("direct"))

    def test_a_bad_file_does_not_stop_the_rest(self):
        self.put("game/a/broken.ani", DOOR.read_bytes()[:-7])
        self.keyferry("convert", "game", "fbx/", code=1)
        out = self.ninja(self.keyferry("plan", "game", "planned/").out, code=1)
        self.assertIn("game/a/broken.ani: offset 0x", out)
        self.assertEqual(self.tree("planned"), self.tree("fbx"))

    def test_usage(self):
        self.keyferry("plan", "game", code=2)
        self.keyferry("plan", "game/a/door.ani", "out/", code=2)
        self.keyferry("plan", "nothing", "out/", code=2)
        self.keyferry("plan", "game", "out/", "--jobs", "0", code=2)
        self.assertIn("usage: keyferry plan", self.keyferry("plan", "--help").out.decode())


if __name__ == "__main__":
    unittest.main()
