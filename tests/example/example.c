/* Says what moves in an animation file: an FBX, or a file of any format that Keyferry knows. */
#include <keyferry.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static char bytes[1 << 24];
    FILE *in = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!in) {
        fprintf(stderr, "usage: example FILE\n");
        return 2;
    }
    kf_file file = {argv[1], bytes, fread(bytes, 1, sizeof bytes, in)};
    fclose(in);

    kf_error error = {0};
    kf_library *library = kf_library_new(NULL, &error);
    kf_job *job = library ? kf_job_new(library, NULL, &error) : NULL;
    const kf_anim *anim = job ? kf_load(job, &file, 1, &error) : NULL;
    if (anim) {
        printf("%s: %zu nodes at %g frames a second\n", anim->format, anim->node_count, anim->frame_rate);
        for (size_t i = 0; i < anim->take_count; i++)
            printf("take \"%s\": %zu tracks, %g to %g s\n", anim->takes[i].name, anim->takes[i].track_count,
                   anim->takes[i].start, anim->takes[i].end);
    } else {
        fprintf(stderr, "%s: %s\n", argv[1], error.message);
    }
    kf_job_free(job); /* everything that came from the job goes with it */
    kf_library_free(library);
    return anim ? 0 : 1;
}
