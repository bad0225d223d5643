/* A quick deflate for arrays of 32-bit words that repeat themselves as FBX key attributes do.
 *
 * A curve's attribute data are records of four words: two slopes, then weights and velocities that hardly
 * ever change; and where a key's tangents are in line its right slope is the word three before it. So the
 * only repeats looked for are of whole words at distances of 16 and 12 bytes. The result is a plain zlib
 * stream of one block, whose codes are the same each time, made for such data (RFC 1950, 1951): every zlib reads
 * it. */
#ifndef KFI_FBX_WORDS_H
#define KFI_FBX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KFI_WORDS_RUN = 64 }; /* words of the longest repeat: 256 bytes */

/* The codes, ready to be put out lowest bit first. */
typedef struct kfi_word_codes {
    uint32_t literal[256]; /* the number of bits in the upper half */
    uint32_t run[KFI_WORDS_RUN + 1];
    uint8_t run_bits[KFI_WORDS_RUN + 1];
    uint32_t one_back_12; /* one word from 12 bytes before */
    uint8_t one_back_12_bits;
    uint32_t end;
    uint8_t header[80]; /* of the block: which codes these are */
    unsigned header_bits;
} kfi_word_codes;

/* A stream under way. */
typedef struct kfi_words {
    const kfi_word_codes *codes;
    const uint8_t *data;
    size_t count; /* words */
    size_t at;
    uint64_t bits; /* not put out yet */
    unsigned bit_count;
    bool begun, ended;
} kfi_words;

enum { KFI_WORDS_ROOM = 128 }; /* bytes that kfi_words_put wants at the least */

void kfi_word_codes_init(kfi_word_codes *codes);

/* Whether that saves a tenth or more, by a look at some three hundred words. */
bool kfi_words_worthwhile(const uint8_t *data, size_t count);

void kfi_words_init(kfi_words *words, const kfi_word_codes *codes, const uint8_t *data, size_t count);
/* As much of the stream as fits into `room` bytes; returns how many were put out. Done once `ended` is set.
 */
size_t kfi_words_put(kfi_words *words, uint8_t *out, size_t room);

/* The Adler-32 of bytes that stands behind them in a zlib stream, three times as fast as zlib's own. */
uint32_t kfi_words_check(const uint8_t *data, size_t size);

#endif
