/*
 * damage.h -- store files that are known to be damaged or missing: what fails because of them, so
 * that nothing else does.
 *
 * LOST: a file that could not be opened with the database, because it is missing or not the file
 * that the manifest describes. Any cell of the family may be in it, so the family is unusable until
 * it is dropped, or the database is opened with the file back: reads, writes, compactions and
 * copies of it are refused with the cause. Cells in logs are recovered and flushed as usual. The
 * file keeps its name in the manifest until the family is dropped, its table truncated or restored.
 *
 * BAD: a file that a compaction could not read. Reads that need no bad block of it succeed, as do
 * writes and flushes. Background compactions leave it and the older runs of its store alone.
 * petal_compact tries again, and ends this state if it succeeds. Copies are refused.
 *
 * Failures that pass by themselves (error_passes) are no damage.
 *
 * Threads: all functions from any thread, but damage_note_lost.
 */
#ifndef PETAL_ENGINE_STATE_DAMAGE_H
#define PETAL_ENGINE_STATE_DAMAGE_H

#include "engine/state/handle.h"

/* One file. Lives until the database is closed. */
struct damage {
    struct damage *next; /* the one noted before it */
    petal_family *family;
    uint64_t number;
    bool lost;           /* else bad */
    _Atomic(bool) ended; /* the file was compacted away */
    petal_error error;   /* names file, family and table */
};

/* Prefix an error about one of the family's files with table, family and offset, unless it names
 * them. */
void damage_name(const petal_family *family, petal_error *error);

/* The same for an error about a file of some store of the table in the view. */
void damage_name_file(const petal_table *table, const struct view *view, petal_error *error);

/* Opening a file of the family failed with *cause. PETAL_OK: it is damage, and noted; else the
 * status of *cause, or PETAL_NO_MEMORY. REQUIRES: the database is being opened. */
enum petal_status damage_note_lost(petal_family *family, uint64_t number, petal_error *cause);

/* A compaction of the family's files failed with *error. True: an input is damaged, which is noted;
 * *error names the family, and the caller counts its runs again (progress_count_runs). */
bool damage_note_bad(petal_family *family, struct store_file *const *inputs, size_t count,
                     petal_error *error);

/* The files are gone, compacted away or dropped. */
void damage_end(const struct schema *schema, struct store_file *const *files, size_t count);

/* The latest known damage of the family, if given, else of the table, if given, else of the
 * database; PETAL_OK: none. */
enum petal_status damage_check(const struct schema *schema, const petal_table *table,
                               const petal_family *family, petal_error *error);

/* Remove the lost files of a family that was dropped, and whose drop is committed. */
void damage_remove_lost(const petal_family *family);

void damage_free(struct schema *schema);

/* PETAL_OK, or why the family cannot be read and written. */
static inline enum petal_status
family_check_usable(const petal_family *family, petal_error *error)
{
    return family->unusable ? damage_check(family->table->schema, NULL, family, error) : PETAL_OK;
}

/* family_check_writable, without an error to tell. */
static inline bool
family_is_writable(const petal_family *family)
{
    return !family_is_dropped(family) && !family->unusable &&
           !table_options(family->table)->read_only;
}

/* PETAL_NOT_FOUND if it was dropped, PETAL_READ_ONLY if the table takes no writes, PETAL_CORRUPT if
 * it is not usable. */
enum petal_status family_check_writable(const petal_family *family, petal_error *error);

#endif
