# splits.rb -- the rows at which create splits a table, as HBase's shell and RegionSplitter have
# them: SPLITS, SPLITS_FILE, or NUMREGIONS with SPLITALGO.
module Splits
  extend Kept

  KEYS = %w[SPLITS SPLITS_FILE NUMREGIONS SPLITALGO]

  # The digits of a number are the key; the base, and the digits of the greatest.
  DIGITS = 8
  BASES = { 'HexStringSplit' => 16, 'DecimalStringSplit' => 10 }
  UNIFORM = 'UniformSplit'
  MOST = 65537 # regions, as the library has it

  class << self
    # \xHH is a byte.
    def bytes(text)
      text.gsub(/\\x[0-9A-Fa-f]{2}/) { |escape| escape[2, 2].to_i(16).chr }
    end

    # From the first number to before the last one; what does not fit is the last region's.
    def of_digits(count, base)
      size = base**DIGITS / count
      (1...count).map { |i| (i * size).to_s(base).rjust(DIGITS, '0') }
    end

    # 2 ** 64 divided by the number, in four parts of 16 bits: no integer of mruby is so large.
    def share_of_bytes(count)
      rest = 1
      (0...4).map do
        rest <<= 16
        part = rest / count
        rest -= part * count
        part
      end
    end

    def multiply(parts, factor)
      carry = 0
      parts.reverse.map do |part|
        carry += part * factor
        low = carry & 0xffff
        carry >>= 16
        low
      end.reverse
    end

    # The range of 8 bytes in equal parts.
    def of_bytes(count)
      share = share_of_bytes(count)
      (1...count).map do |i|
        multiply(share, i).map { |part| (part >> 8).chr + (part & 0xff).chr }.join
      end
    end

    def read_algorithm(hash)
      Shell.fail(2, 'Number of regions must be specified') unless hash.key?('NUMREGIONS')
      Shell.fail(2, 'Split algorithm must be specified') unless hash.key?('SPLITALGO')
      count = hash['NUMREGIONS']
      unless Numeric === count && count > 1
        Shell.fail(2, 'Number of regions must be greater than 1')
      end
      Shell.fail_key('NUMREGIONS', count, 'it must be a whole number') unless Integer === count
      Shell.fail(2, "Number of regions must be at most #{MOST}") if count > MOST
      algorithm = Shell.text(hash['SPLITALGO'])
      return of_digits(count, BASES[algorithm]) if BASES.key?(algorithm)
      return of_bytes(count) if algorithm == UNIFORM
      Shell.fail(2, "Couldn't load split class #{algorithm[0, 200]}: use one of " \
                    "#{[*BASES.keys, UNIFORM].join(' ')}")
    end

    def read_rows(rows)
      unless Array === rows
        Shell.fail_key('SPLITS', rows, "it must be a list of rows such as ['g', 'p']")
      end
      rows.map { |row| bytes(Shell.row(row)) }
    end

    def read_file(path)
      lines = Shell.lines(path)
      empty = lines.index('')
      Shell.fail(2, "#{path}:#{empty + 1}: the line is empty; each has a row") if empty
      read_rows(lines)
    end

    # In a list SPLITS => [..] where the regions of the table begin; an empty list: it has only one.
    def texts(table)
      rows = Shell.regions(table)[1..-1].map { |region| Shell.literal(Shell.binary(region['start'])) }
      rows.empty? ? [] : ["SPLITS => [#{rows.join(', ')}]"]
    end

    def fail_twice
      Shell.fail(2, 'Where the regions begin is said twice: give one of SPLITS, SPLITS_FILE, and ' \
                    'NUMREGIONS with SPLITALGO')
    end

    # The rows that create's hash asks for; nil: none.
    def read(hash)
      rows = hash.key?('SPLITS')
      file = hash.key?('SPLITS_FILE')
      algorithm = hash.key?('NUMREGIONS') || hash.key?('SPLITALGO')
      fail_twice if (rows && file) || (algorithm && (rows || file))
      if file then read_file(Shell.text(hash['SPLITS_FILE']))
      elsif rows then read_rows(hash['SPLITS'])
      elsif algorithm then read_algorithm(hash)
      end
    end
  end
end
