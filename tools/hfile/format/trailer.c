/* trailer.c -- see trailer.h. */
#include "tools/hfile/format/trailer.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/protobuf.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>

#define VERSION_BYTES         4
#define VERSION_2_BYTES       212
#define LEAST_MINOR_OF_2      2 /* before it, trailers were no protobuf */
#define MOST_COMPARATOR_BYTES 1024

/* The fields of FileTrailerProto, in the order in which HBase writes them. */
enum member_kind { MEMBER_U64, MEMBER_U32, MEMBER_BYTES };

static const struct member {
    uint32_t field;
    enum member_kind kind;
    size_t at; /* in struct hfile_trailer */
} members[] = {
    {1, MEMBER_U64, offsetof(struct hfile_trailer, file_info_offset)},
    {2, MEMBER_U64, offsetof(struct hfile_trailer, load_on_open_offset)},
    {3, MEMBER_U64, offsetof(struct hfile_trailer, index_bytes)},
    {4, MEMBER_U64, offsetof(struct hfile_trailer, uncompressed_bytes)},
    {5, MEMBER_U32, offsetof(struct hfile_trailer, root_entries)},
    {6, MEMBER_U32, offsetof(struct hfile_trailer, meta_entries)},
    {7, MEMBER_U64, offsetof(struct hfile_trailer, cells)},
    {8, MEMBER_U32, offsetof(struct hfile_trailer, index_levels)},
    {9, MEMBER_U64, offsetof(struct hfile_trailer, first_data_block_offset)},
    {10, MEMBER_U64, offsetof(struct hfile_trailer, last_data_block_offset)},
    {11, MEMBER_BYTES, offsetof(struct hfile_trailer, comparator)},
    {12, MEMBER_U32, offsetof(struct hfile_trailer, codec_number)},
};
#define MEMBERS              (sizeof members / sizeof *members)
#define FIELD_ENCRYPTION_KEY 13

size_t
hfile_trailer_size(unsigned major_version)
{
    if (major_version == 2)
        return VERSION_2_BYTES;
    return major_version == HFILE_MAJOR_VERSION ? HFILE_TRAILER_BYTES : 0;
}

static void
set_member(struct hfile_trailer *trailer, const struct member *member,
           const struct hfile_field *field)
{
    void *to = (uint8_t *)trailer + member->at;

    if (member->kind == MEMBER_BYTES)
        *(petal_slice *)to = field->bytes;
    else if (member->kind == MEMBER_U64)
        *(uint64_t *)to = field->value;
    else
        *(uint32_t *)to = field->value > UINT32_MAX ? UINT32_MAX : (uint32_t)field->value;
}

/* Protobuf's word for a field that is not there is its default: zero. */
static enum petal_status
parse_message(petal_slice message, uint64_t offset, const char *file, struct hfile_trailer *trailer,
              petal_error *error)
{
    struct hfile_bytes rest = hfile_bytes_of(message);
    struct hfile_field field;

    while (hfile_field_take(&rest, &field)) {
        for (size_t i = 0; i < MEMBERS; i++) {
            if (members[i].field == field.number &&
                (members[i].kind == MEMBER_BYTES) == field.is_bytes)
                set_member(trailer, &members[i], &field);
        }
        trailer->is_encrypted |= field.is_bytes && field.number == FIELD_ENCRYPTION_KEY;
    }
    if (hfile_bytes_left(&rest) > 0)
        return hfile_error_corrupt(error, file, offset, "the trailer's message is damaged");
    return PETAL_OK;
}

static bool
is_data_offset(const struct hfile_trailer *trailer, uint64_t offset)
{
    return offset < trailer->load_on_open_offset;
}

/* Offsets lie where their blocks can stand; `end` is where the trailer begins. */
static enum petal_status
check_offsets(const struct hfile_trailer *trailer, uint64_t end, const char *file,
              petal_error *error)
{
    bool empty = trailer->first_data_block_offset == HFILE_NO_BLOCK;

    if (trailer->load_on_open_offset >= end)
        return hfile_error_corrupt(error, file, end,
                                   "the trailer says that the index begins at %" PRIu64
                                   ", behind the blocks",
                                   trailer->load_on_open_offset);
    if (trailer->file_info_offset <= trailer->load_on_open_offset ||
        trailer->file_info_offset >= end)
        return hfile_error_corrupt(error, file, end,
                                   "the trailer says that FILE_INFO begins at %" PRIu64
                                   ", which is not between index and trailer",
                                   trailer->file_info_offset);
    if (empty != (trailer->last_data_block_offset == HFILE_NO_BLOCK) ||
        (!empty && (trailer->first_data_block_offset > trailer->last_data_block_offset ||
                    !is_data_offset(trailer, trailer->last_data_block_offset))))
        return hfile_error_corrupt(error, file, end,
                                   "the trailer says that data blocks stand from %" PRIu64
                                   " to %" PRIu64 ", where none can",
                                   trailer->first_data_block_offset,
                                   trailer->last_data_block_offset);
    if (empty != (trailer->cells == 0))
        return hfile_error_corrupt(error, file, end,
                                   "the trailer says that there are %" PRIu64
                                   " cells and %s data blocks, which cannot both be true",
                                   trailer->cells, empty ? "no" : "some");
    return PETAL_OK;
}

static enum petal_status
check_index(const struct hfile_trailer *trailer, uint64_t end, const char *file, petal_error *error)
{
    if (trailer->index_levels == 0 || trailer->index_levels > HFILE_MOST_INDEX_LEVELS)
        return hfile_error_corrupt(error, file, end,
                                   "the trailer says that the index has %" PRIu32
                                   " levels, which is impossible",
                                   trailer->index_levels);
    if ((trailer->root_entries == 0) != (trailer->cells == 0))
        return hfile_error_corrupt(error, file, end,
                                   "the trailer speaks of %" PRIu64 " cells and %" PRIu32
                                   " entries of the index",
                                   trailer->cells, trailer->root_entries);
    return PETAL_OK;
}

static enum petal_status
check_version(uint32_t version, uint64_t offset, const char *file, struct hfile_trailer *trailer,
              petal_error *error)
{
    trailer->major_version = version & 0xffffff;
    trailer->minor_version = version >> 24;
    if (trailer->major_version == 0 || trailer->major_version > 255)
        return hfile_error_corrupt(error, file, offset,
                                   "this is no HFile: its last bytes are no version");
    if (hfile_trailer_size(trailer->major_version) == 0 ||
        (trailer->major_version == 2 && trailer->minor_version < LEAST_MINOR_OF_2))
        return hfile_error_unsupported(
            error, file, "HFile version %u.%u cannot be read, only 3, and 2 from 2.%d on",
            trailer->major_version, trailer->minor_version, LEAST_MINOR_OF_2);
    return PETAL_OK;
}

enum petal_status
hfile_trailer_parse(petal_slice tail, uint64_t file_bytes, const char *file,
                    struct hfile_trailer *trailer, petal_error *error)
{
    const uint8_t *tail_end = hfile_slice_bytes(tail) + tail.size;
    enum petal_status status;
    uint64_t message_bytes, offset;
    struct hfile_bytes rest;
    petal_slice message;
    size_t size;

    assert(tail.size >= VERSION_BYTES && tail.size <= file_bytes);
    *trailer = (struct hfile_trailer){0};
    status = check_version(hfile_get_u32(tail_end - VERSION_BYTES), file_bytes - VERSION_BYTES,
                           file, trailer, error);
    if (status != PETAL_OK)
        return status;

    size = hfile_trailer_size(trailer->major_version);
    if (tail.size < size)
        return hfile_error_corrupt(
            error, file, 0, "this is no HFile: its %" PRIu64 " bytes have no room for a trailer",
            file_bytes);
    offset = file_bytes - size;
    rest = hfile_bytes_of(hfile_slice(tail_end - size, size - VERSION_BYTES));
    if (memcmp(rest.at, HFILE_TRAILER_MAGIC, HFILE_MAGIC_BYTES) != 0)
        return hfile_error_corrupt(error, file, offset,
                                   "this is no HFile: there is no trailer where one should begin");
    rest.at += HFILE_MAGIC_BYTES;
    if (!hfile_take_varint(&rest, &message_bytes) ||
        !hfile_take_slice(&rest, message_bytes, &message))
        return hfile_error_corrupt(error, file, offset,
                                   "the trailer's message is longer than the trailer");

    status = parse_message(message, offset, file, trailer, error);
    if (status == PETAL_OK)
        status = check_offsets(trailer, offset, file, error);
    if (status == PETAL_OK)
        status = check_index(trailer, offset, file, error);
    return status;
}

static bool
append_message(const struct hfile_trailer *trailer, struct hfile_buffer *message)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        const void *from = (const uint8_t *)trailer + members[i].at;
        bool done;

        if (members[i].kind == MEMBER_BYTES)
            done = hfile_field_append_bytes(message, members[i].field, *(const petal_slice *)from);
        else
            done = hfile_field_append_number(
                message, members[i].field,
                members[i].kind == MEMBER_U64 ? *(const uint64_t *)from : *(const uint32_t *)from);
        if (!done)
            return false;
    }
    return true;
}

bool
hfile_trailer_write(const struct hfile_trailer *trailer, struct hfile_buffer *buffer)
{
    struct hfile_buffer message;
    size_t begin = buffer->size, end = begin + HFILE_TRAILER_BYTES - VERSION_BYTES;
    bool written;

    assert(trailer->comparator.size < MOST_COMPARATOR_BYTES);
    hfile_buffer_init(&message, buffer->allocator);
    written = append_message(trailer, &message) &&
              hfile_buffer_reserve(buffer, HFILE_TRAILER_BYTES) &&
              hfile_buffer_append(buffer, HFILE_TRAILER_MAGIC, HFILE_MAGIC_BYTES) &&
              hfile_buffer_append_varint(buffer, message.size) &&
              hfile_buffer_append_slice(buffer, hfile_buffer_slice(&message));
    hfile_buffer_free(&message);
    if (!written) {
        buffer->size = begin;
        return false;
    }
    assert(buffer->size <= end);
    memset(buffer->bytes + buffer->size, 0, end - buffer->size);
    buffer->size = end;
    return hfile_buffer_append_u32(buffer, HFILE_MINOR_VERSION << 24 | HFILE_MAJOR_VERSION);
}
