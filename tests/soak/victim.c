/* victim.c -- see tests/soak/victim.h: writers and readers. */
#include "tests/soak/victim.h"

#include "tests/support/test_support.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READERS        2
#define SNAPSHOT_READS 50

struct worker {
    struct soak_database *database;
    struct test_random random;
    pthread_t thread;
    uint32_t index;
    petal_batch *batch;
    petal_result *result;
    uint8_t *value;
};

static void
sleep_ms(uint64_t milliseconds)
{
    struct timespec time = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};

    nanosleep(&time, NULL);
}

/* ---- whole rows ---- */

static void
must(struct worker *worker, enum petal_status status, const petal_error *error, const char *action)
{
    soak_must(worker->database->shared, status, error, action);
}

static void
add_put(struct worker *worker, petal_family *family, petal_slice row, const char *qualifier,
        const uint8_t *value, size_t size)
{
    petal_error error;

    must(worker,
         petal_batch_put(worker->batch, family, row, soak_text(qualifier), PETAL_LATEST,
                         (petal_slice){value, size}, &error),
         &error, "add a put");
}

static void
add_delete(struct worker *worker, petal_family *family, petal_slice row, const char *qualifier,
           enum petal_cell_type type)
{
    petal_error error;

    must(worker,
         petal_batch_delete(worker->batch, family, row, soak_text(qualifier), PETAL_LATEST, type,
                            &error),
         &error, "add a deletion");
}

static void
change_columns(struct worker *worker, uint32_t slot, petal_slice row, struct soak_state *next)
{
    static const char *const qualifiers[SOAK_COLUMNS] = {"q0", "q1", "q2", "q3", "q4", "q5"};
    petal_family **families = worker->database->families[SOAK_FIRST];

    for (unsigned column = 0; column < SOAK_COLUMNS; column++) {
        uint64_t chance = test_random_below(&worker->random, 100);

        if (chance < 50) {
            size_t size = soak_value(worker->value, slot, column, next->generation);

            next->made[column] = next->generation;
            add_put(worker, families[column / 2], row, qualifiers[column], worker->value, size);
        } else if (chance < 70) {
            next->made[column] = 0;
            add_delete(worker, families[column / 2], row, qualifiers[column], PETAL_DELETE_COLUMN);
        }
    }
    next->in_first = true;
}

static void
remove_row(struct worker *worker, petal_slice row, struct soak_state *next)
{
    for (size_t i = 0; i < SOAK_FAMILIES; i++)
        add_delete(worker, worker->database->families[SOAK_FIRST][i], row, "", PETAL_DELETE_FAMILY);
    memset(next->made, 0, sizeof next->made);
    next->in_first = false;
}

static void
write_batch(struct worker *worker)
{
    petal_write_options options = {
        .durability = test_random_below(&worker->random, 500) == 0 ? PETAL_FSYNC_WAL : 0};
    petal_error error;

    must(worker, petal_write(worker->database->db, worker->batch, &options, &error), &error,
         "write a batch");
}

static void
change_whole(struct worker *worker, uint32_t slot, petal_slice row)
{
    struct soak_slot *shared = &worker->database->shared->slots[slot];
    struct soak_state *next = soak_begin(shared);
    petal_family **second = worker->database->families[SOAK_SECOND];
    uint8_t sum[SOAK_SUM_BYTES];

    petal_batch_clear(worker->batch);
    if (test_random_chance(&worker->random, 15))
        remove_row(worker, row, next);
    else
        change_columns(worker, slot, row, next);
    soak_sum(sum, slot, next);
    if (next->in_first)
        add_put(worker, worker->database->families[SOAK_FIRST][0], row, "sum", sum, sizeof sum);
    add_put(worker, second[0], row, "sum", sum, sizeof sum);
    if (next->made_in_second == 0 || test_random_chance(&worker->random, 50)) {
        size_t size = soak_value(worker->value, slot, SOAK_COLUMN_SECOND, next->generation);

        next->made_in_second = next->generation;
        add_put(worker, second[1], row, "fill", worker->value, size);
    }
    soak_attempt(shared);
    write_batch(worker);
    soak_acknowledge(shared);
}

/* ---- single cells ---- */

/* One change of a SINGLE slot; fills in `next`, which is begun, announces it and writes it. */
struct change {
    struct worker *worker;
    struct soak_slot *slot;
    struct soak_state *next;
    petal_family **families;
    petal_slice row;
    uint32_t number; /* of the slot */
};

static petal_slice
make_value(const struct change *change, unsigned column)
{
    size_t size =
        soak_value(change->worker->value, change->number, column, change->next->generation);

    return (petal_slice){change->worker->value, size};
}

static void
change_plain(struct change *change)
{
    petal_slice column = soak_text("plain"), value = make_value(change, SOAK_COLUMN_PLAIN);
    bool put = test_random_chance(&change->worker->random, 70);
    petal_error error;

    change->next->plain = put ? change->next->generation : 0;
    soak_attempt(change->slot);
    if (put)
        must(change->worker,
             petal_put(change->families[0], change->row, column, PETAL_LATEST, value, NULL, &error),
             &error, "put");
    else
        must(change->worker,
             petal_delete(change->families[0], change->row, column, PETAL_LATEST,
                          PETAL_DELETE_COLUMN, NULL, &error),
             &error, "delete");
}

static void
change_counter(struct change *change)
{
    int64_t amount = (int64_t)test_random_next(&change->worker->random) >> 20, sum;
    petal_error error;

    change->next->counted = true;
    change->next->count = (int64_t)((uint64_t)change->next->count + (uint64_t)amount);
    soak_attempt(change->slot);
    must(change->worker,
         petal_increment(change->families[0], change->row, soak_text("count"), amount, NULL, &sum,
                         &error),
         &error, "increment");
    if (sum != change->next->count)
        soak_fail(change->worker->database->shared,
                  "slot %u: an increment gave %" PRId64 " instead of %" PRId64, change->number, sum,
                  change->next->count);
}

/* Begin the text anew: put under the condition that there is one. */
static void
replace_text(struct change *change, petal_slice piece)
{
    struct worker *worker = change->worker;
    petal_condition condition = {
        .family = change->families[2], .qualifier = soak_text("text"), .compare = PETAL_NOT_EQUAL};
    bool applied = false;
    petal_error error;

    petal_batch_clear(worker->batch);
    add_put(worker, change->families[2], change->row, "text", piece.data, piece.size);
    must(worker,
         petal_mutate_row(worker->database->tables[soak_table_of(change->number)], change->row,
                          &condition, worker->batch, NULL, &applied, &error),
         &error, "change under a condition");
    if (!applied)
        soak_fail(worker->database->shared, "slot %u: the text under the condition is not there",
                  change->number);
}

static void
change_text(struct change *change)
{
    struct soak_state *next = change->next;
    bool anew = next->text == 0 || next->pieces == SOAK_PIECES, there = next->text != 0;
    petal_slice piece;
    petal_error error;

    if (anew)
        next->text = next->generation;
    next->pieces = anew ? 1 : next->pieces + 1;
    piece = (petal_slice){change->worker->value,
                          soak_value(change->worker->value, change->number,
                                     SOAK_COLUMN_PIECE + next->pieces - 1, next->text)};
    soak_attempt(change->slot);
    if (anew && there)
        replace_text(change, piece);
    else
        must(change->worker,
             petal_append(change->families[2], change->row, soak_text("text"), piece, NULL, &error),
             &error, "append");
}

static void
put_version(struct change *change)
{
    struct soak_state *next = change->next;
    petal_slice value = make_value(change, SOAK_COLUMN_VERSION);
    petal_error error;

    if (next->version_count < SOAK_VERSIONS)
        next->version_count++;
    memmove(&next->versions[1], &next->versions[0],
            (next->version_count - 1) * sizeof next->versions[0]);
    next->versions[0] = (struct soak_version){++next->time, next->generation};
    soak_attempt(change->slot);
    must(change->worker,
         petal_put(change->families[1], change->row, soak_text("versions"), next->time, value, NULL,
                   &error),
         &error, "put a version");
}

/* A single version goes by each kind of marker; several by those that hide all (what lies below a
 * version that is deleted alone depends on when files were flushed). */
static void
delete_versions(struct change *change)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY,
                                                 PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION};
    struct soak_state *next = change->next;
    uint64_t choices = next->version_count == 1 ? 4 : 2;
    enum petal_cell_type type = types[test_random_below(&change->worker->random, choices)];
    bool of_column = type == PETAL_DELETE_COLUMN || type == PETAL_DELETE;
    int64_t time = next->version_count > 0 ? next->versions[0].time : next->time;
    petal_error error;

    next->version_count = 0;
    soak_attempt(change->slot);
    must(change->worker,
         petal_delete(change->families[1], change->row, soak_text(of_column ? "versions" : ""),
                      time, type, NULL, &error),
         &error, "delete versions");
}

/* The marker takes what an older cell would show when the new one has died. */
static void
change_mortal(struct change *change)
{
    struct worker *worker = change->worker;
    struct soak_state *next = change->next;
    petal_mutation_options none = {0}, options = {.has_ttl = true};
    petal_slice value = make_value(change, SOAK_COLUMN_MORTAL);
    petal_error error;

    options.ttl_ms = 100 + (int64_t)test_random_below(&worker->random, 20000);
    petal_batch_clear(worker->batch);
    must(worker, petal_batch_mutation(worker->batch, &none, &error), &error, "begin a mutation");
    add_delete(worker, change->families[2], change->row, "mortal", PETAL_DELETE_COLUMN);
    must(worker, petal_batch_mutation(worker->batch, &options, &error), &error, "begin a mutation");
    add_put(worker, change->families[2], change->row, "mortal", value.data, value.size);
    next->mortal = next->generation;
    next->lives_until = soak_clock_ms() + options.ttl_ms;
    next->dead_after = INT64_MAX;
    soak_attempt(change->slot);
    write_batch(worker);
    /* Time that the store gives may run ahead of the clock by steps of the clock; a second is
     * enough for what does not step. */
    next->dead_after = soak_clock_ms() + options.ttl_ms + 1000;
}

static void
change_single(struct worker *worker, uint32_t number, petal_slice row)
{
    static void (*const changes[])(struct change *) = {
        change_plain, change_counter,  change_text,  put_version,
        put_version,  delete_versions, change_mortal};
    struct change change = {
        .worker = worker,
        .slot = &worker->database->shared->slots[number],
        .families = worker->database->families[soak_table_of(number)],
        .row = row,
        .number = number,
    };

    change.next = soak_begin(change.slot);
    changes[test_random_below(&worker->random, sizeof changes / sizeof *changes)](&change);
    soak_acknowledge(change.slot);
}

/* ---- threads ---- */

static void *
write_slots(void *argument)
{
    struct worker *worker = argument;
    struct soak_shared *shared = worker->database->shared;

    while (!atomic_load(&shared->stop)) {
        uint32_t slot = worker->index * SOAK_PER_WRITER +
                        (uint32_t)test_random_below(&worker->random, SOAK_PER_WRITER);
        char row[SOAK_ROW_BYTES + 1];

        soak_row(slot, row);
        if (soak_is_whole(slot))
            change_whole(worker, slot, soak_text(row));
        else
            change_single(worker, slot, soak_text(row));
        atomic_fetch_add(&shared->writes, 1);
        if (test_random_below(&worker->random, 500) == 0)
            sleep_ms(test_random_below(&worker->random, 50));
    }
    return NULL;
}

static uint32_t
some_whole_slot(struct worker *worker)
{
    return (uint32_t)test_random_below(&worker->random, SOAK_SLOTS / 2) * 2;
}

static void
check_range(struct worker *worker, uint32_t slot, uint64_t low, uint64_t found, const char *how)
{
    uint64_t high = atomic_load(&worker->database->shared->slots[slot].attempted);

    if (found < low || found > high)
        soak_fail(worker->database->shared,
                  "%s: slot %u is at generation %" PRIu64 ", not %" PRIu64 " to %" PRIu64, how,
                  slot, found, low, high);
}

/* A snapshot stays what it is. */
static void
read_at_snapshot(struct worker *worker, struct soak_reader *reader)
{
    struct soak_shared *shared = worker->database->shared;
    uint32_t slots[4];
    uint64_t low[4], found[4];
    petal_snapshot *snapshot;
    petal_error error;

    for (size_t i = 0; i < 4; i++) {
        slots[i] = some_whole_slot(worker);
        low[i] = atomic_load(&shared->slots[slots[i]].acknowledged);
    }
    must(worker, petal_snapshot_new(worker->database->db, &snapshot, &error), &error,
         "take a snapshot");
    for (size_t i = 0; i < 4; i++) {
        found[i] = soak_check_whole(reader, slots[i], snapshot);
        check_range(worker, slots[i], low[i], found[i], "at a snapshot");
    }
    for (unsigned i = 0; i < SNAPSHOT_READS && !atomic_load(&shared->stop); i++) {
        sleep_ms(test_random_below(&worker->random, 4));
        if (soak_check_whole(reader, slots[i % 4], snapshot) != found[i % 4])
            soak_fail(shared, "slot %u changed at a snapshot", slots[i % 4]);
    }
    petal_snapshot_free(snapshot);
}

static void *
read_slots(void *argument)
{
    struct worker *worker = argument;
    struct soak_shared *shared = worker->database->shared;
    struct soak_reader reader;

    soak_reader_init(&reader, worker->database);
    while (!atomic_load(&shared->stop)) {
        uint32_t slot = some_whole_slot(worker);
        uint64_t low = atomic_load(&shared->slots[slot].acknowledged);
        uint64_t found = soak_check_first(&reader, slot);

        if (found != 0) /* else it is deleted, or was never there */
            check_range(worker, slot, low, found, "get");
        if (test_random_below(&worker->random, 2000) == 0)
            read_at_snapshot(worker, &reader);
        if (test_random_below(&worker->random, 200) == 0)
            sleep_ms(test_random_below(&worker->random, 10));
    }
    soak_reader_free(&reader);
    return NULL;
}

static void
start(struct worker *worker, struct soak_database *database, uint64_t seed, uint32_t index,
      void *(*run)(void *))
{
    petal_error error;

    worker->database = database;
    worker->index = index;
    worker->value = test_allocate(SOAK_MOST_VALUE);
    test_random_init(&worker->random, seed);
    must(worker, petal_batch_new(database->db, &worker->batch, &error), &error, "make a batch");
    if (pthread_create(&worker->thread, NULL, run, worker) != 0)
        soak_fail(database->shared, "no thread can be started");
}

static void
end(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
    petal_batch_free(worker->batch);
    free(worker->value);
}

void
soak_victim(struct soak_shared *shared, uint64_t seed, bool write)
{
    struct soak_database database;
    struct worker workers[SOAK_WRITERS + READERS];
    struct soak_upkeep upkeep = {&database, seed + 99};
    pthread_t upkeeper;
    char directory[1024];

    soak_path(shared, directory, sizeof directory, "database");
    soak_open(&database, shared, directory, false);
    atomic_store(&shared->opened, true);
    if (write) {
        for (uint32_t i = 0; i < SOAK_WRITERS + READERS; i++)
            start(&workers[i], &database, seed + i, i, i < SOAK_WRITERS ? write_slots : read_slots);
        if (pthread_create(&upkeeper, NULL, soak_upkeep, &upkeep) != 0)
            soak_fail(shared, "no thread can be started");
    }
    while (!atomic_load(&shared->stop))
        sleep_ms(5);
    if (write) {
        for (uint32_t i = 0; i < SOAK_WRITERS + READERS; i++)
            end(&workers[i]);
        pthread_join(upkeeper, NULL);
    }
    soak_close(&database);
}
