/* What the functions of this folder do with a database and its readers; see database.h. */
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

/* A new reader of the database, which the caller is inside of; `object` is its own from here on,
 * also on failure. `close` closes it, without other calls on it. */
int reader_new(py_database *database, void *object, void (*close)(void *object), py_reader **reader,
               petal_error *error);

py_database *reader_database(const py_reader *reader);

/* Hold a reader for a call inside that database: `alone`, or together with others. NULL: it is
 * closed, or of another database. */
void *reader_lock(py_reader *reader, const py_database *database, bool alone);
void reader_unlock(py_reader *reader);

/* Hold a scan alone, and have `next` read on in it: up to `most` rows or pairs, or until the answer
 * has so many bytes. */
int reader_next(py_reader *reader,
                int (*next)(void *object, size_t most, size_t bytes, py_call *call), size_t most,
                size_t bytes, py_call *call);

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
