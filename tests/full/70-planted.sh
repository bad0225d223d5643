#!/usr/bin/env bash
# Errors planted in the X4 importer and in the merge, one at a time: tests fail, although every FBX carries its original.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need_build_tools && need python3=python3 || skip "The build tools are missing"

cp -R "$root"/{CMakeLists.txt,common,plugins,ufbx,scripts} "$TMP"
cmake -S "$TMP" -B "$TMP/build" -G Ninja -DKEYFERRY_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug >"$TMP/log"
KEYFERRY=$TMP/build/keyferry python3 "$root/tests/full/programs/planted.py" "$TMP"
