/*
 * wrap.h -- texts in lines of a width, cut at words.
 */
#ifndef PETAL_TOOLS_SHELL_PRINT_WRAP_H
#define PETAL_TOOLS_SHELL_PRINT_WRAP_H

#include "tools/shell/text/text.h"

#include <stdio.h>

/* Add a paragraph, without the end of its last line; lines after the first begin with `indent`
 * blanks.  A word that is longer than a line stands alone in one. */
void wrap_add(struct text *text, petal_slice paragraph, unsigned width, unsigned indent);

/* Print lines, those that are wider than `width` (0: none is) cut at words; a line that a caret
 * stands under is left as it is. */
void wrap_print(FILE *file, petal_slice text, unsigned width);

/* Add an example, a command or several lines of one, so that it can still be typed: its comment
 * stands in a line before what is too wide with it, and a line ends only after a comma outside
 * quotes. */
void wrap_add_example(struct text *text, petal_slice example, unsigned width);

#endif
