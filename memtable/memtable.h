/*
 * memtable.h -- the newest cells of one store, in memory, in cell order, with a Bloom filter of
 * their rows (bloom/growing.h).
 *
 * Cells lie in an arena that is freed whole.  The order is kept by a B+-tree (memtable/cell_tree.h)
 * whose nodes change only by publishing one word, so readers need no lock and never wait for the
 * writer.
 *
 * Threads: one writer at a time (the leader of a write group; the engine sees to it); any number of
 * readers at the same time.  A reader is sure to see every cell whose sequence is at or below a
 * sequence number that the writer published (with release) after adding it and the reader loaded
 * (with acquire) before looking; it may see later ones.
 */
#ifndef PETAL_MEMTABLE_MEMTABLE_H
#define PETAL_MEMTABLE_MEMTABLE_H

#include "base/cell_iter.h"
#include "base/mem.h"
#include "memtable/cell_tree.h"

#include <stdatomic.h>

/* What a cell takes beyond the bytes of its row, qualifier and value, about: key suffix, record
 * header, its share of nodes and of the Bloom filter. */
#define MEMTABLE_CELL_OVERHEAD_BYTES 100

struct memtable;

enum petal_status memtable_new(struct memtable **memtable, const petal_allocator *allocator);
void memtable_free(struct memtable *memtable); /* NULL: no-op */

/*
 * Make sure that the next memtable_add calls with together `cell_count` cells and `bytes` bytes of
 * rows, qualifiers and values cannot fail, whether or not they have a time to live of their own.
 * Called before a batch is logged, so that what was logged can always be applied.  Reserves more
 * than is used, as each byte may need escaping and each cell may split nodes; what is left serves
 * later cells.  On PETAL_NO_MEMORY the contents are as they were.  *grown (may be NULL) becomes
 * true if memtable_bytes may have changed, also then.  WRITER.
 */
enum petal_status memtable_reserve(struct memtable *memtable, size_t cell_count, size_t bytes,
                                   bool *grown);

/*
 * Copy the cell in.  `row_hash` = bloom_hash_row(salt, row).  The sequence is above that of all
 * cells of the same row, qualifier and timestamp.  The row's bits are in the Bloom filter before
 * the cell is in the tree.  Without a reservation it may fail with PETAL_NO_MEMORY, then nothing is
 * added.  WRITER.
 */
enum petal_status memtable_add(struct memtable *memtable, const struct cell *cell,
                               uint64_t row_hash);

/*
 * memtable_add in two steps, with something else to do between them while the memory that it needs
 * comes from afar: copy the cell in, for the memtable_add of this very cell, if that comes next.
 * If another call comes, the copy is given up, and its memory used again. REQUIRES: reserved,
 * nothing added since, at most once for each cell.  WRITER.
 */
void memtable_prepare(struct memtable *memtable, const struct cell *cell, uint64_t row_hash);

/* Can the cell be prepared and added without a reservation?  WRITER. */
bool memtable_has_room(const struct memtable *memtable, const struct cell *cell);

/* False only if no cell of this row was added. */
bool memtable_may_contain_row(const struct memtable *memtable, uint64_t row_hash);

/* Bytes held: arena chunks and Bloom filter, what is reserved included.  Any thread. */
size_t memtable_bytes(const struct memtable *memtable);

/* What is known of the contents.  For the writer, and for any thread once writing has ended. */
struct memtable_facts {
    uint64_t cells;
    uint64_t sequence_min, sequence_max; /* of an empty memtable: UINT64_MAX, 0 */
    int64_t time_max;
};
void memtable_facts(const struct memtable *memtable, struct memtable_facts *facts);
/* No cell that the reader is sure to see has a greater timestamp; INT64_MIN: empty.  Any thread. */
int64_t memtable_time_max(const struct memtable *memtable);
/* Cells added by now.  Any thread. */
uint64_t memtable_count(const struct memtable *memtable);
bool memtable_is_empty(const struct memtable *memtable); /* any thread */

/*
 * Iterates in cell order.  Cells point into the memtable, but rows and qualifiers with a 00 byte,
 * which the iterator unescapes into its own memory.  The memtable must outlive it.  Lies where the
 * caller likes (stack, array).
 */
struct memtable_iter {
    struct cell_iter iter; /* first member */
    const struct memtable *memtable;
    struct cell_tree_position position;
    struct cell_tree_position run_start; /* where the run that was taken last begins */
    uint8_t *scratch;                    /* for unescaping; NULL until needed */
    size_t scratch_bytes;
};
void memtable_iter_init(struct memtable_iter *iter, const struct memtable *memtable);

#endif
