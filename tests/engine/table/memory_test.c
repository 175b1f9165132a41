/*
 * memory_test.c -- calls that change which tables there are, and others that write files, with each
 * of their allocations failing: after an error all is as it was, after success as it should be,
 * both at once and when the database is opened again.
 */

#include "base/slice.h"
#include "engine/state/db.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>

#define NAME(text) slice_from_text(text)

/* ---- the calls ---- */

typedef enum petal_status change_function(petal_db *db, petal_error *error);

static enum petal_status
create(petal_db *db, petal_error *error)
{
    petal_table *table = NULL;
    enum petal_status status = copy_fixture_create(db, "new", &table, error);

    assert_int_equal(table != NULL, status == PETAL_OK);
    return status;
}

static enum petal_status
create_key_values(petal_db *db, petal_error *error)
{
    petal_kv *kv = NULL;
    enum petal_status status = petal_kv_open(db, NAME("new"), NULL, &kv, error);

    assert_int_equal(kv != NULL, status == PETAL_OK);
    return status;
}

static enum petal_status
alter(petal_db *db, petal_error *error)
{
    petal_family_options families[] = {{.name = {"f", 1}, .versions = 9}, {.name = {"h", 1}}};
    petal_table_options options = {.families = families, .family_count = 2};

    return petal_table_alter(copy_fixture_open(db, "t"), &options, error);
}

static enum petal_status
truncate_it(petal_db *db, petal_error *error)
{
    petal_table *table = NULL;
    enum petal_status status = petal_table_truncate(copy_fixture_open(db, "t"), &table, error);

    assert_int_equal(table != NULL, status == PETAL_OK);
    return status;
}

static enum petal_status
drop(petal_db *db, petal_error *error)
{
    return petal_table_drop(copy_fixture_open(db, "t"), error);
}

static enum petal_status
take_snapshot(petal_db *db, petal_error *error)
{
    return petal_table_snapshot_create(copy_fixture_open(db, "t"), NAME("new"), NULL, error);
}

static enum petal_status
delete_snapshot(petal_db *db, petal_error *error)
{
    return petal_table_snapshot_delete(db, NAME("s"), error);
}

static enum petal_status
clone_snapshot(petal_db *db, petal_error *error)
{
    petal_table *table = NULL;
    enum petal_status status =
        petal_table_snapshot_clone(db, NAME("s"), NAME("new"), &table, error);

    assert_int_equal(table != NULL, status == PETAL_OK);
    return status;
}

static enum petal_status
restore_snapshot(petal_db *db, petal_error *error)
{
    petal_table *table = NULL;
    enum petal_status status = petal_table_snapshot_restore(db, NAME("s"), &table, error);

    assert_int_equal(table != NULL, status == PETAL_OK);
    return status;
}

#define BEFORE "t(f3 g1)a/f=1 b/g=2 ; s "

static enum petal_status
flush(petal_db *db, petal_error *error)
{
    return petal_flush(db, NULL, error);
}

static enum petal_status
compact(petal_db *db, petal_error *error)
{
    return petal_compact(copy_fixture_open(db, "t"), NULL, error);
}

static enum petal_status
copy(petal_db *db, petal_error *error)
{
    return petal_checkpoint(db, "/copy", error);
}

static const struct {
    const char *name;
    change_function *change;
    const char *result; /* what there is then */
} changes[] = {
    {"create", create, "new(f3 g1) t(f3 g1)a/f=1 b/g=2 ; s "},
    {"create key values", create_key_values, "new(v1) t(f3 g1)a/f=1 b/g=2 ; s "},
    {"alter", alter, "t(f9 h1)a/f=1 ; s "},
    {"truncate", truncate_it, "t(f3 g1); s "},
    {"drop", drop, "; s "},
    {"take a snapshot", take_snapshot, "t(f3 g1)a/f=1 b/g=2 ; new s "},
    {"delete a snapshot", delete_snapshot, "t(f3 g1)a/f=1 b/g=2 ; "},
    {"clone", clone_snapshot, "new(f3 g1)a/f=1 t(f3 g1)a/f=1 b/g=2 ; s "},
    {"restore", restore_snapshot, "t(f3 g1)a/f=1 ; s "},
    {"flush", flush, BEFORE},
    {"compact", compact, BEFORE},
    {"copy", copy, BEFORE},
};

/* ---- what there is ---- */

static bool
describe(void *argument, petal_table *table)
{
    petal_table_options options = {.size = sizeof(options)};
    char *text = argument, cells[COPY_BED_TEXT_BYTES];
    petal_slice name = petal_table_name(table);

    petal_table_describe(table, &options);
    if (text[0] != '\0' && text[strlen(text) - 1] != ' ')
        strcat(text, " ");
    strncat(text, name.data, name.size);
    for (size_t i = 0; i < options.family_count; i++) {
        const petal_family_options *family = &options.families[i];

        sprintf(text + strlen(text), "%s%.*s%u", i == 0 ? "(" : " ", (int)family->name.size,
                (const char *)family->name.data, (unsigned)family->versions);
    }
    strcat(text, ")");
    strcat(text, copy_fixture_text(table, NULL, cells));
    return true;
}

/* Tables with families, their VERSIONS, and cells; snapshots after a semicolon. */
static void
expect(struct fixture *fixture, const char *wanted, const char *change, uint64_t at)
{
    char text[4 * COPY_BED_TEXT_BYTES] = "", snapshots[COPY_BED_TEXT_BYTES];

    MUST(petal_table_list(fixture->db, describe, text, WHY));
    strcat(text, "; ");
    strcat(text, copy_fixture_snapshots(fixture->db, snapshots));
    if (strcmp(text, wanted) != 0)
        fail_msg("%s, allocation %" PRIu64 ": there is \"%s\", not \"%s\"", change, at, text,
                 wanted);
}

/* ---- tests ---- */

static void
begin(struct fixture *fixture)
{
    petal_table *table;

    fixture_init(fixture, 1);
    fixture_must_open(fixture);
    MUST(copy_fixture_create(fixture->db, "t", &table, WHY));
    copy_fixture_must_put(table, "f", "a", "1");
    MUST(petal_table_snapshot_create(table, NAME("s"), NULL, WHY));
    copy_fixture_must_put(table, "g", "b", "2");
}

/* Returns whether an allocation failed. */
static bool
try_change(size_t which, uint64_t at)
{
    const char *wanted = changes[which].result, *name = changes[which].name;
    struct fixture fixture;
    enum petal_status status;
    petal_error error;
    bool failed;

    begin(&fixture);
    expect(&fixture, BEFORE, name, at);
    test_allocator_fail_at(&fixture.allocator, at, false);
    status = changes[which].change(fixture.db, &error);
    failed = test_allocator_failures(&fixture.allocator) > 0;
    test_allocator_fail_at(&fixture.allocator, 0, false);
    if (status != PETAL_OK) {
        assert_int_equal(status, PETAL_NO_MEMORY);
        assert_true(failed);
        wanted = BEFORE;
    }
    expect(&fixture, wanted, name, at);
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    expect(&fixture, wanted, name, at);
    copy_fixture_expect_no_stray(&fixture);
    /* What failed once succeeds the next time. */
    if (status != PETAL_OK) {
        must(changes[which].change(fixture.db, &error), &error);
        expect(&fixture, changes[which].result, name, at);
    }
    fixture_fini(&fixture);
    return failed;
}

TEST(without_memory_nothing_is_changed)
{
    for (size_t which = 0; which < sizeof changes / sizeof changes[0]; which++) {
        uint64_t at = 1;

        while (try_change(which, at))
            at++;
        print_message("%s: %" PRIu64 " allocations\n", changes[which].name, at - 1);
        assert_true(at > 3);
    }
}

/* Tables that are not made take no more than the call: no slots in views, and no ids. */
TEST(failed_tables_leave_nothing)
{
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    size_t slot_count;

    begin(&fixture);
    slot_count = fixture.db->schema.slot_count;
    memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs));
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(copy_fixture_create(fixture.db, "new", &table, &error), PETAL_NO_SPACE);
        assert_null(table);
        assert_int_equal(fixture.db->schema.slot_count, slot_count);
    }
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    expect(&fixture, BEFORE, "create", 0);
    must(copy_fixture_create(fixture.db, "new", &table, &error), &error);
    expect(&fixture, changes[0].result, "create", 0);
    copy_fixture_must_put(table, "f", "x", "1");
    must(petal_flush(fixture.db, NULL, &error), &error);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    copy_fixture_expect(copy_fixture_open(fixture.db, "new"), "x/f=1 ");
    fixture_fini(&fixture);
}
