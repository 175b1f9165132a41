/*
 * ascend.h -- keys come in any order, go in ascending order, each once: any number of them, from
 * any range, in a bounded memory, exactly.
 *
 * WHERE THEY WAIT. A part of the memory gathers keys. If they all fit there they are sorted there.
 * Else all keys wait on disk, in parts by value. In the end each part is sorted in memory, or is
 * parted again: each time its range is cut into equal pieces, so that it fits at last, or is one key
 * alone, whatever the keys are.
 *
 * What fails is told by job_fail. Belongs to one thread.
 */
#ifndef PETAL_TOOLS_LINES_NUMBERS_ASCEND_H
#define PETAL_TOOLS_LINES_NUMBERS_ASCEND_H

#include "tools/lines/job/job.h"

enum ascend_mode {
    ASCEND_DISTINCT, /* all keys */
    ASCEND_DOUBLES   /* those that came more than once */
};

/* Takes runs of neighbours: each key from first to last. False: no more, and it was told why. */
struct ascend_visitor {
    bool (*take)(void *argument, uint64_t first, uint64_t last);
    void *argument;
};

struct ascend;

/* Memory and directory are the job's. */
bool ascend_create(struct job *job, enum ascend_mode mode, struct ascend **ascend);
void ascend_free(struct ascend *ascend); /* NULL: nothing */

bool ascend_add(struct ascend *ascend, const uint64_t *keys, size_t count);

/* All runs, ascending. Neighbours may come as one run or as two. Once; then it can only be
 * freed. */
bool ascend_finish(struct ascend *ascend, const struct ascend_visitor *visitor);

#endif
