/*
 * fork_test.c -- a process that has a database open forks, while threads write, read, flush
 * and compact: the child can do the database no harm, does not hang, and has no part in its lock.
 *
 * On the operating system's files. Children tell by their exit what went wrong: the number of the
 * line.
 */
#include "engine/petal.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FORKS         60
#define CHILD_SECONDS 60

static petal_slice
text(const char *string)
{
    return (petal_slice){string, strlen(string)};
}

static void
must(enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        fail_msg("%s", error->text);
}

/* ---- Fixture: a database with one of everything ---- */

struct bed {
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
    petal_error error;

    pthread_t threads[2];
    _Atomic(bool) stop;
    _Atomic(int) written; /* puts that were acknowledged */
};

static void
put(struct bed *bed, int number)
{
    char row[16];

    snprintf(row, sizeof row, "%08d", number);
    if (petal_put(bed->family, text(row), text("q"), 1 + number, text("value"), NULL, NULL) !=
        PETAL_OK)
        abort();
}

static petal_family *
open_bed(struct bed *bed)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options table = {.name = text("t"), .families = &family, .family_count = 1};
    petal_options options = {.create = true, .memtable_bytes = 64 << 10};
    petal_error *error = &bed->error;

    must(petal_open(bed->directory, &options, &bed->db, error), error);
    if (petal_table_open(bed->db, text("t"), &bed->table, error) == PETAL_NOT_FOUND)
        must(petal_table_create(bed->db, &table, &bed->table, error), error);
    must(petal_table_family(bed->table, text("f"), &bed->family, error), error);
    return bed->family;
}

static int
set_up(void **state)
{
    struct bed *bed = test_allocate(sizeof *bed);
    petal_read_options read = {.size = 0};
    petal_error *error = &bed->error;

    memset(bed, 0, sizeof *bed);
    *state = bed;
    bed->directory = test_directory_new();
    open_bed(bed);
    put(bed, 0);
    bed->written = 1;
    must(petal_flush(bed->db, NULL, error), error);
    must(petal_kv_open(bed->db, text("kv"), NULL, &bed->kv, error), error);
    must(petal_result_new(bed->db, &bed->result, error), error);
    must(petal_receipt_new(bed->db, &bed->receipt, error), error);
    must(petal_batch_new(bed->db, &bed->batch, error), error);
    must(petal_snapshot_new(bed->db, &bed->snapshot, error), error);
    must(petal_filter_parse(bed->db, text("KeyOnlyFilter()"), &bed->filter, error), error);
    read.receipt = bed->receipt;
    must(petal_get(bed->table, text("00000000"), &read, bed->result, error), error);
    must(petal_cursor_open(bed->table, NULL, &bed->cursor, error), error);
    return 0;
}

static void
free_all(struct bed *bed)
{
    petal_cursor_close(bed->cursor);
    petal_snapshot_free(bed->snapshot);
    petal_receipt_free(bed->receipt);
    petal_result_free(bed->result);
    petal_batch_free(bed->batch);
    petal_filter_free(bed->filter);
    bed->cursor = NULL;
    bed->snapshot = NULL;
    bed->receipt = NULL;
    bed->result = NULL;
    bed->batch = NULL;
    bed->filter = NULL;
}

static int
tear_down(void **state)
{
    struct bed *bed = *state;

    free_all(bed);
    petal_close(bed->db, NULL);
    test_directory_free(bed->directory);
    free(bed);
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
    struct bed *bed = argument;

    while (!bed->stop) {
        put(bed, bed->written);
        bed->written++;
    }
    return NULL;
}

static void *
keep_busy(void *argument)
{
    struct bed *bed = argument;
    petal_result *result;
    petal_stats stats;

    if (petal_result_new(bed->db, &result, NULL) != PETAL_OK)
        abort();
    for (int i = 0; !bed->stop; i++) {
        char row[16];

        snprintf(row, sizeof row, "%08d", i % bed->written);
        if (petal_get(bed->table, text(row), NULL, result, NULL) != PETAL_OK ||
            petal_result_count(result) != 1)
            abort();
        petal_stats_get(bed->db, &stats);
        if (i % 100 == 99 && petal_compact(bed->table, NULL, NULL) != PETAL_OK)
            abort();
    }
    petal_result_free(result);
    return NULL;
}

static void
begin_work(struct bed *bed)
{
    assert_int_equal(pthread_create(&bed->threads[0], NULL, write_on, bed), 0);
    assert_int_equal(pthread_create(&bed->threads[1], NULL, keep_busy, bed), 0);
}

static void
end_work(struct bed *bed)
{
    bed->stop = true;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(bed->threads[i], NULL), 0);
}

/* All that was acknowledged is there after another opening, and nothing else. */
static void
check_content(struct bed *bed)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    int count = 0;

    free_all(bed);
    must(petal_close(bed->db, &bed->error), &bed->error);
    open_bed(bed);
    must(petal_cursor_open(bed->table, NULL, &cursor, &bed->error), &bed->error);
    for (;;) {
        must(petal_cursor_next(cursor, &cell, &bed->error), &bed->error);
        if (cell == NULL)
            break;
        assert_int_equal(cell->timestamp, 1 + count);
        count++;
    }
    petal_cursor_close(cursor);
    assert_int_equal(count, bed->written);
    must(petal_table_verify(bed->table, &bed->error), &bed->error);
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
call_everything(struct bed *bed)
{
    petal_family_options family = {.name = text("g")};
    petal_table_options options = {.name = text("new"), .families = &family, .family_count = 1};
    petal_filter_argument argument = {.kind = PETAL_FILTER_BYTES, .bytes = text("x")};
    petal_slice row = text("00000000"), q = text("q"), value = text("child"), got;
    petal_cursor *cursor;
    petal_snapshot *snapshot;
    petal_result *result;
    petal_receipt *receipt;
    petal_batch *batch;
    petal_filter *filter;
    petal_family *found;
    petal_table *table;
    petal_kv *kv;
    const petal_cell *cell;
    petal_stats stats;
    petal_error error;
    uint64_t blocks;
    int64_t sum;
    bool is;

    REFUSED(petal_put(bed->family, row, q, 5, value, NULL, &error));
    REFUSED(petal_delete(bed->family, row, q, 5, PETAL_DELETE_COLUMN, NULL, &error));
    REFUSED(petal_append(bed->family, row, q, value, NULL, &error));
    REFUSED(petal_increment(bed->family, row, q, 1, NULL, &sum, &error));
    REFUSED(petal_batch_put(bed->batch, bed->family, row, q, 5, value, &error));
    REFUSED(petal_batch_delete(bed->batch, bed->family, row, q, 5, PETAL_DELETE, &error));
    REFUSED(petal_batch_append(bed->batch, bed->family, row, q, value, &error));
    REFUSED(petal_batch_increment(bed->batch, bed->family, row, q, 1, &error));
    REFUSED(petal_batch_mutation(bed->batch, NULL, &error));
    REFUSED(petal_write(bed->db, bed->batch, NULL, &error));
    REFUSED(petal_mutate_row(bed->table, row, NULL, bed->batch, NULL, &is, &error));
    REFUSED(petal_get(bed->table, row, NULL, bed->result, &error));
    CHECK(petal_result_count(bed->result) == 0);
    REFUSED(petal_multi_get(bed->table, &row, 1, NULL, &bed->result, &error));
    REFUSED(petal_cursor_open(bed->table, NULL, &cursor, &error));
    REFUSED(petal_cursor_next(bed->cursor, &cell, &error));
    REFUSED(petal_cursor_next_row(bed->cursor, bed->result, &error));
    REFUSED(petal_cursor_seek(bed->cursor, row, NULL, q, &error));
    REFUSED(petal_snapshot_new(bed->db, &snapshot, &error));
    REFUSED(petal_result_new(bed->db, &result, &error));
    REFUSED(petal_receipt_new(bed->db, &receipt, &error));
    REFUSED(petal_batch_new(bed->db, &batch, &error));
    REFUSED(petal_filter_parse(bed->db, text("KeyOnlyFilter()"), &filter, &error));
    REFUSED(petal_filter_make(bed->db, "PrefixFilter", &argument, 1, &filter, &error));
    REFUSED(petal_filter_combine(bed->db, PETAL_FILTER_AND, &bed->filter, 1, &filter, &error));
    REFUSED(petal_table_create(bed->db, &options, &table, &error));
    REFUSED(petal_table_open(bed->db, text("t"), &table, &error));
    CHECK(table == NULL);
    REFUSED(petal_table_alter(bed->table, &options, &error));
    REFUSED(petal_table_truncate(bed->table, &table, &error));
    CHECK(table == NULL);
    REFUSED(petal_table_drop(bed->table, &error));
    REFUSED(petal_table_list(bed->db, see_table, NULL, &error));
    REFUSED(petal_table_family(bed->table, text("f"), &found, &error));
    REFUSED(petal_table_files(bed->table, see_file, NULL, &error));
    REFUSED(petal_table_verify(bed->table, &error));
    REFUSED(petal_table_snapshot_create(bed->table, text("s"), NULL, &error));
    REFUSED(petal_table_snapshot_list(bed->db, see_snapshot, NULL, &error));
    REFUSED(petal_table_snapshot_clone(bed->db, text("s"), text("u"), &table, &error));
    REFUSED(petal_table_snapshot_restore(bed->db, text("s"), &table, &error));
    REFUSED(petal_table_snapshot_delete(bed->db, text("s"), &error));
    REFUSED(petal_cache_clear(bed->db, NULL, &blocks, &error));
    REFUSED(petal_flush(bed->db, NULL, &error));
    REFUSED(petal_compact(bed->table, NULL, &error));
    REFUSED(petal_wait_idle(bed->db, &error));
    REFUSED(petal_checkpoint(bed->db, "/nowhere", &error));
    REFUSED(petal_kv_open(bed->db, text("kv"), NULL, &kv, &error));
    REFUSED(petal_kv_put(bed->kv, row, value, &error));
    REFUSED(petal_kv_get(bed->kv, row, bed->result, &is, &got, &error));
    REFUSED(petal_kv_delete(bed->kv, row, &error));
    CHECK(petal_table_compaction_state(bed->table) == PETAL_COMPACTION_NONE);
    CHECK(petal_table_memtable_bytes(bed->table) == 0);
    petal_stats_get(bed->db, &stats);
    CHECK(stats.read_only && stats.background_error.status == PETAL_INVALID);
    CHECK(petal_table_name(bed->table).size == 1);
}

/* Another database, in a child, is none of the parent's business. */
static void
use_another(void)
{
    struct bed other = {.directory = test_directory_new()};

    open_bed(&other);
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

static void
test_children_of_a_busy_process_do_no_harm(void **state)
{
    struct bed *bed = *state;

    if (THREADS_MAY_WORK)
        begin_work(bed);
    for (int i = 0; i < FORKS; i++) {
        int before = bed->written;
        pid_t child = fork();

        if (child == 0) {
            alarm(CHILD_SECONDS);
            call_everything(bed);
            if (i % 2 == 0)
                free_all(bed);
            CHECK(petal_close(bed->db, NULL) == PETAL_OK);
            if (i % 2 != 0)
                free_all(bed);
            use_another();
            _exit(0);
        }
        assert_true(child > 0);
        expect_success(child);
        while (THREADS_MAY_WORK && bed->written == before)
            sched_yield();
    }
    if (THREADS_MAY_WORK)
        end_work(bed);
    check_content(bed);
}

/* A child that lives on and has closed nothing does not keep the lock. */
static void
test_the_lock_is_the_parents(void **state)
{
    struct bed *bed = *state;
    pid_t child = fork();
    int status;

    if (child == 0) {
        alarm(CHILD_SECONDS);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    check_content(bed); /* closes and opens */
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void
test_the_lock_goes_with_the_parent(void **state)
{
    struct bed *bed = *state;
    int report[2], status;
    pid_t parent, child = 0;

    free_all(bed);
    must(petal_close(bed->db, &bed->error), &bed->error);
    assert_int_equal(pipe(report), 0);
    parent = fork();
    if (parent == 0) {
        alarm(CHILD_SECONDS);
        open_bed(bed);
        child = fork();
        if (child > 0 && write(report[1], &child, sizeof child) != sizeof child)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(report[0], &child, sizeof child), sizeof child);
    assert_int_equal(petal_open(bed->directory, NULL, &bed->db, &bed->error), PETAL_BUSY);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, &status, 0), parent);
    open_bed(bed); /* while the child lives */
    assert_int_equal(kill(child, SIGKILL), 0);
    close(report[0]);
    close(report[1]);
}

/* What a child's close does to the lock: nothing. And it may have the database when the parent has
 * not. */
static void
test_a_child_opens_what_the_parent_has_closed(void **state)
{
    struct bed *bed = *state;
    int refused[2], go[2];
    pid_t child;
    char byte = 0;

    assert_int_equal(pipe(refused), 0);
    assert_int_equal(pipe(go), 0);
    child = fork();
    if (child == 0) {
        petal_db *again;

        alarm(CHILD_SECONDS);
        CHECK(petal_close(bed->db, NULL) == PETAL_OK);
        CHECK(petal_open(bed->directory, NULL, &again, &bed->error) == PETAL_BUSY);
        CHECK(write(refused[1], &byte, 1) == 1);
        CHECK(read(go[0], &byte, 1) == 1);
        open_bed(bed);
        put(bed, 1);
        CHECK(petal_close(bed->db, NULL) == PETAL_OK);
        _exit(0);
    }
    assert_true(child > 0);
    close(refused[1]); /* a child that ended is not waited for */
    assert_int_equal(read(refused[0], &byte, 1), 1);
    close(refused[0]);
    free_all(bed);
    must(petal_close(bed->db, &bed->error), &bed->error);
    assert_int_equal(write(go[1], &byte, 1), 1);
    expect_success(child);
    open_bed(bed);
    bed->written = 2;
    check_content(bed);
    close(go[0]);
    close(go[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_children_of_a_busy_process_do_no_harm, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_the_lock_is_the_parents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_lock_goes_with_the_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_child_opens_what_the_parent_has_closed, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
