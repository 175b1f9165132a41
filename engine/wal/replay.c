/* replay.c -- which WALs there are, how they hang together, and where the last one ends; see
 * engine/wal/file.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/manifest/names.h"
#include "engine/wal/reader.h"

struct wal_entry {
    uint64_t number;
    bool whole; /* its header is */
    struct wal_identity identity;
};

struct wal_list {
    struct wal_replay *replay;
    struct wal_entry *entries; /* by number */
    size_t count, capacity;
    bool failed;
    uint64_t last_number; /* the last WAL with records; 0: none */
    bool torn;            /* a WAL ended before its final length: all later ones are dropped */
};

/* ---- the list ---- */

static void
visit_name(void *argument, const char *name)
{
    struct wal_list *list = argument;
    struct wal_replay *replay = list->replay;
    void *array = list->entries;
    uint64_t number;

    if (filename_parse(name, &number) != FILENAME_WAL ||
        (replay->next_log != 0 && number >= replay->next_log))
        return;
    if (number > replay->greatest_log)
        replay->greatest_log = number;
    if (number < replay->oldest_log || list->failed)
        return;
    list->failed = !mem_grow(replay->directory->env->allocator, &array, &list->capacity,
                             list->count, list->count + 1, sizeof *list->entries);
    list->entries = array;
    if (!list->failed)
        list->entries[list->count++] = (struct wal_entry){.number = number};
}

static int
compare_entries(const void *a, const void *b)
{
    const struct wal_entry *first = a, *second = b;

    return first->number < second->number ? -1 : first->number > second->number;
}

static const struct wal_entry *
find_entry(const struct wal_list *list, uint64_t number)
{
    struct wal_entry key = {.number = number};

    if (list->count == 0)
        return NULL;
    return bsearch(&key, list->entries, list->count, sizeof key, compare_entries);
}

static enum petal_status
list_files(struct wal_list *list, petal_error *error)
{
    const struct wal_replay *replay = list->replay;
    int failed = directory_list(replay->directory, visit_name, list);

    if (failed != 0)
        return error_io(error, replay->directory->path, failed, "list directory");
    if (list->failed)
        return error_no_memory(error);
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof *list->entries, compare_entries);
    return PETAL_OK;
}

static enum petal_status
read_headers(struct wal_list *list, petal_error *error)
{
    const struct wal_replay *replay = list->replay;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < list->count; i++) {
        struct wal_entry *entry = &list->entries[i];
        struct wal_reader reader;

        status = wal_reader_open(&reader, replay->directory, replay->database_identity,
                                 entry->number, error);
        if (status != PETAL_OK)
            break;
        status = wal_reader_header(&reader, replay->database_identity, &entry->identity,
                                   &entry->whole, error);
        wal_reader_close(&reader);
    }
    return status;
}

/* ---- promises ---- */

/* A WAL that another one or a promise names must be there: its name was durable before. */
static enum petal_status
check_present(const struct wal_list *list, uint64_t number, uint64_t length, const char *witness,
              petal_error *error)
{
    char path[PETAL_PATH_BYTES];

    if (number < list->replay->oldest_log || number == 0 || length == 0 ||
        find_entry(list, number) != NULL)
        return PETAL_OK;
    filename_wal(path, list->replay->directory->path, number);
    return error_corrupt(error, path, 0, "%s is missing; %s says that it had %" PRIu64 " bytes",
                         path, witness, length);
}

/* A WAL that the manifest needs no more must have ended with what is in store files. */
static enum petal_status
check_obsolete(const struct wal_replay *replay, const struct wal_entry *entry, petal_error *error)
{
    const struct wal_identity *identity = &entry->identity;
    char path[PETAL_PATH_BYTES];

    if (identity->predecessor_number == 0 || identity->predecessor_number >= replay->oldest_log ||
        identity->predecessor_last_sequence <= replay->obsolete_sequence)
        return PETAL_OK;
    filename_wal(path, replay->directory->path, entry->number);
    return error_corrupt(
        error, path, 32,
        "%s follows on log %" PRIu64 ", which ends with sequence %" PRIu64
        "; the manifest takes that log for obsolete, but store files have sequences "
        "up to %" PRIu64 " only",
        path, identity->predecessor_number, identity->predecessor_last_sequence,
        replay->obsolete_sequence);
}

static enum petal_status
check_all_present(const struct wal_list *list, petal_error *error)
{
    const struct wal_promise *promise = &list->replay->promise;
    enum petal_status status =
        check_present(list, promise->log_number, promise->length, "the manifest", error);

    for (size_t i = 0; status == PETAL_OK && i < list->count; i++) {
        const struct wal_identity *identity = &list->entries[i].identity;

        if (!list->entries[i].whole)
            continue;
        status = check_present(list, identity->predecessor_number, identity->predecessor_length,
                               "the log behind it", error);
        if (status == PETAL_OK)
            status = check_obsolete(list->replay, &list->entries[i], error);
    }
    return status;
}

/* The final length of a WAL as later WALs give it; 0: none does. */
static uint64_t
final_length(const struct wal_list *list, uint64_t number)
{
    uint64_t length = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct wal_identity *identity = &list->entries[i].identity;

        if (list->entries[i].whole && identity->predecessor_number == number &&
            identity->predecessor_length > length)
            length = identity->predecessor_length;
    }
    return length;
}

/* How far a WAL was synced as later WALs and the manifest tell. */
static uint64_t
promise_elsewhere(const struct wal_list *list, uint64_t number)
{
    const struct wal_promise *manifest = &list->replay->promise;
    uint64_t promise = manifest->log_number == number ? manifest->length : 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct wal_identity *identity = &list->entries[i].identity;

        if (list->entries[i].whole && identity->predecessor_number == number &&
            identity->predecessor_synced > promise)
            promise = identity->predecessor_synced;
    }
    return promise;
}

/* Does a fragment of this WAL say that the WAL was synced? */
static enum petal_status
says_synced(const struct wal_list *list, const struct wal_entry *entry, bool *synced,
            petal_error *error)
{
    const struct wal_replay *replay = list->replay;
    struct wal_reader reader;
    uint64_t promise;
    enum petal_status status = wal_reader_open(&reader, replay->directory,
                                               replay->database_identity, entry->number, error);

    if (status != PETAL_OK)
        return status;
    status = wal_reader_find_promise(&reader, 0, &promise, error);
    *synced = status == PETAL_OK && promise > 0;
    wal_reader_close(&reader);
    return status;
}

/* Was any later WAL synced?  Then all before it were, to their ends. */
static enum petal_status
later_synced(const struct wal_list *list, uint64_t number, bool *synced, petal_error *error)
{
    const struct wal_promise *manifest = &list->replay->promise;
    enum petal_status status = PETAL_OK;

    *synced = manifest->log_number > number && manifest->length > 0;
    for (size_t i = 0; !*synced && i < list->count; i++)
        *synced = list->entries[i].number > number &&
                  promise_elsewhere(list, list->entries[i].number) > 0;
    for (size_t i = 0; status == PETAL_OK && !*synced && i < list->count; i++) {
        if (list->entries[i].number > number)
            status = says_synced(list, &list->entries[i], synced, error);
    }
    return status;
}

/* Is it a torn tail that begins at `bad`?  PETAL_CORRUPT when any promise says that more was
 * synced.  `final`: the WAL's length as later WALs give it, 0 if none does. */
static enum petal_status
check_promises(const struct wal_list *list, struct wal_reader *reader, uint64_t bad, uint64_t final,
               petal_error *error)
{
    uint64_t promise = 0, elsewhere = promise_elsewhere(list, reader->number);
    enum petal_status status = wal_reader_find_promise(reader, bad, &promise, error);

    if (elsewhere > promise)
        promise = elsewhere;
    if (status == PETAL_OK && promise <= bad && final > bad) {
        bool synced;

        status = later_synced(list, reader->number, &synced, error);
        if (status == PETAL_OK && synced)
            promise = final;
    }
    if (status != PETAL_OK || promise <= bad)
        return status;
    return error_corrupt(error, reader->path, bad,
                         "%s is damaged at offset %" PRIu64 ": %" PRIu64
                         " bytes were synced; %" PRIu64 " whole records lie before the damage",
                         reader->path, bad, promise, list->replay->records);
}

/* ---- one WAL ---- */

/* Zeros at the end of the file were never stored: nothing is lost with them. */
static enum petal_status
count_dropped(struct wal_replay *replay, struct wal_reader *reader, uint64_t from,
              petal_error *error)
{
    uint64_t content;
    enum petal_status status = wal_reader_content_end(reader, &content, error);

    if (status == PETAL_OK && content > from)
        replay->dropped_bytes += content - from;
    return status;
}

static enum petal_status
refuse_order(const struct wal_list *list, const struct wal_entry *entry, const char *path,
             petal_error *error)
{
    return error_corrupt(error, path, 32,
                         "%s has records and follows on log %" PRIu64 ", but the log before it is "
                         "%" PRIu64,
                         path, entry->identity.predecessor_number, list->last_number);
}

static enum petal_status
replay_reader(struct wal_list *list, const struct wal_entry *entry, struct wal_reader *reader,
              petal_error *error)
{
    struct wal_replay *replay = list->replay;
    /* All WALs between the last one with records and this one are empty, so it may name any of
     * them. */
    bool continues =
        list->last_number == 0 || entry->identity.predecessor_number >= list->last_number;
    uint64_t final = final_length(list, entry->number);
    uint64_t records = 0, end = 0;
    enum petal_status status = PETAL_OK;

    if (final != 0 && final < reader->limit)
        reader->limit = final;
    if (entry->whole)
        status = wal_reader_records(reader, continues ? replay->visit : NULL, replay->argument,
                                    &records, &end, error);
    if (continues)
        replay->records += records;
    if (status == PETAL_OK)
        status = check_promises(list, reader, end, final, error);
    if (status == PETAL_OK)
        status = count_dropped(replay, reader, end, error);
    if (status != PETAL_OK)
        return status;
    list->torn = final > end;
    if (!continues && records > 0)
        return refuse_order(list, entry, reader->path, error);
    if (records > 0)
        list->last_number = entry->number;
    if (!entry->whole || !continues)
        return PETAL_OK;
    replay->end = (struct wal_promise){entry->number, end};
    return replay->ended != NULL ? replay->ended(replay->argument, entry->number, end, error)
                                 : PETAL_OK;
}

static enum petal_status
replay_file(struct wal_list *list, const struct wal_entry *entry, petal_error *error)
{
    struct wal_replay *replay = list->replay;
    struct wal_reader reader;
    enum petal_status status = wal_reader_open(&reader, replay->directory,
                                               replay->database_identity, entry->number, error);

    if (status != PETAL_OK)
        return status;
    if (list->torn)
        status = count_dropped(replay, &reader, 0, error);
    else
        status = replay_reader(list, entry, &reader, error);
    wal_reader_close(&reader);
    return status;
}

enum petal_status
wal_replay(struct wal_replay *replay, petal_error *error)
{
    struct wal_list list = {.replay = replay};
    enum petal_status status;

    replay->greatest_log = 0;
    replay->end = (struct wal_promise){0, 0};
    replay->records = 0;
    replay->dropped_bytes = 0;
    status = list_files(&list, error);
    if (status == PETAL_OK)
        status = read_headers(&list, error);
    if (status == PETAL_OK)
        status = check_all_present(&list, error);
    for (size_t i = 0; status == PETAL_OK && i < list.count; i++)
        status = replay_file(&list, &list.entries[i], error);
    mem_free(replay->directory->env->allocator, list.entries, list.capacity * sizeof *list.entries);
    return status;
}
