/*
 * store.c -- of the module Shell what is about the store: tables, snapshots of tables, statistics.
 * See tools/shell/ruby/shell.h and tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/session/pattern.h"

#include <mruby/array.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_GROUPS = 256 };

static mrb_value
number(mrb_state *mrb, uint64_t value)
{
    return mrb_int_value(mrb, (mrb_int)value);
}

static mrb_value
names_value(mrb_state *mrb, const struct name_list *list)
{
    mrb_value names = mrb_ary_new_capa(mrb, (mrb_int)list->count);

    for (size_t i = 0; i < list->count; i++)
        mrb_ary_push(mrb, names, ruby_string(mrb, list->items[i]));
    return names;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static mrb_value
list_commands(mrb_state *mrb, mrb_value self)
{
    mrb_value names = mrb_ary_new(mrb);

    (void)self;
    for (const struct command *command = ruby_session(mrb)->commands; command->name != NULL;
         command++)
        mrb_ary_push(mrb, names, mrb_str_new_cstr(mrb, command->name));
    return names;
}

/* Shell.command(name): the main name of a command, nil if there is none. */
static mrb_value
main_name(mrb_state *mrb, mrb_value self)
{
    const struct command *command = command_find(ruby_session(mrb), ruby_name(mrb));

    (void)self;
    return command != NULL ? mrb_str_new_cstr(mrb, command->main_name) : mrb_nil_value();
}

/* Shell.kinds(name): what a command's arguments are, by the letters of struct command. */
static mrb_value
kinds_of_command(mrb_state *mrb, mrb_value self)
{
    const struct command *command = command_find(ruby_session(mrb), ruby_name(mrb));

    (void)self;
    return command != NULL ? mrb_str_new_cstr(mrb, command->kinds) : mrb_nil_value();
}

static mrb_value
list_namespaces(mrb_state *mrb, mrb_value self)
{
    struct name_list list = {0};

    (void)self;
    ruby_check(mrb, namespace_list(ruby_session(mrb), &list));
    return names_value(mrb, &list);
}

/* Shell.paths(typed): the files in the directory that the path names, directories with a slash at
 * the end; what begins with a dot only if more was typed. */
static mrb_value
list_paths(mrb_state *mrb, mrb_value self)
{
    petal_slice typed = ruby_name(mrb);
    const char *slash = typed.size > 0 ? memrchr(typed.data, '/', typed.size) : NULL;
    size_t before = slash != NULL ? (size_t)(slash + 1 - (const char *)typed.data) : 0;
    struct name_list paths = {0};
    const struct dirent *entry;
    struct text path = {0};
    DIR *directory;

    (void)self;
    text_add(&path, typed.data, before);
    directory = opendir(before > 0 ? text_string(&path) : ".");
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        struct stat facts;

        if (entry->d_name[0] == '.' && typed.size == before)
            continue;
        path.size = before;
        text_add_string(&path, entry->d_name);
        if (stat(text_string(&path), &facts) == 0 && S_ISDIR(facts.st_mode))
            text_add_string(&path, "/");
        name_list_add(ruby_session(mrb), &paths, text_slice(&path));
    }
    if (directory != NULL)
        (void)closedir(directory);
    text_free(&path);
    return names_value(mrb, &paths);
}

/* Shell.lines(path): those of a file, without their ends. */
static mrb_value
read_lines(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_session(mrb);
    mrb_value lines = mrb_ary_new(mrb);
    const char *path;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    FILE *file;
    int failed;

    (void)self;
    mrb_get_args(mrb, "z", &path);
    file = fopen(path, "re");
    while (file != NULL && (size = getline(&line, &room, file)) >= 0) {
        size -= size > 0 && line[size - 1] == '\n';
        size -= size > 0 && line[size - 1] == '\r';
        mrb_ary_push(mrb, lines, mrb_str_new(mrb, line, (size_t)size));
    }
    failed = file == NULL || ferror(file) != 0 ? errno : 0;
    free(line);
    if (file != NULL)
        (void)fclose(file);
    if (failed != 0)
        ruby_fail(mrb, session_fail(session, failed == ENOENT ? SHELL_NOT_FOUND : SHELL_DATA,
                                    "cannot read %.400s: %s", path, strerror(failed)));
    return lines;
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
    struct session *session = ruby_session(mrb);
    mrb_value given, names, chosen = mrb_ary_new(mrb);
    struct pattern pattern;
    struct value argument;
    enum shell_status status;
    bool *matches;

    (void)self;
    mrb_get_args(mrb, "oA", &given, &names);
    argument = ruby_to_value(mrb, given);
    matches = arena_allocate(&session->arena, (size_t)RARRAY_LEN(names));
    status = pattern_read(session, &argument, &pattern);
    for (mrb_int i = 0; i < RARRAY_LEN(names); i++)
        matches[i] = pattern_matches(&pattern, ruby_slice(RARRAY_PTR(names)[i]));
    pattern_free(&pattern);
    ruby_check(mrb, status);
    for (mrb_int i = 0; i < RARRAY_LEN(names); i++)
        if (matches[i])
            mrb_ary_push(mrb, chosen, RARRAY_PTR(names)[i]);
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

struct tables {
    struct session *session;
    struct name_list names;
};

static bool
add_table(void *argument, petal_table *table)
{
    struct tables *tables = argument;

    name_list_add(tables->session, &tables->names, petal_table_name(table));
    return true;
}

/* Shell.tables: the names of all, those of the namespace hbase too. */
static mrb_value
list_tables(mrb_state *mrb, mrb_value self)
{
    struct tables tables = {.session = ruby_session(mrb)};
    petal_error error;

    (void)self;
    if (tables.session->db != NULL)
        ruby_check_petal(mrb, petal_table_list(tables.session->db, add_table, &tables, &error),
                         &error);
    return names_value(mrb, &tables.names);
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
    ruby_check(mrb, session_table_name(ruby_session(mrb), &value, &name));
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
    ruby_check(mrb, session_any_table(ruby_session(mrb), &value, before, after, &table));
    return self;
}

/* Shell.exists?(name) */
static mrb_value
table_exists(mrb_state *mrb, mrb_value self)
{
    petal_table *table;
    petal_error error;
    enum petal_status outcome =
        petal_table_open(ruby_session(mrb)->db, ruby_name(mrb), &table, &error);

    (void)self;
    if (outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        ruby_check_petal(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
is_disabled(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(session_is_disabled(ruby_session(mrb), ruby_name(mrb)));
}

/* Shell.disable(name, yes) */
static mrb_value
disable_table(mrb_state *mrb, mrb_value self)
{
    mrb_value name;
    mrb_bool yes;

    mrb_get_args(mrb, "Sb", &name, &yes);
    session_set_disabled(ruby_session(mrb), ruby_slice(name), yes);
    return self;
}

static mrb_value
drop_table(mrb_state *mrb, mrb_value self)
{
    petal_slice name = ruby_name(mrb);
    petal_error error;

    ruby_check_petal(mrb, petal_table_drop(ruby_table(mrb, name), &error), &error);
    session_set_disabled(ruby_session(mrb), name, false);
    return self;
}

static mrb_value
truncate_table(mrb_state *mrb, mrb_value self)
{
    petal_slice name = ruby_name(mrb);
    petal_table *table = ruby_table(mrb, name);
    petal_error error;

    ruby_check_petal(mrb, petal_table_truncate(table, &table, &error), &error);
    session_set_disabled(ruby_session(mrb), name, false);
    return self;
}

/* Shell.check_namespace(name, before): is it there?  Fails with these words before the name. */
static mrb_value
check_namespace(mrb_state *mrb, mrb_value self)
{
    const char *before;
    mrb_value name;

    mrb_get_args(mrb, "Sz", &name, &before);
    ruby_check(mrb, namespace_check(ruby_session(mrb), ruby_slice(name), before));
    return self;
}

/* Shell.namespace_name(name, before): is it one?  `before` begins the complaint about a letter. */
static mrb_value
check_namespace_name(mrb_state *mrb, mrb_value self)
{
    const char *before;
    mrb_value name;

    mrb_get_args(mrb, "Sz", &name, &before);
    ruby_check(mrb, session_check_namespace(ruby_session(mrb), ruby_slice(name), before));
    return self;
}

/* Shell.write_namespace(name, whether it is new, hashes of properties) */
static mrb_value
write_namespace(mrb_state *mrb, mrb_value self)
{
    mrb_value name, hashes;
    struct value list;
    mrb_bool make;

    mrb_get_args(mrb, "SbA", &name, &make, &hashes);
    list = ruby_to_value(mrb, hashes);
    ruby_check(
        mrb, namespace_write(ruby_session(mrb), ruby_slice(name), make, list.as.items, list.count));
    return self;
}

static mrb_value
drop_namespace(mrb_state *mrb, mrb_value self)
{
    ruby_check(mrb, namespace_drop(ruby_session(mrb), ruby_name(mrb)));
    return self;
}

/* Shell.namespace_properties(name): [name, value] of each. */
static mrb_value
list_properties(mrb_state *mrb, mrb_value self)
{
    mrb_value list = mrb_ary_new(mrb);
    size_t count;

    (void)self;
    ruby_check(mrb, namespace_read(ruby_session(mrb), ruby_name(mrb), &count));
    for (size_t i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(ruby_session(mrb)->result, i);
        mrb_value pair[] = {ruby_string(mrb, cell->qualifier), ruby_string(mrb, cell->value)};

        mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(pair), pair));
    }
    return list;
}

/* How many store files a table has, and their bytes. */
struct sizes {
    struct arena *arena;
    uint64_t files, bytes;
    uint64_t *shared; /* numbers of those that are of several regions */
    size_t count, capacity;
};

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct sizes *sizes = argument;

    for (size_t i = 0; file->shared && i < sizes->count; i++)
        if (sizes->shared[i] == file->number)
            return true;
    if (file->shared) {
        sizes->shared = arena_room(sizes->arena, sizes->shared, sizes->count, &sizes->capacity,
                                   sizeof(*sizes->shared));
        sizes->shared[sizes->count++] = file->number;
    }
    sizes->files++;
    sizes->bytes += file->file_bytes;
    return true;
}

/* Shell.sizes(table): how many store files it has, their bytes, those in memory.  A table that went
 * away meanwhile has none. */
static mrb_value
sizes_of_table(mrb_state *mrb, mrb_value self)
{
    struct sizes sizes = {.arena = &ruby_session(mrb)->arena};
    uint64_t memory = 0;
    petal_table *table;
    petal_error error;
    mrb_value list = mrb_ary_new(mrb);

    (void)self;
    if (petal_table_open(ruby_session(mrb)->db, ruby_name(mrb), &table, &error) == PETAL_OK &&
        petal_table_files(table, add_file, &sizes, &error) == PETAL_OK)
        memory = petal_table_memtable_bytes(table);
    mrb_ary_push(mrb, list, number(mrb, sizes.files));
    mrb_ary_push(mrb, list, number(mrb, sizes.bytes));
    mrb_ary_push(mrb, list, number(mrb, memory));
    return list;
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
    ruby_check(mrb, session_enabled_table(ruby_session(mrb), &value, &table));
    return ruby_string(mrb, petal_table_name(table));
}

/* Shell.clear_cache(table): how many blocks left the cache. */
static mrb_value
clear_cache(mrb_state *mrb, mrb_value self)
{
    petal_table *table = ruby_table(mrb, ruby_name(mrb));
    petal_error error;
    uint64_t blocks;

    (void)self;
    ruby_check_petal(mrb, petal_cache_clear(ruby_session(mrb)->db, table, &blocks, &error), &error);
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
    struct session *session = ruby_session(snapshots->mrb);
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
    if (ruby_session(mrb)->db == NULL)
        return list;
    ruby_check_petal(
        mrb, petal_table_snapshot_list(ruby_session(mrb)->db, add_snapshot, &snapshots, &error),
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
    ruby_check(mrb, session_snapshot_name(ruby_session(mrb), &value, &name));
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
    outcome = petal_table_snapshot_create(ruby_table(mrb, ruby_slice(table)), ruby_slice(name),
                                          &options, &error);
    if (outcome != PETAL_EXISTS)
        ruby_check_petal(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

/* Shell.clone_snapshot(name, table): false if the table is there. */
static mrb_value
clone_snapshot(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_session(mrb);
    mrb_value name, clone;
    enum petal_status outcome;
    petal_table *table;
    petal_error error;

    (void)self;
    mrb_get_args(mrb, "SS", &name, &clone);
    outcome = petal_table_snapshot_clone(session->db, ruby_slice(name), ruby_slice(clone), &table,
                                         &error);
    if (outcome != PETAL_EXISTS)
        ruby_check_petal(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
restore_snapshot(mrb_state *mrb, mrb_value self)
{
    petal_table *table;
    petal_error error;

    ruby_check_petal(
        mrb, petal_table_snapshot_restore(ruby_session(mrb)->db, ruby_name(mrb), &table, &error),
        &error);
    return self;
}

/* Shell.delete_snapshot(name): false if there is none. */
static mrb_value
delete_snapshot(mrb_state *mrb, mrb_value self)
{
    petal_error error;
    enum petal_status outcome =
        petal_table_snapshot_delete(ruby_session(mrb)->db, ruby_name(mrb), &error);

    (void)self;
    if (outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        ruby_check_petal(mrb, outcome, &error);
    return mrb_bool_value(outcome == PETAL_OK);
}

static mrb_value
make_checkpoint(mrb_state *mrb, mrb_value self)
{
    const char *directory;
    petal_error error;

    mrb_get_args(mrb, "z", &directory);
    ruby_check_petal(mrb, petal_checkpoint(ruby_session(mrb)->db, directory, &error), &error);
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
    petal_stats_get(ruby_session(mrb)->db, &stats);
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
    petal_stats_get(ruby_session(mrb)->db, &stats);
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
            petal_stats_latency(ruby_session(mrb)->db, (enum petal_latency_kind)i, 50, &timed);
        bounds[1] =
            petal_stats_latency(ruby_session(mrb)->db, (enum petal_latency_kind)i, 99, NULL);
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
    petal_error error;
    petal_slice shown;
    char *text;

    (void)self;
    ruby_check_petal(
        mrb, petal_stats_text(ruby_session(mrb)->db, PETAL_PROMETHEUS, &text, &shown.size, &error),
        &error);
    shown.data = arena_copy(&ruby_session(mrb)->arena, text, shown.size);
    petal_stats_text_free(text);
    return ruby_string(mrb, shown);
}

/* Shell.compacts?: in the background. */
static mrb_value
compacts(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(!ruby_session(mrb)->no_compaction);
}

void
ruby_define_store(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {
        {"commands", list_commands},
        {"command", main_name},
        {"kinds", kinds_of_command},
        {"namespaces", list_namespaces},
        {"paths", list_paths},
        {"lines", read_lines},
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
        {"namespace_name", check_namespace_name},
        {"write_namespace", write_namespace},
        {"drop_namespace", drop_namespace},
        {"namespace_properties", list_properties},
        {"sizes", sizes_of_table},
        {"enabled_table", enabled_table},
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
