/*
 * table.c -- see table.h.
 *
 * Open addressing: a slot holds 24 bits of the hash above the 40 bits of the entry's offset, so that
 * most slots of other records are passed without a look at their bytes. Slots are doubled when three
 * of four are taken, if old and new ones fit beside the entries.
 */
#include "tools/filter/exact/table.h"

#include "tools/filter/exact/map.h"
#include "tools/filter/records/hash.h"

#include <assert.h>
#include <string.h>

enum { HEADER_BYTES = 12, OFFSET_BITS = 40, LEAST_SLOTS = 512 };

#define MOST_ENTRY_BYTES (UINT64_C(1) << OFFSET_BITS)

bool
table_open(struct table *table, struct job *job, size_t most_bytes)
{
    if (most_bytes > MOST_ENTRY_BYTES)
        most_bytes = MOST_ENTRY_BYTES;
    *table = (struct table){.job = job, .most_bytes = most_bytes, .slot_count = LEAST_SLOTS};
    table->used = HEADER_BYTES; /* offset 0 is that of no entry */
    table->entries = map_bytes(most_bytes);
    table->slots = map_table(table->slot_count * sizeof *table->slots);
    if (table->entries != NULL && table->slots != NULL)
        return true;
    table_close(table);
    return job_fail(job, "out of memory: %zu bytes for a table of records", most_bytes);
}

void
table_close(struct table *table)
{
    unmap_bytes(table->entries, table->most_bytes);
    unmap_bytes(table->slots, table->slot_count * sizeof *table->slots);
    table->entries = NULL;
    table->slots = NULL;
}

void
table_clear(struct table *table)
{
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    table->used = HEADER_BYTES;
    table->records = 0;
}

static uint64_t
tag_of(uint64_t hash)
{
    return hash << (64 - 24 - 24) & ~(MOST_ENTRY_BYTES - 1); /* bits 24 to 47 */
}

static struct table_entry *
entry_at(const struct table *table, uint64_t slot)
{
    return (struct table_entry *)(table->entries + (slot & (MOST_ENTRY_BYTES - 1)));
}

petal_slice
table_record(const struct table_entry *entry)
{
    uint32_t size;

    memcpy(&size, (const char *)entry + sizeof(uint64_t), sizeof size);
    return (petal_slice){(const char *)entry + HEADER_BYTES, size};
}

uint64_t
table_number(const struct table_entry *entry)
{
    uint64_t number;

    memcpy(&number, entry, sizeof number);
    return number;
}

void
table_set_number(struct table_entry *entry, uint64_t number)
{
    memcpy(entry, &number, sizeof number);
}

struct table_entry *
table_find(const struct table *table, petal_slice record, uint64_t hash)
{
    size_t mask = table->slot_count - 1;
    uint64_t tag = tag_of(hash);

    for (size_t at = hash & mask; table->slots[at] != 0; at = (at + 1) & mask) {
        struct table_entry *entry;
        petal_slice there;

        if ((table->slots[at] & ~(MOST_ENTRY_BYTES - 1)) != tag)
            continue;
        entry = entry_at(table, table->slots[at]);
        there = table_record(entry);
        if (there.size == record.size && memcmp(there.data, record.data, record.size) == 0)
            return entry;
    }
    return NULL;
}

static void
enter(struct table *table, uint64_t hash, size_t offset)
{
    size_t mask = table->slot_count - 1, at = hash & mask;

    while (table->slots[at] != 0)
        at = (at + 1) & mask;
    table->slots[at] = tag_of(hash) | offset;
}

struct table_entry *
table_next(const struct table *table, struct table_entry *entry)
{
    char *next = table->entries + HEADER_BYTES;

    if (entry != NULL)
        next = (char *)entry + HEADER_BYTES + table_record(entry).size;
    return next < table->entries + table->used ? (struct table_entry *)next : NULL;
}

/* False: it would not fit. */
static bool
double_slots(struct table *table)
{
    size_t old_count = table->slot_count, old_bytes = old_count * sizeof *table->slots;
    uint64_t *old = table->slots, *slots;

    if (table->used + 3 * old_bytes > table->most_bytes)
        return false;
    slots = map_table(2 * old_bytes);
    if (slots == NULL)
        return false;
    table->slots = slots;
    table->slot_count = 2 * old_count;
    for (struct table_entry *entry = table_next(table, NULL); entry != NULL;
         entry = table_next(table, entry)) {
        petal_slice record = table_record(entry);
        uint64_t hash;

        hash_records(table->job, &record, 1, &hash);
        enter(table, hash, (size_t)((char *)entry - table->entries));
    }
    unmap_bytes(old, old_bytes);
    return true;
}

struct table_entry *
table_add(struct table *table, petal_slice record, uint64_t hash)
{
    size_t slot_bytes, offset = table->used;
    const uint64_t number = 0;
    uint32_t size = (uint32_t)record.size;

    assert(record.size <= UINT32_MAX);
    if (table->records >= table->slot_count / 4 * 3 && !double_slots(table))
        return NULL;
    slot_bytes = table->slot_count * sizeof *table->slots;
    if (slot_bytes + table->used + HEADER_BYTES + record.size > table->most_bytes)
        return NULL;
    memcpy(table->entries + offset, &number, sizeof number);
    memcpy(table->entries + offset + sizeof number, &size, sizeof size);
    memcpy(table->entries + offset + HEADER_BYTES, record.data, record.size);
    table->used += HEADER_BYTES + record.size;
    table->records++;
    enter(table, hash, offset);
    return (struct table_entry *)(table->entries + offset);
}
