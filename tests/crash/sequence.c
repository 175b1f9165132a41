/* sequence.c -- see tests/crash/sequence.h. */
#include "tests/crash/sequence.h"

#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- what was tried ---- */

uint64_t
sequence_states(const struct sequence *sequence)
{
    uint64_t count = 0;

    for (unsigned i = 1; i <= SEQUENCE_DEPTH; i++)
        count += sequence->states[i];
    return count;
}

void
sequence_print_trail(struct sequence *sequence)
{
    if (sequence->trail_depth > 0)
        print_error("after %" PRIu64 " states:\n", sequence_states(sequence));
    for (unsigned i = 0; i < sequence->trail_depth; i++)
        print_error("  %s\n", sequence->trail[i]);
    sequence->trail_depth = 0;
}

static void
note_trail(struct sequence *sequence, unsigned depth, const struct moment *moment,
           const struct crash *crash)
{
    const struct life_progress *progress = &moment->progress;

    snprintf(sequence->trail[depth], sizeof sequence->trail[depth],
             "%s before call %d of %s; %u acts begun, %u stored, %u synced, %u changed%s",
             crash_text(crash), (int)moment->operation, moment->path, progress->begun,
             progress->stored, progress->synced, progress->changed,
             moment->opened ? "" : ", not opened");
    sequence->trail_depth = depth + 1;
}

/* ---- lives ---- */

static void check(struct sequence *sequence, const struct aftermath *aftermath, unsigned depth,
                  uint64_t seed);

/* What the crash leaves of a life at the moment.  `earlier`: what the life began with, NULL for the
 * first.  Before it has opened, no more holds than held then: just what it was found to hold, where
 * no page cache can be lost. */
static struct aftermath
crash_life(const struct life *life, const struct moment *moment, const struct crash *crash,
           const struct aftermath *earlier)
{
    struct aftermath left = {.files = memory_vfs_clone(moment->files),
                             .keeps_stored = crash->kind == CRASH_DEATH,
                             .keeps_cache = crash->kind == CRASH_DEATH,
                             .now_ms = moment->now_ms + 10000,
                             .number = life->number};

    if (moment->opened) {
        left.oracle = (struct oracle){&life->base, life->acts, moment->progress};
    } else if (earlier != NULL && earlier->keeps_cache) {
        left.oracle = earlier->oracle;
        left.keeps_stored = left.keeps_stored && earlier->keeps_stored;
    } else {
        left.oracle = (struct oracle){.base = &life->base};
    }
    memory_vfs_set_capacity(left.files, UINT64_MAX);
    crash_do(crash, left.files);
    /* Reads see the bytes before those that a failed sync should have made durable. */
    if (memory_vfs_sync_failure(left.files) == MEMORY_SYNC_REVERTS)
        left.keeps_stored = false;
    return left;
}

static void
crash_at(struct sequence *sequence, const struct life *life, const struct moment *moment,
         const struct crash *crash, const struct aftermath *earlier, unsigned depth, uint64_t seed)
{
    struct aftermath left = crash_life(life, moment, crash, earlier);

    note_trail(sequence, depth, moment, crash);
    check(sequence, &left, depth, seed);
    memory_vfs_free(left.files);
    sequence->trail_depth = depth;
}

void
sequence_crash(struct sequence *sequence, const struct life *life, const struct moment *moment,
               const struct crash *crash, uint64_t seed)
{
    crash_at(sequence, life, moment, crash, NULL, 1, seed);
}

/* Opens, is checked, and does something if it works. */
static void
live(struct sequence *sequence, const struct aftermath *aftermath, struct life *life, bool works,
     struct test_random *random)
{
    struct world found, shown;
    bool was_shown = test_random_chance(random, 5) && aftermath_shows_readers(aftermath, &shown);
    const struct step steps[] = {{.kind = STEP_RANDOM, .a = (unsigned)test_random_below(random, 4)},
                                 {.kind = STEP_WRITE, .a = 1, .b = PETAL_FSYNC_WAL},
                                 {.kind = STEP_RANDOM, .a = (unsigned)test_random_below(random, 2)},
                                 {.kind = STEP_END}};
    petal_error error;

    if (aftermath->oracle.acts != NULL && test_random_chance(random, 8))
        aftermath_open_full(life, random);
    else
        aftermath_open(life, random);
    aftermath_check(aftermath, life, &found);
    if (was_shown)
        aftermath_expect(life, false, &shown, "a reader was shown something else");
    seen_add(&sequence->seen, memory_vfs_hash(aftermath->files), &found);
    aftermath_check_more(aftermath, life, random);
    if (works)
        life_do(life, steps, true);
    aftermath_must(life_end(life, test_random_chance(random, 15), &error) == PETAL_OK, "close",
                   &error);
}

/* Which of its moments a life is followed at; SIZE_MAX: all. One that works on is followed at one
 * of them: what each of its kinds of ends comes to other lives show. */
static size_t
followed_moment(const struct life *life, bool works, struct test_random *random)
{
    return works && life->moment_count > 0 && !test_long()
               ? (size_t)test_random_below(random, life->moment_count)
               : SIZE_MAX;
}

/* One more life, and what it comes to at `most` moments and its end. */
static void
check_life(struct sequence *sequence, const struct aftermath *aftermath, unsigned depth, bool works,
           size_t most, uint64_t seed)
{
    static const struct crash loses_all = {.kind = CRASH_CUT, .cut = MEMORY_CUT_LOSE_ALL};
    struct test_random random;
    struct life life;
    size_t followed;

    test_random_init(&random, seed);
    life_init(&life, memory_vfs_clone(aftermath->files), aftermath->now_ms, aftermath->number,
              seed);
    if (works || most > 0)
        life_keep_moments(&life, most);
    memory_vfs_use_log_windows(life.fixture.vfs, test_random_chance(&random, 30));
    live(sequence, aftermath, &life, works, &random);
    followed = followed_moment(&life, works, &random);
    for (size_t i = 0; i < life.moment_count; i++) {
        bool is_end = i + 1 == life.moment_count;
        struct crash crash;

        if (followed != SIZE_MAX && i != followed)
            continue;
        crash = is_end && !works ? loses_all : crash_random(life.moments[i].files, &random);
        crash_at(sequence, &life, &life.moments[i], &crash, aftermath, depth + 1,
                 test_random_next(&random));
    }
    life_fini(&life);
}

/* A process died, and the next one goes by what only the page cache has: the power fails while it
 * looks around, or when it has shown what it found. */
static void
check_trust(struct sequence *sequence, const struct aftermath *aftermath, unsigned depth,
            uint64_t seed)
{
    check_life(sequence, aftermath, depth, false, sequence->moments_of_trust, seed + 1);
}

/* Files that were seen are not opened again, but for the first death: what is pending differs. */
static void
check(struct sequence *sequence, const struct aftermath *aftermath, unsigned depth, uint64_t seed)
{
    const struct world *world = seen_find(&sequence->seen, memory_vfs_hash(aftermath->files));
    bool first_death = aftermath->keeps_cache && depth == 1;
    bool works = depth < sequence->depth;
    struct world matched;

    sequence->states[depth]++;
    sequence->deaths += aftermath->keeps_cache;

    if (first_death)
        check_trust(sequence, aftermath, depth, seed);
    if (first_death || world == NULL) {
        sequence->distinct++;
        check_life(sequence, aftermath, depth, works, works ? sequence->moments_behind : 0, seed);
        return;
    }
    aftermath_must(
        oracle_accepts(&aftermath->oracle, aftermath->keeps_stored, world, &matched, false),
        "it does not hold what it should", NULL);
}
