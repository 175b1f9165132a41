/*
 * file_test.c -- the write-ahead log: what was written comes back, whole and in order; nothing else
 * ever does; and what a sync had promised is either there or its loss is reported. Power cuts and
 * failing reads: tests/crash/sequence_test.c, tests/crash/failure_sites_test.c.
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"
#include "tests/disk/paths.h"
#include "tests/engine/wal/fixture.h"
#include "tests/support/test.h"

#define NO_PROMISE ((struct wal_promise){0, 0})
#define LOG_1      WAL_FIXTURE_DIRECTORY "/000001.log"
#define GOLDEN     "tests/engine/wal/golden/wal-v1.log"

static void
store(struct wal_file *wal)
{
    petal_error error;

    assert_int_equal(wal_file_store(wal, &error), PETAL_OK);
}

static void
store_and_sync(struct wal_file *wal)
{
    petal_error error;

    store(wal);
    assert_int_equal(wal_file_sync(wal, &error), PETAL_OK);
}

static void
expect_all(struct wal_fixture *fixture)
{
    struct wal_replay replay;
    petal_error error;
    size_t count;

    assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                     PETAL_OK);
    assert_int_equal(count, fixture->written);
    assert_int_equal(replay.records, fixture->written);
    assert_int_equal(replay.dropped_bytes, 0);
}

static void
expect_corrupt(struct wal_fixture *fixture, struct wal_promise promise, const char *file)
{
    struct wal_replay replay;
    petal_error error;
    size_t count;

    assert_int_equal(wal_fixture_replay(fixture, NULL, promise, &replay, &count, &error),
                     PETAL_CORRUPT);
    assert_string_equal(error.file, file);
}

/* ---- round trips ---- */

TEST_WITH(test_sizes_come_back, wal_fixture_setup, wal_fixture_teardown)
{
    static const size_t sizes[] = {0,     1,     7,     100,   32679, 32680, 32681,   32744,
                                   32745, 65000, 98304, 65536, 0,     5,     3 << 20, 20,
                                   32761, 32762, 32763, 65510, 65520, 1};
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);

    for (size_t synced = 0; synced < 2; synced++) { /* without promises, and with */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            wal_fixture_add(fixture, wal, sizes[i]);
            if (i % 3 == 0)
                store(wal);
        }
        store_and_sync(wal);
    }
    store(wal);
    assert_int_equal(wal_file_stored_sequence(wal), fixture->written);
    wal_file_close(wal);
    expect_all(fixture);
}

/* A record at every distance from the end of a frame, small ones and one that crosses. */
TEST_WITH(test_every_place_in_a_frame, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);

    for (size_t synced = 0; synced < 2; synced++) { /* without promises, and with */
        for (size_t left = 0; left < 60; left++) {
            uint64_t at = (wal_file_length(wal) + wal_file_mark(wal).used) % WAL_FRAME_BYTES;
            size_t filler = (2 * WAL_FRAME_BYTES - (size_t)at - left - 14) % WAL_FRAME_BYTES;

            wal_fixture_add(fixture, wal, filler);
            wal_fixture_add(fixture, wal, left % 5);
            wal_fixture_add(fixture, wal, left % 2 == 0 ? 3 : 40000);
            store(wal);
            if (synced > 0 && left % 3 == 0)
                store_and_sync(wal);
        }
        store_and_sync(wal);
    }
    wal_file_close(wal);
    expect_all(fixture);
}

TEST_WITH(test_random_sizes, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);
    struct test_random random;

    test_random_init(&random, test_seed());
    for (size_t i = 0; i < 2000; i++) {
        uint64_t most = test_random_chance(&random, 5) ? 100000 : 300;

        wal_fixture_add(fixture, wal, test_random_below(&random, most));
        if (test_random_chance(&random, 30))
            store(wal);
        if (test_random_chance(&random, 5))
            store_and_sync(wal);
    }
    store(wal);
    wal_file_close(wal);
    expect_all(fixture);
}

TEST_WITH(test_gathered_records_are_stored_by_one_call, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);
    uint64_t calls = memory_vfs_calls(fixture->vfs);

    for (size_t i = 0; i < 100; i++)
        wal_fixture_add(fixture, wal, 1000);
    assert_int_equal(memory_vfs_calls(fixture->vfs), calls);
    store(wal);
    assert_int_equal(memory_vfs_calls(fixture->vfs), calls + 1);
    store(wal); /* nothing to do */
    assert_int_equal(memory_vfs_calls(fixture->vfs), calls + 1);
    wal_file_close(wal);
    expect_all(fixture);
}

TEST_WITH(test_a_record_begun_and_not_ended_is_forgotten, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);

    wal_fixture_add(fixture, wal, 10);
    memset(wal_file_begin(wal, 50000), 0xAA, 50000);
    wal_fixture_add(fixture, wal, 20);
    store(wal);
    wal_file_close(wal);
    expect_all(fixture);
}

/* ---- damage ---- */

/* The bytes of log 1 and what was true when they were written. */
struct written_log {
    uint8_t *bytes;
    size_t size;
    uint64_t ends[64]; /* of the records */
    size_t records;
    uint64_t promised; /* the greatest promise in a record */
    uint64_t promise_at;
};

/* Records in two frames, one of them over the border; three syncs, records after the last. */
static void
write_log(struct wal_fixture *fixture, struct written_log *log)
{
    static const size_t sizes[] = {10, 0, 200, 32000, 60, 1500, 33, 17, 90, 1, 40};
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);

    memset(log, 0, sizeof *log);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        log->promised = wal_file_synced_length(wal);
        log->promise_at = wal_file_length(wal);
        wal_fixture_add(fixture, wal, sizes[i]);
        store(wal);
        log->ends[log->records++] = wal_file_length(wal);
        if (i == 1 || i == 5 || i == 8)
            store_and_sync(wal);
    }
    wal_file_close(wal);
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &log->bytes, &log->size), 0);
    assert_true(log->size > WAL_FRAME_BYTES);
}

/* How many records end at or before `offset`. */
static size_t
records_below(const struct written_log *log, uint64_t offset)
{
    size_t count = 0;

    while (count < log->records && log->ends[count] <= offset)
        count++;
    return count;
}

/* Bytes inside the large record are all alike: a part of them is enough. */
static size_t
next_place(size_t at)
{
    return at >= 400 && at < 32500 && !test_long() ? at + 37 : at + 1;
}

TEST_WITH(test_every_truncation, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct written_log log;

    write_log(fixture, &log);
    for (size_t size = 0; size < log.size; size = next_place(size)) {
        struct wal_promise promise = {1, log.promised};
        struct wal_replay replay;
        petal_error error;
        size_t count;

        assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, log.bytes, size), 0);
        assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                         PETAL_OK);
        assert_int_equal(count, records_below(&log, size));
        assert_int_equal(wal_fixture_replay(fixture, NULL, promise, &replay, &count, &error),
                         size < log.promised ? PETAL_CORRUPT : PETAL_OK);
    }
    free(log.bytes);
}

/* The size reached the disk, the data did not: zeros or old bytes after the end. */
TEST_WITH(test_what_lies_behind_the_end_is_dropped, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct written_log log;
    uint8_t *longer;

    write_log(fixture, &log);
    longer = malloc(log.size + 100000);
    for (int fill = 0; fill < 256; fill += 51) {
        struct wal_replay replay;
        petal_error error;
        size_t count;

        memcpy(longer, log.bytes, log.size);
        memset(longer + log.size, fill, 100000);
        assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, longer, log.size + 100000), 0);
        assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                         PETAL_OK);
        assert_int_equal(count, fixture->written);
        assert_int_equal(replay.dropped_bytes,
                         fill == 0 ? 0 : 100000); /* zeros were never stored */
        assert_int_equal(replay.end.log_number, 1);
        assert_int_equal(replay.end.length, log.size);
    }
    free(longer);
    free(log.bytes);
}

/* Fragments moved by whole frames keep their bytes but not their place. */
TEST_WITH(test_a_frame_in_another_place_is_bad, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_replay replay;
    petal_error error;
    uint8_t *bytes;
    size_t size, count;

    for (size_t i = 0; i < 40; i++)
        wal_fixture_add(fixture, wal, WAL_FRAME_BYTES / 8 - WAL_FRAGMENT_LEAST_BYTES);
    store(wal);
    wal_file_close(wal);
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &bytes, &size), 0);
    memmove(bytes + 2 * WAL_FRAME_BYTES, bytes + 3 * WAL_FRAME_BYTES, WAL_FRAME_BYTES);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, bytes, size), 0);
    free(bytes);
    assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                     PETAL_OK);
    assert_int_equal(count, 15);
}

/* Put a fragment with a right checksum at `at` of log 1's bytes; returns the byte after it. */
static size_t
put_fragment(uint8_t *log, size_t at, enum wal_fragment_kind kind, size_t payload_bytes)
{
    wal_fragment_seal(log + at, wal_seed(WAL_FIXTURE_IDENTITY, 1), at, kind, 0, payload_bytes);
    return at + wal_fragment_header_bytes(kind, 0) + payload_bytes;
}

/* Fragments with right checksums in an order that no writer makes: the record that they break
 * begins the tail. */
TEST_WITH(test_fragments_out_of_order_are_bad, wal_fixture_setup, wal_fixture_teardown)
{
    static const enum wal_fragment_kind orders[][3] = {
        {WAL_MIDDLE, WAL_LAST, WAL_FULL},  {WAL_LAST, WAL_FULL, WAL_FULL},
        {WAL_FIRST, WAL_FULL, WAL_FULL},   {WAL_FIRST, WAL_FIRST, WAL_LAST},
        {WAL_FIRST, WAL_MIDDLE, WAL_FULL},
    };
    struct wal_fixture *fixture = *state;
    struct written_log log;

    wal_file_close(wal_fixture_must_create(fixture, 1, NULL));
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &log.bytes, &log.size), 0);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        uint8_t *bytes = calloc(1, 3 * WAL_FRAME_BYTES);
        size_t at = WAL_HEADER_BYTES;
        struct wal_replay replay;
        petal_error error;
        size_t count;

        assert_non_null(bytes);
        memcpy(bytes, log.bytes, log.size);
        for (size_t k = 0; k < 3; k++) {
            bool fills = orders[i][k] == WAL_FIRST || orders[i][k] == WAL_MIDDLE;

            at = put_fragment(bytes, at, orders[i][k],
                              fills ? wal_frame_left(at) - WAL_FRAGMENT_MARKED_BYTES : 9);
        }
        assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, bytes, at), 0);
        assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                         PETAL_OK);
        assert_int_equal(count, 0);
        assert_int_equal(replay.end.length, WAL_HEADER_BYTES);
        free(bytes);
    }
    free(log.bytes);
}

/* ---- several logs ---- */

/* Logs 1, 2, 3 with four records each, the earlier ones synced. */
static void
write_three_logs(struct wal_fixture *fixture)
{
    struct wal_file *before = NULL;

    for (uint64_t number = 1; number <= 3; number++) {
        struct wal_file *wal = wal_fixture_must_create(fixture, number, before);

        wal_file_close(before);
        for (size_t i = 0; i < 4; i++)
            wal_fixture_add(fixture, wal, 50 * i);
        store_and_sync(wal);
        before = wal;
    }
    wal_file_close(before);
}

static void
rewrite(struct wal_fixture *fixture, const char *path, void (*change)(uint8_t *bytes, size_t *size))
{
    uint8_t *bytes;
    size_t size;

    assert_int_equal(memory_vfs_read_file(fixture->vfs, path, &bytes, &size), 0);
    change(bytes, &size);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, path, bytes, size), 0);
    free(bytes);
}

static void
cut_a_byte(uint8_t *bytes, size_t *size)
{
    (void)bytes;
    --*size;
}

static void
make_newer(uint8_t *bytes, size_t *size)
{
    (void)size;
    put_le32(bytes + 8, WAL_VERSION + 1);
    put_le64(bytes + WAL_HEADER_CHECKSUM, wal_header_checksum(bytes, WAL_HEADER_BYTES));
}

#define LOG_2 WAL_FIXTURE_DIRECTORY "/000002.log"
#define LOG_3 WAL_FIXTURE_DIRECTORY "/000003.log"
#define LOG_5 WAL_FIXTURE_DIRECTORY "/000005.log"

/* What becomes of the three logs, what the manifest says of them, and what a replay then gives. */
static const struct {
    const char *name;
    const char *removed, *from, *to;              /* NULL: none; from is renamed */
    void (*change)(uint8_t *bytes, size_t *size); /* of log 1; NULL: none */
    uint64_t other_database, oldest, obsolete;
    struct wal_promise promise;
    enum petal_status status;
    size_t records;
    const char *file, *says; /* of the error */
} chains[] = {
    {.name = "all are there", .oldest = 1, .records = 12},
    {.name = "a missing log",
     .removed = LOG_2,
     .oldest = 1,
     .status = PETAL_CORRUPT,
     .file = LOG_2},
    {.name = "a missing log that the manifest names",
     .removed = LOG_3,
     .oldest = 1,
     .promise = {3, 100},
     .status = PETAL_CORRUPT,
     .file = LOG_3},
    {.name = "obsolete logs are not looked at",
     .removed = LOG_2,
     .oldest = 4,
     .promise = {2, 1000000}},
    {.name = "a log that went too early: a later one knows where it ended",
     .oldest = 3,
     .obsolete = 7,
     .status = PETAL_CORRUPT,
     .file = LOG_3,
     .says = "log 2, which ends with sequence 8;"},
    {.name = "a log that ended with what is in store files",
     .oldest = 3,
     .obsolete = 8,
     .records = 4},
    {.name = "a log that is shorter than the next one says",
     .change = cut_a_byte,
     .oldest = 1,
     .status = PETAL_CORRUPT,
     .file = LOG_1},
    {.name = "a log of another database",
     .other_database = 1,
     .oldest = 1,
     .status = PETAL_CORRUPT,
     .says = "belongs to database"},
    {.name = "a newer format", .change = make_newer, .oldest = 1, .status = PETAL_UNSUPPORTED},
    /* What stands there is not its own: it counts as torn where nothing was promised of it. */
    {.name = "a log under another name", .from = LOG_3, .to = LOG_5, .oldest = 1, .records = 8},
    {.name = "a log under another name, of which something was promised",
     .from = LOG_3,
     .to = LOG_5,
     .oldest = 1,
     .promise = {5, WAL_HEADER_BYTES},
     .status = PETAL_CORRUPT,
     .file = LOG_5},
};

TEST(logs_are_one_chain)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        struct wal_fixture fixture;
        const petal_vfs *vfs;
        struct wal_replay replay = {.directory = &fixture.directory,
                                    .database_identity =
                                        WAL_FIXTURE_IDENTITY + chains[i].other_database,
                                    .oldest_log = chains[i].oldest,
                                    .obsolete_sequence = chains[i].obsolete,
                                    .promise = chains[i].promise};
        petal_error error = {0};
        enum petal_status status;

        wal_fixture_init(&fixture);
        vfs = memory_vfs_table(fixture.vfs);
        write_three_logs(&fixture);
        if (chains[i].removed != NULL)
            assert_int_equal(vfs_remove(vfs, chains[i].removed), 0);
        if (chains[i].from != NULL)
            assert_int_equal(vfs_rename(vfs, chains[i].from, chains[i].to), 0);
        if (chains[i].change != NULL)
            rewrite(&fixture, LOG_1, chains[i].change);
        status = wal_replay(&replay, &error);
        if (status != chains[i].status ||
            (chains[i].status == PETAL_OK && replay.records != chains[i].records) ||
            (chains[i].file != NULL && strcmp(error.file, chains[i].file) != 0) ||
            (chains[i].says != NULL && strstr(error.text, chains[i].says) == NULL))
            fail_msg("%s: %zu records, %s", chains[i].name, (size_t)replay.records, error.text);
        assert_true(chains[i].from == NULL || status != PETAL_OK || replay.dropped_bytes > 0);
        wal_fixture_fini(&fixture);
    }
}

/* A store that failed after log 1's final length left bytes there: they never were part of it. */
TEST_WITH(test_what_lies_behind_the_final_length_is_no_part, wal_fixture_setup,
          wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *first = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_file *second;

    wal_fixture_add(fixture, first, 100);
    store_and_sync(first);
    second = wal_fixture_must_create(fixture, 2, first);
    memset(wal_file_begin(first, 300), 0xCC, 300);
    wal_file_end(first, 1);
    store(first);
    wal_file_close(first);
    wal_fixture_add(fixture, second, 30);
    store(second);
    wal_file_close(second);

    {
        struct wal_replay replay;
        petal_error error;
        size_t count;

        assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                         PETAL_OK);
        assert_int_equal(count, 2);
        assert_int_equal(replay.dropped_bytes, 300 + WAL_FRAGMENT_MOST_BYTES);
    }
}

TEST_WITH(test_a_log_made_in_vain_is_passed_over, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *first = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_file *third;

    wal_fixture_add(fixture, first, 100);
    store_and_sync(first);
    wal_file_close(
        wal_fixture_must_create(fixture, 2, first)); /* its directory could not be synced, say */
    third = wal_fixture_must_create(fixture, 3, first);
    wal_file_close(first);
    wal_fixture_add(fixture, third, 30);
    store(third);
    wal_file_close(third);
    wal_file_close(
        wal_fixture_must_create(fixture, 4, NULL)); /* by an opening that did not get far */
    expect_all(fixture);
}

/* ---- beside a writer ---- */

/* A reader, and the log that the writer comes to while another one is read. */
struct beside {
    struct wal_fixture *fixture;
    struct wal_file *first, *second;
    size_t records;
};

static enum petal_status
count_record(void *argument, const struct wal_record *record, petal_error *error)
{
    struct beside *beside = argument;

    (void)record;
    (void)error;
    beside->records++;
    return PETAL_OK;
}

/* A log with one record, and the replay of a reader. */
static void
begin_beside(struct wal_fixture *fixture, struct beside *beside, struct wal_replay *replay)
{
    *beside =
        (struct beside){.fixture = fixture, .first = wal_fixture_must_create(fixture, 1, NULL)};
    wal_fixture_add(fixture, beside->first, 100);
    store_and_sync(beside->first);
    *replay = (struct wal_replay){.directory = &fixture->directory,
                                  .database_identity = WAL_FIXTURE_IDENTITY,
                                  .oldest_log = 1,
                                  .live = true,
                                  .visit = count_record,
                                  .argument = beside};
}

/* The first log has been read: the writer begins the second one, whose sync makes a promise. */
static enum petal_status
begin_second(void *argument, uint64_t number, uint64_t length, petal_error *error)
{
    struct beside *beside = argument;
    struct wal_identity identity = {.database_identity = WAL_FIXTURE_IDENTITY,
                                    .number = 2,
                                    .predecessor_number = 1,
                                    .predecessor_length = length,
                                    .predecessor_synced = length,
                                    .predecessor_last_sequence =
                                        wal_file_stored_sequence(beside->first)};

    (void)error;
    if (number != 1)
        return PETAL_OK;
    wal_file_identify(beside->second, &identity);
    for (size_t i = 0; i < 2; i++) {
        wal_fixture_add(beside->fixture, beside->second, 30);
        store_and_sync(beside->second);
    }
    return PETAL_OK;
}

TEST_WITH(a_log_may_be_begun_while_it_is_looked_at, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct beside beside;
    struct wal_replay replay;

    begin_beside(fixture, &beside, &replay);
    replay.ended = begin_second;
    MUST(wal_file_create(&beside.second, &fixture->directory, WAL_FIXTURE_DIRECTORY "/000002.log",
                         2, true, WHY));
    MUST(wal_replay(&replay, WHY));
    assert_int_equal(beside.records, 1);
    assert_int_equal(replay.end.log_number, 1);
    replay.from = replay.end;
    replay.ended = NULL;
    MUST(wal_replay(&replay, WHY));
    assert_int_equal(beside.records, 3);
    assert_int_equal(replay.end.log_number, 2);
    wal_file_close(beside.first);
    wal_file_close(beside.second);
}

/* What was stored since a reader looked, and synced, is damaged. */
TEST_WITH(a_reader_that_reads_on_finds_damage, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct beside beside;
    struct wal_replay replay;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    begin_beside(fixture, &beside, &replay);
    MUST(wal_replay(&replay, WHY));
    replay.from = replay.end;
    MUST(wal_replay(&replay, WHY)); /* nothing new */
    assert_int_equal(replay.end.length, replay.from.length);
    for (size_t i = 0; i < 2; i++) {
        wal_fixture_add(fixture, beside.first, 30);
        store_and_sync(beside.first);
    }
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &bytes, &size), 0);
    bytes[replay.from.length + 20] ^= 1;
    assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, bytes, size), 0);
    free(bytes);
    assert_int_equal(wal_replay(&replay, &error), PETAL_CORRUPT);
    assert_int_equal(beside.records, 1);
    wal_file_close(beside.first);
}

TEST_WITH(test_records_that_follow_on_nothing_are_refused, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *first = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_file *second = wal_fixture_must_create(fixture, 2, NULL);

    wal_fixture_add(fixture, first, 100);
    store(first);
    wal_file_close(first);
    wal_fixture_add(fixture, second, 30);
    store(second);
    wal_file_close(second);
    expect_corrupt(fixture, NO_PROMISE, WAL_FIXTURE_DIRECTORY "/000002.log");
}

/* The first block of log 2 shows what log 1 had there. */
static void
write_old_block(struct wal_fixture *fixture, size_t block_bytes)
{
    uint8_t *old, *bytes;
    size_t old_size, size;

    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &old, &old_size), 0);
    assert_int_equal(
        memory_vfs_read_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000002.log", &bytes, &size), 0);
    assert_true(old_size >= block_bytes && size >= block_bytes);
    memcpy(bytes, old, block_bytes);
    assert_int_equal(
        memory_vfs_write_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000002.log", bytes, size), 0);
    free(bytes);
    free(old);
}

/* A power cut left the blocks of a new log as they were when they belonged to an older one: it has
 * nothing; but if it was synced, as the manifest tells, or a record of its own, that is damage. */
TEST(a_new_log_with_old_blocks)
{
    for (unsigned synced = 0; synced < 2; synced++) {
        struct wal_promise promise = {2, WAL_HEADER_BYTES};
        struct wal_file *first, *second;
        struct wal_fixture fixture;
        struct wal_replay replay;
        petal_error error;
        size_t count;

        wal_fixture_init(&fixture);
        first = wal_fixture_must_create(&fixture, 1, NULL);
        for (unsigned i = 0; i < 9; i++)
            wal_fixture_add(&fixture, first, 1000);
        store_and_sync(first);
        second = wal_fixture_must_create(&fixture, 2, first);
        for (unsigned i = 0; i < 9; i++)
            wal_fixture_add(&fixture, second, 1000);
        store(second);
        if (synced) {
            store_and_sync(second);
            wal_fixture_add(&fixture, second, 10);
            store(second);
        }
        wal_file_close(first);
        wal_file_close(second);
        write_old_block(&fixture, 4096);
        if (synced) {
            expect_corrupt(&fixture, NO_PROMISE, LOG_2);
        } else {
            assert_int_equal(
                wal_fixture_replay(&fixture, NULL, NO_PROMISE, &replay, &count, &error), PETAL_OK);
            assert_int_equal(count, 9);
            assert_int_equal(replay.end.log_number, 1);
            expect_corrupt(&fixture, promise, LOG_2);
        }
        wal_fixture_fini(&fixture);
    }
}

/* ---- the format ---- */

static void
read_golden(const char *path, uint8_t **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");

    *bytes = malloc(4096);
    *size = 0;
    if (file == NULL)
        return;
    *size = fread(*bytes, 1, 4096, file);
    fclose(file);
}

static enum petal_status
expect_golden_record(void *argument, const struct wal_record *record, petal_error *error)
{
    static const char *const payloads[] = {"first", "second"};
    unsigned *count = argument;

    (void)error;
    assert_true(*count < 2);
    assert_true(slice_equal(record->payload, slice_from_text(payloads[*count])));
    assert_int_equal(record->first, *count == 0);
    *count += 1;
    return PETAL_OK;
}

/* The kept log gives its records, and keeps its promise. */
TEST_WITH(test_the_kept_log_is_read, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    unsigned count = 0;
    struct wal_replay replay = {
        .directory = &fixture->directory,
        .database_identity = WAL_FIXTURE_IDENTITY,
        .oldest_log = 6,
        .obsolete_sequence = 42,
        .visit = expect_golden_record,
        .argument = &count,
    };
    petal_error error;
    uint8_t *bytes;
    size_t size;

    read_golden(GOLDEN, &bytes, &size);
    assert_true(size > WAL_HEADER_BYTES);
    assert_int_equal(get_le32(bytes + 8), WAL_VERSION);
    assert_int_equal(
        memory_vfs_write_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000007.log", bytes, size), 0);
    assert_int_equal(wal_replay(&replay, &error), PETAL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(replay.end.length, size);
    /* The second record's promise is about the first one; with the header torn as well. */
    for (size_t at = WAL_HEADER_BYTES + 8; at > 20; at -= 60) {
        count = 0;
        bytes[at] ^= 1;
        assert_int_equal(
            memory_vfs_write_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000007.log", bytes, size),
            0);
        assert_int_equal(wal_replay(&replay, &error), PETAL_CORRUPT);
    }
    free(bytes);
}

/*
 * A promise stands in the first fragment after the sync and in the first one of each page: with
 * what was synced damaged, any page of what follows tells of it alone.
 */
TEST_WITH(test_every_page_behind_a_sync_has_the_promise, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);
    size_t synced, size;
    uint8_t *bytes;

    for (size_t i = 0; i < 30; i++)
        wal_fixture_add(fixture, wal, 100);
    store_and_sync(wal);
    synced = (size_t)wal_file_length(wal);
    for (size_t i = 0; i < 900; i++) {
        wal_fixture_add(fixture, wal, 100);
        if (i % 7 == 0)
            store(wal);
    }
    store(wal);
    wal_file_close(wal);
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &bytes, &size), 0);
    assert_true(size > 2 * WAL_FRAME_BYTES);
    /* The header is a fragment's, each of 100 bytes, and a promise in each page. */
    assert_true(size < synced + 900 * (100 + WAL_FRAGMENT_LEAST_BYTES) + (size / 4096 + 2) * 40);
    bytes[synced / 2] ^= 1;
    for (size_t page = synced / 4096; (page + 1) * 4096 < size; page++) {
        uint8_t *torn = malloc(size);
        size_t from = page * 4096 > synced ? page * 4096 : synced;

        memcpy(torn, bytes, size);
        memset(torn + synced, 0, size - synced);
        /* A fragment may reach into the page after. */
        memcpy(torn + from, bytes + from, (page + 1) * 4096 + 200 - from);
        assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, torn, size), 0);
        expect_corrupt(fixture, NO_PROMISE, LOG_1);
        free(torn);
    }
    free(bytes);
}

/* What was taken back may have had the promise: it is made again. */
TEST_WITH(test_a_promise_that_was_forgotten_is_made_again, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *wal = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_file_mark mark;
    uint8_t *bytes;
    size_t size;

    wal_fixture_add(fixture, wal, 100);
    store_and_sync(wal);
    mark = wal_file_mark(wal);
    memset(wal_file_begin(wal, 50), 0xAA, 50);
    wal_file_end(wal, 2);
    wal_file_forget(wal, mark);
    wal_fixture_add(fixture, wal, 60);
    store(wal);
    wal_file_close(wal);
    expect_all(fixture);
    assert_int_equal(memory_vfs_read_file(fixture->vfs, LOG_1, &bytes, &size), 0);
    bytes[WAL_HEADER_BYTES + 20] ^= 1;
    assert_int_equal(memory_vfs_write_file(fixture->vfs, LOG_1, bytes, size), 0);
    free(bytes);
    expect_corrupt(fixture, NO_PROMISE, LOG_1);
}

/* FORMAT.md explains these bytes.  PETAL_WRITE_GOLDEN writes the file anew. */
TEST_WITH(test_golden_bytes, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_identity identity = {
        .database_identity = WAL_FIXTURE_IDENTITY,
        .number = 7,
        .predecessor_number = 5,
        .predecessor_length = 4711,
        .predecessor_synced = 4096,
        .predecessor_last_sequence = 42,
    };
    uint8_t *bytes, *golden;
    size_t size, golden_size;
    petal_error error;
    struct wal_file *wal;

    assert_int_equal(wal_file_create(&wal, &fixture->directory, WAL_FIXTURE_DIRECTORY "/000007.log",
                                     7, false, &error),
                     PETAL_OK);
    wal_file_identify(wal, &identity);
    memcpy(wal_file_begin(wal, 5), "first", 5);
    wal_file_end(wal, 43);
    store_and_sync(wal);
    memcpy(wal_file_begin(wal, 6), "second", 6);
    wal_file_end(wal, 44);
    store(wal);
    wal_file_close(wal);
    assert_int_equal(
        memory_vfs_read_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000007.log", &bytes, &size), 0);
    if (getenv("PETAL_WRITE_GOLDEN") != NULL) {
        FILE *file = fopen(GOLDEN, "wb");

        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        fclose(file);
    }
    read_golden(GOLDEN, &golden, &golden_size);
    assert_int_equal(golden_size, size);
    assert_memory_equal(golden, bytes, size);
    free(golden);
    free(bytes);
}

/* ---- names ---- */

TEST_WITH(test_file_names, wal_fixture_setup, wal_fixture_teardown)
{
    static const struct {
        const char *name;
        enum filename_kind kind;
        uint64_t number;
    } names[] = {
        {"000001.log", FILENAME_WAL, 1},
        {"123456.sst", FILENAME_STORE_FILE, 123456},
        {"1234567.log", FILENAME_WAL, 1234567},
        {"18446744073709551615.sst", FILENAME_STORE_FILE, UINT64_MAX},
        {"18446744073709551616.sst", FILENAME_OTHER, 0},
        {"0123456.log", FILENAME_OTHER, 0},
        {"000000.log", FILENAME_OTHER, 0},
        {"000000.sst", FILENAME_OTHER, 0},
        {"12345.log", FILENAME_OTHER, 0},
        {"000001.logs", FILENAME_OTHER, 0},
        {"000001", FILENAME_OTHER, 0},
        {".log", FILENAME_OTHER, 0},
        {"-00001.log", FILENAME_OTHER, 0},
        {"", FILENAME_OTHER, 0},
        {"MANIFEST", FILENAME_MANIFEST, 0},
        {"MANIFEST.tmp", FILENAME_MANIFEST_TEMPORARY, 0},
        {"LOCK", FILENAME_LOCK, 0},
        {"lock", FILENAME_OTHER, 0},
    };
    char path[PETAL_PATH_BYTES], longest[PETAL_PATH_BYTES + 1];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t number = 99;

        assert_int_equal(filename_parse(names[i].name, &number), names[i].kind);
        assert_int_equal(number, names[i].number);
    }
    memset(longest, 'd', sizeof longest);
    longest[PETAL_PATH_BYTES - 25] = '\0';
    assert_false(filename_directory_fits(longest));
    longest[PETAL_PATH_BYTES - 26] = '\0';
    assert_true(filename_directory_fits(longest));
    filename_wal(path, longest, UINT64_MAX);
    assert_string_equal(path + strlen(longest), "/18446744073709551615.log");
}
