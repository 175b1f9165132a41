/* cell.c -- see cell.h. */
#include "engine/write/cell.h"

#include "base/inline.h"
#include "bloom/hash.h"
#include "engine/state/db.h"

/* What is wrong with it; PETAL_OK: nothing. */
static NEVER_INLINE enum petal_status
check_cell(petal_slice row, petal_slice qualifier, int64_t timestamp, petal_slice value,
           enum petal_cell_type type, petal_error *error)
{
    if (row.size == 0)
        return error_set(error, PETAL_INVALID, "the row is empty; a row has 1 to %d bytes",
                         PETAL_MAX_ROW_BYTES);
    if (row.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "the row has %zu bytes; the limit is %d", row.size,
                         PETAL_MAX_ROW_BYTES);
    if (!cell_type_valid((unsigned)type))
        return error_set(error, PETAL_INVALID, "%d is no cell type", (int)type);
    if (qualifier.size > PETAL_MAX_QUALIFIER_BYTES)
        return error_set(error, PETAL_INVALID, "the qualifier has %zu bytes; the limit is %u",
                         qualifier.size, PETAL_MAX_QUALIFIER_BYTES);
    if (cell_is_family_marker(type) && qualifier.size > 0)
        return error_set(error, PETAL_INVALID, "a deletion of a family takes no qualifier");
    if (value.size > PETAL_MAX_VALUE_BYTES)
        return error_set(error, PETAL_INVALID, "the value has %zu bytes; the limit is %u",
                         value.size, PETAL_MAX_VALUE_BYTES);
    if (timestamp < 0)
        return error_set(error, PETAL_INVALID, "timestamp %lld is negative", (long long)timestamp);
    return PETAL_OK;
}

/* Is it a put that check_cell would pass? */
static inline bool
is_plain_put(petal_slice row, petal_slice qualifier, int64_t timestamp, petal_slice value,
             enum petal_cell_type type)
{
    return row.size - 1 < PETAL_MAX_ROW_BYTES && type == PETAL_PUT &&
           qualifier.size <= PETAL_MAX_QUALIFIER_BYTES && value.size <= PETAL_MAX_VALUE_BYTES &&
           timestamp >= 0;
}

enum petal_status
write_cell_make(struct write_cell *write, petal_family *family, petal_slice row,
                petal_slice qualifier, int64_t timestamp, petal_slice value,
                enum petal_cell_type type, petal_error *error)
{
    enum petal_status status = db_enter(family->table->db, error);

    if (status != PETAL_OK)
        return status;
    if (!is_plain_put(row, qualifier, timestamp, value, type)) {
        status = check_cell(row, qualifier, timestamp, value, type, error);
        if (status != PETAL_OK)
            return status;
    }
    write->family = family;
    write->row_hash = bloom_hash_row(family->table->db->salt, row.data, row.size);
    write->least_timestamp = 0;
    write->mutation = 0;
    write->assigned = timestamp == PETAL_LATEST;
    write->operation = write->assigned && type == PETAL_DELETE ? WRITE_DELETE_NEWEST : WRITE_PLAIN;
    write->resolved = false;
    write->cell = (struct cell){
        .row = row, .qualifier = qualifier, .value = value, .timestamp = timestamp, .type = type};
    return PETAL_OK;
}
