/* unique.c -- see unique.h. */
#include "tools/lines/exact/unique.h"

#include "tools/lines/exact/again.h"
#include "tools/lines/exact/doubles.h"
#include "tools/lines/exact/repeats.h"
#include "tools/lines/records/writer.h"

#include <assert.h>

/* Records are numbered from the first on that found the memory full; but of a stream those that
 * were in memory have no number. */
struct unique {
    struct job *job;
    struct reader *reader;
    struct writer *writer; /* NULL: records are counted */
    uint64_t count;        /* written */
    struct again again;    /* flag: it was in memory */
    struct doubles doubles;
    struct marks candidates;
    struct marks repeated; /* candidates that were there before, of those that step 4 reads */
    bool is_open;          /* step 4 is needed, from here on: */
    uint64_t open_from, open_number;
    struct repeats seen; /* of the step at hand */
    bool filled;         /* memory is full, and what comes is put away */
};

static bool
write_kept(struct unique *unique, const petal_slice *records, size_t count, const bool *dropped)
{
    return write_marked(unique->writer, records, count, dropped, false, &unique->count);
}

/* ---- 1 and 2: reading ------------------------------------------------------------------------ */

/* Writes what is new; *answered: of so many records that could be said. */
static bool
take_from_memory(struct unique *unique, const struct batch *batch, size_t *answered)
{
    bool dropped[READER_BATCH];
    size_t i;

    for (i = 0; i < batch->count; i++) {
        enum repeats_answer answer =
            repeats_ask(&unique->seen, batch->records[i], batch->hashes[i]);

        if (answer == REPEATS_OPEN)
            break;
        dropped[i] = answer == REPEATS_REPEATED;
    }
    *answered = i;
    return write_kept(unique, batch->records, i, dropped);
}

static bool
take_batch(void *argument, struct batch *batch)
{
    struct unique *unique = argument;
    size_t answered = 0;

    if (!unique->filled) {
        if (!take_from_memory(unique, batch, &answered))
            return false;
        if (answered == batch->count)
            return true;
        unique->filled = true;
        if (!again_open(&unique->again, unique->reader, batch_offset(batch, answered)) ||
            !doubles_open(&unique->doubles, unique->job))
            return false;
    }
    return doubles_put(&unique->doubles, &unique->again, &unique->seen.table, batch, answered,
                       ITEM_BOTH);
}

static bool
find_candidates(struct unique *unique)
{
    job_phase(unique->job, "compare");
    return again_seal(&unique->again) &&
           marks_open(&unique->candidates, unique->job, unique->again.numbers) &&
           doubles_decide(&unique->doubles, &unique->candidates, NULL) &&
           marks_seal(&unique->candidates);
}

/* ---- 3: writing ------------------------------------------------------------------------------ */

/* A candidate: from memory, or, once a question was left open, for step 4. */
static bool
ask_candidate(struct unique *unique, const struct batch *batch, size_t i)
{
    enum repeats_answer answer = repeats_ask(&unique->seen, batch->records[i], batch->hashes[i]);
    uint64_t number = batch->first + i;

    batch->flags[i] = answer == REPEATS_REPEATED;
    if (answer == REPEATS_OPEN && !unique->is_open) {
        unique->is_open = true;
        unique->open_from = batch_offset(batch, i);
        unique->open_number = number;
        if (!marks_open(&unique->repeated, unique->job, unique->again.numbers))
            return false;
    }
    if (answer == REPEATS_OPEN)
        return repeats_put(&unique->seen, batch->records[i], batch->hashes[i], number, ITEM_BOTH);
    return !batch->flags[i] || !unique->is_open || marks_add(&unique->repeated, number);
}

/* Written until a question is left open. */
static bool
take_again(void *argument, struct batch *batch)
{
    struct unique *unique = argument;
    bool candidates[READER_BATCH], was_open = unique->is_open;

    if (!marks_ask(&unique->candidates, batch->first, batch->count, candidates))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        table_look_ahead(&unique->seen.table, batch->hashes, i, batch->count);
        if (candidates[i] && !batch->flags[i] && !ask_candidate(unique, batch, i))
            return false;
    }
    return was_open ||
           write_kept(unique, batch->records,
                      unique->is_open ? (size_t)(unique->open_number - batch->first) : batch->count,
                      batch->flags);
}

/* ---- 4: the candidates that were left open --------------------------------------------------- */

static bool
take_rest(void *argument, struct batch *batch)
{
    struct unique *unique = argument;
    bool repeated[READER_BATCH];

    if (!marks_ask(&unique->repeated, batch->first, batch->count, repeated))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        batch->flags[i] = batch->flags[i] || repeated[i];
    return write_kept(unique, batch->records, batch->count, batch->flags);
}

static bool
write_rest(struct unique *unique)
{
    job_phase(unique->job, "compare");
    if (!repeats_decide(&unique->seen, &unique->repeated) || !marks_seal(&unique->repeated))
        return false;
    job_phase(unique->job, "write");
    return again_each(&unique->again, unique->open_from, unique->open_number, take_rest, unique);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool
read_first(struct unique *unique)
{
    bool fine;

    if (!repeats_open(&unique->seen, unique->job))
        return false;
    reader_want_hashes(unique->reader);
    fine = reader_each(unique->reader, take_batch, unique);
    repeats_close(&unique->seen);
    return fine && (!unique->filled || find_candidates(unique));
}

static bool
read_again(struct unique *unique)
{
    bool fine;

    if (!repeats_open(&unique->seen, unique->job))
        return false;
    job_phase(unique->job, "write");
    fine = again_each(&unique->again, unique->again.from, 0, take_again, unique) &&
           (!unique->is_open || write_rest(unique));
    repeats_close(&unique->seen);
    return fine;
}

bool
unique_records(struct reader *reader, struct writer *writer, uint64_t *count)
{
    struct unique unique = {.job = reader->job, .reader = reader, .writer = writer};
    bool fine;

    if (writer != NULL) {
        reader->idle = writer_idle;
        reader->idle_argument = writer;
    }
    fine = read_first(&unique) && (!unique.filled || read_again(&unique));
    *count = unique.count;
    again_close(&unique.again);
    doubles_close(&unique.doubles);
    marks_close(&unique.candidates);
    marks_close(&unique.repeated);
    return fine;
}
