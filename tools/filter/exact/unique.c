/* unique.c -- see unique.h. */
#include "tools/filter/exact/unique.h"

#include "tools/filter/exact/doubles.h"
#include "tools/filter/exact/flags.h"
#include "tools/filter/exact/repeats.h"
#include "tools/filter/records/hash.h"
#include "tools/filter/records/spool.h"

#include <assert.h>

/* Records are numbered from the first on that found the memory full. */
struct unique {
    struct job *job;
    struct reader *reader;
    struct writer *writer; /* NULL: records are counted */
    uint64_t count;        /* written */
    uint64_t numbers;      /* of records */

    /* Where they are read again: of a file from `from` to `to`, without those that are flagged, which
     * were in memory; of a stream in the spool, which has no others. */
    bool has_spool;
    struct spool spool;
    struct flags flags;
    uint64_t from, to;

    struct doubles doubles;
    struct marks candidates;
    struct marks repeated; /* candidates that were there before, of those that step 4 reads */
    bool is_open;
    uint64_t open_from, open_number; /* where step 4 begins */
};

/* A place in the records that are read again. */
struct place {
    struct reader reader;
    uint64_t number; /* of the first of a batch */
};

static size_t
marks_memory(const struct job *job)
{
    return job->memory_bytes / 16;
}

static void
close_all(struct unique *unique)
{
    if (unique->has_spool)
        spool_close(&unique->spool);
    doubles_close(&unique->doubles);
    marks_close(&unique->candidates);
    marks_close(&unique->repeated);
}

/* Records that lie one behind the other, with their delimiters. */
static bool
write_run(struct unique *unique, const petal_slice *first, size_t records)
{
    const petal_slice *last = first + records - 1;
    const char *bytes = first->data;

    unique->count += records;
    if (unique->writer == NULL)
        return true;
    return writer_add_run(unique->writer, bytes,
                          (size_t)((const char *)last->data + last->size + 1 - bytes), records);
}

/* Those of a batch that are not dropped. */
static bool
write_others(struct unique *unique, const petal_slice *records, size_t count, const bool *dropped)
{
    size_t at = 0;

    while (at < count) {
        size_t from;

        while (at < count && dropped[at])
            at++;
        for (from = at; at < count && !dropped[at];)
            at++;
        if (at > from && !write_run(unique, &records[from], at - from))
            return false;
    }
    return true;
}

/* ---- 1: in memory ---------------------------------------------------------------------------- */

/* Writes what is new; returns how many of the batch could be answered. */
static size_t
stream_batch(struct repeats *seen, const petal_slice *records, const uint64_t *hashes, size_t count,
             bool *dropped)
{
    for (size_t i = 0; i < count; i++)
        table_prefetch(&seen->table, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        enum repeats_answer answer = repeats_ask(seen, records[i], hashes[i]);

        if (answer == REPEATS_OPEN)
            return i;
        dropped[i] = answer == REPEATS_REPEATED;
    }
    return count;
}

/* ---- 2: hashes ------------------------------------------------------------------------------- */

static bool
begin_hashes(struct unique *unique, uint64_t from)
{
    unique->has_spool = !unique->reader->is_file;
    unique->from = unique->has_spool ? 0 : from;
    if (unique->has_spool && !spool_open(&unique->spool, unique->job))
        return false;
    return doubles_open(&unique->doubles, unique->job);
}

static bool
put_away(struct unique *unique, petal_slice record, uint64_t hash, bool is_known)
{
    if (unique->has_spool) {
        if (is_known)
            return true;
        if (!spool_put(&unique->spool, record.data, record.size + 1))
            return false;
    } else if (!flags_put(&unique->flags, is_known)) {
        return false;
    }
    return (is_known || doubles_add(&unique->doubles, hash, unique->numbers)) &&
           ++unique->numbers > 0;
}

static bool
put_batch_away(struct unique *unique, struct repeats *seen, const petal_slice *records,
               const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_known = table_find(&seen->table, records[i], hashes[i]) != NULL;

        if (!put_away(unique, records[i], hashes[i], is_known))
            return false;
    }
    return true;
}

/* All of the input; *filled: not all could be answered from memory. */
static bool
read_all(struct unique *unique, struct repeats *seen, bool *filled)
{
    petal_slice records[READER_BATCH];
    uint64_t hashes[READER_BATCH];
    bool dropped[READER_BATCH];
    size_t count;

    do {
        uint64_t from = unique->reader->is_file ? reader_position(unique->reader) : 0;
        size_t answered = 0;

        if (!reader_next(unique->reader, records, &count))
            return false;
        hash_records(unique->job, records, count, hashes);
        if (!*filled) {
            answered = stream_batch(seen, records, hashes, count, dropped);
            if (!write_others(unique, records, answered, dropped))
                return false;
            if (answered == count)
                continue;
            *filled = true;
            from += (uint64_t)((const char *)records[answered].data - (const char *)records->data);
            if (!begin_hashes(unique, from))
                return false;
        }
        if (!put_batch_away(unique, seen, records + answered, hashes + answered, count - answered))
            return false;
    } while (count > 0);
    return true;
}

static bool
find_candidates(struct unique *unique)
{
    struct job *job = unique->job;

    unique->to = unique->has_spool ? 0 : reader_position(unique->reader);
    if (unique->has_spool ? !spool_seal(&unique->spool) : !flags_seal(&unique->flags))
        return false;
    job_phase(job, "compare");
    return marks_open(&unique->candidates, job, unique->numbers, marks_memory(job)) &&
           doubles_decide(&unique->doubles, &unique->candidates) && marks_seal(&unique->candidates);
}

/* ---- 3 and 4: reading again ------------------------------------------------------------------ */

static bool
open_place(struct unique *unique, struct place *place, uint64_t from, uint64_t number)
{
    place->number = number;
    if (unique->has_spool)
        return reader_open_part(&place->reader, unique->job, "a temporary file",
                                unique->spool.descriptor, from, unique->spool.bytes);
    return reader_open_part(&place->reader, unique->job, unique->reader->name,
                            unique->reader->descriptor, from, unique->to);
}

/* The next records, and which of them step 1 has answered. */
static bool
next_at(struct unique *unique, struct place *place, petal_slice *records, size_t *count,
        bool *dropped)
{
    if (!reader_next(&place->reader, records, count))
        return false;
    if (place->number + *count > unique->numbers ||
        (*count == 0 && place->number != unique->numbers))
        return job_fail(unique->job, "%s was changed while it was read", place->reader.name);
    return flags_ask(&unique->flags, place->number, *count, dropped);
}

/* Step 4 is needed, from this record on. */
static bool
leave_open(struct unique *unique, uint64_t from, uint64_t number)
{
    unique->is_open = true;
    unique->open_from = from;
    unique->open_number = number;
    return marks_open(&unique->repeated, unique->job, unique->numbers, marks_memory(unique->job));
}

/* A candidate: from memory, or, once a question was left open, for step 4. */
static bool
ask_candidate(struct unique *unique, struct repeats *seen, petal_slice record, uint64_t from,
              uint64_t number, bool *dropped)
{
    enum repeats_answer answer;
    uint64_t hash;

    hash_records(unique->job, &record, 1, &hash);
    answer = repeats_ask(seen, record, hash);
    *dropped = answer == REPEATS_REPEATED;
    if (answer == REPEATS_OPEN && !unique->is_open && !leave_open(unique, from, number))
        return false;
    if (answer == REPEATS_OPEN)
        return repeats_put(seen, record, hash, number);
    return !*dropped || !unique->is_open || marks_add(&unique->repeated, number);
}

/* A batch of step 3, which begins at `from`; written until a question is left open. */
static bool
take_again(struct unique *unique, struct repeats *seen, const petal_slice *records, size_t count,
           uint64_t from, uint64_t number, bool *dropped)
{
    bool candidates[READER_BATCH], was_open = unique->is_open;

    if (!marks_ask(&unique->candidates, number, count, candidates))
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t before = (size_t)((const char *)records[i].data - (const char *)records->data);

        if (candidates[i] && !dropped[i] &&
            !ask_candidate(unique, seen, records[i], from + before, number + i, &dropped[i]))
            return false;
    }
    if (was_open)
        return true;
    if (unique->is_open)
        count = (size_t)(unique->open_number - number);
    return write_others(unique, records, count, dropped);
}

/* Step 3. */
static bool
write_new(struct unique *unique, struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    bool dropped[READER_BATCH], fine;
    struct place place;
    size_t count;

    job_phase(unique->job, "write");
    if (!open_place(unique, &place, unique->from, 0))
        return false;
    do {
        uint64_t from = reader_position(&place.reader);

        fine = next_at(unique, &place, records, &count, dropped) &&
               take_again(unique, seen, records, count, from, place.number, dropped);
        place.number += count;
    } while (fine && count > 0);
    reader_close(&place.reader);
    return fine;
}

/* Step 4. */
static bool
write_open(struct unique *unique)
{
    petal_slice records[READER_BATCH];
    bool known[READER_BATCH], dropped[READER_BATCH], fine;
    struct place place;
    size_t count;

    job_phase(unique->job, "write");
    if (!open_place(unique, &place, unique->open_from, unique->open_number))
        return false;
    do {
        fine = next_at(unique, &place, records, &count, known) &&
               marks_ask(&unique->repeated, place.number, count, dropped);
        for (size_t i = 0; fine && i < count; i++)
            dropped[i] = dropped[i] || known[i];
        fine = fine && write_others(unique, records, count, dropped);
        place.number += count;
    } while (fine && count > 0);
    reader_close(&place.reader);
    return fine;
}

static bool
decide_open(struct unique *unique, struct repeats *seen)
{
    job_phase(unique->job, "compare");
    return repeats_decide(seen, &unique->repeated) && marks_seal(&unique->repeated) &&
           write_open(unique);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Steps 3 and 4. */
static bool
read_again(struct unique *unique)
{
    struct repeats seen;
    bool fine;

    if (!repeats_open(&seen, unique->job))
        return false;
    fine = write_new(unique, &seen) && (!unique->is_open || decide_open(unique, &seen));
    repeats_close(&seen);
    return fine;
}

/* Steps 1 and 2; *filled: there is something to read again. */
static bool
read_first(struct unique *unique, bool *filled)
{
    struct repeats seen;
    bool fine;

    if (!repeats_open(&seen, unique->job))
        return false;
    fine = read_all(unique, &seen, filled);
    repeats_close(&seen);
    return fine && (!*filled || find_candidates(unique));
}

bool
unique_records(struct reader *reader, struct writer *writer, uint64_t *count)
{
    struct unique unique = {.job = reader->job, .reader = reader, .writer = writer};
    bool filled = false, fine;

    unique.spool.descriptor = -1;
    flags_open(&unique.flags, unique.job);
    if (writer != NULL) {
        reader->idle = writer_idle;
        reader->idle_argument = writer;
    }
    fine = read_first(&unique, &filled) && (!filled || read_again(&unique));
    *count = unique.count;
    if (filled)
        close_all(&unique);
    flags_close(&unique.flags);
    return fine;
}
