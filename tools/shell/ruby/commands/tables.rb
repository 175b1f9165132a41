# tables.rb -- the commands about tables as such, and their disabled state in this session; those
# about many tables at once show the ones that match, ask, and do it.
module Commands
  class << self
    def list(*pattern)
      Shell.header 'TABLE'
      names = Shell.users_tables
      Shell.list(pattern.empty? ? names : Shell.matching(pattern[0], names))
    end

    def list_by_state(disabled)
      Shell.header 'TABLE'
      Shell.list(Shell.users_tables.select { |name| Shell.disabled?(name) == disabled })
    end

    def list_enabled_tables
      list_by_state(false)
    end

    def list_disabled_tables
      list_by_state(true)
    end

    def exists(argument)
      name = Shell.table_name(argument)
      found = Shell.exists?(name)
      if Shell.records('exists') then Shell.record(found)
      else Shell.line("Table #{name} #{found ? 'does exist' : 'does not exist'}")
      end
      Shell.status = 1 unless found
      found
    end

    # Whether there is such a table shows when it is used.
    def get_table(argument, *_others)
      Hbase::Table.new(Shell.table_name(argument))
    end

    def drop(argument)
      name = Shell.existing(argument, 'Table ', ' does not exist.')
      unless Shell.disabled?(name)
        Shell.fail(2, "Table #{name} is enabled. Disable it first.")
      end
      Shell.drop(name)
      nil
    end

    # Without hbase:namespace the namespaces were gone.
    def refuse_own_table(name, done)
      return unless Shell.namespace(name) == 'hbase'
      Shell.fail(2, "Tables of the namespace hbase are the database's own and cannot be #{done}")
    end

    def enable(argument)
      Shell.disable(Shell.existing(argument, 'Table ', ' does not exist.'), false)
      nil
    end

    def disable(argument)
      name = Shell.existing(argument, 'Table ', ' does not exist.')
      refuse_own_table(name, 'disabled')
      Shell.disable(name, true)
      nil
    end

    def is_enabled(argument)
      Shell.truth('enabled', !Shell.disabled?(Shell.existing(argument)))
    end

    def is_disabled(argument)
      Shell.truth('disabled', Shell.disabled?(Shell.existing(argument)))
    end

    # Deletions go with all other cells: they hide no later put.
    def truncate_preserve(argument)
      name = Shell.table_name(argument)
      Shell.plain "Truncating '#{name}' table (it may take a while):"
      Shell.existing(name)
      refuse_own_table(name, 'truncated')
      Shell.plain 'Disabling table...' unless Shell.disabled?(name)
      Shell.plain 'Truncating table...'
      Shell.truncate(name)
      nil
    end

    # Its regions become one again, too.
    def truncate(argument)
      truncate_preserve(argument)
      Regions.merge_all(Shell.table_name(argument))
      nil
    end

    # An alteration is done when alter returns.
    def alter_status(argument)
      count = Shell.regions(Shell.existing(argument, "Can't find a table: ", '')).size
      Shell.plain "#{count}/#{count} regions updated."
      Shell.plain 'Done.'
      nil
    end

    # ---- Many tables -----------------------------------------------------------------------------

    # Call the block for each table that matches; those for which it fails are named after the
    # others' number.
    def change_matching(pattern, title, done)
      names = Shell.matching(pattern, Shell.users_tables)
      return Shell.plain("No tables matched the regex #{pattern}") if names.empty?
      names.each { |name| Shell.line(name) }
      Shell.plain "\n#{title} the above #{names.size} tables (y/n)?"
      return unless Shell.yes?
      worst = 0
      failed = names.select do |name|
        begin
          yield name
          false
        rescue Shell::Failure => e
          worst = [worst, e.status].max
          true
        end
      end
      Shell.plain "#{names.size - failed.size} tables successfully #{done}"
      unless failed.empty?
        Shell.plain "#{failed.size} tables not #{done} due to an exception: #{failed.join(',')}"
      end
      Shell.status = worst
    end

    def disable_all(pattern)
      change_matching(pattern, 'Disable', 'disabled') { |name| Shell.disable(name, true) }
      nil
    end

    def enable_all(pattern)
      change_matching(pattern, 'Enable', 'enabled') { |name| Shell.disable(name, false) }
      nil
    end

    def drop_all(pattern)
      change_matching(pattern, 'Drop', 'dropped') { |name| drop(name) }
      nil
    end
  end
end
