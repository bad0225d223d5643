#!/usr/bin/env python3
"""Programs leave out the curves of components that stand still. Nothing is missing then, and the keys that such a component shares
with the others keep its bytes, whatever happened to those."""
import importlib.util
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
from command import SOURCE  # noqa: E402
from editcase import EditCase, by_a_program  # noqa: E402
from fbxtext import TICKS, Key, name_of  # noqa: E402

spec = importlib.util.spec_from_file_location("generate_x4", SOURCE / "tests" / "generate" / "x4_ani.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME, TCB = 1, 2, 5, 6, 7
TIMES = (0.0, 0.5, 1.25, 2.0)
X, Y, Z = (0.0, 1.5, -1.0, 0.25), 0.5, generate.NEGATIVE_ZERO


def points(i, value, rise, reach):
    """Outgoing and incoming handle."""
    after = TIMES[min(i + 1, 3)] - TIMES[min(i, 2)]
    before = TIMES[max(i, 1)] - TIMES[max(i - 1, 0)]
    return (TIMES[i] + reach * after, value + rise * after, TIMES[i] - reach * before, value - rise * before)


def records(interp, bulge=0.0):
    return [generate.key(t, (X[i], Y, Z), STEP if i == 3 else interp,
                         (points(i, X[i], 0.3, 0.25), points(i, Y, bulge, 0.4), points(i, 0.0, 0.0, 0.15)),
                         tcb=(0.2, 0.0, 0.1, 0.0, 0.0) if interp == TCB else (0.0,) * 5) for i, t in enumerate(TIMES)]


class Still(EditCase):
    ending = "ani"

    def use(self, interp, bulge=0.0):
        self.original = generate.ani([generate.description("part", "go", 2.0, pos=records(interp, bulge))])
        self.at = len(self.original) - 4 * 128

    def left_out(self, work, *there, axes="yz", program=True, back=()):
        def change(scene):
            curve = scene.curve("go", "part", "Lcl Translation", "x")
            work(curve)
            curve.store()
            scene.remove(*(scene.curve("go", "part", "Lcl Translation", axis).node for axis in axes))
            # Where it stands is in the node's own transform, and in what ties the curves to that.
            for p in scene.models()["part"].first("Properties70").children:
                if p.values[0] == '"Lcl Translation"':
                    p.values[5] = str(Y)
            for node in scene.objects.all("AnimationCurveNode"):
                for p in node.first("Properties70").children:
                    if p.values[0] == '"d|Y"' and name_of(node) == "T":
                        p.values[4] = str(Y)
            if program:
                by_a_program(scene)
        return self.edit(change, *there, back=back)

    def parts(self, record):
        """What y and z have of a record: values, kinds, handles."""
        return record[4:12] + record[16:24] + record[44:76]

    def check(self, now, rows):
        """These rows are, as far as y and z go, those of the original."""
        for row, was in rows:
            self.assertEqual(self.parts(now[self.at + 128 * row:][:128]), self.parts(self.original[self.at + 128 * was:][:128]), (row, was))

    def test_value(self):
        """All is as if they had come back."""
        def work(curve):
            curve.keys[1].value = 2.0
        for interp in (STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME, TCB):
            self.use(interp)
            for there, program, back in (((), False, ()), ((), True, ("--drop-missing",)), (("--tcb", "slopes"), True, ())):
                whole, said = self.left_out(work, *there, axes="", program=program, back=back), self.said
                for axes in ("y", "yz"):
                    with self.subTest(interp=interp, there=there, axes=axes, program=program, back=back):
                        now = self.left_out(work, *there, axes=axes, program=program, back=back)
                        self.assertEqual(struct.unpack_from("<f", now, self.at + 128), (2.0,))
                        self.check(now, [(i, i) for i in range(4)])
                        self.assertEqual((now, self.said), (whole, said))

    def test_nothing(self):
        for interp in (LINEAR, BEZIER, TCB):
            self.use(interp)
            for back in ((), ("--drop-missing",)):
                self.assertEqual(self.left_out(lambda curve: None, back=back), self.original)
                self.assertNotIn("warning", self.said)
                self.assertIn("0 of 1 tracks changed", self.said)

    def test_deleted_key(self):
        self.use(LINEAR)
        now = self.left_out(lambda curve: curve.remove(1))
        self.assertEqual(len(now), len(self.original) - 128)
        self.check(now, [(0, 0), (1, 2), (2, 3)])

    def test_moved_key(self):
        """Handles go along with their key, so that they are where they were beside it."""
        for interp in (LINEAR, BEZIER):
            self.use(interp)
            now = self.left_out(lambda curve: curve.move(1, TICKS // 4))
            self.assertEqual(len(now), len(self.original))
            self.check(now, [(0, 0), (2, 2), (3, 3)])
            record = now[self.at + 128:][:128]
            self.assertEqual(struct.unpack_from("<f", record, 24), (0.75,))
            self.assertEqual(record[4:12] + record[16:24], self.original[self.at + 132:][:8] + self.original[self.at + 144:][:8])
            was, is_now = (struct.unpack_from("<8f", data, 44) for data in (self.original[self.at + 128:], record))
            for a, b, time in zip(was, is_now, 4 * (True, False)):
                self.assertAlmostEqual(b, a + 0.25 * time, 5)

    def test_new_key(self):
        self.use(LINEAR)
        now = self.left_out(lambda curve: curve.keys.insert(2, Key(TICKS, 0.7, curve.keys[1].flags, curve.keys[1].data)))
        self.assertEqual(len(now), len(self.original) + 128)
        self.check(now, [(0, 0), (1, 1), (3, 2), (4, 3)])
        self.assertEqual(struct.unpack_from("<3f", now, self.at + 256)[1:], (Y, 0.0))

    def test_not_still(self):
        """Between two keys of one value a curve may go elsewhere: then it is missing."""
        self.use(BEZIER, bulge=0.8)
        now = self.left_out(lambda curve: setattr(curve.keys[1], "value", 2.0), axes="y")
        self.assertIn('warning: take "go", node "part": translation y did not come back and stays as it was', self.said)
        self.check(now, [(i, i) for i in range(4)])

    def test_baked(self):
        for interp in (LINEAR, BEZIER, TCB):
            self.use(interp)

            def later(curve):
                for key in curve.keys[4:12]:
                    key.value += 0.5
            now = self.left_out(later, "--for", "blender")
            keys = {now[at + 24:at + 28]: now[at:at + 128] for at in range(self.at, len(now), 128)}
            for i in (2, 3):
                was = self.original[self.at + 128 * i:][:128]
                self.assertEqual(self.parts(keys[was[24:28]]), self.parts(was))

    def test_a_last_key_that_says_nothing(self):
        """The others have theirs, and without its own it stands where that was: the file is the same, and nothing is counted."""
        keys = [generate.key(t, (x, t, Z), STEP if t == 2 else LINEAR) for t, x in zip(TIMES, (0.0, 1.5, 0.25, 0.25))]
        self.original = generate.ani([generate.description("part", "go", 2.0, pos=keys)])
        for value, changed in ((0.25, 0), (0.5, 1)):
            with self.subTest(value=value):
                def work(curve):
                    curve.keys[2].value = value
                    curve.remove(3)
                now = self.left_out(work, axes="", program=False)
                self.assertEqual(now != self.original, changed == 1)
                self.assertIn(f"{changed} of 1 tracks changed", self.said)
                self.assertEqual("keys changed" in self.said, changed == 1, self.said)


class New(EditCase):
    """Keys of what is new that say no more than the file says without them: none is written, and that is told once for a take. Of what
    has been there they say nothing, and a program that writes samples has them of everything."""
    ending = "ani"
    original = generate.ani([
        generate.description("part", "go", 1.0, pos=[generate.key(0.0, (0, 0, 0)), generate.key(1.0, (5, 0, 0), STEP)]),
        generate.description("rests", "go", 1.0, pos=[generate.key(0.0, (0, 0, 0)), generate.key(1.0, (0, 0, 0), STEP)],
                             rot=[generate.key(0.0, (0, 0, 0), STEP)])])
    TOLD = r'note: take "%s": the keys of %d channels of a new %s stand still where it is without them, and are not written ' \
           r'\(first: node "%s", translation\)'

    def told(self, change, *what):
        for there in (), ("--for", "blender"):
            self.assertEqual(self.edit(change, *there), self.original)
            self.assertRegex(self.said, self.TOLD % what)
            self.assertEqual(self.said.count("stand still"), 1)
            self.edit(change, *there, back=("--strict",))

            for program, samples in ("Blender", True), ("Program", there != ()):
                self.edit(lambda scene: (change(scene), by_a_program(scene, program)), *there)
                self.assertEqual("stand still" not in self.said, samples, self.said)

    def test_node(self):
        self.told(lambda scene: scene.clone("rests", "new"), "go", 2, "node", "new")

    def test_nodes(self):
        self.told(lambda scene: (scene.clone("rests", "new"), scene.clone("rests", "more")), "go", 4, "node", "new")

    def test_part_of_a_new_take(self):
        for there in (), ("--for", "blender"):
            now = self.edit(lambda scene: scene.clone_take("go", "run"), *there)
            self.assertRegex(self.said, self.TOLD % ("run", 2, "take", "rests"))
            self.assertIn('added: take "run", node "part", translation', self.said)
            self.assertEqual(struct.unpack_from("<I", now), (3,))

    def test_what_has_been_there(self):
        """A channel of a node of the file, keyed at rest by a program that keys all of them."""
        def change(scene):
            scene.copy_all(next(n for n in scene.objects.all("AnimationCurveNode") if ("rests", "Lcl Rotation") in
                                [(name_of(scene.by_id[to]), what) for to, what in scene.up[n.values[0]] if what]),
                           '"AnimCurveNode::R"', ("AnimationCurve",))
            made = scene.objects.all("AnimationCurveNode")[-1].values[0]
            part = scene.models()["part"].values[0]
            for link in scene.root.first("Connections").all("C"):
                if link.values[1] == made and len(link.values) > 3:
                    link.values[2] = part
        self.assertEqual(self.edit(change), self.original)
        self.assertNotIn("note", self.said)
        self.assertNotIn("warning", self.said)


if __name__ == "__main__":
    unittest.main()
