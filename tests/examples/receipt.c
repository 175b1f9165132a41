/*
 * receipt.c -- what a read cost, and what it saved: a receipt tells of each source why it was read
 * or not.
 *
 *     cc receipt.c $(pkg-config --cflags --libs petal) -o receipt
 *     ./receipt DIRECTORY        (which must not hold a database yet)
 */
#include "example.h"

static void
show(petal_table *table, const char *row, petal_receipt *receipt, petal_result *result)
{
    petal_read_options read = PETAL_DEFAULTS;
    unsigned blocks = 0;

    read.receipt = receipt; /* costs a little time, so it is only made when wanted */
    check(petal_get(table, petal_text(row), &read, result, &error));
    printf("get %s: %d cells\n", row, (int)petal_result_count(result));
    for (size_t i = 0; i < petal_receipt_count(receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(receipt, i);

        if (source->file_number == 0) /* a table in memory */
            continue;
        blocks +=
            source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
        printf("  file with rows %.*s to %.*s %s%s\n", SHOWN(source->row_min),
               SHOWN(source->row_max),
               source->skip == PETAL_SKIP_NONE ? "" : "skipped: ", petal_skip_text(source->skip));
    }
    printf("  data blocks looked at: %u\n", blocks);
}

/* The same numbers in every run, so that this example's output is always the same: filters are
 * salted, and once in some thousand gets one says "maybe" of a row that is not there. Programs
 * leave petal_options.env out. */
static uint64_t
next_number(void *context)
{
    uint64_t *number = (uint64_t *)context;

    return *number = *number * 6364136223846793005u + 1442695040888963407u;
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_env env = PETAL_DEFAULTS;
    petal_family_options family_options = PETAL_DEFAULTS;
    petal_table_options table_options = PETAL_DEFAULTS;
    uint64_t number = 1;
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_receipt *receipt;
    petal_result *result;

    env.random_context = &number;
    env.random = next_number;
    options.env = &env;
    options.no_compaction = true; /* the three files below stay three */
    db = open_database(argc, argv, &options);
    family_options.name = PETAL_TEXT("f");
    family_options.bloom = PETAL_BLOOM_ROW; /* the default, too */
    table_options.name = PETAL_TEXT("pets");
    table_options.families = &family_options;
    table_options.family_count = 1;
    check(petal_table_create(db, &table_options, &table, &error));
    family = petal_table_family_at(table, 0);

    /* Three store files: each flush writes what is in memory. */
    check(
        petal_put(family, PETAL_TEXT("ant"), PETAL_TEXT("legs"), 1, PETAL_TEXT("6"), NULL, &error));
    check(
        petal_put(family, PETAL_TEXT("dog"), PETAL_TEXT("legs"), 1, PETAL_TEXT("4"), NULL, &error));
    check(petal_flush(db, table, &error));
    check(
        petal_put(family, PETAL_TEXT("bee"), PETAL_TEXT("legs"), 2, PETAL_TEXT("6"), NULL, &error));
    check(
        petal_put(family, PETAL_TEXT("emu"), PETAL_TEXT("legs"), 2, PETAL_TEXT("2"), NULL, &error));
    check(petal_flush(db, table, &error));
    check(petal_put(family, PETAL_TEXT("ant"), PETAL_TEXT("legs"), 3, PETAL_TEXT("six"), NULL,
                    &error));
    check(
        petal_put(family, PETAL_TEXT("cow"), PETAL_TEXT("legs"), 3, PETAL_TEXT("4"), NULL, &error));
    check(petal_flush(db, table, &error));

    check(petal_receipt_new(db, &receipt, &error));
    check(petal_result_new(db, &result, &error));
    show(table, "dog", receipt, result); /* Bloom filters rule out files whose rows span it */
    show(table, "emu", receipt, result); /* where the rows of a file end is known, too */
    show(table, "cat", receipt, result); /* no such row */
    petal_result_free(result);
    petal_receipt_free(receipt);
    check(petal_close(db, &error));
    return 0;
}
