"""What the tests of the command share: a folder of its own for each test, and running keyferry in it."""
import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

KEYFERRY = os.environ["KEYFERRY"]
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

    def keyferry(self, *words, code=0, stdin=b"", **more):
        """Runs it, wants the exit code, and gives back what it printed."""
        done = subprocess.run([KEYFERRY, *map(str, words)], cwd=self.dir, input=stdin, capture_output=True,
                              env=self.environment, timeout=120, **more)
        self.assertEqual(done.returncode, code, f"keyferry {' '.join(map(str, words))}\n{done.stdout[-2000:]!r}\n"
                         f"{done.stderr.decode('utf-8', 'replace')[-4000:]}")
        done.out = done.stdout
        done.err = done.stderr.decode("utf-8", "replace")
        return done

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
