/*
 * vfs.h -- a petal_vfs in memory, for tests: it can lose power, tear writes, fill up and fail
 * its n-th call.
 *
 * It behaves as vfs_posix does until told otherwise.  What a sync makes durable, what a failed sync
 * loses and what a power cut leaves is defined in tests/disk/file.h (bytes) and tests/disk/tree.h
 * (names).
 *
 * CALLS of the petal_vfs, but for close_directory, are numbered from 1.  Faults are planned for the
 * n-th call from now, n = 1 being the next one.
 * - A planned failure: the call returns its error.  A failed write has stored the first half of its
 *   bytes, or what enum memory_effect says. A failed sync has lost what was pending. A failed close
 *   has closed. Anything else has had no effect, or all of it.
 * - A planned cut: the power fails during the n-th call.  What it writes or changes becomes
 *   pending, so it may survive or not; a sync does not happen.  That call and all later ones return
 *   EIO: the machine is off.
 *
 * A POWER CUT TEST runs its workload with a planned cut, closes what it opened (the errors are no
 * news), and then tries many states:
 *     clone = memory_vfs_clone(vfs);
 *     memory_vfs_power_cut(clone, MEMORY_CUT_RANDOM, seed);     the machine is on again
 *     ... open, compare, memory_vfs_free(clone)
 *
 * Functions that return int give 0 or an errno value.  Those that look into the files
 * (memory_vfs_read_file and the like) are no calls: they are not numbered, do not fail as planned
 * and work while the machine is off.
 *
 * Threads: all functions from any thread, under one mutex; but memory_vfs_free.
 */
#ifndef PETAL_TESTS_DISK_VFS_H
#define PETAL_TESTS_DISK_VFS_H

#include "tests/disk/tree.h"

#include <stdio.h>

struct memory_vfs;

struct memory_vfs *memory_vfs_new(void);

/* Open files and directories are released, too, and must not be used any more. */
void memory_vfs_free(struct memory_vfs *vfs);

/* The table to give to the library; lives as long as `vfs`. */
const petal_vfs *memory_vfs_table(struct memory_vfs *vfs);

/* A copy, as if it were deep, of the files with what is durable and what pending, of the capacity
 * and of the power being off. No files are open in it, no calls counted, no faults planned, nothing
 * is traced. */
struct memory_vfs *memory_vfs_clone(struct memory_vfs *vfs);

/* ---- Faults ---- */

uint64_t memory_vfs_calls(struct memory_vfs *vfs);

/* The n-th call from now fails with `error`, once or from then on.  n 0: none does, and no
 * longer. */
void memory_vfs_fail_at(struct memory_vfs *vfs, uint64_t n, int error, bool permanently);

/* An error of a read: it gives fewer bytes than the file has, and no error. */
#define MEMORY_SHORT_READ (-1)

/* What a call that fails as planned has done all the same; MEMORY_DID_HALF at the beginning. */
enum memory_effect {
    MEMORY_DID_NOTHING,
    MEMORY_DID_HALF, /* of its bytes; else nothing */
    MEMORY_DID_MOST, /* all bytes but one; else nothing */
    MEMORY_DID_ALL,
    MEMORY_EFFECTS
};
void memory_vfs_set_effect(struct memory_vfs *vfs, enum memory_effect effect);

/* How many calls have failed as planned. */
uint64_t memory_vfs_failures(struct memory_vfs *vfs);

/* What becomes of the bytes of a failed sync; MEMORY_SYNC_LOSES at the beginning. */
void memory_vfs_set_sync_failure(struct memory_vfs *vfs, enum memory_sync_failure failure);
enum memory_sync_failure memory_vfs_sync_failure(struct memory_vfs *vfs);

/* Bytes that all files together may have; what does not fit is ENOSPC, after what does was stored,
 * and free_bytes tells what would. UINT64_MAX, at the beginning: no limit. */
void memory_vfs_set_capacity(struct memory_vfs *vfs, uint64_t bytes);
uint64_t memory_vfs_used(struct memory_vfs *vfs);

/* As on file systems that copy on write: also what is overwritten takes new space, and is ENOSPC
 * without it. */
void memory_vfs_copy_on_write(struct memory_vfs *vfs, bool copy);
bool memory_vfs_copies_on_write(struct memory_vfs *vfs);

/* As on file systems without hard links: each link fails with `error`. 0: no longer. */
void memory_vfs_refuse_links(struct memory_vfs *vfs, int error);

/* From now on log_store stores through a mapping: it writes zeros ahead of the log, as far as there
 * is room, and stores into them (base/wal_window.h).  They stay when the file is closed, as when
 * the process is killed. */
void memory_vfs_use_log_windows(struct memory_vfs *vfs, bool use);

/* The power fails during the n-th call from now.  n 0: it does not. */
void memory_vfs_cut_at(struct memory_vfs *vfs, uint64_t n);

/* Whether the planned cut has come. */
bool memory_vfs_is_off(struct memory_vfs *vfs);

/* Cut the power, also if it is off already, and switch on again: pending changes survive as `cut`
 * says, all locks are gone, files and directories opened before are dead (their calls return EIO
 * and are not numbered), planned faults are forgotten. */
void memory_vfs_power_cut(struct memory_vfs *vfs, enum memory_cut cut, uint64_t seed);

/* What is pending, in units (tests/disk/tree.h), and a power cut in which all units survive but one
 * (`survives` false), or that one alone.  REQUIRES: index < memory_vfs_pending. */
size_t memory_vfs_pending(struct memory_vfs *vfs);
void memory_vfs_power_cut_one(struct memory_vfs *vfs, size_t index, bool survives);

/* The machine is off from now on, as after a planned cut: all calls are EIO. */
void memory_vfs_switch_off(struct memory_vfs *vfs);

/* The process dies and the machine stays on, also if a planned cut had come: what is pending is
 * what reads see, and may still be lost by a power cut. Locks, open files and planned faults are as
 * after a power cut. */
void memory_vfs_process_death(struct memory_vfs *vfs);

/* ---- Looking at the files ---- */

/* The bytes that a read would see, as a copy to be released with free; NULL on an error. */
int memory_vfs_read_file(struct memory_vfs *vfs, const char *path, uint8_t **bytes, size_t *size);

/* Make a file, or replace its content; the bytes, the size and all names of its directory are
 * durable. */
int memory_vfs_write_file(struct memory_vfs *vfs, const char *path, const void *bytes, size_t size);

bool memory_vfs_exists(struct memory_vfs *vfs, const char *path);

/* Of all names, and of what reads see; equal ones are equal in this process. */
uint64_t memory_vfs_hash(struct memory_vfs *vfs);
int memory_vfs_list(struct memory_vfs *vfs, const char *path,
                    void (*visit)(void *argument, const char *name), void *argument);
/* Names in the directory; 0 where there is none. */
size_t memory_vfs_count_files(struct memory_vfs *vfs, const char *path);

/* What is open, dead ones included; with the files what is mapped. */
size_t memory_vfs_open_files(struct memory_vfs *vfs);
size_t memory_vfs_open_directories(struct memory_vfs *vfs);

/* ---- Trace ---- */

enum memory_vfs_operation {
    MEMORY_VFS_OPEN,
    MEMORY_VFS_CLOSE,
    MEMORY_VFS_READ,
    MEMORY_VFS_WRITE,
    MEMORY_VFS_LOG_STORE,
    MEMORY_VFS_SYNC,
    MEMORY_VFS_SIZE,
    MEMORY_VFS_MAP,
    MEMORY_VFS_LOCK,
    MEMORY_VFS_OPEN_DIRECTORY,
    MEMORY_VFS_SYNC_DIRECTORY,
    MEMORY_VFS_SYNC_PARENT,
    MEMORY_VFS_LIST_DIRECTORY,
    MEMORY_VFS_RENAME,
    MEMORY_VFS_LINK,
    MEMORY_VFS_REMOVE,
    MEMORY_VFS_CONTAINS,
    MEMORY_VFS_FREE_BYTES
};

struct memory_vfs_call {
    uint64_t number;
    enum memory_vfs_operation operation;
    /* The directory's, as it was opened, and the name; of a rename or link: the old one. */
    const char *path;
    /* The new name of a rename or link, the path that a directory may contain; NULL in a trace. */
    const char *to;
    bool creates;    /* an opening that may make the file */
    uint64_t offset; /* of a read or write, else 0 */
    size_t size;
    int error; /* what it returned */
};

/*
 * `watch` is told of each call that is numbered before it does anything; `bytes` are those of a
 * write, else NULL.  It may look at the files, clone them, and plan faults, also for this call
 * (n 1 being the next one). NULL: nobody watches any more.
 */
typedef void memory_vfs_watcher(void *argument, const struct memory_vfs_call *call,
                                const void *bytes);
void memory_vfs_watch(struct memory_vfs *vfs, memory_vfs_watcher *watch, void *argument);

/*
 * `pause` is called in the thread of each call before it begins, without the mutex: it may wait for
 * other threads' calls, and clone the files.  NULL: nobody is.  REQUIRES: no call is under way.
 */
typedef void memory_vfs_pauser(void *argument, enum memory_vfs_operation operation);
void memory_vfs_pause(struct memory_vfs *vfs, memory_vfs_pauser *pause, void *argument);

/* Record calls from now on, or stop and forget them. */
void memory_vfs_trace(struct memory_vfs *vfs, bool on);
size_t memory_vfs_trace_count(struct memory_vfs *vfs);

/* REQUIRES: index < count.  The path is good until the trace is stopped. */
struct memory_vfs_call memory_vfs_trace_at(struct memory_vfs *vfs, size_t index);

/* One line a call. */
void memory_vfs_trace_print(struct memory_vfs *vfs, FILE *out);

#endif
