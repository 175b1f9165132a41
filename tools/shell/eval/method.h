/*
 * method.h -- what can be called on a value, such as the commands of a table that a variable holds.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_METHOD_H
#define PETAL_TOOLS_SHELL_EVAL_METHOD_H

#include "tools/shell/eval/call.h"

/* Call it; false when the receiver has no such method, and the complaint then names one that is
 * near, or when the method complains. */
bool method_call(struct call *call);

/* What can be called on a table, by number; NULL behind the last. */
const char *method_of_table(size_t index);

#endif
