/*
 * facts.h -- struct file_facts (format.h) as bytes (sstable/FORMAT.md, "Facts block"), and
 * its gathering while a file is written.
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
