/*
 * cell_set.h -- sets of cells for tests of what stores cells: added by hand or at random, sorted,
 * with memory of their own.
 */
#ifndef PETAL_TESTS_SUPPORT_CELL_SET_H
#define PETAL_TESTS_SUPPORT_CELL_SET_H

#include "base/cell.h"
#include "tests/support/test_support.h"

/* An empty one is all zeros. */
struct cell_set {
    struct cell *cells;
    size_t count, capacity;
    void **memory; /* the bytes of all cells ever added */
    size_t memory_count;
};

/* Copies.  Family markers get no qualifier, markers no value. */
void cell_set_add(struct cell_set *set, petal_slice row, petal_slice qualifier, petal_slice value,
                  int64_t timestamp, uint64_t sequence, enum petal_cell_type type);
void cell_set_add_text(struct cell_set *set, const char *row, const char *qualifier,
                       const char *value, int64_t timestamp, uint64_t sequence,
                       enum petal_cell_type type);

/* Give the cell that was added last a time to live of its own. */
void cell_set_give_ttl(struct cell_set *set, int64_t ttl_ms);

/* Sort; of cells with the same place and sequence leave one. */
void cell_set_sort(struct cell_set *set);
void cell_set_free(struct cell_set *set); /* leaves it empty */

/* How random cells look.  Small ranges make equal rows, columns and timestamps. */
struct cell_look {
    unsigned cells, rows, qualifiers;                 /* how many different ones there may be */
    unsigned row_bytes, qualifier_bytes, value_bytes; /* up to */
    const char *row_prefix, *qualifier_prefix;
    bool hostile_bytes; /* only 00, 01, 7F, 80 and FF */
    bool extreme_versions, equal_timestamps;
    bool stranger;    /* one more cell that shares no prefix: then many heads are equal */
    unsigned markers; /* percent */
    unsigned ttls;    /* percent; of all lengths */
};

/* Fill an empty set, sorted. */
void cell_set_random(struct cell_set *set, struct test_random *random,
                     const struct cell_look *look);

/* From simple to nasty. */
#define CELL_LOOKS 22
extern const struct cell_look cell_looks[CELL_LOOKS];

/*
 * Small sets that between them make a data block use every array and flag.  Never changed: digests
 * depend on them.
 */
#define CELL_SMALL_SETS 10
struct cell_set cell_set_small(unsigned which);

#endif
