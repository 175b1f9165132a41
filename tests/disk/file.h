/*
 * file.h -- the bytes of one file of the in-memory file layer: what reads see, what is durable, and
 * the writes between the two.
 *
 * A sync makes the writes since the last one durable, data and size.  A sync that fails makes them
 * `lost`: no later sync makes them durable, unless a later write rewrites their sector, whatever
 * reads see.
 *
 * A power cut leaves, at random: of each sector of 512 bytes, independently of all others, what it
 * was at some moment since the last sync -- so writes are reordered, lost, and torn at sectors,
 * also inside one call; a size that the file had since the last sync, or one inside a write that
 * was growing it; zeros, garbage, or bytes of other files below that size where the bytes did not
 * arrive.  Bytes that were
 * stored through a mapping may also arrive in part, any words of 8 bytes of them, since a page may
 * be on its way to the disk while they are stored.  Not modelled: tears of writes inside a sector.
 *
 * Threads: the caller keeps them apart.
 */
#ifndef PETAL_TESTS_DISK_FILE_H
#define PETAL_TESTS_DISK_FILE_H

#include "tests/support/test_support.h"

#define MEMORY_SECTOR_BYTES   512u
#define MEMORY_PAGE_BYTES     4096u
#define MEMORY_FILE_MAX_BYTES (1u << 30)

struct memory_bytes {
    struct memory_buffer *buffer; /* NULL: no bytes */
    uint8_t *data;                /* in it */
    size_t size;
};

/* A write that no sync has made durable. */
struct memory_pending {
    struct memory_write *write; /* counted */
    bool lost;                  /* a sync that should have made it durable has failed */
};

/* All zero: an empty file.  Invariant: durable.size <= live.size. */
struct memory_file {
    struct memory_bytes live, durable;
    struct memory_pending *writes; /* since the last sync, in their order */
    size_t write_count, write_capacity;
};

/* What of the pending changes survives a power cut. */
enum memory_cut {
    MEMORY_CUT_LOSE_ALL, /* nothing */
    MEMORY_CUT_KEEP_ALL, /* all but what a failed sync lost */
    MEMORY_CUT_RANDOM,
    MEMORY_CUT_RANDOM_PAGES, /* the same, by pages of 4 KiB in place of sectors */
    MEMORY_CUT_LOSE_BYTES,   /* names alone */
    MEMORY_CUT_LOSE_NAMES,   /* bytes alone */
    MEMORY_CUT_TEAR,         /* names, and of each write the first page, the third, the fifth ... */
    MEMORY_CUT_TEAR_FIRST,   /* names, and the second, the fourth ... */
    MEMORY_CUT_ZEROS,        /* names and sizes; zeros below them */
    MEMORY_CUT_GARBAGE,      /* names and sizes; garbage below them */
    MEMORY_CUT_STALE         /* names and sizes; below them what other files had at their place */
};

/* What a failed sync leaves, all of which passes for clean afterwards. */
enum memory_sync_failure {
    MEMORY_SYNC_LOSES,      /* reads see the new bytes, the medium has the old ones (XFS) */
    MEMORY_SYNC_KEEPS_SIZE, /* the same, but the size is the new one, with zeros (ext4) */
    MEMORY_SYNC_REVERTS     /* reads see the old bytes, too (Btrfs) */
};

void memory_file_fini(struct memory_file *file);

/* A copy, as if it were deep; `to` is all zero before.  The two may be used in two threads. */
void memory_file_copy(struct memory_file *to, const struct memory_file *from);

/* Of what reads see; equal bytes have equal hashes, in this process. */
uint64_t memory_file_hash(const struct memory_file *file);

/* REQUIRES: offset + size <= MEMORY_FILE_MAX_BYTES. */
void memory_file_write(struct memory_file *file, size_t offset, const void *bytes, size_t size);
/* The same, through a mapping.  REQUIRES: offset + size <= live.size. */
void memory_file_store(struct memory_file *file, size_t offset, const void *bytes, size_t size);
void memory_file_sync(struct memory_file *file);

void memory_file_fail_sync(struct memory_file *file, enum memory_sync_failure failure);

/* Replace the content by durable bytes, nothing pending. */
void memory_file_replace(struct memory_file *file, const void *bytes, size_t size);

/* What survives becomes live and durable.  `stale`: what was where the file grew, NULL if nothing
 * is known of that. */
void memory_file_power_cut(struct memory_file *file, enum memory_cut cut,
                           const struct memory_bytes *stale, struct test_random *random);

/* Share the bytes, `to` giving up its own. */
void memory_bytes_share(struct memory_bytes *to, const struct memory_bytes *from);
void memory_bytes_release(struct memory_bytes *bytes);

#endif
