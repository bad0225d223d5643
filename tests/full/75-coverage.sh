#!/usr/bin/env bash
# Which lines and branches of common/ and plugins/ the tests reach: no fewer than the bar that scripts/coverage knows.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need gcovr=gcovr || skip "gcovr is missing"

"$root/scripts/coverage" | tee "$TMP/coverage"
sed -n 's/^\(lines\|branches\): /  &/p' "$TMP/coverage" >"$TMP/table"
