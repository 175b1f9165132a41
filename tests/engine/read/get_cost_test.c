/*
 * get_cost_test.c -- what a get looks at follows from its answer, not from what else lies in
 * the row, its columns or the store: markers of single versions, old versions, family markers. Each
 * is counted with some of them and with ten times as many.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define FILES 10
#define FEW   1000u
#define MANY  10000u

struct get_cost_fixture {
    struct read_fixture reads;
    petal_family *family;
    petal_batch *batch;
    petal_result *result;
    petal_receipt *receipt;
};

static void
begin(struct get_cost_fixture *fixture, enum petal_bloom_type bloom)
{
    petal_family_options options = {.bloom = bloom, .versions = PETAL_FOREVER, .block_bytes = 1024};

    reads_open(&fixture->reads, "f", &options);
    fixture->family = reads_family(&fixture->reads, "f");
    MUST(petal_batch_new(fixture->reads.base.db, &fixture->batch, WHY));
    MUST(petal_result_new(fixture->reads.base.db, &fixture->result, WHY));
    MUST(petal_receipt_new(fixture->reads.base.db, &fixture->receipt, WHY));
}

static void
end(struct get_cost_fixture *fixture)
{
    petal_batch_free(fixture->batch);
    petal_result_free(fixture->result);
    petal_receipt_free(fixture->receipt);
    fixture_fini(&fixture->reads.base);
}

static petal_slice
number_text(char bytes[16], const char *prefix, unsigned number)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "%s%07u", prefix, number));
}

/* ---- writing many cells ---- */

static void
write_batch(struct get_cost_fixture *fixture)
{
    MUST(petal_write(fixture->reads.base.db, fixture->batch,
                     &(petal_write_options){.durability = PETAL_SKIP_WAL}, WHY));
    petal_batch_clear(fixture->batch);
}

static void
add_put(struct get_cost_fixture *fixture, petal_slice row, petal_slice qualifier, int64_t timestamp)
{
    MUST(petal_batch_put(fixture->batch, fixture->family, row, qualifier, timestamp, text("value"),
                         WHY));
    if (petal_batch_count(fixture->batch) >= 1000)
        write_batch(fixture);
}

static void
add_marker(struct get_cost_fixture *fixture, petal_slice row, petal_slice qualifier,
           int64_t timestamp, enum petal_cell_type type)
{
    MUST(petal_batch_delete(fixture->batch, fixture->family, row, qualifier, timestamp, type, WHY));
    if (petal_batch_count(fixture->batch) >= 1000)
        write_batch(fixture);
}

/* FILES files, each with a version of the row's column `q`, and with rows before and after it. */
static void
fill_files(struct get_cost_fixture *fixture)
{
    for (int file = 1; file <= FILES; file++) {
        add_put(fixture, text("a"), text("q"), file * 100);
        add_put(fixture, text("row"), text("q"), file * 100);
        add_put(fixture, text("z"), text("q"), file * 100);
        write_batch(fixture);
        reads_flush(&fixture->reads);
    }
}

/* ---- reading ---- */

/* What a get did. */
struct work {
    size_t cells; /* of the answer */
    uint64_t files_read, blocks, cells_read, seeks;
};

/* Of the column `q` of the row, or of all of it. */
static struct work
get(struct get_cost_fixture *fixture, bool whole, const petal_read_options *given)
{
    petal_read_options options = given != NULL ? *given : (petal_read_options){0};
    petal_column column = {.family = fixture->family, .qualifier = text("q")};
    struct work work = {0};

    options.receipt = fixture->receipt;
    if (!whole) {
        options.columns = &column;
        options.column_count = 1;
    }
    MUST(petal_get(fixture->reads.table, text("row"), &options, fixture->result, WHY));
    work.cells = petal_result_count(fixture->result);
    for (size_t i = 0; i < petal_receipt_count(fixture->receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(fixture->receipt, i);

        work.files_read += source->file_number != 0 && source->skip == PETAL_SKIP_NONE;
        work.blocks +=
            source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
        work.cells_read += source->cells_read;
        work.seeks += source->seeks;
    }
    return work;
}

static void
expect_answer(const struct get_cost_fixture *fixture, const char *expected)
{
    assert_string_equal(reads_result_text(fixture->result), expected);
}

/* ---- markers of single versions ---- */

TEST(test_markers_of_other_rows_leave_found_newer_alone)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION};

    for (unsigned i = 0; i < 2; i++) {
        struct get_cost_fixture fixture;

        begin(&fixture, PETAL_BLOOM_NONE);
        fill_files(&fixture);
        assert_int_equal(get(&fixture, false, NULL).files_read, 1);
        add_marker(&fixture, text("other"), i == 0 ? text("q") : (petal_slice){0}, 300, types[i]);
        write_batch(&fixture);
        assert_int_equal(get(&fixture, false, NULL).files_read, 1);
        reads_flush(&fixture.reads);
        assert_int_equal(get(&fixture, false, NULL).files_read, 1);
        expect_answer(&fixture, "row/f:q@1000=value ");
        end(&fixture);
    }
}

/* A marker costs the reads that the version it hides would have saved, no more. */
TEST(test_markers_that_hide_a_version_cost_one_file)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION};

    for (unsigned i = 0; i < 2; i++) {
        petal_slice qualifier = i == 0 ? text("q") : (petal_slice){0};
        struct work work;
        struct get_cost_fixture fixture;

        begin(&fixture, PETAL_BLOOM_NONE);
        fill_files(&fixture);
        add_marker(&fixture, text("row"), qualifier, 1000, types[i]);
        write_batch(&fixture);
        work = get(&fixture, false, NULL);
        expect_answer(&fixture, "row/f:q@900=value ");
        assert_int_equal(work.files_read, 2);
        reads_flush(&fixture.reads);
        work = get(&fixture, false, NULL);
        expect_answer(&fixture, "row/f:q@900=value ");
        assert_int_equal(work.files_read, 3);
        work = get(&fixture, false, &(petal_read_options){.versions = 2});
        expect_answer(&fixture, "row/f:q@900=value row/f:q@800=value ");
        assert_int_equal(work.files_read, 4);
        /* One of a version below those wanted hides none of them. */
        add_marker(&fixture, text("row"), qualifier, 100, types[i]);
        write_batch(&fixture);
        work = get(&fixture, false, NULL);
        expect_answer(&fixture, "row/f:q@900=value ");
        assert_int_equal(work.files_read, 3);
        end(&fixture);
    }
}

/* Markers of other rows in memory, and a column of as many versions. */
static struct work
work_beside_markers(unsigned count, bool whole, bool flushed)
{
    struct work work;
    struct get_cost_fixture fixture;
    char bytes[16];

    begin(&fixture, PETAL_BLOOM_ROW);
    for (unsigned i = 1; i <= count; i++)
        add_put(&fixture, text("row"), text("q"), i);
    write_batch(&fixture);
    if (flushed)
        reads_flush(&fixture.reads);
    for (unsigned i = 0; i < count; i++)
        add_marker(&fixture, number_text(bytes, "other", i), text("q"), i + 1, PETAL_DELETE);
    write_batch(&fixture);
    work = get(&fixture, whole, NULL);
    assert_int_equal(work.cells, 1);
    end(&fixture);
    return work;
}

TEST(test_markers_in_memory_ask_no_older_versions)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_in_range(work_beside_markers(FEW, i & 1, i & 2).cells_read, 1, 8);
        assert_in_range(work_beside_markers(MANY, i & 1, i & 2).cells_read, 1, 8);
    }
}

/*
 * Markers in a file that is asked after the one of the versions that they hide, since another cell
 * of that has a greater timestamp: what was taken of it did not reach far enough. The answer is
 * right, and what is looked at grows with the markers.
 */
TEST(test_markers_that_come_late)
{
    for (unsigned deleted = 1; deleted <= FEW; deleted *= 10) {
        for (unsigned whole = 0; whole < 2; whole++) {
            struct get_cost_fixture fixture;
            struct work work;

            begin(&fixture, PETAL_BLOOM_NONE);
            for (unsigned i = 1; i <= MANY; i++)
                add_put(&fixture, text("row"), text("q"), i);
            add_put(&fixture, text("z"), text("q"), 2 * MANY);
            write_batch(&fixture);
            reads_flush(&fixture.reads);
            for (unsigned i = 0; i < deleted; i++)
                add_marker(&fixture, text("row"), text("q"), MANY - i, PETAL_DELETE);
            write_batch(&fixture);
            reads_flush(&fixture.reads);
            work = get(&fixture, whole, &(petal_read_options){.versions = 2});
            assert_int_equal(work.cells, 2);
            assert_int_equal(petal_result_cell(fixture.result, 0)->timestamp, MANY - deleted);
            assert_int_equal(petal_result_cell(fixture.result, 1)->timestamp, MANY - deleted - 1);
            assert_in_range(work.cells_read, deleted, 200 + 12 * deleted);
            assert_int_equal(petal_receipt_hidden(fixture.receipt, PETAL_HIDDEN_DELETE), deleted);
            end(&fixture);
        }
    }
}

/* ---- versions ---- */

/* A row with a column before and one after a column of so many versions. */
static struct work
work_of_whole_row(unsigned versions, bool flushed, const petal_read_options *options)
{
    struct work work;
    struct get_cost_fixture fixture;

    begin(&fixture, PETAL_BLOOM_ROW);
    add_put(&fixture, text("row"), text("a"), versions / 2);
    for (unsigned i = 1; i <= versions; i++)
        add_put(&fixture, text("row"), text("q"), i);
    add_put(&fixture, text("row"), text("z"), versions / 2);
    write_batch(&fixture);
    if (flushed)
        reads_flush(&fixture.reads);
    work = get(&fixture, true, options);
    end(&fixture);
    return work;
}

TEST(test_whole_rows_seek_past_old_versions)
{
    for (unsigned count = FEW; count <= MANY; count *= 10) {
        for (unsigned flushed = 0; flushed < 2; flushed++) {
            struct work work = work_of_whole_row(count, flushed, NULL);

            assert_int_equal(work.cells, 3);
            assert_in_range(work.cells_read, 3, 16);
            assert_in_range(work.blocks, 0, 3);
        }
    }
}

/* A column all of whose versions are below the time range. */
TEST(test_whole_rows_seek_past_versions_below_the_range)
{
    for (unsigned count = FEW; count <= MANY; count *= 10) {
        for (unsigned flushed = 0; flushed < 2; flushed++) {
            struct work work = work_of_whole_row(count, flushed,
                                                 &(petal_read_options){.has_time_range = true,
                                                                       .time_min = count + 1,
                                                                       .time_limit = INT64_MAX});

            assert_int_equal(work.cells, 0);
            assert_in_range(work.cells_read, 0, 20);
            assert_in_range(work.blocks, 0, 3);
        }
    }
}

/* Of so many versions the two oldest are asked for; a marker of the column at `deleted`, 0: none.
 */
static struct work
work_of_old_versions(unsigned versions, bool whole, bool flushed, int64_t deleted)
{
    struct work work;
    struct get_cost_fixture fixture;

    begin(&fixture, PETAL_BLOOM_ROW);
    for (unsigned i = 1; i <= versions; i++)
        add_put(&fixture, text("row"), text("q"), i);
    if (deleted > 0)
        add_marker(&fixture, text("row"), text("q"), deleted, PETAL_DELETE_COLUMN);
    write_batch(&fixture);
    if (flushed)
        reads_flush(&fixture.reads);
    work = get(&fixture, whole,
               &(petal_read_options){
                   .has_time_range = true, .time_limit = 3, .versions = (int32_t)versions});
    end(&fixture);
    return work;
}

TEST(test_versions_above_the_range_are_sought_past)
{
    for (unsigned count = FEW; count <= MANY; count *= 10) {
        for (unsigned i = 0; i < 4; i++) {
            struct work work = work_of_old_versions(count, i & 1, i & 2, 0);

            assert_int_equal(work.cells, 2);
            assert_in_range(work.cells_read, 2, 16);
            assert_in_range(work.blocks, 0, 3);
            /* A marker above the range hides what is in it. */
            assert_int_equal(work_of_old_versions(count, i & 1, i & 2, count / 2).cells, 0);
            assert_int_equal(work_of_old_versions(count, i & 1, i & 2, 1).cells, 1);
        }
    }
}

/* ---- wide rows ---- */

static struct work
work_of_named_columns(unsigned columns, unsigned named, bool flushed)
{
    petal_column *names = test_allocate(named * sizeof *names);
    char(*bytes)[16] = test_allocate(named * sizeof *bytes);
    petal_read_options options = {.receipt = NULL, .columns = names, .column_count = named};
    struct work work = {0};
    struct get_cost_fixture fixture;
    char name[16];

    begin(&fixture, PETAL_BLOOM_ROW);
    for (unsigned i = 0; i < columns; i++)
        add_put(&fixture, text("row"), number_text(name, "c", i), 1);
    write_batch(&fixture);
    if (flushed)
        reads_flush(&fixture.reads);
    for (unsigned i = 0; i < named; i++)
        names[i] = (petal_column){.family = fixture.family,
                                  .qualifier = number_text(bytes[i], "c", i * (columns / named))};
    options.receipt = fixture.receipt;
    MUST(petal_get(fixture.reads.table, text("row"), &options, fixture.result, WHY));
    work.cells = petal_result_count(fixture.result);
    for (size_t i = 0; i < petal_receipt_count(fixture.receipt); i++) {
        work.cells_read += petal_receipt_at(fixture.receipt, i)->cells_read;
        work.seeks += petal_receipt_at(fixture.receipt, i)->seeks;
        work.blocks += petal_receipt_at(fixture.receipt, i)->blocks_fetched[PETAL_BLOCK_DATA] +
                       petal_receipt_at(fixture.receipt, i)->blocks_cached[PETAL_BLOCK_DATA];
    }
    end(&fixture);
    free(names);
    free(bytes);
    return work;
}

TEST(test_named_columns_of_wide_rows)
{
    for (unsigned columns = MANY; columns <= 10 * MANY; columns *= 10) {
        for (unsigned flushed = 0; flushed < 2; flushed++) {
            for (unsigned named = 1; named <= 1000; named *= 1000) {
                struct work work = work_of_named_columns(columns, named, flushed);

                assert_int_equal(work.cells, named);
                assert_in_range(work.cells_read, named, 2 * named);
                assert_int_equal(work.seeks, named);
                assert_in_range(work.blocks, flushed ? 1 : 0, named);
            }
        }
    }
}

/* ---- family markers ---- */

static struct work
work_behind_family_markers(unsigned count, enum petal_cell_type type, bool whole, bool flushed)
{
    struct work work;
    struct get_cost_fixture fixture;

    begin(&fixture, PETAL_BLOOM_ROW);
    for (unsigned i = 1; i <= count; i++)
        add_marker(&fixture, text("row"), (petal_slice){0}, i, type);
    add_put(&fixture, text("row"), text("q"), count + 1);
    write_batch(&fixture);
    if (flushed)
        reads_flush(&fixture.reads);
    work = get(&fixture, whole, NULL);
    assert_int_equal(work.cells, 1);
    end(&fixture);
    return work;
}

TEST(test_the_greatest_family_marker_is_enough)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_in_range(
            work_behind_family_markers(FEW, PETAL_DELETE_FAMILY, i & 1, i & 2).cells_read, 1, 16);
        assert_in_range(
            work_behind_family_markers(MANY, PETAL_DELETE_FAMILY, i & 1, i & 2).cells_read, 1, 16);
    }
}

/* Of the row's markers of kind 10, at so many odd timestamps, only those of the versions asked for
 * matter. With versions at odd timestamps, too, they hide some: then a walk reads them once. */
TEST(test_family_versions_are_searched)
{
    for (unsigned count = FEW; count <= MANY; count *= 10) {
        for (unsigned i = 0; i < 16; i++) {
            bool whole = i & 1, flushed = i & 2, apart = i & 4, hidden = i & 8;
            struct work work;
            struct get_cost_fixture fixture;

            begin(&fixture, PETAL_BLOOM_ROW);
            for (unsigned timestamp = 2; timestamp < 10; timestamp += hidden ? 1 : 2)
                add_put(&fixture, text("row"), text("q"), timestamp);
            write_batch(&fixture);
            if (apart)
                reads_flush(&fixture.reads);
            for (unsigned k = 0; k < count; k++)
                add_marker(&fixture, text("row"), (petal_slice){0}, 2 * k + 1,
                           PETAL_DELETE_FAMILY_VERSION);
            write_batch(&fixture);
            if (flushed)
                reads_flush(&fixture.reads);
            work = get(&fixture, whole, &(petal_read_options){.versions = 3});
            expect_answer(&fixture, "row/f:q@8=value row/f:q@6=value row/f:q@4=value ");
            assert_true(work.cells_read <= (hidden ? 2 * count : 600));
            if (!hidden)
                assert_in_range(work.blocks, 0, 30);
            end(&fixture);
        }
    }
}

/* Gets agree with scans, which take all markers, whatever is hidden. */
TEST(test_many_family_versions_at_random)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_short() ? 10 : 60); round++) {
        uint64_t span = 10 + test_random_below(&random, 1000);
        struct get_cost_fixture fixture;

        begin(&fixture, PETAL_BLOOM_ROW);
        for (unsigned i = 0; i < 600; i++) {
            int64_t timestamp = (int64_t)test_random_below(&random, span);
            petal_slice qualifier = test_random_chance(&random, 50) ? text("q") : text("p");

            if (test_random_chance(&random, 60))
                add_marker(&fixture, text("row"), (petal_slice){0}, timestamp,
                           PETAL_DELETE_FAMILY_VERSION);
            else if (test_random_chance(&random, 2))
                add_marker(&fixture, text("row"), (petal_slice){0}, timestamp / 4,
                           PETAL_DELETE_FAMILY);
            else if (test_random_chance(&random, 20))
                add_marker(&fixture, text("row"), qualifier, timestamp, PETAL_DELETE);
            else
                add_put(&fixture, text("row"), qualifier, timestamp);
            if (test_random_chance(&random, 2)) {
                write_batch(&fixture);
                reads_flush(&fixture.reads);
            }
        }
        write_batch(&fixture);
        for (int32_t versions = 1; versions <= 64; versions *= 2) {
            petal_column column = {.family = fixture.family, .qualifier = text("q")};
            petal_scan_options scan = {.read = {.versions = versions}};

            for (unsigned named = 0; named < 2; named++) {
                scan.read.columns = &column;
                scan.read.column_count = named;
                assert_string_equal(reads_get(&fixture.reads, text("row"), &scan.read),
                                    reads_scan(&fixture.reads, &scan));
            }
        }
        end(&fixture);
    }
}
