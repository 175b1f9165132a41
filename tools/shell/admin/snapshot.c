/* snapshot.c -- the commands about one table snapshot, and checkpoint, which copies the whole
 * database. */
#include "tools/shell/admin/snapshot.h"

#include "tools/shell/admin/commands.h"
#include "tools/shell/data/query.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/words_of_values.h"

#include <string.h>

/* The hash after a snapshot: SKIP_FLUSH and TTL.  Others mean nothing, as in HBase. */
static enum shell_status
read_options(struct session *session, const struct value *argument,
             petal_table_snapshot_options *options)
{
    const struct value *skip_flush = query_given(argument, "SKIP_FLUSH");
    const struct value *ttl = query_given(argument, "TTL");
    int64_t seconds;

    if (argument->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "Options are a hash such as {SKIP_FLUSH => true}, not %s",
                            value_class(argument));
    if (skip_flush != NULL)
        options->skip_flush = value_read_boolean(session, skip_flush);
    if (ttl == NULL)
        return SHELL_FINE;
    if (!value_read_number(ttl, &seconds) || seconds > UINT32_MAX)
        return query_fail_key(session, "TTL", ttl,
                              "it must be a number of seconds, at most 4294967295");
    options->ttl_seconds = seconds > 0 ? (uint32_t)seconds : 0;
    return SHELL_FINE;
}

/* An echo shows the hashes. */
COMMAND_FUNCTION(command_snapshot)
{
    petal_table_snapshot_options options = {.size = sizeof(options)};
    enum petal_status outcome;
    enum shell_status status;
    petal_table *table;
    petal_error error;
    petal_slice name;

    if (arguments[0].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    status = session_snapshot_name(session, &arguments[1], &name);
    for (size_t i = 2; i < count && status == SHELL_FINE; i++)
        status = read_options(session, &arguments[i], &options);
    if (status == SHELL_FINE)
        status = session_any_table(session, &arguments[0], "Table '",
                                   "' doesn't exist, can't take snapshot.", &table);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_table_snapshot_create(table, name, &options, &error);
    if (outcome == PETAL_EXISTS)
        return session_fail(session, SHELL_USAGE,
                            "Snapshot '%.*s' already stored on the filesystem.", SLICE(name));
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    if (count > 2) {
        *result = (struct value){.kind = VALUE_ARRAY, .count = count - 2};
        result->as.items =
            arena_copy(&session->arena, arguments + 2, (count - 2) * sizeof(*arguments));
    }
    return SHELL_FINE;
}

/* The name of a snapshot and what stands after it at argument `rest`: ACLs, which there are
 * not. */
static enum shell_status
read_source(struct session *session, const struct value *arguments, size_t count, size_t rest,
            petal_slice *name)
{
    if (arguments[0].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Snapshot name must be of type String");
    if (count > rest && arguments[rest].kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE, "Arguments should be a Hash");
    *name = arguments[0].as.bytes;
    return SHELL_FINE;
}

/* What is known of the snapshot; *found says whether there is one of that name. */
static enum shell_status
find_snapshot(struct session *session, petal_slice name, petal_table_snapshot_info *info,
              bool *found)
{
    struct snapshot_list list;
    enum shell_status status = snapshot_list_read(session, NULL, NULL, &list);

    *found = false;
    for (size_t i = 0; status == SHELL_FINE && i < list.count && !*found; i++) {
        *info = list.items[i];
        *found = slices_equal(info->name, name);
    }
    return status;
}

static enum shell_status
fail_unknown(struct session *session, petal_slice name)
{
    return session_fail(session, SHELL_NOT_FOUND, "Unknown snapshot %.*s!", SLICE_UP_TO(256, name));
}

COMMAND_FUNCTION(command_clone_snapshot)
{
    petal_table_snapshot_info info;
    enum petal_status outcome;
    enum shell_status status;
    petal_slice name, clone;
    petal_table *table;
    petal_error error;
    bool found;

    status = read_source(session, arguments, count, 2, &name);
    if (status != SHELL_FINE)
        return status;
    if (arguments[1].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    status = session_table_name(session, &arguments[1], &clone);
    if (status == SHELL_FINE)
        status = find_snapshot(session, name, &info, &found);
    if (status != SHELL_FINE)
        return status;
    if (!found)
        return fail_unknown(session, name);
    status = namespace_check_clone(session, clone);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_table_snapshot_clone(session->db, name, clone, &table, &error);
    if (outcome == PETAL_EXISTS)
        return session_fail(session, SHELL_USAGE, "Table already exists: %.*s!", SLICE(clone));
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, clone, false);
    return SHELL_FINE;
}

/* The restored table stays disabled; one that had been dropped is enabled. */
COMMAND_FUNCTION(command_restore_snapshot)
{
    petal_table_snapshot_info info;
    enum petal_status outcome;
    enum shell_status status;
    petal_table *table;
    petal_error error;
    petal_slice name;
    bool found;

    status = read_source(session, arguments, count, 1, &name);
    if (status == SHELL_FINE)
        status = find_snapshot(session, name, &info, &found);
    if (status != SHELL_FINE)
        return status;
    if (!found)
        return session_fail(session, SHELL_NOT_FOUND,
                            "Unable to find the table name for snapshot=%.*s",
                            SLICE_UP_TO(256, name));
    outcome = petal_table_open(session->db, info.table, &table, &error);
    if (outcome == PETAL_OK && !session_is_disabled(session, info.table))
        return session_fail(session, SHELL_USAGE, "Table %.*s should be disabled!",
                            SLICE(info.table));
    if (outcome != PETAL_OK && outcome != PETAL_NOT_FOUND)
        return session_fail_petal(session, &error);
    status = namespace_check_table(session, info.table);
    if (status != SHELL_FINE)
        return status;
    if (petal_table_snapshot_restore(session->db, name, &table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_delete_snapshot)
{
    enum shell_status status;
    enum petal_status outcome;
    petal_error error;
    petal_slice name;

    status = read_source(session, arguments, count, 1, &name);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_table_snapshot_delete(session->db, name, &error);
    if (outcome == PETAL_NOT_FOUND || outcome == PETAL_INVALID)
        return fail_unknown(session, name);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_checkpoint)
{
    const char *directory;
    petal_error error;

    if (arguments[0].kind != VALUE_STRING || arguments[0].as.bytes.size == 0)
        return session_fail(session, SHELL_USAGE, "The directory must be text that is not empty");
    if (memchr(arguments[0].as.bytes.data, 0, arguments[0].as.bytes.size) != NULL)
        return session_fail(session, SHELL_USAGE,
                            "The name of the directory must not have a zero byte in it");
    text_clear(&session->scratch);
    text_add_slice(&session->scratch, arguments[0].as.bytes);
    directory = text_string(&session->scratch);
    if (petal_checkpoint(session->db, directory, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}
