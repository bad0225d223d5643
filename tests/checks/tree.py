"""The files of the project: the top level as it is meant to be, no path of one machine, no copy of ufbx, no host
name of a package mirror."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

root = Path(os.environ["KEYFERRY_SOURCE"])
TOP = {"CMakeLists.txt", "plugins", "common", "ufbx", "tests", "scripts", "README.md", "LICENSE", "SECURITY.md"}
# Written so that this file does not match itself.
MACHINE = re.compile(rb"/(?:home|Users|work|root)/[A-Za-z]{2}|[A-Z]:\\\\?(?:Users|work)\\")
MIRROR = re.compile(rb"(?:deb|security|snapshot|ftp|archive|ports)\.(?:\w+\.)?(?:debian|ubuntu)\.|registry\.npmjs")
UFBX = re.compile(rb"\bufbx_abi\b\s+\w")

wrong = []
listing = shutil.which("git") and subprocess.run(
    ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    capture_output=True)
if not listing or listing.returncode:
    print("skipped: git, or a checkout for it, is missing")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)
names = [name for name in listing.stdout.decode().split("\0") if name and (root / name).is_file()]
for name in names:
    top = Path(name).parts[0]
    if top not in TOP and not top.startswith("."):
        wrong.append(f"{name}: {top} does not belong on the top level")
    if re.fullmatch(r"ufbx\w*\.[ch]", Path(name).name):
        wrong.append(f"{name}: a copy of ufbx")
    data = (root / name).read_bytes()
    for what, pattern in ("a path of one machine", MACHINE), ("a package mirror", MIRROR), ("a copy of ufbx", UFBX):
        found = pattern.search(data)
        if found:
            line = data[:found.start()].count(b"\n") + 1
            wrong.append(f"{name}:{line}: {what}: {found[0].decode('utf-8', 'replace')}")
print("\n".join(wrong) or f"{len(names)} files are as they should be")
sys.exit(bool(wrong))
