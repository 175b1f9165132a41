/* path_source.h -- a file of the file system as the source of an HFile. */
#ifndef PETAL_HFILE_READER_PATH_SOURCE_H
#define PETAL_HFILE_READER_PATH_SOURCE_H

#include "tools/hfile/petal_hfile.h"

/* Its close ends it. `path` is its name, and stays the caller's. */
enum petal_status hfile_path_source_open(const char *path, const petal_allocator *allocator,
                                         petal_hfile_source *source, petal_error *error);

#endif
