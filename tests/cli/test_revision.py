"""An FBX made by an older version comes back to a newer one, whose importer makes something else of the same bytes: only
what was edited is an edit."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import Case, sample  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
