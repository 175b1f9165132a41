/*
 * get.c -- the point read of one row, told from top to bottom: memtables, files, markers that were
 * left, the answer, one family, the row. Most gets never come here: see fast_get.h.
 *
 * A get visits the sources that may hold a cell of the row: memtables, then store files by greatest
 * timestamp, newest first. Timestamps may come from the client, so it stops early only when the
 * facts of the files that are left prove that they cannot change the answer. It is cheap by not
 * starting on a file: skip_file (engine/read/skip.h) rules files out. What is left gives the cells
 * that matter to a collector (engine/read/collect.h), which puts them in order and at last decides
 * on them.
 *
 * THE EPOCH. A get that finds all it needs in memory stays inside one epoch: no lock, no count, no
 * copy but that of the answer. Nobody stays inside for long, since all readers share the slots and
 * what they could see is kept: where a block has to be read from a file, and every so many cells,
 * the get interrupts its stay. Before it leaves it makes its own what it needs on (hold_get): a
 * count on the view, pins on what the file's iterator stands on, copies of the values. The answer
 * of many cells is made outside.
 */
#include "engine/read/get.h"

#include "base/inline.h"
#include "bloom/hash.h"
#include "engine/read/cursor.h"
#include "engine/read/receipt.h"
#include "engine/read/result.h"
#include "engine/read/skip.h"

#include <assert.h>

struct get {
    struct epoch_stay stay;    /* first member */
    struct get_start start;    /* its slot is the stay's */
    struct sst_iter *iter;     /* of the file that is read; NULL: none is */
    struct stats_shard *stats; /* those of all slots: the get's own is that of its slot */
    const petal_read_options *options;
    petal_result *result;
    struct row_collect *collect; /* the result's */
    petal_error *error;
    /* One family at a time. */
    petal_family *family;
    const struct region_store *region;
    struct skip_question question;
    uint32_t files_visited;
};

/* The stay is about to be interrupted. */
static enum petal_status
hold_get(struct epoch_stay *stay)
{
    struct get *get = (struct get *)(void *)stay;

    if (!get->start.counted)
        view_ref(get->start.point.view);
    get->start.counted = true;
    if (get->iter != NULL)
        sst_iter_hold(get->iter);
    return row_collect_hold(get->collect);
}

/* ---- memtables ---- */

static enum petal_status
visit_memtables(struct get *get)
{
    petal_receipt *receipt = get->options->receipt;
    struct row_collect *collect = get->collect;
    bool use_bloom = read_may_use(get->options, PETAL_SKIP_BLOOM);
    uint32_t considered = 0, skipped = 0;
    enum petal_status status = PETAL_OK;
    struct stats_shard *stats;

    for (uint32_t i = 0; status == PETAL_OK && i < get->region->view->memtable_count; i++) {
        const struct store_memtable *memtable = get->region->view->memtables[i];
        struct read_trace trace = {.cells_read = collect->cells_read, .seeks = collect->seeks};

        if (memtable_is_empty(memtable->memtable))
            continue;
        considered++;
        if (use_bloom && !memtable_may_contain_row(memtable->memtable, get->question.row_hash)) {
            trace.bloom_negatives = 1;
            skipped++;
        } else {
            /* Before the cells: a marker raises its kind before it is published. */
            uint32_t kinds = atomic_load_explicit(&memtable->marker_kinds, memory_order_relaxed);
            struct memtable_iter iter;

            memtable_iter_init(&iter, memtable->memtable);
            status = row_collect_source(collect, &iter.iter, kinds, get->error);
            iter.iter.ops->close(&iter.iter);
        }
        if (receipt == NULL)
            continue;
        trace.bloom_probes = use_bloom;
        trace.cells_read = collect->cells_read - trace.cells_read;
        trace.seeks = collect->seeks - trace.seeks;
        receipt_add_memtable(receipt, get->region->store, memtable, &trace);
    }
    stats = &get->stats[get->stay.slot];
    STATS_ADD(stats, memtables_considered, considered);
    STATS_ADD(stats, memtables_skipped, skipped);
    return status;
}

/* ---- files ---- */

static enum petal_status
visit_files(struct get *get)
{
    const struct store_view *store = get->region->view;
    petal_receipt *receipt = get->options->receipt;
    uint32_t skipped[PETAL_SKIP_COUNT] = {0};
    uint64_t false_positives = 0;
    enum petal_status status = PETAL_OK;
    struct stats_shard *stats;
    uint32_t i;

    get->files_visited = 0;
    if (store->file_count == 0)
        return PETAL_OK;
    skip_begin(&get->question, store);
    for (i = 0; status == PETAL_OK && i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace,
                                       .keep_out_of_cache = get->options->keep_out_of_cache,
                                       .stay = &get->stay};
        size_t cells = get->collect->count;
        bool held_nothing = false;
        uint32_t marker_kinds;
        enum petal_skip skip = skip_file(&get->question, file, &context, &marker_kinds);

        /* Files are sorted by what they are settled by, so all that are left are. */
        if (skip == PETAL_SKIP_FOUND_NEWER)
            break;
        skipped[skip]++;
        if (skip == PETAL_SKIP_NONE) {
            struct sst_iter iter;

            /* Lazy: when the place sought lies after a block's last cell, the index tells so
             * without the next block. */
            store_file_iter_init(&iter, file->file, &context, true, true);
            get->iter = &iter;
            status = row_collect_source(get->collect, &iter.iter, marker_kinds, get->error);
            get->iter = NULL;
            iter.iter.ops->close(&iter.iter);
            held_nothing = get->collect->count == cells;
            false_positives += held_nothing && trace.bloom_probes > 0 && trace.bloom_unasked == 0;
        }
        read_count_trace(&get->stats[get->stay.slot], &trace);
        if (receipt != NULL)
            receipt_add_file(receipt, get->region->store, file, skip, &trace, held_nothing);
    }
    get->files_visited = i;
    skipped[PETAL_SKIP_FOUND_NEWER] = store->file_count - i;
    for (; receipt != NULL && i < store->file_count; i++)
        receipt_add_file(receipt, get->region->store, &store->files[i], PETAL_SKIP_FOUND_NEWER,
                         NULL, false);
    stats = &get->stats[get->stay.slot];
    STATS_ADD(stats, files_considered, store->file_count);
    STATS_ADD(stats, files_read, skipped[PETAL_SKIP_NONE]);
    STATS_ADD(stats, skipped_found_newer, skipped[PETAL_SKIP_FOUND_NEWER]);
    STATS_ADD(stats, skipped_row_range, skipped[PETAL_SKIP_ROW_RANGE]);
    STATS_ADD(stats, skipped_time_range, skipped[PETAL_SKIP_TIME_RANGE]);
    STATS_ADD(stats, skipped_expired, skipped[PETAL_SKIP_EXPIRED]);
    STATS_ADD(stats, skipped_columns, skipped[PETAL_SKIP_COLUMNS]);
    STATS_ADD(stats, skipped_bloom, skipped[PETAL_SKIP_BLOOM]);
    STATS_ADD(stats, filter_false_positives, false_positives);
    return status;
}

/* ---- markers of kind 10 that were left ---- */

/* For answers of more cells a walk is cheaper, which takes all markers. */
#define MOST_CHECKED_CELLS 64

/* Does one of the markers that were not taken hide a cell of the answer? Then it is not
 * *complete. */
static NEVER_INLINE enum petal_status
check_family_versions(struct get *get, bool *complete)
{
    const uint32_t kind = marker_kind(PETAL_DELETE_FAMILY_VERSION);
    const struct store_view *store = get->region->view;
    enum petal_status status = PETAL_OK;
    bool found = false;

    assert(get->files_visited <= store->file_count);
    if (get->collect->shown_count > MOST_CHECKED_CELLS) {
        *complete = false;
        return PETAL_OK;
    }
    for (uint32_t i = 0; status == PETAL_OK && !found && i < store->memtable_count; i++) {
        const struct store_memtable *memtable = store->memtables[i];
        struct memtable_iter iter;

        if ((atomic_load_explicit(&memtable->marker_kinds, memory_order_relaxed) & kind) == 0)
            continue;
        memtable_iter_init(&iter, memtable->memtable);
        status = row_collect_check_family_versions(get->collect, &iter.iter, &found, get->error);
        iter.iter.ops->close(&iter.iter);
    }
    for (uint32_t i = 0; status == PETAL_OK && !found && i < get->files_visited; i++) {
        const struct file_entry *file = &store->files[i];
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace,
                                       .keep_out_of_cache = get->options->keep_out_of_cache,
                                       .stay = &get->stay};
        struct sst_iter iter;

        if ((file->marker_kinds & kind) == 0 || skip_by_rows(&get->question, file))
            continue;
        store_file_iter_init(&iter, file->file, &context, true, true);
        get->iter = &iter;
        status = row_collect_check_family_versions(get->collect, &iter.iter, &found, get->error);
        get->iter = NULL;
        iter.iter.ops->close(&iter.iter);
        read_count_trace(&get->stats[get->stay.slot], &trace);
    }
    *complete = !found;
    return status;
}

/* ---- the answer ---- */

/* More cells than these are judged and copied outside of the epoch. */
#define MOST_JUDGED_INSIDE 1024

/* Judge what the sources gave and add it to the result, if it is *complete. */
static enum petal_status
answer(struct get *get, bool *complete)
{
    struct row_collect *collect = get->collect;
    bool outside = collect->count > MOST_JUDGED_INSIDE;
    enum petal_status status;

    if (outside && epoch_interrupt(&get->stay) != PETAL_OK)
        return error_no_memory(get->error);
    status = row_collect_finish(collect, complete);
    for (size_t i = 0; status == PETAL_OK && *complete && i < collect->shown_count; i++)
        status = result_add(get->result, get->family, row_collect_cell(collect, i));
    if (outside)
        epoch_resume(&get->stay);
    if (status != PETAL_OK)
        return error_no_memory(get->error);
    return *complete && collect->family_versions_left ? check_family_versions(get, complete)
                                                      : PETAL_OK;
}

/* ---- one family ---- */

/* Answer the part of a get that concerns one family, from its part of the view. */
static enum petal_status
get_family(struct get *get, const petal_family_options *attributes, size_t named, bool *complete)
{
    struct row_collect *collect = get->collect;
    const petal_read_options *options = get->options;
    enum petal_status status;

    collect->family = get->family->name;
    read_rules(options, get->family, attributes, get->region->view, false,
               get->start.point.sequence, &collect->visibility.rules);
    assert(!collect->visibility.rules.new_version_behavior);
    STATS_ADD(&get->stats[get->stay.slot], gets, 1);
    if (row_collect_start(collect, get->question.low, options, get->family, named) != PETAL_OK)
        return error_no_memory(get->error);
    status = visit_memtables(get);
    if (status == PETAL_OK)
        status = visit_files(get);
    if (status == PETAL_OK)
        status = answer(get, complete);
    if (status != PETAL_OK)
        damage_name(get->family, get->error);
    return status;
}

/* ---- the row ---- */

/* Does only a walk through the row answer? */
static bool
needs_walk(const struct table_descriptor *descriptor, const petal_read_options *options)
{
    bool needs = options->filter != NULL || options->family_cell_limit > 0 ||
                 options->family_cell_offset > 0 || options->deadline_ms > 0;

    for (size_t i = 0; !needs && i < descriptor->family_count; i++)
        needs = descriptor->options.families[i].new_version_behavior &&
                read_asks_family(options, descriptor->families[i], &(size_t){0});
    return needs;
}

void
get_start_at(struct get_start *start, const petal_db *db, petal_slice row)
{
    start->counted = false;
    start->row_hash = bloom_hash_row(db->salt, row.data, row.size);
    start->row_head = slice_head(row, 0);
}

enum petal_status
get_row(petal_table *table, const struct table_descriptor *descriptor,
        const struct get_start *start, petal_slice row, const petal_read_options *options,
        petal_result *result, bool *walk, petal_error *error)
{
    petal_db *db = table->db;
    enum petal_status status;
    bool complete = true;
    struct get get;

    assert(row.size > 0);
    result_clear(result);
    get.start = *start;
    get.stay =
        (struct epoch_stay){.epoch = db->epoch, .slot = get.start.point.slot, .hold = hold_get};
    get.iter = NULL;
    get.stats = db->stats;
    get.options = options;
    get.result = result;
    get.collect = &result->collect;
    get.collect->stay = &get.stay;
    get.collect->receipt = options->receipt;
    get.error = error;
    get.question = (struct skip_question){
        .options = options,
        .rules = &get.collect->visibility.rules,
        .low = row,
        .high = row,
        .low_head = start->row_head,
        .high_head = start->row_head,
        .row_key = &get.collect->row_key,
        .row_hash = start->row_hash,
        .collect = get.collect,
    };
    if (options->snapshot != NULL)
        read_point_at(&get.start.point, options->snapshot);

    status = read_check_alive(table, options, error);
    *walk = status == PETAL_OK && needs_walk(descriptor, options);
    if (status == PETAL_OK && !*walk && options->receipt != NULL)
        receipt_start(options->receipt, get.start.point.view);
    for (size_t i = 0; status == PETAL_OK && !*walk && i < descriptor->family_count; i++) {
        size_t named;

        get.family = descriptor->families[i];
        get.region = view_row_region(get.start.point.view, get.family, start->row_head, row);
        if (get.region == NULL || !read_asks_family(options, get.family, &named))
            continue;
        status = family_check_usable(get.family, error);
        if (status == PETAL_OK)
            status = get_family(&get, &descriptor->options.families[i], named, &complete);
        *walk = !complete;
    }
    if (status == PETAL_OK && !*walk && options->receipt != NULL) {
        options->receipt->bytes_returned = result->byte_count;
        if (options->receipt->incomplete)
            status = error_no_memory(error);
    }

    assert(get.iter == NULL);
    get.start.point.slot = get.stay.slot;
    get_leave(db, &get.start);
    if (status != PETAL_OK || *walk)
        result->count = 0;
    return status;
}

enum petal_status
get_options_init(petal_read_options *options, const petal_table *table,
                 const petal_read_options *given, petal_error *error)
{
    enum petal_status status = read_options_init(options, table, given, error);

    if (status == PETAL_OK && options->versions < 0)
        status = error_set(error, PETAL_INVALID, "versions is %ld; a get needs at least 1",
                           (long)options->versions);
    return status;
}

enum petal_status
get_general(petal_table *table, const struct get_start *start, petal_slice row,
            const petal_read_options *given, petal_result *result, petal_error *error)
{
    petal_read_options options;
    enum petal_status status = get_options_init(&options, table, given, error);
    bool walk;

    if (status == PETAL_OK)
        status = read_check_row(row, error);
    if (status != PETAL_OK) {
        get_leave(table->db, start);
        return status;
    }
    status = get_row(table, table_descriptor(table), start, row, &options, result, &walk, error);
    if (status == PETAL_OK && walk)
        status = cursor_get_row(table, row, &options, result, error);
    return status;
}
