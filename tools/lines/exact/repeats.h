/*
 * repeats.h -- which of the records that come one after the other were there before? Byte by byte.
 *
 * What came first is held in memory, and answers are given at once; when that is full, records that
 * are not in it are put away, in a temporary file, and decided together.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_REPEATS_H
#define PETAL_TOOLS_LINES_EXACT_REPEATS_H

#include "tools/lines/exact/marks.h"
#include "tools/lines/exact/table.h"
#include "tools/lines/records/item.h"
#include "tools/lines/records/spill.h"

struct repeats {
    struct job *job;
    struct table table;
    bool is_full;
    bool has_spill;
    struct spill spill; /* struct item, the size as a uint64_t, and the bytes, each */
};

bool repeats_open(struct repeats *repeats, struct job *job);
/* Of zeros: nothing. */
void repeats_close(struct repeats *repeats);

enum repeats_answer {
    REPEATS_NEW,      /* it was not there before; it is now */
    REPEATS_REPEATED, /* it was */
    REPEATS_OPEN      /* it is not in memory, which is full: repeats_put decides */
};

enum repeats_answer repeats_ask(struct repeats *repeats, petal_slice record, uint64_t hash);

/* Of a record whose question was left open. Those that are known and not asked come before all
 * others. */
bool repeats_put(struct repeats *repeats, petal_slice record, uint64_t hash, uint64_t number,
                 enum item_role role);

/* Marks what was put, is asked, and was known before. What was held in memory is given back. */
bool repeats_decide(struct repeats *repeats, struct marks *marks);

#endif
