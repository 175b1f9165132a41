/* encoding.c -- see encoding.h. */
#include "tools/hfile/format/encoding.h"

#include "tools/hfile/format/format.h"

#include <assert.h>

static const struct hfile_encoding encodings[] = {
    {PETAL_HFILE_ENCODING_NONE, 0, PETAL_HFILE_BLOCK_DATA, hfile_decode_none, false, false,
     hfile_encode_none},
    {PETAL_HFILE_ENCODING_PREFIX, HFILE_ENCODING_ID_PREFIX, PETAL_HFILE_BLOCK_ENCODED_DATA,
     hfile_decode_prefix, true, false, hfile_encode_prefix},
    {PETAL_HFILE_ENCODING_DIFF, HFILE_ENCODING_ID_DIFF, PETAL_HFILE_BLOCK_ENCODED_DATA,
     hfile_decode_diff, true, false, hfile_encode_diff},
    {PETAL_HFILE_ENCODING_FAST_DIFF, HFILE_ENCODING_ID_FAST_DIFF, PETAL_HFILE_BLOCK_ENCODED_DATA,
     hfile_decode_fast_diff, true, false, hfile_encode_fast_diff},
    {PETAL_HFILE_ENCODING_ROW_INDEX_V1, HFILE_ENCODING_ID_ROW_INDEX_V1,
     PETAL_HFILE_BLOCK_ENCODED_DATA, hfile_decode_row_index, false, true, hfile_encode_none}};

const struct hfile_encoding *
hfile_encoding_of(enum petal_hfile_encoding kind)
{
    assert(kind >= 1 && kind <= sizeof encodings / sizeof *encodings);
    assert(encodings[kind - 1].kind == kind);
    return &encodings[kind - 1];
}

enum petal_status
hfile_decode_cells(const struct hfile_encoding *encoding, const struct hfile_cell_layout *layout,
                   petal_slice payload, struct hfile_cells *cells, const char **wrong)
{
    struct hfile_bytes rest = hfile_bytes_of(payload);
    uint16_t id = 0;

    hfile_cells_clear(cells);
    *wrong = "the block is not of the file's encoding";
    if (encoding->id != 0 && (!hfile_take_u16(&rest, &id) || id != encoding->id))
        return PETAL_CORRUPT;
    return encoding->decode(layout, hfile_slice(rest.at, hfile_bytes_left(&rest)), cells, wrong);
}
