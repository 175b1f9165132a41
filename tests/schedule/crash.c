/*
 * crash.c -- scenarios of crashes: threads write, flush, compact, make and drop tables; a sync may
 * fail among them; then the process dies, or the power fails, before some file call.  What was
 * acknowledged by then is there when the database is opened again, whoever had the turn.
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
#define WRITERS   2
#define TENDERS   2
#define WRITES    5 /* of each */
#define TENDINGS  3 /* of each */
#define CRASHES   3

/* Of each writer's writes, 1, 2, 3 ..., how many had come so far. */
struct promise {
    unsigned begun, stored, synced; /* the latter survive the process, and the power */
};

struct crash_state {
    struct memory_vfs *files;
    struct promise promises[WRITERS];
};

/* One thread runs at a time, and what passes the turn on orders all this. */
static struct {
    struct memory_vfs *files;
    petal_env env;
    petal_db *db;
    petal_table *tables[WRITERS];
    struct promise promises[WRITERS];
    unsigned made; /* tables */
    struct crash_state states[CRASHES];
    unsigned moments; /* seen, of which states are a random choice */
    unsigned fails;   /* the sync that fails, from now on; 0: none (more) */
    bool directories; /* only syncs of directories count */
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

/* Before each call.  Moments count from the failure on, if there is one. */
static void
watch(void *unused, const struct memory_vfs_call *call, const void *bytes)
{
    bool of_directory = call->operation == MEMORY_VFS_SYNC_DIRECTORY;

    (void)unused;
    (void)bytes;
    if (changes(call->operation))
        keep_state();
    if (life.fails > 0 &&
        (of_directory || (call->operation == MEMORY_VFS_SYNC && !life.directories)) &&
        --life.fails == 0) {
        memory_vfs_fail_at(life.files, 1, EIO, false);
        forget_states();
    }
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

/* A call that fails says that the log is not to be written any more. */
static void *
write_numbers(void *argument)
{
    static const enum petal_durability durabilities[] = {PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                         PETAL_FSYNC_WAL};
    unsigned index = (unsigned)(uintptr_t)argument;
    struct promise *promise = &life.promises[index];
    petal_family *family = petal_table_family_at(life.tables[index], 0);

    for (unsigned number = 1; number <= WRITES; number++) {
        petal_write_options options = {.durability = durabilities[schedule_random(3)]};
        char text[12];
        petal_slice name = number_text(number, text);
        petal_error error;

        promise->begun = number;
        if (petal_put(family, slice_from_text("row"), name, PETAL_LATEST, name, &options, &error) !=
            PETAL_OK)
            return NULL;
        if (options.durability >= PETAL_SYNC_WAL)
            promise->stored = number;
        if (options.durability == PETAL_FSYNC_WAL)
            promise->synced = number;
    }
    return NULL;
}

static void
flush(unsigned index)
{
    struct promise before[WRITERS];
    unsigned acknowledged[WRITERS];
    petal_error error;

    memcpy(before, life.promises, sizeof before);
    for (unsigned i = 0; i < WRITERS; i++)
        acknowledged[i] = before[i].stored > before[i].synced ? before[i].stored : before[i].synced;
    if (petal_flush(life.db, index < WRITERS ? life.tables[index] : NULL, &error) != PETAL_OK)
        return;
    for (unsigned i = 0; i < WRITERS; i++) {
        struct promise *promise = &life.promises[i];

        if ((index != WRITERS && index != i) || promise->synced >= acknowledged[i])
            continue;
        promise->synced = acknowledged[i];
        if (promise->stored < promise->synced)
            promise->stored = promise->synced;
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
            flush(kind % (WRITERS + 1));
        } else if (kind == 6) {
            (void)petal_compact(life.tables[schedule_random(WRITERS)], NULL, &error);
        } else {
            snprintf(name, sizeof name, "t%u", ++life.made);
            if (make_table(name, &table, &error) == PETAL_OK && schedule_random(2) == 0)
                (void)petal_table_drop(table, &error);
        }
    }
    return unused;
}

static void
open_database(struct memory_vfs *files, petal_env *env, petal_db **db)
{
    petal_options options = {.create = true,
                             .env = env,
                             .cache_bytes = 65536,
                             .open_files = 8,
                             .no_compaction = true,
                             .log_sync_interval_ms = PETAL_NEVER};
    petal_error error;

    *env = (petal_env){.size = sizeof(petal_env),
                       .vfs = memory_vfs_table(files),
                       .allocator = &schedule_allocator};
    must(petal_open(DIRECTORY, &options, db, &error), &error);
}

/* ---- what is there behind a crash ---- */

/* How many of the writer's writes are there: the first ones, without a gap. */
static unsigned
count_writes(petal_db *db, unsigned writer)
{
    petal_result *result;
    petal_table *table;
    petal_error error;
    char text[12];
    unsigned count;

    must(petal_table_open(db, slice_from_text(writer == 0 ? "left" : "right"), &table, &error),
         &error);
    must(petal_result_new(db, &result, &error), &error);
    must(petal_get(table, slice_from_text("row"), NULL, result, &error), &error);
    count = (unsigned)petal_result_count(result);
    for (unsigned i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(result, i);
        petal_slice name = number_text(i + 1, text);

        schedule_check(slice_equal(cell->qualifier, name) && slice_equal(cell->value, name));
    }
    petal_result_free(result);
    return count;
}

static void
check_state(const struct crash_state *state)
{
    bool dies = schedule_random(3) == 0;
    bool keeps_stored = dies && memory_vfs_sync_failure(state->files) != MEMORY_SYNC_REVERTS;
    petal_env env;
    petal_error error;
    petal_db *db;

    if (dies)
        memory_vfs_process_death(state->files);
    else
        memory_vfs_power_cut(state->files, (enum memory_cut)schedule_random(MEMORY_CUT_STALE + 1),
                             schedule_random(UINT64_MAX));
    open_database(state->files, &env, &db);
    for (unsigned writer = 0; writer < WRITERS; writer++) {
        const struct promise *promise = &state->promises[writer];
        unsigned count = count_writes(db, writer);

        schedule_check(count <= promise->begun);
        schedule_check(count >= promise->synced);
        schedule_check(!keeps_stored || count >= promise->stored);
    }
    must(petal_close(db, &error), &error);
}

static void
what_was_acknowledged_survives(void *unused)
{
    pthread_t threads[WRITERS + TENDERS];
    petal_error error;

    (void)unused;
    memset(&life, 0, sizeof life);
    life.files = memory_vfs_new();
    memory_vfs_use_log_windows(life.files, schedule_random(4) == 0);
    open_database(life.files, &life.env, &life.db);
    must(make_table("left", &life.tables[0], &error), &error);
    must(make_table("right", &life.tables[1], &error), &error);
    life.directories = schedule_random(2) == 0;
    life.fails =
        schedule_random(2) == 0 ? 1 + (unsigned)schedule_random(life.directories ? 5 : 12) : 0;
    memory_vfs_set_sync_failure(life.files,
                                (enum memory_sync_failure)schedule_random(MEMORY_SYNC_REVERTS + 1));
    memory_vfs_watch(life.files, watch, NULL);
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

const struct scenario crash_scenarios[] = {
    {"what_was_acknowledged_survives", what_was_acknowledged_survives, 8}, {NULL, NULL, 0}};
