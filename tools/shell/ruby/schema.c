/*
 * schema.c -- of the module Shell what tells how tables are made and what their store files are, as
 * hashes, and makes tables of such.  See tools/shell/ruby/commands/schema.rb and
 * tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/facts.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/schema/words.h"
#include "tools/shell/session/opening.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/error.h>
#include <mruby/hash.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

/* ---- Store files ----------------------------------------------------------------------------- */

static const struct fact file_facts[] = {
    FACT(petal_file_info, family, BYTES),          FACT(petal_file_info, number, NUMBER),
    FACT(petal_file_info, file_bytes, NUMBER),     FACT(petal_file_info, data_bytes, NUMBER),
    FACT(petal_file_info, raw_data_bytes, NUMBER), FACT(petal_file_info, index_bytes, NUMBER),
    FACT(petal_file_info, filter_bytes, NUMBER),   FACT(petal_file_info, cells, NUMBER),
    FACT(petal_file_info, rows, NUMBER),           FACT(petal_file_info, markers, NUMBER),
    FACT(petal_file_info, data_blocks, NUMBER),    FACT(petal_file_info, row_min, BYTES),
    FACT(petal_file_info, row_max, BYTES),         FACT(petal_file_info, time_min, NUMBER),
    FACT(petal_file_info, time_max, NUMBER),       FACT(petal_file_info, sequence_min, NUMBER),
    FACT(petal_file_info, sequence_max, NUMBER),   CHOICE(petal_file_info, bloom, bloom),
    FACT(petal_file_info, bloom_error_rate, REAL), FACT(petal_file_info, bloom_keys, NUMBER),
    FACT(petal_file_info, bloom_chunks, NUMBER),   FACT(petal_file_info, run, NUMBER),
    FACT(petal_file_info, region, NUMBER_32),      CHOICE(petal_file_info, bloom_kind, bloom_kind)};

static const struct fact gets_facts[] = {FACT(struct file_history, reads, NUMBER),
                                         FACT(struct file_history, probes, NUMBER),
                                         FACT(struct file_history, negatives, NUMBER),
                                         FACT(struct file_history, false_positives, NUMBER),
                                         FACT(struct file_history, data_cached, NUMBER),
                                         FACT(struct file_history, data_fetched, NUMBER)};

/* Copies in the arena: nothing of Ruby's is made while the library visits. */
struct files {
    struct arena *arena;
    petal_file_info *items;
    size_t count, capacity;
};

static bool
gather_file(void *argument, const petal_file_info *file)
{
    struct files *files = argument;
    petal_file_info *item;

    files->items = arena_room(files->arena, files->items, files->count, &files->capacity,
                              sizeof(*files->items));
    item = &files->items[files->count++];
    *item = *file;
    item->family.data = arena_copy(files->arena, file->family.data, file->family.size);
    item->row_min.data = arena_copy(files->arena, file->row_min.data, file->row_min.size);
    item->row_max.data = arena_copy(files->arena, file->row_max.data, file->row_max.size);
    return true;
}

/* Shell.files(table): those that can be opened, with what the session's gets did to them;
 * Shell.check_files(table) tells what others lack. */
static mrb_value
list_files(mrb_state *mrb, mrb_value self)
{
    static const struct file_history none;
    struct files files = {.arena = &ruby_session(mrb)->arena};
    mrb_value list = mrb_ary_new(mrb);
    petal_error error;

    (void)self;
    (void)!petal_table_files(ruby_table(mrb, ruby_name(mrb)), gather_file, &files, &error);
    for (size_t i = 0; i < files.count; i++) {
        const struct file_history *gets =
            get_history_file(&ruby_session(mrb)->history, files.items[i].number);
        int arena = mrb_gc_arena_save(mrb);
        mrb_value hash = mrb_hash_new(mrb);

        ruby_add_facts(mrb, hash, file_facts, COUNT_OF(file_facts), &files.items[i]);
        ruby_add_facts(mrb, hash, gets_facts, COUNT_OF(gets_facts), gets != NULL ? gets : &none);
        mrb_ary_push(mrb, list, hash);
        mrb_gc_arena_restore(mrb, arena);
    }
    return list;
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

    ruby_check_petal(
        mrb, petal_table_files(ruby_table(mrb, ruby_name(mrb)), pass_file, NULL, &error), &error);
    return self;
}

/* ---- Tables and families --------------------------------------------------------------------- */

static const struct fact family_facts[] = {
    FACT(petal_family_options, name, BYTES),
    FACT(petal_family_options, versions, NUMBER_32),
    FACT(petal_family_options, min_versions, NUMBER_32),
    FACT(petal_family_options, ttl_seconds, NUMBER_32),
    CHOICE(petal_family_options, keep_deleted_cells, keep_deleted),
    FACT(petal_family_options, new_version_behavior, TRUTH),
    FACT(petal_family_options, block_bytes, NUMBER_32),
    CHOICE(petal_family_options, compression, compression),
    CHOICE(petal_family_options, bloom, bloom),
    FACT(petal_family_options, bloom_prefix_bytes, NUMBER_32),
    FACT(petal_family_options, bloom_error_rate, REAL),
    FACT(petal_family_options, bloom_rate_per_file, TRUTH),
    FACT(petal_family_options, in_memory, TRUTH),
    FACT(petal_family_options, no_block_cache, TRUTH),
    CHOICE(petal_family_options, bloom_kind, bloom_kind)};

static const struct fact table_facts[] = {FACT(petal_table_options, name, BYTES),
                                          CHOICE(petal_table_options, durability, durability),
                                          FACT(petal_table_options, read_only, TRUTH)};

static void
add_attributes(mrb_state *mrb, mrb_value hash, const petal_attribute *attributes, size_t count)
{
    mrb_value list = mrb_ary_new(mrb);

    for (size_t i = 0; i < count; i++) {
        mrb_value parts[] = {mrb_int_value(mrb, attributes[i].kind),
                             ruby_string(mrb, attributes[i].name),
                             ruby_string(mrb, attributes[i].value)};

        mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(parts), parts));
    }
    mrb_hash_set(mrb, hash, mrb_str_new_lit(mrb, "attributes"), list);
}

/* Shell.describe(table) */
static mrb_value
describe_table(mrb_state *mrb, mrb_value self)
{
    petal_table_options options = {.size = sizeof(options)};
    mrb_value hash = mrb_hash_new(mrb), families = mrb_ary_new(mrb);

    (void)self;
    petal_table_describe(ruby_table(mrb, ruby_name(mrb)), &options);
    ruby_add_facts(mrb, hash, table_facts, COUNT_OF(table_facts), &options);
    add_attributes(mrb, hash, options.attributes, options.attribute_count);
    for (size_t i = 0; i < options.family_count; i++) {
        const petal_family_options *family = &options.families[i];
        int arena = mrb_gc_arena_save(mrb);
        mrb_value item = mrb_hash_new(mrb);

        ruby_add_facts(mrb, item, family_facts, COUNT_OF(family_facts), family);
        add_attributes(mrb, item, family->attributes, family->attribute_count);
        mrb_ary_push(mrb, families, item);
        mrb_gc_arena_restore(mrb, arena);
    }
    mrb_hash_set(mrb, hash, mrb_str_new_lit(mrb, "families"), families);
    return hash;
}

static const petal_attribute *
take_attributes(mrb_state *mrb, mrb_value hash, size_t *count)
{
    mrb_value list = ruby_value_in(mrb, hash, "attributes");
    petal_attribute *attributes;

    *count = (size_t)RARRAY_LEN(list);
    attributes = arena_allocate(&ruby_session(mrb)->arena, *count * sizeof(*attributes));
    for (size_t i = 0; i < *count; i++) {
        const mrb_value *parts = RARRAY_PTR(RARRAY_PTR(list)[i]);

        attributes[i] = (petal_attribute){(enum petal_attribute_kind)mrb_integer(parts[0]),
                                          ruby_slice(parts[1]), ruby_slice(parts[2])};
    }
    return attributes;
}

/* The rows at which a new table is split; what is there already has none. */
static const petal_slice *
take_splits(mrb_state *mrb, mrb_value hash, size_t *count)
{
    mrb_value list = ruby_value_in(mrb, hash, "splits");
    petal_slice *rows;

    if (mrb_nil_p(list) || RARRAY_LEN(list) == 0)
        return NULL;
    *count = (size_t)RARRAY_LEN(list);
    rows = arena_allocate(&ruby_session(mrb)->arena, *count * sizeof(*rows));
    for (size_t i = 0; i < *count; i++)
        rows[i] = ruby_slice(RARRAY_PTR(list)[i]);
    return rows;
}

/* The options point into the hash. */
static petal_table_options
take_table(mrb_state *mrb, mrb_value hash)
{
    petal_table_options options = {.size = sizeof(options)};
    mrb_value list = ruby_value_in(mrb, hash, "families");
    petal_family_options *families;

    ruby_take_facts(mrb, hash, table_facts, COUNT_OF(table_facts), &options);
    options.attributes = take_attributes(mrb, hash, &options.attribute_count);
    options.family_count = (size_t)RARRAY_LEN(list);
    families = arena_allocate(&ruby_session(mrb)->arena, options.family_count * sizeof(*families));
    for (size_t i = 0; i < options.family_count; i++) {
        mrb_value item = RARRAY_PTR(list)[i];

        families[i] = (petal_family_options){.size = sizeof(*families)};
        ruby_take_facts(mrb, item, family_facts, COUNT_OF(family_facts), &families[i]);
        families[i].attributes = take_attributes(mrb, item, &families[i].attribute_count);
    }
    options.families = families;
    options.splits = take_splits(mrb, hash, &options.split_count);
    return options;
}

/* Shell.create(table): makes the database, too, once nothing can be wrong with it any more. */
static mrb_value
create_table(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_session(mrb);
    petal_table_options options;
    enum petal_status outcome;
    petal_table *table;
    petal_error error;
    mrb_value hash;

    mrb_get_args(mrb, "H", &hash);
    options = take_table(mrb, hash);
    ruby_check(mrb, namespace_check_new_table(session, options.name));
    ruby_check_petal(mrb, petal_table_check(&options, &error), &error);
    ruby_check(mrb, session_make_database(session));
    outcome = petal_table_create(session->db, &options, &table, &error);
    if (outcome == PETAL_EXISTS)
        ruby_fail(mrb, session_fail(session, SHELL_USAGE, "Table already exists: %.*s!",
                                    SLICE(options.name)));
    ruby_check_petal(mrb, outcome, &error);
    session_set_disabled(session, options.name, false);
    return self;
}

/* Shell.alter(table) */
static mrb_value
alter_table(mrb_state *mrb, mrb_value self)
{
    petal_table_options options;
    petal_error error;
    mrb_value hash;

    mrb_get_args(mrb, "H", &hash);
    options = take_table(mrb, hash);
    ruby_check_petal(mrb, petal_table_alter(ruby_table(mrb, options.name), &options, &error),
                     &error);
    return self;
}

/* Shell.tell_damage(table): the attributes of a family whose files are damaged are known nevertheless;
 * standard error says what is the matter with them. */
static mrb_value
tell_damage(mrb_state *mrb, mrb_value self)
{
    struct session *session = ruby_session(mrb);
    petal_table *table = ruby_table(mrb, ruby_name(mrb));
    struct text text = {0};
    petal_error error;

    output_flush(&session->output);
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        if (petal_family_check(petal_table_family_at(table, i), &error) != PETAL_CORRUPT)
            continue;
        text_clear(&text);
        session_describe_error(session, &text, &error);
        (void)fprintf(stderr, "kv-shell: %s\n", text_string(&text));
    }
    text_free(&text);
    return self;
}

/* ---- The commands that make a table ---------------------------------------------------------- */

struct creation {
    petal_slice table;
    struct text *creation, *closing;
};

static mrb_value
call_creation(mrb_state *mrb, void *context)
{
    struct creation *creation = context;
    mrb_value commands;

    commands = mrb_funcall(mrb, ruby_module(mrb, "Schema"), "creation", 1,
                           ruby_string(mrb, creation->table));
    text_add_slice(creation->creation, ruby_slice(RARRAY_PTR(commands)[0]));
    if (mrb_string_p(RARRAY_PTR(commands)[1]))
        text_add_slice(creation->closing, ruby_slice(RARRAY_PTR(commands)[1]));
    return mrb_nil_value();
}

void
ruby_describe_creation(struct session *session, petal_slice table, struct text *creation,
                       struct text *closing)
{
    struct creation call = {table, creation, closing};
    mrb_bool failed;

    (void)mrb_protect_error(session->ruby->mrb, call_creation, &call, &failed);
}

void
ruby_define_schema(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {
        {"files", list_files},    {"check_files", check_files}, {"describe", describe_table},
        {"create", create_table}, {"alter", alter_table},       {"tell_damage", tell_damage},
    };

    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}
