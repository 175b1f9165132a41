/* top.c -- see top.h. */
#include "tools/lines/exact/top.h"

#include "tools/lines/exact/parts.h"
#include "tools/lines/exact/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 128 };

/* ---- The best -------------------------------------------------------------------------------- */

void
best_open(struct best *best, struct job *job, size_t most)
{
    assert(most > 0);
    *best = (struct best){.job = job, .most = most};
}

void
best_close(struct best *best)
{
    for (size_t i = 0; i < best->count; i++)
        free(best->records[i].bytes);
    free(best->records);
    best->records = NULL;
    best->count = 0;
}

/* Does a come before b? */
static bool
is_better(const struct best_record *a, const struct best_record *b)
{
    size_t shorter = a->size < b->size ? a->size : b->size;
    int order;

    if (a->count != b->count)
        return a->count > b->count;
    order = memcmp(a->bytes, b->bytes, shorter);
    return order != 0 ? order < 0 : a->size < b->size;
}

static void
exchange(struct best_record *a, struct best_record *b)
{
    struct best_record held = *a;

    *a = *b;
    *b = held;
}

static void
sift_up(struct best_record *records, size_t at)
{
    while (at > 0 && is_better(&records[(at - 1) / 2], &records[at])) {
        exchange(&records[(at - 1) / 2], &records[at]);
        at = (at - 1) / 2;
    }
}

static void
sift_down(struct best_record *records, size_t count, size_t at)
{
    for (;;) {
        size_t worst = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (is_better(&records[worst], &records[child]))
                worst = child;
        }
        if (worst == at)
            return;
        exchange(&records[at], &records[worst]);
        at = worst;
    }
}

static bool
have_room(struct best *best)
{
    size_t capacity = 2 * best->capacity + 16;
    struct best_record *grown;

    if (best->count < best->capacity)
        return true;
    grown = realloc(best->records, capacity * sizeof *grown);
    if (grown == NULL)
        return job_fail(best->job, "out of memory: there is no room for %zu records", best->most);
    best->records = grown;
    best->capacity = capacity;
    return true;
}

static bool
take_record(struct best *best, struct best_record *record)
{
    char *bytes = malloc(record->size > 0 ? record->size : 1);

    best->bytes += record->size + sizeof *record;
    if (bytes == NULL || best->bytes > best->job->memory_bytes / 4) {
        free(bytes);
        return job_fail(best->job, "--memory is too little for %zu records", best->most);
    }
    memcpy(bytes, record->bytes, record->size);
    record->bytes = bytes;
    return true;
}

bool
best_offer(struct best *best, petal_slice record, uint64_t count)
{
    struct best_record offered = {count, (char *)record.data, record.size};

    if (best->count < best->most) {
        if (!have_room(best) || !take_record(best, &offered))
            return false;
        best->records[best->count] = offered;
        sift_up(best->records, best->count++);
        return true;
    }
    if (!is_better(&offered, &best->records[0]))
        return true;
    best->bytes -= best->records[0].size + sizeof offered;
    if (!take_record(best, &offered))
        return false;
    free(best->records[0].bytes);
    best->records[0] = offered;
    sift_down(best->records, best->count, 0);
    return true;
}

void
best_sort(struct best *best)
{
    for (size_t left = best->count; left > 1; left--) {
        exchange(&best->records[0], &best->records[left - 1]);
        sift_down(best->records, left - 1, 0);
    }
}

/* ---- Counting -------------------------------------------------------------------------------- */

struct top {
    struct job *job;
    struct best *best;
    struct table table;
    bool is_full;
    struct spill spill; /* of what found it full: struct spill_record and the bytes, each */
};

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

    if (!table_open(&top.table, top.job, top.job->memory_bytes / 2))
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
