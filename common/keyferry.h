/*
 * Keyferry: game animations to FBX and back, without losing a byte or a tangent.
 *
 * This header is the whole public interface: the library's calls, the neutral animation that every format is
 * read into, and the interface (ABI) of format plugins.
 *
 * How the pieces fit:
 *
 *     kf_library   what formats there are; made once, then only read, so threads may share it
 *     kf_job       one piece of work: its memory, its options, its messages. Everything a call hands out belongs
 *                  to its job and lives until kf_job_free. A job is used by one thread at a time.
 *     kf_anim      the neutral animation: nodes, takes, tracks, keys. Plain structs, read them directly.
 *
 *     kf_library *lib = kf_library_new(NULL, &error);
 *     kf_job *job = kf_job_new(lib, NULL, &error);
 *     const kf_anim *anim = kf_load(job, &file, 1, &error);
 *     ...
 *     kf_job_free(job);
 *     kf_library_free(lib);
 *
 * The library opens no files of its own accord (plugins aside), prints nothing and has no global state.
 * All text is UTF-8 unless a field says "bytes". Times are seconds, angles degrees, quaternions (w, x, y, z).
 */
#ifndef KEYFERRY_H
#define KEYFERRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && !defined(KF_STATIC)
#ifdef KF_BUILD
#define KF_API __declspec(dllexport)
#else
#define KF_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define KF_API __attribute__((visibility("default")))
#else
#define KF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KF_VERSION "0.1.0"
#define KF_ABI 2u /* what a plugin must have been built for */

/* ---------------------------------------------------------------- results and messages */

/* Numbers are pinned: they never change meaning. */
typedef enum kf_code {
    KF_OK = 0,
    KF_BAD_INPUT = 1,      /* the bytes are not a well-formed file of their format */
    KF_UNKNOWN_FORMAT = 2, /* no format recognises the bytes, or there is no format of that id */
    KF_AMBIGUOUS = 3,      /* two formats recognise them equally well */
    KF_INEXPRESSIBLE = 4,  /* the target cannot hold this, and strict was asked for or nothing would remain */
    KF_NO_MEMORY = 5,      /* the allocator said no */
    KF_MEMORY_LIMIT = 6,   /* the job's ceiling was reached */
    KF_BAD_ARGUMENT = 7,   /* wrong use of the library or of an option */
    KF_IO = 8,             /* an output callback failed */
    KF_CANCELLED = 9,      /* the progress callback said stop */
    KF_BAD_PLUGIN = 10     /* a plugin could not be loaded */
} kf_code;

#define KF_NO_OFFSET UINT64_MAX

/* Owned by the caller; written once, by the first failure. */
typedef struct kf_error {
    kf_code code;
    uint64_t offset;   /* where in the file, or KF_NO_OFFSET */
    char file[256];    /* the name that the caller gave the file, cut if longer; may be empty */
    char message[512]; /* one sentence: field, expected, found; no file name, no offset, no full stop */
} kf_error;

typedef enum kf_level {
    KF_NOTE = 0,    /* what was chosen or done; nothing to worry about */
    KF_WARNING = 1, /* something could not be carried and how it was met; an error with options.strict */
    KF_PROBLEM = 2  /* found by kf_check: the file breaks its format's rules */
} kf_level;

/* One message. Of many alike (same id) only the first few are kept in full; `repeats` counts the rest. */
typedef struct kf_message {
    kf_level level;
    const char *id;   /* a short fixed word, such as "ease-lost", by which a program can tell the kind */
    const char *text; /* one sentence, naming node, take and time where it concerns one */
    const char *file; /* or NULL */
    uint64_t offset;  /* or KF_NO_OFFSET */
    size_t repeats;
} kf_message;

/* ---------------------------------------------------------------- the neutral animation */

/* How a curve runs from a key to the next one. */
typedef enum kf_interp {
    KF_STEP = 0,      /* holds the value, jumps at the next key */
    KF_STEP_NEXT = 1, /* takes the next key's value at once */
    KF_LINEAR = 2,
    KF_BEZIER = 3,    /* 2-D cubic Bezier of (time, value) over both handles, solved for time */
    KF_HERMITE = 4,   /* cubic in time; only the handles' slopes dv/dt count, not their length */
    KF_TCB = 5,       /* tension, continuity, bias; the tangents follow from the neighbours, see kf_curve.tcb_rule */
    KF_AUTO = 6,      /* cubic with the tangents that FBX derives from the neighbours (auto, clamped: see kf_key.attr) */
    KF_INTERP_COUNT
} kf_interp;

/* One key of a scalar curve. What else belongs to it stands beside the keys, for the curves that have such: see
 * kf_curve.handles and kf_curve.tcb. */
typedef struct kf_key {
    double time;
    double value;
    uint8_t interp;  /* kf_interp, of the segment after this key */
    uint8_t flags;   /* KF_KEY_... */
    uint16_t native; /* the format's own interpolation number where the neutral one is only its nearest shape; else 0 */
    uint32_t attr;   /* the FBX key attribute word as read from an FBX; 0 for keys from elsewhere */
} kf_key;

enum {
    KF_KEY_HELPER = 1,   /* added by the FBX writer so that FBX plays the shape; no key of the game's */
    KF_KEY_BROKEN = 2,   /* in and out tangents are independent even where they happen to be in line */
    KF_KEY_NONFINITE = 4, /* the file's value or time is no finite number; `value` holds the last finite one instead */
    /* With it on keys of scalar curves: what the file's value is, if it is the value. For kf_dump. */
    KF_KEY_NAN = 8,
    KF_KEY_INFINITE = 16,
    KF_KEY_MINUS_INFINITE = 32,
    KF_KEY_NONFINITE_SHAPE = 64 /* a handle or TCB number in the file is no finite number; here it is 0 */
};

/* A handle relative to its key. */
typedef struct kf_handle {
    double dt, dv;
} kf_handle;

/* Both handles of a key. In handles have dt <= 0, out handles dt >= 0, except where a game file says otherwise.
 * A handle counts only where a BEZIER or HERMITE segment touches it: `out` for the key's own interpolation, `in` for
 * the interpolation of the key before. On keys read from an FBX it may say more: see KF_AUTO. */
typedef struct kf_handles {
    kf_handle in, out;
} kf_handles;

/* What the artist typed on a TCB key. Neutral at 0. */
typedef struct kf_tcb {
    float tension, continuity, bias, ease_in, ease_out;
} kf_tcb;

/* By which rule TCB keys become tangents. */
typedef enum kf_tcb_rule {
    KF_TCB_KOCHANEK = 0, /* Kochanek-Bartels with uneven spacing, end keys and ease, as 3ds Max and the games do it */
    KF_TCB_FBX = 1       /* as MotionBuilder resolves FBX TCB keys: slopes per second, no ease */
} kf_tcb_rule;

typedef enum kf_extrapolation {
    KF_CONSTANT = 0, /* the end value */
    KF_REPEAT = 1,
    KF_MIRROR = 2,
    KF_SLOPE = 3,            /* straight on with the end tangent */
    KF_REPEAT_RELATIVE = 4   /* repeat, each time offset by the curve's rise */
} kf_extrapolation;

/* Where a key came from, after merging an edited FBX with the original file. */
typedef struct kf_origin {
    uint32_t key;     /* index of the original's key, or KF_NEW */
    uint32_t changed; /* KF_CHANGED_...: what differs from it; 0 means: keep the original's bytes */
} kf_origin;

#define KF_NEW UINT32_MAX
enum {
    KF_CHANGED_TIME = 1,
    KF_CHANGED_VALUE = 2,
    KF_CHANGED_IN = 4,     /* the in handle */
    KF_CHANGED_OUT = 8,    /* the out handle */
    KF_CHANGED_INTERP = 16,
    KF_CHANGED_TCB = 32,   /* tension, continuity or bias */
    KF_CHANGED_EASE = 64,
    KF_CHANGED_ALL = 127
};

/* Keys in ascending time; equal times are allowed only where a game file has them (a jump: the last one counts). */
typedef struct kf_curve {
    kf_key *keys;
    size_t count;
    kf_handles *handles;     /* one pair per key, or NULL: all are 0, as where no segment is BEZIER or HERMITE */
    kf_tcb *tcb;             /* one per key, or NULL when no key of the curve has such numbers */
    const kf_origin *origin; /* one per key in what an exporter gets, or NULL: every key is new */
    uint8_t tcb_rule;        /* kf_tcb_rule */
    uint8_t pre, post;       /* kf_extrapolation */
    uint32_t pre_count, post_count; /* how often it repeats; 0 is for ever */
    /* Of a curve read from an FBX whose attribute data the keys cannot hold to the last bit: four words a key, else NULL.
     * Believed only where fbx_data_count == count and the words still say what the key says. */
    const uint32_t *fbx_data;
    size_t fbx_data_count;
} kf_curve;

/* One key of a rotation kept as quaternions. */
typedef struct kf_quat_key {
    double time;
    double q[4];     /* w, x, y, z; unit length */
    int32_t turns;   /* full turns beyond the quaternion that the file's angle had; for the record, not for motion */
    uint8_t interp;  /* KF_STEP, KF_LINEAR (slerp) or KF_TCB (squad) */
    uint8_t flags;   /* KF_KEY_... */
    uint16_t native;
} kf_quat_key;

typedef struct kf_quat_curve {
    kf_quat_key *keys;
    size_t count;
    kf_tcb *tcb;
    const kf_origin *origin;
} kf_quat_curve;

typedef enum kf_channel {
    KF_TRANSLATION = 0, /* x y z */
    KF_ROTATION = 1,    /* x y z in degrees, applied in the node's rotation order; or quaternions */
    KF_SCALE = 2,       /* x y z */
    KF_VISIBILITY = 3,  /* one curve, 0 or 1 */
    KF_MORPH = 4,       /* one curve per shape, 1 = the full shape; `name` is the shape's */
    KF_CUSTOM = 5,      /* one to three curves; `name` is the property's */
    KF_CHANNEL_COUNT
} kf_channel;

typedef struct kf_track {
    uint32_t node;    /* index into kf_anim.nodes */
    uint32_t layer;   /* index into kf_take.layers; 0 for everything but FBX layers above the first */
    uint8_t channel;  /* kf_channel */
    uint8_t curves;   /* how many of curve[] there are: 1 or 3 (2 is possible for custom); 0 for quaternions */
    bool quaternion;  /* the keys are in `quat` */
    uint8_t state;    /* kf_track_state, for exporters */
    int32_t source;   /* the importer's own number for this track, given back to its exporter; -1 if new */
    const char *name; /* of a morph or custom channel, else NULL */
    double rest[3];   /* the value where a curve has no keys */
    kf_curve curve[3];
    kf_quat_curve quat;
} kf_track;

typedef enum kf_track_state {
    KF_TRACK_NEW = 0,     /* not in the original */
    KF_TRACK_SAME = 1,    /* nothing changed: the original's bytes stand */
    KF_TRACK_CHANGED = 2, /* see the keys' origins */
    KF_TRACK_KEPT = 3     /* did not come back, kept as it was */
} kf_track_state;

/* Modes are FBX's numbers. */
typedef struct kf_layer {
    const char *name;
    double weight;    /* 0..1 */
    uint8_t mode;     /* 0 additive, 1 override, 2 override passthrough */
    uint8_t rotation; /* how rotations add up: 0 by layer, 1 by channel */
    uint8_t scale;    /* 0 multiplies, 1 adds */
    bool mute, solo;
} kf_layer;

typedef struct kf_take {
    const char *name;
    double start, end;
    kf_layer *layers; /* at least one once it is valid */
    size_t layer_count;
    kf_track *tracks;
    size_t track_count;
    int32_t source; /* index of the original's take that this one is, or -1 */
} kf_take;

typedef enum kf_node_kind {
    KF_NODE_NULL = 0,
    KF_NODE_BONE = 1,
    KF_NODE_MESH = 2, /* has a kf_mesh */
    KF_NODE_ROOT = 3, /* a skeleton's root */
    KF_NODE_OTHER = 4 /* camera, light and the like in an FBX; its type is not carried */
} kf_node_kind;

/* The order in which the axes are applied; numbers are FBX's. XYZ is the matrix Rz Ry Rx. */
typedef enum kf_rotation_order {
    KF_XYZ = 0,
    KF_XZY = 1,
    KF_YZX = 2,
    KF_YXZ = 3,
    KF_ZXY = 4,
    KF_ZYX = 5
} kf_rotation_order;

typedef struct kf_transform {
    double translation[3];
    double rotation[3]; /* degrees */
    double scale[3];
} kf_transform;

/* A property as FBX has it: type names as in FBX ("KString", "Number", "Vector3D", "int", "bool", ...). */
typedef struct kf_property {
    const char *name;
    const char *type;
    const char *sub_type;
    const char *flags; /* "U" user defined, "A" animatable */
    double value[4];
    size_t value_count;
    const char *text; /* of strings; may hold any bytes */
    size_t text_size;
} kf_property;

/* A shape's offsets from the base points. */
typedef struct kf_shape {
    const char *name;
    uint32_t *index; /* which point each offset moves, or NULL: offset i moves point i */
    double (*offset)[3];
    size_t count;
    double weight; /* at which an FBX has it without keys in any take: 1 is in full */
} kf_shape;

/* A mesh carries points and shapes only: enough to see and edit morphs. */
typedef struct kf_mesh {
    double (*points)[3];
    size_t point_count;
    kf_shape *shapes;
    size_t shape_count;
} kf_mesh;

typedef struct kf_node {
    const char *name; /* bytes of the file; not always UTF-8, not always unique */
    int32_t parent;   /* index of a node that comes earlier, or -1 */
    uint8_t kind;     /* kf_node_kind */
    uint8_t order;    /* kf_rotation_order */
    kf_transform rest;
    kf_mesh *mesh;    /* or NULL */
    kf_property *properties;
    size_t property_count;
    int32_t source;   /* index of the original's node that this one is, or -1 */
} kf_node;

/* What an FBX says of itself in GlobalSettings. */
typedef struct kf_settings {
    int32_t up_axis, up_sign, front_axis, front_sign, coord_axis, coord_sign;
    double unit_scale; /* centimetres per unit */
    int32_t time_mode; /* FBX's number; 14 is "custom", with frame_rate */
} kf_settings;

typedef struct kf_anim {
    const char *format;  /* id it was read from */
    uint32_t revision;   /* whose result this is (kf_format.revision). Where an FBX that an older version wrote is brought
                          * back, import_ finds that older one's here, and is to make what that one made of the bytes */
    const char *creator; /* what program an FBX says it was written by, or NULL */
    double frame_rate;   /* for display and sampling; never 0 once valid */
    bool float32;        /* numbers came from 32-bit floats: 9 digits tell them all */
    kf_settings settings;
    kf_transform basis;  /* turns the game's axes and unit into FBX's (Y up, right-handed, centimetres) */
    kf_node *nodes;
    size_t node_count;
    kf_take *takes;
    size_t take_count;
    void *native;        /* the importer's decoded file, for its own exporter only */
} kf_anim;

/* ---------------------------------------------------------------- bytes in and out */

/* A file's bytes, with the name it is to be called by in messages and capsules (bytes, no folders; only where several FBX files
 * make one game file, folders may tell them apart). */
typedef struct kf_file {
    const char *name;
    const void *data;
    size_t size;
} kf_file;

/* Where output goes. `patch` overwrites bytes that were appended before; the FBX writer uses it to fill in sizes.
 * Both return false to stop the work with KF_IO. */
typedef struct kf_sink {
    void *user;
    bool (*append)(void *user, const void *data, size_t size);
    bool (*patch)(void *user, uint64_t at, const void *data, size_t size);
} kf_sink;

/* The caller's side of writing files. For each output, in order: `begin` with its plain file name (no folders, never
 * "." or ".."), bytes through the sink it fills in, `end`. A sidecar comes before its FBX. `end` with ok = false
 * means the bytes are unfinished and must be thrown away. */
typedef struct kf_output {
    void *user;
    bool (*begin)(void *user, const char *name, kf_sink *sink);
    bool (*end)(void *user, bool ok);
} kf_output;

/* ---------------------------------------------------------------- library and jobs */

typedef struct kf_library kf_library;
typedef struct kf_job kf_job;
typedef struct kf_format kf_format;

/* Like realloc with sizes: (NULL, 0, n) allocates, (p, old, 0) frees. Must be thread-safe if jobs run in threads. */
typedef struct kf_allocator {
    void *user;
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
} kf_allocator;

typedef struct kf_library_options {
    size_t size; /* sizeof(kf_library_options) */
    kf_allocator allocator;
    const char *plugin_path;  /* folders to load plugins from, ':' (';' on Windows) between them; NULL: none */
    bool no_installed_plugins; /* leave out the installed plugin folder */
} kf_library_options;

/* NULL options are the defaults. A plugin that cannot be loaded is left out and told of by kf_library_messages. */
KF_API kf_library *kf_library_new(const kf_library_options *options, kf_error *error);
KF_API void kf_library_free(kf_library *library);

/* All formats, built-in ones first. FBX itself is not in the list. */
KF_API const kf_format *const *kf_library_formats(const kf_library *library, size_t *count);
KF_API const kf_message *kf_library_messages(const kf_library *library, size_t *count);
KF_API const kf_format *kf_library_find(const kf_library *library, const char *id);
/* The file that the format's plugin was loaded from; NULL for a built-in one. */
KF_API const char *kf_library_origin(const kf_library *library, const kf_format *format);

typedef enum kf_program {
    KF_FOR_ANY = 0, /* sparse curves, native TCB */
    KF_FOR_MAYA = 1,
    KF_FOR_MAX = 2,
    KF_FOR_MOTIONBUILDER = 3,
    KF_FOR_BLENDER = 4
} kf_program;

typedef enum kf_tcb_mode {
    KF_TCB_DEFAULT = 0, /* by program */
    KF_TCB_NATIVE = 1,  /* FBX TCB keys with their numbers */
    KF_TCB_SLOPES = 2   /* the exact shape as user tangents */
} kf_tcb_mode;

/* Zero everywhere is the default. */
typedef struct kf_options {
    size_t size;               /* sizeof(kf_options) */
    const char *from;          /* id of the input's format; NULL: by content. "fbx" is an id */
    const char *to;            /* id of the output's format; NULL: see kf_convert */
    kf_program program;        /* for whom an FBX is written */
    kf_tcb_mode tcb;
    bool bake;                 /* a linear key on every frame, whatever the program */
    double bake_rate;          /* frames a second of a bake; 0: chosen */
    double frame_rate;         /* of formats that store none; 0: the format's usual */
    const char *rotation_order; /* "XYZ".."ZYX" for formats that leave it open; NULL: the format's usual */
    double tolerance;          /* in units, degrees or scale, whichever the channel has; 0: 1e-4 of the range (or units), 0.01 degrees */
    kf_file rig;               /* a skeleton for formats that keep it apart; data NULL: none */
    bool split_takes, drop_missing, ascii, no_capsule, no_sidecar, strict;
    uint32_t fbx_version;      /* 7400 or 7500; 0: 7500 */
    uint64_t max_memory;       /* bytes; 0: 64 times the input, at least 64 MiB */
    kf_allocator allocator;    /* zero: the library's */
    void *user;                /* for the callbacks below */
    bool (*progress)(void *user, double done); /* 0..1 now and then; false cancels */
} kf_options;

KF_API kf_job *kf_job_new(kf_library *library, const kf_options *options, kf_error *error);
KF_API void kf_job_free(kf_job *job);

/* What was said so far, in order. */
KF_API const kf_message *kf_job_messages(const kf_job *job, size_t *count);

/* ---------------------------------------------------------------- reading, looking, comparing */

/* Which format the bytes are: an id, "fbx" included, or NULL with KF_UNKNOWN_FORMAT or KF_AMBIGUOUS. */
KF_API const char *kf_probe(kf_job *job, const kf_file *file, kf_error *error);

/* Reads one animation from one file, or from several that belong together. */
KF_API const kf_anim *kf_load(kf_job *job, const kf_file *files, size_t count, kf_error *error);

/* Looks for everything wrong with a file; each thing found becomes a KF_PROBLEM message. True if there are none, false
 * with KF_BAD_INPUT if there are some and with another code if it could not be looked at. */
KF_API bool kf_check(kf_job *job, const kf_file *file, kf_error *error);

/* The whole animation as JSON; and a summary of it. */
KF_API bool kf_dump(kf_job *job, const kf_anim *anim, const kf_sink *sink, kf_error *error);
KF_API bool kf_info(kf_job *job, const kf_anim *anim, bool json, const kf_sink *sink, kf_error *error);

/* What a program keeps, changes and drops of this animation, what a conversion for it warns of, and what Keyferry restores; a few
 * lines of text. */
KF_API bool kf_explain(kf_job *job, const kf_anim *anim, kf_program program, const kf_sink *sink, kf_error *error);

typedef struct kf_difference {
    const char *take, *node, *channel; /* channel with component, as "rotation" or "translation.x", or "shape:NAME" for the points
                                        * of a shape that has a weight; of a take as a whole the node is "", and the channel ""
                                        * or "duration" */
    double worst;     /* of values (degrees between orientations, for rotations), on both curves' key times and between;
                       * INFINITY where a value is no number on one side only */
    double time;      /* where */
    double limit;     /* what was tolerated */
    size_t added, removed, changed; /* keys of B against A */
    bool only_a, only_b;
} kf_difference;

typedef struct kf_diff_result {
    const kf_difference *items; /* those that differ at all, worst first */
    size_t count;
    size_t compared; /* curves, rotation tracks and shapes looked at */
    bool same;       /* within tolerance, nothing on one side only */
} kf_diff_result;

KF_API bool kf_diff(kf_job *job, const kf_anim *a, const kf_anim *b, kf_diff_result *result, kf_error *error);

/* ---------------------------------------------------------------- converting */

typedef struct kf_convert_input {
    size_t size;          /* sizeof(kf_convert_input) */
    const kf_file *files; /* an FBX, or the game files of one animation */
    size_t count;
    const kf_file *base;  /* the originals to merge an FBX into, or one sidecar or FBX that holds them; NULL: the capsule's or
                           * the sidecar's */
    size_t base_count;
    const char *output;   /* the name the output is to have: its extension chooses the format if nothing else does;
                           * NULL: the originals' names, or the input's with another extension */
    /* Asked for a sidecar when an FBX brings no capsule, unless it was written without both. `digest` is the one in the
     * wrapper's name, or ""; a sidecar with another one is told of, but not used. False: none. */
    bool (*find_sidecar)(void *user, const char *digest, kf_file *sidecar);
    void *user;
} kf_convert_input;

/* Whether a sidecar is the one that find_sidecar is asked for: `digest`, which is the one asked for or "", becomes that of its
 * contents. False: it is no sidecar, or damaged; with the right digest that may not be seen before kf_convert unpacks it. */
KF_API bool kf_sidecar_digest(kf_job *job, const kf_file *sidecar, char digest[9], kf_error *error);

typedef struct kf_summary {
    const char *from, *to;     /* ids */
    bool merged;               /* an original was there */
    const char *original;      /* where from: "base", "capsule", "sidecar" or NULL */
    size_t tracks, changed, added, kept, dropped; /* tracks altogether, and of them */
    const char *const *changes; /* a sentence for each changed track */
    size_t change_count;
    size_t outputs;
} kf_summary;

/* Converts either way: anything but FBX to FBX, FBX to a format (options.to, else the capsule's, else by the
 * extension of input->output), FBX to FBX. With output NULL everything is done but writing (a dry run). */
KF_API bool kf_convert(kf_job *job, const kf_convert_input *input, const kf_output *output, kf_summary *summary,
                       kf_error *error);

typedef struct kf_verdict {
    bool restored; /* came back byte for byte with its original */
    bool rebuilt;  /* came back within tolerance without it, but for what a warning named */
    uint64_t first_difference; /* offset, if not restored */
    kf_diff_result diff;       /* of the rebuilt file */
} kf_verdict;

/* Game file to FBX to game file, in memory, with and without the original. False only if it could not be tried. */
KF_API bool kf_verify(kf_job *job, const kf_file *files, size_t count, kf_verdict *verdict, kf_error *error);

/* ---------------------------------------------------------------- formats and plugins */

typedef struct kf_capabilities {
    uint32_t channels;      /* 1 << kf_channel for each it can store */
    uint32_t interps;       /* 1 << kf_interp for each it can store on scalar keys */
    double frame_rate;      /* the rate of a format with one value a frame; 0: keys at any time */
    double rates[4];        /* of a format whose files say their frame rate: the others they can say; 0 ends the list */
    bool components_together; /* x, y and z share their keys' times */
    bool quaternion;        /* rotations are stored as orientations, not as angles */
    uint32_t quat_interps;  /* 1 << kf_interp for each it can store on quaternion keys */
    bool hierarchy;         /* nodes can have parents */
    bool rig;               /* the skeleton may come in a file of its own: options.rig */
    bool files_are_nodes;   /* each file is a node, which is called like it without the extension */
    double quantum[3];      /* smallest step of translation, rotation (degrees), scale; 0: a 32-bit float */
} kf_capabilities;

/* What a plugin may call. `fail` returns false always, so that `return host->fail(...)` reads well. */
typedef struct kf_host {
    size_t size;
    void *(*alloc)(kf_job *job, size_t count, size_t size); /* zeroed; NULL means return false */
    bool (*fail)(kf_job *job, kf_code code, uint64_t offset, const char *message);
    /* file: name of the file concerned or NULL. With strict a warning becomes a failure: then false comes back. */
    bool (*say)(kf_job *job, kf_level level, const char *id, const char *file, uint64_t offset, const char *text);
    /* One output file of an export: a plain name without folders. The data must live as long as the job. */
    bool (*emit)(kf_job *job, const char *name, const void *data, size_t size);
} kf_host;

typedef struct kf_import_job {
    kf_job *job;
    const kf_host *host;
    const kf_options *options;
    const kf_file *files;
    size_t count;
} kf_import_job;

typedef struct kf_export_job {
    kf_job *job;
    const kf_host *host;
    const kf_options *options;
    const kf_anim *anim;     /* what to write; already bent to the capabilities */
    const kf_anim *original; /* what the importer made of the original, `native` included; NULL: there is none */
    const kf_file *files;    /* the original's files, for their names; NULL without an original */
    size_t count;
    const char *output;      /* name to emit under when there is no original */
} kf_export_job;

struct kf_format {
    uint32_t abi;           /* KF_ABI */
    uint32_t revision;      /* raised whenever the importer makes something else of the same bytes */
    const char *id;         /* "x4-ani" */
    const char *title;      /* "X4: Foundations part animations" */
    const char *extensions; /* "ani", space between several; the first one is for output */
    kf_capabilities capabilities;
    /* 0: no; up to 100: its whole structure fits. Bytes only, never a name. Reads at most `size` bytes. */
    int (*probe)(const uint8_t *data, size_t size);
    bool (*import_)(kf_import_job *in, kf_anim *anim);
    bool (*export_)(kf_export_job *out);
    /* Every breach of the format's rules in a file that import_ accepts, as KF_PROBLEM messages. May be NULL. */
    bool (*check)(kf_import_job *in);
};

/* The one function a loadable plugin exports, under this name. */
#define KF_PLUGIN_ENTRY "keyferry_plugin"
typedef const kf_format *kf_plugin_entry(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
