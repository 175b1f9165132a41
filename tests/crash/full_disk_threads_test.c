/*
 * full_disk_threads_test.c -- many writers at once on a disk that fills up and is emptied again:
 * whole groups of writes are refused, and what was acknowledged is all that is there, for readers
 * and after the process died.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define WRITERS 6
#define WRITES  10 /* of each writer in a round */
#define ROUNDS  (test_long() ? 400u : 40u)
#define MOST    (WRITES * 400)

/* Writer i puts to column k of its row, k = 0, 1, 2 ..: what is there are the columns whose write
 * succeeded. */
struct writer {
    pthread_t thread;
    petal_family *family;
    unsigned index, attempted;
    bool acknowledged[MOST];
    unsigned refused, wrong;
};

static petal_slice
row_of(unsigned writer, char name[16])
{
    return slice_make(name, (size_t)snprintf(name, 16, "w%u", writer));
}

static void *
writer_thread(void *argument)
{
    static const char value[100] = "of one size, so that stale records lie where new ones end";
    struct writer *writer = argument;

    for (unsigned i = 0; i < WRITES; i++) {
        petal_write_options options = {.durability = i % 3 == 0 ? PETAL_ASYNC_WAL : PETAL_SYNC_WAL};
        unsigned number = writer->attempted++;
        char row[16], column[16];
        petal_error error;
        enum petal_status status;

        snprintf(column, sizeof column, "%06u", number);
        status = petal_put(writer->family, row_of(writer->index, row), slice_from_text(column),
                           PETAL_LATEST, slice_make(value, sizeof value), &options, &error);
        writer->acknowledged[number] = status == PETAL_OK;
        writer->refused += status == PETAL_NO_SPACE;
        writer->wrong += status != PETAL_OK && status != PETAL_NO_SPACE;
    }
    return NULL;
}

static petal_table *
open_table(petal_db *db)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;

    if (petal_table_open(db, options.name, &table, &error) != PETAL_OK)
        must(petal_table_create(db, &options, &table, &error), &error);
    return table;
}

/* What is there is what was acknowledged. */
static void
check_writer(petal_db *db, const struct writer *writer)
{
    petal_table *table = open_table(db);
    petal_result *result;
    size_t count = 0;
    char row[16];

    MUST(petal_result_new(db, &result, WHY));
    MUST(petal_get(table, row_of(writer->index, row), NULL, result, WHY));
    for (unsigned number = 0; number < writer->attempted; number++) {
        char column[16];
        bool found;

        if (!writer->acknowledged[number])
            continue;
        snprintf(column, sizeof column, "%06u", number);
        found = count < petal_result_count(result) &&
                slice_equal(petal_result_cell(result, count)->qualifier, slice_from_text(column));
        assert_true(found);
        count += found;
    }
    assert_int_equal(petal_result_count(result), count);
    petal_result_free(result);
}

/* The process dies now. */
static void
check_after_death(struct fixture *fixture, const struct writer *writers)
{
    struct memory_vfs *files = memory_vfs_clone(fixture->vfs);
    struct fixture after;

    memory_vfs_set_capacity(files, UINT64_MAX);
    fixture_init_on(&after, files, 9);
    fixture_must_open(&after);
    for (unsigned i = 0; i < WRITERS; i++)
        check_writer(after.db, &writers[i]);
    fixture_must_close(&after);
    fixture_fini(&after);
}

TEST(test_refused_groups_leave_nothing)
{
    struct writer *writers = test_allocate(WRITERS * sizeof *writers);
    struct test_random random;
    struct fixture fixture;
    petal_table *table;
    uint64_t refused = 0, acknowledged = 0;

    memset(writers, 0, WRITERS * sizeof *writers);
    test_random_init(&random, test_seed());
    fixture_init(&fixture, 5);
    fixture.options.log_sync_interval_ms = 3;
    fixture_must_open(&fixture);
    table = open_table(fixture.db);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs) +
                                                 test_random_below(&random, WRITERS * 1500));
        for (unsigned i = 0; i < WRITERS; i++) {
            writers[i].family = petal_table_family_at(table, 0);
            writers[i].index = i;
            assert_int_equal(pthread_create(&writers[i].thread, NULL, writer_thread, &writers[i]),
                             0);
        }
        for (unsigned i = 0; i < WRITERS; i++)
            pthread_join(writers[i].thread, NULL);
        for (unsigned i = 0; i < WRITERS; i++)
            check_writer(fixture.db, &writers[i]);
        check_after_death(&fixture, writers);
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        /* Brings what is in the buffer into the log; of another size, so that what follows lies in
         * other places. */
        MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("other"),
                       slice_make(NULL, 0), PETAL_LATEST, slice_make(NULL, 0), NULL, WHY));
        check_after_death(&fixture, writers);
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        assert_int_equal(writers[i].wrong, 0);
        refused += writers[i].refused;
        acknowledged += writers[i].attempted - writers[i].refused;
    }
    print_message("%" PRIu64 " writes, %" PRIu64 " refused\n", acknowledged, refused);
    assert_true(acknowledged > 0 && refused > 0);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
    free(writers);
}
