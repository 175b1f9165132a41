/* repeats.c -- see repeats.h. */
#include "tools/lines/exact/repeats.h"

#include "tools/lines/exact/parts.h"

#include <assert.h>
#include <string.h>

enum { PARTS = 128, ITEMS_AHEAD = 8 };

bool
repeats_open(struct repeats *repeats, struct job *job)
{
    *repeats = (struct repeats){.job = job};
    return table_open(&repeats->table, job, job->memory_bytes / 2);
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
    /* No shorter record slips in after one that did not: it would be new, and the other is
     * open. */
    repeats->is_full = true;
    return REPEATS_OPEN;
}

bool
repeats_put(struct repeats *repeats, petal_slice record, uint64_t hash, uint64_t number,
            enum item_role role)
{
    const struct spill_record spilled = {item_make(hash, number, role), record.size};

    assert(repeats->is_full);
    if (!repeats->has_spill) {
        if (!spill_open(&repeats->spill, repeats->job, repeats->job->memory_bytes / 8, PARTS))
            return false;
        repeats->has_spill = true;
    }
    return spill_put_record(&repeats->spill, 0, &spilled, record.data);
}

/* ---- What was put ---------------------------------------------------------------------------- */

/* At work on a part. */
struct work {
    struct table table;
    struct marks *marks;
    size_t ahead; /* in the stream's chunk: where the first record begins that was not looked at */
    unsigned items; /* between what is taken next and that one */
};

/* What is asked soon is fetched: of records that are whole in the chunk. */
static void
look_ahead(struct work *work, const struct spill_stream *stream)
{
    struct spill_record header;

    if (work->items == 0)
        work->ahead = stream->begin;
    while (work->items < ITEMS_AHEAD && work->ahead + sizeof header <= stream->end) {
        memcpy(&header, stream->chunk + work->ahead, sizeof header);
        if (header.size > stream->end - work->ahead - sizeof header)
            return;
        table_fetch(&work->table, header.item.hash);
        work->ahead += sizeof header + header.size;
        work->items++;
    }
}

static enum parts_outcome
enter(struct work *work, petal_slice record, const struct item *item)
{
    if (table_find(&work->table, record, item->hash) != NULL) {
        if (item_role(item) == ITEM_KNOWN || marks_add(work->marks, item_number(item)))
            return PARTS_DONE;
        return PARTS_FAILED;
    }
    if (item_role(item) == ITEM_ASKED || table_add(&work->table, record, item->hash) != NULL)
        return PARTS_DONE;
    return PARTS_TOO_LARGE;
}

static enum parts_outcome
take(void *argument, struct spill *spill, unsigned part)
{
    struct work *work = argument;
    struct spill_stream stream;
    struct spill_record header;
    enum parts_outcome outcome = PARTS_DONE;
    const char *bytes;

    if (!spill_stream_open(&stream, spill, part))
        return PARTS_FAILED;
    table_clear(&work->table);
    work->items = 0;
    do {
        look_ahead(work, &stream);
        work->items -= work->items > 0;
        if (!spill_take_record(&stream, &header, &bytes))
            outcome = PARTS_FAILED;
        else if (bytes != NULL)
            outcome = enter(work, (petal_slice){bytes, header.size}, &header.item);
    } while (outcome == PARTS_DONE && bytes != NULL);
    spill_stream_close(&stream);
    return outcome;
}

bool
repeats_decide(struct repeats *repeats, struct marks *marks)
{
    static const struct parts_work parts = {take, spill_copy_record};
    struct work work = {.marks = marks};
    bool fine;

    table_close(&repeats->table);
    if (!repeats->has_spill)
        return true;
    if (!table_open(&work.table, repeats->job, repeats->job->memory_bytes / 2))
        return false;
    fine = parts_take(&repeats->spill, &parts, &work);
    table_close(&work.table);
    return fine;
}
