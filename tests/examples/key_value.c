/*
 * key_value.c -- Petal as a plain store of keys and values: put, get, delete, go over the keys in
 * order.
 *
 *     cc key_value.c $(pkg-config --cflags --libs petal) -o key_value
 *     ./key_value DIRECTORY
 */
#include "example.h"

static void
show(petal_kv *kv, petal_result *result, const char *key)
{
    petal_slice value;
    bool found;

    /* The value points into the result, and is good until the result's next use. */
    check(petal_kv_get(kv, text(key), result, &found, &value, &error));
    if (found)
        printf("%s is %.*s\n", key, SHOWN(value));
    else
        printf("%s is not there\n", key);
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_db *db;
    petal_kv *kv;
    petal_result *result;
    petal_cursor *cursor;
    const petal_cell *cell;

    db = open_database(argc, argv, &options);
    check(petal_kv_open(db, text("capitals"), NULL, &kv, &error));
    check(petal_result_new(db, &result, &error)); /* used again by every get */

    check(petal_kv_put(kv, text("France"), text("Paris"), &error));
    check(petal_kv_put(kv, text("Japan"), text("Tokyo"), &error));
    check(petal_kv_put(kv, text("Brazil"), text("Rio de Janeiro"), &error));
    check(petal_kv_put(kv, text("Brazil"), text("Brasilia"), &error)); /* replaces the value */
    show(kv, result, "Brazil");
    check(petal_kv_delete(kv, text("Japan"), &error));
    show(kv, result, "Japan");

    /* A cursor sees the store as it was when it was opened, keys in the order of their bytes. */
    check(petal_cursor_open(petal_kv_table(kv), NULL, &cursor, &error));
    while (check(petal_cursor_next(cursor, &cell, &error)), cell != NULL)
        printf("%.*s -> %.*s\n", SHOWN(cell->row), SHOWN(cell->value));
    petal_cursor_close(cursor);

    petal_result_free(result);
    check(petal_close(db, &error)); /* the store is in DIRECTORY, for the next run */
    return 0;
}
