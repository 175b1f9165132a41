#include "tools/python/native/transaction.h"

#include "tools/python/native/inside.h"

static void
close_transaction(void *transaction)
{
    petal_transaction_abort(transaction);
}

const struct part_kind transaction_kind = {"transaction", false, close_transaction};

int
py_transaction_begin(py_database *database, int durability, uint32_t deadline_ms,
                     py_part **transaction, petal_error *error)
{
    petal_transaction_options options = {.size = sizeof options,
                                         .durability = (enum petal_durability)durability,
                                         .deadline_ms = deadline_ms};
    petal_transaction *begun;
    *transaction = NULL;
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_transaction_begin(database_db(database), &options, &begun, error);
    if (!status)
        status = part_new(database, &transaction_kind, begun, NULL, transaction, error);
    database_leave(database);
    return status;
}

int
py_transaction_commit(py_part *part, petal_error *error)
{
    int status = database_enter(part_database(part), error);
    if (status)
        return status;
    petal_transaction *transaction = part_lock(part, part_database(part), error);
    if (transaction) {
        status = (int)petal_transaction_commit(transaction, error);
        part_end(part);
    } else
        status = PY_CLOSED;
    database_leave(part_database(part));
    return status;
}

int
view_lock(py_part *part, const py_database *database, struct view *view, petal_error *error)
{
    *view = (struct view){NULL, NULL, NULL};
    if (!part)
        return PETAL_OK;
    void *object = part_lock(part, database, error);
    if (!object)
        return PY_CLOSED;
    view->part = part;
    if (part_is(part, &transaction_kind))
        view->transaction = object;
    else
        view->snapshot = object;
    return PETAL_OK;
}

void
view_unlock(const struct view *view)
{
    if (view->part)
        part_unlock(view->part);
}
