# base.rb -- what the commands that are written in Ruby share.  Their module is Commands: a method
# gives back what an echo shows, nil for nothing.  See tools/shell/ruby/shell.h.
#
# A script's methods of the top level are every object's and come before Kernel's, so a module that
# calls Kernel's extends Kept (prelude.rb), and is_a? and nil? are Class === value and value == nil.
module Shell
  class Failure
    attr_reader :status
  end

  class << self
    # A value as bytes, as commands take names.
    def text(value)
      Hbase::Table === value ? value.name : value.to_s
    end

    # A row: bytes, or the digits of a number.
    def row(value)
      return value.to_s if String === value || Integer === value
      fail(2, "The row must be a string, not #{class_of(value)}")
    end

    # The name of a value's class, as Ruby's users know it.
    def class_of(value)
      case value
      when Java::Filter then 'Java::Object'
      when nil, true, false, Numeric, String, Symbol, Array, Hash, Hbase::Table then value.class.to_s
      else 'Object'
      end
    end

    # As in Java: what is not "true" is false.
    def true?(value)
      text(value).downcase == 'true'
    end

    # Fail because of a key's value; `why` says what is wanted.
    def fail_key(key, value, why)
      fail(2, "#{key} => #{value.inspect[0, 200]}: #{why}")
    end

    # An answer of true or false: a line, or a record with this column.
    def truth(column, truth)
      records(column) ? record(truth) : line(truth.to_s)
      truth
    end

    # One fact: a record with this column, or a line.
    def fact(column, value, line)
      records(column) ? record(value) : plain(line)
    end

    # A line for each name and their number; the names.
    def list(names)
      names.each { |name| line(name) }
      plain "#{names.size} row(s)"
      names
    end

    # The users' tables: those of the namespace hbase are the database's own.
    def users_tables
      tables.reject { |name| namespace(name) == 'hbase' }
    end

    def namespace(table)
      colon = table.index(':')
      colon ? table[0...colon] : 'default'
    end

    # The given table's name, by HBase's words where it is none: those before its name and after it.
    def existing(argument, before = 'Unknown table ', after = '!')
      table = table_name(argument)
      open(table, before, after)
      table
    end

    # "1 row", "2 rows"
    def count(number, one, more = "#{one}s")
      "#{number} #{number == 1 ? one : more}"
    end
  end
end

module Commands
  extend Kept

  # What kv-shell calls.
  def self.run(name, arguments)
    respond_to?(name) ? send(name, *arguments) : Absent.run(name.to_s, arguments)
  end
end
