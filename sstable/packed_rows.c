/* packed_rows.c -- see sstable/packed_rows.h. */
#include "sstable/packed_rows.h"

#include "base/coding.h"

#include <assert.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define WORD_BITS     64
#define SOME_CONSTANT 0x80 /* in the first byte: a mask and the constant bytes follow */
#define MOST_OF_8     8    /* symbols of 8 bits in a rest, unless the bytes are noise */
#define NOISE         128  /* different bytes: text has fewer */

/* ---- choosing ---- */

void
row_survey_places(struct row_survey *survey, const struct row_rests *rests, size_t rows)
{
    assert(survey->rest_bytes >= 1 && survey->rest_bytes <= PACKED_ROWS_MOST_REST);
    if (!survey->begun)
        memcpy(survey->first, rests->bytes[0], survey->rest_bytes);
    survey->begun = true;
    for (size_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < survey->rest_bytes; k++)
            survey->differs[k] |= rests->bytes[i][k] ^ survey->first[k];
}

void
row_survey_bytes(struct row_survey *survey, const struct row_rests *rests, size_t rows)
{
    for (uint32_t k = 0; k < survey->rest_bytes; k++) {
        if (survey->differs[k] == 0)
            continue;
        for (size_t i = 0; i < rows; i++) {
            uint8_t byte = rests->bytes[i][k];

            survey->present[byte / 64] |= (uint64_t)1 << byte % 64;
        }
    }
}

/* Do 16 symbols give all bytes, with at most one gap?  Then which. */
static bool
find_sixteen(struct row_symbols *symbols, const uint64_t present[4])
{
    uint8_t bytes[16];
    unsigned count = 0;

    for (unsigned byte = 0; byte < 256; byte++) {
        if ((present[byte / 64] >> byte % 64 & 1) == 0)
            continue;
        if (count == sizeof bytes)
            return false;
        bytes[count++] = (uint8_t)byte;
    }
    assert(count >= 2); /* of a place where rests differ */
    symbols->low = bytes[0];
    symbols->run = 16;
    symbols->gap = 0;
    if (bytes[count - 1] - bytes[0] < 16)
        return true;
    for (unsigned i = 1; i < count; i++) {
        unsigned below = bytes[i - 1] - bytes[0] + 1u, above = bytes[count - 1] - bytes[i] + 1u;

        if (below + above <= 16) {
            symbols->run = (uint8_t)below;
            symbols->gap = (uint8_t)(bytes[i] - bytes[0] - (int)below);
            return true;
        }
    }
    return false;
}

static void
count_words(struct row_symbols *symbols)
{
    uint32_t in_word = WORD_BITS / symbols->bits;

    symbols->words = (symbols->count + in_word - 1) / in_word;
}

static bool
is_noise(const uint64_t present[4])
{
    int count = 0;

    for (unsigned i = 0; i < 4; i++)
        count += __builtin_popcountll(present[i]);
    return count > NOISE;
}

bool
row_symbols_choose(struct row_symbols *symbols, const struct row_survey *survey)
{
    *symbols = (struct row_symbols){.rest_bytes = survey->rest_bytes, .bits = 4};
    for (uint32_t k = 0; k < survey->rest_bytes; k++) {
        symbols->constant[k] = survey->first[k];
        if (survey->differs[k] != 0)
            symbols->at[symbols->count++] = (uint8_t)k;
    }
    if (symbols->count == 0)
        return false;
    if (!find_sixteen(symbols, survey->present)) {
        symbols->bits = 8;
        if (symbols->count > MOST_OF_8 && !is_noise(survey->present))
            return false;
    }
    count_words(symbols);
    return true;
}

/* ---- how symbols give rests, as bytes ---- */

uint8_t *
row_symbols_put(uint8_t *to, const struct row_symbols *symbols)
{
    bool constants = symbols->count < symbols->rest_bytes;
    uint8_t *mask;

    *to++ = (uint8_t)(symbols->bits | (constants ? SOME_CONSTANT : 0u));
    if (symbols->bits == 4) {
        *to++ = symbols->low;
        *to++ = symbols->run;
        *to++ = symbols->gap;
    }
    if (!constants)
        return to;
    mask = to;
    to += (symbols->rest_bytes + 7) / 8;
    memset(mask, 0, (size_t)(to - mask));
    for (uint32_t i = 0; i < symbols->count; i++)
        mask[symbols->at[i] / 8] |= (uint8_t)(1u << symbols->at[i] % 8);
    for (uint32_t k = 0; k < symbols->rest_bytes; k++)
        if ((mask[k / 8] >> k % 8 & 1) == 0)
            *to++ = symbols->constant[k];
    return to;
}

/* The mask at `from`, and the constant bytes behind it. */
static const uint8_t *
get_constants(const uint8_t *from, const uint8_t *limit, struct row_symbols *symbols)
{
    const uint8_t *mask = from;
    uint32_t mask_bytes = (symbols->rest_bytes + 7) / 8;

    if (mask_bytes > (size_t)(limit - from))
        return NULL;
    from += mask_bytes;
    for (uint32_t k = 0; k < symbols->rest_bytes; k++) {
        if ((mask[k / 8] >> k % 8 & 1) != 0) {
            symbols->at[symbols->count++] = (uint8_t)k;
            continue;
        }
        if (from == limit)
            return NULL;
        symbols->constant[k] = *from++;
    }
    return from;
}

const uint8_t *
row_symbols_get(const uint8_t *from, const uint8_t *limit, uint32_t rest_bytes,
                struct row_symbols *symbols)
{
    bool constants;

    if (rest_bytes == 0 || rest_bytes > PACKED_ROWS_MOST_REST || limit - from < 4)
        return NULL;
    constants = (*from & SOME_CONSTANT) != 0;
    symbols->rest_bytes = rest_bytes;
    symbols->bits = *from++ & ~(unsigned)SOME_CONSTANT;
    symbols->count = 0;
    if (symbols->bits == 4) {
        symbols->low = *from++;
        symbols->run = *from++;
        symbols->gap = *from++;
        if (symbols->run > 16)
            return NULL;
    } else if (symbols->bits != 8) {
        return NULL;
    }
    if (constants)
        from = get_constants(from, limit, symbols);
    else
        symbols->count = rest_bytes;
    if (from == NULL || symbols->count == 0)
        return NULL;
    count_words(symbols);
    return from;
}

/* ---- rows ---- */

static uint32_t
symbols_in_word(const struct row_symbols *symbols, uint32_t word)
{
    uint32_t in_word = WORD_BITS / symbols->bits, before = word * in_word;

    return symbols->count - before < in_word ? symbols->count - before : in_word;
}

static uint64_t
word_of(const struct row_symbols *symbols, uint32_t word, const uint8_t *rest)
{
    const uint8_t *at = symbols->at + (size_t)word * (WORD_BITS / symbols->bits);
    uint32_t count = symbols_in_word(symbols, word);
    uint64_t number = 0;

    for (uint32_t i = 0; i < count; i++) {
        unsigned symbol = rest[at[i]];

        if (symbols->bits == 4) {
            symbol -= symbols->low;
            symbol -= symbol >= symbols->run ? symbols->gap : 0u;
            assert(symbol < 16);
        }
        number = number << symbols->bits | symbol;
    }
    return number;
}

uint8_t *
packed_rows_put(uint8_t *to, const struct row_symbols *symbols, const struct row_rests *rests,
                size_t rows)
{
    uint64_t numbers[PACKED_GROUP];

    for (uint32_t word = 0; word < symbols->words; word++) {
        for (size_t i = 0; i < rows; i++)
            numbers[i] = word_of(symbols, word, rests->bytes[i]);
        to = packed_numbers_put(to, numbers, rows, word == 0 ? PACKED_ASCENDING : PACKED_ANY);
    }
    return to;
}

/* Write the 16 symbols of 4 bits of a number, the upper ones first, as bytes. */
#ifdef __SSE2__
static inline void
expand(const struct row_symbols *symbols, uint64_t number, uint8_t *to)
{
    const __m128i low_halves = _mm_set1_epi8(15);
    __m128i pairs = _mm_cvtsi64_si128((int64_t)__builtin_bswap64(number));
    __m128i upper = _mm_and_si128(_mm_srli_epi16(pairs, 4), low_halves);
    __m128i v = _mm_unpacklo_epi8(upper, _mm_and_si128(pairs, low_halves));
    __m128i above = _mm_cmpgt_epi8(v, _mm_set1_epi8((char)(symbols->run - 1)));

    v = _mm_add_epi8(v, _mm_set1_epi8((char)symbols->low));
    v = _mm_add_epi8(v, _mm_and_si128(above, _mm_set1_epi8((char)symbols->gap)));
    _mm_storeu_si128((__m128i *)(void *)to, v);
}
#else
static inline void
expand(const struct row_symbols *symbols, uint64_t number, uint8_t *to)
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned symbol = number >> (60 - 4 * i) & 15;

        to[i] = (uint8_t)(symbols->low + symbol + (symbol >= symbols->run ? symbols->gap : 0));
    }
}
#endif

/* The symbols of numbers, one behind the other from byte `first` of each rest on. */
static void
write_symbols(const struct row_symbols *symbols, uint32_t word, const uint64_t *numbers,
              size_t rows, struct row_rests *rests)
{
    const struct row_symbols copy = *symbols; /* which no store to a rest can reach */
    uint32_t shift = WORD_BITS - copy.bits * symbols_in_word(&copy, word);
    size_t first = (size_t)word * (WORD_BITS / copy.bits);

    if (copy.bits == 8) {
        for (size_t i = 0; i < rows; i++)
            put_be64(rests->bytes[i] + first, numbers[i] << shift);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        expand(&copy, numbers[i] << shift, rests->bytes[i] + first);
}

/* Move the symbols of a rest to their places among the constant bytes. */
static void
spread(const struct row_symbols *symbols, uint8_t *rest)
{
    uint8_t together[PACKED_ROWS_MOST_REST];

    memcpy(together, rest, symbols->count);
    memcpy(rest, symbols->constant, symbols->rest_bytes);
    for (uint32_t i = 0; i < symbols->count; i++)
        rest[symbols->at[i]] = together[i];
}

const uint8_t *
packed_rows_get(const uint8_t *from, const uint8_t *limit, const struct row_symbols *symbols,
                size_t rows, struct row_rests *rests)
{
    uint64_t numbers[PACKED_GROUP];

    assert(rows >= 1 && rows <= PACKED_GROUP);
    for (uint32_t word = 0; word < symbols->words; word++) {
        from = packed_numbers_get(from, limit, numbers, rows);
        if (from == NULL)
            return NULL;
        write_symbols(symbols, word, numbers, rows, rests);
    }
    for (size_t i = 0; symbols->count < symbols->rest_bytes && i < rows; i++)
        spread(symbols, rests->bytes[i]);
    return from;
}

const uint8_t *
packed_rows_skip(const uint8_t *from, const uint8_t *limit, const struct row_symbols *symbols,
                 size_t rows)
{
    for (uint32_t word = 0; from != NULL && word < symbols->words; word++)
        from = packed_numbers_skip(from, limit, rows);
    return from;
}
