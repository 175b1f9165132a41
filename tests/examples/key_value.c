/*
 * key_value.c -- Petal as a plain store of keys and values: put, get, delete; several at once, all
 * or nothing; only if nobody was there before; keys in their order, by prefix.
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
    check(petal_kv_get(kv, petal_text(key), result, &found, &value, &error));
    if (found)
        printf("%s is %.*s\n", key, SHOWN(value));
    else
        printf("%s is not there\n", key);
}

/* A move from one key to another, which nobody sees half done. */
static void
rename_key(petal_db *db, petal_kv *kv, petal_result *result, const char *from, const char *to)
{
    petal_batch *batch;
    petal_slice value;
    bool found;

    check(petal_batch_new(db, &batch, &error));
    check(petal_kv_get(kv, petal_text(from), result, &found, &value, &error));
    check(petal_kv_batch_put(batch, kv, petal_text(to), value, &error)); /* bytes are copied */
    check(petal_kv_batch_delete(batch, kv, petal_text(from), &error));
    check(petal_write(db, batch, NULL, &error));
    petal_batch_free(batch);
}

/* A cursor sees the keys as they were when it was opened. */
static void
list(petal_kv *kv, const char *prefix, bool reversed)
{
    petal_kv_cursor_options options = PETAL_DEFAULTS;
    petal_kv_cursor *cursor;
    petal_slice key, value;
    bool found;

    options.prefix = petal_text(prefix);
    options.reversed = reversed;
    check(petal_kv_cursor_open(kv, &options, &cursor, &error));
    while (check(petal_kv_cursor_next(cursor, &found, &key, &value, &error)), found)
        printf("%.*s -> %.*s\n", SHOWN(key), SHOWN(value));
    petal_kv_cursor_close(cursor);
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    const petal_slice asked[] = {PETAL_TEXT("capital/France"), PETAL_TEXT("capital/Peru"),
                                 PETAL_TEXT("river/Peru")};
    petal_slice values[3];
    petal_deleted_rows deleted;
    petal_db *db;
    petal_kv *kv;
    petal_result *result;
    bool found[3], put;

    db = open_database(argc, argv, &options);
    check(petal_kv_open(db, PETAL_TEXT("world"), NULL, &kv, &error));
    check(petal_result_new(db, &result, &error)); /* used again by every get */

    check(petal_kv_put(kv, PETAL_TEXT("capital/France"), PETAL_TEXT("Paris"), NULL, &error));
    check(petal_kv_put(kv, PETAL_TEXT("capital/Japan"), PETAL_TEXT("Edo"), NULL, &error));
    check(petal_kv_put(kv, PETAL_TEXT("capital/Japan"), PETAL_TEXT("Tokyo"), NULL,
                       &error)); /* in its place */
    check(petal_kv_put(kv, PETAL_TEXT("river/Brasil"), PETAL_TEXT("Amazonas"), NULL, &error));
    check(petal_kv_put(kv, PETAL_TEXT("river/France"), PETAL_TEXT("Loire"), NULL, &error));
    show(kv, result, "capital/Japan");
    check(petal_kv_delete(kv, PETAL_TEXT("capital/Japan"), &error));
    show(kv, result, "capital/Japan");

    check(petal_kv_put_if_absent(kv, PETAL_TEXT("capital/France"), PETAL_TEXT("Vichy"), &put,
                                 &error));
    printf("capital/France was %s\n", put ? "put" : "there already");
    rename_key(db, kv, result, "river/Brasil", "river/Peru");

    check(petal_kv_multi_get(kv, asked, 3, NULL, result, found, values, &error));
    for (size_t i = 0; i < 3; i++)
        printf("%.*s: %.*s\n", SHOWN(asked[i]), SHOWN(values[i]));

    list(kv, "river/", false);
    list(kv, "", true); /* all, from the last key on */
    check(petal_kv_delete_range(kv, PETAL_TEXT("river/"), PETAL_TEXT("river0"), NULL, &deleted,
                                &error));
    printf("%llu keys deleted\n", (unsigned long long)deleted.rows);
    list(kv, "", false);

    petal_result_free(result);
    check(petal_close(db, &error)); /* the store is in DIRECTORY, for the next run */
    return 0;
}
