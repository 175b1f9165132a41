/* batch.h -- the inside of a write batch: cells whose bytes lie in chunks of the batch, so their
 * addresses stay. */
#ifndef PETAL_ENGINE_WRITE_BATCH_H
#define PETAL_ENGINE_WRITE_BATCH_H

#include "engine/wal/record.h"

struct batch_chunk;

/* What holds for the cells of one mutation. Mutation 0 has the defaults: it holds the cells that
 * come before the first petal_batch_mutation. */
struct batch_mutation {
    bool has_ttl, has_time_range, no_results;
    int64_t ttl_ms;
    int64_t time_min, time_limit;
};

struct petal_batch {
    petal_db *db; /* not looked at by clearing and freeing, which may be after petal_close */
    const petal_allocator *allocator;
    struct write_cell *cells;
    size_t count, capacity;
    size_t readers;                   /* cells that need a read before */
    size_t bytes;                     /* of all rows, qualifiers and values */
    bool has_ttl;                     /* a cell has a time to live of its own */
    struct batch_chunk *chunks;       /* newest first */
    struct batch_mutation *mutations; /* begun by the caller, numbered from 1 */
    size_t mutation_count, mutation_capacity;
    bool has_empty_mutation; /* one that was begun before the latest */
};

/* For a batch that does not come from petal_batch_new: `batch` is zeroed but for its database. */
void batch_fini(petal_batch *batch);

/* Memory for `size` bytes that lives as long as the batch's content; NULL when there is none. */
uint8_t *batch_take_bytes(petal_batch *batch, size_t size);

/* The mutation a cell of the batch belongs to. */
const struct batch_mutation *batch_mutation_of(const petal_batch *batch,
                                               const struct write_cell *write);

/* PETAL_INVALID if the batch cannot be written to `db` with these options: that of another one, a
 * mutation that was begun and has no cell, a time to live for all of it. */
enum petal_status batch_check(const petal_batch *batch, const petal_db *db,
                              const petal_write_options *options, petal_error *error);

#endif
