/*
 * table.c -- see table.h.
 *
 * Slots stand in groups of eight, and a record in the group of its hash, or, where that is full, in
 * the next. Of each slot a byte of the hash stands in an array of its own, which is small enough
 * for the processor's caches: most questions for what is not there end with eight bytes of it. A
 * slot itself holds 24 bits of the hash above the 40 bits of the entry's offset. Slots are doubled
 * when three of four are taken, if old and new ones fit next to the entries.
 */
#include "tools/lines/exact/table.h"

#include "bloom/petal_bloom.h"
#include "tools/lines/records/map.h"

#include <assert.h>
#include <string.h>

enum { HEADER_BYTES = 12, OFFSET_BITS = 40, LEAST_SLOTS = 512 };

#define MOST_ENTRY_BYTES (UINT64_C(1) << OFFSET_BITS)

#define GROUP      8
#define EVERY_BYTE UINT64_C(0x0101010101010101)

static size_t
slot_bytes(size_t count)
{
    return count * (sizeof(uint64_t) + 1);
}

static bool
map_slots(struct table *table, size_t count)
{
    uint64_t *slots = map_table(slot_bytes(count));

    if (slots == NULL)
        return false;
    table->slots = slots;
    table->tags = (unsigned char *)(slots + count);
    table->slot_count = count;
    return true;
}

bool
table_open(struct table *table, struct job *job, size_t most_bytes)
{
    if (most_bytes > MOST_ENTRY_BYTES)
        most_bytes = MOST_ENTRY_BYTES;
    *table = (struct table){.job = job, .most_bytes = most_bytes, .used = HEADER_BYTES};
    table->entries = map_bytes(most_bytes);
    if (table->entries != NULL && map_slots(table, LEAST_SLOTS))
        return true;
    table_close(table);
    return job_fail(job, "out of memory: %zu bytes for a table of records", most_bytes);
}

void
table_close(struct table *table)
{
    unmap_bytes(table->entries, table->most_bytes);
    unmap_bytes(table->slots, slot_bytes(table->slot_count));
    table->entries = NULL;
    table->slots = NULL;
}

void
table_clear(struct table *table)
{
    memset(table->tags, 0, table->slot_count);
    table->used = HEADER_BYTES;
    table->records = 0;
}

/* Not 0. */
static unsigned char
byte_of(uint64_t hash)
{
    unsigned char byte = (unsigned char)(hash >> 48);

    return byte > 0 ? byte : 1;
}

static size_t
group_of(const struct table *table, uint64_t hash)
{
    return hash & (table->slot_count - 1) & ~(size_t)(GROUP - 1);
}

static size_t
next_group(const struct table *table, size_t group)
{
    return (group + GROUP) & (table->slot_count - 1);
}

/* The highest bit of a byte of the result is set if one of the bytes, or one below it, is this
 * one. */
static uint64_t
bytes_like(uint64_t bytes, unsigned char byte)
{
    uint64_t different = bytes ^ byte * EVERY_BYTE;

    return (different - EVERY_BYTE) & ~different & 0x80 * EVERY_BYTE;
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

static struct table_entry *
find_in_group(const struct table *table, size_t group, petal_slice record, uint64_t hash)
{
    uint64_t tag = tag_of(hash);

    for (size_t at = group; at < group + GROUP; at++) {
        struct table_entry *entry;
        petal_slice there;

        if (table->tags[at] != byte_of(hash) || (table->slots[at] & ~(MOST_ENTRY_BYTES - 1)) != tag)
            continue;
        entry = entry_at(table, table->slots[at]);
        there = table_record(entry);
        if (there.size == record.size && memcmp(there.data, record.data, record.size) == 0)
            return entry;
    }
    return NULL;
}

struct table_entry *
table_find(const struct table *table, petal_slice record, uint64_t hash)
{
    for (size_t group = group_of(table, hash);; group = next_group(table, group)) {
        uint64_t tags;

        memcpy(&tags, &table->tags[group], sizeof tags);
        if (bytes_like(tags, byte_of(hash)) != 0) {
            struct table_entry *entry = find_in_group(table, group, record, hash);

            if (entry != NULL)
                return entry;
        }
        if (bytes_like(tags, 0) != 0)
            return NULL; /* it would stand here */
    }
}

static void
enter(struct table *table, uint64_t hash, size_t offset)
{
    size_t at = group_of(table, hash), mask = table->slot_count - 1;

    while (table->tags[at] != 0)
        at = (at + 1) & mask;
    table->tags[at] = byte_of(hash);
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
    size_t old_bytes = slot_bytes(table->slot_count);
    uint64_t *old = table->slots;

    if (table->used + 3 * old_bytes > table->most_bytes || !map_slots(table, 2 * table->slot_count))
        return false;
    for (struct table_entry *entry = table_next(table, NULL); entry != NULL;
         entry = table_next(table, entry)) {
        petal_slice record = table_record(entry);

        enter(table, petal_bloom_hash(record, table->job->salt),
              (size_t)((char *)entry - table->entries));
    }
    unmap_bytes(old, old_bytes);
    return true;
}

struct table_entry *
table_add(struct table *table, petal_slice record, uint64_t hash)
{
    size_t offset = table->used;
    const uint64_t number = 0;
    uint32_t size = (uint32_t)record.size;

    assert(record.size <= UINT32_MAX);
    if (table->records >= table->slot_count / 4 * 3 && !double_slots(table))
        return NULL;
    if (slot_bytes(table->slot_count) + offset + HEADER_BYTES + record.size > table->most_bytes)
        return NULL;
    memcpy(table->entries + offset, &number, sizeof number);
    memcpy(table->entries + offset + sizeof number, &size, sizeof size);
    memcpy(table->entries + offset + HEADER_BYTES, record.data, record.size);
    table->used += HEADER_BYTES + record.size;
    table->records++;
    enter(table, hash, offset);
    return (struct table_entry *)(table->entries + offset);
}
