/* top.c -- see top.h. */
#include "tools/filter/exact/top.h"

#include "tools/filter/exact/parts.h"
#include "tools/filter/exact/table.h"

#include <string.h>

enum { PARTS = 128 };

struct top {
    struct job *job;
    struct best *best;
    struct table table;
    bool is_full;
    struct spill spill; /* of what found it full; struct header and the bytes, each */
};

/* Before the bytes of a record that was put away. */
struct header {
    uint64_t hash, size;
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
put(struct spill *spill, unsigned level, const struct header *header, const void *bytes)
{
    unsigned part = spill_part_of(spill, header->hash, level);

    return spill_put(spill, part, header, sizeof *header) &&
           spill_put(spill, part, bytes, header->size);
}

static bool
count_record(struct top *top, petal_slice record, uint64_t hash)
{
    const struct header header = {hash, record.size};
    struct table_entry *entry = table_find(&top->table, record, hash);

    if (entry == NULL && !top->is_full) {
        entry = table_add(&top->table, record, hash);
        top->is_full = entry == NULL;
        if (top->is_full && !spill_open(&top->spill, top->job, top->job->memory_bytes / 8, PARTS))
            return false;
    }
    if (entry == NULL)
        return put(&top->spill, 0, &header, record.data);
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

/* *bytes NULL: there are no more. */
static bool
take_record(struct spill_stream *stream, struct header *header, const char **bytes)
{
    if (!spill_take(stream, sizeof *header, bytes))
        return false;
    if (*bytes == NULL)
        return true;
    memcpy(header, *bytes, sizeof *header);
    return spill_take(stream, header->size, bytes);
}

static bool
copy(struct spill_stream *from, struct spill *to, unsigned level, bool *more)
{
    struct header header;
    const char *bytes;

    if (!take_record(from, &header, &bytes))
        return false;
    *more = bytes != NULL;
    return !*more || put(to, level, &header, bytes);
}

static enum parts_outcome
count_part(struct top *top, struct spill_stream *stream)
{
    struct header header;
    const char *bytes;

    for (;;) {
        struct table_entry *entry;
        petal_slice record;

        if (!take_record(stream, &header, &bytes))
            return PARTS_FAILED;
        if (bytes == NULL)
            return PARTS_DONE;
        record = (petal_slice){bytes, header.size};
        entry = table_find(&top->table, record, header.hash);
        if (entry == NULL)
            entry = table_add(&top->table, record, header.hash);
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
    static const struct parts_work parts = {take, copy};
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
