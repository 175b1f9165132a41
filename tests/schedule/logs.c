/*
 * logs.c -- scenarios of the WAL's files (engine/wal/wal.h): leaders that write and rotate, a flush
 * that syncs closed logs and removes those that may go, makers of spares, and the WAL thread, over
 * a database that has nothing but these. Before some file call the process dies or the power fails;
 * then a replay tells what is left.
 */
#include "tests/schedule/scenario.h"

#include "base/coding.h"
#include "engine/wal/wal.h"
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIRECTORY      "/db"
#define MANIFEST       DIRECTORY "/MANIFEST"
#define EDIT_BYTES     64
#define IDENTITY       UINT64_C(0x1D)
#define WRITERS        2
#define WRITER_TURNS   5
#define FLUSHES        3
#define SPARES         3
#define MOST_CALLS     90 /* of a file, about: the end comes before one of them */
#define MOST_SYNCS     15
#define INTERVAL_MS    1
#define MOST_INTERVALS 100
#define MOST_BYTES     300

/* What the end of the process leaves. */
enum end { NO_END, DEATH, POWER_CUT };

/* What the manifest says: written by a flush before it removes logs. */
struct edit {
    uint64_t oldest_log;
    uint64_t first_left; /* cells before are in store files */
    struct wal_promise promise;
};

static struct {
    struct memory_vfs *vfs;
    petal_db *db;
    petal_file *manifest;
    unsigned edits;
    uint64_t first_left;            /* the flush's */
    uint64_t begun, stored, synced; /* sequences: changed by the leader */
    unsigned failing_sync;          /* the n-th of a file or directory fails; 0: none */
    unsigned syncs;
    enum end end;
    uint64_t end_call; /* number of the file call before which it comes */
    struct memory_vfs *left;
    uint64_t promised; /* when it came: what must be there */
} logs;

/* ---- a database without anything but logs ---- */

/* First what is promised, then the files: they may have more. */
static void
make_end(void)
{
    logs.promised = logs.end == DEATH ? logs.stored : logs.synced;
    logs.left = memory_vfs_clone(logs.vfs);
}

static void
watch_calls(void *unused, const struct memory_vfs_call *call, const void *bytes)
{
    bool syncs = call->operation == MEMORY_VFS_SYNC || call->operation == MEMORY_VFS_SYNC_DIRECTORY;

    (void)unused;
    (void)bytes;
    if (syncs && ++logs.syncs == logs.failing_sync)
        memory_vfs_fail_at(logs.vfs, 1, EIO, false);
    if (call->number == logs.end_call && logs.end != NO_END)
        make_end();
}

static bool
a_sync_has_failed(void)
{
    return logs.failing_sync > 0 && logs.syncs >= logs.failing_sync;
}

static void
open_logs(enum end end)
{
    petal_options options = {.log_sync_interval_ms = INTERVAL_MS};
    petal_db *db = mem_alloc_aligned(&schedule_allocator, CACHE_LINE_BYTES, sizeof *db);
    size_t stats_bytes = STATS_SHARDS * sizeof *db->stats;

    memset(&logs, 0, sizeof logs);
    memset(db, 0, sizeof *db);
    logs.db = db;
    logs.vfs = memory_vfs_new();
    logs.end = end;
    logs.end_call = 1 + schedule_random(MOST_CALLS);
    logs.first_left = 1;
    schedule_check(vfs_make_directory(memory_vfs_table(logs.vfs), DIRECTORY) == 0);
    schedule_check(vfs_sync_directory(memory_vfs_table(logs.vfs), "/") == 0);
    schedule_check(memory_vfs_write_file(logs.vfs, MANIFEST, "", 0) == 0);
    env_init(&db->env, &(petal_env){.size = sizeof(petal_env),
                                    .allocator = &schedule_allocator,
                                    .vfs = memory_vfs_table(logs.vfs)});
    schedule_check(directory_open(&db->directory, &db->env, DIRECTORY, false) == 0);
    schedule_check(directory_open_file(&db->directory, MANIFEST, PETAL_FILE_READ | PETAL_FILE_WRITE,
                                       &logs.manifest) == 0);
    db->identity = IDENTITY;
    db->next_file_number = 1;
    db->stats = mem_alloc_aligned(&schedule_allocator, CACHE_LINE_BYTES, stats_bytes);
    memset(db->stats, 0, stats_bytes);
    db->readers.directory = &db->directory;
    schedule_check(mutex_init(&db->failure.mutex) && mutex_init(&db->progress.mutex) &&
                   mutex_init(&db->readers.mutex) && clock_condition_init(&db->progress.moved) &&
                   write_queue_init(&db->writers.queue) &&
                   view_bin_init(&db->views.bin, wal_wake, db) && wal_init(db, &options));
    memory_vfs_watch(logs.vfs, watch_calls, NULL);
    schedule_check(wal_start(db) == 0);
}

static void
close_logs(void)
{
    petal_db *db = logs.db;

    wal_stop(db);
    memory_vfs_watch(logs.vfs, NULL, NULL);
    wal_close(db);
    wal_fini(db);
    view_bin_fini(&db->views.bin);
    write_queue_fini(&db->writers.queue);
    pthread_cond_destroy(&db->progress.moved);
    mutex_fini(&db->readers.mutex);
    mutex_fini(&db->progress.mutex);
    mutex_fini(&db->failure.mutex);
    db->env.vfs->close(db->env.vfs->context, logs.manifest);
    directory_close(&db->directory);
    schedule_check(memory_vfs_open_files(logs.vfs) == 0);
    mem_free(&schedule_allocator, db->stats, STATS_SHARDS * sizeof *db->stats);
    mem_free(&schedule_allocator, db, sizeof *db);
}

/* ---- writers: each the leader in turn, as engine/write/commit.c ---- */

/* Records whose payloads begin with their sequences. */
static void
add_records(struct wal_file *wal, uint64_t *sequence)
{
    for (uint64_t count = 1 + schedule_random(3); count > 0; count--) {
        size_t size = 8 + (size_t)schedule_random(MOST_BYTES);
        uint8_t *to = wal_file_begin(wal, size);

        schedule_check(to != NULL);
        memset(to, 'r', size);
        put_le64(to, ++*sequence);
        wal_file_end(wal, *sequence);
    }
    logs.begun = *sequence;
}

static enum petal_status
commit_records(struct wal_file *wal, enum petal_durability durability, petal_error *error)
{
    petal_db *db = logs.db;
    struct wal_file_mark before = wal_file_mark(wal);
    uint64_t sequence = db->writers.last_sequence;
    enum petal_status status;

    add_records(wal, &sequence);
    status = wal_commit(db, durability, env_clock_ms(&db->env), error);
    if (status != PETAL_OK) {
        if (wal_file_is_dead(wal))
            db_fail(db, error);
        else
            wal_file_forget(wal, before);
        return status;
    }
    db->writers.last_sequence = logs.stored = sequence;
    if (durability == PETAL_FSYNC_WAL)
        logs.synced = sequence;
    return PETAL_OK;
}

/* LEADER. */
static void
write_some(void)
{
    petal_db *db = logs.db;
    enum petal_durability durability = schedule_random(3) == 0 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL;
    struct wal_file *wal = NULL;
    petal_error error;
    enum petal_status status = db_check_writable(db, &error);

    if (status == PETAL_OK && schedule_random(2) == 0)
        wal_ask_for_spare(db);
    if (status == PETAL_OK && schedule_random(3) == 0)
        status = wal_rotate(db, &error);
    if (status == PETAL_OK && durability == PETAL_FSYNC_WAL)
        status = wal_sync_before(db, &error);
    if (status == PETAL_OK)
        status = wal_current(db, &wal, &error);
    if (status == PETAL_OK)
        status = commit_records(wal, durability, &error);
    schedule_check(status == PETAL_OK || a_sync_has_failed());
}

static void *
write_now_and_then(void *unused)
{
    for (unsigned i = 0; i < WRITER_TURNS; i++) {
        struct write_place place = {0};

        write_lead_alone(&logs.db->writers.queue, &place);
        write_some();
        write_lead_end(&logs.db->writers.queue, &place);
    }
    return unused;
}

/* ---- a flush, as engine/flush/job.c ---- */

static bool
write_edit(const struct edit *edit)
{
    const petal_vfs *vfs = logs.db->env.vfs;
    uint8_t bytes[EDIT_BYTES] = {0};

    put_le64(bytes, edit->oldest_log);
    put_le64(bytes + 8, edit->first_left);
    put_le64(bytes + 16, edit->promise.log_number);
    put_le64(bytes + 24, edit->promise.length);
    put_le64(bytes + 32,
             edit->oldest_log + edit->first_left + edit->promise.log_number + edit->promise.length);
    return vfs->write_at(vfs->context, logs.manifest, logs.edits++ * EDIT_BYTES, bytes,
                         sizeof bytes) == 0 &&
           vfs->sync(vfs->context, logs.manifest) == 0;
}

/* What was frozen is in store files; false: something failed. */
static bool
flush(uint64_t first_left)
{
    petal_db *db = logs.db;
    struct edit edit = {.first_left = first_left};
    petal_error error;
    uint64_t oldest_open;

    if (wal_sync_closed(db, &error) != PETAL_OK || db_sync_directory(db, &error) != PETAL_OK)
        return false;
    oldest_open = wal_oldest_open(db);
    edit.oldest_log = wal_oldest_needed(db, oldest_open, first_left);
    edit.promise = wal_promised(db);
    if (!write_edit(&edit)) {
        error_unknown(&error, MANIFEST, EIO, "write to");
        db_fail(db, &error);
        return false;
    }
    wal_remove_below(db, edit.oldest_log);
    return true;
}

/* All memtables, or some: the others keep their logs. */
static void *
flush_now_and_then(void *unused)
{
    for (unsigned i = 0; i < FLUSHES; i++) {
        struct write_place place = {0};
        petal_error error;
        enum petal_status status;
        uint64_t behind;

        if (schedule_random(2) == 0)
            wal_make_spare(logs.db);
        write_lead_alone(&logs.db->writers.queue, &place);
        status = db_check_writable(logs.db, &error);
        if (status == PETAL_OK)
            status = wal_rotate(logs.db, &error);
        behind = logs.db->writers.last_sequence + 1;
        write_lead_end(&logs.db->writers.queue, &place);
        logs.first_left += schedule_random(behind - logs.first_left + 1);
        if (schedule_random(2) == 0)
            logs.first_left = behind;
        schedule_check((status == PETAL_OK && flush(logs.first_left)) || a_sync_has_failed());
        if (!db_is_writable(logs.db))
            break;
    }
    return unused;
}

static void *
make_spares(void *unused)
{
    for (unsigned i = 0; i < SPARES; i++) {
        wal_make_spare(logs.db);
        sched_yield();
    }
    return unused;
}

/* ---- what is left ---- */

static struct edit
read_edit(struct memory_vfs *vfs)
{
    struct edit last = {.oldest_log = 1, .first_left = 1};
    uint8_t *bytes;
    size_t size;

    schedule_check(memory_vfs_read_file(vfs, MANIFEST, &bytes, &size) == 0);
    for (size_t at = 0; at + EDIT_BYTES <= size; at += EDIT_BYTES) {
        struct edit edit = {get_le64(bytes + at),
                            get_le64(bytes + at + 8),
                            {get_le64(bytes + at + 16), get_le64(bytes + at + 24)}};

        if (edit.oldest_log == 0 || get_le64(bytes + at + 32) != edit.oldest_log + edit.first_left +
                                                                     edit.promise.log_number +
                                                                     edit.promise.length)
            break;
        last = edit;
    }
    free(bytes);
    return last;
}

/* The records come in order, without a gap after those that are in store files. */
static enum petal_status
visit(void *argument, const struct wal_record *record, petal_error *error)
{
    uint64_t *last = argument, sequence;

    (void)error;
    schedule_check(record->payload.size >= 8);
    sequence = get_le64(record->payload.data);
    schedule_check(*last == 0 || sequence == *last + 1);
    *last = sequence;
    return PETAL_OK;
}

static void
check_what_is_left(struct memory_vfs *vfs, uint64_t promised)
{
    struct edit edit = read_edit(vfs);
    struct env env = logs.db->env;
    struct directory directory;
    uint64_t last = 0;
    struct wal_replay replay = {.directory = &directory,
                                .database_identity = IDENTITY,
                                .oldest_log = edit.oldest_log,
                                .obsolete_sequence = edit.first_left - 1,
                                .promise = edit.promise,
                                .visit = visit,
                                .argument = &last};
    petal_error error;
    enum petal_status status;

    env.vfs = memory_vfs_table(vfs);
    schedule_check(directory_open(&directory, &env, DIRECTORY, false) == 0);
    status = wal_replay(&replay, &error);
    if (status != PETAL_OK)
        fprintf(stderr, "%s\n", error.text);
    schedule_check(status == PETAL_OK);
    schedule_check(last <= logs.begun);
    schedule_check(last >= promised || promised < edit.first_left);
    directory_close(&directory);
}

static void
check_the_end(void)
{
    if (logs.left == NULL)
        return;
    if (logs.end == DEATH)
        memory_vfs_process_death(logs.left);
    else
        memory_vfs_power_cut(logs.left, (enum memory_cut)schedule_random(MEMORY_CUT_STALE + 1),
                             schedule_random(UINT64_MAX));
    check_what_is_left(logs.left, logs.promised);
    memory_vfs_free(logs.left);
}

/* ---- scenarios ---- */

/* Threads of these kinds, so many of each; `after` comes when they have ended. */
static void
run_logs(enum end end, unsigned spare_makers, void (*before)(void), void (*after)(void))
{
    pthread_t threads[WRITERS + 1 + SPARES];
    unsigned count = 0;

    open_logs(end);
    if (before != NULL)
        before();
    for (unsigned i = 0; i < WRITERS + 1 + spare_makers; i++)
        schedule_check(pthread_create(&threads[count++], NULL,
                                      i < WRITERS    ? write_now_and_then
                                      : i == WRITERS ? flush_now_and_then
                                                     : make_spares,
                                      NULL) == 0);
    for (unsigned i = 0; i < count; i++)
        schedule_check(pthread_join(threads[i], NULL) == 0);
    if (after != NULL)
        after();
    check_the_end();
    close_logs();
    memory_vfs_free(logs.vfs);
}

/* engine/wal/wal.h, WHICH WALS MAY GO: what was stored and is in no store file survives the
 * process, however a flush and the making of logs lie beside each other. */
static void
logs_that_are_needed_stay(void *unused)
{
    (void)unused;
    run_logs(DEATH, (unsigned)schedule_random(2), NULL, NULL);
}

/* ORDER OF SYNCS: after a power cut there is a prefix, and what a sync promised. */
static void
logs_are_synced_in_their_order(void *unused)
{
    (void)unused;
    run_logs(POWER_CUT, (unsigned)schedule_random(2), NULL, NULL);
}

/* THE SPARE: it comes after all logs before it, or goes; none is left. */
static void
count_log(void *argument, const char *name)
{
    uint64_t number;

    *(size_t *)argument += filename_parse(name, &number) == FILENAME_WAL;
}

static void
check_every_log_is_known(void)
{
    struct wal_chain *chain = logs.db->wal;
    size_t found = 0, known;

    wal_stop(logs.db);
    known = chain->closed_count + (chain->current != NULL) + (chain->spare != NULL);
    schedule_check(memory_vfs_list(logs.vfs, DIRECTORY, count_log, &found) == 0);
    schedule_check(found == known);
    check_what_is_left(logs.vfs, logs.stored);
}

static void
spares_come_behind_the_logs_before(void *unused)
{
    (void)unused;
    run_logs(NO_END, SPARES, NULL, check_every_log_is_known);
}

/* What was stored is synced by the WAL thread, also where it cleared the time beside a writer. */
static bool
all_is_synced(void)
{
    struct wal_chain *chain = logs.db->wal;
    bool synced;

    mutex_lock(&chain->mutex);
    synced = chain->closed_count == 0 || chain->closed[chain->closed_count - 1].file == NULL;
    synced = synced && (chain->current == NULL ||
                        wal_file_synced_length(chain->current) == wal_file_length(chain->current));
    mutex_unlock(&chain->mutex);
    return synced;
}

static void
wait_for_syncs(void)
{
    const struct timespec interval = {.tv_nsec = INTERVAL_MS * 1000000};

    for (unsigned i = 0; !all_is_synced(); i++) {
        schedule_check(i < MOST_INTERVALS);
        nanosleep(&interval, NULL);
    }
}

static void
stored_writes_are_synced_in_time(void *unused)
{
    (void)unused;
    run_logs(NO_END, 0, NULL, wait_for_syncs);
}

/* A sync fails once and loses what was pending: no other one of those beside it promises that. */
static void
plan_failure(void)
{
    logs.end_call = 0;
    logs.failing_sync = 1 + (unsigned)schedule_random(MOST_SYNCS);
    memory_vfs_set_sync_failure(logs.vfs, (enum memory_sync_failure)schedule_random(3));
}

static void
no_sync_promises_what_another_lost(void *unused)
{
    (void)unused;
    run_logs(POWER_CUT, 1, plan_failure, make_end);
}

const struct scenario log_scenarios[] = {
    {"logs_that_are_needed_stay", logs_that_are_needed_stay, 2},
    {"logs_are_synced_in_their_order", logs_are_synced_in_their_order, 2},
    {"spares_come_behind_the_logs_before", spares_come_behind_the_logs_before, 1},
    {"stored_writes_are_synced_in_time", stored_writes_are_synced_in_time, 1},
    {"no_sync_promises_what_another_lost", no_sync_promises_what_another_lost, 1},
    {NULL, NULL, 0}};
