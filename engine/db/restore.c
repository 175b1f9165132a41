/*
 * restore.c -- petal_restore: a database is made of a backup, which is opened read-only and copied
 * (engine/db/copy.h).
 */
#include "base/argument.h"
#include "base/clock.h"
#include "base/options.h"
#include "engine/db/backup_mark.h"
#include "engine/db/copy.h"
#include "engine/db/lock.h"

#include <errno.h>

/* ---- a directory whose database is replaced ---- */

struct names {
    bool manifest, data, mark, other; /* other than what a restore leaves that was cut short */
};

static void
note_name(void *argument, const char *name)
{
    struct names *names = argument;
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    names->manifest = names->manifest || kind == FILENAME_MANIFEST;
    names->data = names->data || kind == FILENAME_STORE_FILE || kind == FILENAME_WAL;
    names->mark = names->mark || strcmp(name, BACKUP_MARK_NAME) == 0;
    names->other = names->other || kind == FILENAME_OTHER;
}

static enum petal_status
judge_directory(const struct directory *directory, struct names *names, petal_error *error)
{
    const char *path = directory->path;
    int failed;

    *names = (struct names){.manifest = false};
    failed = directory_list(directory, note_name, names);
    if (failed != 0)
        return error_io(error, path, failed, "list directory");
    if (names->mark)
        return error_file(error, PETAL_INVALID, path, "%s is a backup, which is not replaced",
                          path);
    if (names->other && !names->manifest && !names->data)
        return error_file(error, PETAL_EXISTS, path,
                          "%s is not empty, and what is there is no database", path);
    return PETAL_OK;
}

/* The database keeps its identity, if that can be read. */
static enum petal_status
load_old(struct copy *copy, petal_error *error)
{
    petal_error cause;
    enum petal_status status = manifest_load(&copy->old, &copy->made.directory, &cause);

    if (status == PETAL_OK)
        copy->identity = copy->old->database_identity;
    if (status == PETAL_OK || error_passes(&cause))
        return status == PETAL_OK ? PETAL_OK : error_copy(error, &cause);
    env_log(&copy->db->env, PETAL_LOG_WARNING,
            "what is replaced has no manifest that can be read: %s", cause.text);
    return PETAL_OK;
}

static enum petal_status
open_replaced(struct copy *copy, const char *path, petal_error *error)
{
    struct directory *directory = &copy->made.directory;
    struct names names;
    int failed = directory_open(directory, &copy->db->env, path, true);
    enum petal_status status;

    if (failed != 0)
        return error_io(error, path, failed, "make directory");
    status = judge_directory(directory, &names, error);
    if (status == PETAL_OK)
        status = opener_lock_take(directory, false, &copy->made.lock_file, error);
    /* Again: somebody may have come before the lock. */
    if (status == PETAL_OK)
        status = judge_directory(directory, &names, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync_parent(directory);
    if (failed != 0)
        return error_unknown(error, path, failed, "sync the directory that holds");
    status = names.manifest ? load_old(copy, error) : PETAL_OK;
    if (status != PETAL_OK)
        return status;
    status = copy_watch_readers(copy, copy->old != NULL ? copy->old->number : 0, error);
    /* The sequences of what is restored may be lower than those that they have read. */
    return status == PETAL_OK ? readers_exclude(&copy->readers, error) : status;
}

/* ---- all ---- */

static enum petal_status
open_directory(struct copy *copy, const char *path, petal_error *error)
{
    bool inside;
    enum petal_status status = copy_check_path(copy, path, &inside, error);

    if (status != PETAL_OK)
        return status;
    if (inside)
        return error_file(error, PETAL_INVALID, path,
                          "%s lies in %s, the backup, which is never written to", path,
                          copy->db->directory.path);
    if (copy->may_replace)
        return open_replaced(copy, path, error);
    return new_database_begin(&copy->made, &copy->db->env, path, error);
}

static enum petal_status
restore_into(struct copy *copy, const char *path, petal_error *error)
{
    enum petal_status status = copy_lock(copy->db, error);

    if (status != PETAL_OK)
        return status;
    status = open_directory(copy, path, error);
    if (status == PETAL_OK)
        status = copy_run(copy, error);
    if (status == PETAL_OK)
        copy->report.state_ms = copy->capture->state.last_timestamp;
    copy_end(copy, status == PETAL_OK);
    copy_unlock(copy->db);
    return status;
}

enum petal_status
petal_restore(const char *backup, const char *directory, const petal_restore_options *options,
              petal_backup_report *report, petal_error *error)
{
    if (report != NULL)
        *report = (petal_backup_report){0};
    RETURN_IF_NULL(backup, error);
    RETURN_IF_NULL(directory, error);

    petal_options opening = PETAL_DEFAULTS;
    petal_restore_options known;
    struct copy copy = {.never_links = true};
    uint64_t began = clock_us();
    enum petal_status status;

    error_clear(error);
    status = options_copy(&known, sizeof known, options, "petal_restore_options", error);
    opening.read_only = true;
    opening.env = known.env;
    if (status == PETAL_OK)
        status = petal_open(backup, &opening, &copy.db, error);
    if (status != PETAL_OK)
        return status;
    copy.may_replace = known.replace;
    copy.identity = env_random(&copy.db->env);
    copy.watch = known.watch;
    copy.argument = known.argument;
    status = restore_into(&copy, directory, error);
    (void)petal_close(copy.db, NULL); /* nothing is written */
    if (status != PETAL_OK)
        return status;
    copy.report.took_us = clock_us() - began;
    if (report != NULL)
        *report = copy.report;
    return PETAL_OK;
}
