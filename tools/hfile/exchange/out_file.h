/*
 * out_file.h -- an HFile that comes into being in a folder. It is written under a name that begins
 * with '_', which HBase passes over, and gets its own, 32 hexadecimal digits as HBase gives them,
 * when it is whole and on the medium.
 */
#ifndef PETAL_HFILE_EXCHANGE_OUT_FILE_H
#define PETAL_HFILE_EXCHANGE_OUT_FILE_H

#include "tools/hfile/petal_hfile.h"

#define OUT_FILE_PATH_BYTES 4096

struct out_file {
    char path[OUT_FILE_PATH_BYTES];    /* as it is called when it is whole */
    char at_work[OUT_FILE_PATH_BYTES]; /* as it is called until then */
    int descriptor;
    petal_hfile_writer *writer;
};

/* Begin a file in `folder`, which is there. On failure there is nothing to be closed. */
enum petal_status out_file_begin(struct out_file *file, const char *folder,
                                 const petal_hfile_write_options *options, petal_error *error);

/* Write its end and sync it, give it its name and close it. On failure it is gone. `file->path`
 * stays. The folder is the caller's to sync. */
enum petal_status out_file_finish(struct out_file *file, uint64_t *bytes, petal_error *error);

/* Close it and take it away. */
void out_file_abandon(struct out_file *file);

/* Make a folder unless it is there; *made says which. Its parents are there. */
enum petal_status out_folder_make(const char *path, bool *made, petal_error *error);

/* The names in the folder are on the medium when this has succeeded. */
enum petal_status out_folder_sync(const char *path, petal_error *error);

#endif
