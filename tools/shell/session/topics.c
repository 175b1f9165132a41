/* topics.c -- the topics of help.  See tools/shell/session/topics.h. */
#include "tools/shell/session/topics.h"

#include "tools/shell/text/text.h"

static const struct topic topics[] = {
    {"attributes", "of families and tables, for create and alter",
     "Attributes of a family, with what they are when they are not given:\n"
     "VERSIONS => 1      how many versions of a cell are kept\n"
     "MIN_VERSIONS => 0      so many stay when their time to live is over\n"
     "TTL => 'FOREVER'      time to live: seconds, or '1 DAY 2 HOURS'\n"
     "KEEP_DELETED_CELLS => 'FALSE'      'TRUE' keeps what is deleted for reads of earlier times, "
     "'TTL' until it expires\n"
     "BLOOMFILTER => 'ROW'      'ROWCOL', 'ROW_ROWCOL', 'ROWPREFIX_FIXED_LENGTH' or 'NONE': what "
     "store files are skipped by; advise 't' says which one would help\n"
     "BLOOMFILTER_KIND => 'BLOCKED'      'RIBBON': 25 to 32 per cent fewer bytes\n"
     "BLOCKSIZE => '64KB'      bytes that are read and cached at once\n"
     "COMPRESSION => 'LZ4'      or 'NONE'\n"
     "BLOCKCACHE => true, IN_MEMORY => false      whether its blocks are cached, and kept longer\n"
     "CONFIGURATION => {'io.storefile.bloom.error.rate' => '0.01'}      how often a filter may be "
     "wrong\n"
     "Attributes of a table: READONLY => false, DURABILITY => 'USE_DEFAULT', METADATA => {'any' => "
     "'text'}. HBase's others are kept and shown, and change nothing, but for NEW_VERSION_BEHAVIOR "
     "=> "
     "true (deletions hide only what was written before them) and COMPRESSION_COMPACT, "
     "COMPRESSION_COMPACT_MAJOR, COMPRESSION_COMPACT_MINOR => 'NONE', 'LZ4' or 'LZ4HC' (what "
     "compactions, those of all files, those of some write).\n"
     "\n"
     "  create 't1', {NAME => 'f', VERSIONS => 3, TTL => '7 DAYS'}, 'g'\n"
     "  create 't2', {NAME => 'f', BLOOMFILTER => 'ROWCOL', BLOCKSIZE => '8KB'}\n"
     "  create 't3', {NAME => 'f', BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH',\n"
     "    CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '6'}}\n"
     "  alter 't', NAME => 'f', VERSIONS => 5\n"
     "  describe 't'\n"},
    {"filters", "for FILTER of get, scan, count and export", NULL},
    {"formats", "of answers, and of files for import and export",
     "kv-shell --format json (or csv, table) prints answers as records, for programs; messages "
     "then "
     "go to standard error. Of files, by their name's end or by FORMAT:\n"
     "csv, tsv      a line of names, the row's first and then family:qualifier; a line for each "
     "row. What export writes has a cell a line, with timestamp and type\n"
     "jsonl      a JSON object for each cell\n"
     "hbase      commands of HBase's shell\n"
     "\n"
     "  export 't', 't.csv'\n"
     "  export 't', 'all.jsonl', ALL_VERSIONS => true\n"
     "  export 't', '-', FORMAT => 'hbase'               # - is the screen\n"
     "  import 't', 't.csv'\n"
     "  import 't', 'all.jsonl', ON_ERROR => 'skip'      # goes on behind bad lines\n"},
    {"loops", "and all else of Ruby: blocks, methods, exceptions, #{..} in texts",
     "The shell's language is Ruby, by mruby: what scripts for HBase's shell do with it runs. "
     "Ctrl-C "
     "stops a loop that calls commands, prints or sleeps; a second one ends the shell.\n"
     "\n"
     "  (0..3).each { |i| put 't', \"row#{i}\", 'f:a', \"value#{i}\" }\n"
     "  5.times { |i| put 't', 'r%05d' % i, 'f:n', i * 2 }\n"
     "  for i in 'a'..'c' do for j in 1..2 do put 't', \"row-#{i}#{j}\", \"f:#{i}\", j end end\n"
     "  ['r1', 'r2'].each do |row|\n"
     "    deleteall 't', row unless row == 'r1'\n"
     "  end\n"
     "  create 'u', 'f', SPLITS => (1..3).map { |i| \"user#{i * 1000}\" }\n"
     "  list('u.*').each { |name| disable name; drop name }\n"
     "  i = 0\n"
     "  while i < 3 do i += 1 end\n"
     "  rows = count 't'; puts \"#{rows} rows\" if rows > 0\n"
     "  {'a' => 1, 'b' => 2}.each { |name, n| incr 't', 'counts', \"f:#{name}\", n }\n"
     "  def fill(table, rows)\n"
     "    rows.times { |i| put table, \"r#{i}\", 'f:a', i }\n"
     "  end\n"
     "  fill 't', 3\n"
     "  begin; Integer('x'); rescue ArgumentError => e; puts e.message; end\n"
     "  list.select { |name| name =~ /^t/ }\n"
     "\n"
     "A command that fails says so, and the next one is run; under -n it raises what rescue takes. "
     "Regular expressions are PCRE2's. Files, sockets and processes are out of a script's reach, "
     "except by commands, or with kv-shell --unsafe. Ruby may take 256 MB of memory, and an input "
     "253 local variables.\n"
     "\n"
     "For many cells import is faster than a loop of puts (help 'import'). A loop has one "
     "line with its duration, not one for each command.\n"},
    {"reads", "keys of get, scan and count",
     "Rows: STARTROW, STOPROW (without it, unless INCLUDE_STOPROW => true), ROWPREFIXFILTER, "
     "LIMIT, "
     "REVERSED. Columns: COLUMN or COLUMNS. Versions: VERSIONS, TIMERANGE => [from, before], "
     "TIMESTAMP. What is shown: FILTER (help 'filters'), RAW => true (deleted cells and markers, "
     "too), MAXLENGTH, FORMATTER, or a converter behind a column. WITHOUT leaves a reason to skip "
     "files unused, for measuring: explain shows which there are.\n"
     "\n"
     "  scan 't', STARTROW => 'r1', STOPROW => 'r5', LIMIT => 10\n"
     "  scan 't', ROWPREFIXFILTER => 'user1-', COLUMNS => ['f:a', 'f:b:toInt']\n"
     "  scan 't', TIMERANGE => [1000, 2000], VERSIONS => 3\n"
     "  get 't', 'r1', COLUMN => 'f:a', TIMESTAMP => 1000\n"
     "  explain scan 't', STARTROW => 'r1'\n"},
    {"strings", "quotes, bytes, numbers",
     "'Single' quotes are literal but for \\' and \\\\. \"Double\" quotes take \\xHH, \\n, \\t, "
     "\\u00e9, "
     "\\u{1F600} and #{..}. A string is its bytes: 'é'.size is 2. Bytes that are shown as \\xHH "
     "are typed so, in double quotes. Names in "
     "capitals, such as VERSIONS, need no quotes as keys.\n"
     "\n"
     "  put 't', \"r\\x00\\xff\", 'f:a', \"caf\\u00e9\"\n"
     "  put 't', 'r1', 'f:n', \"\\x00\\x00\\x00\\x07\"; get 't', 'r1', 'f:n:toInt'\n"
     "  put 't', 'r2', 'f:n', Bytes.toBytes(7); get 't', 'r2', 'f:n:toLong'\n"
     "  Bytes.toLong(\"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05\".to_java_bytes)\n"},
    {"times", "timestamps and times to live",
     "Timestamps are milliseconds since 1970 and are shown as dates of the local time zone; put "
     "takes one behind the value, and without it the time at hand. Cells go by their family's TTL "
     "(seconds), or by a TTL of their own (milliseconds).\n"
     "\n"
     "  put 't', 'r1', 'f:a', 'v', 1218920189000\n"
     "  put 't', 'r1', 'f:a', 'gone in a minute', TTL => 60000\n"
     "  java.util.Date.new(1218920189000).toString()\n"
     "  java.text.SimpleDateFormat.new('yy/MM/dd HH:mm:ss').parse('08/08/16 20:56:29').getTime()\n"
     "  scan 't', TIMERANGE => [0, (Time.now.to_i - 3600) * 1000]  # to an hour ago\n"
     "  alter 't', NAME => 'f', TTL => '30 DAYS'\n"},
};

const struct topic *
help_topic(size_t index)
{
    return index < COUNT_OF(topics) ? &topics[index] : NULL;
}
