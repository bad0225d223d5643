"""What nodes and takes are called in messages: by their whole names, as the FBX calls them."""
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli"))
from editcase import EditCase, add, rename_take  # noqa: E402
from test_edits_nytro import ARM_MOVES, LINEAR, MOVE, TURN, build, key  # noqa: E402

NAN = float("nan")


def node(name, moves):
    """A node with linear keys of translation."""
    return name + b"\0" + struct.pack("<4I", LINEAR, len(moves), 0, 0) + b"".join(key(*k) for k in moves)


def file_of(*nodes, take=b"walk"):
    return build(take, False, False, more=b"".join(nodes), nodes=len(nodes))[0]


class Names(EditCase):
    ending = "nanim"

    def move(self, name, original, take="walk", **more):
        self.original = original
        self.edit(lambda scene: add(scene, (take, name, MOVE, "x"), 1, 0.5), **more)
        return self.said

    def test_long(self):
        """Up to 200 bytes, names that differ at their end only are told apart."""
        for first, second in (("n" * 70 + "a", "n" * 70 + "b"), ("n" * 199 + "a", "n" * 199 + "b"), ("ä" * 99 + "a", "ä" * 99 + "b")):
            original = file_of(node(first.encode(), ARM_MOVES), node(second.encode(), ARM_MOVES))
            self.assertIn(f'changed: take "walk", node "{second}", translation: 1 keys changed', self.move(second, original))

    def test_longer(self):
        """A longer one is cut between two characters, and that is shown."""
        for begin in ("", "a", "ab", "abc"):
            for letter in "nä€🙂":
                name = begin + letter * 201
                shown = begin + letter * ((200 - len(begin)) // len(letter.encode()))
                said = self.move(name, file_of(node(name.encode(), ARM_MOVES)))
                self.assertIn(f'changed: take "walk", node "{shown}...", translation: 1 keys changed', said)

    def test_several_that_are_long(self):
        """Where there is no room for all of each, a message still ends with its last word."""
        take, name = "t" * 199 + "e", "n" * 199 + "e"
        moves = [(0.0, None, (NAN, 0, 0)), *ARM_MOVES[1:]]
        self.put("x.nanim", file_of(node(name.encode(), moves), take=take.encode()))
        said = self.keyferry("convert", "x.nanim", "x.fbx").err
        self.assertIn(f'node "{name}", take "{take}", 0.0000 s: ', said)
        error = self.json("convert", "--json", "--strict", "x.nanim", "y.fbx", code=1)["error"]["message"]
        self.assertTrue(error.endswith("a value is not a finite number, the last one is held"), error)

    def test_no_text(self):
        """Bytes that are no UTF-8 have no characters to cut between."""
        said = self.move("%80" * 300, file_of(node(b"\x80" * 300, ARM_MOVES)))
        self.assertIn('changed: take "walk", node "' + ("%80" * 67)[:200] + '...", translation: 1 keys changed', said)

    def test_what_terminals_act_on(self):
        """Control characters, and those that turn the direction of writing, are shown by their bytes; JSON has them all."""
        steering = [*range(0x80, 0xa0), 0x200e, 0x200f, *range(0x202a, 0x202f), *range(0x2066, 0x206a)]
        beside = "\x7e\xa0\u200d\u2010\u2029\u202f\u2065\u206aä€🙂"
        name = beside + "".join(map(chr, steering))
        shown = beside + "".join(f"\\x{byte:02x}" for byte in "".join(map(chr, steering)).encode())
        original = file_of(node(name.encode(), ARM_MOVES))
        self.assertIn(f'changed: take "walk", node "{shown}", translation: 1 keys changed', self.move(name, original))
        self.put("x.nanim", file_of(node(name.encode(), ARM_MOVES), take=name.encode()))
        self.put("y.nanim", file_of(node(name.encode(), ARM_MOVES[:2]), take=name.encode()))
        found = self.keyferry("info", "x.nanim").out + self.keyferry("diff", "x.nanim", "y.nanim", code=1).out
        self.assertEqual(set(found.decode()) & set(map(chr, steering)), set())
        for verb, *words in (("info", "x.nanim", "--json"), ("dump", "x.nanim")):
            self.assertEqual(self.json(verb, *words)["takes"][0]["name"], name)
        self.assertEqual(self.json("diff", "x.nanim", "y.nanim", "--json", code=1)["differences"][0]["node"], name)

    def test_take_without_name(self):
        moves = [ARM_MOVES[0], (1.0, None, (NAN, 2, 3)), *ARM_MOVES[2:]]
        original = file_of(node(b"hip", moves), take=b"")
        said = self.keyferry("convert", self.put("a.nanim", original), "a.fbx").err
        self.assertIn('node "hip", take "take", 1.0000 s: ', said)
        self.assertIn('changed: take "take", node "hip", translation: ', self.move("hip", original, "take"))
        self.assertIn('(first: "" as "take")', said)  # that it has none is told, too
        self.assertEqual(self.edit(lambda scene: None), original)

    def test_alike(self):
        """Two nodes of one name: each is called as in the FBX, by every part of the program."""
        original = file_of(node(b"hip", ARM_MOVES), node(b"hip", ARM_MOVES), node(b"a|b", ARM_MOVES))
        self.assertIn('changed: take "walk", node "hip__2", translation: 1 keys changed', self.move("hip__2", original))
        self.assertIn('changed: take "walk", node "hip", translation: 1 keys changed', self.move("hip", original))
        self.assertIn('changed: take "walk", node "a%7Cb", translation: 1 keys changed', self.move("a%7Cb", original))

        def smooth(scene):
            curve = scene.curve("walk", "hip__2", MOVE, "x")
            for k in curve.keys:
                k.flags = 0x108  # cubic: the node's keys become such
            curve.store()
        self.edit(smooth)
        self.assertRegex(self.said, 'node "hip__2", take "walk"[:,]')
        self.assertNotIn('"hip"', self.said)

    def test_renamed_take(self):
        """Changes are told of the take by the name that it has from now on."""
        self.original = build()[0]

        def change(scene):
            add(scene, ("walk", "hip", MOVE, "x"), 1, 0.5)
            curve = scene.curve("walk", "hip", TURN, "x")
            curve.keys[1].flags = 0x2  # a step, which the format has not
            curve.store()
            scene.clone("arm", "tail")
            rename_take(scene, "walk", "run")
        self.edit(change)
        self.assertIn('added: take "run", node "tail", translation', self.said)
        self.assertIn('renamed: take "walk" is "run" now', self.said)
        self.assertIn('changed: take "run", node "hip", translation: ', self.said)
        self.assertIn('warning: take "run", node "hip", rotation: the format has no such steps', self.said)
        self.assertEqual(self.said.count('"walk"'), 1, self.said)


del EditCase


if __name__ == "__main__":
    unittest.main()
