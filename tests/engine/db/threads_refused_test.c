/*
 * threads_refused_test.c -- the system has no room for a thread, a mutex or a condition: each one
 * that a database asks for, while it opens, works and closes, is refused once. The call fails with
 * an error that says so, or goes on without; nothing is left behind, nothing that was acknowledged
 * is lost, and the next call succeeds.
 *
 * The program has functions of the names of the thread library's, which the linker takes in their
 * place.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VISITS 5000
#define WRITES      16 /* flushed once half way, and at the end */

/* ---- what is refused ---- */

/* clang-format off */
#define CALLS(X)                                                                                   \
    X(pthread_create, EAGAIN) X(pthread_mutex_init, ENOMEM) X(pthread_cond_init, ENOMEM)           \
    X(pthread_condattr_init, ENOMEM)
/* clang-format on */

enum call {
#define CALL(name, error) CALL_##name,
    CALLS(CALL)
#undef CALL
        CALL_COUNT
};

static const struct {
    const char *name;
    int error;
} calls[] = {
#define CALL(name, error) {#name, error},
    CALLS(CALL)
#undef CALL
};

static struct {
    _Atomic(int) call; /* that is refused at this visit; -1: none */
    _Atomic(unsigned) visit;
    _Atomic(unsigned) visits[CALL_COUNT];
    _Atomic(int) left[CALL_COUNT]; /* that were made, and are not gone */
} refusals = {.call = -1};

static bool
refuses(enum call call)
{
    return ++refusals.visits[call] == refusals.visit && (int)call == refusals.call;
}

/* The thread library's own function. */
static void *
real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL)
        abort();
    return function;
}

#define REAL(type, name) (*(type *)&(void *){real(name)})

static int
count_made(enum call call, int error)
{
    refusals.left[call] += error == 0;
    return error;
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
               void *argument)
{
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (refuses(CALL_pthread_create))
        return EAGAIN;
    return count_made(CALL_pthread_create,
                      REAL(function *, "pthread_create")(thread, attributes, start, argument));
}

int
pthread_join(pthread_t thread, void **result)
{
    typedef int function(pthread_t, void **);

    refusals.left[CALL_pthread_create]--;
    return REAL(function *, "pthread_join")(thread, result);
}

int
pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    typedef int function(pthread_mutex_t *, const pthread_mutexattr_t *);

    if (refuses(CALL_pthread_mutex_init))
        return ENOMEM;
    return count_made(CALL_pthread_mutex_init,
                      REAL(function *, "pthread_mutex_init")(mutex, attributes));
}

int
pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    typedef int function(pthread_mutex_t *);

    refusals.left[CALL_pthread_mutex_init]--;
    return REAL(function *, "pthread_mutex_destroy")(mutex);
}

int
pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    typedef int function(pthread_cond_t *, const pthread_condattr_t *);

    if (refuses(CALL_pthread_cond_init))
        return ENOMEM;
    return count_made(CALL_pthread_cond_init,
                      REAL(function *, "pthread_cond_init")(condition, attributes));
}

int
pthread_cond_destroy(pthread_cond_t *condition)
{
    typedef int function(pthread_cond_t *);

    refusals.left[CALL_pthread_cond_init]--;
    return REAL(function *, "pthread_cond_destroy")(condition);
}

int
pthread_condattr_init(pthread_condattr_t *attributes)
{
    typedef int function(pthread_condattr_t *);

    if (refuses(CALL_pthread_condattr_init))
        return ENOMEM;
    return count_made(CALL_pthread_condattr_init,
                      REAL(function *, "pthread_condattr_init")(attributes));
}

int
pthread_condattr_destroy(pthread_condattr_t *attributes)
{
    typedef int function(pthread_condattr_t *);

    refusals.left[CALL_pthread_condattr_init]--;
    return REAL(function *, "pthread_condattr_destroy")(attributes);
}

/* The n-th from now; -1: none. */
static void
refuse(int call, unsigned visit)
{
    refusals.call = -1;
    for (size_t i = 0; i < CALL_COUNT; i++)
        refusals.visits[i] = 0;
    refusals.visit = visit;
    refusals.call = call;
}

static bool
was_refused(void)
{
    return refusals.call >= 0 && refusals.visits[refusals.call] >= refusals.visit;
}

/* ---- what is left ---- */

/* What there is while no database is open: the file layer in memory has mutexes, too. */
struct rest {
    size_t threads;
    int left[CALL_COUNT];
};

static struct rest
take_rest(void)
{
    struct rest rest = {.threads = test_thread_count()};

    for (size_t i = 0; i < CALL_COUNT; i++)
        rest.left[i] = refusals.left[i];
    return rest;
}

/* Locks of an opening that was refused one: they stay, or go unmade, with its memory. They hold
 * nothing else where the thread library of the system refuses none, as on Linux. */
static void
forget_locks(struct rest *rest)
{
    for (size_t i = CALL_pthread_mutex_init; i <= CALL_pthread_cond_init; i++)
        rest->left[i] = refusals.left[i];
}

static void
check_nothing_is_left(struct fixture *fixture, const struct rest *rest)
{
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    assert_int_equal(memory_vfs_open_directories(fixture->vfs), 0);
    assert_true(test_threads_end(rest->threads));
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (refusals.left[i] != rest->left[i])
            fail_msg("%d of %s are left", refusals.left[i] - rest->left[i], calls[i].name);
}

/* The error is of what was refused, and says so. */
static void
check_error(const petal_error *error, enum petal_status status, int call)
{
    assert_int_equal(error->status, status);
    if (call == CALL_pthread_create) {
        assert_int_equal(status, PETAL_IO);
        assert_int_equal(error->os_error, EAGAIN);
        assert_non_null(strstr(error->text, "thread"));
        assert_non_null(strstr(error->text, FIXTURE_DIRECTORY));
    } else if (status != PETAL_IO || error->os_error != ENOMEM) {
        assert_int_equal(status, PETAL_NO_MEMORY);
    }
}

/* ---- openings ---- */

/* `writes` of them lie in a log when the database is opened. */
static void
prepare(struct fixture *fixture, struct ledger *ledger, uint64_t writes)
{
    fixture_init(fixture, 1);
    fixture->options.no_compaction = false;
    fixture->options.log_sync_interval_ms = 1;
    if (writes == 0)
        return;
    fixture_must_open(fixture);
    MUST(ledger_create(ledger, fixture->db, WHY));
    for (uint64_t number = 1; number <= writes; number++)
        ledger_must_write(ledger, number, PETAL_SYNC_WAL);
    fixture_die(fixture);
}

/* False: there is no such visit. */
static bool
refuse_while_opening(int call, unsigned visit, uint64_t writes)
{
    struct ledger ledger = {0};
    struct fixture fixture;
    struct rest rest;
    petal_error error;
    enum petal_status status;
    bool reached;

    prepare(&fixture, &ledger, writes);
    rest = take_rest();
    refuse(call, visit);
    status = fixture_open(&fixture, &error);
    reached = was_refused();
    refuse(-1, 0);
    assert_int_equal(status == PETAL_OK, !reached);
    if (status != PETAL_OK) {
        assert_null(fixture.db);
        check_error(&error, status, call);
        if (call != CALL_pthread_create)
            forget_locks(&rest);
        check_nothing_is_left(&fixture, &rest);
        fixture_must_open(&fixture);
    }
    MUST(ledger_create(&ledger, fixture.db, WHY));
    assert_int_equal(ledger_must_be_prefix(&ledger), writes);
    ledger_must_write(&ledger, writes + 1, PETAL_FSYNC_WAL);
    fixture_must_close(&fixture);
    check_nothing_is_left(&fixture, &rest);
    fixture_fini(&fixture);
    return reached;
}

static void
refuse_each_while_opening(uint64_t writes)
{
    unsigned tried = 0;

    for (int call = 0; call < CALL_COUNT; call++) {
        unsigned visit = 1;

        while (refuse_while_opening(call, visit, writes))
            visit++;
        tried += visit - 1;
        assert_true(visit > 1 && visit < MOST_VISITS);
        if (call == CALL_pthread_create)
            assert_int_equal(visit - 1, 5); /* of flushes, the log, compactions, regions */
    }
    test_counted("opening %s: %u refused", writes == 0 ? "anew" : "with logs", tried);
}

TEST(test_new_databases_are_not_opened)
{
    refuse_each_while_opening(0);
}

TEST(test_databases_with_logs_are_not_opened)
{
    refuse_each_while_opening(WRITES);
}

/* ---- work ---- */

struct work {
    struct fixture fixture;
    struct ledger ledger;
    unsigned failed;
};

/* Again what failed, which succeeds then. */
#define MUST_SOON(work, call)                                                                      \
    do {                                                                                           \
        petal_error error;                                                                         \
                                                                                                   \
        if ((call) != PETAL_OK) {                                                                  \
            check_error(&error, error.status, CALL_pthread_mutex_init);                            \
            assert_true(was_refused());                                                            \
            (work)->failed++;                                                                      \
            must((call), &error);                                                                  \
        }                                                                                          \
    } while (0)

static void
write_and_flush(struct work *work, uint64_t first, uint64_t last)
{
    for (uint64_t number = first; number <= last; number++)
        MUST_SOON(work, ledger_write(&work->ledger, number, PETAL_SYNC_WAL, &error));
    MUST_SOON(work, petal_flush(work->fixture.db, NULL, &error));
}

static void
do_work(struct work *work)
{
    struct ledger_state state;

    write_and_flush(work, 1, WRITES / 2);
    write_and_flush(work, WRITES / 2 + 1, WRITES);
    MUST_SOON(work, petal_compact(work->ledger.tables[0], NULL, &error));
    MUST_SOON(work, petal_checkpoint(work->fixture.db, "/copy", &error));
    MUST_SOON(work, ledger_read(&work->ledger, &state, &error));
    assert_true(ledger_is_after(&state, WRITES));
    MUST_SOON(work, ledger_write(&work->ledger, WRITES + 1, PETAL_FSYNC_WAL, &error));
}

/* A closing that fails has closed. */
static void
close_once(struct work *work)
{
    petal_db *db = work->fixture.db;
    petal_error error;
    enum petal_status status;

    work->fixture.db = NULL;
    status = petal_close(db, &error);
    if (status != PETAL_OK) {
        assert_true(was_refused());
        check_error(&error, status, CALL_pthread_mutex_init);
        work->failed++;
    }
}

/* False: there is no such visit. */
static bool
refuse_at_work(int call, unsigned visit, unsigned *failed)
{
    struct work work = {.ledger = {.filler = 100}};
    struct rest rest;
    bool reached;

    prepare(&work.fixture, NULL, 0);
    work.fixture.options.no_compaction = true;
    rest = take_rest();
    fixture_must_open(&work.fixture);
    MUST(ledger_create(&work.ledger, work.fixture.db, WHY));
    refuse(call, visit);
    do_work(&work);
    close_once(&work);
    reached = was_refused();
    refuse(-1, 0);
    check_nothing_is_left(&work.fixture, &rest);
    *failed += work.failed;
    fixture_must_open(&work.fixture);
    assert_int_equal(ledger_must_find(&work.ledger, work.fixture.db), WRITES + 1);
    fixture_must_close(&work.fixture);
    fixture_fini(&work.fixture);
    return reached;
}

TEST(test_work_goes_on)
{
    unsigned tried = 0, failed = 0;

    for (int call = 0; call < CALL_COUNT; call++) {
        unsigned visit = 1;

        while (refuse_at_work(call, visit, &failed))
            visit++;
        tried += visit - 1;
        assert_true(visit < MOST_VISITS);
        if (call == CALL_pthread_create)
            assert_int_equal(visit, 1); /* all threads are made at the opening */
    }
    assert_true(failed > 0);
    test_counted("at work: %u refused, %u calls failed and succeeded the next time", tried, failed);
}
