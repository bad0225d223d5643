#include "convert.h"

#include <string.h>

void report_conversion_json(const work *w, const kf_job *job, const kf_summary *s, const kf_error *error,
                            bool ok)
{
    FILE *out = w->v->out;
    fputs("{\"inputs\":[", out);
    for (size_t i = 0; i < w->v->count; i++) {
        fputs(i ? "," : "", out);
        json_text(out, w->v->inputs[i]);
    }
    fprintf(out, "],\"ok\":%s,\"left_alone\":%s,\"dry_run\":%s,\"outputs\":[", ok ? "true" : "false",
            w->left_alone ? "true" : "false", w->c->dry_run ? "true" : "false");
    for (size_t i = 0; ok && i < w->written.count; i++) {
        fputs(i ? "," : "", out);
        json_text(out, w->written.paths[i]);
    }
    fputs("],\"from\":", out);
    json_text(out, s->from);
    fputs(",\"to\":", out);
    json_text(out, s->to);
    fprintf(out, ",\"merged\":%s,\"original\":", s->merged ? "true" : "false");
    json_text(out, s->original);
    fprintf(out, ",\"tracks\":%zu,\"changed\":%zu,\"added\":%zu,\"kept\":%zu,\"dropped\":%zu,\"changes\":[",
            s->tracks, s->changed, s->added, s->kept, s->dropped);
    for (size_t i = 0; i < s->change_count; i++) {
        fputs(i ? "," : "", out);
        json_text(out, s->changes[i]);
    }
    fputs("],", out);
    json_messages(out, job);
    fputc(',', out);
    json_error(out, error);
    fputs("}\n", out);
}

void report_conversion(const work *w, const kf_job *job, const kf_summary *s, const kf_error *error, bool ok)
{
    FILE *err = w->v->err;
    const char *path = w->inputs[0].path;
    if (job)
        say_messages(err, job, KF_NOTE, w->inputs, w->v->count, path);
    if (!ok) {
        if (w->set.exit_code == EXIT_DONE) /* else it has been told where it happened */
            say_error(err, error, w->inputs, w->v->count, path);
        return;
    }
    const char *dry = w->c->dry_run ? " (dry run: nothing written)" : "";
    if (!s->merged) {
        say(err, "%s: %s to %s%s", path, s->from, s->to, dry);
        return;
    }
    char added[40] = "", kept[60] = "", dropped[40] = "";
    if (s->added)
        snprintf(added, sizeof added, ", %zu added", s->added);
    if (s->kept)
        snprintf(kept, sizeof kept, ", %zu kept that did not come back", s->kept);
    if (s->dropped)
        snprintf(dropped, sizeof dropped, ", %zu dropped", s->dropped);
    say(err, "%s: %zu of %zu tracks changed%s%s%s%s", path, s->changed, s->tracks, added, kept, dropped, dry);
    for (size_t i = 0; i < s->change_count; i++)
        say(err, "%s: %s", path, s->changes[i]);
}

kf_error last_reason(const char *said, size_t size)
{
    kf_error error = {.code = KF_IO, .offset = KF_NO_OFFSET};
    while (size > 0 && said[size - 1] == '\n')
        size--;
    size_t start = size;
    while (start > 0 && said[start - 1] != '\n')
        start--;
    static const char PREFIX[] = "keyferry: ";
    if (size - start >= sizeof PREFIX - 1 && memcmp(said + start, PREFIX, sizeof PREFIX - 1) == 0)
        start += sizeof PREFIX - 1;
    snprintf(error.message, sizeof error.message, "%.*s", (int)(size - start), said + start);
    return error;
}
