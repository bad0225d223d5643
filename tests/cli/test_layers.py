"""What programs add to a scene: layers on top of a take, and an action for each object, as Blender writes them."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import DOOR, SOURCE, Case  # noqa: E402
from editcase import EditCase  # noqa: E402

NEW = 7 * 10 ** 12  # numbers of objects that are nobody's


def node(name, *values, children=()):
    made = fbxtext.Node(name)
    made.values = [str(v) for v in values]
    made.children = list(children) if children is not None else None
    return made


def array(name, numbers):
    inner = node("a", *numbers, children=None)
    return node(name, "*%d" % len(numbers), children=[inner])


class Adding:
    """Puts objects of its own into a scene."""

    def __init__(self, scene):
        self.scene, self.number = scene, NEW

    def put(self, made, to, prop=None):
        self.number += 1
        made.values.insert(0, str(self.number))
        self.scene.objects.children.append(made)
        self.link(self.number, to, prop)
        return self.number

    def link(self, number, to, prop=None):
        words = ['"OP"' if prop else '"OO"', number, to] + (['"%s"' % prop] if prop else [])
        self.scene.root.first("Connections").children.append(node("C", *words, children=None))

    def take(self, name):
        return self.put(node("AnimationStack", '"AnimStack::%s"' % name, '""'), 0)

    def layer(self, take, name):
        return self.put(node("AnimationLayer", '"AnimLayer::%s"' % name, '""'), take)

    def model(self, name, parent):
        return self.put(node("Model", '"Model::%s"' % name, '"Null"'), parent)

    def curves(self, layer, model, prop="Lcl Translation", values=(0, 5, 0)):
        group = self.put(node("AnimationCurveNode", '"AnimCurveNode::T"', '""'), layer)
        self.link(group, model, prop)
        for axis in "XYZ":
            times = [fbxtext.TICKS * i // 2 for i in range(len(values))]
            self.put(node("AnimationCurve", '"AnimCurve::"', '""', children=[
                array("KeyTime", times), array("KeyValueFloat", values), array("KeyAttrFlags", [4]),
                array("KeyAttrDataFloat", [0] * 4), array("KeyAttrRefCount", [len(values)])]), group, "d|" + axis)


class Layers(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def second_layer(self, scene):
        name, stack = sorted(scene.takes().items())[0]
        adding = Adding(scene)
        wrapped = next(m for n, m in sorted(scene.models().items()) if not n.startswith("keyferry_"))
        adding.curves(adding.layer(stack.values[0], "Extra"), wrapped.values[0])

    def test_beside_the_original(self):
        self.assertEqual(self.edit(self.second_layer), self.original)
        self.assertRegex(self.said, r'translation.*: on layer "Extra", which is not carried: merge layers first')

    def test_without_an_original(self):
        def with_layer_of(change):
            return self.edit(change, "--no-capsule", "--no-sidecar", back=("--to", "x4-ani"))
        plain = with_layer_of(lambda scene: None)
        self.assertNotIn("layer", self.said)
        self.assertEqual(with_layer_of(self.second_layer), plain)
        self.assertIn('on layer "Extra", which is not carried: merge layers first', self.said)

    def test_strict(self):
        self.edit(self.second_layer, back=("--strict",), code=1)
        self.assertIn("layer", self.said)


class Actions(EditCase):
    """A file of one take; a program that writes "object|action" for each object and each action, whatever belongs to
    whom."""
    ending = "anm"
    original = (SOURCE / "tests/data/ei-anm/body.anm").read_bytes()

    def new_node(self, scene, *actions, name="sword"):
        """A node that is new, moved by each of the actions."""
        adding = Adding(scene)
        wrapper = next(m for n, m in scene.models().items() if n.startswith("keyferry_"))
        model = adding.model(name, wrapper.values[0])
        for action in actions:
            adding.curves(adding.layer(adding.take(f"{name}|{action}"), "Base"), model)
        return adding, model

    def dumped(self, now):
        """The names of the nodes that a file has."""
        self.put("now.anm", now)
        return [n["name"] for n in self.json("dump", "now.anm")["nodes"]]

    def test_its_own(self):
        """Called after the node: its keys come in with the take that is there."""
        for action in ("sword", "swordAction", "sword|walk", "sword.001"):
            self.edit_folder(lambda scene: self.new_node(scene, action))
            self.assertIn('node "sword" is new: its keys start with the take', self.said)
            self.assertIn('node "sword", take "animation": new, but the file holds one part only; not written', self.said)

    def edit_folder(self, change, code=0):
        """As `edit`, into a folder: a new node is a file of its own."""
        for name in self.names("out"):
            os.remove(self.dir / "out" / name)
        self.put("x.anm", self.original)
        self.keyferry("convert", "x.anm", "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        self.said = self.keyferry("convert", "x.fbx", "out/", "-y", code=code).err
        self.assertEqual((self.dir / "out/x.anm").read_bytes(), self.original)

    def names(self, folder):
        return sorted(p.name for p in (self.dir / folder).iterdir()) if (self.dir / folder).is_dir() else []

    def test_two_of_its_own(self):
        self.edit_folder(lambda scene: self.new_node(scene, "sword", "sword.001"))
        self.assertIn('node "sword": its action "sword.001" is not carried: it has another one', self.said)

    def test_nobodys(self):
        self.edit_folder(lambda scene: self.new_node(scene, "swing", "swing"))
        self.assertIn('action "swing" is not carried, for its name does not tell whose it is', self.said)
        self.assertEqual(self.said.count("does not tell whose"), 1)
        self.assertIn('node "sword" is new, and its keys are not carried, for no action is called after it', self.said)
        self.assertNotIn("added:", self.said)

    def test_anothers(self):
        """The program shows every object every action: that of another object says nothing about this one."""
        def change(scene):
            adding, model = self.new_node(scene, "sword")
            other = adding.model("shield", next(m for n, m in scene.models().items() if n.startswith("keyferry_")).values[0])
            adding.curves(adding.layer(adding.take("shield|sword"), "Base"), other)
        self.edit_folder(change)
        self.assertIn('node "sword", take "animation": new, but the file holds one part only; not written', self.said)
        self.assertNotIn('node "shield", take "animation": new', self.said)
        self.assertIn('node "shield" is new, and its keys are not carried', self.said)

    def test_an_old_node_gets_another_action(self):
        def change(scene):
            adding = Adding(scene)
            name, old = next((n, m) for n, m in scene.models().items() if not n.startswith("keyferry_"))
            adding.curves(adding.layer(adding.take(f"{name}|{name}.002"), "Base"), old.values[0])
        self.edit_folder(change)
        self.assertRegex(self.said, r'its action "\w+\.002" is none that was written and is not carried')

    def test_no_objects_action(self):
        """A take with a bar in its name that begins with no object is no action: it is a take like any other."""
        def change(scene):
            adding, model = self.new_node(scene)
            layer = adding.layer(adding.take("left|right"), "Base")
            adding.curves(layer, model)
            adding.curves(layer, adding.model("shield", 0))
        self.edit_folder(change)
        self.assertIn('warning: take "left|right" was not written: the format holds one', self.said)


class BetweenGames(Case):
    """From one game's format into another's: what would come by way of an FBX without an original."""
    SAMPLES = {"x4-ani": "door.ani", "ei-anm": "body.anm", "nytro-anim": "tcb.nanim", "mm2-anim": "two-bones.anim",
               "vib-anm": "full-000.anm"}

    def test_each_into_each(self):
        found = 0
        for source, name in self.SAMPLES.items():
            path = SOURCE / "tests/data" / source / name
            self.keyferry("convert", path, f"{source}.fbx", "--from", source, "--no-capsule", "--no-sidecar")
            for target in self.SAMPLES:
                if target == source:
                    continue
                ways = [f"straight/{source}/{target}", f"by-fbx/{source}/{target}"]
                straight = self.keyferry("convert", path, ways[0] + "/", "--from", source, "--to", target)
                self.keyferry("convert", f"{source}.fbx", ways[1] + "/", "--to", target)
                made = [sorted((self.dir / way).iterdir()) for way in ways]
                self.assertTrue(made[0], straight.err)
                self.assertEqual(len(made[0]), len(made[1]))
                for one, other in zip(*made):
                    self.assertEqual(one.stat().st_size, other.stat().st_size, f"{source} to {target}")
                    self.keyferry("diff", one, other, "--from", target)
                found += len(made[0])
        self.assertGreaterEqual(found, 20)


if __name__ == "__main__":
    unittest.main()
