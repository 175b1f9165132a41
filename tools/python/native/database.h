/*
 * An open database that Python may use in any order, from any thread and after closing it: a call
 * on what is closed is PY_CLOSED, never a use of freed memory.
 *
 * Every call enters the database and leaves it. Closing waits until those inside have left, closes
 * the parts (snapshots, scans, batches, transactions) that are still open, then the database. No
 * Python code runs inside, so what is inside always leaves.
 *
 * NULL in place of a database, a table or a part is something that was freed, and so
 * closed. (In place of a snapshot to read at it is none.)
 *
 * In a forked child every call is PETAL_INVALID and touches no lock, since a thread of the parent
 * may have held it; nothing is released there, the memory goes with the child.
 */
#ifndef TOOLS_PYTHON_NATIVE_DATABASE_H
#define TOOLS_PYTHON_NATIVE_DATABASE_H

#include "tools/python/native/call.h"

typedef struct py_database py_database;
typedef struct py_part py_part;

/* Open a database: petal_open. *database counts one holder. */
int py_open(const char *path, const petal_options *options, py_database **database,
            petal_error *error);

/* Close it, with its parts. A failure of petal_close's flush is reported, the database is closed
 * all the same. Closing again is PETAL_OK. */
int py_close(py_database *database, petal_error *error);

/* Give the holder up. The last one closes the database. */
void py_database_free(py_database *database);

bool py_database_is_open(py_database *database);

int py_flush(py_database *database, petal_error *error);
int py_refresh(py_database *database, petal_error *error);
int py_wait_idle(py_database *database, petal_error *error);
int py_checkpoint(py_database *database, const char *directory, petal_error *error);
int py_backup(py_database *database, const char *directory, bool copy, const char *previous,
              petal_backup_report *report, petal_error *error);
int py_stats(py_database *database, petal_stats *stats, petal_error *error);

/* Statistics as text, in call->bytes; the caller copies them before the call's next use. */
int py_stats_text(py_database *database, py_call *call);

/* The names of all tables: a pickled list of bytes. */
int py_tables(py_database *database, py_call *call);

/* A read point. */
int py_snapshot_open(py_database *database, py_part **snapshot, petal_error *error);

/* Close a part; again, or after its database, it does nothing. */
void py_part_close(py_part *part);
void py_part_free(py_part *part);

#endif
