/*
 * operator.h -- what operators make of values, as Ruby has it: arithmetic, comparisons, texts put
 * together.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_OPERATOR_H
#define PETAL_TOOLS_SHELL_EVAL_OPERATOR_H

#include "tools/shell/eval/complaint.h"

enum { MOST_ITEMS = 10000000, MOST_BYTES = 64 << 20 }; /* of a list, of a text */

/* `left` operator `right` in *value; its bytes live in the arena, or are those of an operand. */
bool operator_apply(struct arena *arena, petal_slice operator, const struct value * left,
                    const struct value *right, struct value *value, struct complaint *complaint);

/* May a variable have the value, with so many lists or hashes around it? */
bool operator_may_keep(const struct value *value, unsigned around, struct complaint *complaint);

/* May the items be added to a list, or the only one to a text? */
bool operator_may_append(const struct value *to, const struct value *items, size_t count,
                         struct complaint *complaint);

/* -value */
bool operator_negate(const struct value *operand, struct value *value, struct complaint *complaint);

/* Below 0, 0 or above, as Ruby's <=>; false if the two cannot be compared. */
bool values_compare(const struct value *a, const struct value *b, int *order);

/* Is it one of the range's? */
bool range_includes(const struct value *range, const struct value *value);

#endif
