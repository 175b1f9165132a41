/* ascend.c -- see ascend.h. */
#include "tools/lines/numbers/ascend.h"

#include "tools/lines/numbers/key_parts.h"
#include "tools/lines/numbers/key_sort.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 256 };

struct ascend {
    struct job *job;
    enum ascend_mode mode;
    /* Shares of the memory. While keys come in they are gathered, or parted; in the end they are
     * sorted. */
    size_t gather_bytes, sort_bytes, part_bytes;

    uint64_t *held; /* NULL: no longer gathered */
    size_t held_count, held_capacity;
    struct key_parts parts; /* by value, ascending */
    size_t parts_used;
    uint64_t done, total; /* keys after the first parting: for the line of progress */
};

bool
ascend_create(struct job *job, enum ascend_mode mode, struct ascend **ascend)
{
    size_t memory = job->memory_bytes;
    struct ascend *new = calloc(1, sizeof *new);

    *ascend = NULL;
    if (new == NULL)
        return job_fail(job, "out of memory");
    new->job = job;
    new->mode = mode;
    new->gather_bytes = memory / 4;
    new->sort_bytes = memory / 8 * 5;
    new->part_bytes = memory / 8;
    new->held_capacity = new->gather_bytes / sizeof *new->held;
    new->held = malloc(new->gather_bytes);
    if (new->held == NULL) {
        ascend_free(new);
        return job_fail(job, "out of memory");
    }
    *ascend = new;
    return true;
}

void
ascend_free(struct ascend *ascend)
{
    if (ascend == NULL)
        return;
    key_parts_close(&ascend->parts);
    free(ascend->held);
    free(ascend);
}

/* ---- Keys that lie sorted in memory ---------------------------------------------------------- */

/* How many of the sorted keys are left when no more copies of one are kept than the mode needs. */
static size_t
drop_copies(enum ascend_mode mode, uint64_t *keys, size_t count)
{
    size_t most = mode == ASCEND_DOUBLES ? 2 : 1, kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept < most || keys[kept - most] != keys[i])
            keys[kept++] = keys[i];
    }
    return kept;
}

static bool
visit_doubles(const uint64_t *keys, size_t count, const struct ascend_visitor *visitor)
{
    for (size_t i = 1; i < count; i++) {
        if (keys[i] == keys[i - 1] && (i == 1 || keys[i - 2] != keys[i]) &&
            !visitor->take(visitor->argument, keys[i], keys[i]))
            return false;
    }
    return true;
}

static bool
visit_distinct(const uint64_t *keys, size_t count, const struct ascend_visitor *visitor)
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && keys[next] - keys[next - 1] <= 1; next++)
            ;
        if (!visitor->take(visitor->argument, keys[i], keys[next - 1]))
            return false;
    }
    return true;
}

static bool
visit_sorted(enum ascend_mode mode, const uint64_t *keys, size_t count,
             const struct ascend_visitor *visitor)
{
    return mode == ASCEND_DOUBLES ? visit_doubles(keys, count, visitor)
                                  : visit_distinct(keys, count, visitor);
}

/* ---- Keys that come in ----------------------------------------------------------------------- */

/* The part of a key: the last one that begins at it or before. The first begins at 0. */
static size_t
part_of(const struct ascend *ascend, uint64_t key)
{
    size_t part = 0;

    for (size_t step = ascend->parts.spill.parts / 2; step > 0; step /= 2) {
        if (part + step < ascend->parts_used && ascend->parts.list[part + step].least <= key)
            part += step;
    }
    return part;
}

static bool
add_to_parts(struct ascend *ascend, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!key_parts_add(&ascend->parts, part_of(ascend, keys[i]), keys[i]))
            return false;
    }
    ascend->total += count;
    return true;
}

/* Keys go to disk by value from here on. Those that are held are sorted, and a sample of all: each
 * part is to get as many. */
static bool
begin_parts(struct ascend *ascend)
{
    struct key_part *parts;
    size_t used = 0, count;

    if (!key_parts_open(&ascend->parts, ascend->job, ascend->part_bytes, MOST_PARTS))
        return false;
    parts = ascend->parts.list;
    count = ascend->parts.spill.parts;
    for (size_t i = 0; i < count; i++) {
        uint64_t first = i > 0 ? ascend->held[ascend->held_count / count * i] : 0;

        if (used > 0 && first == parts[used - 1].least)
            continue;
        if (used > 0)
            parts[used - 1].most = first - 1;
        parts[used++] = (struct key_part){.least = first, .most = UINT64_MAX};
    }
    ascend->parts_used = used;
    return true;
}

/* There is no room for more keys as they are. */
static bool
make_room(struct ascend *ascend)
{
    bool done;

    key_sort(ascend->held, ascend->held_count);
    ascend->held_count = drop_copies(ascend->mode, ascend->held, ascend->held_count);
    if (ascend->held_count <= ascend->held_capacity / 2)
        return true;
    done = begin_parts(ascend) && add_to_parts(ascend, ascend->held, ascend->held_count);
    free(ascend->held);
    ascend->held = NULL;
    return done;
}

bool
ascend_add(struct ascend *ascend, const uint64_t *keys, size_t count)
{
    while (ascend->held != NULL && count > 0) {
        size_t room = ascend->held_capacity - ascend->held_count;
        size_t some = count < room ? count : room;

        memcpy(ascend->held + ascend->held_count, keys, some * sizeof *keys);
        ascend->held_count += some;
        keys += some;
        count -= some;
        if (ascend->held_count == ascend->held_capacity && !make_room(ascend))
            return false;
    }
    return count == 0 || add_to_parts(ascend, keys, count);
}

/* ---- Keys that go ---------------------------------------------------------------------------- */

/* One part on its way to what takes its keys: an array, or parts of its own. */
struct going {
    struct ascend *ascend;
    uint64_t *keys;
    size_t count;
    struct key_parts *parts;
    uint64_t low; /* of the part */
    unsigned shift;
};

static bool
go_on(struct ascend *ascend, size_t count)
{
    ascend->done += count;
    return job_go_on(ascend->job, ascend->done * sizeof(uint64_t),
                     ascend->total * sizeof(uint64_t)) ||
           job_fail(ascend->job, "interrupted");
}

static bool
take_to_sort(void *argument, const uint64_t *keys, size_t count)
{
    struct going *going = argument;

    memcpy(going->keys + going->count, keys, count * sizeof *keys);
    going->count += count;
    return go_on(going->ascend, count);
}

static bool
visit_by_sorting(struct ascend *ascend, struct key_parts *parts, size_t part,
                 const struct ascend_visitor *visitor)
{
    size_t count = (size_t)parts->list[part].count;
    struct going going = {.ascend = ascend, .keys = malloc(count * sizeof(uint64_t))};
    bool done = going.keys != NULL || job_fail(ascend->job, "out of memory");

    done = done && key_parts_each(parts, part, take_to_sort, &going);
    if (done) {
        key_sort(going.keys, count);
        done = visit_sorted(ascend->mode, going.keys, count, visitor);
    }
    free(going.keys);
    return done;
}

static bool visit_part(struct ascend *ascend, struct key_parts *parts, size_t part,
                       const struct ascend_visitor *visitor);

static bool
take_to_parts(void *argument, const uint64_t *keys, size_t count)
{
    const struct going *going = argument;

    for (size_t i = 0; i < count; i++) {
        if (!key_parts_add(going->parts, (keys[i] - going->low) >> going->shift, keys[i]))
            return false;
    }
    return go_on(going->ascend, count);
}

static bool
visit_by_parts(struct ascend *ascend, struct key_parts *whole, size_t part,
               const struct ascend_visitor *visitor)
{
    const struct key_part *facts = &whole->list[part];
    uint64_t range = facts->high - facts->low;
    struct key_parts parts;
    struct going going = {.ascend = ascend, .parts = &parts, .low = facts->low};
    bool done;

    if (!key_parts_open(&parts, ascend->job, ascend->part_bytes, MOST_PARTS))
        return false;
    while (range >> going.shift >= parts.spill.parts)
        going.shift++;
    for (uint64_t i = 0; i <= range >> going.shift; i++) {
        parts.list[i].least = facts->low + (i << going.shift);
        parts.list[i].most = i == range >> going.shift
                                 ? facts->high
                                 : parts.list[i].least + ((UINT64_C(1) << going.shift) - 1);
    }
    ascend->total += facts->count;
    done = key_parts_each(whole, part, take_to_parts, &going) && key_parts_seal(&parts);
    for (size_t i = 0; done && i < parts.spill.parts; i++)
        done = visit_part(ascend, &parts, i, visitor);
    key_parts_close(&parts);
    return done;
}

/* All keys of a part, in sort_bytes next to what parting takes. */
static bool
visit_part(struct ascend *ascend, struct key_parts *parts, size_t part,
           const struct ascend_visitor *visitor)
{
    const struct key_part *facts = &parts->list[part];

    if (facts->count == 0)
        return true;
    if (facts->count <= ascend->sort_bytes / sizeof(uint64_t))
        return visit_by_sorting(ascend, parts, part, visitor);
    if (facts->low == facts->high) /* many copies of one key */
        return visitor->take(visitor->argument, facts->low, facts->low);
    return visit_by_parts(ascend, parts, part, visitor);
}

bool
ascend_finish(struct ascend *ascend, const struct ascend_visitor *visitor)
{
    if (ascend->held != NULL) {
        key_sort(ascend->held, ascend->held_count);
        return visit_sorted(ascend->mode, ascend->held, ascend->held_count, visitor);
    }
    if (!key_parts_seal(&ascend->parts))
        return false;
    for (size_t i = 0; i < ascend->parts_used; i++) {
        if (!visit_part(ascend, &ascend->parts, i, visitor))
            return false;
    }
    return true;
}
