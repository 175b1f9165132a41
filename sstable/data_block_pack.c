/*
 * data_block_pack.c -- a data block as it stands in a file that is compressed.  See data_block.h.
 *
 * Unpacking needs no memory: the text is decompressed to the end of the block's bytes, and then the
 * block is made from its beginning on.  What is made never reaches the text that is still to be
 * taken, since all that lies between the two is yet to come from the packed numbers.
 */
#include "sstable/data_block.h"

#include "base/coding.h"
#include "sstable/data_block_fold.h"
#include "sstable/packed_rows.h"

#include <assert.h>
#include <lz4.h>

#define LEAST_ROWS        4   /* that are packed */
#define HEADER_MOST_BYTES 128 /* of the packed one */

/* ---- the header ---- */

/* Its fields from the records on that are packed as varints: where they stand, and how wide. */
static const struct {
    uint8_t at, width;
} fields[] = {{8, 4}, {12, 2}, {18, 2}, {20, 2}, {22, 2}, {24, 4}, {28, 4}};
#define FIELDS (sizeof fields / sizeof *fields)

static uint64_t
get_field(const uint8_t *from, uint32_t width)
{
    return width == 2 ? get_le16(from) : get_le32(from);
}

static uint8_t *
put_header(uint8_t *to, const uint8_t *header)
{
    uint32_t rows = get_le32(header);
    uint64_t timestamp = get_le64(header + 32), sequence = get_le64(header + 48);

    to = put_varint64(to, rows);
    to = put_varint64(to, get_le32(header + 4) - rows);
    *to++ = (uint8_t)(header[14] | header[15] << 4);
    *to++ = (uint8_t)(header[16] | header[17] << 4);
    for (size_t i = 0; i < FIELDS; i++)
        to = put_varint64(to, get_field(header + fields[i].at, fields[i].width));
    to = put_varint64(to, zigzag64(timestamp));
    to = put_varint64(to, get_le64(header + 40) - timestamp);
    to = put_varint64(to, sequence);
    return put_varint64(to, get_le64(header + 56) - sequence);
}

/* As get_varint64, and NULL stays NULL; nearly all take one byte. */
static inline const uint8_t *
take_number(const uint8_t *from, const uint8_t *limit, uint64_t *v)
{
    if (from == NULL || from == limit)
        return NULL;
    *v = *from;
    return *from < 0x80 ? from + 1 : get_varint64(from, limit, v);
}

static const uint8_t *
get_counts(const uint8_t *from, const uint8_t *limit, uint8_t *header)
{
    uint32_t rows, more;

    from = get_varint32(from, limit, &rows);
    from = from == NULL ? NULL : get_varint32(from, limit, &more);
    if (from == NULL || more > UINT32_MAX - rows || limit - from < 2)
        return NULL;
    put_le32(header, rows);
    put_le32(header + 4, rows + more);
    header[14] = *from & 15;
    header[15] = *from++ >> 4;
    header[16] = *from & 15;
    header[17] = *from++ >> 4;
    return from;
}

/* A number and one that is given as what it is above that. */
static const uint8_t *
get_range(const uint8_t *from, const uint8_t *limit, bool with_sign, uint8_t *header)
{
    uint64_t least, above;

    from = take_number(take_number(from, limit, &least), limit, &above);
    if (from == NULL)
        return NULL;
    least = with_sign ? unzigzag64(least) : least;
    put_le64(header, least);
    put_le64(header + 8, least + above);
    return from;
}

static const uint8_t *
get_header(const uint8_t *from, const uint8_t *limit, uint8_t *header)
{
    from = get_counts(from, limit, header);
    for (size_t i = 0; from != NULL && i < FIELDS; i++) {
        uint32_t v;

        from = get_varint32(from, limit, &v);
        if (from == NULL || (fields[i].width == 2 && v > UINT16_MAX))
            return NULL;
        if (fields[i].width == 2)
            put_le16(header + fields[i].at, (uint16_t)v);
        else
            put_le32(header + fields[i].at, v);
    }
    return get_range(get_range(from, limit, true, header + 32), limit, false, header + 48);
}

/* ---- the parts of a block ---- */

static bool
one_cell_per_row(const struct data_block *block)
{
    return (block->flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0;
}

/* From the first record: where the record of a row's first cell begins; `row` may be the number of
 * rows.  UINT64_MAX: the first cells are not those of a block. */
static uint64_t
row_begin(const struct data_block *block, size_t row)
{
    uint64_t cell = one_cell_per_row(block) ? row : packed_get(&block->firsts, row);

    if (cell > block->cells)
        return UINT64_MAX;
    return block->record_bytes != 0 || block->offsets.width == 0
               ? cell * block->record_bytes
               : packed_get(&block->offsets, cell);
}

static size_t
tail_bytes(const struct data_block *block)
{
    return block->row_rest_bytes > DATA_BLOCK_HEAD_BYTES
               ? block->row_rest_bytes - DATA_BLOCK_HEAD_BYTES
               : 0;
}

static bool
may_pack_rows(const struct data_block *block)
{
    const uint32_t needed = DATA_BLOCK_FIXED_ROW_REST | DATA_BLOCK_TAILS;

    return (block->flags & needed) == needed && block->row_rest_bytes > 0 &&
           block->row_rest_bytes <= PACKED_ROWS_MOST_REST;
}

/* What stands between heads and timestamps, and between sequences and records. */
static size_t
middle_bytes(const struct data_block *block, const uint8_t *heads_end)
{
    return (size_t)(block->records - heads_end) -
           ((size_t)block->timestamps.width + block->sequences.width) * block->cells;
}

static size_t
behind_heads(const struct data_block *block)
{
    size_t bytes = block->qualifier_heads != NULL ? 4 * (size_t)block->cells : 0;

    bytes += block->offsets.width * ((size_t)block->cells + 1);
    return bytes + block->firsts.width * ((size_t)block->rows + 1);
}

static void
for_folded(const struct data_block *block, bool heads, void (*fold)(const struct folded_array *),
           uint8_t *from)
{
    struct folded_array array = {from, block->rows, heads ? 4 : 0, true};

    if (heads)
        fold(&array);
    from += array.count * array.width;
    from += block->qualifier_heads != NULL ? 4 * (size_t)block->cells : 0;
    array = (struct folded_array){from, (size_t)block->cells + 1, block->offsets.width, true};
    fold(&array);
    from += array.count * array.width;
    array = (struct folded_array){from, (size_t)block->rows + 1, block->firsts.width, true};
    fold(&array);
}

static size_t
group_at(size_t first, size_t count)
{
    return count - first < PACKED_GROUP ? count - first : PACKED_GROUP;
}

/* ---- packing ---- */

size_t
data_block_pack_bound(size_t size)
{
    /* A group of rows has four bytes a row in the block, and takes not much more than it has. */
    return 2 * size + HEADER_MOST_BYTES + ROW_SYMBOLS_MOST_BYTES + 6 * PACKED_GROUP_EXTRA;
}

/* The rests of rows [first, first + rows). */
static void
gather_rests(const struct data_block *block, size_t first, size_t rows, struct row_rests *rests)
{
    size_t tail = tail_bytes(block);

    for (size_t i = 0; i < rows; i++) {
        uint32_t head = get_le32(block->row_heads + 4 * (first + i));
        uint8_t *rest = rests->bytes[i];

        for (size_t k = 0; k < DATA_BLOCK_HEAD_BYTES; k++)
            rest[k] = (uint8_t)(head >> (24 - 8 * k));
        if (tail > 0)
            memcpy(rest + DATA_BLOCK_HEAD_BYTES, block->records + row_begin(block, first + i),
                   tail);
    }
}

static bool
choose_symbols(const struct data_block *block, struct row_symbols *symbols, struct row_rests *rests)
{
    struct row_survey survey = {.rest_bytes = block->row_rest_bytes};

    if (!may_pack_rows(block) || block->rows < LEAST_ROWS)
        return false;
    for (size_t first = 0; first < block->rows; first += PACKED_GROUP) {
        gather_rests(block, first, group_at(first, block->rows), rests);
        row_survey_places(&survey, rests, group_at(first, block->rows));
    }
    for (size_t first = 0; first < block->rows; first += PACKED_GROUP) {
        if (block->rows > PACKED_GROUP)
            gather_rests(block, first, group_at(first, block->rows), rests);
        row_survey_bytes(&survey, rests, group_at(first, block->rows));
    }
    return row_symbols_choose(symbols, &survey);
}

/* The rests, which `rests` has already if one group is all. */
static uint8_t *
put_rows(uint8_t *to, const struct data_block *block, const struct row_symbols *symbols,
         struct row_rests *rests)
{
    to = row_symbols_put(to, symbols);
    for (size_t first = 0; first < block->rows; first += PACKED_GROUP) {
        size_t rows = group_at(first, block->rows);

        if (block->rows > PACKED_GROUP)
            gather_rests(block, first, rows, rests);
        to = packed_rows_put(to, symbols, rests, rows);
    }
    return to;
}

static uint8_t *
put_numbers(uint8_t *to, const struct packed_array *array, size_t count)
{
    uint64_t numbers[PACKED_GROUP];

    for (size_t first = 0; array->width != 0 && first < count; first += PACKED_GROUP) {
        size_t group = group_at(first, count);

        for (size_t i = 0; i < group; i++)
            numbers[i] = packed_get(array, first + i);
        to = packed_numbers_put(to, numbers, group, PACKED_ANY);
    }
    return to;
}

static uint8_t *
put_bytes(uint8_t *to, const uint8_t *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* The records without the tails of rows. */
static uint8_t *
put_records(uint8_t *to, const struct data_block *block)
{
    size_t tail = tail_bytes(block);

    for (size_t row = 0; row < block->rows; row++) {
        uint64_t begin = row_begin(block, row) + tail;

        to = put_bytes(to, block->records + begin, row_begin(block, row + 1) - begin);
    }
    return to;
}

static size_t
make_text(const struct data_block *block, bool rows_packed, uint8_t *text)
{
    const uint8_t *heads_end = block->row_heads + 4 * (size_t)block->rows;
    size_t behind = behind_heads(block);
    size_t prefixes = middle_bytes(block, heads_end) - behind;
    uint8_t *to = text;

    if (!rows_packed)
        to = put_bytes(to, block->row_heads, 4 * (size_t)block->rows);
    to = put_bytes(to, heads_end, behind);
    for_folded(block, !rows_packed, fold_array, text);
    to = put_bytes(to, block->records - prefixes, prefixes);
    if (rows_packed && tail_bytes(block) > 0)
        to = put_records(to, block);
    else
        to = put_bytes(to, block->records, (size_t)(block->bytes + block->size - block->records));
    return (size_t)(to - text);
}

size_t
data_block_pack(const uint8_t *bytes, size_t size, uint8_t *packed, uint8_t *text,
                size_t *text_bytes)
{
    uint8_t numbers_bytes[VARINT64_MAX_BYTES];
    struct data_block block;
    struct row_symbols symbols;
    struct row_rests rests;
    uint8_t *to = packed + 1, *numbers;
    size_t length;
    bool rows_packed;

    assert(data_block_header_is_sane(bytes, size));
    data_block_view(&block, bytes, size);
    rows_packed = choose_symbols(&block, &symbols, &rests);
    packed[0] = rows_packed ? DATA_BLOCK_PACKED_ROWS : 0;
    to = put_header(to, bytes);
    numbers = to;
    if (rows_packed)
        to = put_rows(to, &block, &symbols, &rests);
    to = put_numbers(to, &block.timestamps, block.cells);
    to = put_numbers(to, &block.sequences, block.cells);
    /* Their length stands before them. */
    length = (size_t)(put_varint64(numbers_bytes, (uint64_t)(to - numbers)) - numbers_bytes);
    memmove(numbers + length, numbers, (size_t)(to - numbers));
    memcpy(numbers, numbers_bytes, length);
    *text_bytes = make_text(&block, rows_packed, text);
    assert((size_t)(to + length - packed) <= data_block_pack_bound(size) && *text_bytes <= size);
    return (size_t)(to + length - packed);
}

/* ---- unpacking ---- */

/* A block that is being made. */
struct unpacking {
    struct data_block block; /* its header is there */
    const uint8_t *numbers, *numbers_end;
    const uint8_t *text, *text_end; /* what is still to be taken, at the end of the block's bytes */
    uint8_t *to;                    /* what is made ends here */
    bool rows_packed;
    struct row_symbols symbols;
    const uint8_t *rows; /* the packed rows */
    struct row_rests rests;
};

static bool
take_text(struct unpacking *made, size_t size)
{
    if (size > (size_t)(made->text_end - made->text))
        return false;
    assert(made->to <= made->text);
    memmove(made->to, made->text, size);
    made->to += size;
    made->text += size;
    return true;
}

static bool
make_heads(struct unpacking *made)
{
    const struct data_block *block = &made->block;
    uint32_t mask = block->row_rest_bytes < DATA_BLOCK_HEAD_BYTES
                        ? ~(UINT32_MAX >> 8 * block->row_rest_bytes)
                        : UINT32_MAX;

    if (!made->rows_packed)
        return take_text(made, 4 * (size_t)block->rows);
    made->numbers =
        row_symbols_get(made->numbers, made->numbers_end, block->row_rest_bytes, &made->symbols);
    made->rows = made->numbers;
    for (size_t first = 0; made->numbers != NULL && first < block->rows; first += PACKED_GROUP) {
        size_t rows = group_at(first, block->rows);

        made->numbers =
            packed_rows_get(made->numbers, made->numbers_end, &made->symbols, rows, &made->rests);
        for (size_t i = 0; made->numbers != NULL && i < rows; i++, made->to += 4)
            put_le32(made->to, get_be32(made->rests.bytes[i]) & mask);
    }
    return made->numbers != NULL;
}

static void
put_widths(uint8_t *to, uint32_t width, const uint64_t *numbers, size_t count)
{
    if (width == 2) {
        for (size_t i = 0; i < count; i++)
            put_le16(to + 2 * i, (uint16_t)numbers[i]);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < width; k++)
            *to++ = (uint8_t)(numbers[i] >> 8 * k);
}

static bool
make_numbers(struct unpacking *made, uint32_t width)
{
    uint64_t numbers[PACKED_GROUP];

    for (size_t first = 0; width != 0 && first < made->block.cells; first += PACKED_GROUP) {
        size_t count = group_at(first, made->block.cells);

        made->numbers = packed_numbers_get(made->numbers, made->numbers_end, numbers, count);
        if (made->numbers == NULL)
            return false;
        put_widths(made->to, width, numbers, count);
        made->to += count * width;
    }
    return true;
}

/* Bytes that are copied at once. */
#define CHUNK 32

/*
 * The same of rows with one record each, all of one size: as many as can be made by copying whole
 * chunks, which may pass the end of a tail or of a record as long as they end before the text that
 * is still to be taken.  Returns how many.
 */
static size_t
make_equal_records(struct unpacking *made, size_t rows)
{
    const size_t tail = tail_bytes(&made->block), size = made->block.record_bytes;
    const uint8_t *text = made->text;
    uint8_t *to = made->to;
    size_t i = 0;

    if (size < tail || (size - tail) * rows > (size_t)(made->text_end - text))
        return 0;
    for (; i < rows && (size_t)(text - to) >= 2 * CHUNK + tail &&
           (size_t)(made->text_end - text) >= size - tail + CHUNK;
         i++) {
        const uint8_t *rest = made->rests.bytes[i] + DATA_BLOCK_HEAD_BYTES;
        uint8_t chunk[CHUNK];

        for (size_t k = 0; k < tail; k += CHUNK / 2)
            memcpy(to + k, rest + k, CHUNK / 2);
        to += tail;
        for (size_t k = 0; k < size - tail; k += CHUNK) {
            memcpy(chunk, text + k, CHUNK);
            memcpy(to + k, chunk, CHUNK);
        }
        to += size - tail;
        text += size - tail;
    }
    made->to = to;
    made->text = text;
    return i;
}

/* The records of a group of rows, whose tails are in made->rests. */
static bool
make_records_of(struct unpacking *made, size_t first, size_t rows)
{
    const struct data_block *block = &made->block;
    size_t tail = tail_bytes(block);
    size_t i =
        one_cell_per_row(block) && block->record_bytes != 0 ? make_equal_records(made, rows) : 0;
    uint64_t begin = row_begin(block, first + i);

    for (; i < rows; i++) {
        uint64_t end = row_begin(block, first + i + 1);

        if (end == UINT64_MAX || end < begin || end - begin < tail ||
            tail > (size_t)(made->text - made->to))
            return false;
        memcpy(made->to, made->rests.bytes[i] + DATA_BLOCK_HEAD_BYTES, tail);
        made->to += tail;
        if (!take_text(made, end - begin - tail))
            return false;
        begin = end;
    }
    return true;
}

static bool
make_records(struct unpacking *made)
{
    const struct data_block *block = &made->block;
    const uint8_t *rows = made->rows;

    if (!made->rows_packed || tail_bytes(block) == 0)
        return take_text(made, (size_t)(made->text_end - made->text));
    if (row_begin(block, 0) != 0)
        return false;
    for (size_t first = 0; first < block->rows; first += PACKED_GROUP) {
        size_t count = group_at(first, block->rows);

        if (block->rows > PACKED_GROUP) {
            rows = packed_rows_get(rows, made->numbers_end, &made->symbols, count, &made->rests);
            assert(rows != NULL); /* they were taken for the heads */
        }
        if (!make_records_of(made, first, count))
            return false;
    }
    return true;
}

/* Bytes of the text: what of the block is not in the numbers; SIZE_MAX: the rows cannot be. */
static size_t
text_size(const struct data_block *block, bool rows_packed)
{
    size_t heads = 4 * (size_t)block->rows, tails = tail_bytes(block) * (size_t)block->rows;
    size_t records = (size_t)(block->bytes + block->size - block->records);
    size_t middle = middle_bytes(block, block->row_heads + heads);

    if (!rows_packed)
        return heads + middle + records;
    return may_pack_rows(block) && tails <= records ? middle + records - tails : SIZE_MAX;
}

static bool
decompress_text(struct unpacking *made, bool lz4, const uint8_t *stored, size_t stored_bytes,
                size_t size)
{
    uint8_t *to = (uint8_t *)(uintptr_t)made->block.bytes + made->block.size - size;

    made->text = to;
    made->text_end = to + size;
    if (!lz4 && stored_bytes == size)
        memcpy(to, stored, size);
    else if (!lz4 || size == 0 ||
             LZ4_decompress_safe((const char *)stored, (char *)to, (int)stored_bytes, (int)size) !=
                 (int)size)
        return false;
    return true;
}

static bool
make_block(struct unpacking *made)
{
    const struct data_block *block = &made->block;
    uint8_t *heads = made->to;

    if (!make_heads(made) || !take_text(made, behind_heads(block)))
        return false;
    for_folded(block, !made->rows_packed, unfold_array,
               made->rows_packed ? made->to - behind_heads(block) : heads);
    if (!make_numbers(made, block->timestamps.width) || !make_numbers(made, block->sequences.width))
        return false;
    return made->numbers == made->numbers_end &&
           take_text(made, (size_t)(block->records - made->to)) && make_records(made) &&
           made->text == made->text_end;
}

bool
data_block_unpack(const uint8_t *stored, size_t stored_bytes, uint8_t *to, size_t size)
{
    const uint8_t *at = stored + 1, *limit = stored + stored_bytes;
    struct unpacking made;
    uint64_t numbers;
    uint32_t packing;
    size_t text;

    if (stored_bytes < 2 || size < DATA_BLOCK_HEADER_BYTES)
        return false;
    packing = stored[0];
    if ((packing & ~(uint32_t)(DATA_BLOCK_TEXT_LZ4 | DATA_BLOCK_PACKED_ROWS)) != 0)
        return false;
    at = get_header(at, limit, to);
    at = take_number(at, limit, &numbers);
    if (at == NULL || numbers > (size_t)(limit - at) || !data_block_header_is_sane(to, size))
        return false;
    data_block_view(&made.block, to, size);
    made.rows_packed = (packing & DATA_BLOCK_PACKED_ROWS) != 0;
    made.to = to + DATA_BLOCK_HEADER_BYTES;
    made.numbers = at;
    made.numbers_end = at + numbers;
    text = text_size(&made.block, made.rows_packed);
    return text != SIZE_MAX &&
           decompress_text(&made, (packing & DATA_BLOCK_TEXT_LZ4) != 0, made.numbers_end,
                           (size_t)(limit - made.numbers_end), text) &&
           make_block(&made);
}
