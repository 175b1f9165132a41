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
    mutex_lock(&db->progress.mutex);
    job->ticket = ++db->flusher->ticket;
    if (db->flusher->newest != NULL)
        db->flusher->newest->next = job;
    else
        db->flusher->oldest = job;
    db->flusher->newest = job;
    db->flusher->count++;
    pthread_cond_signal(&db->flusher->wanted);
    mutex_unlock(&db->progress.mutex);
}

/* Wait until `ticket` is done; a failed try at the oldest job ends the wait with its error, unless
 * it is one of the first `tries` ever. */
static enum petal_status
wait_for_jobs(petal_db *db, uint64_t ticket, uint64_t tries, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    mutex_lock(&db->progress.mutex);
    while (db->flusher->oldest != NULL && db->flusher->oldest->ticket <= ticket) {
        status = db_check_writable(db, error);
        if (status != PETAL_OK)
            break;
        if (db->flusher->oldest->status != PETAL_OK && db->flusher->oldest->tried > tries) {
            status = error_copy(error, &db->flusher->oldest->error);
            break;
        }
        mutex_wait(&db->progress.mutex, &db->progress.moved, CLOCK_NEVER);
    }
    mutex_unlock(&db->progress.mutex);
    return status;
}

/* How many tries at jobs were begun. */
static uint64_t
count_tries(petal_db *db)
{
    uint64_t tries;

    mutex_lock(&db->progress.mutex);
    tries = db->flusher->tries;
    mutex_unlock(&db->progress.mutex);
    return tries;
}

/* The newest job, after a word to the flush thread not to put off what failed in one of the first
 * `tries`. */
static uint64_t
hurry_jobs(petal_db *db, uint64_t tries)
{
    uint64_t ticket;

    mutex_lock(&db->progress.mutex);
    if (db->flusher->oldest != NULL && db->flusher->tries == tries) {
        db->flusher->at_once = true;
        pthread_cond_signal(&db->flusher->wanted);
    }
    ticket = db->flusher->ticket;
    mutex_unlock(&db->progress.mutex);
    return ticket;
}

/* Freeze, hand the job to the flush thread, wait for it. A capture rides on the job; one without
 * parts is made if there is none. */
static enum petal_status
freeze_and_wait(petal_db *db, const petal_table *table, uint32_t region, struct capture *capture,
                petal_error *error)
{
    struct flush_job *job = NULL;
    struct write_place place;
    enum petal_status status;
    uint64_t ticket, tries = count_tries(db);

    /* A commit that is on its way is waited for here, while others may write. */
    mutex_lock(&db->views.mutex);
    mutex_unlock(&db->views.mutex);
    write_lead_alone(&db->writers.queue, &place);
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = flush_freeze(db, table, region, &job, error);
    if (status == PETAL_OK && capture != NULL) {
        if (job == NULL) {
            job = flush_job_new(db, 0);
            if (job != NULL)
                job->first_left = flush_first_in_memtables(db);
        }
        if (job != NULL) {
            job->capture = capture_ref(capture);
            job->rides = true;
        } else {
            status = error_no_memory(error);
        }
    }
    if (job != NULL)
        flush_enqueue(db, job);
    ticket = hurry_jobs(db, tries);
    write_lead_end(&db->writers.queue, &place);
    return status == PETAL_OK ? wait_for_jobs(db, ticket, tries, error) : status;
}

enum petal_status
flush_and_wait(petal_db *db, const petal_table *table, uint32_t region, petal_error *error)
{
    return freeze_and_wait(db, table, region, NULL, error);
}

enum petal_status
flush_region_leading(petal_db *db, const petal_table *table, uint32_t region, petal_error *error)
{
    struct flush_job *job = NULL;
    uint64_t tries = count_tries(db);
    enum petal_status status = flush_freeze(db, table, region, &job, error);

    assert_leads(db);
    if (status != PETAL_OK)
        return status;
    if (job != NULL)
        flush_enqueue(db, job);
    return wait_for_jobs(db, hurry_jobs(db, tries), tries, error);
}

enum petal_status
flush_capture(petal_db *db, const petal_table *table, bool skip_flush, struct capture **capture,
              petal_error *error)
{
    struct capture *made;
    enum petal_status status = damage_check(&db->schema, table, NULL, error);

    assert_held(&db->capture_mutex);
    *capture = NULL;
    if (status != PETAL_OK)
        return status;
    made = capture_new(db, table);
    if (made == NULL)
        return error_no_memory(error);
    if (skip_flush) {
        mutex_lock(&db->manifest_mutex);
        mutex_lock(&db->views.mutex);
        capture_take(made);
        mutex_unlock(&db->views.mutex);
        mutex_unlock(&db->manifest_mutex);
    } else {
        status = freeze_and_wait(db, table, 0, made, error);
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
    uint64_t before = atomic_load_explicit(&db->progress.flush_rate, memory_order_relaxed);
    uint64_t rate = (uint64_t)((double)bytes * 1e6 / (double)(microseconds + 1));

    /* Small ones tell more of the cost of making a file than of the rate. */
    if (bytes < db->memtable_bytes / 4)
        return;
    if (rate == 0)
        rate = 1;
    atomic_store_explicit(&db->progress.flush_rate,
                          before == 0 ? rate : before - before / 4 + rate / 4,
                          memory_order_relaxed);
}

/* Run the oldest job once. REQUIRES: progress.mutex held; gives it up meanwhile. */
static void
run_oldest(petal_db *db)
{
    struct flush_job *job = db->flusher->oldest;
    uint64_t try = ++db->flusher->tries, began = clock_us();
    petal_error error;
    enum petal_status status;

    assert_held(&db->progress.mutex);
    db->flusher->at_once = false;
    mutex_unlock(&db->progress.mutex);
    error_clear(&error);
    status = flush_job_run(db, job, &error);
    if (status != PETAL_OK) {
        env_log(&db->env, PETAL_LOG_ERROR, "flush failed, its cells stay in memory and log: %s",
                error.text);
        db_background_failed(db, BACKGROUND_FLUSH, &error);
    } else {
        note_rate(db, job->bytes, clock_us() - began);
        failure_made_good(&db->failure, BACKGROUND_FLUSH);
        /* Before writers that wait for the memory are told. */
        flush_job_release(db, job);
        db_collect(db);
        compactor_wake(db);
    }
    mutex_lock(&db->progress.mutex);
    job->status = status;
    job->tried = try;
    job->error = error;
    if (status == PETAL_OK) {
        db->flusher->oldest = job->next;
        if (db->flusher->oldest == NULL)
            db->flusher->newest = NULL;
        db->flusher->count--;
        flush_job_free(db, job);
    }
    pthread_cond_broadcast(&db->progress.moved);
}

enum petal_status
flush_wait_for_captures(petal_db *db, bool wait, bool *waited, petal_error *error)
{
    uint64_t tries = count_tries(db), ticket = 0;

    mutex_lock(&db->progress.mutex);
    for (const struct flush_job *job = db->flusher->oldest; job != NULL; job = job->next) {
        if (job->rides)
            ticket = job->ticket;
    }
    mutex_unlock(&db->progress.mutex);
    *waited = ticket != 0;
    return *waited && wait ? wait_for_jobs(db, ticket, tries, error) : PETAL_OK;
}

enum petal_status
flush_wait_idle(petal_db *db, petal_error *error)
{
    uint64_t tries = count_tries(db);

    hurry_jobs(db, tries);
    return wait_for_jobs(db, UINT64_MAX, tries, error);
}

uint32_t
flush_waits(petal_db *db)
{
    uint32_t waiting;

    mutex_lock(&db->progress.mutex);
    waiting = db->flusher->count;
    mutex_unlock(&db->progress.mutex);
    return waiting;
}

static void *
run_jobs(void *argument)
{
    petal_db *db = argument;

    mutex_lock(&db->progress.mutex);
    for (;;) {
        bool hopeless = atomic_load_explicit(&db->failure.failed, memory_order_relaxed);

        if (db->flusher->oldest != NULL && !hopeless &&
            (db->flusher->oldest->status == PETAL_OK || !db->flusher->stopping)) {
            if (db->flusher->oldest->status != PETAL_OK && !db->flusher->at_once)
                mutex_wait(&db->progress.mutex, &db->flusher->wanted, clock_us() + RETRY_US);
            run_oldest(db);
        } else if (db->flusher->stopping) {
            break;
        } else {
            mutex_wait(&db->progress.mutex, &db->flusher->wanted, CLOCK_NEVER);
        }
    }
    mutex_unlock(&db->progress.mutex);
    return NULL;
}

/* ---- life ---- */

bool
flusher_init(petal_db *db)
{
    db->flusher = mem_zalloc(db->env.allocator, sizeof *db->flusher);
    if (db->flusher == NULL || clock_condition_init(&db->flusher->wanted))
        return db->flusher != NULL;
    mem_free(db->env.allocator, db->flusher, sizeof *db->flusher);
    db->flusher = NULL;
    return false;
}

void
flusher_fini(petal_db *db)
{
    struct flusher *flusher = db->flusher;

    if (flusher == NULL)
        return;
    assert(!flusher->started);
    while (flusher->oldest != NULL) {
        struct flush_job *job = flusher->oldest;

        flusher->oldest = job->next;
        flush_job_free(db, job);
    }
    pthread_cond_destroy(&flusher->wanted);
    mem_free(db->env.allocator, flusher, sizeof *flusher);
    db->flusher = NULL;
}

int
flusher_start(petal_db *db)
{
    int failed = pthread_create(&db->flusher->thread, NULL, run_jobs, db);

    db->flusher->started = failed == 0;
    return failed;
}

void
flusher_stop(petal_db *db)
{
    if (!db->flusher->started)
        return;
    mutex_lock(&db->progress.mutex);
    db->flusher->stopping = true;
    pthread_cond_broadcast(&db->flusher->wanted);
    mutex_unlock(&db->progress.mutex);
    pthread_join(db->flusher->thread, NULL);
    db->flusher->started = false;
}
