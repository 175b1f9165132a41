/* pace_test.c -- how fast writers may go: pressure and times as functions, who is stopped by what,
 * and with which error. */
#include "engine/state/read_point.h"
#include "engine/write/pace.h"

#include "engine/compact/policy.h"
#include "engine/flush/flush.h"
#include "engine/state/progress.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>

#define KIB ((uint64_t)1024)
#define MIB (KIB * KIB)

TEST(the_share_falls_towards_the_caps)
{
    double before = INFINITY;

    assert_true(pace_share(0, 100, 0) == INFINITY);
    assert_true(pace_share(50, 100, STORE_SLOW_RUNS) == INFINITY);
    assert_true(pace_share(75, 100, 0) == 1);
    assert_true(pace_share(100, 100, 0) == 0);
    assert_true(pace_share(1000, 100, 0) == 0);
    for (size_t runs = STORE_SLOW_RUNS + 1; runs <= STORE_MOST_RUNS; runs++) {
        double share = pace_share(0, 100, runs);

        assert_true(share < before && share > 0);
        before = share;
    }
    assert_true(before < 0.1);
    assert_true(pace_share(75, 100, STORE_MOST_RUNS) == before); /* the smaller one holds */
    assert_true(pace_share(99, 100, STORE_SLOW_RUNS + 1) < 0.1);
}

TEST(time_follows_the_rate_of_flushes)
{
    assert_int_equal(pace_time(100 * MIB, INFINITY, 50 * MIB), 0);
    assert_int_equal(pace_time(100 * MIB, 1, 50 * MIB), 2000000);
    assert_int_equal(pace_time(100 * MIB, 0.5, 50 * MIB), 4000000);
    assert_int_equal(pace_time(MIB, 0, 50 * MIB), 1000000); /* never slower than that */
    assert_int_equal(pace_time(MIB, 0.2, 1), 1000000);
    assert_int_equal(pace_time(64 * MIB, 1, 0), 1000000); /* nothing is known yet */
}

/* ---- with a database ---- */

struct pace_fixture {
    struct fixture base;
    petal_table *table;
    petal_family *family;
    petal_vfs vfs; /* the fixture's, but for `open` */
    _Atomic(unsigned) written;
    _Atomic(unsigned) refused;
};

/* While closed, no store file is made: flushes wait. */
static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opens = PTHREAD_COND_INITIALIZER;
static bool gate_closed;
static const petal_vfs *behind_gate;

static int
open_through_gate(void *context, petal_directory *directory, const char *name, unsigned flags,
                  petal_file **file)
{
    uint64_t number;

    if ((flags & PETAL_FILE_CREATE) != 0 && filename_parse(name, &number) == FILENAME_STORE_FILE) {
        pthread_mutex_lock(&gate_mutex);
        while (gate_closed)
            pthread_cond_wait(&gate_opens, &gate_mutex);
        pthread_mutex_unlock(&gate_mutex);
    }
    return behind_gate->open(context, directory, name, flags, file);
}

static void
set_gate(bool closed)
{
    pthread_mutex_lock(&gate_mutex);
    gate_closed = closed;
    pthread_cond_broadcast(&gate_opens);
    pthread_mutex_unlock(&gate_mutex);
}

static void
begin(struct pace_fixture *fixture)
{
    petal_family_options f = {.size = sizeof f, .name = {"f", 1}};
    petal_table_options t = {.size = sizeof t, .name = {"t", 1}, .families = &f, .family_count = 1};

    *fixture = (struct pace_fixture){.table = NULL};
    fixture_init(&fixture->base, 1);
    behind_gate = fixture->base.env.vfs;
    fixture->vfs = *behind_gate;
    fixture->vfs.open = open_through_gate;
    fixture->base.env.vfs = &fixture->vfs;
    fixture->base.options.memory_bytes = MIB;
    fixture->base.options.memtable_bytes = 128 * KIB;
    fixture->base.options.no_compaction = true;
    fixture_must_open(&fixture->base);
    MUST(petal_table_create(fixture->base.db, &t, &fixture->table, WHY));
    MUST(petal_table_family(fixture->table, (petal_slice){"f", 1}, &fixture->family, WHY));
}

static void
end(struct pace_fixture *fixture)
{
    fixture_must_close(&fixture->base);
    fixture_fini(&fixture->base);
}

static enum petal_status
put(struct pace_fixture *fixture, unsigned number, petal_error *error)
{
    static const uint8_t value[4000];
    char row[16];
    int length = snprintf(row, sizeof row, "row%06u", number);

    return petal_put(fixture->family, (petal_slice){row, (size_t)length}, (petal_slice){"q", 1},
                     PETAL_LATEST, (petal_slice){value, sizeof value}, NULL, error);
}

static petal_stats
stats_of(struct pace_fixture *fixture)
{
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    return stats;
}

#define PUTS 400 /* three times what memtables may take */

static void *
put_all(void *argument)
{
    struct pace_fixture *fixture = argument;

    for (unsigned i = 0; i < PUTS; i++) {
        if (put(fixture, i, NULL) == PETAL_OK)
            atomic_fetch_add(&fixture->written, 1);
        else
            atomic_fetch_add(&fixture->refused, 1);
    }
    return NULL;
}

TEST(writers_stop_at_the_cap)
{
    struct pace_fixture fixture;
    petal_stats stats;
    pthread_t writer;

    begin(&fixture);
    /* So slow that any write under pressure owes more than the least sleep, however long it
     * took. */
    atomic_store(&fixture.base.db->progress.flush_rate, 1);
    set_gate(true);
    assert_int_equal(pthread_create(&writer, NULL, put_all, &fixture), 0);
    while (stats_of(&fixture).stopped_writes == 0)
        sched_yield();
    stats = stats_of(&fixture);
    assert_int_equal(stats.stopped_writes, 1);
    assert_in_range(stats.memtable_memory, 384 * KIB, 640 * KIB);
    assert_in_range(stats.flushes_waiting, 2, 8);
    assert_in_range(atomic_load(&fixture.written), 60, 140);
    assert_true(stats.delayed_writes > 0 && stats.delay_us > 0);
    set_gate(false);
    pthread_join(writer, NULL);
    assert_int_equal(atomic_load(&fixture.written), PUTS);
    assert_int_equal(atomic_load(&fixture.refused), 0);
    assert_true(stats_of(&fixture).stop_us > 0);
    end(&fixture);
}

TEST(nobody_waits_for_a_cursor)
{
    petal_cursor *cursors[10];
    struct pace_fixture fixture;
    unsigned number = 0;

    begin(&fixture);
    for (unsigned i = 0; i < 10; i++) {
        for (unsigned k = 0; k < 25; k++)
            MUST(put(&fixture, number++, WHY));
        MUST(petal_cursor_open(fixture.table, NULL, &cursors[i], WHY));
        MUST(petal_flush(fixture.base.db, NULL, WHY));
    }
    assert_true(stats_of(&fixture).memtable_memory > 512 * KIB);
    MUST(put(&fixture, number++, WHY));
    assert_int_equal(stats_of(&fixture).stopped_writes, 0);
    for (unsigned i = 0; i < 10; i++)
        petal_cursor_close(cursors[i]);
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    epoch_collect(fixture.base.db->epoch);
    assert_int_equal(stats_of(&fixture).memtable_memory, 0);
    end(&fixture);
}

/* The batch is larger than all that memtables may take. */
TEST(a_write_larger_than_the_limit_goes_through)
{
    static const uint8_t value[1024 * 1024];
    struct pace_fixture fixture;

    begin(&fixture);
    for (unsigned i = 0; i < 10; i++)
        MUST(petal_put(fixture.family, (petal_slice){"r", 1}, (petal_slice){"q", 1}, PETAL_LATEST,
                       (petal_slice){value, sizeof value}, NULL, WHY));
    end(&fixture);
}

TEST(the_cap_of_runs)
{
    struct pace_fixture fixture;
    petal_error error, full = {.status = PETAL_NO_SPACE, .text = "the disk is full"};
    petal_db *db;

    begin(&fixture);
    db = fixture.base.db;
    for (unsigned i = 0; i < STORE_MOST_RUNS + 2; i++) {
        assert_int_equal(atomic_load(&db_next_store(fixture.family, NULL)->runs),
                         i < STORE_MOST_RUNS ? i : STORE_MOST_RUNS);
        MUST(put(&fixture, i, WHY)); /* nobody compacts: runs do not count */
        MUST(petal_flush(db, NULL, WHY));
    }
    db->no_compaction = false; /* there are no threads, so it does not change by itself */
    db_background_failed(db, BACKGROUND_COMPACTION, &full);
    progress_tell(&db->progress);
    assert_int_equal(put(&fixture, 0, &error), PETAL_NO_SPACE);
    assert_string_equal(error.text, "the disk is full");
    assert_int_equal(stats_of(&fixture).stopped_writes, 1);
    MUST(petal_compact(fixture.table, fixture.family, WHY));
    assert_int_equal(atomic_load(&db_next_store(fixture.family, NULL)->runs), 1);
    MUST(put(&fixture, 0, WHY)); /* whether or not it is known that space is back */
    failure_made_good(&db->failure, BACKGROUND_COMPACTION);
    progress_tell(&db->progress);
    MUST(put(&fixture, 1, WHY));
    end(&fixture);
}

/* ---- one store at its cap ---- */

struct waiting {
    struct pace_fixture *fixture;
    pthread_t thread;
    enum petal_status status;
    petal_error error;
};

static void *
put_one(void *argument)
{
    struct waiting *waiting = argument;

    waiting->status = put(waiting->fixture, 1000, &waiting->error);
    return NULL;
}

/* The store has as many runs as it may, and nobody compacts it: as if a compaction were at work
 * that takes for ever. A writer waits. */
static void
fill_with_runs(struct pace_fixture *fixture, struct waiting *waiting)
{
    for (unsigned i = 0; i < STORE_MOST_RUNS; i++) {
        MUST(put(fixture, i, WHY));
        MUST(petal_flush(fixture->base.db, NULL, WHY));
    }
    fixture->base.db->no_compaction = false;
    *waiting = (struct waiting){.fixture = fixture};
    assert_int_equal(pthread_create(&waiting->thread, NULL, put_one, waiting), 0);
    while (stats_of(fixture).stopped_writes == 0)
        sched_yield();
}

static petal_family *
make_table(struct pace_fixture *fixture, const char *name, petal_table **table)
{
    petal_family_options f = {.size = sizeof f, .name = {"f", 1}};
    petal_table_options t = {
        .size = sizeof t, .name = {name, strlen(name)}, .families = &f, .family_count = 1};
    petal_family *family;

    MUST(petal_table_create(fixture->base.db, &t, table, WHY));
    MUST(petal_table_family(*table, (petal_slice){"f", 1}, &family, WHY));
    return family;
}

static enum petal_status
put_other(petal_family *family, petal_error *error)
{
    return petal_put(family, (petal_slice){"row", 3}, (petal_slice){"q", 1}, PETAL_LATEST,
                     (petal_slice){"v", 1}, NULL, error);
}

/* Each of these came after the waiting writer. */
TEST(the_cap_of_a_store_stops_its_writers_only)
{
    struct waiting waiting;
    struct pace_fixture fixture;
    petal_table *other, *another;
    petal_family *family;
    int64_t sum;

    begin(&fixture);
    family = make_table(&fixture, "other", &other);
    fill_with_runs(&fixture, &waiting);
    for (unsigned i = 0; i < 100; i++)
        MUST(put_other(family, WHY));
    for (unsigned i = 0; i < 2 * ROW_LOCKS; i++) {
        char row[16];
        int length = snprintf(row, sizeof row, "row%u", i);

        MUST(petal_increment(family, (petal_slice){row, (size_t)length}, (petal_slice){"n", 1}, 1,
                             NULL, &sum, WHY));
    }
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    make_table(&fixture, "another", &another);
    MUST(petal_table_drop(another, WHY));
    MUST(petal_compact(other, NULL, WHY));
    assert_int_equal(stats_of(&fixture).stopped_writes, 1);
    MUST(petal_compact(fixture.table, NULL, WHY));
    pthread_join(waiting.thread, NULL);
    must(waiting.status, &waiting.error);
    end(&fixture);
}

TEST(a_dropped_store_lets_its_writers_go)
{
    struct waiting waiting;
    struct pace_fixture fixture;

    begin(&fixture);
    fill_with_runs(&fixture, &waiting);
    MUST(petal_table_drop(fixture.table, WHY));
    pthread_join(waiting.thread, NULL);
    assert_int_equal(waiting.status, PETAL_NOT_FOUND);
    end(&fixture);
}

TEST(closing_refuses_who_waits)
{
    struct waiting waiting;
    struct pace_fixture fixture;

    begin(&fixture);
    fill_with_runs(&fixture, &waiting);
    end(&fixture);
    pthread_join(waiting.thread, NULL);
    assert_int_equal(waiting.status, PETAL_BUSY);
    assert_non_null(strstr(waiting.error.text, "being closed"));
}

static bool
is_there(struct pace_fixture *fixture, const char *row)
{
    petal_result *result;
    bool found;

    MUST(petal_result_new(fixture->base.db, &result, WHY));
    MUST(petal_get(fixture->table, (petal_slice){row, strlen(row)}, NULL, result, WHY));
    found = petal_result_count(result) > 0;
    petal_result_free(result);
    return found;
}

/* Every kind of write, with and without waiting. */
static void
must_time_out(struct pace_fixture *fixture)
{
    static const uint32_t deadlines[] = {PETAL_NO_WAIT, 1};
    petal_slice row = {"late", 4}, q = {"q", 1}, v = {"v", 1};
    petal_batch *batch;
    petal_error error;

    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    MUST(petal_batch_put(batch, fixture->family, row, q, PETAL_LATEST, v, WHY));
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++) {
        petal_write_options options = {.size = sizeof options, .deadline_ms = deadlines[i]};

        assert_int_equal(petal_put(fixture->family, row, q, PETAL_LATEST, v, &options, &error),
                         PETAL_TIMEOUT);
        if (strstr(error.text, "the deadline has passed") == NULL ||
            strstr(error.text, "t:f") == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(
            petal_delete(fixture->family, row, q, PETAL_LATEST, PETAL_DELETE, &options, &error),
            PETAL_TIMEOUT);
        assert_int_equal(petal_append(fixture->family, row, q, v, &options, &error), PETAL_TIMEOUT);
        assert_int_equal(petal_write(fixture->base.db, batch, &options, &error), PETAL_TIMEOUT);
        assert_int_equal(petal_mutate_row(fixture->table, row, NULL, batch, &options, NULL, &error),
                         PETAL_TIMEOUT);
    }
    petal_batch_free(batch);
    assert_false(is_there(fixture, "late"));
}

TEST(a_deadline_at_the_cap_of_runs)
{
    struct waiting waiting;
    struct pace_fixture fixture;

    begin(&fixture);
    fill_with_runs(&fixture, &waiting);
    must_time_out(&fixture);
    MUST(petal_compact(fixture.table, NULL, WHY));
    pthread_join(waiting.thread, NULL);
    must(waiting.status, &waiting.error);
    assert_true(is_there(&fixture, "row001000"));
    end(&fixture);
}

/* Flushes stand still. */
TEST(the_cap_of_memory_stops_writers_only)
{
    struct pace_fixture fixture;
    petal_table *other;
    pthread_t thread;

    begin(&fixture);
    set_gate(true);
    assert_int_equal(pthread_create(&thread, NULL, put_all, &fixture), 0);
    while (stats_of(&fixture).stopped_writes == 0)
        sched_yield();
    must_time_out(&fixture);
    make_table(&fixture, "other", &other); /* and what it needs of memory */
    MUST(petal_table_drop(other, WHY));
    set_gate(false);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&fixture.written), PUTS);
    end(&fixture);
}

#define LARGE_BYTES ((size_t)400 * 1024)

static void *
put_until_served(void *argument)
{
    struct pace_fixture *fixture = argument;

    for (unsigned i = 0; atomic_load(&fixture->refused) == 0; i++)
        must(put(fixture, i, NULL), NULL);
    return NULL;
}

/* It needs nearly all memory, which others would take again and again. */
TEST(a_large_write_has_its_turn)
{
    uint8_t *value = calloc(1, LARGE_BYTES);
    struct pace_fixture fixture;
    pthread_t threads[2];

    begin(&fixture);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_until_served, &fixture), 0);
    while (stats_of(&fixture).flushes == 0)
        sched_yield();
    for (unsigned i = 0; i < 3; i++)
        MUST(petal_put(fixture.family, (petal_slice){"large", 5}, (petal_slice){"q", 1},
                       PETAL_LATEST, (petal_slice){value, LARGE_BYTES}, NULL, WHY));
    atomic_store(&fixture.refused, 1);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(value);
    end(&fixture);
}

/* A commit holds views.mutex over the sync of the manifest, a change of the schema schema.mutex:
 * the leader writes on in the full memtable. */
TEST(a_full_memtable_takes_more_while_a_commit_runs)
{
    for (int which = 0; which < 2; which++) {
        struct pace_fixture fixture;
        struct mutex *held;
        unsigned number = 0;

        begin(&fixture);
        held = which == 0 ? &fixture.base.db->views.mutex : &fixture.base.db->schema.mutex;
        mutex_lock(held);
        while (fixture.base.db->writers.active_bytes < 128 * KIB * 5 / 4)
            MUST(put(&fixture, number++, WHY));
        assert_int_equal(stats_of(&fixture).flushes_waiting, 0);
        mutex_unlock(held);
        MUST(put(&fixture, number++, WHY));
        assert_true(fixture.base.db->writers.active_bytes < 8 * KIB);
        end(&fixture);
    }
}

static unsigned removed; /* by the writing thread; others may clean up meanwhile */
static pthread_t writer;

static int
remove_counted(void *context, petal_directory *directory, const char *name)
{
    removed += pthread_equal(pthread_self(), writer) != 0;
    return behind_gate->remove(context, directory, name);
}

/* A reader was inside when a compaction ended, so its inputs wait for somebody to take them away:
 * not the leader, who only switches memtables. */
TEST(the_leader_removes_no_files)
{
    struct read_point point;
    struct pace_fixture fixture;
    unsigned number = 0;

    begin(&fixture);
    for (unsigned i = 0; i < 2; i++) {
        MUST(put(&fixture, number++, WHY));
        MUST(petal_flush(fixture.base.db, NULL, WHY));
    }
    read_begin(fixture.base.db, &point);
    MUST(petal_compact(fixture.table, fixture.family, WHY));
    read_end(fixture.base.db, &point);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 3);
    set_gate(true);
    removed = 0;
    writer = pthread_self();
    fixture.vfs.remove = remove_counted;
    while (!flush_waits(fixture.base.db))
        MUST(put(&fixture, number++, WHY));
    assert_int_equal(removed, 0);
    fixture.vfs.remove = behind_gate->remove;
    set_gate(false);
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"),
                     3); /* the output, and of two flushes */
    end(&fixture);
}
