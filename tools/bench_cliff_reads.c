/* bench_cliff_reads.c -- workloads of `kv-bench cliffs`: gets and scans. */
#include "tools/bench_cliff.h"

#define GETS 1000

static uint64_t
get_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < GETS; i++)
        cliff_expect(cliff_get(bed, cliff_key(key, "row", bench_scramble(i) % n), NULL), 1);
    return GETS;
}

static void
build_rows(struct cliff_bed *bed, uint64_t n)
{
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < n; i++)
        cliff_put(bed, cliff_key(key, "row", i), bench_text("q"), 1, bench_text("value"));
    cliff_flush(bed);
    get_rows(bed, n); /* the blocks are in the cache */
}

const struct cliff bench_cliffs_reads[] = {
    {.name = "rows",
     .shows = "gets of one of n rows in a store file",
     .unit = "get",
     .n = 10000,
     .most = 1.5,
     .build = build_rows,
     .work = get_rows},
    {.name = NULL},
};
