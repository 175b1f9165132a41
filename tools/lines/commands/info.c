/* info.c -- kv-filter info: what files of filters, bitmaps and counts hold. */
#include "tools/command/print.h"
#include "tools/lines/commands/commands.h"
#include "tools/lines/job/kinds.h"
#include "tools/lines/sets/set.h"

#include <stdlib.h>

static void
print_filter(struct print *print, const petal_bloom *filter)
{
    petal_bloom_info info = {.size = sizeof info};
    uint64_t count = petal_bloom_count(filter);

    petal_bloom_get_info(filter, &info);
    print_text(print, "kind of filter", kind_name(info.kind));
    print_number(print, "made for keys", info.keys);
    print_number(print, "has about keys", count);
    print_real(print, "rate asked for", info.rate);
    print_real(print, "rate expected", petal_bloom_expected_rate(filter, count));
    print_real(print, "rate present", petal_bloom_present_rate(filter));
    print_number(print, "bits", info.bits);
    if (info.probes > 0)
        print_number(print, "probes", info.probes);
    if (count > 0)
        print_real(print, "bits per key", (double)info.bits / (double)count);
    if (info.segments > 1)
        print_number(print,
                     info.kind == PETAL_BLOOM_KIND_GROWING ? "filters in the chain" : "parts",
                     info.segments);
    print_number(print, "salt", info.salt);
    print_number(print, "bytes", info.bytes);
}

/* Of a bitmap that is not empty: the last number from which on there is one. */
static uint64_t
greatest(const petal_bitmap *bitmap, uint64_t least)
{
    uint64_t from = least, none_from = petal_bitmap_bits(bitmap);

    while (none_from - from > 1) {
        const uint64_t middle = from + (none_from - from) / 2;

        if (petal_bitmap_next_set(bitmap, middle) == PETAL_BITMAP_NONE)
            none_from = middle;
        else
            from = middle;
    }
    return from;
}

static void
print_bitmap(struct print *print, const petal_bitmap *bitmap)
{
    const uint64_t first = petal_bitmap_next_set(bitmap, 0), count = petal_bitmap_count(bitmap);

    print_number(print, "numbers it can hold", petal_bitmap_bits(bitmap));
    print_number(print, "numbers", count);
    if (count > 0) {
        print_number(print, "least", first);
        print_number(print, "greatest", greatest(bitmap, first));
    }
}

static void
print_doubles(struct print *print, const petal_bitmap2 *doubles)
{
    print_number(print, "numbers it can hold", petal_bitmap2_numbers(doubles));
    print_number(print, "numbers once", petal_bitmap2_count(doubles, PETAL_BITMAP2_ONE));
    print_number(print, "numbers more than once", petal_bitmap2_count(doubles, PETAL_BITMAP2_MORE));
}

static void
print_distinct(struct print *print, const petal_distinct *distinct)
{
    print_number(print, "distinct keys about", (uint64_t)(petal_distinct_count(distinct) + 0.5));
    print_real(print, "standard error", petal_distinct_standard_error(distinct));
    print_number(print, "registers", petal_distinct_registers(distinct));
    print_number(print, "salt", petal_distinct_salt(distinct));
}

static void
print_set(struct print *print, const struct set *set)
{
    print_object(print, "file");
    print_text(print, "path", set->path);
    print_text(print, "holds", set_type_name(set->type));
    if (set->filter != NULL)
        print_filter(print, set->filter);
    else if (set->bitmap != NULL)
        print_bitmap(print, set->bitmap);
    else if (set->doubles != NULL)
        print_doubles(print, set->doubles);
    else
        print_distinct(print, set->distinct);
    /* Opening has compared it. */
    print_text(print, "checksum", "right");
    print_end(print);
}

/* Of a file that is bad it was said why; the others are told of all the same. */
static bool
tell(struct job *job, struct print *print, const char *const *paths, size_t count)
{
    struct set set;
    bool failed = false;

    for (size_t i = 0; i < count; i++) {
        if (!job_go_on(job, i, count))
            return job_fail(job, "interrupted");
        if (set_load(job, paths[i], true, &set)) {
            print_set(print, &set);
            set_free(&set);
        }
        failed = failed || job->failed;
        job->failed = false;
    }
    job->failed = failed;
    return !failed;
}

static bool
info(struct job *job, void *json, const char **places, size_t count)
{
    struct print print;
    bool fine;

    print_start(&print, stdout, *(const bool *)json);
    print_list(&print, "files");
    fine = tell(job, &print, places, count);
    print_end(&print);
    print_finish(&print);
    return fine;
}

static int
run(const struct command *command, int argc, char **argv)
{
    bool json = false;
    const struct command_option options[] = {{.name = "--json", .flag = &json}};

    return job_run(command, argc, argv, options, 1, 1, argc, info, &json);
}

const struct command filter_info = {
    .name = "info",
    .meaning = "what a file of a filter, count or bitmap holds",
    .usage = "kv-filter info [--json] FILE...\n"
             "  reads all of each file: its kind, size, rates, keys; that its checksum is right. A "
             "bad one\n"
             "  is told of on standard error, and the others follow.\n",
    .run = run,
};
