/* Frame by frame: formats that store a value a frame. What came back is looked at on the format's own frames, so it
 * does not matter whether a program baked it, thinned it out or left it alone. */
#include "curve_frames.h"
#include "internal.h"

#include <math.h>

/* The values of one curve on every frame, and whether a key stands there. */
typedef struct frames {
    size_t count;
    double *times; /* of the original */
    double *was, *now;
    bool *keyed;   /* what came back has a key here */
    size_t begins; /* the frame of its first key */
} frames;

static bool sample(kfi_merge_track *t, unsigned c, double rate, size_t count, frames *f)
{
    const kf_curve *w = &t->written->curve[c], *e = &t->edited->curve[c];
    kfi_frames written = {t->shift, rate, count}, edited = {t->shift + t->offset, rate, count};
    kfi_walk was = {w, t->written->rest[c], 0}, now = {e, t->edited->rest[c], 0};
    f->count = count;
    f->begins = 0;
    f->times = kfi_alloc_raw(t->job, count, sizeof *f->times);
    f->was = kfi_alloc_raw(t->job, count, sizeof *f->was);
    f->now = kfi_alloc_raw(t->job, count, sizeof *f->now);
    f->keyed = kfi_alloc(t->job, count, sizeof *f->keyed);
    if (!f->times || !f->was || !f->now || !f->keyed)
        return false;
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t key;
        f->times[i] = (double)i / rate;
        f->was[i] = kfi_walk_value(&was, &written, i, &key);
        f->now[i] = kfi_walk_value(&now, &edited, i, &key);
    }
    for (size_t k = 0; k < e->count; k++) {
        double frame = (e->keys[k].time - t->offset - t->shift) * rate;
        if (frame > -0.5 && frame < (double)count - 0.5)
            f->keyed[(size_t)(frame + 0.5)] = true;
        if (k == 0)
            f->begins = frame < 0 ? 0 : frame > (double)count ? count : (size_t)(frame + 0.5);
    }
    return true;
}

static bool same_at(const kfi_merge_track *t, const frames *f, size_t i)
{
    if (kfi_same_value(t->limits, t->written->channel, f->was[i], f->now[i]))
        return true;
    return !t->limits->exact && !f->keyed[i] && fabs(f->was[i] - f->now[i]) <= kfi_thinning(f->was[i], f->now[i]);
}

/* Whether two values are one in a format that rounds to its steps. */
static bool rounds_to(const kfi_merge_track *t, double value, double other)
{
    double step = t->written->channel <= KF_SCALE ? t->input->capabilities->quantum[t->written->channel] : 0;
    return step > 0 && nearbyint(value / step) == nearbyint(other / step);
}

static bool tell_rounded(const kfi_merge_track *t, size_t count, double first)
{
    return count == 0 || kfi_note(t->job, "rounded", "take \"%.60s\", node \"%.60s\", %s at %.4f s: edited, but by "
                                                     "less than shows in the format's steps of %.4g: it stays as it was (%zu keys)",
                                  t->take, t->input->original->nodes[t->original->node].name,
                                  kfi_channel_name((kf_channel)t->original->channel), first,
                                  t->input->capabilities->quantum[t->written->channel], count);
}

/* Whether a key was taken out of what came back: nothing stands there any more, the key before it holds, and that shows, in
 * another component at the least. */
static bool is_removed(const kfi_merge_track *t, const frames f[3], unsigned c, size_t i, const kf_curve *to, size_t count)
{
    bool shows = !same_at(t, &f[c], i), all = true, other = false;
    for (unsigned d = 0; d < t->original->curves; d++) {
        all = all && !f[d].keyed[i];
        other = other || !same_at(t, &f[d], i);
    }
    return count > 0 && !f[c].keyed[i] && (shows || (all && other)) &&
           kfi_same_value(t->limits, t->written->channel, to->keys[count - 1].value, f[c].now[i]);
}

/* The frames' keys of one component. Where the original has a key it stays, changed or not, unless it was taken out; where it
 * has none one is added only if the curve would otherwise not have the value that came back. */
static bool build(kfi_merge_track *t, unsigned c, double rate, const frames all[3])
{
    const frames *f = &all[c];
    const kf_curve *from = &t->original->curve[c];
    kf_curve to = *from;
    kf_origin *origin = kfi_alloc(t->job, from->count + f->count, sizeof *origin);
    size_t count = 0, next = 0;
    bool every_frame = t->input->capabilities->interps == 1u << KF_LINEAR;
    if (!origin || !kfi_make_keys(t->job, &to, from->count + f->count, kfi_parts(from)))
        return false;
    size_t rounded = 0;
    double first_rounded = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool same = same_at(t, f, i);
        bool native = false;
        while (next < from->count && from->keys[next].time * rate < (double)i + 0.5) {
            if (!every_frame && is_removed(t, all, c, i, &to, count)) {
                t->keys_removed++;
                native = true;
                next++;
                continue;
            }
            if (every_frame && count == 0 && i > 0 && !same && !kfi_same_value(t->limits, t->written->channel, f->now[i - 1], f->now[i])) {
                /* Its first key held before it, too. */
                to.keys[count] = (kf_key){.time = f->times[i - 1], .value = f->now[i - 1], .interp = KF_LINEAR};
                origin[count++] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
                t->keys_added++;
            }
            kfi_copy_keys(&to, count, from, next, 1);
            origin[count] = (kf_origin){(uint32_t)next, 0};
            if (!same && rounds_to(t, f->now[i], from->keys[next].value)) {
                if (rounded++ == 0)
                    first_rounded = f->times[i];
            } else if (!same) {
                to.keys[count].value = f->now[i];
                origin[count].changed = KF_CHANGED_VALUE;
                t->keys_changed++;
            }
            native = true;
            next++;
            count++;
        }
        if (!native && !every_frame && count == 0 && (same || i < f->begins))
            continue; /* before its first key a curve says nothing, though it shows something */
        double held = count         ? to.keys[count - 1].value
                      : from->count ? from->keys[0].value
                                    : t->original->rest[c];
        /* Frames that the take did not have; before its end, a list that is shorter than others holds. */
        bool beyond = next == from->count && from->count > 0 && f->times[i] > t->original_end + 0.5 / rate;
        if (!native && ((every_frame && beyond) || !kfi_same_value(t->limits, t->written->channel, held, f->now[i]))) {
            /* Held values drift by rounding alone: that is no new key. */
            if (!every_frame && same && kfi_same_value(t->limits, t->written->channel, held, f->was[i]))
                continue;
            if (!every_frame && rounds_to(t, f->now[i], held)) {
                if (!same && f->keyed[i] && rounded++ == 0)
                    first_rounded = f->times[i];
                continue;
            }
            /* A list that was shorter has been held up to here, and is no slope now. */
            size_t frame = !every_frame ? i : count ? (size_t)nearbyint(to.keys[count - 1].time * rate) + 1 : 0;
            for (frame = frame < i ? frame : i; frame <= i; frame++) {
                kf_key key = {.time = f->times[frame], .value = frame < i ? held : f->now[i]};
                key.interp = every_frame ? KF_LINEAR : KF_STEP;
                to.keys[count] = key;
                origin[count++] = (kf_origin){KF_NEW, KF_CHANGED_ALL};
                t->keys_added++;
            }
        }
    }
    t->keys_removed += from->count - next;
    to.count = count;
    to.origin = origin;
    t->merged->curve[c] = to;
    return tell_rounded(t, rounded, first_rounded);
}

bool kfi_merge_samples(kfi_merge_track *t, size_t count)
{
    double rate = t->input->original->frame_rate;
    frames f[3];
    for (unsigned c = 0; c < t->original->curves; c++)
        if (!sample(t, c, rate, count, &f[c]))
            return false;
    size_t before = t->keys_changed + t->keys_added + t->keys_removed;
    for (unsigned c = 0; c < t->original->curves; c++)
        if (!build(t, c, rate, f))
            return false;
    t->changed = t->changed || t->keys_changed + t->keys_added + t->keys_removed != before;
    return true;
}
