/*
 * function.h -- functions of Ruby's that are no commands, such as puts and format.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_FUNCTION_H
#define PETAL_TOOLS_SHELL_EVAL_FUNCTION_H

#include "tools/shell/eval/call.h"

/* Is there one of this name?  Call it, without a duration; false if it ended its line, with or
 * without a complaint. */
bool function_is_known(petal_slice name);
bool function_call(struct call *call);

#endif
