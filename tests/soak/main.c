/*
 * main.c -- half an hour in the life of a database: `make soak` runs it, SOAK_SECONDS=N says for
 * how long.
 *
 * Each round starts a process that writes, reads, flushes, compacts, alters and copies on small
 * memtables and little memory, and kills it at a random time, some of them while they open; some
 * may close instead. Then another process looks whether all that was acknowledged is there, and of
 * what was under way all or nothing (tests/soak/model.h); this process opens nothing and only keeps
 * the account. Every round the memory and the descriptors of the first process are looked at, now
 * and then the disk: they must stay below bounds that do not grow.
 *
 * Prints its seed; PETAL_SEED repeats it, though not what threads and kills make of it. Exit status
 * 0: nothing was wrong; 1: what was wrong, and where the files are that show it.
 */
#include "tests/soak/verify.h"
#include "tests/soak/victim.h"
#include "tests/support/process.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_SECONDS 1800
#define REPORT_SECONDS  15
#define PATIENCE_MS     120000 /* for what must come to its end by itself */

/* What a process may hold: its database with what petal.h says comes on top of the limit; a
 * checkpoint opened beside, likewise; what its verification takes; and what malloc keeps for a
 * dozen threads. */
#define MOST_MEMORY      (2 * (SOAK_MEMORY_BYTES + ((uint64_t)24 << 20)) + ((uint64_t)44 << 20))
#define MOST_DESCRIPTORS (3 * SOAK_OPEN_FILES + 32)

struct soak {
    struct soak_shared *shared;
    struct test_random random;
    double began, reported, seconds;
    uint64_t rounds, kills, opening_kills, closes, looks[3];
    uint64_t most_memory, most_descriptors, most_disk; /* since the last report */
    uint64_t memory_peak, descriptor_peak, disk_peak;
};

/* ---- what a process uses ---- */

/* Its own memory, without files and what is shared. */
static uint64_t
memory_of(pid_t child)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    FILE *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    status = fopen(path, "r");
    while (status != NULL && kib == 0 && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "RssAnon: %llu", &kib) != 1)
            kib = 0;
    if (status != NULL)
        fclose(status);
    return kib << 10;
}

static uint64_t
descriptors_of(pid_t child)
{
    char path[64];
    uint64_t count = 0;
    DIR *list;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)child);
    list = opendir(path);
    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        closedir(list);
    return count > 2 ? count - 2 : 0; /* . and .. */
}

static void
raise_to(uint64_t *most, uint64_t *peak, uint64_t value)
{
    if (value > *most)
        *most = value;
    if (value > *peak)
        *peak = value;
}

static void
watch(struct soak *soak, pid_t child)
{
    char directory[1024];

    raise_to(&soak->most_memory, &soak->memory_peak, memory_of(child));
    raise_to(&soak->most_descriptors, &soak->descriptor_peak, descriptors_of(child));
    soak_path(soak->shared, directory, sizeof directory, "database");
    raise_to(&soak->most_disk, &soak->disk_peak, soak_disk_bytes(directory));
}

/* ---- reports ---- */

static double
mib(uint64_t bytes)
{
    return (double)bytes / 1048576.0;
}

static void
report(struct soak *soak)
{
    struct soak_shared *shared = soak->shared;

    printf("%6.0f s: %" PRIu64 " rounds, %" PRIu64 " kills, %" PRIu64 " writes, %" PRIu64
           " reads; memory %.1f MiB, %" PRIu64 " descriptors, disk %.1f MiB; idle %.1f, compacted "
           "%.1f, live %.1f MiB\n",
           process_now() - soak->began, soak->rounds, soak->kills + soak->opening_kills,
           atomic_load(&shared->writes), atomic_load(&shared->reads), mib(soak->most_memory),
           soak->most_descriptors, mib(soak->most_disk), mib(atomic_load(&shared->disk_idle)),
           mib(atomic_load(&shared->disk_least)), mib(atomic_load(&shared->live_bytes)));
    fflush(stdout);
    soak->most_memory = soak->most_descriptors = soak->most_disk = 0;
    soak->reported = process_now();
}

static void
summarize(const struct soak *soak)
{
    struct soak_shared *shared = soak->shared;

    printf("counted: soak, seed %" PRIu64 ": %" PRIu64 " rounds, %" PRIu64
           " kills at work, %" PRIu64 " while opening, %" PRIu64 " closes; looks: %" PRIu64
           " plain, %" PRIu64 " read-only, %" PRIu64 " thorough\n",
           soak->shared->seed, soak->rounds, soak->kills, soak->opening_kills, soak->closes,
           soak->looks[SOAK_LOOK], soak->looks[SOAK_LOOK_READ_ONLY],
           soak->looks[SOAK_LOOK_THOROUGH]);
    printf("%" PRIu64 " writes, %" PRIu64 " reads, %" PRIu64 " flushes, %" PRIu64
           " compactions, %" PRIu64 " checkpoints, %" PRIu64 " table snapshots, %" PRIu64
           " alterations asked for\n",
           atomic_load(&shared->writes), atomic_load(&shared->reads), atomic_load(&shared->flushes),
           atomic_load(&shared->compactions), atomic_load(&shared->checkpoints),
           atomic_load(&shared->table_snapshots), atomic_load(&shared->alters));
    printf("%" PRIu64 " rows scanned and compared; of writes under way at a kill %" PRIu64
           " were there, %" PRIu64 " not\n",
           atomic_load(&shared->checked_rows), atomic_load(&shared->in_flight_there),
           atomic_load(&shared->in_flight_not));
    printf("at most: memory %.1f of %.1f MiB, %" PRIu64 " of %d descriptors, disk %.1f MiB\n",
           mib(soak->memory_peak), mib(MOST_MEMORY), soak->descriptor_peak, MOST_DESCRIPTORS,
           mib(soak->disk_peak));
}

static _Noreturn void
fail(struct soak *soak, const char *what)
{
    printf("FAILED in round %" PRIu64 ", seed %" PRIu64 ": %s\n", soak->rounds, soak->shared->seed,
           what);
    if (atomic_load(&soak->shared->failed))
        printf("    %s\n", soak->shared->failure);
    summarize(soak);
    printf("kept: %s (database, log: what the library told)\n", soak->shared->root);
    exit(1);
}

/* ---- processes ---- */

static pid_t
begin_process(struct soak *soak)
{
    pid_t child;

    atomic_store(&soak->shared->stop, false);
    atomic_store(&soak->shared->opened, false);
    child = process_begin();
    if (child < 0)
        fail(soak, "no process can be started");
    return child;
}

/* Whether it has ended; by itself with status 0, or by our kill, else that is a failure. */
static bool
has_ended(struct soak *soak, pid_t child, bool wait, bool killed, const char *name)
{
    char what[256];
    int status;

    if (waitpid(child, &status, wait ? 0 : WNOHANG) != child)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
        !atomic_load(&soak->shared->failed))
        return true;
    process_describe_end(what, sizeof what, name, status);
    fail(soak, what);
}

static void
await(struct soak *soak, pid_t child, const char *name)
{
    double began = process_now();
    char what[256];

    for (unsigned turn = 0; !has_ended(soak, child, false, false, name); turn++) {
        if (turn % 20 == 0)
            watch(soak, child);
        process_sleep_us(10000);
        if ((process_now() - began) * 1000 > PATIENCE_MS) {
            snprintf(what, sizeof what, "%s, process %d, does not come to its end", name,
                     (int)child);
            kill(child, SIGABRT);
            fail(soak, what);
        }
    }
}

static void
kill_process(struct soak *soak, pid_t child, const char *name)
{
    kill(child, SIGKILL);
    has_ended(soak, child, true, true, name);
}

/* Lives for so long unless it fails, or the soak's time is over. */
static void
let_live(struct soak *soak, pid_t child, uint64_t milliseconds)
{
    double end = process_now() + (double)milliseconds / 1000;
    double last = soak->began + soak->seconds;

    while (process_now() < (end < last ? end : last) && !atomic_load(&soak->shared->failed)) {
        process_sleep_us((milliseconds < 50 ? milliseconds : 50) * 1000);
        watch(soak, child);
    }
}

static void
look(struct soak *soak, enum soak_look look)
{
    uint64_t seed = test_random_next(&soak->random);
    pid_t child = begin_process(soak);

    if (child == 0) {
        soak_verify(soak->shared, look, seed);
        _exit(0);
    }
    await(soak, child, "the look after it");
    soak->looks[look]++;
}

/* Processes that only open, and are killed while they do, or while what they opened works in the
 * background. */
static void
kill_openers(struct soak *soak)
{
    for (uint64_t left = test_random_below(&soak->random, 4); left > 0; left--) {
        pid_t child = begin_process(soak);

        if (child == 0) {
            soak_victim(soak->shared, 0, false);
            _exit(0);
        }
        let_live(soak, child, test_random_below(&soak->random, 40));
        kill_process(soak, child, "the opener");
        soak->opening_kills++;
    }
}

/* Half of them die young, at their opening or right after it. Now and then one lives longer: what
 * leaks shows only then. */
static uint64_t
milliseconds_to_live(struct test_random *random)
{
    if (test_random_chance(random, 50))
        return 5 + test_random_below(random, 60);
    return (200 + test_random_below(random, 4000)) * (test_random_chance(random, 8) ? 10 : 1);
}

static void
round_of(struct soak *soak)
{
    uint64_t seed = test_random_next(&soak->random);
    bool close_it = soak->rounds == 0 || test_random_chance(&soak->random, 15);
    pid_t child = begin_process(soak);

    if (child == 0) {
        soak_victim(soak->shared, seed, true);
        _exit(0);
    }
    let_live(soak, child, milliseconds_to_live(&soak->random));
    if (close_it) {
        atomic_store(&soak->shared->stop, true);
        await(soak, child, "the process that closes");
        soak->closes++;
    } else {
        kill_process(soak, child, "the process at work");
        soak->kills++;
    }
    if (test_random_chance(&soak->random, 30))
        kill_openers(soak);
    soak->rounds++;
    look(soak, soak->rounds % 5 == 0                   ? SOAK_LOOK_THOROUGH
               : test_random_chance(&soak->random, 35) ? SOAK_LOOK_READ_ONLY
                                                       : SOAK_LOOK);
    if (soak->memory_peak > MOST_MEMORY && !test_short()) /* sanitizers take more */
        fail(soak, "a process took too much memory");
    if (soak->descriptor_peak > MOST_DESCRIPTORS)
        fail(soak, "a process had too many descriptors open");
}

int
main(void)
{
    const char *text = getenv("SOAK_SECONDS");
    struct soak soak = {.seconds = text != NULL && atof(text) > 0 ? atof(text) : DEFAULT_SECONDS};
    uint64_t seed = test_seed();
    char *root = test_directory_new();

    soak.shared =
        mmap(NULL, sizeof *soak.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (soak.shared == MAP_FAILED) {
        perror("soak");
        return 3;
    }
    soak.shared->seed = seed;
    soak.shared->root = root;
    test_random_init(&soak.random, seed);
    printf("soak for %.0f s in %s, seed %" PRIu64 ", %d rows, %d writers\n", soak.seconds, root,
           seed, SOAK_SLOTS, SOAK_WRITERS);
    fflush(stdout);
    soak.began = soak.reported = process_now();
    while (process_now() - soak.began < soak.seconds) {
        round_of(&soak);
        if (process_now() - soak.reported >= REPORT_SECONDS)
            report(&soak);
    }
    look(&soak, SOAK_LOOK_THOROUGH);
    report(&soak);
    summarize(&soak);
    printf("nothing was wrong\n");
    test_directory_free(root);
    return 0;
}
