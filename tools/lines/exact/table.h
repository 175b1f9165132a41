/*
 * table.h -- different records in memory, found by hash and compared byte by byte: within a number
 * of bytes that is given, until they are full.
 *
 * To each record belongs a number, 0 at first. One thread at a time.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_TABLE_H
#define PETAL_TOOLS_LINES_EXACT_TABLE_H

#include "tools/lines/job/job.h"

#include "engine/petal.h"

struct table {
    struct job *job;
    size_t most_bytes; /* of entries and slots, old ones next to new ones included */
    char *entries;     /* mapped, most_bytes of them; touched as they fill up */
    size_t used;
    uint64_t *slots; /* a power of two of them, and after them their tags */
    size_t slot_count;
    unsigned char *tags; /* a byte for each slot; 0: it is free */
    uint64_t records;
};

/* An entry: the number, the size and the bytes of a record, not aligned. */
struct table_entry;

bool table_open(struct table *table, struct job *job, size_t most_bytes);
void table_close(struct table *table);
void table_clear(struct table *table);

/* What a question looks at first. */
static inline void
table_fetch(const struct table *table, uint64_t hash)
{
    size_t slot = hash & (table->slot_count - 1);

    __builtin_prefetch(&table->tags[slot]);
    __builtin_prefetch(&table->slots[slot]);
}

/* Of hashes that are asked one after the other, at i: what is asked soon is fetched. */
#define TABLE_AHEAD 24
static inline void
table_look_ahead(const struct table *table, const uint64_t *hashes, size_t i, size_t count)
{
    if (i + TABLE_AHEAD < count)
        __builtin_prefetch(&table->tags[hashes[i + TABLE_AHEAD] & (table->slot_count - 1)]);
}

/* NULL: it is not there. Entries stay where they are until the table is cleared or closed. */
struct table_entry *table_find(const struct table *table, petal_slice record, uint64_t hash);

/* Of a record that is not there; NULL: the table is full. */
struct table_entry *table_add(struct table *table, petal_slice record, uint64_t hash);

uint64_t table_number(const struct table_entry *entry);
void table_set_number(struct table_entry *entry, uint64_t number);
petal_slice table_record(const struct table_entry *entry);

/* One entry after the other, in the order in which they came: NULL gives the first, and is what
 * follows the last. */
struct table_entry *table_next(const struct table *table, struct table_entry *entry);

#endif
