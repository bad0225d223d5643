#!/usr/bin/env python3
"""A second reader of Nytro node animations, from the specification: `nytro_anim.py FILE` prints what `keyferry dump` of
the same file must print (numbers to nine digits)."""
import json
import math
import struct
import sys

TCB, BEZIER = 1, 2
NUMBERS = ("tension", "continuity", "bias", "ease_in", "ease_out")


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def text(self):
        end = self.data.index(b"\0", self.at)
        text, self.at = self.data[self.at:end], end + 1
        return text


def chain(data, short):
    """{id: payload} of a chain of chunks that holds chunks 1 and 2; raises where it is none."""
    found, at = {}, 0
    while at < len(data):
        if short:
            number, size = struct.unpack_from("<2I", data, at)
            start, after = at + 8, at + 8 + size
        else:
            number, _, size, after = struct.unpack_from("<4I", data, at)
            start = at + 16
            after = len(data) if after in (0, 0xFFFFFFFF) else after
        if start + size > len(data) or not start + size <= after <= len(data) or number in found and number in (1, 2):
            raise ValueError("no chain")
        found[number] = data[start:start + size]
        at = after
    nodes(found)
    return found


def nodes(found):
    """Chunk 1 and 2: name and the nodes as (name, flags, translations, rotations, scales)."""
    head, body, out = Cursor(found[1]), Cursor(found[2]), []
    head.take("I")
    name, _ = head.text(), head.text()
    for _ in range(head.take("H")[0]):
        node, (flags, *counts) = body.text(), body.take("4I")
        keys = []
        for channel, count in enumerate(counts):
            width = 4 if channel == 1 else 3
            size = 28 if flags & TCB else 8
            if body.at + count * (size + 4 * width) > len(body.data):
                raise ValueError("too many keys")
            keys.append([(body.take("I")[0], body.take("f")[0], body.take("5f") if flags & TCB else None,
                          body.take(f"{width}f")) for _ in range(count)])
        out.append((node, flags, *keys))
    return name, out


def load(data):
    for short in (False, True):
        try:
            return nodes(chain(data, short))
        except (ValueError, KeyError, struct.error):
            pass
    raise ValueError("neither header fits")


def finite(values, otherwise):
    return [v if math.isfinite(v) else o for v, o in zip(values, otherwise)]


def ascending(keys):
    """Times that never go back: what does, or is no number, stays at the time before. And which are none."""
    out, bad, last = [], [], None
    for _, time, _, _ in keys:
        bad.append(not math.isfinite(time))
        last = (last or 0.0) if bad[-1] or last is not None and time < last else time
        out.append(last)
    return out, bad


def numbers(tcb):
    odd = {} if all(map(math.isfinite, tcb or ())) else {"nonfinite_shape": True}
    return {**dict(zip(NUMBERS, finite(tcb, (0.0,) * 5))), **odd} if tcb else {}


def told(value, instead):
    """A value as dump tells it: `instead`, but in a word if the file's is no finite number."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), instead)


def flagged(bad):
    return {"nonfinite": True} if bad else {}


def scalar(keys, flags, component, rest):
    interp = "tcb" if flags & TCB else "hermite" if flags & BEZIER else "linear"
    times, bad = ascending(keys)
    values, last, out = [], rest, []
    for _, _, _, value in keys:
        last = value[component] if math.isfinite(value[component]) else last
        values.append(last)
    for i, (time, value) in enumerate(zip(times, values)):
        key = {"t": time, "v": told(keys[i][3][component], value), "interp": interp, **numbers(keys[i][2]),
               **flagged(bad[i] or not math.isfinite(keys[i][3][component]))}
        if interp == "hermite":
            a, b = max(0, i - 1), min(len(keys) - 1, i + 1)
            span = times[b] - times[a]
            slope = (values[b] - values[a]) / span if span > 0 else 0.0
            if i > 0:
                key["in"] = [(times[i - 1] - time) / 3, slope * ((times[i - 1] - time) / 3)]
            key["out"] = [(times[b] - time) / 3, slope * ((times[b] - time) / 3)]
            key["out"] = key["out"] if b > i else [0.0, 0.0]
        out.append(key)
    return out


def rotation(keys, flags):
    last, out = [1.0, 0.0, 0.0, 0.0], []
    for time, wrong, (_, _, tcb, value) in zip(*ascending(keys), keys):
        turns, bad = 0, not all(map(math.isfinite, value))
        if not bad:
            angle, *axis = value
            length = math.sqrt(sum(c * c for c in axis))
            last = [1.0, 0.0, 0.0, 0.0]
            if length > 0:  # an angle of more than -180, up to 180, and whole turns about the axis that it turns about
                turns = math.ceil(angle / 360 - 0.5)
                half = math.radians(angle - 360 * turns) / 2
                last = [math.cos(half), *(math.sin(half) * c / length for c in axis)]
                turns = -turns if half < 0 else turns
        out.append({"t": time, "q": last, "interp": "tcb" if flags & TCB else "linear", **numbers(tcb),
                    **flagged(wrong or bad), **({"turns": turns} if turns else {})})
    return out


def text(raw):
    """A name, with its bytes where they are no UTF-8."""
    try:
        return {"name": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"name": raw.decode("utf-8", "replace"), "name_bytes": raw.hex()}


def decode(data, rate=30.0):
    name, parts = load(data)
    tracks = []
    for i, (_, flags, translations, rotations, scales) in enumerate(parts):
        for channel, keys in (("translation", translations), ("rotation", rotations), ("scale", scales)):
            if not keys:
                continue
            if channel == "rotation":
                tracks.append({"node": i, "channel": channel, "mode": "squad" if flags & TCB else "slerp",
                               "keys": rotation(keys, flags)})
                continue
            for c in range(3):
                tracks.append({"node": i, "channel": channel, "component": "xyz"[c],
                               "keys": scalar(keys, flags, c, 1.0 if channel == "scale" else 0.0)})
    ends = [key["t"] for track in tracks for key in track["keys"]]
    take = {**text(name), "start": min(ends, default=0.0), "end": max(ends, default=0.0), "tracks": tracks}
    return {"keyferry": 1, "format": "nytro-anim", "frame_rate": rate,
            "nodes": [{**text(part[0]), "parent": None} for part in parts], "takes": [take]}


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print(json.dumps(decode(file.read())))
