#!/usr/bin/env python3
"""A second reader of X4: Foundations .ani files, written from the specification: what `keyferry dump` must print.

    x4_ani.py FILE    the JSON

decode(bytes) gives the object with every number as its text, 9 digits, so that two of them can be compared with ==;
load(text) reads a dump the same way.
"""
import json
import math
import struct
import sys

KINDS = (("translation", None, 1.0, 0.0), ("rotation", None, 180.0 / math.pi, 0.0), ("scale", None, 1.0, 1.0),
         ("custom", "pre_scale", 1.0, 1.0), ("custom", "post_scale", 1.0, 1.0))
SHAPES = {1: "step", 2: "linear", 5: "bezier", 6: "hermite", 7: "tcb"}


class Bad(Exception):
    pass


class Key:
    """The fields of a record, by the order of the specification."""

    def __init__(self, data):
        f = struct.unpack("<3f3if12f5fi6fI", data)
        self.value, self.interp, self.time = f[0:3], f[3:6], f[6]
        self.first = [(f[7 + 4 * c], f[8 + 4 * c]) for c in range(3)]
        self.second = [(f[9 + 4 * c], f[10 + 4 * c]) for c in range(3)]
        self.tcb, self.deriv, self.deriv_in, self.deriv_out = f[19:24], f[24], f[25:28], f[28:31]


def text_number(value):
    return "%.9g" % value


def told(value, instead):
    """A value as dump tells it: `instead`, but in a word if the file's is no finite number."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), instead)


def named(raw):
    """A name as dump prints it, with all bytes in hex where they are no UTF-8."""
    text, at, valid = "", 0, True
    while at < len(raw):
        for size in (1, 2, 3, 4):
            try:
                text += raw[at:at + size].decode("utf-8")
                at += size
                break
            except UnicodeDecodeError:
                continue
        else:
            text += "\ufffd"
            at += 1
            valid = False
    return {"name": text} if valid else {"name": text, "name_bytes": raw.hex()}


def finite(*values):
    return all(math.isfinite(v) for v in values)


class Curve:
    """One component of a list of keys."""

    def __init__(self, records, component, unit, rest):
        self.records, self.c, self.unit = records, component, unit
        self.keys = []
        time, value = 0.0, rest
        for i, record in enumerate(records):
            own_time, own_value = record.time, record.value[component]
            if finite(own_time) and not (i and own_time < time):
                time = own_time
            if finite(own_value):
                value = own_value * unit
            self.keys.append({"t": time, "v": value, "in": (0.0, 0.0), "out": (0.0, 0.0),
                              "odd": not finite(own_time, own_value)})
        for i in range(len(records) - 1):
            self.segment(i)
        self.ends()

    def interp(self, i):
        return self.records[i].interp[self.c]

    def handle(self, point, i):
        """An absolute control point as a handle of key i."""
        record, key = self.records[i], self.keys[i]
        time = record.time if finite(record.time) else key["t"]
        value = record.value[self.c] if finite(record.value[self.c]) else key["v"] / self.unit
        dt, dv = point[0] - time, (point[1] - value) * self.unit
        if finite(dt, dv):
            return dt, dv
        key["shapeless"] = True
        return 0.0, 0.0

    def first(self, i):
        return self.records[i].first[self.c]

    def second(self, i):
        return self.records[i].second[self.c]

    def segment(self, i):
        key, following = self.keys[i], self.keys[i + 1]
        number = self.interp(i)
        span = following["t"] - key["t"]
        shape = SHAPES.get(number, "linear")
        if number == 5:
            key["out"], following["in"] = self.handle(self.first(i), i), self.handle(self.second(i + 1), i + 1)
        elif number == 6:
            out, back = self.handle(self.first(i), i), self.handle(self.second(i + 1), i + 1)
            if span:
                key["out"], following["in"] = (span / 3.0, out[1]), (-(span / 3.0), back[1])
        elif number == 3 and any(self.first(i)):
            shape = "bezier"
            for name, k, n in (("out", key, i), ("in", following, i + 1)):
                dt, dv = self.handle(self.first(i), n)
                k[name] = (dt * (2.0 / 3.0), dv * (2.0 / 3.0))
        elif number == 4:
            before, after = self.records[i], self.records[i + 1]
            if (before.deriv or after.deriv) and span > 0:
                shape = "hermite"
                chord = (following["v"] - key["v"]) / span
                leave, arrive = before.deriv_out[self.c], after.deriv_in[self.c]
                leave = leave * self.unit if before.deriv and finite(leave) else chord
                arrive = arrive * self.unit if after.deriv and finite(arrive) else chord
                third, back = span / 3.0, (key["t"] - following["t"]) / 3.0
                key["out"], following["in"] = (third, leave * third), (back, arrive * back)
            elif any(self.first(i)) or any(self.second(i + 1)):
                shape = "bezier"
                key["out"], following["in"] = self.handle(self.first(i), i), self.handle(self.second(i + 1), i + 1)
        key["interp"] = shape

    def ends(self):
        """Handles before the first and after the last key of a Bezier curve are there, though they shape nothing."""
        last = len(self.keys) - 1
        self.keys[last]["interp"] = SHAPES.get(self.interp(last), "linear")
        if self.interp(0) == 5 and any(self.second(0)):
            self.keys[0]["in"] = self.handle(self.second(0), 0)
        if (self.interp(last) == 5 or (last and self.interp(last - 1) == 5)) and any(self.first(last)):
            self.keys[last]["out"] = self.handle(self.first(last), last)

    def dump(self):
        result = []
        any_tcb = any(r.interp[self.c] == 7 for r in self.records)
        handled = ("bezier", "hermite")
        for i, key in enumerate(self.keys):
            before = self.keys[i - 1]["interp"] if i else ""
            item = {"t": text_number(key["t"]), "v": told(self.records[i].value[self.c], text_number(key["v"])),
                    "interp": key["interp"]}
            if before in handled or any(key["in"]):
                item["in"] = [text_number(n) for n in key["in"]]
            if key["interp"] in handled or any(key["out"]):
                item["out"] = [text_number(n) for n in key["out"]]
            if any_tcb:
                numbers = [n if finite(n) else 0.0 for n in self.records[i].tcb]
                if "tcb" in (before, key["interp"]) or any(numbers):
                    names = ("tension", "continuity", "bias", "ease_in", "ease_out")
                    item.update((name, text_number(n)) for name, n in zip(names, numbers))
            if key["odd"]:
                item["nonfinite"] = True
            if key.get("shapeless") or any_tcb and not finite(*self.records[i].tcb):
                item["nonfinite_shape"] = True
            result.append(item)
        return result


def cut(raw, room):
    """At most `room` bytes, not in the middle of a UTF-8 character."""
    if len(raw) > room:
        while room and raw[room] & 0xC0 == 0x80:
            room -= 1
    return raw[:room]


def assign(pairs):
    """For each (Name, SubName) its node and take; names of nodes and takes in order of appearance. What is there twice
    gets a node of its own."""
    nodes, takes = list(dict.fromkeys(n for n, _ in pairs)), list(dict.fromkeys(s for _, s in pairs))
    chains = {name: [i] for i, name in enumerate(nodes)} # all nodes of a Name
    used, result = {}, []
    for d, (name, sub_name) in enumerate(pairs):
        rank = used.get((name, sub_name), 0)
        used[name, sub_name] = rank + 1
        if rank == len(chains[name]):
            number = rank + 1
            while True:
                suffix = b"#%d" % number
                made = cut(name, 63 - len(suffix)) + suffix
                if made not in nodes:
                    break
                number = d + len(pairs) if number == rank + 1 else number + len(pairs)
            chains[name].append(len(nodes))
            nodes.append(made)
        result.append((chains[name][rank], takes.index(sub_name)))
    return nodes, takes, result


def decode(data):
    if len(data) < 16:
        raise Bad("header")
    count, offset, _, _ = struct.unpack_from("<4i", data)
    if count < 0 or offset not in (16, 16 + 160 * count) or 16 + 160 * count > len(data):
        raise Bad("header")
    at = 16 + 160 * count
    pairs, lists, durations = [], [], []
    for d in range(count):
        name, sub_name, *counts = struct.unpack_from("<64s64s5i", data, 16 + 160 * d)
        duration, = struct.unpack_from("<f", data, 16 + 160 * d + 148)
        pairs.append((name.split(b"\0")[0], sub_name.split(b"\0")[0]))
        durations.append(duration if finite(duration) and duration > 0 else 0.0)
        own = []
        for number in counts:
            if number < 0 or at + 128 * number > len(data):
                raise Bad("counts")
            own.append([Key(data[at + 128 * k:at + 128 * (k + 1)]) for k in range(number)])
            at += 128 * number
        lists.append(own)
    if at != len(data):
        raise Bad("size")

    nodes, takes, places = assign(pairs)
    result = [{**named(name), "start": "0", "end": 0.0, "tracks": []} for name in takes]
    for (node, take), duration, own in zip(places, durations, lists):
        result[take]["end"] = max(result[take]["end"], duration)
        for (channel, name, unit, rest), records in zip(KINDS, own):
            for c in range(3 if records else 0):
                track = {"node": str(node), "channel": channel, "component": "xyz"[c],
                         "keys": Curve(records, c, unit, rest).dump()}
                if name:
                    track["name"] = name
                result[take]["tracks"].append(track)
    for take in result:
        take["end"] = text_number(take["end"])
    return {"keyferry": "1", "format": "x4-ani", "frame_rate": "30",
            "nodes": [{**named(name), "parent": None} for name in nodes], "takes": result}


def load(text):
    return json.loads(text, parse_float=str, parse_int=str)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        json.dump(decode(file.read()), sys.stdout, indent=1)
    print()
