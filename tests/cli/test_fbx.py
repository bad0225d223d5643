"""FBX to FBX: the curves' arrays as they stand in the files, read by readers that share no code with the library."""
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "lib"))
import fbxbinary
import fbxtext
from command import Case

TICKS = 46186158000


def bits(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def weights(right, next_left):
    return right | next_left << 16


THIRDS = weights(3333, 3333)
# One key of each kind that programs write: flags, then slopes, weights and velocities as bits; or T, C, B.
KINDS = [
    (0x2, 0, 0, THIRDS, 0), (0x102, 0, 0, THIRDS, 0),  # step, step to the next value
    (0x404, 0, 0, THIRDS, 0), (0x6104, 0, 0, 255790911, 0),  # Maya's and Blender's lines
    (0x6108, 0, 0, THIRDS, 0), (0x5108, 0, 0, THIRDS, 0), (0x108, bits(40), bits(-40), THIRDS, 0),  # automatic
    (0x408, bits(-2.5), bits(3.25), THIRDS, 0), (0xC08, bits(7), bits(0.1), THIRDS, 0),  # user, broken
    (0x3000408, bits(1.5), bits(-9), weights(1, 9899), 0), (0x1000C08, bits(5), bits(6), weights(2000, 3333), 0),
    (0x2000408, bits(-1), bits(1), weights(3333, 5001), 0),
    (0x30000408, bits(2), bits(3), THIRDS, 0x11112222),  # with velocities
    (0x208, bits(-0.5), bits(0.25), bits(1), 0), (0x208, bits(0.1), bits(-1), bits(0.7), 0),
    (0x208, bits(0), bits(0), bits(0), 0), (0x208, bits(0), bits(0), bits(0), 0),
]


def scene(kinds):
    """An ASCII FBX with a curve of these keys, every attribute record on its own."""
    array = lambda name, numbers: f"{name}: *{len(numbers)} {{\na: {','.join(map(str, numbers))}\n}}\n"
    signed = lambda word: word - (1 << 32) if word >> 31 else word
    times = [TICKS * i * i // 90 for i in range(len(kinds))]
    return f"""; FBX 7.5.0 project file
FBXHeaderExtension:  {{
FBXVersion: 7500
}}
Objects:  {{
Model: 1, "Model::door", "Null" {{
}}
AnimationStack: 2, "AnimStack::open", "" {{
}}
AnimationLayer: 3, "AnimLayer::base", "" {{
}}
AnimationCurveNode: 4, "AnimCurveNode::T", "" {{
}}
AnimationCurve: 5, "AnimCurve::", "" {{
KeyVer: 4009
{array("KeyTime", times)}{array("KeyValueFloat", [(i * 7 % 5) * 0.5 - 1 for i in range(len(kinds))])}{
    array("KeyAttrFlags", [k[0] for k in kinds])}{array("KeyAttrDataFloat", [signed(w) for k in kinds for w in k[1:]])}{
    array("KeyAttrRefCount", [1] * len(kinds))}}}
}}
Connections:  {{
C: "OO",1,0
C: "OO",3,2
C: "OO",4,3
C: "OP",4,1, "Lcl Translation"
C: "OP",5,4, "d|X"
}}
""".encode()


def keys(data):
    """(time, bits of the value, flags, four words) of the only curve's keys; and how many attribute records there are."""
    if data.startswith(b"Kaydara"):
        root = fbxbinary.parse(data)[1]
        array = lambda curve, name: list(curve.first(name).values[0])
    else:
        root = fbxtext.parse(data.decode())
        array = lambda curve, name: [bits(float(n)) if name == "KeyValueFloat" else int(n) & (1 << 64) - 1
                                     for n in curve.array(name)]
    curve, = root.first("Objects").all("AnimationCurve")
    words = [word & 0xffffffff for word in array(curve, "KeyAttrDataFloat")]
    runs = [(flags, *words[4 * i:4 * i + 4]) for i, flags in enumerate(array(curve, "KeyAttrFlags"))]
    attributes = [run for run, count in zip(runs, array(curve, "KeyAttrRefCount")) for _ in range(count)]
    return [key for key in zip(array(curve, "KeyTime"), array(curve, "KeyValueFloat"), attributes, strict=True)], len(runs)


class Encodings(Case):
    def test_every_kind_in_every_encoding(self):
        given = self.put("given.fbx", scene(KINDS)).read_bytes()
        expected, _ = keys(given)
        self.assertEqual(len(expected), len(KINDS))
        before = "given.fbx"  # each is made of the one before
        for name, options in (("a.fbx", ["--ascii"]), ("b.fbx", ["--fbx-version", "7400"]), ("c.fbx", []),
                              ("d.fbx", ["--ascii", "--fbx-version", "7400"]), ("e.fbx", ["--fbx-version", "7500"])):
            self.keyferry("convert", before, name, *options)
            data = self.files()[name]
            found, runs = keys(data)
            self.assertEqual(found, expected, name)
            self.assertEqual(runs, len(KINDS) - 1, "the last two attribute records are one run")
            if "--ascii" not in options:
                self.assertEqual(fbxbinary.parse(data)[0], 7400 if "7400" in options else 7500)
            before = name
        self.assertEqual(self.files()["c.fbx"], self.files()["e.fbx"], "the same input, the same bytes")

    def test_tcb_as_slopes(self):
        """TCB keys of an FBX become tangents of the same shape where that is asked for, other keys stay as they are."""
        self.put("given.fbx", scene(KINDS))
        self.put("last.fbx", scene([KINDS[7], KINDS[8], KINDS[13]]))  # arrived at by its numbers
        for name in "given.fbx", "last.fbx":
            for options in (["--tcb", "slopes"], ["--for", "maya"]):
                self.assertNotIn("warning", self.keyferry("convert", name, "slopes.fbx", "-y", *options).err)
                was, now = keys(self.files()[name])[0], keys(self.files()["slopes.fbx"])[0]
                self.assertFalse([flags for _, _, (flags, *_) in now if flags & 0x200])
                self.assertEqual([key[:2] for key in now], [key[:2] for key in was])
                self.assertEqual(now[0], was[0])
                self.keyferry("diff", name, "slopes.fbx")
        self.keyferry("convert", "given.fbx", "native.fbx", "--tcb", "slopes", "--tcb", "native")
        self.assertEqual(keys(self.files()["native.fbx"])[0], keys(self.files()["given.fbx"])[0])


if __name__ == "__main__":
    unittest.main()
