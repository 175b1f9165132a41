/* lookup.h -- runs one class of lookup on a table of `kv-bench readamp` and counts what it took. */
#ifndef PETAL_TOOLS_BENCH_READAMP_LOOKUP_H
#define PETAL_TOOLS_BENCH_READAMP_LOOKUP_H

#include "tools/bench/readamp/bed.h"

struct lookup_plan {
    enum readamp_lookup lookup;
    uint64_t gets;          /* of narrow rows; of wide ones and scans there are fewer */
    bool keep_out_of_cache; /* data blocks */
    bool warms_otherwise;   /* by other questions than those that are counted */
};

struct lookup_counts {
    double gets, population; /* reads made; how many different ones there are */
    petal_stats before, after;
    double bytes_returned;
};

/* What the reads added to a number of the statistics. */
#define LOOKUP_GAIN(counts, name) ((double)((counts)->after.name - (counts)->before.name))

/* Which table the class reads. */
enum bed_table lookup_table(enum readamp_lookup lookup);

/* Warm up, then read and count. Each answer is checked. The bed is open. */
void lookup_run(struct bed *bed, const struct lookup_plan *plan, struct lookup_counts *counts);

#endif
