"""An FBX made by an older version comes back to a newer one, whose importer makes something else of the same bytes: only
what was edited is an edit. And what the scene writer makes of an animation is what its revision says."""
import base64
import json
import os
import re
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
import fitcases  # noqa: E402
from command import SOURCE, Case, sample  # noqa: E402

KEYS = [(0, 1), (1, 2.5), (2, -4)]


class Revision(Case):
    def there(self, plugin):
        self.plugins(plugin)
        self.put("a.smpl", sample(KEYS))
        self.keyferry("convert", "a.smpl", "a.fbx", "--ascii", "-y")
        return fbxtext.Scene((self.dir / "a.fbx").read_text())

    def back(self, plugin, *options):
        self.plugins(plugin)
        self.said = self.keyferry("convert", "a.fbx", "b.smpl", "-y", *options).err
        return (self.dir / "b.smpl").read_bytes()

    def test_the_newer_one_reads_otherwise(self):
        """Else the tests below would show nothing."""
        values = {plugin: [k.value for k in self.there(plugin).curve("take", "sample", "Lcl Translation", "x").keys]
                  for plugin in ("good", "newer")}
        self.assertEqual(values["good"], [1, 2.5, -4])
        self.assertEqual(values["newer"], [0.5, 1.25, -2])
        self.assertEqual(self.back("newer"), sample(KEYS))

    def test_untouched(self):
        self.there("good")
        for base in ((), ("--base", "a.smpl")):
            self.assertEqual(self.back("newer", *base), sample(KEYS))
            self.assertIn("0 of 1 tracks changed", self.said)

    def test_edited(self):
        """In the old one's terms, as the rest of the FBX is."""
        scene = self.there("good")
        curve = scene.curve("take", "sample", "Lcl Translation", "x")
        curve.keys[1].value = 3
        curve.store()
        (self.dir / "a.fbx").write_text(scene.text())
        self.assertEqual(self.back("newer"), sample([(0, 1), (1, 3), (2, -4)]))
        self.assertIn("1 of 1 tracks changed", self.said)

    def test_from_a_newer_one(self):
        """What it made of the bytes cannot be known here: it is said, and an error with --strict."""
        self.there("newer")
        self.back("good")
        self.assertIn("made by a newer version (revision 2 of the importer, here it is 1)", self.said)
        self.keyferry("convert", "a.fbx", "b.smpl", "-y", "--strict", code=1)


class Lowering(Case):
    """What the scene writer adds of its own: helper keys for ease and for slerp, slopes, bakes."""
    FILES = {"ease.ani": fitcases.file_of([(0.0, 1.0, fitcases.TCB, None, (0.3, 0, -0.2, 0, 0.5)),
                                           (0.7, -2.0, fitcases.TCB, None, (0, 0.4, 0, 0.3, 0.2)),
                                           (2.0, 3.0, fitcases.STEP)]),
             "turns.nanim": (SOURCE / "tests" / "data" / "nytro-anim" / "turns.nanim").read_bytes()}
    OPTIONS = ((), ("--tcb", "slopes"), ("--for", "blender"), ("--bake=24",))
    GOLDEN = SOURCE / "tests" / "data" / "lowering.json"

    def made(self):
        """For each curve: how many keys, and sums over them."""
        found = {}
        for name, data in self.FILES.items():
            self.put(name, data)
            for options in self.OPTIONS:
                self.keyferry("convert", name, "a.fbx", "--ascii", "-y", *options)
                for where, curve in fbxtext.Scene((self.dir / "a.fbx").read_text()).curves().items():
                    found[" ".join((name, *options, *map(str, where)))] = [
                        len(curve.keys), sum(k.time / fbxtext.TICKS for k in curve.keys), sum(k.value for k in curve.keys),
                        sum(abs(k.number(0)) + abs(k.number(1)) for k in curve.keys[:-1])]
        return found

    def test_same_as_ever(self):
        """If this fails, what was written yesterday looks edited: raise KFI_LOWERING_REVISION (common/fbx/lower.h), keep what
        the earlier one made for those who ask for it, then run this with KEYFERRY_RENEW=1."""
        made = self.made()
        self.assertGreater(made["ease.ani --tcb slopes go part Lcl Translation x"][0], 3)
        if os.environ.get("KEYFERRY_RENEW"):
            self.GOLDEN.write_text("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in made.items()) + "\n}\n")
        golden = json.loads(self.GOLDEN.read_text())
        self.assertEqual(set(made), set(golden))
        for where, numbers in golden.items():
            self.assertEqual(made[where][0], numbers[0], where)
            for a, b in zip(made[where], numbers):
                self.assertAlmostEqual(a, b, None, where, 1e-5 * max(1, abs(b)))

    def test_from_a_newer_one(self):
        self.put("a.ani", self.FILES["ease.ani"])
        self.keyferry("convert", "a.ani", "a.fbx", "--ascii", "--no-sidecar")
        text = (self.dir / "a.fbx").read_text()
        packed = re.search(r'"keyferry_capsule", "KString", "", "U", "([^"]*)"', text)[1]
        data = base64.b64decode(packed)
        inside = zlib.decompress(data[16:])
        self.assertIn(b" lowering=1\0", inside)
        inside = inside.replace(b" lowering=1\0", b" lowering=9\0")
        data = data[:8] + struct.pack("<2I", len(inside), zlib.crc32(inside)) + zlib.compress(inside)
        (self.dir / "a.fbx").write_text(text.replace(packed, base64.b64encode(data).decode()))
        said = self.keyferry("convert", "a.fbx", "b.ani").err
        self.assertRegex(said, r"made by a newer version \(revision 9 of the scene writer, here it is \d+\)")
        self.keyferry("convert", "a.fbx", "b.ani", "-y", "--strict", code=1)


if __name__ == "__main__":
    unittest.main()
