/* output.c -- see output.h. */
#include "engine/store/output.h"

#include "engine/store/bloom_share.h"
#include "engine/store/open.h"
#include "engine/store/output_compression.h"

#include <assert.h>

void
store_output_init(struct output *output, petal_family *family, enum file_origin origin,
                  int64_t written_ms, struct output_files *files)
{
    *output = (struct output){
        .family = family,
        .options = family_options(family),
        .origin = origin,
        .written_ms = written_ms,
        .files = files,
    };
}

static enum petal_status
start_file(struct output *output, petal_error *error)
{
    const petal_family_options *options = output->options;
    const petal_family *family = output->family;
    petal_db *db = family->table->db;
    struct output_files *files = output->files;
    struct output_compression compression = output_compression_of(options, output->origin);
    struct sst_options sst = {
        .block_bytes = options->block_bytes,
        .compression = compression.compression,
        .high_compression = compression.high,
        .bloom = options->bloom,
        .bloom_prefix_bytes = options->bloom_prefix_bytes,
        .bloom_error_rate = bloom_share_rate(options, output->origin),
        .bloom_layout = bloom_share_layout(options, output->origin),
        .salt = db->salt,
        .file_identity = env_random(&db->env),
        .origin = output->origin,
        .written_ms = output->written_ms,
        .sequence_max = output->sequence_max,
        .pool = output->origin == FILE_ORIGIN_BULK ? &db->open_files : NULL,
        .owner = {family->table->id, family->id, family->table->name, family->name},
    };

    output->described = (struct manifest_file){
        .number = db_take_file_number(db),
        .identity = sst.file_identity,
    };
    output->described.run = output->run;
    if (output->run == 0)
        output->described.run =
            files->count > 0 ? files->described[0].run : output->described.number;
    filename_store_file(output->path, db->directory.path, output->described.number);
    return sst_writer_open(&output->writer, &db->directory, output->path, &sst, error);
}

enum petal_status
store_output_add(struct output *output, const struct cell *cell, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (output->writer == NULL)
        status = start_file(output, error);
    return status == PETAL_OK ? sst_writer_add(output->writer, cell, error) : status;
}

uint64_t
store_output_bytes(const struct output *output)
{
    return output->writer != NULL ? sst_writer_bytes(output->writer) : 0;
}

size_t
store_output_memory(const struct output *output)
{
    const struct output_files *files = output->files;

    return files->file_capacity * sizeof(struct store_file *) +
           files->described_capacity * sizeof *files->described +
           (output->writer != NULL ? sst_writer_memory(output->writer) : 0);
}

enum petal_status
store_output_spill(struct output *output, petal_error *error)
{
    return output->writer != NULL ? sst_writer_spill(output->writer, error) : PETAL_OK;
}

/* Room for one more file. */
static bool
reserve_file(struct output_files *files, const petal_allocator *allocator)
{
    return mem_grow_array(allocator, &files->files, &files->file_capacity, files->count,
                          files->count + 1, sizeof *files->files) &&
           mem_grow_array(allocator, &files->described, &files->described_capacity, files->count,
                          files->count + 1, sizeof *files->described);
}

enum petal_status
store_output_end_file(struct output *output, petal_error *error)
{
    struct output_files *files = output->files;
    petal_db *db = output->family->table->db;
    const struct file_facts *facts;
    enum petal_status status;

    if (output->writer == NULL)
        return PETAL_OK;
    if (!reserve_file(files, db->env.allocator))
        return error_no_memory(error);
    status = sst_writer_finish(output->writer, &facts, error);
    if (status != PETAL_OK)
        return status;
    store_file_describe(&output->described, facts);
    sst_writer_free(output->writer);
    output->writer = NULL;
    status =
        db_open_file(db, output->family, &output->described, &files->files[files->count], error);
    if (status != PETAL_OK) {
        directory_remove(&db->directory, output->path);
        return status;
    }
    files->files[files->count]->born = readers_state(&db->readers);
    files->cells += output->described.cells;
    files->bytes += output->described.file_bytes;
    files->described[files->count++] = output->described;
    return PETAL_OK;
}

/* One of the files goes from the disk, and from the list. */
static void
drop_file(petal_db *db, struct output_files *files, size_t i, const char *path)
{
    directory_remove(&db->directory, path);
    files->count--;
    files->files[i] = files->files[files->count];
    files->described[i] = files->described[files->count];
}

static enum petal_status
shift_file(const petal_family *family, struct output_files *files, size_t i, uint64_t shift,
           petal_error *error)
{
    petal_db *db = family->table->db;
    struct manifest_file *described = &files->described[i];
    char path[PETAL_PATH_BYTES];
    enum petal_status status;

    filename_store_file(path, db->directory.path, described->number);
    store_file_unref(files->files[i]);
    described->sequence_min += shift - described->sequence_shift;
    described->sequence_max += shift - described->sequence_shift;
    described->sequence_shift = shift;
    status = sst_state_shift(&db->directory, &db->open_files, path, shift, error);
    if (status == PETAL_OK)
        status = db_open_file(db, family, described, &files->files[i], error);
    if (status != PETAL_OK)
        drop_file(db, files, i, path);
    return status;
}

enum petal_status
store_output_shift(const petal_family *family, struct output_files *files, uint64_t shift,
                   petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < files->count; i++) {
        if (files->described[i].sequence_shift != shift)
            status = shift_file(family, files, i, shift, error);
    }
    return status;
}

void
store_output_fini(struct output *output)
{
    sst_writer_free(output->writer);
    output->writer = NULL;
}

void
store_output_files_fini(struct output_files *files, const petal_allocator *allocator, bool remove)
{
    for (size_t i = 0; i < files->count; i++) {
        if (remove)
            atomic_store_explicit(&files->files[i]->obsolete, true, memory_order_relaxed);
        store_file_unref(files->files[i]);
    }
    mem_free(allocator, files->files, files->file_capacity * sizeof *files->files);
    mem_free(allocator, files->described, files->described_capacity * sizeof *files->described);
    *files = (struct output_files){0};
}
