"""Takes that the original has not got, in formats where each is a file of its own."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import SOURCE, Case  # noqa: E402
from editcase import rename_take  # noqa: E402


class Files(Case):
    def names_for(self, original, *takes):
        """The names of the files that come back, with these takes added to the original's one."""
        ending = original.name.rsplit(".", 1)[1]
        self.put("x." + ending, original.read_bytes())
        self.keyferry("convert", "x." + ending, "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        for i, name in enumerate(takes):
            scene.clone_take("x", f"new {i}")
            rename_take(scene, f"new {i}", name)
        (self.dir / "x.fbx").write_text(scene.text())
        self.keyferry("convert", "x.fbx", "made/", "-y")
        return sorted(p.name for p in (self.dir / "made").iterdir())

    def test_names_that_meet(self):
        self.assertEqual(self.names_for(SOURCE / "tests/data/mm2-anim/two-bones.anim", "a/b", "a_b", "run"),
                         ["a_b.anim", "a_b_2.anim", "run.anim", "x.anim"])
        self.assertEqual(self.names_for(SOURCE / "tests/data/vib-anm/first.anm", "a/b", "a_b")[-3:], ["x.anm", "x_a_b.anm", "x_a_b_2.anm"])

    def test_names_that_no_folder_holds(self):
        self.assertEqual(self.names_for(SOURCE / "tests/data/mm2-anim/two-bones.anim", "", ".b", "a?"),
                         [".b.anim", "a_.anim", "take.anim", "x.anim"])


if __name__ == "__main__":
    unittest.main()
