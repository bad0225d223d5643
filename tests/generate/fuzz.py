#!/usr/bin/env python3
"""fuzz.py TARGET OUT: what a fuzz target starts from, OUT/seeds/*, and the words that it tries, OUT/words.

Game files are those of tests/data and of the generators beside this one, FBX files are made of them by the command that
KEYFERRY names. They are kept small: a fuzzer's speed is theirs.
"""
import importlib
import os
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
FORMATS = sorted(p.name for p in DATA.iterdir() if (HERE / (p.name.replace("-", "_") + ".py")).exists())
LARGEST, LARGEST_TEXT, LARGEST_BINARY = 1500, 5000, 20000  # bytes: of a generated game file, of an FBX


def samples(format):
    """(name, bytes) of the files in tests/data that are sound."""
    return [(p.name, p.read_bytes()) for p in sorted((DATA / format).iterdir()) if p.is_file() and not p.name.startswith("bad")]


def game(format):
    cases = importlib.import_module(format.replace("-", "_")).cases()
    return [data for _, data in samples(format)] + [data for _, data, _ in cases if len(data) <= LARGEST]


def small(text):
    """A text FBX without what says nothing about the animation."""
    for section in ("FBXHeaderExtension", "Documents", "References", "Definitions", "Takes"):
        text = re.sub(rb"(?ms)^%s:.*?^}\n" % section.encode(), b"", text)
    text = re.sub(rb"(?m)^\t+|^;.*\n|^\n", b"", text)
    for line in (rb"Version|Shading|Culling|TypeFlags|KeyVer|Default", rb'P: "(?:Original|Ambient|Default|TimeP|Snap|TimeM|Current|Inherit)'):
        text = re.sub(rb"(?m)^(?:%s).*\n" % line, b"", text)
    text = re.sub(rb"\b10{6}0{0,2}([1-9]\d{0,2})\b", rb"\1", text)  # ids
    return b"; FBX 7.5.0 project file\nFBXHeaderExtension: {\nFBXVersion: 7500\n}\n" + text


def convert(format, *options):
    """(FBX, sidecar) of each sample."""
    for name, data in samples(format):
        with tempfile.TemporaryDirectory() as folder:
            source, fbx = Path(folder) / name, Path(folder) / "out.fbx"
            source.write_bytes(data)
            done = subprocess.run([os.environ["KEYFERRY"], "convert", source, fbx, "--no-capsule", *options], capture_output=True)
            if done.returncode == 0:
                yield fbx.read_bytes(), Path(f"{fbx}.kf").read_bytes()


def fbx(formats):
    for format in formats:
        for program in ((), ("--for", "maya"), ("--for", "blender")):
            texts = sorted((small(made) for made, _ in convert(format, "--ascii", *program)), key=len)
            yield from texts[:4] + [text for text in texts[4:] if len(text) <= LARGEST_TEXT]
        for version in "7400", "7500":
            binaries = sorted((made for made, _ in convert(format, "--fbx-version", version)), key=len)
            yield from [made for made in binaries if len(made) <= LARGEST_BINARY][:2]


def skeletons():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / "mm2_anim.py", folder, "--count", "1"], check=True)
        yield from (p.read_bytes() for p in Path(folder).glob("*.skel"))
    yield b"NumBones 2\nbone root {\n offset 0 0.9 0\n bone spine { offset 1e-3 -2.5 .5 }\n}\n"


def seeds(target):
    kind, _, format = target.partition("-")
    if target == "skel":
        return list(skeletons())
    if target == "capsule":  # what is inside of it
        inside = [zlib.decompress(sidecar[16:]) for format in FORMATS for _, sidecar in convert(format)]
        return [data for data in inside if len(data) <= LARGEST]
    if kind == "merge":
        return list(fbx([format]))
    if kind == "fbx":
        return list(fbx(FORMATS))
    return game(format if kind == "decode" else target)


def words(found):
    """The names in the seeds, and numbers at which things change."""
    names = set()
    for data in found:
        names.update(re.findall(rb"[A-Za-z_][\w |:-]{2,23}", data))
    numbers = [n.to_bytes(size, "little") for size in (2, 4) for n in
               (0, 1, 2, 2**(8 * size - 1) - 1, 2**(8 * size - 1), 2**(8 * size) - 1)]
    numbers += [n.to_bytes(4, "little") for n in (0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x7F7FFFFF, 0x3F800000,
                                                  0x10000001, 0x20000000, 0x40000001, 0x15555556, 0x08000000)]
    quote = lambda word: '"%s"\n' % "".join(chr(b) if chr(b).isascii() and chr(b).isalnum() else f"\\x{b:02x}" for b in word)
    return "".join(map(quote, sorted(names)[:400] + numbers))


def main():
    target, out = sys.argv[1], Path(sys.argv[2])
    found = seeds(target)
    (out / "seeds").mkdir(parents=True, exist_ok=True)
    for i, data in enumerate(found):
        (out / "seeds" / f"{i:03}").write_bytes(data)
    (out / "words").write_text(words(found))
    print(f"{target}: {len(found)} seeds of {max(map(len, found))} bytes at the most")


if __name__ == "__main__":
    main()
