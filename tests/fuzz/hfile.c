/*
 * hfile.c -- HFiles with any damage, checksums and offsets made right again: opened, scanned both
 * ways, sought, asked, checked, within bounds and without leaks.
 *
 * Input: byte 0, what is made right: 1 checksums and stored sizes of blocks; 2 where the trailer
 * says that index, FILE_INFO and data blocks are; 4 the trailer is that of version 2. Then u16, the
 * bytes of the trailer's message; the message; the blocks. The zeros after the message are not in
 * the input, so it is small, and all of it counts.
 */
#include "tests/fuzz/target.h"
#include "tests/hfile/drive.h"
#include "tests/hfile/mend.h"
#include "tools/hfile/format/block_header.h"
#include "tools/hfile/format/protobuf.h"

#define FUZZ_MOST_BYTES 16000

#define MOST_MESSAGE_BYTES 2000

enum { MEND_CHECKSUMS = 1, MEND_OFFSETS = 2, VERSION_2 = 4 };

/* No length in the input asks for more at once: a million cells. */
static size_t most_memory = 120u << 20;

/* Where the blocks are that the trailer names; UINT64_MAX: there is none. */
struct places {
    uint64_t file_info, root, first_data, last_data;
};

static bool
is_data(enum petal_hfile_block_kind kind)
{
    return kind == PETAL_HFILE_BLOCK_DATA || kind == PETAL_HFILE_BLOCK_ENCODED_DATA;
}

static void
find_places(const uint8_t *blocks, size_t size, struct places *places)
{
    petal_hfile_block block;
    const char *wrong;

    *places = (struct places){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (size_t at = 0; size - at >= HFILE_BLOCK_HEADER_BYTES; at += block.stored_bytes) {
        if (!hfile_block_header_parse(blocks + at, &block, &wrong) ||
            block.stored_bytes > size - at)
            return;
        if (is_data(block.kind))
            places->last_data = at;
        if (is_data(block.kind) && places->first_data == UINT64_MAX)
            places->first_data = at;
        if (block.kind == PETAL_HFILE_BLOCK_ROOT_INDEX && places->root == UINT64_MAX)
            places->root = at;
        if (block.kind == PETAL_HFILE_BLOCK_FILE_INFO && places->file_info == UINT64_MAX)
            places->file_info = at;
    }
}

/* After the others: of fields that are there twice the last counts. */
static bool
append_places(struct hfile_buffer *message, const struct places *places)
{
    return (places->file_info == UINT64_MAX ||
            hfile_field_append_number(message, 1, places->file_info)) &&
           (places->root == UINT64_MAX || hfile_field_append_number(message, 2, places->root)) &&
           hfile_field_append_number(message, 9, places->first_data) &&
           hfile_field_append_number(message, 10, places->last_data);
}

/* After the blocks. */
static void
append_trailer(struct hfile_buffer *file, petal_slice given, unsigned mends)
{
    size_t trailer_bytes = (mends & VERSION_2) != 0 ? 212 : HFILE_TRAILER_BYTES;
    size_t end = file->size + trailer_bytes - 4;
    struct hfile_buffer message;
    struct places places;

    hfile_buffer_init(&message, file->allocator);
    fuzz_must(hfile_buffer_append_slice(&message, given));
    find_places(file->bytes, file->size, &places);
    if ((mends & MEND_OFFSETS) != 0)
        fuzz_must(append_places(&message, &places));
    fuzz_must(hfile_buffer_append(file, HFILE_TRAILER_MAGIC, HFILE_MAGIC_BYTES) &&
              hfile_buffer_append_varint(file, message.size) &&
              hfile_buffer_append_slice(file, hfile_buffer_slice(&message)) &&
              hfile_buffer_reserve(file, trailer_bytes));
    hfile_buffer_free(&message);
    if (file->size < end)
        memset(file->bytes + file->size, 0, end - file->size);
    file->size = end;
    fuzz_must(hfile_buffer_append_u32(file, (mends & VERSION_2) != 0 ? 0x03000002 : 0x03000003));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_input input = {bytes, size};
    petal_allocator allocator = fuzz_allocator(&most_memory);
    unsigned mends = (unsigned)fuzz_number(&input, 1);
    size_t message_bytes = fuzz_number(&input, 2);
    petal_slice message = fuzz_take(&input, message_bytes % (MOST_MESSAGE_BYTES + 1));
    struct hfile_buffer file;

    hfile_buffer_init(&file, &mem_default_allocator);
    fuzz_must(hfile_buffer_append(&file, input.at, input.left));
    if ((mends & MEND_CHECKSUMS) != 0) {
        for (size_t at = 0, taken = 1; taken > 0 && at < file.size; at += taken)
            taken = mend_hfile_block(file.bytes + at, file.size - at);
    }
    append_trailer(&file, message, mends);
    drive_hfile(hfile_buffer_slice(&file), &allocator);
    hfile_buffer_free(&file);
    return 0;
}
