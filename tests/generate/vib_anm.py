#!/usr/bin/env python3
"""Makes Vib-Ribbon animations for the tests, from the format's specification and nothing of ours.

    vib_anm.py OUT [--seed N] [--count N]    N files of every dialect as OUT/NAME.anm
    vib_anm.py --samples DIR                 the few files that are kept in tests/data/vib-anm

cases(seed, count) gives the same as (name, bytes, tags). Tags:
    clean     breaks no rule of the format
    exact     a file rebuilt without its original must have the same numbers in every frame
"""
import random
import struct

ROTATION, SCALE, POSITION = 1, 2, 4
RATES = (1, 15, 20, 30, 60)
LONGEST = 65535 * 2


def keyframe(number, rotation=None, scale=None, position=None, more_flags=0):
    parts = [p for p in (rotation, scale, position) if p is not None]
    flags = (ROTATION if rotation is not None else 0) | (SCALE if scale is not None else 0) | \
            (POSITION if position is not None else 0) | more_flags
    return struct.pack("<BB", number, flags) + b"".join(struct.pack("<3h", *p) for p in parts)


def animation(frames, rate=30, gap=b""):
    """A file of frames, each a list of keyframes."""
    bodies = [b"".join(frame) for frame in frames]
    at = 6 + 2 * (len(frames) + 1) + len(gap)
    offsets = [at]
    for body in bodies:
        at += len(body)
        offsets.append(at)
    return struct.pack("<3H", 0x8000, rate, len(frames)) + b"".join(struct.pack("<H", o // 2) for o in offsets) + \
        gap + b"".join(bodies)


def triple(rng, low=-32768, high=32767):
    return tuple(rng.randint(low, high) for _ in range(3))


def full(rng):
    """Every object in every frame with everything."""
    numbers = sorted(rng.sample(range(40), rng.randint(1, 8)))
    return animation([[keyframe(n, triple(rng), triple(rng), triple(rng)) for n in numbers]
                      for _ in range(rng.randint(1, 30))], rng.choice(RATES))


def sparse(rng):
    """Objects come and go, parts are missing, values repeat, the order is any."""
    numbers = rng.sample(range(256), rng.randint(1, 8))
    last = {}
    frames = []
    for _ in range(rng.randint(1, 40)):
        frame = []
        for n in rng.sample(numbers, len(numbers)) if rng.random() < 0.2 else numbers:
            if rng.random() < 0.25:
                continue
            parts = []
            for part in range(3):
                value = last.get((n, part)) if rng.random() < 0.3 else None
                value = value or (rng.choice(((4096,) * 3, triple(rng, 0, 8192))) if part == 1 else triple(rng))
                keep = rng.random() < 0.5
                if keep:
                    last[n, part] = value
                parts.append(value if keep else None)
            frame.append(keyframe(n, *parts))
        frames.append(frame)
    return animation(frames, rng.choice(RATES))


def turning(rng):
    """Smooth motion, as a model has it."""
    count = rng.randint(1, 12)
    speed = [triple(rng, -300, 300) for _ in range(count)]
    place = [triple(rng, -2000, 2000) for _ in range(count)]
    frames = []
    for f in range(rng.randint(2, 60)):
        frames.append([keyframe(n, tuple(s * f for s in speed[n]) if f % 2 == 0 else None, None,
                                place[n] if f == 0 else tuple(p + f for p in place[n])) for n in range(count)])
    return animation(frames, rng.choice(RATES))


def odd(rng):
    """Bytes between offsets and frames, unknown flags, objects twice in a frame."""
    numbers = range(rng.randint(1, 4))
    frames = []
    for _ in range(rng.randint(1, 12)):
        frame = [keyframe(n, triple(rng) if rng.random() < 0.6 else None, triple(rng) if rng.random() < 0.6 else None,
                          triple(rng) if rng.random() < 0.6 else None, rng.choice((0, 0, 8, 0x50, 0xF8)))
                 for n in numbers for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        frames.append(frame)
    return animation(frames, rng.choice((0, 1, 7, 30, 65535)), rng.randbytes(2 * rng.choice((0, 1, 2, 9))))


DIALECTS = {"full": full, "sparse": sparse, "turning": turning, "odd": odd}


def longest():
    """As many frames as fit: two objects that turn."""
    frames = [[keyframe(0, (f % 4096, 0, 0)), keyframe(1, None, None, (f, 0, -f))] for f in range(LONGEST // 18)]
    data = animation(frames)
    assert len(data) <= LONGEST < len(data) + 18
    return data


def edge_cases():
    rng = random.Random(79)
    extremes = ((-32768, 32767, 0), (-1, 1, 4096), (-4096, 2048, -2048), (4095, 4097, 8192))
    yield "extremes", animation([[keyframe(0, v, v, v)] for v in extremes]), "clean exact"
    yield "no-frames", animation([]), "clean"
    yield "one-empty-frame", animation([[]]), "clean"
    yield "empty-frames", animation([[], [keyframe(3, (1, 2, 3))], [], []], 15), "clean exact"
    yield "nothing-stored", animation([[keyframe(7)], [], [keyframe(7)]], 60), "clean exact"
    yield "late-rotation", animation([[keyframe(0)], [keyframe(0)], [keyframe(0, (512, 0, 0))], [keyframe(0)]]), \
        "clean exact"
    yield "scale-comes-and-goes", animation([[keyframe(0)], [keyframe(0, None, (2048,) * 3)], [keyframe(0)], [],
                                             [keyframe(0)], [keyframe(0, None, (4096,) * 3)]]), "clean exact"
    yield "hidden-change", animation([[keyframe(0, (100, 0, 0))], [], [keyframe(0)], [],
                                      [keyframe(0, (200, 0, 0))]]), "clean exact"
    yield "repeats", animation([[keyframe(0, (9, 8, 7), (4096,) * 3, (6, 5, 4))]] * 5), "clean exact"
    yield "all-objects", animation([[keyframe(n, (n, 0, 0)) for n in range(256)]] * 3), "clean exact"
    yield "backwards-order", animation([[keyframe(n, (n, 1, 2)) for n in (9, 4, 200, 0)]] * 3), "clean exact"
    yield "rate-1", animation([[keyframe(0, (f * 64, 0, 0))] for f in range(8)], 1), "clean exact"
    yield "rate-60", animation([[keyframe(0, (f * 64, 0, 0))] for f in range(8)], 60), "clean exact"
    yield "gap", animation([[keyframe(0, (1, 2, 3))]] * 2, 30, b"\xde\xad\xbe\xef"), "exact"
    yield "unknown-flags", animation([[keyframe(0, (1, 2, 3), None, (4, 5, 6), 0xA8)], [keyframe(0, more_flags=8)]]), \
        "exact"
    yield "twice", animation([[keyframe(0, (1, 2, 3), (1, 1, 1)), keyframe(0, None, None, (4, 5, 6)),
                               keyframe(0, (7, 8, 9))]] * 2), "exact"
    yield "longest", longest(), "clean exact"
    yield "first", animation([[keyframe(0, (f * 16, 0, 0)), keyframe(2, None, None, (f, f, f))] for f in range(6)],
                             20), "clean exact"
    yield "second", animation([[keyframe(0), keyframe(1, triple(rng))] for _ in range(4)], 20), "clean exact"
    yield "third", animation([[keyframe(0, (1000 + f, 0, 0))] for f in range(5)], 20), "clean exact"


def bad_cases():
    """Broken files: name, bytes, a word of the message."""
    good = animation([[keyframe(0, (1, 2, 3)), keyframe(1)], [keyframe(0)]])
    yield "other-word", b"\0\0" + good[2:], "first word"
    yield "no-header", good[:5], "number of frames"
    yield "no-offsets", good[:8], "frame offsets"
    yield "many-frames", good[:4] + b"\xff\xff" + good[6:], "frame offsets"
    yield "cut", good[:-1], "frame offset"
    yield "one-more", good + b"\0", "end of the file"
    yield "two-more", good + b"\0\0", "end of the file"
    yield "into-table", good[:6] + struct.pack("<H", 3) + good[8:], "frame offset 0"
    yield "backwards", good[:8] + struct.pack("<H", 5) + good[10:], "frame offset 1"
    yield "past-the-end", good[:8] + struct.pack("<H", 999) + good[10:], "frame offset 1"
    yield "first-past-the-end", good[:6] + struct.pack("<H", 999) + good[8:], "frame offset 0"
    yield "split-keyframe", good[:8] + struct.pack("<H", 7 + 2) + good[10:], "keyframe of object 0"
    yield "too-long", longest() + bytes(18), "end of the file"


def cases(seed=1, count=50):
    for name, data, tags in edge_cases():
        yield name, data, tags.split()
    for dialect, make in DIALECTS.items():
        rng = random.Random(f"{seed} {dialect}")
        for i in range(count):
            yield f"{dialect}-{i:03}", make(rng), ["exact"] if dialect == "odd" else ["clean", "exact"]


SAMPLES = ("extremes", "no-frames", "empty-frames", "nothing-stored", "late-rotation", "scale-comes-and-goes",
           "hidden-change", "gap", "unknown-flags", "twice", "first", "second", "third", "full-000", "sparse-000",
           "odd-000")


if __name__ == "__main__":
    import folder

    folder.write(__doc__, ".anm", cases, lambda name, tags: name in SAMPLES)
