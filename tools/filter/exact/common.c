/* common.c -- see common.h. */
#include "tools/filter/exact/common.h"

#include "tools/filter/exact/again.h"
#include "tools/filter/exact/doubles.h"
#include "tools/filter/exact/repeats.h"
#include "tools/filter/exact/small.h"
#include "tools/filter/records/write.h"

struct common {
    struct job *job;
    struct reader *a, *b;
    bool missing;
    struct writer *writer;
    uint64_t written;

    struct again again_a; /* all of A; flag: it was in memory, so it is in B */
    struct again again_b; /* of B what did not fit, and behind that; flag: it was in memory */
    bool filled;          /* by B */
    struct doubles doubles;
    struct marks asked; /* records of A that have the hash of one of B */
    struct marks known; /* those of B */
    struct marks in_b;  /* records of A that are in B, but for those that are flagged */
};

/* Writes those of a batch that are wanted. */
static bool
write_wanted(struct common *common, const petal_slice *records, size_t count, const bool *in_b)
{
    return write_marked(common->writer, records, count, in_b, !common->missing, &common->written);
}

/* ---- B into memory --------------------------------------------------------------------------- */

/* Records behind the one that found the memory full, and that one. */
static bool
put_b_away(struct common *common, const struct repeats *seen, const petal_slice *records,
           const uint64_t *hashes, size_t count)
{
    struct again *again = &common->again_b;

    for (size_t i = 0; i < count; i++) {
        bool is_there;

        table_look_ahead(&seen->table, hashes, i, count);
        is_there = table_find(&seen->table, records[i], hashes[i]) != NULL;

        if (is_there && again->has_spool)
            continue;
        if (!is_there && !doubles_add(&common->doubles, hashes[i], again->numbers, ITEM_KNOWN))
            return false;
        if (!again_put(again, records[i], is_there))
            return false;
    }
    return true;
}

static bool
take_b(struct common *common, struct repeats *seen, const petal_slice *records, size_t count,
       uint64_t from)
{
    const uint64_t *hashes = reader_hashes(common->b);
    size_t i = 0;

    if (!common->filled) {
        while (i < count && repeats_ask(seen, records[i], hashes[i]) != REPEATS_OPEN)
            i++;
        if (i == count)
            return true;
        common->filled = true;
        from += (uint64_t)((const char *)records[i].data - (const char *)records->data);
        if (!again_open(&common->again_b, common->b, from) ||
            !doubles_open(&common->doubles, common->job))
            return false;
    }
    return put_b_away(common, seen, records + i, hashes + i, count - i);
}

static bool
read_b(struct common *common, struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    size_t count;

    reader_want_hashes(common->b);
    do {
        uint64_t from = common->b->is_file ? reader_position(common->b) : 0;

        if (!reader_next(common->b, records, &count) || !take_b(common, seen, records, count, from))
            return false;
    } while (count > 0);
    return !common->filled || again_seal(&common->again_b);
}

/* ---- A, beside it ---------------------------------------------------------------------------- */

static bool
put_a_away(struct common *common, const petal_slice *records, const uint64_t *hashes, size_t count,
           const bool *in_b)
{
    struct again *again = &common->again_a;

    for (size_t i = 0; i < count; i++) {
        if ((!in_b[i] && !doubles_add(&common->doubles, hashes[i], again->numbers, ITEM_ASKED)) ||
            !again_put(again, records[i], in_b[i]))
            return false;
    }
    return true;
}

static bool
take_a(struct common *common, const struct repeats *seen, const petal_slice *records, size_t count)
{
    const uint64_t *hashes = reader_hashes(common->a);
    bool in_b[READER_BATCH];

    for (size_t i = 0; i < count; i++) {
        table_look_ahead(&seen->table, hashes, i, count);
        in_b[i] = table_find(&seen->table, records[i], hashes[i]) != NULL;
    }
    return common->filled ? put_a_away(common, records, hashes, count, in_b)
                          : write_wanted(common, records, count, in_b);
}

static bool
read_a(struct common *common, const struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    size_t count;

    reader_want_hashes(common->a);
    if (common->filled && !again_open(&common->again_a, common->a,
                                      common->a->is_file ? reader_position(common->a) : 0))
        return false;
    do {
        if (!reader_next(common->a, records, &count) || !take_a(common, seen, records, count))
            return false;
    } while (count > 0);
    return !common->filled || again_seal(&common->again_a);
}

static bool
read_both(struct common *common)
{
    struct repeats seen;
    bool fine;

    job_phase(common->job, "read");
    if (!repeats_open(&seen, common->job))
        return false;
    fine = read_b(common, &seen) && read_a(common, &seen);
    repeats_close(&seen);
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
hold_b(struct common *common, struct repeats *seen, const petal_slice *records,
       const uint64_t *hashes, size_t count, uint64_t first, const bool *was_in_memory)
{
    bool known[READER_BATCH];

    if (!marks_ask(&common->known, first, count, known))
        return false;
    for (size_t i = 0; i < count; i++) {
        table_look_ahead(&seen->table, hashes, i, count);
        if (!known[i] || was_in_memory[i])
            continue;
        if (repeats_ask(seen, records[i], hashes[i]) == REPEATS_OPEN &&
            !repeats_put(seen, records[i], hashes[i], first + i, ITEM_KNOWN))
            return false;
    }
    return true;
}

/* in_b[i] as far as memory says; of others the question is put away. */
static bool
ask_a(struct common *common, struct repeats *seen, const petal_slice *records,
      const uint64_t *hashes, size_t count, uint64_t first, bool *in_b)
{
    bool asked[READER_BATCH];

    if (!marks_ask(&common->asked, first, count, asked))
        return false;
    for (size_t i = 0; i < count; i++) {
        table_look_ahead(&seen->table, hashes, i, count);
        if (!asked[i] || in_b[i])
            continue;
        in_b[i] = table_find(&seen->table, records[i], hashes[i]) != NULL;
        if (!seen->is_full)
            continue;
        if (in_b[i] ? !marks_add(&common->in_b, first + i)
                    : !repeats_put(seen, records[i], hashes[i], first + i, ITEM_ASKED))
            return false;
    }
    return true;
}

static bool
hold_all_b(struct common *common, struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    bool flags[READER_BATCH], fine;
    struct again_place place;
    uint64_t first;
    size_t count;

    if (!again_place_open(&place, &common->again_b, common->again_b.from, 0))
        return false;
    do
        fine = again_next(&place, records, &count, flags, &first) &&
               hold_b(common, seen, records, reader_hashes(&place.reader), count, first, flags);
    while (fine && count > 0);
    again_place_close(&place);
    return fine;
}

/* Writes A, if all that has to be known is in memory. */
static bool
ask_all_a(struct common *common, struct repeats *seen)
{
    petal_slice records[READER_BATCH];
    bool in_b[READER_BATCH], fine;
    struct again_place place;
    uint64_t first;
    size_t count;

    if (!again_place_open(&place, &common->again_a, common->again_a.from, 0))
        return false;
    do
        fine = again_next(&place, records, &count, in_b, &first) &&
               ask_a(common, seen, records, reader_hashes(&place.reader), count, first, in_b) &&
               (seen->is_full || write_wanted(common, records, count, in_b));
    while (fine && count > 0);
    again_place_close(&place);
    return fine;
}

/* ---- What was put away ----------------------------------------------------------------------- */

static bool
write_a(struct common *common)
{
    petal_slice records[READER_BATCH];
    bool in_b[READER_BATCH], marked[READER_BATCH], fine;
    struct again_place place;
    uint64_t first;
    size_t count;

    job_phase(common->job, "write");
    if (!again_place_open(&place, &common->again_a, common->again_a.from, 0))
        return false;
    do {
        fine = again_next(&place, records, &count, in_b, &first) &&
               marks_ask(&common->in_b, first, count, marked);
        for (size_t i = 0; fine && i < count; i++)
            in_b[i] = in_b[i] || marked[i];
        fine = fine && write_wanted(common, records, count, in_b);
    } while (fine && count > 0);
    again_place_close(&place);
    return fine;
}

static bool
compare_records(struct common *common)
{
    struct repeats seen;
    bool fine;

    job_phase(common->job, "compare");
    if (!repeats_open(&seen, common->job))
        return false;
    fine = hold_all_b(common, &seen);
    marks_close(&common->known);
    fine = fine && marks_open(&common->in_b, common->job, common->again_a.numbers) &&
           ask_all_a(common, &seen);
    if (fine && seen.is_full)
        fine = repeats_decide(&seen, &common->in_b) && marks_seal(&common->in_b) && write_a(common);
    repeats_close(&seen);
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
