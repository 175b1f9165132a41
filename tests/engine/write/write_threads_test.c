/*
 * write_threads_test.c -- every call that writes, from many threads at once, with memtables so
 * small that they are switched all the time, beside flushes, compactions and background syncs. Each
 * worker has rows of its own, all in one table, and knows what must be in them: it looks after
 * every write, and again when the database was closed and opened. Meant for ThreadSanitizer, too;
 * so the surroundings are the library's own, but for a clock so fast that no timestamp runs ahead
 * of it.
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
#define TURNS     (test_long() ? 20000u : 1200u) /* of each worker */
#define FAMILIES  2
#define ROWS      3 /* of a worker; one more for its key in the key-value table */
#define TEXTS     2 /* columns of a row in a family with text; one more has a number */
#define LONGEST   200
#define NUMBER    TEXTS
#define LONG_LIFE ((int64_t)1 << 50)

struct arena {
    petal_db *db;
    petal_table *table;
    petal_family *families[FAMILIES];
    petal_kv *kv;
    petal_filter *nothing; /* passes no row of a worker */
    _Atomic(int64_t) clock_ms;
    _Atomic(bool) stop;
    _Atomic(uint64_t) faults;
};

/* What a column holds. */
struct slot {
    bool exists;
    size_t size;
    uint8_t value[2 * LONGEST];
};

struct worker {
    pthread_t thread;
    struct arena *arena;
    unsigned index;
    struct test_random random;
    struct slot slots[ROWS][FAMILIES][TEXTS + 1];
    struct slot key; /* of the key-value table */
    petal_batch *batch;
    petal_result *read, *given;
    petal_error error;
};

/* Threads cannot fail a test: they count faults, and the main thread looks. */
static void
fault(struct arena *arena, const char *what, uint64_t found, uint64_t expected)
{
    if (atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %" PRIu64 ", expected %" PRIu64 "\n", what, found, expected);
}

static void
expect_ok(struct arena *arena, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK && atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
}

/* A call of the worker with its own error. */
static void
done(struct worker *worker, enum petal_status status)
{
    expect_ok(worker->arena, status, &worker->error);
}

/* ---- names and values ---- */

static petal_slice
row_of(const struct worker *worker, unsigned row, char name[16])
{
    return slice_make(name, (size_t)snprintf(name, 16, "%u.%u", row, worker->index));
}

static petal_slice
qualifier_of(unsigned column)
{
    static const char *const names[TEXTS + 1] = {"a", "b", "n"};

    return slice_from_text(names[column]);
}

static petal_slice
value_of(const struct slot *slot)
{
    return slice_make(slot->value, slot->size);
}

static void
empty(struct slot *slot)
{
    slot->exists = false;
    slot->size = 0;
}

/* A new value for a column: a number where one belongs, else text. */
static void
fill(struct worker *worker, unsigned column, struct slot *slot)
{
    slot->exists = true;
    slot->size = column == NUMBER ? 8 : 1 + test_random_below(&worker->random, LONGEST);
    test_random_bytes(&worker->random, slot->value, slot->size);
}

/* What append and increment make of a value. */
static void
grow(struct slot *slot, petal_slice tail)
{
    memcpy(slot->value + slot->size, tail.data, tail.size);
    slot->size += tail.size;
    slot->exists = true;
}

static void
add(struct slot *slot, int64_t amount)
{
    uint64_t old = slot->exists ? get_be64(slot->value) : 0;

    put_be64(slot->value, old + (uint64_t)amount);
    slot->exists = true;
    slot->size = 8;
}

/* ---- looking ---- */

static void
check_cell(struct worker *worker, const char *what, const petal_cell *cell, const struct slot *slot)
{
    if (cell == NULL || !slice_equal(cell->value, value_of(slot)))
        fault(worker->arena, what, cell != NULL ? cell->value.size : 0, slot->size);
}

static void
check_row(struct worker *worker, unsigned row)
{
    struct arena *arena = worker->arena;
    size_t count = 0;
    char name[16];

    done(worker,
         petal_get(arena->table, row_of(worker, row, name), NULL, worker->read, &worker->error));
    for (unsigned f = 0; f < FAMILIES; f++) {
        for (unsigned c = 0; c <= TEXTS; c++) {
            const struct slot *slot = &worker->slots[row][f][c];

            if (!slot->exists)
                continue;
            check_cell(worker, "a cell of a row",
                       count < petal_result_count(worker->read)
                           ? petal_result_cell(worker->read, count)
                           : NULL,
                       slot);
            count++;
        }
    }
    if (petal_result_count(worker->read) != count)
        fault(arena, "cells of a row", petal_result_count(worker->read), count);
}

static void
check_key(struct worker *worker)
{
    struct arena *arena = worker->arena;
    petal_slice value;
    char name[16];
    bool found;

    done(worker, petal_kv_get(arena->kv, row_of(worker, ROWS, name), worker->read, &found, &value,
                              &worker->error));
    if (found != worker->key.exists || !slice_equal(value, value_of(&worker->key)))
        fault(arena, "a key's value", value.size, worker->key.size);
}

/* ---- single writes ---- */

struct target {
    unsigned row, family, column;
    petal_slice row_name;
    char name[16];
    struct slot *slot;
    petal_write_options options;
};

static void
aim(struct worker *worker, struct target *target)
{
    static const enum petal_durability levels[] = {PETAL_DURABILITY_DEFAULT, PETAL_SKIP_WAL,
                                                   PETAL_ASYNC_WAL, PETAL_SYNC_WAL};
    struct test_random *random = &worker->random;

    target->row = (unsigned)test_random_below(random, ROWS);
    target->family = (unsigned)test_random_below(random, FAMILIES);
    target->column = (unsigned)test_random_below(random, TEXTS + 1);
    target->row_name = row_of(worker, target->row, target->name);
    target->slot = &worker->slots[target->row][target->family][target->column];
    target->options = (petal_write_options){
        .durability = test_random_below(random, 50) == 0 ? PETAL_FSYNC_WAL
                                                         : levels[test_random_below(random, 4)],
        .has_ttl = test_random_chance(random, 20),
        .result = worker->given,
    };
    if (target->options.has_ttl)
        target->options.ttl_ms = LONG_LIFE;
}

static void
put(struct worker *worker, const struct target *target)
{

    fill(worker, target->column, target->slot);
    done(worker, petal_put(worker->arena->families[target->family], target->row_name,
                           qualifier_of(target->column), PETAL_LATEST, value_of(target->slot),
                           &target->options, &worker->error));
}

static void
delete_with(struct worker *worker, const struct target *target, int64_t timestamp,
            enum petal_cell_type type)
{
    bool of_family = type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;

    done(worker, petal_delete(worker->arena->families[target->family], target->row_name,
                              of_family ? slice_make(NULL, 0) : qualifier_of(target->column),
                              timestamp, type, &target->options, &worker->error));
}

/* Single versions: those at 1, where there is none, and the newest one; after that older ones
 * would come to light. */
static void
delete_some(struct worker *worker, const struct target *target)
{
    switch (test_random_below(&worker->random, 5)) {
    case 0:
        delete_with(worker, target, 1, PETAL_DELETE);
        break;
    case 1:
        delete_with(worker, target, 1, PETAL_DELETE_FAMILY_VERSION);
        break;
    case 2:
        for (unsigned c = 0; c <= TEXTS; c++)
            empty(&worker->slots[target->row][target->family][c]);
        delete_with(worker, target, PETAL_LATEST, PETAL_DELETE_FAMILY);
        break;
    case 3:
        delete_with(worker, target, PETAL_LATEST, PETAL_DELETE);
        /* fall through */
    default:
        empty(target->slot);
        delete_with(worker, target, PETAL_LATEST, PETAL_DELETE_COLUMN);
    }
}

static void
append_or_increment(struct worker *worker, const struct target *target)
{
    struct arena *arena = worker->arena;
    petal_family *family = arena->families[target->family];
    petal_slice tail = slice_from_text("tail");
    int64_t sum = 0;

    if (target->column == NUMBER) {
        add(target->slot, -3);
        done(worker, petal_increment(family, target->row_name, qualifier_of(NUMBER), -3,
                                     &target->options, &sum, &worker->error));
        if (sum != (int64_t)get_be64(target->slot->value))
            fault(arena, "a sum", (uint64_t)sum, get_be64(target->slot->value));
    } else if (target->slot->size < LONGEST) {
        grow(target->slot, tail);
        done(worker, petal_append(family, target->row_name, qualifier_of(target->column), tail,
                                  &target->options, &worker->error));
    } else {
        put(worker, target);
        return;
    }
    check_cell(worker, "the cell of a result", petal_result_cell(worker->given, 0), target->slot);
}

static void
write_key(struct worker *worker)
{
    struct arena *arena = worker->arena;
    char name[16];
    petal_slice key = row_of(worker, ROWS, name);

    if (test_random_chance(&worker->random, 30)) {
        empty(&worker->key);
        done(worker, petal_kv_delete(arena->kv, key, &worker->error));
    } else {
        fill(worker, 0, &worker->key);
        done(worker, petal_kv_put(arena->kv, key, value_of(&worker->key), NULL, &worker->error));
    }
    check_key(worker);
}

/* ---- batches ---- */

static void
batch_put(struct worker *worker, petal_family *family, petal_slice row, unsigned column,
          const struct slot *slot)
{

    done(worker, petal_batch_put(worker->batch, family, row, qualifier_of(column), PETAL_LATEST,
                                 value_of(slot), &worker->error));
}

/* All kinds of changes of a row in one family; the text "a" is written several times, at times with
 * a time to live. */
static void
gather(struct worker *worker, unsigned row, unsigned f, petal_slice name)
{
    struct arena *arena = worker->arena;
    petal_family *family = arena->families[f];
    struct slot *slots = worker->slots[row][f];
    petal_mutation_options options = {.has_ttl = test_random_chance(&worker->random, 50)};

    if (options.has_ttl)
        options.ttl_ms = LONG_LIFE;
    fill(worker, 0, &slots[0]);
    batch_put(worker, family, name, 0, &slots[0]);
    done(worker, petal_batch_mutation(worker->batch, &options, &worker->error));
    if (slots[1].size < LONGEST && test_random_chance(&worker->random, 50)) {
        grow(&slots[1], slice_from_text("appended"));
        done(worker, petal_batch_append(worker->batch, family, name, qualifier_of(1),
                                        slice_from_text("appended"), &worker->error));
    } else {
        empty(&slots[1]);
        done(worker, petal_batch_delete(worker->batch, family, name, qualifier_of(1), PETAL_LATEST,
                                        PETAL_DELETE, &worker->error));
        done(worker, petal_batch_delete(worker->batch, family, name, qualifier_of(1), PETAL_LATEST,
                                        PETAL_DELETE_COLUMN, &worker->error));
    }
    fill(worker, 0, &slots[0]);
    batch_put(worker, family, name, 0, &slots[0]);
    add(&slots[NUMBER], 5);
    done(worker, petal_batch_increment(worker->batch, family, name, qualifier_of(NUMBER), 5,
                                       &worker->error));
}

/* Over all rows and families. */
static void
write_batch(struct worker *worker, const struct target *target)
{
    petal_write_options options = target->options;

    options.has_ttl = false;
    options.ttl_ms = 0;
    petal_batch_clear(worker->batch);
    for (unsigned row = 0; row < ROWS; row++) {
        char name[16];

        for (unsigned f = 0; f < FAMILIES; f++)
            gather(worker, row, f, row_of(worker, row, name));
    }
    done(worker, petal_write(worker->arena->db, worker->batch, &options, &worker->error));
    if (petal_result_count(worker->given) < ROWS * FAMILIES)
        fault(worker->arena, "results of a batch", petal_result_count(worker->given),
              ROWS * FAMILIES);
}

/* Under a condition that holds, one that does not, or none. */
static void
change_row(struct worker *worker, const struct target *target)
{
    struct arena *arena = worker->arena;
    struct slot before[FAMILIES][TEXTS + 1];
    unsigned kind = (unsigned)test_random_below(&worker->random, 4);
    petal_condition condition = {.family = arena->families[target->family],
                                 .qualifier = qualifier_of(target->column),
                                 .absent = !target->slot->exists,
                                 .compare = PETAL_EQUAL};
    petal_write_options options = target->options;
    bool applied;

    options.has_ttl = false;
    options.ttl_ms = 0;
    memcpy(before, worker->slots[target->row], sizeof before);
    if (target->slot->exists)
        condition.value = value_of(&before[target->family][target->column]);
    if (kind == 1) { /* the opposite */
        condition.absent = false;
        condition.compare = PETAL_NOT_EQUAL;
    } else if (kind == 2) {
        condition = (petal_condition){.filter = arena->nothing};
    }
    petal_batch_clear(worker->batch);
    for (unsigned f = 0; f < FAMILIES; f++)
        gather(worker, target->row, f, target->row_name);
    done(worker, petal_mutate_row(arena->table, target->row_name, kind == 3 ? NULL : &condition,
                                  worker->batch, &options, &applied, &worker->error));
    if (applied != (kind == 0 || kind == 3))
        fault(arena, "a change was applied", applied, kind == 0 || kind == 3);
    if (!applied)
        memcpy(worker->slots[target->row], before, sizeof before);
}

/* ---- threads ---- */

static void *
worker_thread(void *argument)
{
    struct worker *worker = argument;

    for (unsigned turn = 0; turn < TURNS && atomic_load(&worker->arena->faults) == 0; turn++) {
        struct target target;

        aim(worker, &target);
        switch (test_random_below(&worker->random, 8)) {
        case 0:
        case 1:
            put(worker, &target);
            break;
        case 2:
            delete_some(worker, &target);
            break;
        case 3:
        case 4:
            append_or_increment(worker, &target);
            break;
        case 5:
            write_batch(worker, &target);
            break;
        case 6:
            change_row(worker, &target);
            break;
        default:
            write_key(worker);
        }
        check_row(worker, target.row);
    }
    return NULL;
}

static void *
flusher_thread(void *argument)
{
    struct arena *arena = argument;
    petal_error error = {0};

    for (unsigned turn = 0; !atomic_load(&arena->stop); turn++) {
        struct timespec pause = {0, 3000000};

        expect_ok(arena, petal_flush(arena->db, turn % 2 == 0 ? arena->table : NULL, &error),
                  &error);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void *
compactor_thread(void *argument)
{
    struct arena *arena = argument;
    petal_error error = {0};

    for (unsigned turn = 0; !atomic_load(&arena->stop); turn++) {
        struct timespec pause = {0, 5000000};

        expect_ok(arena,
                  petal_compact(arena->table, turn % 2 == 0 ? arena->families[0] : NULL, &error),
                  &error);
        expect_ok(arena, petal_compact(petal_kv_table(arena->kv), NULL, &error), &error);
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
open_arena(struct arena *arena, const char *directory)
{
    petal_env env = {.clock_context = &arena->clock_ms, .clock_ms = fast_clock_ms};
    petal_options options = {.create = true,
                             .memtable_bytes = (size_t)64 << 10,
                             .log_sync_interval_ms = 10,
                             .env = &env};
    petal_family_options families[FAMILIES] = {
        {.name = slice_from_text("f"), .bloom = PETAL_BLOOM_ROWCOL, .block_bytes = 1024},
        {.name = slice_from_text("g"), .block_bytes = 1024}};
    petal_table_options table = {
        .name = slice_from_text("t"), .families = families, .family_count = FAMILIES};
    petal_error error;

    assert_int_equal(petal_open(directory, &options, &arena->db, &error), PETAL_OK);
    if (petal_table_open(arena->db, table.name, &arena->table, &error) != PETAL_OK)
        assert_int_equal(petal_table_create(arena->db, &table, &arena->table, &error), PETAL_OK);
    for (unsigned f = 0; f < FAMILIES; f++)
        arena->families[f] = petal_table_family_at(arena->table, f);
    assert_int_equal(petal_kv_open(arena->db, slice_from_text("keys"), NULL, &arena->kv, &error),
                     PETAL_OK);
    assert_int_equal(petal_filter_parse(arena->db, slice_from_text("PrefixFilter('x')"),
                                        &arena->nothing, &error),
                     PETAL_OK);
}

static void
attach(struct arena *arena, struct worker *worker)
{
    petal_error error;

    assert_int_equal(petal_batch_new(arena->db, &worker->batch, &error), PETAL_OK);
    assert_int_equal(petal_result_new(arena->db, &worker->read, &error), PETAL_OK);
    assert_int_equal(petal_result_new(arena->db, &worker->given, &error), PETAL_OK);
}

static void
detach(struct worker *worker)
{
    petal_batch_free(worker->batch);
    petal_result_free(worker->read);
    petal_result_free(worker->given);
}

static void
run_threads(struct arena *arena, struct worker *workers)
{
    pthread_t others[2];

    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, worker_thread, &workers[i]), 0);
    assert_int_equal(pthread_create(&others[0], NULL, flusher_thread, arena), 0);
    assert_int_equal(pthread_create(&others[1], NULL, compactor_thread, arena), 0);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&arena->stop, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
}

TEST(test_every_write_call)
{
    struct arena arena = {.clock_ms = 1000};
    struct worker *workers = test_allocate(WORKERS * sizeof *workers);
    char *directory = test_directory_new();
    uint64_t seed = test_seed();
    petal_stats stats;
    petal_error error;

    memset(workers, 0, WORKERS * sizeof *workers);
    open_arena(&arena, directory);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].arena = &arena;
        workers[i].index = i;
        test_random_init(&workers[i].random, seed + i);
        attach(&arena, &workers[i]);
    }
    run_threads(&arena, workers);
    petal_stats_get(arena.db, &stats);
    print_message("%" PRIu64 " writes in %" PRIu64 " groups, %" PRIu64 " flushes, %" PRIu64
                  " compactions\n",
                  stats.batches_written, stats.write_groups, stats.flushes, stats.compactions);
    assert_true(stats.flushes > 2 && stats.compactions > 0);
    for (unsigned i = 0; i < WORKERS; i++)
        detach(&workers[i]);
    petal_filter_free(arena.nothing);
    assert_int_equal(petal_close(arena.db, &error), PETAL_OK);

    open_arena(&arena, directory);
    for (unsigned i = 0; i < WORKERS; i++) {
        attach(&arena, &workers[i]);
        for (unsigned row = 0; row < ROWS; row++)
            check_row(&workers[i], row);
        check_key(&workers[i]);
        detach(&workers[i]);
    }
    assert_int_equal(atomic_load(&arena.faults), 0);
    petal_filter_free(arena.nothing);
    assert_int_equal(petal_close(arena.db, &error), PETAL_OK);
    free(workers);
    test_directory_free(directory);
}
