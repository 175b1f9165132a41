/* cell.c -- see cell.h. */
#include "engine/write/cell.h"

enum petal_status
write_cell_check(petal_slice row, petal_slice qualifier, int64_t timestamp, petal_slice value,
                 enum petal_cell_type type, petal_error *error)
{
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NO_BYTES(qualifier, error);
    RETURN_IF_NO_BYTES(value, error);
    if (row.size == 0)
        return error_set(error, PETAL_INVALID, "the row is empty; a row has 1 to %d bytes",
                         PETAL_MAX_ROW_BYTES);
    if (row.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "the row has %zu bytes; the limit is %d", row.size,
                         PETAL_MAX_ROW_BYTES);
    if (!cell_type_valid((unsigned)type))
        return error_set(error, PETAL_INVALID, "%d is not a cell type", (int)type);
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
