#!/usr/bin/env bash
# assimp reads every node, channel and key of what we write.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need assimp/cimport.h=libassimp-dev || skip "assimp is missing"

programs=$root/tests/full/programs
"${CC:-cc}" -o "$TMP/assimp" "$programs/assimp.c" -lassimp
python3 "$programs/scene.py" write "$TMP/scene.fbx"
for options in "--fbx-version 7400" "--fbx-version 7500" --ascii; do
    echo "== $options"
    # shellcheck disable=SC2086
    "$KEYFERRY" convert -y "$TMP/scene.fbx" "$TMP/out.fbx" $options
    "$TMP/assimp" "$TMP/out.fbx" >"$TMP/found.json"
    python3 "$programs/scene.py" compare "$TMP/found.json"
done
