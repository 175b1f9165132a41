/*
 * data_block.h -- the cells of one data block as bytes: builder, complete check, search, iteration.
 *
 * WHY THIS SHAPE.  A point read must find its cell without decoding the block from its start and
 * touch few cache lines; a row's bytes must stand once.  So a block begins with arrays that are
 * searched: heads of the rows (4 bytes after the prefix that all rows share) and, in blocks with
 * wide rows, heads of the qualifiers.  Then come the records.  Redundant parts are left out: a
 * row's head is not repeated in its record, a number that is equal in all cells takes no bytes,
 * with one cell a row there is no array that tells the cells of the rows, and records of one size
 * need no offsets.
 *
 * LAYOUT: sstable/FORMAT.md, "Data block" and "Packed data block".  A decoder may load the 8 bytes
 * that end with an integer of any width: the header lies before the first.
 *
 * Bytes are checked once, completely, when a block enters memory (data_block_check), the order of
 * rows and cells included; afterwards no read checks bounds, and a search finds what is there.
 * Threads: the bytes are immutable; builder and cursor belong to one thread.
 */
#ifndef PETAL_SSTABLE_BLOCK_DATA_BLOCK_H
#define PETAL_SSTABLE_BLOCK_DATA_BLOCK_H

#include "base/cell_iter.h"
#include "base/coding.h"
#include "base/mem.h"

#define DATA_BLOCK_HEADER_BYTES 64
#define DATA_BLOCK_MAX_BYTES    (1u << 30) /* of a block; larger ones are refused */

/* Stored; never renumbered. */
enum data_block_flags {
    DATA_BLOCK_HAS_TYPES = 1, /* there is a types array: for markers and times to live of cells */
    DATA_BLOCK_ONE_CELL_PER_ROW = 2, /* cell i is row i */
    DATA_BLOCK_ONE_VERSION = 4, /* no column twice; the first does not continue the block before */
    DATA_BLOCK_ONE_QUALIFIER = 8,    /* all columns' cells have the qualifier that is the prefix */
    DATA_BLOCK_FIXED_ROW_REST = 16,  /* all rows are equally long */
    DATA_BLOCK_QUALIFIER_HEADS = 32, /* there is a qualifier heads array */
    DATA_BLOCK_FIXED_RECORD = 64,    /* all records are equally long */
    DATA_BLOCK_ALL_FLAGS = 127
};

#define DATA_BLOCK_HEAD_BYTES 4

#define DATA_BLOCK_TTL_BIT   0x80 /* in a cell's type */
#define DATA_BLOCK_TTL_BYTES 8

/* ---- building ---- */

/* Of rows, of columns' qualifiers, of values with their times to live. */
struct data_block_lengths {
    size_t total, varint_total;
    uint32_t least, greatest;
};

/* Gathers cells and encodes them in finish, when prefixes and widths are known. */
struct data_block_builder {
    const petal_allocator *allocator;
    uint8_t *bytes; /* rows, qualifiers and values as they came */
    size_t bytes_used, bytes_capacity;
    struct data_block_row *rows;
    size_t row_count, row_capacity;
    struct data_block_entry *entries; /* one a cell */
    size_t cell_count, cell_capacity;
    uint8_t *out; /* what the last finish gave */
    size_t out_capacity;
    /* Facts of the cells so far. */
    int64_t timestamp_min, timestamp_max;
    uint64_t sequence_min, sequence_max;
    size_t head_total; /* bytes of rows that stand in their heads */
    struct data_block_lengths row_lengths, qualifier_lengths, value_lengths;
    uint32_t row_prefix, qualifier_prefix;
    size_t shared_qualifier; /* where in `bytes` the first column's qualifier lies */
    uint32_t column_cells;   /* cells that are no family markers */
    uint32_t widest_row;     /* cells of the row that has most */
    bool has_markers, has_ttls, repeats_column;
};

/* Allocates nothing. */
void data_block_builder_init(struct data_block_builder *builder, const petal_allocator *allocator);
void data_block_builder_fini(struct data_block_builder *builder);

/*
 * REQUIRES: cell sorts after the one before, lies within the limits of engine/petal.h, and a
 * marker's value is empty; all cells together stay below DATA_BLOCK_MAX_BYTES.  Copies what it
 * needs.  On failure (PETAL_NO_MEMORY) the builder is as before.
 */
enum petal_status data_block_builder_add(struct data_block_builder *builder,
                                         const struct cell *cell);

/* Bytes that finish would give: never less, and exact but for the varints of lengths that cross
 * a power of 128 when the shared prefix is taken off.  0 without cells. */
size_t data_block_builder_bytes(const struct data_block_builder *builder);
/* Of memory that it has. */
size_t data_block_builder_memory(const struct data_block_builder *builder);
/* No less than what finish would give, cheaper. */
size_t data_block_builder_bytes_bound(const struct data_block_builder *builder);

size_t data_block_builder_cells(const struct data_block_builder *builder);

/*
 * The block's bytes, good until the next finish or fini.  `continues`: the first cell's column is
 * that of the previous block's last cell.  REQUIRES: at least one cell.
 */
enum petal_status data_block_builder_finish(struct data_block_builder *builder, bool continues,
                                            petal_slice *bytes);

/* Forget the cells, keep the memory. */
void data_block_builder_reset(struct data_block_builder *builder);

/* ---- packing: blocks in compressed files ---- */

/*
 * A block that is to be compressed is PACKED first: it becomes numbers in as many bits as they
 * need, and the text, which is for LZ4 (FORMAT.md, "Packed data block").
 */

/* Bytes that the packed numbers take at most; the text takes fewer than the block. */
size_t data_block_pack_bound(size_t size);

/* Write both; return the bytes of `packed`.  REQUIRES: `bytes` are those of
 * data_block_builder_finish; room for data_block_pack_bound(size) and for `size` bytes. */
size_t data_block_pack(const uint8_t *bytes, size_t size, uint8_t *packed, uint8_t *text,
                       size_t *text_bytes);

/* Undo it, given any bytes: the text stands in the last `text_bytes` of `bytes`.  False if this
 * cannot give a block of `size` bytes; else data_block_check has the last word. */
bool data_block_unpack(uint8_t *bytes, size_t size, size_t text_bytes, petal_slice packed);

/* ---- reading ---- */

/* Whether the header of untrusted bytes, DATA_BLOCK_HEADER_BYTES at least, gives their size, so
 * that all arrays lie inside. */
bool data_block_header_is_sane(const uint8_t *bytes, size_t size);

/* An array of integers of one width. */
struct packed_array {
    const uint8_t *base; /* 8 bytes before the end of element 0; with width 0: 8 zero bytes */
    uint32_t width;
    uint32_t shift; /* takes off what was loaded before the element */
};

static inline uint64_t
packed_get(const struct packed_array *array, size_t index)
{
    return get_le64(array->base + index * array->width) >> array->shift;
}

/* The array of `count` integers at *at, which moves after it. */
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

/* Write an element of so many bytes; return the byte after it. */
static inline uint8_t *
packed_put(uint8_t *to, uint32_t width, uint64_t v)
{
    switch (width) {
    case 0:
        return to;
    case 1:
        *to = (uint8_t)v;
        return to + 1;
    case 2:
        put_le16(to, (uint16_t)v);
        return to + 2;
    case 4:
        put_le32(to, (uint32_t)v);
        return to + 4;
    default:
        for (uint32_t i = 0; i < width; i++)
            to[i] = (uint8_t)(v >> 8 * i);
        return to + width;
    }
}

/* Decoded header: pointers into the block's bytes. */
struct data_block {
    const uint8_t *bytes;
    size_t size;
    uint32_t rows, cells;
    uint32_t flags;
    bool simple; /* one cell a row, one qualifier, no types: keys and values without columns */
    uint32_t row_rest_bytes; /* with FIXED_ROW_REST */
    uint32_t record_bytes;   /* with FIXED_RECORD, else 0 */
    uint32_t row_bytes_max, qualifier_bytes_max;
    int64_t timestamp_min, timestamp_max;
    uint64_t sequence_min, sequence_max;
    petal_slice row_prefix, qualifier_prefix;
    const uint8_t *row_heads;
    const uint8_t *qualifier_heads; /* NULL if absent */
    const uint8_t *types;           /* NULL if absent */
    const uint8_t *records;
    struct packed_array offsets, firsts, timestamps, sequences;
};

/* Index of the row's first cell; `row` may be the number of rows. */
static inline uint32_t
data_block_first_cell(const struct data_block *block, uint32_t row)
{
    return (block->flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0
               ? row
               : (uint32_t)packed_get(&block->firsts, row);
}

/* Where the cell's record begins, from the first one; `cell` may be the number of cells. */
static inline uint64_t
data_block_record_offset(const struct data_block *block, uint32_t cell)
{
    return block->record_bytes != 0 ? (uint64_t)cell * block->record_bytes
                                    : packed_get(&block->offsets, cell);
}

static inline size_t
data_block_records_bytes(const struct data_block *block)
{
    return (size_t)(block->bytes + block->size - block->records);
}

/*
 * Full check of untrusted bytes; false if malformed (the caller names file and offset).  Also
 * fills *block.
 */
bool data_block_check(struct data_block *block, const uint8_t *bytes, size_t size);

/*
 * Add to the sequence of every cell, in a block that data_block_check has accepted: the header
 * alone is written. False, and nothing is changed: one would pass the end of sequences
 * (CELL_SEQUENCE_END).
 */
bool data_block_shift_sequences(uint8_t *bytes, uint64_t shift);

/* Fill *block from bytes that data_block_check has accepted before. */
void data_block_view(struct data_block *block, const uint8_t *bytes, size_t size);

/* No markers and no cell with a time to live of its own; no column twice; the first column does
 * not continue the previous block's. */
static inline bool
data_block_is_plain(const struct data_block *block)
{
    return (block->flags & (DATA_BLOCK_HAS_TYPES | DATA_BLOCK_ONE_VERSION)) ==
           DATA_BLOCK_ONE_VERSION;
}

/*
 * A position in a block.  Steps fill a struct cell: its value points into the block; its row and
 * qualifier may, else they point into the cursor's buffers.  They are
 * good until the cursor's next step or change of block.  The caller keeps the block's bytes alive
 * meanwhile.
 *
 * Rows and qualifiers that are 16 bytes shorter than the inline buffers need no allocation.  The
 * struct must not be moved while it is attached to a block.
 */
#define DATA_BLOCK_INLINE_ROW_BYTES       128
#define DATA_BLOCK_INLINE_QUALIFIER_BYTES 80

struct data_block_cursor {
    struct data_block block;   /* what it is attached to */
    uint32_t cell;             /* index of the current cell; block.cells: after the last */
    const uint8_t *record_end; /* of the current cell's record; the next begins there */
    uint32_t row;              /* index of the current row */
    uint32_t row_first;        /* index of the row's first cell */
    uint32_t row_end;          /* index after the row's last cell */
    petal_slice row_bytes;     /* the row's key */
    const uint8_t *first_body; /* of the row's first cell: what follows the row's tail */
    uint8_t *row_memory;       /* the prefix in place; the rest is copied after it */
    uint8_t *qualifier_memory;
    size_t row_grown, qualifier_grown; /* bytes allocated, 0: inline */
    const petal_allocator *allocator;
    uint8_t row_inline[DATA_BLOCK_INLINE_ROW_BYTES];
    uint8_t qualifier_inline[DATA_BLOCK_INLINE_QUALIFIER_BYTES];
};

/* Cheap: touches a few fields.  fini releases what grew. */
void data_block_cursor_init(struct data_block_cursor *cursor, const petal_allocator *allocator);
void data_block_cursor_fini(struct data_block_cursor *cursor);

/*
 * Attach to a block that data_block_check has accepted; not positioned afterwards.  Fails only
 * with PETAL_NO_MEMORY, when long keys need a larger buffer; then it is attached to nothing.
 */
enum petal_status data_block_cursor_attach(struct data_block_cursor *cursor, const uint8_t *bytes,
                                           size_t size);

/* Position at the block's first cell.  REQUIRES: attached. */
void data_block_cursor_first(struct data_block_cursor *cursor, struct cell *cell);

/*
 * Position at the first cell at or after `key`; false if there is none: *cell unchanged.
 * REQUIRES: attached.
 */
bool data_block_cursor_seek(struct data_block_cursor *cursor, const struct cell_key *key,
                            struct cell *cell);

/* Position at the block's last cell; at the last one before `key`, false if there is none: *cell
 * unchanged.  REQUIRES: attached. */
void data_block_cursor_last(struct data_block_cursor *cursor, struct cell *cell);
bool data_block_cursor_seek_before(struct data_block_cursor *cursor, const struct cell_key *key,
                                   struct cell *cell);

/*
 * Step to the following cell; false after the last: *cell unchanged.  REQUIRES: positioned at a
 * cell, and *cell is as the cursor left it: where no cell of the block has a time to live of its
 * own, steps do not write that there is none.
 */
bool data_block_cursor_next(struct data_block_cursor *cursor, struct cell *cell);

/* Go back over so many cells.  REQUIRES: positioned at a cell that has so many before it. */
void data_block_cursor_back(struct data_block_cursor *cursor, size_t back, struct cell *cell);

/* Whether all rows of the block are below `row`. */
bool data_block_ends_before(const struct data_block *block, petal_slice row);

/*
 * Give the cell at hand and those after it, at most run->most of them and as far as their keys
 * have room (base/cell_iter.h); 0: not even one has.  The cursor then stands at the last one given,
 * and *cell is it.  Does not look at the run's limits.  REQUIRES: positioned at a cell, and the
 * block is plain.
 */
size_t data_block_cursor_run(struct data_block_cursor *cursor, struct cell_run *run,
                             struct cell *cell);

/* ---- points: what one block says of a column or row, without a cursor ---- */

enum data_block_answer {
    DATA_BLOCK_HAS,
    DATA_BLOCK_LACKS, /* it has no such cell that the read point sees */
    DATA_BLOCK_UNTOLD /* there are markers or times to live, or the block before may decide */
};

struct data_block_column {
    petal_slice row, qualifier;
    uint64_t sequence; /* the read point's */
};

struct data_block_put {
    petal_slice value; /* in the block */
    int64_t timestamp;
    uint64_t sequence;
};

/*
 * The column's newest put that the read point sees; of its versions only this block's are looked
 * at.  `begins`: the block's first cell begins its column.  `bytes` as for data_block_view.
 */
enum data_block_answer data_block_find_put(const uint8_t *bytes, size_t size,
                                           const struct data_block_column *column, bool begins,
                                           struct data_block_put *put);

/*
 * The same in two steps, for several blocks at once: the first one finds the place of the row in a
 * block of plain pairs, and starts loading what the second one looks at there.
 */
#define DATA_BLOCK_ANYWHERE UINT32_MAX /* the second step has to search */
uint32_t data_block_locate_put(const uint8_t *bytes, size_t size,
                               const struct data_block_column *column);
enum data_block_answer data_block_take_put(const uint8_t *bytes, size_t size, uint32_t located,
                                           const struct data_block_column *column, bool begins,
                                           struct data_block_put *put);

/* The cells of one row in one block. */
struct data_block_run {
    struct data_block block;
    uint32_t cell, end;  /* those that follow */
    const uint8_t *body; /* of `cell`, after the row's tail */
    uint64_t sequence;   /* the read point's */
    bool too_many;       /* cells to pass over: what the run gave is of no use */
    bool column_done;    /* the newest put of a column was given .. */
    petal_slice done;    /* .. whose qualifier's rest is this */
};

/* The same for all columns of a row.  `begins`: the block's first cell begins its row.  HAS: the
 * row is there, though the read point may see none of its cells. */
enum data_block_answer data_block_find_row(const uint8_t *bytes, size_t size, petal_slice row,
                                           uint64_t sequence, bool begins,
                                           struct data_block_run *run);

/* The newest put that the read point sees of the next column that has one; its qualifier is
 * `prefix` and `rest`, both in the block.  False after the last, and with run->too_many where more
 * than DATA_BLOCK_RUN_PASSES cells of a column hide behind its newest one, or are newer than the
 * read point: a seek is cheaper. */
#define DATA_BLOCK_RUN_PASSES 64
bool data_block_run_next(struct data_block_run *run, struct data_block_put *put,
                         petal_slice *prefix, petal_slice *rest);

#endif
