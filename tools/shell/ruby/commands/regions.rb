# regions.rb -- the commands about a table's regions, which are ranges of rows: list, locate, split
# and merge them.
#
# A region is a hash, as Shell.regions gives it: 'id', 'start', 'end', 'files', 'file_bytes',
# 'memtable_bytes', 'cells'; an empty row is an open end.  HBase makes a region's encoded name of a
# hash: here it is the region's id.
module Regions
  extend Kept

  SERVER = 'localhost'
  MEBIBYTE = 1 << 20

  # Of list_regions: names, and least widths.
  COLUMNS = [['SERVER_NAME', 12], ['REGION_NAME', 12], ['START_KEY', 10], ['END_KEY', 10],
             ['SIZE', 5], ['REQ', 5], ['LOCALITY', 10]]
  UNKNOWN = 'n/a'

  # Of records: where no columns are chosen, and where the region of a row is asked for.
  FIELDS = %w[SERVER_NAME REGION_NAME REGION_ID START_KEY END_KEY SIZE REQ LOCALITY]
  PLACE = FIELDS[0, 5]

  class << self
    # HBase's form: 't,b,3.'
    def name(table, region)
      "#{table},#{Shell.binary(region['start'])},#{region['id']}."
    end

    def range(region)
      from, to = %w[start end].map { |key| Shell.literal(region[key]) }
      if region['start'].empty? then region['end'].empty? ? 'all rows' : "rows before #{to}"
      elsif region['end'].empty? then "rows from #{from} on"
      else "rows from #{from} to before #{to}"
      end
    end

    def has_row?(region, row)
      region['start'] <= row && (region['end'].empty? || row < region['end'])
    end

    def number?(text)
      text.match?(/\A[0-9]+\z/)
    end

    # The table, the first row and the id in a full name; nil: it is none.
    def parts(name)
      name = name[0...-1] if name[-1] == '.'
      first = name.index(',')
      last = name.rindex(',')
      return nil unless first && first < last && number?(name[last + 1..-1])
      [name[0...first], name[first + 1...last], name[last + 1..-1].to_i]
    end

    # Is that the first row, as it is or as it is shown?
    def begins?(region, row)
      region['start'] == row || Shell.binary(region['start']) == row
    end

    # The table and the region of that full or encoded name; nil: there is none.
    def find(name)
      table, start, id = parts(name)
      return nil unless table || number?(name)
      id ||= name.to_i
      (table ? [table] : Shell.tables).each do |one|
        next unless Shell.exists?(one)
        region = Shell.regions(one).find { |each| each['id'] == id }
        return [one, region] if region && (start == nil || begins?(region, start))
      end
      nil
    end

    def fail_unknown(name)
      Shell.fail(1, "Unknown region #{Shell.binary(name)[0, 200]}!")
    end

    # What split is given: a table, or its table and a region.  A table may be named as a region is
    # encoded.
    def table_or_region(argument)
      name = Shell.text(argument)
      unless name.include?(',') || (number?(name) && !Shell.exists?(name))
        return [Shell.enabled_table(argument), nil]
      end
      table, region = find(name)
      table ? [Shell.enabled_table(table), region] : fail_unknown(name)
    end

    # All regions of the table become the first one.
    def merge_all(table)
      first, *others = Shell.regions(table)
      others.each { |region| Shell.merge(table, first['id'], region['id']) }
    end

    # ---- list_regions ----------------------------------------------------------------------------

    # Which columns are wanted, whatever their case; nil: all.
    def read_columns(names)
      possible = "Possible values are #{COLUMNS.map { |name, _| name }.join(', ')}."
      return COLUMNS if names == nil
      unless Array === names
        Shell.fail(2, "#{Shell.text(names)[0, 200]} must be an array of strings. #{possible}")
      end
      names.map do |name|
        text = Shell.text(name)
        COLUMNS.find { |known, _| known == text.upcase } ||
          Shell.fail(2, "#{text[0, 200]} is not a valid column. #{possible}")
      end.uniq
    end

    # What is local is not known, so no threshold leaves a region out.
    def check_threshold(options)
      return unless options.key?('LOCALITY_THRESHOLD')
      threshold = options['LOCALITY_THRESHOLD']
      Shell.fail(2, 'LOCALITY_THRESHOLD must be a float value') unless Float === threshold
      return if threshold >= 0 && threshold <= 1
      Shell.fail(2, 'LOCALITY_THRESHOLD must be between 0 and 1.0, inclusive')
    end

    # By column: a text in a list, as records have it, bytes, a number; nil is not known.
    def facts(table, region)
      { 'SERVER_NAME' => [SERVER], 'REGION_NAME' => [name(table, region)],
        'REGION_ID' => region['id'], 'START_KEY' => region['start'], 'END_KEY' => region['end'],
        'SIZE' => region['file_bytes'] / MEBIBYTE, 'REQ' => nil, 'LOCALITY' => nil }
    end

    def show_records(rows, names)
      return if names.empty?
      Shell.records(names.join(' ').downcase)
      rows.each { |row| Shell.record(*names.map { |name| row[name] }) }
    end

    def fact_text(fact)
      case fact
      when nil then UNKNOWN
      when Array then fact[0]
      else Shell.binary(fact.to_s)
      end
    end

    def show_table(rows, columns)
      texts = rows.map { |row| columns.map { |name, _| fact_text(row[name]) } }
      widths = columns.map.with_index do |column, i|
        [column[1], *texts.map { |text| text[i].size }].max
      end
      head = [columns.map { |name, _| name }, widths.map { |width| '-' * width }]
      (head + texts).each do |line|
        Shell.plain line.map.with_index { |text, i| " #{text.rjust(widths[i])} |" }.join
      end
      Shell.plain " #{rows.size} rows"
    end

    # ---- merge_region ----------------------------------------------------------------------------

    # The table of the regions of these names, and they in the order of rows.
    def find_all(names)
      found = names.map { |name| find(Shell.text(name)) || fail_unknown(Shell.text(name)) }
      tables = found.map { |table, _| table }.uniq
      if tables.size > 1
        Shell.fail(2, "Cannot merge regions of several tables: #{tables.join(', ')}")
      end
      regions = found.map { |_, region| region }.sort_by { |region| region['start'] }
      regions.each_cons(2) { |before, after| check_neighbours(tables[0], before, after) }
      [Shell.enabled_table(tables[0]), regions]
    end

    def check_neighbours(table, before, after)
      if before['id'] == after['id']
        Shell.fail(2, "Cannot merge a region to itself: #{name(table, before)}")
      end
      return if before['end'] == after['start']
      Shell.fail(2, "Unable to merge non-adjacent regions #{name(table, before)}, " \
                    "#{name(table, after)}")
    end
  end
end

module Commands
  class << self
    # As in HBase a table need not be there.
    def get_splits(argument)
      table = Shell.table_name(argument)
      regions = Shell.exists?(table) ? Shell.regions(table) : []
      splits = regions.map { |region| region['start'] }.reject { |row| row.empty? }
      if Shell.records('split') then splits.each { |row| Shell.record(row) }
      else
        Shell.plain "Total number of splits = #{splits.size + 1}"
        splits.each { |row| Shell.plain Shell.binary(row) }
      end
      splits.map { |row| Shell.binary(row) }
    end

    def locate_region(argument, row)
      table = Shell.existing(argument)
      row = Shell.row(row)
      region = Shell.regions(table).find { |each| Regions.has_row?(each, row) }
      if Shell.records? then Regions.show_records([Regions.facts(table, region)], Regions::PLACE)
      else
        start, before = %w[start end].map { |key| Shell.binary(region[key]) }
        Shell.header 'HOST', 'REGION'
        Shell.columns Regions::SERVER,
                      "{ENCODED => #{region['id']}, NAME => '#{Regions.name(table, region)}', " \
                      "STARTKEY => '#{start}', ENDKEY => '#{before}'}"
      end
      Shell.plain '1 row(s)'
      nil
    end

    # The second argument chooses servers by how their names begin.
    def list_regions(argument, options = nil, columns = nil)
      table = Shell.existing(argument)
      Shell.fail(2, "Table #{table} must be enabled.") if Shell.disabled?(table)
      shown = Regions.read_columns(columns)
      options = { 'SERVER_NAME' => options } unless Hash === options
      Regions.check_threshold(options)
      there = Regions::SERVER.start_with?(Shell.text(options['SERVER_NAME']))
      rows = there ? Shell.regions(table).map { |region| Regions.facts(table, region) } : []
      if !Shell.records? then Regions.show_table(rows, shown)
      else Regions.show_records(rows, columns == nil ? Regions::FIELDS : shown.map { |name, _| name })
      end
      nil
    end

    # Without a row in the middle: of the region, or of each of the table's that has one.
    def split(argument, row = nil)
      table, region = Regions.table_or_region(argument)
      row = Shell.row(row) unless row == nil
      Shell.fail(2, 'The split key is empty: the first region begins there') if row == ''
      if region && row && !Regions.has_row?(region, row)
        Shell.fail(2, "Split row is not inside region key range: #{Shell.binary(row)[0, 200]}; " \
                      "region #{region['id']} has #{Regions.range(region)}")
      end
      Shell.split(table, row || '', region ? region['id'] : 0)
      nil
    end

    # In one list or several arguments; last may stand whether HBase shall merge regions that are no
    # neighbours, which Petal never does.
    def merge_region(*names)
      names = names.flatten.reject { |name| name == nil }
      names.pop if names.size > 2 && (names[-1] == true || names[-1] == false)
      Shell.fail(2, 'Must pass at least 2 regions to merge') if names.size < 2
      table, regions = Regions.find_all(names)
      regions[1..-1].each { |region| Shell.merge(table, regions[0]['id'], region['id']) }
      nil
    end
  end
end
