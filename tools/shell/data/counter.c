/* counter.c -- incr, append and get_counter. */
#include "tools/shell/data/commands.h"
#include "tools/shell/data/rows.h"

#include <inttypes.h>

enum { COUNTER_BYTES = 8 };

/* Read the newest version of the target's column; *value is NULL if there is none, and good
 * until the next read. */
static enum shell_status
read_newest(struct session *session, const struct target *target, const petal_slice **value)
{
    petal_column column = {.family = target->family, .qualifier = target->qualifier};
    petal_read_options options = {.size = sizeof(options), .columns = &column, .column_count = 1};
    petal_error error;

    if (rows_get(session, target->table, target->row, &options, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    *value = petal_result_count(session->result) > 0 ? &petal_result_cell(session->result, 0)->value
                                                     : NULL;
    return SHELL_FINE;
}

/* In a transaction, where a block may depend on it, the number is the command's value; else it has
 * none, as in HBase, whose shell would show it. */
static void
show_counter(struct session *session, int64_t number, struct value *result)
{
    if (session->transaction != NULL)
        *result = value_integer(number);
    if (output_begin_records(&session->output, "value"))
        format_integer(&session->output.format, number);
    else
        output_plain(&session->output, "COUNTER VALUE = %" PRId64, number);
}

COMMAND_FUNCTION(command_incr)
{
    struct target target;
    int64_t amount = 1, sum;
    petal_error error;
    enum shell_status status = target_read_cell(session, arguments, &target);

    arguments += 3;
    count -= 3;
    if (status == SHELL_FINE && count > 0 && arguments[0].kind != VALUE_HASH) {
        if (arguments[0].kind != VALUE_NIL)
            status = target_read_number(session, &arguments[0], "amount", &amount);
        arguments++;
        count--;
    }
    for (size_t i = 0; i < count && status == SHELL_FINE; i++)
        status = target_read_options(session, &arguments[i], &target);
    if (status != SHELL_FINE)
        return status;
    if (rows_increment(session, &target, amount, &sum, &error) != PETAL_OK) {
        /* An increment was refused: most likely because of the width of what stands there. */
        const petal_slice *value;

        if (error.status == PETAL_INVALID && read_newest(session, &target, &value) == SHELL_FINE &&
            value != NULL && value->size != COUNTER_BYTES)
            return session_fail(session, SHELL_USAGE, "Field is not a long, it's %zu bytes wide",
                                value->size);
        return session_fail_petal(session, &error);
    }
    show_counter(session, sum, result);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_append)
{
    struct text *text = &session->scratch;
    struct target target;
    petal_slice value = {0};
    petal_error error;
    enum shell_status status = target_read_cell(session, arguments, &target);

    if (status == SHELL_FINE && count > 4)
        status = target_read_options(session, &arguments[4], &target);
    if (status != SHELL_FINE)
        return status;
    if (rows_append(session, &target, value_to_bytes(&session->arena, &arguments[3]), &error) !=
        PETAL_OK)
        return session_fail_petal(session, &error);
    if (petal_result_count(session->result) > 0)
        value = petal_result_cell(session->result, 0)->value;
    if (output_begin_records(&session->output, "value")) {
        format_bytes(&session->output.format, value);
        return SHELL_FINE;
    }
    text_clear(text);
    text_add_string(text, "CURRENT VALUE = ");
    text_add_binary(text, value);
    output_plain_slice(&session->output, text_slice(text));
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_get_counter)
{
    struct target target;
    const petal_slice *value = NULL;
    uint64_t number = 0;
    enum shell_status status = target_read_cell(session, arguments, &target);

    if (status == SHELL_FINE)
        status = read_newest(session, &target, &value);
    if (status != SHELL_FINE)
        return status;
    if (value == NULL) {
        output_plain(&session->output, "No counter found at specified coordinates");
        return SHELL_FINE;
    }
    if (value->size != COUNTER_BYTES)
        return session_fail(session, SHELL_USAGE, "Wrong length: %zu, expected %d", value->size,
                            COUNTER_BYTES);
    for (size_t i = 0; i < COUNTER_BYTES; i++)
        number = number << 8 | ((const uint8_t *)value->data)[i];
    show_counter(session, (int64_t)number, result);
    return SHELL_FINE;
}
