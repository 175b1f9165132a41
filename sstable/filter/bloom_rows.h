/*
 * bloom_rows.h -- the Bloom filter of a store file's rows as straight gets ask it: from a row to a
 * bit without an encoded key, in three cache lines beside those of the search.
 *
 * The DIRECTORY has of each chunk the first row, as the 8 bytes after what all rows of the file
 * begin with, and where the chunk is: in the file, and in the cache as far as a hint knows
 * (cache/cache.h).  It is made when the file is opened, if its filter is one of rows
 * (PETAL_BLOOM_ROW) and the root of its index names the chunks; else there is none, and the filter
 * is asked by sstable/filter/bloom_reader.h alone, which also answers for chunks that no hint leads
 * to.
 *
 * Immutable but for the hints, which any thread may write.
 */
#ifndef PETAL_SSTABLE_FILTER_BLOOM_ROWS_H
#define PETAL_SSTABLE_FILTER_BLOOM_ROWS_H

#include "base/coding.h"
#include "base/inline.h"
#include "sstable/block/index_block.h"
#include "sstable/file/bloom_chunk.h"
#include "sstable/file/read_trace.h"
#include "sstable/file/sst_file.h"
#include "sstable/filter/bloom_account.h"

#define BLOOM_ROWS_SEVERAL (UINT32_C(1) << 31)

/* Half a cache line. */
struct bloom_rows_chunk {
    struct cache_hint hint;
    uint64_t offset; /* of the frame */
    uint32_t bytes;  /* of the bits: those of the frame but for its header and the footer */
};

/*
 * Heads are found by BUCKETS: the difference to the least head, without its low bits, is the number
 * of a bucket, and `starts` has how many heads lie in those before it, and BLOOM_ROWS_SEVERAL where
 * in itself there are two or more.  There are four buckets or
 * more for each chunk, so where rows are spread evenly hardly one has two heads.
 */
struct bloom_rows {
    uint32_t count; /* of chunks; 0: there is no directory */
    unsigned shift; /* the low bits */
    size_t common;  /* bytes that all rows of the file begin with */
    uint64_t least; /* head of the file's least row after `common` */
    uint64_t
        *heads; /* of the chunks' first rows after `common`: they do not descend; then all FF */
    uint32_t *starts;
    struct bloom_rows_chunk *chunks;
    uint64_t file; /* its number in the cache */
    struct bloom_account *account;
    uint8_t *rests; /* the rows after `common`, one after the other */
    uint32_t *ends; /* of each in `rests` */
    void *memory;   /* of all five */
    size_t memory_bytes;
};

/* `row_min` and `row_max` are of the file, `root` of the index of its filter of rows.  A root that
 * is none for these rows, from `row_min` on, makes no directory.  Fails only with
 * PETAL_NO_MEMORY. */
enum petal_status bloom_rows_open(struct bloom_rows *rows, const struct sst_file *file,
                                  petal_slice row_min, petal_slice row_max,
                                  const struct index_block *root, struct bloom_account *account);
void bloom_rows_close(struct bloom_rows *rows, const petal_allocator *allocator);

/* A row as it is asked of filters: all that does not depend on the file, and its head after what
 * the rows of the last file begin with, which may be that of the next, too. */
struct bloom_rows_question {
    petal_slice row;
    size_t offset;
    uint64_t head;
    uint64_t hash;
    struct bloom_first_bits first;
};

/* A part of bloom_rows_find: the chunk of the row in the bucket if that has several heads, or one
 * that is the row's. */
struct bloom_rows_chunk *bloom_rows_find_in_bucket(const struct bloom_rows *rows,
                                                   const struct bloom_rows_question *question,
                                                   const uint32_t *bucket);

/* The up to 8 bytes of a row from `offset` on, as slice_head gives them. */
static inline uint64_t
bloom_rows_head(petal_slice row, size_t offset)
{
    return row.size >= offset + 8 ? get_be64(slice_bytes(row) + offset) : slice_head(row, offset);
}

static inline void
bloom_rows_question_init(struct bloom_rows_question *question, petal_slice row, uint64_t hash)
{
    question->row = row;
    question->offset = 0;
    question->head = bloom_rows_head(row, 0);
    question->hash = hash;
    bloom_first_bits(hash, &question->first);
}

/* The chunk that has the row if one has.  REQUIRES: a directory, and a row between the least and
 * the greatest of the file. */
static ALWAYS_INLINE struct bloom_rows_chunk *
bloom_rows_find(const struct bloom_rows *rows, struct bloom_rows_question *question)
{
    const uint32_t *bucket;
    uint64_t next; /* head that comes next: of the bucket, or above all that it could have */
    uint32_t count;

    if (question->offset != rows->common) {
        question->offset = rows->common;
        question->head = bloom_rows_head(question->row, rows->common);
    }
    assert(rows->count > 0 && question->row.size >= rows->common);
    assert(question->head >= rows->least);
    bucket = &rows->starts[(question->head - rows->least) >> rows->shift];
    count = bucket[0];
    if ((count & BLOOM_ROWS_SEVERAL) != 0)
        return bloom_rows_find_in_bucket(rows, question, bucket);
    next = rows->heads[count];
    if (next == question->head)
        return bloom_rows_find_in_bucket(rows, question, bucket);
    count += next < question->head;
    assert(count > 0); /* see bloom_rows_open */
    return &rows->chunks[count - 1];
}

/* Start loading what the question to the chunk will touch: the block's descriptor and one line of
 * it.  In two of the layouts the first position
 * follows from the high bits of the hash. */
static inline void
bloom_rows_prefetch(const struct bloom_rows_chunk *chunk, uint64_t hash)
{
    const uint8_t *data = atomic_load_explicit(&chunk->hint.data, memory_order_relaxed);

    mem_prefetch(atomic_load_explicit(&chunk->hint.block, memory_order_relaxed), 1);
    mem_prefetch((const void *)((uintptr_t)data + bloom_line(hash, chunk->bytes)), 1);
}

enum bloom_rows_answer { BLOOM_ROWS_ABSENT, BLOOM_ROWS_MAYBE, BLOOM_ROWS_UNKNOWN };

/* Ask a chunk that bloom_rows_find gave.  UNKNOWN: no hint leads to it (sst_reader_ask_chunk). As
 * everywhere, only "absent" is a use of the chunk, and is credited to the account.  EPOCH
 * (sst_reader.h). */
static ALWAYS_INLINE enum bloom_rows_answer
bloom_rows_ask(const struct bloom_rows *rows, const struct bloom_rows_chunk *chunk,
               const struct bloom_rows_question *question)
{
    struct cache_block *block = cache_hint_block(&chunk->hint, rows->file, chunk->offset);

    /* Other bytes of the file may name a block of another kind at the same place. */
    if (block == NULL || block->note == 0)
        return BLOOM_ROWS_UNKNOWN;
    if (bloom_chunk_may_contain(block, question->hash, &question->first))
        return BLOOM_ROWS_MAYBE;
    cache_touch(block);
    bloom_account_credit(rows->account, READ_SAVES_BLOCK);
    return BLOOM_ROWS_ABSENT;
}

#endif
