/*
 * slow_disk_test.c -- readers that wait for a disk, more of them than the epoch has slots,
 * hold up nobody else: not those whose blocks are in memory, nor writers, nor the release of what
 * is evicted meanwhile. The answer of a wide row is not made in one stay inside the epoch.
 */

#include "base/epoch.h"
#include "engine/state/db.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define READERS     (EPOCH_SLOTS + 16)
#define COLD_ROWS   4000u
#define VALUE_BYTES 1000

/* ---- a disk that stops ---- */

/* Reads of some threads wait until they may go on. */
static struct disk {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned waiting;
    bool stopped;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local bool reads_slowly;

static void
wait_for_disk(void *unused, enum memory_vfs_operation operation)
{
    (void)unused;
    if (!reads_slowly || operation != MEMORY_VFS_READ)
        return;
    pthread_mutex_lock(&disk.mutex);
    disk.waiting++;
    pthread_cond_broadcast(&disk.changed);
    while (disk.stopped)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    disk.waiting--;
    pthread_mutex_unlock(&disk.mutex);
}

static void
disk_stop(bool stop)
{
    pthread_mutex_lock(&disk.mutex);
    disk.stopped = stop;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

/* False: not so many have come to wait in a long time. */
static bool
disk_await(unsigned readers)
{
    struct timespec until;
    bool all;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 120;
    pthread_mutex_lock(&disk.mutex);
    while (disk.waiting < readers &&
           pthread_cond_timedwait(&disk.changed, &disk.mutex, &until) != ETIMEDOUT)
        ;
    all = disk.waiting >= readers;
    pthread_mutex_unlock(&disk.mutex);
    return all;
}

/* ---- a database on it ---- */

struct slow_disk_fixture {
    struct read_fixture reads;
    petal_family *family;
};

static petal_slice
name_row(char name[16], unsigned row)
{
    return slice_make(name, (size_t)snprintf(name, 16, "row%06u", row));
}

static void
fill(struct slow_disk_fixture *fixture)
{
    static char value[VALUE_BYTES];
    petal_batch *batch;
    char name[16];

    MUST(petal_batch_new(fixture->reads.base.db, &batch, WHY));
    for (unsigned row = 0; row < COLD_ROWS; row++) {
        MUST(petal_batch_put(batch, fixture->family, name_row(name, row), text("q"), 1,
                             slice_make(value, sizeof value), WHY));
        if (petal_batch_count(batch) == 100 || row + 1 == COLD_ROWS) {
            MUST(petal_write(fixture->reads.base.db, batch, NULL, WHY));
            petal_batch_clear(batch);
        }
    }
    petal_batch_free(batch);
    reads_flush(&fixture->reads);
}

static void
begin(struct slow_disk_fixture *fixture, enum petal_bloom_type bloom)
{
    petal_family_options family = {.name = text("f"), .bloom = bloom, .block_bytes = 4096};
    petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};
    struct fixture *base = &fixture->reads.base;

    fixture_init(base, 1);
    memory_vfs_pause(base->vfs, wait_for_disk, NULL);
    base->options.cache_bytes = (size_t)1 << 19;
    base->options.memtable_bytes = (size_t)64 << 20;
    fixture_must_open(base);
    MUST(petal_table_create(base->db, &options, &fixture->reads.table, WHY));
    fixture->family = petal_table_family_at(fixture->reads.table, 0);
    fill(fixture);
}

/* ---- readers ---- */

enum way { WAY_GET, WAY_COLUMN, WAY_MULTI_GET, WAY_SCAN, WAY_COLUMN_SCAN, WAYS };

struct reader {
    pthread_t thread;
    struct slow_disk_fixture *fixture;
    enum way way;
    unsigned row;
    size_t cells;
    enum petal_status status;
    petal_error error;
};

static void
scan_from(struct reader *reader, const petal_read_options *read)
{
    char name[16];
    petal_scan_options options = {.read = *read, .start_row = name_row(name, reader->row)};
    petal_cursor *cursor;
    const petal_cell *cell;

    options.row_limit = 2;
    reader->status =
        petal_cursor_open(reader->fixture->reads.table, &options, &cursor, &reader->error);
    while (reader->status == PETAL_OK) {
        reader->status = petal_cursor_next(cursor, &cell, &reader->error);
        if (reader->status != PETAL_OK || cell == NULL)
            break;
        reader->cells++;
    }
    petal_cursor_close(cursor);
}

static void
get_rows(struct reader *reader, const petal_read_options *read)
{
    petal_result *results[2];
    petal_slice rows[2];
    char names[2][16];

    for (unsigned i = 0; i < 2; i++) {
        results[i] = reads_result(&reader->fixture->reads);
        rows[i] = name_row(names[i], reader->row + i * 20);
    }
    if (reader->way == WAY_MULTI_GET)
        reader->status =
            petal_multi_get(reader->fixture->reads.table, rows, 2, read, results, &reader->error);
    else
        reader->status =
            petal_get(reader->fixture->reads.table, rows[0], read, results[0], &reader->error);
    for (unsigned i = 0; i < 2; i++) {
        reader->cells += petal_result_count(results[i]);
        petal_result_free(results[i]);
    }
}

static void *
run_reader(void *argument)
{
    struct reader *reader = argument;
    petal_column column = {.family = reader->fixture->family, .qualifier = text("q")};
    petal_read_options read = {0};

    reads_slowly = true;
    if (reader->way == WAY_COLUMN || reader->way == WAY_COLUMN_SCAN) {
        read.columns = &column;
        read.column_count = 1;
    }
    if (reader->way == WAY_SCAN || reader->way == WAY_COLUMN_SCAN)
        scan_from(reader, &read);
    else
        get_rows(reader, &read);
    return NULL;
}

static void
start_readers(struct slow_disk_fixture *fixture, struct reader *readers)
{
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.fixture = fixture, .way = i % WAYS, .row = 1000 + i * 30};
        assert_int_equal(pthread_create(&readers[i].thread, NULL, run_reader, &readers[i]), 0);
    }
}

static void
join_readers(struct reader *readers)
{
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        must(readers[i].status, &readers[i].error);
        assert_int_equal(readers[i].cells,
                         readers[i].way == WAY_GET || readers[i].way == WAY_COLUMN ? 1 : 2);
    }
}

/* Gets and scans that find what they need, or read it themselves; writes, which put nothing where
 * the readers read. */
static void
work_meanwhile(struct slow_disk_fixture *fixture)
{
    char name[16];

    for (unsigned i = 0; i < 3; i++) {
        petal_cursor *cursor = reads_cursor(&fixture->reads, NULL);

        for (unsigned row = 0; row < COLD_ROWS; row++)
            assert_true(*reads_next(cursor) != 0);
        petal_cursor_close(cursor);
    }
    for (unsigned row = 0; row < 900; row++)
        assert_true(*reads_get(&fixture->reads, name_row(name, row), NULL) != 0);
    reads_put(&fixture->reads, "f", text("a new row"), text("q"), 1, text("value"));
    reads_flush(&fixture->reads);
}

TEST(test_readers_of_a_stopped_disk_hold_up_nobody)
{
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                   PETAL_BLOOM_ROWCOL};

    for (unsigned i = 0; i < 3; i++) {
        static struct reader readers[READERS];
        struct slow_disk_fixture fixture;
        uint64_t before;
        bool all;

        begin(&fixture, blooms[i]);
        work_meanwhile(&fixture);
        before = test_allocator_live_bytes(&fixture.reads.base.allocator);
        test_allocator_forget_peak(&fixture.reads.base.allocator);
        disk_stop(true);
        start_readers(&fixture, readers);
        all = disk_await(READERS);
        if (all)
            work_meanwhile(&fixture);
        disk_stop(false);
        join_readers(readers);
        if (!all)
            fail_msg("not all readers have come to the disk");
        /* Some 13 MB of blocks were read beside them, through a cache of 512 KiB: what was evicted
         * has gone. */
        assert_true(test_allocator_peak_bytes(&fixture.reads.base.allocator) <
                    before + ((uint64_t)3 << 20));
        fixture_fini(&fixture.reads.base);
    }
}

/* ---- wide rows ---- */

#define WIDE_COLUMNS 20000u

/* At the first allocation something is retired; is it released before the last one? */
static struct watch {
    const petal_allocator *allocator;
    struct epoch *epoch;
    struct epoch_item item;
    bool retired, released;
} watch;

static void
note_release(struct epoch_item *item)
{
    assert(item == &watch.item);
    watch.released = true;
}

static void *
watched_allocate(void *context, size_t alignment, size_t size)
{
    (void)context;
    if (watch.epoch != NULL && !watch.retired) {
        watch.retired = true;
        watch.item.release = note_release;
        epoch_defer(watch.epoch, &watch.item);
    } else if (watch.epoch != NULL) {
        epoch_collect(watch.epoch);
    }
    return watch.allocator->allocate(watch.allocator->context, alignment, size);
}

static void
watched_release(void *context, void *memory, size_t size)
{
    (void)context;
    watch.allocator->release(watch.allocator->context, memory, size);
}

/* The answer of a narrow row is made in one stay inside the epoch, that of a wide one not, from
 * memory and from files. */
TEST(test_answers_of_many_cells_are_made_in_many_stays)
{
    static const petal_allocator watched = {.allocate = watched_allocate,
                                            .release = watched_release};

    for (unsigned columns = 10; columns <= WIDE_COLUMNS; columns = WIDE_COLUMNS * columns / 10) {
        struct read_fixture fixture = {0};
        petal_family_options family = {.name = text("f")};
        petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};

        fixture_init(&fixture.base, 1);
        watch = (struct watch){.allocator = fixture.base.env.allocator};
        fixture.base.env.allocator = &watched;
        fixture.base.options.no_compaction = true;
        fixture.base.options.cache_bytes = (size_t)64 << 20; /* no reads that interrupt a stay */
        fixture_must_open(&fixture.base);
        MUST(petal_table_create(fixture.base.db, &options, &fixture.table, WHY));
        for (unsigned flushed = 0; flushed < 2; flushed++) {
            petal_result *result = reads_result(&fixture);
            char name[16];

            for (unsigned i = flushed; i < columns; i += 2)
                reads_put(&fixture, "f", text("row"), name_row(name, i), 1, name_row(name, i));
            if (flushed == 0)
                reads_flush(&fixture);
            MUST(petal_get(fixture.table, text("row"), NULL, result, WHY));
            petal_result_free(result);
            result = reads_result(&fixture);
            watch.retired = watch.released = false;
            watch.epoch = fixture.base.db->epoch;
            MUST(petal_get(fixture.table, text("row"), NULL, result, WHY));
            watch.epoch = NULL;
            assert_true(watch.retired);
            assert_int_equal(watch.released, columns > 1000);
            epoch_collect(fixture.base.db->epoch);
            assert_true(watch.released);
            assert_int_equal(petal_result_count(result), flushed == 0 ? columns / 2 : columns);
            for (unsigned i = 0; i < petal_result_count(result); i++) {
                const petal_cell *cell = petal_result_cell(result, i);

                assert_true(slice_equal(cell->qualifier, name_row(name, flushed ? i : 2 * i)));
                assert_true(slice_equal(cell->value, cell->qualifier));
            }
            petal_result_free(result);
        }
        fixture_fini(&fixture.base);
        if (columns == WIDE_COLUMNS)
            break;
    }
}
