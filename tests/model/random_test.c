/*
 * random_test.c -- random lists of operations (tests/model/operation.h), each run against the naive
 * model once and against the engine under every setting below: filters, caches, block sizes,
 * compression, other options at each opening and other attributes of each table, reasons for
 * leaving files out and fast paths switched off; calm lists (tests/model/maker.h) also beside
 * flushes and compactions in the background. All must give the model's answers.
 *
 * The first difference of a list is printed, then the list is made smaller by taking out operations
 * as long as it fails, and printed as a script for kv-shell; what depends on threads may not come
 * back then. PETAL_SEED chooses the seed of
 * the first list, each further list has the next one; PETAL_OPERATIONS says how many operations all
 * lists have together at least, PETAL_FEATURES what they may hold (enum operation_feature). So
 * PETAL_SEED with the seed that was printed and PETAL_OPERATIONS=1 run one list again.
 */

#include "tests/model/run.h"
#include "tests/model/shrink.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS       180000
#define OPERATIONS_LONG  3000000
#define OPERATIONS_SHORT 8000

#define KIB         1024u
#define ALL_REASONS ((1u << PETAL_SKIP_COUNT) - 1)

static const struct run_settings settings[] = {
    {.name = "NONE", .bloom = PETAL_BLOOM_NONE, .cache_bytes = KIB * KIB},
    {.name = "ROW", .bloom = PETAL_BLOOM_ROW, .cache_bytes = KIB * KIB, .choose_without = true},
    {.name = "ROWCOL, blocks of 1 KiB, least cache",
     .bloom = PETAL_BLOOM_ROWCOL,
     .cache_bytes = 64 * KIB,
     .block_bytes = KIB},
    {.name = "ROW_ROWCOL, no cache",
     .bloom = PETAL_BLOOM_ROW_ROWCOL,
     .cache_bytes = PETAL_NO_CACHE},
    {.name = "ROW, blocks of 1 KiB, least cache, files mapped",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = 64 * KIB,
     .block_bytes = KIB,
     .map_files = true},
    {.name = "prefixes of 1 byte, not compressed",
     .bloom = PETAL_BLOOM_ROW_PREFIX,
     .bloom_prefix_bytes = 1,
     .cache_bytes = KIB * KIB,
     .compression = PETAL_COMPRESSION_NONE},
    {.name = "prefixes of 2 bytes, blocks of 1 KiB, no cache",
     .bloom = PETAL_BLOOM_ROW_PREFIX,
     .bloom_prefix_bytes = 2,
     .cache_bytes = PETAL_NO_CACHE,
     .block_bytes = KIB},
    {.name = "ROW_ROWCOL, blocks of 1 KiB, not compressed, some reasons off",
     .bloom = PETAL_BLOOM_ROW_ROWCOL,
     .cache_bytes = 64 * KIB,
     .block_bytes = KIB,
     .compression = PETAL_COMPRESSION_NONE,
     .choose_without = true},
    {.name = "ROW, other options at each opening, links",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = 64 * KIB,
     .links = true,
     .change_options = true},
    {.name = "ROW, background work",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = KIB * KIB,
     .background = true},
    {.name = "ROW_ROWCOL, background work, blocks of 1 KiB, files mapped, log windows, links",
     .bloom = PETAL_BLOOM_ROW_ROWCOL,
     .cache_bytes = 64 * KIB,
     .block_bytes = KIB,
     .map_files = true,
     .log_windows = true,
     .links = true,
     .background = true},
    {.name = "ROW, regions",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = KIB * KIB,
     .block_bytes = KIB,
     .regions = true},
    {.name = "ROWCOL, regions, background work, no fast paths, links",
     .bloom = PETAL_BLOOM_ROWCOL,
     .cache_bytes = 64 * KIB,
     .general_reads = true,
     .links = true,
     .background = true,
     .regions = true},
    {.name = "ROW, no fast paths",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = KIB * KIB,
     .general_reads = true},
    {.name = "ROW, cursors that are late",
     .bloom = PETAL_BLOOM_ROW,
     .cache_bytes = KIB * KIB,
     .hasty = 2},
    {.name = "ROWCOL, all reasons off, links",
     .bloom = PETAL_BLOOM_ROWCOL,
     .cache_bytes = KIB * KIB,
     .without = ALL_REASONS,
     .links = true},
};
#define SETTINGS (sizeof settings / sizeof *settings)

/* What was tried, in all lists; operations by kind. */
static struct {
    uint64_t lists, calm, kinds[OPERATION_KINDS], conflicts, not_asked, runs;
} tried;

static void
print_tried(double seconds)
{
    test_counted("%" PRIu64 " lists, of them %" PRIu64 " calm; %" PRIu64
                 " operations under settings, %.0f a second",
                 tried.lists, tried.calm, tried.runs, (double)tried.runs / seconds);
    print_message("operations:");
    for (unsigned kind = 0; kind < OPERATION_KINDS; kind++)
        print_message(" %s %" PRIu64 ",", operation_kind_text(kind), tried.kinds[kind]);
    print_message(" conflicts %" PRIu64 ", not asked of the engine %" PRIu64 "\n", tried.conflicts,
                  tried.not_asked);
}

static uint64_t
number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 0);
}

static bool
fails(const struct operation_list *list, const void *setting)
{
    struct run_answers answers;
    struct run_difference difference;
    bool same;

    run_model(list, &answers);
    same = run_engine(list, setting, &answers, &difference);
    if (!same)
        model_text_free(&difference.got);
    run_answers_free(&answers);
    return !same;
}

static void
print_difference(const struct operation_list *list, const struct run_settings *setting,
                 uint64_t seed, const struct run_answers *answers,
                 const struct run_difference *difference)
{
    fprintf(stderr, "seed %" PRIu64 ", %s: operation %zu of %zu\nmodel:\n%sengine:\n%s\n", seed,
            setting->name, difference->index + 1, list->count,
            difference->index < list->count ? answers->texts[difference->index] : "ok\n",
            difference->got.bytes);
}

static void
report_smaller(struct operation_list *list, const struct run_settings *setting, uint64_t seed)
{
    struct run_answers answers;
    struct run_difference difference;

    fprintf(stderr, "taking out operations\n");
    shrink_list(list, fails, setting);
    run_model(list, &answers);
    if (run_engine(list, setting, &answers, &difference)) {
        fprintf(stderr, "the difference does not come back\n");
    } else {
        print_difference(list, setting, seed, &answers, &difference);
        operation_list_print(list, stderr);
        model_text_free(&difference.got);
    }
    run_answers_free(&answers);
}

/* Run the list that belongs to the seed; *count becomes its length. */
static bool
run_list(uint64_t seed, unsigned features, uint64_t *count)
{
    /* Many short lists, in which little hides a mistake, and a few long ones, with files of many
     * blocks. */
    size_t length = seed % 8 == 0 ? 800 : 120;
    /* Every second list leaves out some features at random. */
    unsigned some = seed % 2 == 0 ? FEATURE_ALL : (unsigned)(seed * 0x9E3779B97F4A7C15u >> 43);
    struct operation_list list;
    struct run_answers answers;
    bool same = true;

    /* Some are such that background work can go on beside them. */
    if (seed % 8 >= 6)
        some = (some | FEATURE_CALM) &
               ~(seed % 16 >= 8
                     ? (unsigned)(FEATURE_CONDITIONS | FEATURE_READ_MODIFY_WRITE | FEATURE_FILTERS)
                     : 0u);
    *count = length;
    operation_list_make(&list, seed, length, (features | FEATURE_CALM) & some);
    run_model(&list, &answers);
    tried.lists++;
    tried.calm += (list.features & FEATURE_CALM) != 0;
    for (size_t i = 0; i < length; i++) {
        tried.kinds[list.operations[i].kind]++;
        tried.not_asked += answers.texts[i] == NULL;
        tried.conflicts += answers.texts[i] != NULL && strcmp(answers.texts[i], "conflict\n") == 0;
    }
    for (size_t i = 0; same && i < SETTINGS; i++) {
        struct run_difference difference;

        if ((settings[i].background || settings[i].regions) && (list.features & FEATURE_CALM) == 0)
            continue;
        same = run_engine(&list, &settings[i], &answers, &difference);
        tried.runs += length;
        if (!same) {
            print_difference(&list, &settings[i], seed, &answers, &difference);
            model_text_free(&difference.got);
            report_smaller(&list, &settings[i], seed);
        }
    }
    run_answers_free(&answers);
    operation_list_free(&list);
    return same;
}

TEST(test_lists)
{
    uint64_t wanted = number_from("PETAL_OPERATIONS", test_long()    ? OPERATIONS_LONG
                                                      : test_short() ? OPERATIONS_SHORT
                                                                     : OPERATIONS);
    unsigned features = (unsigned)number_from("PETAL_FEATURES", FEATURE_ALL);
    unsigned failures = 0;
    uint64_t seed = test_seed();
    double began = test_seconds_used();

    for (uint64_t done = 0, count; done < wanted && failures < 3; done += count)
        failures += !run_list(seed++, features, &count);
    print_tried(test_seconds_used() - began);
    assert_int_equal(failures, 0);
}
