/*
 * get.c -- the point read of one row.
 *
 * A get visits the sources that may hold a cell of the row: memtables, then store files by greatest
 * timestamp, newest first. Timestamps may come from the client, so it stops early only when the
 * facts of the files that are left prove that they cannot change the answer. It is cheap by not
 * starting on a file: skip_reason() rules files out from facts that lie side by side in the view,
 * and then by the Bloom filter.
 *
 * THE EPOCH. A get that finds all it needs in memory stays inside one epoch: no lock, no count, no
 * copy but that of the answer. Nobody stays inside for long, since all readers share the slots and
 * what they could see is kept: where a block has to be read from a file, and every so many cells,
 * the get interrupts its stay. Before it leaves it makes its own what it needs on (hold_get): a
 * count on the view, pins on what the file's iterator stands on, copies of the values. The answer
 * of many cells is made outside.
 */
#include "base/inline.h"
#include "bloom/hash.h"
#include "engine/read/cursor.h"
#include "engine/read/options.h"
#include "engine/read/receipt.h"
#include "engine/read/result.h"

#include <stdlib.h>

/* ---- the stay in the epoch ---- */

struct get_stay {
    struct epoch_stay stay; /* first member */
    struct read_point point;
    struct stats_shard *stats; /* those of all slots */
    bool counted;              /* the get holds a count on the view */
    struct row_collect *collect;
    struct sst_iter *iter; /* of the file that is read; NULL: none is */
};

static enum petal_status
hold_get(struct epoch_stay *stay)
{
    struct get_stay *get = (struct get_stay *)(void *)stay;

    if (!get->counted)
        view_ref(get->point.view);
    get->counted = true;
    if (get->iter != NULL)
        sst_iter_hold(get->iter);
    return row_collect_hold(get->collect);
}

/* As of the pin, NULL: of now. */
static void
enter(struct get_stay *get, petal_db *db, const struct read_pin *pin, struct row_collect *collect)
{
    if (pin != NULL)
        read_begin_pinned(db, pin, &get->point);
    else
        read_begin(db, &get->point);
    get->stay = (struct epoch_stay){.epoch = db->epoch, .slot = get->point.slot, .hold = hold_get};
    get->stats = db->stats;
    get->counted = false;
    get->collect = collect;
    get->iter = NULL;
    collect->stay = &get->stay;
}

static void
leave(struct get_stay *get)
{
    epoch_leave(get->stay.epoch, get->stay.slot);
    if (get->counted)
        view_unref(get->point.view);
}

/* ---- one store ---- */

struct store_get {
    struct get_stay *stay;
    const petal_family *family;
    const struct store_view *store;
    struct row_collect *collect;
    const petal_read_options *options;
    uint64_t row_head;
    struct collect_depth depth;
    uint32_t files_visited;
    uint64_t filter_false_positives;
    petal_error *error;
};

/* Good until the stay is interrupted. */
static struct stats_shard *
stats_of(const struct store_get *get)
{
    return &get->stay->stats[get->stay->stay.slot];
}

static bool
may_use(const struct store_get *get, enum petal_skip skip)
{
    return read_may_use(get->options, skip);
}

static bool
outside_row_range(const struct store_get *get, const struct file_entry *file)
{
    petal_slice row = get->collect->row;

    if (get->row_head < file->row_min_head || get->row_head > file->row_max_head)
        return true;
    return (get->row_head == file->row_min_head && slice_compare(row, file->facts->row_min) < 0) ||
           (get->row_head == file->row_max_head && slice_compare(row, file->facts->row_max) > 0);
}

/* By the recorded qualifiers: which of the columns this source is to be asked for. */
static bool
ask_recorded_columns(const struct store_get *get, const struct file_entry *file)
{
    struct row_collect *collect = get->collect;
    struct version_point newest = {file->time_max, file->sequence_max};
    bool any = false;

    for (size_t i = 0; i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        column->asked = !(may_use(get, PETAL_SKIP_FOUND_NEWER) &&
                          row_collect_column_settled(collect, column, newest)) &&
                        (!may_use(get, PETAL_SKIP_COLUMNS) ||
                         sst_reader_has_qualifier(file->reader, column->key.qualifier));
        any = any || column->asked;
    }
    return any || collect->column_count == 0;
}

/*
 * What ruling `absent` columns out has saved. Where others of the row are read, only their own blocks are spared, if the row has as many. Where
 * nothing is, it may be that the file does not have the row, so that all of them would have been sought in one block.
 */
static uint64_t
blocks_saved(const struct file_facts *facts, uint64_t absent, bool others_are_read)
{
    if (!others_are_read)
        return 1;
    return facts->data_blocks / absent > facts->rows ? absent : 0;
}

/*
 * By the Bloom filter: may the file hold the row, or one of the columns still asked? Columns that it rules out are not
 * asked any more. *family_markers comes in as what the facts say and goes out as what the filter leaves of it.
 */
static bool
ask_filter(const struct store_get *get, const struct file_entry *file,
           const struct read_context *context, bool *family_markers)
{
    struct row_collect *collect = get->collect;
    bool any = false;
    uint64_t absent = 0;

    if (collect->column_count == 0 || !facts_has_column_bloom(file->facts))
        return sst_reader_may_contain_row(file->reader, &collect->row_key, collect->row_hash,
                                          context);
    for (size_t i = 0; i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        if (!column->asked)
            continue;
        column->asked =
            sst_reader_may_contain_column(file->reader, &column->key, column->hash, context);
        any = any || column->asked;
        absent += !column->asked;
    }
    if (*family_markers)
        *family_markers = sst_reader_may_contain_family_marker(
            file->reader, &collect->row_key, bloom_hash_family_marker(collect->row_hash), context);
    any = any || *family_markers;
    if (context->absent_column_saves == 0 && absent > 0)
        sst_reader_bloom_saved(file->reader, blocks_saved(file->facts, absent, any));
    return any;
}

/* Why the file is left out, cheapest test first. Sets what is asked of it otherwise. */
static enum petal_skip
skip_reason(const struct store_get *get, const struct file_entry *file,
            const struct read_context *context, bool *family_markers)
{
    enum petal_skip by_time;

    *family_markers = facts_family_markers(file->facts) > 0;
    if (may_use(get, PETAL_SKIP_ROW_RANGE) && outside_row_range(get, file))
        return PETAL_SKIP_ROW_RANGE;
    by_time = read_skip_by_time(get->options, &get->collect->visibility.rules, file->time_min,
                                file->time_max);
    if (by_time != PETAL_SKIP_NONE)
        return by_time;
    if (!ask_recorded_columns(get, file) && !*family_markers)
        return PETAL_SKIP_COLUMNS;
    if (may_use(get, PETAL_SKIP_BLOOM) && !ask_filter(get, file, context, family_markers))
        return PETAL_SKIP_BLOOM;
    return PETAL_SKIP_NONE;
}

static enum petal_status
read_file(const struct store_get *get, const struct file_entry *file,
          const struct read_context *context, bool family_markers, bool *gave_cells)
{
    uint32_t kinds = file->marker_kinds & (family_markers ? UINT32_MAX : ~COLLECT_FAMILY_MARKERS);
    struct sst_iter iter;
    size_t before = get->collect->count;
    enum petal_status status;

    /* Lazy: when the place sought lies behind a block's last cell, the index tells so without the next block. */
    sst_iter_init(&iter, file->reader, context, true, true);
    get->stay->iter = &iter;
    status = row_collect_source(get->collect, &iter.iter, kinds, get->error);
    get->stay->iter = NULL;
    iter.iter.ops->close(&iter.iter);
    *gave_cells = get->collect->count > before;
    return status;
}

static enum petal_status
visit_file(struct store_get *get, const struct file_entry *file, enum petal_skip *skip)
{
    struct read_trace trace = {0};
    bool one_question = get->collect->column_count == 1 && facts_family_markers(file->facts) == 0;
    struct read_context context = {.trace = &trace,
                                   .keep_out_of_cache = get->options->keep_out_of_cache,
                                   .absent_column_saves = one_question ? READ_SAVES_BLOCK : 0,
                                   .stay = &get->stay->stay};
    enum petal_status status = PETAL_OK;
    bool family_markers, gave_cells = true;

    *skip = skip_reason(get, file, &context, &family_markers);
    if (*skip == PETAL_SKIP_NONE)
        status = read_file(get, file, &context, family_markers, &gave_cells);
    get->filter_false_positives +=
        !gave_cells && trace.bloom_probes > 0 && trace.bloom_unasked == 0;
    read_count_trace(stats_of(get), &trace);
    if (get->options->receipt != NULL) {
        size_t at = receipt_add_file(get->options->receipt, get->family, file, *skip);

        receipt_set_trace(get->options->receipt, at, &trace);
        if (at != SIZE_MAX)
            get->options->receipt->sources[at].held_nothing = !gave_cells;
    }
    return status;
}

static enum petal_status
visit_files(struct store_get *get)
{
    const struct store_view *store = get->store;
    uint32_t skipped[PETAL_SKIP_COUNT] = {0};
    enum petal_status status = PETAL_OK;
    struct stats_shard *stats;
    uint32_t i;

    for (i = 0; status == PETAL_OK && i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];
        struct version_point newest = {file->time_max, file->sequence_max};
        enum petal_skip skip;

        if (may_use(get, PETAL_SKIP_FOUND_NEWER) && row_collect_settled(get->collect, newest))
            break;
        status = visit_file(get, file, &skip);
        skipped[skip]++;
    }
    /* The files are sorted by that point, so the answer is settled against all that are left. */
    skipped[PETAL_SKIP_FOUND_NEWER] += store->file_count - i;
    if (get->options->receipt != NULL) {
        for (; i < store->file_count; i++)
            receipt_add_file(get->options->receipt, get->family, &store->files[i],
                             PETAL_SKIP_FOUND_NEWER);
    }
    get->files_visited = i;
    stats = stats_of(get);
    STATS_ADD(stats, files_considered, store->file_count);
    STATS_ADD(stats, files_read, skipped[PETAL_SKIP_NONE]);
    STATS_ADD(stats, skipped_found_newer, skipped[PETAL_SKIP_FOUND_NEWER]);
    STATS_ADD(stats, skipped_row_range, skipped[PETAL_SKIP_ROW_RANGE]);
    STATS_ADD(stats, skipped_time_range, skipped[PETAL_SKIP_TIME_RANGE]);
    STATS_ADD(stats, skipped_expired, skipped[PETAL_SKIP_EXPIRED]);
    STATS_ADD(stats, skipped_columns, skipped[PETAL_SKIP_COLUMNS]);
    STATS_ADD(stats, skipped_bloom, skipped[PETAL_SKIP_BLOOM]);
    STATS_ADD(stats, filter_false_positives, get->filter_false_positives);
    return status;
}

static enum petal_status
visit_memtables(struct store_get *get)
{
    enum petal_status status = PETAL_OK;
    struct stats_shard *stats;
    uint32_t considered = 0, filtered = 0;

    for (uint32_t i = 0; status == PETAL_OK && i < get->store->memtable_count; i++) {
        const struct store_memtable *memtable = get->store->memtables[i];
        size_t at = SIZE_MAX;
        struct read_trace trace = {0};

        if (memtable_is_empty(memtable->memtable))
            continue;
        considered++;
        if (get->options->receipt != NULL)
            at = receipt_add_memtable(get->options->receipt, get->family, memtable);
        if (may_use(get, PETAL_SKIP_BLOOM)) {
            trace.bloom_probes = 1;
            trace.bloom_negatives =
                !memtable_may_contain_row(memtable->memtable, get->collect->row_hash);
        }
        if (trace.bloom_negatives > 0) {
            filtered++;
            if (at != SIZE_MAX)
                get->options->receipt->sources[at].skip = PETAL_SKIP_BLOOM;
        } else {
            uint64_t cells_before = get->collect->cells_read;
            uint32_t seeks_before = get->collect->seeks;
            uint32_t kinds = atomic_load_explicit(&memtable->marker_kinds, memory_order_relaxed);
            struct memtable_iter iter;

            memtable_iter_init(&iter, memtable->memtable);
            status = row_collect_source(get->collect, &iter.iter, kinds, get->error);
            iter.iter.ops->close(&iter.iter);
            trace.cells_read = get->collect->cells_read - cells_before;
            trace.seeks = get->collect->seeks - seeks_before;
        }
        if (at != SIZE_MAX)
            receipt_set_trace(get->options->receipt, at, &trace);
    }
    stats = stats_of(get);
    STATS_ADD(stats, memtables_considered, considered);
    STATS_ADD(stats, memtables_skipped, filtered);
    return status;
}

/* Column hashes are chained on the row's; only column filters ask for them. Files keep the filter type they were
 * written with, so the family's present type does not decide. */
static void
hash_columns(struct row_collect *collect, const struct store_view *store)
{
    if (store->column_blooms == 0)
        return;
    for (size_t i = 0; i < collect->column_count; i++) {
        petal_slice qualifier = collect->columns[i].key.qualifier;

        collect->columns[i].hash =
            bloom_hash_column(collect->row_hash, qualifier.data, qualifier.size);
    }
}

/* Overlap the cache misses of the filters that will be asked. */
static void
prefetch_filters(const struct store_get *get)
{
    const struct store_view *store = get->store;

    if (store->row_blooms < 2)
        return;
    for (uint32_t i = 0; i < store->file_count; i++) {
        if (!outside_row_range(get, &store->files[i]))
            sst_reader_prefetch_row(store->files[i].reader, &get->collect->row_key,
                                    get->collect->row_hash);
    }
}

/* Ask all sources that matter. */
static enum petal_status
ask_sources(struct store_get *get)
{
    enum petal_status status = visit_memtables(get);

    if (status != PETAL_OK || get->store->file_count == 0)
        return status;
    hash_columns(get->collect, get->store);
    prefetch_filters(get);
    return visit_files(get);
}

/* ---- markers of kind 10 that were left ---- */

static enum petal_status
check_memtable(struct store_get *get, const struct store_memtable *memtable, bool *found)
{
    struct memtable_iter iter;
    enum petal_status status;

    memtable_iter_init(&iter, memtable->memtable);
    status = row_collect_check_family_versions(get->collect, &iter.iter, found, get->error);
    iter.iter.ops->close(&iter.iter);
    return status;
}

static enum petal_status
check_file(struct store_get *get, const struct file_entry *file, bool *found)
{
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace,
                                   .keep_out_of_cache = get->options->keep_out_of_cache,
                                   .stay = &get->stay->stay};
    struct sst_iter iter;
    enum petal_status status;

    sst_iter_init(&iter, file->reader, &context, true, true);
    get->stay->iter = &iter;
    status = row_collect_check_family_versions(get->collect, &iter.iter, found, get->error);
    get->stay->iter = NULL;
    iter.iter.ops->close(&iter.iter);
    read_count_trace(stats_of(get), &trace);
    return status;
}

/* For answers of more cells it is cheaper to take all markers. */
#define MOST_CHECKED_CELLS 64

/* Does one of the markers that were not taken hide a cell of the answer? Then it is not *complete.
 */
static enum petal_status
check_family_versions(struct store_get *get, bool *complete)
{
    const struct store_view *store = get->store;
    enum petal_status status = PETAL_OK;
    bool found = false;

    if (get->collect->shown_count > MOST_CHECKED_CELLS) {
        get->depth.family_versions = UINT64_MAX;
        *complete = false;
        return PETAL_OK;
    }
    for (uint32_t i = 0; status == PETAL_OK && i < store->memtable_count; i++) {
        if ((atomic_load_explicit(&store->memtables[i]->marker_kinds, memory_order_relaxed) &
             marker_kind(PETAL_DELETE_FAMILY_VERSION)) != 0)
            status = check_memtable(get, store->memtables[i], &found);
    }
    for (uint32_t i = 0; status == PETAL_OK && i < get->files_visited; i++) {
        if ((store->files[i].marker_kinds & marker_kind(PETAL_DELETE_FAMILY_VERSION)) != 0 &&
            !outside_row_range(get, &store->files[i]))
            status = check_file(get, &store->files[i], &found);
    }
    *complete = !found;
    return status;
}

/* ---- the answer ---- */

static NEVER_INLINE enum petal_status
add_checked(struct store_get *get, petal_result *result, bool *complete)
{
    const struct row_collect *collect = get->collect;
    enum petal_status status = check_family_versions(get, complete);

    if (status != PETAL_OK || !*complete)
        return status;
    status = result_add(result, get->family, collect->shown, collect->shown_count);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(get->error);
}

/* More cells than these are judged and copied outside of the epoch. */
#define MOST_JUDGED_INSIDE 1024

/* Judge what the sources gave and add it to the result, if it is *complete (row_collect_finish). */
static enum petal_status
answer(struct store_get *get, petal_result *result, bool *complete)
{
    bool outside = get->collect->count > MOST_JUDGED_INSIDE;
    enum petal_status status = outside ? epoch_interrupt(&get->stay->stay) : PETAL_OK;
    bool to_check;

    if (status != PETAL_OK)
        return error_no_memory(get->error);
    status = row_collect_finish(get->collect, complete);
    to_check = *complete && get->collect->family_versions_left;
    if (status == PETAL_OK && *complete && !to_check)
        status = result_add(result, get->family, get->collect->shown, get->collect->shown_count);
    if (outside)
        epoch_resume(&get->stay->stay);
    if (status != PETAL_OK)
        return error_no_memory(get->error);
    return to_check ? add_checked(get, result, complete) : PETAL_OK;
}

/* How many versions more than wanted are taken of each source when it is asked a second time. */
#define FIRST_SPARE_VERSIONS 16

/* How many markers of kind 10 are taken of each source at first. */
#define FIRST_FAMILY_VERSIONS 64

/* Take twice as much. */
static void
deepen(struct collect_depth *depth)
{
    depth->spare_versions =
        depth->spare_versions == 0 ? FIRST_SPARE_VERSIONS : 2 * depth->spare_versions;
    if (depth->family_versions <= UINT64_MAX / 2)
        depth->family_versions *= 2;
}

/*
 * Answer the part of a get that concerns one family, from its part of the view. Sources are asked
 * again only where a marker of a single version was written after the version and stands in a file
 * of older timestamps, or behind many others of the row; they then give at least twice as much as
 * before.
 */
static enum petal_status
store_get(petal_family *family, struct get_stay *stay, petal_slice row, uint64_t row_hash,
          const petal_read_options *options, const petal_slice *qualifiers, size_t count,
          petal_result *result, petal_error *error)
{
    struct row_collect *collect = &result->collect;
    struct store_get get = {
        .stay = stay,
        .family = family,
        .store = view_store(stay->point.view, family),
        .collect = collect,
        .options = options,
        .row_head = slice_head(row, 0),
        .depth.family_versions = FIRST_FAMILY_VERSIONS,
        .error = error,
    };
    struct receipt_mark mark;
    bool complete;

    if (get.store == NULL)
        return PETAL_OK;
    if (family->unusable)
        return family_check_usable(family, error);
    collect->receipt = options->receipt;
    collect->family = family->name;
    read_rules(options, family, get.store, false, read_sequence(options, &stay->point),
               &collect->visibility.rules);
    if (collect->visibility.rules.new_version_behavior) {
        result->must_walk = true;
        return PETAL_OK;
    }
    STATS_ADD(stats_of(&get), gets, 1);
    if (options->receipt != NULL)
        mark = receipt_mark(options->receipt);
    row_collect_forget_hiding(collect);
    for (;;) {
        enum petal_status status =
            row_collect_start(collect, row, row_hash, qualifiers, count, &get.depth);

        status = status == PETAL_OK ? ask_sources(&get) : error_no_memory(error);
        if (status == PETAL_OK)
            status = answer(&get, result, &complete);
        if (status != PETAL_OK) {
            damage_name(family, error);
            return status;
        }
        if (complete)
            break;
        if (options->receipt != NULL)
            receipt_forget_hidden(options->receipt, &mark);
        deepen(&get.depth);
    }
    return PETAL_OK;
}

/* ---- public calls ---- */

#define FEW_QUALIFIERS 16

/* The qualifiers asked of each family are gathered on the stack when they are few. */
static enum petal_status
get_families(const struct table_descriptor *descriptor, petal_slice row,
             const petal_read_options *options, struct get_stay *stay, petal_slice *qualifiers,
             petal_result *result, petal_error *error)
{
    const petal_db *db = descriptor->families[0]->table->db;
    uint64_t row_hash = bloom_hash_row(db->salt, row.data, row.size);
    enum petal_status status = PETAL_OK;

    result->must_walk = false;
    for (size_t i = 0; status == PETAL_OK && !result->must_walk && i < descriptor->family_count;
         i++) {
        petal_family *family = descriptor->families[i];
        size_t count;

        if (read_asks_family(options, family, qualifiers, &count))
            status =
                store_get(family, stay, row, row_hash, options, qualifiers, count, result, error);
    }
    return status;
}

/* Gets that only a walk through the row can answer: with a filter, limits, or versions in the order of writes. An alteration that
 * switches the last on behind this call is noticed by store_get. */
static bool
needs_walk(const petal_table *table, const petal_read_options *options)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    bool needs = options->filter != NULL || options->family_cell_limit > 0 ||
                 options->family_cell_offset > 0;

    for (size_t i = 0; !needs && i < descriptor->family_count; i++)
        needs = family_options(descriptor->families[i])->new_version_behavior &&
                read_asks_family(options, descriptor->families[i], NULL, &(size_t){0});
    return needs;
}

static enum petal_status
get_row(const struct table_descriptor *descriptor, petal_slice row,
        const petal_read_options *options, struct get_stay *stay, petal_slice *qualifiers,
        petal_result *result, petal_error *error)
{
    enum petal_status status;

    if (options->receipt != NULL)
        receipt_start(options->receipt, stay->point.view);
    status = result_start(result, row);
    if (status == PETAL_OK)
        status = get_families(descriptor, row, options, stay, qualifiers, result, error);
    else
        error_no_memory(error);
    if (status == PETAL_OK && options->receipt != NULL) {
        options->receipt->bytes_returned = result->count > 0 ? result->byte_count : 0;
        if (options->receipt->incomplete)
            status = error_no_memory(error);
    }
    if (status != PETAL_OK)
        result->count = 0;
    return status;
}

/* As of the pin, NULL: of now. `descriptor` was taken before the view: so the view has all families that are in it, but for those
 * that were dropped. */
static enum petal_status
get_as_of(petal_table *table, const struct table_descriptor *descriptor, const struct read_pin *pin,
          petal_slice row, const petal_read_options *options, petal_result *result,
          petal_error *error)
{
    petal_slice few[FEW_QUALIFIERS];
    petal_slice *qualifiers = few;
    struct get_stay stay;
    enum petal_status status;

    if (options->column_count > FEW_QUALIFIERS) {
        qualifiers =
            mem_alloc(table->db->env.allocator, options->column_count * sizeof *qualifiers);
        if (qualifiers == NULL)
            return error_no_memory(error);
    }
    enter(&stay, table->db, pin, &result->collect);
    status = read_check_alive(table, options, error);
    if (status == PETAL_OK)
        status = get_row(descriptor, row, options, &stay, qualifiers, result, error);
    leave(&stay);
    if (qualifiers != few)
        mem_free(table->db->env.allocator, qualifiers, options->column_count * sizeof *qualifiers);
    return status;
}

static enum petal_status
check_get(const petal_table *table, const petal_read_options *options, petal_error *error)
{
    enum petal_status status = read_check_options(table, options, error);

    if (status == PETAL_OK && options->versions < 0)
        return error_set(error, PETAL_INVALID, "a get of %ld versions; at least 1 is wanted",
                         (long)options->versions);
    return status;
}

/* With options that read_options_init has filled in; by a cursor where the row has to be walked. */
static inline enum petal_status
get_by_either_way(petal_table *table, petal_slice row, const petal_read_options *options,
                  petal_result *result, petal_error *error)
{
    enum petal_status status;

    if (needs_walk(table, options))
        return cursor_get_row(table, row, options, result, error);
    status = get_as_of(table, table_descriptor(table), NULL, row, options, result, error);
    return status == PETAL_OK && result->must_walk
               ? cursor_get_row(table, row, options, result, error)
               : status;
}

enum petal_status
petal_get(petal_table *table, petal_slice row, const petal_read_options *given,
          petal_result *result, petal_error *error)
{
    petal_read_options options;
    enum petal_status status;

    result->count = 0;
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = read_options_init(&options, given, error);
    if (status == PETAL_OK)
        status = read_check_row(row, error);
    if (status == PETAL_OK)
        status = check_get(table, &options, error);
    return status == PETAL_OK ? get_by_either_way(table, row, &options, result, error) : status;
}

/* ---- several rows ---- */

struct wanted_row {
    petal_slice row;
    petal_result *result;
};

static int
compare_wanted(const void *a, const void *b)
{
    return slice_compare(((const struct wanted_row *)a)->row, ((const struct wanted_row *)b)->row);
}

/* In the order that they stand in, that of the rows: those of one block follow each other. */
static enum petal_status
get_sorted(petal_table *table, struct wanted_row *wanted, size_t count,
           const petal_read_options *options, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        status = read_check_row(wanted[i].row, error);
        if (status == PETAL_OK)
            status = get_by_either_way(table, wanted[i].row, options, wanted[i].result, error);
    }
    return status;
}

/* The same as of one moment, from one view. *walk: it cannot be done so, since a row has to be walked. */
static enum petal_status
get_pinned(petal_table *table, struct wanted_row *wanted, size_t count,
           const petal_read_options *options, bool *walk, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    struct read_pin pin = read_pin(table->db);
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && !*walk && i < count; i++) {
        status = read_check_row(wanted[i].row, error);
        if (status == PETAL_OK)
            status =
                get_as_of(table, descriptor, &pin, wanted[i].row, options, wanted[i].result, error);
        *walk = status == PETAL_OK && wanted[i].result->must_walk;
    }
    view_unref(pin.view);
    return status;
}

/* A row that has to be walked is read by a cursor, which pins a view of its own: a snapshot makes it one moment for all. */
static enum petal_status
get_at_snapshot(petal_table *table, struct wanted_row *wanted, size_t count,
                petal_read_options *options, petal_error *error)
{
    petal_snapshot *snapshot = NULL;
    enum petal_status status = PETAL_OK;

    if (options->snapshot == NULL) {
        status = petal_snapshot_new(table->db, &snapshot, error);
        options->snapshot = snapshot;
    }
    if (status == PETAL_OK)
        status = get_sorted(table, wanted, count, options, error);
    petal_snapshot_free(snapshot);
    return status;
}

enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *given, petal_result *const *results, petal_error *error)
{
    petal_db *db = table->db;
    petal_read_options options;
    struct wanted_row *wanted;
    bool walk = false;
    enum petal_status status;

    for (size_t i = 0; i < count; i++)
        results[i]->count = 0;
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (count == 0)
        return PETAL_OK;
    status = read_options_init(&options, given, error);
    if (status != PETAL_OK)
        return status;
    wanted = mem_alloc(db->env.allocator, count * sizeof *wanted);
    status = wanted != NULL ? check_get(table, &options, error) : error_no_memory(error);
    for (size_t i = 0; wanted != NULL && i < count; i++)
        wanted[i] = (struct wanted_row){rows[i], results[i]};
    if (status == PETAL_OK) {
        walk = needs_walk(table, &options);
        qsort(wanted, count, sizeof *wanted, compare_wanted);
        if (!walk && options.snapshot == NULL)
            status = get_pinned(table, wanted, count, &options, &walk, error);
        else
            walk = true;
    }
    if (status == PETAL_OK && walk)
        status = get_at_snapshot(table, wanted, count, &options, error);
    for (size_t i = 0; status != PETAL_OK && i < count; i++)
        results[i]->count = 0;
    mem_free(db->env.allocator, wanted, count * sizeof *wanted);
    return status;
}
