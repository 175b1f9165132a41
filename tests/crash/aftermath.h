/*
 * aftermath.h -- what a crash has left, and what is checked of it.
 *
 * A check that fails ends the test.
 */
#ifndef PETAL_TESTS_CRASH_AFTERMATH_H
#define PETAL_TESTS_CRASH_AFTERMATH_H

#include "tests/crash/oracle.h"

struct aftermath {
    struct memory_vfs *files; /* the machine is on */
    struct oracle oracle;     /* what may be there */
    bool keeps_stored;        /* at least all that was stored, else what was synced */
    bool keeps_cache;         /* the page cache is there: what is shown may be lost by a cut */
    int64_t now_ms;
    uint64_t number; /* of the next write */
};

/* What an opening to read shows; it writes nothing.  False: there is no database yet. */
bool aftermath_shows_readers(const struct aftermath *aftermath, struct world *world);

/* Open the life's database as any options let it, which must succeed and leave nothing behind. */
void aftermath_open(struct life *life, struct test_random *random);

/* The same on a disk that has hardly room, or none, and gets some when it is open. */
void aftermath_open_full(struct life *life, struct test_random *random);

/* The database holds what it may and nothing else; all verifies. The life begins with it; `found`
 * is what was read. */
void aftermath_check(const struct aftermath *aftermath, struct life *life, struct world *found);

/* The database of the life holds `expected`, by gets or by scans. */
void aftermath_expect(struct life *life, bool by_gets, const struct world *expected,
                      const char *otherwise);

/* One more check, or none, of those that cost too much to do them all. */
void aftermath_check_more(const struct aftermath *aftermath, struct life *life,
                          struct test_random *random);

/* The test ends unless the condition holds. */
void aftermath_must(bool condition, const char *otherwise, const petal_error *error);

#endif
