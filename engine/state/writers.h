/*
 * writers.h -- the queue of writers, and the counters and sizes that its leader owns.
 *
 * Threads: the queue and the row locks as their headers say; the other fields the leader's.
 */
#ifndef PETAL_ENGINE_STATE_WRITERS_H
#define PETAL_ENGINE_STATE_WRITERS_H

#include "engine/state/lead.h"
#include "engine/state/row_lock.h"

struct writers {
    struct write_queue queue;
    struct row_locks row_locks;
    /* [leader] */
    uint64_t last_sequence;
    int64_t last_timestamp; /* the greatest assigned */
    struct store *written;  /* those whose active memtables hold cells */
    size_t active_bytes;    /* of all active memtables */
    size_t active_memory;   /* what is charged for them */
};

#endif
