/*
 * compactor_threads_test.c -- writers, readers, compactions in the background and asked for,
 * alterations and drops at once, with tiny memtables and a tiny cache. A batch puts one number, or
 * a deletion, into one row of two tables and three families: a snapshot never sees half of it, nor
 * a number that is less than one seen before.
 */

#include "base/slice.h"
#include "engine/compact/policy.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define WRITERS  2
#define READERS  2
#define ROWS     16 /* of each writer */
#define PLACES   3
#define DELETION 7 /* every so many batches */

struct arena {
    struct fixture fixture;
    petal_table *left, *right;
    petal_family *families[PLACES]; /* two of left, one of right */
    uint64_t batches;               /* of each writer */
    _Atomic(unsigned) working;      /* writers */
    _Atomic(uint64_t) faults;
};

struct worker {
    struct arena *arena;
    unsigned number;
    pthread_t thread;
};

static void
note_fault(struct arena *arena, const char *what, const petal_error *error)
{
    atomic_fetch_add(&arena->faults, 1);
    print_error("%s: %s\n", what, error->text);
}

static petal_slice
row_of(char text[32], unsigned writer, uint64_t row)
{
    int length = snprintf(text, 32, "row %u %" PRIu64, writer, row);

    return slice_make(text, (size_t)length);
}

/* ---- writers: batch n of row r has the number n; the text behind it fills the memtables ---- */

static enum petal_status
write_batch(struct arena *arena, petal_batch *batch, unsigned writer, uint64_t n,
            petal_error *error)
{
    char text[32], value[400];
    petal_slice row = row_of(text, writer, n % ROWS);
    enum petal_status status = PETAL_OK;

    memset(value, 'a' + (int)(n % 26), sizeof value);
    snprintf(value, sizeof value, "%" PRIu64, n);
    petal_batch_clear(batch);
    for (unsigned i = 0; status == PETAL_OK && i < PLACES; i++) {
        petal_family *family = arena->families[i];

        if (n % DELETION == 0)
            status = petal_batch_delete(batch, family, row, slice_make(NULL, 0), PETAL_LATEST,
                                        PETAL_DELETE_FAMILY, error);
        else
            status = petal_batch_put(batch, family, row, slice_from_text("q"), PETAL_LATEST,
                                     slice_make(value, sizeof value), error);
    }
    return status == PETAL_OK ? petal_write(arena->fixture.db, batch, NULL, error) : status;
}

static void *
write_much(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    petal_batch *batch;
    petal_error error;
    enum petal_status status = petal_batch_new(arena->fixture.db, &batch, &error);

    for (uint64_t n = 1; status == PETAL_OK && n <= arena->batches; n++) {
        test_clock_advance(&arena->fixture.clock, (int64_t)(n % 2));
        status = write_batch(arena, batch, worker->number, n, &error);
    }
    if (status != PETAL_OK)
        note_fault(arena, "write", &error);
    petal_batch_free(batch);
    atomic_fetch_sub(&arena->working, 1);
    return NULL;
}

/* ---- readers ---- */

/* The number in each place, 0 for none. */
static enum petal_status
read_places(struct arena *arena, petal_slice row, const petal_snapshot *snapshot,
            petal_result *result, uint64_t numbers[PLACES], petal_error *error)
{
    for (unsigned i = 0; i < PLACES; i++) {
        petal_column column = {.family = arena->families[i], .qualifier = slice_from_text("q")};
        petal_read_options options = {.columns = &column, .column_count = 1, .snapshot = snapshot};
        enum petal_status status =
            petal_get(i < 2 ? arena->left : arena->right, row, &options, result, error);

        if (status != PETAL_OK)
            return status;
        numbers[i] = petal_result_count(result) > 0
                         ? strtoull(petal_result_cell(result, 0)->value.data, NULL, 10)
                         : 0;
    }
    return PETAL_OK;
}

static void
check_row(struct arena *arena, unsigned writer, uint64_t row, petal_result *result, uint64_t *seen)
{
    petal_snapshot *snapshot;
    uint64_t numbers[PLACES] = {0};
    char text[32];
    petal_error error;
    enum petal_status status = petal_snapshot_new(arena->fixture.db, &snapshot, &error);

    if (status == PETAL_OK)
        status = read_places(arena, row_of(text, writer, row), snapshot, result, numbers, &error);
    petal_snapshot_free(snapshot);
    if (status != PETAL_OK) {
        note_fault(arena, "read", &error);
    } else if (numbers[0] != numbers[1] || numbers[0] != numbers[2] ||
               (numbers[0] != 0 && numbers[0] < *seen)) {
        atomic_fetch_add(&arena->faults, 1);
        print_error("%s: %" PRIu64 " %" PRIu64 " %" PRIu64 " after %" PRIu64 "\n", text, numbers[0],
                    numbers[1], numbers[2], *seen);
    } else if (numbers[0] != 0) {
        *seen = numbers[0];
    }
}

static void *
read_much(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    uint64_t seen[WRITERS][ROWS] = {{0}}, turn = worker->number;
    petal_result *result;
    petal_error error;

    if (petal_result_new(arena->fixture.db, &result, &error) != PETAL_OK) {
        note_fault(arena, "result", &error);
        return NULL;
    }
    for (; atomic_load(&arena->working) > 0; turn++)
        check_row(arena, (unsigned)(turn % WRITERS), turn / WRITERS % ROWS, result,
                  &seen[turn % WRITERS][turn / WRITERS % ROWS]);
    petal_result_free(result);
    return NULL;
}

/* ---- those who change things under them ---- */

/* Two threads ask for the same families. */
static void *
compact_much(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;

    for (unsigned turn = 0; atomic_load(&arena->working) > 0; turn++) {
        petal_error error;

        if (petal_compact(turn % 2 == 0 ? arena->left : arena->right, NULL, &error) != PETAL_OK)
            note_fault(arena, "compact", &error);
    }
    return NULL;
}

/* Attributes change, and a family comes and goes. */
static void *
alter_much(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;

    for (unsigned turn = 0; atomic_load(&arena->working) > 0; turn++) {
        petal_family_options families[3] = {
            {.name = slice_from_text("a"), .versions = 1 + turn % 3},
            {.name = slice_from_text("b"),
             .bloom = turn % 2 == 0 ? PETAL_BLOOM_ROWCOL : PETAL_BLOOM_ROW},
            {.name = slice_from_text("x")}};
        petal_table_options options = {.families = families, .family_count = 2 + turn % 2};
        petal_family *family;
        petal_error error;

        if (petal_table_alter(arena->left, &options, &error) != PETAL_OK)
            note_fault(arena, "alter", &error);
        if (turn % 2 == 0)
            continue;
        for (unsigned i = 0; i < 5; i++) {
            if (petal_table_family(arena->left, slice_from_text("x"), &family, &error) !=
                    PETAL_OK ||
                petal_put(family, slice_from_text("row"), slice_from_text("q"), PETAL_LATEST,
                          slice_from_text("v"), NULL, &error) != PETAL_OK ||
                petal_flush(arena->fixture.db, arena->left, &error) != PETAL_OK)
                note_fault(arena, "family that goes", &error);
        }
    }
    return NULL;
}

/* A table with several files is dropped. */
static void *
drop_much(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;

    while (atomic_load(&arena->working) > 0) {
        petal_family_options family = {.name = slice_from_text("f")};
        petal_table_options options = {
            .name = slice_from_text("third"), .families = &family, .family_count = 1};
        petal_table *table;
        petal_error error;
        enum petal_status status = petal_table_create(arena->fixture.db, &options, &table, &error);

        for (unsigned i = 0; status == PETAL_OK && i < 4; i++) {
            status =
                petal_put(petal_table_family_at(table, 0), slice_from_text("row"),
                          slice_from_text("q"), PETAL_LATEST, slice_from_text("v"), NULL, &error);
            if (status == PETAL_OK)
                status = petal_flush(arena->fixture.db, table, &error);
        }
        if (status == PETAL_OK)
            status = petal_table_drop(table, &error);
        if (status != PETAL_OK)
            note_fault(arena, "table that goes", &error);
    }
    return NULL;
}

/* ---- all at once ---- */

static void
arena_open(struct arena *arena)
{
    petal_family_options left[2] = {{.name = slice_from_text("a")}, {.name = slice_from_text("b")}};
    petal_family_options right = {.name = slice_from_text("c")};
    petal_table_options options = {
        .name = slice_from_text("left"), .families = left, .family_count = 2};
    petal_error error;

    *arena = (struct arena){.batches = test_long() ? 50000 : 4000};
    fixture_init(&arena->fixture, 1);
    arena->fixture.options.no_compaction = false;
    arena->fixture.options.memtable_bytes = (size_t)64 << 10;
    fixture_must_open(&arena->fixture);
    must(petal_table_create(arena->fixture.db, &options, &arena->left, &error), &error);
    options = (petal_table_options){
        .name = slice_from_text("right"), .families = &right, .family_count = 1};
    must(petal_table_create(arena->fixture.db, &options, &arena->right, &error), &error);
    arena->families[0] = petal_table_family_at(arena->left, 0);
    arena->families[1] = petal_table_family_at(arena->left, 1);
    arena->families[2] = petal_table_family_at(arena->right, 0);
}

/* What each writer wrote last into a row is there. */
static void
check_end(struct arena *arena)
{
    petal_result *result;
    petal_error error;

    must(petal_result_new(arena->fixture.db, &result, &error), &error);
    for (unsigned writer = 0; writer < WRITERS; writer++) {
        for (uint64_t n = arena->batches - ROWS + 1; n <= arena->batches; n++) {
            uint64_t numbers[PLACES];
            char text[32];

            must(read_places(arena, row_of(text, writer, n % ROWS), NULL, result, numbers, &error),
                 &error);
            for (unsigned i = 0; i < PLACES; i++)
                assert_int_equal(numbers[i], n % DELETION == 0 ? 0 : n);
        }
    }
    petal_result_free(result);
    must(petal_table_verify(arena->left, &error), &error);
    must(petal_table_verify(arena->right, &error), &error);
}

TEST(test_all_at_once)
{
    static void *(*const tasks[])(void *) = {write_much,   write_much,   read_much,  read_much,
                                             compact_much, compact_much, alter_much, drop_much};
    struct worker workers[sizeof tasks / sizeof *tasks];
    static struct arena arena;
    petal_stats stats;
    petal_error error;

    arena_open(&arena);
    atomic_store(&arena.working, WRITERS);
    for (unsigned i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        workers[i] = (struct worker){.arena = &arena, .number = i % 2};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, tasks[i], &workers[i]), 0);
    }
    for (unsigned i = 0; i < sizeof tasks / sizeof *tasks; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(atomic_load(&arena.faults), 0);
    must(petal_flush(arena.fixture.db, NULL, &error), &error);
    must(petal_wait_idle(arena.fixture.db, &error), &error);
    petal_stats_get(arena.fixture.db, &stats);
    assert_int_equal(stats.background_failures, 0);
    assert_int_equal(stats.compactions_running, 0);
    assert_true(stats.compactions > 0);
    assert_true(fixture_directory_is_clean(&arena.fixture));
    check_end(&arena);
    fixture_fini(&arena.fixture);
}

/* Closing gives up what runs: again and again, with files that call for work. */
TEST(test_closing_does_not_wait_for_jobs)
{
    static struct arena arena;
    petal_batch *batch;
    petal_error error;
    uint64_t n = 1;

    arena_open(&arena);
    for (unsigned turn = 0; turn < 20; turn++) {
        must(petal_batch_new(arena.fixture.db, &batch, &error), &error);
        for (unsigned i = 0; i < 40; i++, n++) {
            must(write_batch(&arena, batch, 0, n, &error), &error);
            if (i % 10 == 9)
                must(petal_flush(arena.fixture.db, NULL, &error), &error);
        }
        petal_batch_free(batch);
        fixture_must_close(&arena.fixture);
        fixture_must_open(&arena.fixture);
        must(petal_table_open(arena.fixture.db, slice_from_text("left"), &arena.left, &error),
             &error);
        must(petal_table_open(arena.fixture.db, slice_from_text("right"), &arena.right, &error),
             &error);
        arena.families[0] = petal_table_family_at(arena.left, 0);
        arena.families[1] = petal_table_family_at(arena.left, 1);
        arena.families[2] = petal_table_family_at(arena.right, 0);
    }
    must(petal_wait_idle(arena.fixture.db, &error), &error);
    assert_true(fixture_directory_is_clean(&arena.fixture));
    arena.batches = n - 1;
    must(petal_table_verify(arena.left, &error), &error);
    fixture_fini(&arena.fixture);
}
