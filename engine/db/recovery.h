/* recovery.h -- from the files of a directory to a database as it was acknowledged. */
#ifndef PETAL_ENGINE_DB_RECOVERY_H
#define PETAL_ENGINE_DB_RECOVERY_H

#include "engine/state/db.h"

/*
 * REQUIRES: db->manifest loaded, no thread of the database running. Opens the store files, replays
 * the logs, and when there were logs writes what they held to store files and retires them: a log
 * that another process wrote is never continued, since what the page cache holds of it may not be
 * on the medium. Removes files that nothing names.
 *
 * Where the disk is too full for that, what the logs held stays in memtables, as far as
 * memory_bytes lets memtables grow, and waits for the flush thread. The logs are made durable in
 * their place and kept as closed ones; the next log follows on them.
 *
 * Damage is found out first: an opening that it refuses has removed and written nothing. For that
 * the logs are read twice. A store file that tells that the manifest was cut short refuses it, too
 * (engine/store/orphan_files.h).
 *
 * The manifest may be in the page cache only, just so. It is made durable before anything is
 * removed or written that goes by it: else a power cut would bring an older one back, whose files
 * are gone, and below which the log names tables it never had.
 *
 * Of a read-only opening: writes and removes nothing. The same logs are refused; what they hold
 * stays in memtables, of which there is one a store, as large as it takes; a torn tail is passed
 * over and stays where it is.
 */
enum petal_status recovery_run(petal_db *db, petal_error *error);

#endif
