/* logs.c -- see logs.h. */
#include "engine/check/logs.h"

#include "engine/wal/reader.h"

struct logs_walk {
    struct place *place;
    check_cell *visit;
    void *argument;
    struct record_base base; /* of the next record of the log at hand */
};

static enum petal_status
take_cell(void *argument, const struct wal_record *record, const struct record_cell *cell,
          petal_error *error)
{
    const struct logs_walk *walk = argument;
    struct place *place = walk->place;

    if (place->manifest_whole &&
        !manifest_has_known(place->manifest, cell->table_id, cell->family_id))
        return record_cell_unknown(cell, record, error);
    place->counts->log_cells++;
    return walk->visit != NULL ? walk->visit(walk->argument, cell, error) : PETAL_OK;
}

static enum petal_status
take_record(void *argument, const struct wal_record *record, petal_error *error)
{
    struct logs_walk *walk = argument;

    walk->place->counts->log_records++;
    return record_visit_cells(&walk->base, record, take_cell, walk, error);
}

static void
tell(void *argument, const petal_error *error, uint64_t bytes, bool harmless)
{
    const struct logs_walk *walk = argument;

    check_place_tell_error(walk->place, error, bytes, harmless);
}

static bool
is_wanted(const struct place *place, const struct place_file *file)
{
    return file->kind == FILENAME_WAL && check_place_number_possible(place, file->number) &&
           (!place->manifest_whole || file->number >= place->manifest->oldest_log);
}

/* If the manifest is not whole, the logs say which database they belong to. */
static uint64_t
find_identity(const struct place *place)
{
    uint64_t known = place->manifest != NULL ? place->manifest->database_identity : 0;

    for (size_t i = 0; !place->manifest_whole && i < place->file_count; i++) {
        struct wal_identity identity;
        struct wal_reader reader;
        bool whole = false;

        if (place->files[i].kind != FILENAME_WAL ||
            wal_reader_open(&reader, &place->directory, 0, place->files[i].number, NULL) !=
                PETAL_OK)
            continue;
        (void)wal_reader_header(&reader, known, &identity, &whole, NULL);
        wal_reader_close(&reader);
        if (whole)
            return identity.database_identity;
    }
    return known;
}

enum petal_status
check_logs(struct place *place, check_cell *visit, void *argument, petal_error *error)
{
    struct logs_walk walk = {.place = place, .visit = visit, .argument = argument};
    struct wal_replay replay = {.directory = &place->directory,
                                .database_identity = find_identity(place),
                                .visit = take_record,
                                .fault = tell,
                                .argument = &walk};
    const struct place_file *first = NULL;

    for (size_t i = 0; i < place->file_count; i++) {
        const struct place_file *file = &place->files[i];

        if (!is_wanted(place, file))
            continue;
        first = first != NULL ? first : file;
        replay.next_log = file->number + 1;
        place->counts->logs++;
        if (!check_place_go_on(place, file->bytes))
            return check_place_given_up(error);
    }
    if (place->manifest_whole) {
        replay.oldest_log = place->manifest->oldest_log;
        replay.obsolete_sequence = manifest_obsolete_sequence(place->manifest);
        replay.promise = place->manifest->promise;
        if (replay.next_log < place->manifest->next_file_number)
            replay.next_log = place->manifest->next_file_number;
    } else { /* nobody tells what was before the first that is there */
        replay.oldest_log = first != NULL ? first->number : UINT64_MAX;
        replay.obsolete_sequence = UINT64_MAX;
    }
    return wal_replay(&replay, error);
}
