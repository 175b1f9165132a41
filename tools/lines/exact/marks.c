/* marks.c -- see marks.h. */
#include "tools/lines/exact/marks.h"

#include "tools/lines/records/map.h"

#include <assert.h>
#include <string.h>

#define MOST_RANGE  (UINT64_C(1) << 32)
#define LEAST_RANGE (UINT64_C(1) << 16)
#define NO_RANGE    UINT64_MAX

static uint64_t
ranges_of(const struct marks *marks)
{
    return (marks->numbers + marks->range - 1) / marks->range;
}

static uint64_t
range_of(const struct marks *marks, uint64_t number)
{
    return number >> __builtin_ctzll(marks->range);
}

static bool
is_whole(const struct marks *marks)
{
    return ranges_of(marks) <= 1;
}

static bool
open_spill(struct marks *marks, size_t memory_bytes)
{
    unsigned parts = 2;

    while (parts < ranges_of(marks))
        parts *= 2;
    if (!spill_open(&marks->spill, marks->job, memory_bytes, parts))
        return false;
    /* It may have made fewer parts, of more numbers each. */
    while (marks->spill.parts < ranges_of(marks))
        marks->range *= 2;
    return true;
}

bool
marks_open(struct marks *marks, struct job *job, uint64_t numbers)
{
    size_t memory_bytes = job->memory_bytes / 16; /* for the bitmap, and for what waits */

    *marks = (struct marks){.job = job, .numbers = numbers, .range = LEAST_RANGE, .at = NO_RANGE};
    marks->spill.descriptor = -1;
    while (marks->range < numbers && marks->range < MOST_RANGE && marks->range / 4 <= memory_bytes)
        marks->range *= 2;
    if (!is_whole(marks) && !open_spill(marks, memory_bytes))
        return false;
    if (marks->range > MOST_RANGE) {
        marks_close(marks);
        return job_fail(job, "--memory is too little for so many records");
    }
    marks->bitmap = map_bytes(marks->range / 8);
    if (marks->bitmap == NULL) {
        marks_close(marks);
        return job_fail(job, "out of memory: no bitmap of the records");
    }
    return true;
}

void
marks_close(struct marks *marks)
{
    unmap_bytes(marks->bitmap, marks->range / 8);
    marks->bitmap = NULL;
    spill_close(&marks->spill);
}

static void
set(struct marks *marks, uint64_t bit)
{
    marks->bitmap[bit / 8] |= (uint8_t)(1 << bit % 8);
}

bool
marks_add(struct marks *marks, uint64_t number)
{
    uint32_t within = (uint32_t)(number & (marks->range - 1));

    assert(number < marks->numbers && !marks->is_sealed);
    marks->has_any = true;
    if (!is_whole(marks))
        return spill_put(&marks->spill, (unsigned)range_of(marks, number), &within, sizeof within);
    set(marks, within);
    return true;
}

bool
marks_seal(struct marks *marks)
{
    marks->is_sealed = true;
    marks->at = is_whole(marks) ? 0 : NO_RANGE;
    return is_whole(marks) || spill_seal(&marks->spill);
}

static bool
load(struct marks *marks, struct spill_stream *stream)
{
    const char *bytes;
    size_t size;

    do {
        if (!spill_take_some(stream, &bytes, &size))
            return false;
        for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
            uint32_t within;

            memcpy(&within, bytes + at, sizeof within);
            set(marks, within);
        }
    } while (size > 0);
    return true;
}

/* The bitmap becomes that of a later range. */
static bool
go_to(struct marks *marks, uint64_t wanted)
{
    struct spill_stream stream;
    bool fine;

    assert(marks->at == NO_RANGE || wanted > marks->at);
    memset(marks->bitmap, 0, marks->range / 8);
    marks->at = wanted;
    if (!spill_stream_open(&stream, &marks->spill, (unsigned)wanted))
        return false;
    fine = load(marks, &stream);
    spill_stream_close(&stream);
    return fine;
}

bool
marks_ask(struct marks *marks, uint64_t first, size_t count, bool *answers)
{
    assert(marks->is_sealed);
    if (!marks->has_any) {
        memset(answers, 0, count);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i, bit = number & (marks->range - 1);

        if (number >= marks->numbers)
            answers[i] = false;
        else if (range_of(marks, number) != marks->at && !go_to(marks, range_of(marks, number)))
            return false;
        else
            answers[i] = marks->bitmap[bit / 8] >> bit % 8 & 1;
    }
    return true;
}
