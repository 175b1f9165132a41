/* values.h -- values of options: for `take` of struct command_option, each to the type it names;
 * and the names of kinds of filters. */
#ifndef PETAL_TOOLS_LINES_JOB_VALUES_H
#define PETAL_TOOLS_LINES_JOB_VALUES_H

#include "bloom/petal_bloom.h"

#include <stdbool.h>

/* A number of bytes, "256M", to a size_t; the letters K, M, G, T mean powers of 1024. */
#define VALUE_SIZE_WANTS "a number of bytes, such as 64M or 2G"
bool value_take_size(void *argument, char *value);

/* A count from 1 on, "1000000", "1_000_000", "1e6", "1.5M", to a uint64_t; the letters K, M, G, T
 * mean powers of 1000. */
#define VALUE_COUNT_WANTS "a number from 1 on, such as 1000000, 1_000_000, 1e6 or 1.5M"
bool value_take_count(void *argument, char *value);

/* A part of 1, "0.01" or "1%", to a double. */
#define VALUE_RATE_WANTS "a part between 0 and 1, such as 0.01 or 1%"
bool value_take_rate(void *argument, char *value);

/* The kinds that filters have, by their numbers. */
#define FIRST_KIND PETAL_BLOOM_KIND_BLOCKED
#define LAST_KIND  PETAL_BLOOM_KIND_RIBBON

/* "a kind" for a number that is none. */
const char *kind_name(enum petal_bloom_kind kind);

/* For `take` of struct command_option, to an enum petal_bloom_kind; in letters of either case. */
#define KIND_WANTS "BLOCKED, COUNTING, GROWING or RIBBON"
bool kind_take(void *argument, char *value);

#endif
