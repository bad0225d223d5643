"""A thousand files of every dialect of every format, each seen by the probes of all formats: content alone decides."""
import importlib.util
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import SOURCE, Case  # noqa: E402

EACH = 1000


def generator(name):
    spec = importlib.util.spec_from_file_location(name, SOURCE / "tests" / "generate" / (name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


mm2, vib, nytro, ei, x4 = map(generator, ("mm2_anim", "vib_anm", "nytro_anim", "ei_anm", "x4_ani"))


def x4_file(rng, offset):
    items = [x4.description("part_%d" % i, "state", 1.0, garbage=rng,
                            **{kind: x4.random_keys(rng, rng.randrange(1, 4), [1, 2, 5, 6, 7], tcb=True)[0]
                               for kind in x4.KINDS[:3] if rng.random() < 0.6}) for i in range(rng.randrange(1, 3))]
    return x4.ani(items, offset=offset)


def dialects():
    """(format, dialect, how to make one)"""
    for name, make in mm2.DIALECTS.items():
        yield "mm2-anim", name, make
    for name, make in vib.DIALECTS.items():
        yield "vib-anm", name, make
    for name in nytro.DIALECTS:
        yield "nytro-anim", name, lambda rng, dialect=name: nytro.random_file(rng, dialect)
    for name in ei.DIALECTS:
        yield "ei-anm", name, lambda rng, dialect=name: ei.random_file(rng, dialect)
    for offset in ("keys", "header"):
        yield "x4-ani", offset, lambda rng, where=offset: x4_file(rng, where)


class Prober:
    """One process for all files."""

    def __init__(self, folder):
        self.path = Path(folder) / "probe"
        shared = Path(os.environ["KEYFERRY_SHARED"])
        subprocess.run([os.environ["KEYFERRY_CC"], *os.environ["KEYFERRY_INSTRUMENT"].split(), "-I", SOURCE / "common",
                        SOURCE / "tests" / "lib" / "probe.c", shared, f"-Wl,-rpath,{shared.parent}", "-o", self.path],
                       check=True)

    def __call__(self, files):
        """For each file the scores by format and the choice."""
        packed = b"".join(struct.pack("<I", len(data)) + data for data in files)
        done = subprocess.run([self.path], input=packed, capture_output=True, check=True, timeout=300)
        head, *lines = done.stdout.decode().splitlines()
        ids = head.split()
        out = []
        for line in lines:
            words = line.split(" ", len(ids))
            out.append((dict(zip(ids, map(int, words))), words[len(ids)]))
        return ids, out


class Probes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.probe = Prober(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_dialect(self):
        seen, wrong, close = set(), [], 0
        for format, dialect, make in dialects():
            rng = random.Random(f"probe {format} {dialect}")
            files = [make(rng) for _ in range(EACH)]
            ids, found = self.probe(files)
            self.assertEqual(len(found), EACH)
            seen.add(format)
            for data, (scores, choice) in zip(files, found):
                others = max(score for id, score in scores.items() if id != format)
                close += others > 0
                if choice != format or scores[format] <= others:
                    wrong.append((format, dialect, scores, choice, data[:40].hex(), len(data)))
        self.assertEqual(seen, set(ids), "a format has no generator here")
        self.assertFalse(wrong, "%d of them: %s" % (len(wrong), wrong[:3]))
        print(f"{close} files got points from a second format, too", file=sys.stderr)

    def test_edge_cases(self):
        """The generators' own oddities, as far as they are to be known by content."""
        for format, cases in (("mm2-anim", mm2.cases(count=0)), ("vib-anm", vib.cases(count=0)),
                              ("nytro-anim", nytro.cases(count=0)), ("ei-anm", ei.cases(count=0)), ("x4-ani", x4.cases())):
            cases = [(name, data, tags.split() if isinstance(tags, str) else tags) for name, data, tags in cases]
            cases = [(name, data) for name, data, tags in cases if not {"from", "bad"} & set(tags)]
            _, found = self.probe([data for _, data in cases])
            wrong = [(name, scores, choice) for (name, _), (scores, choice) in zip(cases, found) if choice != format]
            self.assertFalse(wrong)

    def test_noise(self):
        """Bytes of no format at all: nobody may claim them, whatever their size."""
        rng = random.Random("noise")
        files = [rng.randbytes(rng.randrange(200)) for _ in range(EACH)]
        files += [bytes(n) for n in range(1, 64)] + [b"\xff" * n for n in range(64)] + [b"text\r\n" * 9]
        _, found = self.probe(files)
        claimed = [(data.hex(), scores) for data, (scores, choice) in zip(files, found)
                   if max(scores.values()) > 0 and any(data)]
        self.assertFalse(claimed)


class Ties(Case):
    def test_a_file_of_two_formats(self):
        """A part of X4's with a name of odd bytes and no keys: also one rotation and twelve translations."""
        data = struct.pack("<4IfI", 1, 176, 2, 0, 1.0, 12) + bytes(152)
        self.assertEqual((len(data), len(data)), (16 + 160, 4 + 16 + 4 + 12 * 12 + 8))
        self.put("nameless", data)
        for words in (["info", "nameless"], ["dump", "nameless"], ["check", "nameless"], ["convert", "nameless", "x.fbx"]):
            done = self.keyferry(*words, code=1)
            for word in ("x4-ani", "ei-anm", "--from"):
                self.assertIn(word, done.err + done.out.decode())
        self.assertEqual(self.names(), ["nameless"])
        for format in ("x4-ani", "ei-anm"):  # with a word of help it is either, and comes back as it was
            self.assertEqual(self.json("info", "nameless", "--json", "--from", format)["format"], format)
            self.keyferry("convert", "nameless", "x.fbx", "--from", format, "-y")
            self.keyferry("convert", "x.fbx", "back", "-y")
            self.assertEqual(self.put("nameless", data).read_bytes(), (self.dir / "back").read_bytes())
        for name, format in (("x.ani", "x4-ani"), ("x.anm", "ei-anm")):  # or with a name
            self.put(name, data)
            self.assertEqual(self.json("info", name, "--json")["format"], format)

    def test_full_structure_outranks_size(self):
        """Four channels of a pedestrian, of which the last are empty: also the size of four rotations and no more."""
        data = mm2.clip(4, 1, [mm2.channel(6, [[0.0] * 6]), mm2.channel(2, [[0.0] * 2], 0), mm2.channel(0, [[]], 0),
                               mm2.channel(0, [[]], 0)])
        self.assertEqual(len(data), 4 + 4 * 16 + 4 + 4)
        for name in ("nameless", "x.anm"):
            self.put(name, data)
            self.assertEqual(self.json("info", name, "--json")["format"], "mm2-anim")
        self.assertEqual(self.json("info", "nameless", "--json", "--from", "ei-anm")["format"], "ei-anm")


if __name__ == "__main__":
    unittest.main()
