# namespaces.rb -- the commands about namespaces: default and hbase, which are always there, and those
# that users make (tools/shell/schema/namespace.h).
module Namespaces
  RESERVED = %w[default hbase]
  LONGEST = 200

  class << self
    # The namespace that an argument names, which has to be there.
    def existing(argument)
      Shell.fail(2, 'Namespace name must be of type String') unless String === argument
      Shell.check_namespace(argument, 'Unknown namespace ')
      argument
    end

    def check_hash(argument)
      return if Hash === argument
      Shell.fail(2, "#{Shell.class_of(argument)} of #{argument.inspect[0, 200]} is not of Hash type")
    end

    # METHOD => 'set' with properties, or 'unset' with NAME, the name of one.
    def read_alteration(hash)
      check_hash(hash)
      method = Shell.text(hash['METHOD'])
      return hash if method == 'set'
      Shell.fail(2, "Unknown method #{method[0, LONGEST]}") unless method == 'unset'
      Shell.fail(2, 'NAME parameter missing for unset method') if hash['NAME'] == nil
      { hash['NAME'] => nil }
    end

    # What a hash sets; nil takes a property away.
    def properties(hash)
      changes = {}
      hash.each do |key, value|
        key = Shell.text(key)
        changes[key] = value == nil ? nil : Shell.text(value) unless key == 'METHOD'
      end
      changes
    end

    def tables(name)
      Shell.tables.select { |table| Shell.namespace(table) == name }
    end
  end
end

module Commands
  class << self
    def create_namespace(name, *hashes)
      Shell.fail(2, 'Namespace name must be of type String') unless String === name
      Shell.namespace_name(name, 'java.io.IOException: ')
      if name.size > Namespaces::LONGEST
        Shell.fail(2, "The name of a namespace has at most #{Namespaces::LONGEST} bytes, this one has " +
                      name.size.to_s)
      end
      hashes.each { |hash| Namespaces.check_hash(hash) }
      Shell.fail(2, "Namespace #{name} already exists") if Shell.namespaces.include?(name)
      Shell.write_namespace(name, true, hashes.map { |hash| Namespaces.properties(hash) })
      nil
    end

    def alter_namespace(argument, *hashes)
      name = Namespaces.existing(argument)
      changes = hashes.map { |hash| Namespaces.read_alteration(hash) }
      Shell.write_namespace(name, false, changes.map { |hash| Namespaces.properties(hash) })
      nil
    end

    def drop_namespace(argument)
      name = Namespaces.existing(argument)
      if Namespaces::RESERVED.include?(name)
        Shell.fail(2, "Reserved namespace #{name} cannot be removed.")
      end
      tables = Namespaces.tables(name)
      unless tables.empty?
        Shell.fail(2, "Only empty namespaces can be removed. Namespace #{name} has #{tables.size} " \
                      'tables')
      end
      Shell.drop_namespace(name)
      nil
    end

    # A record for each property, or one without.
    def describe_namespace(argument)
      name = Namespaces.existing(argument)
      properties = Shell.namespace_properties(name)
      if Shell.records('namespace property value')
        properties.each { |key, value| Shell.record(name, key, value) }
        Shell.record(name, nil, nil) if properties.empty?
      else
        Shell.header 'DESCRIPTION'
        texts = [['NAME', name], *properties].map { |key, value| "#{key} => '#{value}'" }
        Shell.line "{#{texts.join(', ')}}"
      end
      nil
    end

    def list_namespace(*pattern)
      Shell.header 'NAMESPACE'
      names = Shell.namespaces
      Shell.list(pattern.empty? ? names : Shell.matching(pattern[0], names))
      nil
    end

    def list_namespace_tables(argument)
      Shell.header 'TABLE'
      tables = Namespaces.tables(Namespaces.existing(argument))
      Shell.list(tables.map { |table| table.include?(':') ? table[table.index(':') + 1..-1] : table })
    end
  end
end
