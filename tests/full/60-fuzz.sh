#!/usr/bin/env bash
# Each fuzz target for a short while, from its files in tests/fuzz and tests/data on.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need clang=clang || skip "clang is missing"
seconds=${KEYFERRY_FUZZ_SECONDS:-30}

build=$root/build/full-fuzz
build_once "$build" -DCMAKE_C_COMPILER=clang -DKEYFERRY_FUZZ=ON -DKEYFERRY_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo

mkdir -p "$TMP/seeds/fbx"
python3 "$root/tests/full/programs/scene.py" write "$TMP/scene.fbx"
"$KEYFERRY" convert "$TMP/scene.fbx" "$TMP/seeds/fbx/7400.fbx" --fbx-version 7400
"$KEYFERRY" convert "$TMP/scene.fbx" "$TMP/seeds/fbx/7500.fbx" --fbx-version 7500
"$KEYFERRY" convert "$TMP/scene.fbx" "$TMP/seeds/fbx/ascii.fbx" --ascii

status=0
for target in "$build"/tests/fuzz-*; do
    format=${target##*/fuzz-}
    mkdir "$TMP/$format"
    seeds=()
    for folder in "$root/tests/fuzz/$format" "$root/tests/data/$format" "$TMP/seeds/$format"; do
        [ ! -d "$folder" ] || seeds+=("$folder")
    done
    echo "== $format"
    if ! "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -max_len=65536 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$build/crash-$format-" "$TMP/$format" "${seeds[@]}"; then
        echo "The input is kept as $build/crash-$format-*; put it into tests/fuzz/$format once it is mended."
        status=1
    fi
done
exit $status
