/* ledger.c -- see tests/crash/ledger.h.  Programs that have nothing but petal.h link it, too. */
#include "tests/crash/ledger.h"

#include "base/slice.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- what write n is ---- */

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

/* Numbers of writers differ. */
static uint64_t
of_writer(unsigned writer, uint64_t number)
{
    return (uint64_t)writer << 48 | number;
}

/* The cells of write `number`, in their order.  Odd ones are single puts. */
static size_t
ledger_cells(unsigned writer, uint64_t number, struct ledger_cell cells[LEDGER_MOST_CELLS])
{
    size_t count = number % 2 == 1 ? 1 : LEDGER_MOST_CELLS;

    for (size_t i = 0; i < count; i++) {
        uint64_t random = mix(of_writer(writer, number * LEDGER_MOST_CELLS + i + 1));

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

/* That of a writer who is not alone begins with its digit. */
struct ledger_row {
    char bytes[4];
    size_t size;
};

static struct ledger_row
make_row(unsigned writer, unsigned row)
{
    static const struct ledger_row rows[LEDGER_ROWS] = {
        {"a", 1}, {"a\0", 2}, {"row", 3}, {"\x80\xff", 2}, {"\xff\xff", 2}};
    struct ledger_row made = {{(char)('0' + writer)}, 1};

    if (writer == 0)
        return rows[row];
    memcpy(made.bytes + 1, rows[row].bytes, rows[row].size);
    made.size += rows[row].size;
    return made;
}

static petal_slice
row_slice(const struct ledger_row *row)
{
    return slice_make(row->bytes, row->size);
}

static petal_slice
qualifier_name(unsigned qualifier)
{
    static const petal_slice qualifiers[LEDGER_QUALIFIERS] = {{"", 0}, {"q", 1}, {"\xfe", 1}};

    return qualifiers[qualifier];
}

struct ledger_value {
    char bytes[64 + LEDGER_LONG_FILLER];
    size_t size;
};

/* "number/slot/" and filler that no other value has. */
static void
make_value(struct ledger_value *value, const struct ledger *ledger, uint64_t number, unsigned slot)
{
    int length = snprintf(value->bytes, sizeof value->bytes, "%" PRIu64 "/%u/", number, slot);
    uint64_t random = mix(of_writer(ledger->writer, number)) + slot;
    size_t filler = ledger->filler;

    if (filler == LEDGER_UNEVEN)
        filler =
            random % 16 == 0 ? 3000 + random / 16 % (LEDGER_LONG_FILLER - 3000) : random / 16 % 600;
    value->size = (size_t)length + filler;
    for (size_t i = 0; i < filler; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value->bytes[(size_t)length + i] = (char)(random >> 56);
    }
}

/* ---- states ---- */

static void
apply(struct ledger_state *state, uint64_t number)
{
    struct ledger_cell cells[LEDGER_MOST_CELLS];
    size_t count = ledger_cells(state->writer, number, cells);

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
    struct ledger_state expected = {.writer = state->writer};
    bool equal = !state->wrong;

    for (uint64_t number = 1; number <= count; number++)
        apply(&expected, number);
    for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++) {
        if (state->slots[slot] == expected.slots[slot])
            continue;
        fprintf(stderr,
                "after %" PRIu64 " writes slot %u holds write %" PRIu64 ", not %" PRIu64 "\n",
                count, slot, state->slots[slot], expected.slots[slot]);
        equal = false;
    }
    return equal;
}

/* ---- the database ---- */

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
    struct ledger_row row = make_row(ledger->writer, cell->row);
    petal_slice qualifier = qualifier_name(cell->qualifier);
    struct ledger_value value;

    if (cell->type == PETAL_DELETE_FAMILY)
        qualifier = slice_make(NULL, 0);
    if (cell->type != PETAL_PUT)
        return petal_batch_delete(batch, family, row_slice(&row), qualifier, PETAL_LATEST,
                                  cell->type, error);
    make_value(&value, ledger, number, slot_of(cell->store, cell->row, cell->qualifier));
    return petal_batch_put(batch, family, row_slice(&row), qualifier, PETAL_LATEST,
                           slice_make(value.bytes, value.size), error);
}

enum petal_status
ledger_write(const struct ledger *ledger, uint64_t number, enum petal_durability durability,
             petal_error *error)
{
    petal_write_options options = {.durability = durability};
    struct ledger_cell cells[LEDGER_MOST_CELLS];
    size_t count = ledger_cells(ledger->writer, number, cells);
    struct ledger_value value;
    petal_batch *batch;
    enum petal_status status;

    if (count == 1) {
        struct ledger_row row = make_row(ledger->writer, cells->row);

        make_value(&value, ledger, number, slot_of(cells->store, cells->row, cells->qualifier));
        return petal_put(ledger->families[cells->store], row_slice(&row),
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

/* ---- reading ---- */

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
    for (; row < LEDGER_ROWS; row++) {
        struct ledger_row name = make_row(ledger->writer, row);

        if (slice_equal(cell->row, row_slice(&name)))
            break;
    }
    while (qualifier < LEDGER_QUALIFIERS &&
           !slice_equal(cell->qualifier, qualifier_name(qualifier)))
        qualifier++;
    if (family == LEDGER_FAMILIES || row == LEDGER_ROWS || qualifier == LEDGER_QUALIFIERS ||
        cell->value.size == 0)
        return false;
    memcpy(digits, cell->value.data, cell->value.size < 20 ? cell->value.size : 20);
    *number = strtoull(digits, NULL, 10);
    *slot = slot_of(table * LEDGER_FAMILIES + family, row, qualifier);
    make_value(&value, ledger, *number, *slot);
    if (!slice_equal(cell->value, slice_make(value.bytes, value.size)))
        return false;
    count = ledger_cells(ledger->writer, *number, cells);
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
        fprintf(stderr, "a cell that no write put there, or twice, in table %u\n", table);
        state->wrong = true;
        return;
    }
    state->slots[slot] = number;
}

static enum petal_status
scan_table(const struct ledger *ledger, unsigned table, struct ledger_state *state,
           petal_error *error)
{
    char digit = (char)('0' + ledger->writer);
    petal_scan_options options = {.prefix = slice_make(&digit, ledger->writer > 0)};
    const petal_cell *cell;
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(ledger->tables[table], &options, &cursor, error);

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
        struct ledger_row name = make_row(ledger->writer, row);

        status = petal_get(ledger->tables[table], row_slice(&name), NULL, result, error);
        for (size_t i = 0; status == PETAL_OK && i < petal_result_count(result); i++)
            note_cell(ledger, table, petal_result_cell(result, i), state);
    }
    petal_result_free(result);
    return status;
}

enum petal_status
ledger_read(const struct ledger *ledger, struct ledger_state *state, petal_error *error)
{
    struct ledger_state gets = {.writer = ledger->writer};
    enum petal_status status = PETAL_OK;

    *state = gets;
    for (unsigned table = 0; status == PETAL_OK && table < LEDGER_TABLES; table++) {
        status = scan_table(ledger, table, state, error);
        if (status == PETAL_OK)
            status = get_rows(ledger, table, &gets, error);
    }
    if (status == PETAL_OK && memcmp(gets.slots, state->slots, sizeof gets.slots) != 0) {
        fprintf(stderr, "gets and scans differ\n");
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
