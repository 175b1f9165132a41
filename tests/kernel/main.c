/*
 * main.c -- the power fails on real file systems of this kernel: `make kernel-cuts` runs it.
 *
 * A victim (tests/kernel/victim.h) works on a database that lies on a file system of its own
 * (tests/kernel/machine.h), which is taken away at a random instant, a quarter of the times while
 * the victim opens, and after some victims that only died. Then the victim is killed, the file
 * system is mounted again, so that it replays its journal, and the database is looked at, or opened
 * by the next victim right away: what was acknowledged as synced is there, what is there is a
 * prefix of the log in all threads' order, batches are whole, changes of the schema happened or
 * not, checkpoints are whole, all blocks verify, and a second opening finds the same. Many lives
 * follow on one image. At last the file systems are filled up (tests/kernel/full.h).
 *
 * PETAL_CUTS: so many on each image; PETAL_LONG=1: many. PETAL_SEED chooses what victims do, though
 * not what threads and the kernel make of it. Where there is no root, no loop device, no program
 * that makes a file system, it prints SKIPPED and the reason. Exit status 0: nothing was wrong; 1:
 * what was wrong, and where the files are as they were before the opening that showed it.
 */
#include "tests/kernel/full.h"
#include "tests/kernel/machine.h"
#include "tests/kernel/victim.h"
#include "tests/support/process.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CUTS             4 /* on each image */
#define CUTS_LONG        60
#define LIMITS           8 /* of room, on each kind of file system */
#define LIMITS_LONG      60
#define MOST_LIFE_US     50000
#define MOST_OPENING_US  6000
#define PATIENCE_SECONDS 120

struct test {
    const char *directory;
    char database[192], copy[192], before[192];
    struct places places;
    struct account *account;
    struct machine machine;
    struct test_random random;
    uint64_t seed, counts[8][CUT_KINDS], opening_cuts, deaths, limits, looks, thorough_looks;
    double cut_seconds, began;
    bool tried[8];
    size_t skipped;
};

/* ---- files that are kept for the case of a failure ---- */

static void
copy_file(int from_directory, int to_directory, const char *name)
{
    int from = openat(from_directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int to = openat(to_directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    static char bytes[1 << 16];
    ssize_t count;

    while (from >= 0 && to >= 0 && (count = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)count) != count)
            break;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

/* The files of a directory that has no others in it. */
static void
for_each_file(const char *directory, const char *to)
{
    DIR *list = opendir(directory);
    int target = to != NULL ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    for (struct dirent *entry = list != NULL ? readdir(list) : NULL; entry != NULL;
         entry = readdir(list)) {
        if (entry->d_type != DT_REG)
            continue;
        if (target >= 0)
            copy_file(dirfd(list), target, entry->d_name);
        else
            unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (target >= 0)
        close(target);
    if (list != NULL)
        closedir(list);
}

static void
keep_before(struct test *test)
{
    for_each_file(test->before, NULL);
    for_each_file(test->database, test->before);
}

static _Noreturn void
fail(struct test *test, const char *what)
{
    char *kept = test_directory_new();

    for_each_file(test->before, kept);
    printf("FAILED on %s %s, seed %" PRIu64 ": %s\n", test->machine.kind->name,
           test->machine.kind->text, test->seed, what);
    if (atomic_load(&test->account->failed))
        printf("    %s\n", test->account->failure);
    printf("kept: %s, the database before the opening that showed it\n", kept);
    fflush(stdout);
    _exit(1);
}

/* ---- processes ---- */

static pid_t
begin_process(struct test *test)
{
    pid_t child;

    atomic_store(&test->account->opened, false);
    atomic_store(&test->account->disk_is_there, true);
    child = process_begin();
    if (child < 0)
        fail(test, "no process can be started");
    return child;
}

static void
describe_end(struct test *test, const char *name, int status)
{
    char what[128];

    process_describe_end(what, sizeof what, name, status);
    fail(test, what);
}

static void
wait_for_end(struct test *test, pid_t child, const char *name)
{
    double began = process_now();
    int status = 0;

    while (waitpid(child, &status, WNOHANG) != child) {
        if (process_now() - began > PATIENCE_SECONDS) {
            kill(child, SIGABRT);
            fail(test, "a process does not come to its end");
        }
        process_sleep_us(500);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        describe_end(test, name, status);
}

static void
look(struct test *test, bool thorough)
{
    uint64_t seed = test_random_next(&test->random);
    pid_t child = begin_process(test);

    if (child == 0) {
        victim_look(test->account, &test->places, seed, thorough);
        _exit(0);
    }
    wait_for_end(test, child, "the look after a cut");
    test->looks++;
    test->thorough_looks += thorough;
}

/* Until the victim has opened. A victim that ends by itself has failed. */
static void
wait_until_open(struct test *test, pid_t child)
{
    double began = process_now();
    int status;

    while (!atomic_load(&test->account->opened)) {
        if (waitpid(child, &status, WNOHANG) == child)
            describe_end(test, "the victim", status);
        if (process_now() - began > PATIENCE_SECONDS) {
            kill(child, SIGABRT);
            fail(test, "a victim does not come to open");
        }
        process_sleep_us(200);
    }
}

/* The kernel writes this and that meanwhile, as it would. */
static void
let_live(struct test *test, uint64_t microseconds)
{
    double end = process_now() + (double)microseconds * 1e-6;

    while (process_now() < end) {
        if (test_random_chance(&test->random, 40))
            machine_write_some(&test->machine, test->database, test_random_next(&test->random));
        process_sleep_us(test_random_below(&test->random, 4000));
    }
}

static void
end_victim(struct test *test, pid_t child)
{
    int status = 0;

    process_sleep_us(test_random_below(&test->random, 2000));
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child)
        fail(test, "the victim is gone");
    /* A store into a mapping whose file has lost its disk ends a process, as petal.h says. */
    if (!WIFSIGNALED(status) || (WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGBUS) ||
        atomic_load(&test->account->failed))
        describe_end(test, "the victim", status);
}

/* ---- cuts ---- */

static enum cut_kind
choose_cut(struct test *test)
{
    uint64_t chance = test_random_below(&test->random, 100);

    if (test->machine.on_outer)
        return CUT_DEVICE;
    return chance < 60 ? CUT_NOTHING_WRITTEN : chance < 85 ? CUT_JOURNAL_WRITTEN : CUT_ALL_WRITTEN;
}

static void
remove_copy(struct test *test)
{
    for_each_file(test->copy, NULL);
    rmdir(test->copy);
    atomic_store(&account_life(test->account)->copy, COPY_NONE);
}

/* A victim at work, for a while; some are cut off while they open. */
static pid_t
begin_victim(struct test *test, bool *opening)
{
    uint64_t seed = test_random_next(&test->random);
    pid_t child = begin_process(test);

    if (child == 0)
        victim_live(test->account, &test->places, seed);
    *opening = test_random_chance(&test->random, 25);
    if (!*opening)
        wait_until_open(test, child);
    let_live(test, test_random_below(&test->random, *opening ? MOST_OPENING_US : MOST_LIFE_US));
    return child;
}

static void
cut_once(struct test *test, uint64_t *counts, bool last)
{
    enum cut_kind cut = choose_cut(test);
    bool opening;
    pid_t child;

    /* Processes may die before, of which the next one finds what the medium may lack. */
    while (test_random_chance(&test->random, 35)) {
        child = begin_victim(test, &opening);
        end_victim(test, child);
        account_note_death(test->account);
        remove_copy(test);
        test->deaths++;
    }
    child = begin_victim(test, &opening);
    account_note_cut(test->account);
    if (!machine_cut(&test->machine, cut))
        fail(test, test->machine.why);
    end_victim(test, child);
    if (!machine_restore(&test->machine))
        fail(test, test->machine.why);
    counts[cut]++;
    test->opening_cuts += opening;
    keep_before(test);
    if (last || test_random_chance(&test->random, 60))
        look(test, last || test_random_chance(&test->random, 50));
    remove_copy(test);
}

static void
try_machine(struct test *test, size_t kind, bool on_outer, uint64_t cuts)
{
    const struct machine_kind *tried = &machine_kinds[kind];
    double began = process_now();

    if (!machine_start(&test->machine, tried, on_outer, test->directory)) {
        printf("SKIPPED: %s%s%s%s: %s\n", tried->name, *tried->text != 0 ? " " : "", tried->text,
               on_outer ? ", device gone" : "", test->machine.why);
        test->skipped++;
        return;
    }
    test->tried[kind] = true;
    mkdir(test->database, 0700);
    account_reset(test->account);
    for (uint64_t i = 0; i < cuts; i++)
        cut_once(test, test->counts[kind], i + 1 == cuts);
    printf("%-5s %-15s %3" PRIu64 " cuts%s, %.2f s each, of which the kernel took %.2f\n",
           tried->name, tried->text, cuts, on_outer ? " of the device" : "",
           (process_now() - began) / (double)cuts, test->machine.cut_seconds / (double)cuts);
    fflush(stdout);
    machine_stop(&test->machine);
}

/* ---- full file systems ---- */

/* Half of the limits are narrow: there the least step does not fit in. */
static void
fill_up(struct test *test, const struct machine_kind *kind, uint64_t limits)
{
    struct full_counts *counts =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct shared_state {
        _Atomic(uint64_t) written;
        _Atomic(bool) maybe;
    } *state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double began = process_now();

    if (counts == MAP_FAILED || state == MAP_FAILED ||
        !machine_start(&test->machine, kind, false, test->directory)) {
        printf("SKIPPED: a full %s: %s\n", kind->name, test->machine.why);
        test->skipped++;
        return;
    }
    for (uint64_t i = 0; i < limits; i++) {
        uint64_t left = i % 2 == 0 ? test_random_below(&test->random, 64 << 10)
                                   : i * ((uint64_t)1 << 20) / limits;
        uint64_t seed = test_random_next(&test->random);
        pid_t child = begin_process(test);

        if (child == 0) {
            full_disk_live(test->account, test->machine.root, left, seed, &state->written,
                           &state->maybe, counts);
            _exit(0);
        }
        wait_for_end(test, child, "the process on a full disk");
        test->limits++;
    }
    printf("%-5s full: %" PRIu64 " limits of room, %.2f s each; %" PRIu64 " writes, %" PRIu64
           " refused, %" PRIu64 " uncertain; died full %" PRIu64 ", opened full %" PRIu64
           " and %" PRIu64 " not; %" PRIu64 " read-only behind a failed sync\n",
           kind->name, limits, (process_now() - began) / (double)limits,
           atomic_load(&counts->writes), atomic_load(&counts->refused),
           atomic_load(&counts->uncertain), atomic_load(&counts->died),
           atomic_load(&counts->opened_full), atomic_load(&counts->not_opened),
           atomic_load(&counts->read_only));
    fflush(stdout);
    machine_stop(&test->machine);
    munmap(counts, sizeof *counts);
    munmap(state, sizeof *state);
}

static void
summarize(const struct test *test)
{
    const struct account *account = test->account;
    uint64_t sum = 0;

    for (size_t kind = 0; kind < machine_kind_count; kind++) {
        if (!test->tried[kind])
            continue;
        printf("%-5s %-15s", machine_kinds[kind].name, machine_kinds[kind].text);
        for (size_t cut = 0; cut < CUT_KINDS; cut++) {
            sum += test->counts[kind][cut];
            if (machine_kinds[kind].cuts[cut])
                printf("  %s: %" PRIu64, cut_names[cut], test->counts[kind][cut]);
        }
        printf("\n");
    }
    printf("%" PRIu64 " writes acknowledged, %" PRIu64 " of them synced, %" PRIu64
           " begun and lost; %" PRIu64 " flushes, %" PRIu64 " compactions, %" PRIu64
           " checkpoints, %" PRIu64 " changes of the schema; %" PRIu64 " openings, %" PRIu64
           " looks, %" PRIu64 " of them thorough\n",
           atomic_load(&account->writes), atomic_load(&account->synced_writes),
           atomic_load(&account->lost_writes), atomic_load(&account->flushes),
           atomic_load(&account->compactions), atomic_load(&account->checkpoints),
           atomic_load(&account->steps), atomic_load(&account->openings), test->looks,
           test->thorough_looks);
    printf("counted: kernel-cuts, seed %" PRIu64 ": %" PRIu64 " power cuts, %" PRIu64
           " while opening, %" PRIu64 " deaths before, %" PRIu64
           " limits of room, in %.0f s, %.1f cuts a second; %zu skipped\n",
           test->seed, sum, test->opening_cuts, test->deaths, test->limits,
           process_now() - test->began, (double)sum / (process_now() - test->began), test->skipped);
}

static int
run(const char *directory)
{
    static struct test test;
    const char *text = getenv("PETAL_CUTS");
    uint64_t cuts = text != NULL && atoi(text) > 0 ? (uint64_t)atoi(text)
                    : test_long()                  ? CUTS_LONG
                                                   : CUTS;
    char why[256];

    test.began = process_now();
    test.directory = directory;
    test.seed = test_seed();
    test_random_init(&test.random, test.seed);
    snprintf(test.database, sizeof test.database, "%s/root/db", directory);
    snprintf(test.copy, sizeof test.copy, "%s/root/copy", directory);
    snprintf(test.before, sizeof test.before, "%s/before", directory);
    test.places = (struct places){test.database, test.copy};
    if (!machine_begin(directory, why, sizeof why)) {
        printf("SKIPPED: power cuts of real file systems: %s\n", why);
        return 0;
    }
    mkdir(test.before, 0700);
    test.account =
        mmap(NULL, sizeof *test.account, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (test.account == MAP_FAILED) {
        perror("kernel-cuts");
        return 3;
    }
    for (size_t kind = 0; kind < machine_kind_count; kind++) {
        if (machine_kinds[kind].cuts[CUT_NOTHING_WRITTEN])
            try_machine(&test, kind, false, cuts);
        try_machine(&test, kind, true, cuts);
    }
    for (size_t kind = 0; kind < machine_kind_count; kind++)
        if (kind == 0 || strcmp(machine_kinds[kind].name, machine_kinds[kind - 1].name) != 0)
            fill_up(&test, &machine_kinds[kind], test_long() ? LIMITS_LONG : LIMITS);
    summarize(&test);
    return 0;
}

/* ---- the process that outlives it ---- */

static volatile sig_atomic_t child_of_main;

static void
pass_on(int number)
{
    (void)number;
    if (child_of_main > 0)
        kill((pid_t)child_of_main, SIGKILL);
}

/* Nothing may be mounted or looped when it has ended, however it ended. */
int
main(void)
{
    char *directory = test_directory_new();
    double began;
    int status = 0;
    pid_t child;
    size_t left;

    child = process_begin();
    if (child == 0)
        exit(run(directory));
    if (child < 0) {
        perror("kernel-cuts");
        return 3;
    }
    child_of_main = child;
    signal(SIGINT, pass_on);
    signal(SIGTERM, pass_on);
    while (waitpid(child, &status, 0) != child && errno == EINTR)
        ;
    for (began = process_now();
         (left = machine_left_behind(directory)) > 0 && process_now() - began < 30;)
        process_sleep_us(10000);
    if (left > 0)
        printf("FAILED: %zu loop devices of %s are left behind\n", left, directory);
    test_directory_free(directory);
    if (left > 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 130;
}
