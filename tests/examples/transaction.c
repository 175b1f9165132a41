/*
 * transaction.c -- reads and writes that happen as one: what was read still holds when they are
 * committed, or nothing is written, and one begins anew. And a reader next to the writer.
 *
 *     cc transaction.c $(pkg-config --cflags --libs petal) -o transaction
 *     ./transaction DIRECTORY        (which must not hold a database yet)
 */
#include "example.h"

static petal_slice column;

static void
put_sum(petal_family *money, const char *name, const char *sum)
{
    petal_slice row = {name, strlen(name)}, value = {sum, strlen(sum)};

    check(petal_put(money, row, column, PETAL_LATEST, value, NULL, &error));
}

/* What the transaction reads: its snapshot, and its own writes. */
static int
sum_of(petal_transaction *transaction, petal_table *accounts, petal_result *result,
       const char *name)
{
    petal_slice row = {name, strlen(name)}, value;
    char text[16] = "";

    check(petal_transaction_get(transaction, accounts, row, NULL, result, &error));
    if (petal_result_count(result) == 0)
        return 0;
    value = petal_result_cell(result, 0)->value;
    memcpy(text, value.data, value.size < sizeof text ? value.size : sizeof text - 1);
    return atoi(text);
}

static void
set_sum(petal_transaction *transaction, petal_family *money, const char *name, int sum)
{
    petal_slice row = {name, strlen(name)}, value;
    char text[16];

    snprintf(text, sizeof text, "%d", sum);
    value.data = text;
    value.size = strlen(text);
    check(
        petal_transaction_put(transaction, money, row, column, PETAL_LATEST, value, NULL, &error));
}

/* Ada gives Bob 30. `disturb`: meanwhile somebody pays Ada. */
static enum petal_status
give(petal_db *db, petal_table *accounts, petal_result *result, int disturb)
{
    petal_family *money = petal_table_family_at(accounts, 0);
    petal_transaction *transaction;
    int ada, bob;

    check(petal_transaction_begin(db, NULL, &transaction, &error));
    ada = sum_of(transaction, accounts, result, "ada");
    bob = sum_of(transaction, accounts, result, "bob");
    if (disturb)
        put_sum(money, "ada", "500");
    set_sum(transaction, money, "ada", ada - 30);
    set_sum(transaction, money, "bob", bob + 30);
    return petal_transaction_commit(transaction, &error); /* it is over, whatever comes back */
}

/* What another process sees; here it is the same one. */
static void
show(const char *title, petal_db *reader)
{
    petal_table *accounts;
    petal_cursor *cursor;
    const petal_cell *cell;

    check(petal_table_open(reader, PETAL_TEXT("accounts"), &accounts, &error));
    check(petal_cursor_open(accounts, NULL, &cursor, &error));
    printf("%s:", title);
    while (check(petal_cursor_next(cursor, &cell, &error)), cell != NULL)
        printf(" %.*s has %.*s;", SHOWN(cell->row), SHOWN(cell->value));
    printf("\n");
    petal_cursor_close(cursor);
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS, reading = PETAL_DEFAULTS;
    petal_family_options family_options = PETAL_DEFAULTS;
    petal_table_options table_options = PETAL_DEFAULTS;
    petal_db *db, *reader;
    petal_table *accounts;
    petal_result *result;
    enum petal_status status;
    int attempt = 0;

    db = open_database(argc, argv, &options);
    column = PETAL_TEXT("sum");
    family_options.name = PETAL_TEXT("money");
    table_options.name = PETAL_TEXT("accounts");
    table_options.families = &family_options;
    table_options.family_count = 1;
    check(petal_table_create(db, &table_options, &accounts, &error));
    check(petal_result_new(db, &result, &error));
    put_sum(petal_table_family_at(accounts, 0), "ada", "100");
    put_sum(petal_table_family_at(accounts, 0), "bob", "20");

    /* Any number of processes read next to the one that writes; none waits for another. */
    reading.read_only = true;
    check(petal_open(argv[1], &reading, &reader, &error));
    show("a reader", reader);

    while ((status = give(db, accounts, result, attempt == 0)) == PETAL_CONFLICT && ++attempt < 10)
        printf("again: %s\n", error.text);
    check(status);

    show("before its refresh", reader);
    check(petal_refresh(reader, &error));
    show("after it", reader);

    check(petal_close(reader, &error));
    petal_result_free(result);
    check(petal_close(db, &error));
    return 0;
}
