#!/usr/bin/env bash
# Each fuzz target for a short while, from its seeds, the files that once made trouble and what earlier runs kept on. The
# dice are the same each time, so that what passed passes again; the long runs of scripts/fuzz throw others.
set -euo pipefail
. "$KEYFERRY_SOURCE/scripts/lib.sh"
need_clang || skip "clang or its libFuzzer is missing"

targets=$("$root/scripts/fuzz")
xargs -P "$(nproc)" -I TARGET "$root/scripts/fuzz" TARGET "${KEYFERRY_FUZZ_SECONDS:-30}" -seed=1 <<<"$targets"
