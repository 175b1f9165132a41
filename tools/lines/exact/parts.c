/* parts.c -- see parts.h. */
#include "tools/lines/exact/parts.h"

#include <assert.h>

static bool take_level(struct spill *spill, unsigned level, const struct parts_work *work,
                       void *argument);

static bool
copy_all(struct spill *spill, unsigned part, struct spill *into, unsigned level,
         const struct parts_work *work)
{
    struct spill_stream stream;
    bool fine, more = true;

    if (!spill_stream_open(&stream, spill, part))
        return false;
    do
        fine = work->copy(&stream, into, level, &more);
    while (fine && more);
    spill_stream_close(&stream);
    return fine;
}

static bool
take_cut(struct spill *spill, unsigned part, unsigned level, const struct parts_work *work,
         void *argument)
{
    struct spill into;
    bool fine;

    if (!spill_has_level(spill, level))
        return job_fail(spill->job, "--memory is too little for so many records");
    if (!spill_open(&into, spill->job, spill->parts * spill->chunk_bytes, spill->parts))
        return false;
    assert(into.parts == spill->parts);
    fine = copy_all(spill, part, &into, level, work) && take_level(&into, level, work, argument);
    spill_close(&into);
    return fine;
}

static bool
take_level(struct spill *spill, unsigned level, const struct parts_work *work, void *argument)
{
    if (!spill_seal(spill))
        return false;
    for (unsigned part = 0; part < spill->parts; part++) {
        enum parts_outcome outcome;

        if (!job_go_on(spill->job, part, spill->parts))
            return job_fail(spill->job, "interrupted: %u of %u parts were compared", part,
                            spill->parts);
        outcome = work->take(argument, spill, part);
        if (outcome == PARTS_FAILED ||
            (outcome == PARTS_TOO_LARGE && !take_cut(spill, part, level + 1, work, argument)))
            return false;
    }
    return true;
}

bool
parts_take(struct spill *spill, const struct parts_work *work, void *argument)
{
    return take_level(spill, 0, work, argument);
}
