/* again.c -- see again.h. */
#include "tools/filter/exact/again.h"

#include <assert.h>

bool
again_open(struct again *again, struct reader *reader, uint64_t from)
{
    *again = (struct again){.job = reader->job, .reader = reader};
    flags_open(&again->flags, again->job);
    again->has_spool = !reader->is_file;
    again->from = again->has_spool ? 0 : from;
    if (!again->has_spool || spool_open(&again->spool, again->job))
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
        spool_close(&again->spool);
    flags_close(&again->flags);
}

bool
again_put(struct again *again, petal_slice record, bool flag)
{
    again->numbers++;
    if (again->has_spool && !spool_put(&again->spool, record.data, record.size + 1))
        return false;
    return flags_put(&again->flags, flag);
}

bool
again_seal(struct again *again)
{
    if (again->has_spool && !spool_seal(&again->spool))
        return false;
    again->to = again->has_spool ? again->spool.bytes : reader_position(again->reader);
    return flags_seal(&again->flags);
}

bool
again_place_open(struct again_place *place, struct again *again, uint64_t from, uint64_t number)
{
    const char *name = again->has_spool ? "a temporary file" : again->reader->name;
    int descriptor = again->has_spool ? again->spool.descriptor : again->reader->source.descriptor;

    *place = (struct again_place){.again = again, .number = number, .from = from};
    if (!reader_open_part(&place->reader, again->job, name, descriptor, from, again->to))
        return false;
    reader_want_hashes(&place->reader);
    return true;
}

void
again_place_close(struct again_place *place)
{
    reader_close(&place->reader);
}

bool
again_next(struct again_place *place, petal_slice *records, size_t *count, bool *flags,
           uint64_t *first)
{
    struct again *again = place->again;

    place->from = reader_position(&place->reader);
    if (!reader_next(&place->reader, records, count))
        return false;
    *first = place->number;
    place->number += *count;
    if (place->number > again->numbers || (*count == 0 && place->number < again->numbers))
        return job_fail(again->job, "%s was changed while it was read", place->reader.name);
    return flags_ask(&again->flags, *first, *count, flags);
}

uint64_t
again_offset(const struct again_place *place, const petal_slice *records, size_t i)
{
    return place->from + (uint64_t)((const char *)records[i].data - (const char *)records->data);
}
