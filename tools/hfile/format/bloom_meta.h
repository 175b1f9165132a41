/*
 * bloom_meta.h -- what describes a Bloom filter: its numbers and its chunks.
 *
 *     i32 version, 3 | i64 bytes of all chunks | i32 hash count | i32 hash type | i64 keys
 *     | i64 keys that it was made for | i32 chunks | vint length | comparator's class name
 *     | chunks as the entries of an index's root (index_block.h)
 *
 * A chunk's key is the first one in it: the bare row, or its beginning; of a ROWCOL filter, which
 * has a comparator, the serialised key that is also what is hashed (hfile_bloom_column_key).
 */
#ifndef PETAL_HFILE_FORMAT_BLOOM_META_H
#define PETAL_HFILE_FORMAT_BLOOM_META_H

#include "tools/hfile/format/index_block.h"
#include "tools/hfile/petal_hfile.h"

struct hfile_bloom_meta {
    petal_hfile_bloom facts; /* but for last_key */
    struct hfile_index_block chunks;
    struct hfile_buffer comparator;
};

void hfile_bloom_meta_init(struct hfile_bloom_meta *meta, const petal_allocator *allocator);
void hfile_bloom_meta_free(struct hfile_bloom_meta *meta);

/* PETAL_NO_MEMORY, PETAL_CORRUPT or PETAL_UNSUPPORTED, with a fixed text in *wrong. */
enum petal_status hfile_bloom_meta_parse(struct hfile_bloom_meta *meta, petal_slice payload,
                                         const char **wrong);

/* The key of a column in a ROWCOL filter; to be serialised. */
static inline petal_hfile_cell
hfile_bloom_column_key(petal_slice row, petal_slice qualifier)
{
    return (petal_hfile_cell){.row = row,
                              .qualifier = qualifier,
                              .timestamp = INT64_MAX,
                              .type = PETAL_HFILE_TYPE_MAXIMUM};
}

#endif
