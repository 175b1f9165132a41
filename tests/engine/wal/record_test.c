/*
 * record_test.c -- writes as log records: what goes in comes out, times to live of cells cost only
 * where they are, and no damage is read out of bounds.
 */
#include "engine/wal/file_format.h"
#include "engine/wal/record.h"

#include "engine/state/db.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

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
    struct record_base base = {0};
    size_t size = record_size(&base, cells, CELLS);
    uint8_t *bytes = test_allocate(size);

    record_encode(bytes, &base, cells, CELLS);
    assert_int_equal(base.next_sequence, cells[CELLS - 1].cell.sequence + 1);
    return slice_make(bytes, size);
}

static void
expect_cells(petal_slice record, const struct write_cell cells[CELLS])
{
    struct record_base base = {0};
    struct record_reader reader;
    struct record_cell found;

    memset(&found, 0xee, sizeof found);
    assert_true(record_open(&reader, &base, record));
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

TEST(cells_come_back)
{
    petal_table table = {.id = 300};
    petal_family family = {.table = &table, .id = 2};
    struct write_cell cells[CELLS];
    petal_slice plain, with_ttls;

    make_cells(cells, &family);
    plain = encode(cells);
    expect_cells(plain, cells);
    give_ttls(cells);
    with_ttls = encode(cells);
    expect_cells(with_ttls, cells);
    /* Of 60000, -1, 0 and the two ends of the range. */
    assert_int_equal(with_ttls.size, plain.size + 3 + 1 + 1 + 10 + 10);
    cells[2].cell.has_ttl = false;
    cells[2].cell.ttl_ms = 0;
    free((void *)(uintptr_t)with_ttls.data);
    with_ttls = encode(cells);
    expect_cells(with_ttls, cells);
    free((void *)(uintptr_t)with_ttls.data);
    free((void *)(uintptr_t)plain.data);
}

static struct write_cell
example_cell(petal_family *family, int64_t timestamp, uint64_t sequence, const char *value)
{
    struct write_cell write = {.family = family, .assigned = true};

    write.cell = (struct cell){.row = slice_from_text("r"),
                               .qualifier = slice_from_text("q"),
                               .value = slice_from_text(value),
                               .timestamp = timestamp,
                               .sequence = sequence,
                               .type = PETAL_PUT};
    return write;
}

static void
expect_bytes(struct record_base *base, const struct write_cell *cells, size_t count,
             const uint8_t *expected, size_t size)
{
    uint8_t bytes[64];

    assert_true(size <= sizeof bytes);
    assert_int_equal(record_size(base, cells, count), size);
    record_encode(bytes, base, cells, count);
    assert_memory_equal(bytes, expected, size);
}

/* The examples of engine/FORMAT.md. */
TEST(bytes_are_those_of_the_examples)
{
    static const uint8_t first[] = {0x03, 0x09, 0xc2, 0x01, 0x00, 0xd0, 0x0f, 0xc0,
                                    0xa9, 0x07, 0x01, 'r',  0x01, 'q',  0x01, 'v'};
    static const uint8_t second[] = {0x02, 0x9a, 0x01, 'r', 0x01, 'q', 0x01, 'w'};
    static const uint8_t third[] = {0x04, 0x8a, 0x04, 0x01, 'r', 0x01, 'q',
                                    0x01, 'x',  0xba, 0x01, 'q', 0x01, 'y'};
    petal_table table = {.id = 1};
    petal_family family = {.table = &table, .id = 0};
    struct write_cell write = example_cell(&family, 1000, 9, "v"), pair[2];
    struct record_base base = {0};

    write.cell.has_ttl = true;
    write.cell.ttl_ms = 60000;
    expect_bytes(&base, &write, 1, first, sizeof first);
    write = example_cell(&family, 1000, 10, "w");
    expect_bytes(&base, &write, 1, second, sizeof second);
    pair[0] = example_cell(&family, 1002, 11, "x");
    pair[1] = example_cell(&family, 1002, 12, "y");
    expect_bytes(&base, pair, 2, third, sizeof third);
}

/* Records as a log has them: sequences left out, families that change, times that go back. */
TEST(records_build_upon_each_other)
{
    enum { RECORDS = 300 };
    petal_table tables[2] = {{.id = 1}, {.id = 70000}};
    petal_family families[3] = {{.table = &tables[0], .id = 1},
                                {.table = &tables[0], .id = 300},
                                {.table = &tables[1], .id = 1}};
    struct record_base writing = {0}, reading = {0};
    struct test_random random;
    uint64_t sequence = 0;

    test_random_init(&random, test_seed());
    for (size_t i = 0; i < RECORDS; i++) {
        struct write_cell cells[3];
        size_t count = 1 + test_random_below(&random, 3), size;
        struct record_reader reader;
        struct record_cell found;
        uint8_t *bytes;

        sequence += test_random_chance(&random, 20) ? test_random_below(&random, 1000) : 0;
        for (size_t k = 0; k < count; k++) {
            int64_t timestamp = test_random_chance(&random, 10) ? INT64_MAX
                                : test_random_chance(&random, 10)
                                    ? (int64_t)test_random_below(&random, 3)
                                    : 1700000000000 + (int64_t)i;

            cells[k] = example_cell(&families[test_random_below(&random, 3)], timestamp, ++sequence,
                                    "value");
            if (test_random_chance(&random, 50))
                cells[k].cell.row = slice_from_text("another row");
            cells[k].assigned = test_random_chance(&random, 50);
            cells[k].resolved = test_random_chance(&random, 30);
            cells[k].ahead = cells[k].resolved && test_random_chance(&random, 50);
        }
        if (test_random_chance(&random, 5)) /* as after what was taken back */
            writing = (struct record_base){0};
        size = record_size(&writing, cells, count);
        bytes = test_allocate(size);
        record_encode(bytes, &writing, cells, count);
        assert_true(record_open(&reader, &reading, slice_make(bytes, size)));
        assert_int_equal(reader.remaining, count);
        for (size_t k = 0; k < count; k++) {
            assert_true(record_next(&reader, &found));
            assert_int_equal(cell_compare(&found.cell, &cells[k].cell), 0);
            assert_int_equal(found.table_id, cells[k].family->table->id);
            assert_int_equal(found.family_id, cells[k].family->id);
            assert_int_equal(found.assigned, cells[k].assigned && !cells[k].resolved);
            assert_int_equal(found.ahead, cells[k].ahead);
        }
        assert_true(record_at_end(&reader));
        assert_int_equal(reading.next_sequence, sequence + 1);
        free(bytes);
    }
}

/* Nothing is taken from a record before the first: what would build upon it is malformed. */
TEST(the_first_record_states_what_it_is)
{
    static const uint8_t no_sequence[] = {0x02, 0x82, 0x01, 0x00, 0x02, 0x01, 'r', 0, 0};
    static const uint8_t no_family[] = {0x03, 0x09, 0x8a, 0x02, 0x01, 'r', 0, 0};
    static const uint8_t no_row[] = {0x03, 0x09, 0xa2, 0x01, 0x00, 0x02, 0, 0, 0};
    struct record_reader reader;
    struct record_base base = {0};
    struct record_cell cell;

    assert_false(record_open(&reader, &base, slice_make(no_sequence, sizeof no_sequence)));
    assert_true(record_open(&reader, &base, slice_make(no_family, sizeof no_family)));
    assert_false(record_next(&reader, &cell));
    assert_true(record_open(&reader, &base, slice_make(no_row, sizeof no_row)));
    assert_false(record_next(&reader, &cell));
}

/* Who writes next counts on from the greatest sequence: not to 0. */
TEST(sequences_do_not_come_near_their_end)
{
    uint8_t bytes[20] = {0x03};
    const uint8_t cell[] = {0x82, 0x01, 0x00, 0x02, 0x01, 'r', 0, 0};

    for (uint64_t below = 0; below < 4; below++) {
        struct record_reader reader;
        struct record_base base = {0};
        uint8_t *end = put_varint64(bytes + 1, CELL_SEQUENCE_END - below);

        memcpy(end, cell, sizeof cell);
        assert_int_equal(
            record_open(&reader, &base, slice_make(bytes, (size_t)(end - bytes) + sizeof cell)),
            below > 1);
    }
}

static void
read_carelessly(const uint8_t *bytes, size_t size)
{
    struct record_base base = {0};
    struct record_reader reader;
    struct record_cell cell;

    if (!record_open(&reader, &base, slice_make(bytes, size)))
        return;
    while (reader.remaining > 0 && record_next(&reader, &cell)) {
        assert_true(cell_type_valid(cell.cell.type));
        assert_true(slice_bytes(cell.cell.value) + cell.cell.value.size <= bytes + size);
        assert_true(cell.cell.has_ttl || cell.cell.ttl_ms == 0);
    }
}

/* In memory of exactly the size, so that AddressSanitizer sees a step beyond. */
TEST(damage_is_read_in_bounds)
{
    petal_table table = {.id = 300};
    petal_family family = {.table = &table, .id = 2};
    struct write_cell cells[CELLS];
    petal_slice record;

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
