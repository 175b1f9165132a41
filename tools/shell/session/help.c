/*
 * help.c -- help: the groups of commands, the usage of a group or a command, and examples; topics;
 * table_help.
 *
 * Lines end at words, at the terminal's width.  What belongs to a usage begins with six blanks, an
 * example with two.
 */
#include "tools/shell/session/help.h"

#include "tools/shell/print/wrap.h"
#include "tools/shell/session/command.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/topics.h"

#include <string.h>

enum { INDENT = 6 };

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
      "log_level", "stats", "time", "verify"}},
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
    index -= GROUPS;
    if (index == 0)
        return CLUSTER;
    return help_topic(index - 1) != NULL ? help_topic(index - 1)->name : NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A usage, then what comes of it: in its line where there is room, else below. */
static void
show_usage(struct session *session, const char *usage)
{
    unsigned width = output_width(&session->output);
    const char *meaning = strstr(usage, "      ");
    struct text *text = &session->scratch;
    petal_slice typed = slice_of_string(usage);

    text_clear(text);
    if (meaning == NULL || text_characters(typed) <= width) {
        wrap_add(text, typed, width, INDENT + 2);
    } else {
        wrap_add(text, (petal_slice){usage, (size_t)(meaning - usage)}, width, INDENT + 2);
        text_add_string(text, "\n");
        wrap_add(text, slice_of_string(meaning), width, INDENT); /* which begins so far in */
    }
    output_plain_slice(&session->output, text_slice(text));
}

static void
show_examples(struct session *session, const char *examples)
{
    text_clear(&session->scratch);
    wrap_add_example(&session->scratch, slice_of_string(examples), output_width(&session->output));
    if (session->scratch.size > 0)
        session->scratch.size--; /* the end of the last line comes with printing */
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

/* ---- Topics ---------------------------------------------------------------------------------- */

static void
show_prose(struct session *session, petal_slice paragraph)
{
    text_clear(&session->scratch);
    wrap_add(&session->scratch, paragraph, output_width(&session->output), 0);
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

static void
show_topic(struct session *session, const char *line)
{
    while (*line != '\0') {
        size_t size = strcspn(line, "\n");
        struct text part = {0};

        text_add(&part, line, size);
        if (size > 2 && memcmp(line, "  ", 2) == 0)
            show_examples(session, text_string(&part));
        else if (strstr(text_string(&part), "      ") == NULL)
            show_prose(session, text_slice(&part));
        else
            show_usage(session, text_string(&part));
        text_free(&part);
        line += size + (line[size] == '\n');
    }
}

static void
show_filter(struct session *session, const struct filter_topic *filter, bool java)
{
    struct text text = {0};

    text_add_format(&text, "%s(%s)      %s", filter->name, filter->arguments, filter->meaning);
    show_usage(session, text_string(&text));
    text_clear(&text);
    text_add_format(&text, "  %s", filter->example);
    show_examples(session, text_string(&text));
    if (java) {
        text_clear(&text);
        text_add_format(&text, "  scan 't', FILTER => %s", filter->java);
        show_examples(session, text_string(&text));
    }
    text_free(&text);
}

static void
show_filters(struct session *session)
{
    const struct filter_topic *filter;

    show_topic(
        session,
        "FILTER takes one of these, or several with AND, OR and parentheses; SKIP before one "
        "leaves out rows of which it rejects a cell, WHILE ends the read at the first that "
        "it rejects.\n"
        "comparison      < <= = != >= >\n"
        "'comparator'      'binary:bytes', 'binaryprefix:bytes', 'substring:text', "
        "'regexstring:expression' or 'regexstringnocase:expression'\n"
        "\n"
        "  scan 't', FILTER => \"PrefixFilter('r') AND ValueFilter(=, 'substring:v')\"\n"
        "  scan 't', FILTER => \"SKIP ValueFilter(!=, 'binary:x') OR PageFilter(1)\"\n"
        "\n"
        "As objects of Java's they can be made, too: help 'PrefixFilter' shows its "
        "constructor, as that of each. Beyond these there are FilterList, SkipFilter, "
        "WhileMatchFilter, FuzzyRowFilter, MultiRowRangeFilter and RandomRowFilter.\n"
        "\n"
        "  f = SingleColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')\n"
        "  f.setFilterIfMissing(true)\n"
        "  scan 't', FILTER => FilterList.new(FilterList::Operator::MUST_PASS_ONE, f, "
        "PageFilter.new(1))\n"
        "  scan 't', FILTER => FuzzyRowFilter.new([Pair.new('user?-a', "
        "\"\\0\\0\\0\\0\\1\\0\\0\")])\n"
        "  scan 't', FILTER => MultiRowRangeFilter.new(['r1', 'user'])        # prefixes\n"
        "\n");
    for (size_t i = 0; (filter = help_filter(i)) != NULL; i++)
        show_filter(session, filter, false);
}

static bool
show_named_topic(struct session *session, petal_slice name)
{
    const struct filter_topic *filter;
    const struct topic *topic;

    for (size_t i = 0; (topic = help_topic(i)) != NULL; i++) {
        if (!slice_is(name, topic->name))
            continue;
        if (topic->text != NULL)
            show_topic(session, topic->text);
        else
            show_filters(session);
        return true;
    }
    for (size_t i = 0; (filter = help_filter(i)) != NULL; i++) {
        if (slice_is(name, filter->name)) {
            show_filter(session, filter, true);
            return true;
        }
    }
    return false;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static enum shell_status
fail_unknown(struct session *session, petal_slice name)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (const struct command *command = session->commands->list; command->name != NULL; command++)
        near_consider(name, command->name, &nearest, &least);
    for (size_t i = 0; help_group(i) != NULL; i++)
        near_consider(name, help_group(i), &nearest, &least);
    for (size_t i = 0; help_filter(i) != NULL; i++)
        near_consider(name, help_filter(i)->name, &nearest, &least);
    (void)session_fail(session, SHELL_NOT_FOUND, "There is no command, group or topic '%.*s'",
                       SLICE_UP_TO(80, name));
    if (nearest != NULL)
        text_add_format(&session->message, "; did you mean '%s'?", nearest);
    return SHELL_NOT_FOUND;
}

static enum shell_status
help_on(struct session *session, petal_slice name)
{
    const struct command *command = command_find(session, name);
    const struct group *group = find_group(name);
    const char *examples;

    if (command == NULL && group != NULL) {
        for (size_t i = 0; group->commands[i] != NULL; i++)
            show_usage(session, command_find(session, slice_of_string(group->commands[i]))->usage);
        return SHELL_FINE;
    }
    if (command == NULL && slice_is(name, CLUSTER)) {
        for (command = session->commands->absent; command->name != NULL; command++)
            show_usage(session, command->usage);
        return SHELL_FINE;
    }
    if (command == NULL)
        return show_named_topic(session, name) ? SHELL_FINE : fail_unknown(session, name);
    command = command_find(session, slice_of_string(command->main_name));
    examples = help_examples(command->name);
    show_usage(session, command->usage);
    if (examples != NULL) {
        output_plain(&session->output, "%s", "");
        show_examples(session, examples);
        output_plain(&session->output, "%s", "");
    }
    return SHELL_FINE;
}

/* A title in its line, then names parted by commas. */
static void
show_names(struct session *session, const char *begin, const char *const *names)
{
    struct text line = {0};

    text_clear(&session->scratch);
    text_add_string(&line, begin);
    for (size_t i = 0; names[i] != NULL; i++)
        text_add_format(&line, "%s%s", i == 0 ? "" : ", ", names[i]);
    wrap_add(&session->scratch, text_slice(&line), output_width(&session->output), INDENT);
    output_plain_slice(&session->output, text_slice(&session->scratch));
    text_free(&line);
}

COMMAND_FUNCTION(command_help)
{
    const struct topic *topic;
    size_t absent = 0;

    if (count == 1)
        return help_on(session, value_to_bytes(&session->arena, &arguments[0]));
    output_plain(&session->output, "COMMAND GROUPS:");
    for (size_t g = 0; g < GROUPS; g++) {
        output_plain(&session->output, "  Group name: %s (%s)", groups[g].name, groups[g].title);
        show_names(session, "  Commands: ", groups[g].commands);
        output_plain(&session->output, "%s", "");
    }
    while (session->commands->absent[absent].name != NULL)
        absent++;
    output_plain(&session->output,
                 "  Group name: " CLUSTER " (HBase's, for what one process has not)\n"
                 "  Commands: %zu, which say so; help '" CLUSTER "' lists them\n\n"
                 "TOPICS:",
                 absent);
    for (size_t i = 0; (topic = help_topic(i)) != NULL; i++)
        output_plain(&session->output, "  %-10s  %s", topic->name, topic->title);
    output_plain(&session->output, "\nhelp 'get' shows a command and examples, help 'dml' the "
                                   "commands of a group,\nhelp 'filters' a topic.");
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_table_help)
{
    show_prose(session,
               slice_of_string("A table can be held in a variable; the commands about it are then "
                               "called on it, without its name:"));
    output_plain(&session->output, "%s", "");
    show_examples(session, help_examples("table_help"));
    output_plain(&session->output, "%s", "");
    return SHELL_FINE;
}
