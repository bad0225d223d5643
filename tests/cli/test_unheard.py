"""What an FBX plays beside the keys of its curves, and a game's file has no room for, is told."""
import importlib.util
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import DOOR, SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program  # noqa: E402

spec = importlib.util.spec_from_file_location("generate_x4", SOURCE / "tests" / "generate" / "x4_ani.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)

LOCK = "anim_door_lock"


def put(scene, node, name, kind, *values):
    """A property of a node, in the place of one of that name."""
    properties = scene.models()[node].first("Properties70")
    properties.children = [p for p in properties.children if p.values[0] != '"%s"' % name]
    added = fbxtext.Node("P")
    added.values = ['"%s"' % name, '"%s"' % kind, '""', '"A"', *map(str, values)]
    properties.children.append(added)


class Unheard(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def told(self, change, sentence, same=True):
        """By whatever program it was done."""
        for program in (False, True):
            def both(scene, program=program):
                change(scene)
                if program:
                    by_a_program(scene)
            now = self.edit(both)
            self.assertRegex(self.said, "warning: " + sentence)
            if same:
                self.assertEqual(now, self.original)
            self.edit(both, back=("--strict",), code=1)

    def test_pivots(self):
        for name in ("PreRotation", "PostRotation", "RotationPivot", "ScalingPivot", "RotationOffset", "ScalingOffset"):
            def change(scene, name=name):
                put(scene, LOCK, "RotationActive", "bool", 1)
                put(scene, LOCK, name, "Vector3D", 90, 0, 0)
            self.told(change, r'1 nodes have turns or pivots beside their curves.*node "anim_door_lock", %s\)' % name)

    def test_no_pivots(self):
        """What is not switched on, or turns by nothing."""
        def change(scene):
            put(scene, LOCK, "PreRotation", "Vector3D", 90, 0, 0)
            put(scene, LOCK, "RotationPivot", "Vector3D", 0, 0, 0)
        self.assertEqual(self.edit(change), self.original)
        self.assertNotIn("warning", self.said)

    def test_pivots_in_a_scene_made_from_nothing(self):
        self.put("x.ani", self.original)
        self.keyferry("convert", "x.ani", "x.fbx", "--ascii", "--no-capsule", "--no-sidecar")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        put(scene, LOCK, "RotationPivot", "Vector3D", 1, 0, 0)
        self.put("x.fbx", scene.text().encode())
        self.assertIn("turns or pivots beside their curves", self.keyferry("convert", "x.fbx", "y.ani", "--to", "x4-ani").err)

    def test_cycles(self):
        for kind in "RKMA":
            def change(scene, kind=kind):
                curve = scene.curve("door_open", LOCK, "Lcl Scaling", "x").node
                after = fbxtext.Node("Post-Extrapolation")
                after.children = []
                for name, value in (("Type", kind), ("Repetition", "-1")):
                    child = fbxtext.Node(name)
                    child.values = [value]
                    after.children.append(child)
                curve.children.append(after)
            self.told(change, r'1 curves go on before or after their keys.*take "door_open", node "anim_door_lock", scale at 0\.6000 s\)')

    def test_layers(self):
        for name, kind, value, said in (("Mute", "bool", 1, "is muted"), ("Weight", "Number", 50, "has not its full weight")):
            def change(scene, name=name, kind=kind, value=value):
                layers = [c for c in scene.objects.children if c.name == "AnimationLayer"]
                properties = layers[0].first("Properties70") or fbxtext.Node("Properties70")
                if properties not in layers[0].children:
                    layers[0].children.append(properties)
                added = fbxtext.Node("P")
                added.values = ['"%s"' % name, '"%s"' % kind, '""', '"A"', str(value)]
                properties.children = [*(properties.children or []), added]
            self.told(change, r'take "door_\w+": its layer "door_\w+" %s in the FBX' % said)


class Orders(EditCase):
    """Another rotation order: what it turns to counts, not the three angles."""
    ending = "ani"
    original = (SOURCE / "tests" / "data" / "x4-ani" / "turret.ani").read_bytes()

    def test_keyed(self):
        self.put("x.ani", self.original)
        anim = self.json("dump", "x.ani")
        turning = next(t["node"] for t in anim["takes"][0]["tracks"] if t["channel"] == "rotation")
        node = anim["nodes"][turning]["name"]
        for program in (False, True):
            def change(scene, program=program):
                put(scene, node, "RotationOrder", "enum", 5)
                if program:
                    by_a_program(scene)
            self.assertEqual(self.edit(change), self.original, self.said)
            self.assertIn("0 of 4 tracks changed", self.said)

    def test_between_keys(self):
        """About one axis it turns as it did, as above; about three it does not, and is fitted anew: on its keys and between them."""
        times = [generate.frame(15 * n) for n in range(6)]
        for interp in (generate.STEP, generate.LINEAR, generate.BEZIER, generate.TCB):
            for size in (0.3, 1.0):
                turns = [(size * math.sin(1.3 * n), size * math.sin(0.7 * n + 1), size * math.cos(n)) for n in range(6)]
                keys = generate.bezier_keys(times, turns) if interp == generate.BEZIER else \
                    [generate.key(time, turn, interp) for time, turn in zip(times, turns)]
                moves = [generate.key(time, turn, generate.LINEAR) for time, turn in zip(times, turns)]
                self.original = generate.ani([generate.description("part", "go", times[-1], pos=moves, rot=keys)])
                for order, edited in ((1, False), (5, True)):
                    def change(scene):
                        put(scene, "part", "RotationOrder", "enum", order)
                        if edited:
                            add(scene, ("go", "part", "Lcl Rotation", "x"), 2, 25)
                    with self.subTest(interp=interp, size=size, order=order, edited=edited):
                        now = self.edit(change)
                        self.keyferry("diff", "x.fbx", "y.ani")
                        self.assertNotIn("warning", self.said)
                        self.assertRegex(self.said, r'note: take "go", node "part": its rotation order is \w+ in the FBX and XYZ in the file')
                        self.assertEqual(now[16 + 160:16 + 160 + 6 * 128], self.original[16 + 160:16 + 160 + 6 * 128])
                        self.assertLess(len(now), len(self.original) + 24 * 128)

    def turned(self, count, gap, size):
        turns = [(size * math.sin(1.3 * n), size * math.sin(0.7 * n + 1), size * math.cos(n)) for n in range(count)]
        times = [generate.f32(gap * n) for n in range(count)]
        self.original = generate.ani([generate.description("part", "go", times[-1], rot=generate.bezier_keys(times, turns))])
        self.edit(lambda scene: put(scene, "part", "RotationOrder", "enum", 5))

    def test_far_apart(self):
        """Whatever it does between looks that are far apart, it plays as in the FBX, or that is told."""
        for size in (1.0, 6.0):
            self.turned(4, 10.0, size)
            same = self.keyferry("diff", "x.fbx", "y.ani", code=None).returncode == 0
            self.assertEqual("will play this otherwise than the FBX shows it" in self.said, not same, self.said)

    def test_too_many(self):
        """A fit would take too long: it is right on the keys, and that it is not between them is told."""
        self.turned(100, 0.5, 1.0)
        self.assertRegex(self.said, r'warning: take "go", node "part": its rotation order is ZYX in the FBX and XYZ in the file: it turns as in the '
                         r"FBX on its keys, and otherwise between them, which are too many to be fitted anew\. Give it its order back, or bake it")
        self.assertIn("100 keys changed, 0 added, 0 removed", self.said)


if __name__ == "__main__":
    unittest.main()
