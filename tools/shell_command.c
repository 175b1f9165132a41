/* shell_command.c -- the list of commands; show_filters, version and exit.  See shell_command.h. */
#include "tools/shell_command.h"

#include <string.h>

static COMMAND_FUNCTION(command_show_filters);
static COMMAND_FUNCTION(command_version);
static COMMAND_FUNCTION(command_exit);

/* By name. */
static const struct command commands[] = {
    {"alter", "alter", 1, COMMAND_ANY_NUMBER, false, command_alter,
     "alter 't', NAME => 'f', VERSIONS => 5  |  'f2'  |  'delete' => 'f'  |  READONLY => true  |  "
     "METHOD => "
     "'table_att_unset', NAME => 'READONLY'      adds and changes families, deletes them, changes "
     "the table"},
    {"alter_status", "alter_status", 1, 1, false, command_alter_status, "alter_status 't'"},
    {"append", "append", 4, 5, false, command_append,
     "append 't', 'row', 'f:q', 'value' [, TTL => milliseconds]      behind the value that is "
     "there"},
    {"checkpoint", "checkpoint", 1, 1, false, command_checkpoint,
     "checkpoint 'directory'      a copy of the whole database as it is now, which shares its "
     "store "
     "files; the directory must not exist or be empty"},
    {"clone_snapshot", "clone_snapshot", 2, 3, false, command_clone_snapshot,
     "clone_snapshot 's', 'new table' [, {RESTORE_ACL => true}]      a new table that holds what "
     "the "
     "snapshot holds"},
    {"compact", "compact", 1, 3, false, command_compact,
     "compact 't' [, 'f']      merge all store files into one and wait; the same as major_compact"},
    {"compaction_state", "compaction_state", 1, 1, false, command_compaction_state,
     "compaction_state 't'      NONE, MINOR, MAJOR or MAJOR_AND_MINOR: what runs now"},
    {"count", "count", 1, 2, false, command_count,
     "count 't' [, INTERVAL => 1000, any key of scan]      the rows that a scan would show"},
    {"create", "create", 1, COMMAND_ANY_NUMBER, false, command_create,
     "create 't', 'f1', {NAME => 'f2', VERSIONS => 1, MIN_VERSIONS => 0, TTL => '1 DAY' | "
     "'FOREVER', "
     "KEEP_DELETED_CELLS => 'FALSE' | 'TRUE' | 'TTL', BLOOMFILTER => 'NONE' | 'ROW' | 'ROWCOL' | "
     "'ROW_ROWCOL' | 'ROWPREFIX_FIXED_LENGTH', BLOCKSIZE => '64KB', COMPRESSION => 'LZ4' | 'NONE', "
     "CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.01'}, BLOOM_RATE_PER_FILE => false}, "
     "READONLY => false      the rate is that of all store files together, or with "
     "BLOOM_RATE_PER_FILE of each"},
    {"delete", "delete", 3, 5, false, command_delete,
     "delete 't', 'row', 'f:q' [, timestamp] [, TTL => milliseconds]      one version, the newest "
     "when no timestamp is "
     "given"},
    {"delete_all_snapshot", "delete_all_snapshot", 1, 1, false, command_delete_all_snapshot,
     "delete_all_snapshot 'regular expression'      of snapshots; asks before it deletes"},
    {"delete_snapshot", "delete_snapshot", 1, 1, false, command_delete_snapshot,
     "delete_snapshot 's'"},
    {"delete_table_snapshots", "delete_table_snapshots", 1, 2, false,
     command_delete_table_snapshots,
     "delete_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of "
     "snapshots; asks before it deletes"},
    {"deleteall", "deleteall", 2, 5, false, command_deleteall,
     "deleteall 't', 'row' | {ROWPREFIXFILTER => 'p'} [, 'f:q' | 'f' [, timestamp]] [, TTL => "
     "milliseconds]      all "
     "versions up to the timestamp"},
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
     "get 't', 'row' [, 'f:q' ..] [, COLUMN => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, "
     "before], TIMESTAMP => t, FILTER => \"..\", MAXLENGTH => n, FORMATTER => 'toString', WITHOUT "
     "=> ['found newer', 'columns']]"},
    {"get_counter", "get_counter", 3, 3, false, command_get_counter,
     "get_counter 't', 'row', 'f:q'"},
    {"help", "help", 0, 1, false, command_help, "help ['command']"},
    {"incr", "incr", 3, 5, false, command_incr,
     "incr 't', 'row', 'f:q' [, amount] [, TTL => milliseconds]      a number of 8 bytes, 0 if "
     "there "
     "is none"},
    {"is_disabled", "is_disabled", 1, 1, false, command_is_disabled, "is_disabled 't'"},
    {"is_enabled", "is_enabled", 1, 1, false, command_is_enabled, "is_enabled 't'"},
    {"list", "list", 0, 1, false, command_list, "list ['regular expression']"},
    {"list_snapshots", "list_snapshots", 0, 1, false, command_list_snapshots,
     "list_snapshots ['regular expression']"},
    {"list_table_snapshots", "list_table_snapshots", 1, 2, false, command_list_table_snapshots,
     "list_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of "
     "snapshots"},
    {"major_compact", "major_compact", 1, 3, false, command_compact,
     "major_compact 't' [, 'f']      merge all store files into one and wait; what is deleted, "
     "superseded or expired goes"},
    {"put", "put", 4, 6, false, command_put,
     "put 't', 'row', 'f:q', 'value' [, timestamp] [, TTL => milliseconds]"},
    {"quit", "exit", 0, 1, false, command_exit, NULL},
    {"restore_snapshot", "restore_snapshot", 1, 2, false, command_restore_snapshot,
     "restore_snapshot 's' [, {RESTORE_ACL => true}]      its table, which must be disabled, "
     "becomes "
     "what it was"},
    {"scan", "scan", 1, 2, false, command_scan,
     "scan 't' [, STARTROW => 'a', STOPROW => 'b', INCLUDE_STOPROW => true, ROWPREFIXFILTER => "
     "'p', "
     "LIMIT => n, REVERSED => true, COLUMNS => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, "
     "before], TIMESTAMP => t, FILTER => \"..\", RAW => true, BATCH => n, MAXLENGTH => n, "
     "FORMATTER "
     "=> 'toString', WITHOUT => [..]]"},
    {"show_filters", "show_filters", 0, 0, false, command_show_filters,
     "show_filters      the names that FILTER takes"},
    {"snapshot", "snapshot", 2, COMMAND_ANY_NUMBER, false, command_snapshot,
     "snapshot 't', 's' [, {SKIP_FLUSH => true, TTL => seconds}]      keep what the table holds "
     "now "
     "under the name s"},
    {"stats", "stats", 0, 1, false, command_stats,
     "stats [COUNTERS => ['name', ..]]  |  stats 't'      counters since opening; the store files "
     "of a table"},
    {"truncate", "truncate", 1, 1, false, command_truncate,
     "truncate 't'      all rows go, families and attributes stay"},
    {"truncate_preserve", "truncate_preserve", 1, 1, false, command_truncate,
     "truncate_preserve 't'      the same"},
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

/* HBase's names, in order. */
static COMMAND_FUNCTION(command_show_filters)
{
    const char *name;

    (void)arguments;
    (void)count;
    (void)result;
    for (size_t i = 0; (name = petal_filter_name(i)) != NULL; i++)
        output_line(&session->output, slice_of_string(name));
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
