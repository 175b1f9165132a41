/*
 * plan.c -- kv-filter plan: what filters of so many keys at a rate would take, of each kind, and in
 * a store's families.
 */
#include "bloom/petal_bloom.h"
#include "tools/command/print.h"
#include "tools/command/value.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/job/kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Of a store: the block size and the limits of a family's rate are petal.h's defaults; that chunks
 * of a filter are at most as large as a block less what is in vain, and that a file takes at most
 * so many bits a key, is the store's rule. */
enum { CHUNK_BYTES = 65536, CHUNK_FOOTER_BYTES = 16, MOST_BITS_PER_KEY = 20, MANY_KEYS = 1000000 };
static const double LEAST_FAMILY_RATE = 0.0001, MOST_FAMILY_RATE = 0.5;

struct request {
    uint64_t keys, columns;
    double rate;
    bool json;
};

/* ---- By themselves --------------------------------------------------------------------------- */

static enum petal_status
plan_for(enum petal_bloom_kind kind, uint64_t keys, double rate, petal_bloom_plan *plan,
         petal_error *error)
{
    const petal_bloom_options options = {
        .size = sizeof options, .kind = kind, .keys = keys, .rate = rate};

    *plan = (petal_bloom_plan){.size = sizeof *plan};
    return petal_bloom_plan_for(&options, plan, error);
}

/* "1.12 GiB" */
static void
write_bytes(char text[16], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes;
    size_t unit = 0;

    for (; size >= 1024; unit++)
        size /= 1024;
    (void)snprintf(text, 16, unit == 0 ? "%.0f %s" : "%.2f %s", size, units[unit]);
}

static void
print_plan(const petal_bloom_plan *plan, enum petal_bloom_kind kind)
{
    char bytes[16], build[16], probes[16] = "-";

    write_bytes(bytes, plan->bytes);
    write_bytes(build, plan->build_bytes);
    if (plan->probes > 0)
        (void)snprintf(probes, sizeof probes, "%u", plan->probes);
    printf("%-9s %20" PRIu64 " %3s %12.2f %12s %10.3g %12s\n", kind_name(kind), plan->bits, probes,
           plan->bits_per_key, bytes, plan->rate, build);
}

/* ---- GROWING without a number of keys -------------------------------------------------------- */

/* Bits a key after the last growth and before the next one. */
struct growth {
    double least, most;
};

/* Of a filter that has grown to a million keys; from there on it is the same, but for a bit or two
 * that each further growth adds to a new key. False: it cannot be had. */
static bool
find_growth(double rate, struct growth *growth)
{
    const petal_bloom_options options = {
        .size = sizeof options, .kind = PETAL_BLOOM_KIND_GROWING, .rate = rate};
    petal_bloom_info info = {.size = sizeof info};
    uint64_t bits = 0;
    petal_bloom *bloom;

    *growth = (struct growth){0};
    if (petal_bloom_create(&options, &bloom, NULL) != PETAL_OK)
        return false;
    for (uint64_t keys = 1; keys <= MANY_KEYS + MANY_KEYS / 10; keys++) {
        const uint64_t hash = petal_bloom_hash((petal_slice){(const char *)&keys, sizeof keys}, 0);

        if (petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL) != PETAL_OK)
            break;
        petal_bloom_get_info(bloom, &info);
        if (info.bits != bits && keys > 1) {
            growth->least = (double)bits / (double)(keys - 1);
            growth->most = (double)info.bits / (double)keys;
        }
        bits = info.bits;
    }
    petal_bloom_free(bloom);
    return growth->most > 0;
}

static void
print_growth(struct print *print, const struct request *request)
{
    struct growth growth;

    if (!find_growth(request->rate, &growth))
        return;
    if (!print->json) {
        printf("GROWING with the number of keys known (--keys); without, %.0f to %.0f bits a key, "
               "the most when it\nhas just grown.\n",
               growth.least, growth.most);
        return;
    }
    print_object(print, "growing without keys known");
    print_real(print, "least bits per key", growth.least);
    print_real(print, "most bits per key", growth.most);
    print_end(print);
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void
print_plan_json(struct print *print, const petal_bloom_plan *plan, enum petal_bloom_kind kind)
{
    print_line(print, kind_name(kind));
    print_number(print, "bits", plan->bits);
    print_number(print, "probes", plan->probes);
    print_real(print, "bits per key", plan->bits_per_key);
    print_number(print, "bytes", plan->bytes);
    print_real(print, "rate", plan->rate);
    print_number(print, "build bytes", plan->build_bytes);
    print_end(print);
}

/* Not every kind can have every rate. */
static void
print_refusal(struct print *print, enum petal_bloom_kind kind, const petal_error *error)
{
    if (!print->json) {
        printf("%-9s %s\n", kind_name(kind), error->text);
        return;
    }
    print_line(print, kind_name(kind));
    print_text(print, "error", error->text);
    print_end(print);
}

static void
print_kinds(struct print *print, const struct request *request)
{
    if (!print->json)
        printf("%-9s %20s %3s %12s %12s %10s %12s\n", "kind", "bits (m)", "k", "bits a key",
               "bytes", "rate", "to build it");
    print_list(print, "kinds");
    for (int kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
        petal_bloom_plan plan;
        petal_error error;

        if (plan_for((enum petal_bloom_kind)kind, request->keys, request->rate, &plan, &error) !=
            PETAL_OK)
            print_refusal(print, (enum petal_bloom_kind)kind, &error);
        else if (print->json)
            print_plan_json(print, &plan, (enum petal_bloom_kind)kind);
        else
            print_plan(&plan, (enum petal_bloom_kind)kind);
    }
    print_end(print);
    if (!print->json)
        puts("RIBBON with all hashes in memory; kv-filter build does with 256 MiB, and files.");
    print_growth(print, request);
}

/* ---- In a store ------------------------------------------------------------------------------ */

/* The rate of a file that a compaction of all files wrote, of whichever kind: half of the family's,
 * or the least one for which BLOCKED takes no more bits a key than a file may. */
static bool
file_rate(double half, double *rate)
{
    double low = half, high = MOST_FAMILY_RATE;
    petal_bloom_plan plan;

    *rate = half;
    if (plan_for(PETAL_BLOOM_KIND_BLOCKED, MANY_KEYS, half, &plan, NULL) != PETAL_OK)
        return false;
    if (plan.bits_per_key <= MOST_BITS_PER_KEY)
        return true;
    while (high > low * 1.001) {
        double middle = sqrt(low * high);

        if (plan_for(PETAL_BLOOM_KIND_BLOCKED, MANY_KEYS, middle, &plan, NULL) != PETAL_OK)
            return false;
        if (plan.bits_per_key <= MOST_BITS_PER_KEY)
            high = middle;
        else
            low = middle;
    }
    *rate = high;
    return true;
}

/* A file's filter is cut into chunks, each a filter by itself. */
static bool
file_bytes(enum petal_bloom_kind kind, uint64_t keys, double rate, double *bytes)
{
    const double room = CHUNK_BYTES * (1 - rate) - CHUNK_FOOTER_BYTES;
    uint64_t chunk_keys = keys;
    petal_bloom_plan plan;

    if (plan_for(kind, keys, rate, &plan, NULL) != PETAL_OK)
        return false;
    /* Bits a key of so many keys give the number of keys, which give the bits a key. */
    for (int i = 0; i < 3 && (double)keys * plan.bits_per_key > room * 8; i++) {
        chunk_keys = (uint64_t)(room * 8 / plan.bits_per_key);
        if (plan_for(kind, chunk_keys, rate, &plan, NULL) != PETAL_OK)
            return false;
    }
    *bytes = (double)keys / (double)chunk_keys * (double)(plan.bytes + CHUNK_FOOTER_BYTES);
    return true;
}

static void
print_family(struct print *print, const char *filter, enum petal_bloom_kind kind, uint64_t keys,
             double half)
{
    char text[16];
    double rate, bytes;

    if (!file_rate(half, &rate) || !file_bytes(kind, keys, rate, &bytes))
        return;
    if (!print->json) {
        write_bytes(text, (uint64_t)bytes);
        printf("%-11s %-7s %20" PRIu64 " %13.3g %12.2f %12s\n", filter, kind_name(kind), keys, rate,
               8 * bytes / (double)keys, text);
        return;
    }
    print_line(print, filter);
    print_text(print, "BLOOMFILTER_KIND", kind_name(kind));
    print_number(print, "keys", keys);
    print_real(print, "file rate", rate);
    print_real(print, "bits per key", 8 * bytes / (double)keys);
    print_number(print, "bytes", (uint64_t)bytes);
    print_end(print);
}

static void
print_families(struct print *print, const struct request *request)
{
    static const enum petal_bloom_kind kinds[] = {PETAL_BLOOM_KIND_BLOCKED,
                                                  PETAL_BLOOM_KIND_RIBBON};
    const uint64_t columns = request->keys * request->columns;

    if (!print->json)
        printf("\nIn a store, a family of %" PRIu64 " rows with %" PRIu64 " column%s each,\n"
               "after a compaction of all files, whose output gets half of the rate:\n"
               "%-11s %-7s %20s %13s %12s %12s\n",
               request->keys, request->columns, request->columns == 1 ? "" : "s", "BLOOMFILTER",
               "kind", "keys", "rate of file", "bits a key", "bytes");
    print_list(print, "families");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        print_family(print, "ROW", kinds[i], request->keys, request->rate / 2);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        print_family(print, "ROWCOL", kinds[i], columns, request->rate / 2);
    print_end(print);
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool
check(const struct command *command, const struct request *request)
{
    petal_bloom_plan plan;
    petal_error error;

    if (plan_for(PETAL_BLOOM_KIND_DEFAULT, request->keys, request->rate, &plan, &error) !=
        PETAL_OK) {
        fprintf(stderr, "kv-filter %s: %s\n", command->name, error.text);
        return false;
    }
    if (request->keys <= UINT64_MAX / request->columns)
        return true;
    fprintf(stderr, "kv-filter %s: that many columns nobody can count\n", command->name);
    return false;
}

static bool
read_places(const struct command *command, const char **places, struct request *request)
{
    if (!value_take_count(&request->keys, (char *)(uintptr_t)places[0]))
        fprintf(stderr, "kv-filter %s: N is \"%s\"; it must be %s\n", command->name, places[0],
                VALUE_COUNT_WANTS);
    else if (!value_take_rate(&request->rate, (char *)(uintptr_t)places[1]))
        fprintf(stderr, "kv-filter %s: RATE is \"%s\"; it must be %s\n", command->name, places[1],
                VALUE_RATE_WANTS);
    else
        return true;
    return false;
}

static int
run(const struct command *command, int argc, char **argv)
{
    struct request request = {.columns = 1};
    const struct command_option options[] = {{.name = "--columns",
                                              .take = value_take_count,
                                              .argument = &request.columns,
                                              .wants = VALUE_COUNT_WANTS},
                                             {.name = "--json", .flag = &request.json}};
    const char *places[2];
    struct print print;

    if (command_take_arguments(command, argc, argv, options, sizeof options / sizeof *options,
                               places, 2, 2) < 0 ||
        !read_places(command, places, &request) || !check(command, &request))
        return COMMAND_FAILED;
    print_start(&print, stdout, request.json);
    print_kinds(&print, &request);
    if (request.rate >= LEAST_FAMILY_RATE && request.rate <= MOST_FAMILY_RATE)
        print_families(&print, &request);
    print_finish(&print);
    return COMMAND_FINE;
}

const struct command filter_plan = {
    .name = "plan",
    .meaning = "what filters of N keys would take, of each kind and in a store",
    .usage = "kv-filter plan [options] N RATE\n"
             "  N different keys (1e9, 1.5G, 1_000_000_000); of keys that are not in the filter\n"
             "  the part RATE (0.01, 1%) passes.\n"
             "  --columns N  of each row, in a store (default 1)\n"
             "  --json       as JSON\n",
    .run = run,
};
