#!/usr/bin/env python3
"""Makes X4: Foundations .ani files for the tests, from the format's specification and nothing of ours.

    x4_ani.py OUT [--seed N]    every case as OUT/NAME.ani
    x4_ani.py --samples DIR     the few files that are kept in tests/data/x4-ani

cases(seed) gives the same as (name, bytes, tags). Tags:
    clean     breaks no rule of the format
    exact     FBX can hold all of it (a rebuilt file must come within tolerance of it)
    sample    kept in tests/data
"""
import math
import random
import struct

STEP, LINEAR, QUADRATIC, CUBIC, BEZIER, BEZIER_LINEAR_TIME, TCB = 1, 2, 3, 4, 5, 6, 7
KINDS = ("pos", "rot", "scale", "pre", "post")


class Bits(int):
    """A 32-bit word to be written as it is."""


NAN_PAYLOAD = Bits(0x7FC12345)
NAN_NEGATIVE = Bits(0xFFABCDEF)
NAN_SIGNALLING = Bits(0x7F800001)
INFINITE = Bits(0x7F800000)
NEGATIVE_ZERO = Bits(0x80000000)
TINY = Bits(0x00000001)


def word(value):
    """A number as its 32 bits: as a float32, or as it is."""
    if isinstance(value, Bits):
        return int(value) & 0xFFFFFFFF
    return struct.unpack("<I", struct.pack("<f", value))[0]


def f32(value):
    """The nearest float32."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def key(time, value, interp=LINEAR, points=None, tcb=(0.0,) * 5, deriv=0, deriv_in=(0.0,) * 3, deriv_out=(0.0,) * 3,
        angle_key=0):
    """One record. `interp` is one number or three; `points` is three times (cp1 time, cp1 value, cp2 time, cp2 value);
    `tcb` is tension, continuity, bias, ease in, ease out."""
    interp = (interp,) * 3 if isinstance(interp, int) else tuple(interp)
    points = points or ((0.0,) * 4,) * 3
    fields = [*value, *(Bits(i & 0xFFFFFFFF) for i in interp), time]
    for point in points:
        fields += point
    fields += [*tcb, Bits(deriv), *deriv_in, *deriv_out, Bits(angle_key)]
    assert len(fields) == 32
    return struct.pack("<32I", *(word(f) for f in fields))


def name_field(name, garbage=None):
    """64 bytes: the name, its NUL, and what happened to lie behind it."""
    name = name.encode() if isinstance(name, str) else name
    if len(name) == 64:
        return name
    rest = 63 - len(name)
    behind = bytes(rest) if garbage is None else bytes(garbage.randrange(256) for _ in range(rest))
    return name + b"\0" + behind


def description(name, sub_name, duration, pos=(), rot=(), scale=(), pre=(), post=(), padding=(0, 0), garbage=None):
    lists = (pos, rot, scale, pre, post)
    head = name_field(name, garbage) + name_field(sub_name, garbage)
    head += struct.pack("<8I", *(len(keys) for keys in lists), word(duration), *(p & 0xFFFFFFFF for p in padding))
    return head, b"".join(b"".join(keys) for keys in lists)


def ani(descriptions, offset="keys", version=1, padding=0):
    heads = b"".join(d[0] for d in descriptions)
    at = 16 + (len(heads) if offset == "keys" else 0)
    header = struct.pack("<4I", len(descriptions), at, version, padding)
    return header + heads + b"".join(d[1] for d in descriptions)


def bezier_points(times, values, reach=1 / 3):
    """Smooth handles through (time, (x, y, z)): like a 3D program's, also before the first and after the last key."""
    result = []
    for i, (t, v) in enumerate(zip(times, values)):
        before = times[i] - times[i - 1] if i else times[min(1, len(times) - 1)] - times[0]
        after = times[i + 1] - times[i] if i + 1 < len(times) else before
        low, high = max(i - 1, 0), min(i + 1, len(times) - 1)
        span = times[high] - times[low]
        points = []
        for c in range(3):
            slope = (values[high][c] - values[low][c]) / span if span else 0.0
            points.append((t + after * reach, v[c] + slope * after * reach,
                           t - before * reach, v[c] - slope * before * reach))
        result.append(tuple(points))
    return result


def bezier_keys(times, values, reach=1 / 3, interp=BEZIER, last=STEP):
    points = bezier_points(times, values, reach)
    return [key(t, v, last if i + 1 == len(times) else interp, p)
            for i, (t, v, p) in enumerate(zip(times, values, points))]


def frame(n):
    return f32(n / 30)


# ---------------------------------------------------------------- real-looking motion


def door():
    """A hangar door: two wings slide apart with Bezier curves, a lock turns with TCB keys, and closing is the way back."""
    times = [frame(n) for n in (0, 6, 30, 42, 48)]
    left = [(0.0, 0.0, 0.0), (-0.12, 0.0, 0.02), (-2.4, 0.0, 0.1), (-3.05, 0.0, 0.1), (-3.0, 0.0, 0.1)]
    right = [tuple(-x if i == 0 else x for i, x in enumerate(v)) for v in left]
    lock_times = [frame(n) for n in (0, 6, 12, 18)]
    lock = [(0.0, 0.0, 0.0), (0.0, 0.0, -0.2), (0.0, 0.0, math.pi / 2 + 0.1), (0.0, 0.0, math.pi / 2)]
    numbers = [(0.0, 0.0, 0.0, 0.0, 0.0), (0.3, 0.0, -0.2, 0.0, 0.0), (0.0, 0.25, 0.4, 0.0, 0.0), (0.0,) * 5]
    duration = frame(48)

    def wing(name, values):
        return [description(name, "door_open", duration, pos=bezier_keys(times, values)),
                description(name, "door_close", duration,
                            pos=bezier_keys(times, [values[-1 - i] for i in range(len(values))]))]

    def bolt(name, sub_name, values):
        turns = [key(t, v, STEP if i + 1 == len(values) else TCB, tcb=n)
                 for i, (t, v, n) in enumerate(zip(lock_times, values, numbers))]
        glow = [key(frame(0), (1.0, 1.0, 1.0), LINEAR), key(frame(12), (1.0, 1.25, 1.0), LINEAR),
                key(frame(18), (1.0, 1.0, 1.0), STEP)]
        return description(name, sub_name, duration, rot=turns, scale=glow)

    items = wing("anim_door_left", left) + wing("anim_door_right", right)
    items += [bolt("anim_door_lock", "door_open", lock), bolt("anim_door_lock", "door_close", lock[::-1])]
    return ani(items)


def turret():
    """A turret that searches: full turns about y without unwinding, a barrel that nods, garbage behind the names."""
    rng = random.Random("turret")
    yaw = [key(frame(n), (0.0, math.radians(a), 0.0), LINEAR) for n, a in
           ((0, 0), (30, 170), (60, 340), (90, 510), (120, 720))]
    yaw.append(key(frame(150), (0.0, math.radians(720), NEGATIVE_ZERO), STEP))
    times = [frame(n) for n in (0, 20, 45, 75, 110, 150)]
    nod = [(math.radians(a), 0.0, 0.0) for a in (0, 22.5, -11.25, 30, -5, 0)]
    recoil_times = [frame(n) for n in (0, 2, 3, 10)]
    recoil = [(0.0, 0.0, 0.0), (0.0, 0.0, -0.35), (0.0, 0.0, -0.3), (0.0, 0.0, 0.0)]
    return ani([
        description("turret_base", "searching", frame(150), rot=yaw, garbage=rng),
        description("turret_barrel", "searching", frame(150), garbage=rng,
                    rot=bezier_keys(times, nod, interp=BEZIER_LINEAR_TIME)),
        description("turret_barrel", "firing", frame(10), pos=bezier_keys(recoil_times, recoil, 0.25), garbage=rng),
        description("turret_base", "firing", frame(10), garbage=rng),
        description("turret_light", "idle", 0.0, scale=[key(f32(1.1920929e-07), (1.0, 1.0, 1.0), STEP)], garbage=rng),
    ], offset="header")


# ---------------------------------------------------------------- every mix


def plain_points(rng, t, v, before, after):
    """Handles inside their segments, of lengths FBX can hold."""
    out, back = after * rng.uniform(0.05, 0.95), before * rng.uniform(0.05, 0.95)
    return (t + out, v + rng.uniform(-2, 2), t - back, v + rng.uniform(-2, 2))


def tame_points(rng, i, count, t, v, before, after, size):
    """Handles that FBX's rounding leaves alone, none before the first and after the last key."""
    slope = rng.uniform(-size, size)
    out, back = after * rng.uniform(0.2, 0.45), before * rng.uniform(0.2, 0.45)
    return ((t + out, v + slope * rng.uniform(0.5, 1.5) * out) if i + 1 < count else (0.0, 0.0)) + \
           ((t - back, v - slope * back) if i else (0.0, 0.0))


def random_keys(rng, count, interps, low=-5.0, high=5.0, uneven=True, tcb=False, ease=False, last=STEP, tame=False):
    times = [0.0]
    while len(times) < count:
        times.append(f32(times[-1] + (rng.uniform(0.02, 1.7) if uneven else 0.2)))
    result = []
    for i, t in enumerate(times):
        after = times[i + 1] - t if i + 1 < count else 0.3
        before = t - times[i - 1] if i else 0.3
        value = tuple(f32(rng.uniform(low, high)) for _ in range(3))
        if tame:
            points = tuple(tame_points(rng, i, count, t, v, before, after, (high - low) * 0.2) for v in value)
        else:
            points = tuple(plain_points(rng, t, v, before, after) for v in value)
        numbers = [rng.uniform(-1, 1) if tcb else 0.0 for _ in range(3)]
        numbers += [rng.uniform(0, 0.6) if ease else 0.0 for _ in range(2)]
        chosen = [last if i + 1 == count else rng.choice(interps) for _ in range(3)]
        result.append(key(t, value, chosen, points, tuple(numbers)))
    return result, times[-1]


def of_interps(rng, interps, keys=6, **how):
    items = []
    for n in range(3):
        pos, a = random_keys(rng, keys, interps, **how)
        wide = 0.4 if how.get("tame") else 2.5
        rot, b = random_keys(rng, keys + 1, interps, -wide, wide, **how)
        scale, c = random_keys(rng, keys - 1, interps, 0.2, 3.0, **how)
        items.append(description("part_%d" % n, "move", max(a, b, c), pos, rot, scale))
    return ani(items)


def interpolation_cases(seed):
    for number in range(0, 8):
        rng = random.Random("%s/interp%d" % (seed, number))
        clean = "clean" if number else ""
        exact = "exact" if number in (STEP, LINEAR, BEZIER_LINEAR_TIME) else ""
        yield "interp_%d" % number, of_interps(rng, [number], tcb=number == TCB), {clean, exact}
    rng = random.Random("%s/mixes" % seed)
    yield "mix_fbx", of_interps(rng, [STEP, LINEAR, BEZIER, BEZIER_LINEAR_TIME], keys=12), {"clean"}
    yield "tame_bezier", of_interps(rng, [BEZIER], keys=12, tame=True), {"clean", "exact"}
    yield "tame_fbx", of_interps(rng, [1, 2, 5, 6], keys=20, tame=True), {"clean", "exact"}
    yield "tame_known", of_interps(rng, [1, 2, 5, 6, 7], tcb=True, ease=True, keys=20, tame=True), {"clean"}
    yield "mix_tcb_even", of_interps(rng, [TCB], tcb=True, uneven=False, keys=9), {"clean"}
    yield "mix_tcb_ease", of_interps(rng, [TCB], tcb=True, ease=True, keys=9), {"clean", "ease"}
    yield "mix_known", of_interps(rng, [1, 2, 5, 6, 7], tcb=True, ease=True, keys=20), {"clean"}
    yield "mix_all", of_interps(rng, [0, 1, 2, 3, 4, 5, 6, 7, 8, 99, 65535, 65536, -1], tcb=True, keys=40), set()
    rare = []
    for n, deriv in enumerate((0, 1, -1)):
        keys = [key(frame(10 * i), (i * 1.0, i * i * 0.5, -i * 0.25), rng.choice((QUADRATIC, CUBIC)),
                    plain_points_of(rng, frame(10 * i), i) if n != 2 else None, deriv=deriv if i % 2 else 0,
                    deriv_in=(1.5, -2.0, 0.5), deriv_out=(0.25, 3.0, -1.0), angle_key=i) for i in range(4)]
        rare.append(description("rare_%d" % n, "move", frame(30), pos=keys, rot=keys))
    yield "rare_derivatives", ani(rare), {"clean"}


def plain_points_of(rng, t, i):
    return tuple(plain_points(rng, t, v, 1 / 3, 1 / 3) for v in (i * 1.0, i * i * 0.5, -i * 0.25))


# ---------------------------------------------------------------- structure


def structure_cases(seed):
    rng = random.Random("%s/structure" % seed)
    one = [key(0.0, (1.0, 2.0, 3.0), STEP)]
    yield "empty", ani([]), {"clean"}
    yield "keyless", ani([description("a", "idle", 0.0), description("b", "idle", 1.0),
                          description("b", "work", 1.0)]), {"clean"}
    yield "single_keys", ani([
        description("a", "idle", 0.0, pos=one), description("b", "idle", 0.0, rot=one, scale=one),
        description("c", "idle", 0.5, pos=[key(f32(1.1920929e-07), (0.0, 0.0, 0.0), BEZIER)]),
        description("d", "idle", 0.5)]), {"clean"}
    items = []
    for n in range(200):
        keys, end = random_keys(rng, rng.randrange(1, 6), [STEP, LINEAR, BEZIER])
        turn, end2 = random_keys(rng, rng.randrange(1, 4), [LINEAR], -3, 3)
        items.append(description("part_%03d" % (n // 4), ("idle", "open", "work", "close")[n % 4], max(end, end2),
                                 pos=keys, rot=turn if n % 3 else (), garbage=rng))
    yield "descriptions_200", ani(items), {"clean"}
    long_name, long_sub = "n" * 63, ("take_" + "\u00e9" * 29)[:34]
    wide = ("\u00fc" * 31 + "x").encode()
    assert len(wide) == 63 and len(long_sub.encode()) == 63
    keys, end = random_keys(rng, 3, [LINEAR])
    yield "names_63", ani([description(long_name, long_sub, end, pos=keys, garbage=rng),
                           description(wide, "b", end, pos=keys, garbage=rng)]), {"clean", "exact"}
    yield "names_odd", ani([
        description(b"\xff\xfe latin \xe9", b"\x80", end, pos=keys), description("", "", end, pos=keys),
        description(b"N" * 64, b"S" * 64, end, rot=keys), description("a|b:c", "x/y\\z", end, scale=keys),
        description("tab\tnew\nline", "\x01\x7f", end, pos=keys), description("\u96f2 \U0001f680", "s p a c e", end, keys),
    ]), set()
    keys = keys[:2]
    yield "names_twice", ani([
        description("a", "x", end, pos=keys), description("a", "x", end, rot=keys), description("a#2", "x", end, pos=keys),
        description("a", "y", end, pos=keys), description("a", "x", end, pos=keys), description("a", "y", end, pos=keys),
        description("n" * 63, "x", end, pos=keys), description("n" * 63, "x", end, scale=keys)]), set()
    for offset in ("header", "keys"):
        yield "offset_" + offset, ani([description("a", "x", end, pos=keys), description("b", "x", end, rot=keys)],
                                      offset=offset), {"clean", "exact"}
    yield "version_2", ani([description("a", "x", end, pos=keys, padding=(7, -9))], version=2, padding=0x55AA55AA), set()
    pre, end_pre = random_keys(rng, 4, [LINEAR, BEZIER], 0.5, 2.0, tame=True)
    post, end_post = random_keys(rng, 4, [STEP, LINEAR], 0.5, 2.0)
    longest = max(end, end_pre, end_post)
    yield "pre_post_scale", ani([description("a", "x", longest, pos=keys, pre=pre, post=post),
                                 description("b", "x", longest, scale=keys, pre=pre, post=post)]), {"clean", "exact"}
    yield "pre_scale_alone", ani([description("a", "x", longest, pre=pre)]), set()


# ---------------------------------------------------------------- numbers


def number_cases(seed):
    rng = random.Random("%s/numbers" % seed)
    keys = []
    for i, t in enumerate((0.5, 1.0, 1.5, 2.0)):
        keys.append(key(t, (i, -i, 2.0 * i), BEZIER, ((t + 9, i + 1.0, t - 9, i - 1.0),) * 3))
    short = [key(t, (t, -t, 0.0), BEZIER, ((t, t, t, t), (t, 5.0, t, -5.0), (t + 1e-7, 0.0, t - 1e-7, 0.0)))
             for t in (0.0, 1.0, 2.0)]
    folded = [key(t, (t, -t, 0.0), BEZIER, ((t - 0.5, t + 1, t + 0.5, t - 1),) * 3) for t in (0.0, 1.0, 2.0)]
    yield "handles_odd", ani([description("outside", "x", 2.0, pos=keys), description("zero", "x", 2.0, pos=short),
                              description("folded", "x", 2.0, rot=folded)]), {"clean"}
    zeros = [key(0.0, (NEGATIVE_ZERO, 0.0, NEGATIVE_ZERO), LINEAR, ((NEGATIVE_ZERO,) * 4,) * 3, (NEGATIVE_ZERO,) * 5),
             key(1.0, (0.0, NEGATIVE_ZERO, TINY), LINEAR), key(2.0, (NEGATIVE_ZERO,) * 3, STEP)]
    yield "negative_zero", ani([description("a", "x", 2.0, pos=zeros, rot=zeros)]), {"clean", "exact"}
    odd = [key(0.0, (NAN_PAYLOAD, 1.0, INFINITE), BEZIER, ((NAN_SIGNALLING, 1.0, 2.0, INFINITE),) * 3,
               (NAN_NEGATIVE, 0.0, INFINITE, 0.0, NAN_PAYLOAD)),
           key(1.0, (2.0, NAN_NEGATIVE, 3.0), TCB, deriv_in=(NAN_PAYLOAD, 1.0, 1.0)),
           key(NAN_PAYLOAD, (4.0, 5.0, NAN_SIGNALLING), LINEAR), key(3.0, (6.0, 7.0, 8.0), CUBIC, deriv=1,
                                                                       deriv_out=(INFINITE, NAN_PAYLOAD, 1.0)),
           key(INFINITE, (1.0, 1.0, 1.0), BEZIER_LINEAR_TIME), key(4.0, (9.0, 9.0, 9.0), STEP)]
    yield "not_finite", ani([description("a", "x", 4.0, pos=odd, rot=odd, scale=odd),
                             description("b", "x", NAN_PAYLOAD, pos=odd[3:4]),
                             description("c", "y", INFINITE, pos=odd)]), set()
    back = [key(t, (t, 2 * t, i), BEZIER if i % 2 else LINEAR, ((t + .1, t, t - .1, t),) * 3)
            for i, t in enumerate((0.0, 2.0, 1.0, 1.0, 3.0, 2.5, 2.5, 4.0))]
    yield "times_backwards", ani([description("a", "x", 4.0, pos=back, rot=back)]), set()
    early = [key(t, (t, 0.0, 1.0), LINEAR) for t in (-3.0, -1.0, 0.0, 7.0)]
    yield "times_outside", ani([description("a", "x", 1.0, pos=early), description("b", "x", -1.0, pos=early)]), set()
    same = [key(1.0, (i, i, i), i + 1) for i in range(7)]
    yield "times_equal", ani([description("a", "x", 1.0, pos=same)]), set()
    turns = [key(frame(n), (math.radians(n * 12), math.radians(-n * 24), 0.5), LINEAR) for n in range(0, 91, 7)]
    yield "full_turns", ani([description("a", "x", frame(91), rot=turns)]), {"clean", "exact"}
    large = [key(t, (1e6 * t, -1e-6 * t, 12345.678), BEZIER, ((t + .2, 1e6 * t, t - .2, 1e6 * t),) * 3) for t in range(4)]
    yield "large_and_small", ani([description("a", "x", 3.0, pos=[*large])]), {"clean"}
    huge = [key(t, (3.4e38, -3.4e38, 1e-38), BEZIER, ((3.4e38, -3.4e38, -3.4e38, 3.4e38),) * 3) for t in (0.0, 1e30, 3e38)]
    yield "huge", ani([description("a", "x", 3e38, pos=huge, rot=huge)]), {"clean"}
    filled = [struct.pack("<32I", *(rng.getrandbits(32) for _ in range(32))) for _ in range(30)]
    yield "random_bits", ani([description("a", "x", 1.0, pos=filled[:10], rot=filled[10:20], scale=filled[20:])]), set()


def random_cases(seed, count=12):
    """Files as a shipping game could have them: many parts, several states, everything known in use."""
    for n in range(count):
        rng = random.Random("%s/random%d" % (seed, n))
        items = []
        for part in range(rng.randrange(1, 7)):
            for state in range(rng.randrange(1, 4)):
                lists, end = {}, 0.0
                for kind in KINDS[:3]:
                    if rng.random() < 0.6:
                        low, high = {"pos": (-50, 50), "rot": (-3, 3), "scale": (0.1, 4)}[kind]
                        lists[kind], last = random_keys(rng, rng.randrange(1, 25), [1, 2, 5, 6, 7], low, high,
                                                        uneven=rng.random() < 0.5, tcb=True)
                        end = max(end, last)
                items.append(description("part_%d" % part, "state_%d" % state, end, garbage=rng, **lists))
        yield "random_%02d" % n, ani(items, offset=rng.choice(("keys", "header"))), {"clean"}


def cases(seed=1):
    yield "door", door(), {"clean", "sample"}
    yield "turret", turret(), {"clean", "sample"}
    for name, data, tags in (*interpolation_cases(seed), *structure_cases(seed), *number_cases(seed), *random_cases(seed)):
        yield name, data, {t for t in tags if t}


def kept(name, tags):
    """Small ones: the contract test turns every bit of them."""
    return "sample" in tags or name in {"single_keys", "rare_derivatives", "not_finite", "names_twice", "empty", "pre_scale_alone"}


if __name__ == "__main__":
    import folder

    folder.write(__doc__, ".ani", lambda seed, count: cases(seed), kept)
