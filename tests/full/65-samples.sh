#!/usr/bin/env bash
# Blender and assimp read every node, take, key and (Blender) shape key of the FBX files of every format.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need blender=blender assimp/cimport.h=libassimp-dev || skip "Blender or assimp is missing"

programs=$root/tests/full/programs
python3 "$programs/samples.py" write "$TMP"
"${CC:-cc}" -o "$TMP/assimp" "$programs/assimp.c" -lassimp
blender --background --python-exit-code 1 --python "$programs/samples_blender.py" -- "$TMP" >"$TMP/blender.log" 2>&1 ||
    { tail "$TMP/blender.log" && exit 1; }
python3 "$programs/samples.py" compare "$TMP" "$TMP/assimp"
