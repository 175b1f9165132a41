/*
 * wal_record.c -- any bytes as the payloads of records of a log, each building upon the one before:
 * refused, or cells that a store may hold, which come back when they are written again.
 *
 * Input: the payloads, each after two bytes with its length.
 */
#include "engine/state/handle.h"
#include "engine/wal/record.h"
#include "tests/fuzz/target.h"

#define MOST_CELLS 64

/* The cells of a record, with the families that it names. */
struct record {
    struct record_cell cells[MOST_CELLS];
    size_t count;
};

static void
expect_storable(const struct cell *cell)
{
    fuzz_must(cell->row.size > 0 && cell->row.size <= PETAL_MAX_ROW_BYTES);
    fuzz_must(cell->qualifier.size <= PETAL_MAX_QUALIFIER_BYTES);
    fuzz_must(cell->timestamp >= 0 && cell->sequence > 0 && cell_type_valid(cell->type));
    fuzz_must(!cell_is_family_marker(cell->type) || cell->qualifier.size == 0);
    fuzz_must(!cell_is_marker(cell->type) || cell->value.size == 0);
    fuzz_must(cell->has_ttl || cell->ttl_ms == 0);
    fuzz_touch_cell(cell);
}

/* False: malformed, or more cells than are kept. */
static bool
read_record(struct record *record, struct record_base *base, petal_slice payload)
{
    struct record_reader reader;
    bool kept = true;

    record->count = 0;
    if (!record_open(&reader, base, payload))
        return false;
    while (reader.remaining > 0) {
        struct record_cell cell;

        if (!record_next(&reader, &cell))
            return false;
        expect_storable(&cell.cell);
        if (record->count < MOST_CELLS)
            record->cells[record->count++] = cell;
        else
            kept = false;
    }
    return kept && record_at_end(&reader);
}

static void
expect_same(const struct record_cell *a, const struct record_cell *b)
{
    fuzz_must(a->table_id == b->table_id && a->family_id == b->family_id &&
              a->assigned == b->assigned && a->ahead == b->ahead && a->cell.type == b->cell.type &&
              a->cell.timestamp == b->cell.timestamp && a->cell.sequence == b->cell.sequence &&
              a->cell.has_ttl == b->cell.has_ttl && a->cell.ttl_ms == b->cell.ttl_ms &&
              slice_equal(a->cell.row, b->cell.row) &&
              slice_equal(a->cell.qualifier, b->cell.qualifier) &&
              slice_equal(a->cell.value, b->cell.value));
}

/* As the engine writes it, upon what was written before. */
static void
write_and_read(const struct record *record, struct record_base *written, struct record_base *read)
{
    static petal_table tables[MOST_CELLS];
    static petal_family families[MOST_CELLS];
    static struct write_cell cells[MOST_CELLS];
    static struct record again;
    size_t size;
    uint8_t *bytes;

    for (size_t i = 0; i < record->count; i++) {
        tables[i].id = record->cells[i].table_id;
        families[i].id = record->cells[i].family_id;
        families[i].table = &tables[i];
        cells[i] = (struct write_cell){.family = &families[i],
                                       .cell = record->cells[i].cell,
                                       .assigned = record->cells[i].assigned,
                                       .ahead = record->cells[i].ahead};
    }
    size = record_size(written, cells, record->count);
    bytes = malloc(size);
    fuzz_must(bytes != NULL);
    if (record->count == 1 && record_is_short(written, cells)) {
        fuzz_must(record_short_size(cells) == size);
        record_encode_short(bytes, written, cells);
    } else {
        record_encode(bytes, written, cells, record->count);
    }
    fuzz_must(read_record(&again, read, slice_make(bytes, size)));
    fuzz_must(again.count == record->count);
    for (size_t i = 0; i < record->count; i++)
        expect_same(&record->cells[i], &again.cells[i]);
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct record record;
    struct fuzz_input input = {bytes, size};
    struct record_base base = {0}, written = {0}, read = {0};

    while (input.left > 0) {
        petal_slice payload = fuzz_take(&input, fuzz_number(&input, 2));

        if (payload.size == 0 || !read_record(&record, &base, payload))
            break;
        write_and_read(&record, &written, &read);
    }
    return 0;
}
