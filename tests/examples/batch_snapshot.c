/*
 * batch_snapshot.c -- several writes that happen together or not at all, and reads that do not see
 * them yet.
 *
 *     cc batch_snapshot.c $(pkg-config --cflags --libs petal) -o batch_snapshot
 *     ./batch_snapshot DIRECTORY        (which must not hold a database yet)
 */
#include "example.h"

/* Print all accounts as they were at the snapshot, or as they are. */
static void
show(const char *title, petal_table *table, const petal_snapshot *snapshot)
{
    petal_scan_options options = PETAL_DEFAULTS;
    petal_cursor *cursor;
    const petal_cell *cell;

    options.read.snapshot = snapshot;
    check(petal_cursor_open(table, &options, &cursor, &error));
    printf("%s:", title);
    while (check(petal_cursor_next(cursor, &cell, &error)), cell != NULL)
        printf(" %.*s has %.*s;", SHOWN(cell->row), SHOWN(cell->value));
    printf("\n");
    petal_cursor_close(cursor);
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_family_options family_options = PETAL_DEFAULTS;
    petal_table_options table_options = PETAL_DEFAULTS;
    petal_write_options surely = PETAL_DEFAULTS;
    petal_db *db;
    petal_table *accounts;
    petal_family *money;
    petal_batch *batch;
    petal_snapshot *before;

    db = open_database(argc, argv, &options);
    family_options.name = PETAL_TEXT("money");
    table_options.name = PETAL_TEXT("accounts");
    table_options.families = &family_options;
    table_options.family_count = 1;
    check(petal_table_create(db, &table_options, &accounts, &error));
    money = petal_table_family_at(accounts, 0);

    /* A batch takes puts and deletions in any rows, families and tables of the database. */
    check(petal_batch_new(db, &batch, &error));
    check(petal_batch_put(batch, money, PETAL_TEXT("ada"), PETAL_TEXT("sum"), PETAL_LATEST,
                          PETAL_TEXT("100"), &error));
    check(petal_batch_put(batch, money, PETAL_TEXT("bob"), PETAL_TEXT("sum"), PETAL_LATEST,
                          PETAL_TEXT("20"), &error));
    check(petal_write(db, batch, NULL, &error));

    check(petal_snapshot_new(db, &before, &error));

    /* Ada sends Bob 30. Nobody, not even after a power cut, sees one half of that. FSYNC_WAL: it is
     * on the medium when the call returns. */
    petal_batch_clear(batch);
    check(petal_batch_put(batch, money, PETAL_TEXT("ada"), PETAL_TEXT("sum"), PETAL_LATEST,
                          PETAL_TEXT("70"), &error));
    check(petal_batch_put(batch, money, PETAL_TEXT("bob"), PETAL_TEXT("sum"), PETAL_LATEST,
                          PETAL_TEXT("50"), &error));
    surely.durability = PETAL_FSYNC_WAL;
    check(petal_write(db, batch, &surely, &error));

    show("at the snapshot", accounts, before);
    show("now", accounts, NULL);

    petal_snapshot_free(before); /* what only it could see may go now */
    petal_batch_free(batch);
    check(petal_close(db, &error));
    return 0;
}
