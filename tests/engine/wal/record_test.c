/*
 * record_test.c -- writes as log records: what goes in comes out, times to live of cells cost only
 * where they are, and no damage is read out of bounds.
 */
#include "engine/wal/record.h"

#include "engine/state/db.h"
#include "tests/support/test_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define CELLS 5

static void
make_cells(struct write_cell cells[CELLS], petal_family *family)
{
    static const struct cell plain[CELLS] = {
        {.row = {"r", 1}, .qualifier = {"q", 1}, .value = {"v", 1}, .type = PETAL_PUT},
        {.row = {"r", 1}, .qualifier = {"q", 1}, .type = PETAL_DELETE_COLUMN},
        {.row = {"\0row", 4}, .type = PETAL_DELETE_FAMILY},
        {.row = {"s", 1}, .qualifier = {"\xff", 1}, .value = {"value", 5}, .type = PETAL_PUT},
        {.row = {"t", 1}, .type = PETAL_PUT},
    };

    for (size_t i = 0; i < CELLS; i++) {
        cells[i] = (struct write_cell){.family = family, .cell = plain[i], .assigned = i % 2 == 1};
        cells[i].cell.timestamp = 1000 + (int64_t)i;
        cells[i].cell.sequence = 70 + i;
    }
}

static void
give_ttls(struct write_cell cells[CELLS])
{
    static const int64_t ttls[CELLS] = {60000, -1, 0, INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < CELLS; i++) {
        cells[i].cell.has_ttl = true;
        cells[i].cell.ttl_ms = ttls[i];
    }
}

static petal_slice
encode(const struct write_cell cells[CELLS])
{
    size_t size = record_size(cells, CELLS);
    uint8_t *bytes = test_allocate(size);

    record_encode(bytes, cells, CELLS);
    return slice_make(bytes, size);
}

static void
expect_cells(petal_slice record, const struct write_cell cells[CELLS])
{
    struct record_reader reader;
    struct record_cell found;

    memset(&found, 0xee, sizeof found);
    assert_true(record_open(&reader, record));
    for (size_t i = 0; i < CELLS; i++) {
        const struct cell *cell = &cells[i].cell;

        assert_true(reader.remaining == CELLS - i);
        assert_true(record_next(&reader, &found));
        assert_int_equal(found.table_id, 300);
        assert_int_equal(found.family_id, 2);
        assert_int_equal(found.assigned, cells[i].assigned);
        assert_int_equal(cell_compare(&found.cell, cell), 0);
        assert_true(slice_equal(found.cell.value, cell->value));
        assert_int_equal(found.cell.type, cell->type);
        assert_int_equal(found.cell.has_ttl, cell->has_ttl);
        assert_true(found.cell.ttl_ms == cell->ttl_ms);
    }
    assert_true(record_at_end(&reader));
}

static void
cells_come_back(void **state)
{
    petal_table table = {.id = 300};
    petal_family family = {.table = &table, .id = 2};
    struct write_cell cells[CELLS];
    petal_slice plain, with_ttls;

    (void)state;
    make_cells(cells, &family);
    plain = encode(cells);
    expect_cells(plain, cells);
    give_ttls(cells);
    with_ttls = encode(cells);
    expect_cells(with_ttls, cells);
    assert_int_equal(with_ttls.size, plain.size + 8 * CELLS);
    cells[2].cell.has_ttl = false;
    cells[2].cell.ttl_ms = 0;
    free((void *)(uintptr_t)with_ttls.data);
    with_ttls = encode(cells);
    expect_cells(with_ttls, cells);
    free((void *)(uintptr_t)with_ttls.data);
    free((void *)(uintptr_t)plain.data);
}

/* The example of engine/FORMAT.md. */
static void
bytes_are_those_of_the_example(void **state)
{
    static const uint8_t expected[] = {
        0x09, 0, 0, 0,    0,    0, 0, 0, 1, 0x01, 0x00, 0xc4, 0xe8, 0x03, 0,   0,    0,
        0,    0, 0, 0x60, 0xea, 0, 0, 0, 0, 0,    0,    0x01, 'r',  0x01, 'q', 0x01, 'v'};
    petal_table table = {.id = 1};
    petal_family family = {.table = &table, .id = 0};
    struct write_cell write = {.family = &family, .assigned = true};
    uint8_t bytes[sizeof expected];

    (void)state;
    write.cell = (struct cell){.row = slice_from_text("r"),
                               .qualifier = slice_from_text("q"),
                               .value = slice_from_text("v"),
                               .timestamp = 1000,
                               .sequence = 9,
                               .type = PETAL_PUT,
                               .has_ttl = true,
                               .ttl_ms = 60000};
    assert_int_equal(record_size(&write, 1), sizeof expected);
    record_encode(bytes, &write, 1);
    assert_memory_equal(bytes, expected, sizeof expected);
}

static void
read_carelessly(const uint8_t *bytes, size_t size)
{
    struct record_reader reader;
    struct record_cell cell;

    if (!record_open(&reader, slice_make(bytes, size)))
        return;
    while (reader.remaining > 0 && record_next(&reader, &cell)) {
        assert_true(cell_type_valid(cell.cell.type));
        assert_true(slice_bytes(cell.cell.value) + cell.cell.value.size <= bytes + size);
        assert_true(cell.cell.has_ttl || cell.cell.ttl_ms == 0);
    }
}

/* In memory of exactly the size, so that AddressSanitizer sees a step beyond. */
static void
damage_is_read_in_bounds(void **state)
{
    petal_table table = {.id = 300};
    petal_family family = {.table = &table, .id = 2};
    struct write_cell cells[CELLS];
    petal_slice record;

    (void)state;
    make_cells(cells, &family);
    give_ttls(cells);
    record = encode(cells);
    for (size_t size = 0; size <= record.size; size++) {
        uint8_t *bytes = malloc(size + (size == 0));

        assert_non_null(bytes);
        memcpy(bytes, record.data, size);
        read_carelessly(bytes, size);
        for (size_t at = 0; at < size; at++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                bytes[at] ^= (uint8_t)(1u << bit);
                read_carelessly(bytes, size);
                bytes[at] ^= (uint8_t)(1u << bit);
            }
        }
        free(bytes);
    }
    free((void *)(uintptr_t)record.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_back),
        cmocka_unit_test(bytes_are_those_of_the_example),
        cmocka_unit_test(damage_is_read_in_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
