/*
 * index.h -- items by their place or key: of lists, hashes and texts.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_INDEX_H
#define PETAL_TOOLS_SHELL_EVAL_INDEX_H

#include "tools/shell/eval/complaint.h"
#include "tools/shell/language/variable.h"

/* values[index], or values[index, length] where that is not nil; places below 0 count from the end,
 * a range is from .. to.  nil where there is nothing. */
bool index_get(struct arena *arena, const struct value *values, const struct value *index,
               const struct value *length, struct value *value, struct complaint *complaint);

/* name[index] = value, of a variable with a list or a hash. */
bool index_set(struct variables *variables, petal_slice name, const struct value *index,
               const struct value *value, struct complaint *complaint);

#endif
