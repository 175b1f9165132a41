# help.rb -- help: the groups of commands, the usage of a group or a command, and examples; topics;
# table_help.
#
# Lines end at words, at the terminal's width.  What belongs to a usage begins with six blanks, an
# example with two.
module Help
  INDENT = 6

  # HBase's groups, and one of Petal's own; `cluster` is one more, of the commands that Petal has not.
  GROUPS = [
    ['general', 'the shell', %w[exit help processlist status table_help version whoami]],
    ['ddl', 'tables and their families',
     %w[alter alter_async alter_status clone_table_schema create describe disable disable_all drop
        drop_all enable enable_all exists get_table is_disabled is_enabled list list_disabled_tables
        list_enabled_tables list_regions locate_region show_filters]],
    ['namespace', 'of tables',
     %w[alter_namespace create_namespace describe_namespace drop_namespace list_namespace
        list_namespace_tables]],
    ['dml', 'rows',
     %w[append count delete deleteall get get_counter get_splits incr put scan truncate
        truncate_preserve]],
    ['tools', 'store files and memory',
     %w[clear_block_cache compact compaction_state compaction_switch flush list_liveservers
        major_compact merge_region normalizer_enabled normalizer_switch snapshot_cleanup_enabled
        split splitormerge_enabled splitormerge_switch]],
    ['snapshots', 'snapshots of tables',
     %w[clone_snapshot delete_all_snapshot delete_snapshot delete_table_snapshots list_snapshot_sizes
        list_snapshots list_table_snapshots restore_snapshot snapshot]],
    ['petal', 'what HBase has not',
     %w[advise backup checkpoint explain export export_hfiles import import_hfiles log_level stats time
        transaction verify]]
  ]

  TITLES = {
    'attributes' => 'of families and tables, for create and alter',
    'filters' => 'for FILTER of get, scan, count and export',
    'formats' => 'of answers, and of files for import and export',
    'loops' => 'and all else of Ruby: blocks, methods, exceptions, #{..} in texts',
    'reads' => 'keys of get, scan and count',
    'regions' => 'of a table: which there are, how they are split and merged',
    'strings' => 'quotes, bytes, numbers',
    'times' => 'timestamps and times to live'
  }

  class << self
    # The lines of a section; nil if there is none of that name.
    def section(text, name)
      head = "\n= #{name}\n"
      from = text.index(head)
      return nil unless from
      from += head.size
      text[from...(text.index("\n\n= ", from) || text.size - 2)].gsub("\\\n", '')
    end

    def names(text)
      text.split("\n").select { |line| line[0, 2] == '= ' }.map { |line| line[2..-1] }
    end

    # What help and completion know besides commands.
    def groups
      GROUPS.map { |name, _, _| name } + ['cluster'] + TITLES.keys
    end

    # A usage, then what comes of it: in its line where there is room, else below.
    def show_usage(usage)
      meaning = usage.index(' ' * 6)
      if meaning == nil || usage.size <= Shell.width
        Shell.plain Shell.wrap(usage, INDENT + 2)
      else
        # which begins so far in
        Shell.plain Shell.wrap(usage[0...meaning], INDENT + 2) + "\n" +
                    Shell.wrap(usage[meaning..-1], INDENT)
      end
    end

    def show_examples(examples)
      Shell.plain Shell.wrap_example(examples)[0...-1]
    end

    def show_lines(lines)
      lines.each do |line|
        if line.size > 2 && line[0, 2] == '  ' then show_examples(line)
        elsif line.include?(' ' * 6) then show_usage(line)
        else Shell.plain Shell.wrap(line, 0)
        end
      end
    end

    def lines_of(text, name)
      found = section(text, name)
      found && (found + "\n").split("\n", -1)[0...-1]
    end

    def show_command(name)
      lines = lines_of(COMMANDS, name)
      show_usage(lines[0])
      return if lines.size == 1
      Shell.plain ''
      show_examples(lines[2..-1].join("\n"))
      Shell.plain ''
    end

    def show_topic(name)
      show_lines(lines_of(TOPICS, name))
      return unless name == 'filters'
      names(FILTERS).each { |filter| show_lines(lines_of(FILTERS, filter)[0, 2]) }
    end

    def fail_unknown(name)
      near = Java.nearest(name, Shell.commands + groups + names(FILTERS))
      Shell.fail(1, "There is no command, group or topic '#{name[0, 80]}'" +
                    (near ? "; did you mean '#{near}'?" : ''))
    end

    def show(name)
      group = GROUPS.find { |one| one[0] == name }
      if Shell.command(name) then show_command(Shell.command(name))
      elsif Absent.find(name) then show_usage(Absent.usage(name))
      elsif group then group[2].each { |command| show_usage(lines_of(COMMANDS, command)[0]) }
      elsif name == 'cluster' then Absent.names.each { |command| show_usage(Absent.usage(command)) }
      elsif TITLES[name] then show_topic(name)
      elsif section(FILTERS, name) then show_lines(lines_of(FILTERS, name))
      else fail_unknown(name)
      end
      nil
    end

    def show_all
      Shell.plain 'COMMAND GROUPS:'
      GROUPS.each do |name, title, commands|
        Shell.plain "  Group name: #{name} (#{title})"
        Shell.plain Shell.wrap("  Commands: #{commands.join(', ')}", INDENT)
        Shell.plain ''
      end
      Shell.plain "  Group name: cluster (HBase's, for what one process has not)\n" \
                  "  Commands: #{Absent.names.size}, which say so; help 'cluster' lists them\n\nTOPICS:"
      TITLES.each { |name, title| Shell.plain "  #{name.ljust(10)}  #{title}" }
      Shell.plain "\nhelp 'get' shows a command and examples, help 'dml' the commands of a group,\n" \
                  "help 'filters' a topic."
    end
  end
end

module Commands
  class << self
    def help(name = nil)
      name == nil ? Help.show_all : Help.show(Shell.text(name))
      nil
    end

    def table_help
      Shell.plain Shell.wrap('A table can be held in a variable; the commands about it are then ' \
                             'called on it, without its name:', 0)
      Shell.plain ''
      Help.show_examples(Help.lines_of(Help::COMMANDS, 'table_help')[2..-1].join("\n"))
      Shell.plain ''
      nil
    end
  end
end
