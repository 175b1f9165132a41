/*
 * bloom_kinds.c -- `kv-bench filters`: the standalone filters of bloom/petal_bloom.h, next to
 * those of others: bits a key, rates, and times of questions in cache and out of it.
 *
 * All kinds are built first, then asked by turns: repeat by repeat, measure by measure, kind by
 * kind. So what the machine does meanwhile meets all alike.
 *
 * File: results (tools/bench/results/file.h) of each kind, measure, number of keys and rate: times, and
 * "per_unit" of bits a key and of rates.
 */
#include "tools/bench/bloom_kinds/print.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/results/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RATES 8
#define MOST_KEYS  UINT64_C(2000000000)

static const struct bloom_kind *const kinds[] = {
    &bloom_kinds_petal[0],   &bloom_kinds_petal[1],   &bloom_kinds_petal[2], &bloom_kinds_petal[3],
#ifdef HAVE_ROCKSDB_FILTERS
    &bloom_kinds_rocksdb[0], &bloom_kinds_rocksdb[1],
#endif
#ifdef HAVE_LIBBLOOM
    &bloom_kinds_libbloom,
#endif
};
#define KINDS (sizeof kinds / sizeof *kinds)
_Static_assert(PETAL_KINDS == 4 && ROCKSDB_KINDS == 2, "each is in kinds");

static const char *const measure_names[KINDS_MEASURES] = {
    "absent, one by one",  "absent, alone",    "absent, batch",
    "present, one by one", "absent, of bytes", "build",
};

/* So many absent keys have passed, or so many times as many as are timed together were asked for,
 * when a rate is known. */
#define ENOUGH_PASSED UINT64_C(3000)
#define MOST_TIMES    UINT64_C(400)

struct kinds_options {
    const char *kind_names, *rate_names, *json_path;
    uint64_t kinds; /* bits */
    double rates[MOST_RATES];
    size_t rate_count;
    uint64_t keys, few_keys, questions, repeats;
    bool all_present;
};

static void
usage(void)
{
    fputs("usage: kv-bench filters [options]\n"
          "Standalone filters, each with few keys and with many: bits a key, the rate by\n"
          "theory and as measured, nanoseconds a question and a key that is built in.\n"
          "Exit status 1: of Petal's a rate is more than 5 % off, or a present key was\n"
          "missed.\n"
          "  --kinds NAMES      of ",
          stderr);
    for (size_t i = 0; i < KINDS; i++)
        fprintf(stderr, "%s%s",
                i == 0       ? ""
                : i % 5 == 0 ? ",\n                     "
                             : ",",
                kinds[i]->name);
    fputs("; all\n"
          "  --rates RATES      1e-6 to 0.5, with commas; 0.01\n"
          "  --keys N           many: by default out of cache; 64M\n"
          "  --few-keys N       few: by default in cache; 80k\n"
          "  --questions N      that are timed together; 500k\n"
          "  --repeats N        5\n"
          "  --all-present      ask for each of the many keys: none may be missed\n"
          "  --json FILE        the results, too\n",
          stderr);
}

/* ---- running ---- */

static void
make_beds(const struct kinds_options *options, struct kinds_table *table)
{
    table->few = bench_alloc(KINDS * sizeof *table->few);
    table->many = bench_alloc(KINDS * sizeof *table->many);
    for (size_t i = 0; i < KINDS; i++) {
        if ((options->kinds >> i & 1) == 0)
            continue;
        if (kinds[i]->prepare != NULL)
            kinds[i]->prepare(table->rate);
        kinds_bed_init(&table->few[table->count], kinds[i], options->few_keys, table->rate);
        kinds_bed_init(&table->many[table->count], kinds[i], options->keys, table->rate);
        table->count++;
    }
}

static void
free_beds(struct kinds_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        kinds_bed_free(&table->few[i]);
        kinds_bed_free(&table->many[i]);
    }
    free(table->few);
    free(table->many);
}

/* One of many keys is built once: that takes longer than all the rest. */
static void
measure_all(struct kinds_table *table, struct kinds_questions *questions)
{
    for (size_t repeat = 0; repeat < table->repeats; repeat++) {
        for (int measure = 0; measure < KINDS_MEASURES; measure++) {
            for (size_t i = 0; i < table->count; i++) {
                kinds_bed_measure(&table->few[i], (enum kinds_measure)measure, repeat, questions);
                if (measure != KINDS_BUILD)
                    kinds_bed_measure(&table->many[i], (enum kinds_measure)measure, repeat,
                                      questions);
            }
        }
    }
}

static void
count_all(const struct kinds_options *options, struct kinds_table *table,
          struct kinds_questions *questions)
{
    uint64_t most = MOST_TIMES * options->questions;

    for (size_t i = 0; i < table->count; i++) {
        kinds_bed_count_passed(&table->few[i], ENOUGH_PASSED, most, questions);
        kinds_bed_count_passed(&table->many[i], ENOUGH_PASSED, most, questions);
        if (options->all_present)
            kinds_bed_ask_present(&table->many[i], questions);
    }
}

/* What others promise is said, too, but is no fault of this build's. */
static bool
is_fine(const struct kinds_bed *bed)
{
    return strcmp(bed->kind->store, "petal") != 0 ||
           (kinds_bed_is_as_expected(bed) && bed->missed == 0);
}

/* ---- results ---- */

static struct bench_outcome
outcome_of(const struct kinds_bed *bed, const char *operation)
{
    char setting[BENCH_NAME_BYTES];
    struct bench_outcome outcome;

    snprintf(setting, sizeof setting, "%s, %llu keys, rate %g", bed->kind->name,
             (unsigned long long)bed->keys, bed->rate);
    outcome = bench_outcome_of_count(operation, setting, NAN);
    snprintf(outcome.name.store, sizeof outcome.name.store, "%s", bed->kind->store);
    return outcome;
}

/* Repeats that were not measured stay out, and rates that nobody promises. */
static void
add_results(struct bench_result *result, const struct kinds_bed *bed, size_t repeats)
{
    const struct {
        const char *operation;
        double value;
    } counts[] = {{"bits a key", kinds_bed_bits(bed)},
                  {"rate by theory", bed->facts.expected},
                  {"rate", kinds_bed_rate(bed)}};
    struct bench_outcome outcome;

    if (bed->filter == NULL)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        outcome = outcome_of(bed, counts[i].operation);
        outcome.values[BENCH_PER_UNIT] = counts[i].value;
        bench_result_add(result, &outcome);
    }
    for (size_t i = 0; i < KINDS_MEASURES * repeats; i++) {
        double ns = bed->ns[i / repeats][i % repeats];

        outcome = outcome_of(bed, measure_names[i / repeats]);
        outcome.values[BENCH_PER_SECOND] = 1e9 / ns;
        if (!isnan(ns))
            bench_result_add(result, &outcome);
    }
}

/* ---- the command ---- */

/* At one rate; true if all is as it has to be. */
static bool
run_rate(const struct kinds_options *options, double rate, struct bench_result *result,
         struct kinds_questions *questions, bool bars)
{
    struct kinds_table table = {.rate = rate,
                                .few_keys = options->few_keys,
                                .many_keys = options->keys,
                                .repeats = (size_t)options->repeats};
    bool fine = true;

    make_beds(options, &table);
    measure_all(&table, questions);
    count_all(options, &table, questions);
    kinds_print_table(&table);
    if (bars)
        kinds_print_bars(&table);
    for (size_t i = 0; i < table.count; i++) {
        const struct kinds_bed *beds[] = {&table.few[i], &table.many[i]};

        for (size_t k = 0; k < 2; k++) {
            add_results(result, beds[k], table.repeats);
            fine = fine && is_fine(beds[k]);
        }
    }
    free_beds(&table);
    return fine;
}

static bool
is_refused(const struct kinds_options *options)
{
    return bench_refused(options->keys == 0 || options->keys > MOST_KEYS ||
                             options->few_keys == 0 || options->few_keys > MOST_KEYS,
                         "--keys and --few-keys are from 1 to 2000M") ||
           bench_refused(options->keys == options->few_keys,
                         "--keys and --few-keys are different") ||
           bench_refused(options->questions < 8 || options->questions > 100000000,
                         "--questions is from 8 to 100M") ||
           bench_refused(options->repeats == 0 || options->repeats > BENCH_MOST_REPEATS,
                         "--repeats is from 1 to 64");
}

static bool
read_lists(struct kinds_options *options)
{
    const char *names[KINDS];

    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i]->name;
    options->kinds = (1u << KINDS) - 1;
    return (options->kind_names == NULL ||
            bench_names_read("--kinds", options->kind_names, names, KINDS, &options->kinds)) &&
           bench_numbers_read("--rates", options->rate_names, options->rates, MOST_RATES,
                              &options->rate_count, 1e-6, 0.5);
}

int
bench_filters_main(int argc, char **argv)
{
    struct kinds_options given = {.rate_names = "0.01",
                                  .keys = 64000000,
                                  .few_keys = 80000,
                                  .questions = 500000,
                                  .repeats = 5};
    const struct bench_option options[] = {
        {"--kinds", BENCH_TEXT, &given.kind_names},
        {"--rates", BENCH_TEXT, &given.rate_names},
        {"--keys", BENCH_COUNT, &given.keys},
        {"--few-keys", BENCH_COUNT, &given.few_keys},
        {"--questions", BENCH_COUNT, &given.questions},
        {"--repeats", BENCH_COUNT, &given.repeats},
        {"--all-present", BENCH_FLAG, &given.all_present},
        {"--json", BENCH_OUTPUT, &given.json_path},
    };
    struct kinds_questions questions;
    struct bench_result result = {0};
    const struct bench_file file =
        bench_file_of("filters", argc, argv, options, sizeof options / sizeof *options);
    bool fine = true;

    if (!bench_options_read(options, file.option_count, argc, argv))
        return bench_options_explain(usage);
    if (!read_lists(&given) || is_refused(&given))
        return 2;
    kinds_questions_init(&questions, (size_t)given.questions);
    kinds_print_heading();
    for (size_t i = 0; i < given.rate_count; i++)
        fine = run_rate(&given, given.rates[i], &result, &questions, i == 0) && fine;
    bench_file_write(&file, given.json_path, &result, NULL);
    kinds_questions_free(&questions);
    bench_result_free(&result);
    return fine ? 0 : 1;
}
