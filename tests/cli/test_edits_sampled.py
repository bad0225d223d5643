"""Edits of files that store a value a frame (Evil Islands, Midtown Madness 2, Vib-Ribbon) come home: exactly the bytes that
must differ do. The files are put together here, byte by byte. These formats hold no tangents, no T, C, B, and a key's time
is its frame."""
import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from editcase import EditCase, add, each, rename_take  # noqa: E402

MOVE, TURN, SCALE = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
BAKED = (), ("--for", "blender")
f32 = struct.Struct("<f").pack


def frame_key(curve, frame, rate):
    """The key on a frame of the format's own, in a curve of any rate."""
    return min(curve.keys, key=lambda k: abs(k.time - frame * fbxtext.TICKS // rate))


def longer(rate, count=1):
    def work(curve):
        last = curve.keys[-1]
        for i in range(count):
            curve.keys.append(fbxtext.Key(last.time + (i + 1) * fbxtext.TICKS // rate, last.value + 1 + i, last.flags, last.data))
    return work


# ---------------------------------------------------------------- Evil Islands

EI_RATE = 15
TURNS = [(math.cos(a), 0.0, math.sin(a), 0.0) for a in (0, 0.1, 0.2, 0.4, 0.3, 0.1)]
MOVES = [(0.5 * i, float(i * i), -1.25) for i in range(6)]


def ei(turns=TURNS, moves=MOVES):
    return struct.pack("<I", len(turns)) + b"".join(struct.pack("<4f", *q) for q in turns) + \
        struct.pack("<I", len(moves)) + b"".join(struct.pack("<3f", *v) for v in moves) + struct.pack("<I", 0)


class EvilIslands(EditCase):
    ending = "anm"
    original = ei()
    MOVED = 4 + 16 * 6 + 4

    def test_value(self):
        for options in BAKED:
            def change(scene):
                curve = scene.curve("animation", "x", MOVE, "y")
                frame_key(curve, 3, EI_RATE).value = -7.0
                curve.store()
            self.assertEqual(self.edit(change, *options), self.patched((self.MOVED + 12 * 3 + 4, f32(-7))))

    def test_rotation(self):
        for options in BAKED:
            def change(scene):
                curve = scene.curve("animation", "x", TURN, "y")
                frame_key(curve, 3, EI_RATE).value += 10
                curve.store()
            now = self.edit(change, *options)
            self.only(now, (4 + 16 * 3, 16))
            w, x, y, z = struct.unpack_from("<4f", now, 4 + 16 * 3)
            self.assertLess(math.dist((w, x, y, z), (math.cos(0.4 + math.radians(5)), 0, math.sin(0.4 + math.radians(5)), 0)), 1e-6)

    def test_time(self):
        """A key moved to the next frame: that frame has its value, and where it was the curve is straight."""
        def change(scene):
            curve = scene.curve("animation", "x", MOVE, "y")
            del curve.keys[3]
            curve.keys[2].time += fbxtext.TICKS // EI_RATE
            curve.store()
        at = self.MOVED + 4
        self.assertEqual(self.edit(change), self.patched((at + 12 * 2, f32(2.5)), (at + 12 * 3, f32(4))))

    def test_key_added(self):
        now = self.edit(lambda scene: each(scene, "animation", "x", MOVE, longer(EI_RATE)))
        self.assertEqual(now, ei(moves=MOVES + [tuple(v + 1 for v in MOVES[-1])]))

    def test_key_between_frames(self):
        """It shows in no frame, and that is said."""
        def change(scene):
            curve = scene.curve("animation", "x", MOVE, "y")
            k = curve.keys[2]
            curve.keys.insert(3, fbxtext.Key(k.time + fbxtext.TICKS // 30, 99.0, k.flags, k.data))
            curve.store()
        self.assertEqual(self.edit(change), self.original)
        self.assertRegex(self.said, 'warning: take "animation", node "x", translation at 0.1667 s: 1 edited keys lie between')

    def test_key_removed(self):
        def change(scene):
            curve = scene.curve("animation", "x", MOVE, "y")
            del curve.keys[3]
            curve.store()
        self.assertEqual(self.edit(change), self.patched((self.MOVED + 12 * 3 + 4, f32(10))))

    def test_region_of_a_bake(self):
        def change(scene):
            curve = scene.curve("animation", "x", MOVE, "x")
            for k in curve.keys:
                if 2 <= k.time * EI_RATE / fbxtext.TICKS <= 4:
                    k.value += 0.25
            curve.store()
        self.assertEqual(self.edit(change, "--bake=30"),
                         self.patched(*((self.MOVED + 12 * i, f32(MOVES[i][0] + 0.25)) for i in (2, 3, 4))))

    def test_a_bake_beside_the_frames(self):
        """Its samples show the frames' motion only roughly: where they were edited, the frames become what they show, and that is
        told; elsewhere they stay."""
        def change(scene, last=9):
            curve = scene.curve("animation", "x", MOVE, "y")
            for key in curve.keys[:last]:
                key.value += 100
            curve.store()
        now = self.edit(change, "--bake=24")
        self.only(now, *((self.MOVED + 12 * i + 4, 4) for i in range(6)))
        self.assertRegex(self.said, r'warning: take "animation", node "x", translation at 0\.\d+ s: \d edited keys lie between the format\'s '
                                    r'frames and show in none: it is off by 0\.\d')
        self.edit(change, "--bake=24", back=("--strict",), code=1)
        self.only(self.edit(lambda scene: change(scene, 1), "--bake=24"), (self.MOVED + 4, 4))

    def test_beyond_a_list_that_is_shorter(self):
        """What it was held at up to there is written frame by frame."""
        def change(scene):
            curve = scene.curve("animation", "x", MOVE, "x")
            for k in curve.keys:
                if round(k.time * EI_RATE / fbxtext.TICKS) >= 4:
                    k.value += 5
            curve.store()
        for moves in MOVES[:2], MOVES[1:2]:
            self.original = ei(moves=moves)
            x, *rest = moves[-1]
            self.assertEqual(self.edit(change, "--for", "blender"), ei(moves=moves + [moves[-1]] * (4 - len(moves)) + [(x + 5, *rest)]))

    def test_take_renamed(self):
        self.assertEqual(self.edit(lambda scene: rename_take(scene, "animation", "run")), self.original)
        self.assertIn('note: take "run": the format has no room for its new name', self.said)
        self.assertNotIn("renamed", self.said)

    def parts(self, change, *back):
        """Two parts there and back: what came out, by name."""
        self.put("hand.anm", ei())
        self.put("wing.anm", ei(moves=[]))
        self.keyferry("convert", "hand.anm", "wing.anm", "x.fbx", "--ascii", "-y")
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        self.said = self.keyferry("convert", "x.fbx", "out/", "-y", *back).err
        return {p.name: p.read_bytes() for p in (self.dir / "out").iterdir()}

    def test_node_dropped(self):
        def change(scene):
            scene.remove(scene.models()["wing"])
        both = {"hand.anm": ei(), "wing.anm": ei(moves=[])}
        self.assertEqual(self.parts(change), both)
        self.assertIn("did not come back", self.said)

    def test_node_dropped_for_good(self):
        def change(scene):
            scene.remove(scene.models()["wing"])
        out = self.parts(change, "--drop-missing")
        self.assertEqual(out.pop("hand.anm"), ei())
        self.assertIn(out.pop("wing.anm", None), (None, ei([], [])))
        self.assertFalse(out)

    def test_node_added(self):
        out = self.parts(lambda scene: scene.clone("hand", "tail"))
        tail = out.pop("tail.anm")  # a new file says how many vertices its morphs have, too: none
        self.assertEqual(tail[4 + 16 * 6:], ei()[4 + 16 * 6:] + bytes(4))
        self.assertEqual(out, {"hand.anm": ei(), "wing.anm": ei(moves=[])})


# ---------------------------------------------------------------- Midtown Madness 2

MM2_RATE = 30
FRAMES = [[0.1 * f, 1.0, -0.5, *(math.sin(f + b) for b in range(6))] for f in range(8)]


def mm2(frames=FRAMES):
    return struct.pack("<3IfB", 0, len(frames), 9, 1.5, 1) + b"".join(struct.pack("<9f", *f) for f in frames)


class Midtown(EditCase):
    ending = "anim"
    original = mm2()

    def at(self, frame, number):
        return 17 + 36 * frame + 4 * number

    def test_value(self):
        for options in BAKED:
            now = self.edit(lambda scene: add(scene, ("x", "bone_01", TURN, "y"), 3, 5.0), *options)
            at = self.at(3, 3 + 3 + 1)
            self.only(now, (at, 4))
            self.assertAlmostEqual(struct.unpack_from("<f", now, at)[0], FRAMES[3][7] + math.radians(5), 6)
            now = self.edit(lambda scene: add(scene, ("x", "bone_00", MOVE, "y"), 3, 1.0), *options)
            self.assertEqual(now, self.patched((self.at(3, 1), f32(2))))

    def test_time(self):
        def change(scene):
            curve = scene.curve("x", "bone_00", MOVE, "x")
            del curve.keys[3]
            curve.keys[2].time += fbxtext.TICKS // MM2_RATE
            curve.store()
        now = self.edit(change)
        self.only(now, (self.at(2, 0), 4), (self.at(3, 0), 4))
        self.assertEqual(now[self.at(3, 0):][:4], f32(0.2))
        self.assertAlmostEqual(struct.unpack_from("<f", now, self.at(2, 0))[0], 0.15, 6)

    def test_key_added(self):
        now = self.edit(lambda scene: each(scene, "x", "bone_00", MOVE, longer(MM2_RATE)))
        self.assertEqual(now[:17 + 36 * 8], mm2(FRAMES + [FRAMES[-1]])[:17 + 36 * 8])
        last = struct.unpack_from("<9f", now, 17 + 36 * 8)
        self.assertEqual(len(now), 17 + 36 * 9)
        for have, want in zip(last, [v + 1 for v in FRAMES[-1][:3]] + FRAMES[-1][3:]):
            self.assertAlmostEqual(have, want, 6)

    def test_key_removed(self):
        def change(scene):
            curve = scene.curve("x", "bone_00", MOVE, "x")
            del curve.keys[0]
            curve.store()
        self.assertEqual(self.edit(change), self.patched((self.at(0, 0), f32(0.1))))

    def test_a_bend_between_frames(self):
        """Both frames are as they were, and the game goes straight from one to the other."""
        def change(scene, slope=300.0):
            curve = scene.curve("x", "bone_00", MOVE, "x")
            curve.keys[2].flags = curve.keys[2].flags & ~0xff | 0x8 | 0x400  # cubic, slopes of its own
            curve.keys[2].data = [0, 0, 0, 0]
            curve.keys[2].set_number(0, slope)
            curve.keys[2].set_number(1, slope)
            curve.store()
        self.assertEqual(self.edit(change), self.original)
        self.assertRegex(self.said, r'warning: take "x", node "bone_00", translation at 0\.0\d+ s: the curve bends between the format\'s '
                         r'frames, where the game goes straight: it is off by \d')
        self.edit(change, back=("--strict",), code=1)
        self.edit(lambda scene: change(scene, 3.1), back=("--strict",))  # as little as smooth slopes bend
        self.assertIn('note: 1 track bends a little between the format\'s frames, where the game goes straight; the most in take "x", '
                      'node "bone_00", translation at 0.0750 s, by 0.0003', self.said)
        self.edit(lambda scene: change(scene, 3.02))  # within what is tolerated
        self.assertNotIn("bend", self.said)

    def test_a_frame_of_a_finer_bake(self):
        """The samples beside it are where they were, and the game goes straight past them to the frames around."""
        for amount, words in (1.0, "bends between"), (0.001, "bends a little between"):
            def change(scene):
                curve = scene.curve("x", "bone_00", MOVE, "z")
                frame_key(curve, 3, MM2_RATE).value += amount
                curve.store()
            self.assertEqual(self.edit(change, "--bake=60", back=("--strict",)), self.patched((self.at(3, 2), f32(-0.5 + amount))))
            self.assertIn(f'note: 1 track {words} the format\'s frames, where the game goes straight; the most in take "x", node '
                          f'"bone_00", translation at 0.0833 s, by {amount / 2:g}\n', self.said)

    def test_region_of_a_bake(self):
        def change(scene):
            curve = scene.curve("x", "bone_00", MOVE, "z")
            for k in curve.keys:
                if 2 <= round(k.time * MM2_RATE / fbxtext.TICKS, 6) <= 5:
                    k.value += 0.25
            curve.store()
        self.assertEqual(self.edit(change, "--bake=60"), self.patched(*((self.at(i, 2), f32(-0.25)) for i in (2, 3, 4, 5))))

    def test_node_dropped(self):
        def change(scene):
            scene.remove(scene.models()["bone_01"])
        self.assertEqual(self.edit(change), self.original)
        self.assertIn("did not come back", self.said)
        now = self.edit(change, back=("--drop-missing",))  # a clip cannot lose bones
        self.assertEqual(len(now), len(self.original))
        for frame in range(8):
            self.assertEqual(now[self.at(frame, 0):self.at(frame, 6)], self.original[self.at(frame, 0):self.at(frame, 6)])

    def test_node_added(self):
        now = self.edit(lambda scene: scene.clone("bone_01", "tail"))
        self.assertEqual(now, self.original)
        self.assertRegex(self.said, 'warning: .*"tail"')
        self.edit(lambda scene: scene.clone("bone_01", "tail"), back=("--strict",), code=1)

    def test_take_renamed(self):
        self.assertEqual(self.edit(lambda scene: rename_take(scene, "x", "run")), self.original)
        self.assertIn('note: take "run": the format has no room for its new name', self.said)
        self.assertNotIn("renamed", self.said)


# ---------------------------------------------------------------- Vib-Ribbon

VIB_RATE = 30
POSES = [((100 * f, 0, -50), (4096, 4096 + f, 4096), (f, -f, 7)) for f in range(5)]


def vib(frames):
    """Frames of (object, (rotation, scale, position)), each of which may be None."""
    blocks = []
    for frame in frames:
        block = b""
        for number, parts in frame:
            block += struct.pack("<BB", number, sum(1 << i for i, p in enumerate(parts) if p))
            block += b"".join(struct.pack("<3h", *p) for p in parts if p)
        blocks.append(block)
    offsets = [6 + 2 * (len(frames) + 1)]
    for block in blocks:
        offsets.append(offsets[-1] + len(block))
    return struct.pack("<3H", 0x8000, VIB_RATE, len(frames)) + b"".join(struct.pack("<H", o // 2) for o in offsets) + b"".join(blocks)


class VibRibbon(EditCase):
    ending = "anm"
    frames = [[(0, pose), (7, pose)] for pose in POSES]
    original = vib(frames)

    def at(self, frame, place, part, axis):
        return 6 + 2 * 6 + 40 * frame + 20 * place + 2 + 6 * part + 2 * axis

    def short(self, frame, place, part, axis, value):
        return self.at(frame, place, part, axis), struct.pack("<h", value)

    def test_value(self):
        for options in BAKED:
            def change(scene):
                curve = scene.curve("x", "object_007", MOVE, "y")
                frame_key(curve, 2, VIB_RATE).value = 21.0
                curve.store()
            self.assertEqual(self.edit(change, *options), self.patched(self.short(2, 1, 2, 1, 21)))

    def test_time(self):
        """A stepped key comes a frame later: where it was, the one before holds."""
        def change(scene):
            curve = scene.curve("x", "object_000", MOVE, "x")
            del curve.keys[3]
            curve.keys[2].time += fbxtext.TICKS // VIB_RATE
            curve.store()
        self.assertEqual(self.edit(change), self.patched(self.short(2, 0, 2, 0, 1), self.short(3, 0, 2, 0, 2)))

    def test_key_added(self):
        now = self.edit(lambda scene: each(scene, "x", "object_000", MOVE, longer(VIB_RATE)))
        # Frame 5: object 0 with its new position, object 7 drawn where it stood.
        head = vib(self.frames + [[]])
        first = 6 + 2 * 7
        self.assertEqual(now[first:first + 40 * 5], self.original[first - 2:])
        new = now[first + 40 * 5:]
        self.assertEqual(now[:first - 2], head[:first - 2])
        self.assertEqual(new[:2], struct.pack("<BB", 0, new[1]))
        self.assertIn(struct.pack("<3h", 5, -3, 8), new)
        self.assertEqual(struct.unpack_from("<H", now, 4), (6,))

    def test_key_removed(self):
        def change(scene):
            curve = scene.curve("x", "object_000", MOVE, "x")
            del curve.keys[2]
            curve.store()
        self.assertEqual(self.edit(change), self.patched(self.short(2, 0, 2, 0, 1)))

    def test_part_removed(self):
        """All of a part's keys on a frame: nothing is stored there, and the value before holds."""
        now = self.edit(lambda scene: each(scene, "x", "object_000", MOVE, lambda curve: curve.keys.pop(2)))
        at = 6 + 2 * 6 + 40 * 2  # the first keyframe of frame 2
        self.assertEqual(self.original[at + 1], 7)
        self.assertEqual(now[at:at + 2 + 12], bytes([0, 3]) + self.original[at + 2:at + 2 + 12])
        self.assertEqual(len(now), len(self.original) - 6)
        self.assertIn("0 keys changed, 0 added, 1 removed", self.said)

    def test_region_of_a_bake(self):
        def change(scene):
            curve = scene.curve("x", "object_000", MOVE, "x")
            for k in curve.keys:
                if 1 <= round(k.time * VIB_RATE / fbxtext.TICKS, 6) <= 2:
                    k.value += 30
            curve.store()
        self.assertEqual(self.edit(change, "--bake=30"), self.patched(self.short(1, 0, 2, 0, 31), self.short(2, 0, 2, 0, 32)))

    def test_node_dropped(self):
        def change(scene):
            scene.remove(scene.models()["object_007"])
        self.assertEqual(self.edit(change), self.original)
        self.assertIn("did not come back", self.said)
        self.assertEqual(self.edit(change, back=("--drop-missing",)), vib([[frame[0]] for frame in self.frames]))

    @staticmethod
    def hide(*frames, edited=None, node="object_000"):
        """The object in these frames; and its position in a frame edited."""
        def change(scene):
            curve = scene.curve("x", node, "Visibility", "visibility")
            key = curve.keys[0]
            curve.keys = [fbxtext.Key(f * fbxtext.TICKS // VIB_RATE, int(f not in frames), key.flags, key.data) for f in range(5)]
            curve.store()
            if edited is not None:
                curve = scene.curve("x", node, MOVE, "x")
                frame_key(curve, edited, VIB_RATE).value = 77.0
                curve.store()
        return change

    def test_hidden_in_some_frames(self):
        """Nothing is stored of an object that is not drawn: what the file had there is gone, and that is said."""
        hidden = vib([frame[f in (2, 3):] for f, frame in enumerate(self.frames)])
        told = 'take "x", node "object_000", 0.067 s to 0.100 s: hidden in 2 frames, it is not in the file there: 6 stored keys are gone, '
        for options in BAKED:
            self.assertEqual(self.edit(self.hide(2, 3), *options, back=("--strict",)), hidden)
            self.assertIn("note: " + told + "0 of them edited", self.said)
            self.assertEqual(self.edit(self.hide(2, 3, edited=3), *options), hidden)
            self.assertIn("warning: " + told + "1 of them edited", self.said)
        self.edit(self.hide(2, 3, edited=3), back=("--strict",), code=1)
        self.edit(self.hide(2, 3, edited=1))
        self.assertIn("note: " + told + "0 of them edited", self.said)
        self.assertIn("translation: 1 keys changed", self.said)

    def test_hidden_in_all_frames(self):
        hidden = vib([frame[1:] for frame in self.frames])
        told = 'warning: take "x", node "object_000", 0.000 s to 0.133 s: hidden in 5 frames, it is not in the file at all: 15 stored ' \
               'keys are gone, '
        for options in BAKED:
            self.assertEqual(self.edit(self.hide(*range(5)), *options), hidden)
            self.assertIn(told + "0 of them edited", self.said)
            self.assertEqual(self.edit(self.hide(*range(5), edited=3), *options), hidden)
            self.assertIn(told + "1 of them edited", self.said)
            self.assertIn("1 of 8 tracks changed", self.said)
            self.assertNotIn("translation", self.said)
        self.edit(self.hide(*range(5)), back=("--strict",), code=1)

    def test_new_and_hidden(self):
        """A new object that no frame draws, beside the original's and in a file made anew."""
        def change(scene):
            scene.clone("object_007", "object_009")
            self.hide(*range(5), node="object_009")(scene)
        for there, back in ((), ()), (("--no-capsule", "--no-sidecar"), ("--to", "vib-anm")):
            now = self.edit(change, *there, back=back)
            self.assertEqual(len(now), len(self.original))
            self.assertRegex(self.said, 'warning: take "x", node "object_009", .* hidden in 5 frames, it is not in the file at all')

    def test_node_added(self):
        now = self.edit(lambda scene: scene.clone("object_007", "object_009"))
        first = 6 + 2 * 6
        self.assertEqual(now[:6], self.original[:6])
        for frame in range(5):
            start, end = (2 * n for n in struct.unpack_from("<2H", now, 6 + 2 * frame))
            self.assertEqual(now[start:start + 40], self.original[first + 40 * frame:first + 40 * frame + 40])
            self.assertEqual(now[start + 40:start + 41], b"\x09")
            self.assertGreater(end, start + 40)

    def test_node_added_that_moves_for_longer(self):
        """It gets the frames that there are, which is told; as many as it takes if another object lasts as long."""
        def change(scene, *longer):
            scene.clone("object_007", "object_009")
            for (_, node, prop, _), curve in scene.curves().items():
                if node in longer and prop == MOVE:
                    curve.keys[-1].time += 2 * fbxtext.TICKS
                    curve.store()
        frames = []
        for longer in ("object_009",), ("object_007", "object_009"):
            now = self.edit(lambda scene: change(scene, *longer))
            frames.append(struct.unpack_from("<H", now, 4)[0])
            told = 'lasts from 0.0000 to 0.1333 s, and what moves outside of that is not written: 2 curves (first: node "object_009", ' \
                   "translation, its key at 2.1333 s); a later key of a node it had makes it longer"
            self.assertEqual(told in self.said, len(longer) == 1, self.said)
        self.assertEqual(frames, [5, 65])

    def test_take_renamed(self):
        self.assertEqual(self.edit(lambda scene: rename_take(scene, "x", "run")), self.original)
        self.assertIn('note: take "run": the format has no room for its new name', self.said)
        self.assertNotIn("renamed", self.said)


if __name__ == "__main__":
    unittest.main()
