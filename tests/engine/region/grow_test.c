/*
 * grow_test.c -- regions that split by themselves as they grow: at the limit of the database or of
 * the table, not where that is off; regions that become small, and one; and all of it is done
 * when petal_wait_idle returns.
 */
#include "tests/engine/region/fixture.h"

#include "tests/support/test.h"

#define LIMIT ((uint64_t)64 << 10) /* the least that may be asked for */
#define ROWS  1200                 /* of 300 bytes that do not compress: six limits */

/* With jobs in the background. */
static void
grow_begin(struct region_fixture *fixture)
{
    fixture_init(&fixture->base, 31);
    fixture->base.options.no_compaction = false;
    fixture->base.options.max_region_bytes = LIMIT;
    fixture_must_open(&fixture->base);
}

static void
make_with(struct region_fixture *fixture, const char *attribute, const char *value)
{
    petal_family_options family = {.name = text("f"), .versions = 2, .block_bytes = 1024};
    petal_attribute attributes[] = {
        {.kind = PETAL_KEPT_ATTRIBUTE, .name = text(attribute), .value = text(value)}};
    petal_table_options options = {.name = text("t"),
                                   .families = &family,
                                   .family_count = 1,
                                   .attributes = attributes,
                                   .attribute_count = attribute[0] != '\0'};

    MUST(petal_table_create(fixture->base.db, &options, &fixture->table, WHY));
}

static void
fill(struct region_fixture *fixture, unsigned turn)
{
    for (unsigned first = 0; first < ROWS; first += ROWS / 6) {
        regions_put(fixture->table, first, first + ROWS / 6, turn);
        regions_flush(fixture);
    }
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

    grow_begin(&fixture);
    make_with(&fixture, "", "");
    fill(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 4, 20);
    assert_in_range(expect_below(&fixture, LIMIT), 6, 20);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_reopen(&fixture);
    expect_below(&fixture, LIMIT);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_end(&fixture);
}

TEST(test_the_limit_of_a_table_goes_before)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    grow_begin(&fixture);
    make_with(&fixture, "MAX_FILESIZE", "200000");
    fill(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 2, 5);
    expect_below(&fixture, 200000);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_end(&fixture);
}

static void
alter_with(struct region_fixture *fixture, const char *attribute, const char *value)
{
    petal_family_options family = {.name = text("f"), .versions = 2, .block_bytes = 1024};
    petal_attribute attributes[] = {
        {.kind = PETAL_KEPT_ATTRIBUTE, .name = text(attribute), .value = text(value)}};
    petal_table_options options = {.families = &family,
                                   .family_count = 1,
                                   .attributes = attributes,
                                   .attribute_count = attribute[0] != '\0'};

    MUST(petal_table_alter(fixture->table, &options, WHY));
}

/* Until it is on again; then what is too large is split. */
TEST(test_no_split_where_it_is_off)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    grow_begin(&fixture);
    make_with(&fixture, "SPLIT_ENABLED", "false");
    fill(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    regions_expect(fixture.table, "");
    regions_must_split_before(fixture.table, 10); /* not by itself, but as it is told */
    regions_must_merge(fixture.table, 0);
    alter_with(&fixture, "", "");
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 4, 20);
    assert_in_range(expect_below(&fixture, LIMIT), 6, 20);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_end(&fixture);
}

/* At rest no region is above it, without another commit. */
TEST(test_a_lower_limit_splits)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    grow_begin(&fixture);
    make_with(&fixture, "MAX_FILESIZE", "1000000");
    fill(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    regions_expect(fixture.table, "");
    alter_with(&fixture, "MAX_FILESIZE", "200000");
    MUST(petal_wait_idle(fixture.base.db, WHY));
    assert_in_range(regions_list(fixture.table, seen), 2, 5);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_end(&fixture);
}

/* As an opening finds it: by the index of the one file that all regions share at first, not more
 * often than it takes. */
TEST(test_what_is_too_large_at_an_opening_is_split)
{
    struct region_fixture fixture;

    regions_begin(&fixture); /* without jobs in the background nothing is split by itself */
    fixture.base.options.max_region_bytes = LIMIT;
    regions_reopen(&fixture);
    fill(&fixture, 1);
    MUST(petal_compact(fixture.table, NULL, WHY));
    regions_expect(fixture.table, "");
    fixture.base.options.no_compaction = false;
    for (unsigned i = 0; i < 3; i++) {
        struct region_seen seen[REGION_MOST];

        regions_reopen(&fixture);
        MUST(petal_wait_idle(fixture.base.db, WHY));
        assert_in_range(regions_list(fixture.table, seen), 6, 16);
    }
    expect_below(&fixture, LIMIT);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
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
    grow_begin(&fixture);
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

    grow_begin(&fixture);
    make_with(&fixture, "", "");
    fill(&fixture, 1);
    fill(&fixture, 2);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    expect_below(&fixture, LIMIT);
    regions_expect_rows(fixture.table, 0, ROWS, 2, NULL);
    petal_stats_get(fixture.base.db, &stats);
    assert_true(stats.compaction_bytes_out > 0);
    regions_end(&fixture);
}

/* ---- what becomes small ---- */

#define DAY_MS    ((int64_t)24 * 3600 * 1000)
#define ROWS_LEFT 10

/* A table that was split by itself, of which but a few rows are left. */
static void
begin_small(struct region_fixture *fixture)
{
    grow_begin(fixture);
    make_with(fixture, "", "");
    fill(fixture, 1);
    MUST(petal_wait_idle(fixture->base.db, WHY));
    regions_delete(fixture->table, ROWS_LEFT, ROWS);
    regions_flush(fixture);
    assert_true(expect_below(fixture, LIMIT / 8) > 4);
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

    grow_begin(&fixture);
    make_with(&fixture, "", "");
    fill(&fixture, 1);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    count = regions_list(fixture.table, seen);
    assert_int_equal(look_after(&fixture, 4), count);
    regions_expect_rows(fixture.table, 0, ROWS, 1, NULL);
    regions_end(&fixture);
}

/* What a table was created with, and what a split has made that was asked for. */
TEST(test_borders_that_somebody_made_stay)
{
    struct region_fixture fixture;

    grow_begin(&fixture);
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
        petal_family_options family = {.name = text("f"), .versions = 2, .block_bytes = 1024};
        petal_attribute attribute = {
            .kind = PETAL_KEPT_ATTRIBUTE, .name = text(off[i]), .value = text("false")};
        petal_table_options options = {
            .families = &family, .family_count = 1, .attributes = &attribute, .attribute_count = 1};

        begin_small(&fixture);
        MUST(petal_table_alter(fixture.table, &options, WHY));
        assert_true(look_after(&fixture, 4) > 4);
        regions_end(&fixture);
    }
}
