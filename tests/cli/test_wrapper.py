"""The node above all others, whose transform turns the game's axes and unit into FBX's, and what artists do to it."""
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import DOOR, SOURCE  # noqa: E402
from editcase import EditCase, add, by_a_program, rename_take  # noqa: E402


def wrapper(scene):
    return next(node for name, node in scene.models().items() if name.startswith("keyferry_"))


class Renamed(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def rename(self, scene):
        wrapper(scene).values[1] = '"Model::axes"'

    def test_known_by_its_capsule(self):
        self.assertEqual(self.edit(self.rename, "--no-sidecar"), self.original)
        self.assertIn("0 of 8 tracks changed", self.said)

    def test_an_edit_below_it(self):
        def change(scene):
            self.rename(scene)
            add(scene, next(where for where in sorted(scene.curves()) if where[2] == "Lcl Translation"), 0, 2.0)
        self.assertNotEqual(self.edit(change, "--no-sidecar"), self.original)
        self.assertIn("1 keys changed, 0 added, 0 removed", self.said)

    def test_known_by_its_children(self):
        """Renamed, and its property lost: the sidecar tells the original, and the nodes have their names."""
        self.assertEqual(self.edit(self.rename, "--no-capsule"), self.original)


class Reparented(EditCase):
    ending = "ani"
    original = DOOR.read_bytes()

    def test_told(self):
        def change(scene):
            models = scene.models()
            child, parent = (models["anim_door_" + side].values[0] for side in ("left", "right"))
            for link in scene.root.first("Connections").all("C"):
                if link.values[1] == child and link.values[2] == wrapper(scene).values[0]:
                    link.values[2] = parent
        self.assertEqual(self.edit(change), self.original)
        self.assertIn('node "anim_door_left" hangs below "anim_door_right" now (1 such in all)', self.said)
        self.edit(lambda scene: None)
        self.assertNotIn("hangs below", self.said)


CHANNELS = ("Lcl Translation", "Lcl Rotation", "Lcl Scaling")
METRES = ((100, 0, 0), (0, 0, 100), (0, -100, 0))  # what Blender, with Z up, multiplies the nodes of a file with
BEFORE = ((0.01, 0, 0), (0, 0, -0.01), (0, 0.01, 0))  # and with what it does so when it reads one


def sized(m, size):
    return tuple(tuple(v * size for v in row) for row in m)


def matrix(x, y, z):
    """Of Euler angles in FBX's usual order, x first."""
    a, b, c = (math.radians(v) for v in (x, y, z))
    ca, sa, cb, sb, cc, sc = math.cos(a), math.sin(a), math.cos(b), math.sin(b), math.cos(c), math.sin(c)
    return ((cb * cc, sa * sb * cc - ca * sc, ca * sb * cc + sa * sc),
            (cb * sc, sa * sb * sc + ca * cc, ca * sb * sc - sa * cc), (-sb, sa * cb, ca * cb))


def angles(m):
    """A program's angles: between -180 and 180, whatever they were."""
    return (math.degrees(math.atan2(m[2][1], m[2][2])), math.degrees(math.asin(max(-1, min(1, -m[2][0])))),
            math.degrees(math.atan2(m[1][0], m[0][0])))


def times(m, other):
    return tuple(tuple(sum(m[r][k] * other[k][c] for k in range(3)) for c in range(3)) for r in range(3))


def moved(m, channel, value):
    """Translation, rotation or scale of the matrix `m` times a node's. One that mirrors comes back as all scales turned
    round, as programs tell it."""
    size = math.sqrt(sum(v * v for v in m[0]))
    cross = [m[1][i - 2] * m[2][i - 1] - m[1][i - 1] * m[2][i - 2] for i in range(3)]
    mirror = math.copysign(1, sum(a * b for a, b in zip(m[0], cross)))
    if channel == "Lcl Translation":
        return tuple(sum(m[r][c] * value[c] for c in range(3)) for r in range(3))
    if channel == "Lcl Scaling":
        return tuple(v * size * mirror for v in value)
    return angles(times(tuple(tuple(v / size * mirror for v in row) for row in m), matrix(*value)))


def rests(model):
    """The node's own transform, by channel: the property and its numbers."""
    found = {fbxtext.unquote(p.values[0]): p for p in model.first("Properties70").children}
    return {c: (found.get(c), [float(v) for v in found[c].values[4:7]] if c in found else [float(c == CHANNELS[2])] * 3)
            for c in CHANNELS}


def unwrap(scene, m=None, keep=False):
    """Deletes the wrapper, or leaves it alone; the matrix goes into the nodes that were below it ("basis": the wrapper's own)."""
    top = wrapper(scene)
    number = top.values[0]
    if m == "basis":
        own = {c: value for c, (_, value) in rests(top).items()}
        m = tuple(tuple(row[c] * own["Lcl Scaling"][c] for c in range(3)) for row in matrix(*own["Lcl Rotation"]))
    links = scene.root.first("Connections")
    below = [c.values[1] for c in links.all("C") if c.values[2] == number and scene.by_id[c.values[1]].name == "Model"]
    for link in links.all("C"):
        if link.values[1] in below and link.values[2] == number:
            link.values[2] = "0"
    if not keep:
        scene.remove(top)
    if not m:
        return
    curves = scene.curves()
    for model in (scene.by_id[n] for n in below):
        for channel, (prop, value) in rests(model).items():
            if prop is None:
                prop = fbxtext.Node("P")
                prop.values = ['"%s"' % channel, '"%s"' % channel, '""', '"A"']
                model.first("Properties70").children.append(prop)
            prop.values[4:] = ["%.9g" % v for v in moved(m, channel, value)]
        for take, channel in {(w[0], w[2]) for w in curves if w[1] == fbxtext.name_of(model) and w[2] in CHANNELS}:
            three = [curves[take, fbxtext.name_of(model), channel, axis] for axis in "xyz"]
            for keys in zip(*(c.keys for c in three), strict=True):
                for key, value in zip(keys, moved(m, channel, [k.value for k in keys])):
                    key.value = value
            for curve in three:
                curve.store()


def turned(m, channel, value):
    """The same in axes of its own that are turned too: m, times a node's transform, times the inverse of m."""
    if channel == "Lcl Translation":
        return moved(m, channel, value)
    size = max(abs(v) for v in m[0])
    turn = tuple(tuple(v / size for v in row) for row in m)
    if channel == "Lcl Scaling":
        return tuple(sum(abs(turn[r][c]) * value[c] for c in range(3)) for r in range(3))
    return angles(times(times(turn, matrix(*value)), tuple(zip(*turn))))


def turn_all_round(scene, m=METRES):
    """What Blender does when it is told to apply transforms: to the wrapper, all nodes and their shapes."""
    by_a_program(scene)
    curves = scene.curves()
    for take, node, channel in {w[:3] for w in curves if w[2] in CHANNELS}:
        three = [curves[take, node, channel, axis] for axis in "xyz"]
        for keys in zip(*(c.keys for c in three), strict=True):
            for key, value in zip(keys, turned(m, channel, [k.value for k in keys])):
                key.value = value
        for curve in three:
            curve.store()
    for shape in scene.objects.all("Geometry"):
        numbers = [float(v) for v in shape.array("Vertices")]
        points = [moved(m, "Lcl Translation", numbers[i:i + 3]) for i in range(0, len(numbers), 3)]
        shape.set_array("Vertices", ["%.9g" % v for point in points for v in point])


class TurnedAllRound(EditCase):
    FILES = ("x4-ani/door.ani", "ei-anm/wing.anm", "mm2-anim/two-bones.anim", "nytro-anim/tcb.nanim", "vib-anm/first.anm")

    def test_undone(self):
        for file in self.FILES:
            with self.subTest(file=file):
                self.ending = file.rsplit(".", 1)[1]
                self.original = (SOURCE / "tests" / "data" / file).read_bytes()
                self.assertEqual(self.edit(turn_all_round, "--for", "blender"), self.original, self.said)
                self.assertIn("Apply Transform", self.said)

    def each_file(self, change, *notes):
        for file in self.FILES:
            with self.subTest(file=file):
                self.ending = file.rsplit(".", 1)[1]
                self.original = (SOURCE / "tests" / "data" / file).read_bytes()
                self.assertEqual(self.edit(change, "--for", "blender"), self.original, self.said)
                for note in notes:
                    self.assertIn(note, self.said)

    def test_undone_when_it_was_read(self):
        """By a program that turned the nodes when it read the FBX, and into metres of a size of its own."""
        for size in (1, 10):
            self.each_file(lambda scene, size=size: turn_all_round(scene, sized(BEFORE, size)), "Apply Transform\" of the import")

    def test_undone_with_a_size(self):
        """Which no file states: the original tells it."""
        for size in (2, 100, 0.0254):
            self.each_file(lambda scene, size=size: turn_all_round(scene, sized(METRES, size)), "Apply Transform")

    def test_a_size_is_told(self):
        self.ending, self.original = "ani", DOOR.read_bytes()
        self.assertEqual(self.edit(lambda scene: turn_all_round(scene, sized(METRES, 2)), "--for", "blender"), self.original)
        self.assertIn("note: all came back multiplied with 200", self.said)
        self.assertEqual(self.edit(turn_all_round, "--for", "blender"), self.original)
        self.assertNotIn("multiplied", self.said)

    def test_a_size_without_a_turn(self):
        """With Z up as in Blender nothing is turned; but the node above all others is smaller by a metre's centimetres."""
        def change(scene, share):
            turn_all_round(scene, ((200, 0, 0), (0, 200, 0), (0, 0, 200)))
            axes = {"UpAxis": 2, "UpAxisSign": 1, "FrontAxis": 1, "FrontAxisSign": -1, "CoordAxis": 0, "CoordAxisSign": 1}
            for prop in scene.root.first("GlobalSettings").first("Properties70").children:
                if fbxtext.unquote(prop.values[0]) in axes:
                    prop.values[4:] = [str(axes[fbxtext.unquote(prop.values[0])])]
            scale = next(p for p in wrapper(scene).first("Properties70").children if fbxtext.unquote(p.values[0]) == "Lcl Scaling")
            scale.values[4:] = ["%.9g" % (float(v) * share) for v in scale.values[4:]]
        self.ending, self.original = "ani", DOOR.read_bytes()
        self.assertEqual(self.edit(lambda scene: change(scene, 0.01), "--for", "blender"), self.original, self.said)
        self.assertIn("note: all came back multiplied with 200", self.said)
        self.assertNotEqual(self.edit(lambda scene: change(scene, 1), "--for", "blender"), self.original)
        self.assertNotIn("multiplied", self.said)

    def test_one_node_alone(self):
        """May be somebody's edit as well: it is a warning."""
        self.ending, self.original = "anm", (SOURCE / "tests" / "data" / "ei-anm" / "body.anm").read_bytes()
        self.assertEqual(self.edit(lambda scene: turn_all_round(scene, sized(METRES, 2)), "--for", "blender"), self.original)
        self.assertIn("warning: the one node that moves came back multiplied with 200", self.said)
        self.edit(lambda scene: turn_all_round(scene, sized(METRES, 2)), "--for", "blender", back=["--strict"], code=1)

    def scale_moves(self, scene, nodes, factor=2.0, takes=("door_open", "door_close")):
        by_a_program(scene)
        for where, curve in scene.curves().items():
            if where[0] in takes and where[1] in nodes and where[2] == "Lcl Translation":
                for key in curve.keys:
                    key.value *= factor
                curve.store()

    def test_an_edit_is_no_size(self):
        """One node of several that moves twice as far as it did; and all of them, where nothing shows that axes were turned."""
        self.ending, self.original = "ani", DOOR.read_bytes()
        doors = ("anim_door_left", "anim_door_right", "anim_door_lock")
        for nodes, turn in ((doors[:1], False), (doors, False), (doors[:1], True)):
            with self.subTest(nodes=nodes, turn=turn):
                self.put("with/x.ani", self.edit(lambda scene, nodes=nodes: self.scale_moves(scene, nodes), "--for", "blender"))
                self.assertNotEqual((self.dir / "with/x.ani").read_bytes(), self.original)
                if turn:
                    self.put("turned/x.ani", self.edit(lambda scene, nodes=nodes: (self.scale_moves(scene, nodes), turn_all_round(scene)),
                                                       "--for", "blender"))
                    self.keyferry("diff", "with/x.ani", "turned/x.ani")
                self.assertNotIn("multiplied", self.said)

    def test_an_edit_along_an_axis_that_stays(self):
        """x is no other axis with Z up: of what moves along it nothing shows that axes were turned."""
        self.ending, self.original = "ani", DOOR.read_bytes()
        doors = ("anim_door_left", "anim_door_right", "anim_door_lock")

        def along_x(scene):
            by_a_program(scene)
            for where, curve in scene.curves().items():
                if where[2:] in (("Lcl Translation", "y"), ("Lcl Translation", "z")) or where[2] == "Lcl Rotation":
                    for key in curve.keys:
                        key.value = 0
                    curve.store()
        self.original = self.edit(along_x, "--for", "blender")
        for factor in (2, 0.01):
            for nodes in (doors, doors[:2], doors[:1]):
                with self.subTest(factor=factor, nodes=nodes):
                    self.assertNotEqual(self.edit(lambda scene, factor=factor, nodes=nodes: self.scale_moves(scene, nodes, factor),
                                                  "--for", "blender"), self.original)
                    self.assertNotIn("turned back", self.said)
                    self.assertIn(" %d of 8 tracks changed" % (2 * len(set(nodes) & set(doors[:2]))), self.said)

    def test_an_edit_beside_a_size(self):
        self.ending, self.original = "ani", DOOR.read_bytes()

        def change(scene, m=None):
            self.scale_moves(scene, ("anim_door_left",), 1.5, ("door_open",))
            if m:
                turn_all_round(scene, m)
        self.put("with/x.ani", self.edit(change, "--for", "blender"))
        for m in (sized(METRES, 2), BEFORE):
            self.put("turned/x.ani", self.edit(lambda scene, m=m: change(scene, m), "--for", "blender"))
            self.keyferry("diff", "with/x.ani", "turned/x.ani")

    def test_no_size(self):
        """Half of all moves twice as far, and all of another size: no factor is that of most."""
        self.ending, self.original = "ani", DOOR.read_bytes()
        self.edit(lambda scene: (self.scale_moves(scene, ("anim_door_left",)), turn_all_round(scene, sized(METRES, 3))),
                  "--for", "blender")
        self.assertIn("warning: how many times as large", self.said)
        self.assertIn("4 of 8 tracks changed", self.said)
        self.edit(lambda scene: (self.scale_moves(scene, ("anim_door_left",)), turn_all_round(scene)), "--for", "blender")
        self.assertNotIn("how many times as large", self.said)

    def test_an_edit(self):
        """It comes back in the game's axes."""
        self.ending = "anm"
        self.original = (SOURCE / "tests" / "data" / "ei-anm" / "body.anm").read_bytes()

        def raise_it(scene):
            by_a_program(scene)
            add(scene, ("animation", "x", "Lcl Translation", "y"), 2, 0.25)
        self.put("with/x.anm", self.edit(raise_it, "--for", "blender"))
        self.put("turned/x.anm", self.edit(lambda scene: (raise_it(scene), turn_all_round(scene)), "--for", "blender"))
        self.assertIn("1 of 2 tracks changed", self.said)
        self.keyferry("diff", "with/x.anm", "turned/x.anm")
        self.keyferry("diff", "x.anm", "turned/x.anm", code=1)


class Gone(EditCase):
    FILES = ("x4-ani/door.ani", "x4-ani/turret.ani", "ei-anm/body.anm", "ei-anm/hand.anm", "mm2-anim/two-bones.anim",
             "nytro-anim/tcb.nanim", "vib-anm/first.anm")

    def each_file(self, change, *there, files=FILES):
        for file in files:
            with self.subTest(file=file):
                self.ending = file.rsplit(".", 1)[1]
                self.original = (SOURCE / "tests" / "data" / file).read_bytes()
                self.assertEqual(self.edit(change, *there), self.original, self.said)
                self.assertIn("note: the node that was above all others is gone", self.said)
                self.assertRegex(self.said, "0 of [0-9]+ tracks changed")

    def test_the_rest_as_it_was(self):
        self.each_file(unwrap)
        self.assertIn(" 0 of ", self.said)
        self.each_file(unwrap, "--for", "blender")

    def test_with_the_wrappers_transform(self):
        self.each_file(lambda scene: unwrap(scene, "basis"), "--for", "blender")

    def test_in_metres_with_z_up(self):
        self.each_file(lambda scene: unwrap(scene, METRES), "--for", "blender")

    def test_with_a_size(self):
        """Which no file states: the original tells it."""
        unturned = ((100, 0, 0), (0, 100, 0), (0, 0, 100))
        for m in (sized(METRES, 2), sized(METRES, 0.01), unturned, sized(unturned, 3)):
            self.each_file(lambda scene, m=m: unwrap(scene, m), "--for", "blender")

    def test_an_edit_is_no_size(self):
        """Only where scales are multiplied too was it a program; what merely moves further was edited."""
        self.ending, self.original = "anm", (SOURCE / "tests" / "data" / "ei-anm" / "body.anm").read_bytes()

        def double(scene, *m):
            for where, curve in scene.curves().items():
                if where[2] == "Lcl Translation":
                    for key in curve.keys:
                        key.value *= 2
                    curve.store()
            unwrap(scene, *m)
        self.put("with/x.anm", self.edit(double, "--for", "blender"))
        self.assertIn("1 of 2 tracks changed", self.said)
        self.put("without/x.anm", self.edit(lambda scene: double(scene, METRES), "--for", "blender"))
        self.assertIn("1 of 2 tracks changed", self.said)
        self.keyferry("diff", "with/x.anm", "without/x.anm")

    def test_still_there_but_above_nothing(self):
        """As after baking with the parents cleared."""
        for m in (METRES, "basis"):
            self.each_file(lambda scene, m=m: (by_a_program(scene), unwrap(scene, m, keep=True)), "--for", "blender")

    def test_one_take_of_several(self):
        """Under a program's own name, and in its axes: it is still known which."""
        for kept in ("idle", "searching", "firing"):
            with self.subTest(kept=kept):
                def change(scene, kept=kept):
                    unwrap(scene, METRES)
                    scene.remove(*[stack for name, stack in scene.takes().items() if name != kept])
                    rename_take(scene, kept, "Scene")
                self.each_file(change, "--for", "blender", files=["x4-ani/turret.ani"])

    def test_a_curve_that_hardly_moves(self):
        """A program drops it and leaves one of its values; in its axes that may be one of three that do move."""
        frames = [struct.pack("<6f", 0, 0, 0, 0.003 * math.sin(i / 2), 0.7 * math.sin(i / 4), 0) for i in range(12)]
        self.ending, self.original = "anim", struct.pack("<3IfB", 0, len(frames), 6, 1.0, 1) + b"".join(frames)

        def drop(scene, shift=0.0):
            unwrap(scene, METRES)
            for where, curve in scene.curves().items():
                values = [key.value for key in curve.keys]
                if where[2] != "Lcl Rotation" or max(values) - min(values) > 0.5:
                    continue
                left, axis = "%.9g" % (values[3] + shift), "xyz".index(where[3])
                rests(scene.models()[where[1]])["Lcl Rotation"][0].values[4 + axis] = left
                three = scene.by_id[scene.up[curve.node.values[0]][0][0]]
                three.first("Properties70").children[axis].values[4] = left
                scene.remove(curve.node)
        self.assertEqual(self.edit(drop, "--for", "blender"), self.original, self.said)
        # The value of no frame is no leftover.
        self.assertNotEqual(self.edit(lambda scene: drop(scene, 0.4), "--for", "blender"), self.original)

    def test_an_edit(self):
        """The same comes of it as with the wrapper there."""
        self.ending = "anm"
        self.original = (SOURCE / "tests" / "data" / "ei-anm" / "body.anm").read_bytes()

        def raise_it(scene):
            add(scene, ("animation", "x", "Lcl Translation", "y"), 2, 0.25)

        def changes():
            return [line for line in self.said.splitlines() if " changed" in line]
        self.put("with/x.anm", self.edit(raise_it, "--for", "blender"))
        expected = changes()
        self.assertIn("1 of 2 tracks changed", self.said)
        for m in (None, "basis", METRES):
            with self.subTest(m=m):
                self.put("without/x.anm", self.edit(lambda scene: (raise_it(scene), unwrap(scene, m)), "--for", "blender"))
                self.assertEqual(changes(), expected)
                self.keyferry("diff", "with/x.anm", "without/x.anm")
                self.keyferry("diff", "x.anm", "without/x.anm", code=1)


if __name__ == "__main__":
    unittest.main()
