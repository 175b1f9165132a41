/*
 * scanner.c -- a place among the cells of a file.
 *
 * Forward, blocks are read one after the other, as they stand in the file, and what is no data
 * block is passed over; so a scan finds every cell, whatever the index says. A search goes by the
 * index, and so does the way back, since writers may leave out where the block before stands. On
 * either way offsets of blocks only rise, or only fall.
 */
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/reader/index.h"

#include <assert.h>
#include <inttypes.h>

/* Of a scan that goes on: bytes that are read at once, which double from the first to the last. */
#define FIRST_READ_AHEAD_BYTES (64u << 10)
#define MOST_READ_AHEAD_BYTES  (512u << 10)

/* No cell: the scanner is new, past an end, or an error has come. */
#define AT_NONE SIZE_MAX

struct petal_hfile_scanner {
    petal_hfile *file;
    struct hfile_block_reader reader;
    struct hfile_cells cells;           /* of the block */
    size_t at;                          /* the cell, or AT_NONE */
    uint64_t block_offset, next_offset; /* where `cells` are of; where the block after it begins */
    struct hfile_index_cursor index;
    uint64_t index_offset; /* of the data block that `index` is at; HFILE_NO_BLOCK: not known */
    struct hfile_buffer sought; /* a key that is searched for, which may lie in `cells` */
    /* Has every block from the file's first one on been read, so that cells can be counted? */
    bool counts;
    uint64_t counted; /* cells up to the end of this block */
};

enum petal_status
petal_hfile_scanner_new(petal_hfile *file, petal_hfile_scanner **scanner, petal_error *error)
{
    HFILE_RETURN_IF_NULL(scanner, error);
    *scanner = NULL;
    HFILE_RETURN_IF_NULL(file, error);

    petal_hfile_scanner *made;
    enum petal_status status;

    hfile_error_clear(error);
    status = hfile_check_readable(file, error);
    if (status != PETAL_OK)
        return status;
    made = hfile_allocate_zeroed(file->allocator, sizeof *made);
    if (made == NULL)
        return hfile_error_no_memory(error);
    made->file = file;
    made->at = AT_NONE;
    made->index_offset = HFILE_NO_BLOCK;
    hfile_block_reader_init(&made->reader, file);
    hfile_cells_init(&made->cells, file->allocator);
    hfile_buffer_init(&made->sought, file->allocator);
    hfile_index_cursor_init(&made->index, file);
    *scanner = made;
    return PETAL_OK;
}

void
petal_hfile_scanner_free(petal_hfile_scanner *scanner)
{
    if (scanner == NULL)
        return;
    hfile_index_cursor_free(&scanner->index);
    hfile_buffer_free(&scanner->sought);
    hfile_cells_free(&scanner->cells);
    hfile_block_reader_free(&scanner->reader);
    hfile_release(scanner->file->allocator, scanner, sizeof *scanner);
}

uint64_t
petal_hfile_scanner_offset(const petal_hfile_scanner *scanner)
{
    return scanner == NULL || scanner->at == AT_NONE ? 0 : scanner->block_offset;
}

/* ---- blocks ---- */

/* The block becomes the scanner's; it has at least one cell. */
static enum petal_status
take_block(petal_hfile_scanner *scanner, const struct hfile_block *block, petal_error *error)
{
    const petal_hfile *file = scanner->file;
    uint64_t offset = block->header.offset;
    enum petal_status status;
    const char *wrong;

    status =
        hfile_decode_cells(file->encoding, &file->layout, block->payload, &scanner->cells, &wrong);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status == PETAL_OK && scanner->cells.count == 0) {
        wrong = "it has no cells";
        status = PETAL_CORRUPT;
    }
    if (status != PETAL_OK)
        return hfile_error_corrupt(error, file->name, offset, "block at %" PRIu64 ": %s", offset,
                                   wrong);
    scanner->block_offset = offset;
    scanner->next_offset = offset + block->header.stored_bytes;
    return PETAL_OK;
}

static enum petal_status
read_block(petal_hfile_scanner *scanner, uint64_t offset, uint32_t stored_bytes, petal_error *error)
{
    struct hfile_block block;
    enum petal_status status = hfile_block_read_kind(
        &scanner->reader, scanner->file->encoding->block_kind, offset, stored_bytes,
        scanner->file->trailer.load_on_open_offset, &block, error);

    return status == PETAL_OK ? take_block(scanner, &block, error) : status;
}

/* A block of its own, to be found at once: nothing else is read. */
static enum petal_status
jump_to_block(petal_hfile_scanner *scanner, uint64_t offset, uint32_t stored_bytes,
              petal_error *error)
{
    scanner->reader.read_ahead = 0;
    scanner->counts = false;
    return read_block(scanner, offset, stored_bytes, error);
}

/* At a cell of its block. */
static enum petal_status
stand(petal_hfile_scanner *scanner, size_t at, const petal_hfile_cell **cell)
{
    assert(at < scanner->cells.count);
    scanner->at = at;
    *cell = &scanner->cells.cells[at];
    return PETAL_OK;
}

/* ---- forward ---- */

static void
read_further_ahead(petal_hfile_scanner *scanner)
{
    size_t bytes = scanner->reader.read_ahead * 2;

    if (bytes < FIRST_READ_AHEAD_BYTES)
        bytes = FIRST_READ_AHEAD_BYTES;
    scanner->reader.read_ahead = bytes < MOST_READ_AHEAD_BYTES ? bytes : MOST_READ_AHEAD_BYTES;
}

static bool
may_stand_between_data(enum petal_hfile_block_kind kind)
{
    return kind == PETAL_HFILE_BLOCK_LEAF_INDEX || kind == PETAL_HFILE_BLOCK_BLOOM_CHUNK;
}

/* Where the next data block begins, at next_offset or after. HFILE_NO_BLOCK: there is none. */
static enum petal_status
find_next_block(petal_hfile_scanner *scanner, uint64_t *offset, petal_error *error)
{
    const petal_hfile *file = scanner->file;
    uint64_t last = file->trailer.last_data_block_offset;
    uint64_t at = scanner->next_offset;

    *offset = HFILE_NO_BLOCK;
    while (at <= last) {
        petal_hfile_block header;
        enum petal_status status = hfile_block_read_header(
            &scanner->reader, at, file->trailer.load_on_open_offset, &header, error);

        if (status != PETAL_OK)
            return status;
        if (header.kind == file->encoding->block_kind) {
            *offset = at;
            return PETAL_OK;
        }
        if (!may_stand_between_data(header.kind))
            return hfile_error_corrupt(error, file->name, at,
                                       "block at %" PRIu64 ": a block of kind %s stands between "
                                       "data blocks",
                                       at, petal_hfile_block_kind_text(header.kind));
        at += header.stored_bytes;
    }
    if (scanner->block_offset != last)
        return hfile_error_corrupt(error, file->name, last,
                                   "no data block begins at %" PRIu64
                                   ", where the trailer says that the last one does",
                                   last);
    return PETAL_OK;
}

/* At the end of a scan that saw all: nothing may be missing without a word. */
static enum petal_status
check_count(const petal_hfile_scanner *scanner, petal_error *error)
{
    const petal_hfile *file = scanner->file;

    if (!scanner->counts || scanner->counted == file->trailer.cells)
        return PETAL_OK;
    return hfile_error_corrupt(error, file->name, file->trailer_offset,
                               "the file has %" PRIu64 " cells, but its trailer says %" PRIu64,
                               scanner->counted, file->trailer.cells);
}

/* The first cell of the next block. */
static enum petal_status
go_to_next_block(petal_hfile_scanner *scanner, const petal_hfile_cell **cell, petal_error *error)
{
    enum petal_status status;
    uint64_t offset;

    scanner->at = AT_NONE;
    read_further_ahead(scanner);
    status = find_next_block(scanner, &offset, error);
    if (status != PETAL_OK)
        return status;
    if (offset == HFILE_NO_BLOCK)
        return check_count(scanner, error);
    status = read_block(scanner, offset, 0, error);
    if (status != PETAL_OK)
        return status;
    scanner->counted += scanner->cells.count;
    return stand(scanner, 0, cell);
}

enum petal_status
petal_hfile_scanner_first(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                          petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);

    const struct hfile_trailer *trailer = &scanner->file->trailer;
    enum petal_status status;

    hfile_error_clear(error);
    scanner->at = AT_NONE;
    if (trailer->first_data_block_offset == HFILE_NO_BLOCK)
        return PETAL_OK;
    status = jump_to_block(scanner, trailer->first_data_block_offset, 0, error);
    if (status != PETAL_OK)
        return status;
    scanner->counts = true;
    scanner->counted = scanner->cells.count;
    return stand(scanner, 0, cell);
}

enum petal_status
petal_hfile_scanner_next(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                         petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);
    hfile_error_clear(error);
    if (scanner->at == AT_NONE)
        return PETAL_OK;
    if (scanner->at + 1 < scanner->cells.count)
        return stand(scanner, scanner->at + 1, cell);
    return go_to_next_block(scanner, cell, error);
}

/* ---- backward ---- */

enum petal_status
petal_hfile_scanner_last(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                         petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);

    const struct hfile_trailer *trailer = &scanner->file->trailer;
    enum petal_status status;

    hfile_error_clear(error);
    scanner->at = AT_NONE;
    if (trailer->last_data_block_offset == HFILE_NO_BLOCK)
        return PETAL_OK;
    status = jump_to_block(scanner, trailer->last_data_block_offset, 0, error);
    return status == PETAL_OK ? stand(scanner, scanner->cells.count - 1, cell) : status;
}

/* The index comes to be at this block, by the key of its first cell. */
static enum petal_status
find_block_in_index(petal_hfile_scanner *scanner, petal_error *error)
{
    const struct hfile_index_entry *entry;
    enum petal_status status;

    if (scanner->index_offset == scanner->block_offset)
        return PETAL_OK;
    scanner->index_offset = HFILE_NO_BLOCK;
    status = hfile_index_find(&scanner->index, &scanner->cells.cells[0], &entry, error);
    if (status != PETAL_OK)
        return status;
    if (entry == NULL || entry->offset != scanner->block_offset)
        return hfile_error_corrupt(error, scanner->file->name, scanner->block_offset,
                                   "block at %" PRIu64 ": the index does not name it by its first "
                                   "key",
                                   scanner->block_offset);
    scanner->index_offset = entry->offset;
    return PETAL_OK;
}

/* The last cell of the block before. */
static enum petal_status
go_to_previous_block(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                     petal_error *error)
{
    uint64_t offset = scanner->block_offset;
    const struct hfile_index_entry *entry;
    enum petal_status status;

    scanner->at = AT_NONE;
    if (offset == scanner->file->trailer.first_data_block_offset)
        return PETAL_OK;
    status = find_block_in_index(scanner, error);
    if (status == PETAL_OK) {
        scanner->index_offset = HFILE_NO_BLOCK;
        status = hfile_index_previous(&scanner->index, &entry, error);
    }
    if (status != PETAL_OK)
        return status;
    if (entry == NULL || entry->offset >= offset)
        return hfile_error_corrupt(error, scanner->file->name, offset,
                                   "block at %" PRIu64 ": the index names no block before it",
                                   offset);
    offset = entry->offset;
    status = jump_to_block(scanner, offset, entry->stored_bytes, error);
    if (status != PETAL_OK)
        return status;
    scanner->index_offset = offset;
    return stand(scanner, scanner->cells.count - 1, cell);
}

enum petal_status
petal_hfile_scanner_previous(petal_hfile_scanner *scanner, const petal_hfile_cell **cell,
                             petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);
    hfile_error_clear(error);
    if (scanner->at == AT_NONE)
        return PETAL_OK;
    if (scanner->at > 0)
        return stand(scanner, scanner->at - 1, cell);
    return go_to_previous_block(scanner, cell, error);
}

/* ---- searches ---- */

/* The number of the first cell of the block at or after the key; the number of cells if none
 * is. */
static size_t
find_in_block(const struct hfile_cells *cells, const petal_hfile_cell *key)
{
    size_t low = 0, high = cells->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (petal_hfile_compare(&cells->cells[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The key's parts go to memory that stays when the block goes. False: there is none. */
static bool
keep_key(petal_hfile_scanner *scanner, petal_hfile_cell *key)
{
    struct hfile_buffer *sought = &scanner->sought;
    petal_slice *const parts[] = {&key->row, &key->family, &key->qualifier};

    hfile_buffer_clear(sought);
    if (!hfile_buffer_reserve(sought, key->row.size + key->family.size + key->qualifier.size + 1))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const uint8_t *kept = sought->bytes + sought->size;

        hfile_buffer_append_slice(sought, *parts[i]);
        parts[i]->data = kept;
    }
    return true;
}

/* The block that the index names for the key becomes the scanner's, unless it is; then the key is
 * kept. */
static enum petal_status
go_to_block_of(petal_hfile_scanner *scanner, petal_hfile_cell *key, bool *found, petal_error *error)
{
    const struct hfile_index_entry *entry;
    bool is_there = scanner->at != AT_NONE;
    enum petal_status status;

    *found = false;
    scanner->at = AT_NONE;
    scanner->index_offset = HFILE_NO_BLOCK;
    status = hfile_index_find(&scanner->index, key, &entry, error);
    if (status != PETAL_OK || entry == NULL)
        return status;
    *found = true;
    scanner->index_offset = entry->offset;
    if (is_there && scanner->block_offset == entry->offset)
        return PETAL_OK;
    if (!keep_key(scanner, key))
        return hfile_error_no_memory(error);
    return jump_to_block(scanner, entry->offset, entry->stored_bytes, error);
}

enum petal_status
petal_hfile_scanner_seek(petal_hfile_scanner *scanner, const petal_hfile_cell *key,
                         const petal_hfile_cell **cell, petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);
    HFILE_RETURN_IF_NULL(key, error);
    HFILE_RETURN_IF_NO_BYTES(key->row, error);
    HFILE_RETURN_IF_NO_BYTES(key->family, error);
    HFILE_RETURN_IF_NO_BYTES(key->qualifier, error);

    petal_hfile_cell sought = *key;
    enum petal_status status;
    bool found;
    size_t at;

    hfile_error_clear(error);
    status = go_to_block_of(scanner, &sought, &found, error);
    if (status != PETAL_OK || !found)
        return status;
    at = find_in_block(&scanner->cells, &sought);
    if (at < scanner->cells.count)
        return stand(scanner, at, cell);
    return go_to_next_block(scanner, cell, error);
}

enum petal_status
petal_hfile_scanner_seek_row(petal_hfile_scanner *scanner, petal_slice row,
                             const petal_hfile_cell **cell, petal_error *error)
{
    HFILE_RETURN_IF_NULL(cell, error);
    *cell = NULL;
    HFILE_RETURN_IF_NULL(scanner, error);
    HFILE_RETURN_IF_NO_BYTES(row, error);

    const petal_hfile_cell key = {
        .row = row, .timestamp = INT64_MAX, .type = PETAL_HFILE_TYPE_MAXIMUM};

    return petal_hfile_scanner_seek(scanner, &key, cell, error);
}
