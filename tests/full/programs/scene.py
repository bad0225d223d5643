"""scene.py write FBX: writes an ASCII FBX with a small scene: every kind of key, two takes, three moving nodes.
scene.py compare JSON: compares what a program read of that scene with what was written.

The JSON is {take: {node: {"T"|"R"|"S": [[seconds, ...], ...]}}}, with x, y, z for T and S, and a quaternion w, x, y, z
for R. A program may add keys; it must have those that were written.
"""
import json
import math
import struct
import sys

TICKS = 46186158000
RATE = 30
NODES = ["rig", "hinge", "door", "handle"]  # each the child of the one before; the first one does not move

STEP, LINEAR, AUTO, TCB, USER, BROKEN, WEIGHTED = 0x2, 0x4, 0x6108, 0x208, 0x408, 0xC08, 0x3000408
THIRD = 0x0D050D05


def bits(value):
    return struct.unpack("<i", struct.pack("<f", value))[0]


def key(frame, value, flags=LINEAR, *data):
    """data: right slope and next left slope, or tension, continuity and bias"""
    data = [bits(x) for x in data]
    data += [0] * (4 - len(data))
    if flags in (USER, BROKEN, WEIGHTED):
        data[2] = 0x10001000 if flags == WEIGHTED else THIRD
    return frame, value, flags, data


def curves(offset):
    """The curves of one take: {node: {channel: (x keys, y keys, z keys)}}"""
    turn = lambda *angles: [key(10 * i, angle + offset, TCB, 0.5, -0.25, 0.25) for i, angle in enumerate(angles)]
    return {
        "hinge": {"R": (turn(0, 40, 90, 10), turn(0, -20, 5, 0), turn(0, 15, 30, 45))},
        "door": {
            "T": ([key(0, offset), key(12, 5), key(30, -3)],
                  [key(0, 1, STEP), key(15, 2, STEP), key(30, 3, STEP)],
                  [key(0, 0, USER, 3, -2), key(10, 4, BROKEN, 1, 5), key(30, 2, WEIGHTED, 0, 1)]),
            "S": ([key(0, 1), key(30, 2)], [key(0, 1, AUTO), key(20, 1.5, AUTO), key(30, 1, AUTO)], [key(0, 1), key(30, 0.5)]),
        },
        "handle": {"T": ([key(5, 1)], [key(5, 2)], [key(5, 3), key(25, offset)])},
    }


TAKES = {"open": curves(0), "close": curves(2)}
REST = {"T": (0, 0, 0), "R": (0, 0, 0), "S": (1, 1, 1)}
PROPERTY = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}


def array(name, values):
    return f"{name}: *{len(values)} {{ a: {','.join(map(str, values))} }}"


def write(path):
    ids = iter(range(1000, 100000))
    objects, links = [], []
    node_id = {name: next(ids) for name in NODES}
    for i, name in enumerate(NODES):
        objects.append(f'Model: {node_id[name]}, "Model::{name}", "Null" {{ Version: 232\n Shading: Y\n Culling: "CullingOff"\n }}')
        links.append(f'C: "OO",{node_id[name]},{node_id[NODES[i - 1]] if i else 0}')
    for take, nodes in TAKES.items():
        stack, layer = next(ids), next(ids)
        objects.append(f'AnimationStack: {stack}, "AnimStack::{take}", "" {{ Properties70: {{\n'
                       f'P: "LocalStop", "KTime", "Time", "",{TICKS}\nP: "ReferenceStop", "KTime", "Time", "",{TICKS}\n}} }}')
        objects.append(f'AnimationLayer: {layer}, "AnimLayer::{take}", "" {{ Properties70: {{ }} }}')
        links.append(f'C: "OO",{layer},{stack}')
        for node, channels in nodes.items():
            for channel, components in channels.items():
                group = next(ids)
                values = "\n".join(f'P: "d|{axis}", "Number", "", "A",{keys[0][1]}' for axis, keys in zip("XYZ", components))
                objects.append(f'AnimationCurveNode: {group}, "AnimCurveNode::{channel}", "" {{ Properties70: {{\n{values}\n}} }}')
                links += [f'C: "OO",{group},{layer}', f'C: "OP",{group},{node_id[node]}, "{PROPERTY[channel]}"']
                for axis, keys in zip("XYZ", components):
                    curve = next(ids)
                    lines = [f"Default: {keys[0][1]}", "KeyVer: 4009",
                             array("KeyTime", [frame * TICKS // RATE for frame, *_ in keys]),
                             array("KeyValueFloat", [value for _, value, *_ in keys]),
                             array("KeyAttrFlags", [flags for _, _, flags, _ in keys]),
                             array("KeyAttrDataFloat", [x for *_, data in keys for x in data]),
                             array("KeyAttrRefCount", [1] * len(keys))]
                    objects.append(f'AnimationCurve: {curve}, "AnimCurve::", "" {{\n' + "\n".join(lines) + "\n}")
                    links.append(f'C: "OP",{curve},{group}, "d|{axis}"')
    settings = "\n".join(f'P: "{name}", "{kind}", "", "",{value}' for name, kind, value in (
        ("UpAxis", "int", 1), ("UpAxisSign", "int", 1), ("FrontAxis", "int", 2), ("FrontAxisSign", "int", 1),
        ("CoordAxis", "int", 0), ("CoordAxisSign", "int", 1), ("UnitScaleFactor", "double", 1), ("TimeMode", "enum", 6)))
    with open(path, "w", encoding="utf-8") as out:
        out.write("; FBX 7.5.0 project file\nFBXHeaderExtension:  {\nFBXHeaderVersion: 1003\nFBXVersion: 7500\n}\n"
                  f"GlobalSettings:  {{\nVersion: 1000\nProperties70:  {{\n{settings}\n}}\n}}\n"
                  "Objects:  {\n" + "\n".join(objects) + "\n}\nConnections:  {\n" + "\n".join(links) + "\n}\n")


def quaternion(x, y, z):
    """Of angles in degrees about X, then Y, then Z."""
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(math.radians(a) / 2), math.sin(math.radians(a) / 2)) for a in (x, y, z))
    return (cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz, cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz)


def compare(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    keys = wrong = 0
    for take, nodes in TAKES.items():
        for node, channels in nodes.items():
            for channel, components in channels.items():
                got = found.get(take, {}).get(node, {}).get(channel, [])
                for axis in range(3):
                    for frame, value, *_ in components[axis]:
                        keys += 1
                        at = [key for key in got if abs(key[0] - frame / RATE) < 1e-4]
                        if channel == "R":  # all three have their keys at the same times
                            angles = [next(k[1] for k in c if k[0] == frame) for c in components]
                            error = min((1 - abs(sum(a * b for a, b in zip(key[1:], quaternion(*angles)))) for key in at), default=9)
                        else:
                            error = min((abs(key[1 + axis] - value) for key in at), default=9)
                        if error > 1e-4:
                            wrong += 1
                            print(f"{take}, {node}, {channel}.{'xyz'[axis]}, frame {frame}: {value} written, {at or 'no key'} read")
    print(f"{keys} keys compared, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        sys.exit(compare(sys.argv[2]) != 0)
