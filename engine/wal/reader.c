/* reader.c -- see engine/wal/reader.h. */
#include "engine/wal/reader.h"

#include "base/mem.h"

#include <assert.h>

/* ---- file ---- */

enum petal_status
wal_reader_open_path(struct wal_reader *reader, const struct directory *directory, const char *path,
                     uint64_t database_identity, uint64_t number, petal_error *error)
{
    const struct env *env = directory->env;
    int failed;

    memset(reader, 0, sizeof *reader);
    assert(number > 0 && strlen(path) < sizeof reader->path);
    reader->env = env;
    reader->number = number;
    reader->seed = wal_seed(database_identity, number);
    reader->frame_offset = UINT64_MAX;
    memcpy(reader->path, path, strlen(path) + 1);
    reader->frame = mem_alloc(env->allocator, WAL_FRAME_BYTES);
    if (reader->frame == NULL)
        return error_no_memory(error);
    failed = directory_open_file(directory, reader->path, PETAL_FILE_READ, &reader->file);
    if (failed != 0) {
        mem_free(env->allocator, reader->frame, WAL_FRAME_BYTES);
        return error_io(error, reader->path, failed, "open");
    }
    failed = env->vfs->size(env->vfs->context, reader->file, &reader->size);
    if (failed != 0) {
        wal_reader_close(reader);
        return error_io(error, reader->path, failed, "take the size of");
    }
    reader->limit = reader->size;
    reader->start = WAL_HEADER_BYTES;
    return PETAL_OK;
}

enum petal_status
wal_reader_open(struct wal_reader *reader, const struct directory *directory,
                uint64_t database_identity, uint64_t number, petal_error *error)
{
    char path[PETAL_PATH_BYTES];

    filename_wal(path, directory->path, number);
    return wal_reader_open_path(reader, directory, path, database_identity, number, error);
}

void
wal_reader_close(struct wal_reader *reader)
{
    const struct env *env = reader->env;

    env->vfs->close(env->vfs->context, reader->file);
    mem_free(env->allocator, reader->frame, WAL_FRAME_BYTES);
    mem_free(env->allocator, reader->record, reader->record_capacity);
}

void
wal_reader_begin_at(struct wal_reader *reader, uint64_t offset)
{
    assert(offset >= WAL_HEADER_BYTES);
    reader->start = offset;
    reader->frame_offset = UINT64_MAX;
}

/* Have the frame with `offset` in memory. */
static enum petal_status
load_frame(struct wal_reader *reader, uint64_t offset, petal_error *error)
{
    const petal_vfs *vfs = reader->env->vfs;
    uint64_t start = offset - offset % WAL_FRAME_BYTES;
    size_t wanted = WAL_FRAME_BYTES;
    uint64_t size;
    int failed;

    assert(offset < reader->limit && reader->limit <= reader->size);
    if (reader->frame_offset == start)
        return PETAL_OK;
    if (reader->limit - start < wanted)
        wanted = (size_t)(reader->limit - start);
    reader->frame_offset = UINT64_MAX;
    failed = vfs->read_at(vfs->context, reader->file, start, reader->frame, wanted,
                          &reader->frame_bytes);
    if (failed != 0)
        return error_io(error, reader->path, failed, "read");
    /* Else it would pass for the torn end of the log, and be dropped. A writer that goes on takes
     * away only room that nothing was stored into. */
    if (reader->frame_bytes < wanted && reader->live &&
        vfs->size(vfs->context, reader->file, &size) == 0 && size <= start + reader->frame_bytes) {
        reader->size = start + reader->frame_bytes;
        if (reader->limit > reader->size)
            reader->limit = reader->size;
    } else if (reader->frame_bytes < wanted) {
        return error_corrupt(error, reader->path, start + reader->frame_bytes,
                             "%s has become shorter", reader->path);
    }
    reader->frame_offset = start;
    return PETAL_OK;
}

/* ---- header ---- */

static enum petal_status
check_identity(const struct wal_reader *reader, const uint8_t *header, uint64_t database_identity,
               const struct wal_identity *identity, petal_error *error)
{
    const char *path = reader->path;
    bool has_predecessor = identity->predecessor_number != 0;

    if (identity->database_identity != database_identity)
        return error_corrupt(
            error, path, 16, "%s belongs to database %016llx; this database is %016llx", path,
            (unsigned long long)identity->database_identity, (unsigned long long)database_identity);
    if (get_le32(header + 8) != WAL_VERSION)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "%s has log format %u; this version reads format %u", path,
                          get_le32(header + 8), WAL_VERSION);
    if (get_le32(header + 12) != WAL_HEADER_BYTES ||
        identity->predecessor_number >= identity->number ||
        identity->predecessor_synced > identity->predecessor_length ||
        (has_predecessor ? identity->predecessor_length < WAL_HEADER_BYTES
                         : identity->predecessor_length != 0))
        return error_corrupt(error, path, 0, "%s has a header that no log can have", path);
    return PETAL_OK;
}

enum petal_status
wal_reader_header(struct wal_reader *reader, uint64_t database_identity,
                  struct wal_identity *identity, bool *whole, petal_error *error)
{
    const uint8_t *header = reader->frame;
    enum petal_status status;
    size_t header_bytes;

    *whole = false;
    if (reader->size < WAL_HEADER_BYTES)
        return PETAL_OK;
    status = load_frame(reader, 0, error);
    if (status != PETAL_OK || reader->frame_bytes < WAL_HEADER_BYTES)
        return status;
    header_bytes = get_le32(header + 12);
    if (memcmp(header, WAL_MAGIC, 8) != 0 || header_bytes < WAL_HEADER_BYTES ||
        header_bytes > reader->frame_bytes ||
        get_le64(header + header_bytes - WAL_HEADER_CHECKSUM_BYTES) !=
            wal_header_checksum(header, header_bytes))
        return PETAL_OK;
    /* What an older WAL of this database had in the block, which this one never wrote. */
    if (get_le64(header + 16) == database_identity && get_le64(header + 24) != reader->number)
        return PETAL_OK;
    *whole = true;
    identity->database_identity = get_le64(header + 16);
    identity->number = get_le64(header + 24);
    identity->predecessor_number = get_le64(header + 32);
    identity->predecessor_length = get_le64(header + 40);
    identity->predecessor_last_sequence = get_le64(header + 48);
    identity->predecessor_synced = get_le64(header + 56);
    return check_identity(reader, header, database_identity, identity, error);
}

/* ---- fragments ---- */

static bool
all_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* ---- records ---- */

/* A walk over the fragments of a WAL. */
struct walk {
    uint64_t offset;       /* of the next fragment */
    uint64_t record_start; /* where the record that is being put together begins */
    bool in_record;
};

/* Take the fragment at walk->offset, which lies in the frame in memory; false: it is bad, or out of
 * place. */
static bool
take_fragment(const struct wal_reader *reader, const struct walk *walk,
              struct wal_fragment *fragment)
{
    size_t at = (size_t)(walk->offset - reader->frame_offset);
    const uint8_t *bytes = reader->frame + at;
    bool goes_on;

    if (at > reader->frame_bytes ||
        !wal_fragment_parse(fragment, bytes, reader->frame_bytes - at, walk->offset) ||
        !wal_fragment_is_whole(fragment, reader->seed, bytes, walk->offset))
        return false;
    goes_on = fragment->kind == WAL_MIDDLE || fragment->kind == WAL_LAST;
    return goes_on == walk->in_record;
}

static enum petal_status
append_to_record(struct wal_reader *reader, const struct wal_fragment *fragment, petal_error *error)
{
    void *array = reader->record;
    bool grown = mem_grow(reader->env->allocator, &array, &reader->record_capacity,
                          reader->record_bytes, reader->record_bytes + fragment->payload_bytes, 1);

    reader->record = array;
    if (!grown)
        return error_no_memory(error);
    memcpy(reader->record + reader->record_bytes, fragment->payload, fragment->payload_bytes);
    reader->record_bytes += fragment->payload_bytes;
    return PETAL_OK;
}

/* Account for a good fragment; *record is set when it completes one. */
static enum petal_status
add_fragment(struct wal_reader *reader, struct walk *walk, const struct wal_fragment *fragment,
             petal_slice *record, bool *complete, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (!walk->in_record)
        walk->record_start = walk->offset;
    walk->offset += fragment->header_bytes + fragment->payload_bytes;
    *complete = fragment->kind == WAL_FULL || fragment->kind == WAL_LAST;
    if (fragment->kind == WAL_FULL) {
        *record = slice_make(fragment->payload, fragment->payload_bytes);
        return PETAL_OK;
    }
    if (fragment->kind == WAL_FIRST)
        reader->record_bytes = 0;
    status = append_to_record(reader, fragment, error);
    walk->in_record = !*complete;
    *record = slice_make(reader->record, reader->record_bytes);
    return status;
}

/* Step over the zeros at the end of a frame that is too short for a fragment; false: there is
 * something else. */
static bool
skip_padding(const struct wal_reader *reader, struct walk *walk)
{
    size_t at = (size_t)(walk->offset - reader->frame_offset);

    if (at > reader->frame_bytes || walk->in_record ||
        !all_zero(reader->frame + at, reader->frame_bytes - at))
        return false;
    walk->offset = reader->frame_offset + reader->frame_bytes;
    return true;
}

enum petal_status
wal_reader_records(struct wal_reader *reader, wal_visit *visit, void *argument, uint64_t *records,
                   uint64_t *end, petal_error *error)
{
    struct walk walk = {.offset = reader->start};
    struct wal_record record = {.number = reader->number, .path = reader->path};
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && walk.offset < reader->limit) {
        struct wal_fragment fragment;
        bool complete;

        status = load_frame(reader, walk.offset, error);
        if (status != PETAL_OK)
            break;
        if (wal_frame_left(walk.offset) <= WAL_FRAGMENT_MOST_BYTES) {
            uint64_t before = walk.offset;

            if (!skip_padding(reader, &walk) || walk.offset == before)
                break;
            continue;
        }
        if (!take_fragment(reader, &walk, &fragment))
            break;
        status = add_fragment(reader, &walk, &fragment, &record.payload, &complete, error);
        if (status != PETAL_OK || !complete)
            continue;
        ++*records;
        record.first = walk.record_start == WAL_HEADER_BYTES;
        record.offset = walk.record_start;
        if (visit != NULL)
            status = visit(argument, &record, error);
    }
    *end = walk.in_record ? walk.record_start : walk.offset;
    return status;
}

enum petal_status
wal_reader_is_at_end(struct wal_reader *reader, uint64_t offset, bool *at_end, petal_error *error)
{
    size_t at = (size_t)(offset % WAL_FRAME_BYTES);
    enum petal_status status =
        offset < reader->limit ? load_frame(reader, offset, error) : PETAL_OK;

    *at_end = status == PETAL_OK &&
              (offset >= reader->limit || (at < reader->frame_bytes &&
                                           all_zero(reader->frame + at, reader->frame_bytes - at)));
    return status;
}

enum petal_status
wal_reader_content_end(struct wal_reader *reader, uint64_t *end, petal_error *error)
{
    uint64_t limit = reader->limit, offset = reader->size;
    enum petal_status status = PETAL_OK;

    *end = 0;
    reader->limit = reader->size;
    reader->frame_offset = UINT64_MAX; /* it may be cut at the limit */
    while (status == PETAL_OK && offset > 0 && *end == 0) {
        size_t bytes;

        status = load_frame(reader, offset - 1, error);
        if (status != PETAL_OK)
            break;
        for (bytes = reader->frame_bytes; bytes > 0 && reader->frame[bytes - 1] == 0;)
            bytes--;
        if (bytes > 0)
            *end = reader->frame_offset + bytes;
        offset = reader->frame_offset;
    }
    reader->limit = limit < reader->size ? limit : reader->size;
    reader->frame_offset = UINT64_MAX;
    return status;
}

/* ---- promises ---- */

/*
 * A promise above `bad` in the frame in memory, from `at` on.  `at` may be anywhere: where no
 * fragment begins the search goes on byte by byte, and then only headers with a promise that
 * matters are worth a checksum.
 */
static uint64_t
promise_in_frame(const struct wal_reader *reader, size_t at, uint64_t bad)
{
    bool aligned = true; /* a fragment ought to begin here */

    while (at < reader->frame_bytes) {
        const uint8_t *bytes = reader->frame + at;
        uint64_t offset = reader->frame_offset + at;
        struct wal_fragment fragment;

        if (!wal_fragment_parse(&fragment, bytes, reader->frame_bytes - at, offset) ||
            (!aligned && fragment.promise <= bad) ||
            !wal_fragment_is_whole(&fragment, reader->seed, bytes, offset)) {
            at++;
            aligned = false;
            continue;
        }
        if (fragment.promise > bad)
            return fragment.promise;
        at += fragment.header_bytes + fragment.payload_bytes;
        aligned = true;
    }
    return 0;
}

enum petal_status
wal_reader_find_promise(struct wal_reader *reader, uint64_t bad, uint64_t *promise,
                        petal_error *error)
{
    uint64_t offset = bad < WAL_HEADER_BYTES ? WAL_HEADER_BYTES : bad;

    *promise = 0;
    while (*promise == 0 && offset < reader->limit) {
        enum petal_status status = load_frame(reader, offset, error);

        if (status != PETAL_OK)
            return status;
        *promise = promise_in_frame(reader, (size_t)(offset - reader->frame_offset), bad);
        offset = reader->frame_offset + WAL_FRAME_BYTES;
    }
    return PETAL_OK;
}

/* ---- records after a bad place ---- */

#define MOST_SEARCHED_BYTES ((uint64_t)4 << 30) /* that are checksummed */

/* Those that end in the frame in memory, from `at` on. */
static uint64_t
records_in_frame(const struct wal_reader *reader, size_t at, uint64_t *searched)
{
    uint64_t records = 0;

    while (at < reader->frame_bytes && *searched < MOST_SEARCHED_BYTES) {
        const uint8_t *bytes = reader->frame + at;
        uint64_t offset = reader->frame_offset + at;
        struct wal_fragment fragment;

        if (!wal_fragment_parse(&fragment, bytes, reader->frame_bytes - at, offset)) {
            at++;
            continue;
        }
        *searched += fragment.header_bytes + fragment.payload_bytes;
        if (!wal_fragment_is_whole(&fragment, reader->seed, bytes, offset)) {
            at++;
            continue;
        }
        records += fragment.kind == WAL_FULL || fragment.kind == WAL_LAST;
        at += fragment.header_bytes + fragment.payload_bytes;
    }
    return records;
}

enum petal_status
wal_reader_count_behind(struct wal_reader *reader, uint64_t bad, uint64_t *records,
                        petal_error *error)
{
    uint64_t offset = bad < WAL_HEADER_BYTES ? WAL_HEADER_BYTES : bad, searched = 0;

    *records = 0;
    while (offset < reader->limit && searched < MOST_SEARCHED_BYTES) {
        enum petal_status status = load_frame(reader, offset, error);

        if (status != PETAL_OK)
            return status;
        *records += records_in_frame(reader, (size_t)(offset - reader->frame_offset), &searched);
        offset = reader->frame_offset + WAL_FRAME_BYTES;
    }
    return PETAL_OK;
}
