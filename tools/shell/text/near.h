/*
 * near.h -- which of some names a mistyped one is nearest to.
 *
 * Near is what two letters at most, and less than half of the word, make it: inserted, removed,
 * changed, or two side by side that were exchanged.  Case does not count.
 */
#ifndef PETAL_TOOLS_SHELL_TEXT_NEAR_H
#define PETAL_TOOLS_SHELL_TEXT_NEAR_H

#include "tools/shell/text/text.h"

/* Keep the candidate in *nearest, NULL at first, when it is near to the name and nearer than what
 * is kept; *least is how near that is. */
void near_consider(petal_slice name, const char *candidate, const char **nearest, unsigned *least);

/* The same of bytes; *nearest of no bytes (data NULL) at first. */
void near_consider_bytes(petal_slice name, petal_slice candidate, petal_slice *nearest,
                         unsigned *least);

#endif
