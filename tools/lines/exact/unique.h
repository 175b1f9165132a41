/*
 * unique.h -- the first of each record, in the order of the input, byte by byte, in a bounded
 * memory.
 *
 * 1. What was seen is held in memory, and each new record is written at once.
 * 2. When that is full, no more is written. Of each record that is not in memory the hash is put
 *    away, with its number (doubles.h); of a stream also the record. After the end of the input it
 *    is decided which records share their hash with others: candidates. All others are new.
 * 3. The records are read again, and written: what is new, and of candidates those that were not
 *    there before, which are held in memory in their turn.
 * 4. If the candidates do not fit there either, from that place on they are put away with their
 *    bytes and compared in parts (repeats.h), and the records are read once more to be written.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_UNIQUE_H
#define PETAL_TOOLS_LINES_EXACT_UNIQUE_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

/* From the reader to the writer; writer NULL: they are only counted. */
bool unique_records(struct reader *reader, struct writer *writer, uint64_t *count);

#endif
