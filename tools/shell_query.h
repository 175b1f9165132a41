/*
 * shell_query.h -- what a get, scan or count asks for, read from the command's arguments.
 *
 * A query's memory is the arena's, so it ends with the input.
 */
#ifndef PETAL_SHELL_QUERY_H
#define PETAL_SHELL_QUERY_H

#include "tools/shell_session.h"

enum query_kind { QUERY_GET, QUERY_SCAN, QUERY_COUNT };

struct query {
    enum query_kind kind;
    petal_table *table;
    petal_slice row;         /* of a get */
    petal_scan_options scan; /* its .read serves a get, too */
    petal_column *columns;   /* what scan.read.columns points to, with room for `capacity` */
    size_t capacity;
    uint64_t greatest_length; /* MAXLENGTH: characters of a cell to show, 0 for all */
    int64_t interval;         /* of a count's progress, in rows */
};

/* The arguments of get: table, row, then columns and hashes.  `header`: print get's as soon as HBase does. */
enum shell_status query_read_get(struct session *session, const struct value *arguments,
                                 size_t count, bool header, struct query *query);

/* The arguments of scan or count: table, then a hash. */
enum shell_status query_read_scan(struct session *session, enum query_kind kind,
                                  const struct value *arguments, size_t count, bool header,
                                  struct query *query);

/* Part 'f:q' at its first colon; 'f' and 'f:' have the empty qualifier. */
void column_part(petal_slice column, petal_slice *family, petal_slice *qualifier,
                 bool *has_qualifier);

#endif
