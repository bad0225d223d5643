/* What a program will keep, change and drop of this very animation, what the conversion will warn of, and what comes home all the
 * same. */
#include "fbx/capsule.h"
#include "fbx/lower.h"
#include "fbx/lower_bake.h"
#include "format.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct counts {
    size_t keys, tracks;
    size_t tcb, cubic, stepped, linear, eased,
        quat_keys; /* of what moves; visibility and custom channels are told apart */
    size_t visibility, morph, custom;
    size_t long_names, long_takes, odd_names;
    size_t coded_names; /* with more than ASCII letters, digits and _, or a digit in front */
    size_t through_zero, mirrored; /* tracks with a scale that is or passes 0, or is below it */
    size_t shape_takes;            /* takes but the first that animate nothing but shapes */
} counts;

static void count_curve(const kf_curve *curve, counts *n)
{
    for (size_t i = 0; i < curve->count; i++) {
        uint8_t interp = curve->keys[i].interp;
        n->tcb += interp == KF_TCB;
        n->cubic += interp == KF_BEZIER || interp == KF_HERMITE || interp == KF_AUTO;
        n->stepped += interp == KF_STEP || interp == KF_STEP_NEXT;
        n->linear += interp == KF_LINEAR;
        n->eased += curve->tcb && (curve->tcb[i].ease_in != 0 || curve->tcb[i].ease_out != 0);
    }
}

static void count_scale(const kf_track *track, counts *n)
{
    bool zero = false, below = false;
    for (unsigned c = 0; c < track->curves; c++) {
        for (size_t i = 0; i < track->curve[c].count; i++) {
            double value = track->curve[c].keys[i].value;
            zero = zero || value == 0 || (i > 0 && (value < 0) != (track->curve[c].keys[i - 1].value < 0));
            below = below || value < 0;
        }
    }
    n->through_zero += zero;
    n->mirrored += below;
}

static counts count_all(const kf_anim *anim)
{
    counts n = {0};
    for (size_t t = 0; t < anim->take_count; t++) {
        bool shapes = t > 0 && anim->takes[t].track_count > 0;
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            const kf_track *track = &anim->takes[t].tracks[i];
            n.tracks++;
            shapes = shapes && track->channel == KF_MORPH;
            if (track->channel == KF_SCALE)
                count_scale(track, &n);
            n.visibility += track->channel == KF_VISIBILITY;
            n.morph += track->channel == KF_MORPH;
            n.custom += track->channel == KF_CUSTOM;
            n.quat_keys += track->quat.count;
            n.keys += track->quat.count;
            for (unsigned c = 0; c < track->curves; c++) {
                n.keys += track->curve[c].count;
                if (track->channel != KF_VISIBILITY && track->channel != KF_CUSTOM)
                    count_curve(&track->curve[c], &n);
            }
        }
        n.shape_takes += shapes;
    }
    for (size_t t = 0; t < anim->take_count; t++)
        n.long_takes += anim->take_count > 1 && strlen(anim->takes[t].name) > 22;
    for (size_t i = 0; i < anim->node_count; i++) {
        const char *name = anim->nodes[i].name;
        n.long_names += strlen(name) > 40;
        bool plain = !(name[0] >= '0' && name[0] <= '9');
        for (const char *at = name; *at; at++)
            plain = plain && ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_');
        n.coded_names += !plain;
        n.odd_names += !kfi_utf8_valid(name, strlen(name)) || strpbrk(name, "|:%\"&") != NULL;
    }
    return n;
}

typedef struct page {
    const kf_sink *sink;
    bool ok;
} page;

KFI_PRINTF(2, 3) static void say(page *p, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (length < 0 || !p->ok)
        return;
    size_t size = (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 2;
    line[size++] = '\n';
    p->ok = p->sink->append(p->sink->user, line, size);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* What a conversion to FBX for that program would warn of, and an FBX as it is: made aside, to no other end. */
static void explain_warnings(page *p, kf_job *job, const kf_anim *anim, kf_program program)
{
    kf_job aside = kfi_aside(job);
    kfi_lower_options lower;
    kfi_lowered lowered;
    aside.messages = NULL;
    aside.message_count = 0;
    aside.options.program = program;
    aside.options.strict = false;
    kfi_lower_options_from(&aside.options, &lower);
    lower.as_is = strcmp(anim->format, "fbx") == 0;
    lower.wrapper = lower.as_is ? NULL : KFI_WRAPPER_PREFIX KFI_NO_DIGEST;
    if (kfi_fbx_lower(&aside, anim, &lower, &lowered))
        for (size_t i = 0; i < aside.message_count; i++)
            if (aside.messages[i].level == KF_WARNING)
                say(p, "  warns    %s", aside.messages[i].text);
    aside.messages = job->messages; /* what was said there is told */
    aside.message_count = job->message_count;
    kfi_aside_end(job, &aside);
}

/* "18 TCB, 48 cubic": the kinds of keys that are no lines. */
static void list_kinds(const counts *n, char *text, size_t size)
{
    const char *const names[] = {"TCB", "cubic", "stepped", "quaternion"};
    const size_t many[] = {n->tcb, n->cubic, n->stepped, n->quat_keys};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 4; i++) {
        int length =
            many[i] ? snprintf(text + used, size - used, "%s%zu %s", used ? ", " : "", many[i], names[i]) : 0;
        if (length > 0 && (size_t)length < size - used)
            used += (size_t)length;
    }
}

static void explain_blender(page *p, kf_job *job, const kf_anim *anim, const counts *n)
{
    enum { MANY_NODES = 25 };
    char kinds[160];
    list_kinds(n, kinds, sizeof kinds);
    double between = 0; /* of which a warning tells */
    double rate = kfi_bake_rate(anim, &between);
    say(p, "Blender (measured with 3.4 and 5.2)");
    say(p, "  keeps    node names and hierarchy, translation, rotation and scale on every frame");
    if (n->morph)
        say(p, "  keeps    shapes and their weights within 0 to 100 %% (%zu morph track%s)", n->morph,
            plural(n->morph));
    if (kinds[0])
        say(p, "  changes  every key to a linear one (%s); so --for blender bakes them, %g frames a second",
            kinds, rate);
    else
        say(p, "  changes  the keys to one on every frame: --for blender bakes them, %g frames a second",
            rate);
    if (n->mirrored)
        say(p, "  changes  scales below 0 and the rotation with them to other numbers that do the same (%zu track%s)",
            n->mirrored, plural(n->mirrored));
    if (n->through_zero)
        say(p, "  drops    the rotation on frames where a scale is 0 (%zu track%s %s or passes it): an edit there does not come "
               "back", n->through_zero, plural(n->through_zero), n->through_zero == 1 ? "is" : "are");
    if (n->shape_takes)
        say(p, "  drops    takes after the first that animate only shapes (%zu): use --split-takes, one file each",
            n->shape_takes);
    if (n->visibility)
        say(p, "  drops    animated visibility (%zu track%s)", n->visibility, plural(n->visibility));
    if (n->custom)
        say(p, "  drops    animated custom channels (%zu track%s)", n->custom, plural(n->custom));
    say(p, "  drops    by default the capsule on the wrapper node: keep the .fbx.kf file beside the FBX, or "
           "tick Custom "
           "Properties on export");
    if (anim->take_count > 1)
        say(p,
            "  beware   %zu takes: 5.2 exports only the active one right, and without All Actions so does 3.4; use "
            "--split-takes, one file each",
            anim->take_count);
    if (anim->node_count >= MANY_NODES)
        say(p,
            "  beware   %zu nodes: a default export holds every action once for each and gets large (100 "
            "nodes: 51 MB); "
            "untick NLA Strips and All Actions",
            anim->node_count);
    if (n->long_names)
        say(p, "  changes  %zu node name%s longer than 40 bytes, cut and mapped back", n->long_names,
            plural(n->long_names));
    if (n->long_takes)
        say(p, "  changes  %zu take name%s longer than 22 bytes, cut and mapped back", n->long_takes, plural(n->long_takes));
    explain_warnings(p, job, anim, KF_FOR_BLENDER);
    say(p, "  restored what was not edited comes back byte for byte, dropped channels too; edited stretches "
           "are fitted "
           "with the format's own keys");
}

static void explain_curves(page *p, kf_job *job, kf_program program, const kf_anim *anim, const counts *n)
{
    bool maya = program == KF_FOR_MAYA;
    say(p, "%s (told from files it wrote, not run)",
        maya                    ? "Maya"
        : program == KF_FOR_MAX ? "3ds Max"
                                : "MotionBuilder");
    say(p, "  keeps    node names, hierarchy, and when each key is (the file says %g frames a second)", anim->frame_rate);
    if (n->linear)
        say(p, "  keeps    %zu linear key%s", n->linear, plural(n->linear));
    if (n->cubic)
        say(p, "  keeps    %zu cubic key%s with tangents and weights", n->cubic, plural(n->cubic));
    if (n->stepped)
        say(p, "  keeps    %zu stepped key%s", n->stepped, plural(n->stepped));
    if (n->tcb && maya)
        say(p,
            "  changes  %zu TCB key%s to broken tangents of the same shape; the numbers are known again on "
            "the way "
            "back",
            n->tcb, plural(n->tcb));
    else if (n->tcb)
        say(p, "  keeps    %zu TCB key%s with tension, continuity and bias", n->tcb, plural(n->tcb));
    if (n->eased && maya)
        say(p, "  changes  %zu key%s with ease: helper keys carry the shape", n->eased, plural(n->eased));
    if (n->quat_keys)
        say(p, "  changes  %zu quaternion key%s to Euler curves within 0.01 degrees", n->quat_keys,
            plural(n->quat_keys));
    if (n->visibility)
        say(p, "  keeps    animated visibility (%zu track%s)", n->visibility, plural(n->visibility));
    if (n->custom)
        say(p, "  keeps    animated custom channels (%zu track%s)", n->custom, plural(n->custom));
    if (n->morph)
        say(p, "  keeps    %zu morph track%s on a mesh of points", n->morph, plural(n->morph));
    if (maya && n->coded_names)
        say(p, "  changes  %zu node name%s with more than letters, digits and _: FBXASC and a number stand for each other character, "
               "and are known again on the way back", n->coded_names, plural(n->coded_names));
    if (program != KF_FOR_MOTIONBUILDER && anim->take_count > 1)
        say(p,
            "  beware   %zu takes: %s has one timeline and imports one take; use --split-takes, one file "
            "each",
            anim->take_count, maya ? "Maya" : "3ds Max");
    explain_warnings(p, job, anim, program);
    say(p, "  restored what was not edited comes back byte for byte, what FBX cannot hold too; edited keys keep their form");
}

KF_API bool kf_explain(kf_job *job, const kf_anim *anim, kf_program program, const kf_sink *sink,
                       kf_error *error)
{
    kfi_enter(job);
    page p = {sink, true};
    counts n = count_all(anim);
    say(&p, "%s: %zu node%s, %zu take%s, %zu track%s, %zu key%s", anim->format, anim->node_count,
        plural(anim->node_count), anim->take_count, plural(anim->take_count), n.tracks, plural(n.tracks),
        n.keys, plural(n.keys));
    if (n.odd_names)
        say(&p, "  changes  %zu node name%s with bytes that FBX cannot hold, written as %%XX and mapped back",
            n.odd_names, plural(n.odd_names));
    if (program == KF_FOR_BLENDER)
        explain_blender(&p, job, anim, &n);
    else
        explain_curves(&p, job, program, anim, &n);
    if (!p.ok)
        kfi_fail(job, KF_IO, KF_NO_OFFSET, "cannot write the explanation");
    return kfi_leave(job, error);
}
