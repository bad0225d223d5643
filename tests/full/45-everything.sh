#!/usr/bin/env bash
# Blender and assimp read the scene that has everything (tests/unit/helper_scene.c): nodes, shapes, properties, and the
# keys of every channel that they know.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need blender=blender assimp/cimport.h=libassimp-dev || skip "Blender or assimp is missing"

programs=$root/tests/full/programs
KEYFERRY_FBX_OUT=$TMP "$KEYFERRY_TEST_BUILD/tests/test_fbx_write"
"${CC:-cc}" -o "$TMP/assimp" "$programs/assimp.c" -lassimp
for version in 7400 7500; do
    echo "== Blender, $version"
    blender --background --python-exit-code 1 --python "$programs/everything.py" -- "$TMP/$version.fbx" "$TMP/keys.tsv"
done
for name in 7400 7500 ascii; do
    echo "== assimp, $name"
    "$TMP/assimp" "$TMP/$name.fbx" >"$TMP/found.json"
    python3 "$programs/everything.py" "$TMP/found.json" "$TMP/keys.tsv"
done
