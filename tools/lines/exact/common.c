/* common.c -- see common.h. */
#include "tools/lines/exact/common.h"

#include "tools/lines/exact/again.h"
#include "tools/lines/exact/doubles.h"
#include "tools/lines/exact/repeats.h"
#include "tools/lines/exact/table.h"
#include "tools/lines/records/writer.h"

/* ---- A small A ------------------------------------------------------------------------------- */

/* A is held in memory, B is read once, until all of A was found in it, and then A is read again
 * to be written. */
struct small {
    const struct reader *a;
    struct table table; /* different records of A; number 1: it is in B, too */
    bool is_full;
    uint64_t found; /* in B */
    bool missing;
    struct writer *writer;
    uint64_t written;
};

/* May A fit into memory, and B not? */
static bool
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

/* *done false: A does not fit, nothing was written, and both readers are where they were. */
static bool
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

/* ---- Both in steps --------------------------------------------------------------------------- */

struct common {
    struct job *job;
    struct reader *a, *b;
    bool missing;
    struct writer *writer;
    uint64_t written;

    struct again again_a; /* all of A; flag: it was in memory, so it is in B */
    struct again again_b; /* of B what did not fit, and after that; flag: it was in memory */
    bool filled;          /* by B */
    struct doubles doubles;
    struct marks asked;  /* records of A that have the hash of one of B */
    struct marks known;  /* those of B */
    struct marks in_b;   /* records of A that are in B, but for those that are flagged */
    struct repeats seen; /* of B, in the step at hand */
};

/* Writes those of a batch that are wanted. */
static bool
write_wanted(struct common *common, const struct batch *batch, const bool *in_b)
{
    return write_marked(common->writer, batch->records, batch->count, in_b, !common->missing,
                        &common->written);
}

/* ---- B into memory --------------------------------------------------------------------------- */

static bool
take_b(void *argument, struct batch *batch)
{
    struct common *common = argument;
    size_t i = 0;

    if (!common->filled) {
        while (i < batch->count &&
               repeats_ask(&common->seen, batch->records[i], batch->hashes[i]) != REPEATS_OPEN)
            i++;
        if (i == batch->count)
            return true;
        common->filled = true;
        if (!again_open(&common->again_b, common->b, batch_offset(batch, i)) ||
            !doubles_open(&common->doubles, common->job))
            return false;
    }
    return doubles_put(&common->doubles, &common->again_b, &common->seen.table, batch, i,
                       ITEM_KNOWN);
}

static bool
read_b(struct common *common)
{
    reader_want_hashes(common->b);
    return reader_each(common->b, take_b, common) &&
           (!common->filled || again_seal(&common->again_b));
}

/* ---- A, next to it --------------------------------------------------------------------------- */

static bool
take_a(void *argument, struct batch *batch)
{
    struct common *common = argument;
    bool in_b[READER_BATCH];

    if (common->filled)
        return doubles_put(&common->doubles, &common->again_a, &common->seen.table, batch, 0,
                           ITEM_ASKED);
    for (size_t i = 0; i < batch->count; i++) {
        table_look_ahead(&common->seen.table, batch->hashes, i, batch->count);
        in_b[i] = table_find(&common->seen.table, batch->records[i], batch->hashes[i]) != NULL;
    }
    return write_wanted(common, batch, in_b);
}

static bool
read_a(struct common *common)
{
    reader_want_hashes(common->a);
    if (common->filled && !again_open(&common->again_a, common->a, reader_position(common->a)))
        return false;
    return reader_each(common->a, take_a, common) &&
           (!common->filled || again_seal(&common->again_a));
}

static bool
read_both(struct common *common)
{
    bool fine;

    job_phase(common->job, "read");
    if (!repeats_open(&common->seen, common->job))
        return false;
    fine = read_b(common) && read_a(common);
    repeats_close(&common->seen);
    return fine;
}

/* ---- Which hashes are on both sides? --------------------------------------------------------- */

static bool
find_hashes(struct common *common)
{
    job_phase(common->job, "compare");
    return marks_open(&common->asked, common->job, common->again_a.numbers) &&
           marks_open(&common->known, common->job, common->again_b.numbers) &&
           doubles_decide(&common->doubles, &common->asked, &common->known) &&
           marks_seal(&common->asked) && marks_seal(&common->known);
}

/* ---- Records that have them ------------------------------------------------------------------ */

static bool
hold_b(void *argument, struct batch *batch)
{
    struct common *common = argument;
    struct repeats *seen = &common->seen;
    bool known[READER_BATCH];

    if (!marks_ask(&common->known, batch->first, batch->count, known))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        table_look_ahead(&seen->table, batch->hashes, i, batch->count);
        if (!known[i] || batch->flags[i])
            continue;
        if (repeats_ask(seen, batch->records[i], batch->hashes[i]) == REPEATS_OPEN &&
            !repeats_put(seen, batch->records[i], batch->hashes[i], batch->first + i, ITEM_KNOWN))
            return false;
    }
    return true;
}

/* Is each record of A in B? As far as memory says; of others the question is put away. Writes A, if
 * all that has to be known is in memory. */
static bool
ask_a(void *argument, struct batch *batch)
{
    struct common *common = argument;
    struct repeats *seen = &common->seen;
    bool asked[READER_BATCH], *in_b = batch->flags;

    if (!marks_ask(&common->asked, batch->first, batch->count, asked))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        table_look_ahead(&seen->table, batch->hashes, i, batch->count);
        if (!asked[i] || in_b[i])
            continue;
        in_b[i] = table_find(&seen->table, batch->records[i], batch->hashes[i]) != NULL;
        if (!seen->is_full)
            continue;
        if (in_b[i] ? !marks_add(&common->in_b, batch->first + i)
                    : !repeats_put(seen, batch->records[i], batch->hashes[i], batch->first + i,
                                   ITEM_ASKED))
            return false;
    }
    return seen->is_full || write_wanted(common, batch, in_b);
}

/* ---- What was put away ----------------------------------------------------------------------- */

static bool
take_decided(void *argument, struct batch *batch)
{
    struct common *common = argument;
    bool marked[READER_BATCH];

    if (!marks_ask(&common->in_b, batch->first, batch->count, marked))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        batch->flags[i] = batch->flags[i] || marked[i];
    return write_wanted(common, batch, batch->flags);
}

static bool
write_a(struct common *common)
{
    if (!repeats_decide(&common->seen, &common->in_b) || !marks_seal(&common->in_b))
        return false;
    job_phase(common->job, "write");
    return again_each(&common->again_a, common->again_a.from, 0, take_decided, common);
}

static bool
compare_records(struct common *common)
{
    bool fine;

    job_phase(common->job, "compare");
    if (!repeats_open(&common->seen, common->job))
        return false;
    fine = again_each(&common->again_b, common->again_b.from, 0, hold_b, common);
    marks_close(&common->known);
    fine = fine && marks_open(&common->in_b, common->job, common->again_a.numbers) &&
           again_each(&common->again_a, common->again_a.from, 0, ask_a, common) &&
           (!common->seen.is_full || write_a(common));
    repeats_close(&common->seen);
    return fine;
}

bool
common_records(struct reader *a, struct reader *b, bool missing, struct writer *writer)
{
    struct common common = {.job = a->job, .a = a, .b = b, .missing = missing, .writer = writer};
    bool done = false, fine;

    if (small_is_worth_it(a, b)) {
        fine = small_records(a, b, missing, writer, &done);
        if (!fine || done)
            return fine;
    }
    a->idle = writer_idle;
    a->idle_argument = writer;
    fine = read_both(&common) &&
           (!common.filled || (find_hashes(&common) && compare_records(&common)));
    again_close(&common.again_a);
    again_close(&common.again_b);
    doubles_close(&common.doubles);
    marks_close(&common.asked);
    marks_close(&common.known);
    marks_close(&common.in_b);
    return fine;
}
