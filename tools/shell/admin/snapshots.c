/* snapshots.c -- the commands about many table snapshots: list and delete those that match.  See
 * tools/shell/admin/snapshot.h. */
#include "tools/shell/admin/commands.h"
#include "tools/shell/admin/snapshot.h"

#include <inttypes.h>
#include <string.h>

struct gathering {
    struct arena *arena;
    const struct pattern *names, *tables;
    struct snapshot_list *list;
};

static bool
gather(void *argument, const petal_table_snapshot_info *info)
{
    const struct gathering *gathering = argument;
    struct arena *arena = gathering->arena;
    struct snapshot_list *list = gathering->list;
    petal_table_snapshot_info *item;

    if ((gathering->names != NULL && !pattern_matches(gathering->names, info->name)) ||
        (gathering->tables != NULL && !pattern_matches(gathering->tables, info->table)))
        return true;
    list->items =
        arena_room(arena, list->items, list->count, &list->capacity, sizeof(*list->items));
    item = &list->items[list->count++];
    *item = *info;
    item->name.data = arena_copy(arena, info->name.data, info->name.size);
    item->table.data = arena_copy(arena, info->table.data, info->table.size);
    return true;
}

enum shell_status
snapshot_list_read(struct session *session, const struct pattern *names,
                   const struct pattern *tables, struct snapshot_list *list)
{
    struct gathering gathering = {&session->arena, names, tables, list};
    petal_error error;

    *list = (struct snapshot_list){0};
    if (petal_table_snapshot_list(session->db, gather, &gathering, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

/* Read the list that regular expressions choose; `names` and `tables` may be NULL. */
static enum shell_status
read_matching(struct session *session, const struct value *names, const struct value *tables,
              struct snapshot_list *list)
{
    struct pattern name_pattern = {NULL, NULL}, table_pattern = {NULL, NULL};
    enum shell_status status = SHELL_FINE;

    if (tables != NULL)
        status = pattern_read(session, tables, &table_pattern);
    if (status == SHELL_FINE && names != NULL)
        status = pattern_read(session, names, &name_pattern);
    if (status == SHELL_FINE)
        status = snapshot_list_read(session, names == NULL ? NULL : &name_pattern,
                                    tables == NULL ? NULL : &table_pattern, list);
    pattern_free(&name_pattern);
    pattern_free(&table_pattern);
    return status;
}

/* HBase's header, of which the second part is `facts`; records have a column for each fact. */
static void
begin_list(struct session *session, const char *facts)
{
    if (format_is_on(&session->output.format))
        format_begin(&session->output.format, "snapshot table created ttl_seconds");
    else
        output_header(&session->output, "SNAPSHOT", facts);
}

/* A line for each; `with_ttl`: how long they live, too. */
static void
show_list(struct session *session, const struct snapshot_list *list, bool with_ttl)
{
    struct text *text = &session->scratch;

    if (format_is_on(&session->output.format)) {
        struct format *format = &session->output.format;

        for (size_t i = 0; i < list->count; i++) {
            const petal_table_snapshot_info *item = &list->items[i];

            format_bytes(format, item->name);
            format_bytes(format, item->table);
            format_integer(format, item->created_ms);
            if (item->ttl_seconds == 0)
                format_null(format);
            else
                format_number(format, item->ttl_seconds);
        }
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const petal_table_snapshot_info *item = &list->items[i];

        text_clear(text);
        text_add_slice(text, item->table);
        text_add_string(text, " (");
        text_add_date(text, item->created_ms);
        text_add_string(text, ")");
        if (with_ttl && item->ttl_seconds == 0)
            text_add_string(text, " FOREVER");
        else if (with_ttl)
            text_add_format(text, " %" PRIu32, item->ttl_seconds);
        output_columns(&session->output, item->name, text_slice(text));
    }
}

static enum shell_status
list_snapshots(struct session *session, const struct value *names, const struct value *tables,
               struct value *result)
{
    struct snapshot_list list;
    enum shell_status status;

    begin_list(session, "TABLE + CREATION TIME + TTL(Sec)");
    status = read_matching(session, names, tables, &list);
    if (status != SHELL_FINE)
        return status;
    show_list(session, &list, true);
    output_plain(&session->output, "%zu row(s)", list.count);
    *result = (struct value){.kind = VALUE_ARRAY, .count = list.count};
    result->as.items = arena_allocate(&session->arena, list.count * sizeof(*result));
    for (size_t i = 0; i < list.count; i++)
        result->as.items[i] = value_string(list.items[i].name);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_list_snapshots)
{
    return list_snapshots(session, count > 0 ? &arguments[0] : NULL, NULL, result);
}

COMMAND_FUNCTION(command_list_table_snapshots)
{
    return list_snapshots(session, count > 1 ? &arguments[1] : NULL, &arguments[0], result);
}

/* Show the list and ask; *yes says whether to go on. */
static enum shell_status
ask_to_delete(struct session *session, const struct snapshot_list *list, bool *yes)
{
    show_list(session, list, false);
    output_plain(&session->output, "\nDelete the above %zu snapshots (y/n)?", list->count);
    return session_ask(session, yes);
}

/* Delete one that was listed.  That its time came meanwhile is as good. */
static enum shell_status
delete_listed(struct session *session, petal_slice name)
{
    petal_error error;
    enum petal_status outcome = petal_table_snapshot_delete(session->db, name, &error);

    if (outcome == PETAL_OK || outcome == PETAL_NOT_FOUND)
        return SHELL_FINE;
    return session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_delete_all_snapshot)
{
    struct snapshot_list list;
    enum shell_status status;
    size_t deleted = 0;
    bool yes;

    begin_list(session, "TABLE + CREATION TIME");
    status = read_matching(session, &arguments[0], NULL, &list);
    if (status != SHELL_FINE)
        return status;
    if (list.count == 0) {
        output_plain(&session->output, "No snapshots matched the regex %.*s",
                     SLICE(arguments[0].as.bytes));
        return SHELL_FINE;
    }
    status = ask_to_delete(session, &list, &yes);
    if (status != SHELL_FINE || !yes)
        return status;
    while (deleted < list.count && status == SHELL_FINE) {
        status = delete_listed(session, list.items[deleted].name);
        deleted += status == SHELL_FINE;
    }
    if (deleted > 0)
        output_plain(&session->output, "%zu snapshots successfully deleted.", deleted);
    return status;
}

COMMAND_FUNCTION(command_delete_table_snapshots)
{
    const struct value *names = count > 1 ? &arguments[1] : NULL;
    petal_slice tables, chosen;
    struct snapshot_list list;
    enum shell_status status;
    bool yes;

    begin_list(session, "TABLE + CREATION TIME");
    status = read_matching(session, names, &arguments[0], &list);
    if (status != SHELL_FINE)
        return status;
    if (list.count == 0) {
        tables = arguments[0].as.bytes;
        chosen = names == NULL ? slice_of_string(".*") : names->as.bytes;
        output_plain(&session->output,
                     "No snapshots matched the table name regular expression %.*s and the "
                     "snapshot name regular expression %.*s",
                     SLICE(tables), SLICE(chosen));
        return SHELL_FINE;
    }
    status = ask_to_delete(session, &list, &yes);
    for (size_t i = 0; status == SHELL_FINE && yes && i < list.count; i++) {
        petal_slice name = list.items[i].name;

        status = delete_listed(session, name);
        if (status == SHELL_FINE)
            output_plain(&session->output, "Successfully deleted snapshot: %.*s\n", SLICE(name));
    }
    return status;
}
