/* What was new in an FBX and did not find its way into the file is not counted as added, nor what was edited as changed: the file is
 * read again to see. */
#include "convert.h"
#include "format.h"
#include "utf8.h"

#include <string.h>

/* So many of the files just made; NULL also if their importer does not read them. */
static const kf_anim *read_again(kf_job *job, const kf_format *format, const kf_file *rig, size_t first, size_t count)
{
    const kf_anim *again = kfi_read_emitted(job, format, rig, first, count);
    if (!again && !kfi_out_of_memory(job))
        job->error = (kf_error){.offset = KF_NO_OFFSET};
    return again;
}

/* The search goes on where the last one ended: what was added stands in the order that it was added in. A shape may be told by
 * others, as in a file that has one for every frame. */
static bool has(const kf_anim *anim, const kf_take *take, const kfi_addition *added, size_t *at)
{
    for (size_t i = 0; take && i < take->track_count; i++) {
        *at = *at + 1 < take->track_count ? *at + 1 : 0;
        const kf_track *track = &take->tracks[*at];
        if (track->channel == added->channel && strcmp(anim->nodes[track->node].name, added->node) == 0 &&
            (!track->name || !added->name || track->channel == KF_MORPH || strcmp(track->name, added->name) == 0))
            return true;
    }
    return false;
}

/* Takes that are files of their own stand behind the original's. Which take is which, their names or places tell. */
static bool look(kf_job *job, const kf_format *format, const kfi_original *original, const kfi_merge_report *report, bool *there)
{
    size_t takes = original->anim->take_count, alone = report->additions[0].takes - takes;
    bool files = job->emitted_count == original->count + alone;
    size_t at = 0;
    const kf_anim *again = read_again(job, format, &original->rig, 0, files ? original->count : job->emitted_count);
    for (size_t i = 0; i < report->added; i++) {
        const kfi_addition *added = &report->additions[i];
        there[i] = !again; /* nothing tells */
        if (!again)
            continue;
        const kf_take *take = kfi_take_named(again, added->take);
        bool known = added->take_index < again->take_count && (again->take_count == added->takes || again->take_count == takes);
        there[i] = has(again, take || !known ? take : &again->takes[added->take_index], added, &at);
    }
    for (size_t f = 0; files && f < alone && !kfi_failed(job); f++) {
        again = read_again(job, format, &original->rig, original->count + f, 1);
        for (size_t i = 0; i < report->added; i++)
            if (report->additions[i].take_index == takes + f)
                there[i] = !again || (again->take_count && has(again, &again->takes[0], &report->additions[i], &at));
    }
    return !kfi_failed(job);
}

/* Which nodes there are, looked up by name only if one is not where it was: most are. */
static bool has_node(kf_job *job, const kf_anim *anim, const char *name, size_t likely, kfi_map *names, bool *has)
{
    *has = likely < anim->node_count && strcmp(anim->nodes[likely].name, name) == 0;
    if (*has)
        return true;
    if (names->capacity == 0) {
        if (!kfi_map_init(names, job, anim->node_count))
            return false;
        for (size_t i = 0; i < anim->node_count; i++)
            kfi_map_put(names, anim->nodes[i].name, (uint32_t)i);
    }
    *has = kfi_map_get(names, name, strlen(name)) >= 0;
    return true;
}

bool kfi_uncount_gone(kf_job *job, const kf_anim *original, const kf_anim *merged, const kf_anim *again, kfi_merge_report *report)
{
    kfi_map names = {0};
    for (size_t i = 0; i < report->wanted_count; i++) {
        const kfi_wanted *w = &report->wanted[i];
        const char *name = merged->nodes[w->node].name;
        bool known = w->node < original->node_count && strcmp(original->nodes[w->node].name, name) == 0, there;
        if (!known || w->channel == KF_VISIBILITY) /* one that is hidden is as it was to be */
            continue;
        if (!has_node(job, again, name, w->node, &names, &there))
            return false;
        if (there)
            continue;
        report->changes[w->change].what = KFI_WHAT_SAME;
        report->changed--;
    }
    return true;
}

/* A note has said that the file has no room for them. */
static void forget_names(kfi_merge_report *report)
{
    for (size_t i = 0; i < report->change_count; i++)
        if (report->changes[i].what == KFI_WHAT_RENAMED)
            report->changes[i].what = KFI_WHAT_SAME;
}

/* A warning has said that they were cut: they are told as the file has them. */
static bool cut_names(kf_job *job, kfi_merge_report *report)
{
    for (size_t i = 0; job->name_room && i < report->change_count; i++) {
        kfi_change *change = &report->changes[i];
        if (change->what != KFI_WHAT_RENAMED || strlen(change->now) <= job->name_room)
            continue;
        change->now = kfi_strndup(job, change->now, kfi_utf8_cut(change->now, job->name_room));
        change->text = change->now ? kfi_renamed_text(job, change->take, change->now) : NULL;
        change->of = change->text;
        if (!change->text)
            return false;
    }
    return true;
}

bool kfi_check_added(kf_job *job, const kf_format *format, const kfi_original *original, kfi_merge_report *report)
{
    if (job->unnamed)
        forget_names(report);
    if (!cut_names(job, report))
        return false;
    if (report->added == 0)
        return true;
    bool *there = kfi_alloc(job, report->added, sizeof *there);
    if (!there || !look(job, format, original, report, there))
        return false;
    for (size_t i = 0; i < report->added; i++)
        if (!there[i])
            report->changes[report->additions[i].change].text = NULL;
    size_t kept = 0, lost = 0;
    for (size_t i = 0; i < report->change_count; i++) {
        lost += !report->changes[i].text;
        if (report->changes[i].text)
            report->changes[kept++] = report->changes[i];
    }
    report->change_count = kept;
    report->added -= lost;
    report->tracks -= lost;
    return true;
}
