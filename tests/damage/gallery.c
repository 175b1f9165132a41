/* gallery.c -- see gallery.h. */
#include "tests/damage/gallery.h"

#include "base/slice.h"
#include "tests/support/test.h"

#include <stdlib.h>

const struct gallery_family gallery_families[GALLERY_FAMILIES] = {
    {"first", "row", PETAL_BLOOM_ROW, PETAL_COMPRESSION_NONE, false, false},
    {"first", "col", PETAL_BLOOM_ROWCOL, PETAL_COMPRESSION_LZ4, false, false},
    {"first", "both", PETAL_BLOOM_ROW_ROWCOL, PETAL_COMPRESSION_LZ4, false, false},
    {"second", "prefix", PETAL_BLOOM_ROW_PREFIX, PETAL_COMPRESSION_NONE, false, false},
    {"second", "none", PETAL_BLOOM_NONE, PETAL_COMPRESSION_LZ4, false, false},
    {"third", "long", PETAL_BLOOM_ROW, PETAL_COMPRESSION_LZ4, true, false},
    {"plain", "v", PETAL_BLOOM_ROW, PETAL_COMPRESSION_LZ4, false, true},
};

#define LONG_ROWS     12
#define LONG_ROW_SIZE 32000

/* ---- rows ---- */

unsigned
gallery_row_count(const struct gallery *gallery, size_t family)
{
    return gallery_families[family].long_rows ? LONG_ROWS : 24 * gallery->scale;
}

petal_slice
gallery_row(size_t family, unsigned row)
{
    static char text[LONG_ROW_SIZE];

    if (!gallery_families[family].long_rows)
        return slice_make(text, (size_t)snprintf(text, sizeof text, "row%04u%s", row * 7,
                                                 family == 2 && row % 3 == 0 ? "+tail" : ""));
    /* The first and the last are short: they stand in the facts. */
    memset(text, 'a' + (int)row, sizeof text);
    return slice_make(text, row == 0 || row == LONG_ROWS - 1 ? 3 : LONG_ROW_SIZE - row);
}

/* ---- making it ---- */

struct maker {
    struct gallery *gallery;
    struct fixture fixture;
    struct test_random random;
    petal_family *families[GALLERY_FAMILIES];
    petal_kv *kv;
    petal_error error;
};

static void
keep_stage(struct maker *maker)
{
    struct gallery *gallery = maker->gallery;

    assert_true(gallery->stage_count < GALLERY_STAGES);
    gallery->stages[gallery->stage_count++] = memory_vfs_clone(maker->fixture.vfs);
}

static petal_family_options
family_options(size_t which)
{
    const struct gallery_family *family = &gallery_families[which];
    petal_family_options options = {.name = slice_from_text(family->family),
                                    .versions = which == 1 ? 1 : 3,
                                    .block_bytes = 1024,
                                    .compression = family->compression,
                                    .bloom = family->bloom,
                                    .bloom_kind = which == 1 ? PETAL_BLOOM_KIND_RIBBON
                                                             : PETAL_BLOOM_KIND_DEFAULT,
                                    .bloom_rate_per_file = which == 0,
                                    .in_memory = which == 1};

    if (family->bloom == PETAL_BLOOM_ROW_PREFIX)
        options.bloom_prefix_bytes = 5;
    if (which == 2)
        options.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE;
    if (which == 4) {
        options.new_version_behavior = true;
        options.min_versions = 1;
        options.ttl_seconds = 1000;
    }
    return options;
}

static void
make_tables(struct maker *maker)
{
    static const petal_attribute attributes[] = {
        {PETAL_METADATA, {"owner", 5}, {"me", 2}},
        {PETAL_KEPT_ATTRIBUTE, {"MAX_FILESIZE", 12}, {"5000000", 7}},
    };
    petal_error *error = &maker->error;

    for (size_t first = 0; first < GALLERY_FAMILIES;) {
        petal_family_options families[GALLERY_FAMILIES];
        petal_table_options options = {.name = slice_from_text(gallery_families[first].table),
                                       .families = families,
                                       .durability = PETAL_SYNC_WAL,
                                       .attributes = attributes,
                                       .attribute_count = first == 0 ? 2 : 0};
        size_t end = first;
        petal_table *table;

        while (end < GALLERY_FAMILIES &&
               strcmp(gallery_families[end].table, gallery_families[first].table) == 0) {
            families[end - first] = family_options(end);
            end++;
        }
        options.family_count = end - first;
        if (gallery_families[first].plain) {
            must(petal_kv_open(maker->fixture.db, options.name, families, &maker->kv, error),
                 error);
            table = petal_kv_table(maker->kv);
        } else {
            must(petal_table_create(maker->fixture.db, &options, &table, error), error);
        }
        for (; first < end; first++)
            must(petal_table_family(table, slice_from_text(gallery_families[first].family),
                                    &maker->families[first], error),
                 error);
    }
}

/* Some are text, which packs well, some are noise. */
static petal_slice
value_of(struct maker *maker, unsigned row, unsigned round)
{
    static char bytes[160];
    size_t size = row % 4 == 3
                      ? 60
                      : (size_t)snprintf(bytes, sizeof bytes,
                                         "value %u of round %u, a petal, a petal", row, round);

    if (row % 4 == 3)
        test_random_bytes(&maker->random, bytes, size);
    return slice_make(bytes, row % 11 == 10 ? 0 : size);
}

static void
write_row(struct maker *maker, size_t family, unsigned row, unsigned round)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};
    petal_error *error = &maker->error;
    petal_family *to = maker->families[family];
    petal_write_options options = {.has_ttl = row % 5 == 4,
                                   .ttl_ms = row % 5 == 4 ? (row % 2 == 0 ? 100 : 90000) : 0};
    petal_slice name = gallery_row(family, row);
    enum petal_cell_type kind = kinds[row / 6 % 4];
    bool markers = round > 0 && row % 6 == 5 && family != 6;

    if (family == 6 || gallery_families[family].long_rows) {
        must(petal_put(to, name, slice_from_text(""), PETAL_LATEST, value_of(maker, row, round),
                       NULL, error),
             error);
        return;
    }
    if (markers)
        must(petal_delete(
                 to, name,
                 slice_from_text(kind == PETAL_DELETE || kind == PETAL_DELETE_COLUMN ? "q0" : ""),
                 PETAL_LATEST, kind, NULL, error),
             error);
    for (unsigned q = 0; q < (family == 3 ? 1u : 2u); q++) {
        char qualifier[24];

        snprintf(qualifier, sizeof qualifier, family == 2 && row % 5 == 0 ? "q%u, longer" : "q%u",
                 q);
        if (!markers || q == 1)
            must(petal_put(to, name, slice_from_text(qualifier),
                           row % 9 == 8 ? 500 + round : PETAL_LATEST,
                           value_of(maker, row + q, round), &options, error),
                 error);
    }
    test_clock_advance(&maker->fixture.clock, row % 3);
}

/* Of each family every row, or in later rounds some. */
static void
write_round(struct maker *maker, unsigned round)
{
    for (size_t family = 0; family < GALLERY_FAMILIES; family++) {
        unsigned rows = gallery_row_count(maker->gallery, family);

        for (unsigned row = 0; row < rows; row++) {
            if (round == 0 || row % 3 == round % 3 || row % 6 == 5 || row == 0)
                write_row(maker, family, row, round);
        }
    }
}

static void
flush(struct maker *maker)
{
    must(petal_flush(maker->fixture.db, NULL, &maker->error), &maker->error);
    keep_stage(maker);
}

static void
attach(struct maker *maker)
{
    petal_error *error = &maker->error;

    for (size_t i = 0; i < GALLERY_FAMILIES; i++) {
        const struct gallery_family *family = &gallery_families[i];
        petal_table *table;

        must(petal_table_open(maker->fixture.db, slice_from_text(family->table), &table, error),
             error);
        must(petal_table_family(table, slice_from_text(family->family), &maker->families[i], error),
             error);
        if (family->plain)
            must(petal_kv_open(maker->fixture.db, slice_from_text(family->table), NULL, &maker->kv,
                               error),
                 error);
    }
}

/* The next manifest begins with a snapshot that says what is the next id of a family: the one that
 * had the last is gone. */
static void
drop_the_last_family(struct maker *maker)
{
    petal_error *error = &maker->error;
    petal_family_options families[2] = {{.name = slice_from_text("f")},
                                        {.name = slice_from_text("g"), .ttl_seconds = 100}};
    petal_table_options options = {
        .name = slice_from_text("changed"), .families = families, .family_count = 2};
    petal_table *table;
    petal_family *family;

    must(petal_table_create(maker->fixture.db, &options, &table, error), error);
    must(petal_table_family(table, slice_from_text("f"), &family, error), error);
    must(petal_put(family, slice_from_text("r"), slice_from_text("q"), PETAL_LATEST,
                   slice_from_text("v"), NULL, error),
         error);
    options.family_count = 1;
    must(petal_table_alter(table, &options, error), error);
    fixture_must_close(&maker->fixture);
    fixture_must_open(&maker->fixture);
    attach(maker);
    keep_stage(maker);
}

static bool
note_region(void *argument, const petal_region_info *info)
{
    uint32_t *ids = argument;

    ids[ids[0] == 0 ? 0 : 1] = info->id;
    return ids[1] == 0;
}

/* Regions of a table without rows: where they begin is nobody's loss. */
static void
change_regions(petal_table *table, petal_error *error)
{
    uint32_t ids[2] = {0};

    must(petal_table_split(table, slice_from_text("m"), 0, error), error);
    must(petal_table_split(table, slice_from_text("x"), 0, error), error);
    must(petal_table_regions(table, note_region, ids, error), error);
    must(petal_table_merge(table, ids[0], ids[1], error), error);
}

/* Tables and families come, change and go: each kind of edit. */
static void
change_schema(struct maker *maker)
{
    petal_db *db = maker->fixture.db;
    petal_error *error = &maker->error;
    petal_family_options families[2] = {{.name = slice_from_text("h")},
                                        {.name = slice_from_text("i"), .min_versions = 0}};
    petal_table_options options = {.families = families, .family_count = 2, .read_only = true};
    petal_table_snapshot_options keep = {.ttl_seconds = 1000000};
    petal_table *table;

    must(petal_table_open(db, slice_from_text("changed"), &table, error), error);
    must(petal_table_alter(table, &options, error), error); /* f goes, with its file */
    families[0].ttl_seconds = 77;
    must(petal_table_alter(table, &options, error), error);
    change_regions(table, error);
    options.name = slice_from_text("dropped");
    must(petal_table_create(db, &options, &table, error), error);
    must(petal_table_drop(table, error), error);
    must(petal_table_snapshot_create(petal_kv_table(maker->kv), slice_from_text("kept"), &keep,
                                     error),
         error);
    must(petal_table_snapshot_create(petal_kv_table(maker->kv), slice_from_text("gone"), NULL,
                                     error),
         error);
    must(petal_table_snapshot_delete(db, slice_from_text("gone"), error), error);
    keep_stage(maker);
}

/* A file whose sequences are shifted: something is written between its beginning and the commit. */
static void
load_in_bulk(struct maker *maker)
{
    petal_error *error = &maker->error;
    petal_cell cell = {.row = gallery_row(0, 3),
                       .qualifier = slice_from_text("q0"),
                       .value = slice_from_text("loaded"),
                       .timestamp = 3,
                       .type = PETAL_PUT};
    petal_table *table;
    petal_bulk *bulk;

    must(petal_table_open(maker->fixture.db, slice_from_text(gallery_families[0].table), &table,
                          error),
         error);
    must(petal_bulk_begin(table, NULL, &bulk, error), error);
    must(petal_bulk_add(bulk, maker->families[0], &cell, error), error);
    write_row(maker, 0, 4, 2);
    must(petal_bulk_commit(bulk, error), error);
    petal_bulk_free(bulk);
}

/* Increments within a millisecond, flushed before the clock has caught up with their timestamps. */
static void
run_ahead(struct maker *maker)
{
    petal_error *error = &maker->error;

    for (int i = 0; i < 200; i++)
        must(petal_increment(maker->families[0], gallery_row(0, 2), slice_from_text("counter"), 1,
                             NULL, NULL, error),
             error);
    flush(maker);
}

/* The last round stays in the logs: some of it is promised by a sync. */
static void
write_logs(struct maker *maker)
{
    petal_write_options sync = {.durability = PETAL_FSYNC_WAL};
    petal_error *error = &maker->error;

    must(petal_put(maker->families[0], gallery_row(0, 1), slice_from_text("q0"), PETAL_LATEST,
                   slice_from_text("synced"), &sync, error),
         error);
    for (unsigned row = 2; row < 6; row++)
        write_row(maker, 0, row, 3);
    must(fixture_close_log(&maker->fixture), error);
    keep_stage(maker);
    for (unsigned row = 0; row < 6; row++)
        write_row(maker, 6, row, 3);
    must(petal_put(maker->families[6], gallery_row(6, 1), slice_from_text(""), PETAL_LATEST,
                   slice_from_text("synced"), &sync, error),
         error);
}

void
gallery_make(struct gallery *gallery, uint64_t seed, unsigned scale)
{
    struct maker maker = {.gallery = gallery};

    *gallery = (struct gallery){.seed = seed, .scale = scale};
    test_random_init(&maker.random, seed);
    fixture_init(&maker.fixture, seed);
    fixture_must_open(&maker.fixture);
    make_tables(&maker);
    keep_stage(&maker);
    write_round(&maker, 0);
    flush(&maker);
    write_round(&maker, 1);
    run_ahead(&maker);
    drop_the_last_family(&maker);
    change_schema(&maker);
    load_in_bulk(&maker);
    must(petal_compact(petal_kv_table(maker.kv), NULL, &maker.error), &maker.error);
    must(petal_checkpoint(maker.fixture.db, GALLERY_COPY, &maker.error), &maker.error);
    keep_stage(&maker);
    write_logs(&maker);
    fixture_die(&maker.fixture);
    memory_vfs_process_death(maker.fixture.vfs);
    gallery->vfs = memory_vfs_clone(maker.fixture.vfs);
    fixture_fini(&maker.fixture);
}

void
gallery_free(struct gallery *gallery)
{
    for (size_t i = 0; i < gallery->stage_count; i++)
        memory_vfs_free(gallery->stages[i]);
    memory_vfs_free(gallery->vfs);
}

/* ---- files ---- */

struct listing {
    const char *directory;
    struct gallery_files files;
};

static void
add_file(void *argument, const char *name)
{
    struct listing *listing = argument;
    struct gallery_files *files = &listing->files;

    files->paths = test_reallocate(files->paths, (files->count + 1) * sizeof *files->paths);
    files->paths[files->count++] = test_path(listing->directory, name);
}

static int
compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct gallery_files
gallery_files_of(struct memory_vfs *vfs, const char *directory)
{
    struct listing listing = {.directory = directory};

    memory_vfs_list(vfs, directory, add_file, &listing);
    qsort(listing.files.paths, listing.files.count, sizeof *listing.files.paths, compare_paths);
    return listing.files;
}

void
gallery_files_free(struct gallery_files *files)
{
    while (files->count > 0)
        free(files->paths[--files->count]);
    free(files->paths);
    files->paths = NULL;
}

enum file_kind
gallery_file_kind(const char *path)
{
    if (strstr(path, ".sst") != NULL)
        return STORE_FILE;
    if (strstr(path, ".log") != NULL)
        return LOG_FILE;
    return strstr(path, "/MANIFEST") != NULL ? MANIFEST_FILE : OTHER_FILE;
}

const char *
gallery_kind_text(enum file_kind kind)
{
    static const char *const texts[FILE_KINDS] = {"store file", "log", "manifest", "other"};

    return texts[kind];
}
