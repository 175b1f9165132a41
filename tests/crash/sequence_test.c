/*
 * sequence_test.c -- crashes in sequence: a life is cut, or dies, at any file call; the next one
 * opens what is left, is checked, works on, and is cut again, to the depth of SEQUENCE_DEPTH
 * crashes.
 *
 * The first life of each sequence does one kind of work (tests/crash/work.c).  Each of its moments
 * is tried with all that a cut can leave: nothing and all of what is pending, names or bytes alone,
 * torn writes, sizes without bytes, each unit lost or spared alone, random subsets of sectors and
 * of pages; and with the death of the process, which keeps the page cache.  Lives after the first
 * do a few steps of any kind, and one of their moments is tried with something of all that.
 *
 * Then each call of each work fails, syncs as the file systems have it, and the life goes on, is
 * cut, or dies and is followed by others in the same boot.
 *
 * What is checked in each state: the database opens, the directory holds nothing that nobody names,
 * all tables verify, filters included, and what is there is what tests/crash/oracle.h lets be
 * there.  In some: it can be read without being written to; gets give what scans do; another
 * opening, and a compaction of all files, show the same; table snapshots and checkpoints hold what
 * they should.  What the life then does must succeed, and what an opening has shown must be there
 * after the next crash.
 *
 * PETAL_WORK: a part of the names of the kinds of work that are done, in place of all.
 */

#include "engine/manifest/format.h"
#include "sstable/block/block_io.h"
#include "tests/crash/sequence.h"
#include "tests/crash/work.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_UNITS 10

static struct sequence sequence;

/* Of store files that are being written; each kind of work sets them. */
static size_t usual_bytes, usual_sync_bytes;

static int
print_trail(void **state)
{
    (void)state;
    sequence_print_trail(&sequence);
    return 0;
}

static bool
is_wanted(const struct work *work)
{
    const char *only = getenv("PETAL_WORK");

    return only == NULL || strstr(work->name, only) != NULL;
}

/* ---- the edits of manifests ---- */

static uint64_t edits[MANIFEST_DROP_REGION + 1];

static void
count_items(const uint8_t *payload, size_t size)
{
    for (size_t at = 0; at + MANIFEST_ITEM_BYTES <= size;) {
        unsigned tag = (unsigned)(payload[at] | payload[at + 1] << 8);
        uint32_t bytes;

        memcpy(&bytes, payload + at + 4, sizeof bytes);
        assert_in_range(tag, 1, MANIFEST_DROP_REGION);
        edits[tag]++;
        at += MANIFEST_ITEM_BYTES + bytes;
    }
}

/* Each write of a manifest is of whole records. */
static void
count_edits(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    const uint8_t *records = bytes;
    size_t at = call->offset == 0 ? MANIFEST_HEADER_BYTES : 0;

    (void)argument;
    if (call->operation != MEMORY_VFS_WRITE || strstr(call->path, "MANIFEST") == NULL)
        return;
    while (at + MANIFEST_RECORD_BYTES <= call->size) {
        uint32_t size;

        memcpy(&size, records + at + 16, sizeof size);
        if (records[at + 20] == MANIFEST_EDIT)
            count_items(records + at + MANIFEST_RECORD_BYTES, size);
        at += MANIFEST_RECORD_BYTES +
              (size + MANIFEST_ALIGNMENT - 1) / MANIFEST_ALIGNMENT * MANIFEST_ALIGNMENT;
    }
}

/* ---- the first life ---- */

static struct memory_vfs *
files_of(const struct work *work)
{
    struct memory_vfs *vfs = memory_vfs_new();

    memory_vfs_use_log_windows(vfs, work->log_windows);
    block_sink_bytes = work->small_steps ? 1024 : usual_bytes;
    block_sink_sync_bytes = work->small_steps ? 3072 : usual_sync_bytes;
    memory_vfs_refuse_links(vfs, work->no_links ? EOPNOTSUPP : 0);
    memory_vfs_copy_on_write(vfs, work->copy_on_write);
    return vfs;
}

/* All that comes before the steps that are watched. */
static void
begin_work(struct life *life, const struct work *work, uint64_t seed, size_t most_moments)
{
    petal_error error;

    snprintf(sequence.trail[0], sizeof sequence.trail[0], "%s, seed %" PRIu64, work->name, seed);
    sequence.trail_depth = 1;
    life_init(life, files_of(work), 1000, 1, seed);
    if (work->fresh)
        life_keep_moments(life, most_moments);
    must(life_open(life, work->options, &error), &error);
    life_do(life, work->before, true);
    if (!work->fresh)
        life_keep_moments(life, most_moments);
}

static void
end_work(struct life *life)
{
    life_fini(life);
    seen_free(&sequence.seen);
    sequence.trail_depth = 0;
}

/* ---- cuts ---- */

static unsigned
random_cuts(void)
{
    return test_long() ? 20 : test_short() ? 1 : 2;
}

static void
try_cuts(const struct life *life, const struct moment *moment, uint64_t seed)
{
    for (enum memory_cut cut = 0; cut <= MEMORY_CUT_STALE; cut++) {
        bool random =
            cut == MEMORY_CUT_RANDOM || cut == MEMORY_CUT_RANDOM_PAGES || cut == MEMORY_CUT_STALE;

        for (unsigned i = 0; i < (random ? random_cuts() : 1); i++) {
            struct crash crash = {CRASH_CUT, cut, seed + i};

            sequence_crash(&sequence, life, moment, &crash, seed * 31 + cut + i);
        }
    }
}

static void
try_units(const struct life *life, const struct moment *moment, uint64_t seed)
{
    size_t units = memory_vfs_pending(moment->files);

    for (size_t unit = 0; unit < units && unit < MOST_UNITS; unit++) {
        struct crash crash = {.kind = CRASH_LOSES_UNIT, .choice = unit};

        sequence_crash(&sequence, life, moment, &crash, seed * 37 + unit);
        crash.kind = CRASH_SPARES_UNIT;
        sequence_crash(&sequence, life, moment, &crash, seed * 41 + unit);
    }
}

static size_t
cut_work(const struct work *work, uint64_t seed)
{
    uint64_t states = sequence_states(&sequence), distinct = sequence.distinct;
    double began = test_seconds_used();
    struct life life;
    petal_error error;
    size_t moments;

    begin_work(&life, work, seed, SIZE_MAX);
    life.watch = count_edits;
    life_do(&life, work->steps, true);
    must(life_end(&life, work->closes, &error), &error);
    moments = life.moment_count;
    for (size_t i = 0; i < moments; i += test_short() ? 8 : 1) {
        struct crash death = {.kind = CRASH_DEATH};

        sequence_crash(&sequence, &life, &life.moments[i], &death, seed + i);
        try_cuts(&life, &life.moments[i], seed + 1000 * i);
        try_units(&life, &life.moments[i], seed + 1000 * i);
    }
    end_work(&life);
    print_message("%-40s %4zu moments %6" PRIu64 " states %6" PRIu64 " distinct %6.1f s\n",
                  work->name, moments, sequence_states(&sequence) - states,
                  sequence.distinct - distinct, test_seconds_used() - began);
    return moments;
}

static void
print_states(double began)
{
    test_counted("%" PRIu64 " states: %" PRIu64 " behind one crash, %" PRIu64
                 " behind two, %" PRIu64 " behind three; %" PRIu64 " deaths; %" PRIu64
                 " opened, the others as these; %.0f a second",
                 sequence_states(&sequence), sequence.states[1], sequence.states[2],
                 sequence.states[3], sequence.deaths, sequence.distinct,
                 (double)sequence_states(&sequence) / (test_seconds_used() - began));
}

static void
begin_test(unsigned depth, size_t moments_behind, size_t moments_of_trust)
{
    memset(&sequence, 0, sizeof sequence);
    sequence.depth = test_long() ? SEQUENCE_DEPTH : depth;
    sequence.moments_behind = test_long() ? 2 * moments_behind + 1 : moments_behind;
    sequence.moments_of_trust = test_long() ? 5 * moments_of_trust : moments_of_trust;
}

TEST_WITH(test_crashes_in_sequence, NULL, print_trail)
{
    uint64_t seed = test_seed();
    double began = test_seconds_used();
    size_t kinds = 0, moments = 0;

    begin_test(SEQUENCE_DEPTH, 1, 3);
    for (size_t i = 0; i < work_count(); i++) {
        if (is_wanted(work_at(i))) {
            moments += cut_work(work_at(i), seed + i);
            kinds++;
        }
    }
    for (unsigned tag = 1; kinds == work_count() && tag <= MANIFEST_DROP_REGION; tag++) {
        if (edits[tag] == 0 && tag != MANIFEST_AHEAD) /* the clock only goes on */
            fail_msg("no work has written the edit %u of the manifest", tag);
    }
    print_message("%zu kinds of work, %zu moments\n", kinds, moments);
    print_states(began);
}

/* ---- calls that fail ---- */

/* Which call of the steps fails. */
struct failing {
    struct life *life;
    enum { SYNCS_FAIL, OTHERS_FAIL, DISK_IS_FULL } how;
    enum memory_sync_failure failure; /* of a sync */
    int error;
    uint64_t calls, fails; /* which of them, from 1 on */
    bool has_failed;
};

/* The disk is found full for some acts. */
static void
fill_disk(struct life *life)
{
    static const unsigned rooms[] = {1, 40, 400, 4000};
    unsigned most = rooms[test_random_below(&life->choice, sizeof rooms / sizeof *rooms)];

    memory_vfs_copy_on_write(life->fixture.vfs, test_random_chance(&life->choice, 50));
    life_fill_disk(life, test_random_below(&life->choice, most));
    life->space_behind =
        atomic_load(&life->progress.begun) + 1 + (uint32_t)test_random_below(&life->choice, 5);
}

/* Moments are kept from the failure on. */
static void
fail_call(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    struct failing *failing = argument;
    bool syncs = call->operation == MEMORY_VFS_SYNC ||
                 call->operation == MEMORY_VFS_SYNC_DIRECTORY ||
                 call->operation == MEMORY_VFS_SYNC_PARENT;

    (void)bytes;
    if (syncs != (failing->how == SYNCS_FAIL) || !life_call_changes(failing->life, call) ||
        ++failing->calls != failing->fails)
        return;
    failing->has_failed = true;
    life_keep_moments(failing->life, 1);
    if (failing->how == DISK_IS_FULL)
        fill_disk(failing->life);
    else
        memory_vfs_fail_at(failing->life->fixture.vfs, 1, failing->error, false);
}

/* False: there are not so many calls. */
static bool
fail_work(const struct work *work, const struct failing *which, uint64_t seed)
{
    struct failing failing = *which;
    struct life life;

    begin_work(&life, work, seed, 0);
    memory_vfs_set_sync_failure(life.fixture.vfs, failing.failure);
    failing.life = &life;
    life.watch = fail_call;
    life.watch_argument = &failing;
    life_do(&life, work->steps, failing.how == DISK_IS_FULL);
    (void)life_end(&life, work->closes, NULL);
    for (size_t i = 0; failing.has_failed && i < life.moment_count; i++) {
        static const struct crash crashes[] = {{.kind = CRASH_DEATH},
                                               {.kind = CRASH_CUT, .cut = MEMORY_CUT_LOSE_ALL},
                                               {.kind = CRASH_CUT, .cut = MEMORY_CUT_RANDOM}};
        bool is_end = i + 1 == life.moment_count;

        snprintf(sequence.trail[0], sizeof sequence.trail[0],
                 "%s, seed %" PRIu64 ", %s %" PRIu64 " fails as %d", work->name, seed,
                 failing.how == SYNCS_FAIL ? "sync" : "call", failing.fails, (int)failing.failure);
        /* All ways at the end, one of them before. */
        for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++) {
            if (is_end || test_long() || k == failing.fails % 3)
                sequence_crash(&sequence, &life, &life.moments[i], &crashes[k], seed * 43 + k);
        }
    }
    end_work(&life);
    return failing.has_failed;
}

/* How many calls there were. */
static uint64_t
fail_calls(struct failing failing, uint64_t seed)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    uint64_t count = 0;

    for (size_t i = 0; i < work_count(); i++) {
        failing.fails = 1;
        failing.error = EIO;
        while (is_wanted(work_at(i)) && fail_work(work_at(i), &failing, seed + i)) {
            count++;
            failing.fails += test_short() ? 16 : 1;
            if (failing.how == SYNCS_FAIL)
                failing.error = errors[(failing.fails + failing.failure) % 3];
        }
    }
    return count;
}

TEST_WITH(test_each_sync_fails, NULL, print_trail)
{
    uint64_t seed = test_seed(), syncs = 0;
    double began = test_seconds_used();

    begin_test(2, 0, 0);
    for (enum memory_sync_failure failure = 0; failure <= MEMORY_SYNC_REVERTS; failure++)
        syncs += fail_calls((struct failing){.how = SYNCS_FAIL, .failure = failure}, seed);
    print_message("%" PRIu64 " failures of syncs, in three ways\n", syncs);
    print_states(began);
}

TEST_WITH(test_each_other_call_fails, NULL, print_trail)
{
    uint64_t seed = test_seed();
    double began = test_seconds_used();

    begin_test(2, 0, 0);
    print_message("%" PRIu64 " failures\n", fail_calls((struct failing){.how = OTHERS_FAIL}, seed));
    print_states(began);
}

/* What is refused then is not there afterwards; when there is room all goes on. */
TEST_WITH(test_the_disk_is_full_at_each_call, NULL, print_trail)
{
    uint64_t seed = test_seed();
    double began = test_seconds_used();

    begin_test(2, 0, 0);
    print_message("%" PRIu64 " full disks\n",
                  fail_calls((struct failing){.how = DISK_IS_FULL}, seed));
    print_states(began);
}

int
main(void)
{
    usual_bytes = block_sink_bytes;
    usual_sync_bytes = block_sink_sync_bytes;
    return test_run();
}
