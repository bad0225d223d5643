"""Where ufbx comes from: a folder that is named, an installed one, else get-ufbx; which ones are refused or told of;
and what is said where none is to be had. No network is used."""
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

source = Path(os.environ["KEYFERRY_SOURCE"])
wrong = []


def expect(what, done, code, *texts):
    out = " ".join((done.stdout + done.stderr).split())  # however the lines were broken
    if bool(done.returncode) != bool(code) or not all(text in out for text in texts):
        wrong.append(f"{what}: exit code {done.returncode}, expected {', '.join(texts)}\n{done.stdout}{done.stderr}")


def sources(folder, version):
    """What looks like ufbx of that version for as long as nobody compiles it."""
    folder.mkdir(parents=True)
    (folder / "ufbx.h").write_text(f"#define UFBX_HEADER_VERSION ufbx_pack_version({version})\n")
    (folder / "ufbx.c").write_text("/* nothing */\n")
    (folder / "LICENSE").write_text("none\n")
    return folder


def install(prefix, version):
    (prefix / "lib").mkdir(parents=True)
    (prefix / "lib/libufbx.a").write_bytes(b"!<arch>\n")
    sources(prefix / "include", version)
    return prefix


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


with tempfile.TemporaryDirectory() as name:
    scratch = Path(name)
    offline = {**os.environ, "PATH": f"{scratch}/offline:{os.environ['PATH']}", "XDG_CACHE_HOME": f"{scratch}/cache"}
    for tool in "apt-get", "git":
        program(scratch / "offline" / tool, "exit 1")

    def configure(*options):
        return subprocess.run(["cmake", "-S", source, "-B", scratch / "build", "-G", os.environ["KEYFERRY_GENERATOR"],
                               f"-DCMAKE_C_COMPILER={os.environ['KEYFERRY_CC']}", "-DKEYFERRY_TESTS=OFF", "-Uufbx*",
                               "-UUFBX*", "-UCMAKE_PREFIX_PATH", *options], text=True, capture_output=True, env=offline)

    def fetch(path):
        return subprocess.run([source / "ufbx/get-ufbx", scratch / path], text=True, capture_output=True, env=offline)

    # A folder that is named.
    named = sources(scratch / "named", "0, 18, 0")
    hashes = [hashlib.sha256((named / file).read_bytes()).hexdigest() for file in ("ufbx.c", "ufbx.h")]
    expect("a folder", configure(f"-DUFBX_DIR={named}"), 0, "ufbx 0.18.0", "not on the list of known releases", *hashes)
    old = sources(scratch / "old", "0, 17, 9")
    expect("an old one", configure(f"-DUFBX_DIR={old}"), 1, "ufbx 0.17.9", "too old: 0.18.0 or newer is needed")
    expect("no folder", configure(f"-DUFBX_DIR={scratch}/no"), 1, "does not hold ufbx.c and ufbx.h")
    real = Path(os.environ["KEYFERRY_UFBX"])
    if (real / "ufbx.sha256").exists():  # the one that get-ufbx fetched for this build
        expect("the real one", configure(f"-DUFBX_DIR={real}"), 0, "known sources in")

    # An installed one, which a named folder precedes.
    installed = install(scratch / "installed", "0, 20, 0")
    expect("installed", configure(f"-DCMAKE_PREFIX_PATH={installed}"), 0, "ufbx: 0.20.0, installed")
    expect("a folder first", configure(f"-DCMAKE_PREFIX_PATH={installed}", f"-DUFBX_DIR={named}"), 0, "ufbx 0.18.0")
    old = install(scratch / "installed-old", "0, 17, 0")
    expect("an old one installed", configure(f"-DCMAKE_PREFIX_PATH={old}"), 1, "0.17.0 is too old", "-DUFBX_DIR=")

    # None to be had: one message with the three ways.
    expect("offline", configure(), 1, "could not be fetched. Three ways to go on:", "1. configure with -DUFBX_DIR=",
           "2. install ufbx", "3. connect this machine")

    # get-ufbx: from the upstream repository, and then from what it kept, unless that was tampered with.
    program(scratch / "offline/git", 'for to; do :; done; echo "$*" >"$0.log"; mkdir "$to" && '
            f'cp {named}/ufbx.c {named}/ufbx.h {named}/LICENSE "$to"')
    expect("upstream", fetch("first"), 0, "ufbx 0.18.0 from https://github.com/ufbx/ufbx v0.20.0")
    if "--branch v0.20.0" not in (scratch / "offline/git.log").read_text():
        wrong.append("upstream: no pinned tag was asked for")
    record = (scratch / "first/ufbx.sha256").read_text()
    if not record.startswith("# ufbx 0.18.0 from ") or any(digest not in record for digest in hashes):
        wrong.append(f"upstream: what was recorded:\n{record}")
    program(scratch / "offline/git", "exit 1")
    expect("kept", fetch("second"), 0, "kept in the cache")
    for kept in (scratch / "cache/keyferry").rglob("ufbx.c"):
        kept.write_text("/* another */\n")
    expect("tampered with", fetch("third"), 1, "neither a Debian source package nor")
    if (scratch / "third").exists():
        wrong.append("tampered with: something was left behind")

print("\n".join(wrong) or "ufbx is found in its order")
sys.exit(bool(wrong))
