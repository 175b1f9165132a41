/* unique.c -- see unique.h. */
#include "tools/filter/exact/unique.h"

#include "tools/filter/exact/again.h"
#include "tools/filter/exact/doubles.h"
#include "tools/filter/exact/repeats.h"
#include "tools/filter/records/write.h"

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
};

static bool
write_kept(struct unique *unique, const petal_slice *records, size_t count, const bool *dropped)
{
    return write_marked(unique->writer, records, count, dropped, false, &unique->count);
}

/* ---- 1 and 2: reading ------------------------------------------------------------------------ */

/* Writes what is new; *answered: of so many records that could be said. */
static bool
take_from_memory(struct unique *unique, struct repeats *seen, const petal_slice *records,
                 const uint64_t *hashes, size_t count, size_t *answered)
{
    bool dropped[READER_BATCH];
    size_t i;

    for (i = 0; i < count; i++) {
        enum repeats_answer answer = repeats_ask(seen, records[i], hashes[i]);

        if (answer == REPEATS_OPEN)
            break;
        dropped[i] = answer == REPEATS_REPEATED;
    }
    *answered = i;
    return write_kept(unique, records, i, dropped);
}

static bool
put_away(struct unique *unique, const struct repeats *seen, const petal_slice *records,
         const uint64_t *hashes, size_t count)
{
    struct again *again = &unique->again;

    for (size_t i = 0; i < count; i++) {
        bool is_known;

        table_look_ahead(&seen->table, hashes, i, count);
        is_known = table_find(&seen->table, records[i], hashes[i]) != NULL;
        if (is_known && again->has_spool)
            continue;
        if (!is_known && !doubles_add(&unique->doubles, hashes[i], again->numbers, ITEM_BOTH))
            return false;
        if (!again_put(again, records[i], is_known))
            return false;
    }
    return true;
}

/* A batch that begins at `from`; *filled: memory is full. */
static bool
take_batch(struct unique *unique, struct repeats *seen, const petal_slice *records, size_t count,
           uint64_t from, bool *filled)
{
    const uint64_t *hashes = reader_hashes(unique->reader);
    size_t answered = 0;

    if (!*filled) {
        if (!take_from_memory(unique, seen, records, hashes, count, &answered))
            return false;
        if (answered == count)
            return true;
        *filled = true;
        from += (uint64_t)((const char *)records[answered].data - (const char *)records->data);
        if (!again_open(&unique->again, unique->reader, from) ||
            !doubles_open(&unique->doubles, unique->job))
            return false;
    }
    return put_away(unique, seen, records + answered, hashes + answered, count - answered);
}

static bool
read_all(struct unique *unique, struct repeats *seen, bool *filled)
{
    petal_slice records[READER_BATCH];
    size_t count;

    reader_want_hashes(unique->reader);
    do {
        uint64_t from = unique->reader->is_file ? reader_position(unique->reader) : 0;

        if (!reader_next(unique->reader, records, &count) ||
            !take_batch(unique, seen, records, count, from, filled))
            return false;
    } while (count > 0);
    return true;
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
ask_candidate(struct unique *unique, struct repeats *seen, petal_slice record, uint64_t hash,
              uint64_t from, uint64_t number, bool *dropped)
{
    enum repeats_answer answer = repeats_ask(seen, record, hash);

    *dropped = answer == REPEATS_REPEATED;
    if (answer == REPEATS_OPEN && !unique->is_open) {
        unique->is_open = true;
        unique->open_from = from;
        unique->open_number = number;
        if (!marks_open(&unique->repeated, unique->job, unique->again.numbers))
            return false;
    }
    if (answer == REPEATS_OPEN)
        return repeats_put(seen, record, hash, number, ITEM_BOTH);
    return !*dropped || !unique->is_open || marks_add(&unique->repeated, number);
}

/* Written until a question is left open. */
static bool
take_again(struct unique *unique, struct repeats *seen, const struct again_place *place,
           const petal_slice *records, size_t count, uint64_t first, bool *dropped)
{
    const uint64_t *hashes = reader_hashes(&place->reader);
    bool candidates[READER_BATCH], was_open = unique->is_open;

    if (!marks_ask(&unique->candidates, first, count, candidates))
        return false;
    for (size_t i = 0; i < count; i++) {
        table_look_ahead(&seen->table, hashes, i, count);
        if (candidates[i] && !dropped[i] &&
            !ask_candidate(unique, seen, records[i], hashes[i], again_offset(place, records, i),
                           first + i, &dropped[i]))
            return false;
    }
    if (was_open)
        return true;
    if (unique->is_open)
        count = (size_t)(unique->open_number - first);
    return write_kept(unique, records, count, dropped);
}

static bool
write_new(struct unique *unique, struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    bool dropped[READER_BATCH], fine;
    struct again_place place;
    uint64_t first;
    size_t count;

    job_phase(unique->job, "write");
    if (!again_place_open(&place, &unique->again, unique->again.from, 0))
        return false;
    do
        fine = again_next(&place, records, &count, dropped, &first) &&
               take_again(unique, seen, &place, records, count, first, dropped);
    while (fine && count > 0);
    again_place_close(&place);
    return fine;
}

/* ---- 4: the candidates that were left open --------------------------------------------------- */

static bool
write_rest(struct unique *unique)
{
    petal_slice records[READER_BATCH];
    bool known[READER_BATCH], dropped[READER_BATCH], fine;
    struct again_place place;
    uint64_t first;
    size_t count;

    job_phase(unique->job, "write");
    if (!again_place_open(&place, &unique->again, unique->open_from, unique->open_number))
        return false;
    do {
        fine = again_next(&place, records, &count, known, &first) &&
               marks_ask(&unique->repeated, first, count, dropped);
        for (size_t i = 0; fine && i < count; i++)
            dropped[i] = dropped[i] || known[i];
        fine = fine && write_kept(unique, records, count, dropped);
    } while (fine && count > 0);
    again_place_close(&place);
    return fine;
}

static bool
decide_rest(struct unique *unique, struct repeats *seen)
{
    job_phase(unique->job, "compare");
    return repeats_decide(seen, &unique->repeated) && marks_seal(&unique->repeated) &&
           write_rest(unique);
}

/* ---- The whole ------------------------------------------------------------------------------- */

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

static bool
read_again(struct unique *unique)
{
    struct repeats seen;
    bool fine;

    if (!repeats_open(&seen, unique->job))
        return false;
    fine = write_new(unique, &seen) && (!unique->is_open || decide_rest(unique, &seen));
    repeats_close(&seen);
    return fine;
}

bool
unique_records(struct reader *reader, struct writer *writer, uint64_t *count)
{
    struct unique unique = {.job = reader->job, .reader = reader, .writer = writer};
    bool filled = false, fine;

    if (writer != NULL) {
        reader->idle = writer_idle;
        reader->idle_argument = writer;
    }
    fine = read_first(&unique, &filled) && (!filled || read_again(&unique));
    *count = unique.count;
    again_close(&unique.again);
    doubles_close(&unique.doubles);
    marks_close(&unique.candidates);
    marks_close(&unique.repeated);
    return fine;
}
