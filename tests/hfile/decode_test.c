/*
 * decode_test.c -- payloads of data blocks that lie, decoded: what cells come of them point into
 * the payload, or into the keys that were made whole, and no further.
 */
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/reader/block.h"

#include <stdio.h>
#include <stdlib.h>

static size_t decoded, refused;

/* Its first data block; the bytes are to be freed. */
static petal_slice
first_payload(const petal_hfile *file)
{
    struct hfile_block_reader reader;
    struct hfile_block block;
    uint8_t *bytes;

    hfile_block_reader_init(&reader, file);
    assert_int_equal(hfile_block_read(&reader, file->trailer.first_data_block_offset, 0,
                                      file->trailer.load_on_open_offset, &block, NULL),
                     PETAL_OK);
    bytes = test_allocate(block.payload.size);
    memcpy(bytes, block.payload.data, block.payload.size);
    hfile_block_reader_free(&reader);
    return (petal_slice){bytes, block.payload.size};
}

static bool
is_within(petal_slice part, petal_slice whole)
{
    uintptr_t begin = (uintptr_t)whole.data, at = (uintptr_t)part.data;

    return part.size == 0 ||
           (at >= begin && at - begin <= whole.size && part.size <= whole.size - (at - begin));
}

/* What it is made of. */
static uint64_t
digest_of(const struct hfile_cells *cells)
{
    uint64_t digest = cells->count;

    for (size_t i = 0; i < cells->count; i++) {
        const petal_hfile_cell *cell = &cells->cells[i];
        const petal_slice parts[] = {cell->row, cell->family, cell->qualifier, cell->tags};

        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            for (size_t at = 0; at < parts[k].size; at++)
                digest = digest * 31 + hfile_slice_bytes(parts[k])[at];
        }
    }
    return digest;
}

/* Keys are made in memory that is full of `pattern`: none of it may come into cells. */
static enum petal_status
decode_over(const petal_hfile *file, petal_slice payload, struct hfile_cells *cells, int pattern,
            uint64_t *digest)
{
    enum petal_status status;
    const char *wrong = NULL;

    if (cells->keys.capacity > 0)
        memset(cells->keys.bytes, pattern, cells->keys.capacity);
    status = hfile_decode_cells(file->encoding, &file->layout, payload, cells, &wrong);
    assert_true(status == PETAL_OK || (status == PETAL_CORRUPT && wrong != NULL));
    *digest = status == PETAL_OK ? digest_of(cells) : 0;
    return status;
}

static void
decode(const petal_hfile *file, petal_slice payload, struct hfile_cells *cells)
{
    enum petal_status status;
    uint64_t first, second;
    petal_slice keys;

    status = decode_over(file, payload, cells, 0x55, &first);
    assert_int_equal(decode_over(file, payload, cells, 0xaa, &second), status);
    assert_int_equal(first, second);
    decoded++;
    if (status != PETAL_OK) {
        refused++;
        return;
    }
    keys = hfile_buffer_slice(&cells->keys);
    for (size_t i = 0; i < cells->count; i++) {
        const petal_hfile_cell *cell = &cells->cells[i];
        petal_slice where = keys.size > 0 ? keys : payload;

        assert_true(is_within(cell->row, where));
        assert_true(is_within(cell->family, where));
        assert_true(is_within(cell->qualifier, where));
        assert_true(is_within(cell->value, payload));
        assert_true(is_within(cell->tags, payload) || is_within(cell->tags, keys));
        assert_true(cell->row.size <= PETAL_HFILE_MAX_ROW_BYTES);
        assert_true(cell->type >= 0 && cell->type <= 255);
    }
}

static void
decode_changed(const petal_hfile *file, petal_slice payload, struct hfile_cells *cells)
{
    static const uint8_t values[] = {0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xff, 0x10, 0x08, 0x40};
    size_t step = getenv("PETAL_SHORT") != NULL ? 11 : 2;
    uint8_t *mutant = test_allocate(payload.size);

    for (size_t at = payload.size % step; at < payload.size; at += step) {
        for (size_t k = 0; k < sizeof values; k++) {
            memcpy(mutant, payload.data, payload.size);
            mutant[at] = values[k];
            decode(file, (petal_slice){mutant, payload.size}, cells);
        }
    }
    free(mutant);
}

/* Each in memory of its own size, so that reading after it is noticed. */
static void
decode_shortened(const petal_hfile *file, petal_slice payload, struct hfile_cells *cells)
{
    for (size_t size = 0; size < payload.size; size++) {
        uint8_t *part = test_allocate(size);

        memcpy(part, payload.data, size);
        decode(file, (petal_slice){part, size}, cells);
        free(part);
    }
}

static void
decode_one(const char *name)
{
    struct hfile_cells cells;
    petal_slice payload;
    petal_hfile *file;
    char path[512];

    golden_path(name, path, sizeof path);
    assert_int_equal(petal_hfile_open(path, NULL, &file, NULL), PETAL_OK);
    hfile_cells_init(&cells, &hfile_default_allocator);
    payload = first_payload(file);
    decode(file, payload, &cells);
    assert_true(cells.count > 0);
    decode_changed(file, payload, &cells);
    decode_shortened(file, payload, &cells);
    free((void *)(uintptr_t)payload.data);
    hfile_cells_free(&cells);
    petal_hfile_close(file);
}

TEST(cells_point_into_what_was_given)
{
    static const char *const names[] = {"grid-none-none-nobloom",
                                        "tags-none",
                                        "grid-none-prefix-rowcol-mvcc",
                                        "grid-lz4-prefix-prefix-tags-mvcc",
                                        "grid-none-diff-row-mvcc",
                                        "grid-lz4-diff-rowcol-tags-mvcc",
                                        "grid-none-fastdiff-nobloom",
                                        "tags-fastdiff",
                                        "tags-compressed-fastdiff",
                                        "binary-keys-fastdiff",
                                        "grid-none-rowindexv1-rowcol-tags-mvcc"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        decode_one(names[i]);
    printf("counted: %zu payloads of data blocks decoded, %zu refused\n", decoded, refused);
}

/* A key has no more of the key before than that has. */
TEST(no_key_shares_what_is_not_there)
{
    /* DIFF: the family; a cell of row "r" with an empty qualifier; one of the same row. */
    static const uint8_t first[] = {0, 0, 0, 47, 1, 'f', 0, 14, 0, 0, 0, 1, 'r', 5, 4};
    static const uint8_t second[] = {0, 17, 0, 5, 'a', 'b', 'c', 5, 4};
    const struct hfile_encoding *encoding = hfile_encoding_of(PETAL_HFILE_ENCODING_DIFF);
    const struct hfile_cell_layout layout = {.has_tags = false};
    uint8_t bytes[sizeof first + sizeof second];
    struct hfile_cells cells;
    const char *wrong;

    hfile_cells_init(&cells, &hfile_default_allocator);
    memcpy(bytes, first, sizeof first);
    memcpy(bytes + sizeof first, second, sizeof second);
    assert_int_equal(encoding->decode(&layout, (petal_slice){bytes, sizeof bytes}, &cells, &wrong),
                     PETAL_OK);
    assert_int_equal(cells.count, 2);
    assert_true(hfile_slice_equal(cells.cells[1].qualifier, hfile_text_slice("abc")));

    /* One byte of the qualifier that the first has not. */
    hfile_cells_clear(&cells);
    bytes[sizeof first + 3] = 6;
    memmove(bytes + sizeof first + 4, bytes + sizeof first + 5, 4);
    assert_int_equal(
        encoding->decode(&layout, (petal_slice){bytes, sizeof bytes - 1}, &cells, &wrong),
        PETAL_CORRUPT);
    assert_string_equal(wrong, "a cell shares more of a key than that one has");
    hfile_cells_free(&cells);
}
