/* Samples before the first of the original's keys and after the last: part of what was written, and of what came back. */
#include "internal.h"

size_t kfi_key_outside(const kfi_samples *s, const double *ref, size_t first, size_t last, bool cycles, double end)
{
    bool before = first == 0, needed = false;
    for (size_t i = first; i < last && !needed; i++)
        needed = !(fabs(s->v[i] - (cycles ? ref[i] : end)) <= s->tolerance);
    if (!needed)
        return SIZE_MAX;
    size_t at = before ? first : last - 1;
    while (!cycles && at != (before ? last - 1 : first) && fabs(s->v[at] - ref[at]) <= s->tolerance &&
           kfi_rests(s, before ? at : at - 1))
        at = before ? at + 1 : at - 1;
    return at;
}
