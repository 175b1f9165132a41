/* target.c -- see tools/shell/data/target.h. */
#include "tools/shell/data/target.h"

#include "tools/shell/data/query.h"

#include <inttypes.h>

enum shell_status
target_read_table(struct session *session, const struct value *argument, struct target *target)
{
    *target = (struct target){
        .timestamp = PETAL_LATEST,
        .options = {.size = sizeof(target->options), .new_version = true},
    };
    return session_enabled_table(session, argument, &target->table);
}

enum shell_status
target_read_row(struct session *session, const struct value *argument, struct target *target)
{
    if (argument->kind == VALUE_HASH || argument->kind == VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE, "The row must be a string, not %s",
                            value_class(argument));
    target->row = value_to_bytes(&session->arena, argument);
    if (target->row.size == 0)
        return session_fail(session, SHELL_USAGE, "Row length is 0");
    return SHELL_FINE;
}

enum shell_status
target_read_column(struct session *session, const struct value *argument, struct target *target)
{
    petal_slice family, format;
    bool has_format;

    if (argument->kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "The column must be a string, not %s",
                            value_class(argument));
    column_part(argument->as.bytes, &family, &target->qualifier, &target->has_qualifier);
    if (family.size == 0)
        return session_fail(session, SHELL_USAGE, "Family cannot be null");
    /* As in a get, what follows a second colon is how the value is shown. */
    column_part(target->qualifier, &target->qualifier, &format, &has_format);
    return session_family(session, target->table, family, &target->family);
}

enum shell_status
target_read_cell(struct session *session, const struct value *arguments, struct target *target)
{
    enum shell_status status = target_read_table(session, &arguments[0], target);

    if (status == SHELL_FINE)
        status = target_read_row(session, &arguments[1], target);
    if (status == SHELL_FINE)
        status = target_read_column(session, &arguments[2], target);
    return status;
}

enum shell_status
target_read_number(struct session *session, const struct value *argument, const char *what,
                   int64_t *number)
{
    if (value_to_integer(argument, number))
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE, "The %s must be a number, not %s", what,
                        value_class(argument));
}

enum shell_status
target_read_options(struct session *session, const struct value *argument, struct target *target)
{
    static const char *const known[] = {"ATTRIBUTES", "TTL"};
    const struct value *attributes = query_given(argument, "ATTRIBUTES");
    const struct value *ttl = query_given(argument, "TTL");

    if (argument->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "Options are a hash such as {TTL => 1000}, not %s",
                            value_class(argument));
    query_note_unknown(session, argument, known, COUNT_OF(known));
    if (attributes != NULL && attributes->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE, "Attributes must be a Hash type");
    if (ttl == NULL)
        return SHELL_FINE;
    target->options.has_ttl = true;
    if (target_read_number(session, ttl, "TTL", &target->options.ttl_ms) != SHELL_FINE)
        return SHELL_USAGE;
    if (target->options.ttl_ms < 0)
        return query_fail_key(session, "TTL", ttl,
                              "it must be a number of milliseconds, 0 or more");
    return SHELL_FINE;
}

enum shell_status
target_read_rest(struct session *session, const struct value *arguments, size_t count,
                 struct target *target)
{
    enum shell_status status = SHELL_FINE;

    if (count > 0 && arguments[0].kind != VALUE_HASH) {
        if (arguments[0].kind != VALUE_NIL)
            status = target_read_number(session, &arguments[0], "timestamp", &target->timestamp);
        if (status == SHELL_FINE && target->timestamp < 0)
            return session_fail(session, SHELL_USAGE, "Timestamp cannot be negative. ts=%" PRId64,
                                target->timestamp);
        arguments++;
        count--;
    }
    for (size_t i = 0; i < count && status == SHELL_FINE; i++)
        status = target_read_options(session, &arguments[i], target);
    return status;
}
