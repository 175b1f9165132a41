/* doubles.c -- see doubles.h. */
#include "tools/lines/exact/doubles.h"

#include "tools/lines/exact/parts.h"
#include "tools/lines/records/map.h"

#include <string.h>

enum { PARTS = 128, PREFETCHED = 32 };

/* A hash of those that are known, in open addressing. */
struct slot {
    uint64_t hash;
    uint64_t number; /* of the first record that has it, + 1; 0: free */
};

/* As a bit of its number: somebody asked for it. */
#define HIT (UINT64_C(1) << 63)

/* At work on a part. */
struct work {
    struct marks *marks, *known;
    struct slot *slots;
    size_t slot_count, most_slots, taken;
    bool any_hit;
};

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

bool
doubles_put(struct doubles *doubles, struct again *again, const struct table *seen,
            const struct batch *batch, size_t i, enum item_role role)
{
    for (; i < batch->count; i++) {
        uint64_t hash = batch->hashes[i];
        bool is_seen;

        table_look_ahead(seen, batch->hashes, i, batch->count);
        is_seen = table_find(seen, batch->records[i], hash) != NULL;
        if (is_seen && again->has_spool && role != ITEM_ASKED)
            continue;
        if (!is_seen) {
            const struct item item = item_make(hash, again->numbers, role);

            if (!spill_put(&doubles->spill, spill_part_of(&doubles->spill, hash, 0), &item,
                           sizeof item))
                return false;
        }
        if (!again_put(again, batch->records[i], is_seen))
            return false;
    }
    return true;
}

/* Slots for so many hashes, if they fit. */
static void
clear(struct work *work, uint64_t hashes)
{
    work->slot_count = 1024;
    while (work->slot_count / 4 * 3 < hashes && work->slot_count < work->most_slots)
        work->slot_count *= 2;
    work->taken = 0;
    work->any_hit = false;
    memset(work->slots, 0, work->slot_count * sizeof *work->slots);
}

/* That of the hash, or the free one where it belongs. */
static struct slot *
find(const struct work *work, uint64_t hash)
{
    size_t mask = work->slot_count - 1, at = hash & mask;

    while (work->slots[at].number != 0 && work->slots[at].hash != hash)
        at = (at + 1) & mask;
    return &work->slots[at];
}

/* Somebody asks for what is in the slot. */
static bool
hit(struct work *work, struct slot *slot, const struct item *item)
{
    if ((slot->number & HIT) == 0) {
        if (item_role(item) == ITEM_BOTH && !marks_add(work->marks, slot->number - 1))
            return false;
        slot->number |= HIT;
        work->any_hit = true;
    }
    return marks_add(work->marks, item_number(item));
}

static enum parts_outcome
enter(struct work *work, const struct item *item)
{
    struct slot *slot = find(work, item->hash);

    if (slot->number != 0)
        return item_role(item) == ITEM_KNOWN || hit(work, slot, item) ? PARTS_DONE : PARTS_FAILED;
    if (item_role(item) == ITEM_ASKED)
        return PARTS_DONE;
    if (work->taken >= work->slot_count / 4 * 3)
        return PARTS_TOO_LARGE;
    work->taken++;
    *slot = (struct slot){item->hash, item_number(item) + 1};
    return PARTS_DONE;
}

/* After all items of a part: was this one asked for? */
static enum parts_outcome
tell_known(struct work *work, const struct item *item)
{
    if (item_role(item) != ITEM_KNOWN || (find(work, item->hash)->number & HIT) == 0)
        return PARTS_DONE;
    return marks_add(work->known, item_number(item)) ? PARTS_DONE : PARTS_FAILED;
}

typedef enum parts_outcome (*item_step)(struct work *work, const struct item *item);

static enum parts_outcome
each_of_some(struct work *work, const struct item *items, size_t count, item_step step)
{
    size_t mask = work->slot_count - 1;

    for (size_t from = 0; from < count; from += PREFETCHED) {
        size_t to = from + PREFETCHED < count ? from + PREFETCHED : count;

        for (size_t i = from; i < to; i++)
            __builtin_prefetch(&work->slots[items[i].hash & mask]);
        for (size_t i = from; i < to; i++) {
            enum parts_outcome outcome = step(work, &items[i]);

            if (outcome != PARTS_DONE)
                return outcome;
        }
    }
    return PARTS_DONE;
}

static enum parts_outcome
each(struct work *work, struct spill *spill, unsigned part, item_step step)
{
    struct spill_stream stream;
    enum parts_outcome outcome = PARTS_DONE;
    const char *bytes;
    size_t size;

    if (!spill_stream_open(&stream, spill, part))
        return PARTS_FAILED;
    do {
        if (!spill_take_some(&stream, &bytes, &size))
            outcome = PARTS_FAILED;
        else /* Chunks begin at pages, and items after their headers of 16 bytes. */
            outcome = each_of_some(work, (const struct item *)(const void *)bytes,
                                   size / sizeof(struct item), step);
    } while (outcome == PARTS_DONE && size > 0);
    spill_stream_close(&stream);
    return outcome;
}

static enum parts_outcome
take(void *argument, struct spill *spill, unsigned part)
{
    struct work *work = argument;
    enum parts_outcome outcome;

    clear(work, spill_bytes(spill, part) / sizeof(struct item));
    outcome = each(work, spill, part, enter);
    if (outcome != PARTS_DONE || work->known == NULL || !work->any_hit)
        return outcome;
    return each(work, spill, part, tell_known);
}

static bool
copy(struct spill_stream *from, struct spill *to, unsigned level, bool *more)
{
    struct item item;
    const char *bytes;

    if (!spill_take(from, sizeof item, &bytes))
        return false;
    *more = bytes != NULL;
    if (!*more)
        return true;
    memcpy(&item, bytes, sizeof item);
    return spill_put(to, spill_part_of(to, item.hash, level), &item, sizeof item);
}

bool
doubles_decide(struct doubles *doubles, struct marks *marks, struct marks *known)
{
    static const struct parts_work parts = {take, copy};
    struct work work = {.marks = marks, .known = known, .most_slots = 1024};
    size_t bytes;
    bool fine;

    while (2 * work.most_slots * sizeof *work.slots <= doubles->job->memory_bytes / 2)
        work.most_slots *= 2;
    bytes = work.most_slots * sizeof *work.slots;
    work.slots = map_table(bytes);
    if (work.slots == NULL)
        return job_fail(doubles->job, "out of memory: no table of hashes");
    fine = parts_take(&doubles->spill, &parts, &work);
    unmap_bytes(work.slots, bytes);
    return fine;
}
