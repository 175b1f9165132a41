/*
 * failure_run.h -- one run of work during which something fails: a database with all that Petal
 * knows of, what was promised of it so far, and what each call told.
 *
 * THE DATABASE.  The ledger's tables, whose numbered writes show what is lost
 * (tests/crash/ledger.h); a table `counted` of one counter and one growing value; and CHANGES that
 * are done or not, each by one call: a table made, cloned, altered, emptied, a snapshot taken, a
 * bulk loaded, the database copied. A call
 * that tells of success has done its change for good, one that fails has not; but where it leaves
 * the database read-only, the next opening may find it done.
 *
 * A fault shows in `problems`, each told at once with what failed and where.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_RUN_H
#define PETAL_TESTS_CRASH_FAILURE_RUN_H

#include "tests/crash/failure_faults.h"
#include "tests/crash/ledger.h"

#define FAILURE_COPY_DIRECTORY "/copy"

enum failure_change {
    FAILURE_MADE,    /* the table `made` is there */
    FAILURE_CLONED,  /* the table `clone` */
    FAILURE_ALTERED, /* the table `altered` has two families */
    FAILURE_EMPTIED, /* the table `emptied` has no rows */
    FAILURE_TAKEN,   /* the snapshot `taken` */
    FAILURE_LOADED,  /* the table `loaded` has what a bulk brought */
    FAILURE_COPIED,  /* a copy in FAILURE_COPY_DIRECTORY */
    FAILURE_CHANGES
};

/* Visible cells of the table `loaded`, and those that the bulk brings. */
#define FAILURE_CELLS_BEFORE 2
#define FAILURE_CELLS_LOADED 62

/* Of the table `regions`, if it is there (tests/crash/failure_regions.h). */
#define FAILURE_REGION_CELLS 240

enum failure_state { FAILURE_UNDONE, FAILURE_DONE, FAILURE_UNKNOWN };

/* What the calls so far have promised. */
struct failure_promise {
    uint64_t attempted, stored, synced; /* writes of the ledger */
    uint64_t counted, counted_at_most;  /* increments that are there, and those that may be */
    enum failure_state now[FAILURE_CHANGES], later[FAILURE_CHANGES]; /* once it is opened again */
    bool file_lost;                                                  /* of a table `lost` */
    bool refuses_writes;                                             /* some table is read-only */
    bool tables_made; /* those of the ledger and all else */
};

struct failure_run {
    struct fixture fixture;
    struct failure_faults faults;
    struct ledger ledger;
    struct failure_promise promise;
    petal_table *counted;
    const char *doing; /* the step */
    uint64_t told;     /* calls that failed, and lines of warning in the log */
    uint64_t problems;
    char about[400]; /* what fails, for the messages */
    bool full;       /* the disk is, whatever else fails */
    size_t threads;  /* of the process when it began */
};

/* On `disk`, which the run owns from now on. */
void failure_run_init(struct failure_run *run, struct memory_vfs *disk,
                      const struct failure_promise *promise, const petal_options *options);

/* Closes what is open; what has leaked is a problem. */
void failure_run_fini(struct failure_run *run);

void failure_problem(struct failure_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the call succeeded; one that failed must tell why, and nothing else. */
bool failure_told(struct failure_run *run, const char *call, enum petal_status status,
                  const petal_error *error);

/* Open, and take the handles of what is there. */
bool failure_open(struct failure_run *run);

/* The next write of the ledger; true: it is stored. */
bool failure_write(struct failure_run *run, enum petal_durability durability);
void failure_count(struct failure_run *run);

/* Note what a call that makes (or, `done` false, takes back) a change has come to. */
void failure_changed(struct failure_run *run, enum failure_change change, bool done,
                     enum petal_status status);

/* Nothing fails any more: what was promised is there, work goes on as far as it should, the process
 * may die and the power fail, and what is closed opens again. `states`: how many ways of a crash
 * are tried, of FAILURE_CRASHES; the first is `crash`. */
#define FAILURE_CRASHES 5
void failure_settle(struct failure_run *run, unsigned crash, unsigned states);

#endif
