/* new_files.c -- see new_files.h. */
#include "engine/db/new_files.h"

#include "base/merge_iter.h"
#include "engine/manifest/names.h"
#include "engine/store/open.h"

#define FILE_BYTES ((uint64_t)1 << 30) /* then another one is begun, at the next row */

static enum petal_status
begin_file(struct new_files *files, petal_error *error)
{
    const struct env *env = files->directory->env;
    const struct sst_options options = {
        .block_bytes = files->options->block_bytes,
        .compression = files->options->compression,
        .bloom = files->options->bloom,
        .bloom_prefix_bytes = files->options->bloom_prefix_bytes,
        .bloom_error_rate = files->options->bloom_error_rate,
        .salt = files->salt,
        .file_identity = env_random(env),
        .origin = files->origin,
        .written_ms = env_clock_ms(env),
        .owner = files->owner,
    };
    char path[PETAL_PATH_BYTES];

    files->described = (struct manifest_file){.number = (*files->next_number)++,
                                              .identity = options.file_identity};
    if (files->run == 0)
        files->run = files->described.number;
    files->described.run = files->run;
    filename_store_file(path, files->directory->path, files->described.number);
    return sst_writer_open(&files->writer, files->directory, path, &options, error);
}

static enum petal_status
end_file(struct new_files *files, petal_error *error)
{
    const struct file_facts *facts;
    enum petal_status status = sst_writer_finish(files->writer, &facts, error);

    if (status != PETAL_OK)
        return status;
    store_file_describe(&files->described, facts);
    sst_writer_free(files->writer);
    files->writer = NULL;
    return files->made(files->argument, &files->described) ? PETAL_OK : error_no_memory(error);
}

/* A cell of two sources is written once. */
static enum petal_status
write_cell(struct new_files *files, const struct cell *cell, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if ((files->last_sequence != 0 && cell->sequence > files->last_sequence) ||
        (files->last.is_kept && cell_compare(&files->last.cell, cell) >= 0))
        return PETAL_OK;
    if (files->writer != NULL && sst_writer_bytes(files->writer) >= FILE_BYTES &&
        !slice_equal(files->last.cell.row, cell->row))
        status = end_file(files, error);
    if (status == PETAL_OK && files->writer == NULL)
        status = begin_file(files, error);
    if (status == PETAL_OK)
        status = sst_writer_add(files->writer, cell, error);
    if (status == PETAL_OK && !kept_cell_keep(&files->last, files->directory->env->allocator, cell))
        status = error_no_memory(error);
    return status;
}

enum petal_status
new_files_write(struct new_files *files, struct cell_iter *const *sources, size_t count,
                petal_error *error)
{
    struct merge_iter merge;
    enum petal_status status =
        merge_iter_init(&merge, files->directory->env->allocator, sources, count);

    if (status != PETAL_OK)
        return error_no_memory(error);
    status = merge.iter.ops->seek_first(&merge.iter, error);
    while (status == PETAL_OK && merge.iter.valid) {
        status = write_cell(files, &merge.iter.cell, error);
        if (status == PETAL_OK)
            status = merge.iter.ops->next(&merge.iter, error);
    }
    if (status == PETAL_OK && files->writer != NULL)
        status = end_file(files, error);
    merge.iter.ops->close(&merge.iter);
    return status;
}

void
new_files_fini(struct new_files *files)
{
    sst_writer_free(files->writer);
    kept_cell_fini(&files->last, files->directory->env->allocator);
}
