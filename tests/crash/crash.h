/*
 * crash.h -- the ways in which a life ends before its time: the power fails, and something of what
 * is pending survives; or the process dies, and the page cache stays.
 */
#ifndef PETAL_TESTS_CRASH_CRASH_H
#define PETAL_TESTS_CRASH_CRASH_H

#include "tests/disk/vfs.h"

enum crash_kind { CRASH_CUT, CRASH_LOSES_UNIT, CRASH_SPARES_UNIT, CRASH_DEATH };

struct crash {
    enum crash_kind kind;
    enum memory_cut cut; /* of a cut: what survives */
    uint64_t choice;     /* the seed, or the number of the unit (tests/disk/tree.h) */
};

/* The files as they are afterwards; the machine is on. */
void crash_do(const struct crash *crash, struct memory_vfs *files);

/* Any that these files can come to. */
struct crash crash_random(struct memory_vfs *files, struct test_random *random);

/* What it is, for people; in static memory until the next call. */
const char *crash_text(const struct crash *crash);

#endif
