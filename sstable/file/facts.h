/*
 * facts.h -- struct file_facts (format.h) as bytes, and its gathering while a file is written.
 *
 * FACTS BLOCK (little endian):
 *
 *     offset size
 *      0     8   cells
 *      8     8   rows
 *     16    40   cells by type, 8 each: puts, versions of a column deleted (8), families at a
 *                timestamp (10), columns (12), families (14); their sum is `cells`
 *     56     8   least timestamp; at most 0 when there are markers of types 12 or 14, since they
 *                hide older cells
 *     64     8   greatest timestamp
 *     72     8   least sequence
 *     80     8   greatest sequence
 *     88     8   data blocks
 *     96     8   bytes of the data blocks as stored, with frames
 *    104     8   the same before compression, without frames
 *    112     8   bytes of the nodes of both indexes as stored, with frames
 *    120     8   bytes of the Bloom chunks as stored, with frames
 *    128     8   filter: keys
 *    136     8   filter: chunks
 *    144     8   filter: salt of the hashes
 *    152     8   filter: error rate, an IEEE 754 double
 *    160     1   filter: enum petal_bloom_type
 *    161     1   filter: enum bloom_layout that was asked for; each chunk has its own in its footer
 *    162     2   filter: version of the hash
 *    164     4   size that data blocks were closed at
 *    168     1   enum petal_compression
 *    169     1   1: the qualifiers are exact, 0: they are many and not recorded
 *    170     2   number of qualifiers
 *    172     4   where the rows begin: bytes of the numbers and names
 *    176     8   least timestamp of a put; INT64_MAX when there is none
 *    184     8   cells with a time to live of their own
 *    192     4   filter: bytes of a row's prefix, with ROW_PREFIX; else 0
 *    196     4   0
 *    200     8   when the file was begun, milliseconds since 1970; 0: not known
 *    208     8   when the first of the cells with a time to live of their own dies: timestamp +
 *                time to live, or the least or greatest number where the sum is beyond it; 0 when
 *                there is none
 *    216     8   when the last of them dies
 *    224     1   bits 0 to 6: enum file_origin; unknown numbers are treated as UNKNOWN
 *                bit 7: no column has more than one cell
 *    225     7   0
 *    where the table and family of the file are given (struct file_owner), before the rows:
 *    232     4   id of the table
 *    236     2   id of the family
 *    238     1   bytes of the family's name
 *    239     1   bytes of the table's name
 *    240         the family's name, the table's name
 *    where the rows begin: least row, greatest row, each qualifier in ascending order:
 *    varint length, bytes
 *
 * EXTENSION.  A later writer may put more numbers before the rows; a reader skips those that it
 * does not know.
 */
#ifndef PETAL_SSTABLE_FILE_FACTS_H
#define PETAL_SSTABLE_FILE_FACTS_H

#include "base/cell.h"
#include "base/kept_cell.h"
#include "base/mem.h"
#include "sstable/file/qualifier_set.h"

/* ---- gathering ---- */

struct facts_gatherer {
    const petal_allocator *allocator;
    struct file_facts facts; /* rows and qualifiers are set by facts_gatherer_finish */
    struct qualifier_set qualifiers;
    struct kept_cell first, last;
};

/* What a cell is to the one before it; the first one is NEW_ROW.  The family markers of a row are
 * one column. */
enum succession { OUT_OF_ORDER, SAME_COLUMN, NEW_COLUMN, NEW_ROW };

void facts_gatherer_init(struct facts_gatherer *gatherer, const petal_allocator *allocator);
void facts_gatherer_fini(struct facts_gatherer *gatherer);

enum succession facts_gatherer_succession(const struct facts_gatherer *gatherer,
                                          const struct cell *cell);

/* REQUIRES: `succession` is the cell's, and not OUT_OF_ORDER. */
enum petal_status facts_gatherer_add(struct facts_gatherer *gatherer, const struct cell *cell,
                                     enum succession succession);

/* Complete gatherer->facts, which point into the gatherer. */
void facts_gatherer_finish(struct facts_gatherer *gatherer);

/* ---- bytes ---- */

size_t facts_encoded_bytes(const struct file_facts *facts);
void facts_encode(const struct file_facts *facts, uint8_t *to);

/*
 * Decode and check.  Slices point into `bytes`; the array of qualifiers is allocated, facts_fini
 * releases it. PETAL_CORRUPT: *what says what is wrong.
 */
enum petal_status facts_decode(struct file_facts *facts, petal_slice bytes,
                               const petal_allocator *allocator, const char **what);
void facts_fini(struct file_facts *facts, const petal_allocator *allocator);

/* Whether one of the cells has this qualifier, by the recorded ones; true when they are not
 * exact. */
bool facts_may_have_qualifier(const struct file_facts *facts, petal_slice qualifier);

#endif
