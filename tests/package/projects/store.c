/*
 * store.c -- the least that a program does with an installed Petal: a key and its value, in a
 * database in the directory that is named.
 */
#include <petal.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_error error;
    petal_db *db;
    petal_kv *kv;
    petal_result *result;
    petal_slice value;
    bool found;

    options.create = true;
    if (argc != 2 || petal_open(argv[1], &options, &db, &error) != PETAL_OK ||
        petal_kv_open(db, PETAL_TEXT("names"), NULL, &kv, &error) != PETAL_OK ||
        petal_kv_put(kv, PETAL_TEXT("name"), PETAL_TEXT("Ada"), NULL, &error) != PETAL_OK ||
        petal_result_new(db, &result, &error) != PETAL_OK ||
        petal_kv_get(kv, PETAL_TEXT("name"), result, &found, &value, &error) != PETAL_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? error.text : "usage: store DIRECTORY");
        return 1;
    }
    printf("name = %.*s\n", (int)value.size, (const char *)value.data);
    petal_result_free(result);
    return petal_close(db, &error) == PETAL_OK ? 0 : 1;
}
