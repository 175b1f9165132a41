#include "tools/python/native/database.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/pickle.h"

struct py_database {
    petal_db *db;              /* NULL once closed; changed under `inside` alone */
    pthread_rwlock_t inside;   /* shared by calls, alone for closing */
    atomic_bool closing;       /* turns new calls away, so that closing gets its turn */
    atomic_size_t holders;     /* Python's object, tables and parts */
    unsigned generation;       /* of the process; see `generation` below */
    pthread_mutex_t list_lock; /* of `parts` and their links */
    py_part *parts;            /* those not freed */
};

/* Who uses a part: several at once if it is a snapshot, else one. */
struct use {
    pthread_rwlock_t lock;
    atomic_size_t parts; /* a transaction and its scans have it in common */
};

struct py_part {
    py_database *database;
    const struct part_kind *kind;
    struct use *use;
    void *object;          /* NULL once closed; changed only in exclusive use */
    py_part *next, **link; /* in the database's list */
};

/* Grows in a forked child: a database of an older generation is the parent's. */
static unsigned generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
in_child(void)
{
    generation++;
}

static void
watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

int
fail(petal_error *error, int status, const char *text)
{
    *error = (petal_error){.status = (enum petal_status)status};
    snprintf(error->text, sizeof error->text, "%s", text);
    return status;
}

int
fail_closed(petal_error *error)
{
    return fail(error, PY_CLOSED, "the database is closed");
}

int
py_open(const char *path, const petal_options *options, py_database **database, petal_error *error)
{
    pthread_once(&once, watch_forks);
    *database = NULL;
    py_database *made = calloc(1, sizeof *made);
    if (!made)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    int status = (int)petal_open(path, options, &made->db, error);
    if (status) {
        free(made);
        return status;
    }
    pthread_rwlock_init(&made->inside, NULL);
    pthread_mutex_init(&made->list_lock, NULL);
    made->generation = generation;
    made->holders = 1;
    *database = made;
    return PETAL_OK;
}

bool
database_is_foreign(const py_database *database)
{
    return database->generation != generation;
}

int
database_enter(py_database *database, petal_error *error)
{
    if (!database)
        return fail_closed(error);
    if (database_is_foreign(database))
        return fail(
            error, PETAL_INVALID,
            "the database belongs to the process that opened it, and this is a forked child");
    if (!database->closing) {
        pthread_rwlock_rdlock(&database->inside);
        if (database->db)
            return PETAL_OK;
        pthread_rwlock_unlock(&database->inside);
    }
    return fail_closed(error);
}

void
database_leave(py_database *database)
{
    pthread_rwlock_unlock(&database->inside);
}

petal_db *
database_db(py_database *database)
{
    assert(database->db);
    return database->db;
}

py_database *
database_hold(py_database *database)
{
    database->holders++;
    return database;
}

/* Closes the part's object. The caller has the part for itself. */
static void
close_object(py_part *part)
{
    if (part->object)
        part->kind->close(part->object);
    part->object = NULL;
}

int
py_close(py_database *database, petal_error *error)
{
    if (!database || database_is_foreign(database))
        return PETAL_OK;
    database->closing = true;
    pthread_rwlock_wrlock(&database->inside);
    int status = PETAL_OK;
    if (database->db) {
        /* Nobody is inside, so nobody has a part. */
        for (py_part *part = database->parts; part; part = part->next)
            close_object(part);
        status = (int)petal_close(database->db, error);
        database->db = NULL;
    }
    pthread_rwlock_unlock(&database->inside);
    return status;
}

void
py_database_free(py_database *database)
{
    if (!database || database_is_foreign(database) || --database->holders > 0)
        return;
    petal_error error;
    (void)py_close(database, &error);
    pthread_rwlock_destroy(&database->inside);
    pthread_mutex_destroy(&database->list_lock);
    free(database);
}

bool
py_database_is_open(py_database *database)
{
    return database && !database_is_foreign(database) && !database->closing;
}

int
py_refresh(py_database *database, petal_error *error)
{
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_refresh(database->db, error);
    database_leave(database);
    return status;
}

int
py_flush(py_database *database, petal_error *error)
{
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_flush(database->db, NULL, error);
    database_leave(database);
    return status;
}

int
py_wait_idle(py_database *database, petal_error *error)
{
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_wait_idle(database->db, error);
    database_leave(database);
    return status;
}

int
py_checkpoint(py_database *database, const char *directory, petal_error *error)
{
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_checkpoint(database->db, directory, error);
    database_leave(database);
    return status;
}

int
py_backup(py_database *database, const char *directory, bool copy, const char *previous,
          petal_backup_report *report, petal_error *error)
{
    petal_backup_options options = {.size = sizeof options, .copy = copy, .previous = previous};
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_backup(database->db, directory, &options, report, error);
    database_leave(database);
    return status;
}

int
py_stats(py_database *database, petal_stats *stats, petal_error *error)
{
    int status = database_enter(database, error);
    if (status)
        return status;
    petal_stats_get(database->db, stats);
    database_leave(database);
    return PETAL_OK;
}

int
py_stats_text(py_database *database, py_call *call)
{
    char *text;
    size_t size;
    int status = database_enter(database, &call->error);
    if (status)
        return status;
    status =
        (int)petal_stats_text(database->db, PETAL_STATS_FORM_DEFAULT, &text, &size, &call->error);
    database_leave(database);
    if (status)
        return status;
    pickle_begin(call->pickle);
    pickle_bytes(call->pickle, (petal_slice){text, size});
    pickle_end(call->pickle);
    petal_stats_text_free(text);
    return call_answer(call);
}

static bool
add_name(void *pickle, petal_table *table)
{
    pickle_bytes(pickle, petal_table_name(table));
    return true;
}

int
py_tables(py_database *database, py_call *call)
{
    int status = database_enter(database, &call->error);
    if (status)
        return status;
    pickle_begin(call->pickle);
    pickle_list_begin(call->pickle);
    status = (int)petal_table_list(database->db, add_name, call->pickle, &call->error);
    database_leave(database);
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return status ? status : call_answer(call);
}

/* ---- parts ---- */

static struct use *
use_new(void)
{
    struct use *use = calloc(1, sizeof *use);
    if (use)
        pthread_rwlock_init(&use->lock, NULL);
    return use;
}

static void
use_free(struct use *use)
{
    if (!use || --use->parts > 0)
        return;
    pthread_rwlock_destroy(&use->lock);
    free(use);
}

int
part_new(py_database *database, const struct part_kind *kind, void *object, const py_part *of,
         py_part **part, petal_error *error)
{
    struct use *use = of ? of->use : use_new();
    *part = use ? calloc(1, sizeof **part) : NULL;
    if (!*part) {
        if (!of)
            free(use);
        kind->close(object);
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    }
    use->parts++;
    **part =
        (py_part){.database = database_hold(database), .kind = kind, .use = use, .object = object};
    pthread_mutex_lock(&database->list_lock);
    (*part)->next = database->parts;
    (*part)->link = &database->parts;
    if (database->parts)
        database->parts->link = &(*part)->next;
    database->parts = *part;
    pthread_mutex_unlock(&database->list_lock);
    return PETAL_OK;
}

py_database *
part_database(const py_part *part)
{
    return part ? part->database : NULL;
}

bool
part_is(const py_part *part, const struct part_kind *kind)
{
    return part->kind == kind;
}

void *
part_lock(py_part *part, const py_database *database, petal_error *error)
{
    if (!part)
        return fail_closed(error), NULL;
    /* One that the caller is not inside of could close it meanwhile. */
    if (part->database == database) {
        if (part->kind->shared)
            pthread_rwlock_rdlock(&part->use->lock);
        else
            pthread_rwlock_wrlock(&part->use->lock);
        if (part->object)
            return part->object;
        pthread_rwlock_unlock(&part->use->lock);
    }
    (void)fail(error, PY_CLOSED, "");
    snprintf(error->text, sizeof error->text, "the %s is closed", part->kind->name);
    return NULL;
}

void
part_unlock(py_part *part)
{
    pthread_rwlock_unlock(&part->use->lock);
}

void
part_end(py_part *part)
{
    part->object = NULL;
    part_unlock(part);
}

int
part_next(py_part *part, int (*next)(void *object, size_t most, size_t bytes, py_call *call),
          size_t most, size_t bytes, py_call *call)
{
    int status = database_enter(part_database(part), &call->error);
    if (status)
        return status;
    void *object = part_lock(part, part_database(part), &call->error);
    if (object) {
        status = next(object, most, bytes, call);
        part_unlock(part);
    } else
        status = PY_CLOSED;
    database_leave(part_database(part));
    return status;
}

void
py_part_close(py_part *part)
{
    petal_error error;
    if (!part || database_enter(part->database, &error))
        return;
    pthread_rwlock_wrlock(&part->use->lock);
    close_object(part);
    part_unlock(part);
    database_leave(part->database);
}

void
py_part_free(py_part *part)
{
    if (!part || database_is_foreign(part->database))
        return;
    py_database *database = part->database;
    /* Also while the database is being closed: that walks the list, and has closed the object
     * before this gets in, or finds it closed and gone. */
    pthread_rwlock_rdlock(&database->inside);
    pthread_rwlock_wrlock(&part->use->lock);
    close_object(part);
    part_unlock(part);
    pthread_mutex_lock(&database->list_lock);
    *part->link = part->next;
    if (part->next)
        part->next->link = part->link;
    pthread_mutex_unlock(&database->list_lock);
    pthread_rwlock_unlock(&database->inside);
    use_free(part->use);
    free(part);
    py_database_free(database);
}

static void
close_snapshot(void *snapshot)
{
    petal_snapshot_free(snapshot);
}

const struct part_kind snapshot_kind = {"snapshot", true, close_snapshot};

int
py_snapshot_open(py_database *database, py_part **snapshot, petal_error *error)
{
    petal_snapshot *made;
    *snapshot = NULL;
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_snapshot_new(database->db, &made, error);
    if (!status)
        status = part_new(database, &snapshot_kind, made, NULL, snapshot, error);
    database_leave(database);
    return status;
}

/* ---- calls ---- */

static int64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
clock_begin(uint32_t deadline_ms)
{
    return deadline_ms ? now_ns() : 0;
}

bool
clock_is_late(int64_t begun, uint32_t deadline_ms)
{
    return deadline_ms && now_ns() - begun > (int64_t)deadline_ms * 1000000;
}

int
call_result(py_call *call, py_database *database)
{
    if (call->result)
        return PETAL_OK;
    return (int)petal_result_new(database_db(database), &call->result, &call->error);
}

int
call_answer(py_call *call)
{
    if (call->pickle->failed)
        return fail(&call->error, PETAL_NO_MEMORY, "out of memory");
    call->bytes = call->pickle->bytes;
    call->size = call->pickle->size;
    return PETAL_OK;
}
