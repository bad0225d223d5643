#!/usr/bin/env bash
# 32 bits: size_t is half as wide, and alignment differs. This machine runs them itself, with the cross compiler's libc.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need_build_tools
{ need i686-linux-gnu-gcc=gcc-i686-linux-gnu && CC=i686-linux-gnu-gcc need stdio.h=libc6-dev-i386-cross; } ||
    skip "The compiler for i386 is missing"

libc=/usr/i686-linux-gnu/lib
test_foreign i386 i686-linux-gnu "" -Wl,--dynamic-linker=$libc/ld-linux.so.2,-rpath,$libc
