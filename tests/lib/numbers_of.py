"""Comparing `keyferry dump` with what a second reader makes of the same file."""
import json
import math


def load(text):
    """JSON with every number a float, so that -0 stays what it is."""
    return json.loads(text, parse_int=float)


def difference(dumped, expected, digits, where=""):
    """The first place where the dump is not what was expected, numbers told with so many digits; None if there is none."""
    if isinstance(expected, dict):
        if not isinstance(dumped, dict) or set(dumped) != set(expected):
            return f"{where}: has {sorted(dumped)}, not {sorted(expected)}"
        items = [(f"{where}.{k}", dumped[k], v) for k, v in expected.items()]
    elif isinstance(expected, list):
        if not isinstance(dumped, list) or len(dumped) != len(expected):
            return f"{where}: {len(dumped)} items, not {len(expected)}"
        items = [(f"{where}[{i}]", *pair) for i, pair in enumerate(zip(dumped, expected))]
    elif isinstance(expected, (int, float)):
        told = float("%.*g" % (digits, expected))
        same = dumped == told and math.copysign(1, dumped) == math.copysign(1, told)
        return None if same else f"{where}: {dumped!r}, not {told!r}"
    else:
        return None if dumped == expected else f"{where}: {dumped!r}, not {expected!r}"
    return next((found for found in (difference(a, b, digits, at) for at, a, b in items) if found), None)
