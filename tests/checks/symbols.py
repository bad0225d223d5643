"""The shared library exports kf_ symbols only, and just those that the public header declares."""
import os
import re
import subprocess
import sys
from pathlib import Path

listing = subprocess.run(["nm", "-D", "--defined-only", os.environ["KEYFERRY_SHARED"]], text=True, check=True,
                         capture_output=True).stdout
# What the compiler's instrumentation adds is not ours.
exported = {line.split()[-1] for line in listing.splitlines()} - {"_init", "_fini"}
exported = {name for name in exported if not re.match(r"__(asan|ubsan|sanitizer|odr_asan|start|stop|llvm|gcov)_", name)}
header = (Path(os.environ["KEYFERRY_SOURCE"]) / "common/keyferry.h").read_text("utf-8")
declared = set(re.findall(r"^KF_API[^;(]*?\b(\w+)\(", header, re.M))

for name in sorted(exported - declared):
    print(f"exported, but not in keyferry.h: {name}")
for name in sorted(declared - exported):
    print(f"in keyferry.h, but not exported: {name}")
print(f"{len(exported)} exported symbols")
sys.exit(exported != declared or not all(name.startswith("kf_") for name in exported))
