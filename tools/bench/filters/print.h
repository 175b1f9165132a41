/* print.h -- what filters came to, for people. */
#ifndef PETAL_TOOLS_BENCH_FILTERS_PRINT_H
#define PETAL_TOOLS_BENCH_FILTERS_PRINT_H

#include "tools/bench/filters/measure.h"

/* Of one rate, each kind with few keys and with many. */
struct filters_table {
    double rate;
    uint64_t few_keys, many_keys;
    size_t count, repeats;
    struct filters_bed *few, *many; /* `count` each, of the same kinds */
};

/* What the columns mean. */
void filters_print_heading(void);

/* A line for each kind, and one for each thing that is not as it has to be. */
void filters_print_table(const struct filters_table *table);

/* Bits a key with many keys as bars. */
void filters_print_bars(const struct filters_table *table);

#endif
