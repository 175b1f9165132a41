/*
 * manifest.h -- the state of a database (engine/manifest/state.h) in its file, MANIFEST.
 *
 * The file is a snapshot of the state, then a record for each edit. An edit is atomic: after a
 * power cut all of it is there or nothing. FORMAT.md describes every byte. What was read may be in
 * the page cache only, so nothing is appended to it: manifest_make_durable, or the first commit,
 * writes a new file (MANIFEST.tmp, sync, rename, directory sync); later commits append and sync,
 * until the file has grown far beyond its snapshot.
 *
 * Failure: after a failed append, rename or sync the file's content is unknown, so the manifest is
 * dead: every later commit returns that first error, PETAL_IO. A new file that could not be written
 * leaves the old one as it was, and the next commit tries again. So does an append that found the
 * disk full: its bytes are overwritten with zeros and synced; if overwriting takes space and finds
 * none, the record stays without its end, since the next commit writes a new file. A refused edit
 * (PETAL_INVALID, PETAL_NO_MEMORY) changes nothing, on disk or in memory. An edit is refused if it
 * makes the file larger than 256 MiB and creates or alters tables, or larger than 512 MiB: far
 * below the 1 GiB that a reader takes, so that memtables can still be flushed and tables dropped.
 *
 * A commit costs what it changes, however many tables and files there are: the edit is applied to
 * the state, and taken back step by step (engine/manifest/undo.h) if it cannot be made durable.
 *
 * Threads: commits are made one at a time, and the state is read, under one mutex of the engine.
 */
#ifndef PETAL_ENGINE_MANIFEST_MANIFEST_H
#define PETAL_ENGINE_MANIFEST_MANIFEST_H

#include "base/directory.h"
#include "engine/manifest/edit.h"
#include "engine/manifest/state.h"

/* A fresh database with an empty state, in a directory that outlives the manifest.  Writes nothing
 * before the first commit. */
enum petal_status manifest_new(struct manifest **manifest, struct directory *directory,
                               uint64_t database_identity, uint64_t salt, petal_error *error);

/* Read DIRECTORY/MANIFEST; writes nothing. PETAL_NOT_FOUND: there is none. PETAL_UNSUPPORTED: of a
 * newer format. PETAL_CORRUPT: damaged before a synced offset, or impossible. */
enum petal_status manifest_load(struct manifest **manifest, struct directory *directory,
                                petal_error *error);

/* The same next to a writer: what looks damaged may be what it is writing, and is read again. */
enum petal_status manifest_load_live(struct manifest **manifest, struct directory *directory,
                                     petal_error *error);

/* What a writer has made of the file since it was loaded. */
struct manifest_news {
    bool changed;           /* there is another state */
    bool replaced;          /* it is in another file: what led to it is not known */
    uint64_t last_sequence; /* else: when the next state after the loaded one was begun */
};
enum petal_status manifest_look(const struct manifest *manifest, struct manifest_news *news,
                                petal_error *error);

/* What a walk over a manifest tells; members may be NULL. */
struct manifest_visitor {
    void *argument;
    /* The bytes of the file, before all else; good until the walk ends. */
    void (*file)(void *argument, petal_slice bytes);
    /* A record that is whole: an edit with its items, or a seal without any. */
    void (*record)(void *argument, uint64_t offset, uint64_t bytes, uint64_t promise, bool is_edit,
                   petal_slice items);
    /* Damage, of so many bytes from error->offset on; 0: the bytes are right, what they say is
     * not. Harmless: what a write that was cut off left after the last record, which no sync had
     * promised. */
    void (*fault)(void *argument, const petal_error *error, uint64_t bytes, bool harmless);
};

/* As manifest_load, of the file at `path`, as far as it can be read: what is damaged, or does not
 * fit what was read before, is told and skipped. The state is only to be looked at. Fails if
 * nothing of the file can be read. *whole: no fault was told. */
enum petal_status manifest_load_parts(struct manifest **manifest, struct directory *directory,
                                      const char *path, const struct manifest_visitor *visitor,
                                      bool *whole, petal_error *error);

/*
 * Make durable what was loaded, before anything depends on it: a process that died, or whose sync
 * failed, may have left it in the page cache only. Writes a new file. If the disk is too full, the
 * present file is written again in its place, unless promises prove that it was synced, and is
 * synced with its name; then commits append to it. No-op after this manifest has written a file.
 */
enum petal_status manifest_make_durable(struct manifest *manifest, petal_error *error);

/* Whether DIRECTORY/MANIFEST can be opened: PETAL_OK, PETAL_NOT_FOUND or an error.  Reads and
 * writes nothing. */
enum petal_status manifest_check_exists(const struct directory *directory, petal_error *error);
void manifest_free(struct manifest *manifest); /* NULL: no-op */

/* For tests: the most bytes instead of 512 MiB; half of that for edits that create or alter
 * tables. */
void manifest_limit(struct manifest *manifest, uint64_t bytes);

/* A commit has failed, and the content of the file is unknown. */
bool manifest_is_dead(const struct manifest *manifest);

/* Make the edit durable and apply it to the state: all of it or nothing. If the manifest is dead
 * afterwards (PETAL_IO), a later opening may find either. */
enum petal_status manifest_commit(struct manifest *manifest, struct manifest_edit *edit,
                                  petal_error *error);

/* What no state that anybody may have seen has for a number: the next commit's. A commit that
 * failed, too, was perhaps seen before it was taken back. */
uint64_t manifest_next_state(const struct manifest *manifest);

#endif
