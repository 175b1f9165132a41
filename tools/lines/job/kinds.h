/* kinds.h -- the names of kinds of filters. */
#ifndef PETAL_TOOLS_LINES_JOB_KINDS_H
#define PETAL_TOOLS_LINES_JOB_KINDS_H

#include "bloom/petal_bloom.h"

/* The kinds that filters have, by their numbers. */
#define FIRST_KIND PETAL_BLOOM_KIND_BLOCKED
#define LAST_KIND  PETAL_BLOOM_KIND_RIBBON

/* "a kind" for a number that is none. */
const char *kind_name(enum petal_bloom_kind kind);

/* For `take` of struct command_option, to an enum petal_bloom_kind; in letters of either case. */
#define KIND_WANTS "BLOCKED, COUNTING, GROWING or RIBBON"
bool kind_take(void *argument, char *value);

#endif
