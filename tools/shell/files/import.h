/*
 * import.h -- import: a file on its way into a table, in jobs of one batch each
 * (tools/shell/files/pipeline.h).
 *
 * tools/shell/files/import.c runs the jobs and writes their batches; what fills a batch is a
 * source: the records of csv and tsv (tools/shell/files/import_records.c), or cells, one a line
 * (tools/shell/files/import_cells.c).
 */
#ifndef PETAL_TOOLS_SHELL_FILES_IMPORT_H
#define PETAL_TOOLS_SHELL_FILES_IMPORT_H

#include "tools/shell/files/cell.h"
#include "tools/shell/files/intake.h"

#include <pthread.h>

struct import_job {
    petal_batch *batch;
    uint64_t records, cells, bad;
    uint64_t bytes_read;    /* of the file, up to the job's end */
    uint64_t first_line;    /* of the job */
    struct text complaints; /* about its bad lines, for standard error */
    bool flush;             /* the table, after the batch */
    bool stop;              /* the input ends here: `failure` says why */
    bool at_line;           /* it is a mistake in a line, which the message names */
    enum shell_status failure;
    struct text message;

    struct text block; /* of cells: whole lines */
    struct cell_parser parser;
    petal_family *family; /* of the last cell */
    bool has_ttl;         /* the batch's mutation at hand has one: */
    int64_t ttl_ms;
};

struct import {
    struct intake intake;
    double begun;
    uint64_t records, cells, bad; /* written, or passed over */

    /* Of the source; used by `read` alone, but for what it sets once, before the first job is
     * worked on. */
    struct cell_parser header; /* of a file of cells */
    struct text carry;         /* the beginning of a line, for the next job */
    struct text script_table;  /* hbase: that the first command names */
    uint64_t lines, bytes_read;
    uint64_t read_records, read_bad;
    bool at_end;

    pthread_mutex_t making; /* held by who looks for a family that --create may have to make */
    bool made;              /* the table */

    bool started;                     /* jobs were run, and counts mean something */
    const struct import_job *stopped; /* the job that ended the import */
    uint64_t first_missing; /* no line from here on is in the table, all before are; 0: unknown */
    bool interrupted;
    bool failed; /* a write did: `error` */
    petal_error error;
};

/* Sources.  `limit`: bad lines that the job may pass over; the next one stops it. */
bool import_read_records(void *import, void *job);
bool import_read_cells(void *import, void *job);
void import_work_cells(struct import *import, struct import_job *job, uint64_t limit);

/* Is the file one of cells?  Takes its first line if that says so. */
bool import_is_cells(struct import *import);

void import_job_clear(struct import_job *job);

/* The import ends with this job, for this reason. */
void import_job_fail(struct import_job *job, enum shell_status status, const char *message);

#endif
