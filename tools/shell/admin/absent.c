/*
 * absent.c -- the commands of HBase for what one process does not have: replication, quotas,
 * permissions, a balancer and the like.  So that scripts and hands that know HBase get a clear
 * answer: lists are empty, what asks for a state is told that it is off, switching off what is off
 * succeeds, and all else is refused, each with the reason.
 */
#include "tools/shell/admin/commands.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static COMMAND_FUNCTION(command_refused);
static COMMAND_FUNCTION(command_empty);
static COMMAND_FUNCTION(command_state);
static COMMAND_FUNCTION(command_switch);

static const struct answer {
    enum shell_status (*run)(struct session *session, const struct value *arguments, size_t count,
                             struct value *result);
    size_t least, most;
    const char *usage;
} answers[] = {{command_refused, 0, COMMAND_ANY_NUMBER, "is not in Petal"},
               {command_empty, 0, COMMAND_ANY_NUMBER, "shows nothing"},
               {command_state, 0, 1, "says false"},
               {command_switch, 1, 3, "can only be given false"}};

enum { REFUSED, EMPTY, STATE, SWITCH, MOST_ABSENT = 160 };

/* How commands answer, why, and their names. */
static const struct {
    int answer;
    const char *reason, *names;
} absent[] = {
    {REFUSED, "there is no replication",
     "add_peer append_peer_exclude_namespaces append_peer_exclude_tableCFs "
     "append_peer_namespaces append_peer_tableCFs disable_peer disable_table_replication "
     "enable_peer enable_table_replication get_peer_config remove_peer "
     "remove_peer_exclude_namespaces remove_peer_exclude_tableCFs remove_peer_namespaces "
     "remove_peer_tableCFs set_peer_bandwidth set_peer_exclude_namespaces "
     "set_peer_exclude_tableCFs set_peer_namespaces set_peer_replicate_all set_peer_serial "
     "set_peer_tableCFs show_peer_tableCFs transit_peer_sync_replication_state "
     "update_peer_config"},
    {EMPTY, "there is no replication", "list_peer_configs list_peers list_replicated_tables"},
    {STATE, "there is no replication", "peer_modification_enabled"},
    {SWITCH, "there is no replication", "peer_modification_switch"},
    {REFUSED, "there are no groups of servers",
     "add_rsgroup alter_rsgroup_config balance_rsgroup get_namespace_rsgroup get_rsgroup "
     "get_server_rsgroup get_table_rsgroup move_namespaces_rsgroup "
     "move_servers_namespaces_rsgroup move_servers_rsgroup move_servers_tables_rsgroup "
     "move_tables_rsgroup remove_rsgroup remove_servers_rsgroup rename_rsgroup "
     "show_rsgroup_config update_rsgroup_config"},
    {EMPTY, "there are no groups of servers", "list_rsgroups"},
    {REFUSED, "a table is one region, which is where its process is",
     "assign balancer close_region get_balancer_decisions get_balancer_rejections merge_region "
     "move normalize regioninfo split unassign"},
    {EMPTY, "a table is one region, which is where its process is", "rit"},
    {STATE, "a table is one region, which is where its process is",
     "balancer_enabled normalizer_enabled splitormerge_enabled"},
    {SWITCH, "a table is one region, which is where its process is",
     "balance_switch normalizer_switch splitormerge_switch"},
    {REFUSED, "there is one server, the process itself",
     "clear_deadservers decommission_regionservers flush_master_store "
     "recommission_regionserver stop_master stop_regionserver"},
    {EMPTY, "there is one server, the process itself",
     "list_deadservers list_decommissioned_regionservers list_unknownservers"},
    {STATE, "there is one server, the process itself", "is_in_maintenance_mode"},
    {REFUSED, "there are no quotas",
     "disable_exceed_throttle_quota disable_rpc_throttle enable_exceed_throttle_quota "
     "enable_rpc_throttle set_quota"},
    {EMPTY, "there are no quotas", "list_quota_snapshots list_quota_table_sizes list_quotas"},
    {REFUSED, "there are no visibility labels",
     "add_labels clear_auths get_auths set_auths set_visibility"},
    {EMPTY, "there are no visibility labels", "list_labels"},
    {REFUSED, "what is no longer needed goes at once", "catalogjanitor_run cleaner_chore_run"},
    {STATE, "what is no longer needed goes at once",
     "catalogjanitor_enabled cleaner_chore_enabled"},
    {SWITCH, "what is no longer needed goes at once", "catalogjanitor_switch cleaner_chore_switch"},
    {REFUSED, "whoever may open the directory may do everything", "grant revoke"},
    {EMPTY, "whoever may open the directory may do everything",
     "list_security_capabilities user_permission"},
    {REFUSED, "requests are not recorded; explain and stats tell what reads did",
     "clear_slowlog_responses get_largelog_responses get_slowlog_responses"},
    {REFUSED, "the manifest tells which store files there are", "change_sft change_sft_all"},
    {REFUSED, "a flush closes logs that are no longer needed, and removes them",
     "hlog_roll wal_roll"},
    {EMPTY, "a command is done when it returns", "list_locks list_procedures"},
    {REFUSED, "settings are options of kv-shell, or attributes of tables and families",
     "update_all_config update_config"},
    {REFUSED, "compactions are chosen when one can run", "clear_compaction_queues"},
    {REFUSED, "there is one server, the process itself; compact 't' merges a table's files",
     "compact_rs"},
    {REFUSED, "verify 't' checks a table's store files", "hbck_chore_run"},
    {REFUSED, "table snapshots whose time is over go by themselves; that cannot be switched",
     "snapshot_cleanup_switch"},
    {REFUSED, "explain tells what a read did", "trace"},
    {REFUSED, "a table is one region, which is where its process is; truncate 't' empties a table",
     "truncate_region"},
    {REFUSED, "there is no ZooKeeper", "zk_dump"},
};

static int
compare_commands(const void *a, const void *b)
{
    return strcmp(((const struct command *)a)->name, ((const struct command *)b)->name);
}

const struct command *
absent_commands(void)
{
    static struct command commands[MOST_ABSENT]; /* made once; the last one has no name */
    static struct arena arena;
    struct text usage = {0};
    bool made = commands[0].name != NULL;
    size_t count = 0;

    for (size_t i = 0; !made && i < COUNT_OF(absent); i++) {
        const struct answer *answer = &answers[absent[i].answer];

        for (const char *at = absent[i].names; *at != '\0'; at += *at == ' ') {
            size_t size = strcspn(at, " ");
            char *name = arena_copy(&arena, at, size + 1);

            assert(count + 1 < MOST_ABSENT);
            name[size] = '\0';
            at += size;
            text_clear(&usage);
            text_add_format(&usage, "%s %s: %s", name, answer->usage, absent[i].reason);
            commands[count] = (struct command){
                .name = name, .main_name = name, .run = answer->run, .database = DATABASE_UNUSED};
            commands[count].least = answer->least;
            commands[count].most = answer->most;
            commands[count++].usage = arena_copy(&arena, text_string(&usage), usage.size + 1);
        }
    }
    text_free(&usage);
    if (count > 0)
        qsort(commands, count, sizeof(*commands), compare_commands);
    return commands;
}

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
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
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
    output_truth(&session->output, "enabled", false);
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
