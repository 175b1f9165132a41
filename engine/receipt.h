/* receipt.h -- the inside of a receipt: what one read did, source by source. */
#ifndef PETAL_ENGINE_RECEIPT_H
#define PETAL_ENGINE_RECEIPT_H

#include "engine/db.h"

struct petal_receipt {
    petal_db *db;
    petal_receipt_source *sources;
    size_t count, capacity;
    uint64_t cells_hidden, bytes_returned;
    bool incomplete;   /* memory ran out: sources are missing; the read reports it */
    struct view *view; /* pinned: row ranges point into facts of its files */
};

/* Begin anew with a read on `view`. */
void receipt_start(petal_receipt *receipt, struct view *view);

/* Append a source; returns its index, or SIZE_MAX when there is no memory. */
size_t receipt_add_memtable(petal_receipt *receipt, const petal_family *family,
                            const struct store_memtable *memtable);
size_t receipt_add_file(petal_receipt *receipt, const petal_family *family,
                        const struct file_entry *file, enum petal_skip skip);

/* Set what was done to the source at `index` (SIZE_MAX: ignored). */
void receipt_set_trace(petal_receipt *receipt, size_t index, const struct read_trace *trace);

#endif
