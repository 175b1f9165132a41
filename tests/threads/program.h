/*
 * program.h -- random calls of the whole interface by several threads on few rows, recorded as
 * histories (tests/threads/history.h).
 *
 * Two tables, three families, four rows; plain values, numbers, texts. WORKERS put, delete, add,
 * append, write batches over rows and tables, change rows under conditions, and read by gets,
 * multi-gets, scans of all kinds, cursors that stay open over other calls, snapshots, and in
 * transactions, between whose steps may be other calls. The KEEPER truncates, saves and restores a
 * table that the workers use, clones what it saved, takes checkpoints and opens them. Beside all
 * histories the TENDER, whose calls no answer tells of, flushes, compacts, splits and merges
 * regions, alters, makes and drops tables, verifies, counts, clears the cache. A call on a handle
 * that is gone is PETAL_NOT_FOUND and has done nothing.
 *
 * Threads: as the functions say; the database's surroundings order nothing between threads.
 */
#ifndef PETAL_TESTS_THREADS_PROGRAM_H
#define PETAL_TESTS_THREADS_PROGRAM_H

#include "tests/support/test_support.h"
#include "tests/threads/history.h"

#include <stdatomic.h>

#define PROGRAM_WORKERS 3
#define PROGRAM_THREADS (PROGRAM_WORKERS + 2) /* the keeper, and who looks at the end */
#define PROGRAM_KEEPER  PROGRAM_WORKERS

/* What the workers use of table B, which is another one when it was truncated or restored. */
struct program_handles {
    petal_table *table;
    petal_family *family;
};

struct program {
    petal_env env;
    _Atomic(int64_t) clock; /* goes on with each look */
    char *directory, *copy; /* of the database; of checkpoints of it */
    bool removes_copies;    /* they are in a file system of the machine; else they stay */
    petal_db *db;
    petal_table *a;
    petal_family *f, *g;
    _Atomic(struct program_handles *) b;
    struct program_handles handles[64]; /* taken one by one; those before stay */
    unsigned handle_count;
    bool saved;                   /* there is a snapshot of table B; the keeper's */
    unsigned turn;                /* of names that are used once; the keeper's */
    unsigned tables;              /* likewise; the tender's */
    unsigned transaction_percent; /* of the workers' calls */
    struct history history;
    _Atomic(uint64_t) calls, refused, transactions, conflicts;
    uint64_t numbers[PROGRAM_THREADS]; /* of values: each is put once */
    void (*fail)(const char *what);    /* does not return */
};

/* Surroundings; `vfs` and `allocator` may be NULL. Options are chosen by `random`, as is what a
 * reopening changes. */
void program_init(struct program *program, const petal_vfs *vfs, const petal_allocator *allocator,
                  char *directory, char *copy, void (*fail)(const char *what));
void program_open(struct program *program, struct test_random *random);
void program_close(struct program *program);

/* A history begins: what there is. No other thread is at work. */
void program_begin(struct program *program);
/* One of its threads: some calls. */
void program_work(struct program *program, unsigned worker, struct test_random *random,
                  unsigned calls);
void program_keep(struct program *program, struct test_random *random, unsigned calls);
/* One call of the tender, during a history or between two. */
void program_tend(struct program *program, struct test_random *random);
/* It ends, all threads have: what is there is read and fits. False: the history has no order; it
 * was printed. */
bool program_end(struct program *program);

#endif
