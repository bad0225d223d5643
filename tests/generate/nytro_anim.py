#!/usr/bin/env python3
"""Makes Nytro node animations for the tests, from the format's specification and nothing of ours.

    nytro_anim.py OUT [--seed N] [--count N]    every case as OUT/NAME.nanim, and N random files of each dialect (50)
    nytro_anim.py --samples DIR                 the few files that are kept in tests/data/nytro-anim

cases(seed, count) gives the same as (name, bytes, tags). Tags:
    clean     breaks no rule of the format
    exact     FBX can hold all of it (a rebuilt file must come within tolerance of it)
    sample    kept in tests/data
    odd       can be read, but breaks a rule
    bad       must be refused
and the dialect: "long" (16-byte chunk headers, the last one's nextChunkPos is the file's size), "zero" and "eof" (it is
0 or 0xffffffff), "short" (8-byte headers).
"""
import functools
import math
import random
import struct

TCB, BEZIER, LINEAR = 1, 2, 4
NEUTRAL = (0.0,) * 5


class Bits(int):
    """A 32-bit word to be written as it is."""


NAN = Bits(0x7FC00001)
INFINITE = Bits(0xFF800000)
NEGATIVE_ZERO = Bits(0x80000000)
TINY = Bits(0x00000001)


def words(values):
    return b"".join(struct.pack("<I", int(v)) if isinstance(v, Bits) else struct.pack("<f", v) for v in values)


def key(time, value, tcb=None, flags=0):
    """`value` is x, y, z or angle, x, y, z; `tcb` is tension, continuity, bias, ease in, ease out, or None."""
    return struct.pack("<I", flags) + words([time, *(tcb or ()), *value])


def node(name, flags, translations=(), rotations=(), scales=()):
    """Keys are made by key(), with tcb where the flags say so."""
    out = name + b"\0" + struct.pack("<4I", flags, len(translations), len(rotations), len(scales))
    return out + b"".join((*translations, *rotations, *scales))


def header(name, author, nodes, flags=0, rest=b""):
    return struct.pack("<I", flags) + name + b"\0" + author + b"\0" + struct.pack("<H", nodes) + rest


def chunks(dialect, parts, gaps=()):
    """`parts`: (id, payload) or (id, payload, version). `gaps`: bytes behind each chunk, where there are some."""
    out = b""
    for i, (number, payload, *version) in enumerate(parts):
        gap = gaps[i] if i < len(gaps) else b""
        if dialect == "short":
            out += struct.pack("<2I", number, len(payload)) + payload
            continue
        position = len(out) + 16 + len(payload) + len(gap)
        if i + 1 == len(parts):
            position = {"long": position, "zero": 0, "eof": 0xFFFFFFFF}[dialect]
        out += struct.pack("<4I", number, version[0] if version else 1, len(payload), position) + payload + gap
    return out


def animation(dialect, nodes, name=b"walk", author=b"somebody (C) 2001", before=(), between=(), after=(), **more):
    return chunks(dialect, [*before, (1, header(name, author, len(nodes), **more)), *between, (2, b"".join(nodes)), *after])


def times(rng, count, even=False):
    time, out = rng.choice((0.0, 0.0, rng.uniform(0, 2))), []
    for _ in range(count):
        out.append(time)
        time += 0.125 if even else rng.choice((1 / 30, 2 / 30, 0.1, 0.25, rng.uniform(0.05, 0.8)))
    return out


def numbers(rng, ease):
    if rng.random() < 0.3:
        return NEUTRAL
    tcb = [rng.choice((0.0, rng.uniform(-1, 1))) for _ in range(3)]
    return [*tcb, *((rng.choice((0.0, rng.uniform(0, 1))) for _ in range(2)) if ease else (0.0, 0.0))]


def values(rng, kind, count, size, middle, ease):
    start = [middle + rng.uniform(-size, size) for _ in range(3)]
    return [key(t, [s + size * 0.5 * math.sin(2 * t + s) for s in start], numbers(rng, ease) if kind & TCB else None,
                rng.choice((0, 0, 0, 1, 2, 3))) for t in times(rng, count)]


def rotations(rng, kind, count, ease, turns=False):
    angle = rng.uniform(-170, 170)
    axis = [rng.gauss(0, 1) for _ in range(3)]
    out = []
    for t in times(rng, count):
        length = math.sqrt(sum(c * c for c in axis))
        full = rng.choice((-720, -360, 360, 720)) if turns else 0
        out.append(key(t, [angle + full, *(c / length for c in axis)], numbers(rng, ease) if kind & TCB else None,
                       rng.choice((0, 0, 1, 3))))
        angle += rng.uniform(-60, 60)
        axis = [c + rng.gauss(0, 0.2) for c in axis]
    return out


def random_nodes(rng, ease):
    nodes = []
    for i in range(rng.randint(1, 5)):
        kind = rng.choice((TCB, BEZIER, LINEAR))
        counts = [rng.choice((0, 1, 2, rng.randint(2, 12))) for _ in range(3)]
        nodes.append(node(rng.choice((b"Bip01 L Thigh", b"node_%d" % i, b"bone.%03d" % i)), kind,
                          values(rng, kind, counts[0], 20.0, 0.0, ease), rotations(rng, kind, counts[1], ease),
                          values(rng, kind, counts[2], 0.3, 1.0, ease)))
    return nodes


def random_file(rng, dialect, ease=False):
    """A well-formed file; some have chunks that nobody knows."""
    def some():
        return [(rng.randint(3, 0xFFFFFFFF), rng.randbytes(rng.randint(0, 20))) for _ in range(rng.choice((0, 0, 1, 2)))]
    return animation(dialect, random_nodes(rng, ease), name=rng.choice((b"", b"idle", b"run_01", "прыжок".encode())),
                     author=rng.choice((b"", b"A. Smith (C)")), before=some(), between=some(), after=some())


DIALECTS = {name: functools.partial(random_file, dialect=name) for name in ("long", "zero", "eof", "short")}


def cases(seed=1, count=50):
    rng = random.Random(seed)
    for kind, name in ((TCB, "tcb"), (BEZIER, "bezier"), (LINEAR, "linear")):
        yield name, animation("long", [node(b"hip", kind, values(rng, kind, 5, 10, 0, False),
                                            rotations(rng, kind, 4, False), values(rng, kind, 3, 0.2, 1, False)),
                                       node(b"knee", kind, [], rotations(rng, kind, 3, False), [])]), "clean exact long sample"
    yield "ease", animation("long", [node(b"hip", TCB, values(rng, TCB, 6, 10, 0, True), rotations(rng, TCB, 5, True))]), \
        "clean long sample"
    yield "eight", animation("short", [node(b"a", LINEAR, values(rng, LINEAR, 2, 10, 0, False))],
                             between=[(7, b"unknown")]), "clean exact short sample"
    yield "last_zero", animation("zero", [node(b"a", BEZIER, values(rng, BEZIER, 3, 10, 0, False))]), "clean exact zero sample"
    yield "last_eof", animation("eof", [node(b"a", BEZIER, values(rng, BEZIER, 4, 10, 0, False))],
                                after=[(9, b"")]), "clean exact eof sample"
    yield "unknown_chunks", animation("long", [node(b"a", TCB, values(rng, TCB, 3, 10, 0, False))],
                                      before=[(0, b"\0\1\2"), (0xFFFFFFFF, b"x" * 9)], between=[(3, b"")],
                                      after=[(2000, b"tail")]), "clean exact long sample"
    yield "swapped", chunks("long", [(2, node(b"a", LINEAR, values(rng, LINEAR, 2, 5, 0, False))),
                                     (1, header(b"swapped", b"", 1))]), "clean exact long"
    yield "no_nodes", animation("long", []), "clean exact long"
    yield "no_keys", animation("long", [node(b"a", TCB), node(b"", LINEAR)]), "clean exact long"
    yield "same_names", animation("short", [node(b"a", LINEAR, values(rng, LINEAR, 2, 5, 0, False)),
                                            node(b"a", TCB, values(rng, TCB, 2, 5, 0, False))]), "clean exact short"
    yield "odd_names", animation("long", [node(b"\xff\xfe\x80", LINEAR, values(rng, LINEAR, 2, 5, 0, False)),
                                          node(b"a|b:c", LINEAR, values(rng, LINEAR, 2, 5, 0, False)),
                                          node("нога".encode(), BEZIER, values(rng, BEZIER, 3, 5, 0, False))],
                                 name=b"\xc3\x28", author=b"\xa9"), "clean exact long sample"
    yield "turns", animation("long", [node(b"a", LINEAR, [], rotations(rng, LINEAR, 8, False, True)),
                                      node(b"b", TCB, [], rotations(rng, TCB, 8, False, True)),
                                      node(b"c", LINEAR, [], [key(0, [180, 0, 0, 1]), key(1, [-180, 0, 0, 1]),
                                                              key(2, [540, 0, 1, 0]), key(3, [0, 0, 0, 0])])]), \
        "clean exact long sample"
    yield "jump", animation("long", [node(b"a", LINEAR, [key(0, [0, 0, 0]), key(1, [1, 2, 3]), key(1, [5, 5, 5]),
                                                         key(2, [4, 4, 4])])]), "clean exact long"
    yield "negative_zero", animation("long", [node(b"a", TCB, [key(NEGATIVE_ZERO, [NEGATIVE_ZERO, TINY, 0], [NEGATIVE_ZERO] * 5),
                                                               key(1, [1, NEGATIVE_ZERO, 0], NEUTRAL)])]), "clean exact long sample"
    yield "before_zero", animation("long", [node(b"a", LINEAR, [key(-1, [1, 2, 3]), key(0.5, [2, 3, 4])])]), "clean exact long"
    # Readable, but against the rules.
    yield "not_finite", animation("long", [node(b"a", TCB, [key(0, [1, NAN, 3], [NAN, 0, INFINITE, 0, 0]),
                                                            key(NAN, [INFINITE, 2, 3], NEUTRAL), key(1, [2, 2, 2], NEUTRAL)],
                                                [key(0, [NAN, 0, 0, 1], NEUTRAL), key(1, [20, 0, INFINITE, 1], NEUTRAL)])]), \
        "odd long sample"
    yield "backwards", animation("long", [node(b"a", LINEAR, [key(0, [0, 0, 0]), key(2, [1, 1, 1]), key(1, [2, 2, 2]),
                                                              key(3, [3, 3, 3])])]), "odd long sample"
    yield "no_axis", animation("zero", [node(b"a", LINEAR, [], [key(0, [30, 0, 0, 0]), key(1, [30, 0, 0, 5])])]), "odd zero sample"
    yield "odd_flags", animation("long", [node(b"a", 0, [key(0, [1, 2, 3], None, 0xF0)]), node(b"b", 0x80000003, [
        key(0, [1, 2, 3], [2, -3, 1.5, -1, 4]), key(1, [2, 3, 4], NEUTRAL)]), node(b"c", 6, [key(0, [1, 2, 3]), key(1, [2, 1, 0])])],
        flags=5, rest=b"more"), "odd long sample"
    yield "gaps", chunks("long", [(5, b"abc", 7), (1, header(b"gaps", b"", 1), 2),
                                  (2, node(b"a", LINEAR, [key(0, [1, 2, 3])]) + b"rest")],
                         [b"..", b"", b"tail"]), "odd long sample"
    yield "tail", chunks("zero", [(1, header(b"tail", b"", 1)), (2, node(b"a", LINEAR, [key(0, [1, 2, 3])]))],
                         [b"", b"behind the end"]), "odd zero"
    good = animation("long", [node(b"a", LINEAR, values(rng, LINEAR, 2, 10, 0, False))])
    second = struct.unpack_from("<I", good, 12)[0]
    changes = {"backwards": (second + 12, 16), "past_the_end": (second + 12, len(good) + 1), "size": (second + 8, 0x7FFFFFFF),
               "keys": (second + 16 + 6, 0x0CCCCCCD), "no_nodes": (second, 3), "headers_only": (12, 0)}
    for what, (at, number) in changes.items():
        yield f"bad_{what}", good[:at] + struct.pack("<I", number) + good[at + 4:], "bad sample"
    yield "bad_no_terminator", chunks("short", [(1, header(b"x", b"", 1)), (2, b"endless name" * 3)]), "bad sample"
    yield "bad_cut", good[:-1], "bad"
    for dialect in DIALECTS:
        for i in range(count):
            ease = i % 5 == 4
            yield f"{dialect}_{i:04d}", random_file(rng, dialect, ease), f"clean {'' if ease else 'exact '}{dialect}"


if __name__ == "__main__":
    import folder

    folder.write(__doc__, ".nanim", cases, lambda name, tags: "sample" in tags.split())
