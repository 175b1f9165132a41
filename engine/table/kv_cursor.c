/*
 * kv_cursor.c -- the keys of a key-value table in their order. A cursor of the table gives cells,
 * some at once; those with the empty qualifier are the pairs.
 */
#include "base/argument.h"
#include "base/options.h"
#include "engine/read/options.h"
#include "engine/read/range.h"
#include "engine/state/db.h"

struct petal_kv_cursor {
    petal_db *db;
    petal_cursor *cells;
    const petal_cell *next, *end; /* that were fetched and not given */
};

/* Take the cells of the range: of `options` what a scan has as well. */
static enum petal_status
open_cells(petal_kv *kv, const petal_kv_cursor_options *options, petal_cursor **cells,
           petal_error *error)
{
    petal_column column = {.family = kv->family, .whole_family = true};
    petal_scan_options scan = {.read = {.columns = &column,
                                        .column_count = 1,
                                        .keep_out_of_cache = options->keep_out_of_cache,
                                        .snapshot = options->snapshot,
                                        .deadline_ms = options->deadline_ms},
                               .reversed = options->reversed};
    struct row_range range = {options->from, options->to, options->prefix};
    enum petal_status status;

    RETURN_IF_NO_BYTES(options->from, error);
    RETURN_IF_NO_BYTES(options->to, error);
    RETURN_IF_NO_BYTES(options->prefix, error);
    status = row_range_check(&range, error);
    return status == PETAL_OK ? row_range_open(kv->table, &scan, &range, cells, error) : status;
}

enum petal_status
petal_kv_cursor_open(petal_kv *kv, const petal_kv_cursor_options *given, petal_kv_cursor **cursor,
                     petal_error *error)
{
    RETURN_IF_NULL(cursor, error);
    *cursor = NULL;
    RETURN_IF_NULL(kv, error);

    petal_db *db = kv->table->db;
    petal_kv_cursor_options options;
    petal_kv_cursor *made;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_kv_cursor_options", error);
    if (status != PETAL_OK)
        return status;
    made = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    status = open_cells(kv, &options, &made->cells, error);
    if (status != PETAL_OK) {
        mem_free(db->env.allocator, made, sizeof *made);
        return status;
    }
    *cursor = made;
    return PETAL_OK;
}

static enum petal_status
fetch(petal_kv_cursor *cursor, petal_error *error)
{
    size_t count;
    enum petal_status status =
        petal_cursor_next_many(cursor->cells, SIZE_MAX, &cursor->next, &count, error);

    cursor->end = cursor->next + count;
    return status;
}

enum petal_status
petal_kv_cursor_next(petal_kv_cursor *cursor, bool *found, petal_slice *key, petal_slice *value,
                     petal_error *error)
{
    RETURN_IF_NULL(found, error);
    *found = false;
    RETURN_IF_NULL(key, error);
    *key = slice_make(NULL, 0);
    if (value != NULL)
        *value = slice_make(NULL, 0);
    RETURN_IF_NULL(cursor, error);

    const petal_cell *cell;

    if (db_enter(cursor->db, error) != PETAL_OK)
        return PETAL_INVALID;
    do {
        if (cursor->next == cursor->end) {
            enum petal_status status = fetch(cursor, error);

            if (status != PETAL_OK || cursor->next == cursor->end)
                return status;
        }
        cell = cursor->next++;
    } while (cell->qualifier.size > 0);
    *found = true;
    *key = cell->row;
    if (value != NULL)
        *value = cell->value;
    return PETAL_OK;
}

enum petal_status
petal_kv_cursor_seek(petal_kv_cursor *cursor, petal_slice key, petal_error *error)
{
    RETURN_IF_NULL(cursor, error);
    RETURN_IF_NO_BYTES(key, error);

    enum petal_status status = read_check_key(key, "the key", error);

    if (status != PETAL_OK)
        return status;
    cursor->next = cursor->end = NULL;
    return petal_cursor_seek(cursor->cells, key, NULL, slice_make(NULL, 0), error);
}

void
petal_kv_cursor_close(petal_kv_cursor *cursor)
{
    if (cursor == NULL || db_is_of_another_process(cursor->db))
        return;
    petal_cursor_close(cursor->cells);
    mem_free(cursor->db->env.allocator, cursor, sizeof *cursor);
}
