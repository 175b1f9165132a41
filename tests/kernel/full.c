/* full.c -- see full.h. */
#include "tests/kernel/full.h"

#include "tests/kernel/database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_WRITES  60
#define MOST_REFUSED 12

struct full_disk {
    struct account *account;
    struct full_counts *counts;
    const char *root;
    char directory[256];
    int ballast; /* the file that takes the room */
    struct database database;
    struct test_random random;
    _Atomic(uint64_t) *written;
    _Atomic(bool) *maybe;
};

/* ---- room ---- */

static void
give_room(struct full_disk *disk)
{
    if (ftruncate(disk->ballast, 0) != 0 || fsync(disk->ballast) != 0)
        account_fail(disk->account, "room cannot be given back: %s", strerror(errno));
}

/* Take all that can be had, and give back so many bytes: what the file system says is free tells
 * less. */
static void
take_room(struct full_disk *disk, uint64_t left)
{
    uint64_t size = 0, piece = (uint64_t)32 << 20;

    while (piece >= 4096) {
        if (fallocate(disk->ballast, 0, (off_t)size, (off_t)piece) == 0)
            size += piece;
        else
            piece /= 2;
    }
    if (ftruncate(disk->ballast, (off_t)(size > left ? size - left : 0)) != 0 ||
        fsync(disk->ballast) != 0)
        account_fail(disk->account, "room cannot be given back: %s", strerror(errno));
}

/* ---- steps ---- */

static void
must_do(struct full_disk *disk, enum petal_status status, const petal_error *error,
        const char *action)
{
    account_must(disk->account, status, error, action);
}

/* What is there must be the writes that were acknowledged. */
static void
check(struct full_disk *disk, bool opened)
{
    uint64_t expected = atomic_load(disk->written);
    struct account_found found;
    petal_error error;

    must_do(disk, database_read(&disk->database, &found, &error), &error, "read");
    if (found.numbers[0] == expected + 1 && opened && atomic_load(disk->maybe))
        atomic_store(disk->written, expected + 1);
    else if (found.numbers[0] != expected)
        account_fail(disk->account, "%" PRIu64 " writes were acknowledged, %" PRIu64 " are there%s",
                     expected, found.numbers[0], opened ? ", after opening" : "");
    if (opened)
        atomic_store(disk->maybe, false);
}

/* A sync found the disk full: nobody knows what is there, and the database is read-only until it is
 * opened again. */
static bool
has_failed_to_sync(const struct full_disk *disk)
{
    petal_stats stats;

    petal_stats_get(disk->database.db, &stats);
    return stats.read_only && stats.background_error.status == PETAL_IO;
}

static enum petal_status
write_next(struct full_disk *disk, petal_error *error)
{
    static const enum petal_durability durabilities[] = {PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                         PETAL_FSYNC_WAL};
    uint64_t number = atomic_load(disk->written) + 1;
    enum petal_status status = database_write(
        &disk->database, 0, number, durabilities[test_random_below(&disk->random, 3)], error);

    if (status == PETAL_OK) {
        atomic_store(disk->written, number);
        atomic_store(disk->maybe, false);
        atomic_fetch_add(&disk->counts->writes, 1);
    } else if (status == PETAL_NO_SPACE) {
        atomic_fetch_add(&disk->counts->refused, 1);
    } else if (status == PETAL_IO) {
        atomic_store(disk->maybe, true);
        atomic_fetch_add(&disk->counts->uncertain, 1);
    } else if (status != PETAL_READ_ONLY) {
        must_do(disk, status, error, "write on a full disk");
    }
    return status;
}

/* As far as it goes. */
static void
work(struct full_disk *disk)
{
    unsigned refused = 0;

    for (unsigned i = 0; i < MOST_WRITES && refused < MOST_REFUSED; i++) {
        uint64_t what = test_random_below(&disk->random, 100);
        petal_error error;
        enum petal_status status = PETAL_OK;

        if (what < 20)
            status = petal_flush(disk->database.db, NULL, &error);
        else if (what < 25)
            status = petal_compact(disk->database.ledger.tables[0], NULL, &error);
        else
            status = write_next(disk, &error);
        if (status != PETAL_OK && status != PETAL_NO_SPACE && status != PETAL_IO &&
            status != PETAL_READ_ONLY)
            must_do(disk, status, &error, "work on a full disk");
        refused += status != PETAL_OK;
    }
}

/* Where no sync has failed it goes on by itself. */
static void
go_on(struct full_disk *disk)
{
    struct timespec pause = {0, 20000000};
    petal_error error;
    enum petal_status status = PETAL_NO_SPACE;

    for (int turn = 0; turn < 500 && status == PETAL_NO_SPACE; turn++) {
        if (turn > 0)
            nanosleep(&pause, NULL);
        status = write_next(disk, &error);
    }
    if (status != PETAL_OK && has_failed_to_sync(disk)) {
        atomic_fetch_add(&disk->counts->read_only, 1);
        (void)petal_close(disk->database.db, NULL);
        _exit(0);
    }
    must_do(disk, status, &error, "write when there is room again");
    must_do(disk, petal_flush(disk->database.db, NULL, &error), &error,
            "flush when there is room again");
    must_do(disk, petal_compact(disk->database.ledger.tables[0], NULL, &error), &error,
            "compact when there is room again");
    check(disk, false);
    must_do(disk, database_verify(&disk->database, &error), &error, "verify");
    must_do(disk, petal_close(disk->database.db, &error), &error, "close");
}

/* False: the disk is too full for it. */
static bool
open_it(struct full_disk *disk, uint64_t seed)
{
    petal_error error;
    enum petal_status status =
        database_open(&disk->database, disk->directory, OPEN_OR_MAKE, seed, &error);

    if (status == PETAL_NO_SPACE)
        return false;
    must_do(disk, status, &error, "open");
    must_do(disk, database_attach(&disk->database, true, &error), &error, "take the tables");
    check(disk, true);
    return true;
}

void
full_disk_live(struct account *account, const char *root, uint64_t left, uint64_t seed,
               _Atomic(uint64_t) *written, _Atomic(bool) *maybe, struct full_counts *counts)
{
    static struct full_disk disk;
    char ballast[256];

    disk.account = account;
    disk.counts = counts;
    disk.root = root;
    disk.written = written;
    disk.maybe = maybe;
    test_random_init(&disk.random, seed);
    snprintf(disk.directory, sizeof disk.directory, "%s/db", root);
    snprintf(ballast, sizeof ballast, "%s/ballast", root);
    disk.ballast = open(ballast, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (disk.ballast < 0)
        account_fail(account, "%s: %s", ballast, strerror(errno));
    atomic_fetch_add(&counts->limits, 1);
    /* What died on a full disk is opened there, at times. */
    if (atomic_load(written) > 0 && test_random_chance(&disk.random, 50)) {
        take_room(&disk, left);
        if (open_it(&disk, seed)) {
            atomic_fetch_add(&counts->opened_full, 1);
        } else {
            atomic_fetch_add(&counts->not_opened, 1);
            give_room(&disk);
        }
    } else {
        give_room(&disk);
    }
    if (disk.database.db == NULL && !open_it(&disk, seed))
        account_fail(account, "there is room, and the database cannot be opened");
    take_room(&disk, left);
    work(&disk);
    check(&disk, false);
    if (test_random_chance(&disk.random, 30)) {
        atomic_fetch_add(&counts->died, 1);
        _exit(0);
    }
    give_room(&disk);
    go_on(&disk);
}
