/* read_test.c -- gets of several rows, cursors, seeks, snapshots and raw scans, through the public
 * calls. */

#include "engine/state/db.h"
#include "tests/engine/read/fixture.h"
#include "tests/engine/script.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const petal_family_options three_versions = {.versions = 3};

/* ---- several rows ---- */

static void
multi_get(const struct read_fixture *fixture, const petal_slice *rows, size_t count,
          const petal_read_options *options, petal_result **results)
{
    MUST(petal_multi_get(fixture->table, rows, count, options, results, WHY));
}

TEST(test_multi_get)
{
    petal_slice rows[] = {text("c"), text("a"),   text("missing"), text("b"),
                          text("a"), BYTES("\0"), text("zz")};
    static uint8_t long_row[PETAL_MAX_ROW_BYTES + 1];
    petal_result *results[7];
    struct read_fixture fixture;
    petal_error error;

    reads_open(&fixture, "fg", NULL);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("1"));
    reads_put(&fixture, "g", text("a"), text("q"), 2, text("2"));
    reads_flush(&fixture);
    reads_put(&fixture, "f", text("b"), text("q"), 3, text("3"));
    reads_put(&fixture, "f", BYTES("\0"), text("q"), 4, text("4"));
    for (size_t i = 0; i < 7; i++)
        results[i] = reads_result(&fixture);
    multi_get(&fixture, rows, 7, NULL, results);
    assert_string_equal(reads_result_text(results[0]), "");
    assert_string_equal(reads_result_text(results[1]), "a/f:q@1=1 a/g:q@2=2 ");
    assert_string_equal(reads_result_text(results[2]), "");
    assert_string_equal(reads_result_text(results[3]), "b/f:q@3=3 ");
    assert_string_equal(reads_result_text(results[4]), "a/f:q@1=1 a/g:q@2=2 ");
    assert_string_equal(reads_result_text(results[5]), "\\00/f:q@4=4 ");
    multi_get(&fixture, NULL, 0, NULL, NULL);
    /* One row that no table can have: refused, and nothing is given, also of those before it. */
    memset(long_row, 0xff, sizeof long_row);
    rows[2] = slice_make(long_row, sizeof long_row);
    assert_int_equal(petal_multi_get(fixture.table, rows, 7, NULL, results, &error), PETAL_INVALID);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(petal_result_count(results[i]), 0);
        petal_result_free(results[i]);
    }
    fixture_fini(&fixture.base);
}

/* Rows of one block cost one fetch of it, in whatever order they are asked and however small the
 * cache is. */
TEST(test_multi_get_reads_blocks_once)
{
    enum { ROWS = 400 };
    petal_family_options family = {.block_bytes = 4096, .compression = PETAL_COMPRESSION_NONE};
    petal_slice rows[ROWS];
    petal_result *results[ROWS];
    char names[ROWS][8], value[400];
    struct read_fixture fixture;
    petal_stats before, after;

    reads_open(&fixture, "f", &family);
    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i] = slice_make(names[i], (size_t)snprintf(names[i], 8, "r%03u", i * 7 % ROWS));
        reads_put(&fixture, "f", rows[i], text("q"), 1, slice_make(value, sizeof value));
    }
    fixture_must_close(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    for (unsigned i = 0; i < ROWS; i++)
        results[i] = reads_result(&fixture);
    petal_stats_get(fixture.base.db, &before);
    multi_get(&fixture, rows, ROWS, NULL, results);
    petal_stats_get(fixture.base.db, &after);
    for (unsigned i = 0; i < ROWS; i++) {
        assert_int_equal(petal_result_count(results[i]), 1);
        petal_result_free(results[i]);
    }
    assert_in_range(after.data_fetched - before.data_fetched, ROWS * sizeof value / 4096, 50);
    fixture_fini(&fixture.base);
}

/* ---- what is asked ---- */

TEST(test_time_ranges_by_family)
{
    struct read_fixture fixture;
    petal_read_options options = {.versions = PETAL_ALL_VERSIONS};
    petal_family_time_range ranges[2];

    reads_open(&fixture, "fgh", &three_versions);
    for (int64_t t = 10; t <= 50; t += 10) {
        reads_put(&fixture, "f", text("a"), text("q"), t, text("f"));
        reads_put(&fixture, "g", text("a"), text("q"), t, text("g"));
        reads_put(&fixture, "h", text("a"), text("q"), t, text("h"));
        reads_flush(&fixture);
    }
    options.has_time_range = true;
    options.time_min = 20;
    options.time_limit = 41;
    ranges[0] = (petal_family_time_range){reads_family(&fixture, "g"), 10, 11};
    ranges[1] = (petal_family_time_range){reads_family(&fixture, "h"), 50, INT64_MAX};
    options.family_time_ranges = ranges;
    options.family_time_range_count = 2;
    assert_string_equal(reads_get(&fixture, text("a"), &options),
                        "a/f:q@40=f a/f:q@30=f a/f:q@20=f a/g:q@10=g a/h:q@50=h ");
    assert_string_equal(reads_scan(&fixture, &(petal_scan_options){.read = options}),
                        reads_get(&fixture, text("a"), &options));
    options.versions = 2;
    assert_string_equal(reads_scan(&fixture, &(petal_scan_options){.read = options}),
                        "a/f:q@40=f a/f:q@30=f a/g:q@10=g a/h:q@50=h ");
    fixture_fini(&fixture.base);
}

/* ---- scripts ---- */

/* Over two families, files and memory, rows interleaved. */
#define ROWS                                                                                       \
    "table t f g; put t b/f:q@1=1 a/g:q@1=2 \\ff\\ff/f:q@1=3; flush\n"                             \
    "put t b/g:q@1=4 ba/f:q@1=5 \\ff/g:q@1=6; flush\n"                                             \
    "put t b\\00/f:q@1=7 c/g:q@1=8 \\ff\\fe\\ff/f:q@1=9\n"

static const struct script_case cases[] = {
    {"limits of cells are those of each family in each row",
     "table t f g; put t r/f:a=x s/f:a=y r/g:b=x s/f:b=y r/f:c=x s/f:c=y; flush\n"
     "put t r/g:d=x s/f:d=y r/f:e=x s/f:e=y\n"
     "show t row=r cells=2 skip=1 : r/f:c=x r/f:e=x r/g:d=x\n"
     "show t row=s cells=2 skip=1 : s/f:b=y s/f:c=y\n"
     "show t cells=2 skip=1 : r/f:c=x r/f:e=x r/g:d=x s/f:b=y s/f:c=y\n"
     "show t cells=2 skip=1 reversed : s/f:b=y s/f:c=y r/f:c=x r/f:e=x r/g:d=x\n"
     "show t row=s skip=4 : s/f:e=y; show t row=s skip=5 :\n"
     "show t row=s skip=3 cells=18446744073709551615 : s/f:d=y s/f:e=y"},
    {"in the order of writes a later put above the range makes what is in it surplus",
     "table t f,new; put t a/f:q@10=old; flush; put t a/f:q@30=new; flush\n"
     "show t row=a range=0..20 :; compact t; show t row=a range=0..20 :"},
    {"bounds of rows", ROWS
     "show t : a/g:q=2 b/f:q=1 b/g:q=4 b\\00/f:q=7 ba/f:q=5 c/g:q=8 \\ff/g:q=6 \\ff\\fe\\ff/f:q=9 "
     "\\ff\\ff/f:q=3\n"
     "show t from=b to=ba : b/f:q=1 b/g:q=4 b\\00/f:q=7; show t after=b to=ba : b\\00/f:q=7\n"
     "show t after=b through=ba : b\\00/f:q=7 ba/f:q=5; show t from=b through=b : b/f:q=1 b/g:q=4\n"
     "show t after=b through=b :; show t from=c to=b :; show t after= through= limit=1 : a/g:q=2"},
    {"bounds of reversed scans", ROWS
     "show t reversed : \\ff\\ff/f:q=3 \\ff\\fe\\ff/f:q=9 \\ff/g:q=6 c/g:q=8 ba/f:q=5 b\\00/f:q=7 "
     "b/f:q=1 b/g:q=4 a/g:q=2\n"
     "show t reversed from=ba to=b : ba/f:q=5 b\\00/f:q=7\n"
     "show t reversed after=ba to=b : b\\00/f:q=7\n"
     "show t reversed after=ba through=b : b\\00/f:q=7 b/f:q=1 b/g:q=4\n"
     "show t reversed from=bzz to=aa limit=2 : ba/f:q=5 b\\00/f:q=7"},
    {"prefixes, beside which bounds are not used", ROWS
     "show t prefix=b after=x to=y : b/f:q=1 b/g:q=4 b\\00/f:q=7 ba/f:q=5\n"
     "show t prefix=b reversed : ba/f:q=5 b\\00/f:q=7 b/f:q=1 b/g:q=4\n"
     "show t prefix=\\ff : \\ff/g:q=6 \\ff\\fe\\ff/f:q=9 \\ff\\ff/f:q=3\n"
     "show t prefix=\\ff reversed : \\ff\\ff/f:q=3 \\ff\\fe\\ff/f:q=9 \\ff/g:q=6\n"
     "show t prefix=\\ff\\ff : \\ff\\ff/f:q=3; show t prefix=\\ff\\ff\\ff :\n"
     "show t prefix=\\ff\\fe reversed : \\ff\\fe\\ff/f:q=9; show t prefix=b\\00 : b\\00/f:q=7"},
    {"seeks", ROWS
     "put t b/f:r@1=w; open c t from=b to=d; seek c b/f:qq; step c : b/f:r=w; step c : b/g:q=4\n"
     "seek c b/g; step c : b/g:q=4; seek c b/g:z; step c : b\\00/f:q=7; seek c b; step c : "
     "b/f:q=1\n"
     "seek c a/g; step c : b/f:q=1; seek c x; step c :; seek c bb; rest c : c/g:q=8\n"
     "seek c ba; rows c : ba/f:q=5 | c/g:q=8 |"},
    {"seeks of reversed scans; where the row has nothing there the one below it comes", ROWS
     "put t b/f:r@1=w; open c t reversed from=c to=a; seek c b/f:qq; rest c : b/f:r=w b/g:q=4\n"
     "seek c bz/g; step c : ba/f:q=5; seek c ba/g; step c : b\\00/f:q=7; seek c z\n"
     "step c : c/g:q=8; seek c a; step c :"},
    {"seeks under filters, into a row that the filter excludes, too; the limit of rows starts anew",
     ROWS
     "put t ba/f:r@1=w; open c t filter={RowFilter(!=, 'binary:b')} limit=2; seek c ba/f:r\n"
     "rest c : ba/f:r=w c/g:q=8; seek c b/f:q; rest c : b\\00/f:q=7 ba/f:q=5 ba/f:r=w; close c\n"
     "open c t filter={RowFilter(!=, 'binary:b')} limit=2 reversed; seek c ba/f:r\n"
     "rest c : ba/f:r=w b\\00/f:q=7; seek c b/f:q; rest c : a/g:q=2; close c\n"
     "open c t filter={PageFilter(1)}; rest c : a/g:q=2; seek c b/g; rest c : b/g:q=4"},
    {"results of a few cells each, and what is left of a row that was begun by steps",
     "table t f g; put t r/f:a=1 r/g:a=2 r/f:b=1 r/g:b=2 r/f:c=1 r/g:c=2 s/g:a=3; open c t "
     "batch=2\n"
     "rows c : r/f:a=1 r/f:b=1 | r/f:c=1 r/g:a=2 | r/g:b=2 r/g:c=2 | s/g:a=3 |\n"
     "seek c r/g:b; step c : r/g:b=2; rows c : r/g:c=2 | s/g:a=3 |; close c\n"
     "open c t batch=4 limit=1; rows c : r/f:a=1 r/f:b=1 r/f:c=1 r/g:a=2 | r/g:b=2 r/g:c=2 |\n"
     "seek c r/g:c; rows c : r/g:c=2 |"},
    {"a deletion of the newest version brings the one before to light, in memory",
     "table t f; put t r/f:q@10=ten r/f:q@30=thirty r/f:q@20=twenty r/f:r@99=other\n"
     "show t : r/f:q@30=thirty r/f:r=other; put t r/f:q!8; show t : r/f:q@20=twenty r/f:r=other\n"
     "put t r/f:q!8; show t : r/f:q@10=ten r/f:r=other; put t r/f:q!8; show t : r/f:r=other\n"
     "put t r/f:q!8; put t r/f:q@20=back; show t : r/f:q@20=back r/f:r=other"},
    {"and in files, each version in one of its own: a flush drops what is surplus in its memtable",
     "table t f; put t r/f:q@10=ten; flush; put t r/f:q@30=thirty; flush; put t r/f:q@20=twenty\n"
     "flush; show t : r/f:q@30=thirty; put t r/f:q!8; flush; show t : r/f:q@20=twenty\n"
     "put t r/f:q!8; flush; show t : r/f:q@10=ten; put t r/f:q!8; flush; show t :"},
    {"deletions hide what they should, and at equal timestamps the later write wins",
     "table t f; put t r/f:a@10=a r/f:b@20=b r/f:a@9!12 r/f@15!10; show t : r/f:a=a r/f:b=b\n"
     "put t r/f@20!10; show t : r/f:a=a; put t r/f:a@10!12; show t :; put t r/f:a@10=later\n"
     "show t : r/f:a=later; put t r/f!14; show t :"},
};

TEST_EACH(reads_show_this, cases)
{
    script_run(*state);
}

/* ---- failures ---- */

/* Scan to the end, or get the row. */
static enum petal_status
read_all(petal_table *table, const petal_scan_options *scan, bool gets)
{
    const petal_cell *cell;
    petal_result *result = NULL;
    petal_cursor *cursor = NULL;
    enum petal_status status;

    if (gets) {
        status = petal_result_new(table->db, &result, NULL);
        if (status == PETAL_OK)
            status = petal_get(table, text("r"), &scan->read, result, NULL);
        petal_result_free(result);
        return status;
    }
    status = petal_cursor_open(table, scan, &cursor, NULL);
    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, NULL);
        if (cell == NULL)
            break;
    }
    petal_cursor_close(cursor);
    return status;
}

/* Each allocation and each file call of each kind of read fails once: the read says so, or is right
 * without; and the next one is. */
TEST(reads_that_fail_can_be_repeated)
{
    struct script script;
    petal_filter *filter;
    petal_column columns[2];

    script_begin(&script);
    script_do(&script,
              "table t f,versions=9,block=1024,bloom=rowcol g,versions=9; put t r/f:a@1=v "
              "r/f:b@1=v s/f:b@1=v r/g:a@1=v; flush; put t r/f:a@2=w r/f@1!10 q/f:a@3=v; flush\n"
              "put t r/f:b@5!12 r/g:c@2=v s/g@2!14");
    columns[0] = (petal_column){script_family(&script, "t", "f"), text("a"), false};
    columns[1] = (petal_column){script_family(&script, "t", "g"), text("c"), false};
    MUST(petal_filter_parse(script.base.db, text("SKIP ValueFilter (=, 'regexstring:[vw]')"),
                            &filter, WHY));
    for (unsigned kind = 0; kind < 32; kind++) {
        petal_scan_options scan = {.reversed = kind & 1, .raw = (kind & 6) == 6};
        bool memory = kind & 16;
        uint64_t failed = 1, blocks;

        scan.read.versions = PETAL_ALL_VERSIONS;
        scan.read.columns = (kind & 6) == 2 ? columns : NULL;
        scan.read.column_count = (kind & 6) == 2 ? 2 : 0;
        scan.read.filter = (kind & 6) == 4 ? filter : NULL;
        for (uint64_t n = 1; failed > 0; n++) {
            uint64_t before = test_allocator_failures(&script.base.allocator) +
                              memory_vfs_failures(script.base.vfs);
            enum petal_status status;

            MUST(petal_cache_clear(script.base.db, NULL, &blocks, WHY));
            if (memory)
                test_allocator_fail_at(&script.base.allocator, n, false);
            else
                memory_vfs_fail_at(script.base.vfs, n, EIO, false);
            status = read_all(script_table(&script, "t"), &scan, (kind & 8) && !scan.raw);
            test_allocator_fail_at(&script.base.allocator, 0, false);
            memory_vfs_fail_at(script.base.vfs, 0, 0, false);
            failed = test_allocator_failures(&script.base.allocator) +
                     memory_vfs_failures(script.base.vfs) - before;
            assert_true(status == PETAL_OK || status == (memory ? PETAL_NO_MEMORY : PETAL_IO));
        }
        script_do(&script, "show t all : q/f:a=v r/f:a=w r/g:a=v r/g:c=v s/f:b=v");
    }
    petal_filter_free(filter);
    script_end(&script);
}

/* Rows that lie in two files by turns, in blocks that are longer than the first runs of a scan: it
 * gives them in order up to the one whose block cannot be had, and none after it. */
static void
scan_while_it_fails(const struct read_fixture *fixture, unsigned rows, bool memory)
{
    struct test_allocator *allocator = (struct test_allocator *)&fixture->base.allocator;
    uint64_t failed = 1, blocks;
    char row[16];

    for (uint64_t n = 1; failed > 0; n++) {
        uint64_t before =
            test_allocator_failures(allocator) + memory_vfs_failures(fixture->base.vfs);
        enum petal_status status = PETAL_OK;
        const petal_cell *cell = NULL;
        petal_cursor *cursor;
        unsigned given = 0;

        MUST(petal_cache_clear(fixture->base.db, NULL, &blocks, WHY));
        cursor = reads_cursor(fixture, NULL);
        if (memory)
            test_allocator_fail_at(allocator, n, true);
        else
            memory_vfs_fail_at(fixture->base.vfs, n, EIO, true);
        for (;; given++) {
            status = petal_cursor_next(cursor, &cell, NULL);
            if (cell == NULL)
                break;
            snprintf(row, sizeof row, "row%05u", given);
            assert_true(slice_equal(cell->row, text(row)));
        }
        test_allocator_fail_at(allocator, 0, false);
        memory_vfs_fail_at(fixture->base.vfs, 0, 0, false);
        petal_cursor_close(cursor);
        failed =
            test_allocator_failures(allocator) + memory_vfs_failures(fixture->base.vfs) - before;
        assert_true(status == PETAL_OK ? given == rows : given < rows && failed > 0);
    }
}

TEST(cells_before_a_failure_are_the_first_ones)
{
    enum { COUNT = 4000 };
    struct read_fixture fixture;
    char row[16], value[200];

    memset(value, 'v', sizeof value);
    reads_open(&fixture, "f", NULL);
    for (unsigned file = 0; file < 2; file++) {
        for (unsigned i = file; i < COUNT; i += 2) {
            snprintf(row, sizeof row, "row%05u", i);
            reads_put(&fixture, "f", text(row), text("q"), 1, slice_make(value, sizeof value));
        }
        reads_flush(&fixture);
    }
    scan_while_it_fails(&fixture, COUNT, false);
    scan_while_it_fails(&fixture, COUNT, true);
    fixture_fini(&fixture.base);
}

/* ---- options of other headers ---- */

/* The options of a scan as a header has them whose petal_read_options is of `read_bytes`; 0xee
 * where this one has nothing. */
static const petal_scan_options *
scan_options_of(uint64_t memory[64], const petal_scan_options *scan, size_t read_bytes)
{
    const size_t tail = offsetof(petal_scan_options, start_row);
    uint8_t *bytes = (uint8_t *)memory;
    size_t size = offsetof(petal_scan_options, read) + read_bytes + sizeof *scan - tail;

    memset(memory, 0xee, 64 * sizeof *memory);
    memcpy(bytes, &size, sizeof size);
    memcpy(bytes + offsetof(petal_scan_options, read), &scan->read,
           read_bytes < sizeof scan->read ? read_bytes : sizeof scan->read);
    memcpy(bytes + offsetof(petal_scan_options, read), &read_bytes, sizeof read_bytes);
    memcpy(bytes + offsetof(petal_scan_options, read) + read_bytes, &scan->start_row,
           sizeof *scan - tail);
    return (const petal_scan_options *)memory;
}

TEST(test_scan_options_of_other_headers)
{
    petal_scan_options scan = {.start_row = text("b"), .row_limit = 1, .reversed = true};
    petal_snapshot *snapshot;
    struct read_fixture fixture;
    uint64_t memory[64];

    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("1"));
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    reads_put(&fixture, "f", text("b"), text("q"), 1, text("2"));
    scan.read.snapshot = snapshot;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 ");
    assert_string_equal(reads_scan(&fixture, scan_options_of(memory, &scan, sizeof scan.read + 16)),
                        "a/f:q@1=1 ");
    /* Without a snapshot. */
    assert_string_equal(
        reads_scan(&fixture,
                   scan_options_of(memory, &scan, offsetof(petal_read_options, snapshot))),
        "b/f:q@1=2 ");
    /* Cut after the limit of rows, in the read's options, and after the size. */
    scan.size = offsetof(petal_scan_options, start_exclusive);
    scan.start_row = text("a");
    scan.read.snapshot = NULL;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 ");
    scan.size = offsetof(petal_scan_options, read.versions);
    scan.read.versions = -1;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 b/f:q@1=2 ");
    scan.size = sizeof scan.size;
    scan.read.without = ~0u;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 b/f:q@1=2 ");
    petal_snapshot_free(snapshot);
    fixture_fini(&fixture.base);
}

/* ---- many columns ---- */

#define COLUMNS 600

/* Named downwards, or at random, and twice: the answer is that of columns named in order. */
TEST(test_columns_in_any_order)
{
    petal_read_options read = {.column_count = COLUMNS};
    static char names[COLUMNS][8];
    petal_column columns[COLUMNS];
    const char *expected;
    struct read_fixture fixture;
    struct test_random random;

    test_random_init(&random, test_seed());
    reads_open(&fixture, "f", NULL);
    read.columns = columns;
    for (unsigned i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "q%03u", i / 2);
        columns[i] = (petal_column){reads_family(&fixture, "f"), text(names[i]), false};
        if (i % 4 == 0)
            reads_put(&fixture, "f", text("r"), text(names[i]), 1, text("v"));
    }
    expected = reads_get(&fixture, text("r"), &read);
    assert_int_equal(strlen(expected), COLUMNS / 4 * strlen("r/f:q000@1=v "));
    for (unsigned turn = 0; turn < 4; turn++) {
        for (unsigned i = 0; i < COLUMNS; i++) {
            unsigned other =
                turn == 0 ? COLUMNS - 1 - i : (unsigned)test_random_below(&random, COLUMNS);
            petal_slice qualifier = columns[i].qualifier;

            if (turn == 0 && other <= i)
                break;
            columns[i].qualifier = columns[other].qualifier;
            columns[other].qualifier = qualifier;
        }
        assert_string_equal(reads_get(&fixture, text("r"), &read), expected);
        if (turn == 1)
            reads_flush(&fixture);
        expected = reads_get(&fixture, text("r"), &read); /* its text does not live long */
    }
    fixture_fini(&fixture.base);
}
