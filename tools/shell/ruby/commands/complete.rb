# complete.rb -- what a person may mean to type next: commands, names of tables, snapshots, families
# and files, keys of hashes and their values.
class Complete
  READ_KEYS = %w[VERSIONS TIMERANGE TIMESTAMP FILTER MAXLENGTH FORMATTER FORMATTER_CLASS WITHOUT]
  SCAN_KEYS = %w[COLUMNS STARTROW STOPROW INCLUDE_STOPROW ROWPREFIXFILTER LIMIT REVERSED RAW BATCH] +
              READ_KEYS
  FAMILY_KEYS = %w[NAME VERSIONS MIN_VERSIONS TTL KEEP_DELETED_CELLS BLOOMFILTER BLOCKSIZE COMPRESSION
                   IN_MEMORY BLOCKCACHE BLOOM_RATE_PER_FILE BLOOMFILTER_KIND NEW_VERSION_BEHAVIOR
                   CONFIGURATION METADATA DURABILITY READONLY MAX_FILESIZE SPLIT_ENABLED]

  # Of a command's hash.
  KEYS = {
    'advise' => %w[KEYS SAMPLE],
    'alter' => FAMILY_KEYS + %w[METHOD],
    'alter_async' => FAMILY_KEYS + %w[METHOD],
    'alter_namespace' => %w[METHOD NAME],
    'append' => %w[TTL],
    'backup' => %w[COPY PREVIOUS],
    'clone_snapshot' => %w[RESTORE_ACL],
    'count' => %w[INTERVAL] + SCAN_KEYS,
    'create' => FAMILY_KEYS + %w[SPLITS SPLITS_FILE NUMREGIONS SPLITALGO],
    'delete' => %w[TTL],
    'deleteall' => %w[TTL ROWPREFIXFILTER],
    'export' => %w[FORMAT ALL_VERSIONS CREATE] + SCAN_KEYS,
    'export_hfiles' => %w[CODEC ENCODING BLOOMFILTER SPLITS SPLIT_SIZE VISIBLE],
    'get' => %w[COLUMN] + READ_KEYS,
    'import' => %w[FORMAT CREATE ROW ROW_NUMBER ROW_SEPARATOR FAMILY ON_ERROR MAX_ERRORS THREADS
                   FLUSH_EVERY ONLY_FIELDS SKIP_FIELDS],
    'import_hfiles' => %w[DROP_EDITS DROP_TAGS],
    'incr' => %w[TTL],
    'list_regions' => %w[SERVER_NAME LOCALITY_THRESHOLD],
    'put' => %w[TTL],
    'restore_snapshot' => %w[RESTORE_ACL],
    'scan' => SCAN_KEYS,
    'snapshot' => %w[SKIP_FLUSH TTL],
    'stats' => %w[COUNTERS FORMAT]
  }

  # Keys whose value is true or false; the values of others.
  TRUTHS = %w[ALL_VERSIONS BLOCKCACHE BLOOM_RATE_PER_FILE COPY CREATE DROP_EDITS DROP_TAGS IN_MEMORY
              INCLUDE_STOPROW RAW NEW_VERSION_BEHAVIOR READONLY REVERSED RESTORE_ACL VISIBLE
              SKIP_FLUSH SPLIT_ENABLED]
  VALUES = {
    'BLOOMFILTER' => %w[NONE ROW ROWCOL ROW_ROWCOL ROWPREFIX_FIXED_LENGTH],
    'BLOOMFILTER_KIND' => %w[BLOCKED RIBBON],
    'CODEC' => %w[GZ LZ4 NONE SNAPPY ZSTD],
    'COMPRESSION' => %w[LZ4 NONE],
    'DURABILITY' => %w[ASYNC_WAL FSYNC_WAL SKIP_WAL SYNC_WAL],
    'ENCODING' => %w[DIFF FAST_DIFF NONE PREFIX ROW_INDEX_V1],
    'FORMAT' => %w[csv tsv jsonl hbase PROMETHEUS],
    'FORMATTER' => %w[toString toInt toLong toShort toFloat toDouble toHex],
    'KEEP_DELETED_CELLS' => %w[FALSE TRUE TTL],
    'METHOD' => %w[delete table_att_unset table_conf_unset set unset],
    'ON_ERROR' => %w[skip stop],
    'SPLITALGO' => %w[HexStringSplit UniformSplit DecimalStringSplit]
  }

  # Of the prelude's table.
  OTHER_METHODS = %w[get_all_columns help name]

  # What Tab adds to the line up to the cursor; if all words part here, what they are, as many in a row
  # as there is room for.
  def self.tab(line, width)
    insert, words = new(line).answer
    return [insert, ''] if words.empty?
    widest = words.map { |word| word.size }.max + 2
    rows = words.each_slice([width / widest, 1].max).map do |row|
      row[0...-1].map { |word| word.ljust(widest) }.join + row[-1] + "\n"
    end
    [insert, rows.join]
  end

  def initialize(line)
    @line = line
    @words = [] # what stands in place of the typed word, and what follows it if it is the only one
    begin_statement
    read_line
    @begin = line.size if @quote == nil && !@has_word
    @word = line[@begin..-1]
    @before = @quote == nil ? "'" : '' # which was not typed
    @behind = @quote == '"' ? '"' : "'"
    return if @is_comment
    @table = Shell.variable(@variable) || @table unless @variable.empty?
    complete
  end

  def answer
    return ['', []] if @words.empty?
    texts = @words.map { |text, _| text }
    common = texts[0].size
    common -= 1 until texts.all? { |text| text[0, common] == texts[0][0, common] }
    insert = texts[0][@word.size...common] || ''
    insert += @words[0][1] if @words.size == 1
    [insert, insert.empty? && texts.size > 1 ? texts : []]
  end

  # ---- The statement at hand, as far as it is typed ----------------------------------------------

  def begin_statement
    @command = ''
    @table = ''    # the first argument
    @key = ''      # after it stands =>
    @variable = '' # before a dot: it may hold the table
    @argument = 0  # commas after the command, outside brackets
    @braces = @brackets = 0
    @behind_arrow = false
  end

  def letter?(letter)
    letter.match?(/[A-Za-z0-9_?!]/)
  end

  def read_line
    at = 0
    while at < @line.size
      letter = @line[at]
      if letter == '#'
        line_end = @line.index("\n", at)
        @is_comment = line_end == nil
        at = line_end || @line.size
      elsif letter == "'" || letter == '"' then at = read_string(at) + 1
      elsif letter?(letter) then at = read_name(at)
      else
        take_sign(letter, @line[at + 1])
        at += 1
      end
    end
  end

  # The first name of a statement is its command.
  def read_name(at)
    @begin = at
    at += 1 while at < @line.size && letter?(@line[at])
    @has_word = at == @line.size
    name = @line[@begin...at]
    if @has_word then nil
    elsif @command.empty? || takes_command? then @command = name
    elsif !@behind_arrow then @key = name
    end
    at
  end

  # The place of the string's closing quote, or the end.
  def read_string(at)
    @quote = @line[at]
    @begin = at += 1
    at += @line[at] == '\\' ? 2 : 1 while at < @line.size && @line[at] != @quote
    return @line.size if at >= @line.size
    @quote = nil
    @table = @line[@begin...at] if @argument == 0 && @braces == 0
    at
  end

  def take_sign(letter, following)
    outside = @braces == 0 && @argument == 0
    case letter
    when ';', '|' then begin_statement
    when "\n" then begin_statement if outside
    when '='
      if following == '>' then @behind_arrow = true
      elsif outside then begin_statement
      end
    when '.' # a variable holds the table
      variable = @command
      begin_statement
      @variable = variable
      @argument = 1
    when '{'
      @braces += 1
      @behind_arrow = false
    when '}' then @braces -= 1
    when '[' then @brackets += 1
    when ']' then @brackets -= 1
    when ','
      return if @brackets > 0
      @behind_arrow = false
      @argument += 1 if @braces == 0
    end
  end

  # Does another command follow?
  def takes_command?
    @command == 'explain' || @command == 'time'
  end

  # ---- Words -------------------------------------------------------------------------------------

  def add(words)
    words.each { |word| @words << [@before + word, @behind] if word.start_with?(@word) }
  end

  def families
    return [] unless Shell.tables.include?(@table)
    Shell.describe(@table)['families'].map { |family| family['name'] }
  end

  # Of a directory the slash is not part of the word.
  def add_files
    Shell.paths(@word).map { |path| path.chomp('/') == path ? [path, @behind] : [path.chomp('/'), '/'] }
         .sort.each do |path, behind|
      @words << [@before + path, behind] if path.start_with?(@word)
    end
  end

  # The words for an argument, by the letters of commands.c.
  def add_argument(kind)
    case kind
    when 't' then add(Shell.tables)
    when 's' then add(Shell.snapshots.map { |item| item[0] })
    when 'c' then add(Help.groups + Shell.commands)
    when 'f' then add(families)
    when 'q'
      @behind = ''
      add(families.map { |name| "#{name}:" })
    when 'p' then add_files
    when 'n' then add(Shell.namespaces)
    end
  end

  # ---- Where the line stops ----------------------------------------------------------------------

  def complete
    if !@command.empty? && @behind_arrow then complete_value
    elsif !@command.empty? then complete_argument
    elsif @quote == nil
      @before = ''
      @behind = ' '
      if !@variable.empty?
        names = Hbase::Table.instance_methods(false).map { |name| name.to_s }
        add((names - OTHER_METHODS - %w[initialize inspect to_s]).sort + OTHER_METHODS)
      elsif !@word.empty?
        add(Shell.commands)
      end
    end
  end

  # After KEY =>: its values, in quotes but for true and false.
  def complete_value
    string = @quote != nil || !@has_word
    complete_filter if @key == 'FILTER' && @quote
    if TRUTHS.include?(@key)
      return if @quote
      @before = @behind = ''
      add(%w[true false])
      return
    end
    return unless string
    add(VALUES[@key] || [])
    if @key == 'COLUMN' || @key == 'COLUMNS' then add_argument('q')
    elsif @key == 'NAME' then add_argument('f')
    end
  end

  # Inside a filter's text its names: what is typed of one is after the last sign.
  def complete_filter
    size = 0
    size += 1 while size < @word.size && letter?(@word[-1 - size])
    @word = @word[@word.size - size, size]
    @behind = '('
    add(Shell.filters) if size > 0
  end

  # An argument of the command, or a key of its hash.
  def complete_argument
    if takes_command?
      @before = ''
      @behind = ' '
      return if @quote
      add(@command == 'explain' ? %w[get scan] : Shell.commands)
      return
    end
    kinds = Shell.kinds(@command) || 't'
    kind = kinds[@argument] || (kinds[-1] == 'q' ? 'q' : '-')
    add_argument(kind) if @braces == 0 && (@quote || !@has_word)
    return unless @quote == nil && (@braces > 0 || @argument > 0)
    @before = ''
    @behind = ' => '
    add(KEYS[@command] || []) if @has_word || @braces > 0 || kind == '-'
  end
end
