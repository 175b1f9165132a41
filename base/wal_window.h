/*
 * wal_window.h -- stores into a log file without a system call: through a shared mapping of the
 * file, a window that lies where the log grows.
 *
 * What is stored into a shared mapping is in the page cache, where write() would have put it: it
 * survives the process. A window is made once many small stores have followed each other without a
 * sync between them, by the thread that stores:
 *  1. zeros are WRITTEN from the end of the log to the end of the window. So a full disk or quota
 *     is found here, by a call that can say so, and no store into the window ever has to find a
 *     block (that would be a SIGBUS);
 *  2. the pages are mapped and made writable (MADV_POPULATE_WRITE), which fails if it cannot be
 *     done, where a store would be killed.
 * Whatever fails here is no failure: the store is left to the caller, who writes.
 *
 * BEHIND THE LOG there are zeros, then, up to the end of the window, and the file is as long as
 * that. wal_window_close cuts them off; a process that is killed leaves them, and so may a power
 * cut.
 *
 * A SYNC ENDS THE WINDOW. Pages that are written back are mapped read-only, and the next store into
 * each would fault: were the file system gone by then (a disk that fails takes it off line), that
 * is a SIGBUS. So the next store behind a sync is one that is written, which tells of such things
 * with an error, and a new window comes after more of them. Left are pages that the kernel writes
 * back by itself, which it does when they are seconds old or memory is short, in the moments before
 * the file system goes.
 *
 * A LOG THAT IS SYNCED ALL THE TIME has no window, but zeros are written ahead of it as well: a
 * sync that finds the file as long as before, with its blocks in place, does without the file
 * system's journal, and takes two thirds of the time.
 *
 * WHAT IS LEFT OF SIGBUS, which ends the process: a store into a page that the kernel has written
 * back by itself faults, and finds that
 *  - the file system is off line. While the page is not written back, nobody notices;
 *  - the page was taken away, because memory is short, and the disk cannot read it. So the pages
 *    are locked, where the process may;
 *  - the file was cut short by somebody else;
 *  - its blocks are shared with a copy (cp --reflink, on XFS), so that it needs new room, and there
 *    is none.
 * Whoever cannot live with that says so (`unmapped`). Handling the signal is not for a library to
 * do: handlers belong to the process.
 *
 * A FORKED CHILD has the mapping too, as it has the descriptor: harmless unless it uses the
 * database, which it must not.
 *
 * ONLY WHERE blocks are overwritten in place: ext4, XFS and tmpfs, on Linux. On a file system that
 * copies (Btrfs) a page that was written back needs new room, and a full disk would be a SIGBUS; a
 * network file system has no room to promise.
 *
 * Writing back: on Linux fdatasync takes what was stored into mappings as well, and tells of its
 * failures.
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
    uint64_t log_end;    /* behind the last store, whatever its way */
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

/* Unmaps, and cuts off the zeros behind the log. */
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
