#!/usr/bin/env bash
# Every format to Blender and back, with its default export settings and with ours, untouched and edited.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need blender=blender || skip "Blender is missing"

python3 "$root/tests/full/programs/trip.py" "$TMP"
python3 "$root/tests/full/programs/trip_edits.py" "$TMP/edits"
python3 "$root/tests/full/programs/trip_more.py" "$TMP/more"
