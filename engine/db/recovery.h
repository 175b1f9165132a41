/* recovery.h -- from the files of a directory to a database as it was acknowledged. */
#ifndef PETAL_ENGINE_DB_RECOVERY_H
#define PETAL_ENGINE_DB_RECOVERY_H

#include "engine/state/db.h"
#include "engine/wal/record.h"

/* How far a read-only opening has read the logs. */
struct log_place {
    uint64_t number, offset; /* of the log, and of the last whole record; 0: there is none */
    struct record_base base; /* before that record */
    uint64_t checksum;       /* of what it holds */
    uint64_t sequence;       /* greatest of the cells in whole records */
    uint64_t applied;        /* greatest of those in memtables: of a record that is not known yet
                                  as a whole, too */
};

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
 * over and stays where it is. recovery_read_logs, which comes next, does that.
 */
enum petal_status recovery_run(petal_db *db, petal_error *error);

enum log_end {
    LOG_READ,    /* all of it */
    LOG_AHEAD,   /* up to a record of a table or family that the manifest does not know: *error */
    LOG_CHANGED, /* the record at `place` was taken back: nothing was read, and all has to be */
};

/* Of a read-only opening: bring what the logs hold from `place` on into the memtables. LEADER. */
enum petal_status recovery_read_logs(petal_db *db, struct log_place *place, enum log_end *end,
                                     petal_error *error);

#endif
