"""Reads, edits and writes ASCII FBX, for tests that play the artist: an independent view of the files, sharing no code
with the library.

    scene = Scene(open("door.fbx").read())
    curve = scene.curve("open", "door", "Lcl Rotation", "y")
    curve.keys[1].value += 5
    curve.store()
    open("edited.fbx", "w").write(scene.text())
"""
import copy
import re
import struct

TICKS = 46186158000
TOKEN = re.compile(r'\s+|;[^\n]*|(?P<string>"[^"]*")|(?P<name>[A-Za-z_][\w.|-]*)\s*:|(?P<punct>[{},*])|'
                   r'(?P<word>[^\s{},":*]+)')


class Node:
    def __init__(self, name):
        self.name = name
        self.values = []
        self.children = None

    def all(self, name):
        return [c for c in self.children or [] if c.name == name]

    def first(self, name):
        found = self.all(name)
        return found[0] if found else None

    def array(self, name):
        """The numbers of a child such as `KeyTime: *3 { a: 1,2,3 }`, as text."""
        child = self.first(name)
        return list(child.first("a").values) if child else []

    def set_array(self, name, numbers):
        child = self.first(name)
        child.values = ["*%d" % len(numbers)]
        child.first("a").values = [str(n) for n in numbers]


def parse(text):
    root = Node("")
    root.children = []
    stack, node, star = [root], None, False
    for match in TOKEN.finditer(text):
        if match["name"] is not None:
            node = Node(match["name"])
            stack[-1].children.append(node)
        elif match["punct"] == "{":
            node.children = []
            stack.append(node)
        elif match["punct"] == "}":
            stack.pop()
        elif match["punct"] == "*":
            star = True
        elif match["string"] is not None:
            node.values.append(match["string"])
        elif match["word"] is not None:
            node.values.append(("*" if star else "") + match["word"])
            star = False
    return root


def render(node, depth=0):
    pad = "\t" * depth
    out = []
    for child in node.children:
        if child.name == "a":
            out.append("%sa: %s\n" % (pad, ",".join(child.values)))
            continue
        line = "%s%s: %s" % (pad, child.name, ", ".join(child.values))
        if child.children is None:
            out.append(line + "\n")
        else:
            out.append(line + " {\n" + render(child, depth + 1) + pad + "}\n")
    return "".join(out)


def unquote(value):
    return value.strip('"').replace("&quot;", '"')


def name_of(node):
    return unquote(node.values[1]).split("::", 1)[-1]


class Key:
    """One key with everything it has, unrolled: `data` are the bits of the four attribute floats."""

    def __init__(self, time, value, flags, data):
        self.time, self.value, self.flags, self.data = time, value, flags, list(data)

    def number(self, i):
        return struct.unpack("<f", struct.pack("<I", self.data[i] & 0xffffffff))[0]

    def set_number(self, i, number):
        self.data[i] = struct.unpack("<i", struct.pack("<f", number))[0]


class Curve:
    def __init__(self, node):
        self.node = node
        times = [int(t) for t in node.array("KeyTime")]
        values = [float(v) for v in node.array("KeyValueFloat")]
        flags = [int(f) for f in node.array("KeyAttrFlags")]
        data = [int(d) for d in node.array("KeyAttrDataFloat")]
        counts = [int(c) for c in node.array("KeyAttrRefCount")]
        runs = [r for r, count in enumerate(counts) for _ in range(count)]
        self.keys = [Key(t, v, flags[r], data[4 * r:4 * r + 4]) for t, v, r in zip(times, values, runs)]

    def remove(self, index, in_place=False):
        """Without a key. The record before it held its left tangent; now it holds that of the key after it. Handles stay the
        shares of their segments that they are, or in their place."""
        gone = self.keys.pop(index)
        if 0 < index < len(self.keys):
            before, after = self.keys[index - 1:index + 1]
            weights = [before.data[2] & 0xffff, gone.data[2] >> 16 & 0xffff]
            if in_place:
                whole = after.time - before.time
                weights = [round(weights[0] * (gone.time - before.time) / whole), round(weights[1] * (after.time - gone.time) / whole)]
            before.data[1] = gone.data[1]
            before.data[2] = weights[0] | weights[1] << 16
            before.flags = before.flags & ~0x2000000 | gone.flags & 0x2000000

    def move(self, index, ticks):
        """A key in the middle is that much later, and the handles beside it and its own stay in their place."""
        before, key, after = self.keys[index - 1:index + 2]
        for start, end, later in ((before, key, ticks), (key, after, -ticks)):
            was = end.time - start.time
            weights = [round(w * was / (was + later)) for w in (start.data[2] & 0xffff, start.data[2] >> 16 & 0xffff)]
            start.data[2] = weights[0] | weights[1] << 16
        key.time += ticks

    def insert(self, index, key, in_place=False):
        """A key more; the handle of the one before it stays a share of its segment, or in its place."""
        before, after = self.keys[index - 1:index + 1]
        if in_place:
            share = (before.data[2] & 0xffff) * (after.time - before.time) / (key.time - before.time)
            before.data[2] = before.data[2] & ~0xffff | round(share)
        self.keys.insert(index, key)

    def store(self):
        keys = self.keys
        self.node.set_array("KeyTime", [k.time for k in keys])
        self.node.set_array("KeyValueFloat", ["%.9g" % k.value for k in keys])
        self.node.set_array("KeyAttrFlags", [k.flags for k in keys])
        self.node.set_array("KeyAttrDataFloat", [d for k in keys for d in k.data])
        self.node.set_array("KeyAttrRefCount", [1] * len(keys))


class Scene:
    def __init__(self, text):
        self.head = text[:text.index("\n") + 1]
        self.root = parse(text)
        self.objects = self.root.first("Objects")
        self.by_id = {c.values[0]: c for c in self.objects.children}
        self.up = {}
        for c in self.root.first("Connections").all("C"):
            self.up.setdefault(c.values[1], []).append((c.values[2], unquote(c.values[3]) if len(c.values) > 3 else None))

    def text(self):
        return self.head + render(self.root)

    def models(self):
        return {name_of(n): n for n in self.objects.all("Model")}

    def takes(self):
        return {name_of(n): n for n in self.objects.all("AnimationStack")}

    def _curves(self):
        """(take, node, property, component) of every curve."""
        for curve in self.objects.all("AnimationCurve"):
            for node_id, component in self.up.get(curve.values[0], []):
                take = owner = prop = None
                for target, what in self.up.get(node_id, []):
                    other = self.by_id.get(target)
                    if other is None:
                        continue
                    if other.name == "AnimationLayer":
                        stack = self.up[target][0][0]
                        take = name_of(self.by_id[stack])
                    else:
                        owner, prop = name_of(other), what
                yield (take, owner, prop, component[2:].lower() if component else None), curve

    def curves(self):
        return {where: Curve(node) for where, node in self._curves()}

    def curve(self, take, node, prop, component):
        for where, found in self._curves():
            if where == (take, node, prop, component):
                return Curve(found)
        raise KeyError((take, node, prop, component))

    def remove(self, *nodes):
        """Takes objects out, and every connection with them."""
        gone = {n.values[0] for n in nodes}
        self.objects.children = [c for c in self.objects.children if c.values[0] not in gone]
        links = self.root.first("Connections")
        links.children = [c for c in links.children if not (c.values[1] in gone or c.values[2] in gone)]

    def clone(self, name, new_name):
        """A second node with a name of its own, and a copy of everything that moves it."""
        self.copy_all(self.models()[name], '"Model::%s"' % new_name, ("NodeAttribute", "AnimationCurveNode", "AnimationCurve"))

    def clone_take(self, name, new_name):
        """A second take with a copy of everything in the first."""
        self.copy_all(self.takes()[name], '"AnimStack::%s"' % new_name, ("AnimationLayer", "AnimationCurveNode", "AnimationCurve"))

    def copy_all(self, first, title, kinds):
        """A copy, called `title`, of an object and of those of these kinds that are connected to it, with their connections."""
        links = self.root.first("Connections")
        beyond = max(map(int, self.by_id))
        copies, waiting = {}, [first.values[0]]
        while waiting:
            number = waiting.pop()
            copies[number] = str(int(number) + beyond)
            waiting += [c.values[1] for c in links.all("C") if c.values[2] == number and c.values[1] not in copies and
                        self.by_id[c.values[1]].name in kinds]
        for number, other in copies.items():
            made = copy.deepcopy(self.by_id[number])
            made.values[0] = other
            if number == first.values[0]:
                made.values[1] = title
            self.objects.children.append(made)
        for link in [c for c in links.all("C") if c.values[1] in copies]:
            made = copy.deepcopy(link)
            made.values[1] = copies[link.values[1]]
            made.values[2] = copies.get(link.values[2], link.values[2])
            links.children.append(made)
        self.__init__(self.text())

    def remove_property(self, node, name):
        props = node.first("Properties70")
        props.children = [p for p in props.children if unquote(p.values[0]) != name]
