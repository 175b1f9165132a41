/*
 * sst_test.c -- store files written and read back: iteration, seeks, lazy places, facts, trace,
 * what a writer refuses. (Filters: tests/sstable/bloom_test.c and tests/sstable/prefix_test.c.
 * Heads of blocks: tests/sstable/heads_test.c.  Damage and failing calls:
 * tests/sstable/damage_test.c.)
 */
#include "tests/disk/paths.h"
#include "tests/support/iter_walk.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

/* ---- round trips ---- */

static void
expect_round_trip(struct sst_fixture *f, const struct sst_options *options,
                  const struct cell_list *list)
{
    struct sst_reader *reader;
    petal_error error = {0};

    sst_fixture_write(f, options, list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_compare(f, reader, list), PETAL_OK);
    if (sst_reader_verify(reader, NULL, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(f->trace.bloom_ignored, 0);
    sst_reader_close(reader);
}

TEST(random_cells_come_back)
{
    static const size_t caches[] = {0, 100 << 10, 64 << 20};
    static const uint32_t blocks[] = {1024, 4096, 65536};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 400u : 36u); round++) {
        const struct cell_shape most = {.cells = 1500,
                                        .rows = 300,
                                        .qualifiers = 40,
                                        .row_bytes = 40,
                                        .value_bytes = 200,
                                        .marker_percent = round % 3 == 0 ? 0 : 20,
                                        .ttl_percent = round % 7 < 3 ? 0 : 25};
        struct sst_options options = sst_test_options();
        struct sst_fixture *f = sst_fixture_new(caches[round % 3]);

        options.block_bytes = blocks[(round / 3) % 3];
        options.compression = round % 2 == 0 ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_LZ4;
        options.bloom = (enum petal_bloom_type)(PETAL_BLOOM_NONE + round % 5);
        options.bloom_prefix_bytes = 1 + (uint32_t)test_random_below(&random, 30);
        options.bloom_layout = (round / 4) % 4;
        cell_list_random_within(&f->list, &most, &random);
        expect_round_trip(f, &options, &f->list);
        sst_fixture_free(f);
    }
}

/* Send one iterator here and there. */
static void
expect_random_seeks(struct sst_fixture *f, const struct sst_reader *reader,
                    const struct cell_list *list, bool lazy, unsigned seeks,
                    struct test_random *random)
{
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &f->context, false, lazy);
    walk_forward_at_random(&iter.iter, list, seeks, random);
    iter.iter.ops->close(&iter.iter);
}

TEST(seeks_find_their_places)
{
    struct cell_shape shape = {.cells = 3000,
                               .rows = 200,
                               .qualifiers = 20,
                               .row_bytes = 30,
                               .value_bytes = 60,
                               .marker_percent = 10};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 6; round++) {
        struct sst_fixture *f = sst_fixture_new(round < 3 ? 32 << 20 : 0);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;

        options.block_bytes = 1024u << (round % 3);
        cell_list_random(&f->list, &shape, &random);
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        expect_random_seeks(f, reader, &f->list, round % 2 == 1, 3000, &random);
        sst_fixture_end(f, reader);
    }
}

/* Long keys fill index nodes fast: three levels from a few thousand cells. */
TEST(indexes_of_many_levels_are_searched)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(64 << 20);
    struct sst_reader *reader;
    struct test_random random;
    uint8_t row[2000];

    test_random_init(&random, test_seed());
    memset(row, 'r', sizeof row);
    for (uint32_t i = 0; i < 3000; i++) {
        row[900] = (uint8_t)('a' + i / 676);
        row[1000] = (uint8_t)('a' + i / 26 % 26);
        row[1999] = (uint8_t)('a' + i % 26);
        cell_list_add(&f->list, slice_make(row, sizeof row), slice_from_text("q"), 5, i + 1,
                      PETAL_PUT, slice_make(row, 30));
    }
    options.block_bytes = 1024;
    options.compression = PETAL_COMPRESSION_NONE;
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    options.bloom_error_rate = 0.0001;
    expect_round_trip(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(reader->index.root.level >= 2);
    assert_int_equal(reader->facts.data_blocks, 3000);
    expect_random_seeks(f, reader, &f->list, false, 1000, &random);
    expect_random_seeks(f, reader, &f->list, true, 1000, &random);
    sst_fixture_end(f, reader);
}

/* A row over many blocks: its columns are found, and none of its blocks claims too much. */
TEST(wide_row_spans_blocks)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(32 << 20);
    struct sst_reader *reader;
    char qualifier[16];

    cell_list_put(&f->list, "before", "q", 1, 1, "v");
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(qualifier, sizeof qualifier, "c%06u", i);
        cell_list_put(&f->list, "wide", qualifier, 10, 2 * i + 10, "newer");
        cell_list_put(&f->list, "wide", qualifier, 9, 2 * i + 11, "older");
    }
    cell_list_add(&f->list, slice_from_text("wide"), slice_make("", 0), 5, 5, PETAL_DELETE_FAMILY,
                  slice_make("", 0));
    cell_list_sort(&f->list);
    options.block_bytes = 1024;
    options.bloom = PETAL_BLOOM_ROWCOL;
    expect_round_trip(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(reader->facts.data_blocks > 50);
    assert_int_equal(reader->facts.rows, 2);
    assert_false(reader->facts.qualifiers_exact);
    sst_fixture_end(f, reader);
}

TEST(largest_cells_fit)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(64 << 20);
    uint8_t *bytes = test_allocate(PETAL_MAX_VALUE_BYTES);

    memset(bytes, 0, PETAL_MAX_VALUE_BYTES);
    cell_list_put(&f->list, "\x01", "", 1, 1, "");
    for (uint8_t i = 1; i <= 3; i++) {
        bytes[PETAL_MAX_ROW_BYTES - 1] = i;
        cell_list_add(&f->list, slice_make(bytes, PETAL_MAX_ROW_BYTES),
                      slice_make(bytes, PETAL_MAX_QUALIFIER_BYTES), 1, i, PETAL_PUT,
                      slice_make(bytes, PETAL_MAX_VALUE_BYTES));
    }
    cell_list_sort(&f->list);
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    expect_round_trip(f, &options, &f->list);
    free(bytes);
    sst_fixture_free(f);
}

/* ---- lazy places ---- */

static void
fill_rows(struct cell_list *list, unsigned rows)
{
    char row[16];

    for (unsigned i = 0; i < rows; i++) {
        snprintf(row, sizeof row, "row%08u", i);
        cell_list_put(list, row, "q", 100 + i, i + 1, "0123456789012345678901234567890123456789");
    }
}

TEST(lazy_iterator_leaves_blocks_unread)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(32 << 20);
    struct sst_reader *reader;
    struct sst_iter iter;

    fill_rows(&f->list, 1000);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, true);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    assert_true(iter.iter.valid && iter.iter.pending);
    assert_int_equal(cell_compare(&iter.iter.cell, &f->list.cells[0]), 0);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 0);
    assert_int_equal(f->trace.cells_read, 0);

    /* Through the first block, to the place of the second. */
    assert_int_equal(iter.iter.ops->load(&iter.iter, NULL), PETAL_OK);
    for (size_t i = 0; !iter.iter.pending; i++) {
        assert_true(same_cell(&iter.iter.cell, &f->list.cells[i]));
        assert_true(data_block_is_plain(&iter.cursor.block));
        assert_int_equal(iter.iter.ops->next(&iter.iter, NULL), PETAL_OK);
        assert_true(iter.iter.valid);
    }
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 1);

    /* A step from a pending place reads the block and goes to its second cell. */
    assert_int_equal(iter.iter.ops->next(&iter.iter, NULL), PETAL_OK);
    assert_false(iter.iter.pending);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 2);
    iter.iter.ops->close(&iter.iter);
    sst_fixture_end(f, reader);
}

/* A pinned iterator goes on though its blocks were evicted and the epoch left. */
TEST(pinned_iterator_outlives_eviction)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(200 << 10);
    struct sst_reader *reader;
    struct sst_iter slow;

    fill_rows(&f->list, 20000);
    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    sst_iter_init(&slow, reader, &f->context, false, false);
    assert_int_equal(slow.iter.ops->seek_first(&slow.iter, NULL), PETAL_OK);
    for (size_t i = 0; i < 30; i++) {
        struct sst_iter fast;

        sst_iter_init(&fast, reader, &f->context, false, false);
        assert_int_equal(fast.iter.ops->seek_first(&fast.iter, NULL), PETAL_OK);
        while (fast.iter.valid)
            assert_int_equal(fast.iter.ops->next(&fast.iter, NULL), PETAL_OK);
        fast.iter.ops->close(&fast.iter);
        assert_true(same_cell(&slow.iter.cell, &f->list.cells[i]));
        assert_int_equal(slow.iter.ops->next(&slow.iter, NULL), PETAL_OK);
    }
    slow.iter.ops->close(&slow.iter);
    sst_fixture_end(f, reader);
}

/* ---- facts ---- */

TEST(facts_tell_what_is_inside)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    petal_slice nothing = slice_make("", 0);
    struct sst_reader *reader;
    const struct file_facts *facts;
    size_t size;

    options.origin = FILE_ORIGIN_ALL_FILES;
    options.written_ms = 1234;
    cell_list_put(&f->list, "b", "x", 70, 3, "v");
    cell_list_put(&f->list, "b", "y", 65, 9, "v");
    cell_list_give_ttl(&f->list, 0);
    cell_list_add(&f->list, slice_from_text("c"), slice_from_text("z"), 60, 5, PETAL_DELETE,
                  nothing);
    cell_list_give_ttl(&f->list, 1000);
    cell_list_add(&f->list, slice_from_text("d"), nothing, 90, 6, PETAL_DELETE_FAMILY_VERSION,
                  nothing);
    cell_list_sort(&f->list);
    sst_fixture_write(f, &options, &f->list);
    free(sst_fixture_bytes(f, &size));
    reader = sst_fixture_open(f);
    facts = sst_reader_facts(reader);
    assert_true(slice_equal(facts->row_min, slice_from_text("b")));
    assert_true(slice_equal(facts->row_max, slice_from_text("d")));
    assert_int_equal(facts->time_min, 60); /* neither kind hides older cells */
    assert_int_equal(facts->time_max, 90);
    assert_int_equal(facts->put_time_min, 65);
    assert_int_equal(facts->ttl_cells, 2);
    assert_int_equal(facts->death_min, 65);
    assert_int_equal(facts->death_max, 1060);
    assert_int_equal(facts->origin, FILE_ORIGIN_ALL_FILES);
    assert_int_equal(facts->written_ms, 1234);
    assert_int_equal(facts->sequence_min, 3);
    assert_int_equal(facts->sequence_max, 9);
    assert_int_equal(facts->cells, 4);
    assert_int_equal(facts->rows, 3);
    assert_int_equal(facts->puts, 2);
    assert_int_equal(facts->deletes, 1);
    assert_int_equal(facts->family_version_deletes, 1);
    assert_int_equal(facts->file_bytes, size);
    assert_true(facts->qualifiers_exact);
    assert_int_equal(facts->qualifier_count, 3);
    assert_true(facts_may_have_qualifier(sst_reader_facts(reader), slice_from_text("x")));
    assert_true(facts_may_have_qualifier(sst_reader_facts(reader), slice_from_text("z")));
    assert_false(facts_may_have_qualifier(sst_reader_facts(reader), slice_from_text("w")));
    assert_false(facts_may_have_qualifier(sst_reader_facts(reader), nothing));
    assert_int_equal(facts->bloom_keys, 3);
    assert_int_equal(reader->trailer.file_identity, TEST_IDENTITY);
    assert_string_equal(sst_reader_path(reader), SST_PATH);
    sst_fixture_end(f, reader);
}

/* A marker at T covers all that is older: a query of older times must not skip its file. */
TEST(hiding_markers_widen_the_time_range)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};
    struct sst_options options = sst_test_options();

    for (size_t i = 0; i < 2; i++) {
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;

        cell_list_add(&f->list, slice_from_text("r"), slice_make("", 0), 1000, 1, kinds[i],
                      slice_make("", 0));
        expect_round_trip(f, &options, &f->list);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_reader_facts(reader)->time_min, 0);
        assert_int_equal(sst_reader_facts(reader)->time_max, 1000);
        assert_true(sst_reader_facts(reader)->put_time_min == INT64_MAX);
        sst_fixture_end(f, reader);
    }
}

TEST(many_qualifiers_are_not_recorded)
{
    static const struct {
        unsigned count, bytes;
        bool exact;
    } cases[] = {{256, 8, true}, {257, 8, false}, {16, 1024, true}, {17, 1024, false}};

    for (size_t c = 0; c < 4; c++) {
        struct sst_options options = sst_test_options();
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;
        char qualifier[1025];

        for (unsigned i = 0; i < cases[c].count; i++) {
            snprintf(qualifier, sizeof qualifier, "%0*u", (int)cases[c].bytes, (i * 37) % 1000);
            cell_list_put(&f->list, i % 2 == 0 ? "even" : "odd", qualifier, 1, i + 1, "v");
        }
        cell_list_sort(&f->list);
        expect_round_trip(f, &options, &f->list);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_reader_facts(reader)->qualifiers_exact, cases[c].exact);
        for (size_t i = 0; i < f->list.count; i++)
            assert_true(
                facts_may_have_qualifier(sst_reader_facts(reader), f->list.cells[i].qualifier));
        assert_int_equal(
            facts_may_have_qualifier(sst_reader_facts(reader), slice_from_text("none")),
            !cases[c].exact);
        sst_fixture_end(f, reader);
    }
}

/* ---- trace ---- */

static void
read_one(struct sst_fixture *f, const struct sst_reader *reader, const struct cell *cell,
         bool keep_out)
{
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = keep_out};
    struct sst_iter iter;
    struct cell_key key;
    uint8_t buffer[256];

    cell_key_of(&key, buffer, cell);
    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, NULL), PETAL_OK);
    assert_true(same_cell(&iter.iter.cell, cell));
    iter.iter.ops->close(&iter.iter);
}

TEST(trace_counts_blocks_cached_and_fetched)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_reader *reader;

    fill_rows(&f->list, 1000);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    read_one(f, reader, &f->list.cells[500], true);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 1);
    read_one(f, reader, &f->list.cells[500], false);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 2); /* the first was not kept */
    read_one(f, reader, &f->list.cells[500], true);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], 2);
    assert_int_equal(f->trace.blocks_cached[PETAL_BLOCK_DATA], 1);
    assert_int_equal(f->trace.seeks, 3);
    assert_int_equal(f->trace.cells_read, 3);
    assert_true(f->trace.bytes_fetched > 0 && f->trace.bytes_fetched <= 2 * 4096);
    assert_true(sst_ask_row(f, reader, f->list.cells[500].row));
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_FILTER], 1);
    assert_true(sst_ask_row(f, reader, f->list.cells[500].row));
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_FILTER], 1);
    assert_int_equal(f->trace.bloom_probes, 2);
    sst_fixture_end(f, reader);
}

/* ---- refusals ---- */

TEST(writer_refuses_what_is_out_of_order)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct cell_list list = {0};
    petal_error error;

    cell_list_put(&list, "b", "q", 1, 1, "v");
    cell_list_put(&list, "a", "q", 1, 2, "v");
    assert_int_equal(sst_fixture_try_write(f, &options, &list, &error), PETAL_INVALID);
    assert_false(memory_vfs_exists(f->vfs, SST_PATH));
    cell_list_fini(&list);

    cell_list_put(&list, "a", "q", 1, 1, "v");
    cell_list_put(&list, "a", "q", 1, 1, "v"); /* the same place */
    assert_int_equal(sst_fixture_try_write(f, &options, &list, &error), PETAL_INVALID);
    cell_list_fini(&list);

    assert_int_equal(sst_fixture_try_write(f, &options, &list, &error),
                     PETAL_INVALID); /* no cells */
    assert_false(memory_vfs_exists(f->vfs, SST_PATH));
    sst_fixture_free(f);
}

TEST(writer_leaves_an_existing_file_alone)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    petal_error error;

    cell_list_put(&f->list, "a", "q", 1, 1, "v");
    sst_fixture_write(f, &options, &f->list);
    assert_int_equal(sst_fixture_try_write(f, &options, &f->list, &error), PETAL_IO);
    assert_true(memory_vfs_exists(f->vfs, SST_PATH));
    sst_fixture_free(f);
}

/* Write the list while the n-th sync fails (0: none does); *syncs: how many there were. */
static enum petal_status
write_with_sync_failing(const struct cell_list *list, size_t n, size_t *syncs)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    enum petal_status status;
    petal_error error;
    uint64_t before, call = 0;

    options.compression = PETAL_COMPRESSION_NONE;
    before = memory_vfs_calls(f->vfs);
    memory_vfs_trace(f->vfs, true);
    assert_int_equal(sst_fixture_try_write(f, &options, list, &error), PETAL_OK);
    *syncs = 0;
    for (size_t i = 0; i < memory_vfs_trace_count(f->vfs); i++) {
        struct memory_vfs_call made = memory_vfs_trace_at(f->vfs, i);

        if (made.operation == MEMORY_VFS_SYNC && ++*syncs == n)
            call = made.number - before;
    }
    memory_vfs_trace(f->vfs, false);
    vfs_remove(f->env.vfs, SST_PATH);
    memory_vfs_fail_at(f->vfs, call, EIO, false);
    status = sst_fixture_try_write(f, &options, list, &error);
    assert_true(n == 0 || strstr(error.text, "sync") != NULL);
    sst_fixture_free(f);
    return status;
}

TEST(long_files_are_synced_on_the_way)
{
    static char value[100000];
    struct cell_list list = {0};
    size_t syncs;

    for (unsigned i = 0; i < 200; i++) {
        char row[8];

        snprintf(row, sizeof row, "%04u", i);
        cell_list_add(&list, slice_from_text(row), slice_from_text("q"), 1, 1, PETAL_PUT,
                      slice_make(value, sizeof value));
    }
    assert_int_equal(write_with_sync_failing(&list, 0, &syncs), PETAL_OK);
    assert_int_equal(syncs, 3); /* after 8 and 16 megabytes, and at the end */
    for (size_t n = 1; n <= 3; n++)
        assert_int_equal(write_with_sync_failing(&list, n, &syncs), PETAL_IO);
    cell_list_fini(&list);
}
