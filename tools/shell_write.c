/*
 * shell_write.c -- put, delete, deleteall and flush.
 *
 * A write without a timestamp gets the store's, in a millisecond that no other command of the
 * session has written in.
 */
#include "tools/shell_command.h"
#include "tools/shell_query.h"

#include <inttypes.h>
#include <math.h>

/* What put, delete and deleteall have in common. */
struct target {
    petal_table *table;
    petal_family *family;
    petal_slice row, qualifier;
    bool has_qualifier;
    int64_t timestamp;
};

static enum shell_status
read_table_and_row(struct session *session, const struct value *arguments, struct target *target)
{
    petal_slice name;
    enum shell_status status;

    *target = (struct target){.timestamp = PETAL_LATEST};
    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    status = session_table(session, name, &target->table);
    if (status != SHELL_FINE)
        return status;
    if (arguments[1].kind == VALUE_HASH || arguments[1].kind == VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE, "The row must be a string, not %s",
                            value_class(&arguments[1]));
    target->row = value_to_bytes(&session->arena, &arguments[1]);
    if (target->row.size == 0)
        return session_fail(session, SHELL_USAGE, "Row length is 0");
    return SHELL_FINE;
}

static enum shell_status
read_column(struct session *session, const struct value *argument, struct target *target)
{
    petal_slice family;

    if (argument->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "The column must be a string, not %s",
                            value_class(argument));
    column_part(argument->as.bytes, &family, &target->qualifier, &target->has_qualifier);
    if (family.size == 0)
        return session_fail(session, SHELL_USAGE, "Family cannot be null");
    return session_family(session, target->table, family, &target->family);
}

static enum shell_status
read_timestamp(struct session *session, const struct value *argument, struct target *target)
{
    if (argument->kind == VALUE_FLOAT && fabs(argument->as.number) < 9e18)
        target->timestamp = (int64_t)argument->as.number;
    else if (argument->kind == VALUE_INTEGER)
        target->timestamp = argument->as.integer;
    else
        return session_fail(session, SHELL_USAGE, "The timestamp must be a number, not %s",
                            value_class(argument));
    if (target->timestamp < 0)
        return session_fail(session, SHELL_USAGE, "Timestamp cannot be negative. ts=%" PRId64,
                            target->timestamp);
    return SHELL_FINE;
}

/* The hash behind a write: ATTRIBUTES mean nothing to a store, anything else is refused. */
static enum shell_status
read_write_options(struct session *session, const struct value *argument)
{
    const struct value *attributes = value_hash_get(argument, "ATTRIBUTES");

    if (argument->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "A hash such as {ATTRIBUTES => {..}} is wanted, not %s",
                            value_class(argument));
    if (attributes != NULL && attributes->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE, "Attributes must be a Hash type");
    if (value_hash_get(argument, "TTL") != NULL)
        return session_fail(session, SHELL_USAGE, "TTL is not supported by this version");
    return SHELL_FINE;
}

/* What may stand behind row and column or value: a timestamp, a hash, or both. */
static enum shell_status
read_rest(struct session *session, const struct value *arguments, size_t count,
          struct target *target)
{
    enum shell_status status = SHELL_FINE;

    if (count > 0 && arguments[0].kind != VALUE_HASH) {
        if (arguments[0].kind != VALUE_NIL)
            status = read_timestamp(session, &arguments[0], target);
        arguments++;
        count--;
    }
    for (size_t i = 0; i < count && status == SHELL_FINE; i++)
        status = read_write_options(session, &arguments[i]);
    if (target->timestamp == PETAL_LATEST)
        session_begin_write(session);
    return status;
}

COMMAND_FUNCTION(command_put)
{
    struct target target;
    petal_slice value;
    petal_error error;
    enum shell_status status = read_table_and_row(session, arguments, &target);

    (void)result;
    if (status == SHELL_FINE)
        status = read_column(session, &arguments[2], &target);
    if (status == SHELL_FINE)
        status = read_rest(session, arguments + 4, count - 4, &target);
    if (status != SHELL_FINE)
        return status;
    value = value_to_bytes(&session->arena, &arguments[3]);
    if (petal_put(target.family, target.row, target.qualifier, target.timestamp, value, NULL,
                  &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

static enum shell_status
write_marker(struct session *session, const struct target *target, enum petal_cell_type type)
{
    petal_error error;

    if (petal_delete(target->family, target->row, target->qualifier, target->timestamp, type, NULL,
                     &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_delete)
{
    struct target target;
    enum shell_status status = read_table_and_row(session, arguments, &target);

    (void)result;
    if (status == SHELL_FINE)
        status = read_column(session, &arguments[2], &target);
    if (status == SHELL_FINE)
        status = read_rest(session, arguments + 3, count - 3, &target);
    if (status != SHELL_FINE)
        return status;
    return write_marker(session, &target,
                        target.has_qualifier ? PETAL_DELETE : PETAL_DELETE_FAMILY_VERSION);
}

/* Write a family marker in every family of the table, all or none. */
static enum shell_status
delete_row(struct session *session, const struct target *target)
{
    petal_batch *batch;
    petal_error error;
    enum petal_status outcome = petal_batch_new(session->db, &batch, &error);

    for (size_t i = 0; i < petal_table_family_count(target->table) && outcome == PETAL_OK; i++)
        outcome = petal_batch_delete(batch, petal_table_family_at(target->table, i), target->row,
                                     (petal_slice){NULL, 0}, target->timestamp, PETAL_DELETE_FAMILY,
                                     &error);
    if (outcome == PETAL_OK)
        outcome = petal_write(session->db, batch, NULL, &error);
    petal_batch_free(batch);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_deleteall)
{
    struct target target;
    bool whole_row = count == 2;
    enum shell_status status;

    (void)result;
    if (arguments[1].kind == VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "ROWPREFIXFILTER is not supported by this version");
    status = read_table_and_row(session, arguments, &target);
    if (status == SHELL_FINE && count > 2) {
        whole_row = arguments[2].kind == VALUE_NIL ||
                    (arguments[2].kind == VALUE_STRING && arguments[2].as.bytes.size == 0);
        if (!whole_row)
            status = read_column(session, &arguments[2], &target);
    }
    if (status == SHELL_FINE)
        status = read_rest(session, arguments + 3, count > 3 ? count - 3 : 0, &target);
    if (status != SHELL_FINE)
        return status;
    if (whole_row)
        return delete_row(session, &target);
    return write_marker(session, &target,
                        target.has_qualifier ? PETAL_DELETE_COLUMN : PETAL_DELETE_FAMILY);
}

COMMAND_FUNCTION(command_flush)
{
    petal_table *table;
    petal_slice name;
    petal_error error;
    enum shell_status status;

    (void)count;
    (void)result;
    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    status = session_table(session, name, &table);
    if (status != SHELL_FINE)
        return status;
    if (petal_flush(session->db, table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}
