/* write.h -- those records of a batch that are wanted. */
#ifndef PETAL_TOOLS_FILTER_EXACT_WRITE_H
#define PETAL_TOOLS_FILTER_EXACT_WRITE_H

#include "tools/filter/records/writer.h"

/* Records that lie one behind the other, with their delimiters, but for those that are dropped. Adds
 * their number to *written. writer NULL: they are only counted. */
bool write_unless(struct writer *writer, const petal_slice *records, size_t count,
                  const bool *dropped, uint64_t *written);

#endif
