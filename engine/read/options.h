/*
 * options.h -- what gets and scans share: checking the options, and what they mean for one family.
 */
#ifndef PETAL_ENGINE_READ_OPTIONS_H
#define PETAL_ENGINE_READ_OPTIONS_H

#include "engine/rules/visibility.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"

/* PETAL_INVALID for a row that no cell can have. */
enum petal_status read_check_row(petal_slice row, petal_error *error);

/* Check the options of a read of `table`: columns of it, legal time ranges, a snapshot of its database. */
enum petal_status read_check_options(const petal_table *table, const petal_read_options *options,
                                     petal_error *error);

/*
 * PETAL_NOT_FOUND if the table, or a family that the options name, was dropped. A view that is taken first and has no store of
 * them is of a moment after the drop, and a drop is told before its view is published: so to ask behind the view is to
 * know that what is missing in the view was never there, or that the read fails.
 */
enum petal_status read_check_alive(const petal_table *table, const petal_read_options *options,
                                   petal_error *error);

/* Fill `options` with what the caller gave, defaults behind its size. PETAL_INVALID: the size is
 * none, or a value is set without its flag. */
enum petal_status read_options_init(petal_read_options *options, const petal_read_options *given,
                                    petal_error *error);

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

/* The rules of a read for one family, its clock taken only if something in `store` can expire. */
void read_rules(const petal_read_options *options, const petal_family *family,
                const struct store_view *store, bool raw, uint64_t sequence,
                struct visibility_rules *rules);

/* Why a source whose cells have these timestamps holds nothing for a read by `rules`: TIME_RANGE, EXPIRED or NONE. */
enum petal_skip read_skip_by_time(const petal_read_options *options,
                                  const struct visibility_rules *rules, int64_t time_min,
                                  int64_t time_max);

/* The sequence to read up to: the snapshot's, else the one of the read point. */
uint64_t read_sequence(const petal_read_options *options, const struct read_point *point);

/* Add what a read did to a store file to the shard that the reader owns inside the epoch. */
void read_count_trace(struct stats_shard *stats, const struct read_trace *trace);

#endif
