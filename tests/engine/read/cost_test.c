/*
 * cost_test.c -- what reads do, as receipts and statistics tell it, and that the two agree; that a
 * warm get allocates nothing; that a get of an absent row touches data blocks only for false
 * positives of the filters.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <stdio.h>

#define FILES         4
#define ROWS_PER_FILE 300

struct store {
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    petal_receipt *receipt;
};

static petal_slice
number_text(char bytes[16], const char *prefix, unsigned number)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "%s%05u", prefix, number));
}

static void
begin(struct store *store, enum petal_bloom_type bloom, size_t cache_bytes)
{
    petal_family_options family = {.name = slice_from_text("f"),
                                   .bloom = bloom,
                                   .bloom_rate_per_file = true,
                                   .block_bytes = 1024};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};

    fixture_init(&store->fixture, 12);
    store->fixture.options.cache_bytes = cache_bytes;
    fixture_must_open(&store->fixture);
    MUST(petal_table_create(store->fixture.db, &options, &store->table, WHY));
    store->family = petal_table_family_at(store->table, 0);
    MUST(petal_result_new(store->fixture.db, &store->result, WHY));
    MUST(petal_receipt_new(store->fixture.db, &store->receipt, WHY));
}

static void
end(struct store *store)
{
    petal_result_free(store->result);
    petal_receipt_free(store->receipt);
    petal_result_free(NULL);
    petal_receipt_free(NULL);
    fixture_fini(&store->fixture);
}

static void
put(struct store *store, petal_slice row, const char *qualifier, int64_t timestamp)
{
    MUST(petal_put(store->family, row, slice_from_text(qualifier), timestamp,
                   slice_from_text("some value"), NULL, WHY));
}

static void
flush(struct store *store)
{
    MUST(petal_flush(store->fixture.db, NULL, WHY));
}

/* FILES files over the same range of rows, each with rows of its own: row r is in file r %
 * FILES. */
static void
fill(struct store *store)
{
    char bytes[16];

    for (unsigned file = 0; file < FILES; file++) {
        for (unsigned i = 0; i < ROWS_PER_FILE; i++)
            put(store, number_text(bytes, "row", i * FILES + file), "q", 100 * (file + 1));
        put(store, slice_from_text("a"), "q", 100 * (file + 1));
        put(store, slice_from_text("z"), "q", 100 * (file + 1));
        flush(store);
    }
}

static size_t
get(struct store *store, petal_slice row, const petal_read_options *options)
{
    petal_read_options read = {0};

    if (options != NULL)
        read = *options;
    read.receipt = store->receipt;
    MUST(petal_get(store->table, row, &read, store->result, WHY));
    return petal_result_count(store->result);
}

/* ---- receipts ---- */

/* "mem" or the file's place by age (1: oldest), then why it was skipped, for each source. */
static void
expect_receipt(const struct store *store, const char *expected)
{
    char line[300] = "";
    size_t used = 0;

    for (size_t i = 0; i < petal_receipt_count(store->receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(store->receipt, i);
        char name[16] = "mem";

        if (source->file_number != 0)
            snprintf(name, sizeof name, "%u", (unsigned)(source->time_max / 100));
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s:%s", i > 0 ? ", " : "",
                                 name, petal_skip_text(source->skip));
    }
    assert_string_equal(line, expected);
    assert_null(petal_receipt_at(store->receipt, petal_receipt_count(store->receipt)));
}

TEST(test_receipt_tells_why_files_were_skipped)
{
    struct store store;
    petal_read_options read = {0};
    petal_column column = {.qualifier = slice_from_text("q")};
    char bytes[16];

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    fill(&store);
    column.family = store.family;
    /* In the oldest file only: the filters rule out the others. */
    assert_int_equal(get(&store, number_text(bytes, "row", 400), NULL), 1);
    expect_receipt(&store, "4:Bloom filter, 3:Bloom filter, 2:Bloom filter, 1:read");
    assert_int_equal(petal_receipt_at(store.receipt, 0)->filter_probes, 1);
    assert_int_equal(petal_receipt_at(store.receipt, 0)->filter_negatives, 1);
    assert_int_equal(petal_receipt_at(store.receipt, 3)->seeks, 1);
    assert_true(petal_receipt_bytes_returned(store.receipt) > 10);
    /* In all files: for a column the newest one settles it, for the whole row it does not. */
    read.columns = &column;
    read.column_count = 1;
    assert_int_equal(get(&store, slice_from_text("a"), &read), 1);
    expect_receipt(&store, "4:read, 3:found newer, 2:found newer, 1:found newer");
    read.without = PETAL_WITHOUT(PETAL_SKIP_FOUND_NEWER);
    assert_int_equal(get(&store, slice_from_text("a"), &read), 1);
    expect_receipt(&store, "4:read, 3:read, 2:read, 1:read");
    assert_int_equal(petal_receipt_cells_hidden(store.receipt), 3);
    read.without = 0;
    column.qualifier = slice_from_text("none");
    assert_int_equal(get(&store, slice_from_text("a"), &read), 0);
    expect_receipt(&store, "4:columns, 3:columns, 2:columns, 1:columns");
    read = (petal_read_options){.has_time_range = true, .time_min = 200, .time_limit = 300};
    assert_int_equal(get(&store, slice_from_text("a"), &read), 1);
    expect_receipt(&store, "4:time range, 3:time range, 2:read, 1:time range");
    assert_int_equal(get(&store, slice_from_text("~"), NULL), 0);
    expect_receipt(&store, "4:row range, 3:row range, 2:row range, 1:row range");
    end(&store);
}

TEST(test_receipt_of_memtables)
{
    struct store store;
    petal_stats before, after;

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    put(&store, slice_from_text("old"), "q", 100);
    put(&store, slice_from_text("z"), "q", 100);
    flush(&store);
    put(&store, slice_from_text("new"), "q", 200);
    petal_stats_get(store.fixture.db, &before);
    assert_int_equal(get(&store, slice_from_text("new"), NULL), 1);
    expect_receipt(&store, "mem:read, 1:row range");
    assert_int_equal(petal_receipt_at(store.receipt, 0)->filter_probes, 1);
    assert_int_equal(petal_receipt_at(store.receipt, 0)->filter_negatives, 0);
    assert_int_equal(petal_receipt_at(store.receipt, 0)->seeks, 1);
    assert_int_equal(petal_receipt_at(store.receipt, 0)->cells_read, 1);
    assert_int_equal(get(&store, slice_from_text("old"), NULL), 1);
    expect_receipt(&store, "mem:Bloom filter, 1:read");
    assert_int_equal(petal_receipt_at(store.receipt, 0)->filter_negatives, 1);
    assert_int_equal(petal_receipt_at(store.receipt, 0)->cells_read, 0);
    petal_stats_get(store.fixture.db, &after);
    assert_int_equal(after.memtables_considered - before.memtables_considered, 2);
    assert_int_equal(after.memtables_skipped - before.memtables_skipped, 1);
    end(&store);
}

/* ---- statistics ---- */

static uint64_t
skipped(const petal_stats *stats)
{
    return stats->skipped_found_newer + stats->skipped_row_range + stats->skipped_time_range +
           stats->skipped_columns + stats->skipped_bloom;
}

/* The sum of all receipts is what the statistics say. */
TEST(test_statistics_add_up)
{
    uint64_t considered = 0, read = 0, probes = 0, data = 0, bytes_fetched = 0;
    struct test_random random;
    struct store store;
    petal_stats before, after;
    char bytes[16];

    begin(&store, PETAL_BLOOM_ROW, PETAL_NO_CACHE);
    fill(&store);
    test_random_init(&random, test_seed());
    petal_stats_get(store.fixture.db, &before);
    for (int i = 0; i < 500; i++) {
        petal_read_options options = {
            .has_time_range = i % 3 == 0,
            .without = (unsigned)test_random_below(&random, 1u << PETAL_SKIP_COUNT),
        };

        if (options.has_time_range) {
            options.time_min = (int64_t)test_random_below(&random, 500);
            options.time_limit = 500;
        }
        get(&store, number_text(bytes, "row", (unsigned)test_random_below(&random, 2000)),
            &options);
        for (size_t k = 0; k < petal_receipt_count(store.receipt); k++) {
            const petal_receipt_source *source = petal_receipt_at(store.receipt, k);

            assert_int_not_equal(source->file_number, 0);
            considered++;
            read += source->skip == PETAL_SKIP_NONE;
            probes += source->filter_probes;
            data += source->blocks_fetched[PETAL_BLOCK_DATA];
            bytes_fetched += source->bytes_fetched;
        }
    }
    petal_stats_get(store.fixture.db, &after);
    assert_int_equal(after.gets - before.gets, 500);
    assert_int_equal(considered, 500 * FILES);
    assert_int_equal(after.files_considered - before.files_considered, considered);
    assert_int_equal(after.files_read - before.files_read, read);
    assert_int_equal(skipped(&after) - skipped(&before), considered - read);
    assert_int_equal(after.filter_probes - before.filter_probes, probes);
    assert_int_equal(after.data_fetched - before.data_fetched, data);
    assert_int_equal(after.bytes_fetched - before.bytes_fetched, bytes_fetched);
    end(&store);
}

TEST(test_statistics_of_writes)
{
    struct store store;
    petal_stats stats;

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    fill(&store);
    petal_stats_get(store.fixture.db, &stats);
    assert_int_equal(stats.cells_written, FILES * (ROWS_PER_FILE + 2));
    assert_int_equal(stats.batches_written, stats.cells_written);
    assert_int_equal(stats.flushes, FILES);
    assert_int_equal(stats.flush_cells, stats.cells_written);
    assert_true(stats.log_bytes > stats.cells_written * 20);
    assert_int_equal(stats.log_syncs, FILES); /* one before each file */
    assert_true(stats.flush_bytes > 0);
    assert_int_equal(stats.cache_capacity, (size_t)1 << 20);
    assert_int_equal(fixture_count_files(&store.fixture, ".log"),
                     1); /* made ahead; the others went with their flush */
    assert_int_equal(fixture_count_files(&store.fixture, ".sst"), FILES);
    assert_int_equal(petal_table_memtable_bytes(store.table), 0);
    put(&store, slice_from_text("a"), "q", 900);
    assert_true(petal_table_memtable_bytes(store.table) > 0);
    end(&store);
}

static bool
check_file(void *argument, const petal_file_info *file)
{
    uint64_t *cells = argument;

    assert_true(slice_equal(file->family, slice_from_text("f")));
    assert_int_equal(file->cells, ROWS_PER_FILE + 2);
    assert_int_equal(file->rows, file->cells);
    assert_int_equal(file->markers, 0);
    assert_true(slice_equal(file->row_min, slice_from_text("a")));
    assert_true(slice_equal(file->row_max, slice_from_text("z")));
    assert_int_equal(file->time_min, file->time_max);
    assert_int_equal(file->sequence_max - file->sequence_min + 1, file->cells);
    assert_int_equal(file->bloom, PETAL_BLOOM_ROW);
    assert_int_equal(file->bloom_keys, file->rows);
    assert_true(file->bloom_chunks > 0 && file->data_blocks > 3);
    assert_true(file->file_bytes > file->data_bytes + file->index_bytes + file->filter_bytes);
    *cells += file->cells;
    return true;
}

TEST(test_facts_of_files)
{
    struct store store;
    uint64_t cells = 0;

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    fill(&store);
    MUST(petal_table_files(store.table, check_file, &cells, WHY));
    assert_int_equal(cells, FILES * (ROWS_PER_FILE + 2));
    end(&store);
}

/* ---- cost ---- */

/* With the cache warm, gets of every kind allocate nothing, and neither does their receipt. */
TEST(test_warm_gets_allocate_nothing)
{
    struct store store;
    uint64_t calls = 0;
    petal_read_options read = {0};
    petal_column column = {.qualifier = slice_from_text("q")};
    char bytes[16];

    begin(&store, PETAL_BLOOM_ROW, (size_t)8 << 20);
    fill(&store);
    put(&store, slice_from_text("row00001"), "r", 700);
    column.family = store.family;
    for (int pass = 0; pass < 2; pass++) {
        calls = test_allocator_calls(&store.fixture.allocator);
        for (unsigned i = 0; i < 1300; i++) { /* the last ones are absent */
            petal_slice row = number_text(bytes, "row", i);

            get(&store, row, NULL);
            read.columns = &column;
            read.column_count = i % 2;
            MUST(petal_get(store.table, row, &read, store.result, WHY));
        }
    }
    assert_int_equal(test_allocator_calls(&store.fixture.allocator), calls);
    end(&store);
}

/* Rows that are not there, inside the range of the files: every data block touched is a counted
 * false positive. */
TEST(test_absent_rows_touch_no_data)
{
    enum { GETS = 3000 };
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_ROW, PETAL_BLOOM_ROW_ROWCOL};

    for (size_t b = 0; b < 2; b++) {
        struct store store;
        petal_stats before, after;
        uint64_t touched;
        char bytes[16];

        begin(&store, blooms[b], (size_t)1 << 20);
        fill(&store);
        petal_stats_get(store.fixture.db, &before);
        for (unsigned i = 0; i < GETS; i++)
            assert_int_equal(get(&store, number_text(bytes, "rox", i), NULL), 0);
        petal_stats_get(store.fixture.db, &after);
        touched = after.data_cached + after.data_fetched - before.data_cached - before.data_fetched;
        assert_int_equal(after.files_considered - before.files_considered, GETS * FILES);
        assert_int_equal(touched, after.files_read - before.files_read);
        assert_int_equal(touched, after.filter_false_positives - before.filter_false_positives);
        /* 1 % is asked for; three times that would be a broken filter. */
        assert_in_range(touched, 1, GETS * FILES * 3 / 100);
        end(&store);
    }
}

TEST(test_reads_kept_out_of_the_cache)
{
    petal_read_options read = {.keep_out_of_cache = true};
    struct store store;
    petal_stats before, after;
    char bytes[16];

    begin(&store, PETAL_BLOOM_ROW, (size_t)8 << 20);
    fill(&store);
    petal_stats_get(store.fixture.db, &before);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(get(&store, number_text(bytes, "row", i), &read), 1);
    petal_stats_get(store.fixture.db, &after);
    assert_int_equal(after.cache_inserted[PETAL_BLOCK_DATA],
                     before.cache_inserted[PETAL_BLOCK_DATA]);
    assert_true(after.data_fetched - before.data_fetched >= 200);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(get(&store, number_text(bytes, "row", i), NULL), 1);
    petal_stats_get(store.fixture.db, &after);
    assert_true(after.cache_inserted[PETAL_BLOCK_DATA] > before.cache_inserted[PETAL_BLOCK_DATA]);
    end(&store);
}

/* ---- several versions ---- */

#define VERSION_FILES 10

/* File k of VERSION_FILES holds `per_file` versions of r:q, from timestamp 100 * k on. */
static void
fill_versions(struct store *store, unsigned per_file)
{
    petal_family_options family = {.name = slice_from_text("f"), .versions = 100};
    petal_table_options options = {.families = &family, .family_count = 1};

    MUST(petal_table_alter(store->table, &options, WHY));
    for (unsigned file = 1; file <= VERSION_FILES; file++) {
        for (unsigned i = 0; i < per_file; i++)
            put(store, slice_from_text("r"), "q", 100 * file + i);
        flush(store);
    }
}

static size_t
get_versions(struct store *store, int32_t versions)
{
    petal_column column = {.family = store->family, .qualifier = slice_from_text("q")};
    petal_read_options read = {.columns = &column, .column_count = 1, .versions = versions};

    return get(store, slice_from_text("r"), &read);
}

static unsigned
files_read(const struct store *store)
{
    unsigned files = 0;

    for (size_t i = 0; i < petal_receipt_count(store->receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(store->receipt, i);

        files += source->file_number != 0 && source->skip == PETAL_SKIP_NONE;
    }
    return files;
}

/* Reads `versions` of r:q; the cells must have the timestamps `newest`, `newest - step` .. Returns
 * the number of files read. */
static unsigned
read_versions(struct store *store, int32_t versions, int64_t newest, int64_t step)
{
    assert_int_equal(get_versions(store, versions), versions);
    for (int32_t i = 0; i < versions; i++)
        assert_int_equal(petal_result_cell(store->result, (size_t)i)->timestamp, newest - i * step);
    return files_read(store);
}

TEST(test_only_files_of_the_newest_versions_are_read)
{
    struct store store;

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    fill_versions(&store, 1);
    assert_int_equal(read_versions(&store, 1, 1000, 100), 1);
    assert_int_equal(read_versions(&store, 3, 1000, 100), 3);
    assert_int_equal(read_versions(&store, VERSION_FILES, 1000, 100), VERSION_FILES);
    /* A version in memory counts as well. */
    put(&store, slice_from_text("r"), "q", 1100);
    assert_int_equal(read_versions(&store, 3, 1100, 100), 2);
    end(&store);
}

TEST(test_files_hold_several_of_the_newest_versions)
{
    struct store store;

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    fill_versions(&store, 2);
    assert_int_equal(read_versions(&store, 2, 1001, 1), 1);
    assert_int_equal(read_versions(&store, 1, 1001, 1), 1);
    /* The third newest lies in the file below; but none of a third file. */
    (void)get_versions(&store, 3);
    assert_int_equal(petal_result_cell(store.result, 2)->timestamp, 901);
    assert_int_equal(files_read(&store), 2);
    (void)get_versions(&store, 4);
    assert_int_equal(petal_result_cell(store.result, 3)->timestamp, 900);
    assert_int_equal(files_read(&store), 2);
    end(&store);
}

/* A marker of one version lets an older version show, one marker one version. */
TEST(test_markers_of_versions_keep_few_versions)
{
    struct store store;
    petal_column column = {.qualifier = slice_from_text("q")};
    petal_read_options read = {.columns = &column, .column_count = 1};

    begin(&store, PETAL_BLOOM_ROW, (size_t)1 << 20);
    column.family = store.family;
    MUST(petal_delete(store.family, slice_from_text("other"), slice_from_text("q"), 1, PETAL_DELETE,
                      NULL, WHY));
    flush(&store);
    for (int64_t timestamp = 1; timestamp <= 2000; timestamp++)
        put(&store, slice_from_text("r"), "q", timestamp);
    for (int64_t newest = 2000; newest > 1990; newest--) {
        uint64_t gone = (uint64_t)(2000 - newest);

        assert_int_equal(get(&store, slice_from_text("r"), &read), 1);
        assert_int_equal(petal_result_cell(store.result, 0)->timestamp, newest);
        /* Those that were deleted; none for the marker of another row. */
        assert_int_equal(petal_receipt_cells_hidden(store.receipt), gone);
        assert_int_equal(get(&store, slice_from_text("r"), NULL), 1);
        assert_int_equal(petal_receipt_cells_hidden(store.receipt), gone);
        MUST(petal_delete(store.family, slice_from_text("r"), slice_from_text("q"), PETAL_LATEST,
                          PETAL_DELETE, NULL, WHY));
    }
    end(&store);
}
