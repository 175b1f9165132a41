/*
 * readahead.h -- large reads for who goes through a store file block by block.
 *
 * A block is read alone until the one asked for next lies right behind it, or right before it.
 * Then a WINDOW of the file is read at once, which begins (backwards: ends) with the block, and the
 * blocks that follow are taken from it.  The first one has READAHEAD_LEAST_BYTES, the next ones
 * twice as many each, up to READAHEAD_MOST_BYTES: so no more than about as much is read in vain as
 * was asked for.  Any other block begins anew.  Who is going to read all of the file begins with
 * the most.
 *
 * THE MOST is what a read costs no longer for being one more: 256 KiB take 35 us from the page
 * cache, of which a system call is 1 us.  Larger windows of several runs drive one another out of
 * the processor's caches: with 1 MiB scans of 8 runs took 7 to 10 % longer.
 *
 * A window that cannot be read costs time, never an answer: its blocks are read alone then.  So
 * what cannot be read of a file is missed by those only who ask for it.
 *
 * MEMORY.  A window belongs to its reader, which frees it at the end.  What all windows have
 * together beyond a block's bytes each is bounded by a struct readahead_limit: once that is
 * reached, windows do not grow, and blocks are read alone where there is none.
 *
 * Threads: a struct readahead belongs to one thread, a limit to all.
 */
#ifndef PETAL_SSTABLE_READAHEAD_H
#define PETAL_SSTABLE_READAHEAD_H

#include "sstable/block_io.h"
#include "sstable/read_trace.h"

#include <assert.h>
#include <stdatomic.h>

#define READAHEAD_LEAST_BYTES (16u << 10)
#define READAHEAD_MOST_BYTES  (256u << 10)

/* Blocks no farther apart than that follow one another: index nodes may lie between them, or blocks
 * that were in the cache. */
#define READAHEAD_GAP_BYTES (64u << 10)

struct readahead_limit {
    uint64_t most;
    _Atomic(uint64_t) taken;
};

static inline void
readahead_limit_init(struct readahead_limit *limit, uint64_t most)
{
    limit->most = most;
    atomic_init(&limit->taken, 0);
}

/* Take so many bytes from the limit (NULL: there is none); false: it has not as many left. */
static inline bool
readahead_limit_take(struct readahead_limit *limit, size_t bytes)
{
    if (limit == NULL)
        return true;
    if (atomic_fetch_add_explicit(&limit->taken, bytes, memory_order_relaxed) + bytes <=
        limit->most)
        return true;
    atomic_fetch_sub_explicit(&limit->taken, bytes, memory_order_relaxed);
    return false;
}

static inline void
readahead_limit_give(struct readahead_limit *limit, size_t bytes)
{
    uint64_t before;

    if (limit == NULL || bytes == 0)
        return;
    before = atomic_fetch_sub_explicit(&limit->taken, bytes, memory_order_relaxed);
    assert(before >= bytes);
    (void)before;
}

struct readahead {
    struct readahead_limit *limit; /* NULL: there is none */
    bool whole;                    /* all of the file is going to be read */
    bool past_cache;     /* what the window holds does not go through the cache (sst_file.h) */
    bool asked;          /* a block was asked for: */
    uint64_t low, high;  /* where the latest one begins and ends */
    uint32_t next_bytes; /* of the window to come; 0: none was read yet on this way */
    uint64_t begin, end; /* what the window holds of the file; equal: nothing */
    uint64_t failed_begin, failed_end; /* a window that could not be read */
    uint8_t *window;
    size_t capacity;
    size_t charged; /* of it, to the limit */
};

/* Allocates nothing. */
void readahead_init(struct readahead *ahead, struct readahead_limit *limit, bool whole);
void readahead_fini(struct readahead *ahead, const petal_allocator *allocator);

/* Is the block in the window?  Then readahead_read touches neither file nor memory. */
static inline bool
readahead_holds(const struct readahead *ahead, struct block_handle handle)
{
    assert(ahead->begin <= ahead->end && ahead->end - ahead->begin <= ahead->capacity);
    return handle.offset >= ahead->begin && handle.offset <= ahead->end &&
           handle.size <= ahead->end - handle.offset;
}

/* Is it in the window, or would one be read for it? */
bool readahead_goes_on(const struct readahead *ahead, struct block_handle handle);

/*
 * Have the bytes of the file from `begin` to `end` in the window, which is at hand then for all
 * blocks in it: for who knows beforehand which ones those are.  PETAL_NO_MEMORY also where the
 * limit has not as many left.  REQUIRES: they lie in the file.
 */
enum petal_status readahead_fill(struct readahead *ahead, const struct block_source *source,
                                 uint64_t begin, uint64_t end, struct read_trace *trace,
                                 petal_error *error);

/*
 * The bytes of a block, frame included, as they stand in the file; good until the next call.
 * Fails as block_source_read does, for this block alone, and for want of memory.  REQUIRES: the
 * handle lies in the file (block_handle_check).
 */
enum petal_status readahead_read(struct readahead *ahead, const struct block_source *source,
                                 struct block_handle handle, struct read_trace *trace,
                                 const uint8_t **bytes, petal_error *error);

#endif
