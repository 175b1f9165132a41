/*
 * sweep_test.c -- damage at random places of each kind of file: petal_verify names the file, and
 * petal_salvage gives every cell that was not in what it says is lost, and none besides.
 *
 * The database lies in memory; a watcher sees that nothing is written into what is looked at.
 */
#include "engine/petal.h"

#include "base/slice.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SOURCE      "db"
#define DESTINATION "out"
#define MOST_CELLS  3000
#define MOST_FAULTS 64

/* A cell as it was written, and where. */
struct known {
    char table[8], family[4], row[16], text[96]; /* text: all of it */
    bool logged;
};

struct known_list {
    struct known *cells;
    size_t count;
};

struct surroundings {
    struct test_allocator allocator;
    struct memory_vfs *vfs;
    petal_env env;
};

static void
surround(struct surroundings *around, struct memory_vfs *vfs)
{
    test_allocator_init(&around->allocator);
    around->vfs = vfs;
    around->env = (petal_env){.size = sizeof around->env,
                              .allocator = &around->allocator.table,
                              .vfs = memory_vfs_table(vfs)};
}

static void
leave(struct surroundings *around)
{
    assert_int_equal(test_allocator_live_blocks(&around->allocator), 0);
    memory_vfs_free(around->vfs);
}

static petal_db *
open_database(struct surroundings *around, const char *path, bool create)
{
    const petal_options options = {.size = sizeof options,
                                   .create = create,
                                   .no_compaction = true,
                                   .cache_bytes = PETAL_NO_CACHE,
                                   .memory_bytes = 8u << 20,
                                   .log_sync_interval_ms = PETAL_NEVER,
                                   .env = &around->env};
    petal_db *db;

    MUST(petal_open(path, &options, &db, WHY));
    return db;
}

/* ---- what is known ---- */

static void
know(struct known_list *list, const char *table, const petal_cell *cell, bool logged)
{
    struct known *known = &list->cells[list->count++];

    assert_true(list->count <= MOST_CELLS);
    *known = (struct known){.logged = logged};
    (void)snprintf(known->table, sizeof known->table, "%s", table);
    (void)snprintf(known->family, sizeof known->family, "%.*s", (int)cell->family.size,
                   (const char *)cell->family.data);
    (void)snprintf(known->row, sizeof known->row, "%.*s", (int)cell->row.size,
                   (const char *)cell->row.data);
    (void)snprintf(known->text, sizeof known->text, "%s %s %s %.*s %lld %d %.*s %d %lld", table,
                   known->family, known->row, (int)cell->qualifier.size,
                   (const char *)cell->qualifier.data, (long long)cell->timestamp, (int)cell->type,
                   (int)cell->value.size, (const char *)cell->value.data, cell->has_ttl,
                   (long long)cell->ttl_ms);
}

static int
compare_known(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->text, ((const struct known *)b)->text);
}

static const struct known *
find_known(const struct known_list *list, const struct known *cell)
{
    return bsearch(cell, list->cells, list->count, sizeof *cell, compare_known);
}

/* ---- the database ---- */

static petal_slice
text_slice(const char *text)
{
    return slice_make(text, strlen(text));
}

static void
put(petal_db *db, const char *table_name, const char *family_name, unsigned number, bool logged,
    struct known_list *known)
{
    char row[16], qualifier[8], value[48];
    petal_table *table;
    petal_family *family;
    petal_cell cell = {.timestamp = 1000 + number, .type = PETAL_PUT};
    petal_write_options options = {.size = sizeof options, .durability = PETAL_FSYNC_WAL};

    (void)snprintf(row, sizeof row, "row%03u", number % 150);
    (void)snprintf(qualifier, sizeof qualifier, "q%u", number % 3);
    (void)snprintf(value, sizeof value, "value %u of %s, some more of it", number, table_name);
    MUST(petal_table_open(db, text_slice(table_name), &table, WHY));
    MUST(petal_table_family(table, text_slice(family_name), &family, WHY));
    cell.family = text_slice(family_name);
    cell.row = text_slice(row);
    cell.qualifier = text_slice(qualifier);
    if (number % 11 == 5) {
        cell.type = PETAL_DELETE_COLUMN;
        MUST(petal_delete(family, cell.row, cell.qualifier, cell.timestamp, cell.type, &options,
                          WHY));
    } else {
        cell.value = text_slice(value);
        cell.has_ttl = options.has_ttl = number % 7 == 3;
        cell.ttl_ms = options.ttl_ms = cell.has_ttl ? INT64_C(1) << 50 : 0;
        MUST(
            petal_put(family, cell.row, cell.qualifier, cell.timestamp, cell.value, &options, WHY));
    }
    know(known, table_name, &cell, logged);
}

static void
create_table(petal_db *db, const char *name, enum petal_compression compression)
{
    const petal_family_options families[] = {{.size = sizeof families[0],
                                              .name = {"f", 1},
                                              .versions = 1000,
                                              .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE,
                                              .block_bytes = 1024,
                                              .compression = compression,
                                              .bloom = PETAL_BLOOM_ROWCOL},
                                             {.size = sizeof families[0],
                                              .name = {"g", 1},
                                              .versions = 1000,
                                              .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE,
                                              .block_bytes = 2048}};
    const petal_table_options options = {
        .size = sizeof options, .name = text_slice(name), .families = families, .family_count = 2};
    petal_table *table;

    MUST(petal_table_create(db, &options, &table, WHY));
}

struct bytes {
    uint8_t *data;
    size_t size;
};

/* *early_manifest, unless NULL: as it was before table u. As a killed process leaves it: store
 * files of two tables and a snapshot, and a log. */
static struct memory_vfs *
make_database(struct known_list *known, struct bytes *early_manifest)
{
    struct surroundings around;
    struct memory_vfs *left;
    petal_table *table;
    petal_db *db;

    surround(&around, memory_vfs_new());
    db = open_database(&around, SOURCE, true);
    create_table(db, "t", PETAL_COMPRESSION_LZ4);
    if (early_manifest != NULL)
        assert_int_equal(memory_vfs_read_file(around.vfs, SOURCE "/MANIFEST", &early_manifest->data,
                                              &early_manifest->size),
                         0);
    create_table(db, "u", PETAL_COMPRESSION_NONE);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 300; i++)
            put(db, i % 4 == 0 ? "u" : "t", i % 5 == 0 ? "g" : "f", 300 * round + i, round == 2,
                known);
        if (round == 1) {
            MUST(petal_table_open(db, text_slice("t"), &table, WHY));
            MUST(petal_table_snapshot_create(table, text_slice("s"), NULL, WHY));
        }
        if (round < 2)
            MUST(petal_flush(db, NULL, WHY));
    }
    left = memory_vfs_clone(around.vfs);
    MUST(petal_close(db, WHY));
    leave(&around);
    qsort(known->cells, known->count, sizeof *known->cells, compare_known);
    return left;
}

/* ---- damage ---- */

struct names {
    char list[32][24];
    size_t count;
};

static void
note_name(void *argument, const char *name)
{
    struct names *names = argument;

    if (name[0] == '.' || strcmp(name, "LOCK") == 0)
        return;
    assert_true(names->count < 32);
    (void)snprintf(names->list[names->count++], sizeof names->list[0], "%s", name);
}

/* False: no byte has changed. */
static bool
damage(struct memory_vfs *vfs, struct test_random *random, char path[64])
{
    struct names names = {.count = 0};
    uint8_t *bytes, *before;
    size_t size, at, length = 1;
    bool changed;

    (void)memory_vfs_list(vfs, SOURCE, note_name, &names);
    (void)snprintf(path, 64, SOURCE "/%s", names.list[test_random_below(random, names.count)]);
    assert_int_equal(memory_vfs_read_file(vfs, path, &bytes, &size), 0);
    if (size == 0) {
        free(bytes);
        return false;
    }
    before = test_allocate(size);
    memcpy(before, bytes, size);
    at = (size_t)test_random_below(random, size);
    switch (test_random_below(random, 6)) {
    case 0:
        size = at;
        changed = true;
        break;
    case 1:
        length = 1 + (size_t)test_random_below(random, 1500);
        length = length < size - at ? length : size - at;
        memset(bytes + at, 0, length);
        changed = memcmp(bytes, before, size) != 0;
        break;
    case 2:
        length = 1 + (size_t)test_random_below(random, 64);
        length = length < size - at ? length : size - at;
        test_random_bytes(random, bytes + at, length);
        changed = memcmp(bytes, before, size) != 0;
        break;
    default:
        bytes[at] ^= (uint8_t)(1u << test_random_below(random, 8));
        changed = true;
        break;
    }
    assert_int_equal(memory_vfs_write_file(vfs, path, bytes, size), 0);
    free(before);
    free(bytes);
    return changed;
}

/* ---- looking ---- */

struct fault {
    char file[64], table[8], family[4], from[16], to[16];
    bool of_snapshot, harmless, has_from, has_to;
};

struct faults {
    struct fault list[MOST_FAULTS];
    size_t count;
};

static void
copy_text(char *to, size_t bytes, petal_slice from)
{
    (void)snprintf(to, bytes, "%.*s", (int)from.size, (const char *)from.data);
}

static void
note_fault(void *argument, const petal_fault *fault)
{
    struct faults *faults = argument;
    struct fault *noted = &faults->list[faults->count];

    assert_true(faults->count++ < MOST_FAULTS);
    assert_true(fault->error->text[0] != '\0');
    *noted = (struct fault){.of_snapshot = fault->of_snapshot,
                            .harmless = fault->harmless,
                            .has_from = fault->has_row_from,
                            .has_to = fault->has_row_to};
    (void)snprintf(noted->file, sizeof noted->file, "%.63s", fault->error->file);
    copy_text(noted->table, sizeof noted->table, fault->table);
    copy_text(noted->family, sizeof noted->family, fault->family);
    copy_text(noted->from, sizeof noted->from, fault->row_from);
    copy_text(noted->to, sizeof noted->to, fault->row_to);
}

static void
refuse_writing(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    bool writes = call->operation == MEMORY_VFS_WRITE || call->operation == MEMORY_VFS_LOG_STORE ||
                  call->operation == MEMORY_VFS_SYNC || call->operation == MEMORY_VFS_RENAME ||
                  call->operation == MEMORY_VFS_LINK || call->operation == MEMORY_VFS_REMOVE ||
                  call->operation == MEMORY_VFS_SYNC_DIRECTORY ||
                  call->operation == MEMORY_VFS_SYNC_PARENT;

    (void)argument;
    (void)bytes;
    if (writes && (strncmp(call->path, SOURCE "/", strlen(SOURCE) + 1) == 0 ||
                   strcmp(call->path, SOURCE) == 0))
        fail_msg("%s was written", call->path);
}

/* Sound, harmless or damaged; what is damaged is named. True if anything was told. */
static bool
verify(struct surroundings *around, const char *path, const char *damaged)
{
    struct faults faults = {.count = 0};
    const petal_check_options options = {
        .size = sizeof options, .env = &around->env, .argument = &faults, .fault = note_fault};
    bool is_store_file = strstr(damaged, ".sst") != NULL, named = false;
    petal_check_counts counts;
    petal_error error;
    enum petal_status status = petal_verify(path, &options, &counts, &error);

    assert_true(status == PETAL_OK || status == PETAL_CORRUPT);
    assert_int_equal(status == PETAL_OK, counts.faults == 0);
    assert_int_equal(counts.faults + counts.harmless, faults.count);
    for (size_t i = 0; i < faults.count; i++)
        named = named || strcmp(faults.list[i].file, damaged) == 0;
    /* Of logs and manifest the last record may be what a crash leaves. */
    if (damaged[0] == '\0')
        assert_int_equal(faults.count, 0);
    else if (is_store_file)
        assert_true(status == PETAL_CORRUPT && named);
    else if (status == PETAL_OK)
        assert_true(named || strcmp(damaged, SOURCE "/MANIFEST") == 0 ||
                    strcmp(damaged, SOURCE "/READERS") == 0 || strstr(damaged, ".log") != NULL);
    return faults.count > 0;
}

/* ---- salvage ---- */

struct reading {
    struct known_list *list;
    petal_db *db;
};

static bool
read_table(void *argument, petal_table *table)
{
    struct reading *reading = argument;
    petal_scan_options options = {.size = sizeof options, .raw = true};
    petal_cursor *cursor;
    const petal_cell *cell;
    char name[8];

    options.read.size = sizeof options.read;
    options.read.versions = PETAL_ALL_VERSIONS;
    copy_text(name, sizeof name, petal_table_name(table));
    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        know(reading->list, name, cell, false);
    }
    petal_cursor_close(cursor);
    return true;
}

static bool
explains(const struct fault *fault, const struct known *cell)
{
    if (fault->harmless && strstr(fault->file, ".log") == NULL)
        return false;
    if (strstr(fault->file, ".log") != NULL)
        return cell->logged;
    if (fault->of_snapshot || strcmp(fault->table, cell->table) != 0 ||
        strcmp(fault->family, cell->family) != 0)
        return false;
    return !cell->logged && (!fault->has_from || strcmp(fault->from, cell->row) <= 0) &&
           (!fault->has_to || strcmp(cell->row, fault->to) <= 0);
}

/* Nothing invented, nothing lost but what is said to be. Returns how many cells are lost. */
static size_t
compare(const struct known_list *known, const struct known_list *found, const struct faults *faults,
        const char *damaged)
{
    size_t lost = 0;

    for (size_t i = 0; i < found->count; i++) {
        if (find_known(known, &found->cells[i]) == NULL)
            fail_msg("%s: invented: %s", damaged, found->cells[i].text);
        assert_true(i == 0 || compare_known(&found->cells[i - 1], &found->cells[i]) != 0);
    }
    for (size_t i = 0; i < known->count; i++) {
        bool explained = find_known(found, &known->cells[i]) != NULL;

        lost += !explained;
        for (size_t k = 0; !explained && k < faults->count; k++)
            explained = explains(&faults->list[k], &known->cells[i]);
        if (!explained)
            fail_msg("%s: lost and not told: %s", damaged, known->cells[i].text);
    }
    return lost;
}

static size_t
salvage(struct surroundings *around, const struct known_list *known, const char *damaged)
{
    struct faults faults = {.count = 0};
    const petal_check_options options = {
        .size = sizeof options, .env = &around->env, .argument = &faults, .fault = note_fault};
    struct known_list found = {.cells = test_allocate(MOST_CELLS * sizeof *found.cells)};
    struct reading reading = {.list = &found};
    size_t lost;

    memory_vfs_watch(around->vfs, refuse_writing, NULL);
    MUST(petal_salvage(SOURCE, DESTINATION, &options, NULL, WHY));
    memory_vfs_watch(around->vfs, NULL, NULL);
    verify(around, DESTINATION, "");
    reading.db = open_database(around, DESTINATION, false);
    MUST(petal_table_list(reading.db, read_table, &reading, WHY));
    MUST(petal_close(reading.db, WHY));
    qsort(found.cells, found.count, sizeof *found.cells, compare_known);
    lost = compare(known, &found, &faults, damaged);
    free(found.cells);
    return lost;
}

static double
seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

TEST(damage_is_found_and_the_rest_saved)
{
    unsigned rounds = test_long() ? 20000 : test_short() ? 40 : 400, unchanged = 0;
    struct known_list known = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};
    struct memory_vfs *base = make_database(&known, NULL);
    struct test_random random;
    size_t lost = 0;
    double begun;

    test_random_init(&random, test_seed());
    begun = seconds();
    for (unsigned round = 0; round < rounds; round++) {
        struct surroundings around;
        char path[64];

        surround(&around, memory_vfs_clone(base));
        if (round == 0) {
            verify(&around, SOURCE, "");
            assert_int_equal(salvage(&around, &known, ""), 0);
        } else if (damage(around.vfs, &random, path)) {
            bool told = verify(&around, SOURCE, path);
            size_t gone = salvage(&around, &known, path);

            if (gone > 0 && !told)
                fail_msg("%s: %zu cells are lost, and verify told of nothing", path, gone);
            lost += gone;
        } else {
            unchanged++;
        }
        leave(&around);
    }
    test_counted("%u damaged databases of %zu cells, %.0f a second; %zu cells lost, all told; "
                 "%u times no byte changed",
                 rounds, known.count, rounds / (seconds() - begun), lost, unchanged);
    memory_vfs_free(base);
    free(known.cells);
}

/* ---- missing files ---- */

static void
remove_file(struct surroundings *around, const char *name)
{
    const petal_vfs *vfs = around->env.vfs;
    petal_directory *directory;

    assert_int_equal(vfs->open_directory(vfs->context, SOURCE, false, &directory), 0);
    assert_int_equal(vfs->remove(vfs->context, directory, name), 0);
    vfs->close_directory(vfs->context, directory);
}

TEST(missing_files_cost_what_they_held)
{
    struct known_list known = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};
    struct memory_vfs *base = make_database(&known, NULL);
    struct names names = {.count = 0};
    unsigned store_files = 0, costless = 0;

    (void)memory_vfs_list(base, SOURCE, note_name, &names);
    for (size_t i = 0; i < names.count; i++) {
        struct surroundings around;
        char path[64];
        size_t lost;

        surround(&around, memory_vfs_clone(base));
        remove_file(&around, names.list[i]);
        (void)snprintf(path, sizeof path, SOURCE "/%s", names.list[i]);
        verify(&around, SOURCE, path);
        if (strstr(path, ".log") == NULL) {
            lost = salvage(&around, &known, path);
            if (strstr(path, "MANIFEST") != NULL)
                assert_int_equal(lost, 0); /* store files tell whose they are */
            store_files += strstr(path, ".sst") != NULL;
            costless += strstr(path, ".sst") != NULL && lost == 0;
        }
        leave(&around);
    }
    /* Table t's are links of the snapshot's. */
    assert_int_equal(store_files, 12);
    assert_int_equal(costless, 8);
    memory_vfs_free(base);
    free(known.cells);
}

/* Cells that had been flushed, and stand in a log still, since another table needs it. */
TEST(logs_give_what_a_lost_file_had)
{
    for (unsigned is_lost = 0; is_lost < 2; is_lost++) {
        struct known_list known = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};
        struct surroundings around, left;
        struct names names = {.count = 0};
        petal_table *table;
        petal_db *db;

        surround(&around, memory_vfs_new());
        db = open_database(&around, SOURCE, true);
        create_table(db, "t", PETAL_COMPRESSION_NONE);
        create_table(db, "u", PETAL_COMPRESSION_NONE);
        put(db, "u", "f", 1, true, &known);
        put(db, "t", "f", 2, true, &known);
        put(db, "t", "f", 3, true, &known);
        MUST(petal_table_open(db, text_slice("t"), &table, WHY));
        MUST(petal_flush(db, table, WHY));
        put(db, "t", "f", 4, true, &known);
        surround(&left, memory_vfs_clone(around.vfs));
        MUST(petal_close(db, WHY));
        leave(&around);
        qsort(known.cells, known.count, sizeof *known.cells, compare_known);
        (void)memory_vfs_list(left.vfs, SOURCE, note_name, &names);
        for (size_t i = 0; is_lost && i < names.count; i++) {
            if (strstr(names.list[i], ".sst") != NULL)
                remove_file(&left, names.list[i]);
        }
        assert_int_equal(salvage(&left, &known, is_lost ? SOURCE "/lost" : ""), 0);
        leave(&left);
        free(known.cells);
    }
}

/* A log has it still, but the store files are whole. */
TEST(what_was_compacted_away_stays_away)
{
    const petal_family_options family = {.size = sizeof family, .name = {"f", 1}, .versions = 1};
    const petal_table_options options = {
        .size = sizeof options, .name = text_slice("w"), .families = &family, .family_count = 1};
    struct known_list known = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};
    struct known_list found = {.cells = test_allocate(MOST_CELLS * sizeof *found.cells)};
    struct reading reading = {.list = &found};
    struct surroundings around, left;
    petal_check_options check = {.size = sizeof check};
    petal_check_counts counts;
    petal_table *table;
    petal_db *db;

    surround(&around, memory_vfs_new());
    db = open_database(&around, SOURCE, true);
    create_table(db, "u", PETAL_COMPRESSION_NONE);
    MUST(petal_table_create(db, &options, &table, WHY));
    put(db, "u", "f", 1, true, &known);
    put(db, "w", "f", 150, true, &known);
    put(db, "w", "f", 600, true, &known); /* the same row and qualifier */
    MUST(petal_flush(db, table, WHY));
    MUST(petal_compact(table, NULL, WHY));
    surround(&left, memory_vfs_clone(around.vfs));
    MUST(petal_close(db, WHY));
    leave(&around);
    check.env = &left.env;
    MUST(petal_salvage(SOURCE, DESTINATION, &check, &counts, WHY));
    assert_int_equal(counts.log_cells, 3);
    assert_int_equal(counts.cells, 2);
    reading.db = open_database(&left, DESTINATION, false);
    MUST(petal_table_list(reading.db, read_table, &reading, WHY));
    MUST(petal_close(reading.db, WHY));
    assert_int_equal(found.count, 2);
    leave(&left);
    free(known.cells);
    free(found.cells);
}

/* ---- what no sync had promised ---- */

static void
note_text(void *argument, const petal_fault *fault)
{
    (void)snprintf(argument, sizeof fault->error->text, "%s", fault->error->text);
}

/* Whole records after a bad place, which a crash may leave too: a note, by verify and salvage. */
TEST(records_behind_a_tear_are_counted)
{
    struct surroundings around, left;
    char text[sizeof((petal_error *)NULL)->text] = "";
    petal_check_options check = {.size = sizeof check, .argument = text, .fault = note_text};
    petal_check_counts counts;
    petal_table *table;
    petal_family *family;
    struct names names = {.count = 0};
    struct bytes log = {.data = NULL};
    char path[64] = "";
    size_t at;
    petal_db *db;

    surround(&around, memory_vfs_new());
    db = open_database(&around, SOURCE, true);
    create_table(db, "t", PETAL_COMPRESSION_NONE);
    MUST(petal_table_open(db, text_slice("t"), &table, WHY));
    MUST(petal_table_family(table, text_slice("f"), &family, WHY));
    for (unsigned i = 0; i < 10; i++) {
        char row[8];

        (void)snprintf(row, sizeof row, "row%u", i);
        MUST(
            petal_put(family, text_slice(row), text_slice("q"), 1, text_slice("value"), NULL, WHY));
    }
    surround(&left, memory_vfs_clone(around.vfs));
    MUST(petal_close(db, WHY));
    leave(&around);
    (void)memory_vfs_list(left.vfs, SOURCE, note_name, &names);
    for (size_t i = 0; i < names.count; i++) {
        if (strstr(names.list[i], ".log") != NULL)
            (void)snprintf(path, sizeof path, SOURCE "/%s", names.list[i]);
    }
    assert_int_equal(memory_vfs_read_file(left.vfs, path, &log.data, &log.size), 0);
    for (at = 0; memcmp(log.data + at, "row4", 4) != 0;)
        at++;
    log.data[at] ^= 1;
    assert_int_equal(memory_vfs_write_file(left.vfs, path, log.data, log.size), 0);
    check.env = &left.env;
    MUST(petal_verify(SOURCE, &check, &counts, WHY));
    assert_int_equal(counts.harmless, 1);
    assert_non_null(strstr(text, "5 whole records behind it, which no sync had promised, are "));
    MUST(petal_salvage(SOURCE, DESTINATION, &check, &counts, WHY));
    assert_int_equal(counts.cells, 4);
    assert_int_equal(counts.faults, 0);
    assert_int_equal(counts.harmless, 1);
    assert_non_null(strstr(text, "5 whole records behind it, which no sync had promised, are "));
    free(log.data);
    leave(&left);
}

/* ---- manifests that files disprove ---- */

/* What petal_verify says first, in short. */
static const char *
first_fault(struct surroundings *around)
{
    const petal_check_options options = {.size = sizeof options, .env = &around->env};
    petal_error error;

    assert_int_equal(petal_verify(SOURCE, &options, NULL, &error), PETAL_CORRUPT);
    return strstr(error.text, "belongs to another database") != NULL ? "another database"
           : strstr(error.text, "cut short") != NULL                 ? "cut short"
                                                                     : "something else";
}

/* One that was cut short, and one of another database: nothing is lost, and it is told. */
TEST(disproved_manifests_cost_nothing)
{
    struct known_list known = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};
    struct bytes cut, foreign;
    struct memory_vfs *base = make_database(&known, &cut), *other;
    struct known_list unused = {.cells = test_allocate(MOST_CELLS * sizeof *known.cells)};

    other = make_database(&unused, &foreign);
    for (unsigned is_foreign = 0; is_foreign < 2; is_foreign++) {
        const struct bytes *manifest = is_foreign ? &foreign : &cut;
        struct surroundings around;

        surround(&around, memory_vfs_clone(base));
        assert_int_equal(
            memory_vfs_write_file(around.vfs, SOURCE "/MANIFEST", manifest->data, manifest->size),
            0);
        assert_string_equal(first_fault(&around), is_foreign ? "another database" : "cut short");
        assert_int_equal(salvage(&around, &known, SOURCE "/MANIFEST"), 0);
        leave(&around);
    }
    free(cut.data);
    free(foreign.data);
    memory_vfs_free(base);
    memory_vfs_free(other);
    free(known.cells);
    free(unused.cells);
}
