#include "tools/python/native/map.h"

#include <stdlib.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/names.h"
#include "tools/python/native/pickle.h"
#include "tools/python/native/table_inside.h"

/* A call on a map; each kind takes what it needs. */
struct use {
    py_database *database;
    py_reader *snapshot;
    petal_slice key, value, expected;
    bool has_value, has_expected;
    petal_write_options options;
    petal_delete_rows_options range;
    petal_slice from, to;
    py_call *call;
};

static int
get_now(const struct target *target, const struct use *use)
{
    py_call *call = use->call;
    petal_slice value;
    int status = call_result(call, use->database);
    if (!status)
        status = (int)petal_kv_get(target->map, use->key, call->result, &call->found, &value,
                                   &call->error);
    if (!status) {
        call->bytes = value.data;
        call->size = value.size;
    }
    return status;
}

static int
get_at(const struct target *target, const struct use *use)
{
    py_call *call = use->call;
    petal_slice value;
    petal_read_options options = {.size = sizeof options};
    int status = call_result(call, use->database);
    if (status)
        return status;
    if (!(options.snapshot = reader_lock(use->snapshot, use->database, false)))
        return fail(&call->error, PY_CLOSED, "the snapshot is closed");
    status = (int)petal_kv_multi_get(target->map, &use->key, 1, &options, call->result,
                                     &call->found, &value, &call->error);
    reader_unlock(use->snapshot);
    if (!status) {
        call->bytes = value.data;
        call->size = value.size;
    }
    return status;
}

static int
get(const struct target *target, void *argument, petal_error *error)
{
    const struct use *use = argument;
    (void)error; /* the call's */
    return use->snapshot ? get_at(target, use) : get_now(target, use);
}

int
py_map_get(py_table *map, py_reader *snapshot, const char *key, size_t size, py_call *call)
{
    struct use use = {
        .database = table_database(map), .snapshot = snapshot, .key = {key, size}, .call = call};
    return table_run(map, get, &use, &call->error);
}

/* The arrays that petal_kv_multi_get fills. */
struct many {
    petal_slice *keys, *values;
    bool *found;
    size_t count;
};

static int
read_many(const struct target *target, const struct use *use, struct many *many)
{
    py_call *call = use->call;
    petal_read_options options = {.size = sizeof options};
    if (use->snapshot && !(options.snapshot = reader_lock(use->snapshot, use->database, false)))
        return fail(&call->error, PY_CLOSED, "the snapshot is closed");
    int status = (int)petal_kv_multi_get(target->map, many->keys, many->count, &options,
                                         call->result, many->found, many->values, &call->error);
    if (use->snapshot)
        reader_unlock(use->snapshot);
    if (status)
        return status;
    pickle_begin(call->pickle);
    pickle_list_begin(call->pickle);
    for (size_t i = 0; i < many->count; i++) {
        if (many->found[i])
            pickle_bytes(call->pickle, many->values[i]);
        else
            pickle_none(call->pickle);
    }
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return call_answer(call);
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
py_map_get_many(py_table *map, py_reader *snapshot, const char *keys, size_t size, py_call *call)
{
    struct use use = {
        .database = table_database(map), .snapshot = snapshot, .key = {keys, size}, .call = call};
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
    int status =
        (int)petal_kv_delete_range(target->map, use->from, use->to, &use->range, deleted, error);
    use->call->number = (int64_t)deleted->rows;
    free(deleted);
    return status;
}

int
py_map_delete_range(py_table *map, const char *from, size_t from_size, const char *to,
                    size_t to_size, const char *prefix, size_t prefix_size, py_call *call)
{
    struct use use = {.from = {from, from_size},
                      .to = {to, to_size},
                      .range = {.size = sizeof use.range, .prefix = {prefix, prefix_size}},
                      .call = call};
    return table_run(map, delete_range, &use, &call->error);
}

/* ---- scans ---- */

struct map_scan {
    petal_kv_cursor *cursor;
    bool keys, values;
    uint32_t deadline_ms; /* of each call; the library's is of each step */
    int failed;           /* comes after the keys before it */
    petal_error error;
};

static void
close_scan(void *object)
{
    struct map_scan *scan = object;
    petal_kv_cursor_close(scan->cursor);
    free(scan);
}

static int
open_cursor(const struct target *target, const py_database *database, const py_map_scan *wanted,
            petal_kv_cursor **cursor, petal_error *error)
{
    petal_kv_cursor_options options = {.size = sizeof options,
                                       .from = {wanted->from, wanted->from_size},
                                       .to = {wanted->to, wanted->to_size},
                                       .prefix = {wanted->prefix, wanted->prefix_size},
                                       .reversed = wanted->reversed,
                                       .deadline_ms = wanted->deadline_ms};
    if (wanted->snapshot && !(options.snapshot = reader_lock(wanted->snapshot, database, false)))
        return fail(error, PY_CLOSED, "the snapshot is closed");
    int status = (int)petal_kv_cursor_open(target->map, &options, cursor, error);
    if (wanted->snapshot)
        reader_unlock(wanted->snapshot);
    return status;
}

struct opening {
    const py_map_scan *wanted;
    py_reader **reader;
    py_database *database;
};

static int
open_scan(const struct target *target, void *argument, petal_error *error)
{
    const struct opening *opening = argument;
    struct map_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    scan->keys = opening->wanted->keys;
    scan->values = opening->wanted->values;
    scan->deadline_ms = opening->wanted->deadline_ms;
    int status = open_cursor(target, opening->database, opening->wanted, &scan->cursor, error);
    if (status) {
        free(scan);
        return status;
    }
    return reader_new(opening->database, scan, close_scan, opening->reader, error);
}

int
py_map_scan_open(py_table *map, const py_map_scan *scan, py_reader **reader, petal_error *error)
{
    struct opening opening = {scan, reader, table_database(map)};
    *reader = NULL;
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
        status = (int)petal_kv_cursor_next(scan->cursor, &found, &key, &value, &scan->error);
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
py_map_scan_next(py_reader *reader, size_t most, size_t bytes, py_call *call)
{
    return reader_next(reader, scan_next, most, bytes, call);
}

struct counting {
    const py_database *database;
    py_reader *snapshot;
    py_call *call;
};

static int
count_keys(const struct target *target, void *argument, petal_error *error)
{
    const struct counting *counting = argument;
    py_map_scan wanted = {.snapshot = counting->snapshot};
    petal_kv_cursor *cursor;
    bool found = true;
    int status = open_cursor(target, counting->database, &wanted, &cursor, error);
    if (status)
        return status;
    counting->call->number = -1;
    while (!status && found) {
        petal_slice key;
        counting->call->number++;
        status = (int)petal_kv_cursor_next(cursor, &found, &key, NULL, error);
    }
    petal_kv_cursor_close(cursor);
    return status;
}

int
py_map_count(py_table *map, py_reader *snapshot, py_call *call)
{
    struct counting counting = {table_database(map), snapshot, call};
    return table_run(map, count_keys, &counting, &call->error);
}
