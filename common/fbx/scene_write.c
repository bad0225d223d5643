#include "fbx/scene.h"

#include "fbx/scene_write.h"

#include <math.h>
#include <string.h>

/* Every file is created at the same time: the same input gives the same bytes. The file's id and the footer
 * of a binary file go with this time. */
static const char CREATION_TIME[] = "1970-01-01 10:00:00:000";
static const uint8_t FILE_ID[16] = {0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2,
                                    0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1};
static const char CREATOR[] = "Keyferry " KF_VERSION;

enum { FIRST_ID = 1000000000 };

/* ---------------------------------------------------------------- what there is to write */

bool kfi_write_from_fbx(const kf_anim *anim)
{
    return anim->format && strcmp(anim->format, "fbx") == 0;
}

bool kfi_write_animated(const kfi_scene_writer *w, size_t node, kf_channel channel)
{
    for (uint32_t t = w->first_of_node[node]; t != KFI_NO_TRACK; t = w->next_of_node[t])
        if (w->tracks[t]->channel == channel && w->target[t] != 0)
            return true;
    return false;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Which shape of the node's mesh; tracks mostly come in the shapes' order, so the search goes on where it
 * was. */
static bool find_shape(const kf_node *node, const char *name, size_t *shape)
{
    size_t count = node->mesh ? node->mesh->shape_count : 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (*shape + 1 + i) % count;
        if (name && strcmp(node->mesh->shapes[at].name, name) == 0) {
            *shape = at;
            return true;
        }
    }
    return false;
}

static bool plan_track(kfi_scene_writer *w, const kf_take *take, const kf_track *track, size_t at,
                       const size_t *first_shape, size_t *shape)
{
    const kf_node *node = &w->anim->nodes[track->node];
    w->tracks[at] = track;
    w->next_of_node[at] = w->first_of_node[track->node];
    w->first_of_node[track->node] = (uint32_t)at;
    if (track->quaternion)
        return kfi_fail(w->job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                        "take \"%.80s\", node \"%.80s\": FBX holds no rotations as quaternions", take->name,
                        node->name);
    if (track->layer >= take->layer_count || (track->channel == KF_CUSTOM && !track->name))
        return kfi_fail(w->job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                        "take \"%.80s\", node \"%.80s\": a track has no %s", take->name, node->name,
                        track->layer >= take->layer_count ? "layer" : "name");
    w->target[at] = w->ids.model + (int64_t)track->node;
    if (track->channel == KF_MORPH) {
        if (!find_shape(node, track->name, shape)) {
            w->target[at] = 0;
            return kfi_warn(
                w->job, "morph-without-shape",
                "take \"%.80s\", node \"%.80s\": there is no shape \"%.80s\", its animation is not written",
                take->name, node->name, track->name ? track->name : "");
        }
        w->target[at] = w->ids.channel + (int64_t)(first_shape[track->node] + *shape);
    }
    w->counts.curve_nodes++;
    for (unsigned c = 0; c < track->curves; c++) {
        size_t keys = track->curve[c].count;
        w->counts.curves += keys > 0;
        w->counts.keys_max = larger(w->counts.keys_max, keys);
        if (track->channel == KF_MORPH)
            w->counts.morph_keys_max = larger(w->counts.morph_keys_max, keys);
    }
    return true;
}

/* Counts everything, numbers it, and finds out what each track moves. */
static bool plan(kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    kfi_fbx_counts *counts = &w->counts;
    size_t *first_shape = kfi_alloc_raw(w->job, anim->node_count, sizeof *first_shape);
    w->first_of_node = kfi_alloc_raw(w->job, anim->node_count, sizeof *w->first_of_node);
    if (!first_shape || !w->first_of_node)
        return false;
    for (size_t i = 0; i < anim->node_count; i++) {
        const kf_node *node = &anim->nodes[i];
        w->first_of_node[i] = KFI_NO_TRACK;
        first_shape[i] = counts->shapes;
        counts->attributes += node->mesh == NULL;
        counts->meshes += node->mesh != NULL;
        if (!node->mesh)
            continue;
        counts->shapes += node->mesh->shape_count;
        counts->points_max = larger(counts->points_max, node->mesh->point_count);
        for (size_t k = 0; k < node->mesh->shape_count; k++)
            counts->points_max = larger(counts->points_max, node->mesh->shapes[k].count);
    }
    for (size_t i = 0; i < anim->take_count; i++) {
        counts->layers += anim->takes[i].layer_count;
        counts->tracks += anim->takes[i].track_count;
    }
    if (counts->tracks >= KFI_NO_TRACK)
        return kfi_fail(w->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "%zu tracks are too many for one FBX",
                        counts->tracks);

    int64_t nodes = (int64_t)anim->node_count, shapes = (int64_t)counts->shapes;
    kfi_fbx_ids *ids = &w->ids;
    ids->document = FIRST_ID;
    ids->model = ids->document + 1;
    ids->attribute = ids->model + nodes;
    ids->geometry = ids->attribute + nodes;
    ids->deformer = ids->geometry + nodes;
    ids->channel = ids->deformer + nodes;
    ids->shape = ids->channel + shapes;
    ids->stack = ids->shape + shapes;
    ids->layer = ids->stack + (int64_t)anim->take_count;
    ids->curve_node = ids->layer + (int64_t)counts->layers;
    ids->curve = ids->curve_node + (int64_t)counts->tracks;

    w->tracks = kfi_alloc_raw(w->job, counts->tracks, sizeof *w->tracks);
    w->target = kfi_alloc_raw(w->job, counts->tracks, sizeof *w->target);
    w->next_of_node = kfi_alloc_raw(w->job, counts->tracks, sizeof *w->next_of_node);
    if (!w->tracks || !w->target || !w->next_of_node)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < anim->take_count; i++) {
        size_t shape = SIZE_MAX; /* before the first */
        for (size_t k = 0; k < anim->takes[i].track_count; k++)
            if (!plan_track(w, &anim->takes[i], &anim->takes[i].tracks[k], at++, first_shape, &shape))
                return false;
    }
    w->numbers = kfi_alloc_raw(w->job, counts->points_max, 3 * sizeof *w->numbers);
    w->indices = kfi_alloc_raw(w->job, counts->points_max, sizeof *w->indices);
    return w->numbers && w->indices && kfi_make_keys(w->job, &w->percent, counts->morph_keys_max, KFI_HANDLES) &&
           kfi_fbx_keys_alloc(w->job, counts->keys_max, &w->keys);
}

/* ---------------------------------------------------------------- the sections before the objects */

static void write_time_stamp(kfi_tree *tree)
{
    kfi_tree_begin(tree, "CreationTimeStamp");
    kfi_tree_i32_node(tree, "Version", 1000);
    kfi_tree_i32_node(tree, "Year", 1970);
    kfi_tree_i32_node(tree, "Month", 1);
    kfi_tree_i32_node(tree, "Day", 1);
    kfi_tree_i32_node(tree, "Hour", 10);
    kfi_tree_i32_node(tree, "Minute", 0);
    kfi_tree_i32_node(tree, "Second", 0);
    kfi_tree_i32_node(tree, "Millisecond", 0);
    kfi_tree_end(tree);
}

/* `creator`: the program that the numbers come from, or NULL: ourselves. */
static void write_application(kfi_tree *tree, const char *which, const char *creator)
{
    const char *const rows[][3] = {{"ApplicationVendor", "KString", creator ? "" : "Keyferry"},
                                   {"ApplicationName", "KString", creator ? creator : "Keyferry"},
                                   {"ApplicationVersion", "KString", creator ? "" : KF_VERSION},
                                   {"DateTime_GMT", "DateTime", "01/01/1970 10:00:00.000"}};
    char name[64];
    kfi_write_p(tree, which, "Compound", "", "");
    kfi_tree_end(tree);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t size = strlen(which);
        memcpy(name, which, size);
        name[size] = '|';
        memcpy(name + size + 1, rows[i][0], strlen(rows[i][0]) + 1);
        kfi_write_p(tree, name, rows[i][1], "", "");
        kfi_tree_text(tree, rows[i][2]);
        kfi_tree_end(tree);
    }
}

static void write_scene_info(kfi_tree *tree, const char *creator)
{
    static const char *const data[] = {"Title", "Subject", "Author", "Keywords", "Revision", "Comment"};
    kfi_tree_begin(tree, "SceneInfo");
    kfi_tree_name(tree, "SceneInfo", "GlobalInfo");
    kfi_tree_text(tree, "UserData");
    kfi_tree_text_node(tree, "Type", "UserData");
    kfi_tree_i32_node(tree, "Version", 100);
    kfi_tree_begin(tree, "MetaData");
    kfi_tree_i32_node(tree, "Version", 100);
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        kfi_tree_text_node(tree, data[i], "");
    kfi_tree_end(tree);
    kfi_tree_begin(tree, "Properties70");
    kfi_write_p_text(tree, "DocumentUrl", "Url", "");
    kfi_write_p_text(tree, "SrcDocumentUrl", "Url", "");
    write_application(tree, "Original", creator);
    write_application(tree, "LastSaved", NULL);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

static void write_header(kfi_tree *tree, const char *creator)
{
    kfi_tree_begin(tree, "FBXHeaderExtension");
    kfi_tree_i32_node(tree, "FBXHeaderVersion", 1003);
    kfi_tree_i32_node(tree, "FBXVersion", (int32_t)kfi_tree_version(tree));
    if (!kfi_tree_ascii(tree))
        kfi_tree_i32_node(tree, "EncryptionType", 0);
    write_time_stamp(tree);
    kfi_tree_text_node(tree, "Creator", CREATOR);
    write_scene_info(tree, creator);
    kfi_tree_end(tree);
    if (!kfi_tree_ascii(tree)) {
        kfi_tree_begin(tree, "FileId");
        kfi_tree_raw(tree, FILE_ID, sizeof FILE_ID);
        kfi_tree_end(tree);
        kfi_tree_text_node(tree, "CreationTime", CREATION_TIME);
        kfi_tree_text_node(tree, "Creator", CREATOR);
    }
}

/* FBX's number for a frame rate; 14 is "custom". The mode once read is kept while it says the same rate. */
static int32_t time_mode(const kf_anim *anim)
{
    static const struct {
        int32_t mode;
        double rate;
    } modes[] = {{0, 30},
                 {1, 120},
                 {2, 100},
                 {3, 60},
                 {4, 50},
                 {5, 48},
                 {6, 30},
                 {7, 30},
                 {10, 25},
                 {11, 24},
                 {12, 1000},
                 {15, 96},
                 {16, 72},
                 {8, 30000 / 1001.0},
                 {9, 30000 / 1001.0},
                 {13, 24000 / 1001.0},
                 {17, 60000 / 1001.0}};
    int32_t found = 14;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (fabs(modes[i].rate - anim->frame_rate) > 1e-6 * modes[i].rate)
            continue;
        if (modes[i].mode == anim->settings.time_mode && (modes[i].mode != 0 || kfi_write_from_fbx(anim)))
            return modes[i].mode;
        if (found == 14 || modes[i].mode == 6) /* 30 frames a second, not "the default" */
            found = modes[i].mode;
    }
    return found;
}

static void write_settings(const kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    const kf_settings *settings = &anim->settings;
    kfi_tree *tree = w->tree;
    double start = 0, end = 1;
    for (size_t i = 0; i < anim->take_count; i++) {
        const kf_take *take = &anim->takes[i];
        start = i == 0 || take->start < start ? take->start : start;
        end = i == 0 || take->end > end ? take->end : end;
    }
    int32_t mode = time_mode(anim);
    kfi_tree_begin(tree, "GlobalSettings");
    kfi_tree_i32_node(tree, "Version", 1000);
    kfi_tree_begin(tree, "Properties70");
    kfi_write_p_int(tree, "UpAxis", "int", "Integer", settings->up_axis);
    kfi_write_p_int(tree, "UpAxisSign", "int", "Integer", settings->up_sign);
    kfi_write_p_int(tree, "FrontAxis", "int", "Integer", settings->front_axis);
    kfi_write_p_int(tree, "FrontAxisSign", "int", "Integer", settings->front_sign);
    kfi_write_p_int(tree, "CoordAxis", "int", "Integer", settings->coord_axis);
    kfi_write_p_int(tree, "CoordAxisSign", "int", "Integer", settings->coord_sign);
    kfi_write_p_int(tree, "OriginalUpAxis", "int", "Integer", -1);
    kfi_write_p_int(tree, "OriginalUpAxisSign", "int", "Integer", 1);
    kfi_write_p_double(tree, "UnitScaleFactor", settings->unit_scale);
    kfi_write_p_double(tree, "OriginalUnitScaleFactor", settings->unit_scale);
    kfi_write_p(tree, "AmbientColor", "ColorRGB", "Color", "");
    kfi_tree_f64(tree, 0);
    kfi_tree_f64(tree, 0);
    kfi_tree_f64(tree, 0);
    kfi_tree_end(tree);
    kfi_write_p_text(tree, "DefaultCamera", "", "Producer Perspective");
    kfi_write_p_int(tree, "TimeMode", "enum", "", mode);
    kfi_write_p_int(tree, "TimeProtocol", "enum", "", 2);
    kfi_write_p_int(tree, "SnapOnFrameMode", "enum", "", 0);
    kfi_write_p_time(tree, "TimeSpanStart", start);
    kfi_write_p_time(tree, "TimeSpanStop", end);
    kfi_write_p_double(tree, "CustomFrameRate", mode == 14 ? anim->frame_rate : -1);
    kfi_write_p(tree, "TimeMarker", "Compound", "", "");
    kfi_tree_end(tree);
    kfi_write_p_int(tree, "CurrentTimeMarker", "int", "Integer", -1);
    kfi_tree_end(tree);
    kfi_tree_end(tree);
}

static void write_documents(const kfi_scene_writer *w)
{
    kfi_tree *tree = w->tree;
    kfi_tree_comment(tree, "Documents Description");
    kfi_tree_begin(tree, "Documents");
    kfi_tree_i32_node(tree, "Count", 1);
    kfi_tree_begin(tree, "Document");
    kfi_tree_i64(tree, w->ids.document);
    kfi_tree_text(tree, "");
    kfi_tree_text(tree, "Scene");
    kfi_tree_begin(tree, "Properties70");
    kfi_write_p(tree, "SourceObject", "object", "", "");
    kfi_tree_end(tree);
    kfi_write_p_text(tree, "ActiveAnimStackName", "", w->anim->take_count ? w->anim->takes[0].name : "");
    kfi_tree_end(tree);
    kfi_tree_i64_node(tree, "RootNode", 0);
    kfi_tree_end(tree);
    kfi_tree_end(tree);

    kfi_tree_comment(tree, "Document References");
    kfi_tree_begin(tree, "References");
    kfi_tree_braces(tree);
    kfi_tree_end(tree);
}

/* ---------------------------------------------------------------- the last one, and all of them */

static void write_range(kfi_tree *tree, const char *name, const kf_take *take)
{
    kfi_tree_begin(tree, name);
    kfi_tree_i64(tree, kfi_fbx_ticks(take->start));
    kfi_tree_i64(tree, kfi_fbx_ticks(take->end));
    kfi_tree_end(tree);
}

/* A second list of takes, for older programs. */
static void write_take_list(const kfi_scene_writer *w)
{
    const kf_anim *anim = w->anim;
    kfi_tree *tree = w->tree;
    kfi_tree_comment(tree, "Takes section");
    kfi_tree_begin(tree, "Takes");
    kfi_tree_text_node(tree, "Current", anim->take_count ? anim->takes[0].name : "");
    for (size_t i = 0; i < anim->take_count; i++) {
        const kf_take *take = &anim->takes[i];
        kfi_tree_begin(tree, "Take");
        kfi_tree_text(tree, take->name);
        kfi_tree_text_node(tree, "FileName", "");
        write_range(tree, "LocalTime", take);
        write_range(tree, "ReferenceTime", take);
        kfi_tree_end(tree);
    }
    kfi_tree_end(tree);
}

bool kfi_fbx_write(kf_job *job, const kf_anim *anim, const kf_sink *sink)
{
    uint32_t version = job->options.fbx_version ? job->options.fbx_version : 7500;
    kfi_scene_writer w = {.job = job, .anim = anim};
    w.tree = kfi_tree_new(job, sink, version, job->options.ascii);
    bool ok = w.tree && plan(&w);
    if (ok) {
        write_header(w.tree, anim->creator && strncmp(anim->creator, "Keyferry", 8) != 0 ? anim->creator : NULL);
        write_settings(&w);
        write_documents(&w);
        kfi_write_definitions(&w); /* before the objects: readers then need no second look at these */
        kfi_tree_comment(w.tree, "Object properties");
        kfi_tree_begin(w.tree, "Objects");
        kfi_tree_braces(w.tree);
        ok = kfi_write_nodes(&w) && kfi_write_takes(&w);
        kfi_tree_end(w.tree);
    }
    if (ok) {
        kfi_write_connections(&w);
        write_take_list(&w);
        ok = kfi_tree_finish(w.tree);
    }
    if (ok && kfi_tree_text_bent(w.tree))
        ok = kfi_warn(job, "ascii-text",
                      "an ASCII FBX cannot hold NUL bytes nor the letters &quot; &lf; &cr; in a text: "
                      "they became a space, or what they stand for");
    return ok;
}
