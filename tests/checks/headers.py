"""Every header compiles alone; the public one as C11 and as C++17, without a warning."""
import os
import subprocess
import sys
from pathlib import Path

root = Path(os.environ["KEYFERRY_SOURCE"])
common = root / "common"
cc = os.environ["KEYFERRY_CC"]
cxx = os.environ.get("CXX", "c++")
warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compiles(command, header):
    done = subprocess.run([*command, "-fsyntax-only", "-"], input=f'#include "{header}"\nint alone;\n', text=True,
                          capture_output=True)
    if done.returncode:
        print(f"{header} does not compile alone with {' '.join(command)}\n{done.stderr}")
    return done.returncode == 0


ok = compiles([cc, "-std=c11", "-xc", *warnings, f"-I{common}"], "keyferry.h")
ok &= compiles([cxx, "-std=c++17", "-xc++", *warnings, f"-I{common}"], "keyferry.h")
headers = sorted([*common.rglob("*.h"), *(root / "plugins").rglob("*.h")])
for header in headers:
    ok &= compiles([cc, "-std=c11", "-xc", *warnings, "-D_XOPEN_SOURCE=700", f"-I{common}",
                    "-isystem", os.environ["KEYFERRY_UFBX"]], header)
print(f"{len(headers)} headers")
sys.exit(not ok or not headers)
