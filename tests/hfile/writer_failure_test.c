/*
 * writer_failure_test.c -- what a writer refuses, by name, staying as it was; what it does when the
 * sink or memory fails; and that it takes no more memory however much is written.
 */
#include "tests/hfile/memory_sink.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define CREATED_MS 1700000000000

/* Of a file with all there is: several levels of index, several chunks of both filters. */
static const petal_hfile_write_options SMALL = {.codec = PETAL_HFILE_CODEC_LZ4,
                                                .encoding = PETAL_HFILE_ENCODING_ROW_INDEX_V1,
                                                .block_bytes = 300,
                                                .index_block_bytes = 300,
                                                .index_block_entries = 4,
                                                .bloom_chunk_bytes = 128,
                                                .with_tags = true,
                                                .with_sequences = true,
                                                .created_ms = CREATED_MS,
                                                .has_sequence_id = true,
                                                .sequence_id = 7};

/* Cell `number` of a file: every third row has a marker of the whole family in front of its put. */
struct numbered_cell {
    char row[24], value[40];
    petal_hfile_cell cell;
};

static const petal_hfile_cell *
numbered(struct numbered_cell *cell, uint64_t number, bool with_tags)
{
    bool is_marker = number % 4 == 0;
    uint64_t row = number / 4 * 3 + (number % 4 == 0 ? 0 : number % 4 - 1);
    int row_bytes = snprintf(cell->row, sizeof cell->row, "row%012llu", (unsigned long long)row);
    int value_bytes = snprintf(cell->value, sizeof cell->value, "value %llu",
                               (unsigned long long)(number * number));

    cell->cell = (petal_hfile_cell){.row = {cell->row, (size_t)row_bytes},
                                    .family = {"cf", 2},
                                    .qualifier = {"q", is_marker ? 0 : 1},
                                    .value = {cell->value, is_marker ? 0 : (size_t)value_bytes},
                                    .timestamp = CREATED_MS + (int64_t)number,
                                    .type = is_marker ? PETAL_DELETE_FAMILY : PETAL_PUT,
                                    .sequence = (int64_t)number};
    if (with_tags)
        cell->cell.tags = (petal_slice){"\0\4Axyz", number % 2 * 6};
    return &cell->cell;
}

/* All calls of a writer; the first failure. */
static enum petal_status
write_file(const petal_hfile_sink *sink, const petal_hfile_write_options *options, uint64_t cells,
           petal_error *error)
{
    petal_hfile_writer *writer;
    struct numbered_cell cell;
    uint64_t bytes;
    enum petal_status status = petal_hfile_writer_new(sink, options, &writer, error);

    for (uint64_t i = 0; i < cells && status == PETAL_OK; i++)
        status = petal_hfile_writer_add(writer, numbered(&cell, i, options->with_tags), error);
    if (status == PETAL_OK)
        status = petal_hfile_writer_info(writer, (petal_slice){"KEY", 3}, (petal_slice){"value", 5},
                                         error);
    if (status == PETAL_OK)
        status = petal_hfile_writer_meta(writer, (petal_slice){"name", 4},
                                         (petal_slice){"block", 5}, error);
    if (status == PETAL_OK)
        status = petal_hfile_writer_finish(writer, &bytes, error);
    if (writer != NULL && status != PETAL_OK) {
        petal_error again;

        assert_int_equal(petal_hfile_writer_add(writer, numbered(&cell, cells, false), &again),
                         status);
        assert_int_equal(petal_hfile_writer_finish(writer, &bytes, &again), status);
        assert_non_null(strstr(again.text, "an earlier call failed"));
    }
    petal_hfile_writer_free(writer);
    return status;
}

/* ---- what is refused ---- */

static void
expect_refused(petal_hfile_writer *writer, const petal_hfile_cell *cell, const char *why)
{
    petal_error error;

    assert_int_equal(petal_hfile_writer_add(writer, cell, &error), PETAL_INVALID);
    if (strstr(error.text, why) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", why, error.text);
    assert_non_null(strstr(error.text, "memory"));
}

TEST(cells_that_a_file_cannot_have_are_refused_by_name)
{
    petal_hfile_write_options options = {.created_ms = CREATED_MS};
    struct memory_sink memory, plain_memory;
    petal_hfile_sink sink = memory_sink_begin(&memory),
                     plain_sink = memory_sink_begin(&plain_memory);
    char *longest = test_allocate(1u << 27);
    petal_hfile_writer *writer;
    struct numbered_cell numbered_cell;
    petal_hfile_cell good, bad;
    petal_error error;

    memset(longest, 'x', 1u << 27);
    assert_int_equal(write_file(&plain_sink, &options, 5, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_new(&sink, &options, &writer, &error), PETAL_OK);
    for (uint64_t i = 0; i < 5; i++) {
        good = *numbered(&numbered_cell, i, false);
        bad = good, bad.row.size = 0;
        expect_refused(writer, &bad, "a row has at least one byte");
        bad = good, bad.row = (petal_slice){longest, 32768};
        expect_refused(writer, &bad, "its row is longer than 32767 bytes");
        bad = good, bad.family = (petal_slice){longest, 128};
        expect_refused(writer, &bad, "its family is longer than 127 bytes");
        bad = good, bad.qualifier = (petal_slice){longest, 1u << 26};
        expect_refused(writer, &bad, "its qualifier is longer");
        bad = good, bad.value = (petal_slice){longest, 1u << 27};
        expect_refused(writer, &bad, "its value is longer");
        bad = good, bad.tags = (petal_slice){longest, 65536};
        expect_refused(writer, &bad, "its tags are longer than 65535 bytes");
        bad = good, bad.tags = (petal_slice){"\0\1A", 3};
        expect_refused(writer, &bad, "it has tags");
        bad = good, bad.timestamp = -1;
        expect_refused(writer, &bad, "its timestamp is below 0");
        bad = good, bad.type = 0;
        expect_refused(writer, &bad, "its type");
        bad = good, bad.type = 255;
        expect_refused(writer, &bad, "its type");
        bad = good, bad.sequence = -1;
        expect_refused(writer, &bad, "its sequence is below 0");
        if (i > 0) {
            bad = good, bad.family = (petal_slice){"cg", 2};
            expect_refused(writer, &bad, "it is of another family");
            bad = *numbered(&numbered_cell, i - 1, false), bad.timestamp++;
            expect_refused(writer, &bad, "it does not come after the cell before");
            bad = good, bad.row = (petal_slice){"ro", 2};
            expect_refused(writer, &bad, "it does not come after the cell before");
        }
        assert_int_equal(petal_hfile_writer_add(writer, numbered(&numbered_cell, i, false), &error),
                         PETAL_OK);
    }
    assert_int_equal(
        petal_hfile_writer_info(writer, (petal_slice){"KEY", 3}, (petal_slice){"value", 5}, &error),
        PETAL_OK);
    assert_int_equal(petal_hfile_writer_meta(writer, (petal_slice){"name", 4},
                                             (petal_slice){"block", 5}, &error),
                     PETAL_OK);
    assert_int_equal(petal_hfile_writer_finish(writer, NULL, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    /* Nothing of what was refused is in the file. */
    assert_int_equal(memory.bytes.size, plain_memory.bytes.size);
    assert_memory_equal(memory.bytes.bytes, plain_memory.bytes.bytes, memory.bytes.size);
    memory_sink_free(&memory);
    memory_sink_free(&plain_memory);
    free(longest);
}

TEST(tags_that_are_none_are_refused)
{
    static const petal_slice WRONG[] = {
        {"\0", 1}, {"\0\0", 2}, {"\0\2A", 3}, {"\0\1A\0", 4}, {"\0\1A\0\3Bx", 7}};
    petal_hfile_write_options options = {.with_tags = true};
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    petal_hfile_writer *writer;
    petal_error error;
    petal_hfile_cell cell = {.row = {"r", 1}, .type = PETAL_PUT};

    assert_int_equal(petal_hfile_writer_new(&sink, &options, &writer, &error), PETAL_OK);
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        cell.tags = WRONG[i];
        expect_refused(writer, &cell, "its tags do not fit");
    }
    cell.tags = (petal_slice){"\0\1A\0\3Bxy", 8};
    assert_int_equal(petal_hfile_writer_add(writer, &cell, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    memory_sink_free(&memory);
}

/* Cells with equal keys share a block, and that has an end. */
TEST(equal_keys_without_end_are_refused)
{
    petal_hfile_write_options options = {.created_ms = CREATED_MS, .bloom = PETAL_HFILE_BLOOM_NONE};
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    petal_hfile_writer *writer;
    petal_error error;
    char *value = test_allocate(30u << 20);
    petal_hfile_cell cell = {.row = {"r", 1}, .value = {value, 30u << 20}, .type = PETAL_PUT};

    memset(value, 0, 30u << 20);
    assert_int_equal(petal_hfile_writer_new(&sink, &options, &writer, &error), PETAL_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(petal_hfile_writer_add(writer, &cell, &error), PETAL_OK);
    expect_refused(writer, &cell, "more cells with this key than a block holds");
    cell.timestamp = 0, cell.row.data = "s";
    assert_int_equal(petal_hfile_writer_add(writer, &cell, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_finish(writer, NULL, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    memory_sink_free(&memory);
    free(value);
}

TEST(nothing_is_taken_behind_the_end)
{
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    petal_hfile_writer *writer;
    struct numbered_cell cell;
    petal_error error;
    petal_slice name = {"n", 1};
    uint64_t bytes;

    assert_int_equal(petal_hfile_writer_new(&sink, NULL, &writer, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_finish(writer, &bytes, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_add(writer, numbered(&cell, 0, false), &error),
                     PETAL_INVALID);
    assert_non_null(strstr(error.text, "finished"));
    assert_int_equal(petal_hfile_writer_info(writer, name, name, &error), PETAL_INVALID);
    assert_int_equal(petal_hfile_writer_meta(writer, name, name, &error), PETAL_INVALID);
    assert_int_equal(petal_hfile_writer_finish(writer, &bytes, &error), PETAL_INVALID);
    assert_int_equal(memory.bytes.size, bytes);
    petal_hfile_writer_free(writer);
    petal_hfile_writer_free(NULL);
    memory_sink_free(&memory);
}

TEST(names_that_are_taken_are_refused)
{
    static const char *const TAKEN[] = {"hfile.LASTKEY",     "hfile.",
                                        "BLOOM_FILTER_TYPE", "MAX_SEQ_ID_KEY",
                                        "KEY_VALUE_VERSION", "DATA_BLOCK_ENCODING",
                                        "TIMERANGE",         ""};
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    petal_slice value = {"v", 1}, twice = {"TWICE", 5};
    petal_hfile_writer *writer;
    petal_error error;

    assert_int_equal(petal_hfile_writer_new(&sink, NULL, &writer, &error), PETAL_OK);
    for (size_t i = 0; i < COUNT_OF(TAKEN); i++) {
        petal_slice key = {TAKEN[i], strlen(TAKEN[i])};

        assert_int_equal(petal_hfile_writer_info(writer, key, value, &error), PETAL_INVALID);
        assert_non_null(strstr(error.text, TAKEN[i]));
    }
    assert_int_equal(petal_hfile_writer_info(writer, twice, value, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_info(writer, twice, value, &error), PETAL_INVALID);
    assert_int_equal(petal_hfile_writer_meta(writer, twice, value, &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_meta(writer, twice, value, &error), PETAL_INVALID);
    assert_int_equal(petal_hfile_writer_finish(writer, NULL, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    memory_sink_free(&memory);
}

TEST(options_that_cannot_be_meant_are_refused_by_name)
{
    static const struct {
        petal_hfile_write_options options;
        const char *field;
    } WRONG[] = {
        {{.size = 3}, "petal_hfile_write_options is 3"},
        {{.codec = (enum petal_hfile_codec)6}, "codec"},
        {{.codec = (enum petal_hfile_codec) - 1}, "codec"},
        {{.encoding = (enum petal_hfile_encoding)6}, "encoding"},
        {{.bloom = (enum petal_hfile_bloom_type)5}, "bloom"},
        {{.checksum = (enum petal_hfile_checksum)4}, "checksum"},
        {{.bloom = PETAL_HFILE_BLOOM_ROW_PREFIX}, "bloom_prefix_bytes"},
        {{.bloom = PETAL_HFILE_BLOOM_ROW_PREFIX, .bloom_prefix_bytes = 32768},
         "bloom_prefix_bytes"},
        {{.bloom_prefix_bytes = 3}, "bloom_prefix_bytes"},
        {{.block_bytes = (32u << 20) + 1}, "block_bytes"},
        {{.index_block_bytes = (32u << 20) + 1}, "index_block_bytes"},
        {{.bloom_chunk_bytes = (128u << 20) + 1}, "bloom_chunk_bytes"},
        {{.bloom_error_rate = 1}, "bloom_error_rate"},
        {{.bloom_error_rate = -0.5}, "bloom_error_rate"},
        {{.bloom_error_rate = 1e-300, .bloom_chunk_bytes = 128}, "bloom_chunk_bytes"},
        {{.bytes_per_checksum = 32}, "bytes_per_checksum"},
        {{.bytes_per_checksum = UINT32_MAX}, "bytes_per_checksum"},
        {{.is_plain = true, .bloom = PETAL_HFILE_BLOOM_ROW}, "is_plain"},
    };
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory), none = {&memory, "memory", NULL};
    petal_hfile_writer *writer;
    petal_error error;

    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        assert_int_equal(petal_hfile_writer_new(&sink, &WRONG[i].options, &writer, &error),
                         PETAL_INVALID);
        assert_null(writer);
        if (strstr(error.text, WRONG[i].field) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", WRONG[i].field, error.text);
    }
    assert_int_equal(petal_hfile_writer_new(&none, NULL, &writer, &error), PETAL_INVALID);
    assert_int_equal(petal_hfile_writer_new(NULL, NULL, &writer, &error), PETAL_INVALID);
}

/* ---- failures ---- */

/* At whichever write: its status, and its words, come back; nothing is leaked. */
TEST(a_failing_sink_ends_the_file)
{
    petal_hfile_write_options options = SMALL;
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    struct test_allocator allocator;
    petal_error error;
    uint64_t writes;

    test_allocator_init(&allocator);
    options.allocator = &allocator.table;
    memory.forgets = true;
    assert_int_equal(write_file(&sink, &options, 600, &error), PETAL_OK);
    writes = memory.writes;
    assert_true(writes > 100);
    for (uint64_t n = 0; n < writes; n++) {
        memory.writes_left = n;
        assert_int_equal(write_file(&sink, &options, 600, &error), PETAL_NO_SPACE);
        assert_non_null(strstr(error.text, "the sink is full"));
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    }
    memory_sink_free(&memory);
}

static enum petal_status
say_nothing(void *context, const void *bytes, size_t size, petal_error *error)
{
    (void)context, (void)bytes, (void)size, (void)error;
    return PETAL_IO;
}

TEST(a_sink_that_says_nothing_is_named)
{
    petal_hfile_sink sink = {NULL, "the silent one", say_nothing};
    petal_error error;

    assert_int_equal(write_file(&sink, &SMALL, 600, &error), PETAL_IO);
    assert_int_equal(error.status, PETAL_IO);
    assert_non_null(strstr(error.text, "the silent one"));
}

/* Whichever allocation fails, alone or with all after it. */
TEST(want_of_memory_ends_the_file)
{
    static const enum petal_hfile_bloom_type BLOOMS[] = {PETAL_HFILE_BLOOM_ROW,
                                                         PETAL_HFILE_BLOOM_ROWCOL};

    for (size_t b = 0; b < COUNT_OF(BLOOMS); b++)
        for (int permanently = 0; permanently < 2; permanently++) {
            uint64_t n = 1;

            for (enum petal_status status = PETAL_NO_MEMORY; status != PETAL_OK; n++) {
                petal_hfile_write_options options = SMALL;
                struct memory_sink memory;
                petal_hfile_sink sink = memory_sink_begin(&memory);
                struct test_allocator allocator;
                petal_error error;

                test_allocator_init(&allocator);
                test_allocator_fail_at(&allocator, n, permanently);
                options.allocator = &allocator.table;
                options.bloom = BLOOMS[b];
                memory.forgets = true;
                status = write_file(&sink, &options, 600, &error);
                assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
                assert_int_equal(test_allocator_live_blocks(&allocator), 0);
                assert_int_equal(status == PETAL_OK, test_allocator_failures(&allocator) == 0);
                memory_sink_free(&memory);
            }
            assert_true(n > 40);
        }
}

/* ---- memory ---- */

static uint64_t
peak_of(uint64_t cells, uint64_t *calls)
{
    petal_hfile_write_options options = {.codec = PETAL_HFILE_CODEC_LZ4,
                                         .block_bytes = 4096,
                                         .index_block_bytes = 8192,
                                         .bloom_chunk_bytes = 8192};
    struct test_allocator allocator;
    struct memory_sink memory;
    petal_hfile_sink sink = memory_sink_begin(&memory);
    petal_error error;

    test_allocator_init(&allocator);
    options.allocator = &allocator.table;
    memory.forgets = true;
    assert_int_equal(write_file(&sink, &options, cells, &error), PETAL_OK);
    *calls = test_allocator_calls(&allocator);
    return test_allocator_peak_bytes(&allocator);
}

/* Eight times the cells, in about 1,000 and 8,000 blocks, are some entries of roots more. Nor does
 * a cell cost a call of the allocator. */
TEST(memory_does_not_grow_with_the_file)
{
    uint64_t calls, calls_before, before = peak_of(150000, &calls_before),
                                  peak = peak_of(1200000, &calls);

    assert_in_range(before, 1, 256u << 10);
    assert_in_range(peak, before, before + (64u << 10));
    assert_in_range(calls, calls_before, calls_before + 30);
}
