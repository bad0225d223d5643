#!/bin/sh
# In the command's place: an FBX that goes home does so first, on trial, where memory runs out; see failing.c.
bin=$(dirname "$KEYFERRY_SHARED")
case "$1 $2" in
"convert "*.fbx)
    "$bin/tests/keyferry-failing" "$@" --dry-run >/dev/null 2>"$KEYFERRY_WAYS.said"
    if [ $? = 70 ]; then
        cat "$KEYFERRY_WAYS.said" >&2
        exit 70
    fi
    ;;
esac
exec "$bin/keyferry" "$@"
