#!/usr/bin/env python3
"""Makes Midtown Madness 2 clips for the tests, from the format's specification and nothing of ours.

    mm2_anim.py OUT [--seed N] [--count N]    N files of every dialect as OUT/NAME.anim, and the skeleton OUT/ped.skel
    mm2_anim.py --samples DIR                 the few files that are kept in tests/data/mm2-anim

cases(seed, count) gives the same as (name, bytes, tags). Tags:
    clean     breaks no rule of the format
    exact     FBX can hold all of it (a rebuilt file must come within tolerance of it)
    from      is not recognised by its content: only with --from mm2-anim
"""
import math
import random
import struct

NAN_PAYLOAD, NAN_SIGNALLING, INFINITE, MINUS_INFINITE = 0x7FC12345, 0x7F800001, 0x7F800000, 0xFF800000
NEGATIVE_ZERO, TINY, LARGEST = 0x80000000, 0x00000001, 0x7F7FFFFF


def bits(value):
    """A float32 as its bits; integers are bits already."""
    return value if isinstance(value, int) else struct.unpack("<I", struct.pack("<f", value))[0]


def words(values):
    values = [bits(v) for v in values]
    return struct.pack("<%dI" % len(values), *values)


def channel(floats, frames, kind=1, unknown=0.0):
    """A channel: header and frames, each frame a list of `floats` values."""
    assert all(len(frame) == floats for frame in frames)
    return struct.pack("<IIB", floats, bits(unknown), kind) + b"".join(words(frame) for frame in frames)


def clip(count, frames, channels):
    return struct.pack("<II", count, frames) + b"".join(channels)


def old_clip(bones, frames, five):
    return struct.pack("<II", len(frames), bones) + five + b"".join(words(frame) for frame in frames)


def walk(rng, bones, frames):
    """Frames of a pedestrian that walks: the root moves, the joints swing, some turn without end."""
    speed = rng.uniform(-0.1, 0.1)
    swing = [[rng.uniform(-1.2, 1.2) if rng.random() < 0.7 else 0.0 for _ in range(3)] for _ in range(bones)]
    phase = [rng.uniform(0, 6.28) for _ in range(bones)]
    spin = [rng.choice((0, 0, 0, 0.4, -7.0)) for _ in range(bones)]
    out = []
    for f in range(frames):
        frame = [rng.uniform(-0.01, 0.01), 0.9 + 0.03 * math.sin(f), f * speed]
        for b in range(bones):
            frame += [swing[b][c] * math.sin(f * 0.3 + phase[b]) + (spin[b] * f if c == 1 else 0) for c in range(3)]
        out.append(frame)
    return out


def noise(rng, floats, frames):
    return [[rng.uniform(-1000, 1000) for _ in range(floats)] for _ in range(frames)]


def any_floats(rng, floats, frames):
    """Every kind of number that a float can be."""
    special = (NAN_PAYLOAD, NAN_SIGNALLING, INFINITE, MINUS_INFINITE, NEGATIVE_ZERO, TINY, LARGEST, 0, 1.0)
    return [[rng.choice(special) if rng.random() < 0.3 else rng.uniform(-4, 4) for _ in range(floats)]
            for _ in range(frames)]


def size(rng):
    return rng.randint(1, 20), rng.randint(1, 40)


def retail(rng):
    bones, frames = size(rng)
    return clip(0, frames, [channel(3 * bones + 3, walk(rng, bones, frames), 1, rng.uniform(-3, 3))])


def beta(rng):
    bones, frames = size(rng)
    return clip(1, frames, [channel(3 * bones + 3, walk(rng, bones, frames), 1, rng.uniform(-3, 3))])


def several(rng):
    bones, frames = size(rng)
    channels = [channel(3 * bones + 3, walk(rng, bones, frames), 1, rng.uniform(-3, 3))]
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice((0, 1, 2, 3, 200))
        floats = rng.choice((6, 9)) if kind == 1 else rng.randint(0, 9)
        channels.append(channel(floats, noise(rng, floats, frames), kind, rng.random()))
    return clip(len(channels), frames, channels)


def old(rng):
    bones, frames = size(rng)
    five = rng.choice((struct.pack("<fB", rng.uniform(-3, 3), 1), struct.pack("<Bf", 1, rng.uniform(-3, 3)), bytes(5),
                       b"\1\0\0\0\0", b"\0\0\0\0\1", b"\1\1\1\1\1"))
    return old_clip(bones, walk(rng, bones, frames), five)


DIALECTS = {"retail": retail, "beta": beta, "several": several, "old": old}


def edge_cases():
    rng = random.Random(77)
    ped = walk(rng, 19, 12)
    yield "ped", clip(0, 12, [channel(60, ped, 1, 1.552)]), "clean exact"
    yield "two-bones", clip(0, 5, [channel(9, walk(rng, 2, 5), 1, 1.552)]), "clean exact"
    yield "small-beta", clip(1, 3, [channel(6, walk(rng, 1, 3), 1, -0.5)]), "clean exact"
    yield "one-frame", clip(0, 1, [channel(6, walk(rng, 1, 1))]), "clean exact"
    yield "root-only", clip(0, 5, [channel(3, walk(rng, 0, 5))]), "clean exact"
    yield "no-frames", clip(0, 0, [channel(60, [])]), "exact"
    yield "no-frames-many-floats", clip(1, 0, [channel(0xFFFFFFFF, [])]), ""
    yield "no-floats", clip(0, 7, [channel(0, [[]] * 7)]), "exact"
    yield "frames-of-nothing", clip(0, 0xFFFFFFFF, [channel(0, [])]), ""
    yield "still", clip(0, 8, [channel(12, [[0.0] * 12] * 8)]), "clean exact"
    yield "unknown-nan", clip(0, 2, [channel(6, walk(rng, 1, 2), 1, NAN_PAYLOAD)]), "clean exact"
    yield "minus-zero", clip(0, 3, [channel(6, [[NEGATIVE_ZERO] * 6] * 3)]), "clean exact"
    yield "tiny", clip(0, 3, [channel(6, [[TINY, 0.0, TINY, 0.5, TINY, TINY]] * 3)]), "clean exact"
    yield "turns", clip(0, 9, [channel(6, [[0.0, 1.0, 0.0, f * 9.0, -f * 31.0, 1e6] for f in range(9)])]), "clean"
    yield "non-finite", clip(0, 6, [channel(9, any_floats(rng, 9, 6))]), ""
    yield "non-finite-first", clip(0, 2, [channel(6, [[INFINITE] * 6, [1.0] * 6])]), ""
    yield "old-five-bytes", old_clip(2, walk(rng, 2, 4), b"\xff\x00\x80\x7f\x2a"), "clean exact"
    yield "old-one-frame", old_clip(1, walk(rng, 1, 1), b"\0\0\0\0\1"), "clean exact"
    yield "four-channels", clip(4, 2, [channel(6, walk(rng, 1, 2))] + [channel(1, noise(rng, 1, 2), 9)] * 3), \
        "clean exact"
    yield "bones-second", clip(2, 3, [channel(2, noise(rng, 2, 3), 7), channel(6, walk(rng, 1, 3))]), \
        "clean exact from"
    yield "only-custom", clip(1, 3, [channel(4, noise(rng, 4, 3), 2)]), "clean exact from"
    yield "odd-floats", clip(0, 3, [channel(7, noise(rng, 7, 3), 1)]), "exact from"
    yield "custom-non-finite", clip(2, 3, [channel(6, walk(rng, 1, 3)), channel(2, [[1.0, NAN_PAYLOAD], [INFINITE, 2.0],
                                                                                         [3.0, NAN_SIGNALLING]], 5)]), ""
    yield "odd-second", clip(2, 2, [channel(6, walk(rng, 1, 2)), channel(4, noise(rng, 4, 2), 1)]), "exact"
    yield "hundred-bones", clip(0, 2, [channel(303, walk(rng, 100, 2))]), "clean exact"


def cases(seed=1, count=50):
    for name, data, tags in edge_cases():
        yield name, data, tags.split()
    for dialect, make in DIALECTS.items():
        rng = random.Random(f"{seed} {dialect}")
        for i in range(count):
            yield f"{dialect}-{i:03}", make(rng), ["clean", "exact"]


PEDESTRIAN = ("hips", ("spine", ("chest", ("neck", ("head",)), ("l_arm", ("l_elbow", ("l_hand",))),
              ("r_arm", ("r_elbow", ("r_hand",))))), ("l_leg", ("l_knee", ("l_foot", ("l_toe",)))),
              ("r_leg", ("r_knee", ("r_foot", ("r_toe",)))))


def skeleton(tree=PEDESTRIAN):
    """A skeleton's text; each bone lies where its number says."""
    bones = []

    def lines(bone, depth):
        number = len(bones)
        bones.append(bone[0])
        tabs = "\t" * depth
        yield f"{tabs}bone {bone[0]} {{"
        yield f"{tabs}\toffset {number * 0.125 - 1} {0.9 if number == 0 else 0.25} {number * -0.03125}"
        for child in bone[1:]:
            yield from lines(child, depth + 1)
        yield f"{tabs}}}"

    body = "".join(line + "\r\n" for line in lines(tree, 0))
    return (f"NumBones {len(bones)}\r\n" + body).encode()


# Not clips, or broken ones: name, bytes, a word of the message.
def bad_cases():
    rng = random.Random(78)
    good = clip(0, 3, [channel(9, walk(rng, 2, 3))])
    yield "empty-header", good[:7], "number of frames"
    yield "cut", good[:-1], "floats a frame"
    yield "one-more", good + b"\0", "end of the file"
    yield "many-channels", struct.pack("<II", 0xFFFFFFFF, 3) + good[8:], "number of channels"
    yield "many-frames", struct.pack("<II", 0, 0xFFFFFFFF) + good[8:], "floats a frame"
    yield "many-floats", good[:8] + struct.pack("<I", 0xFFFFFFFF) + good[12:], "floats a frame"
    yield "wraps-around", struct.pack("<III", 1, 0x40000000, 0x10) + good[12:17], "floats a frame"
    yield "missing-channel", struct.pack("<I", 2) + good[4:], "floats a frame"
    yield "old-no-frames", old_clip(9, [], b"\0\0\0\0\1"), "number of channels"
    yield "old-many-bones", struct.pack("<II", 1, 0xFFFFFFFF) + b"\0\0\0\0\1", "number of channels"
    yield "text", TEXT_LIST, "plain text"


TEXT_LIST = b"walk.anim\r\nrun.anim\r\nidle.anim\r\n"

SAMPLES = ("two-bones", "one-frame", "root-only", "no-frames", "non-finite", "old-five-bytes", "four-channels",
           "custom-non-finite", "small-beta")


if __name__ == "__main__":
    import folder

    folder.write(__doc__, ".anim", cases, lambda name, tags: name in SAMPLES, {"ped.skel": skeleton()})
