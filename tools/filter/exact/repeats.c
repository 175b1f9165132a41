/* repeats.c -- see repeats.h. */
#include "tools/filter/exact/repeats.h"

#include <assert.h>
#include <string.h>

enum { PARTS = 128 };

/* Before the bytes of a record that was put. */
struct repeats_item {
    uint64_t hash, number;
    uint64_t size;
};

static size_t
table_bytes(const struct job *job)
{
    return job->memory_bytes / 2;
}

bool
repeats_open(struct repeats *repeats, struct job *job)
{
    *repeats = (struct repeats){.job = job};
    return table_open(&repeats->table, job, table_bytes(job));
}

void
repeats_close(struct repeats *repeats)
{
    table_close(&repeats->table);
    if (repeats->has_spill)
        spill_close(&repeats->spill);
    repeats->has_spill = false;
}

enum repeats_answer
repeats_ask(struct repeats *repeats, petal_slice record, uint64_t hash)
{
    if (table_find(&repeats->table, record, hash) != NULL)
        return REPEATS_REPEATED;
    if (!repeats->is_full && table_add(&repeats->table, record, hash) != NULL)
        return REPEATS_NEW;
    /* No shorter record slips in behind one that did not: it would be new, and the other is open. */
    repeats->is_full = true;
    return REPEATS_OPEN;
}

static bool
put(struct spill *spill, unsigned level, const struct repeats_item *item, const void *bytes)
{
    unsigned part = spill_part_of(spill, item->hash, level);

    return spill_put(spill, part, item, sizeof *item) && spill_put(spill, part, bytes, item->size);
}

bool
repeats_put(struct repeats *repeats, petal_slice record, uint64_t hash, uint64_t number)
{
    const struct repeats_item item = {hash, number, record.size};

    assert(repeats->is_full);
    if (!repeats->has_spill) {
        if (!spill_open(&repeats->spill, repeats->job, repeats->job->memory_bytes / 8, PARTS))
            return false;
        repeats->has_spill = true;
    }
    return put(&repeats->spill, 0, &item, record.data);
}

/* ---- What was put ---------------------------------------------------------------------------- */

/* *bytes NULL: there are no more. */
static bool
take(struct spill_stream *stream, struct repeats_item *item, const char **bytes)
{
    if (!spill_take(stream, sizeof *item, bytes))
        return false;
    if (*bytes == NULL)
        return true;
    memcpy(item, *bytes, sizeof *item);
    return spill_take(stream, item->size, bytes);
}

enum outcome { DECIDED, TOO_MANY, FAILED };

static enum outcome
decide_in_memory(struct table *table, struct spill *spill, unsigned part, struct marks *marks)
{
    struct spill_stream stream;
    struct repeats_item item;
    enum outcome outcome = DECIDED;
    const char *bytes;

    if (!spill_stream_open(&stream, spill, part))
        return FAILED;
    table_clear(table);
    while (outcome == DECIDED) {
        petal_slice record;

        if (!take(&stream, &item, &bytes)) {
            outcome = FAILED;
            break;
        }
        if (bytes == NULL)
            break;
        record = (petal_slice){bytes, item.size};
        if (table_find(table, record, item.hash) != NULL)
            outcome = marks_add(marks, item.number) ? DECIDED : FAILED;
        else if (table_add(table, record, item.hash) == NULL)
            outcome = TOO_MANY;
    }
    spill_stream_close(&stream);
    return outcome;
}

static bool
split(struct spill *spill, unsigned part, struct spill *into, unsigned level)
{
    struct spill_stream stream;
    struct repeats_item item;
    const char *bytes;
    bool fine;

    if (!spill_stream_open(&stream, spill, part))
        return false;
    do
        fine = take(&stream, &item, &bytes) && (bytes == NULL || put(into, level, &item, bytes));
    while (fine && bytes != NULL);
    spill_stream_close(&stream);
    return fine && spill_seal(into);
}

static bool decide_parts(struct table *table, struct spill *spill, unsigned level,
                         struct marks *marks);

/* By further bits of the hashes. */
static bool
decide_split(struct table *table, struct spill *spill, unsigned part, unsigned level,
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
decide_parts(struct table *table, struct spill *spill, unsigned level, struct marks *marks)
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
repeats_decide(struct repeats *repeats, struct marks *marks)
{
    struct table table;
    bool fine;

    table_close(&repeats->table);
    if (!repeats->has_spill)
        return true;
    if (!spill_seal(&repeats->spill) ||
        !table_open(&table, repeats->job, table_bytes(repeats->job)))
        return false;
    fine = decide_parts(&table, &repeats->spill, 0, marks);
    table_close(&table);
    return fine;
}
