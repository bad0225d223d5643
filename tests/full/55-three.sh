#!/usr/bin/env bash
# three.js reads every node, take and key of what we write: of a scene of all kinds of keys, and of every sample.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need node=nodejs npm=npm || skip "node is missing"

programs=$root/tests/full/programs
cp "$programs/three.mjs" "$TMP"
npm install --prefix "$TMP" --no-audit --no-fund --no-save three@0.180.0 || skip "three.js could not be fetched"
python3 "$programs/scene.py" write "$TMP/scene.fbx"
for options in "--fbx-version 7400" "--fbx-version 7500" --ascii; do
    echo "== $options"
    # shellcheck disable=SC2086
    "$KEYFERRY" convert -y "$TMP/scene.fbx" "$TMP/out.fbx" $options
    node "$TMP/three.mjs" "$TMP/out.fbx"
    python3 "$programs/scene.py" compare "$TMP/out.fbx.three"
done
mkdir "$TMP/samples"
python3 "$programs/samples.py" write "$TMP/samples"
node "$TMP/three.mjs" "$TMP"/samples/*.fbx
python3 "$programs/samples.py" compare "$TMP/samples"
