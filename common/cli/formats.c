#include "cli.h"

#include <string.h>

static void print_capabilities(const kf_capabilities *k)
{
    static const char *const channels[] = {"translation", "rotation", "scale",
                                           "visibility",  "morph",    "custom"};
    static const char *const interps[] = {"step", "step-next", "linear", "bezier", "hermite", "tcb", "auto"};
    const char *comma = "";
    fputs(",\"channels\":[", stdout);
    for (int i = 0; i < KF_CHANNEL_COUNT; i++) {
        if (k->channels >> i & 1) {
            printf("%s\"%s\"", comma, channels[i]);
            comma = ",";
        }
    }
    fputs("],\"interpolations\":[", stdout);
    comma = "";
    for (int i = 0; i < KF_INTERP_COUNT; i++) {
        if ((k->interps | k->quat_interps) >> i & 1) {
            printf("%s\"%s\"", comma, interps[i]);
            comma = ",";
        }
    }
    fputs("],\"frame_rate\":", stdout);
    json_number(stdout, k->frame_rate);
}

static void print_json(const cli *c, const kf_format *format)
{
    fputs("{\"id\":", stdout);
    json_text(stdout, format->id);
    fputs(",\"title\":", stdout);
    json_text(stdout, format->title);
    fputs(",\"extensions\":[", stdout);
    const char *comma = "";
    for (const char *at = format->extensions + strspn(format->extensions, " "); *at;) {
        int size = (int)strcspn(at, " ");
        printf("%s\"%.*s\"", comma, size, at);
        comma = ",";
        at += size;
        at += strspn(at, " ");
    }
    fputs("],\"plugin\":", stdout);
    json_text(stdout, kf_library_origin(c->library, format));
    print_capabilities(&format->capabilities);
    fputs("}", stdout);
}

static void print_line(const cli *c, const kf_format *format)
{
    const char *plugin = kf_library_origin(c->library, format);
    printf("%-12s %-10s %s%s%s%s\n", format->id, format->extensions, format->title, plugin ? " (" : "",
           plugin ? plugin : "", plugin ? ")" : "");
}

int run_formats(cli *c)
{
    if (c->operand_count > 0) {
        say(stderr, "formats: takes no file (keyferry formats --help)");
        return EXIT_USAGE;
    }
    const kf_format fbx = {.id = "fbx", .title = "Autodesk FBX", .extensions = "fbx"};
    size_t count;
    const kf_format *const *formats = kf_library_formats(c->library, &count);
    if (c->json) {
        fputs("{\"formats\":[\n{\"id\":\"fbx\",\"title\":\"Autodesk "
              "FBX\",\"extensions\":[\"fbx\"],\"plugin\":null}",
              stdout);
        for (size_t i = 0; i < count; i++) {
            fputs(",\n", stdout);
            print_json(c, formats[i]);
        }
        fputs("]}\n", stdout);
    } else {
        print_line(c, &fbx);
        for (size_t i = 0; i < count; i++)
            print_line(c, formats[i]);
    }
    return finish_stdout(EXIT_DONE);
}
