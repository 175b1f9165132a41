/* database.c -- see database.h. */
#include "tests/kernel/database.h"

#include "tests/support/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char unlogged_name[] = "unlogged";

static enum petal_status
make_unlogged(petal_db *db, petal_error *error)
{
    petal_family_options family = {.name = database_text("f"), .block_bytes = 1024};
    petal_table_options options = {
        .name = database_text(unlogged_name), .families = &family, .family_count = 1};
    petal_table *table;
    enum petal_status status = petal_table_create(db, &options, &table, error);

    return status == PETAL_EXISTS ? PETAL_OK : status;
}

enum petal_status
database_attach(struct database *database, bool make, petal_error *error)
{
    petal_db *db = database->db;
    enum petal_status status = PETAL_OK;

    database->ledger.filler = LEDGER_UNEVEN;
    status = make ? ledger_create(&database->ledger, db, error)
                  : ledger_attach(&database->ledger, db, error);
    if (make && status == PETAL_OK)
        status = make_unlogged(db, error);
    if (status == PETAL_OK)
        status = petal_table_open(db, database_text(unlogged_name), &database->unlogged, error);
    if (status == PETAL_OK)
        database->unlogged_family = petal_table_family_at(database->unlogged, 0);
    return status;
}

/* ---- writing ---- */

static struct ledger
ledger_of(const struct database *database, unsigned writer)
{
    struct ledger ledger = database->ledger;

    ledger.writer = writer + 1;
    return ledger;
}

enum petal_status
database_write(const struct database *database, unsigned writer, uint64_t number,
               enum petal_durability durability, petal_error *error)
{
    struct ledger ledger = ledger_of(database, writer);

    return ledger_write(&ledger, number, durability, error);
}

enum petal_status
database_write_unlogged(const struct database *database, unsigned row, uint64_t number,
                        petal_error *error)
{
    petal_write_options options = {.durability = PETAL_SKIP_WAL};
    char name[NAME_BYTES], value[NAME_BYTES];

    snprintf(name, sizeof name, "u%u", row);
    snprintf(value, sizeof value, "%" PRIu64, number);
    return petal_put(database->unlogged_family, database_text(name), database_text(""),
                     PETAL_LATEST, database_text(value), &options, error);
}

/* ---- reading ---- */

/* The number of a text that begins with digits. */
static uint64_t
number_in(petal_slice text)
{
    char digits[24] = {0};

    memcpy(digits, text.data, text.size < sizeof digits - 1 ? text.size : sizeof digits - 1);
    return strtoull(digits, NULL, 10);
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

static enum petal_status
count_cell(void *argument, const petal_cell *cell, petal_error *error)
{
    (void)cell;
    (void)error;
    ++*(size_t *)argument;
    return PETAL_OK;
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
read_writer(const struct database *database, unsigned writer, uint64_t *number, size_t *cells,
            petal_error *error)
{
    struct ledger ledger = ledger_of(database, writer);
    struct ledger_state state;
    enum petal_status status = ledger_read(&ledger, &state, error);

    if (status != PETAL_OK)
        return status;
    *number = ledger_last(&state);
    for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++)
        *cells += state.slots[slot] != 0;
    return ledger_is_after(&state, *number)
               ? PETAL_OK
               : database_wrong(error,
                                "writer %u: what is there is not what %" PRIu64 " writes make",
                                writer, *number);
}

enum petal_status
database_read(const struct database *database, struct account_found *found, petal_error *error)
{
    size_t expected = 0, cells = 0;
    enum petal_status status = PETAL_OK;

    memset(found, 0, sizeof *found);
    for (unsigned i = 0; status == PETAL_OK && i < ACCOUNT_WRITERS; i++)
        status = read_writer(database, i, &found->numbers[i], &expected, error);
    for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++)
        status = scan(database->ledger.tables[t], count_cell, &cells, error);
    if (status == PETAL_OK && cells != expected)
        status =
            database_wrong(error, "%zu cells are there, and %zu are of writers", cells, expected);
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
                     strcmp(entry->d_name, "READERS") == 0 ||
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
