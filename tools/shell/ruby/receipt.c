/*
 * receipt.c -- explain: a read whose answer is not shown; and of the module Shell its receipt.  See
 * tools/shell/ruby/commands/explain.rb and tools/shell/ruby/state.h.
 */
#include "tools/shell/data/read.h"
#include "tools/shell/ruby/facts.h"
#include "tools/shell/ruby/shell.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/hash.h>
#include <mruby/numeric.h>
#include <mruby/string.h>

#define OF_SOURCE(name, form) FACT(petal_receipt_source, name, form)
#define BLOCKS(name, list, kind)                                                                   \
    {                                                                                              \
        name, offsetof(petal_receipt_source, list[PETAL_BLOCK_##kind]), FACT_NUMBER_32, NULL       \
    }

static const struct fact source_facts[] = {
    OF_SOURCE(family, BYTES),
    OF_SOURCE(file_number, NUMBER),
    OF_SOURCE(filter_probes, NUMBER_32),
    OF_SOURCE(filter_negatives, NUMBER_32),
    OF_SOURCE(filter_unasked, NUMBER_32),
    OF_SOURCE(held_nothing, TRUTH),
    OF_SOURCE(seeks, NUMBER_32),
    OF_SOURCE(seeks_saved, NUMBER_32),
    OF_SOURCE(bytes_fetched, NUMBER),
    OF_SOURCE(row_min, BYTES),
    OF_SOURCE(row_max, BYTES),
    OF_SOURCE(time_min, NUMBER),
    OF_SOURCE(time_max, NUMBER),
    OF_SOURCE(sequence_min, NUMBER),
    OF_SOURCE(sequence_max, NUMBER),
    OF_SOURCE(cells, NUMBER),
    OF_SOURCE(region, NUMBER_32),
    BLOCKS("data_cached", blocks_cached, DATA),
    BLOCKS("data_fetched", blocks_fetched, DATA),
    BLOCKS("index_cached", blocks_cached, INDEX),
    BLOCKS("index_fetched", blocks_fetched, INDEX),
    BLOCKS("filter_cached", blocks_cached, FILTER),
    BLOCKS("filter_fetched", blocks_fetched, FILTER),
};

static enum shell_status
run_query(struct session *session, const struct value *arguments, size_t count, bool get,
          struct read_counts *counts, struct value *row, struct value *table)
{
    struct query query;
    enum shell_status status = get ? query_read_get(session, arguments, count, &query)
                                   : query_read_scan(session, QUERY_SCAN, arguments, count, &query);

    query.scan.read.receipt = session->receipt;
    if (status == SHELL_FINE)
        status = get ? read_get(session, &query, false, counts)
                     : read_scan(session, &query, false, counts);
    *row = get ? value_string(query.row) : value_nil();
    if (status == SHELL_FINE)
        *table = value_string(petal_table_name(query.table));
    query_end(&query);
    return status;
}

/* The read is C's; what its receipt tells is shown by the method of Commands. */
COMMAND_FUNCTION(command_explain)
{
    bool get = slice_is(arguments[0].as.bytes, "get");
    const struct command *read;
    struct read_counts counts;
    struct value found[4];
    enum shell_status status;

    if (!get && !slice_is(arguments[0].as.bytes, "scan"))
        return session_fail(session, SHELL_USAGE, "explain takes a get or a scan");
    read = command_find(session, arguments[0].as.bytes);
    if (count - 1 < read->least || count - 1 > read->most)
        return run_fail_count(session, read, count - 1);
    status = run_query(session, arguments + 1, count - 1, get, &counts, &found[0], &found[3]);
    if (status != SHELL_FINE)
        return status;
    found[1] = value_integer((int64_t)counts.rows);
    found[2] = value_integer((int64_t)counts.cells);
    return command_in_ruby(session, found, COUNT_OF(found), result);
}

static void
put(mrb_state *mrb, mrb_value hash, const char *name, mrb_value value)
{
    mrb_hash_set(mrb, hash, mrb_str_new_cstr(mrb, name), value);
}

static mrb_value
list_sources(mrb_state *mrb, const petal_receipt *receipt)
{
    mrb_value list = mrb_ary_new(mrb);

    for (size_t i = 0; i < petal_receipt_count(receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(receipt, i);
        int arena = mrb_gc_arena_save(mrb);
        mrb_value hash = mrb_hash_new(mrb);

        ruby_add_facts(mrb, hash, source_facts, COUNT_OF(source_facts), source);
        if (source->skip != PETAL_SKIP_NONE)
            put(mrb, hash, "skip", mrb_str_new_cstr(mrb, petal_skip_text(source->skip)));
        mrb_ary_push(mrb, list, hash);
        mrb_gc_arena_restore(mrb, arena);
    }
    return list;
}

static mrb_value
list_hidden_cells(mrb_state *mrb, const petal_receipt *receipt)
{
    mrb_value list = mrb_ary_new(mrb);
    petal_hidden_cell cell;

    for (size_t i = 0; petal_receipt_hidden_at(receipt, i, &cell); i++) {
        mrb_value parts[] = {ruby_string(mrb, cell.row), ruby_string(mrb, cell.family),
                             ruby_string(mrb, cell.qualifier), mrb_int_value(mrb, cell.timestamp),
                             mrb_str_new_cstr(mrb, petal_hidden_text(cell.by))};

        mrb_ary_push(mrb, list, mrb_ary_new_from_values(mrb, COUNT_OF(parts), parts));
    }
    return list;
}

/* Shell.receipt: of the latest read. */
static mrb_value
describe_receipt(mrb_state *mrb, mrb_value self)
{
    const petal_receipt *receipt = ruby_session(mrb)->receipt;
    mrb_value hash = mrb_hash_new(mrb), reasons = mrb_ary_new(mrb);

    (void)self;
    put(mrb, hash, "sources", list_sources(mrb, receipt));
    put(mrb, hash, "hidden", mrb_int_value(mrb, (mrb_int)petal_receipt_cells_hidden(receipt)));
    put(mrb, hash, "bytes_returned",
        mrb_int_value(mrb, (mrb_int)petal_receipt_bytes_returned(receipt)));
    put(mrb, hash, "cells", list_hidden_cells(mrb, receipt));
    for (int by = 0; by < PETAL_HIDDEN_COUNT; by++) {
        uint64_t count = petal_receipt_hidden(receipt, (enum petal_hidden)by);
        mrb_value pair[] = {mrb_str_new_cstr(mrb, petal_hidden_text((enum petal_hidden)by)),
                            mrb_int_value(mrb, (mrb_int)count)};

        if (count > 0)
            mrb_ary_push(mrb, reasons, mrb_ary_new_from_values(mrb, COUNT_OF(pair), pair));
    }
    put(mrb, hash, "reasons", reasons);
    return hash;
}

/* Shell.skips: why sources are skipped, in words. */
static mrb_value
list_skips(mrb_state *mrb, mrb_value self)
{
    mrb_value list = mrb_ary_new(mrb);

    (void)self;
    for (int skip = PETAL_SKIP_NONE + 1; skip < PETAL_SKIP_COUNT; skip++)
        mrb_ary_push(mrb, list, mrb_str_new_cstr(mrb, petal_skip_text((enum petal_skip)skip)));
    return list;
}

void
ruby_define_receipt(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {{"receipt", describe_receipt},
                                                     {"skips", list_skips}};

    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}
