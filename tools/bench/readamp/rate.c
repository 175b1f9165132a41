/*
 * rate.c -- see tools/bench/readamp/rate.h.
 *
 * A family with a ROW filter and an error rate for the store has 1, 2, 4, 8 and 16 files from flushes; another one a file from
 * a compaction of all files, and 15 from flushes behind it, as many as there are when compactions keep up. Each file has rows
 * of its own, over one range. Gets are of rows that are in none, so every data block they want is needless: a file's
 * filter lets pass what its rate says. Expected is the sum of the rates that the files have recorded.
 *
 * The standard error is that of so many gets, each file's filter erring or not; and that of the filters, which are what
 * the hashes of their keys made them: with n keys in cache lines of 512 bits a filter's own rate has a standard deviation
 * of about 1.1 |ln p| / sqrt(n) of p (by simulation, p from 0.25 to 0.0002), since full lines let much more pass.
 *
 * A rate that is too small for the bits that a filter may have is exceeded: then the lines say so. When the sum exceeds the
 * rate and the filters have fewer bits than that, something is wrong.
 */
#include "tools/bench/readamp/rate.h"

#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdio.h>

#define MOST_FILES    16
#define VALUE_BYTES   40
#define FAR_OFF       4    /* standard errors */
#define FULL_BITS     19.0 /* a key: a filter that has more could not have many more */
#define OWN_ROWS(put) ((uint64_t)((put) + 1) << 32)
#define ABSENT_ROWS   ((uint64_t)1 << 48)

struct bed {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    unsigned fills; /* how many files were flushed */
};

struct line {
    const char *store;
    unsigned files;
    double expected, variance; /* of one get */
    double filter_variance;    /* of what is expected, by chance in the making of filters */
    double most_bits;          /* a key, of the file that has the most */
    double measured, error;
    bool excess, outside;
    bool first;
};

/* ---- the data ---- */

static void
make_bed(struct bed *bed, petal_db *db, const struct bench_rate_settings *settings,
         const char *name)
{
    petal_family_options family = {.name = bench_text("f"),
                                   .block_bytes = 4096,
                                   .bloom = PETAL_BLOOM_ROW,
                                   .bloom_error_rate = settings->error_rate};
    petal_table_options options = {
        .name = bench_text(name), .families = &family, .family_count = 1};
    petal_error error;

    *bed = (struct bed){.db = db};
    bench_check(petal_table_create(db, &options, &bed->table, &error), &error, "create");
    bed->family = petal_table_family_at(bed->table, 0);
    bench_check(petal_result_new(db, &bed->result, &error), &error, "make a result");
}

static void
drop_bed(struct bed *bed)
{
    petal_error error;

    petal_result_free(bed->result);
    bench_check(petal_table_drop(bed->table, &error), &error, "drop");
}

static void
fill_file(struct bed *bed, const struct bench_rate_settings *settings)
{
    char key[BENCH_KEY_BYTES + 1];
    uint8_t value[VALUE_BYTES];
    petal_error error;

    for (uint64_t i = 0; i < settings->rows; i++) {
        uint64_t row = OWN_ROWS(bed->fills) + i;

        bench_key(key, row);
        bench_value(value, sizeof value, row);
        bench_check(petal_put(bed->family, (petal_slice){key, BENCH_KEY_BYTES}, bench_text("q"),
                              PETAL_LATEST, (petal_slice){value, sizeof value}, NULL, &error),
                    &error, "put");
    }
    bed->fills++;
    bench_check(petal_flush(bed->db, bed->table, &error), &error, "flush");
}

/* ---- one line ---- */

static bool
sum_file(void *argument, const petal_file_info *file)
{
    struct line *line = argument;
    double rate = file->bloom_error_rate;
    double deviation = rate * 1.1 * log(rate) / sqrt((double)file->bloom_keys);
    double bits = 8 * (double)file->filter_bytes / (double)file->bloom_keys;

    if (line->files == 0 || bits > line->most_bits)
        line->most_bits = bits;
    line->files++;
    line->expected += rate;
    line->variance += rate * (1 - rate);
    line->filter_variance += deviation * deviation;
    return true;
}

static void
get_absent_rows(struct bed *bed, const struct bench_rate_settings *settings)
{
    struct bench_random random = {bed->fills};
    char key[BENCH_KEY_BYTES + 1];
    petal_error error;

    for (uint64_t i = 0; i < settings->gets; i++) {
        bench_key(key, ABSENT_ROWS + bench_random_below(&random, (uint64_t)1 << 40));
        bench_check(
            petal_get(bed->table, (petal_slice){key, BENCH_KEY_BYTES}, NULL, bed->result, &error),
            &error, "get");
        if (petal_result_count(bed->result) > 0)
            bench_fail("get", "a row was found that nobody put");
    }
}

static void
print_head(const struct bench_rate_settings *settings)
{
    if (settings->format == READAMP_JSON)
        printf(", \"store_rate\": [");
    else if (settings->format == READAMP_CSV)
        printf("\nstore,files,gets,family_rate,sum_of_rates,blocks_per_get,standard_error\n");
    else if (settings->format == READAMP_TEXT)
        printf("\nstore-wide rate: needless data blocks per get of an absent row, %llu rows a "
               "file, %llu gets "
               "a line; the family's rate is %g\n%-32s %5s  %10s %10s %10s\n",
               (unsigned long long)settings->rows, (unsigned long long)settings->gets,
               settings->error_rate, "store", "files", "measured", "+-", "sum of p");
}

static void
print_line(const struct bench_rate_settings *settings, const struct line *line)
{
    switch (settings->format) {
    case READAMP_JSON:
        printf("%s\n  {\"store\": \"%s\", \"files\": %u, \"gets\": "
               "%llu, "
               "\"family_rate\": %g, \"sum_of_rates\": %.8f, \"blocks_per_get\": %.8f, "
               "\"standard_error\": %.8f}",
               line->first ? "" : ",", line->store, line->files, (unsigned long long)settings->gets,
               settings->error_rate, line->expected, line->measured, line->error);
        break;
    case READAMP_CSV:
        printf("\"%s\",%u,%llu,%g,%.8f,%.8f,%.8f\n", line->store, line->files,
               (unsigned long long)settings->gets, settings->error_rate, line->expected,
               line->measured, line->error);
        break;
    case READAMP_TEXT:
        printf("%-32s %5u  %10.6f %10.6f %10.6f%s%s\n", line->store, line->files, line->measured,
               line->error, line->expected,
               line->excess ? "  more than the rate: filters have all their bits" : "",
               line->outside ? "  <- not as expected" : "");
        break;
    }
    fflush(stdout);
}

/* Whether the line lies outside of what is expected. */
static bool
measure(struct bed *bed, const struct bench_rate_settings *settings, const char *store)
{
    struct line line = {.store = store, .first = bed->fills == 1};
    petal_stats before, after;
    petal_error error;

    bench_check(petal_table_files(bed->table, sum_file, &line, &error), &error, "list files");
    petal_stats_get(bed->db, &before);
    get_absent_rows(bed, settings);
    petal_stats_get(bed->db, &after);
    line.measured = (double)(after.data_cached + after.data_fetched - before.data_cached -
                             before.data_fetched) /
                    (double)settings->gets;
    line.error = sqrt(line.variance / (double)settings->gets + line.filter_variance);
    line.excess = line.expected > settings->error_rate * (1 + 1e-6);
    line.outside = fabs(line.measured - line.expected) > FAR_OFF * line.error;
    if (line.excess ? line.most_bits < FULL_BITS
                    : line.measured > settings->error_rate + FAR_OFF * line.error)
        line.outside = true;
    print_line(settings, &line);
    return line.outside;
}

unsigned
bench_rate_run(petal_db *db, const struct bench_rate_settings *settings)
{
    struct bed bed;
    petal_error error;
    unsigned outside = 0;

    print_head(settings);
    make_bed(&bed, db, settings, "flushed");
    while (bed.fills < MOST_FILES) {
        fill_file(&bed, settings);
        if ((bed.fills & (bed.fills - 1)) == 0)
            outside += measure(&bed, settings, "flushes");
    }
    drop_bed(&bed);
    make_bed(&bed, db, settings, "compacted");
    fill_file(&bed, settings);
    fill_file(&bed, settings);
    bench_check(petal_compact(bed.table, NULL, &error), &error, "compact");
    outside += measure(&bed, settings, "all-files compaction");
    while (bed.fills < MOST_FILES + 1)
        fill_file(&bed, settings);
    outside += measure(&bed, settings, "all-files compaction, flushes");
    drop_bed(&bed);
    if (settings->format == READAMP_JSON)
        printf("\n]");
    return outside;
}
