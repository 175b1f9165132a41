/*
 * snapshot_test.c -- snapshots of tables in the manifest: they have names of their own, are loaded
 * as they were committed, and what makes no snapshot is refused. (The rest of the manifest:
 * manifest_test.c.)
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/manifest/format.h"
#include "tests/engine/manifest/fixture.h"
#include "tests/support/test.h"

/* ---- edits ---- */

static const petal_family_options family = {
    .size = sizeof(petal_family_options),
    .name = {"f", 1},
    .versions = 1,
    .block_bytes = 65536,
    .compression = PETAL_COMPRESSION_LZ4,
    .bloom = PETAL_BLOOM_ROW,
    .bloom_error_rate = 0.01,
};

static const petal_table_options options = {
    .name = {"t", 1}, .families = &family, .family_count = 1};

static const struct manifest_snapshot daily = {
    .name = {"daily", 5}, .created_ms = 1700000000000, .ttl_seconds = 86400};

static void
commit(struct manifest *manifest, struct manifest_edit *edit)
{
    petal_error error;

    if (manifest_commit(manifest, edit, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    edit->size = 0;
}

/* Table t with file 5, and its snapshot with file 6, which is the same. */
static struct manifest *
commit_both(struct manifest_fixture *fixture)
{
    struct manifest_file file = {.number = 5,
                                 .identity = 0xABCD,
                                 .run = 5,
                                 .file_bytes = 1000,
                                 .sequence_min = 1,
                                 .sequence_max = 9,
                                 .cells = 9};
    struct manifest *manifest;
    struct manifest_edit edit;
    petal_error error;

    assert_int_equal(manifest_new(&manifest, &fixture->directory, 0x1122334455667788u,
                                  0x8877665544332211u, &error),
                     PETAL_OK);
    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_create_table(&edit, 1, &options, NULL);
    manifest_edit_add_file(&edit, 1, 0, &file);
    commit(manifest, &edit);
    file.number = 6;
    manifest_edit_create_table(&edit, 2, &options, &daily);
    manifest_edit_add_file(&edit, 2, 0, &file);
    commit(manifest, &edit);
    manifest_edit_fini(&edit);
    return manifest;
}

static void
check_both(const struct manifest *manifest)
{
    const struct manifest_table *table = manifest_find_table(manifest, 1);
    const struct manifest_table *snapshot = manifest_find_snapshot(manifest, daily.name);

    assert_int_equal(manifest->table_count, 2);
    assert_int_equal(manifest->next_table_id, 3);
    assert_int_equal(manifest->next_file_number, 7);
    assert_false(manifest_is_snapshot(table));
    assert_non_null(snapshot);
    assert_true(manifest_is_snapshot(snapshot));
    assert_int_equal(snapshot->id, 2);
    assert_true(slice_equal(snapshot->name, options.name));
    assert_true(slice_equal(snapshot->snapshot.name, daily.name));
    assert_int_equal(snapshot->snapshot.created_ms, daily.created_ms);
    assert_int_equal(snapshot->snapshot.ttl_seconds, daily.ttl_seconds);
    assert_int_equal(snapshot->families[0].stores[0].files[0].number, 6);
    assert_int_equal(snapshot->families[0].stores[0].files[0].identity, 0xABCD);
    assert_null(manifest_find_snapshot(manifest, options.name));
}

/* ---- tests ---- */

/* From an edit, from a file's snapshot of the state, as a copy in memory. */
TEST_WITH(a_snapshot_is_loaded_as_it_was_committed, manifest_fixture_setup,
          manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_both(fixture), copy;
    struct manifest_edit edit;

    check_both(manifest);
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    check_both(manifest);
    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_oldest_log(&edit, 3);
    commit(manifest, &edit); /* writes a new file */
    manifest_edit_fini(&edit);
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    check_both(manifest);
    assert_int_equal(manifest_copy(&copy, manifest, &fixture->allocator.table), PETAL_OK);
    manifest_free(manifest);
    check_both(&copy);
    manifest_copy_fini(&copy, &fixture->allocator.table);
}

/* Whatever was in the memory of the copy. */
TEST_WITH(one_table_is_copied_alone, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_both(fixture), copy;

    memset(&copy, 0xAA, sizeof copy);
    assert_int_equal(
        manifest_copy_alone(&copy, manifest_find_table(manifest, 1), &fixture->allocator.table),
        PETAL_OK);
    manifest_free(manifest);
    assert_int_equal(copy.table_count, 1);
    assert_non_null(manifest_find_table(&copy, 1));
    manifest_copy_fini(&copy, &fixture->allocator.table);
}

TEST_WITH(a_table_and_its_snapshot_go_by_themselves, manifest_fixture_setup,
          manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_both(fixture);
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_drop_table(&edit, 1);
    manifest_edit_create_table(&edit, 3, &options, NULL); /* in its place, in one edit */
    commit(manifest, &edit);
    assert_non_null(manifest_find_snapshot(manifest, daily.name));
    manifest_edit_drop_table(&edit, 2);
    commit(manifest, &edit);
    assert_null(manifest_find_snapshot(manifest, daily.name));
    assert_int_equal(manifest->table_count, 1);
    manifest_edit_fini(&edit);
    manifest_free(manifest);
}

static void
expect_refused(struct manifest *manifest, struct manifest_edit *edit, const char *why)
{
    petal_error error;

    assert_int_equal(manifest_commit(manifest, edit, &error), PETAL_INVALID);
    if (strstr(error.text, why) == NULL)
        fail_msg("\"%s\" does not tell \"%s\"", error.text, why);
    edit->size = 0;
}

/* An item with ids and one attribute SNAPSHOT of these bytes. */
static void
add_attribute(struct manifest_edit *edit, unsigned tag, const void *bytes, size_t size)
{
    uint8_t *item = test_allocate(24 + size);

    memset(item, 0, 24);
    put_le16(item, (uint16_t)tag);
    put_le32(item + 4, (uint32_t)(16 + size));
    put_le32(item + 8, 1);
    put_le16(item + 16, MANIFEST_SNAPSHOT);
    put_le32(item + 20, (uint32_t)size);
    memcpy(item + 24, bytes, size);
    edit->bytes = mem_alloc(edit->allocator, 24 + size);
    memcpy(edit->bytes, item, 24 + size);
    edit->size = edit->capacity = 24 + size;
    free(item);
}

TEST_WITH(what_makes_no_snapshot_is_refused, manifest_fixture_setup, manifest_fixture_teardown)
{
    static const char bytes[] = "12345678\1\0\0\0\0\0\0\0name";
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_both(fixture);
    struct manifest_snapshot bad = daily;
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
    manifest_edit_create_table(&edit, 3, &options, &daily);
    expect_refused(manifest, &edit, "snapshot daily is created twice");
    manifest_edit_create_table(&edit, 3, &options, NULL);
    expect_refused(manifest, &edit, "table t is created twice");
    bad.name = slice_from_text("../daily");
    manifest_edit_create_table(&edit, 3, &options, &bad);
    expect_refused(manifest, &edit, "the snapshot name");
    manifest_edit_fini(&edit);
    add_attribute(&edit, MANIFEST_ALTER_TABLE, bytes, sizeof bytes - 1);
    expect_refused(manifest, &edit, "changes the name");
    manifest_edit_fini(&edit);
    add_attribute(&edit, MANIFEST_ALTER_TABLE, bytes, 15);
    expect_refused(manifest, &edit, "malformed");
    manifest_edit_fini(&edit);
    add_attribute(&edit, MANIFEST_ALTER_TABLE, bytes, 16);
    expect_refused(manifest, &edit, "the snapshot name is empty");
    manifest_edit_fini(&edit);
    add_attribute(&edit, MANIFEST_ALTER_TABLE, "12345678\1\0\0\0\1\0\0\0name", 20);
    expect_refused(manifest, &edit, "malformed");
    manifest_edit_fini(&edit);
    add_attribute(&edit, MANIFEST_ALTER_FAMILY, bytes, sizeof bytes - 1);
    expect_refused(manifest, &edit, "malformed");
    manifest_edit_fini(&edit);
    check_both(manifest);
    manifest_free(manifest);
}

TEST_WITH(golden_bytes, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;

    manifest_free(commit_both(fixture));
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1-snapshot");
}
