/*
 * stats_text_test.c -- the statistics as Prometheus reads them: the text is what the exposition
 * format 0.0.4 says, whatever the program's locale, its numbers are those of the operations, and
 * its histograms add up beside threads that work.
 */

#include "base/slice.h"
#include "engine/state/latency.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- a checker of the format ---- */

struct metric {
    char name[96], type[16];
    unsigned samples;
    bool over; /* another one came after it */
    double bucket, count;
    bool has_sum, has_infinity;
};

struct checker {
    struct metric metrics[200];
    size_t count;
};

static size_t
name_bytes(const char *text)
{
    size_t bytes = 0;

    while (isalnum((unsigned char)text[bytes]) || text[bytes] == '_' || text[bytes] == ':')
        bytes++;
    return isdigit((unsigned char)text[0]) ? 0 : bytes;
}

static void
begin_metric(struct checker *checker, const char *line)
{
    struct metric *metric = &checker->metrics[checker->count];
    size_t bytes = name_bytes(line);

    assert_true(checker->count < 200 && bytes > 0 && bytes < sizeof metric->name);
    if (checker->count > 0)
        assert_true(checker->metrics[checker->count - 1].samples > 0);
    *metric = (struct metric){.bucket = -1};
    memcpy(metric->name, line, bytes);
    assert_int_equal(line[bytes], ' ');
    assert_true(line[bytes + 1] != '\0'); /* words of help */
    for (size_t i = 0; i < checker->count; i++)
        assert_string_not_equal(checker->metrics[i].name, metric->name);
    checker->count++;
}

static void
take_type(struct checker *checker, const char *line)
{
    struct metric *metric = &checker->metrics[checker->count - 1];
    size_t bytes = name_bytes(line);

    assert_true(checker->count > 0 && metric->type[0] == '\0');
    assert_int_equal(bytes, strlen(metric->name));
    assert_memory_equal(line, metric->name, bytes);
    snprintf(metric->type, sizeof metric->type, "%s", line + bytes + 1);
    assert_true(strcmp(metric->type, "counter") == 0 || strcmp(metric->type, "gauge") == 0 ||
                strcmp(metric->type, "histogram") == 0);
    if (strcmp(metric->type, "counter") == 0)
        assert_string_equal(metric->name + strlen(metric->name) - 6, "_total");
}

/* Labels, from the opening brace to after the closing one. */
static const char *
skip_labels(const char *at)
{
    do {
        at += 1 + name_bytes(at + 1);
        assert_memory_equal(at, "=\"", 2);
        for (at += 2; *at != '"'; at++) {
            if (*at == '\\') {
                at++;
                assert_true(*at == '\\' || *at == '"' || *at == 'n');
            }
            assert_true((unsigned char)*at >= 0x20);
        }
        at++;
    } while (*at == ',');
    assert_int_equal(*at, '}');
    return at + 1;
}

/* Digits with a point among them at most, up to `after`: nothing that a locale has a say in. */
static void
check_digits(const char *number, char behind)
{
    size_t bytes = strspn(number, "0123456789");

    assert_true(bytes > 0);
    if (number[bytes] == '.')
        bytes += 1 + strspn(number + bytes + 1, "0123456789");
    assert_true(number[bytes - 1] != '.');
    assert_int_equal(number[bytes], behind);
}

static void
take_bucket(struct metric *metric, const char *labels, double value)
{
    assert_memory_equal(labels, "{le=\"", 5);
    assert_false(metric->has_infinity);
    assert_true(value >= metric->bucket); /* they are cumulative */
    metric->bucket = value;
    metric->has_infinity = strncmp(labels + 5, "+Inf\"", 5) == 0;
    if (!metric->has_infinity)
        check_digits(labels + 5, '"');
}

static void
take_sample(struct checker *checker, const char *line)
{
    struct metric *metric = &checker->metrics[checker->count - 1];
    size_t bytes = name_bytes(line), name = strlen(metric->name);
    const char *behind = line + bytes, *suffix = line + name;
    double value;
    char *end;

    assert_true(checker->count > 0 && bytes >= name && metric->type[0] != '\0');
    assert_memory_equal(line, metric->name, name);
    if (*behind == '{')
        behind = skip_labels(behind);
    assert_int_equal(*behind, ' ');
    check_digits(behind + 1, '\0');
    value = strtod(behind + 1, &end);
    assert_int_equal(*end, '\0');
    assert_true(value >= 0);
    metric->samples++;
    if (strcmp(metric->type, "histogram") != 0) {
        assert_int_equal(bytes, name);
        metric->count = value;
    } else if (strncmp(suffix, "_bucket", 7) == 0) {
        take_bucket(metric, line + bytes, value);
    } else if (strncmp(suffix, "_sum", 4) == 0) {
        metric->has_sum = true;
    } else {
        assert_memory_equal(suffix, "_count", 6);
        assert_true(metric->has_sum && metric->has_infinity && value == metric->bucket);
        metric->count = value;
    }
}

static void
check_format(struct checker *checker, const char *text, size_t size)
{
    static char line[4096];

    checker->count = 0;
    assert_int_equal(strlen(text), size);
    assert_int_equal(text[size - 1], '\n');
    for (const char *at = text; *at != '\0';) {
        size_t bytes = strcspn(at, "\n");

        assert_true(bytes > 0 && bytes < sizeof line);
        memcpy(line, at, bytes);
        line[bytes] = '\0';
        at += bytes + 1;
        if (strncmp(line, "# HELP ", 7) == 0)
            begin_metric(checker, line + 7);
        else if (strncmp(line, "# TYPE ", 7) == 0)
            take_type(checker, line + 7);
        else
            take_sample(checker, line);
    }
}

static double
number_of(const struct checker *checker, const char *name)
{
    for (size_t i = 0; i < checker->count; i++) {
        if (strcmp(checker->metrics[i].name, name) == 0)
            return checker->metrics[i].count;
    }
    fail_msg("there is no %s", name);
    return 0;
}

static void
scrape(petal_db *db, struct checker *checker)
{
    size_t size;
    char *text;

    MUST(petal_stats_text(db, PETAL_PROMETHEUS, &text, &size, WHY));
    check_format(checker, text, size);
    petal_stats_text_free(text);
}

/* ---- the tests ---- */

static petal_family *
make_family(petal_db *db)
{
    petal_family_options family = {.name = slice_from_text("a\"b")};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    petal_table *table;

    MUST(petal_table_create(db, &options, &table, WHY));
    return petal_table_family_at(table, 0);
}

static void
put(petal_family *family, unsigned number, petal_error *error)
{
    petal_slice row = {&number, sizeof number};

    must(petal_put(family, row, row, 1, row, NULL, error), error);
}

/* So many were timed, and the percentiles are powers of two in their order. */
static void
check_latency(petal_db *db, enum petal_latency_kind kind, uint64_t wanted)
{
    static const double percents[] = {0, 50, 99, 100};
    uint64_t timed = 99, before = 0;

    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        uint64_t limit = petal_stats_latency(db, kind, percents[i], &timed);

        assert_int_equal(timed, wanted);
        assert_true(wanted == 0 ? limit == 0 : limit >= 256 && limit >= before);
        assert_true(limit == UINT64_MAX || (limit & (limit - 1)) == 0);
        before = limit;
    }
}

TEST(percentiles_are_bounds_of_buckets)
{
    static struct latencies latencies;
    const struct latency *writes = &latencies.of[PETAL_LATENCY_WRITE];
    uint64_t timed;

    assert_int_equal(latency_percentile(writes, 50, &timed), 0);
    for (unsigned i = 0; i < 98; i++)
        latency_add(&latencies, PETAL_LATENCY_WRITE, 1000);
    latency_add(&latencies, PETAL_LATENCY_WRITE, 1025);
    latency_add(&latencies, PETAL_LATENCY_WRITE, UINT64_C(1) << 40);
    assert_int_equal(latency_percentile(writes, 0, &timed), 1024);
    assert_int_equal(latency_percentile(writes, 50, &timed), 1024);
    assert_int_equal(latency_percentile(writes, 98, &timed), 1024);
    assert_int_equal(latency_percentile(writes, 99, &timed), 2048);
    assert_int_equal(latency_percentile(writes, 99.5, &timed), UINT64_MAX);
    assert_int_equal(latency_percentile(writes, 100, &timed), UINT64_MAX);
    assert_int_equal(timed, 100);
}

TEST(numbers_are_those_of_the_operations)
{
    static struct checker checker;
    struct fixture fixture;
    petal_result *result, *pairs;
    petal_cursor *cursor;
    petal_family *family;
    petal_table *table;
    petal_slice value;
    petal_error error;
    petal_kv *kv;
    bool found;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    family = make_family(fixture.db);
    MUST(petal_table_open(fixture.db, slice_from_text("t"), &table, WHY));
    MUST(petal_kv_open(fixture.db, slice_from_text("pairs"), NULL, &kv, WHY));
    MUST(petal_result_new(fixture.db, &result, WHY));
    MUST(petal_result_new(fixture.db, &pairs, WHY));
    for (unsigned i = 0; i < 640; i++)
        put(family, i, &error);
    MUST(petal_flush(fixture.db, NULL, WHY));
    for (unsigned i = 0; i < 512; i++)
        MUST(petal_get(table, (petal_slice){&i, sizeof i}, NULL, result, WHY));
    for (unsigned i = 0; i < 257; i++)
        MUST(petal_kv_get(kv, (petal_slice){&i, sizeof i}, pairs, &found, &value, WHY));
    for (unsigned i = 0; i < 128; i++) {
        MUST(petal_cursor_open(table, NULL, &cursor, WHY));
        if (i < 127)
            petal_cursor_close(cursor);
    }
    for (unsigned i = 0; i < 65; i++) {
        MUST(petal_cursor_seek(cursor, (petal_slice){&i, sizeof i}, NULL, (petal_slice){NULL, 0},
                               WHY));
    }
    petal_cursor_close(cursor);
    MUST(petal_multi_get(table, &(petal_slice){"row", 3}, 1, NULL, &result, WHY));
    MUST(petal_compact(table, NULL, WHY));
    scrape(fixture.db, &checker);
    assert_true(number_of(&checker, "petal_cells_written_total") == 640);
    assert_true(number_of(&checker, "petal_write_seconds") == 10); /* one of 64 */
    assert_true(number_of(&checker, "petal_get_seconds") == 4);    /* one of 256 of each result */
    assert_true(number_of(&checker, "petal_cursor_seek_seconds") == 4);
    assert_true(number_of(&checker, "petal_multi_get_seconds") == 1);
    assert_true(number_of(&checker, "petal_flush_seconds") == 1);
    assert_true(number_of(&checker, "petal_compaction_seconds") ==
                number_of(&checker, "petal_compactions_total"));
    assert_true(number_of(&checker, "petal_log_sync_seconds") ==
                number_of(&checker, "petal_log_syncs_total"));
    assert_true(number_of(&checker, "petal_family_files") == 1);
    assert_true(number_of(&checker, "petal_family_file_cells") == 640);
    check_latency(fixture.db, PETAL_LATENCY_GET, 4);
    check_latency(fixture.db, PETAL_LATENCY_MULTI_GET, 1);
    check_latency(fixture.db, PETAL_LATENCY_CURSOR_SEEK, 4);
    check_latency(fixture.db, PETAL_LATENCY_WRITE, 10);
    check_latency(fixture.db, PETAL_LATENCY_FLUSH, 1);
    check_latency(fixture.db, PETAL_LATENCY_WRITE_STOP, 0);
    check_latency(fixture.db, PETAL_LATENCY_KINDS, 0);
    assert_true(petal_stats_latency(fixture.db, PETAL_LATENCY_GET, 50, NULL) > 0);
    petal_result_free(pairs);
    petal_result_free(result);
    fixture_fini(&fixture);
}

TEST(other_forms_are_refused)
{
    struct fixture fixture;
    petal_error error;
    char *text;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    /* As in every enumeration of options 0 is the default. */
    MUST(petal_stats_text(fixture.db, PETAL_STATS_FORM_DEFAULT, &text, NULL, WHY));
    assert_non_null(strstr(text, "# TYPE petal_gets_total counter"));
    petal_stats_text_free(text);
    assert_int_equal(petal_stats_text(fixture.db, 7, &text, NULL, &error), PETAL_INVALID);
    assert_null(text);
    assert_non_null(strstr(error.text, "form is 7; it must be PETAL_PROMETHEUS"));
    fixture_fini(&fixture);
}

/* Has the process a locale whose decimal point is a comma? */
static bool
take_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                        "fr_FR.UTF-8", "fr_FR.utf8", "fr_FR"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_ALL, names[i]) != NULL && strcmp(localeconv()->decimal_point, ",") == 0)
            return true;
    }
    return false;
}

TEST(the_locale_has_no_say)
{
    static struct checker checker;
    enum petal_status status;
    struct fixture fixture;
    petal_error error;
    size_t size;
    char *text;

    if (!take_comma_locale())
        skip();
    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    status = petal_stats_text(fixture.db, PETAL_PROMETHEUS, &text, &size, &error);
    setlocale(LC_ALL, "C");
    must(status, &error);
    check_format(&checker, text, size);
    petal_stats_text_free(text);
    fixture_fini(&fixture);
}

struct writer {
    petal_family *family;
    _Atomic(bool) stop;
    petal_error error;
};

static void *
write_on(void *argument)
{
    struct writer *writer = argument;

    for (unsigned i = 0; !atomic_load(&writer->stop); i++)
        put(writer->family, i % 1000, &writer->error);
    return NULL;
}

TEST(histograms_add_up_beside_writers)
{
    static struct checker checker;
    struct writer writer = {.stop = false};
    struct fixture fixture;
    pthread_t thread;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    writer.family = make_family(fixture.db);
    assert_int_equal(pthread_create(&thread, NULL, write_on, &writer), 0);
    for (int i = 0; i < 200; i++)
        scrape(fixture.db, &checker);
    atomic_store(&writer.stop, true);
    pthread_join(thread, NULL);
    fixture_fini(&fixture);
}
