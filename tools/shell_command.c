/* shell_command.c -- the list of commands; help, version and exit.  See shell_command.h. */
#include "tools/shell_command.h"

#include <string.h>

static COMMAND_FUNCTION(command_help);
static COMMAND_FUNCTION(command_version);
static COMMAND_FUNCTION(command_exit);

/* By name. */
static const struct command commands[] = {
    {"count", "count", 1, 2, false, command_count,
     "count 't' [, INTERVAL => 1000, STARTROW => .., STOPROW => .., COLUMNS => .., LIMIT => n]"},
    {"create", "create", 1, COMMAND_ANY_NUMBER, false, command_create,
     "create 't', 'f1', {NAME => 'f2', BLOOMFILTER => 'NONE' | 'ROW' | 'ROWCOL' | 'ROW_ROWCOL', "
     "BLOCKSIZE => "
     "65536, COMPRESSION => 'LZ4' | 'NONE', CONFIGURATION => {'io.storefile.bloom.error.rate' => "
     "'0.01'}}"},
    {"delete", "delete", 3, 5, false, command_delete,
     "delete 't', 'row', 'f:q' [, timestamp]      one version, the newest when no timestamp is "
     "given"},
    {"deleteall", "deleteall", 2, 5, false, command_deleteall,
     "deleteall 't', 'row' [, 'f:q' [, timestamp]]      all versions up to the timestamp"},
    {"desc", "describe", 1, 1, false, command_describe, NULL},
    {"describe", "describe", 1, 1, false, command_describe, "describe 't'"},
    {"disable", "disable", 1, 1, false, command_disable,
     "disable 't'      until enable 't' or the end of this session"},
    {"drop", "drop", 1, 1, false, command_drop, "drop 't'      the table must be disabled"},
    {"enable", "enable", 1, 1, false, command_enable, "enable 't'"},
    {"exists", "exists", 1, 1, false, command_exists, "exists 't'"},
    {"exit", "exit", 0, 1, false, command_exit, "exit [status]"},
    {"explain", "explain", 1, COMMAND_ANY_NUMBER, true, command_explain,
     "explain get 't', 'row' ..  |  explain scan 't' ..      what a read did, source by source"},
    {"flush", "flush", 1, 2, false, command_flush, "flush 't'      memtables to store files"},
    {"get", "get", 2, COMMAND_ANY_NUMBER, false, command_get,
     "get 't', 'row' [, 'f:q' ..] [, COLUMN => ['f:q', 'g'], TIMERANGE => [from, before], "
     "TIMESTAMP => t, "
     "MAXLENGTH => n, WITHOUT => ['found newer', 'columns']]"},
    {"help", "help", 0, 1, false, command_help, "help ['command']"},
    {"is_disabled", "is_disabled", 1, 1, false, command_is_disabled, "is_disabled 't'"},
    {"is_enabled", "is_enabled", 1, 1, false, command_is_enabled, "is_enabled 't'"},
    {"list", "list", 0, 1, false, command_list, "list ['regular expression']"},
    {"put", "put", 4, 6, false, command_put, "put 't', 'row', 'f:q', 'value' [, timestamp]"},
    {"quit", "exit", 0, 1, false, command_exit, NULL},
    {"scan", "scan", 1, 2, false, command_scan,
     "scan 't' [, STARTROW => 'a', STOPROW => 'b', ROWPREFIXFILTER => 'p', LIMIT => n, COLUMNS => "
     "['f:q', 'g'], "
     "TIMERANGE => [from, before], TIMESTAMP => t, MAXLENGTH => n, WITHOUT => [..]]"},
    {"stats", "stats", 0, 1, false, command_stats,
     "stats [COUNTERS => ['name', ..]]  |  stats 't'      counters since opening; the store files "
     "of a table"},
    {"verify", "verify", 1, 1, false, command_verify,
     "verify 't'      read every block of every store file and check it"},
    {"version", "version", 0, 0, false, command_version, "version"},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]), LONGEST_NAME = 24, NEAR = 2 };

const struct command *
command_at(size_t index)
{
    return index < COMMAND_COUNT ? &commands[index] : NULL;
}

const struct command *
command_find(petal_slice name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (slice_is(name, commands[i].name))
            return &commands[i];
    return NULL;
}

/* Letters to insert, remove or change until `a` is `b` (Levenshtein). */
static unsigned
edit_distance(petal_slice a, petal_slice b)
{
    unsigned row[LONGEST_NAME + 1];
    const char *from = a.data, *to = b.data;

    for (unsigned j = 0; j <= b.size; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.size; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b.size; j++) {
            unsigned change = diagonal + (from[i - 1] != to[j - 1]);
            unsigned least = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[b.size];
}

const char *
command_nearest(petal_slice name)
{
    const char *nearest = NULL;
    unsigned least = NEAR + 1;

    for (size_t i = 0; i < COMMAND_COUNT && name.size <= LONGEST_NAME; i++) {
        unsigned distance = edit_distance(name, slice_of_string(commands[i].name));

        if (distance < least && distance < name.size) {
            least = distance;
            nearest = commands[i].name;
        }
    }
    return nearest;
}

static COMMAND_FUNCTION(command_help)
{
    (void)result;
    if (count == 1) {
        petal_slice name = value_to_bytes(&session->arena, &arguments[0]);
        const struct command *command = command_find(name);

        if (command == NULL)
            return session_fail(session, SHELL_NOT_FOUND, "There is no command '%.*s'",
                                name.size < 80 ? (int)name.size : 80, (const char *)name.data);
        command = command_find(slice_of_string(command->main_name));
        output_plain(&session->output, "%s", command->usage);
        return SHELL_FINE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].usage != NULL)
            output_plain(&session->output, "%s", commands[i].usage);
    output_plain(&session->output, "\nStrings stand in 'single' or \"double\" quotes; the latter "
                                   "take \\x00, \\n and the like.");
    return SHELL_FINE;
}

static COMMAND_FUNCTION(command_version)
{
    (void)arguments;
    (void)count;
    (void)result;
    output_plain(&session->output, "kv-shell of Petal, with the language of the HBase 2.6 shell");
    return SHELL_FINE;
}

static COMMAND_FUNCTION(command_exit)
{
    (void)result;
    session->ended = true;
    if (count == 1 && arguments[0].kind == VALUE_INTEGER)
        session->exit_status = (int)(arguments[0].as.integer & 0xff);
    return SHELL_FINE;
}
