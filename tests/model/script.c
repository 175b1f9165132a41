/* script.c -- a list of operations in the grammar of kv-shell; see tests/model/operation.h. */
#include "tests/model/operation.h"
#include "tests/model/text.h"

#include <inttypes.h>

static void
print_quoted(FILE *out, petal_slice bytes)
{
    struct model_text text = {0};

    model_text_add_bytes(&text, bytes);
    fprintf(out, "\"%s\"", text.bytes == NULL ? "" : text.bytes);
    model_text_free(&text);
}

/* "family:qualifier" */
static void
print_column(FILE *out, unsigned family, const struct model_bytes *qualifier)
{
    struct model_text text = {0};

    model_text_add_bytes(&text, model_text_family_name(family));
    model_text_add(&text, ":");
    model_text_add_bytes(&text, model_slice(qualifier));
    fprintf(out, "\"%s\"", text.bytes);
    model_text_free(&text);
}

static const char *
name_of(unsigned table)
{
    return model_table_name(table).data;
}

static void
print_schema(const char *verb, unsigned table, const struct model_schema *schema, FILE *out)
{
    static const char *const keep[] = {"FALSE", "FALSE", "TRUE", "TTL"};

    fprintf(out, "%s '%s'", verb, name_of(table));
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        const struct model_family *family = &schema->families[i];

        if (family->absent)
            continue;
        fprintf(out, ", {NAME => '%s', VERSIONS => %" PRIu32,
                (const char *)model_text_family_name(i).data, family->versions);
        if (family->has_ttl)
            fprintf(out, ", TTL => %" PRId64 ", MIN_VERSIONS => %" PRIu32, family->ttl_ms / 1000,
                    family->min_versions);
        if (family->keep_deleted != PETAL_KEEP_DELETED_FALSE)
            fprintf(out, ", KEEP_DELETED_CELLS => '%s'", keep[family->keep_deleted]);
        if (family->new_version_behavior)
            fprintf(out, ", NEW_VERSION_BEHAVIOR => true");
        fprintf(out, "}");
    }
    fprintf(out, "%s\n", schema->read_only ? ", READONLY => true" : "");
}

/* ---- filters ---- */

/* As the model has it: what, how it compares, with what. */
static void
print_list(const struct model_filter *filter, FILE *out)
{
    static const char *const words[MODEL_LEAVES] = {"row",
                                                    "row begins with",
                                                    "family",
                                                    "qualifier",
                                                    "qualifier begins with",
                                                    "column range",
                                                    "value",
                                                    "value begins",
                                                    "value contains",
                                                    "timestamps from"};
    static const char *const compare[] = {"", "<", "<=", "=", "!=", ">=", ">"};

    fprintf(out, " # %s%s%s of", filter->skip ? "SKIP " : "", filter->while_match ? "WHILE " : "",
            filter->one_of ? "one" : "all");
    for (size_t i = 0; i < filter->leaf_count; i++) {
        const struct model_leaf *leaf = &filter->leaves[i];

        fprintf(out, "%s %s %s ", i > 0 ? "," : "", words[leaf->kind], compare[leaf->compare]);
        print_quoted(out, model_slice(&leaf->bytes));
        if (leaf->kind == MODEL_LEAF_COLUMN_RANGE) {
            print_quoted(out, model_slice(&leaf->more));
            fprintf(out, "%s", leaf->flag ? " inclusive" : "");
        }
        if (leaf->kind == MODEL_LEAF_TIMESTAMPS)
            fprintf(out, "%" PRId64, leaf->number);
    }
    fprintf(out, "%s", filter->by_text ? " (by its text)" : "");
}

static void
print_filter(const struct model_filter *filter, FILE *out)
{
    static const char *const words[] = {"",
                                        "ColumnPrefixFilter",
                                        "FamilyFilter =",
                                        "FirstKeyOnlyFilter",
                                        "MultiRowRangeFilter: itself, from the other on",
                                        "FuzzyRowFilter of the second byte",
                                        "SKIP QualifierFilter !=",
                                        "PageFilter"};

    if (filter->kind == MODEL_FILTER_LIST)
        print_list(filter, out);
    if (filter->kind == MODEL_FILTER_NONE || filter->kind == MODEL_FILTER_LIST)
        return;
    fprintf(out, " # %s ", words[filter->kind]);
    print_quoted(out, model_slice(&filter->bytes));
    if (filter->kind == MODEL_FILTER_PAGE)
        fprintf(out, " %" PRId64, filter->number);
    if (filter->kind == MODEL_FILTER_ROW_RANGES)
        print_quoted(out, model_slice(&filter->more));
}

/* ---- writes ---- */

static void
print_delete(const struct model_item *item, int64_t timestamp, FILE *out)
{
    bool one_version = item->type == PETAL_DELETE || item->type == PETAL_DELETE_FAMILY_VERSION;

    fprintf(out, "%s '%s', ", one_version ? "delete" : "deleteall", name_of(item->table));
    print_quoted(out, model_slice(&item->row));
    fprintf(out, ", ");
    if (item->type == PETAL_DELETE_FAMILY || item->type == PETAL_DELETE_FAMILY_VERSION)
        print_quoted(out, model_text_family_name(item->family));
    else
        print_column(out, item->family, &item->qualifier);
    if (item->type != PETAL_DELETE || item->timestamp != PETAL_LATEST)
        fprintf(out, ", %" PRId64, timestamp);
}

static void
print_item(const struct model_item *item, int64_t now_ms, FILE *out)
{
    static const char *const words[] = {"put", "delete", "append", "incr"};
    int64_t timestamp = item->timestamp == PETAL_LATEST ? now_ms : item->timestamp;

    if (item->kind == MODEL_DELETE) {
        print_delete(item, timestamp, out);
    } else {
        fprintf(out, "%s '%s', ", words[item->kind], name_of(item->table));
        print_quoted(out, model_slice(&item->row));
        fprintf(out, ", ");
        print_column(out, item->family, &item->qualifier);
        fprintf(out, ", ");
        if (item->kind == MODEL_INCREMENT)
            fprintf(out, "%" PRId64, item->amount);
        else
            print_quoted(out, model_slice(&item->value));
        if (item->kind == MODEL_PUT)
            fprintf(out, ", %" PRId64, timestamp);
    }
    if (item->has_ttl)
        fprintf(out, ", {TTL => %" PRId64 "}", item->ttl_ms);
    if (item->has_time_range)
        fprintf(out, " # reads %" PRId64 " .. %" PRId64, item->time_min, item->time_limit);
    fprintf(out, "\n");
}

static void
print_condition(const struct operation *operation, FILE *out)
{
    static const char *const words[] = {"", "<", "<=", "=", "!=", ">=", ">"};
    const struct model_condition *condition = &operation->condition;

    fprintf(out, "# if ");
    if (!condition->absent) {
        print_quoted(out, model_slice(&condition->value));
        fprintf(out, " %s%s ", words[condition->compare],
                condition->compare_empty ? " (also if it is empty)" : "");
    }
    print_column(out, condition->family, &condition->qualifier);
    if (condition->has_time_range)
        fprintf(out, " in %" PRId64 " .. %" PRId64, condition->time_min, condition->time_limit);
    if (condition->filter.kind != MODEL_FILTER_NONE) {
        fprintf(out, ", or rather");
        print_filter(&condition->filter, out);
    }
    fprintf(out, "%s\n", condition->absent ? " is absent" : "");
}

static void
print_write(const struct operation *operation, FILE *out)
{
    if (operation->has_condition)
        print_condition(operation, out);
    if (operation->item_count > 1)
        fprintf(out, "# one batch of %zu:\n", operation->item_count);
    for (size_t i = 0; i < operation->item_count; i++) {
        if (i > 0 && operation->items[i].begins_mutation)
            fprintf(out, "# its next mutation:\n");
        print_item(&operation->items[i], operation->now_ms, out);
    }
}

/* ---- reads ---- */

static void
print_read(const struct model_read *read, FILE *out)
{
    fprintf(out, ", {VERSIONS => %" PRId32, read->versions == 0 ? 1 : read->versions);
    if (read->has_time_range)
        fprintf(out, ", TIMERANGE => [%" PRId64 ", %" PRId64 "]", read->time_min, read->time_limit);
    for (size_t i = 0; i < read->column_count; i++) {
        fprintf(out, "%s", i == 0 ? ", COLUMNS => [" : ", ");
        if (read->columns[i].whole_family)
            print_quoted(out, model_text_family_name(read->columns[i].family));
        else
            print_column(out, read->columns[i].family, &read->columns[i].qualifier);
    }
    /* The shell refuses VERSIONS of a get that names nothing. */
    for (unsigned i = 0; read->column_count == 0 && i < MODEL_FAMILIES; i++) {
        fprintf(out, "%s", i == 0 ? ", COLUMNS => [" : ", ");
        print_quoted(out, model_text_family_name(i));
    }
    fprintf(out, "]");
}

/* What kv-shell has no words for. */
static void
print_read_rest(const struct operation *operation, FILE *out)
{
    const struct model_read *read = &operation->read;

    fprintf(out, "}");
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        if (read->has_family_range[i])
            fprintf(out, " # family %u: %" PRId64 " .. %" PRId64, i, read->family_min[i],
                    read->family_limit[i]);
    }
    if (read->family_cell_limit > 0 || read->family_cell_offset > 0)
        fprintf(out, " # %" PRIu64 " cells a family from %" PRIu64, read->family_cell_limit,
                read->family_cell_offset);
    if (operation->batch > 0)
        fprintf(out, " # batch %" PRIu64, operation->batch);
    print_filter(&read->filter, out);
    if (operation->snapshot > 0)
        fprintf(out, " # at read point %u, if it is held", operation->snapshot);
    fprintf(out, "\n");
}

static void
print_scan(const struct operation *operation, FILE *out)
{
    const struct model_scan *scan = &operation->scan;

    fprintf(out, "scan '%s'", name_of(operation->table));
    print_read(&operation->read, out);
    if (scan->prefix.size > 0) {
        fprintf(out, ", ROWPREFIXFILTER => ");
        print_quoted(out, model_slice(&scan->prefix));
    }
    if (scan->start_row.size > 0) {
        fprintf(out, ", STARTROW => ");
        print_quoted(out, model_slice(&scan->start_row));
    }
    if (scan->stop_row.size > 0) {
        fprintf(out, ", STOPROW => ");
        print_quoted(out, model_slice(&scan->stop_row));
    }
    if (scan->row_limit > 0)
        fprintf(out, ", LIMIT => %" PRIu64, scan->row_limit);
    fprintf(out, "%s%s", operation->read.raw ? ", RAW => true" : "",
            scan->reversed ? ", REVERSED => true" : "");
    print_read_rest(operation, out);
    if (scan->start_exclusive || scan->stop_inclusive)
        fprintf(out, "#%s%s\n", scan->start_exclusive ? " start exclusive" : "",
                scan->stop_inclusive ? " stop inclusive" : "");
}

static void
print_moves(const struct operation *operation, FILE *out)
{
    for (size_t i = 0; i < operation->move_count; i++) {
        const struct operation_move *move = &operation->moves[i];

        fprintf(out, "# cursor %u: ", operation->cursor);
        if (move->kind != MOVE_SEEK) {
            fprintf(out, "%zu times next%s\n", move->times,
                    move->kind == MOVE_NEXT_ROW ? "_row" : "");
            continue;
        }
        fprintf(out, "seek ");
        print_quoted(out, model_slice(&move->place.row));
        fprintf(out, " ");
        if (move->place.in_row)
            print_column(out, move->place.family, &move->place.qualifier);
        fprintf(out, "\n");
    }
}

static void
print_gets(const struct operation *operation, FILE *out)
{
    size_t rows = operation->kind == OPERATION_GET_ROWS ? OPERATION_ROWS : 1;

    if (rows > 1)
        fprintf(out, "# by one call:\n");
    for (size_t i = 0; i < rows; i++) {
        fprintf(out, "get '%s', ", name_of(operation->table));
        print_quoted(out, model_slice(&operation->rows[i]));
        print_read(&operation->read, out);
        print_read_rest(operation, out);
    }
}

static void
print_compaction(const struct operation *operation, FILE *out)
{
    if (operation->run_count > 0) {
        fprintf(out, "# compact %zu runs of family %u of '%s' from the %zu. on\n",
                operation->run_count, operation->family, name_of(operation->table),
                operation->first_run);
        return;
    }
    fprintf(out, "major_compact '%s'", name_of(operation->table));
    if (operation->family < MODEL_FAMILIES)
        fprintf(out, ", '%s'", (const char *)model_text_family_name(operation->family).data);
    fprintf(out, "\n");
}

static void
print_table_snapshot(const struct operation *operation, FILE *out)
{
    const char *snapshot = model_table_snapshot_name(operation->table_snapshot).data;

    switch (operation->kind) {
    case OPERATION_TAKE_TABLE_SNAPSHOT:
        fprintf(out, "snapshot '%s', '%s'", name_of(operation->table), snapshot);
        if (operation->skip_flush)
            fprintf(out, ", {SKIP_FLUSH => true}");
        if (operation->ttl_seconds > 0)
            fprintf(out, ", {TTL => %" PRIu32 "}", operation->ttl_seconds);
        fprintf(out, "\n");
        break;
    case OPERATION_CLONE_TABLE:
        fprintf(out, "clone_snapshot '%s', '%s'\n", snapshot, name_of(operation->table));
        break;
    case OPERATION_RESTORE_TABLE:
        fprintf(out, "restore_snapshot '%s'\n", snapshot);
        break;
    default:
        fprintf(out, "delete_snapshot '%s'\n", snapshot);
        break;
    }
}

static void
print_maintenance(const struct operation *operation, FILE *out)
{
    switch (operation->kind) {
    case OPERATION_FLUSH:
        fprintf(out, operation->whole_database ? "flush # of all tables\n" : "flush '%s'\n",
                name_of(operation->table));
        break;
    case OPERATION_COMPACT:
        print_compaction(operation, out);
        break;
    case OPERATION_CREATE_TABLE:
    case OPERATION_ALTER_TABLE:
        print_schema(operation->kind == OPERATION_CREATE_TABLE ? "create" : "alter",
                     operation->table, &operation->schema, out);
        break;
    case OPERATION_DROP_TABLE:
        fprintf(out, "disable '%s'\ndrop '%s'\n", name_of(operation->table),
                name_of(operation->table));
        break;
    case OPERATION_TRUNCATE_TABLE:
        fprintf(out, "truncate '%s'\n", name_of(operation->table));
        break;
    case OPERATION_TAKE_TABLE_SNAPSHOT:
    case OPERATION_CLONE_TABLE:
    case OPERATION_RESTORE_TABLE:
    case OPERATION_DELETE_TABLE_SNAPSHOT:
        print_table_snapshot(operation, out);
        break;
    case OPERATION_LOOK:
        fprintf(out, "# look at all that can be asked for\n");
        break;
    case OPERATION_CHECKPOINT:
        fprintf(out, "# checkpoint; open it and read all\n");
        break;
    case OPERATION_REOPEN:
        fprintf(out, "# reopen, options %u%s\n", operation->variant,
                operation->is_read_first ? ", for reading before" : "");
        break;
    case OPERATION_CRASH:
        fprintf(out, "# crash, reopen, options %u%s\n", operation->variant,
                operation->is_read_first ? ", for reading before" : "");
        break;
    case OPERATION_BEGIN:
    case OPERATION_COMMIT:
    case OPERATION_ABORT:
        fprintf(out, "# %s the transaction\n", operation_kind_text(operation->kind));
        break;
    case OPERATION_TAKE_SNAPSHOT:
        fprintf(out, "# hold read point %u\n", operation->snapshot);
        break;
    case OPERATION_CLOSE_CURSOR:
        fprintf(out, "# read cursor %u to its end, close it\n", operation->cursor);
        break;
    default:
        fprintf(out, "# let go of read point %u\n", operation->snapshot);
        break;
    }
}

static void
print_crash(const struct operation_crash *crash, FILE *out)
{
    if (crash->calls == 0)
        return;
    fprintf(out, "# %s at file call %u from here, cut %u, seed %" PRIu64,
            crash->dies ? "the process dies" : "the power fails", crash->calls, crash->cut,
            crash->seed);
    for (size_t i = 0; i < OPERATION_RECOVERIES && crash->recovery_calls[i] > 0; i++)
        fprintf(out, ", again at call %u of the opening", crash->recovery_calls[i]);
    if (crash->full_bytes > 0)
        fprintf(out, ", %u bytes are free then", crash->full_bytes);
    fprintf(out, "\n");
}

static void
print_range(const struct operation *operation, const struct model_bytes *from,
            const struct model_bytes *to, FILE *out)
{
    fprintf(out, " from ");
    print_quoted(out, model_slice(from));
    fprintf(out, " to ");
    print_quoted(out, model_slice(to));
    fprintf(out, " with ");
    print_quoted(out, model_slice(&operation->scan.prefix));
    fprintf(out, "\n");
}

static void
print_value(const struct operation *operation, FILE *out)
{
    static const char *const ways[WAYS] = {"", "by a batch", "if absent", "by a swap"};

    fprintf(out, "# as key and value, in the family that there is: %s %s\n",
            operation_kind_text(operation->kind), ways[operation->way]);
    if (operation->way == WAY_SWAP && !operation->condition.absent) {
        fprintf(out, "# if it is ");
        print_quoted(out, model_slice(&operation->condition.value));
        fprintf(out, "\n");
    }
    for (size_t i = 0; operation->kind != OPERATION_PUT_VALUE && i < OPERATION_ROWS; i++) {
        fprintf(out, "# key ");
        print_quoted(out, model_slice(&operation->rows[i]));
        fprintf(out, "\n");
    }
    if (operation->kind == OPERATION_SCAN_VALUES) {
        fprintf(out, "# %s, %zu seeks,", operation->scan.reversed ? "reversed" : "forward",
                operation->move_count);
        print_range(operation, &operation->scan.start_row, &operation->scan.stop_row, out);
    }
    print_item(operation->items, operation->now_ms, out);
}

static void
print_deleted_rows(const struct operation *operation, FILE *out)
{
    fprintf(out, "# '%s', marker at %" PRId64 ", as of %u, %" PRIu64 " in a batch%s%s: delete %s",
            name_of(operation->table), operation->items[0].timestamp, operation->snapshot,
            operation->batch, operation->single ? ", single" : "",
            operation->of_keys ? ", keys" : "", operation->one_row ? "row" : "rows");
    print_range(operation, &operation->rows[0], &operation->rows[1], out);
}

void
operation_list_print(const struct operation_list *list, FILE *out)
{
    int64_t now_ms = -1;

    for (unsigned i = 0; i < list->table_count; i++)
        print_schema("create", i, &list->schemas[i], out);
    for (size_t i = 0; i < list->count; i++) {
        const struct operation *operation = &list->operations[i];

        if (operation->now_ms != now_ms)
            fprintf(out, "# clock %" PRId64 "\n", operation->now_ms);
        now_ms = operation->now_ms;
        print_crash(&operation->crash, out);
        if (operation->full_operations > 0)
            fprintf(out, "# the disk has room for %u bytes, for %u operations\n",
                    operation->full_bytes, operation->full_operations);
        if (operation->in_transaction)
            fprintf(out, "# in the transaction:\n");
        if (operation->bulk)
            fprintf(out, "# loaded in bulk%s:\n", operation->below ? ", below all" : "");
        if (operation->kind == OPERATION_WRITE) {
            print_write(operation, out);
        } else if (operation->kind == OPERATION_PUT_VALUE ||
                   operation->kind == OPERATION_GET_VALUE ||
                   operation->kind == OPERATION_GET_VALUES ||
                   operation->kind == OPERATION_SCAN_VALUES) {
            print_value(operation, out);
        } else if (operation->kind == OPERATION_DELETE_ROWS) {
            print_deleted_rows(operation, out);
        } else if (operation->kind == OPERATION_GET || operation->kind == OPERATION_GET_ROWS) {
            print_gets(operation, out);
        } else if (operation->kind == OPERATION_SCAN) {
            print_scan(operation, out);
        } else if (operation->kind == OPERATION_OPEN_CURSOR) {
            fprintf(out, "# open cursor %u: ", operation->cursor);
            print_scan(operation, out);
        } else if (operation->kind == OPERATION_MOVE_CURSOR) {
            print_moves(operation, out);
        } else {
            print_maintenance(operation, out);
        }
    }
}
