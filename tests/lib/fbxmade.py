"""Writes small ASCII FBX files as a program would that knows nothing of us: no wrapper, no original, any frame rate."""
TICKS = 46186158000
TIME_MODES = {24: 11, 25: 10, 30: 6, 60: 3}
PROPERTIES = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling", "V": "Visibility"}
STEP, LINEAR = 0x2, 0x4


def array(name, values):
    return f"{name}: *{len(values)} {{\na: {','.join(map(str, values))}\n}}"


def properties(*items):
    return "Properties70: {\n" + "\n".join(f'P: "{n}", "{t}", "", "A",{",".join(map(str, v))}' for n, t, v in items) + "\n}"


def scene(nodes, rate=24, end=1.0, start=None):
    """A take from `start` to `end`; without a start it spans its keys. `nodes`: {name: {"parent": name, "rest": {"T": (x, y, z)}, "T"|"R"|"S": (x keys, y keys, z keys), "V": keys}}, each
    key (seconds, value), (seconds, value, flags) or (seconds, value, flags, its four attribute words)."""
    number = iter(range(1000, 100000))
    ids = {name: next(number) for name in nodes}
    stack, layer = next(number), next(number)
    span = [(f"{whose}{which}", "KTime", [round(time * TICKS)]) for whose in ("Local", "Reference")
            for which, time in (("Start", start), ("Stop", end)) if time is not None]
    objects = [f'AnimationStack: {stack}, "AnimStack::Take 001", "" {{\n' + properties(*span) + "\n}",
               f'AnimationLayer: {layer}, "AnimLayer::Base", "" {{\nProperties70: {{\n}}\n}}']
    links = [f'C: "OO",{layer},{stack}']
    for name, node in nodes.items():
        rest = [(PROPERTIES[c], PROPERTIES[c], v) for c, v in node.get("rest", {}).items()]
        objects.append(f'Model: {ids[name]}, "Model::{name}", "Null" {{\nVersion: 232\n' + properties(*rest) + "\n}")
        links.append(f'C: "OO",{ids[name]},{ids.get(node.get("parent"), 0)}')
        for channel in "TRSV":
            if channel not in node:
                continue
            curves = [node[channel]] if channel == "V" else node[channel]
            names = ["d|Visibility"] if channel == "V" else ["d|X", "d|Y", "d|Z"]
            group = next(number)
            objects.append(f'AnimationCurveNode: {group}, "AnimCurveNode::{channel}", "" {{\n' +
                           properties(*((n, "Number", [keys[0][1]]) for n, keys in zip(names, curves))) + "\n}")
            links += [f'C: "OO",{group},{layer}', f'C: "OP",{group},{ids[name]}, "{PROPERTIES[channel]}"']
            for part, keys in zip(names, curves):
                curve = next(number)
                lines = [f"Default: {keys[0][1]}", "KeyVer: 4009", array("KeyTime", [round(k[0] * TICKS) for k in keys]),
                         array("KeyValueFloat", [k[1] for k in keys]),
                         array("KeyAttrFlags", [k[2] if len(k) > 2 else LINEAR for k in keys]),
                         array("KeyAttrDataFloat", [word for k in keys for word in (k[3] if len(k) > 3 else (0, 0, 0, 0))]), array("KeyAttrRefCount", [1] * len(keys))]
                objects.append(f'AnimationCurve: {curve}, "AnimCurve::", "" {{\n' + "\n".join(lines) + "\n}")
                links.append(f'C: "OP",{curve},{group}, "{part}"')
    settings = properties(("UpAxis", "int", [1]), ("UpAxisSign", "int", [1]), ("FrontAxis", "int", [2]), ("FrontAxisSign", "int", [1]),
                          ("CoordAxis", "int", [0]), ("CoordAxisSign", "int", [1]), ("UnitScaleFactor", "double", [1]),
                          ("TimeMode", "enum", [TIME_MODES[rate]]))
    return ("; FBX 7.5.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7500\n}\nGlobalSettings: {\n"
            f"Version: 1000\n{settings}\n}}\nObjects: {{\n" + "\n".join(objects) + "\n}\nConnections: {\n" + "\n".join(links) + "\n}\n")
