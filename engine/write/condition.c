/* condition.c -- see condition.h. */
#include "engine/write/condition.h"

#include "base/argument.h"
#include "engine/options.h"
#include "engine/read/options.h"
#include "engine/state/db.h"

enum petal_status
condition_init(struct condition *condition, petal_table *table, petal_slice row,
               const petal_condition *given, petal_error *error)
{
    petal_condition *asked = &condition->asked;
    enum petal_status status = options_copy(asked, sizeof *asked, given, "petal_condition", error);

    condition->table = table;
    condition->row = row;
    if (status == PETAL_OK)
        status = options_check_time_range(asked->has_time_range, asked->time_min, asked->time_limit,
                                          error);
    if (status != PETAL_OK)
        return status;
    if (asked->compare > PETAL_GREATER ||
        (asked->compare < PETAL_LESS && asked->filter == NULL && !asked->absent))
        return error_set(error, PETAL_INVALID, "compare is %d; it must be %d to %d",
                         (int)asked->compare, (int)PETAL_LESS, (int)PETAL_GREATER);
    if (asked->absent && (asked->filter != NULL || asked->value.size > 0))
        return error_set(error, PETAL_INVALID, "absent is set, and so is %s",
                         asked->filter != NULL ? "filter" : "value");
    if (asked->filter != NULL)
        return PETAL_OK;
    RETURN_IF_NO_BYTES(asked->qualifier, error);
    RETURN_IF_NO_BYTES(asked->value, error);
    if (asked->family == NULL || asked->family->table != table)
        return error_set(error, PETAL_INVALID,
                         "the condition names no column of the table and has no filter");
    return PETAL_OK;
}

/* Does `given compare stored` hold, when `order` is that of the two? */
static bool
compare_holds(enum petal_compare compare, int order)
{
    switch (compare) {
    case PETAL_LESS:
        return order < 0;
    case PETAL_LESS_OR_EQUAL:
        return order <= 0;
    case PETAL_EQUAL:
        return order == 0;
    case PETAL_NOT_EQUAL:
        return order != 0;
    case PETAL_GREATER_OR_EQUAL:
        return order >= 0;
    case PETAL_GREATER:
        return order > 0;
    }
    return false;
}

/* `stored` is NULL if the column has no version. */
static bool
column_holds(const petal_condition *asked, const petal_cell *stored)
{
    bool none = stored == NULL || stored->value.size == 0;

    if (asked->absent)
        return stored == NULL;
    if (asked->value.size == 0 && !asked->compare_empty)
        return none == (asked->compare != PETAL_NOT_EQUAL);
    return stored != NULL &&
           compare_holds(asked->compare, slice_compare(asked->value, stored->value));
}

enum petal_status
condition_read(const struct condition *condition, petal_result *read, bool *holds,
               petal_error *error)
{
    const petal_condition *asked = &condition->asked;
    petal_column column = {asked->family, asked->qualifier, false};
    petal_read_options options = {
        .has_time_range = asked->has_time_range,
        .time_min = asked->time_min,
        .time_limit = asked->time_limit,
        .filter = asked->filter,
    };
    const petal_cell *first;
    enum petal_status status;

    if (asked->filter == NULL) {
        options.columns = &column;
        options.column_count = 1;
    }
    *holds = false;
    status = petal_get(condition->table, condition->row, &options, read, error);
    if (status != PETAL_OK)
        return status;
    first = petal_result_cell(read, 0);
    *holds = asked->filter != NULL ? first != NULL : column_holds(asked, first);
    return PETAL_OK;
}
