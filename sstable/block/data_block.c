/*
 * data_block.c -- decoding a data block, the complete check, iterating and searching.  See
 * data_block.h.
 *
 * data_block_check proves, for every row and cell, what the cursor relies on: arrays and records
 * lie inside the block, indexes of first cells ascend, lengths written in records stay inside
 * their record and below the greatest lengths of the header, heads are those of the keys, types
 * are known ones, times to live have their bytes.  Rows ascend, and so do the cells of each row:
 * who goes on from what a search found never comes to the same place again.  Nothing else here
 * checks bounds.
 *
 * The cursor knows the current row: its key put together once, its cells' range, and where the
 * first cell's record goes on after the row's tail.  So a step inside a row decodes the cell
 * alone.
 */
#include "sstable/block/data_block.h"

#include "base/coding.h"
#include "base/inline.h"
#include "base/short_bytes.h"

#include <assert.h>

/* Of a record; those of a longer one follow in order, which the processor foresees. */
#define PREFETCHED_LINES 3

/* Who seeks mostly reads on: lines from the record on that was sought, which begin to load
 * together. Further ones the processor foresees. */
#define SOUGHT_LINES 16

/* Bytes of room after what a cursor's buffers are reserved for: see copy_from_block. */
#define SLACK 16

/* ---- arrays and records ---- */

static inline bool
one_qualifier(const struct data_block *block)
{
    return (block->flags & DATA_BLOCK_ONE_QUALIFIER) != 0;
}

static inline const uint8_t *
record_of(const struct data_block *block, uint32_t cell)
{
    return block->records + data_block_record_offset(block, cell);
}

static inline enum petal_cell_type
type_of(const struct data_block *block, uint32_t cell)
{
    return block->types != NULL
               ? (enum petal_cell_type)(block->types[cell] & ~(unsigned)DATA_BLOCK_TTL_BIT)
               : PETAL_PUT;
}

static inline bool
has_own_ttl(const struct data_block *block, uint32_t cell)
{
    return block->types != NULL && (block->types[cell] & DATA_BLOCK_TTL_BIT) != 0;
}

static inline bool
is_family_marker(const struct data_block *block, uint32_t cell)
{
    return cell_is_family_marker(type_of(block, cell));
}

/* The first 4 bytes of a rest, as a number that compares like them (zero-filled). */
static inline uint32_t
head_of(const uint8_t *rest, size_t size)
{
    uint32_t head = 0;

    if (size >= sizeof head)
        return __builtin_bswap32(get_le32(rest));
    switch (size) {
    case 3:
        head |= (uint32_t)rest[2] << 8;
        /* fallthrough */
    case 2:
        head |= (uint32_t)rest[1] << 16;
        /* fallthrough */
    case 1:
        head |= (uint32_t)rest[0] << 24;
        /* fallthrough */
    default:
        return head;
    }
}

/*
 * The length at *at, which moves after it.  The check has found that the varint ends in its
 * record.
 */
static inline size_t
take_length(const uint8_t **at)
{
    uint64_t byte = *(*at)++;
    uint64_t length = byte & 0x7f;

    for (unsigned shift = 7; byte >= 0x80; shift += 7) {
        byte = *(*at)++;
        length |= (byte & 0x7f) << shift;
    }
    return length;
}

/*
 * What of a row's rest follows the bytes of its head, at the beginning of its first cell's record;
 * *rest_bytes receives the length of the rest.
 */
static inline petal_slice
row_tail(const struct data_block *block, const uint8_t *record, size_t *rest_bytes)
{
    size_t size = (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0 ? block->row_rest_bytes
                                                                  : take_length(&record);

    *rest_bytes = size;
    return slice_make(record, size <= DATA_BLOCK_HEAD_BYTES ? 0 : size - DATA_BLOCK_HEAD_BYTES);
}

static inline uint64_t
sequence_of(const struct data_block *block, uint32_t cell)
{
    return block->sequence_min + packed_get(&block->sequences, cell);
}

static inline int64_t
timestamp_of(const struct data_block *block, uint32_t cell)
{
    return (int64_t)((uint64_t)block->timestamp_min + packed_get(&block->timestamps, cell));
}

/* What stands in front of the value in a record that begins at `record`. */
static ALWAYS_INLINE const uint8_t *
skip_row_tail(const struct data_block *block, const uint8_t *record)
{
    size_t rest_bytes;
    petal_slice tail = row_tail(block, record, &rest_bytes);

    return slice_bytes(tail) + tail.size;
}

/* The qualifier's rest at *body, which moves after it. */
static ALWAYS_INLINE petal_slice
take_qualifier_rest(const struct data_block *block, const uint8_t **body)
{
    petal_slice rest = {.data = *body};

    if (!one_qualifier(block)) {
        rest.size = take_length(body);
        rest.data = *body;
        *body += rest.size;
    }
    return rest;
}

/* What follows the row's tail in a record of the row whose first cell is `first`. */
static ALWAYS_INLINE const uint8_t *
body_in_row(const struct data_block *block, uint32_t first, uint32_t cell)
{
    const uint8_t *record = record_of(block, cell);

    return cell == first ? skip_row_tail(block, record) : record;
}

/* What of the rest of a key that is sought follows its first 4 bytes. */
static inline petal_slice
tail_of(petal_slice rest)
{
    size_t head = rest.size < DATA_BLOCK_HEAD_BYTES ? rest.size : DATA_BLOCK_HEAD_BYTES;

    return slice_make(slice_bytes(rest) + head, rest.size - head);
}

/* ---- the header ---- */

static inline uint32_t
flags_of(const uint8_t *bytes)
{
    return get_le16(bytes + 12);
}

/* Inlined, so that who asks for one column reads of the header what it needs.  `flags`: those of
 * the block; of what the caller has seen there the compiler may know. */
static ALWAYS_INLINE void
view_header(struct data_block *block, const uint8_t *bytes, size_t size, uint32_t flags)
{
    const uint8_t *at = bytes + DATA_BLOCK_HEADER_BYTES;
    uint32_t rows = get_le32(bytes), cells = get_le32(bytes + 4);
    uint32_t first_width = (flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0 ? 0 : bytes[15];

    block->bytes = bytes;
    block->size = size;
    block->rows = rows;
    block->cells = cells;
    block->flags = flags;
    block->simple =
        (flags & (DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_QUALIFIER | DATA_BLOCK_HAS_TYPES)) ==
        (DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_QUALIFIER);
    block->row_rest_bytes = get_le16(bytes + 20);
    block->record_bytes = (flags & DATA_BLOCK_FIXED_RECORD) != 0 ? get_le32(bytes + 8) : 0;
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
    block->offsets = packed_take(&at, bytes[14], (size_t)cells + 1); /* width 0: none */
    block->firsts = packed_take(&at, first_width, (size_t)rows + 1);
    block->timestamps = packed_take(&at, bytes[16], cells);
    block->sequences = packed_take(&at, bytes[17], cells);
    block->types = (flags & DATA_BLOCK_HAS_TYPES) != 0 ? at : NULL;
    at += (flags & DATA_BLOCK_HAS_TYPES) != 0 ? cells : 0;
    block->row_prefix = slice_make(at, get_le16(bytes + 18));
    at += block->row_prefix.size;
    block->qualifier_prefix = slice_make(at, get_le32(bytes + 24));
    block->records = at + block->qualifier_prefix.size;
}

void
data_block_view(struct data_block *block, const uint8_t *bytes, size_t size)
{
    view_header(block, bytes, size, flags_of(bytes));
}

bool
data_block_shift_sequences(uint8_t *bytes, uint64_t shift)
{
    uint64_t least = get_le64(bytes + 48), greatest = get_le64(bytes + 56);

    assert(least <= greatest);
    if (greatest >= CELL_SEQUENCE_END || shift >= CELL_SEQUENCE_END - greatest)
        return false;
    put_le64(bytes + 48, least + shift);
    put_le64(bytes + 56, greatest + shift);
    return true;
}

/* ---- the check of untrusted bytes ---- */

/*
 * Whether the header allows such a block and gives its size.  No sum overflows: all terms are below
 * 2^62, for no block has more than 2^30 cells.  Cells that differ take a byte each at least; so the
 * work on a block is bounded by its size.
 */
bool
data_block_header_is_sane(const uint8_t *bytes, size_t size)
{
    uint64_t rows = get_le32(bytes), cells = get_le32(bytes + 4);
    uint32_t flags = get_le16(bytes + 12);
    bool one_cell = (flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0;
    uint32_t row_prefix = get_le16(bytes + 18), row_rest_bytes = get_le16(bytes + 20);
    uint32_t row_max = get_le16(bytes + 22);
    bool fixed_record = (flags & DATA_BLOCK_FIXED_RECORD) != 0;
    uint64_t expected = DATA_BLOCK_HEADER_BYTES + 4 * rows;

    if (rows == 0 || cells < rows || cells > size)
        return false;
    if ((flags & ~(uint32_t)DATA_BLOCK_ALL_FLAGS) != 0)
        return false;
    if (bytes[14] > 4 || bytes[15] > 4 || bytes[16] > 8 || bytes[17] > 8)
        return false;
    if (one_cell && (rows != cells || bytes[15] != 0))
        return false;
    if (fixed_record && bytes[14] != 0)
        return false;
    if (row_max > PETAL_MAX_ROW_BYTES || row_prefix > row_max)
        return false;
    if ((flags & DATA_BLOCK_FIXED_ROW_REST) == 0 && row_rest_bytes != 0)
        return false;
    if (get_le32(bytes + 28) > PETAL_MAX_QUALIFIER_BYTES ||
        get_le32(bytes + 24) > get_le32(bytes + 28))
        return false;
    if ((flags & DATA_BLOCK_QUALIFIER_HEADS) != 0)
        expected += 4 * cells;
    expected += bytes[14] * (cells + 1);
    expected += bytes[15] * (rows + 1);
    expected += (bytes[16] + bytes[17]) * cells;
    if ((flags & DATA_BLOCK_HAS_TYPES) != 0)
        expected += cells;
    expected += row_prefix + get_le32(bytes + 24);
    expected += (fixed_record ? cells : 1) * (uint64_t)get_le32(bytes + 8);
    return expected == size;
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

/* A row's rest. */
struct checked_row {
    uint32_t head;
    size_t rest_bytes;
    petal_slice tail; /* in the record; what follows it is the cell's */
};

/*
 * Take the rest of row `row`, with these bytes for its key, from the record [record, end).  False
 * when it does not fit there, or when its head is not as it must be: that of the rest, filled with
 * 00.
 */
static inline bool
take_row(const struct data_block *block, uint32_t row, const uint8_t *record, const uint8_t *end,
         struct checked_row *taken)
{
    uint32_t size = block->row_rest_bytes;
    uint32_t head = get_le32(block->row_heads + 4 * (size_t)row);
    size_t in_head;

    if ((block->flags & DATA_BLOCK_FIXED_ROW_REST) == 0) {
        record = get_varint32(record, end, &size);
        if (record == NULL)
            return false;
    }
    in_head = size < DATA_BLOCK_HEAD_BYTES ? size : DATA_BLOCK_HEAD_BYTES;
    if (size - in_head > (size_t)(end - record) ||
        size > block->row_bytes_max - block->row_prefix.size ||
        (size == 0 && block->row_prefix.size == 0))
        return false;
    if (in_head < DATA_BLOCK_HEAD_BYTES && head << 8 * in_head != 0)
        return false;
    taken->head = head;
    taken->rest_bytes = size;
    taken->tail = slice_make(record, size - in_head);
    return true;
}

/* Does a row sort after the one before?  Heads decide for most. */
static inline bool
row_follows(const struct checked_row *before, const struct checked_row *row)
{
    int order;

    if (row->head != before->head)
        return row->head > before->head;
    order = slice_compare(before->tail, row->tail);
    return order != 0 ? order < 0 : before->rest_bytes < row->rest_bytes;
}

/* Does `cell`, with this rest of its qualifier, sort after the cell before it in the same row? */
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

/* Check what follows the row's tail: [at, end) is qualifier's rest, value and time to live.
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
 * Check the cells [first, end) of one row.  *record is the first one's record; it moves after the
 * last's.
 */
static inline bool
check_row(const struct data_block *block, uint32_t row, uint32_t first, uint32_t end,
          struct checked_row *before, const uint8_t **record)
{
    petal_slice qualifier, qualifier_before = slice_make(NULL, 0);
    struct checked_row taken;

    for (uint32_t cell = first; cell < end; cell++) {
        const uint8_t *at = *record;
        uint64_t next = data_block_record_offset(block, cell + 1);

        if (next > data_block_records_bytes(block) || block->records + next < at)
            return false;
        *record = block->records + next;
        if (cell == first) {
            if (!take_row(block, row, at, *record, &taken) ||
                (row > 0 && !row_follows(before, &taken)))
                return false;
            *before = taken;
            at = slice_bytes(taken.tail) + taken.tail.size;
        }
        if (!check_body(block, cell, at, *record, &qualifier) ||
            (cell > first && !cell_follows(block, cell, qualifier_before, qualifier)))
            return false;
        qualifier_before = qualifier;
    }
    return true;
}

/* Of rows that are equally long, do those with this head, whose records begin at `before` and at
 * `record`, sort one after the other?  REQUIRES: their tails lie inside the records. */
static NEVER_INLINE bool
tails_ascend(const struct data_block *block, uint64_t before, uint64_t record, size_t tail_bytes)
{
    return tail_bytes > 0 &&
           memcmp(block->records + before, block->records + record, tail_bytes) < 0;
}

/*
 * The rows of a simple block that are equally long: few checks are left for each.  The end of the
 * last record shows that all records lie inside the block, since each ends after the one before;
 * until then no record is read, unless two heads are equal.
 */
static bool
check_equally_long_rows(const struct data_block *block)
{
    size_t records = data_block_records_bytes(block);
    size_t rest_bytes = block->row_rest_bytes;
    size_t in_head = rest_bytes < DATA_BLOCK_HEAD_BYTES ? rest_bytes : DATA_BLOCK_HEAD_BYTES;
    size_t tail_bytes = rest_bytes - in_head;
    uint32_t head_before = 0, all_heads = 0;
    uint64_t before = 0, record = 0;

    assert(block->simple && block->rows == block->cells);
    if (rest_bytes > block->row_bytes_max - block->row_prefix.size ||
        (rest_bytes == 0 && block->row_prefix.size == 0))
        return false;
    for (uint32_t row = 0; row < block->rows; row++) {
        uint32_t head = get_le32(block->row_heads + 4 * (size_t)row);
        uint64_t end = data_block_record_offset(block, row + 1);

        if (end < record + tail_bytes)
            return false;
        if (head <= head_before && row > 0 &&
            (head < head_before || end > records ||
             !tails_ascend(block, before, record, tail_bytes)))
            return false;
        head_before = head;
        all_heads |= head;
        before = record;
        record = end;
    }
    return record == records && (in_head == DATA_BLOCK_HEAD_BYTES || all_heads << 8 * in_head == 0);
}

static bool
check_rows(const struct data_block *block)
{
    const uint8_t *record = block->records;
    struct checked_row before = {0};
    uint32_t cell = 0;

    for (uint32_t row = 0; row < block->rows; row++) {
        uint32_t end = data_block_first_cell(block, row + 1);

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
    if (!data_block_header_is_sane(bytes, size))
        return false;
    data_block_view(block, bytes, size);
    if (data_block_record_offset(block, 0) != 0 || data_block_first_cell(block, 0) != 0)
        return false;
    if (block->timestamp_min > block->timestamp_max || block->sequence_min > block->sequence_max ||
        !greatest_is(&block->timestamps, block->cells, (uint64_t)block->timestamp_min,
                     (uint64_t)block->timestamp_max) ||
        !greatest_is(&block->sequences, block->cells, block->sequence_min, block->sequence_max))
        return false;
    return block->simple && (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0
               ? check_equally_long_rows(block)
               : check_rows(block);
}

/* ---- the cursor ---- */

void
data_block_cursor_init(struct data_block_cursor *cursor, const petal_allocator *allocator)
{
    cursor->allocator = allocator;
    cursor->row_memory = cursor->row_inline;
    cursor->row_grown = 0;
    cursor->qualifier_memory = cursor->qualifier_inline;
    cursor->qualifier_grown = 0;
    cursor->block.rows = 0;
    cursor->block.cells = 0;
    cursor->cell = 0;
}

void
data_block_cursor_fini(struct data_block_cursor *cursor)
{
    if (cursor->row_grown != 0)
        mem_free(cursor->allocator, cursor->row_memory, cursor->row_grown);
    if (cursor->qualifier_grown != 0)
        mem_free(cursor->allocator, cursor->qualifier_memory, cursor->qualifier_grown);
    data_block_cursor_init(cursor, cursor->allocator);
}

/* Have `need` bytes at *memory; *grown of them are allocated, or it has `room` inline ones. */
static bool
reserve(const petal_allocator *allocator, uint8_t **memory, size_t *grown, size_t room, size_t need)
{
    uint8_t *larger;

    if (need <= (*grown != 0 ? *grown : room))
        return true;
    larger = mem_alloc(allocator, need);
    if (larger == NULL)
        return false;
    if (*grown != 0)
        mem_free(allocator, *memory, *grown);
    *memory = larger;
    *grown = need;
    return true;
}

/*
 * Copy bytes of the block to a cursor's buffer, which has SLACK bytes of room after them.  Most
 * keys' parts are short: so many bytes are copied at once where the block has them, instead of a
 * call.
 */
static inline void
copy_from_block(uint8_t *to, const struct data_block *block, const uint8_t *from, size_t size)
{
    if (size <= SLACK && (size_t)(block->bytes + block->size - from) >= SLACK)
        memcpy(to, from, SLACK);
    else
        memcpy(to, from, size);
}

enum petal_status
data_block_cursor_attach(struct data_block_cursor *cursor, const uint8_t *bytes, size_t size)
{
    struct data_block *block = &cursor->block;

    data_block_view(block, bytes, size);
    cursor->cell = block->cells;
    if (!reserve(cursor->allocator, &cursor->row_memory, &cursor->row_grown,
                 sizeof cursor->row_inline, block->row_bytes_max + SLACK) ||
        !reserve(cursor->allocator, &cursor->qualifier_memory, &cursor->qualifier_grown,
                 sizeof cursor->qualifier_inline,
                 one_qualifier(block) ? 0 : block->qualifier_bytes_max + SLACK)) {
        block->rows = 0;
        block->cells = 0;
        cursor->cell = 0;
        return PETAL_NO_MEMORY;
    }
    copy_from_block(cursor->row_memory, block, block->row_prefix.data, block->row_prefix.size);
    if (!one_qualifier(block))
        copy_from_block(cursor->qualifier_memory, block, block->qualifier_prefix.data,
                        block->qualifier_prefix.size);
    return PETAL_OK;
}

/*
 * Prefix and rest as contiguous bytes: one of them alone, or in `memory`, which begins with the
 * prefix.
 */
static inline petal_slice
join(const struct data_block *block, petal_slice prefix, petal_slice rest, uint8_t *memory)
{
    if (rest.size == 0)
        return prefix;
    if (prefix.size == 0)
        return rest;
    copy_from_block(memory + prefix.size, block, rest.data, rest.size);
    return slice_make(memory, prefix.size + rest.size);
}

/*
 * A row's key: the prefix, or put together in `memory`, which begins with the prefix and has SLACK
 * bytes of room after the longest row: a head may reach there.
 */
static ALWAYS_INLINE petal_slice
join_row(const struct data_block *block, uint32_t row, petal_slice tail, size_t rest_bytes,
         uint8_t *memory)
{
    uint8_t *to = memory + block->row_prefix.size;

    if (rest_bytes == 0)
        return block->row_prefix;
    put_le32(to, __builtin_bswap32(get_le32(block->row_heads + 4 * (size_t)row)));
    if (tail.size > 0)
        copy_from_block(to + DATA_BLOCK_HEAD_BYTES, block, tail.data, tail.size);
    return slice_make(memory, block->row_prefix.size + rest_bytes);
}

/*
 * Make `row` the current row.  `record` is that of its first cell, `first`.  Returns what follows
 * the row's tail in it.
 */
static ALWAYS_INLINE const uint8_t *
enter_row(struct data_block_cursor *cursor, uint32_t row, uint32_t first, const uint8_t *record)
{
    const struct data_block *block = &cursor->block;
    size_t rest_bytes;
    petal_slice tail = row_tail(block, record, &rest_bytes);

    cursor->row = row;
    cursor->row_first = first;
    cursor->row_end = data_block_first_cell(block, row + 1);
    cursor->row_bytes = join_row(block, row, tail, rest_bytes, cursor->row_memory);
    cursor->first_body = slice_bytes(tail) + tail.size;
    return cursor->first_body;
}

/*
 * Type and own time to live of a cell of a block that has types.  `end` is its record's; returns
 * the value's.
 */
static inline const uint8_t *
take_type(const struct data_block *block, uint32_t index, const uint8_t *end, struct cell *cell)
{
    cell->type = type_of(block, index);
    cell->has_ttl = has_own_ttl(block, index);
    cell->ttl_ms = 0;
    if (cell->has_ttl) {
        end -= DATA_BLOCK_TTL_BYTES;
        cell->ttl_ms = (int64_t)get_le64(end);
    }
    return end;
}

/*
 * Make `index`, of the current row, the current cell.  `body` is its record after the row's tail,
 * if any.
 */
static ALWAYS_INLINE void
take_cell(struct data_block_cursor *cursor, uint32_t index, const uint8_t *body, struct cell *cell)
{
    const struct data_block *block = &cursor->block;
    const uint8_t *end = record_of(block, index + 1);

    cursor->record_end = end;
    cell->row = cursor->row_bytes;
    cell->timestamp = timestamp_of(block, index);
    cell->sequence = sequence_of(block, index);
    cell->type = PETAL_PUT;
    if (block->types != NULL)
        end = take_type(block, index, end, cell);
    if (one_qualifier(block) || cell_is_family_marker(cell->type)) {
        cell->qualifier =
            cell_is_family_marker(cell->type) ? slice_make(NULL, 0) : block->qualifier_prefix;
    } else {
        petal_slice rest = {.size = take_length(&body)};

        rest.data = body;
        cell->qualifier = join(block, block->qualifier_prefix, rest, cursor->qualifier_memory);
        body += rest.size;
    }
    cell->value = slice_make(body, (size_t)(end - body));
    cursor->cell = index;
}

/* What follows the row's tail, if any, in the record of a cell of the current row. */
static inline const uint8_t *
body_of(const struct data_block_cursor *cursor, uint32_t cell)
{
    return cell == cursor->row_first ? cursor->first_body : record_of(&cursor->block, cell);
}

/* The same when the cursor comes from elsewhere: *cell may hold a time to live, which in a block
 * without types steps leave as it is. */
static ALWAYS_INLINE void
stand_at(struct data_block_cursor *cursor, uint32_t index, struct cell *cell)
{
    cell->has_ttl = false;
    cell->ttl_ms = 0;
    take_cell(cursor, index, body_of(cursor, index), cell);
}

static ALWAYS_INLINE void
go_to_row(struct data_block_cursor *cursor, uint32_t row)
{
    uint32_t first = data_block_first_cell(&cursor->block, row);

    enter_row(cursor, row, first, record_of(&cursor->block, first));
}

static void
take_first_of_row(struct data_block_cursor *cursor, uint32_t row, struct cell *cell)
{
    go_to_row(cursor, row);
    stand_at(cursor, cursor->row_first, cell);
}

static void
take_last_of_row(struct data_block_cursor *cursor, uint32_t row, struct cell *cell)
{
    go_to_row(cursor, row);
    stand_at(cursor, cursor->row_end - 1, cell);
}

void
data_block_cursor_first(struct data_block_cursor *cursor, struct cell *cell)
{
    assert(cursor->block.cells > 0);
    take_first_of_row(cursor, 0, cell);
}

void
data_block_cursor_last(struct data_block_cursor *cursor, struct cell *cell)
{
    assert(cursor->block.cells > 0);
    take_last_of_row(cursor, cursor->block.rows - 1, cell);
}

bool
data_block_cursor_next(struct data_block_cursor *cursor, struct cell *cell)
{
    const uint8_t *body = cursor->record_end;
    uint32_t next = cursor->cell + 1;

    assert(next != 0 && next <= cursor->block.cells);
    if (next == cursor->block.cells) {
        cursor->cell = next;
        return false;
    }
    if (next == cursor->row_end)
        body = enter_row(cursor, cursor->row + 1, next, body);
    take_cell(cursor, next, body, cell);
    return true;
}

/* ---- search ---- */

/*
 * Index of the first of heads [from, to) that is not below `head`.  Without branches that depend
 * on data: the first step leaves a power of two less one, so that the others need no count, and
 * compilers are told that none can be foreseen.
 */
static ALWAYS_INLINE uint32_t
lower_bound(const uint8_t *heads, uint32_t from, uint32_t to, uint32_t head)
{
    const uint8_t *base = heads + 4 * (size_t)from, *upper;
    uint32_t count = to - from;
    size_t step;

    assert(from <= to);
    if (count == 0)
        return from;
    step = (size_t)1 << (31 - __builtin_clz(count));
    upper = base + 4 * (count - step + 1);
    base = UNFORESEEABLE(get_le32(base + 4 * step - 4) < head) ? upper : base;
    for (step /= 2; step > 0; step /= 2) {
        upper = base + 4 * step;
        base = UNFORESEEABLE(get_le32(upper - 4) < head) ? upper : base;
    }
    return (uint32_t)((size_t)(base - heads) / 4);
}

static inline uint32_t
upper_bound(const uint8_t *heads, uint32_t from, uint32_t to, uint32_t head)
{
    return head == UINT32_MAX ? to : lower_bound(heads, from, to, head + 1);
}

/* Narrow the cells [*low, *high) of a row to those whose qualifiers have the head of `rest`, if the
 * block has heads. */
static ALWAYS_INLINE void
narrow_by_heads(const struct data_block *block, petal_slice rest, uint32_t *low, uint32_t *high)
{
    uint32_t head;

    if (block->qualifier_heads == NULL)
        return;
    head = head_of(rest.data, rest.size);
    *low = lower_bound(block->qualifier_heads, *low, *high, head);
    *high = upper_bound(block->qualifier_heads, *low, *high, head);
}

static inline uint32_t
head_at(const uint8_t *heads, uint32_t index)
{
    return get_le32(heads + 4 * (size_t)index);
}

static ALWAYS_INLINE int
compare_rests(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = short_bytes_compare(a.data, b.data, common);

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

/*
 * Where `key` lies against byte strings that begin with `prefix`: <0 before all of them, >0 after
 * all, 0: among them, by its *rest.
 */
static ALWAYS_INLINE int
compare_prefix(petal_slice key, petal_slice prefix, petal_slice *rest)
{
    size_t common = key.size < prefix.size ? key.size : prefix.size;
    int order = short_bytes_compare(key.data, prefix.data, common);

    if (order != 0)
        return order;
    if (key.size < prefix.size)
        return -1;
    /* By its number: nothing may be added to the address of an empty key, which may be NULL. */
    *rest = slice_make((const void *)((uintptr_t)key.data + common), key.size - common);
    return 0;
}

/* Index of the first row at or after `key` (rows: none); *equal: it is that row. */
static ALWAYS_INLINE uint32_t
find_row(const struct data_block *block, petal_slice key, bool *equal)
{
    petal_slice rest, tail;
    int order = compare_prefix(key, block->row_prefix, &rest);
    uint32_t head, low, high;

    *equal = false;
    if (order != 0)
        return order < 0 ? 0 : block->rows;
    head = head_of(rest.data, rest.size);
    low = lower_bound(block->row_heads, 0, block->rows, head);
    if (low == block->rows || head_at(block->row_heads, low) != head)
        return low;
    high = low + 1;
    if (high < block->rows && head_at(block->row_heads, high) == head)
        high = upper_bound(block->row_heads, high, block->rows, head);
    /* Equal heads: the tails decide; without them the shorter rest comes first, whose head was
     * filled. */
    tail = tail_of(rest);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *record = record_of(block, data_block_first_cell(block, middle));
        size_t rest_bytes;

        order = compare_rests(row_tail(block, record, &rest_bytes), tail);
        if (order == 0 && rest_bytes != rest.size)
            order = rest_bytes < rest.size ? -1 : 1;
        if (order == 0) {
            *equal = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * <0, 0, >0: a cell of the row whose first is `first` against the position `key`, of whose
 * qualifier `rest` follows the prefix.
 */
static ALWAYS_INLINE int
compare_in_row(const struct data_block *block, uint32_t first, uint32_t index,
               const struct cell_key *key, petal_slice rest)
{
    bool family = is_family_marker(block, index);
    int64_t timestamp;
    uint64_t sequence;

    if (family != key->family_class)
        return family ? -1 : 1;
    if (!family && !one_qualifier(block)) {
        const uint8_t *body = body_in_row(block, first, index);
        int order = compare_rests(take_qualifier_rest(block, &body), rest);

        if (order != 0)
            return order;
    }
    timestamp = timestamp_of(block, index);
    if (timestamp != key->timestamp)
        return timestamp > key->timestamp ? -1 : 1;
    sequence = sequence_of(block, index);
    if (sequence != key->sequence)
        return sequence > key->sequence ? -1 : 1;
    return 0;
}

/* The first of the cells [low, high) of a row that is no family marker. */
static uint32_t
first_column(const struct data_block *block, uint32_t low, uint32_t high)
{
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (is_family_marker(block, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Index of the first of the cells [first, end) of a row at or after `key`, `end` if there is
 * none. */
static ALWAYS_INLINE uint32_t
find_in_row(const struct data_block *block, uint32_t first, uint32_t end,
            const struct cell_key *key)
{
    uint32_t low = first, high = end;
    petal_slice rest = slice_make(NULL, 0);

    if (!key->family_class) {
        int order = compare_prefix(key->qualifier, block->qualifier_prefix, &rest);

        if (order < 0)
            return first_column(block, first, end);
        if (order > 0 || (one_qualifier(block) && rest.size > 0))
            return end;
    }
    narrow_by_heads(block, rest, &low, &high);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare_in_row(block, first, middle, key, rest) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same of the cursor's row. */
static inline uint32_t
find_in_current_row(const struct data_block_cursor *cursor, const struct cell_key *key)
{
    return find_in_row(&cursor->block, cursor->row_first, cursor->row_end, key);
}

bool
data_block_cursor_seek(struct data_block_cursor *cursor, const struct cell_key *key,
                       struct cell *cell)
{
    const struct data_block *block = &cursor->block;
    bool equal;
    uint32_t row = find_row(block, key->row, &equal);

    assert(block->cells > 0);
    if (row < block->rows)
        mem_prefetch(record_of(block, data_block_first_cell(block, row)), SOUGHT_LINES);
    if (equal) {
        uint32_t index;

        go_to_row(cursor, row);
        index = find_in_current_row(cursor, key);
        if (index < cursor->row_end) {
            stand_at(cursor, index, cell);
            return true;
        }
        row++;
    }
    if (row < block->rows) {
        take_first_of_row(cursor, row, cell);
        return true;
    }
    cursor->cell = block->cells;
    return false;
}

/* ---- backwards ---- */

bool
data_block_cursor_seek_before(struct data_block_cursor *cursor, const struct cell_key *key,
                              struct cell *cell)
{
    const struct data_block *block = &cursor->block;
    bool equal;
    uint32_t row = find_row(block, key->row, &equal);

    assert(block->cells > 0);
    if (equal) {
        uint32_t index;

        go_to_row(cursor, row);
        index = find_in_current_row(cursor, key);
        if (index > cursor->row_first) {
            stand_at(cursor, index - 1, cell);
            return true;
        }
    }
    if (row > 0) {
        take_last_of_row(cursor, row - 1, cell);
        return true;
    }
    cursor->cell = block->cells;
    return false;
}

/* ---- points ---- */

/* The head of what follows the prefix in a key: its last `size` bytes. */
static ALWAYS_INLINE uint32_t
head_of_end(petal_slice key, size_t size)
{
    const uint8_t *end = slice_bytes(key) + key.size;

    if (size >= 4 || key.size < 4)
        return head_of(end - size, size);
    return (uint32_t)((uint64_t)get_be32(end - 4) << (32 - 8 * size));
}

/* Whether the row, without the block's prefix, is that of a record with the same head; *body: what
 * follows it there. */
static ALWAYS_INLINE bool
record_has_row(const struct data_block *block, const uint8_t *record, petal_slice row,
               const uint8_t **body)
{
    size_t rest_bytes;
    petal_slice tail = row_tail(block, record, &rest_bytes);

    *body = slice_bytes(tail) + tail.size;
    return rest_bytes == row.size &&
           (tail.size == 0 ||
            short_bytes_equal(tail.data, slice_bytes(row) + DATA_BLOCK_HEAD_BYTES, tail.size));
}

/* The key without the prefix; false if it does not begin so. */
static ALWAYS_INLINE bool
take_prefix_off(petal_slice key, petal_slice prefix, petal_slice *rest)
{
    if (key.size < prefix.size || !short_bytes_equal(key.data, prefix.data, prefix.size))
        return false;
    /* By its number, as in compare_prefix. */
    *rest = slice_make((const void *)((uintptr_t)key.data + prefix.size), key.size - prefix.size);
    return true;
}

static ALWAYS_INLINE bool
has_qualifier(const struct data_block *block, petal_slice qualifier, petal_slice *rest)
{
    return take_prefix_off(qualifier, block->qualifier_prefix, rest) &&
           (!one_qualifier(block) || rest->size == 0);
}

static ALWAYS_INLINE void
take_put(const struct data_block *block, uint32_t cell, const uint8_t *body,
         struct data_block_put *put)
{
    put->sequence = sequence_of(block, cell);
    put->timestamp = timestamp_of(block, cell);
    put->value = slice_make(body, (size_t)(record_of(block, cell + 1) - body));
}

/* In any block: the row, then the column, of which the newest put that is seen comes first. */
static NEVER_INLINE enum data_block_answer
find_in_columns(const uint8_t *bytes, size_t size, const struct data_block_column *column,
                bool begins, struct data_block_put *put)
{
    const struct cell_key key = {
        .qualifier = column->qualifier, .timestamp = INT64_MAX, .sequence = UINT64_MAX};
    struct data_block_run run;
    const struct data_block *block = &run.block;
    petal_slice prefix, rest, found;
    enum data_block_answer answer =
        data_block_find_row(bytes, size, column->row, column->sequence, true, &run);

    if (answer != DATA_BLOCK_HAS)
        return answer;
    if (!has_qualifier(block, column->qualifier, &rest))
        return DATA_BLOCK_LACKS;
    if (!one_qualifier(block)) {
        uint32_t first = run.cell;

        run.cell = find_in_row(block, first, run.end, &key);
        run.body = body_in_row(block, first, run.cell);
    }
    if (run.cell == 0 && (block->flags & DATA_BLOCK_ONE_VERSION) == 0 && !begins)
        return DATA_BLOCK_UNTOLD;
    while (!data_block_run_next(&run, put, &prefix, &found)) {
        if (!run.too_many)
            return DATA_BLOCK_LACKS;
    }
    return slice_equal(found, rest) ? DATA_BLOCK_HAS : DATA_BLOCK_LACKS;
}

/* What is asked of a block before one column is sought in it, and the answer of blocks of keys and
 * values, which are most. */
#define PLAIN_PAIRS                                                                                \
    ((uint32_t)(DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_VERSION | DATA_BLOCK_ONE_QUALIFIER))
#define ASKED_FLAGS (PLAIN_PAIRS | DATA_BLOCK_HAS_TYPES | DATA_BLOCK_QUALIFIER_HEADS)

/* The first row of a block of plain pairs with the head of the column's row, whose rest after the
 * block's prefix is *rest; false: there is none. */
static ALWAYS_INLINE bool
find_pair(const struct data_block *block, const struct data_block_column *column, uint32_t *row,
          petal_slice *rest)
{
    uint32_t head;

    if (!has_qualifier(block, column->qualifier, rest) ||
        !take_prefix_off(column->row, block->row_prefix, rest))
        return false;
    head = head_of_end(column->row, rest->size);
    *row = lower_bound(block->row_heads, 0, block->rows, head);
    return *row < block->rows && head_at(block->row_heads, *row) == head;
}

/* Its put, if that is the row. */
static ALWAYS_INLINE enum data_block_answer
take_pair(const struct data_block *block, uint32_t row, petal_slice rest,
          const struct data_block_column *column, bool begins, struct data_block_put *put)
{
    const uint8_t *body;

    if (!record_has_row(block, record_of(block, row), rest, &body))
        /* Several rows may have this head. */
        return find_in_columns(block->bytes, block->size, column, begins, put);
    take_put(block, row, body, put);
    return put->sequence <= column->sequence ? DATA_BLOCK_HAS : DATA_BLOCK_LACKS;
}

enum data_block_answer
data_block_find_put(const uint8_t *bytes, size_t size, const struct data_block_column *column,
                    bool begins, struct data_block_put *put)
{
    struct data_block view; /* given to nobody: so the compiler makes only what is used of it */
    petal_slice rest;
    uint32_t row, flags = flags_of(bytes);

    if ((flags & ASKED_FLAGS) != PLAIN_PAIRS)
        return find_in_columns(bytes, size, column, begins, put);
    view_header(&view, bytes, size, (flags & ~ASKED_FLAGS) | PLAIN_PAIRS);
    return find_pair(&view, column, &row, &rest) ? take_pair(&view, row, rest, column, begins, put)
                                                 : DATA_BLOCK_LACKS;
}

uint32_t
data_block_locate_put(const uint8_t *bytes, size_t size, const struct data_block_column *column)
{
    struct data_block view;
    petal_slice rest;
    uint32_t row, flags = flags_of(bytes);

    if ((flags & ASKED_FLAGS) != PLAIN_PAIRS)
        return DATA_BLOCK_ANYWHERE;
    view_header(&view, bytes, size, (flags & ~ASKED_FLAGS) | PLAIN_PAIRS);
    if (!find_pair(&view, column, &row, &rest))
        return DATA_BLOCK_ANYWHERE;
    mem_prefetch(record_of(&view, row), PREFETCHED_LINES);
    return row;
}

enum data_block_answer
data_block_take_put(const uint8_t *bytes, size_t size, uint32_t located,
                    const struct data_block_column *column, bool begins, struct data_block_put *put)
{
    struct data_block view;
    petal_slice rest = column->row;

    if (located == DATA_BLOCK_ANYWHERE)
        return data_block_find_put(bytes, size, column, begins, put);
    view_header(&view, bytes, size, (flags_of(bytes) & ~ASKED_FLAGS) | PLAIN_PAIRS);
    assert(located < view.rows && rest.size >= view.row_prefix.size);
    rest.data = slice_bytes(rest) + view.row_prefix.size;
    rest.size -= view.row_prefix.size;
    return take_pair(&view, located, rest, column, begins, put);
}

enum data_block_answer
data_block_find_row(const uint8_t *bytes, size_t size, petal_slice row, uint64_t sequence,
                    bool begins, struct data_block_run *run)
{
    struct data_block *block = &run->block;
    uint32_t found;
    bool equal;

    view_header(block, bytes, size, flags_of(bytes));
    if (block->types != NULL)
        return DATA_BLOCK_UNTOLD;
    found = find_row(block, row, &equal);
    if (!equal)
        return DATA_BLOCK_LACKS;
    if (found == 0 && !begins)
        return DATA_BLOCK_UNTOLD;
    run->cell = data_block_first_cell(block, found);
    run->end = data_block_first_cell(block, found + 1);
    run->body = skip_row_tail(block, record_of(block, run->cell));
    run->sequence = sequence;
    run->column_done = run->too_many = false;
    return DATA_BLOCK_HAS;
}

bool
data_block_run_next(struct data_block_run *run, struct data_block_put *put, petal_slice *prefix,
                    petal_slice *rest)
{
    const struct data_block *block = &run->block;
    unsigned passed = 0;

    while (run->cell < run->end) {
        uint32_t cell = run->cell++;
        const uint8_t *body = run->body;

        run->body = record_of(block, run->cell);
        *rest = take_qualifier_rest(block, &body);
        put->sequence = sequence_of(block, cell);
        if (put->sequence > run->sequence || ((block->flags & DATA_BLOCK_ONE_VERSION) == 0 &&
                                              run->column_done && slice_equal(run->done, *rest))) {
            run->too_many = ++passed > DATA_BLOCK_RUN_PASSES;
            if (run->too_many)
                return false;
            continue;
        }
        put->timestamp = timestamp_of(block, cell);
        put->value = slice_make(body, (size_t)(run->body - body));
        *prefix = block->qualifier_prefix;
        run->done = *rest;
        run->column_done = true;
        return true;
    }
    return false;
}

/* ---- runs ---- */

/* Bytes of keys that a cell of a run takes at most. */
static size_t
run_key_bytes(const struct data_block *block)
{
    return block->row_bytes_max + SLACK +
           (one_qualifier(block) ? 0 : block->qualifier_bytes_max + SLACK);
}

/* A row's key after *keys, which moves on. */
static ALWAYS_INLINE petal_slice
join_row_behind(const struct data_block *block, uint32_t row, petal_slice tail, size_t rest_bytes,
                uint8_t **keys)
{
    petal_slice key;

    if (rest_bytes > 0)
        copy_from_block(*keys, block, block->row_prefix.data, block->row_prefix.size);
    key = join_row(block, row, tail, rest_bytes, *keys);
    *keys += rest_bytes > 0 ? key.size : 0;
    return key;
}

/* The same for a qualifier. */
static ALWAYS_INLINE petal_slice
join_qualifier_behind(const struct data_block *block, petal_slice rest, uint8_t **keys)
{
    petal_slice prefix = block->qualifier_prefix, key;

    if (prefix.size > 0 && rest.size > 0)
        copy_from_block(*keys, block, prefix.data, prefix.size);
    key = join(block, prefix, rest, *keys);
    *keys += key.data == *keys ? key.size : 0;
    return key;
}

static ALWAYS_INLINE void
give_put(petal_cell *given, int64_t timestamp)
{
    given->timestamp = timestamp;
    given->type = PETAL_PUT;
    given->has_ttl = false;
    given->ttl_ms = 0;
}

/* Are prefix and tails of all rows so short, and the tails equally long, that each is copied as
 * SLACK bytes? */
static bool
has_short_rows(const struct data_block *block)
{
    return (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0 && block->row_rest_bytes > 0 &&
           block->row_rest_bytes <= SLACK && block->row_prefix.size <= SLACK &&
           (size_t)(block->bytes + block->size - slice_bytes(block->row_prefix)) >= SLACK;
}

/* The cells [first, first + count) of a simple block with short rows, as many as have 2 * SLACK
 * bytes after the beginnings of their records: how many that were. `fixed`: whether the block's
 * records are equally long. */
static ALWAYS_INLINE size_t
give_short(const struct data_block *shared, uint32_t first, size_t count, struct cell_run *run,
           bool fixed)
{
    const struct data_block block = *shared; /* a copy, which no store to a cell can reach */
    const size_t head_bytes = block.row_rest_bytes < DATA_BLOCK_HEAD_BYTES
                                  ? block.row_rest_bytes
                                  : (size_t)DATA_BLOCK_HEAD_BYTES;
    const size_t before_value = block.row_rest_bytes - head_bytes;
    const size_t value_bytes = block.record_bytes - before_value; /* of `fixed` */
    const size_t prefix_bytes = block.row_prefix.size;
    const size_t row_bytes = prefix_bytes + block.row_rest_bytes;
    const uint8_t *head = block.row_heads + DATA_BLOCK_HEAD_BYTES * (size_t)first;
    const uint8_t *offset = block.offsets.base + ((size_t)first + 1) * block.offsets.width;
    const uint8_t *timestamp = block.timestamps.base + (size_t)first * block.timestamps.width;
    const uint8_t *record = record_of(&block, first);
    const uint8_t *limit = block.bytes + block.size - (size_t)2 * SLACK;
    petal_cell *given = run->cells, *given_end = given + count;
    uint8_t *keys = run->keys;
    uint8_t prefix[SLACK];

    assert(fixed == (block.record_bytes != 0));
    memcpy(prefix, block.row_prefix.data, SLACK);
    for (; given < given_end && record <= limit; given++) {
        const uint8_t *end = fixed ? record + block.record_bytes
                                   : block.records + (get_le64(offset) >> block.offsets.shift);

        /* From memory: so each is one load and one store. */
        given->family = run->family;
        given->qualifier = shared->qualifier_prefix;
        give_put(given, (int64_t)((uint64_t)block.timestamp_min +
                                  (get_le64(timestamp) >> block.timestamps.shift)));
        memcpy(keys, prefix, SLACK);
        put_le32(keys + prefix_bytes, __builtin_bswap32(get_le32(head)));
        memcpy(keys + prefix_bytes + head_bytes, record, SLACK);
        given->row = slice_make(keys, row_bytes);
        given->value.data = record + before_value;
        given->value.size = fixed ? value_bytes : (size_t)(end - record) - before_value;
        keys += row_bytes;
        head += DATA_BLOCK_HEAD_BYTES;
        offset += fixed ? 0 : block.offsets.width;
        timestamp += block.timestamps.width;
        record = end;
    }
    run->keys = keys;
    return (size_t)(given - run->cells);
}

static size_t
give_short_rows(const struct data_block *block, uint32_t first, size_t count, struct cell_run *run)
{
    return block->record_bytes != 0 ? give_short(block, first, count, run, true)
                                    : give_short(block, first, count, run, false);
}

/* Give the cells of any block without types from the cursor's on, of which `given` are given already,
 * all rows of one cell; in the row of the last one the cursor then is. */
static void
give_columns(struct data_block_cursor *cursor, size_t given, size_t count, struct cell_run *run)
{
    const struct data_block *block = &cursor->block;
    uint32_t first = cursor->cell, row_end = cursor->row_end;
    const uint8_t *at = body_of(cursor, first);
    uint8_t *keys = run->keys;
    petal_slice row = cursor->row_bytes;

    if (given > 0) {
        row_end = first + (uint32_t)given;
        at = record_of(block, row_end);
        cursor->row = cursor->row_first = row_end - 1;
    } else {
        memcpy(keys, row.data, row.size);
        row.data = keys;
        keys += row.size;
    }
    for (size_t i = given; i < count; i++) {
        uint32_t index = first + (uint32_t)i;
        petal_cell *cell = &run->cells[i];
        const uint8_t *end = record_of(block, index + 1);

        if (index == row_end) {
            size_t rest_bytes;
            petal_slice tail = row_tail(block, at, &rest_bytes);

            cursor->row++;
            row = join_row_behind(block, cursor->row, tail, rest_bytes, &keys);
            at = slice_bytes(tail) + tail.size;
            cursor->row_first = index;
            row_end = data_block_first_cell(block, cursor->row + 1);
            run->row_changes++;
        }
        cell->family = run->family;
        give_put(cell, timestamp_of(block, index));
        cell->row = row;
        if (one_qualifier(block)) {
            cell->qualifier = block->qualifier_prefix;
        } else {
            cell->qualifier = join_qualifier_behind(block, take_qualifier_rest(block, &at), &keys);
        }
        cell->value = slice_make(at, (size_t)(end - at));
        at = end;
    }
    run->keys = keys;
}

size_t
data_block_cursor_run(struct data_block_cursor *cursor, struct cell_run *run, struct cell *cell)
{
    const struct data_block *block = &cursor->block;
    size_t count = block->cells - cursor->cell, room = run->key_bytes / run_key_bytes(block);
    size_t given = 0;
    uint32_t last;

    assert(cursor->cell < block->cells && data_block_is_plain(block));
    count = count < run->most ? count : run->most;
    count = count < room ? count : room;
    if (count == 0)
        return 0;
    last = cursor->cell + (uint32_t)count - 1;
    if (block->simple && has_short_rows(block))
        given = give_short_rows(block, cursor->cell, count, run);
    run->row_changes = given > 0 ? given - 1 : 0;
    give_columns(cursor, given, count, run);
    enter_row(cursor, cursor->row, cursor->row_first, record_of(block, cursor->row_first));
    take_cell(cursor, last, body_of(cursor, last), cell);
    return count;
}

void
data_block_cursor_back(struct data_block_cursor *cursor, size_t back, struct cell *cell)
{
    const struct data_block *block = &cursor->block;
    uint32_t index = cursor->cell - (uint32_t)back, row = cursor->row;

    assert(back <= cursor->cell && cursor->cell < block->cells);
    while (data_block_first_cell(block, row) > index)
        row--;
    go_to_row(cursor, row);
    stand_at(cursor, index, cell);
}

bool
data_block_ends_before(const struct data_block *block, petal_slice row)
{
    bool equal;

    return find_row(block, row, &equal) == block->rows;
}
