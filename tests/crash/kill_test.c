/*
 * kill_test.c -- a real process on real files is killed while it opens, writes, compacts and
 * flushes in the background. It reports each acknowledged write over a pipe. What the next opening
 * finds must be a prefix of the writes, batches whole, with every write that was reported. The work
 * goes on in the same directory, which is opened again now by the checking process, now by the next
 * victim.  Half of the victims have a disk whose syncs are slow now and then, and a thread that
 * flushes single tables, so that threads meet in many places.  Prints its seed.
 *
 * When the test fails, the files as they were before each opening of the directory are kept, as
 * hard links (what is in a file is never changed by a later opening), each time with what the
 * library told of its background work since.
 */

#include "base/vfs_posix.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS                100
#define ROUNDS_PER_PLACE      10   /* then a new directory */
#define MOST_WRITES           4000 /* of one victim */
#define WRITES_PER_COMPACTION 100
#define FILLER                400

/* What the victim tells: first that it is open, with the number of writes it found, then each
 * number it wrote. */
enum victim_exit { VICTIM_DONE, VICTIM_CANNOT_OPEN, VICTIM_FOUND_WRONG, VICTIM_CANNOT_WRITE };

/* ---- what is kept for the case that the test fails ---- */

static struct {
    char *directory;                    /* of the database; NULL: all is well */
    char *before[2 * ROUNDS_PER_PLACE]; /* the files before each opening */
    size_t count;
} place;

static void
begin_place(void)
{
    place.directory = test_directory_new();
    place.count = 0;
}

static void
end_place(void)
{
    test_directory_free(place.directory);
    place.directory = NULL;
    while (place.count > 0)
        test_directory_free(place.before[--place.count]);
}

/* REQUIRES: no process has the directory open. */
static void
keep_files(void)
{
    char *kept = test_directory_new();
    DIR *list = opendir(place.directory);

    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char *from = test_path(place.directory, entry->d_name);
        char *to = test_path(kept, entry->d_name);

        if (entry->d_name[0] != '.')
            assert_int_equal(link(from, to), 0);
        free(from);
        free(to);
    }
    closedir(list);
    assert_true(place.count < 2 * ROUNDS_PER_PLACE);
    place.before[place.count++] = kept;
}

/* What the library tells goes to a file beside the links made last. */
static void
note_line(void *context, enum petal_log_level level, const char *line)
{
    (void)level;
    dprintf(*(int *)context, "%s\n", line);
}

static int
open_notes(void)
{
    char *path = test_path(place.before[place.count - 1], "told");
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    free(path);
    return file;
}

static int
tell_what_is_kept(void **state)
{
    (void)state;
    if (place.directory == NULL)
        return 0;
    print_error("kept: %s, and what was there before each opening of it:\n", place.directory);
    for (size_t i = 0; i < place.count; i++)
        print_error("    %s\n", place.before[i]);
    return 0;
}

/* ---- victims ---- */

static struct test_random slowness; /* of the victim's disk */

static void
sleep_microseconds(uint64_t microseconds)
{
    struct timespec time = {(time_t)(microseconds / 1000000),
                            (long)(microseconds % 1000000) * 1000};

    nanosleep(&time, NULL);
}

static void
be_slow(void)
{
    if (test_random_chance(&slowness, 25))
        sleep_microseconds(test_random_below(&slowness, 4000));
}

static int
slow_sync(void *context, petal_file *file)
{
    be_slow();
    return vfs_posix.sync(context, file);
}

static int
slow_sync_directory(void *context, petal_directory *directory)
{
    be_slow();
    return vfs_posix.sync_directory(context, directory);
}

static petal_options
small_memtables(void)
{
    return (petal_options){.create = true,
                           .cache_bytes = (size_t)64 << 10,
                           .memtable_bytes = (size_t)64 << 10,
                           .log_sync_interval_ms = 1000};
}

static void
tell(int pipe_end, uint64_t number)
{
    if (write(pipe_end, &number, sizeof number) != (ssize_t)sizeof number)
        _exit(VICTIM_DONE); /* the parent is gone */
}

/* Flush one table or both at any time, beside the writer's own flushes. */
static void *
flush_now_and_then(void *argument)
{
    const struct ledger *ledger = argument;
    petal_error error = {0};

    for (;;) {
        uint64_t which = test_random_below(&slowness, LEDGER_TABLES + 1);

        sleep_microseconds(test_random_below(&slowness, 3000));
        if (petal_flush(ledger->db, which < LEDGER_TABLES ? ledger->tables[which] : NULL, &error) !=
            PETAL_OK) {
            fprintf(stderr, "victim: %s\n", error.text);
            _exit(VICTIM_CANNOT_WRITE);
        }
    }
}

/* The life of a victim, in a process of its own. */
static _Noreturn void
victim(int pipe_end, bool slow)
{
    int notes = open_notes();
    petal_vfs vfs = vfs_posix;
    petal_env env = {.vfs = &vfs, .log_context = &notes, .log = note_line};
    petal_options options = small_memtables();
    struct ledger ledger = {.filler = FILLER};
    struct ledger_state state;
    petal_error error = {0};
    petal_db *db;
    pthread_t flusher;
    uint64_t number;

    options.env = &env;
    if (slow) {
        vfs.sync = slow_sync;
        vfs.sync_directory = slow_sync_directory;
    }
    if (petal_open(place.directory, &options, &db, &error) != PETAL_OK ||
        ledger_create(&ledger, db, &error) != PETAL_OK ||
        ledger_read(&ledger, &state, &error) != PETAL_OK) {
        fprintf(stderr, "victim: %s\n", error.text);
        _exit(VICTIM_CANNOT_OPEN);
    }
    number = ledger_last(&state);
    if (!ledger_is_after(&state, number))
        _exit(VICTIM_FOUND_WRONG);
    tell(pipe_end, number);
    if (slow && pthread_create(&flusher, NULL, flush_now_and_then, &ledger) != 0)
        _exit(VICTIM_CANNOT_WRITE);
    for (uint64_t last = number + MOST_WRITES; number < last;) {
        if (ledger_write(&ledger, ++number, PETAL_SYNC_WAL, &error) != PETAL_OK) {
            fprintf(stderr, "victim: %s\n", error.text);
            _exit(VICTIM_CANNOT_WRITE);
        }
        tell(pipe_end, number);
        if (number % WRITES_PER_COMPACTION == 0 &&
            petal_compact(ledger.tables[number / WRITES_PER_COMPACTION % LEDGER_TABLES], NULL,
                          &error) != PETAL_OK) {
            fprintf(stderr, "victim: %s\n", error.text);
            _exit(VICTIM_CANNOT_WRITE);
        }
    }
    for (;;)
        pause();
}

/* Keep the last number told. */
static bool
hear(int pipe_end, uint64_t *number)
{
    uint64_t told;

    if (read(pipe_end, &told, sizeof told) != (ssize_t)sizeof told)
        return false;
    *number = told;
    return true;
}

/* Start a victim, kill it, and give the last number it told; *acknowledged is left as it is when it
 * told none. */
static void
start_and_kill(struct test_random *random, bool while_opening, bool slow, uint64_t *acknowledged)
{
    int ends[2], status = 0;
    pid_t child;

    keep_files();
    test_random_init(&slowness, test_random_next(random));
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        victim(ends[1], slow);
    }
    close(ends[1]);
    if (!while_opening)
        hear(ends[0], acknowledged);
    sleep_microseconds(while_opening ? test_random_below(random, 4000)
                                     : 1000 + test_random_below(random, 24000));
    kill(child, SIGKILL);
    while (hear(ends[0], acknowledged))
        ;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        print_error("the victim ended by itself: %d\n", WEXITSTATUS(status));
    assert_true(WIFSIGNALED(status));
}

/* Returns the number of writes found. */
static uint64_t
open_and_check(uint64_t acknowledged)
{
    int notes;
    petal_env env = {.log_context = &notes, .log = note_line};
    petal_options options = small_memtables();
    struct ledger ledger = {.filler = FILLER};
    petal_db *db;
    uint64_t count;

    keep_files();
    notes = open_notes();
    options.env = &env;
    MUST(petal_open(place.directory, &options, &db, WHY));
    MUST(ledger_create(&ledger, db, WHY));
    count = ledger_must_be_prefix(&ledger);
    /* One write may have been stored and not told of. */
    if (count < acknowledged || count > acknowledged + 1)
        print_error("%" PRIu64 " writes were acknowledged, %" PRIu64 " are there\n", acknowledged,
                    count);
    assert_true(count == acknowledged || count == acknowledged + 1);
    MUST(petal_close(db, WHY));
    close(notes);
    return count;
}

TEST_WITH(test_killed_processes_lose_nothing, NULL, tell_what_is_kept)
{
    unsigned rounds = test_long() ? 20 * ROUNDS : ROUNDS;
    uint64_t acknowledged = 0, writes = 0;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t before;

        if (round % ROUNDS_PER_PLACE == 0) {
            begin_place();
            acknowledged = 0;
        }
        before = acknowledged;
        start_and_kill(&random, round % 4 == 3, test_random_chance(&random, 50), &acknowledged);
        assert_true(acknowledged >= before);
        writes += acknowledged - before;
        /* Two in three times the next victim recovers, and may be killed while it does. */
        if (round % 3 == 2 || round % ROUNDS_PER_PLACE == ROUNDS_PER_PLACE - 1)
            acknowledged = open_and_check(acknowledged);
        if (round % ROUNDS_PER_PLACE == ROUNDS_PER_PLACE - 1)
            end_place();
    }
    test_counted("%u kills, %" PRIu64 " acknowledged writes", rounds, writes);
    assert_true(writes > rounds);
}
