/*
 * hash_test.c -- the hashes of Bloom filters and the checksums of blocks give what HBase's give.
 */
#include "tests/support/test.h"
#include "tools/hfile/format/checksum.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/hash.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Of HBase 2.6.0's own classes. Tail bytes of 0x80 and more tell Java's MURMUR from C's. */
static const struct {
    const char *key;
    uint32_t murmur, murmur_seeded, jenkins, murmur3;
} VECTORS[] = {
    {"row-0001", 0x5afd3425, 0x25ee519a, 0x67edf76e, 0x2fb8d244},
    {"user1234567", 0x7df51323, 0x6f26a62b, 0xa0746162, 0xa4bf24bc},
    {"\x6B\xFF\xFE", 0xf93332ff, 0x1b1401df, 0x58a8a5fa, 0xfc0a6018},
    {"\xE9", 0x8be15fb8, 0x30497922, 0x5760acfb, 0x44c6d4b2},
};

TEST(hashes_are_those_of_hbase)
{
    for (size_t i = 0; i < COUNT_OF(VECTORS); i++) {
        const char *key = VECTORS[i].key;
        size_t size = strlen(key);
        uint32_t murmur = hfile_hash(HFILE_HASH_MURMUR, key, size, 0);

        assert_int_equal(murmur, VECTORS[i].murmur);
        assert_int_equal(hfile_hash(HFILE_HASH_MURMUR, key, size, murmur),
                         VECTORS[i].murmur_seeded);
        assert_int_equal(hfile_hash(HFILE_HASH_JENKINS, key, size, 0), VECTORS[i].jenkins);
        assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, key, size, 0), VECTORS[i].murmur3);
    }
}

/* Published ones: lookup3.c's own driver, and the reference implementation of MurmurHash3. */
TEST(hashes_are_those_published)
{
    const char *four_score = "Four score and seven years ago";

    assert_int_equal(hfile_hash(HFILE_HASH_JENKINS, "", 0, 0), 0xdeadbeef);
    assert_int_equal(hfile_hash(HFILE_HASH_JENKINS, "", 0, 0xdeadbeef), 0xbd5b7dde);
    assert_int_equal(hfile_hash(HFILE_HASH_JENKINS, four_score, 30, 0), 0x17770551);
    assert_int_equal(hfile_hash(HFILE_HASH_JENKINS, four_score, 30, 1), 0xcd628161);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "", 0, 0), 0);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "", 0, 1), 0x514e28b7);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "\0\0\0\0", 4, 0), 0x2362f9de);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "\x21\x43\x65\x87", 4, 0x5082edee), 0x2362f9de);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "\x21\x43\x65", 3, 0), 0x7e4a8634);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "\x21\x43", 2, 0), 0xa0f7b07a);
    assert_int_equal(hfile_hash(HFILE_HASH_MURMUR3, "\x21", 1, 0), 0x72661cf4);
}

TEST(only_three_hashes_are_known)
{
    assert_false(hfile_hash_is_known(-1));
    for (int type = HFILE_HASH_JENKINS; type <= HFILE_HASH_MURMUR3; type++)
        assert_true(hfile_hash_is_known(type));
    assert_false(hfile_hash_is_known(3));
    assert_false(hfile_hash_is_known((int64_t)1 << 32));
}

TEST(checksums_are_the_standard_ones)
{
    uint8_t zeros[32] = {0};

    assert_int_equal(hfile_checksum(PETAL_HFILE_CHECKSUM_CRC32, "123456789", 9), 0xcbf43926);
    assert_int_equal(hfile_checksum(PETAL_HFILE_CHECKSUM_CRC32C, "123456789", 9), 0xe3069283);
    assert_int_equal(hfile_checksum(PETAL_HFILE_CHECKSUM_CRC32C, zeros, 32), 0x8a9136aa);
}

/* The data root of an empty file of HBase's. */
TEST(a_header_has_the_checksum_that_hbase_wrote)
{
    const uint8_t header[33] =
        "IDXROOT2\0\0\0\4\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0\x40\0\0\0\0\x21";

    assert_int_equal(hfile_checksum(PETAL_HFILE_CHECKSUM_CRC32C, header, 33), 0x16dcab25);
}

/* Whatever the parts: each is summed by itself, the last may be short, and each flipped bit is seen
 * in the right one. */
TEST(every_part_has_its_checksum)
{
    static const uint32_t PARTS[] = {33, 100, 512, 16384};
    uint8_t bytes[1031], sums[4 * 32];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t p = 0; p < COUNT_OF(PARTS); p++)
        for (int kind = PETAL_HFILE_CHECKSUM_NULL; kind <= PETAL_HFILE_CHECKSUM_CRC32C; kind++) {
            enum petal_hfile_checksum checksum = (enum petal_hfile_checksum)kind;
            uint64_t size = hfile_checksums_size(sizeof bytes, PARTS[p]), wrong;

            assert_int_equal(size, 4 * ((sizeof bytes + PARTS[p] - 1) / PARTS[p]));
            memset(sums, 0xa5, sizeof sums);
            hfile_checksums_put(checksum, PARTS[p], bytes, sizeof bytes, sums);
            for (size_t i = size; i < sizeof sums; i++)
                assert_int_equal(sums[i], 0xa5);
            assert_true(
                hfile_checksums_are_right(checksum, PARTS[p], bytes, sizeof bytes, sums, &wrong));
            for (size_t i = 0; i < sizeof bytes; i += 13) {
                bytes[i] ^= 0x10;
                if (kind == PETAL_HFILE_CHECKSUM_NULL) {
                    assert_true(hfile_checksums_are_right(checksum, PARTS[p], bytes, sizeof bytes,
                                                          sums, &wrong));
                } else {
                    assert_false(hfile_checksums_are_right(checksum, PARTS[p], bytes, sizeof bytes,
                                                           sums, &wrong));
                    assert_int_equal(wrong, i / PARTS[p]);
                }
                bytes[i] ^= 0x10;
            }
        }
    assert_int_equal(hfile_checksums_size(0, 16384), 0);
    assert_int_equal(hfile_checksums_size(16384, 16384), 4);
    assert_int_equal(hfile_checksums_size(16385, 16384), 8);
}
