#include "fbx/scene_write.h"

#include <string.h>

/* ---------------------------------------------------------------- names */

const char *kfi_track_property(const kf_track *track)
{
    static const char *const names[] = {"Lcl Translation", "Lcl Rotation", "Lcl Scaling", "Visibility",
                                        "DeformPercent"};
    return track->channel <= KF_MORPH ? names[track->channel] : track->name ? track->name : "";
}

/* What curve nodes are called: the transforms by their letter. */
static const char *curve_node_name(const kf_track *track)
{
    static const char *const letters[] = {"T", "R", "S"};
    return track->channel <= KF_SCALE ? letters[track->channel] : kfi_track_property(track);
}

void kfi_write_component(kfi_tree *tree, const kf_track *track, unsigned component)
{
    static const char *const axes[] = {"d|X", "d|Y", "d|Z"};
    const char *name = kfi_track_property(track);
    char joined[256] = "d|";
    size_t size = strlen(name);
    if (track->curves != 1) {
        /* NOLINTNEXTLINE: there are three at the most */
        kfi_tree_text(tree, axes[component]);
    } else if (size < sizeof joined - 2) {
        memcpy(joined + 2, name, size);
        kfi_tree_string(tree, joined, size + 2);
    } else {
        kfi_tree_text(tree, "d|X"); /* any name will do, if it is the same at both ends */
    }
}

/* ---------------------------------------------------------------- curves */

static void write_extrapolation(kfi_tree *tree, const char *name, unsigned mode, uint32_t count)
{
    static const char letters[] = {'C', 'R', 'M', 'K', 'A'};
    kfi_tree_begin(tree, name);
    kfi_tree_begin(tree, "Type");
    kfi_tree_char(tree, mode < sizeof letters ? letters[mode] : 'C');
    kfi_tree_end(tree);
    kfi_tree_i32_node(tree, "Repetition", count == 0 || count > INT32_MAX ? -1 : (int32_t)count);
    kfi_tree_end(tree);
}

static void write_keys(kfi_tree *tree, const kfi_fbx_keys *keys)
{
    kfi_tree_begin(tree, "KeyTime");
    kfi_tree_i64_array(tree, keys->times, keys->count);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "KeyValueFloat");
    kfi_tree_f32_array(tree, keys->values, keys->count);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "KeyAttrFlags");
    kfi_tree_i32_array(tree, keys->flags, keys->runs);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "KeyAttrDataFloat");
    kfi_tree_bits_array(tree, keys->data, 4 * keys->runs);
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "KeyAttrRefCount");
    kfi_tree_i32_array(tree, keys->ref_count, keys->runs);
    kfi_tree_end(tree);
}

/* Weights of shapes are per cent in the file. */
static kf_curve percent_curve(const kf_curve *from, const kf_curve *room)
{
    kf_curve to = *from;
    to.keys = room->keys;
    to.handles = from->handles ? room->handles : NULL;
    kfi_copy_keys(&to, 0, from, 0, from->count);
    for (size_t i = 0; i < from->count; i++) {
        to.keys[i].value *= 100;
        if (to.handles) {
            to.handles[i].in.dv *= 100;
            to.handles[i].out.dv *= 100;
        }
    }
    return to;
}

static bool write_curve(kfi_scene_writer *w, const kf_track *track, unsigned component, int64_t id)
{
    const kf_curve *curve = &track->curve[component];
    kfi_tree *tree = w->tree;
    bool percent = track->channel == KF_MORPH;
    kf_curve scaled = percent ? percent_curve(curve, &w->percent) : *curve;
    kfi_fbx_pack_into(&scaled, &w->keys);
    kfi_tree_begin(tree, "AnimationCurve");
    kfi_tree_i64(tree, id);
    kfi_tree_name(tree, "AnimCurve", "");
    kfi_tree_text(tree, "");
    kfi_tree_f64_node(tree, "Default", percent ? track->rest[component] * 100 : track->rest[component]);
    kfi_tree_i32_node(tree, "KeyVer", kfi_tree_version(tree) >= 7500 ? 4009 : 4008);
    write_keys(tree, &w->keys);
    if (curve->pre != KF_CONSTANT || curve->post != KF_CONSTANT) {
        write_extrapolation(tree, "Pre-Extrapolation", curve->pre, curve->pre_count);
        write_extrapolation(tree, "Post-Extrapolation", curve->post, curve->post_count);
    }
    kfi_tree_end(tree);
    return !kfi_tree_failed(tree);
}

/* Tells how far the work has come, and hears whether to go on. */
static bool report(kfi_scene_writer *w)
{
    const kf_options *options = &w->job->options;
    if (++w->curves_done % 64 != 0 || !options->progress)
        return true;
    double done = (double)w->curves_done / (double)w->counts.curves;
    return options->progress(options->user, done < 1 ? done : 1) ||
           kfi_fail(w->job, KF_CANCELLED, KF_NO_OFFSET, "cancelled");
}

/* ---------------------------------------------------------------- takes, layers, tracks */

static bool write_track(kfi_scene_writer *w, const kf_track *track, size_t at)
{
    kfi_tree *tree = w->tree;
    double factor = track->channel == KF_MORPH ? 100 : 1;
    kfi_tree_begin(tree, "AnimationCurveNode");
    kfi_tree_i64(tree, w->ids.curve_node + (int64_t)at);
    kfi_tree_name(tree, "AnimCurveNode", curve_node_name(track));
    kfi_tree_text(tree, "");
    kfi_tree_begin(tree, "Properties70");
    kfi_tree_braces(tree);
    for (unsigned c = 0; c < track->curves; c++) {
        kfi_tree_begin(tree, "P");
        kfi_write_component(tree, track, c);
        kfi_tree_text(tree, track->channel == KF_VISIBILITY ? "Visibility" : "Number");
        kfi_tree_text(tree, "");
        kfi_tree_text(tree, "A");
        kfi_tree_f64(tree, track->rest[c] * factor);
        kfi_tree_end(tree);
    }
    kfi_tree_end(tree);
    kfi_tree_end(tree);
    for (unsigned c = 0; c < track->curves; c++)
        if (track->curve[c].count > 0 &&
            !(report(w) && write_curve(w, track, c, w->ids.curve + 3 * (int64_t)at + (int64_t)c)))
            return false;
    return true;
}

static void write_stack(const kfi_scene_writer *w, const kf_take *take, int64_t id)
{
    kfi_tree *tree = w->tree;
    kfi_tree_begin(tree, "AnimationStack");
    kfi_tree_i64(tree, id);
    kfi_tree_name(tree, "AnimStack", take->name);
    kfi_tree_text(tree, "");
    kfi_tree_begin(tree, "Properties70");
    kfi_write_p_time(tree, "LocalStart", take->start);
    kfi_write_p_time(tree, "LocalStop", take->end);
    kfi_write_p_time(tree, "ReferenceStart", take->start);
    kfi_write_p_time(tree, "ReferenceStop", take->end);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

static void write_layer(const kfi_scene_writer *w, const kf_layer *layer, int64_t id)
{
    kfi_tree *tree = w->tree;
    kfi_tree_begin(tree, "AnimationLayer");
    kfi_tree_i64(tree, id);
    kfi_tree_name(tree, "AnimLayer", layer->name ? layer->name : "");
    kfi_tree_text(tree, "");
    kfi_tree_begin(tree, "Properties70");
    kfi_tree_braces(tree); /* even if empty: assimp wants a layer to have children */
    if (layer->weight != 1)
        kfi_write_p_number(tree, "Weight", "A", layer->weight * 100);
    if (layer->mute)
        kfi_write_p_int(tree, "Mute", "bool", "", 1);
    if (layer->solo)
        kfi_write_p_int(tree, "Solo", "bool", "", 1);
    if (layer->mode != 0)
        kfi_write_p_int(tree, "BlendMode", "enum", "", layer->mode);
    if (layer->rotation != 0)
        kfi_write_p_int(tree, "RotationAccumulationMode", "enum", "", layer->rotation);
    if (layer->scale != 0)
        kfi_write_p_int(tree, "ScaleAccumulationMode", "enum", "", layer->scale);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

bool kfi_write_takes(kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    size_t layer = 0, at = 0;
    for (size_t i = 0; i < anim->take_count; i++) {
        const kf_take *take = &anim->takes[i];
        write_stack(w, take, w->ids.stack + (int64_t)i);
        for (size_t k = 0; k < take->layer_count; k++)
            write_layer(w, &take->layers[k], w->ids.layer + (int64_t)layer++);
        for (size_t k = 0; k < take->track_count; k++, at++)
            if (w->target[at] != 0 && !write_track(w, &take->tracks[k], at))
                return false;
    }
    return !kfi_tree_failed(w->tree);
}
