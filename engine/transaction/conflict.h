/* conflict.h -- was a range of rows written to since a sequence? */
#ifndef PETAL_ENGINE_TRANSACTION_CONFLICT_H
#define PETAL_ENGINE_TRANSACTION_CONFLICT_H

#include "engine/read/own.h"

/*
 * PETAL_CONFLICT if a cell of the range has a sequence above `since`: in the newest view, and for
 * the LEADER up to the last write. With `leads` the caller leads, which saves a search in what is
 * older.
 */
enum petal_status conflict_check(const struct own_range *range, uint64_t since, bool leads,
                                 petal_error *error);

#endif
