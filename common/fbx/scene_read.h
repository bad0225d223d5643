/* What the parts of the FBX reader share. Together they are the only ones that know ufbx.
 *
 *   scene_read.c        the bytes into a ufbx scene, its settings
 *   scene_read_nodes.c  nodes and their properties
 *   scene_read_mesh.c   points and blend shapes
 *   scene_read_takes.c  takes, layers, tracks
 *   scene_read_curve.c  one curve
 *   scene_read_raw.c    the arrays of a binary file's curves, past ufbx
 *   scene_read_notes.c  what is in the file and not carried
 *
 * ufbx resolves connections, templates and encodings. Numbers that it rounds or drops (packed weights, T, C,
 * B, type names of properties, bytes that are no UTF-8) are taken from the document tree that it keeps on
 * request. */
#ifndef KFI_FBX_SCENE_READ_H
#define KFI_FBX_SCENE_READ_H

#include "fbx/scene.h"

#include "ufbx.h"

/* Which track the weight of a blend shape channel is. */
typedef struct kfi_fbx_morph {
    bool known;
    uint32_t node;    /* index into kf_anim.nodes */
    const char *name; /* of the shape */
    size_t shape;     /* which of the node's mesh */
} kfi_fbx_morph;

/* The arrays of a curve, in the order of kfi_fbx_keys. */
enum { KFI_FBX_TIMES, KFI_FBX_VALUES, KFI_FBX_FLAGS, KFI_FBX_DATA, KFI_FBX_REF_COUNT, KFI_FBX_ARRAYS };

/* An array where it stands in a binary file. */
typedef struct kfi_fbx_array {
    const uint8_t *data; /* not aligned */
    uint32_t count;      /* items */
    uint32_t size;       /* bytes */
    bool packed;         /* by zlib */
} kfi_fbx_array;

/* A curve of a binary file. */
typedef struct kfi_fbx_raw {
    uint64_t id; /* the object's, as in the file */
    kfi_fbx_array arrays[KFI_FBX_ARRAYS];
} kfi_fbx_raw;

/* Room for one array of the curve at work; outside the arena, which only grows. */
typedef struct kfi_fbx_unpacked {
    void *data;
    size_t capacity;
    kfi_fbx_array of; /* what is in it now, or nothing */
} kfi_fbx_unpacked;

typedef struct kfi_fbx_reader {
    kf_job *job;
    kf_anim *anim;
    const ufbx_scene *scene;
    const uint32_t *node_index; /* of each ufbx_node, by its typed_id; KFI_FBX_NONE for the root */
    kfi_fbx_morph *morphs;      /* of each ufbx_blend_channel, by its typed_id */
    bool shapes;                /* the file may have blend shapes */
    const uint8_t *bytes;       /* of the file */
    const kfi_fbx_raw *raw;     /* its curves by id, if they are taken from the bytes themselves; else NULL */
    size_t raw_count;
    kfi_fbx_unpacked unpacked[KFI_FBX_ARRAYS];
    ufbx_inflate_retain inflate;
    bool over_limit;   /* why the last allocation outside the arena failed: the job's ceiling */
    double reported;   /* the progress last told; -1: none */
    uint64_t position; /* how far ufbx has read */
    size_t curves_read;
} kfi_fbx_reader;

#define KFI_FBX_NONE UINT32_MAX

/* Memory outside the arena that can be given back at once, counted against the job's ceiling like the
 * arena's. `user` is the kfi_fbx_reader; the rest as in kf_allocator. */
void *kfi_fbx_resize(void *user, void *block, size_t old_size, size_t new_size);

/* Tells how far the work has come, 0..1. False if it is to stop. */
bool kfi_fbx_report(kfi_fbx_reader *in, double done);

/* Makes room for `size` bytes, which are not kept from before. False on failure. */
bool kfi_fbx_reserve(kfi_fbx_reader *in, kfi_fbx_unpacked *room, uint64_t size);

/* A name: what comes before any NUL. */
const char *kfi_fbx_name(kfi_fbx_reader *in, ufbx_string name);
/* An element's name for messages; never NULL. */
const char *kfi_fbx_label(const ufbx_element *element);

/* Three numbers of a property of the element itself or of its template; left alone if there is none. */
void kfi_fbx_numbers(const ufbx_props *props, const char *name, double value[3]);
/* Puts 0 (or `fallback`) for numbers that are none, with the warning "nonfinite". False on failure. */
bool kfi_fbx_mend(kfi_fbx_reader *in, double *values, size_t count, double fallback, const char *what,
                  const ufbx_element *element);

/* Fills in nodes and node_index. */
bool kfi_fbx_read_nodes(kfi_fbx_reader *in);
/* Fills in the nodes' meshes and `morphs`. */
bool kfi_fbx_read_meshes(kfi_fbx_reader *in);
bool kfi_fbx_read_takes(kfi_fbx_reader *in);

/* Where a curve is, for messages. */
typedef struct kfi_fbx_place {
    const char *take, *node, *property, *component;
} kfi_fbx_place;

#define KFI_FBX_AT           "take \"%.80s\", node \"%.80s\", %.80s%s"
#define KFI_FBX_PLACE(place) (place)->take, (place)->node, (place)->property, (place)->component

/* Finds the key arrays of a binary file, unless something about it is unusual. False on failure. */
bool kfi_fbx_index(kfi_fbx_reader *in, const kf_file *file);
/* The curve of that id, or NULL. */
const kfi_fbx_raw *kfi_fbx_find_raw(const kfi_fbx_reader *in, uint64_t id);
/* Fills in all of `unpacked`. */
bool kfi_fbx_unpack_raw(kfi_fbx_reader *in, const kfi_fbx_raw *raw, const kfi_fbx_place *place);

/* The keys and what comes before and after them. */
bool kfi_fbx_read_curve(kfi_fbx_reader *in, const ufbx_anim_curve *from, const kfi_fbx_place *place,
                        kf_curve *curve);
/* Tells what the file has and an animation does not carry. */
bool kfi_fbx_note_left_out(kfi_fbx_reader *in);

#endif
