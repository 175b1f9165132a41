/*
 * new_files.h -- cells in cell order become store files of a database that is put together
 * (engine/db/new_database.h): one run of them.
 *
 * Cells stay as they are. The files are complete and synced; the caller syncs the directory.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_DB_NEW_FILES_H
#define PETAL_ENGINE_DB_NEW_FILES_H

#include "base/cell_iter.h"
#include "base/directory.h"
#include "base/kept_cell.h"
#include "engine/manifest/state.h"
#include "sstable/sst_writer.h"

struct new_files {
    /* Of the caller. */
    const struct directory *directory;
    const petal_family_options *options;
    struct file_owner owner;
    enum file_origin origin;
    uint64_t salt;
    uint64_t *next_number;  /* of the next file; is counted on */
    uint64_t last_sequence; /* cells above it are left out; 0: none */
    /* Told of each file that is complete; false: no memory. */
    bool (*made)(void *argument, const struct manifest_file *file);
    void *argument;
    /* Zero at the beginning. */
    uint64_t run;              /* of the files; 0: there is none */
    struct sst_writer *writer; /* NULL: no file is begun */
    struct manifest_file described;
    struct kept_cell last; /* that was written */
};

/* Write the cells of all sources, one that several have once. Without cells there is no file. */
enum petal_status new_files_write(struct new_files *files, struct cell_iter *const *sources,
                                  size_t count, petal_error *error);

/* What is begun goes; what is complete stays. */
void new_files_fini(struct new_files *files);

#endif
