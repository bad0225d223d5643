#!/usr/bin/env bash
# What the samples cost in instructions, against the counts that are stored: within 2 % with the same compiler.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need valgrind=valgrind readelf=binutils || skip "valgrind is missing"

python3 "$root/tests/bench/cost.py" compare "$KEYFERRY" "$root/tests/bench/cost.json" "$TMP"
