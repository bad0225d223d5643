"""Parts of one animation, whole trees, threads."""
import json
import os
import re
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, SOURCE, Case, sample

DATA = SOURCE / "tests" / "data" / "x4-ani"


class Tree(Case):
    def setUp(self):
        super().setUp()
        self.plugins("good")
        self.originals = {"a/door.ani": DOOR.read_bytes(), "a/turret.ani": (DATA / "turret.ani").read_bytes(),
                          "b/c/x.smpl": sample([(0, 1), (1, 2)]), "top.smpl": sample([(0, 3), (1, 4)])}
        for name, data in self.originals.items():
            self.put(f"game/{name}", data)
        self.put("game/a/readme.txt", b"no animation")
        self.put("game/.hidden/door.ani", DOOR.read_bytes())

    def test_there_and_back(self):
        done = self.keyferry("convert", "game", "fbx/", "--to", "fbx")
        self.assertIn("4 converted, 0 failed, 1 left alone", done.err)
        made = sorted(n for n in self.names() if n.startswith("fbx/"))
        expected = ["fbx/a/door.fbx", "fbx/a/turret.fbx", "fbx/b/c/x.fbx", "fbx/top.fbx"]
        self.assertEqual(made, sorted(expected + [n + ".kf" for n in expected]))
        done = self.keyferry("convert", "fbx", "back/")
        self.assertIn("4 converted, 0 failed, 0 left alone", done.err)
        back = {n[5:]: data for n, data in self.files().items() if n.startswith("back/")}
        self.assertEqual(back, self.originals)

    def test_same_for_any_number_of_threads(self):
        for i in range(40):
            self.put(f"game/many/{i:03}.smpl", sample([(0, i), (1, i * 2)]))
        printed = set()
        for jobs in (1, 2, 7):
            done = self.keyferry("convert", "--jobs", jobs, "--json", "game", f"out{jobs}/")
            printed.add(done.out.replace(f"out{jobs}/".encode(), b"out/"))
        trees = [{n.split("/", 1)[1]: data for n, data in self.files().items() if n.startswith(f"out{jobs}/")}
                 for jobs in (1, 2, 7)]
        self.assertEqual(len(trees[0]), 2 * 44)
        self.assertEqual(trees[0], trees[1])
        self.assertEqual(trees[0], trees[2])
        self.assertEqual(len(printed), 1)
        for line in printed.pop().decode().splitlines():
            self.assertTrue(json.loads(line)["ok"])

    def test_a_bad_file_does_not_stop_the_rest(self):
        self.put("game/a/broken.ani", DOOR.read_bytes()[:-7])
        done = self.keyferry("convert", "game", "fbx/", code=1)
        self.assertIn("game/a/broken.ani: offset 0x", done.err)
        self.assertIn("4 converted, 1 failed, 1 left alone", done.err)
        self.assertFalse((self.dir / "fbx/a/broken.fbx").exists())
        self.assertNotIn("failed: game", done.err)
        for i in range(30):
            self.put(f"game/many/{i:03}.smpl", sample([(0, i), (1, i * 2)]))
        lines = self.keyferry("convert", "game", "many/", code=1).err.splitlines()  # too many to see what was said first
        self.assertEqual(lines[-2:], ["keyferry: failed: game/a/broken.ani", "keyferry: 34 converted, 1 failed, 1 left alone"])
        lines = self.keyferry("convert", "game", "many/", code=3).err.splitlines()  # all exist
        self.assertEqual(sum(line.startswith("keyferry: failed: game/") for line in lines), 10)
        self.assertEqual(lines[-2:], ["keyferry: failed: 25 more", "keyferry: 0 converted, 35 failed, 1 left alone"])

    def test_overwriting(self):
        self.keyferry("convert", "game", "fbx/")
        before = self.files()
        done = self.keyferry("convert", "game", "fbx/", "--ascii", code=3)
        self.assertIn("0 converted, 4 failed", done.err)
        self.assertEqual(self.files(), before)
        done = self.keyferry("convert", "game", "fbx/", "--ascii", "-n")
        self.assertIn("0 converted, 0 failed, 5 left alone", done.err)
        self.assertEqual(self.files(), before)
        done = self.keyferry("convert", "game", "fbx/", "--ascii", "-y")
        self.assertIn("4 converted", done.err)
        self.assertNotEqual(self.files(), before)

    def test_newer(self):
        self.keyferry("convert", "game", "fbx/")
        self.keyferry("convert", "fbx", "back/")
        before = self.files()
        self.assertIn("0 converted, 0 failed, 5 left alone", self.keyferry("convert", "--newer", "game", "fbx/").err)
        self.assertIn("0 converted, 0 failed, 4 left alone", self.keyferry("convert", "--newer", "fbx", "back/").err)
        self.assertEqual(self.files(), before)
        later = time.time() + 100
        os.utime(self.dir / "game/top.smpl", (later, later))
        self.assertIn("1 converted, 0 failed, 4 left alone",
                      self.keyferry("convert", "--newer", "-y", "game", "fbx/").err)

    def test_equal_names_but_for_the_extension(self):
        self.put("game/a/door.smpl", sample([(0, 9)]))
        self.keyferry("convert", "game", "fbx/")
        made = [n for n in self.names() if n.startswith("fbx/a/") and n.endswith(".fbx")]
        self.assertEqual(made, ["fbx/a/door.ani.fbx", "fbx/a/door.smpl.fbx", "fbx/a/turret.fbx"])
        # What is no animation takes no name from one, and a whole name none from a longer one.
        self.put("more/door.ani", DOOR.read_bytes())
        self.put("more/door.xml", b"")
        self.put("more/one.ani", DOOR.read_bytes())
        self.put("more/one.anm", DOOR.read_bytes())
        self.put("more/one.ani.ani", DOOR.read_bytes())
        self.put("more/two", DOOR.read_bytes())
        self.put("more/two.ani", DOOR.read_bytes())
        self.keyferry("convert", "more", "out/")
        self.assertEqual([n for n in self.names() if n.startswith("out/") and n.endswith(".fbx")],
                         ["out/door.fbx", "out/one.ani.ani.fbx", "out/one.ani.fbx", "out/one.anm.fbx", "out/two.ani.fbx", "out/two.fbx"])

    def edited_takes(self, folder):
        """The takes of the door in files of their own, one value edited in each; what comes of them together."""
        self.keyferry("convert", "game/a/door.ani", f"{folder}/", "--split-takes", "--ascii")
        for take in ("01", "02"):
            path = self.dir / folder / f"door.take{take}.fbx"
            text = path.read_text()
            found = re.search(r"KeyValueFloat: \*\d+ \{\n\s*a: ([^,\n]+)", text)
            path.write_text(f"{text[:found.start(1)]}{float(found[1]) + 5}{text[found.end(1):]}")
        self.keyferry("convert", f"{folder}/door.take01.fbx", f"{folder}/door.take02.fbx", "both.ani")
        return (self.dir / "both.ani").read_bytes()

    def test_takes_of_one_original_go_back_together(self):
        both = self.edited_takes("split")
        told = set()
        for number, flags in enumerate(([], ["-y"], ["-n"], ["--newer", "-y"], ["--jobs", "1"], ["--jobs", "7"], ["--json"])):
            done = self.keyferry("convert", *flags, "split", f"out{number}/")
            self.assertEqual((self.dir / f"out{number}/door.ani").read_bytes(), both, flags)
            if "--json" not in flags:
                told.add(done.err)
        self.assertEqual(len(told), 1)
        self.assertIn("take02.fbx: has the same output as split/door.take01.fbx: both go back together", done.err)
        lines = [json.loads(line) for line in done.out.decode().splitlines()]
        self.assertEqual([(len(line["inputs"]), line["changed"]) for line in lines], [(1, 1), (2, 2)])
        self.assertIn("2 converted, 0 failed, 0 left alone", told.pop())
        # What exists is as safe as ever, and what is up to date stays; one that is newer takes the other with it.
        before = self.files()
        self.assertIn("0 converted, 2 failed", self.keyferry("convert", "split", "out0/", code=3).err)
        self.assertIn("0 converted, 0 failed, 2 left alone", self.keyferry("convert", "-n", "split", "out0/").err)
        self.assertIn("0 converted, 0 failed, 2 left alone", self.keyferry("convert", "--newer", "split", "out0/").err)
        self.assertEqual(self.files(), before)
        self.put("out0/door.ani", b"old")
        os.utime(self.dir / "out0/door.ani", (1, 1))
        os.utime(self.dir / "split/door.take01.fbx", (0, 0))
        self.keyferry("convert", "--newer", "-y", "split", "out0/")
        self.assertEqual((self.dir / "out0/door.ani").read_bytes(), both)

    def test_other_inputs_of_one_output(self):
        """Other originals of one name: the first one's is what comes out, for any number of threads."""
        for i in range(12):
            name = ("door", "turret", "single_keys")[i % 3]
            self.put("walk.ani", (DATA / f"{name}.ani").read_bytes())
            (self.dir / "fbx").mkdir(exist_ok=True)
            self.keyferry("convert", "walk.ani", f"fbx/v{i:02}.fbx")
        told = set()
        for jobs in (1, 2, 3, 7):
            done = self.keyferry("convert", "fbx", f"out{jobs}/", "--jobs", jobs, code=2)
            self.assertEqual((self.dir / f"out{jobs}/walk.ani").read_bytes(), DOOR.read_bytes())
            told.add(done.err)
        self.assertEqual(len(told), 1)
        self.assertIn("came from different originals", told.pop())
        # Game files of one name can only become one after the other, each in a folder of its own.
        self.put("x/door.ani", DOOR.read_bytes())
        self.put("y/door.ani", (DATA / "turret.ani").read_bytes())
        for flags in ([], ["--newer"], ["-n"], ["-y"]):
            done = self.keyferry("convert", *flags, "x/door.ani", "y/door.ani", f"z{''.join(flags)}/", code=3)
            self.assertIn("y/door.ani: has the same output as x/door.ani: convert them into different folders", done.err)
            self.assertIn("1 converted, 1 failed", done.err)

    def test_no_input_is_written_over(self):
        for name in ("s/door.ani", "s/other.ani"):
            self.put(name, DOOR.read_bytes())
        self.keyferry("convert", "s/door.ani", "s/edited.fbx")
        self.put("s/other.ani", (DATA / "turret.ani").read_bytes())
        done = self.keyferry("convert", "s", "s/", "-y", code=3)
        self.assertIn("s/door.ani: is another input of this run", done.err)
        self.assertEqual((self.dir / "s/door.ani").read_bytes(), DOOR.read_bytes())

    def test_newer_sidecars(self):
        """An FBX that is made anew gets the sidecar that belongs to it; another skeleton makes all anew."""
        self.keyferry("convert", "game/a", "fbx/", "--no-capsule")
        os.remove(self.dir / "fbx/door.fbx")
        self.keyferry("convert", "game/a", "fbx/", "--no-capsule", "--newer", "--for", "blender", "-y")
        self.keyferry("convert", "fbx", "back/")
        self.assertEqual((self.dir / "back/door.ani").read_bytes(), self.originals["a/door.ani"])
        rig = self.put("ped.skel", b"NumBones 1\nbone root {\n offset 0 0 0\n}\n")
        self.keyferry("convert", "game/a", "rigged/", "--rig", "ped.skel")
        os.utime(rig, (time.time() + 100, time.time() + 100))
        self.assertIn("2 converted", self.keyferry("convert", "game/a", "rigged/", "--rig", "ped.skel", "--newer", "-y").err)

    def test_a_sidecar_that_was_missing(self):
        """Put beside its FBX later, it makes the game's file anew."""
        self.keyferry("convert", "game/a", "fbx/", "--no-capsule")
        os.rename(self.dir / "fbx/door.fbx.kf", self.dir / "door.fbx.kf")
        self.keyferry("convert", "fbx", "back/", "--to", "x4-ani", code=None)
        self.assertNotEqual((self.dir / "back/door.ani").read_bytes(), self.originals["a/door.ani"])
        os.rename(self.dir / "door.fbx.kf", self.dir / "fbx/door.fbx.kf")
        os.utime(self.dir / "fbx/door.fbx.kf", (time.time() + 100, time.time() + 100))
        self.keyferry("convert", "fbx", "back/", "--newer", "-y", code=None)
        self.assertEqual((self.dir / "back/door.ani").read_bytes(), self.originals["a/door.ani"])

    def test_left_alone_in_json(self):
        self.keyferry("convert", "game", "fbx/")
        for flags in (["--newer"], ["-n"]):
            lines = [json.loads(line) for line in self.keyferry("convert", "--json", *flags, "game", "fbx/").out.decode().splitlines()]
            self.assertEqual([line["inputs"] for line in lines], [[f"game/{name}"] for name in sorted(self.originals)])
            self.assertEqual({(line["ok"], line["left_alone"], len(line["outputs"])) for line in lines}, {(True, True, 0)})

    def as_nobody(self):
        """Whom a folder's mode keeps out."""
        if os.geteuid() != 0:
            return {}
        for path in (self.dir, *self.dir.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
        return {"user": 65534, "group": 65534}

    def test_what_cannot_be_read_does_not_stop_the_rest(self):
        self.put("game/listed/door.ani", DOOR.read_bytes())
        os.symlink("nowhere", self.dir / "game/link.ani")
        user = self.as_nobody()
        self.addCleanup(os.chmod, self.dir / "game/listed", 0o755)
        self.addCleanup(os.chmod, self.dir / "game/b", 0o755)
        os.chmod(self.dir / "game/b", 0)
        os.chmod(self.dir / "game/listed", 0o444)
        for words in (["convert", "game", "fbx/"], ["verify", "game"], ["check", "game"], ["plan", "game", "fbx/"]):
            done = self.keyferry(*words, code=3, **user)
            for name in ("b", "listed/door.ani", "link.ani"):
                self.assertIn(f"game/{name}: cannot be read: ", done.err)
            self.assertRegex(done.err, r"\b3 (converted|came back whole|well formed|planned)")

    def test_dry_run_where_nothing_can_be_written(self):
        (self.dir / "out").mkdir()
        user = self.as_nobody()
        os.chmod(self.dir / "out", 0o555)
        for flags in (["--dry-run"], []):
            for target in ("out/", "out/new/"):
                self.assertIn("cannot be", self.keyferry("convert", *flags, "game", target, code=3, **user).err)
        os.chmod(self.dir / "out", 0o755)

    def test_folder_without_animations_is_summed_up(self):
        (self.dir / "empty").mkdir()
        self.assertIn("0 came back whole, 0 failed, 0 left out", self.keyferry("verify", "empty").err)
        self.assertIn("0 well formed, 0 not, 0 of no known", self.keyferry("check", "empty").err)

    def test_output_inside_the_input(self):
        self.keyferry("convert", "game", "game/fbx/")
        self.keyferry("convert", "-y", "game", "game/fbx/")
        self.assertFalse((self.dir / "game/fbx/fbx").exists())

    def test_a_list_of_files(self):
        self.keyferry("convert", "game/a/door.ani", "game/top.smpl", "out/")
        self.assertEqual([n for n in self.names() if n.startswith("out/")],
                         ["out/door.fbx", "out/door.fbx.kf", "out/top.fbx", "out/top.fbx.kf"])

    def test_dry_run(self):
        before = self.files()
        said = self.keyferry("convert", "--dry-run", "game", "fbx/").err
        self.assertRegex(said, r"4 converted, .* \(dry run: nothing written\)\n$")
        self.assertEqual(self.files(), before)

    def test_dry_run_where_outputs_exist(self):
        """As the real run: what exists is a failure without -y, left alone with -n; so is an output that two inputs have."""
        self.keyferry("convert", "game", "fbx/")
        (self.dir / "fbx/a/door.fbx").unlink()
        (self.dir / "fbx/a/door.fbx.kf").unlink()
        before = self.files()
        said = self.keyferry("convert", "--dry-run", "game", "fbx/", code=3).err
        self.assertIn("fbx/top.fbx: exists (-y overwrites it)", said)
        self.assertRegex(said, r"1 converted, 3 failed, .* \(dry run: nothing written\)\n")
        self.assertRegex(self.keyferry("convert", "--dry-run", "-n", "game", "fbx/").err, "1 converted, 0 failed, ")
        self.assertRegex(self.keyferry("convert", "--dry-run", "-y", "game", "fbx/").err, "4 converted, 0 failed, ")
        self.assertEqual(self.files(), before)
        self.keyferry("convert", "game/a/door.ani", "split/", "--split-takes")
        self.assertIn("both go back together", self.keyferry("convert", "--dry-run", "split", "out/").err)

    def test_verify(self):
        self.keyferry("convert", "game", "game/fbx/")
        done = self.keyferry("verify", "game")
        self.assertEqual(done.out.decode().splitlines(), [f"game/{n}: ok" for n in sorted(self.originals)])
        self.assertIn("4 came back whole, 0 failed, 9 left out", done.err)

    def test_verify_and_check_for_any_number_of_threads(self):
        """A line of JSON for each file, in the order of the names; a bad one does not stop the rest."""
        for i in range(20):
            self.put(f"game/many/{i:03}.smpl", sample([(0, i), (1, i * 2)]))
        self.put("game/many/010.ani", DOOR.read_bytes()[:-7])
        expected = sorted([*(f"game/{n}" for n in self.originals), "game/many/010.ani",
                           *(f"game/many/{i:03}.smpl" for i in range(20))])
        for verb in ("verify", "check"):
            printed = {self.keyferry(verb, "--json", "--jobs", jobs, "game", code=1).out for jobs in (1, 2, 7)}
            self.assertEqual(len(printed), 1)
            lines = [json.loads(line) for line in printed.pop().decode().splitlines()]
            self.assertEqual([line["file"] for line in lines], expected)
            self.assertEqual([line["file"] for line in lines if not line["ok"]], ["game/many/010.ani"])


class Terminal(Case):
    """The progress bar: only on a terminal, and gone in the end."""

    def setUp(self):
        super().setUp()
        for i in range(300):
            self.put(f"game/door{i:03}.ani", DOOR.read_bytes())
        self.put("game/bad\033[31m.ani", DOOR.read_bytes()[:-7])

    def test_bar(self):
        for columns in (100, 40):
            text, code = self.on_terminal("verify", "game", columns=columns)
            self.assertEqual(code, 1)
            drawn = re.findall("\r\033\\[K([^\r\n]+)", text)
            bars = [b for b in drawn if re.match(r"\d+ of 301, \d+ a second", b)]
            self.assertGreater(len(bars), 1, text[:2000])
            self.assertTrue(all(len(b) < columns for b in bars), bars)
            if columns == 100:
                self.assertTrue(any(re.fullmatch(r"[1-9]\d* of 301, \d+ a second, \d+ s left: \w+\.ani", b) for b in bars), bars)
            self.assertNotIn("\033[31m", text) # names do nothing to the terminal
            # Wiped out: what a terminal shows in the end are the plain lines.
            shown = re.sub("\r\033\\[K(?:\\d+ of 301[^\r\n]*(?=\r\033\\[K))?", "", text).replace("\r\n", "\n")
            self.assertNotIn("\r", shown)
            self.assertNotIn(" of 301", shown)
            self.assertEqual(shown.count(": ok\n"), 300)
            self.assertTrue(shown.endswith("300 came back whole, 1 failed, 0 left out that are no game animations\n"), shown[-300:])

    def test_bar_with_odd_names(self):
        """What a terminal would act on is shown as bytes, and no character is cut in two."""
        for i in range(100, 400):
            self.put(f"odd/{i:03}\u009b31m\u202e\u00e4\u00e4\u00e4\u00e4\u00e4.ani", DOOR.read_bytes())
        for columns in (46, 70):
            text, _ = self.on_terminal("verify", "odd", columns=columns)
            bars = re.findall("\r\033\\[K(\\d+ of 300[^\r\n]+)", text)
            self.assertTrue(any(re.search(r"\d\d\d\\xc2\\x9b31m", bar) for bar in bars) or columns < 70, bars)
            self.assertNotRegex(text, "[\u0080-\u009f\u202a-\u202e\ufffd]")
            self.assertTrue(all(len(bar.encode()) < columns for bar in bars), bars)

    def test_no_bar(self):
        done = self.keyferry("verify", "game", code=1)
        self.assertNotIn("a second", done.err + done.out.decode())
        self.assertNotIn("\033", done.err + done.out.decode())
        text, _ = self.on_terminal("verify", "--json", "game")
        self.assertNotIn("a second", text)

    def test_interrupt(self):
        """Ctrl-C: the files at work are finished, nothing is left over, a summary tells."""
        text, code = self.on_terminal("convert", "game", "fbx/", when=b" of 301, ", answer=b"\x03")
        self.assertEqual(code, -signal.SIGINT, text[-500:])
        found = re.search(r"(\d+) converted, (\d) failed, 0 left alone, stopped\r\n$", text)
        self.assertTrue(found, text[-500:])
        made = [n for n in self.names() if n.startswith("fbx/")]
        self.assertEqual(len([n for n in made if n.endswith(".fbx")]), int(found[1]))
        self.assertEqual(len(made), 2 * int(found[1]))
        self.assertLess(int(found[1]), 300)


class Parts(Case):
    PARTS = {name: (SOURCE / "tests" / "data" / "ei-anm" / name).read_bytes()
             for name in ("body.anm", "hand.anm", "wing.anm")}

    def back(self, fbx):
        self.keyferry("convert", fbx, f"{fbx}-back/")
        return {n.split("/")[1]: data for n, data in self.files().items() if n.startswith(f"{fbx}-back/")}

    def test_there_and_back(self):
        for name, data in self.PARTS.items():
            self.put(f"parts/{name}", data)
        self.put("parts/readme.txt", b"no animation")
        done = self.keyferry("convert", "parts", "all.fbx")
        self.assertIn("parts/readme.txt: left out", done.err)
        self.assertEqual(self.back("all.fbx"), self.PARTS)
        self.keyferry("convert", "parts/hand.anm", "parts/body.anm", "two.fbx")
        self.assertEqual(self.back("two.fbx"), {n: self.PARTS[n] for n in ("body.anm", "hand.anm")})
        # Several files do not go into one, and nothing is written.
        before = self.files()
        self.assertIn("give a folder", self.keyferry("convert", "two.fbx", "one.anm", code=3).err)
        self.keyferry("convert", "two.fbx", "-", code=3)
        self.assertEqual(self.files(), before)

    def test_parts_must_be_alike(self):
        self.plugins("good")
        self.put("a.smpl", sample([(0, 1)]))
        self.put("b.ani", DOOR.read_bytes())
        done = self.keyferry("convert", "a.smpl", "b.ani", "out.fbx", code=1)
        self.assertIn("cannot be parts of one animation", done.err)
        self.put("other/a.smpl", sample([(0, 1)]))
        done = self.keyferry("convert", "a.smpl", "other/a.smpl", "out.fbx", code=2)
        self.assertIn("have the same name", done.err)
        self.keyferry("convert", ".", "a.smpl", "out.fbx", code=2)

    def test_folder_without_animations(self):
        self.put("dir/readme.txt", b"nothing here")
        done = self.keyferry("convert", "dir", "out.fbx", code=1)
        self.assertIn("dir/readme.txt: left out", done.err)
        self.assertIn("holds no animation", done.err)
        self.keyferry("convert", "empty-or-missing", "out.fbx", code=3)


if __name__ == "__main__":
    unittest.main()
