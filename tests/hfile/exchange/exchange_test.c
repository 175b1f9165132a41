/*
 * exchange_test.c -- petal_hfile_import and _export through their header: all or nothing, whatever
 * fails; of equal keys the newest; times to live both ways; and files of HBase with a byte changed
 * give the cells that they had, or an error that names them and nothing else.
 */
#include "tests/hfile/expect.h"
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/petal_hfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- A database and a directory for files ---------------------------------------------------- */

struct place {
    char *directory, *files;
    struct test_allocator allocator;
    petal_env env;
    petal_db *db;
    petal_table *table; /* "t", with the families "f" and "g", of any number of versions */
};

static void
place_open(struct place *place)
{
    petal_options options = {.size = sizeof options, .create = true, .no_compaction = true};
    petal_family_options families[] = {{.name = text("f"), .versions = INT32_MAX},
                                       {.name = text("g"), .versions = INT32_MAX}};
    petal_table_options table = {.name = text("t"), .families = families, .family_count = 2};
    petal_error error;

    place->directory = test_directory_new();
    place->files = test_directory_new();
    test_allocator_init(&place->allocator);
    place->env = (petal_env){.size = sizeof place->env, .allocator = &place->allocator.table};
    options.env = &place->env;
    assert_int_equal(petal_open(place->directory, &options, &place->db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(place->db, &table, &place->table, &error), PETAL_OK);
}

static void
place_close(struct place *place)
{
    petal_error error;

    assert_int_equal(petal_close(place->db, &error), PETAL_OK);
    assert_int_equal(test_allocator_live_blocks(&place->allocator), 0);
    test_directory_free(place->directory);
    test_directory_free(place->files);
}

static uint64_t
mixed(uint64_t digest, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return (digest ^ size) * 0x100000001b3;
}

/* All cells that are stored, in one number; 0: none. */
static uint64_t
digest_of(petal_table *table, uint64_t *count)
{
    petal_scan_options options = {
        .size = sizeof options,
        .read = {.size = sizeof options.read, .versions = PETAL_ALL_VERSIONS},
        .raw = true};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;
    uint64_t digest = 0;

    *count = 0;
    assert_int_equal(petal_cursor_open(table, &options, &cursor, &error), PETAL_OK);
    for (;;) {
        assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_OK);
        if (cell == NULL)
            break;
        ++*count;
        digest = mixed(digest, cell->row.data, cell->row.size);
        digest = mixed(digest, cell->family.data, cell->family.size);
        digest = mixed(digest, cell->qualifier.data, cell->qualifier.size);
        digest = mixed(digest, cell->value.data, cell->value.size);
        digest = mixed(digest, &cell->timestamp, sizeof cell->timestamp);
        digest = mixed(digest, &cell->type, sizeof cell->type);
        digest = mixed(digest, &cell->ttl_ms, sizeof cell->ttl_ms);
    }
    petal_cursor_close(cursor);
    return digest;
}

static uint64_t
count_of(petal_table *table)
{
    uint64_t count;

    (void)digest_of(table, &count);
    return count;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static enum petal_status
write_bytes(void *context, const void *bytes, size_t size, petal_error *error)
{
    (void)error;
    assert_int_equal(fwrite(bytes, 1, size, context), size);
    return PETAL_OK;
}

/* A file of `count` cells in place->files; the path is to be freed. */
static char *
make_file(struct place *place, const char *name, const petal_hfile_cell *cells, size_t count,
          petal_hfile_write_options options)
{
    char *path = test_path(place->files, name);
    FILE *file = fopen(path, "wb");
    petal_hfile_sink sink = {.context = file, .name = name, .write = write_bytes};
    petal_hfile_writer *writer;
    petal_error error;
    uint64_t bytes;

    assert_non_null(file);
    options.size = sizeof options;
    assert_int_equal(petal_hfile_writer_new(&sink, &options, &writer, &error), PETAL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(petal_hfile_writer_add(writer, &cells[i], &error), PETAL_OK);
    assert_int_equal(petal_hfile_writer_finish(writer, &bytes, &error), PETAL_OK);
    petal_hfile_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    return path;
}

static petal_hfile_cell
put(const char *row, const char *family, const char *value)
{
    return (petal_hfile_cell){.row = text(row),
                              .family = text(family),
                              .qualifier = text("q"),
                              .value = text(value),
                              .timestamp = 5,
                              .type = PETAL_PUT};
}

static enum petal_status
import_paths(petal_table *table, const char *const *paths, size_t count,
             const petal_hfile_import_options *options, petal_hfile_import_counts *counts,
             petal_error *error)
{
    petal_hfile_set *set;
    enum petal_status status = PETAL_OK;

    assert_int_equal(petal_hfile_set_new(&set, error), PETAL_OK);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = petal_hfile_set_add(set, paths[i], error);
    if (status == PETAL_OK)
        status = petal_hfile_import(table, set, options, counts, error);
    petal_hfile_set_free(set);
    return status;
}

static void
assert_value(struct place *place, const char *row, const char *family, const char *value)
{
    petal_family *of;
    petal_column column;
    petal_read_options options = {.size = sizeof options, .columns = &column, .column_count = 1};
    petal_result *result;
    petal_error error;

    assert_int_equal(petal_table_family(place->table, text(family), &of, &error), PETAL_OK);
    column = (petal_column){.family = of, .qualifier = text("q")};
    assert_int_equal(petal_result_new(place->db, &result, &error), PETAL_OK);
    assert_int_equal(petal_get(place->table, text(row), &options, result, &error), PETAL_OK);
    assert_int_equal(petal_result_count(result), 1);
    assert_int_equal(petal_result_cell(result, 0)->value.size, strlen(value));
    assert_memory_equal(petal_result_cell(result, 0)->value.data, value, strlen(value));
    petal_result_free(result);
}

/* ---- Imports --------------------------------------------------------------------------------- */

/* Of equal keys in several files: by the cells' sequences, by MAX_SEQ_ID_KEY, by the file's
 * name. */
TEST(test_of_equal_keys_the_newest)
{
    struct place place;
    petal_hfile_cell old = put("r1", "f", "old"), new = put("r1", "f", "new");
    petal_hfile_cell sequenced[] = {put("r2", "f", "of 7"), put("r3", "f", "of 50")};
    petal_hfile_cell others[] = {put("r2", "f", "of 20"), put("r3", "f", "of 9")};
    petal_hfile_cell loaded = put("r4", "f", "loaded"), before = put("r4", "f", "before");
    const petal_hfile_write_options numbered = {
        .with_sequences = true, .has_sequence_id = true, .sequence_id = 100};
    petal_hfile_import_counts counts;
    petal_error error;
    char *paths[6];

    place_open(&place);
    sequenced[0].sequence = 7;
    sequenced[1].sequence = 50;
    others[0].sequence = 20;
    others[1].sequence = 9;
    before.sequence = 60;
    paths[0] = make_file(&place, "a", &new, 1,
                         (petal_hfile_write_options){.has_sequence_id = true, .sequence_id = 9});
    paths[1] = make_file(&place, "b", &old, 1,
                         (petal_hfile_write_options){.has_sequence_id = true, .sequence_id = 8});
    paths[2] = make_file(&place, "c", sequenced, 2, numbered);
    paths[3] = make_file(&place, "d", others, 2, numbered);
    paths[4] = make_file(&place, "e", &before, 1, numbered);
    paths[5] = make_file(&place, "0123456789abcdef_SeqId_61_", &loaded, 1,
                         (petal_hfile_write_options){.has_sequence_id = true, .sequence_id = 1});
    assert_int_equal(
        import_paths(place.table, (const char *const *)paths, 6, NULL, &counts, &error), PETAL_OK);
    assert_int_equal(counts.files, 6);
    assert_int_equal(counts.cells, 4);
    assert_int_equal(counts.superseded, 4);
    assert_value(&place, "r1", "f", "new");
    assert_value(&place, "r2", "f", "of 20");
    assert_value(&place, "r3", "f", "of 50");
    assert_value(&place, "r4", "f", "loaded");
    for (size_t i = 0; i < 6; i++)
        free(paths[i]);
    place_close(&place);
}

TEST(test_families_and_empty_files)
{
    struct place place;
    petal_hfile_cell f[] = {put("r1", "f", "1"), put("r2", "f", "2"), put("r3", "f", "3")};
    petal_hfile_cell g[] = {put("r1", "g", "4"), put("r3", "g", "5")};
    petal_hfile_import_counts counts;
    petal_error error;
    char *paths[3];

    place_open(&place);
    paths[0] = make_file(&place, "f", f, 3, (petal_hfile_write_options){0});
    paths[1] = make_file(&place, "g", g, 2, (petal_hfile_write_options){0});
    paths[2] = make_file(&place, "h", NULL, 0, (petal_hfile_write_options){0});
    assert_int_equal(
        import_paths(place.table, (const char *const *)paths, 0, NULL, &counts, &error), PETAL_OK);
    assert_int_equal(counts.files, 0);
    assert_int_equal(
        import_paths(place.table, (const char *const *)paths + 2, 1, NULL, &counts, &error),
        PETAL_OK);
    assert_int_equal(counts.empty_files, 1);
    assert_int_equal(count_of(place.table), 0);
    assert_int_equal(
        import_paths(place.table, (const char *const *)paths, 3, NULL, &counts, &error), PETAL_OK);
    assert_int_equal(counts.cells, 5);
    assert_value(&place, "r3", "f", "3");
    assert_value(&place, "r1", "g", "4");
    for (size_t i = 0; i < 3; i++)
        free(paths[i]);
    place_close(&place);
}

/* The table is the one of that name, or is made for the import, and dropped with it. */
TEST(test_into_a_table_by_name)
{
    struct place place;
    petal_hfile_cell cells[] = {put("r1", "f", "1"), put("r2", "f", "2")};
    petal_hfile_cell tagged = put("r1", "f", "1");
    enum petal_hfile_table_origin origin;
    petal_hfile_import_counts counts;
    petal_hfile_set *set, *bad;
    petal_table *table;
    petal_error error;
    char *path, *bad_path;

    place_open(&place);
    tagged.tags = (petal_slice){"\0\2\1x", 4};
    path = make_file(&place, "f", cells, 2, (petal_hfile_write_options){0});
    bad_path = make_file(&place, "g", &tagged, 1, (petal_hfile_write_options){.with_tags = true});
    assert_int_equal(petal_hfile_set_new(&set, &error), PETAL_OK);
    assert_int_equal(petal_hfile_set_add(set, path, &error), PETAL_OK);
    assert_int_equal(petal_hfile_set_new(&bad, &error), PETAL_OK);
    assert_int_equal(petal_hfile_set_add(bad, bad_path, &error), PETAL_OK);

    assert_int_equal(
        petal_hfile_import_as(place.db, text("made"), bad, NULL, &origin, NULL, &error),
        PETAL_UNSUPPORTED);
    assert_int_equal(petal_table_open(place.db, text("made"), &table, &error), PETAL_NOT_FOUND);
    assert_int_equal(
        petal_hfile_import_as(place.db, text("made"), set, NULL, &origin, &counts, &error),
        PETAL_OK);
    assert_int_equal(origin, PETAL_HFILE_TABLE_OF_FILES);
    assert_int_equal(counts.cells, 2);
    assert_int_equal(petal_table_open(place.db, text("made"), &table, &error), PETAL_OK);
    assert_int_equal(count_of(table), 2);
    assert_int_equal(
        petal_hfile_import_as(place.db, text("made"), bad, NULL, &origin, NULL, &error),
        PETAL_UNSUPPORTED);
    assert_int_equal(petal_table_open(place.db, text("made"), &table, &error), PETAL_OK);
    assert_int_equal(count_of(table), 2);
    assert_int_equal(
        petal_hfile_import_as(place.db, text("made"), set, NULL, &origin, NULL, &error), PETAL_OK);
    assert_int_equal(origin, PETAL_HFILE_TABLE_WAS_THERE);
    assert_int_equal(petal_hfile_import_as(NULL, text("made"), set, NULL, &origin, NULL, &error),
                     PETAL_INVALID);
    petal_hfile_set_free(set);
    petal_hfile_set_free(bad);
    free(path);
    free(bad_path);
    place_close(&place);
}

/* What would be wrong without a word stays outside: values that are names of MOB files, whatever is
 * done with tags, and a region whose writes are not all in files, unless that is wanted. */
TEST(test_what_an_hfile_does_not_have)
{
    struct place place;
    petal_hfile_cell cell = put("r1", "f", "\0\0\0\1name of a file"), plain = put("r2", "f", "v");
    const petal_hfile_import_options tags = {.size = sizeof tags, .drop_tags = true},
                                     edits = {.size = sizeof edits, .drop_edits = true};
    petal_hfile_import_counts counts;
    petal_error error;
    char *path, *folder, *file;
    const char *region;

    place_open(&place);
    for (char type = PETAL_HFILE_TAG_MOB_REFERENCE; type <= PETAL_HFILE_TAG_MOB_TABLE; type++) {
        const char tag[] = {0, 1, type};

        cell.tags = (petal_slice){tag, sizeof tag};
        path = make_file(&place, "mob", &cell, 1, (petal_hfile_write_options){.with_tags = true});
        assert_int_equal(
            import_paths(place.table, (const char *const *)&path, 1, &tags, NULL, &error),
            PETAL_UNSUPPORTED);
        assert_non_null(strstr(error.text, "MOB"));
        assert_int_equal(unlink(path), 0);
        free(path);
    }
    path = make_file(&place, "0123456789abcdef0123456789abcdef", &plain, 1,
                     (petal_hfile_write_options){0});
    folder = test_path(place.files, "recovered.edits");
    assert_int_equal(mkdir(folder, 0777), 0);
    file = test_path(folder, "0000000000000000007");
    region = place.files;
    assert_int_equal(symlink("/dev/null", file), 0);
    assert_int_equal(import_paths(place.table, &region, 1, NULL, &counts, &error), PETAL_OK);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(link(path, file), 0);
    assert_int_equal(import_paths(place.table, &region, 1, NULL, &counts, &error),
                     PETAL_UNSUPPORTED);
    assert_non_null(strstr(error.text, "recovered.edits/0000000000000000007"));
    assert_int_equal(import_paths(place.table, &region, 1, &edits, &counts, &error), PETAL_OK);
    assert_int_equal(counts.dropped_edits, 1);
    assert_int_equal(counts.cells, 1);
    free(file);
    free(folder);
    free(path);
    place_close(&place);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Cells of both families, some with a time to live, in the memtable and in store files. */
static void
fill(struct place *place, int rows)
{
    petal_family *families[2];
    petal_error error;

    for (size_t i = 0; i < 2; i++)
        families[i] = petal_table_family_at(place->table, i);
    for (int i = 0; i < rows; i++) {
        const petal_write_options options = {
            .size = sizeof options, .has_ttl = i % 5 == 0, .ttl_ms = i % 5 == 0 ? INT64_MAX : 0};
        char row[16];

        snprintf(row, sizeof row, "row%05d", i);
        assert_int_equal(
            petal_put(families[i % 2], text(row), text("q"), i, text(row), &options, &error),
            PETAL_OK);
        if (i % 7 == 0)
            assert_int_equal(petal_delete(families[i % 2], text(row), text("d"), i,
                                          PETAL_DELETE_COLUMN, NULL, &error),
                             PETAL_OK);
    }
    assert_int_equal(petal_flush(place->db, place->table, &error), PETAL_OK);
}

/* Calls left until it says no; UINT64_MAX: never. */
static bool
patient(void *argument, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return (*(uint64_t *)argument)-- != 0;
}

/* A copy of the cells by files, times to live and markers with them. */
TEST(test_there_and_back)
{
    struct place from, to;
    char *out;
    const char *paths[1];
    petal_hfile_export_counts exported;
    petal_hfile_import_counts imported;
    petal_error error;
    uint64_t count, copied;

    place_open(&from);
    place_open(&to);
    fill(&from, 300);
    out = test_path(from.files, "out");
    paths[0] = out;
    assert_int_equal(petal_hfile_export(from.db, from.table, out, NULL, &exported, &error),
                     PETAL_OK);
    assert_int_equal(import_paths(to.table, paths, 1, NULL, &imported, &error), PETAL_OK);
    assert_int_equal(digest_of(from.table, &count), digest_of(to.table, &copied));
    assert_int_equal(count, copied);
    assert_int_equal(count, exported.cells);
    assert_int_equal(count, imported.cells);
    assert_int_equal(imported.markers, 43);
    assert_int_equal(imported.dropped_tags, 0);
    free(out);
    place_close(&from);
    place_close(&to);
}

/* The watch says no, at each of its calls, while several regions are written: nothing is there. */
TEST(test_given_up)
{
    struct place place;
    char *out;
    const char *paths[1];
    uint64_t before, calls = UINT64_MAX;
    const petal_slice keys[] = {text("row10000"), text("row20000")};
    const petal_hfile_export_options all = {.size = sizeof all,
                                            .split_keys = keys,
                                            .split_key_count = 2,
                                            .watch = patient,
                                            .argument = &calls};
    petal_error error;

    place_open(&place);
    fill(&place, 30000);
    before = count_of(place.table);
    out = test_path(place.files, "out");
    paths[0] = out;
    assert_int_equal(petal_hfile_export(place.db, place.table, out, &all, NULL, &error), PETAL_OK);
    assert_true(UINT64_MAX - calls >= 6);
    for (uint64_t most = UINT64_MAX - calls, n = 0; n < most; n++) {
        char *other = test_path(place.files, "other");
        uint64_t left = n;
        petal_hfile_export_options some = all;

        some.argument = &left;
        assert_int_equal(petal_hfile_export(place.db, place.table, other, &some, NULL, &error),
                         PETAL_BUSY);
        assert_int_equal(access(other, F_OK), -1);
        free(other);
    }
    for (uint64_t n = 0; n < 2; n++) {
        uint64_t left = n;
        const petal_hfile_import_options some = {
            .size = sizeof some, .watch = patient, .argument = &left};

        assert_int_equal(import_paths(place.table, paths, 1, &some, NULL, &error), PETAL_BUSY);
        assert_int_equal(count_of(place.table), before);
    }
    free(out);
    place_close(&place);
}

/* Each allocation of the database fails: an import enters whole, or not, an export of several
 * regions leaves nothing, and neither leaks. */
TEST(test_memory_fails)
{
    struct place place;
    petal_hfile_cell cells[] = {put("r1", "f", "1"), put("r2", "f", "2"), put("r3", "f", "3")};
    const petal_slice keys[] = {text("r2"), text("r3")};
    const petal_hfile_export_options regions = {
        .size = sizeof regions, .split_keys = keys, .split_key_count = 2};
    const char *paths[1];
    char *path, *out;
    petal_error error;
    uint64_t failed = 0, exports = 0;

    place_open(&place);
    path = make_file(&place, "f", cells, 3, (petal_hfile_write_options){0});
    paths[0] = path;
    for (uint64_t n = 1;; n++) {
        uint64_t failures = test_allocator_failures(&place.allocator);
        enum petal_status status;

        test_allocator_fail_at(&place.allocator, n, false);
        status = import_paths(place.table, paths, 1, NULL, NULL, &error);
        test_allocator_fail_at(&place.allocator, 0, false);
        if (status != PETAL_OK) {
            assert_int_equal(status, PETAL_NO_MEMORY);
            assert_int_equal(count_of(place.table), 0);
            failed++;
            continue;
        }
        assert_int_equal(count_of(place.table), 3);
        if (test_allocator_failures(&place.allocator) == failures)
            break;
        assert_int_equal(petal_table_truncate(place.table, &place.table, &error), PETAL_OK);
    }
    assert_true(failed > 5);
    out = test_path(place.files, "out");
    for (uint64_t n = 1;; n++) {
        enum petal_status status;

        test_allocator_fail_at(&place.allocator, n, false);
        status = petal_hfile_export(place.db, place.table, out, &regions, NULL, &error);
        test_allocator_fail_at(&place.allocator, 0, false);
        if (status == PETAL_OK)
            break;
        assert_int_equal(status, PETAL_NO_MEMORY);
        assert_int_equal(access(out, F_OK), -1);
        exports++;
    }
    assert_true(exports > 5);
    test_counted("%d imports and %d exports without memory", (int)failed, (int)exports);
    free(path);
    free(out);
    place_close(&place);
}

/* Structs of an older header, which end before what this one knows, and of none. */
TEST(test_options_of_other_sizes)
{
    struct place place;
    petal_hfile_cell cell = put("r1", "f", "1");
    uint64_t none = 0;
    petal_hfile_import_options import = {.watch = patient, .argument = &none};
    petal_hfile_write_options file = {.size = 3};
    petal_hfile_export_options export = {.size = 3, .watch = patient, .argument = &none};
    char *path, *out;
    const char *paths[1];
    petal_error error;

    place_open(&place);
    path = make_file(&place, "f", &cell, 1, (petal_hfile_write_options){0});
    out = test_path(place.files, "out");
    paths[0] = path;
    import.size = 3;
    assert_int_equal(import_paths(place.table, paths, 1, &import, NULL, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "petal_hfile_import_options"));
    import.size = offsetof(petal_hfile_import_options, watch);
    assert_int_equal(import_paths(place.table, paths, 1, &import, NULL, &error), PETAL_OK);
    assert_int_equal(petal_hfile_export(place.db, place.table, out, &export, NULL, &error),
                     PETAL_INVALID);
    export.size = offsetof(petal_hfile_export_options, watch);
    export.file = &file;
    assert_int_equal(petal_hfile_export(place.db, place.table, out, &export, NULL, &error),
                     PETAL_INVALID);
    assert_non_null(strstr(error.text, "petal_hfile_write_options"));
    file.size = offsetof(petal_hfile_write_options, codec);
    file.codec = (enum petal_hfile_codec)99;
    assert_int_equal(petal_hfile_export(place.db, place.table, out, &export, NULL, &error),
                     PETAL_OK);
    free(path);
    free(out);
    place_close(&place);
}

/* ---- Files of HBase with a byte changed ------------------------------------------------------ */

static struct place golden_place;
static uint64_t mutants, refused;

static enum petal_status
import_golden(const char *path, petal_hfile_import_counts *counts, petal_error *error)
{
    const petal_hfile_import_options options = {.size = sizeof options, .drop_tags = true};

    return import_paths(golden_place.table, &path, 1, &options, counts, error);
}

static void
forget_golden(void)
{
    petal_error error;

    assert_int_equal(petal_table_truncate(golden_place.table, &golden_place.table, &error),
                     PETAL_OK);
}

static void
try_mutants(const char *path, uint8_t *bytes, size_t size, uint64_t digest, bool is_checked)
{
    struct test_random random;
    size_t count = test_long() ? 2000 : test_short() ? 8 : 40;

    test_random_init(&random, size);
    for (size_t i = 0; i < count; i++) {
        /* Half of them in what a file says of itself: the trailer's 4096 bytes are 0 at the end. */
        size_t end = size - 3600, tail = end < 1500 ? end : 1500;
        size_t at = i % 2 == 0 ? (size_t)test_random_below(&random, size)
                               : end - 1 - (size_t)test_random_below(&random, tail);
        uint8_t was = bytes[at];
        petal_error error;
        enum petal_status status;
        uint64_t cells;

        bytes[at] ^= (uint8_t)(1 + test_random_below(&random, 255));
        put_bytes(path, bytes, size);
        bytes[at] = was;
        mutants++;
        status = import_golden(path, NULL, &error);
        if (status == PETAL_OK) {
            if (is_checked && digest_of(golden_place.table, &cells) != digest)
                fail_msg("%s: a byte changed at %zu gives other cells", path, at);
            forget_golden();
            continue;
        }
        refused++;
        if (strstr(error.text, path) == NULL || digest_of(golden_place.table, &cells) != 0)
            fail_msg("a byte changed at %zu: %s", at, error.text);
    }
}

static void
try_golden(const char *name)
{
    bool is_checked = strcmp(name, "checksum-null") != 0;
    uint64_t digest, cells;
    size_t size;
    uint8_t *bytes = golden_bytes(name, &size);
    char *path = test_path(golden_place.files, name);
    petal_error error;

    put_bytes(path, bytes, size);
    if (import_golden(path, NULL, &error) == PETAL_OK) {
        digest = digest_of(golden_place.table, &cells);
        forget_golden();
        try_mutants(path, bytes, size, digest, is_checked);
    }
    (void)unlink(path);
    free(path);
    free(bytes);
}

TEST(test_a_byte_changed)
{
    petal_family_options family = {.name = text("cf"), .versions = INT32_MAX};
    petal_table_options table = {.name = text("golden"), .families = &family, .family_count = 1};
    petal_error error;

    place_open(&golden_place);
    assert_int_equal(petal_table_create(golden_place.db, &table, &golden_place.table, &error),
                     PETAL_OK);
    golden_each(try_golden);
    test_counted("%d files with a byte changed, %d refused", (int)mutants, (int)refused);
    assert_true(mutants > 300 && refused > mutants / 2);
    place_close(&golden_place);
}
