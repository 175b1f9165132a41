/*
 * checkpoint.c -- petal_checkpoint: a copy of the database as of one moment, in a directory of its
 * own.
 *
 * What is in the copy is a capture (engine/flush/capture.h). Its files are linked under the numbers
 * they have. The copy has the salt of the original, which the filters in the files need.
 */
#include "base/argument.h"
#include "engine/db/new_database.h"
#include "engine/flush/flush.h"
#include "engine/table/link.h"

static enum petal_status
link_file(const petal_db *db, const struct new_database *copy, uint64_t number, petal_error *error)
{
    char from[PETAL_PATH_BYTES], to[PETAL_PATH_BYTES];

    filename_store_file(from, db->directory.path, number);
    filename_store_file(to, copy->directory.path, number);
    return file_link_or_copy(&db->directory, from, &copy->directory, to, error);
}

static enum petal_status
link_table(const petal_db *db, const struct new_database *copy, const struct manifest_table *table,
           size_t *linked, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t f = 0; f < table->family_count; f++) {
        const struct manifest_family *family = &table->families[f];

        for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++, ++*linked)
            status = link_file(db, copy, family->files[i].number, error);
    }
    return status;
}

/* The captured state without logs: all they held is in files. */
static enum petal_status
fill(petal_db *db, struct new_database *copy, struct manifest *state, size_t *linked,
     petal_error *error)
{
    struct manifest_edit edit;
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; status == PETAL_OK && t < state->table_count; t++)
        status = link_table(db, copy, state->tables[t], linked, error);
    if (status != PETAL_OK)
        return status;
    state->oldest_log = state->next_file_number;
    state->promise = (struct wal_promise){0, 0};
    manifest_edit_init(&edit, db->env.allocator);
    manifest_edit_snapshot(&edit, state);
    status = new_database_complete(copy, db->salt, &edit, error);
    manifest_edit_fini(&edit);
    return status;
}

enum petal_status
petal_checkpoint(petal_db *db, const char *directory, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(directory, error);

    struct new_database copy = {.lock_file = NULL};
    struct capture *capture = NULL;
    size_t linked = 0;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (!filename_directory_fits(directory))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    mutex_lock(&db->capture_mutex);
    status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        status = new_database_begin(&copy, &db->env, directory, error);
        if (status == PETAL_EXISTS)
            error_file(error, PETAL_EXISTS, directory, "%s exists already", directory);
    }
    if (status == PETAL_OK)
        status = flush_capture(db, NULL, false, &capture, error);
    if (status == PETAL_OK)
        status = fill(db, &copy, &capture->state, &linked, error);
    new_database_end(&copy, status == PETAL_OK);
    capture_unref(capture);
    mutex_unlock(&db->capture_mutex);
    if (status == PETAL_OK)
        env_log(&db->env, PETAL_LOG_INFO, "checkpoint of %zu store files in %s", linked, directory);
    return status;
}
