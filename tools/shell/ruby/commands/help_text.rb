# help_text.rb -- what help shows of commands, topics and filters.
#
# A section begins with `= NAME`.  Of a command it has the usage (what is typed and, after six blanks,
# what comes of it) and examples; of a filter the same, and its constructor; of a topic prose, lines of
# that form, and examples.  Examples begin with two blanks: each can be typed as it stands, in the
# order they are shown, for a table t with a family f; tests/tools/shell/help_test.sh does that.  A
# line that ends with a backslash goes on in the next one; of two backslashes one is shown.
module Help
  COMMANDS = <<'END'

= advise
advise 't' [, SAMPLE => n | KEYS => 'file']      what the gets of this session, of n rows at \
random and n that are not there, or of a file (a line: row, or row TAB family:qualifier) did read, \
and would read under each BLOOMFILTER and BLOCKSIZE

  get 't', 'r1'; get 't', 'r2', 'f:a'; advise 't'
  advise 't', SAMPLE => 100

= alter
alter 't', NAME => 'f', VERSIONS => 5  |  'f2'  |  'delete' => 'f'  |  READONLY => true  |  METHOD \
=> 'table_att_unset', NAME => 'READONLY'      adds and changes families, deletes them, changes the \
table

  alter 't', NAME => 'f', VERSIONS => 5, TTL => '7 DAYS'
  alter 't', 'g'                                   # one more family
  alter 't', {NAME => 'g', BLOOMFILTER => 'ROWCOL'}, {NAME => 'h', IN_MEMORY => true}
  alter 't', 'delete' => 'g'
  alter 't', NAME => 'h', METHOD => 'delete'
  alter 't', READONLY => true, METADATA => {'owner' => 'ada'}
  alter 't', METHOD => 'table_att_unset', NAME => 'READONLY'

= alter_async
alter_async 't', ..      as alter, without a word about regions

  alter_async 't', NAME => 'f', VERSIONS => 5

= alter_namespace
alter_namespace 'ns', {METHOD => 'set', 'key' => 'value'} | {METHOD => 'unset', NAME => 'key'}

  create_namespace 'shop'
  alter_namespace 'shop', {METHOD => 'set', 'owner' => 'ada'}
  alter_namespace 'shop', {METHOD => 'unset', NAME => 'owner'}

= alter_status
alter_status 't'

  alter_status 't'

= append
append 't', 'row', 'f:q', 'value' [, TTL => milliseconds]      behind the value that is there

  append 't', 'r1', 'f:log', ',more'

= backup
backup 'directory' [, {COPY => true, PREVIOUS => 'an earlier backup'}]      the whole database as \
it is now; the directory may hold an earlier backup of it, which is brought up to date.  COPY: no \
links to the database's files.  PREVIOUS: share what did not change with a backup in another \
directory.  kv-shell NEW restore 'directory' makes a database of it

  backup 'monday'
  backup 'tuesday', PREVIOUS => 'monday'

= checkpoint
checkpoint 'directory'      a copy of the whole database as it is now, which shares its store \
files; the directory must not exist or be empty

= clear_block_cache
clear_block_cache 't'      its blocks leave the block cache, so that the next reads fetch them

  clear_block_cache 't'

= clone_snapshot
clone_snapshot 's', 'new table' [, {RESTORE_ACL => true}]      a new table that holds what the \
snapshot holds

  snapshot 't', 's1'
  clone_snapshot 's1', 't2'

= clone_table_schema
clone_table_schema 't', 'new table' [, false]      families and attributes without the rows; \
regions, too, unless false is given

  clone_table_schema 't', 't2'

= compact
compact 't' [, 'f']      merge all store files of each region into one and wait; the same as \
major_compact. HBase's takes a region, too; here it is all of the table, or of its family

  compact 't'
  compact 't', 'f'

= compaction_state
compaction_state 't'      NONE, MINOR, MAJOR or MAJOR_AND_MINOR: what runs now

  compaction_state 't'

= compaction_switch
compaction_switch true | false      fails unless it is so already: on, or with kv-shell's option \
--no-compaction off, for as long as the database is open

  compaction_switch true

= count
count 't' [, INTERVAL => 1000, any key of scan]      the rows that a scan would show; regions are \
counted side by side at a terminal, and where an INTERVAL larger than the table asks for no word on \
the way

  count 't'
  count 't', 100                                   # tells each 100 rows, in a pipe or file
  count 't', INTERVAL => 10 ** 12                  # tells nothing before the end
  count 't', STARTROW => 'r1', STOPROW => 'r5'
  count 't', FILTER => "ValueFilter(=, 'substring:x')"
  count 't', RAW => true                           # rows with nothing but markers, too

= create
create 't', 'f1', {NAME => 'f2', VERSIONS => 1, MIN_VERSIONS => 0, TTL => '1 DAY' | 'FOREVER', \
KEEP_DELETED_CELLS => 'FALSE' | 'TRUE' | 'TTL', BLOOMFILTER => 'NONE' | 'ROW' | 'ROWCOL' | \
'ROW_ROWCOL' | 'ROWPREFIX_FIXED_LENGTH', BLOCKSIZE => '64KB', COMPRESSION => 'LZ4' | 'NONE' (names \
of HBase's other codecs are kept and mean LZ4), CONFIGURATION => {'io.storefile.bloom.error.rate' \
=> '0.01'}, BLOOM_RATE_PER_FILE => false, BLOOMFILTER_KIND => 'BLOCKED' | 'RIBBON'}, READONLY => \
false, MAX_FILESIZE => '10GB', SPLIT_ENABLED => true, MERGE_ENABLED => true, SPLITS => ['row', ..] | SPLITS_FILE => 'file' | {NUMREGIONS => n, SPLITALGO => \
'HexStringSplit' | 'UniformSplit' | 'DecimalStringSplit'}      the rate is that of all store files together, or with BLOOM_RATE_PER_FILE of each; \
RIBBON: compactions of all files write filters in 25 to 32 per cent fewer bytes; a region begins at \
each row of SPLITS or line of SPLITS_FILE, in which \xHH is a byte, or there are n regions of equal \
shares of keys of 8 hexadecimal digits, 8 bytes or 8 decimal digits; these borders stay. A region \
with more than MAX_FILESIZE of a family is split in the background, unless SPLIT_ENABLED is false; \
small neighbours that it made are merged there, unless that or MERGE_ENABLED is false

  create 't1', 'f'
  create 't2', 'f1', {NAME => 'f2', VERSIONS => 3, BLOOMFILTER => 'ROWCOL'}
  create 't3', {NAME => 'f', TTL => '1 DAY', BLOCKSIZE => '8KB', COMPRESSION => 'NONE'}
  create 't4', 'f', DURABILITY => 'FSYNC_WAL', METADATA => {'owner' => 'ada'}
  create 't5', {NAME => 'f', CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.02'}}
  create 't6', 'f', SPLITS => ['g', 'p']
  create 't7', 'f', {NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'}

= create_namespace
create_namespace 'ns' [, {'key' => 'value'}]      tables in it have names such as 'ns:t'

  create_namespace 'shop'
  create 'shop:orders', 'f'
  create_namespace 'attic', {'owner' => 'ada'}

= delete
delete 't', 'row', 'f:q' [, timestamp] [, TTL => milliseconds]      one version, the newest when \
no timestamp is given

  delete 't', 'r1', 'f:a'                          # the newest version; an older one shows then
  delete 't', 'r1', 'f:a', 1000                    # the version at 1000
  delete 't', 'r1', 'f', 1000                      # of all columns of f the version at 1000

= delete_all_snapshot
delete_all_snapshot 'regular expression'      of snapshots; asks before it deletes

  snapshot 't', 's1'
  delete_all_snapshot 's.*'

= delete_snapshot
delete_snapshot 's'

  snapshot 't', 's1'
  delete_snapshot 's1'

= delete_table_snapshots
delete_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of \
snapshots; asks before it deletes

  snapshot 't', 's1'; snapshot 't', 'kept'
  delete_table_snapshots 't', 's.*'
  delete_table_snapshots 't'                       # all of that table

= deleteall
deleteall 't', 'row' | {ROWPREFIXFILTER => 'p'} [, 'f:q' | 'f' [, timestamp]] [, TTL => \
milliseconds]      all versions up to the timestamp; of the rows that begin with p, batch by \
batch, and says how many: these take no TTL

  deleteall 't', 'r1'                              # the row
  deleteall 't', 'r1', 'f'                         # the family in that row
  deleteall 't', 'r1', 'f:a', 1000                 # the column up to 1000
  deleteall 't', 'r1', '', 1000                    # the row up to 1000
  deleteall 't', {ROWPREFIXFILTER => 'user1-'}     # all rows that begin so

= describe
describe 't'

  describe 't'
  desc 't'

= describe_namespace
describe_namespace 'ns'

  describe_namespace 'default'

= disable
disable 't'      until enable 't' or the end of this session

  disable 't'

= disable_all
disable_all 'regular expression'      of tables; asks first

  disable_all 't.*'

= drop
drop 't'      the table must be disabled

  disable 't'
  drop 't'

= drop_all
drop_all 'regular expression'      of tables, which must be disabled; asks first

  disable_all 't.*'
  drop_all 't.*'

= drop_namespace
drop_namespace 'ns'      there must be no tables in it

  create_namespace 'shop'
  drop_namespace 'shop'

= enable
enable 't'

  enable 't'

= enable_all
enable_all 'regular expression'      of tables; asks first

  enable_all 't.*'

= exists
exists 't'

  exists 't'
  exists 'default:t'

= exit
exit [status]

= explain
explain get 't', 'row' ..  |  explain scan 't' ..      in which region the row is, and what the read \
did, source by source

  explain get 't', 'r1', 'f:a'
  explain get 't', 'r1', 'f:a', {WITHOUT => 'columns'}   # as if unknown
  explain scan 't', ROWPREFIXFILTER => 'user1-', TIMERANGE => [1000, 2000]

= export
export 't', 'file' [, FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ALL_VERSIONS => true, CREATE => \
true, any key of scan]      one cell a line; bytes outside 0x20 .. 0x7e and the backslash are \
written \xHH, in jsonl what is no UTF-8 as {"b64": ..}, so that import gives every byte back. \
CREATE: the command that makes the table, with its regions, comes first; for FORMAT => 'hbase'

  export 't', 't.csv'
  export 't', '-', FORMAT => 'jsonl'               # - is the screen
  export 't', 't.hbase', FORMAT => 'hbase', CREATE => true, ALL_VERSIONS => true
  export 't', 'some.tsv', FORMAT => 'tsv', COLUMNS => ['f:a'], STARTROW => 'r1'

= export_hfiles
export_hfiles 't', 'directory' [, CODEC => 'GZ' | 'NONE' | 'LZ4' | 'SNAPPY' | 'ZSTD', ENCODING => \
'NONE' | 'PREFIX' | 'DIFF' | 'FAST_DIFF' | 'ROW_INDEX_V1', BLOOMFILTER => 'ROW', SPLITS => ['row', \
..], SPLIT_SIZE => '10 GB', VISIBLE => true]      HBase's own files, a folder for each family, as \
its completebulkload takes them; all that is stored, or with VISIBLE what readers see. A file begins at \
each row of SPLITS, or without them at each region of the table

  export_hfiles 't', 't-hfiles'
  export_hfiles 't', 'by-region', CODEC => 'LZ4', SPLITS => ['g', 'p']

= flush
flush 't'      memtables to store files, of all regions

  flush 't'

= get
get 't', 'row' [, 'f:q' ..] [, COLUMN => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, before], \
TIMESTAMP => t, FILTER => "..", MAXLENGTH => n, FORMATTER => 'toString', WITHOUT => ['found \
newer', 'columns']]

  get 't', 'r1'
  get 't', 'r1', 'f:a', 'f:b'
  get 't', 'r1', ['f:a', 'f']
  get 't', 'r1', COLUMN => 'f:a', VERSIONS => 3
  get 't', 'r1', TIMERANGE => [1000, 2000]         # 1000 and later, before 2000
  get 't', 'r1', FILTER => "QualifierFilter(>=, 'binary:b')"
  get 't', 'r1', 'f:a:toString'                    # also toInt toLong toShort toFloat toDouble toBoolean toHex
  get 't', 'r1', COLUMN => 'f:a', MAXLENGTH => 60  # only so many characters of each cell

= get_counter
get_counter 't', 'row', 'f:q'

  get_counter 't', 'r1', 'f:n'

= get_splits
get_splits 't'      the rows at which its regions begin, but for the first of all

  get_splits 't'

= get_table
get_table 't'      for a variable: t = get_table 't', then t.put 'row', 'f:q', 'value' and the like

  t = get_table 't'
  t.scan LIMIT => 10

= help
help ['command' | 'group' | 'topic' | 'filter']

= import
import 't', 'file' [, CREATE => true, ROW => 'column' | ['column', ..] | ROW_NUMBER => true, \
ROW_SEPARATOR => '|', FAMILY => 'f', FORMAT => 'csv' | 'tsv' | 'jsonl' | 'hbase', ON_ERROR => \
'skip' | 'stop', MAX_ERRORS => n, THREADS => n, FLUSH_EVERY => n, ONLY_FIELDS => 'f:a,f:b', \
SKIP_FIELDS => 'f:a,f:b']      csv and tsv have a column for each family:qualifier and one for the \
row, or are what export writes; ROW names the row's column, or several to be joined; FAMILY is \
that of columns which name none; CREATE makes a table that is not there

  export 't', 't.jsonl', FORMAT => 'jsonl', ALL_VERSIONS => true
  import 't', 't.jsonl', FORMAT => 'jsonl', ON_ERROR => 'skip', MAX_ERRORS => 10
  import 't6', 't.jsonl', CREATE => true           # with the families of the file
  export 't', 't.csv'
  import 't7', 't.csv', CREATE => true
# people.csv, whose first line is name,age,city:
#   import 'people', 'people.csv', CREATE => true, ROW => 'name'
#   import 'people', 'people.csv', CREATE => true, ROW => ['city', 'name'], FAMILY => 'info'
#   import 'people', 'people.csv', CREATE => true, ROW_NUMBER => true

= import_hfiles
import_hfiles 't', 'path' [, 'path' ..] [, DROP_EDITS => true, DROP_TAGS => true]      HBase's own \
files: single ones, or folders of families, regions, tables, or snapshots; all cells enter by one \
commit, and a table that is not there is made, with one region

  export_hfiles 't', 'files'
  create 'copy', 'f'
  import_hfiles 'copy', 'files'                    # or of HBase's folders
  import_hfiles 't', 'files/f', DROP_TAGS => true

= incr
incr 't', 'row', 'f:q' [, amount] [, TTL => milliseconds]      a number of 8 bytes, 0 if there is \
none. Increments faster than one a millisecond of a column run ahead of the clock: a TIMERANGE up \
to now does not see the newest, and TTL counts from their timestamps

  incr 't', 'r1', 'f:n'
  incr 't', 'r1', 'f:n', -5
  incr 't', 'r1', 'f:n', 1, TTL => 3600000

= is_disabled
is_disabled 't'

  is_disabled 't'

= is_enabled
is_enabled 't'

  is_enabled 't'

= list
list ['regular expression']

  list
  list 't.*'                                      # the whole name must match
  list 'shop:.*'

= list_disabled_tables
list_disabled_tables

= list_enabled_tables
list_enabled_tables

= list_liveservers
list_liveservers      this process

= list_namespace
list_namespace ['regular expression']

  list_namespace
  list_namespace 's.*'

= list_namespace_tables
list_namespace_tables 'ns'

  list_namespace_tables 'default'

= list_regions
list_regions 't' [, 'server' | {SERVER_NAME => 'server', LOCALITY_THRESHOLD => 0.8} [, \
['START_KEY', 'SIZE']]]      the regions of a table, with their store files' size in MB, of a \
file that several share the part that is each one's; a region's name is 't,first row,id.', and its \
encoded name the id, which records of --format have as region_id; REQ and LOCALITY are not known

  list_regions 't'
  list_regions 't', nil, ['START_KEY', 'SIZE']

= list_snapshot_sizes
list_snapshot_sizes      bytes of the store files of each snapshot, shared or not

= list_snapshots
list_snapshots ['regular expression']

  list_snapshots
  list_snapshots 's.*'

= list_table_snapshots
list_table_snapshots 'regular expression' [, 'regular expression']      of tables, and of snapshots

  list_table_snapshots 't'
  list_table_snapshots 't|u', '.*2'                # of both tables, the names that end in 2

= locate_region
locate_region 't', 'row'      the region that has the row

  locate_region 't', 'r1'

= log_level
log_level ['OFF' | 'ERROR' | 'WARN' | 'INFO' | 'DEBUG']      from which level on the engine tells \
on standard error what it does in the background; without an argument as it is now

  log_level
  log_level 'DEBUG'
  log_level 'ERROR'

= major_compact
major_compact 't' [, 'f']      merge all store files of each region into one and wait; what is deleted, \
superseded or expired goes

  major_compact 't'
  major_compact 't', 'f'

= merge_region
merge_region 'region', 'region' ..  |  ['region', 'region' ..]      neighbours become one region, \
which keeps the first one's name; a region's encoded name, as locate_region shows it, is Petal's \
number of it, and means the region here, whatever tables are called

  split 't', 'r2'; split 't', 'user'               # regions 1, 2 and 3
  merge_region '1', '2'
  merge_region 't,,1.', 't,user,3.'

= normalizer_enabled
normalizer_enabled      the same as splitormerge_enabled 'MERGE'

  normalizer_enabled

= normalizer_switch
normalizer_switch true | false      the same as splitormerge_switch 'MERGE', ..

  normalizer_switch true

= processlist
processlist      flushes that wait and compactions that run

= put
put 't', 'row', 'f:q', 'value' [, timestamp] [, TTL => milliseconds]

  put 't', 'r1', 'f:a', 'v'
  put 't', 'r1', 'f:a', 'v', 1000                  # at a timestamp, in milliseconds
  put 't', 'r1', 'f:a', "\x00\xff", TTL => 60000  # it is gone in a minute
  put 't', 'r1', 'f:a', 'v', TTL => 0             # it is gone in a millisecond

= restore_snapshot
restore_snapshot 's' [, {RESTORE_ACL => true}]      its table, which must be disabled, becomes \
what it was

  snapshot 't', 's1'
  disable 't'
  restore_snapshot 's1'
  enable 't'

= scan
scan 't' [, STARTROW => 'a', STOPROW => 'b', INCLUDE_STOPROW => true, ROWPREFIXFILTER => 'p', \
LIMIT => n, REVERSED => true, COLUMNS => ['f:q', 'g'], VERSIONS => n, TIMERANGE => [from, before], \
TIMESTAMP => t, FILTER => "..", RAW => true, BATCH => n, MAXLENGTH => n, FORMATTER => 'toString', \
WITHOUT => [..]]

  scan 't'
  scan 't', LIMIT => 10
  scan 't', STARTROW => 'r1', STOPROW => 'r5'      # r5 is left out
  scan 't', ROWPREFIXFILTER => 'user1-'
  scan 't', STARTROW => 'r5', REVERSED => true     # from r5 downwards
  scan 't', COLUMNS => ['f:a', 'f:b:toInt'], VERSIONS => 3
  scan 't', TIMERANGE => [1000, 2000]              # 1000 and later, before 2000
  scan 't', FILTER => "PrefixFilter('r') AND ValueFilter(=, 'regexstring:^a.*z$')"
  scan 't', FILTER => "SingleColumnValueFilter('f', 'a', >, 'binary:m', true, true)"
  scan 't', RAW => true, VERSIONS => 10            # deleted cells and the markers, too
  scan 't', BATCH => 2                             # rows in pieces of 2 cells

= show_filters
show_filters      the names that FILTER takes; help 'filters' says what they do

= snapshot
snapshot 't', 's' [, {SKIP_FLUSH => true, TTL => seconds}]      keep what the table holds now \
under the name s

  snapshot 't', 's1'
  snapshot 't', 's2', SKIP_FLUSH => true           # without what is in memory only
  snapshot 't', 's3', TTL => 86400                 # gone after a day

= snapshot_cleanup_enabled
snapshot_cleanup_enabled      always: table snapshots whose time is over go by themselves

= split
split 't' | 'region' [, 'row']      the region that has the row becomes two, the second of which \
begins at the row. Without a row a region becomes two near where half of its store files' bytes are, and \
of a table each region that has such a middle; what is in memory is flushed before. A \
region is named 't,first row,id.' or by its id; where a table has that number as its name, by the \
full name alone

  split 't', 'r2'
  split 't,r2,2.', 'r5'
  split '1', 'r1'

= splitormerge_enabled
splitormerge_enabled 'SPLIT' | 'MERGE'      whether the background splits regions that are too \
large, and merges small neighbours: it does both, or with --no-compaction neither (help 'regions')

  splitormerge_enabled 'SPLIT'
  splitormerge_enabled 'MERGE'

= splitormerge_switch
splitormerge_switch 'SPLIT' | 'MERGE', true | false      fails unless it is so already: on, or with \
kv-shell's option --no-compaction off, for as long as the database is open

  splitormerge_switch 'SPLIT', true
  splitormerge_switch 'MERGE', true

= stats
stats [COUNTERS => ['name', ..] | FORMAT => 'PROMETHEUS']  |  stats 't'      counters since \
opening, and within which times half and 99 % of gets, seeks, writes, syncs, flushes and \
compactions ended: of those that were timed, rounded up to powers of two; FORMAT has their \
histograms; the regions of a table, if there are several, and its store files

  stats
  stats COUNTERS => ['gets', 'files_read']
  stats FORMAT => 'PROMETHEUS'                     # histograms in place of p50 and p99
  stats 't'

= status
status ['summary' | 'simple' | 'detailed']      how many tables there are, their files and memory

  status
  status 'detailed'

= table_help
table_help      tables in variables

  t = get_table 't'                                # or what create gives: t = create 't2', 'f'
  t.put 'r1', 'f:a', 'v'
  t.get 'r1'
  t.scan STARTROW => 'r1', LIMIT => 10
  t.count
  t.describe
  t.delete 'r1', 'f:a'
  t.flush
  t.disable
  t.enable

= time
time scan 't' ..      runs a command, then says what it took: by the clock, of the processor, in \
blocks

  time scan 't'

= transaction
transaction { .. }      runs the block's commands as one. They read one snapshot, taken at the \
beginning, and their own writes, which the end of the block stores together. If an exception, a \
command that fails, break, return, exit or Ctrl-C ends the block early, nothing is stored, and that is said if it wrote. It takes \
get, get_counter, scan, count, explain, put, delete, deleteall of one row, incr and append; also \
commands that only show something, such as list. Others are refused. All writes have one timestamp, \
so of several puts to a column the last one counts. incr and get_counter return their number \
there, nil where there is none, and count the number of rows.

  transaction { put 't', 'r1', 'f:a', 'x'; put 't', 'r2', 'f:a', 'y' }
  incr 't', 'ada', 'f:coins', 12
  transaction do
    break if get_counter('t', 'ada', 'f:coins') < 5
    incr 't', 'ada', 'f:coins', -5
    incr 't', 'bob', 'f:coins', 5
  end
  t = get_table 't'
  transaction { t.deleteall 'r1'; break if t.count > 1000 }
  begin
    transaction { t.put 'r2', 'f:a', 'x'; t.put 'r2', 'nosuch:a', 'y' }
  rescue => e
    puts "not done: #{e.message}"
  end

= truncate
truncate 't'      all rows go, and all regions but one; families and attributes stay

  truncate 't'

= truncate_preserve
truncate_preserve 't'      the same, but the regions stay

  truncate_preserve 't'

= verify
verify ['t']      read every block of every store file, of all tables if none is given, and list \
what is damaged

  verify 't'
  verify

= version
version

= whoami
whoami      the user and groups of this process

END

  TOPICS = <<'END'

= attributes
Attributes of a family, with what they are when they are not given:
VERSIONS => 1      how many versions of a cell are kept
MIN_VERSIONS => 0      so many stay when their time to live is over
TTL => 'FOREVER'      time to live: seconds, or '1 DAY 2 HOURS'
KEEP_DELETED_CELLS => 'FALSE'      'TRUE' keeps what is deleted for reads of earlier times, 'TTL' \
until it expires
BLOOMFILTER => 'ROW'      'ROWCOL', 'ROW_ROWCOL', 'ROWPREFIX_FIXED_LENGTH' or 'NONE': what store \
files are skipped by; advise 't' says which one would help
BLOOMFILTER_KIND => 'BLOCKED'      'RIBBON': 25 to 32 per cent fewer bytes
BLOCKSIZE => '64KB'      bytes that are read and cached at once
COMPRESSION => 'LZ4'      or 'NONE'
BLOCKCACHE => true, IN_MEMORY => false      whether its blocks are cached, and kept longer
CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.01'}      how often a filter may be wrong
Attributes of a table: READONLY => false, DURABILITY => 'USE_DEFAULT', METADATA => {'any' => \
'text'}, and of its regions (help 'regions'):
MAX_FILESIZE => '10GB'      the background splits a region that has more bytes of a family in store \
files
SPLIT_ENABLED => true      false: the background neither splits the table's regions nor merges them
MERGE_ENABLED => true      false: it does not merge them
HBase's other attributes, of families and tables, are kept and shown, and change nothing, but for NEW_VERSION_BEHAVIOR => \
true (deletions hide only what was written before them) and COMPRESSION_COMPACT, \
COMPRESSION_COMPACT_MAJOR, COMPRESSION_COMPACT_MINOR => 'NONE', 'LZ4' or 'LZ4HC' (what \
compactions, those of all files, those of some write).

  create 't1', {NAME => 'f', VERSIONS => 3, TTL => '7 DAYS'}, 'g'
  create 't2', {NAME => 'f', BLOOMFILTER => 'ROWCOL', BLOCKSIZE => '8KB'}
  create 't3', {NAME => 'f', BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH',
    CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '6'}}
  alter 't', NAME => 'f', VERSIONS => 5
  describe 't'

= filters
FILTER takes one of these, or several with AND, OR and parentheses; SKIP before one leaves out \
rows of which it rejects a cell, WHILE ends the read at the first that it rejects.
comparison      < <= = != >= >
'comparator'      'binary:bytes', 'binaryprefix:bytes', 'substring:text', 'regexstring:expression' \
or 'regexstringnocase:expression'

  scan 't', FILTER => "PrefixFilter('r') AND ValueFilter(=, 'substring:v')"
  scan 't', FILTER => "SKIP ValueFilter(!=, 'binary:x') OR PageFilter(1)"

As objects of Java's they can be made, too: help 'PrefixFilter' shows its constructor, as that of \
each. Beyond these there are FilterList, SkipFilter, WhileMatchFilter, FuzzyRowFilter, \
MultiRowRangeFilter and RandomRowFilter.

  f = SingleColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')
  f.setFilterIfMissing(true)
  scan 't', FILTER => FilterList.new(FilterList::Operator::MUST_PASS_ONE, f, PageFilter.new(1))
  scan 't', FILTER => FuzzyRowFilter.new([Pair.new('user?-a', "\0\0\0\0\1\0\0")])
  scan 't', FILTER => MultiRowRangeFilter.new(['r1', 'user'])        # prefixes


= formats
kv-shell --format json (or csv, table) prints answers as records, for programs; messages then go \
to standard error. Of files, by their name's end or by FORMAT:
csv, tsv      a line of names, the row's first and then family:qualifier; a line for each row. \
What export writes has a cell a line, with timestamp and type
jsonl      a JSON object for each cell
hbase      commands of HBase's shell

  export 't', 't.csv'
  export 't', 'all.jsonl', ALL_VERSIONS => true
  export 't', '-', FORMAT => 'hbase'               # - is the screen
  import 't', 't.csv'
  import 't', 'all.jsonl', ON_ERROR => 'skip'      # goes on behind bad lines

= loops
The shell's language is Ruby, by mruby: what scripts for HBase's shell do with it runs. Ctrl-C \
stops a loop that calls commands, prints or sleeps; a second one ends the shell.

  (0..3).each { |i| put 't', "row#{i}", 'f:a', "value#{i}" }
  5.times { |i| put 't', 'r%05d' % i, 'f:n', i * 2 }
  for i in 'a'..'c' do for j in 1..2 do put 't', "row-#{i}#{j}", "f:#{i}", j end end
  ['r1', 'r2'].each do |row|
    deleteall 't', row unless row == 'r1'
  end
  create 'u', 'f', SPLITS => (1..3).map { |i| "user#{i * 1000}" }
  list('u.*').each { |name| disable name; drop name }
  i = 0
  while i < 3 do i += 1 end
  rows = count 't'; puts "#{rows} rows" if rows > 0
  {'a' => 1, 'b' => 2}.each { |name, n| incr 't', 'counts', "f:#{name}", n }
  def fill(table, rows)
    rows.times { |i| put table, "r#{i}", 'f:a', i }
  end
  fill 't', 3
  begin; Integer('x'); rescue ArgumentError => e; puts e.message; end
  list.select { |name| name =~ /^t/ }

A command that fails says so, and the next one is run; under -n, and in a transaction, it raises \
what rescue takes. \
Regular expressions are PCRE2's. Files, sockets and processes are out of a script's reach, except \
by commands, or with kv-shell --unsafe. Ruby may take 256 MB of memory, and an input 253 local \
variables.

For many cells import is faster than a loop of puts (help 'import'). A loop has one line with its \
duration, not one for each command.

= reads
Rows: STARTROW, STOPROW (without it, unless INCLUDE_STOPROW => true), ROWPREFIXFILTER, LIMIT, \
REVERSED. Columns: COLUMN or COLUMNS. Versions: VERSIONS, TIMERANGE => [from, before], TIMESTAMP. \
What is shown: FILTER (help 'filters'), RAW => true (deleted cells and markers, too), MAXLENGTH, \
FORMATTER, or a converter behind a column. WITHOUT leaves a reason to skip files unused, for \
measuring: explain shows which there are.

  scan 't', STARTROW => 'r1', STOPROW => 'r5', LIMIT => 10
  scan 't', ROWPREFIXFILTER => 'user1-', COLUMNS => ['f:a', 'f:b:toInt']
  scan 't', TIMERANGE => [1000, 2000], VERSIONS => 3
  get 't', 'r1', COLUMN => 'f:a', TIMESTAMP => 1000
  explain scan 't', STARTROW => 'r1'

= regions
A table is a list of regions, ranges of rows, which are flushed and compacted by themselves. A \
region's name is 't,first row,id.', its encoded name the id, a number that no other region of the \
database ever has. Where a table has a number as its name, that means the table: then write the \
region's full name.
list_regions 't', get_splits 't', locate_region 't', 'row'      which regions there are
create 't', 'f', SPLITS => ['g', 'p']      regions from the start (help 'create')
split, merge_region      by hand: two of one, one of neighbours
truncate, truncate_preserve      all rows go, and the borders with them or not
splitormerge_enabled, normalizer_enabled      whether the background does what follows: unless \
kv-shell runs with --no-compaction
The background splits a region with more than MAX_FILESIZE of a family in store files. It merges \
neighbours whose border it made itself, more than three days ago, once they have together at most \
a quarter of that in each family. Borders that somebody made, by create or split, stay until \
merge_region. A table with SPLIT_ENABLED => false is left alone; with MERGE_ENABLED => false \
nothing of it is merged.

  create 't1', 'f', SPLITS => ['g', 'p'], MAX_FILESIZE => '1GB', MERGE_ENABLED => false
  list_regions 't1'
  split 't1', 'k'
  get_splits 't1'

= strings
'Single' quotes are literal but for \' and \\\\. "Double" quotes take \xHH, \n, \t, \u00e9, \
\u{1F600} and #{..}. A string is its bytes: 'é'.size is 2. Bytes that are shown as \xHH are typed \
so, in double quotes. Names in capitals, such as VERSIONS, need no quotes as keys.

  put 't', "r\x00\xff", 'f:a', "caf\u00e9"
  put 't', 'r1', 'f:n', "\x00\x00\x00\x07"; get 't', 'r1', 'f:n:toInt'
  put 't', 'r2', 'f:n', Bytes.toBytes(7); get 't', 'r2', 'f:n:toLong'
  Bytes.toLong("\x00\x00\x00\x00\x00\x00\x00\x05".to_java_bytes)

= times
Timestamps are milliseconds since 1970 and are shown as dates of the local time zone; put takes \
one behind the value, and without it the time at hand. Cells go by their family's TTL (seconds), \
or by a TTL of their own (milliseconds).

  put 't', 'r1', 'f:a', 'v', 1218920189000
  put 't', 'r1', 'f:a', 'gone in a minute', TTL => 60000
  java.util.Date.new(1218920189000).toString()
  java.text.SimpleDateFormat.new('yy/MM/dd HH:mm:ss').parse('08/08/16 20:56:29').getTime()
  scan 't', TIMERANGE => [0, (Time.now.to_i - 3600) * 1000]  # to an hour ago
  alter 't', NAME => 'f', TTL => '30 DAYS'

END

  FILTERS = <<'END'

= ColumnCountGetFilter
ColumnCountGetFilter(limit)      the first so many columns of a row; for get
  get 't', 'r1', FILTER => "ColumnCountGetFilter(1)"
  scan 't', FILTER => ColumnCountGetFilter.new(1)

= ColumnPaginationFilter
ColumnPaginationFilter(limit, offset)      so many columns of each row, behind the first few
  scan 't', FILTER => "ColumnPaginationFilter(2, 1)"
  scan 't', FILTER => ColumnPaginationFilter.new(2, 1)

= ColumnPrefixFilter
ColumnPrefixFilter('prefix')      columns whose qualifier begins so
  scan 't', FILTER => "ColumnPrefixFilter('a')"
  scan 't', FILTER => ColumnPrefixFilter.new(Bytes.toBytes('a'))

= ColumnRangeFilter
ColumnRangeFilter('from', inclusive, 'to', inclusive)      columns whose qualifier is in the \
range; '' is an open end
  scan 't', FILTER => "ColumnRangeFilter('a', true, 'c', false)"
  scan 't', FILTER => ColumnRangeFilter.new(Bytes.toBytes('a'), true, Bytes.toBytes('c'), false)

= ColumnValueFilter
ColumnValueFilter('family', 'qualifier', comparison, 'comparator')      this one column, where its \
value compares so; nothing else of the row
  scan 't', FILTER => "ColumnValueFilter('f', 'a', =, 'binary:v')"
  scan 't', FILTER => ColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')

= DependentColumnFilter
DependentColumnFilter('family', 'qualifier' [, drop [, comparison, 'comparator']])      cells \
whose timestamp is one of that column's, in rows that have it
  scan 't', FILTER => "DependentColumnFilter('f', 'a')"
  scan 't', FILTER => DependentColumnFilter.new('f', 'a')

= FamilyFilter
FamilyFilter(comparison, 'comparator')      columns of families that compare so
  scan 't', FILTER => "FamilyFilter(=, 'binary:f')"
  scan 't', FILTER => FamilyFilter.new(CompareOperator::EQUAL, BinaryComparator.new('f'))

= FirstKeyOnlyFilter
FirstKeyOnlyFilter()      the first cell of each row: enough for counting
  scan 't', FILTER => "FirstKeyOnlyFilter()"
  scan 't', FILTER => FirstKeyOnlyFilter.new

= InclusiveStopFilter
InclusiveStopFilter('row')      rows up to this one, and this one too
  scan 't', FILTER => "InclusiveStopFilter('r2')"
  scan 't', FILTER => InclusiveStopFilter.new('r2')

= KeyOnlyFilter
KeyOnlyFilter([length as value])      cells without their values, or with their lengths
  scan 't', FILTER => "KeyOnlyFilter()"
  scan 't', FILTER => KeyOnlyFilter.new

= MultipleColumnPrefixFilter
MultipleColumnPrefixFilter('prefix', ..)      columns whose qualifier begins with one of them
  scan 't', FILTER => "MultipleColumnPrefixFilter('a', 'b')"
  scan 't', FILTER => MultipleColumnPrefixFilter.new(['a', 'b'])

= PageFilter
PageFilter(rows)      the first so many rows
  scan 't', FILTER => "PageFilter(2)"
  scan 't', FILTER => PageFilter.new(2)

= PrefixFilter
PrefixFilter('prefix')      rows that begin so; ROWPREFIXFILTER reads fewer blocks
  scan 't', FILTER => "PrefixFilter('user1-')"
  scan 't', FILTER => PrefixFilter.new(Bytes.toBytes('user1-'))

= QualifierFilter
QualifierFilter(comparison, 'comparator')      columns whose qualifier compares so
  scan 't', FILTER => "QualifierFilter(>=, 'binary:b')"
  scan 't', FILTER => QualifierFilter.new(CompareOperator::GREATER_OR_EQUAL, BinaryComparator.new('b'))

= RowFilter
RowFilter(comparison, 'comparator')      rows whose key compares so
  scan 't', FILTER => "RowFilter(=, 'regexstring:^r[0-9]$')"
  scan 't', FILTER => RowFilter.new(CompareOperator::EQUAL, RegexStringComparator.new('^r[0-9]$'))

= SingleColumnValueExcludeFilter
SingleColumnValueExcludeFilter('family', 'qualifier', comparison, 'comparator' [, if missing, \
latest only])      as SingleColumnValueFilter, but without that column
  scan 't', FILTER => "SingleColumnValueExcludeFilter('f', 'a', =, 'binary:v')"
  scan 't', FILTER => SingleColumnValueExcludeFilter.new('f', 'a', CompareOperator::EQUAL, 'v')

= SingleColumnValueFilter
SingleColumnValueFilter('family', 'qualifier', comparison, 'comparator' [, if missing, latest \
only])      whole rows in which that column compares so; a row without it passes unless the first \
of the last two is true; older versions count unless the last is true
  scan 't', FILTER => "SingleColumnValueFilter('f', 'a', =, 'binary:v', true, true)"
  scan 't', FILTER => SingleColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')

= TimestampsFilter
TimestampsFilter(timestamp, ..)      cells with one of these timestamps
  scan 't', FILTER => "TimestampsFilter(1000, 1500)"
  scan 't', FILTER => TimestampsFilter.new([1000, 1500])

= ValueFilter
ValueFilter(comparison, 'comparator')      cells whose value compares so
  scan 't', FILTER => "ValueFilter(=, 'substring:v')"
  scan 't', FILTER => ValueFilter.new(CompareOperator::EQUAL, SubstringComparator.new('v'))

END
end
