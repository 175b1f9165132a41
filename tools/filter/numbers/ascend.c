/* ascend.c -- see ascend.h. */
#include "tools/filter/numbers/ascend.h"

#include "tools/filter/numbers/key_set.h"
#include "tools/filter/numbers/key_sort.h"
#include "tools/filter/numbers/spool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PARTS = 256,
    LEAST_BLOCK = 4 << 10,
    MOST_BLOCK = 64 << 10,
    BATCH = 1024 /* keys that are carried at a time */
};

struct ascend {
    struct job *job;
    enum ascend_mode mode;
    /* Of the memory. While keys come in they are gathered, or parted; in the end they are sorted, or
     * are in a set. */
    size_t gather_bytes, set_bytes, block_bytes;
    size_t part_count; /* into which keys are cut at a time; a power of 2 */

    uint64_t *held; /* NULL: no longer gathered */
    size_t held_count, held_capacity;
    struct spool *spool;
    struct spool_stream *parts; /* by value, ascending */
    size_t parts_used;
    uint64_t done, total; /* keys after the first parting: for the line of progress */
};

bool
ascend_create(struct job *job, enum ascend_mode mode, struct ascend **ascend)
{
    size_t memory = job->memory_bytes, block = memory / 8 / MOST_PARTS / LEAST_BLOCK * LEAST_BLOCK;
    struct ascend *new = calloc(1, sizeof *new);

    *ascend = NULL;
    if (new == NULL)
        return job_fail(job, "out of memory");
    new->job = job;
    new->mode = mode;
    new->gather_bytes = memory / 4;
    new->set_bytes = memory / 8 * 5;
    new->block_bytes = block < LEAST_BLOCK ? LEAST_BLOCK : block > MOST_BLOCK ? MOST_BLOCK : block;
    new->part_count = MOST_PARTS;
    while (new->part_count > 2 && new->part_count *new->block_bytes > memory / 8)
        new->part_count /= 2;
    new->held_capacity = new->gather_bytes / sizeof *new->held;
    new->held = malloc(new->gather_bytes);
    new->parts = calloc(new->part_count, sizeof *new->parts);
    if (new->held == NULL || new->parts == NULL) {
        ascend_free(new);
        return job_fail(job, "out of memory");
    }
    if (!spool_create(job, new->block_bytes, &new->spool)) {
        ascend_free(new);
        return false;
    }
    *ascend = new;
    return true;
}

void
ascend_free(struct ascend *ascend)
{
    if (ascend == NULL)
        return;
    for (size_t i = 0; i < ascend->parts_used; i++)
        spool_stream_free(ascend->spool, &ascend->parts[i]);
    free(ascend->parts);
    spool_free(ascend->spool);
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
static struct spool_stream *
part_of(const struct ascend *ascend, uint64_t key)
{
    struct spool_stream *part = ascend->parts;

    for (size_t step = ascend->part_count / 2; step > 0; step /= 2) {
        if (part + step < ascend->parts + ascend->parts_used && part[step].least <= key)
            part += step;
    }
    return part;
}

static bool
add_to_parts(struct ascend *ascend, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!spool_add(ascend->spool, part_of(ascend, keys[i]), keys[i]))
            return false;
    }
    ascend->total += count;
    return true;
}

/* Keys go to disk by value from here on. Those that are held are sorted, and a sample of all: each
 * part is to get as many. */
static void
begin_parts(struct ascend *ascend)
{
    size_t used = 0;

    for (size_t i = 0; i < ascend->part_count; i++) {
        uint64_t first = i > 0 ? ascend->held[ascend->held_count / ascend->part_count * i] : 0;

        if (used > 0 && first == ascend->parts[used - 1].least)
            continue;
        if (used > 0)
            ascend->parts[used - 1].most = first - 1;
        ascend->parts[used++] = (struct spool_stream){.least = first, .most = UINT64_MAX};
    }
    ascend->parts_used = used;
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
    begin_parts(ascend);
    done = add_to_parts(ascend, ascend->held, ascend->held_count);
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

/* The next keys of a stream; *count 0: there are no more. */
static bool
take(struct ascend *ascend, struct spool_stream *stream, uint64_t keys[BATCH], size_t *count)
{
    if (!spool_take(ascend->spool, stream, keys, BATCH, count))
        return false;
    ascend->done += *count;
    return job_go_on(ascend->job, ascend->done * sizeof *keys, ascend->total * sizeof *keys) ||
           job_fail(ascend->job, "interrupted");
}

static bool
visit_by_sorting(struct ascend *ascend, struct spool_stream *stream,
                 const struct ascend_visitor *visitor)
{
    size_t all = (size_t)stream->count, count = 0, some;
    uint64_t *keys = malloc((all + BATCH) * sizeof *keys);
    bool done = keys != NULL || job_fail(ascend->job, "out of memory");

    do {
        done = done && take(ascend, stream, keys + count, &some);
        count += done ? some : 0;
    } while (done && some > 0);
    if (done) {
        key_sort(keys, all);
        done = visit_sorted(ascend->mode, keys, all, visitor);
    }
    free(keys);
    return done;
}

static bool
visit_by_set(struct ascend *ascend, struct spool_stream *stream,
             const struct ascend_visitor *visitor)
{
    uint64_t keys[BATCH];
    struct key_set *set;
    size_t count;
    bool done;

    if (!key_set_create(ascend->job, ascend->mode, stream->low, stream->high, &set))
        return false;
    while ((done = take(ascend, stream, keys, &count)) && count > 0)
        key_set_add(set, keys, count);
    done = done && key_set_visit(set, visitor);
    key_set_free(set);
    return done;
}

static bool visit_stream(struct ascend *ascend, struct spool_stream *stream, size_t bytes,
                         const struct ascend_visitor *visitor);

/* The keys of a stream, which is empty then, to streams of a part of its range each. */
static bool
part_stream(struct ascend *ascend, struct spool_stream *stream, struct spool_stream *parts,
            unsigned shift)
{
    uint64_t keys[BATCH], low = stream->low;
    size_t count;

    ascend->total += stream->count;
    for (;;) {
        if (!take(ascend, stream, keys, &count))
            return false;
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            if (!spool_add(ascend->spool, &parts[(keys[i] - low) >> shift], keys[i]))
                return false;
        }
    }
    for (size_t i = 0; i < ascend->part_count; i++) {
        if (!spool_stream_rest(ascend->spool, &parts[i]))
            return false;
    }
    return true;
}

static bool
visit_by_parts(struct ascend *ascend, struct spool_stream *stream, size_t bytes,
               const struct ascend_visitor *visitor)
{
    struct spool_stream *parts = calloc(ascend->part_count, sizeof *parts);
    uint64_t range = stream->high - stream->low;
    unsigned shift = 0;
    bool done;

    if (parts == NULL)
        return job_fail(ascend->job, "out of memory");
    while (range >> shift >= ascend->part_count)
        shift++;
    for (size_t i = 0; i <= range >> shift; i++) {
        parts[i].least = stream->low + ((uint64_t)i << shift);
        parts[i].most =
            i == range >> shift ? stream->high : parts[i].least + ((UINT64_C(1) << shift) - 1);
    }
    done = part_stream(ascend, stream, parts, shift);
    for (size_t i = 0; done && i < ascend->part_count; i++)
        done = visit_stream(ascend, &parts[i], bytes, visitor);
    for (size_t i = 0; i < ascend->part_count; i++)
        spool_stream_free(ascend->spool, &parts[i]);
    free(parts);
    return done;
}

/* All keys of a stream, in so many bytes beside what parting takes. It is empty then. */
static bool
visit_stream(struct ascend *ascend, struct spool_stream *stream, size_t bytes,
             const struct ascend_visitor *visitor)
{
    if (stream->count == 0)
        return true;
    if (stream->count <= bytes / sizeof(uint64_t) - BATCH)
        return visit_by_sorting(ascend, stream, visitor);
    if (key_set_fits(ascend->mode, stream->low, stream->high, bytes))
        return visit_by_set(ascend, stream, visitor);
    return visit_by_parts(ascend, stream, bytes, visitor);
}

bool
ascend_finish(struct ascend *ascend, const struct ascend_visitor *visitor)
{
    if (ascend->held != NULL) {
        key_sort(ascend->held, ascend->held_count);
        return visit_sorted(ascend->mode, ascend->held, ascend->held_count, visitor);
    }
    for (size_t i = 0; i < ascend->parts_used; i++) {
        if (!spool_stream_rest(ascend->spool, &ascend->parts[i]))
            return false;
    }
    for (size_t i = 0; i < ascend->parts_used; i++) {
        if (!visit_stream(ascend, &ascend->parts[i], ascend->set_bytes, visitor))
            return false;
    }
    return true;
}
