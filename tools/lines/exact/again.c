/* again.c -- see again.h. */
#include "tools/lines/exact/again.h"
#include "tools/lines/records/temporary.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

/* ---- Flags ----------------------------------------------------------------------------------- */

#define PIECE_BITS (8 * FLAGS_PIECE_BYTES)

/* To its place in the file. */
static bool
write_piece(struct flags *flags)
{
    if (flags->descriptor < 0)
        flags->descriptor = temporary_open(flags->job);
    return flags->descriptor >= 0 &&
           temporary_write(flags->job, flags->descriptor, flags->bits, FLAGS_PIECE_BYTES,
                           flags->piece * FLAGS_PIECE_BYTES);
}

static bool
flags_put(struct flags *flags, bool flag)
{
    uint64_t bit = flags->count % PIECE_BITS;

    if (flag) {
        flags->bits[bit / 8] |= (unsigned char)(1 << bit % 8);
        flags->has_any = true;
    }
    flags->count++;
    if (bit != PIECE_BITS - 1)
        return true;
    if (!write_piece(flags))
        return false;
    flags->piece++;
    memset(flags->bits, 0, FLAGS_PIECE_BYTES);
    return true;
}

/* The flags of records from `first` on; false for what was not put. Calls may go back. */
static bool
flags_ask(struct flags *flags, uint64_t first, size_t count, bool *answers)
{
    memset(answers, 0, count * sizeof *answers);
    if (!flags->has_any)
        return true;
    for (size_t i = 0; i < count && first + i < flags->count; i++) {
        uint64_t number = first + i, bit = number % PIECE_BITS;

        if (number / PIECE_BITS != flags->piece) {
            flags->piece = number / PIECE_BITS;
            if (!temporary_read(flags->job, flags->descriptor, flags->bits, FLAGS_PIECE_BYTES,
                                flags->piece * FLAGS_PIECE_BYTES))
                return false;
        }
        answers[i] = flags->bits[bit / 8] >> bit % 8 & 1;
    }
    return true;
}

/* ---- Records --------------------------------------------------------------------------------- */

bool
again_open(struct again *again, struct reader *reader, uint64_t from)
{
    *again = (struct again){.job = reader->job, .reader = reader};
    again->flags = (struct flags){.job = again->job, .descriptor = -1};
    again->has_spool = !reader->is_file;
    again->from = again->has_spool ? 0 : from;
    if (!again->has_spool || writer_open_temporary(&again->spool, again->job))
        return true;
    again->has_spool = false;
    return false;
}

void
again_close(struct again *again)
{
    if (again->job == NULL)
        return;
    if (again->has_spool)
        writer_close(&again->spool);
    if (again->flags.descriptor >= 0)
        (void)close(again->flags.descriptor);
    again->flags.descriptor = -1;
}

bool
again_put(struct again *again, petal_slice record, bool flag)
{
    again->numbers++;
    if (again->has_spool && !writer_add_run(&again->spool, record.data, record.size + 1, 1))
        return false;
    return flags_put(&again->flags, flag);
}

bool
again_seal(struct again *again)
{
    if (again->has_spool && !writer_flush(&again->spool))
        return false;
    again->to = again->has_spool ? again->spool.bytes : reader_position(again->reader);
    return write_piece(&again->flags);
}

/* On the way through the records. */
struct place {
    struct again *again;
    uint64_t number; /* of the next record */
    batch_taker take;
    void *argument;
};

static bool
was_changed(const struct again *again)
{
    return job_fail(again->job, "%s was changed while it was read",
                    again->has_spool ? "a temporary file" : again->reader->name);
}

static bool
take_batch(void *argument, struct batch *batch)
{
    struct place *place = argument;
    bool flags[READER_BATCH];

    batch->first = place->number;
    batch->flags = flags;
    place->number += batch->count;
    if (place->number > place->again->numbers)
        return was_changed(place->again);
    return flags_ask(&place->again->flags, batch->first, batch->count, flags) &&
           place->take(place->argument, batch);
}

bool
again_each(struct again *again, uint64_t from, uint64_t number, batch_taker take, void *argument)
{
    const char *name = again->has_spool ? "a temporary file" : again->reader->name;
    int descriptor = again->has_spool ? again->spool.descriptor : again->reader->source.descriptor;
    struct place place = {.again = again, .number = number, .take = take, .argument = argument};
    struct reader reader;
    bool fine;

    if (!reader_open_part(&reader, again->job, name, descriptor, from, again->to))
        return false;
    reader_want_hashes(&reader);
    fine = reader_each(&reader, take_batch, &place);
    reader_close(&reader);
    return fine && (place.number == again->numbers || was_changed(again));
}
