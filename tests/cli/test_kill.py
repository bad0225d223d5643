"""A batch that is killed at any moment: each file is the old one or the new one, never half of one, and no new FBX
stands beside an old sidecar."""
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR, KEYFERRY, Case, sample

TEMPORARY = re.compile(r"(.*/)?\.keyferry-\d+-\d+\.tmp")
COUNT = 12
# Half of them by force: nothing can be done about that one.
SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)


class Killed(Case):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(3)
        for i in range(COUNT):
            self.put(f"game/{i:02}.ani", DOOR.read_bytes())

    def below(self, folder):
        """Its files, by name: temporary ones apart."""
        found = {p.name: p for p in (self.dir / folder).iterdir()}
        left = sorted(n for n in found if TEMPORARY.fullmatch(n))
        return {n: p.read_bytes() for n, p in found.items() if n not in left}, left

    def kill(self, number, words, watched):
        """Runs the command until the first few of the watched files are new ones, and a moment longer. Whether it was
        killed, not done."""
        before = [path.stat().st_ino if path.exists() else None for path in watched]
        child = subprocess.Popen([KEYFERRY, *words], cwd=self.dir, env=self.killed(), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        which = self.chance.randrange(-1, len(watched))
        while which >= 0 and child.poll() is None:
            path = watched[which]
            if path.exists() and path.stat().st_ino != before[which]:
                break
        time.sleep(self.chance.random() * 0.002)
        child.send_signal(number)
        code = child.wait(60)
        self.assertIn(code, (0, -number))
        return code != 0

    def rounds(self, count, words, old, new, together):
        """Kills it that often, from what was there before; `together` says what a new file must have beside it."""
        names = sorted(new)
        killed = mixed = 0
        for n in range(count):
            for name in names:
                path = self.dir / "out" / name
                if name in old:
                    # By another name first: a new file, of which the number tells that it is not the one before.
                    self.put("spare", old[name]).rename(path)
                else:
                    path.unlink(missing_ok=True)
            number = SIGNALS[n % len(SIGNALS)]
            killed += self.kill(number, words, [self.dir / "out" / name for name in names])
            now, left = self.below("out")
            for name in names:
                self.assertIn(now.get(name), (old.get(name), new[name]), f"round {n}: {name} is neither old nor new")
                if now.get(name) == new[name]:
                    for other in together(name):
                        self.assertEqual(now.get(other), new[other], f"round {n}: {name} is new, {other} is not")
            self.assertEqual(set(now) - set(names), set())
            mixed += 0 < sum(now.get(name) == new[name] for name in names) < len(names)
            if number == signal.SIGKILL:
                for name in left:
                    os.remove(self.dir / "out" / name)
            else:
                self.assertEqual(left, [], f"round {n}: left over")
        self.assertGreater(killed, count // 10)
        self.assertGreater(mixed, count // 20)

    @staticmethod
    def sidecar_of(name):
        return [name + ".kf"] if name.endswith(".fbx") else []

    def test_to_fbx(self):
        self.keyferry("convert", "game", "new/")
        self.keyferry("convert", "game", "out/", "--for", "maya")
        (old, _), (new, _) = self.below("out"), self.below("new")
        self.assertEqual(len(new), 2 * COUNT)
        self.assertFalse(set(old.values()) & set(new.values()))
        self.rounds(200, ["convert", "-y", "game", "out/"], old, new, self.sidecar_of)

    def test_to_fbx_where_nothing_was(self):
        self.keyferry("convert", "game", "new/")
        (self.dir / "out").mkdir()
        self.rounds(24, ["convert", "game", "out/"], {}, self.below("new")[0], self.sidecar_of)

    def test_back(self):
        self.keyferry("convert", "game", "fbx/")
        (self.dir / "out").mkdir()
        new = {f"{i:02}.ani": DOOR.read_bytes() for i in range(COUNT)}
        old = {name: b"what was there before" for name in new}
        self.rounds(24, ["convert", "-y", "fbx", "out/"], old, new, lambda name: [])

    def test_asked_twice(self):
        """Whoever cannot wait for the files at hand asks again: it ends at once, and still leaves nothing behind."""
        self.plugins("good")
        for i in range(4):
            self.put(f"large/{i}.smpl", sample([(n, n % 7) for n in range(60000)]))
        (self.dir / "out").mkdir()
        hasty = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 4:
            child = subprocess.Popen([KEYFERRY, "convert", "-y", "--jobs", "2", "large", "out/"], cwd=self.dir,
                                     env=self.killed(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while child.poll() is None and not self.below("out")[1]:
                pass
            child.send_signal(number)
            time.sleep(self.chance.random() * 0.002)
            hasty += child.poll() is None and bool(self.below("out")[1])
            child.send_signal(signal.SIGINT)
            self.assertIn(child.wait(60), (0, -number, -signal.SIGINT))
            self.assertEqual(self.below("out")[1], [], "left over")
        self.assertGreater(hasty, 0)

    def test_the_next_run_tidies_up(self):
        """What a program that was killed by force left behind goes with the next batch, once it is an hour old."""
        kept = ("out/.keyferry-1-1.tmp", "out/.keyferry-1.tmp", "out/.keyferry-1-x.tmp", "out/.keyferry--1.tmp",
                "out/.keyferry-1-1.tmp2", "out/keyferry-1-1.tmp", "game/.keyferry-1-1.tmp", "out/.keyferry-1-.tmp")
        gone = ("out/.keyferry-2-0.tmp", "out/.keyferry-123456-78.tmp", "out/sub/.keyferry-3-3.tmp")
        self.put("game/sub/door.ani", DOOR.read_bytes())
        for name in kept + gone:
            self.put(name, b"half")
        long_ago = time.time() - 3700
        for name in kept[1:] + gone:
            os.utime(self.dir / name, (long_ago, long_ago))
        (self.dir / "out/.keyferry-5-5.tmp").mkdir()
        self.keyferry("convert", "--dry-run", "game", "out/")
        self.assertTrue(set(gone) < set(self.names()))
        self.keyferry("convert", "game", "out/")
        self.assertEqual(sorted(n for n in self.names() if "keyferry-" in n), sorted(kept))
        self.assertTrue((self.dir / "out/.keyferry-5-5.tmp").is_dir())


if __name__ == "__main__":
    unittest.main()
