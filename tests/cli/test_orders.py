"""Rotation orders of what is new: the same angles turn a node otherwise in another order, so they come into the file's."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxmade  # noqa: E402
import fbxtext  # noqa: E402
from command import DOOR, SOURCE, Case  # noqa: E402
from editcase import rename_take  # noqa: E402

ORDERS = ["xyz", "xzy", "yzx", "yxz", "zxy", "zyx"]
TURN = ([(0, 0), (0.5, 50)], [(0, 10), (0.5, 40)], [(0, 0), (0.5, 70)])


def product(a, b):
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def orientation(angles, order):
    q = (1, 0, 0, 0)
    for axis in ORDERS[order]:
        i = "xyz".index(axis)
        half = math.radians(angles[i]) / 2
        turn = [math.cos(half), 0, 0, 0]
        turn[1 + i] = math.sin(half)
        q = product(tuple(turn), q)
    return q


def apart(a, b):
    q = product((a[0], -a[1], -a[2], -a[3]), b)
    return math.degrees(2 * math.atan2(math.sqrt(q[1] ** 2 + q[2] ** 2 + q[3] ** 2), abs(q[0])))


def set_order(scene, node, order):
    properties = scene.models()[node].first("Properties70")
    properties.children = [p for p in properties.children if "RotationOrder" not in p.values[0]]
    properties.children += fbxtext.parse(f'X: {{\nP: "RotationOrder", "enum", "", "",{order}\n}}\n').children[0].children


def turn(scene, node, take):
    """Rotation curves, linear, for a node that had none."""
    number = max(map(int, scene.by_id)) + 1
    links = scene.root.first("Connections")
    layer = next(c.values[1] for c in links.all("C") if c.values[2] == scene.takes()[take].values[0])
    text = [f'AnimationCurveNode: {number}, "AnimCurveNode::R", "" {{\n' +
            fbxmade.properties(*((f"d|{a}", "Number", [0]) for a in "XYZ")) + "\n}"]
    more = [f'C: "OO",{number},{layer}', f'C: "OP",{number},{scene.models()[node].values[0]}, "Lcl Rotation"']
    for i, keys in enumerate(TURN):
        arrays = [fbxmade.array("KeyTime", [round(t * fbxmade.TICKS) for t, _ in keys]), fbxmade.array("KeyValueFloat", [v for _, v in keys]),
                  fbxmade.array("KeyAttrFlags", [fbxmade.LINEAR]), fbxmade.array("KeyAttrDataFloat", [0] * 4),
                  fbxmade.array("KeyAttrRefCount", [len(keys)])]
        text.append(f'AnimationCurve: {number + 1 + i}, "AnimCurve::", "" {{\nDefault: 0\nKeyVer: 4009\n' + "\n".join(arrays) + "\n}")
        more.append(f'C: "OP",{number + 1 + i},{number}, "d|{"XYZ"[i]}"')
    scene.objects.children += fbxtext.parse("\n".join(text)).children
    links.children += fbxtext.parse("\n".join(more)).children
    scene.__init__(scene.text())


class Orders(Case):
    def played(self, path, take, node, time):
        """How the file turns a node at a time on which there are keys."""
        read = self.json("dump", path)
        take = next(t for t in read["takes"] if t["name"] == take)
        tracks = [t for t in take["tracks"] if t["channel"] == "rotation" and read["nodes"][t["node"]]["name"] == node]
        keys = [next(k for k in t["keys"] if abs(k["t"] - time) < 1e-4) for t in tracks]
        return keys[0]["q"] if "q" in keys[0] else orientation([k["v"] for k in keys], 0)

    def check(self, path, take, node, order):
        for i in range(2):
            asked = orientation([keys[i][1] for keys in TURN], order)
            self.assertLess(apart(self.played(path, take, node, TURN[0][i][0]), asked), 0.01)

    def merge(self, original, change):
        ending = original.name.rsplit(".", 1)[1]
        self.put("x." + ending, original.read_bytes())
        self.keyferry("convert", "x." + ending, "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        return self.keyferry("convert", "x.fbx", "y." + ending, "-y").err

    def test_made_anew(self):
        for order in range(1, 6):
            scene = fbxtext.Scene(fbxmade.scene({"hip": {"R": TURN}}))
            set_order(scene, "hip", order)
            self.put("made.fbx", scene.text().encode())
            said = self.keyferry("convert", "made.fbx", "made.ani", "-y", "--strict").err
            self.assertIn(f'take "Take 001", node "hip": its rotation order is {ORDERS[order].upper()} in the FBX and XYZ in the file', said)
            self.check("made.ani", "Take 001", "hip", order)
            self.keyferry("diff", "made.fbx", "made.ani")

    def test_in_an_order_of_choice(self):
        """That of the FBX: the numbers stay what they are."""
        scene = fbxtext.Scene(fbxmade.scene({"hip": {"R": TURN}}))
        set_order(scene, "hip", 5)
        self.put("made.fbx", scene.text().encode())
        self.assertNotIn("order", self.keyferry("convert", "made.fbx", "made.ani", "--rotation-order", "ZYX").err)
        self.assertEqual([len(t["keys"]) for t in self.json("dump", "made.ani")["takes"][0]["tracks"]], [2, 2, 2])

    def test_angles_that_turn_alike_in_both(self):
        """About one axis, or about two that come in the same sequence: the keys stay what they are."""
        still = [(0, 0), (0.5, 0)]
        for order, turn, alike in ((5, (still, TURN[1], still), True), (1, (TURN[0], TURN[1], still), True), (1, (still, *TURN[1:]), False)):
            scene = fbxtext.Scene(fbxmade.scene({"hip": {"R": turn}}))
            set_order(scene, "hip", order)
            self.put("made.fbx", scene.text().encode())
            said = self.keyferry("convert", "made.fbx", "made.ani", "-y").err
            self.assertEqual("rotation order" in said, not alike, said)
            keys = [[(k["t"], round(k["v"], 4)) for k in t["keys"]] for t in self.json("dump", "made.ani")["takes"][0]["tracks"]]
            self.assertEqual(keys == [list(c) for c in turn], alike, keys)
            self.keyferry("diff", "made.fbx", "made.ani")

    def test_samples(self):
        """They stay samples, which are fitted with few keys."""
        bake = tuple([(i / 24, keys[1][1] * math.sin(i / 16)) for i in range(49)] for keys in TURN)
        scene = fbxtext.Scene(fbxmade.scene({"hip": {"R": bake}}))
        set_order(scene, "hip", 5)
        self.put("made.fbx", scene.text().encode())
        self.keyferry("convert", "made.fbx", "made.ani")
        read = self.json("dump", "made.ani")["takes"][0]["tracks"]
        self.assertLess(len(read[0]["keys"]), 25)

    def test_a_rotation_that_was_not_there(self):
        for original, take, node, told in ((DOOR, "door_open", "anim_door_left", True),
                                           (SOURCE / "tests/data/nytro-anim/eight.nanim", "walk", "a", False)):
            def change(scene):
                turn(scene, node, take)
                set_order(scene, node, 5)
            said = self.merge(original, change)
            self.assertEqual("its rotation order is ZYX in the FBX and XYZ in the file" in said, told, said)
            self.check("y." + original.name.rsplit(".", 1)[1], take, node, 5)

    def test_a_new_node(self):
        def change(scene):
            scene.clone("anim_door_left", "more")
            turn(scene, "more", "door_open")
            set_order(scene, "more", 5)
        self.assertIn('node "more": its rotation order is ZYX in the FBX and XYZ', self.merge(DOOR, change))
        self.check("y.ani", "door_open", "more", 5)

    def test_a_new_take(self):
        def change(scene):
            scene.clone_take("door_open", "again")
            rename_take(scene, "again", "door_again")
            turn(scene, "anim_door_left", "door_again")
            set_order(scene, "anim_door_left", 5)
        self.merge(DOOR, change)
        self.check("y.ani", "door_again", "anim_door_left", 5)


if __name__ == "__main__":
    unittest.main()
