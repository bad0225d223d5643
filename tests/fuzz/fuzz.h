/* The fuzz targets: one program, fuzz TARGET [FILE or libFuzzer's arguments]...
 *
 *   decode-FORMAT  bytes to the format's structs and back: what is accepted must come back byte for byte
 *   FORMAT         a file of the format through everything the library does with one, to FBX and back
 *   fbx-FORMAT     an FBX from anywhere, made into a file of the format; fbx-fbx: written anew
 *   merge-FORMAT   an FBX that once was one of the samples in tests/data/FORMAT, merged with its original
 *   capsule        what a capsule or a sidecar holds, beside a good FBX
 *   skel           a skeleton of Midtown Madness 2, with a clip that fits it
 *
 * Whatever the bytes are, it must end in an answer, within the memory allowed. An answer that breaks a promise
 * (a file that does not come back, an output that cannot be read, a refusal without a reason) ends the program. */
#ifndef FUZZ_H
#define FUZZ_H

#include "format.h"

/* What libFuzzer, or replay.c in its place, calls. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* mutate.c gives libFuzzer the one, and has the other from it, or from replay.c. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Samples that the target could meet, as an FBX in text: one after the other, and again from the first. */
const uint8_t *fuzz_text_seed(size_t number, size_t *size);

/* From now on the target's conversion is done that often again, each time with another allocation failing: the answer
 * must be that there is no memory, and all of it must be given back. */
extern size_t fuzz_failures;

/* Does the target read an FBX? Then the mutator changes numbers, names and records besides bytes. */
bool fuzz_reads_fbx(void);

/* Decodes and encodes (decoders.c): the bytes, or NULL if they were refused. */
const uint8_t *fuzz_decode(kf_job *job, const char *format, const uint8_t *data, size_t size, size_t *back_size);

/* Ends the program, with the reason. */
void fuzz_broken(const char *what, const kf_error *error);

#endif
