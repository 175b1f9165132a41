/*
 * data_block_builder.c -- encodes a data block.  See data_block.h for the layout.
 *
 * Prefixes, widths and flags depend on all cells, so add only gathers: a row's bytes when it
 * begins, then each cell's qualifier and value, one after the other, and a description of each.
 * Running facts (totals, least and greatest lengths) make the final size known at any time.
 */
#include "sstable/block/data_block.h"

#include "base/coding.h"

#include <assert.h>

/*
 * Searching a row of up to so many cells takes three whole compares at most; heads would not pay.
 */
#define WIDE_ROW_CELLS 8

/*
 * What a cell may take beyond its bytes as they are gathered: of the row a head, its first cell and
 * a length, of the qualifier a head and a length, an offset, timestamp, sequence, type; and once a
 * prefix and the ends of two arrays, which rows and qualifiers make up for.
 */
#define CELL_MOST_BYTES (4 + 4 + 5 + 4 + 5 + 4 + 8 + 8 + 1 + 8)

struct data_block_row {
    size_t offset; /* in the builder's bytes */
    uint32_t size;
    uint32_t first; /* index of its first cell */
};

struct data_block_entry {
    size_t offset; /* in the builder's bytes: qualifier, then value */
    uint32_t qualifier_size;
    uint32_t value_size; /* with the time to live that follows the value */
    int64_t timestamp;
    uint64_t sequence;
    enum petal_cell_type type;
    bool has_ttl;
};

/* What is decided about the block from the facts of its cells. */
struct plan {
    uint32_t flags;
    uint32_t offset_width, first_width, timestamp_width, sequence_width;
    size_t records; /* bytes of them */
    size_t size;    /* of the block */
};

void
data_block_builder_init(struct data_block_builder *builder, const petal_allocator *allocator)
{
    *builder = (struct data_block_builder){.allocator = allocator};
    data_block_builder_reset(builder);
}

void
data_block_builder_fini(struct data_block_builder *builder)
{
    const petal_allocator *allocator = builder->allocator;

    mem_free(allocator, builder->bytes, builder->bytes_capacity);
    mem_free(allocator, builder->rows, builder->row_capacity * sizeof *builder->rows);
    mem_free(allocator, builder->entries, builder->cell_capacity * sizeof *builder->entries);
    mem_free(allocator, builder->out, builder->out_capacity);
    data_block_builder_init(builder, allocator);
}

void
data_block_builder_reset(struct data_block_builder *builder)
{
    const struct data_block_lengths none = {.least = UINT32_MAX};

    *builder = (struct data_block_builder){.allocator = builder->allocator,
                                           .bytes = builder->bytes,
                                           .bytes_capacity = builder->bytes_capacity,
                                           .rows = builder->rows,
                                           .row_capacity = builder->row_capacity,
                                           .entries = builder->entries,
                                           .cell_capacity = builder->cell_capacity,
                                           .out = builder->out,
                                           .out_capacity = builder->out_capacity,
                                           .timestamp_min = INT64_MAX,
                                           .timestamp_max = INT64_MIN,
                                           .sequence_min = UINT64_MAX,
                                           .row_lengths = none,
                                           .qualifier_lengths = none,
                                           .value_lengths = none};
}

/* ---- adding ---- */

static bool
make_room(struct data_block_builder *builder, size_t bytes)
{
    size_t rows = builder->row_count, cells = builder->cell_count;

    return mem_grow_array(builder->allocator, &builder->bytes, &builder->bytes_capacity,
                          builder->bytes_used, builder->bytes_used + bytes, 1) &&
           mem_grow_array(builder->allocator, &builder->rows, &builder->row_capacity, rows,
                          rows + 1, sizeof *builder->rows) &&
           mem_grow_array(builder->allocator, &builder->entries, &builder->cell_capacity, cells,
                          cells + 1, sizeof *builder->entries);
}

/* REQUIRES: room. */
static void
append(struct data_block_builder *builder, petal_slice bytes)
{
    assert(bytes.size <= builder->bytes_capacity - builder->bytes_used);
    if (bytes.size > 0)
        memcpy(builder->bytes + builder->bytes_used, bytes.data, bytes.size);
    builder->bytes_used += bytes.size;
}

static petal_slice
row_key(const struct data_block_builder *builder, size_t row)
{
    assert(row < builder->row_count);
    return slice_make(builder->bytes + builder->rows[row].offset, builder->rows[row].size);
}

/* Is it the row added last?  Neighbours differ at their ends, mostly. */
static bool
is_row_at_hand(const struct data_block_builder *builder, petal_slice row)
{
    petal_slice last;

    if (builder->row_count == 0)
        return false;
    last = row_key(builder, builder->row_count - 1);
    return last.size == row.size &&
           slice_bytes(last)[row.size - 1] == slice_bytes(row)[row.size - 1] &&
           memcmp(last.data, row.data, row.size) == 0;
}

static petal_slice
qualifier_of(const struct data_block_builder *builder, const struct data_block_entry *entry)
{
    return slice_make(builder->bytes + entry->offset, entry->qualifier_size);
}

/* What of a row's key its head holds. */
static size_t
bytes_in_head(const struct data_block_builder *builder, size_t row_bytes)
{
    size_t rest = row_bytes - builder->row_prefix;

    assert(row_bytes >= builder->row_prefix);
    return rest < DATA_BLOCK_HEAD_BYTES ? rest : DATA_BLOCK_HEAD_BYTES;
}

/* The prefix becomes shorter, so that more of the rows stands in their heads. */
static void
shorten_prefix(struct data_block_builder *builder, uint32_t prefix)
{
    builder->row_prefix = prefix;
    builder->head_total = 0;
    for (size_t i = 0; i < builder->row_count; i++)
        builder->head_total += bytes_in_head(builder, builder->rows[i].size);
}

static void
note_length(struct data_block_lengths *lengths, uint32_t size)
{
    lengths->total += size;
    lengths->varint_total += varint64_size(size);
    if (size < lengths->least)
        lengths->least = size;
    if (size > lengths->greatest)
        lengths->greatest = size;
}

static void
begin_row(struct data_block_builder *builder, petal_slice row)
{
    struct data_block_row *added = &builder->rows[builder->row_count];
    uint32_t size = (uint32_t)row.size;

    assert(builder->row_count < builder->row_capacity);
    added->offset = builder->bytes_used;
    added->size = size;
    added->first = (uint32_t)builder->cell_count;
    append(builder, row);
    if (builder->row_count++ == 0) {
        builder->row_prefix = size;
    } else {
        petal_slice shared = row_key(builder, 0);
        uint32_t prefix;

        /* The rows are sorted, so what the first and the last share all share. */
        shared.size = builder->row_prefix;
        prefix = (uint32_t)slice_common_prefix(shared, row);
        if (prefix < builder->row_prefix)
            shorten_prefix(builder, prefix);
        else
            builder->head_total += bytes_in_head(builder, size);
    }
    note_length(&builder->row_lengths, size);
}

/*
 * Facts of the qualifier of the entry added last, a column's cell, which does not begin its row if
 * `in_row`.
 */
static void
note_column(struct data_block_builder *builder, bool in_row)
{
    const struct data_block_entry *added = &builder->entries[builder->cell_count - 1];
    petal_slice qualifier = qualifier_of(builder, added);
    uint32_t size = added->qualifier_size;

    if (builder->column_cells++ == 0) {
        builder->shared_qualifier = added->offset;
        builder->qualifier_prefix = size;
    } else {
        petal_slice shared =
            slice_make(builder->bytes + builder->shared_qualifier, builder->qualifier_prefix);

        builder->qualifier_prefix = (uint32_t)slice_common_prefix(shared, qualifier);
    }
    if (in_row && !cell_is_family_marker(added[-1].type) &&
        slice_equal(qualifier_of(builder, added - 1), qualifier))
        builder->repeats_column = true;
    note_length(&builder->qualifier_lengths, size);
}

static void
note_versions(struct data_block_builder *builder, const struct cell *cell)
{
    if (cell->timestamp < builder->timestamp_min)
        builder->timestamp_min = cell->timestamp;
    if (cell->timestamp > builder->timestamp_max)
        builder->timestamp_max = cell->timestamp;
    if (cell->sequence < builder->sequence_min)
        builder->sequence_min = cell->sequence;
    if (cell->sequence > builder->sequence_max)
        builder->sequence_max = cell->sequence;
    builder->has_markers |= cell_is_marker(cell->type);
}

/* The value, and after it the cell's own time to live. */
static void
append_value(struct data_block_builder *builder, const struct cell *cell)
{
    append(builder, cell->value);
    if (cell->has_ttl) {
        put_le64(builder->bytes + builder->bytes_used, (uint64_t)cell->ttl_ms);
        builder->bytes_used += DATA_BLOCK_TTL_BYTES;
        builder->has_ttls = true;
    }
}

enum petal_status
data_block_builder_add(struct data_block_builder *builder, const struct cell *cell)
{
    bool family = cell_is_family_marker(cell->type);
    petal_slice qualifier = family ? slice_make(NULL, 0) : cell->qualifier;
    size_t value_size = cell->value.size + (cell->has_ttl ? DATA_BLOCK_TTL_BYTES : 0);
    struct data_block_entry *added;
    uint32_t row_cells;
    bool in_row;

    assert(cell->row.size > 0 && cell->row.size <= PETAL_MAX_ROW_BYTES);
    assert(qualifier.size <= PETAL_MAX_QUALIFIER_BYTES);
    assert(cell->value.size < DATA_BLOCK_MAX_BYTES);
    assert(!cell_is_marker(cell->type) || cell->value.size == 0);
    if (!make_room(builder, cell->row.size + qualifier.size + value_size))
        return PETAL_NO_MEMORY;
    in_row = is_row_at_hand(builder, cell->row);
    if (!in_row)
        begin_row(builder, cell->row);

    added = &builder->entries[builder->cell_count++];
    added->offset = builder->bytes_used;
    added->qualifier_size = (uint32_t)qualifier.size;
    added->value_size = (uint32_t)value_size;
    added->timestamp = cell->timestamp;
    added->sequence = cell->sequence;
    added->type = cell->type;
    added->has_ttl = cell->has_ttl;
    append(builder, qualifier);
    append_value(builder, cell);
    note_length(&builder->value_lengths, (uint32_t)value_size);
    row_cells = (uint32_t)builder->cell_count - builder->rows[builder->row_count - 1].first;
    if (row_cells > builder->widest_row)
        builder->widest_row = row_cells;
    if (!family)
        note_column(builder, in_row);
    note_versions(builder, cell);
    return PETAL_OK;
}

/* ---- planning ---- */

static uint32_t
width_of(uint64_t greatest)
{
    return (71 - (uint32_t)__builtin_clzll(greatest | 1)) / 8 - (greatest == 0);
}

/* Are all records equally long? */
static bool
fixed_record(const struct data_block_builder *builder, uint32_t flags)
{
    size_t row_bytes = builder->row_lengths.greatest;

    if (builder->value_lengths.least != builder->value_lengths.greatest ||
        (flags & DATA_BLOCK_FIXED_ROW_REST) == 0)
        return false;
    if ((flags & DATA_BLOCK_ONE_QUALIFIER) == 0 &&
        (builder->qualifier_lengths.least != builder->qualifier_lengths.greatest ||
         builder->column_cells != builder->cell_count))
        return false;
    return (flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0 ||
           builder->row_prefix + bytes_in_head(builder, row_bytes) == row_bytes;
}

static uint32_t
flags_of(const struct data_block_builder *builder)
{
    uint32_t flags = 0;
    bool one_qualifier = builder->column_cells == 0 ||
                         (builder->qualifier_lengths.least == builder->qualifier_prefix &&
                          builder->qualifier_lengths.greatest == builder->qualifier_prefix);

    if (builder->has_markers || builder->has_ttls)
        flags |= DATA_BLOCK_HAS_TYPES;
    if (builder->widest_row == 1)
        flags |= DATA_BLOCK_ONE_CELL_PER_ROW;
    if (!builder->repeats_column)
        flags |= DATA_BLOCK_ONE_VERSION;
    if (one_qualifier)
        flags |= DATA_BLOCK_ONE_QUALIFIER;
    if (builder->row_lengths.least == builder->row_lengths.greatest)
        flags |= DATA_BLOCK_FIXED_ROW_REST;
    if (!one_qualifier && builder->widest_row > WIDE_ROW_CELLS)
        flags |= DATA_BLOCK_QUALIFIER_HEADS;
    if (fixed_record(builder, flags))
        flags |= DATA_BLOCK_FIXED_RECORD;
    return flags;
}

/* Bytes of the records; the varints taken to be as long as those of whole lengths. */
static size_t
records_bound(const struct data_block_builder *builder, uint32_t flags)
{
    size_t bytes = builder->value_lengths.total + builder->row_lengths.total -
                   builder->row_count * builder->row_prefix - builder->head_total;

    if ((flags & DATA_BLOCK_FIXED_ROW_REST) == 0)
        bytes += builder->row_lengths.varint_total;
    if ((flags & DATA_BLOCK_ONE_QUALIFIER) == 0)
        bytes += builder->qualifier_lengths.varint_total + builder->qualifier_lengths.total -
                 (size_t)builder->column_cells * builder->qualifier_prefix;
    return bytes;
}

/* The plan for records of that many bytes. */
static struct plan
plan_for(const struct data_block_builder *builder, uint32_t flags, size_t records)
{
    size_t rows = builder->row_count, cells = builder->cell_count;
    struct plan plan = {.flags = flags, .records = records};

    plan.offset_width = (flags & DATA_BLOCK_FIXED_RECORD) != 0 ? 0 : width_of(records);
    plan.first_width = (flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0 ? 0 : width_of(cells);
    plan.timestamp_width =
        width_of((uint64_t)builder->timestamp_max - (uint64_t)builder->timestamp_min);
    plan.sequence_width = width_of(builder->sequence_max - builder->sequence_min);
    plan.size = DATA_BLOCK_HEADER_BYTES + 4 * rows + plan.offset_width * (cells + 1) +
                plan.first_width * (rows + 1) +
                (plan.timestamp_width + plan.sequence_width) * cells + builder->row_prefix +
                builder->qualifier_prefix + records;
    if ((flags & DATA_BLOCK_QUALIFIER_HEADS) != 0)
        plan.size += 4 * cells;
    if ((flags & DATA_BLOCK_HAS_TYPES) != 0)
        plan.size += cells;
    return plan;
}

size_t
data_block_builder_memory(const struct data_block_builder *builder)
{
    return builder->bytes_capacity + builder->out_capacity +
           builder->row_capacity * sizeof *builder->rows +
           builder->cell_capacity * sizeof *builder->entries;
}

size_t
data_block_builder_bytes(const struct data_block_builder *builder)
{
    uint32_t flags;
    size_t bytes;

    if (builder->cell_count == 0)
        return 0;
    flags = flags_of(builder);
    bytes = plan_for(builder, flags, records_bound(builder, flags)).size;
    assert(bytes <= data_block_builder_bytes_bound(builder));
    return bytes;
}

size_t
data_block_builder_bytes_bound(const struct data_block_builder *builder)
{
    return DATA_BLOCK_HEADER_BYTES + builder->bytes_used + builder->cell_count * CELL_MOST_BYTES;
}

size_t
data_block_builder_cells(const struct data_block_builder *builder)
{
    return builder->cell_count;
}

/* Bytes of the records, exactly. */
static size_t
records_bytes(const struct data_block_builder *builder, uint32_t flags)
{
    size_t bytes = records_bound(builder, flags);

    if ((flags & DATA_BLOCK_FIXED_ROW_REST) == 0) {
        bytes -= builder->row_lengths.varint_total;
        for (size_t i = 0; i < builder->row_count; i++)
            bytes += varint64_size(builder->rows[i].size - builder->row_prefix);
    }
    if ((flags & DATA_BLOCK_ONE_QUALIFIER) == 0) {
        bytes -= builder->qualifier_lengths.varint_total;
        for (size_t i = 0; i < builder->cell_count; i++) {
            const struct data_block_entry *entry = &builder->entries[i];

            if (!cell_is_family_marker(entry->type))
                bytes += varint64_size(entry->qualifier_size - builder->qualifier_prefix);
        }
    }
    return bytes;
}

/* ---- encoding ---- */

static uint8_t *
put_head(uint8_t *to, petal_slice key, size_t prefix)
{
    if (key.size >= prefix + 4)
        put_le32(to, get_be32(slice_bytes(key) + prefix));
    else
        put_le32(to, (uint32_t)(slice_head(key, prefix) >> 32));
    return to + 4;
}

static uint8_t *
put_header(uint8_t *to, const struct data_block_builder *builder, const struct plan *plan)
{
    bool fixed_rest = (plan->flags & DATA_BLOCK_FIXED_ROW_REST) != 0;
    bool fixed_record = (plan->flags & DATA_BLOCK_FIXED_RECORD) != 0;

    assert(!fixed_record || plan->records % builder->cell_count == 0);
    put_le32(to, (uint32_t)builder->row_count);
    put_le32(to + 4, (uint32_t)builder->cell_count);
    put_le32(to + 8,
             (uint32_t)(fixed_record ? plan->records / builder->cell_count : plan->records));
    put_le16(to + 12, (uint16_t)plan->flags);
    to[14] = (uint8_t)plan->offset_width;
    to[15] = (uint8_t)plan->first_width;
    to[16] = (uint8_t)plan->timestamp_width;
    to[17] = (uint8_t)plan->sequence_width;
    put_le16(to + 18, (uint16_t)builder->row_prefix);
    put_le16(to + 20,
             (uint16_t)(fixed_rest ? builder->row_lengths.greatest - builder->row_prefix : 0));
    put_le16(to + 22, (uint16_t)builder->row_lengths.greatest);
    put_le32(to + 24, builder->qualifier_prefix);
    put_le32(to + 28, builder->qualifier_lengths.greatest);
    put_le64(to + 32, (uint64_t)builder->timestamp_min);
    put_le64(to + 40, (uint64_t)builder->timestamp_max);
    put_le64(to + 48, builder->sequence_min);
    put_le64(to + 56, builder->sequence_max);
    return to + DATA_BLOCK_HEADER_BYTES;
}

static uint8_t *
put_heads(uint8_t *to, const struct data_block_builder *builder, const struct plan *plan)
{
    for (size_t i = 0; i < builder->row_count; i++)
        to = put_head(to, row_key(builder, i), builder->row_prefix);
    if ((plan->flags & DATA_BLOCK_QUALIFIER_HEADS) == 0)
        return to;
    for (size_t i = 0; i < builder->cell_count; i++) {
        const struct data_block_entry *entry = &builder->entries[i];
        bool family = cell_is_family_marker(entry->type);

        to = put_head(to, family ? slice_make(NULL, 0) : qualifier_of(builder, entry),
                      builder->qualifier_prefix);
    }
    return to;
}

static uint8_t *
put_versions(uint8_t *to, const struct data_block_builder *builder, const struct plan *plan)
{
    const struct data_block_entry *entries = builder->entries;

    for (size_t i = 0; i < builder->cell_count; i++)
        to = packed_put(to, plan->timestamp_width,
                        (uint64_t)entries[i].timestamp - (uint64_t)builder->timestamp_min);
    for (size_t i = 0; i < builder->cell_count; i++)
        to = packed_put(to, plan->sequence_width, entries[i].sequence - builder->sequence_min);
    if ((plan->flags & DATA_BLOCK_HAS_TYPES) != 0)
        for (size_t i = 0; i < builder->cell_count; i++)
            *to++ = (uint8_t)(entries[i].type | (entries[i].has_ttl ? DATA_BLOCK_TTL_BIT : 0u));
    return to;
}

/* The tail of a row, and before it the length of its rest. */
static uint8_t *
put_row(uint8_t *to, const struct data_block_builder *builder, petal_slice key, bool with_length)
{
    size_t before = builder->row_prefix + bytes_in_head(builder, key.size);

    if (with_length)
        to = put_varint64(to, key.size - builder->row_prefix);
    return put_bytes(to, slice_bytes(key) + before, key.size - before);
}

static uint8_t *
put_qualifier(uint8_t *to, const struct data_block_builder *builder, petal_slice key)
{
    size_t prefix = builder->qualifier_prefix;

    to = put_varint64(to, key.size - prefix);
    return put_bytes(to, slice_bytes(key) + prefix, key.size - prefix);
}

/*
 * Write the records at `to`, and the offset of each at `offsets`.  Return the byte after the
 * records.
 */
static uint8_t *
put_records(uint8_t *to, uint8_t *offsets, const struct data_block_builder *builder,
            const struct plan *plan)
{
    const uint8_t *first = to;
    bool fixed_rest = (plan->flags & DATA_BLOCK_FIXED_ROW_REST) != 0;
    bool one_qualifier = (plan->flags & DATA_BLOCK_ONE_QUALIFIER) != 0;
    size_t row = 0;

    for (size_t i = 0; i < builder->cell_count; i++) {
        const struct data_block_entry *entry = &builder->entries[i];

        offsets = packed_put(offsets, plan->offset_width, (uint64_t)(to - first));
        if (row < builder->row_count && builder->rows[row].first == i)
            to = put_row(to, builder, row_key(builder, row++), !fixed_rest);
        if (!one_qualifier && !cell_is_family_marker(entry->type))
            to = put_qualifier(to, builder, qualifier_of(builder, entry));
        to = put_bytes(to, builder->bytes + entry->offset + entry->qualifier_size,
                       entry->value_size);
    }
    packed_put(offsets, plan->offset_width, (uint64_t)(to - first));
    return to;
}

static void
encode(const struct data_block_builder *builder, const struct plan *plan)
{
    uint8_t *to = builder->out;
    uint8_t *offsets;

    to = put_header(to, builder, plan);
    to = put_heads(to, builder, plan);
    offsets = to;
    to += plan->offset_width * (builder->cell_count + 1);
    if (plan->first_width > 0) {
        for (size_t i = 0; i < builder->row_count; i++)
            to = packed_put(to, plan->first_width, builder->rows[i].first);
        to = packed_put(to, plan->first_width, builder->cell_count);
    }
    to = put_versions(to, builder, plan);
    to = put_bytes(to, row_key(builder, 0).data, builder->row_prefix);
    if (builder->qualifier_prefix > 0)
        to = put_bytes(to, builder->bytes + builder->shared_qualifier, builder->qualifier_prefix);
    to = put_records(to, offsets, builder, plan);
    assert(to == builder->out + plan->size);
}

enum petal_status
data_block_builder_finish(struct data_block_builder *builder, bool continues, petal_slice *bytes)
{
    uint32_t flags = flags_of(builder);
    struct plan plan;

    assert(builder->cell_count > 0);
    *bytes = slice_make(NULL, 0);
    if (continues)
        flags &= ~(uint32_t)DATA_BLOCK_ONE_VERSION;
    plan = plan_for(builder, flags, records_bytes(builder, flags));
    assert(plan.size <= DATA_BLOCK_MAX_BYTES);
    if (!mem_grow_array(builder->allocator, &builder->out, &builder->out_capacity, 0, plan.size, 1))
        return PETAL_NO_MEMORY;
    encode(builder, &plan);
    *bytes = slice_make(builder->out, plan.size);
    return PETAL_OK;
}
