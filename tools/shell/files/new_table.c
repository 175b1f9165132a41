/* new_table.c -- see tools/shell/files/new_table.h. */
#include "tools/shell/files/new_table.h"

#include "tools/shell/text/memory.h"

#include <stdlib.h>
#include <string.h>

/* To be freed: the families of the options. */
static petal_family_options *
make_options(const struct new_table *new_table, petal_table_options *options)
{
    size_t count = new_table->family_count;
    petal_family_options *families = memory_allocate(count * sizeof(*families));

    for (size_t i = 0; i < count; i++)
        families[i] = (petal_family_options){.size = sizeof(*families),
                                             .name = new_table->families[i],
                                             .versions = new_table->versions};
    *options = (petal_table_options){.size = sizeof(*options),
                                     .name = new_table->name,
                                     .families = families,
                                     .family_count = count};
    return families;
}

enum petal_status
new_table_check(const struct new_table *new_table, petal_error *error)
{
    petal_table_options options;
    petal_family_options *families = make_options(new_table, &options);
    enum petal_status status = petal_table_check(&options, error);

    free(families);
    return status;
}

enum petal_status
new_table_create(petal_db *db, const struct new_table *new_table, petal_table **table,
                 petal_error *error)
{
    petal_table_options options;
    petal_family_options *families = make_options(new_table, &options);
    enum petal_status status = petal_table_create(db, &options, table, error);

    free(families);
    return status;
}

enum petal_status
new_table_add_family(petal_table *table, petal_slice family, uint32_t versions, petal_error *error)
{
    petal_table_options options = {.size = sizeof(options)};
    petal_family_options *families;
    enum petal_status status;

    petal_table_describe(table, &options);
    families = memory_allocate((options.family_count + 1) * sizeof(*families));
    memcpy(families, options.families, options.family_count * sizeof(*families));
    families[options.family_count++] =
        (petal_family_options){.size = sizeof(*families), .name = family, .versions = versions};
    options.families = families;
    status = petal_table_alter(table, &options, error);
    free(families);
    return status;
}

void
new_table_tell(struct text *text, const petal_table *table)
{
    size_t count = petal_table_family_count(table);

    text_add_string(text, "Created table ");
    text_add_slice(text, petal_table_name(table));
    text_add_string(text, count == 1 ? " with the family " : " with the families ");
    for (size_t i = 0; i < count; i++) {
        text_add_string(text, i > 0 ? ", " : "");
        text_add_binary(text, petal_family_name(petal_table_family_at(table, i)));
    }
}
