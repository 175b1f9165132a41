/*
 * commands.c -- the table of the shell's commands: name, kinds of arguments, least and most of
 * them, usage.
 *
 * A usage says what is typed and, after six blanks, what comes of it.
 */
#include "tools/shell/commands.h"

#include "tools/shell/admin/commands.h"
#include "tools/shell/data/commands.h"
#include "tools/shell/files/commands.h"
#include "tools/shell/schema/commands.h"
#include "tools/shell/study/commands.h"

#define ANY                  COMMAND_ANY_NUMBER
#define COMMAND(name)        #name, #name, command_##name, false, DATABASE_WANTED
#define SAME(name, function) #name, #name, command_##function, false, DATABASE_WANTED
#define ALIAS(name, main)    #name, #main, command_##main, false, DATABASE_WANTED
#define OF_CALL(name)        #name, #name, command_##name, true, DATABASE_WANTED
#define MAKES(name)          #name, #name, command_##name, false, DATABASE_MADE
#define WITHOUT(name, main)  #name, #main, command_##main, false, DATABASE_UNUSED

static const struct command commands[] = {
    {COMMAND(advise), "t", 1, 2,
     "advise 't' [, SAMPLE => n | KEYS => 'file']      what the gets of this session, of n rows at "
     "random and n that are not there, or of a file (a line: row, or row TAB family:qualifier) did "
     "read, and would read under each BLOOMFILTER and BLOCKSIZE"},
    {COMMAND(alter), "t", 1, ANY,
     "alter 't', NAME => 'f', VERSIONS => 5  |  'f2'  |  'delete' => 'f'  |  READONLY => true  |  "
     "METHOD => 'table_att_unset', NAME => 'READONLY'      adds and changes families, deletes "
     "them, changes the table"},
    {COMMAND(alter_async), "t", 1, ANY,
     "alter_async 't', ..      as alter, without a word about regions"},
    {COMMAND(alter_namespace), "n", 1, ANY,
     "alter_namespace 'ns', {METHOD => 'set', 'key' => 'value'} | {METHOD => 'unset', NAME => "
     "'key'}"},
    {COMMAND(alter_status), "t", 1, 1, "alter_status 't'"},
    {COMMAND(append), "t-q-", 4, 5,
     "append 't', 'row', 'f:q', 'value' [, TTL => milliseconds]      behind the value that is "
     "there"},
    {ALIAS(bulk_load, import_hfiles), "tp", 2, ANY, NULL},
    {COMMAND(checkpoint), "p", 1, 1,
     "checkpoint 'directory'      a copy of the whole database as it is now, which shares its "
     "store files; the directory must not exist or be empty"},
    {COMMAND(clear_block_cache), "t", 1, 1,
     "clear_block_cache 't'      its blocks leave the block cache, so that the next reads fetch "
     "them"},
    {COMMAND(clone_snapshot), "s", 2, 3,
     "clone_snapshot 's', 'new table' [, {RESTORE_ACL => true}]      a new table that holds what "
     "the snapshot holds"},
    {COMMAND(clone_table_schema), "t", 2, 3,
     "clone_table_schema 't', 'new table' [, false]      families and attributes without the rows"},
    {COMMAND(compact), "tf", 1, 3,
     "compact 't' [, 'f']      merge all store files into one and wait; the same as major_compact"},
    {COMMAND(compaction_state), "t", 1, 1,
     "compaction_state 't'      NONE, MINOR, MAJOR or MAJOR_AND_MINOR: what runs now"},
    {WITHOUT(compaction_switch, compaction_switch), "-", 1, ANY,
     "compaction_switch true | false      what --no-compaction has set; cannot be changed while "
     "the database is open"},
    {COMMAND(count), "t", 1, 2,
     "count 't' [, INTERVAL => 1000, any key of scan]      the rows that a scan would show"},
    {MAKES(create), "-", 1, ANY,
     "create 't', 'f1', {NAME => 'f2', VERSIONS => 1, MIN_VERSIONS => 0, TTL => '1 DAY' | "
     "'FOREVER', KEEP_DELETED_CELLS => 'FALSE' | 'TRUE' | 'TTL', BLOOMFILTER => 'NONE' | 'ROW' | "
     "'ROWCOL' | 'ROW_ROWCOL' | 'ROWPREFIX_FIXED_LENGTH', BLOCKSIZE => '64KB', COMPRESSION => "
     "'LZ4' | 'NONE' (names of HBase's other codecs are kept and mean LZ4), CONFIGURATION => "
     "{'io.storefile.bloom.error.rate' => '0.01'}, BLOOM_RATE_PER_FILE => false, BLOOMFILTER_KIND "
     "=> "
     "'BLOCKED' | 'RIBBON'}, READONLY => false      the rate is that of all store files together, "
     "or with BLOOM_RATE_PER_FILE of each; RIBBON: compactions of all files write filters in 25 to "
     "32 per cent fewer bytes"},
    {MAKES(create_namespace), "-", 1, ANY,
     "create_namespace 'ns' [, {'key' => 'value'}]      tables in it have names such as 'ns:t'"},
    {COMMAND(delete), "t-q-", 3, 5,
     "delete 't', 'row', 'f:q' [, timestamp] [, TTL => milliseconds]      one version, the newest "
     "when no timestamp is given"},
    {COMMAND(delete_all_snapshot), "-", 1, 1,
     "delete_all_snapshot 'regular expression'      of snapshots; asks before it deletes"},
    {COMMAND(delete_snapshot), "s", 1, 1, "delete_snapshot 's'"},
    {COMMAND(delete_table_snapshots), "t", 1, 2,
     "delete_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of "
     "snapshots; asks before it deletes"},
    {COMMAND(deleteall), "t-q-", 2, 5,
     "deleteall 't', 'row' | {ROWPREFIXFILTER => 'p'} [, 'f:q' | 'f' [, timestamp]] [, TTL => "
     "milliseconds]      all versions up to the timestamp; of the rows that begin with p, batch by "
     "batch, and says how many: these take no TTL"},
    {ALIAS(desc, describe), "t", 1, 1, NULL},
    {COMMAND(describe), "t", 1, 1, "describe 't'"},
    {COMMAND(describe_namespace), "n", 1, 1, "describe_namespace 'ns'"},
    {COMMAND(disable), "t", 1, 1, "disable 't'      until enable 't' or the end of this session"},
    {COMMAND(disable_all), "t", 1, 1,
     "disable_all 'regular expression'      of tables; asks first"},
    {COMMAND(drop), "t", 1, 1, "drop 't'      the table must be disabled"},
    {COMMAND(drop_all), "t", 1, 1,
     "drop_all 'regular expression'      of tables, which must be disabled; asks first"},
    {COMMAND(drop_namespace), "n", 1, 1, "drop_namespace 'ns'      there must be no tables in it"},
    {COMMAND(enable), "t", 1, 1, "enable 't'"},
    {COMMAND(enable_all), "t", 1, 1, "enable_all 'regular expression'      of tables; asks first"},
    {COMMAND(exists), "t", 1, 1, "exists 't'"},
    {WITHOUT(exit, exit), "-", 0, 1, "exit [status]"},
    {OF_CALL(explain), "t", 1, ANY,
     "explain get 't', 'row' ..  |  explain scan 't' ..      what a read did, source by source"},
    {COMMAND(export), "tp", 2, 3,
     "export 't', 'file' [, FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ALL_VERSIONS => true, "
     "CREATE => true, any key of scan]      one cell a line; bytes outside 0x20 .. 0x7e and the "
     "backslash are written \\xHH, in jsonl what is no UTF-8 as {\"b64\": ..}, so that import "
     "gives every byte back"},
    {COMMAND(export_hfiles), "tp", 2, 3,
     "export_hfiles 't', 'directory' [, CODEC => 'GZ' | 'NONE' | 'LZ4' | 'SNAPPY' | 'ZSTD', "
     "ENCODING "
     "=> 'NONE' | 'PREFIX' | 'DIFF' | 'FAST_DIFF' | 'ROW_INDEX_V1', BLOOMFILTER => 'ROW', SPLITS "
     "=> "
     "['row', ..], SPLIT_SIZE => '10 GB', VISIBLE => true]      HBase's own files, a folder for "
     "each family, as its completebulkload takes them; all that is stored, or with VISIBLE what "
     "readers see"},
    {COMMAND(flush), "tf", 1, 2, "flush 't'      memtables to store files"},
    {COMMAND(get), "t-q", 2, ANY,
     "get 't', 'row' [, 'f:q' ..] [, COLUMN => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, "
     "before], TIMESTAMP => t, FILTER => \"..\", MAXLENGTH => n, FORMATTER => 'toString', WITHOUT "
     "=> ['found newer', 'columns']]"},
    {COMMAND(get_counter), "t-q-", 3, 3, "get_counter 't', 'row', 'f:q'"},
    {COMMAND(get_splits), "t", 1, 1,
     "get_splits 't'      a table is one region, so there are none"},
    {COMMAND(get_table), "t", 1, ANY,
     "get_table 't'      for a variable: t = get_table 't', then t.put 'row', 'f:q', 'value' and "
     "the like"},
    {WITHOUT(help, help), "c", 0, 1, "help ['command' | 'group' | 'topic' | 'filter']"},
    {MAKES(import), "tp", 2, 3,
     "import 't', 'file' [, CREATE => true, ROW => 'column' | ['column', ..] | ROW_NUMBER => true, "
     "ROW_SEPARATOR => '|', FAMILY => 'f', FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ON_ERROR "
     "=> 'skip' | 'stop', MAX_ERRORS => n, THREADS => n, FLUSH_EVERY => n, ONLY_FIELDS => "
     "'f:a,f:b', "
     "SKIP_FIELDS => 'f:a,f:b']      csv and tsv have a column for each family:qualifier and one "
     "for the row, or are what export writes; ROW names the row's column, or several to be joined; "
     "FAMILY is that of columns which name none; CREATE makes a table that is not there"},
    {COMMAND(import_hfiles), "tp", 2, ANY,
     "import_hfiles 't', 'path' [, 'path' ..] [, DROP_EDITS => true, DROP_TAGS => true]      "
     "HBase's own files: single ones, or folders of families, regions, tables, or snapshots; all "
     "cells enter by one commit, and a table that is not there is made"},
    {COMMAND(incr), "t-q-", 3, 5,
     "incr 't', 'row', 'f:q' [, amount] [, TTL => milliseconds]      a number of 8 bytes, 0 if "
     "there is none. Increments faster than one a millisecond of a column run ahead of the clock: "
     "a "
     "TIMERANGE up to now does not see the newest, and TTL counts from their timestamps"},
    {COMMAND(is_disabled), "t", 1, 1, "is_disabled 't'"},
    {COMMAND(is_enabled), "t", 1, 1, "is_enabled 't'"},
    {COMMAND(list), "t", 0, 1, "list ['regular expression']"},
    {COMMAND(list_disabled_tables), "t", 0, 0, "list_disabled_tables"},
    {COMMAND(list_enabled_tables), "t", 0, 0, "list_enabled_tables"},
    {COMMAND(list_liveservers), "t", 0, 0, "list_liveservers      this process"},
    {COMMAND(list_namespace), "-", 0, 1, "list_namespace ['regular expression']"},
    {COMMAND(list_namespace_tables), "n", 1, 1, "list_namespace_tables 'ns'"},
    {COMMAND(list_regions), "t", 1, 3,
     "list_regions 't' [, 'server' [, ['START_KEY', 'SIZE']]]      the one region of a table"},
    {COMMAND(list_snapshot_sizes), "t", 0, 0,
     "list_snapshot_sizes      bytes of the store files of each snapshot, shared or not"},
    {COMMAND(list_snapshots), "-", 0, 1, "list_snapshots ['regular expression']"},
    {COMMAND(list_table_snapshots), "t", 1, 2,
     "list_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of "
     "snapshots"},
    {COMMAND(locate_region), "t", 2, 2, "locate_region 't', 'row'"},
    {WITHOUT(log_level, log_level), "-", 0, 1,
     "log_level ['OFF' | 'ERROR' | 'WARN' | 'INFO' | 'DEBUG']      from which level on the engine "
     "tells on standard error what it does in the background; without an argument as it is now"},
    {SAME(major_compact, compact), "tf", 1, 3,
     "major_compact 't' [, 'f']      merge all store files into one and wait; what is deleted, "
     "superseded or expired goes"},
    {COMMAND(processlist), "t", 0, ANY,
     "processlist      flushes that wait and compactions that run"},
    {COMMAND(put), "t-q-", 4, 6,
     "put 't', 'row', 'f:q', 'value' [, timestamp] [, TTL => milliseconds]"},
    {WITHOUT(quit, exit), "-", 0, 1, NULL},
    {COMMAND(restore_snapshot), "s", 1, 2,
     "restore_snapshot 's' [, {RESTORE_ACL => true}]      its table, which must be disabled, "
     "becomes what it was"},
    {COMMAND(scan), "t", 1, 2,
     "scan 't' [, STARTROW => 'a', STOPROW => 'b', INCLUDE_STOPROW => true, ROWPREFIXFILTER => "
     "'p', LIMIT => n, REVERSED => true, COLUMNS => ['f:q', 'g'], VERSIONS => n, TIMERANGE => "
     "[from, before], TIMESTAMP => t, FILTER => \"..\", RAW => true, BATCH => n, MAXLENGTH => n, "
     "FORMATTER => 'toString', WITHOUT => [..]]"},
    {WITHOUT(show_filters, show_filters), "t", 0, 0,
     "show_filters      the names that FILTER takes; help 'filters' says what they do"},
    {COMMAND(snapshot), "t", 2, ANY,
     "snapshot 't', 's' [, {SKIP_FLUSH => true, TTL => seconds}]      keep what the table holds "
     "now under the name s"},
    {COMMAND(snapshot_cleanup_enabled), "t", 0, 0,
     "snapshot_cleanup_enabled      always: table snapshots whose time is over go by themselves"},
    {COMMAND(stats), "t", 0, 1,
     "stats [COUNTERS => ['name', ..] | FORMAT => 'PROMETHEUS']  |  stats 't'      counters since "
     "opening, and within which times half and 99 % of gets, seeks, writes, syncs, flushes and "
     "compactions ended: of those that were timed, rounded up to powers of two; FORMAT has their "
     "histograms; the store files of a table"},
    {COMMAND(status), "-", 0, 2,
     "status ['summary' | 'simple' | 'detailed']      how many tables there are, their files and "
     "memory"},
    {WITHOUT(table_help, table_help), "t", 0, 0, "table_help      tables in variables"},
    {OF_CALL(time), "t", 1, ANY,
     "time scan 't' ..      runs a command, then says what it took: by the clock, of the "
     "processor, in blocks"},
    {COMMAND(truncate), "t", 1, 1, "truncate 't'      all rows go, families and attributes stay"},
    {SAME(truncate_preserve, truncate), "t", 1, 1, "truncate_preserve 't'      the same"},
    {COMMAND(verify), "t", 0, 1,
     "verify ['t']      read every block of every store file, of all tables if none is given, and "
     "list what is damaged"},
    {WITHOUT(version, version), "-", 0, 0, "version"},
    {WITHOUT(whoami, whoami), "-", 0, 0, "whoami      the user and groups of this process"},
    {.name = NULL},
};

const struct command_table *
shell_commands(void)
{
    static struct command_table table = {.list = commands};

    table.absent = absent_commands();
    return &table;
}
