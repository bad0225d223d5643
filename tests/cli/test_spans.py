"""Spans of takes as other programs write them now and then."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
from command import Case  # noqa: E402

MOVE = ([(0, 0), (1, 10)], [(0, 0), (1, 0)], [(0, 0), (1, 0)])


class Spans(Case):
    def test_one_that_ends_before_it_begins(self):
        """It says nothing: the keys do."""
        self.put("made.fbx", fbxmade.scene({"hip": {"T": MOVE}}, start=1.0, end=0.0).encode())
        for id, ending in (("x4-ani", "ani"), ("nytro-anim", "nanim"), ("ei-anm", "anm"), ("mm2-anim", "anim"), ("vib-anm", "anm")):
            self.assertNotIn("warning", self.keyferry("convert", "made.fbx", f"{id}/", "--to", id).err)
            take = self.json("dump", f"{id}/made.{ending}")["takes"][0]
            self.assertEqual((take["start"], take["end"]), (0, 1), id)
            self.assertEqual([take["tracks"][0]["keys"][i]["v"] for i in (0, -1)], [0, 10], id)

    def test_one_that_ends_between_two_frames(self):
        """Halfway it gets the frame behind it, whether that has an even number or an odd one."""
        for half in (1, 3, 5, 7, 61):
            move = ([(0, 0), (half / 60, 1000)], [(0, 0), (half / 60, 0)], [(0, 0), (half / 60, 0)])
            self.put("made.fbx", fbxmade.scene({"hip": {"T": move}}, rate=60, start=0.0, end=half / 60).encode())
            for id, ending in (("ei-anm", "anm"), ("mm2-anim", "anim"), ("vib-anm", "anm")):
                self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y", "--fps", 30)
                keys = self.json("dump", f"{id}/made.{ending}", "--fps", 30)["takes"][0]["tracks"][0]["keys"]
                self.assertEqual((round(keys[-1]["t"] * 30), keys[-1]["v"]), ((half + 1) // 2, 1000), (id, half))


if __name__ == "__main__":
    unittest.main()
