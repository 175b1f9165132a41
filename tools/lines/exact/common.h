/*
 * common.h -- those records of A that are in B, or that are not, byte by byte, in the order of A
 * and as often as they are there, in a bounded memory.
 *
 * 1. B is held in memory. If that is enough, A is read once, and written at once. If it is not, but
 * A,
 *    a file that is smaller, is: A is held in memory, B is read, and A once more.
 * 2. Else of what is not in memory the hashes are put away, of both sides, and it is decided which
 *    records of A have the hash of a record of B, and which records of B that is (doubles.h).
 * 3. Those of B are read again and held in memory, then those of A: what is equal is known. What
 * does
 *    not fit there is put away with its bytes and compared in parts (repeats.h).
 * 4. A is read again, and written.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_COMMON_H
#define PETAL_TOOLS_LINES_EXACT_COMMON_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

/* missing: those that are not in B. */
bool common_records(struct reader *a, struct reader *b, bool missing, struct writer *writer);

#endif
