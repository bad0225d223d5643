"""Edits of a Nytro file come home: exactly the bytes that must differ do. The file is put together here, byte by byte."""
import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import SOURCE  # noqa: E402
from editcase import EditCase, add, each, rename_take  # noqa: E402

TCB, BEZIER, LINEAR = 1, 2, 4
MOVE, TURN, SCALE = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
# time, T C B ease in, ease out, value
HIP_MOVES = [(0.0, (0, 0, 0, 0, 0), (0, 0, 0)), (1.0, (0, 0, 0, 0.25, 0), (1, 4, -2)), (2.0, (0.25, 0, 0, 0, 0), (3, 4, 1)),
             (3.0, (0, -0.5, 0, 0, 0.5), (3, -5, 2)), (4.0, (0, 0, 0, 0, 0), (2, -4, 2))]
HIP_TURNS = [(0.0, (0, 0, 0, 0, 0), (30, 0, 0, 1)), (1.0, (0.5, 0, 0, 0, 0), (-60, 0, 1, 0)), (2.0, (0, 0, 0, 0, 0), (20, 1, 0, 0))]
ARM_MOVES = [(0.0, None, (0, 0, 0)), (1.0, None, (1, 2, 3)), (1.5, None, (2, 0, 1)), (3.0, None, (5, 5, 5))]
ARM_SCALES = [(0.0, None, (1, 1, 1)), (3.0, None, (2, 1, 0.5))]


def key(time, tcb, value, flags=1):
    return struct.pack("<I%df" % (1 + 5 * (tcb is not None) + len(value)), flags, time, *(tcb or ()), *value)


def build(name=b"walk", hip=True, arm=True, arm_moves=ARM_MOVES, more=b"", nodes=0, hip_moves=HIP_MOVES, hip_turns=HIP_TURNS, arm_kind=LINEAR):
    """The file and where each list of keys begins in it."""
    at = {}
    header = struct.pack("<I", 0) + name + b"\0me\0" + struct.pack("<H", hip + arm + nodes)
    out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
    body = b""
    for wanted, node, kind, lists in ((hip, b"hip", TCB, (hip_moves, hip_turns, [])), (arm, b"arm", arm_kind, (arm_moves, [], ARM_SCALES))):
        if not wanted:
            continue
        body += node + b"\0" + struct.pack("<4I", kind, *map(len, lists))
        for channel, keys in zip((MOVE, TURN, SCALE), lists):
            at[node, channel] = len(out) + 16 + len(body)
            body += b"".join(key(*k) for k in keys)
    body += more
    out += struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body
    out += struct.pack("<4I", 9, 7, 0, 0)  # a chunk nobody knows, the last
    return out, at


class Nytro(EditCase):
    ending = "nanim"
    original, AT = build()

    def record(self, node, channel, index):
        size = (40 if node == b"hip" else 20) + 4 * (channel == TURN)
        return self.AT[node, channel] + size * index

    def test_number_between_keys(self):
        """No key of the motion is there to have it; a neighbour's own number there is no edit."""
        for value, told in ((0.375, True), (None, False)):
            def change(scene, value=value):
                curve = scene.curve("walk", "hip", "kf_translation_ease_in", "kf_translation_ease_in")
                new = fbxtext.Key((curve.keys[1].time + curve.keys[2].time) // 2, curve.keys[1].value if value is None else value,
                                  curve.keys[1].flags, list(curve.keys[1].data))
                curve.keys.insert(2, new)
                curve.store()
            self.assertEqual(self.edit(change), self.original)
            (self.assertRegex if told else self.assertNotRegex)(
                self.said, r'warning: take "walk", node "hip", kf_translation_ease_in at 1\.5000 s: the motion has no key there')

    def test_kind_of_the_last_key(self):
        """In FBX it is arrived at with no slope, if a TCB key is before it and it is none: tension 1 says so."""
        for flags in (2, 4, 0xc08):
            def change(scene, flags=flags):
                def last(curve):
                    curve.keys[-1].flags = flags
                    curve.keys[-1].data = [0, 0, 0x0d050d05, 0]
                each(scene, "walk", "hip", MOVE, last)
            now = self.edit(change)
            self.assertEqual(now, self.patched((self.record(b"hip", MOVE, 4) + 8, struct.pack("<f", 1.0))), self.said)

    def test_curves_gone_beside_numbers(self):
        """Of as many tracks as there are, however many of their numbers were edited."""
        def change(scene):
            scene.remove(*(curve.node for at, curve in scene.curves().items() if at[:3] == ("walk", "hip", MOVE)))
            for number in ("tension", "continuity", "bias"):
                curve = scene.curve("walk", "hip", "kf_rotation_" + number, "kf_rotation_" + number)
                curve.keys[1].value += 0.25
                curve.store()
        self.original = build(hip_turns=[(t, (0.25, 0.25, 0.25, 0, 0), turn) for t, _, turn in HIP_TURNS])[0]
        self.edit(change)
        self.assertIn('take "walk": 1 of 4 tracks did not come back', self.said)
        self.assertIn("1 of 4 tracks changed, 1 kept", self.said)

    def test_nothing(self):
        for options in ((), ("--tcb", "slopes"), ("--bake=30",)):
            self.assertEqual(self.edit(lambda scene: None, *options), self.original)

    def frames(self, data):
        """{(node, channel, component): its values on every frame}."""
        self.keyferry("convert", self.put("frames.nanim", data), "frames.fbx", "--bake=30", "-y")
        anim = self.json("dump", "frames.fbx")
        return {(anim["nodes"][t["node"]]["name"], t["channel"], t["component"]): [key["v"] for key in t["keys"]]
                for t in anim["takes"][0]["tracks"]}

    def test_frame_of_a_bake(self):
        """One frame is moved, and one turned: on every frame all is where it was but for that."""
        now = self.edit(lambda scene: (add(scene, ("walk", "hip", MOVE, "x"), 45, 1.0),
                                       add(scene, ("walk", "hip", TURN, "x"), 20, 5.0)), "--bake=30")
        wanted, found = self.frames(self.original), self.frames(now)
        wanted["hip", "translation", "x"][45] += 1.0
        wanted["hip", "rotation", "x"][20] += 5.0
        self.assertEqual(set(found), set(wanted))
        for place, values in wanted.items():
            if place[1] not in ("translation", "rotation", "scale"):
                continue
            with self.subTest(place=place):
                self.assertEqual(len(found[place]), len(values))
                for frame, (a, b) in enumerate(zip(found[place], values)):
                    self.assertAlmostEqual(a, b, None, frame, 0.02 if place[1] == "rotation" else 1e-3)

    def test_value(self):
        for options in ((), ("--tcb", "slopes")):
            now = self.edit(lambda scene: add(scene, ("walk", "arm", MOVE, "y"), 1, 0.5), *options)
            self.assertEqual(now, self.patched((self.record(b"arm", MOVE, 1) + 8 + 4, struct.pack("<f", 2.5))))
        now = self.edit(lambda scene: add(scene, ("walk", "hip", MOVE, "z"), 2, 0.5))
        self.assertEqual(now, self.patched((self.record(b"hip", MOVE, 2) + 28 + 8, struct.pack("<f", 1.5))))

    def test_time(self):
        def change(scene):
            def later(curve):
                curve.keys[2].time += fbxtext.TICKS // 4
            each(scene, "walk", "arm", MOVE, later)
        now = self.edit(change)
        self.assertEqual(now, self.patched((self.record(b"arm", MOVE, 2) + 4, struct.pack("<f", 1.75))))

    def test_tangent(self):
        """Slopes of a TCB key made two thirds as steep: 1 - T is two thirds of what it was, and nothing else changes."""
        def change(scene):
            def flatter(curve):
                i = next(i for i, k in enumerate(curve.keys) if k.time == 2 * fbxtext.TICKS)
                curve.keys[i].set_number(0, curve.keys[i].number(0) * 2 / 3)
                curve.keys[i - 1].set_number(1, curve.keys[i - 1].number(1) * 2 / 3)  # its left slope
            each(scene, "walk", "hip", MOVE, flatter)
        now = self.edit(change, "--tcb", "slopes")
        at = self.record(b"hip", MOVE, 2) + 8
        self.only(now, (at, 4))
        self.assertAlmostEqual(struct.unpack_from("<f", now, at)[0], 0.5, 5)

    def test_tcb_numbers(self):
        def change(scene):
            each(scene, "walk", "hip", MOVE, lambda curve: curve.keys[2].set_number(0, -0.75))
        self.assertEqual(self.edit(change), self.patched((self.record(b"hip", MOVE, 2) + 8, struct.pack("<f", -0.75))))

    def test_rotation(self):
        """A key that is turned or moved is its record and no more: nobody drew what the FBX's slopes make of it beside it."""
        now = self.edit(lambda scene: add(scene, ("walk", "hip", TURN, "x"), 0, 5.0))
        self.only(now, (self.record(b"hip", TURN, 0) + 28, 16))
        self.assertRegex(self.said, r'note: .*node "hip", rotation after 0\.0000 s: .* degrees')
        self.assertIn("1 keys changed, 0 added, 0 removed", self.said)

        def change(scene):
            def later(curve):
                curve.keys[-1].time += fbxtext.TICKS // 4
            each(scene, "walk", "hip", TURN, later)
        self.assertEqual(self.edit(change), self.patched((self.record(b"hip", TURN, 2) + 4, struct.pack("<f", 2.25))))

        def draw(scene):
            curve = scene.curve("walk", "hip", TURN, "x")
            curve.keys[0].value += 5
            curve.keys[0].set_number(0, curve.keys[0].number(0) + 40)
            curve.store()
        self.assertGreater(len(self.edit(draw)), len(self.original))  # a slope was drawn: keys follow it
        self.assertIn("edited stretches fitted anew", self.said)

    def test_tcb_numbers_of_a_rotation(self):
        for prop, offset in (("kf_rotation_tension", 8),):
            def change(scene):
                curve = scene.curve("walk", "hip", prop, prop)
                self.assertEqual([k.value for k in curve.keys], [0, 0.5, 0])
                curve.keys[1].value = 0.125
                curve.store()
            now = self.edit(change)
            self.assertEqual(now, self.patched((self.record(b"hip", TURN, 1) + offset, struct.pack("<f", 0.125))))

    def test_ease(self):
        for prop, index, offset in (("kf_translation_ease_in", 1, 20), ("kf_translation_ease_out", 3, 24)):
            def change(scene):
                curve = scene.curve("walk", "hip", prop, prop)
                curve.keys[index].value = 0.75
                curve.store()
            now = self.edit(change)
            self.assertEqual(now, self.patched((self.record(b"hip", MOVE, index) + offset, struct.pack("<f", 0.75))))

    def test_numbers_beyond(self):
        """They are cut, and the warning reads well for each of them."""
        def ease(scene):
            curve = scene.curve("walk", "hip", "kf_translation_ease_in", "kf_translation_ease_in")
            curve.keys[1].value = -3
            curve.store()

        def tension(scene):
            each(scene, "walk", "hip", MOVE, lambda curve: curve.keys[2].set_number(0, -3))
        for change, told in (ease, "an ease in of -3 lies beyond 0..1"), (tension, "a tension of -3 lies beyond -1..1"):
            self.edit(change)
            self.assertRegex(self.said, 'warning: node "hip", take "walk", .* s: ' + told + " and was cut")

    def test_one_slope_of_a_tcb_key(self):
        """Left and right no longer fit one tension: continuity does, if all goes along a line, and one set of numbers serves x, y
        and z. Elsewhere none does, and keys are put in."""
        def change(scene):
            def steeper(curve):
                i = next(i for i, k in enumerate(curve.keys) if k.time == 2 * fbxtext.TICKS)
                curve.keys[i].set_number(0, curve.keys[i].number(0) * 1.25)
                curve.keys[i].flags |= 0x800
            each(scene, "walk", "hip", MOVE, steeper)
        apart = self.original
        self.original, _ = build(hip_moves=[(t, tcb, (x, 2 * x, -x)) for t, tcb, (_, x, _) in HIP_MOVES])
        now = self.edit(change, "--tcb", "slopes")
        self.only(now, (self.record(b"hip", MOVE, 2) + 8, 12))
        self.original = apart
        self.edit(change, "--tcb", "slopes")
        self.assertIn("keys were added", self.said)
        differ = json.loads(self.keyferry("diff", "x.fbx", "y.nanim", "--json").out)["differences"]
        self.assertEqual([d for d in differ if d["worst"] > d["limit"]], [])

    def test_all_times_stretched(self):
        """Every curve twice as slow, the numbers' own curves with them: times change, nothing else."""
        def change(scene):
            for curve in scene.curves().values():
                for k in curve.keys:
                    k.time *= 2
                    if k.flags & 0x8 and not k.flags & 0x200:  # cubic, but not TCB: slopes are per second
                        k.set_number(0, k.number(0) / 2)
                        k.set_number(1, k.number(1) / 2)
                curve.store()
        want = []
        for node, channel, keys in ((b"hip", MOVE, HIP_MOVES), (b"hip", TURN, HIP_TURNS), (b"arm", MOVE, ARM_MOVES), (b"arm", SCALE, ARM_SCALES)):
            want += [(self.record(node, channel, i) + 4, struct.pack("<f", 2 * k[0])) for i, k in enumerate(keys)]
        for options in ((), ("--tcb", "slopes")):
            self.assertEqual(self.edit(change, *options), self.patched(*want), options)

    def test_key_added(self):
        def change(scene):
            def more(curve):
                k = curve.keys[1]
                curve.keys.insert(2, fbxtext.Key(fbxtext.TICKS * 5 // 4, 9.0, k.flags, k.data))
            each(scene, "walk", "arm", MOVE, more)
        moves = ARM_MOVES[:2] + [(1.25, None, (9, 9, 9))] + ARM_MOVES[2:]
        want, at = build(arm_moves=moves)
        new = at[b"arm", MOVE] + 2 * 20
        self.assertEqual(self.edit(change), want[:new] + struct.pack("<I", 0) + want[new + 4:])  # no flags

    def test_key_added_to_slopes(self):
        """Between TCB keys that were written with their slopes: no numbers give the keys beside it the slopes that they have there,
        so that more keys are needed, and these follow what the FBX shows, not what the old numbers make of the new key."""
        moves = [(0.0, (0, 0, 0, 0, 0), (0, 0, 0)), (0.5, (0, 0, 0, 0, 0), (1, 4, -2)), (1.0, (0.25, 0, -0.5, 0, 0), (3, 2, 1)),
                 (1.5, (0, 0, 0, 0, 0), (-3, -5, 2)), (2.0, (-0.5, 0, 0, 0, 0), (2, -4, 2)), (2.5, (0, 0.5, 0, 0, 0), (3, 1, 0)),
                 (3.0, (0, 0, 0, 0, 0), (0, 0, 0)), (3.5, (0, 0, 0, 0, 0), (1, 2, 3)), (4.0, (0, 0, 0, 0, 0), (4, 3, 3))]
        self.original, at = build(hip_moves=moves)

        def change(scene):
            def more(curve):
                here, behind = curve.keys[3:5]
                new = fbxtext.Key((here.time + behind.time) // 2, 0.5 * (here.value + behind.value) + 2, 0xc08, list(here.data))
                curve.keys.insert(4, new)
            each(scene, "walk", "hip", MOVE, more)
        now = self.edit(change, "--tcb", "slopes")
        self.assertNotIn("otherwise", self.said)
        self.assertNotIn("slopes follow", self.said)
        self.keyferry("diff", "x.fbx", "y.nanim")
        for values in (key(*moves[k])[28:] for k in range(len(moves))):
            self.assertIn(values, now)

    def test_key_removed(self):
        def change(scene):
            each(scene, "walk", "arm", MOVE, lambda curve: curve.remove(1))
        self.assertEqual(self.edit(change), build(arm_moves=ARM_MOVES[:1] + ARM_MOVES[2:])[0])

    def test_end_of_a_turn_removed(self):
        """Its first key goes, or its last, and the helper keys between that and the next stay: it turns as they show, to the end."""
        for end in (0, -1):
            with self.subTest(end=end):
                ends = []

                def change(scene):
                    def less(curve):
                        curve.remove(end % len(curve.keys))
                        ends.append(curve.keys[end].time / fbxtext.TICKS)
                    each(scene, "walk", "hip", TURN, less)
                now = self.edit(change, "--for", "maya")
                self.assertNotIn("otherwise", self.said)
                self.keyferry("diff", "x.fbx", "y.nanim")
                self.assertIn(struct.pack("<f", ends[0]), now)

    def test_keys_without_tangents(self):
        """A key of a BEZIER node that is moved or goes is just that, whatever the slopes in the FBX, which nobody touched."""
        def move(scene):
            def later(curve):
                curve.keys[2].time += fbxtext.TICKS // 4
            each(scene, "walk", "arm", MOVE, later)
        self.original, _ = build(arm_kind=BEZIER)
        self.assertEqual(self.edit(move), self.patched((self.record(b"arm", MOVE, 2) + 4, struct.pack("<f", 1.75))))
        self.assertIn("store no tangents of their own", self.said)

        def remove(scene):
            each(scene, "walk", "arm", MOVE, lambda curve: curve.remove(1))
        self.assertEqual(self.edit(remove), build(arm_kind=BEZIER, arm_moves=ARM_MOVES[:1] + ARM_MOVES[2:])[0])

    def test_edit_in_a_bake(self):
        """The second second of the arm is bent in x: its keys outside stay, the hip stays."""
        def change(scene):
            curve = scene.curve("walk", "arm", MOVE, "x")
            for k in curve.keys:
                t = k.time / fbxtext.TICKS
                if 1 < t < 1.5:
                    k.value += 0.5 - abs(t - 1.25) * 2  # a tent, its peak between two frames
            curve.store()
        now = self.edit(change, "--bake=30")
        more = (len(now) - len(self.original)) // 20
        self.assertTrue(1 <= more <= 2, more)
        cut = self.record(b"arm", MOVE, 2)
        for i in [i for i in range(cut) if now[i] != self.original[i]]:  # only counts and sizes
            self.assertTrue(i < self.AT[b"hip", MOVE] or self.AT[b"arm", MOVE] - 16 <= i < self.AT[b"arm", MOVE], i)
        self.assertEqual(now[cut + 20 * more:], self.original[cut:])

    def test_one_component_in_a_bake(self):
        """A key of x moved by a unit: y and z play on as they did, though the keys share T, C and B."""
        def change(scene):
            curve = scene.curve("walk", "hip", MOVE, "x")
            next(k for k in curve.keys if k.time == 2 * fbxtext.TICKS).value += 1
            curve.store()
        values = ((0, 0, 0), (5, 1, 3), (8, 0, -4), (2, 2, 5), (0, 0, 0))
        self.original, _ = build(hip_moves=[(float(i), (0.25, -0.1, 0.2, 0, 0), v) for i, v in enumerate(values)])
        now = self.edit(change, "--bake=30")
        self.assertLessEqual((len(now) - len(self.original)) // 40, 22)  # one set of numbers for three curves
        differ = json.loads(self.keyferry("diff", "x.nanim", "y.nanim", "--json", code=1).out)["differences"]
        beyond = {d["channel"]: d["worst"] for d in differ if d["worst"] > d["limit"]}
        self.assertEqual(list(beyond), ["translation.x"], self.said)
        self.assertAlmostEqual(beyond["translation.x"], 1, 1)
        self.assertRegex(self.said, r"[0-9]+ added")

    def test_turn_after_the_end_of_a_bake(self):
        """Half a second more of turning about x, and a tenth of a second of rest."""
        def change(scene):
            curve = scene.curve("walk", "hip", TURN, "x")
            last = curve.keys[-1]
            for i in range(1, 19):
                curve.keys.append(fbxtext.Key(last.time + i * fbxtext.TICKS // 30, last.value + min(i, 15), last.flags, last.data))
            curve.store()
        now = self.edit(change, "--bake=30")
        start = self.AT[b"hip", TURN]
        count, = struct.unpack_from("<I", now, self.AT[b"hip", MOVE] - 8)
        self.assertGreater(count, 3, self.said)
        self.assertEqual(now[start:start + 2 * 44], self.original[start:start + 2 * 44])
        self.assertEqual(now[start + 2 * 44 + 28:start + 3 * 44], self.original[start + 2 * 44 + 28:start + 3 * 44])
        self.assertAlmostEqual(struct.unpack_from("<f", now, start + 44 * (count - 1) + 4)[0], 4.5, 5)
        self.assertNotIn("not edited", self.said)  # the last key has other numbers, so that what was before it stays
        self.assertLessEqual(count, 6)
        wanted, found = self.frames(self.original), self.frames(now)
        for axis in "xyz":
            for a, b in zip(wanted["hip", "rotation", axis][:61], found["hip", "rotation", axis]):
                self.assertAlmostEqual(a, b, None, axis, 0.02)

    def test_turn_after_whole_turns(self):
        """Whole turns are for the record: the keys stay and keep them, those behind them are on frames, and nothing is bent."""
        turns = [(t, tcb, (angle + 360 * (angle > 0), *axis)) for t, tcb, (angle, *axis) in HIP_TURNS]
        def change(scene):
            for axis in "xyz":
                curve = scene.curve("walk", "hip", TURN, axis)
                for key in curve.keys:
                    frame = key.time * 30 / fbxtext.TICKS
                    key.value += max(0.0, 8 - (frame - 80) ** 2) if frame > 61 else 0
                curve.store()
        self.original, at = build(hip_turns=turns)
        now = self.edit(change, "--bake=30")
        start = at[b"hip", TURN]
        count, = struct.unpack_from("<I", now, at[b"hip", MOVE] - 8)
        self.assertGreater(count, 4, self.said)
        self.assertEqual(now[start:start + 2 * 44], self.original[start:start + 2 * 44])
        self.assertEqual(now[start + 2 * 44 + 28:start + 3 * 44], self.original[start + 2 * 44 + 28:start + 3 * 44])
        for i in range(3, count):
            frame = 30 * struct.unpack_from("<f", now, start + 44 * i + 4)[0]
            self.assertAlmostEqual(frame, round(frame), 3)
        self.assertNotIn("warning", self.said)  # the last key has other numbers, so that what was before it stays
        wanted, found = self.frames(self.original), self.frames(now)
        for axis in "xyz":
            for a, b in zip(wanted["hip", "rotation", axis][:61], found["hip", "rotation", axis]):
                self.assertAlmostEqual(a, b, None, axis, 0.02)

    def test_node_dropped(self):
        def change(scene):
            scene.remove(scene.models()["hip"])
        self.assertEqual(self.edit(change), self.original)
        self.assertIn("did not come back", self.said)
        self.assertEqual(self.edit(change, back=("--drop-missing",)), build(hip=False)[0])

    def test_node_added(self):
        now = self.edit(lambda scene: scene.clone("arm", "leg"))
        leg = b"leg\0" + struct.pack("<4I", LINEAR, 4, 0, 2) + b"".join(key(*k, flags=0) for k in ARM_MOVES + ARM_SCALES)
        self.assertEqual(now, build(more=leg, nodes=1)[0])

    def test_node_added_with_numbers(self):
        """A copy of a TCB node has its keys and all their numbers, those too that FBX only has as properties."""
        now = self.edit(lambda scene: scene.clone("hip", "leg"))
        start = len(self.original) - 16  # before the last chunk
        leg = b"leg\0" + struct.pack("<4I", TCB, len(HIP_MOVES), len(HIP_TURNS), 0)
        self.assertEqual(now[start:start + len(leg)], leg, self.said)
        at = start + len(leg)
        moves = b"".join(key(*k, flags=0) for k in HIP_MOVES)
        self.assertEqual(now[at:at + len(moves)], moves)
        at += len(moves)
        for time, tcb, (angle, *axis) in HIP_TURNS:
            found = struct.unpack_from("<I10f", now, at)
            self.assertEqual(found[:7], (0, time, *tcb))
            side = 1 if found[7] * angle > 0 else -1
            for a, b in zip(found[7:], (side * angle, *(side * v for v in axis))):
                self.assertAlmostEqual(a, b, 4)
            at += 44
        self.assertEqual(len(now), at + 16)
        self.assertIn("0 of 6 tracks changed, 2 added", self.said)
        lines = self.said.splitlines()
        self.assertEqual(len(set(lines)), len(lines), "the same said twice: " + self.said)

    def test_numbers_and_value_are_one_track(self):
        """However many of its numbers are edited, a track counts once."""
        def change(scene):
            add(scene, ("walk", "hip", TURN, "x"), 0, 5.0)
            for number in ("tension", "continuity"):
                prop = "kf_rotation_" + number
                if (curve := scene.curves().get(("walk", "hip", prop, prop))):
                    curve.keys[1].value = 0.125
                    curve.store()
        self.original, _ = build(hip_turns=[(t, (0.5, 0.25, 0, 0, 0), v) for t, _, v in HIP_TURNS])
        self.edit(change)
        self.assertIn("kf_rotation_continuity", self.said)
        self.assertIn("1 of 4 tracks changed", self.said)

    def test_take_renamed(self):
        self.assertEqual(self.edit(lambda scene: rename_take(scene, "walk", "trot")), build(b"trot")[0])
        self.assertEqual(self.edit(lambda scene: rename_take(scene, "walk", "gallop")), build(b"gallop")[0])


class Ends(EditCase):
    """Behind the last key that came back the FBX stands still: so does the game, up to its end, or that is told."""
    ending = "nanim"
    original = (SOURCE / "tests/data/nytro-anim/negative_zero.nanim").read_bytes()

    def test_a_bake_that_ends_sooner(self):
        for gone in 1, 2, 3, 4:
            def change(scene):
                def work(curve):
                    del curve.keys[-gone:]
                each(scene, "walk", "a", "Lcl Translation", work)
            self.edit(change, "--bake")
            found = json.loads(self.keyferry("diff", "x.fbx", "y.nanim", "--json", code=None).out)["differences"]
            off = [d for d in found if d["worst"] > 2 * d["limit"] and d["time"] > 1 - gone / 30]
            self.assertEqual(bool(off), "otherwise than the FBX shows it" in self.said, (gone, off, self.said))


if __name__ == "__main__":
    unittest.main()
