/* namespace.c -- the commands about namespaces.  See tools/shell/schema/namespace.h. */
#include "tools/shell/schema/namespace.h"

#include "tools/shell/schema/commands.h"
#include "tools/shell/session/names.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/opening.h"

#include <stdlib.h>

#define CATALOG     "hbase:namespace"
#define THERE       "info"
#define THERE_NAME  "d"
#define PROPERTIES  "conf"
#define NAME_SHOWED 200 /* bytes of a name in a message, and most that a new one has */

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

static bool
is_reserved(petal_slice name)
{
    return slice_is(name, "default") || slice_is(name, "hbase");
}

static enum shell_status
find_namespace(struct session *session, petal_slice name, struct catalog *catalog, bool *found)
{
    petal_read_options options = {.size = sizeof(options), .column_count = 1};
    petal_column column = {.qualifier = slice_of_string(THERE_NAME)};
    enum shell_status status;
    petal_error error;

    *catalog = (struct catalog){0};
    *found = is_reserved(name);
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

    if (namespace_list(session, NULL, &names) != SHELL_FINE)
        return SHELL_DATA;
    for (size_t i = 0; i < names.count; i++)
        near_consider_bytes(name, names.items[i], &nearest, &least);
    (void)session_fail(session, SHELL_NOT_FOUND, "%s%.*s!", before, SLICE_UP_TO(NAME_SHOWED, name));
    near_suggest(session, nearest);
    return SHELL_NOT_FOUND;
}

/* The namespace that an argument names, which has to be there. */
static enum shell_status
read_namespace(struct session *session, const struct value *argument, petal_slice *name,
               struct catalog *catalog)
{
    enum shell_status status;
    bool found;

    if (argument->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Namespace name must be of type String");
    *name = argument->as.bytes;
    status = find_namespace(session, *name, catalog, &found);
    if (status == SHELL_FINE && !found)
        return fail_unknown(session, "Unknown namespace ", *name);
    return status;
}

enum shell_status
namespace_check(struct session *session, petal_slice table, const char *before)
{
    petal_slice name = table_namespace(table);
    struct catalog catalog;
    bool found;
    enum shell_status status = find_namespace(session, name, &catalog, &found);

    if (status == SHELL_FINE && !found)
        return fail_unknown(session, before, name);
    return status;
}

enum shell_status
namespace_check_table(struct session *session, petal_slice table)
{
    return namespace_check(session, table, "Unknown namespace ");
}

/* ---- Properties ------------------------------------------------------------------------------ */

static enum shell_status
fail_no_hash(struct session *session, const struct value *argument)
{
    text_clear(&session->scratch);
    value_inspect(&session->scratch, argument);
    return session_fail(session, SHELL_USAGE, "%s of %.200s is not of Hash type",
                        value_class(argument), text_string(&session->scratch));
}

/* Add the hash's properties to the batch; nil takes one away. */
static enum petal_status
add_properties(struct session *session, petal_batch *batch, const struct catalog *catalog,
               petal_slice name, const struct value *hash, petal_error *error)
{
    enum petal_status outcome = PETAL_OK;

    for (size_t i = 0; i < hash->count && outcome == PETAL_OK; i++) {
        petal_slice key = value_to_bytes(&session->arena, &hash->as.pairs[i].key);
        const struct value *value = &hash->as.pairs[i].value;

        if (slice_is(key, "METHOD"))
            continue;
        if (value->kind == VALUE_NIL)
            outcome = petal_batch_delete(batch, catalog->properties, name, key, PETAL_LATEST,
                                         PETAL_DELETE_COLUMN, error);
        else
            outcome = petal_batch_put(batch, catalog->properties, name, key, PETAL_LATEST,
                                      value_to_bytes(&session->arena, value), error);
    }
    return outcome;
}

/* METHOD => 'set' with properties, or 'unset' with NAME, the name of one. */
static enum shell_status
read_alteration(struct session *session, const struct value *hash, struct value *changes)
{
    const struct value *method = value_hash_get(hash, "METHOD");
    const struct value *unset = value_hash_get(hash, "NAME");
    petal_slice text = {0};
    struct value_pair *pair;

    if (hash->kind != VALUE_HASH)
        return fail_no_hash(session, hash);
    if (method != NULL)
        text = value_to_bytes(&session->arena, method);
    *changes = *hash;
    if (slice_is(text, "set"))
        return SHELL_FINE;
    if (!slice_is(text, "unset"))
        return session_fail(session, SHELL_USAGE, "Unknown method %.*s",
                            SLICE_UP_TO(NAME_SHOWED, text));
    if (unset == NULL || unset->kind == VALUE_NIL)
        return session_fail(session, SHELL_USAGE, "NAME parameter missing for unset method");
    pair = arena_allocate(&session->arena, sizeof(*pair));
    *pair = (struct value_pair){.key = *unset, .value = value_nil()};
    *changes = (struct value){.kind = VALUE_HASH, .count = 1, .as.pairs = pair};
    return SHELL_FINE;
}

/* ---- Commands -------------------------------------------------------------------------------- */

COMMAND_FUNCTION(command_create_namespace)
{
    enum petal_status outcome;
    enum shell_status status;
    struct catalog catalog;
    petal_batch *batch;
    petal_error error;
    petal_slice name;
    bool found;

    if (arguments[0].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Namespace name must be of type String");
    name = arguments[0].as.bytes;
    status = session_check_namespace(session, name, "java.io.IOException: ");
    if (status == SHELL_FINE && name.size > NAME_SHOWED)
        return session_fail(session, SHELL_USAGE,
                            "The name of a namespace has at most %d bytes, this one has %zu",
                            NAME_SHOWED, name.size);
    for (size_t i = 1; i < count && status == SHELL_FINE; i++)
        if (arguments[i].kind != VALUE_HASH)
            status = fail_no_hash(session, &arguments[i]);
    if (status == SHELL_FINE)
        status = find_namespace(session, name, &catalog, &found);
    if (status == SHELL_FINE && found)
        return session_fail(session, SHELL_USAGE, "Namespace %.*s already exists", SLICE(name));
    if (status == SHELL_FINE)
        status = session_make_database(session);
    if (status == SHELL_FINE && catalog.table == NULL)
        status = catalog_make(session, &catalog);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_batch_new(session->db, &batch, &error);
    if (outcome == PETAL_OK)
        outcome = petal_batch_put(batch, catalog.there, name, slice_of_string(THERE_NAME),
                                  PETAL_LATEST, (petal_slice){0}, &error);
    for (size_t i = 1; i < count && outcome == PETAL_OK; i++)
        outcome = add_properties(session, batch, &catalog, name, &arguments[i], &error);
    return catalog_write(session, batch, outcome, &error);
}

COMMAND_FUNCTION(command_alter_namespace)
{
    enum petal_status outcome;
    enum shell_status status;
    struct catalog catalog;
    struct value *changes;
    petal_batch *batch;
    petal_error error;
    petal_slice name;

    status = read_namespace(session, &arguments[0], &name, &catalog);
    changes = arena_allocate(&session->arena, count * sizeof(*changes));
    for (size_t i = 1; i < count && status == SHELL_FINE; i++)
        status = read_alteration(session, &arguments[i], &changes[i]);
    if (status == SHELL_FINE && catalog.table == NULL)
        status = catalog_make(session, &catalog);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_batch_new(session->db, &batch, &error);
    for (size_t i = 1; i < count && outcome == PETAL_OK; i++)
        outcome = add_properties(session, batch, &catalog, name, &changes[i], &error);
    return catalog_write(session, batch, outcome, &error);
}

static enum shell_status
check_removable(struct session *session, petal_slice name)
{
    struct name_list tables;
    enum shell_status status;

    if (is_reserved(name))
        return session_fail(session, SHELL_USAGE, "Reserved namespace %.*s cannot be removed.",
                            SLICE(name));
    status = name_list_namespace(session, name, &tables);
    if (status == SHELL_FINE && tables.count > 0)
        return session_fail(session, SHELL_USAGE,
                            "Only empty namespaces can be removed. Namespace %.*s has %zu tables",
                            SLICE(name), tables.count);
    return status;
}

COMMAND_FUNCTION(command_drop_namespace)
{
    enum petal_status outcome;
    enum shell_status status;
    struct catalog catalog;
    petal_batch *batch;
    petal_error error;
    petal_slice name;

    status = read_namespace(session, &arguments[0], &name, &catalog);
    if (status == SHELL_FINE)
        status = check_removable(session, name);
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

/* A record for each property, or one without. */
static void
show_property_records(struct session *session, petal_slice name, size_t count)
{
    struct format *format = &session->output.format;

    format_begin(format, "namespace property value");
    for (size_t i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(session->result, i);

        format_bytes(format, name);
        format_bytes(format, cell->qualifier);
        format_bytes(format, cell->value);
    }
    if (count > 0)
        return;
    format_bytes(format, name);
    format_null(format);
    format_null(format);
}

COMMAND_FUNCTION(command_describe_namespace)
{
    petal_read_options options = {.size = sizeof(options), .column_count = 1};
    petal_column column = {.whole_family = true};
    enum shell_status status;
    struct catalog catalog;
    petal_error error;
    petal_slice name;
    size_t properties;

    status = read_namespace(session, &arguments[0], &name, &catalog);
    if (status != SHELL_FINE)
        return status;
    column.family = catalog.properties;
    options.columns = &column;
    if (catalog.table != NULL &&
        petal_get(catalog.table, name, &options, session->result, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    properties = catalog.table != NULL ? petal_result_count(session->result) : 0;
    if (format_is_on(&session->output.format)) {
        show_property_records(session, name, properties);
    } else {
        struct text *text = &session->scratch;

        output_header(&session->output, "DESCRIPTION", NULL);
        text_clear(text);
        text_add_string(text, "{NAME => '");
        text_add_slice(text, name);
        text_add_string(text, "'");
        for (size_t i = 0; i < properties; i++) {
            const petal_cell *cell = petal_result_cell(session->result, i);

            text_add_string(text, ", ");
            text_add_slice(text, cell->qualifier);
            text_add_string(text, " => '");
            text_add_slice(text, cell->value);
            text_add_string(text, "'");
        }
        text_add_string(text, "}");
        output_line(&session->output, text_slice(text));
    }
    return SHELL_FINE;
}

static int
compare_names(const void *a, const void *b)
{
    return slices_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

enum shell_status
namespace_list(struct session *session, const struct pattern *pattern, struct name_list *list)
{
    struct name_list all = {0};
    struct catalog catalog = {0};
    petal_cursor *cursor = NULL;
    const petal_cell *cell = NULL;
    petal_error error;
    enum petal_status outcome = PETAL_OK;
    enum shell_status status = catalog_open(session, &catalog);

    name_list_add(session, &all, slice_of_string("default"));
    name_list_add(session, &all, slice_of_string("hbase"));
    if (status == SHELL_FINE && catalog.table != NULL) {
        petal_column column = {.family = catalog.there, .qualifier = slice_of_string(THERE_NAME)};
        petal_scan_options options = {
            .read = {.size = sizeof(options.read), .columns = &column, .column_count = 1}};

        outcome = petal_cursor_open(catalog.table, &options, &cursor, &error);
        while (outcome == PETAL_OK &&
               (outcome = petal_cursor_next(cursor, &cell, &error)) == PETAL_OK && cell != NULL)
            name_list_add(session, &all, cell->row);
        petal_cursor_close(cursor);
    }
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    qsort(all.items, all.count, sizeof(*all.items), compare_names);
    for (size_t i = 0; i < all.count; i++)
        if (pattern == NULL || pattern_matches(pattern, all.items[i]))
            name_list_add(session, list, all.items[i]);
    return status;
}

COMMAND_FUNCTION(command_list_namespace)
{
    struct pattern pattern = {NULL, NULL};
    struct name_list list = {0};
    enum shell_status status = SHELL_FINE;

    output_header(&session->output, "NAMESPACE", NULL);
    if (count > 0)
        status = pattern_read(session, &arguments[0], &pattern);
    if (status == SHELL_FINE)
        status = namespace_list(session, count > 0 ? &pattern : NULL, &list);
    pattern_free(&pattern);
    if (status == SHELL_FINE)
        name_list_show(session, &list, NULL);
    return status;
}

COMMAND_FUNCTION(command_list_namespace_tables)
{
    struct name_list tables;
    struct catalog catalog;
    enum shell_status status;
    petal_slice name;

    output_header(&session->output, "TABLE", NULL);
    status = read_namespace(session, &arguments[0], &name, &catalog);
    if (status == SHELL_FINE)
        status = name_list_namespace(session, name, &tables);
    if (status != SHELL_FINE)
        return status;
    for (size_t i = 0; i < tables.count; i++)
        tables.items[i] = table_qualifier(tables.items[i]);
    name_list_show(session, &tables, result);
    return SHELL_FINE;
}
