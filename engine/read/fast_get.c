/*
 * fast_get.c -- see fast_get.h. From top to bottom: memtables, filters, files, the answer, the get,
 * whole rows, petal_get.
 *
 * WHY THE ANSWER IS RIGHT. A put of the column is visible if the read point sees it, no marker
 * hides it, no time to live is over, and no put of the column is greater, by (timestamp, sequence).
 * The family has no time to live (plain); a source is only read if it has no markers and no cells
 * with a time to live of their own, and a source that may hold a cell of the row, put or marker, is
 * either read or settled: all that it has is smaller than what was found. So the greatest put of
 * those that are read is the answer. A memtable raises its kinds of markers before it publishes the
 * marker, so what they say once the read point is loaded covers all that it sees.
 */
#include "engine/read/fast_get.h"

#include "base/argument.h"
#include "base/inline.h"
#include "bloom/hash.h"
#include "sstable/file/facts.h"

#include <assert.h>

/* Longer keys are left to the general get. */
#define SHORT_KEY_BYTES 512

/* The stay is about to be interrupted: the values of memtables live as long as the view. With one
 * of a block it is not, and the get has FAILED. */
static enum petal_status
hold(struct epoch_stay *stay)
{
    struct fast_get *get = (struct fast_get *)(void *)stay;

    if (get->found_in_block)
        return PETAL_NO_MEMORY;
    if (!get->start.counted)
        view_ref(get->start.point.view);
    get->start.counted = true;
    if (get->merge != NULL)
        row_merge_hold(get->merge);
    return PETAL_OK;
}

/* Is it the greatest so far? */
static inline bool
take(struct fast_get *get, struct version_point point, petal_slice value)
{
    assert(point.sequence <= get->start.point.sequence);
    if (get->found && !version_point_below(get->point, point))
        return false;
    get->found = true;
    get->point = point;
    get->value = value;
    return true;
}

/* ---- memtables ---- */

static enum fast_status
search_memtable(struct fast_get *get, const struct memtable *memtable)
{
    uint8_t bytes[SHORT_KEY_BYTES];
    struct memtable_iter iter;
    struct cell_key key;
    const struct cell *cell = &iter.iter.cell;
    enum petal_status status;

    if (cell_key_bound(get->row.size, get->qualifier.size) > sizeof bytes)
        return FAST_DECLINED;
    cell_key_make(&key, bytes, get->row, get->qualifier, false, INT64_MAX, CELL_SEQUENCE_MAX);
    memtable_iter_init(&iter, memtable);
    status = iter.iter.ops->seek(&iter.iter, &key, NULL);
    /* Newest first; those above the read point are passed over. */
    while (status == PETAL_OK && iter.iter.valid && slice_equal(cell->row, get->row) &&
           slice_equal(cell->qualifier, get->qualifier)) {
        if (cell->sequence <= get->start.point.sequence) {
            assert(cell->type == PETAL_PUT && !cell->has_ttl);
            take(get, (struct version_point){cell->timestamp, cell->sequence}, cell->value);
            break;
        }
        status = iter.iter.ops->next(&iter.iter, NULL);
    }
    iter.iter.ops->close(&iter.iter);
    return status == PETAL_OK ? FAST_ANSWERED : FAST_FAILED;
}

/* May the memtable have the row, by its filter? */
static inline bool
may_have_row(struct fast_get *get, const struct store_memtable *memtable)
{
    bool may;

    /* Told before the first cell is published. */
    if (atomic_load_explicit(&memtable->sequence_first, memory_order_relaxed) == 0)
        return false;
    may = memtable_may_contain_row(memtable->memtable, get->question.hash);
    get->counts.memtables_considered++;
    get->counts.memtables_skipped += !may;
    return may;
}

static inline bool
is_plain(const struct store_memtable *memtable)
{
    return (atomic_load_explicit(&memtable->marker_kinds, memory_order_relaxed) |
            atomic_load_explicit(&memtable->ttl_cells, memory_order_relaxed)) == 0;
}

ALWAYS_INLINE enum fast_status
fast_get_visit_memtables(struct fast_get *get)
{
    const struct store_view *store = get->store;
    enum fast_status status = FAST_ANSWERED;

    for (uint32_t i = 0; status == FAST_ANSWERED && i < store->memtable_count; i++) {
        const struct store_memtable *memtable = store->memtables[i];

        if (may_have_row(get, memtable))
            status = is_plain(memtable) ? search_memtable(get, memtable->memtable) : FAST_DECLINED;
    }
    return status;
}

/* ---- filters ---- */

static struct read_context
context_of(struct fast_get *get)
{
    return (struct read_context){.trace = &get->trace,
                                 .keep_out_of_cache = get->keep_out_of_cache,
                                 .only_cached = get->only_cached,
                                 .private_block = get->private_block,
                                 .stay = &get->stay};
}

/* The file's rows, of which one begins as the row does, lie all on one side of it. */
static NEVER_INLINE bool
row_is_outside(const struct fast_get *get, const struct file_entry *file)
{
    if (get->start.row_head < file->row_min_head || get->start.row_head > file->row_max_head)
        return true;
    return slice_compare(get->row, file->facts->row_min) < 0 ||
           slice_compare(get->row, file->facts->row_max) > 0;
}

static NEVER_INLINE bool
lacks_column(const struct fast_get *get, const struct file_entry *file)
{
    return (file->marker_kinds & COLLECT_FAMILY_MARKERS) == 0 &&
           !facts_may_have_qualifier(file->facts, get->qualifier);
}

void
fast_get_prefetch_blooms(struct fast_get *get)
{
    const struct store_view *store = get->store;
    uint64_t head = get->start.row_head;

    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];

        if (file->bloom != NULL && head > file->row_min_head && head < file->row_max_head)
            bloom_rows_prefetch(bloom_rows_find(file->bloom, &get->question), get->question.hash);
    }
}

/* The question to a chunk that no hint leads to. */
static NEVER_INLINE bool
ask_slowly(struct fast_get *get, const struct file_entry *file, struct bloom_rows_chunk *chunk)
{
    struct read_context context = context_of(get);
    uint32_t probes = get->trace.bloom_probes;
    bool may_contain = sst_reader_ask_chunk(file->reader, chunk, get->question.hash, &context);

    get->counts.slowly_denied += !may_contain;
    get->answered = get->trace.bloom_probes > probes;
    return may_contain;
}

/* Does the file's filter say that it may have the row? */
static ALWAYS_INLINE bool
ask_bloom(struct fast_get *get, const struct file_entry *file)
{
    const struct bloom_rows *rows = file->bloom;
    struct bloom_rows_chunk *chunk = bloom_rows_find(rows, &get->question);

    switch (bloom_rows_ask(rows, chunk, &get->question)) {
    case BLOOM_ROWS_ABSENT:
        get->counts.blooms_denied++;
        return false;
    case BLOOM_ROWS_MAYBE:
        get->counts.blooms_passed++;
        get->answered = true;
        return true;
    case BLOOM_ROWS_UNKNOWN:
        break;
    }
    return ask_slowly(get, file, chunk);
}

/* The question to a filter without a directory, if there is one. What columns say is no answer
 * where there may be family markers; but then the file is not read here. */
static NEVER_INLINE bool
ask_with_key(struct fast_get *get, const struct file_entry *file)
{
    struct read_context context = context_of(get);
    uint8_t bytes[SHORT_KEY_BYTES];
    uint32_t probes = get->trace.bloom_probes;
    struct cell_key key;
    bool may_contain = true;

    get->answered = false;
    if (file->facts->bloom == PETAL_BLOOM_NONE)
        return true;
    if (cell_key_bound(get->row.size, get->qualifier.size) > sizeof bytes)
        return true;
    cell_key_make(&key, bytes, get->row, get->qualifier, false, INT64_MAX, CELL_SEQUENCE_MAX);
    if (get->whole || !facts_has_column_bloom(file->facts))
        may_contain = sst_reader_may_contain_row(file->reader, &key, get->question.hash, &context);
    else if ((file->marker_kinds & COLLECT_FAMILY_MARKERS) == 0)
        may_contain = sst_reader_may_contain_column(
            file->reader, &key,
            bloom_hash_column(get->question.hash, get->qualifier.data, get->qualifier.size),
            READ_SAVES_BLOCK, &context);
    get->counts.slowly_denied += !may_contain;
    get->answered = get->trace.bloom_probes > probes;
    return may_contain;
}

/* May the file have what is asked? */
static ALWAYS_INLINE bool
may_have(struct fast_get *get, const struct file_entry *file)
{
    uint64_t head = get->start.row_head;

    if ((head <= file->row_min_head || head >= file->row_max_head) && row_is_outside(get, file)) {
        get->counts.skipped_row_range++;
        return false;
    }
    if (!get->all_have_column && lacks_column(get, file)) {
        get->counts.skipped_columns++;
        return false;
    }
    return file->bloom != NULL ? ask_bloom(get, file) : ask_with_key(get, file);
}

/* ---- files ---- */

/* What the search of a file that may have the row gave. */
ALWAYS_INLINE enum fast_status
fast_get_take_from_file(struct fast_get *get, enum sst_point_answer answer,
                        const struct data_block_put *put)
{
    switch (answer) {
    case SST_POINT_FOUND:
        if (put->timestamp < 0 || put->timestamp == INT64_MAX) /* outside of every time range */
            return FAST_DECLINED;
        if (take(get, (struct version_point){put->timestamp, put->sequence}, put->value))
            get->found_in_block = true;
        break;
    case SST_POINT_ABSENT:
        get->counts.false_positives += get->answered;
        break;
    case SST_POINT_DECLINED:
        return FAST_DECLINED;
    case SST_POINT_FAILED:
        return FAST_FAILED;
    }
    get->counts.files_read++;
    return FAST_ANSWERED;
}

static NEVER_INLINE enum fast_status
search_file(struct fast_get *get, const struct file_entry *file)
{
    struct read_context context = context_of(get);
    struct data_block_column column = {get->row, get->qualifier, get->start.point.sequence};
    struct data_block_put put;

    if (!fast_get_can_read(file))
        return FAST_DECLINED;
    return fast_get_take_from_file(get, sst_point_find(file->reader, &column, &context, &put),
                                   &put);
}

ALWAYS_INLINE bool
fast_get_next_file(struct fast_get *get, uint32_t *index)
{
    const struct file_entry *files = get->store->files;
    uint32_t count = get->store->file_count;

    for (uint32_t i = *index; i < count; i++) {
        const struct file_entry *file = &files[i];

        /* Files are sorted by this point, so all that are left are settled. */
        if (get->found &&
            version_point_below((struct version_point){file->time_max, file->sequence_max},
                                get->point)) {
            get->counts.skipped_found_newer = count - i;
            return false;
        }
        if (may_have(get, file)) {
            *index = i;
            return true;
        }
    }
    return false;
}

static ALWAYS_INLINE enum fast_status
visit_files(struct fast_get *get)
{
    enum fast_status status = FAST_ANSWERED;

    for (uint32_t i = 0; status == FAST_ANSWERED && fast_get_next_file(get, &i); i++)
        status = search_file(get, &get->store->files[i]);
    return status;
}

/* ---- the answer ---- */

ALWAYS_INLINE enum fast_status
fast_get_answer(struct fast_get *get, petal_result *result)
{
    if (get->found && result_set(result, get->family, get->row, get->qualifier,
                                 get->point.timestamp, get->value) != PETAL_OK)
        return FAST_NO_MEMORY;
    return FAST_ANSWERED;
}

/* ---- the get ---- */

/* One branch for all that is rare. */
ALWAYS_INLINE bool
fast_get_allows(const petal_table *table, const petal_read_options *options)
{
    const petal_column *column = options->columns;
    uint64_t more = options->has_time_range | options->without | options->family_time_range_count |
                    (uint64_t)options->time_min | (uint64_t)options->time_limit |
                    options->family_cell_limit | options->family_cell_offset |
                    options->deadline_ms | (uintptr_t)options->receipt |
                    (uintptr_t)options->filter | ((uint32_t)options->versions & ~1u) |
                    (options->column_count ^ 1);

    if (more != 0 || (options->size != 0 && options->size != sizeof *options))
        return false;
    return column != NULL && column->family != NULL && column->family->table == table &&
           !column->whole_family && !slice_lacks_bytes(column->qualifier) &&
           (options->snapshot == NULL || options->snapshot->db == table->db);
}

ALWAYS_INLINE enum fast_status
fast_get_begin(struct fast_get *get, petal_db *db, petal_family *family, petal_slice row,
               petal_slice qualifier, const struct read_point *point)
{
    const struct region_store *region;

    assert(family->table->db == db);
    get->stay = (struct epoch_stay){.epoch = db->epoch, .slot = point->slot, .hold = hold};
    get->start.point = *point;
    get->start.counted = false;
    get->db = db;
    get->family = family;
    get->row = row;
    get->qualifier = qualifier;
    get->whole = false;
    get->keep_out_of_cache = false;
    get->only_cached = false;
    get->private_block = NULL;
    get->answered = false;
    get->found = false;
    get->found_in_block = false;
    get->merge = NULL;
    get->trace = (struct read_trace){0};
    get->counts = (struct fast_counts){0};
    bloom_rows_question_init(&get->question, row, bloom_hash_row(db->salt, row.data, row.size));
    get->start.row_hash = get->question.hash;
    get->start.row_head = get->question.head;
    region = view_row_region(point->view, family, get->question.head, row);
    if (row.size == 0 || row.size > PETAL_MAX_ROW_BYTES ||
        qualifier.size > PETAL_MAX_QUALIFIER_BYTES ||
        atomic_load_explicit(&db->general_reads, memory_order_relaxed))
        return FAST_DECLINED;
    if (region == NULL || !atomic_load_explicit(&family->descriptor, memory_order_acquire)->plain ||
        family->unusable || family_is_dropped(family))
        return FAST_DECLINED;
    get->store = region->view;
    get->all_have_column =
        get->store->file_count == 0 ||
        (get->store->one_qualifier && slice_equal(get->store->files[0].first_qualifier, qualifier));
    return FAST_ANSWERED;
}

static void
count_fetched(struct stats_shard *stats, const struct read_trace *trace)
{
    STATS_ADD(stats, data_fetched, trace->blocks_fetched[PETAL_BLOCK_DATA]);
    STATS_ADD(stats, index_fetched, trace->blocks_fetched[PETAL_BLOCK_INDEX]);
    STATS_ADD(stats, filter_fetched, trace->blocks_fetched[PETAL_BLOCK_FILTER]);
    STATS_ADD(stats, bytes_fetched, trace->bytes_fetched);
}

ALWAYS_INLINE void
fast_get_count(const struct fast_get *get)
{
    struct stats_shard *stats = &get->db->stats[get->stay.slot];
    const struct fast_counts *counts = &get->counts;
    const struct read_trace *trace = &get->trace;
    uint32_t denied = counts->blooms_denied, passed = counts->blooms_passed;

    STATS_ADD(stats, gets, 1);
    if (counts->memtables_considered > 0) {
        STATS_ADD(stats, memtables_considered, counts->memtables_considered);
        STATS_ADD(stats, memtables_skipped, counts->memtables_skipped);
    }
    if (get->store->file_count == 0)
        return;
    STATS_ADD(stats, files_considered, get->store->file_count);
    STATS_ADD(stats, filters_denied, denied);
    if (denied == get->store->file_count)
        return;
    STATS_ADD(stats, skipped_bloom, counts->slowly_denied);
    STATS_ADD(stats, filter_probes, passed + trace->bloom_probes);
    STATS_ADD(stats, filter_negatives, trace->bloom_negatives);
    STATS_ADD(stats, filter_cached, passed + trace->blocks_cached[PETAL_BLOCK_FILTER]);
    if ((counts->skipped_found_newer | counts->skipped_row_range | counts->skipped_columns) != 0) {
        STATS_ADD(stats, skipped_found_newer, counts->skipped_found_newer);
        STATS_ADD(stats, skipped_row_range, counts->skipped_row_range);
        STATS_ADD(stats, skipped_columns, counts->skipped_columns);
    }
    if (counts->files_read > 0) {
        STATS_ADD(stats, files_read, counts->files_read);
        STATS_ADD(stats, filter_false_positives, counts->false_positives);
        STATS_ADD(stats, data_cached, trace->blocks_cached[PETAL_BLOCK_DATA]);
        STATS_ADD(stats, filter_unasked, trace->bloom_unasked);
    }
    STATS_ADD(stats, index_cached, trace->blocks_cached[PETAL_BLOCK_INDEX]);
    if (trace->bytes_fetched > 0)
        count_fetched(stats, trace);
}

/* An interrupted stay may have gone on in another slot. */
static inline void
leave(struct fast_get *get)
{
    get->start.point.slot = get->stay.slot;
    get_leave(get->db, &get->start);
}

/* It did not answer, and says why: the general get goes on from where it stands. */
static NEVER_INLINE enum petal_status
go_on(struct fast_get *get, enum fast_status why, const petal_read_options *options,
      petal_result *result, petal_error *error)
{
    assert(why != FAST_ANSWERED);
    result->count = 0;
    if (get->trace.bytes_fetched > 0)
        count_fetched(&get->db->stats[get->stay.slot], &get->trace);
    if (why == FAST_NO_MEMORY) {
        leave(get);
        return error_no_memory(error);
    }
    get->start.point.slot = get->stay.slot;
    return get_general(get->family->table, &get->start, get->row, options, result, error);
}

/* Inside the epoch. */
static ALWAYS_INLINE enum fast_status
run(struct fast_get *get, petal_result *result)
{
    enum fast_status status = fast_get_visit_memtables(get);

    if (status == FAST_ANSWERED)
        status = visit_files(get);
    return status == FAST_ANSWERED ? fast_get_answer(get, result) : status;
}

/* The newest version of a column. Of the options (NULL: none) those are used that fast_get_allows
 * knows. Unless it is answered, go_on has to be called. */
static ALWAYS_INLINE enum fast_status
get_column(struct fast_get *get, petal_db *db, petal_family *family, petal_slice row,
           petal_slice qualifier, const petal_read_options *options, petal_result *result)
{
    struct read_point point;
    enum fast_status status;

    assert(result->count == 0);
    read_begin(db, &point);
    if (options != NULL && options->snapshot != NULL)
        read_point_at(&point, options->snapshot);
    status = fast_get_begin(get, db, family, row, qualifier, &point);
    if (status != FAST_ANSWERED)
        return status;
    get->private_block = &result->block;
    if (options != NULL)
        get->keep_out_of_cache = options->keep_out_of_cache;
    status = run(get, result);
    if (status == FAST_ANSWERED) {
        fast_get_count(get);
        leave(get);
    }
    return status;
}

/* ---- whole rows ---- */

/* In a file with fewer, many rows do not lie in one block.  Their blocks go through the cache,
 * where a merge, or the general get, finds them again. */
#define LEAST_ROWS_PER_BLOCK 8

/* The cells of the row that a file alone may have, if they lie in one block. */
static enum fast_status
take_row(struct fast_get *get, const struct file_entry *file, petal_result *result)
{
    struct read_context context = context_of(get);
    struct data_block_run run;
    struct data_block_put put;
    petal_slice prefix, rest;
    enum sst_point_answer found;

    if (file->facts->rows / LEAST_ROWS_PER_BLOCK < file->facts->data_blocks)
        context.private_block = NULL;
    found = sst_point_find_row(file->reader, get->row, get->start.point.sequence, &context, &run);
    if (found == SST_POINT_DECLINED || found == SST_POINT_FAILED)
        return found == SST_POINT_FAILED ? FAST_FAILED : FAST_DECLINED;
    if (result_start(result, get->row) != PETAL_OK)
        return FAST_NO_MEMORY;
    while (found == SST_POINT_FOUND && data_block_run_next(&run, &put, &prefix, &rest)) {
        if (put.timestamp < 0 || put.timestamp == INT64_MAX)
            return FAST_DECLINED;
        if (result_append_put(result, get->family, get->row, prefix, rest, put.timestamp,
                              put.value) != PETAL_OK)
            return FAST_NO_MEMORY;
    }
    return found == SST_POINT_FOUND && run.too_many ? FAST_DECLINED : FAST_ANSWERED;
}

static NEVER_INLINE enum fast_status
run_merge(struct fast_get *get, struct row_merge *merge, uint32_t answered, petal_result *result)
{
    struct read_context context = context_of(get);
    bool useful;

    get->merge = merge;
    useful = row_merge_read(merge, &context, result);
    get->merge = NULL;
    for (uint32_t i = 0; i < merge->count; i++)
        get->counts.false_positives += (answered & 1u << i) != 0 && !merge->sources[i].gave;
    return useful ? FAST_ANSWERED : FAST_DECLINED;
}

/* What may have the row becomes a source; `answered` are those whose filter said so, a bit each. */
static bool
choose_sources(struct fast_get *get, struct row_merge *merge, uint32_t *answered)
{
    const struct store_view *store = get->store;

    *answered = 0;
    for (uint32_t i = 0; i < store->memtable_count; i++) {
        const struct store_memtable *memtable = store->memtables[i];

        if (may_have_row(get, memtable) &&
            (!is_plain(memtable) || !row_merge_add(merge, memtable->memtable, NULL)))
            return false;
    }
    for (uint32_t i = 0; fast_get_next_file(get, &i); i++) {
        const struct file_entry *file = &store->files[i];

        *answered |= (uint32_t)get->answered << merge->count;
        if (!fast_get_can_read(file) || !row_merge_add(merge, NULL, file))
            return false;
    }
    return true;
}

static enum fast_status
run_row(struct fast_get *get, petal_result *result)
{
    enum fast_status status = FAST_DECLINED;
    struct row_merge merge;
    uint32_t answered;

    row_merge_init(&merge, get->family, get->row, get->start.point.sequence, &get->stay);
    if (!choose_sources(get, &merge, &answered))
        return FAST_DECLINED;
    get->counts.files_read = merge.file_count;
    if (merge.count == 0)
        return FAST_ANSWERED;
    if (merge.count == 1 && merge.file_count == 1)
        status = take_row(get, merge.sources[0].file, result);
    if (status == FAST_DECLINED)
        return run_merge(get, &merge, answered, result);
    get->counts.false_positives = result->count == 0 && answered != 0;
    return status;
}

/* All columns of the row; if the table has one family, first without the general get. */
static NEVER_INLINE enum petal_status
get_whole_row(petal_table *table, petal_slice row, petal_result *result, petal_error *error)
{
    const struct table_descriptor *descriptor;
    struct get_start start;
    struct fast_get get;
    enum fast_status status;

    assert(result->count == 0);
    read_begin(table->db, &start.point);
    descriptor = table_descriptor(table);
    if (descriptor->family_count != 1) {
        get_start_at(&start, table->db, row);
        return get_general(table, &start, row, NULL, result, error);
    }
    status = fast_get_begin(&get, table->db, descriptor->families[0], row, slice_make(NULL, 0),
                            &start.point);
    if (status == FAST_ANSWERED) {
        get.whole = get.all_have_column = true;
        get.private_block = &result->block;
        status = run_row(&get, result);
    }
    if (status != FAST_ANSWERED)
        return go_on(&get, status, NULL, result, error);
    fast_get_count(&get);
    leave(&get);
    return PETAL_OK;
}

/* ---- petal_get ----
 *
 * What is seldom, an argument that is missing and a get that is timed, costs no more than branches:
 * functions that lie apart go on from there. */

/* Something is missing, or the row is empty, which is refused as such. */
static SELDOM enum petal_status
refuse_get(petal_table *table, petal_slice row, petal_result *result, petal_error *error)
{
    RETURN_IF_NULL(result, error);
    result->count = 0;
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    return read_check_row(row, error);
}

/* By options that the fast get does not know. */
static NEVER_INLINE enum petal_status
get_anew(petal_table *table, petal_slice row, const petal_read_options *options,
         petal_result *result, petal_error *error)
{
    struct get_start start;

    read_begin(table->db, &start.point);
    get_start_at(&start, table->db, row);
    return get_general(table, &start, row, options, result, error);
}

/* The call again, between two looks at the clock. */
static SELDOM enum petal_status
time_get(petal_table *table, petal_slice row, const petal_read_options *options,
         petal_result *result, petal_error *error)
{
    uint64_t began = clock_ns();
    enum petal_status status;

    latency_begin(&result->turn, LATENCY_ONE_OF_GETS);
    status = petal_get(table, row, options, result, error);
    latency_end(&table->db->latencies, PETAL_LATENCY_GET, began);
    return status;
}

enum petal_status
petal_get(petal_table *table, petal_slice row, const petal_read_options *options,
          petal_result *result, petal_error *error)
{
    if (result == NULL || table == NULL || row.data == NULL)
        return refuse_get(table, row, result, error);
    if (latency_is_due(&result->turn))
        return time_get(table, row, options, result, error);

    petal_db *db = table->db;
    enum fast_status status;
    struct fast_get get;

    result->count = 0;
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (options == NULL)
        return get_whole_row(table, row, result, error);
    if (!fast_get_allows(table, options))
        return get_anew(table, row, options, result, error);
    status = get_column(&get, db, options->columns->family, row, options->columns->qualifier,
                        options, result);
    return status == FAST_ANSWERED ? PETAL_OK : go_on(&get, status, options, result, error);
}

static NEVER_INLINE enum petal_status
go_on_with_pair(struct fast_get *get, enum fast_status why, petal_result *result,
                petal_error *error)
{
    petal_column column = {get->family, {NULL, 0}, false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    enum petal_status status = read_check_key(get->row, "the key", error);

    if (status == PETAL_OK)
        return go_on(get, why, &options, result, error);
    leave(get);
    return status;
}

/* As refuse_get. */
static SELDOM enum petal_status
refuse_get_pair(petal_kv *kv, petal_slice key, petal_result *result, bool *found,
                petal_slice *value, petal_error *error)
{
    RETURN_IF_NULL(result, error);
    result->count = 0;
    RETURN_IF_NULL(found, error);
    *found = false;
    RETURN_IF_NULL(value, error);
    *value = slice_make(NULL, 0);
    RETURN_IF_NULL(kv, error);
    RETURN_IF_NO_BYTES(key, error);
    if (db_enter(kv->table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    return read_check_key(key, "the key", error);
}

static SELDOM enum petal_status
time_get_pair(petal_kv *kv, petal_slice key, petal_result *result, bool *found, petal_slice *value,
              petal_error *error)
{
    uint64_t began = clock_ns();
    enum petal_status status;

    latency_begin(&result->turn, LATENCY_ONE_OF_GETS);
    status = petal_kv_get(kv, key, result, found, value, error);
    latency_end(&kv->table->db->latencies, PETAL_LATENCY_GET, began);
    return status;
}

enum petal_status
petal_kv_get(petal_kv *kv, petal_slice key, petal_result *result, bool *found, petal_slice *value,
             petal_error *error)
{
    if (result == NULL || found == NULL || value == NULL || kv == NULL || key.data == NULL)
        return refuse_get_pair(kv, key, result, found, value, error);
    if (latency_is_due(&result->turn))
        return time_get_pair(kv, key, result, found, value, error);

    petal_db *db = kv->table->db;
    enum petal_status status = db_enter(db, error);
    struct fast_get get;

    result->count = 0;
    if (status == PETAL_OK) {
        enum fast_status fast =
            get_column(&get, db, kv->family, key, slice_make(NULL, 0), NULL, result);

        if (fast != FAST_ANSWERED)
            status = go_on_with_pair(&get, fast, result, error);
    }
    if (status == PETAL_OK && result->count > 0) {
        *found = true;
        *value = result->cells[0].value;
    } else {
        *found = false;
        *value = slice_make(NULL, 0);
    }
    return status;
}
