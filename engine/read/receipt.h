/* receipt.h -- the inside of a receipt: what one read did, source by source. */
#ifndef PETAL_ENGINE_READ_RECEIPT_H
#define PETAL_ENGINE_READ_RECEIPT_H

#include "engine/rules/visibility.h"
#include "engine/state/db.h"

/* A hidden cell: its row stands in the receipt's `names` at `names_at`, its qualifier after it. */
struct receipt_hidden {
    petal_slice family; /* of the view */
    size_t names_at, row_bytes, qualifier_bytes;
    int64_t timestamp;
    enum petal_hidden by;
};

struct petal_receipt {
    petal_db *db;
    petal_receipt_source *sources;
    size_t count, capacity;
    uint64_t bytes_returned;
    uint64_t hidden[PETAL_HIDDEN_COUNT];
    struct receipt_hidden hidden_cells[PETAL_HIDDEN_CELLS]; /* the first ones */
    size_t hidden_count;                                    /* of them */
    uint8_t *names;
    size_t names_bytes, names_capacity;
    bool incomplete;   /* memory ran out: sources are missing; the read reports it */
    struct view *view; /* pinned: row ranges point into facts of its files */
};

/* Begin anew with a read on `view`. */
void receipt_start(petal_receipt *receipt, struct view *view);

/* Append a source, with what was done to it (NULL: nothing, so far); returns its index, or
 * SIZE_MAX when there is no memory. */
size_t receipt_add_memtable(petal_receipt *receipt, const struct store *store,
                            const struct store_memtable *memtable, const struct read_trace *trace);
size_t receipt_add_file(petal_receipt *receipt, const struct store *store,
                        const struct file_entry *file, enum petal_skip skip,
                        const struct read_trace *trace, bool held_nothing);

/* Set what was done to the source at `index` (SIZE_MAX: ignored). */
void receipt_set_trace(petal_receipt *receipt, size_t index, const struct read_trace *trace);

/* Note a cell that was left out; all but puts are ignored. */
void receipt_hide(petal_receipt *receipt, petal_slice family, const struct cell *cell,
                  enum petal_hidden by);

/* The same of one that was just judged not to be shown. */
void receipt_hide_judged(petal_receipt *receipt, petal_slice family,
                         const struct visibility *visibility, const struct cell *cell);

#endif
