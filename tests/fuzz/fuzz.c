/* One input as a file of FORMAT, through all that the library does with a file: check it, load it, describe
 * it, and convert it to FBX. Whatever the bytes are, that must end in an answer, within the memory allowed.
 */
#include <keyferry.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return true;
}

static bool drop_at(void *user, uint64_t at, const void *data, size_t size)
{
    (void)user, (void)at, (void)data, (void)size;
    return true;
}

static bool begin(void *user, const char *name, kf_sink *sink)
{
    (void)name;
    *sink = (kf_sink){user, drop, drop_at};
    return true;
}

static bool end(void *user, bool ok)
{
    (void)user, (void)ok;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kf_options options = {.size = sizeof options, .from = FORMAT, .to = "fbx", .max_memory = 64u << 20};
    kf_file file = {"input", data, size};
    kf_error error = {0};
    kf_library *library = kf_library_new(NULL, &error);
    kf_job *job = kf_job_new(library, &options, &error);

    kf_probe(job, &file, &error);
    kf_check(job, &file, &error);
    const kf_anim *anim = kf_load(job, &file, 1, &error);
    if (anim) {
        kf_sink nowhere = {NULL, drop, drop_at};
        kf_output output = {NULL, begin, end};
        kf_convert_input input = {.size = sizeof input, .files = &file, .count = 1, .output = "out.fbx"};
        kf_summary summary;
        kf_info(job, anim, true, &nowhere, &error);
        kf_dump(job, anim, &nowhere, &error);
        kf_convert(job, &input, &output, &summary, &error);
    }
    kf_job_free(job);
    kf_library_free(library);
    return 0;
}
