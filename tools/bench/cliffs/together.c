/* together.c -- workloads of `kv-bench cliffs`: transactions, and reading beside a writer. */
#include "tools/bench/cliffs/cliff.h"

#include <stdlib.h>

#define TIMES 100

static petal_transaction *
begin(struct cliff_bed *bed)
{
    petal_transaction *transaction;

    BENCH_MUST("begin a transaction", petal_transaction_begin(bed->db, NULL, &transaction, &error));
    return transaction;
}

static void
put_in(struct cliff_bed *bed, petal_transaction *transaction, uint64_t row)
{
    char key[CLIFF_KEY_BYTES];

    BENCH_MUST("put in a transaction",
               petal_transaction_put(transaction, bed->family, cliff_key(key, "row", row),
                                     bench_text("q"), PETAL_LATEST, bench_text("v"), NULL, &error));
}

static void
get_in(struct cliff_bed *bed, petal_transaction *transaction, uint64_t row)
{
    char key[CLIFF_KEY_BYTES];

    BENCH_MUST("get in a transaction",
               petal_transaction_get(transaction, bed->table, cliff_key(key, "row", row), NULL,
                                     bed->result, &error));
}

static void
commit(petal_transaction *transaction)
{
    BENCH_MUST("commit", petal_transaction_commit(transaction, &error));
}

/* ---- transactions ---- */

/* Small transactions in a table of n rows. */
static uint64_t
commit_small(struct cliff_bed *bed, uint64_t n)
{
    for (uint64_t i = 0; i < TIMES; i++) {
        petal_transaction *transaction = begin(bed);

        get_in(bed, transaction, i * (n / TIMES));
        put_in(bed, transaction, i * (n / TIMES));
        commit(transaction);
    }
    return TIMES;
}

/* One that reads n rows and writes them. */
static uint64_t
commit_large(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);

    for (uint64_t i = 0; i < n; i++)
        get_in(bed, transaction, i);
    for (uint64_t i = 0; i < n; i++)
        put_in(bed, transaction, i);
    for (uint64_t i = 0; i < n; i++)
        get_in(bed, transaction, i);
    commit(transaction);
    return n;
}

/* One that reads two rows in turn, n times. */
static uint64_t
read_again(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);

    for (uint64_t i = 0; i < n; i++)
        get_in(bed, transaction, i % 2);
    put_in(bed, transaction, 2);
    commit(transaction);
    return n;
}

/* One that scans a hundred rows n / 100 times, and commits beside another write. */
static uint64_t
scan_again(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);
    const petal_scan_options options = {.row_limit = 100};
    const petal_cell *cell;
    petal_cursor *cursor;

    for (uint64_t i = 0; i < n; i += 100) {
        BENCH_MUST("scan in a transaction",
                   petal_transaction_scan(transaction, bed->table, &options, &cursor, &error));
        do
            BENCH_MUST("step", petal_cursor_next(cursor, &cell, &error));
        while (cell != NULL);
        petal_cursor_close(cursor);
        get_in(bed, transaction, 200);
    }
    cliff_put(bed, bench_text("s"), bench_text("q"), 1, bench_text("v"));
    put_in(bed, transaction, 200);
    commit(transaction);
    return n;
}

/* One that puts n cells, and then takes back the newest version of each. */
static uint64_t
take_back(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);
    char key[CLIFF_KEY_BYTES];

    for (uint64_t i = 0; i < n; i++)
        put_in(bed, transaction, i);
    for (uint64_t i = 0; i < n; i++)
        BENCH_MUST("delete in a transaction",
                   petal_transaction_delete(transaction, bed->family, cliff_key(key, "row", i),
                                            bench_text("q"), PETAL_LATEST, PETAL_DELETE, &error));
    commit(transaction);
    return n;
}

/* One that adds to a counter; each sum gets a timestamp above the last, ahead of the clock. */
static uint64_t
add_up(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);
    int64_t sum = 0;

    for (uint64_t i = 0; i < n; i++)
        BENCH_MUST("increment in a transaction",
                   petal_transaction_increment(transaction, bed->family, bench_text("row"),
                                               bench_text("q"), 1, &sum, &error));
    cliff_expect((uint64_t)sum, n);
    commit(transaction);
    return n;
}

/* One that scans all rows while it writes. */
static uint64_t
scan_and_write(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction *transaction = begin(bed);
    const petal_cell *cell;
    petal_cursor *cursor;
    uint64_t cells = 0;

    BENCH_MUST("scan in a transaction",
               petal_transaction_scan(transaction, bed->table, NULL, &cursor, &error));
    for (;;) {
        BENCH_MUST("step", petal_cursor_next(cursor, &cell, &error));
        if (cell == NULL)
            break;
        put_in(bed, transaction, cells++);
    }
    petal_cursor_close(cursor);
    cliff_expect(cells, n);
    commit(transaction);
    return n;
}

/* n that lie at the same time, while others write. */
static uint64_t
lie_open(struct cliff_bed *bed, uint64_t n)
{
    petal_transaction **all = malloc(n * sizeof(petal_transaction *));

    if (all == NULL)
        bench_fail("go on", "out of memory");
    for (uint64_t i = 0; i < n; i++) {
        all[i] = begin(bed);
        put_in(bed, all[i], i);
        cliff_put(bed, bench_text("another"), bench_text("q"), 1, bench_text("v"));
    }
    for (uint64_t i = 0; i < n; i++)
        commit(all[i]);
    free(all);
    return n;
}

/* ---- beside a writer ---- */

/* n cells in memory and in the logs. */
static void
build_logged(struct cliff_bed *bed, uint64_t n)
{
    const petal_options options = {.read_only = true};

    cliff_put_rows(bed, n);
    BENCH_MUST("open for reading", petal_open(bed->directory, &options, &bed->reader, &error));
}

static uint64_t
follow_puts(struct cliff_bed *bed, uint64_t n)
{
    (void)n;
    for (uint64_t i = 0; i < TIMES; i++) {
        cliff_put(bed, bench_text("row"), bench_text("q"), (int64_t)i, bench_text("v"));
        BENCH_MUST("refresh", petal_refresh(bed->reader, &error));
    }
    return TIMES;
}

const struct cliff bench_cliffs_together[] = {
    {.name = "commit-small",
     .shows = "transactions that read and write one of n rows",
     .unit = "commit",
     .build = cliff_put_rows,
     .stored = true,
     .warm = true,
     .work = commit_small},
    {.name = "commit-large",
     .shows = "a transaction that reads n rows, writes them, and reads them again",
     .unit = "row",
     .build = cliff_put_rows,
     .stored = true,
     .work = commit_large},
    {.name = "commit-read-again",
     .shows = "a transaction that reads two rows in turn, n times",
     .unit = "row",
     .work = read_again},
    {.name = "commit-scanned-again",
     .shows = "a transaction that scans the same hundred rows, n in all",
     .unit = "row",
     .build = cliff_put_rows,
     .work = scan_again},
    {.name = "commit-taken-back",
     .shows = "a transaction that deletes the newest version of each of its n cells",
     .unit = "cell",
     .work = take_back},
    {.name = "commit-sums",
     .shows = "a transaction that adds to one counter n times",
     .unit = "sum",
     .work = add_up},
    {.name = "commit-scanned",
     .shows = "a transaction that scans n rows and writes while it does",
     .unit = "row",
     .build = cliff_put_rows,
     .stored = true,
     .work = scan_and_write},
    {.name = "transactions-open",
     .shows = "n transactions lie open beside writes, then commit",
     .unit = "commit",
     .work = lie_open},
    {.name = "refresh-logged",
     .shows = "a reader follows each write, with n cells in the logs",
     .unit = "refresh",
     .build = build_logged,
     .work = follow_puts},
    {.name = NULL},
};
