/* fixture.c -- see tests/engine/table/fixture.h. */
#include "tests/engine/table/fixture.h"

#include "tests/support/test.h"

void
table_begin(struct fixture *fixture)
{
    fixture_init(fixture, 8);
    fixture_must_open(fixture);
}

petal_table_options
table_plain_options(petal_family_options families[8], const char *letters)
{
    petal_table_options options = {
        .name = text("t"), .families = families, .family_count = strlen(letters)};

    for (size_t i = 0; letters[i] != '\0'; i++)
        families[i] = (petal_family_options){.name = slice_make(letters + i, 1)};
    return options;
}

enum petal_status
table_alter_to(petal_table *table, const char *letters, petal_error *error)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, letters);

    return petal_table_alter(table, &options, error);
}

petal_table *
table_make(struct fixture *fixture, const char *letters)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, letters);
    petal_table *table;

    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    return table;
}

petal_family *
table_family_named(petal_table *table, const char *name)
{
    petal_family *family;

    MUST(petal_table_family(table, text(name), &family, WHY));
    return family;
}

void
table_put(petal_table *table, const char *family, const char *row, const char *value)
{
    MUST(petal_put(table_family_named(table, family), text(row), text("q"), PETAL_LATEST,
                   text(value), NULL, WHY));
}

const char *
table_row(petal_db *db, petal_table *table, const char *row)
{
    static char line[400];
    petal_result *result;
    size_t used = 0;

    line[0] = '\0';
    MUST(petal_result_new(db, &result, WHY));
    MUST(petal_get(table, text(row), NULL, result, WHY));
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        used += (size_t)snprintf(line + used, sizeof line - used, "%s%.*s:%.*s", i > 0 ? " " : "",
                                 (int)cell->family.size, (const char *)cell->family.data,
                                 (int)cell->value.size, (const char *)cell->value.data);
    }
    petal_result_free(result);
    return line;
}

petal_table *
table_reopen(struct fixture *fixture)
{
    petal_table *table;

    MUST(petal_table_open(fixture->db, text("t"), &table, WHY));
    return table;
}
