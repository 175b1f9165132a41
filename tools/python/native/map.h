/* Key-value maps: petal_kv_*. A map's handle is a py_table of py_map_open. */
#ifndef TOOLS_PYTHON_NATIVE_MAP_H
#define TOOLS_PYTHON_NATIVE_MAP_H

#include "tools/python/native/table.h"

/* The value is call->bytes until the call's next use, if call->found. */
int py_map_get(py_table *map, py_part *view, const char *key, size_t size, py_call *call);

/* A list of keys, as in read.h: a pickled list of values, None for those that are absent. */
int py_map_get_many(py_table *map, py_part *view, const char *keys, size_t size, py_call *call);

/* has_ttl, ttl_ms: as in petal_write_options. */
int py_map_put(py_table *map, const char *key, size_t key_size, const char *value,
               size_t value_size, int durability, bool has_ttl, int64_t ttl_ms,
               uint32_t deadline_ms, py_call *call);
int py_map_delete(py_table *map, const char *key, size_t size, petal_error *error);

/* Put `value` (NULL: delete) if the key has the value `expected` (NULL: is absent); call->found
 * says whether it was so. */
int py_map_swap(py_table *map, const char *key, size_t key_size, const char *expected,
                size_t expected_size, const char *value, size_t value_size, py_call *call);

/* Delete the keys with from <= key < to, each may be empty; call->number receives how many. */
int py_map_delete_range(py_table *map, const char *from, size_t from_size, const char *to,
                        size_t to_size, py_call *call);

typedef struct py_map_scan {
    py_part *view;         /* as in read.h */
    const char *from, *to; /* the least key, the least above; empty: no end */
    size_t from_size, to_size;
    bool reversed;
    bool keys, values; /* which of them the answers have; with both, they are pairs */
    uint32_t deadline_ms;
} py_map_scan;

int py_map_scan_open(py_table *map, const py_map_scan *scan, py_part **part, petal_error *error);

/* The next keys: a pickled list of at most `most`, and of about `bytes`; empty at the end. */
int py_map_scan_next(py_part *part, size_t most, size_t bytes, py_call *call);

/* Count all keys: call->number. */
int py_map_count(py_table *map, py_part *view, py_call *call);

#endif
