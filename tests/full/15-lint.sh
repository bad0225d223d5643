#!/usr/bin/env bash
# clang-tidy (.clang-tidy has its checks) and cppcheck find nothing. Left out of cppcheck's style group is taste
# (scopes, brackets), and its search for uninitialised variables, which takes an address for a use; clang's analyzer,
# the compilers' warnings and valgrind look for those.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need clang=clang clang-tidy=clang-tidy cppcheck=cppcheck || skip "clang-tidy or cppcheck is missing"

build=$root/build/full-lint
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DKEYFERRY_TESTS=OFF \
    >"$TMP/log" 2>&1 || { cat "$TMP/log" && exit 1; }
cd "$root"
status=0
find common plugins -name '*.c' | sort | xargs -P "$(nproc)" -n 6 clang-tidy --quiet -p "$build" 2>"$TMP/log" ||
    { tail -n 3 "$TMP/log" && status=1; }
off=(variableScope clarifyCalculation uninitvar legacyUninitvar missingIncludeSystem
    knownConditionTrueFalse internalAstError) # it loses its way behind a loop; a compound literal in ?: is too much for it
cppcheck -j "$(nproc)" --quiet --error-exitcode=1 --std=c11 --enable=warning,style,performance,portability --inline-suppr \
    "${off[@]/#/--suppress=}" -DKEYFERRY_PLUGIN_DIR='""' -Icommon -Iplugins common plugins || status=1
exit $status
