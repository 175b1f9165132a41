/*
 * index_block.h -- lists of blocks, each with its first key, or one that separates it from the
 * block before.
 *
 * Of a root (data index, meta index, a filter's chunks), entries one after the other; how many
 * stands elsewhere:
 *
 *     i64 offset | i32 stored bytes | vint key length | key
 *
 * In a data root of several levels the middle of the file follows:
 *
 *     i64 offset of the leaf with the middle entry | i32 its stored bytes | i32 the entry's number
 *
 * Of a leaf or an intermediate block:
 *
 *     i32 n | n + 1 times i32 offset from here on | n times: i64 offset | i32 stored bytes | key
 *
 * "Here" is the end of the offsets; the last one is that of the end.
 */
#ifndef PETAL_HFILE_FORMAT_INDEX_BLOCK_H
#define PETAL_HFILE_FORMAT_INDEX_BLOCK_H

#include "tools/hfile/format/buffer.h"

#define HFILE_MID_KEY_BYTES 16

struct hfile_index_entry {
    uint64_t offset;
    uint32_t stored_bytes;
    petal_slice key;
};

/* The entries' keys lie in `payload`. */
struct hfile_index_block {
    struct hfile_buffer payload;
    struct hfile_index_entry *entries;
    size_t count, capacity;
};

void hfile_index_block_init(struct hfile_index_block *block, const petal_allocator *allocator);
void hfile_index_block_free(struct hfile_index_block *block);

/*
 * Take a payload in place of what was there: it is copied. Of a root the first `count` entries are
 * taken; what follows them stands at *rest. PETAL_NO_MEMORY, or PETAL_CORRUPT with a fixed text in
 * *wrong: then there are no entries.
 */
enum petal_status hfile_index_block_parse_root(struct hfile_index_block *block, petal_slice payload,
                                               uint32_t count, petal_slice *rest,
                                               const char **wrong);
enum petal_status hfile_index_block_parse(struct hfile_index_block *block, petal_slice payload,
                                          const char **wrong);

/* The last entry whose key is at or before `key`, as `compare` orders them; false: there is
 * none. */
bool hfile_index_block_find(const struct hfile_index_block *block, const void *key,
                            int (*compare)(petal_slice entry_key, const void *key), size_t *number);

/* A middle entry of a data root. */
struct hfile_mid_key {
    uint64_t offset;
    uint32_t stored_bytes, number;
};
bool hfile_mid_key_parse(petal_slice bytes, struct hfile_mid_key *mid_key);

#endif
