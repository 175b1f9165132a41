/*
 * glance.h -- the one screen of `kv-bench readamp` without options: lookups down, filters across,
 * for each a bar of what was measured with what was expected, and what HBase read, below it; and a
 * sentence made of these figures.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_GLANCE_H
#define PETAL_TOOLS_BENCH_READAMP_GLANCE_H

#include "tools/bench/readamp/model.h"

#include <stdbool.h>
#include <stdio.h>

#define GLANCE_LOOKUPS 8
#define GLANCE_FILTERS 4 /* the first is NONE, to which the bars of a lookup are drawn */

struct glance_cell {
    double measured, expected; /* data blocks a lookup */
    double hbase;              /* NAN: not known */
    bool outside;              /* not as expected */
};

struct glance_lookup {
    const char *name;
    enum readamp_answer answer;
};

struct glance {
    struct glance_lookup lookups[GLANCE_LOOKUPS]; /* some with each answer */
    const char *filters[GLANCE_FILTERS];
    struct glance_cell cells[GLANCE_LOOKUPS][GLANCE_FILTERS];
    double files, rate;             /* of filters' errors */
    double most_block, least_block; /* bytes that data blocks are cut at; the scan has the least */
};

struct glance_style {
    bool blocks; /* bars of block characters, in UTF-8; else of # */
    bool faint;  /* what is below bars is fainter, by the escape sequences of terminals */
};

/* As the locale and the kind of file ask for. */
struct glance_style glance_style_of(FILE *file);

/* The screen; it has at most 24 lines of at most 80 columns. */
void glance_print(const struct glance *glance, struct glance_style style, FILE *file);

#endif
