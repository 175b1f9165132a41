/*
 * files.h -- the files to run: those named, and all *.txt below the folders named, in the order of
 * their names.
 */
#ifndef PETAL_TESTS_CONFORMANCE_FILES_H
#define PETAL_TESTS_CONFORMANCE_FILES_H

#include "engine/petal.h"

struct case_file {
    char *path;
    petal_slice bytes;
};

struct case_files {
    struct case_file *files;
    size_t count;
};

/* Add the file, or what the folder holds.  False, after telling stderr why, if there is nothing to
 * read. */
bool case_files_add(struct case_files *files, const char *path);
void case_files_fini(struct case_files *files);

/* All bytes of a file, to be released with free; false with errno set if it cannot be read. */
bool read_whole_file(const char *path, petal_slice *bytes);

#endif
