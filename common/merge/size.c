/* How many times as large as it was written something came back. What the file states of its unit does not tell: a program's
 * own "Scale" is multiplied into the numbers. But it is the same for all of them, and what was written is known: the middle
 * one of what each number was multiplied with, if most agree with it and none with what the file states. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>

/* What numbers were multiplied with, if the turn is that. */
typedef struct factors {
    double (*of)[2]; /* the factor, and the size of the number that was written */
    size_t count, room;
    size_t node, nodes; /* the last written node that has some, and how many have */
} factors;

enum { LOOKS = 32, MOST = 1 << 16 };

static void add_factor(factors *f, size_t node, double was, double now)
{
    if (f->count < f->room && fabs(was) > 1e-4 && fabs(was) < 1e9 && fabs(now) < 1e12) {
        f->nodes += f->nodes < 2 && f->node != node;
        f->node = node;
        f->of[f->count][0] = now / was;
        f->of[f->count++][1] = fabs(was);
    }
}

/* A channel's component that came back, and what it was. */
static void add_curve(factors *f, const kf_track *was, unsigned from, double sign, const kf_curve *now, double rest, double offset)
{
    const kf_curve *curve = &was->curve[from];
    bool stood = curve->count > 0;
    for (size_t i = 0; now && i < now->count; i += now->count / LOOKS + 1)
        add_factor(f, was->node, kfi_curve_value(curve, now->keys[i].time - offset, was->rest[from]), sign * now->keys[i].value);
    if (now && now->count)
        return;
    for (size_t i = 0; stood && i < curve->count; i++)
        stood = curve->keys[i].value == curve->keys[0].value;
    if (stood)
        add_factor(f, was->node, curve->keys[0].value, sign * rest);
}

/* Of one channel, which the way sizes, of the nodes that it is about. */
static void add_channel(const kfi_merging *m, const kfi_turn *way, unsigned channel, const uint8_t *keyed, factors *f)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    bool moves = channel == KF_TRANSLATION;
    for (size_t t = 0; t < written->take_count; t++)
        for (size_t i = 0; i < written->takes[t].track_count; i++) {
            const kf_track *was = &written->takes[t].tracks[i], *now = m->matches.track[t][i];
            int32_t back = m->matches.back[was->node];
            if (was->node == 0 || back < 0 || was->channel != channel || was->curves != 3 || (now && now->curves != 3) ||
                !(way->around || kfi_is_orphan(m, was->node)))
                continue;
            for (unsigned c = 0; c < 3; c++)
                add_curve(f, was, moves ? way->from[c] : c, moves ? way->sign[c] : way->mirror, now ? &now->curve[c] : NULL,
                          kfi_rest_of(&edited->nodes[back], channel)[c], m->matches.offset[t]);
        }
    for (size_t n = 1; n < written->node_count; n++) {
        int32_t back = m->matches.back[n];
        if (back < 0 || keyed[n] >> channel & 1 || !(way->around || kfi_is_orphan(m, n)))
            continue;
        for (unsigned c = 0; c < 3; c++)
            add_factor(f, n, kfi_rest_of(&written->nodes[n], channel)[moves ? way->from[c] : c],
                       kfi_rest_of(&edited->nodes[back], channel)[c] * (moves ? way->sign[c] : way->mirror));
    }
}

/* A node's points are turned and sized with its own axes. */
static void add_points(const kfi_merging *m, const kfi_turn *way, factors *f)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    for (size_t n = 1; n < written->node_count; n++) {
        const kf_mesh *was = written->nodes[n].mesh, *now = m->matches.back[n] < 0 ? NULL : edited->nodes[m->matches.back[n]].mesh;
        if (!was || !now || was->point_count != now->point_count)
            continue;
        for (size_t i = 0; i < was->point_count; i += was->point_count / LOOKS + 1)
            for (unsigned c = 0; c < 3; c++)
                add_factor(f, n, was->points[i][way->from[c]], now->points[i][c] * way->sign[c]);
    }
}

/* ---------------------------------------------------------------- the one that is common */

static int ascending(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static size_t agreeing(const factors *f, double size)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += fabs(f->of[i][0] / size - 1) < 2e-3;
    return count;
}

/* The middle one, or 0. Small numbers are rounded, and what they were multiplied with is told by large ones; it is one that
 * somebody has typed, of few digits. */
static double common_factor(factors *f)
{
    double largest = 0, was = 0, now = 0;
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++)
        largest = fmax(largest, f->of[i][1]);
    for (size_t i = 0; i < f->count; i++)
        if (f->of[i][1] > 1e-3 * largest) {
            f->of[kept][0] = f->of[i][0];
            f->of[kept++][1] = f->of[i][1];
        }
    f->count = kept;
    if (kept == 0)
        return 0;
    qsort(f->of, kept, sizeof *f->of, ascending);
    double middle = f->of[kept / 2][0];
    if (!(middle > 1e-6 && middle < 1e6) || 2 * agreeing(f, middle) <= kept)
        return 0;
    for (size_t i = 0; i < kept; i++)
        if (fabs(f->of[i][0] / middle - 1) < 1e-4) {
            was += f->of[i][1];
            now += f->of[i][1] * f->of[i][0];
        }
    double size = now / was, unit = pow(10, floor(log10(size)) - 4), typed = round(size / unit) * unit;
    return fabs(typed / size - 1) < 2e-5 ? typed : size;
}

/* Sizes are those of the axes in which the nodes stand, and where these are not a node's own as well, its scale tells. */
static double size_of(const kfi_merging *m, kfi_turn *way, const uint8_t *keyed, factors *f)
{
    double size;
    f->count = f->node = f->nodes = 0;
    add_channel(m, way, way->around ? KF_TRANSLATION : KF_SCALE, keyed, f);
    if (way->around)
        add_points(m, way, f);
    size = common_factor(f);
    bool stated = way->usable && agreeing(f, way->size) > f->count / 64;
    way->alone = way->around && f->nodes < 2;
    way->lost = size == 0 && f->count > 0 && !stated;
    if (size == 0 || stated)
        return 0;
    if (!way->around) {
        f->count = 0;
        add_channel(m, way, KF_TRANSLATION, keyed, f);
        if (f->count && 2 * agreeing(f, size) <= f->count)
            return 0;
    }
    return size;
}

bool kfi_find_sizes(const kfi_merging *m, kfi_turn ways[KFI_WAYS])
{
    const uint8_t *keyed = kfi_keyed_channels(m->job, m->input->written);
    size_t room = 3 * LOOKS * m->input->written->node_count;
    for (size_t t = 0; t < m->input->written->take_count; t++)
        room += 3 * LOOKS * m->input->written->takes[t].track_count;
    factors f = {.room = room < MOST ? room : MOST};
    f.of = kfi_alloc_raw(m->job, f.room, sizeof *f.of);
    if (!keyed || !f.of)
        return false;
    for (unsigned way = KFI_AS_WRITTEN + 1; way < KFI_WAYS; way++) {
        double size = ways[way].usable || way == KFI_SCALED ? size_of(m, &ways[way], keyed, &f) : 0;
        ways[way].size = size > 0 ? size : ways[way].size;
        ways[way].found = size > 0;
        ways[way].usable = ways[way].usable || size > 0;
    }
    return true;
}
