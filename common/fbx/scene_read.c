#include "fbx/scene_read.h"

#include <math.h>
#include <string.h>

/* No rig is this deep; what follows a chain of parents may rely on it. */
enum { DEPTH_LIMIT = 4096 };

static const char MAGIC[] = "Kaydara FBX Binary  "; /* with the NUL behind it */

/* ---------------------------------------------------------------- is it one */

/* The text at the start of a line, or NULL if fewer bytes are left. */
static bool starts(const uint8_t *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    return size >= length && memcmp(data, text, length) == 0;
}

/* ASCII files begin with "; FBX 7.5.0 project file", or at least with comments and "FBXHeaderExtension:". */
bool kfi_fbx_probe(const uint8_t *data, size_t size)
{
    if (size >= sizeof MAGIC && memcmp(data, MAGIC, sizeof MAGIC) == 0) return true;
    size_t at = starts(data, size, "\xef\xbb\xbf") ? 3 : 0;
    for (int line = 0; line < 64 && at < size; line++) {
        while (at < size && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n'))
            at++;
        if (at < size && data[at] == ';') {
            size_t word = at + 1;
            while (word < size && data[word] == ' ') word++;
            if (starts(data + word, size - word, "FBX ")) return true;
            while (at < size && data[at] != '\n') at++;
        } else {
            return starts(data + at, size - at, "FBXHeaderExtension:");
        }
    }
    return false;
}

/* ---------------------------------------------------------------- memory and progress */

static bool out_of_memory(const kfi_fbx_reader *in)
{
    if (in->over_limit)
        return kfi_fail(in->job, KF_MEMORY_LIMIT, KF_NO_OFFSET,
                        "needs more memory than the limit of %llu bytes (raise it with --max-memory)",
                        (unsigned long long)in->job->arena.limit);
    return kfi_fail(in->job, KF_NO_MEMORY, KF_NO_OFFSET, "out of memory");
}

void *kfi_fbx_resize(void *user, void *block, size_t old_size, size_t new_size)
{
    kfi_fbx_reader *in = user;
    kfi_arena *arena = &in->job->arena;
    if (old_size == 0 && new_size == 0) return NULL;
    if (new_size > old_size) {
        size_t more = new_size - old_size;
        in->over_limit = more > arena->limit || arena->total > arena->limit - more;
        if (in->over_limit) return NULL;
    }
    void *moved = arena->allocator.resize(arena->allocator.user, block, old_size, new_size);
    if (!moved && new_size > 0) return NULL;
    arena->total = arena->total - old_size + new_size;
    return moved;
}

bool kfi_fbx_reserve(kfi_fbx_reader *in, kfi_fbx_unpacked *room, uint64_t size)
{
    if (room->data && size <= room->capacity) return true;
    size_t wanted = size < 4096 ? 4096 : size > SIZE_MAX / 2 ? SIZE_MAX : (size_t)(size + size / 8);
    in->over_limit = true;
    kfi_fbx_resize(in, room->data, room->capacity, 0);
    room->capacity = 0;
    room->data = wanted < SIZE_MAX ? kfi_fbx_resize(in, NULL, 0, wanted) : NULL;
    if (!room->data) return out_of_memory(in);
    room->capacity = wanted;
    return true;
}

/* Half of the work is ufbx's, half comes after. */
static ufbx_progress_result on_progress(void *user, const ufbx_progress *progress)
{
    kfi_fbx_reader *in = user;
    in->position = progress->bytes_read;
    double total = (double)progress->bytes_total;
    double done = total > 0 ? (double)progress->bytes_read / total : 0.0;
    return kfi_fbx_report(in, 0.5 * done) ? UFBX_PROGRESS_CONTINUE : UFBX_PROGRESS_CANCEL;
}

bool kfi_fbx_report(kfi_fbx_reader *in, double done)
{
    const kf_options *options = &in->job->options;
    if (!options->progress || done < in->reported + 0.01) return true;
    in->reported = done;
    return options->progress(options->user, done < 1 ? done : 1) ||
           kfi_fail(in->job, KF_CANCELLED, KF_NO_OFFSET, "cancelled");
}

/* ---------------------------------------------------------------- loading */

/* From version 7200 on blend shapes are objects of their own, whose type stands in the file in plain letters
 * whatever the encoding. Without them no mesh is of interest, and ufbx need not unpack any. */
static bool has_shapes(const kf_file *file)
{
    static const char word[] = "BlendShape";
    const char *data = file->data;
    size_t size = file->size, length = sizeof word - 1;
    uint32_t version = 0;
    if (size >= 27 && memcmp(data, MAGIC, sizeof MAGIC) == 0) {
        const uint8_t *bytes = (const uint8_t *)data + 23;
        version = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
    } else if (starts(file->data, size, "; FBX 7.") && size > 8 && data[8] >= '2' && data[8] <= '9') {
        version = 7200;
    }
    if (version < 7200 || version >= 10000) return true;
    const char *end = data + size;
    while ((size_t)(end - data) >= length &&
           (data = memchr(data, word[0], (size_t)(end - data) - length + 1))) {
        if (memcmp(data, word, length) == 0) return true;
        data++;
    }
    return false;
}

static ufbx_scene *load(kfi_fbx_reader *in, const kf_file *file, bool animation, bool closely,
                        ufbx_error *error)
{
    ufbx_allocator_opts memory = {.allocator = {.realloc_fn = kfi_fbx_resize, .user = in}};
    ufbx_load_opts opts = {
        .temp_allocator = memory,
        .result_allocator = memory,
        .retain_dom = true,
        .ignore_geometry = !in->shapes,
        .ignore_animation = !animation,
        .ignore_embedded = true,
        .skip_skin_vertices = true,
        .skip_mesh_parts = true,
        .allow_missing_vertex_position = true,
        .node_depth_limit = DEPTH_LIMIT,
        .file_format = UFBX_FILE_FORMAT_FBX,
        /* Names keep their bytes, whatever these are. */
        .allow_unsafe = true,
        .unicode_error_handling = UFBX_UNICODE_ERROR_HANDLING_UNSAFE_IGNORE,
    };
    if (in->job->options.progress || closely) {
        opts.progress_cb.fn = on_progress;
        opts.progress_cb.user = in;
        opts.progress_interval_hint = closely ? 1 : 256 * 1024;
    }
    in->position = 0;
    return ufbx_load_memory(file->data, file->size, &opts, error);
}

/* ufbx says only that it failed. A second look tells whether a curve was to blame, and where. */
static bool refuse(kfi_fbx_reader *in, const kf_file *file, const ufbx_error *error)
{
    kf_job *job = in->job;
    switch (error->type) {
    case UFBX_ERROR_OUT_OF_MEMORY:
    case UFBX_ERROR_MEMORY_LIMIT:
    case UFBX_ERROR_ALLOCATION_LIMIT:
        return out_of_memory(in);
    case UFBX_ERROR_CANCELLED:
        return kfi_fail(job, KF_CANCELLED, KF_NO_OFFSET, "cancelled");
    case UFBX_ERROR_TRUNCATED_FILE:
        return kfi_fail(job, KF_BAD_INPUT, file->size, "the FBX file ends too early");
    case UFBX_ERROR_NODE_DEPTH_LIMIT:
        return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "nodes are nested deeper than %d levels",
                        DEPTH_LIMIT);
    case UFBX_ERROR_UNSUPPORTED_VERSION:
        return kfi_fail(job, KF_BAD_INPUT, KF_NO_OFFSET, "FBX version %.*s is not supported",
                        (int)error->info_length, error->info);
    default:
        break;
    }

    bool binary = file->size >= sizeof MAGIC && memcmp(file->data, MAGIC, sizeof MAGIC) == 0;
    ufbx_error again;
    ufbx_free_scene(load(in, file, !in->raw, true, &again));
    uint64_t offset = !binary ? KF_NO_OFFSET : in->position < file->size ? in->position : file->size;
    if (kfi_failed(job)) return false; /* cancelled */
    ufbx_scene *scene = in->raw ? NULL : load(in, file, false, false, &again);
    bool curve = scene != NULL;
    ufbx_free_scene(scene);
    if (curve)
        return kfi_fail(job, KF_BAD_INPUT, offset,
                        "an animation curve is malformed: its arrays KeyTime, KeyValueFloat, KeyAttrFlags, "
                        "KeyAttrDataFloat and KeyAttrRefCount do not fit together, or one is missing");
    const char *why = error->description.length > 0 ? error->description.data : "no reason given";
    return kfi_fail(job, KF_BAD_INPUT, offset, "the FBX file is malformed (%s%s%.*s)", why,
                    error->info_length > 0 ? ": " : "", (int)error->info_length, error->info);
}

/* ---------------------------------------------------------------- texts and numbers */

const char *kfi_fbx_name(kfi_fbx_reader *in, ufbx_string name)
{
    if (name.length > 0 && memchr(name.data, '\0', name.length) &&
        !kfi_warn(in->job, "name-cut",
                  "the name \"%.100s\" goes on after a NUL byte; the rest is not carried", name.data))
        return NULL;
    return kfi_strndup(in->job, name.data, name.length);
}

const char *kfi_fbx_label(const ufbx_element *element)
{
    return element && element->name.length > 0 ? element->name.data : "(no name)";
}

void kfi_fbx_numbers(const ufbx_props *props, const char *name, double value[3])
{
    const ufbx_prop *prop = ufbx_find_prop(props, name);
    for (int i = 0; prop && i < 3; i++) value[i] = prop->value_vec3.v[i];
}

bool kfi_fbx_mend(kfi_fbx_reader *in, double *values, size_t count, double fallback, const char *what,
                  const ufbx_element *element)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) continue;
        values[i] = fallback;
        if (!kfi_warn(in->job, "nonfinite", "\"%.100s\", %.100s: a number is not finite, taken as %g",
                      kfi_fbx_label(element), what, fallback))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- settings */

static int32_t axis(const ufbx_props *props, const char *name, int32_t otherwise)
{
    int64_t value = ufbx_find_int(props, name, otherwise);
    return value >= 0 && value <= 2 ? (int32_t)value : otherwise;
}

static int32_t sign(const ufbx_props *props, const char *name)
{
    return ufbx_find_int(props, name, 1) < 0 ? -1 : 1;
}

/* Frames a second of a time mode; 0 for the custom one. */
static double mode_rate(int32_t mode)
{
    static const double rates[] = {30,
                                   120,
                                   100,
                                   60,
                                   50,
                                   48,
                                   30,
                                   30,
                                   30000 / 1001.0,
                                   30000 / 1001.0,
                                   25,
                                   24,
                                   1000,
                                   24000 / 1001.0,
                                   0,
                                   96,
                                   72,
                                   60000 / 1001.0};
    return mode >= 0 && (size_t)mode < sizeof rates / sizeof *rates ? rates[mode] : 0;
}

static bool read_settings(kfi_fbx_reader *in)
{
    const ufbx_scene *scene = in->scene;
    const ufbx_props *props = &scene->settings.props;
    kf_settings *settings = &in->anim->settings;
    settings->up_axis = axis(props, "UpAxis", KFI_SETTINGS.up_axis);
    settings->up_sign = sign(props, "UpAxisSign");
    settings->front_axis = axis(props, "FrontAxis", KFI_SETTINGS.front_axis);
    settings->front_sign = sign(props, "FrontAxisSign");
    settings->coord_axis = axis(props, "CoordAxis", KFI_SETTINGS.coord_axis);
    settings->coord_sign = sign(props, "CoordAxisSign");
    settings->unit_scale = ufbx_find_real(props, "UnitScaleFactor", 1.0);
    if (!kfi_fbx_mend(in, &settings->unit_scale, 1, 1.0, "UnitScaleFactor", NULL)) return false;
    settings->time_mode = (int32_t)scene->settings.time_mode;

    double rate = mode_rate(settings->time_mode);
    if (settings->time_mode == UFBX_TIME_MODE_CUSTOM) rate = ufbx_find_real(props, "CustomFrameRate", 30.0);
    if (!(rate > 0 && rate <= 1e6)) {
        if (!kfi_note(in->job, "frame-rate", "the FBX states no usable frame rate; 30 is taken"))
            return false;
        rate = 30.0;
        settings->time_mode = UFBX_TIME_MODE_30_FPS;
    }
    in->anim->frame_rate = rate;

    /* We write other programs' numbers as they are: then the one that they come from counts. */
    const ufbx_application *program = &scene->metadata.latest_application;
    if (strncmp(program->name.data, "Keyferry", 8) == 0 && scene->metadata.original_application.name.length > 0)
        program = &scene->metadata.original_application;
    if (program->name.length > 0)
        in->anim->creator = kfi_format_text(in->job, "%s%s%s", program->name.data,
                                            program->version.length ? " " : "", program->version.data);
    else if (scene->metadata.creator.length > 0)
        in->anim->creator =
            kfi_strndup(in->job, scene->metadata.creator.data, scene->metadata.creator.length);
    return !kfi_failed(in->job);
}

/* ---------------------------------------------------------------- all of it */

static bool read_scene(kfi_fbx_reader *in)
{
    return read_settings(in) && kfi_fbx_read_nodes(in) && kfi_fbx_read_meshes(in) && kfi_fbx_read_takes(in) &&
           kfi_fbx_note_left_out(in);
}

bool kfi_fbx_read(kf_job *job, const kf_file *file, kf_anim *anim)
{
    const uint8_t *data = file->data;
    if (file->size == 0) return kfi_fail(job, KF_BAD_INPUT, 0, "expected an FBX file, found no bytes at all");
    if (!kfi_fbx_probe(data, file->size))
        return kfi_fail(job, KF_BAD_INPUT, 0,
                        "expected an FBX file, which begins with \"Kaydara FBX Binary\" or \"; FBX\", found "
                        "the byte 0x%02x%s",
                        data[0], file->size > 1 ? " and others" : "");

    kfi_fbx_reader in = {.job = job, .anim = anim, .shapes = has_shapes(file), .reported = -1};
    kfi_anim_init(anim, "fbx");
    if (!kfi_fbx_report(&in, 0) || !kfi_fbx_index(&in, file)) return false;
    ufbx_error error;
    ufbx_scene *scene = load(&in, file, !in.raw, false, &error);
    if (!scene) return refuse(&in, file, &error);
    in.scene = scene;
    bool ok = read_scene(&in);
    for (size_t i = 0; i < KFI_FBX_ARRAYS; i++)
        kfi_fbx_resize(&in, in.unpacked[i].data, in.unpacked[i].capacity, 0);
    ufbx_free_scene(scene);
    return ok;
}
