/* manifest.c -- see manifest.h; engine/manifest/format.h has the bytes. */
#include "engine/manifest/manifest.h"

#include <assert.h>
#include <errno.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/manifest/apply.h"
#include "engine/manifest/format.h"
#include "engine/manifest/item.h"
#include "engine/manifest/names.h"

/* A file that has grown by so much beyond four times its snapshot is written anew. */
#define GROWTH_BYTES ((uint64_t)64 << 10)
/* Far beyond what a snapshot of millions of store files takes; a larger file is not read. */
#define MOST_FILE_BYTES ((uint64_t)1 << 30)
/* Half of it is what commits may write: a new file that an opening makes of such a one is never too
 * large to be read. */
#define MOST_WRITTEN_BYTES (MOST_FILE_BYTES / 2)

struct manifest_writer {
    const struct env *env;
    petal_file *file; /* NULL: the next commit writes a new file */
    uint64_t file_identity;
    uint64_t length; /* where the next record goes */
    uint64_t synced_length;
    uint64_t snapshot_length;
    uint64_t most_bytes; /* that commits may write; half of it where they make or alter tables */
    uint64_t loaded_bytes, loaded_checksum; /* of the whole file that was loaded; 0: none was */
    uint64_t loaded_end;                    /* where the next record goes if it is written to */
    uint64_t loaded_records;                /* where its last whole record ends */
    bool loaded_is_promised;                /* each of its edits was synced when it was written */
    uint64_t greatest_state;                /* that a commit was to lead to; 0: none was made */
    bool renew;                             /* the next commit writes a new file, no other way */
    bool failed;                            /* then `failure` is what every commit returns */
    petal_error failure;
    struct directory *directory;
    char path[PETAL_PATH_BYTES];
};

/* ---- records ---- */

static size_t
record_bytes(size_t payload_bytes)
{
    return MANIFEST_RECORD_BYTES +
           (payload_bytes + MANIFEST_ALIGNMENT - 1) / MANIFEST_ALIGNMENT * MANIFEST_ALIGNMENT;
}

static uint64_t
record_checksum(uint64_t file_identity, uint64_t offset, const uint8_t *record, size_t bytes)
{
    return checksum_at(file_identity, offset, record + MANIFEST_CHECKSUM_BYTES,
                       bytes - MANIFEST_CHECKSUM_BYTES);
}

static void
encode_record(uint8_t *to, uint64_t file_identity, uint64_t offset, uint64_t promise,
              enum manifest_record_kind kind, petal_slice payload)
{
    size_t bytes = record_bytes(payload.size);

    assert(offset % MANIFEST_ALIGNMENT == 0 && promise <= offset);
    put_le64(to + 8, promise);
    put_le32(to + 16, (uint32_t)payload.size);
    put_le32(to + 20, (uint32_t)kind);
    memset(to + MANIFEST_RECORD_BYTES, 0, bytes - MANIFEST_RECORD_BYTES);
    if (payload.size > 0)
        memcpy(to + MANIFEST_RECORD_BYTES, payload.data, payload.size);
    put_le64(to, record_checksum(file_identity, offset, to, bytes));
}

struct record {
    petal_slice payload;
    uint64_t promise;
    uint32_t kind;
    size_t bytes; /* with header and padding */
};

/* Is there a whole record at the beginning of `bytes`, which lie at `offset` of the file? */
static bool
decode_record(petal_slice bytes, uint64_t file_identity, uint64_t offset, struct record *record)
{
    const uint8_t *from = slice_bytes(bytes);
    size_t left = bytes.size;

    assert(offset % MANIFEST_ALIGNMENT == 0);
    if (left < MANIFEST_RECORD_BYTES || get_le32(from + 16) > left - MANIFEST_RECORD_BYTES)
        return false;
    record->payload = slice_make(from + MANIFEST_RECORD_BYTES, get_le32(from + 16));
    record->promise = get_le64(from + 8);
    record->kind = get_le32(from + 20); /* the zeros after it included */
    record->bytes = record_bytes(record->payload.size);
    return record->bytes <= left && record->promise <= offset &&
           get_le64(from) == record_checksum(file_identity, offset, from, record->bytes);
}

/* ---- making and freeing ---- */

static enum petal_status
manifest_make(struct manifest **made, struct directory *directory, petal_error *error)
{
    const struct env *env = directory->env;
    struct manifest *manifest = mem_alloc(env->allocator, sizeof *manifest);
    struct manifest_writer *writer = mem_zalloc(env->allocator, sizeof *writer);

    *made = NULL;
    if (manifest == NULL || writer == NULL) {
        mem_free(env->allocator, manifest, sizeof *manifest);
        mem_free(env->allocator, writer, sizeof *writer);
        return error_no_memory(error);
    }
    manifest_state_init(manifest);
    manifest->writer = writer;
    writer->env = env;
    writer->directory = directory;
    writer->most_bytes = MOST_WRITTEN_BYTES;
    filename_manifest(writer->path, directory->path);
    *made = manifest;
    return PETAL_OK;
}

void
manifest_free(struct manifest *manifest)
{
    const struct env *env;

    if (manifest == NULL)
        return;
    assert(manifest->writer != NULL); /* copies have none, and go by manifest_copy_fini */
    env = manifest->writer->env;
    if (manifest->writer->file != NULL)
        env->vfs->close(env->vfs->context, manifest->writer->file);
    manifest_state_fini(manifest, env->allocator);
    mem_free(env->allocator, manifest->writer, sizeof *manifest->writer);
    mem_free(env->allocator, manifest, sizeof *manifest);
}

enum petal_status
manifest_new(struct manifest **made, struct directory *directory, uint64_t database_identity,
             uint64_t salt, petal_error *error)
{
    enum petal_status status = manifest_make(made, directory, error);

    if (status != PETAL_OK)
        return status;
    (*made)->database_identity = database_identity;
    (*made)->salt = salt;
    return PETAL_OK;
}

/* ---- reading ---- */

/* The whole file in memory; the caller frees it, also on failure. */
static enum petal_status
read_whole(const struct env *env, const char *path, petal_file *file, uint8_t **bytes, size_t *size,
           petal_error *error)
{
    const petal_vfs *vfs = env->vfs;
    uint64_t file_bytes;
    size_t got;
    int failed = vfs->size(vfs->context, file, &file_bytes);

    if (failed != 0)
        return error_io(error, path, failed, "take the size of");
    if (file_bytes < MANIFEST_HEADER_BYTES || file_bytes > MOST_FILE_BYTES)
        return error_corrupt(error, path, 0, "%s has %llu bytes, which no manifest can have", path,
                             (unsigned long long)file_bytes);
    *size = (size_t)file_bytes;
    *bytes = mem_alloc(env->allocator, *size);
    if (*bytes == NULL)
        return error_no_memory(error);
    failed = vfs->read_at(vfs->context, file, 0, *bytes, *size, &got);
    if (failed != 0)
        return error_io(error, path, failed, "read");
    /* Else what is missing would pass for a tail that a crash cut off. */
    return got == *size ? PETAL_OK : error_corrupt(error, path, got, "%s has become shorter", path);
}

static enum petal_status
decode_header(struct manifest *manifest, petal_slice file, petal_error *error)
{
    struct manifest_writer *writer = manifest->writer;
    const uint8_t *header = file.data;
    const char *path = writer->path;

    assert(file.size >= MANIFEST_HEADER_BYTES);
    if (memcmp(header, MANIFEST_MAGIC, 8) != 0 ||
        get_le64(header + MANIFEST_HEADER_CHECKSUM) !=
            checksum_at(0, 0, header, MANIFEST_HEADER_CHECKSUM))
        return error_corrupt(error, path, 0, "%s does not begin with the header of a manifest",
                             path);
    if (get_le32(header + 8) != MANIFEST_VERSION)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "%s has manifest format %u; this version reads format %u", path,
                          get_le32(header + 8), MANIFEST_VERSION);
    manifest->database_identity = get_le64(header + 16);
    manifest->salt = get_le64(header + 24);
    writer->file_identity = get_le64(header + 32);
    writer->snapshot_length = get_le64(header + 40);
    if (get_le32(header + 12) != MANIFEST_HEADER_BYTES || get_le64(header + 48) != 0)
        return error_corrupt(error, path, 12, "%s has a header that no manifest can have", path);
    return PETAL_OK;
}

/* ---- loading, whole or what can be read ---- */

/* The search for records after damage may check so many times the file's bytes. */
#define SEARCH_FACTOR 16

struct load {
    struct manifest *manifest;
    const struct manifest_visitor *visitor; /* NULL: the first fault ends it */
    petal_slice file;
    uint64_t promise;     /* the greatest about the file in what was read */
    uint64_t edits;       /* where the last edit ends */
    uint64_t search_left; /* bytes */
    bool searched;        /* for promises, in what follows the first bad place */
    bool whole;
};

/* It is told, if somebody wants to know, or ends the loading. */
static enum petal_status
refuse(struct load *load, const petal_error *fault, uint64_t bytes, petal_error *error)
{
    const struct manifest_visitor *visitor = load->visitor;

    load->whole = false;
    if (visitor == NULL)
        return error_copy(error, fault);
    if (visitor->fault != NULL)
        visitor->fault(visitor->argument, fault, bytes, false);
    return PETAL_OK;
}

/* Is there a whole record at `offset` of the file? */
static bool
record_at(const struct load *load, uint64_t offset, struct record *record)
{
    petal_slice rest =
        slice_make(slice_bytes(load->file) + offset, load->file.size - (size_t)offset);

    assert(offset <= load->file.size);
    return decode_record(rest, load->manifest->writer->file_identity, offset, record);
}

/* A header that is damaged may have the identity all the same: records tell. */
static enum petal_status
load_header(struct load *load, petal_error *error)
{
    struct manifest *manifest = load->manifest;
    const uint8_t *header = load->file.data;
    petal_error fault;

    if (decode_header(manifest, load->file, &fault) == PETAL_OK) {
        load->promise = manifest->writer->snapshot_length;
        return PETAL_OK;
    }
    manifest->database_identity = get_le64(header + 16);
    manifest->salt = get_le64(header + 24);
    manifest->writer->file_identity = get_le64(header + 32);
    manifest->writer->snapshot_length = 0;
    return refuse(load, &fault, MANIFEST_HEADER_BYTES, error);
}

static enum petal_status
load_record(struct load *load, uint64_t offset, const struct record *record, petal_error *error)
{
    struct manifest_writer *writer = load->manifest->writer;
    bool is_edit = record->kind == MANIFEST_EDIT;
    struct manifest_undo undo;
    petal_error cause, fault;
    enum petal_status status = PETAL_OK;

    if (load->visitor != NULL && load->visitor->record != NULL)
        load->visitor->record(load->visitor->argument, offset, record->bytes, record->promise,
                              is_edit, record->payload);
    if (record->promise > load->promise)
        load->promise = record->promise;
    if (is_edit)
        status =
            manifest_apply(load->manifest, writer->env->allocator, record->payload, &undo, &cause);
    else if (record->kind != MANIFEST_SEAL)
        status = error_set(&cause, PETAL_UNSUPPORTED, "it was written by a newer version of Petal");
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(error);
    if (status == PETAL_OK && is_edit) {
        manifest_undo_forget(&undo);
        load->edits = offset + record->bytes;
    }
    if (status == PETAL_OK)
        return PETAL_OK;
    /* What applying refuses is damage when it comes from a file. */
    error_corrupt(&fault, writer->path, offset, "%s: the record at %llu: %s", writer->path,
                  (unsigned long long)offset, cause.text);
    fault.status = status == PETAL_INVALID ? PETAL_CORRUPT : status;
    return refuse(load, &fault, 0, error);
}

/* Take the promises about the file that lie after its first bad place.  Only seals are looked for:
 * each sync is followed by one, and being small they cost little to check at every place where one
 * might stand. */
static void
search_promises(struct load *load, uint64_t bad)
{
    load->searched = true;
    for (uint64_t offset = bad; offset + MANIFEST_RECORD_BYTES <= load->file.size;
         offset += MANIFEST_ALIGNMENT) {
        struct record record;
        const uint8_t *header = slice_bytes(load->file) + offset;

        if (get_le32(header + 16) == 0 && get_le32(header + 20) == MANIFEST_SEAL &&
            record_at(load, offset, &record) && record.promise > load->promise)
            load->promise = record.promise;
    }
}

/* Where the next record that is whole begins after `offset`; the file's size: nowhere. */
static uint64_t
next_record(struct load *load, uint64_t offset)
{
    struct record record;

    for (offset += MANIFEST_ALIGNMENT; offset + MANIFEST_RECORD_BYTES <= load->file.size;
         offset += MANIFEST_ALIGNMENT) {
        const uint8_t *header = slice_bytes(load->file) + offset;
        uint64_t bytes = record_bytes(get_le32(header + 16));

        if (get_le32(header + 20) != MANIFEST_EDIT && get_le32(header + 20) != MANIFEST_SEAL)
            continue;
        if (bytes > load->file.size - offset || bytes > load->search_left)
            continue;
        load->search_left -= bytes;
        if (record_at(load, offset, &record))
            return offset;
    }
    return load->file.size;
}

/* What a write that was cut off left after the last record. */
static void
tell_tail(const struct load *load, uint64_t offset)
{
    const struct manifest_visitor *visitor = load->visitor;
    const uint8_t *bytes = load->file.data;
    uint64_t content = load->file.size;
    petal_error cause;

    while (content > offset && bytes[content - 1] == 0)
        content--;
    if (content == offset || visitor == NULL || visitor->fault == NULL)
        return;
    error_corrupt(&cause, load->manifest->writer->path, offset,
                  "%llu bytes at offset %llu are left from a change that was not completed; no "
                  "sync had promised them",
                  (unsigned long long)(content - offset), (unsigned long long)offset);
    visitor->fault(visitor->argument, &cause, content - offset, true);
}

/* What is no record at *offset, perhaps the end: the torn tail, or damage. *offset: where to go on;
 * the file's size: nowhere. */
static enum petal_status
step_over(struct load *load, uint64_t *offset, petal_error *error)
{
    const char *path = load->manifest->writer->path;
    uint64_t bad = *offset;
    petal_error fault;

    if (!load->searched)
        search_promises(load, bad);
    *offset = load->file.size;
    if (load->promise <= bad || (bad == load->file.size && !load->whole)) {
        tell_tail(load, bad);
        return PETAL_OK;
    }
    if (load->visitor != NULL && bad < load->file.size)
        *offset = next_record(load, bad);
    error_corrupt(&fault, path, bad, "%s is damaged at offset %llu: %llu bytes were synced", path,
                  (unsigned long long)bad, (unsigned long long)load->promise);
    return refuse(load, &fault, *offset - bad, error);
}

static enum petal_status
load_records(struct load *load, petal_error *error)
{
    struct manifest_writer *writer = load->manifest->writer;
    uint64_t offset = MANIFEST_HEADER_BYTES, promise = load->promise, bad = 0;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && bad < load->file.size) {
        struct record record;

        if (record_at(load, offset, &record)) {
            status = load_record(load, offset, &record, error);
            offset += record.bytes;
            promise = load->promise;
        } else {
            writer->loaded_end = offset;
            if (writer->loaded_records == 0)
                writer->loaded_records = offset;
            status = step_over(load, &offset, error);
            bad = offset;
        }
    }
    /* The next state is none that the last writer may have begun to write and taken back. */
    writer->greatest_state = load->manifest->number + 1;
    writer->loaded_is_promised = load->edits <= promise;
    /* After promised edits there is a seal, which is not: the next record takes its place. */
    if (writer->loaded_is_promised && load->edits > 0)
        writer->loaded_end = load->edits;
    return status;
}

static enum petal_status
load_file(struct load *load, struct directory *directory, const char *path, petal_error *error)
{
    const struct env *env = directory->env;
    struct manifest_writer *writer;
    petal_file *file;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int failed = directory_open_file(directory, path, PETAL_FILE_READ, &file);
    enum petal_status status;

    if (failed != 0)
        return failed == ENOENT ? error_file(error, PETAL_NOT_FOUND, path, "%s is missing", path)
                                : error_io(error, path, failed, "open");
    status = manifest_make(&load->manifest, directory, error);
    if (status == PETAL_OK) {
        writer = load->manifest->writer;
        assert(strlen(path) < sizeof writer->path);
        memcpy(writer->path, path, strlen(path) + 1);
        status = read_whole(env, path, file, &bytes, &size, error);
    }
    env->vfs->close(env->vfs->context, file);
    if (status == PETAL_OK) {
        load->file = slice_make(bytes, size);
        load->search_left = (uint64_t)SEARCH_FACTOR * size;
        writer->loaded_bytes = size;
        writer->loaded_checksum = checksum_at(0, 0, bytes, size);
        if (load->visitor != NULL && load->visitor->file != NULL)
            load->visitor->file(load->visitor->argument, load->file);
        status = load_header(load, error);
    }
    if (status == PETAL_OK)
        status = load_records(load, error);
    mem_free(env->allocator, bytes, size);
    if (status != PETAL_OK) {
        manifest_free(load->manifest);
        load->manifest = NULL;
    }
    return status;
}

static enum petal_status
refuse_nothing(const struct directory *directory, const char *path, petal_error *error)
{
    return error_file(error, PETAL_NOT_FOUND, path, "there is no database in %s", directory->path);
}

enum petal_status
manifest_load(struct manifest **loaded, struct directory *directory, petal_error *error)
{
    struct load load = {.whole = true};
    char path[PETAL_PATH_BYTES];
    enum petal_status status;

    filename_manifest(path, directory->path);
    status = load_file(&load, directory, path, error);
    *loaded = load.manifest;
    return status == PETAL_NOT_FOUND ? refuse_nothing(directory, path, error) : status;
}

enum petal_status
manifest_load_live(struct manifest **loaded, struct directory *directory, petal_error *error)
{
    enum petal_status status = PETAL_CORRUPT;

    for (unsigned i = 0; status == PETAL_CORRUPT && i < 3; i++)
        status = manifest_load(loaded, directory, error);
    return status;
}

enum petal_status
manifest_load_parts(struct manifest **loaded, struct directory *directory, const char *path,
                    const struct manifest_visitor *visitor, bool *whole, petal_error *error)
{
    struct load load = {.visitor = visitor, .whole = true};
    enum petal_status status = load_file(&load, directory, path, error);

    *loaded = load.manifest;
    *whole = status == PETAL_OK && load.whole;
    return status;
}

enum petal_status
manifest_check_exists(const struct directory *directory, petal_error *error)
{
    const struct env *env = directory->env;
    char path[PETAL_PATH_BYTES];
    petal_file *file;
    int failed;

    filename_manifest(path, directory->path);
    failed = directory_open_file(directory, path, PETAL_FILE_READ, &file);
    if (failed == ENOENT)
        return refuse_nothing(directory, path, error);
    if (failed != 0)
        return error_io(error, path, failed, "open");
    env->vfs->close(env->vfs->context, file);
    return PETAL_OK;
}

/* ---- what has changed since ---- */

/* Does the edit give the last sequence? Every commit's does. */
static bool
find_last_sequence(petal_slice items, uint64_t *sequence)
{
    const struct apply reading = {.error = NULL};
    struct item item;

    while (items.size > 0 && item_take(&reading, &items, &item) == PETAL_OK) {
        if (item.tag == MANIFEST_COUNTERS && item.size == MANIFEST_COUNTERS_BYTES) {
            *sequence = get_le64(item.payload + 8);
            return true;
        }
    }
    return false;
}

/* The first edit in what follows the records that were loaded. */
static void
find_next_edit(const struct manifest_writer *writer, petal_slice rest, struct manifest_news *news)
{
    uint64_t offset = writer->loaded_records;
    struct record record;

    while (decode_record(rest, writer->file_identity, offset, &record)) {
        if (record.kind == MANIFEST_EDIT) {
            news->changed = true;
            news->replaced = !find_last_sequence(record.payload, &news->last_sequence);
            return;
        }
        rest = slice_make(slice_bytes(rest) + record.bytes, rest.size - record.bytes);
        offset += record.bytes;
    }
}

static enum petal_status
look_into(const struct manifest_writer *writer, petal_file *file, struct manifest_news *news,
          petal_error *error)
{
    const struct env *env = writer->env;
    const petal_vfs *vfs = env->vfs;
    uint8_t header[MANIFEST_HEADER_BYTES], *rest;
    uint64_t size;
    size_t got, wanted;
    int failed = vfs->size(vfs->context, file, &size);

    if (failed == 0)
        failed = vfs->read_at(vfs->context, file, 0, header, sizeof header, &got);
    if (failed != 0)
        return error_io(error, writer->path, failed, "read");
    news->replaced = news->changed = got < sizeof header ||
                                     get_le64(header + 32) != writer->file_identity ||
                                     size < writer->loaded_records;
    if (news->changed || size == writer->loaded_records)
        return PETAL_OK;
    wanted = (size_t)(size - writer->loaded_records);
    rest = mem_alloc(env->allocator, wanted);
    if (rest == NULL)
        return error_no_memory(error);
    failed = vfs->read_at(vfs->context, file, writer->loaded_records, rest, wanted, &got);
    if (failed == 0 && got == wanted)
        find_next_edit(writer, slice_make(rest, got), news);
    else
        news->replaced = news->changed = true;
    mem_free(env->allocator, rest, wanted);
    return failed == 0 ? PETAL_OK : error_io(error, writer->path, failed, "read");
}

enum petal_status
manifest_look(const struct manifest *manifest, struct manifest_news *news, petal_error *error)
{
    const struct manifest_writer *writer = manifest->writer;
    const petal_vfs *vfs = writer->env->vfs;
    enum petal_status status;
    petal_file *file;
    int failed = directory_open_file(writer->directory, writer->path, PETAL_FILE_READ, &file);

    *news = (struct manifest_news){0};
    if (failed != 0)
        return error_io(error, writer->path, failed, "open");
    status = look_into(writer, file, news, error);
    vfs->close(vfs->context, file);
    return status;
}

/* ---- committing: a new file ---- */

static enum petal_status
writer_fail(struct manifest_writer *writer, const char *path, int os_error, const char *action,
            petal_error *error)
{
    assert(os_error != 0 && !writer->failed); /* the first one stays */
    writer->failed = true;
    error_unknown(&writer->failure, path, os_error, action);
    return error_copy(error, &writer->failure);
}

/*
 * Put a file that holds a snapshot of `state`, and nothing else, in the place of the one that is
 * there. Until the rename a failure leaves that as it was, so the next commit may try again;
 * whether a rename or directory sync that failed took effect cannot be known.
 */
static enum petal_status
write_file(struct manifest_writer *writer, const struct manifest *state, petal_error *error)
{
    const struct env *env = writer->env;
    const petal_vfs *vfs = env->vfs;
    uint64_t file_identity = env_random(env);
    char temporary[PETAL_PATH_BYTES];
    const char *action = "remove";
    struct manifest_edit edit;
    petal_file *file = NULL;
    uint8_t *to = NULL;
    size_t size;
    int failed;

    /* Its bytes. */
    manifest_edit_init(&edit, env->allocator);
    manifest_edit_snapshot(&edit, state);
    size = MANIFEST_HEADER_BYTES + record_bytes(edit.size);
    if (!edit.failed)
        to = mem_alloc(env->allocator, size);
    if (to == NULL) {
        manifest_edit_fini(&edit);
        return error_no_memory(error);
    }
    memcpy(to, MANIFEST_MAGIC, 8);
    put_le32(to + 8, MANIFEST_VERSION);
    put_le32(to + 12, MANIFEST_HEADER_BYTES);
    put_le64(to + 16, state->database_identity);
    put_le64(to + 24, state->salt);
    put_le64(to + 32, file_identity);
    put_le64(to + 40, size);
    put_le64(to + 48, 0);
    put_le64(to + MANIFEST_HEADER_CHECKSUM, checksum_at(0, 0, to, MANIFEST_HEADER_CHECKSUM));
    encode_record(to + MANIFEST_HEADER_BYTES, file_identity, MANIFEST_HEADER_BYTES, 0,
                  MANIFEST_EDIT, slice_make(edit.bytes, edit.size));
    manifest_edit_fini(&edit);

    /* On the medium, under a name that means nothing; a commit that was cut off may have left
     * one. */
    filename_manifest_temporary(temporary, writer->directory->path);
    failed = directory_remove(writer->directory, temporary);
    if (failed == 0 || failed == ENOENT) {
        action = "create";
        failed =
            directory_open_file(writer->directory, temporary,
                                PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE, &file);
    }
    if (failed == 0) {
        action = "write";
        failed = vfs->write_at(vfs->context, file, 0, to, size);
        if (failed == 0) {
            action = "sync";
            failed = vfs->sync(vfs->context, file);
        }
        if (failed != 0) {
            vfs->close(vfs->context, file);
            directory_remove(writer->directory, temporary);
        }
    }
    mem_free(env->allocator, to, size);
    if (failed != 0)
        return error_io(error, temporary, failed, action);

    /* The name. */
    if (writer->file != NULL)
        vfs->close(vfs->context, writer->file);
    writer->file = file;
    writer->file_identity = file_identity;
    writer->length = writer->synced_length = writer->snapshot_length = size;
    writer->renew = false;
    failed = directory_rename(writer->directory, temporary, writer->path);
    if (failed != 0)
        return writer_fail(writer, temporary, failed, "rename", error);
    failed = directory_sync(writer->directory);
    if (failed != 0)
        return writer_fail(writer, writer->directory->path, failed, "sync directory", error);
    return PETAL_OK;
}

/* ---- committing: one record more ---- */

static bool
is_full(int os_error)
{
    return os_error == ENOSPC || os_error == EDQUOT;
}

/* Make nothing of what an append that did not fit left behind the end: zeros take no new space.
 * Without that a later record, in part on the medium when the power fails, might complete the
 * refused one. */
static enum petal_status
erase_tail(struct manifest_writer *writer, uint64_t least, petal_error *error)
{
    static const uint8_t zeros[4096];
    const petal_vfs *vfs = writer->env->vfs;
    uint64_t at = writer->length, size = 0;
    int failed = vfs->size(vfs->context, writer->file, &size);

    assert(writer->file != NULL && !writer->failed);
    if (failed == 0 && size <= at)
        return PETAL_OK;
    /* A record of which the end is missing will not be whole unless something is written there. */
    writer->renew = failed == 0 && size < least;
    while (failed == 0 && at < size) {
        size_t piece = size - at < sizeof zeros ? (size_t)(size - at) : sizeof zeros;

        failed = vfs->write_at(vfs->context, writer->file, at, zeros, piece);
        at += piece;
    }
    if (is_full(failed) && writer->renew)
        return PETAL_OK;
    if (failed == 0)
        failed = vfs->sync(vfs->context, writer->file);
    if (failed != 0)
        return writer_fail(writer, writer->path, failed, "take back what did not fit in", error);
    writer->renew = false;
    return PETAL_OK;
}

static enum petal_status
append_edit(struct manifest_writer *writer, const struct manifest_edit *edit, petal_error *error)
{
    const petal_vfs *vfs = writer->env->vfs;
    size_t bytes = record_bytes(edit->size);
    uint8_t *record = mem_alloc(writer->env->allocator, bytes), seal[MANIFEST_RECORD_BYTES];
    int failed;

    assert(writer->file != NULL && !writer->renew && writer->synced_length <= writer->length);
    if (record == NULL)
        return error_no_memory(error);
    encode_record(record, writer->file_identity, writer->length, writer->synced_length,
                  MANIFEST_EDIT, slice_make(edit->bytes, edit->size));
    failed = vfs->write_at(vfs->context, writer->file, writer->length, record, bytes);
    mem_free(writer->env->allocator, record, bytes);
    if (is_full(failed)) {
        enum petal_status status = erase_tail(writer, writer->length + bytes, error);

        return status == PETAL_OK ? error_io(error, writer->path, failed, "write") : status;
    }
    if (failed != 0)
        return writer_fail(writer, writer->path, failed, "write", error);
    failed = vfs->sync(vfs->context, writer->file);
    if (failed != 0)
        return writer_fail(writer, writer->path, failed, "sync", error);
    writer->length += bytes;
    writer->synced_length = writer->length;

    /* The seal says that the file is synced. It is not synced itself: it matters only if it is
     * there. One that does not fit is done without; what there is of it the next record
     * overwrites. */
    encode_record(seal, writer->file_identity, writer->length, writer->synced_length, MANIFEST_SEAL,
                  slice_make(NULL, 0));
    failed = vfs->write_at(vfs->context, writer->file, writer->length, seal, sizeof seal);
    if (failed == 0)
        writer->length += sizeof seal;
    else if (!is_full(failed))
        (void)writer_fail(writer, writer->path, failed, "write", NULL); /* the edit is safe */
    return PETAL_OK;
}

/* ---- committing ---- */

/* How long a new file with this state would be; 0: no memory. */
static uint64_t
new_length(const struct env *env, const struct manifest *state)
{
    struct manifest_edit edit;
    uint64_t length;

    manifest_edit_init(&edit, env->allocator);
    manifest_edit_snapshot(&edit, state);
    length = edit.failed ? 0 : MANIFEST_HEADER_BYTES + record_bytes(edit.size);
    manifest_edit_fini(&edit);
    return length;
}

bool
manifest_is_dead(const struct manifest *manifest)
{
    return manifest->writer->failed;
}

void
manifest_limit(struct manifest *manifest, uint64_t bytes)
{
    manifest->writer->most_bytes = bytes;
}

uint64_t
manifest_next_state(const struct manifest *manifest)
{
    const struct manifest_writer *writer = manifest->writer;

    return (writer->greatest_state > manifest->number ? writer->greatest_state : manifest->number) +
           1;
}

enum petal_status
manifest_commit(struct manifest *manifest, struct manifest_edit *edit, petal_error *error)
{
    struct manifest_writer *writer = manifest->writer;
    const struct env *env = writer->env;
    uint64_t number = manifest_next_state(manifest);
    uint64_t most = edit->describes ? writer->most_bytes / 2 : writer->most_bytes;
    uint64_t length, before, after;
    struct manifest_undo undo;
    enum petal_status status;

    if (writer->failed)
        return error_copy(error, &writer->failure);
    manifest_edit_state(edit, number);
    if (edit->failed)
        return error_no_memory(error);
    writer->greatest_state = number;
    /* With the edit and its seal the file would be so long. A state never takes more than the
     * file that led to it, so only where that is too much the length of new files matters. */
    length = writer->length + record_bytes(edit->size) + MANIFEST_RECORD_BYTES;
    before = length > most ? new_length(env, manifest) : 0;
    status =
        manifest_apply(manifest, env->allocator, slice_make(edit->bytes, edit->size), &undo, error);
    if (status != PETAL_OK)
        return status;
    assert(manifest->oldest_log <= manifest->next_file_number);
    if (length > most) {
        after = new_length(env, manifest);
        if (before == 0 || after == 0)
            status = error_no_memory(error);
        else if (after > most && after >= before) /* one that is too large may become smaller */
            status = error_file(error, PETAL_INVALID, writer->path,
                                "%s would have %llu bytes, and %llu is the most: there are too "
                                "many tables, families, attributes, snapshots or store files",
                                writer->path, (unsigned long long)after, (unsigned long long)most);
    }
    if (status == PETAL_OK) {
        bool grown = length > 4 * writer->snapshot_length + GROWTH_BYTES;

        if (writer->file != NULL && !grown && !writer->renew && length <= writer->most_bytes) {
            status = append_edit(writer, edit, error);
        } else {
            status = write_file(writer, manifest, error);
            /* What drops a table may fit in where a whole file does not, and make room for one. */
            if (status == PETAL_NO_SPACE && writer->file != NULL && !writer->failed &&
                !writer->renew && length <= MOST_FILE_BYTES)
                status = append_edit(writer, edit, error);
        }
    }
    if (status == PETAL_OK)
        manifest_undo_forget(&undo);
    else
        manifest_undo_run(&undo, manifest);
    return status;
}

/* ---- what was loaded ---- */

/*
 * Write again what lies in the page cache, each byte as it was loaded: a sync that failed has made
 * these pages pass for clean, and no later one would write them.  Takes no new space where files
 * are overwritten in place.
 */
static enum petal_status
write_again(struct manifest_writer *writer, petal_file *file, petal_error *error)
{
    const struct env *env = writer->env;
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum petal_status status = read_whole(env, writer->path, file, &bytes, &size, error);

    if (status == PETAL_OK &&
        (size != writer->loaded_bytes || checksum_at(0, 0, bytes, size) != writer->loaded_checksum))
        status =
            error_corrupt(error, writer->path, 0,
                          "%s has other bytes than when it was read a moment ago", writer->path);
    if (status == PETAL_OK) {
        int failed = env->vfs->write_at(env->vfs->context, file, 0, bytes, size);

        if (failed != 0)
            status = error_io(error, writer->path, failed, "write");
    }
    mem_free(env->allocator, bytes, size);
    return status;
}

/* The file that was loaded, its bytes and its name. Then it is as if written by this writer, which
 * appends to it. */
static enum petal_status
sync_loaded(struct manifest_writer *writer, petal_error *error)
{
    const petal_vfs *vfs = writer->env->vfs;
    enum petal_status status = PETAL_OK;
    petal_file *file;
    int failed = directory_open_file(writer->directory, writer->path,
                                     PETAL_FILE_READ | PETAL_FILE_WRITE, &file);

    if (failed != 0)
        return error_io(error, writer->path, failed, "open");
    assert(writer->file == NULL && writer->loaded_end >= MANIFEST_HEADER_BYTES);
    assert(writer->loaded_end <= writer->loaded_bytes);
    if (!writer->loaded_is_promised)
        status = write_again(writer, file, error);
    if (status == PETAL_OK) {
        failed = vfs->sync(vfs->context, file);
        if (failed != 0)
            status = error_unknown(error, writer->path, failed, "sync");
    }
    if (status == PETAL_OK) {
        failed = directory_sync(writer->directory);
        if (failed != 0)
            status = error_unknown(error, writer->directory->path, failed, "sync directory");
    }
    if (status != PETAL_OK) {
        vfs->close(vfs->context, file);
        return status;
    }
    writer->file = file;
    writer->length = writer->synced_length = writer->loaded_end;
    /* Where the seal after it cannot be cleared it is durable all the same, and the next commit
     * writes a new file. */
    return erase_tail(writer, UINT64_MAX, error);
}

enum petal_status
manifest_make_durable(struct manifest *manifest, petal_error *error)
{
    struct manifest_writer *writer = manifest->writer;
    enum petal_status status;

    if (writer->file != NULL)
        return PETAL_OK;
    status = write_file(writer, manifest, error);
    if (status == PETAL_NO_SPACE)
        status = sync_loaded(writer, error);
    return status;
}
