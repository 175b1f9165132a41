/*
 * checksum_test.c -- checksums keep their values on every machine, whichever way they are computed:
 * they stand in files.
 */
#include "base/checksum.h"
#include "base/hash_long.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

TEST(values_are_kept)
{
    static const struct {
        size_t size;
        uint64_t checksum;
    } kept[] = {
        {0, UINT64_C(0x1736d82675dd3f10)},    {1, UINT64_C(0xd66496f1ad7e3ab5)},
        {8, UINT64_C(0x17a608f23b52575e)},    {16, UINT64_C(0xca2358d5a9dd8d68)},
        {24, UINT64_C(0x6084fefcf26bdb13)},   {128, UINT64_C(0xbf788f857b93008b)},
        {240, UINT64_C(0x932478bfb60096fb)},  {241, UINT64_C(0x942196bbf3277a87)},
        {1024, UINT64_C(0x7aa6db0312164564)}, {4096, UINT64_C(0xc0aa0a35120f2c83)},
        {5000, UINT64_C(0x7ae90bd44979a81f)},
    };
    uint8_t bytes[5000];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 131 >> 3);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        assert_int_equal(checksum_at(0x1DE7717F, 4096, bytes, kept[i].size), kept[i].checksum);
}

/* The hash of long inputs and the one of short inputs are one: the border between them is
 * unseen. */
TEST(long_and_short_inputs_are_hashed_alike)
{
    struct test_random random;
    uint8_t bytes[240];

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 2000; round++) {
        size_t size = (size_t)test_random_below(&random, sizeof bytes + 1);
        uint64_t seed = test_random_next(&random);

        test_random_bytes(&random, bytes, sizeof bytes);
        assert_int_equal(checksum_at(seed, 0, bytes, size), hash_long(bytes, size, seed));
    }
}

/* In pieces of any size, and with a look at what there is until then. */
TEST(pieces_are_hashed_as_the_whole)
{
    enum { MOST = 5000 };
    struct test_random random;
    uint8_t bytes[MOST];

    test_random_init(&random, test_seed());
    test_random_bytes(&random, bytes, sizeof bytes);
    for (unsigned round = 0; round < 500; round++) {
        struct checksum_stream stream;
        size_t done = 0, most = (size_t)test_random_below(&random, 1500) + 1;

        checksum_begin(&stream);
        while (done < MOST) {
            size_t more = (size_t)test_random_below(&random, most + 1);

            more = more < MOST - done ? more : MOST - done;
            checksum_update(&stream, bytes + done, more);
            done += more;
            assert_int_equal(checksum_end(&stream), checksum_at(0, 0, bytes, done));
        }
    }
}
