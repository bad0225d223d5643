#!/usr/bin/env python3
"""Makes Evil Islands .anm files for the tests, from the format's specification and nothing of ours.

    ei_anm.py OUT [--seed N] [--count N]    every case as OUT/NAME.anm, and N random files of each dialect (default 50)
    ei_anm.py --samples DIR                 the few files that are kept in tests/data/ei-anm

cases(seed, count) gives the same as (name, bytes, tags). Tags:
    clean     breaks no rule of the format
    exact     FBX can hold all of it (a rebuilt file must come within tolerance of it)
    sample    kept in tests/data
    odd       can be read, but breaks a rule
    bad       must be refused
and the dialect: "short" (the file ends after a morph frame count of 0), "long" (both morph counts are 0), "morph".
"""
import functools
import math
import random
import struct



class Bits(int):
    """A 32-bit word to be written as it is."""


NAN = Bits(0x7FC00001)
INFINITE = Bits(0xFF800000)
NEGATIVE_ZERO = Bits(0x80000000)
TINY = Bits(0x00000001)


def word(value):
    if isinstance(value, Bits):
        return int(value)
    return struct.unpack("<I", struct.pack("<f", value))[0]


def words(values):
    return b"".join(struct.pack("<I", word(v)) for v in values)


def part(rotations, translations, morphs=None, vertices=None, tail=8, frames=None):
    """One file. `morphs` is a list of frames, each a list of (x, y, z); `frames` and `vertices` overrule the counts."""
    out = struct.pack("<I", len(rotations)) + b"".join(words(q) for q in rotations)
    out += struct.pack("<I", len(translations)) + b"".join(words(v) for v in translations)
    morphs = morphs or []
    out += struct.pack("<I", len(morphs) if frames is None else frames)
    if morphs or tail == 8:
        out += struct.pack("<I", (len(morphs[0]) if morphs else 0) if vertices is None else vertices)
    return out + b"".join(words(v) for frame in morphs for v in frame)


def unit(q):
    length = math.sqrt(sum(c * c for c in q))
    return [c / length for c in q]


def turning(rng, frames, flips=False):
    """Unit quaternions of a smooth turn, as a game stores them; with flips the sign changes now and then."""
    axis = unit([rng.gauss(0, 1) for _ in range(3)])
    start, speed, wobble = rng.uniform(-3, 3), rng.uniform(-0.35, 0.35), rng.uniform(0, 0.4)
    out = []
    for i in range(frames):
        half = (start + speed * i + wobble * math.sin(i * 0.7)) / 2
        q = [math.cos(half), *(math.sin(half) * c for c in axis)]
        if flips and rng.random() < 0.3:
            q = [-c for c in q]
        out.append(q)
    return out


def moving(rng, frames, size=3.0):
    base = [rng.uniform(-size, size) for _ in range(3)]
    rate = [rng.uniform(0.1, 0.9) for _ in range(3)]
    return [[b + size * 0.3 * math.sin(r * i + b) for b, r in zip(base, rate)] for i in range(frames)]


def bending(rng, frames, vertices):
    ways = [[rng.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(vertices)]
    return [[[c * math.sin(0.5 * f + v) for c in way] for v, way in enumerate(ways)] for f in range(frames)]


def random_file(rng, dialect):
    """A well-formed file; the counts often differ, and any may be 0 where the dialect allows it."""
    frames = rng.randint(1, 30)
    rotations = turning(rng, rng.choice((frames, frames, frames, 1, 0, rng.randint(1, 40))), rng.random() < 0.3)
    translations = moving(rng, rng.choice((frames, frames, 1, 0, rng.randint(1, 40))))
    morphs = bending(rng, rng.choice((frames, 1, rng.randint(1, 12))), rng.randint(1, 25)) if dialect == "morph" else []
    return part(rotations, translations, morphs, tail=4 if dialect == "short" else 8)


DIALECTS = {name: functools.partial(random_file, dialect=name) for name in ("short", "long", "morph")}


def cases(seed=1, count=50):
    rng = random.Random(seed)
    still = [[1.0, 0.0, 0.0, 0.0]] * 24
    # The shape of the specification's example: 24 frames of each, 21 vertices.
    yield "r_pereponka", part(still, [[0.0] * 3] * 24, bending(rng, 24, 21)), "clean exact morph"
    yield "hand", part(turning(rng, 5), moving(rng, 5), tail=4), "clean exact short sample"
    yield "body", part(turning(rng, 4), moving(rng, 1)), "clean exact long sample"
    yield "wing", part(turning(rng, 3), moving(rng, 3), bending(rng, 3, 4)), "clean exact morph sample"
    yield "no_translation", part(turning(rng, 6), [], tail=4), "clean exact short"
    yield "no_rotation", part([], moving(rng, 6)), "clean exact long"
    yield "only_morph", part([], [], bending(rng, 5, 3)), "clean exact morph"
    yield "one_frame", part(turning(rng, 1), moving(rng, 1), bending(rng, 1, 2)), "clean exact morph"
    yield "one_vertex", part(turning(rng, 9), moving(rng, 9), bending(rng, 9, 1)), "clean exact morph"
    yield "more_morphs", part(turning(rng, 3), moving(rng, 2), bending(rng, 11, 2)), "clean exact morph"
    yield "nothing", part([], [], tail=4), "clean exact short"
    yield "nothing_long", part([], []), "clean exact long"
    yield "flips", part(turning(rng, 20, True), moving(rng, 20)), "clean exact long"
    yield "half_turns", part([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, -1.0],
                              [-1.0, 0.0, 0.0, 0.0]], moving(rng, 4)), "clean exact long"
    yield "negative_zero", part([[1.0, NEGATIVE_ZERO, 0.0, NEGATIVE_ZERO]] * 3, [[NEGATIVE_ZERO, 0.0, TINY]] * 3,
                                [[[NEGATIVE_ZERO, TINY, 0.0]]] * 3), "clean exact morph sample"
    yield "not_unit", part([[2.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.0, 0.0], [1e-20, 1e-20, 0.0, 0.0],
                            [3e30, 0.0, 3e30, 0.0]], moving(rng, 4)), "odd exact long sample"
    yield "zero_quaternion", part([[0.0] * 4, *turning(rng, 2), [0.0] * 4], moving(rng, 4), tail=4), "odd short sample"
    yield "not_finite", part([*turning(rng, 2), [NAN, 0.0, 0.0, 1.0], *turning(rng, 1)],
                             [[1.0, 2.0, 3.0], [NAN, 2.5, INFINITE], [1.5, NAN, 3.5], [1.0, 2.0, 3.0]],
                             [[[1.0, NAN, 2.0]], [[INFINITE, 0.0, 0.0]]]), "odd morph sample"
    yield "frames_without_vertices", part(turning(rng, 2), moving(rng, 2), frames=0xFFFFFFFF, vertices=0), "odd long sample"
    yield "vertices_without_frames", part(turning(rng, 2), moving(rng, 2), frames=0, vertices=77), "odd long sample"
    good = part(turning(rng, 3), moving(rng, 3), bending(rng, 3, 4))
    counts = {"rotations": 0, "translations": 52, "frames": 92, "vertices": 96}
    for field, at in counts.items():
        yield f"bad_{field}", good[:at] + struct.pack("<I", 0x40000001) + good[at + 4:], "bad sample"
    yield "bad_cut", good[:-5], "bad"
    yield "bad_longer", good + b"\0", "bad"
    for dialect in DIALECTS:
        for i in range(count):
            yield f"{dialect}_{i:04d}", random_file(rng, dialect), f"clean exact {dialect}"


if __name__ == "__main__":
    import folder

    folder.write(__doc__, ".anm", cases, lambda name, tags: "sample" in tags.split())
