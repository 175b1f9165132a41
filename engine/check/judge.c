/* judge.c -- see judge.h. */
#include "engine/check/judge.h"

#include "engine/store/orphan_files.h"
#include "engine/wal/reader.h"
#include "sstable/sst_walk.h"

/* What the files in the directory say about its manifest. */
struct evidence {
    bool own;     /* a file or log of its database */
    bool foreign; /* one of another */
    bool cut; /* a store file whose table or family it has never known, as is told of the first */
};

/* ---- store files ---- */

/* The salt tells which database a file belongs to. */
static void
hear_facts(struct evidence *evidence, struct place *place, const struct place_file *file,
           const char *path, const struct file_facts *facts)
{
    petal_error error;

    if (facts->bloom != PETAL_BLOOM_NONE && facts->salt != place->manifest->salt) {
        evidence->foreign = true;
        return;
    }
    evidence->own = evidence->own || facts->bloom != PETAL_BLOOM_NONE;
    if (file->named != NULL || evidence->cut ||
        !orphan_tells_of_cut(place->manifest, path, facts, &error))
        return;
    evidence->cut = true;
    check_place_tell(place, &(petal_fault){.error = &error,
                                           .table = facts->owner.table,
                                           .family = facts->owner.family});
}

static enum petal_status
hear_store_file(struct evidence *evidence, struct place *place, const struct place_file *file,
                petal_error *error)
{
    const struct sst_walk_options options = {.file_identity = 0};
    const struct file_facts *facts;
    char path[PETAL_PATH_BYTES];
    struct sst_walk *walk;
    petal_error cause;
    enum petal_status status;

    filename_store_file(path, place->directory.path, file->number);
    status = sst_walk_open(&walk, &place->directory, path, &options, &cause);
    if (status != PETAL_OK)
        return check_place_wants(&cause, error) ? status : PETAL_OK;
    facts = sst_walk_facts(walk);
    if (file->named != NULL && sst_walk_identity(walk) == file->named->identity)
        evidence->own = true;
    else if (facts != NULL)
        hear_facts(evidence, place, file, path, facts);
    sst_walk_close(walk);
    return PETAL_OK;
}

/* ---- logs ---- */

static enum petal_status
hear_log(struct evidence *evidence, const struct place *place, uint64_t number, petal_error *error)
{
    struct wal_identity identity;
    struct wal_reader reader;
    bool whole = false;
    petal_error cause;
    enum petal_status status = wal_reader_open(&reader, &place->directory, 0, number, &cause);

    if (status != PETAL_OK)
        return check_place_wants(&cause, error) ? status : PETAL_OK;
    (void)wal_reader_header(&reader, place->manifest->database_identity, &identity, &whole, NULL);
    wal_reader_close(&reader);
    if (whole && identity.database_identity == place->manifest->database_identity)
        evidence->own = true;
    else if (whole)
        evidence->foreign = true;
    return PETAL_OK;
}

/* ---- the verdict ---- */

static void
dismiss(struct place *place)
{
    char path[PETAL_PATH_BYTES];
    petal_error error;

    filename_manifest(path, place->directory.path);
    error_corrupt(&error, path, 0,
                  "%s belongs to another database than the store files and logs beside it", path);
    check_place_tell_error(place, &error, 0, false);
    manifest_free(place->manifest);
    place->manifest = NULL;
    place->manifest_whole = false;
    for (size_t i = 0; i < place->file_count; i++) {
        place->files[i].named = NULL;
        place->files[i].identity = 0;
    }
}

enum petal_status
judge_manifest(struct place *place, petal_error *error)
{
    struct evidence evidence = {.own = false};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; place->manifest_whole && status == PETAL_OK && i < place->file_count; i++) {
        const struct place_file *file = &place->files[i];

        if (file->kind == FILENAME_STORE_FILE)
            status = hear_store_file(&evidence, place, file, error);
        else if (file->kind == FILENAME_WAL)
            status = hear_log(&evidence, place, file->number, error);
    }
    if (status != PETAL_OK)
        return status;
    if (evidence.foreign && !evidence.own && place->unread.status == PETAL_OK)
        dismiss(place);
    else if (evidence.cut)
        place->manifest_cut = true;
    place->manifest_whole = place->manifest_whole && !evidence.cut;
    return PETAL_OK;
}
