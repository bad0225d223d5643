"""What curves play, reckoned a second time: FBX's own kinds of keys from what stands in the file, and the games' keys from
what the second readers found. Shares nothing with the library."""
import bisect
import math
import struct

STEP, STEP_NEXT, LINEAR, AUTO, USER, BROKEN, WEIGHTED, TCB = 0x2, 0x102, 0x4, 0x2108, 0x408, 0xC08, 0x3000C08, 0x208
THIRDS = 0x0D050D05


def bits(number):
    return struct.unpack("<i", struct.pack("<f", number))[0]


def number(word):
    return struct.unpack("<f", struct.pack("<i", word))[0]


def weights(right, left):
    word = round(right * 9999) | round(left * 9999) << 16
    return word - (1 << 32) if word >> 31 else word


def hermite(u, v0, v1, m0, m1):
    rise = v1 - v0
    return v0 + u * (m0 + u * (3 * rise - 2 * m0 - m1 + u * (m0 + m1 - 2 * rise)))


def bezier(x, w0, w1, v0, v1, slope0, slope1, length):
    """At the share x of the time; w0 and w1 are the handles' shares of it."""
    low, high = 0.0, 1.0
    for _ in range(60):
        u = (low + high) / 2
        low, high = (u, high) if 3 * (1 - u) ** 2 * u * w0 + 3 * (1 - u) * u * u * (1 - w1) + u ** 3 < x else (low, u)
    u = (low + high) / 2
    a, b = v0 + slope0 * w0 * length, v1 - slope1 * w1 * length
    return (1 - u) ** 3 * v0 + 3 * (1 - u) ** 2 * u * a + 3 * (1 - u) * u * u * b + u ** 3 * v1


# ---------------------------------------------------------------- FBX: keys (time, value, flags, the four data words)


def derived(keys, i):
    """The slopes of an automatic or TCB key, arriving and leaving."""
    before = (keys[i][1] - keys[i - 1][1]) / (keys[i][0] - keys[i - 1][0]) if i else None
    after = (keys[i + 1][1] - keys[i][1]) / (keys[i + 1][0] - keys[i][0]) if i + 1 < len(keys) else None
    end = before is None or after is None
    if keys[i][2] == AUTO:
        slope = (before if after is None else after) if end else \
            (keys[i + 1][1] - keys[i - 1][1]) / (keys[i + 1][0] - keys[i - 1][0])
        return slope, slope
    t, c, b = (number(word) for word in keys[i][3][:3])
    f = (1 if end else 0.5) * (1 - t)
    before, after = before or 0.0, after or 0.0
    return (f * ((1 + b) * (1 - c) * before + (1 - b) * (1 + c) * after),
            f * ((1 + b) * (1 + c) * before + (1 - b) * (1 - c) * after))


def fbx_value(keys, time):
    i = bisect.bisect_right([k[0] for k in keys], time) - 1
    if i < 0 or i + 1 == len(keys):
        return keys[max(i, 0)][1]
    (t0, v0, flags, data), (t1, v1, then, _) = keys[i], keys[i + 1]
    length, x = t1 - t0, (time - t0) / (t1 - t0)
    if flags == STEP:
        return v0
    if flags == STEP_NEXT:
        return v1 if time > t0 else v0
    if flags == LINEAR:
        return v0 + (v1 - v0) * x
    slopes = [number(data[0]), number(data[1])]
    if flags in (AUTO, TCB):
        slopes = [derived(keys, i)[1], 0.0]
    if then in (AUTO, TCB):
        slopes[1] = derived(keys, i + 1)[0]
    if flags != WEIGHTED:
        return hermite(x, v0, v1, slopes[0] * length, slopes[1] * length)
    word = data[2] & 0xffffffff
    return bezier(x, (word & 0xffff) / 9999, (word >> 16) / 9999, v0, v1, *slopes, length)


def jumps(keys):
    """When the value jumps."""
    return [b[0] if a[2] == STEP else a[0] for a, b in zip(keys, keys[1:]) if a[2] in (STEP, STEP_NEXT)]


# ---------------------------------------------------------------- games: keys as `dump` has them


def numbers(key):
    return [float(key.get(name, 0.0)) for name in ("tension", "continuity", "bias")]


def inner(keys, i):
    t, c, b = numbers(keys[i])
    gaps = [float(keys[k + 1]["t"]) - float(keys[k]["t"]) for k in (i - 1, i)]
    rises = [float(keys[k + 1]["v"]) - float(keys[k]["v"]) for k in (i - 1, i)]
    p = 2 * gaps[0] / sum(gaps)
    n = 2 - p
    p, n = p + abs(c) * (1 - p), n + abs(c) * (1 - n)
    return (0.5 * (1 - t) * p * ((1 - c) * (1 + b) * rises[0] + (1 + c) * (1 - b) * rises[1]),
            0.5 * (1 - t) * n * ((1 + c) * (1 + b) * rises[0] + (1 - c) * (1 - b) * rises[1]))


def tangents(keys, i):
    """By Kochanek and Bartels, for segments of their own length."""
    if 0 < i < len(keys) - 1:
        return inner(keys, i)
    beside, k = (1, 0) if i == 0 else (i - 1, i - 1)
    rise, free = float(keys[k + 1]["v"]) - float(keys[k]["v"]), 1 - numbers(keys[i])[0]
    if len(keys) == 2:
        return (free * rise,) * 2
    return (0.5 * free * (3 * rise - inner(keys, beside)[0 if i == 0 else 1]),) * 2


def game_value(keys, times, time):
    """`times` are the keys'. No ease: what comes from FBX's own keys has none."""
    i = bisect.bisect_right(times, time) - 1
    if i < 0 or i + 1 == len(keys):
        return float(keys[max(i, 0)]["v"])
    a, b = keys[i], keys[i + 1]
    v0, v1, length = float(a["v"]), float(b["v"]), times[i + 1] - times[i]
    x = (time - times[i]) / length
    if a["interp"] == "step":
        return v0
    if a["interp"] == "linear":
        return v0 + (v1 - v0) * x
    if a["interp"] == "tcb":
        return hermite(x, v0, v1, tangents(keys, i)[1], tangents(keys, i + 1)[0])
    handles = [[float(n) for n in key.get(side, (0, 0))] for key, side in ((a, "out"), (b, "in"))]
    slopes = [dv / dt if dt else 0.0 for dt, dv in handles]
    if a["interp"] == "hermite":
        return hermite(x, v0, v1, slopes[0] * length, slopes[1] * length)
    return bezier(x, handles[0][0] / length, -handles[1][0] / length, v0, v1, *slopes, length)


def range_of(values):
    return max(1.0, max(values) - min(values)) if all(map(math.isfinite, values)) else math.inf
