/*
 * index_block.h -- a node of an index: sorted keys, each with the handle of the block that begins
 * there.
 *
 * Serves the data index (keys are the real first cell key of each block) and the Bloom index
 * (keys are prefixes, base/cell.h), at every level: an entry of an inner node names the node below
 * by its first key. The common prefix of all keys stands once; behind it each key has an 8-byte
 * head in one array, searched branch-free; heads that are equal are told apart by the rest of the
 * keys.
 *
 * LAYOUT (little endian), n entries:
 *
 *     offset size
 *      0     4   n, at least 1
 *      4     4   level; 0: entries name data blocks or Bloom chunks
 *      8     4   length of the prefix
 *     12     4   bytes of all rests
 *     16     8n  heads: the first 8 bytes of the key's rest, filled with 00, read as a big endian
 *            number
 *            8n  offsets of the blocks' frames
 *            4n  sizes of the blocks' frames; in the two highest bits what the blocks begin (enum
 *                block_begins)
 *            4n  ends of the rests, from the first rest; a rest begins where the one before ends
 *                prefix
 *                rests: of each key what follows the prefix
 *
 * Checked once when it enters memory (index_block_check), then read without checks; immutable. Keys
 * ascend, and so do the blocks, which do not overlap: a node names none twice.  Whether a block
 * begins with the key that names it is not part of that check.
 */
#ifndef PETAL_SSTABLE_INDEX_BLOCK_H
#define PETAL_SSTABLE_INDEX_BLOCK_H

#include "base/cell.h"
#include "base/mem.h"
#include "sstable/format.h"

#define INDEX_BLOCK_HEADER_BYTES 16
#define INDEX_BLOCK_ENTRY_BYTES  24         /* without the rest */
#define INDEX_BLOCK_MAX_BYTES    (1u << 30) /* of a block; larger ones are refused */
#define INDEX_BLOCK_SIZE_BITS    30 /* of a frame's size; above it stands what the block begins */

/* ---- building ---- */

struct index_block_builder;

enum petal_status index_block_builder_new(struct index_block_builder **builder,
                                          const petal_allocator *allocator);
void index_block_builder_free(struct index_block_builder *builder); /* NULL: no-op */

/* REQUIRES: key sorts behind the one before; all together stay below INDEX_BLOCK_MAX_BYTES.
 * Copies the key.  On failure (PETAL_NO_MEMORY) the builder is as before. */
enum petal_status index_block_builder_add(struct index_block_builder *builder, petal_slice key,
                                          struct block_handle handle);

/* Bytes that finish would give, exactly; 0 without entries. */
size_t index_block_builder_bytes(const struct index_block_builder *builder);
size_t index_block_builder_count(const struct index_block_builder *builder);

/* Good until the next add or reset.  REQUIRES for both: at least one entry. */
petal_slice index_block_builder_first_key(const struct index_block_builder *builder);
struct block_handle index_block_builder_first_handle(const struct index_block_builder *builder);

/* The node's bytes, good until the next finish or free.  REQUIRES: at least one entry. */
enum petal_status index_block_builder_finish(struct index_block_builder *builder, uint32_t level,
                                             petal_slice *bytes);

/* Forget the entries, keep the memory. */
void index_block_builder_reset(struct index_block_builder *builder);

/* ---- reading ---- */

struct index_block {
    const uint8_t *bytes;
    size_t size;
    uint32_t count; /* at least 1 */
    uint32_t level; /* 0: entries name data blocks or Bloom chunks */
    petal_slice prefix;
    const uint8_t *heads, *ends, *offsets, *sizes, *rests;
};

/* Full check of untrusted bytes; false if malformed.  Also fills *block. */
bool index_block_check(struct index_block *block, const uint8_t *bytes, size_t size);

/* Fill *block from bytes that index_block_check has accepted before. */
void index_block_view(struct index_block *block, const uint8_t *bytes, size_t size);

/* Index of the last entry whose key is <= `key`, or -1 when all are greater. */
int64_t index_block_search(const struct index_block *block, petal_slice key);

/*
 * The same for a search of cells: where the blocks up to that entry's certainly hold no cell at or
 * after `key`, because the next one begins the key's row or column, it is the next entry, and
 * *begins is set.
 */
int64_t index_block_search_cell(const struct index_block *block, const struct cell_key *key,
                                bool *begins);

/* The same of the last entry whose key is < `key`. */
int64_t index_block_search_below(const struct index_block *block, petal_slice key);

/* REQUIRES for these: index < count. */
struct block_handle index_block_handle(const struct index_block *block, uint32_t index);

/* Copy the whole key of an entry to `buffer` (index_block_key_bytes of them). */
size_t index_block_key_bytes(const struct index_block *block, uint32_t index);
void index_block_key(const struct index_block *block, uint32_t index, uint8_t *buffer);

#endif
