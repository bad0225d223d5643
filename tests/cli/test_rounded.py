"""What a format of whole numbers makes of motions smaller than these."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
from command import Case  # noqa: E402

STILL = [(0, 0), (1, 0)]


class Rounded(Case):
    def made(self, **curves):
        self.put("made.fbx", fbxmade.scene({"hip": curves}).encode())
        said = self.keyferry("convert", "made.fbx", "made.anm", "--to", "vib-anm", "-y").err
        return said, self.keyferry("convert", "made.fbx", "made.anm", "--to", "vib-anm", "-y", "--strict", code=None).returncode

    def test_too_little(self):
        for channel, name, value, apart in (("T", "translation", 0.4, "1"), ("R", "rotation", 0.04, "0.08789")):
            said, code = self.made(**{channel: ([(0, 0), (1, value)], [(0, value), (1, 0)], STILL)})
            self.assertIn('warning: take "Take 001": 2 curves move by less than the file can tell, and stand still in it '
                          f'(first: node "hip", {name}, by {value}, where numbers are {apart} apart)', said)
            self.assertEqual(code, 1)

    def test_enough(self):
        """And what no number shows, with the size that the values have."""
        for value in (0.6, 1e-5, 0):
            self.assertEqual(self.made(T=([(0, 0), (1, value)], STILL, STILL))[1], 0)
        self.assertEqual(self.made(T=([(0, 1000), (1, 1000.0001)], STILL, STILL))[1], 0)


if __name__ == "__main__":
    unittest.main()
