#!/usr/bin/env bash
# The release binary under valgrind, which sees uninitialised memory: every sample there and back, and the tests of the
# command. They start it some 9000 times, which would take hours: of each test's starts one in ten runs in valgrind. Left out
# are tests that make the system's calls fail, take memory away or end the program: what they do is done to valgrind, too; and
# that of the library in another program, and two whose searches for keys would take too long.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need valgrind=valgrind parallel=parallel || skip "valgrind is missing"

cat >"$TMP/valgrind" <<EOF
#!/bin/sh
exec valgrind -q --error-exitcode=99 --leak-check=full --log-file="$TMP/report.%p" "$KEYFERRY" "\$@"
EOF
cat >"$TMP/keyferry" <<EOF
#!/bin/sh
read -r count 2>/dev/null <"$TMP/starts.\$PPID" || count=0
echo \$((count + 1)) >"$TMP/starts.\$PPID"
[ \$((count % ${KEYFERRY_VALGRIND_EACH:-10})) != 0 ] && exec "$KEYFERRY" "\$@"
exec "$TMP/valgrind" "\$@"
EOF
chmod +x "$TMP/valgrind" "$TMP/keyferry"

status=0
for verb in verify check; do
    code=0
    "$TMP/valgrind" $verb "$root/tests/data" >"$TMP/out" 2>&1 || code=$?
    [ $code -le 1 ] || { tail -n 5 "$TMP/out" && status=1; } # 1: there are bad samples among them
done
# Plugins of a build without sanitizers: valgrind cannot load the others.
build_once "$root/build/full-release" -DKEYFERRY_WERROR=ON
export KEYFERRY=$TMP/keyferry KEYFERRY_BUILD=$root/build/full-release KEYFERRY_TEST_TIMEOUT=1200
find "$root/tests/cli" -name 'test_*.py' | grep -vE '/test_(disk|files|hostile|kill|memory|probe|system|tree|edits_turns|fit_regions)\.py' | sort |
    xargs -P "$(nproc)" -n 1 python3 || status=1
find "$TMP" -name 'report.*' -size +0 -exec cat {} + >"$TMP/all"
cat "$TMP/all"
[ ! -s "$TMP/all" ] || status=1
find "$TMP" -name 'report.*' | wc -l | sed 's/^/  starts in valgrind: /' >"$TMP/table"
exit $status
