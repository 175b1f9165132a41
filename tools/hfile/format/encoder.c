/* encoder.c -- see encoder.h. */
#include "tools/hfile/format/encoder.h"

#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/key.h"

#include <assert.h>

#define EXTRA_BYTES 64

/* ---- steps ---- */

static size_t
common_bytes(petal_slice a, petal_slice b)
{
    const uint8_t *x = a.data, *y = b.data;
    size_t least = a.size < b.size ? a.size : b.size, i = 0;

    for (; least - i >= 8; i += 8) {
        if (memcmp(x + i, y + i, 8) != 0)
            break;
    }
    while (i < least && x[i] == y[i])
        i++;
    return i;
}

/* Of b against a, which have `common` bytes in common: > 0, 0 or < 0. */
static int
order_behind(petal_slice a, petal_slice b, size_t common)
{
    if (common < a.size && common < b.size)
        return hfile_slice_bytes(b)[common] - hfile_slice_bytes(a)[common];
    return b.size > a.size ? 1 : b.size < a.size ? -1 : 0;
}

void
hfile_key_step(const petal_hfile_cell *before, const petal_hfile_cell *cell,
               struct hfile_key_step *step)
{
    step->row_common = common_bytes(before->row, cell->row);
    step->order = order_behind(before->row, cell->row, step->row_common);
    step->qualifier_common = 0;
    step->same_row = step->order == 0;
    step->same_column = false;
    if (!step->same_row)
        return;
    step->qualifier_common = common_bytes(before->qualifier, cell->qualifier);
    step->order = order_behind(before->qualifier, cell->qualifier, step->qualifier_common);
    step->same_column = step->order == 0;
    if (!step->same_column)
        return;
    if (before->timestamp != cell->timestamp)
        step->order = cell->timestamp < before->timestamp ? 1 : -1;
    else
        step->order = before->type - cell->type;
}

/* ---- blocks ---- */

void
hfile_encoder_init(struct hfile_encoder *encoder, const struct hfile_encoding *encoding,
                   const struct hfile_cell_layout *layout, const petal_allocator *allocator)
{
    *encoder = (struct hfile_encoder){.encoding = encoding, .layout = *layout};
    hfile_buffer_init(&encoder->block, allocator);
    hfile_buffer_init(&encoder->row_places, allocator);
}

void
hfile_encoder_free(struct hfile_encoder *encoder)
{
    hfile_buffer_free(&encoder->block);
    hfile_buffer_free(&encoder->row_places);
}

bool
hfile_encoder_begin(struct hfile_encoder *encoder, size_t in_front)
{
    struct hfile_buffer *block = &encoder->block;

    hfile_buffer_clear(block);
    hfile_buffer_clear(&encoder->row_places);
    if (!hfile_buffer_reserve(block, in_front + EXTRA_BYTES))
        return false;
    memset(block->bytes, 0, in_front);
    block->size = in_front;
    encoder->payload_at = in_front;
    if (encoder->encoding->id != 0)
        hfile_buffer_append_u16(block, encoder->encoding->id);
    if (encoder->encoding->says_unencoded_bytes)
        hfile_buffer_append_u32(block, 0);
    encoder->cells_at = block->size;
    encoder->count = 0;
    encoder->unencoded_bytes = 0;
    return true;
}

bool
hfile_encoder_add(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                  const struct hfile_key_step *step)
{
    const petal_hfile_cell *cell = keyed->cell;
    struct hfile_buffer *block = &encoder->block;
    uint8_t *end;

    if (!hfile_buffer_reserve(block,
                              keyed->key.size + cell->value.size + cell->tags.size + EXTRA_BYTES))
        return false;
    if (encoder->encoding->indexes_rows && (encoder->count == 0 || !step->same_row) &&
        !hfile_buffer_append_u32(&encoder->row_places, (uint32_t)(block->size - encoder->cells_at)))
        return false;
    end = encoder->encoding->encode(encoder, keyed, step, block->bytes + block->size);
    block->size = (size_t)(end - block->bytes);
    assert(block->size <= block->capacity);
    encoder->row_bytes = cell->row.size;
    encoder->key_bytes = keyed->key.size;
    encoder->value_bytes = cell->value.size;
    encoder->timestamp = cell->timestamp;
    encoder->type = cell->type;
    encoder->unencoded_bytes +=
        hfile_cell_bytes(cell, encoder->layout.has_tags, encoder->layout.has_sequences);
    encoder->count++;
    return true;
}

bool
hfile_encoder_end(struct hfile_encoder *encoder)
{
    struct hfile_buffer *block = &encoder->block;
    uint32_t cells_bytes = (uint32_t)(block->size - encoder->cells_at);

    assert(encoder->unencoded_bytes <= UINT32_MAX);
    if (encoder->encoding->says_unencoded_bytes)
        hfile_put_u32(block->bytes + encoder->cells_at - 4, (uint32_t)encoder->unencoded_bytes);
    return !encoder->encoding->indexes_rows ||
           (hfile_buffer_append_u32(block, (uint32_t)(encoder->row_places.size / 4)) &&
            hfile_buffer_append_slice(block, hfile_buffer_slice(&encoder->row_places)) &&
            hfile_buffer_append_u32(block, cells_bytes));
}
