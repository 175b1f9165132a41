/*
 * query.h -- what a get, scan or count asks for, read from the command's arguments.
 *
 * A query's memory is the arena's, so it ends with the input; its filter is the library's and ends
 * with query_end.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_QUERY_H
#define PETAL_TOOLS_SHELL_DATA_QUERY_H

#include "tools/shell/session/convert.h"

enum query_kind { QUERY_GET, QUERY_SCAN, QUERY_COUNT };

/* 'f:q:toInt': the converter of one column's values. */
struct column_format {
    petal_family *family;
    petal_slice qualifier;
    enum conversion conversion;
};

/* What METRICS can show. */
enum query_metric { METRIC_ROWS_FILTERED = 1, METRIC_ROWS_SCANNED = 2 };

struct query {
    enum query_kind kind;
    petal_table *table;
    petal_slice row;         /* of a get */
    petal_scan_options scan; /* its .read serves a get, too */
    petal_column *columns;   /* what scan.read.columns points to, with room for `capacity` */
    size_t capacity;
    petal_filter *filter;          /* owned; scan.read.filter points to it */
    struct column_format *formats; /* with room for `format_capacity` */
    size_t format_count, format_capacity;
    enum conversion
        format; /* FORMATTER: of rows, columns, and values without a format of their own */
    uint64_t greatest_length; /* MAXLENGTH: characters of a cell to show, 0 for all */
    uint64_t
        piece_bytes;  /* of partial results: a row that goes on after so many counts anew; 0: no */
    unsigned metrics; /* bits of enum query_metric: METRICS, ALL_METRICS */
    int64_t interval; /* of a count's progress, in rows: at least 1 */
};

/*
 * The arguments of get: table, row, then columns and hashes; of scan or count: table, then a hash.
 * query_end follows, also when they failed.
 */
enum shell_status query_read_get(struct session *session, const struct value *arguments,
                                 size_t count, struct query *query);
enum shell_status query_read_scan(struct session *session, enum query_kind kind,
                                  const struct value *arguments, size_t count, struct query *query);
void query_end(struct query *query);

/* Part 'f:q' at its first colon; 'f' and 'f:' have the empty qualifier. */
void column_part(petal_slice column, petal_slice *family, petal_slice *qualifier,
                 bool *has_qualifier);

/* The value of a key in a hash, NULL if there is none or it is nil. */
const struct value *query_given(const struct value *hash, const char *key);

/* Note keys of the hash that are none of the `count` known ones, which HBase ignores in silence. */
void query_note_unknown(struct session *session, const struct value *hash, const char *const *known,
                        size_t count);

/* Fail because of a key's value; `why` says what is wanted. */
enum shell_status query_fail_key(struct session *session, const char *key,
                                 const struct value *value, const char *why);

/* tools/shell/data/query_options.c: the keys of the hash but those of columns and rows. */
enum shell_status query_read_options(struct session *session, struct query *query,
                                     const struct value *hash);

#endif
