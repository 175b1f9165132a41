/*
 * readahead.h -- reads more of a store file than the block asked for: windows for iterators, areas
 * around blocks that gets ask for in no order.
 *
 * WINDOWS.  An iterator's block is read alone until the next one asked for lies right after it, or
 * right before it.  Then one read fills a window that begins (backwards: ends) with the block, and
 * the following blocks are taken from it.  The first window has READAHEAD_LEAST_BYTES, each next
 * one twice as many, up to READAHEAD_MOST_BYTES; so no more is read in vain than about as much as
 * was asked for.  Any other block starts over.  A caller that will read the whole file starts with
 * the most.  256 KiB take 35 us from the page cache, of which the system call is 1 us; with 1 MiB,
 * scans of 8 runs took 7 to 10 % longer, since the windows drove one another out of the processor's
 * caches.  If a window cannot be read, its blocks are read alone: a bad place is an error only for
 * a caller that needs it.
 *
 * A window belongs to its iterator.  A struct readahead_limit bounds the memory of all windows
 * beyond one block each: once it is reached, windows do not grow, and blocks are read alone.
 *
 * AREAS.  Gets in no order wait for the medium once per block, and in the time of one such read it
 * could have read some thirty adjacent blocks.  So a file is divided into areas, and one is read
 * ahead (petal_vfs, read_ahead) before its second block is read: the others then come from the page
 * cache.  Its first block is read alone, so sparse gets cost one read each.  That they come to an
 * area again shows that they are dense, and so does each block read of one that was read ahead:
 * these earn several areas, and the next hint is that much larger, also before a first block.  So a
 * file is in memory after about as many gets as it has areas.  (Of 5 million pairs 500 gets, the
 * page cache dropped every 200, take 102 us each; 181 if an area is read ahead before its first
 * block.  10,000 without that, `kv-bench compare --rows cold-hit`, are 5 % faster then.)
 *
 * An area is read ahead once while the file is open: if the system dropped it since, there is no
 * memory for it.  Nothing is read ahead while the open files together are larger than the limit:
 * they would drive one another out of memory.
 *
 * Threads: a struct readahead belongs to one thread; any number use limits and areas at once,
 * without locks.
 */
#ifndef PETAL_SSTABLE_FILE_READAHEAD_H
#define PETAL_SSTABLE_FILE_READAHEAD_H

#include "sstable/block/block_io.h"
#include "sstable/file/read_trace.h"

#include <assert.h>
#include <stdatomic.h>

#define READAHEAD_LEAST_BYTES (16u << 10)
#define READAHEAD_MOST_BYTES  (256u << 10)

/* Blocks no farther apart than that follow one another: index nodes may lie between them, or blocks
 * that were in the cache. */
#define READAHEAD_GAP_BYTES (64u << 10)

#define READ_AROUND_AREA_BYTES (128u << 10)
#define READ_AROUND_MOST_AREAS 16 /* at once, and kept as credit */

/* What all open files share. */
struct readahead_limit {
    uint64_t most;           /* bytes of windows */
    uint64_t most_open;      /* of open files, for areas to be read; 0: none ever is */
    _Atomic(uint64_t) taken; /* those that windows have */
    _Atomic(uint64_t) open;  /* those of the open files */
};

static inline void
readahead_limit_init(struct readahead_limit *limit, uint64_t most, uint64_t most_open)
{
    limit->most = most;
    limit->most_open = most_open;
    atomic_init(&limit->taken, 0);
    atomic_init(&limit->open, 0);
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

/* ---- windows ---- */

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

/* ---- areas ---- */

/* Of one open file. */
struct read_around {
    struct readahead_limit *limit; /* NULL: nothing is read around its blocks */
    uint64_t file_bytes;
    uint64_t areas;
    _Atomic(uint64_t) *begun,
        *come_to;            /* a bit for each area: read ahead; a block of it was read */
    _Atomic(int64_t) credit; /* in areas */
};

/* `limit` NULL, or without open files: nothing is read.  False: there is no memory; then fini is a
 * no-op, as it is on one that is all zero. */
bool read_around_init(struct read_around *around, struct readahead_limit *limit,
                      uint64_t file_bytes, const petal_allocator *allocator);
void read_around_fini(struct read_around *around, const petal_allocator *allocator);

/* Bytes of memory. */
size_t read_around_memory(const struct read_around *around);

/* Called before a single block of the source is read, outside of the epoch. */
void read_around_block(struct read_around *around, const struct block_source *source,
                       struct block_handle handle);

#endif
