/*
 * regions.c -- of the module Shell what is about the regions of a table.  See
 * tools/shell/ruby/commands/regions.rb and tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/facts.h"

#include <mruby/array.h>
#include <mruby/hash.h>

static const struct fact region_facts[] = {
    FACT(petal_region_info, id, NUMBER_32),      FACT(petal_region_info, start, BYTES),
    FACT(petal_region_info, end, BYTES),         FACT(petal_region_info, files, NUMBER),
    FACT(petal_region_info, file_bytes, NUMBER), FACT(petal_region_info, memtable_bytes, NUMBER),
    FACT(petal_region_info, cells, NUMBER)};

/* Copies in the arena: nothing of Ruby's is made while the library visits. */
struct regions {
    struct arena *arena;
    petal_region_info *items;
    size_t count, capacity;
};

static bool
gather_region(void *argument, const petal_region_info *info)
{
    struct regions *regions = argument;
    petal_region_info *item;

    regions->items = arena_room(regions->arena, regions->items, regions->count, &regions->capacity,
                                sizeof(*regions->items));
    item = &regions->items[regions->count++];
    *item = *info;
    item->start.data = arena_copy(regions->arena, info->start.data, info->start.size);
    item->end.data = arena_copy(regions->arena, info->end.data, info->end.size);
    return true;
}

/* Shell.regions(table): in the order of rows. */
static mrb_value
list_regions(mrb_state *mrb, mrb_value self)
{
    struct regions regions = {.arena = &ruby_session(mrb)->arena};
    mrb_value list = mrb_ary_new(mrb);
    petal_error error;

    (void)self;
    ruby_check_petal(
        mrb, petal_table_regions(ruby_table(mrb, ruby_name(mrb)), gather_region, &regions, &error),
        &error);
    for (size_t i = 0; i < regions.count; i++) {
        int arena = mrb_gc_arena_save(mrb);
        mrb_value hash = mrb_hash_new(mrb);

        ruby_add_facts(mrb, hash, region_facts, COUNT_OF(region_facts), &regions.items[i]);
        mrb_ary_push(mrb, list, hash);
        mrb_gc_arena_restore(mrb, arena);
    }
    return list;
}

/* Shell.split(table, row, region): before the row, or if it is empty the region in its middle; 0: all
 * regions. */
static mrb_value
split_table(mrb_state *mrb, mrb_value self)
{
    mrb_value name, row;
    petal_error error;
    mrb_int region;

    mrb_get_args(mrb, "SSi", &name, &row, &region);
    ruby_check_petal(mrb,
                     petal_table_split(ruby_table(mrb, ruby_slice(name)), ruby_slice(row),
                                       (uint32_t)region, &error),
                     &error);
    return self;
}

/* Shell.merge(table, region, other) */
static mrb_value
merge_regions(mrb_state *mrb, mrb_value self)
{
    mrb_value name;
    petal_error error;
    mrb_int region, other;

    mrb_get_args(mrb, "Sii", &name, &region, &other);
    ruby_check_petal(mrb,
                     petal_table_merge(ruby_table(mrb, ruby_slice(name)), (uint32_t)region,
                                       (uint32_t)other, &error),
                     &error);
    return self;
}

void
ruby_define_regions(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {
        {"regions", list_regions}, {"split", split_table}, {"merge", merge_regions}};

    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}
