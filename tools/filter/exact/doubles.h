/*
 * doubles.h -- which records have a hash that others have, too? All others are different from all
 * records for certain: of those nobody has to look at the bytes.
 *
 * Hashes wait in a temporary file, in parts that are decided one after the other, each in memory.
 */
#ifndef PETAL_TOOLS_FILTER_EXACT_DOUBLES_H
#define PETAL_TOOLS_FILTER_EXACT_DOUBLES_H

#include "tools/filter/exact/marks.h"
#include "tools/filter/exact/spill.h"

struct doubles {
    struct job *job;
    struct spill spill; /* struct doubles_item each */
};

struct doubles_item {
    uint64_t hash, number;
};

bool doubles_open(struct doubles *doubles, struct job *job);
void doubles_close(struct doubles *doubles);

/* Numbers ascend. */
static inline bool
doubles_add(struct doubles *doubles, uint64_t hash, uint64_t number)
{
    const struct doubles_item item = {hash, number};

    return spill_put(&doubles->spill, spill_part_of(&doubles->spill, hash, 0), &item, sizeof item);
}

/* Marks every record whose hash occurs more than once. */
bool doubles_decide(struct doubles *doubles, struct marks *marks);

#endif
