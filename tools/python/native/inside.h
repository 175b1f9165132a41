/* What the functions of this folder do with a database and its parts; see database.h. */
#ifndef TOOLS_PYTHON_NATIVE_INSIDE_H
#define TOOLS_PYTHON_NATIVE_INSIDE_H

#include "tools/python/native/database.h"

/* Enter; PETAL_OK obliges to leave. */
int database_enter(py_database *database, petal_error *error);
void database_leave(py_database *database);

/* Inside only. */
petal_db *database_db(py_database *database);

py_database *database_hold(py_database *database);
bool database_is_foreign(const py_database *database); /* of a process that this is a child of */

struct part_kind {
    const char *name;
    bool shared; /* several threads may use one at once */
    void (*close)(void *object);
};
extern const struct part_kind snapshot_kind, batch_kind, transaction_kind;

/* A new part of the database, which the caller is inside of; `object` is its own from here on, also
 * on failure. Not NULL: `of` is a part, held by the caller, that is not used while this one is. */
int part_new(py_database *database, const struct part_kind *kind, void *object, const py_part *of,
             py_part **part, petal_error *error);

py_database *part_database(const py_part *part);
bool part_is(const py_part *part, const struct part_kind *kind);

/* Hold a part for a call inside that database. NULL: it is closed, or of another database, and the
 * error says so. */
void *part_lock(py_part *part, const py_database *database, petal_error *error);
void part_unlock(py_part *part);
void part_end(py_part *part); /* instead of unlocking: the object is gone */

/* Hold a scan, and have `next` read on in it: up to `most` rows or pairs, or until the answer has
 * so many bytes. */
int part_next(py_part *part, int (*next)(void *object, size_t most, size_t bytes, py_call *call),
              size_t most, size_t bytes, py_call *call);

/* What a read reads at: now, a snapshot, or a transaction. */
struct view {
    py_part *part; /* held; NULL: now */
    petal_snapshot *snapshot;
    petal_transaction *transaction;
};

/* Hold the part, which may be NULL, for a read; on failure there is nothing to unlock. */
int view_lock(py_part *part, const py_database *database, struct view *view, petal_error *error);
void view_unlock(const struct view *view);

/* Write the error; returns its status. */
int fail(petal_error *error, int status, const char *text);
int fail_closed(petal_error *error); /* of the database */

/* Whether `deadline_ms` (0: none) have passed since `begun`, of clock_begin. */
int64_t clock_begin(uint32_t deadline_ms);
bool clock_is_late(int64_t begun, uint32_t deadline_ms);

/* The call's own result. */
int call_result(py_call *call, py_database *database);
int call_answer(py_call *call); /* the pickle becomes the answer */

#endif
