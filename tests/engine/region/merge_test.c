/*
 * merge_test.c -- regions that become one again: which may, what is rewritten before, and that
 * what one of them has deleted or replaced does not come back from a file of the other.
 */
#include "tests/engine/region/fixture.h"

#include "tests/support/test.h"

static uint64_t
compactions(struct region_fixture *fixture)
{
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    return stats.compactions;
}

/* Nothing is rewritten, and the files are what they were. */
TEST(test_a_merge_right_after_a_split_undoes_it)
{
    struct region_fixture fixture;
    struct region_seen before[REGION_MOST], after[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    (void)regions_list(fixture.table, before);
    regions_must_split_before(fixture.table, 100);
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "");
    (void)regions_list(fixture.table, after);
    assert_int_equal(after[0].id, before[0].id);
    assert_int_equal(after[0].cells, before[0].cells);
    assert_int_equal(after[0].file_bytes, before[0].file_bytes);
    assert_int_equal(regions_files(&fixture), 1);
    assert_int_equal(compactions(&fixture), 0);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_reopen(&fixture);
    regions_expect(fixture.table, "");
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_end(&fixture);
}

/* Four regions, each with a row in memory: "a:1 e:2 n:3 u:4 ". */
static void
begin_four(struct region_fixture *fixture)
{
    regions_begin_split(fixture, "d m t");
    regions_put_text(fixture->table, "a", "1");
    regions_put_text(fixture->table, "e", "2");
    regions_put_text(fixture->table, "n", "3");
    regions_put_text(fixture->table, "u", "4");
}

/* By either id first, and with what is in memory. */
TEST(test_neighbours_merge_in_any_order)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    char line[4096];

    begin_four(&fixture);
    assert_int_equal(regions_list(fixture.table, seen), 4);
    MUST(petal_table_merge(fixture.table, seen[2].id, seen[1].id, WHY));
    regions_expect(fixture.table, "d t");
    assert_string_equal(regions_text(fixture.table, line), "a:1 e:2 n:3 u:4 ");
    regions_must_merge(fixture.table, 1);
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "");
    assert_string_equal(regions_text(fixture.table, line), "a:1 e:2 n:3 u:4 ");
    regions_reopen(&fixture);
    assert_string_equal(regions_text(fixture.table, line), "a:1 e:2 n:3 u:4 ");
    regions_end(&fixture);
}

/* What is in memory of the others stays there. */
TEST(test_a_merge_flushes_its_two_regions_alone)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    char line[4096];

    begin_four(&fixture);
    regions_must_merge(fixture.table, 1);
    assert_int_equal(regions_list(fixture.table, seen), 3);
    assert_true(seen[0].memtable_bytes > 0 && seen[2].memtable_bytes > 0);
    assert_int_equal(seen[0].files + seen[2].files, 0);
    assert_int_equal(seen[1].memtable_bytes, 0);
    assert_int_equal(seen[1].cells, 2);
    assert_string_equal(regions_text(fixture.table, line), "a:1 e:2 n:3 u:4 ");
    regions_reopen(&fixture);
    assert_string_equal(regions_text(fixture.table, line), "a:1 e:2 n:3 u:4 ");
    regions_end(&fixture);
}

TEST(test_merges_that_are_refused)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    petal_error error;

    regions_begin_split(&fixture, "d m");
    (void)regions_list(fixture.table, seen);
    assert_int_equal(petal_table_merge(fixture.table, seen[0].id, seen[2].id, &error),
                     PETAL_INVALID);
    assert_non_null(strstr(error.text, "are no neighbours"));
    assert_int_equal(petal_table_merge(fixture.table, seen[1].id, seen[1].id, &error),
                     PETAL_INVALID);
    assert_int_equal(petal_table_merge(fixture.table, seen[1].id, 12345, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "table t has no region 12345"));
    assert_int_equal(petal_table_merge(fixture.table, 12345, seen[1].id, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "table t has no region 12345"));
    regions_expect(fixture.table, "d m");
    regions_end(&fixture);
}

/* One half was rewritten: the other is, too, before they are one. */
TEST(test_a_merge_compacts_what_one_has_rewritten)
{
    for (unsigned half = 0; half < 2; half++) {
        struct region_fixture fixture;

        regions_begin(&fixture);
        regions_put(fixture.table, 0, 300, 1);
        regions_flush(&fixture);
        regions_must_split_before(fixture.table, 150);
        regions_put(fixture.table, 0, 300, 2);
        regions_flush(&fixture);
        regions_delete(fixture.table, half == 0 ? 0 : 150, half == 0 ? 150 : 300);
        regions_flush(&fixture);
        regions_compact(fixture.table, text(half == 0 ? "" : "z"));
        regions_must_merge(fixture.table, 0);
        regions_expect(fixture.table, "");
        regions_expect_rows(fixture.table, half == 0 ? 150 : 0, half == 0 ? 300 : 150, 2, NULL);
        regions_reopen(&fixture);
        regions_expect_rows(fixture.table, half == 0 ? 150 : 0, half == 0 ? 300 : 150, 2, NULL);
        regions_end(&fixture);
    }
}

/* The file is also that of a third region, which keeps it. */
TEST(test_a_merge_beside_a_third_that_shares)
{
    struct region_fixture fixture;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    regions_must_split_before(fixture.table, 200);
    regions_must_split_before(fixture.table, 100);
    regions_compact(fixture.table, text("row 00150"));
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "row 00200");
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "");
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_reopen(&fixture);
    regions_expect_rows(fixture.table, 0, 300, 1, NULL);
    regions_end(&fixture);
}

/* Of three that share a file the one in the middle has rewritten its rows, and deleted them; then
 * the outer ones, which have the file still, meet in one region. */
TEST(test_a_deleted_middle_does_not_come_back)
{
    struct region_fixture fixture;
    char first[16];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 300, 1);
    regions_flush(&fixture);
    regions_must_split_before(fixture.table, 200);
    regions_must_split_before(fixture.table, 100);
    regions_delete(fixture.table, 100, 200);
    regions_flush(&fixture);
    regions_compact(fixture.table, regions_row(first, 150));
    regions_must_merge(fixture.table, 1);
    regions_must_merge(fixture.table, 0);
    regions_expect(fixture.table, "");
    regions_delete(fixture.table, 200, 300);
    regions_expect_rows(fixture.table, 0, 100, 1, NULL);
    regions_reopen(&fixture);
    regions_expect_rows(fixture.table, 0, 100, 1, NULL);
    MUST(petal_compact(fixture.table, NULL, WHY));
    regions_expect_rows(fixture.table, 0, 100, 1, NULL);
    regions_end(&fixture);
}

/* An opening after the merge replays no log of the region that went. */
TEST(test_death_after_a_merge)
{
    struct region_fixture fixture;

    regions_begin_split(&fixture, "row+00050");
    regions_must_split_before(fixture.table, 50);
    regions_put(fixture.table, 0, 100, 1);
    regions_must_merge(fixture.table, 1);
    regions_delete(fixture.table, 0, 20);
    regions_put(fixture.table, 20, 100, 2);
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_expect(fixture.table, "row 00050");
    regions_expect_rows(fixture.table, 20, 100, 2, NULL);
    regions_must_merge(fixture.table, 0);
    regions_expect_rows(fixture.table, 20, 100, 2, NULL);
    regions_end(&fixture);
}

/* A put that a marker hides, though it came later: both are gone from files, but the log has the
 * put still, since another table needs that. It must not be replayed. */
static void
hide_a_put(struct region_fixture *fixture, bool then_merge)
{
    petal_family *family = petal_table_family_at(fixture->table, 0);
    petal_slice row = text("x"), none = {NULL, 0};
    petal_table *other;

    MUST(regions_create(&fixture->base, "other", "", &other, WHY));
    MUST(petal_delete(family, row, none, 100, PETAL_DELETE_FAMILY, NULL, WHY));
    MUST(petal_put(family, text("y"), text("q"), 1, text("1"), NULL, WHY));
    MUST(petal_put(family, text("a"), text("q"), 1, text("1"), NULL, WHY));
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    regions_put_text(other, "r", "1");
    MUST(petal_put(family, row, text("q"), 50, text("hidden"), NULL, WHY));
    if (then_merge)
        regions_must_merge(fixture->table, 0);
    regions_flush(fixture);
    MUST(petal_compact(fixture->table, NULL, WHY));
}

static void
die_and_expect(struct region_fixture *fixture)
{
    char line[4096];

    fixture_die(&fixture->base);
    fixture_must_open(&fixture->base);
    MUST(petal_table_open(fixture->base.db, text("t"), &fixture->table, WHY));
    assert_string_equal(regions_text(fixture->table, line), "a:1 y:1 ");
}

TEST(test_what_was_flushed_is_not_replayed)
{
    struct region_fixture fixture;

    regions_begin_split(&fixture, "m");
    hide_a_put(&fixture, true);
    regions_expect(fixture.table, "");
    die_and_expect(&fixture);
    regions_end(&fixture);
    regions_begin(&fixture);
    hide_a_put(&fixture, false);
    regions_must_split(fixture.table, "m");
    die_and_expect(&fixture);
    regions_end(&fixture);
}

/* Split and merged over and over at random, flushed and compacted between: rows as they are. */
TEST(test_random_splits_and_merges)
{
    struct region_fixture fixture;
    struct test_random random;
    unsigned turn = 1;

    test_random_init(&random, test_seed());
    regions_begin(&fixture);
    regions_put(fixture.table, 0, 200, turn);
    for (unsigned step = 0; step < (test_long() ? 3000u : 300u); step++) {
        struct region_seen seen[REGION_MOST];
        size_t count = regions_list(fixture.table, seen);
        unsigned number = (unsigned)test_random_below(&random, 220);
        char row[16];
        petal_error error;
        enum petal_status status;

        switch (test_random_below(&random, 10)) {
        case 0:
        case 1:
            if (count + 1 < REGION_MOST / 4) {
                status = petal_table_split(fixture.table, regions_row(row, number), 0, &error);
                assert_true(status == PETAL_OK || status == PETAL_INVALID);
            }
            break;
        case 2:
        case 3:
            if (count > 1)
                regions_must_merge(fixture.table, test_random_below(&random, count - 1));
            break;
        case 4:
            regions_compact(fixture.table, regions_row(row, number));
            break;
        case 5:
            regions_flush(&fixture);
            break;
        case 6:
            regions_reopen(&fixture);
            break;
        case 7:
            fixture_die(&fixture.base);
            fixture_must_open(&fixture.base);
            MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
            break;
        default:
            turn++;
            regions_delete(fixture.table, 0, 200);
            regions_put(fixture.table, 0, 200, turn);
            break;
        }
        regions_expect_rows(fixture.table, 0, 200, turn, NULL);
    }
    regions_end(&fixture);
}
