# cluster.rb -- commands whose answer in HBase belongs to a cluster, as one process answers them:
# status, whoami, regions, the block cache; and what tells of the program itself.
#
# A table is one region, from the first row to the last; there is one server, this process.
module Commands
  SERVER = 'localhost'
  MEBIBYTE = 1 << 20

  # Of the table of regions: names, and least widths.
  REGION_COLUMNS = [['SERVER_NAME', 12], ['REGION_NAME', 12], ['START_KEY', 10], ['END_KEY', 10],
                    ['SIZE', 5], ['REQ', 5], ['LOCALITY', 10]]

  class << self
    def version
      Shell.fact('version', Shell.version,
                 "Petal #{Shell.version}, kv-shell with the language of the HBase 2.6 shell")
      nil
    end

    # HBase's names, in order.
    def show_filters
      records = Shell.records('filter')
      Shell.filters.each { |name| records ? Shell.record(name) : Shell.line(name) }
      nil
    end

    def show_sizes(before, name, sizes)
      return Shell.record(name, *sizes) if Shell.records?
      Shell.plain "#{before}#{name}: storefiles=#{sizes[0]}, storefileSizeMB=#{sizes[1] / MEBIBYTE}, " \
                  "memstoreSizeMB=#{sizes[2] / MEBIBYTE}"
    end

    def status(format = nil, *_others)
      format = format.to_s
      tables = Shell.users_tables
      if format == 'simple' || format == 'detailed'
        records = Shell.records('name storefiles storefile_bytes memstore_bytes')
        Shell.plain '1 live servers' unless records
        all = Shell.tables.map { |name| Shell.sizes(name) }
        show_sizes(' ' * 4, SERVER, [0, 1, 2].map { |i| all.map { |sizes| sizes[i] }.sum })
        tables.each { |name| show_sizes(' ' * 8, name, Shell.sizes(name)) } if format == 'detailed'
        Shell.plain '0 dead servers' unless records
      else
        Shell.fail(2, 'There is no replication') if format == 'replication'
        Shell.fact('tables', tables.size, '1 active master, 0 backup masters, 1 servers, 0 dead, ' \
                                          "#{tables.size}.0000 average load")
      end
      nil
    end

    def processlist(*_others)
      counters = Stats.counters
      flushes = counters['flushes_waiting']
      compactions = counters['compactions_running']
      if Shell.records('flushes_waiting compactions_running')
        Shell.record(flushes, compactions)
      else
        Shell.plain "#{flushes + compactions} tasks as of: #{Java.time_text(Time.now.to_i * 1000)}"
        Shell.plain "flushes: #{flushes}" if flushes > 0
        Shell.plain "compactions: #{compactions}" if compactions > 0
      end
      nil
    end

    # The user and the groups of the process: whoever may open the directory may do everything.
    def whoami
      user, *groups = Shell.user
      if Shell.records('user groups')
        Shell.record([user], [groups.join(', ')])
      else
        Shell.plain "#{user} (auth:SIMPLE)"
        Shell.plain "    groups: #{groups.join(', ')}"
      end
      nil
    end

    # ---- Regions ---------------------------------------------------------------------------------

    # As in HBase a table need not be there.
    def get_splits(argument)
      Shell.table_name(argument)
      Shell.fact('splits', 1, 'Total number of splits = 1')
      []
    end

    def locate_region(argument, _row)
      name = Shell.existing(argument)
      Shell.header 'HOST', 'REGION'
      Shell.columns SERVER, "{NAME => '#{name},,', STARTKEY => '', ENDKEY => ''}"
      Shell.plain '1 row(s)'
      nil
    end

    # Which columns are wanted: their names in an array, whatever their case; nil: all.
    def read_region_columns(columns)
      possible = "Possible values are #{REGION_COLUMNS.map { |name, _| name }.join(', ')}."
      return REGION_COLUMNS.map { true } if columns == nil
      unless Array === columns
        Shell.fail(2, "#{Shell.class_of(columns)} is no array of strings. #{possible}")
      end
      wanted = columns.map { |name| Shell.text(name) }
      wanted.each do |name|
        next if REGION_COLUMNS.any? { |known, _| known == name.upcase }
        Shell.fail(2, "#{name[0, 200]} is not a valid column. #{possible}")
      end
      wanted = wanted.map { |name| name.upcase }
      REGION_COLUMNS.map { |name, _| wanted.include?(name) }
    end

    # The second argument chooses servers by how their names begin.
    def list_regions(argument, server = nil, columns = nil)
      name = Shell.existing(argument)
      Shell.fail(2, "Table #{name} must be enabled.") if Shell.disabled?(name)
      wanted = read_region_columns(columns)
      server = server['SERVER_NAME'] if Hash === server
      there = SERVER.start_with?(Shell.text(server))
      size = (Shell.sizes(name)[1] / MEBIBYTE).to_s
      show_regions([SERVER, "#{name},,", '', '', size, '0', '1.0'], wanted, there)
      nil
    end

    def show_regions(values, wanted, there)
      places = (0...values.size).select { |i| wanted[i] }
      names = places.map { |i| REGION_COLUMNS[i][0] }
      values = places.map { |i| values[i] }
      if Shell.records?
        return if names.empty?
        Shell.records(names.join(' ').downcase)
        Shell.record(*values.map { |value| [value] }) if there
      else
        widths = places.map.with_index { |place, i| [REGION_COLUMNS[place][1], values[i].size].max }
        lines = [names, widths.map { |width| '-' * width }]
        lines << values if there
        lines.each do |line|
          Shell.plain line.map.with_index { |text, i| " #{text.rjust(widths[i])} |" }.join
        end
        Shell.plain " #{there ? 1 : 0} rows"
      end
    end

    # ---- The block cache, background compaction --------------------------------------------------

    def clear_block_cache(argument)
      blocks = Shell.clear_cache(Shell.existing(argument))
      Shell.fact('evicted_blocks', blocks,
                 "CacheEvictionStats{evictedBlocks=#{blocks}, maxCacheSize=" \
                 "#{Stats.counters['cache_capacity']}, failedRegionsSize=0, failedRegions=[]}")
      nil
    end

    # It is switched when the database is opened; asking for what is so already succeeds.
    def compaction_switch(wanted, *_others)
      unless wanted == true || wanted == false
        Shell.fail(2, "Say true or false, not #{Shell.class_of(wanted)}")
      end
      if wanted != Shell.compacts?
        Shell.fail(2, "Compaction in the background is #{wanted ? 'off' : 'on'} for as long as the " \
                      "database is open: start kv-shell #{wanted ? 'without' : 'with'} " \
                      '--no-compaction')
      end
      Shell.header 'SERVER', 'PREV_STATE'
      Shell.columns SERVER, wanted.to_s
      nil
    end

    def list_liveservers
      Shell.header 'SERVERNAME'
      Shell.list([SERVER])
      nil
    end

    # Table snapshots whose time is over go with the next command about snapshots.
    def snapshot_cleanup_enabled
      Shell.truth('enabled', true)
    end
  end
end
