"""What an FBX plays beside the keys of its curves is told of what is new, too: of a file made from nothing, of new nodes and takes."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
import fbxtext  # noqa: E402
from command import DOOR, SOURCE  # noqa: E402
from editcase import EditCase, rename_take  # noqa: E402

LEFT = "anim_door_left"
MOVE = ([(0, 0), (0.5, 1)], [(0, 0), (0.5, 0)], [(0, 0), (0.5, 0)])


def put(object, name, kind, *values):
    properties = object.first("Properties70")
    if not properties:
        properties = fbxtext.Node("Properties70")
        object.children.append(properties)
    properties.children = [p for p in properties.children or [] if p.values[0] != '"%s"' % name]
    added = fbxtext.Node("P")
    added.values = ['"%s"' % name, '"%s"' % kind, '""', '"A"', *map(str, values)]
    properties.children.append(added)


def cycle(curve):
    after = fbxtext.Node("Post-Extrapolation")
    after.children = []
    for name, value in (("Type", "R"), ("Repetition", "-1")):
        child = fbxtext.Node(name)
        child.values = [value]
        after.children.append(child)
    curve.children.append(after)


def layer_of(scene, take):
    links = scene.root.first("Connections").all("C")
    number = next(c.values[1] for c in links if c.values[2] == scene.takes()[take].values[0])
    return scene.by_id[number]


LAYERS = ("Mute", "bool", 1, "is muted"), ("Weight", "Number", 50, "has not its full weight")


class Fresh(EditCase):
    def make(self, id, change):
        scene = fbxtext.Scene(fbxmade.scene({"hip": {"T": MOVE}}, start=0, end=2.0))
        change(scene)
        self.put("made.fbx", scene.text().encode())
        self.said = self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y").err

    def test_layers(self):
        for id in ("x4-ani", "nytro-anim", "ei-anm", "mm2-anim", "vib-anm"):
            for name, kind, value, said in LAYERS:
                self.make(id, lambda scene: put(layer_of(scene, "Take 001"), name, kind, value))
                self.assertIn(f'warning: take "Take 001": its layer "Base" {said} in the FBX: it is taken as if it played in full', self.said)

    def test_cycles(self):
        """Frames have them."""
        for id, told in (("x4-ani", True), ("nytro-anim", True), ("mm2-anim", False)):
            self.make(id, lambda scene: cycle(scene.objects.first("AnimationCurve")))
            self.assertEqual('warning: 1 curves go on before or after their keys, by cycles or slopes, where the game stands still: bake '
                             'them to carry that (first: take "Take 001", node "hip", translation at 0.5000 s)' in self.said, told, self.said)
        keys = self.json("dump", "mm2-anim/made.anim")["takes"][0]["tracks"][0]["keys"]
        self.assertAlmostEqual(keys[25]["v"], 2 / 3, 5)


class Sizes(EditCase):
    """Of nodes without keys of scale."""

    def said_of(self, id, nodes, code=0):
        self.put("made.fbx", fbxmade.scene(nodes).encode())
        return self.keyferry("convert", "made.fbx", f"{id}/", "--to", id, "-y", *(["--strict"] if code else []), code=code).err

    def test_told(self):
        top = {"top": {"rest": {"S": (100, 100, 100)}}, "hip": {"parent": "top", "T": MOVE}}
        own = {"hip": {"rest": {"S": (1, 2, 1)}, "T": MOVE}}
        for id in ("ei-anm", "mm2-anim"):
            for nodes, first in ((top, 'node "top", 100 100 100'), (own, 'node "hip", 1 2 1')):
                self.assertIn("warning: 1 nodes are scaled, which the format has nothing like: they and what hangs on them are taken in "
                              f"their own size (first: {first})", self.said_of(id, nodes))
                self.said_of(id, nodes, code=1)

    def test_not_told(self):
        """What has no part in the motion, has keys that are told of, or can be written."""
        lamp = {"lamp": {"rest": {"S": (100, 100, 100)}}, "hip": {"T": MOVE}}
        keyed = {"hip": {"rest": {"S": (2, 2, 2)}, "T": MOVE, "S": ([(0, 2)],) * 3}}
        self.assertNotIn("are scaled", self.said_of("ei-anm", lamp) + self.said_of("ei-anm", keyed))
        self.assertIn("scale from 0.0000 s: the format has nothing like it", self.said_of("ei-anm", keyed))
        for id in ("nytro-anim", "vib-anm"):
            self.assertNotIn("are scaled", self.said_of(id, {"hip": {"rest": {"S": (1, 2, 1)}, "T": MOVE}}))


class Merged(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def test_pivots_of_a_new_node(self):
        def change(scene):
            scene.clone(LEFT, "more")
            put(scene.models()["more"], "RotationActive", "bool", 1)
            put(scene.models()["more"], "PreRotation", "Vector3D", 90, 0, 0)
        self.edit(change)
        self.assertIn('warning: 1 nodes have turns or pivots beside their curves', self.said)
        self.assertIn('(first: node "more", PreRotation)', self.said)

    def test_cycles_of_a_new_node(self):
        def change(scene):
            scene.clone(LEFT, "more")
            cycle(scene.curve("door_open", "more", "Lcl Translation", "x").node)
        self.edit(change)
        self.assertIn('warning: 1 curves go on before or after their keys', self.said)
        self.assertIn('node "more", translation at 1.6000 s)', self.said)

    def test_layers_of_a_new_take(self):
        for name, kind, value, said in LAYERS:
            def change(scene):
                scene.clone_take("door_open", "again")
                rename_take(scene, "again", "door_again")
                put(layer_of(scene, "door_again"), name, kind, value)
            self.edit(change)
            self.assertIn(f'warning: take "door_again": its layer', self.said)
            self.assertIn(said, self.said)

    def test_what_does_not_move(self):
        """Nor comes into the file."""
        def change(scene):
            scene.objects.children += fbxtext.parse('Model: 777777777, "Model::lamp", "Null" {\nProperties70: {\n}\n}\n').children
            scene.root.first("Connections").children += fbxtext.parse('C: "OO",777777777,0\n').children
            scene.__init__(scene.text())
            put(scene.models()["lamp"], "RotationPivot", "Vector3D", 90, 0, 0)
        self.assertEqual(self.edit(change), self.original)
        self.assertNotIn("pivot", self.said)


class Weights(EditCase):
    """Of shapes."""
    ending = "anm"
    original = (SOURCE / "tests/data/ei-anm/wing.anm").read_bytes()

    def test_one_that_stands(self):
        """In a file made anew; beside keys it is nothing."""
        def change(scene, keep):
            channel = next(d for d in scene.objects.all("Deformer") if fbxtext.name_of(d) == "morph_001")
            put(channel, "DeformPercent", "Number", 50)
            links = scene.root.first("Connections")
            links.children = [c for c in links.children if keep or c.values[2] != channel.values[0] or len(c.values) < 4]
        for keep in (False, True):
            self.edit(lambda scene: change(scene, keep), "--no-capsule", "--no-sidecar", back=("--to", "ei-anm"))
            self.assertEqual('warning: 1 shapes stand at a weight without keys, which is not carried: give it a key (first: node "x", '
                             'shape "morph_001", 0.5)' in self.said, not keep, self.said)
            self.assertEqual("warning" in self.said, not keep, self.said)


if __name__ == "__main__":
    unittest.main()
