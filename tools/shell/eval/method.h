/*
 * method.h -- what can be called on a value, such as the commands of a table that a variable holds;
 * puts and raise.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_METHOD_H
#define PETAL_TOOLS_SHELL_EVAL_METHOD_H

#include "tools/shell/session/session.h"

/* Is there a function of Ruby's of this name that is no command?  Call it, without a duration;
 * false if it ended its line. */
bool function_is_known(petal_slice name);
bool function_call(struct session *session, petal_slice name, const struct value *arguments,
                   size_t count);

/* Call the method; false if the receiver has none of this name. */
bool method_call(struct session *session, const struct value *receiver, petal_slice name,
                 const struct value *arguments, size_t count, struct value *value);

/* What can be called on a table, by number; NULL behind the last. */
const char *method_of_table(size_t index);

#endif
