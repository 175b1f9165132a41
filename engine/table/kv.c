/* kv.c -- plain key -> value on a table of one family with the empty qualifier: its handles, and
 * what reads several keys and writes under a condition, by the calls of tables. petal_kv_get is in
 * engine/read/fast_get.c, other writes are in engine/write/put.c and batch.c, cursors in
 * engine/table/kv_cursor.c.
 */
#include "base/argument.h"
#include "engine/options.h"
#include "engine/read/multi_get.h"
#include "engine/read/options.h"
#include "engine/read/result.h"
#include "engine/state/db.h"
#include "engine/write/delete_rows.h"

#include <assert.h>
#include <stdio.h>

#define KV_FAMILY      "v"
#define KV_BLOCK_BYTES 4096

/* Keys per multi_get: each takes a result of some kilobytes, and more are not faster. */
#define PIECE_KEYS 32

/* A family that is asked for by its name is that one, or none. */
static enum petal_status
check_family_name(const petal_family_options *wanted, petal_slice name, petal_error *error)
{
    char quoted_wanted[80], quoted_name[80];

    if (wanted->name.size == 0 || slice_equal(wanted->name, name))
        return PETAL_OK;
    return error_set(error, PETAL_INVALID,
                     "the options name the family %s; that of the key-value table is %s",
                     error_quote(wanted->name, quoted_wanted, sizeof quoted_wanted),
                     error_quote(name, quoted_name, sizeof quoted_name));
}

/* Open or create the table, with that family. REQUIRES: no lock held. */
static enum petal_status
open_table(petal_db *db, petal_slice name, const petal_family_options *family, petal_table **table,
           petal_error *error)
{
    petal_family_options made = *family;
    petal_table_options described = {.name = name, .families = &made, .family_count = 1};
    enum petal_status status = petal_table_open(db, name, table, error);

    if (status != PETAL_NOT_FOUND)
        return status;
    made.size = sizeof made;
    made.name = slice_from_text(KV_FAMILY);
    if (made.block_bytes == 0)
        made.block_bytes = KV_BLOCK_BYTES;
    status = check_family_name(family, made.name, error);
    if (status != PETAL_OK)
        return status;
    status = petal_table_create(db, &described, table, error);
    /* Another thread may have made it meanwhile. */
    if (status == PETAL_EXISTS)
        status = petal_table_open(db, name, table, error);
    return status;
}

enum petal_status
petal_kv_open(petal_db *db, petal_slice name, const petal_family_options *options, petal_kv **kv,
              petal_error *error)
{
    RETURN_IF_NULL(kv, error);
    *kv = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(name, error);

    const struct table_descriptor *descriptor;
    petal_family_options family;
    petal_table *table;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&family, sizeof family, options, "petal_family_options", error);
    if (status != PETAL_OK)
        return status;
    RETURN_IF_NO_BYTES(family.name, error);
    status = open_table(db, name, &family, &table, error);
    if (status != PETAL_OK)
        return status;
    descriptor = table_descriptor(table);
    if (descriptor->family_count != 1)
        return error_set(error, PETAL_INVALID,
                         "the table has %zu families; a key-value table must have one",
                         descriptor->family_count);
    status = check_family_name(&family, petal_family_name(descriptor->families[0]), error);
    if (status == PETAL_OK)
        *kv = &descriptor->families[0]->key_values;
    return status;
}

petal_table *
petal_kv_table(petal_kv *kv)
{
    return kv != NULL ? kv->table : NULL;
}

/* ---- writes ---- */

static const petal_slice no_qualifier = {NULL, 0};

/* Checked here, because the calls of tables would speak of a row. */
static inline bool
is_key(petal_slice key)
{
    return key.size - 1 < PETAL_MAX_ROW_BYTES;
}

/* Put the value, or delete the key if it is NULL, when the condition holds. */
static enum petal_status
change_if(petal_kv *kv, petal_slice key, const petal_condition *condition, const petal_slice *value,
          bool *changed, petal_error *error)
{
    petal_batch *batch;
    enum petal_status status = petal_batch_new(kv->table->db, &batch, error);

    if (status == PETAL_OK)
        status = value != NULL ? petal_kv_batch_put(batch, kv, key, *value, error)
                               : petal_kv_batch_delete(batch, kv, key, error);
    if (status == PETAL_OK)
        status = petal_mutate_row(kv->table, key, condition, batch, NULL, changed, error);
    petal_batch_free(batch);
    return status;
}

enum petal_status
petal_kv_put_if_absent(petal_kv *kv, petal_slice key, petal_slice value, bool *put,
                       petal_error *error)
{
    if (put != NULL)
        *put = false;
    RETURN_IF_NULL(kv, error);
    RETURN_IF_NO_BYTES(key, error);
    RETURN_IF_NO_BYTES(value, error);

    petal_condition condition = {.family = kv->family, .absent = true};

    return change_if(kv, key, &condition, &value, put, error);
}

enum petal_status
petal_kv_compare_and_swap(petal_kv *kv, petal_slice key, const petal_slice *expected,
                          const petal_slice *value, bool *swapped, petal_error *error)
{
    if (swapped != NULL)
        *swapped = false;
    RETURN_IF_NULL(kv, error);
    RETURN_IF_NO_BYTES(key, error);
    if (expected != NULL && slice_lacks_bytes(*expected))
        return error_no_bytes(error, "expected", expected->size);
    if (value != NULL && slice_lacks_bytes(*value))
        return error_no_bytes(error, "value", value->size);

    petal_condition condition = {.family = kv->family,
                                 .absent = expected == NULL,
                                 .compare = PETAL_EQUAL,
                                 .compare_empty = true};

    if (expected != NULL)
        condition.value = *expected;
    return change_if(kv, key, &condition, value, swapped, error);
}

/* ---- many keys ---- */

static enum petal_status
check_no_columns(size_t column_count, petal_error *error)
{
    return column_count == 0 ? PETAL_OK
                             : error_set(error, PETAL_INVALID,
                                         "column_count is %zu; a key-value table has no columns to "
                                         "choose from",
                                         column_count);
}

enum petal_status
petal_kv_delete_range(petal_kv *kv, petal_slice from, petal_slice to,
                      const petal_delete_rows_options *given, petal_deleted_rows *deleted,
                      petal_error *error)
{
    from = deleted_rows_begin(deleted, from);
    RETURN_IF_NULL(kv, error);

    petal_column column = {kv->family, no_qualifier, false};
    petal_delete_rows_options options;
    enum petal_status status =
        options_copy(&options, sizeof options, given, "petal_delete_rows_options", error);

    if (status == PETAL_OK)
        status = check_no_columns(options.column_count, error);
    if (status != PETAL_OK)
        return status;
    options.size = sizeof options;
    options.columns = &column;
    options.column_count = 1;
    return delete_rows(kv->table, from, to, &options, true, deleted, error);
}

static enum petal_status
check_keys(const petal_slice *keys, size_t count, petal_error *error)
{
    char name[32];

    RETURN_IF_NO_ARRAY(keys, count, error);
    for (size_t i = 0; i < count; i++) {
        if (is_key(keys[i]) && !slice_lacks_bytes(keys[i]))
            continue;
        snprintf(name, sizeof name, "keys[%zu]", i);
        return slice_lacks_bytes(keys[i]) ? error_no_bytes(error, name, keys[i].size)
                                          : read_check_key(keys[i], name, error);
    }
    return PETAL_OK;
}

/* Where the answers go; `found` and `values` may be NULL. */
struct many_values {
    petal_result *result;
    bool *found;
    petal_slice *values;
};

/* `data` is NULL for a key that does not exist. */
static void
clear_values(const struct many_values *many, size_t count)
{
    if (many->found != NULL)
        memset(many->found, 0, count * sizeof *many->found);
    for (size_t i = 0; many->values != NULL && i < count; i++)
        many->values[i] = slice_make(NULL, 0);
}

/* The values' bytes; their addresses are known after the last one. */
static enum petal_status
take_values(void *argument, size_t first, petal_result *const *results, size_t count,
            petal_error *error)
{
    const struct many_values *many = argument;

    if (first == 0)
        result_clear(many->result);
    for (size_t i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(results[i], 0);

        if (many->found != NULL)
            many->found[first + i] = cell != NULL;
        if (many->values == NULL)
            continue;
        many->values[first + i] =
            cell != NULL ? slice_make("", cell->value.size) : slice_make(NULL, 0);
        if (cell != NULL && result_append_value(many->result, cell->value) != PETAL_OK)
            return error_no_memory(error);
    }
    return PETAL_OK;
}

static void
point_at_values(const struct many_values *many, size_t count)
{
    size_t offset = 0;

    for (size_t i = 0; many->values != NULL && i < count; i++) {
        petal_slice *value = &many->values[i];

        if (value->size > 0)
            value->data = many->result->bytes + offset;
        offset += value->size;
    }
    assert(many->values == NULL || offset == many->result->byte_count);
}

static enum petal_status
get_many(petal_kv *kv, const petal_slice *keys, size_t count, const petal_read_options *given,
         struct many_values *many, petal_error *error)
{
    petal_column column = {kv->family, no_qualifier, false};
    petal_result *result = many->result;
    petal_read_options options;
    size_t members = count < PIECE_KEYS ? count : PIECE_KEYS;
    enum petal_status status =
        options_copy(&options, sizeof options, given, "petal_read_options", error);

    if (status == PETAL_OK)
        status = check_no_columns(options.column_count, error);
    if (status == PETAL_OK)
        status = check_keys(keys, count, error);
    if (status == PETAL_OK && db_enter(kv->table->db, error) != PETAL_OK)
        status = PETAL_INVALID;
    if (status == PETAL_OK)
        status = result_have_members(result, members, error);
    if (status != PETAL_OK || count == 0)
        return status;
    options.size = sizeof options;
    options.columns = &column;
    options.column_count = 1;
    return multi_get_pieces(kv->table, keys, count, &options, result->members, members, take_values,
                            many, error);
}

enum petal_status
petal_kv_multi_get(petal_kv *kv, const petal_slice *keys, size_t count,
                   const petal_read_options *options, petal_result *result, bool *found,
                   petal_slice *values, petal_error *error)
{
    struct many_values many = {result, found, values};
    enum petal_status status;

    clear_values(&many, count);
    RETURN_IF_NULL(result, error);
    result_clear(result);
    RETURN_IF_NULL(kv, error);
    status = get_many(kv, keys, count, options, &many, error);
    if (status == PETAL_OK)
        point_at_values(&many, count);
    else
        clear_values(&many, count);
    return status;
}
