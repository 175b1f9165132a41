/*
 * data_block.c -- decoding a data block's header, and the complete check.  See data_block.h.
 *
 * data_block_check proves, for every row and cell, what the cursor relies on: arrays and records
 * lie inside the block, indexes of first cells ascend, lengths written in records stay inside
 * their record and below the greatest lengths of the header, heads are those of the keys, types
 * are known ones, times to live have their bytes.  Rows ascend, and so do the cells of each row:
 * who goes on from what a search found never comes to the same place again.
 */
#include "sstable/data_block_layout.h"

/* The array of `count` integers at *at, which moves behind it. */
static inline struct packed_array
packed_take(const uint8_t **at, uint32_t width, size_t count)
{
    static const uint8_t zero[8] = {0};
    struct packed_array array = {
        .base = width == 0 ? zero : *at + width - 8,
        .width = width,
        .shift = (64 - 8 * width) & 63,
    };

    *at += width * count;
    return array;
}

void
data_block_view(struct data_block *block, const uint8_t *bytes, size_t size)
{
    const uint8_t *at = bytes + DATA_BLOCK_HEADER_BYTES;
    uint32_t rows = get_le32(bytes), cells = get_le32(bytes + 4);
    uint32_t flags = get_le16(bytes + 12);

    block->bytes = bytes;
    block->size = size;
    block->rows = rows;
    block->cells = cells;
    block->flags = flags;
    block->row_rest_bytes = get_le16(bytes + 20);
    block->row_bytes_max = get_le16(bytes + 22);
    block->qualifier_bytes_max = get_le32(bytes + 28);
    block->timestamp_min = (int64_t)get_le64(bytes + 32);
    block->timestamp_max = (int64_t)get_le64(bytes + 40);
    block->sequence_min = get_le64(bytes + 48);
    block->sequence_max = get_le64(bytes + 56);

    block->row_heads = at;
    at += 4 * (size_t)rows;
    block->qualifier_heads = (flags & DATA_BLOCK_QUALIFIER_HEADS) != 0 ? at : NULL;
    at += (flags & DATA_BLOCK_QUALIFIER_HEADS) != 0 ? 4 * (size_t)cells : 0;
    block->offsets = packed_take(&at, bytes[14], (size_t)cells + 1);
    block->firsts = packed_take(&at, bytes[15], (size_t)rows + 1);
    block->timestamps = packed_take(&at, bytes[16], cells);
    block->sequences = packed_take(&at, bytes[17], cells);
    block->types = (flags & DATA_BLOCK_HAS_TYPES) != 0 ? at : NULL;
    at += (flags & DATA_BLOCK_HAS_TYPES) != 0 ? cells : 0;
    block->row_prefix = slice_make(at, get_le16(bytes + 18));
    at += block->row_prefix.size;
    block->qualifier_prefix = slice_make(at, get_le32(bytes + 24));
    block->records = at + block->qualifier_prefix.size;
}

/* ---- the check of untrusted bytes ---- */

static bool
header_is_sane(const uint8_t *bytes, size_t size)
{
    uint32_t rows = get_le32(bytes), cells = get_le32(bytes + 4), flags = get_le16(bytes + 12);
    bool one_cell = (flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0;
    bool fixed_rest = (flags & DATA_BLOCK_FIXED_ROW_REST) != 0;
    uint32_t row_prefix = get_le16(bytes + 18), row_rest_bytes = get_le16(bytes + 20);
    uint32_t row_max = get_le16(bytes + 22);

    /*
     * Cells that differ take a byte each at least; so the work on a block is bounded by its size.
     */
    if (rows == 0 || cells < rows || cells > size)
        return false;
    if ((flags & ~(uint32_t)DATA_BLOCK_ALL_FLAGS) != 0)
        return false;
    if (bytes[14] > 4 || bytes[15] > 4 || bytes[16] > 8 || bytes[17] > 8)
        return false;
    if (one_cell && (rows != cells || bytes[15] != 0))
        return false;
    if (row_max > PETAL_MAX_ROW_BYTES || row_prefix > row_max)
        return false;
    if (!fixed_rest && row_rest_bytes != 0)
        return false;
    return get_le32(bytes + 28) <= PETAL_MAX_QUALIFIER_BYTES &&
           get_le32(bytes + 24) <= get_le32(bytes + 28);
}

/* The size that a block with this header has.  No sum overflows: all terms are below 2^36. */
static uint64_t
size_from_header(const uint8_t *bytes)
{
    uint64_t rows = get_le32(bytes), cells = get_le32(bytes + 4);
    uint32_t flags = get_le16(bytes + 12);
    uint64_t size = DATA_BLOCK_HEADER_BYTES + 4 * rows;

    if ((flags & DATA_BLOCK_QUALIFIER_HEADS) != 0)
        size += 4 * cells;
    size += bytes[14] * (cells + 1);
    size += bytes[15] * (rows + 1);
    size += (bytes[16] + bytes[17]) * cells;
    if ((flags & DATA_BLOCK_HAS_TYPES) != 0)
        size += cells;
    return size + get_le16(bytes + 18) + get_le32(bytes + 24) + get_le32(bytes + 8);
}

/* Is `greatest` what the array's greatest element and the base `least` make? */
static bool
greatest_is(const struct packed_array *array, uint32_t count, uint64_t least, uint64_t greatest)
{
    uint64_t found = 0, other = 0;
    uint32_t i = 0;

    /* Two by two: neither waits for the other. */
    for (; array->width != 0 && i + 1 < count; i += 2) {
        uint64_t delta = packed_get(array, i), next = packed_get(array, i + 1);

        found = delta > found ? delta : found;
        other = next > other ? next : other;
    }
    if (array->width != 0 && i < count)
        found = packed_get(array, i) > found ? packed_get(array, i) : found;
    return (found > other ? found : other) == greatest - least;
}

static bool
ranges_are_right(const struct data_block *block)
{
    return block->timestamp_min <= block->timestamp_max &&
           block->sequence_min <= block->sequence_max &&
           greatest_is(&block->timestamps, block->cells, (uint64_t)block->timestamp_min,
                       (uint64_t)block->timestamp_max) &&
           greatest_is(&block->sequences, block->cells, block->sequence_min, block->sequence_max);
}

/* The row checked last: what the next one must sort behind. */
struct row_before {
    uint32_t head;
    petal_slice rest; /* size 0 and head 0 in front of the first */
};

/* Does a row sort behind the one before?  Then it takes that one's place.  Heads decide for most.
 */
static inline bool
row_follows(struct row_before *before, bool first, uint32_t head, petal_slice rest)
{
    if (head <= before->head && !first &&
        (head < before->head || slice_compare(before->rest, rest) >= 0))
        return false;
    before->head = head;
    before->rest = rest;
    return true;
}

/* Check the row's rest at *at, which moves behind it. */
static inline bool
check_row_rest(const struct data_block *block, uint32_t row, struct row_before *before,
               const uint8_t **at, const uint8_t *end)
{
    uint32_t size = block->row_rest_bytes, head;
    size_t whole;

    if ((block->flags & DATA_BLOCK_FIXED_ROW_REST) == 0) {
        *at = get_varint32(*at, end, &size);
        if (*at == NULL)
            return false;
    }
    whole = block->row_prefix.size + size;
    if (size > (size_t)(end - *at) || whole > block->row_bytes_max || whole == 0)
        return false;
    head = head_of(*at, size);
    if (get_le32(block->row_heads + 4 * (size_t)row) != head ||
        !row_follows(before, row == 0, head, slice_make(*at, size)))
        return false;
    *at += size;
    return true;
}

/* Does `cell`, with this rest of its qualifier, sort behind the cell before it in the same row? */
static inline bool
cell_follows(const struct data_block *block, uint32_t cell, petal_slice before, petal_slice rest)
{
    bool family = is_family_marker(block, cell);
    uint64_t timestamp = packed_get(&block->timestamps, cell);
    uint64_t timestamp_before = packed_get(&block->timestamps, cell - 1);
    int order;

    if (is_family_marker(block, cell - 1) != family)
        return !family;
    order = slice_compare(before, rest);
    if (order != 0)
        return order < 0;
    if (timestamp_before != timestamp)
        return timestamp_before > timestamp;
    return packed_get(&block->sequences, cell - 1) > packed_get(&block->sequences, cell);
}

/* Check what follows the row's rest: [at, end) is qualifier's rest, value and time to live.
 * *qualifier receives that rest, empty where the block has one qualifier and for family markers. */
static inline bool
check_body(const struct data_block *block, uint32_t cell, const uint8_t *at, const uint8_t *end,
           petal_slice *qualifier)
{
    enum petal_cell_type type = type_of(block, cell);
    uint32_t size = 0;

    if (!cell_type_valid(type))
        return false;
    if (has_own_ttl(block, cell)) {
        if (end - at < DATA_BLOCK_TTL_BYTES)
            return false;
        end -= DATA_BLOCK_TTL_BYTES;
    }
    if (!one_qualifier(block) && !cell_is_family_marker(type)) {
        at = get_varint32(at, end, &size);
        if (at == NULL || size > (size_t)(end - at) ||
            block->qualifier_prefix.size + size > block->qualifier_bytes_max)
            return false;
    }
    if (block->qualifier_heads != NULL &&
        get_le32(block->qualifier_heads + 4 * (size_t)cell) != head_of(at, size))
        return false;
    *qualifier = slice_make(at, size);
    return !cell_is_marker(type) || at + size == end;
}

/*
 * Check the cells [first, end) of one row.  *record is the first one's record; it moves behind the
 * last's.
 */
static inline bool
check_row(const struct data_block *block, uint32_t row, uint32_t first, uint32_t end,
          struct row_before *before, const uint8_t **record)
{
    const uint8_t *limit = block->bytes + block->size;
    petal_slice qualifier, qualifier_before = slice_make(NULL, 0);

    for (uint32_t cell = first; cell < end; cell++) {
        const uint8_t *at = *record;
        uint64_t next = packed_get(&block->offsets, cell + 1);

        if (next > (size_t)(limit - block->records) || block->records + next < at)
            return false;
        *record = block->records + next;
        if (cell == first && !check_row_rest(block, row, before, &at, *record))
            return false;
        if (!check_body(block, cell, at, *record, &qualifier) ||
            (cell > first && !cell_follows(block, cell, qualifier_before, qualifier)))
            return false;
        qualifier_before = qualifier;
    }
    return true;
}

/*
 * The rows of a block with one cell a row, one qualifier and no types: the same checks, fewer
 * questions.
 */
static bool
check_simple_rows(const struct data_block *block)
{
    bool fixed_rest = (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0;
    size_t records = (size_t)(block->bytes + block->size - block->records);
    size_t rest_max = block->row_bytes_max - block->row_prefix.size;
    struct row_before before = {0};
    uint64_t start = 0;

    for (uint32_t row = 0; row < block->rows; row++) {
        uint64_t end = packed_get(&block->offsets, row + 1);
        const uint8_t *at = block->records + start;
        uint32_t size = block->row_rest_bytes, head;

        if (end > records || end < start)
            return false;
        if (!fixed_rest) {
            at = get_varint32(at, block->records + end, &size);
            if (at == NULL)
                return false;
        }
        if (size > (size_t)(block->records + end - at) || size > rest_max)
            return false;
        head = head_of(at, size);
        if (get_le32(block->row_heads + 4 * (size_t)row) != head ||
            !row_follows(&before, row == 0, head, slice_make(at, size)))
            return false;
        if (size == 0 && block->row_prefix.size == 0)
            return false;
        start = end;
    }
    return start == records;
}

static bool
check_rows(const struct data_block *block)
{
    const uint8_t *record = block->records;
    struct row_before before = {0};
    uint32_t cell = 0;

    for (uint32_t row = 0; row < block->rows; row++) {
        uint32_t end = first_cell(block, row + 1);

        if (end <= cell || end > block->cells)
            return false;
        if (!check_row(block, row, cell, end, &before, &record))
            return false;
        cell = end;
    }
    return cell == block->cells && record == block->bytes + block->size;
}

bool
data_block_check(struct data_block *block, const uint8_t *bytes, size_t size)
{
    if (size < DATA_BLOCK_HEADER_BYTES || size > DATA_BLOCK_MAX_BYTES)
        return false;
    if (!header_is_sane(bytes, size) || size_from_header(bytes) != size)
        return false;
    data_block_view(block, bytes, size);
    if (packed_get(&block->offsets, 0) != 0 || first_cell(block, 0) != 0)
        return false;
    if (!ranges_are_right(block))
        return false;
    return is_simple(block) ? check_simple_rows(block) : check_rows(block);
}
