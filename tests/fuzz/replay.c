/* In libFuzzer's place, for compilers without it: runs the target on the files named on the command line, on nothing
 * at all, and, where it reads FBX files, on mutants: samples as text, changed a few times over by the fuzzer's own
 * mutator. The same ones on every machine; KEYFERRY_MUTANTS says how many. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MUTANTS = 200, FAILURES = 4, MOST_CHANGES = 6 };

static uint32_t state = 1;

static uint32_t random_below(size_t limit)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((state >> 8) % limit);
}

/* What the mutator calls now and then: libFuzzer has better ways. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
    if (size < max && random_below(4) == 0)
        data[size++] = (uint8_t)random_below(256);
    else if (size > 0 && random_below(4) == 0)
        size -= random_below(size);
    if (size > 0)
        data[random_below(size)] = (uint8_t)random_below(256);
    return size;
}

static void run_mutants(size_t count)
{
    size_t size;
    fuzz_text_seed(0, &size); /* all of them are made */
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = fuzz_text_seed(i, &size);
        size_t max = size + 4096;
        uint8_t *data = malloc(max);
        if (!from || !data)
            abort();
        memcpy(data, from, size);
        for (uint32_t changes = 1 + random_below(MOST_CHANGES); changes > 0; changes--)
            size = LLVMFuzzerCustomMutator(data, size, max, (unsigned)random_below(1u << 24));
        uint8_t *exact = malloc(size ? size : 1);
        if (!exact)
            abort();
        memcpy(exact, data, size);
        fuzz_failures = FAILURES;
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        free(data);
    }
}

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
    const char *asked = getenv("KEYFERRY_MUTANTS");
    size_t mutants = !fuzz_reads_fbx() ? 0 : asked ? strtoul(asked, NULL, 10) : MUTANTS;
    run_mutants(mutants);
    printf("%d files, %zu mutants\n", argc - 1, mutants);
    return 0;
}
