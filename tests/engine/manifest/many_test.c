/*
 * many_test.c -- a manifest of many tables: a commit costs what it changes, and one that
 * fails leaves state and lookups as they were.
 */

#include "base/slice.h"
#include "engine/manifest/format.h"
#include "tests/engine/manifest/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct manifest_fixture base;
    struct manifest *manifest;
    struct manifest_edit edit;
    uint64_t next_file;
};

static void
begin(struct fixture *fixture, uint64_t seed)
{
    manifest_fixture_init(&fixture->base, seed);
    fixture->manifest = manifest_fixture_make(&fixture->base);
    manifest_edit_init(&fixture->edit, &fixture->base.allocator.table);
    fixture->next_file = 1;
}

static void
end(struct fixture *fixture)
{
    manifest_edit_fini(&fixture->edit);
    manifest_free(fixture->manifest);
    manifest_fixture_fini(&fixture->base);
}

static void
add_create(struct fixture *fixture, uint32_t id, const char *name)
{
    petal_family_options families[2] = {{.size = sizeof families[0],
                                         .name = {"f", 1},
                                         .versions = 1,
                                         .block_bytes = 65536,
                                         .bloom_error_rate = 0.01},
                                        {0}};
    petal_table_options options = {.name = slice_from_text(name), .families = families};

    families[1] = families[0];
    families[1].name = slice_from_text("g");
    options.family_count = 2;
    manifest_edit_create_table(&fixture->edit, id, &options, NULL);
}

static void
add_file(struct fixture *fixture, uint32_t id, uint16_t family, uint64_t number)
{
    struct manifest_file file = {
        .number = number, .run = number, .sequence_min = 1, .sequence_max = 2, .cells = 3};

    manifest_edit_add_file(&fixture->edit, id, family, &file);
}

static enum petal_status
commit(struct fixture *fixture)
{
    petal_error error;
    enum petal_status status = manifest_commit(fixture->manifest, &fixture->edit, &error);

    fixture->edit.size = 0;
    return status;
}

/* ---- the cost ---- */

/* Allocations of a commit: the least of several, for now and then one writes a new file or makes
 * room. */
static uint64_t
cost_of(struct fixture *fixture, uint32_t id, bool creates)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < 8; i++) {
        uint64_t before;
        char name[32];

        snprintf(name, sizeof name, "table%u", id + i);
        if (creates)
            add_create(fixture, id + i, name);
        else
            add_file(fixture, id, 0, fixture->next_file++);
        before = test_allocator_calls(&fixture->base.allocator);
        assert_int_equal(commit(fixture), PETAL_OK);
        if (test_allocator_calls(&fixture->base.allocator) - before < least)
            least = test_allocator_calls(&fixture->base.allocator) - before;
    }
    return least;
}

TEST(a_commit_costs_what_it_changes)
{
    uint64_t create[2], flush[2];

    for (int large = 0; large < 2; large++) {
        uint32_t count = large ? 3000 : 300;
        struct fixture fixture;

        begin(&fixture, 1);
        for (uint32_t id = 1; id <= count; id++) {
            char name[32];

            snprintf(name, sizeof name, "table%u", id);
            add_create(&fixture, id, name);
            add_file(&fixture, id, 0, fixture.next_file++);
        }
        assert_int_equal(commit(&fixture), PETAL_OK);
        create[large] = cost_of(&fixture, count + 1, true);
        flush[large] = cost_of(&fixture, count / 2, false);
        end(&fixture);
    }
    assert_int_equal(create[0], create[1]);
    assert_int_equal(flush[0], flush[1]);
    assert_true(create[1] < 30 && flush[1] < 30);
}

/* Bytes that a commit takes for a while, of a file that is added and one that is removed, in a
 * table of so many: the least of several, for now and then one makes room. */
static uint64_t
bytes_beside(uint64_t files)
{
    uint64_t least = UINT64_MAX;
    struct fixture fixture;

    begin(&fixture, 1);
    add_create(&fixture, 1, "table");
    while (fixture.next_file <= files)
        add_file(&fixture, 1, 0, fixture.next_file++);
    assert_int_equal(commit(&fixture), PETAL_OK);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t before = test_allocator_live_bytes(&fixture.base.allocator);

        manifest_edit_remove_file(&fixture.edit, 1, 0, fixture.next_file - 2);
        add_file(&fixture, 1, 0, fixture.next_file++);
        test_allocator_forget_peak(&fixture.base.allocator);
        assert_int_equal(commit(&fixture), PETAL_OK);
        if (test_allocator_peak_bytes(&fixture.base.allocator) - before < least)
            least = test_allocator_peak_bytes(&fixture.base.allocator) - before;
    }
    end(&fixture);
    return least;
}

TEST(a_commit_does_not_copy_its_table)
{
    assert_int_equal(bytes_beside(10), bytes_beside(10000));
}

/* ---- all or nothing ---- */

static uint64_t
random_table(struct fixture *fixture)
{
    const struct manifest *manifest = fixture->manifest;

    if (manifest->table_count == 0)
        return 1;
    return manifest->tables[test_random_below(&fixture->base.random, manifest->table_count)]->id;
}

static void
add_alter(struct fixture *fixture, uint32_t id, uint16_t family)
{
    petal_attribute text = {PETAL_METADATA, slice_from_text("k"), slice_from_text("v")};
    petal_family_options options = {.size = sizeof options,
                                    .name = {"f", 1},
                                    .versions =
                                        1 + (uint32_t)test_random_below(&fixture->base.random, 9),
                                    .attributes = &text,
                                    .attribute_count = test_random_below(&fixture->base.random, 2)};
    petal_table_options table = {.durability = PETAL_SYNC_WAL,
                                 .attributes = &text,
                                 .attribute_count = test_random_below(&fixture->base.random, 2)};

    if (test_random_below(&fixture->base.random, 2) == 0)
        manifest_edit_alter_table(&fixture->edit, id, &table);
    else
        manifest_edit_alter_family(&fixture->edit, id, family, &options);
}

static void
add_random_item(struct fixture *fixture, uint32_t *next_id)
{
    uint32_t id = (uint32_t)random_table(fixture);
    uint16_t family = (uint16_t)test_random_below(&fixture->base.random, 2);
    char name[32];

    switch (test_random_below(&fixture->base.random, 10)) {
    case 0:
    case 1:
        snprintf(name, sizeof name, "t%u", (unsigned)test_random_below(&fixture->base.random, 60));
        add_create(fixture, (*next_id)++, name); /* the name may be taken */
        break;
    case 2:
        manifest_edit_drop_table(&fixture->edit, id);
        break;
    case 3:
        manifest_edit_drop_family(&fixture->edit, id, family);
        break;
    case 4:
        manifest_edit_remove_file(&fixture->edit, id, family,
                                  1 + test_random_below(&fixture->base.random, fixture->next_file));
        break;
    case 5:
        manifest_edit_flushed(&fixture->edit, id, family,
                              test_random_below(&fixture->base.random, 1000));
        break;
    case 6: /* a number that may be there */
        add_file(fixture, id, family,
                 1 + test_random_below(&fixture->base.random, fixture->next_file));
        break;
    case 7:
        add_alter(fixture, id, family);
        break;
    default:
        add_file(fixture, id, family, fixture->next_file++);
        break;
    }
}

static void
encode(const struct fixture *fixture, struct manifest_edit *state)
{
    manifest_edit_init(state, &mem_default_allocator);
    manifest_edit_snapshot(state, fixture->manifest);
    assert_false(state->failed);
}

/* Lookups find all that there is, and no more. */
static void
check_lookups(const struct fixture *fixture)
{
    const struct manifest *manifest = fixture->manifest;
    size_t files = 0, found = 0;

    for (size_t t = 0; t < manifest->table_count; t++) {
        const struct manifest_table *table = manifest->tables[t];

        assert_true(t == 0 || manifest->tables[t - 1]->id < table->id);
        assert_ptr_equal(manifest_find_table(manifest, table->id), table);
        for (size_t f = 0; f < table->family_count; f++)
            files += manifest_file_count(table, &table->families[f]);
    }
    for (uint64_t number = 0; number <= fixture->next_file; number++)
        found += manifest_names_file(manifest, number);
    assert_int_equal(found, files);
    assert_int_equal(manifest->numbers.count, files);
    assert_int_equal(manifest->names.count, manifest->table_count);
}

TEST(a_failed_commit_changes_nothing)
{
    unsigned failed[3] = {0}, done = 0;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct fixture fixture;

        begin(&fixture, seed);
        for (unsigned round = 0; round < 300; round++) {
            uint32_t next_id = fixture.manifest->next_table_id;
            size_t items = 1 + test_random_below(&fixture.base.random, 5);
            struct manifest_edit before, after;
            enum petal_status status;

            for (size_t i = 0; i < items; i++)
                add_random_item(&fixture, &next_id);
            encode(&fixture, &before);
            if (test_random_below(&fixture.base.random, 3) == 0)
                test_allocator_fail_at(&fixture.base.allocator,
                                       1 + test_random_below(&fixture.base.random, 30), false);
            else if (test_random_below(&fixture.base.random, 4) == 0)
                memory_vfs_set_capacity(fixture.base.vfs, 0);
            status = commit(&fixture);
            test_allocator_fail_at(&fixture.base.allocator, 0, false);
            memory_vfs_set_capacity(fixture.base.vfs, UINT64_MAX);
            encode(&fixture, &after);
            if (status == PETAL_OK) {
                done++;
            } else {
                failed[status == PETAL_INVALID ? 0 : status == PETAL_NO_MEMORY ? 1 : 2]++;
                assert_int_equal(after.size, before.size);
                assert_memory_equal(after.bytes, before.bytes, before.size);
            }
            check_lookups(&fixture);
            manifest_edit_fini(&before);
            manifest_edit_fini(&after);
        }
        end(&fixture);
    }
    assert_true(done > 300 && failed[0] > 300 && failed[1] > 100 && failed[2] > 50);
}
