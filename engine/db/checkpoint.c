/*
 * checkpoint.c -- petal_checkpoint: a copy of the database as of one moment, in a directory of its
 * own, whose files are links (engine/db/copy.h).
 */
#include "base/argument.h"
#include "engine/db/copy.h"

enum petal_status
petal_checkpoint(petal_db *db, const char *directory, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(directory, error);

    struct copy copy = {.db = db};
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (!filename_directory_fits(directory))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    status = copy_lock(db, error);
    if (status != PETAL_OK)
        return status;
    status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        copy.identity = env_random(&db->env);
        status = new_database_begin(&copy.made, &db->env, directory, error);
        if (status == PETAL_EXISTS)
            error_file(error, PETAL_EXISTS, directory, "%s exists already", directory);
    }
    if (status == PETAL_OK)
        status = copy_run(&copy, error);
    copy_end(&copy, status == PETAL_OK);
    copy_unlock(db);
    if (status == PETAL_OK)
        env_log(&db->env, PETAL_LOG_INFO, "checkpoint of %llu store files in %s",
                (unsigned long long)copy.report.files, directory);
    return status;
}
