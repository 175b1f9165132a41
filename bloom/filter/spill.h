/*
 * spill.h -- hashes that wait on disk until a filter is built from them: RUNS of sorted hashes in
 * one unnamed file. They are read back from all runs, range by range, ascending.
 *
 * The file is created in the caller's directory as petal-filter-0123456789abcdef.tmp (random
 * digits) and unlinked at once; it disappears when it is closed, or with the process. Only a crash
 * between the two leaves an empty file of that name. Numbers have this machine's byte order.
 */
#ifndef PETAL_BLOOM_FILTER_SPILL_H
#define PETAL_BLOOM_FILTER_SPILL_H

#include "base/env.h"

#define SPILL_NAME_BYTES 48

struct spill_run {
    uint64_t offset;
    uint64_t count;
    uint64_t taken, end; /* hashes that were read; and those that the next read ends before */
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
};

/* The directory at `path` must be there. `env` outlives it. On an error there is nothing to end. */
enum petal_status spill_begin(struct spill *spill, const struct env *env, const char *path,
                              petal_error *error);
void spill_end(struct spill *spill);

/* Write hashes that are ascending, as a run. */
enum petal_status spill_add(struct spill *spill, const uint64_t *hashes, size_t count,
                            petal_error *error);

/* Find the hashes up to `last` that were not read yet; *count: how many there are. */
enum petal_status spill_find(struct spill *spill, uint64_t last, uint64_t *count,
                             petal_error *error);

/* Read what spill_find found; the hashes of one run are ascending.  `hashes` has room for them. */
enum petal_status spill_read(struct spill *spill, uint64_t *hashes, petal_error *error);

#endif
