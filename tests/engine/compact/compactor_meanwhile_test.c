/*
 * compactor_meanwhile_test.c -- compactions beside each other and beside writers: who goes on, who
 * waits, what the disk holds in the end, and what is not done over and over.
 */

#include "base/clock.h"
#include "engine/compact/policy.h"
#include "engine/state/db.h"
#include "engine/state/progress.h"
#include "tests/engine/compact/background_fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <sched.h>

/* The clock of a database: a thread that has armed it acts at its next look, once. A compaction
 * looks when it begins. */
struct moment {
    struct place place;
    pthread_t thread;
    bool armed;
    void (*act)(struct moment *moment);
    struct totals seen;
    pthread_t writer;
    _Atomic(bool) written;
};

static int64_t
look_and_act(void *context)
{
    struct moment *moment = context;

    if (pthread_equal(pthread_self(), moment->thread) && moment->armed) {
        moment->armed = false;
        moment->act(moment);
    }
    return test_clock_ms(&moment->place.fixture.clock);
}

static void
moment_open(struct moment *moment, bool no_compaction)
{
    place_open(&moment->place, NULL);
    petal_close(moment->place.fixture.db, NULL);
    moment->place.fixture.db = NULL;
    moment->thread = pthread_self();
    moment->armed = false;
    moment->place.fixture.env.clock_context = moment;
    moment->place.fixture.env.clock_ms = look_and_act;
    moment->place.fixture.options.no_compaction = no_compaction;
    moment->place.fixture.options.memtable_bytes = (size_t)64 << 10;
    fixture_must_open(&moment->place.fixture);
    place_reopen(&moment->place);
}

/* More flushes than a store may have runs: the last of them would wait for ever if they were not
 * merged. */
static void
write_many_runs(struct moment *moment)
{
    for (unsigned i = 0; i < 3 * STORE_MOST_RUNS; i++)
        put_file(&moment->place, 2000 + i, 2000 + i);
    assert_int_equal(petal_table_compaction_state(moment->place.table) & PETAL_COMPACTION_MAJOR,
                     PETAL_COMPACTION_MAJOR);
    moment->seen = totals_of(&moment->place);
}

/* What flushes leave is merged while petal_compact is at work on the store: nobody waits for it. */
TEST(test_writers_go_on_beside_what_is_asked)
{
    struct moment moment;

    moment_open(&moment, false);
    put_file(&moment.place, 0, 99);
    moment.act = write_many_runs;
    moment.armed = true;
    MUST(petal_compact(moment.place.table, NULL, WHY));
    assert_false(moment.armed);
    assert_true(moment.seen.runs <= STORE_MOST_RUNS);
    settle(&moment.place);
    must_hold_rows(&moment.place, 0, 99);
    must_hold_rows(&moment.place, 2000, 2000 + 3 * STORE_MOST_RUNS - 1);
    assert_true(fixture_directory_is_clean(&moment.place.fixture));
    fixture_fini(&moment.place.fixture);
}

#define LARGE_ROWS 20

/* Rows with so much in them that a job over a few files of them takes long, by what counts as
 * that. */
static void
put_large_file(struct place *place, unsigned number, unsigned rows)
{
    static char value[8000];

    memset(value, 'v', sizeof value - 1);
    for (unsigned i = 0; i < rows; i++) {
        struct test_random random;
        char row[32];

        test_random_init(&random, number * 100 + i);
        for (size_t k = 0; k + 1 < sizeof value; k++)
            value[k] = (char)('!' + test_random_below(&random, 90));
        snprintf(row, sizeof row, "large%03u %03u", i, number);
        compact_fixture_put(place->table, row, PETAL_LATEST, value);
    }
    compact_fixture_flush(place->fixture.db);
}

#define BASE_FILES   8
#define BASE_ROWS    250
#define MANY_FLUSHES 300
#define FLUSH_ROWS   8

/* No faster than what flushes leave is merged: while a job merges it, and where the policy always
 * has one, until a thread has had a turn to take it.  That none is taken at all shows as a writer
 * that is stopped, so the wait ends. */
static struct totals
wait_for_merging(struct moment *moment)
{
    uint64_t patience_us = clock_us() + 60u * 1000000;
    struct totals totals = totals_of(&moment->place);

    while (totals.runs > POLICY_STUCK_RUNS - 4 &&
           (totals.runs >= POLICY_STUCK_RUNS ? clock_us() < patience_us
                                             : stats_of(&moment->place).compactions_running > 1)) {
        sched_yield();
        totals = totals_of(&moment->place);
    }
    return totals;
}

/* Far more memtables than small jobs alone could keep in few runs. */
static void *
flush_many(void *argument)
{
    struct moment *moment = argument;

    for (unsigned i = 0; i < MANY_FLUSHES; i++) {
        struct totals totals = wait_for_merging(moment);

        if (totals.runs > moment->seen.runs)
            moment->seen = totals;
        put_large_file(&moment->place, BASE_FILES + i, FLUSH_ROWS);
    }
    atomic_store(&moment->written, true);
    return NULL;
}

/* The job goes on when the writer has done all, or has been stopped. */
static void
write_meanwhile(struct moment *moment)
{
    assert_int_equal(pthread_create(&moment->writer, NULL, flush_many, moment), 0);
    while (!atomic_load(&moment->written) && stats_of(&moment->place).stopped_writes == 0)
        sched_yield();
}

/* However long all files take: the jobs beside them grow with what has come since. */
TEST(test_nobody_is_stopped_by_a_long_job)
{
    struct moment moment;

    moment_open(&moment, true);
    moment.place.fixture.options.memory_bytes = (size_t)64 << 20;
    moment.place.fixture.options.memtable_bytes = (size_t)4 << 20;
    place_reopen(&moment.place);
    for (unsigned i = 0; i < BASE_FILES; i++)
        put_large_file(&moment.place, i, BASE_ROWS);
    moment.place.fixture.options.memtable_bytes = (size_t)64 << 10;
    moment.place.fixture.options.no_compaction = false;
    place_reopen(&moment.place);
    settle(&moment.place);
    moment.seen = (struct totals){0};
    atomic_init(&moment.written, false);
    moment.act = write_meanwhile;
    moment.armed = true;
    MUST(petal_compact(moment.place.table, NULL, WHY));
    assert_false(moment.armed);
    pthread_join(moment.writer, NULL);
    assert_int_equal(stats_of(&moment.place).stopped_writes, 0);
    assert_true(moment.seen.runs < STORE_MOST_RUNS);
    settle(&moment.place);
    assert_int_equal(totals_of(&moment.place).cells,
                     BASE_FILES * BASE_ROWS + MANY_FLUSHES * FLUSH_ROWS);
    assert_true(fixture_directory_is_clean(&moment.place.fixture));
    fixture_fini(&moment.place.fixture);
}

static void
note_runs(struct moment *moment)
{
    moment->seen = totals_of(&moment->place);
}

static void
arm_again(struct moment *moment)
{
    moment->act = note_runs;
    moment->armed = true;
}

/* A store with many runs has few when all its files become one, so that there is room for those
 * that come meanwhile. */
TEST(test_many_runs_become_few_before_a_long_job)
{
    struct moment moment;

    moment_open(&moment, true);
    moment.place.fixture.options.memtable_bytes = (size_t)1 << 20;
    place_reopen(&moment.place);
    for (unsigned i = 0; i < 15; i++)
        put_large_file(&moment.place, i, LARGE_ROWS);
    moment.place.fixture.options.memtable_bytes = (size_t)64 << 10;
    place_reopen(&moment.place);
    /* As if it had threads that compact, which would have been at work before. */
    moment.place.fixture.db->no_compaction = false;
    moment.act = arm_again; /* at the first job; the second sees what it has left */
    moment.armed = true;
    MUST(petal_compact(moment.place.table, NULL, WHY));
    assert_false(moment.armed);
    assert_int_equal(moment.seen.runs, POLICY_FEW_RUNS);
    assert_int_equal(totals_of(&moment.place).runs, 1);
    assert_int_equal(totals_of(&moment.place).cells, 15 * LARGE_ROWS);
    assert_true(fixture_directory_is_clean(&moment.place.fixture));
    fixture_fini(&moment.place.fixture);
}

/* ---- the disk ---- */

#define RATES      4
#define OPERATIONS 6000

/* Puts of new rows, overwrites, deletions, in random shares, with memtables of many sizes; what a
 * store takes when it has settled. */
static void
write_at_random(struct place *place, struct test_random *random, unsigned deletions)
{
    petal_family *family = petal_table_family_at(place->table, 0);
    uint64_t rows = 200 + test_random_below(random, 2000);
    uint64_t flush = 50 + test_random_below(random, 300);
    char value[800];

    for (unsigned i = 0; i < OPERATIONS; i++) {
        char row[32];

        for (size_t k = 0; k + 1 < sizeof value; k++)
            value[k] = (char)('!' + test_random_below(random, 90));
        value[sizeof value - 1] = '\0';
        snprintf(row, sizeof row, "row%05u", (unsigned)test_random_below(random, rows));
        if (test_random_below(random, 100) < deletions)
            compact_fixture_delete(place->table, row, PETAL_LATEST,
                                   test_random_below(random, 2) == 0 ? PETAL_DELETE_COLUMN
                                                                     : PETAL_DELETE_FAMILY);
        else
            must(petal_put(family, slice_from_text(row), slice_from_text("q"), PETAL_LATEST,
                           slice_from_text(value), NULL, NULL),
                 NULL);
        test_clock_advance(&place->fixture.clock, 1);
        if (i % flush == flush - 1)
            compact_fixture_flush(place->fixture.db);
    }
    compact_fixture_flush(place->fixture.db);
}

/* The bound of engine/compact/policy.h. After the oldest run so many flushes are no reason to
 * merge all, however small that run is; how many of them there are when the store has settled is a
 * matter of which jobs found what. */
#define UNCOUNTED_FLUSHES (POLICY_MIN_RUNS - 1)

TEST(test_the_disk_settles_below_the_bound)
{
    for (unsigned seed = 0; seed < 6; seed++) {
        unsigned deletions = seed % 2 == 0 ? 0 : 10 * seed;
        struct test_random random;
        struct place place;
        uint64_t settled, least;

        test_random_init(&random, 100 + seed);
        place_open(&place, NULL);
        petal_close(place.fixture.db, NULL);
        place.fixture.db = NULL;
        place.fixture.options.memtable_bytes = (size_t)64 << 10;
        place_reopen(&place);
        for (unsigned part = 0; part < RATES; part++) {
            write_at_random(&place, &random, deletions);
            settle(&place);
            settled = totals_of(&place).bytes;
            MUST(petal_table_verify(place.table, WHY));
            if (part < RATES - 1)
                continue;
            MUST(petal_compact(place.table, NULL, WHY));
            least = totals_of(&place).bytes;
            if ((double)settled >
                (double)least * (1 + POLICY_NEWER_SHARE) /
                        (deletions > 0 ? 1 - POLICY_DEAD_SHARE : 1) +
                    (double)UNCOUNTED_FLUSHES * (double)place.fixture.options.memtable_bytes)
                fail_msg("seed %u: %" PRIu64 " bytes settled, %" PRIu64 " would do", seed, settled,
                         least);
        }
        fixture_fini(&place.fixture);
    }
}

/* One row in one file, unless the disk is full just now. */
static void
try_file(struct place *place, unsigned number)
{
    enum petal_status status;
    char row[32];

    snprintf(row, sizeof row, "row%04u", number);
    status = petal_put(petal_table_family_at(place->table, 0), slice_from_text(row),
                       slice_from_text("q"), PETAL_LATEST, slice_from_text(row), NULL, NULL);
    if (status == PETAL_OK)
        status = petal_flush(place->fixture.db, NULL, NULL);
    assert_true(status == PETAL_OK || status == PETAL_NO_SPACE);
}

/* Jobs that had found no room before there was some may still fail: each once. */
static void
settle_with_room(struct place *place)
{
    enum petal_status status = PETAL_NO_SPACE;
    petal_error error;

    for (unsigned tries = 0; status == PETAL_NO_SPACE && tries < 4; tries++)
        status = petal_wait_idle(place->fixture.db, &error);
    must(status, &error);
}

/* A job that the disk has no room for does not fill it again with each flush; and those for which
 * there is room are done. */
TEST(test_a_job_too_large_for_the_disk_waits_alone)
{
    struct place place;
    petal_table *large;
    petal_error error;

    place_open(&place, NULL);
    place.fixture.options.no_compaction = true;
    place_reopen(&place);
    for (unsigned i = 0; i < 3; i++)
        put_large_file(&place, i, 3 * LARGE_ROWS);
    place.fixture.options.no_compaction = false;
    place.fixture.options.memtable_bytes = (size_t)64 << 10;
    petal_close(place.fixture.db, NULL);
    place.fixture.db = NULL;
    memory_vfs_set_capacity(place.fixture.vfs,
                            memory_vfs_used(place.fixture.vfs) + ((uint64_t)1 << 20));
    place_reopen(&place);
    assert_int_equal(petal_wait_idle(place.fixture.db, &error), PETAL_NO_SPACE);
    large = place.table;
    place.table = compact_fixture_table(&place.fixture, "small", NULL);
    for (unsigned i = 0; i < 20 * STORE_MOST_RUNS; i++)
        try_file(&place, i);
    assert_true(totals_of(&place).runs <= STORE_MOST_RUNS);
    assert_true(stats_of(&place).background_failures < 10);
    place.table = large;
    assert_int_equal(totals_of(&place).runs, 3);
    memory_vfs_set_capacity(place.fixture.vfs, UINT64_MAX);
    settle_with_room(&place);
    assert_int_equal(totals_of(&place).runs, 1);
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}

/* ---- jobs in vain ---- */

#define MOST_SNAPSHOTS 20

/* Snapshots that come when a job has begun, and are gone when one looks for the next. */
struct visitor {
    struct place place;
    pthread_mutex_t mutex;
    bool on;
    unsigned came;
    petal_snapshot *snapshot;
};

static _Thread_local bool is_inside;

static void
come_and_go(struct visitor *visitor)
{
    struct place *place = &visitor->place;
    bool runs = (petal_table_compaction_state(place->table) & PETAL_COMPACTION_MAJOR) != 0;

    if (runs && visitor->snapshot == NULL && visitor->came < MOST_SNAPSHOTS) {
        visitor->came++;
        compact_fixture_put(place->table, "seen", PETAL_LATEST, "in memory");
        must(petal_snapshot_new(place->fixture.db, &visitor->snapshot, NULL), NULL);
    } else if (!runs && visitor->snapshot != NULL) {
        petal_snapshot_free(visitor->snapshot);
        visitor->snapshot = NULL;
    }
}

static int64_t
look_and_visit(void *context)
{
    struct visitor *visitor = context;

    if (!is_inside) {
        is_inside = true;
        pthread_mutex_lock(&visitor->mutex);
        if (visitor->on)
            come_and_go(visitor);
        pthread_mutex_unlock(&visitor->mutex);
        is_inside = false;
    }
    return test_clock_ms(&visitor->place.fixture.clock);
}

static void
set_visitor(struct visitor *visitor, bool on)
{
    pthread_mutex_lock(&visitor->mutex);
    visitor->on = on;
    petal_snapshot_free(visitor->snapshot);
    visitor->snapshot = NULL;
    pthread_mutex_unlock(&visitor->mutex);
}

TEST(test_what_was_in_vain_is_not_repeated)
{
    static struct visitor visitor = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct place *place = &visitor.place;

    place_open(place, NULL);
    place->fixture.env.clock_context = &visitor;
    place->fixture.env.clock_ms = look_and_visit;
    place_reopen(place);
    put_file(place, 0, 99);
    settle(place);
    set_visitor(&visitor, true);
    is_inside = true; /* this thread only writes */
    for (unsigned i = 0; i < 50; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_delete(place->table, row, PETAL_LATEST, PETAL_DELETE_COLUMN);
    }
    compact_fixture_flush(place->fixture.db);
    settle(place);
    settle(place);
    is_inside = false;
    assert_in_range(visitor.came, 1, 2);
    assert_in_range(stats_of(place).compactions, 1, 2);
    assert_int_equal(totals_of(place).markers, 50);
    set_visitor(&visitor, false);
    MUST(petal_compact(place->table, NULL, WHY));
    assert_int_equal(totals_of(place).markers, 0);
    must_hold_rows(place, 50, 99);
    fixture_fini(&place->fixture);
}
