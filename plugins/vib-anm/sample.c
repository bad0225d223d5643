#include "export.h"

#include <math.h>

/* ---------------------------------------------------------------- which node is which object */

/* "object_012" is object 12; -1 for other names. */
static int object_number(const char *name)
{
    int number = 0;
    if (strncmp(name, "object_", 7) != 0 || name[7] == '\0')
        return -1;
    for (const char *at = name + 7; *at; at++) {
        if (*at < '0' || *at > '9' || number >= KFI_VIB_OBJECTS)
            return -1;
        number = number * 10 + (*at - '0');
    }
    return number < KFI_VIB_OBJECTS ? number : -1;
}

static bool use(vib_exporter *ex, int number, size_t node)
{
    vib_object *object = ex->objects[number] = kfi_alloc(ex->job, 1, sizeof *object);
    if (object)
        object->node = (uint32_t)node;
    return object != NULL;
}

static bool is_identity(const kf_transform *rest)
{
    for (int c = 0; c < 3; c++)
        if (rest->translation[c] != 0 || rest->rotation[c] != 0 || rest->scale[c] != 1)
            return false;
    return true;
}

/* Objects have no parents: what a parent does to its children is lost. Nodes that do nothing are no objects,
 * and do no harm. */
static bool look_at_parents(vib_exporter *ex, const bool *moves, bool *placed)
{
    const kf_node *nodes = ex->anim->nodes;
    for (size_t i = 0; i < ex->anim->node_count; i++) {
        int32_t parent = nodes[i].parent;
        if (parent < 0)
            continue;
        if (!moves[parent] && is_identity(&nodes[parent].rest) && object_number(nodes[parent].name) < 0) {
            placed[parent] = true; /* a mere group */
        } else if (!kfi_warn(ex->job, "hierarchy",
                             "node \"%.60s\" (take \"%.60s\", from %.3f s): the file has no hierarchy, it is "
                             "written without what \"%.60s\" does to it",
                             nodes[i].name, ex->take->name, ex->take->start, nodes[parent].name)) {
            return false;
        }
    }
    return true;
}

/* A node that no object's number can be found for. Without an original any free one will do. */
static bool place_node(vib_exporter *ex, size_t node, bool moves)
{
    const char *name = ex->anim->nodes[node].name;
    if (!ex->original && (moves || ex->anim->nodes[node].kind != KF_NODE_OTHER)) {
        for (int i = 0; i < KFI_VIB_OBJECTS; i++)
            if (!ex->objects[i]) {
                return use(ex, i, node) &&
                       kfi_note(ex->job, "chosen", "node \"%.60s\" is written as object %d", name, i);
            }
        return kfi_warn(ex->job, "dropped",
                        "dropped: node \"%.60s\" (take \"%.60s\"): all %d objects are taken", name,
                        ex->take->name, KFI_VIB_OBJECTS);
    }
    return !moves ||
           kfi_warn(
               ex->job, "dropped",
               "dropped: node \"%.60s\" (take \"%.60s\"): its name is not that of a free object, such as "
               "object_007",
               name, ex->take->name);
}

static bool name_objects(vib_exporter *ex)
{
    const vib_native *native = ex->original ? ex->original->native : NULL;
    size_t count = ex->anim->node_count;
    bool *placed = kfi_alloc(ex->job, count, sizeof *placed);
    bool *moves = kfi_alloc(ex->job, count, sizeof *moves);
    if (!placed || !moves)
        return false;
    for (size_t i = 0; i < ex->take->track_count; i++)
        moves[ex->take->tracks[i].node] = true;
    if (!ex->original && !look_at_parents(ex, moves, placed))
        return false;
    /* The original's nodes first, then names, then what is left: each keeps its number from the one before.
     */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            int32_t source = ex->anim->nodes[i].source;
            int number = -1;
            bool known = native && source >= 0 && (size_t)source < ex->original->node_count;
            placed[i] =
                placed[i] || (known && !moves[i]); /* deleted: an object has a visibility at the least */
            if (pass == 0 && known)
                number = native->object_of[source];
            else if (pass == 1)
                number = object_number(ex->anim->nodes[i].name);
            if (number >= 0 && !placed[i] && !ex->objects[number]) {
                if (!use(ex, number, i))
                    return false;
                placed[i] = true;
            }
        }
    for (size_t i = 0; i < count; i++)
        if (!placed[i] && !place_node(ex, i, moves[i]))
            return false;
    return true;
}

/* ---------------------------------------------------------------- curves */

/* The track of the original that one of its nodes has for a channel; NULL if none. */
static const kf_track *track_before(const vib_exporter *ex, size_t node, unsigned channel)
{
    if (!ex->original || ex->anim->nodes[node].source < 0)
        return NULL;
    const kf_take *take = &ex->original->takes[0];
    for (size_t i = 0; i < take->track_count; i++)
        if (take->tracks[i].node == (uint32_t)ex->anim->nodes[node].source &&
            take->tracks[i].channel == channel)
            return &take->tracks[i];
    return NULL;
}

static bool unchanged(const kf_track *track)
{
    return track->state == KF_TRACK_SAME || track->state == KF_TRACK_KEPT;
}

static bool dropped(const vib_exporter *ex, const kf_track *track, const char *why)
{
    return kfi_warn(ex->job, "dropped", "dropped: %s of node \"%.60s\" (take \"%.60s\", %.3f s): %s",
                    track->name ? track->name : kfi_channel_name((kf_channel)track->channel),
                    ex->anim->nodes[track->node].name, ex->take->name,
                    track->curves && track->curve[0].count ? track->curve[0].keys[0].time : ex->take->start,
                    why);
}

static bool take_track(vib_exporter *ex, vib_object *object, const kf_track *track)
{
    const kf_track *before = track_before(ex, track->node, track->channel);
    bool whole = before && unchanged(track);
    if (track->channel == KF_VISIBILITY && track->curves == 1) {
        object->visible = whole ? &before->curve[0] : &track->curve[0];
        return true;
    }
    for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
        vib_source *source = &object->part[p];
        if (track->channel != vib_channel((kfi_vib_part)p) || (track->curves != 3 && !track->quaternion))
            continue;
        const kf_track *from = whole ? before : track;
        kf_rotation_order order = (kf_rotation_order)ex->anim->nodes[track->node].order;
        source->given = true;
        source->before = before;
        source->whole = whole;
        source->curve = from->curve;
        memcpy(source->rest, from->rest, sizeof source->rest);
        if (whole || p != KFI_VIB_ROTATION || (!track->quaternion && order == ex->order))
            return true;
        kf_curve *converted = kfi_alloc(ex->job, 3, sizeof *converted);
        source->curve = converted;
        return converted && kfi_rotation_frames(ex->job, track, order, ex->order, &ex->frames, converted);
    }
    return dropped(ex, track, "the file cannot hold it");
}

/* Without curves a node made from nothing stands as the scene has it; one of the original's has nothing
 * stored. */
static void set_rest(const vib_exporter *ex, vib_object *object)
{
    const kf_node *node = &ex->anim->nodes[object->node];
    kf_transform rest = ex->original && node->source >= 0 ? KFI_IDENTITY : node->rest;
    if (node->order != ex->order) {
        double q[4], near[3] = {rest.rotation[0], rest.rotation[1], rest.rotation[2]};
        kfi_quat_from_euler(near, (kf_rotation_order)node->order, q);
        kfi_quat_to_euler(q, ex->order, near, rest.rotation);
    }
    memcpy(object->part[KFI_VIB_POSITION].rest, rest.translation, sizeof rest.translation);
    memcpy(object->part[KFI_VIB_ROTATION].rest, rest.rotation, sizeof rest.rotation);
    memcpy(object->part[KFI_VIB_SCALE].rest, rest.scale, sizeof rest.scale);
}

static void begin_walks(vib_object *object)
{
    static const kf_curve none[3];
    object->visible_walk = (kfi_walk){object->visible, 1.0, 0};
    for (unsigned p = 0; p < KFI_VIB_PARTS; p++) {
        vib_source *source = &object->part[p];
        if (!source->given)
            source->curve = none;
        for (unsigned c = 0; c < 3; c++)
            source->walk[c] = (kfi_walk){&source->curve[c], source->rest[c], 0};
        source->holds = !source->given; /* at zero, until something is stored */
    }
}

bool vib_find_objects(vib_exporter *ex)
{
    int32_t *object_of = kfi_alloc(ex->job, ex->anim->node_count, sizeof *object_of);
    if (!object_of || !name_objects(ex))
        return false;
    for (size_t i = 0; i < ex->anim->node_count; i++)
        object_of[i] = -1;
    for (int i = 0; i < KFI_VIB_OBJECTS; i++)
        if (ex->objects[i]) {
            object_of[ex->objects[i]->node] = i;
            set_rest(ex, ex->objects[i]);
        }
    for (size_t i = 0; i < ex->take->track_count; i++) {
        const kf_track *track = &ex->take->tracks[i];
        int32_t number = object_of[track->node];
        if (number >= 0 && !take_track(ex, ex->objects[number], track))
            return false;
    }
    for (int i = 0; i < KFI_VIB_OBJECTS; i++)
        if (ex->objects[i])
            begin_walks(ex->objects[i]);
    return true;
}

/* ---------------------------------------------------------------- frames */

bool vib_drawn(const vib_exporter *ex, vib_object *object, size_t frame)
{
    ptrdiff_t key;
    return object &&
           (!object->visible || kfi_walk_value(&object->visible_walk, &ex->frames, frame, &key) >= 0.5);
}

void vib_wish_for(const vib_exporter *ex, vib_source *source, kfi_vib_part part, size_t frame, vib_wish *wish)
{
    *wish = (vib_wish){0};
    for (unsigned c = 0; c < 3; c++) {
        ptrdiff_t key;
        double value = kfi_walk_value(&source->walk[c], &ex->frames, frame, &key);
        const kf_origin *origin = key >= 0 && source->curve[c].origin ? &source->curve[c].origin[key] : NULL;
        bool known =
            origin && origin->key != KF_NEW && source->before && origin->key < source->before->curve[c].count;
        if (source->whole)
            wish->original_key |= key >= 0;
        else if (known) {
            wish->original_key = true;
            if (!(origin->changed & KF_CHANGED_VALUE))
                value = source->before->curve[c].keys[origin->key].value;
        }
        wish->new_key |= key >= 0 && !source->whole && !(known && origin->changed == 0);
        bool clamped;
        wish->stored[c] = vib_stored(part, value, &clamped);
        wish->clamped |= clamped;
    }
}
