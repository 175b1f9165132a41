/* replay.c -- which WALs there are, how they hang together, and where the last one ends; see
 * engine/wal/file.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/manifest/names.h"
#include "engine/wal/reader.h"

struct wal_entry {
    uint64_t number;
    bool whole;   /* its header is */
    bool refused; /* as was told: it is passed over */
    struct wal_identity identity;
};

struct wal_list {
    struct wal_replay *replay;
    struct wal_entry *entries; /* by number */
    size_t count, capacity;
    bool failed;
    uint64_t last_number; /* the last WAL with records; 0: none */
    bool torn;            /* a WAL ended before its final length: all later ones are dropped */
    uint64_t bytes;       /* that are lost with the refusal to come, as far as is known */
};

/* What was found is no log, as *error says: the replay ends, or tells somebody and goes on. */
static enum petal_status
refuse(struct wal_list *list, enum petal_status status, const petal_error *error)
{
    const struct wal_replay *replay = list->replay;
    uint64_t bytes = list->bytes;

    list->bytes = 0;
    if (status == PETAL_OK || replay->fault == NULL || status == PETAL_BUSY || error_passes(error))
        return status;
    replay->fault(replay->argument, error, bytes, false);
    return PETAL_OK;
}

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
    if (number < replay->oldest_log || number < replay->from.log_number || list->failed)
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
open_reader(struct wal_reader *reader, const struct wal_replay *replay, uint64_t number,
            petal_error *error)
{
    enum petal_status status =
        wal_reader_open(reader, replay->directory, replay->database_identity, number, error);

    reader->live = replay->live;
    return status;
}

static enum petal_status
read_header(const struct wal_replay *replay, struct wal_entry *entry, petal_error *error)
{
    struct wal_reader reader;
    enum petal_status status = open_reader(&reader, replay, entry->number, error);

    if (status != PETAL_OK)
        return status;
    status = wal_reader_header(&reader, replay->database_identity, &entry->identity, &entry->whole,
                               error);
    wal_reader_close(&reader);
    return status;
}

/* An empty WAL that its writer had made ahead, and did not need. */
static bool
has_vanished(const struct wal_replay *replay, enum petal_status status, const petal_error *error)
{
    return replay->live && status == PETAL_IO && error->os_error == ENOENT;
}

static enum petal_status
read_headers(struct wal_list *list, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < list->count; i++) {
        struct wal_entry *entry = &list->entries[i];

        status = read_header(list->replay, entry, error);
        entry->refused = status != PETAL_OK;
        if (has_vanished(list->replay, status, error))
            status = PETAL_OK;
        entry->whole = entry->whole && !entry->refused;
        status = refuse(list, status, error);
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

    if (number < list->replay->oldest_log || number < list->replay->from.log_number ||
        number == 0 || length == 0 || find_entry(list, number) != NULL)
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
check_all_present(struct wal_list *list, petal_error *error)
{
    const struct wal_promise *promise = &list->replay->promise;
    enum petal_status status = refuse(
        list, check_present(list, promise->log_number, promise->length, "the manifest", error),
        error);

    for (size_t i = 0; status == PETAL_OK && i < list->count; i++) {
        const struct wal_identity *identity = &list->entries[i].identity;

        if (!list->entries[i].whole)
            continue;
        status = refuse(list,
                        check_present(list, identity->predecessor_number,
                                      identity->predecessor_length, "the log behind it", error),
                        error);
        if (status == PETAL_OK)
            status = refuse(list, check_obsolete(list->replay, &list->entries[i], error), error);
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
    enum petal_status status = open_reader(&reader, replay, entry->number, error);

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
        if (list->entries[i].number > number && !list->entries[i].refused)
            status = says_synced(list, &list->entries[i], synced, error);
    }
    return status;
}

/* How far the WAL was synced, if that is after `bad`, as any promise says; else anything up to
 * that. `content`: where the bytes end that are not zero. `final`: the WAL's length as later WALs
 * give it, 0 if none does. */
static enum petal_status
find_promise(const struct wal_list *list, struct wal_reader *reader, uint64_t bad, uint64_t content,
             uint64_t final, uint64_t *promise, petal_error *error)
{
    uint64_t elsewhere = promise_elsewhere(list, reader->number);
    enum petal_status status = PETAL_OK;

    *promise = 0;
    if (content > bad)
        status = wal_reader_find_promise(reader, bad, promise, error);
    if (elsewhere > *promise)
        *promise = elsewhere;
    if (status == PETAL_OK && *promise <= bad && final > bad) {
        bool synced;

        status = later_synced(list, reader->number, &synced, error);
        if (status == PETAL_OK && synced)
            *promise = final;
    }
    return status;
}

/* ---- one WAL ---- */

/* The tail of an incomplete write: whole records after its beginning are newer than what is lost,
 * and would be a state that never existed. A crash may leave them; damage of the last writes looks
 * the same. */
static void
tell_tail(const struct wal_replay *replay, const struct wal_reader *reader, uint64_t end,
          uint64_t bytes, uint64_t behind)
{
    petal_error cause;

    if (replay->fault == NULL)
        return;
    if (behind == 0)
        error_corrupt(&cause, reader->path, end,
                      "%" PRIu64 " bytes at offset %" PRIu64
                      " are left from a write that was not completed: no sync had promised them, "
                      "and the next opening drops them",
                      bytes, end);
    else
        error_corrupt(&cause, reader->path, end,
                      "%s ends at offset %" PRIu64 ": what follows is torn or damaged; %" PRIu64
                      " whole records behind it, which no sync had promised, are dropped by the "
                      "next opening, and no salvage writes them",
                      reader->path, end, behind);
    replay->fault(replay->argument, &cause, bytes, true);
}

/* What follows the last whole record, which ends at `end`: a torn tail, or damage. Zeros at the end
 * of the file were never stored: nothing is lost with them. */
static enum petal_status
judge_end(struct wal_list *list, struct wal_reader *reader, uint64_t end, uint64_t final,
          petal_error *error)
{
    struct wal_replay *replay = list->replay;
    uint64_t promise = 0, content = end, bytes, behind = 0;
    bool at_end = false;
    enum petal_status status = PETAL_OK;

    /* All that lay behind was judged when the reading of this WAL began, and its writer stores in
     * order: zeros are where it has come to. */
    if (replay->live && reader->number == replay->from.log_number)
        status = wal_reader_is_at_end(reader, end, &at_end, error);
    if (status == PETAL_OK && !at_end)
        status = wal_reader_content_end(reader, &content, error);
    if (status == PETAL_OK)
        status = find_promise(list, reader, end, content, final, &promise, error);
    bytes = content > end ? content - end : 0;
    if (status == PETAL_OK && bytes > 0 && end > 0 && (promise > end || replay->fault != NULL))
        status = wal_reader_count_behind(reader, end, &behind, error);
    if (status != PETAL_OK)
        return status;
    if (promise <= end) {
        replay->dropped_bytes += bytes;
        if (bytes > 0)
            tell_tail(replay, reader, end, bytes, behind);
        return PETAL_OK;
    }
    list->bytes = bytes;
    return error_corrupt(error, reader->path, end,
                         "%s is damaged at offset %" PRIu64 ": %" PRIu64
                         " bytes were synced; %" PRIu64
                         " whole records lie before the damage, %" PRIu64 " behind it",
                         reader->path, end, promise, replay->records, behind);
}

/* The WAL, without a header when that was read, has one by now: its writer has come to it. What it
 * holds was written later than what is read here. */
static bool
has_begun(const struct wal_replay *replay, const struct wal_entry *entry)
{
    struct wal_entry now = {.number = entry->number};

    return read_header(replay, &now, NULL) == PETAL_OK && now.whole;
}

/* *records: so many more; *end: after the last whole one. */
static enum petal_status
read_to_end(struct wal_list *list, const struct wal_entry *entry, struct wal_reader *reader,
            wal_visit *visit, uint64_t final, uint64_t *records, uint64_t *end, petal_error *error)
{
    const struct wal_replay *replay = list->replay;

    for (;;) {
        uint64_t before = *end;
        enum petal_status status = PETAL_OK;

        if (entry->whole)
            status = wal_reader_records(reader, visit, replay->argument, records, end, error);
        if (status != PETAL_OK)
            return status;
        status = judge_end(list, reader, *end, final, error);
        if (status != PETAL_CORRUPT || !replay->live)
            return status;
        if (!entry->whole)
            return has_begun(replay, entry) ? PETAL_OK : status;
        /* What seems damaged may have been written a moment before what promises it. */
        if (*end == before)
            return status;
        wal_reader_begin_at(reader, *end);
    }
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
    bool continues = list->last_number == 0 || entry->number == replay->from.log_number ||
                     entry->identity.predecessor_number >= list->last_number;
    bool is_wanted = continues || replay->fault != NULL;
    uint64_t final = final_length(list, entry->number);
    uint64_t records = 0, end = 0;
    enum petal_status status;

    if (final != 0 && final < reader->limit)
        reader->limit = final;
    if (entry->number == replay->from.log_number)
        wal_reader_begin_at(reader, replay->from.length);
    status = read_to_end(list, entry, reader, is_wanted ? replay->visit : NULL, final, &records,
                         &end, error);
    if (continues)
        replay->records += records;
    if (status != PETAL_OK)
        return status;
    list->torn = final > end && replay->fault == NULL;
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
drop_reader(struct wal_replay *replay, struct wal_reader *reader, petal_error *error)
{
    uint64_t content = 0;
    enum petal_status status = wal_reader_content_end(reader, &content, error);

    replay->dropped_bytes += content;
    return status;
}

static enum petal_status
replay_file(struct wal_list *list, const struct wal_entry *entry, petal_error *error)
{
    struct wal_replay *replay = list->replay;
    struct wal_reader reader;
    enum petal_status status;

    if (entry->refused)
        return PETAL_OK;
    status = open_reader(&reader, replay, entry->number, error);
    if (has_vanished(replay, status, error))
        return PETAL_OK;
    if (status != PETAL_OK)
        return status;
    status = list->torn ? drop_reader(replay, &reader, error)
                        : replay_reader(list, entry, &reader, error);
    wal_reader_close(&reader);
    return status;
}

enum petal_status
wal_replay(struct wal_replay *replay, petal_error *error)
{
    struct wal_list list = {.replay = replay, .last_number = replay->from.log_number};
    petal_error cause;
    enum petal_status status;

    replay->greatest_log = 0;
    replay->end = (struct wal_promise){0, 0};
    replay->records = 0;
    replay->dropped_bytes = 0;
    status = list_files(&list, &cause);
    if (status == PETAL_OK)
        status = read_headers(&list, &cause);
    if (status == PETAL_OK)
        status = check_all_present(&list, &cause);
    for (size_t i = 0; status == PETAL_OK && i < list.count; i++)
        status = refuse(&list, replay_file(&list, &list.entries[i], &cause), &cause);
    mem_free(replay->directory->env->allocator, list.entries, list.capacity * sizeof *list.entries);
    return status == PETAL_OK ? PETAL_OK : error_copy(error, &cause);
}
