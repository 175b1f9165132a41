/*
 * refusal_test.c -- arguments, options and openers that are refused: each with an error of its own
 * that names what was given and what is allowed, and without leaving anything after.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/process.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- texts and errors ---- */

TEST(test_texts)
{
    assert_string_equal(petal_status_text(PETAL_CORRUPT), "stored data is damaged");
    assert_string_equal(petal_status_text((enum petal_status)99), "unknown status");
    /* PETAL_BUSY is what petal_close and a verification return, too. */
    assert_null(strstr(petal_status_text(PETAL_BUSY), "open elsewhere"));
    for (int skip = 0; skip < PETAL_SKIP_COUNT; skip++)
        assert_true(strlen(petal_skip_text((enum petal_skip)skip)) > 3);
    assert_non_null(petal_skip_text((enum petal_skip)77));
    for (int status = PETAL_OK; status <= PETAL_TIMEOUT; status++)
        for (int other = PETAL_OK; other < status; other++)
            assert_string_not_equal(petal_status_text((enum petal_status)status),
                                    petal_status_text((enum petal_status)other));
    for (int by = 0; by < PETAL_HIDDEN_COUNT; by++)
        assert_true(strlen(petal_hidden_text((enum petal_hidden)by)) > 3);
    assert_string_equal(petal_hidden_text(PETAL_HIDDEN_COUNT), "unknown");
}

TEST(test_errors_are_cleared_and_may_be_null)
{
    struct fixture fixture;
    petal_table *table;
    struct ledger ledger = {0};
    petal_error error;

    ledger_start(&ledger, &fixture, 1);
    error = (petal_error){.status = PETAL_IO, .text = "old", .file = "old", .os_error = 5};
    must(petal_table_open(fixture.db, slice_from_text("left"), &table, &error), &error);
    assert_int_equal(error.status, PETAL_OK);
    assert_string_equal(error.text, "");
    assert_string_equal(error.file, "");
    assert_int_equal(error.os_error, 0);
    assert_int_equal(petal_table_open(fixture.db, slice_from_text("u"), &table, NULL),
                     PETAL_NOT_FOUND);
    assert_null(table);
    assert_int_equal(petal_close(NULL, &error), PETAL_OK);
    fixture_fini(&fixture);
}

/* ---- bad arguments ---- */

/* The call was refused, and its text has each of the pieces; the last one is NULL. */
static void
refused(enum petal_status status, enum petal_status expected, const petal_error *error, ...)
{
    va_list pieces;
    const char *piece;

    if (status != expected)
        print_error("%s, expected %s\n", petal_status_text(status), petal_status_text(expected));
    assert_int_equal(status, expected);
    assert_int_equal(error->status, expected);
    va_start(pieces, error);
    while ((piece = va_arg(pieces, const char *)) != NULL) {
        if (strstr(error->text, piece) == NULL)
            print_error("the text is \"%s\", without \"%s\"\n", error->text, piece);
        assert_non_null(strstr(error->text, piece));
    }
    va_end(pieces);
}

TEST(test_wrong_database_options)
{
    struct fixture fixture;
    petal_options good;
    petal_error error;
    petal_db *db = (petal_db *)&good;
    char long_path[2000];

    fixture_init(&fixture, 1);
    good = fixture.options;
    fixture.options.cache_bytes = 1000;
    refused(fixture_open(&fixture, &error), PETAL_INVALID, &error, "cache_bytes", "1000", "65536",
            NULL);
    fixture.options = good;
    fixture.options.memtable_bytes = 4096;
    refused(fixture_open(&fixture, &error), PETAL_INVALID, &error, "memtable_bytes", "4096",
            "65536", NULL);
    fixture.options = good;
    fixture.options.memtable_bytes = ((size_t)4 << 30) + 1;
    refused(fixture_open(&fixture, &error), PETAL_INVALID, &error, "memtable_bytes", "4294967297",
            NULL);
    fixture.options = good;
    fixture.options.durability = (enum petal_durability)9;
    refused(fixture_open(&fixture, &error), PETAL_INVALID, &error, "durability", "9", NULL);
    fixture.options = good;
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    refused(petal_open(long_path, &good, &db, &error), PETAL_INVALID, &error, "path", "1999", NULL);
    assert_null(db);
    refused(petal_open("", &good, &db, &error), PETAL_INVALID, &error, "path", NULL);
    good.create = false;
    refused(petal_open("/nothing", &good, &db, &error), PETAL_NOT_FOUND, &error, "/nothing", NULL);
    assert_false(memory_vfs_exists(fixture.vfs, "/nothing"));
    fixture_must_open(&fixture);
    fixture_must_close(&fixture);
    fixture.options.error_if_exists = true;
    refused(fixture_open(&fixture, &error), PETAL_EXISTS, &error, FIXTURE_DIRECTORY, NULL);
    fixture_fini(&fixture);
}

/* Create a table "t" of one family with these options, which are wrong. */
static void
family_refused(petal_db *db, petal_family_options family, const char *attribute, const char *value,
               const char *range)
{
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    petal_table *table = (petal_table *)&options;
    petal_error error;

    refused(petal_table_create(db, &options, &table, &error), PETAL_INVALID, &error, attribute,
            value, range, NULL);
    assert_null(table);
    refused(petal_table_open(db, slice_from_text("t"), &table, &error), PETAL_NOT_FOUND, &error,
            "t", NULL);
}

TEST(test_wrong_family_options)
{
    petal_family_options good = {.name = slice_from_text("f")}, family;
    static const char *const bad_names[] = {"", ".f", "a:b", "a/b", "a\\b", "a\nb", "a\x7f"};
    struct fixture fixture;
    char name[PETAL_MAX_FAMILY_BYTES + 1];

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    family = good;
    family.versions = (uint32_t)INT32_MAX + 1;
    family_refused(fixture.db, family, "VERSIONS", "2147483648", "2147483647");
    family = good;
    family.block_bytes = 1023;
    family_refused(fixture.db, family, "BLOCKSIZE", "1023", "1024");
    family.block_bytes = (16u << 20) + 1;
    family_refused(fixture.db, family, "BLOCKSIZE", "16777217", "16777216");
    family = good;
    family.compression = (enum petal_compression)7;
    family_refused(fixture.db, family, "COMPRESSION", "7", "LZ4");
    family = good;
    family.bloom = (enum petal_bloom_type)8;
    family_refused(fixture.db, family, "BLOOMFILTER", "8", "ROWCOL");
    family = good;
    family.bloom_error_rate = 0.75;
    family_refused(fixture.db, family, "error.rate", "0.75", "0.5");
    family.bloom_error_rate = 0.00001;
    family_refused(fixture.db, family, "error.rate", "1e-05", "0.0001");
    family.bloom_error_rate = (double)NAN;
    family_refused(fixture.db, family, "error.rate", "nan", "0.5");
    family = good;
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
        family.name = slice_from_text(bad_names[i]);
        family_refused(fixture.db, family, "amily", "", "");
    }
    memset(name, 'f', sizeof name);
    family.name = slice_make(name, sizeof name);
    family_refused(fixture.db, family, "family name", "128", "127");
    fixture_fini(&fixture);
}

TEST(test_wrong_table_options)
{
    static const struct {
        const char *name, *piece;
    } bad[] = {
        {"", "able"},          {".t", "able"},        {"-t", "able"},    {"a b", "able"},
        {"a/b", "able"},       {"a:", "able"},        {"a:b:c", "able"}, {":b", "amespace"},
        {"a.b:c", "amespace"}, {"default:b", "able"},
    };
    petal_family_options families[2] = {{.name = slice_from_text("f")},
                                        {.name = slice_from_text("f")}};
    petal_table_options options = {.families = families, .family_count = 1};
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    char name[256];

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.name = slice_from_text(bad[i].name);
        refused(petal_table_create(fixture.db, &options, &table, &error), PETAL_INVALID, &error,
                bad[i].piece, NULL);
    }
    memset(name, 't', sizeof name);
    options.name = slice_make(name, sizeof name);
    refused(petal_table_create(fixture.db, &options, &table, &error), PETAL_INVALID, &error, "256",
            "255", NULL);
    options.name = slice_from_text("t");
    options.family_count = 0;
    refused(petal_table_create(fixture.db, &options, &table, &error), PETAL_INVALID, &error,
            "at least one", NULL);
    options.family_count = 2;
    refused(petal_table_create(fixture.db, &options, &table, &error), PETAL_INVALID, &error,
            "twice", NULL);
    options.family_count = 1;
    options.durability = (enum petal_durability)5;
    refused(petal_table_create(fixture.db, &options, &table, &error), PETAL_INVALID, &error,
            "durability", "5", NULL);
    fixture_fini(&fixture);
}

/* Both as a write of its own and in a batch; neither leaves anything. */
static void
put_refused(struct ledger *ledger, petal_slice row, petal_slice qualifier, int64_t timestamp,
            petal_slice value, const char *found, const char *limit)
{
    petal_family *family = ledger->families[0];
    petal_batch *batch;
    petal_error error;

    refused(petal_put(family, row, qualifier, timestamp, value, NULL, &error), PETAL_INVALID,
            &error, found, limit, NULL);
    must(petal_batch_new(ledger->db, &batch, &error), &error);
    refused(petal_batch_put(batch, family, row, qualifier, timestamp, value, &error), PETAL_INVALID,
            &error, found, limit, NULL);
    assert_int_equal(petal_batch_count(batch), 0);
    petal_batch_free(batch);
}

TEST(test_wrong_cells)
{
    petal_slice row = slice_from_text("row"), empty = slice_make(NULL, 0);
    uint8_t *bytes = test_allocate(PETAL_MAX_VALUE_BYTES + 1);
    petal_write_options wrong = {.durability = (enum petal_durability)6};
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_family *family;
    petal_error error;

    memset(bytes, 'x', PETAL_MAX_VALUE_BYTES + 1);
    ledger_start(&ledger, &fixture, 1);
    put_refused(&ledger, empty, empty, 5, empty, "empty", "32767");
    put_refused(&ledger, slice_make(bytes, 32768), empty, 5, empty, "32768", "32767");
    put_refused(&ledger, row, slice_make(bytes, PETAL_MAX_QUALIFIER_BYTES + 1), 5, empty, "1048577",
                "1048576");
    put_refused(&ledger, row, empty, 5, slice_make(bytes, PETAL_MAX_VALUE_BYTES + 1), "10485761",
                "10485760");
    put_refused(&ledger, row, empty, -1, empty, "-1", "negative");
    family = ledger.families[0];
    refused(petal_delete(family, row, empty, 5, PETAL_PUT, NULL, &error), PETAL_INVALID, &error,
            "put", NULL);
    refused(petal_delete(family, row, empty, 5, (enum petal_cell_type)9, NULL, &error),
            PETAL_INVALID, &error, "9", NULL);
    refused(petal_delete(family, row, row, 5, PETAL_DELETE_FAMILY, NULL, &error), PETAL_INVALID,
            &error, "qualifier", NULL);
    refused(petal_put(family, row, row, 5, row, &wrong, &error), PETAL_INVALID, &error, "6", NULL);
    refused(petal_table_family(ledger.tables[0], slice_from_text("nope"), &family, &error),
            PETAL_NOT_FOUND, &error, "nope", "left", NULL);
    assert_null(family);
    assert_int_equal(ledger_must_be_prefix(&ledger), 0);
    /* The greatest that is allowed is allowed. */
    must(petal_put(ledger.families[3], slice_make(bytes, PETAL_MAX_ROW_BYTES),
                   slice_make(bytes, PETAL_MAX_QUALIFIER_BYTES), 5,
                   slice_make(bytes, PETAL_MAX_VALUE_BYTES), NULL, &error),
         &error);
    must(petal_flush(fixture.db, NULL, &error), &error);
    must(petal_table_verify(ledger.tables[1], &error), &error);
    free(bytes);
    fixture_fini(&fixture);
}

TEST(test_wrong_reads)
{
    petal_read_options options = {.has_time_range = true, .time_min = 9, .time_limit = 8};
    petal_column column = {.whole_family = true};
    petal_scan_options scan = {.read = options};
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_result *result;
    petal_cursor *cursor;
    petal_error error;

    ledger_start(&ledger, &fixture, 1);
    must(petal_result_new(fixture.db, &result, &error), &error);
    refused(petal_get(ledger.tables[0], slice_make(NULL, 0), NULL, result, &error), PETAL_INVALID,
            &error, "0 bytes", NULL);
    refused(petal_get(ledger.tables[0], slice_from_text("r"), &options, result, &error),
            PETAL_INVALID, &error, "time range", "9", "8", NULL);
    refused(petal_cursor_open(ledger.tables[0], &scan, &cursor, &error), PETAL_INVALID, &error,
            "time range", NULL);
    assert_null(cursor);
    column.family = ledger.families[LEDGER_FAMILIES]; /* of the other table */
    options = (petal_read_options){.columns = &column, .column_count = 1};
    refused(petal_get(ledger.tables[0], slice_from_text("r"), &options, result, &error),
            PETAL_INVALID, &error, "another table", NULL);
    petal_result_free(result);
    fixture_fini(&fixture);
}

TEST(test_snapshot_of_another_database)
{
    petal_read_options options = {.versions = 1};
    petal_slice row = slice_from_text("r");
    struct fixture fixtures[2];
    struct ledger ledger = {0};
    petal_scan_options scan = {.row_limit = 1};
    petal_snapshot *snapshot;
    petal_result *result;
    petal_cursor *cursor;
    petal_error error;

    for (int i = 0; i < 2; i++) {
        fixture_init(&fixtures[i], 1);
        fixture_must_open(&fixtures[i]);
    }
    must(ledger_create(&ledger, fixtures[0].db, &error), &error);
    must(petal_snapshot_new(fixtures[1].db, &snapshot, &error), &error);
    must(petal_result_new(fixtures[0].db, &result, &error), &error);
    options.snapshot = snapshot;
    scan.read = options;
    refused(petal_get(ledger.tables[0], row, &options, result, &error), PETAL_INVALID, &error,
            "another database", NULL);
    refused(petal_multi_get(ledger.tables[0], &row, 1, &options, &result, &error), PETAL_INVALID,
            &error, "another database", NULL);
    refused(petal_cursor_open(ledger.tables[0], &scan, &cursor, &error), PETAL_INVALID, &error,
            "another database", NULL);
    petal_result_free(result);
    petal_snapshot_free(snapshot);
    for (int i = 0; i < 2; i++)
        fixture_fini(&fixtures[i]);
}

/* ---- other openers ---- */

TEST(test_second_opener_in_the_process)
{
    struct fixture fixture;
    petal_db *second;
    petal_error error;

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    refused(petal_open(FIXTURE_DIRECTORY, &fixture.options, &second, &error), PETAL_BUSY, &error,
            "LOCK", "open elsewhere", NULL);
    assert_null(second);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    fixture_fini(&fixture);
}

/* In a child of the process that has the database open: is it refused, with that one's number? */
static int
is_told_who_has_it(const char *directory)
{
    petal_options options = {.create = true};
    petal_error error;
    char holder[64];
    petal_db *db;

    (void)snprintf(holder, sizeof holder, "open already, in process %ld", (long)getppid());
    return petal_open(directory, &options, &db, &error) == PETAL_BUSY &&
           strstr(error.text, holder) != NULL;
}

/* On real files: another process is refused, before and after the first opener of this one tried in
 * vain. */
TEST(test_second_opener_in_another_process)
{
    char *directory = test_directory_new();
    petal_options options = {.create = true};
    struct waiting_process others[2];
    petal_db *first, *second;
    petal_error error;

    fflush(NULL);
    for (int round = 0; round < 2; round++)
        assert_true(process_prepare(&others[round], is_told_who_has_it, directory));
    must(petal_open(directory, &options, &first, &error), &error);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(process_act(&others[round]), 1);
        refused(petal_open(directory, &options, &second, &error), PETAL_BUSY, &error, directory,
                "open already, in this process", NULL);
    }
    must(petal_close(first, &error), &error);
    must(petal_open(directory, &options, &first, &error), &error);
    must(petal_close(first, &error), &error);
    test_directory_free(directory);
}
