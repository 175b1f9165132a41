/* database.c -- see database.h. */
#include "tests/kernel/database.h"

#include "tests/support/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS       3 /* of each writer */
#define QUALIFIERS 3
#define SLOTS      (DATABASE_STORES * ROWS * QUALIFIERS) /* columns of a writer */
#define MOST_CELLS 5
#define COUNTED    10 /* each so many-th write counts itself, too */
#define MOST_VALUE 9000
#define NAME_BYTES 32

petal_slice
database_text(const char *text)
{
    return (petal_slice){text, strlen(text)};
}

enum petal_status
database_wrong(petal_error *error, const char *format, ...)
{
    va_list arguments;

    memset(error, 0, sizeof *error);
    error->status = PETAL_CORRUPT;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return PETAL_CORRUPT;
}

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static bool
equal(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* ---- opening ---- */

enum petal_status
database_open(struct database *database, const char *directory, enum database_opening opening,
              uint64_t seed, petal_error *error)
{
    static const uint32_t intervals[] = {2, 20, 1000, PETAL_NEVER};
    petal_options options = {
        .create = opening == OPEN_OR_MAKE,
        .read_only = opening == OPEN_READ_ONLY,
        .cache_bytes = (size_t)64 << 10,
        .memtable_bytes = (size_t)64 << 10,
        .log_sync_interval_ms = intervals[seed % 4],
        .no_log_mapping = (seed >> 8) % 4 == 0,
        .map_files = (seed >> 16) % 5 == 0,
    };

    memset(database, 0, sizeof *database);
    return petal_open(directory, &options, &database->db, error);
}

static const char *const table_names[DATABASE_TABLES] = {"left", "right"};
static const char *const family_names[DATABASE_FAMILIES] = {"f", "g"};
static const char unlogged_name[] = "unlogged";

static enum petal_status
create(petal_db *db, const char *name, size_t family_count, petal_error *error)
{
    static const enum petal_bloom_type blooms[DATABASE_FAMILIES] = {PETAL_BLOOM_ROW,
                                                                    PETAL_BLOOM_ROW_ROWCOL};
    petal_family_options families[DATABASE_FAMILIES];
    petal_table_options options = {
        .name = database_text(name), .families = families, .family_count = family_count};
    petal_table *table;
    enum petal_status status;

    for (size_t i = 0; i < family_count; i++)
        families[i] = (petal_family_options){
            .name = database_text(family_names[i]), .block_bytes = 1024, .bloom = blooms[i]};
    status = petal_table_create(db, &options, &table, error);
    return status == PETAL_EXISTS ? PETAL_OK : status;
}

enum petal_status
database_attach(struct database *database, bool make, petal_error *error)
{
    petal_db *db = database->db;
    enum petal_status status = PETAL_OK;

    for (unsigned t = 0; make && status == PETAL_OK && t < DATABASE_TABLES; t++)
        status = create(db, table_names[t], DATABASE_FAMILIES, error);
    if (make && status == PETAL_OK)
        status = create(db, unlogged_name, 1, error);
    for (unsigned t = 0; status == PETAL_OK && t < DATABASE_TABLES; t++) {
        status = petal_table_open(db, database_text(table_names[t]), &database->tables[t], error);
        for (unsigned f = 0; status == PETAL_OK && f < DATABASE_FAMILIES; f++)
            status = petal_table_family(database->tables[t], database_text(family_names[f]),
                                        &database->families[t * DATABASE_FAMILIES + f], error);
    }
    if (status == PETAL_OK)
        status = petal_table_open(db, database_text(unlogged_name), &database->unlogged, error);
    if (status == PETAL_OK)
        status = petal_table_family(database->unlogged, database_text(family_names[0]),
                                    &database->unlogged_family, error);
    return status;
}

/* ---- what a write is ---- */

struct write_cell {
    unsigned store, row, qualifier;
    enum petal_cell_type type;
};

/* Odd writes are single puts. */
static size_t
cells_of(unsigned writer, uint64_t number, struct write_cell cells[MOST_CELLS])
{
    size_t count = number % 2 == 1 ? 1 : MOST_CELLS;

    for (size_t i = 0; i < count; i++) {
        uint64_t random = mix((number * ACCOUNT_WRITERS + writer) * MOST_CELLS + i + 1);

        cells[i] = (struct write_cell){
            .store = (unsigned)(random % DATABASE_STORES),
            .row = (unsigned)((random >> 8) % ROWS),
            .qualifier = (unsigned)((random >> 16) % QUALIFIERS),
            .type = PETAL_PUT,
        };
    }
    /* Deletions come first, so that a put of the same write is never hidden. */
    if (count > 1 && number % 6 == 0)
        cells[0].type = PETAL_DELETE_COLUMN;
    if (count > 1 && number % 14 == 0)
        cells[1].type = PETAL_DELETE_FAMILY;
    if (count > 1) { /* in both tables, always */
        cells[2].store = (unsigned)(number / 2 % DATABASE_FAMILIES);
        cells[3].store = DATABASE_FAMILIES + cells[2].store;
    }
    return count;
}

static unsigned
slot_of(unsigned store, unsigned row, unsigned qualifier)
{
    return (store * ROWS + row) * QUALIFIERS + qualifier;
}

static void
apply(uint64_t slots[SLOTS], unsigned writer, uint64_t number)
{
    struct write_cell cells[MOST_CELLS];
    size_t count = cells_of(writer, number, cells);

    for (size_t i = 0; i < count; i++) {
        if (cells[i].type == PETAL_DELETE_FAMILY)
            for (unsigned q = 0; q < QUALIFIERS; q++)
                slots[slot_of(cells[i].store, cells[i].row, q)] = 0;
        else
            slots[slot_of(cells[i].store, cells[i].row, cells[i].qualifier)] =
                cells[i].type == PETAL_PUT ? number : 0;
    }
}

static void
row_name(char name[NAME_BYTES], unsigned writer, unsigned row)
{
    snprintf(name, NAME_BYTES, "w%u-%u", writer, row);
}

static void
counter_name(char name[NAME_BYTES], unsigned writer)
{
    snprintf(name, NAME_BYTES, "c%u", writer);
}

static petal_slice
qualifier_name(unsigned qualifier)
{
    static const petal_slice qualifiers[QUALIFIERS] = {{"", 0}, {"q", 1}, {"\xfe", 1}};

    return qualifiers[qualifier];
}

/* "writer/number/slot/" and bytes that no other value has; some are longer than a frame of the
 * log's. */
static size_t
value_of(char value[MOST_VALUE], unsigned writer, uint64_t number, unsigned slot)
{
    uint64_t random = mix(number * 64 + writer) + slot;
    size_t size = random % 16 == 0 ? 3000 + random / 16 % 5000 : random / 16 % 600;
    size_t length = (size_t)snprintf(value, MOST_VALUE, "%u/%" PRIu64 "/%u/", writer, number, slot);

    for (size_t i = 0; i < size; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value[length + i] = (char)(random >> 56);
    }
    return length + size;
}

/* ---- writing ---- */

static enum petal_status
add_cell(const struct database *database, petal_batch *batch, unsigned writer, uint64_t number,
         const struct write_cell *cell, petal_error *error)
{
    petal_family *family = database->families[cell->store];
    petal_slice qualifier = qualifier_name(cell->qualifier);
    char row[NAME_BYTES], value[MOST_VALUE];
    size_t size;

    row_name(row, writer, cell->row);
    if (cell->type == PETAL_DELETE_FAMILY)
        qualifier = (petal_slice){NULL, 0};
    if (cell->type != PETAL_PUT)
        return petal_batch_delete(batch, family, database_text(row), qualifier, PETAL_LATEST,
                                  cell->type, error);
    size = value_of(value, writer, number, slot_of(cell->store, cell->row, cell->qualifier));
    return petal_batch_put(batch, family, database_text(row), qualifier, PETAL_LATEST,
                           (petal_slice){value, size}, error);
}

enum petal_status
database_write(const struct database *database, unsigned writer, uint64_t number,
               enum petal_durability durability, petal_error *error)
{
    petal_write_options options = {.durability = durability};
    struct write_cell cells[MOST_CELLS];
    size_t count = cells_of(writer, number, cells);
    char row[NAME_BYTES], value[MOST_VALUE];
    petal_batch *batch;
    enum petal_status status;

    if (count == 1) {
        size_t size =
            value_of(value, writer, number, slot_of(cells->store, cells->row, cells->qualifier));

        row_name(row, writer, cells->row);
        return petal_put(database->families[cells->store], database_text(row),
                         qualifier_name(cells->qualifier), PETAL_LATEST, (petal_slice){value, size},
                         &options, error);
    }
    status = petal_batch_new(database->db, &batch, error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = add_cell(database, batch, writer, number, &cells[i], error);
    counter_name(row, writer);
    if (status == PETAL_OK && number % COUNTED == 0)
        status = petal_batch_increment(batch, database->families[0], database_text(row),
                                       qualifier_name(0), 1, error);
    if (status == PETAL_OK)
        status = petal_write(database->db, batch, &options, error);
    petal_batch_free(batch);
    return status;
}

enum petal_status
database_write_unlogged(const struct database *database, unsigned row, uint64_t number,
                        petal_error *error)
{
    petal_write_options options = {.durability = PETAL_SKIP_WAL};
    char name[NAME_BYTES], value[NAME_BYTES];

    snprintf(name, sizeof name, "u%u", row);
    snprintf(value, sizeof value, "%" PRIu64, number);
    return petal_put(database->unlogged_family, database_text(name), qualifier_name(0),
                     PETAL_LATEST, database_text(value), &options, error);
}

/* ---- reading ---- */

struct content {
    uint64_t slots[ACCOUNT_WRITERS][SLOTS];
    uint64_t counted[ACCOUNT_WRITERS];
};

/* The number of a text that begins with digits. */
static uint64_t
number_in(petal_slice text)
{
    char digits[24] = {0};

    memcpy(digits, text.data, text.size < sizeof digits - 1 ? text.size : sizeof digits - 1);
    return strtoull(digits, NULL, 10);
}

static enum petal_status
note_counter(const petal_cell *cell, struct content *content, petal_error *error)
{
    unsigned writer = (unsigned)((const char *)cell->row.data)[1] - '0';
    uint64_t count = 0;

    if (cell->row.size != 2 || writer >= ACCOUNT_WRITERS || cell->value.size != 8)
        return database_wrong(error, "a counter that nobody wrote");
    for (size_t i = 0; i < 8; i++)
        count = count << 8 | ((const uint8_t *)cell->value.data)[i];
    content->counted[writer] = count;
    return PETAL_OK;
}

/* Where the cell belongs, and which write put it there. */
static enum petal_status
note_cell(unsigned table, const petal_cell *cell, struct content *content, petal_error *error)
{
    unsigned family = 0, qualifier = 0, writer = 0, row = 0, slot;
    char name[NAME_BYTES], value[MOST_VALUE], head[64] = {0};
    const char *slash;
    uint64_t number;

    if (cell->row.size > 0 && ((const char *)cell->row.data)[0] == 'c')
        return note_counter(cell, content, error);
    while (family < DATABASE_FAMILIES && !equal(cell->family, database_text(family_names[family])))
        family++;
    while (qualifier < QUALIFIERS && !equal(cell->qualifier, qualifier_name(qualifier)))
        qualifier++;
    for (writer = 0; writer < ACCOUNT_WRITERS; writer++) {
        for (row = 0; row < ROWS; row++) {
            row_name(name, writer, row);
            if (equal(cell->row, database_text(name)))
                break;
        }
        if (row < ROWS)
            break;
    }
    if (family == DATABASE_FAMILIES || qualifier == QUALIFIERS || writer == ACCOUNT_WRITERS)
        return database_wrong(error, "a cell in a place that nobody wrote to, of table %s",
                              table_names[table]);
    memcpy(head, cell->value.data,
           cell->value.size < sizeof head - 1 ? cell->value.size : sizeof head - 1);
    slash = strchr(head, '/');
    number = slash != NULL ? strtoull(slash + 1, NULL, 10) : 0;
    slot = slot_of(table * DATABASE_FAMILIES + family, row, qualifier);
    if (!equal(cell->value, (petal_slice){value, value_of(value, writer, number, slot)}))
        return database_wrong(error, "writer %u: write %" PRIu64 " put other bytes to slot %u",
                              writer, number, slot);
    if (content->slots[writer][slot] != 0)
        return database_wrong(error, "writer %u: slot %u was read twice", writer, slot);
    content->slots[writer][slot] = number;
    return PETAL_OK;
}

/* Calls `note` for each cell. */
static enum petal_status
scan(petal_table *table,
     enum petal_status (*note)(void *argument, const petal_cell *cell, petal_error *error),
     void *argument, petal_error *error)
{
    const petal_cell *cell = NULL;
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(table, NULL, &cursor, error);

    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, error);
        if (status != PETAL_OK || cell == NULL)
            break;
        status = note(argument, cell, error);
    }
    petal_cursor_close(cursor);
    return status;
}

struct table_content {
    unsigned table;
    struct content *content;
};

static enum petal_status
note_written(void *argument, const petal_cell *cell, petal_error *error)
{
    struct table_content *content = argument;

    return note_cell(content->table, cell, content->content, error);
}

static enum petal_status
note_unlogged(void *argument, const petal_cell *cell, petal_error *error)
{
    uint64_t *numbers = argument;
    uint64_t row = number_in((petal_slice){(const char *)cell->row.data + 1,
                                           cell->row.size > 0 ? cell->row.size - 1 : 0});

    if (row >= ACCOUNT_UNLOGGED || numbers[row] != 0)
        return database_wrong(error, "an unlogged row that nobody wrote, or twice");
    numbers[row] = number_in(cell->value);
    return PETAL_OK;
}

/* What is there of a writer must be what all its writes up to the last one that is there make. */
static enum petal_status
check_writer(const struct content *content, unsigned writer, uint64_t *number, petal_error *error)
{
    const uint64_t *slots = content->slots[writer];
    uint64_t expected[SLOTS] = {0};

    *number = COUNTED * content->counted[writer];
    for (unsigned slot = 0; slot < SLOTS; slot++)
        *number = slots[slot] > *number ? slots[slot] : *number;
    for (uint64_t n = 1; n <= *number; n++)
        apply(expected, writer, n);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (slots[slot] != expected[slot])
            return database_wrong(error,
                                  "writer %u: after %" PRIu64 " writes slot %u holds write "
                                  "%" PRIu64 ", not %" PRIu64,
                                  writer, *number, slot, slots[slot], expected[slot]);
    }
    if (content->counted[writer] != *number / COUNTED)
        return database_wrong(error, "writer %u: after %" PRIu64 " writes it has counted %" PRIu64,
                              writer, *number, content->counted[writer]);
    return PETAL_OK;
}

/* Gets must show what the scan has shown. */
static enum petal_status
compare_gets(const struct database *database, const struct content *scanned, petal_error *error)
{
    struct content content = {0};
    petal_result *result;
    enum petal_status status = petal_result_new(database->db, &result, error);

    for (unsigned t = 0; status == PETAL_OK && t < DATABASE_TABLES; t++) {
        for (unsigned i = 0; status == PETAL_OK && i < ACCOUNT_WRITERS * ROWS; i++) {
            char row[NAME_BYTES];

            row_name(row, i / ROWS, i % ROWS);
            status = petal_get(database->tables[t], database_text(row), NULL, result, error);
            for (size_t k = 0; status == PETAL_OK && k < petal_result_count(result); k++)
                status = note_cell(t, petal_result_cell(result, k), &content, error);
        }
    }
    petal_result_free(result);
    if (status == PETAL_OK && memcmp(content.slots, scanned->slots, sizeof content.slots) != 0)
        status = database_wrong(error, "gets and scans differ");
    return status;
}

enum petal_status
database_read(const struct database *database, struct account_found *found, petal_error *error)
{
    struct content content = {0};
    enum petal_status status = PETAL_OK;

    memset(found, 0, sizeof *found);
    for (unsigned t = 0; status == PETAL_OK && t < DATABASE_TABLES; t++) {
        struct table_content table = {t, &content};

        status = scan(database->tables[t], note_written, &table, error);
    }
    if (status == PETAL_OK)
        status = compare_gets(database, &content, error);
    for (unsigned i = 0; status == PETAL_OK && i < ACCOUNT_WRITERS; i++)
        status = check_writer(&content, i, &found->numbers[i], error);
    if (status == PETAL_OK)
        status = scan(database->unlogged, note_unlogged, found->unlogged, error);
    return status;
}

/* ---- all tables ---- */

struct verification {
    petal_error *error;
    enum petal_status status;
};

static bool
verify_table(void *argument, petal_table *table)
{
    struct verification *verification = argument;

    verification->status = petal_table_verify(table, verification->error);
    return verification->status == PETAL_OK;
}

enum petal_status
database_verify(const struct database *database, petal_error *error)
{
    struct verification verification = {error, PETAL_OK};
    enum petal_status status = petal_table_list(database->db, verify_table, &verification, error);

    return status == PETAL_OK ? verification.status : status;
}

#define MOST_FILES 400

struct files {
    uint64_t numbers[MOST_FILES]; /* of store files that tables have */
    size_t count;
};

static bool
note_file(void *argument, const petal_file_info *file)
{
    struct files *files = argument;

    if (files->count == MOST_FILES)
        return false;
    files->numbers[files->count++] = file->number;
    return true;
}

static bool
note_files(void *argument, petal_table *table)
{
    return petal_table_files(table, note_file, argument, NULL) == PETAL_OK;
}

static bool
note_any(void *argument, const petal_table_snapshot_info *info)
{
    (void)info;
    *(bool *)argument = true;
    return false;
}

enum petal_status
database_check_files(const struct database *database, const char *directory, petal_error *error)
{
    struct files files = {.count = 0};
    bool has_snapshots = false; /* their files are not told */
    size_t logs = 0;
    DIR *list;
    enum petal_status status = petal_table_list(database->db, note_files, &files, error);

    if (status == PETAL_OK)
        status = petal_table_snapshot_list(database->db, note_any, &has_snapshots, error);
    if (status != PETAL_OK)
        return status;
    list = opendir(directory);
    if (list == NULL)
        return database_wrong(error, "%s cannot be listed", directory);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        const char *ending = strrchr(entry->d_name, '.');
        uint64_t number = strtoull(entry->d_name, NULL, 10);
        bool known = entry->d_name[0] == '.' || strcmp(entry->d_name, "LOCK") == 0 ||
                     strcmp(entry->d_name, "MANIFEST") == 0;

        if (ending != NULL && strcmp(ending, ".log") == 0)
            known = logs++ < 2; /* the one that is written, and one ahead */
        for (size_t i = 0; !known && i < files.count; i++)
            known = files.numbers[i] == number;
        if (!known && !has_snapshots)
            status = database_wrong(error, "left behind: %s", entry->d_name);
    }
    closedir(list);
    return status;
}
