#!/usr/bin/env bash
# Blender and assimp read every node, take and key of every sample's FBX.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need blender=blender assimp/cimport.h=libassimp-dev || skip "Blender or assimp is missing"

programs=$root/tests/full/programs
python3 "$programs/samples.py" write "$TMP"
"${CC:-cc}" -o "$TMP/assimp" "$programs/assimp.c" -lassimp
blender --background --python-exit-code 1 --python "$programs/samples_blender.py" -- "$TMP" >"$TMP/blender.log" 2>&1 ||
    { tail "$TMP/blender.log" && exit 1; }
status=0
grep "shape keys" "$TMP/blender.log"
[ "$(grep "shape keys" "$TMP/blender.log")" = "$(python3 "$programs/samples.py" shapes "$TMP")" ] ||
    { echo "Blender does not have every shape key" && status=1; }
for fbx in "$TMP"/*.fbx; do
    "$TMP/assimp" "$fbx" >"$TMP/assimp.json"
    for found in "$fbx.json" "$TMP/assimp.json"; do
        python3 "$programs/samples.py" compare "$fbx" "$found" || { echo "    $found" && status=1; }
    done
done
exit $status
