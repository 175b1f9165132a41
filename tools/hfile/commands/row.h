/* row.h -- rows as they are typed: \xHH for bytes that cannot be, and for the backslash, or \\. */
#ifndef PETAL_HFILE_COMMANDS_ROW_H
#define PETAL_HFILE_COMMANDS_ROW_H

#include "engine/petal.h"

/* The bytes that a text stands for, which take its place; false: it is none, or empty. */
bool row_read(char *text, petal_slice *row);

/* For an option's value: row_read, to a petal_slice. */
bool row_take(void *argument, char *value);

#endif
