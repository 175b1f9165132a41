/* judge.c -- see judge.h. */
#include "engine/check/judge.h"

#include "engine/store/orphan_files.h"
#include "engine/wal/reader.h"
#include "sstable/sst_walk.h"

#include <inttypes.h>

/* What the files in the directory say about its manifest. */
struct evidence {
    bool own;     /* a file or log of its database */
    bool foreign; /* one of another */
    /* The first store file whose table or family it has never known; status OK: none. */
    petal_error cut;
    char table[UINT8_MAX], family[UINT8_MAX];
    size_t table_bytes, family_bytes;
};

/* ---- store files ---- */

/* The salt tells which database a file belongs to. */
static void
hear_facts(struct evidence *evidence, const struct manifest *manifest,
           const struct place_file *file, const char *path, const struct file_facts *facts)
{
    if (facts->bloom != PETAL_BLOOM_NONE && facts->salt != manifest->salt) {
        evidence->foreign = true;
        return;
    }
    evidence->own = evidence->own || facts->bloom != PETAL_BLOOM_NONE;
    if (file->named != NULL || evidence->cut.status != PETAL_OK ||
        !orphan_tells_of_cut(manifest, path, facts, &evidence->cut))
        return;
    evidence->table_bytes = facts->owner.table.size;
    evidence->family_bytes = facts->owner.family.size;
    memcpy(evidence->table, facts->owner.table.data, evidence->table_bytes);
    memcpy(evidence->family, facts->owner.family.data, evidence->family_bytes);
}

static enum petal_status
hear_store_file(struct evidence *evidence, const struct place *place, const struct place_file *file,
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
        hear_facts(evidence, place->manifest, file, path, facts);
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

static void
tell_cut(struct place *place, const struct evidence *evidence)
{
    place->manifest_whole = false;
    place->manifest_cut = true;
    check_place_tell(
        place, &(petal_fault){.error = &evidence->cut,
                              .table = slice_make(evidence->table, evidence->table_bytes),
                              .family = slice_make(evidence->family, evidence->family_bytes)});
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
    else if (evidence.cut.status != PETAL_OK)
        tell_cut(place, &evidence);
    return PETAL_OK;
}
