"""planted.py TREE: builds the sources in TREE, with its build files in TREE/build, once as they are and once with each of
these errors in the X4 importer, and in the merge, which then restores too much. What comes back by way of the original is
right all the same; the tests must notice."""
import os
import re
import subprocess
import sys

TREE = sys.argv[1]
FOLDER = os.path.join(os.environ["KEYFERRY_SOURCE"], "tests", "cli")
IMPORTER = ("test_x4.py", "Reading", "Rebuilt.test_exact", "Restored.test_capsule")
MERGE = ("test_edits_all.py", "All.test_several_at_once", "All.test_region_in_blender")
KEYS, LISTS = "plugins/x4-ani/import_keys.c", "plugins/x4-ani/import.c"
DATA = "common/formats/x4_ani.h"
ERRORS = (
    ("control points exchanged", KEYS, "out = kfi_x4_point(index, 0), in = kfi_x4_point(index, 1);",
     "out = kfi_x4_point(index, 1), in = kfi_x4_point(index, 0);"),
    ("the same where a key is odd", KEYS, "return read_point(c, i, 0, i, &handles->out) && read_point(c, i + 1, 1, i + 1, &handles[1].in);",
     "return read_point(c, i, 1, i, &handles->out) && read_point(c, i + 1, 0, i + 1, &handles[1].in);"),
    ("radians taken for degrees", KEYS, ".value = value * unit,", ".value = value,"),
    ("the same where a key is odd", KEYS, "value = own_value * c->unit;", "value = own_value;"),
    ("step read as linear", KEYS, "[X4_STEP] = KF_STEP,", "[X4_STEP] = KF_LINEAR,"),
    ("the same where a key is odd", KEYS, "number == X4_STEP ? KF_STEP :", "number == X4_STEP ? KF_LINEAR :"),
    ("tension and bias exchanged", KEYS, ".tension = finite_number(key + X4_KEY_TENSION, &finite),",
     ".tension = finite_number(key + X4_KEY_BIAS, &finite),"),
    ("ease forgotten", KEYS, ".ease_out = finite_number(key + X4_KEY_EASE_OUT, &finite),", ".ease_out = 0,"),
    ("linear time with handles of a half", KEYS, "double part = (key[1].time - key->time) / 3.0;",
     "double part = (key[1].time - key->time) / 2.0;"),
    ("the same where a key is odd", KEYS, "handles->out.dt = (key[1].time - key->time) / 3.0;",
     "handles->out.dt = (key[1].time - key->time) / 2.0;"),
    ("y for z", LISTS, ".index = i,", ".index = i == 2 ? 1 : i,"),
    ("scale keys where the rotation keys are", DATA, "for (unsigned k = 0; k < kind; k++)", "for (unsigned k = 1; k < kind; k++)"),
    ("post-scale called pre-scale", LISTS, "kind == X4_PRE_SCALE ? X4_PRE_SCALE_NAME : X4_POST_SCALE_NAME",
     "kind == X4_PRE_SCALE ? X4_POST_SCALE_NAME : X4_PRE_SCALE_NAME"),
    ("the first duration, not the longest", LISTS, "at->end = fmax(at->end, duration_of(desc));",
     "at->end = at->end > 0 ? at->end : duration_of(desc);"),
)
MERGED = (
    ("all values are the same", "common/merge/internal.h", "return gap <= (relative > absolute ? relative : absolute);",
     "return gap <= 1e9 * (relative > absolute ? relative : absolute);"),
    ("values of keys are not looked at", "common/merge/keys.c", "        changed |= KF_CHANGED_VALUE;\n    /* The interpolation",
     "        changed |= 0;\n    /* The interpolation"),
    ("a bake is what was written", "common/merge/seen.c", "            if (same)\n                now[i] = own[i];",
     "            if (same || now[i] == now[i])\n                now[i] = own[i];"),
    ("a frame is what was written", "common/merge/samples.c", "        bool same = same_at(t, f, i);", "        bool same = i < f->count;"),
    ("a turn is what was written", "common/merge/quat.c", "> kfi_turn_limit(t) + thinned(t, time);", "> 1e9 + kfi_turn_limit(t) + thinned(t, time);"),
)


def failing(tests):
    """The tests that fail with what is in TREE now."""
    subprocess.run(["cmake", "--build", os.path.join(TREE, "build"), "--target", "keyferry"], check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run([sys.executable, os.path.join(FOLDER, tests[0]), *tests[1:]], capture_output=True, text=True,
                          env={**os.environ, "KEYFERRY_BUILD": os.path.join(TREE, "build")})
    return sorted(set(re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.M))), done


status = 0
for tests, errors in ((IMPORTER, ERRORS), (MERGE, MERGED)):
    failed, done = failing(tests)
    print("%-40s %s" % ("as it is", ", ".join(failed) or "passes"), flush=True)
    if failed or done.returncode:
        sys.exit(done.stderr[-2000:])
    for name, file, right, wrong in errors:
        path = os.path.join(TREE, file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        if text.count(right) != 1:
            sys.exit("%s: it no longer says \"%s\" once" % (file, right))
        with open(path, "w", encoding="utf-8") as source:
            source.write(text.replace(right, wrong))
        failed, _ = failing(tests)
        print("%-40s %s" % (name, ", ".join(failed) or "NOT NOTICED"), flush=True)
        status |= not failed
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)
sys.exit(status)
