/* help.c -- help: the groups of commands, the usage of a group or a command, and examples;
 * table_help. */
#include "tools/shell/session/help.h"

#include "tools/shell/session/command.h"

/* HBase's groups, and one of Petal's own; those of a cluster are one more, of the commands that
 * Petal has not. */
static const struct group {
    const char *name, *title;
    const char *commands[24];
} groups[] = {
    {"general",
     "the shell",
     {"exit", "help", "processlist", "status", "table_help", "version", "whoami"}},
    {"ddl",
     "tables and their families",
     {"alter",
      "alter_async",
      "alter_status",
      "clone_table_schema",
      "create",
      "describe",
      "disable",
      "disable_all",
      "drop",
      "drop_all",
      "enable",
      "enable_all",
      "exists",
      "get_table",
      "is_disabled",
      "is_enabled",
      "list",
      "list_disabled_tables",
      "list_enabled_tables",
      "list_regions",
      "locate_region",
      "show_filters"}},
    {"namespace",
     "of tables",
     {"alter_namespace", "create_namespace", "describe_namespace", "drop_namespace",
      "list_namespace", "list_namespace_tables"}},
    {"dml",
     "rows",
     {"append", "count", "delete", "deleteall", "get", "get_counter", "get_splits", "incr", "put",
      "scan", "truncate", "truncate_preserve"}},
    {"tools",
     "store files and memory",
     {"clear_block_cache", "compact", "compaction_state", "compaction_switch", "flush",
      "list_liveservers", "major_compact", "snapshot_cleanup_enabled"}},
    {"snapshots",
     "snapshots of tables",
     {"clone_snapshot", "delete_all_snapshot", "delete_snapshot", "delete_table_snapshots",
      "list_snapshot_sizes", "list_snapshots", "list_table_snapshots", "restore_snapshot",
      "snapshot"}},
    {"petal",
     "what HBase has not",
     {"advise", "checkpoint", "explain", "export", "export_hfiles", "import", "import_hfiles",
      "stats", "time", "verify"}},
};

enum { GROUPS = COUNT_OF(groups) };

#define CLUSTER "cluster"

static const struct group *
find_group(petal_slice name)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (slice_is(name, groups[i].name))
            return &groups[i];
    return NULL;
}

const char *
help_group(size_t index)
{
    if (index < GROUPS)
        return groups[index].name;
    return index == GROUPS ? CLUSTER : NULL;
}

static enum shell_status
help_on(struct session *session, petal_slice name)
{
    const struct command *command = command_find(session, name);
    const struct group *group = find_group(name);
    const char *examples;

    if (command == NULL && group != NULL) {
        for (size_t i = 0; group->commands[i] != NULL; i++)
            output_plain(&session->output, "%s",
                         command_find(session, slice_of_string(group->commands[i]))->usage);
        return SHELL_FINE;
    }
    if (command == NULL && slice_is(name, CLUSTER)) {
        for (command = session->commands->absent; command->name != NULL; command++)
            output_plain(&session->output, "%s", command->usage);
        return SHELL_FINE;
    }
    if (command == NULL)
        return session_fail(session, SHELL_NOT_FOUND, "There is no command or group '%.*s'",
                            SLICE_UP_TO(80, name));
    command = command_find(session, slice_of_string(command->main_name));
    examples = help_examples(command->name);
    output_plain(&session->output, "%s", command->usage);
    if (examples != NULL)
        output_plain(&session->output, "\n%s", examples);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_help)
{
    size_t absent = 0;

    if (count == 1)
        return help_on(session, value_to_bytes(&session->arena, &arguments[0]));
    output_plain(&session->output, "COMMAND GROUPS:");
    for (size_t g = 0; g < GROUPS; g++) {
        struct text *text = &session->scratch;

        text_clear(text);
        for (size_t i = 0; groups[g].commands[i] != NULL; i++)
            text_add_format(text, "%s%s", i == 0 ? "  Commands: " : ", ", groups[g].commands[i]);
        output_plain(&session->output, "  Group name: %s (%s)", groups[g].name, groups[g].title);
        output_plain(&session->output, "%s\n", text_string(text));
    }
    while (session->commands->absent[absent].name != NULL)
        absent++;
    output_plain(&session->output,
                 "  Group name: " CLUSTER " (HBase's, for what one process has not)\n"
                 "  Commands: %zu, which say so; help '" CLUSTER "' lists them\n\n"
                 "help 'get' shows a command and examples, help 'dml' the commands of a group.\n"
                 "Strings stand in 'single' or \"double\" quotes; the latter take \\x00, \\n and "
                 "the like.\n"
                 "Names such as VERSIONS need no quotes; {KEY => value} is a hash.",
                 absent);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_table_help)
{
    output_plain(
        &session->output,
        "A table can be held in a variable; the commands about it are then called on it, without "
        "its name:\n\n%s",
        help_examples("table_help"));
    return SHELL_FINE;
}
