/*
 * split_border_test.c -- where a region is split (engine/region/border.h): if its rows came in
 * order between two of its files, so that none is shared and waits for rewrites that nothing else
 * asks for; else in the middle of all of them.
 */
#include "tests/engine/compact/background_fixture.h"

#include "tests/support/test.h"

#include <stdio.h>

#define FILES     6
#define FILE_ROWS 20

struct regions {
    char starts[4][32];
    uint64_t files[4];
    size_t count;
};

static bool
add_region(void *argument, const petal_region_info *info)
{
    struct regions *regions = argument;

    assert_true(regions->count < 4);
    snprintf(regions->starts[regions->count], sizeof regions->starts[0], "%.*s",
             (int)info->start.size, info->start.size > 0 ? (const char *)info->start.data : "");
    regions->files[regions->count++] = info->files;
    return true;
}

TEST(a_split_of_rows_in_order_shares_no_file)
{
    struct regions regions = {0};
    struct place place;

    place_open(&place, NULL);
    place.fixture.options.no_compaction = true;
    place_reopen(&place);
    for (unsigned i = 0; i < FILES; i++)
        put_file(&place, i * FILE_ROWS, i * FILE_ROWS + FILE_ROWS - 1);
    MUST(petal_table_split(place.table, (petal_slice){0}, 0, WHY));
    MUST(petal_table_regions(place.table, add_region, &regions, WHY));
    assert_int_equal(regions.count, 2);
    assert_string_equal(regions.starts[1], "row0060");
    assert_int_equal(regions.files[0], FILES / 2);
    assert_int_equal(regions.files[1], FILES / 2);
    must_hold_rows(&place, 0, FILES * FILE_ROWS - 1);
    fixture_fini(&place.fixture);
}

/* The largest file has the last third of the rows; no border between files is near the middle. */
TEST(a_split_is_in_the_middle_of_all_files)
{
    const petal_family_options family = {.block_bytes = 1024};
    struct regions regions = {0};
    struct place place;

    place_open(&place, &family);
    place.fixture.options.no_compaction = true;
    place_reopen(&place);
    put_file(&place, 0, 499);
    put_file(&place, 250, 749);
    put_file(&place, 500, 1049);
    MUST(petal_table_split(place.table, (petal_slice){0}, 0, WHY));
    MUST(petal_table_regions(place.table, add_region, &regions, WHY));
    assert_int_equal(regions.count, 2);
    assert_true(strcmp(regions.starts[1], "row0400") > 0);
    assert_true(strcmp(regions.starts[1], "row0600") < 0);
    must_hold_rows(&place, 0, 1049);
    fixture_fini(&place.fixture);
}
