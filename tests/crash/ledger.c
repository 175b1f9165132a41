/* ledger.c -- see tests/crash/ledger.h. */
#include "tests/crash/ledger.h"

#include "base/slice.h"
#include "engine/state/db.h"
#include "engine/wal/wal.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- a database in memory ---- */

void
fixture_init_on(struct fixture *fixture, struct memory_vfs *vfs, uint64_t seed)
{
    *fixture = (struct fixture){.vfs = vfs};
    test_allocator_init(&fixture->allocator);
    test_clock_set(&fixture->clock, 1000);
    test_random_init(&fixture->random, seed);
    fixture->env = (petal_env){.allocator = &fixture->allocator.table,
                               .vfs = memory_vfs_table(vfs),
                               .clock_context = &fixture->clock,
                               .clock_ms = test_clock_ms,
                               .random_context = &fixture->random,
                               .random = test_random_word};
    fixture->options = (petal_options){.create = true,
                                       .open_files = 8,
                                       .cache_bytes = (size_t)64 << 10,
                                       .no_compaction = true,
                                       .log_sync_interval_ms = PETAL_NEVER,
                                       .env = &fixture->env};
}

void
fixture_init(struct fixture *fixture, uint64_t seed)
{
    fixture_init_on(fixture, memory_vfs_new(), seed);
}

void
fixture_fini(struct fixture *fixture)
{
    if (fixture->db != NULL)
        fixture_must_close(fixture);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    memory_vfs_free(fixture->vfs);
    fixture->vfs = NULL;
}

enum petal_status
fixture_open(struct fixture *fixture, petal_error *error)
{
    return petal_open(FIXTURE_DIRECTORY, &fixture->options, &fixture->db, error);
}

void
fixture_must_open(struct fixture *fixture)
{
    petal_error error;

    must(fixture_open(fixture, &error), &error);
}

void
fixture_must_close(struct fixture *fixture)
{
    petal_db *db = fixture->db;
    petal_error error;

    fixture->db = NULL;
    must(petal_close(db, &error), &error);
}

enum petal_status
fixture_close_log(struct fixture *fixture)
{
    petal_db *db = fixture->db;
    struct write_place place;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &place);
    status = db_check_writable(db, NULL);
    if (status == PETAL_OK)
        status = wal_rotate(db, NULL);
    write_lead_end(&db->writers.queue, &place);
    return status;
}

void
fixture_die(struct fixture *fixture)
{
    struct memory_vfs *left = memory_vfs_clone(fixture->vfs);

    petal_close(fixture->db, NULL); /* releases memory; its files are not looked at any more */
    fixture->db = NULL;
    memory_vfs_free(fixture->vfs);
    fixture->vfs = left;
    fixture->env.vfs = memory_vfs_table(left);
}

/* ---- further lives ---- */

static bool
mark_table(void *argument, petal_table *table)
{
    petal_write_options sync = {.durability = PETAL_FSYNC_WAL};
    bool *marked = argument;

    for (size_t i = 0; *marked && i < petal_table_family_count(table); i++)
        *marked = petal_delete(petal_table_family_at(table, i), slice_from_text("no such row"),
                               slice_from_text("no such column"), PETAL_LATEST, PETAL_DELETE_COLUMN,
                               &sync, NULL) == PETAL_OK;
    return *marked;
}

/* One life, ended during its n-th file call, or, n 0, when it has done all. Gives the files with
 * what is pending in them. */
static struct memory_vfs *
live(const char *directory, struct memory_vfs *files, uint64_t n, uint64_t seed, bool *opened)
{
    struct fixture life;
    petal_error error;
    enum petal_status status;
    bool marked = true;

    memory_vfs_process_death(files);
    fixture_init_on(&life, memory_vfs_clone(files), seed);
    memory_vfs_free(files);
    memory_vfs_cut_at(life.vfs, n);
    status = petal_open(directory, &life.options, &life.db, &error);
    if (n == 0)
        must(status, &error);
    *opened = *opened || status == PETAL_OK;
    if (status == PETAL_OK)
        status = petal_table_list(life.db, mark_table, &marked, &error);
    if (n == 0)
        assert_true(status == PETAL_OK && marked);
    files = memory_vfs_clone(life.vfs);
    petal_close(life.db, NULL);
    life.db = NULL;
    fixture_fini(&life);
    return files;
}

struct memory_vfs *
fixture_further_state(struct memory_vfs *files, unsigned state, uint64_t seed, bool *opened)
{
    return fixture_further_state_in(FIXTURE_DIRECTORY, files, state, seed, opened);
}

struct memory_vfs *
fixture_further_state_in(const char *directory, struct memory_vfs *files, unsigned state,
                         uint64_t seed, bool *opened)
{
    bool cut_short = state >= 2, dies_before = state % 2 == 1, any = false;
    struct test_random random;

    test_random_init(&random, seed + state);
    if (dies_before)
        files = live(directory, files, 1 + test_random_below(&random, 50), seed, &any);
    files = live(directory, files, cut_short ? 1 + test_random_below(&random, 50) : 0, seed, &any);
    memory_vfs_power_cut(files, dies_before ? MEMORY_CUT_RANDOM : MEMORY_CUT_LOSE_ALL,
                         seed + state);
    if (opened != NULL)
        *opened = any;
    return files;
}

/* ---- files ---- */

static bool
ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);

    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

struct file_search {
    const char *suffix;
    size_t count;
    char *path; /* of the last one found */
};

static void
search_name(void *argument, const char *name)
{
    struct file_search *search = argument;

    if (!ends_with(name, search->suffix))
        return;
    search->count++;
    free(search->path);
    search->path = test_path(FIXTURE_DIRECTORY, name);
}

char *
fixture_only_file(struct fixture *fixture, const char *suffix)
{
    struct file_search search = {.suffix = suffix};

    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, search_name, &search);
    if (search.count == 1)
        return search.path;
    free(search.path);
    return NULL;
}

size_t
fixture_count_files(struct fixture *fixture, const char *suffix)
{
    struct file_search search = {.suffix = suffix};

    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, search_name, &search);
    free(search.path);
    return search.count;
}

#define MOST_FILES 200

struct directory_check {
    uint64_t numbers[MOST_FILES]; /* of store files that tables have */
    size_t count, seen, logs;
    bool clean;
};

static bool
note_file(void *argument, const petal_file_info *file)
{
    struct directory_check *check = argument;

    if (check->count == MOST_FILES)
        return false;
    check->numbers[check->count++] = file->number;
    return true;
}

static bool
note_table(void *argument, petal_table *table)
{
    return petal_table_files(table, note_file, argument, NULL) == PETAL_OK;
}

static void
check_name(void *argument, const char *name)
{
    struct directory_check *check = argument;
    bool known = strcmp(name, "LOCK") == 0 || strcmp(name, "MANIFEST") == 0;

    if (ends_with(name, ".log"))
        known = check->logs++ == 0;
    for (size_t i = 0; ends_with(name, ".sst") && i < check->count; i++) {
        if (check->numbers[i] == strtoull(name, NULL, 10)) {
            known = true;
            check->seen++;
        }
    }
    if (!known)
        print_error("left behind: %s\n", name);
    check->clean = check->clean && known;
}

bool
fixture_directory_is_clean(struct fixture *fixture)
{
    struct directory_check check = {.clean = true};

    if (petal_table_list(fixture->db, note_table, &check, NULL) != PETAL_OK)
        return false;
    memory_vfs_list(fixture->vfs, FIXTURE_DIRECTORY, check_name, &check);
    return check.clean && check.seen == check.count;
}

size_t
fixture_most_open(struct fixture *fixture)
{
    size_t open = 0, most = 0, count = memory_vfs_trace_count(fixture->vfs);

    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->vfs, i);

        if (strstr(call.path, ".sst") == NULL || call.error != 0)
            continue;
        open += call.operation == MEMORY_VFS_OPEN;
        open -= call.operation == MEMORY_VFS_CLOSE;
        most = open > most ? open : most;
    }
    return most;
}

/* ---- the ledger: what write n is ---- */

struct ledger_cell {
    unsigned store, row, qualifier;
    enum petal_cell_type type;
};
#define LEDGER_MOST_CELLS 5

static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The cells of write `number`, in their order.  Odd ones are single puts. */
static size_t
ledger_cells(uint64_t number, struct ledger_cell cells[LEDGER_MOST_CELLS])
{
    size_t count = number % 2 == 1 ? 1 : LEDGER_MOST_CELLS;

    for (size_t i = 0; i < count; i++) {
        uint64_t random = mix(number * LEDGER_MOST_CELLS + i + 1);

        cells[i] = (struct ledger_cell){
            .store = (unsigned)((random + i) % LEDGER_STORES),
            .row = (unsigned)((random >> 8) % LEDGER_ROWS),
            .qualifier = (unsigned)((random >> 16) % LEDGER_QUALIFIERS),
            .type = PETAL_PUT,
        };
        /* Deletions come first, so that a put of the same write is never hidden. */
        if (count > 1 && i == 0 && number % 6 == 0)
            cells[i].type = PETAL_DELETE_COLUMN;
        if (count > 1 && i == 1 && number % 14 == 0)
            cells[i].type = PETAL_DELETE_FAMILY;
    }
    if (count > 1) { /* in both tables, always */
        cells[2].store = (unsigned)(number / 2 % LEDGER_FAMILIES);
        cells[3].store = LEDGER_FAMILIES + cells[2].store;
    }
    return count;
}

static unsigned
slot_of(unsigned store, unsigned row, unsigned qualifier)
{
    return (store * LEDGER_ROWS + row) * LEDGER_QUALIFIERS + qualifier;
}

static petal_slice
row_name(unsigned row)
{
    static const petal_slice rows[LEDGER_ROWS] = {
        {"a", 1}, {"a\0", 2}, {"row", 3}, {"\x80\xff", 2}, {"\xff\xff", 2}};

    return rows[row];
}

static petal_slice
qualifier_name(unsigned qualifier)
{
    static const petal_slice qualifiers[LEDGER_QUALIFIERS] = {{"", 0}, {"q", 1}, {"\xfe", 1}};

    return qualifiers[qualifier];
}

struct ledger_value {
    char bytes[64 + LEDGER_MAX_FILLER];
    size_t size;
};

/* "number/slot/" and filler that no other value has. */
static void
make_value(struct ledger_value *value, uint64_t number, unsigned slot, size_t filler)
{
    int length = snprintf(value->bytes, sizeof value->bytes, "%" PRIu64 "/%u/", number, slot);
    uint64_t random = mix(number) + slot;

    value->size = (size_t)length + filler;
    for (size_t i = 0; i < filler; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value->bytes[(size_t)length + i] = (char)(random >> 56);
    }
}

/* ---- the ledger: states ---- */

void
ledger_apply(struct ledger_state *state, uint64_t number)
{
    struct ledger_cell cells[LEDGER_MOST_CELLS];
    size_t count = ledger_cells(number, cells);

    for (size_t i = 0; i < count; i++) {
        unsigned slot = slot_of(cells[i].store, cells[i].row, cells[i].qualifier);

        if (cells[i].type == PETAL_DELETE_FAMILY) {
            for (unsigned q = 0; q < LEDGER_QUALIFIERS; q++)
                state->slots[slot_of(cells[i].store, cells[i].row, q)] = 0;
        } else {
            state->slots[slot] = cells[i].type == PETAL_PUT ? number : 0;
        }
    }
}

void
ledger_after(struct ledger_state *state, uint64_t count)
{
    *state = (struct ledger_state){0};
    for (uint64_t number = 1; number <= count; number++)
        ledger_apply(state, number);
}

uint64_t
ledger_last(const struct ledger_state *state)
{
    uint64_t last = 0;

    for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++)
        last = state->slots[slot] > last ? state->slots[slot] : last;
    return last;
}

bool
ledger_is_after(const struct ledger_state *state, uint64_t count)
{
    struct ledger_state expected;
    bool equal = !state->wrong;

    ledger_after(&expected, count);
    for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++) {
        if (state->slots[slot] == expected.slots[slot])
            continue;
        print_error("after %" PRIu64 " writes slot %u holds write %" PRIu64 ", not %" PRIu64 "\n",
                    count, slot, state->slots[slot], expected.slots[slot]);
        equal = false;
    }
    return equal;
}

/* ---- the ledger: the database ---- */

static const petal_slice table_names[LEDGER_TABLES] = {{"left", 4}, {"right", 5}};
static const petal_slice family_names[LEDGER_FAMILIES] = {{"f", 1}, {"g", 1}};

enum petal_status
ledger_attach(struct ledger *ledger, petal_db *db, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    ledger->db = db;
    for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++) {
        status = petal_table_open(db, table_names[t], &ledger->tables[t], error);
        for (unsigned f = 0; status == PETAL_OK && f < LEDGER_FAMILIES; f++)
            status = petal_table_family(ledger->tables[t], family_names[f],
                                        &ledger->families[t * LEDGER_FAMILIES + f], error);
    }
    return status;
}

enum petal_status
ledger_create(struct ledger *ledger, petal_db *db, petal_error *error)
{
    static const enum petal_bloom_type blooms[LEDGER_STORES] = {
        PETAL_BLOOM_ROW, PETAL_BLOOM_ROWCOL, PETAL_BLOOM_NONE, PETAL_BLOOM_ROW_ROWCOL};

    for (unsigned t = 0; t < LEDGER_TABLES; t++) {
        petal_family_options families[LEDGER_FAMILIES];
        petal_table_options options = {
            .name = table_names[t], .families = families, .family_count = LEDGER_FAMILIES};
        petal_table *table;
        enum petal_status status;

        for (unsigned f = 0; f < LEDGER_FAMILIES; f++)
            families[f] = (petal_family_options){.name = family_names[f],
                                                 .block_bytes = 1024,
                                                 .bloom = blooms[t * LEDGER_FAMILIES + f]};
        status = petal_table_create(db, &options, &table, error);
        if (status != PETAL_OK && status != PETAL_EXISTS)
            return status;
    }
    return ledger_attach(ledger, db, error);
}

static enum petal_status
add_cell(const struct ledger *ledger, petal_batch *batch, uint64_t number,
         const struct ledger_cell *cell, petal_error *error)
{
    petal_family *family = ledger->families[cell->store];
    petal_slice row = row_name(cell->row), qualifier = qualifier_name(cell->qualifier);
    struct ledger_value value;

    if (cell->type == PETAL_DELETE_FAMILY)
        qualifier = slice_make(NULL, 0);
    if (cell->type != PETAL_PUT)
        return petal_batch_delete(batch, family, row, qualifier, PETAL_LATEST, cell->type, error);
    make_value(&value, number, slot_of(cell->store, cell->row, cell->qualifier), ledger->filler);
    return petal_batch_put(batch, family, row, qualifier, PETAL_LATEST,
                           slice_make(value.bytes, value.size), error);
}

enum petal_status
ledger_write(const struct ledger *ledger, uint64_t number, enum petal_durability durability,
             petal_error *error)
{
    petal_write_options options = {.durability = durability};
    struct ledger_cell cells[LEDGER_MOST_CELLS];
    size_t count = ledger_cells(number, cells);
    struct ledger_value value;
    petal_batch *batch;
    enum petal_status status;

    if (count == 1) {
        make_value(&value, number, slot_of(cells->store, cells->row, cells->qualifier),
                   ledger->filler);
        return petal_put(ledger->families[cells->store], row_name(cells->row),
                         qualifier_name(cells->qualifier), PETAL_LATEST,
                         slice_make(value.bytes, value.size), &options, error);
    }
    status = petal_batch_new(ledger->db, &batch, error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = add_cell(ledger, batch, number, &cells[i], error);
    if (status == PETAL_OK)
        status = petal_write(ledger->db, batch, &options, error);
    petal_batch_free(batch);
    return status;
}

void
ledger_must_write(const struct ledger *ledger, uint64_t number, enum petal_durability durability)
{
    petal_error error;

    must(ledger_write(ledger, number, durability, &error), &error);
}

/* ---- the ledger: reading ---- */

/* Where a cell belongs and which write put it; false if no write of the ledger can have put it
 * there. */
static bool
recognise(const struct ledger *ledger, unsigned table, const petal_cell *cell, unsigned *slot,
          uint64_t *number)
{
    unsigned family = 0, row = 0, qualifier = 0;
    struct ledger_cell cells[LEDGER_MOST_CELLS];
    struct ledger_value value;
    char digits[24] = {0};
    size_t count;

    while (family < LEDGER_FAMILIES && !slice_equal(cell->family, family_names[family]))
        family++;
    while (row < LEDGER_ROWS && !slice_equal(cell->row, row_name(row)))
        row++;
    while (qualifier < LEDGER_QUALIFIERS &&
           !slice_equal(cell->qualifier, qualifier_name(qualifier)))
        qualifier++;
    if (family == LEDGER_FAMILIES || row == LEDGER_ROWS || qualifier == LEDGER_QUALIFIERS ||
        cell->value.size == 0)
        return false;
    memcpy(digits, cell->value.data, cell->value.size < 20 ? cell->value.size : 20);
    *number = strtoull(digits, NULL, 10);
    *slot = slot_of(table * LEDGER_FAMILIES + family, row, qualifier);
    make_value(&value, *number, *slot, ledger->filler);
    if (!slice_equal(cell->value, slice_make(value.bytes, value.size)))
        return false;
    count = ledger_cells(*number, cells);
    for (size_t i = 0; i < count; i++) {
        if (cells[i].type == PETAL_PUT &&
            slot_of(cells[i].store, cells[i].row, cells[i].qualifier) == *slot)
            return true;
    }
    return false;
}

static void
note_cell(const struct ledger *ledger, unsigned table, const petal_cell *cell,
          struct ledger_state *state)
{
    unsigned slot = 0;
    uint64_t number = 0;

    if (!recognise(ledger, table, cell, &slot, &number) || state->slots[slot] != 0) {
        print_error("a cell that no write put there, or twice, in table %u\n", table);
        state->wrong = true;
        return;
    }
    state->slots[slot] = number;
}

static enum petal_status
scan_table(const struct ledger *ledger, unsigned table, struct ledger_state *state,
           petal_error *error)
{
    const petal_cell *cell;
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(ledger->tables[table], NULL, &cursor, error);

    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, error);
        if (status != PETAL_OK || cell == NULL)
            break;
        note_cell(ledger, table, cell, state);
    }
    petal_cursor_close(cursor);
    return status;
}

static enum petal_status
get_rows(const struct ledger *ledger, unsigned table, struct ledger_state *state,
         petal_error *error)
{
    petal_result *result;
    enum petal_status status = petal_result_new(ledger->db, &result, error);

    for (unsigned row = 0; status == PETAL_OK && row < LEDGER_ROWS; row++) {
        status = petal_get(ledger->tables[table], row_name(row), NULL, result, error);
        for (size_t i = 0; status == PETAL_OK && i < petal_result_count(result); i++)
            note_cell(ledger, table, petal_result_cell(result, i), state);
    }
    petal_result_free(result);
    return status;
}

enum petal_status
ledger_read(const struct ledger *ledger, struct ledger_state *state, petal_error *error)
{
    struct ledger_state gets = {0};
    enum petal_status status = PETAL_OK;

    *state = gets;
    for (unsigned table = 0; status == PETAL_OK && table < LEDGER_TABLES; table++) {
        status = scan_table(ledger, table, state, error);
        if (status == PETAL_OK)
            status = get_rows(ledger, table, &gets, error);
    }
    if (status == PETAL_OK && memcmp(gets.slots, state->slots, sizeof gets.slots) != 0) {
        print_error("gets and scans differ\n");
        state->wrong = true;
    }
    state->wrong = state->wrong || gets.wrong;
    return status;
}

enum petal_status
ledger_verify(const struct ledger *ledger, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (unsigned table = 0; status == PETAL_OK && table < LEDGER_TABLES; table++)
        status = petal_table_verify(ledger->tables[table], error);
    return status;
}

uint64_t
ledger_must_be_prefix(const struct ledger *ledger)
{
    struct ledger_state state;
    petal_error error;
    uint64_t count;

    must(ledger_read(ledger, &state, &error), &error);
    count = ledger_last(&state);
    assert_true(ledger_is_after(&state, count));
    must(ledger_verify(ledger, &error), &error);
    return count;
}

uint64_t
ledger_must_find(struct ledger *ledger, petal_db *db)
{
    MUST(ledger_attach(ledger, db, WHY));
    return ledger_must_be_prefix(ledger);
}

void
ledger_start(struct ledger *ledger, struct fixture *fixture, uint64_t seed)
{
    fixture_init(fixture, seed);
    fixture_must_open(fixture);
    MUST(ledger_create(ledger, fixture->db, WHY));
}
