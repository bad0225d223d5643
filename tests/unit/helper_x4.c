#include "helper_x4.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool emit(kf_job *job, const char *name, const void *data, size_t size)
{
    kfi_emitted *emitted = kfi_push(job, &job->emitted, &job->emitted_count, sizeof *emitted);
    if (emitted)
        *emitted = (kfi_emitted){name, data, size};
    return emitted != NULL;
}

const kf_host X4_HOST = {.size = sizeof(kf_host), .emit = emit};

void x4_job_begin(kf_job *job)
{
    *job = (kf_job){.options = {.size = sizeof(kf_options)}, .error = {.offset = KF_NO_OFFSET}};
    kfi_arena_init(&job->arena, (kf_allocator){0}, UINT64_MAX);
    job->arena.item_blocks = true;
}

void x4_job_end(kf_job *job)
{
    kfi_arena_free(&job->arena);
}

void x4_put(bytes *b, uint32_t word)
{
    assert_true(b->size + 4 <= sizeof b->data);
    for (int i = 0; i < 4; i++)
        b->data[b->size++] = (uint8_t)(word >> 8 * i);
}

static void put_f32(bytes *b, float value)
{
    uint32_t word;
    memcpy(&word, &value, 4);
    x4_put(b, word);
}

static void put_name(bytes *b, const char *name, char behind)
{
    assert_true(b->size + 64 <= sizeof b->data);
    memset(b->data + b->size, behind, 64);
    memcpy(b->data + b->size, name, strlen(name) + 1);
    b->size += 64;
}

void x4_put_header(bytes *b, uint32_t count, uint32_t offset)
{
    b->size = 0;
    x4_put(b, count);
    x4_put(b, offset);
    x4_put(b, 1);
    x4_put(b, 0x1234);
}

void x4_put_desc(bytes *b, const char *name, const char *sub_name, const uint32_t counts[5], float duration)
{
    put_name(b, name, '~');
    put_name(b, sub_name, '!');
    for (int i = 0; i < 5; i++)
        x4_put(b, counts[i]);
    put_f32(b, duration);
    x4_put(b, 0xaaaa);
    x4_put(b, 0xbbbb);
}

void x4_put_key(bytes *b, float time, float v, uint32_t x, uint32_t y, uint32_t z)
{
    for (int c = 0; c < 3; c++)
        put_f32(b, v + (float)c);
    x4_put(b, x);
    x4_put(b, y);
    x4_put(b, z);
    put_f32(b, time);
    for (int c = 0; c < 3; c++) {
        put_f32(b, time + 0.25f);
        put_f32(b, v + (float)c + 0.5f);
        put_f32(b, time - 0.25f);
        put_f32(b, v + (float)c - 0.75f);
    }
    static const float numbers[5] = {0.5f, -0.25f, 0.125f, 0.0625f, 0.375f};
    for (int i = 0; i < 5; i++)
        put_f32(b, numbers[i]);
    x4_put(b, 0);
    for (int i = 0; i < 6; i++)
        put_f32(b, 100.0f + (float)i);
    x4_put(b, 7);
}

void x4_sample(bytes *b)
{
    x4_put_header(b, 2, FIRST_KEY);
    x4_put_desc(b, "door", "open", (uint32_t[5]){KEYS, 2, 0, 0, 0}, 4.0f);
    x4_put_desc(b, "lamp", "idle", (uint32_t[5]){0, 0, 1, 1, 1}, 0.0f);
    x4_put_key(b, 0.0f, 1.0f, 5, 6, 7);
    x4_put_key(b, 1.0f, 2.0f, 5, 6, 7);
    x4_put_key(b, 2.0f, 4.0f, 5, 6, 7);
    x4_put_key(b, 3.0f, 3.0f, 1, 2, 7);
    x4_put_key(b, 4.0f, 0.0f, 1, 1, 1);
    x4_put_key(b, 0.0f, 0.0f, 2, 2, 2);
    x4_put_key(b, 4.0f, 7.0f, 1, 1, 1);
    for (int i = 0; i < 3; i++)
        x4_put_key(b, 0.0f, 1.0f, 1, 1, 1);
}

bool x4_import_bytes(kf_job *job, const bytes *b, kf_file *file, kf_anim *anim)
{
    *file = (kf_file){"door.ani", b->data, b->size};
    kf_import_job in = {job, &X4_HOST, &job->options, file, 1};
    kfi_anim_init(anim, "x4-ani");
    return kfi_format_x4_ani.import_(&in, anim) && kfi_anim_validate(job, anim);
}

void x4_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fmax(1, fabs(expected))))
        fail_msg("expected %.17g, found %.17g", expected, found);
}
