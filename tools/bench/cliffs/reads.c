/* reads.c -- workloads of `kv-bench cliffs`: gets and scans. */
#include "tools/bench/cliffs/cliff.h"

#include <stdlib.h>
#include <string.h>

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
    cliff_put_rows(bed, n);
    cliff_flush(bed);
    get_rows(bed, n); /* the blocks are in the cache */
}

/* ---- zero bytes in rows ---- */

#define LONG_ROW_BYTES 30000
#define LONG_ROWS      20
#define NUMBER_BYTES   8

/* Row i, of LONG_ROW_BYTES: n zero bytes, then letters, then its number. */
static petal_slice
long_row(char *row, uint64_t n, uint64_t i)
{
    size_t zeros = n < LONG_ROW_BYTES - NUMBER_BYTES ? (size_t)n : LONG_ROW_BYTES - NUMBER_BYTES;

    memset(row, 0, zeros);
    memset(row + zeros, 'a', LONG_ROW_BYTES - zeros);
    bench_decimal_key(row + LONG_ROW_BYTES - NUMBER_BYTES, NUMBER_BYTES, i);
    return (petal_slice){row, LONG_ROW_BYTES};
}

static uint64_t
get_long_rows(struct cliff_bed *bed, uint64_t n)
{
    char *row = bench_alloc(LONG_ROW_BYTES);

    for (uint64_t i = 0; i < LONG_ROWS; i++)
        cliff_expect(cliff_get(bed, long_row(row, n, i), NULL), 1);
    free(row);
    return LONG_ROWS;
}

/* Every second one in a file, the others in memory. */
static void
build_long_rows(struct cliff_bed *bed, uint64_t n)
{
    char *row = bench_alloc(LONG_ROW_BYTES);

    for (uint64_t in_file = 2; in_file-- > 0;) {
        for (uint64_t i = in_file; i < LONG_ROWS; i += 2)
            cliff_put(bed, long_row(row, n, i), bench_text("q"), 1, bench_text("value"));
        if (in_file != 0)
            cliff_flush(bed);
    }
    free(row);
    get_long_rows(bed, n); /* the blocks are in the cache */
}

const struct cliff bench_cliffs_reads[] = {
    {.name = "rows",
     .shows = "gets of one of n rows in a store file",
     .unit = "get",
     .n = 10000,
     .build = build_rows,
     .work = get_rows},
    {.name = "zero-bytes",
     .shows = "gets of rows of 30 KB, n bytes of which are zero",
     .unit = "get",
     .n = 3000,
     .build = build_long_rows,
     .work = get_long_rows},
    {.name = NULL},
};
