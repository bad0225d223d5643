/* What every format's probe says to many files: reads, again and again, a 32-bit size and so many bytes; prints the
 * formats' names, then for each file a line of their scores, and which of them the library chooses. */
#include <keyferry.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    kf_library_options options = {.size = sizeof options, .no_installed_plugins = true};
    kf_library *library = kf_library_new(&options, NULL);
    size_t count, size;
    const kf_format *const *formats = kf_library_formats(library, &count);
    for (size_t i = 0; i < count; i++)
        printf("%s ", formats[i]->id);
    printf("\n");
    unsigned char word[4];
    while (fread(word, 1, 4, stdin) == 4) {
        size = word[0] | word[1] << 8 | word[2] << 16 | (size_t)word[3] << 24;
        unsigned char *data = malloc(size ? size : 1); /* of just that size, for the sanitizers */
        if (!data || fread(data, 1, size, stdin) != size)
            return 1;
        for (size_t i = 0; i < count; i++)
            printf("%d ", formats[i]->probe(data, size));
        kf_job *job = kf_job_new(library, NULL, NULL);
        kf_file file = {"nameless", data, size};
        kf_error error;
        const char *id = kf_probe(job, &file, &error);
        printf("%s\n", id ? id : error.message);
        kf_job_free(job);
        free(data);
    }
    kf_library_free(library);
    return 0;
}
