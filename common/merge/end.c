/* When a take ends, after what came back of it. */
#include "internal.h"

#include <math.h>

/* The time of a curve's last key; keys after `end` count only if the curve still moves there: programs add a frame to a
 * take that has but one. */
static double last_move(const kfi_merging *m, const kf_track *track, unsigned c, double end)
{
    const kf_curve *curve = &track->curve[c];
    size_t last = curve->count;
    if (last == 0)
        return -INFINITY;
    double held = kfi_curve_value(curve, end, track->rest[c]);
    while (!m->limits.exact && last > 1 && curve->keys[last - 1].time > end &&
           kfi_same_value(&m->limits, track->channel, held, curve->keys[last - 1].value))
        last--;
    return curve->keys[last - 1].time;
}

/* When the span of a take ends that came back, on the written axis; -INFINITY: it did not. */
static double stop_of(const kfi_merging *m, size_t written_take)
{
    double stop = -INFINITY;
    for (size_t i = 0; i < m->input->edited->take_count; i++)
        if (m->matches.take[i] == (int32_t)written_take || m->matches.scene == (int32_t)i)
            stop = fmax(stop, m->input->edited->takes[i].end - m->matches.offset[written_take]);
    return stop;
}

/* When a take ends now, on the written axis; INFINITY: as it did. */
static double new_end(const kfi_merging *m, size_t written_take)
{
    const kfi_merge *input = m->input;
    const kf_take *written = &input->written->takes[written_take];
    double came = -INFINITY, stop = stop_of(m, written_take), was_last = -INFINITY, first = 0;
    kfi_take_range(written, &first, &was_last);
    for (size_t i = 0; i < written->track_count; i++) {
        const kf_track *track = m->matches.track[written_take][i];
        for (unsigned c = 0; track && c < track->curves; c++)
            came = fmax(came, last_move(m, track, c, was_last + m->matches.offset[written_take]));
    }
    came -= m->matches.offset[written_take];
    double half = 0.5 / input->original->frame_rate;
    if (came > was_last + half)
        return came; /* longer: keys beyond the old end */
    if (isfinite(came) && came < was_last - half && stop < written->end - half)
        return fmax(came, stop); /* shorter: both the keys and the take's span say so */
    return INFINITY;
}

size_t kfi_frame_count(const kfi_merging *m, size_t written_take)
{
    const kf_take *original = &m->input->original->takes[m->input->written->takes[written_take].source];
    double rate = m->input->original->frame_rate, end = new_end(m, written_take) - m->input->shift[written_take];
    if (!isfinite(end))
        end = original->end; /* a bake may have been rounded up to a frame of its own */
    double frames = floor(end * rate + 0.5) + 1;
    return frames < 0 ? 0 : frames > 1e7 ? (size_t)1e7 : (size_t)frames;
}

bool kfi_tell_span(const kfi_merging *m, size_t written_take, const kf_take *merged)
{
    const kf_take *written = &m->input->written->takes[written_take];
    double stop = stop_of(m, written_take), half = 0.5 / m->input->original->frame_rate, now = merged->end + m->input->shift[written_take];
    if (!m->limits.exact || !isfinite(stop) || fabs(stop - written->end) <= half || fabs(stop - now) <= half)
        return true;
    return kfi_warn(m->job, "span", "take \"%.60s\": its span in the FBX ends at %.4f s instead of %.4f s, but its keys tell when it ends: "
                                    "put one where it is to end, or take away those behind it", merged->name, stop, written->end);
}

double kfi_cut_at(const kfi_merging *m, size_t written_take)
{
    const kf_take *written = &m->input->written->takes[written_take];
    double first = 0, last = 0, end = INFINITY;
    if (m->input->baked && !(m->input->capabilities->frame_rate > 0) && kfi_take_range(written, &first, &last))
        end = new_end(m, written_take);
    return end < last ? end - m->input->shift[written_take] : INFINITY;
}
