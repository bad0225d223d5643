/* One list of keys into records. A record stands for three neutral keys, one of each component. It begins as
 * a copy of the original's record, if the keys have one, and only what their origins call changed is written
 * over it. */
#include "x4-ani/export_keys.h"

#include <math.h>

/* ---------------------------------------------------------------- the keys asked for */

static bool misfit(kf_job *job, const x4_list *list, const char *what)
{
    return kfi_fail(job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "node \"%.60s\", take \"%.60s\", %s: %s", list->node,
                    list->take, kfi_x4_kind_name(list->kind), what);
}

bool kfi_x4_list_count(kf_job *job, const x4_list *list, size_t *count)
{
    const kf_track *track = list->track;
    const kf_curve *first = NULL;
    *count = 0;
    if (track->quaternion)
        return misfit(job, list, "rotations as quaternions cannot be stored");
    for (unsigned c = 0; c < 3; c++) {
        const kf_curve *curve = &track->curve[c];
        if (x4_keys_of(track, c) == 0)
            continue;
        if (!first) {
            first = curve;
            *count = curve->count;
        }
        if (curve->count != *count)
            return misfit(job, list, "x, y and z must have their keys at the same times");
        for (size_t i = 0; i < *count; i++)
            if (fabs(curve->keys[i].time - first->keys[i].time) > 1e-6 * fmax(1, fabs(first->keys[i].time)))
                return misfit(job, list, "x, y and z must have their keys at the same times");
    }
    return *count <= INT32_MAX || misfit(job, list, "too many keys");
}

const kf_key *kfi_x4_key_at(const x4_writing *w, unsigned c, size_t i)
{
    return x4_keys_of(w->list->track, c) ? &w->list->track->curve[c].keys[i] : &w->constant[c];
}

kf_handles kfi_x4_handles_at(const x4_writing *w, unsigned c, size_t i)
{
    return x4_keys_of(w->list->track, c) ? kfi_handles_of(&w->list->track->curve[c], i) : (kf_handles){{0, 0}, {0, 0}};
}

double kfi_x4_time_at(const x4_writing *w, size_t i)
{
    for (unsigned c = 0; c < 3; c++)
        if (x4_keys_of(w->list->track, c))
            return w->list->track->curve[c].keys[i].time + w->list->shift;
    return 0;
}

/* ---------------------------------------------------------------- what they were */

static void find_row(const x4_writing *w, size_t i, x4_row *r)
{
    *r = (x4_row){0};
    for (unsigned c = 0; c < 3; c++) {
        const kf_origin *origin = x4_keys_of(w->list->track, c) ? w->list->track->curve[c].origin : NULL;
        r->changed[c] = KF_CHANGED_ALL;
        if (!origin || origin[i].key >= w->list->source_count)
            continue;
        r->source[c] = w->list->source + (size_t)origin[i].key * X4_KEY_SIZE;
        r->follows[c] = origin[i].key > 0;
        r->changed[c] = origin[i].changed;
        r->moved = r->moved || (origin[i].changed & KF_CHANGED_TIME);
        if (!r->base)
            r->base = r->source[c];
    }
}

static bool is_plain(uint32_t number)
{
    return number == X4_STEP || number == X4_LINEAR || number == X4_TCB || x4_is_bezier(number);
}

/* The interpolation number of component c: the original's unless it changed. */
static bool choose_number(x4_writing *w, const x4_row *next, x4_row *r, unsigned c, size_t i)
{
    static const uint8_t numbers[KF_INTERP_COUNT] = {
        X4_STEP, X4_STEP, X4_LINEAR, X4_BEZIER, X4_BEZIER_LINEAR_TIME, X4_TCB, X4_BEZIER_LINEAR_TIME};
    const kf_key *key = kfi_x4_key_at(w, c, i);
    uint8_t interp = key->interp < KF_INTERP_COUNT ? key->interp : KF_LINEAR;
    bool handles = interp == KF_BEZIER || interp == KF_HERMITE || interp == KF_AUTO;
    if (r->source[c] && !(r->changed[c] & KF_CHANGED_INTERP)) {
        r->number[c] = kfi_x4_interp(r->source[c], c);
        /* The rare kinds have no handles of their own: once those are edited, the segment becomes a plain
         * one. */
        bool edited = (r->changed[c] & KF_CHANGED_OUT) || (next && (next->changed[c] & KF_CHANGED_IN));
        if (is_plain(r->number[c]) || !handles || !edited)
            return true;
    }
    r->number[c] = !next && !r->source[c] ? X4_STEP : numbers[interp];
    return interp != KF_STEP_NEXT || !next ||
           kfi_warn(w->job, "step-next",
                    "node \"%.60s\", take \"%.60s\", %s at %.4f s: a jump to the next value is "
                    "written as a hold",
                    w->list->node, w->list->take, kfi_x4_kind_name(w->list->kind), key->time);
}

bool kfi_x4_write_list(kf_job *job, const x4_list *list, uint8_t *records)
{
    x4_writing w = {.job = job, .list = list, .unit = x4_unit(list->kind)};
    if (!kfi_x4_list_count(job, list, &w.count))
        return false;
    for (unsigned c = 0; c < 3; c++)
        w.constant[c] = (kf_key){.value = list->track->rest[c], .interp = KF_LINEAR};
    for (unsigned c = 0; c < 3; c++)
        w.limit[c] = kfi_x4_rounding_limit(list, c);
    x4_row before, here = {0}, next = {0};
    if (w.count)
        find_row(&w, 0, &next);
    for (size_t i = 0; i < w.count; i++) {
        before = here;
        here = next;
        bool last = i + 1 == w.count;
        if (!last)
            find_row(&w, i + 1, &next);
        for (unsigned c = 0; c < 3; c++)
            if (!choose_number(&w, last ? NULL : &next, &here, c, i))
                return false;
        if (!kfi_x4_write_row(&w, records + i * X4_KEY_SIZE, i ? &before : NULL, &here, i))
            return false;
    }
    return true;
}
