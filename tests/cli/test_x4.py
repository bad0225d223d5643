#!/usr/bin/env python3
"""X4: Foundations files through the command: there, back, edited, broken. The files come from tests/generate/x4_ani.py
and are judged by tests/decode/x4_ani.py, neither of which shares a line with the command."""
import concurrent.futures
import importlib.util
import os
import random
import re
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["KEYFERRY"]
SOURCE = os.environ["KEYFERRY_SOURCE"]
TICKS = 46186158000 # a second in FBX


def module(path, name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(SOURCE, path))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


fbxtext = module("tests/lib/fbxtext.py", "fbxtext")
generate = module("tests/generate/x4_ani.py", "generate_x4")
decoder = module("tests/decode/x4_ani.py", "decode_x4")
CASES = {name: (data, tags) for name, data, tags in generate.cases(1)}


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, timeout=float(os.environ.get("KEYFERRY_TEST_TIMEOUT", 120)))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def in_parallel(work, items):
    """Each item's complaint, if it has one."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [complaint for complaint in pool.map(work, items) if complaint]


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, (data, _) in CASES.items():
            write(cls.path(name + ".ani"), data)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def good(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, (arguments, result.stderr.decode(errors="replace")))
        return result

    def none(self, complaints):
        self.assertFalse(complaints, "%d of them:\n%s" % (len(complaints), "\n".join(map(str, complaints[:10]))))


class Samples(unittest.TestCase):
    def test_samples_are_the_generators(self):
        kept = os.path.join(SOURCE, "tests/data/x4-ani")
        made = {name + ".ani": data for name, (data, tags) in CASES.items() if generate.kept(name, tags)}
        self.assertEqual(sorted(made), sorted(n for n in os.listdir(kept) if n.endswith(".ani")))
        for name, data in made.items():
            self.assertEqual(read(os.path.join(kept, name)), data, name)


class Reading(Folder):
    def test_dump_is_what_the_second_decoder_reads(self):
        def work(name):
            result = run("dump", self.path(name + ".ani"))
            if result.returncode:
                return name, result.stderr
            if decoder.load(result.stdout) != decoder.decode(CASES[name][0]):
                return name, "differs"
        self.none(in_parallel(work, CASES))

    def test_check(self):
        def work(name):
            result = run("check", self.path(name + ".ani"))
            expected = 0 if "clean" in CASES[name][1] else 1
            if result.returncode != expected:
                return name, result.returncode, result.stderr, result.stdout
        self.none(in_parallel(work, CASES))


class Restored(Folder):
    """Nothing edited: every byte comes back, whatever kept the original."""
    KEPT_BY = {"capsule": (["--no-sidecar"], []), "sidecar": (["--no-capsule"], []),
               "base": (["--no-capsule", "--no-sidecar"], ["--base"])}
    WRITTEN = {"7400": ["--fbx-version", "7400"], "7500": ["--fbx-version", "7500"], "ascii": ["--ascii"]}

    def there_and_back(self, item):
        name, kept_by, written, more = item
        source = self.path(name + ".ani")
        out, back = self.KEPT_BY[kept_by]
        with tempfile.TemporaryDirectory(dir=self.folder.name) as folder:
            fbx, result = os.path.join(folder, "x.fbx"), os.path.join(folder, "x.ani")
            there = run("convert", source, fbx, *self.WRITTEN[written], *out, *more)
            if there.returncode:
                return item, "there", there.stderr
            if os.path.exists(fbx + ".kf") != (kept_by == "sidecar"):
                return item, "sidecar there or not"
            again = run("convert", fbx, result, "--to", "x4-ani", *([*back, source] if back else []))
            if again.returncode:
                return item, "back", again.stderr
            if read(result) != CASES[name][0]:
                return item, "not byte for byte", again.stderr

    def restore(self, *items):
        self.none(in_parallel(self.there_and_back, items))

    def test_capsule(self):
        self.restore(*((name, "capsule", written, []) for name in CASES for written in self.WRITTEN))

    def test_sidecar(self):
        self.restore(*((name, "sidecar", written, []) for name in CASES for written in self.WRITTEN))

    def test_base(self):
        self.restore(*((name, "base", written, []) for name in CASES for written in self.WRITTEN))

    def test_base_of_an_fbx_written_otherwise(self):
        """Nothing in the FBX tells its options once the capsule is gone, nor need the user."""
        names = ("door", "turret", "mix_tcb_ease", "mix_tcb_even", "tame_known", "interp_7", "full_turns")
        self.restore(*((name, "base", "7500", more) for name in names
                       for more in (["--tcb", "slopes"], ["--for", "maya"], ["--for", "blender"], ["--bake"])))

    def test_slopes(self):
        self.restore(*((name, "capsule", "7500", ["--tcb", "slopes"]) for name in CASES))


class Rebuilt(Folder):
    """No original: what FBX can hold comes back within tolerance, the rest was warned of."""

    def rebuild(self, name, *options):
        with tempfile.TemporaryDirectory(dir=self.folder.name) as folder:
            fbx, back = os.path.join(folder, "x.fbx"), os.path.join(folder, "x.ani")
            there = run("convert", self.path(name + ".ani"), fbx, "--no-capsule", "--no-sidecar", *options)
            if there.returncode:
                return there, None
            again = run("convert", fbx, back)
            if again.returncode:
                return again, None
            return there, run("diff", self.path(name + ".ani"), back)

    def test_exact(self):
        def work(name):
            there, result = self.rebuild(name)
            if not result or result.returncode or b"warning" in there.stderr:
                return name, there.stderr, result and result.stdout
        self.none(in_parallel(work, [n for n, (_, tags) in CASES.items() if "exact" in tags]))

    def test_slopes_hold_the_shape_with_ease(self):
        def work(name):
            there, result = self.rebuild(name, "--tcb", "slopes")
            if not result or result.returncode:
                return name, there.stderr, result and result.stdout
        self.none(in_parallel(work, ["mix_tcb_ease", "mix_tcb_even", "interp_7", "tame_known", "door"]))

    def test_losses_are_named(self):
        for name, word in (("mix_tcb_ease", b"ease"), ("handles_odd", b"handles"), ("not_finite", b"finite"),
                           ("interp_3", b"interpolation 3"), ("interp_4", b"interpolation 4")):
            there, _ = self.rebuild(name)
            self.assertIn(word, there.stderr, name)

    def test_verify(self):
        def work(name):
            result = run("verify", self.path(name + ".ani"))
            if result.returncode:
                return name, result.stdout, result.stderr
        self.none(in_parallel(work, [n for n, (_, tags) in CASES.items() if "clean" in tags]))

    def test_rebuilt_file_is_well_formed(self):
        fbx, back = self.path("fresh.fbx"), self.path("fresh_back.ani")
        self.good("convert", self.path("door.ani"), fbx, "--no-capsule", "--no-sidecar")
        self.good("convert", fbx, back)
        data = read(back)
        count, offset, version, padding = struct.unpack_from("<4i", data)
        self.assertEqual((offset, version, padding), (16 + 160 * count, 1, 0))
        decoder.decode(data)
        self.good("check", back)


class Elsewhere(Folder):
    """An FBX that no original belongs to: a valid file with the FBX's own motion, and word of what was chosen."""

    def made(self, name, change=None, *options):
        """The FBX of a case as if it were made elsewhere, changed, and what was said on the way back."""
        fbx, back = self.path(name + "_else.fbx"), self.path(name + "_else.ani")
        self.good("convert", self.path(name + ".ani"), fbx, "--ascii", "--no-capsule", "--no-sidecar", "-y")
        scene = fbxtext.Scene(read(fbx).decode().replace("keyferry_", "scene_")) # below no node of ours
        if change:
            change(scene)
        write(fbx, scene.text().encode())
        said = self.good("convert", fbx, back, "-y", *options).stderr.decode()
        self.good("check", back)
        return fbx, back, said

    def test_motion_of_tcb_keys(self):
        """By FBX's rule, which is not the game's: numbers by default, with a warning; the motion if asked for."""
        fbx, back, said = self.made("mix_tcb_even")
        self.assertIn("--tcb slopes keeps the motion", said)
        self.assertEqual(run("diff", fbx, back).returncode, 1)
        fbx, back, said = self.made("mix_tcb_even", None, "--tcb", "slopes")
        self.assertNotIn("warning", said)
        self.good("diff", fbx, back)
        self.assertNotIn(b'"tcb"', run("dump", back).stdout)

    def test_times_that_32_bits_cannot_tell_apart(self):
        """Two keys of one time are one to the game."""
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("move", "part_0", "Lcl Translation", axis)
                for key in curve.keys:
                    key.time += 1000 * TICKS
                after = fbxtext.Key(curve.keys[2].time + TICKS // 200000, curve.keys[2].value + 1, 4, [0] * 4)
                curve.keys.insert(3, after)
                curve.store()
        _, back, _ = self.made("interp_2", change)
        data = read(back)
        at = 16 + 160 * struct.unpack_from("<i", data)[0] + 24
        a, b = (struct.unpack_from("<f", data, at + 128 * k)[0] for k in (2, 3))
        self.assertTrue(0 < b - a < 1e-3, (a, b))

    def test_start(self):
        """A take that does not begin at 0 s is moved there, and that is told."""
        def change(scene):
            for curve in scene.curves().values():
                for key in curve.keys:
                    key.time += 2 * TICKS
                curve.store()
            for take in scene.takes().values():
                for prop in take.first("Properties70").all("P"):
                    if prop.values[0] in ('"LocalStart"', '"ReferenceStart"', '"LocalStop"', '"ReferenceStop"'):
                        prop.values[4] = str(int(prop.values[4]) + 2 * TICKS)
        _, back, said = self.made("tame_bezier", change)
        self.assertRegex(said, 'note: take "move" begins at 2 s')
        self.good("diff", self.path("tame_bezier.ani"), back)

    def test_pre_scale_without_post_scale(self):
        fbx, back = self.path("pre.fbx"), self.path("pre.ani")
        self.good("convert", self.path("pre_scale_alone.ani"), fbx, "--no-capsule", "--no-sidecar")
        said = self.good("convert", fbx, back).stderr.decode()
        self.assertRegex(said, "warning: .*4 pre-scale keys and 0 post-scale keys")

    def test_ease_late_in_a_long_take(self):
        """The keys that tell ease lie where 32 bits can tell them apart."""
        keys = [generate.key(generate.f32(190 + 0.05 * i), (i % 3, i % 2, -i % 5), generate.TCB,
                             tcb=(0.25, 0.0, 0.5, 0.3, 0.4)) for i in range(12)]
        path = write(self.path("late.ani"), generate.ani([generate.description("a", "x", 191.0, pos=keys)]))
        self.good("verify", path, "--tcb", "slopes")
        fbx, back = self.path("late.fbx"), self.path("late_back.ani")
        self.good("convert", path, fbx, "--tcb", "slopes", "--no-capsule", "--no-sidecar")
        self.good("convert", fbx, back)
        self.good("check", back)

    def test_takes_without_any_key(self):
        """A file of descriptions without keys is one that the format knows."""
        fbx, back = self.path("keyless.fbx"), self.path("keyless_back.ani")
        self.good("convert", self.path("keyless.ani"), fbx, "--no-capsule", "--no-sidecar")
        said = self.good("convert", fbx, back).stderr.decode()
        self.assertEqual(said.count("has no keys: kept as an empty description"), 2, said)
        self.good("check", back)
        data = read(back)
        self.assertEqual(len(data), 16 + 2 * 160)
        self.assertEqual([data[16 + 160 * i + 64:].split(b"\0")[0] for i in range(2)], [b"idle", b"work"])

    def test_names_without_room_for_their_end(self):
        keys = [generate.key(0.0, (1, 2, 3)), generate.key(1.0, (2, 3, 4), generate.STEP)]
        path = write(self.path("n64.ani"), generate.ani([generate.description(b"N" * 64, b"S" * 64, 1.0, pos=keys)]))
        self.assertIn("was cut after 63", self.good("verify", path).stderr.decode())

    def test_steep_ease_at_any_time(self):
        """Within tolerance where 32-bit times can hold it, else a warning with node and time, which is an error if asked."""
        coarse = r'warning: node "a", take "x", position at \d+\.\d+ s: the 32-bit times of the format are too coarse'
        for start, steep, warns in ((1, 5, False), (157, 5, False), (157, 1000, False), (1, 1000, False), (600, 40, None),
                                    (2000, 100, None), (5000, 1000, True)):
            rng = random.Random(start)
            keys, time = [], start
            for _ in range(150):
                numbers = [rng.uniform(-1, 1) for _ in range(3)] + [rng.uniform(0.3, 1) for _ in range(2)]
                keys.append(generate.key(generate.f32(time), [rng.uniform(-steep, steep) for _ in range(3)], generate.TCB,
                                         tcb=numbers))
                time += rng.uniform(0.01, 0.05)
            path = write(self.path("steep.ani"), generate.ani([generate.description("a", "x", time, pos=keys)]))
            said = self.good("verify", path, "--tcb", "slopes").stderr.decode()
            fbx, back = self.path("steep.fbx"), self.path("steep_back.ani")
            self.good("convert", path, fbx, "--tcb", "slopes", "--no-capsule", "--no-sidecar", "-y")
            self.good("diff", path, fbx)
            if re.search(coarse, said) is None:
                self.assertFalse(warns, (start, steep))
                self.good("convert", fbx, back, "-y", "--strict")
                self.good("diff", path, back)
            else:
                self.assertNotEqual(warns, False, (start, steep, said))
                self.assertRegex(self.good("convert", fbx, back, "-y").stderr.decode(), coarse)
                self.assertEqual(run("convert", fbx, back, "-y", "--strict").returncode, 1)
            self.good("check", path)


class Edited(Folder):
    """One thing changed in the FBX: one record changes in the file."""
    CURVE = re.compile(r"\tAnimationCurve: .*?\n\t\}\n", re.S)

    def edit(self, name, array, change, curves=1):
        """Changes an array of the first curves of the ASCII FBX; returns the file before and after."""
        fbx, back = self.path(name + "_edit.fbx"), self.path(name + "_edit.ani")
        self.good("convert", self.path(name + ".ani"), fbx, "--ascii", "-y")
        text = read(fbx).decode()
        for match in list(self.CURVE.finditer(text))[:curves]:
            block = match.group(0)
            numbers = re.search(r"(\b%s: \*\d+ \{\s*a: )([^}]*?)(\s*\})" % array, block)
            values = change([v.strip() for v in numbers.group(2).split(",")])
            edited = block.replace(numbers.group(0), numbers.group(1) + ",".join(values) + numbers.group(3))
            self.assertNotEqual(edited, block)
            text = text.replace(block, edited)
        write(fbx, text.encode())
        self.good("convert", fbx, back, "-y")
        return CASES[name][0], read(back)

    def differences(self, before, after):
        """Which key records differ, in which of their bytes, and which other bytes of the file do."""
        self.assertEqual(len(before), len(after))
        keys = 16 + 160 * struct.unpack_from("<i", before)[0]
        differ = [i for i in range(len(before)) if before[i] != after[i]]
        records = sorted({(i - keys) // 128 for i in differ if i >= keys})
        return records, {(i - keys) % 128 for i in differ if i >= keys}, [i for i in differ if i < keys]

    def one_record(self, before, after, fields):
        records, changed, others = self.differences(before, after)
        self.assertEqual((len(records), others), (1, []), (records, changed))
        self.assertTrue(changed and changed <= set(fields), changed)
        return 16 + 160 * struct.unpack_from("<i", before)[0] + 128 * records[0]

    def test_value(self):
        def change(values):
            return [values[0], repr(float(values[1]) + 1)] + values[2:]
        for name in ("interp_1", "interp_2", "interp_5", "interp_6", "interp_7", "door"):
            with self.subTest(name):
                before, after = self.edit(name, "KeyValueFloat", change)
                # x: its value, and its control points' values
                self.one_record(before, after, [*range(0, 4), *range(32, 36), *range(40, 44)])

    def test_time(self):
        def change(values):
            return [values[0], str(int(values[1]) + TICKS // 100)] + values[2:]
        for name in ("interp_1", "interp_2", "interp_7"):
            with self.subTest(name):
                # The format has one time for x, y and z.
                before, after = self.edit(name, "KeyTime", change, curves=3)
                self.one_record(before, after, range(24, 76))
        # Handles are shares of their segments in the FBX: those that lean on the key from both sides have other lengths now.
        out, arriving = ({at + 16 * c + i for c in range(3) for i in range(8)} for at in (28, 36))
        for name in ("interp_5", "interp_6", "door"):
            with self.subTest(name):
                before, after = self.edit(name, "KeyTime", change, curves=3)
                records, _, others = self.differences(before, after)
                self.assertEqual((records, others), ([0, 1, 2], []))
                at = 16 + 160 * struct.unpack_from("<i", before)[0]
                for record, may in zip(records, (out, set(range(24, 76)), arriving)):
                    differ = {i for i in range(128) if before[at + 128 * record + i] != after[at + 128 * record + i]}
                    self.assertTrue(differ and differ <= may, (record, differ))
                if name == "interp_6":  # the others have handles and TCB keys that FBX bends
                    self.good("diff", self.path(name + "_edit.fbx"), self.path(name + "_edit.ani"))

    def test_tangent(self):
        def change(values):
            slope = struct.unpack("<f", struct.pack("<I", int(values[0]) & 0xFFFFFFFF))[0] + 2.5
            return [str(struct.unpack("<i", struct.pack("<f", slope))[0])] + values[1:]
        for name in ("interp_5", "interp_6"):
            with self.subTest(name):
                before, after = self.edit(name, "KeyAttrDataFloat", change)
                self.one_record(before, after, range(28, 36)) # x: control point 1

    def test_tcb(self):
        def change(values):
            return [str(struct.unpack("<i", struct.pack("<f", 0.625))[0])] + values[1:]
        before, after = self.edit("mix_tcb_even", "KeyAttrDataFloat", change, curves=3)
        at = self.one_record(before, after, range(76, 80))
        self.assertEqual(struct.unpack_from("<f", after, at + 76)[0], 0.625)

    def test_last_key_moved_out(self):
        def change(values):
            return values[:-1] + [str(int(values[-1]) + TICKS * 20)]
        before, after = self.edit("interp_2", "KeyTime", change, curves=3)
        records, changed, others = self.differences(before, after)
        self.assertEqual(len(records), 1)
        self.assertTrue(others and all(16 + 148 <= i < 16 + 152 for i in others), others) # its Duration follows
        last = struct.unpack_from("<f", after, 16 + 160 * 3 + 128 * records[0] + 24)[0]
        self.assertEqual(struct.unpack_from("<f", after, 16 + 148)[0], last)


class Broken(Folder):
    def refused(self, data, field, offset):
        source, out = write(self.path("broken.ani"), data), self.path("broken.fbx")
        write(out, b"what was there")
        for arguments in (["convert", source, out, "-y"], ["dump", source], ["verify", source], ["check", source],
                          ["info", source]):
            result = run(*arguments)
            text = (result.stderr + (result.stdout if arguments[0] in ("check", "verify") else b"")).decode()
            self.assertEqual(result.returncode, 1, (arguments, text))
            self.assertIn(field, text, arguments)
            self.assertIn("offset 0x%x" % offset, text, arguments)
        self.assertEqual(read(out), b"what was there")
        os.remove(out)
        self.assertEqual(run("convert", source, out).returncode, 1)
        left = [n for n in os.listdir(self.folder.name) if n.startswith("broken") or n.startswith(".")]
        self.assertEqual(left, ["broken.ani"])

    def test_bad_files(self):
        door = CASES["door"][0]

        def patched(at, value):
            return door[:at] + struct.pack("<i", value) + door[at + 4:]
        self.refused(patched(0, -1), "NumAnims", 0)
        self.refused(patched(4, 20), "KeyOffsetBytes", 4)
        self.refused(patched(16 + 128, -5), "NumPosKeys", 144)
        self.refused(patched(16 + 160 + 132, 1000000), "NumRotKeys", 308)
        self.refused(door + b"\0\0\0\0", "end of the file", len(door))

    def test_truncated(self):
        door = CASES["door"][0]
        self.refused(door[:-1], "NumScaleKeys", 16 + 160 * 5 + 136)
        self.refused(door[:500], "NumAnims", 0)
        self.refused(door[:10], "header", 0)


if __name__ == "__main__":
    unittest.main()
