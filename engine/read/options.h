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

/* The same for a key of a key-value table, which `name` is in the text. */
enum petal_status read_check_key(petal_slice key, const char *name, petal_error *error);

/* Fill `options` with what the caller gave, defaults after its size, and check them: a known
 * size, values with their flags, legal time ranges, columns of `table`, a snapshot of its
 * database. PETAL_INVALID. */
enum petal_status read_options_init(petal_read_options *options, const petal_table *table,
                                    const petal_read_options *given, petal_error *error);

/* The error of a read that its deadline has ended: PETAL_TIMEOUT. */
enum petal_status read_time_is_up(const petal_read_options *options, petal_error *error);

/*
 * PETAL_NOT_FOUND if the table, or a family that the options name, was dropped. A view that is
 * taken first and has no store of them is of a moment after the drop, and a drop is told before its
 * view is published: so to ask after the view is to know that what is missing in the view was
 * never there, or that the read fails.
 */
enum petal_status read_check_alive(const petal_table *table, const petal_read_options *options,
                                   petal_error *error);

/* Is anything of this family asked? *named: how many of the columns name a qualifier of it, 0
 * for the whole family. */
bool read_asks_family(const petal_read_options *options, const petal_family *family, size_t *named);

/* Is a reason to skip sources in use? */
static inline bool
read_may_use(const petal_read_options *options, enum petal_skip skip)
{
    return (options->without & PETAL_WITHOUT(skip)) == 0;
}

/* Has the store cells with a TTL of their own? */
bool read_has_ttl_cells(const struct store_view *store);

/* The rules of a read for one family with these attributes, its clock taken only if something in
 * `store` can expire. */
void read_rules(const petal_read_options *options, const petal_family *family,
                const petal_family_options *attributes, const struct store_view *store, bool raw,
                uint64_t sequence, struct visibility_rules *rules);

/* Add what a read did to a store file to the shard that the reader owns inside the epoch. */
void read_count_trace(struct stats_shard *stats, const struct read_trace *trace);

#endif
