/* record.c -- see record.h. */
#include "engine/wal/record.h"

#include "base/coding.h"
#include "engine/state/db.h"

#include <assert.h>

/* Do all varints of the cell take one byte, and is there no time to live? So it is with most. */
static inline bool
is_short(const struct write_cell *write)
{
    const struct cell *cell = &write->cell;

    return (write->family->table->id | write->family->id | cell->row.size | cell->qualifier.size |
            cell->value.size) < 0x80 &&
           !cell->has_ttl;
}

#define SHORT_FIELDS_BYTES (5 + 1 + 8)

static inline size_t
cell_size(const struct write_cell *write)
{
    const struct cell *cell = &write->cell;

    if (is_short(write))
        return SHORT_FIELDS_BYTES + write_cell_bytes(write);
    return varint64_size(write->family->table->id) + varint64_size(write->family->id) + 1 + 8 +
           (cell->has_ttl ? 8 : 0) + varint64_size(cell->row.size) +
           varint64_size(cell->qualifier.size) + varint64_size(cell->value.size) +
           write_cell_bytes(write);
}

size_t
record_size(const struct write_cell *cells, size_t count)
{
    size_t size = 8 + varint64_size(count) + cell_size(cells);

    assert(count > 0);
    for (size_t i = 1; i < count; i++)
        size += cell_size(&cells[i]);
    return size;
}

static inline uint8_t *
put_field(uint8_t *to, petal_slice field)
{
    to = put_varint64(to, field.size);
    if (field.size > 0)
        memcpy(to, field.data, field.size);
    return to + field.size;
}

static inline uint8_t *
put_short_field(uint8_t *to, petal_slice field)
{
    *to++ = (uint8_t)field.size;
    if (field.size > 0)
        memcpy(to, field.data, field.size);
    return to + field.size;
}

/* The same bytes for a short cell as for any. */
static inline uint8_t *
put_cell(uint8_t *to, const struct write_cell *write)
{
    const struct cell *cell = &write->cell;

    if (is_short(write)) {
        to[0] = (uint8_t)write->family->table->id;
        to[1] = (uint8_t)write->family->id;
        to[2] = (uint8_t)(cell->type | (write->assigned && !write->resolved ? RECORD_ASSIGNED : 0));
        put_le64(to + 3, (uint64_t)cell->timestamp);
        to = put_short_field(to + 11, cell->row);
        to = put_short_field(to, cell->qualifier);
        return put_short_field(to, cell->value);
    }
    to = put_varint64(to, write->family->table->id);
    to = put_varint64(to, write->family->id);
    *to++ = (uint8_t)(cell->type | (write->assigned && !write->resolved ? RECORD_ASSIGNED : 0) |
                      (cell->has_ttl ? RECORD_HAS_TTL : 0));
    put_le64(to, (uint64_t)cell->timestamp);
    to += 8;
    if (cell->has_ttl) {
        put_le64(to, (uint64_t)cell->ttl_ms);
        to += 8;
    }
    to = put_field(to, cell->row);
    to = put_field(to, cell->qualifier);
    return put_field(to, cell->value);
}

void
record_encode(uint8_t *to, const struct write_cell *cells, size_t count)
{
    assert(count > 0 && cells[0].cell.sequence > 0);
    put_le64(to, cells[0].cell.sequence);
    to = put_cell(put_varint64(to + 8, count), cells);
    for (size_t i = 1; i < count; i++)
        to = put_cell(to, &cells[i]);
}

bool
record_open(struct record_reader *reader, petal_slice payload)
{
    const uint8_t *from = payload.data;
    const uint8_t *limit = from + payload.size;

    if (payload.size < 9)
        return false;
    reader->next_sequence = get_le64(from);
    reader->from = get_varint64(from + 8, limit, &reader->remaining);
    reader->limit = limit;
    /* A cell takes at least 14 bytes, so a hostile count ends here; sequence 0 is never given
     * out. */
    return reader->from != NULL && reader->remaining > 0 &&
           reader->remaining <= payload.size / 14 && reader->next_sequence > 0 &&
           reader->next_sequence < UINT64_MAX - reader->remaining;
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

bool
record_next(struct record_reader *reader, struct record_cell *cell)
{
    const uint8_t *from = reader->from, *limit = reader->limit;
    uint32_t table_id, family_id;
    unsigned type;

    assert(reader->remaining > 0);
    from = get_varint32(from, limit, &table_id);
    if (from != NULL)
        from = get_varint32(from, limit, &family_id);
    if (from == NULL || family_id > UINT16_MAX || limit - from < 9)
        return false;
    type = *from & ~(unsigned)(RECORD_ASSIGNED | RECORD_HAS_TTL);
    cell->assigned = (*from & RECORD_ASSIGNED) != 0;
    cell->cell.has_ttl = (*from & RECORD_HAS_TTL) != 0;
    cell->cell.ttl_ms = 0;
    cell->cell.timestamp = (int64_t)get_le64(from + 1);
    from += 9;
    if (cell->cell.has_ttl) {
        if (limit - from < 8)
            return false;
        cell->cell.ttl_ms = (int64_t)get_le64(from);
        from += 8;
    }
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
    cell->table_id = table_id;
    cell->family_id = (uint16_t)family_id;
    cell->cell.type = (enum petal_cell_type)type;
    cell->cell.sequence = reader->next_sequence++;
    reader->from = from;
    reader->remaining--;
    return true;
}

bool
record_at_end(const struct record_reader *reader)
{
    return reader->remaining == 0 && reader->from == reader->limit;
}
