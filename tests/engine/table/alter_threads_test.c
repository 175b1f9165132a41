/*
 * alter_threads_test.c -- a table is altered again and again while others write, read, describe and
 * flush it. What stays keeps every write, what goes may refuse but not lie. Meant for
 * ThreadSanitizer, too; so the surroundings are the library's own, which order nothing between
 * threads.
 */

#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define WRITERS 2
#define READERS 2
#define FILLER  200

struct arena {
    petal_db *db;
    petal_table *table;
    petal_family *kept; /* family "f" */
    _Atomic(bool) stop;
    _Atomic(uint64_t) finished[WRITERS]; /* the last number whose write to "f" has returned */
    _Atomic(uint64_t) faults, reads;
};

struct worker {
    pthread_t thread;
    struct arena *arena;
    unsigned index;
};

/* Threads cannot fail a test: they count faults, and the main thread looks. */
static void
expect(struct arena *arena, bool holds, const char *what)
{
    if (!holds && atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "fault: %s\n", what);
}

static bool
goes_on(struct arena *arena)
{
    return !atomic_load_explicit(&arena->stop, memory_order_relaxed);
}

static petal_slice
row_of(unsigned writer)
{
    return text(writer == 0 ? "w0" : "w1");
}

/* A family that the alterations take away and bring back; refused when it is gone, never written
 * elsewhere. */
static void
write_passing(struct worker *worker, petal_slice value)
{
    struct arena *arena = worker->arena;
    petal_family *family;
    petal_error error;
    enum petal_status status = petal_table_family(arena->table, text("g"), &family, &error);

    if (status == PETAL_OK)
        status =
            petal_put(family, row_of(worker->index), text("q"), PETAL_LATEST, value, NULL, &error);
    expect(arena, status == PETAL_OK || status == PETAL_NOT_FOUND, "write to a passing family");
}

static void *
run_writer(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    uint64_t value[FILLER / 8] = {0};

    while (goes_on(arena)) {
        petal_slice bytes = {value, sizeof value};

        value[0]++;
        expect(arena,
               petal_put(arena->kept, row_of(worker->index), text("q"), PETAL_LATEST, bytes, NULL,
                         NULL) == PETAL_OK,
               "write to the family that stays");
        atomic_store(&arena->finished[worker->index], value[0]);
        write_passing(worker, bytes);
    }
    return NULL;
}

static uint64_t
number_of(const petal_cell *cell)
{
    uint64_t number;

    memcpy(&number, cell->value.data, sizeof number);
    return number;
}

/* The row of a writer, whole: no cell but of "f", "g" and "h", and nothing lost in "f". */
static void
read_row(struct arena *arena, petal_result *result, unsigned writer)
{
    uint64_t before = atomic_load(&arena->finished[writer]), found = 0;
    petal_error error;

    expect(arena, petal_get(arena->table, row_of(writer), NULL, result, &error) == PETAL_OK, "get");
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        if (slice_equal(cell->family, text("f")))
            found = number_of(cell);
        else
            expect(arena, slice_equal(cell->family, text("g")), "a cell of another family");
    }
    expect(arena, found >= before, "a write was lost");
}

static void
scan_all(struct arena *arena)
{
    const petal_cell *cell = NULL;
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(arena->table, NULL, &cursor, NULL);
    unsigned kept = 0;

    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, NULL);
        if (status != PETAL_OK || cell == NULL)
            break;
        kept += slice_equal(cell->family, text("f"));
    }
    expect(arena, status == PETAL_OK, "scan");
    expect(arena, kept <= WRITERS, "rows of a scan");
    petal_cursor_close(cursor);
}

/* Each description is that of one alteration, whole. */
static void
describe(struct arena *arena)
{
    petal_table_options options = {.size = sizeof options};
    petal_family_options kept = {.size = sizeof kept};
    const petal_family_options *first;

    petal_table_describe(arena->table, &options);
    petal_family_describe(arena->kept, &kept);
    first = &options.families[0];
    expect(arena, slice_equal(first->name, text("f")), "the first family");
    expect(arena, slice_equal(kept.name, text("f")), "the family's own name");
    if (options.attribute_count == 0)
        return;
    expect(arena, options.attribute_count == 1 && first->attribute_count == 1, "attributes");
    expect(arena, slice_equal(options.attributes[0].value, first->attributes[0].value),
           "table and family are of different alterations");
    expect(arena, options.family_count == 2 + first->versions % 2, "number of families");
}

static void *
run_reader(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    petal_result *result;

    expect(arena, petal_result_new(arena->db, &result, NULL) == PETAL_OK, "result");
    while (goes_on(arena)) {
        read_row(arena, result, worker->index);
        describe(arena);
        scan_all(arena);
        atomic_fetch_add(&arena->reads, 1);
    }
    petal_result_free(result);
    return NULL;
}

/* Step `number`: family "f" stays, "h" stays, "g" is there in every other one. */
static void
alter_once(struct arena *arena, uint32_t number)
{
    char digits[16];
    petal_attribute mark = {PETAL_METADATA, text("number"), slice_make(digits, 0)};
    petal_family_options families[3] = {{.name = text("f"), .versions = 1 + number},
                                        {.name = text("h")},
                                        {.name = text("g"), .in_memory = true}};
    petal_table_options options = {.families = families,
                                   .family_count = 2 + (1 + number) % 2,
                                   .durability = number % 3 == 0 ? PETAL_ASYNC_WAL : PETAL_SYNC_WAL,
                                   .attributes = &mark,
                                   .attribute_count = 1};

    mark.value.size = (size_t)snprintf(digits, sizeof digits, "%" PRIu32, number);
    families[0].attributes = &mark;
    families[0].attribute_count = 1;
    MUST(petal_table_alter(arena->table, &options, WHY));
}

static void
start(struct worker *workers, size_t count, struct arena *arena, void *(*run)(void *))
{
    for (unsigned i = 0; i < count; i++) {
        workers[i].arena = arena;
        workers[i].index = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    }
}

TEST(test_alterations_beside_reads_and_writes)
{
    petal_options options = {.create = true, .memtable_bytes = 65536};
    petal_family_options families[8];
    petal_table_options made = table_plain_options(families, "fh");
    uint32_t steps = test_long() ? 1000 : 60;
    struct worker writers[WRITERS], readers[READERS];
    char *directory = test_directory_new();
    struct arena arena = {0};

    MUST(petal_open(directory, &options, &arena.db, WHY));
    MUST(petal_table_create(arena.db, &made, &arena.table, WHY));
    arena.kept = table_family_named(arena.table, "f");
    start(writers, WRITERS, &arena, run_writer);
    start(readers, READERS, &arena, run_reader);
    for (uint32_t i = 0; i < steps; i++) {
        uint64_t reads = atomic_load(&arena.reads);

        alter_once(&arena, i);
        if (i % 4 == 0)
            MUST(petal_flush(arena.db, arena.table, WHY));
        while (atomic_load(&arena.reads) == reads && atomic_load(&arena.faults) == 0)
            sched_yield(); /* someone has read in between */
    }
    atomic_store(&arena.stop, true);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    assert_int_equal(arena.faults, 0);
    MUST(petal_table_verify(arena.table, WHY));
    MUST(petal_close(arena.db, WHY));
    test_directory_free(directory);
}
