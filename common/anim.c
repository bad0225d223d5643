#include "anim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const kf_transform KFI_IDENTITY = {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}};
const kf_settings KFI_SETTINGS = {1, 1, 2, 1, 0, 1, 1.0, 0};

const char *kfi_channel_name(kf_channel channel)
{
    static const char *const names[KF_CHANNEL_COUNT] = {"translation", "rotation", "scale",
                                                        "visibility",  "morph",    "custom"};
    return (unsigned)channel < KF_CHANNEL_COUNT ? names[channel] : "unknown";
}

const char *kfi_interp_name(kf_interp interp)
{
    static const char *const names[KF_INTERP_COUNT] = {"step",    "step-next", "linear", "bezier",
                                                       "hermite", "tcb",       "auto"};
    return (unsigned)interp < KF_INTERP_COUNT ? names[interp] : "unknown";
}

static const char *const ORDERS[6] = {"XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX"};

const char *kfi_order_name(kf_rotation_order order)
{
    return ORDERS[(unsigned)order < 6 ? order : KF_XYZ];
}

bool kfi_order_from_name(const char *name, kf_rotation_order *order)
{
    *order = KF_XYZ;
    for (int i = 0; name && i < 6; i++) {
        const char *letters = ORDERS[i];
        int at = 0;
        while (at < 3 && (name[at] == letters[at] || name[at] == letters[at] - 'A' + 'a'))
            at++;
        if (at == 3 && name[3] == '\0') {
            *order = (kf_rotation_order)i;
            return true;
        }
    }
    return !name;
}

void kfi_anim_init(kf_anim *anim, const char *format)
{
    memset(anim, 0, sizeof *anim);
    anim->format = format;
    anim->frame_rate = 30.0;
    anim->settings = KFI_SETTINGS;
    anim->basis = KFI_IDENTITY;
}

kf_node *kfi_add_node(kf_job *job, kf_anim *anim, const char *name, int32_t parent)
{
    kf_node *node = kfi_push(job, &anim->nodes, &anim->node_count, sizeof *node);
    if (node) {
        node->name = name;
        node->parent = parent;
        node->rest = KFI_IDENTITY;
        node->source = (int32_t)(anim->node_count - 1);
    }
    return node;
}

kf_take *kfi_add_take(kf_job *job, kf_anim *anim, const char *name)
{
    kf_take *take = kfi_push(job, &anim->takes, &anim->take_count, sizeof *take);
    if (take) {
        take->name = name;
        take->source = (int32_t)(anim->take_count - 1);
    }
    return take;
}

kf_track *kfi_add_track(kf_job *job, kf_take *take, uint32_t node, kf_channel channel, unsigned curves)
{
    kf_track *track = kfi_push(job, &take->tracks, &take->track_count, sizeof *track);
    if (track) {
        track->node = node;
        track->channel = (uint8_t)channel;
        track->curves = (uint8_t)curves;
        track->quaternion = curves == 0;
        track->source = -1;
        if (channel == KF_SCALE)
            track->rest[0] = track->rest[1] = track->rest[2] = 1.0;
        if (channel == KF_VISIBILITY)
            track->rest[0] = 1.0;
    }
    return track;
}

const kf_take *kfi_take_named(const kf_anim *anim, const char *name)
{
    for (size_t i = 0; i < anim->take_count; i++)
        if (strcmp(anim->takes[i].name, name) == 0)
            return &anim->takes[i];
    return NULL;
}

const kf_property *kfi_property_named(const kf_node *node, const char *name)
{
    for (size_t i = 0; i < node->property_count; i++)
        if (strcmp(node->properties[i].name, name) == 0)
            return &node->properties[i];
    return NULL;
}

bool kfi_make_keys(kf_job *job, kf_curve *curve, size_t count, unsigned parts)
{
    bool handles = parts & KFI_HANDLES, tcb = parts & KFI_NUMBERS;
    void *(*alloc)(kf_job *, size_t, size_t) = parts & KFI_UNSET ? kfi_alloc_raw : kfi_alloc;
    curve->keys = alloc(job, count, sizeof *curve->keys);
    curve->handles = handles ? alloc(job, count, sizeof *curve->handles) : NULL;
    curve->tcb = tcb ? alloc(job, count, sizeof *curve->tcb) : NULL;
    curve->count = count;
    return curve->keys && (!handles || curve->handles) && (!tcb || curve->tcb);
}

bool kfi_need_handles(kf_job *job, kf_curve *curve)
{
    if (!curve->handles)
        curve->handles = kfi_alloc(job, curve->count, sizeof *curve->handles);
    return curve->handles != NULL;
}

void kfi_copy_keys(kf_curve *to, size_t at, const kf_curve *curve, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to->keys[at + i] = curve->keys[from + i];
        if (to->handles)
            to->handles[at + i] = kfi_handles_of(curve, from + i);
        if (to->tcb)
            to->tcb[at + i] = curve->tcb ? curve->tcb[from + i] : (kf_tcb){0};
    }
}

bool kfi_own_keys(kf_job *job, kf_curve *curve, unsigned parts)
{
    const kf_curve from = *curve;
    if (!kfi_make_keys(job, curve, from.count, kfi_parts(&from) | parts))
        return false;
    kfi_copy_keys(curve, 0, &from, 0, from.count);
    return true;
}

bool kfi_make_quat_keys(kf_job *job, kf_quat_curve *curve, size_t count, bool tcb)
{
    curve->keys = kfi_alloc(job, count, sizeof *curve->keys);
    curve->tcb = tcb ? kfi_alloc(job, count, sizeof *curve->tcb) : NULL;
    curve->count = count;
    return curve->keys && (!tcb || curve->tcb);
}

uint8_t kfi_nonfinite_flags(double value)
{
    return (uint8_t)(KF_KEY_NONFINITE | (isnan(value) ? KF_KEY_NAN
                                         : value > 0  ? KF_KEY_INFINITE
                                                      : KF_KEY_MINUS_INFINITE));
}

bool kfi_tracks_by_node(kf_job *job, const kf_anim *anim, const kf_take *take, size_t **first, size_t **order)
{
    *first = kfi_alloc(job, anim->node_count + 2, sizeof **first);
    *order = kfi_alloc(job, take->track_count, sizeof **order);
    if (!*first || !*order)
        return false;
    for (size_t i = 0; i < take->track_count; i++)
        (*first)[take->tracks[i].node + 2]++;
    for (size_t n = 2; n < anim->node_count + 2; n++)
        (*first)[n] += (*first)[n - 1];
    for (size_t i = 0; i < take->track_count; i++)
        (*order)[(*first)[take->tracks[i].node + 1]++] = i;
    return true;
}

bool kfi_take_range(const kf_take *take, double *start, double *end)
{
    bool any = false;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        for (unsigned c = 0; c < (track->quaternion ? 1u : track->curves); c++) {
            size_t count = track->quaternion ? track->quat.count : track->curve[c].count;
            if (count == 0)
                continue;
            double first = track->quaternion ? track->quat.keys[0].time : track->curve[c].keys[0].time;
            double last = track->quaternion ? track->quat.keys[count - 1].time : track->curve[c].keys[count - 1].time;
            if (!any || first < *start)
                *start = first;
            if (!any || last > *end)
                *end = last;
            any = true;
        }
    }
    return any;
}

size_t kfi_track_keys(const kf_track *track)
{
    size_t count = track->quat.count;
    for (unsigned c = 0; c < track->curves; c++)
        count += track->curve[c].count;
    return count;
}

double kfi_track_start(const kf_track *track, double otherwise)
{
    const kf_take alone = {.tracks = (kf_track *)track, .track_count = 1};
    double start, end;
    return kfi_take_range(&alone, &start, &end) ? start : otherwise;
}

bool kfi_track_neutral(const kf_track *track)
{
    double neutral = track->channel == KF_SCALE || track->channel == KF_VISIBILITY ? 1.0 : 0.0;
    if (track->quaternion || track->channel == KF_CUSTOM)
        return false;
    for (unsigned c = 0; c < track->curves; c++) {
        const kf_curve *curve = &track->curve[c];
        for (size_t i = 0; i < curve->count; i++)
            if (!(fabs(curve->keys[i].value - neutral) <= 1e-5))
                return false;
        if (curve->count == 0 && !(fabs(track->rest[c] - neutral) <= 1e-5))
            return false;
    }
    return true;
}

bool kfi_warn_lost(kf_job *job, const char *id, const kf_anim *anim, const kf_take *take, const kf_track *track,
                   const char *why)
{
    return kfi_warn(job, id, "take \"%.60s\", node \"%.60s\", %s%s%.60s from %.4f s: %s", take->name,
                    anim->nodes[track->node].name, kfi_channel_name((kf_channel)track->channel),
                    track->name ? " " : "", track->name ? track->name : "", kfi_track_start(track, take->start), why);
}

bool kfi_note_unnamed(kf_job *job, const kf_anim *original, const kf_take *take)
{
    bool known = original && take->source >= 0 && (size_t)take->source < original->take_count;
    if (!known || strcmp(take->name, original->takes[take->source].name) == 0)
        return true;
    job->unnamed = true;
    return kfi_note(job, "unnamed", "take \"%.60s\": the format has no room for its new name", take->name);
}

void kfi_fit_take_ranges(kf_anim *anim)
{
    for (size_t i = 0; i < anim->take_count; i++)
        if ((anim->takes[i].start == 0.0 && anim->takes[i].end == 0.0) || anim->takes[i].end < anim->takes[i].start)
            kfi_take_range(&anim->takes[i], &anim->takes[i].start, &anim->takes[i].end);
}

static bool finite_all(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool bad_track(kf_job *job, const kf_anim *anim, const kf_take *take, const kf_track *track, const char *what)
{
    return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "take \"%.60s\", node \"%.60s\", %s: %s", take->name,
                    anim->nodes[track->node].name, kfi_channel_name((kf_channel)track->channel), what);
}

static const char *interp_problem(uint8_t interp, const kf_tcb *tcb)
{
    if (interp >= KF_INTERP_COUNT)
        return "a key's interpolation is unknown";
    if (interp == KF_TCB && !tcb)
        return "a TCB key has no TCB numbers";
    if (tcb && (!isfinite(tcb->tension) || !isfinite(tcb->continuity) || !isfinite(tcb->bias) ||
                !isfinite(tcb->ease_in) || !isfinite(tcb->ease_out)))
        return "a key's TCB numbers are not finite";
    return NULL;
}

/* A number less itself is 0 only if it is finite. */
static inline bool finite_key(const kf_key *key)
{
    return (key->time - key->time) + (key->value - key->value) == 0;
}

static inline bool finite_handles(const kf_handles *h)
{
    return (h->in.dt - h->in.dt) + (h->in.dv - h->in.dv) + (h->out.dt - h->out.dt) + (h->out.dv - h->out.dv) == 0;
}

/* Whether there is nothing to say of any key: most curves are like that, and this takes half the time of looking for words. */
static bool curve_fine(const kf_curve *curve)
{
    double odd = 0, earlier = curve->count ? curve->keys[0].time : 0;
    bool fine = true;
    unsigned highest = 0, handled = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        kfi_look_ahead(key);
        odd += (key->time - key->time) + (key->value - key->value);
        fine &= key->time >= earlier;
        earlier = key->time;
        highest = key->interp > highest ? key->interp : highest;
        handled |= (key->interp == KF_BEZIER) | (key->interp == KF_HERMITE);
    }
    double bent = 0;
    for (size_t i = 0; curve->handles && i < curve->count; i++) {
        const kf_handles *h = &curve->handles[i];
        kfi_look_ahead(h);
        odd += (h->in.dt - h->in.dt) + (h->in.dv - h->in.dv);
        bent += (h->out.dt - h->out.dt) + (h->out.dv - h->out.dv);
    }
    return odd + bent == 0 && fine && highest < KF_TCB && (curve->handles || !handled) && !curve->tcb;
}

static const char *curve_problem(const kf_curve *curve)
{
    if (curve_fine(curve))
        return NULL;
    for (size_t i = 0; i < curve->count; i++) {
        const kf_key *key = &curve->keys[i];
        kfi_look_ahead(key);
        if (!finite_key(key))
            return "a key's time or value is not a finite number";
        if (curve->handles && !finite_handles(&curve->handles[i]))
            return "a key's handle is not a finite number";
        if (!curve->handles && (key->interp == KF_BEZIER || key->interp == KF_HERMITE))
            return "a BEZIER or HERMITE key has no handles";
        if (i > 0 && key->time < curve->keys[i - 1].time)
            return "key times go backwards";
        const char *problem = interp_problem(key->interp, curve->tcb ? &curve->tcb[i] : NULL);
        if (problem)
            return problem;
    }
    return NULL;
}

static const char *quat_problem(const kf_quat_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const kf_quat_key *key = &curve->keys[i];
        double length = 0;
        for (int c = 0; c < 4; c++)
            length += key->q[c] * key->q[c];
        if (!isfinite(key->time) || !(fabs(length - 1.0) < 1e-6))
            return "a rotation key has no finite time or is no unit quaternion";
        if (i > 0 && key->time < curve->keys[i - 1].time)
            return "key times go backwards";
        const char *problem = interp_problem(key->interp, curve->tcb ? &curve->tcb[i] : NULL);
        if (problem)
            return problem;
    }
    return NULL;
}

static bool validate_take(kf_job *job, kf_anim *anim, kf_take *take)
{
    if (!take->name || !isfinite(take->start) || !isfinite(take->end))
        return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "a take has no name or no finite span");
    if (take->layer_count == 0) {
        kf_layer *layer = kfi_push(job, &take->layers, &take->layer_count, sizeof *layer);
        if (!layer)
            return false;
        *layer = (kf_layer){.name = take->name, .weight = 1.0};
    }
    for (size_t i = 0; i < take->track_count; i++) {
        kf_track *track = &take->tracks[i];
        if (track->node >= anim->node_count || track->layer >= take->layer_count ||
            track->channel >= KF_CHANNEL_COUNT || track->curves > 3 || track->quaternion != (track->curves == 0))
            return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "take \"%.60s\", track %zu: impossible structure",
                            take->name, i);
        if ((track->channel == KF_MORPH || track->channel == KF_CUSTOM) && !track->name)
            return bad_track(job, anim, take, track, "the channel has no name");
        if (!finite_all(track->rest, 3))
            return bad_track(job, anim, take, track, "a static value is not finite");
        if (track->quaternion) {
            const char *problem = quat_problem(&track->quat);
            if (problem)
                return bad_track(job, anim, take, track, problem);
        }
        for (unsigned c = 0; c < track->curves; c++) {
            const char *problem = curve_problem(&track->curve[c]);
            if (problem)
                return bad_track(job, anim, take, track, problem);
        }
    }
    return true;
}

static bool validate_mesh(kf_job *job, const kf_node *node)
{
    const kf_mesh *mesh = node->mesh;
    bool ok = mesh->point_count == 0 || finite_all(&mesh->points[0][0], mesh->point_count * 3);
    for (size_t s = 0; ok && s < mesh->shape_count; s++) {
        const kf_shape *shape = &mesh->shapes[s];
        ok = shape->name && isfinite(shape->weight) && (shape->count == 0 || finite_all(&shape->offset[0][0], shape->count * 3)) &&
             (shape->index || shape->count <= mesh->point_count);
        for (size_t i = 0; ok && shape->index && i < shape->count; i++)
            ok = shape->index[i] < mesh->point_count;
    }
    return ok || kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET,
                          "node \"%.60s\": a shape has no name, points that are not there or offsets that are not finite",
                          node->name);
}

bool kfi_anim_validate(kf_job *job, kf_anim *anim)
{
    if (!(anim->frame_rate > 0) || !isfinite(anim->frame_rate))
        return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "frame rate: expected more than 0, found %g", anim->frame_rate);
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *node = &anim->nodes[i];
        if (!node->name || node->parent >= (int32_t)i || node->parent < -1 || node->order > KF_ZYX)
            return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "node %zu: no name, an impossible parent or order", i);
        if (!finite_all(node->rest.translation, 3) || !finite_all(node->rest.rotation, 3) ||
            !finite_all(node->rest.scale, 3))
            return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "node \"%.60s\": its rest transform is not finite",
                            node->name);
        if (node->mesh && !validate_mesh(job, node))
            return false;
    }
    for (size_t i = 0; i < anim->take_count; i++)
        if (!validate_take(job, anim, &anim->takes[i]))
            return false;
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void kfi_sort_numbers(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, ascending);
}

const char *kfi_stem(kf_job *job, const char *file, const char *otherwise)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    size_t size = !file ? 0 : dot && dot != file ? (size_t)(dot - file) : strlen(file);
    return size ? kfi_strndup(job, file, size) : otherwise;
}
