/*
 * output.h -- new store files of a family, one run of them: begun, filled with cells in cell order,
 * completed and opened. What flushes, compactions and bulks write by.
 *
 * The files are complete, synced and open, but nothing names them yet: the caller syncs the
 * directory and commits them, or removes them.
 *
 * Threads: an output belongs to one thread at a time.
 */
#ifndef PETAL_ENGINE_STORE_OUTPUT_H
#define PETAL_ENGINE_STORE_OUTPUT_H

#include "engine/state/db.h"
#include "sstable/sst_writer.h"

struct output_files {
    struct store_file *
        *files; /* one run, in the order of their rows; this holds a reference on each */
    struct manifest_file *described;
    size_t count, file_capacity, described_capacity;
    uint64_t cells, bytes;
};

struct output {
    petal_family *family;
    const petal_family_options *options; /* as they are when the output begins */
    enum file_origin origin;
    int64_t written_ms;
    uint64_t sequence_max; /* the greatest in the files' facts is at least this */
    uint64_t run;          /* whose files they are; 0: of a new one */
    struct output_files *files;
    struct sst_writer *writer; /* NULL: no file is begun */
    struct manifest_file described;
    char path[PETAL_PATH_BYTES]; /* of it */
};

/* `files`: what is to be written goes to it. Allocates nothing. */
void store_output_init(struct output *output, petal_family *family, enum file_origin origin,
                       int64_t written_ms, struct output_files *files);

/* Into the file that is begun, or a new one. PETAL_INVALID: the cell does not sort after the one
 * before. */
enum petal_status store_output_add(struct output *output, const struct cell *cell,
                                   petal_error *error);

/* Bytes of the file that is begun, about; 0: none is. */
uint64_t store_output_bytes(const struct output *output);

/* Bytes of memory that the output has, about, but for the files that are open, which count
 * themselves; and give back what can be written. */
size_t store_output_memory(const struct output *output);
enum petal_status store_output_spill(struct output *output, petal_error *error);

/* Complete the file that is begun, if one is, and open it. */
enum petal_status store_output_end_file(struct output *output, petal_error *error);

/*
 * The cells of the files get sequences that are greater by `shift` than those that they were added
 * with: the files say so, synced, and are opened anew. May be called again, with another shift.
 * On failure the files are there to be removed only. REQUIRES: of FILE_ORIGIN_BULK, and nobody has
 * read them.
 */
enum petal_status store_output_shift(const petal_family *family, struct output_files *files,
                                     uint64_t shift, petal_error *error);

/* What is begun goes; what is complete is the files'. */
void store_output_fini(struct output *output);

/* Release the references; `remove`: the files go with their last reference. Leaves it zero. */
void store_output_files_fini(struct output_files *files, const petal_allocator *allocator,
                             bool remove);

#endif
