/*
 * row_filter.h -- a Bloom filter of a memtable's rows that grows with it.
 *
 * A chain of SEGMENTS, each a blocked Bloom filter (bloom/bloom.h): a row's bits lie in one line
 * of 64 bytes.  The first segment has 4 KiB, each following one is eight times larger.  A row's
 * bits go into the newest segment, unless some segment has them all already: so a row that is
 * written again costs nothing.  A lookup asks the segments, newest first; there are few.  At 12
 * bits a row and 6 probes a full segment lets about 0.6 % of absent rows pass, a large filter all
 * in all about 1.2 %, since all but the newest segment are full.
 *
 * VISIBILITY.  The bits of a row are stored before its cell is published: the tree publishes it
 * with release.  A reader that sees a sequence at or above the cell's loaded it with acquire, so
 * all these stores happen before the reader's loads, and relaxed accesses suffice.  Bits are only
 * ever added, so a word read too late is no harm.
 *
 * Threads: one writer; row_filter_may_contain and row_filter_bytes from any thread.
 */
#ifndef PETAL_MEMTABLE_ROW_FILTER_H
#define PETAL_MEMTABLE_ROW_FILTER_H

#include "base/mem.h"

#include <stdatomic.h>

struct filter_segment;

struct row_filter {
    const petal_allocator *allocator;
    _Atomic(struct filter_segment *) newest; /* NULL: no rows */
    struct filter_segment *spare;            /* reserved, not yet in the chain; writer */
    size_t rows;                             /* entered into the newest segment; writer */
    _Atomic(size_t) held;
};

/* Allocates nothing.  The allocator outlives the filter. */
void row_filter_init(struct row_filter *filter, const petal_allocator *allocator);
void row_filter_fini(struct row_filter *filter);

/*
 * Make room for `rows` more rows.  False when there is no memory; the filter is then as it was.
 * WRITER.
 */
bool row_filter_reserve(struct row_filter *filter, size_t rows);

/* Ask for the cache lines that row_filter_add will look at.  WRITER. */
void row_filter_prefetch(const struct row_filter *filter, uint64_t row_hash);

/* REQUIRES: reserved.  WRITER. */
void row_filter_add(struct row_filter *filter, uint64_t row_hash);

/* False only if no row with this hash was added. */
bool row_filter_may_contain(const struct row_filter *filter, uint64_t row_hash);

/* Bytes got from the allocator. */
size_t row_filter_bytes(const struct row_filter *filter);

#endif
