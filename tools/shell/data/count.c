/*
 * count.c -- count: the rows that a scan would show.
 *
 * Where nobody is told of rows on the way, the regions of a table are counted side by side: each is
 * a scan of its own, and all are of one snapshot.
 */
#include "tools/shell/data/commands.h"
#include "tools/shell/data/read.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROWS_BETWEEN_LOOKS = 256 }; /* at the time, for progress */
enum { MOST_THREADS = 16 };

/* ---- Side by side ---------------------------------------------------------------------------- */

/* The rows of a region that are to be counted. */
struct part {
    petal_scan_options scan;
    struct row_counter counter;
    enum petal_status outcome;
    petal_error error;
    bool counted; /* to its end */
};

/* A count by several threads. */
struct parts {
    const struct query *query;
    struct arena *arena;
    struct part *items;
    size_t count, capacity;
    uint64_t most_rows; /* there are no more, at the snapshot */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    size_t at_work;     /* threads; guarded by mutex */
    atomic_size_t next; /* part to begin */
    atomic_uint_fast64_t rows;
    atomic_bool stopped;
};

/* Does the region end before the scan's first row, or begin after its last one? */
static bool
is_outside(const petal_scan_options *scan, const petal_region_info *region)
{
    if (region->end.size > 0 && slices_compare(region->end, scan->start_row) <= 0)
        return true;
    return scan->stop_row.size > 0 && slices_compare(region->start, scan->stop_row) > 0;
}

static bool
add_part(void *argument, const petal_region_info *region)
{
    struct parts *parts = argument;
    petal_scan_options scan = parts->query->scan;
    petal_slice start = region->start, end = region->end;

    parts->most_rows += region->cells + region->files; /* the cells are rounded down by file */
    if (is_outside(&scan, region))
        return true;
    if (slices_compare(start, scan.start_row) > 0) {
        scan.start_row =
            (petal_slice){arena_copy(parts->arena, start.data, start.size), start.size};
        scan.start_exclusive = false;
    }
    if (end.size > 0 && (scan.stop_row.size == 0 || slices_compare(end, scan.stop_row) <= 0)) {
        scan.stop_row = (petal_slice){arena_copy(parts->arena, end.data, end.size), end.size};
        scan.stop_inclusive = false;
    }
    parts->items = arena_room(parts->arena, parts->items, parts->count, &parts->capacity,
                              sizeof(*parts->items));
    parts->items[parts->count++] = (struct part){.scan = scan};
    return true;
}

static void
count_part(struct parts *parts, struct part *part)
{
    petal_cursor *cursor = NULL;
    const petal_cell *cell = NULL;

    part->outcome = petal_cursor_open(parts->query->table, &part->scan, &cursor, &part->error);
    while (part->outcome == PETAL_OK && !atomic_load(&parts->stopped)) {
        part->outcome = petal_cursor_next(cursor, &cell, &part->error);
        if (part->outcome != PETAL_OK || cell == NULL)
            break;
        if (read_count_cell(&part->counter, cell))
            atomic_fetch_add_explicit(&parts->rows, 1, memory_order_relaxed);
    }
    part->counted = part->outcome == PETAL_OK && cell == NULL;
    petal_cursor_close(cursor);
}

static void *
count_parts(void *argument)
{
    struct parts *parts = argument;
    size_t place;

    while ((place = atomic_fetch_add(&parts->next, 1)) < parts->count &&
           !atomic_load(&parts->stopped)) {
        count_part(parts, &parts->items[place]);
        if (parts->items[place].outcome != PETAL_OK)
            atomic_store(&parts->stopped, true);
    }
    (void)pthread_mutex_lock(&parts->mutex);
    parts->at_work--;
    (void)pthread_cond_signal(&parts->ended);
    (void)pthread_mutex_unlock(&parts->mutex);
    return NULL;
}

/* Until the threads have ended, which a signal makes them do. */
static void
wait_for_threads(struct parts *parts, struct progress *progress)
{
    struct timespec until;

    (void)pthread_mutex_lock(&parts->mutex);
    while (parts->at_work > 0) {
        if (interrupt_pending())
            atomic_store(&parts->stopped, true);
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&parts->ended, &parts->mutex, &until);
        progress_update(progress, 0, 0, atomic_load(&parts->rows));
    }
    (void)pthread_mutex_unlock(&parts->mutex);
}

/* False: not one could be started, and nothing was counted. */
static bool
run_threads(struct parts *parts, struct progress *progress)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = parts->count, started = 0;
    pthread_t threads[MOST_THREADS];

    if (wanted > MOST_THREADS)
        wanted = MOST_THREADS;
    if (processors > 0 && wanted > (size_t)processors)
        wanted = (size_t)processors;
    (void)pthread_mutex_init(&parts->mutex, NULL);
    (void)pthread_cond_init(&parts->ended, NULL);
    parts->at_work = wanted;
    atomic_store(&parts->stopped, interrupt_pending());
    interrupt_hold(true);
    while (started < wanted && pthread_create(&threads[started], NULL, count_parts, parts) == 0)
        started++;
    interrupt_hold(false);
    (void)pthread_mutex_lock(&parts->mutex);
    parts->at_work -= wanted - started;
    (void)pthread_mutex_unlock(&parts->mutex);
    wait_for_threads(parts, progress);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_cond_destroy(&parts->ended);
    (void)pthread_mutex_destroy(&parts->mutex);
    return started > 0;
}

/* What was counted without a gap, from the first row on; or the first failure. */
static enum shell_status
take_parts(struct session *session, struct parts *parts, struct row_counter *counter)
{
    bool whole = true;

    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].outcome != PETAL_OK)
            return session_fail_petal(session, &parts->items[i].error);
    for (size_t i = 0; i < parts->count && whole; i++) {
        const struct part *part = &parts->items[i];

        counter->rows += part->counter.rows;
        if (part->counter.rows > 0) {
            text_clear(&counter->row);
            text_add_slice(&counter->row, text_slice(&part->counter.row));
        }
        whole = part->counted;
    }
    return whole ? SHELL_FINE
                 : read_fail_interrupted(session, parts->query, counter, "counted", true);
}

/* Rows that are told on the way are told in order; filters and limits are of the whole scan. */
static bool
may_be_divided(const struct session *session, const struct query *query)
{
    const petal_scan_options *scan = &query->scan;

    return session->transaction == NULL && query->filter == NULL && scan->prefix.size == 0 &&
           scan->row_limit == 0 && scan->batch == 0 && !scan->reversed;
}

/* *divided: it was counted, or failed. */
static enum shell_status
count_divided(struct session *session, const struct query *query, struct row_counter *counter,
              struct progress *progress, bool watched, bool *divided)
{
    struct parts parts = {.query = query, .arena = &session->arena};
    petal_snapshot *snapshot = NULL;
    petal_error error;
    enum shell_status status = SHELL_FINE;

    *divided = false;
    if (!may_be_divided(session, query))
        return SHELL_FINE;
    if (petal_snapshot_new(session->db, &snapshot, &error) != PETAL_OK ||
        petal_table_regions(query->table, add_part, &parts, &error) != PETAL_OK) {
        petal_snapshot_free(snapshot);
        return SHELL_FINE; /* the scan of all will tell */
    }
    /* Else a row may be told of on the way. */
    *divided = parts.count > 1 && (watched || parts.most_rows < (uint64_t)query->interval);
    if (*divided) {
        for (size_t i = 0; i < parts.count; i++)
            parts.items[i].scan.read.snapshot = snapshot;
        *divided = run_threads(&parts, progress);
    }
    if (*divided)
        status = take_parts(session, &parts, counter);
    for (size_t i = 0; i < parts.count; i++)
        text_free(&parts.items[i].counter.row);
    petal_snapshot_free(snapshot);
    return status;
}

/* ---- One after the other --------------------------------------------------------------------- */

/* The rows that a scan would show.  (HBase's count adds a FirstKeyOnlyFilter, so that a filter
 * on a later column fails.) */
static enum shell_status
count_rows(struct session *session, const struct query *query, struct row_counter *counter)
{
    petal_cursor *cursor = NULL;
    const petal_cell *cell;
    petal_error error;
    enum petal_status outcome;
    enum shell_status status = SHELL_FINE;
    struct progress progress;
    bool watched; /* by someone for whom one line is enough, which changes */
    bool divided;

    progress_begin(&progress, "count", "rows");
    watched = session->output.terminal && progress_is_watched(&progress);
    status = count_divided(session, query, counter, &progress, watched, &divided);
    if (divided) {
        progress_end(&progress);
        return status;
    }
    outcome = read_open_cursor(session, query, &cursor, &status, &error);
    while (outcome == PETAL_OK && status == SHELL_FINE) {
        outcome = petal_cursor_next(cursor, &cell, &error);
        if (outcome != PETAL_OK || cell == NULL)
            break;
        if (interrupt_pending())
            status = read_fail_interrupted(session, query, counter, "counted", true);
        if (status != SHELL_FINE || !read_count_cell(counter, cell))
            continue;
        if (counter->rows % ROWS_BETWEEN_LOOKS == 0)
            progress_update(&progress, 0, 0, counter->rows);
        if (!watched && (int64_t)counter->rows % query->interval == 0) {
            struct text *text = &session->scratch;

            text_clear(text);
            text_add_format(text, "Current count: %" PRIu64 ", row: ", counter->rows);
            text_add_binary(text, text_slice(&counter->row));
            output_line(&session->output, text_slice(text));
        }
    }
    progress_end(&progress);
    petal_cursor_close(cursor);
    return outcome == PETAL_OK ? status : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_count)
{
    struct row_counter counter = {.rows = 0};
    struct query query;
    enum shell_status status = query_read_scan(session, QUERY_COUNT, arguments, count, &query);

    if (status == SHELL_FINE)
        status = count_rows(session, &query, &counter);
    query_end(&query);
    text_free(&counter.row);
    if (status != SHELL_FINE)
        return status;
    if (format_is_on(&session->output.format)) {
        format_begin(&session->output.format, "table rows");
        format_bytes(&session->output.format, petal_table_name(query.table));
        format_number(&session->output.format, counter.rows);
    } else {
        output_plain(&session->output, "%" PRIu64 " row(s)", counter.rows);
    }
    *result = value_integer((int64_t)counter.rows);
    return SHELL_FINE;
}
