/*
 * guard.c -- a filter of all keys stands before a database: who asks for a key that is not there is
 * turned away without a look into it.
 *
 *     cc guard.c $(pkg-config --cflags --libs petal-bloom petal) -o guard
 *     ./guard DIRECTORY
 */
#include "example.h"

#include <petal_bloom.h>

enum { ACCOUNTS = 5000 };

/* Every second account is there. */
static petal_slice
account(char name[32], int number)
{
    (void)snprintf(name, 32, "account-%06d", number);
    return petal_text(name);
}

static void
store_accounts(petal_kv *kv)
{
    char name[32];

    for (int i = 0; i < ACCOUNTS; i++)
        check(petal_kv_put(kv, account(name, 2 * i), PETAL_TEXT("some money"), NULL, &error));
}

/* A filter of the keys as they are now. Whoever adds keys later builds it again, or takes a kind
 * that takes keys: PETAL_BLOOM_KIND_GROWING. */
static void
save_filter(petal_kv *kv, const char *path)
{
    petal_bloom_builder_options options = PETAL_DEFAULTS; /* RIBBON: 7 bits a key for 1 % */
    petal_bloom_builder *builder;
    petal_cursor *cursor;
    const petal_cell *cell;

    check(petal_bloom_builder_create(&options, &builder, &error));
    check(petal_cursor_open(petal_kv_table(kv), NULL, &cursor, &error));
    while (check(petal_cursor_next(cursor, &cell, &error)), cell != NULL)
        check(petal_bloom_builder_add(builder, cell->row, &error));
    petal_cursor_close(cursor);
    check(petal_bloom_builder_save(builder, path, &error));
    petal_bloom_builder_free(builder);
}

/* Ask for accounts, of which half are there. */
static void
serve(petal_kv *kv, const petal_bloom *guard, petal_result *result)
{
    int found_count = 0, turned_away = 0, in_vain = 0;
    petal_slice money;
    char name[32];
    bool found;

    for (int i = 0; i < 2 * ACCOUNTS; i++) {
        if (!petal_bloom_may_contain(guard, account(name, i))) {
            turned_away++; /* certainly not there */
            continue;
        }
        check(petal_kv_get(kv, account(name, i), result, &found, &money, &error));
        if (found)
            found_count++;
        else
            in_vain++;
    }
    printf("found: %d\n", found_count);
    printf("not there, and turned away: %s\n", turned_away > 4900 ? "98 of 100 or more" : "few");
    printf("not there, and looked for: %s\n", in_vain < 100 ? "less than 2 of 100" : "many");
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_bloom_load_options mapped = PETAL_DEFAULTS;
    petal_bloom *guard;
    petal_result *result;
    petal_db *db;
    petal_kv *kv;
    char path[4096];

    db = open_database(argc, argv, &options);
    check(petal_kv_open(db, PETAL_TEXT("accounts"), NULL, &kv, &error));
    check(petal_result_new(db, &result, &error));
    store_accounts(kv);

    (void)snprintf(path, sizeof path, "%s.guard", argv[1]);
    save_filter(kv, path);
    mapped.map = true; /* nothing is copied, and all processes that map it share the memory */
    check(petal_bloom_load(path, &mapped, &guard, &error));
    serve(kv, guard, result);

    petal_bloom_free(guard);
    petal_result_free(result);
    check(petal_close(db, &error));
    return remove(path);
}
