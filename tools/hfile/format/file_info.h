/*
 * file_info.h -- FILE_INFO: a map of names to bytes.
 *
 *     "PBUF" | varint size | protobuf: repeated field 1 { bytes key = 1; bytes value = 2 }
 */
#ifndef PETAL_HFILE_FORMAT_FILE_INFO_H
#define PETAL_HFILE_FORMAT_FILE_INFO_H

#include "tools/hfile/format/buffer.h"

struct hfile_file_info_entry {
    size_t key_at, key_bytes, value_bytes; /* the value stands after the key */
};

/* Keys and values are copied into it. */
struct hfile_file_info {
    struct hfile_buffer text;
    struct hfile_buffer entries; /* of struct hfile_file_info_entry */
};

void hfile_file_info_init(struct hfile_file_info *info, const petal_allocator *allocator);
void hfile_file_info_free(struct hfile_file_info *info);

size_t hfile_file_info_count(const struct hfile_file_info *info);

/* REQUIRES: number < count. Good until something is added. */
void hfile_file_info_get(const struct hfile_file_info *info, size_t number, petal_slice *key,
                         petal_slice *value);

/* The last of this key. */
bool hfile_file_info_find(const struct hfile_file_info *info, petal_slice key, petal_slice *value);

/* Values that are integers of exactly so many bytes; false where there is none, or another. */
bool hfile_file_info_find_u32(const struct hfile_file_info *info, const char *key, uint32_t *value);
bool hfile_file_info_find_i64(const struct hfile_file_info *info, const char *key, int64_t *value);

/* False: there is no memory. */
bool hfile_file_info_add(struct hfile_file_info *info, petal_slice key, petal_slice value);

/* Adds all entries of a payload. PETAL_NO_MEMORY, or PETAL_CORRUPT, or PETAL_UNSUPPORTED for the
 * form of versions before HBase 0.96; the text is fixed, in *wrong. */
enum petal_status hfile_file_info_parse(petal_slice payload, struct hfile_file_info *info,
                                        const char **wrong);

/* Appends the payload, entries in the order of their keys, as HBase has them. False: there is no
 * memory. Sorts the entries. */
bool hfile_file_info_write(struct hfile_file_info *info, struct hfile_buffer *payload);

#endif
