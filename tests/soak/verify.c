/* verify.c -- see tests/soak/verify.h. */
#include "tests/soak/verify.h"

#include "tests/soak/victim.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- slots ---- */

/* "" or what is wrong with the rows in the reader's results. */
static const char *
judge(struct soak_reader *reader, uint32_t slot, const struct soak_state *state, int64_t began)
{
    const char *wrong = "";

    for (enum soak_table table = SOAK_FIRST; table < SOAK_TABLES && wrong[0] == '\0'; table++) {
        soak_expect(reader->cells, slot, state, table, SOAK_VERSIONS, began, soak_clock_ms());
        wrong = soak_compare(reader->cells, reader->results[table]);
    }
    return wrong;
}

static int64_t
read_slot(struct soak_reader *reader, uint32_t slot)
{
    struct soak_database *database = reader->database;
    petal_read_options options = {.versions = soak_is_whole(slot) ? 1 : SOAK_VERSIONS};
    int64_t began = soak_clock_ms();
    char row[SOAK_ROW_BYTES + 1];
    petal_error error;

    soak_row(slot, row);
    for (size_t i = 0; i < SOAK_TABLES; i++)
        soak_must(
            database->shared,
            petal_get(database->tables[i], soak_text(row), &options, reader->results[i], &error),
            &error, "get");
    return began;
}

/* The acknowledged state is there, or the one under way; then that one is acknowledged. */
static void
settle(struct soak_reader *reader, uint32_t slot)
{
    struct soak_shared *shared = reader->database->shared;
    struct soak_slot *of = &shared->slots[slot];
    bool pending = (atomic_load(&of->word) & SOAK_PENDING) != 0;
    const struct soak_state *now = soak_acknowledged(of);
    const struct soak_state *next = &of->states[now == &of->states[0] ? 1 : 0];
    int64_t began = read_slot(reader, slot);
    const char *wrong = judge(reader, slot, now, began), *also_wrong;

    if (wrong[0] == '\0') {
        if (pending)
            atomic_fetch_add(&shared->in_flight_not, 1);
        soak_give_up(of);
        return;
    }
    also_wrong = pending ? judge(reader, slot, next, began) : "";
    if (!pending || also_wrong[0] != '\0')
        soak_fail(shared,
                  "slot %u (%s): acknowledged is generation %" PRIu64 ": %s; under way is %" PRIu64
                  ": %s; found %zu and %zu cells",
                  slot, soak_is_whole(slot) ? "whole" : "single", now->generation, wrong,
                  pending ? next->generation : 0, pending ? also_wrong : "nothing",
                  petal_result_count(reader->results[0]), petal_result_count(reader->results[1]));
    soak_acknowledge(of);
    atomic_fetch_add(&shared->in_flight_there, 1);
}

/* Every row of a scan is a slot's, in order, and what its state says. */
static void
scan_table(struct soak_reader *reader, enum soak_table table, bool reversed)
{
    struct soak_shared *shared = reader->database->shared;
    petal_scan_options options = {.reversed = reversed};
    petal_result *result = reader->results[0];
    petal_cursor *cursor;
    char before[SOAK_ROW_BYTES] = "";
    petal_error error;

    soak_must(shared, petal_cursor_open(reader->database->tables[table], &options, &cursor, &error),
              &error, "open a cursor");
    for (bool first = true;; first = false) {
        int64_t began = soak_clock_ms();
        petal_slice row;
        uint32_t slot;

        soak_must(shared, petal_cursor_next_row(cursor, result, &error), &error, "scan");
        if (petal_result_count(result) == 0)
            break;
        row = petal_result_cell(result, 0)->row;
        slot = soak_slot_of_row(row);
        if (slot == SOAK_SLOTS ||
            (!first && (memcmp(before, row.data, sizeof before) > 0) != reversed))
            soak_fail(shared, "scan: a row that no slot has, or out of order");
        memcpy(before, row.data, sizeof before);
        /* A cell with a time to live is judged by the cursor's clock, which may be up to its
         * opening's. */
        soak_expect(reader->cells, slot, soak_acknowledged(&shared->slots[slot]), table, 1,
                    began - 60000, soak_clock_ms());
        if (soak_compare(reader->cells, result)[0] != '\0')
            soak_fail(shared, "scan: slot %u: %s", slot, soak_compare(reader->cells, result));
        atomic_fetch_add(&shared->checked_rows, 1);
    }
    petal_cursor_close(cursor);
}

static void
check_all(struct soak_database *database, uint64_t seed)
{
    struct soak_reader reader;
    petal_error error;

    soak_reader_init(&reader, database);
    for (uint32_t slot = 0; slot < SOAK_SLOTS; slot++)
        settle(&reader, slot);
    for (enum soak_table table = SOAK_FIRST; table < SOAK_TABLES; table++) {
        scan_table(&reader, table, (seed >> table & 1) != 0);
        soak_must(database->shared, petal_table_verify(database->tables[table], &error), &error,
                  "verify a table");
    }
    soak_reader_free(&reader);
}

/* ---- the disk ---- */

uint64_t
soak_disk_bytes(const char *directory)
{
    DIR *list = opendir(directory);
    uint64_t bytes = 0;

    if (list == NULL)
        return 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[1024];
        struct stat status;

        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            lstat(path, &status) != 0)
            continue;
        bytes += S_ISDIR(status.st_mode) ? soak_disk_bytes(path) : (uint64_t)status.st_blocks * 512;
    }
    closedir(list);
    return bytes;
}

/* Names, sizes and times of all files, in whatever order they are listed. */
static uint64_t
fingerprint(const char *directory)
{
    DIR *list = opendir(directory);
    uint64_t sum = 0;

    if (list == NULL)
        return 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[1024];
        struct stat status;
        uint64_t facts[4];

        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        /* READERS is what readers write to. */
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, "READERS") == 0 || lstat(path, &status) != 0)
            continue;
        facts[0] = S_ISDIR(status.st_mode) ? fingerprint(path) : (uint64_t)status.st_size;
        facts[1] = (uint64_t)status.st_mtim.tv_sec;
        facts[2] = (uint64_t)status.st_mtim.tv_nsec;
        facts[3] = (uint64_t)status.st_ino;
        sum += soak_hash(soak_hash(1, path, strlen(path)), facts, sizeof facts);
    }
    closedir(list);
    return sum;
}

/* Bytes of all living cells: keys, values, and what a timestamp and the like take. */
static uint64_t
live_bytes(const struct soak_shared *shared)
{
    struct soak_cells *cells = test_allocate(sizeof *cells);
    int64_t now = soak_clock_ms();
    uint64_t bytes = 0;

    for (uint32_t slot = 0; slot < SOAK_SLOTS; slot++) {
        for (enum soak_table table = SOAK_FIRST; table < SOAK_TABLES; table++) {
            soak_expect(cells, slot, soak_acknowledged(&shared->slots[slot]), table, SOAK_VERSIONS,
                        now, now);
            for (size_t i = 0; i < cells->count; i++)
                bytes += SOAK_ROW_BYTES + 1 + strlen(cells->cells[i].qualifier) + 16 +
                         cells->cells[i].value_size;
        }
    }
    free(cells);
    return bytes;
}

/* ---- looks ---- */

/* The copy holds exactly what the database holds, and what is left of it when all is compacted is
 * what the data needs. */
static void
check_checkpoint(struct soak_database *database, uint64_t seed)
{
    struct soak_shared *shared = database->shared;
    struct soak_database copy;
    char directory[1024];
    petal_error error;

    soak_path(shared, directory, sizeof directory, "checkpoint");
    soak_must(shared, petal_checkpoint(database->db, directory, &error), &error,
              "make a checkpoint");
    soak_open(&copy, shared, directory, false);
    check_all(&copy, seed);
    soak_must(shared, petal_flush(copy.db, NULL, &error), &error, "flush a checkpoint");
    for (size_t i = 0; i < SOAK_TABLES; i++)
        soak_must(shared, petal_compact(copy.tables[i], NULL, &error), &error,
                  "compact a checkpoint");
    check_all(&copy, seed >> 2);
    soak_close(&copy);
    atomic_store(&shared->disk_least, soak_disk_bytes(directory));
    soak_remove(directory);
    atomic_fetch_add(&shared->checkpoints, 1);
}

static void
weigh(struct soak_shared *shared)
{
    uint64_t live = live_bytes(shared), idle = atomic_load(&shared->disk_idle);
    uint64_t least = atomic_load(&shared->disk_least);

    atomic_store(&shared->live_bytes, live);
    if ((double)idle > SOAK_DISK_FACTOR * (double)least + (double)SOAK_DISK_MORE)
        soak_fail(shared, "the idle database takes %" PRIu64 " bytes, all compacted %" PRIu64, idle,
                  least);
    if ((double)least > SOAK_DATA_FACTOR * (double)live + (double)SOAK_DISK_MORE)
        soak_fail(shared, "all compacted takes %" PRIu64 " bytes; keys and values are %" PRIu64,
                  least, live);
}

static void
check_restore(struct soak_database *database, uint64_t seed)
{
    petal_slice name = soak_text("moment");
    petal_error error;

    soak_must(database->shared,
              petal_table_snapshot_create(database->tables[SOAK_FIRST], name, NULL, &error), &error,
              "take a table snapshot");
    soak_must(
        database->shared,
        petal_table_snapshot_restore(database->db, name, &database->tables[SOAK_FIRST], &error),
        &error, "restore a table snapshot");
    soak_attach(database);
    soak_must(database->shared, petal_table_snapshot_delete(database->db, name, &error), &error,
              "delete a table snapshot");
    check_all(database, seed);
    atomic_fetch_add(&database->shared->table_snapshots, 1);
}

static void
look_thoroughly(struct soak_database *database, const char *directory, uint64_t seed)
{
    petal_error error;

    soak_clear_up(database);
    soak_must(database->shared, petal_wait_idle(database->db, &error), &error,
              "wait for the background");
    atomic_store(&database->shared->disk_idle, soak_disk_bytes(directory));
    check_checkpoint(database, seed >> 4);
    weigh(database->shared);
    check_restore(database, seed >> 8);
}

static void
look_read_only(struct soak_shared *shared, const char *directory, uint64_t seed)
{
    uint64_t before = fingerprint(directory);
    struct soak_database one, other;

    soak_open(&one, shared, directory, true);
    soak_open(&other, shared, directory, true);
    check_all(&one, seed);
    check_all(&other, seed >> 2);
    soak_close(&one);
    soak_close(&other);
    if (fingerprint(directory) != before)
        soak_fail(shared, "reading only changed the files");
}

/* A checkpoint that a kill cut short is refused for want of a manifest, or a whole one. */
static void
look_at_leftover(struct soak_shared *shared)
{
    char directory[1024], manifest[1024];
    petal_options options = {.read_only = true};
    petal_error error;
    petal_db *db;
    enum petal_status status;

    soak_path(shared, directory, sizeof directory, "checkpoint");
    soak_path(shared, manifest, sizeof manifest, "checkpoint/MANIFEST");
    status = petal_open(directory, &options, &db, &error);
    if (access(manifest, F_OK) != 0) {
        if (status != PETAL_NOT_FOUND && status != PETAL_CORRUPT)
            soak_fail(shared, "a checkpoint without a manifest is opened with status %d", status);
    } else {
        struct soak_database copy;
        struct soak_reader reader;

        soak_must(shared, status, &error, "open a checkpoint that was left");
        soak_must(shared, petal_close(db, &error), &error, "close a checkpoint");
        soak_open(&copy, shared, directory, true);
        soak_reader_init(&reader, &copy);
        for (uint32_t slot = 0; slot < SOAK_SLOTS; slot += 2)
            soak_check_whole(&reader, slot, NULL);
        soak_reader_free(&reader);
        soak_close(&copy);
    }
    soak_remove(directory);
}

void
soak_verify(struct soak_shared *shared, enum soak_look look, uint64_t seed)
{
    struct soak_database database;
    char directory[1024];

    soak_path(shared, directory, sizeof directory, "database");
    look_at_leftover(shared);
    if (look == SOAK_LOOK_READ_ONLY) {
        look_read_only(shared, directory, seed);
        return;
    }
    soak_open(&database, shared, directory, false);
    check_all(&database, seed);
    if (look == SOAK_LOOK_THOROUGH)
        look_thoroughly(&database, directory, seed);
    soak_close(&database);
}
