/*
 * hbase_test.c -- folders of a real HBase (golden/hbase, where INDEX.txt says what each is for):
 * tables whose regions were split, merged and compacted, clones, MOB. Of each the table has the
 * cells that HBase's own clone has, or it is refused; whatever becomes of the small files that say
 * what belongs to it, nothing is read from elsewhere.
 */
#include "tests/hfile/expect.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/petal_hfile.h"

#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GOLDEN "tests/hfile/exchange/golden/hbase"

static const char *const snapshots[] = {"split", "halves",  "merging",  "merged",
                                        "copy",  "from_ns", "compacted"};
static const char *const folders[] = {"halves", "merging", "copy", "from_ns", "compacted"};

#define COUNT(names) (sizeof names / sizeof *names)

/* ---- Cells ----------------------------------------------------------------------------------- */

static petal_db *
open_database(const char *directory)
{
    petal_options options = {.size = sizeof options, .create = true, .no_compaction = true};
    petal_db *db;
    petal_error error;

    assert_int_equal(petal_open(directory, &options, &db, &error), PETAL_OK);
    return db;
}

/* What is stored in the table, as golden/hbase/cells has it, to be freed. */
static char *
cells_of(petal_db *db, const char *name)
{
    petal_scan_options options = {
        .size = sizeof options,
        .read = {.size = sizeof options.read, .versions = PETAL_ALL_VERSIONS},
        .raw = true};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_table *table;
    petal_error error;
    char *cells;
    size_t size;
    FILE *out = open_memstream(&cells, &size);

    assert_non_null(out);
    assert_int_equal(petal_table_open(db, text(name), &table, &error), PETAL_OK);
    assert_int_equal(petal_cursor_open(table, &options, &cursor, &error), PETAL_OK);
    for (;;) {
        assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_OK);
        if (cell == NULL)
            break;
        (void)fprintf(out, "%.*s\t%.*s\t%.*s\t%lld\t%s\t%.*s\n", (int)cell->row.size,
                      (const char *)cell->row.data, (int)cell->family.size,
                      (const char *)cell->family.data, (int)cell->qualifier.size,
                      (const char *)cell->qualifier.data, (long long)cell->timestamp,
                      petal_hfile_type_text((int)cell->type), (int)cell->value.size,
                      (const char *)cell->value.data);
    }
    petal_cursor_close(cursor);
    assert_int_equal(fclose(out), 0);
    return cells;
}

static char *
read_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = test_allocate(1u << 16);

    if (file == NULL)
        fail_msg("%s is not there", path);
    *size = fread(bytes, 1, (1u << 16) - 1, file);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

/* What the path leads to, which may be a pattern. */
static enum petal_status
import_as(petal_db *db, const char *path, const char *name,
          const petal_hfile_import_options *options, petal_hfile_import_counts *counts,
          petal_error *error)
{
    petal_hfile_set *set;
    glob_t paths;
    enum petal_status status = PETAL_OK;

    assert_int_equal(petal_hfile_set_new(&set, error), PETAL_OK);
    assert_int_equal(glob(path, GLOB_NOCHECK, NULL, &paths), 0);
    for (size_t i = 0; status == PETAL_OK && i < paths.gl_pathc; i++)
        status = petal_hfile_set_add(set, paths.gl_pathv[i], error);
    globfree(&paths);
    if (status == PETAL_OK)
        status = petal_hfile_import_as(db, text(name), set, options, NULL, counts, error);
    petal_hfile_set_free(set);
    return status;
}

/* ---- What HBase's clone has ------------------------------------------------------------------ */

static void
assert_cells(petal_db *db, const char *path, const char *name, const char *snapshot)
{
    char place[PATH_MAX], *cells, *wanted;
    petal_hfile_import_counts counts;
    petal_error error;
    size_t size;

    snprintf(place, sizeof place, GOLDEN "/cells/%s", snapshot);
    wanted = read_text(place, &size);
    if (import_as(db, path, name, NULL, &counts, &error) != PETAL_OK)
        fail_msg("%s: %s", path, error.text);
    cells = cells_of(db, name);
    if (strcmp(cells, wanted) != 0)
        fail_msg("%s: HBase's clone has\n%s, but there came\n%s", path, wanted, cells);
    free(cells);
    free(wanted);
}

/* Of each name, what lies at `before`, name, `after`. */
static void
assert_all_cells(const char *before, const char *const *names, size_t count, const char *after)
{
    char *directory = test_directory_new();
    petal_db *db = open_database(directory);
    petal_error error;

    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];

        snprintf(path, sizeof path, GOLDEN "%s%s%s", before, names[i], after);
        assert_cells(db, path, names[i], names[i]);
    }
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
}

TEST(test_snapshots_are_as_hbase_clones_them)
{
    assert_all_cells("/.hbase-snapshot/", snapshots, COUNT(snapshots), "");
}

TEST(test_folders_of_tables_as_well)
{
    assert_all_cells("/data/default/", folders, COUNT(folders), "");
}

/* A family's folder in its region's is not only a folder of files. */
TEST(test_folders_of_families_as_well)
{
    assert_all_cells("/data/default/", folders, COUNT(folders), "/*/f");
}

TEST(test_what_was_left_out_is_counted)
{
    char *directory = test_directory_new();
    petal_db *db = open_database(directory);
    petal_hfile_import_counts counts;
    petal_error error;

    assert_int_equal(import_as(db, GOLDEN "/.hbase-snapshot/split", "a", NULL, &counts, &error),
                     PETAL_OK);
    assert_int_equal(counts.files, 2);
    assert_int_equal(counts.split_regions, 1);
    assert_int_equal(import_as(db, GOLDEN "/data/default/merging", "b", NULL, &counts, &error),
                     PETAL_OK);
    assert_int_equal(counts.files, 2);
    assert_int_equal(counts.split_regions, 2);
    assert_int_equal(counts.compacted_files, 0);
    assert_int_equal(import_as(db, GOLDEN "/data/default/compacted", "c", NULL, &counts, &error),
                     PETAL_OK);
    assert_int_equal(counts.files, 1);
    assert_int_equal(counts.split_regions, 0);
    assert_int_equal(counts.compacted_files, 2);
    assert_int_equal(counts.dropped_edits, 0);
    assert_int_equal(counts.files_without_region, 0);
    assert_int_equal(import_as(db, GOLDEN "/data/default/merging/*/f", "d", NULL, &counts, &error),
                     PETAL_OK);
    assert_int_equal(counts.split_regions, 2);
    assert_int_equal(counts.files_without_region, 0);
    assert_int_equal(import_as(db, GOLDEN "/data/default/split/*/f/*", "e", NULL, &counts, &error),
                     PETAL_OK);
    assert_int_equal(counts.split_regions, 0);
    assert_int_equal(counts.files_without_region, counts.files);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
}

/* Nothing in the folder says which regions are the old ones: in HBase that is in hbase:meta. */
TEST(test_what_cannot_be_told_is_refused)
{
    static const struct {
        const char *path;
        enum petal_status status;
        const char *text;
    } cases[] = {{"data/default/split", PETAL_INVALID, "regions overlap"},
                 {"data/default/split/*/f", PETAL_INVALID, "regions overlap"},
                 {"data/default/merged", PETAL_INVALID, "regions overlap"},
                 {"data/default", PETAL_INVALID, "holds several tables"},
                 {"data/default/mob", PETAL_UNSUPPORTED, "in a MOB file"},
                 {".hbase-snapshot/mob", PETAL_UNSUPPORTED, "MOB file"}};
    const petal_hfile_import_options options = {.size = sizeof options, .drop_tags = true};
    char *directory = test_directory_new();
    petal_db *db = open_database(directory);
    petal_error error;

    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[PATH_MAX];
        petal_table *table;

        snprintf(path, sizeof path, GOLDEN "/%s", cases[i].path);
        assert_int_equal(import_as(db, path, "t", &options, NULL, &error), cases[i].status);
        if (strstr(error.text, cases[i].text) == NULL)
            fail_msg("%s: %s", path, error.text);
        assert_int_equal(petal_table_open(db, text("t"), &table, &error), PETAL_NOT_FOUND);
    }
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
}

/* ---- Folders that lie ------------------------------------------------------------------------ */

static const char *copied_to;

static int
copy_entry(const char *path, const struct stat *what, int kind, struct FTW *at)
{
    char copy[PATH_MAX], *bytes;
    size_t size;
    FILE *file;

    (void)at;
    snprintf(copy, sizeof copy, "%s%s", copied_to, path + strlen(GOLDEN));
    if (kind == FTW_D)
        return mkdir(copy, 0777) != 0 && strcmp(copy, copied_to) != 0;
    assert_true(what->st_size < 1 << 16);
    bytes = read_text(path, &size);
    file = fopen(copy, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    return 0;
}

static char *small_files[200];
static size_t small_file_count;

/* Manifests, .regioninfo, references, descriptions of tables. */
static int
note_small_file(const char *path, const struct stat *what, int kind, struct FTW *at)
{
    if (kind == FTW_F && what->st_size > 0 && what->st_size < 2000 &&
        strstr(path, "/cells/") == NULL && strcmp(path + at->base, "INDEX.txt") != 0 &&
        strcmp(path + at->base, ".snapshotinfo") != 0) {
        assert_true(small_file_count < COUNT(small_files));
        small_files[small_file_count++] = test_strdup(path);
    }
    return 0;
}

/* The snapshot or the table that the small file belongs to. */
static void
owner_of(const char *root, const char *path, char *owner, size_t size)
{
    const char *below = path + strlen(root) + 1;
    int parts = *below == '.' ? 2 : 3;

    while (parts-- > 0)
        below = strchr(below, '/') + (parts > 0);
    snprintf(owner, size, "%.*s", (int)(below - path), path);
}

/* Whatever the set finds lies in the folder. */
static void
drive(petal_db *db, const char *root, const char *owner, size_t *taken)
{
    char real_root[PATH_MAX];
    petal_hfile_set *set;
    petal_error error;
    petal_table *table;

    assert_non_null(realpath(root, real_root));
    assert_int_equal(petal_hfile_set_new(&set, &error), PETAL_OK);
    if (petal_hfile_set_add(set, owner, &error) == PETAL_OK) {
        for (size_t i = 0; i < petal_hfile_set_count(set); i++) {
            char real[PATH_MAX];

            assert_non_null(realpath(petal_hfile_set_path(set, i), real));
            if (strncmp(real, real_root, strlen(real_root)) != 0)
                fail_msg("%s leads to %s", owner, real);
        }
        if (petal_hfile_import_as(db, text("t"), set, NULL, NULL, NULL, &error) == PETAL_OK) {
            ++*taken;
            assert_int_equal(petal_table_open(db, text("t"), &table, &error), PETAL_OK);
            assert_int_equal(petal_table_drop(table, &error), PETAL_OK);
        } else {
            assert_true(error.text[0] != '\0');
        }
    }
    petal_hfile_set_free(set);
}

TEST(test_small_files_that_lie)
{
    const size_t step = getenv("PETAL_LONG") != NULL ? 1 : getenv("PETAL_SHORT") != NULL ? 61 : 13;
    static const char changes[] = {0x01, (char)0x80, (char)0xff, 0x10};
    char *root = test_directory_new(), *directory = test_directory_new();
    petal_db *db = open_database(directory);
    petal_error error;
    size_t mutants = 0, taken = 0;

    copied_to = root;
    assert_int_equal(nftw(GOLDEN, copy_entry, 16, FTW_PHYS), 0);
    assert_int_equal(nftw(root, note_small_file, 16, FTW_PHYS), 0);
    assert_true(small_file_count > 30);
    for (size_t i = 0; i < small_file_count; i++) {
        const char *path = small_files[i];
        char owner[PATH_MAX], *bytes;
        size_t size;

        owner_of(root, path, owner, sizeof owner);
        bytes = read_text(path, &size);
        for (size_t at = i % step; at < size; at += step, mutants += 2) {
            char kept = bytes[at];

            bytes[at] = (char)(kept ^ changes[(i + at) % sizeof changes]);
            put_bytes(path, bytes, size);
            drive(db, root, owner, &taken);
            bytes[at] = kept;
            put_bytes(path, bytes, at);
            drive(db, root, owner, &taken);
        }
        put_bytes(path, bytes, size);
        free(bytes);
        free(small_files[i]);
    }
    printf("counted: %zu changed or cut files beside HFiles, %zu of them taken\n", mutants, taken);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    test_directory_free(directory);
    test_directory_free(root);
}
