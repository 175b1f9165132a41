/*
 * split_test.c -- the regions of a table: how it begins, what splitting refuses, who has a file
 * that reaches over a border, and that nobody who reads sees a border.
 */
#include "tests/engine/region/fixture.h"

#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a table with regions ---- */

TEST(test_regions_of_a_new_table_are_sorted)
{
    struct region_fixture fixture;
    char line[4096];

    regions_begin_split(&fixture, "m d t");
    regions_expect(fixture.table, "d m t");
    regions_put_text(fixture.table, "c", "1");
    regions_put_text(fixture.table, "d", "2");
    regions_put_text(fixture.table, "z", "3");
    assert_string_equal(regions_text(fixture.table, line), "c:1 d:2 z:3 ");
    regions_reopen(&fixture);
    regions_expect(fixture.table, "d m t");
    assert_string_equal(regions_text(fixture.table, line), "c:1 d:2 z:3 ");
    regions_end(&fixture);
}

static void
must_refuse_splits(struct fixture *fixture, const petal_slice *splits, size_t count,
                   const char *why)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.name = text("refused"),
                                   .families = &family,
                                   .family_count = 1,
                                   .splits = splits,
                                   .split_count = count};
    petal_table *table;
    petal_error error;

    assert_int_equal(petal_table_check(&options, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, why));
    assert_int_equal(petal_table_create(fixture->db, &options, &table, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, why));
    assert_int_equal(petal_table_open(fixture->db, text("refused"), &table, &error),
                     PETAL_NOT_FOUND);
}

/* The ids of regions in their order, and whether each begins where the one before ends. */
struct many {
    uint32_t ids[512];
    size_t count;
    char end[32];
};

static bool
take_region(void *argument, const petal_region_info *info)
{
    struct many *many = argument;

    assert_in_range(many->count, 0, 511);
    assert_true(slice_equal(info->start, slice_from_text(many->end)));
    assert_in_range(info->end.size, 0, sizeof many->end - 1);
    if (info->end.size > 0)
        memcpy(many->end, info->end.data, info->end.size);
    many->end[info->end.size] = '\0';
    many->ids[many->count++] = info->id;
    return true;
}

static struct many
list_many(petal_table *table)
{
    struct many many = {.count = 0};

    MUST(petal_table_regions(table, take_region, &many, WHY));
    return many;
}

/* As many as a view keeps in several pages (engine/state/view.h): splits and merges at random, of
 * the first and the last, too; a cursor of before has what it had. */
TEST(test_many_regions_split_and_merge)
{
    struct region_fixture fixture;
    struct test_random random;
    petal_snapshot *snapshot;
    unsigned wanted = 1;

    test_random_init(&random, test_seed());
    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    regions_flush(&fixture);
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    for (unsigned i = 1; i < 300; i++) /* in ascending order */
        regions_must_split_before(fixture.table, i);
    assert_int_equal(list_many(fixture.table).count, 300);
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    wanted = 300;
    for (unsigned step = 0; step < 120; step++) {
        struct many many = list_many(fixture.table);
        size_t place = step == 0   ? 0
                       : step == 1 ? many.count - 2
                                   : test_random_below(&random, (uint32_t)many.count - 1);
        char room[16];
        petal_slice row = regions_row(room, (unsigned)test_random_below(&random, 400));
        petal_error error;
        enum petal_status status;

        MUST(petal_table_merge(fixture.table, many.ids[place], many.ids[place + 1], WHY));
        status = petal_table_split(fixture.table, row, 0, &error);
        assert_true(status == PETAL_OK || status == PETAL_INVALID);
        wanted = wanted - 1 + (status == PETAL_OK);
        regions_put(fixture.table, step, step + 1, 1);
        assert_int_equal(list_many(fixture.table).count, wanted);
    }
    regions_expect_rows(fixture.table, 0, 400, 1, snapshot);
    petal_snapshot_free(snapshot);
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    regions_reopen(&fixture);
    assert_int_equal(list_many(fixture.table).count, wanted);
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    while (wanted-- > 1) { /* from the last to the first */
        struct many many = list_many(fixture.table);

        MUST(petal_table_merge(fixture.table, many.ids[many.count - 2], many.ids[many.count - 1],
                               WHY));
    }
    regions_expect(fixture.table, "");
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    regions_end(&fixture);
}

TEST(test_split_keys_that_are_refused)
{
    const petal_slice twice[] = {text("m"), text("d"), text("m")}, empty[] = {text("d"), text("")};
    petal_slice large = {test_allocate(PETAL_MAX_ROW_BYTES + 1), PETAL_MAX_ROW_BYTES + 1};
    petal_slice *many = test_allocate(65537 * sizeof *many);
    struct fixture fixture;

    memset((void *)large.data, 'l', large.size);
    for (size_t i = 0; i < 65537; i++)
        many[i] = text("x");
    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    must_refuse_splits(&fixture, twice, 3, "All split keys must be unique, found duplicate: ");
    must_refuse_splits(&fixture, empty, 2, "Empty split key must not be passed in the split keys.");
    must_refuse_splits(&fixture, &large, 1, "a split key has 32768 bytes; a row has at most 32767");
    must_refuse_splits(&fixture, many, 65537, "65537 split keys; the limit is 65536");
    must_refuse_splits(&fixture, NULL, 2, "splits");
    large.size--;
    {
        petal_family_options family = {.name = text("f")};
        petal_table_options options = {.name = text("t"),
                                       .families = &family,
                                       .family_count = 1,
                                       .splits = &large,
                                       .split_count = 1};
        petal_table *table;

        MUST(petal_table_create(fixture.db, &options, &table, WHY));
    }
    fixture_fini(&fixture);
    free((void *)large.data);
    free(many);
}

static bool
stop_at_once(void *argument, const petal_region_info *info)
{
    (void)info;
    ++*(unsigned *)argument;
    return false;
}

TEST(test_a_visit_of_regions_stops)
{
    struct region_fixture fixture;
    unsigned visited = 0;

    regions_begin_split(&fixture, "d m");
    MUST(petal_table_regions(fixture.table, stop_at_once, &visited, WHY));
    assert_int_equal(visited, 1);
    regions_end(&fixture);
}

/* ---- what is refused ---- */

static bool
keep_path(void *argument, const petal_file_info *file)
{
    snprintf(argument, 64, FIXTURE_DIRECTORY "/%06" PRIu64 ".sst", file->number);
    return true;
}

/* Its files are not known to have no middle. */
TEST(test_a_split_in_the_middle_tells_of_a_lost_file)
{
    struct region_fixture fixture;
    petal_error error;
    char path[64];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 100, 1);
    regions_flush(&fixture);
    MUST(petal_table_files(fixture.table, keep_path, path, WHY));
    MUST(petal_close(fixture.base.db, WHY));
    fixture.base.db = NULL;
    assert_int_equal(vfs_remove(fixture.base.env.vfs, path), 0);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    assert_int_equal(petal_table_split(fixture.table, text(""), 0, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, path);
    fixture_fini(&fixture.base);
}

TEST(test_splits_that_are_refused)
{
    petal_slice large = {test_allocate(PETAL_MAX_ROW_BYTES + 1), PETAL_MAX_ROW_BYTES + 1};
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    petal_error error;

    memset((void *)large.data, 'l', large.size);
    regions_begin_split(&fixture, "d m");
    assert_int_equal(regions_split_at(fixture.table, "m", &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "row m is the first of region"));
    assert_int_equal(petal_table_split(fixture.table, large, 0, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "has 1 to 32767 bytes, not 32768"));
    assert_int_equal(petal_table_split(fixture.table, text(""), 0, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "has no middle"));
    assert_int_equal(petal_table_split(fixture.table, text(""), 12345, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "table t has no region 12345"));
    (void)regions_list(fixture.table, seen);
    assert_int_equal(petal_table_split(fixture.table, text(""), seen[1].id, &error), PETAL_INVALID);
    regions_expect(fixture.table, "d m");
    MUST(petal_table_drop(fixture.table, WHY));
    assert_int_equal(regions_split_at(fixture.table, "x", &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_merge(fixture.table, seen[0].id, seen[1].id, &error),
                     PETAL_NOT_FOUND);
    regions_end(&fixture);
    free((void *)large.data);
}

TEST(test_a_reader_splits_nothing)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    petal_table *table;
    petal_error error;
    petal_db *reader;

    regions_begin_split(&fixture, "d m");
    reader = fixture_open_reader(&fixture.base, FIXTURE_DIRECTORY);
    MUST(petal_table_open(reader, text("t"), &table, WHY));
    regions_expect(table, "d m");
    (void)regions_list(table, seen);
    assert_int_equal(regions_split_at(table, "x", &error), PETAL_READ_ONLY);
    assert_int_equal(petal_table_merge(table, seen[0].id, seen[1].id, &error), PETAL_READ_ONLY);
    MUST(petal_close(reader, WHY));
    regions_end(&fixture);
}

/* ---- the middle ---- */

TEST(test_a_region_is_split_in_its_middle)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    regions_flush(&fixture);
    MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(strcmp(seen[1].start, "row 00150") > 0 && strcmp(seen[1].start, "row 00250") < 0);
    /* Both of them, in theirs. */
    MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 4);
    assert_true(strcmp(seen[1].start, "row 00070") > 0 && strcmp(seen[1].start, "row 00130") < 0);
    assert_true(strcmp(seen[3].start, "row 00270") > 0 && strcmp(seen[3].start, "row 00330") < 0);
    /* One. */
    MUST(petal_table_split(fixture.table, text(""), seen[3].id, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 5);
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    regions_reopen(&fixture);
    assert_int_equal(regions_list(fixture.table, seen), 5);
    regions_expect_rows(fixture.table, 0, 400, 1, NULL);
    regions_end(&fixture);
}

/* In memory alone: it is flushed for the files to tell, and of a table of several regions only the
 * one that is meant. */
TEST(test_what_is_in_memory_has_a_middle)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(strcmp(seen[1].start, "row 00150") > 0 && strcmp(seen[1].start, "row 00250") < 0);
    regions_put(fixture.table, 0, 10, 2);
    regions_put(fixture.table, 1000, 3000, 1);
    MUST(petal_table_split(fixture.table, text(""), seen[1].id, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 3);
    assert_true(strcmp(seen[2].start, "row 01500") > 0 && strcmp(seen[2].start, "row 02500") < 0);
    assert_int_equal(seen[0].files, 1);
    assert_true(seen[0].memtable_bytes > seen[1].memtable_bytes);
    regions_end(&fixture);
}

/* A split in the middle that cannot flush splits nothing. */
TEST(test_a_split_that_cannot_flush)
{
    struct region_fixture fixture;
    petal_error error;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    memory_vfs_set_capacity(fixture.base.vfs, memory_vfs_used(fixture.base.vfs));
    assert_int_equal(petal_table_split(fixture.table, text(""), 0, &error), PETAL_NO_SPACE);
    memory_vfs_set_capacity(fixture.base.vfs, UINT64_MAX);
    regions_expect(fixture.table, "");
    regions_end(&fixture);
}

/* After each split: write and flush, and note what memtables take before and then. */
struct flushing {
    struct region_fixture *fixture;
    unsigned splits;
    uint64_t least_before, most_after;
};

static void
flush_after_split(void *context, enum petal_log_level level, const char *line)
{
    struct flushing *flushing = context;
    petal_stats stats;

    if (level != PETAL_LOG_INFO || strstr(line, "where another was split") == NULL)
        return;
    flushing->splits++;
    regions_put(flushing->fixture->table, 0, 400, 2);
    petal_stats_get(flushing->fixture->base.db, &stats);
    if (stats.memtable_memory < flushing->least_before)
        flushing->least_before = stats.memtable_memory;
    regions_flush(flushing->fixture);
    petal_stats_get(flushing->fixture->base.db, &stats);
    if (stats.memtable_memory > flushing->most_after)
        flushing->most_after = stats.memtable_memory;
}

/* While the regions of a table are split one after the other, memtables go as they are flushed. */
TEST(test_splits_keep_no_memtables)
{
    struct region_fixture fixture;
    struct flushing flushing = {.fixture = &fixture, .least_before = UINT64_MAX};

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    regions_must_split_before(fixture.table, 200);
    fixture.base.env.log = flush_after_split;
    fixture.base.env.log_context = &flushing;
    regions_reopen(&fixture);
    MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    assert_int_equal(flushing.splits, 2);
    assert_true(flushing.most_after < flushing.least_before / 2);
    regions_expect_rows(fixture.table, 0, 400, 2, NULL);
    regions_end(&fixture);
}

/* An index of several levels: of the rows the keys are so long that a block has few. */
static void
put_long_rows(struct region_fixture *fixture)
{
    static char row[8000];

    memset(row, 's', sizeof row);
    for (unsigned i = 0; i < 300; i++) {
        (void)snprintf(row, sizeof row, "%05u", i);
        row[5] = 's';
        MUST(petal_put(petal_table_family_at(fixture->table, 0), slice_make(row, sizeof row),
                       text("q"), PETAL_LATEST, slice_make(row, 1000), NULL, WHY));
    }
    regions_flush(fixture);
}

TEST(test_the_middle_of_a_large_index)
{
    struct region_fixture fixture;
    unsigned count = 0;
    const petal_cell *cell;
    petal_cursor *cursor;

    regions_begin(&fixture);
    put_long_rows(&fixture);
    MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    MUST(petal_cursor_open(fixture.table, NULL, &cursor, WHY));
    do {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        count += cell != NULL;
    } while (cell != NULL);
    petal_cursor_close(cursor);
    assert_int_equal(count, 300);
    regions_end(&fixture);
}

static void
put_wide(struct region_fixture *fixture, const char *row, unsigned cells)
{
    char name[16], value[300];

    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < cells; i++) {
        (void)snprintf(name, sizeof name, "q%05u", i);
        MUST(petal_put(petal_table_family_at(fixture->table, 0), text(row), text(name),
                       PETAL_LATEST, slice_make(value, sizeof value), NULL, WHY));
    }
}

/* All in one row. */
TEST(test_a_region_of_one_row_has_no_middle)
{
    struct region_fixture fixture;
    petal_error error;

    regions_begin(&fixture);
    put_wide(&fixture, "wide", 200);
    regions_flush(&fixture);
    assert_int_equal(petal_table_split(fixture.table, text(""), 0, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "has no middle"));
    regions_expect(fixture.table, "");
    regions_end(&fixture);
}

/* A row over many blocks, and a few others: the border is beside it, before or behind. */
TEST(test_a_large_row_is_not_cut)
{
    static const char *const others[] = {"a", "z"};
    struct region_fixture fixture;

    for (size_t i = 0; i < 2; i++) {
        struct region_seen seen[REGION_MOST];

        regions_begin(&fixture);
        put_wide(&fixture, "wide", 200);
        put_wide(&fixture, others[i], 20);
        regions_flush(&fixture);
        MUST(petal_table_split(fixture.table, text(""), 0, WHY));
        assert_int_equal(regions_list(fixture.table, seen), 2);
        assert_true(seen[0].files == 1 && seen[1].files == 1);
        assert_true(strcmp(seen[1].start, i == 0 ? "a" : "wide") > 0);
        regions_end(&fixture);
    }
}

/* ---- shared files ---- */

TEST(test_a_shared_file_goes_with_its_last_half)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    assert_int_equal(regions_files(&fixture), 1);
    regions_must_split_before(fixture.table, 100);
    assert_int_equal(regions_files(&fixture), 1);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(seen[0].files == 1 && seen[1].files == 1);
    regions_compact(fixture.table, text(""));
    assert_int_equal(regions_files(&fixture), 2);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_reopen(&fixture);
    assert_int_equal(regions_files(&fixture), 2);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_compact(fixture.table, text("row 00100"));
    assert_int_equal(regions_files(&fixture), 2);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_int_equal(seen[0].cells, 100);
    assert_int_equal(seen[1].cells, 200);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_end(&fixture);
}

struct shares {
    unsigned visits, shared;
};

static bool
count_shared(void *argument, const petal_file_info *file)
{
    struct shares *shares = argument;

    shares->visits++;
    shares->shared += file->shared;
    return true;
}

static struct shares
shares_of(petal_table *table)
{
    struct shares shares = {0};

    MUST(petal_table_files(table, count_shared, &shares, WHY));
    return shares;
}

TEST(test_files_tell_that_they_are_shared)
{
    struct region_fixture fixture;
    struct shares shares;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    shares = shares_of(fixture.table);
    assert_true(shares.visits == 1 && shares.shared == 0);
    regions_must_split_before(fixture.table, 100);
    shares = shares_of(fixture.table);
    assert_true(shares.visits == 2 && shares.shared == 2);
    regions_compact(fixture.table, text(""));
    shares = shares_of(fixture.table);
    assert_true(shares.visits == 2 && shares.shared == 1);
    regions_compact(fixture.table, text("z"));
    shares = shares_of(fixture.table);
    assert_true(shares.visits == 2 && shares.shared == 0);
    regions_end(&fixture);
}

/* What is told of both halves adds up to what was there. */
TEST(test_counts_of_shared_files_add_up)
{
    struct region_fixture fixture;
    struct region_seen whole[REGION_MOST], seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 400, 1);
    regions_flush(&fixture);
    assert_int_equal(regions_list(fixture.table, whole), 1);
    assert_int_equal(whole[0].cells, 400);
    regions_must_split_before(fixture.table, 200);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_in_range(seen[0].cells, 180, 220);
    assert_in_range(seen[0].cells + seen[1].cells, 396, 404);
    assert_in_range(seen[0].file_bytes + seen[1].file_bytes, whole[0].file_bytes * 95 / 100,
                    whole[0].file_bytes * 105 / 100);
    regions_put(fixture.table, 250, 260, 2);
    assert_int_equal(regions_list(fixture.table, whole), 2);
    assert_true(whole[1].memtable_bytes > seen[1].memtable_bytes);
    assert_int_equal(whole[1].cells, seen[1].cells + 10);
    assert_int_equal(whole[0].cells, seen[0].cells);
    assert_int_equal(whole[0].memtable_bytes, seen[0].memtable_bytes);
    regions_end(&fixture);
}

static void
expect_sum(petal_table *table, size_t count, uint64_t file_bytes, uint64_t all_cells)
{
    struct region_seen seen[REGION_MOST];
    uint64_t bytes = 0, cells = 0;

    assert_int_equal(regions_list(table, seen), count);
    for (size_t i = 0; i < count; i++) {
        bytes += seen[i].file_bytes;
        cells += seen[i].cells;
    }
    assert_in_range(bytes, file_bytes - count, file_bytes);
    assert_in_range(cells, all_cells - count, all_cells);
}

/* However many have the file, and whether borders cut blocks of it or not. */
TEST(test_counts_of_a_file_of_many_regions_add_up)
{
    struct region_fixture fixture;
    struct region_seen whole[REGION_MOST], seen[REGION_MOST];
    size_t count;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 1600, 1);
    regions_flush(&fixture);
    assert_int_equal(regions_list(fixture.table, whole), 1);
    for (unsigned i = 0; i < 4; i++)
        MUST(petal_table_split(fixture.table, text(""), 0, WHY));
    count = regions_list(fixture.table, seen);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        assert_in_range(seen[i].cells, 85, 115);
    expect_sum(fixture.table, count, whole[0].file_bytes, 1600);
    for (unsigned i = 0; i < 8; i++)
        regions_must_split_before(fixture.table, 820 + i);
    expect_sum(fixture.table, count + 8, whole[0].file_bytes, 1600);
    assert_int_equal(regions_files(&fixture), 1);
    regions_end(&fixture);
}

/* Where the index cannot be read there is a guess. */
TEST(test_counts_of_a_file_that_cannot_be_read)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    put_long_rows(&fixture);
    regions_must_split(fixture.table, "00100");
    regions_reopen(&fixture);
    memory_vfs_fail_at(fixture.base.vfs, 1, EIO, true);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    memory_vfs_fail_at(fixture.base.vfs, 0, 0, false);
    assert_true(memory_vfs_failures(fixture.base.vfs) > 0);
    assert_int_equal(seen[0].file_bytes, seen[1].file_bytes);
    assert_in_range(seen[0].cells, 149, 150);
    regions_end(&fixture);
}

/* Split again before any half was rewritten: three regions have the file. */
TEST(test_split_twice_before_a_rewrite)
{
    struct region_fixture fixture;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    regions_must_split_before(fixture.table, 200);
    regions_must_split_before(fixture.table, 100);
    regions_expect(fixture.table, "row 00100 row 00200");
    assert_int_equal(regions_files(&fixture), 1);
    /* The middle of them first. */
    regions_compact(fixture.table, text("row 00150"));
    assert_int_equal(regions_files(&fixture), 2);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_reopen(&fixture);
    regions_compact(fixture.table, text("row 00250"));
    assert_int_equal(regions_files(&fixture), 3);
    regions_compact(fixture.table, text(""));
    assert_int_equal(regions_files(&fixture), 3);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_end(&fixture);
}

/* A half whose rows were all deleted leaves no file, and nothing comes back from the other's. */
TEST(test_deleted_rows_of_a_half_stay_deleted)
{
    struct region_fixture fixture;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    regions_must_split_before(fixture.table, 100);
    regions_delete(fixture.table, 0, 100);
    regions_flush(&fixture);
    regions_compact(fixture.table, text(""));
    assert_int_equal(regions_files(&fixture), 1);
    regions_expect_rows(fixture.table, 100, 300, 1, NULL);
    regions_reopen(&fixture);
    regions_expect_rows(fixture.table, 100, 300, 1, NULL);
    /* Nor when the other half is the first's again. */
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "");
    regions_expect_rows(fixture.table, 100, 300, 1, NULL);
    regions_reopen(&fixture);
    regions_expect_rows(fixture.table, 100, 300, 1, NULL);
    regions_end(&fixture);
}

/* What lies in memory is in both until it is flushed. */
TEST(test_memtables_are_split)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 200, 1);
    regions_must_split_before(fixture.table, 50);
    regions_expect_rows(fixture.table, 0, 200, 1, NULL);
    regions_put(fixture.table, 0, 200, 2);
    regions_must_split_before(fixture.table, 150);
    regions_expect_rows(fixture.table, 0, 200, 2, NULL);
    regions_flush(&fixture);
    assert_int_equal(regions_list(fixture.table, seen), 3);
    regions_expect_rows(fixture.table, 0, 200, 2, NULL);
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_expect(fixture.table, "row 00050 row 00150");
    regions_expect_rows(fixture.table, 0, 200, 2, NULL);
    regions_end(&fixture);
}

/* Neither log nor files: the process dies right after the split. */
TEST(test_death_after_a_split)
{
    struct region_fixture fixture;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 100, 1);
    regions_flush(&fixture);
    regions_put(fixture.table, 0, 100, 2);
    regions_must_split_before(fixture.table, 50);
    regions_put(fixture.table, 40, 60, 3);
    regions_put(fixture.table, 40, 60, 2);
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_expect(fixture.table, "row 00050");
    regions_expect_rows(fixture.table, 0, 100, 2, NULL);
    regions_end(&fixture);
}

/* ---- while a job runs ---- */

struct moment {
    struct region_fixture fixture;
    void (*act)(struct moment *moment); /* at the next look at the clock, once; NULL: nothing */
};

static int64_t
look_and_act(void *context)
{
    struct moment *moment = context;
    void (*act)(struct moment *) = moment->act;

    moment->act = NULL;
    if (act != NULL)
        act(moment);
    return test_clock_ms(&moment->fixture.base.clock);
}

static void
moment_begin(struct moment *moment)
{
    moment->act = NULL;
    regions_begin(&moment->fixture);
    moment->fixture.base.env.clock_context = moment;
    moment->fixture.base.env.clock_ms = look_and_act;
    regions_reopen(&moment->fixture);
    regions_put(moment->fixture.table, 0, 300, 1);
    regions_flush(&moment->fixture);
    regions_put(moment->fixture.table, 0, 300, 2);
    regions_flush(&moment->fixture);
}

static void
split_before_100(struct moment *moment)
{
    regions_must_split_before(moment->fixture.table, 100);
}

static void
delete_and_split(struct moment *moment)
{
    regions_delete(moment->fixture.table, 100, 300);
    regions_must_split_before(moment->fixture.table, 100);
}

TEST(test_split_while_a_job_runs)
{
    struct moment moment;

    moment_begin(&moment);
    moment.act = split_before_100;
    regions_compact(moment.fixture.table, text(""));
    assert_true(moment.act == NULL);
    regions_expect(moment.fixture.table, "row 00100");
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    regions_reopen(&moment.fixture);
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    MUST(petal_compact(moment.fixture.table, NULL, WHY));
    assert_int_equal(regions_files(&moment.fixture), 2);
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    regions_end(&moment.fixture);
}

/* A file of the job is wholly the new region's: it stays there, and its rows are read from it. */
TEST(test_a_file_of_a_job_goes_to_the_new_region)
{
    struct moment moment;

    moment_begin(&moment);
    MUST(petal_compact(moment.fixture.table, NULL, WHY));
    regions_put(moment.fixture.table, 300, 400, 2);
    regions_flush(&moment.fixture);
    regions_put(moment.fixture.table, 0, 50, 2);
    regions_flush(&moment.fixture);
    moment.act = split_before_100;
    regions_compact(moment.fixture.table, text(""));
    regions_expect_rows(moment.fixture.table, 0, 400, 2, NULL);
    regions_delete(moment.fixture.table, 350, 400);
    regions_flush(&moment.fixture);
    regions_compact(moment.fixture.table, text("z"));
    regions_expect_rows(moment.fixture.table, 0, 350, 2, NULL);
    regions_must_merge(moment.fixture.table, 0);
    regions_expect_rows(moment.fixture.table, 0, 350, 2, NULL);
    regions_reopen(&moment.fixture);
    regions_expect_rows(moment.fixture.table, 0, 350, 2, NULL);
    regions_end(&moment.fixture);
}

/* The job's output has rows that the new region deletes: they are not its any more. */
TEST(test_split_while_a_job_runs_and_merge)
{
    struct moment moment;

    moment_begin(&moment);
    moment.act = delete_and_split;
    regions_compact(moment.fixture.table, text(""));
    regions_expect_rows(moment.fixture.table, 0, 100, 2, NULL);
    regions_flush(&moment.fixture);
    regions_compact(moment.fixture.table, text("z"));
    regions_expect_rows(moment.fixture.table, 0, 100, 2, NULL);
    regions_must_merge(moment.fixture.table, 0);
    regions_expect_rows(moment.fixture.table, 0, 100, 2, NULL);
    regions_reopen(&moment.fixture);
    regions_expect_rows(moment.fixture.table, 0, 100, 2, NULL);
    regions_end(&moment.fixture);
}

static void
split_and_merge(struct moment *moment)
{
    regions_must_split_before(moment->fixture.table, 100);
    regions_must_merge(moment->fixture.table, 0);
}

/* The region that the job works on has lost its rows to another and got them back. */
TEST(test_split_and_merge_while_a_job_runs)
{
    struct moment moment;

    moment_begin(&moment);
    moment.act = split_and_merge;
    regions_compact(moment.fixture.table, text(""));
    regions_expect(moment.fixture.table, "");
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    MUST(petal_compact(moment.fixture.table, NULL, WHY));
    assert_int_equal(regions_files(&moment.fixture), 1);
    regions_end(&moment.fixture);
}

/* The first region has no file when it gets all rows back. */
static void
split_rewrite_and_merge(struct moment *moment)
{
    regions_must_split_before(moment->fixture.table, 0);
    regions_delete(moment->fixture.table, 0, 200);
    regions_flush(&moment->fixture);
    regions_compact(moment->fixture.table, text("z"));
    regions_must_merge(moment->fixture.table, 0);
}

/* The other region has rewritten the rows meanwhile: what the job made of them is old. */
TEST(test_rows_that_come_back_rewritten_while_a_job_runs)
{
    struct moment moment;

    moment_begin(&moment);
    moment.act = split_rewrite_and_merge;
    regions_compact(moment.fixture.table, text(""));
    assert_true(moment.act == NULL);
    regions_expect(moment.fixture.table, "");
    regions_expect_rows(moment.fixture.table, 200, 300, 2, NULL);
    regions_reopen(&moment.fixture);
    regions_expect_rows(moment.fixture.table, 200, 300, 2, NULL);
    regions_end(&moment.fixture);
}

static void
merge_first(struct moment *moment)
{
    regions_must_merge(moment->fixture.table, 0);
}

/* The job on the first region has read its rows of the shared files alone: it gives up. */
TEST(test_merge_while_a_job_runs)
{
    struct moment moment;
    petal_error error;
    enum petal_status status;

    moment_begin(&moment);
    regions_must_split_before(moment.fixture.table, 100);
    moment.act = merge_first;
    status = petal_compact(moment.fixture.table, NULL, &error);
    assert_true(status == PETAL_OK || status == PETAL_BUSY);
    assert_true(moment.act == NULL);
    regions_expect(moment.fixture.table, "");
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    regions_reopen(&moment.fixture);
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    MUST(petal_compact(moment.fixture.table, NULL, WHY));
    assert_int_equal(regions_files(&moment.fixture), 1);
    regions_expect_rows(moment.fixture.table, 0, 300, 2, NULL);
    regions_end(&moment.fixture);
}
