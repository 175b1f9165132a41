/* logs.c -- see logs.h. */
#include "engine/check/logs.h"

#include "base/mem.h"
#include "engine/wal/reader.h"

#include <inttypes.h>

struct logs_walk {
    struct place *place;
    check_cell *visit;
    void *argument;
    uint64_t identity; /* of the database */
    uint64_t *told;    /* numbers of logs with faults */
    size_t told_count, told_capacity;
    struct record_base base; /* of the next record of the log at hand */
    petal_error stop;        /* why the call ends; status OK: it does not */
};

/* ---- records ---- */

static const struct manifest *
trusted(const struct place *place)
{
    return place->manifest_whole ? place->manifest : NULL;
}

static enum petal_status
take_cell(struct logs_walk *walk, const struct wal_record *record, const struct record_cell *cell,
          petal_error *error)
{
    const struct manifest *manifest = trusted(walk->place);

    if (manifest != NULL && !manifest_has_known(manifest, cell->table_id, cell->family_id))
        return record_cell_unknown(cell, record->path, record->offset, error);
    walk->place->counts->log_cells++;
    if (walk->visit == NULL)
        return PETAL_OK;
    return walk->visit(walk->argument, cell, &walk->stop);
}

static enum petal_status
take_record(void *argument, const struct wal_record *record, petal_error *error)
{
    struct logs_walk *walk = argument;
    struct record_reader reader;
    struct record_cell cell;
    enum petal_status status = PETAL_OK;
    bool sound;

    if (record->first)
        walk->base = (struct record_base){0};
    sound = record_open(&reader, &walk->base, record->payload);
    while (sound && status == PETAL_OK && reader.remaining > 0) {
        sound = record_next(&reader, &cell);
        if (sound)
            status = take_cell(walk, record, &cell, error);
    }
    walk->place->counts->log_records++;
    if (status != PETAL_OK || (sound && record_at_end(&reader)))
        return status;
    return error_corrupt(error, record->path, record->offset,
                         "%s: the record at %" PRIu64 " is malformed", record->path,
                         record->offset);
}

/* ---- one log ---- */

/* Faults of a log are told once. */
static bool
note_told(struct logs_walk *walk, uint64_t number)
{
    if (!mem_grow_array(walk->place->env.allocator, &walk->told, &walk->told_capacity,
                        walk->told_count, walk->told_count + 1, sizeof *walk->told))
        return false;
    walk->told[walk->told_count++] = number;
    return true;
}

static enum petal_status
tell_damage(struct logs_walk *walk, uint64_t number, const petal_error *cause, uint64_t bytes,
            petal_error *error)
{
    if (walk->stop.status != PETAL_OK)
        return error_copy(error, &walk->stop);
    if (error_passes(cause))
        return error_copy(error, cause);
    check_place_tell_error(walk->place, cause, bytes, false);
    return note_told(walk, number) ? PETAL_OK : error_no_memory(error);
}

/* The tail of an incomplete write. Like an opening, a salvage keeps only the records before it:
 * whole records after it are newer than the lost ones, and would be a state that never existed. A
 * crash may leave them; damage of the last writes looks the same. */
static void
tell_tail(struct logs_walk *walk, const struct wal_reader *reader, uint64_t end, uint64_t bytes,
          uint64_t behind)
{
    petal_error cause;

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
    check_place_tell_error(walk->place, &cause, bytes, true);
}

/* Tell what follows the last whole record at `end`: a torn tail, or damage, by the log's
 * promises. */
static enum petal_status
judge_end(struct logs_walk *walk, struct wal_reader *reader, uint64_t end, petal_error *error)
{
    uint64_t promise, content = 0, behind = 0;
    petal_error cause;
    enum petal_status status = wal_reader_find_promise(reader, end, &promise, &cause);

    if (status == PETAL_OK)
        status = wal_reader_content_end(reader, &content, &cause);
    if (status == PETAL_OK && content > end && end > 0)
        status = wal_reader_count_behind(reader, end, &behind, &cause);
    if (status != PETAL_OK)
        return tell_damage(walk, reader->number, &cause, 0, error);
    if (content <= end)
        return PETAL_OK;
    if (promise <= end) {
        tell_tail(walk, reader, end, content - end, behind);
        return PETAL_OK;
    }
    if (behind == 0)
        error_corrupt(&cause, reader->path, end,
                      "%s is damaged at offset %" PRIu64 ": %" PRIu64 " bytes were synced",
                      reader->path, end, promise);
    else
        error_corrupt(&cause, reader->path, end,
                      "%s is damaged at offset %" PRIu64 ": %" PRIu64 " bytes were synced; %" PRIu64
                      " whole records stand behind it",
                      reader->path, end, promise, behind);
    return tell_damage(walk, reader->number, &cause, content - end, error);
}

static enum petal_status
read_log(struct logs_walk *walk, struct wal_reader *reader, petal_error *error)
{
    struct wal_identity identity;
    uint64_t records = 0, end = 0;
    bool whole = false;
    petal_error cause;
    enum petal_status status = wal_reader_header(reader, walk->identity, &identity, &whole, &cause);

    if (status == PETAL_OK && whole)
        status = wal_reader_records(reader, take_record, walk, &records, &end, &cause);
    if (status != PETAL_OK)
        return tell_damage(walk, reader->number, &cause, 0, error);
    return reader->size > 0 ? judge_end(walk, reader, end, error) : PETAL_OK;
}

static enum petal_status
check_log(struct logs_walk *walk, const struct place_file *file, petal_error *error)
{
    struct wal_reader reader;
    petal_error cause;
    enum petal_status status =
        wal_reader_open(&reader, &walk->place->directory, walk->identity, file->number, &cause);

    walk->place->counts->logs++;
    if (status != PETAL_OK)
        return tell_damage(walk, file->number, &cause, 0, error);
    status = read_log(walk, &reader, error);
    wal_reader_close(&reader);
    if (status == PETAL_OK && !check_place_go_on(walk->place, file->bytes))
        status = check_place_given_up(error);
    return status;
}

/* ---- all of them ---- */

/* If the manifest is not whole, the logs say which database they belong to. */
static void
find_identity(struct logs_walk *walk)
{
    const struct place *place = walk->place;

    walk->identity = place->manifest != NULL ? place->manifest->database_identity : 0;
    for (size_t i = 0; !place->manifest_whole && i < place->file_count; i++) {
        struct wal_identity identity;
        struct wal_reader reader;
        bool whole = false;

        if (place->files[i].kind != FILENAME_WAL ||
            wal_reader_open(&reader, &place->directory, 0, place->files[i].number, NULL) !=
                PETAL_OK)
            continue;
        (void)wal_reader_header(&reader, walk->identity, &identity, &whole, NULL);
        wal_reader_close(&reader);
        if (!whole)
            continue;
        walk->identity = identity.database_identity;
        return;
    }
}

static bool
was_told(const struct logs_walk *walk, const char *file)
{
    for (size_t i = 0; i < walk->told_count; i++) {
        char path[PETAL_PATH_BYTES];

        filename_wal(path, walk->place->directory.path, walk->told[i]);
        if (strcmp(path, file) == 0)
            return true;
    }
    return false;
}

/* Check the chain of logs as a recovery does. */
static enum petal_status
check_chain(struct logs_walk *walk, petal_error *error)
{
    struct place *place = walk->place;
    const struct manifest *manifest = trusted(place);
    struct wal_replay replay = {.directory = &place->directory,
                                .database_identity = walk->identity};
    petal_error cause;
    enum petal_status status;

    if (manifest == NULL)
        return PETAL_OK;
    replay.oldest_log = manifest->oldest_log;
    replay.obsolete_sequence = manifest_obsolete_sequence(manifest);
    replay.promise = manifest->promise;
    for (size_t i = 0; i < place->file_count; i++) {
        if (place->files[i].kind == FILENAME_WAL &&
            check_place_number_possible(place, place->files[i].number))
            replay.next_log = place->files[i].number + 1;
    }
    if (replay.next_log < manifest->next_file_number)
        replay.next_log = manifest->next_file_number;
    status = wal_replay(&replay, &cause);
    if (status != PETAL_OK && check_place_wants(&cause, error))
        return status;
    if (status != PETAL_OK && !was_told(walk, cause.file))
        check_place_tell_error(place, &cause, 0, false);
    return PETAL_OK;
}

enum petal_status
check_logs(struct place *place, check_cell *visit, void *argument, petal_error *error)
{
    struct logs_walk walk = {.place = place, .visit = visit, .argument = argument};
    const struct manifest *manifest = trusted(place);
    enum petal_status status = PETAL_OK;

    find_identity(&walk);
    for (size_t i = 0; status == PETAL_OK && i < place->file_count; i++) {
        const struct place_file *file = &place->files[i];

        if (file->kind == FILENAME_WAL && check_place_number_possible(place, file->number) &&
            (manifest == NULL || file->number >= manifest->oldest_log))
            status = check_log(&walk, file, error);
    }
    if (status == PETAL_OK)
        status = check_chain(&walk, error);
    mem_free(place->env.allocator, walk.told, walk.told_capacity * sizeof *walk.told);
    return status;
}
