"""What stands in an FBX otherwise than it was written, without keys, and what moves nodes without being in their curves: none of it
goes into a game's file, and all of it is told, but nothing that a program does of its own accord."""
import copy
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "decode"))
import ei_anm  # noqa: E402
import fbxtext  # noqa: E402
import test_wrapper as wrapped  # noqa: E402
from command import DOOR, SOURCE  # noqa: E402
from editcase import EditCase, by_a_program, each  # noqa: E402
from test_unheard import put  # noqa: E402

DATA = SOURCE / "tests" / "data"
MOVE, TURN, SCALE = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
LEFT, LOCK = "anim_door_left", "anim_door_lock"
SKELETON = b"NumBones 2\nbone hips {\n offset 0 0.9 0\n bone spine {\n offset 0 0.25 0\n }\n}\n"


def pose(scene, node, channel, *values):
    put(scene, node, channel, channel, *values)


def object_of(scene, name, number, title, kind, *children):
    """A new object with these children, each a name and its values or children."""
    made = fbxtext.Node(name)
    made.values, made.children = [str(number), '"%s"' % title, '"%s"' % kind], []
    for child, values, below in children:
        node = fbxtext.Node(child)
        node.values, node.children = values, below
        made.children.append(node)
    scene.objects.children.append(made)
    return made


def connect(scene, *values):
    made = fbxtext.Node("C")
    made.values = ['"OP"' if len(values) > 2 else '"OO"', *map(str, values)]
    scene.root.first("Connections").children.append(made)


def hang(scene, node, below):
    """A model below another object."""
    child = scene.models()[node].values[0]
    for link in scene.root.first("Connections").all("C"):
        if link.values[1] == child and link.values[2] in scene.by_id and scene.by_id[link.values[2]].name == "Model":
            link.values[2] = str(below)


def of_kind(scene, name, kind):
    return [n for n in scene.objects.all(name) if fbxtext.unquote(n.values[2]) == kind]


class Standing(EditCase):
    """Every one is told by whatever program it was done, refused with --strict, and the file stays as it was."""

    def use(self, name):
        self.ending = name.rsplit(".", 1)[1]
        self.original = (DATA / name).read_bytes()

    def told(self, change, sentence, *there):
        for program in (False, True):
            def both(scene, program=program):
                change(scene)
                if program:
                    by_a_program(scene)
            self.assertEqual(self.edit(both, *there), self.original)
            self.assertRegex(self.said, "warning: " + sentence)
            self.assertEqual(self.said.count("warning: "), 1, self.said)
            self.edit(both, *there, back=("--strict",), code=1)

    def quiet(self, change, *there, back=()):
        for program in (False, True):
            def both(scene, program=program):
                change(scene)
                if program:
                    by_a_program(scene)
            self.assertEqual(self.edit(both, *there, back=back), self.original)
            self.assertNotIn("warning: ", self.said)


class Poses(Standing):
    def test_each_channel(self):
        self.use("x4-ani/door.ani")
        for node, channel, value, words in ((LEFT, TURN, (0, 0, 30), "turned without keys.*its rotation"),
                                            (LEFT, SCALE, (1, 1.5, 1), "scaled without keys.*its scale"),
                                            (LOCK, MOVE, (0, 0.01, 0), "moved without keys.*its translation")):
            for there in ((), ("--for", "maya"), ("--for", "blender")):
                with self.subTest(channel=channel, there=there):
                    self.told(lambda scene: pose(scene, node, channel, *value), 'node "%s": it was %s' % (node, words), *there)

    def test_channels_with_keys(self):
        """There programs leave the pose of some frame; in one take of two, too."""
        self.use("x4-ani/door.ani")

        def change(scene):
            pose(scene, LEFT, MOVE, 1, 2, 3)
            pose(scene, LOCK, TURN, 10, 20, 30)
            pose(scene, LOCK, SCALE, 1.25, 1.25, 1)
        self.quiet(change)
        self.quiet(change, "--for", "blender")

    def test_keys_in_one_take_alone(self):
        """A channel that another take moves: its pose may be that one's, whatever take is looked at."""
        self.use("x4-ani/door.ani")

        def lessen(scene):
            scene.remove(*(curve.node for where, curve in scene.curves().items() if where[:3] == ("door_close", LOCK, SCALE)))
        self.original = self.edit(lessen, back=("--drop-missing",))
        self.assertIn("1 dropped", self.said)
        self.quiet(lambda scene: pose(scene, LOCK, SCALE, 4, 5, 6))
        self.quiet(lambda scene: pose(scene, LOCK, SCALE, 4, 5, 6), "--for", "blender")

    def test_what_programs_round(self):
        self.use("x4-ani/door.ani")

        def change(scene, much):
            by_a_program(scene)
            pose(scene, LOCK, MOVE, 9e-4 * much, 0, 0)
            pose(scene, LEFT, TURN, 0.009 * much, 360, -0.002)
            pose(scene, LEFT, SCALE, 1 + 9e-6 * much, 1, 1)
        self.quiet(lambda scene: change(scene, 1))
        self.edit(lambda scene: change(scene, 2))
        self.assertEqual(self.said.count("without keys"), 3, self.said)

    def test_far_away(self):
        """Programs find a node's place from that of its parent in the world, with 32 bits."""
        self.use("mm2-anim/two-bones.anim")
        self.put("x.skel", SKELETON)

        def change(scene, hips):
            by_a_program(scene)
            pose(scene, "hips", MOVE, *hips)
            pose(scene, "spine", MOVE, 0.004, 0.25, 0)
        there = ("--rig", self.dir / "x.skel")
        self.quiet(lambda scene: change(scene, (54000, 0, 0)), *there)
        self.edit(lambda scene: change(scene, (5, 0, 0)), *there)
        self.assertIn('node "spine": it was moved without keys', self.said)

    def test_another_way_to_turn_as_much(self):
        self.use("x4-ani/door.ani")

        def mirrored(scene, *angles):
            pose(scene, LEFT, SCALE, -1, -1, 1)
            pose(scene, LEFT, TURN, *angles)
        self.quiet(lambda scene: (by_a_program(scene), pose(scene, LEFT, TURN, 180, 180, 180)))
        self.edit(lambda scene: (by_a_program(scene), mirrored(scene, 0, 0, 180)))
        self.assertEqual((self.said.count("scaled without"), self.said.count("turned without")), (1, 0))
        self.edit(lambda scene: (by_a_program(scene), mirrored(scene, 0, 0, 90)))
        self.assertEqual((self.said.count("scaled without"), self.said.count("turned without")), (1, 1))

    def test_a_rest_that_is_none(self):
        self.use("mm2-anim/two-bones.anim")
        self.put("x.skel", SKELETON)
        there = ("--rig", self.dir / "x.skel")
        self.quiet(lambda scene: None, *there)
        self.told(lambda scene: pose(scene, "spine", MOVE, 0, 0, 0), 'node "spine": it was moved without keys', *there)

    def test_without_the_wrapper(self):
        """In the program's axes and unit, the poses of what has no keys are turned back, too."""
        self.use("x4-ani/door.ani")
        for m in (None, "basis", wrapped.METRES):
            def change(scene, m=m, scale=1.0):
                by_a_program(scene)
                pose(scene, LEFT, SCALE, scale, scale, scale)
                wrapped.unwrap(scene, m)
            with self.subTest(m=m):
                self.assertEqual(self.edit(change, "--for", "blender"), self.original)
                self.assertNotIn("without keys", self.said)
                self.edit(lambda scene: change(scene, scale=2.0), "--for", "blender")
                self.assertEqual(self.said.count("without keys"), 1, self.said)

    def test_without_the_wrapper_and_keys(self):
        """Nothing that moves tells the axes."""
        self.use("vib-anm/first.anm")

        def change(scene, m, scale):
            by_a_program(scene)
            scene.remove(*scene.objects.all("AnimationCurve"), *scene.objects.all("AnimationCurveNode"))
            pose(scene, "object_000", SCALE, scale, scale, scale)
            wrapped.unwrap(scene, m)
        for m in (None, "basis", wrapped.METRES):
            for scale in (1, 2):
                with self.subTest(m=m, scale=scale):
                    self.assertEqual(self.edit(lambda scene: change(scene, m, scale), "--for", "blender"), self.original)
                    self.assertEqual("without keys" in self.said, scale != 1, self.said)

    def test_a_pose_with_keys_of_several_takes(self):
        """Programs that write a key a frame of every number there is."""
        self.use("x4-ani/door.ani")

        def change(scene):
            by_a_program(scene)
            each(scene, "door_open", LEFT, MOVE, lambda curve: None)
            for link in scene.root.first("Connections").all("C"):
                if len(link.values) > 3 and link.values[3] == '"%s"' % SCALE:
                    link.values[2] = scene.models()[LEFT].values[0]
            scene.__init__(scene.text())
            for take in scene.takes():
                each(scene, take, LEFT, SCALE, lambda curve: [setattr(key, "value", 3.0) for key in curve.keys])
        self.edit(change, "--for", "blender")
        self.assertEqual(self.said.count('node "anim_door_left": its scale is another one, but stands still'), 1, self.said)


class Files(Standing):
    """Several FBX files, and a newer original."""
    ending, original = "ani", DOOR.read_bytes()

    def write(self, name, change, *there):
        self.put("x.ani", self.original)
        self.keyferry("convert", "x.ani", name, "--ascii", "-y", *there)
        scene = fbxtext.Scene((self.dir / name).read_text())
        change(scene)
        by_a_program(scene)
        (self.dir / name).write_text(scene.text())

    def test_the_same_take_twice(self):
        for one, other in ((LEFT, None), (None, LEFT), (None, None), (LEFT, LEFT)):
            for name, node in (("a.fbx", one), ("b.fbx", other)):
                self.write(name, lambda scene, node=node: node and pose(scene, node, SCALE, 2, 2, 2))
            said = self.keyferry("convert", "a.fbx", "b.fbx", "y.ani", "-y").err
            self.assertEqual(said.count("without keys"), bool(one or other), said)

    def test_a_take_each(self):
        self.put("x.ani", self.original)
        self.keyferry("convert", "x.ani", "x.fbx", "--ascii", "--split-takes")
        said = self.keyferry("convert", "x.take01.fbx", "x.take02.fbx", "y.ani", "-y").err
        self.assertNotIn("warning", said)
        path = self.dir / "x.take02.fbx"
        scene = fbxtext.Scene(path.read_text())
        pose(scene, LEFT, SCALE, 2, 2, 2)
        path.write_text(scene.text())
        self.assertEqual(self.keyferry("convert", "x.take01.fbx", "x.take02.fbx", "y.ani", "-y").err.count("without keys"), 1)

    def test_another_skeleton(self):
        """The FBX has the rests of the one that it came from."""
        self.ending, self.original = "anim", (DATA / "mm2-anim/two-bones.anim").read_bytes()
        self.put("x.anim", self.original)
        for name, offset in (("old", b"0.25"), ("new", b"0.5")):
            self.put(name + ".skel", SKELETON.replace(b"0.25", offset))
            self.keyferry("convert", "x.anim", name + ".fbx", "--ascii", "--rig", name + ".skel")
        self.assertNotIn("without keys", self.keyferry("convert", "old.fbx", "y.anim", "-y", "--base", "new.fbx").err)
        scene = fbxtext.Scene((self.dir / "old.fbx").read_text())
        pose(scene, "spine", MOVE, 0, 0.5, 0)
        (self.dir / "old.fbx").write_text(scene.text())
        self.assertIn('"spine": it was moved without keys', self.keyferry("convert", "old.fbx", "y.anim", "-y", "--base", "new.fbx").err)


class Hidden(Standing):
    def test_told(self):
        self.use("x4-ani/door.ani")
        for name, kind in (("Visibility", "Visibility"), ("Show", "bool")):
            self.told(lambda scene: put(scene, LOCK, name, kind, 0), 'node "anim_door_lock": it is hidden without keys')
            self.quiet(lambda scene: put(scene, LOCK, name, kind, 1))

    def test_the_wrapper(self):
        self.use("x4-ani/door.ani")
        self.quiet(lambda scene: put(scene, fbxtext.name_of(wrapped.wrapper(scene)), "Visibility", "Visibility", 0))

    def test_keyed(self):
        """What a frame shows of a node that has such keys."""
        self.use("vib-anm/first.anm")
        self.quiet(lambda scene: [put(scene, node, "Visibility", "Visibility", 0) for node in ("object_000", "object_002")])

    def test_without_an_original(self):
        self.put("x.ani", DOOR.read_bytes())
        self.keyferry("convert", "x.ani", "x.fbx", "--ascii", "--no-capsule", "--no-sidecar")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        put(scene, LOCK, "Show", "bool", 0)
        (self.dir / "x.fbx").write_text(scene.text())
        self.assertIn("is hidden without keys", self.keyferry("convert", "x.fbx", "y.ani", "--to", "x4-ani").err)


class Shapes(Standing):
    def setUp(self):
        super().setUp()
        self.use("ei-anm/wing.anm")

    def test_points(self):
        def change(scene):
            mesh, = of_kind(scene, "Geometry", "Mesh")
            points = mesh.array("Vertices")
            mesh.set_array("Vertices", ["0.5", *points[1:]])
        self.told(change, 'node "x": 1 points of its mesh were moved')
        self.told(change, 'node "x": 1 points of its mesh were moved', "--for", "blender")

    def test_full_weights(self):
        def change(scene, *weights):
            of_kind(scene, "Deformer", "BlendShapeChannel")[1].set_array("FullWeights", weights)
        for weights in (("50",), ("100", "100", "40")):
            self.told(lambda scene: change(scene, *weights), 'node "x", shape "morph_001": its full weight is not 100')
        self.quiet(lambda scene: change(scene, "100", "100", "100"))

    def add(self, scene, keyed):
        """A shape like the first one, and if it is keyed as much of it."""
        channel, shape = of_kind(scene, "Deformer", "BlendShapeChannel")[0], of_kind(scene, "Geometry", "Shape")[0]
        deformer, = of_kind(scene, "Deformer", "BlendShape")
        links = scene.root.first("Connections").all("C")
        weight = next(c.values[1] for c in links if c.values[2] == channel.values[0] and len(c.values) > 3)
        curve = next(c.values[1] for c in links if c.values[2] == weight)
        layer = next(c.values[2] for c in links if c.values[1] == weight and len(c.values) == 3)
        copies = [(channel, 900001, "SubDeformer::extra"), (shape, 900002, "Geometry::extra")]
        if keyed:
            copies += [(scene.by_id[weight], 900003, "AnimCurveNode::DeformPercent"), (scene.by_id[curve], 900004, "AnimCurve::")]
            connect(scene, 900003, layer)
            connect(scene, 900003, 900001, '"DeformPercent"')
            connect(scene, 900004, 900003, '"d|DeformPercent"')
        for like, number, title in copies:
            made = copy.deepcopy(like)
            made.values[:2] = [str(number), '"%s"' % title]
            scene.objects.children.append(made)
        connect(scene, 900001, deformer.values[0])
        connect(scene, 900002, 900001)

    def test_new(self):
        self.told(lambda scene: self.add(scene, False), 'node "x": its shape "extra" is new and has no keys')

    def test_new_with_keys(self):
        """It goes into the frames that it has a weight on, and no others."""
        for there in ((), ("--for", "blender")):
            was, now = ei_anm.shapes(self.original), ei_anm.shapes(self.edit(lambda scene: self.add(scene, True), *there))
            self.assertEqual(now, [[tuple(2 * v for v in point) for point in was[0]], *was[1:]])
            self.assertIn('added: take "animation", node "x", morph extra', self.said)
            self.assertNotIn("warning", self.said)

    def test_beside_the_node(self):
        for name, value in (("GeometricTranslation", (0, 1, 0)), ("GeometricRotation", (0, 0, 90)), ("GeometricScaling", (1, 1, 2))):
            self.told(lambda scene: put(scene, "x", name, "Vector3D", *value), '1 nodes have turns or pivots.*node "x", %s' % name)
        self.quiet(lambda scene: (put(scene, "x", "GeometricScaling", "Vector3D", 1, 1, 1),
                                  put(scene, "x", "GeometricTranslation", "Vector3D", 0, 0, 0)))


class NewNodes(Standing):
    def still(self, scene, kind="Null", title="hinge"):
        object_of(scene, "Model", 900011, "Model::" + title, kind, ("Version", ["232"], None))
        connect(scene, 900011, wrapped.wrapper(scene).values[0])

    def test_still(self):
        for name in ("x4-ani/door.ani", "nytro-anim/linear.nanim", "ei-anm/hand.anm", "mm2-anim/two-bones.anim", "vib-anm/first.anm"):
            self.use(name)
            self.quiet(self.still)
            self.assertIn('note: 1 new nodes do not move and are not written: the file has only what moves (first: node "hinge")',
                          self.said)

    def test_what_programs_add(self):
        self.use("x4-ani/door.ani")
        for kind, title in (("Camera", "Camera"), ("LimbNode", "anim_door_left_end")):
            self.quiet(lambda scene, kind=kind, title=title: self.still(scene, kind, title))
            self.assertNotIn("new nodes", self.said)

    def test_keyed_at_rest(self):
        """One line of it is enough."""
        self.use("x4-ani/door.ani")

        def change(scene):
            scene.clone(LEFT, "hinge")
            for take, node, channel, component in scene.curves():
                if node == "hinge":
                    curve = scene.curve(take, node, channel, component)
                    for key in curve.keys:
                        key.value = float(channel == SCALE)
                        key.flags = 0x4
                    curve.store()
            put(scene, "hinge", MOVE, MOVE, 0, 0, 0)
        self.quiet(change)
        self.assertIn("channels of a new node stand still", self.said)
        self.assertNotIn("new nodes do not move", self.said)


class Parents(Standing):
    def group(self, scene, *place):
        """A new node between one and its parent."""
        p = fbxtext.Node("P")
        p.values = ['"%s"' % MOVE, '"%s"' % MOVE, '""', '"A"', *map(str, place)]
        object_of(scene, "Model", 900001, "Model::group", "Null", ("Version", ["232"], None), ("Properties70", [], [p]))
        hang(scene, LEFT, 900001)
        connect(scene, 900001, wrapped.wrapper(scene).values[0])

    def test_below_a_new_node(self):
        self.use("x4-ani/door.ani")
        self.told(lambda scene: self.group(scene, 10, 0, 0), 'node "anim_door_left" hangs below "group" now')
        self.quiet(lambda scene: self.group(scene, 0, 0, 0))

    def test_below_a_new_node_that_moves(self):
        self.use("x4-ani/door.ani")

        def change(scene):
            scene.clone(LEFT, "group")
            hang(scene, LEFT, scene.models()["group"].values[0])
        self.edit(change)
        self.assertIn('node "anim_door_left" hangs below "group" now', self.said)

    def test_no_longer_below(self):
        self.use("mm2-anim/two-bones.anim")
        self.put("x.skel", SKELETON)
        for below in ("wrapper", "0"):
            self.told(lambda scene: hang(scene, "spine", wrapped.wrapper(scene).values[0] if below == "wrapper" else below),
                      'node "spine" no longer hangs below "hips"', "--rig", self.dir / "x.skel")

    def test_constraint(self):
        self.use("x4-ani/door.ani")

        def change(scene, active):
            p = fbxtext.Node("P")
            p.values = ['"Active"', '"bool"', '""', '""', str(active)]
            object_of(scene, "Constraint", 900003, "Constraint::follow", "Parent/Child", ("Type", ['"Parent-Child"'], None),
                      ("Properties70", [], [p]))
            connect(scene, scene.models()[LOCK].values[0], 900003, '"Constrained object (Child)"')
            connect(scene, scene.models()[LEFT].values[0], 900003, '"Source (Parent)"')
        self.told(lambda scene: change(scene, 1), '1 constraints move nodes.*"follow", node "anim_door_lock"')
        self.quiet(lambda scene: change(scene, 0))


if __name__ == "__main__":
    unittest.main()
