"""Nytro node animations through the command: there, back, edited, broken. The files come from tests/generate/nytro_anim.py
and are judged by tests/decode/nytro_anim.py, neither of which shares a line with the command."""
import json
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from formatcase import FormatCase, angle, module  # noqa: E402

generate, reader = module("generate", "nytro_anim"), module("decode", "nytro_anim")
CASES = {name: (data, tags.split()) for name, data, tags in generate.cases()}
TCB, BEZIER, LINEAR = generate.TCB, generate.BEZIER, generate.LINEAR


def file_of(kind, dialect="long"):
    """One node, "hip", with five translation keys and three rotation keys, a quarter of a second apart and more."""
    places = [(0, [0, 0, 0]), (0.25, [1, 4, -2]), (0.5, [3, 4, 1]), (1, [3, -5, 2]), (1.25, [2, -4, 2])]
    turns = [(0, [30, 0, 0, 1]), (0.5, [-60, 0, 1, 0]), (1, [400, 1, 0, 0])]
    tcb = [(0.25, 0, 0, 0, 0), (0, 0.5, 0, 0, 0), (0, 0, -0.5, 0, 0), (0, 0, 0, 0, 0), (0.5, 0.5, 0.5, 0, 0)]
    keys = [[generate.key(t, v, n if kind == TCB else None, 1) for (t, v), n in zip(part, tcb)] for part in (places, turns)]
    return generate.animation(dialect, [generate.node(b"hip", kind, *keys)], after=[(9, b"kept")])


CASES.update({f"hip_{name}": (file_of(kind), ["clean", "hand"]) for name, kind in (("tcb", TCB), ("bezier", BEZIER), ("linear", LINEAR))})
SIZE = {TCB: 40, BEZIER: 20, LINEAR: 20}
FIRST = 16 + 4 + len(b"walk\0somebody (C) 2001\0") + 2 + 16 + len(b"hip\0") + 16  # where the first key stands


class Nodes(FormatCase):
    id, ending, cases = "nytro-anim", "nanim", CASES

    def decode(self, name, data):
        return reader.decode(data)


class Reading(Nodes):
    def test_enough_of_every_dialect(self):
        self.check_enough(generate.DIALECTS)

    def test_samples_are_the_generators(self):
        self.check_samples()

    def test_dump_is_what_the_second_reader_reads(self):
        self.check_dumps()

    def test_recognised(self):
        self.check_recognised()

    def test_check(self):
        self.check_rules()

    def test_bad_files(self):
        self.check_refused()

    def test_huge_counts_take_no_memory(self):
        good = file_of(LINEAR)
        for at in range(FIRST - 12, FIRST, 4):
            for number in (0x0CCCCCCD, 0x7FFFFFFF, 0xFFFFFFFF):
                self.put("x.nanim", good[:at] + struct.pack("<I", number) + good[at + 4:])
                self.assertIn("KeyCount", self.keyferry("info", "x.nanim", "--from", "nytro-anim", "--max-memory", "1M", code=1).err)

    def test_alone(self):
        for name in ("tcb", "linear"):
            self.put(f"{name}.nanim", CASES[name][0])
        self.assertIn("one by one", self.keyferry("convert", "tcb.nanim", "linear.nanim", "x.fbx", code=2).err)


class ThereAndBack(Nodes):
    def test_capsule_7400(self):
        self.check_restored("--fbx-version", "7400")

    def test_capsule_7500(self):
        self.check_restored("--fbx-version", "7500")

    def test_capsule_ascii(self):
        self.check_restored("--ascii")

    def test_sidecar(self):
        self.check_restored(keep="--no-capsule")

    def test_slopes(self):
        self.check_restored("--tcb", "slopes")

    def test_baked_for_blender(self):
        self.check_restored("--for", "blender")

    def test_verify(self):
        self.check_verified()

    def test_verify_slopes(self):
        self.check_verified("--tcb", "slopes")

    def test_oddities_are_told_of(self):
        for name in ("not_finite", "backwards", "no_axis"):
            self.put("x.nanim", CASES[name][0])
            self.assertIn("warning", self.keyferry("convert", "x.nanim", "x.fbx", "-y").err)
            self.keyferry("convert", "x.nanim", "y.fbx", "--strict", code=1)


class Rebuilt(Nodes):
    """Without the original: the second reader finds the same keys, and rotations that pass through the old ones."""

    def difference(self, was, now):
        def tracks(data):  # nodes without keys are not written: the others in order
            found = reader.decode(data)["takes"][0]["tracks"]
            rank = {node: i for i, node in enumerate(sorted({t["node"] for t in found}))}
            return {(rank[t["node"]], t["channel"], t.get("component")): t["keys"] for t in found}
        a, b = tracks(was), tracks(now)
        if set(a) != set(b):
            return set(a) ^ set(b)
        for where, keys in a.items():
            if where[1] == "rotation":
                for key in keys:
                    found = min(b[where], key=lambda other: abs(other["t"] - key["t"]))
                    if abs(found["t"] - key["t"]) > 1e-6 or angle(found["q"], key["q"]) > 0.01:
                        return where, key, found
                continue
            if len(keys) != len(b[where]):
                return where, len(keys), len(b[where])
            for x, y in zip(keys, b[where]):
                for field in ("t", "v", *reader.NUMBERS[:3]):
                    if not math.isclose(x.get(field, 0), y.get(field, 0), rel_tol=1e-6, abs_tol=1e-6):
                        return where, x, y
        return None

    def test_rebuilt(self):
        names = [n for n in self.put_all("in", "exact") if n not in ("no_nodes", "no_keys", "jump")]
        self.keyferry("convert", "in", "fbx/", "--to", "fbx", "--no-capsule", "--no-sidecar")
        self.keyferry("convert", "fbx", "out/", "--to", "nytro-anim")
        out = self.back("out")
        self.none([(name, found) for name in names if (found := self.difference(CASES[name][0], out[name]))])
        self.keyferry("check", "out")
        for data in out.values():  # long headers, the last of which ends with the file
            self.assertEqual(struct.unpack_from("<2I", data), (1, 1))
            second = struct.unpack_from("<4I", data, struct.unpack_from("<I", data, 12)[0])
            self.assertEqual((second[0], second[3]), (2, len(data)))

    def test_helper_keys_keep_the_slerp(self):
        """Between the keys too: the FBX's Euler curves stay within a hundredth of a degree of the slerped motion."""
        self.put("turns.nanim", CASES["turns"][0])
        for tolerance in ("0.01", "0.001"):
            self.keyferry("convert", "turns.nanim", "turns.fbx", "-y", "--no-capsule", "--no-sidecar", "--tolerance", tolerance)
            report = json.loads(self.run_quietly("diff", "turns.nanim", "turns.fbx", "--json", "--tolerance", tolerance).stdout)
            turned = [d for d in report["differences"] if d["channel"] == "rotation"]
            self.assertEqual(len(turned), 3)
            self.none([d for d in turned if d["only"] or not d["worst"] <= float(tolerance)])

    def test_from_another_format(self):
        """Bezier keys with hand-drawn tangents, which no node here has: within tolerance all the same."""
        other = module("generate", "x4_ani")
        times, values = [0, 0.5, 1, 2], [[0, 0, 0], [2, -1, 1], [1, 3, -2], [4, 0, 0]]
        self.put("x.ani", other.ani([other.description("part", "open", 2.0, pos=other.bezier_keys(times, values))]))
        self.keyferry("convert", "x.ani", "x.fbx")
        self.keyferry("convert", "x.fbx", "x.nanim", "--to", "nytro-anim")
        self.keyferry("check", "x.nanim")
        self.keyferry("diff", "x.fbx", "x.nanim")


class Edited(Nodes):
    def only(self, was, now, *ranges):
        """Nothing but those bytes changed, and something in each."""
        self.assertEqual(len(was), len(now))
        changed = {i for i in range(len(was)) if was[i] != now[i]}
        for start, size in ranges:
            self.assertTrue(changed & set(range(start, start + size)))
            changed -= set(range(start, start + size))
        self.assertFalse(changed)

    def test_value(self):
        for name, kind in (("hip_tcb", TCB), ("hip_bezier", BEZIER), ("hip_linear", LINEAR)):
            for options in ((), ("--tcb", "slopes")):
                def change(scene):
                    curve = scene.curve("walk", "hip", "Lcl Translation", "y")
                    curve.keys[2].value += 0.5
                    curve.store()
                was, now, _ = self.edit(name, change, *options)
                at = FIRST + 2 * SIZE[kind] + SIZE[kind] - 12 + 4
                self.only(was, now, (at, 4))
                self.assertEqual(struct.unpack_from("<f", now, at), (4.5,))

    def test_time(self):
        for name, kind in (("hip_tcb", TCB), ("hip_linear", LINEAR)):
            def change(scene):
                for axis in "xyz":
                    curve = scene.curve("walk", "hip", "Lcl Translation", axis)
                    curve.keys[3].time -= fbxtext.TICKS // 8
                    curve.store()
            was, now, _ = self.edit(name, change)
            at = FIRST + 3 * SIZE[kind] + 4
            self.only(was, now, (at, 4))
            self.assertEqual(struct.unpack_from("<f", now, at), (0.875,))

    def test_tcb_numbers(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("walk", "hip", "Lcl Translation", axis)
                self.assertTrue(curve.keys[1].flags & 0x200)
                curve.keys[1].set_number(0, -0.75)
                curve.keys[2].set_number(2, 0.25)
                curve.store()
        was, now, _ = self.edit("hip_tcb", change)
        self.only(was, now, (FIRST + 40 + 8, 4), (FIRST + 80 + 16, 4))
        self.assertEqual(struct.unpack_from("<f", now, FIRST + 48) + struct.unpack_from("<f", now, FIRST + 96), (-0.75, 0.25))

    def test_numbers_of_rotations_and_ease(self):
        """FBX has no place for these; they travel as properties of the node, and can be edited there."""
        turns = FIRST + 6 * 40
        edits = {("kf_rotation_bias", 1): (turns + 44 + 16, 0.375), ("kf_rotation_ease_in", 3): (turns + 3 * 44 + 20, 0.5),
                 ("kf_translation_ease_out", 2): (FIRST + 2 * 40 + 24, 0.125)}
        for options in ((), ("--tcb", "slopes")):
            if options:  # there the curve itself has the ease
                del edits["kf_translation_ease_out", 2]

            def change(scene):
                for (name, key), (_, value) in edits.items():
                    curve = scene.curve("walk", "hip", name, name)
                    curve.keys[key].value = value
                    curve.store()
            was, now, _ = self.edit("ease", change, *options)
            for at, value in edits.values():
                self.assertEqual(struct.unpack_from("<f", now, at), (value,))
            self.only(was, now, *((at, 4) for at, _ in edits.values()))

    def lose(self, scene, properties=False):
        """Without the curves of these properties, or without the properties."""
        scene.remove(*(node for where, node in list(scene._curves()) if where[2].startswith("kf_")))
        for model in scene.models().values() if properties else ():
            for name in [fbxtext.unquote(p.values[0]) for p in model.first("Properties70").children]:
                if name.startswith("kf_"):
                    scene.remove_property(model, name)
        if properties:
            scene.remove(*(n for n in scene.objects.all("AnimationCurveNode") if fbxtext.name_of(n).startswith("kf_")))

    def test_numbers_that_do_not_come_back(self):
        for properties in (False, True):
            was, now, said = self.edit("ease", lambda scene: self.lose(scene, properties), "--for", "max")
            self.assertEqual(was, now)
            self.assertEqual(said.count("did not come back"), 1, said)
            self.assertIn('7 properties that tell tension, continuity, bias or ease did not come back, and these numbers stay as they '
                          'were (--drop-missing makes them 0; first: take "walk", node "hip", kf_translation_ease_in)', said)
        # baked, none of them is written
        was, now, said = self.edit("ease", self.lose, "--for", "blender")
        self.assertEqual((was, "did not come back" in said), (now, False), said)

    def test_numbers_to_be_dropped(self):
        for properties in (False, True):
            _, now, said = self.edit("ease", lambda scene: self.lose(scene, properties), back=("--drop-missing",))
            for key in range(5):
                self.assertEqual(struct.unpack_from("<5f", now, FIRST + 6 * 40 + key * 44 + 8), (0,) * 5)
            self.assertNotIn("did not come back", said)

    def test_a_number_moved_alone(self):
        """It belongs to a key of the motion, and that did not move."""
        def change(scene):
            curve = scene.curve("walk", "hip", "kf_rotation_bias", "kf_rotation_bias")
            curve.keys[3].time += fbxtext.TICKS // 20
            curve.store()
        was, now, said = self.edit("ease", change)
        self.assertEqual(was, now)
        self.assertRegex(said, r'warning: take "walk", node "hip", kf_rotation_bias at [0-9.]+ s: moved without the key that it belongs '
                         r'to, at [0-9.]+ s, which keeps -0.1\d+, though the FBX shows 0 there')

    def test_rotation_key(self):
        """One Euler value of one key, in a node that slerps: angle and axis are written as they were meant, turns and all. Keys
        before it keep their bytes; some are added beside it, for the curve in the FBX is no slerp any more."""
        def change(scene):
            curve = scene.curve("walk", "hip", "Lcl Rotation", "x")
            curve.keys[-1].value += 15  # 400 about x
            curve.store()
        was, now, _ = self.edit("hip_linear", change)
        (_, flags, moves, turns, _), = reader.load(was)[1]
        (_, flags_now, moves_now, turns_now, _), = reader.load(now)[1]
        self.assertEqual((flags, moves, turns[:2]), (flags_now, moves_now, turns_now[:2]))
        mark, time, _, (turned, *axis) = turns_now[-1]
        self.assertEqual((mark, time), (1, 1))
        self.assertAlmostEqual(turned, 415, 1)
        self.assertLess(math.dist(axis, (1, 0, 0)), 1e-3)

    def test_key_added_and_removed(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("walk", "hip", "Lcl Translation", axis)
                del curve.keys[1]
                last = curve.keys[-1]
                curve.keys.append(fbxtext.Key(last.time + fbxtext.TICKS // 4, 9.0, last.flags, last.data))
                curve.store()
        was, now, _ = self.edit("hip_linear", change)
        self.assertEqual(was[FIRST + 40:FIRST + 100], now[FIRST + 20:FIRST + 80])
        self.assertEqual(struct.unpack_from("<I4f", now, FIRST + 80), (0, 1.5, 9, 9, 9))
        self.assertEqual(was[:FIRST + 20] + was[FIRST + 100:], now[:FIRST + 20] + now[FIRST + 100:])

    def test_take_longer_and_chunks_follow(self):
        """A file that grows: sizes and positions are right again, unknown chunks as they were."""
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("walk", "hip", "Lcl Translation", axis)
                last = curve.keys[-1]
                curve.keys.append(fbxtext.Key(last.time + fbxtext.TICKS // 4, 9.0, last.flags, last.data))
                curve.store()
        was, now, _ = self.edit("hip_tcb", change)
        self.assertEqual(len(now), len(was) + 40)
        self.assertEqual([data for data in reader.chain(now, False).values()][2], b"kept")
        self.assertEqual(len(reader.load(now)[1][0][2]), 6)
        self.put("now.nanim", now)
        self.keyferry("check", "now.nanim")

    def test_linear_key_in_a_tcb_node(self):
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("walk", "hip", "Lcl Translation", axis)
                curve.keys[2].flags = 0x4
                curve.store()
        _, now, said = self.edit("hip_tcb", change)
        self.assertEqual(reader.load(now)[1][0][1], TCB)
        self.assertRegex(said, r'warning: node "hip", take "walk".*keys were added')


if __name__ == "__main__":
    unittest.main()
