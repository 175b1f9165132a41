# schema.rb -- tables and their families in the words of create, alter and describe.
#
# A table is a hash, as Shell.describe gives it: 'name', 'durability', 'read_only', 'attributes',
# 'families'; so is a family.  What is not in one has its default.  Attributes that the library keeps
# as text are lists of [kind, name, value].
module Schema
  extend Kept

  METADATA = 1
  CONFIGURATION = 2
  KEPT = 3

  ERROR_RATE = 'io.storefile.bloom.error.rate'
  PREFIX_LENGTH = 'RowPrefixBloomFilter.prefix_length'
  FOREVER = 2147483647
  MOST = 2147483647
  UNITS = [['DAY', 86400], ['HOUR', 3600], ['MINUTE', 60], ['SECOND', 1]]

  # The codecs of HBase.  Petal has LZ4; where another one is asked for, its name is kept and shown,
  # and blocks are LZ4.
  CODECS = %w[LZ4 NONE GZ SNAPPY LZO ZSTD BZIP2 LZMA BROTLI]
  DURABILITIES = %w[USE_DEFAULT SKIP_WAL ASYNC_WAL SYNC_WAL FSYNC_WAL]

  # The attributes of a family that have fields of their own: how they are read, the field, the words
  # that they may be; and what METADATA sets when it takes one out, nil where nil will do.
  TYPED = {
    'VERSIONS' => [:versions, 'versions', nil, '1'],
    'MIN_VERSIONS' => [:min_versions, 'min_versions', nil, '0'],
    'TTL' => [:ttl, 'ttl_seconds', nil, 'FOREVER'],
    'BLOCKSIZE' => [:block_size, 'block_bytes', nil, '65536'],
    'BLOOMFILTER' => [:word, 'bloom', %w[NONE ROW ROWCOL ROW_ROWCOL ROWPREFIX_FIXED_LENGTH], 'ROW'],
    'COMPRESSION' => [:compression, 'compression', nil, 'LZ4'],
    'KEEP_DELETED_CELLS' => [:word, 'keep_deleted_cells', %w[FALSE TRUE TTL], 'FALSE'],
    'BLOOMFILTER_KIND' => [:word, 'bloom_kind', %w[BLOCKED RIBBON], 'BLOCKED'],
    'IN_MEMORY' => [:flag, 'in_memory', nil, nil],
    'BLOCKCACHE' => [:not_flag, 'no_block_cache', nil, 'true'],
    'BLOOM_RATE_PER_FILE' => [:flag, 'bloom_rate_per_file', nil, nil],
    'NEW_VERSION_BEHAVIOR' => [:flag, 'new_version_behavior', nil, nil]
  }

  # Those that are kept as text, and in which form.
  FAMILY_KEPT = {
    'REPLICATION_SCOPE' => :number, 'DATA_BLOCK_ENCODING' => :text, 'INDEX_BLOCK_ENCODING' => :text,
    'CACHE_DATA_ON_WRITE' => :boolean, 'CACHE_INDEX_ON_WRITE' => :boolean,
    'CACHE_BLOOMS_ON_WRITE' => :boolean, 'EVICT_BLOCKS_ON_CLOSE' => :boolean,
    'PREFETCH_BLOCKS_ON_OPEN' => :boolean, 'IN_MEMORY_COMPACTION' => :text,
    'COMPRESS_TAGS' => :boolean, 'COMPRESSION_COMPACT' => :upper,
    'COMPRESSION_COMPACT_MAJOR' => :upper, 'COMPRESSION_COMPACT_MINOR' => :upper,
    'IS_MOB' => :boolean, 'MOB_THRESHOLD' => :size, 'DFS_REPLICATION' => :number,
    'STORAGE_POLICY' => :upper, 'ENCRYPTION' => :text, 'ENCRYPTION_KEY' => :text
  }
  TABLE_KEPT = {
    'MAX_FILESIZE' => :size, 'MEMSTORE_FLUSHSIZE' => :size, 'COMPACTION_ENABLED' => :boolean,
    'SPLIT_ENABLED' => :boolean, 'MERGE_ENABLED' => :boolean, 'REGION_REPLICATION' => :number,
    'PRIORITY' => :number, 'OWNER' => :text
  }

  class << self
    # ---- Lists of text attributes ----------------------------------------------------------------

    def find(owner, kind, name)
      found = owner['attributes'].find { |item| item[0] == kind && item[1] == name }
      found && found[2]
    end

    # Give the attribute a value; nil takes it out of the list.
    def set(owner, kind, name, value)
      owner['attributes'] = owner['attributes'].reject { |item| item[0] == kind && item[1] == name }
      owner['attributes'] << [kind, name, value] if value
    end

    # nil and the empty text take a pair of METADATA or CONFIGURATION out.
    def takes_out?(value)
      Shell.text(value).empty?
    end

    def set_text(owner, kind, name, value)
      set(owner, kind, name, takes_out?(value) ? nil : Shell.text(value))
    end

    # ---- Values ----------------------------------------------------------------------------------

    # Fail: the attribute cannot have the value; `wanted` says what it can have.
    def fail_value(key, value, wanted)
      Shell.fail(2, "#{key} cannot be #{value.inspect[0, 200]}: #{wanted}")
    end

    # One of the words, whatever its case.
    def read_word(key, value, words)
      text = Shell.text(value).upcase
      words.include?(text) ? text : fail_value(key, value, "use one of #{words.join(' ')}")
    end

    def read_number(key, value, range, wanted)
      number = Shell.number(value)
      number && range.include?(number) ? number : fail_value(key, value, wanted)
    end

    def read_versions(family, key, value)
      number = Shell.number(value)
      fail_value(key, value, 'it must be a number, 1 or more') if number == nil || number > MOST
      Shell.fail(2, 'Maximum versions must be positive') if number <= 0
      family['versions'] = number
    end

    def read_min_versions(family, key, value)
      family['min_versions'] = read_number(key, value, 0..MOST, 'it must be a number, 0 or more')
    end

    def read_ttl(family, key, value)
      text = Shell.text(value)
      seconds = text.upcase == 'FOREVER' ? FOREVER : Shell.number(value)
      seconds ||= String === value ? Shell.interval(text) : 0
      if seconds > FOREVER
        fail_value(key, value, 'it must be at most 2147483647 seconds, which is FOREVER')
      end
      if seconds <= 0
        Shell.fail(2, "TTL for column family #{family['name']} must be positive.")
      end
      family['ttl_seconds'] = seconds
    end

    def read_block_size(family, key, value)
      size = Shell.size(value)
      fail_value(key, value, "it must be a size such as 65536 or '64KB'") if size == nil
      if size < 1024 || size > 16 << 20
        Shell.fail(2, "Block size for column family #{family['name']}  must be between 1K and 16MB.")
      end
      family['block_bytes'] = size
    end

    def read_compression(family, key, value)
      text = Shell.text(value).upcase
      unless CODECS.include?(text)
        Shell.fail(2, "Compression #{text[0, 40]} is not supported. Use one of #{CODECS.join(' ')}")
      end
      family['compression'] = text == 'NONE' ? 'NONE' : 'LZ4'
      set(family, KEPT, key, CODECS[0, 2].include?(text) ? nil : text)
    end

    def read_error_rate(family, key, value)
      rate = value == nil ? 0.0 : Shell.real(Shell.text(value))
      unless value == nil || (rate && rate >= Shell.real('0.0001') && rate <= 0.5)
        fail_value(key, value, 'it must be a number from 0.0001 to 0.5')
      end
      family['bloom_error_rate'] = rate
    end

    def read_prefix_length(family, key, value)
      family['bloom_prefix_bytes'] =
        value == nil ? 0 : read_number(key, value, 1..32767, 'it must be a number from 1 to 32767')
    end

    # The library checks the range; here the value gets the form in which it is kept.
    def read_kept(owner, name, form, value)
      text = Shell.text(value)
      if form == :boolean then text = Shell.true?(value).to_s
      elsif form == :upper then text = text.upcase
      elsif form == :number || form == :size
        number = form == :size ? Shell.size(value) : Shell.number(value)
        text = number ? number.to_s : fail_value(name, value, 'it must be a number')
      end
      set(owner, KEPT, name, value == nil ? nil : text)
    end

    # ---- Families --------------------------------------------------------------------------------

    def read_typed(family, key, value)
      how, field, words, = TYPED[key]
      case how
      when :word
        family[field] = read_word(key, value, words)
        if field == 'bloom' && family[field] != 'ROWPREFIX_FIXED_LENGTH'
          family['bloom_prefix_bytes'] = 0
        end
      when :flag then family[field] = Shell.true?(value)
      when :not_flag then family[field] = !Shell.true?(value)
      else send("read_#{how}", family, key, value)
      end
    end

    # An attribute with a value of its own: all but METADATA and CONFIGURATION.  They and METADATA are
    # one map: a pair under an attribute's name is the attribute, and text that is there under its
    # name gives way to it.  False if there is none of that name.
    def read_family_single(family, key, value)
      if TYPED.key?(key) then read_typed(family, key, value)
      elsif FAMILY_KEPT.key?(key) then read_kept(family, key, FAMILY_KEPT[key], value)
      else return false
      end
      set(family, METADATA, key, nil)
      true
    end

    def check_hash(key, hash)
      Shell.fail(2, "#{key} must be a Hash type") unless Hash === hash
    end

    # What an attribute is that METADATA takes out.
    def read_family_metadata(family, key, hash)
      check_hash(key, hash)
      hash.each do |name, value|
        name = Shell.text(name)
        value = TYPED.key?(name) ? TYPED[name][3] : nil if takes_out?(value)
        set_text(family, METADATA, name, value) unless read_family_single(family, name, value)
      end
    end

    # Two names have fields of their own.
    def read_family_configuration(family, key, hash)
      check_hash(key, hash)
      hash.each do |name, value|
        name = Shell.text(name)
        if name == ERROR_RATE then read_error_rate(family, name, value)
        elsif name == PREFIX_LENGTH then read_prefix_length(family, name, value)
        else set_text(family, CONFIGURATION, name, value)
        end
      end
    end

    def read_family_attribute(family, key, value)
      case key
      when 'NAME' then return
      when 'METADATA' then read_family_metadata(family, key, value)
      when 'CONFIGURATION' then read_family_configuration(family, key, value)
      else
        return if read_family_single(family, key, value)
        tell_unknown(" for column family #{family['name']}", key)
      end
    end

    # What depends on several attributes of one family.
    def check_family(family)
      versions = family['versions'] || 0
      if (family['min_versions'] || 0) > (versions > 0 ? versions : 1)
        Shell.fail(2, "Min versions for column family #{family['name']} must be less than the Max " \
                      'versions.')
      end
      return unless family['bloom'] == 'ROWPREFIX_FIXED_LENGTH' &&
                    (family['bloom_prefix_bytes'] || 0) == 0
      Shell.fail(2, 'Failed to get bloom filter param: ROWPREFIX_FIXED_LENGTH needs CONFIGURATION ' \
                    "=> {'#{PREFIX_LENGTH}' => '1' to '32767'}")
    end

    def check_family_name(name)
      Shell.fail(2, 'Column Family name can not be empty') if name.empty?
      if name[0] == '.'
        Shell.fail(2, "Column Family names cannot start with a period: #{name[0, 128]}")
      end
      name.each_byte do |byte|
        next unless byte < 0x20 || byte == 0x7f || ':/\\'.include?(byte.chr)
        Shell.fail(2, "Illegal character <#{byte}>. Column Family names cannot contain control " \
                      "characters or colons: #{name[0, 128]}")
      end
      return unless name.size > 127
      Shell.fail(2, 'The length of family name is bigger than 127')
    end

    # HBase's words; at a terminal also what may have been meant.
    def tell_unknown(where, key)
      names = TYPED.keys + %w[NAME METADATA CONFIGURATION DURABILITY READONLY] + FAMILY_KEPT.keys +
              TABLE_KEPT.keys
      near = Shell.terminal? ? Java.nearest(key, names) : nil
      Shell.plain "Unknown argument ignored#{where}: #{key}#{near ? "; did you mean #{near}?" : ''}"
    end

    def find_family(table, name)
      table['families'].find { |family| family['name'] == name }
    end

    # A family that create names twice is begun anew, one that alter names is changed.
    def read_family(table, name, hash, altering)
      check_family_name(name)
      family = find_family(table, name)
      if family && !altering
        Shell.plain "Family '#{name}' already exists, the old one will be replaced"
        family.clear
      end
      table['families'] << (family = {}) unless family
      family.replace('name' => name, 'attributes' => []) if family.empty?
      hash.each { |key, value| read_family_attribute(family, Shell.text(key), value) } if hash
      check_family(family)
    end

    # ---- Tables ----------------------------------------------------------------------------------

    # Attributes, METADATA and CONFIGURATION of a table are one map: what is under a name gives way to
    # what comes.  False if there was nothing.
    def unset(table, name)
      found = [KEPT, METADATA, CONFIGURATION].select { |kind| find(table, kind, name) }
      found.each { |kind| set(table, kind, name, nil) }
      was_set = !found.empty?
      if name == 'DURABILITY'
        was_set ||= (table['durability'] || 'USE_DEFAULT') != 'USE_DEFAULT'
        table['durability'] = 'USE_DEFAULT'
      elsif name == 'READONLY'
        was_set ||= table['read_only'] == true
        table['read_only'] = false
      end
      was_set
    end

    # An attribute with a value of its own: all but METADATA and CONFIGURATION.
    def read_table_single(table, key, value)
      if key == 'DURABILITY'
        word = read_word(key, value, DURABILITIES)
        unset(table, key)
        table['durability'] = word
      elsif key == 'READONLY'
        unset(table, key)
        table['read_only'] = Shell.true?(value)
        # READONLY => false stands in METADATA once it has been said.
        set(table, METADATA, key, 'false') unless table['read_only']
      elsif TABLE_KEPT.key?(key)
        unset(table, key)
        read_kept(table, key, TABLE_KEPT[key], value)
      else
        return false
      end
      true
    end

    # A pair under an attribute's name is the attribute.
    def read_table_texts(table, kind, key, hash)
      check_hash(key, hash)
      hash.each do |name, value|
        name = Shell.text(name)
        next if !takes_out?(value) && read_table_single(table, name, value)
        unset(table, name)
        set_text(table, kind, name, value)
      end
    end

    # False if there is none of that name.
    def read_table_attribute(table, key, value)
      if key == 'METADATA' then read_table_texts(table, METADATA, key, value)
      elsif key == 'CONFIGURATION' then read_table_texts(table, CONFIGURATION, key, value)
      else return read_table_single(table, key, value)
      end
      true
    end

    def fail_argument(argument)
      Shell.fail(2, "#{Shell.class_of(argument)} of #{Shell.text(argument)[0, 200]} is not of Hash " \
                    'or String type')
    end

    # ---- create ----------------------------------------------------------------------------------

    def read_create_attribute(table, key, value)
      if key == 'METHOD'
        return if Shell.text(value) == 'table_att'
        Shell.fail(2, 'table_att is currently the only supported method')
      end
      return if Splits::KEYS.include?(key) || read_table_attribute(table, key, value)
      Shell.plain "An argument ignored (unknown or overridden): #{key}"
    end

    def read_create(table, arguments)
      arguments.each do |argument|
        case argument
        when String then read_family(table, argument, nil, false)
        when Array then read_create(table, argument)
        when nil then next
        when Hash
          splits = Splits.read(argument)
          if argument.key?('NAME')
            read_family(table, Shell.text(argument['NAME']), argument, false)
          else
            Splits.fail_twice if splits && table['splits']
            table['splits'] = splits if splits
            argument.each { |key, value| read_create_attribute(table, Shell.text(key), value) }
          end
        else fail_argument(argument)
        end
      end
    end

    # ---- alter -----------------------------------------------------------------------------------

    # As in HBase an unknown family is no error.
    def delete_family(table, name)
      return if table['families'].reject! { |family| family['name'] == name }
      Shell.note("kv-shell: table #{Shell.literal(table['name'])} has no family " \
                 "#{Shell.literal(name)} to delete")
    end

    def unset_named(table, name, what)
      return name.each { |one| unset_named(table, one, what) } if Array === name
      return if unset(table, Shell.text(name))
      Shell.fail(2, "Could not find #{what}: #{Shell.text(name)[0, 200]}")
    end

    # METHOD => 'delete', 'table_att_unset' or 'table_conf_unset', with NAME.
    def run_method(table, method, hash)
      unless %w[delete table_att_unset table_conf_unset].include?(method)
        Shell.fail(2, "Unknown method: #{method[0, 200]}")
      end
      Shell.fail(2, "NAME parameter missing for #{method} method") unless hash.key?('NAME')
      name = hash['NAME']
      if method == 'delete' then delete_family(table, Shell.text(name))
      else unset_named(table, name, method == 'table_att_unset' ? 'attribute' : 'configuration')
      end
    end

    # The keys of a hash without a NAME, or next to a METHOD that takes none.
    def read_alter_attributes(table, hash, ignore_all)
      hash.each do |key, value|
        key = Shell.text(key)
        next if %w[METHOD NAME delete].include?(key)
        tell_unknown('', key) if ignore_all || !read_table_attribute(table, key, value)
      end
    end

    def read_alter_hash(table, hash)
      return delete_family(table, Shell.text(hash['delete'])) unless hash['delete'] == nil
      if !hash.key?('METHOD') && hash.key?('NAME')
        return read_family(table, Shell.text(hash['NAME']), hash, true)
      end
      method = hash.key?('METHOD') ? Shell.text(hash['METHOD']) : 'table_att'
      run_method(table, method, hash) unless method == 'table_att'
      read_alter_attributes(table, hash, method != 'table_att')
    end

    def read_alter(table, arguments)
      arguments.each do |argument|
        case argument
        when String then read_family(table, argument, nil, true)
        when Hash then read_alter_hash(table, argument)
        else fail_argument(argument)
        end
      end
      return unless table['families'].empty?
      Shell.fail(2, 'Table should have at least one column family.')
    end

    def alter(argument, arguments)
      Shell.fail(2, 'Table name must be of type String') unless String === argument
      name = Shell.existing(argument, "Can't find a table: ", '')
      if arguments.empty?
        Shell.fail(2, 'There should be at least one argument but the table name')
      end
      before = Shell.describe(name)
      table = Shell.describe(name)
      read_alter(table, arguments)
      Shell.alter(table)
      Notes.tell_new_families(before, table)
      Notes.tell(before, table)
      name
    end

    # ---- describe --------------------------------------------------------------------------------

    # Families show them at places of their own.
    FAMILY_INLINE = %w[INDEX_BLOCK_ENCODING DATA_BLOCK_ENCODING REPLICATION_SCOPE COMPRESSION
                       ENCRYPTION ENCRYPTION_KEY IS_MOB MOB_THRESHOLD]

    # The keys that come first in a family's METADATA, in this order; NEW_VERSION_BEHAVIOR is not a
    # text in the library.
    METADATA_FIRST = %w[CACHE_DATA_ON_WRITE CACHE_INDEX_ON_WRITE CACHE_BLOOMS_ON_WRITE
                        EVICT_BLOCKS_ON_CLOSE PREFETCH_BLOCKS_ON_OPEN NEW_VERSION_BEHAVIOR
                        IN_MEMORY_COMPACTION]

    # Tables show them before METADATA, in this order.
    TABLE_INLINE = %w[DURABILITY MAX_FILESIZE MEMSTORE_FLUSHSIZE PRIORITY READONLY
                      REGION_REPLICATION]

    # A text in quotes: as it is, or so that the shell reads it back.
    def quote(text, literal)
      literal ? Shell.literal(text) : "'#{text}'"
    end

    # " before{'a' => '1', ..}", the pairs of `first` before the others; nothing of an empty map.
    def map_text(before, pairs, first, literal)
      return '' if pairs.empty?
      sorted = pairs.sort_by { |name, _| [first.index(name) || first.size, name] }
      texts = sorted.map { |name, value| "#{quote(name, literal)} => #{quote(value, literal)}" }
      "#{before}{#{texts.join(', ')}}"
    end

    # FOREVER, 10 SECONDS, 93600 SECONDS (1 DAY 2 HOURS)
    def ttl_text(seconds)
      return 'FOREVER' if seconds == FOREVER
      text = Shell.count(seconds, 'SECOND', 'SECONDS')
      return text if seconds < 60
      rest = seconds
      parts = UNITS.map do |unit, size|
        count = rest / size
        rest -= count * size
        count > 0 ? Shell.count(count, unit, "#{unit}S") : nil
      end
      "#{text} (#{parts.compact.join(' ')})"
    end

    def family_maps(family, literal)
      metadata = []
      configuration = []
      family['attributes'].each do |kind, name, value|
        if kind == CONFIGURATION then configuration << [name, value]
        elsif kind != KEPT || !FAMILY_INLINE.include?(name) then metadata << [name, value]
        end
      end
      metadata << %w[NEW_VERSION_BEHAVIOR true] if family['new_version_behavior']
      unless family['bloom_error_rate'] == Shell.real('0.01')
        configuration << [ERROR_RATE, format('%g', family['bloom_error_rate'])]
      end
      if family['bloom_prefix_bytes'] > 0
        configuration << [PREFIX_LENGTH, family['bloom_prefix_bytes'].to_s]
      end
      map_text(', METADATA => ', metadata, METADATA_FIRST, literal) +
        map_text(', CONFIGURATION => ', configuration, [], literal)
    end

    # {NAME => 'f', .., BLOCKSIZE => '65536 B (64KB)', METADATA => {..}, CONFIGURATION => {..}}
    def family_text(family, literal)
      kept = proc { |key, usual| find(family, KEPT, key) || usual }
      pairs = [
        ['NAME', family['name']],
        ['INDEX_BLOCK_ENCODING', kept.call('INDEX_BLOCK_ENCODING', 'NONE')],
        ['VERSIONS', family['versions']],
        ['KEEP_DELETED_CELLS', family['keep_deleted_cells']],
        ['DATA_BLOCK_ENCODING', kept.call('DATA_BLOCK_ENCODING', 'NONE')],
        ['TTL', ttl_text(family['ttl_seconds'])],
        ['MIN_VERSIONS', family['min_versions']],
        ['REPLICATION_SCOPE', kept.call('REPLICATION_SCOPE', '0')],
        ['BLOOMFILTER', family['bloom']],
        ['IN_MEMORY', family['in_memory']],
        ['COMPRESSION', kept.call('COMPRESSION', family['compression'])],
        ['BLOCKCACHE', !family['no_block_cache']],
        ['BLOCKSIZE', Shell.size_text(family['block_bytes'])],
        ['BLOOM_RATE_PER_FILE', family['bloom_rate_per_file'] || nil],
        ['BLOOMFILTER_KIND', family['bloom_kind'] == 'RIBBON' ? 'RIBBON' : nil]
      ]
      %w[ENCRYPTION ENCRYPTION_KEY IS_MOB MOB_THRESHOLD].each { |key| pairs << [key, kept.call(key, nil)] }
      texts = pairs.reject { |_, value| value == nil }.map do |key, value|
        "#{key} => #{quote(value.to_s, literal)}"
      end
      "{#{texts.join(', ')}#{family_maps(family, literal)}}"
    end

    # The value of an attribute that stands before METADATA, as it is shown; nil if it is not set.
    def table_value(table, key)
      kept = find(table, KEPT, key)
      case key
      when 'DURABILITY' then table['durability'] == 'USE_DEFAULT' ? nil : table['durability']
      when 'READONLY'
        # The word false is remembered as text.
        table['read_only'] || find(table, METADATA, key) ? table['read_only'].to_s : nil
      else
        return nil if kept == nil || kept.empty?
        key.include?('SIZE') ? Shell.size_text(Shell.number(kept)) : kept
      end
    end

    # Is it shown before METADATA?  Text of the user's under such a name is not, but for READONLY.
    def inline?(kind, name)
      (kind == KEPT || name == 'READONLY') && TABLE_INLINE.include?(name)
    end

    # KEY => 'value', .. METADATA => {..}; nothing where nothing was set.
    def attributes_text(table, literal)
      texts = TABLE_INLINE.map do |key|
        value = table_value(table, key)
        value && "#{key} => #{quote(value, literal)}"
      end
      others = table['attributes'].reject { |kind, name, _| inline?(kind, name) }
      metadata = others.map { |_, name, value| [name, value] }
      texts << map_text('METADATA => ', metadata, [], literal) unless metadata.empty?
      texts.compact.join(', ')
    end

    # The table's name, and {TABLE_ATTRIBUTES => {..}} if it has any.
    def table_text(table)
      attributes = attributes_text(table, false)
      attributes.empty? ? table['name'] : "#{table['name']}, {TABLE_ATTRIBUTES => {#{attributes}}}"
    end

    # The command that makes the table, in one line, which the shell reads back; and what closes it,
    # where it takes no writes once it is filled: then the first leaves it writable.
    def creation(name)
      table = Shell.describe(name)
      closing = "alter #{Shell.literal(name)}, READONLY => 'true'" if table['read_only']
      table['read_only'] = false
      attributes = attributes_text(table, true)
      families = table['families'].map { |family| family_text(family, true) }
      [['create ' + Shell.literal(name), *families, *(attributes.empty? ? [] : [attributes]),
        *Splits.texts(name)].join(', '), closing]
    end

    # A record for each attribute; those of the table itself name no family.  METADATA and
    # CONFIGURATION stand before the names of theirs.
    def record_attributes(table, enabled)
      Shell.records('table family attribute value')
      typed = [['ENABLED', enabled], ['READONLY', table['read_only']]]
      unless table['durability'] == 'USE_DEFAULT'
        typed << ['DURABILITY', table['durability']]
      end
      record_owner(table['name'], nil, typed, table['attributes'])
      table['families'].each do |family|
        ttl = family['ttl_seconds']
        prefix = family['bloom_prefix_bytes']
        record_owner(table['name'], family['name'],
                     [['VERSIONS', family['versions']],
                      ['KEEP_DELETED_CELLS', family['keep_deleted_cells']],
                      ['TTL', ttl == FOREVER ? 'FOREVER' : ttl],
                      ['MIN_VERSIONS', family['min_versions']],
                      ['BLOOMFILTER', family['bloom']],
                      ["CONFIGURATION.#{PREFIX_LENGTH}", prefix > 0 ? prefix : nil],
                      ["CONFIGURATION.#{ERROR_RATE}", format('%g', family['bloom_error_rate'])],
                      ['BLOOM_RATE_PER_FILE', family['bloom_rate_per_file']],
                      ['BLOOMFILTER_KIND', family['bloom_kind']],
                      ['IN_MEMORY', family['in_memory']],
                      ['COMPRESSION', family['compression']],
                      ['BLOCKCACHE', !family['no_block_cache']],
                      ['BLOCKSIZE', family['block_bytes']],
                      ['NEW_VERSION_BEHAVIOR', family['new_version_behavior']]],
                     family['attributes'])
      end
    end

    def record_owner(table, family, typed, attributes)
      typed.each do |name, value|
        Shell.record(table, family, [name], value.to_s) unless value == nil
      end
      attributes.each do |kind, name, value|
        before = { METADATA => 'METADATA.', CONFIGURATION => 'CONFIGURATION.' }[kind]
        Shell.record(table, family, ["#{before}#{Shell.binary(name)}"], value)
      end
    end
  end
end

# What create and alter say about attributes of HBase that are kept and shown, but change nothing
# here, about codecs in whose place Petal has LZ4, and about families that alter named and the table
# did not have.  Notes go to standard error, each once a session: the answers stay those of HBase.
module Notes
  CODEC = 'Petal has no such codec'
  ENCODING = 'all blocks of Petal have one encoding, its own'
  CACHED = "Petal's blocks enter the cache when they are read"
  LARGE = 'Petal stores large values with all others'
  FILES = 'Petal writes to the file system that it is given'
  SECRET = 'Petal does not encrypt, so whoever reads the files reads the data'

  # What is true of Petal, whatever the attribute says; nothing is told of the first value, which asks
  # for no more than that.
  FACTS = {
    'COMPRESSION' => [nil, "#{CODEC} and compresses with LZ4 instead"],
    'COMPRESSION_COMPACT' => [nil, "#{CODEC}, so compactions compress as COMPRESSION says"],
    'COMPRESSION_COMPACT_MAJOR' =>
      [nil, "#{CODEC}, so compactions of all files compress as if it were not given"],
    'COMPRESSION_COMPACT_MINOR' =>
      [nil, "#{CODEC}, so compactions of some files compress as if it were not given"],
    'REPLICATION_SCOPE' => ['0', 'Petal sends nothing to other clusters'],
    'DATA_BLOCK_ENCODING' => ['NONE', ENCODING],
    'INDEX_BLOCK_ENCODING' => ['NONE', ENCODING],
    'CACHE_DATA_ON_WRITE' => ['false', CACHED],
    'CACHE_INDEX_ON_WRITE' => ['false', CACHED],
    'CACHE_BLOOMS_ON_WRITE' => ['false', CACHED],
    'EVICT_BLOCKS_ON_CLOSE' => ['false', "Petal's block cache goes when the database is closed"],
    'PREFETCH_BLOCKS_ON_OPEN' => ['false', 'Petal reads blocks when they are asked for'],
    'IN_MEMORY_COMPACTION' => ['NONE', 'Petal compacts store files only'],
    'COMPRESS_TAGS' => ['false', "Petal's cells have no tags"],
    'IS_MOB' => ['false', LARGE],
    'MOB_THRESHOLD' => [nil, LARGE],
    'DFS_REPLICATION' => ['0', "#{FILES}, and each file once"],
    'STORAGE_POLICY' => [nil, FILES],
    'ENCRYPTION' => [nil, SECRET],
    'ENCRYPTION_KEY' => [nil, SECRET],
    'MEMSTORE_FLUSHSIZE' =>
      [nil, 'the memory for writes is one for all tables, and is set when the database is opened: ' \
            'kv-shell --memtable'],
    'COMPACTION_ENABLED' =>
      ['true', 'compactions are switched off for the whole database when it is opened: kv-shell ' \
               '--no-compaction'],
    'REGION_REPLICATION' => ['1', 'Petal keeps a table once'],
    'PRIORITY' => ['0', 'Petal serves all tables alike']
  }

  class << self
    def tell_attribute(name, value)
      fits, fact = FACTS[name]
      codec = name.start_with?('COMPRESSION')
      # Compactions compress so.
      return if fact == nil || value == fits || (codec && %w[LZ4 LZ4HC NONE].include?(value))
      Shell.note("kv-shell: #{name} => '#{Shell.binary(value)}' is kept and shown, but " \
                 "#{codec ? '' : 'changes nothing: '}#{fact}")
    end

    def tell_new(before, after)
      after['attributes'].each do |kind, name, value|
        next unless kind == Schema::KEPT
        next if before && Schema.find(before, kind, name) == value
        tell_attribute(name, value)
      end
    end

    # Tell about what `after` has and `before` (nil: the table is new) has not.
    def tell(before, after)
      after['families'].each do |family|
        tell_new(before && Schema.find_family(before, family['name']), family)
      end
      tell_new(before, after)
    end

    # Which families are new in the table, since the name of an old one may have been meant.
    def tell_new_families(before, after)
      names = before['families'].map { |family| family['name'] }
      after['families'].each do |family|
        next if names.include?(family['name'])
        near = Java.nearest(family['name'], names)
        Shell.note("kv-shell: family #{Shell.literal(family['name'])} is new in table " +
                   Shell.literal(before['name']) +
                   (near ? "; did you mean #{Shell.literal(near)}?" : ''))
      end
    end
  end
end

module Commands
  class << self
    def create(argument, *arguments)
      Shell.fail(2, 'Table name must be of type String') unless String === argument
      table = { 'name' => Shell.table_name(argument), 'attributes' => [], 'families' => [] }
      Schema.read_create(table, arguments)
      Shell.fail(2, 'Table must have at least one column family') if table['families'].empty?
      Shell.create(table)
      Shell.plain "Created table #{table['name']}"
      Notes.tell(nil, table)
      Hbase::Table.new(table['name'])
    end

    def alter(argument, *arguments)
      name = Schema.alter(argument, arguments)
      Shell.plain 'Updating all regions with the new schema...'
      count = Shell.regions(name).size
      Shell.plain Shell.disabled?(name) ? 'All regions updated.'
                                        : "#{count}/#{count} regions updated."
      Shell.plain 'Done.'
      nil
    end

    # Without a word about regions; it is done just so when the command returns.
    def alter_async(argument, *arguments)
      Schema.alter(argument, arguments)
      nil
    end

    # The third argument says whether it is split where the table is.
    def clone_table_schema(argument, clone, preserve = true)
      name = Shell.existing(argument)
      table = Shell.describe(name)
      table['name'] = Shell.table_name(clone)
      borders = Shell.regions(name)[1..-1].map { |region| region['start'] }
      table['splits'] = borders if preserve
      Shell.create(table)
      nil
    end

    def describe(argument)
      name = Shell.existing(argument, 'Table ', ' does not exist.')
      table = Shell.describe(name)
      if Shell.records?
        Schema.record_attributes(table, !Shell.disabled?(name))
      else
        Shell.header "Table #{name} is #{Shell.disabled?(name) ? 'DISABLED' : 'ENABLED'}"
        Shell.line Schema.table_text(table)
        Shell.line 'COLUMN FAMILIES DESCRIPTION'
        table['families'].each do |family|
          Shell.line Schema.family_text(family, false)
          Shell.plain ''
        end
        Shell.plain "#{table['families'].size} row(s)"
      end
      Shell.tell_damage(name)
      nil
    end
  end
end
