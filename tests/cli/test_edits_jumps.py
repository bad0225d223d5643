"""A frame of a bake edited where the original jumps: two of its keys have one time, or one component is a step."""
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fitcases  # noqa: E402
import nytrocases  # noqa: E402

PROP = "Lcl Translation"
TIMES, VALUES = (0, 1, 2, 2, 2.5, 3), (0, 0.4, 1, 2, 1.5, 3)  # it jumps at frame 60
FRAMES = (1, 15, 45, 58, 59, 60, 61, 75, 89)


def by_lines(keys, turn=False):
    """A Nytro node of linear keys."""
    header = struct.pack("<I", 0) + b"go\0me\0" + struct.pack("<H", 1)
    out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
    body = b"part\0" + struct.pack("<4I", 4, 0 if turn else len(keys), len(keys) if turn else 0, 0)
    body += b"".join(struct.pack("<I%df" % (1 + len(values)), 1, time, *values) for time, values in keys)
    return out + struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body


class Jumps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def edit(self, original, suffix, records, frame, *options, prop=PROP, amount=0.25):
        """The frames are what was drawn; returns the original's records that are still there."""
        bench = fitcases.Bench(os.environ["KEYFERRY"], self.folder, suffix)
        scene = bench.bake(original, 30)
        curve = scene.curve("go", "part", prop, "x")
        curve.keys[frame].value += amount
        curve.store()
        wanted = fitcases.values_of(scene, prop)
        now = bench.back(scene, *options)
        tolerance = 1e-4 * max(max(numbers) - min(numbers) for numbers in wanted) if prop == PROP else 0.01
        self.assertLess(fitcases.apart(bench.values(now, 30, prop), wanted), 1.05 * tolerance, frame)
        kept = set(records(now))
        return [i for i, record in enumerate(records(original)) if record in kept]

    def check(self, kept, frame):
        """All those on the other side of the jump. Where the frame before it was edited, nobody knows what lies between the two:
        then those beside the jump are told anew."""
        for i in range(6):
            here = i <= 2 if frame < 60 else i >= 3
            if not here and not (frame == 59 and i < 5):
                self.assertIn(i, kept, (frame, i))

    def test_x4(self):
        """Steps, lines, Bezier, linear time and TCB, places and turns."""
        for number in (1, 2, 5, 6, 7):
            keys = [(time, value, number, (0.3, 0.1, -0.3, -0.1), (0.2, 0, 0, 0, 0)) for time, value in zip(TIMES, VALUES)]
            for frame in FRAMES:
                kept = self.edit(fitcases.file_of(keys), "ani", fitcases.records, frame, "--strict")
                self.check(kept, frame)
            kept = self.edit(fitcases.file_of(keys, True), "ani", fitcases.records, 45, "--strict", prop="Lcl Rotation")
            self.check(kept, 45)

    def test_lines(self):
        keys = [(time, (value, 0.5 * value, 1)) for time, value in zip(TIMES, VALUES)]
        head = len(by_lines([]))

        def records(data):
            return [data[at:at + 20] for at in range(head, len(data), 20)]
        for frame in FRAMES:
            self.check(self.edit(by_lines(keys), "nanim", records, frame, "--strict"), frame)

    def test_three_at_once(self):
        """The one in the middle shows nowhere, and stays."""
        head = len(by_lines([]))
        for turn, prop, size in ((False, PROP, 20), (True, nytrocases.TURN, 24)):
            keys = [(time, (value, 1, 0, 0)[:3 + turn]) for time, value in ((0, 0), (2, 1), (2, 5), (2, 2), (3, 3))]
            kept = self.edit(by_lines(keys, turn), "nanim", lambda data, size=size: [data[at:at + size] for at in range(head, len(data), size)],
                             30, prop=prop)
            self.assertEqual(kept, [0, 1, 2, 3, 4])

    def test_at_the_start(self):
        """Nothing lies before the jump, and its first key shows nowhere: it stays, too."""
        head = len(by_lines([]))
        keys = [(time, (value, 1, 0, 0)) for time, value in ((0, 5), (0, 1), (1, 2), (2, 3), (3, 0))]
        for turn, prop, size in ((False, PROP, 20), (True, nytrocases.TURN, 24)):
            data = by_lines([(time, values[:3 + turn]) for time, values in keys], turn)
            for frame in (0, 45):
                kept = self.edit(data, "nanim", lambda data, size=size: [data[at:at + size] for at in range(head, len(data), size)],
                                 frame, prop=prop)
                self.assertEqual(kept, [0, 2, 3, 4] if frame == 0 else [0, 1, 2, 3, 4])
        keys = [(time, (value, 1 + value, -value)) for time, value in ((0, 5), (0, 1), (0.2, 2), (0.5, 0), (0.7, 3), (1, 0), (2, 1))]
        kept = self.edit(by_lines(keys), "nanim", lambda data: [data[at:at + 20] for at in range(head, len(data), 20)], 14)
        self.assertEqual(kept, [0, 1, 2, 3, 4, 5, 6])
        for number in (1, 2, 5, 6, 7):
            keys = [(time, value, number, (0.3, 0.1, -0.3, -0.1), (0.2, 0, 0, 0, 0))
                    for time, value in ((0, 5), (0, 4), (0, 1), (1, 2), (2, 3), (3, 0))]
            self.assertLessEqual({0, 1, 2, 3}, set(self.edit(fitcases.file_of(keys), "ani", fitcases.records, 75)))

    def test_between_frames(self):
        keys = [(time + (0.01 if time == 2 else 0), (value, 0, 1)) for time, value in zip(TIMES, VALUES)]
        head = len(by_lines([]))
        for frame in (45, 75):
            kept = self.edit(by_lines(keys), "nanim", lambda data: [data[at:at + 20] for at in range(head, len(data), 20)], frame)
            self.check(kept, frame)

    def test_tcb_nodes(self):
        keys = [(time, (0,) * 5, (value, 0.5 * value, 1)) for time, value in zip(TIMES, VALUES)]
        for frame in (15, 45):
            kept = self.edit(nytrocases.file_of(keys, False), "nanim", lambda data: nytrocases.records(data, False), frame)
            self.check(kept, frame)

    def test_turns(self):
        """Orientations; and where a frame's time in 32 bits is not the frame's."""
        head, turn = len(by_lines([])), nytrocases.TURN
        times = [time if time < 2 else time + 19 / 30 for time in TIMES]  # it jumps at frame 79

        def records(data):
            return [data[at:at + 24] for at in range(head, len(data), 24)]
        for frame in (1, 15, 45, 77, 80, 94, 107):
            lines = by_lines([(time, (value, 1, 0, 0)) for time, value in zip(times, VALUES)], True)
            self.check(self.edit(lines, "nanim", records, frame, prop=turn, amount=5), frame - 19 if frame > 70 else frame)
        numbers = nytrocases.file_of([(time, (0,) * 5, (value, 1, 0, 0)) for time, value in zip(times, VALUES)], True)
        for frame in (15, 94):
            kept = self.edit(numbers, "nanim", lambda data: nytrocases.records(data, True), frame, prop=turn, amount=5)
            self.check(kept, frame - 19 if frame > 70 else frame)

    def test_three_at_once_beside_an_edit(self):
        """z stands still, and has as many keys as x and y."""
        keys = [(time / 30, values) for time, values in ((0, (0.7, 0.3, 1)), (23, (0.6, 0.3, 1)), (41, (-0.1, 0, 1)), (41, (0.2, 0.1, 1)),
                                                        (41, (0.5, 0.3, 1)), (65, (0.8, 0.4, 1)))]
        head = len(by_lines([]))
        kept = self.edit(by_lines(keys), "nanim", lambda data: [data[at:at + 20] for at in range(head, len(data), 20)], 38, "--strict")
        self.assertEqual(kept, [0, 1, 2, 3, 4, 5])

    def test_step_beside_a_slope(self):
        """An edit that makes x jump while y moves on is no edit that plays otherwise."""
        with open(os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "data", "x4-ani", "door.ani"), "rb") as f:
            door = f.read()
        bench = fitcases.Bench(os.environ["KEYFERRY"], self.folder)
        for prop, frame in (("Lcl Scaling", 16), ("Lcl Rotation", 2)):
            scene = bench.bake(door, 30)
            curve = scene.curve("door_open", "anim_door_lock", prop, "x")
            curve.keys[frame].value += 0.25
            curve.store()
            bench.back(scene, "--strict")


if __name__ == "__main__":
    unittest.main()
