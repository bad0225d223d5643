"""Midtown Madness 2 clips made anew for a skeleton: its bones are those that the game moves, in its order."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
from command import Case  # noqa: E402

SKEL = b"NumBones 2\nbone hips {\noffset 0 0.9 0\nbone spine {\noffset 0 0.25 0\n}\n}\n"
ZERO = [(0, 0), (1, 0)]
MOVE = ([(0, 0), (1, 1)], ZERO, ZERO)


def turned(by):
    return [(0, by), (1, by)], ZERO, ZERO


class Rig(Case):
    def made(self, nodes, code=0):
        self.put("ped.skel", SKEL)
        self.put("made.fbx", fbxmade.scene(nodes).encode())
        self.said = self.keyferry("convert", "made.fbx", "made.anim", "-y", "--rig", "ped.skel", code=code).err
        if code:
            return None
        read = self.json("dump", "made.anim", "--rig", "ped.skel")
        names = [node["name"] for node in read["nodes"]]
        return {(names[t["node"]], t["channel"], t["component"]): round(t["keys"][-1]["v"], 4) for t in read["takes"][0]["tracks"]}

    def check(self, nodes):
        ends = self.made(nodes)
        self.assertEqual([ends["hips", "translation", "x"], ends["hips", "rotation", "x"], ends["spine", "rotation", "x"]], [1, 10, 20])

    def test_another_order(self):
        self.check({"spine": {"R": turned(20)}, "hips": {"T": MOVE, "R": turned(10)}})
        self.assertNotIn("warning", self.said)

    def test_other_nodes(self):
        """Groups are no bones; nor is what moves, which is told."""
        self.check({"group": {}, "hips": {"parent": "group", "T": MOVE, "R": turned(10)}, "spine": {"parent": "hips", "R": turned(20)},
                    "tail": {"parent": "spine", "R": turned(30)}})
        self.assertIn('dropped: rotation of node "tail" (take "Take 001", 0.000 s): the clip has no such bone', self.said)
        self.assertNotIn('"group"', self.said)

    def test_missing(self):
        ends = self.made({"hips": {"T": MOVE}})
        self.assertEqual([ends["hips", "translation", "x"], ends["spine", "rotation", "x"]], [1, 0])
        self.assertIn('warning: 1 bones of the skeleton given with --rig have no node of their name, and stand still (first: "spine")', self.said)

    def test_none(self):
        self.made({"foot": {"T": MOVE}}, code=1)
        self.assertIn('no node has the name of a bone of the skeleton given with --rig, such as "hips"', self.said)


if __name__ == "__main__":
    unittest.main()
