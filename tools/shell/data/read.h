/* read.h -- running queries, for the commands that read, count and explain. */
#ifndef PETAL_TOOLS_SHELL_DATA_READ_H
#define PETAL_TOOLS_SHELL_DATA_READ_H

#include "tools/shell/data/query.h"

/* What a query found. */
struct read_counts {
    uint64_t rows, cells;
    uint64_t pieces; /* of a scan: what it tells as rows, see tools/shell/data/query.h */
};

/* Run a get or a scan; print its cells if `show`. */
enum shell_status read_get(struct session *session, const struct query *query, bool show,
                           struct read_counts *counts);
enum shell_status read_scan(struct session *session, const struct query *query, bool show,
                            struct read_counts *counts);

/* Open the cursor of a scan or count; *status is what is wrong with the query's keys together. */
enum petal_status read_open_cursor(struct session *session, const struct query *query,
                                   petal_cursor **cursor, enum shell_status *status,
                                   petal_error *error);

/* Rows as a cursor passes them. */
struct row_counter {
    struct text row; /* the last one */
    uint64_t rows, cells;
};

/* Count a cell; was it the first of its row? */
bool read_count_cell(struct row_counter *counter, const petal_cell *cell);

/*
 * Fail since there was a signal, with how far it came and how to go on.  `done` is what became of
 * the rows.  Of those that are `finished` the last one need not be met again; else some of its
 * cells may be missing.
 */
enum shell_status read_fail_interrupted(struct session *session, const struct query *query,
                                        const struct row_counter *counter, const char *done,
                                        bool finished);

#endif
