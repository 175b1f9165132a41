/*
 * runs.h -- the files of a store as a list of runs, oldest first, with what the compaction policy
 * is told of each.
 *
 * THE ORDER.  Flushes of a store install in the order of sequences, and a compaction takes
 * neighbours: so the sequences of two runs do not interleave, the greatest of each tells the order,
 * and an output, whose sequences lie within those of its inputs, stands in their place. A job that
 * ended in the middle leaves runs that interleave, though in no row (engine/compact/job.h). A bulk
 * (engine/table/bulk.c) enters above cells that stay in memory; the run that these become may have
 * cells on both sides of it. What a compaction of some files drops is right of any of them; one of
 * all files looks at what is outside (engine/compact/job.c).
 *
 * Threads: a list belongs to one thread at a time.
 */
#ifndef PETAL_ENGINE_COMPACT_RUNS_H
#define PETAL_ENGINE_COMPACT_RUNS_H

#include "engine/compact/policy.h"
#include "engine/state/view.h"

struct store_run {
    uint64_t number; /* file_entry.run */
    uint64_t sequence_max;
};

/* Zero is an empty list. */
struct store_runs {
    struct store_run *runs;    /* oldest first */
    struct policy_run *policy; /* of the same */
    size_t count, capacity, policy_capacity;
};

/* What a rewrite could drop now. */
struct store_moment {
    int64_t now_ms;
    uint64_t read_point; /* the oldest: cells above it stay */
    /* A snapshot sees what is outside of the files, the oldest read point is below what they hold,
     * or older cells are in memory. */
    bool markers_stay;
};

/* Fill the list anew with the runs of `store`, none of them busy. PETAL_NO_MEMORY: it is empty. */
enum petal_status store_runs_gather(struct store_runs *list, const petal_allocator *allocator,
                                    const struct store_view *store,
                                    const petal_family_options *family,
                                    const struct store_moment *moment);
void store_runs_fini(struct store_runs *list, const petal_allocator *allocator);

/* How many runs the files are. */
size_t store_runs_count(const struct store_view *store);

/* The first sequence in a memtable of the store, UINT64_MAX: none. It is greater than all in its
 * files but for those of bulks. */
uint64_t store_first_in_memory(const struct store_view *store);

/* The first sequence that lies in the store but not in `inputs`, files of it; UINT64_MAX: none. Of
 * the other files those count that may have rows from `least` to `greatest`. */
uint64_t store_first_outside(const struct store_view *store, struct store_file *const *inputs,
                             size_t input_count, petal_slice least, petal_slice greatest);

/* The greatest sequence in its files. */
uint64_t store_last_in_files(const struct store_view *store);

/* ---- what may be dropped of a file, from its facts ---- */

/* Cells and rows in the runs that are older than the file's. */
struct older_cells {
    uint64_t cells, rows;
};

/*
 * About how many cells an all-files compaction would drop for the sake of this file: what its
 * markers hide, one cell for each of one version or column, a row's share for each of a family; and
 * what of it is past a time to live. Estimates, for the policy only: but they are 0 of what such a
 * compaction has just left, so that none follows on another without end.
 */
uint64_t facts_dead(const struct file_facts *facts, const petal_family_options *family,
                    const struct store_moment *moment, const struct older_cells *older);

/* Markers in it that an all-files compaction would drop. */
uint64_t facts_droppable_markers(const struct file_facts *facts, const petal_family_options *family,
                                 const struct store_moment *moment);

/* The facts prove that rewriting the file alone would drop nothing: each column has one cell, none
 * is a marker or past a time to live. */
bool facts_all_needed(const struct file_facts *facts, const petal_family_options *family,
                      int64_t now_ms);

/* All its cells are past a time to live, by the family's or their own, and no version outlives
 * it. */
bool facts_expired(const struct file_facts *facts, const petal_family_options *family,
                   int64_t now_ms);

#endif
