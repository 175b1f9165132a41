/*
 * full.h -- a file system that is full: another file takes all room but a little, and gives it
 * back.
 */
#ifndef PETAL_TESTS_KERNEL_FULL_H
#define PETAL_TESTS_KERNEL_FULL_H

#include "tests/support/test_support.h"

struct account;

struct full_counts {
    _Atomic(uint64_t) limits, writes, refused, uncertain, died, opened_full, not_opened, read_only;
};

/*
 * One life of a database in `root`/db, with so many bytes left of the file system that `root` is
 * on: it goes on as far as there is room, is read, may die there, and takes writes again when there
 * is room. What was acknowledged is there, what was refused for want of space is not. A process of
 * its own; ends by itself when something is wrong. *written: the writes that are there, *maybe:
 * whether the next one may be.
 */
void full_disk_live(struct account *account, const char *root, uint64_t left, uint64_t seed,
                    _Atomic(uint64_t) *written, _Atomic(bool) *maybe, struct full_counts *counts);

#endif
