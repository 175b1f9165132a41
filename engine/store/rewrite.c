/* rewrite.c -- see rewrite.h. */
#include "engine/store/rewrite.h"

#include "base/clock.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"
#include "engine/store/bloom_share.h"
#include "engine/store/output_compression.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* So many cells of one row pass between two looks at whether the job is given up; at each new
 * row there is one, too. */
#define CELLS_BETWEEN_LOOKS 4096

/* A job at work. */
struct rewrite {
    const struct rewrite_job *job;
    struct rewrite_result *result;
    petal_db *db;
    struct visibility visibility;
    struct output output;
    uint8_t *row; /* at hand */
    size_t row_bytes, row_capacity;
    bool in_row;
    bool ended;    /* the file is full, and the result has the next row */
    uint64_t told; /* cells, to the job's progress */
};

/* ---- output ---- */

static enum petal_status
write_cell(struct rewrite *rewrite, const struct cell *cell, petal_error *error)
{
    enum petal_status status;
    struct cell settled;

    if (rewrite->job->level_sequences) {
        if (cell->sequence > rewrite->job->sequence_max)
            return error_set(error, PETAL_CORRUPT,
                             "a cell to be rewritten has the sequence %" PRIu64 ", and %" PRIu64
                             " is the greatest in the files it may be from",
                             cell->sequence, rewrite->job->sequence_max);
        assert(cell->type == PETAL_PUT);
        settled = *cell;
        settled.sequence = rewrite->job->sequence_max;
        cell = &settled;
    }
    status = store_output_add(&rewrite->output, cell, error);
    if (status == PETAL_INVALID) /* the writer refuses what does not sort after the cell before */
        status = error_set(error, PETAL_CORRUPT, "cells to be written to %s are out of order",
                           rewrite->output.path);
    return status;
}

/* ---- input ---- */

static enum petal_status
check_wanted(const struct rewrite *rewrite, petal_error *error)
{
    const _Atomic(bool) *give_up = rewrite->job->give_up;

    if (give_up != NULL && atomic_load_explicit(give_up, memory_order_relaxed))
        return error_set(error, PETAL_BUSY, "given up: the database is being closed");
    return family_check_alive(rewrite->job->family, error);
}

/* Neighbours differ at their ends, mostly. */
static bool
is_row_at_hand(const struct rewrite *rewrite, petal_slice row)
{
    return row.size == rewrite->row_bytes &&
           rewrite->row[row.size - 1] == slice_bytes(row)[row.size - 1] &&
           memcmp(rewrite->row, row.data, row.size) == 0;
}

/* The file ends before the row. */
static enum petal_status
end_before(struct rewrite *rewrite, petal_slice row, petal_error *error)
{
    uint8_t *copy = mem_alloc(rewrite->db->env.allocator, row.size);

    if (copy == NULL)
        return error_no_memory(error);
    memcpy(copy, row.data, row.size);
    rewrite->result->rest = slice_make(copy, row.size);
    rewrite->ended = true;
    return PETAL_OK;
}

/* Begin with the row of the cell at hand, if it is another one, or end before it. */
static enum petal_status
follow_row(struct rewrite *rewrite, petal_slice row, petal_error *error)
{
    const struct rewrite_job *job = rewrite->job;
    enum petal_status status;
    void *copy = rewrite->row;
    bool grown;

    if (rewrite->in_row && is_row_at_hand(rewrite, row))
        return PETAL_OK;
    if (store_output_bytes(&rewrite->output) >= job->file_bytes)
        return end_before(rewrite, row, error);
    if (job->meanwhile != NULL)
        job->meanwhile(job->meanwhile_argument, rewrite->result->cells_in, job->cells);
    status = check_wanted(rewrite, error);
    if (status != PETAL_OK)
        return status;
    grown = row.size < rewrite->row_capacity ||
            mem_grow(rewrite->db->env.allocator, &copy, &rewrite->row_capacity, 0, row.size + 1, 1);
    rewrite->row = copy;
    if (!grown)
        return error_no_memory(error);
    memcpy(rewrite->row, row.data, row.size);
    rewrite->row_bytes = row.size;
    rewrite->in_row = true;
    visibility_start_row(&rewrite->visibility);
    return PETAL_OK;
}

static void
progress_begin(const struct rewrite_job *job)
{
    if (job->progress != NULL)
        atomic_fetch_add_explicit(&job->progress->cells, job->cells, memory_order_relaxed);
}

static void
progress_step(struct rewrite *rewrite)
{
    struct rewrite_progress *progress = rewrite->job->progress;

    rewrite->told += CELLS_BETWEEN_LOOKS;
    if (progress != NULL)
        atomic_fetch_add_explicit(&progress->done, CELLS_BETWEEN_LOOKS, memory_order_relaxed);
}

static void
progress_end(const struct rewrite *rewrite)
{
    struct rewrite_progress *progress = rewrite->job->progress;

    if (progress == NULL)
        return;
    atomic_fetch_sub_explicit(&progress->done, rewrite->told, memory_order_relaxed);
    atomic_fetch_sub_explicit(&progress->cells, rewrite->job->cells, memory_order_relaxed);
}

static enum petal_status
take_cell(struct rewrite *rewrite, const struct cell *cell, petal_error *error)
{
    enum visibility_verdict verdict;
    enum petal_status status = follow_row(rewrite, cell->row, error);

    if (status != PETAL_OK || rewrite->ended)
        return status;
    if (++rewrite->result->cells_in % CELLS_BETWEEN_LOOKS == 0) {
        progress_step(rewrite);
        status = check_wanted(rewrite, error);
    }
    if (status != PETAL_OK)
        return status;
    if (visibility_judge(&rewrite->visibility, cell, &verdict) != PETAL_OK)
        return error_no_memory(error);
    if (verdict == VISIBILITY_SHOW)
        return write_cell(rewrite, cell, error);
    rewrite->result->dropped[rewrite->visibility.reason]++;
    return PETAL_OK;
}

/* Before the first row that is wanted. */
static enum petal_status
seek_low(struct rewrite *rewrite, petal_error *error)
{
    const struct rewrite_job *job = rewrite->job;
    size_t bytes = cell_key_bound(job->low.size, 0);
    struct cell_key key;
    enum petal_status status;
    uint8_t *memory;

    if (!job->shared || job->low.size == 0)
        return job->input->ops->seek_first(job->input, error);
    memory = mem_alloc(rewrite->db->env.allocator, bytes);
    if (memory == NULL)
        return error_no_memory(error);
    cell_key_make(&key, memory, job->low, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    status = job->input->ops->seek(job->input, &key, error);
    mem_free(rewrite->db->env.allocator, memory, bytes);
    return status;
}

/* No row is wanted any more. */
static bool
is_above(const struct rewrite *rewrite, petal_slice row)
{
    const struct rewrite_job *job = rewrite->job;

    return job->shared && job->high.size > 0 && slice_compare(row, job->high) >= 0;
}

static enum petal_status
take_all(struct rewrite *rewrite, petal_error *error)
{
    struct cell_iter *input = rewrite->job->input;
    enum petal_status status = seek_low(rewrite, error);

    while (status == PETAL_OK && input->valid && !is_above(rewrite, input->cell.row)) {
        status = take_cell(rewrite, &input->cell, error);
        if (rewrite->ended)
            break;
        if (status == PETAL_OK)
            status = input->ops->next(input, error);
    }
    return status == PETAL_OK ? store_output_end_file(&rewrite->output, error) : status;
}

/* Cells out are those that the files' facts count. Nothing is ever dropped for being above the
 * read point. */
static enum petal_status
check_balance(const struct rewrite *rewrite, petal_error *error)
{
    const struct rewrite_result *result = rewrite->result;
    bool is_part = rewrite->job->shared || rewrite->ended;
    uint64_t dropped = 0;

    for (int reason = 0; reason < VISIBILITY_REASONS; reason++)
        dropped += result->dropped[reason];
    if ((is_part ? result->cells_in <= rewrite->job->cells
                 : result->cells_in == rewrite->job->cells) &&
        result->cells_in == result->output.cells + dropped &&
        result->dropped[VISIBILITY_OUTSIDE] == 0)
        return PETAL_OK;
    return error_set(error, PETAL_CORRUPT,
                     "of %" PRIu64 " cells to be rewritten %" PRIu64 " came, %" PRIu64
                     " were written and %" PRIu64 " dropped: the result is refused",
                     rewrite->job->cells, result->cells_in, result->output.cells, dropped);
}

enum petal_status
rewrite_run(const struct rewrite_job *job, struct rewrite_result *result, petal_error *error)
{
    petal_db *db = job->family->table->db;
    struct rewrite rewrite = {.job = job, .result = result, .db = db};
    uint64_t begun = clock_us();
    enum petal_status status;

    assert(result->output.count == 0 && result->output.files == NULL && !db->read_only);
    store_output_init(&rewrite.output, job->family, job->origin, job->rules.now_ms,
                      &result->output);
    rewrite.output.sequence_max = job->sequence_max;
    rewrite.output.run = job->run;
    visibility_init(&rewrite.visibility, db->env.allocator, &job->rules);
    progress_begin(job);
    status = take_all(&rewrite, error);
    progress_end(&rewrite);
    if (status == PETAL_OK)
        status = check_balance(&rewrite, error);
    visibility_fini(&rewrite.visibility);
    store_output_fini(&rewrite.output);
    mem_free(db->env.allocator, rewrite.row, rewrite.row_capacity);
    result->took_ms = (clock_us() - begun) / 1000;
    if (status != PETAL_OK)
        rewrite_result_fini(result, db->env.allocator, true);
    return status;
}

bool
rewrite_keeps_form(const petal_family_options *family, const struct file_facts *facts,
                   enum file_origin origin)
{
    struct output_compression compression = output_compression_of(family, origin);
    bool compacted = facts->origin == FILE_ORIGIN_MINOR || facts->origin == FILE_ORIGIN_ALL_FILES;

    return facts->block_bytes == family->block_bytes &&
           facts->compression == compression.compression && (compacted || !compression.high) &&
           facts->bloom == family->bloom &&
           (facts->bloom == PETAL_BLOOM_NONE ||
            facts->bloom_error_rate <= bloom_share_rate(family, FILE_ORIGIN_ALL_FILES)) &&
           (facts->bloom != PETAL_BLOOM_ROW_PREFIX ||
            facts->bloom_prefix_bytes == family->bloom_prefix_bytes);
}

void
rewrite_result_fini(struct rewrite_result *result, const petal_allocator *allocator, bool remove)
{
    store_output_files_fini(&result->output, allocator, remove);
    mem_free(allocator, (void *)(uintptr_t)result->rest.data, result->rest.size);
    *result = (struct rewrite_result){0};
}

/* ---- report ---- */

void
rewrite_report(const struct store *store, const struct rewrite_result *result, const char *what)
{
    const petal_family *family = store->family;
    petal_db *db = family->table->db;
    char table[160], name[160], reasons[256] = "";
    size_t length = 0;

    for (int reason = 0; reason < VISIBILITY_REASONS; reason++) {
        if (result->dropped[reason] == 0 || length >= sizeof reasons)
            continue;
        length += (size_t)snprintf(reasons + length, sizeof reasons - length, "%s%" PRIu64 " %s",
                                   length == 0 ? "; dropped: " : ", ", result->dropped[reason],
                                   visibility_reason_text((enum visibility_reason)reason));
    }
    env_log(&db->env, PETAL_LOG_INFO,
            "%s of %s:%s, region %u: %" PRIu64 " cells in, %" PRIu64 " cells out, %" PRIu64
            " bytes in %zu files%s%s; %" PRIu64 " ms",
            what, error_quote(family->table->name, table, sizeof table),
            error_quote(family->name, name, sizeof name), store->region, result->cells_in,
            result->output.cells, result->output.bytes, result->output.count, reasons,
            result->rest.size > 0 ? "; more rows follow" : "", result->took_ms);
    STATS_ADD_SHARED(db, dropped_masked, result->dropped[VISIBILITY_MASKED]);
    STATS_ADD_SHARED(db, dropped_superseded, result->dropped[VISIBILITY_SUPERSEDED]);
    STATS_ADD_SHARED(db, dropped_surplus, result->dropped[VISIBILITY_SURPLUS]);
    STATS_ADD_SHARED(db, dropped_expired, result->dropped[VISIBILITY_EXPIRED]);
    STATS_ADD_SHARED(db, dropped_markers, result->dropped[VISIBILITY_MARKER]);
}
