/* command.c -- the list of commands; show_filters, version and exit.  See tools/shell/session/command.h. */
#include "tools/shell/session/command.h"

#include <string.h>

static COMMAND_FUNCTION(command_show_filters);
static COMMAND_FUNCTION(command_version);
static COMMAND_FUNCTION(command_exit);

/* By name. */
static const struct command commands[] = {
    {"advise", "advise", 1, 2, false, command_advise,
     "advise 't' [, {SAMPLE => n}]      what the gets of this session, or of n rows at random and "
     "n that are not there, would read under each BLOOMFILTER and BLOCKSIZE"},
    {"alter", "alter", 1, COMMAND_ANY_NUMBER, false, command_alter,
     "alter 't', NAME => 'f', VERSIONS => 5  |  'f2'  |  'delete' => 'f'  |  READONLY => true  |  "
     "METHOD => "
     "'table_att_unset', NAME => 'READONLY'      adds and changes families, deletes them, changes "
     "the table"},
    {"alter_async", "alter_async", 1, COMMAND_ANY_NUMBER, false, command_alter_async,
     "alter_async 't', ..      as alter, without a word about regions"},
    {"alter_namespace", "alter_namespace", 1, COMMAND_ANY_NUMBER, false, command_alter_namespace,
     "alter_namespace 'ns', {METHOD => 'set', 'key' => 'value'} | {METHOD => 'unset', NAME => "
     "'key'}"},
    {"alter_status", "alter_status", 1, 1, false, command_alter_status, "alter_status 't'"},
    {"append", "append", 4, 5, false, command_append,
     "append 't', 'row', 'f:q', 'value' [, TTL => milliseconds]      behind the value that is "
     "there"},
    {"checkpoint", "checkpoint", 1, 1, false, command_checkpoint,
     "checkpoint 'directory'      a copy of the whole database as it is now, which shares its "
     "store "
     "files; the directory must not exist or be empty"},
    {"clear_block_cache", "clear_block_cache", 1, 1, false, command_clear_block_cache,
     "clear_block_cache 't'      its blocks leave the block cache, so that the next reads fetch "
     "them"},
    {"clone_snapshot", "clone_snapshot", 2, 3, false, command_clone_snapshot,
     "clone_snapshot 's', 'new table' [, {RESTORE_ACL => true}]      a new table that holds what "
     "the "
     "snapshot holds"},
    {"clone_table_schema", "clone_table_schema", 2, 3, false, command_clone_table_schema,
     "clone_table_schema 't', 'new table' [, false]      families and attributes without the rows"},
    {"compact", "compact", 1, 3, false, command_compact,
     "compact 't' [, 'f']      merge all store files into one and wait; the same as major_compact"},
    {"compaction_state", "compaction_state", 1, 1, false, command_compaction_state,
     "compaction_state 't'      NONE, MINOR, MAJOR or MAJOR_AND_MINOR: what runs now"},
    {"compaction_switch", "compaction_switch", 1, COMMAND_ANY_NUMBER, false,
     command_compaction_switch,
     "compaction_switch true | false      what --no-compaction has set; cannot be changed while "
     "the database is open"},
    {"count", "count", 1, 2, false, command_count,
     "count 't' [, INTERVAL => 1000, any key of scan]      the rows that a scan would show"},
    {"create", "create", 1, COMMAND_ANY_NUMBER, false, command_create,
     "create 't', 'f1', {NAME => 'f2', VERSIONS => 1, MIN_VERSIONS => 0, TTL => '1 DAY' | "
     "'FOREVER', "
     "KEEP_DELETED_CELLS => 'FALSE' | 'TRUE' | 'TTL', BLOOMFILTER => 'NONE' | 'ROW' | 'ROWCOL' | "
     "'ROW_ROWCOL' | 'ROWPREFIX_FIXED_LENGTH', BLOCKSIZE => '64KB', COMPRESSION => 'LZ4' | 'NONE' "
     "(names of HBase's other codecs are kept and mean LZ4), "
     "CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.01'}, BLOOM_RATE_PER_FILE => false}, "
     "READONLY => false      the rate is that of all store files together, or with "
     "BLOOM_RATE_PER_FILE of each"},
    {"create_namespace", "create_namespace", 1, COMMAND_ANY_NUMBER, false, command_create_namespace,
     "create_namespace 'ns' [, {'key' => 'value'}]      tables in it have names such as 'ns:t'"},
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
    {"describe_namespace", "describe_namespace", 1, 1, false, command_describe_namespace,
     "describe_namespace 'ns'"},
    {"disable", "disable", 1, 1, false, command_disable,
     "disable 't'      until enable 't' or the end of this session"},
    {"disable_all", "disable_all", 1, 1, false, command_disable_all,
     "disable_all 'regular expression'      of tables; asks first"},
    {"drop", "drop", 1, 1, false, command_drop, "drop 't'      the table must be disabled"},
    {"drop_all", "drop_all", 1, 1, false, command_drop_all,
     "drop_all 'regular expression'      of tables, which must be disabled; asks first"},
    {"drop_namespace", "drop_namespace", 1, 1, false, command_drop_namespace,
     "drop_namespace 'ns'      there must be no tables in it"},
    {"enable", "enable", 1, 1, false, command_enable, "enable 't'"},
    {"enable_all", "enable_all", 1, 1, false, command_enable_all,
     "enable_all 'regular expression'      of tables; asks first"},
    {"exists", "exists", 1, 1, false, command_exists, "exists 't'"},
    {"exit", "exit", 0, 1, false, command_exit, "exit [status]"},
    {"explain", "explain", 1, COMMAND_ANY_NUMBER, true, command_explain,
     "explain get 't', 'row' ..  |  explain scan 't' ..      what a read did, source by source"},
    {"export", "export", 2, 3, false, command_export,
     "export 't', 'file' [, FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ALL_VERSIONS => true, "
     "CREATE => true, any key of scan]      one cell a line; bytes outside 0x20 .. 0x7e and the "
     "backslash are written \\xHH, so that import gives every byte back"},
    {"flush", "flush", 1, 2, false, command_flush, "flush 't'      memtables to store files"},
    {"get", "get", 2, COMMAND_ANY_NUMBER, false, command_get,
     "get 't', 'row' [, 'f:q' ..] [, COLUMN => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, "
     "before], TIMESTAMP => t, FILTER => \"..\", MAXLENGTH => n, FORMATTER => 'toString', WITHOUT "
     "=> ['found newer', 'columns']]"},
    {"get_counter", "get_counter", 3, 3, false, command_get_counter,
     "get_counter 't', 'row', 'f:q'"},
    {"get_splits", "get_splits", 1, 1, false, command_get_splits,
     "get_splits 't'      a table is one region, so there are none"},
    {"get_table", "get_table", 1, COMMAND_ANY_NUMBER, false, command_get_table,
     "get_table 't'      for a variable: t = get_table 't', then t.put 'row', 'f:q', 'value' and "
     "the like"},
    {"help", "help", 0, 1, false, command_help, "help ['command' | 'group']"},
    {"import", "import", 2, 3, false, command_import,
     "import 't', 'file' [, FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ON_ERROR => 'skip' | "
     "'stop', "
     "MAX_ERRORS => n, THREADS => n, FLUSH_EVERY => n, ONLY_FIELDS => 'f:a,f:b', SKIP_FIELDS => "
     "'f:a,f:b']      csv and tsv have a column "
     "for each family:qualifier, or are what export writes"},
    {"incr", "incr", 3, 5, false, command_incr,
     "incr 't', 'row', 'f:q' [, amount] [, TTL => milliseconds]      a number of 8 bytes, 0 if "
     "there "
     "is none"},
    {"is_disabled", "is_disabled", 1, 1, false, command_is_disabled, "is_disabled 't'"},
    {"is_enabled", "is_enabled", 1, 1, false, command_is_enabled, "is_enabled 't'"},
    {"list", "list", 0, 1, false, command_list, "list ['regular expression']"},
    {"list_disabled_tables", "list_disabled_tables", 0, 0, false, command_list_disabled_tables,
     "list_disabled_tables"},
    {"list_enabled_tables", "list_enabled_tables", 0, 0, false, command_list_enabled_tables,
     "list_enabled_tables"},
    {"list_liveservers", "list_liveservers", 0, 0, false, command_list_liveservers,
     "list_liveservers      this process"},
    {"list_namespace", "list_namespace", 0, 1, false, command_list_namespace,
     "list_namespace ['regular expression']"},
    {"list_namespace_tables", "list_namespace_tables", 1, 1, false, command_list_namespace_tables,
     "list_namespace_tables 'ns'"},
    {"list_regions", "list_regions", 1, 3, false, command_list_regions,
     "list_regions 't' [, 'server' [, ['START_KEY', 'SIZE']]]      the one region of a table"},
    {"list_snapshot_sizes", "list_snapshot_sizes", 0, 0, false, command_list_snapshot_sizes,
     "list_snapshot_sizes      bytes of the store files of each snapshot, shared or not"},
    {"list_snapshots", "list_snapshots", 0, 1, false, command_list_snapshots,
     "list_snapshots ['regular expression']"},
    {"list_table_snapshots", "list_table_snapshots", 1, 2, false, command_list_table_snapshots,
     "list_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of "
     "snapshots"},
    {"locate_region", "locate_region", 2, 2, false, command_locate_region,
     "locate_region 't', 'row'"},
    {"major_compact", "major_compact", 1, 3, false, command_compact,
     "major_compact 't' [, 'f']      merge all store files into one and wait; what is deleted, "
     "superseded or expired goes"},
    {"processlist", "processlist", 0, COMMAND_ANY_NUMBER, false, command_processlist,
     "processlist      flushes that wait and compactions that run"},
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
    {"snapshot_cleanup_enabled", "snapshot_cleanup_enabled", 0, 0, false,
     command_snapshot_cleanup_enabled,
     "snapshot_cleanup_enabled      always: table snapshots whose time is over go by themselves"},
    {"stats", "stats", 0, 1, false, command_stats,
     "stats [COUNTERS => ['name', ..]]  |  stats 't'      counters since opening; the store files "
     "of a table"},
    {"status", "status", 0, 2, false, command_status,
     "status ['summary' | 'simple' | 'detailed']      how many tables there are, their files and "
     "memory"},
    {"table_help", "table_help", 0, 0, false, command_table_help,
     "table_help      tables in variables"},
    {"time", "time", 1, COMMAND_ANY_NUMBER, true, command_time,
     "time scan 't' ..      runs a command, then says what it took: by the clock, of the "
     "processor, "
     "in blocks"},
    {"truncate", "truncate", 1, 1, false, command_truncate,
     "truncate 't'      all rows go, families and attributes stay"},
    {"truncate_preserve", "truncate_preserve", 1, 1, false, command_truncate,
     "truncate_preserve 't'      the same"},
    {"verify", "verify", 1, 1, false, command_verify,
     "verify 't'      read every block of every store file and check it"},
    {"version", "version", 0, 0, false, command_version, "version"},
    {"whoami", "whoami", 0, 0, false, command_whoami,
     "whoami      the user and groups of this process"},
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
    for (size_t i = 0; command_absent_at(i) != NULL; i++)
        if (slice_is(name, command_absent_at(i)->name))
            return command_absent_at(i);
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
    bool records;

    (void)arguments;
    (void)count;
    (void)result;
    records = output_begin_records(&session->output, "filter");
    for (size_t i = 0; (name = petal_filter_name(i)) != NULL; i++) {
        if (records)
            format_string(&session->output.format, name);
        else
            output_line(&session->output, slice_of_string(name));
    }
    return SHELL_FINE;
}

static COMMAND_FUNCTION(command_version)
{
    (void)arguments;
    (void)count;
    (void)result;
    if (output_begin_records(&session->output, "version")) {
        format_string(&session->output.format, petal_version());
        return SHELL_FINE;
    }
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
