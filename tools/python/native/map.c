#include "tools/python/native/map.h"

#include <stdlib.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/names.h"
#include "tools/python/native/pickle.h"
#include "tools/python/native/table_inside.h"

/* A call on a map; each kind takes what it needs. */
struct use {
    py_database *database;
    py_part *view;
    petal_slice key, value, expected;
    bool has_value, has_expected;
    petal_write_options options;
    petal_slice from, to;
    py_call *call;
};

/* In a transaction a map is a table whose cells have the empty qualifier. */
static petal_family *
family_of(const struct target *target)
{
    return petal_table_family_at(target->table, 0);
}

static int
get_in(petal_transaction *transaction, const struct target *target, petal_slice key,
       petal_result *result, bool *found, petal_slice *value, petal_error *error)
{
    petal_column column = {family_of(target), {NULL, 0}, false};
    petal_read_options options = {.size = sizeof options, .columns = &column, .column_count = 1};
    int status =
        (int)petal_transaction_get(transaction, target->table, key, &options, result, error);
    *found = !status && petal_result_count(result) > 0;
    if (*found)
        *value = petal_result_cell(result, 0)->value;
    return status;
}

static int
get_at(const struct target *target, const struct use *use, petal_slice *value)
{
    py_call *call = use->call;
    struct view view;
    int status = view_lock(use->view, use->database, &view, &call->error);
    if (status)
        return status;
    petal_read_options options = {.size = sizeof options, .snapshot = view.snapshot};
    if (view.transaction)
        status = get_in(view.transaction, target, use->key, call->result, &call->found, value,
                        &call->error);
    else
        status = (int)petal_kv_multi_get(target->map, &use->key, 1, &options, call->result,
                                         &call->found, value, &call->error);
    view_unlock(&view);
    return status;
}

static int
get(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    py_call *call = use->call;
    petal_slice value = {NULL, 0};
    int status = call_result(call, use->database);
    (void)error; /* the call's */
    if (!status && use->view)
        status = get_at(target, use, &value);
    else if (!status)
        status = (int)petal_kv_get(target->map, use->key, call->result, &call->found, &value,
                                   &call->error);
    call->bytes = value.data;
    call->size = value.size;
    return status;
}

int
py_map_get(py_table *map, py_part *view, const char *key, size_t size, py_call *call)
{
    struct use use = {
        .database = table_database(map), .view = view, .key = {key, size}, .call = call};
    return table_run(map, get, &use, &call->error);
}

/* The arrays that petal_kv_multi_get fills. */
struct many {
    petal_slice *keys, *values;
    bool *found;
    size_t count;
};

/* Writes the values that are found; in a transaction each is found here. */
static int
write_many(const struct target *target, py_call *call, const struct many *many,
           petal_transaction *transaction)
{
    int status = PETAL_OK;
    pickle_begin(call->pickle);
    pickle_list_begin(call->pickle);
    for (size_t i = 0; !status && i < many->count; i++) {
        if (transaction)
            status = get_in(transaction, target, many->keys[i], call->result, &many->found[i],
                            &many->values[i], &call->error);
        if (many->found[i])
            pickle_bytes(call->pickle, many->values[i]);
        else
            pickle_none(call->pickle);
    }
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return status ? status : call_answer(call);
}

static int
read_many(const struct target *target, const struct use *use, struct many *many)
{
    py_call *call = use->call;
    struct view view;
    int status = view_lock(use->view, use->database, &view, &call->error);
    if (status)
        return status;
    petal_read_options options = {.size = sizeof options, .snapshot = view.snapshot};
    if (!view.transaction)
        status = (int)petal_kv_multi_get(target->map, many->keys, many->count, &options,
                                         call->result, many->found, many->values, &call->error);
    if (!status)
        status = write_many(target, call, many, view.transaction);
    view_unlock(&view);
    return status;
}

static int
get_many(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    petal_slice list = use->key;
    struct many many = {.count = names_count(list)};
    int status = call_result(use->call, use->database);
    if (status)
        return status;
    many.keys = calloc(2 * many.count + 1, sizeof *many.keys);
    many.found = calloc(many.count + 1, sizeof *many.found);
    if (!many.keys || !many.found)
        status = fail(error, PETAL_NO_MEMORY, "out of memory");
    else {
        many.values = many.keys + many.count;
        for (size_t i = 0; names_take(&list, &many.keys[i]); i++)
            ;
        status = read_many(target, use, &many);
    }
    free(many.keys);
    free(many.found);
    return status;
}

int
py_map_get_many(py_table *map, py_part *view, const char *keys, size_t size, py_call *call)
{
    struct use use = {
        .database = table_database(map), .view = view, .key = {keys, size}, .call = call};
    return table_run(map, get_many, &use, &call->error);
}

static int
put(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    return (int)petal_kv_put(target->map, use->key, use->value, &use->options, error);
}

int
py_map_put(py_table *map, const char *key, size_t key_size, const char *value, size_t value_size,
           int durability, bool has_ttl, int64_t ttl_ms, uint32_t deadline_ms, py_call *call)
{
    struct use use = {.key = {key, key_size},
                      .value = {value, value_size},
                      .options = {.size = sizeof use.options,
                                  .durability = (enum petal_durability)durability,
                                  .has_ttl = has_ttl,
                                  .ttl_ms = ttl_ms,
                                  .deadline_ms = deadline_ms}};
    return table_run(map, put, &use, &call->error);
}

static int
delete_key(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    return (int)petal_kv_delete(target->map, use->key, error);
}

int
py_map_delete(py_table *map, const char *key, size_t size, petal_error *error)
{
    struct use use = {.key = {key, size}};
    return table_run(map, delete_key, &use, error);
}

static int
swap(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    return (int)petal_kv_compare_and_swap(
        target->map, use->key, use->has_expected ? &use->expected : NULL,
        use->has_value ? &use->value : NULL, &use->call->found, error);
}

int
py_map_swap(py_table *map, const char *key, size_t key_size, const char *expected,
            size_t expected_size, const char *value, size_t value_size, py_call *call)
{
    struct use use = {.key = {key, key_size},
                      .expected = {expected, expected_size},
                      .has_expected = expected != NULL,
                      .value = {value, value_size},
                      .has_value = value != NULL,
                      .call = call};
    return table_run(map, swap, &use, &call->error);
}

static int
delete_range(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    petal_deleted_rows *deleted = malloc(sizeof *deleted); /* it has room for a key */
    if (!deleted)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    int status = (int)petal_kv_delete_range(target->map, use->from, use->to, NULL, deleted, error);
    use->call->number = (int64_t)deleted->rows;
    free(deleted);
    return status;
}

int
py_map_delete_range(py_table *map, const char *from, size_t from_size, const char *to,
                    size_t to_size, py_call *call)
{
    struct use use = {.from = {from, from_size}, .to = {to, to_size}, .call = call};
    return table_run(map, delete_range, &use, &call->error);
}

/* ---- scans ---- */

/* The pairs in their order: those of the map, or in a transaction those cells that are pairs. */
struct pairs {
    petal_kv_cursor *keys;
    petal_cursor *cells;
};

struct map_scan {
    struct pairs pairs;
    bool keys, values;
    uint32_t deadline_ms; /* of each call; the library's is of each step */
    int failed;           /* comes after the keys before it */
    petal_error error;
};

static void
pairs_close(const struct pairs *pairs)
{
    petal_kv_cursor_close(pairs->keys);
    petal_cursor_close(pairs->cells);
}

static void
close_scan(void *object)
{
    struct map_scan *scan = object;
    pairs_close(&scan->pairs);
    free(scan);
}

static const struct part_kind scan_kind = {"scan", false, close_scan};

static int
pairs_next(const struct pairs *pairs, bool *found, petal_slice *key, petal_slice *value,
           petal_error *error)
{
    const petal_cell *cell;
    int status;
    if (pairs->keys)
        return (int)petal_kv_cursor_next(pairs->keys, found, key, value, error);
    do
        status = (int)petal_cursor_next(pairs->cells, &cell, error);
    while (!status && cell && cell->qualifier.size);
    *found = !status && cell;
    if (*found) {
        *key = cell->row;
        *value = cell->value;
    }
    return status;
}

static int
open_cells(const struct target *target, petal_transaction *transaction, const py_map_scan *wanted,
           petal_cursor **cells, petal_error *error)
{
    petal_column column = {family_of(target), {NULL, 0}, true};
    petal_slice from = {wanted->from, wanted->from_size}, to = {wanted->to, wanted->to_size};
    petal_scan_options options = {.size = sizeof options,
                                  .read = {.size = sizeof options.read,
                                           .columns = &column,
                                           .column_count = 1,
                                           .deadline_ms = wanted->deadline_ms},
                                  .start_row = wanted->reversed ? to : from,
                                  .stop_row = wanted->reversed ? from : to,
                                  .start_exclusive = wanted->reversed && to.size,
                                  .stop_inclusive = wanted->reversed && from.size,
                                  .reversed = wanted->reversed};
    return (int)petal_transaction_scan(transaction, target->table, &options, cells, error);
}

static int
open_pairs(const struct target *target, const struct view *view, const py_map_scan *wanted,
           struct pairs *pairs, petal_error *error)
{
    petal_kv_cursor_options options = {.size = sizeof options,
                                       .from = {wanted->from, wanted->from_size},
                                       .to = {wanted->to, wanted->to_size},
                                       .reversed = wanted->reversed,
                                       .snapshot = view->snapshot,
                                       .deadline_ms = wanted->deadline_ms};
    *pairs = (struct pairs){NULL, NULL};
    if (view->transaction)
        return open_cells(target, view->transaction, wanted, &pairs->cells, error);
    return (int)petal_kv_cursor_open(target->map, &options, &pairs->keys, error);
}

struct opening {
    const py_map_scan *wanted;
    py_part **part;
    py_database *database;
};

static int
open_scan(const struct target *target, void *argument, petal_error *error)
{
    const struct opening *opening = argument;
    struct view view;
    struct map_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    scan->keys = opening->wanted->keys;
    scan->values = opening->wanted->values;
    scan->deadline_ms = opening->wanted->deadline_ms;
    int status = view_lock(opening->wanted->view, opening->database, &view, error);
    if (!status) {
        status = open_pairs(target, &view, opening->wanted, &scan->pairs, error);
        if (!status) {
            status = part_new(opening->database, &scan_kind, scan,
                              view.transaction ? view.part : NULL, opening->part, error);
            scan = NULL;
        }
        view_unlock(&view);
    }
    free(scan);
    return status;
}

int
py_map_scan_open(py_table *map, const py_map_scan *scan, py_part **part, petal_error *error)
{
    struct opening opening = {scan, part, table_database(map)};
    *part = NULL;
    return table_run(map, open_scan, &opening, error);
}

static int
scan_next(void *object, size_t most, size_t bytes, py_call *call)
{
    struct map_scan *scan = object;
    struct pickle *pickle = call->pickle;
    size_t count = 0;
    bool found = true;
    int status = scan->failed;
    int64_t begun = clock_begin(scan->deadline_ms);
    pickle_begin(pickle);
    pickle_list_begin(pickle);
    while (!status && count < most && pickle->size < bytes) {
        petal_slice key, value;
        status = pairs_next(&scan->pairs, &found, &key, &value, &scan->error);
        if (status || !found)
            break;
        if (scan->keys)
            pickle_bytes(pickle, key);
        if (scan->values)
            pickle_bytes(pickle, value);
        if (scan->keys && scan->values)
            pickle_pair(pickle);
        if (++count % 64 == 0 && clock_is_late(begun, scan->deadline_ms))
            break;
    }
    pickle_list_end(pickle);
    pickle_end(pickle);
    if (status && !count) {
        call->error = scan->error;
        scan->failed = PETAL_OK;
        return status;
    }
    scan->failed = status;
    return call_answer(call);
}

int
py_map_scan_next(py_part *part, size_t most, size_t bytes, py_call *call)
{
    return part_next(part, scan_next, most, bytes, call);
}

static int
count_keys(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    struct view view;
    struct pairs pairs;
    bool found = true;
    int status = view_lock(use->view, use->database, &view, error);
    if (status)
        return status;
    status = open_pairs(target, &view, &(py_map_scan){0}, &pairs, error);
    use->call->number = -1;
    while (!status && found) {
        petal_slice key, value;
        use->call->number++;
        status = pairs_next(&pairs, &found, &key, &value, error);
    }
    pairs_close(&pairs);
    view_unlock(&view);
    return status;
}

int
py_map_count(py_table *map, py_part *view, py_call *call)
{
    struct use use = {.database = table_database(map), .view = view, .call = call};
    return table_run(map, count_keys, &use, &call->error);
}
