/* failure_run.c -- see tests/crash/failure_run.h. */
#include "tests/crash/failure_run.h"

#include "base/clock.h"
#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* ---- messages ---- */

void
failure_problem(struct failure_run *run, const char *format, ...)
{
    char text[600];
    va_list arguments;

    run->problems++;
    if (run->problems > 3)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("PROBLEM %s\n        at %s: %s\n", run->about, run->doing, text);
}

static void
note_line(void *context, enum petal_log_level level, const char *line)
{
    struct failure_run *run = context;

    (void)line;
    if (level >= PETAL_LOG_WARNING)
        __atomic_fetch_add(&run->told, 1, __ATOMIC_RELAXED);
}

static bool
has_failed(const struct failure_run *run, unsigned call)
{
    return (run->faults.calls_failed >> call & 1u) != 0;
}

static bool
is_full_disk(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

/* What is wanted may be had a moment later: it says nothing of any file. */
static bool
passes(const struct failure_run *run)
{
    int cause = run->faults.plan.error;

    return cause == EMFILE || cause == ENFILE || cause == ENOMEM;
}

/* What leaves it so is a log, a manifest or names of which nobody knows what the medium has; a
 * store file is written again. */
static bool
may_be_read_only(const struct failure_run *run)
{
    return (run->faults.failed_but_stores &
            (1u << MEMORY_VFS_WRITE | 1u << MEMORY_VFS_LOG_STORE | 1u << MEMORY_VFS_SYNC |
             1u << MEMORY_VFS_SYNC_DIRECTORY | 1u << MEMORY_VFS_RENAME)) != 0;
}

/* Whether the status is one that what failed explains. */
static bool
is_explained(struct failure_run *run, enum petal_status status, const petal_error *error)
{
    int cause = run->faults.plan.error;

    switch (status) {
    case PETAL_NO_MEMORY:
        return has_failed(run, FAILURE_MEMORY);
    case PETAL_NO_SPACE:
        return is_full_disk(cause) && error->os_error == cause;
    case PETAL_IO:
        return error->os_error == cause || cause == MEMORY_SHORT_READ;
    case PETAL_READ_ONLY:
        return may_be_read_only(run) && error->os_error == cause;
    case PETAL_BUSY:
        return failure_faults_names(&run->faults, "LOCK") ||
               failure_faults_names(&run->faults, "READERS");
    case PETAL_CORRUPT:
        return !passes(run) &&
               (cause == MEMORY_SHORT_READ || has_failed(run, MEMORY_VFS_OPEN) ||
                has_failed(run, MEMORY_VFS_READ) || has_failed(run, MEMORY_VFS_SIZE));
    default:
        return false;
    }
}

/* A reader that cannot read READERS is told of the lock that it takes in its place. */
static bool
is_told_of_the_lock(struct failure_run *run, enum petal_status status)
{
    return status == PETAL_BUSY && failure_faults_names(&run->faults, "READERS");
}

bool
failure_told(struct failure_run *run, const char *call, enum petal_status status,
             const petal_error *error)
{
    if (status == PETAL_OK)
        return true;
    __atomic_fetch_add(&run->told, 1, __ATOMIC_RELAXED);
    if (error->status != status || error->text[0] == '\0')
        failure_problem(run, "%s: %s, but the error has status %d, text \"%s\"", call,
                        petal_status_text(status), (int)error->status, error->text);
    else if (run->full && status == PETAL_NO_SPACE)
        return false;
    else if (run->faults.failed == 0)
        failure_problem(run, "%s failed though nothing did: %s", call, error->text);
    else if (!is_explained(run, status, error))
        failure_problem(run, "%s: not what failed: status %d, errno %d, %s", call, (int)status,
                        error->os_error, error->text);
    else if (status != PETAL_NO_MEMORY && !is_told_of_the_lock(run, status) &&
             (error->file[0] == '\0' || !failure_faults_names(&run->faults, error->file) ||
              strstr(error->text, error->file) == NULL))
        failure_problem(run, "%s does not name the file: file \"%s\", %s (%s failed)", call,
                        error->file, error->text, run->faults.paths[0]);
    return false;
}

/* ---- the promise ---- */

bool
failure_write(struct failure_run *run, enum petal_durability durability)
{
    struct failure_promise *promise = &run->promise;
    uint64_t number = promise->stored + 1;
    petal_error error;
    enum petal_status status;

    if (run->fixture.db == NULL || !promise->tables_made)
        return false;
    status = ledger_write(&run->ledger, number, durability, &error);
    if (status == PETAL_OK) {
        promise->stored = number;
        if (durability == PETAL_FSYNC_WAL)
            promise->synced = number;
    }
    if ((status == PETAL_OK || status == PETAL_IO) && promise->attempted < number)
        promise->attempted = number;
    return failure_told(run, "write", status, &error);
}

void
failure_count(struct failure_run *run)
{
    petal_write_options sync = {.durability = PETAL_FSYNC_WAL};
    struct failure_promise *promise = &run->promise;
    petal_error error;
    enum petal_status status;
    int64_t sum = 0;

    if (run->fixture.db == NULL || run->counted == NULL)
        return;
    status = petal_increment(petal_table_family_at(run->counted, 0), slice_from_text("row"),
                             slice_from_text("counter"), 1, &sync, &sum, &error);
    if (status == PETAL_OK && (uint64_t)sum != promise->counted + 1)
        failure_problem(run, "the counter came to %" PRId64 " after %" PRIu64, sum,
                        promise->counted);
    promise->counted += status == PETAL_OK;
    if (promise->counted_at_most < promise->counted + (status == PETAL_IO))
        promise->counted_at_most = promise->counted + (status == PETAL_IO);
    failure_told(run, "increment", status, &error);
}

void
failure_changed(struct failure_run *run, enum failure_change change, bool done,
                enum petal_status status)
{
    enum failure_state to = done ? FAILURE_DONE : FAILURE_UNDONE;

    if (status == PETAL_OK)
        run->promise.now[change] = run->promise.later[change] = to;
    else if (status == PETAL_IO && run->promise.now[change] != to)
        run->promise.later[change] = FAILURE_UNKNOWN;
}

/* ---- opening ---- */

static bool
attach(struct failure_run *run)
{
    petal_error error;
    enum petal_status status = ledger_attach(&run->ledger, run->fixture.db, &error);

    run->counted = NULL;
    if (status == PETAL_NOT_FOUND && !run->promise.tables_made)
        return true;
    if (status == PETAL_OK)
        status =
            petal_table_open(run->fixture.db, slice_from_text("counted"), &run->counted, &error);
    return failure_told(run, "table", status, &error);
}

bool
failure_open(struct failure_run *run)
{
    petal_error error;
    enum petal_status status;

    if (run->fixture.db != NULL)
        return true;
    status = petal_open(FIXTURE_DIRECTORY, &run->fixture.options, &run->fixture.db, &error);
    if (status != PETAL_OK && run->fixture.db != NULL)
        failure_problem(run, "an opening that failed gave a database");
    return failure_told(run, "open", status, &error) && attach(run);
}

void
failure_run_init(struct failure_run *run, struct memory_vfs *disk,
                 const struct failure_promise *promise, const petal_options *options)
{
    memset(run, 0, sizeof *run);
    fixture_init_on(&run->fixture, disk, 5);
    failure_faults_init(&run->faults, disk, &run->fixture.allocator.table);
    run->fixture.env.allocator = &run->faults.allocator;
    run->fixture.env.log = note_line;
    run->fixture.env.log_context = run;
    if (options != NULL)
        run->fixture.options = *options;
    run->fixture.options.env = &run->fixture.env;
    if (promise != NULL)
        run->promise = *promise;
    run->ledger.filler = 40;
    run->threads = test_thread_count();
    run->doing = "the beginning";
}

void
failure_run_fini(struct failure_run *run)
{
    petal_error error;

    if (run->fixture.db != NULL && petal_close(run->fixture.db, &error) == PETAL_BUSY)
        failure_problem(run, "left open: %s", error.text);
    run->fixture.db = NULL;
    if (test_allocator_live_blocks(&run->fixture.allocator) != 0)
        failure_problem(run, "%" PRIu64 " blocks of memory leaked",
                        test_allocator_live_blocks(&run->fixture.allocator));
    if (memory_vfs_open_files(run->fixture.vfs) != 0 ||
        memory_vfs_open_directories(run->fixture.vfs) != 0)
        failure_problem(run, "%zu files and %zu directories left open",
                        memory_vfs_open_files(run->fixture.vfs),
                        memory_vfs_open_directories(run->fixture.vfs));
    if (!test_threads_end(run->threads))
        failure_problem(run, "a thread goes on");
    if (run->faults.unknown != 0)
        failure_problem(run, "%" PRIu64 " calls came from no known site", run->faults.unknown);
    failure_faults_fini(&run->faults);
    memory_vfs_free(run->fixture.vfs);
    run->fixture.vfs = NULL;
}

/* ---- what is there ---- */

static bool
has_table(struct failure_run *run, const char *name, petal_table **table)
{
    petal_error error;
    enum petal_status status =
        petal_table_open(run->fixture.db, slice_from_text(name), table, &error);

    if (status != PETAL_NOT_FOUND)
        failure_told(run, "table", status, &error);
    return status == PETAL_OK;
}

/* How many cells a table has, all sound; SIZE_MAX: that failed, and was told. */
static size_t
count_cells(struct failure_run *run, petal_table *table)
{
    petal_cursor *cursor;
    const petal_cell *cell = NULL;
    petal_error error;
    size_t count = 0;
    enum petal_status status = petal_cursor_open(table, NULL, &cursor, &error);

    do {
        if (status == PETAL_OK)
            status = petal_cursor_next(cursor, &cell, &error);
        count += status == PETAL_OK && cell != NULL;
    } while (status == PETAL_OK && cell != NULL);
    petal_cursor_close(cursor);
    if (status == PETAL_OK)
        status = petal_table_verify(table, &error);
    return failure_told(run, "scan", status, &error) ? count : SIZE_MAX;
}

static bool
note_taken(void *argument, const petal_table_snapshot_info *info)
{
    if (slice_equal(info->name, slice_from_text("taken")))
        *(bool *)argument = true;
    return true;
}

#define STEADY_CELLS  40
#define EMPTIED_CELLS 20

static void
expect_cells(struct failure_run *run, petal_table *table, const char *name, size_t expected)
{
    size_t cells = count_cells(run, table);

    if (cells != expected && cells != SIZE_MAX)
        failure_problem(run, "the %s has %zu cells", name, cells);
}

static bool
is_done(struct failure_run *run, enum failure_change change)
{
    petal_table *table = NULL;
    petal_error error;
    bool taken = false;

    switch (change) {
    case FAILURE_MADE:
        return has_table(run, "made", &table);
    case FAILURE_CLONED:
        if (!has_table(run, "clone", &table))
            return false;
        expect_cells(run, table, "clone", STEADY_CELLS);
        return true;
    case FAILURE_ALTERED:
        return has_table(run, "altered", &table) && petal_table_family_count(table) == 2;
    case FAILURE_EMPTIED: {
        size_t cells = has_table(run, "emptied", &table) ? count_cells(run, table) : 1;

        if (cells != 0 && cells != EMPTIED_CELLS && cells != SIZE_MAX)
            failure_problem(run, "the emptied table has %zu cells", cells);
        return cells == 0;
    }
    case FAILURE_TAKEN:
        failure_told(run, "snapshots",
                     petal_table_snapshot_list(run->fixture.db, note_taken, &taken, &error),
                     &error);
        return taken;
    case FAILURE_LOADED: {
        size_t cells = has_table(run, "loaded", &table) ? count_cells(run, table) : 0;

        if (cells != FAILURE_CELLS_BEFORE && cells != FAILURE_CELLS_BEFORE + FAILURE_CELLS_LOADED &&
            cells != SIZE_MAX)
            failure_problem(run, "the loaded table has %zu cells", cells);
        return cells == FAILURE_CELLS_BEFORE + FAILURE_CELLS_LOADED;
    }
    default:
        return false;
    }
}

static void
check_changes(struct failure_run *run, enum failure_state states[FAILURE_CHANGES])
{
    static const char *const names[] = {"made",  "cloned", "altered", "emptied",
                                        "taken", "loaded", "copied"};
    petal_table *steady = NULL, *regions = NULL;

    for (enum failure_change change = 0; change < FAILURE_COPIED; change++) {
        bool done = is_done(run, change);

        if (states[change] != FAILURE_UNKNOWN && done != (states[change] == FAILURE_DONE))
            failure_problem(run, "the change `%s` is %s", names[change], done ? "done" : "undone");
        states[change] = done ? FAILURE_DONE : FAILURE_UNDONE;
    }
    if (has_table(run, "steady", &steady))
        expect_cells(run, steady, "steady table", STEADY_CELLS);
    if (has_table(run, "regions", &regions))
        expect_cells(run, regions, "table of regions", FAILURE_REGION_CELLS);
}

static void
check_counter(struct failure_run *run, uint64_t least, uint64_t most)
{
    petal_result *result = NULL;
    petal_error error;
    uint64_t counter = 0;
    enum petal_status status = petal_result_new(run->fixture.db, &result, &error);

    if (status == PETAL_OK)
        status = petal_get(run->counted, slice_from_text("row"), NULL, result, &error);
    for (size_t i = 0; status == PETAL_OK && i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        for (size_t byte = 0; byte < 8 && slice_equal(cell->qualifier, slice_from_text("counter"));
             byte++)
            counter = counter << 8 | slice_bytes(cell->value)[byte];
    }
    petal_result_free(result);
    if (!failure_told(run, "get", status, &error))
        return;
    if (counter < least || counter > most)
        failure_problem(run, "the counter is %" PRIu64 ", not %" PRIu64 " to %" PRIu64, counter,
                        least, most);
    run->promise.counted = run->promise.counted_at_most = counter;
}

/* The ledger has a prefix of `least` to `most` writes; returns how many. */
static uint64_t
check_ledger(struct failure_run *run, uint64_t least, uint64_t most)
{
    struct ledger_state state;
    petal_error error;
    uint64_t last;

    if (!failure_told(run, "read", ledger_read(&run->ledger, &state, &error), &error))
        return least;
    last = ledger_last(&state);
    if (!ledger_is_after(&state, last) || last < least || last > most)
        failure_problem(run, "writes up to %" PRIu64 " are there, not %" PRIu64 " to %" PRIu64,
                        last, least, most);
    failure_told(run, "verify", ledger_verify(&run->ledger, &error), &error);
    return last;
}

/* ---- crashes ---- */

/* It was opened again: what was promised is there, and is now what is there. */
static void
check_opened_again(struct failure_run *run, uint64_t least)
{
    struct failure_promise *promise = &run->promise;

    if (!failure_open(run))
        return;
    if (run->counted == NULL && !promise->tables_made)
        return;
    promise->stored = promise->synced = promise->attempted =
        check_ledger(run, least, promise->attempted);
    check_counter(run, promise->counted, promise->counted_at_most);
    check_changes(run, promise->later);
    memcpy(promise->now, promise->later, sizeof promise->now);
}

/* A write goes in, a flush, and all of that is there when it is opened once more. */
static void
check_goes_on(struct failure_run *run)
{
    petal_error error;

    if (run->fixture.db == NULL || !run->promise.tables_made)
        return;
    run->doing = "going on";
    failure_write(run, PETAL_FSYNC_WAL);
    failure_told(run, "flush", petal_flush(run->fixture.db, NULL, &error), &error);
    check_ledger(run, run->promise.stored, run->promise.stored);
}

static void
close_it(struct failure_run *run)
{
    petal_db *db = run->fixture.db;
    petal_error error;

    run->fixture.db = NULL;
    if (db != NULL && failure_told(run, "close", petal_close(db, &error), &error))
        run->promise.synced = run->promise.stored;
}

static void
check_copy(struct failure_run *run)
{
    struct failure_run copy;
    petal_error error;
    enum petal_status status;

    if (run->promise.later[FAILURE_COPIED] == FAILURE_UNDONE)
        return;
    failure_run_init(&copy, memory_vfs_clone(run->fixture.vfs), &run->promise, NULL);
    memcpy(copy.about, run->about, sizeof copy.about);
    copy.doing = "the copy";
    copy.fixture.options.create = false;
    status = petal_open(FAILURE_COPY_DIRECTORY, &copy.fixture.options, &copy.fixture.db, &error);
    if (status != PETAL_OK && run->promise.later[FAILURE_COPIED] == FAILURE_DONE)
        failure_problem(run, "the copy does not open: %s", error.text);
    if (status == PETAL_OK && ledger_attach(&copy.ledger, copy.fixture.db, &error) == PETAL_OK)
        check_ledger(&copy, 1, run->promise.attempted);
    failure_run_fini(&copy);
    run->problems += copy.problems;
}

/* The process dies, or the power fails, and another one opens what is left. */
static void
crash(struct failure_run *run, unsigned kind)
{
    static const char *const names[FAILURE_CRASHES] = {
        "after the process died", "after a power cut that lost all",
        "after the process died, with lost pages out of memory", "after a power cut",
        "after the process died and then the power"};
    struct memory_vfs *disk;
    struct failure_run after;
    bool keeps_pages = kind == 0 && !has_failed(run, MEMORY_VFS_SYNC);

    if (kind == 4 && (run->promise.file_lost || run->promise.refuses_writes))
        return; /* a family takes no write */
    disk = memory_vfs_clone(run->fixture.vfs);
    memory_vfs_process_death(disk);
    if (kind == 1)
        memory_vfs_power_cut(disk, MEMORY_CUT_LOSE_ALL, 1);
    else if (kind == 2)
        memory_vfs_power_cut(disk, MEMORY_CUT_KEEP_ALL, 1);
    else if (kind == 3)
        memory_vfs_power_cut(disk, MEMORY_CUT_RANDOM, run->faults.plan.visit + 77);
    else if (kind == 4)
        disk = fixture_further_state(disk, (unsigned)(run->faults.plan.visit % 2), 7, NULL);
    failure_run_init(&after, disk, &run->promise, NULL);
    memcpy(after.about, run->about, sizeof after.about);
    after.doing = names[kind];
    test_clock_set(&after.fixture.clock, test_clock_ms(&run->fixture.clock));
    check_opened_again(&after, keeps_pages ? run->promise.stored : run->promise.synced);
    check_goes_on(&after);
    if (kind != 4)
        check_copy(&after);
    close_it(&after);
    failure_run_fini(&after);
    run->problems += after.problems;
}

/* ---- afterwards ---- */

/* A background error of what failed before is told once more at most. */
static bool
flush_again(struct failure_run *run)
{
    petal_error error;

    for (unsigned tries = 0; tries < 3; tries++) {
        if (petal_flush(run->fixture.db, NULL, &error) == PETAL_OK)
            return true;
    }
    return failure_told(run, "flush", error.status, &error);
}

static void
make_and_drop(struct failure_run *run)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("afterwards"), .families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_create(run->fixture.db, &options, &table, &error);

    if (failure_told(run, "create", status, &error))
        failure_told(run, "drop", petal_table_drop(table, &error), &error);
}

static void
check_now(struct failure_run *run)
{
    run->doing = "afterwards, without being opened again";
    check_ledger(run, run->promise.stored, run->promise.stored);
    check_counter(run, run->promise.counted, run->promise.counted);
    check_changes(run, run->promise.now);
}

/* The database is still open. */
static void
check_living(struct failure_run *run)
{
    struct failure_promise kept = run->promise;
    petal_stats stats;
    uint64_t problems = run->problems;
    petal_error error;

    petal_stats_get(run->fixture.db, &stats);
    check_now(run);
    if (stats.read_only && !may_be_read_only(run))
        failure_problem(run, "read-only though nothing that was written failed: %s",
                        stats.background_error.text);
    if (!stats.read_only && run->faults.failed > 0 && run->faults.first == MEMORY_VFS_SYNC &&
        strstr(run->faults.paths[0], ".log") != NULL)
        failure_problem(run, "writes go on though a sync of the log failed");
    if (stats.read_only) {
        run->promise = kept;
        if (ledger_write(&run->ledger, run->promise.stored + 1, PETAL_SYNC_WAL, &error) !=
            PETAL_READ_ONLY)
            failure_problem(run, "a write into a read-only database: %s", error.text);
        return;
    }
    for (enum failure_change change = 0; change < FAILURE_COPIED; change++)
        run->promise.later[change] = run->promise.now[change];
    if (run->problems == problems && failure_write(run, PETAL_FSYNC_WAL) && flush_again(run)) {
        failure_count(run);
        make_and_drop(run);
        failure_told(run, "compact", petal_compact(run->ledger.tables[0], NULL, &error), &error);
        check_ledger(run, run->promise.stored, run->promise.stored);
    }
}

static bool
is_damaged(struct failure_run *run)
{
    petal_stats stats;

    petal_stats_get(run->fixture.db, &stats);
    return stats.background_error.status == PETAL_CORRUPT;
}

/* Each store file is one that the manifest names. */
static void
check_no_stray(struct failure_run *run)
{
    size_t there, named;

    if (run->fixture.db == NULL || !run->fixture.options.no_compaction || is_damaged(run))
        return;
    failure_faults_watch(&run->faults, false);
    there = fixture_count_files(&run->fixture, ".sst");
    named = copy_fixture_named_files(&run->fixture);
    failure_faults_watch(&run->faults, true);
    if (there != named)
        failure_problem(run, "%zu store files are there, and %zu are named", there, named);
}

void
failure_settle(struct failure_run *run, unsigned first, unsigned states)
{
    bool damaged = false, read_only = false;
    petal_error error;
    petal_stats stats;

    for (unsigned i = 0; i < states && !has_failed(run, MEMORY_VFS_SYNC_PARENT); i++)
        crash(run, (first + i) % FAILURE_CRASHES);
    failure_faults_heal(&run->faults);
    if (run->fixture.db != NULL) {
        damaged = is_damaged(run);
        if (damaged && passes(run) && !run->promise.file_lost)
            failure_problem(run, "what may be had a moment later counts as damage");
        if (!damaged && run->promise.tables_made)
            check_living(run);
        petal_stats_get(run->fixture.db, &stats);
        read_only = stats.read_only;
        run->doing = "closing";
        if (petal_close(run->fixture.db, &error) != PETAL_OK && !read_only && !damaged)
            failure_problem(run, "close: %s", error.text);
        run->fixture.db = NULL;
    }
    run->doing = "opened again";
    check_opened_again(run, has_failed(run, MEMORY_VFS_SYNC) ? run->promise.synced
                                                             : run->promise.stored);
    check_goes_on(run);
    check_no_stray(run);
    check_copy(run);
    close_it(run);
}
