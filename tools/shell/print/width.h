/*
 * width.h -- how many columns of a terminal a text takes: wide characters two, those that combine
 * with the one before none.
 */
#ifndef PETAL_TOOLS_SHELL_PRINT_WIDTH_H
#define PETAL_TOOLS_SHELL_PRINT_WIDTH_H

#include "tools/shell/text/text.h"

#include <stdio.h>

enum { USUAL_WIDTH = 80 };

/* The columns of the terminal that the file is: what the system says, else the variable COLUMNS,
 * else 80. */
unsigned terminal_width(FILE *file);

/* Columns of the UTF-8 character that is taken off; one for a byte that begins none, -1 for a
 * character that is none to be printed. */
int width_take_character(petal_slice *rest, petal_slice *character);

/* 0 where the file is no terminal. */
unsigned terminal_width_or_none(FILE *file);

size_t width_of(petal_slice text);

/* As many whole characters from the beginning as fit into `columns`; *used receives theirs. */
petal_slice width_cut(petal_slice text, size_t columns, size_t *used);

#endif
