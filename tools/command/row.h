/*
 * row.h -- rows as they are printed, and typed: \xHH for bytes that cannot be, and for the
 * backslash, or \\.
 */
#ifndef PETAL_TOOLS_COMMAND_ROW_H
#define PETAL_TOOLS_COMMAND_ROW_H

#include "engine/petal.h"

/* The bytes that a text stands for, which take its place; false: some backslash begins neither. */
bool row_read(char *text, petal_slice *row);

/* For an option's value, which is not empty: row_read, to a petal_slice. */
bool row_take(void *argument, char *value);

#endif
