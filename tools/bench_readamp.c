/*
 * bench_readamp.c -- `kv-bench readamp`: data blocks per get, for each filter, number of files and class of lookup, beside
 * the value that theory gives.
 *
 * A table has F files that overlap in row range. Each shared row lies in all of them; file i also has rows of its own. A
 * shared row has in every file one column of its own name for that file, and one column that all files have. Each row takes
 * its qualifiers from a large set, so that the recorded qualifiers of a file are not exact and only the filter can tell.
 * Counts are of data blocks wanted, from cache or file; index and filters are cached.
 *
 * Expected, with F files and filter error p (of the file as it was built):
 *   lookup                              NONE   ROW        ROWCOL     ROW_ROWCOL
 *   row absent, column named            F      F p        F p        F p
 *   row absent, whole row               F      F p        F          F p
 *   row in all, column in none          F      F          F p        F p
 *   row in all, newest has the column   1      1          1          1
 *   row and column in the oldest only   F      1+(F-1)p   1+(F-1)p   1+(F-1)p
 *   row in all, column in oldest only   F      F          1+(F-1)p   1+(F-1)p
 *
 * These tables have a fixed rate for each file. What the rate of a whole store comes to is in the lines behind: bench_rate.h.
 */
#include "tools/bench_commands.h"
#include "tools/bench_rate.h"
#include "tools/bench_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILES  16
#define QUALIFIERS  1000 /* more than the 256 that a file records exactly */
#define VALUE_BYTES 40

enum lookup {
    ABSENT_COLUMN,
    ABSENT_ROW,
    COLUMN_IN_NONE,
    NEWEST_HAS_IT,
    ROW_IN_OLDEST,
    COLUMN_IN_OLDEST,
    LOOKUPS
};

static const char *const lookup_names[LOOKUPS] = {
    "row absent, column named",  "row absent, whole row",         "row in all, column in none",
    "row in all, newest has it", "row and column in oldest only", "row in all, column in oldest",
};

static const struct {
    enum petal_bloom_type type;
    const char *name;
} filters[] = {
    {PETAL_BLOOM_NONE, "NONE"},
    {PETAL_BLOOM_ROW, "ROW"},
    {PETAL_BLOOM_ROWCOL, "ROWCOL"},
    {PETAL_BLOOM_ROW_ROWCOL, "ROW_ROWCOL"},
};
#define FILTERS (sizeof filters / sizeof *filters)

struct settings {
    uint64_t rows; /* shared ones; as many again are spread over the files */
    uint64_t gets;
    double error_rate;
    unsigned files[MOST_FILES];
    size_t file_axis;
    unsigned without;
    enum bench_format format;
};

/* One table under measurement. */
struct bed {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    enum petal_bloom_type filter;
    unsigned files;
    double rate;   /* error rate that the filters were built for */
    double border; /* share of cells that are the first of their block */
};

struct outcome {
    double blocks, expected;
    double rate,
        rate_expected; /* of false positives; -1: no filter was asked for something absent */
    bool outside;      /* farther from what was expected than chance and borders explain */
};

/* ---- the data ---- */

/* Numbers of rows: shared ones from 0, those of file i from i << 32, absent ones from 1 << 48. */
#define OWN_ROWS(file) ((uint64_t)((file) + 1) << 32)
#define ABSENT_ROWS    ((uint64_t)1 << 48)

/* The qualifier of a kind ("own column of file 3", "shared", "never written") in a row. */
static petal_slice
qualifier(char *buffer, size_t bytes, const char *kind, unsigned file, uint64_t row)
{
    int length = snprintf(buffer, bytes, "%s%u-%03u", kind, file,
                          (unsigned)(bench_scramble(row + 99) % QUALIFIERS));

    return (petal_slice){buffer, (size_t)length};
}

static void
put(struct bed *bed, uint64_t row, petal_slice column)
{
    char key[BENCH_KEY_BYTES + 1];
    uint8_t value[VALUE_BYTES];
    petal_error error;

    bench_key(key, row);
    bench_value(value, sizeof value, row);
    bench_check(petal_put(bed->family, (petal_slice){key, BENCH_KEY_BYTES}, column, PETAL_LATEST,
                          (petal_slice){value, sizeof value}, NULL, &error),
                &error, "put");
}

static void
fill_file(struct bed *bed, const struct settings *settings, unsigned file)
{
    char buffer[64];
    petal_error error;

    for (uint64_t row = 0; row < settings->rows; row++) {
        put(bed, row, qualifier(buffer, sizeof buffer, "own", file, row));
        put(bed, row, qualifier(buffer, sizeof buffer, "all", 0, row));
    }
    for (uint64_t i = 0; i < settings->rows / bed->files; i++) {
        uint64_t row = OWN_ROWS(file) + i;

        put(bed, row, qualifier(buffer, sizeof buffer, "own", file, row));
    }
    bench_check(petal_flush(bed->db, bed->table, &error), &error, "flush");
}

static bool
note_file(void *argument, const petal_file_info *file)
{
    struct bed *bed = argument;

    bed->rate = file->bloom_error_rate;
    bed->border = (double)file->data_blocks / (double)file->cells;
    return true;
}

static void
make_bed(struct bed *bed, petal_db *db, const struct settings *settings,
         enum petal_bloom_type filter, unsigned files)
{
    petal_family_options family = {.name = bench_text("f"),
                                   .block_bytes = 4096,
                                   .bloom = filter,
                                   .bloom_error_rate = settings->error_rate,
                                   .bloom_rate_per_file = true};
    petal_table_options options = {.families = &family, .family_count = 1};
    petal_error error;
    char name[32];

    snprintf(name, sizeof name, "t%d-%u", (int)filter, files);
    options.name = bench_text(name);
    *bed = (struct bed){.db = db, .filter = filter, .files = files};
    bench_check(petal_table_create(db, &options, &bed->table, &error), &error, "create");
    bed->family = petal_table_family_at(bed->table, 0);
    bench_check(petal_result_new(db, &bed->result, &error), &error, "make a result");
    for (unsigned file = 0; file < files; file++)
        fill_file(bed, settings, file);
    bench_check(petal_table_files(bed->table, note_file, bed, &error), &error, "list files");
}

/* ---- the lookups ---- */

static uint64_t
row_of_lookup(enum lookup lookup, const struct settings *settings, const struct bed *bed,
              struct bench_random *random)
{
    switch (lookup) {
    case ABSENT_COLUMN:
    case ABSENT_ROW:
        return ABSENT_ROWS + bench_random_below(random, (uint64_t)1 << 40);
    case ROW_IN_OLDEST:
        return OWN_ROWS(0) + bench_random_below(random, settings->rows / bed->files);
    default:
        return bench_random_below(random, settings->rows);
    }
}

static petal_slice
column_of_lookup(enum lookup lookup, uint64_t row, char *buffer, size_t bytes)
{
    switch (lookup) {
    case COLUMN_IN_NONE:
    case ABSENT_COLUMN:
        return qualifier(buffer, bytes, "none", 0, row);
    case NEWEST_HAS_IT:
        return qualifier(buffer, bytes, "all", 0, row);
    default:
        return qualifier(buffer, bytes, "own", 0, row);
    }
}

static bool
is_found(enum lookup lookup)
{
    return lookup >= NEWEST_HAS_IT;
}

static double
expected_blocks(enum lookup lookup, const struct bed *bed)
{
    double files = bed->files, p = bed->rate;
    bool by_row = bed->filter == PETAL_BLOOM_ROW || bed->filter == PETAL_BLOOM_ROW_ROWCOL;
    bool by_column = bed->filter == PETAL_BLOOM_ROWCOL || bed->filter == PETAL_BLOOM_ROW_ROWCOL;

    switch (lookup) {
    case ABSENT_COLUMN:
        return by_row || by_column ? files * p : files;
    case ABSENT_ROW:
        return by_row ? files * p : files;
    case COLUMN_IN_NONE:
        return by_column ? files * p : files;
    case NEWEST_HAS_IT:
        return 1;
    case ROW_IN_OLDEST:
        return by_row || by_column ? 1 + (files - 1) * p : files;
    default:
        return by_column ? 1 + (files - 1) * p : files;
    }
}

static void
run_gets(struct bed *bed, const struct settings *settings, enum lookup lookup)
{
    struct bench_random random = {(uint64_t)lookup * 1000003 + bed->files};
    petal_error error;

    for (uint64_t i = 0; i < settings->gets; i++) {
        uint64_t row = row_of_lookup(lookup, settings, bed, &random);
        char key[BENCH_KEY_BYTES + 1], buffer[64];
        petal_column column = {.family = bed->family};
        petal_read_options options = {.size = sizeof options,
                                      .columns = &column,
                                      .column_count = lookup == ABSENT_ROW ? 0 : 1,
                                      .without = settings->without};

        bench_key(key, row);
        column.qualifier = column_of_lookup(lookup, row, buffer, sizeof buffer);
        bench_check(petal_get(bed->table, (petal_slice){key, BENCH_KEY_BYTES}, &options,
                              bed->result, &error),
                    &error, "get");
        if ((petal_result_count(bed->result) > 0) != is_found(lookup))
            bench_fail("get", "the answer is not what was put");
    }
}

/*
 * Far from what is expected: beyond four standard errors, each file's filter erring or not, and beyond what theory leaves
 * out: a filter's own rate may differ from p by a tenth; a place at the head of a block takes a look at the block
 * before, too; and a few rows at the ends lie outside of some file's range.
 */
static bool
is_outside(double blocks, double expected, const struct bed *bed, const struct settings *settings)
{
    double error = sqrt(bed->files * bed->rate * (1 - bed->rate) / (double)settings->gets);
    double left_out = 0.10 * bed->files * bed->rate + 1.5 * bed->border * (expected + 1) +
                      4 * bed->files / (double)settings->rows;

    return fabs(blocks - expected) > 4 * error + left_out;
}

static struct outcome
measure(struct bed *bed, const struct settings *settings, enum lookup lookup)
{
    petal_stats before, after;
    struct outcome outcome;
    double false_positives, negatives;

    petal_stats_get(bed->db, &before);
    run_gets(bed, settings, lookup);
    petal_stats_get(bed->db, &after);
    outcome.blocks = (double)(after.data_cached + after.data_fetched - before.data_cached -
                              before.data_fetched) /
                     (double)settings->gets;
    outcome.expected = expected_blocks(lookup, bed);
    false_positives = (double)(after.filter_false_positives - before.filter_false_positives);
    negatives = (double)(after.filter_negatives - before.filter_negatives);
    outcome.rate = -1;
    outcome.rate_expected = -1;
    if (negatives > 0) {
        outcome.rate = false_positives / (false_positives + negatives);
        outcome.rate_expected = bed->rate;
    }
    outcome.outside =
        settings->without == 0 && is_outside(outcome.blocks, outcome.expected, bed, settings);
    return outcome;
}

/* ---- the report ---- */

static void
print_rate(const char *format, double rate, const char *none)
{
    if (rate < 0)
        fputs(none, stdout);
    else
        printf(format, rate);
}

static void
print_outcome(const struct settings *settings, const char *filter, unsigned files,
              enum lookup lookup, const struct outcome *outcome, bool first)
{
    switch (settings->format) {
    case BENCH_JSON:
        printf("%s\n  {\"filter\": \"%s\", \"files\": %u, \"lookup\": \"%s\", \"gets\": %llu, "
               "\"blocks_per_get\": %.6f, \"expected\": %.6f, \"fpr\": ",
               first ? "" : ",", filter, files, lookup_names[lookup],
               (unsigned long long)settings->gets, outcome->blocks, outcome->expected);
        print_rate("%.6f", outcome->rate, "null");
        printf(", \"fpr_expected\": ");
        print_rate("%.6f", outcome->rate_expected, "null");
        printf("}");
        break;
    case BENCH_CSV:
        printf("%s,%u,\"%s\",%llu,%.6f,%.6f,", filter, files, lookup_names[lookup],
               (unsigned long long)settings->gets, outcome->blocks, outcome->expected);
        print_rate("%.6f", outcome->rate, "");
        printf(",");
        print_rate("%.6f", outcome->rate_expected, "");
        printf("\n");
        break;
    case BENCH_TEXT:
        printf("%-11s %5u  %-30s %10.4f %10.4f  ", filter, files, lookup_names[lookup],
               outcome->blocks, outcome->expected);
        print_rate("%9.5f", outcome->rate, "        -");
        print_rate(" %9.5f", outcome->rate_expected, "         -");
        printf("%s\n", outcome->outside ? "  <- not as expected" : "");
        break;
    }
}

static void
print_head(const struct settings *settings)
{
    if (settings->format == BENCH_JSON)
        printf("[");
    else if (settings->format == BENCH_CSV)
        printf("filter,files,lookup,gets,blocks_per_get,expected,fpr,fpr_expected\n");
    else
        printf("data blocks per get: %llu shared rows, %llu gets a line, error rate %g\n"
               "%-11s %5s  %-30s %10s %10s  %9s %9s\n",
               (unsigned long long)settings->rows, (unsigned long long)settings->gets,
               settings->error_rate, "filter", "files", "lookup", "measured", "expected", "fpr",
               "expected");
}

/* Returns the number of lines outside of what was expected. */
static unsigned
run_all(petal_db *db, const struct settings *settings)
{
    unsigned outside = 0;
    bool first = true;

    print_head(settings);
    for (size_t axis = 0; axis < settings->file_axis; axis++) {
        for (size_t f = 0; f < FILTERS; f++) {
            struct bed bed;
            petal_error error;

            make_bed(&bed, db, settings, filters[f].type, settings->files[axis]);
            for (int lookup = 0; lookup < LOOKUPS; lookup++) {
                struct outcome outcome = measure(&bed, settings, (enum lookup)lookup);

                outside += outcome.outside;
                print_outcome(settings, filters[f].name, settings->files[axis], (enum lookup)lookup,
                              &outcome, first);
                first = false;
            }
            fflush(stdout);
            petal_result_free(bed.result);
            bench_check(petal_table_drop(bed.table, &error), &error, "drop");
        }
    }
    return outside;
}

static bool
parse_files(struct settings *settings, const char *text)
{
    settings->file_axis = 0;
    while (*text != '\0' && settings->file_axis < MOST_FILES) {
        char *end;
        unsigned long files = strtoul(text, &end, 10);

        if (end == text || files == 0 || files > MOST_FILES || (*end != ',' && *end != '\0'))
            return false;
        settings->files[settings->file_axis++] = (unsigned)files;
        text = *end == ',' ? end + 1 : end;
    }
    return settings->file_axis > 0 && *text == '\0';
}

static bool
parse_without(struct settings *settings, const char *text)
{
    static const struct {
        const char *name;
        enum petal_skip skip;
    } names[] = {{"found-newer", PETAL_SKIP_FOUND_NEWER},
                 {"row-range", PETAL_SKIP_ROW_RANGE},
                 {"time-range", PETAL_SKIP_TIME_RANGE},
                 {"columns", PETAL_SKIP_COLUMNS},
                 {"bloom", PETAL_SKIP_BLOOM}};

    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        bool known = false;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strlen(names[i].name) == length && strncmp(names[i].name, text, length) == 0) {
                settings->without |= PETAL_WITHOUT(names[i].skip);
                known = true;
            }
        }
        if (!known)
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static int
usage(void)
{
    fputs("usage: kv-bench readamp [--json | --csv] [--files 1,2,4,8,16] [--rows N] [--gets N]\n"
          "                        [--error-rate P] [--without found-newer,row-range,time-range,"
          "columns,bloom]\n"
          "Exit status 1: a line lies outside of what was expected.\n",
          stderr);
    return 2;
}

static bool
parse(struct settings *settings, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];

        if (strcmp(name, "--json") == 0) {
            settings->format = BENCH_JSON;
            continue;
        }
        if (strcmp(name, "--csv") == 0) {
            settings->format = BENCH_CSV;
            continue;
        }
        if (++i >= argc)
            return false;
        if (strcmp(name, "--rows") == 0)
            settings->rows = strtoull(argv[i], NULL, 10);
        else if (strcmp(name, "--gets") == 0)
            settings->gets = strtoull(argv[i], NULL, 10);
        else if (strcmp(name, "--error-rate") == 0)
            settings->error_rate = strtod(argv[i], NULL);
        else if (strcmp(name, "--files") != 0 && strcmp(name, "--without") != 0)
            return false;
        if (strcmp(name, "--files") == 0 && !parse_files(settings, argv[i]))
            return false;
        if (strcmp(name, "--without") == 0 && !parse_without(settings, argv[i]))
            return false;
    }
    return settings->rows >= MOST_FILES && settings->gets > 0;
}

int
bench_readamp_main(int argc, char **argv)
{
    struct settings settings = {
        .rows = 10000, .gets = 50000, .error_rate = 0.01, .files = {1, 2, 4, 8}, .file_axis = 4};
    petal_options options = {.create = true,
                             .no_compaction = true, /* the files are as many as the tables say */
                             .cache_bytes = (size_t)512 << 20,
                             .memtable_bytes = (size_t)256 << 20,
                             .durability = PETAL_SKIP_WAL};
    char directory[512];
    petal_error error;
    petal_db *db;
    unsigned outside;

    if (!parse(&settings, argc, argv))
        return usage();
    bench_make_directory(directory, sizeof directory);
    bench_check(petal_open(directory, &options, &db, &error), &error, "open");
    outside = run_all(db, &settings);
    outside += bench_rate_run(db, &(struct bench_rate_settings){.rows = 4 * settings.rows,
                                                                .gets = 10 * settings.gets,
                                                                .error_rate = settings.error_rate,
                                                                .format = settings.format});
    if (settings.format == BENCH_JSON)
        printf("\n]\n");
    bench_check(petal_close(db, &error), &error, "close");
    bench_remove_directory(directory);
    if (outside > 0)
        fprintf(stderr, "kv-bench: %u lines lie outside of what was expected\n", outside);
    return outside > 0;
}
