/* In libFuzzer's place, for compilers without it: runs the target on the files named on the command line, and on
 * nothing at all. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        FILE *in = fopen(argv[i], "rb");
        if (!in || fseek(in, 0, SEEK_END) != 0) {
            perror(argv[i]);
            return 1;
        }
        long size = ftell(in);
        rewind(in);
        uint8_t *data =
            malloc(size > 0 ? (size_t)size : 1); /* exact, so that a read beyond the end is seen */
        if (!data || fread(data, 1, (size_t)size, in) != (size_t)size) {
            perror(argv[i]);
            return 1;
        }
        fclose(in);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        free(data);
    }
    printf("%d files\n", argc - 1);
    return 0;
}
