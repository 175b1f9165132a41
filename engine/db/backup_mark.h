/*
 * backup_mark.h -- the file BACKUP in the directory of a backup: text for people, whose first line
 * names the database by its identity. It is made before anything else is put there, so a directory
 * without it that is not empty is none of ours. FORMAT.md has its bytes.
 *
 * Threads: pure functions.
 */
#ifndef PETAL_ENGINE_DB_BACKUP_MARK_H
#define PETAL_ENGINE_DB_BACKUP_MARK_H

#include "base/directory.h"

#define BACKUP_MARK_NAME "BACKUP"

enum backup_mark {
    BACKUP_MARK_NONE,
    BACKUP_MARK_UNREADABLE, /* a crash may have left it so; then nothing else is there */
    BACKUP_MARK_OURS,       /* of the database of that identity */
    BACKUP_MARK_OF_ANOTHER
};

enum petal_status backup_mark_read(const struct directory *directory, uint64_t identity,
                                   enum backup_mark *mark, petal_error *error);

/* Durable on return. */
enum petal_status backup_mark_write(struct directory *directory, uint64_t identity,
                                    petal_error *error);

#endif
