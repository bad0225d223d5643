"""What every generator does when it is run by hand: it writes its cases, or the few that are kept, into a folder."""
import argparse
from pathlib import Path


def write(doc, ending, cases, kept, beside=None):
    """`cases(seed, count)` gives (name, bytes, tags), `kept(name, tags)` tells which of them tests/data has, `beside` is
    {file name: bytes} of what goes with the cases but is none."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--samples")
    options = parser.parse_args()
    if not (options.samples or options.out):
        parser.error("where to?")
    if options.samples:
        files = {name + ending: data for name, data, tags in cases(1, 1) if kept(name, tags)}
    else:
        files = {name + ending: data for name, data, _ in cases(options.seed, options.count)} | (beside or {})
    folder = Path(options.samples or options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
