/*
 * failure.h -- what went wrong: why the database takes no more writes, how flushes and compactions
 * in the background fared of late, and who asks for it before they write.
 *
 * Threads: all functions from any thread; they take failure.mutex.
 */
#ifndef PETAL_ENGINE_STATE_FAILURE_H
#define PETAL_ENGINE_STATE_FAILURE_H

#include "base/mutex.h"
#include "engine/petal.h"

enum background_kind { BACKGROUND_FLUSH, BACKGROUND_COMPACTION, BACKGROUND_KINDS };

struct background_state {
    petal_error errors[BACKGROUND_KINDS]; /* PETAL_OK: none, or made good */
    enum background_kind latest;
};

struct damage;

/* What went wrong. */
struct failure {
    struct mutex mutex; /* a leaf; guards what follows, but what is atomic is read without it */
    /* Once set, writes are refused with this cause until the database is opened again. */
    _Atomic(bool) failed;
    petal_error cause; /* does not change once `failed` is seen */
    struct background_state background;
    _Atomic(struct damage *) damage; /* the newest (engine/state/damage.h) */
};

/* Count it and keep the cause, the latest of its kind until work of that kind succeeds. */
void background_failed(petal_db *db, enum background_kind kind, const petal_error *cause);
void background_succeeded(petal_db *db, enum background_kind kind);

/* The failure of this kind that was not made good, or PETAL_OK. */
enum petal_status background_failure_of(petal_db *db, enum background_kind kind,
                                        petal_error *error);

/* The failure that came last and was not made good; for a database that has turned read-only
 * without one, why it did; else a store file that is known to be damaged. */
void background_error_get(petal_db *db, petal_error *error);

/* ---- failure ---- */

/* Keep the first cause, log it, and turn the database read-only. */
void db_fail(petal_db *db, const petal_error *cause);
/* PETAL_OK, or PETAL_READ_ONLY with the cause in *error: opened read-only, or what failed. */
enum petal_status db_check_writable(petal_db *db, petal_error *error);

/* The first half of it: for calls that look before they write, and whose answer must not depend on
 * what they find. */
enum petal_status db_check_opened_for_writing(const petal_db *db, petal_error *error);

/* Make the directory's names durable. What a failed sync lost no later one brings back, whoever
 * made the names: so the database turns read-only, and no sync after it succeeds. */
enum petal_status db_sync_directory(petal_db *db, petal_error *error);

#endif
