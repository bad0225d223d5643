/* Where curves that share their keys have them: the fewest places between each two of which one segment tells every curve.
 *
 * From the first sample on, the longest stretch that all of them can tell ends at the last place that the next key may have. A
 * part of what a segment tells can be told by a segment, too, so no choice of places does with fewer. From the end backward, the
 * first place that it may have is known as well; between the two it is free. */
#include "joint.h"

#include "internal.h"

#include <string.h>

typedef struct joint {
    kfi_fitting fit[KFI_JOINT_MOST];
    const kfi_joint *from;
} joint;

/* Samples a..b, and the places between them, the last of which is b. */
typedef struct stretch {
    size_t a, b, *at, count;
} stretch;

/* How far all of the curves can go from sample a with one segment each. The one that ended the last of them is asked first: one
 * that goes far would be followed to the end again for each. */
static size_t reach_all(const joint *j, size_t a, size_t limit, unsigned *shortest)
{
    unsigned c = *shortest, agreed = 0;
    while (agreed < j->from->curves) {
        size_t end = kfi_longest_piece(&j->fit[c], a, limit).end;
        *shortest = end < limit ? c : *shortest;
        agreed = end < limit ? 1 : agreed + 1;
        limit = end < limit ? end : limit;
        c = (c + 1) % j->from->curves;
    }
    return limit;
}

static bool all_fit(const joint *j, size_t a, size_t b)
{
    for (unsigned c = 0; c < j->from->curves; c++)
        if (kfi_longest_piece(&j->fit[c], a, b).end < b)
            return false;
    return true;
}

/* From how far before sample b they can; not before `first`, and `fits` is known to do. */
static size_t reach_back(const joint *j, size_t first, size_t b, size_t fits)
{
    size_t fails = first > 0 ? first - 1 : SIZE_MAX; /* SIZE_MAX + 1 is 0 */
    while (fits - fails > 1) {
        size_t middle = fails + 1 + (fits - fails - 1) / 2;
        if (all_fit(j, middle, b))
            fits = middle;
        else
            fails = middle;
    }
    return fits;
}

/* The places, each as late as can be. */
static stretch walk(const joint *j, size_t a, size_t b, size_t *at)
{
    stretch s = {a, b, at, 0};
    unsigned shortest = 0;
    while (a < b)
        a = at[s.count++] = reach_all(j, a, b, &shortest);
    return s;
}

/* Where place i, which may be first..last, is best: where the border asks for it, at a key of the original's, else so that all
 * before it are as far apart as the next one. */
static size_t choose(const joint *j, const stretch *s, size_t i, size_t first, size_t last)
{
    const kfi_joint *from = j->from;
    size_t even = s->a + (s->at[i + 1] - s->a) * (i + 1) / (i + 2), best = even < first ? first : even > last ? last : even;
    const bool beside[2] = {s->a == 0 && i == 0, s->b + 1 == from->count && i + 2 == s->count};
    bool border = from->holds && (beside[0] || beside[1]);
    size_t far = best - first > last - best ? best - first : last - best;
    for (int pass = border ? 0 : 2; pass < 3; pass++) /* the border and a key, the border, a key */
        for (size_t gap = 0; gap <= far; gap++)
            for (int side = 0; side < 2; side++) {
                size_t at = side ? best + gap : best - gap;
                if (gap > (side ? last - best : best - first) || (pass != 1 && !from->own[at]))
                    continue;
                bool held = true;
                for (int end = 0; pass < 2 && end < 2; end++)
                    held = held && (!beside[end] || from->holds(from->context, end, at));
                if (held)
                    return at;
            }
    return best;
}

/* From the end backward each place becomes one that the next of them allows. */
static void settle(const joint *j, const stretch *s)
{
    for (size_t i = s->count - 1; i-- > 0;) {
        size_t next = s->at[i + 1], before = i > 0 ? s->at[i - 1] : s->a;
        size_t at = choose(j, s, i, reach_back(j, before + 1, next, s->at[i]), s->at[i]);
        /* A part of a segment is a segment, but a search may miss it. */
        if (all_fit(j, at, next) && all_fit(j, before, at))
            s->at[i] = at;
    }
}

static bool find(kf_job *job, const joint *j, size_t *places, size_t *count)
{
    size_t last = j->from->count - 1, with = 0;
    size_t *kept = kfi_alloc_raw(job, last, sizeof *kept);
    if (!kept)
        return false;
    for (size_t a = 0, b = 1; b <= last; b++) /* between the original's keys */
        if (b == last || j->from->own[b]) {
            stretch s = walk(j, a, b, kept + with);
            settle(j, &s);
            with += s.count;
            a = b;
        }
    stretch all = walk(j, 0, last, places + 1);
    places[0] = 0;
    *count = 1 + with;
    if (all.count + 1 < with) { /* one key is no reason to leave out some of the original's */
        settle(j, &all);
        *count = 1 + all.count;
    } else {
        memcpy(places + 1, kept, with * sizeof *kept);
    }
    return true;
}

bool kfi_fit_places(kf_job *job, const kfi_joint *from, size_t *places, size_t *count)
{
    joint j = {.from = from};
    bool ok = true, alike = from->count > 1;
    *count = 0;
    unsigned begun = 0;
    for (; ok && alike && begun < from->curves; begun++) {
        ok = kfi_fit_begin(&j.fit[begun], job, from->times, from->values[begun], from->count, &from->options[begun]);
        alike = ok && j.fit[begun].samples.count == from->count;
        if (alike)
            kfi_samples_look(&j.fit[begun].samples, kfi_can(&j.fit[begun], KF_STEP));
    }
    ok = ok && (!alike || find(job, &j, places, count));
    for (unsigned c = 0; c < begun; c++)
        kfi_arena_free(&j.fit[c].scratch);
    return ok;
}
