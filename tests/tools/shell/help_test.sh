#!/bin/sh
# help_test.sh KV-SHELL -- help knows every command of HBase's shell and of Petal's, each in one
# group; its examples run as they stand. Each command is either taken or refused in a transaction.
#
# The examples of a command are the lines of its help that begin with two blanks.  They run one
# after the other on a database of their own, with a table t that has a family f and some rows;
# questions are answered with y.
set -u
export LC_ALL=C TZ=UTC
shell=${1:?usage: help_test.sh KV-SHELL}
case $shell in /*) ;; *) shell=$PWD/$shell ;; esac
scratch=$(mktemp -d "${TMPDIR:-/tmp}/help_test.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
fail() {
    echo "FAILED: $1"
    failed=$((failed + 1))
}

# What the help of HBase 2.6 lists, in its order.
hbase='processlist status table_help version whoami
alter alter_async alter_status clone_table_schema create describe disable disable_all drop drop_all enable enable_all exists get_table
is_disabled is_enabled list list_disabled_tables list_enabled_tables list_regions locate_region show_filters
alter_namespace create_namespace describe_namespace drop_namespace list_namespace list_namespace_tables
append count delete deleteall get get_counter get_splits incr put scan truncate truncate_preserve
assign balance_switch balancer balancer_enabled catalogjanitor_enabled catalogjanitor_run catalogjanitor_switch cleaner_chore_enabled
cleaner_chore_run cleaner_chore_switch clear_block_cache clear_compaction_queues clear_deadservers clear_slowlog_responses close_region
compact compact_rs compaction_state compaction_switch decommission_regionservers flush flush_master_store get_balancer_decisions
get_balancer_rejections get_largelog_responses get_slowlog_responses hbck_chore_run is_in_maintenance_mode list_deadservers
list_decommissioned_regionservers list_liveservers list_unknownservers major_compact merge_region move normalize normalizer_enabled
normalizer_switch recommission_regionserver regioninfo rit snapshot_cleanup_enabled snapshot_cleanup_switch split splitormerge_enabled
splitormerge_switch stop_master stop_regionserver trace truncate_region unassign wal_roll hlog_roll zk_dump
add_peer append_peer_exclude_namespaces append_peer_exclude_tableCFs append_peer_namespaces append_peer_tableCFs disable_peer
disable_table_replication enable_peer enable_table_replication get_peer_config list_peer_configs list_peers list_replicated_tables
remove_peer remove_peer_exclude_namespaces remove_peer_exclude_tableCFs remove_peer_namespaces remove_peer_tableCFs
set_peer_bandwidth set_peer_exclude_namespaces set_peer_exclude_tableCFs set_peer_namespaces set_peer_replicate_all set_peer_serial
set_peer_tableCFs show_peer_tableCFs transit_peer_sync_replication_state update_peer_config
clone_snapshot delete_all_snapshot delete_snapshot delete_table_snapshots list_snapshots list_table_snapshots restore_snapshot snapshot
update_all_config update_config update_rsgroup_config
disable_exceed_throttle_quota disable_rpc_throttle enable_exceed_throttle_quota enable_rpc_throttle list_quota_snapshots
list_quota_table_sizes list_quotas list_snapshot_sizes set_quota
grant list_security_capabilities revoke user_permission list_locks list_procedures
add_labels clear_auths get_auths list_labels set_auths set_visibility
add_rsgroup alter_rsgroup_config balance_rsgroup get_namespace_rsgroup get_rsgroup get_server_rsgroup get_table_rsgroup list_rsgroups
move_namespaces_rsgroup move_servers_namespaces_rsgroup move_servers_rsgroup move_servers_tables_rsgroup move_tables_rsgroup
remove_rsgroup remove_servers_rsgroup rename_rsgroup show_rsgroup_config
change_sft change_sft_all'

run() {
    "$shell" --no-took "$@" 2>&1
}

# Lines that were wrapped, whose second and later ones begin with six blanks, as one.
joined() {
    awk '/^      / { sub(/^ +/, " "); line = line $0; next } { if (NR > 1) print line; line = $0 } END { print line }'
}

# ---- every command is known, and its help begins with its name ----
for name in $hbase; do
    echo "help '$name'"
done | run "$scratch/db" >"$scratch/known"
for name in $hbase; do
    grep -q "^$name\( \|\$\)" "$scratch/known" || fail "help does not know $name"
done
grep 'There is no command' "$scratch/known" && fail "unknown commands"

# ---- groups ----
echo help | run "$scratch/db" | joined | sed -n 's/^  Commands: //p' | grep -v 'which say so' | tr -s ', ' '\n\n' | sort >"$scratch/grouped"
uniq -d "$scratch/grouped" | grep . && fail "commands in two groups"
own=$(wc -l <"$scratch/grouped")
[ "$own" -gt 60 ] || fail "help lists $own commands only"
absent=$(echo "help 'cluster'" | run "$scratch/db" | grep -c '^[^ ]')
echo help | run "$scratch/db" | grep -q "Commands: $absent, which say so" || fail "help 'cluster' does not list as many as help says"
for name in $hbase; do
    grep -qx "$name" "$scratch/grouped" && continue
    echo "help 'cluster'" | run "$scratch/db" | grep -q "^$name " || fail "$name is in no group"
done
for group in general ddl namespace dml tools snapshots petal cluster; do
    echo "help '$group'" | run "$scratch/db" | grep -q '^ERROR' && fail "help '$group' fails"
done
echo "help 'nosuch'" | run "$scratch/db" | grep -q "ERROR: There is no command, group or topic 'nosuch'" || fail "help 'nosuch' succeeds"

# ---- in a transaction each is taken or refused ----
taken='append count delete deleteall explain get get_counter incr put scan time
alter_status compaction_state describe describe_namespace exists get_splits get_table is_disabled is_enabled list
list_disabled_tables list_enabled_tables list_liveservers list_namespace list_namespace_tables list_regions list_snapshot_sizes
list_snapshots list_table_snapshots locate_region normalizer_enabled processlist snapshot_cleanup_enabled splitormerge_enabled stats status
compaction_switch normalizer_switch splitormerge_switch desc exit quit help log_level show_filters table_help version whoami'
echo "create 't', 'f'" | run "$scratch/transactions" >/dev/null
for name in $(cat "$scratch/grouped") bulk_load desc quit; do
    echo "transaction { begin; $name {}; rescue => e; puts e.message; end }" | run "$scratch/transactions" >"$scratch/said"
    refused=$(grep -c "^$name cannot be part of a transaction: " "$scratch/said")
    wanted=1
    echo "$taken" | tr ' ' '\n' | grep -qx "$name" && wanted=0
    [ "$refused" = $wanted ] || fail "transaction { $name {} }: $(head -3 "$scratch/said")"
done

# ---- lines end at words, at 80 characters where nothing else is known ----
echo "help 'create'" | run "$scratch/db" | awk 'length($0) > 80' | grep . && fail "lines of help are longer than 80 characters"

# ---- what the background does with regions, where it may ----
printf "splitormerge_enabled 'SPLIT'\nsplitormerge_enabled 'MERGE'\nnormalizer_enabled\nsplitormerge_switch 'MERGE', true\nnormalizer_switch true\n" |
    run "$scratch/transactions" >"$scratch/said"
[ "$(grep -cx 'true\|Previous state : true' "$scratch/said")" = 5 ] || fail "regions are not merged in the background"

# ---- topics, and every filter of the filter language with its Java constructor ----
topics=$(echo help | run "$scratch/db" | sed -n '/^TOPICS:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$topics" | wc -l)" -ge 5 ] || fail "help lists few topics"
filters=$(echo show_filters | run "$scratch/db")
echo "help 'filters'" | run "$scratch/db" >"$scratch/filters"
for name in $filters; do
    grep -q "^$name(" "$scratch/filters" || fail "help 'filters' does not have $name"
    echo "help '$name'" | run "$scratch/db" | grep -q "^  scan 't', FILTER => $name.new" || fail "help '$name' has no constructor"
done
echo "help 'filtrs'" | run "$scratch/db" | grep -q "did you mean 'filters'?" || fail "help 'filtrs' suggests nothing"

# ---- examples ----
examples=0
for name in $(cat "$scratch/grouped") $topics $filters; do
    echo "help '$name'" | run "$scratch/db" | sed -n '/^      /d; s/^  //p' >"$scratch/examples"
    [ -s "$scratch/examples" ] || continue
    rm -rf "$scratch/example"
    {
        echo "create 't', {NAME => 'f', VERSIONS => 3}"
        echo "put 't', 'r1', 'f:a', 'v', 1000; put 't', 'r2', 'f:b', \"\\x00\\x00\\x00\\x01\", 1500; put 't', 'user1-a', 'f:a', 'z', 1000"
        sed '/_all \|delete_all_snapshot \|delete_table_snapshots /s/$/\ny/' "$scratch/examples"
    } >"$scratch/input"
    (cd "$scratch" && "$shell" --no-took example <input) >"$scratch/said" 2>&1
    # Where the libraries for HBase's files are not there, the shell says so.
    grep -q 'was built without the libraries' "$scratch/said" && continue
    if grep -v 'is new in table\|regions were not looked at\|the transaction ended early' "$scratch/said" | grep -q '^ERROR\|Error (petal:\|kv-shell:'; then
        fail "the examples of $name"
        cat "$scratch/said"
    fi
    examples=$((examples + $(wc -l <"$scratch/examples")))
done
"$shell" --help >"$scratch/said"
"$shell" -h | cmp -s - "$scratch/said" || fail "-h is not --help"
[ "$(wc -l <"$scratch/said")" -gt 50 ] || fail "--help has few lines"
awk 'length > 80 { print; wide = 1 } END { exit wide }' "$scratch/said" || fail "--help has lines of more than 80 letters"
[ $examples -gt 100 ] || fail "there are $examples examples only"
echo "$own commands in groups, $absent of a cluster, $examples examples"
[ $failed = 0 ]
