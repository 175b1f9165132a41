/* flush.c -- see flush.h. */
#include "engine/flush/flush.h"

#include "base/clock.h"
#include "engine/compact/compactor.h"

#define RETRY_US 1000000

/* ---- the queue of jobs ---- */

void
flush_enqueue(petal_db *db, struct flush_job *job)
{
    assert_leads(db);
    assert(job->next == NULL && !job->committed);
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

/* Freeze, hand the job to the flush thread, wait for it. A capture rides on the job; one without parts is made if there is none. */
static enum petal_status
freeze_and_wait(petal_db *db, const petal_table *table, struct capture *capture, petal_error *error)
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
    if (status == PETAL_OK && capture != NULL) {
        if (job == NULL) {
            job = flush_job_new(db, 0);
            if (job != NULL)
                job->first_left = flush_first_in_memtables(db);
        }
        if (job != NULL)
            job->capture = capture_ref(capture);
        else
            status = error_no_memory(error);
    }
    if (job != NULL)
        flush_enqueue(db, job);
    ticket = hurry_jobs(db, tries);
    write_lead_end(db, &place);
    return status == PETAL_OK ? wait_for_jobs(db, ticket, tries, error) : status;
}

enum petal_status
flush_and_wait(petal_db *db, const petal_table *table, petal_error *error)
{
    return freeze_and_wait(db, table, NULL, error);
}

enum petal_status
flush_capture(petal_db *db, const petal_table *table, bool skip_flush, struct capture **capture,
              petal_error *error)
{
    struct capture *made;
    enum petal_status status = damage_check(db, table, NULL, error);

    assert_held(&db->capture_mutex);
    *capture = NULL;
    if (status != PETAL_OK)
        return status;
    made = capture_new(db, table);
    if (made == NULL)
        return error_no_memory(error);
    if (skip_flush) {
        mutex_lock(&db->manifest_mutex);
        mutex_lock(&db->view_mutex);
        capture_take(made);
        mutex_unlock(&db->view_mutex);
        mutex_unlock(&db->manifest_mutex);
    } else {
        status = freeze_and_wait(db, table, made, error);
    }
    if (status == PETAL_OK && made->status == PETAL_NO_MEMORY)
        status = error_no_memory(error);
    else if (status == PETAL_OK && made->status == PETAL_NOT_FOUND)
        status = table_check_alive(table, error);
    if (status == PETAL_OK)
        *capture = made;
    else
        capture_unref(made);
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
    status = flush_job_run(db, job, &error);
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
