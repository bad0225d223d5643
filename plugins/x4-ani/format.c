#include "x4-ani/x4.h"

/* Size, counts and offset must fit exactly: hardly any other file does. */
static int probe(const uint8_t *data, size_t size)
{
    if (!kfi_x4_ani_fits(data, size))
        return 0;
    if (kfi_load_u32(data) == 0)
        return 40; /* sixteen bytes that say nothing of themselves but "16" */
    return kfi_load_u32(data + 8) == 1 ? 100 : 70;
}

bool kfi_x4_decode_file(kf_import_job *in, kfi_x4_ani *ani)
{
    if (in->count != 1)
        return kfi_fail(in->job, KF_BAD_ARGUMENT, KF_NO_OFFSET,
                        "an x4-ani file holds all its parts and is read alone, not with %zu others",
                        in->count - 1);
    kfi_reader reader;
    kfi_reader_init(&reader, in->job, in->files[0].data, in->files[0].size);
    return kfi_x4_ani_decode(&reader, ani) && kfi_read_end(&reader);
}

const kf_format kfi_format_x4_ani = {
    .abi = KF_ABI,
    .revision = 1,
    .id = "x4-ani",
    .title = "X4: Foundations part animations",
    .extensions = "ani",
    .capabilities =
        {
            .channels = 1u << KF_TRANSLATION | 1u << KF_ROTATION | 1u << KF_SCALE | 1u << KF_CUSTOM,
            .interps = 1u << KF_STEP | 1u << KF_LINEAR | 1u << KF_BEZIER | 1u << KF_HERMITE | 1u << KF_TCB,
            .frame_rate = 0,
            .components_together = true,
            .quaternion = false,
            .hierarchy = false,
        },
    .probe = probe,
    .import_ = kfi_x4_import,
    .export_ = kfi_x4_export,
    .check = kfi_x4_check,
};
