/*
 * file_pool.h -- a bound on how many store files are open at once, for reading or, of bulks, for
 * writing.
 *
 * Each reader has a pooled file, a name that can be opened. Who reads acquires it, which opens the
 * name if need be, and releases it after the read; an acquired file is never closed, and readers at
 * the same time share one handle. When the limit is reached, a file that nobody reads is closed
 * before another is opened: the first one that was not read again since the hand of a clock came by
 * last, so about the least recently used. When all are being read, the next reader waits until one
 * is released. Nobody may hold one file while acquiring another.
 *
 * Opening a name again gives the same file: a store file keeps its name as long as a reader of it
 * lives. What if it does not? Blocks carry the identity of their file in their checksums, so
 * another file in its place is noticed.
 *
 * Threads: all functions from any thread; a pooled file is closed when nobody has it acquired. One
 * that is open is acquired and released by one atomic operation each; files are opened and closed
 * outside of the pool's mutex, so nobody waits there for the file system but those who want the
 * same file.
 */
#ifndef PETAL_SSTABLE_BLOCK_FILE_POOL_H
#define PETAL_SSTABLE_BLOCK_FILE_POOL_H

#include "base/directory.h"
#include "base/mutex.h"

struct file_pool;

struct pooled_file {
    struct file_pool *pool;            /* NULL: stays open once it was opened */
    const struct directory *directory; /* borrowed, as is: */
    const char *path;
    unsigned flags; /* it is opened with; may be changed while nobody has it acquired */
    _Atomic(uint32_t) state;
    petal_file *file;                  /* while the state says open */
    bool opening;                      /* by some thread; guarded by the pool's mutex, as is: */
    struct pooled_file *next, *before; /* in the ring of open files */
};

struct file_pool {
    const struct env *env;
    struct mutex mutex;
    pthread_cond_t changed; /* a file was opened, failed to, or there may be room */
    uint32_t limit;         /* at least 1 */
    uint32_t open; /* handles, those that are being opened or closed included; at most limit */
    struct pooled_file *hand;  /* of the clock, in the ring; NULL: it is empty */
    _Atomic(uint32_t) waiting; /* for room */
};

/* False: the system has no mutex to give. */
bool file_pool_init(struct file_pool *pool, const struct env *env, uint32_t limit);

/* REQUIRES: all its files are closed. */
void file_pool_fini(struct file_pool *pool);

/* A file that is not open yet, to be opened for reading unless its flags are set afterwards. `pool`
 * may be NULL. Its address stays. */
void pooled_file_init(struct pooled_file *file, struct file_pool *pool,
                      const struct directory *directory, const char *path);

/* 0 or what closing it failed with. REQUIRES: nobody has it acquired. */
int pooled_file_fini(struct pooled_file *file);

/* *opened: to be read until it is released. A name that cannot be opened is PETAL_IO. */
enum petal_status pooled_file_acquire(struct pooled_file *file, petal_file **opened,
                                      petal_error *error);
void pooled_file_release(struct pooled_file *file);

#endif
