/*
 * check.c -- everything in a file read once, from its begin to its trailer, and compared with all
 * that the file says of it: see petal_hfile_check. Memory is that of a block of each kind.
 */
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/reader/facts_check.h"
#include "tools/hfile/reader/filter_check.h"
#include "tools/hfile/reader/index.h"

#include <inttypes.h>

#define READ_AHEAD_BYTES (512u << 10)
#define BLOCK_KINDS      (PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META + 1)

/* Blocks of these come in this order; see section(). */
enum section { SECTION_SCANNED, SECTION_NOT_SCANNED, SECTION_LOAD_ON_OPEN };

struct check {
    petal_hfile *file;
    struct hfile_block_reader reader;
    struct hfile_cells cells;
    struct hfile_index_cursor index;
    bool index_has_begun;
    struct hfile_facts_check facts;
    struct hfile_filter_check filters[HFILE_FILTERS];
    int64_t previous[BLOCK_KINDS]; /* offset of the last block of each kind; -1: none */
    uint64_t last_data_offset;
    petal_hfile_report report;
};

static void
init(struct check *check, petal_hfile *file)
{
    *check = (struct check){.file = file, .last_data_offset = HFILE_NO_BLOCK};
    hfile_block_reader_init(&check->reader, file);
    check->reader.read_ahead = READ_AHEAD_BYTES;
    hfile_cells_init(&check->cells, file->allocator);
    hfile_index_cursor_init(&check->index, file);
    hfile_facts_check_init(&check->facts, file->allocator);
    for (unsigned i = 0; i < HFILE_FILTERS; i++) {
        if (file->filters[i].is_there)
            hfile_filter_check_init(&check->filters[i], file, (enum petal_hfile_filter)i);
    }
    for (unsigned kind = 0; kind < BLOCK_KINDS; kind++)
        check->previous[kind] = -1;
}

static void
release(struct check *check)
{
    for (unsigned i = 0; i < HFILE_FILTERS; i++) {
        if (check->file->filters[i].is_there)
            hfile_filter_check_free(&check->filters[i]);
    }
    hfile_facts_check_free(&check->facts);
    hfile_index_cursor_free(&check->index);
    hfile_cells_free(&check->cells);
    hfile_block_reader_free(&check->reader);
}

static enum petal_status
corrupt(const struct check *check, uint64_t offset, const char *wrong, petal_error *error)
{
    return hfile_error_corrupt(error, check->file->name, offset, "block at %" PRIu64 ": %s", offset,
                               wrong);
}

/* ---- blocks ---- */

static enum section
section_of(enum petal_hfile_block_kind kind)
{
    switch (kind) {
    case PETAL_HFILE_BLOCK_DATA:
    case PETAL_HFILE_BLOCK_ENCODED_DATA:
    case PETAL_HFILE_BLOCK_LEAF_INDEX:
    case PETAL_HFILE_BLOCK_BLOOM_CHUNK:
        return SECTION_SCANNED;
    case PETAL_HFILE_BLOCK_META:
    case PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX:
        return SECTION_NOT_SCANNED;
    case PETAL_HFILE_BLOCK_ROOT_INDEX:
    case PETAL_HFILE_BLOCK_FILE_INFO:
    case PETAL_HFILE_BLOCK_GENERAL_BLOOM_META:
    case PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META:
    default:
        return SECTION_LOAD_ON_OPEN;
    }
}

/* Writers may leave out where the block before stands. */
static enum petal_status
check_header(struct check *check, const petal_hfile_block *header, enum section *section,
             petal_error *error)
{
    bool is_behind = header->offset >= check->file->trailer.load_on_open_offset;
    enum section here = section_of(header->kind);

    if (here < *section || (here == SECTION_LOAD_ON_OPEN) != is_behind)
        return corrupt(check, header->offset, "it does not belong into this part of the file",
                       error);
    *section = here;
    if (header->previous_offset != -1 && header->previous_offset != check->previous[header->kind])
        return corrupt(check, header->offset,
                       "it does not say where the block of its kind before it stands", error);
    check->previous[header->kind] = (int64_t)header->offset;
    check->report.blocks++;
    check->report.checksums +=
        header->checksum != PETAL_HFILE_CHECKSUM_NULL && !check->file->no_checksums;
    return PETAL_OK;
}

/* ---- the index ---- */

/* The next entry of the index is this block's. */
static enum petal_status
check_entry(struct check *check, const petal_hfile_block *header, petal_error *error)
{
    const struct hfile_index_entry *entry;
    petal_hfile_cell key = {0}, last = {0};
    enum petal_status status;

    status = check->index_has_begun ? hfile_index_next(&check->index, &entry, error)
                                    : hfile_index_first(&check->index, &entry, error);
    if (status != PETAL_OK)
        return status;
    if (entry == NULL || entry->offset != header->offset ||
        entry->stored_bytes != header->stored_bytes)
        return corrupt(check, header->offset, "the index does not name it in its turn", error);
    if (!hfile_key_parse(entry->key, &key) || petal_hfile_compare(&key, &check->cells.cells[0]) > 0)
        return corrupt(check, header->offset, "its key in the index comes after its first cell",
                       error);
    if (!check->index_has_begun && petal_hfile_compare(&key, &check->cells.cells[0]) != 0)
        return corrupt(check, header->offset, "the index does not begin with the file's first key",
                       error);
    if (check->index_has_begun &&
        (!hfile_key_parse(hfile_buffer_slice(&check->facts.last_key), &last) ||
         petal_hfile_compare(&key, &last) <= 0))
        return corrupt(check, header->offset,
                       "its key in the index does not come after the block before", error);
    check->index_has_begun = true;
    check->report.index_entries++;
    return PETAL_OK;
}

static enum petal_status
check_index_end(struct check *check, petal_error *error)
{
    const struct hfile_index_entry *entry = NULL;
    enum petal_status status = PETAL_OK;

    if (check->index_has_begun)
        status = hfile_index_next(&check->index, &entry, error);
    if (status != PETAL_OK || entry == NULL)
        return status;
    return corrupt(check, entry->offset, "the index names it as a data block, which it is not",
                   error);
}

/* ---- cells ---- */

static enum petal_status
check_cell(struct check *check, const petal_hfile_cell *cell, petal_error *error)
{
    hfile_facts_check_add(&check->facts, cell);
    for (unsigned i = 0; i < HFILE_FILTERS; i++) {
        enum petal_status status = PETAL_OK;

        if (check->file->filters[i].is_there)
            status = hfile_filter_check_add(&check->filters[i], cell, error);
        if (status != PETAL_OK)
            return status;
    }
    return PETAL_OK;
}

/* Within the block, and after the block before. */
static enum petal_status
check_order(struct check *check, uint64_t offset, petal_error *error)
{
    const struct hfile_cells *cells = &check->cells;
    petal_hfile_cell last = {0};

    if (check->facts.cells > 0 &&
        (!hfile_key_parse(hfile_buffer_slice(&check->facts.last_key), &last) ||
         petal_hfile_compare(&last, &cells->cells[0]) > 0))
        return corrupt(check, offset, "its first cell lies before the last one of the block before",
                       error);
    for (size_t i = 1; i < cells->count; i++) {
        if (petal_hfile_compare(&cells->cells[i - 1], &cells->cells[i]) > 0)
            return corrupt(check, offset, "its cells are not in order", error);
    }
    return PETAL_OK;
}

static enum petal_status
check_cells(struct check *check, petal_error *error)
{
    const struct hfile_cells *cells = &check->cells;

    for (size_t i = 0; i < cells->count; i++) {
        enum petal_status status = check_cell(check, &cells->cells[i], error);

        if (status != PETAL_OK)
            return status;
    }
    if (!hfile_facts_check_end_block(&check->facts, &cells->cells[cells->count - 1]))
        return hfile_error_no_memory(error);
    return PETAL_OK;
}

static enum petal_status
check_data_block(struct check *check, const struct hfile_block *block, petal_error *error)
{
    const petal_hfile *file = check->file;
    uint64_t offset = block->header.offset;
    enum petal_status status;
    const char *wrong;

    if (check->last_data_offset == HFILE_NO_BLOCK &&
        offset != file->trailer.first_data_block_offset)
        return corrupt(check, offset, "it is the first data block, but the trailer says another",
                       error);
    check->last_data_offset = offset;
    check->report.data_blocks++;
    status =
        hfile_decode_cells(file->encoding, &file->layout, block->payload, &check->cells, &wrong);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status != PETAL_OK)
        return corrupt(check, offset, wrong, error);
    if (check->cells.count == 0)
        return corrupt(check, offset, "it has no cells", error);
    status = check_order(check, offset, error);
    if (status == PETAL_OK)
        status = check_entry(check, &block->header, error);
    return status == PETAL_OK ? check_cells(check, error) : status;
}

/* ---- the whole ---- */

static enum petal_status
check_block(struct check *check, uint64_t offset, enum section *section, struct hfile_block *block,
            petal_error *error)
{
    enum petal_status status =
        hfile_block_read(&check->reader, offset, 0, check->file->trailer_offset, block, error);

    if (status == PETAL_OK)
        status = check_header(check, &block->header, section, error);
    if (status != PETAL_OK)
        return status;
    if (block->header.kind == check->file->encoding->block_kind)
        return check_data_block(check, block, error);
    if (block->header.kind == PETAL_HFILE_BLOCK_DATA ||
        block->header.kind == PETAL_HFILE_BLOCK_ENCODED_DATA)
        return corrupt(check, offset, "it is a data block of another encoding than the file's",
                       error);
    return PETAL_OK;
}

static enum petal_status
check_blocks(struct check *check, bool (*watch)(void *argument, uint64_t done, uint64_t total),
             void *argument, petal_error *error)
{
    uint64_t end = check->file->trailer_offset, total = check->file->source.size;
    enum section section = SECTION_SCANNED;

    for (uint64_t offset = 0; offset < end;) {
        struct hfile_block block;
        enum petal_status status = check_block(check, offset, &section, &block, error);

        if (status != PETAL_OK)
            return status;
        offset += block.header.stored_bytes;
        if (watch != NULL && !watch(argument, offset, total))
            return hfile_error_set(error, PETAL_BUSY, check->file->name, "the check was given up");
    }
    return PETAL_OK;
}

static enum petal_status
check_end(struct check *check, petal_error *error)
{
    const petal_hfile *file = check->file;
    enum petal_status status;

    if (check->last_data_offset != file->trailer.last_data_block_offset)
        return hfile_error_corrupt(error, file->name, file->trailer_offset,
                                   "the trailer does not say where the last data block begins");
    status = check_index_end(check, error);
    if (status == PETAL_OK)
        status = hfile_facts_check_compare(&check->facts, file, error);
    for (unsigned i = 0; status == PETAL_OK && i < HFILE_FILTERS; i++) {
        if (!file->filters[i].is_there)
            continue;
        status = hfile_filter_check_finish(&check->filters[i], error);
        check->report.filter_keys += check->filters[i].keys;
        check->report.rebuilt_chunks += check->filters[i].chunks;
    }
    check->report.cells = check->facts.cells;
    return status;
}

enum petal_status
petal_hfile_check(petal_hfile *file, bool (*watch)(void *argument, uint64_t done, uint64_t total),
                  void *argument, petal_hfile_report *report, petal_error *error)
{
    HFILE_RETURN_IF_NULL(file, error);

    enum petal_status status;
    struct check check;

    hfile_error_clear(error);
    if (report != NULL)
        *report = (petal_hfile_report){0};
    status = hfile_check_readable(file, error);
    if (status != PETAL_OK)
        return status;
    init(&check, file);
    status = check_blocks(&check, watch, argument, error);
    if (status == PETAL_OK)
        status = check_end(&check, error);
    if (status == PETAL_OK && report != NULL)
        *report = check.report;
    release(&check);
    return status;
}
