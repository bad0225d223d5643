/* What several FBX files that become one file have changed: a track that more than one of them tells of counts once, and has one
 * sentence. */
#include "convert.h"
#include "names.h"

#include <string.h>

static size_t *count_of(kf_summary *summary, kfi_what what)
{
    switch (what) {
    case KFI_WHAT_CHANGED: return &summary->changed;
    case KFI_WHAT_ADDED: return &summary->added;
    case KFI_WHAT_KEPT: return &summary->kept;
    case KFI_WHAT_DROPPED: return &summary->dropped;
    default: return NULL;
    }
}

static void uncount(kf_summary *summary, kfi_what what)
{
    size_t *count = count_of(summary, what);
    if (count && *count > 0)
        --*count;
}

/* A change to be told of, in memory that lasts. */
static bool keep(const kfi_group *group, const kfi_change *change, kfi_told *told)
{
    kf_job *job = group->job;
    kfi_change own = {.what = change->what, .of = kfi_strdup(job, change->of), .detail = "", .text = kfi_strdup(job, change->text)};
    own.take = change->take ? kfi_strdup(job, change->take) : NULL;
    own.now = change->now ? kfi_strdup(job, change->now) : NULL;
    *told = (kfi_told){own, group->file, false, group->take_count};
    return own.of && own.text && (own.take || !change->take) && (own.now || !change->now);
}

/* One sentence for what several files did, each with its name. */
static bool append(kf_job *job, kfi_told *told, const char *detail, const char *file, bool first)
{
    const char *text = told->change.text;
    if (!told->several)
        text = kfi_report_text(job, "%s (%.100s)", text, told->files);
    if (first)
        told->files = kfi_report_text(job, "%.300s or %.100s", told->files, file);
    told->several = true;
    told->change.text = text ? kfi_report_text(job, "%s; %s (%.100s)", text, detail, file) : NULL;
    return told->change.text && told->files;
}

/* A track that a file before this one has deleted. */
static bool tell_edited(kf_job *job, const kfi_told *told, const char *file)
{
    const char *node = told->change.of + strlen(told->change.take) + 1; /* as kfi_track_text puts it together */
    int node_length = (int)strcspn(node, "\n");
    const char *channel = node + node_length + 1;
    int length = (int)strcspn(channel, "\n");
    const char *name = channel + length + 1;
    return kfi_warn(job, "conflict", "take \"%.60s\", node \"%.*s\": the %.*s was deleted in %.100s and edited in %.100s: the latter stays",
                    told->change.take, node_length < 60 ? node_length : 60, node, name[0] ? 60 : length, name[0] ? name : channel,
                    told->files, file);
}

/* A track that a file before this one has told of. What did not come back from one of them may have from another. */
static bool join(kf_job *job, const kfi_group *group, kfi_told *told, const kfi_change *now, kf_summary *summary)
{
    kfi_what before = told->change.what;
    bool first = told->last != group->take_count; /* of this file's sentences on it */
    if (now->what == KFI_WHAT_RENAMED)
        return true;
    if (now->what == KFI_WHAT_KEPT) {
        uncount(summary, KFI_WHAT_KEPT);
        return true;
    }
    told->last = group->take_count;
    if (now->what == KFI_WHAT_SAME && before != KFI_WHAT_KEPT)
        return true;
    bool deleted = now->what == KFI_WHAT_DROPPED, otherwise = now->what == KFI_WHAT_CHANGED && before == KFI_WHAT_ADDED;
    if (first && ((deleted && (before == KFI_WHAT_CHANGED || before == KFI_WHAT_ADDED)) || otherwise) &&
        !kfi_warn(job, "conflict", "%.600s (%.100s), but %s in %.100s: the latter stays", told->change.text, told->files,
                  deleted ? "deleted" : "otherwise", group->file))
        return false;
    if (first && before == KFI_WHAT_DROPPED && now->what == KFI_WHAT_CHANGED && !tell_edited(job, told, group->file))
        return false;
    bool nothing = before == KFI_WHAT_KEPT || before == KFI_WHAT_SAME;
    if (first && (nothing || before == KFI_WHAT_DROPPED || now->what == KFI_WHAT_DROPPED)) {
        uncount(summary, before);
        summary->tracks -= before == KFI_WHAT_DROPPED && now->what == KFI_WHAT_ADDED; /* it was one of them before */
        return keep(group, now, told);
    }
    if (first)
        uncount(summary, now->what);
    return append(group->job, told, now->detail, group->file, first);
}

static void add_counts(const kfi_group *group, const kfi_merge_report *report, kf_summary *summary)
{
    summary->tracks += group->again ? report->added : report->tracks;
    if (summary->tracks < report->tracks) /* one that has all takes, after some that have one */
        summary->tracks = report->tracks;
    summary->changed += report->changed;
    summary->added += report->added;
    summary->kept += report->kept;
    summary->dropped += report->dropped;
}

/* Room in the group's map for so many more. */
static bool grow_known(kfi_group *group, size_t more)
{
    size_t wanted = group->told_count + more;
    if (wanted <= group->known.capacity / 2)
        return true;
    if (!kfi_map_init(&group->known, group->job, 2 * wanted))
        return false;
    for (size_t i = 0; i < group->told_count; i++)
        kfi_map_put(&group->known, group->told[i].change.of, (uint32_t)i);
    return true;
}

const char *kfi_first_name(const kfi_group *group, const char *take)
{
    for (size_t i = group->renamed_count; i-- > 0;)
        if (strcmp(take, group->renamed[i].now) == 0)
            return group->renamed[i].take;
    return take;
}

/* In what FBX files before this one made, a take that one of them renamed has its new name: it is told of by its first. */
static bool name_as_first(kf_job *job, const kfi_group *group, kfi_change *change)
{
    const char *first = change->take ? kfi_first_name(group, change->take) : NULL;
    if (first == change->take)
        return true;
    if (!change->now)
        change->of = kfi_format_text(job, "%s%s", first, change->of + strlen(change->take));
    change->take = first;
    return change->of != NULL;
}

/* The names that a report tells of, once all of it was told. */
static bool add_names(kfi_group *group)
{
    for (; group->told_named < group->told_count; group->told_named++) {
        const kfi_change *change = &group->told[group->told_named].change;
        if (change->what != KFI_WHAT_RENAMED)
            continue;
        kfi_change *renamed = kfi_push(group->job, &group->renamed, &group->renamed_count, sizeof *renamed);
        if (!renamed)
            return false;
        *renamed = *change;
    }
    return true;
}

/* A track that did not come back from a file has one sentence more of that, and a second one if its numbers did, edited. Once it
 * is back, only the second one counts. */
static kfi_told *told_before(kfi_group *group, size_t at, size_t before, const kfi_change *now, kf_summary *summary)
{
    kfi_told *told = &group->told[at];
    if (told->change.what != KFI_WHAT_KEPT || now->what == KFI_WHAT_KEPT || at + 1 >= before ||
        strcmp(told[1].change.of, told->change.of) != 0)
        return told;
    uncount(summary, KFI_WHAT_KEPT);
    told->change.what = KFI_WHAT_SAME;
    kfi_map_set(&group->known, told->change.of, (uint32_t)at + 1);
    return told + 1;
}

bool kfi_add_report(kf_job *job, kfi_group *group, const kfi_merge_report *report, kf_summary *summary)
{
    size_t before = group->told_count;
    if (!grow_known(group, report->change_count))
        return false;
    add_counts(group, report, summary);
    for (size_t i = 0; i < report->change_count; i++) {
        kfi_change *change = &report->changes[i];
        if (!name_as_first(job, group, change))
            return false;
        int64_t at = kfi_map_get(&group->known, change->of, strlen(change->of));
        if (at >= 0 && (size_t)at < before) {
            if (!join(job, group, told_before(group, (size_t)at, before, change, summary), change, summary))
                return false;
            continue;
        }
        kfi_told *told = kfi_push(group->job, &group->told, &group->told_count, sizeof *told);
        if (!told || !keep(group, change, told))
            return false;
        kfi_map_put(&group->known, told->change.of, (uint32_t)(group->told_count - 1));
    }
    return add_names(group);
}

/* Warns of the tracks that did not come back in any of the files: those of a take follow each other. */
static bool tell_kept(const kfi_group *group)
{
    for (size_t i = 0, end; i < group->told_count; i = end) {
        const char *take = group->told[i].change.take;
        size_t kept = 0, tracks = 0;
        for (end = i; end < group->told_count; end++) {
            const kfi_change *change = &group->told[end].change;
            if (end > i && (!take || !change->take || strcmp(change->take, take) != 0))
                break;
            kept += change->what == KFI_WHAT_KEPT;
            tracks += change->what != KFI_WHAT_ADDED && !change->now && (end == i || strcmp(change->of, group->told[end - 1].change.of) != 0);
        }
        if (kept && !kfi_warn(group->job, "kept", "take \"%.60s\": %zu of %zu tracks did not come back and stay as they were "
                                           "(--drop-missing deletes them)", take, kept, tracks))
            return false;
    }
    return true;
}

bool kfi_end_report(const kfi_group *group, kf_summary *summary)
{
    const char **texts = kfi_alloc(group->job, group->told_count, sizeof *texts);
    if (!texts)
        return false;
    for (size_t i = 0; i < group->told_count; i++)
        if (group->told[i].change.what != KFI_WHAT_SAME)
            texts[summary->change_count++] = group->told[i].change.text;
    summary->changes = texts;
    return tell_kept(group);
}
