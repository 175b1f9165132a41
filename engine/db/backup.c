/*
 * backup.c -- petal_backup: a copy of the database in a directory that may hold an earlier one
 * (engine/db/copy.h).
 *
 * The file BACKUP in it says whose backup it is, and is made before anything else: a directory
 * without it that is not empty is none of ours. The identity of the copy says that it is unchanged:
 * once somebody has opened it to write, its manifest has become another one.
 */
#include "base/argument.h"
#include "base/clock.h"
#include "base/options.h"
#include "engine/db/backup_mark.h"
#include "engine/db/copy.h"
#include "engine/db/lock.h"

#include <errno.h>

/* ---- the destination ---- */

struct names {
    bool manifest, log, other;
};

static void
note_name(void *argument, const char *name)
{
    struct names *names = argument;
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    names->manifest = names->manifest || kind == FILENAME_MANIFEST;
    names->log = names->log || kind == FILENAME_WAL;
    names->other = names->other || (kind != FILENAME_LOCK && strcmp(name, BACKUP_MARK_NAME) != 0);
}

/* May the directory be written to? *fresh: it has nothing so far. */
static enum petal_status
judge_destination(const struct copy *copy, struct names *names, bool *fresh, petal_error *error)
{
    const struct directory *directory = &copy->made.directory;
    const char *path = directory->path;
    enum backup_mark mark;
    enum petal_status status;
    int failed;

    *names = (struct names){.manifest = false};
    failed = directory_list(directory, note_name, names);
    if (failed != 0)
        return error_io(error, path, failed, "list directory");
    status = backup_mark_read(directory, copy->db->identity, &mark, error);
    if (status != PETAL_OK)
        return status;
    if (mark == BACKUP_MARK_OF_ANOTHER)
        return error_file(error, PETAL_EXISTS, path, "%s is a backup of another database", path);
    *fresh = !names->other;
    if (mark == BACKUP_MARK_OURS || *fresh)
        return PETAL_OK;
    return error_file(error, PETAL_EXISTS, path,
                      "%s is not empty, and not a backup that was made here", path);
}

static enum petal_status
refuse_changed(const char *path, petal_error *error)
{
    return error_file(error, PETAL_EXISTS, path,
                      "%s was opened to write since it was a backup, which would be lost: name "
                      "another directory",
                      path);
}

/* What tells of the manifest whether it is a backup's. */
struct edits {
    uint64_t database_identity; /* of which database */
    size_t count;
    uint64_t identity; /* that it has if it is one */
    petal_error fault; /* the first; PETAL_OK: none */
};

static void
note_record(void *argument, uint64_t offset, uint64_t bytes, uint64_t promise, bool is_edit,
            petal_slice items)
{
    struct edits *edits = argument;

    (void)offset;
    (void)bytes;
    (void)promise;
    if (is_edit && edits->count++ == 0)
        edits->identity = copy_backup_identity(edits->database_identity, items);
}

static void
note_fault(void *argument, const petal_error *error, uint64_t bytes, bool harmless)
{
    struct edits *edits = argument;

    (void)bytes;
    (void)harmless;
    if (edits->fault.status == PETAL_OK)
        edits->fault = *error;
}

static enum petal_status
load_old(struct copy *copy, const struct names *names, petal_error *error)
{
    const char *directory = copy->made.directory.path;
    struct edits edits = {.database_identity = copy->db->identity};
    const struct manifest_visitor visitor = {
        .argument = &edits, .record = note_record, .fault = note_fault};
    char path[PETAL_PATH_BYTES];
    bool whole;
    enum petal_status status;

    if (!names->manifest)
        return PETAL_OK;
    filename_manifest(path, directory);
    status = manifest_load_parts(&copy->old, &copy->made.directory, path, &visitor, &whole, error);
    if (status != PETAL_OK)
        return status;
    if (edits.fault.status != PETAL_OK)
        return error_copy(error, &edits.fault);
    if (names->log || edits.count != 1 || copy->old->database_identity != edits.identity)
        return refuse_changed(directory, error);
    return PETAL_OK;
}

/* What an earlier run left that was cut short. */
static void
remove_left_over(void *argument, const char *name)
{
    struct copy *copy = argument;
    char path[PETAL_PATH_BYTES];
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    if (kind == FILENAME_STORE_FILE &&
        (copy->old == NULL || !manifest_names_file(copy->old, number)))
        readers_remove(&copy->readers, kind, number, 0);
    if (kind != FILENAME_MANIFEST_TEMPORARY)
        return;
    filename_manifest_temporary(path, copy->made.directory.path);
    (void)directory_remove(&copy->made.directory, path);
}

static enum petal_status
open_destination(struct copy *copy, const char *path, petal_error *error)
{
    struct directory *directory = &copy->made.directory;
    struct names names;
    bool inside, fresh;
    enum petal_status status = copy_check_path(copy, path, &inside, error);
    int failed;

    if (status != PETAL_OK)
        return status;
    if (inside)
        return error_file(error, PETAL_INVALID, path,
                          "%s lies in %s, of which it would be the backup; name another directory",
                          path, copy->db->directory.path);
    failed = directory_open(directory, &copy->db->env, path, true);
    if (failed != 0)
        return error_io(error, path, failed, "make directory");
    status = judge_destination(copy, &names, &fresh, error);
    if (status == PETAL_OK)
        status = opener_lock_take(directory, false, &copy->made.lock_file, error);
    /* Again: somebody may have come before the lock. */
    if (status == PETAL_OK)
        status = judge_destination(copy, &names, &fresh, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync_parent(directory);
    if (failed != 0)
        return error_unknown(error, path, failed, "sync the directory that holds");
    status = fresh ? backup_mark_write(directory, copy->db->identity, error)
                   : load_old(copy, &names, error);
    if (status != PETAL_OK)
        return status;
    status = copy_watch_readers(copy, copy->old != NULL ? copy->old->number : 0, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_list(directory, remove_left_over, copy);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "list directory");
}

/* ---- the backup before ---- */

struct previous {
    struct directory directory;
    petal_file *lock_file;
    struct manifest *manifest;
};

static enum petal_status
open_previous(struct copy *copy, struct previous *previous, const char *path, petal_error *error)
{
    bool of_database = false, of_copy = false;
    int failed;
    enum petal_status status;

    if (path == NULL)
        return PETAL_OK;
    if (!filename_directory_fits(path))
        return error_set(error, PETAL_INVALID,
                         "the path of the backup before is empty or too long");
    failed = directory_contains(&copy->db->directory, path, &of_database);
    if (failed == 0)
        failed = directory_contains(&copy->made.directory, path, &of_copy);
    if (failed != 0)
        return error_io(error, path, failed, "tell the place of");
    if (of_database)
        return error_file(error, PETAL_INVALID, path,
                          "%s is the database itself; name an earlier backup of it", path);
    if (of_copy)
        return PETAL_OK; /* what is there is skipped anyway */
    failed = directory_open(&previous->directory, &copy->db->env, path, false);
    if (failed != 0 && failed != ENOENT)
        return error_io(error, path, failed, "open directory");
    status = failed == ENOENT ? PETAL_NOT_FOUND : PETAL_OK;
    if (status == PETAL_OK)
        status = opener_lock_take(&previous->directory, true, &previous->lock_file, error);
    if (status == PETAL_OK)
        status = manifest_load(&previous->manifest, &previous->directory, error);
    if (status == PETAL_NOT_FOUND) {
        env_log(&copy->db->env, PETAL_LOG_WARNING,
                "there is no backup in %s: no files are shared with it", path);
        error_clear(error);
        return PETAL_OK;
    }
    if (status != PETAL_OK)
        return status;
    return copy_shelf_fill(&copy->previous, &previous->directory, previous->manifest)
               ? PETAL_OK
               : error_no_memory(error);
}

static void
close_previous(const struct copy *copy, struct previous *previous)
{
    if (previous->lock_file != NULL)
        copy->db->env.vfs->close(copy->db->env.vfs->context, previous->lock_file);
    manifest_free(previous->manifest);
    directory_close(&previous->directory);
}

/* ---- all ---- */

enum petal_status
petal_backup(petal_db *db, const char *destination, const petal_backup_options *options,
             petal_backup_report *report, petal_error *error)
{
    if (report != NULL)
        *report = (petal_backup_report){0};
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(destination, error);

    struct copy copy = {.db = db, .may_replace = true, .is_backup = true};
    struct previous previous = {.lock_file = NULL};
    petal_backup_options known;
    uint64_t began = clock_us();
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&known, sizeof known, options, "petal_backup_options", error);
    if (status != PETAL_OK)
        return status;
    copy.never_links = known.copy;
    copy.watch = known.watch;
    copy.argument = known.argument;
    status = copy_lock(db, error);
    if (status != PETAL_OK)
        return status;
    status = db->read_only ? PETAL_OK : db_check_writable(db, error);
    if (status == PETAL_OK)
        status = open_destination(&copy, destination, error);
    if (status == PETAL_OK)
        status = open_previous(&copy, &previous, known.previous, error);
    if (status == PETAL_OK)
        status = copy_run(&copy, error);
    close_previous(&copy, &previous);
    copy_end(&copy, status == PETAL_OK);
    copy_unlock(db);
    if (status != PETAL_OK)
        return status;
    copy.report.took_us = clock_us() - began;
    if (report != NULL)
        *report = copy.report;
    env_log(&db->env, PETAL_LOG_INFO, "backup of %llu store files in %s",
            (unsigned long long)copy.report.files, destination);
    return PETAL_OK;
}
