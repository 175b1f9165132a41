/*
 * beside_test.c -- a writer at full speed and readers next to it, in processes that are killed at
 * random: each view of a reader is a prefix of what was written, of whole batches, and has what was
 * acknowledged before it was asked for; nothing is left behind when all are gone.
 *
 * BATCH n of the writer puts n into row n % ROWS of tables "a" and "b", and into the row "last" of
 * table "a". Every TURN batches it drops the table "t<k>" and makes "t<k + 1>", k = n / TURN.
 */

#include "base/slice.h"
#include "engine/manifest/names.h"
#include "tests/support/process.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define READERS 4
#define ROWS    53
#define TURN    97

/* What the processes tell each other. */
static struct shared {
    _Atomic(uint64_t) acknowledged; /* batches */
    _Atomic(uint64_t) views;        /* that were checked */
    _Atomic(uint64_t) moved;        /* of these, with other contents than the one before */
} * shared;

static const char *directory;

static petal_db *
open_for(bool read_only)
{
    /* Small memtables, so that files come, are merged and go all the time. */
    petal_options options = {.create = !read_only,
                             .read_only = read_only,
                             .memtable_bytes = (size_t)64 << 10,
                             .cache_bytes = (size_t)1 << 20};
    petal_error error;
    petal_db *db;

    if (petal_open(directory, &options, &db, &error) == PETAL_OK)
        return db;
    fprintf(stderr, "%s to %s: %s\n", directory, read_only ? "read" : "write", error.text);
    _exit(2);
}

static void
need(enum petal_status status, const petal_error *error)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "%s\n", error->text);
    _exit(3);
}

#define NEED(call) need(call, WHY)

/* ---- the writer ---- */

static petal_table *
make_table(petal_db *db, const char *name)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text(name), .families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_open(db, options.name, &table, &error);

    if (status == PETAL_NOT_FOUND)
        status = petal_table_create(db, &options, &table, &error);
    need(status, &error);
    return table;
}

static void
name_turn(char name[24], uint64_t turn)
{
    snprintf(name, 24, "t%llu", (unsigned long long)turn);
}

static void
take_turn(petal_db *db, uint64_t turn)
{
    petal_table *table;
    petal_error error;
    char name[24];

    name_turn(name, turn + 1);
    (void)make_table(db, name);
    name_turn(name, turn);
    if (petal_table_open(db, slice_from_text(name), &table, &error) == PETAL_OK)
        NEED(petal_table_drop(table, WHY));
}

static void
add(petal_batch *batch, petal_table *table, const char *row, uint64_t number)
{
    NEED(petal_batch_put(batch, petal_table_family_at(table, 0), slice_from_text(row),
                         slice_from_text("q"), PETAL_LATEST, slice_make(&number, sizeof number),
                         WHY));
}

static uint64_t
value_of(petal_db *db, petal_table *table, const char *row, const petal_snapshot *snapshot)
{
    petal_read_options options = {.snapshot = snapshot};
    petal_result *result;
    uint64_t number = 0;

    NEED(petal_result_new(db, &result, WHY));
    NEED(petal_get(table, slice_from_text(row), &options, result, WHY));
    if (petal_result_count(result) > 0)
        memcpy(&number, petal_result_cell(result, 0)->value.data, sizeof number);
    petal_result_free(result);
    return number;
}

static void
write_until_killed(void)
{
    petal_db *db = open_for(false);
    petal_table *a = make_table(db, "a"), *b = make_table(db, "b");
    uint64_t number = value_of(db, a, "last", NULL);
    petal_batch *batch;

    if (number < atomic_load(&shared->acknowledged)) {
        fprintf(stderr, "batch %llu was acknowledged and is lost\n",
                (unsigned long long)atomic_load(&shared->acknowledged));
        _exit(4);
    }
    /* A turn that was begun before is taken again. */
    take_turn(db, number / TURN);
    NEED(petal_batch_new(db, &batch, WHY));
    for (;;) {
        char row[24];

        if (++number % TURN == 0)
            take_turn(db, number / TURN);
        snprintf(row, sizeof row, "r%llu", (unsigned long long)(number % ROWS));
        add(batch, a, row, number);
        add(batch, b, row, number);
        add(batch, a, "last", number);
        NEED(petal_write(db, batch, NULL, WHY));
        petal_batch_clear(batch);
        atomic_store(&shared->acknowledged, number);
    }
}

/* ---- a reader ---- */

static void
wrong(const char *what, uint64_t last, uint64_t other)
{
    fprintf(stderr, "last %llu, %s %llu\n", (unsigned long long)last, what,
            (unsigned long long)other);
    _exit(5);
}

static void
check_row(petal_db *db, petal_table *table, const petal_snapshot *snapshot, uint64_t row,
          uint64_t last)
{
    uint64_t expected = last - (last + ROWS - row) % ROWS, value;
    char name[24];

    if (last < row || (row == 0 && last < ROWS))
        expected = 0;
    snprintf(name, sizeof name, "r%llu", (unsigned long long)row);
    value = value_of(db, table, name, snapshot);
    if (value != expected)
        wrong(name, last, value);
}

/* Turn k makes the table k + 1 and drops the table k, before its first batch; so after the last
 * batch of the turn before it may have done so, or not yet. */
static void
check_turns(petal_db *db, uint64_t last)
{
    petal_table *table;
    petal_error error;
    char name[24];

    name_turn(name, last / TURN + 1);
    if (last > 0 && last % TURN != TURN - 1 &&
        petal_table_open(db, slice_from_text(name), &table, &error) != PETAL_OK)
        wrong("without its table, turn", last, last / TURN + 1);
    name_turn(name, last / TURN + 3);
    if (petal_table_open(db, slice_from_text(name), &table, &error) == PETAL_OK)
        wrong("with a table of the future, turn", last, last / TURN + 3);
    name_turn(name, last / TURN - 1);
    if (last > 2 * TURN && petal_table_open(db, slice_from_text(name), &table, &error) == PETAL_OK)
        wrong("with a table of the past, turn", last, last / TURN - 1);
}

static void
check_view(petal_db *db, uint64_t acknowledged, uint64_t *last)
{
    petal_table *a, *b;
    petal_snapshot *snapshot;
    uint64_t now;
    petal_error error;

    if (petal_table_open(db, slice_from_text("a"), &a, &error) != PETAL_OK ||
        petal_table_open(db, slice_from_text("b"), &b, &error) != PETAL_OK)
        return; /* the writer has not come so far */
    NEED(petal_snapshot_new(db, &snapshot, WHY));
    now = value_of(db, a, "last", snapshot);
    if (now < acknowledged)
        wrong("acknowledged", now, acknowledged);
    if (now < *last)
        wrong("before", now, *last);
    for (uint64_t row = 0; now > 0 && row < ROWS; row++) {
        check_row(db, a, snapshot, row, now);
        check_row(db, b, snapshot, row, now);
    }
    check_turns(db, now);
    petal_snapshot_free(snapshot);
    atomic_fetch_add(&shared->views, 1);
    atomic_fetch_add(&shared->moved, now > *last);
    *last = now;
}

static void
read_until_killed(void)
{
    petal_db *db;
    uint64_t acknowledged = atomic_load(&shared->acknowledged), last = 0;

    for (db = open_for(true);; acknowledged = atomic_load(&shared->acknowledged)) {
        NEED(petal_refresh(db, WHY));
        check_view(db, acknowledged, &last);
    }
}

/* ---- all of them ---- */

static pid_t
begin(bool reads)
{
    pid_t process = process_begin();

    assert_true(process >= 0);
    if (process > 0)
        return process;
    if (reads)
        read_until_killed();
    else
        write_until_killed();
    _exit(6);
}

static void
end(pid_t process)
{
    int status = 0;

    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("a process ended before it was killed, with status %d", status);
}

/* Store files in the directory. */
static unsigned
count_store_files(void)
{
    DIR *names = opendir(directory);
    struct dirent *name;
    unsigned count = 0;
    uint64_t number;

    assert_non_null(names);
    while ((name = readdir(names)) != NULL)
        count += filename_parse(name->d_name, &number) == FILENAME_STORE_FILE;
    closedir(names);
    return count;
}

static bool
compact(void *argument, petal_table *table)
{
    (void)argument;
    MUST(petal_compact(table, NULL, WHY));
    return true;
}

TEST(views_are_prefixes_while_processes_are_killed)
{
    unsigned rounds = test_long() ? 300 : test_short() ? 6 : 20;
    pid_t writer, readers[READERS];
    struct test_random random;
    petal_db *db;
    uint64_t last = 0;
    char *made = test_directory_new();

    directory = made;
    test_random_init(&random, test_seed());
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    MUST(petal_close(open_for(false), WHY));
    writer = begin(false);
    for (unsigned i = 0; i < READERS; i++)
        readers[i] = begin(true);
    for (unsigned i = 0; i < rounds; i++) {
        unsigned which = (unsigned)test_random_below(&random, READERS + 2);

        process_sleep_us(50000 + test_random_below(&random, 100000));
        if (which < READERS) {
            end(readers[which]);
            readers[which] = begin(true);
        } else {
            end(writer);
            writer = begin(false);
        }
    }
    end(writer);
    for (unsigned i = 0; i < READERS; i++)
        end(readers[i]);
    /* The last writer removes what was kept for readers: one file a family is left. */
    db = open_for(false);
    check_view(db, atomic_load(&shared->acknowledged), &last);
    MUST(petal_table_list(db, compact, NULL, WHY));
    MUST(petal_close(db, WHY));
    assert_in_range(count_store_files(), 1, 4);
    test_counted("%llu batches, %llu views of readers, %llu of them newer than the one before",
                 (unsigned long long)last, (unsigned long long)atomic_load(&shared->views),
                 (unsigned long long)atomic_load(&shared->moved));
    assert_true(atomic_load(&shared->moved) > 0);
    munmap(shared, sizeof *shared);
    test_directory_free(made);
}
