/*
 * wide_rows.c -- rows with column families, columns that need no declaration, and several versions
 * of each.
 *
 *     cc wide_rows.c $(pkg-config --cflags --libs petal) -o wide_rows
 *     ./wide_rows DIRECTORY        (which must not hold a database yet)
 */
#include "example.h"

/* Get row r1 of the table as `options` say, and print its cells. */
static void
show(const char *title, petal_table *table, const petal_read_options *options, petal_result *result)
{
    check(petal_get(table, PETAL_TEXT("r1"), options, result, &error));
    printf("%s:\n", title);
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        printf("  %.*s:%.*s at %d = %.*s\n", SHOWN(cell->family), SHOWN(cell->qualifier),
               (int)cell->timestamp, SHOWN(cell->value));
    }
}

int
main(int argc, char **argv)
{
    petal_options options = PETAL_DEFAULTS;
    petal_family_options families[2] = {PETAL_DEFAULTS, PETAL_DEFAULTS};
    petal_table_options table_options = PETAL_DEFAULTS;
    petal_read_options read = PETAL_DEFAULTS;
    petal_column wind = PETAL_DEFAULTS;
    petal_db *db;
    petal_table *table;
    petal_family *air, *station;
    petal_result *result;

    db = open_database(argc, argv, &options);
    families[0].name = PETAL_TEXT("air"); /* what changes: keep three versions of each column */
    families[0].versions = 3;
    families[1].name = PETAL_TEXT("station"); /* what does not */
    table_options.name = PETAL_TEXT("weather");
    table_options.families = families;
    table_options.family_count = 2;
    check(petal_table_create(db, &table_options, &table, &error));
    check(petal_table_family(table, PETAL_TEXT("air"), &air, &error));
    check(petal_table_family(table, PETAL_TEXT("station"), &station, &error));
    check(petal_result_new(db, &result, &error));

    /* Row, column, timestamp, value. PETAL_LATEST in place of a number means now. */
    check(petal_put(station, PETAL_TEXT("r1"), PETAL_TEXT("name"), 100, PETAL_TEXT("Uppsala"), NULL,
                    &error));
    check(petal_put(air, PETAL_TEXT("r1"), PETAL_TEXT("celsius"), 100, PETAL_TEXT("-3"), NULL,
                    &error));
    check(petal_put(air, PETAL_TEXT("r1"), PETAL_TEXT("celsius"), 200, PETAL_TEXT("-1"), NULL,
                    &error));
    check(petal_put(air, PETAL_TEXT("r1"), PETAL_TEXT("celsius"), 300, PETAL_TEXT("2"), NULL,
                    &error));
    check(petal_put(air, PETAL_TEXT("r1"), PETAL_TEXT("wind"), 200, PETAL_TEXT("north"), NULL,
                    &error));

    show("the newest version of each column", table, NULL, result);
    read.versions = PETAL_ALL_VERSIONS;
    show("all versions", table, &read, result);
    read.has_time_range = true; /* as the row stood before 300 */
    read.time_limit = 300;
    read.versions = 1;
    show("before 300", table, &read, result);
    wind.family = air;
    wind.qualifier = PETAL_TEXT("wind");
    read.columns = &wind;
    read.column_count = 1;
    show("one column of it", table, &read, result);

    /* A deletion is a cell too: it hides all versions of the column up to its timestamp. */
    check(petal_delete(air, PETAL_TEXT("r1"), PETAL_TEXT("celsius"), 200, PETAL_DELETE_COLUMN, NULL,
                       &error));
    memset(&read, 0, sizeof read);
    read.versions = PETAL_ALL_VERSIONS;
    show("without what was measured up to 200", table, &read, result);

    petal_result_free(result);
    check(petal_close(db, &error));
    return 0;
}
