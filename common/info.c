/* kf_info: what an animation has, as a few lines for people or one JSON object for programs:
 *   {"format":ID,"title":S,"frame_rate":N,"nodes":[{"name":S,"parent":I|null}],
 *    "takes":[{"name":S,"start":T,"end":T,"tracks":N,"curves":N,"keys":N,
 *              "channels":{"translation":{"tracks":N,"curves":N,"keys":N,"first":T,"last":T,"min":V,"max":V},...}}],
 *    "tracks":N,"curves":N,"keys":N,"interpolations":{"bezier":N,...}}
 * A track is a channel of a node, as where it is told what a conversion changed. Its curves are those that have keys, one for each
 * component or one of quaternions: as many as the dump has entries. min and max are those of the keys' values. */
#include "format.h"
#include "json.h"

#include <math.h>
#include <string.h>

typedef struct tally {
    size_t tracks, curves, keys;
    double first, last, low, high;
} tally;

typedef struct take_tally {
    tally channel[KF_CHANNEL_COUNT];
    tally all;
} take_tally;

typedef struct totals {
    size_t tracks, curves, keys;
    size_t interp[KF_INTERP_COUNT];
} totals;

static void count_key(tally *t, double time, double value)
{
    t->first = t->keys ? fmin(t->first, time) : time;
    t->last = t->keys ? fmax(t->last, time) : time;
    t->low = t->keys ? fmin(t->low, value) : value;
    t->high = t->keys ? fmax(t->high, value) : value;
    t->keys++;
}

static void count_track(const kf_track *track, take_tally *tallies, totals *sum)
{
    tally *t = &tallies->channel[track->channel];
    t->tracks++;
    if (track->quaternion && track->quat.count > 0) {
        t->curves++;
        for (size_t i = 0; i < track->quat.count; i++) {
            count_key(t, track->quat.keys[i].time, NAN);
            sum->interp[track->quat.keys[i].interp % KF_INTERP_COUNT]++;
        }
    }
    for (unsigned c = 0; c < track->curves; c++) {
        const kf_curve *curve = &track->curve[c];
        t->curves += curve->count > 0;
        for (size_t i = 0; i < curve->count; i++) {
            count_key(t, curve->keys[i].time, curve->keys[i].value);
            sum->interp[curve->keys[i].interp]++;
        }
    }
}

static void count_take(const kf_take *take, take_tally *tallies, totals *sum)
{
    memset(tallies, 0, sizeof *tallies);
    for (size_t i = 0; i < take->track_count; i++)
        count_track(&take->tracks[i], tallies, sum);
    for (int c = 0; c < KF_CHANNEL_COUNT; c++) {
        tallies->all.tracks += tallies->channel[c].tracks;
        tallies->all.curves += tallies->channel[c].curves;
        tallies->all.keys += tallies->channel[c].keys;
    }
    sum->tracks += tallies->all.tracks;
    sum->curves += tallies->all.curves;
    sum->keys += tallies->all.keys;
}

static const char *title_of(const kf_job *job, const char *id)
{
    const kf_format *format = kfi_format_find(job->library, id);
    return format ? format->title : id;
}

/* ---------------------------------------------------------------- JSON */

static void json_number(kfi_json *json, const char *name, double value, int digits)
{
    kfi_json_key(json, name);
    kfi_json_number(json, value, digits);
}

static void json_count(kfi_json *json, const char *name, size_t count)
{
    kfi_json_key(json, name);
    kfi_json_count(json, count);
}

static void json_take(kfi_json *json, const kf_take *take, int digits, totals *sum)
{
    take_tally tallies;
    count_take(take, &tallies, sum);
    kfi_json_line(json);
    kfi_json_begin(json, '{');
    kfi_json_named(json, "name", take->name);
    json_number(json, "start", take->start, digits);
    json_number(json, "end", take->end, digits);
    json_count(json, "tracks", tallies.all.tracks);
    json_count(json, "curves", tallies.all.curves);
    json_count(json, "keys", tallies.all.keys);
    kfi_json_key(json, "channels");
    kfi_json_begin(json, '{');
    for (int c = 0; c < KF_CHANNEL_COUNT; c++) {
        const tally *t = &tallies.channel[c];
        if (t->keys == 0)
            continue;
        kfi_json_key(json, kfi_channel_name((kf_channel)c));
        kfi_json_begin(json, '{');
        json_count(json, "tracks", t->tracks);
        json_count(json, "curves", t->curves);
        json_count(json, "keys", t->keys);
        json_number(json, "first", t->first, digits);
        json_number(json, "last", t->last, digits);
        if (!isnan(t->low)) {
            json_number(json, "min", t->low, digits);
            json_number(json, "max", t->high, digits);
        }
        kfi_json_end(json, '}');
    }
    kfi_json_end(json, '}');
    kfi_json_end(json, '}');
}

static void write_json(kfi_json *json, const kf_anim *anim)
{
    int digits = anim->float32 ? 9 : 17;
    totals sum = {0};
    kfi_json_begin(json, '{');
    kfi_json_named(json, "format", anim->format);
    kfi_json_named(json, "title", title_of(json->job, anim->format));
    if (anim->creator)
        kfi_json_named(json, "creator", anim->creator);
    json_number(json, "frame_rate", anim->frame_rate, digits);
    kfi_json_line(json);
    kfi_json_key(json, "nodes");
    kfi_json_begin(json, '[');
    for (size_t i = 0; i < anim->node_count; i++) {
        kfi_json_line(json);
        kfi_json_begin(json, '{');
        kfi_json_named(json, "name", anim->nodes[i].name);
        kfi_json_key(json, "parent");
        if (anim->nodes[i].parent < 0)
            kfi_json_null(json);
        else
            kfi_json_count(json, (uint64_t)anim->nodes[i].parent);
        kfi_json_end(json, '}');
    }
    kfi_json_end(json, ']');
    kfi_json_line(json);
    kfi_json_key(json, "takes");
    kfi_json_begin(json, '[');
    for (size_t i = 0; i < anim->take_count; i++)
        json_take(json, &anim->takes[i], digits, &sum);
    kfi_json_end(json, ']');
    kfi_json_line(json);
    json_count(json, "tracks", sum.tracks);
    json_count(json, "curves", sum.curves);
    json_count(json, "keys", sum.keys);
    kfi_json_key(json, "interpolations");
    kfi_json_begin(json, '{');
    for (int i = 0; i < KF_INTERP_COUNT; i++)
        if (sum.interp[i])
            json_count(json, kfi_interp_name((kf_interp)i), sum.interp[i]);
    kfi_json_end(json, '}');
    kfi_json_end(json, '}');
    kfi_json_plain(json, "\n");
}

/* ---------------------------------------------------------------- text */

static void counted(kfi_json *out, size_t count, const char *what)
{
    kfi_json_plain_number(out, (double)count, 15);
    kfi_json_plain(out, " ");
    kfi_json_plain(out, what);
    kfi_json_plain(out, count == 1 ? "" : "s");
}

static void range(kfi_json *out, double low, double high)
{
    kfi_json_plain_number(out, low, 6);
    kfi_json_plain(out, " .. ");
    kfi_json_plain_number(out, high, 6);
}

static void text_take(kfi_json *out, const kf_take *take, totals *sum)
{
    take_tally tallies;
    count_take(take, &tallies, sum);
    kfi_json_plain(out, "  take ");
    kfi_json_plain_name(out, take->name);
    kfi_json_plain(out, ": ");
    range(out, take->start, take->end);
    kfi_json_plain(out, " s, ");
    counted(out, tallies.all.tracks, "track");
    kfi_json_plain(out, ", ");
    counted(out, tallies.all.curves, "curve");
    kfi_json_plain(out, ", ");
    counted(out, tallies.all.keys, "key");
    kfi_json_plain(out, "\n");
    for (int c = 0; c < KF_CHANNEL_COUNT; c++) {
        const tally *t = &tallies.channel[c];
        if (t->keys == 0)
            continue;
        kfi_json_plain(out, "    ");
        kfi_json_plain(out, kfi_channel_name((kf_channel)c));
        kfi_json_plain(out, ": ");
        counted(out, t->tracks, "track");
        kfi_json_plain(out, ", ");
        counted(out, t->curves, "curve");
        kfi_json_plain(out, ", ");
        counted(out, t->keys, "key");
        kfi_json_plain(out, " at ");
        range(out, t->first, t->last);
        kfi_json_plain(out, " s");
        if (!isnan(t->low)) {
            kfi_json_plain(out, ", values ");
            range(out, t->low, t->high);
        }
        kfi_json_plain(out, "\n");
    }
}

static void write_text(kfi_json *out, const kf_anim *anim)
{
    totals sum = {0};
    kfi_json_plain(out, anim->format);
    kfi_json_plain(out, ": ");
    kfi_json_plain(out, title_of(out->job, anim->format));
    if (anim->creator) {
        kfi_json_plain(out, ", written by ");
        kfi_json_plain_name(out, anim->creator);
    }
    kfi_json_plain(out, "\n  ");
    counted(out, anim->node_count, "node");
    kfi_json_plain(out, ", ");
    counted(out, anim->take_count, "take");
    kfi_json_plain(out, ", ");
    kfi_json_plain_number(out, anim->frame_rate, 6);
    kfi_json_plain(out, " frames a second\n");
    for (size_t i = 0; i < anim->take_count; i++)
        text_take(out, &anim->takes[i], &sum);
    kfi_json_plain(out, "  ");
    counted(out, sum.keys, "key");
    const char *separator = ": ";
    for (int i = 0; i < KF_INTERP_COUNT; i++) {
        if (sum.interp[i] == 0)
            continue;
        kfi_json_plain(out, separator);
        kfi_json_plain_number(out, (double)sum.interp[i], 15);
        kfi_json_plain(out, " ");
        kfi_json_plain(out, kfi_interp_name((kf_interp)i));
        separator = ", ";
    }
    kfi_json_plain(out, "\n");
}

bool kf_info(kf_job *job, const kf_anim *anim, bool json, const kf_sink *sink, kf_error *error)
{
    kfi_enter(job);
    kfi_json *out = kfi_alloc_raw(job, 1, sizeof *out);
    if (out) {
        kfi_json_init(out, job, sink);
        if (json)
            write_json(out, anim);
        else
            write_text(out, anim);
        kfi_json_finish(out);
    }
    return kfi_leave(job, error);
}
