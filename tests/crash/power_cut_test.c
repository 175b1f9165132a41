/*
 * power_cut_test.c -- the power fails during every file call of a short run, and again
 * during every call of the recovery.  What the database holds afterwards must be a prefix of the
 * writes in their order, with no half batch and no hole, and with everything that was promised.
 *
 * The run makes two tables, writes at its durability, flushes all and then one table, makes and
 * drops a third table, dies as a process and recovers, closes and opens again: so cuts fall into
 * recovery, closing and opening as well. Another run compacts: some runs, then all, flushes in
 * between. A third one fills the memory again and again, so that the largest memtables are flushed
 * and others keep their logs, with batches over both. For each cut these states are tried: all that
 * was not synced is lost; all is kept, which is also what the death of the process alone leaves;
 * and random ones.  Prints its seed and how many states it tried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "engine/compact/compactor.h"
#include "engine/flush/flush.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"

#include <errno.h>
#include <inttypes.h>

#define BIG_VALUE_BYTES 40000 /* its log record crosses a frame */

enum third_table { THIRD_UNKNOWN, THIRD_THERE, THIRD_DROPPED };

/* What the run has been promised so far. */
struct cut_progress {
    uint64_t attempted; /* the last write begun */
    uint64_t stored;    /* the last one that must survive the process */
    uint64_t synced;    /* the last one that must survive a power cut */
    bool tables_made;
    enum third_table third;
};

struct plan {
    enum petal_durability durability; /* PETAL_DURABILITY_DEFAULT: a mixture */
    bool wal_windows;                 /* logs are stored through mappings */
    bool fail;                        /* no cut: the call fails, as if the disk had bad sectors */
    bool reverts;                     /* failed syncs bring the old bytes back */
    uint64_t cut_at;                  /* the call, over all of the run */
};

struct run {
    struct fixture fixture;
    struct ledger ledger;
    struct cut_progress progress;
    struct plan plan;
    uint64_t calls;    /* made on file layers before the present one */
    uint64_t failures; /* of these calls, as planned */
};

struct tally {
    uint64_t cuts, states, second_cuts, further_lives;
};

/* ---- the run: every step tells whether it succeeded ---- */

static enum petal_durability
durability_of(const struct run *run, uint64_t number)
{
    static const enum petal_durability mixture[] = {
        PETAL_ASYNC_WAL, PETAL_SYNC_WAL, PETAL_SYNC_WAL, PETAL_FSYNC_WAL,
        PETAL_ASYNC_WAL, PETAL_SYNC_WAL, PETAL_ASYNC_WAL};

    if (run->plan.durability != PETAL_DURABILITY_DEFAULT)
        return run->plan.durability;
    return mixture[number % (sizeof mixture / sizeof *mixture)];
}

static bool
write_some(struct run *run, uint64_t count)
{
    struct cut_progress *progress = &run->progress;

    for (; count > 0; count--) {
        uint64_t number = ++progress->attempted;
        enum petal_durability durability = durability_of(run, number);

        test_clock_advance(&run->fixture.clock, 1);
        if (ledger_write(&run->ledger, number, durability, NULL) != PETAL_OK)
            return false;
        if (durability >= PETAL_SYNC_WAL)
            progress->stored = number;
        if (durability == PETAL_FSYNC_WAL)
            progress->synced = number;
    }
    return true;
}

static bool
flush(struct run *run, petal_table *table)
{
    if (petal_flush(run->fixture.db, table, NULL) != PETAL_OK)
        return false;
    if (table == NULL)
        run->progress.stored = run->progress.synced = run->progress.attempted;
    return true;
}

static bool
make_third_table(struct run *run)
{
    petal_family_options family = {.name = slice_from_text("x")};
    petal_table_options options = {
        .name = slice_from_text("third"), .families = &family, .family_count = 1};
    petal_write_options sync = {.durability = PETAL_FSYNC_WAL};
    static char big[BIG_VALUE_BYTES];
    petal_table *table;

    return petal_table_create(run->fixture.db, &options, &table, NULL) == PETAL_OK &&
           petal_put(petal_table_family_at(table, 0), slice_from_text("row"), slice_make(NULL, 0),
                     PETAL_LATEST, slice_make(big, sizeof big), &sync, NULL) == PETAL_OK;
}

static bool
drop_third_table(struct run *run)
{
    petal_table *table;

    if (petal_table_open(run->fixture.db, slice_from_text("third"), &table, NULL) != PETAL_OK)
        return false;
    run->progress.third = THIRD_UNKNOWN;
    if (petal_table_drop(table, NULL) != PETAL_OK)
        return false;
    run->progress.third = THIRD_DROPPED;
    return true;
}

/* Open and see what is there: what a reader was shown after a recovery must never be lost. */
static bool
open_again(struct run *run)
{
    struct cut_progress *progress = &run->progress;
    struct ledger_state state;

    if (fixture_open(&run->fixture, NULL) != PETAL_OK ||
        ledger_attach(&run->ledger, run->fixture.db, NULL) != PETAL_OK ||
        ledger_read(&run->ledger, &state, NULL) != PETAL_OK)
        return false;
    assert_true(ledger_is_after(&state, ledger_last(&state)));
    assert_true(ledger_last(&state) >= progress->stored);
    assert_true(ledger_last(&state) <= progress->attempted);
    progress->attempted = progress->stored = progress->synced = ledger_last(&state);
    return true;
}

static bool
close_cleanly(struct run *run)
{
    enum petal_status status = petal_close(run->fixture.db, NULL);

    run->fixture.db = NULL;
    if (status == PETAL_OK)
        run->progress.stored = run->progress.synced = run->progress.attempted;
    return status == PETAL_OK;
}

/* Have the planned thing happen, on the present file layer. */
static void
plan_fault(struct run *run)
{
    uint64_t n = run->plan.cut_at > run->calls ? run->plan.cut_at - run->calls : 0;

    if (run->plan.fail)
        memory_vfs_fail_at(run->fixture.vfs, n, EIO, false);
    else
        memory_vfs_cut_at(run->fixture.vfs, n);
}

/* Death of the process: the files of another layer are what was stored; the planned fault goes over
 * to it. */
static bool
die(struct run *run)
{
    uint64_t calls = memory_vfs_calls(run->fixture.vfs);

    if (memory_vfs_is_off(run->fixture.vfs))
        return false;
    run->failures += memory_vfs_failures(run->fixture.vfs);
    fixture_die(&run->fixture);
    run->calls += calls;
    plan_fault(run);
    return true;
}

static bool
first_life(struct run *run)
{
    if (fixture_open(&run->fixture, NULL) != PETAL_OK ||
        ledger_create(&run->ledger, run->fixture.db, NULL) != PETAL_OK)
        return false;
    run->progress.tables_made = true;
    if (!write_some(run, 5) || !make_third_table(run))
        return false;
    run->progress.third = THIRD_THERE;
    return write_some(run, 7) && flush(run, NULL) && write_some(run, 6) &&
           flush(run, run->ledger.tables[0]) && write_some(run, 4) && drop_third_table(run) &&
           write_some(run, 4);
}

static bool
second_life(struct run *run)
{
    return open_again(run) && write_some(run, 6) && flush(run, run->ledger.tables[1]) &&
           write_some(run, 5) && close_cleanly(run) && open_again(run) && write_some(run, 3);
}

/* True when the run ended without a cut. */
static bool
run_it(struct run *run, struct plan plan, uint64_t seed)
{
    *run = (struct run){.plan = plan};
    fixture_init(&run->fixture, seed);
    memory_vfs_use_log_windows(run->fixture.vfs, plan.wal_windows);
    memory_vfs_revert_on_failed_sync(run->fixture.vfs, plan.reverts);
    plan_fault(run);
    return first_life(run) && die(run) && second_life(run) && close_cleanly(run);
}

static void
end_run(struct run *run)
{
    petal_close(run->fixture.db, NULL);
    run->fixture.db = NULL;
    fixture_fini(&run->fixture);
}

/* ---- checks ---- */

static void
check_third(const struct run *run, petal_db *db)
{
    petal_table *table;
    enum petal_status status = petal_table_open(db, slice_from_text("third"), &table, NULL);

    if (run->progress.third == THIRD_DROPPED)
        assert_int_equal(status, PETAL_NOT_FOUND);
    if (run->progress.third == THIRD_THERE) {
        petal_result *result;
        petal_error error;

        must(status, &error);
        must(petal_result_new(db, &result, &error), &error);
        must(petal_get(table, slice_from_text("row"), NULL, result, &error), &error);
        assert_int_equal(petal_result_count(result), 1);
        assert_int_equal(petal_result_cell(result, 0)->value.size, BIG_VALUE_BYTES);
        petal_result_free(result);
        must(petal_table_verify(table, &error), &error);
    }
}

/* The number of writes that are there. */
static uint64_t
check_content(const struct run *run, struct fixture *after, uint64_t promised)
{
    struct ledger ledger = {.filler = run->ledger.filler};
    petal_error error;
    uint64_t count;

    check_third(run, after->db);
    if (!run->progress.tables_made && ledger_attach(&ledger, after->db, NULL) != PETAL_OK)
        return 0;
    must(ledger_attach(&ledger, after->db, &error), &error);
    count = ledger_must_be_prefix(&ledger);
    if (count < promised || count > run->progress.attempted)
        print_error("cut at %" PRIu64 ": %" PRIu64 " writes there, %" PRIu64 " promised, %" PRIu64
                    " begun\n",
                    run->plan.cut_at, count, promised, run->progress.attempted);
    assert_in_range(count, promised, run->progress.attempted);
    return count;
}

/* `vfs` has lost its power and is on again; it is consumed. */
static void
check_state(const struct run *run, struct memory_vfs *vfs, uint64_t promised)
{
    struct fixture after;
    uint64_t count;

    fixture_init_on(&after, vfs, 7);
    test_clock_set(&after.clock, 5000);
    fixture_must_open(&after);
    assert_true(fixture_directory_is_clean(&after));
    count = check_content(run, &after, promised);
    fixture_must_close(&after);
    fixture_must_open(&after);
    assert_true(fixture_directory_is_clean(&after));
    assert_int_equal(check_content(run, &after, promised), count);
    fixture_fini(&after);
}

static struct memory_vfs *
cut(struct run *run, enum memory_cut how, uint64_t seed)
{
    struct memory_vfs *vfs = memory_vfs_clone(run->fixture.vfs);

    memory_vfs_power_cut(vfs, how, seed);
    return vfs;
}

static void
try_states(struct run *run, unsigned seeds, struct tally *tally)
{
    check_state(run, cut(run, MEMORY_CUT_LOSE_ALL, 0), run->progress.synced);
    check_state(run, cut(run, MEMORY_CUT_KEEP_ALL, 0), run->progress.stored);
    for (unsigned seed = 0; seed < seeds; seed++)
        check_state(run, cut(run, MEMORY_CUT_RANDOM, run->plan.cut_at * 1000 + seed),
                    run->progress.synced);
    tally->states += 2 + seeds;
}

/* The process dies instead of the power, or when it has found that a call failed. The next one goes
 * by what the kernel still holds and the medium does not; then the power fails. What an opening has
 * shown stays. */
static void
try_further_lives(const struct run *run, unsigned states, struct tally *tally)
{
    const struct cut_progress *progress = &run->progress;
    uint64_t stored = run->plan.reverts ? progress->synced : progress->stored;

    for (unsigned i = 0; i < states; i++) {
        struct memory_vfs *left = memory_vfs_clone(run->fixture.vfs);
        bool opened;

        left = fixture_further_state(left, i, run->plan.cut_at * 100, &opened);
        check_state(run, left, opened ? stored : progress->synced);
        tally->further_lives++;
    }
}

/* Cut again at every call of the recovery from one random state. */
static void
try_second_cuts(struct run *run, uint64_t seed, struct tally *tally)
{
    struct memory_vfs *base = cut(run, MEMORY_CUT_RANDOM, seed);
    bool completed = false;

    for (uint64_t n = 1; !completed; n++) {
        struct fixture recovery;
        struct memory_vfs *vfs;

        fixture_init_on(&recovery, memory_vfs_clone(base), 11);
        memory_vfs_cut_at(recovery.vfs, n);
        completed = fixture_open(&recovery, NULL) == PETAL_OK;
        petal_close(recovery.db, NULL);
        recovery.db = NULL;
        completed = completed && !memory_vfs_is_off(recovery.vfs);
        vfs = memory_vfs_clone(recovery.vfs);
        fixture_fini(&recovery);
        memory_vfs_power_cut(vfs, n % 3 == 0 ? MEMORY_CUT_LOSE_ALL : MEMORY_CUT_RANDOM, n);
        check_state(run, vfs, run->progress.synced);
        tally->second_cuts++;
    }
    memory_vfs_free(base);
}

/* ---- the sweeps ---- */

/* How many are tried for each cut. */
static unsigned
random_states(void)
{
    return test_long() ? 200 : test_short() ? 2 : 8;
}

/* How many further lives are tried for each cut. */
static unsigned
further_states(void)
{
    return test_long() ? 50 : test_short() ? 2 : 4;
}

/* Between the cuts that are followed by second ones. */
static uint64_t
second_steps(uint64_t usual)
{
    return test_long() ? 1 : test_short() ? 4 * usual : usual;
}

/* Every call of the plan is cut, every second one where time is short; second cuts at every
 * `second_step`-th of those, 0 for none. */
static void
sweep_plan(struct plan plan, unsigned seeds, uint64_t second_step)
{
    uint64_t seed = test_seed();
    struct tally tally = {0};
    struct run run;
    bool completed = false;

    while (!completed) {
        plan.cut_at += test_short() ? 2 : 1;
        completed = run_it(&run, plan, seed);
        tally.cuts++;
        try_states(&run, seeds, &tally);
        try_further_lives(&run, further_states(), &tally);
        if (second_step > 0 && plan.cut_at % second_step == 0)
            try_second_cuts(&run, seed + plan.cut_at, &tally);
        end_run(&run);
    }
    assert_true(plan.cut_at > 100); /* the run did something */
    print_message("%" PRIu64 " cuts, %" PRIu64 " states, %" PRIu64 " second cuts, %" PRIu64
                  " further lives\n",
                  tally.cuts, tally.states, tally.second_cuts, tally.further_lives);
}

static void
sweep(enum petal_durability durability, unsigned seeds, uint64_t second_step)
{
    sweep_plan((struct plan){.durability = durability}, seeds, second_step);
}

static void
test_cut_at_every_call_async(void **state)
{
    (void)state;
    sweep(PETAL_ASYNC_WAL, random_states(), test_long() ? 1 : 0);
}

static void
test_cut_at_every_call_sync(void **state)
{
    (void)state;
    sweep(PETAL_SYNC_WAL, random_states(), test_long() ? 1 : 0);
}

static void
test_cut_at_every_call_fsync(void **state)
{
    (void)state;
    sweep(PETAL_FSYNC_WAL, random_states(), test_long() ? 1 : 0);
}

static void
test_cut_at_every_call_mixed(void **state)
{
    (void)state;
    sweep(PETAL_DURABILITY_DEFAULT, random_states(), second_steps(15));
}

static void
test_cut_at_every_call_with_log_windows(void **state)
{
    (void)state;
    sweep_plan((struct plan){.durability = PETAL_DURABILITY_DEFAULT, .wal_windows = true},
               random_states(), second_steps(30));
}

/* ---- writes that are not logged ---- */

/* After a crash each column holds what it held at the last flush, or something newer: no more is
 * promised. */
static void
check_unlogged(const struct run *run, struct memory_vfs *vfs)
{
    struct fixture after;
    struct ledger ledger = {0};
    struct ledger_state state, possible;
    bool found[LEDGER_SLOTS] = {false};
    petal_error error;

    fixture_init_on(&after, vfs, 7);
    fixture_must_open(&after);
    if (run->progress.tables_made || ledger_attach(&ledger, after.db, NULL) == PETAL_OK) {
        must(ledger_attach(&ledger, after.db, &error), &error);
        must(ledger_read(&ledger, &state, &error), &error);
        assert_false(state.wrong);
        must(ledger_verify(&ledger, &error), &error);
        ledger_after(&possible, run->progress.synced);
        for (uint64_t number = run->progress.synced;; ledger_apply(&possible, ++number)) {
            for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++)
                found[slot] = found[slot] || state.slots[slot] == possible.slots[slot];
            if (number == run->progress.attempted)
                break;
        }
        for (unsigned slot = 0; slot < LEDGER_SLOTS; slot++)
            assert_true(found[slot]);
    }
    assert_true(fixture_directory_is_clean(&after));
    fixture_fini(&after);
}

static bool
unlogged_run(struct run *run, struct plan plan)
{
    *run = (struct run){.plan = plan};
    fixture_init(&run->fixture, 5);
    memory_vfs_revert_on_failed_sync(run->fixture.vfs, plan.reverts);
    plan_fault(run);
    if (fixture_open(&run->fixture, NULL) != PETAL_OK ||
        ledger_create(&run->ledger, run->fixture.db, NULL) != PETAL_OK)
        return false;
    run->progress.tables_made = true;
    return write_some(run, 9) && flush(run, NULL) && write_some(run, 8) &&
           flush(run, run->ledger.tables[0]) && write_some(run, 7) && close_cleanly(run);
}

static void
test_unlogged_writes_survive_their_flush(void **state)
{
    struct plan plan = {.durability = PETAL_SKIP_WAL};
    bool completed = false;
    struct run run;

    (void)state;
    while (!completed) {
        plan.cut_at++;
        completed = unlogged_run(&run, plan);
        check_unlogged(&run, cut(&run, MEMORY_CUT_LOSE_ALL, 0));
        check_unlogged(&run, cut(&run, MEMORY_CUT_KEEP_ALL, 0));
        for (uint64_t seed = 0; seed < 8; seed++)
            check_unlogged(&run, cut(&run, MEMORY_CUT_RANDOM, plan.cut_at * 1000 + seed));
        for (unsigned i = 0; i < further_states(); i++)
            check_unlogged(&run, fixture_further_state(memory_vfs_clone(run.fixture.vfs), i,
                                                       plan.cut_at * 100, NULL));
        end_run(&run);
    }
}

/* ---- compactions ---- */

/* `count` runs of each store from the one at `first` on. */
static bool
compact(struct run *run, size_t first, size_t count)
{
    bool done = true;

    for (unsigned i = 0; done && i < LEDGER_STORES; i++)
        done = compactor_compact_runs(run->ledger.families[i], first, count, NULL) == PETAL_OK;
    return done;
}

static bool
compacting_run(struct run *run, struct plan plan)
{
    *run = (struct run){.plan = plan, .progress = {.third = THIRD_UNKNOWN}};
    fixture_init(&run->fixture, 5);
    memory_vfs_revert_on_failed_sync(run->fixture.vfs, plan.reverts);
    plan_fault(run);
    if (fixture_open(&run->fixture, NULL) != PETAL_OK ||
        ledger_create(&run->ledger, run->fixture.db, NULL) != PETAL_OK)
        return false;
    run->progress.tables_made = true;
    for (unsigned i = 0; i < 4; i++) {
        if (!write_some(run, 9) || !flush(run, NULL))
            return false;
    }
    return compact(run, 1, 2) && write_some(run, 4) && compact(run, 1, 2) && flush(run, NULL) &&
           compact(run, 0, 2) && compact(run, 0, SIZE_MAX) && write_some(run, 5) &&
           flush(run, run->ledger.tables[0]) && compact(run, 0, SIZE_MAX) && write_some(run, 2) &&
           close_cleanly(run) && open_again(run) && close_cleanly(run);
}

static void
test_cut_at_every_call_of_compactions(void **state)
{
    struct plan plan = {.durability = PETAL_SYNC_WAL};
    struct tally tally = {0};
    bool completed = false;
    struct run run;

    (void)state;
    while (!completed) {
        plan.cut_at += test_short() ? 2 : 1;
        completed = compacting_run(&run, plan);
        tally.cuts++;
        try_states(&run, test_long() ? 100 : 3, &tally);
        try_further_lives(&run, further_states(), &tally);
        end_run(&run);
    }
    assert_true(plan.cut_at > 200);
    print_message("%" PRIu64 " cuts, %" PRIu64 " states\n", tally.cuts, tally.states);
}

/* ---- memory that fills ---- */

/* Each write is followed by the flush that it brings about, so that the calls come in one order. */
static bool
write_until_flushed(struct run *run, uint64_t memtables)
{
    petal_stats stats;

    do {
        if (!write_some(run, 1) || flush_wait_idle(run->fixture.db, NULL) != PETAL_OK)
            return false;
        petal_stats_get(run->fixture.db, &stats);
    } while (stats.flushes < memtables);
    return true;
}

static bool
filling_run(struct run *run, struct plan plan)
{
    *run = (struct run){.plan = plan, .ledger.filler = LEDGER_MAX_FILLER};
    fixture_init(&run->fixture, 5);
    run->fixture.options.memtable_bytes = (size_t)64 * 1024;
    plan_fault(run);
    if (fixture_open(&run->fixture, NULL) != PETAL_OK ||
        ledger_create(&run->ledger, run->fixture.db, NULL) != PETAL_OK)
        return false;
    run->progress.tables_made = true;
    if (!write_until_flushed(run, 1))
        return false;
    /* Some were left, and their log with them. */
    assert_true(run->fixture.db->writers.active_bytes > 0);
    assert_int_equal(run->fixture.db->wal->closed_count, 1);
    return write_until_flushed(run, 6) && die(run) && open_again(run) &&
           write_until_flushed(run, 3) && write_some(run, 5) && close_cleanly(run);
}

static void
test_cut_at_every_call_of_flushes_of_the_largest(void **state)
{
    struct plan plan = {.durability = PETAL_DURABILITY_DEFAULT};
    struct tally tally = {0};
    bool completed = false;
    struct run run;

    (void)state;
    while (!completed) {
        plan.cut_at += test_long() ? 1 : test_short() ? 4 : 2;
        completed = filling_run(&run, plan);
        tally.cuts++;
        try_states(&run, test_long() ? 50 : 2, &tally);
        try_further_lives(&run, test_short() ? 1 : 2, &tally);
        end_run(&run);
    }
    assert_true(plan.cut_at > 200);
    print_message("%" PRIu64 " cuts, %" PRIu64 " states\n", tally.cuts, tally.states);
}

/* ---- calls that fail ---- */

/* One call of the run fails, the process ends where it finds that out, or at the end, and the next
 * one opens what the kernel holds. */
static void
fail_every_call(bool (*run_it_all)(struct run *run, struct plan plan), bool reverts)
{
    struct plan plan = {.durability = PETAL_DURABILITY_DEFAULT, .fail = true, .reverts = reverts};
    struct tally tally = {0};
    bool failed = true;
    struct run run;

    while (failed) {
        plan.cut_at += test_short() ? 2 : 1;
        (void)run_it_all(&run, plan);
        failed = run.failures + memory_vfs_failures(run.fixture.vfs) > 0;
        try_further_lives(&run, further_states(), &tally);
        tally.cuts++;
        end_run(&run);
    }
    assert_true(plan.cut_at > 200);
    print_message("%" PRIu64 " failures, %" PRIu64 " further lives\n", tally.cuts,
                  tally.further_lives);
}

static bool
run_with_a_third_table(struct run *run, struct plan plan)
{
    return run_it(run, plan, 5);
}

static void
test_every_call_fails_before_a_cut(void **state)
{
    (void)state;
    fail_every_call(run_with_a_third_table, false);
    fail_every_call(run_with_a_third_table, true);
}

static void
test_every_call_of_compactions_fails_before_a_cut(void **state)
{
    (void)state;
    fail_every_call(compacting_run, false);
    fail_every_call(compacting_run, true);
}

/* The database's directory is a name in its parent, which must be durable, too, however the path is
 * written. */
static void
test_a_new_directory_survives(void **state)
{
    static const char *const paths[] = {"/db",       "db",          "db/",
                                        "/outer/db", "outer//db//", "./outer/db"};

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fixture fixture;
        petal_error error;
        petal_db *db;

        fixture_init(&fixture, 1);
        vfs_make_directory(fixture.env.vfs, "/outer");
        vfs_sync_directory(fixture.env.vfs, "/");
        must(petal_open(paths[i], &fixture.options, &db, &error), &error);
        memory_vfs_power_cut(fixture.vfs, MEMORY_CUT_LOSE_ALL, 0);
        petal_close(db, NULL);
        fixture.options.create = false;
        must(petal_open(paths[i], &fixture.options, &db, &error), &error);
        must(petal_close(db, &error), &error);
        fixture_fini(&fixture);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_call_async),
        cmocka_unit_test(test_cut_at_every_call_sync),
        cmocka_unit_test(test_cut_at_every_call_fsync),
        cmocka_unit_test(test_cut_at_every_call_mixed),
        cmocka_unit_test(test_cut_at_every_call_with_log_windows),
        cmocka_unit_test(test_cut_at_every_call_of_compactions),
        cmocka_unit_test(test_cut_at_every_call_of_flushes_of_the_largest),
        cmocka_unit_test(test_every_call_fails_before_a_cut),
        cmocka_unit_test(test_every_call_of_compactions_fails_before_a_cut),
        cmocka_unit_test(test_unlogged_writes_survive_their_flush),
        cmocka_unit_test(test_a_new_directory_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
