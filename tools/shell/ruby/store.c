/*
 * store.c -- of the module Shell what is about the store: tables, snapshots of tables, statistics.
 * See tools/shell/ruby/shell.h and tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/schema/attribute.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/names.h"

#include <mruby/array.h>
#include <mruby/hash.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

enum { MOST_GROUPS = 256 };

static struct session *
session_of(mrb_state *mrb)
{
    return ruby_of(mrb)->session;
}

static void
check(mrb_state *mrb, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        ruby_fail(mrb, session_fail_petal(session_of(mrb), error));
}

static mrb_value
number(mrb_state *mrb, uint64_t value)
{
    return mrb_int_value(mrb, (mrb_int)value);
}

/* The name that is the only argument. */
static petal_slice
name_argument(mrb_state *mrb)
{
    mrb_value name;

    mrb_get_args(mrb, "S", &name);
    return ruby_slice(name);
}

static petal_table *
open_table(mrb_state *mrb, petal_slice name)
{
    petal_table *table;
    petal_error error;

    check(mrb, petal_table_open(session_of(mrb)->db, name, &table, &error), &error);
    return table;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static mrb_value
list_commands(mrb_state *mrb, mrb_value self)
{
    mrb_value names = mrb_ary_new(mrb);

    (void)self;
    for (const struct command *command = session_of(mrb)->commands; command->name != NULL;
         command++)
        mrb_ary_push(mrb, names, mrb_str_new_cstr(mrb, command->name));
    return names;
}

/* Shell.command(name): the main name of a command, nil if there is none. */
static mrb_value
main_name(mrb_state *mrb, mrb_value self)
{
    const struct command *command = command_find(session_of(mrb), name_argument(mrb));

    (void)self;
    return command != NULL ? mrb_str_new_cstr(mrb, command->main_name) : mrb_nil_value();
}

static mrb_value
list_filters(mrb_state *mrb, mrb_value self)
{
    mrb_value names = mrb_ary_new(mrb);

    (void)self;
    for (size_t i = 0; petal_filter_name(i) != NULL; i++)
        mrb_ary_push(mrb, names, mrb_str_new_cstr(mrb, petal_filter_name(i)));
    return names;
}

static mrb_value
version(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_str_new_cstr(mrb, petal_version());
}

/* Shell.matching(pattern, names): those that the regular expression matches as a whole. */
static mrb_value
choose_matching(mrb_state *mrb, mrb_value self)
{
    mrb_value given, names, chosen = mrb_ary_new(mrb);
    struct pattern pattern;
    struct value argument;
    enum shell_status status;

    (void)self;
    mrb_get_args(mrb, "oA", &given, &names);
    argument = ruby_to_value(mrb, given);
    status = pattern_read(session_of(mrb), &argument, &pattern);
    for (mrb_int i = 0; status == SHELL_FINE && i < RARRAY_LEN(names); i++)
        if (pattern_matches(&pattern, ruby_slice(RARRAY_PTR(names)[i])))
            mrb_ary_push(mrb, chosen, RARRAY_PTR(names)[i]);
    pattern_free(&pattern);
    ruby_check(mrb, status);
    return chosen;
}

/* Shell.user: its name, then those of its groups. */
static mrb_value
describe_user(mrb_state *mrb, mrb_value self)
{
    const struct passwd *user = getpwuid(geteuid());
    gid_t groups[MOST_GROUPS] = {getegid()};
    int count = getgroups(MOST_GROUPS, groups);
    mrb_value names = mrb_ary_new(mrb);

    (void)self;
    mrb_ary_push(mrb, names,
                 user != NULL ? mrb_str_new_cstr(mrb, user->pw_name)
                              : mrb_integer_to_str(mrb, number(mrb, geteuid()), 10));
    for (int i = 0; i < (count > 0 ? count : 1); i++) {
        const struct group *group = getgrgid(groups[i]);

        mrb_ary_push(mrb, names,
                     group != NULL ? mrb_str_new_cstr(mrb, group->gr_name)
                                   : mrb_integer_to_str(mrb, number(mrb, groups[i]), 10));
    }
    return names;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool
add_name(void *argument, petal_table *table)
{
    struct name_list *list = argument;

    list->items[list->count++] = petal_table_name(table);
    return true;
}

static bool
count_table(void *argument, petal_table *table)
{
    (void)table;
    ++*(size_t *)argument;
    return true;
}

/* Shell.tables: the names of all, those of the namespace hbase too. */
static mrb_value
list_tables(mrb_state *mrb, mrb_value self)
{
    struct session *session = session_of(mrb);
    struct name_list list = {0};
    mrb_value names;
    petal_error error;

    (void)self;
    if (session->db == NULL)
        return mrb_ary_new(mrb);
    check(mrb, petal_table_list(session->db, count_table, &list.capacity, &error), &error);
    list.items = arena_allocate(&session->arena, list.capacity * sizeof(*list.items));
    check(mrb, petal_table_list(session->db, add_name, &list, &error), &error);
    names = mrb_ary_new_capa(mrb, (mrb_int)list.count);
    for (size_t i = 0; i < list.count; i++)
        mrb_ary_push(mrb, names, ruby_string(mrb, list.items[i]));
    return names;
}

/* Shell.table_name(argument): checked, and without the namespace default. */
static mrb_value
check_table_name(mrb_state *mrb, mrb_value self)
{
    struct value value;
    petal_slice name;
    mrb_value argument;

    (void)self;
    mrb_get_args(mrb, "o", &argument);
    value = ruby_to_value(mrb, argument);
    ruby_check(mrb, session_table_name(session_of(mrb), &value, &name));
    return ruby_string(mrb, name);
}

/* Shell.open(name, before, after): is there a table of that name?  Fails with these words around the
 * name. */
static mrb_value
find_table(mrb_state *mrb, mrb_value self)
{
    const char *before, *after;
    struct value value;
    petal_table *table;
    mrb_value name;

    mrb_get_args(mrb, "Szz", &name, &before, &after);
    value = value_string(ruby_slice(name));
    ruby_check(mrb, session_any_table(session_of(mrb), &value, before, after, &table));
    return self;
}

/* Shell.exists?(name) */
static mrb_value
table_exists(mrb_state *mrb, mrb_value self)
{
    petal_table *table;
    petal_error error;
    enum petal_status outcome =
        petal_table_open(session_of(mrb)->db, name_argument(mrb), &table, &error);

    (void)self;
    if (outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        check(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
is_disabled(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(session_is_disabled(session_of(mrb), name_argument(mrb)));
}

/* Shell.disable(name, yes) */
static mrb_value
disable_table(mrb_state *mrb, mrb_value self)
{
    mrb_value name;
    mrb_bool yes;

    mrb_get_args(mrb, "Sb", &name, &yes);
    session_set_disabled(session_of(mrb), ruby_slice(name), yes);
    return self;
}

static mrb_value
drop_table(mrb_state *mrb, mrb_value self)
{
    petal_slice name = name_argument(mrb);
    petal_error error;

    check(mrb, petal_table_drop(open_table(mrb, name), &error), &error);
    session_set_disabled(session_of(mrb), name, false);
    return self;
}

static mrb_value
truncate_table(mrb_state *mrb, mrb_value self)
{
    petal_slice name = name_argument(mrb);
    petal_table *table = open_table(mrb, name);
    petal_error error;

    check(mrb, petal_table_truncate(table, &table, &error), &error);
    session_set_disabled(session_of(mrb), name, false);
    return self;
}

/* Shell.check_namespace(table, before): has it the table's? */
static mrb_value
check_namespace(mrb_state *mrb, mrb_value self)
{
    const char *before;
    mrb_value name;

    mrb_get_args(mrb, "Sz", &name, &before);
    ruby_check(mrb, namespace_check(session_of(mrb), ruby_slice(name), before));
    return self;
}

static bool
add_file(void *argument, const petal_file_info *file)
{
    uint64_t *sums = argument;

    sums[0]++;
    sums[1] += file->file_bytes;
    return true;
}

/* Shell.sizes(table): how many store files it has, their bytes, those in memory.  A table that went
 * away meanwhile has none. */
static mrb_value
sizes_of_table(mrb_state *mrb, mrb_value self)
{
    uint64_t sums[3] = {0};
    petal_table *table;
    petal_error error;
    mrb_value sizes = mrb_ary_new(mrb);

    (void)self;
    if (petal_table_open(session_of(mrb)->db, name_argument(mrb), &table, &error) == PETAL_OK &&
        petal_table_files(table, add_file, sums, &error) == PETAL_OK)
        sums[2] = petal_table_memtable_bytes(table);
    for (size_t i = 0; i < COUNT_OF(sums); i++)
        mrb_ary_push(mrb, sizes, number(mrb, sums[i]));
    return sizes;
}

/* Shell.enabled_table(argument): the name of a table that is there and not disabled. */
static mrb_value
enabled_table(mrb_state *mrb, mrb_value self)
{
    struct value value;
    petal_table *table;
    mrb_value argument;

    (void)self;
    mrb_get_args(mrb, "o", &argument);
    value = ruby_to_value(mrb, argument);
    ruby_check(mrb, session_enabled_table(session_of(mrb), &value, &table));
    return ruby_string(mrb, petal_table_name(table));
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* A member of a struct, as a value in a hash. */
struct fact {
    const char *name;
    size_t place;
    enum {
        FACT_NUMBER,
        FACT_NUMBER_32,
        FACT_BYTES,
        FACT_REAL,
        FACT_TRUTH,
        FACT_BLOOM,
        FACT_KIND
    } form;
};

static mrb_value
value_of_fact(mrb_state *mrb, const struct fact *fact, const void *object)
{
    const void *place = (const char *)object + fact->place;

    switch (fact->form) {
    case FACT_NUMBER:
        return number(mrb, *(const uint64_t *)place);
    case FACT_NUMBER_32:
        return number(mrb, *(const uint32_t *)place);
    case FACT_BYTES:
        return ruby_string(mrb, *(const petal_slice *)place);
    case FACT_REAL:
        return mrb_float_value(mrb, *(const double *)place);
    case FACT_TRUTH:
        return mrb_bool_value(*(const bool *)place);
    case FACT_BLOOM:
        return mrb_str_new_cstr(mrb, schema_bloom_name(*(const enum petal_bloom_type *)place));
    case FACT_KIND:
        return mrb_str_new_cstr(mrb, schema_bloom_kind_name(*(const enum petal_bloom_kind *)place));
    }
    return mrb_nil_value();
}

static void
add_facts(mrb_state *mrb, mrb_value hash, const struct fact *facts, size_t count,
          const void *object)
{
    int arena = mrb_gc_arena_save(mrb);

    for (size_t i = 0; i < count; i++) {
        mrb_hash_set(mrb, hash, mrb_str_new_cstr(mrb, facts[i].name),
                     value_of_fact(mrb, &facts[i], object));
        mrb_gc_arena_restore(mrb, arena);
    }
}

#define OF_FILE(name, form)                                                                        \
    {                                                                                              \
#name, offsetof(petal_file_info, name), FACT_##form                                        \
    }

static const struct fact file_facts[] = {
    OF_FILE(family, BYTES),          OF_FILE(number, NUMBER),
    OF_FILE(file_bytes, NUMBER),     OF_FILE(data_bytes, NUMBER),
    OF_FILE(raw_data_bytes, NUMBER), OF_FILE(index_bytes, NUMBER),
    OF_FILE(filter_bytes, NUMBER),   OF_FILE(cells, NUMBER),
    OF_FILE(rows, NUMBER),           OF_FILE(markers, NUMBER),
    OF_FILE(data_blocks, NUMBER),    OF_FILE(row_min, BYTES),
    OF_FILE(row_max, BYTES),         OF_FILE(time_min, NUMBER),
    OF_FILE(time_max, NUMBER),       OF_FILE(sequence_min, NUMBER),
    OF_FILE(sequence_max, NUMBER),   OF_FILE(bloom, BLOOM),
    OF_FILE(bloom_error_rate, REAL), OF_FILE(bloom_keys, NUMBER),
    OF_FILE(bloom_chunks, NUMBER),   OF_FILE(run, NUMBER),
    OF_FILE(bloom_kind, KIND)};

#define OF_GETS(name)                                                                              \
    {                                                                                              \
#name, offsetof(struct file_history, name), FACT_NUMBER                                    \
    }

static const struct fact gets_facts[] = {OF_GETS(reads),       OF_GETS(probes),
                                         OF_GETS(negatives),   OF_GETS(false_positives),
                                         OF_GETS(data_cached), OF_GETS(data_fetched)};

struct files {
    mrb_state *mrb;
    mrb_value list;
};

/* A file with what the session's gets did to it. */
static bool
describe_file(void *argument, const petal_file_info *file)
{
    static const struct file_history none;
    struct files *files = argument;
    mrb_state *mrb = files->mrb;
    const struct file_history *gets = get_history_file(&session_of(mrb)->history, file->number);
    int arena = mrb_gc_arena_save(mrb);
    mrb_value hash = mrb_hash_new(mrb);
    uint64_t others;

    if (gets == NULL)
        gets = &none;
    others = gets->negatives + gets->false_positives;
    add_facts(mrb, hash, file_facts, COUNT_OF(file_facts), file);
    add_facts(mrb, hash, gets_facts, COUNT_OF(gets_facts), gets);
    mrb_hash_set(mrb, hash, mrb_str_new_lit(mrb, "true_positives"),
                 number(mrb, gets->probes > others ? gets->probes - others : 0));
    mrb_ary_push(mrb, files->list, hash);
    mrb_gc_arena_restore(mrb, arena);
    return true;
}

/* Shell.files(table): those that can be opened; Shell.check_files(table) tells what others lack. */
static mrb_value
list_files(mrb_state *mrb, mrb_value self)
{
    struct files files = {mrb, mrb_ary_new(mrb)};
    petal_error error;

    (void)self;
    (void)!petal_table_files(open_table(mrb, name_argument(mrb)), describe_file, &files, &error);
    return files.list;
}

static bool
pass_file(void *argument, const petal_file_info *file)
{
    (void)argument;
    (void)file;
    return true;
}

static mrb_value
check_files(mrb_state *mrb, mrb_value self)
{
    petal_error error;

    check(mrb, petal_table_files(open_table(mrb, name_argument(mrb)), pass_file, NULL, &error),
          &error);
    return self;
}

#define OF_FAMILY(name, form)                                                                      \
    {                                                                                              \
#name, offsetof(petal_family_options, name), FACT_##form                                   \
    }

static const struct fact family_facts[] = {OF_FAMILY(name, BYTES), OF_FAMILY(bloom, BLOOM),
                                           OF_FAMILY(bloom_error_rate, REAL),
                                           OF_FAMILY(bloom_rate_per_file, TRUTH)};

/* Shell.families(table): how each is made. */
static mrb_value
list_families(mrb_state *mrb, mrb_value self)
{
    petal_table_options options = {.size = sizeof(options)};
    mrb_value list = mrb_ary_new(mrb);

    (void)self;
    petal_table_describe(open_table(mrb, name_argument(mrb)), &options);
    for (size_t i = 0; i < options.family_count; i++) {
        mrb_value hash = mrb_hash_new(mrb);

        add_facts(mrb, hash, family_facts, COUNT_OF(family_facts), &options.families[i]);
        mrb_ary_push(mrb, list, hash);
    }
    return list;
}

/* Shell.clear_cache(table): how many blocks left the cache. */
static mrb_value
clear_cache(mrb_state *mrb, mrb_value self)
{
    petal_table *table = open_table(mrb, name_argument(mrb));
    petal_error error;
    uint64_t blocks;

    (void)self;
    check(mrb, petal_cache_clear(session_of(mrb)->db, table, &blocks, &error), &error);
    return number(mrb, blocks);
}

/* ---- Snapshots of tables --------------------------------------------------------------------- */

struct snapshots {
    mrb_state *mrb;
    struct name_list names; /* of the snapshot and its table, in turn */
    petal_table_snapshot_info *infos;
    size_t capacity;
};

static bool
add_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    struct snapshots *snapshots = argument;
    struct session *session = session_of(snapshots->mrb);
    size_t count = snapshots->names.count / 2;

    snapshots->infos = arena_room(&session->arena, snapshots->infos, count, &snapshots->capacity,
                                  sizeof(*snapshots->infos));
    snapshots->infos[count] = *info;
    name_list_add(session, &snapshots->names, info->name);
    name_list_add(session, &snapshots->names, info->table);
    return true;
}

/* Shell.snapshots: [name, table, milliseconds when it was made, seconds to live or nil, bytes] of
 * each. */
static mrb_value
list_snapshots(mrb_state *mrb, mrb_value self)
{
    struct snapshots snapshots = {.mrb = mrb};
    mrb_value list = mrb_ary_new(mrb);
    petal_error error;

    (void)self;
    if (session_of(mrb)->db == NULL)
        return list;
    check(mrb, petal_table_snapshot_list(session_of(mrb)->db, add_snapshot, &snapshots, &error),
          &error);
    for (size_t i = 0; i < snapshots.names.count / 2; i++) {
        const petal_table_snapshot_info *info = &snapshots.infos[i];
        mrb_value facts[] = {ruby_string(mrb, snapshots.names.items[2 * i]),
                             ruby_string(mrb, snapshots.names.items[2 * i + 1]),
                             mrb_int_value(mrb, info->created_ms),
                             info->ttl_seconds > 0 ? number(mrb, info->ttl_seconds)
                                                   : mrb_nil_value(),
                             number(mrb, info->file_bytes)};

        mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(facts), facts));
    }
    return list;
}

/* Shell.snapshot_name(argument): checked. */
static mrb_value
check_snapshot_name(mrb_state *mrb, mrb_value self)
{
    struct value value;
    mrb_value argument;
    petal_slice name;

    (void)self;
    mrb_get_args(mrb, "o", &argument);
    value = ruby_to_value(mrb, argument);
    ruby_check(mrb, session_snapshot_name(session_of(mrb), &value, &name));
    return argument;
}

/* Shell.make_snapshot(table, name, without a flush, seconds to live): false if the name is taken. */
static mrb_value
make_snapshot(mrb_state *mrb, mrb_value self)
{
    petal_table_snapshot_options options = {.size = sizeof(options)};
    mrb_value table, name;
    enum petal_status outcome;
    petal_error error;
    mrb_bool skip;
    mrb_int ttl;

    (void)self;
    mrb_get_args(mrb, "SSbi", &table, &name, &skip, &ttl);
    options.skip_flush = skip;
    options.ttl_seconds = (uint32_t)ttl;
    outcome = petal_table_snapshot_create(open_table(mrb, ruby_slice(table)), ruby_slice(name),
                                          &options, &error);
    if (outcome != PETAL_EXISTS)
        check(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

/* Shell.clone_snapshot(name, table): false if the table is there. */
static mrb_value
clone_snapshot(mrb_state *mrb, mrb_value self)
{
    struct session *session = session_of(mrb);
    mrb_value name, clone;
    enum petal_status outcome;
    petal_table *table;
    petal_error error;

    (void)self;
    mrb_get_args(mrb, "SS", &name, &clone);
    outcome = petal_table_snapshot_clone(session->db, ruby_slice(name), ruby_slice(clone), &table,
                                         &error);
    if (outcome != PETAL_EXISTS)
        check(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
restore_snapshot(mrb_state *mrb, mrb_value self)
{
    petal_table *table;
    petal_error error;

    check(mrb,
          petal_table_snapshot_restore(session_of(mrb)->db, name_argument(mrb), &table, &error),
          &error);
    return self;
}

/* Shell.delete_snapshot(name): false if there is none. */
static mrb_value
delete_snapshot(mrb_state *mrb, mrb_value self)
{
    petal_error error;
    enum petal_status outcome =
        petal_table_snapshot_delete(session_of(mrb)->db, name_argument(mrb), &error);

    (void)self;
    if (outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        check(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
make_checkpoint(mrb_state *mrb, mrb_value self)
{
    const char *directory;
    petal_error error;

    mrb_get_args(mrb, "z", &directory);
    check(mrb, petal_checkpoint(session_of(mrb)->db, directory, &error), &error);
    return self;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static void
add_statistic(mrb_state *mrb, mrb_value list, const char *name, uint64_t value, const char *meaning)
{
    mrb_value facts[] = {mrb_str_new_cstr(mrb, name), number(mrb, value),
                         mrb_str_new_cstr(mrb, meaning)};

    mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(facts), facts));
}

/* Shell.counters: [name, value, meaning] of each. */
static mrb_value
list_counters(mrb_state *mrb, mrb_value self)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};
    mrb_value list = mrb_ary_new(mrb);
    petal_stats stats;

    (void)self;
    petal_stats_get(session_of(mrb)->db, &stats);
#define ADD(name, meaning) add_statistic(mrb, list, #name, stats.name, meaning);
    PETAL_STATS_MAP(ADD)
    ADD(cache_capacity, "block cache: limit in bytes")
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        const struct {
            const char *name, *meaning;
            uint64_t value;
        } counters[] = {
            {"bytes", "bytes in the block cache", stats.cache_bytes[kind]},
            {"blocks", "blocks in the block cache", stats.cache_blocks[kind]},
            {"inserted", "blocks that entered the block cache", stats.cache_inserted[kind]},
            {"evicted", "blocks that had to leave the block cache", stats.cache_evicted[kind]},
        };

        for (size_t i = 0; i < COUNT_OF(counters); i++) {
            char name[40], meaning[80];

            (void)snprintf(name, sizeof(name), "cache_%s_%s", kinds[kind], counters[i].name);
            (void)snprintf(meaning, sizeof(meaning), "%s %s", kinds[kind], counters[i].meaning);
            add_statistic(mrb, list, name, counters[i].value, meaning);
        }
    }
    ADD(memory_limit, "limit of memtables, block cache and open store files together")
    ADD(memtable_memory, "bytes of memtables, those that are being flushed included")
    ADD(file_memory, "bytes of index roots, facts and handles of open store files")
    ADD(flushes_waiting, "flushes that wait or run")
    ADD(compactions_running, "compactions that run")
#undef ADD
    return list;
}

/* Shell.failings: whether it is read-only, and what failed in the background. */
static mrb_value
list_failings(mrb_state *mrb, mrb_value self)
{
    petal_stats stats;
    mrb_value facts[2];

    (void)self;
    petal_stats_get(session_of(mrb)->db, &stats);
    facts[0] = mrb_bool_value(stats.read_only);
    facts[1] = stats.background_error.status == PETAL_OK
                   ? mrb_nil_value()
                   : mrb_str_new_cstr(mrb, stats.background_error.text);
    return mrb_ary_new_from_values(mrb, COUNT_OF(facts), facts);
}

/* Shell.latencies: [name, how many were timed, within which nanoseconds half ended, and 99 %,
 * meaning] of each; nil for times beyond all measure. */
static mrb_value
list_latencies(mrb_state *mrb, mrb_value self)
{
    static const struct {
        const char *name, *meaning;
    } kinds[] = {
#define DESCRIBE(kind, name, meaning) {#name, meaning},
        PETAL_LATENCY_MAP(DESCRIBE)
#undef DESCRIBE
    };
    mrb_value list = mrb_ary_new(mrb);

    (void)self;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        uint64_t timed, bounds[2];
        mrb_value facts[5];

        bounds[0] =
            petal_stats_latency(session_of(mrb)->db, (enum petal_latency_kind)i, 50, &timed);
        bounds[1] = petal_stats_latency(session_of(mrb)->db, (enum petal_latency_kind)i, 99, NULL);
        facts[0] = mrb_str_new_cstr(mrb, kinds[i].name);
        facts[1] = number(mrb, timed);
        for (size_t k = 0; k < 2; k++)
            facts[2 + k] = bounds[k] == UINT64_MAX ? mrb_nil_value() : number(mrb, bounds[k]);
        facts[4] = mrb_str_new_cstr(mrb, kinds[i].meaning);
        mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(facts), facts));
    }
    return list;
}

static mrb_value
prometheus(mrb_state *mrb, mrb_value self)
{
    mrb_value shown;
    petal_error error;
    size_t size;
    char *text;

    (void)self;
    check(mrb, petal_stats_text(session_of(mrb)->db, PETAL_PROMETHEUS, &text, &size, &error),
          &error);
    shown = mrb_str_new(mrb, text, size);
    petal_stats_text_free(text);
    return shown;
}

/* Shell.compacts?: in the background. */
static mrb_value
compacts(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(!session_of(mrb)->no_compaction);
}

void
ruby_define_store(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {
        {"commands", list_commands},
        {"command", main_name},
        {"filters", list_filters},
        {"version", version},
        {"matching", choose_matching},
        {"user", describe_user},
        {"tables", list_tables},
        {"table_name", check_table_name},
        {"open", find_table},
        {"exists?", table_exists},
        {"disabled?", is_disabled},
        {"disable", disable_table},
        {"drop", drop_table},
        {"truncate", truncate_table},
        {"check_namespace", check_namespace},
        {"sizes", sizes_of_table},
        {"enabled_table", enabled_table},
        {"files", list_files},
        {"check_files", check_files},
        {"families", list_families},
        {"clear_cache", clear_cache},
        {"snapshots", list_snapshots},
        {"snapshot_name", check_snapshot_name},
        {"make_snapshot", make_snapshot},
        {"clone_snapshot", clone_snapshot},
        {"restore_snapshot", restore_snapshot},
        {"delete_snapshot", delete_snapshot},
        {"checkpoint", make_checkpoint},
        {"counters", list_counters},
        {"failings", list_failings},
        {"latencies", list_latencies},
        {"prometheus", prometheus},
        {"compacts?", compacts},
    };

    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}
