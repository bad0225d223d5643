#!/usr/bin/env bash
# All tests on a clang build with sanitizers.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need_clang || skip "clang or its sanitizers are missing"

build=$root/build/full-clang
build_once "$build" -DCMAKE_C_COMPILER=clang -DKEYFERRY_WERROR=ON -DKEYFERRY_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_C_FLAGS_DEBUG=-O1 -g"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)"
