/*
 * successor.h -- the text behind another one, as Ruby's succ: a, b .. z, aa; r08, r09, r10.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_SUCCESSOR_H
#define PETAL_TOOLS_SHELL_EVAL_SUCCESSOR_H

#include "tools/shell/text/text.h"

/* Replace the text by the one behind it. */
void text_succeed(struct text *text);

#endif
