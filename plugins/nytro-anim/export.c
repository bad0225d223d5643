/* The neutral animation into a Nytro file: node by node, each with the one kind of interpolation its keys fit
 * best. */
#include "nytro.h"

#include <math.h>

static const char *kind_name(uint32_t kind)
{
    return kind == KFI_NYTRO_TCB ? "TCB" : kind == KFI_NYTRO_BEZIER ? "BEZIER" : "LINEAR";
}

static const char *channel_name(const nytro_channel *channel)
{
    return kfi_channel_name(kfi_nytro_neutral(channel->channel));
}

/* ---------------------------------------------------------------- one node */

static bool has_tcb(const nytro_node *node)
{
    for (unsigned c = 0; c < 3; c++)
        for (size_t i = 0; i < node->channels[c].count;
             i++) /* the last key's kind counts only where it is alone */
            if ((i == 0 || i + 1 < node->channels[c].count) && node->channels[c].keys[i].interp == KF_TCB)
                return true;
    return false;
}

/* ---------------------------------------------------------------- which kind */

uint64_t kfi_nytro_memory_left(const nytro_node *node)
{
    const kfi_arena *arena = &node->job->arena;
    uint64_t used = arena->total + node->held;
    return arena->limit > used ? arena->limit - used : 0;
}

bool kfi_nytro_make_room(nytro_node *node, nytro_channel *channel, size_t count)
{
    const kfi_arena *arena = &node->job->arena;
    kfi_arena_init(&channel->room, arena->allocator, kfi_nytro_memory_left(node));
    channel->room.item_blocks = true; /* the one array, and no more than it needs */
    channel->keys = kfi_alloc_in(node->job, &channel->room, count, sizeof *channel->keys);
    node->held += channel->room.total;
    return channel->keys != NULL;
}

void kfi_nytro_leave_room(nytro_node *node, nytro_channel *channel)
{
    node->held -= channel->room.total;
    kfi_arena_free(&channel->room);
}

/* How well a kind follows the node's curves. */
typedef struct trial {
    nytro_channel channels[3];
    enum { FOLLOWS, MISSES, GAVE_UP } end; /* within tolerance; but for what is too steep; keys ran out */
    size_t added;
} trial;

static void end_trial(nytro_node *node, trial *t)
{
    for (unsigned c = 0; c < 3; c++)
        kfi_nytro_leave_room(node, &t->channels[c]);
}

/* Trials must not write on each other's keys, unless there is only one: then these are `own`. */
static bool try_kind(nytro_node *node, uint32_t kind, size_t budget, bool own, trial *t)
{
    *t = (trial){.added = 0};
    for (unsigned c = 0; c < 3; c++) {
        nytro_channel *channel = &t->channels[c];
        const nytro_channel *from = &node->channels[c];
        *channel = *from;
        if (!own && !kfi_nytro_make_room(node, channel, from->count))
            return false;
        if (!own && from->count)
            memcpy(channel->keys, from->keys, from->count * sizeof *from->keys);
        if (!kfi_nytro_follow(node, channel, kind, budget))
            return false;
        t->added += channel->added;
        if (channel->gave_up)
            t->end = GAVE_UP;
        else if (channel->worst > 0 && t->end == FOLLOWS)
            t->end = MISSES;
    }
    return true;
}

/* The simpler kind is tried later, and preferred where it does as well. */
static bool as_good(const trial *a, const trial *b)
{
    return a->end != b->end ? a->end < b->end : a->end != GAVE_UP && a->added <= b->added;
}

/* The original's kind while it will do. Else TCB if one of the keys is, for it can say lines
 * too; else what follows the curves with the fewest more keys. */
static bool choose_kind(nytro_node *node, uint32_t *kind)
{
    uint32_t was = node->was ? kfi_nytro_kind(node->was->flags) : 0;
    bool keep = was && kfi_nytro_is_kind(node, was), shaped = false;
    uint32_t kinds[4] = {KFI_NYTRO_TCB, KFI_NYTRO_BEZIER, KFI_NYTRO_LINEAR, 0};
    for (unsigned c = 0; c < 3; c++)
        shaped = shaped || (c != KFI_NYTRO_ROTATION && kfi_nytro_shaped(&node->channels[c]));
    if (keep || has_tcb(node)) {
        kinds[0] = keep && (was != KFI_NYTRO_BEZIER || !shaped) ? was : KFI_NYTRO_TCB;
        kinds[1] = keep && kinds[0] != was ? was : 0;
        kinds[2] = 0;
    } else if (kfi_nytro_is_kind(node, KFI_NYTRO_LINEAR)) {
        kinds[0] = KFI_NYTRO_LINEAR;
        kinds[1] = 0;
    }
    trial best = {.added = 0}, other;
    for (size_t i = 0; kinds[i]; i++) {
        /* Thinning out may halve what was put in, hardly more. */
        bool tried = try_kind(node, kinds[i], i ? 2 * best.added : SIZE_MAX, !kinds[1], &other);
        bool taken = tried && (i == 0 || as_good(&other, &best));
        end_trial(node, taken ? &best : &other);
        if (taken) {
            best = other;
            *kind = kinds[i];
        }
        if (!tried) {
            end_trial(node, &best);
            return false;
        }
    }
    memcpy(node->channels, best.channels, sizeof best.channels);
    return true;
}

/* Says what the node's kind cost. */
static bool tell(const nytro_node *node, uint32_t kind)
{
    uint32_t was = node->was ? kfi_nytro_kind(node->was->flags) : kind;
    if (was != kind &&
        !kfi_note(node->job, "node-kind", "node \"%.60s\", take \"%.60s\": its keys were %s and are %s now",
                  node->name, node->take->name, kind_name(was), kind_name(kind)))
        return false;
    for (unsigned c = 0; c < 3; c++) {
        const nytro_channel *channel = &node->channels[c];
        if (channel->added > 0 && !kfi_warn(node->job, "keys-added",
                                            "node \"%.60s\", take \"%.60s\", %s from %.4f s: %zu keys were "
                                            "added, because the keys of a %s "
                                            "node cannot follow the curve",
                                            node->name, node->take->name, channel_name(channel),
                                            channel->keys[0].time, channel->added, kind_name(kind)))
            return false;
        if (channel->worst > 0 && !kfi_warn(node->job, "tangents-derived",
                                            "node \"%.60s\", take \"%.60s\", %s at %.4f s: differs by %.4g, "
                                            "because the keys of a %s node "
                                            "store no tangents of their own",
                                            node->name, node->take->name, channel_name(channel),
                                            channel->worst_at, channel->worst, kind_name(kind)))
            return false;
    }
    return true;
}

static bool write_node(nytro_node *node, uint32_t kind, kfi_nytro_node *to)
{
    if (!tell(node, kind))
        return false;
    node->flags = node->was && kfi_nytro_kind(node->was->flags) == kind ? node->was->flags : kind;
    *to = (kfi_nytro_node){.name = node->name, .flags = node->flags};
    for (unsigned c = 0; c < 3; c++)
        if (!kfi_nytro_encode_channel(node, &node->channels[c], to))
            return false;
    return true;
}

static bool export_node(nytro_node *node, kfi_nytro_node *to)
{
    for (unsigned c = 0; c < 3; c++)
        if (!kfi_nytro_gather(node, c))
            return false;
    uint32_t kind = 0;
    if (!choose_kind(node, &kind))
        return false;
    bool done = write_node(node, kind, to);
    for (unsigned c = 0; c < 3; c++)
        kfi_nytro_leave_room(node, &node->channels[c]);
    return done;
}

/* ---------------------------------------------------------------- the file */

static bool moves(const nytro_node *node)
{
    for (size_t i = 0; i < node->track_count; i++)
        if (node->take->tracks[node->tracks[i]].channel <= KF_SCALE)
            return true;
    return false;
}

/* A node that had keys, none of which are left: it was deleted. */
static bool deleted(const nytro_node *node)
{
    const kfi_nytro_node *was = node->was;
    return was && (was->count[0] || was->count[1] || was->count[2]) && !moves(node);
}

/* A file from nothing: both chunks with long headers. */
static void fresh_file(kfi_nytro *file, kfi_nytro_chunk chunks[2])
{
    chunks[0] = (kfi_nytro_chunk){.id = KFI_NYTRO_HEADER, .version = 1};
    chunks[1] = (kfi_nytro_chunk){.id = KFI_NYTRO_ANIMATION, .version = 1, .next = 1, .last = true};
    *file = (kfi_nytro){.chunks = chunks, .chunk_count = 2, .name = "", .author = ""};
}

static size_t bytes_of(const kfi_nytro_node *node)
{
    size_t bytes = strlen(node->name) + 32;
    for (unsigned c = 0; c < 3; c++)
        bytes += node->count[c] * kfi_nytro_record_size(node->flags, (kfi_nytro_channel)c);
    return bytes;
}

/* `size` grows by what the nodes will take in the file. */
static bool export_nodes(kf_export_job *out, const kf_take *take, kfi_nytro *file, size_t *size)
{
    const kf_anim *anim = out->anim;
    const nytro_native *native = out->original ? out->original->native : NULL;
    size_t still = 0, *first, *order;
    file->node_count = 0;
    file->nodes = kfi_alloc(out->job, anim->node_count, sizeof *file->nodes);
    if (!file->nodes || !kfi_tracks_by_node(out->job, anim, take, &first, &order))
        return false;
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *from = &anim->nodes[i];
        nytro_node node = {.job = out->job,
                           .options = out->options,
                           .anim = anim,
                           .take = take,
                           .index = (uint32_t)i,
                           .tracks = order + first[i],
                           .track_count = first[i + 1] - first[i],
                           .name = from->name,
                           .original = out->original,
                           .held = *size};
        if (native && from->source >= 0 && (size_t)from->source < native->file.node_count) {
            node.was = &native->file.nodes[from->source];
            node.name = node.was->name;
            if (deleted(&node))
                continue;
        } else if (!moves(&node)) {
            still++;
            continue;
        }
        if (!export_node(&node, &file->nodes[file->node_count]))
            return false;
        *size += bytes_of(&file->nodes[file->node_count++]);
    }
    return native || still == 0 ||
           kfi_note(out->job, "still-nodes", "%zu nodes that do not move were not written", still);
}

bool kfi_nytro_export(kf_export_job *out)
{
    static const kf_take empty = {.name = ""};
    const kf_anim *anim = out->anim;
    const nytro_native *native = out->original ? out->original->native : NULL;
    size_t chosen = 0;
    for (size_t i = 0; native && i < anim->take_count; i++)
        if (anim->takes[i].source == 0)
            chosen = i;
    for (size_t i = 0; i < anim->take_count; i++)
        if (i != chosen &&
            !kfi_warn(out->job, "take-lost", "take \"%.60s\" was not written: the format holds one",
                      anim->takes[i].name))
            return false;
    const kf_take *take = anim->take_count ? &anim->takes[chosen] : &empty;
    kfi_nytro file;
    kfi_nytro_chunk chunks[2];
    fresh_file(&file, chunks);
    if (native)
        file = native->file;
    /* Its own name, unless it was given another. */
    if (!native || out->original->take_count == 0 || strcmp(take->name, out->original->takes[0].name) != 0)
        file.name = take->name;
    kfi_writer writer;
    size_t size = 256 + strlen(file.name), least = native ? native->file.size + 64 : 0;
    if (!export_nodes(out, take, &file, &size))
        return false;
    kfi_writer_init(&writer, out->job, size > least ? size : least);
    return kfi_nytro_encode(&file, &writer) &&
           out->host->emit(out->job,
                           native        ? out->files[0].name
                           : out->output ? out->output
                                         : "animation.nanim",
                           writer.data, writer.size);
}
