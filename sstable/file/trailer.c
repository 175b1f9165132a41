/* trailer.c -- see trailer.h. */
#include "sstable/file/trailer.h"

#include "base/checksum.h"
#include "base/coding.h"

#include <assert.h>
#include <inttypes.h>

enum {
    CHECKSUM_AT = 0,
    IDENTITY_AT = 8,
    FILE_BYTES_AT = 16,
    FACTS_AT = 24,
    DATA_ROOT_AT = 40,
    BLOOM_ROOT_AT = 56,
    SHIFT_AT = 72,
    VERSION_AT = 112,
    MAGIC_AT = 120
};

static const uint8_t magic[8] = {0x89, 'P', 'E', 'T', 'A', 'L', 'S', 'F'};

static void
put_handle(uint8_t *to, struct block_handle handle)
{
    put_le64(to, handle.offset);
    put_le32(to + 8, handle.size);
}

static struct block_handle
get_handle(const uint8_t *from)
{
    return (struct block_handle){.offset = get_le64(from), .size = get_le32(from + 8)};
}

static uint64_t
trailer_checksum(const uint8_t *bytes, uint64_t file_bytes)
{
    return checksum_at(get_le64(bytes + IDENTITY_AT), file_bytes - TRAILER_BYTES,
                       bytes + IDENTITY_AT, TRAILER_BYTES - IDENTITY_AT);
}

void
trailer_encode(const struct trailer *trailer, uint8_t bytes[TRAILER_BYTES])
{
    assert(trailer->facts.size > 0 && trailer->data_root.size > 0);
    assert(trailer->facts.offset + trailer->facts.size + TRAILER_BYTES == trailer->file_bytes);
    memset(bytes, 0, TRAILER_BYTES);
    put_le64(bytes + IDENTITY_AT, trailer->file_identity);
    put_le64(bytes + FILE_BYTES_AT, trailer->file_bytes);
    put_handle(bytes + FACTS_AT, trailer->facts);
    put_handle(bytes + DATA_ROOT_AT, trailer->data_root);
    put_handle(bytes + BLOOM_ROOT_AT, trailer->bloom_root);
    put_le64(bytes + SHIFT_AT, trailer->stated_shift);
    put_le32(bytes + VERSION_AT, SST_FORMAT_VERSION);
    memcpy(bytes + MAGIC_AT, magic, sizeof magic);
    put_le64(bytes + CHECKSUM_AT, trailer_checksum(bytes, trailer->file_bytes));
}

enum petal_status
trailer_decode(struct trailer *trailer, const uint8_t bytes[TRAILER_BYTES], uint64_t file_bytes,
               const char *path, petal_error *error)
{
    uint64_t offset = file_bytes - TRAILER_BYTES;
    uint32_t version = get_le32(bytes + VERSION_AT);
    uint64_t found = get_le64(bytes + CHECKSUM_AT);

    assert(file_bytes >= TRAILER_BYTES);
    if (memcmp(bytes + MAGIC_AT, magic, sizeof magic) != 0)
        return error_corrupt(
            error, path, offset + MAGIC_AT,
            "the file does not end like a store file: no magic number at offset %" PRIu64,
            offset + MAGIC_AT);
    if (found != trailer_checksum(bytes, file_bytes))
        return error_corrupt(error, path, offset,
                             "trailer at offset %" PRIu64 ": checksum %016" PRIx64
                             ", its bytes give %016" PRIx64,
                             offset, found, trailer_checksum(bytes, file_bytes));
    if (version != SST_FORMAT_VERSION)
        return error_file(error, PETAL_UNSUPPORTED, path,
                          "store file of format version %" PRIu32 "; this library reads version %d",
                          version, SST_FORMAT_VERSION);
    trailer->file_identity = get_le64(bytes + IDENTITY_AT);
    trailer->file_bytes = get_le64(bytes + FILE_BYTES_AT);
    trailer->facts = get_handle(bytes + FACTS_AT);
    trailer->data_root = get_handle(bytes + DATA_ROOT_AT);
    trailer->bloom_root = get_handle(bytes + BLOOM_ROOT_AT);
    trailer->stated_shift = get_le64(bytes + SHIFT_AT);
    if (trailer->file_bytes != file_bytes)
        return error_corrupt(error, path, offset,
                             "trailer at offset %" PRIu64 " says %" PRIu64
                             " bytes, the file has %" PRIu64,
                             offset, trailer->file_bytes, file_bytes);
    return PETAL_OK;
}

enum petal_status
trailer_read(struct trailer *trailer, const struct block_source *source, uint64_t file_bytes,
             petal_error *error)
{
    uint8_t bytes[TRAILER_BYTES];
    enum petal_status status;

    if (file_bytes < TRAILER_BYTES)
        return error_corrupt(error, source->path, file_bytes,
                             "a store file has at least %d bytes, this one %" PRIu64, TRAILER_BYTES,
                             file_bytes);
    status = block_source_read(source, file_bytes - TRAILER_BYTES, bytes, sizeof bytes, error);
    return status == PETAL_OK ? trailer_decode(trailer, bytes, file_bytes, source->path, error)
                              : status;
}

enum petal_status
trailer_check_identity(const struct trailer *trailer, uint64_t expected, const char *path,
                       petal_error *error)
{
    if (expected == 0 || expected == trailer->file_identity)
        return PETAL_OK;
    return error_corrupt(error, path, trailer->file_bytes - TRAILER_BYTES,
                         "another file stands here: its identity is %016" PRIx64
                         ", expected is %016" PRIx64,
                         trailer->file_identity, expected);
}
