/* namespace_test.c -- tables whose names have a namespace: which names there are, their order, and
 * that they come back; and how a table's blocks leave the cache. */

#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

static enum petal_status
make(struct fixture *fixture, const char *name, petal_table **table, petal_error *error)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "f");

    options.name = text(name);
    return petal_table_create(fixture->db, &options, table, error);
}

struct names {
    char text[256];
};

static bool
add_name(void *argument, petal_table *table)
{
    struct names *names = argument;
    petal_slice name = petal_table_name(table);
    size_t used = strlen(names->text);

    (void)snprintf(names->text + used, sizeof names->text - used, "%s%.*s", used > 0 ? " " : "",
                   (int)name.size, (const char *)name.data);
    return true;
}

static void
check_names(struct fixture *fixture, const char *expected)
{
    struct names names = {""};

    MUST(petal_table_list(fixture->db, add_name, &names, WHY));
    assert_string_equal(names.text, expected);
}

TEST(test_tables_go_by_namespace_and_name)
{
    static const char *const made[] = {"zoo:a", "b", "attic:z", "zoo:B", "a", "e:a", "attic:a.b-c"};
    struct fixture fixture;
    petal_table *table;
    petal_error error;

    table_begin(&fixture);
    for (size_t i = 0; i < COUNT(made); i++)
        MUST(make(&fixture, made[i], &table, WHY));
    check_names(&fixture, "attic:a.b-c attic:z a b e:a zoo:B zoo:a");
    assert_int_equal(make(&fixture, "zoo:a", &table, &error), PETAL_EXISTS);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_names(&fixture, "attic:a.b-c attic:z a b e:a zoo:B zoo:a");
    MUST(petal_table_open(fixture.db, text("zoo:a"), &table, WHY));
    assert_int_equal(petal_table_open(fixture.db, text("zoo"), &table, &error), PETAL_NOT_FOUND);
    fixture_fini(&fixture);
}

TEST(test_wrong_names_are_refused)
{
    static const struct {
        const char *name, *complaint;
    } wrong[] = {
        {"", "the table name is empty; it must have 1 to 255 bytes"},
        {":t", "the table name \":t\" has no namespace before its colon"},
        {"n:", "the table name \"n:\" has nothing behind its namespace"},
        {"-ns:t", "the namespace of the table name \"-ns:t\" must not contain '-'"},
        {"ns-:t", "the namespace of the table name \"ns-:t\" must not contain '-': letters, digits "
                  "and '_' are allowed"},
        {"n.s:t", "the namespace of the table name \"n.s:t\" must not contain '.'"},
        {"n:-t", "the table name \"n:-t\" must not begin with '-'"},
        {".t", "the table name \".t\" must not begin with '.'"},
        {"a:b:c", "the table name \"a:b:c\" must not contain ':'"},
        {"a\tb", "the table name \"a\\x09b\" must not contain 0x09"},
        {"my store", "the table name \"my store\" must not contain a space: letters, digits, '_', "
                     "'-' and '.' are allowed, and '-' and '.' not at the beginning"},
        {"default:t", "tables of the namespace default have names without it"}};
    char longest[257];
    struct fixture fixture;
    petal_table *table;
    petal_error error;

    table_begin(&fixture);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(make(&fixture, wrong[i].name, &table, &error), PETAL_INVALID);
        if (strncmp(error.text, wrong[i].complaint, strlen(wrong[i].complaint)) != 0)
            fail_msg("%s: %s", wrong[i].name, error.text);
    }
    memset(longest, 'n', sizeof longest);
    longest[100] = ':';
    longest[256] = '\0';
    assert_int_equal(make(&fixture, longest, &table, &error), PETAL_INVALID);
    longest[255] = '\0';
    MUST(make(&fixture, longest, &table, WHY));
    assert_int_equal(petal_table_snapshot_create(table, text("n:s"), NULL, &error), PETAL_INVALID);
    MUST(petal_table_snapshot_create(table, text("s"), NULL, WHY));
    assert_int_equal(
        petal_table_snapshot_clone(fixture.db, text("s"), text("n-s:t"), &table, &error),
        PETAL_INVALID);
    MUST(petal_table_snapshot_clone(fixture.db, text("s"), text("n:t"), &table, WHY));
    fixture_fini(&fixture);
}

static uint64_t
fetched_by(struct fixture *fixture, petal_table *table)
{
    petal_stats before, after;

    petal_stats_get(fixture->db, &before);
    assert_string_equal(table_row(fixture->db, table, "r"), "f:v");
    petal_stats_get(fixture->db, &after);
    return after.data_fetched - before.data_fetched;
}

TEST(test_blocks_of_a_table_leave_the_cache)
{
    static const char *const names[] = {"n:a", "b"};
    petal_table *tables[2];
    struct fixture fixture;
    petal_error error;
    uint64_t blocks;

    table_begin(&fixture);
    fixture_must_close(&fixture);
    fixture.options.cache_bytes = 1 << 20;
    fixture_must_open(&fixture);
    for (size_t i = 0; i < 2; i++) {
        MUST(make(&fixture, names[i], &tables[i], WHY));
        table_put(tables[i], "f", "r", "v");
    }
    MUST(petal_flush(fixture.db, NULL, WHY));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(fetched_by(&fixture, tables[i]), 1);
        assert_int_equal(fetched_by(&fixture, tables[i]), 0);
    }
    MUST(petal_cache_clear(fixture.db, tables[0], &blocks, WHY));
    assert_int_not_equal(blocks, 0);
    assert_int_equal(fetched_by(&fixture, tables[1]), 0);
    assert_int_equal(fetched_by(&fixture, tables[0]), 1);
    MUST(petal_cache_clear(fixture.db, NULL, &blocks, WHY));
    assert_int_not_equal(blocks, 0);
    MUST(petal_cache_clear(fixture.db, NULL, &blocks, WHY));
    assert_int_equal(blocks, 0);
    assert_int_equal(fetched_by(&fixture, tables[1]), 1);
    MUST(petal_table_drop(tables[1], WHY));
    assert_int_equal(petal_cache_clear(fixture.db, tables[1], &blocks, &error), PETAL_NOT_FOUND);
    fixture_fini(&fixture);
}
