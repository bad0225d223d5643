"""The installed package serves a program: found by CMake and by pkg-config, shared and static, after being moved."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

source = Path(os.environ["KEYFERRY_SOURCE"])
build = os.environ["KEYFERRY_BUILD"]
cc = os.environ["KEYFERRY_CC"]
flags = os.environ["KEYFERRY_INSTRUMENT"].split()
example = source / "tests/example/example.c"

SAMPLE = """; FBX 7.4.0 project file
FBXHeaderExtension:  {
    FBXVersion: 7400
}
Objects:  {
    Model: 1, "Model::door", "Null" {
        Version: 232
    }
    AnimationStack: 2, "AnimStack::open", "" {
        Properties70:  {
            P: "LocalStop", "KTime", "Time", "", 46186158000
        }
    }
    AnimationLayer: 3, "AnimLayer::base", "" {
    }
    AnimationCurveNode: 4, "AnimCurveNode::T", "" {
    }
    AnimationCurve: 5, "AnimCurve::", "" {
        KeyVer: 4008
        KeyTime: *2 {
            a: 0,46186158000
        }
        KeyValueFloat: *2 {
            a: 0,1
        }
        KeyAttrFlags: *1 {
            a: 4
        }
        KeyAttrDataFloat: *4 {
            a: 0,0,0,0
        }
        KeyAttrRefCount: *1 {
            a: 2
        }
    }
}
Connections:  {
    C: "OO",1,0
    C: "OO",3,2
    C: "OO",4,3
    C: "OP",4,1, "Lcl Translation"
    C: "OP",5,4, "d|X"
}
"""


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    scratch = Path(folder)
    run("cmake", "--install", build, "--prefix", scratch / "staged")
    prefix = (scratch / "staged").rename(scratch / "moved")
    lib = next(prefix.rglob("keyferry.pc")).parent.parent
    programs = [scratch / "cmake/example-shared", scratch / "cmake/example-static"]

    run("cmake", "-S", example.parent, "-B", scratch / "cmake", "-G", os.environ["KEYFERRY_GENERATOR"],
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_C_FLAGS={' '.join(flags)}")
    run("cmake", "--build", scratch / "cmake")

    if shutil.which("pkg-config"):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(lib / "pkgconfig")}
        shared = run("pkg-config", "--cflags", "--libs", "keyferry", env=environment).split()
        static = run("pkg-config", "--static", "--cflags", "--libs", "keyferry", env=environment)
        static = static.replace("-lkeyferry", "-l:libkeyferry.a").split()
        for name, options in ("shared", shared), ("static", static):
            run(cc, "-std=c11", *flags, "-o", scratch / name, example, *options)
            programs.append(scratch / name)
    elif os.environ.get("CI") == "true":
        sys.exit("pkg-config is missing")

    sample = scratch / "sample.fbx"
    sample.write_text(SAMPLE)
    outputs = {run(program, sample, env={**os.environ, "LD_LIBRARY_PATH": str(lib)}) for program in programs}
    print(f"{len(programs)} programs say:\n{''.join(outputs)}")
    sys.exit(len(outputs) != 1 or 'take "open": 1 tracks, 0 to 1 s' not in outputs.pop())
