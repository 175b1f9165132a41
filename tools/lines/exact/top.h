/*
 * top.h -- the most frequent records, counted exactly, in a bounded memory: what came first is
 * counted in memory; when that is full, records that are not in it wait in a temporary file, in
 * parts that are counted one after the other.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_TOP_H
#define PETAL_TOOLS_LINES_EXACT_TOP_H

#include "tools/lines/records/reader.h"

/* The records that occur most often, of many that come one by one; of equally frequent ones those
 * whose bytes come first. */
struct best_record {
    uint64_t count;
    char *bytes;
    size_t size;
};

struct best {
    struct job *job;
    size_t most;                 /* records */
    struct best_record *records; /* a heap, the worst of them first, until they are sorted */
    size_t count, capacity;
    size_t bytes; /* of all, which is no more than a quarter of the job's memory */
};

void best_open(struct best *best, struct job *job, size_t most);
void best_close(struct best *best);

/* Each record once. */
bool best_offer(struct best *best, petal_slice record, uint64_t count);

/* records[0..count): the best first. No more are offered then. */
void best_sort(struct best *best);

/* Offers each different record of the input. */
bool top_records(struct reader *reader, struct best *best);

#endif
