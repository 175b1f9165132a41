/*
 * failure.h -- what flushes and compactions in the background have to say of how they fared: the latest failure of each kind
 * until work of that kind succeeds again, for petal_stats.
 *
 * Threads: all functions from any thread; they take failure_mutex.
 */
#ifndef PETAL_ENGINE_STATE_FAILURE_H
#define PETAL_ENGINE_STATE_FAILURE_H

#include "engine/petal.h"

enum background_kind { BACKGROUND_FLUSH, BACKGROUND_COMPACTION, BACKGROUND_KINDS };

/* A member of struct petal_db. */
struct background_state {
    petal_error
        errors[BACKGROUND_KINDS]; /* guarded by failure_mutex; PETAL_OK: none, or made good */
    enum background_kind latest;
};

/* Count it and keep the cause. */
void background_failed(petal_db *db, enum background_kind kind, const petal_error *cause);
void background_succeeded(petal_db *db, enum background_kind kind);

/* The failure of this kind that was not made good, or PETAL_OK. */
enum petal_status background_failure_of(petal_db *db, enum background_kind kind,
                                        petal_error *error);

/* The failure that came last and was not made good; for a database that has turned read-only
 * without one, why it did; else a store file that is known to be damaged. */
void background_error_get(petal_db *db, petal_error *error);

#endif
