/*
 * drive.h -- everything that can be asked of bytes that may be an HFile, asked: opened, scanned
 * both ways, sought, its filters asked, its blocks walked, checked. Whatever the bytes are, calls
 * return, errors name the file, nothing leaks, and memory stays within bounds.
 */
#ifndef PETAL_TESTS_HFILE_DRIVE_H
#define PETAL_TESTS_HFILE_DRIVE_H

#include "tools/hfile/petal_hfile.h"

struct drive_result {
    enum petal_status opened, scanned, checked; /* the first failure of each */
    uint64_t cells;
    uint64_t digest;   /* of the cells of a forward scan, in order */
    petal_error error; /* the first */
};

/* Aborts where something is not as it must be. `allocator` NULL: the default one. */
struct drive_result drive_hfile(petal_slice bytes, const petal_allocator *allocator);

#endif
