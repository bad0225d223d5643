"""Disks that are full, cannot be written, or lose their power: the old file stays whole, no temporary file is left, exit
code 3 and the reason; and when it is that the disk is waited for."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, PLUGINS, Case

OLD = b"what was there before"
PAGE = 4096


class Small(Case):
    """A file system of 256 KiB in memory. It takes the right to mount one."""

    def setUp(self):
        super().setUp()
        self.disk = self.dir / "disk"
        self.disk.mkdir()
        self.mount("size=256k")
        self.addCleanup(subprocess.run, ["umount", str(self.disk)], check=True)

    def mount(self, options):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "keyferry-test", str(self.disk)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            if os.environ.get("CI") == "true":
                self.fail(done.stderr)
            self.skipTest(f"mounting is not allowed here: {done.stderr.strip()}")

    def leave_room(self, size):
        """Fills the disk but for that much."""
        (self.disk / "filler").unlink(missing_ok=True)
        about = os.statvfs(self.disk)
        with open(self.disk / "filler", "wb") as filler:
            filler.write(bytes(max(about.f_bavail * about.f_frsize - size, 0)))

    def on_disk(self):
        return {str(p.relative_to(self.disk)): p.read_bytes() for p in self.disk.rglob("*")
                if p.is_file() and p.name != "filler"}

    def test_one_file(self):
        for name in ("out.fbx", "out.fbx.kf"):
            self.put(f"disk/{name}", OLD)
        before, full = self.on_disk(), 0
        for room in range(0, 64 * PAGE, PAGE):
            self.leave_room(room)
            done = subprocess.run([KEYFERRY, "convert", "-y", str(DOOR), "disk/out.fbx"], cwd=self.dir, env=self.environment,
                                  capture_output=True, text=True)
            if done.returncode == 0:
                break
            full += 1
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"disk/out\.fbx(\.kf)?: cannot be written: No space left on device")
            self.assertEqual(self.on_disk(), before, f"with {room} bytes left")
        self.assertGreater(full, 3)
        self.assertEqual(sorted(self.on_disk()), sorted(before))
        self.keyferry("convert", DOOR, "good.fbx")
        self.assertEqual(self.on_disk()["out.fbx"], (self.dir / "good.fbx").read_bytes())

    def test_batch(self):
        for i in range(6):
            self.put(f"game/{i}.ani", DOOR.read_bytes())
        self.keyferry("convert", "game", "new/")
        new = {p.name: p.read_bytes() for p in (self.dir / "new").iterdir()}
        seen = set()
        for room in range(0, 64 * PAGE, 2 * PAGE):
            for path in list(self.disk.iterdir()):
                path.unlink()
            for name in new:
                self.put(f"disk/{name}", OLD)
            self.leave_room(room)
            done = subprocess.run([KEYFERRY, "convert", "-y", "game", "disk/"], cwd=self.dir, env=self.environment,
                                  capture_output=True, text=True)
            now = self.on_disk()
            self.assertEqual(sorted(now), sorted(new), f"with {room} bytes left")
            for name, data in now.items():
                self.assertIn(data, (OLD, new[name]), name)
                if name.endswith(".fbx") and data != OLD:
                    self.assertEqual(now[name + ".kf"], new[name + ".kf"])
            made = sum(name.endswith(".fbx") and data != OLD for name, data in now.items())
            seen.add(made)
            self.assertEqual(done.returncode, 0 if made == 6 else 3, done.stderr)
            self.assertIn(f"{made} converted, {6 - made} failed", done.stderr)
            self.assertEqual("No space left on device" in done.stderr, made < 6)
        self.assertIn(0, seen)
        self.assertIn(6, seen)
        self.assertGreater(len(seen), 3)

    def test_several_files_of_one(self):
        """Takes one by one, each with its sidecar: all of them new, or all as they were."""
        self.keyferry("convert", DOOR, "new/", "--split-takes")
        new = {p.name: p.read_bytes() for p in (self.dir / "new").iterdir()}
        self.assertGreater(len(new), 2)
        for name in new:
            self.put(f"disk/{name}", OLD)
        before, full = self.on_disk(), 0
        for room in range(0, 64 * PAGE, PAGE):
            self.leave_room(room)
            done = subprocess.run([KEYFERRY, "convert", "-y", str(DOOR), "disk/", "--split-takes"], cwd=self.dir,
                                  env=self.environment, capture_output=True, text=True)
            if done.returncode == 0:
                break
            full += 1
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("cannot be written: No space left on device", done.stderr)
            self.assertEqual(self.on_disk(), before, f"with {room} bytes left")
        self.assertGreater(full, 3)
        self.assertEqual(self.on_disk(), new)

    def test_read_only(self):
        self.put("disk/out.fbx", OLD)
        self.mount("remount,ro")
        for words in ([DOOR, "disk/out.fbx", "-y"], [DOOR, "disk/new.fbx"], [DOOR, "disk/deep/new/"]):
            done = self.keyferry("convert", *words, code=3)
            self.assertRegex(done.err, r"disk/.*: (cannot be written|the folder cannot be made): Read-only file system")
            self.assertEqual(self.on_disk(), {"out.fbx": OLD})


class Unwritable(Case):
    def test_folder(self):
        """For root everything is writable: then somebody else tries."""
        self.put("shut/out.fbx", OLD)
        self.put("door.ani", DOOR.read_bytes())
        os.chmod(self.dir, 0o755)
        os.chmod(self.dir / "shut", 0o555)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if other and subprocess.run([KEYFERRY, "--version"], capture_output=True, **other).returncode != 0:
            self.skipTest("nobody else can run the program here")
        for words in (["door.ani", "shut/out.fbx", "-y"], ["door.ani", "shut/new.fbx"]):
            done = self.keyferry("convert", *words, code=3, **other)
            self.assertRegex(done.err, r"shut/\w+\.fbx(\.kf)?: cannot be written: Permission denied")
        self.assertIn("Permission denied", self.keyferry("convert", "door.ani", "shut/deep/", code=3, **other).err)
        self.put("many/door.ani", DOOR.read_bytes())
        done = self.keyferry("convert", "many", "shut/", "-y", code=3, **other)
        self.assertIn("0 converted, 1 failed", done.err)
        os.chmod(self.dir / "shut", 0o755)
        self.assertEqual({n: d for n, d in self.files().items() if n.startswith("shut/")}, {"shut/out.fbx": OLD})


@unittest.skipIf(os.environ.get("KEYFERRY_INSTRUMENT"), "another library must come first in an instrumented program")
class Waiting(Case):
    """A single conversion waits for the disk file by file, a batch once at its end."""

    def calls(self, *words):
        log = self.dir / "calls"
        log.write_text("")
        environment = {**self.environment, "LD_PRELOAD": "fault.so", "LD_LIBRARY_PATH": str(PLUGINS),
                       "KEYFERRY_FAULT": f"tell {log}"}
        subprocess.run([KEYFERRY, *map(str, words)], cwd=self.dir, check=True, capture_output=True, env=environment)
        return [call for call in log.read_text().split() if call in ("fsync", "sync", "rename", "link")]

    def test_one_file(self):
        self.put("out.fbx", OLD)
        # Both files are on the disk before either gets its name; then the folder is, for each.
        self.assertEqual(self.calls("convert", "-y", DOOR, "out.fbx"),
                         ["fsync", "fsync", "rename", "rename", "fsync", "fsync"])
        self.assertEqual(self.calls("convert", DOOR, "new.fbx"), ["fsync", "fsync", "link", "link", "fsync", "fsync"])
        self.assertEqual(self.calls("convert", "new.fbx", "new.ani"), ["fsync", "link", "fsync"])

    def test_batch(self):
        for i in range(5):
            self.put(f"game/{i}.ani", DOOR.read_bytes())
        self.assertEqual(self.calls("convert", "game", "out/"), ["link"] * 10 + ["sync"])
        self.assertEqual(self.calls("convert", "-y", "game", "out/"), ["rename"] * 10 + ["sync"])
        self.assertEqual(self.calls("convert", "--dry-run", "-y", "game", "out/"), [])


if __name__ == "__main__":
    unittest.main()
