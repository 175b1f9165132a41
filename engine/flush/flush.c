/* flush.c -- see flush.h. */
#include "engine/flush/flush.h"

#include "base/clock.h"
#include "base/sync_point.h"
#include "engine/compact/compactor.h"
#include "engine/flush/capture.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"
#include "engine/store/change.h"
#include "engine/wal/wal.h"

#define RETRY_US 1000000

/* ---- one job ---- */

static enum petal_status
write_part(petal_db *db, struct flush_part *part, petal_error *error)
{
    struct memtable_iter iter;
    struct rewrite_job job = {
        .family = part->family,
        .input = &iter.iter,
        .cells = part->facts.cells,
        .origin = FILE_ORIGIN_FLUSH,
        .file_bytes = UINT64_MAX,
    };
    enum petal_status status;

    if (part->written || family_is_dropped(part->family))
        return PETAL_OK;
    visibility_rules_of(&job.rules, family_options(part->family), VISIBILITY_PART,
                        read_point_oldest(db), env_clock_ms(&db->env));
    memtable_iter_init(&iter, part->memtable->memtable);
    status = rewrite_run(&job, &part->result, error);
    iter.iter.ops->close(&iter.iter);
    part->written = status == PETAL_OK;
    return family_is_dropped(part->family) ? PETAL_OK : status;
}

/* Files of stores that were dropped while they were written go at once; the others take the place of their memtables. *oldest_log:
 * logs below it are not needed any more. */
static enum petal_status
commit(petal_db *db, struct flush_job *job, uint64_t *oldest_log, petal_error *error)
{
    struct change change;
    uint64_t oldest_open;
    enum petal_status status;

    change_begin(&change, db, 0);
    for (size_t i = 0; i < job->part_count; i++) {
        struct flush_part *part = &job->parts[i];
        petal_family *family = part->family;

        if (part->written && family_is_dropped(family)) {
            rewrite_result_fini(&part->result, db->env.allocator, true);
            part->written = false;
        }
        if (!part->written)
            continue;
        change_rewritten(&change, family, part->memtable, NULL, 0, &part->result);
        manifest_edit_flushed(&change.edit, family->table->id, family->id,
                              part->facts.sequence_max);
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

/* What was committed, into statistics and log. */
static void
count(petal_db *db, const struct flush_job *job)
{
    STATS_ADD_SHARED(db, flushes, job->part_count);
    for (size_t i = 0; i < job->part_count; i++) {
        const struct flush_part *part = &job->parts[i];

        if (!part->written)
            continue;
        STATS_ADD_SHARED(db, flush_cells, part->result.cells_out);
        STATS_ADD_SHARED(db, flush_bytes, part->result.bytes_out);
        rewrite_report(part->family, &part->result, "flush");
    }
}

enum petal_status
flush_run(petal_db *db, struct flush_job *job, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t oldest_log = 0;

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
        count(db, job);
        wal_remove_below(db, oldest_log);
    }
    db_collect(db);
    return status;
}

/* ---- the queue of jobs ---- */

void
flush_enqueue(petal_db *db, struct flush_job *job)
{
    mutex_lock(&db->flush_mutex);
    job->ticket = ++db->flush_ticket;
    if (db->flush_newest != NULL)
        db->flush_newest->next = job;
    else
        db->flush_oldest = job;
    db->flush_newest = job;
    db->flush_count++;
    pthread_cond_signal(&db->flush_wanted);
    mutex_unlock(&db->flush_mutex);
}

/* Wait until `ticket` is done; a failed try at the oldest job ends the wait with its error, unless it is one of the first `tries`
 * ever. */
static enum petal_status
wait_for_jobs(petal_db *db, uint64_t ticket, uint64_t tries, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    mutex_lock(&db->flush_mutex);
    while (db->flush_oldest != NULL && db->flush_oldest->ticket <= ticket) {
        status = db_check_writable(db, error);
        if (status != PETAL_OK)
            break;
        if (db->flush_oldest->status != PETAL_OK && db->flush_oldest->tried > tries) {
            status = db->flush_oldest->status;
            if (error != NULL)
                *error = db->flush_oldest->error;
            break;
        }
        mutex_wait(&db->flush_mutex, &db->flush_done, CLOCK_NEVER);
    }
    mutex_unlock(&db->flush_mutex);
    return status;
}

/* How many tries at jobs were begun. */
static uint64_t
count_tries(petal_db *db)
{
    uint64_t tries;

    mutex_lock(&db->flush_mutex);
    tries = db->flush_tries;
    mutex_unlock(&db->flush_mutex);
    return tries;
}

/* The newest job, after a word to the flush thread not to put off what failed in one of the first `tries`. */
static uint64_t
hurry_jobs(petal_db *db, uint64_t tries)
{
    uint64_t ticket;

    mutex_lock(&db->flush_mutex);
    if (db->flush_oldest != NULL && db->flush_tries == tries) {
        db->flush_at_once = true;
        pthread_cond_signal(&db->flush_wanted);
    }
    ticket = db->flush_ticket;
    mutex_unlock(&db->flush_mutex);
    return ticket;
}

/* Let the capture ride on the job; one without parts is made if there is none. */
static enum petal_status
add_capture(petal_db *db, struct flush_job **job, struct capture *capture, petal_error *error)
{
    if (*job == NULL) {
        *job = flush_job_new(db, 0);
        if (*job == NULL)
            return error_no_memory(error);
        (*job)->first_left = flush_first_in_memtables(db);
    }
    (*job)->capture = capture_ref(capture);
    return PETAL_OK;
}

enum petal_status
flush_and_wait(petal_db *db, const petal_table *table, petal_error *error)
{
    return flush_and_capture(db, table, NULL, error);
}

enum petal_status
flush_and_capture(petal_db *db, const petal_table *table, struct capture *capture,
                  petal_error *error)
{
    struct flush_job *job = NULL;
    struct write_place place;
    enum petal_status status;
    uint64_t ticket, tries = count_tries(db);

    /* A commit that is on its way is waited for here, while others may write. */
    mutex_lock(&db->view_mutex);
    mutex_unlock(&db->view_mutex);
    write_lead_alone(db, &place);
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = flush_freeze(db, table, &job, error);
    if (status == PETAL_OK && capture != NULL)
        status = add_capture(db, &job, capture, error);
    if (job != NULL)
        flush_enqueue(db, job);
    ticket = hurry_jobs(db, tries);
    write_lead_end(db, &place);
    if (status == PETAL_OK)
        status = wait_for_jobs(db, ticket, tries, error);
    return status;
}

/* Note for the pace of writers how fast a job of so many bytes was. */
static void
note_rate(petal_db *db, uint64_t bytes, uint64_t microseconds)
{
    uint64_t before = atomic_load_explicit(&db->flush_rate, memory_order_relaxed);
    uint64_t rate = (uint64_t)((double)bytes * 1e6 / (double)(microseconds + 1));

    /* Small ones tell more of the cost of making a file than of the rate. */
    if (bytes < db->memtable_bytes / 4)
        return;
    if (rate == 0)
        rate = 1;
    atomic_store_explicit(&db->flush_rate, before == 0 ? rate : before - before / 4 + rate / 4,
                          memory_order_relaxed);
}

/* Run the oldest job once. REQUIRES: flush_mutex held; gives it up meanwhile. */
static void
run_oldest(petal_db *db)
{
    struct flush_job *job = db->flush_oldest;
    uint64_t try = ++db->flush_tries, began = clock_us();
    petal_error error;
    enum petal_status status;

    assert_held(&db->flush_mutex);
    db->flush_at_once = false;
    mutex_unlock(&db->flush_mutex);
    error_clear(&error);
    status = flush_run(db, job, &error);
    if (status != PETAL_OK) {
        env_log(&db->env, PETAL_LOG_ERROR, "flush failed, its cells stay in memory and log: %s",
                error.text);
        background_failed(db, BACKGROUND_FLUSH, &error);
    } else {
        note_rate(db, job->bytes, clock_us() - began);
        background_succeeded(db, BACKGROUND_FLUSH);
        /* Before writers that wait for the memory are told. */
        flush_job_release(db, job);
        db_collect(db);
        compactor_wake(db);
    }
    if (status != PETAL_OK && !error_passes(&error))
        db_fail(db, &error);
    mutex_lock(&db->flush_mutex);
    job->status = status;
    job->tried = try;
    job->error = error;
    if (status == PETAL_OK) {
        db->flush_oldest = job->next;
        if (db->flush_oldest == NULL)
            db->flush_newest = NULL;
        db->flush_count--;
        flush_job_free(db, job);
    }
    pthread_cond_broadcast(&db->flush_done);
}

enum petal_status
flush_wait_idle(petal_db *db, petal_error *error)
{
    uint64_t tries = count_tries(db);

    hurry_jobs(db, tries);
    return wait_for_jobs(db, UINT64_MAX, tries, error);
}

bool
flush_waits(petal_db *db)
{
    bool waits;

    mutex_lock(&db->flush_mutex);
    waits = db->flush_count > 0;
    mutex_unlock(&db->flush_mutex);
    return waits;
}

void *
flush_thread(void *argument)
{
    petal_db *db = argument;

    mutex_lock(&db->flush_mutex);
    for (;;) {
        bool hopeless = atomic_load_explicit(&db->failed, memory_order_relaxed);

        if (db->flush_oldest != NULL && !hopeless &&
            (db->flush_oldest->status == PETAL_OK || !db->stopping)) {
            if (db->flush_oldest->status != PETAL_OK && !db->flush_at_once)
                mutex_wait(&db->flush_mutex, &db->flush_wanted, clock_us() + RETRY_US);
            run_oldest(db);
        } else if (db->stopping) {
            break;
        } else {
            mutex_wait(&db->flush_mutex, &db->flush_wanted, CLOCK_NEVER);
        }
    }
    mutex_unlock(&db->flush_mutex);
    return NULL;
}
