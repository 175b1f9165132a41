/* get.h -- what the engine's other parts need of point reads (engine/get.c). */
#ifndef PETAL_ENGINE_GET_H
#define PETAL_ENGINE_GET_H

#include "engine/db.h"

/* PETAL_INVALID for a row that no cell can have. */
enum petal_status read_check_row(petal_slice row, petal_error *error);

/* Check the options of a read of `table`: columns of it, a legal time range. */
enum petal_status read_check_options(const petal_table *table, const petal_read_options *options,
                                     petal_error *error);

/* Fill `options` with what the caller gave, defaults behind its size. */
void read_options_init(petal_read_options *options, const petal_read_options *given);

/* Is anything of this family asked? Gives the number of its named qualifiers, 0 for the whole family, and copies them to
 * `qualifiers` if that is not NULL. */
bool read_asks_family(const petal_read_options *options, const petal_family *family,
                      petal_slice *qualifiers, size_t *count);

/* Is a reason to skip sources in use? */
static inline bool
read_may_use(const petal_read_options *options, enum petal_skip skip)
{
    return (options->without & PETAL_WITHOUT(skip)) == 0;
}

/* Add what a read did to a store file to the shard that the reader owns inside the epoch. */
void read_count_trace(struct stats_shard *stats, const struct read_trace *trace);

/* The timestamp of the newest living version of a column. */
enum petal_status get_newest_timestamp(petal_family *family, petal_slice row, petal_slice qualifier,
                                       bool *found, int64_t *timestamp, petal_error *error);

#endif
