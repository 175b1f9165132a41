/*
 * file.h -- the bytes of one file of the in-memory file layer: what reads see, what is durable, and
 * the writes between the two.
 *
 * A sync makes the writes since the last one durable, data and size.  A sync that fails makes them
 * `lost`: reads go on seeing them, as pages taken for clean are seen, but no later sync makes them
 * durable, unless a later write rewrites their sector.
 *
 * A power cut leaves, at random: of each sector of 512 bytes, independently of all others, what it
 * was at some moment since the last sync -- so writes are reordered, lost, and torn at sectors,
 * also inside one call; a size that the file had since the last sync, or one inside a write that
 * was growing it; zeros or garbage below that size where the bytes did not arrive.  Bytes that were
 * stored through a mapping may also arrive in part, any words of 8 bytes of them, since a page may
 * be on its way to the disk while they are stored.  Not modelled: tears of writes inside a sector.
 *
 * Threads: the caller keeps them apart.
 */
#ifndef PETAL_TESTS_DISK_FILE_H
#define PETAL_TESTS_DISK_FILE_H

#include "tests/support/test_support.h"

#define MEMORY_SECTOR_BYTES   512u
#define MEMORY_FILE_MAX_BYTES (1u << 30)

struct memory_bytes {
    uint8_t *data;
    size_t size, capacity; /* bytes between the two are not defined */
};

struct memory_write;

/* All zero: an empty file.  Invariant: durable.size <= live.size. */
struct memory_file {
    struct memory_bytes live, durable;
    struct memory_write *writes; /* since the last sync, in their order */
    size_t write_count, write_capacity;
};

/* What of the pending changes survives a power cut. */
enum memory_cut {
    MEMORY_CUT_LOSE_ALL, /* nothing */
    MEMORY_CUT_KEEP_ALL, /* all but what a failed sync lost */
    MEMORY_CUT_RANDOM
};

void memory_file_fini(struct memory_file *file);

/* A deep copy; `to` is all zero before. */
void memory_file_copy(struct memory_file *to, const struct memory_file *from);

/* REQUIRES: offset + size <= MEMORY_FILE_MAX_BYTES. */
void memory_file_write(struct memory_file *file, size_t offset, const void *bytes, size_t size);
/* The same, through a mapping.  REQUIRES: offset + size <= live.size. */
void memory_file_store(struct memory_file *file, size_t offset, const void *bytes, size_t size);
void memory_file_sync(struct memory_file *file);

/* `revert`: reads see the durable bytes again (as Btrfs does), else the lost ones (as ext4 and
 * XFS). */
void memory_file_fail_sync(struct memory_file *file, bool revert);

/* Replace the content by durable bytes, nothing pending. */
void memory_file_replace(struct memory_file *file, const void *bytes, size_t size);

/* What survives becomes live and durable. */
void memory_file_power_cut(struct memory_file *file, enum memory_cut cut,
                           struct test_random *random);

#endif
