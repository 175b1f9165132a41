/*
 * spill.h -- hashes that wait on disk until a filter is built of them: RUNS of sorted ones, in one
 * file that has no name, and what lies between two hashes back from all runs.
 *
 * The file is made in the caller's directory as petal-filter-0123456789abcdef.tmp (random digits)
 * and loses that name at once; it is gone when it is closed, or with the process.  Only a death
 * between the two leaves an empty file of such a name.
 *
 * A run begins with 2^14 + 1 numbers: how many of its hashes lie below i * 2^50, i = 0..2^14.  All
 * numbers are this machine's.
 */
#ifndef PETAL_BLOOM_FILTER_SPILL_H
#define PETAL_BLOOM_FILTER_SPILL_H

#include "base/env.h"

#define SPILL_SLICE_BITS 14 /* the finest ranges, by the highest bits */
#define SPILL_SLICES     (1u << SPILL_SLICE_BITS)
#define SPILL_NAME_BYTES 48

struct spill_run {
    uint64_t offset;
    uint32_t count;
};

struct spill {
    const struct env *env;
    petal_directory *directory;
    petal_file *file;            /* NULL: nothing was spilled */
    char name[SPILL_NAME_BYTES]; /* that it had */
    bool is_named;  /* it has it still: removing failed, and is tried again at the end */
    uint64_t end;   /* of what was written */
    uint64_t count; /* hashes in all runs */
    struct spill_run *runs;
    size_t run_count, run_capacity;
    uint32_t *below;  /* SPILL_SLICES + 1: of the run that is being written */
    uint64_t *totals; /* SPILL_SLICES: hashes of each slice in all runs */
};

/* The directory at `path` must be there. `env` outlives it. On an error there is nothing to end. */
enum petal_status spill_begin(struct spill *spill, const struct env *env, const char *path,
                              petal_error *error);
void spill_end(struct spill *spill);

/* Write hashes that are ascending, at most UINT32_MAX, as a run. */
enum petal_status spill_add(struct spill *spill, const uint64_t *hashes, size_t count,
                            petal_error *error);

/* The fewest bits 0..SPILL_SLICE_BITS so that no range of hashes alike in the highest so many bits
 * has more than `most` hashes, if there are so few bits. */
unsigned spill_range_bits(const struct spill *spill, uint64_t most);

/* How many hashes a range has: the one whose highest `bits` bits are `range`. */
uint64_t spill_range_count(const struct spill *spill, unsigned bits, unsigned range);

/* Read all of them; those of one run are ascending.  `hashes` has room for them. */
enum petal_status spill_read_range(const struct spill *spill, unsigned bits, unsigned range,
                                   uint64_t *hashes, petal_error *error);

#endif
