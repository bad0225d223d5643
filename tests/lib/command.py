"""What the tests of the command share: a folder of its own for each test, and running keyferry in it."""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

KEYFERRY = os.environ["KEYFERRY"]
TIMEOUT = float(os.environ.get("KEYFERRY_TEST_TIMEOUT", 120))  # seconds a start may take
SOURCE = Path(os.environ["KEYFERRY_SOURCE"])
PLUGINS = Path(os.environ["KEYFERRY_BUILD"]) / "tests" / "plugin"
DOOR = SOURCE / "tests" / "data" / "x4-ani" / "door.ani"


def sample(keys):
    """A file of the sample plugin's format: (time, value) pairs."""
    return b"SMPL" + struct.pack("<I", len(keys)) + b"".join(struct.pack("<ff", *key) for key in keys)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if k != "KEYFERRY_PLUGIN_PATH"}

    def plugins(self, *folders):
        self.environment["KEYFERRY_PLUGIN_PATH"] = os.pathsep.join(str(PLUGINS / f) for f in folders)

    def killed(self):
        """The environment of a program that will be killed: what it counts for coverage goes nowhere, for it may be cut
        short while it is written."""
        return {**self.environment, "GCOV_PREFIX": "/dev/null"}

    def keyferry(self, *words, code=0, stdin=b"", **more):
        """Runs it, wants the exit code (None: 0 or 1), and gives back what it printed."""
        done = subprocess.run([KEYFERRY, *map(str, words)], cwd=self.dir, input=stdin, capture_output=True,
                              env=self.environment, timeout=TIMEOUT, **more)
        self.assertIn(done.returncode, (0, 1) if code is None else (code,), f"keyferry {' '.join(map(str, words))}\n{done.stdout[-2000:]!r}\n"
                         f"{done.stderr.decode('utf-8', 'replace')[-4000:]}")
        done.out = done.stdout
        done.err = done.stderr.decode("utf-8", "replace")
        return done

    def on_terminal(self, *words, columns=100, when=b"", answer=b""):
        """What it prints on a terminal, and how it ended. Once `when` is shown, `answer` is typed."""
        terminal, inside = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        child = subprocess.Popen([KEYFERRY, *map(str, words)], cwd=self.dir, env=self.environment, stdin=inside,
                                 stdout=inside, stderr=inside, start_new_session=True,
                                 preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        # A terminal whose last user goes may lose its last bytes: this side keeps it open, and what is
        # written here after the child has ended tells that everything before has arrived.
        text, end = b"", b""
        while not end or end not in text:
            if select.select([terminal], [], [], 0.02)[0]:
                text += os.read(terminal, 4096)
            elif not end and child.poll() is not None:
                end = b"<the end>"
                os.write(inside, end)
            if when and when in text:
                os.write(terminal, answer)
                when = b""
        os.close(terminal)
        os.close(inside)
        return text[:text.index(end)].decode(), child.returncode

    def json(self, *words, code=0, **more):
        return json.loads(self.keyferry(*words, code=code, **more).out)

    def put(self, name, data):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def files(self):
        """All files below the test's folder with their bytes, hidden ones too."""
        return {str(p.relative_to(self.dir)): p.read_bytes() for p in sorted(self.dir.rglob("*")) if p.is_file()}

    def names(self):
        return sorted(self.files())
