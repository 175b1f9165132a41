# prelude.rb -- what scripts for HBase's shell use next to its commands: tables, classes of Java
# and HBase, regular expressions, and methods of Ruby that mruby lacks.  Compiled into kv-shell.

# ---- Keys ----------------------------------------------------------------------------------------

# Names in capitals that stand for themselves, so that keys of hashes need no quotes.
Java::KEYS = %w[
  ALLOW_PARTIAL_RESULTS ALL_METRICS ALL_VERSIONS ATTRIBUTES AUTHORIZATIONS BATCH BLOCKCACHE
  BLOCKSIZE BLOOMFILTER BLOOMFILTER_KIND BLOOM_RATE_PER_FILE CACHE CACHE_BLOCKS
  CACHE_BLOOMS_ON_WRITE CACHE_DATA_ON_WRITE CACHE_INDEX_ON_WRITE CLASSNAME CLONE_SFT CLUSTER
  CLUSTER_KEY CODEC COLUMN COLUMNS COMPACTION_ENABLED COMPRESSION COMPRESSION_COMPACT
  COMPRESSION_COMPACT_MAJOR COMPRESSION_COMPACT_MINOR COMPRESS_TAGS CONFIG CONFIGURATION
  CONSISTENCY COPY COUNTERS CREATE DATA DATA_BLOCK_ENCODING DFS_REPLICATION DISABLE DROP_EDITS
  DROP_TAGS DURABILITY ENCODING ENCRYPTION ENCRYPTION_KEY ENDPOINT_CLASSNAME EVICT_BLOCKS_ON_CLOSE
  FAMILY FILTER FLUSH_EVERY FLUSH_POLICY FORMAT FORMATTER FORMATTER_CLASS GLOBAL_BYPASS
  INCLUDE_STOPROW INDEX_BLOCK_ENCODING INTERVAL IN_MEMORY IN_MEMORY_COMPACTION ISOLATION_LEVEL
  IS_MOB IS_ROOT KEEP_DELETED_CELLS KEYS LIMIT LOCALITY_THRESHOLD MACHINE MAXLENGTH MAX_ERRORS
  MAX_FILESIZE MAX_RESULT_SIZE MEMSTORE_FLUSHSIZE MERGE_ENABLED METADATA METHOD METRICS
  MIN_VERSIONS MOB_COMPACT_PARTITION_POLICY MOB_THRESHOLD NAME NAMESPACE NAMESPACES
  NEW_VERSION_BEHAVIOR NONE NORMALIZATION_ENABLED NORMALIZER_TARGET_REGION_COUNT
  NORMALIZER_TARGET_REGION_SIZE NO_INSERTS NO_WRITES NO_WRITES_COMPACTIONS NUMREGIONS ONLY_FIELDS
  ON_ERROR OWNER POLICY PREFETCH_BLOCKS_ON_OPEN PREVIOUS PRIORITY RAW READ READONLY READ_TYPE
  REGION_MEMSTORE_REPLICATION REGION_REPLICATION REGION_REPLICA_ID REMOTE_WAL_DIR
  REPLICATION_SCOPE REQUEST RESTORE_ACL REVERSED ROW ROWPREFIXFILTER ROW_NUMBER ROW_SEPARATOR
  SAMPLE SCOPE SERIAL SERVER_NAME SKIP_FIELDS SKIP_FLUSH SPACE SPLITALGO SPLITS SPLITS_FILE
  SPLIT_ENABLED SPLIT_POLICY SPLIT_SIZE STARTROW STATE STOPROW STORAGE_POLICY TABLE TABLE_CFS
  THREADS THROTTLE THROTTLE_TYPE TIMERANGE TIMESTAMP TTL TYPE USER VALUE VERSIONS VISIBILITY
  VISIBLE WITHOUT WRITE
]
Java::KEYS.each { |key| Object.const_set(key, key) }
STARTKEY = STARTROW
ENDKEY = ENDROW = STOPROW

# ---- Tables --------------------------------------------------------------------------------------

module Hbase
  class Table
    attr_reader :name

    def initialize(name)
      @name = name.to_s
    end

    def to_s
      "Hbase::Table - #{@name}"
    end
    alias inspect to_s

    def help(*names)
      names.empty? ? MAIN.table_help : MAIN.help(*names)
    end
  end
end

MAIN = self

# ---- Ruby's, which mruby lacks -------------------------------------------------------------------

class Integer
  def even?
    self % 2 == 0
  end

  def odd?
    self % 2 != 0
  end

  def pred
    self - 1
  end
end

class Array
  def add(item)
    push(item)
    true
  end

  def sum(start = 0, &block)
    each { |item| start += block ? block.call(item) : item }
    start
  end
end

class Range
  alias each_item each

  def each(&block)
    return to_enum(:each) unless block
    each_item(&block)
    self
  end

  def size
    return nil unless Integer === first && Integer === last
    last < first ? 0 : last - first + (exclude_end? ? 0 : 1)
  end

  def count(*items, &block)
    items.empty? && !block && size || super
  end

  def step(size = 1, &block)
    return to_enum(:step, size) unless block
    raise ArgumentError, "step can't be #{size < 0 ? 'negative' : '0'}" if size <= 0
    item = first
    while exclude_end? ? item < last : item <= last
      block.call(item)
      item += size
    end
    self
  end

  def sum(start = 0, &block)
    if !block && Integer === first && Integer === last
      greatest = exclude_end? ? last - 1 : last
      return start + (first + greatest) * size / 2
    end
    each { |item| start += block ? block.call(item) : item }
    start
  end
end

class String
  def to_java_bytes
    self
  end
end

class String
  alias text_succ succ

  # The last letter or digit counts up and carries to those before it, whatever stands between.
  def succ
    return text_succ unless match?(/[0-9A-Za-z]/) && match?(/[^0-9A-Za-z]/)
    text = dup
    place = size
    inserted = ''
    while (place = rightmost_alphanumeric(place))
      letter = text.getbyte(place)
      last = letter == 57 || letter == 90 || letter == 122
      text.setbyte(place, last ? (letter == 57 ? 48 : letter - 25) : letter + 1)
      return text unless last
      first = place
      inserted = letter == 57 ? '1' : text.byteslice(place, 1)
    end
    text.byteslice(0, first) + inserted + text.byteslice(first, text.size - first)
  end
  alias next succ

  def rightmost_alphanumeric(before)
    (before - 1).downto(0) do |place|
      byte = getbyte(place)
      return place if (48..57).include?(byte) || (65..90).include?(byte) || (97..122).include?(byte)
    end
    nil
  end
end

class Symbol
  def to_java_bytes
    to_s
  end
end

class Object
  def method_missing(name, *_arguments)
    names = methods.map { |method| method.to_s }.reject { |method| Java.capital?(method) }
    near = Java.nearest(name.to_s, names)
    raise NoMethodError.new("undefined method '#{name}' for #{self == nil ? 'nil' : self.class}" +
                            (near ? "; did you mean '#{near}'?" : ''), name)
  end
end

module Kernel
  def require(_name)
    false
  end
end

# Kernel's methods.  A method that a script defines at the top level comes before Kernel's in every
# object but those that extend this.  For the same reason neither is_a? nor nil? is called here, nor
# each or map of a Range, which call them.
PetalShell::Kept = Kernel.dup

# What scripts print to.
STDOUT = Object.new
class << STDOUT
  include PetalShell::Kept

  def write(text)
    print text
    text.to_s.size
  end

  def <<(text)
    print text
    self
  end

  def printf(*values)
    print format(*values)
  end

  def flush
    self
  end

  def sync
    true
  end

  def sync=(_yes)
  end
end
$stdout = STDOUT

module Kernel
  def printf(*values)
    STDOUT.printf(*values)
  end
end

# ---- Regular expressions -------------------------------------------------------------------------

class Regexp
  IGNORECASE = 1
  EXTENDED = 2
  MULTILINE = 4

  attr_reader :source, :options

  def self.compile(*arguments)
    new(*arguments)
  end

  def self.escape(text)
    text.to_s.bytes.map do |byte|
      letter = byte.chr
      plain = letter == '_' || byte > 127 || ('a'..'z').include?(letter.downcase) ||
              ('0'..'9').include?(letter)
      plain ? letter : letter == "\n" ? '\n' : "\\#{letter}"
    end.join
  end

  def self.quote(text)
    escape(text)
  end

  def self.last_match(group = nil)
    group ? $~ && $~[group] : $~
  end

  def initialize(source, options = nil, _encoding = nil)
    if Regexp === source
      options = source.options
      source = source.source
    end
    if String === options
      options = (options.include?('i') ? IGNORECASE : 0) | (options.include?('x') ? EXTENDED : 0) |
                (options.include?('m') ? MULTILINE : 0)
    end
    options = options == true ? IGNORECASE : options || 0
    @source = source
    @options = options
    compile_source(source, options & IGNORECASE != 0, options & MULTILINE != 0,
                   options & EXTENDED != 0)
  end

  def match(text, from = 0)
    found = text == nil ? nil : places(text.to_s, from)
    match = found && MatchData.new(self, text.to_s, found)
    Regexp.remember(match, match ? match.to_a : [])
  end

  def match?(text, from = 0)
    text != nil && places(text.to_s, from) != nil
  end

  def =~(text)
    found = match(text)
    found && found.begin(0)
  end

  def ===(text)
    (String === text || Symbol === text) && match(text.to_s) != nil
  end

  def ==(other)
    Regexp === other && source == other.source && options == other.options
  end

  def names
    group_names.keys
  end

  def letters
    (options & MULTILINE != 0 ? 'm' : '') + (options & IGNORECASE != 0 ? 'i' : '') +
      (options & EXTENDED != 0 ? 'x' : '')
  end

  def inspect
    "/#{source}/#{letters}"
  end

  def to_s
    off = 'mix'.chars.reject { |letter| letters.include?(letter) }.join
    "(?#{letters}#{off.empty? ? '' : "-#{off}"}:#{source})"
  end
end

class MatchData
  attr_reader :string, :regexp

  def initialize(regexp, string, places)
    @regexp = regexp
    @string = string
    @places = places
  end

  def begin(group)
    @places[2 * group]
  end

  def end(group)
    @places[2 * group + 1]
  end

  def offset(group)
    [self.begin(group), self.end(group)]
  end

  def size
    @places.size / 2
  end
  alias length size

  def group(number)
    from = @places[2 * number]
    from && @string[from...@places[2 * number + 1]]
  end

  def [](group, count = nil)
    return to_a[group, count] if count
    return to_a[group] if Range === group
    unless Integer === group
      number = @regexp.group_names[group.to_s]
      raise IndexError, "undefined group name reference: #{group}" unless number
      group = number
    end
    group += size if group < 0
    group < 0 || group >= size ? nil : group(group)
  end

  def to_a
    Array.new(size) { |number| group(number) }
  end

  def captures
    to_a[1..-1]
  end

  def names
    @regexp.names
  end

  def named_captures
    named = {}
    @regexp.group_names.each { |name, number| named[name] = group(number) }
    named
  end

  def values_at(*groups)
    groups.map { |group| self[group] }
  end

  def pre_match
    @string[0...@places[0]]
  end

  def post_match
    @string[@places[1]..-1]
  end

  def to_s
    group(0)
  end

  def inspect
    "#<MatchData #{to_a.map { |text| text.inspect }.join(' ')}>"
  end
end

class String
  alias text_at []
  alias text_index index
  alias text_split split
  alias text_sub sub
  alias text_gsub gsub
  alias text_slice! slice!

  def =~(pattern)
    pattern =~ self
  end

  def match(pattern, from = 0)
    Regexp.new(pattern).match(self, from)
  end

  def match?(pattern, from = 0)
    Regexp.new(pattern).match?(self, from)
  end

  def [](*places)
    return text_at(*places) unless Regexp === places[0]
    found = places[0].match(self)
    found && found[places[1] || 0]
  end
  alias slice []

  def slice!(*places)
    return text_slice!(*places) unless Regexp === places[0]
    found = places[0].match(self)
    return nil unless found
    replace(found.pre_match + found.post_match)
    found[places[1] || 0]
  end

  def index(pattern, from = 0)
    return text_index(pattern, from) unless Regexp === pattern
    from += size if from < 0
    found = pattern.match(self, from)
    found && found.begin(0)
  end

  # Every match, from left to right.
  def each_match(pattern)
    from = 0
    while from <= size && (found = pattern.match(self, from))
      yield found
      from = found.end(0) > found.begin(0) ? found.end(0) : found.end(0) + 1
    end
  end

  def scan(pattern, &block)
    pattern = Regexp.new(Regexp.escape(pattern)) if String === pattern
    raise TypeError, 'scan wants a regular expression' unless Regexp === pattern
    all = []
    each_match(pattern) do |found|
      item = found.size > 1 ? found.captures : found[0]
      block ? block.call(item) : all << item
    end
    block ? self : all
  end

  def split(pattern = nil, limit = 0)
    return text_split(pattern, limit) unless Regexp === pattern
    parts = []
    from = 0
    each_match(pattern) do |found|
      break if limit > 0 && parts.size + 1 >= limit
      next if found.end(0) == found.begin(0) && (found.begin(0) == from || found.begin(0) == size)
      next if found.end(0) == 0
      parts << text_at(from...found.begin(0))
      found.captures.each { |text| parts << text if text }
      from = found.end(0)
    end
    parts << text_at(from..-1)
    parts.pop while limit == 0 && !parts.empty? && parts.last.empty?
    parts
  end

  # The text that a replacement with \1, \0 and \k<name> stands for.
  def self.expand(replacement, found)
    text = ''
    at = 0
    while (slash = replacement.text_index('\\', at))
      text << replacement.text_at(at...slash)
      letter = replacement.text_at(slash + 1)
      at = slash + 2
      if letter == nil
        text << '\\'
      elsif letter >= '0' && letter <= '9'
        text << found[letter.to_i].to_s
      elsif letter == '&'
        text << found[0]
      elsif letter == 'k' && (close = replacement.text_index('>', at))
        text << found[replacement.text_at(at + 1...close)].to_s
        at = close + 1
      else
        text << (letter == '\\' ? '\\' : "\\#{letter}")
      end
    end
    text << (replacement.text_at(at..-1) || '')
  end

  def substitute(pattern, replacement, most, &block)
    result = ''
    from = 0
    count = 0
    each_match(pattern) do |found|
      result << text_at(from...found.begin(0))
      result << if Hash === replacement then replacement[found[0]].to_s
                elsif replacement then String.expand(replacement.to_s, found)
                else block.call(found[0]).to_s
                end
      from = found.end(0)
      count += 1
      break if count == most
    end
    result << (text_at(from..-1) || '')
  end

  def sub(pattern, replacement = nil, &block)
    return substitute(pattern, replacement, 1, &block) if Regexp === pattern
    replacement ? text_sub(pattern, replacement, &block) : text_sub(pattern, &block)
  end

  def gsub(pattern, replacement = nil, &block)
    return substitute(pattern, replacement, 0, &block) if Regexp === pattern
    replacement ? text_gsub(pattern, replacement, &block) : text_gsub(pattern, &block)
  end

  def sub!(*arguments, &block)
    changed = sub(*arguments, &block)
    changed == self ? nil : replace(changed)
  end

  def gsub!(*arguments, &block)
    changed = gsub(*arguments, &block)
    changed == self ? nil : replace(changed)
  end
end

# ---- Names of Java's classes ---------------------------------------------------------------------

module Java
  # org.apache.hadoop.hbase: what `org` and the names after it give, up to a class.
  class Package
    CLASSES = {}

    def self.simple_names
      CLASSES.keys.map { |key| key.split('.').last }
    end

    def initialize(name)
      @name = name
    end

    def method_missing(name, *_arguments)
      name = "#{@name}.#{name}"
      CLASSES[name] || (Java.capital?(name.split('.').last) ? Java.lack(name) : Package.new(name))
    end

    def to_s
      @name
    end
    alias inspect to_s
  end

  def self.capital?(name)
    name[0] >= 'A' && name[0] <= 'Z'
  end

  # There is no class of that name.
  def self.lack(name)
    near = Java.nearest(name.to_s.split('.').last, Package.simple_names)
    error = NameError.new("there is no class #{name}" +
      (near ? "; did you mean #{near}?" : " here; of Java's there are HBase's filters and " \
       "comparators (help 'filters'), Bytes, Pair, Date and SimpleDateFormat"), name.to_s.to_sym)
    raise error
  end

  # Let a class be found by its name with the package, and by its name alone where that is free.
  def self.name_class(package, name, found)
    Package::CLASSES["#{package}.#{name.gsub('::', '.')}"] = found
    simple = name.split('::').last
    ::Object.const_set(simple, found) unless ::Object.const_defined?(simple)
  end

  # What nobody has told how it is shown is shown by its class.
  class Object
    def inspect
      "#<#{self.class}>"
    end
    alias to_s inspect

    def method_missing(name, *_arguments)
      simple = self.class.to_s.split('::').last
      raise NoMethodError.new("#{simple} has no method '#{name}' here", name)
    end
  end

  # One of the words that a class knows, such as CompareOperator::EQUAL.
  class Word < Object
    attr_reader :name

    def initialize(name)
      @name = name
    end

    def to_s
      @name.to_s
    end

    def self.words(*names)
      @words = names
      names.each { |name| const_set(name, new(name)) }
    end

    def self.const_missing(name)
      words = @words.join(' ')
      raise NameError.new("#{to_s.split('::').last} has no #{name}; there are #{words}", name)
    end

    def self.valueOf(name)
      name = name.to_s.to_sym
      @words.include?(name) ? const_get(name) : const_missing(name)
    end

    def self.value_of(name)
      valueOf(name)
    end
  end
end

class << self
  def org
    Java::Package.new('org')
  end

  def java
    Java::Package.new('java')
  end

  # import java.util.Date: classes are known without it.
  def java_import(name)
    name = Java::Package::CLASSES[name] || Java.lack(name) if String === name
    Java.lack(name) if Java::Package === name
    [name]
  end
  alias include_class java_import

  def include(*modules)
    Object.include(*modules) unless modules == [Java]
    nil
  end
end

class Object
  def self.const_missing(name)
    words = Java::Package.simple_names
    keys = Java::KEYS.select { |key| name == name.to_s.upcase.to_sym || key == name.to_s.upcase }
    near = Java.nearest(name.to_s, keys + words)
    meant = near ? "; did you mean #{near}?" : ''
    raise NameError.new("uninitialized constant #{name}#{meant}", name)
  end
end

# ---- Transactions --------------------------------------------------------------------------------

class << self
  # If anything ends the block early (an exception, break, Ctrl-C), nothing is written.
  def transaction(*arguments)
    unless block_given?
      raise ArgumentError, "transaction takes a block: transaction { put 't', 'r1', 'f:a', 'v' }" +
                           (arguments.empty? ? '' : '; a command in the place of one has been ' \
                                                    'run, outside of a transaction')
    end
    return unless PetalShell::Shell.begin_transaction(*arguments)
    begin
      value = yield
      PetalShell::Shell.commit_transaction
      value
    ensure
      PetalShell::Shell.abort_transaction
    end
  end
end

# ---- Filters -------------------------------------------------------------------------------------

module Java
  # A filter's arguments are those of the filter language, in @items.
  class Filter
    def inspect
      "#<#{self.class}>"
    end
    alias to_s inspect

    def self.simple_name
      to_s.split('::').last
    end

    # What the constructor takes, a letter for each argument:
    #
    #     s bytes or a text   o the same, or nil for an open end    b boolean   n number
    #     = comparison        c comparator       v comparator, or bytes to compare
    #     | what follows may be left out
    #     S a list of texts   N a list of numbers   P pairs of texts   R ranges of rows, or prefixes
    #     d a fraction        f filter
    def self.takes(letters, names)
      @letters = letters
      @names = names
    end

    def self.letters
      @letters
    end

    def self.names
      @names
    end

    def initialize(*arguments)
      @items = []
      read(arguments)
      add_defaults
      refuse
    end

    # What the library refuses is told here and not by the read that has the filter.
    def refuse
      why = complaint
      raise ArgumentError, why if why
    end

    def add_defaults
    end

    def read(arguments)
      used = 0
      optional = false
      self.class.letters.each_char do |letter|
        if letter == '|'
          optional = true
        elsif used >= arguments.size
          return nil if optional
          fail_count(arguments)
        else
          add_argument(letter, arguments[used], used + 1)
          # What may stand after a list is a hint.
          used = 'NS'.include?(letter) ? arguments.size : used + 1
        end
      end
      fail_count(arguments) if used < arguments.size
    end

    def fail_count(arguments)
      count = arguments.size
      raise ArgumentError, "it is #{self.class.simple_name}.new(#{self.class.names}), and there " \
        "#{count == 1 ? 'is' : 'are'} #{count} #{count == 1 ? 'argument' : 'arguments'}"
    end

    def wants(number, what)
      raise ArgumentError, "#{self.class.simple_name}: argument #{number} must be #{what}"
    end

    def add_argument(letter, value, number)
      case letter
      when 's'
        wants(number, "bytes, such as Bytes.toBytes('text')") unless String === value
      when 'o'
        unless String === value || value == nil
          wants(number, "bytes, such as Bytes.toBytes('text')")
        end
      when 'b'
        wants(number, 'true or false') unless value == true || value == false
      when 'n'
        wants(number, 'a number') unless Integer === value
      when 'd'
        wants(number, 'a fraction from 0.0 to 1.0') unless Numeric === value
        value = value.to_s
      when '='
        unless Java::Comparison === value
          wants(number, 'a comparison such as CompareOperator::EQUAL')
        end
        value = value.name
      when 'c', 'v'
        value = comparator(letter, value, number)
      when 'f'
        wants(number, 'a filter') unless Filter === value
      else
        wants(1, 'a list in [ ]') unless Array === value
        return add_list(letter, value)
      end
      @items << value
    end

    def comparator(letter, value, number)
      return value.text if Java::Comparator === value
      return "binary:#{value}" if letter == 'v' && String === value
      wants(number, letter == 'v' ? "bytes or a comparator such as SubstringComparator.new('x')"
                                  : "a comparator such as BinaryComparator.new(Bytes.toBytes('x'))")
    end

    def add_list(letter, values)
      values.each do |value|
        case letter
        when 'S'
          wants(1, 'a list of texts') unless String === value
          @items << value
        when 'N'
          wants(1, 'a list of numbers') unless Integer === value
          @items << value
        when 'P'
          value = value.to_a if Pair === value
          unless Array === value && value.size == 2
            wants(1, "a list of pairs, such as [Pair.new('key', \"\\x00\\x00\\x01\")]")
          end
          @items.concat(value)
        when 'R'
          value = RowRange.of_prefix(value) if String === value
          unless RowRange === value
            wants(1, "a list of RowRange.new('start', true, 'stop', false), or of prefixes")
          end
          @items.concat(value.to_a)
        end
      end
    end

    def method_missing(name, *_arguments)
      raise NoMethodError.new("#{self.class.simple_name} has no method '#{name}' here", name)
    end
  end

  # Of a column's value: without being told, rows without the column pass, and only its newest
  # version counts.
  class ColumnFilter < Filter
    def add_defaults
      @items << false << true
    end

    def set_item(place, method, value)
      raise ArgumentError, "#{method} wants true or false" unless value == true || value == false
      @items[place] = value
      nil
    end

    def setFilterIfMissing(value)
      set_item(-2, 'setFilterIfMissing', value)
    end

    def setLatestVersionOnly(value)
      set_item(-1, 'setLatestVersionOnly', value)
    end
    alias set_filter_if_missing setFilterIfMissing
    alias filterIfMissing= setFilterIfMissing
    alias set_latest_version_only setLatestVersionOnly
  end

  class Comparison < Word
  end

  # A comparator is a text: what it compares by, a colon, and what it compares with.
  class Comparator < Object
    attr_reader :text

    def self.of(kind)
      @kind = kind
    end

    def self.kind
      @kind
    end

    def initialize(*arguments)
      value = arguments[0]
      unless arguments.size == 1 && String === value
        wants(1, 'a text, and nothing else with it')
      end
      @text = "#{self.class.kind}:#{value}"
    end

    def wants(number, what)
      raise ArgumentError, "#{self.class.to_s.split('::').last}: argument #{number} must be #{what}"
    end
  end

  module OrgApacheHadoopHbaseFilter
    class CompareFilter < Java::Object
      class CompareOp < Java::Comparison
        words :LESS, :LESS_OR_EQUAL, :EQUAL, :NOT_EQUAL, :GREATER_OR_EQUAL, :GREATER
      end
    end

    class BinaryComparator < Java::Comparator
      of 'binary'
    end

    class BinaryPrefixComparator < Java::Comparator
      of 'binaryprefix'
    end

    class SubstringComparator < Java::Comparator
      of 'substring'
    end

    class NullComparator < Java::Comparator
      def initialize
        @text = 'null:'
      end
    end

    class LongComparator < Java::Comparator
      def initialize(number)
        wants(1, 'a number') unless Integer === number
        @text = "long:#{number}"
      end
    end

    class RegexStringComparator < Java::Comparator
      of 'regexstring'

      # The flags are those of java.util.regex.Pattern; 2 is CASE_INSENSITIVE.
      def initialize(*arguments)
        return super(*arguments) if arguments.size != 2
        text, flags = arguments
        unless String === text && (flags == 0 || flags == 2)
          wants(1, 'a text, and nothing else with it')
        end
        @text = "#{flags == 2 ? 'regexstringnocase' : 'regexstring'}:#{text}"
      end
    end

    class BitComparator < Java::Comparator
      class BitwiseOp < Java::Word
        words :AND, :OR, :XOR
      end

      def initialize(text, operation = nil)
        wants(1, 'a text, and nothing else with it') unless String === text
        unless BitwiseOp === operation
          wants(2, 'BitComparator::BitwiseOp::AND, OR or XOR')
        end
        @text = "bit#{operation.name.to_s.downcase}:#{text}"
      end
    end

    # name, what its constructor takes, the names of that
    [
      ['ColumnCountGetFilter', 'n', 'limit'],
      ['ColumnPaginationFilter', 'nn', 'limit, offset'],
      ['ColumnPrefixFilter', 's', 'prefix'],
      ['ColumnRangeFilter', 'obob', 'from, inclusive, to, inclusive'],
      ['ColumnValueFilter', 'ss=v', 'family, qualifier, comparison, value or comparator'],
      ['DependentColumnFilter', 'ss|b|=c', 'family, qualifier, drop, comparison, comparator'],
      ['FamilyFilter', '=c', 'comparison, comparator'],
      ['FirstKeyOnlyFilter', '', ''],
      ['FuzzyRowFilter', 'P', '[Pair.new(pattern, mask), ..]'],
      ['InclusiveStopFilter', 's', 'row'],
      ['KeyOnlyFilter', '|b', 'length as value'],
      ['MultiRowRangeFilter', 'R', '[RowRange.new(from, inclusive, to, inclusive), ..]'],
      ['MultipleColumnPrefixFilter', 'S', '[prefix, ..]'],
      ['PageFilter', 'n', 'rows'],
      ['PrefixFilter', 's', 'prefix'],
      ['QualifierFilter', '=c', 'comparison, comparator'],
      ['RandomRowFilter', 'd', 'chance'],
      ['RowFilter', '=c', 'comparison, comparator'],
      ['SkipFilter', 'f', 'filter'],
      ['TimestampsFilter', 'N|b', '[timestamp, ..]'],
      ['ValueFilter', '=c', 'comparison, comparator'],
      ['WhileMatchFilter', 'f', 'filter']
    ].each do |name, letters, names|
      const_set(name, Class.new(Java::Filter)).takes(letters, names)
    end

    class SingleColumnValueFilter < Java::ColumnFilter
      takes 'ss=v', 'family, qualifier, comparison, value or comparator'
    end

    class SingleColumnValueExcludeFilter < Java::ColumnFilter
      takes 'ss=v', 'family, qualifier, comparison, value or comparator'
    end

    class FilterList < Java::Filter
      class Operator < Java::Word
        words :MUST_PASS_ALL, :MUST_PASS_ONE
      end

      def read(arguments)
        first = Java::Object === arguments[0] ? 1 : 0
        if first == 1 && !(Operator === arguments[0])
          wants(1, 'FilterList::Operator::MUST_PASS_ALL or MUST_PASS_ONE')
        end
        @items << (first == 1 ? arguments[0].name : :MUST_PASS_ALL)
        arguments[first..-1].each_with_index { |filter, i| add_member(filter, first + i + 1) }
      end

      def refuse
        super if @items.size > 1
      end

      def add_member(filter, number)
        if Array === filter
          wants(number, 'filters') unless filter.all? { |one| Java::Filter === one }
          @items.concat(filter)
        elsif Java::Filter === filter
          @items << filter
        else
          wants(number, 'a filter')
        end
      end

      def addFilter(*filters)
        filters.each_with_index { |filter, i| add_member(filter, i + 1) }
        nil
      end
      alias add_filter addFilter
    end

    class MultiRowRangeFilter
      class RowRange < Java::Object
        def initialize(*arguments)
          start, with_start, stop, with_stop = arguments
          unless arguments.size == 4 && String === start && String === stop &&
                 [true, false].include?(with_start) && [true, false].include?(with_stop)
            raise ArgumentError, "RowRange.new wants ('start', true, 'stop', false)"
          end
          @parts = arguments
        end

        def to_a
          @parts
        end

        # Rows that begin with a prefix lie before the next text that does not.
        def self.of_prefix(prefix)
          stop = prefix.bytes
          stop.pop while stop.last == 255
          stop[-1] += 1 unless stop.empty?
          new(prefix, true, stop.map { |byte| byte.chr }.join, false)
        end
      end
    end

    constants.each do |name|
      found = const_get(name)
      Java.name_class('org.apache.hadoop.hbase.filter', name.to_s, found)
      found.constants.each do |inner|
        within = found.const_get(inner)
        next unless Class === within
        Java.name_class('org.apache.hadoop.hbase.filter', "#{name}::#{inner}", within)
      end
    end
  end

  module OrgApacheHadoopHbase
    class CompareOperator < Java::Comparison
      words :LESS, :LESS_OR_EQUAL, :EQUAL, :NOT_EQUAL, :GREATER_OR_EQUAL, :GREATER
    end
    Java.name_class('org.apache.hadoop.hbase', 'CompareOperator', CompareOperator)
  end

  # ---- Bytes, pairs, dates -----------------------------------------------------------------------

  module OrgApacheHadoopHbaseUtil
    class Bytes < Java::Object
      def self.toBytes(value)
        case value
        when String, Symbol then value.to_s
        when Integer then [value].pack('q>')
        when Float then [value].pack('G')
        when true then "\xff"
        when false then "\0"
        else raise ArgumentError, 'toBytes wants a text or a number'
        end
      end

      # \x00a with the four letters of its first byte: that byte.
      def self.toBytesBinary(text)
        text.gsub(/\\x([0-9A-Fa-f]{2})/) { $1.hex.chr }
      end

      class << self
        %w[toStringBinary toString toHex toShort toInt toLong toFloat toDouble
           toBoolean].each do |name|
          define_method(name.to_sym) { |bytes| Java.convert(name, bytes) }
        end
      end
    end

    class Pair < Java::Object
      def initialize(first, second)
        @first = first
        @second = second
      end

      def to_a
        [@first, @second]
      end
    end

    Java.name_class('org.apache.hadoop.hbase.util', 'Bytes', Bytes)
    Java.name_class('org.apache.hadoop.hbase.util', 'Pair', Pair)
  end

  module JavaUtil
    class Date < Java::Object
      def initialize(milliseconds = nil)
        milliseconds ||= JavaLang::System.currentTimeMillis
        unless Integer === milliseconds
          raise ArgumentError, 'Date.new wants a number of milliseconds since 1970'
        end
        @milliseconds = milliseconds
      end

      def getTime
        @milliseconds
      end
      alias time getTime

      def toString
        Java.date_text(@milliseconds)
      end
      alias to_s toString
      alias inspect toString
    end

    class ArrayList < ::Array
      def initialize(items = [])
        super()
        concat(items)
      end
    end

    module Arrays
      def self.asList(*items)
        items
      end
    end

    Java.name_class('java.util', 'Date', Date)
    Java.name_class('java.util', 'ArrayList', ArrayList)
    Java.name_class('java.util', 'Arrays', Arrays)
  end

  module JavaUtilRegex
    module Pattern
      CASE_INSENSITIVE = 2
    end
    Java.name_class('java.util.regex', 'Pattern', Pattern)
  end

  module JavaLang
    module System
      def self.currentTimeMillis
        now = Time.now
        now.to_i * 1000 + now.usec / 1000
      end
    end
    Java.name_class('java.lang', 'System', System)
  end

  module JavaText
    class ParsePosition < Java::Object
      def initialize(_place = 0)
      end
    end

    # Patterns of y M d H m s S and what stands between them.
    class SimpleDateFormat < Java::Object
      MOST_DIGITS = 9

      def initialize(pattern)
        unless String === pattern
          raise ArgumentError, "SimpleDateFormat.new wants a pattern such as 'yyyy-MM-dd HH:mm:ss'"
        end
        @pattern = pattern
      end

      # Runs of letters: [letter, how many]
      def runs
        runs = []
        @pattern.each_char do |letter|
          if !runs.empty? && runs.last[0] == letter && part?(letter)
            runs.last[1] += 1
          else
            runs << [letter, 1] unless letter == "'"
          end
        end
        runs
      end

      def part?(letter)
        'yMdHmsS'.include?(letter)
      end

      def parse(text, _position = nil)
        raise ArgumentError, 'parse wants a text' unless String === text
        @text = text
        @at = 0
        parts = { 'y' => 1970, 'M' => 1, 'd' => 1, 'H' => 0, 'm' => 0, 's' => 0, 'S' => 0 }
        all = runs
        all.each_with_index do |run, i|
          letter, count = run
          if part?(letter)
            # Where digits follow digits the pattern tells whose they are.
            digits_follow = all[i + 1] && part?(all[i + 1][0])
            number = take_number(digits_follow && count < MOST_DIGITS ? count : MOST_DIGITS)
            parts[letter] = letter == 'y' && count <= 2 && number < 100 ? full_year(number) : number
          else
            refuse unless @text[@at] == letter
            @at += 1
          end
        end
        Date.new(milliseconds_of(parts))
      end

      def refuse
        raise ParseException, "#{@text.inspect} is not as the pattern says"
      end

      def take_number(most)
        from = @at
        @at += 1 while @at < @text.size && @at - from < most && ('0'..'9').include?(@text[@at])
        refuse if @at == from
        @text[from...@at].to_i
      end

      # Two digits of a year are of the century that ends 20 years from now, as in Java.
      def full_year(number)
        greatest = Time.now.year + 20
        year = number + greatest / 100 * 100
        year > greatest ? year - 100 : year
      end

      def milliseconds_of(parts)
        seconds = Java.local_seconds(*%w[y M d H m s].map { |letter| parts[letter] })
        refuse unless seconds
        seconds * 1000 + parts['S']
      end
    end

    Java.name_class('java.text', 'ParsePosition', ParsePosition)
    Java.name_class('java.text', 'SimpleDateFormat', SimpleDateFormat)
  end
end

class ParseException < StandardError
end

class Time
  def to_s
    Java.time_text(to_i * 1000)
  end
  alias inspect to_s
end
