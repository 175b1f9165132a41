/*
 * manifest.h -- which tables, families and store files there are, where the log begins, and the
 * counters that must not go back: the durable state of a database but for its cells.
 *
 * It lives in one file, MANIFEST: a snapshot of the state, then one record for each edit.  An edit
 * is atomic: after a power cut all of it is there or nothing.  FORMAT.md describes every byte. What
 * was read may be in the page cache only, so nothing is appended to it as it is:
 * manifest_make_durable, or the first commit, writes a new file (MANIFEST.tmp, sync, rename,
 * directory sync); later commits append and sync, until the file has grown far beyond its snapshot.
 *
 * Failure: after an append, rename or sync that failed nobody knows what the file holds, so the
 * manifest is dead: every later commit returns that first error, PETAL_IO.  A new file that could
 * not be written leaves the old one as it was, and the next commit tries again.  So does an append
 * that found the disk full: what it left is overwritten with zeros and synced; where overwriting
 * takes space and finds none, the end of the record is missing for good, since the next commit
 * writes a new file. An edit that is refused (PETAL_INVALID, PETAL_NO_MEMORY) changes nothing, on
 * disk or here. So is one that would make the file larger than a reader takes, 1 GiB: far below, at
 * 256 MiB, where it makes or alters tables, at 512 MiB otherwise, so that what is in memory can
 * still be flushed, and what is there be dropped.
 *
 * A commit costs what it changes: tables that the edit names are copied and changed, the copies
 * take the place of the old ones, and those come back when the commit fails.  Other tables are not
 * touched.
 *
 * Threads: commits are made one at a time, and the state is read, under one mutex of the engine.
 */
#ifndef PETAL_ENGINE_MANIFEST_MANIFEST_H
#define PETAL_ENGINE_MANIFEST_MANIFEST_H

#include "base/env.h"
#include "base/number_map.h"
#include "engine/wal/file.h"

struct manifest_file {
    uint64_t number;
    uint64_t identity; /* the store file's own, of its trailer */
    uint64_t run;      /* files of one run have disjoint row ranges */
    uint64_t file_bytes;
    uint64_t sequence_min, sequence_max;
    uint64_t cells;
};

struct manifest_family {
    uint16_t id; /* unique in its table, never reused there */
    petal_family_options
        options; /* defaults filled in; name and attributes are the manifest's memory */
    uint64_t flushed_sequence;   /* cells of this store at or below it are in store files */
    struct manifest_file *files; /* in no order */
    size_t file_count, file_capacity;
};

/* What makes a table a snapshot of one: nobody reads or writes it, it holds on to its store files. */
struct manifest_snapshot {
    petal_slice name; /* among snapshots; size 0: an ordinary table */
    int64_t created_ms;
    uint32_t ttl_seconds; /* 0: it stays until it is deleted */
};

struct manifest_table {
    uint32_t id;      /* never reused */
    petal_slice name; /* among ordinary tables; of a snapshot: that of the table it was taken of */
    struct manifest_snapshot snapshot;
    enum petal_durability durability;
    bool read_only;
    const petal_attribute *attributes; /* the manifest's memory */
    size_t attribute_count;
    uint32_t
        next_family_id; /* a created family raises it. An id below that is not in `families` was dropped */
    struct manifest_family *families; /* in order of creation */
    size_t family_count, family_capacity;
    bool changing; /* made by the edit that is being applied; false between edits */
};

struct manifest_writer;

/* What is durable, for reading.  Pointers to tables are good until the next manifest_commit, which
 * replaces those that it changes. */
struct manifest {
    uint64_t database_identity;
    uint64_t salt;             /* of the Bloom filters' hashes */
    uint64_t next_file_number; /* logs and store files; at least 1; an added file raises it */
    uint32_t
        next_table_id; /* at least 1; a created table raises it.  An id below that is not in `tables` was dropped */
    uint64_t last_sequence;
    int64_t last_timestamp; /* the greatest one that the store assigned; 0: none */
    uint64_t oldest_log;    /* logs below are obsolete */
    struct wal_promise promise;
    struct manifest_table **tables; /* by id */
    size_t table_count, table_capacity;
    struct number_map numbers; /* of the store files, each with its table's id */
    struct number_map names;   /* hashes of the names of tables and of snapshots, likewise */
    struct manifest_writer *writer;
};

/* A fresh database with an empty state, in a directory that outlives the manifest.  Writes nothing
 * before the first commit. */
enum petal_status manifest_new(struct manifest **manifest, const struct directory *directory,
                               uint64_t database_identity, uint64_t salt, petal_error *error);

/*
 * Read DIRECTORY/MANIFEST; writes nothing.  PETAL_NOT_FOUND: there is none.  PETAL_UNSUPPORTED: of a newer format.
 * PETAL_CORRUPT: damaged below what a sync had promised, or not what a manifest can say.
 */
enum petal_status manifest_load(struct manifest **manifest, const struct directory *directory,
                                petal_error *error);

/*
 * Make durable what was loaded, before anything is removed, written or said that goes by it: a
 * process that died, or whose sync failed, may have left it in the page cache only.  Writes a new
 * file.  Where the disk is too full for one, the file that is there is written again in its place,
 * unless promises tell that it was synced, and is synced with its name; then commits append to it.
 * Does nothing when this manifest has written a file already.
 */
enum petal_status manifest_make_durable(struct manifest *manifest, petal_error *error);

/* Whether DIRECTORY/MANIFEST can be opened: PETAL_OK, PETAL_NOT_FOUND or an error.  Reads and writes nothing. */
enum petal_status manifest_check_exists(const struct directory *directory, petal_error *error);
void manifest_free(struct manifest *manifest); /* NULL: no-op */

/* NULL when there is none. */
struct manifest_table *manifest_find_table(const struct manifest *manifest, uint32_t id);
struct manifest_family *manifest_find_family(const struct manifest_table *table, uint16_t id);
struct manifest_table *manifest_find_snapshot(const struct manifest *manifest, petal_slice name);
bool manifest_names_file(const struct manifest *manifest, uint64_t number);

static inline bool
manifest_is_snapshot(const struct manifest_table *table)
{
    return table->snapshot.name.size > 0;
}

/*
 * Copies of the state, or of a table in it, with memory of their own: all but the writer, which the
 * copy has none of. On PETAL_NO_MEMORY the copy holds nothing.
 */
enum petal_status manifest_copy(struct manifest *copy, const struct manifest *manifest,
                                const petal_allocator *allocator);
enum petal_status manifest_copy_table(struct manifest_table *copy,
                                      const struct manifest_table *table,
                                      const petal_allocator *allocator);
/* A state that is this table alone. */
enum petal_status manifest_copy_alone(struct manifest *copy, struct manifest_table *table,
                                      const petal_allocator *allocator);
void manifest_copy_fini(struct manifest *copy, const petal_allocator *allocator);
void manifest_copy_table_fini(struct manifest_table *copy, const petal_allocator *allocator);

/*
 * An edit is a list of changes, gathered in memory and applied in the order of the calls.  The builder's calls fail with
 * PETAL_NO_MEMORY only, which manifest_commit returns again for an edit that lacks a change.  They do not look at the state:
 * manifest_commit refuses what does not fit it.
 */
struct manifest_edit {
    const petal_allocator *allocator;
    uint8_t *bytes; /* encoded items */
    size_t size, capacity;
    bool describes; /* it makes or alters tables or families */
    bool failed;
};

void manifest_edit_init(struct manifest_edit *edit, const petal_allocator *allocator);
void manifest_edit_fini(struct manifest_edit *edit);

/* Families as family_options_resolve leaves them; they get the ids 0, 1, 2 … */
enum petal_status manifest_edit_create_table(struct manifest_edit *edit, uint32_t table,
                                             const petal_table_options *options);
enum petal_status manifest_edit_drop_table(struct manifest_edit *edit, uint32_t table);

/* The same for a snapshot of the table of the options' name. It shares ids with tables, and is dropped as one. */
enum petal_status manifest_edit_create_snapshot(struct manifest_edit *edit, uint32_t table,
                                                const petal_table_options *options,
                                                const struct manifest_snapshot *snapshot);

/* All that makes the state of `manifest` from an empty one. */
void manifest_edit_snapshot(struct manifest_edit *edit, const struct manifest *manifest);

/* Replace the table's own attributes, all but the name; the options' families are not looked at. */
enum petal_status manifest_edit_alter_table(struct manifest_edit *edit, uint32_t table,
                                            const petal_table_options *options);

/* A new family's id is not below the table's next_family_id. Altering replaces all attributes but the name. */
enum petal_status manifest_edit_create_family(struct manifest_edit *edit, uint32_t table,
                                              uint16_t family, const petal_family_options *options);
enum petal_status manifest_edit_alter_family(struct manifest_edit *edit, uint32_t table,
                                             uint16_t family, const petal_family_options *options);

/* The family goes with its store files. The last one cannot. */
enum petal_status manifest_edit_drop_family(struct manifest_edit *edit, uint32_t table,
                                            uint16_t family);
enum petal_status manifest_edit_add_file(struct manifest_edit *edit, uint32_t table,
                                         uint16_t family, const struct manifest_file *file);
enum petal_status manifest_edit_remove_file(struct manifest_edit *edit, uint32_t table,
                                            uint16_t family, uint64_t number);

/* These only grow: a value below the state's changes nothing. */
enum petal_status manifest_edit_flushed(struct manifest_edit *edit, uint32_t table, uint16_t family,
                                        uint64_t sequence);
enum petal_status manifest_edit_counters(struct manifest_edit *edit, uint64_t next_file_number,
                                         uint64_t last_sequence, int64_t last_timestamp);
enum petal_status manifest_edit_oldest_log(struct manifest_edit *edit, uint64_t number);
enum petal_status manifest_edit_wal_promise(struct manifest_edit *edit, struct wal_promise promise);

/* For tests: how large the file may become, in place of 512 MiB; half of it where an edit makes or
 * alters tables. */
void manifest_limit(struct manifest *manifest, uint64_t bytes);

/* A commit has failed such that nobody knows what the file holds. */
bool manifest_is_dead(const struct manifest *manifest);

/* Make the edit durable, then apply it to the state: all of it or nothing. Where the manifest is
 * dead afterwards it is PETAL_IO, and nobody knows which of them a later opening will find. */
enum petal_status manifest_commit(struct manifest *manifest, const struct manifest_edit *edit,
                                  petal_error *error);

#endif
