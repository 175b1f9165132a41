/*
 * data_block_test.c -- data blocks against a sorted set of cells: everything put in comes out,
 * seeks find what a walk finds, facts hold, bytes do not drift.
 */
#include "base/checksum.h"
#include "sstable/block/data_block.h"
#include "tests/support/cell_set.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

/* The block in memory of exactly its size. */
static petal_slice
build(const struct cell_set *set)
{
    struct data_block_builder builder;
    petal_slice bytes;
    uint8_t *copy;
    size_t bound;

    data_block_builder_init(&builder, &mem_default_allocator);
    assert_int_equal(data_block_builder_bytes(&builder), 0);
    for (size_t i = 0; i < set->count; i++)
        assert_int_equal(data_block_builder_add(&builder, &set->cells[i]), PETAL_OK);
    assert_int_equal(data_block_builder_cells(&builder), set->count);
    bound = data_block_builder_bytes(&builder);
    assert_int_equal(data_block_builder_finish(&builder, false, &bytes), PETAL_OK);
    assert_in_range(bytes.size, bound - bound / 10 - 2 * set->count, bound);
    copy = test_allocate(bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    data_block_builder_fini(&builder);
    return slice_make(copy, bytes.size);
}

static void
assert_slice_equal(petal_slice got, petal_slice want)
{
    assert_int_equal(got.size, want.size);
    if (want.size > 0)
        assert_memory_equal(got.data, want.data, want.size);
}

static void
assert_cell_equal(const struct cell *got, const struct cell *want)
{
    assert_slice_equal(got->row, want->row);
    assert_slice_equal(got->qualifier, want->qualifier);
    assert_slice_equal(got->value, want->value);
    assert_true(got->timestamp == want->timestamp);
    assert_true(got->sequence == want->sequence);
    assert_int_equal(got->type, want->type);
    assert_int_equal(got->has_ttl, want->has_ttl);
    assert_true(got->ttl_ms == want->ttl_ms);
}

/* From the model's cell `from` on the cursor, which has just given *cell, gives all that follow. */
static void
assert_follows(struct data_block_cursor *cursor, struct cell *cell, const struct cell_set *set,
               size_t from, size_t limit)
{
    for (size_t i = from; i < set->count; i++) {
        assert_cell_equal(cell, &set->cells[i]);
        if (i - from == limit)
            return;
        assert_int_equal(data_block_cursor_next(cursor, cell), i + 1 < set->count);
    }
}

static void
seek_and_compare(struct data_block_cursor *cursor, const struct cell_set *set, petal_slice row,
                 petal_slice qualifier, bool family, int64_t timestamp, uint64_t sequence)
{
    uint8_t *buffer;
    struct cell_key key;
    struct cell cell = {.has_ttl = true, .ttl_ms = 77}; /* as another block may have left it */
    size_t want = 0;
    bool found;

    if (row.size == 0)
        return;
    buffer = test_allocate(cell_key_bound(row.size, qualifier.size));
    cell_key_make(&key, buffer, row, qualifier, family, timestamp, sequence);
    while (want < set->count && cell_compare_key(&set->cells[want], &key) < 0)
        want++;
    found = data_block_cursor_seek(cursor, &key, &cell);
    assert_int_equal(found, want < set->count);
    if (found)
        assert_follows(cursor, &cell, set, want, 2);
    found = data_block_cursor_seek_before(cursor, &key, &cell);
    assert_int_equal(found, want > 0);
    if (found)
        assert_follows(cursor, &cell, set, want - 1, 3);
    free(buffer);
}

/* Seek to places at and around a cell's. */
static void
seek_around(struct data_block_cursor *cursor, const struct cell_set *set, const struct cell *cell,
            struct test_random *random)
{
    bool family = cell_is_family_marker(cell->type);
    petal_slice row = cell->row, qualifier = cell->qualifier;
    uint8_t longer_row[1024], longer_qualifier[1024];
    uint8_t last = (uint8_t)test_random_below(random, 2);
    petal_slice row_after, qualifier_after;

    assert_true(row.size < sizeof longer_row && qualifier.size < sizeof longer_qualifier);
    memcpy(longer_row, row.data, row.size);
    longer_row[row.size] = last;
    row_after = slice_make(longer_row, row.size + 1);
    if (qualifier.size > 0)
        memcpy(longer_qualifier, qualifier.data, qualifier.size);
    longer_qualifier[qualifier.size] = last;
    qualifier_after = slice_make(longer_qualifier, qualifier.size + 1);

    for (int shift = -1; shift <= 1; shift++) {
        uint64_t time = (uint64_t)cell->timestamp + (uint64_t)(int64_t)shift;

        seek_and_compare(cursor, set, row, qualifier, family, cell->timestamp,
                         cell->sequence + (uint64_t)(int64_t)shift);
        seek_and_compare(cursor, set, row, qualifier, family, (int64_t)time, cell->sequence);
    }
    seek_and_compare(cursor, set, row, qualifier, !family, cell->timestamp, cell->sequence);
    seek_and_compare(cursor, set, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    seek_and_compare(cursor, set, row, slice_make(NULL, 0), true, INT64_MIN, 0);
    seek_and_compare(cursor, set, row, slice_make(NULL, 0), false, INT64_MAX, CELL_SEQUENCE_MAX);
    seek_and_compare(cursor, set, row, slice_from_text("\xff\xff\xff\xff\xff\xff"), false, 0, 0);
    seek_and_compare(cursor, set, row, qualifier, false, INT64_MAX, CELL_SEQUENCE_MAX);
    seek_and_compare(cursor, set, row, qualifier, false, INT64_MIN, 0);
    seek_and_compare(cursor, set, row, qualifier_after, false, INT64_MAX, CELL_SEQUENCE_MAX);
    if (qualifier.size > 0)
        seek_and_compare(cursor, set, row, slice_make(qualifier.data, qualifier.size - 1), false, 0,
                         0);
    seek_and_compare(cursor, set, row_after, qualifier, false, INT64_MAX, CELL_SEQUENCE_MAX);
    seek_and_compare(cursor, set, slice_make(row.data, row.size - 1), qualifier, false, 0, 0);
    longer_row[test_random_below(random, row.size)] ^=
        (uint8_t)(1u << test_random_below(random, 8));
    seek_and_compare(cursor, set, slice_make(longer_row, row.size), qualifier, family, 0, 0);
}

static void
assert_facts(const struct data_block *block, const struct cell_set *set)
{
    bool markers = false, ttls = false, repeats = false;

    for (size_t i = 0; i < set->count; i++) {
        const struct cell *cell = &set->cells[i];

        assert_true(cell->sequence <= block->sequence_max && cell->sequence >= block->sequence_min);
        assert_true(cell->timestamp <= block->timestamp_max &&
                    cell->timestamp >= block->timestamp_min);
        markers |= cell_is_marker(cell->type);
        ttls |= cell->has_ttl;
        repeats |= i > 0 && slice_equal(cell->row, cell[-1].row) &&
                   slice_equal(cell->qualifier, cell[-1].qualifier) &&
                   !cell_is_family_marker(cell[-1].type);
    }
    assert_int_equal((block->flags & DATA_BLOCK_ONE_VERSION) != 0, !repeats);
    assert_int_equal((block->flags & DATA_BLOCK_HAS_TYPES) != 0, markers || ttls);
    assert_int_equal(data_block_is_plain(block), !markers && !ttls && !repeats);
    assert_int_equal(block->cells, set->count);
}

/* From the model's cell `from`, which the cursor has just given, on: runs of any lengths, steps
 * between them. */
static void
assert_runs_follow(struct data_block_cursor *cursor, struct cell *cell, const struct cell_set *set,
                   size_t from, struct test_random *random)
{
    static petal_cell cells[40];
    static uint8_t keys[8000];

    for (bool more = true; more;) {
        struct cell_run run = {
            .family = slice_from_text("family"),
            .cells = cells,
            .most = (size_t)test_random_below(random, 40) + 1,
            .keys = keys,
            .key_bytes = (size_t)test_random_below(random, sizeof keys),
        };
        size_t changes = 0, count = data_block_cursor_run(cursor, &run, cell);

        assert_true(count <= run.most);
        for (size_t i = 0; i < count; i++) {
            const struct cell *want = &set->cells[from + i];

            assert_slice_equal(cells[i].family, run.family);
            assert_slice_equal(cells[i].row, want->row);
            assert_slice_equal(cells[i].qualifier, want->qualifier);
            assert_slice_equal(cells[i].value, want->value);
            assert_true(cells[i].timestamp == want->timestamp && cells[i].type == PETAL_PUT &&
                        !cells[i].has_ttl && cells[i].ttl_ms == 0);
            changes += i > 0 && !slice_equal(want->row, want[-1].row);
        }
        if (count > 0)
            assert_int_equal(run.row_changes, changes);
        from += count > 0 ? count - 1 : 0;
        assert_cell_equal(cell, &set->cells[from]);
        more = data_block_cursor_next(cursor, cell);
        assert_int_equal(more, ++from < set->count);
    }
}

static void
compare_runs(struct data_block_cursor *cursor, const struct cell_set *set,
             struct test_random *random)
{
    const struct cell *last = &set->cells[set->count - 1];
    uint8_t row[1024];
    struct cell cell;

    memcpy(row, last->row.data, last->row.size);
    row[last->row.size] = 0;
    assert_false(data_block_ends_before(&cursor->block, last->row));
    assert_false(data_block_ends_before(&cursor->block, set->cells[0].row));
    assert_true(data_block_ends_before(&cursor->block, slice_make(row, last->row.size + 1)));
    if (!data_block_is_plain(&cursor->block))
        return;
    for (int round = 0; round < 4; round++) {
        data_block_cursor_first(cursor, &cell);
        assert_runs_follow(cursor, &cell, set, 0, random);
    }
}

static void
compare_block(petal_slice bytes, const struct cell_set *set, struct test_random *random)
{
    struct data_block block;
    struct data_block_cursor cursor;
    struct cell cell = {.has_ttl = true, .ttl_ms = 77}; /* as another block may have left it */

    assert_true(data_block_check(&block, bytes.data, bytes.size));
    assert_facts(&block, set);
    data_block_cursor_init(&cursor, &mem_default_allocator);
    assert_int_equal(data_block_cursor_attach(&cursor, bytes.data, bytes.size), PETAL_OK);
    data_block_cursor_first(&cursor, &cell);
    assert_follows(&cursor, &cell, set, 0, set->count);
    for (size_t i = 0; i < set->count; i++)
        seek_around(&cursor, set, &set->cells[i], random);
    data_block_cursor_last(&cursor, &cell);
    assert_follows(&cursor, &cell, set, set->count - 1, 1);
    compare_runs(&cursor, set, random);
    data_block_cursor_fini(&cursor);
}

TEST(random_cells_come_back_and_are_found)
{
    struct test_random random;
    unsigned rounds = test_long() ? 600 : 12;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < CELL_LOOKS; i++) {
            struct cell_set set;
            petal_slice bytes;

            cell_set_random(&set, &random, &cell_looks[i]);
            bytes = build(&set);
            compare_block(bytes, &set, &random);
            free((void *)(uintptr_t)bytes.data);
            cell_set_free(&set);
        }
    }
}

/* Pack the block and unpack it again; return what it takes, before LZ4. */
static size_t
packed_and_back(petal_slice made)
{
    uint8_t *packed = test_allocate(data_block_pack_bound(made.size));
    uint8_t *text = test_allocate(data_block_pack_bound(made.size));
    uint8_t *bytes = test_allocate(made.size);
    size_t text_bytes, size;

    size = data_block_pack(slice_bytes(made), made.size, packed, text, &text_bytes);
    assert_true(text_bytes < made.size);
    memcpy(bytes + made.size - text_bytes, text, text_bytes);
    assert_true(data_block_unpack(bytes, made.size, text_bytes, slice_make(packed, size)));
    assert_memory_equal(bytes, made.data, made.size);
    free(bytes);
    free(text);
    free(packed);
    return size + text_bytes;
}

TEST(a_packed_block_unpacks)
{
    struct test_random random;
    unsigned rounds = test_long() ? 300 : 6;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < CELL_LOOKS; i++) {
            struct cell_set set;
            petal_slice made;

            cell_set_random(&set, &random, &cell_looks[i]);
            made = build(&set);
            packed_and_back(made);
            free((void *)(uintptr_t)made.data);
            cell_set_free(&set);
        }
    }
}

TEST(rows_of_few_symbols_take_four_bits_a_symbol)
{
    /* d: a digit of the row's number, most significant first. */
    static const struct {
        const char *row;
        unsigned base, rows;
        size_t most; /* bytes a row takes, packed */
    } looks[] = {
        {"dddd", 10, 200, 4},
        {"user-dddddddddddd", 10, 200, 8},
        {"dddddddd-dddd-dddd-dddd-dddddddddddd", 16, 100, 19},
        {"dddd", 16, 4, 12},
        {"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", 16, 65, 37},
    };
    struct test_random random;

    test_random_init(&random, test_seed());
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        struct cell_set set = {0};
        petal_slice made;
        size_t taken;

        for (unsigned k = 0; k < looks[i].rows; k++) {
            char row[80];
            size_t digits = 0;

            strcpy(row, looks[i].row);
            for (char *at = row; *at != 0; at++) {
                unsigned base = looks[i].base, digit = k;

                if (*at != 'd')
                    continue;
                if (digits < 4) /* which count up, so that rows ascend */
                    for (size_t later = digits; later < 3; later++)
                        digit /= base;
                else
                    digit = (unsigned)test_random_below(&random, base);
                *at = "0123456789abcdef"[digit % base];
                digits++;
            }
            cell_set_add_text(&set, row, "", "v", 7, 1, PETAL_PUT);
        }
        made = build(&set);
        taken = packed_and_back(made);
        assert_in_range(taken, DATA_BLOCK_HEADER_BYTES,
                        DATA_BLOCK_HEADER_BYTES + 60 + looks[i].rows * looks[i].most);
        free((void *)(uintptr_t)made.data);
        cell_set_free(&set);
    }
}

/* The example of FORMAT.md. */
TEST(packed_bytes_are_as_described)
{
    static const uint8_t numbers[] = "\x03"
                                     "a\x03"
                                     "\x05"
                                     "-"
                                     "\x0a\x00\x00"
                                     "\x00\x90\x49\x04\x43"
                                     "\x04\x00\x01\x01"
                                     "\xd0\x0f";
    struct cell_set set = {0};
    uint8_t packed[1000], text[1000];
    petal_slice made;
    size_t text_bytes, size;

    cell_set_add_text(&set, "pa-b", "", "x", 32, 1, PETAL_PUT);
    cell_set_add_text(&set, "pa-c", "", "x", 644, 1, PETAL_PUT);
    cell_set_add_text(&set, "pb-a", "", "x", 100, 1, PETAL_PUT);
    cell_set_add_text(&set, "pc-a", "", "x", 300, 1, PETAL_PUT);
    made = build(&set);
    size = data_block_pack(slice_bytes(made), made.size, packed, text, &text_bytes);
    assert_int_equal(text_bytes, DATA_BLOCK_HEADER_BYTES + 5);
    assert_memory_equal(text, made.data, DATA_BLOCK_HEADER_BYTES);
    assert_memory_equal(text + DATA_BLOCK_HEADER_BYTES, "pxxxx", 5);
    assert_int_equal(size, sizeof numbers - 1);
    assert_memory_equal(packed, numbers, size);
    free((void *)(uintptr_t)made.data);
    cell_set_free(&set);
}

/* Rows that end within the head, beside others that go on with the zeros it is filled with. */
TEST(rows_that_differ_by_zeros_behind_their_end_are_told_apart)
{
    struct test_random random;

    test_random_init(&random, 3);
    for (unsigned prefix = 0; prefix < 2; prefix++) {
        struct cell_set set = {0};
        petal_slice made;

        for (size_t letters = 1 - prefix; letters < 6; letters++) {
            for (size_t zeros = 0; zeros < 7; zeros++) {
                uint8_t row[16] = "pabcdef";

                memset(row + prefix + letters, 0, zeros);
                cell_set_add(&set,
                             slice_make(row + 1 - prefix, prefix + letters + zeros - (prefix == 0)),
                             slice_make("", 0), slice_make("v", 1), 5, 1 + zeros, PETAL_PUT);
            }
        }
        for (size_t i = 0; i < set.count; i++) {
            if (set.cells[i].row.size == 0)
                set.cells[i--] = set.cells[--set.count];
        }
        cell_set_sort(&set);
        assert_true(set.count > 30);
        made = build(&set);
        compare_block(made, &set, &random);
        free((void *)(uintptr_t)made.data);
        cell_set_free(&set);
    }
}

/* ---- named cases ---- */

TEST(a_block_of_one_huge_cell)
{
    uint8_t *row = test_allocate(PETAL_MAX_ROW_BYTES);
    uint8_t *qualifier = test_allocate(PETAL_MAX_QUALIFIER_BYTES);
    uint8_t *value = test_allocate(PETAL_MAX_VALUE_BYTES);
    struct cell_set set = {0};
    struct test_random random;
    petal_slice bytes;

    test_random_init(&random, 1);
    test_random_bytes(&random, row, PETAL_MAX_ROW_BYTES);
    test_random_bytes(&random, qualifier, PETAL_MAX_QUALIFIER_BYTES);
    test_random_bytes(&random, value, PETAL_MAX_VALUE_BYTES);
    for (int other = 0; other < 2; other++) {
        struct data_block block;
        struct data_block_cursor cursor;
        struct cell cell;

        /* The second time with a small neighbour, so that nothing of the keys is prefix. */
        if (other)
            cell_set_add_text(&set, "\x01", "", "v", 1, 1, PETAL_PUT);
        row[0] = 2;
        cell_set_add(&set, slice_make(row, PETAL_MAX_ROW_BYTES),
                     slice_make(qualifier, PETAL_MAX_QUALIFIER_BYTES),
                     slice_make(value, PETAL_MAX_VALUE_BYTES), INT64_MIN, UINT64_MAX, PETAL_PUT);
        bytes = build(&set);
        assert_true(data_block_check(&block, bytes.data, bytes.size));
        data_block_cursor_init(&cursor, &mem_default_allocator);
        assert_int_equal(data_block_cursor_attach(&cursor, bytes.data, bytes.size), PETAL_OK);
        data_block_cursor_first(&cursor, &cell);
        assert_follows(&cursor, &cell, &set, 0, 9);
        seek_and_compare(&cursor, &set, set.cells[set.count - 1].row,
                         set.cells[set.count - 1].qualifier, false, INT64_MIN, UINT64_MAX);
        seek_and_compare(&cursor, &set, set.cells[set.count - 1].row,
                         set.cells[set.count - 1].qualifier, false, INT64_MIN, UINT64_MAX - 1);
        data_block_cursor_fini(&cursor);
        free((void *)(uintptr_t)bytes.data);
        cell_set_free(&set);
    }
    free(row);
    free(qualifier);
    free(value);
}

TEST(what_all_cells_share_takes_no_bytes)
{
    struct cell_set set = {0};
    struct data_block block;
    petal_slice bytes;

    for (unsigned i = 0; i < 33; i++) {
        char row[32];
        snprintf(row, sizeof row, "user%012u", i);
        cell_set_add_text(&set, row, "qualifier", "0123456789", 1700000000000, 77, PETAL_PUT);
    }
    bytes = build(&set);
    assert_true(data_block_check(&block, bytes.data, bytes.size));
    /*
     * Prefixes "user0000000000" and "qualifier"; a row takes its head, which holds the 2 bytes of
     * its rest, and the value.
     */
    assert_int_equal(bytes.size, DATA_BLOCK_HEADER_BYTES + 14 + 9 + 33 * (4 + 10));
    assert_int_equal(block.flags, DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_VERSION |
                                      DATA_BLOCK_ONE_QUALIFIER | DATA_BLOCK_FIXED_ROW_REST |
                                      DATA_BLOCK_FIXED_RECORD);
    free((void *)(uintptr_t)bytes.data);
    cell_set_free(&set);
}

static bool
is_plain(struct cell_set *set, bool continues)
{
    struct data_block_builder builder;
    struct data_block block;
    petal_slice bytes;
    bool plain;

    data_block_builder_init(&builder, &mem_default_allocator);
    for (size_t i = 0; i < set->count; i++)
        assert_int_equal(data_block_builder_add(&builder, &set->cells[i]), PETAL_OK);
    assert_int_equal(data_block_builder_finish(&builder, continues, &bytes), PETAL_OK);
    assert_true(data_block_check(&block, bytes.data, bytes.size));
    plain = data_block_is_plain(&block);
    data_block_builder_fini(&builder);
    cell_set_free(set);
    return plain;
}

TEST(plain_means_no_markers_no_ttls_and_no_column_twice)
{
    struct cell_set set = {0};

    cell_set_add_text(&set, "r", "a", "", 5, 1, PETAL_PUT);
    cell_set_add_text(&set, "r", "b", "", 5, 2, PETAL_PUT);
    cell_set_add_text(&set, "s", "b", "", 5, 3, PETAL_PUT);
    assert_true(is_plain(&set, false));
    cell_set_add_text(&set, "r", "a", "", 5, 1, PETAL_PUT);
    assert_false(is_plain(&set, true));
    cell_set_add_text(&set, "r", "a", "", 5, 1, PETAL_PUT);
    cell_set_add_text(&set, "r", "a", "", 4, 2, PETAL_PUT);
    assert_false(is_plain(&set, false));
    cell_set_add_text(&set, "r", "a", "", 5, 1, PETAL_DELETE);
    assert_false(is_plain(&set, false));
    cell_set_add_text(&set, "r", "", "", 5, 1, PETAL_DELETE_FAMILY);
    cell_set_add_text(&set, "r", "", "", 5, 2, PETAL_PUT);
    assert_false(is_plain(&set, false));
    cell_set_add_text(&set, "r", "a", "", 5, 1, PETAL_PUT);
    cell_set_give_ttl(&set, INT64_MAX);
    assert_false(is_plain(&set, false));
}

/* A record that is longer than the others makes the block have offsets: a byte a cell, and the
 * end. */
TEST(records_of_one_length_have_no_offsets)
{
    size_t bytes[2];

    for (unsigned longer = 0; longer < 2; longer++) {
        struct cell_set set = {0};
        struct data_block block;
        petal_slice built;

        for (unsigned i = 0; i < 9; i++) {
            char qualifier[8];

            snprintf(qualifier, sizeof qualifier, "q%u", i);
            cell_set_add_text(&set, "row", qualifier, longer && i == 4 ? "value+" : "value", 5, 1,
                              PETAL_PUT);
        }
        built = build(&set);
        bytes[longer] = built.size;
        assert_true(data_block_check(&block, built.data, built.size));
        assert_int_equal(block.record_bytes, longer ? 0 : 7);
        free((void *)(uintptr_t)built.data);
        cell_set_free(&set);
    }
    assert_int_equal(bytes[1], bytes[0] + 1 + 9 + 1);
}

/* Eight bytes for each cell that has one, a byte a cell where some cell has one, and nothing
 * elsewhere. */
TEST(a_time_to_live_costs_what_it_takes)
{
    size_t bytes[3];

    for (unsigned with = 0; with < 3; with++) {
        struct cell_set set = {0};
        petal_slice built;

        for (unsigned i = 0; i < 9; i++) {
            char row[8];

            snprintf(row, sizeof row, "r%u", i);
            /* One value is longer in any case: so there are record offsets. */
            cell_set_add_text(&set, row, "q", i == 8 ? "vv" : "v", 5, 1, PETAL_PUT);
            if (i < with)
                cell_set_give_ttl(&set, 1000);
        }
        built = build(&set);
        bytes[with] = built.size;
        free((void *)(uintptr_t)built.data);
        cell_set_free(&set);
    }
    assert_int_equal(bytes[1], bytes[0] + 9 + DATA_BLOCK_TTL_BYTES);
    assert_int_equal(bytes[2], bytes[1] + DATA_BLOCK_TTL_BYTES);
}

TEST(a_family_marker_is_no_version_of_the_empty_column)
{
    struct cell_set set = {0};
    struct data_block block;
    petal_slice bytes;

    cell_set_add_text(&set, "r", "", "", 5, 1, PETAL_DELETE_FAMILY);
    cell_set_add_text(&set, "r", "", "value", 5, 2, PETAL_PUT);
    bytes = build(&set);
    assert_true(data_block_check(&block, bytes.data, bytes.size));
    assert_int_equal(block.flags & DATA_BLOCK_ONE_VERSION, DATA_BLOCK_ONE_VERSION);
    free((void *)(uintptr_t)bytes.data);
    cell_set_free(&set);
}

TEST(reset_forgets_and_a_builder_can_go_on)
{
    struct data_block_builder builder;
    struct cell_set set = {0};
    petal_slice first, second;
    uint64_t digest;

    cell_set_add_text(&set, "row1", "a", "x", 5, 1, PETAL_DELETE_COLUMN);
    cell_set_add_text(&set, "row1", "a", "x", 4, 1, PETAL_PUT);
    cell_set_add_text(&set, "row2", "b", "y", 7, 9, PETAL_PUT);
    data_block_builder_init(&builder, &mem_default_allocator);
    assert_int_equal(data_block_builder_add(&builder, &set.cells[2]), PETAL_OK);
    assert_int_equal(data_block_builder_finish(&builder, false, &first), PETAL_OK);
    digest = checksum_at(0, 0, first.data, first.size);
    data_block_builder_reset(&builder);
    for (size_t i = 0; i < set.count; i++)
        assert_int_equal(data_block_builder_add(&builder, &set.cells[i]), PETAL_OK);
    data_block_builder_reset(&builder);
    assert_int_equal(data_block_builder_cells(&builder), 0);
    assert_int_equal(data_block_builder_add(&builder, &set.cells[2]), PETAL_OK);
    assert_int_equal(data_block_builder_finish(&builder, false, &second), PETAL_OK);
    assert_true(checksum_at(0, 0, second.data, second.size) == digest);
    data_block_builder_fini(&builder);
    cell_set_free(&set);
}

/* ---- the format does not drift ---- */

TEST(built_bytes_do_not_change)
{
    static const uint64_t golden[CELL_SMALL_SETS] = {
        0x330c6974818c50c9, 0xe1c7f43cd2db38d5, 0xa2c1e7f3278435d7, 0x58a608e6f60e8fbc,
        0x109154b759b58871, 0x9ffcd526439e689e, 0x849a0d83d46cc80a, 0x19a47ce2891fccd9,
        0x8c27ac81a6374202, 0xe812b157853c2d90};

    for (unsigned which = 0; which < CELL_SMALL_SETS; which++) {
        struct cell_set set = cell_set_small(which);
        petal_slice bytes = build(&set);
        uint64_t digest = checksum_at(0, 0, bytes.data, bytes.size);

        if (digest != golden[which])
            fail_msg("block %u: 0x%016llx", which, (unsigned long long)digest);
        free((void *)(uintptr_t)bytes.data);
        cell_set_free(&set);
    }
}
