"""Poses of what is made anew: what stands in the scene without keys is written, or told of."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
from command import DOOR, Case  # noqa: E402

MOVE = ([(0, 0), (1, 10)], [(0, 0), (1, 0)], [(0, 0), (1, 0)])
NOTE = "stand elsewhere than their parents where they have no keys"


class Poses(Case):
    def said(self, id, nodes):
        self.put("made.fbx", fbxmade.scene(nodes).encode())
        return self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y").err

    def test_of_parts(self):
        for channel, name, value in (("R", "rotation", (0, 0, 30)), ("S", "scale", (1, 2, 1))):
            said = self.said("x4-ani", {"hip": {"rest": {channel: value}, "T": MOVE}, "arm": {"R": MOVE}})
            self.assertIn(f'note: 1 nodes {NOTE}: the file has no poses, only what moves (first: node "hip", {name})', said)
        self.assertIn('(first: node "hip", translation)', self.said("x4-ani", {"hip": {"rest": {"T": (1, 2, 3)}, "R": MOVE}}))

    def test_no_pose(self):
        """It has keys, or does not come into the file."""
        self.assertNotIn(NOTE, self.said("x4-ani", {"hip": {"rest": {"T": (1, 2, 3)}, "T": MOVE}, "lamp": {"rest": {"T": (1, 2, 3)}}}))
        self.assertNotIn(NOTE, self.said("nytro-anim", {"hip": {"rest": {"T": (1, 2, 3)}, "R": MOVE}}))
        self.keyferry("convert", DOOR, "door.fbx", "--no-capsule", "--no-sidecar")
        self.assertNotIn(NOTE, self.keyferry("convert", "door.fbx", "door.ani").err)


if __name__ == "__main__":
    unittest.main()
