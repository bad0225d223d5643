#include "fbx/words.h"

#include "reader.h"
#include "writer.h"

#include <string.h>

/* Huffman codes stand in the stream with their first bit lowest. */
static uint32_t reversed(uint32_t code, unsigned bits)
{
    uint32_t result = 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (code >> i & 1) << (bits - 1 - i);
    return result;
}

/* ---------------------------------------------------------------- the codes */

enum { SYMBOLS = 286, END = 256, DISTANCES = 8, HEADER_SYMBOLS = SYMBOLS + DISTANCES };

/* How many bits each symbol's code has. Short are the repeats of one and of two words, and what the upper bytes
 * of slopes between 0.5 and 128 are; the sum of 2^-bits over all is 1, as it has to be. */
static uint8_t symbol_bits(unsigned symbol)
{
    if (symbol < 256)
        return (symbol & 0x7f) >= 0x3f && (symbol & 0x7f) <= 0x42 ? 6 : 9;
    if (symbol == 258 || symbol == 262)
        return 3;
    return symbol >= 263 && symbol <= 270 ? 7 : 8;
}

/* The codes of RFC 1951, 3.2.2: by length, then by symbol. */
static void number_codes(uint32_t codes[SYMBOLS])
{
    uint32_t next = 0;
    for (unsigned bits = 1; bits <= 9; bits++, next <<= 1)
        for (unsigned symbol = 0; symbol < SYMBOLS; symbol++)
            if (symbol_bits(symbol) == bits)
                codes[symbol] = reversed(next++, bits);
}

static void put_bits(kfi_word_codes *codes, uint32_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++, codes->header_bits++)
        codes->header[codes->header_bits / 8] |= (uint8_t)((value >> i & 1) << codes->header_bits % 8);
}

/* The block's header (3.2.7): the lengths of all codes, themselves in a code of eight symbols of three bits. */
static void make_header(kfi_word_codes *codes)
{
    static const uint8_t USED[] = {0, 1, 3, 6, 7, 8, 9, 16}; /* 16: the length before, 3 to 6 times */
    static const uint8_t ORDER[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1};
    uint8_t lengths[HEADER_SYMBOLS] = {0}, place[19] = {0};
    for (unsigned i = 0; i < SYMBOLS; i++)
        lengths[i] = symbol_bits(i);
    lengths[SYMBOLS + 6] = lengths[SYMBOLS + 7] = 1; /* the two distances: 12 and 16 */
    for (unsigned i = 0; i < sizeof USED; i++)
        place[USED[i]] = (uint8_t)(i + 1);
    put_bits(codes, 1 | 2 << 1, 3); /* last block, codes of its own */
    put_bits(codes, SYMBOLS - 257, 5);
    put_bits(codes, DISTANCES - 1, 5);
    put_bits(codes, sizeof ORDER - 4, 4);
    for (unsigned i = 0; i < sizeof ORDER; i++)
        put_bits(codes, place[ORDER[i]] ? 3 : 0, 3);
    for (unsigned i = 0; i < HEADER_SYMBOLS;) {
        unsigned again = 0;
        while (i > 0 && again < 6 && i + again < HEADER_SYMBOLS && lengths[i + again] == lengths[i - 1])
            again++;
        put_bits(codes, reversed(again < 3 ? place[lengths[i]] - 1u : 7, 3), 3);
        if (again >= 3)
            put_bits(codes, again - 3, 2);
        i += again < 3 ? 1 : again;
    }
}

/* Length (4..256) and distance of a repeat: of the distance's two codes the first (12) or the second (16), and two
 * extra bits that are both set. */
static uint32_t repeat_code(const uint32_t *numbers, unsigned length, unsigned distance, uint8_t *bits)
{
    unsigned l = length - 3, extra = 0;
    while (l >> extra >= 8)
        extra++;
    unsigned symbol = 257 + 4 * extra + (l >> extra);
    unsigned size = symbol_bits(symbol);
    uint32_t result = numbers[symbol];
    result |= (l & ((1u << extra) - 1)) << size;
    size += extra;
    result |= (distance | 3u << 1) << size;
    *bits = (uint8_t)(size + 3);
    return result;
}

void kfi_word_codes_init(kfi_word_codes *codes)
{
    uint32_t numbers[SYMBOLS];
    *codes = (kfi_word_codes){0};
    number_codes(numbers);
    make_header(codes);
    for (unsigned i = 0; i < 256; i++)
        codes->literal[i] = numbers[i] | (uint32_t)symbol_bits(i) << 16;
    for (unsigned words = 1; words <= KFI_WORDS_RUN; words++)
        codes->run[words] = repeat_code(numbers, 4 * words, 1, &codes->run_bits[words]);
    codes->one_back_12 = repeat_code(numbers, 4, 0, &codes->one_back_12_bits);
    codes->end = numbers[END];
}

/* ---------------------------------------------------------------- the check */

/* The sum of four numbers of 16 bits, each times its factor; that and all sums before it are less than 65536. */
static inline uint32_t four(uint64_t lanes, uint64_t factors)
{
    return (uint32_t)(lanes * factors >> 48);
}

/* Adler-32 (RFC 1950, 8.2) of up to 128 bytes, eight at a time: `even` and `odd` add up the bytes at each place of the
 * eight, the two others how often those before have to be counted again, all in lanes of 16 bits that cannot overflow
 * (16 * 15 / 2 * 255). */
static void add_eights(const uint8_t *data, unsigned eights, uint32_t *a, uint32_t *b)
{
    const uint64_t bytes = 0x00ff00ff00ff00ff, ones = 0x0001000100010001, halves = 0x0000ffff0000ffff;
    uint64_t even = 0, odd = 0, even_again = 0, odd_again = 0;
    for (unsigned i = 0; i < eights; i++) {
        uint64_t eight = kfi_load_u64(data + 8 * i);
        even_again += even;
        odd_again += odd;
        even += eight & bytes;
        odd += eight >> 8 & bytes;
    }
    uint64_t again = (even_again & halves) + (even_again >> 16 & halves) + (odd_again & halves) + (odd_again >> 16 & halves);
    uint32_t sum = four(even, ones) + four(odd, ones), before = (uint32_t)again + (uint32_t)(again >> 32);
    *b += 8 * eights * *a + 8 * (before + sum) - four(even, 0x0000000200040006) - four(odd, 0x0001000300050007);
    *a += sum;
}

uint32_t kfi_words_check(const uint8_t *data, size_t size)
{
    enum { EIGHTS = 16, MODULUS = 65521 };
    uint32_t a = 1, b = 0;
    while (size >= 8) {
        unsigned eights = size >= 8 * EIGHTS ? EIGHTS : (unsigned)(size / 8);
        add_eights(data, eights, &a, &b);
        a %= MODULUS;
        b %= MODULUS;
        data += 8 * eights;
        size -= 8 * eights;
    }
    for (; size > 0; size--) {
        a = (a + *data++) % MODULUS;
        b = (b + a) % MODULUS;
    }
    return b << 16 | a;
}

/* ---------------------------------------------------------------- the words */

static inline uint32_t word(const uint8_t *data, size_t i)
{
    return kfi_load_u32(data + 4 * i);
}

bool kfi_words_worthwhile(const uint8_t *data, size_t count)
{
    enum { PIECE = 32, PIECES = 8 };
    size_t repeats = 0, seen = 0, stride = count > PIECE * PIECES ? count / PIECES : PIECE;
    for (size_t start = 4; start < count; start += stride) {
        size_t end = count - start < PIECE ? count : start + PIECE;
        for (size_t i = start; i < end; i++)
            repeats += word(data, i) == word(data, i - 4) || word(data, i) == word(data, i - 3);
        seen += end - start;
    }
    /* A literal word takes about 34 bits, a repeated one 6 at the most, the header some 400; it takes 32 as it
     * is. */
    return seen > 0 && (seen - repeats) * 340 + repeats * 60 + seen * 4000 / count <= seen * 288;
}

void kfi_words_init(kfi_words *words, const kfi_word_codes *codes, const uint8_t *data, size_t count)
{
    *words = (kfi_words){.codes = codes, .data = data, .count = count};
}

/* The words' bits; stops when fewer than 16 bytes of room are left. */
static uint8_t *put_words(kfi_words *words, uint8_t *out, const uint8_t *limit)
{
    const kfi_word_codes *codes = words->codes;
    const uint8_t *data = words->data;
    size_t at = words->at, count = words->count;
    uint64_t bits = words->bits;
    unsigned n = words->bit_count;
    while (at < count && limit - out >= 16) {
        uint32_t value = word(data, at);
        if (at >= 4 && value == word(data, at - 4)) {
            size_t run = 1;
            while (run < KFI_WORDS_RUN && at + run < count &&
                   word(data, at + run) == word(data, at + run - 4))
                run++;
            bits |= (uint64_t)codes->run[run] << n;
            n += codes->run_bits[run];
            at += run;
        } else if (at >= 3 && value == word(data, at - 3)) {
            bits |= (uint64_t)codes->one_back_12 << n;
            n += codes->one_back_12_bits;
            at++;
        } else {
            uint32_t a = codes->literal[value & 255], b = codes->literal[value >> 8 & 255];
            uint32_t c = codes->literal[value >> 16 & 255], d = codes->literal[value >> 24];
            uint64_t low = (a & 0xffff) | (b & 0xffff) << (a >> 16);
            uint64_t high = (c & 0xffff) | (d & 0xffff) << (c >> 16);
            unsigned low_size = (a >> 16) + (b >> 16);
            bits |= (low | high << low_size) << n;
            n += low_size + (c >> 16) + (d >> 16);
            at++;
        }
        kfi_store_u64(out, bits);
        out += n / 8;
        bits >>= n & ~7u; /* n is 43 at the most */
        n &= 7;
    }
    words->at = at;
    words->bits = bits;
    words->bit_count = n;
    return out;
}

size_t kfi_words_put(kfi_words *words, uint8_t *out, size_t room)
{
    uint8_t *start = out;
    const uint8_t *limit = out + room;
    if (!words->begun) {
        words->begun = true;
        *out++ = 0x78; /* deflate, window of 32 KiB */
        *out++ = 0x01; /* check bits */
        size_t whole = words->codes->header_bits / 8;
        memcpy(out, words->codes->header, whole);
        out += whole;
        words->bits = words->codes->header[whole];
        words->bit_count = words->codes->header_bits % 8;
    }
    out = put_words(words, out, limit);
    if (words->at == words->count && limit - out >= 16) {
        words->bits |= (uint64_t)words->codes->end << words->bit_count;
        words->bit_count += symbol_bits(END);
        for (unsigned n = 0; n < words->bit_count; n += 8)
            *out++ = (uint8_t)(words->bits >> n);
        uint32_t check = kfi_words_check(words->data, 4 * words->count);
        for (int i = 3; i >= 0; i--)
            *out++ = (uint8_t)(check >> 8 * i);
        words->ended = true;
    }
    return (size_t)(out - start);
}
