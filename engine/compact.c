/* compact.c -- see compact.h. */
#include "engine/compact.h"

#include "engine/merge_iter.h"
#include "engine/rewrite.h"

#include <stdio.h>

/* A job at work. */
struct compaction {
    petal_db *db;
    petal_family *family;
    struct view *view;              /* pinned */
    const struct store_view *store; /* of the family in it */
    struct store_file **inputs;     /* files of it */
    struct sst_iter *iters;         /* one for each input */
    struct cell_iter **sources;     /* the same */
    size_t input_count;
    struct merge_iter merge;
    struct read_trace
        trace; /* what the job reads is not counted among the reads: compaction_bytes_in tells */
    enum visibility_purpose purpose;
    bool keep_markers; /* a snapshot that came later needs them */
    struct rewrite_result result;
    uint64_t cells, bytes; /* of the input */
};

/* ---- input ---- */

static const struct file_facts *
facts_of(const struct compaction *compaction, size_t index)
{
    return sst_reader_facts(compaction->inputs[index]->reader);
}

static uint64_t
greatest_sequence(const struct compaction *compaction)
{
    uint64_t greatest = 0;

    for (size_t i = 0; i < compaction->input_count; i++) {
        if (facts_of(compaction, i)->sequence_max > greatest)
            greatest = facts_of(compaction, i)->sequence_max;
    }
    return greatest;
}

/*
 * The first sequence outside of the inputs, UINT64_MAX: none. It is greater than all of theirs: they are all files of the view,
 * and flushes install in the order of sequences. It lies in a memtable of that view, since the front one is
 * frozen, and followed by others, only when it holds cells.
 */
static uint64_t
first_outside(const struct compaction *compaction)
{
    const struct store_view *store = compaction->store;
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < store->memtable_count; i++) {
        uint64_t first =
            atomic_load_explicit(&store->memtables[i]->sequence_first, memory_order_relaxed);

        if (first != 0 && first < least)
            least = first;
    }
    return least;
}

/*
 * Markers go, since nothing older than they are is left outside. But a put may be newer and yet lie below a marker in time, so that
 * it would come to light. It does, as in HBase, when it is outside; but not before the eyes of a snapshot: markers
 * stay while one sees cells from outside. They stay, too, while the inputs hold a cell above the read point: it is kept, and
 * what hides it must not go before it.
 */
static enum visibility_purpose
purpose_of(const struct compaction *compaction, uint64_t read_point)
{
    return !compaction->keep_markers && greatest_sequence(compaction) <= read_point &&
                   snapshot_newest(compaction->db) < first_outside(compaction)
               ? VISIBILITY_COMPACT
               : VISIBILITY_FLUSH;
}

/* No put of the inputs is older. */
static int64_t
earliest_put(const struct compaction *compaction)
{
    int64_t earliest = INT64_MAX;

    for (size_t i = 0; i < compaction->input_count; i++) {
        if (facts_of(compaction, i)->put_time_min < earliest)
            earliest = facts_of(compaction, i)->put_time_min;
    }
    return earliest;
}

static enum petal_status
open_input(struct compaction *compaction, petal_error *error)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    size_t count = compaction->input_count;
    struct read_context context = {&compaction->trace, true};

    compaction->cells = compaction->bytes = 0;
    compaction->iters = mem_zalloc(allocator, count * sizeof *compaction->iters);
    compaction->sources = mem_alloc(allocator, count * sizeof *compaction->sources);
    if (compaction->iters == NULL || compaction->sources == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        /* Not lazy: every block is going to be read. */
        sst_iter_init(&compaction->iters[i], compaction->inputs[i]->reader, &context, false, false);
        compaction->sources[i] = &compaction->iters[i].iter;
        compaction->cells += facts_of(compaction, i)->cells;
        compaction->bytes += facts_of(compaction, i)->file_bytes;
    }
    if (merge_iter_init(&compaction->merge, allocator, compaction->sources, count) != PETAL_OK)
        return error_no_memory(error);
    return PETAL_OK;
}

static void
close_input(struct compaction *compaction)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    size_t count = compaction->input_count;

    for (size_t i = 0; compaction->iters != NULL && i < count; i++) {
        if (compaction->iters[i].iter.ops != NULL)
            compaction->iters[i].iter.ops->close(&compaction->iters[i].iter);
    }
    if (compaction->merge.iter.ops != NULL)
        compaction->merge.iter.ops->close(&compaction->merge.iter);
    mem_free(allocator, compaction->sources, count * sizeof *compaction->sources);
    mem_free(allocator, compaction->iters, count * sizeof *compaction->iters);
    compaction->sources = NULL;
    compaction->iters = NULL;
    compaction->merge = (struct merge_iter){0};
}

/* ---- output ---- */

static enum petal_status
write_files(struct compaction *compaction, petal_error *error)
{
    struct rewrite_job job = {
        .family = compaction->family,
        .read_point = snapshot_oldest(compaction->db),
        .earliest_put = earliest_put(compaction),
        .file_bytes = compaction->db->compact_file_bytes,
    };
    enum petal_status status = open_input(compaction, error);

    if (status == PETAL_OK) {
        job.purpose = compaction->purpose = purpose_of(compaction, job.read_point);
        job.cells = compaction->cells;
        job.input = compaction->input_count == 1 ? compaction->sources[0] : &compaction->merge.iter;
        status = rewrite_run(&job, &compaction->result, error);
    }
    close_input(compaction);
    if (status == PETAL_OK)
        status = db_sync_directory(compaction->db, error);
    return status;
}

static void
build_edit(const struct compaction *compaction, struct manifest_edit *edit)
{
    const petal_family *family = compaction->family;

    /* Want of memory in an edit comes back from its commit. */
    for (size_t i = 0; i < compaction->input_count; i++)
        manifest_edit_remove_file(edit, family->table->id, family->id,
                                  compaction->inputs[i]->number);
    for (size_t i = 0; i < compaction->result.count; i++)
        manifest_edit_add_file(edit, family->table->id, family->id,
                               &compaction->result.described[i]);
    db_edit_counters(compaction->db, edit);
}

/* The view with the outputs in place of the inputs. REQUIRES: view_mutex held. */
static enum petal_status
build_view(const struct compaction *compaction, struct view **view)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    struct view *current = atomic_load_explicit(&compaction->db->view, memory_order_relaxed);
    size_t slot = compaction->family->slot;
    struct store_view *changed;
    enum petal_status status = view_new(view, allocator, current, current->store_count);

    if (status == PETAL_OK)
        status = store_view_new(&changed, allocator, current->stores[slot],
                                &(struct store_change){.remove_files = compaction->inputs,
                                                       .remove_file_count = compaction->input_count,
                                                       .add_files = compaction->result.files,
                                                       .add_file_count = compaction->result.count});
    if (status == PETAL_OK) {
        view_set_store(*view, slot, changed);
    } else {
        view_unref(*view);
        *view = NULL;
    }
    return status;
}

static uint64_t
markers_of(const struct store_file *file)
{
    const struct file_facts *facts = sst_reader_facts(file->reader);

    return facts->cells - facts->puts;
}

static bool
has_dropped_markers(const struct compaction *compaction)
{
    uint64_t in = 0, out = 0;

    for (size_t i = 0; i < compaction->input_count; i++)
        in += markers_of(compaction->inputs[i]);
    for (size_t i = 0; i < compaction->result.count; i++)
        out += markers_of(compaction->result.files[i]);
    return out < in;
}

/*
 * Everything that can fail for lack of memory is made before the commit. *unknown: the manifest failed, so that it may name the
 * outputs or the inputs. REQUIRES: manifest_mutex and view_mutex held, under which no store is dropped.
 */
static enum petal_status
commit_result(struct compaction *compaction, bool *unknown, petal_error *error)
{
    petal_db *db = compaction->db;
    struct manifest_edit edit;
    struct view *view = NULL;
    enum petal_status status = family_check_alive(compaction->family, error);

    if (status != PETAL_OK)
        return status;
    if (build_view(compaction, &view) != PETAL_OK)
        return error_no_memory(error);
    manifest_edit_init(&edit, db->env.allocator);
    build_edit(compaction, &edit);
    status = db_commit(db, &edit, error);
    manifest_edit_fini(&edit);
    if (status != PETAL_OK) {
        *unknown = atomic_load_explicit(&db->failed, memory_order_relaxed);
        view_unref(view);
        return status;
    }
    for (size_t i = 0; i < compaction->input_count; i++)
        atomic_store_explicit(&compaction->inputs[i]->obsolete, true, memory_order_relaxed);
    db_publish_view(db, view);
    return PETAL_OK;
}

static void
count(const struct compaction *compaction)
{
    STATS_ADD_SHARED(compaction->db, compactions, 1);
    STATS_ADD_SHARED(compaction->db, compaction_cells_in, compaction->result.cells_in);
    STATS_ADD_SHARED(compaction->db, compaction_cells_out, compaction->result.cells_out);
    STATS_ADD_SHARED(compaction->db, compaction_bytes_in, compaction->bytes);
    STATS_ADD_SHARED(compaction->db, compaction_bytes_out, compaction->result.bytes_out);
}

/*
 * A snapshot that was taken since the markers were judged may see cells from outside: then the result is not committed, and
 * keep_markers is set. None is taken until the view has changed, else it would see both sides. REQUIRES: as commit_result.
 */
static enum petal_status
commit(struct compaction *compaction, bool *unknown, petal_error *error)
{
    bool alone = compaction->purpose == VISIBILITY_COMPACT && has_dropped_markers(compaction);
    enum petal_status status = PETAL_OK;

    if (alone)
        compaction->keep_markers = snapshot_lock(compaction->db) >= first_outside(compaction);
    if (!alone || !compaction->keep_markers)
        status = commit_result(compaction, unknown, error);
    if (alone)
        snapshot_unlock(compaction->db);
    return status;
}

/* Once more, keeping the markers, if a snapshot came in between. */
static enum petal_status
write_and_commit(struct compaction *compaction, bool *unknown, petal_error *error)
{
    petal_db *db = compaction->db;
    enum petal_status status;
    bool kept;

    do {
        kept = compaction->keep_markers;
        rewrite_result_fini(&compaction->result, db->env.allocator, true);
        status = write_files(compaction, error);
        if (status != PETAL_OK)
            return status;
        pthread_mutex_lock(&db->manifest_mutex);
        pthread_mutex_lock(&db->view_mutex);
        status = commit(compaction, unknown, error);
        pthread_mutex_unlock(&db->view_mutex);
        pthread_mutex_unlock(&db->manifest_mutex);
    } while (compaction->keep_markers != kept);
    return status;
}

/* A single file is rewritten, too: that nothing can go facts prove for few files, and BLOOMFILTER, BLOCKSIZE and COMPRESSION
 * reach old files by a compaction only. */
static enum petal_status
compact_inputs(struct compaction *compaction, petal_error *error)
{
    petal_db *db = compaction->db;
    bool unknown = false;
    char what[96];
    enum petal_status status = write_and_commit(compaction, &unknown, error);

    if (status == PETAL_OK) {
        count(compaction);
        snprintf(what, sizeof what, "compaction asked for (%zu files, %llu bytes)",
                 compaction->input_count, (unsigned long long)compaction->bytes);
        rewrite_report(compaction->family, &compaction->result, what);
    }
    rewrite_result_fini(&compaction->result, db->env.allocator, status != PETAL_OK && !unknown);
    return status;
}

static enum petal_status
compact_all_files(struct compaction *compaction, petal_error *error)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    const struct store_view *store = compaction->store;
    size_t bytes = store->file_count * sizeof *compaction->inputs;
    enum petal_status status;

    compaction->inputs = mem_alloc(allocator, bytes);
    if (compaction->inputs == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < store->file_count; i++)
        compaction->inputs[compaction->input_count++] = store->files[i].file;
    status = compact_inputs(compaction, error);
    mem_free(allocator, compaction->inputs, bytes);
    return status;
}

enum petal_status
compact_family(petal_family *family, petal_error *error)
{
    petal_db *db = family->table->db;
    struct compaction compaction = {.db = db, .family = family};
    enum petal_status status;

    pthread_mutex_lock(&db->compact_mutex);
    status = family_check_alive(family, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK) {
        compaction.view = read_pin_view(db);
        compaction.store = view_store(compaction.view, family);
        if (compaction.store != NULL && compaction.store->file_count > 0)
            status = compact_all_files(&compaction, error);
        view_unref(compaction.view);
    }
    pthread_mutex_unlock(&db->compact_mutex);
    /* The views that held the inputs are waiting for their readers. */
    epoch_collect(db->epoch);
    return status;
}

enum petal_status
petal_compact(petal_table *table, petal_family *family, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    enum petal_status status;

    error_clear(error);
    status = table_check_alive(table, error);
    if (status == PETAL_OK && family != NULL && family->table != table)
        status = error_set(error, PETAL_INVALID, "the family belongs to another table");
    if (status == PETAL_OK && family != NULL)
        return compact_family(family, error);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        status = compact_family(descriptor->families[i], error);
        /* A family may go while others are at work: there is nothing left to do for it. */
        if (status == PETAL_NOT_FOUND && family_is_dropped(descriptor->families[i]) &&
            !table_is_dropped(table)) {
            error_clear(error);
            status = PETAL_OK;
        }
    }
    return status;
}
