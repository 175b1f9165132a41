/*
 * failure_sites_test.c -- every place in the library that asks for a file call or for memory is
 * refused it: once, for a while and for good, with each error that the call can give, in work that
 * comes by all of them. Nothing hangs or leaks, what is told is what failed, nothing that was
 * acknowledged is lost, now or after a crash, and where the cause passes work goes on.
 *
 * A PLACE is a site (tests/crash/failure_site.h) in a step of work. A run finds all places; then
 * each is tried with some errors, chosen by the seed, in the long run with all of them. Sites that
 * are come by only when something else has failed are tried as a second failure after that.
 */

#include "base/clock.h"
#include "tests/crash/failure_work.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what can fail ---- */

static const int *
errors_of(unsigned call)
{
    static const int opening[] = {EIO, EMFILE, ENFILE, EACCES, EINTR, ENOMEM, EAGAIN, 0},
                     making[] = {EIO, ENOSPC, EDQUOT, EMFILE, ENFILE, EROFS, EACCES, EINTR, 0},
                     writing[] = {EIO, ENOSPC, EDQUOT, EROFS, EINTR, EAGAIN, EFBIG, 0},
                     reading[] = {EIO, MEMORY_SHORT_READ, EINTR, EAGAIN, 0},
                     closing[] = {EIO, EINTR, ENOSPC, EDQUOT, 0},
                     syncing[] = {EIO, ENOSPC, EDQUOT, EINTR, EROFS, 0}, other[] = {EIO, ENOMEM, 0},
                     locking[] = {EAGAIN, ENOLCK, EIO, EINTR, 0},
                     naming[] = {EIO, ENOSPC, EDQUOT, EROFS, EACCES, 0},
                     linking[] = {EXDEV, EPERM, EMLINK, ENOSYS, EIO, ENOSPC, EDQUOT, EROFS, 0},
                     memory[] = {ENOMEM, 0};

    switch (call) {
    case MEMORY_VFS_OPEN:
        return opening;
    case MEMORY_VFS_OPEN_DIRECTORY:
    case FAILURE_CREATE:
        return making;
    case MEMORY_VFS_WRITE:
    case MEMORY_VFS_LOG_STORE:
        return writing;
    case MEMORY_VFS_READ:
        return reading;
    case MEMORY_VFS_CLOSE:
        return closing;
    case MEMORY_VFS_SYNC:
    case MEMORY_VFS_SYNC_DIRECTORY:
    case MEMORY_VFS_SYNC_PARENT:
        return syncing;
    case MEMORY_VFS_LOCK:
        return locking;
    case MEMORY_VFS_RENAME:
    case MEMORY_VFS_REMOVE:
        return naming;
    case MEMORY_VFS_LINK:
        return linking;
    case FAILURE_MEMORY:
        return memory;
    default:
        return other;
    }
}

static size_t
count_errors(unsigned call)
{
    const int *errors = errors_of(call);
    size_t count = 0;

    while (errors[count] != 0)
        count++;
    return count;
}

/* Whether the call may have done something when it gives this error. */
static bool
has_effects(unsigned call, int error)
{
    switch (call) {
    case FAILURE_MEMORY:
    case MEMORY_VFS_SIZE:
    case MEMORY_VFS_LOCK:
    case MEMORY_VFS_CLOSE:
    case MEMORY_VFS_MAP:
    case MEMORY_VFS_CONTAINS:
    case MEMORY_VFS_FREE_BYTES:
        return false;
    case MEMORY_VFS_LINK:
        return error == EIO;
    case MEMORY_VFS_OPEN:
    case FAILURE_CREATE:
    case MEMORY_VFS_OPEN_DIRECTORY:
    case MEMORY_VFS_RENAME:
    case MEMORY_VFS_REMOVE:
    case MEMORY_VFS_LIST_DIRECTORY:
        return error == EIO || error == EINTR;
    default:
        return true;
    }
}

/* ---- sites that nothing fails at, and failures that nobody is told of ---- */

struct excuse {
    const char *function, *called, *reason;
};

static const struct excuse unvisited[] = {
    {"add_region", "mem_alloc", "huge pages are the default allocator's alone"},
    {"add_region", "mem_alloc_aligned", "huge pages are the default allocator's alone"},
};

/* Where a failure changes no answer and no promise, so that nobody need be told. That closing what
 * was only read, removing, mapping and linking fail is told nowhere. */
static const struct excuse silent[] = {
    {"append_edit", "write_at", "the seal behind an edit says only that the edit is synced"},
    {"write_file", "", "on a full disk a loaded manifest is made durable where it is"},
    {"copy_end", "directory_list", "what no manifest names goes with the next copy"},
    {"wal_file_create", "directory_open_file", "a log that is not made ahead is made later"},
    {"wal_file_allocate", "mem_", "a log that is not made ahead is made later"},
    {"block_source_read", "read_at", "where a filter cannot be read the data is"},
    {"open_path", "directory_open_file", "the same; and a handle may be free a moment later"},
    {"take_shared", "", "a reader may do without a lock where none can be had"},
    {"readers_join", "", "the same"},
    {"lock_slot", "", "the same; or there is another slot"},
    {"look_into", "read_at", "the manifest is read again"},
    {"read_whole", "read_at", "the same, by a reader"},
    {"load_frame", "read_at", "the log is read again, by a reader"},
    {"take_uses", "", "a file that a reader may need stays"},
    {"add_slot", "", "the same"},
    {"readers_remove", "mem_", "the same"},
    {"readers_say", "write_at", "the same"},
    {"opener_lock_confirm", "directory_open_file",
     "no lock was made meanwhile, as far as can be seen"},
    {"take_new", "mem_", "what the cache has no memory for is not kept"},
    {"add_chunk", "mem_", "the same"},
    {"slab_regions_take", "mem_", "the same"},
    {"make_node", "mem_", "nodes are read ahead where there is memory"},
    {"load_region", "mem_", "the same"},
    {"replace_memory", "mem_", "blocks are read ahead where there is memory"},
    {"row_collect_hold", "mem_", "the short way of a get gives way to the general one"},
    {"result_set", "mem_", "the same"},
    {"reserve_more", "mem_", "the same"},
    {"reserve_bytes", "mem_", "the same"},
    {"sst_reader_may_contain_prefix", "mem_", "a filter that is not asked lets pass"},
    {"read_around_init", "mem_", "nothing is read around a block"},
    {"bloom_rows_init", "mem_", "rows are asked of the chunks themselves"},
    {"name_hidden", "mem_", "a receipt names as many hidden cells as it has room for"},
    {"remove_leftovers", "", "what is left of a set is taken away another time"},
    {"check_place", "open", "what a set replaces need not be readable"},
    {"try_temporary", "", "without locks nobody takes a set that is being saved for a leftover"},
    {"shrink", "mem_", "the large buffer serves as well"},
    {"room_take", "directory_free_bytes", "a compaction begins where nobody knows what is free"},
    {"take_inputs", "mem_", "the background comes back to a compaction"},
    {"store_runs_gather", "mem_", "the same"},
    {"append_edit", "mem_", "the same"},
};

static bool
is_excused(const struct excuse *excuses, size_t count, const struct failure_site *site)
{
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || (strcmp(excuses[i].function, site->function) == 0 &&
                          strstr(site->called, excuses[i].called) != NULL);
    return found;
}

/* ---- places ---- */

struct place {
    size_t work, step;
    int site;
    uint64_t visits;
    unsigned call;
};

struct sweep {
    struct place *places;
    size_t count, capacity;
    size_t work; /* at hand */
    struct test_random random;
    bool planned[FAILURE_MOST_SITES]; /* some place has it */
    uint64_t failed_at[FAILURE_MOST_SITES];
    struct {
        struct place place;
        struct failure_plan plan;
        bool known;
    } behind[FAILURE_MOST_SITES]; /* how a site is come by that no place has */
    uint64_t tried, refused, silent, not_again, problems;
};

static char at_work[400];

static void
tell_hang(int signal)
{
    static const char text[] = "HANGS: ";

    (void)signal;
    if (write(2, text, sizeof text - 1) < 0 || write(2, at_work, strlen(at_work)) < 0)
        _exit(2);
    abort();
}

static void
note_visits(void *argument, size_t step, const struct failure_faults *faults)
{
    struct sweep *sweep = argument;
    bool only_new = failure_works[sweep->work].only_what_is_new;

    for (int site = 0; site < FAILURE_MOST_SITES; site++) {
        if (faults->visits[site].count == 0 || (only_new && sweep->planned[site]))
            continue;
        sweep->planned[site] = true;
        if (sweep->count == sweep->capacity) {
            sweep->capacity = sweep->capacity == 0 ? 1024 : 2 * sweep->capacity;
            sweep->places = test_reallocate(sweep->places, sweep->capacity * sizeof *sweep->places);
        }
        sweep->places[sweep->count++] = (struct place){
            sweep->work, step, site, faults->visits[site].count, faults->visits[site].call};
    }
}

/* Nothing fails, and all is as it should be. */
static void
find_places(struct sweep *sweep)
{
    for (size_t i = 0; i < failure_work_count; i++) {
        struct failure_run run;

        sweep->work = i;
        failure_work_begin(&failure_works[i], &run);
        snprintf(run.about, sizeof run.about, "%s: nothing fails", failure_works[i].name);
        failure_work_do(&failure_works[i], &run, 0, NULL, note_visits, sweep);
        failure_settle(&run, 0, failure_works[i].only_what_is_new ? 1 : FAILURE_CRASHES);
        failure_run_fini(&run);
        sweep->problems += run.problems;
    }
}

/* ---- failing ---- */

static void
describe(char text[400], const struct place *place, const struct failure_plan *plan)
{
    static const char *const lengths[] = {"once", "for a while", "for good"};
    const struct failure_site *site = failure_site_at((size_t)place->site);
    int length = snprintf(
        text, 400, "%s, step %zu: %s:%d %s, %s, visit %" PRIu64 ": %s %s, effect %d%s",
        failure_works[place->work].name, place->step, site->file, site->line, site->function,
        site->called, plan->visit, plan->error > 0 ? strerror(plan->error) : "short read",
        lengths[plan->length], (int)plan->effect, plan->reverts ? ", reverts" : "");

    if (plan->then >= 0) {
        site = failure_site_at((size_t)plan->then);
        snprintf(text + length, 400 - (size_t)length, ", then %s:%d %s, %s", site->file, site->line,
                 site->function, site->called);
    }
}

static void
note_silence(struct sweep *sweep, const struct place *place, struct failure_run *run)
{
    const struct failure_site *site = failure_site_at((size_t)place->site);
    bool harmless = place->call == MEMORY_VFS_CLOSE || place->call == MEMORY_VFS_REMOVE ||
                    place->call == MEMORY_VFS_MAP || place->call == MEMORY_VFS_LINK;
    /* The background comes back to what it had no memory for. */
    bool in_background = !run->fixture.options.no_compaction && place->call == FAILURE_MEMORY;

    sweep->silent++;
    if (!harmless && !in_background && !failure_works[place->work].looks_again &&
        !is_excused(silent, sizeof silent / sizeof *silent, site))
        failure_problem(run, "nobody was told");
}

static void
try_place(struct sweep *sweep, const struct place *place, const struct failure_plan *plan)
{
    const struct failure_work *work = &failure_works[place->work];
    bool syncs = place->call == MEMORY_VFS_SYNC || place->call == MEMORY_VFS_SYNC_DIRECTORY;
    struct failure_run run;

    failure_work_begin(work, &run);
    describe(run.about, place, plan);
    memcpy(at_work, run.about, sizeof at_work);
    alarm(300);
    failure_work_do(work, &run, place->step, plan, NULL, NULL);
    sweep->tried++;
    sweep->refused += run.faults.failed;
    sweep->not_again += run.faults.failed == 0;
    if (run.faults.failed > 0 && run.told == 0)
        note_silence(sweep, place, &run);
    for (int site = 0; site < FAILURE_MOST_SITES; site++) {
        sweep->failed_at[site] += run.faults.failed_at[site];
        if (run.faults.visits[site].count > 0 && !sweep->planned[site] &&
            !sweep->behind[site].known && plan->then < 0) {
            sweep->behind[site].place = *place;
            sweep->behind[site].plan = *plan;
            sweep->behind[site].known = true;
        }
    }
    failure_settle(&run, (unsigned)test_random_below(&sweep->random, FAILURE_CRASHES),
                   syncs && !work->only_what_is_new ? FAILURE_CRASHES : 1);
    failure_run_fini(&run);
    alarm(0);
    sweep->problems += run.problems;
}

static struct failure_plan
choose_plan(struct sweep *sweep, const struct place *place)
{
    struct test_random *random = &sweep->random;
    struct failure_plan plan = {
        .site = place->site,
        .then = -1,
        .visit = 1 + test_random_below(random, place->visits),
        .error = errors_of(place->call)[test_random_below(random, count_errors(place->call))],
        .length = (enum failure_length)test_random_below(random, 3),
        .while_calls = (unsigned)test_random_below(random, 6),
        .reverts = test_random_chance(random, 50),
    };

    if (has_effects(place->call, plan.error))
        plan.effect = (enum memory_effect)test_random_below(random, MEMORY_EFFECTS);
    return plan;
}

/* Each error, each length; syncs with each of what file systems make of one that failed. */
static void
try_all(struct sweep *sweep, const struct place *place)
{
    const int *errors = errors_of(place->call);
    int ways = place->call == MEMORY_VFS_SYNC || place->call == MEMORY_VFS_SYNC_DIRECTORY ? 2 : 1;

    for (size_t i = 0; errors[i] != 0; i++) {
        for (enum failure_length length = FAILURE_ONCE; length <= FAILURE_FOR_GOOD; length++) {
            for (int way = 0; way < ways; way++) {
                struct failure_plan plan = choose_plan(sweep, place);

                plan.error = errors[i];
                plan.length = length;
                plan.reverts = way == 1;
                plan.effect = MEMORY_DID_NOTHING;
                if (has_effects(place->call, plan.error))
                    plan.effect =
                        (enum memory_effect)test_random_below(&sweep->random, MEMORY_EFFECTS);
                try_place(sweep, place, &plan);
            }
        }
    }
}

/* All of that at one place of each site. */
static void
try_each_site(struct sweep *sweep)
{
    for (int site = 0; site < FAILURE_MOST_SITES; site++) {
        const struct place *chosen = NULL;
        uint64_t seen = 0;

        for (size_t i = 0; i < sweep->count; i++) {
            if (sweep->places[i].site == site && test_random_below(&sweep->random, ++seen) == 0)
                chosen = &sweep->places[i];
        }
        if (chosen != NULL)
            try_all(sweep, chosen);
    }
}

/* What is come by only after a failure fails, too. */
static void
try_behind(struct sweep *sweep)
{
    for (int site = 0; site < FAILURE_MOST_SITES; site++) {
        struct failure_plan plan = sweep->behind[site].plan;

        if (!sweep->behind[site].known)
            continue;
        plan.then = site;
        try_place(sweep, &sweep->behind[site].place, &plan);
    }
}

static size_t
count_missed(const struct sweep *sweep, size_t count, bool told)
{
    size_t missed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct failure_site *site = failure_site_at(i);

        if (sweep->failed_at[i] > 0 ||
            is_excused(unvisited, sizeof unvisited / sizeof *unvisited, site))
            continue;
        if (told)
            print_error("nothing failed at %s:%d %s: %s\n", site->file, site->line, site->function,
                        site->called);
        missed++;
    }
    return missed;
}

/* Under sanitizers one of four places, and each site. */
static bool
is_wanted(struct sweep *sweep, const struct place *place)
{
    if (sweep->failed_at[place->site] == 0)
        return true;
    return !test_short() || test_random_chance(&sweep->random, 25);
}

static void
report(const struct sweep *sweep, size_t known, size_t missed, uint64_t microseconds)
{
    size_t excused = sizeof unvisited / sizeof *unvisited;

    test_counted("%zu sites known, %zu failed, %zu excused, %zu missed; %zu places, %zu kinds of "
                 "work",
                 known, known - missed - excused, excused, missed, sweep->count,
                 failure_work_count);
    test_counted("%" PRIu64 " runs, %" PRIu64 " a second, %" PRIu64 " calls refused; in %" PRIu64
                 " nobody was told, %" PRIu64 " did not come by again",
                 sweep->tried, sweep->tried * 1000000 / (microseconds + 1), sweep->refused,
                 sweep->silent, sweep->not_again);
}

TEST(test_every_site_fails)
{
    struct sweep *sweep = test_allocate(sizeof *sweep);
    size_t known = failure_sites_find(), missed;
    uint64_t began = clock_us();

    memset(sweep, 0, sizeof *sweep);
    test_random_init(&sweep->random, test_seed());
    signal(SIGALRM, tell_hang);
    find_places(sweep);
    for (size_t i = 0; i < sweep->count; i++) {
        if (test_long()) {
            try_all(sweep, &sweep->places[i]);
        } else if (is_wanted(sweep, &sweep->places[i])) {
            struct failure_plan plan = choose_plan(sweep, &sweep->places[i]);

            try_place(sweep, &sweep->places[i], &plan);
        }
    }
    if (!test_short())
        try_each_site(sweep);
    try_behind(sweep);
    /* What lies after few errors of few places may take more of them. */
    for (unsigned round = 0; round < 8 && !test_short() && count_missed(sweep, known, false) > 0;
         round++) {
        for (size_t i = 0; i < sweep->count; i++) {
            if (sweep->places[i].call != FAILURE_MEMORY &&
                !failure_works[sweep->places[i].work].only_what_is_new) {
                struct failure_plan plan = choose_plan(sweep, &sweep->places[i]);

                try_place(sweep, &sweep->places[i], &plan);
            }
        }
        try_behind(sweep);
    }
    missed = count_missed(sweep, known, true);
    report(sweep, known, missed, clock_us() - began);
    failure_works_end();
    assert_int_equal(sweep->problems, 0);
    assert_true(known > 250);
    /* The few errors that a short run tries need not lead to all that lies after errors. */
    assert_true(missed == 0 || (test_short() && missed < 10));
    free(sweep->places);
    free(sweep);
}
