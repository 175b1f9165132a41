/* cell.h -- one cell of a write, as the caller gave it. */
#ifndef PETAL_ENGINE_WRITE_CELL_H
#define PETAL_ENGINE_WRITE_CELL_H

#include "base/argument.h"
#include "base/inline.h"
#include "bloom/hash.h"
#include "engine/state/db.h"
#include "engine/wal/record.h"

/* What is wrong with a cell; PETAL_OK: nothing. */
enum petal_status write_cell_check(petal_slice row, petal_slice qualifier, int64_t timestamp,
                                   petal_slice value, enum petal_cell_type type,
                                   petal_error *error);

/* Is it a put that write_cell_check would pass? */
static inline bool
write_cell_is_plain_put(petal_slice row, petal_slice qualifier, int64_t timestamp,
                        petal_slice value, enum petal_cell_type type)
{
    return row.size - 1 < PETAL_MAX_ROW_BYTES && type == PETAL_PUT &&
           qualifier.size <= PETAL_MAX_QUALIFIER_BYTES && value.size <= PETAL_MAX_VALUE_BYTES &&
           timestamp >= 0 && row.data != NULL && (value.data != NULL || value.size == 0) &&
           (qualifier.data != NULL || qualifier.size == 0);
}

/*
 * Check one cell against the limits and fill *write, which borrows the slices. Computes the row's
 * hash. The beginning of a public call (db_enter), of those that write one cell and of those that
 * add one to a batch.
 */
static ALWAYS_INLINE enum petal_status
write_cell_make(struct write_cell *write, petal_family *family, petal_slice row,
                petal_slice qualifier, int64_t timestamp, petal_slice value,
                enum petal_cell_type type, petal_error *error)
{
    enum petal_status status;

    RETURN_IF_NULL(family, error);
    status = db_enter(family->table->db, error);
    if (status != PETAL_OK)
        return status;
    if (!write_cell_is_plain_put(row, qualifier, timestamp, value, type)) {
        status = write_cell_check(row, qualifier, timestamp, value, type, error);
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
    write->ahead = false;
    write->of_keys = false;
    write->looked = false;
    write->cell = (struct cell){
        .row = row, .qualifier = qualifier, .value = value, .timestamp = timestamp, .type = type};
    return PETAL_OK;
}

#endif
