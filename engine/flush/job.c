/* job.c -- see job.h. */
#include "engine/flush/job.h"

#include "base/sync_point.h"
#include "engine/flush/capture.h"
#include "engine/state/read_point.h"
#include "engine/store/change.h"
#include "engine/wal/wal.h"

/* ---- life ---- */

static size_t
job_bytes(size_t part_count)
{
    return sizeof(struct flush_job) + part_count * sizeof(struct flush_part);
}

struct flush_job *
flush_job_new(petal_db *db, size_t part_count)
{
    return mem_zalloc(db->env.allocator, job_bytes(part_count));
}

void
flush_job_remove_files(petal_db *db, struct flush_job *job)
{
    assert(!job->committed);
    for (size_t i = 0; i < job->part_count; i++) {
        rewrite_result_fini(&job->parts[i].result, db->env.allocator, true);
        job->parts[i].written = false;
    }
}

void
flush_job_release(petal_db *db, struct flush_job *job)
{
    bool remove =
        !job->committed && !atomic_load_explicit(&db->failure.failed, memory_order_relaxed);

    for (size_t i = 0; i < job->part_count; i++) {
        store_memtable_unref(job->parts[i].memtable);
        job->parts[i].memtable = NULL;
        rewrite_result_fini(&job->parts[i].result, db->env.allocator, remove);
    }
    capture_unref(job->capture);
    job->capture = NULL;
}

void
flush_job_free(petal_db *db, struct flush_job *job)
{
    if (job == NULL)
        return;
    flush_job_release(db, job);
    mem_free(db->env.allocator, job, job_bytes(job->part_count));
}

/* ---- work ---- */

static enum petal_status
write_part(petal_db *db, struct flush_part *part, petal_error *error)
{
    struct memtable_iter iter;
    struct rewrite_job job = {
        .family = part->store->family,
        .input = &iter.iter,
        .cells = part->facts.cells,
        .origin = FILE_ORIGIN_FLUSH,
        .file_bytes = UINT64_MAX,
    };
    enum petal_status status;

    assert(part->memtable != NULL && part->facts.cells > 0);
    if (part->written || family_is_dropped(part->store->family))
        return PETAL_OK;
    visibility_rules_of(&job.rules, family_options(part->store->family), VISIBILITY_PART,
                        read_point_oldest(db), env_clock_ms(&db->env));
    memtable_iter_init(&iter, part->memtable->memtable);
    status = rewrite_run(&job, &part->result, error);
    iter.iter.ops->close(&iter.iter);
    part->written = status == PETAL_OK;
    return family_is_dropped(part->store->family) ? PETAL_OK : status;
}

/* The logs go that tell which timestamps the store gave ahead of its clock. Where the clock, which
 * the same edit records, is not after them nobody needs to know. */
static void
note_ahead(petal_db *db, const struct flush_part *part, struct manifest_edit *edit)
{
    if (part->stamped > atomic_load_explicit(&db->views.published_timestamp, memory_order_acquire))
        manifest_edit_ahead(edit, part->store->family->table->id, part->store->family->id,
                            part->stamped);
}

/* Files of stores that were dropped while they were written go at once; the others take the place
 * of their memtables. *oldest_log: logs below it are not needed any more. */
static enum petal_status
commit(petal_db *db, struct flush_job *job, uint64_t *oldest_log, petal_error *error)
{
    struct change change;
    uint64_t oldest_open;
    enum petal_status status;

    change_begin(&change, db, 0);
    for (size_t i = 0; i < job->part_count; i++) {
        struct flush_part *part = &job->parts[i];
        const petal_family *family = part->store->family;

        if (part->written && family_is_dropped(family)) {
            rewrite_result_fini(&part->result, db->env.allocator, true);
            part->written = false;
        }
        if (!part->written)
            continue;
        change_flushed(&change, part->store, part->memtable, &part->result.output,
                       part->facts.sequence_max);
        note_ahead(db, part, &change.edit);
    }
    /* The order matters: see engine/wal/wal.h. */
    oldest_open = wal_oldest_open(db);
    SYNC_POINT("flush:unflushed cells looked for");
    *oldest_log = wal_oldest_needed(db, oldest_open, job->first_left);
    manifest_edit_oldest_log(&change.edit, *oldest_log);
    status = change_commit(&change, error);
    if (status == PETAL_OK) {
        change_publish(&change);
        job->committed = true;
        if (job->capture != NULL && capture_is_wanted(job->capture))
            capture_take(job->capture);
    }
    change_end(&change);
    return status;
}

enum petal_status
flush_job_run(petal_db *db, struct flush_job *job, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t oldest_log = 0, began = clock_ns();

    assert(!job->committed);
    for (size_t i = 0; status == PETAL_OK && i < job->part_count; i++)
        status = write_part(db, &job->parts[i], error);
    if (status == PETAL_OK)
        status = wal_sync_closed(db, error);
    if (status == PETAL_OK)
        status = db_sync_directory(db, error);
    if (status != PETAL_OK)
        return status;
    status = commit(db, job, &oldest_log, error);
    if (status == PETAL_OK) {
        latency_end(&db->latencies, PETAL_LATENCY_FLUSH, began);
        STATS_ADD_SHARED(db, flushes, job->part_count);
        for (size_t i = 0; i < job->part_count; i++) {
            const struct flush_part *part = &job->parts[i];

            if (!part->written)
                continue;
            STATS_ADD_SHARED(db, flush_cells, part->result.output.cells);
            STATS_ADD_SHARED(db, flush_bytes, part->result.output.bytes);
            rewrite_report(part->store, &part->result, "flush");
        }
        wal_remove_below(db, oldest_log);
    }
    db_collect(db);
    return status;
}
