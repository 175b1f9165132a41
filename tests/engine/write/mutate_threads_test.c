/*
 * mutate_threads_test.c -- read-modify-writes of many threads at once, beside plain writes of the
 * same rows and of their neighbours, and flushes: none is lost, none overwrites what it has not
 * read, batches of them are whole. Meant for ThreadSanitizer, too; so the surroundings are the
 * library's own, which order nothing between threads; but for the clock, whose milliseconds pass so
 * fast that no timestamp runs ahead of it: then a plain put is the newest version, for sure.
 */

#include "base/coding.h"
#include "base/slice.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORKERS   4
#define TURNS     (test_long() ? 50000u : 3000u) /* of each worker */
#define ACCOUNTS  5
#define MANY_ROWS 100 /* more than are locked one by one */

struct arena {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    _Atomic(int64_t) clock_ms;
    _Atomic(bool) stop;
    _Atomic(uint64_t) faults, plain_writes, bases;
};

struct worker {
    pthread_t thread;
    struct arena *arena;
    unsigned index;
    int64_t *sums; /* what its increments gave back */
};

/* Threads cannot fail a test: they count faults, and the main thread looks. */
static void
fault(struct arena *arena, const char *what, int64_t found, int64_t expected)
{
    if (atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %" PRId64 ", expected %" PRId64 "\n", what, found, expected);
}

static void
expect_ok(struct arena *arena, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK && atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
}

static bool
goes_on(struct arena *arena)
{
    return !atomic_load_explicit(&arena->stop, memory_order_relaxed);
}

/* The number in a column, 0 if there is none. */
static int64_t
read_number(struct arena *arena, petal_result *result, const char *row, const char *qualifier)
{
    petal_column column = {arena->family, text(qualifier), false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    petal_error error = {0};

    expect_ok(arena, petal_get(arena->table, text(row), &options, result, &error), &error);
    if (petal_result_count(result) == 0 || petal_result_cell(result, 0)->value.size != 8)
        return 0;
    return (int64_t)get_be64(petal_result_cell(result, 0)->value.data);
}

/* ---- what goes on beside ---- */

/* Plain puts and deletions in the same rows and all around them. */
static void *
neighbour_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_error error = {0};
    char row[16];

    for (unsigned turn = 0; goes_on(arena); turn++) {
        const char *rows[] = {"hot", "text", "swap", row};

        snprintf(row, sizeof row, "%u", turn % 1000);
        expect_ok(arena,
                  petal_put(arena->family, text(rows[turn % 4]), text("beside"), PETAL_LATEST,
                            text("a value"), NULL, &error),
                  &error);
        if (turn % 16 == 0)
            expect_ok(arena,
                      petal_delete(arena->family, text(rows[turn / 16 % 4]), text("beside"),
                                   PETAL_LATEST, PETAL_DELETE_COLUMN, NULL, &error),
                      &error);
        atomic_fetch_add_explicit(&arena->plain_writes, 1, memory_order_relaxed);
    }
    return NULL;
}

static void *
flusher_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_error error = {0};

    for (unsigned turn = 0; goes_on(arena) && turn < 100; turn++) {
        struct timespec pause = {0, 10000000};

        expect_ok(arena, petal_flush(arena->db, NULL, &error), &error);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* ---- the arena ---- */

static int64_t
fast_clock_ms(void *context)
{
    return atomic_fetch_add_explicit((_Atomic(int64_t) *)context, 2, memory_order_relaxed);
}

static void
run_workers(void *(*work)(void *), void *(*beside)(void *),
            void (*check)(struct arena *, struct worker *))
{
    struct arena arena = {.clock_ms = 1000};
    petal_env env = {.clock_context = &arena.clock_ms, .clock_ms = fast_clock_ms};
    petal_options options = {.create = true,
                             .memtable_bytes = (size_t)256 << 10,
                             .log_sync_interval_ms = PETAL_NEVER,
                             .env = &env};
    petal_family_options family = {.name = text("f"), .bloom = PETAL_BLOOM_ROWCOL};
    petal_table_options table = {.name = text("t"), .families = &family, .family_count = 1};
    void *(*const others[])(void *) = {neighbour_thread, flusher_thread, beside};
    size_t other_count = beside != NULL ? 3 : 2;
    struct worker workers[WORKERS + 3];
    char *directory = test_directory_new();
    petal_error error;

    assert_int_equal(petal_open(directory, &options, &arena.db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(arena.db, &table, &arena.table, &error), PETAL_OK);
    arena.family = petal_table_family_at(arena.table, 0);
    for (unsigned i = 0; i < WORKERS + other_count; i++) {
        workers[i] = (struct worker){.arena = &arena, .index = i};
        workers[i].sums = test_allocate(TURNS * sizeof(int64_t));
        assert_int_equal(pthread_create(&workers[i].thread, NULL,
                                        i < WORKERS ? work : others[i - WORKERS], &workers[i]),
                         0);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&arena.stop, true);
    for (unsigned i = WORKERS; i < WORKERS + other_count; i++)
        pthread_join(workers[i].thread, NULL);
    check(&arena, workers);
    assert_int_equal(atomic_load(&arena.faults), 0);
    assert_true(atomic_load(&arena.plain_writes) > 0);
    for (unsigned i = 0; i < WORKERS + other_count; i++)
        free(workers[i].sums);
    assert_int_equal(petal_close(arena.db, &error), PETAL_OK);
    test_directory_free(directory);
}

/* ---- all count in one column ---- */

static void *
counting_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    int64_t last = 0;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        petal_error error = {0};
        int64_t sum;

        expect_ok(arena,
                  petal_increment(arena->family, text("hot"), text("n"), 1, NULL, &sum, &error),
                  &error);
        if (sum <= last)
            fault(arena, "a sum went back", sum, last);
        last = sum;
    }
    return NULL;
}

static void
check_counting(struct arena *arena, struct worker *workers)
{
    petal_result *result;
    petal_error error;

    (void)workers;
    assert_int_equal(petal_result_new(arena->db, &result, &error), PETAL_OK);
    assert_int_equal(read_number(arena, result, "hot", "n"), WORKERS * TURNS);
    petal_result_free(result);
}

TEST(test_no_increment_is_lost)
{
    run_workers(counting_thread, NULL, check_counting);
}

/* ---- plain puts of the column that is counted in ---- */

/* Puts k * 2^32; each must stay until the next, and be counted on from. */
static void *
base_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_result *result;
    petal_error error = {0};

    expect_ok(arena, petal_result_new(arena->db, &result, &error), &error);
    for (int64_t base = 1; goes_on(arena); base++) {
        uint8_t bytes[8];
        int64_t found;

        put_be64(bytes, (uint64_t)base << 32);
        expect_ok(arena,
                  petal_put(arena->family, text("hot"), text("n"), PETAL_LATEST,
                            slice_make(bytes, sizeof bytes), NULL, &error),
                  &error);
        found = read_number(arena, result, "hot", "n") >> 32;
        if (found != base)
            fault(arena, "a put was lost", found, base);
        atomic_fetch_add_explicit(&arena->bases, 1, memory_order_relaxed);
    }
    petal_result_free(result);
    return NULL;
}

/* Count in a column by comparing and putting: a change that did not apply had been overtaken.
 * Returns the number put. */
static int64_t
swap(struct arena *arena, const char *row, petal_batch *batch, petal_result *result)
{
    petal_error error = {0};
    bool applied = false;
    int64_t old = 0;

    while (!applied && atomic_load(&arena->faults) == 0) {
        petal_condition condition = {.family = arena->family, .qualifier = text("n")};
        uint8_t before[8], after[8];

        old = read_number(arena, result, row, "n");
        put_be64(before, (uint64_t)old);
        put_be64(after, (uint64_t)old + 1);
        condition.absent = old == 0;
        condition.compare = PETAL_EQUAL;
        if (old != 0)
            condition.value = slice_make(before, sizeof before);
        petal_batch_clear(batch);
        expect_ok(arena,
                  petal_batch_put(batch, arena->family, text(row), text("n"), PETAL_LATEST,
                                  slice_make(after, sizeof after), &error),
                  &error);
        expect_ok(
            arena,
            petal_mutate_row(arena->table, text(row), &condition, batch, NULL, &applied, &error),
            &error);
    }
    return old + 1;
}

/* By increments and by swaps. */
static void *
base_counting_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    petal_error error = {0};
    petal_result *result;
    petal_batch *batch;

    expect_ok(arena, petal_batch_new(arena->db, &batch, &error), &error);
    expect_ok(arena, petal_result_new(arena->db, &result, &error), &error);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        int64_t *sum = &worker->sums[turn];

        if (turn % 2 == 0)
            expect_ok(arena,
                      petal_increment(arena->family, text("hot"), text("n"), 1, NULL, sum, &error),
                      &error);
        else
            *sum = swap(arena, "hot", batch, result);
        if (turn > 0 && *sum <= worker->sums[turn - 1])
            fault(arena, "a sum went back", *sum, worker->sums[turn - 1]);
    }
    petal_batch_free(batch);
    petal_result_free(result);
    return NULL;
}

static int
compare_sums(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* After each base the workers counted 1, 2, 3 .. without a gap and without a double. */
static void
check_bases(struct arena *arena, struct worker *workers)
{
    size_t count = (size_t)WORKERS * TURNS;
    int64_t *sums = test_allocate(count * sizeof *sums);

    for (unsigned i = 0; i < WORKERS; i++)
        memcpy(sums + (size_t)i * TURNS, workers[i].sums, TURNS * sizeof *sums);
    qsort(sums, count, sizeof *sums, compare_sums);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || sums[i] >> 32 != sums[i - 1] >> 32;
        int64_t expected = first ? (sums[i] & ~(int64_t)UINT32_MAX) + 1 : sums[i - 1] + 1;

        if (sums[i] != expected)
            fault(arena, "an increment was lost or doubled", sums[i], expected);
    }
    assert_true(atomic_load(&arena->bases) > 0);
    free(sums);
}

TEST(test_plain_puts_are_not_overwritten)
{
    run_workers(base_counting_thread, base_thread, check_bases);
}

/* ---- swaps under a condition, appends, batches over rows ---- */

/* Move from one account to another; what all have together stays 0. */
static void
transfer(struct worker *worker, petal_batch *batch, unsigned turn)
{
    struct arena *arena = worker->arena;
    petal_error error = {0};

    petal_batch_clear(batch);
    for (unsigned i = 0; i < 2; i++) {
        char row[16];

        snprintf(row, sizeof row, "account%u", (worker->index + turn + i) % ACCOUNTS);
        expect_ok(arena,
                  petal_batch_increment(batch, arena->family, text(row), text("n"),
                                        i == 0 ? -(int64_t)turn : (int64_t)turn, &error),
                  &error);
    }
    expect_ok(arena, petal_write(arena->db, batch, NULL, &error), &error);
}

static void
count_in_many_rows(struct worker *worker, petal_batch *batch)
{
    struct arena *arena = worker->arena;
    petal_error error = {0};

    petal_batch_clear(batch);
    for (unsigned i = 0; i < MANY_ROWS; i++) {
        char row[16];

        snprintf(row, sizeof row, "many%u", i);
        expect_ok(arena,
                  petal_batch_increment(batch, arena->family, text(row), text("n"), 1, &error),
                  &error);
    }
    expect_ok(arena, petal_write(arena->db, batch, NULL, &error), &error);
}

/* Every scan must find accounts that together have nothing. */
static void *
auditor_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_scan_options options = {.start_row = text("account"), .stop_row = text("b")};

    while (goes_on(arena)) {
        const petal_cell *cell = NULL;
        petal_cursor *cursor;
        petal_error error = {0};
        uint64_t sum = 0;

        expect_ok(arena, petal_cursor_open(arena->table, &options, &cursor, &error), &error);
        if (cursor == NULL)
            break;
        do {
            expect_ok(arena, petal_cursor_next(cursor, &cell, &error), &error);
            sum += cell != NULL ? get_be64(cell->value.data) : 0;
        } while (cell != NULL);
        petal_cursor_close(cursor);
        if (sum != 0)
            fault(arena, "half a batch of increments", (int64_t)sum, 0);
    }
    return NULL;
}

static void *
mixed_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    char letter[2] = {(char)('a' + worker->index), '\0'};
    petal_error error = {0};
    petal_result *result;
    petal_batch *batch;

    expect_ok(arena, petal_batch_new(arena->db, &batch, &error), &error);
    expect_ok(arena, petal_result_new(arena->db, &result, &error), &error);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        swap(arena, "swap", batch, result);
        transfer(worker, batch, turn);
        if (turn % 4 == 0)
            expect_ok(
                arena,
                petal_append(arena->family, text("text"), text("a"), text(letter), NULL, &error),
                &error);
        if (turn % 16 == 0)
            count_in_many_rows(worker, batch);
    }
    petal_batch_free(batch);
    petal_result_free(result);
    return NULL;
}

static void
check_mixed(struct arena *arena, struct worker *workers)
{
    petal_column column = {arena->family, text("a"), false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    size_t letters[WORKERS] = {0};
    petal_result *result;
    petal_error error;
    petal_slice value;

    (void)workers;
    assert_int_equal(petal_result_new(arena->db, &result, &error), PETAL_OK);
    assert_int_equal(read_number(arena, result, "swap", "n"), WORKERS * TURNS);
    assert_int_equal(read_number(arena, result, "many7", "n"), WORKERS * ((TURNS + 15) / 16));
    assert_int_equal(petal_get(arena->table, text("text"), &options, result, &error), PETAL_OK);
    assert_int_equal(petal_result_count(result), 1);
    value = petal_result_cell(result, 0)->value;
    for (size_t i = 0; i < value.size; i++)
        letters[slice_bytes(value)[i] - 'a']++;
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(letters[i], (TURNS + 3) / 4);
    petal_result_free(result);
}

TEST(test_changes_of_all_kinds)
{
    run_workers(mixed_thread, auditor_thread, check_mixed);
}
