/*
 * filtered_scan.c -- going over part of the rows, with filters that are decided inside the store.
 *
 *     cc filtered_scan.c $(pkg-config --cflags --libs petal) -o filtered_scan
 *     ./filtered_scan DIRECTORY        (which must not hold a database yet)
 */
#include "example.h"

/* Print the rows that the options let through, one line each. */
static void
show(const char *title, petal_db *db, petal_table *table, const petal_scan_options *options)
{
    petal_cursor *cursor;
    petal_result *row;

    check(petal_result_new(db, &row, &error));
    check(petal_cursor_open(table, options, &cursor, &error));
    printf("%s:\n", title);
    while (check(petal_cursor_next_row(cursor, row, &error)), petal_result_count(row) > 0) {
        printf("  %.*s", SHOWN(petal_result_cell(row, 0)->row));
        for (size_t i = 0; i < petal_result_count(row); i++) {
            const petal_cell *cell = petal_result_cell(row, i);

            printf(" %.*s=%.*s", SHOWN(cell->qualifier), SHOWN(cell->value));
        }
        printf("\n");
    }
    petal_cursor_close(cursor);
    petal_result_free(row);
}

int
main(int argc, char **argv)
{
    static const char *const lines[][3] = {
        {"book:emma", "author", "Austen"},       {"book:emma", "year", "1815"},
        {"book:persuasion", "author", "Austen"}, {"book:persuasion", "year", "1817"},
        {"book:walden", "author", "Thoreau"},    {"book:walden", "year", "1854"},
        {"film:metropolis", "year", "1927"}};
    petal_options options = PETAL_DEFAULTS;
    petal_family_options family_options = PETAL_DEFAULTS;
    petal_table_options table_options = PETAL_DEFAULTS;
    petal_scan_options scan = PETAL_DEFAULTS;
    petal_filter *filter;
    petal_db *db;
    petal_table *works;

    db = open_database(argc, argv, &options);
    family_options.name = PETAL_TEXT("f");
    table_options.name = PETAL_TEXT("works");
    table_options.families = &family_options;
    table_options.family_count = 1;
    check(petal_table_create(db, &table_options, &works, &error));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check(petal_put(petal_table_family_at(works, 0), petal_text(lines[i][0]),
                        petal_text(lines[i][1]), PETAL_LATEST, petal_text(lines[i][2]), NULL,
                        &error));

    scan.prefix = PETAL_TEXT("book:");
    show("rows of books", db, works, &scan);

    /* The same filters as in HBase, in its language; petal_filter_make builds them by calls. */
    check(petal_filter_parse(
        db, PETAL_TEXT("SingleColumnValueFilter('f', 'year', <, 'binary:1850', true, true)"),
        &filter, &error));
    scan.read.filter = filter;
    scan.reversed = true;
    show("those before 1850, from the last to the first", db, works, &scan);
    petal_filter_free(filter);

    check(petal_filter_parse(
        db, PETAL_TEXT("QualifierFilter(=, 'binary:author') AND ValueFilter(=, 'substring:reau')"),
        &filter, &error));
    scan.read.filter = filter;
    show("cells that two filters let through", db, works, &scan);
    petal_filter_free(filter);

    check(petal_close(db, &error));
    return 0;
}
