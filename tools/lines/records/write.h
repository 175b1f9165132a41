/* write.h -- those records of a batch that are wanted. */
#ifndef PETAL_TOOLS_LINES_RECORDS_WRITE_H
#define PETAL_TOOLS_LINES_RECORDS_WRITE_H

#include "tools/lines/records/writer.h"

/* Of records that lie one after the other, with their delimiters, those whose mark is `mark`. Adds
 * their number to *written. writer NULL: they are only counted. */
bool write_marked(struct writer *writer, const petal_slice *records, size_t count,
                  const bool *marks, bool mark, uint64_t *written);

#endif
