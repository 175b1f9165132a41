/* value.h -- values of options that are numbers: for `take` of struct command_option, each to the
 * type it names. */
#ifndef PETAL_TOOLS_COMMAND_VALUE_H
#define PETAL_TOOLS_COMMAND_VALUE_H

#include <stdbool.h>

/* A number of bytes from 1 on, "256M", to a size_t; the letters K, M, G, T mean powers of 1024. */
#define VALUE_SIZE_WANTS "a number of bytes, such as 64M or 2G"
bool value_take_size(void *argument, char *value);

/* A count from 1 on, "1000000", "1_000_000", "1e6", "1.5M", to a uint64_t; the letters K, M, G, T
 * mean powers of 1000. */
#define VALUE_COUNT_WANTS "a number from 1 on, such as 1000000, 1_000_000, 1e6 or 1.5M"
bool value_take_count(void *argument, char *value);

/* A part of 1, "0.01" or "1%", to a double. */
#define VALUE_RATE_WANTS "a part between 0 and 1, such as 0.01 or 1%"
bool value_take_rate(void *argument, char *value);

#endif
