# snapshots.rb -- the commands about snapshots of tables, and checkpoint, which copies the whole
# database.
module Snapshots
  class << self
    # Those whose names and tables match regular expressions; nil: all do.
    def matching(names, tables)
      list = Shell.snapshots
      if tables
        chosen = Shell.matching(tables[0], list.map { |item| item[1] })
        list = list.select { |item| chosen.include?(item[1]) }
      end
      return list unless names
      chosen = Shell.matching(names[0], list.map { |item| item[0] })
      list.select { |item| chosen.include?(item[0]) }
    end

    # HBase's header, of which the second part is `facts`; records have a column for each fact.
    def begin_list(facts)
      Shell.records('snapshot table created ttl_seconds') || Shell.header('SNAPSHOT', facts)
    end

    # A line for each; `with_ttl`: how long they live, too.
    def show(list, with_ttl)
      list.each do |name, table, created, ttl, _|
        if Shell.records? then Shell.record(name, table, created, ttl)
        else
          Shell.columns(name, "#{table} (#{Java.time_text(created)})" +
                              (with_ttl ? " #{ttl || 'FOREVER'}" : ''))
        end
      end
    end

    def list(names, tables)
      begin_list('TABLE + CREATION TIME + TTL(Sec)')
      list = matching(names, tables)
      show(list, true)
      Shell.plain "#{list.size} row(s)"
      list.map { |item| item[0] }
    end

    # Show the list that matches, ask, and call the block for each that was deleted.  That its time
    # came meanwhile is as good.
    def delete(names, tables, without)
      begin_list('TABLE + CREATION TIME')
      list = matching(names, tables)
      return Shell.plain(without) if list.empty?
      show(list, false)
      Shell.plain "\nDelete the above #{list.size} snapshots (y/n)?"
      return unless Shell.yes?
      list.each do |item|
        Shell.delete_snapshot(item[0])
        yield item[0]
      end
    end

    # The name of a snapshot and what stands after it: ACLs, which there are not.
    def check_source(name, rest)
      Shell.fail(2, 'Snapshot name must be of type String') unless String === name
      Shell.fail(2, 'Arguments should be a Hash') unless rest.empty? || Hash === rest[0]
    end

    def find(name)
      Shell.snapshots.find { |item| item[0] == name }
    end

    def fail_unknown(name)
      Shell.fail(1, "Unknown snapshot #{name[0, 256]}!")
    end

    # The hash after a snapshot: SKIP_FLUSH and TTL.  Others mean nothing, as in HBase.
    def read_options(hash, options)
      unless Hash === hash
        Shell.fail(2, 'Options are a hash such as {SKIP_FLUSH => true}, not ' + Shell.class_of(hash))
      end
      skip = hash['SKIP_FLUSH']
      ttl = hash['TTL']
      options[0] = Shell.true?(skip) unless skip == nil
      return if ttl == nil
      seconds = Shell.number(ttl)
      if seconds == nil || seconds > 4294967295
        Shell.fail_key('TTL', ttl, 'it must be a number of seconds, at most 4294967295')
      end
      options[1] = [seconds, 0].max
    end
  end
end

module Commands
  class << self
    def list_snapshots(*names)
      Snapshots.list(names.empty? ? nil : names, nil)
    end

    def list_table_snapshots(tables, *names)
      Snapshots.list(names.empty? ? nil : names, [tables])
    end

    def delete_all_snapshot(names)
      deleted = 0
      begin
        Snapshots.delete([names], nil, "No snapshots matched the regex #{names}") { deleted += 1 }
      ensure
        Shell.plain "#{deleted} snapshots successfully deleted." if deleted > 0
      end
      nil
    end

    def delete_table_snapshots(tables, *names)
      without = "No snapshots matched the table name regular expression #{tables} and the " \
                "snapshot name regular expression #{names.empty? ? '.*' : names[0]}"
      Snapshots.delete(names.empty? ? nil : names, [tables], without) do |name|
        Shell.plain "Successfully deleted snapshot: #{name}\n"
      end
      nil
    end

    def list_snapshot_sizes
      Shell.header 'SNAPSHOT', 'SIZE'
      list = Shell.snapshots
      list.each { |name, _, _, _, bytes| Shell.columns(name, bytes.to_s) }
      Shell.plain "#{list.size} row(s)"
      nil
    end

    # An echo shows the hashes.
    def snapshot(table, name, *hashes)
      Shell.fail(2, 'Table name must be of type String') unless String === table
      Shell.snapshot_name(name)
      options = [false, 0]
      hashes.each { |hash| Snapshots.read_options(hash, options) }
      table = Shell.existing(table, "Table '", "' doesn't exist, can't take snapshot.")
      unless Shell.make_snapshot(table, name, *options)
        Shell.fail(2, "Snapshot '#{name}' already stored on the filesystem.")
      end
      hashes.empty? ? nil : hashes
    end

    def clone_snapshot(name, table, *rest)
      Snapshots.check_source(name, rest)
      Shell.fail(2, 'Table name must be of type String') unless String === table
      table = Shell.table_name(table)
      Snapshots.fail_unknown(name) unless Snapshots.find(name)
      Shell.check_namespace(Shell.namespace(table), 'Unknown namespace: ')
      refuse_own_table(table, 'created')
      Shell.fail(2, "Table already exists: #{table}!") unless Shell.clone_snapshot(name, table)
      Shell.disable(table, false)
      nil
    end

    # The restored table stays disabled; one that had been dropped is enabled.
    def restore_snapshot(name, *rest)
      Snapshots.check_source(name, rest)
      found = Snapshots.find(name)
      unless found
        Shell.fail(1, "Unable to find the table name for snapshot=#{name[0, 256]}")
      end
      table = found[1]
      if Shell.exists?(table) && !Shell.disabled?(table)
        Shell.fail(2, "Table #{table} should be disabled!")
      end
      Shell.check_namespace(Shell.namespace(table), 'Unknown namespace ')
      Shell.restore_snapshot(name)
      nil
    end

    def delete_snapshot(name)
      Snapshots.check_source(name, [])
      Snapshots.fail_unknown(name) unless Shell.delete_snapshot(name)
      nil
    end

    def checkpoint(directory)
      unless String === directory && !directory.empty?
        Shell.fail(2, 'The directory must be text that is not empty')
      end
      if directory.include?("\0")
        Shell.fail(2, 'The name of the directory must not have a zero byte in it')
      end
      Shell.checkpoint(directory)
      nil
    end
  end
end
