#!/usr/bin/env bash
# keyferry.exe, built with MinGW and run by Wine, does what the command does here, to the byte.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
[ -x /usr/lib/wine/wine64 ] || need wine64-program=wine64 || skip "Wine is missing"

exe=$("$root/scripts/windows")
export WINEPREFIX=$TMP/wine WINEDEBUG=-all HERE=$KEYFERRY KEYFERRY=$TMP/keyferry KEYFERRY_BUILD=$KEYFERRY_TEST_BUILD
printf '#!/bin/sh\nexec /usr/lib/wine/wine64 "%s" "$@"\n' "$exe" >"$KEYFERRY"
chmod +x "$KEYFERRY"
"$KEYFERRY" --version # makes the prefix
python3 "$root/tests/full/programs/windows.py"
