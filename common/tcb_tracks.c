#include "tcb_tracks.h"

#include <math.h>
#include <string.h>

static const char PREFIX[] = "kf_";
static const char *const NUMBERS[KFI_TCB_NUMBERS] = {"_tension", "_continuity", "_bias", "_ease_in", "_ease_out"};

float kfi_tcb_get(const kf_tcb *tcb, unsigned number)
{
    const float numbers[KFI_TCB_NUMBERS] = {tcb->tension, tcb->continuity, tcb->bias, tcb->ease_in, tcb->ease_out};
    return numbers[number];
}

void kfi_tcb_set(kf_tcb *tcb, unsigned number, float value)
{
    float *const numbers[KFI_TCB_NUMBERS] = {&tcb->tension, &tcb->continuity, &tcb->bias, &tcb->ease_in,
                                             &tcb->ease_out};
    *numbers[number] = value;
}

/* ---------------------------------------------------------------- there */

/* The numbers of a track: those of its first curve that has any, since the games share them among x, y and z. */
static const kf_tcb *numbers_of(const kf_track *track, size_t *count)
{
    *count = track->quat.count;
    if (track->quaternion)
        return track->quat.tcb;
    for (unsigned c = 0; c < track->curves; c++) {
        *count = track->curve[c].count;
        if (track->curve[c].tcb)
            return track->curve[c].tcb;
    }
    return NULL;
}

static bool any_tcb(const kf_track *track)
{
    for (size_t i = 0; i < track->quat.count; i++)
        if (track->quat.keys[i].interp == KF_TCB)
            return true;
    for (unsigned c = 0; c < track->curves; c++)
        for (size_t i = 0; i < track->curve[c].count; i++)
            if (track->curve[c].keys[i].interp == KF_TCB)
                return true;
    return false;
}

static double time_of(const kf_track *track, size_t i)
{
    if (track->quaternion)
        return track->quat.keys[i].time;
    for (unsigned c = 0; c < track->curves; c++)
        if (track->curve[c].tcb)
            return track->curve[c].keys[i].time;
    return 0;
}

bool kfi_tcb_tracks_add(kf_job *job, const kf_track *from, uint32_t node, int32_t source, double shift, kf_take *to)
{
    size_t count;
    const kf_tcb *tcb = numbers_of(from, &count);
    if (!tcb || count == 0 || !any_tcb(from))
        return true;
    for (unsigned n = 0; n < KFI_TCB_NUMBERS; n++) {
        bool any = from->quaternion && n == 0; /* even without tension: its keys tell where the rotation's are */
        for (size_t i = 0; i < count; i++)
            any = any || (kfi_tcb_get(&tcb[i], n) != 0 && (from->quaternion || n >= 3));
        if (!any)
            continue;
        kf_track *track = kfi_add_track(job, to, node, KF_CUSTOM, 1);
        const char *of = from->name ? from->name : kfi_channel_name((kf_channel)from->channel);
        if (!track || !kfi_make_keys(job, &track->curve[0], count, 0))
            return false;
        track->source = source;
        track->name = kfi_format_text(job, "%s%s%s", PREFIX, of, NUMBERS[n]);
        if (!track->name)
            return false;
        for (size_t i = 0; i < count; i++)
            track->curve[0].keys[i] = (kf_key){
                .time = time_of(from, i) + shift, .value = (double)kfi_tcb_get(&tcb[i], n), .interp = KF_STEP};
    }
    return true;
}

/* ---------------------------------------------------------------- back */

bool kfi_tcb_track_parse(const kf_track *track, kf_channel *channel, const char **name, size_t *length,
                         unsigned *number)
{
    size_t prefix = strlen(PREFIX);
    if (track->channel != KF_CUSTOM || track->curves != 1 || strncmp(track->name, PREFIX, prefix) != 0)
        return false;
    size_t size = strlen(track->name);
    for (unsigned n = 0; n < KFI_TCB_NUMBERS; n++) {
        size_t suffix = strlen(NUMBERS[n]);
        if (size <= prefix + suffix || strcmp(track->name + size - suffix, NUMBERS[n]) != 0)
            continue;
        *number = n;
        *name = track->name + prefix;
        *length = size - prefix - suffix;
        *channel = KF_CUSTOM;
        for (int i = 0; i <= KF_SCALE; i++)
            if (strlen(kfi_channel_name((kf_channel)i)) == *length &&
                strncmp(kfi_channel_name((kf_channel)i), *name, *length) == 0)
                *channel = (kf_channel)i;
        return true;
    }
    return false;
}

/* The tracks of each node, one behind the other. */
typedef struct chains {
    size_t *head; /* for each node, its first track + 1 */
    size_t *next; /* for each track, the node's next one + 1 */
} chains;

static bool make_chains(kf_job *job, const kf_anim *anim, const kf_take *take, size_t first, chains *c)
{
    c->head = kfi_alloc(job, anim->node_count, sizeof *c->head);
    c->next = kfi_alloc(job, take->track_count, sizeof *c->next);
    if (!c->head || !c->next)
        return false;
    for (size_t i = take->track_count; i > first; i--) {
        size_t *head = &c->head[take->tracks[i - 1].node];
        c->next[i - 1] = *head;
        *head = i;
    }
    return true;
}

static kf_track *find_track(kf_take *take, const chains *c, uint32_t node, kf_channel channel, const char *name, size_t length)
{
    for (size_t i = c->head[node]; i > 0; i = c->next[i - 1]) {
        kf_track *track = &take->tracks[i - 1];
        if (track->channel == channel &&
            (channel != KF_CUSTOM || (strlen(track->name) == length && strncmp(track->name, name, length) == 0)))
            return track;
    }
    return NULL;
}

static void fold_scalar(const kf_curve *numbers, unsigned number, kf_track *track)
{
    for (unsigned c = 0; c < track->curves; c++) {
        kf_curve *curve = &track->curve[c];
        size_t at = 0;
        for (size_t i = 0; curve->tcb && i < curve->count; i++) {
            while (at < numbers->count && numbers->keys[at].time < curve->keys[i].time - 1e-6)
                at++;
            if (at < numbers->count && numbers->keys[at].time <= curve->keys[i].time + 1e-6)
                kfi_tcb_set(&curve->tcb[i], number, (float)numbers->keys[at].value);
        }
    }
}

static void euler_at(const kf_track *track, kf_rotation_order order, double time, double q[4])
{
    double euler[3];
    for (unsigned c = 0; c < 3; c++)
        euler[c] = kfi_curve_value(&track->curve[c], time, track->rest[c]);
    kfi_quat_from_euler(euler, order, q);
}

/* Quaternion keys where the numbers have theirs. */
static bool make_quat_keys(kf_job *job, const kf_curve *numbers, const kf_track *track, kf_rotation_order order,
                           kf_quat_curve *to)
{
    if (!kfi_make_quat_keys(job, to, numbers->count, true))
        return false;
    for (size_t i = 0; i < numbers->count; i++) {
        kf_quat_key *key = &to->keys[i];
        key->time = numbers->keys[i].time;
        key->interp = KF_TCB;
        euler_at(track, order, key->time, key->q);
    }
    return true;
}

/* Whether the quaternion keys play what the Euler curves do, looked at between and on their keys. */
static bool same_motion(const kf_track *track, kf_rotation_order order, const kf_quat_curve *quat)
{
    enum { PROBES = 8 };
    for (size_t i = 0; i + 1 < quat->count; i++) {
        for (int p = 1; p < PROBES; p++) {
            double time = quat->keys[i].time + (quat->keys[i + 1].time - quat->keys[i].time) * p / PROBES;
            double a[4], b[4];
            euler_at(track, order, time, a);
            kfi_quat_curve_value(quat, time, b);
            if (kfi_quat_angle(a, b) > 0.02)
                return false;
        }
    }
    return true;
}

bool kfi_tcb_tracks_fold(kf_job *job, const kf_anim *anim, kf_take *take, size_t first)
{
    kf_channel channel;
    const char *name;
    size_t length;
    unsigned number;
    chains c;
    kf_quat_curve *quats = kfi_alloc(job, take->track_count, sizeof *quats); /* for the rotations among the tracks */
    bool *folded = kfi_alloc(job, take->track_count, sizeof *folded);
    if (!quats || !folded || !make_chains(job, anim, take, first, &c))
        return false;
    for (size_t i = first; i < take->track_count; i++) {
        const kf_track *numbers = &take->tracks[i];
        if (!kfi_tcb_track_parse(numbers, &channel, &name, &length, &number))
            continue;
        kf_track *track = find_track(take, &c, numbers->node, channel, name, length);
        if (!track)
            continue;
        folded[i] = true;
        if (channel != KF_ROTATION || number >= 3 ? track->curve[0].tcb != NULL : false) {
            fold_scalar(&numbers->curve[0], number, track);
            continue;
        }
        if (channel != KF_ROTATION || track->curves != 3)
            continue;
        kf_quat_curve *quat = &quats[track - take->tracks];
        kf_rotation_order order = (kf_rotation_order)anim->nodes[track->node].order;
        if (!quat->keys && !make_quat_keys(job, &numbers->curve[0], track, order, quat))
            return false;
        for (size_t k = 0; k < quat->count && k < numbers->curve[0].count; k++)
            kfi_tcb_set(&quat->tcb[k], number, (float)numbers->curve[0].keys[k].value);
    }
    size_t kept = first;
    for (size_t i = first; i < take->track_count; i++) {
        kf_track *track = &take->tracks[i];
        kf_rotation_order order = (kf_rotation_order)anim->nodes[track->node].order;
        if (folded[i])
            continue;
        if (quats[i].keys && same_motion(track, order, &quats[i])) {
            track->quat = quats[i];
            track->quaternion = true;
            track->curves = 0;
        }
        take->tracks[kept++] = *track;
    }
    take->track_count = kept;
    return true;
}
