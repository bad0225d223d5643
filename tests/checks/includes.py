"""Include only downward: which file may include which.

    base <- anim <- curve, rotation <- fit, merge <- fbx
    formats -> base;  plugins -> formats, curve, rotation, anim, base;  cli -> keyferry.h
    pipeline (what is left in common/) -> all of common/ but formats/
    keyferry.h for everyone; ufbx.h for fbx only
"""
import os
import re
import sys
from pathlib import Path

LAYER = {"status": "base", "arena": "base", "pages": "base", "reader": "base", "writer": "base", "utf8": "base",
         "anim": "anim", "names": "anim", "curve": "curve", "rotation": "curve", "tcb": "curve", "tolerance": "curve"}
MAY = {
    "base": "base",
    "anim": "base anim",
    "curve": "base anim curve",
    "fit": "base anim curve fit",
    "fbx": "base anim curve fit fbx ufbx",
    "formats": "base formats",
    "plugins": "base anim curve formats plugins",
    "cli": "cli",
    "pipeline": "base anim curve fit fbx pipeline formats.def",
}


def layer(path):
    """The layer of a path relative to the project, such as common/fbx/tree.h."""
    parts = Path(path).parts
    if parts[-1] in ("ufbx.h", "keyferry.h", "formats.def"):
        return parts[-1].removesuffix(".h")
    if parts[0] == "plugins":
        return "plugins"
    if len(parts) > 2:
        return "fit" if parts[1] == "merge" else parts[1]  # common/fbx, common/formats, common/cli
    stem = Path(path).stem
    return LAYER.get(stem) or LAYER.get(stem.split("_")[0]) or "pipeline"


def allowed(includer, included):
    a, b = layer(includer), layer(included)
    if a == b == "plugins":  # a plugin sees its own folder, not its neighbours
        return len(Path(included).parts) == 2 or Path(includer).parts[1] == Path(included).parts[1]
    return b == "keyferry" or b in MAY.get(a, "").split()


def check(root):
    wrong = []
    files = sorted(p for room in ("common", "plugins") for p in (root / room).rglob("*.[ch]"))
    for file in files:
        name = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            if not match or name == "common/keyferry.h":
                continue
            target = match[1]
            places = [file.parent / target, root / "common" / target, root / "plugins" / target]
            found = next((p for p in places if p.exists()), None)
            if found:
                target = Path(os.path.normpath(found)).relative_to(root).as_posix()
            elif not target.endswith("ufbx.h"):
                continue  # a system header
            if not allowed(name, target):
                wrong.append(f"{name}:{number}: {layer(name)} must not include {target}")
    return files, wrong


# The check itself, on cases that must come out so.
assert allowed("common/fbx/scene.c", "ufbx.h") and not allowed("common/convert.c", "ufbx.h")
assert allowed("common/merge/merge.c", "common/curve.h") and not allowed("common/curve.c", "common/merge/merge.h")
assert allowed("plugins/x4-ani/import.c", "common/formats/x4_ani.h") and not allowed("common/formats/x4_ani.c", "common/anim.h")
assert not allowed("common/cli/main.c", "common/anim.h") and allowed("common/cli/main.c", "common/keyferry.h")
assert not allowed("plugins/x4-ani/import.c", "plugins/ei-anm/ei.h") and not allowed("common/format.c", "common/formats/x4_ani.h")

files, wrong = check(Path(os.environ["KEYFERRY_SOURCE"]))
print("\n".join(wrong) or f"{len(files)} files include only downward")
sys.exit(bool(wrong) or not files)
