/* Which take of an FBX that came back is which of those that were written: by its name, or by how much of it is left. */
#include "internal.h"

#include "names.h"

#include <string.h>

/* ---------------------------------------------------------------- names */

static int32_t find_take(const kf_anim *written, const char *name, size_t length)
{
    for (size_t i = 0; i < written->take_count; i++)
        if (strlen(written->takes[i].name) == length && strncmp(written->takes[i].name, name, length) == 0)
            return (int32_t)i;
    return -1;
}

static int32_t find_node(const kf_anim *anim, const char *name, size_t length)
{
    for (size_t i = 0; i < anim->node_count; i++)
        if (strlen(anim->nodes[i].name) == length && strncmp(anim->nodes[i].name, name, length) == 0)
            return (int32_t)i;
    return -1;
}

bool kfi_by_blender(const kf_anim *edited)
{
    return edited->creator && strncmp(edited->creator, "Blender", 7) == 0;
}

/* Of Blender's own, any may be an object whose name it cut short. */
bool kfi_names_object(const kfi_merge *input, const char *name)
{
    size_t length = strcspn(name, "|"), second = length + (name[length] == '|');
    second += strcspn(name + second, "|"); /* "Obj|Owner|Take" shows an object, whatever has become of it */
    const char *third = name[second] == '|' ? name + second + 1 : NULL;
    return name[length] == '|' &&
           (kfi_by_blender(input->edited) || (third && find_take(input->written, third, strcspn(third, "|")) >= 0) ||
            find_node(input->edited, name, length) >= 0 || find_node(input->written, name, length) >= 0);
}

/* What a take's name tells. */
typedef struct take_name {
    int32_t take, owner; /* the written take and the written node that it is of, or -1 */
    const char *action;  /* "Owner|Take" or "Take" */
    size_t length;       /* of that, without a layer behind it */
    bool twice;          /* "Obj|Obj|Take" */
} take_name;

/* "Obj|Take", "Obj|Owner|Take", both with or without "|Layer" behind. Where Obj and Owner differ, the take shows one
 * object moved by another one's action: no take of ours. */
static take_name parse_take(const kf_anim *written, const char *name)
{
    enum { MOST = 4 };
    take_name result = {.take = -1, .owner = -1};
    const char *part[MOST];
    size_t length[MOST], parts = 0;
    for (const char *at = name; parts < MOST;) {
        part[parts] = at;
        length[parts] = strcspn(at, "|");
        at += length[parts++];
        if (*at == '\0')
            break;
        at++;
    }
    for (size_t i = 1; i < parts && i <= 2; i++) {
        int32_t found = find_take(written, part[i], length[i]);
        if (found < 0)
            continue;
        result.twice = i == 2;
        if (result.twice && (length[0] != length[1] || strncmp(part[0], part[1], length[0]) != 0))
            return result;
        result.take = found;
        result.owner = find_node(written, part[0], length[0]);
        result.action = part[result.twice ? 1 : 0];
        result.length = (size_t)(part[i] + length[i] - result.action);
        return result;
    }
    return result;
}

/* An action moves one object. A strip of such an action, as which it may be placed, stretched and cut, has its name too; but the
 * take that shows it shows all objects. */
static bool shows_several(const kf_take *take)
{
    const kf_track *first = NULL;
    for (size_t i = 0; i < take->track_count; i++) {
        const kf_track *track = &take->tracks[i];
        bool keys = false;
        for (unsigned c = 0; c < track->curves; c++)
            keys = keys || track->curve[c].count > 0;
        if (keys && first && first->node != track->node)
            return true;
        first = keys ? track : first;
    }
    return false;
}

/* Names that programs give a take when they have none of their own; Blender gives it the scene's. */
static bool default_take_name(const kfi_merge *input, const char *name)
{
    static const char *const names[] = {"Scene", "Take 001", "Take001", "Default", "Default Take"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return kfi_by_blender(input->edited) || kfi_names_object(input, name);
}

/* ---------------------------------------------------------------- which it is */

/* Every take that was lost is compared with every new one; beyond this many pairs, with none. */
enum { MOST_PAIRS = 256 };

/* ---------------------------------------------------------------- likeness */

/* How many of a written track's values are what came back, in whichever way that is. */
static size_t turned_alike(const kfi_merge *input, const kfi_turn *ways, const kf_track *was, const kf_track *now, double offset,
                           size_t values)
{
    size_t score[KFI_WAYS + 1] = {0}, best = 0;
    unsigned way = was->channel == KF_ROTATION ? KFI_AS_WRITTEN : KFI_AS_WRITTEN + 1; /* there are several angles for one */
    if (!ways || was->channel > KF_SCALE || was->curves != 3)
        return 0;
    kfi_count_alike(input, ways, was, now, &input->edited->nodes[now->node], offset, score);
    for (; way < KFI_WAYS; way++)
        best = score[way] > best ? score[way] : best;
    return score[KFI_WAYS] ? values * best / score[KFI_WAYS] : 0;
}

size_t kfi_alike_values(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const kf_track *was,
                        const kf_track *now, double offset, size_t *values)
{
    size_t alike = 0, count = 0;
    for (unsigned c = 0; c < was->curves && c < now->curves; c++) {
        for (size_t n = 0; n < was->curve[c].count; n++) {
            double value = kfi_curve_value(&now->curve[c], was->curve[c].keys[n].time + offset, now->rest[c]);
            alike += kfi_same_value(limits, was->channel, was->curve[c].keys[n].value, value);
            count++;
        }
    }
    size_t turned = alike < count ? turned_alike(input, ways, was, now, offset, count) : 0;
    *values = count;
    return turned > alike ? turned : alike;
}

/* How much of a written take an edited one is: the share of its values that are still the same on its key times. */
static double likeness(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const kfi_matches *m,
                       const kf_take *edited, const kf_take *written)
{
    double start = 0, end = 0, first = 0, last = 0;
    size_t same = 0, looked = 0, values = 0;
    if (!kfi_take_range(edited, &start, &end) || !kfi_take_range(written, &first, &last))
        return 0;
    for (size_t i = 0; i < edited->track_count; i++) {
        const kf_track *track = &edited->tracks[i];
        for (size_t k = 0; k < written->track_count; k++) {
            const kf_track *like = &written->tracks[k];
            if (m->node[track->node] != (int32_t)like->node || like->channel != track->channel)
                continue;
            same += kfi_alike_values(input, limits, ways, like, track, start - first, &values);
            looked += values;
        }
    }
    return looked ? (double)same / (double)looked : 0;
}

/* Several takes under new names: each is the one of which most is left, but at the least half. Equally like: the one with
 * as many tracks, then the first. */
static void match_renamed(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *m, bool *back)
{
    const kf_anim *written = input->written, *edited = input->edited;
    for (;;) {
        double best = 0.5;
        size_t best_gap = SIZE_MAX, from = 0, to = 0;
        for (size_t i = 0; i < edited->take_count; i++) {
            for (size_t k = 0; k < written->take_count; k++) {
                if (m->take[i] >= 0 || back[k] || default_take_name(input, edited->takes[i].name))
                    continue;
                double like = likeness(input, limits, ways, m, &edited->takes[i], &written->takes[k]);
                size_t a = edited->takes[i].track_count, b = written->takes[k].track_count, gap = a > b ? a - b : b - a;
                if (like > best || (like == best && gap < best_gap)) {
                    best = like;
                    best_gap = gap;
                    from = i;
                    to = k;
                }
            }
        }
        if (best_gap == SIZE_MAX)
            return;
        m->take[from] = (int32_t)to;
        m->renamed[to] = edited->takes[from].name;
        back[to] = true;
    }
}

/* Whether a take with "|" in its name, which would be a program's copy of a written one, is one that was added: nothing before that
 * is an object, the written one is there as well, and the motion is neither's. */
static bool is_added(const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, const kfi_matches *m, size_t edited_take,
                     int32_t written_take)
{
    const kf_anim *edited = input->edited;
    const kf_take *take = &edited->takes[edited_take], *written = &input->written->takes[written_take];
    int32_t other = find_take(edited, written->name, strlen(written->name));
    return strchr(take->name, '|') && other >= 0 && other != (int32_t)edited_take && !kfi_names_object(input, take->name) &&
           kfi_other_motion(limits, take, &edited->takes[other]) && likeness(input, limits, ways, m, take, written) < 1;
}

bool kfi_match_takes(kf_job *job, const kfi_merge *input, const kfi_limits *limits, const kfi_turn *ways, kfi_matches *m)
{
    const kf_anim *written = input->written, *edited = input->edited;
    size_t takes = written->take_count;
    m->take = kfi_alloc(job, edited->take_count, sizeof *m->take);
    m->owner = kfi_alloc(job, edited->take_count, sizeof *m->owner);
    m->renamed = kfi_alloc(job, takes, sizeof *m->renamed);
    m->offset = kfi_alloc(job, takes, sizeof *m->offset);
    bool *back = kfi_alloc(job, takes, sizeof *back);
    if (!m->take || !m->owner || !m->renamed || !m->offset || !back)
        return false;
    kfi_map own; /* the actions that objects have been seen with as their own, or strips of them */
    if (!kfi_map_init(&own, job, edited->take_count))
        return false;
    /* Strips before actions, an object's own action before others. */
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < edited->take_count; i++) {
            const char *name = edited->takes[i].name;
            take_name told = {.take = find_take(written, name, strlen(name)), .owner = -1};
            if (told.take < 0)
                told = parse_take(written, name);
            bool strip = told.owner >= 0 && !told.twice && shows_several(&edited->takes[i]);
            if (pass != (strip ? 0 : told.twice ? 1 : 2))
                continue;
            if (told.take >= 0 && told.owner < 0 && is_added(input, limits, ways, m, i, told.take))
                told.take = -1;
            m->take[i] = told.take;
            m->owner[i] = told.owner;
            if (told.take >= 0)
                back[told.take] = true;
            if (told.take < 0 || told.owner < 0)
                continue;
            if (kfi_map_get(&own, told.action, told.length) >= 0) {
                m->owner[i] = KFI_NOBODY; /* an object that is shown already */
            } else if (pass < 2) {
                const char *action = kfi_strndup(job, told.action, told.length);
                if (!action)
                    return false;
                kfi_map_put(&own, action, 0);
            }
        }
    }
    /* One left over on either side: the same take under another name. */
    size_t lost = takes, lost_count = 0, strange = 0, strange_count = 0;
    for (size_t i = 0; i < takes; i++)
        if (!back[i]) {
            lost = i;
            lost_count++;
        }
    for (size_t i = 0; i < edited->take_count; i++)
        if (m->take[i] < 0) {
            strange = i;
            strange_count++;
        }
    if (lost_count > 1 && strange_count == 1 && default_take_name(input, edited->takes[strange].name)) {
        /* One of several takes, or some of each, under a program's own name. */
        m->scene = (int32_t)strange;
        return kfi_match_scene(job, input, limits, ways, back, m);
    } else if (lost_count == 1 && strange_count == 1) {
        m->take[strange] = (int32_t)lost;
        if (!default_take_name(input, edited->takes[strange].name))
            m->renamed[lost] = edited->takes[strange].name;
    } else if (lost_count > 0 && strange_count > 0 && lost_count * strange_count <= MOST_PAIRS) {
        match_renamed(input, limits, ways, m, back);
    }
    return true;
}

/* A take whose name was not taken over, for it may be one that a program made of the old one and an object's. */
static bool tell_name_kept(const kfi_merging *m)
{
    const kf_anim *written = m->input->written, *edited = m->input->edited;
    for (size_t i = 0; i < edited->take_count && !kfi_by_blender(edited); i++) {
        const char *name = edited->takes[i].name, *was = m->matches.take[i] >= 0 ? written->takes[m->matches.take[i]].name : name;
        if (!strchr(name, '|') || m->matches.take[i] < 0 || m->matches.renamed[m->matches.take[i]] ||
            find_take(edited, was, strlen(was)) >= 0 || (kfi_names_object(m->input, name) && parse_take(written, name).take >= 0))
            continue;
        if (!kfi_note(m->job, "take-name", "take \"%.60s\" came back as \"%.60s\": that is taken for a name that a program gave it, and it "
                                           "keeps its own. To rename it, leave out the \"|\"", was, name))
            return false;
    }
    return true;
}

bool kfi_tell_renamed(kfi_merging *m)
{
    const kf_anim *written = m->input->written;
    if (!tell_name_kept(m))
        return false;
    for (size_t i = 0; i < written->take_count; i++) {
        const char *was = m->input->original->takes[written->takes[i].source].name, *now = m->matches.renamed[i];
        if (now && (!kfi_merge_report_renamed(m, was, now) || !kfi_show_as(m->job, was, now) ||
                    !kfi_show_as(m->job, written->takes[i].name, now)))
            return false;
    }
    return true;
}
