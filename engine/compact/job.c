/* job.c -- see engine/compact/job.h. */
#include "engine/compact/job.h"

#include "base/clock.h"
#include "base/merge_iter.h"
#include "engine/compact/plan.h"
#include "engine/compact/room.h"
#include "engine/compact/runs.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"
#include "engine/store/change.h"
#include "engine/store/rewrite.h"

#include <inttypes.h>
#include <stdio.h>

/* A job at work, or a part of it. */
struct compaction {
    const struct compact_job *job;
    petal_db *db;
    struct store_file **inputs; /* the job's, or some of them; passed inputs leave it */
    size_t input_count;
    struct store_file **cuts; /* what each has after the rows of the output; NULL: nothing */
    bool past;                /* no row after those of the output is the store's */
    uint64_t room;            /* bytes that the outputs of the part take at most, about */
    uint64_t cells, bytes;    /* of the part's inputs, all of them */
    uint64_t done;            /* of the cells, in outputs before */
    uint64_t cells_before, job_cells; /* of the inputs of the parts before it, and of all parts */
    uint64_t greatest_sequence;       /* of all inputs of the job, and .. */
    bool knows_earliest_put;
    int64_t earliest_put;       /* .. theirs; known at the first part */
    struct sst_iter *iters;     /* one for each input */
    struct cell_iter **sources; /* the same */
    struct merge_iter merge;
    struct read_trace
        trace; /* what the job reads is not counted among the reads: compaction_bytes_in tells */
    enum visibility_purpose purpose;
    bool keep_markers; /* a snapshot that came later needs them */
    struct rewrite_result result;
};

/* Has the store's region won rows that the job did not read of its inputs, or read of a file that
 * is not the region's any more? A region that was split and merged again may have got rows back,
 * but not the file, when the other one has rewritten them. */
static bool
has_won_rows(const struct compact_job *job, const struct view *view)
{
    const struct store_view *store = view_store(view, job->store);
    petal_slice end = view_end(view, job->store);

    if (job->shared && job->end.size > 0 && (end.size == 0 || slice_compare(end, job->end) > 0))
        return true;
    for (size_t i = 0; i < job->input_count; i++) {
        if (store_file_has_rows(job->inputs[i], job->store->start, end) &&
            !store_view_has_file(store, job->inputs[i]))
            return true;
    }
    return false;
}

/* May what the job has done enter the view? */
static enum petal_status
check_store(const struct compact_job *job, const struct view *view, petal_error *error)
{
    enum petal_status status = store_check_alive(job->store, error);

    if (status == PETAL_OK && has_won_rows(job, view))
        return error_set(error, PETAL_BUSY, "region %u was merged with another",
                         job->store->region);
    return status;
}

/* ---- input ---- */

static const struct file_facts *
facts_of(const struct compaction *compaction, size_t index)
{
    return store_file_facts(compaction->inputs[index]);
}

static uint64_t
greatest_sequence(struct store_file *const *files, size_t count)
{
    uint64_t greatest = 0;

    for (size_t i = 0; i < count; i++) {
        const struct file_facts *facts = store_file_facts(files[i]);

        if (facts->sequence_max > greatest)
            greatest = facts->sequence_max;
    }
    return greatest;
}

/* From the least row of the inputs to the greatest. */
static void
rows_of(const struct compaction *compaction, petal_slice *least, petal_slice *greatest)
{
    *least = facts_of(compaction, 0)->row_min;
    *greatest = facts_of(compaction, 0)->row_max;
    for (size_t i = 1; i < compaction->input_count; i++) {
        const struct file_facts *facts = facts_of(compaction, i);

        if (slice_compare(facts->row_min, *least) < 0)
            *least = facts->row_min;
        if (slice_compare(facts->row_max, *greatest) > 0)
            *greatest = facts->row_max;
    }
}

/* The first sequence of the store, among the rows of the inputs, outside of them. When they were
 * all its files there, all of that is newer than they are, but for what was in memory when a bulk
 * was committed that is among them. */
static uint64_t
first_outside(const struct compaction *compaction, const struct view *view)
{
    const struct store_view *store = view_store(view, compaction->job->store);
    petal_slice least, greatest;

    if (store == NULL)
        return UINT64_MAX;
    rows_of(compaction, &least, &greatest);
    return store_first_outside(store, compaction->inputs, compaction->input_count, least, greatest);
}

/* The same, in the current view. */
static uint64_t
first_outside_now(const struct compaction *compaction)
{
    struct read_point point;
    uint64_t first;

    read_begin(compaction->db, &point);
    first = first_outside(compaction, point.view);
    read_end(compaction->db, &point);
    return first;
}

/*
 * With all files the markers go, if nothing older than they are is left outside. The inputs were
 * all files, and what is newer was in memtables then, since flushes install in the order of
 * sequences; but a bulk enters the files above cells that stay in memory, so one looks. And a put
 * may be newer and yet lie below a marker in time, so that it would come to light. It does, as in
 * HBase, when it is outside; but not before the eyes of a snapshot: markers stay while one sees
 * cells from outside. They stay, too, while the inputs hold a cell above the read point: it is
 * kept, and what hides it must not go before it. All parts of a job are judged alike, as if they
 * were one.
 */
static enum visibility_purpose
purpose_of(const struct compaction *compaction, uint64_t read_point)
{
    uint64_t newest = read_point_newest(compaction->db), outside;

    assert(read_point <=
           atomic_load_explicit(&compaction->db->views.published_sequence, memory_order_acquire));
    /* The snapshots come first: one that is seen here has a first cell outside that is seen, too,
     * if it sees any there. */
    if (!compaction->job->all_files)
        return VISIBILITY_PART;
    outside = first_outside_now(compaction);
    return !compaction->keep_markers && compaction->greatest_sequence <= read_point &&
                   compaction->greatest_sequence < outside && newest < outside
               ? VISIBILITY_COMPACT
               : VISIBILITY_PART;
}

/*
 * LEVELLED SEQUENCES. What a compaction of all files leaves of a family that keeps no deleted cells
 * gets one sequence, the greatest that the inputs have, which compresses to nothing. Whatever asks
 * for a sequence gets the same answer from it:
 *
 * - No reader, now or later, has a read point below the inputs' greatest sequence, nor does any see
 *   a view that holds the outputs beside what was older than they: all of it is seen, as before.
 * - Beside other cells of the outputs none needs its sequence: the markers are gone, and of puts
 *   of a column one at each timestamp is left, so the order stays strict without it.
 * - Beside cells from outside it is below theirs, as it was: all that lies outside is newer
 *   (purpose_of looks), or it entered below all meanwhile, by a bulk, and is below this one, too.
 *   Markers and puts that come later, with the same timestamp, too, hide what they hid; nobody asks
 *   by how much they are newer.
 * - In the order of writes, should the family come to it, the lives of the puts begin at it: before
 *   every marker that there is then, since these are newer, and so as before.
 * - Files and runs are ordered, skipped, and described in the manifest by the greatest sequence
 *   that there was, as before.
 * - Logs are replayed by the sequences that the manifest says are flushed, and sequences go on
 *   after the manifest's and the logs' greatest: no cell in a file is asked.
 * - What is to enter below all finds room below it (engine/table/bulk.c).
 *
 * A family that keeps deleted cells keeps markers, which may have the timestamps of puts; one with
 * MIN_VERSIONS may keep a put below another at its timestamp that has its own TTL. In the order of
 * writes the sequences of the puts that stay are left as they are, too. (Files of earlier versions
 * have the sequence 0 in place of the greatest.)
 */
static bool
levels_sequences(const struct compaction *compaction, const struct visibility_rules *rules)
{
    if (compaction->purpose != VISIBILITY_COMPACT || rules->new_version_behavior ||
        rules->keep_deleted > PETAL_KEEP_DELETED_FALSE)
        return false;
    for (size_t i = 0; rules->min_versions > 0 && i < compaction->input_count; i++) {
        if (facts_of(compaction, i)->ttl_cells > 0)
            return false;
    }
    return true;
}

/* No put of the job's inputs is older, but in files that are past the family's time to live as a
 * whole: HBase drops those before, but never the newest. */
static int64_t
earliest_put(const struct compact_job *job, const struct visibility_rules *rules)
{
    uint64_t newest = greatest_sequence(job->inputs, job->input_count);
    int64_t earliest = INT64_MAX;

    for (size_t i = 0; i < job->input_count; i++) {
        const struct file_facts *facts = store_file_facts(job->inputs[i]);
        bool expired = rules->min_versions == 0 && facts->time_max < rules->oldest_unexpired &&
                       facts->sequence_max < newest;

        if (!expired && facts->put_time_min < earliest)
            earliest = facts->put_time_min;
    }
    return earliest;
}

/* What all rows of the inputs begin with: what the first and the last share. */
static size_t
shared_row_bytes(const struct compaction *compaction)
{
    petal_slice least, greatest;

    rows_of(compaction, &least, &greatest);
    return slice_common_prefix(least, greatest);
}

static enum petal_status
open_input(struct compaction *compaction, petal_error *error)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    size_t count = compaction->input_count;
    struct read_context context = {
        .trace = &compaction->trace, .keep_out_of_cache = true, .whole_file = true};

    compaction->iters = mem_zalloc(allocator, count * sizeof *compaction->iters);
    compaction->sources = mem_alloc(allocator, count * sizeof *compaction->sources);
    if (compaction->iters == NULL || compaction->sources == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        /* Not lazy: every block is going to be read. */
        store_file_iter_init(&compaction->iters[i], compaction->inputs[i], &context, false, false);
        compaction->sources[i] = &compaction->iters[i].iter;
    }
    if (merge_iter_init(&compaction->merge, allocator, compaction->sources, count) != PETAL_OK)
        return error_no_memory(error);
    compaction->merge.shared_row_bytes = shared_row_bytes(compaction);
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

static void
tell_meanwhile(void *argument, uint64_t cells_done, uint64_t cells)
{
    const struct compaction *compaction = argument;
    const struct compact_job *job = compaction->job;

    (void)cells;
    job->meanwhile(job->meanwhile_argument,
                   compaction->cells_before + compaction->done + cells_done, compaction->job_cells);
}

/* Of an amount that goes with the part's cells, the share of so many of them. */
static uint64_t
share_of(const struct compaction *compaction, uint64_t amount, uint64_t cells)
{
    return (uint64_t)((double)amount * ((double)cells / (double)compaction->cells));
}

static void
forget_cuts(struct compaction *compaction, size_t count)
{
    for (size_t i = 0; compaction->cuts != NULL && i < count; i++)
        store_file_unref(compaction->cuts[i]);
    mem_free(compaction->db->env.allocator, compaction->cuts, count * sizeof(struct store_file *));
    compaction->cuts = NULL;
}

/* What is left of the inputs from the first row on that the output does not have. */
static enum petal_status
cut_inputs(struct compaction *compaction, petal_error *error)
{
    petal_slice rest = compaction->result.rest;
    size_t count = compaction->input_count;
    enum petal_status status = PETAL_OK;

    if (rest.size == 0)
        return PETAL_OK;
    compaction->cuts =
        mem_zalloc(compaction->db->env.allocator, count * sizeof(struct store_file *));
    if (compaction->cuts == NULL)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        struct store_file *input = compaction->inputs[i];
        const struct file_facts *facts = store_file_facts(input);

        if (slice_compare(facts->row_min, rest) >= 0) {
            store_file_ref(input); /* all of it */
            compaction->cuts[i] = input;
        } else if (slice_compare(facts->row_max, rest) >= 0) {
            status = store_file_part(&compaction->cuts[i], input, input->run, rest, error);
        }
    }
    return status;
}

static enum petal_status
write_file(struct compaction *compaction, petal_error *error)
{
    struct rewrite_job job = {
        .family = compaction->job->store->family,
        .file_bytes = compaction->db->compact_file_bytes,
        .sequence_max = greatest_sequence(compaction->inputs, compaction->input_count),
        .run = compaction->job->run,
        .origin = compaction->job->all_files ? FILE_ORIGIN_ALL_FILES : FILE_ORIGIN_MINOR,
        .give_up = compaction->job->give_up,
        .meanwhile = compaction->job->meanwhile != NULL ? tell_meanwhile : NULL,
        .meanwhile_argument = compaction,
        .progress = &compaction->db->progress.compacting,
    };
    uint64_t read_point = read_point_oldest(compaction->db);
    uint64_t left = compaction->cells - compaction->done;
    uint64_t room = share_of(compaction, compaction->room, left);
    enum petal_status status = room_take(compaction->db, room, error);

    if (status != PETAL_OK)
        return status;
    status = open_input(compaction, error);
    if (status == PETAL_OK) {
        compaction->purpose = purpose_of(compaction, read_point);
        visibility_rules_of(&job.rules, family_options(job.family), compaction->purpose, read_point,
                            env_clock_ms(&compaction->db->env));
        if (!compaction->knows_earliest_put) /* at the first part, while all inputs are there */
            compaction->earliest_put = earliest_put(compaction->job, &job.rules);
        compaction->knows_earliest_put = true;
        job.rules.earliest_put = compaction->earliest_put;
        job.level_sequences = levels_sequences(compaction, &job.rules);
        job.cells = left;
        job.shared = compaction->job->shared;
        job.low = compaction->job->store->start;
        job.high = compaction->job->end;
        job.input = compaction->input_count == 1 ? compaction->sources[0] : &compaction->merge.iter;
        status = rewrite_run(&job, &compaction->result, error);
    }
    room_give_back(compaction->db, room);
    close_input(compaction);
    if (status == PETAL_OK)
        status = cut_inputs(compaction, error);
    if (status == PETAL_OK)
        status = db_sync_directory(compaction->db, error);
    return status;
}

static uint64_t
markers_of(const struct store_file *file)
{
    const struct file_facts *facts = store_file_facts(file);

    return facts->cells - facts->puts;
}

static bool
has_dropped_markers(const struct compaction *compaction)
{
    uint64_t in = 0, out = 0;

    for (size_t i = 0; i < compaction->input_count; i++)
        in += markers_of(compaction->inputs[i]);
    for (size_t i = 0; i < compaction->result.output.count; i++)
        out += markers_of(compaction->result.output.files[i]);
    return out < in;
}

static void
count(const struct compaction *compaction)
{
    STATS_ADD_SHARED(compaction->db, compaction_cells_in, compaction->result.cells_in);
    STATS_ADD_SHARED(compaction->db, compaction_cells_out, compaction->result.output.cells);
    STATS_ADD_SHARED(compaction->db, compaction_bytes_in,
                     share_of(compaction, compaction->bytes, compaction->result.cells_in));
    STATS_ADD_SHARED(compaction->db, compaction_bytes_out, compaction->result.output.bytes);
}

/*
 * The output takes the place of the inputs' rows up to its end. A read point that was taken since
 * the markers were judged may see cells from outside: then the output is not committed, and
 * keep_markers is set. None is taken until the view has changed, else it would see both sides.
 * *unknown: the manifest failed, so that it may name the output or the inputs.
 */
static enum petal_status
commit(struct compaction *compaction, bool *unknown, petal_error *error)
{
    petal_db *db = compaction->db;
    const struct compact_job *job = compaction->job;
    bool alone = compaction->purpose == VISIBILITY_COMPACT && has_dropped_markers(compaction);
    struct change change;
    enum petal_status status;

    change_begin(&change, db, 0);
    status = check_store(job, change.current, error);
    if (alone) {
        uint64_t newest = read_point_lock(db); /* first, as in purpose_of */

        compaction->keep_markers = newest >= first_outside(compaction, change.current);
    }
    if (status == PETAL_OK && !(alone && compaction->keep_markers)) {
        petal_slice rest = compaction->result.rest, end = view_end(change.current, job->store);

        change_rewritten(&change, job->store,
                         &(struct rewritten){.files = compaction->inputs,
                                             .cuts = compaction->cuts,
                                             .file_count = compaction->input_count},
                         &compaction->result.output);
        compaction->past = rest.size == 0 || (end.size > 0 && slice_compare(rest, end) >= 0);
        status = change_commit(&change, error);
        if (status == PETAL_OK)
            change_publish(&change);
        *unknown = change.unknown;
    }
    if (alone)
        read_point_unlock(db);
    change_end(&change);
    return status;
}

/* Until the next file is full. Once more, keeping the markers, if a read point came in between. */
static enum petal_status
write_and_commit(struct compaction *compaction, bool *unknown, petal_error *error)
{
    enum petal_status status;
    bool kept;

    do {
        kept = compaction->keep_markers;
        forget_cuts(compaction, compaction->input_count);
        rewrite_result_fini(&compaction->result, compaction->db->env.allocator, true);
        status = write_file(compaction, error);
        if (status == PETAL_OK)
            status = commit(compaction, unknown, error);
    } while (status == PETAL_OK && compaction->keep_markers != kept);
    return status;
}

/* ---- report ---- */

/* Which files went in, as far as there is room: the line ends at ENV_LOG_LINE_BYTES. */
static void
describe_inputs(const struct compaction *compaction, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < compaction->input_count; i++) {
        const struct file_facts *facts = facts_of(compaction, i);

        if (length + 80 > size) {
            snprintf(text + length, size - length, ", and %zu more", compaction->input_count - i);
            return;
        }
        length += (size_t)snprintf(
            text + length, size - length, "%s%" PRIu64 " (%" PRIu64 " bytes, %" PRIu64 " cells)",
            i == 0 ? "" : ", ", compaction->inputs[i]->number, facts->file_bytes, facts->cells);
    }
}

static void
report(const struct compaction *compaction)
{
    const struct compact_job *job = compaction->job;
    char inputs[256], what[352];

    describe_inputs(compaction, inputs, sizeof inputs);
    snprintf(what, sizeof what, "%s compaction, %s: files %s",
             job->all_files ? "all-files" : "minor", policy_reason_text(job->reason), inputs);
    rewrite_report(job->store, &compaction->result, what);
}

/* ---- a job ---- */

/* The inputs, those that are rewritten part by part, and what came of it. */
struct parts {
    struct plan_file *files;
    struct plan_part *parts;
    struct store_file **inputs; /* by their rows, as `files` */
    struct store_file **linked;
    size_t part_count, linked_count;
    bool unknown;   /* a commit failed such that the manifest may name what it would have */
    bool compacted; /* a part was a compaction of all files, with regard to markers */
    uint64_t took_ms;
};

static enum petal_status
check_before(const struct compact_job *job, petal_error *error)
{
    enum petal_status status = store_check_alive(job->store, error);

    return status == PETAL_OK ? db_check_writable(job->store->family->table->db, error) : status;
}

/* Has the file rows that are not the store's? */
static bool
reaches_beyond(const struct compact_job *job, const struct store_file *file)
{
    const struct file_facts *facts = store_file_facts(file);

    return store_file_is_cut(file) || slice_compare(facts->row_min, job->store->start) < 0 ||
           (job->end.size > 0 && slice_compare(facts->row_max, job->end) >= 0);
}

/* When the newest file was written of which an earlier job has left a part; INT64_MAX: none is. */
static int64_t
latest_cut(const struct compact_job *job)
{
    int64_t latest = INT64_MAX;

    for (size_t i = 0; i < job->input_count; i++) {
        const struct store_file *file = job->inputs[i];
        int64_t written_ms = store_file_facts(file)->written_ms;

        if (store_file_is_cut(file) && (latest == INT64_MAX || written_ms > latest))
            latest = written_ms;
    }
    return latest;
}

/* What is asked for is rewritten in any case: reading a file shows whether it is damaged. Else what
 * a stopped job of all files has left (`since` latest_cut) is as this one would leave it. */
static bool
is_settled(const struct compact_job *job, const struct store_file *file, int64_t since)
{
    const struct file_facts *facts = store_file_facts(file);
    bool just_left = job->all_files && facts->origin == FILE_ORIGIN_ALL_FILES &&
                     facts->written_ms >= since && since != INT64_MAX;

    return job->reason != POLICY_ASKED && !reaches_beyond(job, file) &&
           (just_left ||
            facts_all_needed(facts, family_options(job->store->family), job->now_ms)) &&
           rewrite_keeps_form(family_options(job->store->family), facts,
                              job->all_files ? FILE_ORIGIN_ALL_FILES : FILE_ORIGIN_MINOR);
}

/* What a rewrite takes of the file: all of it, or what the index tells of the store's rows. */
static enum petal_status
wanted_bytes(const struct compact_job *job, const struct store_file *file, uint64_t *bytes,
             petal_error *error)
{
    const struct file_facts *facts = store_file_facts(file);
    petal_slice low = job->store->start;

    *bytes = facts->file_bytes;
    if (!reaches_beyond(job, file))
        return PETAL_OK;
    if (slice_compare(low, facts->row_min) < 0)
        low = facts->row_min;
    return sst_reader_part(file->reader, low, job->end, bytes, error);
}

static enum petal_status
make_parts(struct parts *parts, const struct compact_job *job, petal_error *error)
{
    petal_db *db = job->store->family->table->db;
    const petal_allocator *allocator = db->env.allocator;
    struct plan_limits limits = {.small_bytes = db->linked_file_bytes,
                                 .part_bytes = db->compact_file_bytes};
    size_t count = job->input_count;
    int64_t since = latest_cut(job);
    enum petal_status status = PETAL_OK;

    parts->files = mem_alloc(allocator, count * sizeof *parts->files);
    parts->parts = mem_alloc(allocator, count * sizeof *parts->parts);
    parts->inputs = mem_alloc(allocator, count * sizeof *parts->inputs);
    parts->linked = mem_alloc(allocator, count * sizeof *parts->linked);
    if (parts->files == NULL || parts->parts == NULL || parts->inputs == NULL ||
        parts->linked == NULL)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        const struct file_facts *facts = store_file_facts(job->inputs[i]);

        parts->files[i] = (struct plan_file){.row_min = facts->row_min,
                                             .row_max = facts->row_max,
                                             .settled = is_settled(job, job->inputs[i], since),
                                             .input = i};
        status = wanted_bytes(job, job->inputs[i], &parts->files[i].bytes, error);
    }
    if (status != PETAL_OK)
        return status;
    parts->part_count = plan_parts(parts->files, count, &limits, parts->parts);
    for (size_t i = 0; i < count; i++)
        parts->inputs[i] = job->inputs[parts->files[i].input];
    return PETAL_OK;
}

static void
free_parts(struct parts *parts, size_t count, const petal_allocator *allocator)
{
    mem_free(allocator, parts->files, count * sizeof *parts->files);
    mem_free(allocator, parts->parts, count * sizeof *parts->parts);
    mem_free(allocator, parts->inputs, count * sizeof *parts->inputs);
    mem_free(allocator, parts->linked, count * sizeof *parts->linked);
}

/* The cells and bytes of the part's inputs, of each the whole file's. */
static void
measure(struct compaction *compaction, const struct parts *parts, const struct plan_part *part)
{
    compaction->cells = compaction->bytes = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct file_facts *facts = store_file_facts(parts->inputs[i]);

        compaction->cells += facts->cells;
        compaction->bytes += facts->file_bytes;
    }
}

/* What is left of an input takes its place among the job's. */
static void
replace_input(struct compact_job *job, struct store_file *input, struct store_file *cut)
{
    size_t at = 0;

    while (job->inputs[at] != input)
        at++;
    job->inputs[at] = cut != NULL ? cut : job->inputs[--job->input_count];
    store_file_unref(input);
}

/* The output is committed: what is left of the inputs are the inputs. What is replaced takes room
 * until nobody holds it. */
static void
pass_inputs(struct compaction *compaction, struct compact_job *job)
{
    size_t count = compaction->input_count;

    compaction->input_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct store_file *cut = NULL;

        if (compaction->cuts != NULL) {
            cut = compaction->cuts[i];
            compaction->cuts[i] = NULL; /* the job's */
        }
        replace_input(job, compaction->inputs[i], cut);
        if (cut != NULL)
            compaction->inputs[compaction->input_count++] = cut;
    }
    forget_cuts(compaction, count);
    db_collect(compaction->db);
}

/* File after file is written and committed. */
static enum petal_status
rewrite_part(struct compaction *compaction, struct compact_job *job, struct parts *parts,
             petal_error *error)
{
    const petal_allocator *allocator = compaction->db->env.allocator;
    enum petal_status status;

    compaction->done = 0;
    do {
        compaction->keep_markers = false;
        status = write_and_commit(compaction, &parts->unknown, error);
        if (status == PETAL_OK) {
            count(compaction);
            report(compaction);
            pass_inputs(compaction, job);
        } else {
            forget_cuts(compaction, compaction->input_count);
        }
        parts->compacted = parts->compacted || compaction->purpose == VISIBILITY_COMPACT;
        parts->took_ms += compaction->result.took_ms;
        compaction->done += compaction->result.cells_in;
        rewrite_result_fini(&compaction->result, allocator, status != PETAL_OK && !parts->unknown);
    } while (status == PETAL_OK && !compaction->past);
    return status;
}

/* One part after the other is rewritten: a job that fails or is given up keeps what it has done. */
static enum petal_status
rewrite_parts(struct parts *parts, struct compact_job *job, petal_error *error)
{
    struct compaction compaction = {.job = job,
                                    .db = job->store->family->table->db,
                                    .greatest_sequence =
                                        greatest_sequence(job->inputs, job->input_count)};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; i < parts->part_count; i++) {
        measure(&compaction, parts, &parts->parts[i]);
        compaction.job_cells += parts->parts[i].linked ? 0 : compaction.cells;
    }
    for (size_t i = 0; status == PETAL_OK && i < parts->part_count; i++) {
        const struct plan_part *part = &parts->parts[i];

        if (part->linked) {
            parts->linked[parts->linked_count++] = parts->inputs[part->first];
            continue;
        }
        compaction.inputs = parts->inputs + part->first;
        compaction.input_count = part->count;
        compaction.room = part->bytes;
        measure(&compaction, parts, part);
        status = rewrite_part(&compaction, job, parts, error);
        compaction.cells_before += compaction.cells;
    }
    return status;
}

/* Those of the files that are not of the run yet; their number. */
static size_t
leave_out_those_of_run(struct store_file **files, size_t count, const struct store_view *store,
                       uint64_t run)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        const struct file_entry *entry = store_view_find_file(store, files[i]);

        if (entry != NULL && entry->run != run)
            files[left++] = files[i];
    }
    return left;
}

static void
report_linked(const struct compact_job *job, const struct parts *parts)
{
    petal_db *db = job->store->family->table->db;
    char table[160], name[160];
    uint64_t bytes = 0;

    for (size_t i = 0; i < parts->linked_count; i++)
        bytes += store_file_facts(parts->linked[i])->file_bytes;
    env_log(&db->env, PETAL_LOG_INFO,
            "%s compaction, %s, of %s:%s: %zu files of %" PRIu64
            " bytes that overlap no other are in run %" PRIu64 " as they are",
            job->all_files ? "all-files" : "minor", policy_reason_text(job->reason),
            error_quote(job->store->family->table->name, table, sizeof table),
            error_quote(job->store->family->name, name, sizeof name), parts->linked_count, bytes,
            job->run);
}

static enum petal_status
link_files(struct parts *parts, const struct compact_job *job, petal_error *error)
{
    struct change change;
    enum petal_status status;

    if (parts->linked_count == 0)
        return PETAL_OK;
    change_begin(&change, job->store->family->table->db, 0);
    status = check_store(job, change.current, error);
    if (status == PETAL_OK) {
        parts->linked_count = leave_out_those_of_run(
            parts->linked, parts->linked_count, view_store(change.current, job->store), job->run);
        if (parts->linked_count > 0) {
            change_linked(&change, job->store, parts->linked, parts->linked_count, job->run);
            status = change_commit(&change, error);
        }
        if (status == PETAL_OK)
            change_publish(&change);
    }
    change_end(&change);
    if (status == PETAL_OK && parts->linked_count > 0)
        report_linked(job, parts);
    return status;
}

/* Snapshots that come and go may be gone whenever one looks for work and there whenever a job ends:
 * so one that was in vain is not repeated before ten times the time it took, and a minute. */
static void
note_if_in_vain(const struct compact_job *job, const struct parts *parts)
{
    bool in_vain = job->reason == POLICY_DELETED && !parts->compacted;
    uint64_t wait_ms = 60000 + 10 * parts->took_ms;

    if (job->all_files)
        atomic_store_explicit(&job->store->deleted_stay_us,
                              in_vain ? clock_us() + 1000 * wait_ms : 0, memory_order_relaxed);
}

enum petal_status
compact_run(struct compact_job *job, petal_error *error)
{
    petal_db *db = job->store->family->table->db;
    size_t input_count = job->input_count;
    struct parts parts = {0};
    uint64_t began = clock_ns();
    enum petal_status status = check_before(job, error);

    assert(job->input_count > 0);
    if (status == PETAL_OK)
        status = make_parts(&parts, job, error);
    if (status == PETAL_OK)
        status = rewrite_parts(&parts, job, error);
    if (status == PETAL_OK)
        status = link_files(&parts, job, error);
    if (status == PETAL_OK) {
        latency_end(&db->latencies, PETAL_LATENCY_COMPACTION, began);
        STATS_ADD_SHARED(db, compactions, 1);
        note_if_in_vain(job, &parts);
    }
    free_parts(&parts, input_count, db->env.allocator);
    return status;
}

static void
report_expired(const struct compaction *compaction)
{
    const struct compact_job *job = compaction->job;
    petal_db *db = compaction->db;
    char table[160], name[160], inputs[128];
    uint64_t cells = 0;

    for (size_t i = 0; i < job->input_count; i++)
        cells += store_file_facts(job->inputs[i])->cells;
    describe_inputs(compaction, inputs, sizeof inputs);
    env_log(&db->env, PETAL_LOG_INFO,
            "files of %s:%s dropped unread: %s; %" PRIu64
            " cells in, 0 cells out; dropped: %" PRIu64 " %s",
            error_quote(job->store->family->table->name, table, sizeof table),
            error_quote(job->store->family->name, name, sizeof name), inputs, cells, cells,
            visibility_reason_text(VISIBILITY_EXPIRED));
    STATS_ADD_SHARED(db, dropped_expired, cells);
    STATS_ADD_SHARED(db, expired_files, job->input_count);
}

/*
 * Cells past a time to live are there for no reader but raw scans, whatever its read point; and a
 * marker that is past it hid older cells only, which are past it as well, or is one that has died.
 */
enum petal_status
compact_drop_expired(const struct compact_job *job, petal_error *error)
{
    petal_db *db = job->store->family->table->db;
    struct compaction compaction = {
        .job = job, .db = db, .inputs = job->inputs, .input_count = job->input_count};
    bool unknown = false;
    enum petal_status status = check_before(job, error);

    assert(job->input_count > 0);
    if (status == PETAL_OK)
        status = commit(&compaction, &unknown, error);
    if (status == PETAL_OK)
        report_expired(&compaction);
    return status;
}
