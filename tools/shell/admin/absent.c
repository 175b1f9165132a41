/*
 * absent.c -- the commands of HBase for what one process does not have: replication, quotas, permissions, a balancer and
 * the like.  So that scripts and hands that know HBase get a clear answer: lists are empty, what asks for a state is told that it is off,
 * switching off what is off succeeds, and all else is refused, each with the reason.
 */
#include "tools/shell/admin/commands.h"

#include <string.h>

#define ABSENT(name, least, most, run, reason)                                                     \
    {                                                                                              \
        name, name, run, false, least, most, name " " reason                                       \
    }
#define REFUSED(name, reason)                                                                      \
    ABSENT(name, 0, COMMAND_ANY_NUMBER, command_refused, "is not in Petal: " reason)
#define EMPTY(name, reason)                                                                        \
    ABSENT(name, 0, COMMAND_ANY_NUMBER, command_empty, "shows nothing: " reason)
#define STATE(name, reason)  ABSENT(name, 0, 1, command_state, "says false: " reason)
#define SWITCH(name, reason) ABSENT(name, 1, 3, command_switch, "can only be given false: " reason)

#define REGIONS     "a table is one region, which is where its process is"
#define SERVERS     "there is one server, the process itself"
#define CHORES      "what is no longer needed goes at once"
#define REPLICATION "there is no replication"
#define QUOTAS      "there are no quotas"
#define SECURITY    "whoever may open the directory may do everything"
#define LABELS      "there are no visibility labels"
#define GROUPS      "there are no groups of servers"
#define PROCEDURES  "a command is done when it returns"
#define REQUESTS    "requests are not recorded; explain and stats tell what reads did"
#define SETTINGS    "settings are options of kv-shell, or attributes of tables and families"
#define LOGS        "a flush closes logs that are no longer needed, and removes them"
#define TRACKERS    "the manifest tells which store files there are"

static COMMAND_FUNCTION(command_refused);
static COMMAND_FUNCTION(command_empty);
static COMMAND_FUNCTION(command_state);
static COMMAND_FUNCTION(command_switch);

const struct command absent_commands[] = {
    REFUSED("add_labels", LABELS),
    REFUSED("add_peer", REPLICATION),
    REFUSED("add_rsgroup", GROUPS),
    REFUSED("alter_rsgroup_config", GROUPS),
    REFUSED("append_peer_exclude_namespaces", REPLICATION),
    REFUSED("append_peer_exclude_tableCFs", REPLICATION),
    REFUSED("append_peer_namespaces", REPLICATION),
    REFUSED("append_peer_tableCFs", REPLICATION),
    REFUSED("assign", REGIONS),
    REFUSED("balance_rsgroup", GROUPS),
    SWITCH("balance_switch", REGIONS),
    REFUSED("balancer", REGIONS),
    STATE("balancer_enabled", REGIONS),
    STATE("catalogjanitor_enabled", CHORES),
    REFUSED("catalogjanitor_run", CHORES),
    SWITCH("catalogjanitor_switch", CHORES),
    REFUSED("change_sft", TRACKERS),
    REFUSED("change_sft_all", TRACKERS),
    STATE("cleaner_chore_enabled", CHORES),
    REFUSED("cleaner_chore_run", CHORES),
    SWITCH("cleaner_chore_switch", CHORES),
    REFUSED("clear_auths", LABELS),
    REFUSED("clear_compaction_queues", "compactions are chosen when one can run"),
    REFUSED("clear_deadservers", SERVERS),
    REFUSED("clear_slowlog_responses", REQUESTS),
    REFUSED("close_region", REGIONS),
    REFUSED("compact_rs", SERVERS "; compact 't' merges a table's files"),
    REFUSED("decommission_regionservers", SERVERS),
    REFUSED("disable_exceed_throttle_quota", QUOTAS),
    REFUSED("disable_peer", REPLICATION),
    REFUSED("disable_rpc_throttle", QUOTAS),
    REFUSED("disable_table_replication", REPLICATION),
    REFUSED("enable_exceed_throttle_quota", QUOTAS),
    REFUSED("enable_peer", REPLICATION),
    REFUSED("enable_rpc_throttle", QUOTAS),
    REFUSED("enable_table_replication", REPLICATION),
    REFUSED("flush_master_store", SERVERS),
    REFUSED("get_auths", LABELS),
    REFUSED("get_balancer_decisions", REGIONS),
    REFUSED("get_balancer_rejections", REGIONS),
    REFUSED("get_largelog_responses", REQUESTS),
    REFUSED("get_namespace_rsgroup", GROUPS),
    REFUSED("get_peer_config", REPLICATION),
    REFUSED("get_rsgroup", GROUPS),
    REFUSED("get_server_rsgroup", GROUPS),
    REFUSED("get_slowlog_responses", REQUESTS),
    REFUSED("get_table_rsgroup", GROUPS),
    REFUSED("grant", SECURITY),
    REFUSED("hbck_chore_run", "verify 't' checks a table's store files"),
    REFUSED("hlog_roll", LOGS),
    STATE("is_in_maintenance_mode", SERVERS),
    EMPTY("list_deadservers", SERVERS),
    EMPTY("list_decommissioned_regionservers", SERVERS),
    EMPTY("list_labels", LABELS),
    EMPTY("list_locks", PROCEDURES),
    EMPTY("list_peer_configs", REPLICATION),
    EMPTY("list_peers", REPLICATION),
    EMPTY("list_procedures", PROCEDURES),
    EMPTY("list_quota_snapshots", QUOTAS),
    EMPTY("list_quota_table_sizes", QUOTAS),
    EMPTY("list_quotas", QUOTAS),
    EMPTY("list_replicated_tables", REPLICATION),
    EMPTY("list_rsgroups", GROUPS),
    EMPTY("list_security_capabilities", SECURITY),
    EMPTY("list_unknownservers", SERVERS),
    REFUSED("merge_region", REGIONS),
    REFUSED("move", REGIONS),
    REFUSED("move_namespaces_rsgroup", GROUPS),
    REFUSED("move_servers_namespaces_rsgroup", GROUPS),
    REFUSED("move_servers_rsgroup", GROUPS),
    REFUSED("move_servers_tables_rsgroup", GROUPS),
    REFUSED("move_tables_rsgroup", GROUPS),
    REFUSED("normalize", REGIONS),
    STATE("normalizer_enabled", REGIONS),
    SWITCH("normalizer_switch", REGIONS),
    STATE("peer_modification_enabled", REPLICATION),
    SWITCH("peer_modification_switch", REPLICATION),
    REFUSED("recommission_regionserver", SERVERS),
    REFUSED("regioninfo", REGIONS),
    REFUSED("remove_peer", REPLICATION),
    REFUSED("remove_peer_exclude_namespaces", REPLICATION),
    REFUSED("remove_peer_exclude_tableCFs", REPLICATION),
    REFUSED("remove_peer_namespaces", REPLICATION),
    REFUSED("remove_peer_tableCFs", REPLICATION),
    REFUSED("remove_rsgroup", GROUPS),
    REFUSED("remove_servers_rsgroup", GROUPS),
    REFUSED("rename_rsgroup", GROUPS),
    REFUSED("revoke", SECURITY),
    EMPTY("rit", REGIONS),
    REFUSED("set_auths", LABELS),
    REFUSED("set_peer_bandwidth", REPLICATION),
    REFUSED("set_peer_exclude_namespaces", REPLICATION),
    REFUSED("set_peer_exclude_tableCFs", REPLICATION),
    REFUSED("set_peer_namespaces", REPLICATION),
    REFUSED("set_peer_replicate_all", REPLICATION),
    REFUSED("set_peer_serial", REPLICATION),
    REFUSED("set_peer_tableCFs", REPLICATION),
    REFUSED("set_quota", QUOTAS),
    REFUSED("set_visibility", LABELS),
    REFUSED("show_peer_tableCFs", REPLICATION),
    REFUSED("show_rsgroup_config", GROUPS),
    REFUSED("snapshot_cleanup_switch",
            "table snapshots whose time is over go by themselves; that cannot be switched"),
    REFUSED("split", REGIONS),
    STATE("splitormerge_enabled", REGIONS),
    SWITCH("splitormerge_switch", REGIONS),
    REFUSED("stop_master", SERVERS),
    REFUSED("stop_regionserver", SERVERS),
    REFUSED("trace", "explain tells what a read did"),
    REFUSED("transit_peer_sync_replication_state", REPLICATION),
    REFUSED("truncate_region", REGIONS "; truncate 't' empties a table"),
    REFUSED("unassign", REGIONS),
    REFUSED("update_all_config", SETTINGS),
    REFUSED("update_config", SETTINGS),
    REFUSED("update_peer_config", REPLICATION),
    REFUSED("update_rsgroup_config", GROUPS),
    EMPTY("user_permission", SECURITY),
    REFUSED("wal_roll", LOGS),
    REFUSED("zk_dump", "there is no ZooKeeper"),
    {.name = NULL},
};

static COMMAND_FUNCTION(command_refused)
{
    return session_fail(session, SHELL_USAGE, "%s", session->running->usage);
}

/* Headers of the lists, HBase's; those with a blank in front have more than two columns. */
static const struct {
    const char *name, *first, *second;
} headers[] = {
    {"list_deadservers", "SERVERNAME", NULL},
    {"list_decommissioned_regionservers", "DECOMMISSIONED REGION SERVERS", NULL},
    {"list_peers",
     " PEER_ID CLUSTER_KEY ENDPOINT_CLASSNAME STATE REPLICATE_ALL NAMESPACES TABLE_CFS BANDWIDTH "
     "SERIAL",
     NULL},
    {"list_procedures", " PID Name State Submitted Last_Update Parameters", NULL},
    {"list_quota_snapshots", " TABLE USAGE LIMIT IN_VIOLATION POLICY", NULL},
    {"list_quota_table_sizes", "TABLE", "SIZE"},
    {"list_quotas", "OWNER", "QUOTAS"},
    {"list_replicated_tables", "TABLE:COLUMNFAMILY", "ReplicationType"},
    {"list_rsgroups", "NAME", "SERVER / TABLE"},
    {"list_unknownservers", "SERVERNAME", NULL},
    {"user_permission", "User", "Namespace,Table,Family,Qualifier:Permission"},
};

static COMMAND_FUNCTION(command_empty)
{
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (strcmp(headers[i].name, session->running->name) != 0)
            continue;
        if (headers[i].first[0] == ' ')
            output_plain(&session->output, "%s", headers[i].first);
        else
            output_header(&session->output, headers[i].first, headers[i].second);
    }
    output_plain(&session->output, "0 row(s)");
    return SHELL_FINE;
}

static COMMAND_FUNCTION(command_state)
{
    *result = value_boolean(false);
    if (output_begin_records(&session->output, "enabled"))
        format_boolean(&session->output.format, false);
    else
        output_line(&session->output, slice_of_string("false"));
    return SHELL_FINE;
}

/* The state to go to is the first argument, or with splitormerge_switch the second. */
static COMMAND_FUNCTION(command_switch)
{
    const struct value *state = &arguments[0];

    if (strcmp(session->running->name, "splitormerge_switch") == 0 && count > 1)
        state = &arguments[1];
    if (state->kind != VALUE_BOOLEAN || state->as.boolean)
        return command_refused(session, arguments, count, result);
    *result = value_boolean(false);
    output_plain(&session->output, strcmp(session->running->name, "balance_switch") == 0
                                       ? "Previous balancer state : false"
                                       : "Previous state : false");
    return SHELL_FINE;
}
