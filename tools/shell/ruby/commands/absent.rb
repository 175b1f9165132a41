# absent.rb -- the commands of HBase for what one process does not have: replication, quotas,
# permissions, a balancer and the like.  So that scripts and hands that know HBase get a clear answer:
# lists are empty, what asks for a state is told that it is off, switching off what is off succeeds,
# and all else is refused, each with the reason.  So are names of what kv-shell does, but no command.
module Absent
  extend Kept

  # How commands answer: least and most arguments (nil: any number), what the usage says.
  ANSWERS = {
    refused: [0, nil, 'is not in Petal'],
    empty: [0, nil, 'shows nothing'],
    state: [0, 1, 'says false'],
    switch: [1, 3, 'can only be given false']
  }

  REPLICATION = 'there is no replication'
  GROUPS = 'there are no groups of servers'
  REGION = 'one process has all regions'
  SERVER = 'there is one server, the process itself'
  QUOTAS = 'there are no quotas'
  LABELS = 'there are no visibility labels'
  AT_ONCE = 'what is no longer needed goes at once'
  RIGHTS = 'whoever may open the directory may do everything'

  TABLE = [
    [:refused, REPLICATION,
     %w[add_peer append_peer_exclude_namespaces append_peer_exclude_tableCFs append_peer_namespaces
        append_peer_tableCFs disable_peer disable_table_replication enable_peer
        enable_table_replication get_peer_config remove_peer remove_peer_exclude_namespaces
        remove_peer_exclude_tableCFs remove_peer_namespaces remove_peer_tableCFs set_peer_bandwidth
        set_peer_exclude_namespaces set_peer_exclude_tableCFs set_peer_namespaces
        set_peer_replicate_all set_peer_serial set_peer_tableCFs show_peer_tableCFs
        transit_peer_sync_replication_state update_peer_config]],
    [:empty, REPLICATION, %w[list_peer_configs list_peers list_replicated_tables]],
    [:state, REPLICATION, %w[peer_modification_enabled]],
    [:switch, REPLICATION, %w[peer_modification_switch]],
    [:refused, GROUPS,
     %w[add_rsgroup alter_rsgroup_config balance_rsgroup get_namespace_rsgroup get_rsgroup
        get_server_rsgroup get_table_rsgroup move_namespaces_rsgroup move_servers_namespaces_rsgroup
        move_servers_rsgroup move_servers_tables_rsgroup move_tables_rsgroup remove_rsgroup
        remove_servers_rsgroup rename_rsgroup show_rsgroup_config update_rsgroup_config]],
    [:empty, GROUPS, %w[list_rsgroups]],
    [:refused, REGION,
     %w[assign balancer close_region get_balancer_decisions get_balancer_rejections move unassign]],
    [:empty, REGION, %w[rit]],
    [:state, REGION, %w[balancer_enabled]],
    [:switch, REGION, %w[balance_switch]],
    [:refused, 'small neighbours are merged in the background, and at once by merge_region',
     %w[normalize]],
    [:refused, SERVER,
     %w[clear_deadservers decommission_regionservers flush_master_store recommission_regionserver
        stop_master stop_regionserver]],
    [:empty, SERVER, %w[list_deadservers list_decommissioned_regionservers list_unknownservers]],
    [:state, SERVER, %w[is_in_maintenance_mode]],
    [:refused, QUOTAS,
     %w[disable_exceed_throttle_quota disable_rpc_throttle enable_exceed_throttle_quota
        enable_rpc_throttle set_quota]],
    [:empty, QUOTAS, %w[list_quota_snapshots list_quota_table_sizes list_quotas]],
    [:refused, LABELS, %w[add_labels clear_auths get_auths set_auths set_visibility]],
    [:empty, LABELS, %w[list_labels]],
    [:refused, AT_ONCE, %w[catalogjanitor_run cleaner_chore_run]],
    [:state, AT_ONCE, %w[catalogjanitor_enabled cleaner_chore_enabled]],
    [:switch, AT_ONCE, %w[catalogjanitor_switch cleaner_chore_switch]],
    [:refused, RIGHTS, %w[grant revoke]],
    [:empty, RIGHTS, %w[list_security_capabilities user_permission]],
    [:refused, 'requests are not recorded; explain and stats tell what reads did',
     %w[clear_slowlog_responses get_largelog_responses get_slowlog_responses]],
    [:refused, 'the manifest tells which store files there are', %w[change_sft change_sft_all]],
    [:refused, 'a flush closes logs that are no longer needed, and removes them',
     %w[hlog_roll wal_roll]],
    [:empty, 'a command is done when it returns', %w[list_locks list_procedures]],
    [:refused, 'settings are options of kv-shell, or attributes of tables and families',
     %w[update_all_config update_config]],
    [:refused, 'compactions are chosen when one can run', %w[clear_compaction_queues]],
    [:refused, "#{SERVER}; compact 't' merges a table's files", %w[compact_rs]],
    [:refused, "verify 't' checks a table's store files", %w[hbck_chore_run]],
    [:refused, 'table snapshots whose time is over go by themselves; that cannot be switched',
     %w[snapshot_cleanup_switch]],
    [:refused, 'explain tells what a read did', %w[trace]],
    [:refused, "truncate 't' empties a table", %w[truncate_region]],
    [:refused, "list_regions 't' shows the regions of a table", %w[regioninfo]],
    [:refused, 'there is no ZooKeeper', %w[zk_dump]]
  ]

  # What stands on the command line, behind the directory.
  SUBCOMMANDS = {
    'compare' => 'kv-shell DIR compare TABLE FILE',
    'restore' => 'kv-shell NEW restore BACKUP'
  }

  # Headers of the lists, HBase's; those that are one text have more than two columns.
  HEADERS = {
    'list_deadservers' => ['SERVERNAME'],
    'list_decommissioned_regionservers' => ['DECOMMISSIONED REGION SERVERS'],
    'list_peers' => ' PEER_ID CLUSTER_KEY ENDPOINT_CLASSNAME STATE REPLICATE_ALL NAMESPACES TABLE_CFS ' \
                    'BANDWIDTH SERIAL',
    'list_procedures' => ' PID Name State Submitted Last_Update Parameters',
    'list_quota_snapshots' => ' TABLE USAGE LIMIT IN_VIOLATION POLICY',
    'list_quota_table_sizes' => %w[TABLE SIZE],
    'list_quotas' => %w[OWNER QUOTAS],
    'list_replicated_tables' => %w[TABLE:COLUMNFAMILY ReplicationType],
    'list_rsgroups' => ['NAME', 'SERVER / TABLE'],
    'list_unknownservers' => ['SERVERNAME'],
    'user_permission' => ['User', 'Namespace,Table,Family,Qualifier:Permission']
  }

  class << self
    # [answer, reason, names]; nil if there is no such command.
    def find(name)
      return [:refused, nil, [name]] if SUBCOMMANDS[name]
      TABLE.find { |entry| entry[2].include?(name) }
    end

    # How many arguments it takes, least and most.
    def limits(name)
      found = find(name)
      found && ANSWERS[found[0]][0, 2]
    end

    def names
      TABLE.map { |entry| entry[2] }.flatten.sort
    end

    def usage(name)
      program = SUBCOMMANDS[name]
      return "#{name} is no command of the shell; on the command line: #{program}" if program
      answer, reason, = find(name)
      "#{name} #{ANSWERS[answer][2]}: #{reason}"
    end

    def refused(name)
      Shell.fail(2, usage(name))
    end

    def empty(name)
      header = HEADERS[name]
      if String === header then Shell.plain header
      elsif header then Shell.header(*header)
      end
      Shell.plain '0 row(s)'
      nil
    end

    def state(_name, *_arguments)
      Shell.truth('enabled', false)
    end

    # The state to go to is the first argument.
    def switch(name, wanted, *_others)
      refused(name) unless wanted == false
      Shell.plain name == 'balance_switch' ? 'Previous balancer state : false'
                                           : 'Previous state : false'
      false
    end

    def run(name, arguments)
      answer = find(name)[0]
      arguments = [] if answer == :refused || answer == :empty
      send(answer, name, *arguments)
    end
  end
end
