/*
 * room_test.c -- compactions ask for free space before they begin: one that the disk has no room
 * for writes nothing and tells the numbers, smaller ones go on, and it is done when there is room.
 */
#include "tests/engine/compact/background_fixture.h"

#include "base/clock.h"
#include "engine/compact/policy.h"
#include "engine/compact/room.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define FILES     10 /* as few as are merged in the background */
#define FILE_ROWS 20

_Static_assert(FILES == POLICY_MIN_RUNS, "a job in the background has all of them");

/* Files of the same rows, with values of so many bytes that do not compress. */
static void
put_files(struct place *place, size_t value_bytes)
{
    char *value = test_allocate(value_bytes + 1);

    value[value_bytes] = '\0';
    for (unsigned file = 0; file < FILES; file++) {
        for (unsigned i = 0; i < FILE_ROWS; i++) {
            char row[32];

            for (size_t k = 0; k < value_bytes; k++)
                value[k] = (char)('!' + test_random_below(&place->fixture.random, 90));
            snprintf(row, sizeof row, "row%02u %02u", i, file);
            compact_fixture_put(place->table, row, PETAL_LATEST, value);
        }
        compact_fixture_flush(place->fixture.db);
    }
    free(value);
}

/* A database with files and without compactions in the background; no two rows share a block. */
static void
open_with_files(struct place *place, size_t value_bytes)
{
    petal_family_options family = {.block_bytes = 2048};

    place_open(place, &family);
    place->fixture.options.no_compaction = true;
    place_reopen(place);
    put_files(place, value_bytes);
}

/* The disk has room for so many bytes more. */
static void
leave_room(struct fixture *fixture, uint64_t bytes)
{
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + bytes);
}

static void
must_be_told(const char *text, uint64_t bytes, uint64_t spared, uint64_t room)
{
    char wanted[200];

    snprintf(wanted, sizeof wanted,
             "a compaction may take %" PRIu64 " bytes and has to leave %" PRIu64 ", but %" PRIu64
             " are free in " FIXTURE_DIRECTORY,
             bytes, spared, room);
    if (strstr(text, wanted) == NULL)
        assert_string_equal(text, wanted);
}

/* Is refused, and not a call has changed anything. */
static void
must_refuse(struct place *place, uint64_t bytes, uint64_t spared, uint64_t room)
{
    uint64_t compactions = stats_of(place).compactions;
    petal_error error;

    leave_room(&place->fixture, room);
    memory_vfs_trace(place->fixture.vfs, true);
    assert_int_equal(petal_compact(place->table, NULL, &error), PETAL_NO_SPACE);
    for (size_t i = 0; i < memory_vfs_trace_count(place->fixture.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(place->fixture.vfs, i);

        assert_true(call.operation == MEMORY_VFS_FREE_BYTES || call.operation == MEMORY_VFS_READ);
    }
    memory_vfs_trace(place->fixture.vfs, false);
    must_be_told(error.text, bytes, spared, room);
    assert_string_equal(error.file, FIXTURE_DIRECTORY);
    assert_int_equal(stats_of(place).compactions, compactions);
}

/* One byte decides: of a small job, which has to leave as much as it takes, and of a large one. */
TEST(test_what_is_asked_for_is_refused_before_a_byte_is_written)
{
    static const size_t memtables[] = {(size_t)1 << 20, (size_t)64 << 10};

    for (size_t i = 0; i < sizeof memtables / sizeof *memtables; i++) {
        uint64_t spared = ROOM_SPARED_MEMTABLES * memtables[i], bytes;
        struct place place;

        open_with_files(&place, 4000);
        bytes = totals_of(&place).bytes;
        place.fixture.options.memtable_bytes = memtables[i];
        place_reopen(&place);
        assert_true((bytes < spared) == (i == 0));
        spared = bytes < spared ? bytes : spared;
        must_refuse(&place, bytes, spared, bytes + spared - 1);
        must_refuse(&place, bytes, spared, 0);
        assert_int_equal(totals_of(&place).runs, FILES);
        leave_room(&place.fixture, bytes + spared);
        MUST(petal_compact(place.table, NULL, WHY));
        assert_int_equal(totals_of(&place).runs, 1);
        assert_int_equal(totals_of(&place).cells, FILES * FILE_ROWS);
        MUST(petal_table_verify(place.table, WHY));
        fixture_fini(&place.fixture);
    }
}

/* There is room for some lines only. */
static void
forget_errors(struct kept_log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->errors[0] = '\0';
    pthread_mutex_unlock(&log->mutex);
}

/* The log tells the numbers. */
TEST(test_in_the_background_a_large_job_waits_and_small_ones_go_on)
{
    struct place place;
    petal_error error;
    uint64_t bytes;
    char text[100];

    open_with_files(&place, 4000);
    bytes = totals_of(&place).bytes;
    place.table = compact_fixture_table(&place.fixture, "small", NULL);
    put_files(&place, 10);
    place.fixture.options.no_compaction = false;
    petal_close(place.fixture.db, NULL);
    place.fixture.db = NULL;
    leave_room(&place.fixture, bytes / 2);
    place_reopen(&place);
    do {
        forget_errors(&place.log);
        assert_int_equal(petal_wait_idle(place.fixture.db, &error), PETAL_NO_SPACE);
    } while (stats_of(&place).compactions == 0);
    snprintf(text, sizeof text, "a compaction may take %" PRIu64 " bytes and has to leave ", bytes);
    assert_non_null(strstr(error.text, text));
    assert_non_null(strstr(error.text, " are free in " FIXTURE_DIRECTORY));
    assert_non_null(strstr(place.log.errors, "compaction failed, its files stay as they were: "));
    assert_non_null(strstr(place.log.errors, error.text));
    assert_int_equal(stats_of(&place).compactions, 1);
    assert_int_equal(totals_of(&place).runs, FILES);
    leave_room(&place.fixture, 2 * bytes);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 2);
    assert_int_equal(stats_of(&place).background_error.status, PETAL_OK);
    assert_int_equal(totals_of(&place).runs, 1);
    assert_int_equal(totals_of(&place).cells, FILES * FILE_ROWS);
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}

static void
wait_for_failures(struct place *place, uint64_t count)
{
    while (stats_of(place).background_failures < count)
        clock_sleep(1000);
}

/* However often a flush let it be tried, it is done soon after there is room, and nobody asks. */
TEST(test_what_failed_often_goes_on_when_there_is_room)
{
    static const uint64_t flush_bytes = 40000;
    petal_table *other;
    struct place place;
    uint64_t until;

    open_with_files(&place, 4000);
    (void)compact_fixture_table(&place.fixture, "other", NULL);
    place.fixture.options.no_compaction = false;
    petal_close(place.fixture.db, NULL);
    place.fixture.db = NULL;
    leave_room(&place.fixture, flush_bytes);
    place_reopen(&place);
    MUST(petal_table_open(place.fixture.db, slice_from_text("other"), &other, WHY));
    wait_for_failures(&place, 1);
    for (unsigned i = 0; i < FILES - 1; i++) {
        uint64_t failures = stats_of(&place).background_failures;

        forget_errors(&place.log);
        compact_fixture_put(other, "row", PETAL_LATEST, "value");
        compact_fixture_flush(place.fixture.db);
        wait_for_failures(&place, failures + 1);
        leave_room(&place.fixture, flush_bytes);
    }
    forget_errors(&place.log);
    leave_room(&place.fixture, UINT32_MAX);
    until = clock_us() + 60000000;
    while (stats_of(&place).compactions == 0 && clock_us() < until)
        clock_sleep(1000);
    assert_int_equal(stats_of(&place).compactions, 1);
    assert_int_equal(stats_of(&place).background_error.status, PETAL_OK);
    fixture_fini(&place.fixture);
}

/* Each region rewrites its own rows of the files, and needs room for those: the first for a quarter
 * of them, which it leaves beside them, and the second for the others. */
TEST(test_of_a_shared_file_the_share_of_the_region_counts)
{
    for (unsigned enough = 0; enough < 2; enough++) {
        struct place place;
        uint64_t bytes, room;

        open_with_files(&place, 4000);
        bytes = totals_of(&place).bytes;
        room = bytes / 4 + 2 * (bytes * 3 / 4);
        MUST(petal_table_split(place.table, slice_from_text("row05"), 0, WHY));
        leave_room(&place.fixture, enough ? room + bytes / 10 : room - bytes / 10);
        assert_int_equal(petal_compact(place.table, NULL, NULL),
                         enough ? PETAL_OK : PETAL_NO_SPACE);
        assert_int_equal(stats_of(&place).compactions, enough ? 2 : 1);
        MUST(petal_table_verify(place.table, WHY));
        fixture_fini(&place.fixture);
    }
}

/* ---- file layers that do not tell ---- */

static void
fail_free_bytes(void *vfs, const struct memory_vfs_call *call, const void *bytes)
{
    (void)bytes;
    if (call->operation == MEMORY_VFS_FREE_BYTES)
        memory_vfs_fail_at(vfs, 1, EIO, false);
}

/* Then one begins, and fails where the disk is full; or does not. */
TEST(test_where_nobody_knows_a_job_begins)
{
    for (unsigned fails = 0; fails < 2; fails++) {
        struct place place;
        petal_vfs layer;
        petal_error error;

        open_with_files(&place, 1000);
        petal_close(place.fixture.db, NULL);
        place.fixture.db = NULL;
        layer = *place.fixture.env.vfs;
        if (fails)
            memory_vfs_watch(place.fixture.vfs, fail_free_bytes, place.fixture.vfs);
        else
            layer.free_bytes = NULL;
        place.fixture.env.vfs = &layer;
        place_reopen(&place);
        leave_room(&place.fixture, totals_of(&place).bytes / 2);
        assert_int_equal(petal_compact(place.table, NULL, &error), PETAL_NO_SPACE);
        assert_int_equal(error.os_error, ENOSPC);
        assert_int_equal(totals_of(&place).runs, FILES);
        assert_true(fixture_directory_is_clean(&place.fixture));
        /* As much as is written, and not what has to be left. */
        leave_room(&place.fixture, totals_of(&place).bytes * 11 / 10);
        MUST(petal_compact(place.table, NULL, WHY));
        assert_int_equal(totals_of(&place).runs, 1);
        assert_int_equal(memory_vfs_failures(place.fixture.vfs), fails ? 2 : 0);
        fixture_fini(&place.fixture);
    }
}

/* ---- beside others ---- */

struct beside {
    struct place place;
    petal_table *other;
    bool armed;
    enum petal_status status;
    petal_error error;
};

/* A compaction looks at the clock when it has taken room and has not begun to write. */
static int64_t
look_and_compact(void *context)
{
    struct beside *beside = context;

    if (beside->armed) {
        beside->armed = false;
        beside->status = petal_compact(beside->other, NULL, &beside->error);
    }
    return test_clock_ms(&beside->place.fixture.clock);
}

/* Of two jobs with room for one of them the second waits; when that has ended, it has the room. */
TEST(test_what_a_job_will_write_is_not_free_for_others)
{
    for (unsigned enough = 0; enough < 2; enough++) {
        struct beside beside = {.armed = false};
        struct place *place = &beside.place;
        uint64_t bytes, others, room;

        open_with_files(place, 4000);
        petal_close(place->fixture.db, NULL);
        place->fixture.db = NULL;
        place->fixture.env.clock_context = &beside;
        place->fixture.env.clock_ms = look_and_compact;
        place_reopen(place);
        bytes = totals_of(place).bytes;
        beside.other = place->table;
        place->table = compact_fixture_table(&place->fixture, "t2", NULL);
        put_files(place, 4000);
        others = totals_of(place).bytes;
        room = 2 * bytes + others;
        leave_room(&place->fixture, enough ? room : --room);
        beside.armed = true;
        MUST(petal_compact(place->table, NULL, WHY));
        assert_false(beside.armed);
        if (enough) {
            must(beside.status, &beside.error);
        } else {
            assert_int_equal(beside.status, PETAL_NO_SPACE);
            must_be_told(beside.error.text, bytes, bytes + others, room);
            leave_room(&place->fixture, 2 * bytes);
            MUST(petal_compact(beside.other, NULL, WHY));
        }
        assert_int_equal(stats_of(place).compactions, 2);
        fixture_fini(&place->fixture);
    }
}
