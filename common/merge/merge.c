#include "merge.h"

#include "internal.h"

#include <math.h>
#include <string.h>

/* The farthest that a node stands or goes, along an axis. */
static double farthest(const kf_anim *anim)
{
    double far = 0;
    for (size_t i = 0; i < anim->node_count; i++)
        for (int c = 0; c < 3; c++)
            far = fmax(far, fabs(anim->nodes[i].rest.translation[c]));
    for (size_t t = 0; t < anim->take_count; t++)
        for (size_t i = 0; i < anim->takes[t].track_count; i++) {
            const kf_track *track = &anim->takes[t].tracks[i];
            for (unsigned c = 0; track->channel == KF_TRANSLATION && c < track->curves; c++)
                for (size_t k = 0; k < track->curve[c].count; k++)
                    far = fmax(far, fabs(track->curve[c].keys[k].value));
        }
    return far;
}

/* Straight from our writer only rounding separates equal numbers; a program's arithmetic in 32-bit floats and its
 * detour through matrices is further off (measured with Blender: 3e-5 units and degrees, 3e-7 of a scale), and the more so
 * the farther all of it is from the middle. */
void kfi_set_limits(kfi_limits *limits, const kf_anim *edited)
{
    bool exact = edited->creator && strncmp(edited->creator, "Keyferry", 8) == 0;
    *limits = (kfi_limits){.exact = exact};
    if (exact) {
        limits->time = 1e-10;
        limits->relative = 1e-7;
        limits->slope = 1e-6;
        for (int i = 0; i < KF_CHANNEL_COUNT; i++)
            limits->value[i] = 1e-12;
    } else {
        limits->time = 1e-4;
        limits->relative = 1e-6;
        limits->slope = 1e-3;
        for (int i = 0; i < KF_CHANNEL_COUNT; i++)
            limits->value[i] = 1e-3;
        limits->value[KF_TRANSLATION] = fmin(1e-3, fmax(1e-4, 1e-6 * farthest(edited)));
        limits->value[KF_ROTATION] = 1e-2;
        limits->value[KF_SCALE] = 1e-5;
        limits->value[KF_VISIBILITY] = 0.5;
        limits->value[KF_MORPH] = 1e-4;
    }
}

/* ---------------------------------------------------------------- a track that came back */

/* Keys of both curves, times and values, all the same? The common case, and worth no more than one pass. */
static bool same_curve(const kfi_merge_track *t, const kf_curve *w, const kf_curve *e)
{
    if (w->count != e->count || w->pre != e->pre || w->post != e->post)
        return false;
    bool shared = w->keys == e->keys && w->handles == e->handles && w->tcb == e->tcb; /* lower.c saw to it */
    for (size_t i = 0; i < w->count && !shared; i++) {
        const kf_key *a = &w->keys[i], *b = &e->keys[i];
        kf_handles was = kfi_handles_of(w, i), now = kfi_handles_of(e, i);
        if (a->time != b->time || a->value != b->value || a->interp != b->interp || memcmp(&was, &now, sizeof was) != 0)
            return false;
        if (a->interp == KF_TCB && (!w->tcb || !e->tcb || memcmp(&w->tcb[i], &e->tcb[i], sizeof *w->tcb) != 0))
            return false;
    }
    return t->offset == 0;
}

static bool same_track(const kfi_merge_track *t)
{
    if (t->order != t->edited_order && t->written->channel == KF_ROTATION)
        return false;
    for (unsigned c = 0; c < t->written->curves; c++)
        if (!same_curve(t, &t->written->curve[c], &t->edited->curve[c]))
            return false;
    return true;
}

bool kfi_came_back_baked(const kfi_merge *input, const kf_track *written, const kf_track *edited)
{
    size_t was = 0, now = 0;
    if (input->baked)
        return true;
    for (unsigned c = 0; c < written->curves; c++) {
        const kf_curve *w = &written->curve[c], *e = &edited->curve[c];
        was += w->count;
        now += e->count;
        for (size_t i = 0; i < e->count; i++)
            if (e->keys[i].interp != KF_LINEAR)
                return false;
    }
    return now > 2 * was;
}

/* Whether a track's numbers came back in the axes and the order that were written. */
static bool in_place(const kfi_merging *m, const kf_track *was, const kf_track *back)
{
    bool turned = was->channel == KF_ROTATION && ((m->turn && m->turn[back->node]) ||
                                                  m->input->edited->nodes[back->node].order != m->input->written->nodes[was->node].order);
    return back->curves == was->curves && !turned;
}

/* Whether what is to be merged are looks at a rotation that came back in another order with its keys. */
static bool is_looked_at(const kfi_merging *m, const kfi_merge_track *t, const kf_track *back, const kf_track *raw)
{
    return t->written->channel == KF_ROTATION && raw && raw != back && raw->curves == 3 && !t->original->quaternion &&
           !(m->turn && m->turn[raw->node]) && m->input->edited->nodes[raw->node].order != (uint8_t)t->order &&
           !kfi_came_back_baked(m->input, t->written, raw);
}

static bool merge_track(kfi_merging *m, size_t written_take, size_t index, size_t frames, double cut, const kf_track *back,
                        const kf_track *raw, kf_track *merged)
{
    const kf_take *take = &m->input->written->takes[written_take];
    kfi_merge_track t = {
        .job = m->job,
        .input = m->input,
        .limits = &m->limits,
        .original = &m->input->original->takes[take->source].tracks[take->tracks[index].source],
        .written = &take->tracks[index],
        .edited = back,
        .take = take->name,
        .shift = m->input->shift[written_take],
        .offset = m->matches.offset[written_take],
        .original_end = m->input->original->takes[take->source].end,
        .cut = cut,
        .merged = merged,
    };
    t.order = (kf_rotation_order)m->input->original->nodes[t.original->node].order;
    t.edited_order = m->matches.settled[written_take][index] ? t.order : (kf_rotation_order)m->input->edited->nodes[back->node].order;
    merged->state = KF_TRACK_SAME;
    if (same_track(&t))
        return true;
    bool baked = kfi_came_back_baked(m->input, t.written, back);
    if (t.original->quaternion) {
        if (!kfi_merge_quat(&t, frames))
            return false;
    } else if (m->input->capabilities->frame_rate > 0) {
        if (!kfi_merge_samples(&t, frames))
            return false;
    } else if (baked) {
        if (!kfi_merge_baked(&t))
            return false;
    } else {
        bool otherwise = false, changed = false, left_out[3] = {false};
        for (unsigned c = 0; c < t.original->curves; c++) {
            size_t drawn = t.segments_fitted;
            left_out[c] = back->curve[c].count == 0 && t.written->curve[c].count > 0 &&
                          kfi_stands_still(&m->limits, t.written->channel, &t.written->curve[c], back->rest[c]);
            t.changed = false;
            if (!left_out[c] && !kfi_merge_keys(&t, c))
                return false;
            otherwise = otherwise || (t.changed && t.segments_fitted == drawn);
            changed = changed || t.changed;
        }
        if (!kfi_merge_shown(&t))
            return false;
        for (unsigned c = 0; c < t.original->curves; c++)
            if (!kfi_merge_tell_bent(&t, c))
                return false;
        for (unsigned c = 0; c < t.original->curves; c++)
            if (left_out[c] && !kfi_merge_still(&t, c))
                return false;
        t.changed = changed;
        if (t.segments_fitted && !otherwise && !kfi_merge_drawn_together(&t))
            return false;
    }
    if (m->input->capabilities->frame_rate > 0 && !kfi_tell_between(&t, raw && in_place(m, t.written, raw) ? raw : NULL, frames))
        return false;
    bool in_vain = t.changed && t.segments_fitted && t.keys_changed + t.keys_added + t.keys_removed == 0;
    if (!t.changed || in_vain) { /* the keys say what came back as they are */
        *merged = *t.original;
        merged->state = KF_TRACK_SAME;
        return !in_vain || kfi_note(m->job, "slight", "take \"%.60s\", node \"%.60s\": the %s differs, but by no more than the "
                                                      "tolerance: it stays as it was (--tolerance)",
                                    take->name, m->merged->nodes[merged->node].name, kfi_channel_name((kf_channel)merged->channel));
    }
    merged->state = KF_TRACK_CHANGED;
    m->report->changed++;
    kfi_wanted *wanted = kfi_push(m->job, &m->report->wanted, &m->report->wanted_count, sizeof *wanted);
    if (!wanted)
        return false;
    bool looked_at = is_looked_at(m, &t, back, raw); /* then the game is to play what is between the looks, too */
    *wanted = (kfi_wanted){.take = (size_t)take->source,
                           .node = merged->node,
                           .channel = merged->channel,
                           .samples = baked && !looked_at,
                           .name = merged->name,
                           .back = looked_at ? raw : back,
                           .order = looked_at ? (kf_rotation_order)m->input->edited->nodes[raw->node].order : t.edited_order,
                           .offset = t.shift + t.offset,
                           .original = t.original,
                           .written = t.written,
                           .was_order = t.order,
                           .shift = t.shift,
                           .trip = m->limits.value[merged->channel],
                           .relative = m->limits.relative,
                           .trip_time = m->limits.time,
                           .change = m->report->change_count};
    if (!kfi_count_keys(&t))
        return false;
    char *detail = kfi_format_text(m->job, "%zu keys changed, %zu added, %zu removed%s", t.keys_changed, t.keys_added,
                                   t.keys_removed, t.segments_fitted ? ", edited stretches fitted anew" : "");
    return detail && kfi_merge_report_track(m, KFI_WHAT_CHANGED, take->name, merged, detail);
}

/* ---------------------------------------------------------------- tracks that did not, nodes, takes */

/* A program that drops curves which do not move leaves their value in the node's own transform. */
static bool still_there(const kfi_merging *m, const kf_track *written)
{
    int32_t node = m->matches.back[written->node];
    if (node < 0 || written->channel > KF_SCALE)
        return false;
    const kf_node *back = &m->input->edited->nodes[node];
    const double *rest = kfi_rest_of(back, written->channel);
    for (unsigned c = 0; c < written->curves; c++) {
        for (size_t i = 0; i < written->curve[c].count; i++) {
            double value = written->curve[c].keys[i].value;
            if (fabs(value - rest[c]) > 0.001 * fmax(fabs(value) + fabs(rest[c]), 0.1))
                return false;
        }
    }
    return true;
}

/* A curve of a track that came back without its keys: where it was, unless it stood still and the node now stands
 * there, or what is missing is to be deleted. */
static bool restore_curves(kfi_merging *m, size_t written_take, const kf_track *was, const kf_track **back)
{
    const kf_take *take = &m->input->written->takes[written_take];
    double offset = m->matches.offset[written_take];
    kf_track *whole = NULL;
    for (unsigned c = 0; c < was->curves && !m->input->drop_missing; c++) {
        const kf_curve *curve = &was->curve[c];
        if ((*back)->curve[c].count > 0 || kfi_stands_still(&m->limits, was->channel, curve, (*back)->rest[c]))
            continue;
        if (!whole) {
            whole = kfi_alloc(m->job, 1, sizeof *whole);
            if (!whole)
                return false;
            *whole = **back;
        }
        whole->curve[c] = *curve;
        if (!kfi_own_keys(m->job, &whole->curve[c], 0))
            return false;
        for (size_t i = 0; i < curve->count; i++)
            whole->curve[c].keys[i].time += offset;
        *back = whole;
        if (!kfi_warn(m->job, "kept", "take \"%.60s\", node \"%.60s\": %s %c did not come back and stays as it was "
                                      "(--drop-missing deletes it)", take->name, m->input->written->nodes[was->node].name,
                      kfi_channel_name((kf_channel)was->channel), was->curves == 3 ? "xyz"[c] : ' '))
            return false;
    }
    return true;
}

static bool merge_take(kfi_merging *m, size_t written_take, kf_take *to)
{
    const kf_take *written = &m->input->written->takes[written_take];
    const kf_take *original = &m->input->original->takes[written->source];
    bool came_back = false;
    for (size_t i = 0; i < m->input->edited->take_count; i++)
        came_back = came_back || m->matches.take[i] == (int32_t)written_take;
    for (size_t i = 0; i < written->track_count; i++) /* with another one */
        came_back = came_back || m->matches.track[written_take][i];
    bool sampled = m->input->capabilities->frame_rate > 0;
    double step = kfi_other_step(m, written_take);
    const kf_track **raw = kfi_alloc(m->job, written->track_count, sizeof *raw);
    for (size_t i = 0; raw && i < written->track_count; i++)
        raw[i] = m->matches.track[written_take][i];
    if (!raw || !kfi_tell_rate(m, written_take) || !kfi_open_bends(m, written_take) || !kfi_fill_standing(m, written_take) ||
        !kfi_settle_take(m, written_take, step) ||
        (step > 0 && !kfi_refill_take(m, written_take, step)) || !kfi_refill_ends(m, written_take))
        return false;
    size_t frames = sampled && came_back ? kfi_frame_count(m, written_take) : 0;
    double start = written->start + m->matches.offset[written_take];
    if (sampled && start < -0.01 / m->input->original->frame_rate &&
        !kfi_note(m->job, "start", "take \"%.60s\" begins at %.4f s now: that is its first frame, for the format counts from there",
                  written->name, start))
        return false;
    double cut = came_back ? kfi_cut_at(m, written_take) : INFINITY;

    /* NOLINTNEXTLINE: its source is one of them */
    to->tracks = NULL;
    to->track_count = 0;
    size_t extra = original->track_count;
    for (size_t i = 0; i < original->track_count; i++) {
        const kf_track *back = m->matches.track[written_take][i];
        const kf_track *was = &written->tracks[i];
        kf_track *merged = kfi_push(m->job, &to->tracks, &to->track_count, sizeof *merged);
        if (!merged)
            return false;
        *merged = original->tracks[was->source];
        m->report->tracks++;
        size_t said = m->report->change_count, dropped = m->report->dropped, wanted = m->report->wanted_count;
        bool empty = kfi_track_keys(was) > 0 && back && kfi_track_keys(back) == 0;
        if (back && !empty && back->curves == was->curves) {
            if (!restore_curves(m, written_take, was, &back) ||
                !merge_track(m, written_take, i, frames, cut, back, raw[i], merged))
                return false;
        } else if (kfi_track_keys(was) == 0 || still_there(m, was) || kfi_is_newer(m->input, written, i)) {
            merged->state = KF_TRACK_SAME;
        } else if (m->input->drop_missing) {
            if (!kfi_merge_report_track(m, KFI_WHAT_DROPPED, written->name, merged, "it did not come back"))
                return false;
            m->report->dropped++;
            merged->state = KF_TRACK_KEPT;
            to->track_count -= !m->input->drop_later;
        } else {
            merged->state = KF_TRACK_KEPT;
            m->report->kept++;
            if (!kfi_merge_report_track(m, KFI_WHAT_KEPT, written->name, merged, "it did not come back"))
                return false;
        }
        kfi_wanted *asked = wanted < m->report->wanted_count ? &m->report->wanted[wanted] : NULL;
        for (; extra < written->track_count && written->tracks[extra].source == (int32_t)i; extra++)
            if ((back || m->matches.track[written_take][extra]) && dropped == m->report->dropped &&
                !kfi_merge_numbers(m, written_take, extra, merged, asked))
                return false;
        if (asked)
            kfi_order_excepted(asked);
        if (said == m->report->change_count && !kfi_merge_report_same(m, written->name, merged))
            return false;
    }

    if (m->matches.renamed[written_take])
        to->name = m->matches.renamed[written_take];
    if (sampled && frames > 0) {
        double end = (double)(frames - 1) / m->input->original->frame_rate;
        if (fabs(end - original->end) > 0.25 / m->input->original->frame_rate)
            to->end = end;
    } else if (came_back) {
        /* The span follows its keys only where they moved the end. */
        double first = 0, end = 0, was_start = 0, was_end = 0;
        if (kfi_take_range(to, &first, &end) && kfi_take_range(original, &was_start, &was_end) && end != was_end) {
            if (end > to->end || was_end >= original->end - 1e-6)
                to->end = end;
        }
    }
    return kfi_tell_span(m, written_take, to);
}

/* ---------------------------------------------------------------- the whole */

bool kfi_match_turned(kfi_merging *m, kf_anim *unwrapped, bool *turned)
{
    const kfi_merge *input = m->input;
    char digest[9];
    kfi_set_limits(&m->limits, input->edited);
    bool wrapped = kfi_find_wrapper(input->edited, digest) >= 0;
    bool perhaps = input->first_node == 1 && !(wrapped && m->limits.exact);
    *turned = false;
    if (perhaps)
        kfi_find_ways(input, m->ways);
    if (!kfi_match(m->job, input, &m->limits, perhaps ? m->ways : NULL, &m->matches) ||
        (perhaps && !kfi_unwrap(m, unwrapped, turned)))
        return false;
    if (!*turned)
        return true;
    kfi_merge inside = *input;
    inside.edited = unwrapped;
    kfi_set_limits(&m->limits, unwrapped);
    return kfi_match(m->job, &inside, &m->limits, m->ways, &m->matches);
}

static bool tell_last(const kfi_merging *m)
{
    int32_t last = m->matches.last;
    return last < 0 || kfi_note(m->job, "part", "node \"%.60s\" is taken for the part \"%.60s\": no other is left",
                                m->input->edited->nodes[m->matches.back[last]].name, m->input->written->nodes[last].name);
}

bool kfi_merge_run(kf_job *job, const kfi_merge *input, kf_anim *merged, kfi_merge_report *result)
{
    kfi_merging m = {.job = job, .input = input, .merged = merged, .report = result};
    kfi_merge inside = *input;
    kf_anim unwrapped;
    bool turned;
    memset(result, 0, sizeof *result);
    if (!kfi_match_turned(&m, &unwrapped, &turned))
        return false;
    if (turned) {
        inside.edited = &unwrapped;
        m.input = &inside;
    }

    if (!tell_last(&m) || !kfi_tell_renamed(&m) || !kfi_tell_parents(&m) || !kfi_tell_twice(&m) || !kfi_tell_unheard(&m) ||
        !kfi_tell_unkeyed(&m))
        return false;
    *merged = *input->original;
    merged->nodes = NULL;
    merged->node_count = 0;
    for (size_t i = 0; i < input->original->node_count; i++) {
        kf_node *node = kfi_push(job, &merged->nodes, &merged->node_count, sizeof *node);
        if (!node)
            return false;
        *node = input->original->nodes[i];
        node->source = (int32_t)i;
    }
    if (!kfi_merge_meshes(&m))
        return false;
    merged->takes = NULL;
    merged->take_count = 0;
    for (size_t i = 0; i < input->original->take_count; i++) {
        kf_take *take = kfi_push(job, &merged->takes, &merged->take_count, sizeof *take);
        if (!take)
            return false;
        *take = input->original->takes[i];
        take->source = (int32_t)i;
        take->tracks = NULL;
        take->track_count = 0;
        /* Takes that were not written stay. */
        for (size_t k = 0; k < input->original->takes[i].track_count; k++) {
            kf_track *track = kfi_push(job, &take->tracks, &take->track_count, sizeof *track);
            if (!track)
                return false;
            *track = input->original->takes[i].tracks[k];
            track->state = KF_TRACK_SAME;
        }
    }
    for (size_t i = 0; i < input->written->take_count; i++)
        if (!merge_take(&m, i, &merged->takes[input->written->takes[i].source]))
            return false;
    return kfi_tell_numbers(&m) && kfi_merge_new(&m);
}
