/*
 * race_test.c -- closing a database while its regions are merged, and asking for the regions of a
 * table that gets other families. The threads stop each other at fixed places, so that each test
 * goes one way only.
 */
#define PETAL_SYNC_POINTS
#include "base/sync_point.c"
#include "engine/region/keeper.c"
#include "engine/table/alter.c"

#include "tests/engine/region/fixture.h"
#include "tests/support/stage.h"
#include "tests/support/test.h"

#define ROWS_LEFT 10
#define DAY_MS    ((int64_t)24 * 3600 * 1000)

static struct region_fixture fixture;

static size_t
count_regions(void)
{
    struct region_seen seen[REGION_MOST];

    return regions_list(fixture.table, seen);
}

/* ---- closing ---- */

enum step { IDLE, ARMED, MERGED, TOLD };

/* The first merge waits until the thread that made it has been told to stop. */
static void
stop_after_merge(void *context, enum petal_log_level level, const char *text)
{
    (void)context;
    (void)level;
    if (strstr(text, "is a part of the one before it") != NULL && stage_pass(ARMED, MERGED))
        stage_wait_for(TOLD);
}

static void
told_to_stop(const char *name)
{
    if (strcmp(name, "keeper:told to stop") == 0)
        (void)stage_pass(MERGED, TOLD);
}

TEST(test_closing_waits_for_one_merge)
{
    size_t before;

    regions_begin_small(&fixture, ROWS_LEFT);
    test_clock_advance(&fixture.base.clock, 4 * DAY_MS);
    before = count_regions();
    assert_true(before > 4);
    fixture.base.env.log = stop_after_merge;
    sync_point_set_hook(told_to_stop);
    stage_reach(ARMED);
    regions_reopen(&fixture);
    stage_wait_for(MERGED);
    MUST(petal_close(fixture.base.db, WHY));
    sync_point_set_hook(NULL);
    stage_reach(IDLE);
    fixture.base.env.log = NULL;
    fixture.base.options.no_compaction = true;
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    assert_int_equal(count_regions(), before - 1);
    regions_expect_rows(fixture.table, 0, ROWS_LEFT, 1, NULL);
    regions_end(&fixture);
}

/* ---- other families ---- */

static _Atomic(size_t) seen_meanwhile;

static bool
count_one(void *count, const petal_region_info *info)
{
    (void)info;
    ++*(size_t *)count;
    return true;
}

static void *
ask(void *nothing)
{
    petal_error error;
    size_t count = 0;

    (void)nothing;
    if (petal_table_regions(fixture.table, count_one, &count, &error) == PETAL_OK)
        atomic_store(&seen_meanwhile, count);
    return NULL;
}

static pthread_t asker;

/* The view has the new families, the table's list the old ones. Whoever asks now has the regions,
 * or waits; there is no end to waiting that could be told, so some time has to do. */
static void
ask_between(const char *name)
{
    if (strcmp(name, "alter:view published") != 0)
        return;
    assert_int_equal(pthread_create(&asker, NULL, ask, NULL), 0);
    for (int i = 0; i < 50 && atomic_load(&seen_meanwhile) == SIZE_MAX; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

TEST(test_regions_while_all_families_are_replaced)
{
    petal_family_options family = {.name = text("g")};
    petal_table_options options = {.families = &family, .family_count = 1};

    regions_begin_split(&fixture, "d m t");
    atomic_store(&seen_meanwhile, SIZE_MAX);
    sync_point_set_hook(ask_between);
    MUST(petal_table_alter(fixture.table, &options, WHY));
    sync_point_set_hook(NULL);
    pthread_join(asker, NULL);
    assert_int_equal(atomic_load(&seen_meanwhile), 4);
    regions_end(&fixture);
}
