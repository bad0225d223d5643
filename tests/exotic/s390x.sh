#!/usr/bin/env bash
# Big-endian: a number read or written by its bytes in memory comes out wrong here.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need_build_tools
{ need s390x-linux-gnu-gcc=gcc-s390x-linux-gnu qemu-s390x=qemu-user &&
    CC=s390x-linux-gnu-gcc need stdio.h=libc6-dev-s390x-cross; } || skip "The compiler for s390x or qemu is missing"

test_foreign s390x s390x-linux-gnu "qemu-s390x;-L;/usr/s390x-linux-gnu"
