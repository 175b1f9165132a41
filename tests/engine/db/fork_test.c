/*
 * fork_test.c -- a process that has a database open forks, while threads write, read, flush
 * and compact: the child can do the database no harm, does not hang, and has no part in its lock.
 *
 * On the operating system's files. Children tell by their exit what went wrong: the number of the
 * line.
 */
#include "engine/petal.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS         60
#define CHILD_SECONDS 60

/* ---- Fixture: a database with one of everything ---- */

struct fixture {
    char *directory;
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_kv *kv;
    petal_cursor *cursor;
    petal_snapshot *snapshot;
    petal_result *result;
    petal_receipt *receipt;
    petal_batch *batch;
    petal_filter *filter;
    petal_bulk *bulk;
    petal_error error;

    pthread_t threads[2];
    _Atomic(bool) stop;
    _Atomic(int) written; /* puts that were acknowledged */
};

static void
put(struct fixture *fixture, int number)
{
    char row[16];

    snprintf(row, sizeof row, "%08d", number);
    if (petal_put(fixture->family, text(row), text("q"), 1 + number, text("value"), NULL, NULL) !=
        PETAL_OK)
        abort();
}

static petal_family *
open_fixture(struct fixture *fixture)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options table = {.name = text("t"), .families = &family, .family_count = 1};
    petal_options options = {.create = true, .memtable_bytes = 64 << 10};
    petal_error *error = &fixture->error;

    must(petal_open(fixture->directory, &options, &fixture->db, error), error);
    if (petal_table_open(fixture->db, text("t"), &fixture->table, error) == PETAL_NOT_FOUND)
        must(petal_table_create(fixture->db, &table, &fixture->table, error), error);
    must(petal_table_family(fixture->table, text("f"), &fixture->family, error), error);
    return fixture->family;
}

static int
set_up(void **state)
{
    struct fixture *fixture = test_allocate(sizeof *fixture);
    petal_read_options read = {.size = 0};
    petal_error *error = &fixture->error;

    memset(fixture, 0, sizeof *fixture);
    *state = fixture;
    fixture->directory = test_directory_new();
    open_fixture(fixture);
    put(fixture, 0);
    fixture->written = 1;
    must(petal_flush(fixture->db, NULL, error), error);
    must(petal_kv_open(fixture->db, text("kv"), NULL, &fixture->kv, error), error);
    must(petal_result_new(fixture->db, &fixture->result, error), error);
    must(petal_receipt_new(fixture->db, &fixture->receipt, error), error);
    must(petal_batch_new(fixture->db, &fixture->batch, error), error);
    must(petal_snapshot_new(fixture->db, &fixture->snapshot, error), error);
    must(petal_filter_parse(fixture->db, text("KeyOnlyFilter()"), &fixture->filter, error), error);
    read.receipt = fixture->receipt;
    must(petal_get(fixture->table, text("00000000"), &read, fixture->result, error), error);
    must(petal_cursor_open(fixture->table, NULL, &fixture->cursor, error), error);
    must(petal_bulk_begin(fixture->table, NULL, &fixture->bulk, error), error);
    return 0;
}

static void
free_all(struct fixture *fixture)
{
    petal_cursor_close(fixture->cursor);
    petal_snapshot_free(fixture->snapshot);
    petal_receipt_free(fixture->receipt);
    petal_result_free(fixture->result);
    petal_batch_free(fixture->batch);
    petal_filter_free(fixture->filter);
    petal_bulk_free(fixture->bulk);
    fixture->cursor = NULL;
    fixture->snapshot = NULL;
    fixture->receipt = NULL;
    fixture->result = NULL;
    fixture->batch = NULL;
    fixture->filter = NULL;
    fixture->bulk = NULL;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;

    free_all(fixture);
    petal_close(fixture->db, NULL);
    test_directory_free(fixture->directory);
    free(fixture);
    return 0;
}

/* ---- Threads at work ---- */

/* AddressSanitizer's allocator is not made for forking beside threads: the child would wait for a
 * lock that one of them held. */
#ifdef __SANITIZE_ADDRESS__
#define THREADS_MAY_WORK false
#else
#define THREADS_MAY_WORK true
#endif

static void *
write_on(void *argument)
{
    struct fixture *fixture = argument;

    while (!fixture->stop) {
        put(fixture, fixture->written);
        fixture->written++;
    }
    return NULL;
}

static void *
keep_busy(void *argument)
{
    struct fixture *fixture = argument;
    petal_result *result;
    petal_stats stats;

    if (petal_result_new(fixture->db, &result, NULL) != PETAL_OK)
        abort();
    for (int i = 0; !fixture->stop; i++) {
        char row[16];

        snprintf(row, sizeof row, "%08d", i % fixture->written);
        if (petal_get(fixture->table, text(row), NULL, result, NULL) != PETAL_OK ||
            petal_result_count(result) != 1)
            abort();
        petal_stats_get(fixture->db, &stats);
        if (i % 100 == 99 && petal_compact(fixture->table, NULL, NULL) != PETAL_OK)
            abort();
    }
    petal_result_free(result);
    return NULL;
}

static void
begin_work(struct fixture *fixture)
{
    assert_int_equal(pthread_create(&fixture->threads[0], NULL, write_on, fixture), 0);
    assert_int_equal(pthread_create(&fixture->threads[1], NULL, keep_busy, fixture), 0);
}

static void
end_work(struct fixture *fixture)
{
    fixture->stop = true;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(fixture->threads[i], NULL), 0);
}

/* All that was acknowledged is there after another opening, and nothing else. */
static void
check_content(struct fixture *fixture)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    int count = 0;

    free_all(fixture);
    MUST(petal_close(fixture->db, WHY));
    open_fixture(fixture);
    MUST(petal_cursor_open(fixture->table, NULL, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        assert_int_equal(cell->timestamp, 1 + count);
        count++;
    }
    petal_cursor_close(cursor);
    assert_int_equal(count, fixture->written);
    MUST(petal_table_verify(fixture->table, WHY));
}

/* ---- The child ---- */

static bool
see_table(void *argument, petal_table *table)
{
    (void)argument;
    (void)table;
    return true;
}

static bool
see_file(void *argument, const petal_file_info *file)
{
    (void)argument;
    (void)file;
    return true;
}

static bool
see_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    (void)argument;
    (void)info;
    return true;
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, #condition);                         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        CHECK((call) == PETAL_INVALID);                                                            \
        CHECK(error.status == PETAL_INVALID && strstr(error.text, "another process") != NULL);     \
    } while (0)

static void
call_everything(struct fixture *fixture)
{
    petal_family_options family = {.name = text("g")};
    petal_table_options options = {.name = text("new"), .families = &family, .family_count = 1};
    petal_filter_argument argument = {.kind = PETAL_FILTER_BYTES, .bytes = text("x")};
    petal_slice row = text("00000000"), q = text("q"), value = text("child"), got;
    petal_cell added = {.row = row, .qualifier = q, .timestamp = 5, .type = PETAL_PUT};
    petal_cursor *cursor;
    petal_snapshot *snapshot;
    petal_result *result;
    petal_receipt *receipt;
    petal_batch *batch;
    petal_filter *filter;
    petal_bulk *bulk;
    petal_family *found;
    petal_table *table;
    petal_kv *kv;
    const petal_cell *cell;
    petal_stats stats;
    petal_error error;
    uint64_t blocks;
    int64_t sum;
    bool is;

    REFUSED(petal_put(fixture->family, row, q, 5, value, NULL, &error));
    REFUSED(petal_delete(fixture->family, row, q, 5, PETAL_DELETE_COLUMN, NULL, &error));
    REFUSED(petal_append(fixture->family, row, q, value, NULL, &error));
    REFUSED(petal_increment(fixture->family, row, q, 1, NULL, &sum, &error));
    REFUSED(petal_batch_put(fixture->batch, fixture->family, row, q, 5, value, &error));
    REFUSED(petal_batch_delete(fixture->batch, fixture->family, row, q, 5, PETAL_DELETE, &error));
    REFUSED(petal_batch_append(fixture->batch, fixture->family, row, q, value, &error));
    REFUSED(petal_batch_increment(fixture->batch, fixture->family, row, q, 1, &error));
    REFUSED(petal_batch_mutation(fixture->batch, NULL, &error));
    REFUSED(petal_write(fixture->db, fixture->batch, NULL, &error));
    REFUSED(petal_mutate_row(fixture->table, row, NULL, fixture->batch, NULL, &is, &error));
    REFUSED(petal_bulk_begin(fixture->table, NULL, &bulk, &error));
    REFUSED(petal_bulk_add(fixture->bulk, fixture->family, &added, &error));
    REFUSED(petal_bulk_commit(fixture->bulk, &error));
    REFUSED(petal_get(fixture->table, row, NULL, fixture->result, &error));
    CHECK(petal_result_count(fixture->result) == 0);
    REFUSED(petal_multi_get(fixture->table, &row, 1, NULL, &fixture->result, &error));
    REFUSED(petal_cursor_open(fixture->table, NULL, &cursor, &error));
    REFUSED(petal_cursor_next(fixture->cursor, &cell, &error));
    REFUSED(petal_cursor_next_row(fixture->cursor, fixture->result, &error));
    REFUSED(petal_cursor_seek(fixture->cursor, row, NULL, q, &error));
    REFUSED(petal_snapshot_new(fixture->db, &snapshot, &error));
    REFUSED(petal_result_new(fixture->db, &result, &error));
    REFUSED(petal_receipt_new(fixture->db, &receipt, &error));
    REFUSED(petal_batch_new(fixture->db, &batch, &error));
    REFUSED(petal_filter_parse(fixture->db, text("KeyOnlyFilter()"), &filter, &error));
    REFUSED(petal_filter_make(fixture->db, "PrefixFilter", &argument, 1, &filter, &error));
    REFUSED(
        petal_filter_combine(fixture->db, PETAL_FILTER_AND, &fixture->filter, 1, &filter, &error));
    REFUSED(petal_table_create(fixture->db, &options, &table, &error));
    REFUSED(petal_table_open(fixture->db, text("t"), &table, &error));
    CHECK(table == NULL);
    REFUSED(petal_table_alter(fixture->table, &options, &error));
    REFUSED(petal_table_truncate(fixture->table, &table, &error));
    CHECK(table == NULL);
    REFUSED(petal_table_drop(fixture->table, &error));
    REFUSED(petal_table_list(fixture->db, see_table, NULL, &error));
    REFUSED(petal_table_family(fixture->table, text("f"), &found, &error));
    REFUSED(petal_table_files(fixture->table, see_file, NULL, &error));
    REFUSED(petal_table_verify(fixture->table, &error));
    REFUSED(petal_table_snapshot_create(fixture->table, text("s"), NULL, &error));
    REFUSED(petal_table_snapshot_list(fixture->db, see_snapshot, NULL, &error));
    REFUSED(petal_table_snapshot_clone(fixture->db, text("s"), text("u"), &table, &error));
    REFUSED(petal_table_snapshot_restore(fixture->db, text("s"), &table, &error));
    REFUSED(petal_table_snapshot_delete(fixture->db, text("s"), &error));
    REFUSED(petal_cache_clear(fixture->db, NULL, &blocks, &error));
    REFUSED(petal_flush(fixture->db, NULL, &error));
    REFUSED(petal_compact(fixture->table, NULL, &error));
    REFUSED(petal_wait_idle(fixture->db, &error));
    REFUSED(petal_checkpoint(fixture->db, "/nowhere", &error));
    REFUSED(petal_backup(fixture->db, "/nowhere", NULL, NULL, &error));
    REFUSED(petal_kv_open(fixture->db, text("kv"), NULL, &kv, &error));
    REFUSED(petal_kv_put(fixture->kv, row, value, NULL, &error));
    REFUSED(petal_kv_get(fixture->kv, row, fixture->result, &is, &got, &error));
    REFUSED(petal_kv_delete(fixture->kv, row, &error));
    CHECK(petal_table_compaction_state(fixture->table) == PETAL_COMPACTION_NONE);
    CHECK(petal_table_memtable_bytes(fixture->table) == 0);
    petal_stats_get(fixture->db, &stats);
    CHECK(stats.read_only && stats.background_error.status == PETAL_INVALID);
    CHECK(petal_table_name(fixture->table).size == 1);
}

/* Another database, in a child, is none of the parent's business. */
static void
use_another(void)
{
    struct fixture other = {.directory = test_directory_new()};

    open_fixture(&other);
    put(&other, 0);
    CHECK(petal_close(other.db, NULL) == PETAL_OK);
    test_directory_free(other.directory);
}

static void
expect_success(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* else it was ended by SIGALRM: it hung */
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- Tests ---- */

TEST_WITH(test_children_of_a_busy_process_do_no_harm, set_up, tear_down)
{
    struct fixture *fixture = *state;

    if (THREADS_MAY_WORK)
        begin_work(fixture);
    for (int i = 0; i < FORKS; i++) {
        int before = fixture->written;
        pid_t child = fork();

        if (child == 0) {
            alarm(CHILD_SECONDS);
            call_everything(fixture);
            if (i % 2 == 0)
                free_all(fixture);
            CHECK(petal_close(fixture->db, NULL) == PETAL_OK);
            if (i % 2 != 0)
                free_all(fixture);
            use_another();
            _exit(0);
        }
        assert_true(child > 0);
        expect_success(child);
        while (THREADS_MAY_WORK && fixture->written == before)
            sched_yield();
    }
    if (THREADS_MAY_WORK)
        end_work(fixture);
    check_content(fixture);
}

/* A child that lives on and has closed nothing does not keep the lock. */
TEST_WITH(test_the_lock_is_the_parents, set_up, tear_down)
{
    struct fixture *fixture = *state;
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(CHILD_SECONDS);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    check_content(fixture); /* closes and opens */
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

TEST_WITH(test_the_lock_goes_with_the_parent, set_up, tear_down)
{
    struct fixture *fixture = *state;
    int report[2], status;
    pid_t parent, child = 0;

    free_all(fixture);
    MUST(petal_close(fixture->db, WHY));
    assert_int_equal(pipe(report), 0);
    parent = fork();
    if (parent == 0) {
        alarm(CHILD_SECONDS);
        open_fixture(fixture);
        /* The child tells, since only then has it let go of what it inherited. */
        if (fork() == 0) {
            child = getpid();
            if (write(report[1], &child, sizeof child) != sizeof child)
                _exit(1);
        }
        for (;;)
            pause();
    }
    assert_int_equal(read(report[0], &child, sizeof child), sizeof child);
    assert_int_equal(petal_open(fixture->directory, NULL, &fixture->db, &fixture->error),
                     PETAL_BUSY);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    open_fixture(fixture); /* while the child lives */
    assert_int_equal(kill(child, SIGKILL), 0);
    close(report[0]);
    close(report[1]);
}

/* What a child's close does to the lock: nothing. And it may have the database when the parent has
 * not. */
TEST_WITH(test_a_child_opens_what_the_parent_has_closed, set_up, tear_down)
{
    struct fixture *fixture = *state;
    int refused[2], go[2];
    pid_t child;
    char byte = 0;

    assert_int_equal(pipe(refused), 0);
    assert_int_equal(pipe(go), 0);
    child = fork();
    if (child == 0) {
        petal_db *again;

        alarm(CHILD_SECONDS);
        CHECK(petal_close(fixture->db, NULL) == PETAL_OK);
        CHECK(petal_open(fixture->directory, NULL, &again, &fixture->error) == PETAL_BUSY);
        CHECK(write(refused[1], &byte, 1) == 1);
        CHECK(read(go[0], &byte, 1) == 1);
        open_fixture(fixture);
        put(fixture, 1);
        CHECK(petal_close(fixture->db, NULL) == PETAL_OK);
        _exit(0);
    }
    assert_true(child > 0);
    close(refused[1]); /* a child that ended is not waited for */
    assert_int_equal(read(refused[0], &byte, 1), 1);
    close(refused[0]);
    free_all(fixture);
    MUST(petal_close(fixture->db, WHY));
    assert_int_equal(write(go[1], &byte, 1), 1);
    expect_success(child);
    open_fixture(fixture);
    fixture->written = 2;
    check_content(fixture);
    close(go[0]);
    close(go[1]);
}
