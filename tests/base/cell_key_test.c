/* cell_key_test.c -- a cell key is what base/cell.h says, whatever zero bytes are in row and
 * qualifier, and its parts come back. */
#include "base/cell.h"
#include "base/coding.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 80

/* esc() of base/cell.h, byte for byte. */
static uint8_t *
escape_slowly(uint8_t *to, petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        *to++ = slice_bytes(bytes)[i];
        if (slice_bytes(bytes)[i] == 0)
            *to++ = 0xFF;
    }
    return to;
}

/* Bytes in memory of their own size, so that a sanitizer sees what is read beside them. */
static petal_slice
own(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = test_allocate(size > 0 ? size : 1);

    memcpy(copy, bytes, size);
    return slice_make(copy, size);
}

/* Runs of zeros, of other bytes and of both by turns. */
static petal_slice
make_bytes(struct test_random *random, size_t least)
{
    uint8_t bytes[MOST_BYTES];
    size_t size = least + test_random_below(random, MOST_BYTES - least), at = 0;

    while (at < size) {
        size_t run = 1 + test_random_below(random, 20);
        uint64_t kind = test_random_below(random, 4);

        for (; run > 0 && at < size; run--, at++)
            bytes[at] = kind == 0   ? 0
                        : kind == 1 ? (uint8_t)(1 + test_random_below(random, 255))
                        : kind == 2 ? (uint8_t)(at % 2)
                                    : (uint8_t)(test_random_below(random, 2) * 0xFF);
    }
    return own(bytes, size);
}

static void
check_key(petal_slice row, petal_slice qualifier, bool family, int64_t timestamp, uint64_t sequence)
{
    uint8_t wanted[4 * MOST_BYTES + 64], *to = wanted;
    size_t bound = cell_key_bound(row.size, qualifier.size);
    uint8_t *buffer = test_allocate(bound), *scratch = test_allocate(row.size + qualifier.size + 1);
    struct cell_key key, parsed;
    petal_slice encoded;

    to = escape_slowly(to, row);
    *to++ = 0;
    *to++ = family ? 1 : 2;
    if (!family) {
        to = escape_slowly(to, qualifier);
        *to++ = 0;
        *to++ = 1;
    }
    put_be64(to, ~((uint64_t)timestamp ^ (uint64_t)1 << 63));
    put_be64(to + 8, ~sequence);
    to += 16;

    cell_key_make(&key, buffer, row, qualifier, family, timestamp, sequence);
    assert_int_equal(key.encoded.size, to - wanted);
    assert_memory_equal(key.encoded.data, wanted, key.encoded.size);
    encoded = own(wanted, (size_t)(to - wanted));
    assert_true(cell_key_parse(encoded, scratch, &parsed));
    assert_true(slice_equal(parsed.row, row));
    assert_true(slice_equal(parsed.qualifier, family ? slice_make(NULL, 0) : qualifier));
    assert_int_equal(parsed.row_prefix, key.row_prefix);
    assert_int_equal(parsed.column_prefix, key.column_prefix);
    assert_true(parsed.timestamp == timestamp && parsed.sequence == sequence);
    /* Cut short it is none: what is read ends with it. */
    for (size_t size = 0; size < encoded.size; size++) {
        petal_slice cut = own(encoded.data, size);

        (void)cell_key_parse(cut, scratch, &parsed);
        free((void *)(uintptr_t)cut.data);
    }
    free((void *)(uintptr_t)encoded.data);
    free(scratch);
    free(buffer);
}

TEST(test_keys_come_back)
{
    struct test_random random;

    test_random_init(&random, 19);
    for (int i = 0; i < 5000; i++) {
        petal_slice row = make_bytes(&random, 1), qualifier = make_bytes(&random, 0);

        check_key(row, qualifier, test_random_chance(&random, 20),
                  (int64_t)test_random_next(&random), test_random_next(&random));
        free((void *)(uintptr_t)row.data);
        free((void *)(uintptr_t)qualifier.data);
    }
}

TEST(test_common_prefixes)
{
    struct test_random random;

    test_random_init(&random, 20);
    for (int i = 0; i < 5000; i++) {
        uint8_t bytes[MOST_BYTES];
        size_t size = 1 + test_random_below(&random, MOST_BYTES - 1);
        size_t other = test_random_below(&random, size + 1), same = size;
        petal_slice a, b;

        test_random_bytes(&random, bytes, size);
        a = own(bytes, size);
        if (test_random_chance(&random, 80)) {
            same = test_random_below(&random, size);
            bytes[same] ^= 1;
        }
        b = own(bytes, other);
        same = same < other ? same : other;
        assert_int_equal(slice_common_prefix(a, b), same);
        assert_int_equal(slice_common_prefix(b, a), same);
        free((void *)(uintptr_t)a.data);
        free((void *)(uintptr_t)b.data);
    }
}
