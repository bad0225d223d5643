#include "formats/mm2_skel.h"

#include <math.h>
#include <string.h>

typedef struct parser {
    kf_job *job;
    const char *at, *end;
    const char *begin;
    const char *word; /* the one just read; braces stand for themselves */
    size_t length;    /* 0 at the end */
} parser;

static bool fail_at(parser *p, const char *where, const char *expected)
{
    uint64_t offset = (uint64_t)(where - p->begin);
    if (p->length == 0)
        return kfi_fail(p->job, KF_BAD_INPUT, offset, "skeleton: expected %s, found its end", expected);
    return kfi_fail(p->job, KF_BAD_INPUT, offset, "skeleton: expected %s, found \"%.*s\"", expected,
                    (int)(p->length < 40 ? p->length : 40), p->word);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void next_word(parser *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
    p->word = p->at;
    if (p->at < p->end && (*p->at == '{' || *p->at == '}'))
        p->at++;
    else
        while (p->at < p->end && !is_space(*p->at) && *p->at != '{' && *p->at != '}')
            p->at++;
    p->length = (size_t)(p->at - p->word);
}

static bool is_word(const parser *p, const char *word)
{
    size_t size = strlen(word);
    if (p->length != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = p->word[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != word[i])
            return false;
    }
    return true;
}

static double power_of_ten(int exponent)
{
    double power = 1, base = 10;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            power *= base;
    return power;
}

/* A decimal number, whatever the locale. Up to 15 digits come out correctly rounded. */
static bool number(parser *p, double *value)
{
    next_word(p);
    const char *at = p->word, *end = p->word + p->length;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    uint64_t digits = 0;
    int exponent = 0;
    bool any = false, fraction = false;
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !fraction)); at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        any = true;
        bool room = digits < UINT64_MAX / 10 - 1;
        if (room)
            digits = digits * 10 + (uint64_t)(*at - '0');
        exponent += fraction ? (room ? -1 : 0) : (room ? 0 : 1);
        if (exponent > 400 || exponent < -400)
            return fail_at(p, p->word, "a number of reasonable size");
    }
    if (any && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool down = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+'))
            at++;
        int given = 0;
        any = false;
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            any = true;
            given = given < 1000 ? given * 10 + (*at - '0') : given;
        }
        exponent += down ? -given : given;
    }
    if (!any || at != end)
        return fail_at(p, p->word, "a number");
    double result = (double)digits;
    if (exponent < -300) { /* in two steps, so that the power stays finite */
        result /= power_of_ten(300);
        exponent += 300;
    }
    exponent = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;
    result = exponent < 0 ? result / power_of_ten(-exponent) : result * power_of_ten(exponent);
    *value = negative ? -result : result;
    return isfinite(*value) || fail_at(p, p->word, "a finite number");
}

/* What stands in a bone beside its offset and its children is of no use here. */
static void skip_line(parser *p)
{
    while (p->at < p->end && *p->at != '\n' && *p->at != '{' && *p->at != '}')
        p->at++;
}

static bool begin_bone(parser *p, kfi_mm2_skel *skel, int32_t parent)
{
    next_word(p);
    if (p->length == 0 || *p->word == '{' || *p->word == '}')
        return fail_at(p, p->word, "the name of a bone");
    if (memchr(p->word, 0, p->length))
        return fail_at(p, p->word, "a name without NUL");
    const char *name = kfi_strndup(p->job, p->word, p->length);
    kfi_mm2_bone *bone = name ? kfi_push(p->job, &skel->bones, &skel->count, sizeof *bone) : NULL;
    if (!bone)
        return false;
    bone->name = name;
    bone->parent = parent;
    next_word(p);
    return is_word(p, "{") || fail_at(p, p->word, "{");
}

static bool parse_bones(parser *p, kfi_mm2_skel *skel)
{
    int32_t bone = -1; /* the one whose braces we are in */
    int depth = 0;
    for (next_word(p); p->length > 0; next_word(p)) {
        if (is_word(p, "bone")) {
            if (++depth > KFI_MM2_SKEL_DEPTH)
                return kfi_fail(p->job, KF_BAD_INPUT, (uint64_t)(p->word - p->begin),
                                "skeleton: more than %d bones within one another", KFI_MM2_SKEL_DEPTH);
            if (!begin_bone(p, skel, bone))
                return false;
            bone = (int32_t)(skel->count - 1);
        } else if (is_word(p, "}")) {
            if (bone < 0)
                return fail_at(p, p->word, "a bone");
            bone = skel->bones[bone].parent;
            depth--;
        } else if (is_word(p, "offset") && bone >= 0) {
            for (int c = 0; c < 3; c++)
                if (!number(p, &skel->bones[bone].offset[c]))
                    return false;
        } else if (bone < 0 || is_word(p, "{")) {
            return fail_at(p, p->word, bone < 0 ? "a bone" : "offset, bone or }");
        } else {
            skip_line(p);
        }
    }
    return bone < 0 || fail_at(p, p->word, "}");
}

bool kfi_mm2_skel_parse(kf_job *job, const void *data, size_t size, kfi_mm2_skel *skel)
{
    static const char nothing[1] = "";
    const char *text = size ? data : nothing;
    /* cppcheck-suppress pointerOutOfBoundsCond */
    parser p = {.job = job, .at = text, .begin = text, .end = text + size};
    *skel = (kfi_mm2_skel){0};
    double promised = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* the mark that editors put before UTF-8 */
        p.at += 3;
    next_word(&p);
    if (!is_word(&p, "numbones"))
        return fail_at(&p, p.word, "NumBones");
    const char *where = p.at;
    if (!number(&p, &promised) || !parse_bones(&p, skel))
        return false;
    if (promised != (double)skel->count)
        return kfi_fail(job, KF_BAD_INPUT, (uint64_t)(where - text),
                        "skeleton: NumBones says %.0f, but there are %zu", promised, skel->count);
    return skel->count > 0 || kfi_fail(job, KF_BAD_INPUT, 0, "skeleton: it has no bones");
}
