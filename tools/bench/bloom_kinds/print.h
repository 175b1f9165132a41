/* print.h -- what filters came to, for people. */
#ifndef PETAL_TOOLS_BENCH_BLOOM_KINDS_PRINT_H
#define PETAL_TOOLS_BENCH_BLOOM_KINDS_PRINT_H

#include "tools/bench/bloom_kinds/measure.h"

/* Of one rate, each kind with few keys and with many. */
struct kinds_table {
    double rate;
    uint64_t few_keys, many_keys;
    size_t count, repeats;
    struct kinds_bed *few, *many; /* `count` each, of the same kinds */
};

/* What the columns mean. */
void kinds_print_heading(void);

/* A line for each kind, and one for each thing that is not as it has to be. */
void kinds_print_table(const struct kinds_table *table);

/* Bits a key with many keys as bars. */
void kinds_print_bars(const struct kinds_table *table);

#endif
