/*
 * sst_point.h -- what one store file says of one column or one row, for fast gets: without an
 * iterator, without an encoded key of the caller's, in one block.
 *
 * PUTS ONLY.  The answer is the newest put that the read point sees, in HBase's order (timestamp,
 * then sequence).  Markers that stand in other blocks, of this file or others, are not looked at:
 * the caller asks where the facts of all sources say that there are none which could hide it.
 *
 * DECLINED says nothing, FAILED not even why: the caller asks an iterator (sst_reader.h), which
 * also reports what went wrong.
 *
 * EPOCH (sst_reader.h): what is found lies in a cached block and is good until the caller leaves,
 * or in the context's private block until another is read there.  The context's stay is interrupted
 * where a block is read from the file, before anything is found; the context's trace counts the
 * seek, the cells and the blocks, as an iterator does.
 */
#ifndef PETAL_SSTABLE_SST_POINT_H
#define PETAL_SSTABLE_SST_POINT_H

#include "sstable/index/index_tree.h"
#include "sstable/sst_reader.h"

enum sst_point_answer {
    SST_POINT_FOUND,
    SST_POINT_ABSENT,
    /* The column or row is not in one block, the block has markers or times to live, the key has
     * 00 bytes or is long, .. */
    SST_POINT_DECLINED,
    SST_POINT_FAILED /* a block could not be read */
};

/* REQUIRES: row.size > 0. */
enum sst_point_answer sst_point_find(const struct sst_reader *reader,
                                     const struct data_block_column *column,
                                     const struct read_context *context,
                                     struct data_block_put *put);

/*
 * The same by steps, for several searches at once: begin, load; while search.descent.level > 0
 * enter, step and load; reach, end.  Between two steps of one search come those of the others,
 * while the lines are loading that it needs next.  Each step says FOUND to go on, or what the
 * search has come to.  Only what is cached is found; where a block is not, it is DECLINED.
 */
#define SST_POINT_SOUGHT_BYTES 128

struct sst_point_search {
    const struct sst_reader *reader;
    const struct data_block_column *column;
    struct index_descent descent;
    const struct cache_block *block; /* after reach .. */
    uint32_t located;                /* .. and where in it the row is (data_block_locate_put) */
    size_t sought_bytes;
    uint8_t sought[SST_POINT_SOUGHT_BYTES];
};

enum sst_point_answer sst_point_search_begin(struct sst_point_search *search,
                                             const struct sst_reader *reader,
                                             const struct data_block_column *column,
                                             const struct read_context *context);
enum sst_point_answer sst_point_search_enter(struct sst_point_search *search,
                                             const struct read_context *context);
enum sst_point_answer sst_point_search_step(struct sst_point_search *search);
enum sst_point_answer sst_point_search_reach(struct sst_point_search *search,
                                             const struct read_context *context);
enum sst_point_answer sst_point_search_end(const struct sst_point_search *search,
                                           const struct read_context *context,
                                           struct data_block_put *put);

static inline void
sst_point_search_load(const struct sst_point_search *search)
{
    index_descent_load(&search->descent);
}

/* All columns of the row: those of `run`.  FOUND also where the read point sees none of them. */
enum sst_point_answer sst_point_find_row(const struct sst_reader *reader, petal_slice row,
                                         uint64_t sequence, const struct read_context *context,
                                         struct data_block_run *run);

#endif
