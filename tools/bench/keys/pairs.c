/* pairs.c -- see tools/bench/keys/pairs.h. */
#include "tools/bench/keys/pairs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES   ((size_t)1 << 20)
#define LEAST_PIECES 16
#define HEAD_BYTES   8 /* of a value are looked at */
#define ABSENT                                                                                     \
    ((uint64_t)1 << 40) /* added to a number: a key in the same range that is never put */
#define CHUNK_BYTES 100 /* that are compressible in themselves, as db_bench's */

/* Random bytes, and copies of them up to the end of the chunk. */
static void
fill_chunk(uint8_t *chunk, size_t size, double ratio, struct bench_random *random)
{
    size_t noise = (size_t)(ratio * (double)size + 0.5);

    if (noise == 0)
        noise = 1;
    for (size_t i = 0; i < size; i++)
        chunk[i] = i < noise ? (uint8_t)bench_random_next(random) : chunk[i - noise];
}

void
bench_pairs_init(struct bench_pairs *pairs, size_t key_bytes, size_t value_bytes, double ratio)
{
    struct bench_random random = {bench_scramble(1)};
    size_t bytes;

    *pairs = (struct bench_pairs){.key_bytes = key_bytes, .value_bytes = value_bytes};
    pairs->pieces = value_bytes > 0 ? POOL_BYTES / value_bytes : 1;
    if (pairs->pieces < LEAST_PIECES)
        pairs->pieces = LEAST_PIECES;
    bytes = (size_t)pairs->pieces * value_bytes;
    pairs->pool = bench_alloc(bytes + 1);
    for (size_t piece = 0; piece < bytes; piece += value_bytes) {
        for (size_t at = 0; at < value_bytes; at += CHUNK_BYTES) {
            size_t left = value_bytes - at;

            fill_chunk(pairs->pool + piece + at, left < CHUNK_BYTES ? left : CHUNK_BYTES, ratio,
                       &random);
        }
    }
}

void
bench_pairs_init_spread(struct bench_pairs *pairs, size_t value_bytes)
{
    assert(value_bytes >= 2 * HEAD_BYTES);
    *pairs = (struct bench_pairs){
        .key_bytes = BENCH_KEY_BYTES, .value_bytes = value_bytes, .spread = true};
}

void
bench_pairs_free(struct bench_pairs *pairs)
{
    free(pairs->pool);
    *pairs = (struct bench_pairs){0};
}

bool
bench_pairs_fit(size_t key_bytes, uint64_t count)
{
    uint64_t greatest = 2 * (count - 1) + 1;

    if (key_bytes > BENCH_MOST_KEY_BYTES || count == 0 || count > UINT64_MAX / 2)
        return false;
    for (size_t i = 0; i < key_bytes; i++)
        greatest /= 10;
    return greatest == 0;
}

petal_slice
bench_pairs_key(const struct bench_pairs *pairs, uint64_t number, bool absent, char *key)
{
    if (pairs->spread)
        bench_key(key, absent ? number | ABSENT : number);
    else
        bench_decimal_key(key, pairs->key_bytes, 2 * number + (absent ? 1 : 0));
    return (petal_slice){key, pairs->key_bytes};
}

petal_slice
bench_pairs_value(const struct bench_pairs *pairs, uint64_t number, uint8_t *room)
{
    uint64_t piece;

    if (pairs->spread) {
        bench_value(room, pairs->value_bytes, number);
        return (petal_slice){room, pairs->value_bytes};
    }
    piece = (uint64_t)(((unsigned __int128)bench_scramble(number) * pairs->pieces) >> 64);

    return (petal_slice){pairs->pool + piece * pairs->value_bytes, pairs->value_bytes};
}

bool
bench_pairs_is_right(const struct bench_pairs *pairs, uint64_t number, petal_slice value)
{
    petal_slice wanted;
    size_t ends, last;

    if (pairs->spread) { /* their first bytes tell them apart */
        uint8_t head[2 * HEAD_BYTES];

        bench_value(head, sizeof head, number);
        return value.size == pairs->value_bytes && memcmp(value.data, head, HEAD_BYTES) == 0;
    }
    wanted = bench_pairs_value(pairs, number, NULL);
    ends = wanted.size < HEAD_BYTES ? wanted.size : HEAD_BYTES;
    last = wanted.size - ends;

    return value.size == wanted.size && memcmp(value.data, wanted.data, ends) == 0 &&
           memcmp((const char *)value.data + last, (const char *)wanted.data + last, ends) == 0;
}
