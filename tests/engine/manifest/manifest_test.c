/*
 * manifest_test.c -- the manifest: what was committed is there, whole edits only; what is damaged
 * is refused; what does not fit is refused and changes nothing. Power cuts:
 * tests/crash/sequence_test.c.
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "base/cell.h"
#include "base/checksum.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/manifest/format.h"
#include "engine/manifest/names.h"
#include "tests/engine/manifest/fixture.h"
#include "tests/support/test.h"

static enum petal_status
load_status(struct manifest_fixture *fixture, petal_error *error)
{
    struct manifest *manifest;
    enum petal_status status = manifest_load(&manifest, &fixture->directory, error);

    manifest_free(manifest);
    return status;
}

/* ---- states to compare ---- */

/* A state as bytes: what a snapshot of it holds. */
struct image {
    uint8_t *bytes;
    size_t size;
};

static struct image
image_of(const struct manifest *manifest)
{
    struct manifest_edit edit;
    struct image image;

    manifest_edit_init(&edit, &mem_default_allocator);
    manifest_edit_snapshot(&edit, manifest);
    assert_false(edit.failed);
    image.size = edit.size;
    image.bytes = malloc(edit.size);
    assert_non_null(image.bytes);
    memcpy(image.bytes, edit.bytes, edit.size);
    manifest_edit_fini(&edit);
    return image;
}

static bool
image_equal(const struct image *a, const struct image *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool
state_is(const struct manifest *manifest, const struct image *expected)
{
    struct image image = image_of(manifest);
    bool equal = image_equal(&image, expected) &&
                 manifest->database_identity == MANIFEST_IDENTITY &&
                 manifest->salt == MANIFEST_SALT;

    free(image.bytes);
    return equal;
}

/* ---- edits ---- */

static const petal_family_options two_families[] = {
    {
        .size = sizeof(petal_family_options),
        .name = {"cf", 2},
        .versions = 3,
        .block_bytes = 4096,
        .compression = PETAL_COMPRESSION_NONE,
        .bloom = PETAL_BLOOM_ROWCOL,
        .bloom_error_rate = 0.001,
        .in_memory = true,
    },
    {
        .size = sizeof(petal_family_options),
        .name = {"d\xC3\xA4", 3},
        .versions = 1,
        .block_bytes = 65536,
        .compression = PETAL_COMPRESSION_LZ4,
        .bloom = PETAL_BLOOM_ROW,
        .bloom_error_rate = 0.01,
        .no_block_cache = true,
    },
};

static const petal_attribute family_texts[] = {
    {PETAL_METADATA, {"owner", 5}, {"", 0}},
    {PETAL_CONFIGURATION, {"a\0b", 3}, {"x\xFF", 2}},
    {PETAL_KEPT_ATTRIBUTE, {"REPLICATION_SCOPE", 17}, {"1", 1}},
};

static const petal_attribute table_texts[] = {
    {PETAL_METADATA, {"owner", 5}, {"me", 2}},
    {PETAL_KEPT_ATTRIBUTE, {"MAX_FILESIZE", 12}, {"5000000", 7}},
};

/* Every attribute stands apart from its default. */
static const petal_family_options rich_family = {
    .size = sizeof(petal_family_options),
    .name = {"rich", 4},
    .versions = 7,
    .min_versions = 2,
    .ttl_seconds = 86400,
    .keep_deleted_cells = PETAL_KEEP_DELETED_TTL,
    .new_version_behavior = true,
    .block_bytes = 8192,
    .compression = PETAL_COMPRESSION_NONE,
    .bloom = PETAL_BLOOM_ROW_PREFIX,
    .bloom_prefix_bytes = 4,
    .bloom_error_rate = 0.25,
    .bloom_rate_per_file = true,
    .in_memory = true,
    .no_block_cache = true,
    .attributes = family_texts,
    .attribute_count = 3,
};

static void
create_table(struct manifest_edit *edit, uint32_t id, const char *name,
             const petal_family_options *families, size_t count)
{
    petal_table_options options = {
        .name = slice_from_text(name),
        .durability = PETAL_FSYNC_WAL,
        .families = families,
        .family_count = count,
    };

    manifest_edit_create_table(edit, id, &options, NULL);
}

/* The table's own attributes become these; a family comes. */
static void
alter(struct manifest_edit *edit, uint16_t family)
{
    petal_table_options options = {
        .durability = PETAL_FSYNC_WAL,
        .read_only = family == 2,
        .attributes = table_texts,
        .attribute_count = 2,
    };
    petal_family_options made = rich_family;

    manifest_edit_alter_table(edit, 1, &options);
    if (family > 2)
        made.name = slice_from_text("more");
    manifest_edit_create_family(edit, 1, family, &made);
}

static struct manifest_file
file_of(uint64_t number)
{
    return (struct manifest_file){
        .number = number,
        .identity = number * 0x1111,
        .run = number,
        .file_bytes = 1000 * number,
        .sequence_min = 10 * number,
        .sequence_max = 10 * number + 9,
        .cells = 10,
    };
}

#define STEPS 12

/* The edits of a small history; step 0 makes the first table. */
static void
build_step(struct manifest_edit *edit, unsigned step)
{
    struct manifest_file file = file_of(100 + step);

    switch (step) {
    case 0:
    case 3:
        create_table(edit, step == 0 ? 1 : 2, step == 0 ? "t1" : "second", two_families, 2);
        break;
    case 5:
        manifest_edit_remove_file(edit, 1, 1, 101);
        manifest_edit_add_file(edit, 1, 1, &file);
        break;
    case 7:
        manifest_edit_drop_table(edit, 2);
        break;
    case 9:
        alter(edit, 2);
        break;
    case 10:
        manifest_edit_add_file(edit, 1, 2, &file);
        manifest_edit_alter_family(edit, 1, 2, &two_families[0]);
        alter(edit, 3);
        break;
    case 11:
        manifest_edit_alter_family(edit, 1, 2, &rich_family);
        manifest_edit_drop_family(edit, 1, 3);
        break;
    default:
        manifest_edit_add_file(edit, 1, 1, &file);
        manifest_edit_flushed(edit, 1, 1, file.sequence_max);
        manifest_edit_ahead(edit, 1, 1, (int64_t)file.sequence_max);
        manifest_edit_oldest_log(edit, step);
        manifest_edit_wal_promise(edit, (struct wal_promise){step, 4711});
    }
    manifest_edit_counters(edit, 50 + step, 1000 + step, 1700000000000 + step);
}

static enum petal_status
commit_step(struct manifest_fixture *fixture, struct manifest *manifest, unsigned step,
            petal_error *error)
{
    struct manifest_edit edit;
    enum petal_status status;

    manifest_edit_init(&edit, &mem_default_allocator);
    build_step(&edit, step);
    (void)fixture;
    status = manifest_commit(manifest, &edit, error);
    manifest_edit_fini(&edit);
    return status;
}

/* Commit all steps; images[i] (may be NULL) is the state after i of them. */
static struct manifest *
commit_all(struct manifest_fixture *fixture, struct image *images)
{
    struct manifest *manifest = manifest_fixture_make(fixture);
    petal_error error;

    for (unsigned step = 0; step < STEPS; step++) {
        if (images != NULL)
            images[step] = image_of(manifest);
        if (commit_step(fixture, manifest, step, &error) != PETAL_OK)
            fail_msg("step %u: %s", step, error.text);
    }
    if (images != NULL)
        images[STEPS] = image_of(manifest);
    return manifest;
}

static void
free_images(struct image *images)
{
    for (unsigned i = 0; i <= STEPS; i++)
        free(images[i].bytes);
}

/* ---- round trips ---- */

TEST_WITH(test_what_was_committed_is_loaded, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct image images[STEPS + 1];
    struct manifest *manifest = commit_all(fixture, images);
    const struct manifest_family *family;

    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    assert_true(state_is(manifest, &images[STEPS]));
    assert_int_equal(manifest->table_count, 1);
    assert_int_equal(manifest->next_table_id, 3); /* table 2 was dropped, its id is spent */
    assert_null(manifest_find_table(manifest, 2));
    assert_int_equal(manifest->next_file_number, 111);
    assert_int_equal(manifest->last_sequence, 1000 + STEPS - 1);
    assert_int_equal(manifest->last_timestamp, 1700000000000 + STEPS - 1);
    assert_int_equal(manifest->oldest_log, 8);
    assert_int_equal(manifest->promise.log_number, 8);
    assert_int_equal(manifest->promise.length, 4711);
    family = manifest_find_family(manifest_find_table(manifest, 1), 0);
    assert_int_equal(family->options.versions, 3);
    assert_int_equal(family->options.block_bytes, 4096);
    assert_int_equal(family->options.compression, PETAL_COMPRESSION_NONE);
    assert_int_equal(family->options.bloom, PETAL_BLOOM_ROWCOL);
    assert_true(family->options.bloom_error_rate == 0.001);
    assert_true(family->options.in_memory);
    assert_false(family->options.no_block_cache);
    assert_int_equal(family->stores[0].file_count, 0);
    family = manifest_find_family(manifest_find_table(manifest, 1), 1);
    assert_true(slice_equal(family->options.name, two_families[1].name));
    assert_true(family->options.no_block_cache);
    assert_int_equal(family->stores[0].flushed_sequence, 1089);
    assert_int_equal(family->ahead, 1089);
    assert_int_equal(family->stores[0].file_count, 5);
    assert_int_equal(manifest_find_table(manifest, 1)->durability, PETAL_FSYNC_WAL);
    manifest_free(manifest);
    free_images(images);
}

static void
check_texts(const petal_attribute *found, const petal_attribute *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].kind, expected[i].kind);
        assert_true(slice_equal(found[i].name, expected[i].name));
        assert_true(slice_equal(found[i].value, expected[i].value));
    }
}

TEST_WITH(test_alterations_are_loaded, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    const struct manifest_table *table;
    const petal_family_options *options;
    struct manifest *manifest;

    manifest_free(commit_all(fixture, NULL));
    manifest = manifest_fixture_load(fixture);
    table = manifest_find_table(manifest, 1);
    assert_int_equal(table->family_count, 3);
    assert_int_equal(table->next_family_id, 4); /* family 3 was dropped, its id is spent */
    assert_null(manifest_find_family(table, 3));
    assert_false(table->read_only); /* altered twice */
    assert_int_equal(table->attribute_count, 2);
    check_texts(table->attributes, table_texts, 2);
    options = &manifest_find_family(table, 2)->options;
    assert_true(slice_equal(options->name, rich_family.name));
    assert_int_equal(options->versions, 7);
    assert_int_equal(options->min_versions, 2);
    assert_int_equal(options->ttl_seconds, 86400);
    assert_int_equal(options->keep_deleted_cells, PETAL_KEEP_DELETED_TTL);
    assert_true(options->new_version_behavior);
    assert_int_equal(options->bloom, PETAL_BLOOM_ROW_PREFIX);
    assert_int_equal(options->bloom_prefix_bytes, 4);
    assert_true(options->bloom_rate_per_file);
    assert_int_equal(options->attribute_count, 3);
    check_texts(options->attributes, family_texts, 3);
    assert_int_equal(manifest_find_family(table, 2)->stores[0].file_count, 1);
    manifest_free(manifest);
}

TEST_WITH(test_no_manifest_is_no_database, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    petal_error error;

    assert_int_equal(load_status(fixture, &error), PETAL_NOT_FOUND);
    assert_int_equal(manifest_check_exists(&fixture->directory, &error), PETAL_NOT_FOUND);
    manifest_free(manifest_fixture_make(fixture)); /* writes nothing */
    assert_int_equal(load_status(fixture, &error), PETAL_NOT_FOUND);
    manifest_free(commit_all(fixture, NULL));
    assert_int_equal(manifest_check_exists(&fixture->directory, &error), PETAL_OK);
}

/* How often the file got its name during the last commit. */
static size_t
renames(struct manifest_fixture *fixture)
{
    size_t count = 0;

    for (size_t i = 0; i < memory_vfs_trace_count(fixture->vfs); i++)
        count += memory_vfs_trace_at(fixture->vfs, i).operation == MEMORY_VFS_RENAME;
    return count;
}

TEST_WITH(test_the_first_commit_after_opening_writes_a_new_file, manifest_fixture_setup,
          manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest;
    petal_error error;

    manifest_free(commit_all(fixture, NULL));
    manifest = manifest_fixture_load(fixture);
    memory_vfs_trace(fixture->vfs, true);
    assert_int_equal(commit_step(fixture, manifest, 8, &error), PETAL_INVALID);
    assert_int_equal(memory_vfs_trace_count(fixture->vfs), 0); /* file 108 is there already */
    assert_int_equal(commit_step(fixture, manifest, 3, &error), PETAL_INVALID);
    assert_int_equal(commit_step(fixture, manifest, 5, &error), PETAL_INVALID);
    {
        struct manifest_edit edit;

        manifest_edit_init(&edit, &fixture->allocator.table);
        manifest_edit_oldest_log(&edit, 77);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
        assert_int_equal(renames(fixture), 1);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
        assert_int_equal(renames(fixture), 1);
        manifest_edit_fini(&edit);
    }
    memory_vfs_trace(fixture->vfs, false);
    manifest_free(manifest);
}

/* Counters in thousands of edits: the file is written anew before it gets large. */
TEST_WITH(test_the_file_does_not_grow_for_ever, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_all(fixture, NULL);
    size_t greatest = 0;
    petal_error error;

    for (unsigned i = 0; i < 3000; i++) {
        struct manifest_edit edit;
        uint8_t *bytes;
        size_t size;

        manifest_edit_init(&edit, &fixture->allocator.table);
        manifest_edit_counters(&edit, 0, 5000 + i, 0);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
        manifest_edit_fini(&edit);
        if (i % 100 != 0)
            continue;
        assert_int_equal(memory_vfs_read_file(fixture->vfs, MANIFEST_PATH, &bytes, &size), 0);
        free(bytes);
        greatest = size > greatest ? size : greatest;
    }
    assert_true(greatest < 80000);
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    assert_int_equal(manifest->last_sequence, 7999);
    assert_int_equal(manifest->last_timestamp, 1700000000000 + STEPS - 1);
    manifest_free(manifest);
    assert_false(memory_vfs_exists(fixture->vfs, MANIFEST_PATH ".tmp"));
}

/* ---- damage ---- */

static unsigned
find_image(const struct manifest *manifest, const struct image *images)
{
    for (unsigned i = 0; i <= STEPS; i++) {
        if (state_is(manifest, &images[i]))
            return i;
    }
    fail_msg("a state that never was");
    return 0;
}

TEST_WITH(test_every_truncation, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct image images[STEPS + 1];
    uint64_t snapshot_end;
    unsigned greatest = 0;
    uint8_t *bytes;
    size_t size;

    manifest_free(commit_all(fixture, images));
    assert_int_equal(memory_vfs_read_file(fixture->vfs, MANIFEST_PATH, &bytes, &size), 0);
    snapshot_end = get_le64(bytes + 40);
    for (size_t length = 0; length <= size; length++) {
        struct manifest *manifest;
        petal_error error;
        enum petal_status status;

        assert_int_equal(memory_vfs_write_file(fixture->vfs, MANIFEST_PATH, bytes, length), 0);
        status = manifest_load(&manifest, &fixture->directory, &error);
        assert_int_equal(status, length < snapshot_end ? PETAL_CORRUPT : PETAL_OK);
        if (status == PETAL_OK) {
            unsigned step = find_image(manifest, images);

            assert_true(step >= greatest);
            greatest = step;
        }
        manifest_free(manifest);
    }
    assert_int_equal(greatest, STEPS);
    free(bytes);
    free_images(images);
}

TEST_WITH(test_other_versions_and_files, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    manifest_free(commit_all(fixture, NULL));
    assert_int_equal(memory_vfs_read_file(fixture->vfs, MANIFEST_PATH, &bytes, &size), 0);
    put_le32(bytes + 8, MANIFEST_VERSION + 1);
    put_le64(bytes + 56, checksum_at(0, 0, bytes, 56));
    assert_int_equal(memory_vfs_write_file(fixture->vfs, MANIFEST_PATH, bytes, size), 0);
    assert_int_equal(load_status(fixture, &error), PETAL_UNSUPPORTED);
    memset(bytes, 0, size);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, MANIFEST_PATH, bytes, size), 0);
    assert_int_equal(load_status(fixture, &error), PETAL_CORRUPT);
    free(bytes);
}

/* ---- edits that do not fit ---- */

static void
add_raw(struct manifest_edit *edit, unsigned tag, const void *payload, size_t size)
{
    void *array = edit->bytes;

    assert_true(
        mem_grow(edit->allocator, &array, &edit->capacity, edit->size, edit->size + 8 + size, 1));
    edit->bytes = array;
    put_le16(edit->bytes + edit->size, (uint16_t)tag);
    put_le16(edit->bytes + edit->size + 2, 0);
    put_le32(edit->bytes + edit->size + 4, (uint32_t)size);
    if (size > 0)
        memcpy(edit->bytes + edit->size + 8, payload, size);
    edit->size += 8 + size;
}

static void
expect_refused(struct manifest *manifest, struct manifest_edit *edit, enum petal_status expected,
               const char *why)
{
    struct image before = image_of(manifest);
    petal_error error;
    enum petal_status status = manifest_commit(manifest, edit, &error);

    if (status != expected || strstr(error.text, why) == NULL)
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", (int)status, error.text, (int)expected,
                 why);
    assert_true(state_is(manifest, &before));
    free(before.bytes);
    edit->size = 0;
}

TEST_WITH(test_what_does_not_fit_is_refused, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_all(fixture, NULL);
    struct manifest_file file = file_of(500), wrong = file_of(501);
    petal_family_options twice[2] = {two_families[0], two_families[0]};
    petal_family_options path = two_families[0];
    struct manifest_edit edit;
    uint64_t calls = memory_vfs_calls(fixture->vfs);

    manifest_edit_init(&edit, &fixture->allocator.table);
#define REFUSED(call, why)                                                                         \
    call;                                                                                          \
    expect_refused(manifest, &edit, PETAL_INVALID, why)
    REFUSED(manifest_edit_drop_table(&edit, 2), "table 2");
    REFUSED(manifest_edit_drop_table(&edit, 9), "table 9");
    REFUSED(manifest_edit_add_file(&edit, 9, 0, &file), "region 9");
    REFUSED(manifest_edit_add_file(&edit, 1, 7, &file), "family 7");
    REFUSED(manifest_edit_remove_file(&edit, 1, 1, 999), "store file 999");
    REFUSED(manifest_edit_remove_file(&edit, 1, 0, 108), "store file 108");
    REFUSED(manifest_edit_flushed(&edit, 3, 0, 1), "region 3");
    REFUSED(create_table(&edit, 2, "again", two_families, 2), "table id 2");
    REFUSED(create_table(&edit, 3, "t1", two_families, 2), "created twice");
    REFUSED(create_table(&edit, 3, "../t", two_families, 2), "must not begin with");
    REFUSED(create_table(&edit, 3, "t3", twice, 2), "created twice");
    REFUSED(create_table(&edit, 3, "t3", NULL, 0), "no family");
    path.name = slice_from_text("a/b");
    REFUSED(create_table(&edit, 3, "t3", &path, 1), "Illegal");
    REFUSED(manifest_edit_alter_table(&edit, 9, &(petal_table_options){0}), "table 9");
    REFUSED(manifest_edit_alter_family(&edit, 1, 3, &rich_family), "family 3");
    REFUSED(manifest_edit_drop_family(&edit, 1, 3), "family 3");
    REFUSED(manifest_edit_create_family(&edit, 1, 3, &path), "Illegal");
    path.name = slice_from_text("late");
    REFUSED(manifest_edit_create_family(&edit, 1, 3, &path), "family id 3");
    REFUSED(manifest_edit_create_family(&edit, 1, UINT16_MAX, &path), "family id 65535");
    REFUSED(manifest_edit_create_family(&edit, 1, 4, &two_families[0]), "created twice");
    path.min_versions = 9;
    REFUSED(manifest_edit_alter_family(&edit, 1, 0, &path), "MIN_VERSIONS");
    manifest_edit_drop_family(&edit, 1, 0);
    manifest_edit_drop_family(&edit, 1, 1);
    REFUSED(manifest_edit_drop_family(&edit, 1, 2), "no family");
    manifest_edit_add_file(&edit, 1, 0, &file);
    REFUSED(manifest_edit_add_file(&edit, 1, 1, &file), "twice");
    wrong.number = 0;
    REFUSED(manifest_edit_add_file(&edit, 1, 1, &wrong), "which is impossible");
    wrong = file_of(501);
    wrong.sequence_min = wrong.sequence_max + 1;
    REFUSED(manifest_edit_add_file(&edit, 1, 1, &wrong), "which is impossible");
    wrong = file_of(MANIFEST_FILE_NUMBER_END);
    REFUSED(manifest_edit_add_file(&edit, 1, 1, &wrong), "which is impossible");
    wrong = file_of(501);
    wrong.sequence_max = CELL_SEQUENCE_END;
    REFUSED(manifest_edit_add_file(&edit, 1, 1, &wrong), "which is impossible");
    /* The sequences of writes would count on from there, to 0. */
    REFUSED(manifest_edit_flushed(&edit, 1, 0, CELL_SEQUENCE_END), "flushed up to sequence");
    REFUSED(manifest_edit_ahead(&edit, 1, 0, PETAL_LATEST), "ahead up to");
    REFUSED(manifest_edit_ahead(&edit, 3, 0, 1), "table 3");
    REFUSED(manifest_edit_counters(&edit, 1, CELL_SEQUENCE_END, 1), "last sequence");
    REFUSED(manifest_edit_counters(&edit, 1, UINT64_MAX, 1), "last sequence");
    REFUSED(manifest_edit_counters(&edit, MANIFEST_FILE_NUMBER_END + 1, 1, 1), "file number");
    REFUSED(manifest_edit_counters(&edit, UINT64_MAX, 1, 1), "file number");
    REFUSED(manifest_edit_oldest_log(&edit, manifest->next_file_number + 1), "oldest log");
#undef REFUSED
    add_raw(&edit, MANIFEST_COUNTERS, "short", 5);
    expect_refused(manifest, &edit, PETAL_INVALID, "has 5 bytes");
    add_raw(&edit, MANIFEST_CREATE_TABLE, "short", 5);
    expect_refused(manifest, &edit, PETAL_INVALID, "has 5 bytes");
    add_raw(&edit, 200, "later", 5);
    expect_refused(manifest, &edit, PETAL_UNSUPPORTED, "newer version");
    assert_int_equal(memory_vfs_calls(fixture->vfs), calls); /* nothing was tried */
    manifest_edit_fini(&edit);
    manifest_free(manifest);
}

/* An alteration of table 1 with one attribute of these bytes. */
static void
refuse_attribute(struct manifest *manifest, struct manifest_edit *edit, unsigned tag,
                 const void *bytes, size_t size, enum petal_status expected, const char *why)
{
    uint8_t item[64] = {1};

    put_le16(item + 8, (uint16_t)tag);
    put_le32(item + 12, (uint32_t)size);
    memcpy(item + 16, bytes, size);
    add_raw(edit, MANIFEST_ALTER_TABLE, item, 16 + size);
    expect_refused(manifest, edit, expected, why);
}

TEST_WITH(test_malformed_texts, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_all(fixture, NULL);
    struct manifest_edit edit;

    manifest_edit_init(&edit, &fixture->allocator.table);
#define REFUSED(tag, bytes, status, why)                                                           \
    refuse_attribute(manifest, &edit, tag, bytes, sizeof bytes - 1, status, why)
    REFUSED(MANIFEST_TEXT, "\1\0\1", PETAL_INVALID, "malformed");
    REFUSED(MANIFEST_TEXT, "\1\0\2\0x", PETAL_INVALID, "malformed");
    REFUSED(MANIFEST_TEXT, "\1\0\0\0x", PETAL_INVALID, "0 bytes");
    REFUSED(MANIFEST_TEXT, "\4\0\1\0xy", PETAL_UNSUPPORTED, "kind 4");
    REFUSED(MANIFEST_TEXT, "\3\0\5\0OTHERy", PETAL_UNSUPPORTED, "kind 3");
    REFUSED(MANIFEST_TEXT, "\3\0\5\0OWNER", PETAL_INVALID, "OWNER");
    REFUSED(MANIFEST_READ_ONLY, "\2\0\0\0", PETAL_UNSUPPORTED, "attribute 15 is 2");
    REFUSED(MANIFEST_READ_ONLY, "\1", PETAL_INVALID, "1 bytes");
    REFUSED(MANIFEST_NAME, "t1", PETAL_INVALID, "changes the name");
#undef REFUSED
    manifest_edit_fini(&edit);
    manifest_free(manifest);
}

TEST_WITH(test_attributes_of_later_versions, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = commit_all(fixture, NULL);
    uint8_t family[8 + 8 + 1 + 8 + 4] = {1, 0, 0, 0, 5};
    struct manifest_edit edit;
    petal_error error;

    put_le16(family + 8, MANIFEST_NAME);
    put_le32(family + 12, 1);
    family[16] = 'x';
    put_le32(family + 21, 4);
    manifest_edit_init(&edit, &fixture->allocator.table);
    put_le16(family + 17, 20); /* one that must be understood */
    add_raw(&edit, MANIFEST_CREATE_FAMILY, family, sizeof family);
    expect_refused(manifest, &edit, PETAL_UNSUPPORTED, "attribute 20");
    put_le16(family + 17, MANIFEST_COMPRESSION); /* a value that is not known */
    put_le32(family + 25, 3);
    add_raw(&edit, MANIFEST_CREATE_FAMILY, family, sizeof family);
    expect_refused(manifest, &edit, PETAL_UNSUPPORTED, "attribute 5 is 3");
    put_le16(family + 17, MANIFEST_OPTIONAL_TAG + 20);
    add_raw(&edit, MANIFEST_CREATE_FAMILY, family, sizeof family);
    add_raw(&edit, MANIFEST_OPTIONAL_TAG + 1, "whatever", 8);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    /* What is not given is the default. */
    assert_int_equal(manifest_find_family(manifest->tables[0], 5)->options.block_bytes, 65536);
    manifest_edit_fini(&edit);
    manifest_free(manifest);
}

/* The disk is full for a while: the old file stands, and the commit can be made later. */
TEST_WITH(test_a_new_file_that_does_not_fit_can_be_written_later, manifest_fixture_setup,
          manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct image images[STEPS + 1];
    struct manifest *manifest;
    petal_error error;

    manifest_free(commit_all(fixture, images));
    free_images(images);
    manifest = manifest_fixture_load(fixture);
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + 10);
    {
        struct manifest_edit edit;

        manifest_edit_init(&edit, &fixture->allocator.table);
        manifest_edit_oldest_log(&edit, 99);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_NO_SPACE);
        assert_int_equal(manifest->oldest_log, 8);
        memory_vfs_set_capacity(fixture->vfs, UINT64_MAX);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
        manifest_edit_fini(&edit);
    }
    manifest_free(manifest);
    manifest = manifest_fixture_load(fixture);
    assert_int_equal(manifest->oldest_log, 99);
    manifest_free(manifest);
}

/* ---- the format ---- */

/* A file without the attributes from MIN_VERSIONS on: written so by earlier versions, too. */
TEST_WITH(test_golden_bytes, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = manifest_fixture_make(fixture);
    const struct manifest_table *table;
    const petal_family_options *options;
    petal_error error;

    assert_int_equal(commit_step(fixture, manifest, 0, &error), PETAL_OK);
    assert_int_equal(commit_step(fixture, manifest, 1, &error), PETAL_OK);
    manifest_free(manifest);
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1");
    manifest = manifest_fixture_load(fixture);
    table = manifest_find_table(manifest, 1);
    assert_int_equal(table->families[1].stores[0].files[0].number, 101);
    assert_false(table->read_only);
    assert_int_equal(table->attribute_count, 0);
    assert_int_equal(table->next_family_id, 2);
    options = &table->families[0].options;
    assert_int_equal(options->min_versions, 0);
    assert_int_equal(options->ttl_seconds, PETAL_FOREVER);
    assert_int_equal(options->keep_deleted_cells, PETAL_KEEP_DELETED_FALSE);
    assert_false(options->new_version_behavior);
    assert_int_equal(options->bloom_prefix_bytes, 0);
    assert_false(options->bloom_rate_per_file);
    assert_int_equal(options->attribute_count, 0);
    manifest_free(manifest);
}

/* Alterations as edits, and in the snapshot of the next opening. */
TEST_WITH(test_golden_bytes_of_alterations, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = manifest_fixture_make(fixture);
    struct manifest_edit edit;
    petal_error error;

    manifest_edit_init(&edit, &fixture->allocator.table);
    create_table(&edit, 1, "t1", &rich_family, 1);
    manifest_edit_create_family(&edit, 1, 1, &two_families[0]);
    manifest_edit_drop_family(&edit, 1, 1);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    edit.size = 0;
    manifest_edit_alter_table(
        &edit, 1,
        &(petal_table_options){.read_only = true, .attributes = table_texts, .attribute_count = 2});
    manifest_edit_create_family(&edit, 1, 2, &two_families[1]);
    manifest_edit_alter_family(&edit, 1, 2, &two_families[0]);
    manifest_edit_drop_family(&edit, 1, 0);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    manifest_edit_fini(&edit);
    manifest_free(manifest);
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1-alter");
    manifest = manifest_fixture_load(fixture);
    assert_true(manifest->tables[0]->read_only);
    assert_int_equal(manifest->tables[0]->family_count, 1);
    assert_int_equal(manifest->tables[0]->families[0].id, 2);
    assert_int_equal(manifest->tables[0]->families[0].options.versions, 3);
    manifest_free(manifest);
}

/* A store file that becomes one of another run: it is removed and added by one edit. */
TEST_WITH(test_golden_bytes_of_a_linked_file, manifest_fixture_setup, manifest_fixture_teardown)
{
    struct manifest_file file = {.number = 5,
                                 .identity = 0xABCD,
                                 .run = 5,
                                 .file_bytes = 700,
                                 .sequence_min = 20,
                                 .sequence_max = 22,
                                 .cells = 3};
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = manifest_fixture_make(fixture);
    struct manifest_edit edit;
    petal_error error;

    manifest_edit_init(&edit, &fixture->allocator.table);
    create_table(&edit, 1, "t1", &two_families[0], 1);
    manifest_edit_add_file(&edit, 1, 0, &file);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    edit.size = 0;
    file.run = 3;
    manifest_edit_remove_file(&edit, 1, 0, 5);
    manifest_edit_add_file(&edit, 1, 0, &file);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    manifest_edit_fini(&edit);
    assert_int_equal(manifest->tables[0]->families[0].stores[0].file_count, 1);
    assert_int_equal(manifest->tables[0]->families[0].stores[0].files[0].run, 3);
    manifest_free(manifest);
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1-linked");
    manifest = manifest_fixture_load(fixture);
    assert_int_equal(manifest->tables[0]->families[0].stores[0].file_count, 1);
    assert_memory_equal(&manifest->tables[0]->families[0].stores[0].files[0], &file, sizeof file);
    manifest_free(manifest);
}

/* A shifted store file, as an edit and in the snapshot of the next opening. */
TEST_WITH(test_golden_bytes_of_a_shifted_file, manifest_fixture_setup, manifest_fixture_teardown)
{
    static const struct manifest_file file = {.number = 5,
                                              .identity = 0xABCD,
                                              .run = 5,
                                              .file_bytes = 700,
                                              .sequence_min = 1000020,
                                              .sequence_max = 1000022,
                                              .cells = 3,
                                              .sequence_shift = 12};
    struct manifest_fixture *fixture = *state;
    struct manifest *manifest = manifest_fixture_make(fixture);
    struct manifest_file impossible = file;
    struct manifest_edit edit;
    petal_error error;

    manifest_edit_init(&edit, &fixture->allocator.table);
    create_table(&edit, 1, "t1", &two_families[0], 1);
    manifest_edit_add_file(&edit, 1, 0, &file);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
    edit.size = 0;
    impossible.number = 6; /* a cell in the file would have the sequence 0 */
    impossible.sequence_shift = impossible.sequence_min;
    manifest_edit_add_file(&edit, 1, 0, &impossible);
    assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "which is impossible"));
    manifest_edit_fini(&edit);
    manifest_free(manifest);
    manifest_fixture_check_golden(fixture, "tests/engine/manifest/golden/MANIFEST-v1-shifted");
    for (unsigned opening = 0; opening < 2; opening++) {
        manifest = manifest_fixture_load(fixture);
        assert_memory_equal(&manifest->tables[0]->families[0].stores[0].files[0], &file,
                            sizeof file);
        manifest_edit_init(&edit, &fixture->allocator.table);
        assert_int_equal(manifest_commit(manifest, &edit, &error), PETAL_OK);
        manifest_edit_fini(&edit);
        manifest_free(manifest);
    }
}
