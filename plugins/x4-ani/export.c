/* From the neutral animation to a file. */
#include "x4-ani/export_plan.h"
#include "utf8.h"

#include <math.h>

/* A 64-byte name and its NUL, cut where it is too long. What lies behind that is nobody's name and stays. */
static bool write_name(kf_job *job, uint8_t *field, const char *name, const char *what)
{
    size_t length = strlen(name), keep = length;
    if (keep > X4_NAME_SIZE - 1) {
        job->name_room = X4_NAME_SIZE - 1;
        keep = kfi_utf8_cut(name, job->name_room);
    }
    memcpy(field, name, keep);
    field[keep] = '\0';
    return keep == length ||
           kfi_warn(job, "name-cut", "%s \"%.100s\" is longer than 63 bytes and was cut after %zu", what,
                    name, keep);
}

static bool write_names(const x4_plan *p, const x4_planned *item, uint8_t *desc)
{
    if (item->node != X4_NONE) {
        const kf_node *node = &p->anim->nodes[item->node];
        if ((!item->base ||
             strcmp(node->name, p->original->nodes[p->native->node_of[item->index]].name) != 0) &&
            !write_name(p->job, desc + X4_DESC_NAME, node->name, "node"))
            return false;
    }
    if (item->take == X4_NONE)
        return true;
    const kf_take *take = &p->anim->takes[item->take];
    return (item->base &&
            strcmp(take->name, p->original->takes[p->native->take_of[item->index]].name) == 0) ||
           write_name(p->job, desc + X4_DESC_SUB_NAME, take->name, "take");
}

static bool write_keys(const x4_plan *p, const x4_planned *item, uint8_t *keys)
{
    for (unsigned kind = 0; kind < X4_KINDS; kind++) {
        size_t size = item->count[kind] * X4_KEY_SIZE;
        const kf_track *track = item->track[kind];
        if (size == 0)
            continue;
        if (!track) {
            memcpy(keys, kfi_x4_keys(&p->native->ani, item->index, kind), size);
        } else {
            x4_list list = kfi_x4_list_of(p, item, kind);
            if ((track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT) && list.source)
                memcpy(keys, list.source, size);
            else if (!kfi_x4_write_list(p->job, &list, keys))
                return false;
        }
        keys += size;
    }
    return true;
}

static float last_time(const uint8_t *keys, size_t count)
{
    float last = 0;
    for (size_t i = 0; i < count; i++)
        last = fmaxf(last, kfi_x4_time(keys + i * X4_KEY_SIZE)); /* passes over NaN */
    return last;
}

/* A new description lasts as long as its take. One of the original's keeps its Duration, unless its take was
 * made longer or shorter, or keys were moved or added beyond it. */
static bool write_duration(const x4_plan *p, const x4_planned *item, uint8_t *desc, const uint8_t *keys,
                           size_t count)
{
    const kf_take *take = item->take == X4_NONE ? NULL : &p->anim->takes[item->take];
    float last = last_time(keys, count), duration = 0;
    if (!item->base) {
        /* NOLINTNEXTLINE: what is new has a take */
        x4_list list = {.take = take->name, .node = p->anim->nodes[item->node].name};
        double length = take->end - (take->source < 0 ? take->start : 0);
        if (!kfi_x4_to_f32(p->job, &list, isfinite(length) && length > 0 ? length : 0, &duration))
            return false;
        kfi_store_f32(desc + X4_DESC_DURATION, fmaxf(duration, last));
        return true;
    }
    float old = kfi_load_f32(item->base + X4_DESC_DURATION);
    size_t old_count = p->native->ani.first[item->index + 1] - p->native->ani.first[item->index];
    float old_last = last_time(kfi_x4_keys(&p->native->ani, item->index, 0), old_count);
    if (!isfinite(old))
        return true;
    duration = old;
    if (take && take->source >= 0) {
        double old_end = p->original->takes[p->native->take_of[item->index]].end;
        if (fabs(take->end - old_end) > 1e-4 && fabs(old - old_end) <= 1e-6 && take->end > 0)
            duration = (float)take->end;
    }
    if (last > duration && last != old_last && isfinite(last))
        duration = last;
    if (duration != old && isfinite(duration))
        kfi_store_f32(desc + X4_DESC_DURATION, duration);
    return true;
}

static bool write_item(const x4_plan *p, const x4_planned *item, uint8_t *desc, uint8_t *keys, size_t count)
{
    if (item->base)
        memcpy(desc, item->base, X4_DESC_SIZE);
    else
        memset(desc, 0, X4_DESC_SIZE);
    for (unsigned kind = 0; kind < X4_KINDS; kind++)
        kfi_store_u32(desc + X4_DESC_COUNTS + 4 * kind, (uint32_t)item->count[kind]);
    return write_names(p, item, desc) && write_keys(p, item, keys) &&
           write_duration(p, item, desc, keys, count);
}

static size_t keys_in(const x4_planned *item)
{
    size_t count = 0;
    for (unsigned kind = 0; kind < X4_KINDS; kind++)
        count += item->count[kind];
    return count;
}

static bool write_plan(const x4_plan *p, kfi_writer *out)
{
    kfi_x4_ani ani = {.version = 1};
    size_t descs = 0, keys = 0;
    for (size_t i = 0; i < p->count; i++) {
        descs += !p->items[i].dropped;
        keys += p->items[i].dropped ? 0 : keys_in(&p->items[i]);
    }
    if (descs == 0 && !p->native)
        return kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET,
                        "there is no animation that x4-ani could store");
    if (descs > (INT32_MAX - X4_HEADER_SIZE) / X4_DESC_SIZE)
        return kfi_fail(p->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "%zu descriptions are too many", descs);
    if (keys > (SIZE_MAX - X4_HEADER_SIZE - descs * X4_DESC_SIZE) / X4_KEY_SIZE)
        return kfi_fail(p->job, KF_MEMORY_LIMIT, KF_NO_OFFSET, "%zu keys are too many for memory", keys);
    ani.count = (uint32_t)descs;
    ani.key_offset = X4_HEADER_SIZE + X4_DESC_SIZE * ani.count;
    if (p->native) { /* which of the two conventions shows only where there are descriptions */
        const kfi_x4_ani *from = &p->native->ani;
        ani.version = from->version;
        ani.padding = from->padding;
        if (from->count > 0 && from->key_offset == X4_HEADER_SIZE)
            ani.key_offset = X4_HEADER_SIZE;
    }
    size_t records = descs * X4_DESC_SIZE + keys * X4_KEY_SIZE;
    kfi_writer_init(out, p->job, X4_HEADER_SIZE + records);
    kfi_x4_write_header(out, &ani);
    uint8_t *desc_bytes = kfi_write_space(out, records);
    if (!desc_bytes)
        return false;
    uint8_t *key_bytes = desc_bytes + descs * X4_DESC_SIZE;
    for (size_t i = 0; i < p->count; i++) {
        const x4_planned *item = &p->items[i];
        if (item->dropped)
            continue;
        size_t count = keys_in(item);
        if (!write_item(p, item, desc_bytes, key_bytes, count))
            return false;
        desc_bytes += X4_DESC_SIZE;
        key_bytes += count * X4_KEY_SIZE;
    }
    return true;
}

bool kfi_x4_export(kf_export_job *job)
{
    x4_plan p = {.job = job->job, .anim = job->anim, .original = job->original};
    p.drop_missing = job->options->drop_missing;
    p.tolerance = job->options ? job->options->tolerance : 0;
    if (job->original)
        p.native = job->original->native;
    kfi_writer out = {0};
    if (!kfi_x4_make_plan(&p) || !write_plan(&p, &out))
        return false;
    const char *name = job->original && job->count > 0 ? job->files[0].name : job->output;
    return job->host->emit(job->job, name, out.data, out.size);
}
