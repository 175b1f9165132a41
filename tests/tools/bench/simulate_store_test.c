/* simulate_store_test.c -- a region's files as sizes, with values that can be computed by hand. */
#include "tests/support/test.h"
#include "tools/bench/simulate/store.h"

/* A small file is one of less than 100 bytes. */
static const struct simulate_settings tiny = {
    .memtable_bytes = 800, .cell_bytes = 1, .stored = 1, .keys = 0x1p64};

static void
begin(struct simulate_store *store, struct simulate_disk *disk)
{
    *disk = (struct simulate_disk){0};
    simulate_store_init(store, &tiny, disk);
}

static void
replace_all(struct simulate_store *store, struct simulate_work *work)
{
    *work = simulate_store_replace(store, 0, store->count, true);
}

TEST(runs_that_share_rows_are_rewritten)
{
    struct simulate_disk disk;
    struct simulate_store store;
    struct simulate_work work, planned;

    begin(&store, &disk);
    for (int i = 0; i < 3; i++)
        simulate_store_add(&store, 0, UINT64_MAX, 200);
    assert_true(disk.bytes == 600 && disk.files == 3);
    assert_true(simulate_store_runs_met(&store) == 3);
    planned = simulate_store_plan(&store, 0, 3);
    replace_all(&store, &work);
    assert_true(work.read == 600 && work.written == 600 && work.files == 1);
    assert_memory_equal(&work, &planned, sizeof work);
    assert_true(disk.bytes == 600 && disk.files == 1);
    assert_int_equal(store.count, 1);
    assert_int_equal(store.runs[0].bytes, 600);
    assert_true(store.runs[0].all_files);
    simulate_store_fini(&store);
    assert_true(disk.bytes == 0 && disk.files == 0);
}

TEST(files_in_order_are_linked)
{
    struct simulate_disk disk;
    struct simulate_store store;
    struct simulate_work work;

    begin(&store, &disk);
    for (uint64_t i = 0; i < 3; i++)
        simulate_store_add(&store, 200 * i, 200 * i + 199, 200);
    assert_true(simulate_store_runs_met(&store) == 1);
    replace_all(&store, &work);
    assert_true(work.read == 0 && work.written == 0 && work.files == 0);
    assert_int_equal(store.count, 1);
    assert_int_equal(store.slice_count, 3);
    simulate_store_fini(&store);
}

/* Of n keys two draws of n / 2 hold three quarters. */
TEST(overwrites_are_merged_away)
{
    struct simulate_settings settings = tiny;
    struct simulate_disk disk = {0};
    struct simulate_store store;
    struct simulate_work work;

    settings.order = SIMULATE_OVERWRITE;
    settings.keys = 1000;
    simulate_store_init(&store, &settings, &disk);
    simulate_store_add(&store, 0, UINT64_MAX, 500);
    simulate_store_add(&store, 0, UINT64_MAX, 500);
    assert_true(simulate_store_live(&store) == 750);
    replace_all(&store, &work);
    assert_true(work.read == 1000 && work.written == 750);
    assert_true(simulate_store_live(&store) == 750);
    simulate_store_fini(&store);
}

/* The middle is that of the bytes; the file across it is shared until both halves were
 * rewritten. */
TEST(a_file_across_the_border_is_shared)
{
    struct simulate_disk disk;
    struct simulate_store store, upper;
    struct simulate_work work;
    uint64_t row;

    begin(&store, &disk);
    simulate_store_add(&store, 0, 99, 1000);
    simulate_store_add(&store, 100, 199, 1000);
    simulate_store_add(&store, 200, 299, 1000);
    assert_true(simulate_store_middle(&store, &row));
    assert_int_equal(row, 150);
    simulate_store_split(&store, &upper, row);
    assert_ptr_equal(store.next, &upper);
    assert_true(store.last == 149 && upper.first == 150 && upper.last == UINT64_MAX);
    assert_true(store.count == 2 && upper.count == 2);
    assert_true(simulate_store_bytes(&store) == 1500 && simulate_store_bytes(&upper) == 1500);
    assert_true(disk.bytes == 3000 && disk.files == 3);
    /* Only the shared one is rewritten; half of it is of no more use to anyone. */
    replace_all(&store, &work);
    assert_true(work.written == 500 && store.slice_count == 2);
    assert_true(disk.bytes == 3500 && disk.files == 4);
    replace_all(&upper, &work);
    assert_true(work.written == 500);
    assert_true(disk.bytes == 3000 && disk.files == 4);
    simulate_store_fini(&store);
    simulate_store_fini(&upper);
    assert_true(disk.bytes == 0 && disk.files == 0);
}

TEST(one_row_has_no_middle)
{
    struct simulate_disk disk;
    struct simulate_store store;
    uint64_t row;

    begin(&store, &disk);
    assert_false(simulate_store_middle(&store, &row));
    simulate_store_add(&store, 0, 0, 1000);
    assert_false(simulate_store_middle(&store, &row));
    simulate_store_fini(&store);
}

/* Halves that grow alike are one store of twice the weight: the disk holds what it held. */
TEST(a_halved_store_counts_twice)
{
    struct simulate_disk disk;
    struct simulate_store store;
    struct simulate_work work;

    begin(&store, &disk);
    simulate_store_add(&store, 0, UINT64_MAX, 1000);
    simulate_store_add(&store, 0, UINT64_MAX, 200);
    simulate_store_halve(&store, (uint64_t)1 << 63);
    assert_true(store.weight == 2 && store.last == UINT64_MAX / 2);
    assert_int_equal(simulate_store_bytes(&store), 600);
    assert_true(disk.bytes == 1200);
    replace_all(&store, &work);
    assert_true(work.written == 600);
    assert_true(disk.bytes == 1200 && disk.files == 2);
    simulate_store_fini(&store);
    assert_true(disk.bytes == 0 && disk.files == 0);
}
