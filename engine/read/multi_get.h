/*
 * multi_get.h -- several rows as of one moment, in pieces: results, of which each keeps some memory
 * for its next get, are used again for one piece after the other.
 */
#ifndef PETAL_ENGINE_READ_MULTI_GET_H
#define PETAL_ENGINE_READ_MULTI_GET_H

#include "engine/state/db.h"

/* What becomes of the piece that begins with rows[first]. `first` is 0 for the first one, and 0
 * again if what was taken is to be forgotten, since all is read again. */
typedef enum petal_status multi_get_take(void *argument, size_t first, petal_result *const *results,
                                         size_t count, petal_error *error);

/* Pieces of `result_count` rows. REQUIRES: the rows were checked; the database was entered;
 * result_count > 0. */
enum petal_status multi_get_pieces(petal_table *table, const petal_slice *rows, size_t count,
                                   const petal_read_options *options, petal_result *const *results,
                                   size_t result_count, multi_get_take *take, void *argument,
                                   petal_error *error);

#endif
