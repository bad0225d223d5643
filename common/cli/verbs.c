/* The verbs: what each takes, and its help. */
#include "cli.h"

#define READING " --from --fps --rotation-order --rig --max-memory "
#define WRITING " --for --bake --tcb --tolerance --fbx-version --ascii --strict "

#define READING_HELP                                                                                         \
    "  --from ID              the input's format, where its bytes do not tell (keyferry formats)\n"          \
    "  --fps N                frames a second, for formats that store none\n"                                \
    "  --rotation-order XYZ   for formats that leave it open: XYZ, XZY, YZX, YXZ, ZXY or ZYX\n"              \
    "  --rig FILE             the skeleton, for formats that keep it in another file\n"                      \
    "  --max-memory BYTES     refuse to take more (K, M, G behind the number); else 64 times the input\n"

#define WRITING_HELP                                                                                         \
    "  --for PROGRAM          maya, max, motionbuilder or blender: write what that program reads best\n"     \
    "  --bake[=FPS]           a linear key on every frame\n"                                                 \
    "  --tcb native|slopes    TCB keys as FBX TCB keys, or their exact shape as tangents\n"                  \
    "  --tolerance X          how far a curve may be off, in units or degrees\n"                             \
    "  --fbx-version N        7400 or 7500 (the default)\n"                                                  \
    "  --ascii                FBX as text\n"                                                                 \
    "  --strict               what cannot be expressed is an error, not a warning\n"

static const char CONVERT_HELP[] =
    "usage: keyferry convert [OPTION...] IN... OUT\n"
    "\n"
    "A game file becomes an FBX; an FBX becomes the game file it came from, with the edits that were made "
    "and all else\n"
    "as it was. The original travels in the FBX and in a sidecar beside it (NAME.fbx.kf), or is given with "
    "--base.\n"
    "\n"
    "examples:\n"
    "  keyferry convert door.ani door.fbx             one file\n"
    "  keyferry convert door.fbx door.ani             and back\n"
    "  keyferry convert a.anm b.anm out.fbx           parts of one animation\n"
    "  keyferry convert DIR out.fbx                   all files of a folder as parts of one animation\n"
    "  keyferry convert out.fbx DIR/                  back into a folder, under the originals' names\n"
    "  keyferry convert DIR OUTDIR/ --to fbx          a whole tree, each file by itself\n"
    "  keyferry convert - out.fbx --from x4-ani       from standard input\n"
    "\n"
    "options:\n"
    "  --to ID                the output's format; else the one it came from, else by the "
    "extension\n" READING_HELP WRITING_HELP
    "  --base FILE            the original to bring edits into; may be given for each part, or a folder\n"
    "  --split-takes          an FBX for each take\n"
    "  --drop-missing         delete what did not come back in the FBX; else it is kept\n"
    "  --no-capsule           do not store the original in the FBX\n"
    "  --no-sidecar           do not write NAME.fbx.kf\n"
    "  --dry-run              say what would be done, write nothing; exits as the real run would\n"
    "  --json                 the result as a line of JSON for each conversion\n"
    "  --jobs N               threads for many files; else one for each processor\n"
    "  --newer                leave alone what is newer than its input\n"
    "  -y                     overwrite\n"
    "  -n                     never overwrite, and do not ask\n";

static const char VERIFY_HELP[] =
    "usage: keyferry verify [OPTION...] FILE|DIR...\n"
    "\n"
    "Carries each game file to FBX and back in memory, twice: with its original, when it must come back byte "
    "for byte,\n"
    "and without, when it must stay within tolerance, except where a warning named what FBX cannot hold.\n"
    "One line for each file; exit code 1 if any fails.\n"
    "\n"
    "examples:\n"
    "  keyferry verify door.ani\n"
    "  keyferry verify --for maya animations/\n"
    "\n"
    "options:\n" READING_HELP WRITING_HELP "  --json                 a line of JSON for each file\n"
    "  --jobs N               threads; else one for each processor\n";

static const char INFO_HELP[] =
    "usage: keyferry info [OPTION...] FILE\n"
    "\n"
    "What the file is: format, nodes, takes with their spans, keys and the range of their values.\n"
    "\n"
    "examples:\n"
    "  keyferry info door.ani\n"
    "  keyferry info --json door.fbx\n"
    "\n"
    "options:\n" READING_HELP "  --json                 as JSON\n";

static const char DUMP_HELP[] = "usage: keyferry dump [OPTION...] FILE\n"
                                "\n"
                                "The whole animation as JSON on standard output: nodes, takes, tracks, keys. "
                                "Times in seconds, angles in degrees.\n"
                                "\n"
                                "examples:\n"
                                "  keyferry dump door.ani > door.json\n"
                                "  keyferry dump - --from x4-ani < door.ani\n"
                                "\n"
                                "options:\n" READING_HELP;

static const char DIFF_HELP[] =
    "usage: keyferry diff [OPTION...] A B\n"
    "\n"
    "How far two animations are apart, whatever their formats: for each node and channel the worst "
    "difference and its\n"
    "time, and the keys that B has more, less or otherwise. Rotations are compared as orientations.\n"
    "Exit code 1 if anything is beyond tolerance or on one side only.\n"
    "\n"
    "examples:\n"
    "  keyferry diff door.ani door.fbx\n"
    "  keyferry diff old.ani new.ani --tolerance 0.001 --json\n"
    "\n"
    "options:\n"
    "  --tolerance X          in units, degrees or scale; else 1e-4 of a curve's range or 1e-4 units, 0.01 "
    "degrees\n" READING_HELP "  --json                 as JSON\n";

static const char CHECK_HELP[] =
    "usage: keyferry check [OPTION...] FILE|DIR...\n"
    "\n"
    "Is it well formed? Every problem is told with its offset, field, what was expected and what was found.\n"
    "Exit code 1 if there is any.\n"
    "\n"
    "examples:\n"
    "  keyferry check door.ani\n"
    "  keyferry check --json animations/\n"
    "\n"
    "options:\n" READING_HELP "  --json                 a line of JSON for each file\n"
    "  --jobs N               threads; else one for each processor\n";

static const char EXPLAIN_HELP[] =
    "usage: keyferry explain [OPTION...] FILE --for PROGRAM\n"
    "\n"
    "What the program will keep, change and drop of this animation, and what Keyferry restores on the way "
    "back.\n"
    "\n"
    "example:\n"
    "  keyferry explain door.ani --for blender\n"
    "\n"
    "options:\n"
    "  --for PROGRAM          maya, max, motionbuilder or blender\n" READING_HELP;

static const char PLAN_HELP[] =
    "usage: keyferry plan [OPTION...] DIR OUTDIR/\n"
    "\n"
    "Converts nothing, but prints how: a Ninja file with one rule for each file that convert DIR OUTDIR/ would "
    "convert,\n"
    "or a list of commands, one a line, in any order, for engines that run them on many machines.\n"
    "Ninja makes anew what its input or its options changed, also an FBX that was edited since: edit in another folder.\n"
    "\n"
    "examples:\n"
    "  keyferry plan animations fbx/ > plan.ninja && ninja -k 0 -f plan.ninja\n"
    "  keyferry plan animations fbx/ --commands | parallel --sshloginfile hosts --wd .\n"
    "\n"
    "options: those of convert, which the commands repeat, and\n"
    "  --commands             a list of commands; -y, -n and --newer go with it alone (Ninja knows what is newer)\n"
    "  --jobs N               threads for the planning; else one for each processor\n";

static const char FORMATS_HELP[] = "usage: keyferry formats [--json]\n"
                                   "\n"
                                   "The formats that are built in, and those loaded from plugins (with their "
                                   "files): id, extensions, title.\n"
                                   "\n"
                                   "example:\n"
                                   "  KEYFERRY_PLUGIN_PATH=/opt/plugins keyferry formats\n"
                                   "\n"
                                   "options:\n"
                                   "  --json                 as JSON, with what each can store\n";

const verb VERBS[] = {
    {"convert", run_convert,
     READING WRITING
     " --to --base --split-takes --drop-missing --no-capsule --no-sidecar --dry-run --json --jobs --newer"
     " -y -n ",
     CONVERT_HELP},
    {"verify", run_verify, READING WRITING " --json --jobs ", VERIFY_HELP},
    {"info", run_info, READING " --json ", INFO_HELP},
    {"dump", run_dump, READING, DUMP_HELP},
    {"diff", run_diff, READING " --json --tolerance ", DIFF_HELP},
    {"check", run_check, READING " --json --jobs ", CHECK_HELP},
    {"explain", run_explain, READING " --for ", EXPLAIN_HELP},
    {"plan", run_plan,
     READING WRITING " --to --base --split-takes --drop-missing --no-capsule --no-sidecar --jobs --newer -y -n"
                     " --commands ",
     PLAN_HELP},
    {"formats", run_formats, " --json ", FORMATS_HELP},
    {0},
};
