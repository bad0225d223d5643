"""Rotations that a game slerps, in FBX: its Euler curves, played here from the text of the file, stay within a hundredth of a
degree of slerp and squad, reckoned here from the game's file. Nothing of the command judges itself."""
import bisect
import math
import os
import random
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxtext  # noqa: E402
from command import Case  # noqa: E402
from formatcase import module  # noqa: E402

generate, reader = module("generate", "nytro_anim"), module("decode", "nytro_anim")
parts = module("generate", "ei_anm")
TCB, LINEAR = generate.TCB, generate.LINEAR


def multiply(p, q):
    (a, b, c, d), (e, f, g, h) = p, q
    return (a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e)


def inverse(q):
    return (q[0], -q[1], -q[2], -q[3])


def about(degrees, axis):
    half, length = math.radians(degrees) / 2, math.hypot(*axis) or 1
    return (math.cos(half), *(math.sin(half) * c / length for c in axis))


def log(q):
    sine = math.hypot(*q[1:])
    return tuple(c * math.atan2(sine, q[0]) / sine for c in q[1:]) if sine > 1e-15 else (0, 0, 0)


def exp(v):
    angle = math.hypot(*v)
    return (math.cos(angle), *(c * math.sin(angle) / angle for c in v)) if angle > 1e-15 else (1, 0, 0, 0)


def slerp(p, q, u):
    return multiply(p, exp(tuple(u * c for c in log(multiply(inverse(p), q)))))


def beside(q, p):
    """q on p's half of the sphere."""
    return q if sum(a * b for a, b in zip(p, q)) >= 0 else tuple(-c for c in q)


def degrees_between(p, q):
    r = multiply(inverse(p), q)
    return math.degrees(2 * math.atan2(math.hypot(*r[1:]), abs(r[0])))


def eased(u, a, b):
    if a + b > 1:
        a, b = a / (a + b), b / (a + b)
    if a + b <= 0:
        return u
    k = 1 / (2 - a - b)
    return k * u * u / a if u < a else k * (2 * u - a) if u < 1 - b else 1 - k * (1 - u) ** 2 / b


def squad_point(times, turns, tcb, i, after):
    """Kochanek's rule; an end key stands as if the motion came in as it goes out."""
    q = turns[i]
    came = log(multiply(inverse(beside(turns[i - 1], q)), q)) if i > 0 else None
    goes = log(multiply(inverse(q), beside(turns[i + 1], q))) if i + 1 < len(turns) else None
    t, c, b = tcb[i][:3]
    p = n = 1.0
    if came and goes:
        p, n = (2 * (times[i] - times[i - 1]) / (times[i + 1] - times[i - 1]), 2 * (times[i + 1] - times[i]) / (times[i + 1] - times[i - 1]))
        p, n = p + abs(c) * (1 - p), n + abs(c) * (1 - n)
    came, goes = came or goes, goes or came
    half = (1 - t) / 2
    if after:
        return multiply(q, exp([(half * (1 + c) * (1 + b) * n * x + (half * (1 - c) * (1 - b) * n - 1) * y) / 2 for x, y in zip(came, goes)]))
    return multiply(q, exp([((1 - half * (1 - c) * (1 + b) * p) * x - half * (1 + c) * (1 - b) * p * y) / 2 for x, y in zip(came, goes)]))


def orientation(times, turns, tcb, time):
    """`tcb` None: slerp."""
    i = min(max(bisect.bisect_right(times, time) - 1, 0), len(times) - 2)
    u = (time - times[i]) / (times[i + 1] - times[i])
    end = beside(turns[i + 1], turns[i])
    if tcb is None:
        return slerp(turns[i], end, u)
    u = eased(u, tcb[i][4], tcb[i + 1][3])
    out, into = squad_point(times, turns, tcb, i, True), squad_point(times, turns, tcb, i + 1, False)
    if end is not turns[i + 1]:
        into = tuple(-c for c in into)
    return slerp(slerp(turns[i], end, u), slerp(out, into, u), 2 * u * (1 - u))


def played(curve, time):
    """A curve of stepped, linear and user-tangent keys."""
    ticks, keys = time * fbxtext.TICKS, curve.keys
    i = bisect.bisect_right([k.time for k in keys], ticks) - 1
    if i < 0 or i + 1 == len(keys):
        return keys[max(i, 0)].value
    a, b = keys[i], keys[i + 1]
    u, span = (ticks - a.time) / (b.time - a.time), (b.time - a.time) / fbxtext.TICKS
    if a.flags & 0x2:
        return a.value
    if a.flags & 0x4:
        return a.value + (b.value - a.value) * u
    assert a.flags & 0x8 and not a.flags & 0x300, hex(a.flags)
    weights = a.data[2] & 0xffffffff
    right = (weights & 0xffff) / 9999 if a.flags & 0x1000000 else 1 / 3
    left = (weights >> 16) / 9999 if a.flags & 0x2000000 else 1 / 3
    low, high = 0.0, 1.0
    for _ in range(50):
        s = (low + high) / 2
        low, high = (s, high) if 3 * s * (1 - s) ** 2 * right + 3 * s * s * (1 - s) * (1 - left) + s ** 3 < u else (low, s)
    return ((1 - s) ** 3 * a.value + 3 * s * (1 - s) ** 2 * (a.value + a.number(0) * right * span) +
            3 * s * s * (1 - s) * (b.value - a.number(1) * left * span) + s ** 3 * b.value)


class Slerp(Case):
    def worst(self, file, take, node, times, turns, tcb, *options):
        """Degrees between the game's motion and the FBX's, at the worst of many times; no step reaches half a turn."""
        self.keyferry("convert", file, "x.fbx", "--ascii", "-y", *options)
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        curves = [scene.curve(take, node, "Lcl Rotation", axis) for axis in "xyz"]
        for curve in curves:
            self.assertLess(max(abs(a.value - b.value) for a, b in zip(curve.keys, curve.keys[1:])), 180)
        worst, samples = 0.0, 400
        for time in [*times, *(times[0] + (times[-1] - times[0]) * i / samples for i in range(samples + 1))]:
            x, y, z = (played(curve, time) for curve in curves)
            q = multiply(about(z, (0, 0, 1)), multiply(about(y, (0, 1, 0)), about(x, (1, 0, 0))))
            worst = max(worst, degrees_between(q, orientation(times, turns, tcb, min(time, times[-1]))))
        return worst

    def test_nytro(self):
        rng = random.Random("slerp")
        flat = [generate.key(t, turn, (0,) * 5) for t, turn in ((0, [80, 0, 1, 0]), (1, [100, 0.1, 1, 0.1]), (2, [90, 0, 1, 0]), (3, [180, 1, 0, 1]))]
        files = [(TCB, flat)] + [(kind, generate.rotations(rng, kind, 6, ease, turns)) for kind in (TCB, LINEAR, generate.BEZIER)
                                 for ease in (False, True) for turns in (False, True)]
        for kind, keys in files:
            self.put("x.nanim", generate.animation("long", [generate.node(b"hip", kind, [], keys)]))
            keys = reader.load((self.dir / "x.nanim").read_bytes())[1][0][3]
            times, turns = [k[1] for k in keys], [about(k[3][0], k[3][1:]) for k in keys]
            tcb = [k[2] for k in keys] if kind == TCB else None
            for options, limit in (((), 0.01), (("--tolerance", "0.001"), 0.001), (("--for", "maya"), 0.01)):
                self.assertLessEqual(self.worst("x.nanim", "walk", "hip", times, turns, tcb, *options), limit, (kind, options))

    def test_ei(self):
        rng = random.Random("slerp parts")
        for flips in (False, True):
            self.put("x.anm", parts.part(parts.turning(rng, 9, flips), []))
            data = (self.dir / "x.anm").read_bytes()
            turns = [struct.unpack_from("<4f", data, 4 + 16 * i) for i in range(9)]
            turns = [tuple(c / math.hypot(*q) for c in q) for q in turns]
            self.assertLessEqual(self.worst("x.anm", "animation", "x", [i / 15 for i in range(9)], turns, None), 0.01)


if __name__ == "__main__":
    unittest.main()
