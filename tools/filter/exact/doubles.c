/* doubles.c -- see doubles.h. */
#include "tools/filter/exact/doubles.h"

#include "tools/filter/exact/map.h"

#include <assert.h>
#include <string.h>

enum { PARTS = 128, PREFETCHED = 32 };

/* The hashes of a part, each once, with the first record that has it; open addressing. */
struct hash_table {
    struct doubles_item *slots; /* number: that of the record + 1; 0: free */
    size_t slot_count, most_slots, taken;
};

/* That a record is marked, as a bit of its slot's number. */
#define MARKED (UINT64_C(1) << 63)

bool
doubles_open(struct doubles *doubles, struct job *job)
{
    doubles->job = job;
    return spill_open(&doubles->spill, job, job->memory_bytes / 8, PARTS);
}

void
doubles_close(struct doubles *doubles)
{
    spill_close(&doubles->spill);
}

/* Slots for so many hashes, if they fit. */
static void
table_reset(struct hash_table *table, uint64_t hashes)
{
    table->slot_count = 1024;
    while (table->slot_count / 4 * 3 < hashes && table->slot_count < table->most_slots)
        table->slot_count *= 2;
    table->taken = 0;
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
}

enum outcome { DECIDED, TOO_MANY, FAILED };

static enum outcome
enter(struct hash_table *table, const struct doubles_item *item, struct marks *marks)
{
    size_t mask = table->slot_count - 1;
    size_t at = item->hash & mask;
    struct doubles_item *slot = &table->slots[at];

    for (; slot->number != 0 && slot->hash != item->hash; slot = &table->slots[at])
        at = (at + 1) & mask;
    if (slot->number == 0) {
        if (table->taken >= table->slot_count / 4 * 3)
            return TOO_MANY;
        table->taken++;
        *slot = (struct doubles_item){item->hash, item->number + 1};
        return DECIDED;
    }
    if ((slot->number & MARKED) == 0) {
        if (!marks_add(marks, slot->number - 1))
            return FAILED;
        slot->number |= MARKED;
    }
    return marks_add(marks, item->number) ? DECIDED : FAILED;
}

static enum outcome
enter_some(struct hash_table *table, const struct doubles_item *items, size_t count,
           struct marks *marks)
{
    size_t mask = table->slot_count - 1;

    for (size_t from = 0; from < count; from += PREFETCHED) {
        size_t to = from + PREFETCHED < count ? from + PREFETCHED : count;

        for (size_t i = from; i < to; i++)
            __builtin_prefetch(&table->slots[items[i].hash & mask]);
        for (size_t i = from; i < to; i++) {
            enum outcome outcome = enter(table, &items[i], marks);

            if (outcome != DECIDED)
                return outcome;
        }
    }
    return DECIDED;
}

static enum outcome
decide_in_memory(struct hash_table *table, struct spill *spill, unsigned part, struct marks *marks)
{
    struct spill_stream stream;
    enum outcome outcome = DECIDED;
    const char *bytes;
    size_t size;

    if (!spill_stream_open(&stream, spill, part))
        return FAILED;
    table_reset(table, spill_bytes(spill, part) / sizeof(struct doubles_item));
    do {
        if (!spill_take_some(&stream, &bytes, &size))
            outcome = FAILED;
        else /* Chunks begin at pages, and items behind their headers of 16 bytes. */
            outcome = enter_some(table, (const struct doubles_item *)(const void *)bytes,
                                 size / sizeof(struct doubles_item), marks);
    } while (outcome == DECIDED && size > 0);
    spill_stream_close(&stream);
    return outcome;
}

/* The part into parts of its own, by further bits of the hashes. */
static bool
split(struct spill *spill, unsigned part, struct spill *into, unsigned level)
{
    struct spill_stream stream;
    struct doubles_item item;
    const char *bytes;
    bool fine;

    if (!spill_stream_open(&stream, spill, part))
        return false;
    while ((fine = spill_take(&stream, sizeof item, &bytes)) && bytes != NULL) {
        memcpy(&item, bytes, sizeof item);
        if (!spill_put(into, spill_part_of(into, item.hash, level), &item, sizeof item)) {
            fine = false;
            break;
        }
    }
    spill_stream_close(&stream);
    return fine && spill_seal(into);
}

static bool decide_parts(struct hash_table *table, struct spill *spill, unsigned level,
                         struct marks *marks);

static bool
decide_split(struct hash_table *table, struct spill *spill, unsigned part, unsigned level,
             struct marks *marks)
{
    struct spill into;
    bool fine;

    if (!spill_has_level(spill, level))
        return job_fail(spill->job, "--memory is too little for so many records");
    if (!spill_open(&into, spill->job, spill->parts * spill->chunk_bytes, spill->parts))
        return false;
    assert(into.parts == spill->parts);
    fine = split(spill, part, &into, level) && decide_parts(table, &into, level, marks);
    spill_close(&into);
    return fine;
}

static bool
decide_parts(struct hash_table *table, struct spill *spill, unsigned level, struct marks *marks)
{
    for (unsigned part = 0; part < spill->parts; part++) {
        enum outcome outcome;

        if (!job_go_on(spill->job, part, spill->parts))
            return job_fail(spill->job, "interrupted: %u of %u parts were compared", part,
                            spill->parts);
        outcome = decide_in_memory(table, spill, part, marks);
        if (outcome == FAILED ||
            (outcome == TOO_MANY && !decide_split(table, spill, part, level + 1, marks)))
            return false;
    }
    return true;
}

bool
doubles_decide(struct doubles *doubles, struct marks *marks)
{
    struct hash_table table = {.most_slots = 1024};
    size_t bytes;
    bool fine;

    if (!spill_seal(&doubles->spill))
        return false;
    while (2 * table.most_slots * sizeof *table.slots <= doubles->job->memory_bytes / 2)
        table.most_slots *= 2;
    bytes = table.most_slots * sizeof *table.slots;
    table.slots = map_table(bytes);
    if (table.slots == NULL)
        return job_fail(doubles->job, "out of memory: no table of hashes");
    fine = decide_parts(&table, &doubles->spill, 0, marks);
    unmap_bytes(table.slots, bytes);
    return fine;
}
