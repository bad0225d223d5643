/* A plugin as small as one can be, on the public header alone. One node, one curve, little endian:
 *
 *   4 bytes "SMPL", u32 keys, that many {f32 time, f32 value}
 *
 * Compiled as it is for the tests of loading; with one of the WRONG_... macros it is a plugin that must be
 * refused; with REVISION=2 a later one, whose importer found out that the unit is half as long. */
#include "keyferry.h"

#include <string.h>

#ifndef REVISION
#define REVISION 1
#endif

enum { HEADER = 8, RECORD = 8 };

/* What the importer of a revision multiplies values by. */
static double unit(uint32_t revision)
{
    return revision < 2 ? 1 : 0.5;
}

static uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double load_f32(const uint8_t *p)
{
    uint32_t bits = load_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void store_u32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static void store_f32(uint8_t *p, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    store_u32(p, bits);
}

static int sample_probe(const uint8_t *data, size_t size)
{
    if (size < HEADER || memcmp(data, "SMPL", 4) != 0)
        return 0;
    return (size - HEADER) / RECORD == load_u32(data + 4) && (size - HEADER) % RECORD == 0 ? 100 : 10;
}

static bool sample_import(kf_import_job *in, kf_anim *anim)
{
    const kf_host *host = in->host;
    const uint8_t *data = in->files[0].data;
    size_t size = in->files[0].size;
    if (in->count != 1 || size < HEADER || memcmp(data, "SMPL", 4) != 0)
        return host->fail(in->job, KF_BAD_INPUT, 0, "magic: expected \"SMPL\", found something else");
    size_t count = load_u32(data + 4);
    if ((size - HEADER) / RECORD != count || (size - HEADER) % RECORD != 0)
        return host->fail(in->job, KF_BAD_INPUT, 4, "number of keys: expected what the file's size allows");

    kf_node *node = host->alloc(in->job, 1, sizeof *node);
    kf_take *take = host->alloc(in->job, 1, sizeof *take);
    kf_layer *layer = host->alloc(in->job, 1, sizeof *layer);
    kf_track *track = host->alloc(in->job, 1, sizeof *track);
    kf_key *keys = host->alloc(in->job, count, sizeof *keys);
    if (!node || !take || !layer || !track || !keys)
        return false;
    for (size_t i = 0; i < count; i++) {
        keys[i].time = load_f32(data + HEADER + i * RECORD);
        keys[i].value = load_f32(data + HEADER + i * RECORD + 4) * unit(anim->revision);
        keys[i].interp = KF_LINEAR;
    }
    *node = (kf_node){.name = "sample", .parent = -1, .rest.scale = {1, 1, 1}};
    *layer = (kf_layer){.name = "take", .weight = 1};
    *track = (kf_track){.channel = KF_TRANSLATION, .curves = 3};
    track->curve[0].keys = keys;
    track->curve[0].count = count;
    *take = (kf_take){.name = "take", .layers = layer, .layer_count = 1, .tracks = track, .track_count = 1};
    take->end = count ? keys[count - 1].time : 0;
    anim->float32 = true;
    anim->nodes = node;
    anim->node_count = 1;
    anim->takes = take;
    anim->take_count = 1;
    if (count == 0)
        return host->say(in->job, KF_WARNING, "no-keys", in->files[0].name, 4, "the file has no keys");
    return true;
}

static bool sample_export(kf_export_job *out)
{
    const kf_anim *anim = out->anim;
    const kf_curve *curve = NULL;
    if (anim->take_count > 0 && anim->takes[0].track_count > 0)
        curve = &anim->takes[0].tracks[0].curve[0];
    size_t count = curve ? curve->count : 0;
    double by = unit(out->original ? out->original->revision : REVISION);
    uint8_t *data = out->host->alloc(out->job, HEADER + count * RECORD, 1);
    if (!data)
        return false;
    memcpy(data, "SMPL", 4);
    store_u32(data + 4, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        store_f32(data + HEADER + i * RECORD, curve->keys[i].time);
        store_f32(data + HEADER + i * RECORD + 4, curve->keys[i].value / by);
    }
#ifdef WRONG_VALUES /* beside the original in one value, without it in all */
    for (size_t i = 0; i < count; i += out->original ? count : 1)
        store_f32(data + HEADER + i * RECORD + 4, 5000);
#endif
#ifdef WRONG_OUTPUT
    const char *name = "../outside.smpl";
#else
    const char *name = out->count ? out->files[0].name : out->output;
#endif
    return out->host->emit(out->job, name, data, HEADER + count * RECORD);
}

static bool sample_check(kf_import_job *in)
{
    const uint8_t *data = in->files[0].data;
    for (size_t at = HEADER; at < in->files[0].size; at += RECORD)
        if (load_f32(data + at) < 0 && !in->host->say(in->job, KF_PROBLEM, "negative-time", in->files[0].name,
                                                      at, "time: expected 0 or more, found less"))
            return false;
    return true;
}

static const kf_format sample = {
#ifdef WRONG_ABI
    .abi = KF_ABI + 1,
#else
    .abi = KF_ABI,
#endif
    .revision = REVISION,
#ifdef WRONG_ID
    .id = "fbx",
#else
    .id = "sample",
#endif
#ifndef WRONG_TITLE
    .title = "A sample for the tests",
#endif
    .extensions = "smpl sam",
    .capabilities = {.channels = 1u << KF_TRANSLATION, .interps = 1u << KF_LINEAR},
    .probe = sample_probe,
    .import_ = sample_import,
    .export_ = sample_export,
    .check = sample_check,
};

#ifdef WRONG_NAME
#define keyferry_plugin not_keyferry_plugin
#endif
#ifdef WRONG_VERSION
enum { VERSION = KF_ABI + 1 };
#else
enum { VERSION = KF_ABI };
#endif
KF_API kf_plugin_entry keyferry_plugin;

#ifdef WRONG_SYMBOL
extern uint32_t nobody_has_this(void);
#define VERSION nobody_has_this()
#endif

const kf_format *keyferry_plugin(uint32_t abi)
{
    return abi == VERSION ? &sample : NULL;
}
