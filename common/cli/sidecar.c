/* Where the original is when the FBX does not carry it: in NAME.fbx.kf beside NAME.fbx, or, if that was
 * renamed, in any
 * *.kf of the folder whose contents have the digest that the FBX names. */
#include "cli.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

/* Whether it holds what the FBX names ("": anything); with `digest` NULL whether it cannot even be unpacked. */
static bool matches(sidecar_search *s, const input *in, const char *digest)
{
    char found[9];
    snprintf(found, sizeof found, "%s", digest ? digest : "");
    kf_error error;
    kf_options options = {.size = sizeof options, .max_memory = s->c->options.max_memory};
    kf_file file = {in->name, in->data, in->size};
    kf_job *job = kf_job_new(s->c->library, &options, &error);
    bool ok = job && kf_sidecar_digest(job, &file, found, &error);
    kf_job_free(job);
    need_memory(ok, &error);
    return digest ? ok && (!digest[0] || strcmp(found, digest) == 0) : !ok;
}

static bool try_file(sidecar_search *s, const char *path, const char *digest)
{
    file_about about;
    input in;
    if (!look_at(path, &about) || about.kind != KIND_FILE || !read_input(path, &in, s->err))
        return false;
    if (!matches(s, &in, digest)) {
        free_input(&in);
        return false;
    }
    s->found = need(realloc(s->found, (s->found_count + 1) * sizeof *s->found));
    s->found[s->found_count++] = in;
    return true;
}

static bool try_beside(sidecar_search *s, const char *fbx, const char *digest)
{
    char *path = sidecar_of(fbx);
    bool found = try_file(s, path, digest);
    free(path);
    return found;
}

static bool try_folder(sidecar_search *s, const char *fbx, const char *digest)
{
    char *folder = copy_text(fbx);
    folder[base_name(folder) - folder] = '\0';
    path_list list = {0};
    bool found = false;
    if (list_folder(folder[0] ? folder : ".", false, NULL, &list, s->err))
        for (size_t i = 0; i < list.count && !found; i++)
            found = ends_with(list.paths[i], ".kf") && try_file(s, list.paths[i], digest);
    list_free(&list);
    free(folder);
    return found;
}

bool find_sidecar(void *user, const char *digest, kf_file *sidecar)
{
    sidecar_search *s = user;
    bool found = false;
    for (size_t i = 0; i < s->fbx_count && !found; i++)
        found = strcmp(s->fbx[i].path, "-") != 0 && try_beside(s, s->fbx[i].path, digest);
    for (size_t i = 0; i < s->fbx_count && !found && digest[0]; i++)
        found = strcmp(s->fbx[i].path, "-") != 0 && try_folder(s, s->fbx[i].path, digest);
    /* One that is damaged, takes too much memory, or belongs to another FBX: the library tells what is wrong with it. */
    for (int other = 0; other < 2 && !found; other++)
        for (size_t i = 0; i < s->fbx_count && !found; i++)
            found = strcmp(s->fbx[i].path, "-") != 0 && try_beside(s, s->fbx[i].path, other ? "" : NULL);
    if (found) {
        const input *in = &s->found[s->found_count - 1];
        *sidecar = (kf_file){in->name, in->data, in->size};
    }
    return found;
}
