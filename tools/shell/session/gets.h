/*
 * gets.h -- what the gets of this session did: to each store file, for stats; and the latest of
 * them, for advise.
 *
 * It comes from the gets' receipts, so it costs the database no counters of its own. Scans are not
 * in it.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_GETS_H
#define PETAL_TOOLS_SHELL_SESSION_GETS_H

#include "engine/petal.h"

enum { HISTORY_GETS = 1000 };

/* Of one store file, by gets. */
struct file_history {
    uint64_t number;
    uint64_t reads; /* gets that read it */
    uint64_t probes, negatives, false_positives;
    uint64_t data_cached, data_fetched, bytes_fetched;
};

/* A get that can be made again. What it points to is one piece of memory behind it. */
struct past_get {
    petal_table *table;
    petal_slice row;
    petal_column *columns;
    size_t column_count;
    bool has_time_range;
    int64_t time_min, time_limit;
    int32_t versions;
};

struct get_history {
    struct file_history *files; /* by number */
    size_t file_count, file_capacity;
    struct past_get *gets[HISTORY_GETS]; /* a ring */
    size_t next;
};

/* A copy of its own; free releases it. */
struct past_get *past_get_new(petal_table *table, petal_slice row, const petal_read_options *read);

void get_history_note(struct get_history *history, petal_table *table, petal_slice row,
                      const petal_read_options *read, const petal_receipt *receipt);
void get_history_free(struct get_history *history);

/* NULL: no get considered its filter or read it. */
const struct file_history *get_history_file(const struct get_history *history, uint64_t number);

#endif
