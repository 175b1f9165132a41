/*
 * wal_window.h -- stores into a log file without a system call: through a shared mapping of the
 * file, a window at the end of the log.
 *
 * A store into a shared mapping lands in the page cache, as with write(): it survives the process.
 * A window is made after many small stores without a sync between them, by the storing thread:
 *  1. zeros are WRITTEN from the end of the log to the end of the window. So a full disk or quota
 *     is found by a call that can report it, and no store into the window has to find a block,
 *     which would be a SIGBUS;
 *  2. the pages are mapped and made writable (MADV_POPULATE_WRITE), which fails if it cannot be
 *     done, where a store would be killed.
 * If any step fails, that is no failure: the caller writes instead.
 *
 * AFTER THE LOG there are zeros up to the end of the window, and the file is as long as that.
 * wal_window_close cuts them off; a killed process leaves them, and so may a power cut.
 *
 * A SYNC ENDS THE WINDOW. Pages that are written back are mapped read-only, and the next store into
 * each would fault: if the file system is gone by then (a failing disk takes it off line), that is
 * a SIGBUS. So the first store after a sync is written, which reports such things with an error,
 * and a new window comes after more stores. Pages remain that the kernel writes back unasked,
 * when they are seconds old or memory is short, just before the file system goes.
 *
 * A LOG THAT IS SYNCED ALL THE TIME has no window, but zeros are written ahead of it, too: a sync
 * that finds the file's length unchanged and its blocks in place does not need the file system's
 * journal, and takes two thirds of the time.
 *
 * THE REMAINING SIGBUS, which ends the process: a store into a page that the kernel has written
 * back unasked faults, and
 *  - the file system is off line. Nobody notices that before the page is written back;
 *  - the page was taken away, because memory is short, and the disk cannot read it. So pages are
 *    locked if the process may;
 *  - the file was truncated by somebody else;
 *  - its blocks are shared with a copy (cp --reflink, on XFS), so that it needs new space, and
 *    there is none.
 * Callers that cannot accept this set `unmapped`. A library cannot handle the signal: handlers
 * belong to the process.
 *
 * A FORKED CHILD inherits the mapping, as it does the descriptor: harmless unless it uses the
 * database, which it must not.
 *
 * ONLY ON ext4, XFS and tmpfs, on Linux, which overwrite blocks in place. On a file system that
 * copies (Btrfs) a page that was written back needs new space, and a full disk would be a SIGBUS; a
 * network file system can promise no space. On Linux fdatasync also writes stores into mappings
 * back, and reports their failures.
 *
 * Threads: stores of one thread at a time; wal_window_synced from any thread, at any time.
 */
#ifndef PETAL_BASE_WAL_WINDOW_H
#define PETAL_BASE_WAL_WINDOW_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wal_window {
    /* Of the thread that stores. */
    uint8_t *base;       /* where the file's byte `start` is mapped; NULL: there is no window */
    uint64_t start, end; /* both 0 then; `start` is the border of a page */
    uint64_t log_end;    /* after the last store, whatever its way */
    uint64_t zeros_end;  /* from log_end up to here there are zeros, if it is greater */
    unsigned stores;     /* written since the last sync; counted up to what makes a window */
    unsigned syncs;      /* since there were so many; counted up to what makes zeros */
    bool checked;        /* the file system is one of those that will do */
    bool impossible;     /* it is not, or some step has failed: everything is written */
    bool unmapped;       /* there is to be no window, only zeros */

    _Atomic(bool) synced; /* since the last store, or about to be */
};

/* `unmapped`: the caller wants everything written. */
void wal_window_init(struct wal_window *window, bool unmapped);

/* Unmaps, and cuts off the zeros after the log. */
void wal_window_close(struct wal_window *window, int descriptor);

/* Does the store lie in the window? */
static inline bool
wal_window_has(const struct wal_window *window, uint64_t offset, size_t size)
{
    /* An offset before the window goes round; without a window there is no room. */
    return window->end - window->start >= size &&
           offset - window->start <= window->end - window->start - size &&
           !atomic_load_explicit(&window->synced, memory_order_relaxed);
}

/* REQUIRES: the window has it. */
static inline void
wal_window_put(struct wal_window *window, uint64_t offset, const void *bytes, size_t size)
{
    assert(window->base != NULL && offset >= window->start && size <= window->end - offset);
    assert(window->zeros_end >= window->end); /* the file is as long as the window */
    window->log_end = offset + size;
    memcpy(window->base + (offset - window->start), bytes, size);
}

/* Put it where the window has it or can be moved there.  False: nothing was stored, the caller has
 * to write, and to tell by wal_window_wrote. */
bool wal_window_store(struct wal_window *window, int descriptor, uint64_t offset, const void *bytes,
                      size_t size);
void wal_window_wrote(struct wal_window *window, uint64_t end);

/* The file is about to be synced; and it has been: a window made meanwhile may have been written
 * back. */
void wal_window_synced(struct wal_window *window);

#endif
