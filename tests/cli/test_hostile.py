"""Names and capsules from files that mean harm: whatever they are, the file comes back byte for byte, and nothing is
written outside of the output folder."""
import base64
import os
import random
import re
import resource
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "generate"))
import fbxmade
import mm2_anim
import nytro_anim
import x4_ani
from command import DOOR, PLUGINS, SOURCE, Case

WING = SOURCE / "tests" / "data" / "ei-anm" / "wing.anm"

PATHS = [b".", b"..", b"/", b"\\", b"../x", b"../../x", b"..\\..\\x", b"/tmp/x", b"a/../../b", b"C:\\x", b"C:x", b"~/x", b"a/b",
         b"a\\b", b"x/", b"...", b".hidden", b"-y", b"--help", b"CON", b"nul.ani", b"x.", b"x ", b"*?<>|\""]
BYTES = [b"\xff", b"\xfe\xff", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"a\x80b", b"\xef\xbf\xbd",
         "Дверь".encode("cp1251"), "Рука левая".encode("cp1251"), "нога".encode(), bytes(range(0xc0, 0x100)), "\u202e\u0301".encode()]
SIGNS = [b"", b" ", b"\t", b"\n", b"\r\n", b"\x1b[31m", b"\x7f", b'"', b"&quot;", b"{", b"}", b";", b",", b"a: b", b"Model::x", b"x\x01y",
         b"%s%n%99999999d", b"keyferry_", b"keyferry_00000000", b"keyferry_76917e11|x", b"a|b", b"Take 001", b"#2", b"x#2", b"Lcl Rotation"]
NAMES = PATHS + BYTES + SIGNS
LENGTHS = list(range(65)) + [100, 127, 128, 129, 255, 256, 257, 1000, 4096, 65535, 65536]


class Names(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(1)
        self.x4_keys, self.end = x4_ani.random_keys(rng, 2, [x4_ani.LINEAR])
        self.nytro_keys = nytro_anim.values(rng, nytro_anim.LINEAR, 2, 5, 0, False)
        self.made = {}

    def x4(self, *names):
        return x4_ani.ani([x4_ani.description(node, take, self.end, pos=self.x4_keys) for node, take in names])

    def nytro(self, *names, take=b"walk"):
        return nytro_anim.animation("long", [nytro_anim.node(n, nytro_anim.LINEAR, self.nytro_keys) for n in names], name=take,
                                    author=take)

    def game(self, name, data):
        self.made[name] = data
        self.put(f"in/game/{name}", data)

    def verify(self):
        done = self.keyferry("verify", "in/game")
        self.assertIn(f"{len(self.made)} came back whole, 0 failed", done.err)

    def come_back(self):
        for how in ([], ["--ascii", "--no-capsule"], ["--no-sidecar", "--for", "maya"]):
            self.keyferry("convert", "-y", "in/game", "in/fbx/", *how)
            self.keyferry("convert", "-y", "in/fbx", "in/back/")
            found = {n[len("in/back/"):]: data for n, data in self.files().items() if n.startswith("in/back/")}
            self.assertEqual(found, self.made)
        self.assertEqual({n.split("/")[0] for n in self.names()}, {"in"})
        self.assertEqual({n.split("/")[1] for n in self.names()}, {"game", "fbx", "back"})

    def test_x4(self):
        for i, name in enumerate(NAMES):
            name = name[:63]
            self.game(f"{i:03}.ani", self.x4((name, b"x"), (b"a", name), (name, name)))
        for size in range(64):
            self.game(f"long{size}.ani", self.x4((b"n" * size, b"x"), (b"a", b"\xf1" * size)))
        self.verify()
        # The field is full, without a NUL at its end: rebuilt without the original such a name is cut.
        self.game("long64.ani", self.x4((b"n" * 64, b"x"), (b"a", b"\xf1" * 64)))
        self.come_back()

    def test_nytro(self):
        for i, name in enumerate(NAMES):
            self.game(f"{i:03}.nanim", self.nytro(name, b"a", take=name))
        for size in LENGTHS:
            self.game(f"long{size}.nanim", self.nytro(b"n" * size, b"\xf1" * size, take=b"\xd0" * size))
        self.verify()
        self.come_back()

    def test_all_in_one_file(self):
        """Among them are names that differ only in what FBX cannot hold, and names that come twice or three times."""
        self.game("all.ani", self.x4(*((name[:63], b"take") for name in NAMES * 3), *((b"a", name[:63]) for name in NAMES * 2)))
        self.game("all.nanim", self.nytro(*NAMES * 3, *(b"n" * size for size in range(40)), *[b"same"] * 20))
        self.verify()
        self.come_back()

    def test_takes_apart(self):
        """An FBX for each take: in the folder, whatever the takes are called, and in no more memory than one of them needs."""
        names = [name[:63] for name in dict.fromkeys(NAMES)]
        self.game("all.ani", self.x4(*((b"a", name) for name in names)))
        self.keyferry("convert", "in/game/all.ani", "in/fbx/", "--split-takes", "--max-memory", "24M")
        self.assertEqual(self.names(), sorted(["in/game/all.ani"] + [f"in/fbx/all.take{i + 1:02}.fbx{kind}" for i in range(len(names))
                                                                     for kind in ("", ".kf")]))
        self.keyferry("convert", *(n for n in self.names() if n.endswith(".fbx")), "in/back.ani")
        self.assertEqual((self.dir / "in/back.ani").read_bytes(), self.made["all.ani"])

    def test_names_of_files(self):
        """Formats that hold no names call their nodes and takes by the file's."""
        for format, source in (("ei-anm", "wing.anm"), ("mm2-anim", "two-bones.anim"), ("vib-anm", "first.anm"), ("x4-ani", "door.ani"),
                               ("nytro-anim", "linear.nanim")):
            data = (SOURCE / "tests" / "data" / format / source).read_bytes()
            for i, name in enumerate(n for n in NAMES if not set(n) & set(b"/\\:") and n.strip(b".") and n[0] != 0x2e):
                path = os.fsdecode(b"%d-%s." % (i, name)) + source.split(".")[1]
                self.put(f"in/{format}/{path}", data)
            for how in ([], ["--ascii", "--no-capsule"]):
                self.keyferry("convert", "-y", f"in/{format}", "in/fbx/", "--from", format, *how)
                self.keyferry("convert", "-y", "in/fbx", "in/back/")
                found = {n.split("/")[2]: d for n, d in self.files().items() if n.startswith("in/back/")}
                self.assertEqual(found, {n.split("/")[2]: data for n in self.names() if n.startswith(f"in/{format}/")})
                for n in self.names():
                    if n.startswith(("in/fbx/", "in/back/")):
                        os.remove(self.dir / n)

    def test_very_many(self):
        """Names that are thousands of times the same one, there and back with the memory that is allowed by default."""
        self.game("many.ani", self.x4(*[(b"same", b"take")] * 2000))
        self.game("many.nanim", self.nytro(*[b"same"] * 3000))
        self.verify()
        self.come_back()

    def test_a_rig(self):
        """Bones of a skeleton: the same name twice, and one that is its own parent's."""
        clip = mm2_anim.clip(1, 1, [mm2_anim.channel(15, [[0.1] * 15])])
        for i, names in enumerate([(b"a",) * 4, (b"a", b"b", b"a", b"b"), (b"..", b"../x", b"/x", b"\\"), (b"\xff", b"\xc0", b"a", b"{")]):
            self.put("clip.anim", clip)
            self.put("ped.skel", b"NumBones 4\nbone %s {\n bone %s {\n  bone %s { bone %s { } }\n }\n}\n" % names)
            done = self.keyferry("verify", "--rig", "ped.skel", "clip.anim", code=1 if b"{" in names else 0)
            self.assertTrue(done.out or done.err, i)


class FromFbx(Case):
    """Names that an FBX from anywhere gives to its nodes and takes."""

    def text(self, source):
        self.keyferry("convert", source, "plain.fbx", "--ascii", "--no-capsule", "--no-sidecar")
        text = (self.dir / "plain.fbx").read_bytes()
        for name in ("plain.fbx",):
            os.remove(self.dir / name)
        return text

    def test_into_a_folder(self):
        text = self.text(WING)
        models = set(re.findall(rb'"Model::([^"]+)"', text))
        takes = set(re.findall(rb'"AnimStack::([^"]+)"', text))
        self.assertTrue(models and takes)
        for i, name in enumerate(NAMES):
            if b'"' in name or b"\n" in name or b"\r" in name:
                continue
            made = text
            for old in models:
                made = made.replace(b'"Model::%s"' % old, b'"Model::%s"' % name)
            for old in takes:
                made = made.replace(old + b'"', name + b'"')
            self.put(f"in/fbx/{i:03}.fbx", made)
        for id in ("ei-anm", "x4-ani", "nytro-anim", "mm2-anim", "vib-anm", "fbx"):
            done = self.keyferry_any("convert", "-y", "in/fbx", f"in/out-{id}/", "--to", id)
            self.assertIn(done.returncode, (0, 1))
            self.assertRegex(done.err, r"\d+ converted, \d+ failed")
        self.assertEqual({n.split("/")[0] for n in self.names()}, {"in"})
        self.assertEqual({n.split("/")[1] for n in self.names()} - {"fbx"}, {"out-ei-anm", "out-x4-ani", "out-nytro-anim", "out-fbx"}
                         | {n.split("/")[1] for n in self.names() if n.startswith(("in/out-mm2", "in/out-vib"))})
        self.assertFalse([n for n in self.names() if len(n.split("/")) != 3])

    def test_many_of_one_name(self):
        """Each gets a file, by the next number; neither time nor memory is for trying all numbers over again."""
        def put(name, count):
            scene = fbxmade.scene({f"m{i}": {"T": [[(0, 1), (1, 2)]] * 3} for i in range(count)}, 30, 1)
            self.put(name, re.sub(r"Model::m\d+", "Model::same", scene).encode())
        put("some.fbx", 20)
        self.keyferry("convert", "some.fbx", "out/", "--to", "ei-anm")
        self.assertEqual({n for n in self.names() if n.startswith("out/")}, {"out/same.anm"} | {f"out/same_{i}.anm" for i in range(2, 21)})
        put("many.fbx", 2000)
        self.keyferry("convert", "many.fbx", "out/", "--to", "ei-anm", "--max-memory", "40M", "--dry-run", "-y")

    def test_takes_of_one_name(self):
        """A file for each of them, and one that the folder can hold."""
        scene = fbxmade.scene({"object_000": {"T": [[(0, 1), (1, 2)]] * 3}}, 30, 1)
        for i, name in enumerate(["same", "same", "same_2", "same", "../x", "a:b", ".."]):
            scene = scene.replace("Objects: {", f'Objects: {{\nAnimationStack: {9000 + i}, "AnimStack::{name}", "" {{\n}}\n'
                                  f'AnimationLayer: {9100 + i}, "AnimLayer::x", "" {{\n}}')
            scene = scene.replace("Connections: {", f'Connections: {{\nC: "OO",{9100 + i},{9000 + i}')
        self.put("in/takes.fbx", scene.encode())
        for id, extension in (("mm2-anim", "anim"), ("vib-anm", "anm")):
            self.keyferry("convert", "in/takes.fbx", f"in/{id}/", "--to", id)
            self.assertEqual({n.removeprefix(f"in/{id}/") for n in self.names() if n.startswith(f"in/{id}/")},
                             {f"takes_{name}.{extension}" for name in ("Take 001", "same", "same_2", "same_3", "same_4", ".._x", "a_b", "..")})
        self.assertEqual({n.split("/")[0] for n in self.names()}, {"in"})

    def keyferry_any(self, *words):
        """Whatever the exit code is."""
        for code in (0, 1):
            try:
                done = self.keyferry(*words, code=code)
                return done
            except AssertionError:
                if code:
                    raise


def container(inside, size=None):
    """A sidecar's bytes, made without the library."""
    return b"KFERRY1\n" + struct.pack("<II", len(inside) if size is None else size, zlib.crc32(inside)) + zlib.compress(inside)


class Capsules(Case):
    def setUp(self):
        super().setUp()
        self.keyferry("convert", DOOR, "door.fbx", "--ascii")
        self.inside = zlib.decompress((self.dir / "door.fbx.kf").read_bytes()[16:])
        self.assertEqual(self.inside.count(b"door.ani\0"), 1)
        self.text = (self.dir / "door.fbx").read_bytes()
        self.capsule = re.search(rb"S0ZFUlJZMQ[A-Za-z0-9+/=\s]+", self.text)[0]

    def hostile(self, name):
        """The folder x/in with an FBX and its sidecar, or with the capsule in it, whose original has that name."""
        packed = container(self.inside.replace(b"door.ani\0", name + b"\0"))
        self.put("x/in/beside.fbx", self.text.replace(self.capsule, b""))
        self.put("x/in/beside.fbx.kf", packed)
        self.put("x/in/within.fbx", self.text.replace(self.capsule, base64.b64encode(packed)))

    def test_names_of_originals(self):
        for name in (b"../door.ani", b"../../door.ani", b"/tmp/door.ani", b"..\\..\\door.ani", b"C:\\door.ani", b"a/b/door.ani",
                     b"\xc4\xe2\xe5\xf0\xfc.ani", b"..", b".", b"", b"/", b"x/..", b"../beside.fbx", b"x\x1b[2J.ani"):
            self.hostile(name)
            before = set(self.names())
            for source in "beside", "within":
                self.keyferry_any("convert", f"x/in/{source}.fbx", "x/out/")
                new = set(self.names()) - before
                self.assertTrue(all(n.startswith("x/out/") and n.count("/") == 2 for n in new), (name, new))
                if name.endswith(b"door.ani"):
                    self.assertEqual(new, {"x/out/door.ani"}, name)
                    self.assertEqual((self.dir / "x/out/door.ani").read_bytes(), DOOR.read_bytes())
                for n in new:
                    os.remove(self.dir / n)
        self.assertFalse((SOURCE / "tests/door.ani").exists())

    keyferry_any = FromFbx.keyferry_any

    def test_a_bomb(self):
        """A little that unpacks to a lot stops at the ceiling; one that lies about its size is no capsule."""
        for name in self.names():
            os.remove(self.dir / name)
        size = 100 << 20
        honest = container(b"x4-ani\0" + bytes(size))
        self.assertLess(len(honest), size // 900)
        less, more = container(bytes(size), 1000), container(b"x", 0xffffffff)
        bare = re.sub(rb'(?m)^\s*P: "[^\n]*%s[^\n]*\n' % re.escape(self.capsule), b"", self.text)
        self.assertLess(len(bare), len(self.text) - len(self.capsule))
        for packed, code, why in ((honest, 1, "needs more memory than the limit of 33554432 bytes (raise it with --max-memory)"),
                                  (less, 0, "the compressed data is damaged"), (more, 0, "4294967295 bytes cannot come of 9")):
            self.put("within.fbx", self.text.replace(self.capsule, base64.b64encode(packed)))
            self.put("beside.fbx", bare)
            self.put("beside.fbx.kf", packed)
            for source in "within", "beside":
                done = self.keyferry("convert", "-y", "--max-memory", "32M", f"{source}.fbx", "out.ani", "--to", "x4-ani", code=code)
                self.assertIn(why, done.err, source)
                self.assertEqual((self.dir / "out.ani").exists(), code == 0)
            if code == 0:
                os.remove(self.dir / "out.ani")

    def test_a_format_that_is_a_path(self):
        """Nothing is loaded that a file names: neither by its path, nor from where the file or the program stands."""
        plugin = PLUGINS / "good" / "sample.so"
        for folder in ("", "plugins/", "x/in/"):
            self.put(f"{folder}sample.so", plugin.read_bytes())
        for name in (str(plugin).encode(), b"./sample.so", b"sample", b"sample.so"):
            packed = container(name + self.inside[self.inside.index(b"\0"):])
            self.put("x/in/within.fbx", self.text.replace(self.capsule, base64.b64encode(packed)))
            done = self.keyferry("convert", "-y", "x/in/within.fbx", "x/out.bin", code=1)
            self.assertFalse((self.dir / "x/out.bin").exists())
            shown = name.decode() if len(name) <= 200 else name.decode()[:200] + "..."
            self.assertIn(f'the original is of format "{shown}", which is not here', done.err)
        self.assertNotIn(b"sample", self.keyferry("formats").out)


class Deep(Case):
    """Records within records, far more than any stack holds: refused, on a stack of 512 KiB."""

    @staticmethod
    def text(depth):
        return b"; FBX 7.5.0 project file\nFBXHeaderExtension: {\nFBXVersion: 7500\n}\n" + b"A: {\n" * depth + b"}\n" * depth

    @staticmethod
    def binary(depth):
        """Each record holds the next one, and ends with an empty record of 25 bytes."""
        out = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7500)
        bottom = len(out) + depth * 26
        records = [struct.pack("<QQQB", bottom + 25 * (depth - 1 - i), 0, 0, 1) + b"A" for i in range(depth)]
        return out + b"".join(records) + bytes(25 * depth + 200)

    def test_records(self):
        def small_stack():
            resource.setrlimit(resource.RLIMIT_STACK, (512 << 10, 512 << 10))
        for make in (self.text, self.binary):
            self.put("deep.fbx", make(10))
            self.keyferry("info", "deep.fbx", preexec_fn=small_stack)
            for depth in (100, 1000, 200000):
                self.put("deep.fbx", make(depth))
                for verb in ("info", "check", "dump"):
                    self.assertIn("malformed", self.keyferry_said(verb, small_stack))

    def keyferry_said(self, verb, before):
        done = self.keyferry(verb, "deep.fbx", code=1, preexec_fn=before)
        return done.err + done.out.decode()


if __name__ == "__main__":
    unittest.main()
