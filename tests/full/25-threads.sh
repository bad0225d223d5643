#!/usr/bin/env bash
# What runs in threads, the command and the library's registry, under ThreadSanitizer.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"

build=$root/build/full-threads
build_once "$build" -DKEYFERRY_TSAN=ON -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-O1 -g"
ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" -R '^(cli\.(command|tree|plan|kill)|unit\.registry)'
