/* best.c -- see best.h. */
#include "tools/lines/exact/best.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void
best_open(struct best *best, struct job *job, size_t most)
{
    assert(most > 0);
    *best = (struct best){.job = job, .most = most};
}

void
best_close(struct best *best)
{
    for (size_t i = 0; i < best->count; i++)
        free(best->records[i].bytes);
    free(best->records);
    best->records = NULL;
    best->count = 0;
}

/* Does a come before b? */
static bool
is_better(const struct best_record *a, const struct best_record *b)
{
    size_t shorter = a->size < b->size ? a->size : b->size;
    int order;

    if (a->count != b->count)
        return a->count > b->count;
    order = memcmp(a->bytes, b->bytes, shorter);
    return order != 0 ? order < 0 : a->size < b->size;
}

static void
exchange(struct best_record *a, struct best_record *b)
{
    struct best_record held = *a;

    *a = *b;
    *b = held;
}

static void
sift_up(struct best_record *records, size_t at)
{
    while (at > 0 && is_better(&records[(at - 1) / 2], &records[at])) {
        exchange(&records[(at - 1) / 2], &records[at]);
        at = (at - 1) / 2;
    }
}

static void
sift_down(struct best_record *records, size_t count, size_t at)
{
    for (;;) {
        size_t worst = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (is_better(&records[worst], &records[child]))
                worst = child;
        }
        if (worst == at)
            return;
        exchange(&records[at], &records[worst]);
        at = worst;
    }
}

static bool
have_room(struct best *best)
{
    size_t capacity = 2 * best->capacity + 16;
    struct best_record *grown;

    if (best->count < best->capacity)
        return true;
    grown = realloc(best->records, capacity * sizeof *grown);
    if (grown == NULL)
        return job_fail(best->job, "out of memory: there is no room for %zu records", best->most);
    best->records = grown;
    best->capacity = capacity;
    return true;
}

static bool
take(struct best *best, struct best_record *record)
{
    char *bytes = malloc(record->size > 0 ? record->size : 1);

    best->bytes += record->size + sizeof *record;
    if (bytes == NULL || best->bytes > best->job->memory_bytes / 4) {
        free(bytes);
        return job_fail(best->job, "--memory is too little for %zu records", best->most);
    }
    memcpy(bytes, record->bytes, record->size);
    record->bytes = bytes;
    return true;
}

bool
best_offer(struct best *best, petal_slice record, uint64_t count)
{
    struct best_record offered = {count, (char *)record.data, record.size};

    if (best->count < best->most) {
        if (!have_room(best) || !take(best, &offered))
            return false;
        best->records[best->count] = offered;
        sift_up(best->records, best->count++);
        return true;
    }
    if (!is_better(&offered, &best->records[0]))
        return true;
    best->bytes -= best->records[0].size + sizeof offered;
    if (!take(best, &offered))
        return false;
    free(best->records[0].bytes);
    best->records[0] = offered;
    sift_down(best->records, best->count, 0);
    return true;
}

void
best_sort(struct best *best)
{
    for (size_t left = best->count; left > 1; left--) {
        exchange(&best->records[0], &best->records[left - 1]);
        sift_down(best->records, left - 1, 0);
    }
}
