/* known.c -- see known.h. */
#include "tools/lines/exact/known.h"

#include "tools/lines/exact/again.h"
#include "tools/lines/exact/doubles.h"
#include "tools/lines/exact/repeats.h"
#include "tools/lines/exact/small.h"

#include <assert.h>

struct known;

/* An input. Of a stream, records that were in memory when it was full have no number, unless they
 * are written. */
struct side {
    struct known *known;
    struct reader *reader;
    enum item_role role;     /* ITEM_KNOWN: nothing of it is written */
    struct again again;      /* from where memory was full; flag: it was in memory */
    struct marks candidates; /* that have a hash which others have */
};

struct known {
    struct job *job;
    struct side other, own; /* own: the one that is written; other.reader may be NULL */
    struct writer *writer;  /* NULL: records are counted */
    bool writes_known;      /* else those that are not */
    uint64_t written;
    bool filled; /* memory is full, and what comes is put away */
    struct doubles doubles;
    struct repeats seen; /* of the step at hand */
    bool is_open;        /* step 4 is needed, from here on: */
    uint64_t open_from, open_number;
    struct marks repeated; /* records that step 4 reads, and that are known */
};

static bool
write_wanted(struct known *known, const struct batch *batch, size_t count, const bool *is_known)
{
    return write_marked(known->writer, batch->records, count, is_known, known->writes_known,
                        &known->written);
}

/* Is it known? In memory, to which it is added if it is not only asked for. */
static enum repeats_answer
ask(struct side *side, const struct batch *batch, size_t i)
{
    struct repeats *seen = &side->known->seen;

    table_look_ahead(&seen->table, batch->hashes, i, batch->count);
    if (side->role != ITEM_ASKED)
        return repeats_ask(seen, batch->records[i], batch->hashes[i]);
    if (table_find(&seen->table, batch->records[i], batch->hashes[i]) != NULL)
        return REPEATS_REPEATED;
    return seen->is_full ? REPEATS_OPEN : REPEATS_NEW;
}

/* ---- 1 and 2: reading ------------------------------------------------------------------------ */

/* *answered: of so many records that could be said. */
static bool
take_from_memory(struct side *side, const struct batch *batch, size_t *answered)
{
    bool is_known[READER_BATCH];
    size_t i;

    for (i = 0; i < batch->count; i++) {
        enum repeats_answer answer = ask(side, batch, i);

        if (answer == REPEATS_OPEN)
            break;
        is_known[i] = answer == REPEATS_REPEATED;
    }
    *answered = i;
    return side->role == ITEM_KNOWN || write_wanted(side->known, batch, i, is_known);
}

static bool
take_first(void *argument, struct batch *batch)
{
    struct side *side = argument;
    struct known *known = side->known;
    size_t answered = 0;

    if (!known->filled) {
        if (!take_from_memory(side, batch, &answered))
            return false;
        if (answered == batch->count)
            return true;
        known->filled = true;
        if (!again_open(&side->again, side->reader, batch_offset(batch, answered)) ||
            !doubles_open(&known->doubles, known->job))
            return false;
    }
    return doubles_put(&known->doubles, &side->again, &known->seen.table, batch, answered,
                       side->role);
}

static bool
read_side(struct side *side)
{
    struct known *known = side->known;

    reader_want_hashes(side->reader);
    if (known->filled && !again_open(&side->again, side->reader, reader_position(side->reader)))
        return false;
    return reader_each(side->reader, take_first, side) &&
           (!known->filled || side->again.job == NULL || again_seal(&side->again));
}

static bool
find_candidates(struct known *known)
{
    struct marks *others = known->other.reader != NULL ? &known->other.candidates : NULL;

    job_phase(known->job, "compare");
    return marks_open(&known->own.candidates, known->job, known->own.again.numbers) &&
           (others == NULL || marks_open(others, known->job, known->other.again.numbers)) &&
           doubles_decide(&known->doubles, &known->own.candidates, others) &&
           marks_seal(&known->own.candidates) && (others == NULL || marks_seal(others));
}

static bool
read_first(struct known *known)
{
    bool fine;

    job_phase(known->job, "read");
    if (!repeats_open(&known->seen, known->job))
        return false;
    fine = (known->other.reader == NULL || read_side(&known->other)) && read_side(&known->own);
    repeats_close(&known->seen);
    return fine && (!known->filled || find_candidates(known));
}

/* ---- 3: candidates, and writing -------------------------------------------------------------- */

/* A candidate: from memory, or, once a question was left open, for step 4. */
static bool
ask_candidate(struct side *side, const struct batch *batch, size_t i)
{
    struct known *known = side->known;
    enum repeats_answer answer = ask(side, batch, i);
    uint64_t number = batch->first + i;

    if (side->role == ITEM_KNOWN)
        return answer != REPEATS_OPEN ||
               repeats_put(&known->seen, batch->records[i], batch->hashes[i], number, side->role);
    batch->flags[i] = answer == REPEATS_REPEATED;
    if (answer == REPEATS_OPEN && !known->is_open) {
        known->is_open = true;
        known->open_from = batch_offset(batch, i);
        known->open_number = number;
        if (!marks_open(&known->repeated, known->job, side->again.numbers))
            return false;
    }
    if (answer == REPEATS_OPEN)
        return repeats_put(&known->seen, batch->records[i], batch->hashes[i], number, side->role);
    return !batch->flags[i] || !known->is_open || marks_add(&known->repeated, number);
}

/* Written until a question is left open. */
static bool
take_again(void *argument, struct batch *batch)
{
    struct side *side = argument;
    struct known *known = side->known;
    bool candidates[READER_BATCH], was_open = known->is_open;

    if (!marks_ask(&side->candidates, batch->first, batch->count, candidates))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        if (candidates[i] && !batch->flags[i] && !ask_candidate(side, batch, i))
            return false;
    }
    return side->role == ITEM_KNOWN || was_open ||
           write_wanted(known, batch,
                        known->is_open ? (size_t)(known->open_number - batch->first) : batch->count,
                        batch->flags);
}

/* ---- 4: the candidates that were left open --------------------------------------------------- */

static bool
take_rest(void *argument, struct batch *batch)
{
    struct known *known = argument;
    bool repeated[READER_BATCH];

    if (!marks_ask(&known->repeated, batch->first, batch->count, repeated))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        batch->flags[i] = batch->flags[i] || repeated[i];
    return write_wanted(known, batch, batch->count, batch->flags);
}

static bool
write_rest(struct known *known)
{
    job_phase(known->job, "compare");
    if (!repeats_decide(&known->seen, &known->repeated) || !marks_seal(&known->repeated))
        return false;
    job_phase(known->job, "write");
    return again_each(&known->own.again, known->open_from, known->open_number, take_rest, known);
}

static bool
read_side_again(struct side *side)
{
    bool fine = again_each(&side->again, side->again.from, 0, take_again, side);

    marks_close(&side->candidates);
    return fine;
}

static bool
read_again(struct known *known)
{
    bool fine;

    if (!repeats_open(&known->seen, known->job))
        return false;
    job_phase(known->job, "write");
    fine = (known->other.reader == NULL || read_side_again(&known->other)) &&
           read_side_again(&known->own) && (!known->is_open || write_rest(known));
    repeats_close(&known->seen);
    return fine;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool
run(struct known *known)
{
    bool fine;

    known->job = known->own.reader->job;
    known->own.known = known->other.known = known;
    known->other.role = ITEM_KNOWN;
    if (known->writer != NULL) {
        known->own.reader->idle = writer_idle;
        known->own.reader->idle_argument = known->writer;
    }
    fine = read_first(known) && (!known->filled || read_again(known));
    again_close(&known->other.again);
    again_close(&known->own.again);
    doubles_close(&known->doubles);
    marks_close(&known->other.candidates);
    marks_close(&known->own.candidates);
    marks_close(&known->repeated);
    return fine;
}

bool
unique_records(struct reader *reader, struct writer *writer, uint64_t *count)
{
    struct known known = {.own = {.reader = reader, .role = ITEM_BOTH}, .writer = writer};
    bool fine = run(&known);

    *count = known.written;
    return fine;
}

bool
common_records(struct reader *a, struct reader *b, bool missing, struct writer *writer)
{
    struct known known = {.other = {.reader = b},
                          .own = {.reader = a, .role = ITEM_ASKED},
                          .writer = writer,
                          .writes_known = !missing};
    bool done = false;

    if (small_is_worth_it(a, b) && !small_records(a, b, missing, writer, &done))
        return false;
    return done || run(&known);
}
