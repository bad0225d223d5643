"""Nytro files of one TCB node whose keys lie on frames, and a stretch of its bake edited in all directions: what becomes of the
keys. One set of T, C and B goes for x, y and z, and a turn's axis and angle."""
import math
import random
import struct
import tempfile

import fewest
import fitcases
import regioncases

MOVE, TURN = "Lcl Translation", "Lcl Rotation"
# along a line, in a plane, there with corners, in three directions, there with corners, there but with a rest at each key;
# and in three directions, but only x is edited
KINDS = ("line", "plane", "plane, corners", "space", "space, corners", "space, rests", "space, x edited")


def file_of(keys, turn):
    """keys: (time, T C B ease in ease out, values)."""
    header = struct.pack("<I", 0) + b"go\0me\0" + struct.pack("<H", 1)
    out = struct.pack("<4I", 1, 1, len(header), 16 + len(header)) + header
    body = b"part\0" + struct.pack("<4I", 1, 0 if turn else len(keys), len(keys) if turn else 0, 0)
    body += b"".join(struct.pack("<I%df" % (6 + len(values)), 1, time, *tcb, *values) for time, tcb, values in keys)
    return out + struct.pack("<4I", 2, 1, len(body), len(out) + 16 + len(body)) + body


HEAD = len(file_of([], False))


def records(data, turn):
    kind, = struct.unpack_from("<I", data, HEAD - 16)
    size = (40 if kind == 1 else 20) + 4 * turn
    return [data[at:at + size] for at in range(HEAD, len(data), size)]


def keys_of(rng, kind, turn, count):
    keys, frame = [], 0
    for _ in range(count):
        x, y, z = (rng.uniform(-2, 2) for _ in range(3))
        if kind == "line":
            x, y, z = x, x / 2, x / 4
        elif kind.startswith("plane"):
            z = x - y / 2
        bent = tuple(rng.uniform(-0.5, 0.5) for _ in range(3)) if kind == "line" or "corners" in kind else (0, 0, 0)
        tcb = (1 if "rests" in kind else bent[0], *bent[1:], 0, 0)
        keys.append((frame / 30, tcb, ((40 * x, 0, 0, 1) if kind == "line" else (40 * x, y, z, 0.7)) if turn else (x, y, z)))
        frame += rng.randint(8, 24)
    return keys


def bump(kind, turn, u, shape="wave"):
    """What is added to x, y and z, u from 0 to 1."""
    high = regioncases.SHAPES[shape](u) if 0 < u < 1 else 0
    if kind == "line":
        return (0, 0, high) if turn else (high, high / 2, high / 4)
    if kind.startswith("plane"):
        return high, high / 2, high * 0.75
    if kind == "space, x edited":
        return high, 0, 0
    return high, high * (1 - 2 * u), high * (0.5 + u)


def quaternion(degrees):
    """Of Euler angles in FBX's order XYZ."""
    q = (1.0, 0.0, 0.0, 0.0)
    for axis, angle in enumerate(degrees):
        half = math.radians(angle) / 2
        turn = [math.cos(half), 0.0, 0.0, 0.0]
        turn[1 + axis] = math.sin(half)
        a, b, c, d = turn
        w, x, y, z = q
        q = (a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
             a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w)
    return q


def apart(turn, a, b, tolerances):
    """How far two places or orientations are apart, in tolerances."""
    if not turn:
        return max(abs(x - y) / tolerance for x, y, tolerance in zip(a, b, tolerances))
    p, q = quaternion(a), quaternion(b)
    sign = 1 if sum(x * y for x, y in zip(p, q)) > 0 else -1
    chord = math.sqrt(sum((x - sign * y) ** 2 for x, y in zip(p, q)))
    return math.degrees(4 * math.asin(min(1, chord / 2))) / tolerances[0]


def turned(q, p):
    """The rotation vector from one orientation to another, in degrees."""
    w, x, y, z = (q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3], q[0] * p[1] - q[1] * p[0] - q[2] * p[3] + q[3] * p[2],
                  q[0] * p[2] + q[1] * p[3] - q[2] * p[0] - q[3] * p[1], q[0] * p[3] - q[1] * p[2] + q[2] * p[1] - q[3] * p[0])
    sine = math.hypot(x, y, z)
    by = 2 * math.degrees(math.atan2(sine, abs(w))) / sine * (1 if w > 0 else -1) if sine else 0
    return x * by, y * by, z * by


def overshoot_of(turn, drawn, then, tolerances, fine):
    """How far the fit leaves, between two frames, all that the drawn motion passes through between these two, in tolerances: in x, y
    and z, of a turn since the first of the two."""
    worst = 0
    for f in range(0, len(drawn) - fine, fine):
        here, now = drawn[f:f + fine + 1], then[f:f + fine + 1]
        if turn:
            first = quaternion(here[0])
            here, now = ([turned(first, quaternion(q)) for q in part] for part in (here, now))
        for a, b, tolerance in zip(zip(*here), zip(*now), tolerances):
            worst = max(worst, (min(a) - min(b)) / tolerance, (max(b) - max(a)) / tolerance)
    return worst


def edit(keyferry, kind, turn, seed, count=8, width=15, shape="wave"):
    """Adds a bump to `width` frames of the bake of `count` keys. off: how far the frames are from what was drawn, drift: how far
    what was not edited is from what it was, between the frames, too, both in tolerances; overshoot: see there; beyond: keys that
    changed though they are not beside the edit."""
    rng = random.Random("%s %s %s" % (kind, turn, seed))
    keys = keys_of(rng, kind, turn, count)
    original, prop = file_of(keys, turn), TURN if turn else MOVE
    with tempfile.TemporaryDirectory() as folder:
        bench = fitcases.Bench(keyferry, folder, "nanim")
        scene = bench.bake(original, 30)
        baked = len(scene.curve("go", "part", prop, "x").keys)
        start, height = rng.randint(2, baked - width - 3), rng.choice((0.1, 0.5)) * (20 if turn else 1)
        for c, axis in enumerate("xyz"):
            curve = scene.curve("go", "part", prop, axis)
            for i in range(1, width):
                curve.keys[start + i].value += height * bump(kind, turn, i / width, shape)[c]
            curve.store()
        wanted = fitcases.values_of(scene, prop)
        now = bench.back(scene)
        shown = bench.values(now, 30, prop)
        was, then = bench.values(original, 300, prop), bench.values(now, 300, prop)
    low, high = start / 30, (start + width) / 30
    tolerances = [0.01 if turn else 1e-4 * max(1, max(numbers) - min(numbers)) for numbers in wanted]
    off = max(apart(turn, a, b, tolerances) for a, b in zip(zip(*shown), zip(*wanted)))
    drift = max(apart(turn, a, b, tolerances) for i, (a, b) in enumerate(zip(zip(*was), zip(*then)))
                if not low - 1e-6 <= i / 300 <= high + 1e-6)
    drawn = [[v + height * bump(kind, turn, (i / 10 - start) / width, shape)[c] for i, v in enumerate(numbers)]
             for c, numbers in enumerate(was)]
    kept = set(records(now, turn))
    first = sum(k[0] < low for k in keys) - 1
    last = sum(k[0] <= high for k in keys)
    return dict(case=(kind, turn, seed), before=count, baked=baked, after=len(records(now, turn)), off=off, drift=drift,
                overshoot=overshoot_of(turn, list(zip(*drawn)), list(zip(*then)), tolerances, 10),
                fewest=None if turn else fewest.keys(wanted, tolerances),
                beyond=[i for i, r in enumerate(records(original, turn)) if r not in kept and not first <= i <= last])


def overshoot(keyferry, kind, seed, fine=16):
    """Lifts some frames of the bake of eight keys by the same amount, so that it jumps at both ends: how far the fit leaves, between two
    frames, all that is played or drawn between these two, in tolerances."""
    rng = random.Random("jumps %s %s" % (kind, seed))
    original = file_of(keys_of(rng, kind, False, 8), False)
    with tempfile.TemporaryDirectory() as folder:
        bench = fitcases.Bench(keyferry, folder, "nanim")
        scene = bench.bake(original, 30)
        baked = len(scene.curve("go", "part", MOVE, "x").keys)
        width = rng.randint(4, 20)
        start, height, axes = rng.randint(2, baked - width - 3), rng.choice((0.1, 0.5, 2)), rng.choice(("x", "xyz"))
        lift = [height / (1 << c) if axis in axes else 0 for c, axis in enumerate("xyz")]
        for axis, by in zip("xyz", lift):
            curve = scene.curve("go", "part", MOVE, axis)
            for i in range(start, start + width):
                curve.keys[i].value += by
            curve.store()
        wanted = fitcases.values_of(scene, MOVE)
        was, then = bench.values(original, 30 * fine, MOVE), bench.values(bench.back(scene), 30 * fine, MOVE)
    worst = 0
    for c, by in enumerate(lift):
        tolerance = 1e-4 * max(1, max(wanted[c]) - min(wanted[c]))
        for frame in range(baked - 1):
            here, now = (numbers[c][frame * fine:(frame + 1) * fine + 1] for numbers in (was, then))
            ends = [by if start <= f < start + width else 0 for f in (frame, frame + 1)]
            low, high = min(here) + min(ends), max(here) + max(ends)
            worst = max(worst, (low - min(now)) / tolerance, (max(now) - high) / tolerance)
    return worst


def measure(keyferry):
    return {(kind, turn): [edit(keyferry, kind, turn, seed) for seed in range(4)]
            for turn in (False, True) for kind in KINDS if not (turn and kind.startswith("plane"))}


def table(results):
    """As Markdown: four files a line."""
    lines = ["| motion | keys | baked at 30 fps | fitted, edited | no cubics with fewer than | off at the frames | "
             "off elsewhere |",
             "|---|---|---|---|---|---|---|"]
    for (kind, turn), all_of in results.items():
        cells = [" ".join(str(r[what]) for r in all_of) if all_of[0][what] is not None else ""
                 for what in ("before", "baked", "after", "fewest")]
        lines.append("| %s, %s | %s | %.2f | %.2f |" % ("turns" if turn else "moves", kind, " | ".join(cells),
                                                     max(r["off"] for r in all_of), max(r["drift"] for r in all_of)))
    return "\n".join(lines)
