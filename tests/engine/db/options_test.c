/*
 * options_test.c -- structs of options that say nothing sensible: a size that is that of no
 * struct, a value whose flag is not set, a number that no enumeration has. Each is refused with an
 * error that names the field, by every call that takes the struct.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

struct options_fixture {
    struct fixture base;
    struct ledger ledger;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    petal_slice row;
    petal_error error;
};

static void
begin(struct options_fixture *fixture)
{
    *fixture = (struct options_fixture){.row = slice_from_text("row")};
    fixture_init(&fixture->base, 1);
    fixture_must_open(&fixture->base);
    MUST(ledger_create(&fixture->ledger, fixture->base.db, WHY));
    fixture->table = fixture->ledger.tables[0];
    fixture->family = fixture->ledger.families[0];
    MUST(petal_result_new(fixture->base.db, &fixture->result, WHY));
}

static void
end(struct options_fixture *fixture)
{
    petal_result_free(fixture->result);
    fixture_fini(&fixture->base);
}

/* The call was refused, and its text has both pieces. */
static void
refused(struct options_fixture *fixture, enum petal_status status, const char *field,
        const char *found)
{
    if (status != PETAL_INVALID || strstr(fixture->error.text, field) == NULL ||
        strstr(fixture->error.text, found) == NULL)
        print_error("%s: \"%s\", without \"%s\" or \"%s\"\n", petal_status_text(status),
                    fixture->error.text, field, found);
    assert_int_equal(status, PETAL_INVALID);
    assert_int_equal(fixture->error.status, PETAL_INVALID);
    assert_non_null(strstr(fixture->error.text, field));
    assert_non_null(strstr(fixture->error.text, found));
    fixture->error = (petal_error){0};
}

/* ---- every call that takes a struct of options ---- */

static void
reads_refused(struct options_fixture *fixture, const petal_read_options *read, const char *field,
              const char *found)
{
    petal_column column = {.family = fixture->family, .qualifier = fixture->row};
    petal_read_options of_column = *read;
    petal_scan_options scan = {.read = *read};
    petal_cursor *cursor = (petal_cursor *)&scan;

    refused(fixture,
            petal_get(fixture->table, fixture->row, read, fixture->result, &fixture->error), field,
            found);
    /* A get of one column has a way of its own. */
    if (of_column.column_count == 0) {
        of_column.columns = &column;
        of_column.column_count = 1;
        refused(
            fixture,
            petal_get(fixture->table, fixture->row, &of_column, fixture->result, &fixture->error),
            field, found);
    }
    refused(
        fixture,
        petal_multi_get(fixture->table, &fixture->row, 1, read, &fixture->result, &fixture->error),
        field, found);
    refused(fixture, petal_cursor_open(fixture->table, &scan, &cursor, &fixture->error), field,
            found);
    assert_null(cursor);
}

static void
writes_refused(struct options_fixture *fixture, const petal_write_options *write, const char *field,
               const char *found)
{
    petal_family *family = fixture->family;
    petal_slice row = fixture->row;
    petal_error *error = &fixture->error;
    petal_condition condition = {.family = family, .compare = PETAL_EQUAL, .value = row};
    petal_batch *batch;
    int64_t sum;

    refused(fixture, petal_put(family, row, row, 5, row, write, error), field, found);
    refused(fixture, petal_delete(family, row, row, 5, PETAL_DELETE, write, error), field, found);
    refused(fixture, petal_append(family, row, row, row, write, error), field, found);
    refused(fixture, petal_increment(family, row, row, 1, write, &sum, error), field, found);
    must(petal_batch_new(fixture->base.db, &batch, error), error);
    for (int cells = 0; cells < 2; cells++) {
        if (cells > 0)
            must(petal_batch_put(batch, family, row, row, 5, row, error), error);
        refused(fixture, petal_write(fixture->base.db, batch, write, error), field, found);
        refused(fixture, petal_mutate_row(fixture->table, row, NULL, batch, write, NULL, error),
                field, found);
        /* The condition does not hold. */
        refused(fixture,
                petal_mutate_row(fixture->table, row, &condition, batch, write, NULL, error), field,
                found);
    }
    petal_batch_free(batch);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), 0);
}

static void
mutation_refused(struct options_fixture *fixture, const petal_mutation_options *mutation,
                 const char *field, const char *found)
{
    petal_batch *batch;

    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    refused(fixture, petal_batch_mutation(batch, mutation, &fixture->error), field, found);
    MUST(petal_write(fixture->base.db, batch, NULL, WHY));
    petal_batch_free(batch);
}

static void
condition_refused(struct options_fixture *fixture, const petal_condition *condition,
                  const char *field, const char *found)
{
    petal_batch *batch;
    bool applied = true;

    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    MUST(petal_batch_put(batch, fixture->family, fixture->row, fixture->row, 5, fixture->row, WHY));
    refused(fixture,
            petal_mutate_row(fixture->table, fixture->row, condition, batch, NULL, &applied,
                             &fixture->error),
            field, found);
    assert_false(applied);
    petal_batch_free(batch);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), 0);
}

static void
schema_refused(struct options_fixture *fixture, const petal_table_options *options,
               const char *field, const char *found)
{
    petal_table *table = (petal_table *)&table;

    refused(fixture, petal_table_create(fixture->base.db, options, &table, &fixture->error), field,
            found);
    assert_null(table);
    refused(fixture, petal_table_alter(fixture->table, options, &fixture->error), field, found);
}

/* ---- sizes ---- */

/* The sizes of structs that begin with a size_t are multiples of that. */
static const size_t no_sizes[] = {1, 3, sizeof(size_t) - 1, sizeof(size_t) + 1, 1003, SIZE_MAX};

TEST(test_sizes_of_no_struct)
{
    struct options_fixture fixture;

    begin(&fixture);
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++) {
        size_t size = no_sizes[i];
        petal_read_options read = {.size = size};
        petal_scan_options scan = {.size = size};
        petal_write_options write = {.size = size};
        petal_mutation_options mutation = {.size = size};
        petal_condition condition = {
            .size = size, .family = fixture.family, .compare = PETAL_EQUAL};
        petal_family_options family = {.size = size, .name = slice_from_text("f")};
        petal_table_options table = {.name = slice_from_text("t"), .families = &family};
        petal_table_snapshot_options snapshot = {.size = size};
        petal_cursor *cursor;
        petal_kv *kv = (petal_kv *)&kv;
        char found[32];

        snprintf(found, sizeof found, " %zu;", size);
        reads_refused(&fixture, &read, "size of petal_read_options", found);
        refused(&fixture, petal_cursor_open(fixture.table, &scan, &cursor, &fixture.error),
                "size of petal_scan_options", found);
        writes_refused(&fixture, &write, "size of petal_write_options", found);
        mutation_refused(&fixture, &mutation, "size of petal_mutation_options", found);
        condition_refused(&fixture, &condition, "size of petal_condition", found);
        table.family_count = 1;
        table.name = petal_table_name(fixture.table);
        refused(&fixture, petal_table_alter(fixture.table, &table, &fixture.error),
                "size of petal_family_options", found);
        table.name = slice_from_text("t");
        refused(&fixture,
                petal_table_create(fixture.base.db, &table, &(petal_table *){0}, &fixture.error),
                "size of petal_family_options", found);
        for (int exists = 0; exists < 2; exists++) {
            refused(&fixture,
                    petal_kv_open(fixture.base.db,
                                  exists ? petal_table_name(fixture.table) : table.name, &family,
                                  &kv, &fixture.error),
                    "size of petal_family_options", found);
            assert_null(kv);
        }
        table.size = size;
        schema_refused(&fixture, &table, "size of petal_table_options", found);
        refused(&fixture,
                petal_table_snapshot_create(fixture.table, slice_from_text("s"), &snapshot,
                                            &fixture.error),
                "size of petal_table_snapshot_options", found);
    }
    end(&fixture);
}

TEST(test_sizes_of_no_database)
{
    struct options_fixture fixture;

    begin(&fixture);
    petal_result_free(fixture.result);
    fixture.result = NULL;
    fixture_must_close(&fixture.base);
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++) {
        char found[32];

        snprintf(found, sizeof found, " %zu;", no_sizes[i]);
        fixture.base.options.size = no_sizes[i];
        refused(&fixture, fixture_open(&fixture.base, &fixture.error), "size of petal_options",
                found);
        fixture.base.options.size = 0;
        fixture.base.env.size = no_sizes[i];
        refused(&fixture, fixture_open(&fixture.base, &fixture.error), "size of petal_env", found);
        fixture.base.env.size = 0;
    }
    fixture_must_open(&fixture.base);
    end(&fixture);
}

/* What a scan says about its rows would be lost between the two sizes. */
TEST(test_reads_that_exceed_their_scan)
{
    petal_scan_options scan = {.start_row = slice_from_text("r"), .row_limit = 1};
    petal_cursor *cursor;
    struct options_fixture fixture;

    begin(&fixture);
    scan.read.size = sizeof scan.read + 8;
    refused(&fixture, petal_cursor_open(fixture.table, &scan, &cursor, &fixture.error), "read.size",
            "petal_scan_options");
    scan.size = offsetof(petal_scan_options, start_row);
    refused(&fixture, petal_cursor_open(fixture.table, &scan, &cursor, &fixture.error), "read.size",
            "petal_scan_options");
    scan.read.size = sizeof scan.read;
    MUST(petal_cursor_open(fixture.table, &scan, &cursor, WHY));
    petal_cursor_close(cursor);
    end(&fixture);
}

/* The families of a program with another header lie as far apart as its struct is large. */
TEST(test_families_of_other_headers)
{
    const size_t sizes[] = {offsetof(petal_family_options, compression),
                            sizeof(petal_family_options) + 16};
    petal_table_options options = {.name = slice_from_text("t"), .family_count = 3};
    uint64_t memory[64];
    petal_table *table;
    struct options_fixture fixture;

    begin(&fixture);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t known =
            sizes[i] < sizeof(petal_family_options) ? sizes[i] : sizeof(petal_family_options);

        memset(memory, 0xee, sizeof memory);
        for (uint32_t k = 0; k < 3; k++) {
            petal_family_options family = {
                .size = sizes[i], .name = slice_make(&"abc"[k], 1), .versions = k + 1};

            memcpy((uint8_t *)memory + k * sizes[i], &family, known);
        }
        options.families = (const petal_family_options *)memory;
        MUST(petal_table_create(fixture.base.db, &options, &table, WHY));
        for (uint32_t k = 0; k < 3; k++) {
            petal_family_options described = {.size = sizeof described};

            petal_family_describe(petal_table_family_at(table, k), &described);
            assert_int_equal(described.versions, k + 1);
            assert_int_equal(described.block_bytes, 65536);
        }
        MUST(petal_table_drop(table, WHY));
        memcpy((uint8_t *)memory + 2 * sizes[i], &(size_t){sizes[i] - 8}, sizeof(size_t));
        refused(&fixture, petal_table_create(fixture.base.db, &options, &table, &fixture.error),
                "petal_family_options", "the first");
    }
    end(&fixture);
}

/* ---- values without their flags ---- */

TEST(test_time_ranges_without_the_flag)
{
    static const struct {
        int64_t time_min, time_limit;
        const char *field, *found;
    } ranges[] = {
        {100, 200, "time_min", "100"}, {0, 200, "time_limit", "200"}, {100, 0, "time_min", "100"},
        {1, 0, "time_min", "1"},       {0, 1, "time_limit", "1"},     {-1, 0, "time_min", "-1"},
    };
    struct options_fixture fixture;

    begin(&fixture);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t time_min = ranges[i].time_min, time_limit = ranges[i].time_limit;
        petal_read_options read = {.time_min = time_min, .time_limit = time_limit};
        petal_mutation_options mutation = {.time_min = time_min, .time_limit = time_limit};
        petal_condition condition = {.family = fixture.family,
                                     .compare = PETAL_EQUAL,
                                     .time_min = time_min,
                                     .time_limit = time_limit};

        reads_refused(&fixture, &read, "has_time_range", ranges[i].found);
        reads_refused(&fixture, &read, ranges[i].field, ranges[i].found);
        mutation_refused(&fixture, &mutation, "has_time_range", ranges[i].found);
        condition_refused(&fixture, &condition, "has_time_range", ranges[i].found);
        /* After the size that the program knows they are not there. */
        read.size = offsetof(petal_read_options, has_time_range);
        MUST(petal_get(fixture.table, fixture.row, &read, fixture.result, WHY));
    }
    end(&fixture);
}

TEST(test_times_to_live_without_the_flag)
{
    static const int64_t ttls[] = {1, -1, INT64_MAX, INT64_MIN};
    struct options_fixture fixture;

    begin(&fixture);
    for (size_t i = 0; i < sizeof ttls / sizeof *ttls; i++) {
        petal_write_options write = {.ttl_ms = ttls[i]};
        petal_mutation_options mutation = {.ttl_ms = ttls[i]};
        char found[32];

        snprintf(found, sizeof found, "ttl_ms is %lld", (long long)ttls[i]);
        writes_refused(&fixture, &write, "has_ttl", found);
        mutation_refused(&fixture, &mutation, "has_ttl", found);
    }
    end(&fixture);
}

/* ---- numbers that are none of an enumeration ---- */

TEST(test_numbers_of_no_enumeration)
{
    static const int numbers[] = {-1, 7, INT32_MAX};
    petal_filter *filter;
    struct options_fixture fixture;

    begin(&fixture);
    MUST(petal_filter_parse(fixture.base.db, slice_from_text("KeyOnlyFilter()"), &filter, WHY));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        petal_write_options write = {.durability = (enum petal_durability)numbers[i]};
        petal_condition condition = {.family = fixture.family,
                                     .compare = (enum petal_compare)numbers[i]};
        char found[32];

        snprintf(found, sizeof found, "%d", numbers[i]);
        writes_refused(&fixture, &write, "durability", found);
        condition_refused(&fixture, &condition, "compare", found);
        condition.absent = true;
        condition_refused(&fixture, &condition, "compare", found);
        condition.absent = false;
        condition.filter = filter;
        condition_refused(&fixture, &condition, "compare", found);
    }
    petal_filter_free(filter);
    end(&fixture);
}
