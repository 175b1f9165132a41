/*
 * runs_test.c -- what the compaction policy is told of a store's runs (engine/compact/runs.h): the
 * sizes that flushes gave.
 */
#include "engine/compact/runs.h"

#include "engine/compact/compactor.h"
#include "engine/state/read_point.h"
#include "tests/engine/compact/background_fixture.h"
#include "tests/support/test.h"

/* The runs of the table's store. */
static void
gather(struct place *place, struct store_runs *runs)
{
    petal_family *family = petal_table_family_at(place->table, 0);
    const struct store_moment moment = {0};
    struct view *view = read_pin_view(place->fixture.db);

    assert_int_equal(store_runs_gather(runs, place->fixture.db->env.allocator,
                                       region_at(view_regions(view, family), 0)->view,
                                       family_options(family), &moment),
                     PETAL_OK);
    view_unref(view);
}

static void
compact_runs(struct place *place)
{
    MUST(compactor_compact_runs(petal_table_family_at(place->table, 0), 0, 100, WHY));
}

TEST(a_run_tells_the_largest_flush_in_it)
{
    struct store_runs runs = {0};
    struct place place;
    uint64_t largest;

    place_open(&place, NULL);
    place.fixture.options.no_compaction = true;
    place_reopen(&place);
    place.fixture.db->linked_file_bytes = 0;
    put_file(&place, 0, 9);
    put_file(&place, 100, 199);
    gather(&place, &runs);
    assert_int_equal(runs.count, 2);
    assert_int_equal(runs.policy[0].flushed, runs.policy[0].bytes);
    assert_int_equal(runs.policy[1].flushed, runs.policy[1].bytes);
    largest = runs.policy[1].bytes;
    assert_true(largest > runs.policy[0].bytes);

    /* Both files enter the run as they are. */
    compact_runs(&place);
    gather(&place, &runs);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.policy[0].flushed, largest);
    assert_true(runs.policy[0].bytes > largest);

    /* All are rewritten. */
    put_file(&place, 0, 199);
    compact_runs(&place);
    gather(&place, &runs);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.policy[0].flushed, 0);
    store_runs_fini(&runs, place.fixture.db->env.allocator);
    fixture_fini(&place.fixture);
}
