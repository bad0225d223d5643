"""Memory runs out while an edited FBX comes home: on each way through the code that leads to an allocation there is one
run in which that one fails. It ends with the reason, and leaks nothing. The edits are those of other tests."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import PLUGINS, SOURCE, Case  # noqa: E402

# What leads to the most ways in the least time.
TESTS = {
    "edits_nytro": ["Nytro"],
    "edits_sampled": ["EvilIslands.test_value", "EvilIslands.test_rotation", "EvilIslands.test_key_between_frames",
                      "EvilIslands.test_node_dropped", "EvilIslands.test_node_added", "Midtown.test_value", "Midtown.test_key_added",
                      "Midtown.test_node_added", "VibRibbon.test_value", "VibRibbon.test_node_added"],
    "edits": ["Edits"],
    "baked": ["Standing", "Coarse.test_nothing_edited", "Range.test_elsewhere", "Rate", "LongNames", "BeforeTheFirstKey"],
    "layers": ["Layers", "Actions", "BetweenGames"],
    "wrapper": ["Renamed", "Reparented", "TurnedAllRound.test_undone"],
    "edits_all": ["All.test_take_added", "All.test_diff_by_name"],
    "programs": ["TakeNames", "Mirrored.test_where_nothing_turned", "Unwrapped"],
    "elsewhere": ["Elsewhere"],
    "elements": ["Animated", "OldText"],
    "revision": ["Revision", "Lowering"],
    "fbx": ["Encodings.test_tcb_as_slopes"],
    "several": ["Parts.test_in_none_of_them", "Plain.test_from_another", "Forms.test_deleted_in_one_take_of_several_files"],
    "edits_still": ["Still.test_moved_key"],
    "odd_scenes": ["Fresh", "Shapes"],
}
FAILING = PLUGINS.parent / "keyferry-failing"


@unittest.skipUnless(FAILING.exists(), "the linker cannot put one function in the place of another")
class Memory(Case):
    def setUp(self):
        super().setUp()
        self.ways = self.dir / "ways"
        self.environment.update(KEYFERRY=str(SOURCE / "tests" / "lib" / "failing.sh"), KEYFERRY_WAYS=str(self.ways))

    def found(self):
        return self.ways.stat().st_size // 8 if self.ways.exists() else 0

    def test_every_way(self):
        for name, chosen in TESTS.items():
            before = self.found()
            done = subprocess.run([sys.executable, SOURCE / "tests" / "cli" / f"test_{name}.py", *chosen], env=self.environment,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{name}:\n{done.stderr[-8000:]}")
            self.assertGreater(self.found(), before, f"{name} leads nowhere new")
        self.assertGreater(self.found(), 700)


if __name__ == "__main__":
    unittest.main()
