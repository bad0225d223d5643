#include "recorded.h"

#include "fbx/lower.h"

#include <string.h>

static const char *const PROGRAMS[] = {"any", "maya", "max", "motionbuilder", "blender"};

/* Numbers are written in billionths, whole: the same on every machine, and read back to the same double. */
static long long billionths(double number)
{
    return number > 0 && number < 1e9 ? (long long)(number * 1e9 + 0.5) : 0;
}

const char *kfi_recorded_text(kf_job *job, const kf_options *options, int32_t take)
{
    const char *order = options->rotation_order ? options->rotation_order : "";
    return kfi_format_text(job, "program=%s tcb=%d bake=%d bake_rate=%lld rate=%lld tolerance=%lld order=%.3s take=%ld rig=%d lowering=%d",
                           PROGRAMS[options->program], (int)options->tcb, (int)options->bake,
                           billionths(options->bake_rate), billionths(options->frame_rate),
                           billionths(options->tolerance), order, (long)take, options->rig.data != NULL,
                           KFI_LOWERING_REVISION);
}

static bool whole_number(const char *text, size_t size, long long *number)
{
    bool negative = size > 0 && text[0] == '-';
    *number = 0;
    for (size_t i = negative; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || *number > 100000000000000000LL)
            return false;
        *number = *number * 10 + (text[i] - '0');
    }
    *number = negative ? -*number : *number;
    return size > (size_t)negative;
}

static bool is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

void kfi_recorded_parse(kf_job *job, const char *text, kf_options *options, kfi_recorded *recorded)
{
    *recorded = (kfi_recorded){.take = -1, .lowering = 1};
    while (*text) {
        size_t length = strcspn(text, " ");
        const char *equals = memchr(text, '=', length);
        if (equals) {
            size_t name = (size_t)(equals - text), size = length - name - 1;
            const char *value = equals + 1;
            long long number = 0;
            bool numeric = whole_number(value, size, &number);
            if (is(text, name, "program")) {
                for (int i = 0; i < 5; i++)
                    if (is(value, size, PROGRAMS[i]))
                        options->program = (kf_program)i;
            } else if (is(text, name, "order")) {
                options->rotation_order = size ? kfi_strndup(job, value, size) : NULL;
            } else if (!numeric) {
                /* a word of a newer version */
            } else if (is(text, name, "tcb")) {
                options->tcb = number == 1 ? KF_TCB_NATIVE : number == 2 ? KF_TCB_SLOPES : KF_TCB_DEFAULT;
            } else if (is(text, name, "bake")) {
                options->bake = number != 0;
            } else if (is(text, name, "bake_rate")) {
                options->bake_rate = (double)number / 1e9;
            } else if (is(text, name, "rate")) {
                options->frame_rate = (double)number / 1e9;
            } else if (is(text, name, "tolerance")) {
                options->tolerance = (double)number / 1e9;
            } else if (is(text, name, "take")) {
                recorded->take = number >= 0 && number < 2147483647 ? (int32_t)number : -1;
            } else if (is(text, name, "rig")) {
                recorded->rig = number != 0;
            } else if (is(text, name, "lowering")) {
                recorded->lowering = number > 0 && number < 2147483647 ? (uint32_t)number : 1;
            }
        }
        text += length;
        text += strspn(text, " ");
    }
}
