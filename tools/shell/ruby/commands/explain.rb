# explain.rb -- explain get and explain scan: the receipt of a read, region by region and source by
# source, and the cells it hid.
#
# The wording is kept stable, for scripts compare it.  What is zero is left out of a source's line.  On
# a terminal a source's lines break between its parts, which semicolons divide.
module Explain
  KINDS = %w[data index filter]
  FACTS = %w[row_min row_max time_min time_max sequence_min sequence_max]
  WORK = %w[seeks seeks_saved data_cached data_fetched index_cached index_fetched filter_cached
            filter_fetched bytes_fetched]

  class << self
    def false_positive?(source)
      source['held_nothing'] && source['filter_probes'] > source['filter_negatives']
    end

    def file?(source)
      source['file_number'] != 0
    end

    def work_text(source)
      text = ''
      if source['filter_probes'] > 0
        text += "; filter asked #{source['filter_probes']}, said absent #{source['filter_negatives']}"
      end
      text += ' (false positive)' if false_positive?(source)
      if source['filter_unasked'] > 0
        text += "; filter not asked #{source['filter_unasked']}, would not pay"
      end
      if source['seeks'] > 0 || source['seeks_saved'] > 0
        text += "; seeks #{source['seeks']}, saved #{source['seeks_saved']}"
      end
      KINDS.each do |kind|
        cached = source["#{kind}_cached"]
        fetched = source["#{kind}_fetched"]
        next if cached == 0 && fetched == 0
        text += "; #{kind} blocks #{cached} cached, #{fetched} fetched"
      end
      text += "; #{source['bytes_fetched']} bytes fetched" if source['bytes_fetched'] > 0
      text
    end

    # The region of the row that was got, or those that a scan came to; without those that are no
    # more, which were split or merged meanwhile.
    def regions(receipt, row, table)
      all = Shell.regions(table)
      return all.select { |region| Regions.has_row?(region, row) } if row
      read = receipt['sources'].map { |source| source['region'] }
      all.select { |region| read.include?(region['id']) }
    end

    def show_source(source, several)
      name = Shell.binary(source['family'])
      name += file?(source) ? " file #{source['file_number']}" : ' memtable'
      name += " of region #{source['region']}" if several
      text = source['skip'] ? "skipped: #{source['skip']}" : 'read'
      if file?(source)
        text += "; rows #{Shell.binary(source['row_min'])}..#{Shell.binary(source['row_max'])}; time " \
                "#{Shell.time(source['time_min'])}..#{Shell.time(source['time_max'])}; sequence " \
                "#{source['sequence_min']}..#{source['sequence_max']}, #{source['cells']} cells"
      end
      Shell.parts(name, text + work_text(source))
    end

    def show_sort(name, sources)
      return if sources.empty?
      text = "#{name}: #{sources.size} considered, " \
             "#{sources.select { |source| source['skip'] == nil }.size} read"
      Shell.skips.each do |skip|
        skipped = sources.select { |source| source['skip'] == skip }
        text += ", #{skipped.size} skipped: #{skip}" unless skipped.empty?
      end
      Shell.message text
    end

    def show_hidden(receipt)
      return if receipt['hidden'] == 0
      reasons = receipt['reasons'].map { |reason, count| "#{count} by #{reason}" }
      Shell.message "hidden: #{reasons.join(', ')}"
      Shell.header 'ROW', 'HIDDEN CELL'
      cells = receipt['cells']
      cells.each do |row, family, qualifier, timestamp, by|
        Shell.parts(Shell.binary(row), "column=#{Shell.binary(family)}:#{Shell.binary(qualifier)}, " \
                                       "timestamp=#{Shell.time(timestamp)}, by: #{by}")
      end
      return unless receipt['hidden'] > cells.size
      Shell.plain "and #{receipt['hidden'] - cells.size} more"
    end

    def show(receipt, regions, rows, cells)
      sources = receipt['sources']
      regions.each { |region| Shell.message "region #{region['id']}: #{Regions.range(region)}" }
      Shell.header 'SOURCE', 'WHAT WAS DONE'
      sources.each { |source| show_source(source, regions.size > 1) }
      show_sort('memtables', sources.reject { |source| file?(source) })
      show_sort('files', sources.select { |source| file?(source) })
      blocks = KINDS.map do |kind|
        "#{kind} #{Stats.sum(sources, "#{kind}_cached")} cached " \
          "#{Stats.sum(sources, "#{kind}_fetched")} fetched"
      end
      Shell.message "blocks: #{blocks.join(', ')}"
      Shell.plain "answer: #{rows} row(s), #{cells} cell(s), #{receipt['hidden']} hidden"
      show_hidden(receipt)
    end

    # Four sets: the regions, the sources, the cells that were hidden, the answer.
    def record(receipt, regions, rows, cells)
      Shell.records('region start end')
      regions.each { |region| Shell.record(region['id'], region['start'], region['end']) }
      Shell.records("region family file outcome #{FACTS.join(' ')} cells filter_probes filter_negatives " \
                    "filter_unasked false_positive #{WORK.join(' ')}")
      receipt['sources'].each do |source|
        file = file?(source)
        Shell.record(source['region'], source['family'], file ? source['file_number'] : nil,
                     [source['skip'] || 'read'],
                     *FACTS.map { |name| file ? source[name] : nil }, source['cells'],
                     source['filter_probes'], source['filter_negatives'], source['filter_unasked'],
                     false_positive?(source) ? 1 : 0, *WORK.map { |name| source[name] })
      end
      if receipt['hidden'] > 0
        Shell.records('row family qualifier timestamp hidden_by')
        receipt['cells'].each { |*cell, by| Shell.record(*cell, [by]) }
      end
      Shell.records('rows cells hidden bytes_returned')
      Shell.record(rows, cells, receipt['hidden'], receipt['bytes_returned'])
    end
  end
end

module Commands
  # A get of the row, or a scan (nil), of the table has found so many rows and cells.
  def self.explain(row, rows, cells, table)
    receipt = Shell.receipt
    regions = Explain.regions(receipt, row, table)
    if Shell.records? then Explain.record(receipt, regions, rows, cells)
    else Explain.show(receipt, regions, rows, cells)
    end
    Shell.status = 1 if rows == 0 && row
    nil
  end
end
