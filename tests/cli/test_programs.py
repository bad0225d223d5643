"""What programs make of a scene of their own accord: names with the object's in front, numbers behind them, every node's action
in a take of its own, mirrored scales told by other signs and half a turn. All of it is known for what it was."""
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxtext  # noqa: E402
import test_edits_nytro as nytro  # noqa: E402
import test_wrapper as wrapped  # noqa: E402
from command import SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program, each, rename_take  # noqa: E402
from test_layers import Adding  # noqa: E402

TURRET = (SOURCE / "tests/data/x4-ani/turret.ani").read_bytes()
MOVE, TURN, SCALE = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"


def own_curves(scene, take, node):
    """Leaves in a take what moves one node."""
    for where, curve in scene.curves().items():
        if where[0] == take and where[1] != node:
            scene.remove(curve.node)


class TakeNames(EditCase):
    ending = "ani"
    original = TURRET

    def rename_all(self, name):
        def change(scene):
            by_a_program(scene)
            for take in list(scene.takes()):
                rename_take(scene, take, name % take)
        return self.edit(change)

    def test_the_objects_in_front(self):
        for name in ("Camera|%s", "Camera|%s|Base Layer", "Camera|Camera|%s", "Camera|Camera|%s|Base Layer"):
            self.assertEqual(self.rename_all(name), self.original, self.said)
            self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_the_scenes(self):
        """Blender calls the only take like the scene: nobody has renamed it. Other programs' names are their users'."""
        self.ending, self.original = "nanim", nytro.build()[0]
        for program, renamed in (("Blender", False), ("Program", True)):
            def change(scene, program=program):
                by_a_program(scene)
                head = scene.root.first("FBXHeaderExtension")
                for p in [head, head.first("SceneInfo").first("Properties70")]:
                    for node in p.children:
                        node.values = [v.replace("Program", program) for v in node.values]
                (take, _), = scene.takes().items()
                rename_take(scene, take, "Shot 12")
            self.edit(change, "--for", "blender")
            self.assertEqual('is "Shot 12" now' in self.said, renamed, self.said)

    def test_another_objects_action(self):
        """"Camera|Lamp|idle" shows the camera moved by the lamp's action: nobody wrote that."""
        self.assertEqual(self.rename_all("Camera|Lamp|%s"), self.original, self.said)
        self.assertRegex(self.said, "kept|not carried|did not come back")

    def split_by_node(self, scene, title):
        """As Blender writes actions: a take for each node and take, in which that node moves."""
        by_a_program(scene)
        moving = {(where[0], where[1]) for where in scene.curves()}
        for take in list(scene.takes()):
            nodes = sorted(node for of, node in moving if of == take)
            for node in nodes[1:]:
                scene.clone_take(take, "copy of " + take)
                own_curves(scene, "copy of " + take, node)
                rename_take(scene, "copy of " + take, title % (node, take))
                scene.__init__(scene.text())
            own_curves(scene, take, nodes[0])
            rename_take(scene, take, title % (nodes[0], take))
            scene.__init__(scene.text())

    def test_an_action_for_each_node(self):
        for title in ("%s|%s", "%s|%s|Base Layer"):
            self.assertEqual(self.edit(lambda scene: self.split_by_node(scene, title)), self.original, self.said)
            self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_an_edit_in_one_of_them(self):
        def change(scene):
            take, node, prop, axis = where = min(w for w in scene.curves() if w[2] == MOVE)
            add(scene, where, 0, 2.0)
            self.split_by_node(scene, "%s|%s")
        self.assertNotEqual(self.edit(change), self.original)
        self.assertIn("1 of", self.said)

    def test_its_own_action_before_another_objects(self):
        """"Obj|Obj|Take" is the node's own, "Obj|Take" then the motion of whoever else."""
        def change(scene):
            self.split_by_node(scene, "%s|%s")
            for name in list(scene.takes()):
                node = name.split("|")[0]
                scene.clone_take(name, "own")
                rename_take(scene, "own", node + "|" + name)
                scene.__init__(scene.text())
                for where, curve in scene.curves().items():
                    if where[0] == name:
                        for key in curve.keys:
                            key.value += 7.0
                        curve.store()
        self.assertEqual(self.edit(change), self.original, self.said)
        self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_a_strip_before_the_action(self):
        """A strip has its action's name, and the take that shows it shows all nodes: then what it does to the action counts."""
        def change(scene):
            by_a_program(scene)
            self.where = take, node, prop, axis = min(w for w in scene.curves() if w[0] == "searching" and w[2] == TURN)
            scene.clone_take(take, "own")
            own_curves(scene, "own", node)
            rename_take(scene, "own", "%s|%s|%s" % (node, node, take))
            scene.__init__(scene.text())
            curve = scene.curve(*self.where)
            for key in curve.keys:
                key.value += 2.0
            curve.store()
            rename_take(scene, take, node + "|" + take)
        self.edit(change)
        self.assertIn('changed: take "%s", node "%s", rotation' % self.where[:2], self.said)

    def test_the_scene_shows_one_take_of_each(self):
        """One take is left under the program's name; of a node that has no curves in that take the motion of another."""
        def change(scene):
            by_a_program(scene)
            takes = scene.takes()
            curves = scene.curves()
            of = {name: {w[1] for w in curves if w[0] == name} for name in takes}
            first = max(of, key=lambda name: len(of[name]))
            missing = {node: name for name in takes for node in of[name] - of[first]}
            self.moved = sorted(missing)
            layer = next(c.values[1] for c in scene.root.first("Connections").all("C") if c.values[2] == takes[first].values[0])
            for link in scene.root.first("Connections").all("C"):
                above = scene.by_id.get(link.values[2])
                below = scene.by_id.get(link.values[1])
                if above is None or below is None or above.name != "AnimationLayer" or below.name != "AnimationCurveNode":
                    continue
                owner = next(fbxtext.name_of(scene.by_id[t]) for t, what in scene.up[below.values[0]] if what)
                take = fbxtext.name_of(scene.by_id[scene.up[above.values[0]][0][0]])
                if missing.get(owner) == take:
                    link.values[2] = layer
            scene.__init__(scene.text())
            scene.remove(*[node for name, node in scene.takes().items() if name != first])
            rename_take(scene, first, "Scene")
        self.assertEqual(self.edit(change, "--for", "blender"), self.original, self.said)


class NodeNames(EditCase):
    ending = "nanim"
    original = nytro.build()[0]

    def rename(self, name, new_name):
        def change(scene):
            by_a_program(scene)
            scene.models()[name].values[1] = '"Model::%s"' % new_name
        return self.edit(change)

    def test_a_number_behind(self):
        self.assertEqual(self.rename("arm", "arm.001"), self.original, self.said)
        self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_no_number_behind(self):
        self.rename("arm", "arm.0x1")
        self.assertIn('node "arm.0x1"', self.said)
        self.assertIn("arm.0x1", self.said)

    def test_characters_as_numbers(self):
        """Maya has no names with dots, blanks or a digit in front."""
        odd = self.original.replace(b"arm\0", b"3 .\0")
        for coded, known in (("FBXASC051FBXASC032FBXASC046", True), ("FBXASC0513FBXASC032FBXASC046", False), ("FBXASC05", False)):
            with self.subTest(coded=coded):
                self.original, was = odd, self.original
                self.assertEqual(self.rename("3 .", coded) == odd, known, self.said)
                self.original = was
                self.assertEqual(coded not in self.said, known, self.said)


class Mirrored(EditCase):
    """A node in a mirror: two signs of its scale, which are half a turn about the third axis."""
    ending = "nanim"

    def use(self, scales, turns=()):
        body = b"arm\0" + struct.pack("<4I", nytro.LINEAR, 0, len(turns), len(scales))
        body += b"".join(nytro.key(*k) for k in [*turns, *scales])
        self.original = nytro.build(hip=False, arm=False, more=body, nodes=1)[0]

    def test_signs_and_half_a_turn(self):
        self.use([(0.0, None, (-1, -2, 1)), (1.0, None, (-2, -2, 3))], [(0.0, None, (0, 0, 0, 1)), (1.0, None, (0, 0, 0, 1))])

        def change(scene):
            by_a_program(scene)
            each(scene, "walk", "arm", SCALE, lambda curve: [setattr(k, "value", abs(k.value)) for k in curve.keys])
            turn = scene.curve("walk", "arm", TURN, "z")
            for key in turn.keys:
                key.value += 180.0
            turn.store()
        self.assertEqual(self.edit(change, "--for", "blender"), self.original, self.said)
        self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_where_nothing_turned(self):
        """The half turn comes in a rotation that was not written."""
        self.use([(0.0, None, (-1, -2, 1)), (1.0, None, (-2, -2, 3))])

        def change(scene, *angles):
            by_a_program(scene)
            each(scene, "walk", "arm", SCALE, lambda curve: [setattr(k, "value", abs(k.value)) for k in curve.keys])
            adding = Adding(scene)
            layer = next(c.values[1] for c in scene.root.first("Connections").all("C") if c.values[2] == scene.takes()["walk"].values[0])
            adding.curves(layer, scene.models()["arm"].values[0], TURN, (0, 0, 0))
            scene.__init__(scene.text())
            curve = scene.curve("walk", "arm", TURN, "z")
            for key, value in zip(curve.keys, angles):
                key.value = value
            curve.store()
        self.assertEqual(self.edit(lambda scene: change(scene, 180, 180, 180), "--for", "blender"), self.original, self.said)
        self.assertNotIn("rotation", self.said)
        # Another one is a pose, and one that moves is an edit.
        self.assertEqual(self.edit(lambda scene: change(scene, 90, 90, 90), "--for", "blender"), self.original)
        self.assertIn('node "arm": its rotation is another one, but stands still', self.said)
        self.assertNotEqual(self.edit(lambda scene: change(scene, 180, 90, 60), "--for", "blender"), self.original)
        self.assertIn('added: take "walk", node "arm", rotation', self.said)

    def test_a_pose_in_a_take_that_a_program_called_otherwise(self):
        """It is told by the name that the file has for it, as all else is."""
        self.use([(0.0, None, (1, 2, 1)), (1.0, None, (2, 2, 3))])

        def change(scene):
            by_a_program(scene, "Blender")
            adding = Adding(scene)
            layer = next(c.values[1] for c in scene.root.first("Connections").all("C") if c.values[2] == scene.takes()["walk"].values[0])
            adding.curves(layer, scene.models()["arm"].values[0], TURN, (90, 90, 90))
            rename_take(scene, "walk", "Scene")
        self.assertEqual(self.edit(change, "--for", "blender"), self.original)
        self.assertIn('take "walk", node "arm": its rotation is another one, but stands still', self.said)

    def test_a_scale_of_nothing(self):
        """Its sign is nobody's: two others and half a turn are still the same."""
        self.use([(0.0, None, (-1, 1e-5, 2)), (1.0, None, (-1, 1e-5, 2))], [(0.0, None, (0, 0, 0, 1)), (1.0, None, (0, 0, 0, 1))])

        def change(scene):
            by_a_program(scene)
            each(scene, "walk", "arm", SCALE, lambda curve: [setattr(k, "value", abs(k.value)) for k in curve.keys])
            turn = scene.curve("walk", "arm", TURN, "z")
            for key in turn.keys:
                key.value += 180.0
            turn.store()
        self.assertEqual(self.edit(change, "--for", "blender"), self.original, self.said)


class Unwrapped(EditCase):
    """The node above all is gone, all below is in metres with Z up, and somebody made splines of what were lines."""
    ending = "anm"
    original = (SOURCE / "tests/data/ei-anm/hand.anm").read_bytes()

    def test_rotations_that_are_no_lines(self):
        def change(scene):
            wrapped.unwrap(scene, wrapped.METRES)
            for where, curve in scene.curves().items():
                if where[2] != TURN:
                    continue
                for key, after in zip(curve.keys, curve.keys[1:]):
                    slope = (after.value - key.value) * fbxtext.TICKS / (after.time - key.time)
                    key.flags, key.data[2], key.data[3] = 0xC08, 0x0D050D05, 0  # user's tangents, broken: still straight
                    key.set_number(0, slope)
                    key.set_number(1, slope)
                curve.store()
        self.put("now/x.anm", self.edit(change, "--for", "blender"))
        self.assertIn("note: the node that was above all others is gone", self.said)
        self.keyferry("diff", "x.anm", "now/x.anm")


del nytro.Nytro, nytro.EditCase  # its tests are run there

if __name__ == "__main__":
    unittest.main()
