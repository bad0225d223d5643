#!/usr/bin/env python3
"""A second reader of Vib-Ribbon animations, written from the specification alone.

    vib_anm.py FILE... [--fps N]    what `keyferry dump` must print, as JSON; several files are one animation

decode(files, rate) gives the same as an object; files are (name, bytes)."""
import argparse
import json
import os
import struct

PARTS = (("translation", 4, 1.0), ("rotation", 1, 360 / 4096), ("scale", 2, 1 / 4096))


def frames_of(data):
    """Every frame as {object: {flag: (x, y, z)}}; what is stored later in a frame counts."""
    magic, rate, count = struct.unpack_from("<3H", data)
    assert magic == 0x8000
    offsets = [2 * o for o in struct.unpack_from("<%dH" % (count + 1), data, 6)]
    assert offsets[-1] == len(data)
    frames = []
    for begin, end in zip(offsets, offsets[1:]):
        frame, at = {}, begin
        while at < end:
            number, flags = data[at], data[at + 1]
            at += 2
            stored = frame.setdefault(number, {})
            for flag in (1, 2, 4):
                if flags & flag:
                    stored[flag] = struct.unpack_from("<3h", data, at)
                    at += 6
        assert at == end
        frames.append(frame)
    return rate, frames


def decode(files, rate=None):
    rates, frames = [], []
    for _, data in files:
        stored_rate, more = frames_of(data)
        rates.append(stored_rate)
        frames += more
    rate = rate or (rates[0] if 15 <= rates[0] <= 60 else 30)
    nodes, tracks = [], []
    for number in sorted({n for frame in frames for n in frame}):
        for channel, flag, unit in PARTS:
            if not any(flag in frame.get(number, {}) for frame in frames):
                continue
            keys = []
            for i, frame in enumerate(frames):
                if number not in frame:
                    continue
                value = frame[number].get(flag)
                if value is None and flag == 2 and (not keys or keys[-1][1] != (4096,) * 3):
                    value = (4096,) * 3
                if value is not None:
                    keys.append((i, value))
            for c in range(3):
                tracks.append({"node": len(nodes), "channel": channel, "component": "xyz"[c],
                               "keys": [{"t": i / rate, "v": v[c] * unit, "interp": "step"} for i, v in keys]})
        shown = [(i, number in frame) for i, frame in enumerate(frames)]
        shown = [(i, s) for i, s in shown if i == 0 or s != shown[i - 1][1]]
        tracks.append({"node": len(nodes), "channel": "visibility",
                       "keys": [{"t": i / rate, "v": 1.0 if s else 0.0, "interp": "step"} for i, s in shown]})
        nodes.append({"name": f"object_{number:03}", "parent": None})
    take = {"name": os.path.splitext(files[0][0])[0], "start": 0.0, "end": max(0, len(frames) - 1) / rate,
            "tracks": tracks}
    return {"keyferry": 1, "format": "vib-anm", "frame_rate": float(rate), "nodes": nodes, "takes": [take]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--fps", type=float)
    options = parser.parse_args()
    files = []
    for path in options.files:
        with open(path, "rb") as file:
            files.append((os.path.basename(path), file.read()))
    print(json.dumps(decode(files, options.fps)))


if __name__ == "__main__":
    main()
