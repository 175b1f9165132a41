/* top.c -- see top.h. */
#include "tools/lines/exact/top.h"

#include "tools/lines/exact/parts.h"
#include "tools/lines/exact/table.h"

enum { PARTS = 128 };

struct top {
    struct job *job;
    struct best *best;
    struct table table;
    bool is_full;
    struct spill spill; /* of what found it full: struct spill_record and the bytes, each */
};

static size_t
table_bytes(const struct job *job)
{
    return job->memory_bytes / 2;
}

static void
count_one_more(struct table_entry *entry)
{
    table_set_number(entry, table_number(entry) + 1);
}

static bool
count_record(struct top *top, petal_slice record, uint64_t hash)
{
    const struct spill_record spilled = {item_make(hash, 0, ITEM_BOTH), record.size};
    struct table_entry *entry = table_find(&top->table, record, hash);

    if (entry == NULL && !top->is_full) {
        entry = table_add(&top->table, record, hash);
        top->is_full = entry == NULL;
        if (top->is_full && !spill_open(&top->spill, top->job, top->job->memory_bytes / 8, PARTS))
            return false;
    }
    if (entry == NULL)
        return spill_put_record(&top->spill, 0, &spilled, record.data);
    count_one_more(entry);
    return true;
}

static bool
count_batch(void *argument, struct batch *batch)
{
    struct top *top = argument;

    for (size_t i = 0; i < batch->count; i++) {
        table_look_ahead(&top->table, batch->hashes, i, batch->count);
        if (!count_record(top, batch->records[i], batch->hashes[i]))
            return false;
    }
    return true;
}

static bool
offer_all(struct top *top)
{
    for (struct table_entry *entry = table_next(&top->table, NULL); entry != NULL;
         entry = table_next(&top->table, entry)) {
        if (!best_offer(top->best, table_record(entry), table_number(entry)))
            return false;
    }
    return true;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static enum parts_outcome
count_part(struct top *top, struct spill_stream *stream)
{
    struct spill_record header;
    const char *bytes;

    for (;;) {
        struct table_entry *entry;
        petal_slice record;

        if (!spill_take_record(stream, &header, &bytes))
            return PARTS_FAILED;
        if (bytes == NULL)
            return PARTS_DONE;
        record = (petal_slice){bytes, header.size};
        entry = table_find(&top->table, record, header.item.hash);
        if (entry == NULL)
            entry = table_add(&top->table, record, header.item.hash);
        if (entry == NULL)
            return PARTS_TOO_LARGE;
        count_one_more(entry);
    }
}

static enum parts_outcome
take(void *argument, struct spill *spill, unsigned part)
{
    struct top *top = argument;
    struct spill_stream stream;
    enum parts_outcome outcome;

    if (!spill_stream_open(&stream, spill, part))
        return PARTS_FAILED;
    table_clear(&top->table);
    outcome = count_part(top, &stream);
    spill_stream_close(&stream);
    return outcome != PARTS_DONE || offer_all(top) ? outcome : PARTS_FAILED;
}

bool
top_records(struct reader *reader, struct best *best)
{
    static const struct parts_work parts = {take, spill_copy_record};
    struct top top = {.job = reader->job, .best = best};
    bool fine;

    if (!table_open(&top.table, top.job, table_bytes(top.job)))
        return false;
    reader_want_hashes(reader);
    fine = reader_each(reader, count_batch, &top) && offer_all(&top);
    if (fine && top.is_full) {
        job_phase(top.job, "count");
        fine = parts_take(&top.spill, &parts, &top);
    }
    spill_close(&top.spill);
    table_close(&top.table);
    return fine;
}
