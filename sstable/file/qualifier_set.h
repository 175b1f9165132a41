/*
 * qualifier_set.h -- the distinct qualifiers of a file while it is written: exact up to
 * FACTS_MAX_QUALIFIERS of them and FACTS_MAX_QUALIFIER_BYTES together, then "many".
 *
 * Owns copies of the qualifiers.  Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_FILE_QUALIFIER_SET_H
#define PETAL_SSTABLE_FILE_QUALIFIER_SET_H

#include "base/mem.h"
#include "sstable/block/format.h"

struct qualifier_set {
    bool exact;
    uint32_t count;
    uint32_t last; /* index of the one added or found last: rows repeat their columns in order */
    size_t bytes_used;
    uint8_t *bytes;      /* FACTS_MAX_QUALIFIER_BYTES, NULL before the first */
    petal_slice *slices; /* sorted, into `bytes`; room for FACTS_MAX_QUALIFIERS */
};

/* Allocates nothing. */
void qualifier_set_init(struct qualifier_set *set);
void qualifier_set_fini(struct qualifier_set *set, const petal_allocator *allocator);

enum petal_status qualifier_set_add(struct qualifier_set *set, const petal_allocator *allocator,
                                    petal_slice qualifier);

/* Index of the first of `count` sorted qualifiers that is not below. */
uint32_t qualifiers_lower_bound(const petal_slice *qualifiers, uint32_t count,
                                petal_slice qualifier);

#endif
