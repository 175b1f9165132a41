/*
 * store.h -- records that were seen, in a Petal database: they stay.
 *
 * Table kv-filter.seen, family r. A record of up to 32766 bytes is the row 'r' and the record, of a
 * cell with nothing in it; a longer one is the qualifier of a cell of the row 'h' and its hash, big
 * endian, under the salt 0. The timestamp of these cells is the number of the run that recorded
 * them, from 1 on: a later run's is the newer version, whatever the clock says.
 *
 * The row 'm' has the cell 'l', whose value is the number of the last run, and a cell 'u' and the
 * number of each run that has not finished, all numbers of 64 bits, big endian. What such a run has
 * recorded was not seen, for any run but itself.
 */
#ifndef PETAL_TOOLS_LINES_SEEN_STORE_H
#define PETAL_TOOLS_LINES_SEEN_STORE_H

#include "tools/lines/records/reader.h"

#include "engine/petal.h"

/* No longer record is asked for. */
#define SEEN_MOST_BYTES PETAL_MAX_QUALIFIER_BYTES

struct seen_store {
    struct job *job;
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_batch *batch;
    size_t batch_bytes;
    petal_result *results[READER_BATCH];
    uint64_t run;         /* this one */
    bool keeps_groups;    /* what is committed was seen, however the run ends */
    bool has_begun;       /* the database knows of the run */
    uint64_t *unfinished; /* runs, ascending, without this one */
    size_t unfinished_count;
    char *rows; /* of a question */
    size_t rows_capacity;
};

/* Made if there is none, in a directory that is not there or empty; keeps_groups: see there. On
 * failure there is nothing to close. */
bool seen_open(struct seen_store *store, struct job *job, const char *directory, bool keeps_groups);

/* All that was committed was seen from here on, for later runs, too. */
bool seen_finish(struct seen_store *store);

/* What was not committed is not kept. */
bool seen_close(struct seen_store *store);

/* were_seen[i]: was records[i] committed, by this run or one that finished or keeps groups? Up to
 * READER_BATCH of them. */
bool seen_ask(struct seen_store *store, const petal_slice *records, size_t count, bool *were_seen);

/* To be committed; of a record that was asked for. */
bool seen_add(struct seen_store *store, petal_slice record);

/* All that was added is in the database, whatever ends the process from here on. */
bool seen_commit(struct seen_store *store);

#endif
