/*
 * lock.h -- who may have a database open at the same time: one writer, or any number of readers.
 *
 * The lock lies on the file LOCK, which holds nothing and is never removed: exclusive for an
 * opening that writes, shared for a read-only one. It belongs to the open file, so openers in the
 * same process count as others do, and it goes with the process that held it.
 *
 * A READ-ONLY OPENING MAKES NO LOCK FILE. Where there is none, or it cannot be opened or locked, it
 * reads without a lock:
 * - Missing: the file is made by the first writer, before it reads anything, and nothing removes
 *   it. So nobody writes here, nor has since the files came here, by a copy that left the empty
 *   file out. A writer that comes now makes the file, hence opener_lock_confirm.
 * - EROFS, and what file systems say that know no locks: nobody writes to such a medium, or nobody
 *   could exclude others there.
 * - EACCES, EPERM: who keeps readers out of the lock file has to keep writers away from them as
 *   well. This one is logged.
 * A writer that comes later cannot know of such a reader: it may remove files that the reader
 * needs. Then reads fail, since each file is known by its identity; they do not give wrong answers.
 */
#ifndef PETAL_ENGINE_DB_LOCK_H
#define PETAL_ENGINE_DB_LOCK_H

#include "base/directory.h"

/* PETAL_BUSY: another opener's lock excludes this one; the error names the process if that can be
 * known (base/lock_holder.h). *lock, NULL before, is NULL or open
 * afterwards, also on failure; locked on success. */
enum petal_status opener_lock_take(const struct directory *directory, bool shared,
                                   petal_file **lock, petal_error *error);

/*
 * The last step of a read-only opening: PETAL_BUSY if it began without a lock file and there is one
 * now, so that a writer came and what was read may be of two times.
 */
enum petal_status opener_lock_confirm(const struct directory *directory, const petal_file *lock,
                                      petal_error *error);

#endif
