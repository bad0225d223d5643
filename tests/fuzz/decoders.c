/* Each format's decoder and encoder by themselves. */
#include "fuzz.h"

#include "formats/ei_anm.h"
#include "formats/mm2_anim.h"
#include "formats/nytro_anim.h"
#include "formats/vib_anm.h"
#include "formats/x4_ani.h"

#include <string.h>

typedef bool decoder(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out);

static bool x4_ani(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out)
{
    kfi_reader in;
    kfi_x4_ani file;
    kfi_reader_init(&in, job, data, size);
    return kfi_x4_ani_decode(&in, &file) && kfi_x4_ani_encode(out, &file);
}

static bool ei_anm(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out)
{
    kfi_reader in;
    kfi_ei_anm file;
    kfi_reader_init(&in, job, data, size);
    if (!kfi_ei_anm_decode(&in, &file))
        return false;
    kfi_ei_anm_encode(&file, out);
    return true;
}

static bool nytro_anim(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out)
{
    kfi_nytro file;
    return kfi_nytro_decode(job, data, size, &file) && kfi_nytro_encode(&file, out);
}

static bool mm2_anim(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out)
{
    kfi_mm2_anim file;
    return kfi_mm2_decode(job, data, size, &file) && kfi_mm2_encode(out, &file);
}

static bool vib_anm(kf_job *job, const uint8_t *data, size_t size, kfi_writer *out)
{
    kfi_vib_anm file;
    return kfi_vib_decode(job, data, size, &file) && kfi_vib_encode(out, &file);
}

/* A format without a function of its name here does not link. */
static const struct {
    const char *name;
    decoder *decode;
} DECODERS[] = {
#define KF_FORMAT(x) {#x, x},
#include "../../plugins/formats.def"
#undef KF_FORMAT
};

/* "x4-ani" is x4_ani. */
static bool same_name(const char *id, const char *name)
{
    for (; *id && *name; id++, name++)
        if (*id != *name && (*id != '-' || *name != '_'))
            return false;
    return *id == *name;
}

const uint8_t *fuzz_decode(kf_job *job, const char *format, const uint8_t *data, size_t size, size_t *back_size)
{
    kfi_writer out;
    kfi_writer_init(&out, job, 0);
    for (size_t i = 0; i < sizeof DECODERS / sizeof *DECODERS; i++)
        if (same_name(format, DECODERS[i].name) && DECODERS[i].decode(job, data, size, &out) && !out.failed) {
            *back_size = out.size;
            return out.data ? out.data : (const uint8_t *)"";
        }
    return NULL;
}
