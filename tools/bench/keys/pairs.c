/* pairs.c -- see tools/bench/keys/pairs.h. */
#include "tools/bench/keys/pairs.h"

#include <string.h>

#define HEAD_BYTES ((size_t)8) /* of a value are looked at */

/* Added to a number: a key in the same range that is never put. */
#define ABSENT ((uint64_t)1 << 40)

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
    bench_value(room, pairs->value_bytes, number);
    return (petal_slice){room, pairs->value_bytes};
}

/* The first bytes of values tell them apart: they are half of a short value with the same
 * beginning. */
bool
bench_pairs_is_right(const struct bench_pairs *pairs, uint64_t number, petal_slice value)
{
    size_t half = pairs->value_bytes / 2, looked_at = half < HEAD_BYTES ? half : HEAD_BYTES;
    uint8_t head[2 * HEAD_BYTES];

    bench_value(head, 2 * looked_at, number);
    return value.size == pairs->value_bytes && memcmp(value.data, head, looked_at) == 0;
}
