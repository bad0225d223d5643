#!/usr/bin/env bash
# Blender reads every node, channel and key of what we write. It reads binary files only.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need blender=blender || skip "Blender is missing"

programs=$root/tests/full/programs
python3 "$programs/scene.py" write "$TMP/scene.fbx"
for version in 7400 7500; do
    echo "== $version"
    "$KEYFERRY" convert "$TMP/scene.fbx" "$TMP/$version.fbx" --fbx-version $version
    blender --background --python-exit-code 1 --python "$programs/blender.py" -- "$TMP/$version.fbx" "$TMP/found.json"
    python3 "$programs/scene.py" compare "$TMP/found.json"
done
