/*
 * null_arguments_test.c -- NULL where a function of petal.h must be given something is
 * PETAL_INVALID, or nothing happens; it names the argument, and never crashes. So is NULL inside
 * what arguments point to. The error itself may always be NULL.
 */

#include "base/slice.h"
#include "base/vfs_posix.h"
#include "tests/support/null_arguments.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

struct state {
    char *directory, *other; /* of the database; that is not there yet */
    petal_db *db;
    petal_table *table;
    petal_family *family;
    petal_kv *kv;
    petal_batch *batch;
    petal_result *result;
    petal_receipt *receipt;
    petal_filter *filter;
    petal_snapshot *snapshot;
    petal_cursor *cursor;
    petal_bulk *bulk;
    petal_transaction *transaction;
};

/* What is asked for here needs no durable file, and hundreds of databases are made. */
static int
sync_nothing(void *context, petal_file *file)
{
    (void)context;
    (void)file;
    return 0;
}

static int
sync_no_names(void *context, petal_directory *directory)
{
    (void)context;
    (void)directory;
    return 0;
}

static const petal_env *
quick_env(void)
{
    static petal_vfs vfs;
    static const petal_env env = {.vfs = &vfs};

    vfs = vfs_posix;
    vfs.sync = sync_nothing;
    vfs.sync_directory = sync_no_names;
    vfs.sync_parent = sync_no_names;
    return &env;
}

static void
open_database(struct state *state)
{
    petal_options options = {.create = true, .env = quick_env()};
    petal_family_options family = {.name = text("cf")};
    petal_table_options table = {.name = text("t"), .families = &family, .family_count = 1};
    petal_error error;

    must(petal_open(state->directory, &options, &state->db, &error), &error);
    must(petal_table_create(state->db, &table, &state->table, &error), &error);
    state->family = petal_table_family_at(state->table, 0);
    must(petal_put(state->family, text("row"), text("q"), 1, text("value"), NULL, &error), &error);
    must(petal_table_snapshot_create(state->table, text("taken"), NULL, &error), &error);
    must(petal_kv_open(state->db, text("kv"), NULL, &state->kv, &error), &error);
}

static void *
make_state(void)
{
    struct state *state = test_allocate(sizeof *state);
    petal_read_options read = {.size = sizeof read};
    petal_error error;

    memset(state, 0, sizeof *state);
    state->directory = test_directory_new();
    state->other = test_path(state->directory, "other");
    open_database(state);
    must(petal_batch_new(state->db, &state->batch, &error), &error);
    must(petal_result_new(state->db, &state->result, &error), &error);
    must(petal_receipt_new(state->db, &state->receipt, &error), &error);
    read.receipt = state->receipt;
    must(petal_get(state->table, text("row"), &read, state->result, &error), &error);
    must(petal_filter_parse(state->db, text("KeyOnlyFilter()"), &state->filter, &error), &error);
    must(petal_snapshot_new(state->db, &state->snapshot, &error), &error);
    must(petal_cursor_open(state->table, NULL, &state->cursor, &error), &error);
    must(petal_bulk_begin(state->table, NULL, &state->bulk, &error), &error);
    must(petal_transaction_begin(state->db, NULL, &state->transaction, &error), &error);
    return state;
}

/* What is to be freed before the database. */
static void
free_parts(struct state *state)
{
    petal_batch_free(state->batch);
    petal_result_free(state->result);
    petal_receipt_free(state->receipt);
    petal_filter_free(state->filter);
    petal_snapshot_free(state->snapshot);
    petal_cursor_close(state->cursor);
    petal_bulk_free(state->bulk);
    petal_transaction_abort(state->transaction);
    state->batch = NULL;
    state->result = NULL;
    state->receipt = NULL;
    state->filter = NULL;
    state->snapshot = NULL;
    state->cursor = NULL;
    state->bulk = NULL;
    state->transaction = NULL;
}

static void
free_state(void *made)
{
    struct state *state = made;
    petal_error error;

    free_parts(state);
    must(petal_close(state->db, &error), &error);
    test_directory_free(state->directory);
    free(state->other);
    free(state);
}

/* ---- the rows ---- */

#define S ((struct state *)state)

static bool
visit_table(void *argument, petal_table *table)
{
    (void)argument;
    (void)table;
    return true;
}

static bool
visit_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    (void)argument;
    (void)info;
    return true;
}

static bool
visit_region(void *argument, const petal_region_info *info)
{
    (void)argument;
    (void)info;
    return true;
}

/* Their number, and the ids of the first two. */
static bool
note_region(void *argument, const petal_region_info *info)
{
    uint32_t *ids = argument;

    if (++ids[0] <= 2)
        ids[ids[0]] = info->id;
    return true;
}

static bool
visit_file(void *argument, const petal_file_info *info)
{
    (void)argument;
    (void)info;
    return true;
}

static uint64_t
address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

NULL_CALL(petal_version, NULL_ANYTHING, address(petal_version()))
NULL_CALL(petal_status_text, NULL_ANYTHING, address(petal_status_text(PETAL_OK)))
NULL_CALL(petal_text, NULL_ZERO, petal_text(GIVEN(text, "t")).size)
NULL_CALL(petal_skip_text, NULL_ANYTHING, address(petal_skip_text(PETAL_SKIP_NONE)))
NULL_CALL(petal_hidden_text, NULL_ANYTHING, address(petal_hidden_text(PETAL_HIDDEN_DELETE)))
NULL_CALL(petal_filter_name, NULL_ANYTHING, address(petal_filter_name(0)))

NULL_ROW(petal_open, NULL_STATUS)
{
    petal_options create = {.create = true, .env = quick_env()};
    static petal_db *db;
    enum petal_status status = petal_open(GIVEN(directory, S->other), &create, OUT(db, db), ERROR);

    /* Without options it has to be there. */
    if (status == PETAL_OK)
        status = petal_close(db, NULL);
    if (status == PETAL_OK)
        status = petal_open(S->other, OPTIONAL(options, &create), &db, ERROR);
    if (status == PETAL_OK)
        status = petal_close(db, NULL);
    return status;
}

NULL_ROW(petal_refresh, NULL_STATUS)
{
    return petal_refresh(GIVEN(db, S->db), ERROR);
}

NULL_ROW(petal_close, NULL_STATUS)
{
    uint64_t status;

    free_parts(S);
    status = petal_close(OPTIONAL(db, S->db), ERROR);
    if (!null_is("db", false))
        S->db = NULL;
    return status;
}

NULL_ROW(petal_table_create, NULL_STATUS)
{
    petal_family_options family = {.name = text("cf")};
    petal_table_options options = {.name = text("new"), .families = &family, .family_count = 1};
    static petal_table *table;

    return petal_table_create(GIVEN(db, S->db), GIVEN(options, &options), OUT(table, table), ERROR);
}

NULL_ROW(petal_table_check, NULL_STATUS)
{
    petal_family_options family = {.name = text("cf")};
    petal_table_options options = {.name = text("new"), .families = &family, .family_count = 1};

    return petal_table_check(GIVEN(options, &options), ERROR);
}

NULL_GIVES(petal_table_open, petal_table *,
           petal_table_open(GIVEN(db, S->db), BYTES(name, "t"), OUT(table, made), ERROR))
NULL_CALL(petal_table_drop, NULL_STATUS, petal_table_drop(GIVEN(table, S->table), ERROR))
NULL_GIVES(petal_table_truncate, petal_table *,
           petal_table_truncate(GIVEN(table, S->table), OUT(truncated, made), ERROR))

NULL_ROW(petal_table_alter, NULL_STATUS)
{
    petal_family_options family = {.name = text("cf"), .versions = 2};
    petal_table_options options = {.families = &family, .family_count = 1};

    return petal_table_alter(GIVEN(table, S->table), GIVEN(options, &options), ERROR);
}

NULL_ROW(petal_table_describe, NULL_ZERO)
{
    petal_table_options options = {.size = sizeof options};

    petal_table_describe(GIVEN(table, S->table), GIVEN(options, &options));
    return options.family_count;
}

NULL_CALL(petal_table_list, NULL_STATUS,
          petal_table_list(GIVEN(db, S->db), GIVEN(visit, visit_table), OPTIONAL(argument, state),
                           ERROR))
NULL_CALL(petal_table_name, NULL_ZERO, petal_table_name(GIVEN(table, S->table)).size)
NULL_CALL(petal_table_durability, NULL_ZERO, petal_table_durability(GIVEN(table, S->table)))
NULL_CALL(petal_table_family_count, NULL_ZERO, petal_table_family_count(GIVEN(table, S->table)))
NULL_CALL(petal_table_family_at, NULL_ZERO,
          address(petal_table_family_at(GIVEN(table, S->table), 0)))
NULL_GIVES(petal_table_family, petal_family *,
           petal_table_family(GIVEN(table, S->table), BYTES(name, "cf"), OUT(family, made), ERROR))

NULL_ROW(petal_family_describe, NULL_ZERO)
{
    petal_family_options options = {.size = sizeof options};

    petal_family_describe(GIVEN(family, S->family), GIVEN(options, &options));
    return options.versions;
}

NULL_CALL(petal_family_name, NULL_ZERO, petal_family_name(GIVEN(family, S->family)).size)
NULL_CALL(petal_family_check, NULL_STATUS, petal_family_check(GIVEN(family, S->family), ERROR))
NULL_CALL(petal_table_snapshot_create, NULL_STATUS,
          petal_table_snapshot_create(GIVEN(table, S->table), BYTES(name, "new"),
                                      OPTIONAL(options, SIZED(petal_table_snapshot_options)),
                                      ERROR))
NULL_CALL(petal_table_snapshot_list, NULL_STATUS,
          petal_table_snapshot_list(GIVEN(db, S->db), GIVEN(visit, visit_snapshot),
                                    OPTIONAL(argument, state), ERROR))
NULL_GIVES(petal_table_snapshot_clone, petal_table *,
           petal_table_snapshot_clone(GIVEN(db, S->db), BYTES(snapshot, "taken"),
                                      BYTES(table_name, "clone"), OUT(table, made), ERROR))
NULL_GIVES(petal_table_snapshot_restore, petal_table *,
           petal_table_snapshot_restore(GIVEN(db, S->db), BYTES(snapshot, "taken"),
                                        OUT(table, made), ERROR))
NULL_CALL(petal_table_snapshot_delete, NULL_STATUS,
          petal_table_snapshot_delete(GIVEN(db, S->db), BYTES(snapshot, "taken"), ERROR))
NULL_MAKES(petal_result_new, petal_result *, petal_result_free,
           petal_result_new(GIVEN(db, S->db), OUT(result, made), ERROR))
NULL_FREES(petal_result_free, result, struct state)
NULL_CALL(petal_result_count, NULL_ZERO, petal_result_count(GIVEN(result, S->result)))
NULL_CALL(petal_result_cell, NULL_ZERO, address(petal_result_cell(GIVEN(result, S->result), 0)))
NULL_CALL(petal_put, NULL_STATUS,
          petal_put(GIVEN(family, S->family), BYTES(row, "r"), BYTES(qualifier, "q"), PETAL_LATEST,
                    BYTES(value, "v"), OPTIONAL(options, SIZED(petal_write_options)), ERROR))
NULL_CALL(petal_delete, NULL_STATUS,
          petal_delete(GIVEN(family, S->family), BYTES(row, "r"), BYTES(qualifier, "q"),
                       PETAL_LATEST, PETAL_DELETE_COLUMN,
                       OPTIONAL(options, SIZED(petal_write_options)), ERROR))
NULL_CALL(petal_append, NULL_STATUS,
          petal_append(GIVEN(family, S->family), BYTES(row, "r"), BYTES(qualifier, "q"),
                       BYTES(value, "v"), OPTIONAL(options, SIZED(petal_write_options)), ERROR))

NULL_ROW(petal_increment, NULL_STATUS)
{
    petal_write_options options = {.size = sizeof options};
    int64_t sum;

    return petal_increment(GIVEN(family, S->family), BYTES(row, "r"), BYTES(qualifier, "n"), 1,
                           OPTIONAL(options, &options), OPTIONAL(sum, &sum), ERROR);
}

NULL_MAKES(petal_batch_new, petal_batch *, petal_batch_free,
           petal_batch_new(GIVEN(db, S->db), OUT(batch, made), ERROR))
NULL_FREES(petal_batch_free, batch, struct state)

NULL_ROW(petal_batch_clear, NULL_ZERO)
{
    petal_batch_clear(GIVEN(batch, S->batch));
    return 0;
}

NULL_CALL(petal_batch_count, NULL_ZERO, petal_batch_count(GIVEN(batch, S->batch)))
NULL_CALL(petal_batch_mutation, NULL_STATUS,
          petal_batch_mutation(GIVEN(batch, S->batch),
                               OPTIONAL(options, SIZED(petal_mutation_options)), ERROR))
NULL_CALL(petal_batch_put, NULL_STATUS,
          petal_batch_put(GIVEN(batch, S->batch), GIVEN(family, S->family), BYTES(row, "r"),
                          BYTES(qualifier, "q"), 1, BYTES(value, "v"), ERROR))
NULL_CALL(petal_batch_delete, NULL_STATUS,
          petal_batch_delete(GIVEN(batch, S->batch), GIVEN(family, S->family), BYTES(row, "r"),
                             BYTES(qualifier, "q"), 1, PETAL_DELETE_COLUMN, ERROR))
NULL_CALL(petal_batch_delete_row, NULL_STATUS,
          petal_batch_delete_row(GIVEN(batch, S->batch), GIVEN(table, S->table), BYTES(row, "r"), 1,
                                 ERROR))
NULL_CALL(petal_delete_row, NULL_STATUS,
          petal_delete_row(GIVEN(table, S->table), BYTES(row, "r"), 1,
                           OPTIONAL(options, SIZED(petal_write_options)), ERROR))

NULL_ROW(petal_delete_rows, NULL_STATUS)
{
    petal_delete_rows_options options = {.size = sizeof options};
    static petal_deleted_rows deleted;

    return petal_delete_rows(GIVEN(table, S->table), BYTES(from, "a"), BYTES(to, "z"),
                             OPTIONAL(options, &options), OPTIONAL(deleted, &deleted), ERROR);
}

NULL_CALL(petal_batch_append, NULL_STATUS,
          petal_batch_append(GIVEN(batch, S->batch), GIVEN(family, S->family), BYTES(row, "r"),
                             BYTES(qualifier, "q"), BYTES(value, "v"), ERROR))
NULL_CALL(petal_batch_increment, NULL_STATUS,
          petal_batch_increment(GIVEN(batch, S->batch), GIVEN(family, S->family), BYTES(row, "r"),
                                BYTES(qualifier, "q"), 1, ERROR))
NULL_CALL(petal_write, NULL_STATUS,
          petal_write(GIVEN(db, S->db), GIVEN(batch, S->batch),
                      OPTIONAL(options, SIZED(petal_write_options)), ERROR))
NULL_MAKES(petal_bulk_begin, petal_bulk *, petal_bulk_free,
           petal_bulk_begin(GIVEN(table, S->table), OPTIONAL(options, SIZED(petal_bulk_options)),
                            OUT(bulk, made), ERROR))

NULL_ROW(petal_bulk_add, NULL_STATUS)
{
    petal_cell cell = {.row = text("r"), .timestamp = 1, .type = PETAL_PUT};

    return petal_bulk_add(GIVEN(bulk, S->bulk), GIVEN(family, S->family), GIVEN(cell, &cell),
                          ERROR);
}

NULL_CALL(petal_bulk_commit, NULL_STATUS, petal_bulk_commit(GIVEN(bulk, S->bulk), ERROR))
NULL_FREES(petal_bulk_free, bulk, struct state)

NULL_MAKES(petal_transaction_begin, petal_transaction *, petal_transaction_abort,
           petal_transaction_begin(GIVEN(db, S->db),
                                   OPTIONAL(options, SIZED(petal_transaction_options)),
                                   OUT(transaction, made), ERROR))
NULL_FREES(petal_transaction_abort, transaction, struct state)
NULL_CALL(petal_transaction_get, NULL_STATUS,
          petal_transaction_get(GIVEN(transaction, S->transaction), GIVEN(table, S->table),
                                BYTES(row, "row"), OPTIONAL(options, SIZED(petal_read_options)),
                                GIVEN(result, S->result), ERROR))

NULL_ROW(petal_transaction_multi_get, NULL_STATUS)
{
    petal_slice row = petal_text("row");

    return petal_transaction_multi_get(
        GIVEN(transaction, S->transaction), GIVEN(table, S->table), GIVEN(rows, &row), 1,
        OPTIONAL(options, SIZED(petal_read_options)), GIVEN(results, &S->result), ERROR);
}

NULL_MAKES(petal_transaction_scan, petal_cursor *, petal_cursor_close,
           petal_transaction_scan(GIVEN(transaction, S->transaction), GIVEN(table, S->table),
                                  OPTIONAL(options, SIZED(petal_scan_options)), OUT(cursor, made),
                                  ERROR))
NULL_CALL(petal_transaction_put, NULL_STATUS,
          petal_transaction_put(GIVEN(transaction, S->transaction), GIVEN(family, S->family),
                                BYTES(row, "row"), BYTES(qualifier, "q"), PETAL_LATEST,
                                BYTES(value, "v"), OPTIONAL(options, SIZED(petal_mutation_options)),
                                ERROR))
NULL_CALL(petal_transaction_delete, NULL_STATUS,
          petal_transaction_delete(GIVEN(transaction, S->transaction), GIVEN(family, S->family),
                                   BYTES(row, "row"), BYTES(qualifier, "q"), PETAL_LATEST,
                                   PETAL_DELETE, ERROR))
NULL_CALL(petal_transaction_delete_row, NULL_STATUS,
          petal_transaction_delete_row(GIVEN(transaction, S->transaction), GIVEN(table, S->table),
                                       BYTES(row, "row"), PETAL_LATEST, ERROR))
NULL_CALL(petal_transaction_append, NULL_STATUS,
          petal_transaction_append(GIVEN(transaction, S->transaction), GIVEN(family, S->family),
                                   BYTES(row, "appended"), BYTES(qualifier, "q"), BYTES(value, "v"),
                                   ERROR))

NULL_ROW(petal_transaction_increment, NULL_STATUS)
{
    static int64_t sum;

    return petal_transaction_increment(GIVEN(transaction, S->transaction), GIVEN(family, S->family),
                                       BYTES(row, "counted"), BYTES(qualifier, "q"), 1,
                                       OPTIONAL(sum, &sum), ERROR);
}

NULL_ROW(petal_transaction_commit, NULL_STATUS)
{
    petal_transaction *its = GIVEN(transaction, S->transaction);

    if (its != NULL)
        S->transaction = NULL;
    return petal_transaction_commit(its, ERROR);
}
NULL_MAKES(petal_filter_parse, petal_filter *, petal_filter_free,
           petal_filter_parse(GIVEN(db, S->db), BYTES(text, "KeyOnlyFilter()"), OUT(filter, made),
                              ERROR))

NULL_ROW(petal_filter_make, NULL_STATUS)
{
    petal_filter_argument arguments[] = {{.kind = PETAL_FILTER_NUMBER, .number = 1}};
    static petal_filter *filter;
    enum petal_status status =
        petal_filter_make(GIVEN(db, S->db), GIVEN(name, "PageFilter"), GIVEN(arguments, arguments),
                          1, OUT(filter, filter), ERROR);

    if (status == PETAL_OK)
        petal_filter_free(filter);
    return status;
}

NULL_ROW(petal_filter_combine, NULL_STATUS)
{
    petal_filter *const members[] = {S->filter, S->filter};
    static petal_filter *filter;
    enum petal_status status = petal_filter_combine(
        GIVEN(db, S->db), PETAL_FILTER_AND, GIVEN(members, members), 2, OUT(filter, filter), ERROR);

    if (status == PETAL_OK)
        petal_filter_free(filter);
    return status;
}

NULL_FREES(petal_filter_free, filter, struct state)

NULL_ROW(petal_mutate_row, NULL_STATUS)
{
    petal_condition condition = {.family = S->family, .qualifier = text("q"), .absent = true};
    petal_write_options options = {.size = sizeof options};
    bool applied;

    return petal_mutate_row(GIVEN(table, S->table), BYTES(row, "r"),
                            OPTIONAL(condition, &condition), GIVEN(batch, S->batch),
                            OPTIONAL(options, &options), OPTIONAL(applied, &applied), ERROR);
}

NULL_MAKES(petal_snapshot_new, petal_snapshot *, petal_snapshot_free,
           petal_snapshot_new(GIVEN(db, S->db), OUT(snapshot, made), ERROR))
NULL_FREES(petal_snapshot_free, snapshot, struct state)
NULL_CALL(petal_get, NULL_STATUS,
          petal_get(GIVEN(table, S->table), BYTES(row, "row"),
                    OPTIONAL(options, SIZED(petal_read_options)), GIVEN(result, S->result), ERROR))

NULL_ROW(petal_multi_get, NULL_STATUS)
{
    petal_read_options options = {.size = sizeof options};
    const petal_slice rows[] = {text("row")};

    return petal_multi_get(GIVEN(table, S->table), GIVEN(rows, rows), 1,
                           OPTIONAL(options, &options), GIVEN(results, &S->result), ERROR);
}

NULL_MAKES(petal_cursor_open, petal_cursor *, petal_cursor_close,
           petal_cursor_open(GIVEN(table, S->table), OPTIONAL(options, SIZED(petal_scan_options)),
                             OUT(cursor, made), ERROR))
NULL_GIVES(petal_cursor_next, const petal_cell *,
           petal_cursor_next(GIVEN(cursor, S->cursor), OUT(cell, made), ERROR))

NULL_ROW(petal_cursor_next_many, NULL_STATUS)
{
    static const petal_cell *cells;
    size_t count;

    return petal_cursor_next_many(GIVEN(cursor, S->cursor), 10, OUT(cells, cells),
                                  GIVEN(count, &count), ERROR);
}

NULL_CALL(petal_cursor_next_row, NULL_STATUS,
          petal_cursor_next_row(GIVEN(cursor, S->cursor), GIVEN(result, S->result), ERROR))
NULL_CALL(petal_cursor_seek, NULL_STATUS,
          petal_cursor_seek(GIVEN(cursor, S->cursor), BYTES(row, "row"),
                            OPTIONAL(family, S->family), BYTES(qualifier, "q"), ERROR))
NULL_FREES(petal_cursor_close, cursor, struct state)
NULL_MAKES(petal_receipt_new, petal_receipt *, petal_receipt_free,
           petal_receipt_new(GIVEN(db, S->db), OUT(receipt, made), ERROR))
NULL_FREES(petal_receipt_free, receipt, struct state)
NULL_CALL(petal_receipt_count, NULL_ZERO, petal_receipt_count(GIVEN(receipt, S->receipt)))
NULL_CALL(petal_receipt_at, NULL_ZERO, address(petal_receipt_at(GIVEN(receipt, S->receipt), 0)))
NULL_CALL(petal_receipt_cells_hidden, NULL_ZERO,
          petal_receipt_cells_hidden(GIVEN(receipt, S->receipt)))
NULL_CALL(petal_receipt_hidden, NULL_ZERO,
          petal_receipt_hidden(GIVEN(receipt, S->receipt), PETAL_HIDDEN_DELETE))
NULL_CALL(petal_receipt_hidden_count, NULL_ZERO,
          petal_receipt_hidden_count(GIVEN(receipt, S->receipt)))

NULL_ROW(petal_receipt_hidden_at, NULL_ZERO)
{
    petal_hidden_cell cell;

    return petal_receipt_hidden_at(GIVEN(receipt, S->receipt), 0, GIVEN(cell, &cell));
}

NULL_CALL(petal_receipt_bytes_returned, NULL_ZERO,
          petal_receipt_bytes_returned(GIVEN(receipt, S->receipt)))
NULL_CALL(petal_flush, NULL_STATUS, petal_flush(GIVEN(db, S->db), OPTIONAL(table, S->table), ERROR))
NULL_CALL(petal_compact, NULL_STATUS,
          petal_compact(GIVEN(table, S->table), OPTIONAL(family, S->family), ERROR))
NULL_CALL(petal_table_compaction_state, NULL_ZERO,
          petal_table_compaction_state(GIVEN(table, S->table)))
NULL_CALL(petal_wait_idle, NULL_STATUS, petal_wait_idle(GIVEN(db, S->db), ERROR))
NULL_CALL(petal_checkpoint, NULL_STATUS,
          petal_checkpoint(GIVEN(db, S->db), GIVEN(directory, S->other), ERROR))

NULL_ROW(petal_backup, NULL_STATUS)
{
    petal_backup_report report;
    char *destination = test_directory_new(); /* not in the database's, where S->other is */
    uint64_t status = petal_backup(GIVEN(db, S->db), GIVEN(destination, destination),
                                   OPTIONAL(options, SIZED(petal_backup_options)),
                                   OPTIONAL(report, &report), ERROR);

    test_directory_free(destination);
    return status;
}

NULL_ROW(petal_stats_get, NULL_ZERO)
{
    petal_stats stats = {.gets = 0};

    petal_stats_get(GIVEN(db, S->db), GIVEN(stats, &stats));
    return stats.gets;
}

NULL_ROW(petal_stats_latency, NULL_ZERO)
{
    uint64_t timed;

    return petal_stats_latency(GIVEN(db, S->db), PETAL_LATENCY_GET, 50, OPTIONAL(timed, &timed));
}

NULL_ROW(petal_stats_text, NULL_STATUS)
{
    static char *made;
    size_t size;
    enum petal_status status = petal_stats_text(GIVEN(db, S->db), PETAL_PROMETHEUS, OUT(text, made),
                                                OPTIONAL(size, &size), ERROR);

    if (status == PETAL_OK)
        petal_stats_text_free(made);
    return status;
}

NULL_ROW(petal_stats_text_free, NULL_ZERO)
{
    petal_stats_text_free(GIVEN(text, NULL));
    return 0;
}

NULL_CALL(petal_table_regions, NULL_STATUS,
          petal_table_regions(GIVEN(table, S->table), GIVEN(visit, visit_region),
                              OPTIONAL(argument, state), ERROR))

/* Each time in two that are there again. */
NULL_ROW(petal_table_split, NULL_STATUS)
{
    uint32_t ids[3] = {0};
    enum petal_status status = petal_table_split(GIVEN(table, S->table), BYTES(row, "m"), 0, ERROR);

    MUST(petal_table_regions(S->table, note_region, ids, WHY));
    if (ids[0] == 2)
        MUST(petal_table_merge(S->table, ids[1], ids[2], WHY));
    return status;
}

NULL_ROW(petal_table_merge, NULL_STATUS)
{
    uint32_t ids[3] = {0};

    MUST(petal_table_regions(S->table, note_region, ids, WHY));
    if (ids[0] == 1)
        MUST(petal_table_split(S->table, text("m"), 0, WHY));
    MUST(petal_table_regions(S->table, note_region, memset(ids, 0, sizeof ids), WHY));
    return petal_table_merge(GIVEN(table, S->table), ids[1], ids[2], ERROR);
}

NULL_CALL(petal_table_files, NULL_STATUS,
          petal_table_files(GIVEN(table, S->table), GIVEN(visit, visit_file),
                            OPTIONAL(argument, state), ERROR))
NULL_CALL(petal_table_memtable_bytes, NULL_ZERO, petal_table_memtable_bytes(GIVEN(table, S->table)))
NULL_CALL(petal_table_verify, NULL_STATUS, petal_table_verify(GIVEN(table, S->table), ERROR))
NULL_CALL(petal_table_verify_watched, NULL_STATUS,
          petal_table_verify_watched(GIVEN(table, S->table),
                                     OPTIONAL(options, SIZED(petal_check_options)), ERROR))

NULL_ROW(petal_cache_clear, NULL_STATUS)
{
    uint64_t blocks;

    return petal_cache_clear(GIVEN(db, S->db), OPTIONAL(table, S->table), GIVEN(blocks, &blocks),
                             ERROR);
}

/* A copy, since nobody may have it open. */
static void
copy_database(struct state *state)
{
    petal_error error;

    must(petal_checkpoint(state->db, state->other, &error), &error);
}

NULL_ROW(petal_verify, NULL_STATUS)
{
    petal_check_options options = {.size = sizeof options};
    petal_check_counts counts;

    copy_database(S);
    return petal_verify(GIVEN(directory, S->other), OPTIONAL(options, &options),
                        OPTIONAL(counts, &counts), ERROR);
}

NULL_ROW(petal_salvage, NULL_STATUS)
{
    petal_check_options options = {.size = sizeof options};
    petal_check_counts counts;
    char *destination = test_path(S->directory, "salvaged");
    uint64_t status;

    copy_database(S);
    status = petal_salvage(GIVEN(directory, S->other), GIVEN(destination, destination),
                           OPTIONAL(options, &options), OPTIONAL(counts, &counts), ERROR);
    free(destination);
    return status;
}

NULL_ROW(petal_restore, NULL_STATUS)
{
    petal_backup_report report;
    char *directory = test_path(S->directory, "restored");
    uint64_t status;

    copy_database(S);
    status = petal_restore(GIVEN(backup, S->other), GIVEN(directory, directory),
                           OPTIONAL(options, SIZED(petal_restore_options)),
                           OPTIONAL(report, &report), ERROR);
    free(directory);
    return status;
}

NULL_ROW(petal_kv_open, NULL_STATUS)
{
    petal_family_options options = {.name = text("v")};
    static petal_kv *kv;

    return petal_kv_open(GIVEN(db, S->db), BYTES(name, "new"), OPTIONAL(options, &options),
                         OUT(kv, kv), ERROR);
}

NULL_CALL(petal_kv_put, NULL_STATUS,
          petal_kv_put(GIVEN(kv, S->kv), BYTES(key, "k"), BYTES(value, "v"),
                       OPTIONAL(options, SIZED(petal_write_options)), ERROR))

NULL_ROW(petal_kv_get, NULL_STATUS)
{
    petal_slice value;
    bool found;

    return petal_kv_get(GIVEN(kv, S->kv), BYTES(key, "k"), GIVEN(result, S->result),
                        GIVEN(found, &found), GIVEN(value, &value), ERROR);
}

NULL_CALL(petal_kv_delete, NULL_STATUS, petal_kv_delete(GIVEN(kv, S->kv), BYTES(key, "k"), ERROR))
NULL_CALL(petal_kv_table, NULL_ZERO, address(petal_kv_table(GIVEN(kv, S->kv))))
NULL_CALL(petal_kv_batch_put, NULL_STATUS,
          petal_kv_batch_put(GIVEN(batch, S->batch), GIVEN(kv, S->kv), BYTES(key, "k"),
                             BYTES(value, "v"), ERROR))
NULL_CALL(petal_kv_batch_delete, NULL_STATUS,
          petal_kv_batch_delete(GIVEN(batch, S->batch), GIVEN(kv, S->kv), BYTES(key, "k"), ERROR))

NULL_ROW(petal_kv_put_if_absent, NULL_STATUS)
{
    bool put;

    return petal_kv_put_if_absent(GIVEN(kv, S->kv), BYTES(key, "k"), BYTES(value, "v"),
                                  OPTIONAL(put, &put), ERROR);
}

NULL_ROW(petal_kv_compare_and_swap, NULL_STATUS)
{
    petal_slice expected = text("v"), value = text("w");
    bool swapped;

    return petal_kv_compare_and_swap(GIVEN(kv, S->kv), BYTES(key, "k"),
                                     OPTIONAL(expected, &expected), OPTIONAL(value, &value),
                                     OPTIONAL(swapped, &swapped), ERROR);
}

NULL_ROW(petal_kv_multi_get, NULL_STATUS)
{
    petal_read_options options = {.size = sizeof options};
    const petal_slice keys[] = {text("k")};
    petal_slice values[1];
    bool found[1];

    return petal_kv_multi_get(GIVEN(kv, S->kv), GIVEN(keys, keys), 1, OPTIONAL(options, &options),
                              GIVEN(result, S->result), OPTIONAL(found, found),
                              OPTIONAL(values, values), ERROR);
}

NULL_MAKES(petal_kv_cursor_open, petal_kv_cursor *, petal_kv_cursor_close,
           petal_kv_cursor_open(GIVEN(kv, S->kv), OPTIONAL(options, SIZED(petal_kv_cursor_options)),
                                OUT(cursor, made), ERROR))

static petal_kv_cursor *
open_pairs(struct state *state)
{
    petal_kv_cursor *cursor;
    petal_error error;

    must(petal_kv_cursor_open(state->kv, NULL, &cursor, &error), &error);
    return cursor;
}

NULL_ROW(petal_kv_cursor_next, NULL_STATUS)
{
    petal_kv_cursor *cursor = open_pairs(S);
    petal_slice key, value;
    bool found;
    enum petal_status status =
        petal_kv_cursor_next(GIVEN(cursor, cursor), GIVEN(found, &found), GIVEN(key, &key),
                             OPTIONAL(value, &value), ERROR);

    petal_kv_cursor_close(cursor);
    return status;
}

NULL_ROW(petal_kv_cursor_seek, NULL_STATUS)
{
    petal_kv_cursor *cursor = open_pairs(S);
    enum petal_status status = petal_kv_cursor_seek(GIVEN(cursor, cursor), BYTES(key, "k"), ERROR);

    petal_kv_cursor_close(cursor);
    return status;
}

NULL_ROW(petal_kv_cursor_close, NULL_ZERO)
{
    petal_kv_cursor *cursor = open_pairs(S);

    petal_kv_cursor_close(GIVEN(cursor, cursor));
    if (null_is("cursor", true))
        petal_kv_cursor_close(cursor);
    return 0;
}

NULL_ROW(petal_kv_delete_range, NULL_STATUS)
{
    petal_delete_rows_options options = {.size = sizeof options};
    static petal_deleted_rows deleted;

    return petal_kv_delete_range(GIVEN(kv, S->kv), BYTES(from, "a"), BYTES(to, "z"),
                                 OPTIONAL(options, &options), OPTIONAL(deleted, &deleted), ERROR);
}

TEST(null_in_each_argument)
{
    static const struct null_fixture fixture = {make_state, free_state};

    null_arguments_test("engine/petal.h", &fixture);
}

/* ---- inside what arguments point to ---- */

static void
check_text(enum petal_status status, const petal_error *error, const char *words)
{
    assert_int_equal(status, PETAL_INVALID);
    if (strstr(error->text, words) == NULL)
        fail_msg("not \"%s\": %s", words, error->text);
}

static const petal_slice no_bytes = {NULL, 3};

TEST(null_in_reads)
{
    struct state *state = make_state();
    const petal_column column = {state->family, no_bytes, false};
    const petal_column without_family = {NULL, {"q", 1}, false};
    petal_read_options options = {.column_count = 1};
    petal_scan_options scan = {.start_row = no_bytes};
    petal_result *results[] = {state->result, NULL};
    const petal_slice asked[] = {{"row", 3}, no_bytes};
    petal_cursor *cursor;
    petal_error error;

    check_text(petal_get(state->table, text("row"), &options, state->result, &error), &error,
               "options->columns is NULL, but options->column_count is 1");
    options.columns = &without_family;
    check_text(petal_get(state->table, text("row"), &options, state->result, &error), &error,
               "column 1 names a family of another table");
    options.columns = &column;
    check_text(petal_get(state->table, text("row"), &options, state->result, &error), &error,
               "the qualifier of column 1 has a size of 3, but its data is NULL");
    options = (petal_read_options){.family_time_range_count = 1};
    check_text(petal_get(state->table, text("row"), &options, state->result, &error), &error,
               "family_time_ranges is NULL");
    check_text(petal_multi_get(state->table, asked, 2, NULL, results, &error), &error,
               "results[1] is NULL");
    results[1] = state->result;
    check_text(petal_multi_get(state->table, asked, 2, NULL, results, &error), &error,
               "rows[1] has a size of 3");
    assert_int_equal(petal_multi_get(state->table, NULL, 0, NULL, NULL, &error), PETAL_OK);
    check_text(petal_cursor_open(state->table, &scan, &cursor, &error), &error, "start_row has");
    scan = (petal_scan_options){.stop_row = no_bytes};
    check_text(petal_cursor_open(state->table, &scan, &cursor, &error), &error, "stop_row has");
    scan = (petal_scan_options){.prefix = no_bytes};
    check_text(petal_cursor_open(state->table, &scan, &cursor, &error), &error, "prefix has");
    free_state(state);
}

TEST(null_in_writes)
{
    struct state *state = make_state();
    petal_condition condition = {
        .family = state->family, .qualifier = no_bytes, .compare = PETAL_EQUAL};
    petal_cell cell = {.row = no_bytes, .timestamp = 1, .type = PETAL_PUT};
    petal_delete_rows_options many = {.prefix = no_bytes};
    petal_error error;

    check_text(
        petal_mutate_row(state->table, text("r"), &condition, state->batch, NULL, NULL, &error),
        &error, "qualifier has a size of 3");
    condition.qualifier = text("q");
    condition.value = no_bytes;
    check_text(
        petal_mutate_row(state->table, text("r"), &condition, state->batch, NULL, NULL, &error),
        &error, "value has a size of 3");
    condition.family = NULL;
    condition.value = text("v");
    check_text(
        petal_mutate_row(state->table, text("r"), &condition, state->batch, NULL, NULL, &error),
        &error, "names no column");
    check_text(petal_delete_rows(state->table, text("a"), text("z"), &many, NULL, &error), &error,
               "prefix has a size of 3");
    check_text(petal_bulk_add(state->bulk, state->family, &cell, &error), &error,
               "row has a size of 3");
    free_state(state);
}

TEST(null_in_tables_and_filters)
{
    struct state *state = make_state();
    petal_family_options family = {.name = no_bytes};
    petal_attribute attribute = {PETAL_METADATA, no_bytes, {NULL, 0}};
    petal_table_options options = {.name = text("new"), .family_count = 1};
    petal_filter_argument argument = {.kind = PETAL_FILTER_BYTES, .bytes = no_bytes};
    petal_filter *members[] = {state->filter, NULL}, *filter;
    petal_table *table;
    petal_error error;

    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "options->families is NULL, but options->family_count is 1");
    options.families = &family;
    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "name has a size of 3");
    family = (petal_family_options){.name = text("f"), .attribute_count = 1};
    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "attributes is NULL, but attribute_count is 1");
    family.attributes = &attribute;
    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "name has a size of 3");
    attribute = (petal_attribute){PETAL_METADATA, {"n", 1}, no_bytes};
    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "value has a size of 3");
    options.name = no_bytes;
    check_text(petal_table_create(state->db, &options, &table, &error), &error,
               "name has a size of 3");
    check_text(petal_filter_make(state->db, "PrefixFilter", &argument, 1, &filter, &error), &error,
               "argument 1 have a size of 3");
    check_text(petal_filter_combine(state->db, PETAL_FILTER_OR, members, 2, &filter, &error),
               &error, "members[1] is NULL");
    free_state(state);
}
