/*
 * readamp.c -- `kv-bench readamp`: what a read reads, for each filter, number of files, error rate,
 * class of lookup and cache, next to the value that theory gives (tools/bench/readamp/model.h); and
 * what HBase was counted to read. Without options it is one screen of that, else a grid.
 *
 * These tables have a fixed rate for each file. After them come tables whose families have a rate
 * for the store: of 1 to 16 files from flushes; of one from a compaction of all files, and of that
 * and 15 flushes, as many as there are when compactions keep up. Their gets are of absent rows, so
 * every data block that they want is needless, and the sum of the rates that the files have
 * recorded is what is expected.
 *
 * CACHES.  filters+index: all but data blocks; all. Or of so many bytes, for everything.
 */
#include "tools/bench/harness/bits.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/readamp/report.h"
#include "tools/bench/results/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RATES  16
#define LARGE_CACHE ((size_t)512 << 20)
#define LEAST_CACHE ((size_t)64 << 10)
#define MOST_SIZES  16   /* of caches */
#define FULL_BITS   19.0 /* a key: a filter that has more could not have many more */
#define STORE_GETS  40   /* so many times as many gets tell a store's rate */

#define MOST_CACHES (CACHES + MOST_SIZES)

static const char *const rate_names[BED_RATES] = {"", "flushes", "compaction+flushes"};
static const char *const rate_texts[BED_RATES] = {"", "a row not there; from flushes",
                                                  "a row not there; compacted once"};
static const char *const cache_names[CACHES] = {"filters+index", "all"};

#define FILTERS 4
static const enum petal_bloom_type filters[FILTERS] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                       PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL};
static const char *const filter_names[FILTERS] = {"NONE", "ROW", "ROWCOL", "ROW_ROWCOL"};

struct settings {
    double files[READAMP_MOST_FILES], rates[MOST_RATES], cache_sizes[MOST_SIZES];
    size_t file_count, rate_count, cache_size_count;
    uint64_t filters, lookups, caches; /* bits */
    uint64_t rows, gets, seed;
    size_t block_bytes;
    bool grid; /* named; any other option asks for it, too */
    bool csv;
    const char *json; /* NULL: no file */
    bool no_store;    /* leave out the rate of a whole store */
};

struct run {
    const struct settings *settings;
    struct readamp_report report;
    /* Of the tables without filter at hand; NAN: not measured. */
    double bytes_with_none[MOST_CACHES][READAMP_LOOKUPS];
    unsigned outside, more_bytes; /* lines */
};

/* ---- one line ---- */

static bool
is_wanted(uint64_t bits, int bit)
{
    return (bits >> bit & 1) != 0;
}

static size_t
cache_bytes(const struct settings *settings, enum readamp_cache cache)
{
    return cache >= CACHES ? (size_t)settings->cache_sizes[cache - CACHES] : LARGE_CACHE;
}

/* A rate that is too small for the bits that a filter may have is exceeded; with bits to spare the
 * sum keeps to it. */
static bool
exceeds_rate(const struct bed_shape *shape, const struct bed_facts *facts)
{
    double sum = 0;

    for (unsigned i = 0; i < facts->store.files; i++)
        sum += facts->store.rate[i];
    return shape->rate_of != BED_RATE_PER_FILE && sum > shape->rate * (1 + 1e-6) &&
           facts->most_bits < FULL_BITS;
}

/* What is known before anything is read. */
static struct readamp_line
begin_line(const struct bed *bed, enum readamp_cache cache, enum readamp_lookup lookup)
{
    const struct bed_facts *facts = &bed->facts[lookup_table(lookup)];
    bool none = bed->shape.filter == PETAL_BLOOM_NONE;
    struct readamp_line line = {.lookup = readamp_lookup_name(lookup),
                                .words = readamp_lookup_text(lookup),
                                .answer = readamp_lookup_answer(lookup),
                                .cache = cache < CACHES ? cache_names[cache] : "size",
                                .store_rate = rate_names[bed->shape.rate_of],
                                .files = bed->shape.files,
                                .rate = none ? NAN : bed->shape.rate,
                                .bits_per_key = none ? NAN : 8 * facts->filter_bytes / facts->keys,
                                .block_bytes = facts->block_bytes,
                                .filter_bytes = facts->filter_bytes,
                                .data_bytes = facts->data_bytes,
                                .raw_data_bytes = facts->raw_data_bytes,
                                .hbase = NAN};

    if (bed->shape.rate_of != BED_RATE_PER_FILE)
        line.words = rate_texts[bed->shape.rate_of];
    for (size_t i = 0; i < FILTERS; i++) {
        if (filters[i] == bed->shape.filter)
            line.filter = filter_names[i];
    }
    return line;
}

static void
measure(struct run *run, struct bed *bed, enum readamp_cache cache, enum readamp_lookup lookup)
{
    const struct settings *settings = run->settings;
    const struct bed_facts *facts = &bed->facts[lookup_table(lookup)];
    bool per_file = bed->shape.rate_of == BED_RATE_PER_FILE;
    struct lookup_plan plan = {.lookup = lookup,
                               .gets = settings->gets * (per_file ? 1 : STORE_GETS),
                               .keep_out_of_cache = cache == CACHE_FILTERS_INDEX,
                               .warms_otherwise = cache >= CACHES};
    struct readamp_line line = begin_line(bed, cache, lookup);
    struct readamp_reads reads = {.lookup = lookup};
    struct readamp_expected expected;
    struct lookup_counts counts;
    double hbase = readamp_hbase(lookup, bed->shape.filter, bed->shape.files, bed->shape.rate);

    line.cache_bytes = (double)cache_bytes(settings, cache);
    lookup_run(bed, &plan, &counts);
    reads.gets = counts.gets;
    reads.population = counts.population;
    readamp_expect(&facts->store, &reads, &expected);
    readamp_line_fill(&line, cache, &facts->store, &reads, &counts, &expected);
    if (per_file && hbase >= 0)
        line.hbase = hbase;
    if (per_file)
        readamp_line_compare_bytes(&line, facts, &counts, &run->bytes_with_none[cache][lookup]);
    line.outside = line.outside || exceeds_rate(&bed->shape, facts);
    run->outside += line.outside;
    run->more_bytes += line.more_bytes;
    readamp_report_line(&run->report, &line);
}

/* ---- the grid ---- */

static void
run_bed(struct run *run, struct bed_shape shape)
{
    struct bed bed;

    for (int lookup = 0; lookup < READAMP_LOOKUPS; lookup++) {
        if (is_wanted(run->settings->lookups, lookup))
            shape.tables[lookup_table((enum readamp_lookup)lookup)] = true;
    }
    bed_make(&bed, &shape);
    /* Each lookup begins with nothing cached and nothing known of filters: lines stand alone. */
    for (int cache = 0; cache < MOST_CACHES; cache++) {
        for (int lookup = 0; lookup < READAMP_LOOKUPS; lookup++) {
            if (!is_wanted(run->settings->caches, cache) ||
                !is_wanted(run->settings->lookups, lookup))
                continue;
            bed_open(&bed, cache_bytes(run->settings, (enum readamp_cache)cache));
            measure(run, &bed, (enum readamp_cache)cache, (enum readamp_lookup)lookup);
            bed_close(&bed);
        }
    }
    bed_remove(&bed);
}

static void
run_grid(struct run *run)
{
    const struct settings *settings = run->settings;

    for (size_t f = 0; f < settings->file_count; f++) {
        struct bed_shape shape = {.files = (unsigned)settings->files[f],
                                  .rows = settings->rows,
                                  .block_bytes = (uint32_t)settings->block_bytes,
                                  .seed = settings->seed};

        for (int i = 0; i < MOST_CACHES * READAMP_LOOKUPS; i++)
            run->bytes_with_none[i / READAMP_LOOKUPS][i % READAMP_LOOKUPS] = NAN;
        for (size_t r = 0; r < settings->rate_count; r++) {
            for (size_t i = 0; i < FILTERS; i++) {
                shape.filter = filters[i];
                shape.rate = settings->rates[r];
                /* Without a filter there is no rate: once is enough. */
                if (is_wanted(settings->filters, (int)i) &&
                    (r == 0 || shape.filter != PETAL_BLOOM_NONE))
                    run_bed(run, shape);
            }
        }
    }
}

/* ---- options ---- */

_Static_assert(BED_LEAST_ROWS == 2000, "as the usage and the refusal say");

static void
usage(void)
{
    fputs("usage: kv-bench readamp [--grid] [options]\n"
          "Counts the data blocks that lookups read under each Bloom filter.\n"
          "  --json FILE           the results, too\n"
          "  --csv                 for programs\n"
          "  --seed N\n"
          "With no option but these it prints one screen: the lookups that show most, in\n"
          "six files, since what HBase read of six was counted. With --grid, or any option\n"
          "below, there is a line for each combination:\n"
          "  --files 1,2,6,16      store files, at most 16\n"
          "  --filters NAMES       of NONE,ROW,ROWCOL,ROW_ROWCOL\n"
          "  --bits 10             of each file's filter, a key; 9.92: an error rate of 1 %\n"
          "  --lookups NAMES       of absent-column,absent-row,column-in-none,newest,\n"
          "                        row-in-oldest,column-in-oldest,whole-row,columns-200,\n"
          "                        scan-column,scan-short\n"
          "  --caches NAMES        of filters+index,all\n"
          "  --cache-bytes 65536,262144\n"
          "                        caches of these sizes instead, for everything\n"
          "  --rows N              of a file, from 2000 on; 20k\n"
          "  --gets N --block-size BYTES\n"
          "  --no-store            without the lines on the rate of a whole store\n"
          "Exit status 1: a count lies outside of what was expected, or a filter made a\n"
          "lookup read more bytes than NONE.\n",
          stderr);
}

struct texts {
    const char *files, *filters, *bits, *lookups, *caches, *cache_bytes;
};

static bool
parse_lists(struct settings *settings, const struct texts *texts)
{
    const char *lookup_names[READAMP_LOOKUPS];

    for (int i = 0; i < READAMP_LOOKUPS; i++)
        lookup_names[i] = readamp_lookup_name((enum readamp_lookup)i);
    if (!bench_numbers_read("--files", texts->files, settings->files, READAMP_MOST_FILES,
                            &settings->file_count, 1, READAMP_MOST_FILES) ||
        !bench_names_read("--filters", texts->filters, filter_names, FILTERS, &settings->filters) ||
        !bench_names_read("--lookups", texts->lookups, lookup_names, READAMP_LOOKUPS,
                          &settings->lookups) ||
        !bench_names_read("--caches", texts->caches, cache_names, CACHES, &settings->caches))
        return false;
    if (texts->cache_bytes != NULL) {
        if (!bench_numbers_read("--cache-bytes", texts->cache_bytes, settings->cache_sizes,
                                MOST_SIZES, &settings->cache_size_count, LEAST_CACHE,
                                (double)((size_t)1 << 40)))
            return false;
        settings->caches = ((1u << settings->cache_size_count) - 1) << CACHES;
    }
    settings->rates[0] = 0.01;
    settings->rate_count = 1;
    if (texts->bits == NULL)
        return true;
    if (!bench_numbers_read("--bits", texts->bits, settings->rates, MOST_RATES,
                            &settings->rate_count, 2, 20))
        return false;
    for (size_t i = 0; i < settings->rate_count; i++)
        settings->rates[i] = bench_rate_of_bits(settings->rates[i]);
    return true;
}

#define ALL_FILTERS "NONE,ROW,ROWCOL,ROW_ROWCOL"
#define GLANCED_LOOKUPS                                                                            \
    "absent-column,absent-row,column-in-none,newest,row-in-oldest,column-in-oldest,whole-row,"     \
    "scan-column"
#define ALL_LOOKUPS                                                                                \
    "absent-column,absent-row,column-in-none,newest,row-in-oldest,column-in-oldest,whole-row,"     \
    "columns-200,scan-column,scan-short"

/* What is on the screen. HBase's counts are of six files. */
static const struct texts glance_texts = {
    .files = "6", .filters = ALL_FILTERS, .lookups = GLANCED_LOOKUPS, .caches = "all"};
static const struct texts grid_texts = {
    .files = "1,2,6,16", .filters = ALL_FILTERS, .lookups = ALL_LOOKUPS, .caches = "filters+index"};

/* Each option asks for the grid but those that the screen has, too. */
static bool
asks_for_grid(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 || strcmp(argv[i], "--json") == 0)
            i++;
        else if (strcmp(argv[i], "--csv") != 0)
            return true;
    }
    return false;
}

static bool
is_usable(struct settings *settings, const struct texts *texts)
{
    return parse_lists(settings, texts) &&
           !bench_refused(settings->rows < BED_LEAST_ROWS, "--rows is from 2000 on") &&
           !bench_refused(settings->gets == 0, "--gets is above 0") &&
           !bench_refused(settings->block_bytes < 1024 || settings->block_bytes > (size_t)16 << 20,
                          "--block-size is from 1K to 16M");
}

/* ---- the command ---- */

static void
run_store_rate(struct run *run)
{
    static const struct {
        enum bed_rate rate_of;
        unsigned files;
    } stores[] = {{BED_RATE_OF_FLUSHES, 1},    {BED_RATE_OF_FLUSHES, 2},
                  {BED_RATE_OF_FLUSHES, 4},    {BED_RATE_OF_FLUSHES, 8},
                  {BED_RATE_OF_FLUSHES, 16},   {BED_RATE_OF_COMPACTION, 1},
                  {BED_RATE_OF_COMPACTION, 16}};

    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        const struct bed_shape shape = {.filter = PETAL_BLOOM_ROW,
                                        .files = stores[i].files,
                                        .rate = run->settings->rates[0],
                                        .rate_of = stores[i].rate_of,
                                        .rows = 2 * run->settings->rows,
                                        .block_bytes = (uint32_t)run->settings->block_bytes,
                                        .seed = run->settings->seed,
                                        .tables = {[BED_NARROW] = true}};
        struct bed bed;

        bed_make(&bed, &shape);
        bed_open(&bed, LARGE_CACHE);
        measure(run, &bed, CACHE_ALL, READAMP_ABSENT_ROW);
        bed_close(&bed);
        bed_remove(&bed);
    }
}

int
bench_readamp_main(int argc, char **argv)
{
    bool grid = asks_for_grid(argc, argv);
    struct texts texts = grid ? grid_texts : glance_texts;
    struct settings settings = {
        .rows = grid ? 20000 : 10000, .gets = grid ? 5000 : 20000, .block_bytes = 4096, .seed = 1};
    const struct bench_option options[] = {
        {"--grid", BENCH_FLAG, &settings.grid},
        {"--files", BENCH_TEXT, &texts.files},
        {"--filters", BENCH_TEXT, &texts.filters},
        {"--bits", BENCH_TEXT, &texts.bits},
        {"--lookups", BENCH_TEXT, &texts.lookups},
        {"--caches", BENCH_TEXT, &texts.caches},
        {"--cache-bytes", BENCH_TEXT, &texts.cache_bytes},
        {"--rows", BENCH_COUNT, &settings.rows},
        {"--gets", BENCH_COUNT, &settings.gets},
        {"--seed", BENCH_COUNT, &settings.seed},
        {"--block-size", BENCH_BYTES, &settings.block_bytes},
        {"--no-store", BENCH_FLAG, &settings.no_store},
        {"--json", BENCH_OUTPUT, &settings.json},
        {"--csv", BENCH_FLAG, &settings.csv},
    };
    const struct bench_file file =
        bench_file_of("readamp", argc, argv, options, sizeof options / sizeof *options);
    struct run run = {.settings = &settings};
    char text[256];

    if (!bench_options_read(options, file.option_count, argc, argv) ||
        !is_usable(&settings, &texts))
        return bench_options_explain(usage);
    run.report.format = settings.csv ? READAMP_CSV : grid ? READAMP_TEXT : READAMP_GLANCE;
    snprintf(text, sizeof text,
             "Rows of a file %" PRIu64 ", gets of a line %" PRIu64
             ", block size %zu, seed %" PRIu64,
             settings.rows, settings.gets, settings.block_bytes, settings.seed);
    readamp_report_begin(&run.report, text);
    run_grid(&run);
    if (grid && !settings.no_store)
        run_store_rate(&run);
    readamp_report_end(&run.report);
    bench_file_write(&file, settings.json, &run.report.result, NULL);
    bench_result_free(&run.report.result);
    if (run.outside > 0)
        fprintf(stderr, "kv-bench: %u lines are not as expected\n", run.outside);
    if (run.more_bytes > 0)
        fprintf(stderr, "kv-bench: in %u lines a filter made a lookup read more bytes than NONE\n",
                run.more_bytes);
    return run.outside > 0 || run.more_bytes > 0;
}
