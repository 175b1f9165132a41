/* Reads of tables. A list of names (columns, rows) is each name after its size in four bytes, the
 * lowest first. */
#ifndef TOOLS_PYTHON_NATIVE_READ_H
#define TOOLS_PYTHON_NATIVE_READ_H

#include "tools/python/native/table.h"

/* What becomes of a cell. */
#define PY_TIMESTAMPS 1 /* (value, timestamp), else value */
#define PY_ONE_COLUMN 2 /* a column's colon counts, also before an empty qualifier */

typedef struct py_read {
    py_part *view;       /* a snapshot or a transaction; NULL: as of now */
    const char *columns; /* a list; empty: all. "family:" is the whole family */
    size_t columns_size;
    int64_t time_limit; /* only timestamps below it; PETAL_LATEST: all */
    int32_t versions;   /* 0: 1 */
    uint32_t deadline_ms;
    int shape; /* PY_... */
} py_read;

/* A row: a pickled dict of columns. What is not named here is as in py_read. */
int py_get(py_table *table, const char *row, size_t size, py_part *view, const char *columns,
           size_t columns_size, int64_t time_limit, uint32_t deadline_ms, int shape, py_call *call);

/* Versions of a column: a pickled list. */
int py_cells(py_table *table, const char *row, size_t size, py_part *view, const char *columns,
             size_t columns_size, int64_t time_limit, int32_t versions, uint32_t deadline_ms,
             int shape, py_call *call);

/* Several rows: a pickled list of pairs, without the rows that are empty. */
int py_rows(py_table *table, const char *rows, size_t size, py_part *view, const char *columns,
            size_t columns_size, int64_t time_limit, uint32_t deadline_ms, int shape,
            py_call *call);

typedef struct py_scan {
    py_read read;
    const char *start, *stop, *prefix, *filter; /* filter: its text, or NULL */
    size_t start_size, stop_size, prefix_size, filter_size;
    uint64_t row_limit; /* 0: none */
    uint64_t batch;     /* cells in a piece of a row; 0: whole rows */
    bool reversed;
} py_scan;

int py_scan_open(py_table *table, const py_scan *scan, py_part **part, petal_error *error);

/*
 * The next rows of a scan, at most `most` and about `bytes`: a pickled list of pairs, empty at the
 * end. After PETAL_TIMEOUT the next call continues where this one ended; any other failure comes
 * after the rows before it.
 */
int py_scan_next(py_part *part, size_t most, size_t bytes, py_call *call);

#endif
