/* shell_help.c -- help: the usage of every command, examples of those that take much. */
#include "tools/shell_command.h"

/* Each can be typed as it stands, for a table t with a family f. */
static const struct {
    const char *name, *text;
} examples[] = {
    {"append", "  append 't', 'r1', 'f:log', ',more'\n"},
    {"count",
     "  count 't'\n"
     "  count 't', 100                                   # tells each 100 rows\n"
     "  count 't', STARTROW => 'r1', STOPROW => 'r5'\n"
     "  count 't', FILTER => \"ValueFilter(=, 'substring:x')\"\n"
     "  count 't', RAW => true                           # rows with nothing but markers, too\n"},
    {"delete", "  delete 't', 'r1', 'f:a'                          # the newest version; an older "
               "one shows then\n"
               "  delete 't', 'r1', 'f:a', 1000                    # the version at 1000\n"
               "  delete 't', 'r1', 'f', 1000                      # of all columns of f the "
               "version at 1000\n"},
    {"deleteall", "  deleteall 't', 'r1'                              # the row\n"
                  "  deleteall 't', 'r1', 'f'                         # the family in that row\n"
                  "  deleteall 't', 'r1', 'f:a', 1000                 # the column up to 1000\n"
                  "  deleteall 't', 'r1', '', 1000                    # the row up to 1000\n"
                  "  deleteall 't', {ROWPREFIXFILTER => 'user1-'}     # all rows that begin so\n"},
    {"get",
     "  get 't', 'r1'\n"
     "  get 't', 'r1', 'f:a', 'f:b'\n"
     "  get 't', 'r1', ['f:a', 'f']\n"
     "  get 't', 'r1', COLUMN => 'f:a', VERSIONS => 3\n"
     "  get 't', 'r1', TIMERANGE => [1000, 2000]         # 1000 and later, before 2000\n"
     "  get 't', 'r1', FILTER => \"QualifierFilter(>=, 'binary:b')\"\n"
     "  get 't', 'r1', 'f:a:toString'                    # also toInt toLong toShort toFloat "
     "toDouble toBoolean toHex\n"
     "  get 't', 'r1', COLUMN => 'f:a', MAXLENGTH => 60  # only so many characters of each cell\n"},
    {"get_counter", "  get_counter 't', 'r1', 'f:n'\n"},
    {"incr", "  incr 't', 'r1', 'f:n'\n"
             "  incr 't', 'r1', 'f:n', -5\n"
             "  incr 't', 'r1', 'f:n', 1, TTL => 3600000\n"},
    {"put", "  put 't', 'r1', 'f:a', 'v'\n"
            "  put 't', 'r1', 'f:a', 'v', 1000                  # at a timestamp, in milliseconds\n"
            "  put 't', 'r1', 'f:a', \"\\x00\\xff\", TTL => 60000  # it is gone in a minute\n"},
    {"scan",
     "  scan 't'\n"
     "  scan 't', LIMIT => 10\n"
     "  scan 't', STARTROW => 'r1', STOPROW => 'r5'      # r5 is left out\n"
     "  scan 't', ROWPREFIXFILTER => 'user1-'\n"
     "  scan 't', STARTROW => 'r5', REVERSED => true     # from r5 downwards\n"
     "  scan 't', COLUMNS => ['f:a', 'f:b:toInt'], VERSIONS => 3\n"
     "  scan 't', TIMERANGE => [1000, 2000]              # 1000 and later, before 2000\n"
     "  scan 't', FILTER => \"PrefixFilter('r') AND ValueFilter(=, 'regexstring:^a.*z$')\"\n"
     "  scan 't', FILTER => \"SingleColumnValueFilter('f', 'a', >, 'binary:m', true, true)\"\n"
     "  scan 't', RAW => true, VERSIONS => 10            # deleted cells and the markers, too\n"
     "  scan 't', BATCH => 2                             # rows in pieces of 2 cells\n"},
    {"snapshot",
     "  snapshot 't', 's1'\n"
     "  snapshot 't', 's2', SKIP_FLUSH => true           # without what is in memory only\n"
     "  snapshot 't', 's3', TTL => 86400                 # gone after a day\n"},
    {"list_snapshots", "  list_snapshots\n"
                       "  list_snapshots 's.*'\n"},
    {"list_table_snapshots", "  list_table_snapshots 't'\n"
                             "  list_table_snapshots 't|u', '.*2'                # of both tables, "
                             "the names that end in 2\n"},
    {"clone_snapshot", "  clone_snapshot 's1', 't2'\n"},
    {"restore_snapshot", "  disable 't'\n"
                         "  restore_snapshot 's1'\n"
                         "  enable 't'\n"},
    {"delete_table_snapshots",
     "  delete_table_snapshots 't'                       # all of that table\n"
     "  delete_table_snapshots 't', 's.*'\n"},
    {"explain", "  explain get 't', 'r1', 'f:a'\n"
                "  explain scan 't', ROWPREFIXFILTER => 'user1-', TIMERANGE => [1000, 2000]\n"},
};

static enum shell_status
help_on(struct session *session, petal_slice name)
{
    const struct command *command = command_find(name);

    if (command == NULL)
        return session_fail(session, SHELL_NOT_FOUND, "There is no command '%.*s'",
                            name.size < 80 ? (int)name.size : 80, (const char *)name.data);
    command = command_find(slice_of_string(command->main_name));
    output_plain(&session->output, "%s", command->usage);
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (slice_is(slice_of_string(command->name), examples[i].name))
            output_plain(&session->output, "\n%s", examples[i].text);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_help)
{
    const struct command *command;

    (void)result;
    if (count == 1)
        return help_on(session, value_to_bytes(&session->arena, &arguments[0]));
    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (command->usage != NULL)
            output_plain(&session->output, "%s", command->usage);
    output_plain(&session->output,
                 "\nhelp 'get' and the like show examples.  Strings stand in 'single' or "
                 "\"double\" quotes; the latter take \\x00, \\n and the like.");
    return SHELL_FINE;
}
