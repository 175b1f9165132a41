/* key_sort.h -- sorts keys in place, ascending. Pure. */
#ifndef PETAL_TOOLS_LINES_NUMBERS_KEY_SORT_H
#define PETAL_TOOLS_LINES_NUMBERS_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

void key_sort(uint64_t *keys, size_t count);

#endif
