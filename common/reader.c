#include "reader.h"

void kfi_reader_init(kfi_reader *in, kf_job *job, const void *data, size_t size)
{
    *in = (kfi_reader){.job = job, .data = data, .size = size};
}

bool kfi_read_fail(kfi_reader *in, size_t offset, const char *format, ...)
{
    if (!in->failed) {
        va_list args;
        va_start(args, format);
        kfi_vfail(in->job, KF_BAD_INPUT, offset, format, args);
        va_end(args);
        in->failed = true;
    }
    return false;
}

size_t kfi_read_left(const kfi_reader *in)
{
    return in->failed ? 0 : in->size - in->at;
}

const uint8_t *kfi_read_records(kfi_reader *in, size_t count, size_t size, const char *field)
{
    if (in->failed)
        return NULL;
    size_t left = in->size - in->at;
    if (size != 0 && count > left / size) {
        kfi_read_fail(in, in->at, "%s: expected %zu x %zu bytes, found %zu before the end of the file", field, count,
                      size, left);
        return NULL;
    }
    const uint8_t *bytes = in->data + in->at;
    in->at += count * size;
    return bytes;
}

const uint8_t *kfi_read_bytes(kfi_reader *in, size_t size, const char *field)
{
    if (in->failed)
        return NULL;
    if (size > in->size - in->at) {
        kfi_read_fail(in, in->at, "%s: expected %zu bytes, found %zu before the end of the file", field, size,
                      in->size - in->at);
        return NULL;
    }
    const uint8_t *bytes = in->data + in->at;
    in->at += size;
    return bytes;
}

uint8_t kfi_read_u8(kfi_reader *in, const char *field)
{
    const uint8_t *bytes = kfi_read_bytes(in, 1, field);
    return bytes ? bytes[0] : 0;
}

uint16_t kfi_read_u16(kfi_reader *in, const char *field)
{
    const uint8_t *bytes = kfi_read_bytes(in, 2, field);
    return bytes ? kfi_load_u16(bytes) : 0;
}

uint32_t kfi_read_u32(kfi_reader *in, const char *field)
{
    const uint8_t *bytes = kfi_read_bytes(in, 4, field);
    return bytes ? kfi_load_u32(bytes) : 0;
}

size_t kfi_read_count(kfi_reader *in, size_t size, const char *field)
{
    size_t offset = in->at;
    uint32_t count = kfi_read_u32(in, field);
    if (!in->failed && size != 0 && count > (in->size - in->at) / size) {
        kfi_read_fail(in, offset, "%s: %lu records of %zu bytes do not fit into the %zu bytes that follow", field,
                      (unsigned long)count, size, in->size - in->at);
        return 0;
    }
    return count;
}

const char *kfi_read_text(kfi_reader *in, const char *field)
{
    if (in->failed)
        return NULL;
    size_t left = in->size - in->at;
    const uint8_t *start = in->data + in->at;
    const uint8_t *end = left ? memchr(start, 0, left) : NULL;
    if (!end) {
        kfi_read_fail(in, in->at, "%s: expected text with a NUL at its end, found none before the end of the file",
                      field);
        return NULL;
    }
    in->at += (size_t)(end - start) + 1;
    return (const char *)start;
}

bool kfi_read_end(kfi_reader *in)
{
    if (!in->failed && in->at != in->size)
        kfi_read_fail(in, in->at, "expected the end of the file, found %zu more bytes", in->size - in->at);
    return !in->failed;
}
