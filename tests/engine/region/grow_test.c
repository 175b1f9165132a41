/*
 * grow_test.c -- regions that split by themselves as they grow: at the limit of the database or of
 * the table, not where that is off; regions that become small, and one; and all of it is done
 * when petal_wait_idle returns.
 */
#include "tests/engine/region/fixture.h"

#include "tests/support/test.h"

/* Make the table, or alter the one that is there, with the attribute; "": with none. */
static void
set_table(struct region_fixture *fixture, const char *attribute, const char *value, bool is_there)
{
    petal_family_options family = {.name = text("f"), .versions = 2, .block_bytes = 1024};
    petal_attribute attributes[] = {
        {.kind = PETAL_KEPT_ATTRIBUTE, .name = text(attribute), .value = text(value)}};
    petal_table_options options = {.families = &family,
                                   .family_count = 1,
                                   .attributes = attributes,
                                   .attribute_count = attribute[0] != '\0'};

    if (is_there) {
        MUST(petal_table_alter(fixture->table, &options, WHY));
        return;
    }
    options.name = text("t");
    MUST(petal_table_create(fixture->base.db, &options, &fixture->table, WHY));
}

static void
make_with(struct region_fixture *fixture, const char *attribute, const char *value)
{
    set_table(fixture, attribute, value, false);
}

static void
alter_with(struct region_fixture *fixture, const char *attribute, const char *value)
{
    set_table(fixture, attribute, value, true);
}

/* At rest, and each region has files of its own alone: then none is above the limit. */
static size_t
expect_below(struct region_fixture *fixture, uint64_t limit)
{
    struct region_seen seen[REGION_MOST];
    size_t count;

    MUST(petal_compact(fixture->table, NULL, WHY));
    MUST(petal_wait_idle(fixture->base.db, WHY));
    count = regions_list(fixture->table, seen);
    for (size_t i = 0; i < count; i++)
        assert_true(seen[i].file_bytes <= limit);
    return count;
}

TEST(test_a_region_that_grows_is_split)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin_growing(&fixture);
    make_with(&fixture, "", "");
    regions_grow(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 4, 20);
    assert_in_range(expect_below(&fixture, REGION_LIMIT), 6, 20);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_reopen(&fixture);
    expect_below(&fixture, REGION_LIMIT);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

TEST(test_the_limit_of_a_table_goes_before)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin_growing(&fixture);
    make_with(&fixture, "MAX_FILESIZE", "200000");
    regions_grow(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 2, 5);
    expect_below(&fixture, 200000);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

/* Until it is on again; then what is too large is split. */
TEST(test_no_split_where_it_is_off)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin_growing(&fixture);
    make_with(&fixture, "SPLIT_ENABLED", "false");
    regions_grow(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    regions_expect(fixture.table, "");
    regions_must_split_before(fixture.table, 10); /* not by itself, but as it is told */
    regions_must_merge(fixture.table, 0);
    alter_with(&fixture, "", "");
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 4, 20);
    assert_in_range(expect_below(&fixture, REGION_LIMIT), 6, 20);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

/* At rest no region is above it, without another commit. */
TEST(test_a_lower_limit_splits)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin_growing(&fixture);
    make_with(&fixture, "MAX_FILESIZE", "1000000");
    regions_grow(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    regions_expect(fixture.table, "");
    alter_with(&fixture, "MAX_FILESIZE", "200000");
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 2, 5);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

/* As an opening finds it: by the index of the one file that all regions share at first, not more
 * often than it takes. */
TEST(test_what_is_too_large_at_an_opening_is_split)
{
    struct region_fixture fixture;

    regions_begin(&fixture); /* without jobs in the background nothing is split by itself */
    fixture.base.options.max_region_bytes = REGION_LIMIT;
    regions_reopen(&fixture);
    regions_grow(&fixture, 1);
    MUST(petal_compact(fixture.table, NULL, WHY));
    regions_expect(fixture.table, "");
    fixture.base.options.no_compaction = false;
    for (unsigned i = 0; i < 3; i++) {
        struct region_seen seen[REGION_MOST];

        regions_reopen(&fixture);
        MUST(petal_wait_idle(fixture.base.db, WHY));
        assert_in_range(regions_list(fixture.table, seen), 6, 16);
    }
    expect_below(&fixture, REGION_LIMIT);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

/* A row as large as the limit cannot be cut: it stays whole, and nobody goes on trying. */
TEST(test_a_row_above_the_limit)
{
    static char value[4000];
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    struct test_random random;
    char name[16];

    test_random_init(&random, 3);
    regions_begin_growing(&fixture);
    make_with(&fixture, "", "");
    for (unsigned i = 0; i < 40; i++) {
        test_random_bytes(&random, value, sizeof value);
        (void)snprintf(name, sizeof name, "q%02u", i);
        MUST(petal_put(petal_table_family_at(fixture.table, 0), text("wide"), text(name),
                       PETAL_LATEST, slice_make(value, sizeof value), NULL, WHY));
    }
    regions_flush(&fixture);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_int_equal(regions_list(fixture.table, seen), 1);
    regions_put_text(fixture.table, "a", "small");
    regions_put_text(fixture.table, "z", "small");
    regions_flush(&fixture);
    MUST(petal_compact(fixture.table, NULL, WHY));
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 1, 3);
    regions_end(&fixture);
}

/* Rows in ascending order: what is behind is not rewritten over and over. */
TEST(test_ascending_rows)
{
    struct region_fixture fixture;
    petal_stats stats;

    regions_begin_growing(&fixture);
    make_with(&fixture, "", "");
    regions_grow(&fixture, 1);
    regions_grow(&fixture, 2);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    expect_below(&fixture, REGION_LIMIT);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 2, NULL);
    petal_stats_get(fixture.base.db, &stats);
    assert_true(stats.compaction_bytes_out > 0);
    regions_end(&fixture);
}

/* ---- what becomes small ---- */

#define DAY_MS    ((int64_t)24 * 3600 * 1000)
#define ROWS_LEFT 10

static void
begin_small(struct region_fixture *fixture)
{
    regions_begin_small(fixture, ROWS_LEFT);
    assert_true(expect_below(fixture, REGION_LIMIT / 8) > 4);
}

/* What the opening that many days later finds; the number of regions that there are then. */
static size_t
look_after(struct region_fixture *fixture, unsigned days)
{
    struct region_seen seen[REGION_MOST];

    test_clock_advance(&fixture->base.clock, days * DAY_MS);
    regions_reopen(fixture);
    MUST(petal_wait_idle(fixture->base.db, WHY));
    return regions_list(fixture->table, seen);
}

/* After two days nothing happens; after four all become one. */
TEST(test_small_regions_become_one)
{
    struct region_fixture fixture;

    begin_small(&fixture);
    assert_true(look_after(&fixture, 2) > 4);
    assert_int_equal(look_after(&fixture, 2), 1);
    regions_expect_rows(fixture.table, 0, ROWS_LEFT, 1, NULL);
    assert_int_equal(look_after(&fixture, 0), 1);
    regions_end(&fixture);
}

/* Two of about half the limit each are more than a quarter of it. */
TEST(test_regions_of_some_size_stay)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];
    size_t count;

    regions_begin_growing(&fixture);
    make_with(&fixture, "", "");
    regions_grow(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    count = regions_list(fixture.table, seen);
    assert_int_equal(look_after(&fixture, 4), count);
    regions_expect_rows(fixture.table, 0, REGION_ROWS, 1, NULL);
    regions_end(&fixture);
}

/* What a table was created with, and what a split has made that was asked for. */
TEST(test_borders_that_somebody_made_stay)
{
    struct region_fixture fixture;

    regions_begin_growing(&fixture);
    MUST(regions_create(&fixture.base, "t", "d m t", &fixture.table, WHY));
    regions_must_split(fixture.table, "p");
    (void)look_after(&fixture, 400);
    regions_expect(fixture.table, "d m p t");
    regions_end(&fixture);
}

TEST(test_no_merge_where_it_is_off)
{
    static const char *const off[] = {"MERGE_ENABLED", "SPLIT_ENABLED"};

    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        struct region_fixture fixture;

        begin_small(&fixture);
        alter_with(&fixture, off[i], "false");
        assert_true(look_after(&fixture, 4) > 4);
        regions_end(&fixture);
    }
}
