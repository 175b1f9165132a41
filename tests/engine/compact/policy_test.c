/*
 * policy_test.c -- what is picked to be compacted: cases of tests/engine/compact/policy.txt, and
 * what holds of every pick; and what of a store file may be dropped, by its facts.
 */
#include "engine/compact/policy.h"
#include "engine/state/progress.h"

#include "engine/compact/runs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES     "tests/engine/compact/policy.txt"
#define MOST_RUNS 64

/* ---- cases ---- */

struct policy_case {
    char name[200];
    struct policy_limits limits;
    struct policy_run runs[MOST_RUNS];
    size_t count;
};

static void
begin_case(struct policy_case *c, const char *name)
{
    *c = (struct policy_case){.limits = {.max_bytes = UINT64_MAX}};
    snprintf(c->name, sizeof c->name, "%.199s", name);
}

static bool
take_number(const char *word, const char *key, uint64_t *number)
{
    size_t length = strlen(key);

    if (strncmp(word, key, length) != 0)
        return false;
    *number = strtoull(word + length, NULL, 10);
    return true;
}

static void
read_limit(struct policy_case *c, const char *word)
{
    if (take_number(word, "min=", &c->limits.min_bytes) ||
        take_number(word, "max=", &c->limits.max_bytes))
        return;
    if (strcmp(word, "all_files_first") == 0) {
        c->limits.all_files_first = true;
        return;
    }
    fail_msg("unknown limit %s", word);
}

static void
add_run(struct policy_case *c, const char *bytes)
{
    assert_true(c->count < MOST_RUNS);
    c->runs[c->count++] = (struct policy_run){.bytes = strtoull(bytes, NULL, 10), .cells = 100};
}

static void
read_attribute(struct policy_run *run, const char *word)
{
    if (take_number(word, "cells=", &run->cells) || take_number(word, "dead=", &run->dead) ||
        take_number(word, "old_cells=", &run->old_cells) ||
        take_number(word, "old_dead=", &run->old_dead) ||
        take_number(word, "flushed=", &run->flushed))
        return;
    if (strcmp(word, "all") == 0)
        run->all_files = true;
    else if (strcmp(word, "expired") == 0)
        run->expired = true;
    else if (strcmp(word, "busy") == 0)
        run->busy = true;
    else
        fail_msg("unknown attribute %s", word);
}

/* "reason first count all", as the cases have it. */
static void
describe(const struct policy_pick *pick, char *text, size_t size)
{
    char reason[32];

    snprintf(reason, sizeof reason, "%s", policy_reason_text(pick->reason));
    for (char *c = reason; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : *c;
    if (pick->count == 0)
        snprintf(text, size, "%s", reason);
    else
        snprintf(text, size, "%s %zu %zu%s", reason, pick->first, pick->count,
                 pick->all_files ? " all" : "");
}

static void
check_case(const struct policy_case *c, const char *wanted)
{
    struct policy_pick pick;
    uint64_t bytes = 0;
    char got[64];

    policy_pick(c->runs, c->count, &c->limits, &pick);
    describe(&pick, got, sizeof got);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: wanted %s, got %s", c->name, wanted, got);
    for (size_t i = pick.first; i < pick.first + pick.count; i++)
        bytes = bytes + c->runs[i].bytes < bytes ? UINT64_MAX : bytes + c->runs[i].bytes;
    if (pick.bytes != bytes)
        fail_msg("%s: wanted %" PRIu64 " bytes, got %" PRIu64, c->name, bytes, pick.bytes);
}

static void
read_words(struct policy_case *c, char *line)
{
    char *rest, *kind = strtok_r(line, " ", &rest), *word;
    bool first = true;

    for (word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(kind, "limits") == 0)
            read_limit(c, word);
        else if (strcmp(kind, "runs") == 0 || first)
            add_run(c, word);
        else
            read_attribute(&c->runs[c->count - 1], word);
        first = false;
    }
}

TEST(test_cases)
{
    static struct policy_case c;
    FILE *file = fopen(CASES, "r");
    char line[512];
    unsigned checked = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        if (strncmp(line, "case ", 5) == 0)
            begin_case(&c, line + 5);
        else if (strncmp(line, "pick ", 5) == 0)
            check_case(&c, line + 5), checked++;
        else
            read_words(&c, line);
    }
    fclose(file);
    assert_true(checked >= 40);
}

/* ---- properties ---- */

static void
make_random_case(struct test_random *random, struct policy_case *c)
{
    begin_case(c, "random");
    c->count = test_random_below(random, 24);
    c->limits.min_bytes = test_random_below(random, 2000);
    c->limits.all_files_first = test_random_below(random, 4) == 0;
    if (test_random_below(random, 3) == 0)
        c->limits.max_bytes = test_random_below(random, 20000);
    for (size_t i = 0; i < c->count; i++)
        c->runs[i] = (struct policy_run){
            .bytes = test_random_below(random, UINT64_C(1) << test_random_below(random, 16)),
            .cells = test_random_below(random, 1000),
            .dead = test_random_below(random, 8) == 0 ? test_random_below(random, 1000) : 0,
            .old_cells = test_random_below(random, 1000),
            .old_dead = test_random_below(random, 4),
            .expired = test_random_below(random, 30) == 0,
            .busy = test_random_below(random, 12) == 0,
        };
}

static void
check_properties(const struct policy_case *c)
{
    struct policy_pick pick, again;

    policy_pick(c->runs, c->count, &c->limits, &pick);
    policy_pick(c->runs, c->count, &c->limits, &again);
    assert_memory_equal(&pick, &again, sizeof pick);
    assert_int_equal(pick.reason == POLICY_NOTHING, pick.count == 0);
    if (pick.count == 0)
        return;
    assert_true(pick.first + pick.count <= c->count);
    for (size_t i = pick.first; i < c->count; i++)
        assert_false(c->runs[i].busy); /* neither taken, nor newer than what is taken */
    if (pick.all_files)
        assert_true(pick.first == 0 && pick.count == c->count);
    if (pick.reason == POLICY_EXPIRED) {
        for (size_t i = pick.first; i < pick.first + pick.count; i++)
            assert_true(c->runs[i].expired);
        assert_false(pick.all_files);
        return;
    }
    assert_true(pick.bytes <= c->limits.max_bytes);
    if (pick.reason == POLICY_LEVEL || pick.reason == POLICY_EXPLORING ||
        pick.reason == POLICY_STUCK)
        assert_in_range(pick.count,
                        pick.reason == POLICY_STUCK   ? 2
                        : pick.reason == POLICY_LEVEL ? POLICY_MIN_RUNS
                                                      : POLICY_LEAST_RUNS,
                        POLICY_MAX_RUNS);
    else
        assert_true(pick.all_files);
}

/* A store that is stuck gets fewer runs unless all is busy or too large: there is always a pair. */
static void
check_stuck(const struct policy_case *c)
{
    struct policy_pick pick;
    uint64_t least = UINT64_MAX;
    size_t first_free = 0;

    policy_pick(c->runs, c->count, &c->limits, &pick);
    for (size_t i = 0; i < c->count; i++)
        first_free = c->runs[i].busy ? i + 1 : first_free;
    for (size_t i = first_free; i + 1 < c->count; i++) {
        uint64_t pair = c->runs[i].bytes + c->runs[i + 1].bytes;

        least = pair < least ? pair : least;
    }
    if (!c->limits.all_files_first && c->count >= POLICY_STUCK_RUNS && least != UINT64_MAX &&
        least <= c->limits.max_bytes)
        assert_true(pick.count > 0);
}

TEST(test_properties)
{
    static struct policy_case c;
    struct test_random random;

    test_random_init(&random, 7);
    for (unsigned i = 0; i < 20000; i++) {
        make_random_case(&random, &c);
        check_properties(&c);
        check_stuck(&c);
    }
}

TEST(test_limits_of_jobs_beside_others)
{
    assert_int_equal(policy_bytes_beside(0, 20), 20);
    assert_int_equal(policy_bytes_beside(80, 20), 20);
    assert_int_equal(policy_bytes_beside(84, 20), 21);
    assert_int_equal(policy_bytes_beside(UINT64_MAX, 20), UINT64_MAX / 4);
    /* Nothing at the beginning, then half of what is done, and never more than the part. */
    assert_int_equal(policy_bytes_within(80, 0, 0), 0);
    assert_int_equal(policy_bytes_within(80, 20, 0), 10);
    assert_int_equal(policy_bytes_within(80, 20, 6), 4);
    assert_int_equal(policy_bytes_within(80, 20, 11), 0);
    assert_int_equal(policy_bytes_within(80, 80, 0), 20);
}

/* Flush after flush of one size, all picks carried out: runs and bytes rewritten stay bounded. */
TEST(test_flushes_settle)
{
    static struct policy_case c;
    uint64_t rewritten = 0;

    begin_case(&c, "flushes");
    c.limits.min_bytes = 100;
    for (unsigned flush = 0; flush < 2000; flush++) {
        struct policy_pick pick;

        c.runs[c.count++] = (struct policy_run){.bytes = 100, .cells = 10};
        for (policy_pick(c.runs, c.count, &c.limits, &pick); pick.count > 0;
             policy_pick(c.runs, c.count, &c.limits, &pick)) {
            c.runs[pick.first] = (struct policy_run){.bytes = pick.bytes, .cells = 10};
            memmove(&c.runs[pick.first + 1], &c.runs[pick.first + pick.count],
                    (c.count - pick.first - pick.count) * sizeof c.runs[0]);
            c.count -= pick.count - 1;
            rewritten += pick.bytes;
        }
        assert_true(c.count < STORE_MOST_RUNS);
    }
    assert_true(rewritten < UINT64_C(2000) * 100 * 20);
}

/* ---- facts ---- */

#define DAY_MS ((int64_t)24 * 3600 * 1000)

static struct file_facts
facts_of_puts(void)
{
    return (struct file_facts){.cells = 1000,
                               .puts = 1000,
                               .rows = 100,
                               .time_min = 0,
                               .time_max = 10 * DAY_MS - 1,
                               .put_time_min = 0,
                               .sequence_max = 50};
}

static uint64_t
dead_of(const struct file_facts *facts, const petal_family_options *family,
        const struct store_moment *moment)
{
    return facts_dead(facts, family, moment, &(struct older_cells){.cells = 5000, .rows = 250});
}

TEST(test_markers_hide_cells)
{
    petal_family_options family = {.keep_deleted_cells = PETAL_KEEP_DELETED_FALSE};
    struct store_moment moment = {.now_ms = 10 * DAY_MS, .read_point = 50};
    struct file_facts facts = facts_of_puts();

    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    facts.puts = 900;
    facts.deletes = 30;
    facts.column_deletes = 60;
    facts.family_deletes = 7;
    facts.family_version_deletes = 3;
    /* 90 cells, and 10 rows of 20 cells. */
    assert_int_equal(dead_of(&facts, &family, &moment), 290);
    assert_int_equal(facts_droppable_markers(&facts, &family, &moment), 100);
    /* Without older rows a marker is worth itself. */
    assert_int_equal(facts_dead(&facts, &family, &moment, &(struct older_cells){0}), 100);
    /* No more than there is. */
    facts.family_deletes = 1000000;
    assert_int_equal(dead_of(&facts, &family, &moment), 6000);
    facts.family_deletes = 7;
    /* What keeps the markers keeps what they hide. */
    moment.markers_stay = true;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    assert_int_equal(facts_droppable_markers(&facts, &family, &moment), 0);
    moment.markers_stay = false;
    family.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    assert_int_equal(facts_droppable_markers(&facts, &family, &moment), 0);
    /* With TTL those that are past it. */
    family.keep_deleted_cells = PETAL_KEEP_DELETED_TTL;
    assert_int_equal(facts_droppable_markers(&facts, &family, &moment), 0);
    family.ttl_seconds = (uint32_t)(5 * DAY_MS / 1000);
    assert_int_equal(facts_droppable_markers(&facts, &family, &moment), 50);
}

TEST(test_time_takes_cells)
{
    petal_family_options family = {.keep_deleted_cells = PETAL_KEEP_DELETED_FALSE,
                                   .ttl_seconds = (uint32_t)(4 * DAY_MS / 1000)};
    struct store_moment moment = {.now_ms = 10 * DAY_MS, .read_point = 50};
    struct file_facts facts = facts_of_puts();

    assert_int_equal(dead_of(&facts, &family, &moment), 600);
    assert_false(facts_expired(&facts, &family, moment.now_ms));
    moment.now_ms = 4 * DAY_MS;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    moment.now_ms = 14 * DAY_MS - 1; /* the newest cell is at the border: it lives */
    assert_false(facts_expired(&facts, &family, moment.now_ms));
    moment.now_ms = 14 * DAY_MS;
    assert_true(facts_expired(&facts, &family, moment.now_ms));
    assert_int_equal(dead_of(&facts, &family, &moment), 1000);
    /* A snapshot below them keeps them. */
    moment.read_point = 49;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    moment.read_point = 50;
    family.min_versions = 1;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    assert_false(facts_expired(&facts, &family, moment.now_ms));
    family.min_versions = 0;
    family.ttl_seconds = PETAL_FOREVER;
    assert_int_equal(dead_of(&facts, &family, &moment), 0);
    assert_false(facts_expired(&facts, &family, moment.now_ms));
}

TEST(test_cells_with_an_end_of_their_own)
{
    petal_family_options family = {.keep_deleted_cells = PETAL_KEEP_DELETED_FALSE,
                                   .min_versions = 1};
    struct store_moment moment = {.now_ms = 300, .read_point = 50};
    struct file_facts facts = facts_of_puts();

    facts.ttl_cells = 400;
    assert_int_equal(dead_of(&facts, &family, &moment), 0); /* the facts do not know when */
    facts.death_min = 200;
    facts.death_max = 399;
    assert_int_equal(dead_of(&facts, &family, &moment), 200);
    moment.now_ms = 400;
    assert_int_equal(dead_of(&facts, &family, &moment), 400);
    assert_false(facts_expired(&facts, &family, moment.now_ms));
    facts.ttl_cells = 1000;
    assert_true(facts_expired(&facts, &family, moment.now_ms));
    assert_false(facts_expired(&facts, &family, 399));
}
