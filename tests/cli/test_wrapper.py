"""The node above all others, whose transform turns the game's axes and unit into FBX's, and what artists do to it."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import DOOR  # noqa: E402
from editcase import EditCase, add  # noqa: E402


def wrapper(scene):
    return next(node for name, node in scene.models().items() if name.startswith("keyferry_"))


class Renamed(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def rename(self, scene):
        wrapper(scene).values[1] = '"Model::axes"'

    def test_known_by_its_capsule(self):
        self.assertEqual(self.edit(self.rename, "--no-sidecar"), self.original)
        self.assertIn("0 of 8 tracks changed", self.said)

    def test_an_edit_below_it(self):
        def change(scene):
            self.rename(scene)
            (take, node, prop, axis), _ = next(c for c in sorted(scene.curves().items()) if c[0][2] == "Lcl Translation")
            add(scene, (take, node, prop, axis), 0, 2.0)
        self.assertNotEqual(self.edit(change, "--no-sidecar"), self.original)
        self.assertIn("1 keys changed, 0 added, 0 removed", self.said)

    def test_known_by_its_children(self):
        """Renamed, and its property lost: the sidecar tells the original, and the nodes have their names."""
        self.assertEqual(self.edit(self.rename, "--no-capsule"), self.original)


if __name__ == "__main__":
    unittest.main()
