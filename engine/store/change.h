/*
 * change.h -- a change of the files or memtables of stores: an edit of the manifest and the
 * matching view. Flushes, compactions and schema changes all use these steps; nothing else changes
 * the files.
 *
 *     change_begin(&change, db, 0);
 *     change_rewritten(&change, family, ...);       or add or remove a store; for each store
 *     manifest_edit_flushed(&change.edit, ...);     further items of the edit
 *     status = change_commit(&change, error);       the edit is durable
 *     if (status == PETAL_OK) {
 *         ...                                       work before readers see the view
 *         change_publish(&change);
 *     }
 *     change_end(&change);                          releases what was not published
 *
 * Lack of memory in any step is returned by change_commit, and nothing fails after it: so both the
 * manifest and the view change, or neither. Once published, removed files go with their last
 * reader. After a failure the files to be added are still the caller's; if `unknown` is set they
 * stay, because the manifest may name them.
 *
 * Threads: manifest_mutex and views.mutex are held from the beginning to the end, over the sync of
 * the manifest. Whoever makes or removes stores holds schema.mutex before; whoever removes some,
 * the write leadership as well.
 */
#ifndef PETAL_ENGINE_STORE_CHANGE_H
#define PETAL_ENGINE_STORE_CHANGE_H

#include "engine/state/db.h"
#include "engine/store/output.h"

struct change {
    petal_db *db;
    struct manifest_edit edit;
    struct view *current;
    struct view *view;     /* the next one; NULL: no store has changed yet */
    size_t slot_count;     /* that it has room for */
    struct store **stores; /* that change */
    size_t store_count, store_capacity;
    petal_family **dropped; /* families */
    size_t dropped_count, dropped_capacity;
    struct store_file **removed; /* files that the manifest names no more; `current` has them */
    size_t removed_count, removed_capacity;
    bool no_memory;
    bool unknown; /* change_commit failed, and nobody knows which files the manifest names */
};

/* `slot_count`: that of families to be made; 0: none is. */
void change_begin(struct change *change, petal_db *db, size_t slot_count);

/* What an output was made of. */
struct rewritten {
    struct store_memtable *memtable; /* NULL: none */
    struct store_file *const *files;
    /* What is left of each: all, a part, or NULL, nothing; NULL: of none anything. */
    struct store_file *const *cuts;
    size_t file_count;
};

/*
 * The files of `output`, as far as they have rows of the store's region, take the place of what
 * they were made of, as far as the store has that still. REQUIRES: the memtable is in the store.
 */
void change_rewritten(struct change *change, struct store *store, const struct rewritten *rewritten,
                      const struct output_files *output);

/* The same in all stores that have the memtable, which was that of `store`: its own, and those that
 * were split off it since. They are flushed up to the sequence `flushed`. */
void change_flushed(struct change *change, const struct store *store,
                    struct store_memtable *memtable, const struct output_files *output,
                    uint64_t flushed);

/* The same in all stores of the family that have rows of the output, which took no memtable's
 * place. */
void change_added(struct change *change, const petal_family *family,
                  const struct output_files *output);

/* The files become files of another run, as they are. REQUIRES: they are in the store, and no file
 * of that run has rows of theirs. */
void change_linked(struct change *change, struct store *store, struct store_file *const *files,
                   size_t file_count, uint64_t run);

/* The store's next view, in place of what it has, if anything; the reference is taken over. The
 * edit tells by itself of what it brings. */
void change_put_store(struct change *change, struct store *store, struct store_view *store_view);

/* The files of a store are not its own any more, though they may be others': the edit tells of it
 * by itself. */
void change_let_go(struct change *change, struct store_file *const *files, size_t count);

/* The store of a region that is merged into another, which takes what it has. */
void change_remove_store(struct change *change, struct store *store);

/* The stores of a family that is dropped: the edit tells of that by itself. */
void change_remove_family(struct change *change, petal_family *family);

/* Make the edit durable, with the present counters. A failure that leaves the manifest's content
 * unknown turns the database read-only. */
enum petal_status change_commit(struct change *change, petal_error *error);

/* Readers see the stores as they are now. REQUIRES: change_commit returned PETAL_OK. */
void change_publish(struct change *change);

void change_end(struct change *change);

#endif
