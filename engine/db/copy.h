/*
 * copy.h -- the state of a database, as of one moment, in another directory: what checkpoints,
 * backups and restores have in common.
 *
 * THE STATE is a capture (engine/flush/capture.h). Of a database that is opened read-only nothing
 * is flushed: what its memtables hold goes straight into store files of the copy, so that nothing
 * is written where the database is.
 *
 * THE DIRECTORY may hold an earlier copy, or a database that is to be replaced. What its manifest
 * names stays as it is until the new manifest has taken its place:
 * 1. A store file that a backup has already, by its identity and size, keeps its number. Of a
 *    database that is replaced no file is kept: it may be damaged.
 * 2. Another one is put there under a number that is free: its own, if possible. It is a link to a
 *    file of `previous`, or of the database; or a copy, which is read back and checked.
 * 3. The names are synced, and the new manifest is renamed over the old one.
 * 4. What it does not name is removed.
 * Whoever dies before step 3 leaves store files that no manifest names. If the old manifest did not
 * know of their table, they would prove that it was cut short (engine/store/orphan_files.h): so
 * before step 2 it is replaced by the same state with greater ids; and the new state has ids above
 * those of the old one, whose files may be left of step 4.
 *
 * READERS of a backup go on: it is a database whose writer the copy is, so it keeps the files that
 * they use (engine/state/readers.h). A database with readers is not replaced, and has none
 * meanwhile.
 *
 * Belongs to one thread, which holds the locks of copy_lock.
 */
#ifndef PETAL_ENGINE_DB_COPY_H
#define PETAL_ENGINE_DB_COPY_H

#include "base/number_map.h"
#include "engine/db/new_database.h"
#include "engine/db/refresh.h"
#include "engine/flush/capture.h"

/* Store files of a directory, by their identities and other facts. */
struct copy_shelf {
    struct directory *directory; /* NULL: there are none */
    struct number_map numbers;
};

struct copy {
    /* Of the caller; `made` has its directory open and locked. */
    petal_db *db;
    struct new_database made;
    struct readers readers; /* of the directory, if anything may be replaced */
    bool may_replace;       /* what is in the directory; else that is nothing */
    bool never_links;       /* to files of the database */
    bool is_backup;         /* the identity of the new one is copy_backup_identity */
    uint64_t identity;      /* if it is not: this */
    /* What is in the directory; NULL: nothing, or it cannot be read. The copy raises its ids, and
     * frees it. */
    struct manifest *old;
    struct copy_shelf previous;                                   /* files to link to */
    bool (*watch)(void *argument, uint64_t done, uint64_t total); /* as in petal_backup_options */
    void *argument;

    /* Zero at the beginning. */
    petal_backup_report report;
    bool is_stocked;                   /* `taken` is known, without which nothing is removed */
    struct number_map taken;           /* numbers of the store files that were there */
    struct number_map named;           /* of those of the new state */
    struct number_map places;          /* of files of the captured one: their numbers there */
    struct copy_shelf present, placed; /* files of `old`, each for one use; of the new state */
    uint64_t next_number;
    uint64_t done, total; /* bytes, for the watch */
    struct capture *capture;
};

/* The identity of a backup of the database, from the items of its only edit: so that a backup tells
 * of which database it is, and that nobody has written to it since. */
uint64_t copy_backup_identity(uint64_t database_identity, petal_slice items);

/* All files that the manifest names. False: no memory. */
bool copy_shelf_fill(struct copy_shelf *shelf, struct directory *directory,
                     const struct manifest *manifest);

/* Is it a path for the directory? *inside: it leads into the database. */
enum petal_status copy_check_path(const struct copy *copy, const char *path, bool *inside,
                                  petal_error *error);

/* While a copy is made table snapshots stay as they are, and of a read-only opening the view: a
 * refresh waits. PETAL_BUSY: this thread makes one already. */
enum petal_status copy_lock(petal_db *db, petal_error *error);
void copy_unlock(petal_db *db);

/* Let nobody be in the way of readers of the directory, which is locked: `state` is that of its
 * manifest, 0: it has none. */
enum petal_status copy_watch_readers(struct copy *copy, uint64_t state, petal_error *error);

/* Capture and copy. PETAL_CORRUPT: a store file is damaged, *error names it. REQUIRES: copy_lock,
 * also for copy_end. */
enum petal_status copy_run(struct copy *copy, petal_error *error);

/* `keep` false: what was put there goes, unless the manifest may name it. Closes the directory. All
 * zero: no-op. */
void copy_end(struct copy *copy, bool keep);

#endif
