/*
 * bloom_rows.h -- the Bloom filter of a store file's rows as straight gets ask it: from a row to a
 * bit without an encoded key, in three cache lines beside those of the search.
 *
 * The DIRECTORY has of each chunk the first row, as the 8 bytes behind what all rows of the file
 * begin with, and where the chunk is: in the file, and in the cache as far as a hint knows
 * (cache/cache.h).  It is made when the file is opened, if its filter is one of rows (PETAL_BLOOM_ROW)
 * and the root of its index names the chunks; else there is none, and the filter is asked by
 * sstable/bloom_reader.h alone, which also answers for chunks that no hint leads to.
 *
 * Immutable but for the hints and what is learned of a chunk, which any thread may write.
 */
#ifndef PETAL_SSTABLE_BLOOM_ROWS_H
#define PETAL_SSTABLE_BLOOM_ROWS_H

#include "base/coding.h"
#include "bloom/bloom.h"
#include "sstable/bloom_account.h"
#include "sstable/index_block.h"
#include "sstable/read_trace.h"
#include "sstable/sst_file.h"

/* Half a cache line. */
struct bloom_rows_chunk {
    struct cache_hint hint;
    uint64_t offset;         /* of the frame */
    uint32_t bytes;          /* of the bits: those of the frame but for its header and the footer */
    _Atomic(uint32_t) shape; /* once the chunk was asked; 0: not known */
};

/* A shape: k, whether the layout is BLOCKED, and how many bits of the last byte are none of m. */
#define BLOOM_ROWS_PROBES  0xffu
#define BLOOM_ROWS_BLOCKED 0x100u
#define BLOOM_ROWS_SLACK   16 /* shift */

/* Heads that are looked at without a branch between them; so many follow the last one, all FF. */
#define BLOOM_ROWS_STRIDE 4

/*
 * Heads are found by BUCKETS: the difference to the least head, without its low bits, is the number
 * of a bucket, and `starts` has how many heads lie in those before it.  There is about a bucket for
 * each chunk, so where rows are spread evenly a bucket has one head or none.
 */
struct bloom_rows {
    uint32_t count;  /* of chunks; 0: there is no directory */
    unsigned shift;  /* the low bits */
    size_t common;   /* bytes that all rows of the file begin with */
    uint64_t least;  /* head of the file's least row behind `common` */
    uint64_t *heads; /* of the chunks' first rows behind `common`: they do not descend */
    uint32_t *starts;
    struct bloom_rows_chunk *chunks;
    uint64_t file; /* its number in the cache */
    struct bloom_account *account;
    uint8_t *rests; /* the rows behind `common`, one after the other */
    uint32_t *ends; /* of each in `rests` */
    void *memory;   /* of all five */
    size_t memory_bytes;
};

/* `row_min` and `row_max` are of the file, `root` of the index of its filter of rows.  A root that
 * is none for these rows makes no directory.  Fails only with PETAL_NO_MEMORY. */
enum petal_status bloom_rows_open(struct bloom_rows *rows, const struct sst_file *file,
                                  petal_slice row_min, petal_slice row_max,
                                  const struct index_block *root, struct bloom_account *account);
void bloom_rows_close(struct bloom_rows *rows, const petal_allocator *allocator);

/* Parts of bloom_rows_find: the number of heads up to this one that a bucket of many of them has;
 * and the chunk of a row whose head is that of some first rows, where `count` heads, or those behind
 * the last one, are not above it. */
uint32_t bloom_rows_count(const struct bloom_rows *rows, uint32_t start, uint32_t end,
                          uint64_t head);
struct bloom_rows_chunk *bloom_rows_find_equal(const struct bloom_rows *rows, petal_slice row,
                                               uint32_t count);

/* The up to 8 bytes of a row from `offset` on, as slice_head gives them. */
static inline uint64_t
bloom_rows_head(petal_slice row, size_t offset)
{
    return row.size >= offset + 8 ? get_be64(slice_bytes(row) + offset) : slice_head(row, offset);
}

/* The chunk that has the row if one has; NULL: none has.  REQUIRES: a directory, and a row between
 * the least and the greatest of the file. */
static inline struct bloom_rows_chunk *
bloom_rows_find(const struct bloom_rows *rows, petal_slice row)
{
    uint64_t head = bloom_rows_head(row, rows->common);
    const uint32_t *bucket = &rows->starts[(head - rows->least) >> rows->shift];
    uint32_t count = bucket[0];

    assert(rows->count > 0 && row.size >= rows->common && head >= rows->least);
    if (bucket[1] - count > BLOOM_ROWS_STRIDE) {
        count = bloom_rows_count(rows, count, bucket[1], head);
    } else {
        const uint64_t *heads = rows->heads + count;

        for (unsigned i = 0; i < BLOOM_ROWS_STRIDE; i++)
            count += heads[i] <= head;
    }
    if (count == 0)
        return NULL;
    if (rows->heads[count - 1] == head)
        return bloom_rows_find_equal(rows, row, count);
    return &rows->chunks[count - 1];
}

/* Start loading what the question to the chunk will touch.  In both layouts the first position
 * follows from the high bits of the hash. */
static inline void
bloom_rows_prefetch(const struct bloom_rows_chunk *chunk, uint64_t hash)
{
    const uint8_t *data = atomic_load_explicit(&chunk->hint.data, memory_order_relaxed);

    mem_prefetch((const void *)((uintptr_t)data + bloom_line(hash, chunk->bytes)), 1);
}

enum bloom_rows_answer { BLOOM_ROWS_ABSENT, BLOOM_ROWS_MAYBE, BLOOM_ROWS_UNKNOWN };

/* Ask a chunk that bloom_rows_find gave.  UNKNOWN: no hint leads to it (sst_reader_ask_chunk). As
 * everywhere, only "absent" is a use of the chunk, and is credited to the account.  EPOCH
 * (sst_reader.h). */
static inline enum bloom_rows_answer
bloom_rows_ask(const struct bloom_rows *rows, const struct bloom_rows_chunk *chunk, uint64_t hash)
{
    struct cache_block *block = atomic_load_explicit(&chunk->hint.block, memory_order_acquire);
    uint32_t shape = atomic_load_explicit(&chunk->shape, memory_order_relaxed);
    bool may_contain;

    /* Why this tells whether it is the block: cache/cache.c. */
    if (block == NULL || shape == 0 ||
        atomic_load_explicit(&block->file, memory_order_acquire) != rows->file ||
        atomic_load_explicit(&block->offset, memory_order_relaxed) != chunk->offset ||
        block->kind != PETAL_BLOCK_FILTER || block->size != chunk->bytes + BLOOM_FOOTER_BYTES)
        return BLOOM_ROWS_UNKNOWN;
    if ((shape & BLOOM_ROWS_BLOCKED) != 0)
        may_contain = bloom_line_may_contain(
            block->data + BLOOM_LINE_BYTES * bloom_line(hash, chunk->bytes / BLOOM_LINE_BYTES),
            shape & BLOOM_ROWS_PROBES, hash);
    else
        may_contain = bloom_standard_may_contain(
            block->data, (uint64_t)chunk->bytes * 8 - (shape >> BLOOM_ROWS_SLACK),
            shape & BLOOM_ROWS_PROBES, hash);
    if (may_contain)
        return BLOOM_ROWS_MAYBE;
    cache_touch(block);
    bloom_account_credit(rows->account, READ_SAVES_BLOCK);
    return BLOOM_ROWS_ABSENT;
}

/* What the shape of an asked chunk is; 0 where it is not that of so many bytes. */
static inline uint32_t
bloom_rows_shape(const struct bloom_rows_chunk *chunk, const struct bloom_shape *shape)
{
    uint64_t bits = (uint64_t)chunk->bytes * 8;

    if (chunk->bytes == 0 || shape->bits > bits || bits - shape->bits >= 8)
        return 0;
    return shape->probes | (shape->layout == BLOOM_BLOCKED ? BLOOM_ROWS_BLOCKED : 0) |
           (uint32_t)(bits - shape->bits) << BLOOM_ROWS_SLACK;
}

#endif
