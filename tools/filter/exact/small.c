/* small.c -- see small.h. */
#include "tools/filter/exact/small.h"

#include "tools/filter/exact/table.h"
#include "tools/filter/records/hash.h"
#include "tools/filter/records/write.h"

static size_t
table_bytes(const struct job *job)
{
    return job->memory_bytes / 2;
}

bool
small_is_worth_it(const struct reader *a, const struct reader *b)
{
    uint64_t bytes = reader_rest(a);

    return bytes > 0 && bytes < table_bytes(a->job) && (!b->is_file || bytes < reader_rest(b));
}

/* The bytes of A that the reader has not handed out, once more. */
static bool
open_again(struct reader *again, const struct reader *a)
{
    if (!reader_open_part(again, a->job, a->name, a->source.descriptor, reader_position(a),
                          reader_position(a) + reader_rest(a)))
        return false;
    reader_want_hashes(again);
    return true;
}

/* *all false: it does not fit. */
static bool
hold(struct table *table, const struct reader *a, bool *all)
{
    petal_slice records[READER_BATCH];
    const uint64_t *hashes;
    struct reader again;
    size_t count;
    bool fine;

    *all = true;
    if (!open_again(&again, a))
        return false;
    do {
        fine = reader_next(&again, records, &count);
        if (!fine)
            break;
        hashes = reader_hashes(&again);
        for (size_t i = 0; i < count && *all; i++)
            *all = table_find(table, records[i], hashes[i]) != NULL ||
                   table_add(table, records[i], hashes[i]) != NULL;
    } while (count > 0 && *all);
    reader_close(&again);
    return fine;
}

/* The numbers of records that are in B, too, become 1. */
static bool
look_through(const struct table *table, struct reader *b)
{
    petal_slice records[READER_BATCH];
    const uint64_t *hashes;
    uint64_t found = 0;
    size_t count;

    reader_want_hashes(b);
    do {
        if (!reader_next(b, records, &count))
            return false;
        hashes = reader_hashes(b);
        for (size_t i = 0; i < count; i++) {
            struct table_entry *entry;

            table_look_ahead(table, hashes, i, count);
            entry = table_find(table, records[i], hashes[i]);
            if (entry == NULL || table_number(entry) != 0)
                continue;
            table_set_number(entry, 1);
            found++;
        }
    } while (count > 0 && found < table->records);
    return true;
}

static bool
write_a(const struct table *table, const struct reader *a, bool missing, struct writer *writer)
{
    petal_slice records[READER_BATCH];
    const uint64_t *hashes;
    uint64_t written = 0;
    bool dropped[READER_BATCH], fine;
    struct reader again;
    size_t count;

    if (!open_again(&again, a))
        return false;
    do {
        fine = reader_next(&again, records, &count);
        if (!fine)
            break;
        hashes = reader_hashes(&again);
        for (size_t i = 0; i < count && fine; i++) {
            struct table_entry *entry = table_find(table, records[i], hashes[i]);

            dropped[i] = entry != NULL && (table_number(entry) != 0) == missing;
            fine = entry != NULL || job_fail(a->job, "%s was changed while it was read", a->name);
        }
        fine = fine && write_marked(writer, records, count, dropped, false, &written);
    } while (fine && count > 0);
    reader_close(&again);
    return fine;
}

bool
small_records(struct reader *a, struct reader *b, bool missing, struct writer *writer, bool *done)
{
    struct table table;
    bool fine;

    if (!table_open(&table, a->job, table_bytes(a->job)))
        return false;
    fine = hold(&table, a, done);
    if (fine && *done) {
        job_phase(a->job, "read");
        fine = look_through(&table, b) && write_a(&table, a, missing, writer);
    }
    table_close(&table);
    return fine;
}
