/* read.h -- running queries, for the commands that read and for explain. */
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

#endif
