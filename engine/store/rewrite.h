/*
 * rewrite.h -- cells of one store, from an iterator, through the rules of visibility, into a new
 * store file: what a flush and a compaction have in common.
 *
 * Cells in = cells out + cells dropped by each reason, and cells in is what the sources' facts say:
 * checked before the result is handed out, so that bad memory does not lose cells in silence. (Of a
 * part of the sources' rows it is only known that there are no more.) When all cells are dropped
 * there is no file. At a row border after a number of bytes the file ends: the caller commits it,
 * and goes on with the row that is told.
 *
 * The file is complete, synced and open, but nothing names it yet: the caller syncs the directory
 * and commits it, or removes it.
 */
#ifndef PETAL_ENGINE_STORE_REWRITE_H
#define PETAL_ENGINE_STORE_REWRITE_H

#include "base/cell_iter.h"
#include "engine/manifest/manifest.h"
#include "engine/rules/visibility.h"
#include "engine/state/progress.h"
#include "engine/store/output.h"

/* Called between rows, by the thread that rewrites and that holds no lock: so many of the input's
 * cells are done. */
typedef void rewrite_meanwhile(void *argument, uint64_t cells_done, uint64_t cells);

struct rewrite_job {
    petal_family *family;
    struct cell_iter *input; /* not positioned */
    uint64_t cells;          /* that it yields */
    /* Some of its rows are not wanted, those before `low` and from `high` on (empty: open): then it
     * yields at most so many. */
    bool shared;
    petal_slice low, high;
    /* What stays. Its read point is read_point_oldest, taken before the first cell is read; its
     * time the file's time of writing. */
    struct visibility_rules rules;
    bool level_sequences;    /* the cells that stay, puts all of them, get the next one */
    uint64_t sequence_max;   /* the greatest of the input's files, which the output's name, too */
    uint64_t run;            /* of the output; 0: a new one */
    enum file_origin origin; /* of the output, for its facts and its share of the error rate */
    uint64_t file_bytes;     /* it ends at a row border after so many bytes */
    const _Atomic(bool) *give_up; /* looked at now and then: end with PETAL_BUSY. NULL: never */
    rewrite_meanwhile *meanwhile; /* NULL: nothing */
    void *meanwhile_argument;
    struct rewrite_progress *progress; /* shared by the jobs that run; NULL: none */
};

struct rewrite_result {
    struct output_files output;
    petal_slice rest; /* the first row that is not rewritten yet; empty: all are */
    uint64_t cells_in;
    uint64_t dropped[VISIBILITY_REASONS];
    uint64_t took_ms;
};

/*
 * `result` is zero before. On failure it is empty again and no file is left behind.
 * PETAL_NOT_FOUND: the family was dropped meanwhile, alone or with its table. PETAL_CORRUPT: the
 * counts do not balance, or a source is damaged. PETAL_BUSY: given up.
 */
enum petal_status rewrite_run(const struct rewrite_job *job, struct rewrite_result *result,
                              petal_error *error);

/* Whether blocks and filter of a file with these facts are about those that a rewrite of `origin`
 * would give it. It may have more bits in its filter: few files live for long with those of a
 * flush. */
bool rewrite_keeps_form(const petal_family_options *family, const struct file_facts *facts,
                        enum file_origin origin);

/* Release the result and its references; `remove`: the files go with their last reference.
 * Leaves it zero. */
void rewrite_result_fini(struct rewrite_result *result, const petal_allocator *allocator,
                         bool remove);

/* Report a committed job to the statistics of what was dropped, and to the log as one line;
 * `what`: "flush" .. */
void rewrite_report(const struct store *store, const struct rewrite_result *result,
                    const char *what);

#endif
