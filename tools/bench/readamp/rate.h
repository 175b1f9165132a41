/* rate.h -- the second part of `kv-bench readamp`: what a family's error rate is in the whole store. */
#ifndef PETAL_TOOLS_BENCH_READAMP_RATE_H
#define PETAL_TOOLS_BENCH_READAMP_RATE_H

#include "engine/petal.h"

enum readamp_format { READAMP_TEXT, READAMP_JSON, READAMP_CSV };

struct bench_rate_settings {
    uint64_t rows; /* of each file */
    uint64_t gets;
    double error_rate; /* of the family */
    enum readamp_format format;
};

/* Measure and print, behind other lines, as a member of their JSON object; returns the number of lines outside of what was expected. */
unsigned bench_rate_run(petal_db *db, const struct bench_rate_settings *settings);

#endif
