/*
 * doubles.h -- which records have a hash that others have, too? All others are different from all
 * records for certain: of those nobody has to look at the bytes.
 *
 * Hashes wait in a temporary file, in parts that are decided one after the other, each in memory.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_DOUBLES_H
#define PETAL_TOOLS_LINES_EXACT_DOUBLES_H

#include "tools/lines/exact/again.h"
#include "tools/lines/exact/marks.h"
#include "tools/lines/exact/table.h"
#include "tools/lines/records/item.h"
#include "tools/lines/records/spill.h"

struct doubles {
    struct job *job;
    struct spill spill; /* struct item each */
};

bool doubles_open(struct doubles *doubles, struct job *job);
/* Of zeros: nothing. */
void doubles_close(struct doubles *doubles);

/*
 * Put away the records of the batch from the i-th on: each in `again`, with the flag whether it is
 * `seen`, and of those that are not the hash and the number. Of a stream what is seen is put away
 * only if it is ITEM_ASKED. Items that are known and not asked come before all others.
 */
bool doubles_put(struct doubles *doubles, struct again *again, const struct table *seen,
                 const struct batch *batch, size_t i, enum item_role role);

/*
 * Marks in `marks` every record that is asked and has the hash of one that was known before it; and
 * if that one is asked, too, also that one. In `known` (may be NULL) those records that are known,
 * and not asked, and have the hash of one that was asked.
 */
bool doubles_decide(struct doubles *doubles, struct marks *marks, struct marks *known);

#endif
