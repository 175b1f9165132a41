/*
 * data_block.c -- any bytes as a data block, as they are and as a packed one: refused, or iterated
 * and searched, where each way finds what a walk over the cells gives; and a block that is built of
 * these cells, packed and unpacked, has the same.
 */
#include "sstable/block/data_block.h"
#include "tests/fuzz/target.h"

#define MOST_CELLS 200 /* of blocks that are looked at from all sides */

struct cells {
    struct cell cells[MOST_CELLS + 1];
    size_t count;
};

static petal_slice
copy(petal_slice bytes)
{
    uint8_t *to = bytes.size > 0 ? malloc(bytes.size) : NULL;

    fuzz_must(to != NULL || bytes.size == 0);
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
    return slice_make(to, bytes.size);
}

static void
keep(struct cells *cells, const struct cell *cell)
{
    struct cell *kept = &cells->cells[cells->count];

    *kept = *cell;
    kept->row = copy(cell->row);
    kept->qualifier = copy(cell->qualifier);
    fuzz_must(cells->count == 0 || cell_compare(kept - 1, kept) < 0);
    cells->count++;
}

static void
forget(struct cells *cells)
{
    while (cells->count > 0) {
        const struct cell *cell = &cells->cells[--cells->count];

        free((void *)(uintptr_t)cell->row.data);
        free((void *)(uintptr_t)cell->qualifier.data);
    }
}

static void
expect_same(const struct cell *a, const struct cell *b)
{
    fuzz_must(cell_compare(a, b) == 0 && a->type == b->type && slice_equal(a->value, b->value) &&
              a->has_ttl == b->has_ttl && (!a->has_ttl || a->ttl_ms == b->ttl_ms));
}

/* Seek to the place of a cell, and to places beside it. */
static void
seek_around(struct data_block_cursor *seeker, const struct cells *cells, size_t at)
{
    const struct cell *cell = &cells->cells[at];
    uint8_t *buffer = malloc(cell_key_bound(cell->row.size, cell->qualifier.size));

    fuzz_must(buffer != NULL);
    for (unsigned beside = 0; beside < 4; beside++) {
        struct cell_key key;
        struct cell found;
        size_t first = 0;
        bool cut = beside == 1 && cell->row.size > 1;

        cell_key_make(&key, buffer, slice_make(cell->row.data, cell->row.size - cut),
                      cell->qualifier, beside == 2 || cell_is_family_marker(cell->type),
                      cell->timestamp, cell->sequence + (beside == 3));
        while (first < cells->count && cell_compare_key(&cells->cells[first], &key) < 0)
            first++;
        if (data_block_cursor_seek(seeker, &key, &found)) {
            fuzz_must(first < cells->count);
            expect_same(&found, &cells->cells[first]);
            if (data_block_cursor_next(seeker, &found))
                expect_same(&found, &cells->cells[first + 1]);
        } else {
            fuzz_must(first == cells->count);
        }
        if (data_block_cursor_seek_before(seeker, &key, &found)) {
            fuzz_must(first > 0);
            expect_same(&found, &cells->cells[first - 1]);
            if (data_block_cursor_next(seeker, &found))
                expect_same(&found, &cells->cells[first]);
        } else {
            fuzz_must(first == 0);
        }
    }
    free(buffer);
}

static bool
same_column(const struct cell *a, const struct cell *b)
{
    return slice_equal(a->row, b->row) && slice_equal(a->qualifier, b->qualifier);
}

/* The column's newest put, asked for without a cursor. */
static void
find_put(const struct data_block *block, const struct cells *cells, size_t at)
{
    const struct cell *cell = &cells->cells[at];
    struct data_block_column column = {cell->row, cell->qualifier, UINT64_MAX};
    struct data_block_put put, located;
    enum data_block_answer answer, again;
    uint32_t place;

    if (cell_is_family_marker(cell->type))
        return;
    answer = data_block_find_put(block->bytes, block->size, &column, true, &put);
    place = data_block_locate_put(block->bytes, block->size, &column);
    again = data_block_take_put(block->bytes, block->size, place, &column, true, &located);
    fuzz_must(answer == again && answer != DATA_BLOCK_LACKS);
    if (answer == DATA_BLOCK_UNTOLD)
        return;
    fuzz_must(slice_equal(put.value, located.value) && put.timestamp == located.timestamp);
    while (at > 0 && same_column(&cells->cells[at - 1], cell))
        at--;
    fuzz_must(slice_equal(put.value, cells->cells[at].value) &&
              put.timestamp == cells->cells[at].timestamp &&
              put.sequence == cells->cells[at].sequence);
}

/* The same of all columns of a row; `at` is its first cell. */
static void
find_row(const struct data_block *block, const struct cells *cells, size_t at)
{
    petal_slice row = cells->cells[at].row, prefix, rest;
    struct data_block_run run;
    struct data_block_put put;

    if (data_block_find_row(block->bytes, block->size, row, UINT64_MAX, true, &run) !=
        DATA_BLOCK_HAS)
        return;
    while (data_block_run_next(&run, &put, &prefix, &rest)) {
        const struct cell *cell = &cells->cells[at];

        fuzz_must(at < cells->count && slice_equal(cell->row, row));
        fuzz_must(cell->qualifier.size == prefix.size + rest.size);
        /* An empty qualifier may have no address to count from. */
        fuzz_must(
            cell->qualifier.size == 0 ||
            (slice_equal(slice_make(cell->qualifier.data, prefix.size), prefix) &&
             slice_equal(slice_make(slice_bytes(cell->qualifier) + prefix.size, rest.size), rest)));
        fuzz_must(slice_equal(put.value, cell->value) && put.timestamp == cell->timestamp);
        do {
            at++;
        } while (at < cells->count && same_column(&cells->cells[at], cell));
    }
    fuzz_must(run.too_many || at == cells->count || !slice_equal(cells->cells[at].row, row));
}

/* ONE_VERSION is believed: from a block that lies a search takes what the lie says. */
static bool
is_honest(const struct data_block *block, const struct cells *cells)
{
    for (size_t at = 1; at < cells->count; at++) {
        if ((block->flags & DATA_BLOCK_ONE_VERSION) != 0 &&
            same_column(&cells->cells[at - 1], &cells->cells[at]))
            return false;
    }
    return true;
}

static void
go_back(struct data_block_cursor *cursor, const struct cells *cells)
{
    struct cell cell;

    data_block_cursor_last(cursor, &cell);
    expect_same(&cell, &cells->cells[cells->count - 1]);
    for (size_t at = cells->count - 1; at > 0;) {
        size_t back = at > 2 && at % 3 == 0 ? 2 : 1;

        data_block_cursor_back(cursor, back, &cell);
        at -= back;
        expect_same(&cell, &cells->cells[at]);
    }
}

/* False: it is malformed, or has more cells than are looked at. */
static bool
read_block(const uint8_t *bytes, size_t size, struct cells *cells)
{
    struct data_block block;
    struct data_block_cursor walker, seeker;
    struct cell cell;
    bool whole = true, honest;

    cells->count = 0;
    if (!data_block_check(&block, bytes, size))
        return false;
    data_block_cursor_init(&walker, &mem_default_allocator);
    data_block_cursor_init(&seeker, &mem_default_allocator);
    fuzz_must(data_block_cursor_attach(&walker, bytes, size) == PETAL_OK &&
              data_block_cursor_attach(&seeker, bytes, size) == PETAL_OK);
    data_block_cursor_first(&walker, &cell);
    do {
        fuzz_touch_cell(&cell);
        if (cells->count == MOST_CELLS)
            whole = false;
        else
            keep(cells, &cell);
    } while (data_block_cursor_next(&walker, &cell));
    fuzz_must(!whole || cells->count == block.cells);
    honest = is_honest(&block, cells);
    for (size_t at = 0; whole && at < cells->count; at++) {
        seek_around(&seeker, cells, at);
        if (!honest)
            continue;
        find_put(&block, cells, at);
        if (at == 0 || !slice_equal(cells->cells[at].row, cells->cells[at - 1].row))
            find_row(&block, cells, at);
    }
    if (whole)
        go_back(&walker, cells);
    data_block_cursor_fini(&walker);
    data_block_cursor_fini(&seeker);
    return whole;
}

static void
pack_and_unpack(petal_slice built)
{
    size_t room = data_block_pack_bound(built.size), packed_bytes, text_bytes;
    uint8_t *packed = malloc(room), *text = malloc(room), *bytes = malloc(built.size);

    fuzz_must(packed != NULL && text != NULL && bytes != NULL);
    packed_bytes = data_block_pack(built.data, built.size, packed, text, &text_bytes);
    fuzz_must(packed_bytes <= room && text_bytes <= built.size);
    memcpy(bytes + built.size - text_bytes, text, text_bytes);
    fuzz_must(data_block_unpack(bytes, built.size, text_bytes, slice_make(packed, packed_bytes)));
    fuzz_must(memcmp(bytes, built.data, built.size) == 0);
    free(bytes);
    free(text);
    free(packed);
}

static void
build_again(const struct cells *cells)
{
    static struct cells again;
    struct data_block_builder builder;
    petal_slice bytes;

    data_block_builder_init(&builder, &mem_default_allocator);
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->cells[i].row.size > PETAL_MAX_ROW_BYTES || cells->cells[i].row.size == 0 ||
            cells->cells[i].qualifier.size > PETAL_MAX_QUALIFIER_BYTES ||
            (cell_is_marker(cells->cells[i].type) && cells->cells[i].value.size > 0))
            break; /* more than a store takes */
        fuzz_must(data_block_builder_add(&builder, &cells->cells[i]) == PETAL_OK);
    }
    if (data_block_builder_cells(&builder) > 0) {
        fuzz_must(data_block_builder_finish(&builder, false, &bytes) == PETAL_OK);
        fuzz_must(read_block(bytes.data, bytes.size, &again));
        fuzz_must(again.count == data_block_builder_cells(&builder));
        for (size_t i = 0; i < again.count; i++)
            expect_same(&again.cells[i], &cells->cells[i]);
        pack_and_unpack(bytes);
        forget(&again);
    }
    data_block_builder_fini(&builder);
}

static void
look_at(const uint8_t *bytes, size_t size)
{
    static struct cells cells;

    if (read_block(bytes, size, &cells))
        build_again(&cells);
    forget(&cells);
}

/* 2 bytes each: how much larger the block is than its text, and how much of the input is the text;
 * then the text and the packed numbers. */
static void
look_at_packed(const uint8_t *input, size_t size)
{
    size_t more, text_bytes, block_bytes;
    uint8_t *bytes;

    if (size < 4)
        return;
    more = get_le16(input);
    text_bytes = get_le16(input + 2);
    input += 4;
    size -= 4;
    if (text_bytes > size)
        return;
    block_bytes = text_bytes + more;
    bytes = malloc(block_bytes + 1);
    fuzz_must(bytes != NULL);
    memcpy(bytes + more, input, text_bytes);
    if (data_block_unpack(bytes, block_bytes, text_bytes,
                          slice_make(input + text_bytes, size - text_bytes)))
        look_at(bytes, block_bytes);
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    look_at(input, size);
    look_at_packed(input, size);
    return 0;
}
