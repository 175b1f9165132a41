/*
 * commands.c -- the table of the shell's commands: name, kinds of arguments, least and most of
 * them.  tools/shell/ruby/commands/help_text.rb says how each is used.
 */
#include "tools/shell/commands.h"

#include "tools/shell/admin/commands.h"
#include "tools/shell/data/commands.h"
#include "tools/shell/files/commands.h"
#include "tools/shell/ruby/shell.h"
#include "tools/shell/study/commands.h"

#define ANY                          COMMAND_ANY_NUMBER
#define COMMAND(name)                #name, #name, command_##name, false, DATABASE_WANTED
#define SAME(name, function)         #name, #name, command_##function, false, DATABASE_WANTED
#define ALIAS(name, main)            #name, #main, command_##main, false, DATABASE_WANTED
#define OF_CALL(name)                #name, #name, command_##name, true, DATABASE_ROWS
#define ROWS(name)                   #name, #name, command_##name, false, DATABASE_ROWS
#define MAKES(name)                  #name, #name, command_##name, false, DATABASE_MADE
#define WITHOUT(name, main)          #name, #main, command_##main, false, DATABASE_UNUSED
#define RUBY(name)                   #name, #name, command_in_ruby, false, DATABASE_WANTED
#define FACTS(name)                  #name, #name, command_##name, false, DATABASE_FACTS
#define RUBY_FACTS(name)             #name, #name, command_in_ruby, false, DATABASE_FACTS
#define RUBY_FACTS_ALIAS(name, main) #name, #main, command_in_ruby, false, DATABASE_FACTS
#define RUBY_MAKES(name)             #name, #name, command_in_ruby, false, DATABASE_MADE
#define RUBY_WITHOUT(name)           #name, #name, command_in_ruby, false, DATABASE_UNUSED

static const struct command commands[] = {
    {COMMAND(advise), "t", 1, 2},
    {RUBY(alter), "t", 1, ANY},
    {RUBY(alter_async), "t", 1, ANY},
    {RUBY(alter_namespace), "n", 1, ANY},
    {RUBY_FACTS(alter_status), "t", 1, 1},
    {ROWS(append), "t-q-", 4, 5},
    {COMMAND(backup), "p", 1, 2},
    {ALIAS(bulk_load, import_hfiles), "tp", 2, ANY},
    {RUBY(checkpoint), "p", 1, 1},
    {RUBY(clear_block_cache), "t", 1, 1},
    {RUBY(clone_snapshot), "s", 2, 3},
    {RUBY(clone_table_schema), "t", 2, 3},
    {COMMAND(compact), "tf", 1, 3},
    {FACTS(compaction_state), "t", 1, 1},
    {RUBY_WITHOUT(compaction_switch), "-", 1, ANY},
    {ROWS(count), "t", 1, 2},
    {RUBY_MAKES(create), "-", 1, ANY},
    {RUBY_MAKES(create_namespace), "-", 1, ANY},
    {ROWS(delete), "t-q-", 3, 5},
    {RUBY(delete_all_snapshot), "-", 1, 1},
    {RUBY(delete_snapshot), "s", 1, 1},
    {RUBY(delete_table_snapshots), "t", 1, 2},
    {ROWS(deleteall), "t-q-", 2, 5},
    {RUBY_FACTS_ALIAS(desc, describe), "t", 1, 1},
    {RUBY_FACTS(describe), "t", 1, 1},
    {RUBY_FACTS(describe_namespace), "n", 1, 1},
    {RUBY(disable), "t", 1, 1},
    {RUBY(disable_all), "t", 1, 1},
    {RUBY(drop), "t", 1, 1},
    {RUBY(drop_all), "t", 1, 1},
    {RUBY(drop_namespace), "n", 1, 1},
    {RUBY(enable), "t", 1, 1},
    {RUBY(enable_all), "t", 1, 1},
    {RUBY_FACTS(exists), "t", 1, 1},
    {WITHOUT(exit, exit), "-", 0, 1},
    {OF_CALL(explain), "t", 1, ANY},
    {COMMAND(export), "tp", 2, 3},
    {COMMAND(export_hfiles), "tp", 2, 3},
    {COMMAND(flush), "tf", 1, 2},
    {ROWS(get), "t-q", 2, ANY},
    {ROWS(get_counter), "t-q-", 3, 3},
    {RUBY_FACTS(get_splits), "t", 1, 1},
    {RUBY_FACTS(get_table), "t", 1, ANY},
    {RUBY_WITHOUT(help), "c", 0, 1},
    {MAKES(import), "tp", 2, 3},
    {COMMAND(import_hfiles), "tp", 2, ANY},
    {ROWS(incr), "t-q-", 3, 5},
    {RUBY_FACTS(is_disabled), "t", 1, 1},
    {RUBY_FACTS(is_enabled), "t", 1, 1},
    {RUBY_FACTS(list), "t", 0, 1},
    {RUBY_FACTS(list_disabled_tables), "t", 0, 0},
    {RUBY_FACTS(list_enabled_tables), "t", 0, 0},
    {RUBY_FACTS(list_liveservers), "t", 0, 0},
    {RUBY_FACTS(list_namespace), "-", 0, 1},
    {RUBY_FACTS(list_namespace_tables), "n", 1, 1},
    {RUBY_FACTS(list_regions), "t", 1, 3},
    {RUBY_FACTS(list_snapshot_sizes), "t", 0, 0},
    {RUBY_FACTS(list_snapshots), "-", 0, 1},
    {RUBY_FACTS(list_table_snapshots), "t", 1, 2},
    {RUBY_FACTS(locate_region), "t", 2, 2},
    {WITHOUT(log_level, log_level), "-", 0, 1},
    {SAME(major_compact, compact), "tf", 1, 3},
    {RUBY(merge_region), "-", 0, ANY},
    {RUBY_FACTS(normalizer_enabled), "-", 0, 0},
    {RUBY_WITHOUT(normalizer_switch), "-", 1, 1},
    {RUBY_FACTS(processlist), "t", 0, ANY},
    {ROWS(put), "t-q-", 4, 6},
    {WITHOUT(quit, exit), "-", 0, 1},
    {RUBY(restore_snapshot), "s", 1, 2},
    {ROWS(scan), "t", 1, 2},
    {RUBY_WITHOUT(show_filters), "t", 0, 0},
    {RUBY(snapshot), "t", 2, ANY},
    {RUBY_FACTS(snapshot_cleanup_enabled), "t", 0, 0},
    {RUBY(split), "t", 1, 2},
    {RUBY_FACTS(splitormerge_enabled), "-", 1, 1},
    {RUBY_WITHOUT(splitormerge_switch), "-", 2, 2},
    {RUBY_FACTS(stats), "t", 0, 1},
    {RUBY_FACTS(status), "-", 0, 2},
    {RUBY_WITHOUT(table_help), "t", 0, 0},
    {OF_CALL(time), "t", 1, ANY},
    {COMMAND(transaction), "-", 0, 0},
    {RUBY(truncate), "t", 1, 1},
    {RUBY(truncate_preserve), "t", 1, 1},
    {COMMAND(verify), "t", 0, 1},
    {RUBY_WITHOUT(version), "-", 0, 0},
    {RUBY_WITHOUT(whoami), "-", 0, 0},
    {.name = NULL},
};

const struct command *
shell_commands(void)
{
    return commands;
}
