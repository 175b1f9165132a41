/* recovery.c -- see recovery.h. */
#include "engine/db/recovery.h"

#include "base/checksum.h"
#include "bloom/hash.h"
#include "engine/flush/flush.h"
#include "engine/state/progress.h"
#include "engine/store/change.h"
#include "engine/store/open.h"
#include "engine/store/orphan_files.h"
#include "engine/wal/wal.h"
#include "engine/write/commit.h"

#include <errno.h>
#include <inttypes.h>

/* ---- store files ---- */

static enum petal_status
open_stores(petal_db *db, petal_family *family, struct view *view, petal_error *error)
{
    const struct manifest_table *table = manifest_find_table(db->manifest, family->table->id);
    const struct manifest_family *described = manifest_find_family(table, family->id);
    struct number_map open = {0};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < family->stores.count; i++) {
        struct store *store = family->stores.places[i].store;
        struct store_view *made;

        status = store_open(store, &described->stores[i], family_store_end(family, i), &open, true,
                            &made, error);
        if (status == PETAL_OK && view_set_store(view, store, made) != PETAL_OK)
            status = error_no_memory(error);
        if (status == PETAL_OK)
            progress_count_runs(&db->progress, &db->views, store);
    }
    number_map_fini(&open, db->env.allocator);
    return status;
}

/* REQUIRES: schema.mutex and views.mutex held. */
static enum petal_status
open_tables(petal_db *db, petal_error *error)
{
    struct view *view;
    enum petal_status status = PETAL_OK;

    assert_held(&db->schema.mutex);
    assert_held(&db->views.mutex);
    for (size_t i = 0; status == PETAL_OK && i < db->manifest->table_count; i++) {
        petal_table *table;

        if (!manifest_is_snapshot(db->manifest->tables[i]))
            status = table_attach(&db->schema, db->manifest->tables[i], &table);
    }
    if (status == PETAL_OK)
        status = view_new(&view, db->env.allocator, &db->views, NULL, db->schema.slot_count);
    if (status != PETAL_OK)
        return error_no_memory(error);
    /* The database owns the view from here on, whatever fails. */
    atomic_store_explicit(&db->views.current, view, memory_order_release);
    for (petal_table *table = db->schema.tables; table != NULL; table = table->next) {
        const struct table_descriptor *descriptor = table_descriptor(table);

        for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
            status = open_stores(db, descriptor->families[i], view, error);
    }
    return status;
}

/* ---- logs ---- */

/* What readers may see, and what edits of the manifest record. */
static void
publish_counters(petal_db *db)
{
    atomic_store_explicit(&db->views.published_timestamp, db->writers.last_timestamp,
                          memory_order_relaxed);
    atomic_store_explicit(&db->views.published_sequence, db->writers.last_sequence,
                          memory_order_release);
}

/* A log that was replayed. */
struct replayed_log {
    uint64_t number, length, last_sequence;
};

struct replay_state {
    petal_db *db;
    bool only_checks;        /* nothing is put back: what would refuse the replay is found out */
    struct log_place *place; /* of a read-only opening, else NULL */
    bool found, changed;     /* the record there; it is another one */
    bool is_ahead;           /* a record is about what the manifest does not know yet */
    uint64_t cells;          /* put back into memtables */
    uint64_t replayed;       /* greatest sequence in a record so far: those to come are greater */
    petal_error no_space;    /* why memtables were not flushed; PETAL_OK: they were */
    uint64_t sequence;       /* greatest of the log at hand */
    struct record_base base; /* of its next record */
    struct replayed_log *logs;
    size_t log_count, log_capacity;
};

/* Where a cell of the log belongs; *family NULL when its table or family was dropped. */
static enum petal_status
find_store(petal_db *db, const struct wal_record *record, const struct record_cell *logged,
           petal_family **family, uint64_t *flushed, petal_error *error)
{
    const struct manifest_table *table = manifest_find_table(db->manifest, logged->table_id);
    const struct manifest_family *described =
        table != NULL ? manifest_find_family(table, logged->family_id) : NULL;

    *family = NULL;
    if (described != NULL && !manifest_is_snapshot(table)) {
        *family = table_family_by_id(table_by_id(&db->schema, table->id), described->id);
        *flushed = described->stores[manifest_region_of(table, logged->cell.row)].flushed_sequence;
        return PETAL_OK;
    }
    if ((table == NULL || !manifest_is_snapshot(table)) &&
        manifest_has_known(db->manifest, logged->table_id, logged->family_id))
        return PETAL_OK;
    return record_cell_unknown(logged, record, error);
}

static enum petal_status
replay_cell(void *argument, const struct wal_record *record, const struct record_cell *logged,
            petal_error *error)
{
    struct replay_state *state = argument;
    petal_db *db = state->db;
    struct write_cell write = {.cell = logged->cell};
    uint64_t flushed = 0;
    bool grown;
    enum petal_status status = find_store(db, record, logged, &write.family, &flushed, error);

    if (status == PETAL_CORRUPT && state->place != NULL && !state->only_checks) {
        state->is_ahead = true; /* or the log is damaged: the manifest tells */
        return PETAL_BUSY;
    }
    if (status == PETAL_OK && logged->cell.sequence > state->replayed)
        state->replayed = logged->cell.sequence;
    if (status != PETAL_OK || state->only_checks)
        return status;
    if (logged->assigned && logged->cell.timestamp > db->writers.last_timestamp)
        db->writers.last_timestamp = logged->cell.timestamp;
    if (logged->cell.sequence > db->writers.last_sequence)
        db->writers.last_sequence = logged->cell.sequence;
    if (logged->cell.sequence > state->sequence)
        state->sequence = logged->cell.sequence;
    if (write.family != NULL && (logged->assigned || logged->ahead))
        family_note_stamped(write.family, logged->cell.timestamp);
    else if (write.family != NULL)
        family_note_given(write.family, logged->cell.timestamp);
    if (write.family == NULL || logged->cell.sequence <= flushed ||
        (state->place != NULL && logged->cell.sequence <= state->place->applied))
        return PETAL_OK;
    write.row_hash = bloom_hash_row(db->salt, logged->cell.row.data, logged->cell.row.size);
    write.store = family_store_of_row(write.family, logged->cell.row);
    status = memtable_reserve(write.store->active->memtable, 1, write_cell_bytes(&write), &grown);
    if (grown)
        write_charge(db, write.store);
    if (status == PETAL_OK)
        status = write_apply_cell(db, &write);
    state->cells += status == PETAL_OK;
    if (status == PETAL_OK && state->place != NULL)
        state->place->applied = logged->cell.sequence;
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

/*
 * Write all memtables to store files, named by one edit, so that no batch is split by a power cut
 * now. From the first that finds no space on they wait for the flush thread instead.
 */
static enum petal_status
flush_replayed(struct replay_state *state, petal_error *error)
{
    petal_db *db = state->db;
    struct flush_job *job;
    enum petal_status status;

    publish_counters(db);
    status = flush_freeze(db, NULL, 0, &job, error);
    if (status != PETAL_OK || job == NULL)
        return status;
    /* The manifest may know of later sequences than those that are still to be replayed. */
    if (job->first_left > state->replayed + 1)
        job->first_left = state->replayed + 1;
    if (state->no_space.status == PETAL_OK) {
        petal_error cause;

        status = flush_job_run(db, job, &cause);
        if (status == PETAL_NO_SPACE) {
            state->no_space = cause;
            flush_job_remove_files(db,
                                   job); /* nothing names them: they are orphans, and take space */
        } else if (status != PETAL_OK)
            error_copy(error, &cause);
        if (status != PETAL_NO_SPACE) {
            flush_job_free(db, job);
            return status;
        }
    }
    flush_enqueue(db, job);
    return PETAL_OK;
}

/* After a record. Without space memtables grow as far as they may. */
static enum petal_status
make_room(struct replay_state *state, petal_error *error)
{
    petal_db *db = state->db;
    uint64_t limit = memory_budget_memtable_limit(&db->memory);
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    assert(!db->read_only);
    if (flush_is_due(db))
        status = flush_replayed(state, error);
    if (status != PETAL_OK || state->no_space.status == PETAL_OK ||
        atomic_load_explicit(&db->memory.memtables, memory_order_relaxed) <= limit)
        return status;
    return error_file(error, PETAL_NO_SPACE, state->no_space.file,
                      "the logs hold more than memory_bytes lets memtables have, and there is no "
                      "space to flush them: %s",
                      state->no_space.text);
}

static enum petal_status
note_log(void *argument, uint64_t number, uint64_t length, petal_error *error)
{
    struct replay_state *state = argument;

    if (!mem_grow_array(state->db->env.allocator, &state->logs, &state->log_capacity,
                        state->log_count, state->log_count + 1, sizeof(struct replayed_log)))
        return error_no_memory(error);
    state->logs[state->log_count++] = (struct replayed_log){number, length, state->sequence};
    state->sequence = 0;
    return PETAL_OK;
}

/* Of a read-only opening. */
static enum petal_status
read_record(struct replay_state *state, const struct wal_record *record, petal_error *error)
{
    struct log_place *place = state->place;
    struct record_base before = state->base;
    uint64_t checksum = checksum_at(0, 0, record->payload.data, record->payload.size);
    enum petal_status status;

    if (record->number == place->number && record->offset == place->offset) {
        state->found = true;
        state->changed = checksum != place->checksum;
        if (state->changed)
            return PETAL_BUSY;
    }
    status = record_visit_cells(&state->base, record, replay_cell, state, error);
    if (status != PETAL_OK)
        return status;
    place->number = record->number;
    place->offset = record->offset;
    place->base = record->first ? (struct record_base){0} : before;
    place->checksum = checksum;
    if (state->replayed > place->sequence)
        place->sequence = state->replayed;
    return PETAL_OK;
}

static enum petal_status
replay_record(void *argument, const struct wal_record *record, petal_error *error)
{
    struct replay_state *state = argument;
    enum petal_status status;

    if (state->place != NULL)
        return read_record(state, record, error);
    status = record_visit_cells(&state->base, record, replay_cell, state, error);
    return status == PETAL_OK && !state->only_checks ? make_room(state, error) : status;
}

/* The manifest forgets the logs that were there, whether or not they held something new. */
static enum petal_status
retire_logs(petal_db *db, petal_error *error)
{
    struct change change;
    enum petal_status status;

    change_begin(&change, db, 0);
    manifest_edit_oldest_log(&change.edit, db_next_file_number(db));
    status = change_commit(&change, error);
    change_end(&change);
    return status;
}

struct later_logs {
    petal_db *db;
    uint64_t below;  /* look at those below */
    uint64_t number; /* the greatest of them */
};

static void
note_later_log(void *argument, const char *name)
{
    struct later_logs *later = argument;
    uint64_t number;

    if (filename_parse(name, &number) == FILENAME_WAL && number < later->below &&
        number > later->number)
        later->number = number;
}

/* Remove the logs after the last one that was replayed (0: all), which were dropped or are empty:
 * what they say of others would tell that the log ends before the next one. Each may be named by
 * those after it, so the newest goes first, for good. */
static enum petal_status
remove_later_logs(petal_db *db, uint64_t last, petal_error *error)
{
    struct later_logs later = {.db = db, .below = db_next_file_number(db)};

    for (;;) {
        char path[PETAL_PATH_BYTES];
        int failed;
        enum petal_status status;

        later.number = last;
        failed = directory_list(&db->directory, note_later_log, &later);
        if (failed != 0)
            return error_io(error, db->directory.path, failed, "list directory");
        if (later.number == last)
            return PETAL_OK;
        filename_wal(path, db->directory.path, later.number);
        failed = directory_remove(&db->directory, path);
        if (failed != 0)
            return error_io(error, path, failed, "remove");
        status = db_sync_directory(db, error);
        if (status != PETAL_OK)
            return status;
        later.below = later.number;
    }
}

/* What was replayed waits in memory, so the logs stay. */
static enum petal_status
keep_logs(struct replay_state *state, petal_error *error)
{
    petal_db *db = state->db;
    uint64_t last = state->log_count > 0 ? state->logs[state->log_count - 1].number : 0;
    enum petal_status status = remove_later_logs(db, last, error);

    assert_leads(db);
    assert(state->no_space.status != PETAL_OK);
    for (size_t i = 0; status == PETAL_OK && i < state->log_count; i++)
        status = wal_keep(db, state->logs[i].number, state->logs[i].length,
                          state->logs[i].last_sequence, error);
    if (status == PETAL_OK)
        env_log(&db->env, PETAL_LOG_WARNING,
                "what the logs held waits in memory for space, and the logs stay: %s",
                state->no_space.text);
    return status;
}

static struct wal_replay
replay_into(struct replay_state *state)
{
    petal_db *db = state->db;

    return (struct wal_replay){
        .directory = &db->directory,
        .database_identity = db->identity,
        .oldest_log = db->manifest->oldest_log,
        /* Next to a writer there are later ones than the opening found. */
        .next_log =
            state->place != NULL ? manifest_number_end(db->manifest) : db_next_file_number(db),
        .obsolete_sequence = manifest_obsolete_sequence(db->manifest),
        .promise = db->manifest->promise,
        .live = db->read_only,
        .visit = replay_record,
        .ended = state->only_checks || state->place != NULL ? NULL : note_log,
        .argument = state,
    };
}

/* Whether the logs can be replayed. What they hold is counted at once: edits on the way say of no
 * write that it came after them. */
static enum petal_status
check_logs_whole(petal_db *db, petal_error *error)
{
    struct replay_state state = {.db = db, .only_checks = true};
    struct wal_replay replay = replay_into(&state);
    enum petal_status status = wal_replay(&replay, error);

    if (status == PETAL_OK && state.replayed > db->writers.last_sequence)
        db->writers.last_sequence = state.replayed;
    return status;
}

static enum petal_status
replay_logs(petal_db *db, petal_error *error)
{
    struct replay_state state = {.db = db};
    petal_error cause = {.status = PETAL_OK};
    struct wal_replay replay = replay_into(&state);
    enum petal_status status;

    assert(!db->read_only);
    db->wal->recovering = true;
    status = wal_replay(&replay, error);
    if (status != PETAL_OK || replay.greatest_log == 0) {
        db->wal->recovering = false;
        mem_free(db->env.allocator, state.logs, state.log_capacity * sizeof *state.logs);
        return status;
    }
    if (replay.dropped_bytes > 0)
        env_log(&db->env, PETAL_LOG_WARNING,
                "dropped the torn tail of the log: %llu bytes that no sync had promised",
                (unsigned long long)replay.dropped_bytes);
    status = flush_replayed(&state, error);
    db->wal->recovering = false;
    if (status == PETAL_OK && state.no_space.status == PETAL_OK) {
        status = retire_logs(db, &cause);
        if (status == PETAL_NO_SPACE && !manifest_is_dead(db->manifest)) {
            state.no_space = cause;
            status = PETAL_OK;
        } else if (status != PETAL_OK) {
            error_copy(error, &cause);
        }
    }
    if (status == PETAL_OK && state.no_space.status != PETAL_OK)
        status = keep_logs(&state, error);
    mem_free(db->env.allocator, state.logs, state.log_capacity * sizeof *state.logs);
    if (status == PETAL_OK)
        env_log(&db->env, PETAL_LOG_INFO, "recovered %llu cells from the log",
                (unsigned long long)state.cells);
    return status;
}

enum petal_status
recovery_read_logs(petal_db *db, struct log_place *place, enum log_end *end, petal_error *error)
{
    struct replay_state state = {
        .db = db, .place = place, .base = place->base, .replayed = place->sequence};
    struct wal_replay replay = replay_into(&state);
    bool resumed = place->number != 0;
    petal_error cause;
    enum petal_status status;

    assert_leads(db);
    assert(db->read_only);
    replay.from = (struct wal_promise){place->number, place->offset};
    status = wal_replay(&replay, &cause);
    *end = state.changed || (status == PETAL_OK && resumed && !state.found) ? LOG_CHANGED
           : state.is_ahead                                                 ? LOG_AHEAD
                                                                            : LOG_READ;
    if (status == PETAL_OK || *end != LOG_READ) {
        if (*end == LOG_AHEAD)
            (void)error_copy(error, &cause);
        return PETAL_OK;
    }
    return error_copy(error, &cause);
}

/* ---- file numbers and files that nothing names ---- */

enum scan_purpose {
    SCAN_NUMBERS, /* take them into account */
    /* Remove those that nothing names, and an unfinished manifest: a full disk needs the room */
    SCAN_STORE_FILES,
    SCAN_ALL /* remove whatever nothing names */
};

struct directory_scan {
    petal_db *db;
    enum scan_purpose purpose;
};

static void
visit_name(void *argument, const char *name)
{
    struct directory_scan *scan = argument;
    petal_db *db = scan->db;
    char path[PETAL_PATH_BYTES];
    uint64_t number = 0;
    enum filename_kind kind = filename_parse(name, &number);

    if (!manifest_number_possible(db->manifest, number)) {
        if (scan->purpose == SCAN_NUMBERS)
            env_log(&db->env, PETAL_LOG_WARNING,
                    "%s/%s is not a file of this database: it stays as it is", db->directory.path,
                    name);
        return;
    }
    if (scan->purpose == SCAN_NUMBERS) {
        if ((kind == FILENAME_WAL || kind == FILENAME_STORE_FILE) &&
            number >= db_next_file_number(db))
            atomic_store_explicit(&db->next_file_number, number + 1, memory_order_relaxed);
        return;
    }
    if ((kind == FILENAME_WAL && scan->purpose == SCAN_ALL && number < db->manifest->oldest_log) ||
        (kind == FILENAME_STORE_FILE && !manifest_names_file(db->manifest, number)))
        readers_remove(&db->readers, kind, number, 0);
    if (kind != FILENAME_MANIFEST_TEMPORARY)
        return;
    filename_manifest_temporary(path, db->directory.path);
    if (directory_remove(&db->directory, path) != 0)
        env_log(&db->env, PETAL_LOG_WARNING, "cannot remove left-over file %s", path);
}

struct orphans_check {
    petal_db *db;
    enum petal_status status;
    petal_error *error;
};

static void
check_name(void *argument, const char *name)
{
    struct orphans_check *check = argument;
    petal_db *db = check->db;
    char path[PETAL_PATH_BYTES];
    uint64_t number;

    if (check->status != PETAL_OK || filename_parse(name, &number) != FILENAME_STORE_FILE ||
        !manifest_number_possible(db->manifest, number) ||
        manifest_names_file(db->manifest, number))
        return;
    filename_store_file(path, db->directory.path, number);
    check->status = orphan_check(&db->directory, db->manifest, path, check->error);
    /* Its writer has removed it meanwhile. */
    if (check->status == PETAL_IO && db->read_only && check->error->os_error == ENOENT)
        check->status = PETAL_OK;
}

/* Does a store file that nothing names tell that the manifest was cut short? It is none if a writer
 * has written on. */
static enum petal_status
check_orphans(petal_db *db, petal_error *error)
{
    petal_error cause;
    struct orphans_check check = {.db = db, .status = PETAL_OK, .error = &cause};
    struct manifest_news news;
    int failed = directory_list(&db->directory, check_name, &check);
    enum petal_status status = PETAL_OK;

    if (failed != 0)
        return error_io(error, db->directory.path, failed, "list directory");
    if (check.status == PETAL_CORRUPT && db->read_only)
        status = manifest_look(db->manifest, &news, error);
    if (status != PETAL_OK || check.status == PETAL_OK ||
        (check.status == PETAL_CORRUPT && db->read_only && news.changed))
        return status;
    return error_copy(error, &cause);
}

static enum petal_status
scan_directory(petal_db *db, enum scan_purpose purpose, petal_error *error)
{
    struct directory_scan scan = {.db = db, .purpose = purpose};
    int failed = directory_list(&db->directory, visit_name, &scan);

    return failed == 0 ? PETAL_OK : error_io(error, db->directory.path, failed, "list directory");
}

enum petal_status
recovery_run(petal_db *db, petal_error *error)
{
    int64_t now_ms = env_clock_ms(&db->env);
    struct write_place lead;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &lead);
    atomic_store_explicit(&db->next_file_number, db->manifest->next_file_number,
                          memory_order_relaxed);
    db->writers.last_sequence = db->manifest->last_sequence;
    db->writers.last_timestamp = db->manifest->last_timestamp;
    publish_counters(db);
    status = scan_directory(db, SCAN_NUMBERS, error);
    if (status == PETAL_OK) {
        mutex_lock(&db->schema.mutex);
        mutex_lock(&db->views.mutex);
        status = open_tables(db, error);
        mutex_unlock(&db->views.mutex);
        mutex_unlock(&db->schema.mutex);
    }
    if (status == PETAL_OK)
        status = check_orphans(db, error);
    if (status == PETAL_OK && !db->read_only)
        status = check_logs_whole(db, error);
    if (status == PETAL_OK && !db->read_only)
        status = manifest_make_durable(db->manifest, error);
    if (status == PETAL_OK && !db->read_only)
        status = scan_directory(db, SCAN_STORE_FILES, error);
    if (status == PETAL_OK && !db->read_only)
        status = replay_logs(db, error);
    if (status == PETAL_OK && !db->read_only)
        status = scan_directory(db, SCAN_ALL, error);
    if (status == PETAL_OK)
        publish_counters(db);
    write_lead_end(&db->writers.queue, &lead);
    if (status != PETAL_OK)
        return status;
    if (!db->read_only && now_ms < db->writers.last_timestamp)
        env_log(&db->env, PETAL_LOG_WARNING,
                "the clock is %" PRIu64
                " ms behind the newest timestamp that was assigned; timestamps "
                "stand still until it has caught up",
                (uint64_t)db->writers.last_timestamp - (uint64_t)now_ms);
    return PETAL_OK;
}
