# cluster.rb -- commands whose answer in HBase belongs to a cluster, as one process answers them:
# status, whoami, the block cache, switches; and what tells of the program itself.
#
# There is one server, this process.
module Commands
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
      Shell.plain "#{before}#{name}: storefiles=#{sizes[0]}, " \
                  "storefileSizeMB=#{sizes[1] / Regions::MEBIBYTE}, " \
                  "memstoreSizeMB=#{sizes[2] / Regions::MEBIBYTE}"
    end

    def status(format = nil, *_others)
      format = format.to_s
      tables = Shell.users_tables
      if format == 'simple' || format == 'detailed'
        records = Shell.records('name storefiles storefile_bytes memstore_bytes')
        Shell.plain '1 live servers' unless records
        all = Shell.tables.map { |name| Shell.sizes(name) }
        show_sizes(' ' * 4, Regions::SERVER, [0, 1, 2].map { |i| all.map { |sizes| sizes[i] }.sum })
        tables.each { |name| show_sizes(' ' * 8, name, Shell.sizes(name)) } if format == 'detailed'
        Shell.plain '0 dead servers' unless records
      else
        Shell.fail(2, 'There is no replication') if format == 'replication'
        regions = tables.map { |name| Shell.regions(name).size }.sum
        Shell.fact('tables', tables.size,
                   "1 active master, 0 backup masters, 1 servers, 0 dead, #{regions}.0000 average load")
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

    # ---- The block cache, work in the background ----------------------------------------------

    def clear_block_cache(argument)
      blocks = Shell.clear_cache(Shell.existing(argument))
      Shell.fact('evicted_blocks', blocks,
                 "CacheEvictionStats{evictedBlocks=#{blocks}, maxCacheSize=" \
                 "#{Stats.counters['cache_capacity']}, failedRegionsSize=0, failedRegions=[]}")
      nil
    end

    # It is switched when the database is opened; asking for what is so already succeeds.
    def check_switch(what, wanted, now)
      unless wanted == true || wanted == false
        Shell.fail(2, "Say true or false, not #{Shell.class_of(wanted)}")
      end
      return if wanted == now
      Shell.fail(2, "#{what} in the background is #{wanted ? 'off' : 'on'} for as long as the " \
                    "database is open: start kv-shell #{wanted ? 'without' : 'with'} " \
                    '--no-compaction')
    end

    def compaction_switch(wanted, *_others)
      check_switch('Compaction', wanted, Shell.compacts?)
      Shell.header 'SERVER', 'PREV_STATE'
      Shell.columns Regions::SERVER, wanted.to_s
      nil
    end

    # What is done to regions: splits or merges.
    def kind_of_change(type)
      kinds = { 'SPLIT' => 'Splitting', 'MERGE' => 'Merging' }
      kinds[Shell.text(type).upcase] ||
        Shell.fail(2, "Say 'SPLIT' or 'MERGE', not #{type.inspect[0, 200]}")
    end

    # One thread splits regions that are too large and merges small neighbours, as HBase's normalizer
    # does; it runs where compactions do.
    def splitormerge_enabled(type)
      kind_of_change(type)
      Shell.truth('enabled', Shell.compacts?)
    end

    def splitormerge_switch(type, wanted)
      check_switch(kind_of_change(type), wanted, Shell.compacts?)
      Shell.plain "Previous state : #{wanted}"
      wanted
    end

    def normalizer_enabled
      splitormerge_enabled('MERGE')
    end

    def normalizer_switch(wanted)
      splitormerge_switch('MERGE', wanted)
    end

    def list_liveservers
      Shell.header 'SERVERNAME'
      Shell.list([Regions::SERVER])
      nil
    end

    # Table snapshots whose time is over go with the next command about snapshots.
    def snapshot_cleanup_enabled
      Shell.truth('enabled', true)
    end
  end
end
