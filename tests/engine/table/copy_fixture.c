/* copy_fixture.c -- see tests/engine/table/copy_fixture.h. */

#include "tests/engine/table/copy_fixture.h"
#include "base/slice.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"
#include "tests/support/test.h"

enum petal_status
copy_fixture_create(petal_db *db, const char *name, petal_table **table, petal_error *error)
{
    petal_attribute owner = {PETAL_METADATA, {"owner", 5}, {"me", 2}};
    petal_family_options families[] = {
        {.name = {"f", 1}, .versions = 3, .bloom = PETAL_BLOOM_ROWCOL, .block_bytes = 1024},
        {.name = {"g", 1}, .attributes = &owner, .attribute_count = 1}};
    petal_table_options options = {.name = slice_from_text(name),
                                   .families = families,
                                   .family_count = 2,
                                   .durability = PETAL_SYNC_WAL,
                                   .attributes = &owner,
                                   .attribute_count = 1};

    return petal_table_create(db, &options, table, error);
}

petal_table *
copy_fixture_open(petal_db *db, const char *name)
{
    petal_table *table;

    MUST(petal_table_open(db, slice_from_text(name), &table, WHY));
    return table;
}

enum petal_status
copy_fixture_put(petal_table *table, const char *family, const char *row, const char *value,
                 enum petal_durability durability, petal_error *error)
{
    petal_write_options options = {.durability = durability};
    petal_family *found;
    enum petal_status status = petal_table_family(table, slice_from_text(family), &found, error);

    if (status != PETAL_OK)
        return status;
    return petal_put(found, slice_from_text(row), slice_make(NULL, 0), PETAL_LATEST,
                     slice_from_text(value), &options, error);
}

void
copy_fixture_must_put(petal_table *table, const char *family, const char *row, const char *value)
{
    MUST(copy_fixture_put(table, family, row, value, PETAL_DURABILITY_DEFAULT, WHY));
}

static void
append(char text[COPY_BED_TEXT_BYTES], petal_slice bytes, const char *end)
{
    size_t length = strlen(text);

    assert_true(length + bytes.size + strlen(end) < COPY_BED_TEXT_BYTES);
    memcpy(text + length, bytes.data, bytes.size);
    strcpy(text + length + bytes.size, end);
}

const char *
copy_fixture_text(petal_table *table, const petal_snapshot *snapshot,
                  char text[COPY_BED_TEXT_BYTES])
{
    petal_scan_options options = {.read.snapshot = snapshot};
    const petal_cell *cell;
    petal_cursor *cursor;

    text[0] = '\0';
    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        append(text, cell->row, "/");
        append(text, cell->family, "=");
        append(text, cell->value, " ");
    }
    petal_cursor_close(cursor);
    return text;
}

void
copy_fixture_expect(petal_table *table, const char *text)
{
    char buffer[COPY_BED_TEXT_BYTES];

    assert_string_equal(copy_fixture_text(table, NULL, buffer), text);
    MUST(petal_table_verify(table, WHY));
}

static bool
append_name(void *argument, const petal_table_snapshot_info *info)
{
    append(argument, info->name, " ");
    return true;
}

const char *
copy_fixture_snapshots(petal_db *db, char text[COPY_BED_TEXT_BYTES])
{
    text[0] = '\0';
    MUST(petal_table_snapshot_list(db, append_name, text, WHY));
    return text;
}

/* Does the store of an earlier region have the file, too? */
static bool
is_shared_before(const struct manifest *manifest, const struct manifest_family *family,
                 size_t region, uint64_t number)
{
    size_t place;

    for (size_t k = 0; k < region; k++) {
        if (manifest_find_file(manifest, &family->stores[k], number, &place))
            return true;
    }
    return false;
}

static size_t
count_named(struct fixture *fixture, const struct manifest *manifest)
{
    size_t count = 0;

    for (size_t t = 0; t < manifest->table_count; t++) {
        const struct manifest_table *table = manifest->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++) {
            const struct manifest_family *family = &table->families[i / table->region_count];
            size_t region = i % table->region_count;
            const struct manifest_store *store = &family->stores[region];

            for (size_t k = 0; k < store->file_count; k++) {
                uint64_t number = store->files[k].number;
                char path[PETAL_PATH_BYTES];

                filename_store_file(path, FIXTURE_DIRECTORY, number);
                assert_true(memory_vfs_exists(fixture->vfs, path));
                count += !is_shared_before(manifest, family, region, number);
            }
        }
    }
    return count;
}

size_t
copy_fixture_named_files(struct fixture *fixture)
{
    struct manifest *manifest;
    struct env env;
    struct directory directory;
    size_t count;

    env_init(&env, &fixture->env);
    assert_int_equal(directory_open(&directory, &env, FIXTURE_DIRECTORY, false), 0);
    MUST(manifest_load(&manifest, &directory, WHY));
    count = count_named(fixture, manifest);
    manifest_free(manifest);
    directory_close(&directory);
    return count;
}

void
copy_fixture_expect_no_stray(struct fixture *fixture)
{
    assert_int_equal(fixture_count_files(fixture, ".sst"), copy_fixture_named_files(fixture));
}
