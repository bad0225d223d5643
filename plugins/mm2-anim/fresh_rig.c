/* Which nodes are the bones of a skeleton: those of the same names. */
#include "export.h"

#include "formats/mm2_skel.h"
#include "names.h"

#include <string.h>

/* Nodes of one name, the first one first; those that have become bones are passed over. */
typedef struct by_name {
    const kf_anim *anim;
    kfi_map first;
    uint32_t *next; /* + 1 */
    const int32_t *bone_of;
} by_name;

/* An FBX has each name once: of bones that are called alike all but the first have a number behind it. NULL: this one has none. */
static const char *before_number(kf_job *job, const char *name)
{
    size_t length = strlen(name), kept = length;
    while (kept > 0 && name[kept - 1] >= '0' && name[kept - 1] <= '9')
        kept--;
    bool numbered = kept < length && kept > 2 && name[kept - 1] == '_' && name[kept - 2] == '_';
    return numbered ? kfi_strndup(job, name, kept - 2) : NULL;
}

static bool list_nodes(kf_job *job, const kf_anim *anim, const int32_t *bone_of, bool numbered, by_name *list)
{
    *list = (by_name){.anim = anim, .bone_of = bone_of, .next = kfi_alloc(job, anim->node_count + 1, sizeof *list->next)};
    if (!list->next || !kfi_map_init(&list->first, job, anim->node_count))
        return false;
    for (size_t i = anim->node_count; i-- > 0;) {
        const char *name = numbered ? before_number(job, anim->nodes[i].name) : anim->nodes[i].name;
        if (!name)
            continue;
        list->next[i] = (uint32_t)(kfi_map_get(&list->first, name, strlen(name)) + 1);
        kfi_map_set(&list->first, name, (uint32_t)i);
    }
    return !kfi_failed(job);
}

static int64_t next_node(by_name *list, const char *name)
{
    int64_t node = kfi_map_get(&list->first, name, strlen(name)), last = node;
    while (node >= 0 && list->bone_of[node] >= 0) {
        last = node;
        node = (int64_t)list->next[node] - 1;
    }
    if (last >= 0) /* what lies before it is not looked at again */
        kfi_map_set(&list->first, name, (uint32_t)last);
    return node;
}

static bool match(kf_export_job *out, const kfi_mm2_skel *skel, int32_t *bone_of)
{
    by_name plain, numbered;
    bool *found = kfi_alloc(out->job, skel->count + 1, sizeof *found);
    size_t missing = 0, first = 0;
    for (size_t i = 0; i < out->anim->node_count; i++)
        bone_of[i] = -1;
    if (!found || !list_nodes(out->job, out->anim, bone_of, false, &plain) || !list_nodes(out->job, out->anim, bone_of, true, &numbered))
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < skel->count; i++) {
            int64_t node = found[i] ? -1 : next_node(pass ? &numbered : &plain, skel->bones[i].name);
            if (node < 0)
                continue;
            bone_of[node] = (int32_t)i;
            found[i] = true;
        }
    for (size_t i = 0; i < skel->count; i++)
        if (!found[i] && missing++ == 0)
            first = i;
    if (missing == skel->count)
        return kfi_fail(out->job, KF_INEXPRESSIBLE, KF_NO_OFFSET, "no node has the name of a bone of the skeleton given with --rig, such as "
                                                                  "\"%.60s\"", skel->count ? skel->bones[0].name : "");
    return missing == 0 || kfi_warn(out->job, "bones", "%zu bones of the skeleton given with --rig have no node of their name, and stand "
                                                       "still (first: \"%.60s\")", missing, skel->bones[first].name);
}

bool mm2_rigged_bones(kf_export_job *out, int32_t *bone_of, size_t *count)
{
    const kf_file *rig = &out->options->rig;
    const char *file = out->job->file;
    kfi_mm2_skel skel;
    out->job->file = rig->name;
    if (!kfi_mm2_skel_parse(out->job, rig->data, rig->size, &skel))
        return false;
    out->job->file = file;
    *count = skel.count;
    return match(out, &skel, bone_of);
}
