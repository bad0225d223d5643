/* What a merge did, told in sentences. */
#include "internal.h"

static bool tell(kfi_merging *m, kfi_what what, const char *of, const char *take, const char *detail, const char *text)
{
    kfi_change *slot = of && text ? kfi_push(m->job, &m->report->changes, &m->report->change_count, sizeof *slot) : NULL;
    if (!slot)
        return false;
    *slot = (kfi_change){.what = what, .of = of, .take = take, .detail = detail, .text = text};
    return true;
}

const char *kfi_track_text(kf_job *job, const char *node, const char *take, const kf_track *track)
{
    return kfi_format_text(job, "%s\n%s\n%s\n%s", take, node, kfi_channel_name((kf_channel)track->channel),
                           track->name ? track->name : "");
}

/* As it is called in the FBX, where no two have one name. */
static const char *written_name(const kfi_merging *m, uint32_t node)
{
    const kfi_merge *input = m->input;
    return node < input->original->node_count ? input->written->nodes[node + input->first_node].name : m->merged->nodes[node].name;
}

bool kfi_merge_report_track(kfi_merging *m, kfi_what what, const char *take, const kf_track *track, const char *detail)
{
    static const char *const WORDS[] = {"changed", "added", "kept", "dropped", "renamed", ""};
    const char *node = m->merged->nodes[track->node].name, *name = track->name ? track->name : "";
    const char *channel = kfi_channel_name((kf_channel)track->channel), *space = track->name ? " " : "";
    return tell(m, what, kfi_track_text(m->job, written_name(m, track->node), take, track), take, detail,
                kfi_report_text(m->job, "%s: take \"%.60s\", node \"%.60s\", %s%s%.60s%s%s", WORDS[what], take, node, channel, space,
                                name, detail[0] ? ": " : "", detail));
}

bool kfi_merge_report_same(kfi_merging *m, const char *take, const kf_track *track)
{
    return tell(m, KFI_WHAT_SAME, kfi_track_text(m->job, written_name(m, track->node), take, track), take, "", "");
}

bool kfi_merge_report_shapes(kfi_merging *m, const char *node, size_t shapes, size_t points)
{
    const char *detail = kfi_format_text(m->job, "%zu points moved", points);
    return detail && tell(m, KFI_WHAT_CHANGED, kfi_format_text(m->job, "%s\nshapes", node), NULL, detail,
                          kfi_report_text(m->job, "changed: node \"%.60s\", %zu shapes: %s", node, shapes, detail));
}

const char *kfi_renamed_text(kf_job *job, const char *was, const char *now)
{
    char *text = kfi_format_text(job, "renamed: take \"%s\" is \"%s\" now", was, now); /* elsewhere the old one is shown as the new */
    if (text)
        kfi_make_readable(text);
    return text;
}

bool kfi_merge_report_renamed(kfi_merging *m, const char *was, const char *now)
{
    const char *text = kfi_renamed_text(m->job, was, now);
    if (!tell(m, KFI_WHAT_RENAMED, text, was, "", text))
        return false;
    m->report->changes[m->report->change_count - 1].now = now;
    return true;
}
