/*
 * writes.h -- which rows were written in the millisecond at hand, so that two writes of one row
 * never share a timestamp, and writes of different rows need not wait for each other.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_WRITES_H
#define PETAL_TOOLS_SHELL_SESSION_WRITES_H

#include "tools/shell/text/text.h"

#include <stdint.h>

enum { ROWS_REMEMBERED = 64 };

/* Begins with zeros. */
struct recent_writes {
    int64_t now_ms;
    uint64_t rows[ROWS_REMEMBERED]; /* hashes of what was written in it, the latest one last */
    size_t count;
    bool all; /* any row may have been written */
};

/* Before a write of a row that the store stamps: wait for another millisecond if the row was, or
 * may have been, written in this one. */
void writes_begin_row(struct recent_writes *writes, petal_slice table, petal_slice row);

/* Before a write of rows that nobody knows yet. */
void writes_begin_all(struct recent_writes *writes);

#endif
