/*
 * hostile_test.c -- files that lie: every byte of golden files changed, as it is and with checksums
 * made right, every truncation, numbers that claim too much, bytes taken out. What is not mended
 * gives the cells that were written, or an error that names the file; nothing leaks, and memory
 * stays within bounds that the file's size sets.
 */
#include "tests/hfile/drive.h"
#include "tests/hfile/golden.h"
#include "tests/hfile/mend.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of each kind: codec, encoding, filters, checksum, levels of index, meta blocks. */
static const char *const names[] = {"empty",
                                    "one-cell",
                                    "timestamps-extreme-diff",
                                    "meta-blocks",
                                    "equal-keys",
                                    "deletes-nobloom",
                                    "deletes-rowcol",
                                    "bulkload-result",
                                    "grid-gz-prefix-row-mvcc",
                                    "grid-lz4-none-row",
                                    "grid-lz4-prefix-prefix-tags-mvcc",
                                    "grid-snappy-none-nobloom",
                                    "grid-snappy-fastdiff-prefix-tags",
                                    "grid-none-diff-row-mvcc",
                                    "grid-none-fastdiff-prefix-tags",
                                    "grid-none-rowindexv1-rowcol-tags-mvcc",
                                    "checksum-crc32",
                                    "checksum-null",
                                    "index-3-levels"};

#define NAMES (sizeof names / sizeof *names)

/* Of so many mutants one is tried. */
static size_t
stride(size_t usual)
{
    if (getenv("PETAL_LONG") != NULL)
        return 1;
    return getenv("PETAL_SHORT") != NULL ? usual * 7 : usual;
}

/* ---- one mutant ---- */

static struct test_allocator allocator;
static size_t mutants, refused;
static uint64_t most_memory;

/* What blocks of such a file can unpack to, several times; and what a reader has in any case. */
static uint64_t
memory_bound(const char *name, size_t size)
{
    uint64_t codec = strncmp(name, "grid-gz", 7) == 0    ? 1032
                     : strncmp(name, "grid-lz4", 8) == 0 ? 255
                                                         : 24;

    return (2u << 20) + size * codec * 8;
}

static struct drive_result
drive(const char *name, const uint8_t *bytes, size_t size)
{
    struct drive_result result;
    uint64_t peak;

    test_allocator_forget_peak(&allocator);
    result = drive_hfile((petal_slice){bytes, size}, &allocator.table);
    peak = test_allocator_peak_bytes(&allocator);
    if (peak > most_memory)
        most_memory = peak;
    if (peak > memory_bound(name, size) && strstr(name, "diff") == NULL &&
        strstr(name, "prefix") == NULL)
        fail_msg("%s: %" PRIu64 " bytes of memory", name, peak);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    mutants++;
    refused += result.error.status != PETAL_OK;
    return result;
}

/* The cells that were written, or an error. */
static void
assert_same_or_refused(const char *name, const struct drive_result *whole,
                       const struct drive_result *mutant, size_t place)
{
    if (mutant->opened != PETAL_OK || mutant->scanned != PETAL_OK)
        return;
    if (mutant->cells != whole->cells || mutant->digest != whole->digest)
        fail_msg("%s: byte %zu is changed, and other cells are read", name, place);
}

static void
report(const char *what)
{
    printf("counted: %s: %zu mutants, %zu of them refused, at most %" PRIu64 " KiB of memory\n",
           what, mutants, refused, most_memory >> 10);
    mutants = refused = 0;
    most_memory = 0;
}

/* After the trailer's message there are zeros, of which one stands for many. */
static bool
is_padding(const uint8_t *bytes, size_t size, size_t at)
{
    return at + HFILE_TRAILER_BYTES > size && at + 8 < size && bytes[at] == 0 &&
           bytes[at + 1] == 0 && at % 256 != 0;
}

static void
flip_bytes(const char *name, bool mended)
{
    size_t size, step = stride(23);
    uint8_t *bytes = golden_bytes(name, &size), *mutant = test_allocate(size);
    struct drive_result whole = drive(name, bytes, size);
    bool has_checksums = strcmp(name, "checksum-null") != 0;

    assert_int_equal(whole.checked, PETAL_OK);
    for (size_t at = size % step; at < size; at += step) {
        static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
        struct drive_result result;

        if (is_padding(bytes, size, at))
            continue;
        memcpy(mutant, bytes, size);
        mutant[at] ^= changes[at % sizeof changes];
        if (mended)
            mend_hfile(mutant, size);
        result = drive(name, mutant, size);
        if (!mended && has_checksums)
            assert_same_or_refused(name, &whole, &result, at);
    }
    free(mutant);
    free(bytes);
}

TEST(every_byte_flipped)
{
    for (size_t i = 0; i < NAMES; i++)
        flip_bytes(names[i], false);
    report("bytes flipped");
}

TEST(every_byte_flipped_and_mended)
{
    for (size_t i = 0; i < NAMES; i++)
        flip_bytes(names[i], true);
    report("bytes flipped, checksums made right");
}

/* ---- truncations ---- */

TEST(every_truncation_is_refused)
{
    for (size_t i = 0; i < NAMES; i++) {
        size_t size, step = stride(3);
        uint8_t *bytes = golden_bytes(names[i], &size);

        for (size_t left = 0; left < size; left += left + step < size ? step : 1) {
            /* At its own size, so that reading after it is noticed. */
            uint8_t *part = test_allocate(left);
            struct drive_result result;

            memcpy(part, bytes, left);
            result = drive(names[i], part, left);
            assert_int_not_equal(result.opened, PETAL_OK);
            free(part);
        }
        free(bytes);
    }
    report("truncations");
}

/* ---- lies ---- */

static void
lie_everywhere(const char *name)
{
    static const uint32_t lies[] = {0,          1,          0x7fffffff, 0x80000000,
                                    0xffffffff, 0x00010000, 0x0fffffff, 0x10000001};
    size_t size, step = stride(31);
    uint8_t *bytes = golden_bytes(name, &size), *mutant = test_allocate(size);

    for (size_t at = size % step; at + 4 <= size; at += step) {
        if (is_padding(bytes, size, at))
            continue;
        memcpy(mutant, bytes, size);
        hfile_put_u32(mutant + at, lies[at / step % (sizeof lies / sizeof *lies)]);
        mend_hfile(mutant, size);
        drive(name, mutant, size);
    }
    free(mutant);
    free(bytes);
}

TEST(numbers_that_claim_too_much)
{
    for (size_t i = 0; i < NAMES; i++)
        lie_everywhere(names[i]);
    report("numbers that lie");
}

#define FIELDS (sizeof fields / sizeof *fields)
#define LIES   (sizeof lies / sizeof *lies)

/* Every size in the headers of all blocks, as large as it can be said: the file stays small. */
TEST(sizes_in_headers_that_claim_too_much)
{
    static const uint32_t lies[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x0fffffff,
                                    0x10000000, 33,         32,         0};
    static const size_t fields[] = {8, 12, 16, 20, 25, 29};
    const size_t step = stride(5);

    for (size_t i = 0; i < NAMES; i++) {
        size_t size, taken;
        uint8_t *bytes = golden_bytes(names[i], &size), *mutant = test_allocate(size);

        for (size_t at = 0; at + HFILE_TRAILER_BYTES < size; at += taken) {
            taken = mend_hfile_block(bytes + at, size - at);
            assert_true(taken > 0);
            for (size_t k = at % step; k < FIELDS * LIES; k += step) {
                memcpy(mutant, bytes, size);
                hfile_put_u32(mutant + at + fields[k % FIELDS], lies[k / FIELDS]);
                drive(names[i], mutant, size);
                mend_hfile_block(mutant + at, size - at);
                drive(names[i], mutant, size);
            }
        }
        free(mutant);
        free(bytes);
    }
    report("sizes in headers that lie");
}

/* Sizes that agree with each other, up to the bounds of the format, of blocks whose file ends long
 * before: no memory is taken for them. */
TEST(blocks_that_end_behind_the_file)
{
    static const uint32_t sizes[] = {0x00100000, 0x01000000, 0x0ff00000, 0x3fffffff, 0x7ff00000};

    for (size_t i = 0; i < NAMES; i++) {
        size_t size, taken;
        uint8_t *bytes = golden_bytes(names[i], &size), *mutant = test_allocate(size);

        for (size_t at = 0; at + HFILE_TRAILER_BYTES < size; at += taken) {
            uint32_t bytes_per_checksum = hfile_get_u32(bytes + at + 25);

            taken = mend_hfile_block(bytes + at, size - at);
            assert_true(taken > 0);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                uint64_t checksums = hfile_checksums_size(sizes[k], bytes_per_checksum);

                memcpy(mutant, bytes, size);
                hfile_put_u32(mutant + at + 8,
                              (uint32_t)(sizes[k] - HFILE_BLOCK_HEADER_BYTES + checksums));
                hfile_put_u32(mutant + at + 12, sizes[k] - HFILE_BLOCK_HEADER_BYTES);
                hfile_put_u32(mutant + at + 29, sizes[k]);
                assert_int_not_equal(drive(names[i], mutant, size).error.status, PETAL_OK);
            }
        }
        free(mutant);
        free(bytes);
    }
    assert_true(most_memory < 1u << 20);
    report("blocks that end behind the file");
}

/* ---- pieces ---- */

/* Blocks taken out, doubled, and exchanged, each with right checksums of its own. */
TEST(blocks_that_were_moved)
{
    for (size_t i = 0; i < NAMES; i++) {
        size_t size, taken, next;
        uint8_t *bytes = golden_bytes(names[i], &size);
        uint8_t *mutant = test_allocate(2 * size);
        struct drive_result whole = drive(names[i], bytes, size), result;

        for (size_t at = 0; at + HFILE_TRAILER_BYTES < size; at += taken) {
            taken = mend_hfile_block(bytes + at, size - at);
            assert_true(taken > 0);
            memcpy(mutant, bytes, at);
            memcpy(mutant + at, bytes + at + taken, size - at - taken);
            result = drive(names[i], mutant, size - taken);
            assert_same_or_refused(names[i], &whole, &result, at);
            memcpy(mutant + at, bytes + at, taken);
            memcpy(mutant + at + taken, bytes + at, size - at);
            result = drive(names[i], mutant, size + taken);
            assert_same_or_refused(names[i], &whole, &result, at);
            if (at + taken + HFILE_TRAILER_BYTES >= size)
                break;
            next = mend_hfile_block(bytes + at + taken, size - at - taken);
            memcpy(mutant, bytes, size);
            memcpy(mutant + at, bytes + at + taken, next);
            memcpy(mutant + at + next, bytes + at, taken);
            drive(names[i], mutant, size);
        }
        free(mutant);
        free(bytes);
    }
    report("blocks taken out, doubled, exchanged");
}

/* ---- memory ---- */

TEST(each_allocation_fails_once)
{
    size_t tried = 0;

    for (size_t i = 0; i < NAMES; i += 3) {
        size_t size;
        uint8_t *bytes = golden_bytes(names[i], &size);

        for (uint64_t n = 1;; n++) {
            struct drive_result result;

            test_allocator_fail_at(&allocator, n, false);
            result = drive_hfile((petal_slice){bytes, size}, &allocator.table);
            assert_int_equal(test_allocator_live_bytes(&allocator), 0);
            if (result.error.status == PETAL_OK)
                break;
            assert_true(result.error.status == PETAL_NO_MEMORY ||
                        result.error.status == PETAL_NOT_FOUND);
            if (result.error.status == PETAL_NOT_FOUND)
                break;
            tried++;
        }
        test_allocator_fail_at(&allocator, 0, false);
        free(bytes);
    }
    printf("counted: %zu allocations that failed\n", tried);
}

static int
set_up(void **state)
{
    (void)state;
    test_allocator_init(&allocator);
    return 0;
}

TEST_GROUP(set_up, NULL);
