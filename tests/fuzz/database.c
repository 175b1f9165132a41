/*
 * database.c -- a small database one of whose files is damaged, and a program of calls over it:
 * opened or refused with an error, and then each call is answered or refused likewise. Where a
 * store file is damaged and its checksums are not put right, an answer is the right one.
 *
 * Input: byte 0: which file; byte 1: how: bit 0 its checksums are put right, 1 the database is
 * opened to be read only, 2 files are mapped, 3 the file is cut (2 bytes: where), 4 its bytes are
 * those of another of the files (1 byte: which); byte 2: how many changes: place (2 bytes), value;
 * then the program, a byte a call and what that takes.
 */
#include "engine/petal.h"
#include "tests/disk/vfs.h"
#include "tests/fuzz/mend.h"
#include "tests/fuzz/target.h"

#include <stdio.h>

#define DIRECTORY  "d"
#define MOST_FILES 8
#define MOST_CALLS 24
#define MOST_CELLS 256
#define ROWS       40
#define NOW_MS     1000000

enum change { PUT_RIGHT = 1, READ_ONLY = 2, MAPPED = 4, CUT = 8, OF_ANOTHER = 16 };

struct expected_cell {
    char row[16], qualifier[8], value[24];
    char family;
    int64_t timestamp;
};

/* What is made once: the files, and what a scan of the undamaged database gives. */
static struct {
    struct memory_vfs *vfs;
    char names[MOST_FILES][32];
    size_t count;
    uint64_t identity;
    struct expected_cell cells[MOST_CELLS];
    size_t cell_count;
} base;

static int64_t
clock_ms(void *context)
{
    (void)context;
    return NOW_MS;
}

static uint64_t
random_word(void *context)
{
    uint64_t *state = context;

    *state += 0x9E3779B97F4A7C15u;
    return *state ^ *state >> 29;
}

static void
must(enum petal_status status)
{
    fuzz_must(status == PETAL_OK);
}

static enum petal_status
open_database(struct memory_vfs *vfs, unsigned how, petal_db **db, petal_error *error)
{
    static uint64_t state;
    petal_env env = {.size = sizeof env,
                     .vfs = memory_vfs_table(vfs),
                     .clock_ms = clock_ms,
                     .random_context = &state,
                     .random = random_word};
    petal_options options = {.size = sizeof options,
                             .create = (how & READ_ONLY) == 0,
                             .read_only = (how & READ_ONLY) != 0,
                             .map_files = (how & MAPPED) != 0,
                             .cache_bytes = 64 << 10,
                             .memtable_bytes = 64 << 10,
                             .no_compaction = true,
                             .log_sync_interval_ms = PETAL_NEVER,
                             .env = &env};

    state = 1;
    return petal_open(DIRECTORY, &options, db, error);
}

/* ---- the base ---- */

static petal_slice
row_at(char text[16], unsigned number)
{
    snprintf(text, 16, "row%04u", number % 10000);
    return slice_from_text(text);
}

static void
put_rows(petal_table *table, unsigned step, int64_t timestamp)
{
    petal_write_options durable = {.size = sizeof durable, .durability = PETAL_FSYNC_WAL};
    char text[16], value[24];

    for (size_t i = 0; i < petal_table_family_count(table); i++)
        for (unsigned row = 0; row < ROWS; row += step) {
            petal_family *family = petal_table_family_at(table, i);

            snprintf(value, sizeof value, "value %u of %u", row, step);
            must(petal_put(family, row_at(text, row), slice_make("q", 1), timestamp,
                           slice_from_text(value), &durable, NULL));
            if (row % 3 == 0)
                must(petal_put(family, row_at(text, row), slice_make("r", 1), timestamp,
                               slice_make("", 0), &durable, NULL));
            if (row % 10 == 9)
                must(petal_delete(family, row_at(text, row), slice_make("q", 1), timestamp - 1,
                                  PETAL_DELETE_COLUMN, &durable, NULL));
        }
}

static void
make_table(petal_db *db, petal_table **table)
{
    petal_family_options families[3] = {
        {.size = sizeof families[0], .name = slice_make("f", 1), .versions = 3},
        {.size = sizeof families[0],
         .name = slice_make("g", 1),
         .bloom = PETAL_BLOOM_ROWCOL,
         .block_bytes = 1024,
         .compression = PETAL_COMPRESSION_NONE},
        {.size = sizeof families[0],
         .name = slice_make("h", 1),
         .bloom = PETAL_BLOOM_ROW_PREFIX,
         .bloom_prefix_bytes = 5,
         .ttl_seconds = 5000}};
    petal_table_options options = {.size = sizeof options,
                                   .name = slice_make("t", 1),
                                   .families = families,
                                   .family_count = 3};

    must(petal_table_create(db, &options, table, NULL));
    put_rows(*table, 1, 1000);
    must(petal_flush(db, NULL, NULL));
    must(petal_table_snapshot_create(*table, slice_make("s", 1), NULL, NULL));
    put_rows(*table, 4, 2000);
}

static void
visit_name(void *argument, const char *name)
{
    (void)argument;
    if (strcmp(name, "LOCK") == 0 || base.count == MOST_FILES)
        return;
    snprintf(base.names[base.count++], sizeof base.names[0], "%s", name);
}

static int
compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void
path_of(char path[64], size_t file)
{
    snprintf(path, 64, DIRECTORY "/%s", base.names[file]);
}

/* Of a scan of all versions, in order; those from row "z" on are the program's own. */
static bool
next_expected(petal_cursor *cursor, struct expected_cell *cell, bool *ended, petal_error *error)
{
    const petal_cell *found;

    *ended = false;
    if (petal_cursor_next(cursor, &found, error) != PETAL_OK)
        return false;
    *ended = found == NULL || slice_bytes(found->row)[0] == 'z';
    if (*ended)
        return true;
    fuzz_touch(found->row);
    fuzz_touch(found->value);
    *cell = (struct expected_cell){.timestamp = found->timestamp};
    if (found->row.size < sizeof cell->row && found->qualifier.size < sizeof cell->qualifier &&
        found->value.size < sizeof cell->value && found->family.size == 1) {
        memcpy(cell->row, found->row.data, found->row.size);
        memcpy(cell->qualifier, found->qualifier.data, found->qualifier.size);
        memcpy(cell->value, found->value.data, found->value.size);
        cell->family = *(const char *)found->family.data;
    }
    return true;
}

static petal_cursor *
open_cursor(petal_table *table, bool reversed, petal_error *error)
{
    petal_scan_options options = {.size = sizeof options, .reversed = reversed};
    petal_cursor *cursor = NULL;

    options.read.size = sizeof options.read;
    options.read.versions = PETAL_ALL_VERSIONS;
    if (petal_cursor_open(table, &options, &cursor, error) != PETAL_OK)
        return NULL;
    return cursor;
}

static void
make_base(void)
{
    struct memory_vfs *vfs = memory_vfs_new();
    petal_cursor *cursor;
    petal_table *table;
    petal_error error;
    petal_db *db;
    uint8_t *manifest;
    size_t size;
    bool ended;

    must(open_database(vfs, 0, &db, &error));
    make_table(db, &table);
    cursor = open_cursor(table, false, &error);
    fuzz_must(cursor != NULL);
    while (base.cell_count < MOST_CELLS) {
        fuzz_must(next_expected(cursor, &base.cells[base.cell_count], &ended, &error));
        if (ended)
            break;
        base.cell_count++;
    }
    fuzz_must(base.cell_count > 100 && base.cell_count < MOST_CELLS);
    petal_cursor_close(cursor);
    base.vfs = memory_vfs_clone(vfs);
    must(petal_close(db, &error));
    memory_vfs_free(vfs);
    memory_vfs_power_cut(base.vfs, MEMORY_CUT_KEEP_ALL, 1);
    fuzz_must(memory_vfs_list(base.vfs, DIRECTORY, visit_name, NULL) == 0);
    qsort(base.names, base.count, sizeof base.names[0], compare_names);
    fuzz_must(memory_vfs_read_file(base.vfs, DIRECTORY "/MANIFEST", &manifest, &size) == 0);
    base.identity = get_le64(manifest + 16);
    free(manifest);
}

/* ---- damage ---- */

/* *wrong: answers may be other than those of the base. */
static struct memory_vfs *
make_files(struct fuzz_input *input, unsigned *how, bool *wrong)
{
    struct memory_vfs *vfs = memory_vfs_clone(base.vfs);
    size_t file = (size_t)fuzz_number(input, 1) % base.count, size;
    char path[64], from[64];
    bool is_store_file;
    uint8_t *bytes;

    *how = (unsigned)fuzz_number(input, 1);
    path_of(path, file);
    path_of(from, (*how & OF_ANOTHER) != 0 ? (size_t)fuzz_number(input, 1) % base.count : file);
    fuzz_must(memory_vfs_read_file(base.vfs, from, &bytes, &size) == 0);
    is_store_file = strstr(path, ".sst") != NULL;
    if ((*how & CUT) != 0)
        size = (size_t)fuzz_number(input, 2) % (size + 1);
    for (uint64_t changes = fuzz_number(input, 1); changes > 0 && size > 0; changes--) {
        size_t place = (size_t)fuzz_number(input, 2) % size;

        bytes[place] = (uint8_t)fuzz_number(input, 1);
    }
    if ((*how & PUT_RIGHT) != 0 && is_store_file)
        mend_store_file(bytes, size);
    else if ((*how & PUT_RIGHT) != 0 && strstr(path, ".log") != NULL)
        mend_log(bytes, size, base.identity, strtoull(base.names[file], NULL, 10));
    else if ((*how & PUT_RIGHT) != 0)
        mend_manifest(bytes, size);
    fuzz_must(memory_vfs_write_file(vfs, path, bytes, size) == 0);
    free(bytes);
    *wrong = (*how & PUT_RIGHT) != 0 || !is_store_file;
    return vfs;
}

/* ---- the program ---- */

struct run {
    struct fuzz_input *input;
    petal_db *db;
    petal_table *table;
    petal_result *result;
    petal_cursor *cursor;
    bool wrong;
};

static void
check(enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        fuzz_must(error->text[0] != '\0' && memchr(error->text, 0, sizeof error->text) != NULL);
}

static bool
same_cell(const struct expected_cell *a, const struct expected_cell *b)
{
    return a->family == b->family && a->timestamp == b->timestamp && strcmp(a->row, b->row) == 0 &&
           strcmp(a->qualifier, b->qualifier) == 0 && strcmp(a->value, b->value) == 0;
}

static void
scan(struct run *run)
{
    petal_error error = {.text = ""};
    petal_cursor *cursor = open_cursor(run->table, false, &error);
    struct expected_cell cell;
    bool ended = false;
    size_t count = 0;

    if (cursor == NULL)
        return;
    while (!ended && count < 20 * MOST_CELLS) {
        if (!next_expected(cursor, &cell, &ended, &error)) {
            check(PETAL_CORRUPT, &error);
            break;
        }
        if (!run->wrong && !ended)
            fuzz_must(count < base.cell_count && same_cell(&cell, &base.cells[count]));
        if (!run->wrong && ended)
            fuzz_must(count == base.cell_count);
        count++;
    }
    petal_cursor_close(cursor);
}

/* The newest version of each column of a row in one family, or in all. */
static void
get(struct run *run)
{
    unsigned number = (unsigned)fuzz_number(run->input, 1) % (ROWS + 10);
    size_t family = (size_t)fuzz_number(run->input, 1) % 4, at = 0;
    size_t families = petal_table_family_count(run->table);
    petal_column column = {.family = NULL, .whole_family = true};
    petal_read_options options = {.size = sizeof options, .columns = &column, .column_count = 1};
    petal_error error = {.text = ""};
    char text[16];
    enum petal_status status;

    if (family < families)
        column.family = petal_table_family_at(run->table, family);
    else
        options.column_count = 0;
    status = petal_get(run->table, row_at(text, number), &options, run->result, &error);
    check(status, &error);
    if (status != PETAL_OK)
        return;
    for (size_t i = 0; i < petal_result_count(run->result); i++)
        fuzz_touch(petal_result_cell(run->result, i)->value);
    if (run->wrong)
        return;
    for (size_t i = 0; i < base.cell_count; i++) {
        const struct expected_cell *cell = &base.cells[i];
        const petal_cell *found;

        if (strcmp(cell->row, text) != 0 ||
            (i > 0 && cell->family == cell[-1].family && strcmp(cell->row, cell[-1].row) == 0 &&
             strcmp(cell->qualifier, cell[-1].qualifier) == 0) ||
            (options.column_count > 0 &&
             *(const char *)petal_family_name(column.family).data != cell->family))
            continue;
        fuzz_must(at < petal_result_count(run->result));
        found = petal_result_cell(run->result, at++);
        fuzz_must(found->timestamp == cell->timestamp && found->value.size == strlen(cell->value) &&
                  memcmp(found->value.data, cell->value, found->value.size) == 0);
    }
    fuzz_must(at == petal_result_count(run->result));
}

/* A cursor that is held open across the other calls. */
static void
move(struct run *run)
{
    petal_error error = {.text = ""};
    const petal_cell *cell;
    char text[16];
    unsigned how = (unsigned)fuzz_number(run->input, 1);

    if (run->cursor == NULL)
        run->cursor = open_cursor(run->table, how % 2 == 1, &error);
    if (run->cursor == NULL)
        return;
    switch (how / 2 % 4) {
    case 0:
        check(petal_cursor_next(run->cursor, &cell, &error), &error);
        break;
    case 1:
        check(petal_cursor_next_row(run->cursor, run->result, &error), &error);
        break;
    case 2:
        check(petal_cursor_seek(run->cursor, row_at(text, how), NULL, slice_make("", 0), &error),
              &error);
        break;
    default:
        petal_cursor_close(run->cursor);
        run->cursor = NULL;
    }
}

static void
write_cells(struct run *run)
{
    petal_family *family = petal_table_family_at(run->table, 0);
    petal_error error = {.text = ""};
    int64_t sum;

    check(petal_put(family, slice_make("z", 1), slice_make("q", 1), 3000, slice_make("v", 1), NULL,
                    &error),
          &error);
    check(petal_increment(family, slice_make("z", 1), slice_make("i", 1), 1, NULL, &sum, &error),
          &error);
}

static void
restore(struct run *run)
{
    petal_error error = {.text = ""};
    petal_table *table;
    enum petal_status status =
        petal_table_snapshot_clone(run->db, slice_make("s", 1), slice_make("c", 1), &table, &error);

    check(status, &error);
    if (status == PETAL_OK)
        check(petal_table_drop(table, &error), &error);
}

static void
call(struct run *run)
{
    petal_error error = {.text = ""};

    switch (fuzz_number(run->input, 1) % 12) {
    case 0:
        scan(run);
        break;
    case 1:
    case 2:
    case 3:
        get(run);
        break;
    case 4:
    case 5:
        move(run);
        break;
    case 6:
        check(petal_table_verify(run->table, &error), &error);
        break;
    case 7:
        write_cells(run);
        break;
    case 8:
        check(petal_flush(run->db, NULL, &error), &error);
        break;
    case 9:
        check(petal_compact(run->table, NULL, &error), &error);
        break;
    case 10:
        restore(run);
        break;
    default:
        check(petal_checkpoint(run->db, "copy", &error), &error);
    }
}

static void
use(petal_db *db, struct fuzz_input *input, bool wrong)
{
    struct run run = {.input = input, .db = db, .wrong = wrong};
    petal_error error = {.text = ""};

    must(petal_result_new(db, &run.result, &error));
    if (petal_table_open(db, slice_make("t", 1), &run.table, &error) == PETAL_OK)
        for (unsigned calls = 0; input->left > 0 && calls < MOST_CALLS; calls++)
            call(&run);
    petal_cursor_close(run.cursor);
    petal_result_free(run.result);
    check(petal_close(db, &error), &error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    petal_error error = {.text = ""};
    struct memory_vfs *vfs;
    enum petal_status status;
    unsigned how;
    bool wrong;
    petal_db *db;

    if (base.vfs == NULL)
        make_base();
    vfs = make_files(&input, &how, &wrong);
    status = open_database(vfs, how, &db, &error);
    check(status, &error);
    if (status == PETAL_OK)
        use(db, &input, wrong);
    fuzz_must(memory_vfs_open_files(vfs) == 0 && memory_vfs_open_directories(vfs) == 0);
    memory_vfs_free(vfs);
    return 0;
}
