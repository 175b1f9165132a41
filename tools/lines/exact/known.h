/*
 * known.h -- which records of an input were there before, in itself or in another input, byte by
 * byte, in a bounded memory: of an input alone the first of each record is written; next to another
 * one, those records that are in that, or those that are not, as often as they are there. In the
 * order of the input.
 *
 * 1. What is known is held in memory, and what can be said is written at once.
 * 2. When memory is full, no more is written. Of each record that is not in memory the hash is put
 *    away, with its number (doubles.h); of a stream also the record. After the end of the inputs it
 *    is decided which records share their hash with others: candidates. All others are different
 *    from all.
 * 3. The inputs are read again. Candidates of the other input are held in memory in their turn; then
 *    the input itself is written, as far as memory says which of its candidates are known.
 * 4. If candidates do not fit there either, from the first one on that is left open they are put
 *    away with their bytes and compared in parts (repeats.h), and from there on the input is read
 *    once more to be written.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_KNOWN_H
#define PETAL_TOOLS_LINES_EXACT_KNOWN_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

/* The first of each record, from the reader to the writer; writer NULL: they are only counted. */
bool unique_records(struct reader *reader, struct writer *writer, uint64_t *count);

/* Those records of A that are in B; missing: those that are not. */
bool common_records(struct reader *a, struct reader *b, bool missing, struct writer *writer);

#endif
