#!/usr/bin/env bash
# All tests on the optimised, uninstrumented build.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"

build=$root/build/full-release
build_once "$build" -DKEYFERRY_WERROR=ON
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)"
