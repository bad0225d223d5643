"""What the tests of edits share: a file to FBX, the FBX changed as text, and back; and which bytes may differ."""
import fbxtext
from command import Case


class EditCase(Case):
    """`original` are the bytes of the file `x.ENDING`."""
    ending = ""
    original = b""

    def edit(self, change, *there, back=(), code=0):
        """The file that comes back after `change(scene)`; what was said is in self.said."""
        self.put("x." + self.ending, self.original)
        self.keyferry("convert", "x." + self.ending, "x.fbx", "--ascii", "-y", *there)
        scene = fbxtext.Scene((self.dir / "x.fbx").read_text())
        change(scene)
        (self.dir / "x.fbx").write_text(scene.text())
        self.said = self.keyferry("convert", "x.fbx", "y." + self.ending, "-y", *back, code=code).err
        return (self.dir / ("y." + self.ending)).read_bytes() if code == 0 else None

    def only(self, now, *ranges):
        """Nothing but those ranges (start, size) changed, and something in each."""
        self.assertEqual(len(now), len(self.original))
        changed = {i for i in range(len(now)) if now[i] != self.original[i]}
        for start, size in ranges:
            self.assertTrue(changed & set(range(start, start + size)), f"nothing changed from {start} on")
            changed -= set(range(start, start + size))
        self.assertFalse(changed, self.said)

    def patched(self, *patches):
        """The original with bytes written over it: (at, bytes)."""
        data = bytearray(self.original)
        for at, new in patches:
            data[at:at + len(new)] = new
        return bytes(data)


def each(scene, take, node, prop, work):
    """`work(curve)` on x, y and z."""
    for axis in "xyz":
        curve = scene.curve(take, node, prop, axis)
        work(curve)
        curve.store()


def add(scene, where, index, amount):
    curve = scene.curve(*where)
    curve.keys[index].value += amount
    curve.store()


def hold(curve):
    """Every key is a step."""
    for key in curve.keys:
        key.flags = 0x2


def rename_take(scene, name, new_name):
    scene.takes()[name].values[1] = '"AnimStack::%s"' % new_name


def by_a_program(scene, name="Program"):
    """No longer said to be our own writer's."""
    def walk(node):
        node.values = [v.replace("Keyferry", name) for v in node.values]
        for child in node.children or []:
            walk(child)
    walk(scene.root.first("FBXHeaderExtension"))
    scene.root.children = [c for c in scene.root.children if c.name != "Creator"]
