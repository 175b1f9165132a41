#include "tools/python/native/table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/pickle.h"
#include "tools/python/native/table_inside.h"

struct py_table {
    py_database *database;
    /* Either may change to the one that has the name now; the former stay valid memory. */
    _Atomic(petal_table *) table;
    _Atomic(petal_kv *) map;
    bool is_map;
    atomic_bool disabled;
    size_t name_size;
    char name[];
};

int
py_table_new(py_database *database, const char *name, size_t size, py_table **table,
             petal_error *error)
{
    *table = NULL;
    if (!database)
        return fail_closed(error);
    py_table *made = calloc(1, sizeof *made + size);
    if (!made)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    if (size)
        memcpy(made->name, name, size);
    made->name_size = size;
    made->database = database_hold(database);
    *table = made;
    return PETAL_OK;
}

void
py_table_free(py_table *table)
{
    if (!table || database_is_foreign(table->database))
        return;
    py_database_free(table->database);
    free(table);
}

py_database *
table_database(const py_table *table)
{
    return table ? table->database : NULL;
}

/* Find what has the name. */
static int
find(py_table *handle, struct target *target, petal_error *error)
{
    int status = (int)petal_table_open(target->db, (petal_slice){handle->name, handle->name_size},
                                       &target->table, error);
    if (!status && handle->is_map)
        status = (int)petal_kv_open(target->db, (petal_slice){handle->name, handle->name_size},
                                    NULL, &target->map, error);
    if (!status) {
        handle->table = target->table;
        handle->map = target->map;
    }
    return status;
}

int
table_run(py_table *handle, table_operation *operation, void *argument, petal_error *error)
{
    int status = database_enter(table_database(handle), error);
    if (status)
        return status;
    struct target target = {database_db(handle->database), handle->table, handle->map};
    if (handle->disabled)
        status = fail(error, PETAL_INVALID, "the table is disabled");
    else if (!target.table && (status = find(handle, &target, error)) != PETAL_OK)
        ;
    else if ((status = operation(&target, argument, error)) == PETAL_NOT_FOUND) {
        /* Either the table is not the one that has the name now, or something else is missing. */
        struct target now = {target.db, NULL, NULL};
        petal_error first = *error;
        status = find(handle, &now, error);
        if (!status && now.table != target.table)
            status = operation(&now, argument, error);
        else if (!status) {
            *error = first;
            status = PETAL_NOT_FOUND;
        }
    }
    database_leave(handle->database);
    return status;
}

/* ---- maps ---- */

int
py_map_open(py_database *database, const char *name, size_t size,
            const petal_family_options *options, py_table **map, petal_error *error)
{
    petal_kv *kv;
    *map = NULL;
    py_table *made;
    int status = py_table_new(database, name, size, &made, error);
    if (status)
        return status;
    status = database_enter(database, error);
    if (!status) {
        status = (int)petal_kv_open(database_db(database), (petal_slice){name, size}, options, &kv,
                                    error);
        if (!status) {
            made->is_map = true;
            made->map = kv;
            made->table = petal_kv_table(kv);
        }
        database_leave(database);
    }
    if (status)
        py_table_free(made);
    else
        *map = made;
    return status;
}

/* ---- tables ---- */

int
py_table_create(py_database *database, const petal_table_options *options, petal_error *error)
{
    petal_table *table;
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_table_create(database_db(database), options, &table, error);
    database_leave(database);
    return status;
}

static int
alter(const struct target *target, void *options, petal_error *error)
{
    return (int)petal_table_alter(target->table, options, error);
}

int
py_table_alter(py_table *table, const petal_table_options *options, petal_error *error)
{
    petal_table_options copy = *options;
    return table_run(table, alter, &copy, error);
}

static int
drop(const struct target *target, void *argument, petal_error *error)
{
    (void)argument;
    return (int)petal_table_drop(target->table, error);
}

int
py_table_drop(py_table *table, petal_error *error)
{
    if (!table)
        return fail_closed(error);
    /* Tables are disabled before they are dropped. */
    bool disabled = atomic_exchange(&table->disabled, false);
    int status = table_run(table, drop, NULL, error);
    if (status)
        table->disabled = disabled;
    return status;
}

static int
truncate_table(const struct target *target, void *argument, petal_error *error)
{
    petal_table *truncated;
    (void)argument;
    return (int)petal_table_truncate(target->table, &truncated, error);
}

int
py_table_truncate(py_table *table, petal_error *error)
{
    return table_run(table, truncate_table, NULL, error);
}

static int
flush(const struct target *target, void *argument, petal_error *error)
{
    (void)argument;
    return (int)petal_flush(target->db, target->table, error);
}

int
py_table_flush(py_table *table, petal_error *error)
{
    return table_run(table, flush, NULL, error);
}

static int
compact(const struct target *target, void *argument, petal_error *error)
{
    (void)argument;
    return (int)petal_compact(target->table, NULL, error);
}

int
py_table_compact(py_table *table, petal_error *error)
{
    return table_run(table, compact, NULL, error);
}

/* What a handle of a dropped table says is not the truth, so the name decides. */
static int
look_up(const struct target *target, void *found, petal_error *error)
{
    return (int)petal_table_open(target->db, petal_table_name(target->table), found, error);
}

int
py_table_check(py_table *table, petal_error *error)
{
    petal_table *found;
    return table_run(table, look_up, &found, error);
}

static int
describe(const struct target *target, void *argument, petal_error *error)
{
    py_call *call = argument;
    petal_table *table;
    petal_table_options options = PETAL_DEFAULTS;
    int status = look_up(target, &table, error);
    if (status)
        return status;
    petal_table_describe(table, &options);
    petal_family_options *families =
        realloc(call->families, options.family_count * sizeof *families);
    if (!families)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    call->families = families;
    call->number = (int64_t)options.family_count;
    pickle_begin(call->pickle);
    pickle_list_begin(call->pickle);
    for (size_t i = 0; i < options.family_count; i++) {
        families[i] = options.families[i];
        pickle_bytes(call->pickle, families[i].name);
        /* They are the database's, which may be closed before the caller looks. */
        families[i].name = (petal_slice){0};
        families[i].attributes = NULL;
        families[i].attribute_count = 0;
    }
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return call_answer(call);
}

int
py_table_describe(py_table *table, py_call *call)
{
    return table_run(table, describe, call, &call->error);
}

/* ---- regions ---- */

static bool
add_region(void *argument, const petal_region_info *info)
{
    struct pickle *pickle = argument;
    pickle_list_begin(pickle);
    pickle_number(pickle, info->id);
    pickle_bytes(pickle, info->start);
    pickle_bytes(pickle, info->end);
    pickle_number(pickle, (int64_t)info->files);
    pickle_number(pickle, (int64_t)info->file_bytes);
    pickle_number(pickle, (int64_t)info->memtable_bytes);
    pickle_number(pickle, (int64_t)info->cells);
    pickle_list_end(pickle);
    return true;
}

static int
list_regions(const struct target *target, void *argument, petal_error *error)
{
    py_call *call = argument;
    pickle_begin(call->pickle);
    pickle_list_begin(call->pickle);
    int status = (int)petal_table_regions(target->table, add_region, call->pickle, error);
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return status ? status : call_answer(call);
}

int
py_table_regions(py_table *table, py_call *call)
{
    return table_run(table, list_regions, call, &call->error);
}

/* What petal_table_split and petal_table_merge take. */
struct regions {
    petal_slice row;
    uint32_t region, other;
};

static int
split(const struct target *target, void *argument, petal_error *error)
{
    const struct regions *of = argument;
    return (int)petal_table_split(target->table, of->row, of->region, error);
}

int
py_table_split(py_table *table, const char *row, size_t row_size, uint32_t region,
               petal_error *error)
{
    struct regions of = {.row = {row, row_size}, .region = region};
    return table_run(table, split, &of, error);
}

static int
merge(const struct target *target, void *argument, petal_error *error)
{
    const struct regions *of = argument;
    return (int)petal_table_merge(target->table, of->region, of->other, error);
}

int
py_table_merge(py_table *table, uint32_t region, uint32_t other, petal_error *error)
{
    struct regions of = {.region = region, .other = other};
    return table_run(table, merge, &of, error);
}

void
py_table_disable(py_table *table, bool disabled)
{
    if (table)
        table->disabled = disabled;
}

bool
py_table_is_disabled(const py_table *table)
{
    return table && table->disabled;
}
