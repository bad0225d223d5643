#!/usr/bin/env bash
# The release binary under valgrind, which sees uninitialised memory: every sample there and back, the tests of the
# command, its plans, and edits of all formats. The tests of each format, of turns and of the file system start it some
# 2000 times more, which would take a quarter of an hour; they run under the sanitizers.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need valgrind=valgrind parallel=parallel || skip "valgrind is missing"

cat >"$TMP/keyferry" <<EOF
#!/bin/sh
exec valgrind -q --error-exitcode=99 --leak-check=full --log-file="$TMP/report.%p" "$KEYFERRY" "\$@"
EOF
chmod +x "$TMP/keyferry"

status=0
for verb in verify check; do
    code=0
    "$TMP/keyferry" $verb "$root/tests/data" >"$TMP/out" 2>&1 || code=$?
    [ $code -le 1 ] || { tail -n 5 "$TMP/out" && status=1; } # 1: there are bad samples among them
done
# Plugins of a build without sanitizers: valgrind cannot load the others.
build_once "$root/build/full-release" -DKEYFERRY_WERROR=ON
export KEYFERRY=$TMP/keyferry KEYFERRY_BUILD=$root/build/full-release
printf '%s\n' "$root"/tests/cli/test_{command,plan,edits,edits_[!t]*}.py | xargs -P "$(nproc)" -n 1 python3 || status=1
find "$TMP" -name 'report.*' -size +0 -exec cat {} + >"$TMP/all"
cat "$TMP/all"
[ ! -s "$TMP/all" ] || status=1
exit $status
