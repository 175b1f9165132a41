/*
 * data_block_pack.c -- a data block as it is stored in a compressed file.  See data_block.h.
 *
 * LZ4 finds repeated bytes, four and more; it does not see that numbers are close to each other or
 * that keys are made of few different bytes.  So numbers take as many bits as they need, rows of
 * digits four bits a digit, and LZ4 gets the rest: the text.
 *
 * Unpacking needs no memory.  The text is decompressed to the end of the block's bytes, and the
 * block is written from its beginning.  Whatever comes from the text moves towards the beginning,
 * by as many bytes as numbers and rows before it still have to fill: so no byte of the text is
 * overwritten before it is read.
 */
#include "sstable/block/data_block.h"

#include "base/coding.h"
#include "base/inline.h"
#include "sstable/block/packed_numbers.h"

#include <assert.h>

/* Rows whose rests differ only in a few symbols. */
#define SYMBOLS     16
#define SYMBOL_BITS 4
#define WORD_PLACES 16 /* symbols in a number */
#define LEAST_ROWS  4  /* fewer are not worth the list of symbols */
#define MOST_REST   64 /* bytes of a row's rest */
#define MOST_WORDS  (MOST_REST / WORD_PLACES)

/* ---- arrays ---- */

static size_t
group_at(size_t first, size_t count)
{
    return count - first < PACKED_GROUP ? count - first : PACKED_GROUP;
}

/* Write the elements of an array from `first` on; nothing if they take no bytes. */
static uint8_t *
put_array(uint8_t *to, const struct packed_array *array, size_t first, size_t end,
          enum packing packing)
{
    uint64_t numbers[PACKED_GROUP], before = 0;

    for (; array->width != 0 && first < end; first += PACKED_GROUP) {
        size_t count = group_at(first, end);

        for (size_t i = 0; i < count; i++)
            numbers[i] = packed_get(array, first + i);
        to = packed_numbers_put(to, numbers, count, packing, &before);
    }
    return to;
}

static ALWAYS_INLINE void
write_numbers(uint8_t *to, const uint64_t *numbers, size_t count, uint32_t width)
{
    for (size_t i = 0; i < count; i++)
        to = packed_put(to, width, numbers[i]);
}

/* Write the `count` elements of an array of `width` bytes each to `to`; NULL if malformed. */
static const uint8_t *
get_array(const uint8_t *from, const uint8_t *limit, uint8_t *to, uint32_t width, size_t count,
          enum packing packing)
{
    uint64_t numbers[PACKED_GROUP], before = 0;

    for (size_t first = 0; width != 0 && first < count; first += PACKED_GROUP) {
        size_t group = group_at(first, count);

        from = packed_numbers_get(from, limit, numbers, group, packing, &before);
        if (from == NULL)
            return NULL;
        if (width == 2) /* the compiler knows the widths that most arrays have */
            write_numbers(to, numbers, group, 2);
        else if (width == 4)
            write_numbers(to, numbers, group, 4);
        else
            write_numbers(to, numbers, group, width);
        to += group * width;
    }
    return from;
}

/* ---- rows of few symbols ---- */

/* How the rests of a block's rows are made: bytes that all rows have, and places where each has
 * one of the symbols. */
struct row_symbols {
    uint32_t rest_bytes;
    uint32_t places;
    uint8_t place[MOST_REST];  /* ascending */
    uint8_t shared[MOST_REST]; /* a rest; its bytes outside the places are every row's */
    unsigned count;
    uint8_t symbol[SYMBOLS]; /* ascending */
    uint8_t rank[256];       /* of a symbol; only set while packing */
};

static size_t
words_of(const struct row_symbols *symbols)
{
    return (symbols->places + WORD_PLACES - 1) / WORD_PLACES;
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
    return (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0 && block->row_rest_bytes > 0 &&
           block->row_rest_bytes <= MOST_REST;
}

/* From the first record: where the record of a row's first cell begins, or with `row` the number of
 * rows where the last one ends.  UINT64_MAX: the first cells are not those of a block. */
static uint64_t
row_begin(const struct data_block *block, uint32_t row)
{
    uint32_t cell = data_block_first_cell(block, row);

    return cell <= block->cells ? data_block_record_offset(block, cell) : UINT64_MAX;
}

/* The rest of a row that is in the block. */
static void
read_rest(const struct data_block *block, uint32_t row, uint8_t *rest)
{
    uint32_t head = get_le32(block->row_heads + DATA_BLOCK_HEAD_BYTES * row);

    for (size_t k = 0; k < DATA_BLOCK_HEAD_BYTES; k++)
        rest[k] = (uint8_t)(head >> (24 - 8 * k));
    memcpy(rest + DATA_BLOCK_HEAD_BYTES, block->records + row_begin(block, row), tail_bytes(block));
}

/* Find how the rows are made; false if they are not packed. */
static bool
find_symbols(struct row_symbols *symbols, const struct data_block *block)
{
    uint8_t rest[MOST_REST + DATA_BLOCK_HEAD_BYTES];
    bool differs[MOST_REST] = {false}, present[256] = {false};

    if (!may_pack_rows(block) || block->rows < LEAST_ROWS)
        return false;
    *symbols = (struct row_symbols){.rest_bytes = block->row_rest_bytes};
    read_rest(block, 0, rest);
    memcpy(symbols->shared, rest, symbols->rest_bytes);
    for (uint32_t row = 1; row < block->rows; row++) {
        read_rest(block, row, rest);
        for (uint32_t k = 0; k < symbols->rest_bytes; k++) {
            if (rest[k] == symbols->shared[k])
                continue;
            differs[k] = true;
            present[rest[k]] = true;
        }
    }
    for (uint32_t k = 0; k < symbols->rest_bytes; k++) {
        if (!differs[k])
            continue;
        symbols->place[symbols->places++] = (uint8_t)k;
        present[symbols->shared[k]] = true;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        if (!present[byte])
            continue;
        if (symbols->count == SYMBOLS)
            return false;
        symbols->rank[byte] = (uint8_t)symbols->count;
        symbols->symbol[symbols->count++] = (uint8_t)byte;
    }
    return true;
}

/* The number of symbols; these, as runs of bytes that follow each other; a mask of the places; the
 * bytes elsewhere. */
static uint8_t *
put_symbols(uint8_t *to, const struct row_symbols *symbols)
{
    uint8_t *mask;

    *to++ = (uint8_t)symbols->count;
    for (unsigned i = 0, run; i < symbols->count; i += run) {
        for (run = 1;
             i + run < symbols->count && symbols->symbol[i + run] == symbols->symbol[i] + run;)
            run++;
        *to++ = symbols->symbol[i];
        *to++ = (uint8_t)run;
    }
    mask = to;
    to += (symbols->rest_bytes + 7) / 8;
    memset(mask, 0, (size_t)(to - mask));
    for (uint32_t i = 0; i < symbols->places; i++)
        mask[symbols->place[i] / 8] |= (uint8_t)(1u << symbols->place[i] % 8);
    for (uint32_t k = 0; k < symbols->rest_bytes; k++)
        if ((mask[k / 8] >> k % 8 & 1) == 0)
            *to++ = symbols->shared[k];
    return to;
}

static const uint8_t *
get_symbol_runs(const uint8_t *from, const uint8_t *limit, struct row_symbols *symbols)
{
    unsigned count = *from++;

    if (count > SYMBOLS)
        return NULL;
    while (symbols->count < count) {
        unsigned byte, run;

        if (limit - from < 2)
            return NULL;
        byte = *from++;
        run = *from++;
        if (run == 0 || run > count - symbols->count)
            return NULL;
        for (unsigned i = 0; i < run; i++)
            symbols->symbol[symbols->count++] = (uint8_t)(byte + i);
    }
    return from;
}

/* Read what put_symbols has written; NULL if that is malformed.  REQUIRES: `from` < `limit`. */
static const uint8_t *
get_symbols(const uint8_t *from, const uint8_t *limit, struct row_symbols *symbols)
{
    const uint8_t *mask = get_symbol_runs(from, limit, symbols);
    uint32_t mask_bytes = (symbols->rest_bytes + 7) / 8;

    if (mask == NULL || mask_bytes > (size_t)(limit - mask))
        return NULL;
    from = mask + mask_bytes;
    for (uint32_t k = 0; k < symbols->rest_bytes; k++) {
        if ((mask[k / 8] >> k % 8 & 1) != 0) {
            symbols->place[symbols->places++] = (uint8_t)k;
            continue;
        }
        if (from == limit)
            return NULL;
        symbols->shared[k] = *from++;
    }
    return from;
}

/* The ranks of the symbols in the places of a rest, 16 a number, the first in the highest bits: so
 * first words ascend as rows do. */
static uint64_t
word_of(const struct row_symbols *symbols, size_t word, const uint8_t *rest)
{
    size_t end = (word + 1) * WORD_PLACES;
    uint64_t number = 0;

    for (size_t i = word * WORD_PLACES; i < end && i < symbols->places; i++)
        number = number << SYMBOL_BITS | symbols->rank[rest[symbols->place[i]]];
    return number;
}

static void
write_word(const struct row_symbols *symbols, size_t word, uint64_t number, uint8_t *rest)
{
    size_t first = word * WORD_PLACES, i = first + WORD_PLACES;

    for (i = i < symbols->places ? i : symbols->places; i-- > first; number >>= SYMBOL_BITS)
        rest[symbols->place[i]] = symbols->symbol[number & (SYMBOLS - 1)];
}

static uint8_t *
put_rows(uint8_t *to, const struct data_block *block, const struct row_symbols *symbols)
{
    uint8_t rest[MOST_REST + DATA_BLOCK_HEAD_BYTES];
    uint64_t numbers[MOST_WORDS][PACKED_GROUP], before = 0; /* of the first words */

    for (uint32_t first = 0; first < block->rows; first += PACKED_GROUP) {
        uint32_t rows = (uint32_t)group_at(first, block->rows);

        for (uint32_t i = 0; i < rows; i++) {
            read_rest(block, first + i, rest);
            for (size_t word = 0; word < words_of(symbols); word++)
                numbers[word][i] = word_of(symbols, word, rest);
        }
        for (size_t word = 0; word < words_of(symbols); word++)
            to = packed_numbers_put(to, numbers[word], rows,
                                    word == 0 ? PACKED_DIFFERENCES : PACKED_AS_THEY_ARE, &before);
    }
    return to;
}

/* Where the records of a block whose rows are packed go, and where their bytes come from. */
struct record_move {
    uint8_t *to;
    const uint8_t *from;
    uint64_t begin; /* of the row's record, from the first record */
};

/* Write a row's tail and move its record to its place; false if the record is not one of the
 * block. */
static bool
move_record(const struct data_block *block, uint32_t row, const uint8_t *tail,
            struct record_move *move)
{
    size_t tail_size = tail_bytes(block);
    uint64_t end = row_begin(block, row + 1);
    uint64_t later_tails = tail_size * (block->rows - row - 1);

    if (end < move->begin + tail_size || end > data_block_records_bytes(block) - later_tails)
        return false;
    memcpy(move->to, tail, tail_size);
    memmove(move->to + tail_size, move->from, end - move->begin - tail_size);
    move->to += end - move->begin;
    move->from += end - move->begin - tail_size;
    move->begin = end;
    return true;
}

static const uint8_t *
get_rows(const uint8_t *from, const uint8_t *limit, const struct data_block *block,
         struct row_symbols *symbols)
{
    uint8_t *heads = (uint8_t *)block->row_heads, *records = (uint8_t *)block->records;
    bool tails = tail_bytes(block) > 0; /* else the records are in their places */
    struct record_move move = {records, records + tail_bytes(block) * block->rows, 0};
    uint64_t numbers[MOST_WORDS][PACKED_GROUP], before = 0; /* of the first words */
    uint8_t rest[MOST_REST + DATA_BLOCK_HEAD_BYTES] = {0};

    memcpy(rest, symbols->shared, symbols->rest_bytes);
    for (uint32_t first = 0; first < block->rows; first += PACKED_GROUP) {
        uint32_t rows = (uint32_t)group_at(first, block->rows);

        for (size_t word = 0; from != NULL && word < words_of(symbols); word++)
            from = packed_numbers_get(from, limit, numbers[word], rows,
                                      word == 0 ? PACKED_DIFFERENCES : PACKED_AS_THEY_ARE, &before);
        if (from == NULL)
            return NULL;
        for (uint32_t i = 0; i < rows; i++) {
            for (size_t word = 0; word < words_of(symbols); word++)
                write_word(symbols, word, numbers[word][i], rest);
            put_le32(heads + DATA_BLOCK_HEAD_BYTES * (first + i), get_be32(rest));
            if (tails && !move_record(block, first + i, rest + DATA_BLOCK_HEAD_BYTES, &move))
                return NULL;
        }
    }
    return !tails || move.to == block->bytes + block->size ? from : NULL;
}

/* The heads of rows that are not packed. */
static uint8_t *
put_heads(uint8_t *to, const struct data_block *block)
{
    const uint8_t *at = block->row_heads;
    const struct packed_array heads = packed_take(&at, DATA_BLOCK_HEAD_BYTES, block->rows);

    return put_array(to, &heads, 0, block->rows, PACKED_DIFFERENCES);
}

/* ---- the block ---- */

static size_t
heads_bytes(const struct data_block *block)
{
    return block->qualifier_heads != NULL ? DATA_BLOCK_HEAD_BYTES * (size_t)block->cells : 0;
}

/* Types and prefixes. */
static size_t
middle_bytes(const struct data_block *block)
{
    const uint8_t *begin = block->types != NULL ? block->types : slice_bytes(block->row_prefix);

    return (size_t)(block->records - begin);
}

/* Bytes of the block that the text does not have. */
static size_t
packed_away(const struct data_block *block, bool rows)
{
    size_t all = block->size - DATA_BLOCK_HEADER_BYTES - heads_bytes(block) - middle_bytes(block) -
                 data_block_records_bytes(block);

    return rows ? all + tail_bytes(block) * block->rows : all;
}

/* Header, qualifier heads, types, prefixes, and the records, without the tails of packed rows. */
static size_t
put_text(uint8_t *text, const struct data_block *block, bool rows)
{
    size_t tail = rows ? tail_bytes(block) : 0;
    uint8_t *to = put_bytes(text, block->bytes, DATA_BLOCK_HEADER_BYTES);

    if (block->qualifier_heads != NULL)
        to = put_bytes(to, block->qualifier_heads, heads_bytes(block));
    to = put_bytes(to, block->records - middle_bytes(block), middle_bytes(block));
    if (tail == 0)
        return (size_t)(put_bytes(to, block->records, data_block_records_bytes(block)) - text);
    for (uint32_t row = 0; row < block->rows; row++) {
        uint64_t begin = row_begin(block, row) + tail;

        to = put_bytes(to, block->records + begin, row_begin(block, row + 1) - begin);
    }
    return (size_t)(to - text);
}

/* No number takes more bits than in its array, but 22 bytes a group come before; so a byte grows by
 * at most a third, and what is left over of eight series, with the symbols, by 512. */
size_t
data_block_pack_bound(size_t size)
{
    return size + size / 2 + 512;
}

size_t
data_block_pack(const uint8_t *bytes, size_t size, uint8_t *packed, uint8_t *text,
                size_t *text_bytes)
{
    struct data_block block;
    struct row_symbols symbols;
    uint8_t *to = packed;
    bool rows;

    assert(data_block_header_is_sane(bytes, size));
    data_block_view(&block, bytes, size);
    rows = find_symbols(&symbols, &block);
    if (rows)
        to = put_symbols(to, &symbols);
    else
        *to++ = 0;
    to = put_array(to, &block.offsets, 1, (size_t)block.cells + 1, PACKED_DIFFERENCES);
    to = put_array(to, &block.firsts, 1, (size_t)block.rows + 1, PACKED_DIFFERENCES);
    to = put_array(to, &block.timestamps, 0, block.cells, PACKED_AS_THEY_ARE);
    to = put_array(to, &block.sequences, 0, block.cells, PACKED_AS_THEY_ARE);
    to = rows ? put_rows(to, &block, &symbols) : put_heads(to, &block);
    assert((size_t)(to - packed) <= data_block_pack_bound(size));
    *text_bytes = put_text(text, &block, rows);
    assert(*text_bytes + packed_away(&block, rows) == size);
    return (size_t)(to - packed);
}

/* Fill the array after the one that ends at *to, whose first element is 0 and not stored. */
static const uint8_t *
get_ends(const uint8_t *from, const uint8_t *limit, uint8_t **to, uint32_t width, size_t count)
{
    memset(*to, 0, width);
    from = get_array(from, limit, *to + width, width, count, PACKED_DIFFERENCES);
    *to += width * (count + 1);
    return from;
}

/* Fill the arrays from the record offsets to the sequences. */
static const uint8_t *
get_numbers(const uint8_t *from, const uint8_t *limit, const struct data_block *block)
{
    const uint32_t versions[] = {block->timestamps.width, block->sequences.width};
    uint8_t *to = (uint8_t *)block->row_heads + DATA_BLOCK_HEAD_BYTES * (size_t)block->rows +
                  heads_bytes(block);

    from = get_ends(from, limit, &to, block->offsets.width, block->cells);
    from = from == NULL ? NULL : get_ends(from, limit, &to, block->firsts.width, block->rows);
    for (size_t i = 0; from != NULL && i < 2; i++) {
        from = get_array(from, limit, to, versions[i], block->cells, PACKED_AS_THEY_ARE);
        to += (size_t)versions[i] * block->cells;
    }
    return from;
}

/* Move what the text has after its header, but the records, to its places. */
static void
place_text(const struct data_block *block, const uint8_t *text)
{
    uint8_t *bytes = (uint8_t *)block->bytes;
    uint8_t *heads = bytes + DATA_BLOCK_HEADER_BYTES + DATA_BLOCK_HEAD_BYTES * (size_t)block->rows;
    size_t middle = middle_bytes(block);

    text += DATA_BLOCK_HEADER_BYTES;
    memmove(heads, text, heads_bytes(block));
    memmove((uint8_t *)block->records - middle, text + heads_bytes(block), middle);
}

bool
data_block_unpack(uint8_t *bytes, size_t size, size_t text_bytes, petal_slice packed)
{
    const uint8_t *from = slice_bytes(packed), *limit = from + packed.size;
    uint8_t *text = bytes + size - text_bytes;
    struct row_symbols symbols;
    struct data_block block;
    bool rows;

    assert(text_bytes <= size);
    if (text_bytes < DATA_BLOCK_HEADER_BYTES || packed.size == 0)
        return false;
    memmove(bytes, text, DATA_BLOCK_HEADER_BYTES);
    if (!data_block_header_is_sane(bytes, size))
        return false;
    data_block_view(&block, bytes, size);
    rows = *from != 0;
    if (rows && (!may_pack_rows(&block) ||
                 tail_bytes(&block) * block.rows > data_block_records_bytes(&block)))
        return false;
    if (text_bytes + packed_away(&block, rows) != size)
        return false;
    symbols = (struct row_symbols){.rest_bytes = block.row_rest_bytes};
    from = rows ? get_symbols(from, limit, &symbols) : from + 1;
    if (from == NULL)
        return false;
    place_text(&block, text);
    from = get_numbers(from, limit, &block);
    if (from != NULL && rows)
        from = get_rows(from, limit, &block, &symbols);
    else if (from != NULL)
        from = get_array(from, limit, (uint8_t *)block.row_heads, DATA_BLOCK_HEAD_BYTES, block.rows,
                         PACKED_DIFFERENCES);
    return from == limit;
}
