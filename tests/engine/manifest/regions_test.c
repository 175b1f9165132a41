/*
 * regions_test.c -- regions of tables in the manifest: they are loaded as they were committed, have
 * files of their own, and what makes no region is refused. (The rest of the manifest:
 * manifest_test.c.)
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "engine/manifest/format.h"
#include "tests/engine/manifest/fixture.h"
#include "tests/support/test.h"

/* ---- edits ---- */

static const petal_family_options families[] = {{.size = sizeof(petal_family_options),
                                                 .name = {"f", 1},
                                                 .versions = 1,
                                                 .block_bytes = 65536,
                                                 .bloom = PETAL_BLOOM_ROW,
                                                 .bloom_error_rate = 0.01},
                                                {.size = sizeof(petal_family_options),
                                                 .name = {"g", 1},
                                                 .versions = 1,
                                                 .block_bytes = 65536,
                                                 .bloom = PETAL_BLOOM_ROW,
                                                 .bloom_error_rate = 0.01}};
static const petal_table_options options = {
    .name = {"t", 1}, .families = families, .family_count = 1};

static const struct manifest_file shared = {.number = 5,
                                            .identity = 0xABCD,
                                            .run = 5,
                                            .file_bytes = 700,
                                            .sequence_min = 20,
                                            .sequence_max = 22,
                                            .cells = 3};

static void
commit(struct manifest *manifest, struct manifest_edit *edit)
{
    petal_error error;

    must(manifest_commit(manifest, edit, &error), &error);
    manifest_edit_fini(edit);
}

static void
expect_refused(struct manifest *manifest, struct manifest_edit *edit, const char *why)
{
    petal_error error;

    assert_int_equal(manifest_commit(manifest, edit, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, why));
    manifest_edit_fini(edit);
}

/* A table with a file, and its region split before "m": both have the file. */
static struct manifest *
commit_split(struct manifest_fixture *fixture)
{
    struct manifest *manifest = manifest_fixture_make(fixture);
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_create_table(&edit, 1, &options, NULL);
    manifest_edit_add_file(&edit, 1, 0, &shared);
    manifest_edit_flushed(&edit, 1, 0, 22);
    commit(manifest, &edit);
    manifest_edit_create_region(&edit, 1, 2, 1000, text("m"));
    manifest_edit_flushed(&edit, 2, 0, 22);
    manifest_edit_add_file(&edit, 2, 0, &shared);
    commit(manifest, &edit);
    return manifest;
}

static void
check_split(const struct manifest *manifest)
{
    const struct manifest_table *table = manifest_find_table(manifest, 1);
    size_t place;

    assert_non_null(table);
    assert_int_equal(table->region_count, 2);
    assert_int_equal(table->regions[0]->start.size, 0);
    assert_true(slice_equal(table->regions[1]->start, text("m")));
    for (uint32_t region = 1; region <= 2; region++) {
        const struct manifest_store *store = manifest_find_store(manifest, region, 0);

        assert_ptr_equal(store, &table->families[0].stores[region - 1]);
        assert_int_equal(store->flushed_sequence, 22);
        assert_int_equal(store->file_count, 1);
        assert_memory_equal(&store->files[0], &shared, sizeof shared);
        assert_true(manifest_find_file(manifest, store, 5, &place));
    }
    assert_int_equal(manifest_region_of(table, text("l")), 0);
    assert_int_equal(manifest_region_of(table, text("m")), 1);
    assert_int_equal(manifest->next_table_id, 3);
    assert_true(manifest_names_file(manifest, 5));
}

/* ---- regions ---- */

TEST_WITH(regions_are_loaded, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);

    check_split(manifest);
    for (unsigned opening = 0; opening < 3; opening++) {
        struct manifest_edit edit;

        manifest_free(manifest);
        manifest = manifest_fixture_load(fixture);
        check_split(manifest);
        manifest_edit_init(&edit, &fixture->allocator.table);
        manifest_edit_oldest_log(&edit, opening); /* the first commit writes the file anew */
        commit(manifest, &edit);
        check_split(manifest);
    }
    manifest_free(manifest);
}

/* In any order, between and after others. */
TEST_WITH(regions_are_sorted, manifest_fixture_setup, manifest_fixture_teardown)
{
    static const char *const starts[] = {"t", "d", "x", "p", "a"}, *const sorted[] = {"a", "d",
                                                                                      "m", "p",
                                                                                      "t", "x"};
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    for (uint32_t i = 0; i < 5; i++)
        manifest_edit_create_region(&edit, 1, 3 + i, 1000, text(starts[i]));
    commit(manifest, &edit);
    for (unsigned opening = 0; opening < 2; opening++) {
        const struct manifest_table *table = manifest_find_table(manifest, 1);

        assert_int_equal(table->region_count, 7);
        for (size_t i = 0; i < 6; i++)
            assert_true(slice_equal(table->regions[i + 1]->start, text(sorted[i])));
        assert_int_equal(manifest_find_store(manifest, 2, 0)->file_count, 1);
        assert_int_equal(manifest_find_store(manifest, 7, 0)->file_count, 0);
        manifest_free(manifest);
        manifest = manifest_fixture_load(fixture);
    }
    manifest_free(manifest);
}

/* A file stays while one of the regions names it. */
TEST_WITH(a_shared_file_goes_with_its_last_region, manifest_fixture_setup,
          manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_remove_file(&edit, 1, 0, 5);
    commit(manifest, &edit);
    assert_true(manifest_names_file(manifest, 5));
    manifest_edit_drop_region(&edit, 1, 2);
    commit(manifest, &edit);
    assert_false(manifest_names_file(manifest, 5));
    assert_null(manifest_find_store(manifest, 2, 0));
    assert_int_equal(manifest_find_table(manifest, 1)->region_count, 1);
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    assert_int_equal(manifest->next_table_id, 3);
    assert_int_equal(manifest_find_table(manifest, 1)->region_count, 1);
    assert_false(manifest_names_file(manifest, 5));
    manifest_free(manifest);
}

static void
check_first_row(const struct manifest *manifest, uint32_t region, const char *row)
{
    const struct manifest_store *store = manifest_find_store(manifest, region, 0);
    size_t place;

    assert_true(manifest_find_file(manifest, store, 5, &place));
    assert_true(slice_equal(store->files[place].first_row, text(row)));
}

/* What a region has of a file may be cut, another's is not; an edit that is refused changes
 * nothing. */
TEST_WITH(parts_of_files_are_kept, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture), copy;
    struct manifest_file cut = shared;
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    cut.first_row = text("r");
    manifest_edit_remove_file(&edit, 2, 0, 5);
    manifest_edit_add_file(&edit, 2, 0, &cut);
    commit(manifest, &edit);
    cut.first_row = text("some longer row");
    manifest_edit_remove_file(&edit, 2, 0, 5);
    manifest_edit_add_file(&edit, 2, 0, &cut);
    manifest_edit_drop_region(&edit, 1, 9);
    expect_refused(manifest, &edit, "9");
    for (unsigned opening = 0; opening < 2; opening++) {
        check_first_row(manifest, 1, "");
        check_first_row(manifest, 2, "r");
        must(manifest_copy(&copy, manifest, &fixture->allocator.table), NULL);
        check_first_row(&copy, 2, "r");
        manifest_copy_fini(&copy, &fixture->allocator.table);
        manifest_free(manifest);
        manifest = manifest_fixture_load(fixture);
    }
    manifest_free(manifest);
}

/* Families that come later have a store in each region. */
TEST_WITH(families_have_stores_in_all_regions, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);
    struct manifest_file other = shared;
    struct manifest_edit edit;

    other.number = 6;
    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_create_family(&edit, 1, 1, &families[1]);
    commit(manifest, &edit);
    manifest_edit_add_file(&edit, 2, 1, &other);
    commit(manifest, &edit);
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    check_split(manifest);
    assert_int_equal(manifest_find_store(manifest, 1, 1)->file_count, 0);
    assert_int_equal(manifest_find_store(manifest, 2, 1)->file_count, 1);
    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_drop_family(&edit, 1, 0);
    commit(manifest, &edit);
    assert_false(manifest_names_file(manifest, 5));
    assert_true(manifest_names_file(manifest, 6));
    manifest_edit_drop_table(&edit, 1);
    commit(manifest, &edit);
    assert_false(manifest_names_file(manifest, 6));
    manifest_free(manifest);
}

/* ---- what is refused ---- */

TEST_WITH(what_makes_no_region_is_refused, manifest_fixture_setup, manifest_fixture_teardown)
{
    static char large[PETAL_MAX_ROW_BYTES + 1];
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);
    struct manifest_file other = shared;
    struct manifest_edit edit;

    memset(large, 'l', sizeof large);
    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_create_region(&edit, 1, 3, 1000, text("m"));
    expect_refused(manifest, &edit, "starts where another does");
    manifest_edit_create_region(&edit, 1, 3, 1000, slice_make(large, sizeof large));
    expect_refused(manifest, &edit, "region 3");
    manifest_edit_create_region(&edit, 1, 1, 1000, text("x"));
    expect_refused(manifest, &edit, "1");
    manifest_edit_create_region(&edit, 7, 3, 1000, text("x"));
    expect_refused(manifest, &edit, "7");
    manifest_edit_drop_region(&edit, 1, 1);
    expect_refused(manifest, &edit, "1");
    manifest_edit_drop_region(&edit, 1, 3);
    expect_refused(manifest, &edit, "3");
    manifest_edit_add_file(&edit, 3, 0, &shared);
    expect_refused(manifest, &edit, "3");
    manifest_edit_add_file(&edit, 2, 0, &shared);
    expect_refused(manifest, &edit, "5");
    other.identity++; /* another file of the same number */
    manifest_edit_create_region(&edit, 1, 3, 1000, text("x"));
    manifest_edit_add_file(&edit, 3, 0, &other);
    expect_refused(manifest, &edit, "5");
    manifest_edit_create_family(&edit, 1, 1, &families[1]);
    manifest_edit_add_file(&edit, 1, 1, &shared);
    expect_refused(manifest, &edit, "5");
    other = shared;
    other.number = 6;
    other.first_row = slice_make(large, sizeof large);
    manifest_edit_add_file(&edit, 1, 0, &other);
    expect_refused(manifest, &edit, "store file 6 begins at a row");
    manifest_edit_drop_family(&edit, 1, 0);
    manifest_edit_create_region(&edit, 1, 3, 1000, text("x"));
    expect_refused(manifest, &edit, "region 3 is of table 1, which has no families");
    manifest_edit_drop_family(&edit, 1, 0);
    manifest_edit_drop_region(&edit, 1, 2);
    expect_refused(manifest, &edit, "region 2 is of table 1, which has no families");
    check_split(manifest);
    manifest_free(manifest);
}

/* ---- the format ---- */

/* A split, a merge, and another split with a part of the file. */
TEST_WITH(golden_bytes, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_split(fixture);
    struct manifest_file cut = shared;
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_drop_region(&edit, 1, 2);
    commit(manifest, &edit);
    manifest_edit_create_region(&edit, 1, 3, 2000, text("pq"));
    cut.first_row = text("qrs");
    manifest_edit_add_file(&edit, 3, 0, &cut);
    commit(manifest, &edit);
    manifest_free(manifest);
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1-regions");
    manifest = manifest_fixture_load(fixture);
    assert_int_equal(manifest->tables[0]->region_count, 2);
    assert_true(slice_equal(manifest->tables[0]->regions[1]->start, text("pq")));
    assert_int_equal(manifest->tables[0]->regions[1]->split_ms, 2000);
    assert_int_equal(manifest_find_store(manifest, 1, 0)->file_count, 1);
    assert_int_equal(manifest_find_store(manifest, 3, 0)->file_count, 1);
    check_first_row(manifest, 3, "qrs");
    assert_int_equal(manifest->next_table_id, 4);
    manifest_free(manifest);
}
