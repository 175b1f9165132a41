/* add.c -- a cell is checked, enters the filters, and is stored in a data block; see writer.h. */
#include "tools/hfile/writer/writer.h"

#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/bloom_meta.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/trailer.h"
#include "tools/hfile/writer/separator.h"

#include <inttypes.h>

#define MOST_TAGS_BYTES UINT16_MAX
#define QUOTED_BYTES    100

/* ---- is it a cell that the file can have? ---- */

static enum petal_status
refuse(const petal_hfile_writer *writer, const petal_hfile_cell *cell, const char *why,
       petal_error *error)
{
    char row[QUOTED_BYTES];

    return hfile_error_set(error, PETAL_INVALID, writer->name, "cell %" PRIu64 " (row \"%s\"): %s",
                           writer->facts.cells, hfile_error_quote(cell->row, row, sizeof row), why);
}

static const char *
wrong_size(const petal_hfile_cell *cell)
{
    if (cell->row.size == 0)
        return "a row has at least one byte";
    if (cell->row.size > PETAL_HFILE_MAX_ROW_BYTES)
        return "its row is longer than 32767 bytes";
    if (cell->family.size > PETAL_HFILE_MAX_FAMILY_BYTES)
        return "its family is longer than 127 bytes";
    if (cell->tags.size > MOST_TAGS_BYTES)
        return "its tags are longer than 65535 bytes";
    if (cell->qualifier.size > HFILE_MOST_PAYLOAD_BYTES / 4)
        return "its qualifier is longer than 56 MiB";
    if (cell->value.size > HFILE_MOST_PAYLOAD_BYTES / 2)
        return "its value is longer than 112 MiB";
    return NULL;
}

static bool
is_stored_type(int type)
{
    return type == PETAL_PUT || type == PETAL_DELETE || type == PETAL_DELETE_FAMILY_VERSION ||
           type == PETAL_DELETE_COLUMN || type == PETAL_DELETE_FAMILY;
}

/* HBase takes them apart without a look at their end. */
static bool
are_tags(petal_slice tags)
{
    petal_slice payload;
    int type, taken = 1;

    while (taken > 0)
        taken = petal_hfile_tag_next(&tags, &type, &payload);
    return taken == 0;
}

static const char *
wrong_cell(const petal_hfile_writer *writer, const petal_hfile_cell *cell)
{
    const char *wrong = wrong_size(cell);

    if (wrong != NULL)
        return wrong;
    if (cell->timestamp < 0)
        return "its timestamp is below 0, which HBase does not read";
    if (!is_stored_type(cell->type))
        return "its type is neither a put's nor a marker's";
    if (cell->sequence < 0)
        return "its sequence is below 0";
    if (cell->tags.size > 0 && !writer->options.with_tags)
        return "it has tags, and the file is written without";
    return are_tags(cell->tags) ? NULL : "its tags do not fit into their length";
}

/* The cell's place after the one before. */
static const char *
wrong_place(const petal_hfile_writer *writer, const petal_hfile_cell *cell,
            struct hfile_key_step *step)
{
    const petal_hfile_cell *last = &writer->last_cell;
    const struct hfile_encoder *encoder = &writer->encoder;

    if (!hfile_slice_equal(last->family, cell->family))
        return "it is of another family than the cells before";
    hfile_key_step(last, cell, step);
    if (step->order < 0)
        return "it does not come after the cell before";
    /* Cells with equal keys share a block. */
    if (step->order == 0 && (encoder->count >= HFILE_MOST_CELLS_OF_BLOCK ||
                             encoder->unencoded_bytes + hfile_cell_bytes(cell, true, true) >
                                 HFILE_MOST_PAYLOAD_BYTES / 2))
        return "there are more cells with this key than a block holds";
    return NULL;
}

/* ---- blocks ---- */

enum petal_status
hfile_writer_write_inline(petal_hfile_writer *writer, bool is_end, petal_error *error)
{
    enum petal_status status = hfile_index_writer_write_leaf(&writer->index, is_end, error);

    if (status == PETAL_OK)
        status = hfile_bloom_writer_write_chunks(&writer->general, is_end, error);
    if (status == PETAL_OK)
        status = hfile_bloom_writer_write_chunks(&writer->delete_family, is_end, error);
    return status;
}

static bool
enter_in_index(petal_hfile_writer *writer, const struct hfile_block_place *place)
{
    petal_slice first_key = hfile_buffer_slice(&writer->first_key);

    if (writer->key_before.size == 0)
        return hfile_index_writer_add(&writer->index, first_key, place);
    return hfile_separator(hfile_buffer_slice(&writer->key_before), first_key,
                           &writer->separator) &&
           hfile_index_writer_add(&writer->index, hfile_buffer_slice(&writer->separator), place);
}

enum petal_status
hfile_writer_end_block(petal_hfile_writer *writer, petal_error *error)
{
    struct hfile_encoder *encoder = &writer->encoder;
    struct hfile_block_place place;
    enum petal_status status;

    if (!hfile_encoder_end(encoder))
        return hfile_error_no_memory(error);
    status = hfile_block_writer_write(&writer->blocks, encoder->encoding->block_kind,
                                      &encoder->block, &place, error);
    if (status != PETAL_OK)
        return status;
    encoder->count = 0;
    if (writer->first_data_block_offset == HFILE_NO_BLOCK)
        writer->first_data_block_offset = place.offset;
    writer->last_data_block_offset = place.offset;
    if (!enter_in_index(writer, &place))
        return hfile_error_no_memory(error);
    hfile_buffer_clear(&writer->key_before);
    if (!hfile_buffer_append_slice(&writer->key_before,
                                   hfile_buffer_slice(&writer->keys[writer->last])))
        return hfile_error_no_memory(error);
    return PETAL_OK;
}

static enum petal_status
begin_data_block(petal_hfile_writer *writer, petal_slice first_key, petal_error *error)
{
    hfile_buffer_clear(&writer->first_key);
    if (!hfile_buffer_append_slice(&writer->first_key, first_key) ||
        !hfile_encoder_begin(&writer->encoder, HFILE_BLOCK_HEADER_BYTES))
        return hfile_error_no_memory(error);
    return PETAL_OK;
}

/* ---- cells ---- */

static bool
add_column_to_filter(petal_hfile_writer *writer, const petal_hfile_cell *cell)
{
    petal_hfile_cell key = hfile_bloom_column_key(cell->row, cell->qualifier);

    hfile_buffer_clear(&writer->bloom_key);
    return hfile_key_append(&key, &writer->bloom_key) &&
           hfile_bloom_writer_add(&writer->general, hfile_buffer_slice(&writer->bloom_key));
}

static bool
add_to_general_filter(petal_hfile_writer *writer, const petal_hfile_cell *cell,
                      const struct hfile_key_step *step)
{
    petal_slice key = cell->row;

    switch (writer->options.bloom) {
    case PETAL_HFILE_BLOOM_ROWCOL:
        return step->same_column || add_column_to_filter(writer, cell);
    case PETAL_HFILE_BLOOM_ROW_PREFIX:
        if (key.size > writer->options.bloom_prefix_bytes)
            key.size = writer->options.bloom_prefix_bytes;
        return step->same_row || hfile_bloom_writer_add(&writer->general, key);
    case PETAL_HFILE_BLOOM_ROW:
        return step->same_row || hfile_bloom_writer_add(&writer->general, key);
    default:
        return true;
    }
}

/* A file with a ROWCOL filter has none of families' markers: that one knows them by their empty
 * qualifiers. */
static bool
add_to_filters(petal_hfile_writer *writer, const petal_hfile_cell *cell,
               const struct hfile_key_step *step)
{
    return add_to_general_filter(writer, cell, step) &&
           (!hfile_is_delete_family(cell) || writer->options.is_plain ||
            writer->options.bloom == PETAL_HFILE_BLOOM_ROWCOL ||
            hfile_bloom_writer_add(&writer->delete_family, cell->row));
}

/* Of the block's cells without encoding, and the places of its rows. */
static bool
is_full(const petal_hfile_writer *writer)
{
    const struct hfile_encoder *encoder = &writer->encoder;

    return encoder->unencoded_bytes + encoder->row_places.size >= writer->options.block_bytes;
}

/* End the block before the cell if it is full, and begin one if there is none. */
static enum petal_status
make_room(petal_hfile_writer *writer, petal_slice key, const struct hfile_key_step *step,
          petal_error *error)
{
    struct hfile_encoder *encoder = &writer->encoder;
    enum petal_status status = PETAL_OK;

    if (encoder->count > 0 && step->order != 0 && is_full(writer)) {
        status = hfile_writer_end_block(writer, error);
        if (status == PETAL_OK)
            status = hfile_writer_write_inline(writer, false, error);
    }
    if (status == PETAL_OK && encoder->count == 0)
        status = begin_data_block(writer, key, error);
    return status;
}

static enum petal_status
store(petal_hfile_writer *writer, const struct hfile_keyed_cell *keyed,
      const struct hfile_key_step *step, petal_error *error)
{
    enum petal_status status;

    if (!add_to_filters(writer, keyed->cell, step))
        return hfile_error_no_memory(error);
    status = make_room(writer, keyed->key, step, error);
    if (status != PETAL_OK)
        return status;
    if (!hfile_encoder_add(&writer->encoder, keyed, step) ||
        !hfile_written_facts_add(&writer->facts, keyed))
        return hfile_error_no_memory(error);
    return PETAL_OK;
}

/* The key of the cell, in its serialised form. */
static void
keep_last(petal_hfile_writer *writer, const petal_hfile_cell *cell)
{
    const uint8_t *row = writer->keys[writer->last].bytes + 2;
    const uint8_t *family = row + cell->row.size + 1;

    writer->last_cell = (petal_hfile_cell){
        .row = hfile_slice(row, cell->row.size),
        .family = hfile_slice(family, cell->family.size),
        .qualifier = hfile_slice(family + cell->family.size, cell->qualifier.size),
        .timestamp = cell->timestamp,
        .type = cell->type};
}

enum petal_status
petal_hfile_writer_add(petal_hfile_writer *writer, const petal_hfile_cell *cell, petal_error *error)
{
    HFILE_RETURN_IF_NULL(writer, error);
    HFILE_RETURN_IF_NULL(cell, error);
    HFILE_RETURN_IF_NO_BYTES(cell->row, error);
    HFILE_RETURN_IF_NO_BYTES(cell->family, error);
    HFILE_RETURN_IF_NO_BYTES(cell->qualifier, error);
    HFILE_RETURN_IF_NO_BYTES(cell->value, error);
    HFILE_RETURN_IF_NO_BYTES(cell->tags, error);

    struct hfile_key_step step = {.order = 1};
    struct hfile_buffer *key = &writer->keys[!writer->last];
    struct hfile_keyed_cell keyed;
    enum petal_status status = hfile_writer_check_open(writer, error);
    const char *wrong;

    if (status != PETAL_OK)
        return status;
    wrong = wrong_cell(writer, cell);
    if (wrong == NULL && writer->facts.cells > 0)
        wrong = wrong_place(writer, cell, &step);
    if (wrong != NULL)
        return refuse(writer, cell, wrong, error);
    hfile_buffer_clear(key);
    if (!hfile_key_append(cell, key))
        return hfile_writer_fail(writer, hfile_error_no_memory(error));
    keyed = (struct hfile_keyed_cell){cell, hfile_buffer_slice(key)};
    status = store(writer, &keyed, &step, error);
    if (status != PETAL_OK)
        return hfile_writer_fail(writer, status);
    writer->last = !writer->last;
    keep_last(writer, cell);
    return PETAL_OK;
}
