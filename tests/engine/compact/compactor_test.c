/*
 * compactor_test.c -- compaction in the background: what flushes leave is merged, what nobody can
 * see goes, and what fails is waited for or ends all writing.
 */
#include "engine/compact/compactor.h"

#include "engine/compact/job.h"
#include "engine/compact/policy.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"
#include "tests/engine/compact/background_fixture.h"
#include "tests/support/test.h"

/* ---- what is merged ---- */

TEST(test_runs_settle)
{
    struct place place;
    petal_stats stats;

    place_open(&place, NULL);
    for (unsigned i = 0; i < 80; i++) {
        put_file(&place, 10 * i, 10 * i + 9);
        if (i % 8 == 7)
            settle(&place);
    }
    stats = stats_of(&place);
    assert_true(totals_of(&place).runs <= STORE_SLOW_RUNS);
    assert_true(stats.compactions >= 5 && stats.compactions_running == 0);
    assert_int_equal(stats.background_failures, 0);
    assert_int_equal(stats.background_error.status, PETAL_OK);
    assert_int_equal(petal_table_compaction_state(place.table), PETAL_COMPACTION_NONE);
    assert_non_null(strstr(place.log.lines, "all-files compaction, newer bytes: files"));
    must_hold_rows(&place, 0, 799);
    assert_true(fixture_directory_is_clean(&place.fixture));
    /* A database that finds its files so is idle. */
    place_reopen(&place);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 0);
    must_hold_rows(&place, 0, 799);
    fixture_fini(&place.fixture);
}

TEST(test_without_compaction_files_gather)
{
    struct place place;

    place_open(&place, NULL);
    petal_close(place.fixture.db, NULL);
    place.fixture.db = NULL;
    place.fixture.options.no_compaction = true;
    fixture_must_open(&place.fixture);
    place_reopen(&place);
    for (unsigned i = 0; i < 20; i++)
        put_file(&place, i, i);
    settle(&place);
    assert_int_equal(totals_of(&place).runs, 20);
    /* .. until the database is opened with it. */
    place.fixture.options.no_compaction = false;
    place_reopen(&place);
    settle(&place);
    assert_int_equal(totals_of(&place).runs, 1);
    must_hold_rows(&place, 0, 19);
    fixture_fini(&place.fixture);
}

/* ---- what goes ---- */

TEST(test_deletions_call_for_all_files)
{
    struct place place;
    struct totals totals;

    place_open(&place, NULL);
    put_file(&place, 0, 999);
    settle(&place);
    for (unsigned i = 0; i < 200; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_delete(place.table, row, PETAL_LATEST, PETAL_DELETE_COLUMN);
    }
    compact_fixture_flush(place.fixture.db);
    settle(&place);
    assert_int_equal(totals_of(&place).markers, 200); /* less than the share */
    for (unsigned i = 200; i < 400; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_delete(place.table, row, PETAL_LATEST, PETAL_DELETE_FAMILY);
    }
    compact_fixture_flush(place.fixture.db);
    settle(&place);
    totals = totals_of(&place);
    assert_int_equal(totals.markers, 0);
    assert_int_equal(totals.cells, 600);
    assert_int_equal(totals.runs, 1);
    must_hold_rows(&place, 400, 999);
    assert_string_equal(compact_fixture_value(place.table, "row0000"), "");
    assert_string_equal(compact_fixture_value(place.table, "row0399"), "");
    fixture_fini(&place.fixture);
}

/* While a snapshot sees what the markers hide nothing is rewritten over and over; afterwards it
 * goes. */
TEST(test_a_snapshot_keeps_what_is_deleted)
{
    struct place place;
    petal_snapshot *snapshot;

    place_open(&place, NULL);
    put_file(&place, 0, 9);
    MUST(petal_snapshot_new(place.fixture.db, &snapshot, WHY));
    for (unsigned i = 0; i < 10; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_delete(place.table, row, PETAL_LATEST, PETAL_DELETE_COLUMN);
    }
    compact_fixture_flush(place.fixture.db);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 0);
    assert_string_equal(compact_fixture_value_at(place.table, "row0003", snapshot), "row0003");
    petal_snapshot_free(snapshot);
    settle(&place);
    assert_int_equal(totals_of(&place).files, 0);
    fixture_fini(&place.fixture);
}

TEST(test_expired_files_go_unread)
{
    petal_family_options family = {.ttl_seconds = 10};
    struct place place;
    petal_stats stats;

    place_open(&place, &family);
    put_file(&place, 0, 99);
    test_clock_advance(&place.fixture.clock, 10000);
    put_file(&place, 100, 109);
    settle(&place);
    assert_int_equal(totals_of(&place).runs, 2);
    test_clock_advance(&place.fixture.clock, 1);
    settle(&place);
    stats = stats_of(&place);
    assert_int_equal(totals_of(&place).cells, 10);
    assert_int_equal(stats.expired_files, 1);
    assert_int_equal(stats.dropped_expired, 100);
    assert_int_equal(stats.compaction_bytes_in, 0);
    assert_non_null(strstr(place.log.lines, "100 cells in, 0 cells out; dropped: 100 expired"));
    must_hold_rows(&place, 100, 109);
    assert_true(fixture_directory_is_clean(&place.fixture));
    place_reopen(&place);
    assert_int_equal(totals_of(&place).cells, 10);
    fixture_fini(&place.fixture);
}

/* A clock that is armed holds threads of the background that have read it, until somebody waits for
 * what is due at a later time. */
struct held_clock {
    struct place *place;
    pthread_t main;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool armed, held, passed;
};

/* What began before ends meanwhile, as a rule. */
static void
let_others_run(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static int64_t
holding_clock(void *context)
{
    struct held_clock *held = context;
    int64_t now = test_clock_ms(&held->place->fixture.clock);

    pthread_mutex_lock(&held->mutex);
    if (held->armed && !held->passed && !pthread_equal(pthread_self(), held->main) &&
        stats_of(held->place).flushes > 0) {
        held->held = true;
        pthread_cond_broadcast(&held->changed);
        while (!held->passed)
            pthread_cond_wait(&held->changed, &held->mutex);
    } else if (held->held && !held->passed && pthread_equal(pthread_self(), held->main)) {
        held->passed = true;
        pthread_cond_broadcast(&held->changed);
        pthread_mutex_unlock(&held->mutex);
        let_others_run();
        return now;
    }
    pthread_mutex_unlock(&held->mutex);
    return now;
}

TEST(test_a_look_of_before_does_not_answer_for_now)
{
    petal_family_options family = {.ttl_seconds = 10};
    struct held_clock held = {.main = pthread_self(),
                              .mutex = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    struct place place;

    place_open(&place, &family);
    held.place = &place;
    place.fixture.env.clock_context = &held;
    place.fixture.env.clock_ms = holding_clock;
    place_reopen(&place);
    for (unsigned i = 0; i < 10; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_put(place.table, row, 1000, row);
    }
    settle(&place);
    pthread_mutex_lock(&held.mutex);
    held.armed = true;
    pthread_mutex_unlock(&held.mutex);
    compact_fixture_flush(place.fixture.db);
    pthread_mutex_lock(&held.mutex);
    while (!held.held)
        pthread_cond_wait(&held.changed, &held.mutex);
    pthread_mutex_unlock(&held.mutex);
    let_others_run();
    test_clock_set(&place.fixture.clock, 1000 + 10001);
    settle(&place);
    assert_int_equal(totals_of(&place).cells, 0);
    fixture_fini(&place.fixture);
}

/* Cells of one file that die one by one: it is rewritten when more than the share is gone, and then
 * only when it is so again. */
TEST(test_time_calls_for_all_files)
{
    petal_family_options family = {.ttl_seconds = 10};
    struct place place;

    place_open(&place, &family);
    for (unsigned i = 0; i < 100; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_put(place.table, row, 1000 + 10 * i, row);
    }
    compact_fixture_flush(place.fixture.db);
    test_clock_set(&place.fixture.clock, 11000 + 200);
    settle(&place);
    assert_int_equal(totals_of(&place).cells, 100);
    test_clock_set(&place.fixture.clock, 11000 + 300);
    settle(&place);
    assert_int_equal(totals_of(&place).cells, 70);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 1);
    must_hold_rows(&place, 30, 99);
    fixture_fini(&place.fixture);
}

/* ---- what fails ---- */

/* Rows 0 to 299 in so many files, and no thread that would compact them. */
static void
make_files(struct place *place, unsigned count)
{
    unsigned rows = 300 / count;

    place_open(place, NULL);
    petal_close(place->fixture.db, NULL);
    place->fixture.db = NULL;
    place->fixture.options.no_compaction = true;
    fixture_must_open(&place->fixture);
    place_reopen(place);
    for (unsigned i = 0; i < count; i++)
        put_file(place, rows * i, rows * i + rows - 1);
}

/* As few as are merged in the background. */
static void
make_due_files(struct place *place)
{
    make_files(place, POLICY_MIN_RUNS);
}

/* Nothing is written and no flush succeeds, so only the waiting ends when there is room. */
TEST(test_a_full_disk_is_waited_for)
{
    struct place place;
    petal_error error;
    petal_stats stats;

    make_due_files(&place);
    place.fixture.options.no_compaction = false;
    petal_close(place.fixture.db, NULL);
    place.fixture.db = NULL;
    /* The manifest that an opening writes fits; an output does not. */
    memory_vfs_set_capacity(place.fixture.vfs, memory_vfs_used(place.fixture.vfs) + 1000);
    place_reopen(&place);
    assert_int_equal(petal_wait_idle(place.fixture.db, &error), PETAL_NO_SPACE);
    stats = stats_of(&place);
    assert_true(stats.background_failures > 0);
    assert_int_equal(stats.background_error.status, PETAL_NO_SPACE);
    assert_non_null(strstr(place.log.errors, "compaction failed"));
    assert_false(stats.read_only);
    must_hold_rows(&place, 0, 299);
    memory_vfs_set_capacity(place.fixture.vfs, UINT64_MAX);
    settle(&place);
    stats = stats_of(&place);
    assert_int_equal(stats.background_error.status, PETAL_OK);
    assert_int_equal(totals_of(&place).runs, 1);
    must_hold_rows(&place, 0, 299);
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}

/* ---- a job by itself ---- */

TEST(test_a_job_that_is_given_up_leaves_nothing)
{
    struct place place;
    struct store_file *inputs[3];
    struct compact_job job = {.inputs = inputs, .reason = POLICY_EXPLORING};
    _Atomic(bool) give_up = true;
    const struct store_view *store;
    struct view *view;
    petal_error error;
    petal_db *db;

    make_files(&place, 3);
    db = place.fixture.db;
    job.store = db_next_store(petal_table_family_at(place.table, 0), NULL);
    view = read_pin_view(db);
    store = view_store(view, job.store);
    for (uint32_t i = 0; i < store->file_count; i++) {
        store_file_ref(store->files[i].file);
        inputs[job.input_count++] = store->files[i].file;
    }
    job.run = store->files[0].run;
    job.all_files = true;
    job.give_up = &give_up;
    assert_int_equal(job.input_count, 3);
    assert_int_equal(compact_run(&job, &error), PETAL_BUSY);
    assert_true(fixture_directory_is_clean(&place.fixture));
    assert_int_equal(totals_of(&place).runs, 3);
    give_up = false;
    MUST(compact_run(&job, WHY));
    view_unref(view);
    assert_int_equal(totals_of(&place).runs, 1);
    must_hold_rows(&place, 0, 299);
    fixture_fini(&place.fixture);
}

/* The output of some runs stands where they stood: a marker keeps hiding what is older, and what is
 * newer keeps being newer. */
TEST(test_outputs_keep_their_place)
{
    struct place place;
    petal_family *family;

    make_files(&place, 3);
    family = petal_table_family_at(place.table, 0);
    compact_fixture_put(place.table, "row0000", 1000, "second");
    compact_fixture_flush(place.fixture.db);
    compact_fixture_put(place.table, "row0000", 1000, "third");
    compact_fixture_delete(place.table, "row0001", PETAL_LATEST, PETAL_DELETE_COLUMN);
    compact_fixture_flush(place.fixture.db);
    compact_fixture_put(place.table, "row0000", 1000, "fourth");
    compact_fixture_flush(place.fixture.db);
    MUST(compactor_compact_runs(family, 3, 2, WHY));
    assert_int_equal(totals_of(&place).runs, 5);
    assert_int_equal(totals_of(&place).markers, 1);
    assert_string_equal(compact_fixture_value(place.table, "row0000"), "fourth");
    assert_string_equal(compact_fixture_value(place.table, "row0001"), "");
    MUST(compactor_compact_runs(family, 0, 3, WHY));
    assert_int_equal(totals_of(&place).runs, 3);
    assert_string_equal(compact_fixture_value(place.table, "row0000"), "fourth");
    assert_string_equal(compact_fixture_value(place.table, "row0001"), "");
    MUST(compactor_compact_runs(family, 0, 10, WHY)); /* all of them */
    assert_int_equal(totals_of(&place).runs, 1);
    assert_int_equal(totals_of(&place).markers, 0);
    assert_string_equal(compact_fixture_value(place.table, "row0000"), "fourth");
    assert_string_equal(compact_fixture_value(place.table, "row0001"), "");
    MUST(compactor_compact_runs(family, 7, 2, WHY)); /* there are none */
    fixture_fini(&place.fixture);
}

/* Closing gives up what runs: again and again, with files that call for work. */
TEST(test_closing_does_not_wait_for_jobs)
{
    struct place place;
    unsigned rows = 0;

    place_open(&place, NULL);
    for (unsigned turn = 0; turn < 20; turn++) {
        for (unsigned i = 0; i < 4; i++, rows += 40)
            put_file(&place, rows, rows + 39);
        place_reopen(&place);
    }
    settle(&place);
    must_hold_rows(&place, 0, rows - 1);
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}
