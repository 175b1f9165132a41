/* store.c -- see tests/conformance/store.h: the database, and operations that write. */
#include "tests/conformance/store.h"

#include "tests/conformance/minor.h"
#include "tests/conformance/query.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTORY  "/db"
#define TABLE_NAME ((petal_slice){"t", 1})

/* ---- opening and closing ---- */

static enum petal_status
open_database(struct store *store, petal_error *error)
{
    enum petal_status status = petal_open(DIRECTORY, &store->options, &store->db, error);

    if (status == PETAL_OK)
        status = petal_result_new(store->db, &store->result, error);
    if (status == PETAL_OK)
        status = petal_batch_new(store->db, &store->batch, error);
    return status;
}

static enum petal_status
close_database(struct store *store, petal_error *error)
{
    enum petal_status status;

    petal_batch_free(store->batch);
    petal_result_free(store->result);
    status = petal_close(store->db, error);
    store->batch = NULL;
    store->result = NULL;
    store->db = NULL;
    store->table = NULL;
    return status;
}

enum petal_status
store_init(struct store *store, const struct recorded_case *recorded, petal_error *error)
{
    petal_table_options table = {.size = sizeof table,
                                 .name = TABLE_NAME,
                                 .families = recorded->families,
                                 .family_count = recorded->family_count};
    enum petal_status status;

    *store = (struct store){.vfs = memory_vfs_new()};
    test_random_init(&store->random, 1);
    test_clock_set(&store->clock,
                   recorded->step_count > 0 ? recorded->steps[0].operation.clock_ms : 0);
    store->env = (petal_env){.size = sizeof store->env,
                             .vfs = memory_vfs_table(store->vfs),
                             .clock_context = &store->clock,
                             .clock_ms = test_clock_ms,
                             .random_context = &store->random,
                             .random = test_random_word};
    store->options = (petal_options){.size = sizeof store->options,
                                     .no_compaction = true,
                                     .create = true,
                                     .cache_bytes = (size_t)64 << 10,
                                     .log_sync_interval_ms = PETAL_NEVER,
                                     .env = &store->env};
    status = open_database(store, error);
    if (status == PETAL_OK)
        status = petal_table_create(store->db, &table, &store->table, error);
    return status;
}

enum petal_status
store_fini(struct store *store, petal_error *error)
{
    enum petal_status status = close_database(store, error);

    memory_vfs_free(store->vfs);
    store->vfs = NULL;
    return status;
}

static enum petal_status
reopen(struct store *store, petal_error *error)
{
    enum petal_status status = petal_flush(store->db, store->table, error);

    if (status == PETAL_OK)
        status = close_database(store, error);
    if (status == PETAL_OK)
        status = open_database(store, error);
    if (status == PETAL_OK)
        status = petal_table_open(store->db, TABLE_NAME, &store->table, error);
    return status;
}

/* ---- answers ---- */

void
answer_set_status(struct answer *answer, struct arena *arena, enum answer_kind fine,
                  enum petal_status status, const petal_error *error)
{
    char text[PETAL_ERROR_TEXT_BYTES + 100];
    bool refused = status == PETAL_INVALID || status == PETAL_NOT_FOUND;

    answer->kind = fine;
    if (status == PETAL_OK)
        return;
    answer->kind = refused ? ANSWER_ERROR : ANSWER_FAILED;
    answer->result_count = 0;
    snprintf(text, sizeof text, "(%s) %s", petal_status_text(status), error->text);
    answer->text = arena_copy(arena, slice_of(text));
}

/* The cells of store->result as a result of the answer. */
static void
add_written_cells(struct store *store, bool also_empty, struct arena *arena, struct answer *answer)
{
    size_t count = petal_result_count(store->result);

    if (count == 0 && !also_empty)
        return;
    answer_add_result(arena, answer);
    for (size_t i = 0; i < count; i++)
        answer_add_cell(arena, answer, petal_result_cell(store->result, i));
}

/* ---- filling a batch ---- */

static enum petal_status
add_row_deletion(struct store *store, petal_slice row, int64_t timestamp, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t count = petal_table_family_count(store->table);

    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = petal_batch_delete(store->batch, petal_table_family_at(store->table, i), row,
                                    (petal_slice){"", 0}, timestamp, PETAL_DELETE_FAMILY, error);
    return status;
}

static enum petal_cell_type
marker_type(enum item_kind kind)
{
    switch (kind) {
    case ITEM_COLUMN:
        return PETAL_DELETE_COLUMN;
    case ITEM_FAMILY:
        return PETAL_DELETE_FAMILY;
    case ITEM_FAMILY_VERSION:
        return PETAL_DELETE_FAMILY_VERSION;
    default: /* version and latest, which comes with PETAL_LATEST */
        return PETAL_DELETE;
    }
}

static enum petal_status
add_item(struct store *store, petal_slice row, const struct recorded_item *item, petal_error *error)
{
    petal_family *family;
    enum petal_status status;

    if (item->kind == ITEM_ROW)
        return add_row_deletion(store, row, item->timestamp, error);
    status = petal_table_family(store->table, item->family, &family, error);
    if (status != PETAL_OK)
        return status;
    switch (item->kind) {
    case ITEM_PUT:
        return petal_batch_put(store->batch, family, row, item->qualifier, item->timestamp,
                               item->value, error);
    case ITEM_APPEND:
        return petal_batch_append(store->batch, family, row, item->qualifier, item->value, error);
    case ITEM_INCREMENT:
        return petal_batch_increment(store->batch, family, row, item->qualifier, item->amount,
                                     error);
    default:
        return petal_batch_delete(store->batch, family, row, item->qualifier, item->timestamp,
                                  marker_type(item->kind), error);
    }
}

static enum petal_status
add_mutation(struct store *store, const struct recorded_mutation *mutation, petal_error *error)
{
    enum petal_status status = petal_batch_mutation(store->batch, &mutation->options, error);

    for (size_t i = 0; status == PETAL_OK && i < mutation->item_count; i++)
        status = add_item(store, mutation->row, &mutation->items[i], error);
    return status;
}

/* Clear the batch and add all mutations of the operation. */
static enum petal_status
fill_batch(struct store *store, const struct recorded_operation *operation, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    petal_batch_clear(store->batch);
    for (size_t i = 0; status == PETAL_OK && i < operation->mutation_count; i++)
        status = add_mutation(store, &operation->mutations[i], error);
    return status;
}

/* ---- operations that write ---- */

/* One mutation, or several in one atomic change of any rows. */
static void
run_write(struct store *store, const struct recorded_operation *operation, struct arena *arena,
          struct answer *answer)
{
    petal_write_options options = {.size = sizeof options};
    petal_error error = {.status = PETAL_OK};
    bool gives_cells = operation->kind == OPERATION_MUTATION &&
                       (operation->mutations[0].kind == MUTATION_APPEND ||
                        operation->mutations[0].kind == MUTATION_INCREMENT);
    enum petal_status status = fill_batch(store, operation, &error);

    options.result = gives_cells ? store->result : NULL;
    if (status == PETAL_OK)
        status = petal_write(store->db, store->batch, &options, &error);
    if (status == PETAL_OK && gives_cells)
        add_written_cells(store, true, arena, answer);
    answer_set_status(answer, arena, gives_cells ? ANSWER_RESULT : ANSWER_OK, status, &error);
}

/*
 * HBase's batch is not atomic: a member that is refused leaves the others in place.  So each is
 * tried on its own first, and those that are fine are written together.  What only petal_write can
 * refuse, a member without cells, is asked of it: it writes nothing then.
 */
static void
run_batch(struct store *store, const struct recorded_operation *operation, struct arena *arena,
          struct answer *answer)
{
    struct recorded_operation accepted = *operation;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = PETAL_OK;

    accepted.mutations =
        arena_allocate(arena, (operation->mutation_count + 1) * sizeof *operation->mutations);
    accepted.mutation_count = 0;
    for (size_t i = 0; i < operation->mutation_count; i++) {
        const struct recorded_mutation *mutation = &operation->mutations[i];
        struct answer member = {.kind = ANSWER_OK};

        petal_batch_clear(store->batch);
        status = add_mutation(store, mutation, &error);
        if (status == PETAL_OK && mutation->item_count == 0)
            status = petal_write(store->db, store->batch, NULL, &error);
        if (status == PETAL_OK)
            accepted.mutations[accepted.mutation_count++] = *mutation;
        answer_set_status(&member, arena, ANSWER_OK, status, &error);
        if (member.kind == ANSWER_FAILED) {
            *answer = member;
            return;
        }
        answer_add_member(arena, answer, slice_of(status == PETAL_OK ? "ok" : "refused"));
    }
    status = fill_batch(store, &accepted, &error);
    if (status == PETAL_OK)
        status = petal_write(store->db, store->batch, NULL, &error);
    if (status != PETAL_OK)
        answer->member_count = 0;
    answer_set_status(answer, arena, ANSWER_BATCH, status, &error);
}

static enum petal_status
make_condition(struct store *store, const struct recorded_condition *recorded,
               petal_condition *condition, petal_filter **filter, petal_error *error)
{
    enum petal_status status;

    *filter = NULL;
    *condition = (petal_condition){.size = sizeof *condition,
                                   .qualifier = recorded->qualifier,
                                   .compare = recorded->compare,
                                   .value = recorded->value,
                                   .has_time_range = recorded->time_range.given,
                                   .time_min = recorded->time_range.min,
                                   .time_limit = recorded->time_range.limit};
    if (recorded->kind != CONDITION_FILTER)
        return petal_table_family(store->table, recorded->family, &condition->family, error);
    status = recorded_filter_make(store->db, &recorded->filter, filter, error);
    condition->filter = *filter;
    return status;
}

/*
 * HBase looks for the families of a check's action only when the condition holds; here a family
 * must be found before a batch can name it.  So when one is missing the condition is asked alone,
 * with nothing to apply: if it does not hold, the answer is that.
 */
static enum petal_status
check_without_action(struct store *store, const struct recorded_operation *operation,
                     const petal_condition *condition, petal_error *error)
{
    bool holds = true;
    enum petal_status status;
    petal_error other;

    for (size_t i = 0; i < operation->mutation_count; i++) {
        if (!slice_equal(operation->mutations[i].row, operation->row))
            return PETAL_NOT_FOUND;
    }
    petal_batch_clear(store->batch);
    status = petal_mutate_row(store->table, operation->row, condition, store->batch, NULL, &holds,
                              &other);
    if (status != PETAL_OK)
        *error = other;
    return status == PETAL_OK && holds ? PETAL_NOT_FOUND : status;
}

static void
run_check(struct store *store, const struct recorded_operation *operation, struct arena *arena,
          struct answer *answer)
{
    petal_write_options options = {.size = sizeof options, .result = store->result};
    bool applied = false;
    petal_condition condition;
    petal_filter *filter;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status =
        make_condition(store, &operation->condition, &condition, &filter, &error);

    if (status == PETAL_OK && operation->action_is_row_mutations &&
        !slice_equal(operation->row, operation->action_row)) {
        status = PETAL_INVALID; /* no call here takes the second row: HBase's client refuses it */
        snprintf(error.text, sizeof error.text, "the row mutations have another row");
    }
    if (status == PETAL_OK) {
        status = fill_batch(store, operation, &error);
        if (status == PETAL_OK)
            status = petal_mutate_row(store->table, operation->row, &condition, store->batch,
                                      &options, &applied, &error);
        else if (status == PETAL_NOT_FOUND)
            status = check_without_action(store, operation, &condition, &error);
    }
    petal_filter_free(filter);
    if (status == PETAL_OK && applied)
        add_written_cells(store, false, arena, answer);
    answer_set_status(answer, arena, applied ? ANSWER_TRUE : ANSWER_FALSE, status, &error);
}

static void
run_row_mutations(struct store *store, const struct recorded_operation *operation,
                  struct arena *arena, struct answer *answer)
{
    petal_write_options options = {.size = sizeof options, .result = store->result};
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = fill_batch(store, operation, &error);

    if (status == PETAL_OK)
        status = petal_mutate_row(store->table, operation->row, NULL, store->batch, &options, NULL,
                                  &error);
    if (status == PETAL_OK)
        add_written_cells(store, false, arena, answer);
    answer_set_status(answer, arena, ANSWER_OK, status, &error);
}

/* ---- all operations ---- */

static void
run_upkeep(struct store *store, const struct recorded_operation *operation, struct arena *arena,
           struct answer *answer)
{
    petal_error error = {.status = PETAL_OK};
    enum petal_status status = PETAL_OK;

    if (operation->kind == OPERATION_CLOCK)
        test_clock_set(&store->clock, operation->clock_ms);
    else if (operation->kind == OPERATION_FLUSH)
        status = petal_flush(store->db, store->table, &error);
    else if (operation->kind == OPERATION_COMPACT)
        status = petal_compact(store->table, NULL, &error);
    else if (operation->kind == OPERATION_MINOR)
        status = minor_compaction(store->table, operation->files, &error);
    else
        status = reopen(store, &error);
    answer_set_status(answer, arena, ANSWER_OK, status, &error);
}

void
store_run(struct store *store, const struct recorded_operation *operation, struct arena *arena,
          struct answer *answer)
{
    *answer = (struct answer){.kind = ANSWER_FAILED};
    if (store->table == NULL) {
        answer->text = slice_of("the database is not open any more");
        return;
    }
    switch (operation->kind) {
    case OPERATION_MUTATION:
    case OPERATION_ATOMIC:
        run_write(store, operation, arena, answer);
        break;
    case OPERATION_BATCH:
        run_batch(store, operation, arena, answer);
        break;
    case OPERATION_ROW_MUTATIONS:
        run_row_mutations(store, operation, arena, answer);
        break;
    case OPERATION_CHECK:
        run_check(store, operation, arena, answer);
        break;
    case OPERATION_GET:
    case OPERATION_SCAN:
        query_run(store, operation, arena, answer);
        break;
    default:
        run_upkeep(store, operation, arena, answer);
        break;
    }
}
