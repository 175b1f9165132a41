# stats.rb -- stats: the database's counters and latencies, also as Prometheus reads them; and of a
# table its store files, its families, and the block cache by kind of block.
#
# Of each family the error rates of its files are summed over its runs: of a run only one file can
# hold a row, so the one with the greatest rate stands for it, and a file without a filter lets all
# pass. The sum is what a get of a row that is not there may cost, in needless reads. A row is in one
# region: of several regions the one with the greatest sum stands for the family.
#
# A file that several regions share is shown once, with all of them.
#
# What filters answered is of the gets of this session. A false positive is a file that its filter
# let pass and that held nothing that was asked, be it that the filter erred or that a filter of rows
# knows no columns.
module Stats
  extend Kept

  LONGEST_COUNTER = 'filter_false_positives'.size

  GETS = %w[reads probes negatives true_positives false_positives data_cached data_fetched]
  GETS_SHOWN = 'gets filter_probes filter_negatives true_positives false_positives data_cached ' \
               'data_fetched'
  FACTS = %w[family number regions run rows cells markers row_min row_max time_min time_max sequence_min
             sequence_max file_bytes data_bytes raw_data_bytes data_blocks index_bytes filter_bytes
             bloom bloom_keys bloom_chunks bloom_error_rate]
  FACTS_SHOWN = 'family file regions run rows cells markers row_min row_max time_min time_max sequence_min ' \
                'sequence_max file_bytes data_bytes raw_data_bytes data_blocks index_bytes ' \
                'filter_bytes filter filter_keys filter_chunks filter_rate'
  REGION_FACTS = %w[id start end files file_bytes cells memtable_bytes]
  SUMS = %w[cells markers file_bytes data_bytes index_bytes filter_bytes]

  class << self
    # The counters' values by their names.
    def counters
      values = {}
      Shell.counters.each { |name, value, _| values[name] = value }
      values
    end

    def show_counter(wanted, name, value, meaning)
      return false unless wanted == nil || wanted.include?(name)
      if Shell.records? then Shell.record([name], Integer === value ? value : [value], [meaning])
      else Shell.parts(name, wanted == nil ? "#{value}  #{meaning}" : value.to_s)
      end
      true
    end

    def show_counters(wanted)
      Shell.records('counter value meaning') || Shell.table('COUNTER', 'VALUE', LONGEST_COUNTER)
      read_only, failure = Shell.failings
      all = Shell.counters +
            [['read_only', read_only.to_s, 'whether the database takes no writes'],
             ['background_error', failure || 'none',
              'what failed last in the background and was not made good']]
      shown = all.select { |counter| show_counter(wanted, *counter) }
      if wanted == nil then show_latencies
      elsif shown.size < wanted.size
        Shell.fail(1, 'There is no counter of one of these names; stats alone lists them all')
      end
    end

    # Powers of two, so three digits tell them apart.
    def bound(nanoseconds)
      return 'more than 34 s' if nanoseconds == nil
      units = %w[ns us ms s]
      number = nanoseconds.to_f
      while number >= 1000 && units.size > 1
        number /= 1000
        units.shift
      end
      "#{format('%.3g', number)} #{units[0]}"
    end

    def show_latencies
      Shell.records('latency timed p50_ns p99_ns meaning') ||
        Shell.header('LATENCY', 'UPPER BOUNDS: POWERS OF TWO, FROM 256 ns ON')
      Shell.latencies.each do |name, timed, half, most, meaning|
        if Shell.records?
          Shell.record([name], timed, timed > 0 ? half : nil, timed > 0 ? most : nil, [meaning])
          next
        end
        text = timed == 0 ? 'none was timed'
                          : "p50 #{bound(half)}, p99 #{bound(most)}, of #{timed} timed"
        Shell.parts(name, "#{text}  how long #{meaning}")
      end
    end

    # The text ends with a line end, which comes with printing.
    def show_prometheus
      text = Shell.prometheus
      Shell.records('prometheus') ? Shell.record([text]) : Shell.document(text[0...-1])
    end

    # ---- A table ---------------------------------------------------------------------------------

    # What this session's gets did; nothing if they did nothing.
    def gets_text(gets)
      return '' if gets['reads'] == 0 && gets['probes'] == 0
      text = "; gets: #{gets['reads']} read it, data blocks #{gets['data_cached']} cached, " \
             "#{gets['data_fetched']} fetched"
      return text if gets['probes'] == 0
      "#{text}; filter asked #{gets['probes']}, said absent #{gets['negatives']}, true positives " \
        "#{gets['true_positives']}, false positives #{gets['false_positives']}"
    end

    def show_file(file, several)
      if Shell.records?
        regions = [file['regions'].join(' ')]
        facts = FACTS.map { |name| name == 'regions' ? regions : file[name] }
        return Shell.record(*facts, *GETS.map { |name| file[name] })
      end
      ids = file['regions'].join(', ')
      text = several ? "region#{file['regions'].size == 1 ? '' : 's'} #{ids}, " : ''
      text += "run #{file['run']}, #{Shell.count(file['rows'], 'row')}, " \
             "#{Shell.count(file['cells'], 'cell')}, #{file['markers']} of them markers; rows " \
             "#{Shell.binary(file['row_min'])}..#{Shell.binary(file['row_max'])}; time " \
             "#{Shell.time(file['time_min'])}..#{Shell.time(file['time_max'])}; sequence " \
             "#{file['sequence_min']}..#{file['sequence_max']}; #{file['file_bytes']} bytes: " \
             "#{file['data_bytes']} data in #{Shell.count(file['data_blocks'], 'block')} " \
             "(#{file['raw_data_bytes']} before compression), #{file['index_bytes']} index, " \
             "#{file['filter_bytes']} filter; #{file['bloom']}" \
             "#{file['bloom_kind'] == 'RIBBON' ? ' RIBBON' : ''} filter"
      if file['bloom_keys'] > 0
        text += " of #{Shell.count(file['bloom_keys'], 'key')} in " \
                "#{Shell.count(file['bloom_chunks'], 'chunk')} at rate " +
                format('%g', file['bloom_error_rate'])
      end
      Shell.parts("#{Shell.binary(file['family'])} file #{file['number']}", text + gets_text(file))
    end

    def sum(files, name)
      files.map { |file| file[name] }.sum
    end

    # Runs of a region, and the sum of their rates.
    def rate_of(files)
      runs = {}
      files.each do |file|
        rate = file['bloom'] == 'NONE' ? 1.0 : file['bloom_error_rate']
        runs[file['run']] = [runs[file['run']] || 0.0, rate].max
      end
      [runs.size, runs.values.sum(0.0)]
    end

    # The greatest of both.
    def greatest_rate(files, regions)
      rates = regions.map do |region|
        rate_of(files.select { |file| file['regions'].include?(region['id']) })
      end
      [rates.map { |runs, _| runs }.max, rates.map { |_, rate| rate }.max]
    end

    def show_family(family, files, regions)
      sums = {}
      (SUMS + GETS).each { |name| sums[name] = sum(files, name) }
      runs, rate = greatest_rate(files, regions)
      if Shell.records?
        return Shell.record(family['name'], runs, files.size, *SUMS.map { |name| sums[name] },
                            family['bloom'], family['bloom_error_rate'], rate,
                            *GETS.map { |name| sums[name] })
      end
      filter = if family['bloom'] == 'NONE' then 'the family has no filter'
               else
                 "the family's is #{format('%g', family['bloom_error_rate'])}" \
                   "#{family['bloom_rate_per_file'] ? ' for each file' : ''}"
               end
      Shell.parts(Shell.binary(family['name']),
                  "#{runs} run(s)#{regions.size > 1 ? ' in a region at most' : ''}, " \
                  "#{files.size} file(s), error rate #{format('%.3g', rate)} in all; " \
                  "#{filter}; #{Shell.count(sums['cells'], 'cell')}, #{sums['markers']} of them " \
                  "markers; #{sums['file_bytes']} bytes: #{sums['data_bytes']} data, " \
                  "#{sums['index_bytes']} index, #{sums['filter_bytes']} filter#{gets_text(sums)}")
    end

    def show_cache
      Shell.records('kind blocks bytes hits misses inserted evicted') ||
        Shell.header('CACHE', 'OF ALL TABLES')
      values = counters
      %w[data index filter].each do |kind|
        blocks, bytes, inserted, evicted = %w[blocks bytes inserted evicted].map do |name|
          values["cache_#{kind}_#{name}"]
        end
        hits = values["#{kind}_cached"]
        misses = values["#{kind}_fetched"]
        if Shell.records? then Shell.record([kind], blocks, bytes, hits, misses, inserted, evicted)
        else
          Shell.parts(kind, "#{Shell.count(blocks, 'block')}, #{Shell.count(bytes, 'byte')}, " \
                            "#{Shell.count(hits, 'hit')}, #{Shell.count(misses, 'miss', 'misses')}, " \
                            "#{inserted} inserted, #{evicted} evicted")
        end
      end
    end

    # A line for each region, if there are several.
    def show_regions(regions)
      if Shell.records('region start end files file_bytes cells memstore_bytes')
        return regions.each do |region|
          Shell.record(*REGION_FACTS.map { |name| region[name] })
        end
      end
      return if regions.size == 1
      Shell.header 'REGION', 'ROWS'
      regions.each do |region|
        Shell.parts(region['id'].to_s,
                    "#{Regions.range(region)}; #{Shell.count(region['files'], 'file')}, about " \
                    "#{Shell.count(region['file_bytes'], 'byte')}; about " \
                    "#{Shell.count(region['cells'], 'cell')}; #{region['memtable_bytes']} bytes in " \
                    'memtables')
      end
    end

    # Each file once, with its regions.
    def files_of(table)
      found = {}
      Shell.files(table).each do |file|
        (found[file['number']] ||= file.merge('regions' => []))['regions'] << file['region']
      end
      found.values
    end

    def show_table(argument)
      table = Shell.enabled_table(argument)
      regions = Shell.regions(table)
      show_regions(regions)
      Shell.records("#{FACTS_SHOWN} #{GETS_SHOWN}") || Shell.header('FILE', 'FACTS')
      files = files_of(table)
      files.each do |file|
        others = file['negatives'] + file['false_positives']
        file['true_positives'] = [file['probes'] - others, 0].max
      end
      families = Shell.describe(table)['families']
      files.each { |file| show_file(file, regions.size > 1) }
      Shell.check_files(table)
      Shell.records("family runs files #{SUMS.join(' ')} filter wanted_rate rate #{GETS_SHOWN}") ||
        Shell.header('FAMILY', 'RUNS')
      families.each do |family|
        show_family(family, files.select { |file| file['family'] == family['name'] }, regions)
      end
      show_cache
      Shell.plain "#{Shell.sizes(table)[2]} bytes in memtables"
    end
  end
end

module Commands
  def self.stats(*arguments)
    options = arguments[0]
    if arguments.empty? then Stats.show_counters(nil)
    elsif !(Hash === options) then Stats.show_table(options)
    else
      wanted = options['COUNTERS']
      format = options['FORMAT']
      if options.key?('COUNTERS') && options.key?('FORMAT')
        Shell.fail(2, 'FORMAT prints all counters, so leave out COUNTERS')
      end
      if options.key?('FORMAT')
        Shell.fail_key('FORMAT', format, 'it must be PROMETHEUS') unless format.to_s == 'PROMETHEUS'
        Stats.show_prometheus
      elsif Array === wanted then Stats.show_counters(wanted.map { |name| Shell.text(name) })
      else
        Shell.fail(2, "stats takes a table, COUNTERS => ['name', ..] or FORMAT => 'PROMETHEUS'")
      end
    end
    nil
  end
end
