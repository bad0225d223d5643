"""trip_samples.py FOLDER: one animation of each format with nodes to edit, as files in FOLDER/<format>/.

Real-looking and small; written from the formats' descriptions, with none of the library's code."""
import math
import os
import struct
import sys


def x4(folder):
    def key(value, interp, time, slope=0.0, tcb=(0.0,) * 5):
        points = []
        for v in value:
            points += [time + 0.1, v + 0.1 * slope, time - 0.1, v - 0.1 * slope]
        return struct.pack("<3f3if12f5fi6fI", *value, *[interp] * 3, time, *points, *tcb, 0, *[0.0] * 6, 0)

    def keys(values, interp, **more):
        return b"".join(key(v, interp if i + 1 < len(values) else 1, i * 0.5, **more) for i, v in enumerate(values))
    slide = [(0, 0, 0), (1, 0.5, 0), (2, 0, 1), (2.5, 0, 1), (0, 0, 0)]
    swing = [(0, 0, 0), (0.4, 0.2, 0), (0.8, -0.3, 0.1), (0.2, 0, 0.4), (0, 0, 0)]
    grow = [(1, 1, 1), (1.5, 1, 1), (1.2, 1.3, 1), (1, 2, 1.1), (1, 1, 1)]
    parts = [(b"slider", slide, 5, {"slope": 1.5}, 0), (b"swing", swing, 7, {"tcb": (0.2, 0.1, -0.3, 0.0, 0.0)}, 1),
             (b"lamp", grow, 2, {}, 2), (b"still", slide, 5, {"slope": 0.0}, 0)]
    table = data = b""
    for name, values, interp, more, channel in parts:
        counts = [len(values) if c == channel else 0 for c in range(3)]
        table += struct.pack("<64s64s5if2i", name, b"open", *counts, 0, 0, 2.0, 0, 0)
        data += keys(values, interp, **more)
    with open(os.path.join(folder, "machine.ani"), "wb") as f:
        f.write(struct.pack("<4i", len(parts), 16 + 160 * len(parts), 1, 0) + table + data)


def mm2(folder):
    frames, bones = 31, 4
    data = struct.pack("<3IfB", 0, frames, 3 * bones + 3, 1.552, 1)
    for i in range(frames):
        t = i / 15 * math.pi
        row = [0.02 * math.sin(2 * t), 0.9 + 0.03 * math.cos(2 * t), 0.0]
        for b in range(bones):
            row += [0.5 * math.sin(t + b), 0.1 * math.cos(t), 0.2 * math.sin(2 * t - b)]
        data += struct.pack("<%df" % len(row), *row)
    with open(os.path.join(folder, "walk.anim"), "wb") as f:
        f.write(data)


def vib(folder):
    frames, body, offsets = 24, b"", []
    start = 6 + 2 * (frames + 1)
    for i in range(frames):
        offsets.append((start + len(body)) // 2)
        for thing in range(3):
            if thing == 2 and 3 <= i < 7:
                continue  # not drawn
            body += struct.pack("<BB", thing, 7)
            body += struct.pack("<3h", 64 * i, -32 * i * thing, 16 * thing)
            body += struct.pack("<3h", 4096 + 40 * i, 4096, 4096 - 20 * thing)
            body += struct.pack("<3h", 10 * i, 100 * thing, -5 * i)
    offsets.append((start + len(body)) // 2)
    with open(os.path.join(folder, "rabbit.anm"), "wb") as f:
        f.write(struct.pack("<HHH", 0x8000, 30, frames) + struct.pack("<%dH" % len(offsets), *offsets) + body)


def nytro(folder):
    def node(name, flags, positions, turns, scales):
        out = name + b"\0" + struct.pack("<4I", flags, len(positions), len(turns), len(scales))
        tcb = struct.pack("<5f", 0.25, -0.1, 0.2, 0, 0) if flags == 1 else b""
        for values in (positions, turns, scales):
            for i, value in enumerate(values):
                out += struct.pack("<If", 0, i * 0.5) + tcb + struct.pack("<%df" % len(value), *value)
        return out
    slide = [(0, 0, 0), (5, 1, 0), (8, 0, 3), (2, 2, 2), (0, 0, 0)]
    turns = [(0, 0, 0, 1), (40, 0, 0, 1), (90, 0, 1, 0), (30, 1, 0, 0), (0, 0, 0, 1)]
    grow = [(1, 1, 1), (1.5, 1, 1), (1, 2, 1), (1, 1, 1.25), (1, 1, 1)]
    nodes = [node(b"hip", 1, slide, turns, []), node(b"knee", 2, slide, turns, []), node(b"foot", 4, slide, turns, grow),
             node(b"still", 1, slide, turns, [])]
    head = struct.pack("<I", 0) + b"walk\0" + b"nobody\0" + struct.pack("<H", len(nodes))
    body = b"".join(nodes)
    first = struct.pack("<4I", 1, 1, len(head), 16 + len(head)) + head
    second = struct.pack("<4I", 2, 1, len(body), len(first) + 16 + len(body)) + body
    with open(os.path.join(folder, "walk.nanim"), "wb") as f:
        f.write(first + second)


def ei(folder):
    frames = 20
    for part, points in (("body", 0), ("head", 0), ("wing", 6), ("tail", 0)):
        data = struct.pack("<I", frames)
        for i in range(frames):
            half = 0.5 * math.sin(i / frames * math.tau + len(part))
            data += struct.pack("<4f", math.cos(half), 0, math.sin(half) * 0.6, math.sin(half) * 0.8)
        data += struct.pack("<I", frames)
        for i in range(frames):
            data += struct.pack("<3f", 0.1 * i, math.sin(i / 5), 1)
        data += struct.pack("<II", frames if points else 0, points)
        for i in range(frames if points else 0):
            for p in range(points):
                data += struct.pack("<3f", 0.05 * math.sin(i / 3 + p), 0.02 * p, 0.01 * i)
        with open(os.path.join(folder, part + ".anm"), "wb") as f:
            f.write(data)


for name, write in (("x4-ani", x4), ("mm2-anim", mm2), ("vib-anm", vib), ("nytro-anim", nytro), ("ei-anm", ei)):
    place = os.path.join(sys.argv[1], name)
    os.makedirs(place, exist_ok=True)
    write(place)
