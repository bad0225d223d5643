/* What a program will keep, change and drop of this very animation, and what comes home all the same. */
#include "fbx/lower.h"
#include "fbx/lower_bake.h"
#include "format.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct counts {
    size_t keys, tcb, cubic, stepped, eased, quat_keys, tracks;
    size_t visibility, morph, custom;
    size_t long_names, odd_names;
} counts;

static void count_curve(const kf_curve *curve, counts *n)
{
    for (size_t i = 0; i < curve->count; i++) {
        uint8_t interp = curve->keys[i].interp;
        n->keys++;
        n->tcb += interp == KF_TCB;
        n->cubic += interp == KF_BEZIER || interp == KF_HERMITE || interp == KF_AUTO;
        n->stepped += interp == KF_STEP || interp == KF_STEP_NEXT;
        n->eased += curve->tcb && (curve->tcb[i].ease_in != 0 || curve->tcb[i].ease_out != 0);
    }
}

static counts count_all(const kf_anim *anim)
{
    counts n = {0};
    for (size_t t = 0; t < anim->take_count; t++) {
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            const kf_track *track = &anim->takes[t].tracks[i];
            n.tracks++;
            n.visibility += track->channel == KF_VISIBILITY;
            n.morph += track->channel == KF_MORPH;
            n.custom += track->channel == KF_CUSTOM;
            n.quat_keys += track->quat.count;
            for (unsigned c = 0; c < track->curves; c++)
                count_curve(&track->curve[c], &n);
        }
    }
    for (size_t i = 0; i < anim->node_count; i++) {
        const char *name = anim->nodes[i].name;
        n.long_names += strlen(name) > 40;
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

static void explain_blender(page *p, const kf_anim *anim, const counts *n)
{
    double between = 0;
    double rate = kfi_bake_rate(anim, &between);
    say(p, "Blender (measured with 3.4 and 5.2)");
    say(p, "  keeps    node names and hierarchy, translation, rotation and scale on every frame");
    if (n->morph)
        say(p, "  keeps    shapes and their weights within 0 to 100 %% (%zu morph tracks)", n->morph);
    if (n->tcb + n->cubic + n->stepped + n->quat_keys)
        say(p, "  changes  every key to a linear one: %zu TCB, %zu cubic, %zu stepped and %zu quaternion keys; so "
               "--for blender bakes them at %g frames a second",
            n->tcb, n->cubic, n->stepped, n->quat_keys, rate);
    if (between > 0)
        say(p, "  changes  key times by up to %.4f s: no frame rate it keeps puts every key on a frame", between);
    if (n->visibility)
        say(p, "  drops    animated visibility (%zu tracks)", n->visibility);
    if (n->custom)
        say(p, "  drops    animated custom channels (%zu tracks)", n->custom);
    say(p, "  drops    by default the capsule on the wrapper node: keep the .fbx.kf file beside the FBX, or tick Custom "
           "Properties on export");
    if (anim->take_count > 1)
        say(p, "  beware   %zu takes: 5.2 exports only the active one right; use --split-takes, one file each",
            anim->take_count);
    if (n->long_names)
        say(p, "  changes  %zu node names longer than 40 bytes, cut and mapped back", n->long_names);
    say(p, "  restored what was not edited comes back byte for byte, dropped channels too; edited stretches are fitted "
           "with the format's own keys");
}

static void explain_curves(page *p, kf_program program, const kf_anim *anim, const counts *n)
{
    bool maya = program == KF_FOR_MAYA;
    say(p, "%s (told from files it wrote, not run)",
        maya ? "Maya" : program == KF_FOR_MAX ? "3ds Max" : "MotionBuilder");
    if (n->cubic)
        say(p, "  keeps    %zu cubic keys with their tangents and weights", n->cubic);
    if (n->stepped)
        say(p, "  keeps    %zu stepped keys", n->stepped);
    if (n->tcb && maya)
        say(p, "  changes  %zu TCB keys to broken tangents of the same shape; their numbers are known again on the way "
               "back",
            n->tcb);
    else if (n->tcb)
        say(p, "  keeps    %zu TCB keys with tension, continuity and bias", n->tcb);
    if (n->eased && maya)
        say(p, "  changes  %zu keys with ease: helper keys carry the shape", n->eased);
    else if (n->eased)
        say(p, "  changes  %zu keys with ease: FBX has none, they play without it (--tcb slopes keeps the shape)",
            n->eased);
    if (n->quat_keys)
        say(p, "  changes  %zu quaternion keys to Euler curves within 0.01 degrees", n->quat_keys);
    if (n->visibility)
        say(p, "  keeps    animated visibility (%zu tracks)", n->visibility);
    if (n->custom)
        say(p, "  keeps    animated custom channels (%zu tracks)", n->custom);
    if (n->morph)
        say(p, "  keeps    %zu morph tracks on a mesh of points", n->morph);
    if (maya && anim->take_count > 1)
        say(p, "  beware   %zu takes: Maya plays one timeline; use --split-takes, one file each", anim->take_count);
    say(p, "  restored what was not edited comes back byte for byte");
}

KF_API bool kf_explain(kf_job *job, const kf_anim *anim, kf_program program, const kf_sink *sink, kf_error *error)
{
    kfi_enter(job);
    page p = {sink, true};
    counts n = count_all(anim);
    say(&p, "%s: %zu nodes, %zu takes, %zu tracks, %zu keys", anim->format, anim->node_count, anim->take_count, n.tracks,
        n.keys + n.quat_keys);
    if (n.odd_names)
        say(&p, "  changes  %zu node names with bytes that FBX cannot hold, written as %%XX and mapped back", n.odd_names);
    if (program == KF_FOR_BLENDER)
        explain_blender(&p, anim, &n);
    else
        explain_curves(&p, program, anim, &n);
    if (!p.ok)
        kfi_fail(job, KF_IO, KF_NO_OFFSET, "cannot write the explanation");
    return kfi_leave(job, error);
}
