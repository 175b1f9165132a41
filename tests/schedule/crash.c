/*
 * crash.c -- scenarios of crashes: threads write, flush, compact, make and drop tables; a sync may
 * fail among them, or the disk be full for a while; then the process dies, or the power fails,
 * before some file call.  What was acknowledged by then is there when the database is opened again,
 * whoever had the turn, what was refused is not, and what was shown then stays.
 */
#include "tests/schedule/scenario.h"

#include "base/slice.h"
#include "tests/disk/vfs.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DIRECTORY "/db"
#define WRITERS   3
#define TABLES    2
#define TENDERS   2
#define WRITES    5 /* of each writer */
#define TENDINGS  3 /* of each tender */
#define CRASHES   2

/* Of the writes 0 .. WRITES - 1 of a writer, a bit for each. */
struct promise {
    unsigned begun, acknowledged, refused; /* what is in neither of the latter may be there */
    unsigned stored, synced;               /* survive the process, and the power */
};

struct crash_state {
    struct memory_vfs *files;
    struct promise promises[WRITERS];
};

enum fault { NOTHING_FAILS, A_SYNC_FAILS, A_SYNC_OF_DIRECTORY_FAILS, THE_DISK_IS_FULL };

/* One thread runs at a time, and what passes the turn on orders all this. */
static struct {
    struct memory_vfs *files;
    petal_env env;
    petal_db *db;
    petal_table *tables[TABLES];
    struct promise promises[WRITERS];
    unsigned made; /* tables */
    struct crash_state states[CRASHES];
    unsigned moments; /* seen, of which states are a random choice */
    enum fault fault;
    unsigned until_fault, until_room; /* so many calls that it may be; 0: it has been */
} life;

/* ---- moments ---- */

static bool
changes(enum memory_vfs_operation operation)
{
    return operation == MEMORY_VFS_WRITE || operation == MEMORY_VFS_LOG_STORE ||
           operation == MEMORY_VFS_SYNC || operation == MEMORY_VFS_SYNC_DIRECTORY ||
           operation == MEMORY_VFS_RENAME || operation == MEMORY_VFS_REMOVE;
}

static void
forget_states(void)
{
    for (unsigned i = 0; i < CRASHES; i++) {
        if (life.states[i].files != NULL)
            memory_vfs_free(life.states[i].files);
        life.states[i].files = NULL;
    }
    life.moments = 0;
}

static void
keep_state(void)
{
    uint64_t chosen = life.moments < CRASHES ? life.moments : schedule_random(life.moments + 1);

    life.moments++;
    if (chosen >= CRASHES)
        return;
    if (life.states[chosen].files != NULL)
        memory_vfs_free(life.states[chosen].files);
    life.states[chosen].files = memory_vfs_clone(life.files);
    memcpy(life.states[chosen].promises, life.promises, sizeof life.promises);
}

static bool
may_fail(enum memory_vfs_operation operation)
{
    switch (life.fault) {
    case A_SYNC_FAILS:
        return operation == MEMORY_VFS_SYNC || operation == MEMORY_VFS_SYNC_DIRECTORY;
    case A_SYNC_OF_DIRECTORY_FAILS:
        return operation == MEMORY_VFS_SYNC_DIRECTORY;
    case THE_DISK_IS_FULL:
        return operation == MEMORY_VFS_LOG_STORE ||
               (operation == MEMORY_VFS_WRITE && schedule_random(4) == 0);
    default:
        return false;
    }
}

static void
fail(void)
{
    static const unsigned rooms[] = {60, 120, 300, 3000};

    forget_states(); /* moments count from here on */
    if (life.fault != THE_DISK_IS_FULL) {
        memory_vfs_fail_at(life.files, 1, EIO, false);
        return;
    }
    memory_vfs_set_capacity(life.files, memory_vfs_used(life.files) +
                                            schedule_random(rooms[schedule_random(4)]));
    life.until_room = (unsigned)schedule_random(40);
}

/* Before each call. */
static void
watch(void *unused, const struct memory_vfs_call *call, const void *bytes)
{
    (void)unused;
    (void)bytes;
    if (changes(call->operation))
        keep_state();
    if (life.until_room > 0 && --life.until_room == 0)
        memory_vfs_set_capacity(life.files, UINT64_MAX);
    if (life.until_fault > 0 && may_fail(call->operation) && --life.until_fault == 0)
        fail();
}

/* ---- the life ---- */

static void
must(enum petal_status status, const petal_error *error)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
    schedule_fail(__FILE__, __LINE__, "a call has failed");
}

/* Of one family `f`. */
static enum petal_status
make_table(const char *name, petal_table **table, petal_error *error)
{
    petal_family_options family = {.name = slice_from_text("f"), .versions = 1};
    petal_table_options options = {
        .name = slice_from_text(name), .families = &family, .family_count = 1};

    return petal_table_create(life.db, &options, table, error);
}

static petal_slice
number_text(unsigned number, char text[12])
{
    return slice_make(text, (size_t)snprintf(text, 12, "%02u", number));
}

static void
note_answer(struct promise *promise, unsigned bit, enum petal_durability durability,
            enum petal_status status)
{
    if (status == PETAL_OK)
        promise->acknowledged |= bit;
    else if (status == PETAL_NO_SPACE || status == PETAL_READ_ONLY)
        promise->refused |= bit;
    if (status == PETAL_OK && durability >= PETAL_SYNC_WAL)
        promise->stored = promise->acknowledged;
    if (status == PETAL_OK && durability == PETAL_FSYNC_WAL)
        promise->synced = promise->acknowledged;
}

/* Two writers write into one table. */
static void *
write_numbers(void *argument)
{
    static const enum petal_durability durabilities[] = {PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                         PETAL_FSYNC_WAL};
    unsigned index = (unsigned)(uintptr_t)argument;
    petal_family *family = petal_table_family_at(life.tables[index % TABLES], 0);

    for (unsigned number = 0; number < WRITES; number++) {
        petal_write_options options = {.durability = durabilities[schedule_random(3)]};
        char row[12], text[12];
        petal_slice name = number_text(number, text);
        petal_error error;

        life.promises[index].begun |= 1u << number;
        note_answer(
            &life.promises[index], 1u << number, options.durability,
            petal_put(family, number_text(index, row), name, PETAL_LATEST, name, &options, &error));
    }
    return NULL;
}

/* What was acknowledged before survives it. */
static void
flush(unsigned table)
{
    struct promise before[WRITERS];
    petal_error error;

    memcpy(before, life.promises, sizeof before);
    if (petal_flush(life.db, table < TABLES ? life.tables[table] : NULL, &error) != PETAL_OK)
        return;
    for (unsigned i = 0; i < WRITERS; i++) {
        if (table == TABLES || table == i % TABLES) {
            life.promises[i].stored |= before[i].acknowledged;
            life.promises[i].synced |= before[i].acknowledged;
        }
    }
}

static void *
tend(void *unused)
{
    for (unsigned i = 0; i < TENDINGS; i++) {
        unsigned kind = (unsigned)schedule_random(8);
        petal_table *table;
        petal_error error;
        char name[12];

        if (kind < 6) {
            flush(kind % (TABLES + 1));
        } else if (kind == 6) {
            if (petal_compact(life.tables[schedule_random(TABLES)], NULL, &error) != PETAL_OK)
                continue;
        } else {
            snprintf(name, sizeof name, "t%u", ++life.made);
            if (make_table(name, &table, &error) == PETAL_OK && schedule_random(2) == 0 &&
                petal_table_drop(table, &error) != PETAL_OK)
                continue;
        }
    }
    return unused;
}

static enum petal_status
try_to_open(struct memory_vfs *files, petal_env *env, petal_db **db, petal_error *error)
{
    petal_options options = {.create = true,
                             .env = env,
                             .cache_bytes = 65536,
                             .open_files = 8,
                             .no_compaction = true,
                             .log_sync_interval_ms = PETAL_NEVER};

    *env = (petal_env){.size = sizeof(petal_env),
                       .vfs = memory_vfs_table(files),
                       .allocator = &schedule_allocator};
    return petal_open(DIRECTORY, &options, db, error);
}

static void
open_database(struct memory_vfs *files, petal_env *env, petal_db **db)
{
    petal_error error;

    must(try_to_open(files, env, db, &error), &error);
}

/* The disk has hardly room, or none; where files are copied on write an opening may find too
 * little. */
static void
open_full(struct memory_vfs *files, petal_env *env, petal_db **db)
{
    petal_error error;
    enum petal_status status;

    memory_vfs_set_capacity(files, memory_vfs_used(files) + schedule_random(300));
    status = try_to_open(files, env, db, &error);
    memory_vfs_set_capacity(files, UINT64_MAX);
    if (status == PETAL_NO_SPACE && memory_vfs_copies_on_write(files))
        status = try_to_open(files, env, db, &error);
    must(status, &error);
}

/* ---- what is there after a crash ---- */

/* The writer's writes that are there. */
static unsigned
writes_in(petal_db *db, unsigned writer)
{
    petal_result *result;
    petal_table *table;
    petal_error error;
    char text[12];
    unsigned found = 0;

    must(petal_table_open(db, slice_from_text(writer % TABLES == 0 ? "left" : "right"), &table,
                          &error),
         &error);
    must(petal_result_new(db, &result, &error), &error);
    must(petal_get(table, number_text(writer, text), NULL, result, &error), &error);
    for (unsigned number = 0; number < WRITES; number++) {
        petal_slice name = number_text(number, text);

        for (size_t i = 0; i < petal_result_count(result); i++) {
            const petal_cell *cell = petal_result_cell(result, i);

            if (slice_equal(cell->qualifier, name) && slice_equal(cell->value, name))
                found |= 1u << number;
        }
    }
    petal_result_free(result);
    return found;
}

static void
check_writes(const struct promise *promise, unsigned found, bool keeps_stored)
{
    unsigned missing = promise->acknowledged & ~found;

    schedule_check((found & ~promise->begun) == 0);
    schedule_check((found & promise->refused) == 0);
    schedule_check((promise->synced & ~found) == 0);
    schedule_check(!keeps_stored || (promise->stored & ~found) == 0);
    /* Of what was acknowledged the first ones are there: none after one that is missing. */
    schedule_check(missing == 0 || (found & promise->acknowledged) < (missing & -missing));
}

/* The process dies, or the power fails; true: it was the process. */
static bool
crash(struct memory_vfs *files)
{
    bool dies = schedule_random(3) == 0;

    memory_vfs_set_capacity(files, UINT64_MAX);
    if (dies)
        memory_vfs_process_death(files);
    else
        memory_vfs_power_cut(files, (enum memory_cut)schedule_random(MEMORY_CUT_STALE + 1),
                             schedule_random(UINT64_MAX));
    return dies;
}

/* Opened, looked at, and left by one more crash it shows the same again. */
static void
check_state(const struct crash_state *state)
{
    bool keeps_stored =
        crash(state->files) && memory_vfs_sync_failure(state->files) != MEMORY_SYNC_REVERTS;
    unsigned shown[WRITERS];
    struct memory_vfs *left;
    petal_env env;
    petal_error error;
    petal_db *db;

    if (life.fault == THE_DISK_IS_FULL && schedule_random(2) == 0)
        open_full(state->files, &env, &db);
    else
        open_database(state->files, &env, &db);
    for (unsigned writer = 0; writer < WRITERS; writer++) {
        shown[writer] = writes_in(db, writer);
        check_writes(&state->promises[writer], shown[writer], keeps_stored);
    }
    left = memory_vfs_clone(state->files);
    must(petal_close(db, &error), &error);
    crash(left);
    open_database(left, &env, &db);
    for (unsigned writer = 0; writer < WRITERS; writer++)
        schedule_check(writes_in(db, writer) == shown[writer]);
    must(petal_close(db, &error), &error);
    memory_vfs_free(left);
}

static void
begin_life(enum fault fault)
{
    petal_error error;

    memset(&life, 0, sizeof life);
    life.files = memory_vfs_new();
    memory_vfs_use_log_windows(life.files, schedule_random(4) == 0);
    memory_vfs_copy_on_write(life.files, schedule_random(3) != 0);
    memory_vfs_set_sync_failure(life.files,
                                (enum memory_sync_failure)schedule_random(MEMORY_SYNC_REVERTS + 1));
    open_database(life.files, &life.env, &life.db);
    must(make_table("left", &life.tables[0], &error), &error);
    must(make_table("right", &life.tables[1], &error), &error);
    life.fault = fault;
    life.until_fault =
        1 + (unsigned)schedule_random(life.fault == A_SYNC_OF_DIRECTORY_FAILS ? 5 : 12);
    memory_vfs_watch(life.files, watch, NULL);
}

static void
live_and_crash(enum fault fault)
{
    pthread_t threads[WRITERS + TENDERS];
    petal_error error;

    begin_life(fault);
    for (unsigned i = 0; i < WRITERS + TENDERS; i++)
        schedule_check(pthread_create(&threads[i], NULL, i < WRITERS ? write_numbers : tend,
                                      (void *)(uintptr_t)i) == 0);
    for (unsigned i = 0; i < WRITERS + TENDERS; i++)
        schedule_check(pthread_join(threads[i], NULL) == 0);
    memory_vfs_watch(life.files, NULL, NULL); /* before: the background's calls are watched, too */
    keep_state();
    (void)petal_close(life.db, &error);
    for (unsigned i = 0; i < CRASHES; i++) {
        if (life.states[i].files != NULL)
            check_state(&life.states[i]);
    }
    forget_states();
    memory_vfs_free(life.files);
}

static void
what_was_acknowledged_survives(void *unused)
{
    (void)unused;
    live_and_crash((enum fault)schedule_random(THE_DISK_IS_FULL));
}

static void
what_a_full_disk_refuses_is_not_there(void *unused)
{
    (void)unused;
    live_and_crash(THE_DISK_IS_FULL);
}

const struct scenario crash_scenarios[] = {
    {"what_was_acknowledged_survives", what_was_acknowledged_survives, 6},
    {"what_a_full_disk_refuses_is_not_there", what_a_full_disk_refuses_is_not_there, 8},
    {NULL, NULL, 0}};
