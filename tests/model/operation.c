/* operation.c -- lists of operations made at random; see tests/model/operation.h. */
#include "tests/model/maker.h"

#include <stdlib.h>

static void
step_clock(struct maker *maker)
{
    if (maker->rest > 0) {
        maker->rest--;
        return;
    }
    if (has(maker, FEATURE_READ_MODIFY_WRITE) && !maker->calm && chance(maker, 2)) {
        maker->rest = 5 + (unsigned)below(maker, 25);
        maker->hot_row = pick_row(maker);
        maker->hot_qualifier = pick_qualifier(maker);
        maker->hot_family = (unsigned)below(maker, MODEL_FAMILIES);
        if (chance(maker, 50)) /* it is a key */
            maker->hot_qualifier = (struct model_bytes){0};
    }
    maker->now_ms += chance(maker, 70);
    if (chance(maker, 4))
        maker->now_ms += (int64_t)below(maker, 800);
    if (has(maker, FEATURE_CLOCK) && !maker->calm && chance(maker, 3))
        maker->now_ms -= (int64_t)below(maker, chance(maker, 20) ? 3000 : 100);
    if (maker->now_ms < 1)
        maker->now_ms = 1;
}

/* The process dies or the power fails soon after this operation began, and at times again while
 * the database is opened. */
static void
pick_crash(struct maker *maker, struct operation_crash *crash)
{
    uint64_t span = (uint64_t)1 << below(maker, 8);

    crash->calls = 1 + (unsigned)below(maker, span);
    crash->dies = chance(maker, 35);
    crash->cut = (unsigned)below(maker, 1000);
    crash->seed = test_random_next(&maker->random);
    for (size_t i = 0; i < OPERATION_RECOVERIES && chance(maker, 35); i++)
        crash->recovery_calls[i] = 1 + (unsigned)below(maker, 80);
    if (chance(maker, 20))
        crash->full_bytes = 1 + (unsigned)below(maker, (uint64_t)1 << below(maker, 18));
}

/* The operation begins or ends a transaction, or is of the one that is open. */
static void
pick_transaction(struct maker *maker, struct operation *operation)
{
    enum operation_kind kind = operation->kind;

    if (kind == OPERATION_REOPEN || kind == OPERATION_CRASH)
        maker->in_transaction = false;
    if (!has(maker, FEATURE_TRANSACTIONS) || !chance(maker, maker->in_transaction ? 60 : 6))
        return;
    if (!maker->in_transaction) {
        operation->kind = OPERATION_BEGIN;
        operation->durability = chance(maker, 30) ? PETAL_FSYNC_WAL : PETAL_DURABILITY_DEFAULT;
        maker->in_transaction = true;
    } else if (chance(maker, 20)) {
        operation->kind = chance(maker, 90) ? OPERATION_COMMIT : OPERATION_ABORT;
        maker->in_transaction = false;
    } else {
        operation->in_transaction = kind == OPERATION_GET || kind == OPERATION_GET_ROWS ||
                                    kind == OPERATION_SCAN ||
                                    (kind == OPERATION_WRITE && operation->single) ||
                                    (kind == OPERATION_DELETE_ROWS && operation->one_row);
    }
    if (!operation->in_transaction)
        return;
    operation->has_receipt = false;
    operation->items[0].has_ttl =
        operation->items[0].has_ttl && operation->items[0].kind == MODEL_PUT;
}

static void
pick_operation(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    *operation = (struct operation){.kind = OPERATION_GET};
    step_clock(maker);
    if (maker->rest > 0 && chance(maker, 60))
        choice = chance(maker, 25) ? 0 : 10;
    operation->now_ms = maker->now_ms;
    operation->table = pick_table(maker);
    if (has(maker, FEATURE_CRASHES) && chance(maker, 6))
        pick_crash(maker, &operation->crash);
    if (has(maker, FEATURE_CRASHES) && chance(maker, 2)) {
        operation->full_bytes = (unsigned)below(maker, (uint64_t)1 << below(maker, 16));
        operation->full_operations = 1 + (unsigned)below(maker, 12);
    }
    if (choice < 4 && has(maker, FEATURE_KEY_VALUE)) {
        pick_key_value(maker, operation);
    } else if (choice < 7) {
        pick_delete_rows(maker, operation);
    } else if (choice < 45) {
        pick_write(maker, operation);
    } else if (choice < 57) {
        pick_maintenance(maker, operation);
    } else if (choice < 78) {
        operation->kind = choice < 75 ? OPERATION_GET : OPERATION_GET_ROWS;
        pick_get(maker, operation);
    } else {
        pick_scan(maker, operation);
        if (has(maker, FEATURE_CURSORS) && choice < 88)
            pick_cursor(maker, operation);
    }
    pick_transaction(maker, operation);
}

void
operation_list_make(struct operation_list *list, uint64_t seed, size_t count, unsigned features)
{
    struct maker maker = {.features = features, .now_ms = 5000};

    test_random_init(&maker.random, seed);
    maker.rows = 1 + below(&maker, PICK_ROWS);
    maker.qualifiers = 1 + below(&maker, PICK_QUALIFIERS);
    maker.granule = chance(&maker, 50) ? 10 : 300;
    maker.dense = (features & FEATURE_CALM) == 0 && chance(&maker, 30);
    if (maker.dense)
        maker.rows = maker.qualifiers = 2;
    maker.tables = (features & FEATURE_TABLES) != 0 ? MODEL_TABLES : 1;
    maker.calm = (features & FEATURE_CALM) != 0;
    maker.roomy = maker.calm && chance(&maker, 50);
    maker.past_puts = maker.calm && chance(&maker, 50);
    for (unsigned family = 0; family < MODEL_FAMILIES; family++)
        pick_family(&maker, &maker.calm_families[family]);
    list->features = features;
    list->count = count;
    list->operations = test_allocate(count * sizeof *list->operations);
    list->table_count = maker.tables;
    for (unsigned table = 0; table < list->table_count; table++)
        pick_schema(&maker, table > 0 && chance(&maker, 50), &list->schemas[table]);
    for (size_t i = 0; i < count; i++)
        pick_operation(&maker, &list->operations[i]);
}

void
operation_list_free(struct operation_list *list)
{
    free(list->operations);
    *list = (struct operation_list){0};
}

const char *
operation_kind_text(enum operation_kind kind)
{
    static const char *const words[OPERATION_KINDS] = {
        [OPERATION_WRITE] = "write",
        [OPERATION_PUT_VALUE] = "put value",
        [OPERATION_DELETE_ROWS] = "delete rows",
        [OPERATION_FLUSH] = "flush",
        [OPERATION_COMPACT] = "compact",
        [OPERATION_REOPEN] = "reopen",
        [OPERATION_CRASH] = "die",
        [OPERATION_BEGIN] = "begin",
        [OPERATION_COMMIT] = "commit",
        [OPERATION_ABORT] = "abort",
        [OPERATION_TAKE_SNAPSHOT] = "hold",
        [OPERATION_FREE_SNAPSHOT] = "let go",
        [OPERATION_CREATE_TABLE] = "create",
        [OPERATION_DROP_TABLE] = "drop",
        [OPERATION_TRUNCATE_TABLE] = "truncate",
        [OPERATION_ALTER_TABLE] = "alter",
        [OPERATION_TAKE_TABLE_SNAPSHOT] = "take table snapshot",
        [OPERATION_CLONE_TABLE] = "clone",
        [OPERATION_RESTORE_TABLE] = "restore",
        [OPERATION_DELETE_TABLE_SNAPSHOT] = "delete table snapshot",
        [OPERATION_CHECKPOINT] = "checkpoint",
        [OPERATION_LOOK] = "look",
        [OPERATION_GET_VALUE] = "get value",
        [OPERATION_GET_VALUES] = "get values",
        [OPERATION_SCAN_VALUES] = "scan values",
        [OPERATION_GET] = "get",
        [OPERATION_GET_ROWS] = "get rows",
        [OPERATION_SCAN] = "scan",
        [OPERATION_OPEN_CURSOR] = "open cursor",
        [OPERATION_MOVE_CURSOR] = "move cursor",
        [OPERATION_CLOSE_CURSOR] = "close cursor",
    };

    return words[kind];
}
