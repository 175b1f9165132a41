/*
 * maker.h -- what the makers of random operations share (tests/model/operation.h).
 *
 * CALM lists hold nothing whose answer depends on when something is flushed or compacted: so they
 * can run beside background work, and go on after a crash whose recovery has flushed what it liked.
 * There are two kinds. In a roomy one VERSIONS is so large that no version is ever surplus, and
 * MIN_VERSIONS is 0; then versions may be deleted one by one, and reads have time ranges. In the
 * other VERSIONS is small, and neither is done. In both no put is written that an earlier marker
 * hides, cells have no time to live of their own, attributes of a family stay as they are, and raw
 * scans are left out.
 */
#ifndef PETAL_TESTS_MODEL_MAKER_H
#define PETAL_TESTS_MODEL_MAKER_H

#include "tests/model/operation.h"

struct maker {
    struct test_random random;
    unsigned features;
    size_t rows, qualifiers; /* a list uses so many of them: few for many meetings */
    unsigned tables;
    int64_t now_ms;
    bool dense; /* two columns of two rows, three timestamps, and markers of all kinds among them */
    int64_t granule; /* explicit timestamps are multiples of it */
    uint64_t values; /* made so far */
    bool in_transaction;
    /* The clock rests for so many operations, and many of them increment and write one column: so
     * timestamps run ahead of it. */
    unsigned rest;
    struct model_bytes hot_row, hot_qualifier;
    unsigned hot_family;
    /* Calm lists: puts are up to CALM_PAST_MS old, and markers that hide more than one version
     * older than that; else all of them are of the time of their write. */
    bool calm, roomy, past_puts;
    struct model_family calm_families[MODEL_FAMILIES];
};

#define CALM_PAST_MS    500
#define PICK_ROWS       10
#define PICK_QUALIFIERS 5

static inline uint64_t
below(struct maker *maker, uint64_t limit)
{
    return test_random_below(&maker->random, limit);
}

static inline bool
chance(struct maker *maker, unsigned percent)
{
    return test_random_chance(&maker->random, percent);
}

static inline bool
has(const struct maker *maker, enum operation_feature feature)
{
    return (maker->features & feature) != 0;
}

/* Mostly the first, so that it meets much. */
unsigned pick_table(struct maker *maker);

struct model_bytes pick_row(struct maker *maker);
struct model_bytes pick_qualifier(struct maker *maker);

/* Mostly of the last few granules, at times ahead of the clock. */
int64_t pick_timestamp(struct maker *maker);
void pick_range(struct maker *maker, int64_t *time_min, int64_t *time_limit);

/* Whether reads may have a time range, at so many per cent. */
bool chance_of_range(struct maker *maker, unsigned percent);

/* Mostly a number that no value had before, or one that some value had. */
struct model_bytes pick_value(struct maker *maker, bool again);

/* ---- Operations, whose time and table are chosen ---- */

void pick_write(struct maker *maker, struct operation *operation);
void pick_key_value(struct maker *maker, struct operation *operation);
void pick_delete_rows(struct maker *maker, struct operation *operation);
/* Of a read of one row. */
void pick_filter_of_row(struct maker *maker, struct model_filter *filter);

void pick_get(struct maker *maker, struct operation *operation);
void pick_scan(struct maker *maker, struct operation *operation);

/* Of a scan: mostly over all that there is, so that moves meet many rows and families. */
void pick_cursor(struct maker *maker, struct operation *operation);

void pick_family(struct maker *maker, struct model_family *family);

/* At times without some family, and READONLY now and then. */
void pick_schema(struct maker *maker, bool may_lack, struct model_schema *schema);

/* False: the list has none. */
bool pick_table_change(struct maker *maker, struct operation *operation);
void pick_maintenance(struct maker *maker, struct operation *operation);

#endif
