/* condition.h -- what a change of a row depends on: read once, judged by the rules of HBase's
 * checkAndMutate. */
#ifndef PETAL_ENGINE_WRITE_CONDITION_H
#define PETAL_ENGINE_WRITE_CONDITION_H

#include "engine/petal.h"

struct condition {
    petal_table *table;
    petal_slice row; /* borrowed, as is all that `asked` points to */
    petal_condition asked;
};

/* Check and copy what the caller gave. */
enum petal_status condition_init(struct condition *condition, petal_table *table, petal_slice row,
                                 const petal_condition *given, petal_error *error);

/*
 * Read, and judge as of now. The first cell in `read` is the one that was judged, with a filter the
 * first of the row; there may be none.
 */
enum petal_status condition_read(const struct condition *condition, petal_result *read, bool *holds,
                                 petal_error *error);

#endif
