/*
 * lock.h -- who may write to a database: one opener, which excludes the others that write, and
 * those readers that cannot be next to a writer (engine/state/readers.h: the others take no lock
 * here).
 *
 * The lock is on the file LOCK, which is never removed: exclusive for an opening that writes,
 * shared for a reader. It belongs to the open file, so openers in the same process count as others
 * do, and it ends with the process that held it. A writer puts the number of its process into the
 * file, for error messages; nothing else depends on the content.
 *
 * Readers that take it are those that find no registry of readers or cannot lock a slot of it, and
 * those that check or salvage. THEY MAKE NO LOCK FILE. If there is none, or it cannot be opened or
 * locked, they read without a lock:
 * - ENOENT: the first writer makes the file before it reads anything, and nothing removes it. So
 *   there is no writer, nor has there been one since the files were copied here without it. A
 *   writer that comes now makes the file; opener_lock_confirm notices that.
 * - EROFS, and the errors of file systems without locks: nobody writes to such a medium, or nobody
 *   could exclude others there.
 * - EACCES, EPERM: whoever keeps readers out of the lock file has to keep writers away from them as
 *   well. This case is logged.
 * A writer that comes later cannot know of such a reader, and may remove files that the reader
 * needs. Then reads fail, since each file is known by its identity; they do not give wrong answers.
 */
#ifndef PETAL_ENGINE_DB_LOCK_H
#define PETAL_ENGINE_DB_LOCK_H

#include "base/directory.h"

/* PETAL_BUSY: another opener's lock excludes this one; the error names the process of a writer.
 * *lock, NULL before, is NULL or open afterwards, also on failure; locked on success. */
enum petal_status opener_lock_take(const struct directory *directory, bool shared,
                                   petal_file **lock, petal_error *error);

/*
 * The last step of a read-only opening: PETAL_BUSY if it began without a lock file and there is one
 * now: then a writer has come, and what was read may be inconsistent.
 */
enum petal_status opener_lock_confirm(const struct directory *directory, const petal_file *lock,
                                      petal_error *error);

#endif
