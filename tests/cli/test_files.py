"""Reading and writing: when a file is written over, and that whatever fails the old file stays whole, with no temporary
file left, exit code 3 and the reason."""
import os
import random
import resource
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, PLUGINS, SOURCE, Case, sample

OLD = b"what was there before"
TURRET = SOURCE / "tests" / "data" / "x4-ani" / "turret.ani"


class There(Case):
    """To FBX and back, in the forms for one animation."""

    def test_one_file(self):
        self.put("door.ani", DOOR.read_bytes())
        done = self.keyferry("convert", "door.ani", "door.fbx")
        self.assertEqual(done.out, b"")
        self.assertEqual(self.names(), ["door.ani", "door.fbx", "door.fbx.kf"])
        done = self.keyferry("convert", "door.fbx", "again.ani")
        self.assertIn("door.fbx: 0 of ", done.err)
        self.assertEqual((self.dir / "again.ani").read_bytes(), DOOR.read_bytes())

    def test_same_bytes_each_time(self):
        for name in ("a.fbx", "b.fbx"):
            self.keyferry("convert", DOOR, name)
        self.assertEqual((self.dir / "a.fbx").read_bytes(), (self.dir / "b.fbx").read_bytes())
        self.assertEqual((self.dir / "a.fbx.kf").read_bytes(), (self.dir / "b.fbx.kf").read_bytes())

    def test_standard_input_and_output(self):
        self.keyferry("convert", DOOR, "door.fbx")
        fbx = (self.dir / "door.fbx").read_bytes()
        self.assertEqual(self.keyferry("convert", DOOR, "-").out, fbx)
        self.assertEqual(self.keyferry("convert", "-", "-", stdin=fbx).out, DOOR.read_bytes())
        self.keyferry("convert", "-", "x.fbx", stdin=DOOR.read_bytes())
        self.keyferry("convert", "x.fbx", "x.ani")
        self.assertEqual((self.dir / "x.ani").read_bytes(), DOOR.read_bytes())
        self.assertIn("both want standard output", self.keyferry("convert", "--json", DOOR, "-", code=2).err)

    def test_input_without_an_end(self):
        done = self.keyferry("info", "/dev/zero", code=3)
        self.assertIn("/dev/zero: cannot be read: File too large", done.err)

    def test_into_a_folder(self):
        self.keyferry("convert", DOOR, "fbx/deep/")
        self.assertEqual(self.names(), ["fbx/deep/door.fbx", "fbx/deep/door.fbx.kf"])
        self.keyferry("convert", "fbx/deep/door.fbx", "back/")
        self.assertEqual((self.dir / "back/door.ani").read_bytes(), DOOR.read_bytes())
        # An existing folder needs no slash, and the original's name is kept whatever the FBX is called now.
        os.rename(self.dir / "fbx/deep/door.fbx", self.dir / "fbx/other.fbx")
        (self.dir / "second").mkdir()
        self.keyferry("convert", "fbx/other.fbx", "second")
        self.assertEqual((self.dir / "second/door.ani").read_bytes(), DOOR.read_bytes())

    def test_made_from_nothing_into_a_folder(self):
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule", "--no-sidecar")
        done = self.keyferry("convert", "door.fbx", "out/", code=1)
        self.assertIn("--to", done.err)
        self.keyferry("convert", "door.fbx", "out/", "--to", "x4-ani")
        self.assertEqual(self.names(), ["door.fbx", "out/door.ani"])

    def test_no_original_is_named(self):
        """What was written without its original is no edit of one that lies there, be it of the same name."""
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule")
        self.assertEqual(self.json("convert", "--json", "door.fbx", "a.ani")["original"], "sidecar")
        self.keyferry("convert", "-y", DOOR, "door.fbx", "--no-capsule", "--no-sidecar")
        self.assertTrue(b"00000000" in (self.dir / "door.fbx").read_bytes())
        found = self.json("convert", "--json", "door.fbx", "b.ani")
        self.assertEqual((found["merged"], found["original"]), (False, None))
        found = self.json("convert", "--json", "door.fbx", "c.ani", "--base", DOOR)
        self.assertEqual((found["original"], found["changed"]), ("base", 0))
        self.assertEqual((self.dir / "c.ani").read_bytes(), DOOR.read_bytes())

    def test_beside_a_base(self):
        """With --base a sidecar only tells how the FBX was written, which stands at its beginning."""
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule", "--for", "blender")
        sidecar = self.dir / "door.fbx.kf"
        sidecar.write_bytes(sidecar.read_bytes()[:-8])
        done = self.keyferry("convert", "door.fbx", "new.ani", "--to", "x4-ani")
        self.assertIn("the sidecar is damaged", done.err)
        done = self.keyferry("convert", "door.fbx", "back.ani", "--base", DOOR)
        self.assertNotIn("damaged", done.err)
        self.assertNotIn("nothing tells how the FBX was written", done.err)
        self.assertEqual((self.dir / "back.ani").read_bytes(), DOOR.read_bytes())
        sidecar.write_bytes(sidecar.read_bytes()[:40])
        done = self.keyferry("convert", "-y", "door.fbx", "back.ani", "--base", DOOR)
        self.assertIn("the sidecar is damaged", done.err)
        self.assertEqual((self.dir / "back.ani").read_bytes(), DOOR.read_bytes())

    def test_split_takes(self):
        self.keyferry("convert", DOOR, "door.fbx", "--split-takes")
        takes = [n for n in self.names() if n.endswith(".fbx")]
        self.assertEqual(len(takes), 2)
        self.assertNotIn("door.fbx", takes)
        self.assertEqual(self.names(), sorted(takes + [t + ".kf" for t in takes]))

    def test_dry_run_and_json(self):
        found = self.json("convert", "--dry-run", "--json", DOOR, "door.fbx")
        self.assertEqual((found["ok"], found["dry_run"], found["from"], found["to"]), (True, True, "x4-ani", "fbx"))
        self.assertEqual(self.names(), [])
        found = self.json("convert", "--json", DOOR, "door.fbx")
        self.assertEqual(found["outputs"], ["door.fbx.kf", "door.fbx"])
        self.assertEqual(self.names(), ["door.fbx", "door.fbx.kf"])
        found = self.json("convert", "--json", "door.fbx", "new.ani")
        self.assertEqual((found["merged"], found["original"], found["changed"], found["outputs"]),
                         (True, "capsule", 0, ["new.ani"]))
        found = self.json("convert", "--json", "door.fbx", "new.ani", code=3)
        self.assertFalse(found["ok"])

    def dry(self, *words, code=0, word=None):
        """A dry run ends as the real one behind it does, and writes nothing. `word`: which it has in place of the system's."""
        before = self.files()
        said = self.keyferry("convert", "--dry-run", *words, code=code).err
        self.assertEqual(self.files(), before)
        real = self.keyferry("convert", *words, code=code).err
        if code:
            self.assertIn(word or real.splitlines()[0], said)
            self.assertEqual(self.files(), before)
        return said

    def test_dry_run_without_a_folder(self):
        self.put("door.ani", DOOR.read_bytes())
        self.put("file", b"")
        for output in ("none/door.fbx", "file/door.fbx"):
            self.dry("door.ani", output, code=3)
        for output in ("file/", "file/none/"):
            self.dry("door.ani", output, code=3, word="file: is no folder")
        for output in ("none/", "more/of/them/"):
            self.dry("door.ani", output)

    def test_dry_run_where_the_output_exists(self):
        self.put("door.ani", DOOR.read_bytes())
        self.dry("door.ani", "door.fbx")
        said = self.dry("door.ani", "door.fbx", code=3)
        self.assertIn("x4-ani to fbx (dry run: nothing written)\n", said)
        self.assertTrue(said.endswith("keyferry: door.fbx: exists (-y overwrites it)\n"), said)
        self.dry("door.ani", "door.fbx", "-y")
        said = self.dry("door.fbx", "door.ani", code=3)
        self.assertIn("0 of 8 tracks changed (dry run: nothing written)\n", said)
        self.dry("door.fbx", "door.ani", "-y")
        self.assertNotIn(" to fbx", self.dry("door.ani", "door.fbx", "-n", code=3))
        self.assertIn("is the input itself", self.dry("door.ani", "door.ani", "--to", "fbx", "-y", code=3))
        self.dry("door.ani", "into/")
        said = self.dry("door.ani", "into/", code=3)
        self.assertIn("into/door.fbx: exists (-y overwrites it)\n", said)
        (self.dir / "door.fbx").unlink()  # what is beside it counts, too
        self.assertTrue(self.dry("door.ani", "door.fbx", code=3).endswith("door.fbx.kf: exists (-y overwrites it)\n"))

    def test_dry_run_of_a_bad_file_where_the_output_exists(self):
        """A real run ends there before it reads the file; the dry one tells both."""
        self.put("bad.ani", DOOR.read_bytes()[:-3])
        self.put("door.ani", DOOR.read_bytes())
        for name in ("old.fbx", "tree/bad.fbx", "tree/door.fbx"):
            self.put(name, b"old")
        self.assertRegex(self.dry("bad.ani", "old.fbx", code=3), "(?s)expected.*old.fbx: exists")
        self.assertRegex(self.dry("door.ani", "old.fbx", "--strict", code=3), "(?s)TCB keys.*old.fbx: exists")
        self.dry("bad.ani", "tree/", code=3)
        self.dry("bad.ani", "old.fbx", "-y", code=1)
        self.dry("bad.ani", "new.fbx", code=1)
        found = [self.json("convert", "--json", "bad.ani", "old.fbx", *dry, code=3)["error"] for dry in ((), ("--dry-run",))]
        self.assertEqual(found[0], found[1])

    def test_dry_run_where_one_of_several_outputs_exists(self):
        """Both name the same one."""
        self.put("door.ani", DOOR.read_bytes())
        self.keyferry("convert", "door.ani", "door.fbx", "--split-takes")
        self.assertIn("door.take01.fbx.kf: exists", self.dry("door.ani", "door.fbx", "--split-takes", code=3))
        self.put("door.fbx", b"old")
        self.assertIn("door.fbx: exists", self.dry("door.ani", "door.fbx", "--split-takes", code=3))

    def test_dry_run_where_nothing_is_to_be_done(self):
        self.put("door.ani", DOOR.read_bytes())
        self.keyferry("convert", "door.ani", "door.fbx")
        os.utime(self.dir / "door.ani", (1, 1))
        self.assertEqual(self.dry("--newer", "door.ani", "door.fbx"), "")
        os.utime(self.dir / "door.ani", None)
        os.utime(self.dir / "door.fbx", (1, 1))
        self.dry("--newer", "door.ani", "door.fbx", code=3)

    def test_dry_run_in_json(self):
        self.put("door.fbx", b"old")
        found = self.json("convert", "--dry-run", "--json", DOOR, "door.fbx", code=3)
        self.assertEqual((found["ok"], found["dry_run"], found["outputs"]), (False, True, []))
        self.assertEqual(found["error"]["message"], "door.fbx: exists (-y overwrites it)")
        self.assertTrue(self.json("convert", "--dry-run", "--json", "-y", DOOR, "door.fbx")["ok"])
        self.assertEqual(self.files(), {"door.fbx": b"old"})

    def test_dry_run_at_a_terminal(self):
        """It asks nothing: there is nothing to be overwritten."""
        self.put("door.fbx", b"old")
        said, code = self.on_terminal("convert", "--dry-run", DOOR, "door.fbx")
        self.assertIn("door.fbx: exists (-y overwrites it)", said)
        self.assertEqual(code, 3)

    def test_base_without_files(self):
        """A folder that holds only folders is no original: nothing is made anew instead."""
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule", "--no-sidecar")
        self.put("game/a/door.ani", DOOR.read_bytes())
        said = self.keyferry("convert", "door.fbx", "back.ani", "--base", "game", code=3).err
        self.assertIn("game: there is no file in it", said)
        self.assertFalse((self.dir / "back.ani").exists())
        self.keyferry("convert", "door.fbx", "back.ani", "--base", "game/a")
        self.assertEqual((self.dir / "back.ani").read_bytes(), DOOR.read_bytes())

    def test_newer_than_the_base(self):
        self.put("door.ani", DOOR.read_bytes())
        self.keyferry("convert", "door.ani", "door.fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "door.fbx", "new.ani", "--base", "door.ani")
        later = time.time() + 100
        self.keyferry("convert", "--newer", "door.fbx", "new.ani", "--base", "door.ani")
        os.utime(self.dir / "door.ani", (later, later))
        self.keyferry("convert", "--newer", "door.fbx", "new.ani", "--base", "door.ani", code=3)  # no longer up to date

    def test_newer(self):
        self.put("door.ani", DOOR.read_bytes())
        self.keyferry("convert", "door.ani", "door.fbx")
        before = self.files()
        os.utime(self.dir / "door.ani", (1, 1))
        self.keyferry("convert", "--newer", "door.ani", "door.fbx", "--ascii")  # up to date: no question of overwriting
        self.assertEqual(self.files(), before)
        later = time.time() + 100
        os.utime(self.dir / "door.ani", (later, later))
        self.keyferry("convert", "--newer", "door.ani", "door.fbx", "--ascii", code=3)
        self.keyferry("convert", "--newer", "-y", "door.ani", "door.fbx", "--ascii")
        self.assertNotEqual(self.files(), before)


class Sidecar(Case):
    def setUp(self):
        super().setUp()
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule")

    def test_beside(self):
        found = self.json("convert", "--json", "door.fbx", "a.ani")
        self.assertEqual(found["original"], "sidecar")
        self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())

    def test_after_a_rename(self):
        (self.dir / "door.fbx").rename(self.dir / "renamed.fbx")
        self.keyferry("convert", TURRET, "turret.fbx", "--no-capsule")  # another one in the same folder
        found = self.json("convert", "--json", "renamed.fbx", "a.ani")
        self.assertEqual(found["original"], "sidecar")
        self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())

    def test_of_another_file_is_not_taken(self):
        self.keyferry("convert", TURRET, "turret.fbx", "--no-capsule")
        (self.dir / "turret.fbx.kf").rename(self.dir / "door.fbx.kf")
        found = self.json("convert", "--json", "door.fbx", "a.ani", "--to", "x4-ani")
        self.assertEqual((found["original"], found["merged"]), (None, False))

    def test_damaged_is_not_taken(self):
        data = bytearray((self.dir / "door.fbx.kf").read_bytes())
        for at in (12, 20, len(data) // 2):  # the checksum, the directory, the contents
            data[at] ^= 0x55
            self.put("door.fbx.kf", data)
            data[at] ^= 0x55
            found = self.json("convert", "--json", "-y", "door.fbx", "a.ani", "--to", "x4-ani")
            self.assertEqual(found["original"], None)
            self.assertIn("capsule", [m["id"] for m in found["messages"]])

    def test_base(self):
        os.remove(self.dir / "door.fbx.kf")
        self.put("old/door.ani", DOOR.read_bytes())
        for base in ("old/door.ani", "old"):
            found = self.json("convert", "--json", "-y", "door.fbx", "a.ani", "--base", base)
            self.assertEqual((found["original"], found["changed"]), ("base", 0))
            self.assertEqual((self.dir / "a.ani").read_bytes(), DOOR.read_bytes())


class Overwriting(Case):
    def test_not_without_asking(self):
        self.put("out.fbx", OLD)
        done = self.keyferry("convert", DOOR, "out.fbx", code=3)
        self.assertIn("out.fbx: exists (-y overwrites it)", done.err)
        self.assertEqual(self.files(), {"out.fbx": OLD})
        self.keyferry("convert", DOOR, "out.fbx", "-n", code=3)
        self.assertEqual(self.files(), {"out.fbx": OLD})
        self.keyferry("convert", DOOR, "out.fbx", "-y")
        self.assertEqual(self.names(), ["out.fbx", "out.fbx.kf"])
        self.assertNotEqual((self.dir / "out.fbx").read_bytes(), OLD)

    def test_a_lone_sidecar_counts(self):
        self.put("out.fbx.kf", OLD)
        self.assertIn("out.fbx.kf: exists", self.keyferry("convert", DOOR, "out.fbx", code=3).err)
        self.assertEqual(self.files(), {"out.fbx.kf": OLD})

    def test_in_a_folder(self):
        self.keyferry("convert", DOOR, "door.fbx")
        self.put("out/door.ani", OLD)
        self.keyferry("convert", "door.fbx", "out/", code=3)
        self.assertEqual((self.dir / "out/door.ani").read_bytes(), OLD)
        self.keyferry("convert", "-y", "door.fbx", "out/")
        self.assertEqual((self.dir / "out/door.ani").read_bytes(), DOOR.read_bytes())

    def ask(self, answer):
        shown, code = self.on_terminal("convert", DOOR, "out.fbx", when=b"[y/N]", answer=answer)
        self.assertIn("[y/N]", shown)
        return code

    def test_question_at_a_terminal(self):
        self.put("out.fbx", OLD)
        self.assertEqual(self.ask(b"n\n"), 3)
        self.assertEqual(self.ask(b"\n"), 3)
        self.assertEqual(self.files(), {"out.fbx": OLD})
        self.assertEqual(self.ask(b"y\n"), 0)
        self.assertEqual(self.names(), ["out.fbx", "out.fbx.kf"])

    def test_never_the_input(self):
        data = DOOR.read_bytes()
        self.put("door.ani", data)
        os.link(self.dir / "door.ani", self.dir / "hard.fbx")
        os.symlink("door.ani", self.dir / "soft.fbx")
        for out in ("door.ani", "./door.ani", "hard.fbx", "soft.fbx"):
            done = self.keyferry("convert", "-y", "door.ani", out, "--to", "fbx", code=3)
            self.assertIn("is the input itself", done.err)
            self.assertEqual(self.names(), ["door.ani", "hard.fbx", "soft.fbx"])
            self.assertEqual((self.dir / "door.ani").read_bytes(), data)

    def test_base_may_be_replaced(self):
        self.put("door.ani", DOOR.read_bytes())
        self.keyferry("convert", "door.ani", "door.fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "door.fbx", "door.ani", "--base", "door.ani", "-y")
        self.assertEqual((self.dir / "door.ani").read_bytes(), DOOR.read_bytes())

    def test_a_link_stays_a_link(self):
        self.put("real/old.fbx", OLD)
        os.symlink("real/old.fbx", self.dir / "out.fbx")
        self.keyferry("convert", "-y", DOOR, "out.fbx", "--no-sidecar")
        self.assertTrue((self.dir / "out.fbx").is_symlink())
        self.assertNotEqual((self.dir / "real/old.fbx").read_bytes(), OLD)
        os.symlink(self.dir / "real/old.fbx", self.dir / "far.fbx")
        self.keyferry("convert", "-y", DOOR, "far.fbx", "--no-sidecar")
        self.assertTrue((self.dir / "far.fbx").is_symlink())
        self.assertFalse((self.dir / "real/old.fbx").is_symlink())
        os.symlink("real/new.fbx", self.dir / "dangling.fbx")
        self.keyferry("convert", DOOR, "dangling.fbx", "--no-sidecar")
        self.assertTrue((self.dir / "dangling.fbx").is_symlink() and (self.dir / "real/new.fbx").is_file())

    def test_permissions_stay(self):
        self.put("out.fbx", OLD).chmod(0o640)
        self.keyferry("convert", "-y", DOOR, "out.fbx", "--no-sidecar")
        self.assertEqual((self.dir / "out.fbx").stat().st_mode & 0o7777, 0o640)
        self.keyferry("convert", DOOR, "fresh.fbx", umask=0o027)
        self.assertEqual((self.dir / "fresh.fbx").stat().st_mode & 0o7777, 0o640)


class Failing(Case):
    def setUp(self):
        super().setUp()
        self.put("out.fbx", OLD)
        self.put("out.fbx.kf", OLD)
        self.before = self.files()

    def unharmed(self):
        self.assertEqual(self.files(), self.before)

    def test_bad_input(self):
        self.put("bad.ani", DOOR.read_bytes()[:-3])
        self.before = self.files()
        self.keyferry("convert", "-y", "bad.ani", "out.fbx", code=1)
        self.unharmed()

    def test_no_such_folder(self):
        self.assertIn("cannot be written: No such file", self.keyferry("convert", DOOR, "no/where.fbx", code=3).err)
        self.assertIn("folder cannot be made", self.keyferry("convert", DOOR, "out.fbx/deep/", code=3).err)
        self.assertIn("Not a directory", self.keyferry("convert", DOOR, "out.fbx/x.fbx", code=3).err)
        self.unharmed()

    def test_output_is_a_folder_by_another_name(self):
        (self.dir / "out.kf").mkdir()
        (self.dir / "taken.fbx.kf").mkdir()
        self.assertIn("is a folder", self.keyferry("convert", "-y", DOOR, "taken.fbx", code=3).err)
        self.unharmed()

    def test_full_disk(self):
        for limit in (0, 100, 1000, 5000, 20000):
            def little_room():
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            # ThreadSanitizer writes a file of its own at the start, before we can ignore the signal.
            keep = "thread" not in os.environ.get("KEYFERRY_INSTRUMENT", "")
            done = self.keyferry("convert", "-y", DOOR, "out.fbx", code=3, preexec_fn=little_room, restore_signals=keep)
            self.assertIn("cannot be written: File too large", done.err)
            self.unharmed()
        self.assertIn("No space left", self.keyferry("convert", "-y", DOOR, "/dev/full", code=3).err)
        with open("/dev/full", "wb") as full:
            for words in (["info", DOOR], ["dump", DOOR], ["formats"], ["--help"], ["--version"], ["convert", DOOR, "-"]):
                done = subprocess.run([KEYFERRY, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn("standard output: cannot be written: No space left", done.stderr)
                self.assertEqual(done.stderr.count("cannot be written"), 1)

    def test_closed_pipe(self):
        for words in (["dump", DOOR], ["convert", DOOR, "-"]):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([KEYFERRY, *map(str, words)], stdout=writing, stderr=subprocess.PIPE, text=True)
            os.close(writing)
            self.assertEqual(done.returncode, 3)
            self.assertIn("Broken pipe", done.stderr)

    def test_large_through_pipes(self):
        """What grows beyond every buffer, from standard input and to standard output."""
        self.plugins("good")
        data = sample([(n, n % 5) for n in range(50000)])
        self.put("large.smpl", data)
        self.keyferry("convert", "large.smpl", "large.fbx", "--no-sidecar", "--ascii")
        through = self.keyferry("convert", "-", "-", "--to", "fbx", "--ascii", stdin=data).out
        self.assertGreater(len(through), 1 << 20)
        strip = lambda text: text[text.index(b"Objects:"):]
        self.assertEqual(strip(through).count(b"AnimationCurve:"), strip((self.dir / "large.fbx").read_bytes()).count(b"AnimationCurve:"))
        self.put("through.fbx", through)
        self.assertEqual(self.keyferry("convert", "through.fbx", "-").out, data)

    def test_special_files(self):
        self.keyferry("convert", DOOR, "/dev/null", "--no-sidecar", "--to", "fbx")
        os.mkfifo(self.dir / "pipe.fbx")
        reader = subprocess.Popen(["cat", self.dir / "pipe.fbx"], stdout=subprocess.PIPE)
        self.keyferry("convert", DOOR, "pipe.fbx", "--no-sidecar")
        self.assertTrue(reader.communicate(timeout=30)[0].startswith(b"Kaydara"))
        nobody = subprocess.Popen([KEYFERRY, "convert", DOOR, "pipe.fbx", "--no-sidecar"], cwd=self.dir, stderr=subprocess.DEVNULL)
        with self.assertRaises(subprocess.TimeoutExpired):
            nobody.wait(timeout=1)  # for somebody who reads
        nobody.terminate()
        self.assertNotEqual(nobody.wait(timeout=30), 0)

    def test_signals(self):
        """A signal at any moment: old or new, never half, never a new FBX beside an old sidecar, nothing left over."""
        self.keyferry("convert", DOOR, "new.fbx")
        self.keyferry("convert", DOOR, "new.fbx", "-y")
        new = {name: (self.dir / name).read_bytes() for name in ("new.fbx", "new.fbx.kf")}
        for name in new:
            os.remove(self.dir / name)
        chance = random.Random(1)
        killed = 0
        for round_ in range(120):
            number = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[round_ % 3]
            self.put("out.fbx", OLD)
            self.put("out.fbx.kf", OLD)
            child = subprocess.Popen([KEYFERRY, "convert", "-y", str(DOOR), "out.fbx"], cwd=self.dir, env=self.killed(),
                                     stderr=subprocess.DEVNULL)
            time.sleep(chance.random() * 0.012)
            child.send_signal(number)
            code = child.wait(30)
            self.assertIn(code, (0, -number))
            killed += code != 0
            self.assertEqual(self.names(), ["out.fbx", "out.fbx.kf"], f"left over in round {round_}")
            fbx, sidecar = (self.dir / "out.fbx").read_bytes(), (self.dir / "out.fbx.kf").read_bytes()
            self.assertIn(fbx, (OLD, new["new.fbx"]))
            self.assertIn(sidecar, (OLD, new["new.fbx.kf"]))
            if fbx != OLD:
                self.assertNotEqual(sidecar, OLD)
        self.assertGreater(killed, 10)


@unittest.skipIf("sanitize" in os.environ.get("KEYFERRY_INSTRUMENT", ""), "a sanitizer's library must come first")
class Faults(Case):
    """Every call that makes, writes or names a file fails in turn; and the program dies in every one of them."""

    def run_with(self, fault, words):
        environment = {**self.environment, "LD_PRELOAD": "fault.so", "LD_LIBRARY_PATH": str(PLUGINS),
                       "KEYFERRY_FAULT": fault}
        return subprocess.run([KEYFERRY, *words], cwd=self.dir, capture_output=True, text=True, env=environment)

    def setUp(self):
        super().setUp()
        self.keyferry("convert", DOOR, "new.fbx")
        self.new = {name: (self.dir / f"new{name[3:]}").read_bytes() for name in ("out.fbx", "out.fbx.kf")}
        for name in ("new.fbx", "new.fbx.kf"):
            os.remove(self.dir / name)

    def state(self):
        """old, new, or what is wrong."""
        found = self.files()
        left = sorted(set(found) - {"out.fbx", "out.fbx.kf"})
        states = ["old" if found.get(name) == OLD else "new" if found.get(name) == self.new[name] else
                  "gone" if name not in found else "half" for name in ("out.fbx", "out.fbx.kf")]
        return states, left

    def test_failing(self):
        words = ["convert", "-y", str(DOOR), "out.fbx"]
        codes = []
        for number in range(1, 100):
            self.put("out.fbx", OLD)
            self.put("out.fbx.kf", OLD)
            done = self.run_with(f"fail {number}", words)
            (fbx, sidecar), left = self.state()
            self.assertEqual(left, [], f"call {number}: left over")
            codes.append(done.returncode)
            if done.returncode == 3:
                self.assertEqual(fbx, "old", f"call {number}")
                self.assertIn(sidecar, ("old", "new"))
                self.assertIn("cannot be written: Input/output error", done.stderr)
            else:
                self.assertEqual((done.returncode, fbx, sidecar), (0, "new", "new"), f"call {number}: {done.stderr}")
        self.assertGreaterEqual(codes.count(3), 8)  # two files made, written, synced, named
        self.assertEqual(codes[-1], 0)

    def test_failing_where_nothing_was(self):
        words = ["convert", str(DOOR), "out.fbx"]
        codes = []
        for number in range(1, 40):
            for name in ("out.fbx", "out.fbx.kf"):
                (self.dir / name).unlink(missing_ok=True)
            done = self.run_with(f"fail {number}", words)
            (fbx, sidecar), left = self.state()
            codes.append(done.returncode)
            expected = "gone" if done.returncode == 3 else "new"
            self.assertEqual((fbx, sidecar, left), (expected, expected, []), f"call {number}: {done.stderr}")
        self.assertGreaterEqual(codes.count(3), 6)
        self.assertEqual(codes[-1], 0)

    def test_dying(self):
        seen = set()
        for number in range(1, 100):
            for name in list(self.files()):
                os.remove(self.dir / name)
            self.put("out.fbx", OLD)
            self.put("out.fbx.kf", OLD)
            done = self.run_with(f"kill {number}", ["convert", "-y", str(DOOR), "out.fbx"])
            (fbx, sidecar), left = self.state()
            self.assertIn((fbx, sidecar), (("old", "old"), ("old", "new"), ("new", "new")), f"call {number}")
            seen.add((fbx, sidecar))
            for name in left:
                self.assertRegex(name, r"^\.keyferry-\d+-\d+\.tmp$")
            if done.returncode == 0:
                self.assertEqual(left, [])
                break
            self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(len(seen), 3)
        self.assertGreater(number, 8)


if __name__ == "__main__":
    unittest.main()
