/* small.c -- see small.h. */
#include "tools/lines/exact/small.h"

#include "tools/lines/exact/table.h"

struct small {
    const struct reader *a;
    struct table table; /* different records of A; number 1: it is in B, too */
    bool is_full;
    uint64_t found; /* in B */
    bool missing;
    struct writer *writer;
    uint64_t written;
};

bool
small_is_worth_it(const struct reader *a, const struct reader *b)
{
    uint64_t bytes = reader_rest(a);

    return bytes > 0 && bytes < a->job->memory_bytes / 2 && (!b->is_file || bytes < reader_rest(b));
}

/* The records of A that its reader has not handed out, once more. */
static bool
each_of_a(struct small *small, batch_taker take)
{
    const struct reader *a = small->a;
    struct reader again;
    bool fine;

    if (!reader_open_part(&again, a->job, a->name, a->source.descriptor, reader_position(a),
                          reader_position(a) + reader_rest(a)))
        return false;
    reader_want_hashes(&again);
    fine = reader_each(&again, take, small);
    reader_close(&again);
    return fine;
}

/* False also where the table is full. */
static bool
hold(void *argument, struct batch *batch)
{
    struct small *small = argument;

    for (size_t i = 0; i < batch->count && !small->is_full; i++)
        small->is_full = table_find(&small->table, batch->records[i], batch->hashes[i]) == NULL &&
                         table_add(&small->table, batch->records[i], batch->hashes[i]) == NULL;
    return !small->is_full;
}

static bool
all_is_found(const struct small *small)
{
    return small->found == small->table.records;
}

/* False also where all of A was found. */
static bool
look_for_a(void *argument, struct batch *batch)
{
    struct small *small = argument;

    for (size_t i = 0; i < batch->count; i++) {
        struct table_entry *entry;

        table_look_ahead(&small->table, batch->hashes, i, batch->count);
        entry = table_find(&small->table, batch->records[i], batch->hashes[i]);
        if (entry == NULL || table_number(entry) != 0)
            continue;
        table_set_number(entry, 1);
        small->found++;
    }
    return !all_is_found(small);
}

static bool
write_held(void *argument, struct batch *batch)
{
    struct small *small = argument;
    bool dropped[READER_BATCH];

    for (size_t i = 0; i < batch->count; i++) {
        struct table_entry *entry = table_find(&small->table, batch->records[i], batch->hashes[i]);

        if (entry == NULL)
            return job_fail(small->a->job, "%s was changed while it was read", small->a->name);
        dropped[i] = (table_number(entry) != 0) == small->missing;
    }
    return write_marked(small->writer, batch->records, batch->count, dropped, false,
                        &small->written);
}

bool
small_records(struct reader *a, struct reader *b, bool missing, struct writer *writer, bool *done)
{
    struct small small = {.a = a, .missing = missing, .writer = writer};
    bool fine;

    if (!table_open(&small.table, a->job, a->job->memory_bytes / 2))
        return false;
    fine = each_of_a(&small, hold);
    *done = !small.is_full;
    if (fine) {
        job_phase(a->job, "read");
        reader_want_hashes(b);
        fine = (reader_each(b, look_for_a, &small) || all_is_found(&small)) &&
               each_of_a(&small, write_held);
    }
    table_close(&small.table);
    return fine || !*done;
}
