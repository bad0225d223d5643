#!/usr/bin/env python3
"""A second reader of Evil Islands .anm files, from the specification: `ei_anm.py FILE...` prints what `keyferry dump` of
the same files must print (numbers to nine digits)."""
import json
import math
import os
import struct
import sys

RATE = 15.0


def floats(data, at, count):
    return struct.unpack_from(f"<{count}f", data, at)


def timed(keys, bad, first, rate):
    """Keys one frame apart; `bad` tells which stand for something that is no finite number."""
    return [{"t": (first + i) / rate, **key, "interp": "linear", **({"nonfinite": True} if wrong else {})}
            for i, (key, wrong) in enumerate(zip(keys, bad))]


def told(value, instead):
    """A value as dump tells it: `instead`, but in a word if the file's is no finite number."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), instead)


def held(values, last=0.0):
    """What is not finite holds the last finite number, and is told as what it is."""
    out = []
    for value in values:
        last = value if math.isfinite(value) else last
        out.append({"v": told(value, last)})
    return out, [not math.isfinite(v) for v in values]


def directions(quaternions):
    """As unit quaternions: zero is no rotation, what is not finite holds the one before."""
    last, out, bad = [1.0, 0.0, 0.0, 0.0], [], []
    for q in quaternions:
        bad.append(not all(map(math.isfinite, q)))
        if not bad[-1]:
            length = math.sqrt(sum(c * c for c in q))
            last = [c / length for c in q] if length > 0 else [1.0, 0.0, 0.0, 0.0]
        out.append({"q": last})
    return out, bad


def part(data, node, rate=RATE):
    """The tracks of one file."""
    tracks = []
    (rotations,) = struct.unpack_from("<I", data, 0)
    at = 4 + 16 * rotations
    (translations,) = struct.unpack_from("<I", data, at)
    values = floats(data, at + 4, 3 * translations)
    for c in range(3 if translations else 0):
        tracks.append({"node": node, "channel": "translation", "component": "xyz"[c],
                       "keys": timed(*held(values[c::3]), 0, rate)})
    if rotations:
        raw = floats(data, 4, 4 * rotations)
        tracks.append({"node": node, "channel": "rotation", "mode": "slerp",
                       "keys": timed(*directions([raw[4 * i:4 * i + 4] for i in range(rotations)]), 0, rate)})
    at += 4 + 12 * translations
    (frames,) = struct.unpack_from("<I", data, at)
    vertices = struct.unpack_from("<I", data, at + 4)[0] if at + 4 < len(data) else 0
    assert frames * vertices * 12 == max(0, len(data) - at - 8) and (frames == 0 or at + 8 <= len(data))
    for f in range(frames if vertices else 0):
        first = max(0, f - 1)
        weights = [1.0 if i == f else 0.0 for i in range(first, min(frames - 1, f + 1) + 1)]
        tracks.append({"node": node, "channel": "morph", "name": f"morph_{f:03d}", "keys": timed(*held(weights), first, rate)})
    return tracks


def shapes(data):
    """Each morph frame as a list of (x, y, z)."""
    (rotations,) = struct.unpack_from("<I", data, 0)
    at = 4 + 16 * rotations
    at += 4 + 12 * struct.unpack_from("<I", data, at)[0]
    (frames,) = struct.unpack_from("<I", data, at)
    vertices = struct.unpack_from("<I", data, at + 4)[0] if at + 4 < len(data) else 0
    raw = floats(data, at + 8, 3 * frames * vertices) if vertices else ()
    return [[raw[3 * (f * vertices + v):3 * (f * vertices + v) + 3] for v in range(vertices)]
            for f in range(frames if vertices else 0)]


def decode(files, rate=RATE):
    """`files` is [(name, bytes)]."""
    nodes = [{"name": os.path.splitext(os.path.basename(name))[0], "parent": None} for name, _ in files]
    tracks = [track for i, (_, data) in enumerate(files) for track in part(data, i, rate)]
    ends = [key["t"] for track in tracks for key in track["keys"]]
    take = {"name": "animation", "start": min(ends, default=0.0), "end": max(ends, default=0.0), "tracks": tracks}
    return {"keyferry": 1, "format": "ei-anm", "frame_rate": rate, "nodes": nodes, "takes": [take]}


if __name__ == "__main__":
    inputs = []
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            inputs.append((path, file.read()))
    print(json.dumps(decode(inputs)))
