/* table.c -- tables: creating, dropping, finding, listing. */
#include "base/argument.h"
#include "engine/options.h"
#include "engine/state/db.h"
#include "engine/state/progress.h"
#include "engine/store/change.h"
#include "engine/table/snapshot.h"

#include <stdlib.h>

/* ---- create ---- */

enum petal_status
table_resolve_families(const petal_allocator *allocator, const petal_table_options *options,
                       petal_family_options **families, petal_error *error)
{
    const uint8_t *given = (const uint8_t *)options->families;
    petal_family_options *resolved;
    size_t first_bytes, stride;

    *families = NULL;
    RETURN_IF_NO_ARRAY(options->families, options->family_count, error);
    if (options->family_count == 0)
        return error_set(error, PETAL_INVALID, "Table must have at least one column family");
    if (options->family_count > MOST_FAMILIES)
        return error_set(error, PETAL_INVALID, "the table has %zu families; the limit is %d",
                         options->family_count, MOST_FAMILIES);
    resolved = mem_alloc(allocator, options->family_count * sizeof *resolved);
    if (resolved == NULL)
        return error_no_memory(error);
    *families = resolved;
    first_bytes = options->families[0].size;
    stride = first_bytes != 0 ? first_bytes : sizeof *resolved; /* of the caller's array */
    for (size_t i = 0; i < options->family_count; i++) {
        const petal_family_options *family = (const petal_family_options *)(given + i * stride);
        enum petal_status status;

        if ((family->size != 0 ? family->size : sizeof *family) != stride)
            return error_set(error, PETAL_INVALID,
                             "the size of petal_family_options %zu is %zu; that of the first is "
                             "%zu",
                             i + 1, family->size, first_bytes);
        status = family_options_resolve(&resolved[i], family, error);
        if (status != PETAL_OK)
            return status;
        for (size_t k = 0; k < i; k++) {
            char quoted[160];

            if (slice_equal(resolved[k].name, resolved[i].name))
                return error_set(error, PETAL_INVALID, "family %s is given twice",
                                 error_quote(resolved[i].name, quoted, sizeof quoted));
        }
    }
    return PETAL_OK;
}

/* A table in one allocation: with the families, regions and empty stores of the options, whose
 * splits are sorted. */
struct new_table {
    struct manifest_table described;
    size_t bytes;
};

static struct new_table *
describe_new(const petal_table_options *options, const petal_slice *splits,
             const petal_allocator *allocator)
{
    size_t families = options->family_count, regions = options->split_count + 1;
    size_t bytes = sizeof(struct new_table) + families * sizeof(struct manifest_family) +
                   regions * (sizeof(struct manifest_region) + sizeof(struct manifest_region *)) +
                   families * regions * sizeof(struct manifest_store);
    struct new_table *made = mem_zalloc(allocator, bytes);
    struct manifest_region *region;
    struct manifest_store *store;

    if (made == NULL)
        return NULL;
    made->bytes = bytes;
    made->described = (struct manifest_table){
        .name = options->name,
        .durability = options->durability,
        .read_only = options->read_only,
        .attributes = options->attributes,
        .attribute_count = options->attribute_count,
        .families = (struct manifest_family *)(made + 1),
        .family_count = families,
        .region_count = regions,
    };
    region = (struct manifest_region *)(made->described.families + families);
    store = (struct manifest_store *)(region + regions);
    made->described.regions = (struct manifest_region **)(store + families * regions);
    for (size_t i = 0; i < regions; i++) {
        region[i] = (struct manifest_region){.table = &made->described, .place = i};
        if (i > 0)
            region[i].start = splits[i - 1];
        made->described.regions[i] = &region[i];
    }
    for (size_t i = 0; i < families; i++) {
        made->described.families[i].options = options->families[i];
        made->described.families[i].stores = store + i * regions;
    }
    return made;
}

static int
compare_rows(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

/* As HBase's admin checks them. */
static enum petal_status
check_splits(const petal_slice *splits, size_t count, petal_error *error)
{
    char quoted[160];

    for (size_t i = 0; i < count; i++) {
        if (splits[i].size == 0)
            return error_set(error, PETAL_INVALID,
                             "Empty split key must not be passed in the split keys.");
        if (splits[i].size > PETAL_MAX_ROW_BYTES)
            return error_set(error, PETAL_INVALID,
                             "a split key has %zu bytes; a row has at most %d", splits[i].size,
                             PETAL_MAX_ROW_BYTES);
        if (i > 0 && slice_equal(splits[i], splits[i - 1]))
            return error_set(error, PETAL_INVALID,
                             "All split keys must be unique, found duplicate: %s, %s", quoted,
                             error_quote(splits[i], quoted, sizeof quoted));
    }
    return PETAL_OK;
}

/* *splits: a sorted copy of the options'; NULL: there are none. */
static enum petal_status
sort_splits(const petal_table_options *options, petal_slice **splits,
            const petal_allocator *allocator, petal_error *error)
{
    size_t count = options->split_count;

    *splits = NULL;
    RETURN_IF_NO_ARRAY(options->splits, count, error);
    for (size_t i = 0; i < count; i++)
        RETURN_IF_NO_BYTES(options->splits[i], error);
    if (count == 0)
        return PETAL_OK;
    if (count > MOST_SPLITS)
        return error_set(error, PETAL_INVALID, "the table has %zu split keys; the limit is %d",
                         count, MOST_SPLITS);
    *splits = mem_alloc(allocator, count * sizeof(petal_slice));
    if (*splits == NULL)
        return error_no_memory(error);
    memcpy(*splits, options->splits, count * sizeof(petal_slice));
    qsort(*splits, count, sizeof(petal_slice), compare_rows);
    return check_splits(*splits, count, error);
}

static enum petal_status
create_table(petal_db *db, const petal_table_options *options, petal_table **table,
             petal_error *error)
{
    const petal_allocator *allocator = db->env.allocator;
    petal_slice *splits;
    enum petal_status status = sort_splits(options, &splits, allocator, error);

    if (status == PETAL_OK) {
        struct new_table *made = describe_new(options, splits, allocator);

        status = made != NULL ? table_make_new(db, &made->described, table, error)
                              : error_no_memory(error);
        mem_free(allocator, made, made != NULL ? made->bytes : 0);
    }
    mem_free(allocator, splits, options->split_count * sizeof(petal_slice));
    return status;
}

/* *options: a checked copy of `given`, its families in *families, which the caller frees, also on
 * failure. */
static enum petal_status
read_options(const petal_allocator *allocator, const petal_table_options *given,
             petal_table_options *options, petal_family_options **families, petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_table_options", error);

    *families = NULL;
    if (status == PETAL_OK)
        status = table_name_check(options->name, error);
    if (status == PETAL_OK)
        status = table_attributes_check(options, error);
    if (status == PETAL_OK)
        status = table_resolve_families(allocator, options, families, error);
    return status;
}

enum petal_status
petal_table_check(const petal_table_options *given, petal_error *error)
{
    if (given == NULL)
        return error_null(error, "options");

    petal_table_options options;
    petal_family_options *families;
    petal_slice *splits;
    enum petal_status status;

    error_clear(error);
    status = read_options(&mem_default_allocator, given, &options, &families, error);
    if (status == PETAL_OK) {
        status = sort_splits(&options, &splits, &mem_default_allocator, error);
        mem_free(&mem_default_allocator, splits, options.split_count * sizeof(petal_slice));
    }
    mem_free(&mem_default_allocator, families, options.family_count * sizeof *families);
    return status;
}

enum petal_status
petal_table_create(petal_db *db, const petal_table_options *given, petal_table **table,
                   petal_error *error)
{
    RETURN_IF_NULL(table, error);
    *table = NULL;
    RETURN_IF_NULL(db, error);
    if (given == NULL)
        return error_null(error, "options"); /* there is no default for the name */

    petal_table_options options;
    petal_family_options *families = NULL;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = read_options(db->env.allocator, given, &options, &families, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        options.families = families;
        status = create_table(db, &options, table, error);
    }
    mem_free(db->env.allocator, families, options.family_count * sizeof *families);
    return status;
}

/* ---- drop ---- */

enum petal_status
petal_table_drop(petal_table *table, petal_error *error)
{
    RETURN_IF_NULL(table, error);

    petal_db *db = table->db;
    const struct table_descriptor *descriptor;
    struct write_place place;
    struct change change;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    write_lead_alone(&db->writers.queue, &place);
    mutex_lock(&db->schema.mutex);
    change_begin(&change, db, 0);
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        descriptor = table_descriptor(table);
        for (size_t i = 0; i < descriptor->family_count; i++)
            change_remove_family(&change, descriptor->families[i]);
        manifest_edit_drop_table(&change.edit, table->id);
        status = change_commit(&change, error);
    }
    if (status == PETAL_OK) {
        atomic_store_explicit(&table->dropped, true, memory_order_release);
        table_retire(table);
        change_publish(&change);
    }
    change_end(&change);
    mutex_unlock(&db->schema.mutex);
    write_lead_end(&db->writers.queue, &place);
    db_collect(db);
    return status;
}

/* ---- looking up ---- */

enum petal_status
petal_table_open(petal_db *db, petal_slice name, petal_table **table, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    *table = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(name, error);

    char quoted[160];

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    mutex_lock(&db->schema.mutex);
    *table = table_by_name(&db->schema, name);
    mutex_unlock(&db->schema.mutex);
    if (*table == NULL)
        return error_set(error, PETAL_NOT_FOUND, "Unknown table %s!",
                         error_quote(name, quoted, sizeof quoted));
    return PETAL_OK;
}

/* By namespace, that of names without one being "default"; then by name. */
static int
compare_tables(const void *a, const void *b)
{
    petal_slice first = (*(petal_table *const *)a)->name, second = (*(petal_table *const *)b)->name;
    petal_slice spaces[] = {table_name_namespace(first), table_name_namespace(second)};
    int order;

    for (size_t i = 0; i < 2; i++)
        if (spaces[i].size == 0)
            spaces[i] = slice_from_text("default");
    order = slice_compare(spaces[0], spaces[1]);
    return order != 0 ? order : slice_compare(first, second);
}

enum petal_status
petal_table_list(petal_db *db, bool (*visit)(void *argument, petal_table *table), void *argument,
                 petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(visit, error);

    petal_table **tables = NULL;
    size_t count = 0, capacity = 0;
    enum petal_status status = PETAL_OK;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    mutex_lock(&db->schema.mutex);
    for (petal_table *table = db->schema.tables; status == PETAL_OK && table != NULL;
         table = table->next) {
        void *array = tables;

        if (table_is_dropped(table))
            continue;
        if (!mem_grow(db->env.allocator, &array, &capacity, count, count + 1, sizeof *tables))
            status = error_no_memory(error);
        tables = array;
        if (status == PETAL_OK)
            tables[count++] = table;
    }
    mutex_unlock(&db->schema.mutex);
    if (count > 0)
        qsort(tables, count, sizeof *tables, compare_tables);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        if (!visit(argument, tables[i]))
            break;
    }
    mem_free(db->env.allocator, tables, capacity * sizeof *tables);
    return status;
}

/* ---- handles ---- */

enum petal_status
petal_table_family(petal_table *table, petal_slice name, petal_family **family, petal_error *error)
{
    RETURN_IF_NULL(family, error);
    *family = NULL;
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(name, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    char quoted_family[160], quoted_table[160];

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    for (size_t i = 0; i < descriptor->family_count; i++) {
        if (slice_equal(descriptor->families[i]->name, name)) {
            *family = descriptor->families[i];
            return PETAL_OK;
        }
    }
    return error_set(error, PETAL_NOT_FOUND, "Column family %s does not exist in table %s",
                     error_quote(name, quoted_family, sizeof quoted_family),
                     error_quote(table->name, quoted_table, sizeof quoted_table));
}

enum petal_status
petal_family_check(petal_family *family, petal_error *error)
{
    RETURN_IF_NULL(family, error);

    enum petal_status status;

    if (db_enter(family->table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = family_check_alive(family, error);
    return status == PETAL_OK ? damage_check(family->table->schema, NULL, family, error) : status;
}
