/*
 * directive.h -- '%05d' % 7, format and sprintf: values put into a text by printf's directives.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_DIRECTIVE_H
#define PETAL_TOOLS_SHELL_EVAL_DIRECTIVE_H

#include "tools/shell/eval/complaint.h"

/* The directives are %d %i %u %x %X %o %b %e %f %g %s %p and %%, with flags, width and
 * precision. */
bool directives_fill(struct arena *arena, petal_slice pattern, const struct value *values,
                     size_t count, struct value *value, struct complaint *complaint);

#endif
