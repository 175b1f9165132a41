/* writes.c -- see tools/shell/session/writes.h. */
#include "tools/shell/session/writes.h"

#include "tools/shell/text/clock.h"

#include <time.h>

/* FNV-1a; rows with one hash wait for each other, and nothing worse. */
static uint64_t
hash_bytes(uint64_t hash, petal_slice bytes)
{
    const unsigned char *letters = bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        hash = (hash ^ letters[i]) * 0x100000001b3;
    return (hash ^ 0x100) * 0x100000001b3; /* the end: table and row are not one text */
}

/* What was written before the last write is over; that one may have come after the clock's step. */
static void
look_at_clock(struct recent_writes *writes)
{
    int64_t now = clock_now_ms();

    if (now == writes->now_ms)
        return;
    if (writes->count > 1) {
        writes->rows[0] = writes->rows[writes->count - 1];
        writes->count = 1;
    }
    writes->now_ms = now;
}

/* Nothing is written meanwhile, so nothing was written in the new one. */
static void
wait_for_next(struct recent_writes *writes)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    int64_t now;

    while ((now = clock_now_ms()) == writes->now_ms)
        (void)nanosleep(&pause, NULL);
    *writes = (struct recent_writes){.now_ms = now};
}

void
writes_begin_row(struct recent_writes *writes, petal_slice table, petal_slice row)
{
    uint64_t hash = hash_bytes(hash_bytes(0xcbf29ce484222325, table), row);
    bool waits;

    look_at_clock(writes);
    waits = writes->all || writes->count == ROWS_REMEMBERED;
    for (size_t i = 0; i < writes->count && !waits; i++)
        waits = writes->rows[i] == hash;
    if (waits)
        wait_for_next(writes);
    writes->rows[writes->count++] = hash;
}

void
writes_begin_all(struct recent_writes *writes)
{
    look_at_clock(writes);
    if (writes->all || writes->count > 0)
        wait_for_next(writes);
    writes->all = true;
}
