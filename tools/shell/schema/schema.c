/* schema.c -- see tools/shell/schema/schema.h. */
#include "tools/shell/schema/schema.h"

#include "tools/shell/schema/attribute.h"

#include <string.h>

/* ---- Families -------------------------------------------------------------------------------- */

static enum shell_status
check_family_name(struct session *session, petal_slice name)
{
    const char *letters = name.data;
    int size = name.size < 128 ? (int)name.size : 128;

    if (name.size == 0)
        return session_fail(session, SHELL_USAGE, "Column Family name can not be empty");
    if (letters[0] == '.')
        return session_fail(session, SHELL_USAGE,
                            "Column Family names cannot start with a period: %.*s", size, letters);
    for (size_t i = 0; i < name.size; i++) {
        unsigned char letter = (unsigned char)letters[i];

        if (letter < 0x20 || letter == 0x7f || strchr(":/\\", letter) != NULL)
            return session_fail(session, SHELL_USAGE,
                                "Illegal character <%u>. Column Family names cannot contain "
                                "control characters or colons: %.*s",
                                letter, size, letters);
    }
    if (name.size > PETAL_MAX_FAMILY_BYTES)
        return session_fail(session, SHELL_USAGE, "The length of family name is bigger than %d",
                            PETAL_MAX_FAMILY_BYTES);
    return SHELL_FINE;
}

static petal_family_options *
find_family(struct schema *schema, petal_slice name)
{
    for (size_t i = 0; i < schema->table.family_count; i++)
        if (slices_equal(schema->families[i].name, name))
            return &schema->families[i];
    return NULL;
}

/* HBase's words; at a terminal also what may have been meant. */
static void
tell_unknown(struct session *session, const char *before, petal_slice family, petal_slice key)
{
    const char *nearest = session->output.terminal ? attribute_nearest(key) : NULL;

    output_plain(&session->output, "Unknown argument ignored%s%.*s: %.*s%s%s%s", before,
                 SLICE(family), SLICE(key), nearest != NULL ? "; did you mean " : "",
                 nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

static enum shell_status
read_family_attribute(struct session *session, petal_family_options *family, petal_slice key,
                      const struct value *value)
{
    bool known;
    enum shell_status status;

    if (slice_is(key, "NAME"))
        return SHELL_FINE;
    status = family_attribute_read(session, family, key, value, &known);
    if (!known)
        tell_unknown(session, " for column family ", family->name, key);
    return status;
}

/* `attributes` (may be NULL) is a hash. A family that create names twice is begun anew, one that
 * alter names is changed. */
static enum shell_status
read_family(struct session *session, struct schema *schema, petal_slice name,
            const struct value *attributes, bool altering)
{
    petal_family_options *family;
    enum shell_status status = check_family_name(session, name);

    if (status != SHELL_FINE)
        return status;
    family = find_family(schema, name);
    if (family != NULL && !altering)
        output_plain(&session->output, "Family '%.*s' already exists, the old one will be replaced",
                     SLICE(name));
    if (family == NULL || !altering) {
        if (family == NULL) {
            schema->families =
                arena_room(&session->arena, schema->families, schema->table.family_count,
                           &schema->capacity, sizeof(*schema->families));
            family = &schema->families[schema->table.family_count++];
        }
        *family = (petal_family_options){.size = sizeof(*family), .name = name};
    }
    for (size_t i = 0; attributes != NULL && i < attributes->count && status == SHELL_FINE; i++)
        status = read_family_attribute(
            session, family, value_to_bytes(&session->arena, &attributes->as.pairs[i].key),
            &attributes->as.pairs[i].value);
    return status == SHELL_FINE ? family_attributes_check(session, family) : status;
}

static enum shell_status
fail_argument(struct session *session, const struct value *argument)
{
    petal_slice text = value_to_bytes(&session->arena, argument);

    return session_fail(session, SHELL_USAGE, "%s of %.*s is not of Hash or String type",
                        value_class(argument), SLICE_UP_TO(200, text));
}

/* ---- create ---------------------------------------------------------------------------------- */

static enum shell_status
read_create_attribute(struct session *session, struct schema *schema, petal_slice key,
                      const struct value *value)
{
    bool known;
    enum shell_status status;

    if (slice_is(key, "METHOD"))
        return slice_is(value_to_bytes(&session->arena, value), "table_att")
                   ? SHELL_FINE
                   : session_fail(session, SHELL_USAGE,
                                  "table_att is currently the only supported method");
    schema->splits = schema->splits || slice_is(key, "SPLITS") || slice_is(key, "SPLITS_FILE") ||
                     slice_is(key, "NUMREGIONS");
    status = table_attribute_read(session, &schema->table, key, value, &known);
    if (!known)
        output_plain(&session->output, "An argument ignored (unknown or overridden): %.*s",
                     SLICE(key));
    return status;
}

/* A table is one region, so they change nothing; but they have to make sense. */
static enum shell_status
check_splits(struct session *session, const struct value *hash)
{
    const struct value *number = value_hash_get(hash, "NUMREGIONS");
    const struct value *algorithm = value_hash_get(hash, "SPLITALGO");
    int64_t regions;

    if (number == NULL && algorithm == NULL)
        return SHELL_FINE;
    if (number == NULL)
        return session_fail(session, SHELL_USAGE, "Number of regions must be specified");
    if (algorithm == NULL)
        return session_fail(session, SHELL_USAGE, "Split algorithm must be specified");
    if (!value_to_integer(number, &regions) || regions <= 1)
        return session_fail(session, SHELL_USAGE, "Number of regions must be greater than 1");
    return SHELL_FINE;
}

static enum shell_status
read_create_hash(struct session *session, struct schema *schema, const struct value *hash)
{
    const struct value *name = value_hash_get(hash, "NAME");
    enum shell_status status = check_splits(session, hash);

    if (status == SHELL_FINE && name != NULL)
        return read_family(session, schema, value_to_bytes(&session->arena, name), hash, false);
    for (size_t i = 0; i < hash->count && status == SHELL_FINE; i++)
        status = read_create_attribute(session, schema,
                                       value_to_bytes(&session->arena, &hash->as.pairs[i].key),
                                       &hash->as.pairs[i].value);
    return status;
}

enum shell_status
schema_read_create(struct session *session, const struct value *arguments, size_t count,
                   struct schema *schema)
{
    enum shell_status status = SHELL_FINE;

    for (size_t i = 0; i < count && status == SHELL_FINE; i++) {
        const struct value *argument = &arguments[i];

        if (argument->kind == VALUE_STRING)
            status = read_family(session, schema, argument->as.bytes, NULL, false);
        else if (argument->kind == VALUE_HASH)
            status = read_create_hash(session, schema, argument);
        else if (argument->kind == VALUE_ARRAY)
            status = schema_read_create(session, argument->as.items, argument->count, schema);
        else if (argument->kind != VALUE_NIL)
            status = fail_argument(session, argument);
    }
    schema->table.families = schema->families;
    return status;
}

/* ---- alter ----------------------------------------------------------------------------------- */

void
schema_describe(struct session *session, const petal_table *table, struct schema *schema)
{
    *schema = (struct schema){.table.size = sizeof(schema->table)};
    petal_table_describe(table, &schema->table);
    schema->capacity = schema->table.family_count;
    schema->families = arena_copy(&session->arena, schema->table.families,
                                  schema->capacity * sizeof(*schema->families));
    schema->table.families = schema->families;
}

static void
tell_no_family(struct session *session, petal_slice family, petal_slice table)
{
    struct text line = {0};

    text_add_string(&line, "kv-shell: table ");
    text_add_literal(&line, table);
    text_add_string(&line, " has no family ");
    text_add_literal(&line, family);
    text_add_string(&line, " to delete\n");
    session_note(session, &line);
    text_free(&line);
}

/* As in HBase an unknown family is no error. */
static void
delete_family(struct session *session, struct schema *schema, petal_slice name)
{
    petal_family_options *family = find_family(schema, name);

    if (family == NULL) {
        tell_no_family(session, name, schema->table.name);
        return;
    }
    schema->table.family_count--;
    memmove(family, family + 1,
            (size_t)(schema->families + schema->table.family_count - family) * sizeof(*family));
}

static enum shell_status
unset_attribute(struct session *session, struct schema *schema, const struct value *name,
                const char *what)
{
    petal_slice text;

    if (name->kind == VALUE_ARRAY) {
        enum shell_status status = SHELL_FINE;

        for (size_t i = 0; i < name->count && status == SHELL_FINE; i++)
            status = unset_attribute(session, schema, &name->as.items[i], what);
        return status;
    }
    text = value_to_bytes(&session->arena, name);
    if (table_attribute_unset(session, &schema->table, text))
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE, "Could not find %s: %.*s", what,
                        SLICE_UP_TO(200, text));
}

/* METHOD => 'delete', 'table_att_unset' or 'table_conf_unset', with NAME. */
static enum shell_status
run_method(struct session *session, struct schema *schema, petal_slice method,
           const struct value *name)
{
    bool attribute = slice_is(method, "table_att_unset");

    if (!attribute && !slice_is(method, "delete") && !slice_is(method, "table_conf_unset"))
        return session_fail(session, SHELL_USAGE, "Unknown method: %.*s", SLICE_UP_TO(200, method));
    if (name == NULL)
        return session_fail(session, SHELL_USAGE, "NAME parameter missing for %.*s method",
                            SLICE(method));
    if (!slice_is(method, "delete"))
        return unset_attribute(session, schema, name, attribute ? "attribute" : "configuration");
    delete_family(session, schema, value_to_bytes(&session->arena, name));
    return SHELL_FINE;
}

/* The keys of a hash without a NAME, or beside a METHOD that takes none. */
static enum shell_status
read_alter_attributes(struct session *session, struct schema *schema, const struct value *hash,
                      bool ignore_all)
{
    enum shell_status status = SHELL_FINE;

    for (size_t i = 0; i < hash->count && status == SHELL_FINE; i++) {
        petal_slice key = value_to_bytes(&session->arena, &hash->as.pairs[i].key);
        bool known = false;

        if (slice_is(key, "METHOD") || slice_is(key, "NAME") || slice_is(key, "delete"))
            continue;
        if (!ignore_all)
            status = table_attribute_read(session, &schema->table, key, &hash->as.pairs[i].value,
                                          &known);
        if (!known)
            tell_unknown(session, "", (petal_slice){"", 0}, key);
    }
    return status;
}

static enum shell_status
read_alter_hash(struct session *session, struct schema *schema, const struct value *hash)
{
    const struct value *name = value_hash_get(hash, "NAME");
    const struct value *method = value_hash_get(hash, "METHOD");
    const struct value *deleted = value_hash_get(hash, "delete");
    petal_slice text;
    enum shell_status status;

    if (deleted != NULL && deleted->kind != VALUE_NIL) {
        delete_family(session, schema, value_to_bytes(&session->arena, deleted));
        return SHELL_FINE;
    }
    if (method == NULL && name != NULL)
        return read_family(session, schema, value_to_bytes(&session->arena, name), hash, true);
    text = method != NULL ? value_to_bytes(&session->arena, method) : slice_of_string("table_att");
    if (slice_is(text, "table_att"))
        return read_alter_attributes(session, schema, hash, false);
    status = run_method(session, schema, text, name);
    return status == SHELL_FINE ? read_alter_attributes(session, schema, hash, true) : status;
}

enum shell_status
schema_read_alter(struct session *session, const struct value *arguments, size_t count,
                  struct schema *schema)
{
    enum shell_status status = SHELL_FINE;

    for (size_t i = 0; i < count && status == SHELL_FINE; i++) {
        const struct value *argument = &arguments[i];

        if (argument->kind == VALUE_STRING)
            status = read_family(session, schema, argument->as.bytes, NULL, true);
        else if (argument->kind == VALUE_HASH)
            status = read_alter_hash(session, schema, argument);
        else
            status = fail_argument(session, argument);
    }
    schema->table.families = schema->families;
    if (status == SHELL_FINE && schema->table.family_count == 0)
        return session_fail(session, SHELL_USAGE, "Table should have at least one column family.");
    return status;
}
