/* export_work.c -- see export_work.h. */
#include "tools/hfile/exchange/export_work.h"

#include "tools/hfile/exchange/out_file.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

#include <assert.h>
#include <stdio.h>

void
export_work_init(struct export_work *work, const char *directory, size_t part_count)
{
    *work = (struct export_work){.directory = directory, .part_count = part_count};
    (void)pthread_mutex_init(&work->mutex, NULL);
    (void)pthread_cond_init(&work->changed, NULL);
    hfile_buffer_init(&work->folders, &hfile_default_allocator);
    hfile_buffer_init(&work->files, &hfile_default_allocator);
}

void
export_work_free(struct export_work *work)
{
    assert(work->threads == 0);
    (void)pthread_cond_destroy(&work->changed);
    (void)pthread_mutex_destroy(&work->mutex);
    hfile_buffer_free(&work->folders);
    hfile_buffer_free(&work->files);
}

/* The first failure stays. Under the mutex. */
static void
fail(struct export_work *work, enum petal_status status, const petal_error *error)
{
    if (work->status != PETAL_OK)
        return;
    work->status = status;
    work->error = *error;
}

static enum petal_status
remember(struct hfile_buffer *paths, const char *path, petal_error *error)
{
    return hfile_buffer_append(paths, path, strlen(path) + 1) ? PETAL_OK
                                                              : hfile_error_no_memory(error);
}

/* The one after `path`, NULL: the first; NULL after the last. */
static const char *
next_path(const struct hfile_buffer *paths, const char *path)
{
    const char *begin = (const char *)paths->bytes;
    size_t next = path == NULL ? 0 : (size_t)(path - begin) + strlen(path) + 1;

    return next < paths->size ? begin + next : NULL;
}

/* ---- For the threads ------------------------------------------------------------------------- */

bool
export_work_take(struct export_work *work, size_t *part)
{
    bool is_left;

    (void)pthread_mutex_lock(&work->mutex);
    is_left = work->status == PETAL_OK && work->next_part < work->part_count;
    if (is_left)
        *part = work->next_part++;
    (void)pthread_mutex_unlock(&work->mutex);
    return is_left;
}

enum petal_status
export_work_make_folder(struct export_work *work, const char *path, petal_error *error)
{
    enum petal_status status;
    bool made;

    (void)pthread_mutex_lock(&work->mutex);
    status = out_folder_make(path, &made, error);
    if (status == PETAL_OK && made) {
        status = remember(&work->folders, path, error);
        if (status != PETAL_OK)
            (void)remove(path);
    }
    (void)pthread_mutex_unlock(&work->mutex);
    return status;
}

enum petal_status
export_work_add_file(struct export_work *work, const char *path, petal_error *error)
{
    enum petal_status status;

    (void)pthread_mutex_lock(&work->mutex);
    status = remember(&work->files, path, error);
    (void)pthread_mutex_unlock(&work->mutex);
    return status;
}

bool
export_work_goes_on(struct export_work *work, uint64_t cell_bytes)
{
    bool goes_on;

    (void)pthread_mutex_lock(&work->mutex);
    work->counts.cell_bytes += cell_bytes;
    work->due++;
    (void)pthread_cond_signal(&work->changed);
    goes_on = work->status == PETAL_OK;
    (void)pthread_mutex_unlock(&work->mutex);
    return goes_on;
}

void
export_work_end_part(struct export_work *work, const petal_hfile_export_counts *counts,
                     enum petal_status status, const petal_error *error)
{
    (void)pthread_mutex_lock(&work->mutex);
    work->counts.files += counts->files;
    work->counts.cells += counts->cells;
    work->counts.file_bytes += counts->file_bytes;
    work->counts.cell_bytes += counts->cell_bytes;
    work->counts.moved_markers += counts->moved_markers;
    work->counts.left_markers += counts->left_markers;
    work->counts.left_puts += counts->left_puts;
    if (status != PETAL_OK)
        fail(work, status, error);
    work->due++;
    (void)pthread_cond_signal(&work->changed);
    (void)pthread_mutex_unlock(&work->mutex);
}

void
export_work_end_thread(struct export_work *work)
{
    (void)pthread_mutex_lock(&work->mutex);
    work->threads--;
    (void)pthread_cond_signal(&work->changed);
    (void)pthread_mutex_unlock(&work->mutex);
}

/* ---- For the caller -------------------------------------------------------------------------- */

/* Under the mutex, which the watch does without. */
static void
ask(struct export_work *work, const struct watching *watching, uint64_t total_bytes)
{
    uint64_t done = work->counts.cell_bytes;
    petal_error error;
    bool goes_on;

    (void)pthread_mutex_unlock(&work->mutex);
    goes_on = watching_asks(watching, done, total_bytes);
    (void)pthread_mutex_lock(&work->mutex);
    if (!goes_on)
        fail(work, hfile_error_set(&error, PETAL_BUSY, work->directory, "the export was given up"),
             &error);
}

enum petal_status
export_work_wait(struct export_work *work, const struct watching *watching, uint64_t total_bytes,
                 petal_error *error)
{
    enum petal_status status;

    (void)pthread_mutex_lock(&work->mutex);
    while (work->threads > 0 || (work->due > 0 && work->status == PETAL_OK)) {
        if (work->due == 0 || work->status != PETAL_OK) {
            (void)pthread_cond_wait(&work->changed, &work->mutex);
        } else {
            work->due--;
            ask(work, watching, total_bytes);
        }
    }
    if (work->status == PETAL_OK)
        ask(work, watching, total_bytes);
    status = work->status;
    if (status != PETAL_OK && error != NULL)
        *error = work->error;
    (void)pthread_mutex_unlock(&work->mutex);
    return status;
}

enum petal_status
export_work_sync(struct export_work *work, petal_error *error)
{
    const char *path = NULL;
    enum petal_status status = PETAL_OK;

    assert(work->threads == 0);
    while (status == PETAL_OK && (path = next_path(&work->folders, path)) != NULL)
        status = out_folder_sync(path, error);
    return status;
}

static void
remove_all(const struct hfile_buffer *paths)
{
    const char *path = NULL;

    while ((path = next_path(paths, path)) != NULL)
        (void)remove(path);
}

void
export_work_take_back(struct export_work *work)
{
    assert(work->threads == 0);
    remove_all(&work->files);
    remove_all(&work->folders);
}
