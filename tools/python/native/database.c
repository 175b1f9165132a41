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
    atomic_size_t holders;     /* Python's object, tables, batches and readers */
    unsigned generation;       /* of the process; see `generation` below */
    pthread_mutex_t list_lock; /* of `readers` and their links */
    py_reader *readers;        /* those not freed */
};

struct py_reader {
    py_database *database;
    pthread_rwlock_t
        use;      /* shared by reads at a snapshot, alone for a scan's step and for closing */
    void *object; /* NULL once closed */
    void (*close)(void *object);
    py_reader *next, **link; /* in the database's list */
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

/* Closes the reader's object. The caller has the reader for itself. */
static void
close_object(py_reader *reader)
{
    if (reader->object)
        reader->close(reader->object);
    reader->object = NULL;
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
        /* Nobody is inside, so nobody has a reader. */
        for (py_reader *reader = database->readers; reader; reader = reader->next)
            close_object(reader);
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

/* ---- readers ---- */

int
reader_new(py_database *database, void *object, void (*close)(void *object), py_reader **reader,
           petal_error *error)
{
    *reader = calloc(1, sizeof **reader);
    if (!*reader) {
        close(object);
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    }
    **reader = (py_reader){.database = database_hold(database), .object = object, .close = close};
    pthread_rwlock_init(&(*reader)->use, NULL);
    pthread_mutex_lock(&database->list_lock);
    (*reader)->next = database->readers;
    (*reader)->link = &database->readers;
    if (database->readers)
        database->readers->link = &(*reader)->next;
    database->readers = *reader;
    pthread_mutex_unlock(&database->list_lock);
    return PETAL_OK;
}

py_database *
reader_database(const py_reader *reader)
{
    return reader ? reader->database : NULL;
}

void *
reader_lock(py_reader *reader, const py_database *database, bool alone)
{
    /* One that the caller is not inside of could close it meanwhile. */
    if (reader->database != database)
        return NULL;
    if (alone)
        pthread_rwlock_wrlock(&reader->use);
    else
        pthread_rwlock_rdlock(&reader->use);
    if (reader->object)
        return reader->object;
    pthread_rwlock_unlock(&reader->use);
    return NULL;
}

void
reader_unlock(py_reader *reader)
{
    pthread_rwlock_unlock(&reader->use);
}

int
reader_next(py_reader *reader, int (*next)(void *object, size_t most, size_t bytes, py_call *call),
            size_t most, size_t bytes, py_call *call)
{
    int status = database_enter(reader_database(reader), &call->error);
    if (status)
        return status;
    void *object = reader_lock(reader, reader_database(reader), true);
    if (object) {
        status = next(object, most, bytes, call);
        reader_unlock(reader);
    } else
        status = fail(&call->error, PY_CLOSED, "the scan is closed");
    database_leave(reader_database(reader));
    return status;
}

void
py_reader_close(py_reader *reader)
{
    petal_error error;
    if (!reader || database_enter(reader->database, &error))
        return;
    if (reader_lock(reader, reader->database, true)) {
        close_object(reader);
        reader_unlock(reader);
    }
    database_leave(reader->database);
}

void
py_reader_free(py_reader *reader)
{
    if (!reader || database_is_foreign(reader->database))
        return;
    py_database *database = reader->database;
    /* Also while the database is being closed: that walks the list, and has closed the object
     * before this gets in, or finds it closed and gone. */
    pthread_rwlock_rdlock(&database->inside);
    close_object(reader);
    pthread_mutex_lock(&database->list_lock);
    *reader->link = reader->next;
    if (reader->next)
        reader->next->link = reader->link;
    pthread_mutex_unlock(&database->list_lock);
    pthread_rwlock_unlock(&database->inside);
    pthread_rwlock_destroy(&reader->use);
    free(reader);
    py_database_free(database);
}

static void
close_snapshot(void *snapshot)
{
    petal_snapshot_free(snapshot);
}

int
py_snapshot_open(py_database *database, py_reader **snapshot, petal_error *error)
{
    petal_snapshot *made;
    *snapshot = NULL;
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_snapshot_new(database->db, &made, error);
    if (!status)
        status = reader_new(database, made, close_snapshot, snapshot, error);
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
