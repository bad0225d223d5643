#!/usr/bin/env python3
"""A second reader of Midtown Madness 2 clips, written from the specification alone.

    mm2_anim.py FILE [--fps N] [--rig SKEL]    what `keyferry dump` must print, as JSON

decode(data, name, rate, skeleton) gives the same as an object."""
import argparse
import json
import math
import os
import re
import struct

LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def layout(data):
    """The channels as (type, floats, offset of the frames), the number of frames, and whether the layout is the old one."""
    count, frames = struct.unpack_from("<II", data)
    channels, at = [], 8
    for _ in range(count or 1):
        if at + 9 > len(data):
            break
        floats, _, kind = struct.unpack_from("<IIB", data, at)
        at += 9
        channels.append((kind, floats, at))
        at += frames * floats * 4
        if at > len(data):
            break
    if at == len(data) and len(channels) == (count or 1):
        return channels, frames, False
    frames, bones = struct.unpack_from("<II", data)
    if len(data) == 13 + 4 * frames * (3 * bones + 3):
        return [(1, 3 * bones + 3, 13)], frames, True
    raise ValueError("no clip")


def told(value, instead):
    """A value as dump tells it: `instead`, but in a word if the file's is no finite number."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), instead)


def keys(data, offset, floats, frames, index, rate, unit):
    """One float of every frame; where it is no usable number the one before it holds."""
    out, last = [], 0.0
    for frame in range(frames):
        value = struct.unpack_from("<f", data, offset + 4 * (frame * floats + index))[0] * unit
        usable = math.isfinite(value) and abs(value) <= LARGEST
        last = value if usable else last
        out.append({"t": frame / rate, "v": told(value, last), "interp": "linear", **({} if usable else {"nonfinite": True})})
    return out


def read_skeleton(text):
    """Name, parent and offset of every bone, in the order in which they stand."""
    bones, open_bones = [], []
    tokens = re.findall(r"[{}]|[^\s{}]+", text.decode("latin-1"))
    at = 2
    while at < len(tokens):
        if tokens[at] == "bone":
            bones.append({"name": tokens[at + 1], "parent": open_bones[-1] if open_bones else None, "offset": [0] * 3})
            open_bones.append(len(bones) - 1)
            at += 3
        elif tokens[at] == "offset":
            bones[open_bones[-1]]["offset"] = [float(x) for x in tokens[at + 1:at + 4]]
            at += 4
        else:
            assert tokens[at] == "}"
            open_bones.pop()
            at += 1
    return bones


def decode(data, name, rate=30.0, skeleton=None):
    channels, frames, is_old = layout(data)
    motion = next((i for i, (kind, floats, _) in enumerate(channels)
                   if is_old or (kind == 1 and floats >= 3 and floats % 3 == 0)), None)
    nodes, tracks = [], []
    bones = read_skeleton(skeleton) if skeleton else None
    if bones:
        nodes = [{"name": b["name"], "parent": b["parent"]} for b in bones]
    elif motion is not None and frames:
        count = max(1, channels[motion][1] // 3 - 1)
        nodes = [{"name": f"bone_{i:02}", "parent": None} for i in range(count)]
    customs = len(nodes)
    if motion is not None and frames:
        _, floats, offset = channels[motion]
        for index in range(floats):
            tracks.append({"node": max(0, index // 3 - 1), "channel": "rotation" if index >= 3 else "translation",
                           "component": "xyz"[index % 3],
                           "keys": keys(data, offset, floats, frames, index, rate,
                                        180 / math.pi if index >= 3 else 1.0)})
    for number, (_, floats, offset) in enumerate(channels):
        if number == motion or not frames:
            continue
        for index in range(floats):
            if len(nodes) == customs:
                nodes.append({"name": "channels", "parent": None})
            tracks.append({"node": customs, "channel": "custom", "name": f"channel{number}_{index:04}",
                           "keys": keys(data, offset, floats, frames, index, rate, 1.0)})
    take = {"name": os.path.splitext(name)[0], "start": 0.0, "tracks": tracks,
            "end": max(0, frames - 1) / rate if tracks else 0.0}
    return {"keyferry": 1, "format": "mm2-anim", "frame_rate": rate, "nodes": nodes, "takes": [take]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--fps", type=float, default=30.0)
    parser.add_argument("--rig")
    options = parser.parse_args()
    rig = None
    if options.rig:
        with open(options.rig, "rb") as file:
            rig = file.read()
    with open(options.file, "rb") as file:
        print(json.dumps(decode(file.read(), os.path.basename(options.file), options.fps, rig)))


if __name__ == "__main__":
    main()
