"""The fit, measured: curves whose keys lie on frames, baked at 30 frames a second, come back as they were; with one region
edited, with few keys more and the rest unchanged to the byte; and samples alone become keys within tolerance."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fitcases  # noqa: E402


class Goal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = fitcases.measure(os.environ["KEYFERRY"])

    def test_untouched(self):
        for r in self.results:
            self.assertTrue(r["same"], r)

    def test_edited(self):
        for r in self.results:
            if r["before"]:
                self.assertLessEqual(r["edited"], 1.2 * r["before"], r)
                self.assertFalse(r["strangers"], r)

    def test_fewer_than_baked(self):
        for r in self.results:
            self.assertLess(r["edited"], r["baked"], r)

    def test_within_tolerance(self):
        for r in self.results:
            self.assertLessEqual(r["error"], 1.001 * r["tolerance"], r)
            if r["before"]:  # between the frames, too, the artist's curve was found again
                self.assertLessEqual(r["between"], 1.001 * r["tolerance"], r)
            elif r["between"] is not None:  # as well as samples can tell
                self.assertLessEqual(r["between"], 1.1 * r["tolerance"], r)

    def test_readme(self):
        """What the README says are these numbers."""
        with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "README.md")) as f:
            told = f.read()
        for line in fitcases.table(self.results).splitlines():
            self.assertIn("|".join(line.split("|")[:6]), told)  # all but the errors


if __name__ == "__main__":
    unittest.main()
