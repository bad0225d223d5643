"""What an FBX can hold besides nodes and their curves, and takes that the original does not have: carried, or told of."""
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
import fbxtext  # noqa: E402
from command import SOURCE, Case  # noqa: E402
from editcase import EditCase  # noqa: E402
from test_layers import Adding, node  # noqa: E402


class Animated(EditCase):
    """Curves on what is no node."""
    ending = "anm"
    original = (SOURCE / "tests/data/ei-anm/body.anm").read_bytes()
    KINDS = {"light": ("NodeAttribute", "Light", "Intensity"), "camera": ("NodeAttribute", "Camera", "FieldOfView"),
             "bone attribute": ("NodeAttribute", "LimbNode", "Size"), "material": ("Material", "", "DiffuseFactor"),
             "texture": ("Texture", "", "Translation"), "mesh": ("Geometry", "Mesh", "Wings"),
             "constraint": ("Constraint", "Single Chain IK", "Weight"), "object": ("Video", "Clip", "PlaySpeed")}

    def test_are_told_of(self):
        for kind, (name, sort, prop) in self.KINDS.items():
            def change(scene):
                adding = Adding(scene)
                model = adding.model("holder", next(m for n, m in scene.models().items() if n.startswith("keyferry_")).values[0])
                children = [node("Type", '"Constraint"', children=None)] if name == "Constraint" else []
                element = adding.put(node(name, f'"{name}::thing"', f'"{sort}"', children=children), model)
                stack = next(iter(scene.takes().values()))
                layer = next(n for n, to in scene.up.items() if any(t == stack.values[0] for t, _ in to))
                adding.curves(layer, element, prop)
            self.assertEqual(self.edit(change), self.original, kind)
            self.assertRegex(self.said, rf"warning: .*{kind} .*{prop}|warning: .*{prop}.*{kind}", kind)

    def test_values_that_are_no_numbers(self):
        """In an FBX they hold the last value that is one."""
        def change(scene):
            curve = scene.curve(*next(w for w, c in sorted(scene.curves().items()) if len(c.keys) > 1))
            curve.keys[1].value = float("inf")
            curve.store()
        now = self.edit(change)
        self.assertIn("1 values are not finite numbers; the value before is held", self.said)
        self.assertEqual(len(now), len(self.original))
        count = struct.unpack_from("<I", now)[0]
        for i in range(count):
            self.assertAlmostEqual(sum(c * c for c in struct.unpack_from("<4f", now, 4 + 16 * i)), 1, 4)


class NewTakes(EditCase):
    """A take that is new in the FBX becomes a file of its own, where a file is a take."""
    ending = "anim"
    original = (SOURCE / "tests/data/mm2-anim/two-bones.anim").read_bytes()

    def second(self, name, values=(0, 3, 1)):
        def change(scene):
            adding = Adding(scene)
            bone = next(m for n, m in sorted(scene.models().items()) if not n.startswith("keyferry_"))
            adding.curves(adding.layer(adding.take(name), "Base"), bone.values[0], values=values)
        return change

    def into_folder(self, change):
        self.put("x.anim", self.original)
        self.keyferry("convert", "x.anim", "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        self.said = self.keyferry("convert", "x.fbx", "out/", "-y").err
        return {n[4:]: d for n, d in self.files().items() if n.startswith("out/")}

    def test_a_new_clip(self):
        made = self.into_folder(self.second("jump"))
        self.assertEqual(sorted(made), ["jump.anim", "x.anim"])
        self.assertEqual(made["x.anim"], self.original)
        tracks = self.json("dump", "out/jump.anim")["takes"][0]["tracks"]
        moved = {t["component"]: [round(k["v"], 3) for k in t["keys"]] for t in tracks if t["channel"] == "translation"}
        self.assertEqual(moved["x"][0], 0)
        self.assertEqual(max(moved["x"]), 3)
        self.assertEqual(len(moved["x"]), 31)  # a second at 30 frames
        self.assertEqual(moved["x"][-1], 1)

    def test_names_stay_in_the_folder(self):
        made = self.into_folder(self.second("../up/down:1"))
        self.assertEqual(sorted(made), [".._up_down_1.anim", "x.anim"])
        self.assertEqual(made["x.anim"], self.original)


class OldText(Case):
    """FBX 6.1, as programs of before 2011 write it: the keys stand below the takes, with letters for what they do."""
    KEYS = "Key: 0,1,L,46186158000,2,C,s,92372316000,3,C,n,138558474000,4,U,s,1.5,1.5,n,184744632000,7,L"

    def test_keys(self):
        axes = "".join(f'Channel: "{c}" {{\nDefault: 1\nKeyVer: 4005\nKeyCount: 5\n{self.KEYS}\n}}\n' for c in "XYZ")
        self.put("old.fbx", ("; FBX 6.1.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 6100\n}\n"
                             'Objects: {\nModel: "Model::crane", "Null" {\nVersion: 232\nProperties60: {\n'
                             'Property: "Lcl Translation", "Lcl Translation", "A+",1,1,1\n}\n}\n}\n'
                             'Connections: {\nConnect: "OO", "Model::crane", "Model::Scene"\n}\n'
                             'Takes: {\nCurrent: "lift"\nTake: "lift" {\nLocalTime: 0,184744632000\n'
                             'Model: "Model::crane" {\nVersion: 1.1\nChannel: "Transform" {\nChannel: "T" {\n' + axes +
                             "}\n}\n}\n}\n}\n").encode())
        scene = self.json("dump", "old.fbx")
        self.assertEqual([n["name"] for n in scene["nodes"]], ["crane"])
        tracks = [t for t in scene["takes"][0]["tracks"] if t["channel"] == "translation"]
        self.assertEqual([t["component"] for t in tracks], ["x", "y", "z"])
        for track in tracks:
            self.assertEqual([(k["t"], k["v"], k["interp"]) for k in track["keys"]],
                             [(0, 1, "linear"), (1, 2, "step"), (2, 3, "step-next"), (3, 4, "hermite"), (4, 7, "linear")])
            self.assertEqual([round(n, 4) for n in track["keys"][3]["out"]], [0.3333, 0.5])
        self.keyferry("convert", "old.fbx", "crane.ani", "--to", "x4-ani")
        self.keyferry("check", "crane.ani")


class Refused(Case):
    def test_verify_takes_games_files(self):
        self.put("a.fbx", b"; FBX 7.5.0 project file\nFBXHeaderExtension: {\nFBXVersion: 7500\n}\n")
        self.assertIn("verify takes a game's file, not an FBX", self.keyferry("verify", "a.fbx", code=2).err)

    def test_several_into_one_fbx(self):
        self.put("a.ani", (SOURCE / "tests/data/x4-ani/door.ani").read_bytes())
        self.keyferry("convert", "a.ani", "a.fbx")
        self.keyferry("convert", "a.ani", "b.fbx")
        done = self.keyferry("convert", "a.fbx", "b.fbx", "c.fbx", "--to", "fbx", code=2)
        self.assertIn("several FBX files make one game file, not one FBX", done.err)
        self.assertNotIn("c.fbx", self.names())


if __name__ == "__main__":
    unittest.main()
