"""What the tests of a format share: its generator and its second reader, and comparing a dump with what that reads."""
import concurrent.futures
import importlib.util
import json
import math
import os
import subprocess

import fbxtext
import numbers_of
from command import KEYFERRY, SOURCE, TIMEOUT, Case


def module(folder, name):
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", SOURCE / "tests" / folder / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def angle(p, q):
    """Degrees between two orientations."""
    dot = abs(sum(a * b for a, b in zip(p, q)))
    apart = math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q)))
    apart = min(apart, math.sqrt(sum((a + b) ** 2 for a, b in zip(p, q))))
    return math.degrees(2 * math.acos(min(1.0, dot))) if dot < 0.9 else math.degrees(4 * math.asin(min(1.0, apart / 2)))


def without_quaternions(dump):
    """A copy with no quaternions, and those in order: they are compared as orientations, for their last digit depends on
    how they were reckoned."""
    copy = json.loads(json.dumps(dump))
    return copy, [key.pop("q") for take in copy["takes"] for track in take["tracks"] for key in track["keys"] if "q" in key]


def dump_difference(dumped, expected):
    dumped, p = without_quaternions(dumped)
    expected, q = without_quaternions(expected)
    for one, other in [*zip(dumped["nodes"], expected["nodes"]), *zip(dumped["takes"], expected["takes"])]:
        if "name_bytes" in one:  # how many replacement characters stand for broken bytes is nobody's rule
            one["name"] = other["name"]
    found = numbers_of.difference(dumped, expected, 9)
    if not found and len(p) == len(q):
        found = next((f"{a} is not {b}" for a, b in zip(p, q) if angle(a, b) > 1e-6), None)
    return found


class FormatCase(Case):
    """`ending`, `id`, `cases` {name: (bytes, tags)} and `decode(name, bytes)` are the format's. Tags are the generator's:
    clean, odd (readable, but against a rule), bad (to be refused), exact, sample and the dialect."""

    def put_all(self, folder, *tags, but=()):
        """The cases with all those tags and none of the others; their names."""
        chosen = [n for n, (_, has) in self.cases.items() if set(tags) <= set(has) and not set(but) & set(has)]
        self.assertTrue(chosen)
        for name in chosen:
            self.put(f"{folder}/{name}.{self.ending}", self.cases[name][0])
        return chosen

    def none(self, complaints):
        complaints = [c for c in complaints if c]
        if complaints:
            self.fail("%d of them:\n%s" % (len(complaints), "\n".join(map(str, complaints[:10]))))

    def in_parallel(self, work, items):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.none(list(pool.map(work, items)))

    def run_quietly(self, *words):
        return subprocess.run([KEYFERRY, *words], cwd=self.dir, capture_output=True, timeout=TIMEOUT, env=self.environment)

    def back(self, folder):
        return {p.name.removesuffix("." + self.ending): p.read_bytes() for p in (self.dir / folder).glob("*." + self.ending)}

    # ---- what holds for every format

    def check_enough(self, dialects):
        for dialect in dialects:
            self.assertGreaterEqual(sum(dialect in tags for _, tags in self.cases.values()), 50)

    def check_samples(self):
        kept = SOURCE / "tests" / "data" / self.id
        samples = {f"{n}.{self.ending}": data for n, (data, tags) in self.cases.items() if "sample" in tags}
        self.assertEqual({p.name: p.read_bytes() for p in kept.iterdir() if p.is_file()}, samples)

    def check_dumps(self):
        names = self.put_all("in", but=["bad"])

        def work(name):
            done = self.run_quietly("dump", f"in/{name}.{self.ending}")
            if done.returncode:
                return name, done.stderr
            found = dump_difference(numbers_of.load(done.stdout), self.decode(name, self.cases[name][0]))
            return found and (name, found)
        self.in_parallel(work, names)

    def check_recognised(self):
        """By content: without an extension, and with that of another format."""
        names = self.put_all("in", but=["bad"])

        def work(name):
            for other in ("", ".ani", ".anim", ".anm", ".nanim", ".txt"):
                self.put(f"as/{name}{other}", self.cases[name][0])
                done = self.run_quietly("info", f"as/{name}{other}", "--json")
                if done.returncode or json.loads(done.stdout)["format"] != self.id:
                    return name, other, done.stderr
        self.in_parallel(work, names[::7])

    def check_rules(self):
        self.put_all("clean", "clean")
        self.keyferry("check", "clean")

        def work(name):
            done = self.run_quietly("check", f"odd/{name}.{self.ending}")
            return (done.returncode != 1 or b"offset 0x" not in done.stdout) and (name, done.stdout, done.stderr)
        self.in_parallel(work, self.put_all("odd", "odd"))

    def check_refused(self):
        def work(name):
            path = f"bad/{name}.{self.ending}"
            for words in (["convert", path, f"{name}.fbx", "--from", self.id], ["check", path, "--from", self.id]):
                done = self.run_quietly(*words)
                if done.returncode != 1 or b"offset 0x" not in done.stdout + done.stderr:
                    return name, words, done.returncode, done.stdout, done.stderr
            done = self.run_quietly("info", path)  # and nobody else takes it
            if done.returncode != 1 or (self.dir / f"{name}.fbx").exists():
                return name, done.stdout
        self.in_parallel(work, self.put_all("bad", "bad"))

    def check_restored(self, *options, keep="--no-sidecar"):
        """There and back with the original beside or inside the FBX: every byte."""
        names = self.put_all("in", but=["bad"])
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", keep, *options)
        self.keyferry("convert", "fbx", "out/", "--to", self.id)
        out = self.back("out")
        self.assertEqual(sorted(out), sorted(names))
        self.none([name for name in names if out[name] != self.cases[name][0]])

    def check_verified(self, *options):
        self.put_all("in", but=["bad"])
        self.keyferry("verify", "in", *options)

    def edit(self, name, change, *there, back=()):
        """A case with its FBX edited as text: what it was, what it is, and what was said."""
        self.put(f"x.{self.ending}", self.cases[name][0])
        self.keyferry("convert", f"x.{self.ending}", "x.fbx", "--ascii", "-y", *there)
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        said = self.keyferry("convert", "x.fbx", f"y.{self.ending}", "-y", *back).err
        return self.cases[name][0], (self.dir / f"y.{self.ending}").read_bytes(), said
