/*
 * capture_test.c -- what a checkpoint or a table snapshot holds is one moment between batches,
 * whatever flushes of single tables wait before and after its own, also where the files of the
 * flush can only be made later. A gate on the making of store files holds the flush thread while
 * jobs are queued.
 */

#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define COPY "/copy"

struct gate {
    petal_vfs vfs;
    const petal_vfs *below;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool closed;
    unsigned arrived; /* while it was closed */
    int failure;      /* of every store file that is made; 0: none */
};

/* File layers have the context of the one below. */
static struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct capture_fixture {
    struct fixture base;
    petal_table *t, *u;
};

static int
open_through_gate(void *context, petal_directory *directory, const char *name, unsigned flags,
                  petal_file **file)
{
    bool is_store_file = strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".sst") == 0;
    int failure = 0;

    if (is_store_file && (flags & PETAL_FILE_CREATE) != 0) {
        pthread_mutex_lock(&gate.mutex);
        gate.arrived += gate.closed;
        pthread_cond_broadcast(&gate.changed);
        while (gate.closed)
            pthread_cond_wait(&gate.changed, &gate.mutex);
        failure = gate.failure;
        pthread_mutex_unlock(&gate.mutex);
    }
    return failure != 0 ? failure : gate.below->open(context, directory, name, flags, file);
}

static void
gate_close(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.closed = true;
    gate.arrived = 0;
    pthread_mutex_unlock(&gate.mutex);
}

static void
gate_wait_for_flush(void)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.arrived == 0)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void
gate_open(int failure)
{
    pthread_mutex_lock(&gate.mutex);
    gate.closed = false;
    gate.failure = failure;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static int
setup(void **state)
{
    struct capture_fixture *fixture = test_allocate(sizeof *fixture);

    *fixture = (struct capture_fixture){0};
    fixture_init(&fixture->base, 1);
    gate.below = fixture->base.env.vfs;
    gate.vfs = *gate.below;
    gate.vfs.open = open_through_gate;
    fixture->base.env.vfs = &gate.vfs;
    fixture_must_open(&fixture->base);
    MUST(copy_fixture_create(fixture->base.db, "t", &fixture->t, WHY));
    MUST(copy_fixture_create(fixture->base.db, "u", &fixture->u, WHY));
    *state = fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct capture_fixture *fixture = *state;

    fixture_fini(&fixture->base);
    free(fixture);
    return 0;
}

/* One batch into a family of each table, which no log has. */
static void
write_batch(struct capture_fixture *fixture, const char *value)
{
    petal_write_options options = {.durability = PETAL_SKIP_WAL};
    petal_slice row = slice_from_text("r"), none = slice_make(NULL, 0);
    petal_batch *batch;

    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    MUST(petal_batch_put(batch, petal_table_family_at(fixture->t, 0), row, none, PETAL_LATEST,
                         slice_from_text(value), WHY));
    MUST(petal_batch_put(batch, petal_table_family_at(fixture->u, 1), row, none, PETAL_LATEST,
                         slice_from_text(value), WHY));
    MUST(petal_write(fixture->base.db, batch, &options, WHY));
    petal_batch_free(batch);
}

/* ---- calls in threads of their own ---- */

struct call {
    pthread_t thread;
    petal_db *db;
    petal_table *table;   /* flushed, or of which a snapshot is taken; NULL: the database */
    const char *snapshot; /* NULL: none is taken */
    bool copies;
    enum petal_status status;
};

static void *
run_call(void *argument)
{
    struct call *call = argument;

    if (call->snapshot != NULL)
        call->status =
            petal_table_snapshot_create(call->table, slice_from_text(call->snapshot), NULL, NULL);
    else if (call->copies)
        call->status = petal_checkpoint(call->db, COPY, NULL);
    else
        call->status = petal_flush(call->db, call->table, NULL);
    return NULL;
}

/* Begin the call, and come back when its flush is number `waiting` of those that wait. */
static void
begin_call(struct call *call, uint64_t waiting)
{
    petal_stats stats;

    assert_int_equal(pthread_create(&call->thread, NULL, run_call, call), 0);
    do {
        sched_yield();
        petal_stats_get(call->db, &stats);
    } while (stats.flushes_waiting < waiting);
}

static enum petal_status
end_call(struct call *call)
{
    pthread_join(call->thread, NULL);
    return call->status;
}

/* `call` has batch 2 in its flush: a flush of t with batch 1 is before it, one of u with batch 3
 * after it. */
static void
run_between(struct capture_fixture *fixture, struct call *call,
            void (*meanwhile)(struct capture_fixture *fixture))
{
    petal_db *db = fixture->base.db;
    struct call before = {.db = db, .table = fixture->t}, behind = {.db = db, .table = fixture->u};

    gate_close();
    write_batch(fixture, "1");
    begin_call(&before, 1);
    gate_wait_for_flush();
    write_batch(fixture, "2");
    begin_call(call, 2);
    write_batch(fixture, "3");
    begin_call(&behind, 3);
    write_batch(fixture, "4");
    if (meanwhile != NULL)
        meanwhile(fixture);
    gate_open(0);
    assert_int_equal(end_call(&before), PETAL_OK);
    (void)end_call(call);
    (void)end_call(&behind);
}

static petal_db *
must_open_copy(struct capture_fixture *fixture)
{
    petal_db *db;

    MUST(petal_open(COPY, &fixture->base.options, &db, WHY));
    return db;
}

TEST_WITH(a_checkpoint_between_flushes_is_one_moment, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .copies = true};
    petal_db *copy;

    run_between(fixture, &call, NULL);
    assert_int_equal(call.status, PETAL_OK);
    copy_fixture_expect(fixture->t, "r/f=4 ");
    copy_fixture_expect(fixture->u, "r/g=4 ");
    copy = must_open_copy(fixture);
    copy_fixture_expect(copy_fixture_open(copy, "t"), "r/f=2 ");
    copy_fixture_expect(copy_fixture_open(copy, "u"), "r/g=2 ");
    MUST(petal_close(copy, WHY));
}

TEST_WITH(a_table_snapshot_between_flushes_is_one_moment, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .table = fixture->u, .snapshot = "s"};
    petal_table *made;

    run_between(fixture, &call, NULL);
    assert_int_equal(call.status, PETAL_OK);
    MUST(petal_table_snapshot_clone(fixture->base.db, slice_from_text("s"), slice_from_text("c"),
                                    &made, WHY));
    copy_fixture_expect(made, "r/g=2 ");
    copy_fixture_expect(fixture->u, "r/g=4 ");
}

/* ---- what goes while it waits ---- */

static void
drop_u(struct capture_fixture *fixture)
{
    MUST(petal_table_drop(fixture->u, WHY));
}

TEST_WITH(a_table_dropped_meanwhile_is_not_in_the_checkpoint, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .copies = true};
    petal_table *table;
    petal_error error;
    petal_db *copy;

    run_between(fixture, &call, drop_u);
    assert_int_equal(call.status, PETAL_OK);
    copy = must_open_copy(fixture);
    copy_fixture_expect(copy_fixture_open(copy, "t"), "r/f=2 ");
    assert_int_equal(petal_table_open(copy, slice_from_text("u"), &table, &error), PETAL_NOT_FOUND);
    MUST(petal_close(copy, WHY));
    copy_fixture_expect_no_stray(&fixture->base);
}

TEST_WITH(a_table_dropped_meanwhile_has_no_snapshot, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .table = fixture->u, .snapshot = "s"};
    char text[COPY_BED_TEXT_BYTES];

    run_between(fixture, &call, drop_u);
    assert_int_equal(call.status, PETAL_NOT_FOUND);
    assert_string_equal(copy_fixture_snapshots(fixture->base.db, text), "");
    copy_fixture_expect_no_stray(&fixture->base);
}

static void
drop_family(struct capture_fixture *fixture)
{
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options options = {.families = &family, .family_count = 1};

    MUST(petal_table_alter(fixture->u, &options, WHY));
}

TEST_WITH(a_family_dropped_meanwhile_is_in_no_copy, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .table = fixture->u, .snapshot = "s"};
    petal_table *made;

    run_between(fixture, &call, drop_family);
    assert_int_equal(call.status, PETAL_OK);
    MUST(petal_table_snapshot_clone(fixture->base.db, slice_from_text("s"), slice_from_text("c"),
                                    &made, WHY));
    assert_int_equal(petal_table_family_count(made), 1);
    copy_fixture_expect(made, "");
    copy_fixture_expect_no_stray(&fixture->base);
}

/* ---- a bulk ---- */

static petal_bulk *loading;
static pthread_t loader;
static _Atomic(bool) loaded;

static void *
commit_bulk(void *argument)
{
    (void)argument;
    MUST(petal_bulk_commit(loading, WHY));
    atomic_store(&loaded, true);
    return NULL;
}

/* After batch 4, which is in no file and not in the copy. */
static void
begin_to_load(struct capture_fixture *fixture)
{
    const struct timespec moment = {.tv_nsec = 50000000};

    (void)fixture;
    atomic_store(&loaded, false);
    assert_int_equal(pthread_create(&loader, NULL, commit_bulk, NULL), 0);
    nanosleep(&moment, NULL); /* it would be done, if it did not wait */
    assert_false(atomic_load(&loaded));
}

TEST_WITH(a_bulk_waits_for_a_capture_that_it_is_not_of, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    struct call call = {.db = fixture->base.db, .copies = true};
    petal_cell cell = {.row = slice_from_text("bulk"),
                       .value = slice_from_text("loaded"),
                       .timestamp = 5,
                       .type = PETAL_PUT};
    petal_db *copy;

    MUST(petal_bulk_begin(fixture->t, NULL, &loading, WHY));
    MUST(petal_bulk_add(loading, petal_table_family_at(fixture->t, 1), &cell, WHY));
    cell.row = slice_from_text("more"); /* the one before goes to the file, which is made */
    MUST(petal_bulk_add(loading, petal_table_family_at(fixture->t, 1), &cell, WHY));
    run_between(fixture, &call, begin_to_load);
    pthread_join(loader, NULL);
    petal_bulk_free(loading);
    assert_int_equal(call.status, PETAL_OK);
    copy_fixture_expect(fixture->t, "bulk/g=loaded more/g=loaded r/f=4 ");
    copy = must_open_copy(fixture);
    copy_fixture_expect(copy_fixture_open(copy, "t"), "r/f=2 ");
    MUST(petal_close(copy, WHY));
}

/* ---- a flush that fails and is made good ---- */

TEST_WITH(a_flush_without_space_is_the_callers_error, setup, teardown)
{
    struct capture_fixture *fixture = *state;
    petal_db *db = fixture->base.db;
    struct call calls[] = {{.db = db, .table = fixture->t, .snapshot = "s"},
                           {.db = db, .copies = true}};
    char text[COPY_BED_TEXT_BYTES];
    petal_table *made;

    for (size_t i = 0; i < 2; i++) {
        gate_close();
        write_batch(fixture, i == 0 ? "1" : "2");
        begin_call(&calls[i], 1);
        gate_wait_for_flush();
        gate_open(ENOSPC);
        assert_int_equal(end_call(&calls[i]), PETAL_NO_SPACE);
        assert_string_equal(copy_fixture_snapshots(db, text), "");
        gate_open(0);
        /* The same job, which nobody waits for any more. */
        MUST(petal_flush(db, NULL, WHY));
    }
    copy_fixture_expect_no_stray(&fixture->base);
    MUST(petal_table_snapshot_create(fixture->t, slice_from_text("s"), NULL, WHY));
    MUST(petal_checkpoint(db, COPY, WHY));
    MUST(petal_table_snapshot_clone(db, slice_from_text("s"), slice_from_text("c"), &made, WHY));
    copy_fixture_expect(made, "r/f=2 ");
    copy_fixture_expect_no_stray(&fixture->base);
}
