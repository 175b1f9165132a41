/*
 * codec_test.c -- payloads come back from every codec, also in HBase's framing with its chunks of
 * 256 KiB; whatever else is stored is an error that ends, inside the memory that was given.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const enum petal_hfile_codec CODECS[] = {PETAL_HFILE_CODEC_NONE, PETAL_HFILE_CODEC_GZ,
                                                PETAL_HFILE_CODEC_LZ4, PETAL_HFILE_CODEC_SNAPPY,
                                                PETAL_HFILE_CODEC_ZSTD};

/* Plain memory of exactly so many bytes, so that a sanitizer sees one too far. */
static uint8_t *
exactly(const void *bytes, size_t size)
{
    uint8_t *copy = test_allocate(size);

    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

/* Half of it compresses well, half of it not at all. */
static uint8_t *
payload_of(size_t size, uint64_t seed)
{
    struct test_random random;
    uint8_t *payload = test_allocate(size);

    test_random_init(&random, seed);
    for (size_t i = 0; i < size; i++)
        payload[i] = i % 200 < 100 ? (uint8_t)("cells"[i % 5]) : (uint8_t)test_random_next(&random);
    return payload;
}

static enum petal_status
uncompress(struct hfile_codec *codec, const uint8_t *stored, size_t stored_bytes, uint8_t *to,
           size_t size, const char **wrong)
{
    uint8_t *exact = exactly(stored, stored_bytes);
    enum petal_status status = hfile_codec_uncompress(codec, exact, stored_bytes, to, size, wrong);

    free(exact);
    return status;
}

static uint8_t *
compress(struct hfile_codec *codec, const uint8_t *payload, size_t size, size_t *stored_bytes)
{
    uint8_t *stored = test_allocate(hfile_codec_bound(codec->kind, size));

    assert_int_equal(hfile_codec_compress(codec, payload, size, stored, stored_bytes), PETAL_OK);
    assert_true(*stored_bytes <= hfile_codec_bound(codec->kind, size));
    return stored;
}

/* Sizes next to the borders of chunks of both kinds, random bytes and zeros. */
TEST(payloads_come_back)
{
    static const size_t SIZES[] = {0,      1,      2,      33,     2048,    65536,
                                   66000,  218421, 218422, 218423, 261099,  261100,
                                   261101, 436844, 522200, 522201, 1u << 20};

    for (size_t c = 0; c < COUNT_OF(CODECS); c++) {
        struct hfile_codec codec = {.kind = CODECS[c], .allocator = &hfile_default_allocator};

        if (!hfile_codec_is_built(CODECS[c]))
            continue;
        for (size_t i = 0; i < COUNT_OF(SIZES); i++)
            for (int zeros = 0; zeros < 2; zeros++) {
                size_t size = SIZES[i], stored_bytes;
                uint8_t *payload = payload_of(size, i), *stored, *back = test_allocate(size);
                const char *wrong;

                if (zeros)
                    memset(payload, 0, size);
                stored = compress(&codec, payload, size, &stored_bytes);
                assert_true(hfile_codec_can_hold(CODECS[c], stored_bytes, size));
                assert_int_equal(uncompress(&codec, stored, stored_bytes, back, size, &wrong),
                                 PETAL_OK);
                if (size > 0)
                    assert_memory_equal(back, payload, size);
                free(payload);
                free(stored);
                free(back);
            }
        hfile_codec_free(&codec);
    }
}

/* The lengths of HBase's framing, and how many chunks it makes of 1 MiB. */
TEST(frames_are_those_of_hbase)
{
    static const struct {
        enum petal_hfile_codec codec;
        size_t chunks;
    } FRAMED[] = {
        {PETAL_HFILE_CODEC_LZ4, 5}, {PETAL_HFILE_CODEC_SNAPPY, 5}, {PETAL_HFILE_CODEC_ZSTD, 5}};
    size_t size = 1u << 20;
    uint8_t *payload = payload_of(size, 1);

    for (size_t f = 0; f < COUNT_OF(FRAMED); f++) {
        struct hfile_codec codec = {.kind = FRAMED[f].codec, .allocator = &hfile_default_allocator};
        size_t stored_bytes, at = 4, chunks = 0;
        uint8_t *stored;

        if (!hfile_codec_is_built(FRAMED[f].codec))
            continue;
        stored = compress(&codec, payload, size, &stored_bytes);
        assert_int_equal(hfile_get_u32(stored), size);
        while (at + 4 < stored_bytes) {
            at += 4 + hfile_get_u32(stored + at);
            chunks++;
        }
        assert_int_equal(chunks, FRAMED[f].chunks);
        assert_int_equal(at + 4, stored_bytes);
        assert_int_equal(hfile_get_u32(stored + at), 0);
        free(stored);
        stored = compress(&codec, payload, 1000, &stored_bytes);
        assert_int_equal(hfile_get_u32(stored), 1000);
        assert_int_equal(8 + hfile_get_u32(stored + 4), stored_bytes);
        free(stored);
        stored = compress(&codec, payload, 0, &stored_bytes);
        assert_int_equal(stored_bytes, 4);
        assert_int_equal(hfile_get_u32(stored), 0);
        free(stored);
        hfile_codec_free(&codec);
    }
    free(payload);
}

/* An empty gzip member is 20 bytes, and its header names no system, as in HBase. */
TEST(gzip_members_are_those_of_hbase)
{
    struct hfile_codec codec = {.kind = PETAL_HFILE_CODEC_GZ,
                                .allocator = &hfile_default_allocator};
    size_t stored_bytes;
    uint8_t *stored = compress(&codec, NULL, 0, &stored_bytes);

    assert_int_equal(stored_bytes, 20);
    assert_memory_equal(stored, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    free(stored);
    hfile_codec_free(&codec);
}

/* Several lengths one after the other, chunks of any size, empty ones between them, are one
 * payload; LZ4's chunks here are all literals. */
TEST(other_frames_are_read)
{
    static const uint8_t STORED[] = "\0\0\0\0"
                                    "\0\0\0\5\0\0\0\3\x20"
                                    "ab\0\0\0\4\x30"
                                    "cde"
                                    "\0\0\0\0"
                                    "\0\0\0\1\0\0\0\2\x10"
                                    "f"
                                    "\0\0\0\0";
    struct hfile_codec codec = {.kind = PETAL_HFILE_CODEC_LZ4,
                                .allocator = &hfile_default_allocator};
    uint8_t back[6];
    const char *wrong;

    assert_int_equal(uncompress(&codec, STORED, sizeof STORED - 1, back, 6, &wrong), PETAL_OK);
    assert_memory_equal(back, "abcdef", 6);
    assert_int_equal(uncompress(&codec, STORED, sizeof STORED - 1, back, 5, &wrong), PETAL_CORRUPT);
    hfile_codec_free(&codec);
}

/* As Hadoop's own codec of that name has it. */
TEST(bare_zstd_frames_are_read)
{
    struct hfile_codec codec = {.kind = PETAL_HFILE_CODEC_ZSTD,
                                .allocator = &hfile_default_allocator};
    uint8_t *payload = payload_of(5000, 1), *back = test_allocate(5000), *stored;
    size_t stored_bytes;
    const char *wrong;

    if (!hfile_codec_is_built(codec.kind)) {
        free(payload);
        free(back);
        skip();
    }
    stored = compress(&codec, payload, 5000, &stored_bytes);
    assert_int_equal(uncompress(&codec, stored + 8, stored_bytes - 8, back, 5000, &wrong),
                     PETAL_OK);
    assert_memory_equal(back, payload, 5000);
    assert_int_equal(uncompress(&codec, stored + 8, stored_bytes - 8, back, 4999, &wrong),
                     PETAL_CORRUPT);
    assert_int_equal(uncompress(&codec, stored + 8, stored_bytes - 9, back, 5000, &wrong),
                     PETAL_CORRUPT);
    free(payload);
    free(stored);
    free(back);
    hfile_codec_free(&codec);
}

/* Is the answer one that hostile bytes may have? */
static void
expect_bounded(enum petal_status status, const char *wrong)
{
    assert_true(status == PETAL_OK || status == PETAL_CORRUPT);
    if (status == PETAL_CORRUPT)
        assert_true(strlen(wrong) > 10);
}

/* Every truncation is an error, and so is every byte too many. Of LZ4 and SNAPPY a changed byte can
 * be other data of the same length. */
TEST(damaged_payloads_are_errors)
{
    enum { SIZE = 900 };
    uint8_t *payload = payload_of(SIZE, 7);

    for (size_t c = 0; c < COUNT_OF(CODECS); c++) {
        struct hfile_codec codec = {.kind = CODECS[c], .allocator = &hfile_default_allocator};
        uint8_t *stored, *back = test_allocate(SIZE), *longer;
        size_t stored_bytes;
        const char *wrong;

        if (!hfile_codec_is_built(CODECS[c]))
            continue;
        stored = compress(&codec, payload, SIZE, &stored_bytes);
        for (size_t cut = 0; cut < stored_bytes; cut++) {
            assert_int_equal(uncompress(&codec, stored, cut, back, SIZE, &wrong), PETAL_CORRUPT);
            assert_true(strlen(wrong) > 10);
        }
        for (size_t i = 0; i < stored_bytes; i++)
            for (int bit = 0; bit < 8; bit++) {
                stored[i] ^= (uint8_t)(1 << bit);
                expect_bounded(uncompress(&codec, stored, stored_bytes, back, SIZE, &wrong), wrong);
                stored[i] ^= (uint8_t)(1 << bit);
            }
        longer = test_allocate(stored_bytes + 1);
        memcpy(longer, stored, stored_bytes);
        longer[stored_bytes] = 1;
        assert_int_equal(uncompress(&codec, longer, stored_bytes + 1, back, SIZE, &wrong),
                         PETAL_CORRUPT);
        free(longer);
        /* What is there is not what the header claims. */
        free(back);
        back = test_allocate(SIZE + 1);
        assert_int_equal(uncompress(&codec, stored, stored_bytes, back, SIZE + 1, &wrong),
                         PETAL_CORRUPT);
        free(back);
        back = test_allocate(SIZE - 1);
        assert_int_equal(uncompress(&codec, stored, stored_bytes, back, SIZE - 1, &wrong),
                         PETAL_CORRUPT);
        assert_int_equal(uncompress(&codec, stored, stored_bytes, back, 0, &wrong), PETAL_CORRUPT);
        free(back);
        free(stored);
        hfile_codec_free(&codec);
    }
    free(payload);
}

/* Before memory is taken: a size that what is stored cannot have. */
TEST(claims_are_bounded_by_what_is_stored)
{
    assert_false(hfile_codec_can_hold(PETAL_HFILE_CODEC_NONE, 4, 5));
    assert_false(hfile_codec_can_hold(PETAL_HFILE_CODEC_LZ4, 100, 100 * 260));
    assert_false(hfile_codec_can_hold(PETAL_HFILE_CODEC_SNAPPY, 100, 100 * 33 + 32));
    assert_false(hfile_codec_can_hold(PETAL_HFILE_CODEC_GZ, 20, 1u << 20));
    for (size_t c = 0; c < COUNT_OF(CODECS); c++) {
        assert_false(hfile_codec_can_hold(CODECS[c], 1u << 30, (1u << 28) + 1));
        assert_true(hfile_codec_can_hold(CODECS[c], 1u << 30, 1u << 28));
    }
}

/* What the codecs allocate comes from the given allocator and goes back to it; where there is none
 * the call says so. (SNAPPY's and ZSTD's own memory is malloc's.) */
TEST(want_of_memory_is_told)
{
    static const enum petal_hfile_codec ASKING[] = {PETAL_HFILE_CODEC_GZ, PETAL_HFILE_CODEC_LZ4};
    uint8_t payload[100] = {0}, back[100], stored[1000];

    for (size_t c = 0; c < COUNT_OF(ASKING); c++) {
        struct test_allocator allocator;
        struct hfile_codec codec = {.kind = ASKING[c], .allocator = &allocator.table};
        size_t stored_bytes = 0;
        const char *wrong;
        uint64_t n = 1;

        assert_true(hfile_codec_bound(codec.kind, sizeof payload) <= sizeof stored);
        for (;; n++) {
            test_allocator_init(&allocator);
            test_allocator_fail_at(&allocator, n, true);
            enum petal_status status =
                hfile_codec_compress(&codec, payload, sizeof payload, stored, &stored_bytes);
            if (status == PETAL_OK)
                status =
                    hfile_codec_uncompress(&codec, stored, stored_bytes, back, sizeof back, &wrong);
            hfile_codec_free(&codec);
            assert_int_equal(test_allocator_live_blocks(&allocator), 0);
            if (status == PETAL_OK)
                break;
            assert_int_equal(status, PETAL_NO_MEMORY);
        }
        assert_true(n > 1);
    }
}
