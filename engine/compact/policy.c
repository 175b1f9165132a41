/* policy.c -- see engine/compact/policy.h. */
#include "engine/compact/policy.h"

#include <assert.h>

/* The runs of a store and what is asked of them. */
struct choice {
    const struct policy_run *runs;
    size_t count;
    size_t first_free; /* after the newest busy run: those from here on may be taken */
    const struct policy_limits *limits;
    struct policy_pick *pick;
};

/* Sizes come from stored numbers: sums stop at the top instead of going round. */
static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static uint64_t
bytes_of(const struct policy_run *runs, size_t first, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = first; i < first + count; i++)
        bytes = add_saturated(bytes, runs[i].bytes);
    return bytes;
}

/* limits->min_bytes, or less where many stores share the memtables: then a flush gives each of them
 * a small part. */
static uint64_t
small_bytes(const struct choice *choice)
{
    uint64_t flushed = 0, most = choice->limits->min_bytes;

    for (size_t i = 0; i < choice->count; i++)
        flushed = choice->runs[i].flushed > flushed ? choice->runs[i].flushed : flushed;
    return flushed > 0 && flushed < most / POLICY_FLUSH_FILES ? flushed * POLICY_FLUSH_FILES : most;
}

/* A window of no runs is no pick. */
static bool
pick_window(const struct choice *choice, enum policy_reason reason, size_t first, size_t count)
{
    if (count == 0)
        return false;
    *choice->pick = (struct policy_pick){
        .reason = reason,
        .first = first,
        .count = count,
        .all_files = reason != POLICY_EXPIRED && count == choice->count,
        .bytes = bytes_of(choice->runs, first, count),
    };
    return true;
}

/* ---- the rules, each true when it has picked ---- */

/* The oldest expired runs that are neighbours. Nothing of them is read, so no limit of bytes
 * counts. */
static bool
pick_expired(const struct choice *choice)
{
    size_t first = choice->first_free, end;

    while (first < choice->count && !choice->runs[first].expired)
        first++;
    for (end = first; end < choice->count && choice->runs[end].expired; end++)
        continue;
    return pick_window(choice, POLICY_EXPIRED, first, end - first);
}

static bool
has_newer_bytes(const struct choice *choice)
{
    uint64_t newer;

    if (choice->count < 2)
        return false;
    newer = bytes_of(choice->runs, 1, choice->count - 1);
    if (choice->count < POLICY_MIN_RUNS && newer / (POLICY_MIN_RUNS - 1) < small_bytes(choice))
        return false;
    return (double)newer > (double)choice->runs[0].bytes * POLICY_NEWER_SHARE;
}

/* Would more than that share of the cells go: of all, or of those in old files? */
static bool
has_dead(const struct choice *choice, bool old, double share)
{
    uint64_t cells = 0, dead = 0;

    for (size_t i = 0; i < choice->count; i++) {
        const struct policy_run *run = &choice->runs[i];

        cells = add_saturated(cells, old ? run->old_cells : run->cells);
        dead = add_saturated(dead, old ? run->old_dead : run->dead);
    }
    return (double)dead > (double)cells * share;
}

/* Rules 2 to 4, whether or not it can be done now. */
static enum policy_reason
all_files_reason(const struct choice *choice)
{
    if (has_newer_bytes(choice))
        return POLICY_NEWER_BYTES;
    if (has_dead(choice, false, POLICY_DEAD_SHARE))
        return POLICY_DELETED;
    return has_dead(choice, true, POLICY_OLD_DEAD_SHARE) ? POLICY_AGE : POLICY_NOTHING;
}

/* Of the windows of `count` free runs that are small enough the one with the fewest bytes. */
static bool
pick_smallest(const struct choice *choice, size_t count)
{
    size_t best_first = 0, best_count = 0;
    uint64_t best_bytes = 0;

    for (size_t first = choice->first_free; first + count <= choice->count; first++) {
        uint64_t bytes = bytes_of(choice->runs, first, count);

        if (bytes <= choice->limits->max_bytes && (best_count == 0 || bytes < best_bytes)) {
            best_first = first;
            best_count = count;
            best_bytes = bytes;
        }
    }
    return pick_window(choice, POLICY_STUCK, best_first, best_count);
}

static bool
pick_fewer(const struct choice *choice)
{
    size_t count = choice->count;

    if (count <= POLICY_STUCK_RUNS / 2 ||
        bytes_of(choice->runs, 0, count) / POLICY_SMALL_FLUSHES <= choice->limits->min_bytes)
        return false;
    count -= POLICY_FEW_RUNS - 1;
    return pick_smallest(choice, count < POLICY_MAX_RUNS ? count : POLICY_MAX_RUNS);
}

static bool
pick_all_files(const struct choice *choice)
{
    enum policy_reason reason;

    if (choice->count == 0 || choice->first_free > 0 ||
        bytes_of(choice->runs, 0, choice->count) > choice->limits->max_bytes)
        return false;
    reason = all_files_reason(choice);
    if (reason == POLICY_NOTHING)
        return false;
    if (!pick_fewer(choice))
        pick_window(choice, reason, 0, choice->count);
    return true;
}

/* An all-files pick that cannot be done now: smaller ones, of which one follows on another, would
 * put it off for ever. */
static bool
waits_for_all_files(const struct choice *choice)
{
    return choice->limits->all_files_first && choice->count > 0 && !choice->runs[0].busy &&
           all_files_reason(choice) != POLICY_NOTHING;
}

/* Neighbours among the runs. */
struct window {
    size_t first, count;
    uint64_t bytes, largest; /* of all its runs, and of one */
};

/* All runs of the window are about as large: none has more than POLICY_LEVEL_RATIO times what the
 * others have on average. So its cells were rewritten about as often. */
static bool
is_level(const struct window *window)
{
    double others = (double)(window->bytes - window->largest) / (double)(window->count - 1);

    return (double)window->largest <= others * POLICY_LEVEL_RATIO;
}

/* No run of the window is larger than the ratio times the others together. */
static bool
is_in_ratio(const struct window *window)
{
    return (double)window->largest <= (double)(window->bytes - window->largest) * POLICY_RATIO;
}

/* What is written for each run that there is less, when the window becomes one. */
static double
cost_of_run_less(const struct window *window)
{
    assert(window->count > 1);
    return (double)window->bytes / (double)(window->count - 1);
}

/* Is a window better than the best one so far? */
typedef bool better_window(const struct window *window, const struct window *best);

static bool
costs_less(const struct window *window, const struct window *best)
{
    return cost_of_run_less(window) < cost_of_run_less(best);
}

static bool
takes_more(const struct window *window, const struct window *best)
{
    return window->count > best->count ||
           (window->count == best->count && window->bytes < best->bytes);
}

/* The best window of `least` runs or more. `fits` (NULL: every window does) is asked of those that
 * are not small. */
static bool
pick_best(const struct choice *choice, enum policy_reason reason, size_t least,
          bool (*fits)(const struct window *window), better_window *better)
{
    const uint64_t small = small_bytes(choice);
    struct window best = {0};

    for (size_t first = choice->first_free; first + least <= choice->count; first++) {
        struct window window = {.first = first};

        while (window.count < POLICY_MAX_RUNS && first + window.count < choice->count) {
            uint64_t bytes = choice->runs[first + window.count++].bytes;

            window.bytes = add_saturated(window.bytes, bytes);
            window.largest = bytes > window.largest ? bytes : window.largest;
            if (window.bytes > choice->limits->max_bytes)
                break;
            if (window.count >= least && (fits == NULL || window.bytes < small || fits(&window)) &&
                (best.count == 0 || better(&window, &best)))
                best = window;
        }
    }
    return pick_window(choice, reason, best.first, best.count);
}

/* The jobs that run leave one run each, of neighbours: how many there are then. */
static size_t
runs_to_be(const struct choice *choice)
{
    size_t left = choice->count;

    for (size_t i = 1; i < choice->count; i++)
        left -= choice->runs[i].busy && choice->runs[i - 1].busy;
    return left;
}

static bool
is_calm(const struct choice *choice)
{
    return choice->count <= POLICY_CROWDED_RUNS && runs_to_be(choice) <= POLICY_CALM_RUNS;
}

void
policy_pick(const struct policy_run *runs, size_t count, const struct policy_limits *limits,
            struct policy_pick *pick)
{
    struct choice choice = {.runs = runs, .count = count, .limits = limits, .pick = pick};

    *pick = (struct policy_pick){0};
    for (size_t i = 0; i < count; i++) {
        if (runs[i].busy)
            choice.first_free = i + 1;
    }
    if (pick_expired(&choice) || pick_all_files(&choice) || waits_for_all_files(&choice))
        return;
    if (pick_best(&choice, POLICY_LEVEL, POLICY_MIN_RUNS, is_level, costs_less))
        return;
    /* As much as possible at once, of runs that belong together. */
    if (!is_calm(&choice) &&
        pick_best(&choice, POLICY_EXPLORING, POLICY_LEAST_RUNS, is_in_ratio, takes_more))
        return;
    if (count >= POLICY_STUCK_RUNS)
        pick_best(&choice, POLICY_STUCK, 2, NULL, costs_less);
}

bool
policy_pick_fewer(const struct policy_run *runs, size_t count, const struct policy_limits *limits,
                  struct policy_pick *pick)
{
    struct choice choice = {.runs = runs, .count = count, .limits = limits, .pick = pick};

    *pick = (struct policy_pick){0};
    return pick_fewer(&choice);
}

uint64_t
policy_bytes_beside(uint64_t bytes, uint64_t small_bytes)
{
    uint64_t most = bytes / POLICY_PART_BESIDE;

    return most > small_bytes ? most : small_bytes;
}

uint64_t
policy_bytes_within(uint64_t bytes, uint64_t done, uint64_t interrupted)
{
    uint64_t most = bytes / POLICY_PART_BESIDE;
    uint64_t earned = done / 2 > interrupted ? done / 2 - interrupted : 0;

    return most < earned ? most : earned;
}

const char *
policy_reason_text(enum policy_reason reason)
{
    static const char *const texts[] = {
        [POLICY_NOTHING] = "nothing",
        [POLICY_EXPIRED] = "expired",
        [POLICY_NEWER_BYTES] = "newer bytes",
        [POLICY_DELETED] = "deleted cells",
        [POLICY_AGE] = "age",
        [POLICY_LEVEL] = "level runs",
        [POLICY_EXPLORING] = "exploring",
        [POLICY_STUCK] = "many runs",
        [POLICY_ASKED] = "asked for",
    };

    assert((size_t)reason < sizeof texts / sizeof *texts);
    return texts[reason];
}
