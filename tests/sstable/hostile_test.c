/*
 * hostile_test.c -- store files made to deceive: every checksum is right, what it covers is not.
 * They are refused, or read within bounds; and verify finds out what reads need not notice.
 */
#include "tests/sstable/fixture.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "bloom/hash.h"
#include "sstable/sst_point.h"
#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void
fix_trailer(uint8_t *bytes, size_t size)
{
    uint8_t *trailer = bytes + size - TRAILER_BYTES;

    put_le64(trailer, checksum_at(get_le64(trailer + 8), size - TRAILER_BYTES, trailer + 8,
                                  TRAILER_BYTES - 8));
}

TEST(other_versions_are_refused_by_name)
{
    static const uint8_t versions[] = {0, SST_FORMAT_VERSION + 1, 255};
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    petal_error error = {0};
    uint8_t *bytes;
    size_t size;

    sst_small_cells(&f->list);
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t i = 0; i < sizeof versions; i++) {
        bytes[size - 16] = versions[i];
        fix_trailer(bytes, size);
        sst_fixture_set_bytes(f, bytes, size);
        assert_int_equal(sst_read_all(f, &f->list, &error), PETAL_UNSUPPORTED);
        assert_string_equal(error.file, SST_PATH);
    }
    free(bytes);
    sst_fixture_free(f);
}

/* The root of the data index in the bytes of a file. */
static uint64_t
data_root(const uint8_t *bytes, size_t size)
{
    return get_le64(bytes + size - TRAILER_BYTES + 40);
}

/* The data index names a filter chunk, which is in the cache already: no reader takes it for a data
 * block. */
TEST(block_named_for_two_purposes_is_refused)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    struct block_handle chunk;
    struct sst_iter iter;
    petal_error error = {0};
    uint8_t *bytes, *node;
    uint32_t entries;
    size_t size;

    sst_small_cells(&f->list);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    chunk = index_block_handle(&reader->bloom.tree.root, reader->bloom.tree.root.count - 1);
    sst_reader_close(reader);
    bytes = sst_fixture_bytes(f, &size);
    node = bytes + data_root(bytes, size) + BLOCK_FRAME_BYTES;
    entries = get_le32(node);
    for (uint32_t i = 0; i + 1 < entries; i++)
        assert_true(get_le64(node + INDEX_BLOCK_HEADER_BYTES + 8 * entries + 8 * i) < chunk.offset);
    put_le64(node + INDEX_BLOCK_HEADER_BYTES + 16 * entries - 8, chunk.offset);
    put_le32(node + INDEX_BLOCK_HEADER_BYTES + 20 * entries - 4, chunk.size);
    sst_fix_checksum(bytes, data_root(bytes, size), TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    assert_true(sst_ask_row(f, reader, f->list.cells[f->list.count - 1].row));
    assert_true(f->trace.blocks_fetched[PETAL_BLOCK_FILTER] > 0);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, NULL, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, chunk.offset);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    sst_reader_close(reader);
    free(bytes);
    sst_fixture_free(f);
}

/* The filter's index names a data block, which is in the cache already: a fast get, whose hint
 * leads there, does not take it for a chunk. */
TEST(data_block_is_not_asked_as_a_chunk)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct cell_list list = {0};
    struct bloom_rows_question question;
    struct bloom_rows_chunk *chunk;
    struct sst_reader *reader;
    struct block_handle data;
    struct sst_iter iter;
    uint8_t *bytes, *node;
    uint64_t root, hash;
    uint32_t entries;
    unsigned slot;
    size_t size;

    options.bloom = PETAL_BLOOM_ROW;
    sst_small_cells(&list);
    sst_fixture_write(f, &options, &list);
    reader = sst_fixture_open(f);
    data = index_block_handle(&reader->index.root, 0);
    sst_reader_close(reader);
    bytes = sst_fixture_bytes(f, &size);
    root = get_le64(bytes + size - TRAILER_BYTES + 56);
    node = bytes + root + BLOCK_FRAME_BYTES;
    entries = get_le32(node);
    put_le64(node + INDEX_BLOCK_HEADER_BYTES + 8 * entries, data.offset);
    put_le32(node + INDEX_BLOCK_HEADER_BYTES + 16 * entries, data.size);
    sst_fix_checksum(bytes, root, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    slot = epoch_enter(f->epoch);
    hash = bloom_hash_row(options.salt, list.cells[0].row.data, list.cells[0].row.size);
    bloom_rows_question_init(&question, list.cells[0].row, hash);
    chunk = bloom_rows_find(sst_reader_bloom_rows(reader), &question);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(bloom_rows_ask(sst_reader_bloom_rows(reader), chunk, &question),
                         BLOOM_ROWS_UNKNOWN);
        assert_true(sst_reader_ask_chunk(reader, chunk, hash, &f->context));
    }
    assert_int_equal(f->trace.bloom_ignored, 2);
    epoch_leave(f->epoch, slot);
    iter.iter.ops->close(&iter.iter);
    sst_reader_close(reader);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* The index names a block by a key that is not its first cell's: whoever believed the place is
 * told. */
TEST(wrong_place_in_the_index_is_found_out)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    struct sst_iter iter;
    petal_error error = {0};
    uint8_t *bytes;
    uint64_t root;
    size_t size;

    cell_list_put(&f->list, "row", "column", 7, 7, "value");
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    root = data_root(bytes, size);
    bytes[root + sst_frame_bytes(bytes, root) - 1] ^=
        1; /* the last byte of its one key: the sequence */
    sst_fix_checksum(bytes, root, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, true);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, &error), PETAL_OK);
    assert_true(iter.iter.pending);
    assert_int_equal(iter.iter.ops->load(&iter.iter, &error), PETAL_CORRUPT);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    sst_reader_close(reader);
    free(bytes);
    sst_fixture_free(f);
}

/* The index claims of a block in the middle of a row, or of a column, that it begins it: verify
 * finds out. */
TEST(false_claims_of_the_index_are_found_out)
{
    for (unsigned versions = 0; versions < 2; versions++) {
        struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;
        petal_error error = {0};
        uint8_t *bytes, *last;
        char qualifier[16];
        uint32_t entries;
        uint64_t root;
        size_t size;

        for (unsigned i = 0; i < 40; i++) {
            snprintf(qualifier, sizeof qualifier, "q%02u", versions ? 0 : i);
            cell_list_put(&f->list, "row", qualifier, 100 - (int64_t)i, i + 1,
                          "some value, some value");
        }
        sst_fixture_write(f, &options, &f->list);
        bytes = sst_fixture_bytes(f, &size);
        root = data_root(bytes, size);
        entries = get_le32(bytes + root + BLOCK_FRAME_BYTES);
        assert_true(entries > 3);
        last = bytes + root + BLOCK_FRAME_BYTES + INDEX_BLOCK_HEADER_BYTES + 20 * entries - 4;
        assert_int_equal(get_le32(last) >> INDEX_BLOCK_SIZE_BITS,
                         versions ? 0 : BLOCK_BEGINS_COLUMN);
        put_le32(last, get_le32(last) | (versions ? 1u : 2u) << INDEX_BLOCK_SIZE_BITS);
        sst_fix_checksum(bytes, root, TEST_IDENTITY);
        sst_fixture_set_bytes(f, bytes, size);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
        assert_non_null(strstr(error.text, "begins"));
        sst_reader_close(reader);
        free(bytes);
        sst_fixture_free(f);
    }
}

/* The facts say that no column has two cells: verify finds out. The missing claim does no harm. */
TEST(false_claim_of_single_cells_is_found_out)
{
    for (unsigned versions = 1; versions <= 2; versions++) {
        struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;
        petal_error error = {0};
        uint8_t *bytes, *origin;
        uint64_t facts;
        size_t size;

        for (unsigned i = 0; i < versions; i++)
            cell_list_put(&f->list, "row", "column", 9 - (int64_t)i, 7 + i, "value");
        sst_fixture_write(f, &options, &f->list);
        bytes = sst_fixture_bytes(f, &size);
        facts = get_le64(bytes + size - TRAILER_BYTES + 24);
        origin = bytes + facts + BLOCK_FRAME_BYTES + 224;
        assert_int_equal(*origin & 0x80, versions == 1 ? 0x80 : 0);
        *origin ^= 0x80;
        sst_fix_checksum(bytes, facts, TEST_IDENTITY);
        sst_fixture_set_bytes(f, bytes, size);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
        assert_int_equal(sst_reader_verify(reader, NULL, &error),
                         versions == 1 ? PETAL_OK : PETAL_CORRUPT);
        if (versions == 2)
            assert_non_null(strstr(error.text, "one cell per column"));
        sst_reader_close(reader);
        free(bytes);
        sst_fixture_free(f);
    }
}

/* A few hundred bytes said to be 64 MiB: they cannot be, and nobody is asked for the memory. */
TEST(blocks_said_to_be_huge_are_refused)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct sst_reader *reader;
    petal_error error = {0};
    uint8_t *bytes;
    size_t size;

    for (unsigned i = 0; i < 40; i++) {
        char row[16];

        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(&f->list, row, "q", 1, i + 1, "a value, a value, a value, a value");
    }
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    assert_int_equal(bytes[9], BLOCK_CODEC_LZ4);
    put_le32(bytes + 16, 64 << 20);
    sst_fix_checksum(bytes, 0, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);
    reader = sst_fixture_open(f);
    test_allocator_forget_peak(&f->allocator);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, 0);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_CORRUPT);
    assert_true(test_allocator_peak_bytes(&f->allocator) < (4u << 20));
    sst_reader_close(reader);
    free(bytes);
    sst_fixture_free(f);
}

/* ---- cells out of order ---- */

/* Write the cells to a file and replace a byte by another in its data block at `offset`, wherever
 * it stands there. */
static void
write_with_byte_replaced(struct sst_fixture *f, const struct cell_list *list, uint64_t offset,
                         char from, char to)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    uint8_t *bytes;
    size_t size;

    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t at = BLOCK_FRAME_BYTES + DATA_BLOCK_HEADER_BYTES;
         at < sst_frame_bytes(bytes, offset); at++) {
        if (bytes[offset + at] == (uint8_t)from) /* in a head and in a record */
            bytes[offset + at] = (uint8_t)to;
    }
    sst_fix_checksum(bytes, offset, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);
    free(bytes);
}

/* A row twice in a block, rows and columns that descend: who went on from what he found would be
 * sent to it again. */
TEST(cells_out_of_order_are_refused)
{
    static const struct {
        const char *row, *other_row, *qualifier, *other_qualifier;
        char from, to;
    } cases[] = {
        {"r1", "r2", "q", "q", '2', '1'}, /* one column: the simple form of a block */
        {"r1", "r2", "q", "q", '1', '3'},
        {"r1", "r2", "qa", "qb", '2', '1'},
        {"r1", "r2", "qa", "qb", '1', '3'},
        {"r", "r", "qa", "qb", 'b', 'a'},
        {"r", "r", "qa", "qb", 'a', 'c'},
        {"r1", "r2", "q", "qxxxxxxxxx", '2', '1'},
        {"rrrrrr1", "rrrrrr2", "qa", "qa", '1', '2'},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct sst_reader *reader;
        struct sst_iter iter;
        struct cell_key key;
        petal_error error = {0};
        uint8_t buffer[64];

        cell_list_put(&f->list, cases[i].row, cases[i].qualifier, 7, 7, "value");
        cell_list_put(&f->list, cases[i].other_row, cases[i].other_qualifier, 7, 8, "value");
        write_with_byte_replaced(f, &f->list, 0, cases[i].from, cases[i].to);
        reader = sst_fixture_open(f);
        sst_iter_init(&iter, reader, &f->context, false, true);
        assert_int_equal(iter.iter.ops->seek_before(&iter.iter, NULL, &error), PETAL_CORRUPT);
        assert_int_equal(error.offset, 0);
        assert_false(iter.iter.valid);
        cell_key_make(&key, buffer, slice_from_text(cases[i].other_row),
                      slice_from_text(cases[i].other_qualifier), false, 7, 7);
        assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, &error), PETAL_CORRUPT);
        iter.iter.ops->close(&iter.iter);
        assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
        sst_fixture_end(f, reader);
    }
}

/* Versions that ascend in time. */
TEST(versions_out_of_order_are_refused)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    struct sst_iter iter;
    petal_error error = {0};
    uint8_t *bytes, *timestamps;
    size_t size;

    cell_list_put(&f->list, "r", "q", 9, 8, "value");
    cell_list_put(&f->list, "r", "q", 7, 7, "another value");
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    /* One row's head, three offsets and two first cells of a byte each: then two timestamps, less
     * the least. */
    assert_int_equal(bytes[BLOCK_FRAME_BYTES + 14], 1);
    assert_int_equal(bytes[BLOCK_FRAME_BYTES + 15], 1);
    assert_int_equal(bytes[BLOCK_FRAME_BYTES + 16], 1);
    timestamps = bytes + BLOCK_FRAME_BYTES + DATA_BLOCK_HEADER_BYTES + 4 + 3 + 2;
    assert_int_equal(timestamps[0], 2);
    assert_int_equal(timestamps[1], 0);
    timestamps[0] = 0;
    timestamps[1] = 2;
    sst_fix_checksum(bytes, 0, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);
    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, NULL, &error), PETAL_CORRUPT);
    iter.iter.ops->close(&iter.iter);
    sst_reader_close(reader);
    free(bytes);
    sst_fixture_free(f);
}

/* The last row of a block sorts after the first of the next one, though each block is in order. */
TEST(blocks_that_overlap_are_found_out)
{
    static const char value[] = "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv";
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    petal_error error = {0};
    struct sst_iter iter;

    cell_list_put(&f->list, "a", "q", 7, 1, value);
    cell_list_put(&f->list, "b", "q", 7, 2, value);
    cell_list_put(&f->list, "c", "q", 7, 3, value);
    cell_list_put(&f->list, "e", "q", 7, 4, value);
    write_with_byte_replaced(f, &f->list, 0, 'b', 'd');
    reader = sst_fixture_open(f);
    for (unsigned lazy = 0; lazy < 2; lazy++) {
        sst_iter_init(&iter, reader, &f->context, false, lazy == 1);
        assert_int_equal(iter.iter.ops->seek_first(&iter.iter, &error), PETAL_OK);
        assert_int_equal(iter.iter.ops->next(&iter.iter, &error), PETAL_OK);
        assert_true(slice_equal(iter.iter.cell.row, slice_from_text("d")));
        assert_int_equal(iter.iter.ops->next(&iter.iter, &error), PETAL_CORRUPT);
        assert_true(error.offset > 0);
        assert_false(iter.iter.valid);
        iter.iter.ops->close(&iter.iter);
    }
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    sst_fixture_end(f, reader);
}

/* ---- indexes made to deceive ---- */

/* A file under construction, whose data blocks and chunks are those of a file that was written. */
struct forged_file {
    enum block_kind kind; /* of the nodes that are forged */
    uint8_t *bytes;
    size_t size, capacity;
};

static struct block_handle
forge_frame(struct forged_file *file, enum block_kind kind, petal_slice raw, uint32_t entries)
{
    struct block_handle handle = {.offset = file->size,
                                  .size = (uint32_t)(BLOCK_FRAME_BYTES + raw.size)};
    uint8_t *frame;

    assert_true(file->size + handle.size <= file->capacity);
    frame = file->bytes + file->size;
    memset(frame, 0, BLOCK_FRAME_BYTES);
    frame[8] = (uint8_t)kind;
    put_le32(frame + 12, (uint32_t)raw.size);
    put_le32(frame + 16, (uint32_t)raw.size);
    put_le32(frame + 20, entries);
    memcpy(frame + BLOCK_FRAME_BYTES, raw.data, raw.size);
    file->size += handle.size;
    sst_fix_checksum(file->bytes, handle.offset, TEST_IDENTITY);
    return handle;
}

/* What an index may name, and by which key. */
struct named_block {
    petal_slice key;
    struct block_handle handle;
};

#define MOST_NAMED 16

static struct block_handle
forge_node(struct forged_file *file, const struct named_block *entries, size_t count,
           uint32_t level)
{
    struct index_block_builder *builder;
    struct block_handle handle;
    petal_slice bytes;

    assert_int_equal(index_block_builder_new(&builder, &mem_default_allocator), PETAL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(index_block_builder_add(builder, entries[i].key, entries[i].handle),
                         PETAL_OK);
    assert_int_equal(index_block_builder_finish(builder, level, &bytes), PETAL_OK);
    handle = forge_frame(file, file->kind, bytes, (uint32_t)count);
    index_block_builder_free(builder);
    return handle;
}

/* Begin a forged file with what stands in SST_PATH before the roots of its indexes, which are of
 * one node each: in the place of one of them others are to stand.  *blocks are those that it
 * names, by their keys, which stand in *keys, and the one after, which it does not name. */
static void
forge_begin(struct sst_fixture *f, struct forged_file *file, enum block_kind kind,
            struct named_block *blocks, size_t *count, uint8_t keys[MOST_NAMED][64])
{
    struct trailer trailer;
    struct index_block root;
    struct block_handle behind;
    uint64_t offset;
    uint8_t *bytes, *node, *memory;
    size_t size, node_bytes;

    bytes = sst_fixture_bytes(f, &size);
    assert_int_equal(trailer_decode(&trailer, bytes + size - TRAILER_BYTES, size, SST_PATH, NULL),
                     PETAL_OK);
    offset = kind == BLOCK_DATA_INDEX ? trailer.data_root.offset : trailer.bloom_root.offset;
    node = bytes + offset + BLOCK_FRAME_BYTES;
    node_bytes = sst_frame_bytes(bytes, offset) - BLOCK_FRAME_BYTES;
    memory = aligned_alloc(CACHE_LINE_BYTES, index_block_memory(node, node_bytes, get_le32(node)));
    assert_non_null(memory);
    assert_true(index_block_make(&root, node, node_bytes, memory));
    assert_int_equal(root.level, 0);
    assert_true(root.count < MOST_NAMED);
    *count = root.count;
    for (uint32_t i = 0; i < *count; i++) {
        size_t key_bytes = index_block_key_bytes(&root, i);

        assert_true(key_bytes <= 64);
        index_block_key(&root, i, keys[i]);
        blocks[i] =
            (struct named_block){slice_make(keys[i], key_bytes), index_block_handle(&root, i)};
    }
    behind = blocks[*count - 1].handle;
    behind.offset += behind.size;
    behind.size = (uint32_t)sst_frame_bytes(bytes, behind.offset);
    blocks[*count] = (struct named_block){blocks[*count - 1].key, behind};
    file->kind = kind;
    file->capacity = 1 << 20;
    file->bytes = test_allocate(file->capacity);
    file->size = (size_t)trailer.data_root.offset; /* the other root stands after */
    assert_true(trailer.bloom_root.size == 0 || trailer.bloom_root.offset > file->size);
    memcpy(file->bytes, bytes, file->size);
    free(memory);
    free(bytes);
}

static struct block_handle
forge_copy(struct forged_file *file, uint8_t *bytes, enum block_kind kind,
           struct block_handle handle)
{
    const uint8_t *frame = bytes + handle.offset;

    return forge_frame(file, kind,
                       slice_make(frame + BLOCK_FRAME_BYTES, handle.size - BLOCK_FRAME_BYTES),
                       get_le32(frame + 20));
}

/* Put the other root, facts that are right and the trailer of SST_PATH after it, and the whole in
 * its place. */
static void
forge_end(struct sst_fixture *f, struct forged_file *file, struct block_handle root)
{
    struct trailer trailer;
    uint64_t nodes_at;
    uint8_t *bytes;
    size_t size;

    bytes = sst_fixture_bytes(f, &size);
    assert_int_equal(trailer_decode(&trailer, bytes + size - TRAILER_BYTES, size, SST_PATH, NULL),
                     PETAL_OK);
    nodes_at = trailer.data_root.offset;
    if (file->kind == BLOCK_BLOOM_INDEX) {
        trailer.data_root = forge_copy(file, bytes, BLOCK_DATA_INDEX, trailer.data_root);
        trailer.bloom_root = root;
    } else {
        trailer.data_root = root;
        if (trailer.bloom_root.size > 0)
            trailer.bloom_root = forge_copy(file, bytes, BLOCK_BLOOM_INDEX, trailer.bloom_root);
    }
    put_le64(bytes + trailer.facts.offset + BLOCK_FRAME_BYTES + 112, file->size - nodes_at);
    trailer.facts = forge_copy(file, bytes, BLOCK_FACTS, trailer.facts);
    trailer.file_bytes = file->size + TRAILER_BYTES;
    assert_true(trailer.file_bytes <= file->capacity);
    trailer_encode(&trailer, file->bytes + file->size);
    sst_fixture_set_bytes(f, file->bytes, file->size + TRAILER_BYTES);
    free(bytes);
    free(file->bytes);
    *file = (struct forged_file){0};
}

/* Reads forward, lazily or not.  Fails the test when a cell does not lie after the one before, or
 * when more than so many blocks were read.  Returns the status at the end. */
static enum petal_status
read_forward_within(struct sst_fixture *f, struct sst_reader *reader, bool lazy, uint32_t blocks)
{
    struct cell_list seen = {0};
    struct sst_iter iter;
    enum petal_status status;

    memset(&f->trace, 0, sizeof f->trace);
    sst_iter_init(&iter, reader, &f->context, false, lazy);
    status = iter.iter.ops->seek_first(&iter.iter, NULL);
    while (status == PETAL_OK && iter.iter.valid) {
        const struct cell *cell = &iter.iter.cell;

        if (seen.count > 0)
            assert_true(cell_compare(&seen.cells[seen.count - 1], cell) < 0);
        cell_list_add(&seen, cell->row, cell->qualifier, cell->timestamp, cell->sequence,
                      cell->type, cell->value);
        status = iter.iter.ops->next(&iter.iter, NULL);
        for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
            assert_true(f->trace.blocks_fetched[kind] + f->trace.blocks_cached[kind] <= blocks);
    }
    iter.iter.ops->close(&iter.iter);
    cell_list_fini(&seen);
    return status;
}

/* As many levels as there may be, and each node names all nodes of the level below: a walk of 5^12
 * leaves or more. */
TEST(nodes_named_many_times_are_not_walked)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);

    options.bloom = PETAL_BLOOM_NONE;
    sst_small_cells(&f->list);
    for (unsigned same = 0; same < 2; same++) {
        struct forged_file file;
        struct named_block blocks[MOST_NAMED], named[MOST_NAMED];
        uint8_t keys[MOST_NAMED][64];
        struct sst_reader *reader;
        struct block_handle root;
        petal_error error = {0};
        size_t count;

        sst_fixture_write(f, &options, &f->list);
        forge_begin(f, &file, BLOCK_DATA_INDEX, blocks, &count, keys);
        assert_true(count > 4);
        memcpy(named, blocks, sizeof named);
        for (uint32_t level = 0; level + 1 < INDEX_MAX_LEVELS; level++) {
            struct named_block nodes[MOST_NAMED] = {0};

            for (size_t i = 0; i < count; i++)
                nodes[i] =
                    (struct named_block){blocks[i].key, forge_node(&file, named, count, level)};
            for (size_t i = 0; i < count; i++)
                named[i] = nodes[same ? 0 : i];
            for (size_t i = 0; i < count; i++)
                named[i].key = blocks[i].key;
        }
        root = forge_node(&file, named, count, INDEX_MAX_LEVELS - 1);
        forge_end(f, &file, root);
        if (same) { /* one node named by all entries: no node of an index may be like that */
            assert_int_equal(sst_fixture_try_open(f, &reader, &error), PETAL_CORRUPT);
            assert_int_equal(error.offset, root.offset);
            continue;
        }
        reader = sst_fixture_open(f);
        for (unsigned lazy = 0; lazy < 2; lazy++)
            assert_int_equal(
                read_forward_within(f, reader, lazy, 2 * (uint32_t)count + 2 * INDEX_MAX_LEVELS),
                PETAL_CORRUPT);
        assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
        sst_reader_close(reader);
    }
    sst_fixture_free(f);
}

/* From the last cell to the first: whatever lies there, each step goes back. */
static void
read_back_carelessly(struct cell_iter *iter)
{
    enum petal_status status = iter->ops->seek_before(iter, NULL, NULL);

    while (status == PETAL_OK && iter->valid) {
        petal_slice row = iter->cell.row, qualifier = iter->cell.qualifier;
        size_t bound = cell_key_bound(row.size, qualifier.size);
        uint8_t *buffer = test_allocate(bound + row.size + qualifier.size);
        struct cell own = iter->cell;
        struct cell_key key;

        memcpy(buffer + bound, row.data, row.size);
        own.row.data = buffer + bound;
        own.qualifier.data = buffer + bound + row.size;
        if (qualifier.size > 0)
            memcpy(buffer + bound + row.size, qualifier.data, qualifier.size);
        cell_key_of(&key, buffer, &own);
        status = iter->ops->seek_before(iter, &key, NULL);
        assert_true(!iter->valid || cell_compare_key(&iter->cell, &key) < 0);
        free(buffer);
    }
}

/* Every byte of every block changed, then its checksum made right: no crash, whatever comes out. */
static void
read_carelessly(struct sst_fixture *f)
{
    struct sst_reader *reader;
    struct sst_iter iter;
    struct cell_key key;
    uint8_t buffer[64];

    if (sst_fixture_try_open(f, &reader, NULL) != PETAL_OK)
        return;
    for (unsigned lazy = 0; lazy < 2; lazy++) {
        (void)read_forward_within(f, reader, lazy == 1, 1000);
        sst_iter_init(&iter, reader, &f->context, false, lazy == 1);
        cell_key_make(&key, buffer, slice_from_text("row0012"), slice_from_text("second"), false,
                      112, 122);
        (void)iter.iter.ops->seek(&iter.iter, &key, NULL);
        assert_true(!iter.iter.valid || cell_compare_key(&iter.iter.cell, &key) >= 0);
        read_back_carelessly(&iter.iter);
        iter.iter.ops->close(&iter.iter);
    }
    sst_ask_row(f, reader, slice_from_text("row0012"));
    sst_ask_column(f, reader, slice_from_text("row0012"), slice_from_text("second"));
    sst_ask_family_marker(f, reader, slice_from_text("row0012"));
    (void)sst_reader_verify(reader, NULL, NULL);
    sst_reader_close(reader);
}

TEST(blocks_made_to_deceive_do_no_harm)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct test_random random;
    uint8_t *bytes;
    size_t size;

    test_random_init(&random, test_seed());
    sst_small_cells(&f->list);
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t frame = 0; frame < size - TRAILER_BYTES; frame += sst_frame_bytes(bytes, frame)) {
        size_t end = frame + sst_frame_bytes(bytes, frame);
        uint64_t checksum = get_le64(bytes + frame);

        for (size_t at = frame + 8; at < end; at++) {
            uint8_t before = bytes[at];
            bool length_byte = at >= frame + 12 && at < frame + 16;

            bytes[at] = (uint8_t)(before + 1 + test_random_below(&random, 255));
            if (!length_byte)
                sst_fix_checksum(bytes, frame, TEST_IDENTITY);
            sst_fixture_set_bytes(f, bytes, size);
            read_carelessly(f);
            bytes[at] = before;
        }
        put_le64(bytes + frame, checksum);
    }
    for (size_t at = size - TRAILER_BYTES + 8; at < size; at++) {
        uint8_t before = bytes[at];

        bytes[at] = (uint8_t)(before + 1 + test_random_below(&random, 255));
        fix_trailer(bytes, size);
        sst_fixture_set_bytes(f, bytes, size);
        read_carelessly(f);
        bytes[at] = before;
    }
    free(bytes);
    sst_fixture_free(f);
}

/* ---- trees of indexes ---- */

#define TREE_LEVELS 4
#define MOST_LIES   12

/* A tree over the blocks of a file. */
struct tree_node {
    struct named_block entries[MOST_NAMED + MOST_LIES];
    size_t below[MOST_NAMED + MOST_LIES]; /* which node, or at level 0 which block, they name */
    size_t count;
};

struct tree {
    struct tree_node nodes[TREE_LEVELS][MOST_NAMED]; /* level 0 first; the last one has the root */
    size_t counts[TREE_LEVELS];
    uint32_t levels;
    const struct named_block *blocks; /* and after them one that is none of them */
    size_t block_count;
};

/* As a writer makes it, but for what its nodes hold. */
static void
grow_tree(struct tree *tree, const struct named_block *blocks, size_t count,
          struct test_random *random)
{
    struct named_block below[MOST_NAMED];
    size_t below_count = count;

    *tree = (struct tree){.levels = 1 + (uint32_t)test_random_below(random, TREE_LEVELS),
                          .blocks = blocks,
                          .block_count = count};
    memcpy(below, blocks, count * sizeof *blocks);
    for (uint32_t level = 0; level < tree->levels; level++) {
        struct tree_node *nodes = tree->nodes[level];
        size_t node_count = 0;

        for (size_t i = 0; i < below_count; i++) {
            if (i == 0 || (level + 1 < tree->levels && test_random_chance(random, 40)))
                node_count++;
            nodes[node_count - 1].below[nodes[node_count - 1].count] = i;
            nodes[node_count - 1].entries[nodes[node_count - 1].count++] = below[i];
        }
        for (size_t i = 0; i < node_count; i++)
            below[i] = nodes[i].entries[0];
        tree->counts[level] = below_count = node_count;
    }
}

/* Memory for a key that lies. */
struct false_key {
    uint8_t bytes[80];
};

/* Another key: a bit more or less, or that of some cell. */
static petal_slice
make_false_key(struct false_key *lie, petal_slice truth, const struct cell_list *list,
               enum block_kind kind, struct test_random *random)
{
    const struct cell *cell = &list->cells[test_random_below(random, list->count)];
    uint8_t buffer[80];
    struct cell_key key;
    size_t at;

    assert_true(truth.size > 1 && truth.size < sizeof lie->bytes);
    memcpy(lie->bytes, truth.data, truth.size);
    switch (test_random_below(random, 4)) {
    case 0:
        at = test_random_below(random, truth.size);
        lie->bytes[at] = (uint8_t)(lie->bytes[at] + (test_random_chance(random, 50) ? 1 : 255));
        return slice_make(lie->bytes, truth.size);
    case 1:
        return slice_make(lie->bytes, truth.size - 1);
    case 2:
        lie->bytes[truth.size] = 0;
        return slice_make(lie->bytes, truth.size + 1);
    default:
        assert_true(cell_key_bound(cell->row.size, cell->qualifier.size) <= sizeof buffer);
        cell_key_of(&key, buffer, cell);
        memcpy(lie->bytes, buffer, key.encoded.size);
        return slice_make(lie->bytes, kind == BLOCK_DATA_INDEX ? key.encoded.size : key.row_prefix);
    }
}

/* The last one is where others than within happens. */
static size_t
pick(size_t count, struct test_random *random)
{
    return test_random_chance(random, 25) ? count - 1 : test_random_below(random, count);
}

/* One thing that is not so, somewhere in the tree.  Returns whether it certainly is not: of an
 * inner node's key. */
static bool
tell_lie(struct tree *tree, struct false_key *lie, const struct cell_list *list,
         enum block_kind kind, struct test_random *random)
{
    uint32_t level = (uint32_t)test_random_below(random, tree->levels);
    struct tree_node *node = &tree->nodes[level][pick(tree->counts[level], random)];
    size_t at = pick(node->count, random), rest = node->count - at;
    size_t others = level > 0 ? tree->counts[level - 1] : tree->block_count;
    struct named_block *entry = &node->entries[at];
    petal_slice truth;

    switch (test_random_below(random, 6)) {
    case 0: /* an entry is missing */
        if (node->count == 1)
            return false;
        memmove(entry, entry + 1, (rest - 1) * sizeof *entry);
        memmove(&node->below[at], &node->below[at + 1], (rest - 1) * sizeof node->below[0]);
        node->count--;
        return false;
    case 1: /* there is one more */
        memmove(entry + 1, entry, rest * sizeof *entry);
        memmove(&node->below[at + 1], &node->below[at], rest * sizeof node->below[0]);
        node->count++;
        entry[test_random_below(random, 2)].key =
            make_false_key(lie, entry->key, list, kind, random);
        if (level == 0 && test_random_chance(random, 50))
            node->below[at + 1] = tree->block_count;
        return false;
    case 2:
        entry->handle.begins = (uint32_t)test_random_below(random, 4);
        return false;
    case 3:
        node->below[at] = test_random_below(random, others);
        return false;
    default:
        truth = entry->key;
        entry->key = make_false_key(lie, truth, list, kind, random);
        return level > 0 && !slice_equal(truth, entry->key);
    }
}

/* Write the tree to the file; its root. */
static struct block_handle
forge_tree(struct forged_file *file, struct tree *tree)
{
    struct block_handle handles[2][MOST_NAMED] = {0};

    for (uint32_t level = 0; level < tree->levels; level++) {
        for (size_t i = 0; i < tree->counts[level]; i++) {
            struct tree_node *node = &tree->nodes[level][i];

            for (size_t k = 0; k < node->count; k++) {
                struct block_handle *handle = &node->entries[k].handle;
                uint32_t begins = handle->begins;

                *handle = level > 0 ? handles[(level - 1) % 2][node->below[k]]
                                    : tree->blocks[node->below[k]].handle;
                handle->begins = begins;
            }
            handles[level % 2][i] = forge_node(file, node->entries, node->count, level);
        }
    }
    return handles[(tree->levels - 1) % 2][0];
}

/* A straight question for each cell is not denied. */
static void
ask_points(struct sst_fixture *f, struct sst_reader *reader, const struct cell_list *list)
{
    unsigned slot = epoch_enter(f->epoch);

    for (size_t i = 0; i < list->count; i++) {
        const struct cell *cell = &list->cells[i];
        const struct data_block_column column = {cell->row, cell->qualifier, UINT64_MAX};
        struct data_block_put put;
        struct data_block_run run;

        if (!cell_is_family_marker(cell->type))
            assert_int_not_equal(sst_point_find(reader, &column, &f->context, &put),
                                 SST_POINT_ABSENT);
        assert_int_not_equal(sst_point_find_row(reader, cell->row, UINT64_MAX, &f->context, &run),
                             SST_POINT_ABSENT);
    }
    epoch_leave(f->epoch, slot);
}

/* Before each cell stands the one that should. */
static void
ask_backwards(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list)
{
    struct sst_iter iter;

    for (size_t i = 0; i < list->count; i++) {
        uint8_t buffer[80];
        struct cell_key key;

        cell_key_of(&key, buffer, &list->cells[i]);
        sst_iter_init(&iter, reader, &f->context, false, false);
        assert_int_equal(iter.iter.ops->seek_before(&iter.iter, &key, NULL), PETAL_OK);
        assert_int_equal(iter.iter.valid, i > 0);
        assert_true(i == 0 || same_cell(&iter.iter.cell, &list->cells[i - 1]));
        iter.iter.ops->close(&iter.iter);
    }
}

/* What verify finds nothing in gives what is there, by every way to it. Returns whether it is
 * so. */
static bool
what_is_verified_is_right(struct sst_fixture *f, const struct cell_list *list)
{
    struct sst_reader *reader;
    bool sound;

    if (sst_fixture_try_open(f, &reader, NULL) != PETAL_OK)
        return false;
    sound = sst_reader_verify(reader, NULL, NULL) == PETAL_OK;
    if (sound) {
        assert_int_equal(sst_compare(f, reader, list), PETAL_OK);
        ask_points(f, reader, list);
        ask_backwards(f, reader, list);
    }
    sst_reader_close(reader);
    return sound;
}

/* Trees of one to four levels with some lies: each way through them ends and goes forward only, and
 * no lie that verify does not find makes a wrong answer. */
TEST(indexes_made_to_deceive_do_no_harm)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    unsigned rounds = test_long() ? 200000 : 4000, harmless = 0;
    struct test_random random;

    test_random_init(&random, test_seed());
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    sst_small_cells(&f->list);
    for (unsigned round = 0; round < rounds; round++) {
        enum block_kind kind = round % 3 == 0 ? BLOCK_BLOOM_INDEX : BLOCK_DATA_INDEX;
        size_t lies = round % 16 == 0  ? 0
                      : round % 2 == 0 ? 1
                                       : test_random_below(&random, MOST_LIES);
        struct false_key false_keys[MOST_LIES];
        struct named_block blocks[MOST_NAMED];
        uint8_t keys[MOST_NAMED][64];
        struct forged_file file;
        struct tree tree;
        size_t count;
        bool certain = false, sound;

        sst_fixture_write(f, &options, &f->list);
        forge_begin(f, &file, kind, blocks, &count, keys);
        grow_tree(&tree, blocks, count, &random);
        for (size_t i = 0; i < lies; i++)
            certain = tell_lie(&tree, &false_keys[i], &f->list, kind, &random);
        forge_end(f, &file, forge_tree(&file, &tree));
        if (lies > 1)
            read_carelessly(f);
        sound = what_is_verified_is_right(f, &f->list);
        assert_true(sound ? lies != 1 || !certain : lies > 0);
        harmless += sound && lies > 0;
    }
    test_counted("%u trees, verify found nothing in %u of those with lies, which read right",
                 rounds, harmless);
    sst_fixture_free(f);
}

/* Facts that hold together, but not for the cells. */
TEST(false_times_of_death_are_found_out)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct sst_reader *reader;
    petal_error error = {0};

    cell_list_put(&f->list, "row", "a", 50, 1, "value");
    cell_list_give_ttl(&f->list, 10);
    cell_list_put(&f->list, "row", "b", 50, 2, "value");
    cell_list_give_ttl(&f->list, 30);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_OK);
    sst_reader_close(reader);
    sst_change_facts(f, 208, 59); /* the first dies at 60 */
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "death"));
    sst_reader_close(reader);
    sst_change_facts(f, 208, 60);
    sst_change_facts(f, 216, 81); /* the last at 80 */
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    sst_fixture_end(f, reader);
}

/* Bytes between the blocks and the trailer belong to nothing: reads do not care, verify does. */
TEST(verify_accounts_for_every_byte)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct sst_reader *reader;
    petal_error error = {0};
    uint8_t *bytes, *longer;
    size_t size;

    sst_small_cells(&f->list);
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    longer = test_allocate(size + 40);
    memcpy(longer, bytes, size - TRAILER_BYTES);
    memset(longer + size - TRAILER_BYTES, 0, 40);
    memcpy(longer + size + 40 - TRAILER_BYTES, bytes + size - TRAILER_BYTES, TRAILER_BYTES);
    put_le64(longer + size + 40 - TRAILER_BYTES + 16, size + 40);
    fix_trailer(longer, size + 40);
    sst_fixture_set_bytes(f, longer, size + 40);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, size - TRAILER_BYTES);
    sst_reader_close(reader);
    free(longer);
    free(bytes);
    sst_fixture_free(f);
}
