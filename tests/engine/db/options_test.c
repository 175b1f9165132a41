/*
 * options_test.c -- structs of options that say nothing sensible: a size that is that of no
 * struct, a value whose flag is not set, a number that no enumeration has. Each is refused with an
 * error that names the field, by every call that takes the struct.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/crash/ledger.h"

struct bed {
    struct fixture fixture;
    struct ledger ledger;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    petal_slice row;
    petal_error error;
};

static void
begin(struct bed *bed)
{
    *bed = (struct bed){.row = slice_from_text("row")};
    fixture_init(&bed->fixture, 1);
    fixture_must_open(&bed->fixture);
    must(ledger_create(&bed->ledger, bed->fixture.db, &bed->error), &bed->error);
    bed->table = bed->ledger.tables[0];
    bed->family = bed->ledger.families[0];
    must(petal_result_new(bed->fixture.db, &bed->result, &bed->error), &bed->error);
}

static void
end(struct bed *bed)
{
    petal_result_free(bed->result);
    fixture_fini(&bed->fixture);
}

/* The call was refused, and its text has both pieces. */
static void
refused(struct bed *bed, enum petal_status status, const char *field, const char *found)
{
    if (status != PETAL_INVALID || strstr(bed->error.text, field) == NULL ||
        strstr(bed->error.text, found) == NULL)
        print_error("%s: \"%s\", without \"%s\" or \"%s\"\n", petal_status_text(status),
                    bed->error.text, field, found);
    assert_int_equal(status, PETAL_INVALID);
    assert_int_equal(bed->error.status, PETAL_INVALID);
    assert_non_null(strstr(bed->error.text, field));
    assert_non_null(strstr(bed->error.text, found));
    bed->error = (petal_error){0};
}

/* ---- every call that takes a struct of options ---- */

static void
reads_refused(struct bed *bed, const petal_read_options *read, const char *field, const char *found)
{
    petal_scan_options scan = {.read = *read};
    petal_cursor *cursor = (petal_cursor *)&scan;

    refused(bed, petal_get(bed->table, bed->row, read, bed->result, &bed->error), field, found);
    refused(bed, petal_multi_get(bed->table, &bed->row, 1, read, &bed->result, &bed->error), field,
            found);
    refused(bed, petal_cursor_open(bed->table, &scan, &cursor, &bed->error), field, found);
    assert_null(cursor);
}

static void
writes_refused(struct bed *bed, const petal_write_options *write, const char *field,
               const char *found)
{
    petal_family *family = bed->family;
    petal_slice row = bed->row;
    petal_error *error = &bed->error;
    petal_condition condition = {.family = family, .compare = PETAL_EQUAL, .value = row};
    petal_batch *batch;
    int64_t sum;

    refused(bed, petal_put(family, row, row, 5, row, write, error), field, found);
    refused(bed, petal_delete(family, row, row, 5, PETAL_DELETE, write, error), field, found);
    refused(bed, petal_append(family, row, row, row, write, error), field, found);
    refused(bed, petal_increment(family, row, row, 1, write, &sum, error), field, found);
    must(petal_batch_new(bed->fixture.db, &batch, error), error);
    for (int cells = 0; cells < 2; cells++) {
        if (cells > 0)
            must(petal_batch_put(batch, family, row, row, 5, row, error), error);
        refused(bed, petal_write(bed->fixture.db, batch, write, error), field, found);
        refused(bed, petal_mutate_row(bed->table, row, NULL, batch, write, NULL, error), field,
                found);
        /* The condition does not hold. */
        refused(bed, petal_mutate_row(bed->table, row, &condition, batch, write, NULL, error),
                field, found);
    }
    petal_batch_free(batch);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), 0);
}

static void
mutation_refused(struct bed *bed, const petal_mutation_options *mutation, const char *field,
                 const char *found)
{
    petal_batch *batch;

    must(petal_batch_new(bed->fixture.db, &batch, &bed->error), &bed->error);
    refused(bed, petal_batch_mutation(batch, mutation, &bed->error), field, found);
    must(petal_write(bed->fixture.db, batch, NULL, &bed->error), &bed->error);
    petal_batch_free(batch);
}

static void
condition_refused(struct bed *bed, const petal_condition *condition, const char *field,
                  const char *found)
{
    petal_batch *batch;
    bool applied = true;

    must(petal_batch_new(bed->fixture.db, &batch, &bed->error), &bed->error);
    must(petal_batch_put(batch, bed->family, bed->row, bed->row, 5, bed->row, &bed->error),
         &bed->error);
    refused(bed,
            petal_mutate_row(bed->table, bed->row, condition, batch, NULL, &applied, &bed->error),
            field, found);
    assert_false(applied);
    petal_batch_free(batch);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), 0);
}

static void
schema_refused(struct bed *bed, const petal_table_options *options, const char *field,
               const char *found)
{
    petal_table *table = (petal_table *)&table;

    refused(bed, petal_table_create(bed->fixture.db, options, &table, &bed->error), field, found);
    assert_null(table);
    refused(bed, petal_table_alter(bed->table, options, &bed->error), field, found);
}

/* ---- sizes ---- */

/* The sizes of structs that begin with a size_t are multiples of that. */
static const size_t no_sizes[] = {1, 3, sizeof(size_t) - 1, sizeof(size_t) + 1, 1003, SIZE_MAX};

static void
test_sizes_of_no_struct(void **state)
{
    struct bed bed;

    (void)state;
    begin(&bed);
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++) {
        size_t size = no_sizes[i];
        petal_read_options read = {.size = size};
        petal_scan_options scan = {.size = size};
        petal_write_options write = {.size = size};
        petal_mutation_options mutation = {.size = size};
        petal_condition condition = {.size = size, .family = bed.family, .compare = PETAL_EQUAL};
        petal_family_options family = {.size = size, .name = slice_from_text("f")};
        petal_table_options table = {.name = slice_from_text("t"), .families = &family};
        petal_table_snapshot_options snapshot = {.size = size};
        petal_cursor *cursor;
        petal_kv *kv = (petal_kv *)&kv;
        char found[32];

        snprintf(found, sizeof found, " %zu;", size);
        reads_refused(&bed, &read, "size of petal_read_options", found);
        refused(&bed, petal_cursor_open(bed.table, &scan, &cursor, &bed.error),
                "size of petal_scan_options", found);
        writes_refused(&bed, &write, "size of petal_write_options", found);
        mutation_refused(&bed, &mutation, "size of petal_mutation_options", found);
        condition_refused(&bed, &condition, "size of petal_condition", found);
        table.family_count = 1;
        table.name = petal_table_name(bed.table);
        refused(&bed, petal_table_alter(bed.table, &table, &bed.error),
                "size of petal_family_options", found);
        table.name = slice_from_text("t");
        refused(&bed, petal_table_create(bed.fixture.db, &table, &(petal_table *){0}, &bed.error),
                "size of petal_family_options", found);
        for (int exists = 0; exists < 2; exists++) {
            refused(&bed,
                    petal_kv_open(bed.fixture.db, exists ? petal_table_name(bed.table) : table.name,
                                  &family, &kv, &bed.error),
                    "size of petal_family_options", found);
            assert_null(kv);
        }
        table.size = size;
        schema_refused(&bed, &table, "size of petal_table_options", found);
        refused(&bed,
                petal_table_snapshot_create(bed.table, slice_from_text("s"), &snapshot, &bed.error),
                "size of petal_table_snapshot_options", found);
    }
    end(&bed);
}

static void
test_sizes_of_no_database(void **state)
{
    struct bed bed;

    (void)state;
    begin(&bed);
    petal_result_free(bed.result);
    bed.result = NULL;
    fixture_must_close(&bed.fixture);
    for (size_t i = 0; i < sizeof no_sizes / sizeof *no_sizes; i++) {
        char found[32];

        snprintf(found, sizeof found, " %zu;", no_sizes[i]);
        bed.fixture.options.size = no_sizes[i];
        refused(&bed, fixture_open(&bed.fixture, &bed.error), "size of petal_options", found);
        bed.fixture.options.size = 0;
        bed.fixture.env.size = no_sizes[i];
        refused(&bed, fixture_open(&bed.fixture, &bed.error), "size of petal_env", found);
        bed.fixture.env.size = 0;
    }
    fixture_must_open(&bed.fixture);
    end(&bed);
}

/* What a scan says about its rows would be lost between the two sizes. */
static void
test_reads_that_exceed_their_scan(void **state)
{
    petal_scan_options scan = {.start_row = slice_from_text("r"), .row_limit = 1};
    petal_cursor *cursor;
    struct bed bed;

    (void)state;
    begin(&bed);
    scan.read.size = sizeof scan.read + 8;
    refused(&bed, petal_cursor_open(bed.table, &scan, &cursor, &bed.error), "read.size",
            "petal_scan_options");
    scan.size = offsetof(petal_scan_options, start_row);
    refused(&bed, petal_cursor_open(bed.table, &scan, &cursor, &bed.error), "read.size",
            "petal_scan_options");
    scan.read.size = sizeof scan.read;
    must(petal_cursor_open(bed.table, &scan, &cursor, &bed.error), &bed.error);
    petal_cursor_close(cursor);
    end(&bed);
}

/* The families of a program with another header lie as far apart as its struct is large. */
static void
test_families_of_other_headers(void **state)
{
    const size_t sizes[] = {offsetof(petal_family_options, compression),
                            sizeof(petal_family_options) + 16};
    petal_table_options options = {.name = slice_from_text("t"), .family_count = 3};
    uint64_t memory[64];
    petal_table *table;
    struct bed bed;

    (void)state;
    begin(&bed);
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
        must(petal_table_create(bed.fixture.db, &options, &table, &bed.error), &bed.error);
        for (uint32_t k = 0; k < 3; k++) {
            petal_family_options described = {.size = sizeof described};

            petal_family_describe(petal_table_family_at(table, k), &described);
            assert_int_equal(described.versions, k + 1);
            assert_int_equal(described.block_bytes, 65536);
        }
        must(petal_table_drop(table, &bed.error), &bed.error);
        memcpy((uint8_t *)memory + 2 * sizes[i], &(size_t){sizes[i] - 8}, sizeof(size_t));
        refused(&bed, petal_table_create(bed.fixture.db, &options, &table, &bed.error),
                "petal_family_options", "the first");
    }
    end(&bed);
}

/* ---- values without their flags ---- */

static void
test_time_ranges_without_the_flag(void **state)
{
    static const struct {
        int64_t time_min, time_limit;
        const char *field, *found;
    } ranges[] = {
        {100, 200, "time_min", "100"},
        {0, 200, "time_limit", "200"},
        {100, 0, "time_min", "100"},
        {-1, 0, "time_min", "-1"},
    };
    struct bed bed;

    (void)state;
    begin(&bed);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t time_min = ranges[i].time_min, time_limit = ranges[i].time_limit;
        petal_read_options read = {.time_min = time_min, .time_limit = time_limit};
        petal_mutation_options mutation = {.time_min = time_min, .time_limit = time_limit};
        petal_condition condition = {.family = bed.family,
                                     .compare = PETAL_EQUAL,
                                     .time_min = time_min,
                                     .time_limit = time_limit};

        reads_refused(&bed, &read, "has_time_range", ranges[i].found);
        reads_refused(&bed, &read, ranges[i].field, ranges[i].found);
        mutation_refused(&bed, &mutation, "has_time_range", ranges[i].found);
        condition_refused(&bed, &condition, "has_time_range", ranges[i].found);
        /* Behind the size that the program knows they are not there. */
        read.size = offsetof(petal_read_options, has_time_range);
        must(petal_get(bed.table, bed.row, &read, bed.result, &bed.error), &bed.error);
    }
    end(&bed);
}

static void
test_times_to_live_without_the_flag(void **state)
{
    static const int64_t ttls[] = {1, -1, INT64_MAX, INT64_MIN};
    struct bed bed;

    (void)state;
    begin(&bed);
    for (size_t i = 0; i < sizeof ttls / sizeof *ttls; i++) {
        petal_write_options write = {.ttl_ms = ttls[i]};
        petal_mutation_options mutation = {.ttl_ms = ttls[i]};
        char found[32];

        snprintf(found, sizeof found, "ttl_ms is %lld", (long long)ttls[i]);
        writes_refused(&bed, &write, "has_ttl", found);
        mutation_refused(&bed, &mutation, "has_ttl", found);
    }
    end(&bed);
}

/* ---- numbers that are none of an enumeration ---- */

static void
test_numbers_of_no_enumeration(void **state)
{
    static const int numbers[] = {-1, 7, INT32_MAX};
    petal_filter *filter;
    struct bed bed;

    (void)state;
    begin(&bed);
    must(
        petal_filter_parse(bed.fixture.db, slice_from_text("KeyOnlyFilter()"), &filter, &bed.error),
        &bed.error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        petal_write_options write = {.durability = (enum petal_durability)numbers[i]};
        petal_condition condition = {.family = bed.family,
                                     .compare = (enum petal_compare)numbers[i]};
        char found[32];

        snprintf(found, sizeof found, "%d", numbers[i]);
        writes_refused(&bed, &write, "durability", found);
        condition_refused(&bed, &condition, "comparison", found);
        condition.absent = true;
        condition_refused(&bed, &condition, "comparison", found);
        condition.absent = false;
        condition.filter = filter;
        condition_refused(&bed, &condition, "comparison", found);
    }
    petal_filter_free(filter);
    end(&bed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_no_struct),
        cmocka_unit_test(test_sizes_of_no_database),
        cmocka_unit_test(test_reads_that_exceed_their_scan),
        cmocka_unit_test(test_families_of_other_headers),
        cmocka_unit_test(test_time_ranges_without_the_flag),
        cmocka_unit_test(test_times_to_live_without_the_flag),
        cmocka_unit_test(test_numbers_of_no_enumeration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
