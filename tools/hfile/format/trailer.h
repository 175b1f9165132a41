/*
 * trailer.h -- the end of a file, by which a reader begins.
 *
 *     magic (8) | varint size of the message | protobuf FileTrailerProto | zeros
 *     | u32 minor version << 24 | major version
 *
 * 4096 bytes in version 3, 212 in version 2.
 */
#ifndef PETAL_HFILE_FORMAT_TRAILER_H
#define PETAL_HFILE_FORMAT_TRAILER_H

#include "tools/hfile/format/buffer.h"
#include "tools/hfile/format/format.h"

/* Offset of a data block in a file that has none. */
#define HFILE_NO_BLOCK UINT64_MAX

struct hfile_trailer {
    unsigned major_version, minor_version;
    uint64_t file_info_offset;
    uint64_t load_on_open_offset; /* of the data index's root */
    uint64_t index_bytes;         /* payloads of all blocks of the data index, uncompressed */
    uint64_t uncompressed_bytes;
    uint32_t root_entries;
    uint32_t meta_entries;
    uint64_t cells;
    uint32_t index_levels;
    uint64_t first_data_block_offset, last_data_block_offset; /* or HFILE_NO_BLOCK */
    petal_slice comparator;                                   /* into the bytes that were parsed */
    uint32_t codec_number;                                    /* hfile_codec_name_of */
    bool is_encrypted;
};

/* Of a file of this version; 0: there is no such version. */
size_t hfile_trailer_size(unsigned major_version);

/*
 * The trailer at the end of `tail`, the last bytes of a file of `file_bytes`: at least 4, and all
 * of it if that has less than 4096. What must hold of the numbers for themselves, and as offsets in
 * such a file, is checked.
 */
enum petal_status hfile_trailer_parse(petal_slice tail, uint64_t file_bytes, const char *file,
                                      struct hfile_trailer *trailer, petal_error *error);

/* Appends HFILE_TRAILER_BYTES bytes of version 3; the trailer's version does not count. False:
 * there is no memory. REQUIRES: the comparator's name is shorter than 1024 bytes. */
bool hfile_trailer_write(const struct hfile_trailer *trailer, struct hfile_buffer *buffer);

#endif
