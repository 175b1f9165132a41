/* mutate.h -- writes that depend on what is there (engine/write/mutate.c). */
#ifndef PETAL_ENGINE_WRITE_MUTATE_H
#define PETAL_ENGINE_WRITE_MUTATE_H

#include "engine/write/batch.h"
#include "engine/write/condition.h"

/* Write one cell whose operation is not plain. *sum (may be NULL) becomes that of an increment. */
enum petal_status mutate_cell(struct write_cell *write, const petal_write_options *options,
                              int64_t *sum, petal_error *error);

/* Write a batch that was checked, if the condition holds (NULL: always). It stays as it is.
 * *applied (may be NULL): the condition held and all is written. */
enum petal_status mutate_batch(const petal_batch *batch, const struct condition *condition,
                               const petal_write_options *options, bool *applied,
                               petal_error *error);

/* Write cells that depend on nothing but what their timestamps have to be above, and that stay as
 * they are. REQUIRES: the pace has let them go on. */
enum petal_status mutate_plain(struct write_cell *cells, size_t count, size_t bytes, bool has_ttl,
                               const petal_write_options *options, petal_error *error);

#endif
