/* map.h -- large pieces of memory, of zeros, that go back to the system when they are given back,
 * and that take none of it where nobody wrote. */
#ifndef PETAL_TOOLS_LINES_RECORDS_MAP_H
#define PETAL_TOOLS_LINES_RECORDS_MAP_H

#include <stddef.h>

/* NULL: there is not so much. */
void *map_bytes(size_t bytes);
/* For what is looked at in no order: in large pages, if the system has them. */
void *map_table(size_t bytes);
/* NULL: nothing. */
void unmap_bytes(void *bytes, size_t size);

#endif
