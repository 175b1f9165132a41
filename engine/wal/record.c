/* record.c -- see record.h. */
#include "engine/wal/record.h"

#include "base/coding.h"
#include "base/inline.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

#define TYPE_BITS 7u /* of the flags: half the type */

#define LEAST_CELL_BYTES 3 /* flags and two lengths */

/* ---- signed varints ---- */

static inline uint64_t
from_signed(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t
to_signed(uint64_t v)
{
    return (int64_t)(v >> 1 ^ ((v & 1) != 0 ? UINT64_MAX : 0));
}

/* ---- writing ---- */

/* The difference to the base, which may go round: the reader's sum does, too. */
static inline uint64_t
time_difference(const struct record_base *base, const struct cell *cell)
{
    return from_signed((int64_t)((uint64_t)cell->timestamp - (uint64_t)base->timestamp));
}

static inline unsigned
flags_of(const struct record_base *base, const struct write_cell *write, bool same_row)
{
    const petal_family *family = write->family;
    bool same_family = base->next_sequence != 0 && family->table->id == base->table_id &&
                       family->id == base->family_id;

    return (write->ahead ? 0u : (unsigned)write->cell.type / 2) |
           (same_family ? RECORD_SAME_FAMILY : 0u) |
           (write->cell.timestamp == base->timestamp ? RECORD_SAME_TIMESTAMP : 0u) |
           (same_row ? RECORD_SAME_ROW : 0u) | (write->cell.has_ttl ? RECORD_HAS_TTL : 0u) |
           (write->assigned && !write->resolved ? RECORD_ASSIGNED : 0u);
}

/* After the cell. */
static inline void
advance(struct record_base *base, const struct write_cell *write)
{
    base->next_sequence = write->cell.sequence + 1;
    base->timestamp = write->cell.timestamp;
    base->table_id = write->family->table->id;
    base->family_id = write->family->id;
}

/* Bytes of the cell apart from flags, row, qualifier and value, and their lengths. */
static NEVER_INLINE size_t
extra_size(const struct record_base *base, const struct write_cell *write, unsigned flags)
{
    size_t size = (flags & TYPE_BITS) == 0;

    if ((flags & RECORD_SAME_FAMILY) == 0)
        size += varint64_size(write->family->table->id) + varint64_size(write->family->id);
    if ((flags & RECORD_SAME_TIMESTAMP) == 0)
        size += varint64_size(time_difference(base, &write->cell));
    if ((flags & RECORD_HAS_TTL) != 0)
        size += varint64_size(from_signed(write->cell.ttl_ms));
    return size;
}

#define SIMPLE_FLAGS (RECORD_SAME_FAMILY | RECORD_SAME_TIMESTAMP)

/* Has the cell nothing but flags, row, qualifier and value? */
static inline bool
is_simple(unsigned flags)
{
    return (flags & (SIMPLE_FLAGS | RECORD_HAS_TTL)) == SIMPLE_FLAGS && (flags & TYPE_BITS) != 0;
}

static inline size_t
cell_size(const struct record_base *base, const struct write_cell *write, bool same_row)
{
    const struct cell *cell = &write->cell;
    unsigned flags = flags_of(base, write, same_row);
    size_t size = 1 + varint64_size(cell->qualifier.size) + cell->qualifier.size +
                  varint64_size(cell->value.size) + cell->value.size;

    if (!same_row)
        size += varint64_size(cell->row.size) + cell->row.size;
    return is_simple(flags) ? size : size + extra_size(base, write, flags);
}

/* Zeros where the record states its sequence: then nothing before it counts. */
static inline struct record_base
base_of(const struct record_base *base, const struct write_cell *first)
{
    return base->next_sequence == first->cell.sequence ? *base : (struct record_base){0};
}

/* Rows that differ mostly do so at the end. */
static inline bool
is_row_of(const struct write_cell *write, const struct write_cell *before)
{
    petal_slice a = write->cell.row, b = before->cell.row;

    if (a.size != b.size || (a.size >= 8 && get_le64(slice_bytes(a) + a.size - 8) !=
                                                get_le64(slice_bytes(b) + b.size - 8)))
        return false;
    return memcmp(a.data, b.data, a.size) == 0;
}

size_t
record_size(const struct record_base *base, const struct write_cell *cells, size_t count)
{
    struct record_base walk = base_of(base, cells);
    bool stated = walk.next_sequence == 0;
    size_t size = varint64_size((uint64_t)count << 1) + cell_size(&walk, cells, false);

    assert(count > 0);
    if (stated)
        size += varint64_size(cells->cell.sequence);
    for (size_t i = 1; i < count; i++) {
        advance(&walk, &cells[i - 1]);
        size += cell_size(&walk, &cells[i], is_row_of(&cells[i], &cells[i - 1]));
    }
    return size;
}

static inline uint8_t *
put_field(uint8_t *to, petal_slice field)
{
    to = put_varint64(to, field.size);
    mem_copy_short(to, field.data, field.size);
    return to + field.size;
}

static NEVER_INLINE uint8_t *
put_extra(uint8_t *to, const struct record_base *base, const struct write_cell *write,
          unsigned flags)
{
    if ((flags & TYPE_BITS) == 0)
        *to++ = (uint8_t)((unsigned)write->cell.type / 2 | RECORD_AHEAD);
    if ((flags & RECORD_SAME_FAMILY) == 0)
        to = put_varint64(put_varint64(to, write->family->table->id), write->family->id);
    if ((flags & RECORD_SAME_TIMESTAMP) == 0)
        to = put_varint64(to, time_difference(base, &write->cell));
    if ((flags & RECORD_HAS_TTL) != 0)
        to = put_varint64(to, from_signed(write->cell.ttl_ms));
    return to;
}

static inline uint8_t *
put_cell(uint8_t *to, const struct record_base *base, const struct write_cell *write, bool same_row)
{
    unsigned flags = flags_of(base, write, same_row);

    *to++ = (uint8_t)flags;
    if (!is_simple(flags))
        to = put_extra(to, base, write, flags);
    if (!same_row)
        to = put_field(to, write->cell.row);
    to = put_field(to, write->cell.qualifier);
    return put_field(to, write->cell.value);
}

void
record_encode(uint8_t *to, struct record_base *base, const struct write_cell *cells, size_t count)
{
    struct record_base walk = base_of(base, cells);
    bool stated = walk.next_sequence == 0;

    assert(count > 0 && cells[0].cell.sequence > 0);
    to = put_varint64(to, (uint64_t)count << 1 | stated);
    if (stated)
        to = put_varint64(to, cells[0].cell.sequence);
    to = put_cell(to, &walk, cells, false);
    for (size_t i = 1; i < count; i++) {
        assert(cells[i].cell.sequence == cells[0].cell.sequence + i);
        advance(&walk, &cells[i - 1]);
        to = put_cell(to, &walk, &cells[i], is_row_of(&cells[i], &cells[i - 1]));
    }
    advance(base, &cells[count - 1]);
}

/* ---- reading ---- */

bool
record_open(struct record_reader *reader, struct record_base *base, petal_slice payload)
{
    const uint8_t *from = payload.data;

    reader->limit = from + payload.size;
    reader->base = base;
    reader->row = slice_make(NULL, 0);
    from = get_varint64(from, reader->limit, &reader->remaining);
    if (from == NULL)
        return false;
    if ((reader->remaining & 1) != 0) {
        *base = (struct record_base){0};
        from = get_varint64(from, reader->limit, &reader->next_sequence);
    } else {
        reader->next_sequence = base->next_sequence;
    }
    reader->remaining >>= 1;
    reader->from = from;
    /* A hostile count ends here; sequence 0 is never given out, nor are those from the end on. */
    return from != NULL && reader->remaining > 0 &&
           reader->remaining <= payload.size / LEAST_CELL_BYTES && reader->next_sequence > 0 &&
           reader->next_sequence < CELL_SEQUENCE_END - reader->remaining;
}

static const uint8_t *
get_field(const uint8_t *from, const uint8_t *limit, size_t most, petal_slice *field)
{
    uint32_t size;

    from = get_varint32(from, limit, &size);
    if (from == NULL || size > most || size > (size_t)(limit - from))
        return NULL;
    *field = slice_make(from, size);
    return from + size;
}

static const uint8_t *
get_family(const uint8_t *from, const uint8_t *limit, struct record_cell *cell)
{
    uint32_t family_id;

    from = get_varint32(from, limit, &cell->table_id);
    if (from != NULL)
        from = get_varint32(from, limit, &family_id);
    if (from == NULL || family_id > UINT16_MAX)
        return NULL;
    cell->family_id = (uint16_t)family_id;
    return from;
}

/* The type, and further flags if they follow. False: malformed. */
static bool
get_type(const uint8_t *limit, unsigned flags, const uint8_t **from, unsigned *type, bool *ahead)
{
    unsigned more = flags & TYPE_BITS;

    if (more == 0 && *from < limit) {
        more = *(*from)++;
        if ((more & ~(TYPE_BITS | RECORD_AHEAD)) != 0)
            return false;
    }
    *type = (more & TYPE_BITS) * 2;
    *ahead = (more & RECORD_AHEAD) != 0;
    return true;
}

/* All of a cell before its row; NULL: malformed. */
static const uint8_t *
get_head(struct record_reader *reader, struct record_cell *cell, unsigned *type, bool *same_row)
{
    const uint8_t *from = reader->from, *limit = reader->limit;
    const struct record_base *base = reader->base;
    bool based = base->next_sequence != 0;
    uint64_t number = 0;
    unsigned flags;

    if (from == limit)
        return NULL;
    flags = *from++;
    if (!get_type(limit, flags, &from, type, &cell->ahead))
        return NULL;
    *same_row = (flags & RECORD_SAME_ROW) != 0;
    cell->assigned = (flags & RECORD_ASSIGNED) != 0;
    cell->cell.has_ttl = (flags & RECORD_HAS_TTL) != 0;
    if ((*same_row && reader->row.size == 0) || ((flags & RECORD_SAME_FAMILY) != 0 && !based))
        return NULL;
    cell->table_id = base->table_id;
    cell->family_id = base->family_id;
    if ((flags & RECORD_SAME_FAMILY) == 0)
        from = get_family(from, limit, cell);
    if (from != NULL && (flags & RECORD_SAME_TIMESTAMP) == 0)
        from = get_varint64(from, limit, &number);
    cell->cell.timestamp = (int64_t)((uint64_t)base->timestamp + (uint64_t)to_signed(number));
    number = 0;
    if (from != NULL && cell->cell.has_ttl)
        from = get_varint64(from, limit, &number);
    cell->cell.ttl_ms = to_signed(number);
    return from;
}

bool
record_next(struct record_reader *reader, struct record_cell *cell)
{
    const uint8_t *limit = reader->limit, *from;
    bool same_row = false;
    unsigned type = 0;

    assert(reader->remaining > 0);
    from = get_head(reader, cell, &type, &same_row);
    cell->cell.row = reader->row;
    if (from != NULL && !same_row)
        from = get_field(from, limit, PETAL_MAX_ROW_BYTES, &cell->cell.row);
    if (from != NULL)
        from = get_field(from, limit, PETAL_MAX_QUALIFIER_BYTES, &cell->cell.qualifier);
    if (from != NULL)
        from = get_field(from, limit, PETAL_MAX_VALUE_BYTES, &cell->cell.value);
    if (from == NULL || !cell_type_valid(type) || cell->cell.row.size == 0 ||
        cell->cell.timestamp < 0)
        return false;
    if (cell_is_family_marker((enum petal_cell_type)type) && cell->cell.qualifier.size > 0)
        return false;
    if (cell_is_marker((enum petal_cell_type)type) && cell->cell.value.size > 0)
        return false;
    cell->cell.type = (enum petal_cell_type)type;
    cell->cell.sequence = reader->next_sequence++;
    reader->row = cell->cell.row;
    reader->from = from;
    reader->remaining--;
    *reader->base = (struct record_base){reader->next_sequence, cell->cell.timestamp,
                                         cell->table_id, cell->family_id};
    return true;
}

bool
record_at_end(const struct record_reader *reader)
{
    return reader->remaining == 0 && reader->from == reader->limit;
}

enum petal_status
record_cell_unknown(const struct record_cell *cell, const struct wal_record *record,
                    petal_error *error)
{
    return error_corrupt(
        error, record->path, record->offset,
        "%s: the record at %" PRIu64
        " names table %u, family %u, which never existed according to the manifest; "
        "if it was cut short, kv-check salvage takes what there is",
        record->path, record->offset, cell->table_id, cell->family_id);
}

enum petal_status
record_visit_cells(struct record_base *base, const struct wal_record *record, record_visit *visit,
                   void *argument, petal_error *error)
{
    struct record_reader reader;
    struct record_cell cell;
    enum petal_status status = PETAL_OK;
    bool sound;

    if (record->first)
        *base = (struct record_base){0};
    sound = record_open(&reader, base, record->payload);
    while (sound && status == PETAL_OK && reader.remaining > 0) {
        sound = record_next(&reader, &cell);
        if (sound)
            status = visit(argument, record, &cell, error);
    }
    if (status != PETAL_OK || (sound && record_at_end(&reader)))
        return status;
    return error_corrupt(error, record->path, record->offset,
                         "%s: the record at %" PRIu64 " is malformed", record->path,
                         record->offset);
}
