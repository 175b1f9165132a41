/* spill.c -- see spill.h. */
#include "bloom/filter/spill.h"

#include "base/mem.h"
#include "bloom/file/set_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define MOST_TRIES 16

/* ---- the file ---- */

enum petal_status
spill_begin(struct spill *spill, const struct env *env, const char *path, petal_error *error)
{
    int failed;

    *spill = (struct spill){.env = env};
    failed = env->vfs->open_directory(env->vfs->context, path, false, &spill->directory);
    if (failed == 0)
        return PETAL_OK;
    spill->directory = NULL;
    if (failed == ENOTDIR)
        return error_file(error, PETAL_NOT_FOUND, path, "%s is not a directory", path);
    return set_file_directory_failed(error, path, path, failed);
}

/* It was there for a moment only; if it cannot be removed, maybe it can later. */
static void
remove_name(struct spill *spill)
{
    const petal_vfs *vfs = spill->env->vfs;

    if (spill->is_named && vfs->remove(vfs->context, spill->directory, spill->name) == 0)
        spill->is_named = false;
}

void
spill_end(struct spill *spill)
{
    const petal_allocator *allocator;

    if (spill->directory == NULL)
        return;
    allocator = spill->env->allocator;
    if (spill->file != NULL) {
        remove_name(spill);
        (void)spill->env->vfs->close(spill->env->vfs->context, spill->file);
    }
    spill->env->vfs->close_directory(spill->env->vfs->context, spill->directory);
    mem_free(allocator, spill->runs, spill->run_capacity * sizeof *spill->runs);
    *spill = (struct spill){0};
}

static enum petal_status
create_file(struct spill *spill, petal_error *error)
{
    const petal_vfs *vfs = spill->env->vfs;
    int failed = EEXIST;

    for (int try = 0; try < MOST_TRIES && failed == EEXIST; try++) {
        snprintf(spill->name, sizeof spill->name, "petal-filter-%016" PRIx64 ".tmp",
                 env_random(spill->env));
        failed =
            vfs->open(vfs->context, spill->directory, spill->name,
                      PETAL_FILE_READ | PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE,
                      &spill->file);
    }
    if (failed != 0) {
        spill->file = NULL;
        return error_io(error, spill->name, failed, "create");
    }
    spill->is_named = true;
    remove_name(spill);
    return PETAL_OK;
}

/* ---- writing ---- */

enum petal_status
spill_add(struct spill *spill, const uint64_t *hashes, size_t count, petal_error *error)
{
    struct spill_run run = {.offset = spill->end, .count = count};
    size_t size = count * sizeof *hashes;
    enum petal_status status = PETAL_OK;
    int failed;

    if (count == 0)
        return PETAL_OK;
    if (!mem_grow_array(spill->env->allocator, &spill->runs, &spill->run_capacity, spill->run_count,
                        spill->run_count + 1, sizeof *spill->runs))
        return error_no_memory(error);
    if (spill->file == NULL)
        status = create_file(spill, error);
    if (status != PETAL_OK)
        return status;
    failed =
        spill->env->vfs->write_at(spill->env->vfs->context, spill->file, spill->end, hashes, size);
    if (failed != 0)
        return error_io(error, spill->name, failed, "write");
    spill->end += size;
    spill->runs[spill->run_count++] = run;
    spill->count += count;
    return PETAL_OK;
}

/* ---- reading ---- */

static enum petal_status
read_at(const struct spill *spill, uint64_t offset, void *to, size_t size, petal_error *error)
{
    const petal_vfs *vfs = spill->env->vfs;
    size_t got;
    int failed = vfs->read_at(vfs->context, spill->file, offset, to, size, &got);

    if (failed != 0)
        return error_io(error, spill->name, failed, "read");
    if (got != size)
        return error_corrupt(error, spill->name, offset,
                             "%zu bytes were read of %zu that were written", got, size);
    return PETAL_OK;
}

/* Binary search among the hashes of the run that were not read yet. */
static enum petal_status
find_end(const struct spill *spill, struct spill_run *run, uint64_t last, petal_error *error)
{
    uint64_t low = run->taken, high = run->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2, hash;
        enum petal_status status =
            read_at(spill, run->offset + middle * sizeof hash, &hash, sizeof hash, error);

        if (status != PETAL_OK)
            return status;
        if (hash <= last)
            low = middle + 1;
        else
            high = middle;
    }
    run->end = low;
    return PETAL_OK;
}

enum petal_status
spill_find(struct spill *spill, uint64_t last, uint64_t *count, petal_error *error)
{
    *count = 0;
    for (size_t i = 0; i < spill->run_count; i++) {
        enum petal_status status = find_end(spill, &spill->runs[i], last, error);

        if (status != PETAL_OK)
            return status;
        *count += spill->runs[i].end - spill->runs[i].taken;
    }
    return PETAL_OK;
}

enum petal_status
spill_read(struct spill *spill, uint64_t *hashes, petal_error *error)
{
    for (size_t i = 0; i < spill->run_count; i++) {
        struct spill_run *run = &spill->runs[i];
        size_t count = (size_t)(run->end - run->taken);
        enum petal_status status = read_at(spill, run->offset + run->taken * sizeof *hashes, hashes,
                                           count * sizeof *hashes, error);

        if (status != PETAL_OK)
            return status;
        hashes += count;
        run->taken = run->end;
    }
    return PETAL_OK;
}
