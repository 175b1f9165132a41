/*
 * examples.c -- the examples of help.  Each can be typed as it stands, in the order they are shown,
 * for a table t with a family f; tests/tools/shell/help_test.sh does that.
 */
#include "tools/shell/session/help.h"

#include "tools/shell/text/text.h"

#include <string.h>

static const struct {
    const char *name, *text;
} examples[] = {
    {"advise", "  get 't', 'r1'; get 't', 'r2', 'f:a'; advise 't'\n"
               "  advise 't', SAMPLE => 100\n"},
    {"alter",
     "  alter 't', NAME => 'f', VERSIONS => 5, TTL => '7 DAYS'\n"
     "  alter 't', 'g'                                   # one more family\n"
     "  alter 't', {NAME => 'g', BLOOMFILTER => 'ROWCOL'}, {NAME => 'h', IN_MEMORY => true}\n"
     "  alter 't', 'delete' => 'g'\n"
     "  alter 't', NAME => 'h', METHOD => 'delete'\n"
     "  alter 't', READONLY => true, METADATA => {'owner' => 'ada'}\n"
     "  alter 't', METHOD => 'table_att_unset', NAME => 'READONLY'\n"},
    {"alter_async", "  alter_async 't', NAME => 'f', VERSIONS => 5\n"},
    {"alter_namespace", "  create_namespace 'shop'\n"
                        "  alter_namespace 'shop', {METHOD => 'set', 'owner' => 'ada'}\n"
                        "  alter_namespace 'shop', {METHOD => 'unset', NAME => 'owner'}\n"},
    {"alter_status", "  alter_status 't'\n"},
    {"append", "  append 't', 'r1', 'f:log', ',more'\n"},
    {"clear_block_cache", "  clear_block_cache 't'\n"},
    {"clone_snapshot", "  snapshot 't', 's1'\n"
                       "  clone_snapshot 's1', 't2'\n"},
    {"clone_table_schema", "  clone_table_schema 't', 't2'\n"},
    {"compact", "  compact 't'\n"
                "  compact 't', 'f'\n"},
    {"compaction_state", "  compaction_state 't'\n"},
    {"compaction_switch", "  compaction_switch true\n"},
    {"count",
     "  count 't'\n"
     "  count 't', 100                                   # tells each 100 rows, in a pipe or file\n"
     "  count 't', STARTROW => 'r1', STOPROW => 'r5'\n"
     "  count 't', FILTER => \"ValueFilter(=, 'substring:x')\"\n"
     "  count 't', RAW => true                           # rows with nothing but markers, too\n"},
    {"create",
     "  create 't1', 'f'\n"
     "  create 't2', 'f1', {NAME => 'f2', VERSIONS => 3, BLOOMFILTER => 'ROWCOL'}\n"
     "  create 't3', {NAME => 'f', TTL => '1 DAY', BLOCKSIZE => '8KB', COMPRESSION => 'NONE'}\n"
     "  create 't4', 'f', DURABILITY => 'FSYNC_WAL', METADATA => {'owner' => 'ada'}\n"
     "  create 't5', {NAME => 'f', CONFIGURATION => {'io.storefile.bloom.error.rate' => "
     "'0.02'}}\n"},
    {"create_namespace", "  create_namespace 'shop'\n"
                         "  create 'shop:orders', 'f'\n"
                         "  create_namespace 'attic', {'owner' => 'ada'}\n"},
    {"delete", "  delete 't', 'r1', 'f:a'                          # the newest version; an older "
               "one shows then\n"
               "  delete 't', 'r1', 'f:a', 1000                    # the version at 1000\n"
               "  delete 't', 'r1', 'f', 1000                      # of all columns of f the "
               "version at 1000\n"},
    {"delete_all_snapshot", "  snapshot 't', 's1'\n"
                            "  delete_all_snapshot 's.*'\n"},
    {"delete_snapshot", "  snapshot 't', 's1'\n"
                        "  delete_snapshot 's1'\n"},
    {"delete_table_snapshots",
     "  snapshot 't', 's1'; snapshot 't', 'kept'\n"
     "  delete_table_snapshots 't', 's.*'\n"
     "  delete_table_snapshots 't'                       # all of that table\n"},
    {"deleteall", "  deleteall 't', 'r1'                              # the row\n"
                  "  deleteall 't', 'r1', 'f'                         # the family in that row\n"
                  "  deleteall 't', 'r1', 'f:a', 1000                 # the column up to 1000\n"
                  "  deleteall 't', 'r1', '', 1000                    # the row up to 1000\n"
                  "  deleteall 't', {ROWPREFIXFILTER => 'user1-'}     # all rows that begin so\n"},
    {"describe", "  describe 't'\n"
                 "  desc 't'\n"},
    {"describe_namespace", "  describe_namespace 'default'\n"},
    {"disable", "  disable 't'\n"},
    {"disable_all", "  disable_all 't.*'\n"},
    {"drop", "  disable 't'\n"
             "  drop 't'\n"},
    {"drop_all", "  disable_all 't.*'\n"
                 "  drop_all 't.*'\n"},
    {"drop_namespace", "  create_namespace 'shop'\n"
                       "  drop_namespace 'shop'\n"},
    {"enable", "  enable 't'\n"},
    {"enable_all", "  enable_all 't.*'\n"},
    {"exists", "  exists 't'\n"
               "  exists 'default:t'\n"},
    {"explain", "  explain get 't', 'r1', 'f:a'\n"
                "  explain get 't', 'r1', 'f:a', {WITHOUT => 'columns'}   # as if unknown\n"
                "  explain scan 't', ROWPREFIXFILTER => 'user1-', TIMERANGE => [1000, 2000]\n"},
    {"export", "  export 't', 't.csv'\n"
               "  export 't', '-', FORMAT => 'jsonl'               # - is the screen\n"
               "  export 't', 't.hbase', FORMAT => 'hbase', CREATE => true, ALL_VERSIONS => true\n"
               "  export 't', 'some.tsv', FORMAT => 'tsv', COLUMNS => ['f:a'], STARTROW => 'r1'\n"},
    {"export_hfiles", "  export_hfiles 't', 't-hfiles'\n"
                      "  export_hfiles 't', 'by-region', CODEC => 'LZ4', SPLITS => ['g', 'p']\n"},
    {"flush", "  flush 't'\n"},
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
    {"get_splits", "  get_splits 't'\n"},
    {"get_table", "  t = get_table 't'\n"
                  "  t.scan LIMIT => 10\n"},
    {"import",
     "  export 't', 't.jsonl', FORMAT => 'jsonl', ALL_VERSIONS => true\n"
     "  import 't', 't.jsonl', FORMAT => 'jsonl', ON_ERROR => 'skip', MAX_ERRORS => 10\n"
     "  import 't6', 't.jsonl', CREATE => true           # with the families of the file\n"
     "  export 't', 't.csv'\n"
     "  import 't7', 't.csv', CREATE => true\n"
     "# people.csv, whose first line is name,age,city:\n"
     "#   import 'people', 'people.csv', CREATE => true, ROW => 'name'\n"
     "#   import 'people', 'people.csv', CREATE => true, ROW => ['city', 'name'], FAMILY => "
     "'info'\n"
     "#   import 'people', 'people.csv', CREATE => true, ROW_NUMBER => true\n"},
    {"import_hfiles", "  export_hfiles 't', 'files'\n"
                      "  create 'copy', 'f'\n"
                      "  import_hfiles 'copy', 'files'                    # or of HBase's folders\n"
                      "  import_hfiles 't', 'files/f', DROP_TAGS => true\n"},
    {"incr", "  incr 't', 'r1', 'f:n'\n"
             "  incr 't', 'r1', 'f:n', -5\n"
             "  incr 't', 'r1', 'f:n', 1, TTL => 3600000\n"},
    {"is_disabled", "  is_disabled 't'\n"},
    {"is_enabled", "  is_enabled 't'\n"},
    {"list", "  list\n"
             "  list 't.*'                                      # the whole name must match\n"
             "  list 'shop:.*'\n"},
    {"list_namespace", "  list_namespace\n"
                       "  list_namespace 's.*'\n"},
    {"list_namespace_tables", "  list_namespace_tables 'default'\n"},
    {"list_regions", "  list_regions 't'\n"
                     "  list_regions 't', nil, ['START_KEY', 'SIZE']\n"},
    {"list_snapshots", "  list_snapshots\n"
                       "  list_snapshots 's.*'\n"},
    {"list_table_snapshots", "  list_table_snapshots 't'\n"
                             "  list_table_snapshots 't|u', '.*2'                # of both tables, "
                             "the names that end in 2\n"},
    {"locate_region", "  locate_region 't', 'r1'\n"},
    {"log_level", "  log_level\n"
                  "  log_level 'DEBUG'\n"
                  "  log_level 'ERROR'\n"},
    {"major_compact", "  major_compact 't'\n"
                      "  major_compact 't', 'f'\n"},
    {"put", "  put 't', 'r1', 'f:a', 'v'\n"
            "  put 't', 'r1', 'f:a', 'v', 1000                  # at a timestamp, in milliseconds\n"
            "  put 't', 'r1', 'f:a', \"\\x00\\xff\", TTL => 60000  # it is gone in a minute\n"
            "  put 't', 'r1', 'f:a', 'v', TTL => 0             # it is gone in a millisecond\n"},
    {"restore_snapshot", "  snapshot 't', 's1'\n"
                         "  disable 't'\n"
                         "  restore_snapshot 's1'\n"
                         "  enable 't'\n"},
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
    {"stats",
     "  stats\n"
     "  stats COUNTERS => ['gets', 'files_read']\n"
     "  stats FORMAT => 'PROMETHEUS'                     # histograms in place of p50 and p99\n"
     "  stats 't'\n"},
    {"status", "  status\n"
               "  status 'detailed'\n"},
    {"table_help", "  t = get_table 't'                                # or what create gives: t = "
                   "create 't2', 'f'\n"
                   "  t.put 'r1', 'f:a', 'v'\n"
                   "  t.get 'r1'\n"
                   "  t.scan STARTROW => 'r1', LIMIT => 10\n"
                   "  t.count\n"
                   "  t.describe\n"
                   "  t.delete 'r1', 'f:a'\n"
                   "  t.flush\n"
                   "  t.disable\n"
                   "  t.enable\n"},
    {"time", "  time scan 't'\n"},
    {"truncate", "  truncate 't'\n"},
    {"truncate_preserve", "  truncate_preserve 't'\n"},
    {"verify", "  verify 't'\n  verify\n"},
};

const char *
help_examples(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(examples); i++)
        if (strcmp(examples[i].name, name) == 0)
            return examples[i].text;
    return NULL;
}
