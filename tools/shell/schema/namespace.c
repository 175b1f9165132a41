/* namespace.c -- see tools/shell/schema/namespace.h. */
#include "tools/shell/schema/namespace.h"

#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"

#include <stdlib.h>

#define CATALOG     "hbase:namespace"
#define THERE       "info"
#define THERE_NAME  "d"
#define PROPERTIES  "conf"
#define NAME_SHOWED 200 /* bytes of a name in a message */

/* ---- The table of namespaces ----------------------------------------------------------------- */

struct catalog {
    petal_table *table; /* NULL: there is none yet */
    petal_family *there, *properties;
};

static enum shell_status
catalog_open(struct session *session, struct catalog *catalog)
{
    enum petal_status outcome = PETAL_NOT_FOUND;
    petal_error error;

    if (session->db != NULL)
        outcome = petal_table_open(session->db, slice_of_string(CATALOG), &catalog->table, &error);
    if (outcome == PETAL_NOT_FOUND)
        return SHELL_FINE;
    if (outcome == PETAL_OK)
        outcome =
            petal_table_family(catalog->table, slice_of_string(THERE), &catalog->there, &error);
    if (outcome == PETAL_OK)
        outcome = petal_table_family(catalog->table, slice_of_string(PROPERTIES),
                                     &catalog->properties, &error);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

static enum shell_status
catalog_make(struct session *session, struct catalog *catalog)
{
    const petal_family_options families[] = {
        {.size = sizeof(families[0]), .name = slice_of_string(THERE)},
        {.size = sizeof(families[0]), .name = slice_of_string(PROPERTIES)}};
    petal_table_options options = {.size = sizeof(options),
                                   .name = slice_of_string(CATALOG),
                                   .families = families,
                                   .family_count = 2};
    petal_error error;

    if (petal_table_create(session->db, &options, &catalog->table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return catalog_open(session, catalog);
}

/* Write the batch, of which `outcome` tells how filling it went, and free it. */
static enum shell_status
catalog_write(struct session *session, petal_batch *batch, enum petal_status outcome,
              petal_error *error)
{
    const petal_write_options options = {
        .size = sizeof(options), .durability = PETAL_FSYNC_WAL, .new_version = true};

    if (outcome == PETAL_OK)
        outcome = petal_write(session->db, batch, &options, error);
    petal_batch_free(batch);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, error);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static enum shell_status
find_namespace(struct session *session, petal_slice name, struct catalog *catalog, bool *found)
{
    petal_read_options options = {.size = sizeof(options), .column_count = 1};
    petal_column column = {.qualifier = slice_of_string(THERE_NAME)};
    enum shell_status status;
    petal_error error;

    *catalog = (struct catalog){0};
    *found = slice_is(name, "default") || slice_is(name, "hbase");
    status = catalog_open(session, catalog);
    if (status != SHELL_FINE || *found || catalog->table == NULL || name.size == 0 ||
        name.size > PETAL_MAX_ROW_BYTES)
        return status;
    column.family = catalog->there;
    options.columns = &column;
    if (petal_get(catalog->table, name, &options, session->result, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    *found = petal_result_count(session->result) > 0;
    return SHELL_FINE;
}

static enum shell_status
fail_unknown(struct session *session, const char *before, petal_slice name)
{
    petal_slice nearest = {NULL, 0};
    struct name_list names = {0};
    unsigned least = 0;

    if (namespace_list(session, &names) != SHELL_FINE)
        return SHELL_DATA;
    for (size_t i = 0; i < names.count; i++)
        near_consider_bytes(name, names.items[i], &nearest, &least);
    (void)session_fail(session, SHELL_NOT_FOUND, "%s%.*s!", before, SLICE_UP_TO(NAME_SHOWED, name));
    near_suggest(session, nearest);
    return SHELL_NOT_FOUND;
}

enum shell_status
namespace_check(struct session *session, petal_slice name, const char *before)
{
    struct catalog catalog;
    bool found;
    enum shell_status status = find_namespace(session, name, &catalog, &found);

    if (status == SHELL_FINE && !found)
        return fail_unknown(session, before, name);
    return status;
}

enum shell_status
namespace_check_new_table(struct session *session, petal_slice table)
{
    if (slice_is(table_namespace(table), "hbase"))
        return session_fail(session, SHELL_USAGE,
                            "Tables of the namespace hbase are the database's own and cannot be "
                            "created");
    return namespace_check(session, table_namespace(table), "Unknown namespace ");
}

/* ---- Properties ------------------------------------------------------------------------------ */

/* Add the hash's properties to the batch; nil takes one away. */
static enum petal_status
add_properties(petal_batch *batch, const struct catalog *catalog, petal_slice name,
               const struct value *hash, petal_error *error)
{
    enum petal_status outcome = PETAL_OK;

    for (size_t i = 0; i < hash->count && outcome == PETAL_OK; i++) {
        petal_slice key = hash->as.pairs[i].key.as.bytes;
        const struct value *value = &hash->as.pairs[i].value;

        if (value->kind == VALUE_NIL)
            outcome = petal_batch_delete(batch, catalog->properties, name, key, PETAL_LATEST,
                                         PETAL_DELETE_COLUMN, error);
        else
            outcome = petal_batch_put(batch, catalog->properties, name, key, PETAL_LATEST,
                                      value->as.bytes, error);
    }
    return outcome;
}

enum shell_status
namespace_write(struct session *session, petal_slice name, bool make, const struct value *hashes,
                size_t count)
{
    struct catalog catalog = {0};
    enum petal_status outcome;
    enum shell_status status = session_make_database(session);
    petal_batch *batch;
    petal_error error;

    if (status == SHELL_FINE)
        status = catalog_open(session, &catalog);
    if (status == SHELL_FINE && catalog.table == NULL)
        status = catalog_make(session, &catalog);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_batch_new(session->db, &batch, &error);
    if (outcome == PETAL_OK && make)
        outcome = petal_batch_put(batch, catalog.there, name, slice_of_string(THERE_NAME),
                                  PETAL_LATEST, (petal_slice){0}, &error);
    for (size_t i = 0; i < count && outcome == PETAL_OK; i++)
        outcome = add_properties(batch, &catalog, name, &hashes[i], &error);
    return catalog_write(session, batch, outcome, &error);
}

enum shell_status
namespace_drop(struct session *session, petal_slice name)
{
    struct catalog catalog = {0};
    enum shell_status status = catalog_open(session, &catalog);
    enum petal_status outcome;
    petal_batch *batch;
    petal_error error;

    if (status != SHELL_FINE)
        return status;
    outcome = petal_batch_new(session->db, &batch, &error);
    if (outcome == PETAL_OK)
        outcome = petal_batch_delete(batch, catalog.there, name, (petal_slice){0}, PETAL_LATEST,
                                     PETAL_DELETE_FAMILY, &error);
    if (outcome == PETAL_OK)
        outcome = petal_batch_delete(batch, catalog.properties, name, (petal_slice){0},
                                     PETAL_LATEST, PETAL_DELETE_FAMILY, &error);
    return catalog_write(session, batch, outcome, &error);
}

enum shell_status
namespace_read(struct session *session, petal_slice name, size_t *count)
{
    petal_read_options options = {.size = sizeof(options), .column_count = 1};
    petal_column column = {.whole_family = true};
    struct catalog catalog = {0};
    enum shell_status status = catalog_open(session, &catalog);
    petal_error error;

    *count = 0;
    if (status != SHELL_FINE || catalog.table == NULL)
        return status;
    column.family = catalog.properties;
    options.columns = &column;
    if (petal_get(catalog.table, name, &options, session->result, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    *count = petal_result_count(session->result);
    return SHELL_FINE;
}

static int
compare_names(const void *a, const void *b)
{
    return slices_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

enum shell_status
namespace_list(struct session *session, struct name_list *list)
{
    struct catalog catalog = {0};
    petal_cursor *cursor = NULL;
    const petal_cell *cell = NULL;
    petal_error error;
    enum petal_status outcome = PETAL_OK;
    enum shell_status status = catalog_open(session, &catalog);

    name_list_add(session, list, slice_of_string("default"));
    name_list_add(session, list, slice_of_string("hbase"));
    if (status == SHELL_FINE && catalog.table != NULL) {
        petal_column column = {.family = catalog.there, .qualifier = slice_of_string(THERE_NAME)};
        petal_scan_options options = {
            .read = {.size = sizeof(options.read), .columns = &column, .column_count = 1}};

        outcome = petal_cursor_open(catalog.table, &options, &cursor, &error);
        while (outcome == PETAL_OK &&
               (outcome = petal_cursor_next(cursor, &cell, &error)) == PETAL_OK && cell != NULL)
            name_list_add(session, list, cell->row);
        petal_cursor_close(cursor);
    }
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    qsort(list->items, list->count, sizeof(*list->items), compare_names);
    return status;
}
